"""Find credentials in text, by rule or because they look random, so that they never enter the history.

Every write is checked, so this module only does the cheap test which rules could match. The rules and their patterns
are loaded only when one could.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

# Words that credentials start with: no letter or digit before them, and 16 unbroken characters after them.
STARTS = (
    ("AGE-SECRET-KEY-1", "age-key"),
    ("AKIA", "aws-access-key"),
    ("ASIA", "aws-access-key"),
    ("ABIA", "aws-access-key"),
    ("ACCA", "aws-access-key"),
    ("AIza", "google-api-key"),
    ("GOCSPX-", "gcp-oauth"),
    ("ya29.", "gcp-oauth"),
    ("1//0", "gcp-refresh-token"),
    ("ghp_", "github-token"),
    ("gho_", "github-token"),
    ("ghu_", "github-token"),
    ("ghs_", "github-token"),
    ("ghr_", "github-token"),
    ("github_pat_", "github-pat"),
    ("glpat-", "gitlab-token"),
    ("gloas-", "gitlab-token"),
    ("gldt-", "gitlab-token"),
    ("glrt-", "gitlab-token"),
    ("glcbt-", "gitlab-token"),
    ("glptt-", "gitlab-token"),
    ("glft-", "gitlab-token"),
    ("glimt-", "gitlab-token"),
    ("glagent-", "gitlab-token"),
    ("glsoat-", "gitlab-token"),
    ("glffct-", "gitlab-token"),
    ("GR1348941", "gitlab-runner-token"),
    ("xox", "slack-token"),
    ("xapp-", "slack-app-token"),
    ("hooks.slack.com", "slack-webhook"),
    ("sk_live_", "stripe-key"),
    ("sk_test_", "stripe-key"),
    ("rk_live_", "stripe-key"),
    ("rk_test_", "stripe-key"),
    ("whsec_", "stripe-webhook-secret"),
    ("sk-ant-", "anthropic-key"),
    ("sk-or-v1-", "openrouter-key"),
    ("sk-proj-", "openai-project-key"),
    ("sk-svcacct-", "openai-project-key"),
    ("sk-admin-", "openai-project-key"),
    ("sk-service-", "openai-project-key"),
    ("sk-", "openai-key"),
    ("AccountKey=", "azure-storage-key"),
    ("SharedAccessKey=", "azure-storage-key"),
    ("sig=", "azure-sas"),
    ("SK", "twilio-key"),
    ("SG.", "sendgrid-key"),
    ("key-", "mailgun-key"),
    ("npm_", "npm-token"),
    ("pypi-Ag", "pypi-token"),
    ("rubygems_", "rubygems-key"),
    ("dckr_pat_", "docker-token"),
    ("dckr_oat_", "docker-token"),
    ("hf_", "huggingface-token"),
    ("gsk_", "groq-key"),
    ("xai-", "xai-key"),
    ("pplx-", "perplexity-key"),
    ("r8_", "replicate-token"),
    ("mfa.", "discord-mfa-token"),
    ("dop_v1_", "digitalocean-token"),
    ("doo_v1_", "digitalocean-token"),
    ("dor_v1_", "digitalocean-token"),
    ("shpat_", "shopify-token"),
    ("shpca_", "shopify-token"),
    ("shppa_", "shopify-token"),
    ("shpss_", "shopify-token"),
    ("sq0", "square-token"),
    ("dapi", "databricks-token"),
    ("hvs.", "vault-token"),
    ("hvb.", "vault-token"),
    ("hvr.", "vault-token"),
    ("lin_api_", "linear-key"),
    ("ntn_", "notion-token"),
    ("glsa_", "grafana-token"),
    ("glc_", "grafana-token"),
    ("NRAK-", "new-relic-key"),
    ("dp.", "doppler-token"),
    ("pscale_", "planetscale-token"),
    ("PMAK-", "postman-key"),
    ("ATATT3", "atlassian-token"),
    ("ATBB", "atlassian-token"),
    ("ops_eyJ", "1password-token"),
    ("eyJ", "jwt"),
    ("ABSK", "aws-bedrock-key"),
    ("X-Amz-Signature=", "signed-address"),
    ("X-Goog-Signature=", "signed-address"),
    ("A3-", "1password-secret-key"),
    ("aio_", "adafruit-key"),
    ("p8e-", "adobe-secret"),
    ("pat", "airtable-token"),
    ("LTAI", "alibaba-key"),
    ("apify_api_", "apify-token"),
    ("AKCp", "artifactory-key"),
    ("cmVmd", "artifactory-token"),
    ("1/", "asana-token"),
    ("2/", "asana-token"),
    ("ATTA", "trello-token"),
    ("bkua_", "buildkite-token"),
    ("bkct_", "buildkite-token"),
    ("bkaj_", "buildkite-token"),
    ("CCIPAT_", "circleci-token"),
    ("CCIPRJ_", "circleci-token"),
    ("v1.0-", "cloudflare-origin-key"),
    ("cfut_", "cloudflare-token"),
    ("cfat_", "cloudflare-token"),
    ("CLOJARS_", "clojars-token"),
    ("CFPAT-", "contentful-token"),
    ("sl.", "dropbox-token"),
    ("duffel_", "duffel-token"),
    ("dt0", "dynatrace-token"),
    ("EZAK", "easypost-key"),
    ("EZTK", "easypost-key"),
    ("essu_", "elastic-key"),
    ("sk_", "elevenlabs-key"),
    ("e2b_", "e2b-key"),
    ("EAA", "facebook-token"),
    ("EAAA", "square-access-token"),
    ("figd_", "figma-token"),
    ("fc-", "firecrawl-key"),
    ("FLWSECK", "flutterwave-key"),
    ("fo1_", "fly-token"),
    ("fm1r_", "fly-token"),
    ("fm1a_", "fly-token"),
    ("fm2_", "fly-token"),
    ("fio-u-", "frame-token"),
    ("pat.", "harness-token"),
    ("HRKU-", "heroku-key"),
    ("pat-", "hubspot-token"),
    ("ico-", "infracost-key"),
    ("s-s4t2", "intra42-secret"),
    ("LS0tLS1CRUdJTi", "encoded-private-key"),
    ("lsv2_", "langsmith-key"),
    ("sk-lf-", "langfuse-key"),
    ("sdk-", "launchdarkly-key"),
    ("api-", "launchdarkly-key"),
    ("lin_oauth_", "linear-oauth"),
    ("sk.eyJ", "mapbox-secret-token"),
    ("napi_", "neon-key"),
    ("nfp_", "netlify-token"),
    ("NRII-", "new-relic-insert-key"),
    ("secret_", "notion-secret"),
    ("nvapi-", "nvidia-key"),
    ("oy2", "nuget-key"),
    ("API-", "octopus-key"),
    ("sha256~", "openshift-token"),
    ("access_token$", "paypal-token"),
    ("pcsk_", "pinecone-key"),
    ("access-", "plaid-token"),
    ("phx_", "posthog-key"),
    ("phs_", "posthog-key"),
    ("pnu_", "prefect-key"),
    ("pnb_", "prefect-key"),
    ("pul-", "pulumi-token"),
    ("rdme_", "readme-key"),
    ("rnd_", "render-key"),
    ("re_", "resend-key"),
    ("rpa_", "runpod-key"),
    ("tk-us-", "scalingo-token"),
    ("xkeysib-", "brevo-key"),
    ("xsmtpsib-", "brevo-key"),
    ("sntrys_", "sentry-token"),
    ("sntryu_", "sentry-token"),
    ("shippo_", "shippo-token"),
    ("squ_", "sonar-token"),
    ("sqp_", "sonar-token"),
    ("sqa_", "sonar-token"),
    ("sgp_", "sourcegraph-token"),
    ("sbp_", "supabase-token"),
    ("sb_secret_", "supabase-secret"),
    ("tskey-", "tailscale-key"),
    ("tvly-", "tavily-key"),
    ("tgp_v1_", "together-key"),
    ("oauth:", "twitch-token"),
    ("AAAAAAAAAAAAAAAAAAAAA", "twitter-bearer"),
    ("tfp_", "typeform-token"),
    ("AQVN", "yandex-key"),
    ("hooks.zapier.com", "zapier-hook"),
    ("xprv", "extended-private-key"),
    ("IQoJb3JpZ2lu", "aws-session-token"),
    ("FwoGZXIvYXdz", "aws-session-token"),
    ("FQoGZXIvYXdz", "aws-session-token"),
    ("ATCTT3", "atlassian-token"),
    ("mlsn.", "mailersend-token"),
    ("md-", "mandrill-key"),
    ("pk_", "clickup-token"),
    ("vcp_", "vercel-token"),
    ("vci_", "vercel-token"),
    ("vca_", "vercel-token"),
    ("vck_", "vercel-token"),
    ("vercel_blob_rw_", "vercel-token"),
    ("nfc_", "netlify-token"),
    ("nfo_", "netlify-token"),
    ("nfu_", "netlify-token"),
    ("ddp_", "deno-token"),
    ("ddo_", "deno-token"),
    ("xau_", "xata-key"),
    ("CCDB1_", "cockroach-key"),
    ("mdb_sa_sk_", "mongodb-atlas-secret"),
    ("p.eyJ", "tinybird-token"),
    ("llx-", "llamacloud-key"),
    ("pa-", "voyage-key"),
    ("jina_", "jina-key"),
    ("nk-", "nomic-key"),
    ("fw_", "fireworks-key"),
    ("esecret_", "anyscale-key"),
    ("csk-", "cerebras-key"),
    ("sk_car_", "cartesia-key"),
    ("key_", "long-hex-key"),
    ("BSA", "brave-key"),
    ("bb_live_", "browserbase-key"),
    ("ak-", "modal-token"),
    ("as-", "modal-token"),
    ("sk-helicone-", "helicone-key"),
    ("sk-let-", "letta-key"),
    ("m0-", "mem0-key"),
    ("sess-", "openai-session"),
    ("wandb_v1_", "wandb-key"),
    ("AKLT", "volcengine-key"),
    ("bce-v3/", "baidu-key"),
    ("AKID", "tencent-key"),
    ("y0_", "yandex-oauth"),
    ("vk1.a.", "vk-token"),
    ("IGQ", "instagram-token"),
    ("IGAA", "instagram-token"),
    ("pina_", "pinterest-token"),
    ("syt_", "matrix-token"),
    ("xwfp-", "slack-workflow-token"),
    ("tk_", "ntfy-token"),
    ("hcaik_", "honeycomb-key"),
    ("hcaic_", "honeycomb-key"),
    ("hcxik_", "honeycomb-key"),
    ("hcxmk_", "honeycomb-key"),
    ("xaat-", "axiom-token"),
    ("xapt-", "axiom-token"),
    ("Splunk ", "splunk-token"),
    ("secret-", "statsig-secret"),
    ("live_", "mollie-key"),
    ("test_", "mollie-key"),
    ("rzp_", "razorpay-pair"),
    ("pdl_", "paddle-key"),
    ("oa_prod_", "revolut-token"),
    ("ck_", "woocommerce-key"),
    ("cs_", "woocommerce-key"),
    ("amzn.mws.", "amazon-mws-token"),
    ("Atzr|", "amazon-token"),
    ("Atza|", "amazon-token"),
    ("amzn1.oa2-cs.v1.", "amazon-client-secret"),
    ("PRD-", "ebay-secret"),
    ("KEY0", "telnyx-key"),
    ("00D", "salesforce-token"),
    ("kit_", "convertkit-key"),
    ("os_v2_", "onesignal-key"),
    ("sec-c-", "pubnub-secret"),
    ("K00", "backblaze-key"),
    ("sqb_", "sonar-token"),
    ("chpt_", "chromatic-token"),
    ("AQ.Ab", "google-bound-key"),
    ("4/0A", "google-auth-code"),
    ("cio", "crates-token"),
    ("packagist_", "packagist-token"),
    ("nbp_", "netbird-token"),
    ("dls_", "dashlane-token"),
    ("kpat_", "konnect-token"),
    ("spat_", "konnect-token"),
    ("nsec1", "nostr-key"),
    ("yprv", "extended-private-key"),
    ("zprv", "extended-private-key"),
    ("tprv", "extended-private-key"),
    ("edsk", "tezos-key"),
    ("cal_live_", "calcom-key"),
    ("M.C5", "microsoft-refresh-token"),
    ("open.feishu.cn", "feishu-webhook"),
    ("open.larksuite.com", "feishu-webhook"),
    ("oapi.dingtalk.com", "dingtalk-webhook"),
    ("qyapi.weixin.qq.com", "wecom-webhook"),
    ("chat.googleapis.com", "google-chat-webhook"),
    ("maker.ifttt.com", "ifttt-webhook"),
    ("hook.", "make-webhook"),
    ("outlook.office.com/webhook/", "office-webhook"),
    ("hc-ping.com", "ping-address"),
    ("events.pagerduty.com", "pagerduty-webhook"),
    ("api.flock.com", "flock-webhook"),
    ("hooks.glip.com", "glip-webhook"),
    ("webexapis.com", "webex-webhook"),
    ("api.ciscospark.com", "webex-webhook"),
    ("hooks.airtable.com", "airtable-webhook"),
    ("api.netlify.com/build_hooks/", "build-hook"),
    ("api.vercel.com/v1/integrations/deploy/", "build-hook"),
    ("api.render.com/deploy/", "build-hook"),
    ("hooks.slack-gov.com", "slack-webhook"),
    ("connect.pabbly.com", "pabbly-webhook"),
    ("$apr1$", "password-hash"),
    ("$2a$", "password-hash"),
    ("$2b$", "password-hash"),
    ("$2y$", "password-hash"),
    ("$5$", "password-hash"),
    ("$6$", "password-hash"),
    ("$y$", "password-hash"),
    ("$argon2", "password-hash"),
)
# Words inside a credential.
INSIDE = (
    ("PRIVATE KEY", "private-key"),
    ("PuTTY-User-Key-File", "putty-key"),
    ("Q~", "azure-client-secret"),
    (":AA", "telegram-bot-token"),
    ("/api/webhooks/", "discord-webhook"),
    (".atlasv1.", "terraform-token"),
    (":APA91b", "firebase-key"),
    ("jsn", "rapidapi-key"),
    ("_mmk", "maxmind-key"),
    ("/pages/webhooks/deploy_hooks/", "build-hook"),
    ("/hooks/", "mattermost-webhook"),
    ("AzSe", "azure-service-key"),
    ("AzFu", "azure-service-key"),
    ("+ASt", "azure-marked-key"),
    ("+ACDb", "azure-marked-key"),
    ("+AIoT", "azure-marked-key"),
    ("+ARm", "azure-marked-key"),
    ("+AEh", "azure-marked-key"),
    ("NRAL", "new-relic-license"),
    (".webhook.office.com/", "teams-webhook"),
    ("-us1", "mailchimp-key"),
    ("-us2", "mailchimp-key"),
    ("-us3", "mailchimp-key"),
    ("-us4", "mailchimp-key"),
    ("-us5", "mailchimp-key"),
    ("-us6", "mailchimp-key"),
    ("-us7", "mailchimp-key"),
    ("-us8", "mailchimp-key"),
    ("-us9", "mailchimp-key"),
)
# Words in lower case near a credential; the rule of the place decides.
PLACES = (
    ("curl", "curl-login"),
    ("mysql", "mysql-option"),
    ("mariadb", "mysql-option"),
    ("sshpass", "sshpass-option"),
    ("login", "login-option"),
    ("redis-cli", "redis-option"),
    ("smbclient", "smb-option"),
    ("rpcclient", "smb-option"),
    ("define(", "defined-constant"),
    (":5432:", "pgpass"),
    (":6432:", "pgpass"),
    ("machine ", "netrc"),
    ("</", "xml-element"),
    ("auth", "docker-auth"),
    (":_auth", "npmrc"),
    (":_password", "npmrc"),
    ("otpauth:", "otpauth"),
    ("cookie", "cookie"),
    ("kind: secret", "kubernetes-secret"),
    ("kty", "json-web-key"),
    ("geniekey", "genie-key"),
    ("ssws", "ssws-key"),
    ("private key-----", "private-key-end"),
    ("pin", "pin"),
    ("puk", "pin"),
    ("passcode", "pin"),
    (" code", "pin"),
    ("cvv", "card-code"),
    ("cvc", "card-code"),
    ("recovery", "recovery-codes"),
    ("backup", "recovery-codes"),
    ("rescue", "recovery-codes"),
    ("wiederherstellung", "recovery-codes"),
    ("2fa", "totp-seed"),
    ("totp", "totp-seed"),
    ("authenticator", "totp-seed"),
    ("otp", "totp-seed"),
    ("chpasswd", "piped-password"),
    ("passwd --stdin", "piped-password"),
    ("sudo -s", "piped-password"),
    ("kinit", "piped-password"),
    ("cryptsetup", "piped-password"),
    ("-stdin", "piped-password"),
    ("ldap", "ldap-option"),
    ("mongo", "short-option"),
    ("cqlsh", "short-option"),
    ("twine", "short-option"),
    ("nxc ", "short-option"),
    ("netexec", "short-option"),
    ("crackmapexec", "short-option"),
    ("evil-winrm", "short-option"),
    ("psexec", "short-option"),
    ("rdesktop", "short-option"),
    ("unlock-keychain", "short-option"),
    ("ncftp", "short-option"),
    ("nuget", "short-option"),
    ("smbmap", "short-option"),
    ("vncdo", "short-option"),
    ("sqlcmd", "capital-option"),
    ("bcp ", "capital-option"),
    ("ipmitool", "capital-option"),
    ("zip ", "capital-option"),
    ("mosquitto", "capital-option"),
    ("tsql", "capital-option"),
    ("7z", "archive-option"),
    ("rar ", "archive-option"),
    ("-pw ", "named-option"),
    ("storepass", "named-option"),
    ("keypass", "named-option"),
    ("add-generic-password", "named-option"),
    ("x11vnc", "named-option"),
    ("freerdp", "slash-option"),
    ("cmdkey", "slash-option"),
    ("winrs", "slash-option"),
    ("net user", "windows-user"),
    ("net use ", "windows-user"),
    ("pass:", "openssl-pass"),
    ("htpasswd", "placed-password"),
    ("wpa_passphrase", "placed-password"),
    ("rabbitmqctl", "placed-password"),
    ("http-basic", "placed-password"),
    ("sqlplus", "placed-password"),
    ("lftp", "placed-password"),
    ("http -a", "pair-option"),
    ("https -a", "pair-option"),
    ("xh -a", "pair-option"),
    ("--auth", "pair-option"),
    ("snmp", "snmp-option"),
    ("identified", "sql-password"),
    ("password '", "sql-password"),
    ("password n'", "sql-password"),
    ("password='", "sql-password"),
    ("password = '", "sql-password"),
    (" login ", "command-token"),
    (" auth ", "command-token"),
    ("authtoken ", "command-token"),
    ("pypi-token", "command-token"),
    ("aws_secret_access_key ", "command-token"),
    ("--with-token", "command-token"),
    ("wifi:", "wifi-code"),
    ("bitlocker", "bitlocker-key"),
    ("recovery", "bitlocker-key"),
    ("wiederherst", "bitlocker-key"),
    ("récup", "bitlocker-key"),
    ("recuper", "bitlocker-key"),
    ("herstel", "bitlocker-key"),
    ("wallet", "wallet-key"),
    ("fromsecret", "wallet-key"),
    ("keypair", "wallet-key"),
    ("solana", "wallet-key"),
    ("from_key", "wallet-key"),
    ("privatekey", "wallet-key"),
    ("private_key", "wallet-key"),
    ("private-key", "wallet-key"),
    ("private key", "wallet-key"),
    ("accounts", "wallet-key"),
    ("importprivkey", "wallet-key"),
    ("client(", "constructor-pair"),
    ("credential", "constructor-pair"),
    ("api(", "constructor-pair"),
    ("auth", "constructor-pair"),
    ("algoliasearch(", "constructor-pair"),
    ("twilio", "constructor-pair"),
    ("pusher", "constructor-pair"),
    ("plivo", "constructor-pair"),
    ("binance", "constructor-pair"),
    ("exchange(", "constructor-pair"),
    ("auth", "pair-in-code"),
    ("login(", "pair-in-code"),
    ("credential", "pair-in-code"),
    ("mysqli", "connection-password"),
    ("pdo(", "connection-password"),
    ("getconnection(", "connection-password"),
    ("mysql_connect(", "connection-password"),
    ("combination", "lock-combination"),
    ("combo", "lock-combination"),
    ("safe code", "lock-combination"),
    ("opens with", "lock-combination"),
    ("kombination", "lock-combination"),
    ("combina", "lock-combination"),
    ("code", "spoken-code"),
    ("código", "spoken-code"),
    ("codigo", "spoken-code"),
    ("codice", "spoken-code"),
    ("geheimzahl", "spoken-code"),
    ("keypad", "spoken-code"),
    ("lockbox", "spoken-code"),
    ("geheimnummer", "spoken-code"),
    ("pin", "spoken-code"),
    ("secours", "recovery-key"),
    ("récupération", "recovery-key"),
    ("recupera", "recovery-key"),
    ("recupero", "recovery-key"),
    ("respaldo", "recovery-key"),
    ("herstel", "recovery-key"),
    ("notfall", "recovery-key"),
    ("wiederherstellung", "recovery-key"),
    ("recovery", "recovery-key"),
    ("backup", "recovery-key"),
    ("filevault", "recovery-key"),
    ("phrase", "seed-words"),
    ("seed", "seed-words"),
    ("frase", "seed-words"),
    ("mnemonic", "seed-words"),
    ("login", "login-pair"),
    ("zugang", "login-pair"),
    ("anmelde", "login-pair"),
    ("accès", "login-pair"),
    ("acces", "login-pair"),
    ("access ", "login-pair"),
    ("access:", "login-pair"),
    ("acesso", "login-pair"),
    ("identifiant", "login-pair"),
    ("credential", "login-pair"),
    ("credenc", "login-pair"),
    ("credenz", "login-pair"),
    ("creds", "login-pair"),
    ("inlog", "login-pair"),
    ("account", "login-pair"),
    ("konto", "login-pair"),
    ("compte", "login-pair"),
    ("cuenta", "login-pair"),
    ("usuario", "login-pair"),
    ("benutzer", "login-pair"),
    ("user ", "login-pair"),
    ("user:", "login-pair"),
    ("username", "login-pair"),
    ("log in", "login-pair"),
    ("sign in", "login-pair"),
    ("wifi", "login-pair"),
    ("wlan", "login-pair"),
    ("root", "login-pair"),
    ("admin", "login-pair"),
    (" / ", "login-pair"),
    ("signin", "login-pair"),
    ("capital", "spelled-password"),
    ("case", "spelled-password"),
    ("one word", "spelled-password"),
    ("no space", "spelled-password"),
    ("attach", "spelled-password"),
    ("attacc", "spelled-password"),
    ("majuscule", "spelled-password"),
    ("minusc", "spelled-password"),
    ("minúsc", "spelled-password"),
    ("mayúsc", "spelled-password"),
    ("maiusc", "spelled-password"),
    ("maiúsc", "spelled-password"),
    ("junto", "spelled-password"),
    ("zusammen", "spelled-password"),
    ("geschrieben", "spelled-password"),
    ("hoofdletter", "spelled-password"),
    ("aan elkaar", "spelled-password"),
    ("akc", "kept"),
    ("aws", "kept"),
    ("cloudant", "kept"),
    ("softlayer", "kept"),
    ("secret", "kept"),
)
# Words that a credential follows, and the rule for it.
NAMES = (
    ("password", "password"),
    ("passwd", "password"),
    ("passphrase", "password"),
    ("passcode", "password"),
    ("pwd", "password"),
    ("passwort", "password"),
    ("kennwort", "password"),
    ("contraseña", "password"),
    ("contrasena", "password"),
    ("clave", "password"),
    ("senha", "password"),
    ("mot de passe", "password"),
    ("wachtwoord", "password"),
    ("lösenord", "password"),
    ("hasło", "password"),
    ("mdp", "password"),
    ("motdepasse", "password"),
    ("palavra-passe", "password"),
    ("palavra passe", "password"),
    ("phrase secrète", "password"),
    ("parola d'ordine", "password"),
    ("parola chiave", "password"),
    ("wachtzin", "password"),
    ("toegangscode", "password"),
    ("zugangscode", "password"),
    ("netzwerkschlüssel", "password"),
    ("wlan-schlüssel", "password"),
    ("wlan schlüssel", "password"),
    ("wlan-key", "password"),
    ("wlan key", "password"),
    ("wifi key", "password"),
    ("wi-fi key", "password"),
    ("network key", "password"),
    ("wifi code", "password"),
    ("wifi-code", "password"),
    ("clé wifi", "password"),
    ("code wifi", "password"),
    ("code wi-fi", "password"),
    ("clé wi-fi", "password"),
    ("clé wpa", "password"),
    ("clé du wifi", "password"),
    ("chiave wifi", "password"),
    ("adgangskode", "password"),
    ("passord", "password"),
    ("salasana", "password"),
    ("heslo", "password"),
    ("jelszó", "password"),
    ("şifre", "password"),
    ("пароль", "password"),
    ("密码", "password"),
    ("密碼", "password"),
    ("パスワード", "password"),
    ("pw", "password"),
    ("pass", "password"),
    ("psk", "password"),
    ("secret", "assigned-secret"),
    ("token", "assigned-token"),
    ("key", "assigned-key"),
    ("_pat", "assigned-token"),
    ("bearer", "bearer-token"),
    ("basic", "basic-authorization"),
)
# Names that occur inside other words: no letter or digit may be next to them.
SHORT_NAMES = frozenset(("pw", "pass", "psk", "clave", "senha", "mdp", "heslo"))
# "key" alone is too general; after one of these words it names a credential.
KEY_STEMS = (
    "api", "access", "secret", "private", "account", "signing", "encryption", "auth", "master", "service", "license",
    "admin",
)  # fmt: skip
# Many words of `PLACES` are common. What else a text must have before the rule of the place is worth loading:
# one of these signs, a digit, or a word of some length with letters and a digit.
NEEDED_SIGNS = {
    **dict.fromkeys(("short-option", "capital-option", "archive-option", "ldap-option", "snmp-option"), (" -",)),
    **dict.fromkeys(("constructor-pair", "pair-in-code", "connection-password"), ("(", "[")),
    "slash-option": (":",),
    "seed-words": (":", "="),
}
NEED_A_DIGIT = frozenset(
    ("bitlocker-key", "pin", "spoken-code", "lock-combination", "recovery-key", "recovery-codes", "card-code")
)
NEED_A_MIXED_WORD = {"login-pair": 6, "spelled-password": 6, "command-token": 20, "wallet-key": 64}
INVISIBLE = "\u00ad\u200b\u200c\u200d\u2060\u2061\u2062\u2063\u2064\ufeff\u180e"
_RECORD_IDS = ("fact_", "event_", "evt_")
_DIGITS = frozenset("0123456789")
_LONG_WORD = 32
_SHORTEST_TAIL = 16


class SecretSearch(NamedTuple):
    """What to look for in a text.

    `rules` are rules of shape. `named` are positions after a name, `places` are rules of place. The flags ask for
    long random words, for rows of words that could be a recovery phrase, and for forms that hide something.
    """

    rules: tuple[str, ...]
    named: tuple[tuple[str, int, bool], ...] = ()
    places: tuple[str, ...] = ()
    bare: bool = False
    phrases: bool = False
    hidden: bool = False


class SecretMatch(NamedTuple):
    """A credential: the rule that matched, and its half-open range of characters."""

    rule: str
    start: int
    end: int


def find_secret(text: str, unnamed: bool = True) -> SecretMatch | None:
    """Return the first credential in the text, or None. See `find_secrets` for `unnamed`."""
    found = find_secrets(text, unnamed)
    return found[0] if found else None


def find_known_secret(text: str) -> SecretMatch | None:
    """Return the first credential with a known shape, for texts that may look random, such as session ids."""
    rules = candidate_rules(text)
    if not rules:
        return None
    from clawmem.model.safety.secrets.search import search

    return next((SecretMatch(*hit) for hit in search(text, "", SecretSearch(rules))), None)


def find_secrets(text: str, unnamed: bool = True) -> tuple[SecretMatch, ...]:
    """Return every credential in the text, in order and without overlaps. Takes time linear in the text.

    With `unnamed`, a long word that looks random counts even if no name announces it.
    """
    lower = _lowered(text)
    asked = SecretSearch(
        candidate_rules(text),
        tuple(_named_places(lower)),
        tuple(rule for rule in dict.fromkeys(rule for word, rule in PLACES if word in lower) if _may_stand(text, rule)),
        unnamed and _has_long_word(text),
        _has_row_of_words(text),
        _may_hide(text),
    )
    if not any(asked):
        return ()
    # The patterns take a millisecond to load, and ordinary text rarely gets here.
    from clawmem.model.safety.secrets.search import search

    return tuple(SecretMatch(*hit) for hit in search(text, lower, asked))


def _may_stand(text: str, rule: str) -> bool:
    """Return whether a text has what the rule of a place needs besides its word."""
    if rule in NEED_A_DIGIT:
        return not _DIGITS.isdisjoint(text)
    if rule in NEED_A_MIXED_WORD:
        shortest = NEED_A_MIXED_WORD[rule]
        return any(_is_mixed_word(word) for word in text.split() if len(word) >= shortest) or (
            rule == "wallet-key" and "[" in text
        )
    return rule not in NEEDED_SIGNS or any(sign in text for sign in NEEDED_SIGNS[rule])


def _is_mixed_word(word: str) -> bool:
    """Return whether a word has letters and a digit, and is neither a time nor an id of a record."""
    word = word.lstrip("\"'")
    return not (word.isalpha() or _DIGITS.isdisjoint(word) or word[:4].isdigit() or word.startswith(_RECORD_IDS))


def redact(text: str) -> str:
    """Return the text with each credential replaced by `[redacted: rule]`."""
    parts = []
    done = 0
    for match in find_secrets(text):
        parts += [text[done : match.start], f"[redacted: {match.rule}]"]
        done = match.end
    return "".join([*parts, text[done:]])


def candidate_rules(text: str) -> tuple[str, ...]:
    """Return the rules whose words occur in the text, each once."""
    rules = [rule for start, rule in STARTS if start in text and _begins(text, start)]
    rules += [rule for word, rule in INSIDE if word in text]
    if "://" in text and "@" in text:
        rules.append("url-password")
    return tuple(dict.fromkeys(rules))


def _begins(text: str, start: str) -> bool:
    """Return whether a word starts with `start` somewhere, with enough after it to be a credential."""
    for place in _places(text, start):
        tail = text[place + len(start) : place + len(start) + _SHORTEST_TAIL]
        if len(tail) == _SHORTEST_TAIL and tail.split() == [tail] and not text[place - 1 : place].isalnum():
            return True
    return False


def _places(text: str, word: str) -> Iterator[int]:
    place = text.find(word)
    while place >= 0:
        yield place
        place = text.find(word, place + len(word))


def _named_places(lower: str) -> Iterator[tuple[str, int, bool]]:
    """Yield where a value may follow a name of a credential: rule, end of the name, whether it is an option."""
    for word, rule in NAMES:
        if word in lower:
            for place in _places(lower, word):
                end = place + len(word)
                if word in SHORT_NAMES and (lower[end : end + 1].isalnum() or lower[place - 1 : place].isalnum()):
                    continue
                if word != "key" or lower[max(0, place - 12) : place].rstrip("_- ").endswith(KEY_STEMS):
                    yield from _named_place(lower, rule, place, end)


def _named_place(lower: str, rule: str, place: int, end: int) -> Iterator[tuple[str, int, bool]]:
    near = lower[end : end + 6]
    if rule in ("bearer-token", "basic-authorization"):
        if near[:1] == " " and (rule == "bearer-token" or "authorization" in lower[max(0, place - 24) : place]):
            yield rule, end, False
    elif near[:1] == " " and "--" in lower[max(0, place - 16) : place].rsplit(" ", 1)[-1]:
        yield rule, end, True
    elif rule == "password" or any(sign in near for sign in ("=", ":", " is", " was")):
        yield rule, end, False


def _lowered(text: str) -> str:
    """Return the text in lower case with the same length, even if a letter's lower case is longer."""
    lower = text.lower()
    if len(lower) == len(text):
        return lower
    return "".join(letter.lower() if len(letter.lower()) == 1 else letter for letter in text)


def _has_long_word(text: str) -> bool:
    """Return whether a word is long enough to be an unannounced key and has capitals; addresses are skipped."""

    long = (word for word in text.split() if len(word) >= _LONG_WORD and not word.islower())
    return any(not 0 <= word.find("://") < _LONG_WORD for word in long)


def _has_row_of_words(text: str) -> bool:
    """Return whether twelve words of three to eight letters follow each other, as in a recovery phrase."""
    row = 0
    for word in text.split():
        word = word.strip(",.0123456789)[]\"'")
        row = row + 1 if 3 <= len(word) <= 8 and word.isalpha() else row if not word else 0
        if row == 12:
            return True
    return False


def _may_hide(text: str) -> bool:
    """Return whether the text could hide a credential: invisible or wide letters, a broken line, percent signs."""
    if not text.isascii() and (max(text) >= "\uff01" or any(letter in text for letter in INVISIBLE)):
        return True
    if "\n" in text or "\\n" in text:
        return any(start in text for start, _ in STARTS)
    return "%" in text
