"""The shapes of credentials: a pattern for each rule."""

from __future__ import annotations

from clawmem.model.named_tuple import NamedTuple

_END = r"(?![A-Za-z0-9])"


class SecretRule(NamedTuple):
    """A credential's shape: `head`, of fixed width, followed by `body`; with `whole`, no letter or digit before it.

    If the pattern has a group, only the group is the secret. Every repetition is bounded or runs to the end of the
    match, so that a search takes time linear in the text.
    """

    head: str
    body: str
    whole: bool = True

    @property
    def pattern(self) -> str:
        """Return the regular expression; the look-behind comes after `head` to keep the literal start searchable."""
        return f"{self.head}(?<![A-Za-z0-9]{self.head}){self.body}" if self.whole else self.head + self.body


_UUID = "[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}"
_PEM = (
    r"[A-Z ]{0,40}PRIVATE KEY(?: BLOCK)?-----(?=[^-]{0,400}?[A-Za-z0-9+/]{24})"
    r"(?:(?!-----)[A-Za-z0-9+/=\s\\,:.()-])*(?:-----END [A-Z ]{0,60}-----)?"
)
_LOGIN = r"""[^\s/:@"'<>]{0,100}:([^\s/@"'<>]{1,200})@(?=[\w\[.-])"""
_GITLAB = r"(?:pat|oas|dt|rt|cbt|ptt|ft|imt|agent|soat|ffct)-[A-Za-z0-9_.-]{20,}"
_PROJECT = r"(?:proj|svcacct|admin|service)-(?=[A-Za-z_-]{0,80}\d)[A-Za-z0-9_-]{24,}"

RULES = {
    "private-key": SecretRule("-----BEGIN ", _PEM, whole=False),
    "putty-key": SecretRule("PuTTY-User-Key-File", r"-\d:[\s\S]*", whole=False),
    "age-key": SecretRule("AGE-SECRET-KEY-1", r"[QPZRY9X8GF2TVDW0S3JN54KHCE6MUA7L]{58}"),
    "aws-access-key": SecretRule("A(?:KI|SI|BI|CC)A", r"[A-Z2-7]{16}" + _END),
    "google-api-key": SecretRule("AIza", r"[A-Za-z0-9_-]{35}"),
    "gcp-oauth": SecretRule(r"(?:GOCSPX-|ya29\.)", r"[A-Za-z0-9_.-]{20,}", whole=False),
    "gcp-refresh-token": SecretRule("1//0", r"[A-Za-z0-9_-]{35,}"),
    "github-token": SecretRule("gh[pousr]_", r"[A-Za-z0-9]{36,}"),
    "github-pat": SecretRule("github_pat_", r"[A-Za-z0-9_]{40,}"),
    "gitlab-token": SecretRule("gl", _GITLAB),
    "gitlab-runner-token": SecretRule("GR1348941", r"[A-Za-z0-9_-]{20,}"),
    "slack-token": SecretRule("xox", r"[abeoprs](?:\.xox[bp])?-(?=[A-Za-z-]{0,8}\d)[A-Za-z0-9-]{20,}"),
    "slack-app-token": SecretRule("xapp-", r"\d-[A-Za-z0-9-]{20,}"),
    "slack-webhook": SecretRule(
        r"hooks\.slack(?:-gov)?\.com", r"/(?:services|workflows|triggers)/[\w/+-]{30,}", whole=False
    ),
    "stripe-key": SecretRule("[sr]k_(?:live|test)_", r"[A-Za-z0-9]{16,}"),
    "stripe-webhook-secret": SecretRule("whsec_", r"[A-Za-z0-9+/]{24,}=*"),
    "anthropic-key": SecretRule("sk-ant-", r"[a-z]{2,8}\d{2}-[A-Za-z0-9_-]{24,}"),
    "openrouter-key": SecretRule("sk-or-v1-", r"[0-9a-f]{32,}"),
    "openai-project-key": SecretRule("sk-", _PROJECT),
    "openai-key": SecretRule("sk-", r"(?=[A-Za-z]{0,40}\d)[A-Za-z0-9]{32,}" + _END),
    "azure-storage-key": SecretRule("(?:AccountKey|SharedAccessKey)=", r"([A-Za-z0-9+/]{40,}={0,2})", whole=False),
    "azure-sas": SecretRule("sig=", r"([A-Za-z0-9%+/]{40,}(?:%3D|=)?)"),
    "azure-client-secret": SecretRule(
        "", r"(?<![A-Za-z0-9_~.-])[A-Za-z0-9_~.-]{3}[0-9]Q~[A-Za-z0-9_~.-]{31,34}", whole=False
    ),
    "twilio-key": SecretRule("SK", r"[0-9a-f]{32}" + _END),
    "sendgrid-key": SecretRule(r"SG\.", r"[A-Za-z0-9_-]{16,64}\.[A-Za-z0-9_-]{16,}"),
    "mailgun-key": SecretRule("key-", r"[0-9a-f]{32}" + _END),
    "mailchimp-key": SecretRule("", r"(?<![A-Za-z0-9])[0-9a-f]{32}-us\d{1,2}" + _END, whole=False),
    "npm-token": SecretRule("npm_", r"[A-Za-z0-9]{36}" + _END),
    "pypi-token": SecretRule("pypi-Ag", r"[A-Za-z0-9_-]{50,}"),
    "rubygems-key": SecretRule("rubygems_", r"[0-9a-f]{40,}"),
    "docker-token": SecretRule("dckr_[po]at_", r"[A-Za-z0-9_-]{20,}"),
    "huggingface-token": SecretRule("hf_", r"(?=[a-z]{0,29}[A-Z0-9])[A-Za-z0-9]{30,}"),
    "groq-key": SecretRule("gsk_", r"[A-Za-z0-9]{40,}"),
    "xai-key": SecretRule("xai-", r"[A-Za-z0-9]{60,}"),
    "perplexity-key": SecretRule("pplx-", r"[A-Za-z0-9]{40,}"),
    "replicate-token": SecretRule("r8_", r"[A-Za-z0-9]{36,}"),
    "telegram-bot-token": SecretRule(
        "", r"(?<![A-Za-z0-9])\d{8,10}:AA[A-Za-z0-9_-]{32,34}(?![A-Za-z0-9_-])", whole=False
    ),
    "discord-webhook": SecretRule("/api/webhooks/", r"\d{16,20}/[A-Za-z0-9_-]{60,}", whole=False),
    "discord-mfa-token": SecretRule(r"mfa\.", r"[A-Za-z0-9_-]{80,}"),
    "digitalocean-token": SecretRule("do[opr]_v1_", r"[0-9a-f]{64}"),
    "shopify-token": SecretRule("shp(?:at|ca|pa|ss)_", r"[0-9a-fA-F]{32}"),
    "square-token": SecretRule("sq0", r"[a-z]{3}-[A-Za-z0-9_-]{22,}"),
    "databricks-token": SecretRule("dapi", r"[0-9a-f]{32}"),
    "vault-token": SecretRule(r"hv[sbr]\.", r"[A-Za-z0-9_-]{24,}"),
    "linear-key": SecretRule("lin_api_", r"[A-Za-z0-9]{32,}"),
    "notion-token": SecretRule("ntn_", r"[A-Za-z0-9]{40,}"),
    "grafana-token": SecretRule("(?:glsa|glc)_", r"[A-Za-z0-9_+/=]{32,}", whole=False),
    "new-relic-key": SecretRule("NRAK-", r"[A-Z0-9]{27}"),
    "doppler-token": SecretRule(r"dp\.", r"(?:pt|st|ct|sa|scim|audit)\.(?:[a-z0-9_-]{1,40}\.)?[A-Za-z0-9]{40,}"),
    "planetscale-token": SecretRule("pscale_", r"(?:tkn|pw|oauth)_[A-Za-z0-9_.-]{30,}"),
    "postman-key": SecretRule("PMAK-", r"[0-9a-f]{24}-[0-9a-f]{34}"),
    "atlassian-token": SecretRule("AT(?:[AC]TT3|BB)", r"[A-Za-z0-9_=-]{28,}", whole=False),
    "terraform-token": SecretRule("", r"(?<![A-Za-z0-9])[A-Za-z0-9]{14}\.atlasv1\.[A-Za-z0-9_=-]{50,}", whole=False),
    "1password-token": SecretRule("ops_eyJ", r"[A-Za-z0-9_-]{100,}=*"),
    "jwt": SecretRule("eyJ", r"(?<![A-Za-z0-9_-]eyJ)[A-Za-z0-9_-]{8,}+\.eyJ[A-Za-z0-9_-]{8,}+\.[A-Za-z0-9_-]*"),
    "url-password": SecretRule("://", _LOGIN, whole=False),
    "url-token": SecretRule("://", r"([A-Za-z0-9_-]{20,200})@(?=[\w\[.-])", whole=False),
    "windows-hash": SecretRule("", r":[0-9a-fA-F]{32}:[0-9a-fA-F]{32}:::", whole=False),
    "aws-bedrock-key": SecretRule("ABSK", r"[A-Za-z0-9+/]{60,}={0,2}"),
    "signed-address": SecretRule("X-(?:Amz|Goog)-Signature=", r"([0-9a-f]{64,512})", whole=False),
    "1password-secret-key": SecretRule(
        "A3-", r"[A-Z0-9]{6}-(?:[A-Z0-9]{11}|[A-Z0-9]{6}-[A-Z0-9]{5})(?:-[A-Z0-9]{5}){3}"
    ),
    "adafruit-key": SecretRule("aio_", r"[A-Za-z0-9]{28}" + _END),
    "adobe-secret": SecretRule("p8e-", r"[A-Za-z0-9_-]{28,}"),
    "airtable-token": SecretRule("pat", r"[A-Za-z0-9]{14}\.[0-9a-f]{64}" + _END),
    "alibaba-key": SecretRule("LTAI", r"[A-Za-z0-9]{20}" + _END),
    "apify-token": SecretRule("apify_api_", r"[A-Za-z0-9]{34,}"),
    "artifactory-key": SecretRule("AKCp", r"[A-Za-z0-9]{60,}"),
    "artifactory-token": SecretRule("cmVmd", r"[A-Za-z0-9]{50,}"),
    "asana-token": SecretRule("[12]/", r"\d{13,20}(?:/\d{13,20})?:[0-9a-f]{32}" + _END),
    "trello-token": SecretRule("ATTA", r"[0-9a-fA-F]{60,}"),
    "buildkite-token": SecretRule("bk(?:ua|ct|aj)_", r"[0-9A-Za-z_-]{32,}"),
    "circleci-token": SecretRule("CCIP(?:AT|RJ)_", r"[A-Za-z0-9]{16,}_[0-9a-f]{40}"),
    "cloudflare-origin-key": SecretRule(r"v1\.0-", r"[0-9a-f]{24}-[0-9a-f]{100,}"),
    "cloudflare-token": SecretRule("cf[ua]t_", r"[A-Za-z0-9_-]{40,}"),
    "clojars-token": SecretRule("CLOJARS_", r"[A-Za-z0-9]{60}"),
    "contentful-token": SecretRule("CFPAT-", r"[A-Za-z0-9_-]{40,}"),
    "dropbox-token": SecretRule(r"sl\.", r"(?:u\.)?[A-Za-z0-9_-]{120,}"),
    "duffel-token": SecretRule("duffel_", r"(?:live|test)_[A-Za-z0-9_=-]{40,}"),
    "dynatrace-token": SecretRule("dt0", r"[a-z]\d\d\.[A-Z0-9]{8,24}\.[A-Z0-9]{64}"),
    "easypost-key": SecretRule("EZ(?:A|T)K", r"[A-Za-z0-9]{54}"),
    "elastic-key": SecretRule("essu_", r"[A-Za-z0-9_+/=-]{40,}"),
    "elevenlabs-key": SecretRule("sk_", r"[0-9a-f]{48}" + _END),
    "e2b-key": SecretRule("e2b_", r"[0-9a-f]{40}" + _END),
    "facebook-token": SecretRule("EAA", r"[A-Z][A-Za-z0-9]{90,}"),
    "square-access-token": SecretRule("EAAA", r"[A-Za-z0-9_-]{58,62}(?![A-Za-z0-9_-])"),
    "figma-token": SecretRule("figd_", r"[A-Za-z0-9_-]{38,}"),
    "firecrawl-key": SecretRule("fc-", r"[0-9a-f]{32}" + _END),
    "flutterwave-key": SecretRule("FLWSECK", r"(?:_TEST)?-[0-9a-zA-Z]{12,}-X"),
    "fly-token": SecretRule("(?:fo1|fm1r|fm1a|fm2)_", r"[A-Za-z0-9+/_=-]{40,}", whole=False),
    "frame-token": SecretRule("fio-u-", r"[A-Za-z0-9_-]{60,}"),
    "harness-token": SecretRule(r"pat\.", r"[A-Za-z0-9_-]{22}\.[0-9a-f]{24}\.[A-Za-z0-9]{20}"),
    "heroku-key": SecretRule("HRKU-", r"[A-Za-z0-9_-]{36,}"),
    "hubspot-token": SecretRule("pat-", r"(?:na|eu|ap)\d-" + _UUID),
    "infracost-key": SecretRule("ico-", r"[A-Za-z0-9]{32}" + _END),
    "intra42-secret": SecretRule("s-s4t2", r"(?:ud|af)-[0-9a-f]{64}"),
    "encoded-private-key": SecretRule(
        "LS0tLS1CRUdJTi", r"(?!BDRVJU|BQVUJM|BQR1AgUFVC|BQR1AgU0lH)[A-Za-z0-9+/]{60,}={0,2}"
    ),
    "langsmith-key": SecretRule("lsv2_", r"(?:pt|sk)_[0-9a-f]{32}_[0-9a-f]{10}"),
    "langfuse-key": SecretRule("sk-lf-", _UUID),
    "launchdarkly-key": SecretRule("(?:sdk|api)-", _UUID),
    "linear-oauth": SecretRule("lin_oauth_", r"[0-9a-f]{64}"),
    "mapbox-secret-token": SecretRule(r"sk\.eyJ", r"[A-Za-z0-9_-]{20,}\.[A-Za-z0-9_-]{20,}", whole=False),
    "neon-key": SecretRule("napi_", r"[a-z0-9]{60,}"),
    "netlify-token": SecretRule("nf[pcou]_", r"[A-Za-z0-9]{36,}"),
    "new-relic-insert-key": SecretRule("NRII-", r"[A-Za-z0-9_-]{32}"),
    "notion-secret": SecretRule("secret_", r"[A-Za-z0-9]{43}" + _END),
    "nvidia-key": SecretRule("nvapi-", r"[A-Za-z0-9_-]{60,}"),
    "nuget-key": SecretRule("oy2", r"[a-z0-9]{43}" + _END),
    "octopus-key": SecretRule("API-", r"(?=[A-Z]{0,26}\d)[A-Z0-9]{25,}" + _END),
    "openshift-token": SecretRule("sha256~", r"[A-Za-z0-9_-]{43}"),
    "paypal-token": SecretRule(r"access_token\$", r"(?:production|sandbox)\$[a-z0-9]{16}\$[0-9a-f]{32}"),
    "pinecone-key": SecretRule("pcsk_", r"[A-Za-z0-9]{4,8}_[A-Za-z0-9]{50,}"),
    "plaid-token": SecretRule("access-", r"(?:production|development|sandbox)-" + _UUID),
    "posthog-key": SecretRule("ph[xs]_", r"[A-Za-z0-9]{40,}"),
    "prefect-key": SecretRule("pn[ub]_", r"[A-Za-z0-9]{36}"),
    "pulumi-token": SecretRule("pul-", r"[0-9a-f]{40}" + _END),
    "readme-key": SecretRule("rdme_", r"[A-Za-z0-9]{60,}"),
    "render-key": SecretRule("rnd_", r"[A-Za-z0-9]{28,}"),
    "resend-key": SecretRule("re_", r"[A-Za-z0-9]{8}_[A-Za-z0-9]{20,}"),
    "runpod-key": SecretRule("rpa_", r"[A-Za-z0-9]{40,}"),
    "scalingo-token": SecretRule("tk-us-", r"[A-Za-z0-9_-]{48}"),
    "brevo-key": SecretRule("x(?:key|smtp)sib-", r"[0-9a-f]{64}-[A-Za-z0-9]{16}", whole=False),
    "sentry-token": SecretRule("sntry[su]_", r"[A-Za-z0-9+/=_-]{60,}"),
    "shippo-token": SecretRule("shippo_", r"(?:live|test)_[0-9a-f]{40}"),
    "sonar-token": SecretRule("sq[upab]_", r"[0-9a-f]{40}" + _END),
    "sourcegraph-token": SecretRule("sgp_", r"(?:[0-9a-f]{16}_|local_)?[0-9a-f]{40}" + _END),
    "supabase-token": SecretRule("sbp_", r"(?:v0_)?[0-9a-f]{40}" + _END),
    "supabase-secret": SecretRule("sb_secret_", r"[A-Za-z0-9_-]{20,}"),
    "tailscale-key": SecretRule("tskey-", r"[a-z]{3,8}-[A-Za-z0-9]{8,}-[A-Za-z0-9]{16,}"),
    "tavily-key": SecretRule("tvly-", r"(?:dev-|prod-)?[A-Za-z0-9]{28,}"),
    "together-key": SecretRule("tgp_v1_", r"[A-Za-z0-9_-]{40,}"),
    "twitch-token": SecretRule("oauth:", r"[a-z0-9]{30}" + _END),
    "twitter-bearer": SecretRule("AAAAAAAAAAAAAAAAAAAAA", r"[A-Za-z0-9%]{60,}"),
    "typeform-token": SecretRule("tfp_", r"[A-Za-z0-9_.=-]{40,}"),
    "yandex-key": SecretRule("AQVN", r"[A-Za-z0-9_-]{35,38}" + _END),
    "aiven-password": SecretRule("AVNS_", r"[A-Za-z0-9_-]{16,}"),
    "locationiq-key": SecretRule(r"pk\.", r"[0-9a-f]{32}" + _END),
    "infisical-token": SecretRule(r"st\.", _UUID + r"\.[0-9a-f]{32}\.[0-9a-f]{32}"),
    "zuplo-key": SecretRule("zpka_", r"[0-9a-f]{32}[A-Za-z0-9_]*"),
    "intercom-token": SecretRule("dG9rO", r"[A-Za-z0-9+/]{50,}={0,2}"),
    "azure-devops-token": SecretRule("", r"(?<![A-Za-z0-9])[A-Za-z0-9]{74,80}AZDO[A-Za-z0-9]{4}" + _END, whole=False),
    "jenkins-token": SecretRule("", r"(?<![\w.-])[\w.-]{1,40}:(11[0-9a-f]{32})" + _END, whole=False),
    "node-address": SecretRule(
        r"(?:infura\.io|alchemy\.com|quiknode\.pro|chainstack\.com|ankr\.com)",
        r"/(?:[a-z_]{2,12}/|v\d/){0,3}([A-Za-z0-9_-]{24,})",
        whole=False,
    ),
    "zapier-hook": SecretRule(r"hooks\.zapier\.com", r"/hooks/catch/\d{4,12}/[A-Za-z0-9]{5,}"),
    "extended-private-key": SecretRule("[xyzt]prv", r"[A-HJ-NP-Za-km-z1-9]{100,}"),
    "password-hash": SecretRule(r"\$(?:apr1|2[aby]|[56y]|argon2)", r"(?:id?)?\$[A-Za-z0-9./$=,+-]{20,}", whole=False),
    "aws-session-token": SecretRule("(?:IQoJb3JpZ2lu|F[wQ]oGZXIvYXdz)", r"[A-Za-z0-9+/]{80,}={0,2}", whole=False),
    "mailersend-token": SecretRule(r"mlsn\.", r"[0-9a-f]{60,}"),
    "mandrill-key": SecretRule("md-", r"(?=[A-Za-z_-]{0,20}\d)[A-Za-z0-9_-]{22}(?![A-Za-z0-9_-])"),
    "clickup-token": SecretRule("pk_", r"(?:\d{5,10}_[A-Z0-9]{32}|[0-9a-f]{34})" + _END),
    "vercel-token": SecretRule("(?:vc[piak]_|vercel_blob_rw_)", r"[A-Za-z0-9_]{24,}", whole=False),
    "deno-token": SecretRule("dd[po]_", r"[A-Za-z0-9]{36}" + _END),
    "xata-key": SecretRule("xau_", r"[A-Za-z0-9]{30,}"),
    "cockroach-key": SecretRule("CCDB1_", r"[A-Za-z0-9]{20,}_[A-Za-z0-9]{30,}"),
    "mongodb-atlas-secret": SecretRule("mdb_sa_sk_", r"[A-Za-z0-9_-]{30,}"),
    "tinybird-token": SecretRule(r"p\.eyJ", r"[A-Za-z0-9_-]{40,}\.[A-Za-z0-9_-]{20,}"),
    "llamacloud-key": SecretRule("llx-", r"[A-Za-z0-9]{40,}"),
    "voyage-key": SecretRule("pa-", r"(?=[A-Za-z_-]{0,30}\d)[A-Za-z0-9_-]{43}(?![A-Za-z0-9_-])"),
    "jina-key": SecretRule("jina_", r"[0-9a-f]{32}[A-Za-z0-9_-]{20,}"),
    "nomic-key": SecretRule("nk-", r"(?=[A-Za-z_-]{0,30}\d)[A-Za-z0-9_-]{43}(?![A-Za-z0-9_-])"),
    "fireworks-key": SecretRule("fw_", r"(?=[A-Za-z]{0,23}\d)[A-Za-z0-9]{22,30}(?![A-Za-z0-9_-])"),
    "anyscale-key": SecretRule("esecret_", r"[a-z0-9]{26,}"),
    "cerebras-key": SecretRule("csk-", r"[a-z0-9]{40,}"),
    "cartesia-key": SecretRule("sk_car_", r"[A-Za-z0-9_-]{20,}"),
    "long-hex-key": SecretRule("key_", r"[0-9a-f]{64,128}" + _END),
    "brave-key": SecretRule("BSA", r"(?=[A-Za-z_-]{0,26}\d)[A-Za-z0-9_-]{28}(?![A-Za-z0-9_-])"),
    "browserbase-key": SecretRule("bb_live_", r"[A-Za-z0-9_-]{24,}"),
    "modal-token": SecretRule("a[ks]-", r"(?=[A-Za-z]{0,21}\d)(?=[a-z0-9]{0,21}[A-Z])[A-Za-z0-9]{22}(?![A-Za-z0-9_-])"),
    "helicone-key": SecretRule("sk-helicone-", r"[a-z0-9-]{24,}"),
    "letta-key": SecretRule("sk-let-", r"[A-Za-z0-9=+/]{40,}"),
    "mem0-key": SecretRule("m0-", r"[A-Za-z0-9]{36,}"),
    "openai-session": SecretRule("sess-", r"[A-Za-z0-9]{40}" + _END),
    "wandb-key": SecretRule("wandb_v1_", r"[A-Za-z0-9_]{40,}"),
    "volcengine-key": SecretRule("AKLT", r"[A-Za-z0-9]{40,}={0,2}"),
    "baidu-key": SecretRule("bce-v3/", r"ALTAK-[A-Za-z0-9]{16,}/[0-9a-f]{40}"),
    "tencent-key": SecretRule("AKID", r"(?=[A-Za-z]{0,31}\d)[A-Za-z0-9]{32}" + _END),
    "yandex-oauth": SecretRule("y0_", r"(?=[A-Za-z_-]{0,30}\d)[A-Za-z0-9_-]{50,}"),
    "vk-token": SecretRule(r"vk1\.a\.", r"[A-Za-z0-9_-]{80,}"),
    "instagram-token": SecretRule("IG(?:Q[WV]|AA)", r"[A-Za-z0-9_-]{80,}", whole=False),
    "pinterest-token": SecretRule("pina_", r"[A-Z0-9]{60,}"),
    "matrix-token": SecretRule("syt_", r"[A-Za-z0-9]{2,80}_[A-Za-z]{20}_[A-Za-z0-9]{6}" + _END),
    "slack-workflow-token": SecretRule("xwfp-", r"[A-Za-z0-9-]{24,}"),
    "ntfy-token": SecretRule("tk_", r"[a-z0-9]{29}(?![A-Za-z0-9_])"),
    "honeycomb-key": SecretRule("hc[ax][im][ck]_", r"[a-z0-9]{24,}"),
    "axiom-token": SecretRule("xa[ap]t-", _UUID),
    "splunk-token": SecretRule("Splunk ", rf"({_UUID})"),
    "statsig-secret": SecretRule(
        "secret-", r"(?:(?:live|test)-[A-Za-z0-9_-]{30,}=*|(?=[A-Za-z]{0,42}\d)[A-Za-z0-9]{43}(?![A-Za-z0-9_-]))"
    ),
    "mollie-key": SecretRule(
        "(?:live|test)_", r"(?=[A-Za-z]{0,29}\d)(?=[a-z0-9]{0,29}[A-Z])[A-Za-z0-9]{30}(?![A-Za-z0-9_])", whole=False
    ),
    "razorpay-pair": SecretRule(
        "rzp_(?:live|test)_", r"[A-Za-z0-9]{14}[\"']?\s{0,3}[:,]\s{0,3}[\"']?([A-Za-z0-9]{24})" + _END, whole=False
    ),
    "paddle-key": SecretRule("pdl_", r"(?:live|sdbx|ntfset)_[A-Za-z0-9_+/]{30,}"),
    "revolut-token": SecretRule("oa_prod_", r"[A-Za-z0-9_-]{40,}"),
    "woocommerce-key": SecretRule("c[ks]_", r"[0-9a-f]{40}" + _END),
    "amazon-mws-token": SecretRule(r"amzn\.mws\.", _UUID),
    "amazon-token": SecretRule(r"Atz[ar]\|", r"[A-Za-z0-9_+/-]{80,}"),
    "amazon-client-secret": SecretRule(r"amzn1\.oa2-cs\.v1\.", r"[0-9a-f]{64}"),
    "ebay-secret": SecretRule("PRD-", r"[0-9a-f]{12}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}"),
    "telnyx-key": SecretRule("KEY0", r"[0-9A-F]{31}_[A-Za-z0-9]{20,}"),
    "salesforce-token": SecretRule("00D", r"[A-Za-z0-9]{12,15}!([A-Za-z0-9._]{60,})"),
    "convertkit-key": SecretRule("kit_", r"[0-9a-f]{32}" + _END),
    "onesignal-key": SecretRule("os_v2_", r"(?:app|org)_[a-z0-9]{60,}"),
    "pubnub-secret": SecretRule("sec-c-", r"[A-Za-z0-9]{40,}={0,2}"),
    "backblaze-key": SecretRule("K00", r"(?=[A-Za-z]{0,26}\d)[0-9][A-Za-z0-9+/]{27}(?![A-Za-z0-9+/])"),
    "chromatic-token": SecretRule("chpt_", r"[0-9a-f]{12,}"),
    "google-bound-key": SecretRule(r"AQ\.Ab", r"[A-Za-z0-9_-]{40,}"),
    "google-auth-code": SecretRule("4/0A", r"[A-Za-z0-9_-]{50,}"),
    "crates-token": SecretRule("cio", r"(?=[a-z0-9]{0,31}[A-Z])(?=[A-Za-z]{0,31}\d)[A-Za-z0-9]{32}" + _END),
    "packagist-token": SecretRule("packagist_", r"[a-z]{2,3}_[0-9a-f]{40,}"),
    "netbird-token": SecretRule("nbp_", r"[A-Za-z0-9]{36}" + _END),
    "dashlane-token": SecretRule("dls_", r"[A-Za-z0-9_-]{30,}"),
    "konnect-token": SecretRule("[ks]pat_", r"[A-Za-z0-9]{40,}"),
    "nostr-key": SecretRule("nsec1", r"[02-9ac-hj-np-z]{58}" + _END),
    "tezos-key": SecretRule("edsk", r"[A-HJ-NP-Za-km-z1-9]{50,}"),
    "calcom-key": SecretRule("cal_live_", r"[0-9a-f]{32}" + _END),
    "microsoft-refresh-token": SecretRule(r"M\.C5", r"\d{1,3}_[A-Z0-9.]{2,12}[A-Za-z0-9!*$._-]{60,}"),
    "feishu-webhook": SecretRule(
        r"open\.(?:feishu\.cn|larksuite\.com)", r"/open-apis/bot/(?:v2/)?hook/[0-9a-zA-Z-]{20,}", whole=False
    ),
    "dingtalk-webhook": SecretRule(r"oapi\.dingtalk\.com", r"/robot/send\?access_token=([0-9a-f]{40,})"),
    "wecom-webhook": SecretRule(r"qyapi\.weixin\.qq\.com", rf"/cgi-bin/webhook/send\?key=({_UUID})"),
    "google-chat-webhook": SecretRule(
        r"chat\.googleapis\.com", r"/v1/spaces/[\w-]{4,40}/messages\?[^\s\"'<>]{0,200}?token=([\w%-]{20,})"
    ),
    "ifttt-webhook": SecretRule(
        r"maker\.ifttt\.com", r"/trigger/[\w{}-]{1,60}/(?:json/)?with/key/([A-Za-z0-9_-]{16,})"
    ),
    "make-webhook": SecretRule(
        r"hook\.", r"(?:(?:eu|us)\d\.make\.(?:com|celonis\.com)|integromat\.com)/([a-z0-9]{24,})"
    ),
    "office-webhook": SecretRule(
        r"outlook\.office\.com/webhook/", r"[\w@-]{36,80}/IncomingWebhook/[0-9a-f]{32}/" + _UUID, whole=False
    ),
    "ping-address": SecretRule(r"hc-ping\.com", rf"/({_UUID})", whole=False),
    "pagerduty-webhook": SecretRule(r"events\.pagerduty\.com", r"/(?:integration|x-ere)/([A-Za-z0-9]{20,})"),
    "flock-webhook": SecretRule(r"api\.flock\.com", rf"/hooks/sendMessage/({_UUID})"),
    "glip-webhook": SecretRule(r"hooks\.glip\.com", r"/webhook/(?:v2/)?([A-Za-z0-9._-]{30,})"),
    "webex-webhook": SecretRule(
        r"(?:webexapis|api\.ciscospark)\.com", r"/v1/webhooks/incoming/([A-Za-z0-9_-]{40,})", whole=False
    ),
    "airtable-webhook": SecretRule(r"hooks\.airtable\.com", r"/workflows/v1/genericWebhook/\w{10,}/\w{10,}/\w{10,}"),
    "build-hook": SecretRule(
        r"(?:build_hooks/|integrations/deploy/|com/deploy/|deploy_hooks/)",
        rf"(?:{_UUID}|[0-9a-f]{{24}}(?![0-9a-f])|prj_\w{{10,40}}/\w{{8,}}|srv-\w{{10,40}}\?key=[\w-]{{8,}})",
        whole=False,
    ),
    "mattermost-webhook": SecretRule(
        "/hooks/",
        r"(?:(?=[a-z]{0,25}\d)[a-z0-9]{26}|[A-Za-z0-9]{17}/[A-Za-z0-9]{40,70})(?![A-Za-z0-9/_-])",
        whole=False,
    ),
    "pabbly-webhook": SecretRule(r"connect\.pabbly\.com", r"/workflow/sendwebhookdata/([A-Za-z0-9_=%-]{30,})"),
    "azure-service-key": SecretRule(
        "", r"(?<![A-Za-z0-9_-])[A-Za-z0-9_-]{42,44}Az(?:Se|Fu)[A-Za-z0-9_=-]{6,10}", whole=False
    ),
    "azure-marked-key": SecretRule(
        "",
        r"(?<![A-Za-z0-9+/])[A-Za-z0-9+/]{33,76}\+A(?:St|CDb|IoT|Rm|Eh)[A-Za-z0-9+/]{4,6}[AQgwo=]={0,2}",
        whole=False,
    ),
    "firebase-key": SecretRule("", r"(?<![A-Za-z0-9_-])[A-Za-z0-9_-]{11}:APA91b[A-Za-z0-9_-]{100,}", whole=False),
    "rapidapi-key": SecretRule(
        "", r"(?<![A-Za-z0-9])[0-9a-f]{10}msh[0-9a-f]{15}p1[0-9a-f]{6}jsn[0-9a-f]{12}", whole=False
    ),
    "maxmind-key": SecretRule("", r"(?<![A-Za-z0-9])[A-Za-z0-9]{6}_[A-Za-z0-9]{29}_mmk", whole=False),
    "new-relic-license": SecretRule("", r"(?<![A-Za-z0-9])(?:eu01xx)?[0-9a-f]{30,36}(?:FFFF)?NRAL", whole=False),
    "teams-webhook": SecretRule(
        r"\.webhook\.office\.com/", r"webhookb2/[\w@-]{36,80}/IncomingWebhook/[0-9a-f]{32}/" + _UUID, whole=False
    ),
}
