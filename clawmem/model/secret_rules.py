"""The table of credential shapes: the pattern that decides, by the name of the rule."""

from __future__ import annotations

from typing import NamedTuple

_END = r"(?![A-Za-z0-9])"


class Rule(NamedTuple):
    """A credential shape: `head`, of a fixed width, followed by `body`; no letter or digit before it where `whole`.

    Where the pattern has a group, only that is the secret. Every repetition is bounded or runs to the end of
    what it matches, so that a search takes time linear in the text.
    """

    head: str
    body: str
    whole: bool = True

    @property
    def pattern(self) -> str:
        """The regular expression; the look-behind stands after `head` so that its literal start stays searchable."""
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
    "private-key": Rule("-----BEGIN ", _PEM, whole=False),
    "putty-key": Rule("PuTTY-User-Key-File", r"-\d:[\s\S]*", whole=False),
    "age-key": Rule("AGE-SECRET-KEY-1", r"[QPZRY9X8GF2TVDW0S3JN54KHCE6MUA7L]{58}"),
    "aws-access-key": Rule("A(?:KI|SI|BI|CC)A", r"[A-Z2-7]{16}" + _END),
    "google-api-key": Rule("AIza", r"[A-Za-z0-9_-]{35}"),
    "gcp-oauth": Rule(r"(?:GOCSPX-|ya29\.)", r"[A-Za-z0-9_.-]{20,}", whole=False),
    "gcp-refresh-token": Rule("1//0", r"[A-Za-z0-9_-]{35,}"),
    "github-token": Rule("gh[pousr]_", r"[A-Za-z0-9]{36,}"),
    "github-pat": Rule("github_pat_", r"[A-Za-z0-9_]{40,}"),
    "gitlab-token": Rule("gl", _GITLAB),
    "gitlab-runner-token": Rule("GR1348941", r"[A-Za-z0-9_-]{20,}"),
    "slack-token": Rule("xox", r"[abeoprs](?:\.xox[bp])?-(?=[A-Za-z-]{0,8}\d)[A-Za-z0-9-]{20,}"),
    "slack-app-token": Rule("xapp-", r"\d-[A-Za-z0-9-]{20,}"),
    "slack-webhook": Rule(r"hooks\.slack\.com", r"/(?:services|workflows|triggers)/[\w/+-]{30,}"),
    "stripe-key": Rule("[sr]k_(?:live|test)_", r"[A-Za-z0-9]{16,}"),
    "stripe-webhook-secret": Rule("whsec_", r"[A-Za-z0-9+/]{24,}=*"),
    "anthropic-key": Rule("sk-ant-", r"[a-z]{2,8}\d{2}-[A-Za-z0-9_-]{24,}"),
    "openrouter-key": Rule("sk-or-v1-", r"[0-9a-f]{32,}"),
    "openai-project-key": Rule("sk-", _PROJECT),
    "openai-key": Rule("sk-", r"(?=[A-Za-z]{0,40}\d)[A-Za-z0-9]{32,}" + _END),
    "azure-storage-key": Rule("(?:AccountKey|SharedAccessKey)=", r"([A-Za-z0-9+/]{40,}={0,2})", whole=False),
    "azure-sas": Rule("sig=", r"([A-Za-z0-9%+/]{40,}(?:%3D|=)?)"),
    "azure-client-secret": Rule(
        "", r"(?<![A-Za-z0-9_~.-])[A-Za-z0-9_~.-]{3}[0-9]Q~[A-Za-z0-9_~.-]{31,34}", whole=False
    ),
    "twilio-key": Rule("SK", r"[0-9a-f]{32}" + _END),
    "sendgrid-key": Rule(r"SG\.", r"[A-Za-z0-9_-]{16,64}\.[A-Za-z0-9_-]{16,}"),
    "mailgun-key": Rule("key-", r"[0-9a-f]{32}" + _END),
    "mailchimp-key": Rule("", r"(?<![A-Za-z0-9])[0-9a-f]{32}-us\d{1,2}" + _END, whole=False),
    "npm-token": Rule("npm_", r"[A-Za-z0-9]{36}" + _END),
    "pypi-token": Rule("pypi-Ag", r"[A-Za-z0-9_-]{50,}"),
    "rubygems-key": Rule("rubygems_", r"[0-9a-f]{40,}"),
    "docker-token": Rule("dckr_[po]at_", r"[A-Za-z0-9_-]{20,}"),
    "huggingface-token": Rule("hf_", r"(?=[A-Za-z]{0,33}\d)[A-Za-z0-9]{30,}"),
    "groq-key": Rule("gsk_", r"[A-Za-z0-9]{40,}"),
    "xai-key": Rule("xai-", r"[A-Za-z0-9]{60,}"),
    "perplexity-key": Rule("pplx-", r"[A-Za-z0-9]{40,}"),
    "replicate-token": Rule("r8_", r"[A-Za-z0-9]{36,}"),
    "telegram-bot-token": Rule("", r"(?<![A-Za-z0-9])\d{8,10}:AA[A-Za-z0-9_-]{32,34}(?![A-Za-z0-9_-])", whole=False),
    "discord-webhook": Rule("/api/webhooks/", r"\d{16,20}/[A-Za-z0-9_-]{60,}", whole=False),
    "discord-mfa-token": Rule(r"mfa\.", r"[A-Za-z0-9_-]{80,}"),
    "digitalocean-token": Rule("do[opr]_v1_", r"[0-9a-f]{64}"),
    "shopify-token": Rule("shp(?:at|ca|pa|ss)_", r"[0-9a-fA-F]{32}"),
    "square-token": Rule("sq0", r"[a-z]{3}-[A-Za-z0-9_-]{22,}"),
    "databricks-token": Rule("dapi", r"[0-9a-f]{32}"),
    "vault-token": Rule(r"hv[sbr]\.", r"[A-Za-z0-9_-]{24,}"),
    "linear-key": Rule("lin_api_", r"[A-Za-z0-9]{32,}"),
    "notion-token": Rule("ntn_", r"[A-Za-z0-9]{40,}"),
    "grafana-token": Rule("(?:glsa|glc)_", r"[A-Za-z0-9_+/=]{32,}", whole=False),
    "new-relic-key": Rule("NRAK-", r"[A-Z0-9]{27}"),
    "doppler-token": Rule(r"dp\.", r"(?:pt|st|ct|sa|scim|audit)\.(?:[a-z0-9_-]{1,40}\.)?[A-Za-z0-9]{40,}"),
    "planetscale-token": Rule("pscale_", r"(?:tkn|pw|oauth)_[A-Za-z0-9_.-]{30,}"),
    "postman-key": Rule("PMAK-", r"[0-9a-f]{24}-[0-9a-f]{34}"),
    "atlassian-token": Rule("AT(?:ATT3|BB)", r"[A-Za-z0-9_=-]{28,}", whole=False),
    "terraform-token": Rule("", r"(?<![A-Za-z0-9])[A-Za-z0-9]{14}\.atlasv1\.[A-Za-z0-9_=-]{50,}", whole=False),
    "1password-token": Rule("ops_eyJ", r"[A-Za-z0-9_-]{100,}=*"),
    "jwt": Rule("eyJ", r"(?<![A-Za-z0-9_-]eyJ)[A-Za-z0-9_-]{8,}+\.eyJ[A-Za-z0-9_-]{8,}+\.[A-Za-z0-9_-]*"),
    "url-password": Rule("://", _LOGIN, whole=False),
    "aws-bedrock-key": Rule("ABSK", r"[A-Za-z0-9+/]{60,}={0,2}"),
    "signed-address": Rule("X-(?:Amz|Goog)-Signature=", r"([0-9a-f]{64,512})", whole=False),
    "1password-secret-key": Rule("A3-", r"[A-Z0-9]{6}-(?:[A-Z0-9]{11}|[A-Z0-9]{6}-[A-Z0-9]{5})(?:-[A-Z0-9]{5}){3}"),
    "adafruit-key": Rule("aio_", r"[A-Za-z0-9]{28}" + _END),
    "adobe-secret": Rule("p8e-", r"[A-Za-z0-9_-]{28,}"),
    "airtable-token": Rule("pat", r"[A-Za-z0-9]{14}\.[0-9a-f]{64}" + _END),
    "alibaba-key": Rule("LTAI", r"[A-Za-z0-9]{20}" + _END),
    "apify-token": Rule("apify_api_", r"[A-Za-z0-9]{34,}"),
    "artifactory-key": Rule("AKCp", r"[A-Za-z0-9]{60,}"),
    "artifactory-token": Rule("cmVmd", r"[A-Za-z0-9]{50,}"),
    "asana-token": Rule("[12]/", r"\d{13,20}(?:/\d{13,20})?:[0-9a-f]{32}" + _END),
    "trello-token": Rule("ATTA", r"[0-9a-fA-F]{60,}"),
    "buildkite-token": Rule("bk(?:ua|ct|aj)_", r"[0-9A-Za-z_-]{32,}"),
    "circleci-token": Rule("CCIP(?:AT|RJ)_", r"[A-Za-z0-9]{16,}_[0-9a-f]{40}"),
    "cloudflare-origin-key": Rule(r"v1\.0-", r"[0-9a-f]{24}-[0-9a-f]{100,}"),
    "cloudflare-token": Rule("cf[ua]t_", r"[A-Za-z0-9_-]{40,}"),
    "clojars-token": Rule("CLOJARS_", r"[A-Za-z0-9]{60}"),
    "contentful-token": Rule("CFPAT-", r"[A-Za-z0-9_-]{40,}"),
    "dropbox-token": Rule(r"sl\.", r"(?:u\.)?[A-Za-z0-9_-]{120,}"),
    "duffel-token": Rule("duffel_", r"(?:live|test)_[A-Za-z0-9_=-]{40,}"),
    "dynatrace-token": Rule("dt0", r"[a-z]\d\d\.[A-Z0-9]{8,24}\.[A-Z0-9]{64}"),
    "easypost-key": Rule("EZ(?:A|T)K", r"[A-Za-z0-9]{54}"),
    "elastic-key": Rule("essu_", r"[A-Za-z0-9_+/=-]{40,}"),
    "elevenlabs-key": Rule("sk_", r"[0-9a-f]{48}" + _END),
    "e2b-key": Rule("e2b_", r"[0-9a-f]{40}" + _END),
    "facebook-token": Rule("EAA", r"[A-Z][A-Za-z0-9]{90,}"),
    "square-access-token": Rule("EAAA", r"[A-Za-z0-9_-]{58,62}(?![A-Za-z0-9_-])"),
    "figma-token": Rule("figd_", r"[A-Za-z0-9_-]{38,}"),
    "firecrawl-key": Rule("fc-", r"[0-9a-f]{32}" + _END),
    "flutterwave-key": Rule("FLWSECK", r"(?:_TEST)?-[0-9a-zA-Z]{12,}-X"),
    "fly-token": Rule("(?:fo1|fm1r|fm1a|fm2)_", r"[A-Za-z0-9+/_=-]{40,}", whole=False),
    "frame-token": Rule("fio-u-", r"[A-Za-z0-9_-]{60,}"),
    "harness-token": Rule(r"pat\.", r"[A-Za-z0-9_-]{22}\.[0-9a-f]{24}\.[A-Za-z0-9]{20}"),
    "heroku-key": Rule("HRKU-", r"[A-Za-z0-9_-]{36,}"),
    "hubspot-token": Rule("pat-", r"(?:na|eu|ap)\d-" + _UUID),
    "infracost-key": Rule("ico-", r"[A-Za-z0-9]{32}" + _END),
    "intra42-secret": Rule("s-s4t2", r"(?:ud|af)-[0-9a-f]{64}"),
    "encoded-private-key": Rule("LS0tLS1CRUdJTi", r"(?!BDRVJU|BQVUJM|BQR1AgUFVC|BQR1AgU0lH)[A-Za-z0-9+/]{60,}={0,2}"),
    "langsmith-key": Rule("lsv2_", r"(?:pt|sk)_[0-9a-f]{32}_[0-9a-f]{10}"),
    "langfuse-key": Rule("sk-lf-", _UUID),
    "launchdarkly-key": Rule("(?:sdk|api)-", _UUID),
    "linear-oauth": Rule("lin_oauth_", r"[0-9a-f]{64}"),
    "mapbox-secret-token": Rule(r"sk\.eyJ", r"[A-Za-z0-9_-]{20,}\.[A-Za-z0-9_-]{20,}", whole=False),
    "neon-key": Rule("napi_", r"[a-z0-9]{60,}"),
    "netlify-token": Rule("nfp_", r"[A-Za-z0-9]{36,}"),
    "new-relic-insert-key": Rule("NRII-", r"[A-Za-z0-9_-]{32}"),
    "notion-secret": Rule("secret_", r"[A-Za-z0-9]{43}" + _END),
    "nvidia-key": Rule("nvapi-", r"[A-Za-z0-9_-]{60,}"),
    "nuget-key": Rule("oy2", r"[a-z0-9]{43}" + _END),
    "octopus-key": Rule("API-", r"(?=[A-Z]{0,26}\d)[A-Z0-9]{25,}" + _END),
    "openshift-token": Rule("sha256~", r"[A-Za-z0-9_-]{43}"),
    "paypal-token": Rule(r"access_token\$", r"(?:production|sandbox)\$[a-z0-9]{16}\$[0-9a-f]{32}"),
    "pinecone-key": Rule("pcsk_", r"[A-Za-z0-9]{4,8}_[A-Za-z0-9]{50,}"),
    "plaid-token": Rule("access-", r"(?:production|development|sandbox)-" + _UUID),
    "posthog-key": Rule("ph[xs]_", r"[A-Za-z0-9]{40,}"),
    "prefect-key": Rule("pn[ub]_", r"[A-Za-z0-9]{36}"),
    "pulumi-token": Rule("pul-", r"[0-9a-f]{40}" + _END),
    "readme-key": Rule("rdme_", r"[A-Za-z0-9]{60,}"),
    "render-key": Rule("rnd_", r"[A-Za-z0-9]{28,}"),
    "resend-key": Rule("re_", r"[A-Za-z0-9]{8}_[A-Za-z0-9]{20,}"),
    "runpod-key": Rule("rpa_", r"[A-Za-z0-9]{40,}"),
    "scalingo-token": Rule("tk-us-", r"[A-Za-z0-9_-]{48}"),
    "brevo-key": Rule("x(?:key|smtp)sib-", r"[0-9a-f]{64}-[A-Za-z0-9]{16}", whole=False),
    "sentry-token": Rule("sntry[su]_", r"[A-Za-z0-9+/=_-]{60,}"),
    "shippo-token": Rule("shippo_", r"(?:live|test)_[0-9a-f]{40}"),
    "sonar-token": Rule("sq[upa]_", r"[0-9a-f]{40}" + _END),
    "sourcegraph-token": Rule("sgp_", r"(?:[0-9a-f]{16}_|local_)?[0-9a-f]{40}" + _END),
    "supabase-token": Rule("sbp_", r"(?:v0_)?[0-9a-f]{40}" + _END),
    "supabase-secret": Rule("sb_secret_", r"[A-Za-z0-9_-]{20,}"),
    "tailscale-key": Rule("tskey-", r"[a-z]{3,8}-[A-Za-z0-9]{8,}-[A-Za-z0-9]{16,}"),
    "tavily-key": Rule("tvly-", r"(?:dev-|prod-)?[A-Za-z0-9]{28,}"),
    "together-key": Rule("tgp_v1_", r"[A-Za-z0-9_-]{40,}"),
    "twitch-token": Rule("oauth:", r"[a-z0-9]{30}" + _END),
    "twitter-bearer": Rule("AAAAAAAAAAAAAAAAAAAAA", r"[A-Za-z0-9%]{60,}"),
    "typeform-token": Rule("tfp_", r"[A-Za-z0-9_.=-]{40,}"),
    "yandex-key": Rule("AQVN", r"[A-Za-z0-9_-]{35,38}" + _END),
    "zapier-hook": Rule(r"hooks\.zapier\.com", r"/hooks/catch/\d{4,12}/[A-Za-z0-9]{5,}"),
    "extended-private-key": Rule("xprv", r"[A-HJ-NP-Za-km-z1-9]{100,}"),
    "password-hash": Rule(r"\$(?:apr1|2[aby]|[56y]|argon2)", r"(?:id?)?\$[A-Za-z0-9./$=,+-]{20,}", whole=False),
    "firebase-key": Rule("", r"(?<![A-Za-z0-9_-])[A-Za-z0-9_-]{11}:APA91b[A-Za-z0-9_-]{100,}", whole=False),
    "rapidapi-key": Rule("", r"(?<![A-Za-z0-9])[0-9a-f]{10}msh[0-9a-f]{15}p1[0-9a-f]{6}jsn[0-9a-f]{12}", whole=False),
    "maxmind-key": Rule("", r"(?<![A-Za-z0-9])[A-Za-z0-9]{6}_[A-Za-z0-9]{29}_mmk", whole=False),
    "new-relic-license": Rule("", r"(?<![A-Za-z0-9])(?:eu01xx)?[0-9a-f]{30,36}(?:FFFF)?NRAL", whole=False),
    "teams-webhook": Rule(
        r"\.webhook\.office\.com/", r"webhookb2/[\w@-]{36,80}/IncomingWebhook/[0-9a-f]{32}/" + _UUID, whole=False
    ),
}
