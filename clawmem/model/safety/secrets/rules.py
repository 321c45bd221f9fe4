"""The shapes of credentials, and the words near them: each rule once, with the literals that a text must have.

Every write imports this module, so it is data: no pattern is compiled here. `find` looks for the literals, and only
the patterns of rules whose literals occur are compiled. Every repetition is bounded or runs to the end of the match, so
that a search takes time linear in the text.
"""

from __future__ import annotations

_END = r"(?![A-Za-z0-9])"
ADDRESS = "://"
_UUID = "[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}"
_PEM = (
    r"[A-Z ]{0,40}PRIVATE KEY(?: BLOCK)?-----(?=[^-]{0,400}?[A-Za-z0-9+/]{24})"
    r"(?:(?!-----)[A-Za-z0-9+/=\s\\,:.()-])*(?:-----END [A-Z ]{0,60}-----)?"
)

# Rule, how its credentials begin (each literal with no letter or digit before it, if it is a word), and the pattern of
# the rest, at least 16 unbroken characters. If the pattern has a group, only the group is the secret.
STARTING: tuple[tuple[str, str, str], ...] = (
    ("age-key", "AGE-SECRET-KEY-1", r"[QPZRY9X8GF2TVDW0S3JN54KHCE6MUA7L]{58}"),
    ("aws-access-key", "AKIA ASIA ABIA ACCA", r"[A-Z2-7]{16}" + _END),
    ("google-api-key", "AIza", r"[A-Za-z0-9_-]{35}"),
    ("gcp-oauth", "GOCSPX- ya29.", r"[A-Za-z0-9_.-]{20,}"),
    ("gcp-refresh-token", "1//0", r"[A-Za-z0-9_-]{35,}"),
    ("github-token", "ghp_ gho_ ghu_ ghs_ ghr_", r"[A-Za-z0-9]{36,}"),
    ("github-pat", "github_pat_", r"[A-Za-z0-9_]{40,}"),
    (
        "gitlab-token",
        "glpat- gloas- gldt- glrt- glcbt- glptt- glft- glimt- glagent- glsoat- glffct-",
        r"[A-Za-z0-9_.-]{20,}",
    ),
    ("gitlab-runner-token", "GR1348941", r"[A-Za-z0-9_-]{20,}"),
    ("slack-token", "xox", r"[abeoprs](?:\.xox[bp])?-(?=[A-Za-z-]{0,8}\d)[A-Za-z0-9-]{20,}"),
    ("slack-app-token", "xapp-", r"\d-[A-Za-z0-9-]{20,}"),
    ("slack-webhook", "hooks.slack.com hooks.slack-gov.com", r"/(?:services|workflows|triggers)/[\w/+-]{30,}"),
    ("stripe-key", "sk_live_ sk_test_ rk_live_ rk_test_", r"[A-Za-z0-9]{16,}"),
    ("stripe-webhook-secret", "whsec_", r"[A-Za-z0-9+/]{24,}=*"),
    ("anthropic-key", "sk-ant-", r"[a-z]{2,8}\d{2}-[A-Za-z0-9_-]{24,}"),
    ("openrouter-key", "sk-or-v1-", r"[0-9a-f]{32,}"),
    ("openai-project-key", "sk-proj- sk-svcacct- sk-admin- sk-service-", r"(?=[A-Za-z_-]{0,80}\d)[A-Za-z0-9_-]{24,}"),
    ("openai-key", "sk-", r"(?=[A-Za-z]{0,40}\d)[A-Za-z0-9]{32,}" + _END),
    ("azure-storage-key", "AccountKey= SharedAccessKey=", r"([A-Za-z0-9+/]{40,}={0,2})"),
    ("azure-sas", "sig=", r"([A-Za-z0-9%+/]{40,}(?:%3D|=)?)"),
    ("twilio-key", "SK", r"[0-9a-f]{32}" + _END),
    ("sendgrid-key", "SG.", r"[A-Za-z0-9_-]{16,64}\.[A-Za-z0-9_-]{16,}"),
    ("mailgun-key", "key-", r"[0-9a-f]{32}" + _END),
    ("npm-token", "npm_", r"[A-Za-z0-9]{36}" + _END),
    ("pypi-token", "pypi-Ag", r"[A-Za-z0-9_-]{50,}"),
    ("rubygems-key", "rubygems_", r"[0-9a-f]{40,}"),
    ("docker-token", "dckr_pat_ dckr_oat_", r"[A-Za-z0-9_-]{20,}"),
    ("huggingface-token", "hf_", r"(?=[a-z]{0,29}[A-Z0-9])[A-Za-z0-9]{30,}"),
    ("groq-key", "gsk_", r"[A-Za-z0-9]{40,}"),
    ("perplexity-key", "pplx-", r"[A-Za-z0-9]{40,}"),
    ("discord-mfa-token", "mfa.", r"[A-Za-z0-9_-]{80,}"),
    ("digitalocean-token", "dop_v1_ doo_v1_ dor_v1_", r"[0-9a-f]{64}"),
    ("shopify-token", "shpat_ shpca_ shppa_ shpss_", r"[0-9a-fA-F]{32}"),
    ("square-token", "sq0", r"[a-z]{3}-[A-Za-z0-9_-]{22,}"),
    ("databricks-token", "dapi", r"[0-9a-f]{32}"),
    ("vault-token", "hvs. hvb. hvr.", r"[A-Za-z0-9_-]{24,}"),
    ("linear-key", "lin_api_", r"[A-Za-z0-9]{32,}"),
    ("grafana-token", "glsa_ glc_", r"[A-Za-z0-9_+/=]{32,}"),
    ("new-relic-key", "NRAK-", r"[A-Z0-9]{27}"),
    ("planetscale-token", "pscale_", r"(?:tkn|pw|oauth)_[A-Za-z0-9_.-]{30,}"),
    ("postman-key", "PMAK-", r"[0-9a-f]{24}-[0-9a-f]{34}"),
    ("atlassian-token", "ATATT3 ATBB ATCTT3", r"[A-Za-z0-9_=-]{28,}"),
    ("1password-token", "ops_eyJ", r"[A-Za-z0-9_-]{100,}=*"),
    ("jwt", "eyJ", r"(?<![A-Za-z0-9_-]eyJ)[A-Za-z0-9_-]{8,}+\.eyJ[A-Za-z0-9_-]{8,}+\.[A-Za-z0-9_-]*"),
    ("signed-value", "eyJ", r"[\w-]{8,}+(?:\.[A-Za-z0-9_-]{6}\.[A-Za-z0-9_-]{27,}|(?:\.[A-Za-z0-9_-]{10,}+){4})"),
    ("stellar-seed", "SA SB SC SD", r"(?=[A-Z]{0,53}\d)[A-Z2-7]{54}" + _END),
    ("signed-address", "X-Amz-Signature= X-Goog-Signature=", r"([0-9a-f]{64,512})"),
    ("1password-secret-key", "A3-", r"[A-Z0-9]{6}-(?:[A-Z0-9]{11}|[A-Z0-9]{6}-[A-Z0-9]{5})(?:-[A-Z0-9]{5}){3}"),
    ("adobe-secret", "p8e-", r"[A-Za-z0-9_-]{28,}"),
    ("airtable-token", "pat", r"[A-Za-z0-9]{14}\.[0-9a-f]{64}" + _END),
    ("alibaba-key", "LTAI", r"[A-Za-z0-9]{20}" + _END),
    ("asana-token", "1/ 2/", r"\d{13,20}(?:/\d{13,20})?:[0-9a-f]{32}" + _END),
    ("trello-token", "ATTA", r"[0-9a-fA-F]{60,}"),
    ("buildkite-token", "bkua_ bkct_ bkaj_", r"[0-9A-Za-z_-]{32,}"),
    ("circleci-token", "CCIPAT_ CCIPRJ_", r"[A-Za-z0-9]{16,}_[0-9a-f]{40}"),
    ("cloudflare-origin-key", "v1.0-", r"[0-9a-f]{24}-[0-9a-f]{100,}"),
    ("clojars-token", "CLOJARS_", r"[A-Za-z0-9]{60}"),
    ("contentful-token", "CFPAT-", r"[A-Za-z0-9_-]{40,}"),
    ("duffel-token", "duffel_", r"(?:live|test)_[A-Za-z0-9_=-]{40,}"),
    ("dynatrace-token", "dt0", r"[a-z]\d\d\.[A-Z0-9]{8,24}\.[A-Z0-9]{64}"),
    ("elastic-key", "essu_", r"[A-Za-z0-9_+/=-]{40,}"),
    ("e2b-key", "e2b_", r"[0-9a-f]{40}" + _END),
    ("facebook-token", "EAA", r"[A-Z][A-Za-z0-9]{90,}"),
    ("square-access-token", "EAAA", r"[A-Za-z0-9_-]{58,62}(?![A-Za-z0-9_-])"),
    ("firecrawl-key", "fc-", r"[0-9a-f]{32}" + _END),
    ("flutterwave-key", "FLWSECK", r"(?:_TEST)?-[0-9a-zA-Z]{12,}-X"),
    ("fly-token", "fo1_ fm1r_ fm1a_ fm2_", r"[A-Za-z0-9+/_=-]{40,}"),
    ("harness-token", "pat.", r"[A-Za-z0-9_-]{22}\.[0-9a-f]{24}\.[A-Za-z0-9]{20}"),
    ("heroku-key", "HRKU-", r"[A-Za-z0-9_-]{36,}"),
    ("hubspot-token", "pat-", r"(?:na|eu|ap)\d-" + _UUID),
    ("infracost-key", "ico-", r"[A-Za-z0-9]{32}" + _END),
    ("intra42-secret", "s-s4t2", r"(?:ud|af)-[0-9a-f]{64}"),
    ("encoded-private-key", "LS0tLS1CRUdJTi", r"(?!BDRVJU|BQVUJM|BQR1AgUFVC|BQR1AgU0lH)[A-Za-z0-9+/]{60,}={0,2}"),
    ("langsmith-key", "lsv2_", r"(?:pt|sk)_[0-9a-f]{32}_[0-9a-f]{10}"),
    ("langfuse-key", "sk-lf-", _UUID),
    ("launchdarkly-key", "sdk- api-", _UUID),
    ("linear-oauth", "lin_oauth_", r"[0-9a-f]{64}"),
    ("mapbox-secret-token", "sk.eyJ", r"[A-Za-z0-9_-]{20,}\.[A-Za-z0-9_-]{20,}"),
    ("netlify-token", "nfp_ nfc_ nfo_ nfu_", r"[A-Za-z0-9]{36,}"),
    ("new-relic-insert-key", "NRII-", r"[A-Za-z0-9_-]{32}"),
    ("notion-secret", "secret_", r"[A-Za-z0-9]{43}" + _END),
    ("nuget-key", "oy2", r"[a-z0-9]{43}" + _END),
    ("octopus-key", "API-", r"(?=[A-Z]{0,26}\d)[A-Z0-9]{25,}" + _END),
    ("openshift-token", "sha256~", r"[A-Za-z0-9_-]{43}"),
    ("paypal-token", "access_token$", r"(?:production|sandbox)\$[a-z0-9]{16}\$[0-9a-f]{32}"),
    ("plaid-token", "access-", r"(?:production|development|sandbox)-" + _UUID),
    ("pulumi-token", "pul-", r"[0-9a-f]{40}" + _END),
    ("resend-key", "re_", r"[A-Za-z0-9]{8}_[A-Za-z0-9]{20,}"),
    ("scalingo-token", "tk-us-", r"[A-Za-z0-9_-]{48}"),
    ("brevo-key", "xkeysib- xsmtpsib-", r"[0-9a-f]{64}-[A-Za-z0-9]{16}"),
    ("sentry-token", "sntrys_ sntryu_", r"[A-Za-z0-9+/=_-]{60,}"),
    ("shippo-token", "shippo_", r"(?:live|test)_[0-9a-f]{40}"),
    ("sonar-token", "squ_ sqp_ sqa_ sqb_", r"[0-9a-f]{40}" + _END),
    ("sourcegraph-token", "sgp_", r"(?:[0-9a-f]{16}_|local_)?[0-9a-f]{40}" + _END),
    ("supabase-token", "sbp_", r"(?:v0_)?[0-9a-f]{40}" + _END),
    ("supabase-secret", "sb_secret_", r"[A-Za-z0-9_-]{20,}"),
    ("tailscale-key", "tskey-", r"[a-z]{3,8}-[A-Za-z0-9]{8,}-[A-Za-z0-9]{16,}"),
    ("tavily-key", "tvly-", r"(?:dev-|prod-)?[A-Za-z0-9]{28,}"),
    ("together-key", "tgp_v1_", r"[A-Za-z0-9_-]{40,}"),
    ("twitch-token", "oauth:", r"[a-z0-9]{30}" + _END),
    ("twitter-bearer", "AAAAAAAAAAAAAAAAAAAAA", r"[A-Za-z0-9%]{60,}"),
    ("typeform-token", "tfp_", r"[A-Za-z0-9_.=-]{40,}"),
    ("yandex-key", "AQVN", r"[A-Za-z0-9_-]{35,38}" + _END),
    ("aiven-password", "AVNS_", r"[A-Za-z0-9_-]{16,}"),
    ("locationiq-key", "pk.", r"[0-9a-f]{32}" + _END),
    ("zuplo-key", "zpka_", r"[0-9a-f]{32}[A-Za-z0-9_]*"),
    ("infisical-token", "st.", _UUID + r"\.[0-9a-f]{32}\.[0-9a-f]{32}"),
    ("zapier-hook", "hooks.zapier.com", r"/hooks/catch/\d{4,12}/[A-Za-z0-9]{5,}"),
    ("extended-private-key", "xprv yprv zprv tprv", r"[A-HJ-NP-Za-km-z1-9]{100,}"),
    ("aws-session-token", "IQoJb3JpZ2lu FwoGZXIvYXdz FQoGZXIvYXdz", r"[A-Za-z0-9+/]{80,}={0,2}"),
    ("mailersend-token", "mlsn.", r"[0-9a-f]{60,}"),
    ("mandrill-key", "md-", r"(?=[A-Za-z_-]{0,20}\d)[A-Za-z0-9_-]{22}(?![A-Za-z0-9_-])"),
    ("clickup-token", "pk_", r"(?:\d{5,10}_[A-Z0-9]{32}|[0-9a-f]{34})" + _END),
    ("vercel-token", "vcp_ vci_ vca_ vck_ vercel_blob_rw_", r"[A-Za-z0-9_]{24,}"),
    ("deno-token", "ddp_ ddo_", r"[A-Za-z0-9]{36}" + _END),
    ("xata-key", "xau_", r"[A-Za-z0-9]{30,}"),
    ("mongodb-atlas-secret", "mdb_sa_sk_", r"[A-Za-z0-9_-]{30,}"),
    ("tinybird-token", "p.eyJ", r"[A-Za-z0-9_-]{40,}\.[A-Za-z0-9_-]{20,}"),
    ("llamacloud-key", "llx-", r"[A-Za-z0-9]{40,}"),
    ("voyage-key", "pa-", r"(?=[A-Za-z_-]{0,30}\d)[A-Za-z0-9_-]{43}(?![A-Za-z0-9_-])"),
    ("jina-key", "jina_", r"[0-9a-f]{32}[A-Za-z0-9_-]{20,}"),
    ("nomic-key", "nk-", r"(?=[A-Za-z_-]{0,30}\d)[A-Za-z0-9_-]{43}(?![A-Za-z0-9_-])"),
    ("fireworks-key", "fw_", r"(?=[A-Za-z]{0,23}\d)[A-Za-z0-9]{22,30}(?![A-Za-z0-9_-])"),
    ("anyscale-key", "esecret_", r"[a-z0-9]{26,}"),
    ("cerebras-key", "csk-", r"[a-z0-9]{40,}"),
    ("cartesia-key", "sk_car_", r"[A-Za-z0-9_-]{20,}"),
    ("long-hex-key", "key_", r"[0-9a-f]{64,128}" + _END),
    ("brave-key", "BSA", r"(?=[A-Za-z_-]{0,26}\d)[A-Za-z0-9_-]{28}(?![A-Za-z0-9_-])"),
    ("browserbase-key", "bb_live_", r"[A-Za-z0-9_-]{24,}"),
    ("modal-token", "ak- as-", r"(?=[A-Za-z]{0,21}\d)(?=[a-z0-9]{0,21}[A-Z])[A-Za-z0-9]{22}(?![A-Za-z0-9_-])"),
    ("helicone-key", "sk-helicone-", r"[a-z0-9-]{24,}"),
    ("letta-key", "sk-let-", r"[A-Za-z0-9=+/]{40,}"),
    ("mem0-key", "m0-", r"[A-Za-z0-9]{36,}"),
    ("volcengine-key", "AKLT", r"[A-Za-z0-9]{40,}={0,2}"),
    ("baidu-key", "bce-v3/", r"ALTAK-[A-Za-z0-9]{16,}/[0-9a-f]{40}"),
    ("tencent-key", "AKID", r"(?=[A-Za-z]{0,31}\d)[A-Za-z0-9]{32}" + _END),
    ("vk-token", "vk1.a.", r"[A-Za-z0-9_-]{80,}"),
    ("pinterest-token", "pina_", r"[A-Z0-9]{60,}"),
    ("matrix-token", "syt_", r"[A-Za-z0-9]{2,80}_[A-Za-z]{20}_[A-Za-z0-9]{6}" + _END),
    ("slack-workflow-token", "xwfp-", r"[A-Za-z0-9-]{24,}"),
    ("ntfy-token", "tk_", r"[a-z0-9]{29}(?![A-Za-z0-9_])"),
    ("honeycomb-key", "hcaic_ hcaik_ hcxic_ hcxik_ hcxmk_", r"[a-z0-9]{24,}"),
    ("axiom-token", "xaat- xapt-", _UUID),
    (
        "statsig-secret",
        "secret-",
        r"(?:(?:live|test)-[A-Za-z0-9_-]{30,}=*|(?=[A-Za-z]{0,42}\d)[A-Za-z0-9]{43}(?![A-Za-z0-9_-]))",
    ),
    ("mollie-key", "live_ test_", r"(?=[A-Za-z]{0,29}\d)(?=[a-z0-9]{0,29}[A-Z])[A-Za-z0-9]{30}(?![A-Za-z0-9_])"),
    ("razorpay-pair", "rzp_live_ rzp_test_", r"[A-Za-z0-9]{14}[\"']?\s{0,3}[:,]\s{0,3}[\"']?([A-Za-z0-9]{24})" + _END),
    ("paddle-key", "pdl_", r"(?:live|sdbx|ntfset)_[A-Za-z0-9_+/]{30,}"),
    ("revolut-token", "oa_prod_", r"[A-Za-z0-9_-]{40,}"),
    ("woocommerce-key", "ck_ cs_", r"[0-9a-f]{40}" + _END),
    ("amazon-mws-token", "amzn.mws.", _UUID),
    ("amazon-client-secret", "amzn1.oa2-cs.v1.", r"[0-9a-f]{64}"),
    ("ebay-secret", "PRD-", r"[0-9a-f]{12}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}"),
    ("telnyx-key", "KEY0", r"[0-9A-F]{31}_[A-Za-z0-9]{20,}"),
    ("salesforce-token", "00D", r"[A-Za-z0-9]{12,15}!([A-Za-z0-9._]{60,})"),
    ("convertkit-key", "kit_", r"[0-9a-f]{32}" + _END),
    ("onesignal-key", "os_v2_", r"(?:app|org)_[a-z0-9]{60,}"),
    ("backblaze-key", "K00", r"(?=[A-Za-z]{0,26}\d)[0-9][A-Za-z0-9+/]{27}(?![A-Za-z0-9+/])"),
    ("chromatic-token", "chpt_", r"[0-9a-f]{12,}"),
    ("google-bound-key", "AQ.Ab", r"[A-Za-z0-9_-]{40,}"),
    ("crates-token", "cio", r"(?=[a-z0-9]{0,31}[A-Z])(?=[A-Za-z]{0,31}\d)[A-Za-z0-9]{32}" + _END),
    ("packagist-token", "packagist_", r"[a-z]{2,3}_[0-9a-f]{40,}"),
    ("netbird-token", "nbp_", r"[A-Za-z0-9]{36}" + _END),
    ("dashlane-token", "dls_", r"[A-Za-z0-9_-]{30,}"),
    ("konnect-token", "kpat_ spat_", r"[A-Za-z0-9]{40,}"),
    ("nostr-key", "nsec1", r"[02-9ac-hj-np-z]{58}" + _END),
    ("calcom-key", "cal_live_", r"[0-9a-f]{32}" + _END),
    ("microsoft-refresh-token", "M.C5", r"\d{1,3}_[A-Z0-9.]{2,12}[A-Za-z0-9!*$._-]{60,}"),
    ("feishu-webhook", "open.feishu.cn open.larksuite.com", r"/open-apis/bot/(?:v2/)?hook/[0-9a-zA-Z-]{20,}"),
    ("dingtalk-webhook", "oapi.dingtalk.com", r"/robot/send\?access_token=([0-9a-f]{40,})"),
    ("wecom-webhook", "qyapi.weixin.qq.com", rf"/cgi-bin/webhook/send\?key=({_UUID})"),
    (
        "google-chat-webhook",
        "chat.googleapis.com",
        r"/v1/spaces/[\w-]{4,40}/messages\?[^\s\"'<>]{0,200}?token=([\w%-]{20,})",
    ),
    ("ifttt-webhook", "maker.ifttt.com", r"/trigger/[\w{}-]{1,60}/(?:json/)?with/key/([A-Za-z0-9_-]{16,})"),
    ("make-webhook", "hook.", r"(?:(?:eu|us)\d\.make\.(?:com|celonis\.com)|integromat\.com)/([a-z0-9]{24,})"),
    ("office-webhook", "outlook.office.com/webhook/", r"[\w@-]{36,80}/IncomingWebhook/[0-9a-f]{32}/" + _UUID),
    ("ping-address", "hc-ping.com", rf"/({_UUID})"),
    ("pagerduty-webhook", "events.pagerduty.com", r"/(?:integration|x-ere)/([A-Za-z0-9]{20,})"),
    ("flock-webhook", "api.flock.com", rf"/hooks/sendMessage/({_UUID})"),
    ("glip-webhook", "hooks.glip.com", r"/webhook/(?:v2/)?([A-Za-z0-9._-]{30,})"),
    ("webex-webhook", "webexapis.com api.ciscospark.com", r"/v1/webhooks/incoming/([A-Za-z0-9_-]{40,})"),
    ("airtable-webhook", "hooks.airtable.com", r"/workflows/v1/genericWebhook/\w{10,}/\w{10,}/\w{10,}"),
    (
        "build-hook",
        "api.netlify.com/build_hooks/ api.vercel.com/v1/integrations/deploy/ api.render.com/deploy/ /deploy_hooks/",
        rf"(?:{_UUID}|[0-9a-f]{{24}}(?![0-9a-f])|prj_\w{{10,40}}/\w{{8,}}|srv-\w{{10,40}}\?key=[\w-]{{8,}})",
    ),
    ("pabbly-webhook", "connect.pabbly.com", r"/workflow/sendwebhookdata/([A-Za-z0-9_=%-]{30,})"),
    ("password-hash", "$apr1 $2a $2b $2y $5 $6 $y $argon2", r"(?:id?)?\$[A-Za-z0-9./$=,+-]{20,}"),
    ("discord-webhook", "/api/webhooks/", r"\d{16,20}/[A-Za-z0-9_-]{60,}"),
    (
        "mattermost-webhook",
        "/hooks/",
        r"(?:(?=[a-z]{0,25}\d)[a-z0-9]{26}|[A-Za-z0-9]{17}/[A-Za-z0-9]{40,70})(?![A-Za-z0-9/_-])",
    ),
    ("teams-webhook", ".webhook.office.com/", r"webhookb2/[\w@-]{36,80}/IncomingWebhook/[0-9a-f]{32}/" + _UUID),
    (
        "node-address",
        "infura.io alchemy.com quiknode.pro chainstack.com ankr.com",
        r"/(?:[a-z_]{2,12}/|v\d/){0,3}([A-Za-z0-9_-]{24,})",
    ),
)
# Rule, the literals of which one stands in what it matches, and the pattern.
INSIDE: tuple[tuple[str, str, str], ...] = (
    ("private-key", "PRIVATE", "-----BEGIN " + _PEM),
    ("putty-key", "PuTTY-User-Key-File", r"PuTTY-User-Key-File-\d:[\s\S]*"),
    ("splunk-token", "Splunk", rf"(?<![A-Za-z0-9])Splunk ({_UUID})"),
    ("azure-client-secret", "Q~", r"(?<![A-Za-z0-9_~.-])[A-Za-z0-9_~.-]{3}[0-9]Q~[A-Za-z0-9_~.-]{31,34}"),
    ("telegram-bot-token", ":AA", r"(?<![A-Za-z0-9])\d{8,10}:AA[A-Za-z0-9_-]{32,34}(?![A-Za-z0-9_-])"),
    ("terraform-token", ".atlasv1.", r"(?<![A-Za-z0-9])[A-Za-z0-9]{14}\.atlasv1\.[A-Za-z0-9_=-]{50,}"),
    ("firebase-key", ":APA91b", r"(?<![A-Za-z0-9_-])[A-Za-z0-9_-]{11}:APA91b[A-Za-z0-9_-]{100,}"),
    ("rapidapi-key", "jsn", r"(?<![A-Za-z0-9])[0-9a-f]{10}msh[0-9a-f]{15}p1[0-9a-f]{6}jsn[0-9a-f]{12}"),
    ("azure-devops-token", "AZDO", r"(?<![A-Za-z0-9])[A-Za-z0-9]{74,80}AZDO[A-Za-z0-9]{4}" + _END),
    ("windows-hash", ":::", r":[0-9a-fA-F]{32}:[0-9a-fA-F]{32}:::"),
    ("jenkins-token", ":11", r"(?<![\w.-])[\w.-]{1,40}:(11[0-9a-f]{32})" + _END),
    ("maxmind-key", "_mmk", r"(?<![A-Za-z0-9])[A-Za-z0-9]{6}_[A-Za-z0-9]{29}_mmk"),
    ("azure-service-key", "AzSe AzFu", r"(?<![A-Za-z0-9_-])[A-Za-z0-9_-]{42,44}Az(?:Se|Fu)[A-Za-z0-9_=-]{6,10}"),
    (
        "azure-marked-key",
        "+ASt +ACDb +AIoT +ARm +AEh",
        r"(?<![A-Za-z0-9+/])[A-Za-z0-9+/]{33,76}\+A(?:St|CDb|IoT|Rm|Eh)[A-Za-z0-9+/]{4,6}[AQgwo=]={0,2}",
    ),
    ("new-relic-license", "NRAL", r"(?<![A-Za-z0-9])(?:eu01xx)?[0-9a-f]{30,36}(?:FFFF)?NRAL"),
    ("mailchimp-key", "-us1 -us2 -us3 -us4 -us5 -us6 -us7 -us8 -us9", r"(?<![A-Za-z0-9])[0-9a-f]{32}-us\d{1,2}" + _END),
    ("url-password", ADDRESS, ADDRESS + r"""[^\s/:@"'<>]{0,100}:([^\s/@"'<>]{1,200})@(?=[\w\[.-])"""),
    ("url-token", ADDRESS, ADDRESS + r"([A-Za-z0-9_-]{20,200})@(?=[\w\[.-])"),
)
# The rule for what follows a name, and the names.
NAMES = {
    "password": (
        "password|passwd|passphrase|passcode|pwd|passwort|kennwort|contraseña|contrasena|clave|senha|"
        "mot de passe|wachtwoord|lösenord|hasło|mdp|motdepasse|palavra-passe|palavra passe|phrase secrète|"
        "parola d'ordine|parola chiave|wachtzin|toegangscode|zugangscode|netzwerkschlüssel|wlan-schlüssel|"
        "wlan schlüssel|wlan-key|wlan key|wifi key|wi-fi key|network key|wifi code|wifi-code|clé wifi|"
        "code wifi|code wi-fi|clé wi-fi|clé wpa|clé du wifi|chiave wifi|adgangskode|passord|salasana|heslo|"
        "jelszó|şifre|пароль|密码|密碼|パスワード|비밀번호|패스워드|كلمة المرور|كلمة السر|parola este|"
        "κωδικός πρόσβασης|"
        "κωδικός είναι|סיסמה|סיסמא|पासवर्ड|kata sandi|mật khẩu|รหัสผ่าน|lozinka|парола|pw|pass|psk"
    ),
    "assigned-secret": "secret",
    "assigned-token": "token|_pat",
    "assigned-key": "key",
    "bearer-token": "bearer",
    "basic-authorization": "basic",
}
# Names that occur inside other words: no letter or digit may be next to them.
SHORT_NAMES = frozenset(("pw", "pass", "psk", "clave", "senha", "mdp", "heslo"))
# Those that end the name of a variable, too: `SMTPPASS=`. What is assigned must look chosen then: `bypass=`.
PART_NAMES = frozenset(("pw", "pass"))
# Nouns that say that a long random word near them is a credential. The short ones stand alone or in a name: `app_key`.
NOUNS = (
    "token secret credential password passwort authoriz apikey appkey authkey accesskey secretkey appid schlüssel"
    " jeton clé clef contraseña llave clave chave chiave sleutel wachtwoord klucz hasło klíč kľúč anahtar nyckel nøgle"
    " nøkkel avain kulcs khóa kunci cheie ključ ключ токен секрет пароль κλειδί מפתח אסימון مفتاح رمز टोकन कुंजी"
    " โทเค็น คีย์ キー トークン シークレット パスワード 密钥 密鑰 秘钥 金鑰 令牌 凭证 憑證 密码 키 토큰 시크릿 비밀번호"
).split()
SHORT_NOUNS = "key pat dsn auth api creds pass pwd pw bearer jwt".split()
SHORTEST_TOKEN = 20
"""The least length of a token that does not follow its name directly."""
SHORTEST_NEXT = 14
"""The least length of a token that does."""
# "key" alone is too general; after one of these words it names a credential.
KEY_STEMS = tuple(
    "api access secret private account signing encryption auth master service license admin "
    "app application consumer integration deploy server ingest subscription function".split()
)
