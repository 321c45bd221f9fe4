"""The shapes of credentials: a pattern for each rule."""

from __future__ import annotations

from typing import NamedTuple

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
    "slack-webhook": SecretRule(r"hooks\.slack\.com", r"/(?:services|workflows|triggers)/[\w/+-]{30,}"),
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
    "huggingface-token": SecretRule("hf_", r"(?=[A-Za-z]{0,33}\d)[A-Za-z0-9]{30,}"),
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
    "atlassian-token": SecretRule("AT(?:ATT3|BB)", r"[A-Za-z0-9_=-]{28,}", whole=False),
    "terraform-token": SecretRule("", r"(?<![A-Za-z0-9])[A-Za-z0-9]{14}\.atlasv1\.[A-Za-z0-9_=-]{50,}", whole=False),
    "1password-token": SecretRule("ops_eyJ", r"[A-Za-z0-9_-]{100,}=*"),
    "jwt": SecretRule("eyJ", r"(?<![A-Za-z0-9_-]eyJ)[A-Za-z0-9_-]{8,}+\.eyJ[A-Za-z0-9_-]{8,}+\.[A-Za-z0-9_-]*"),
    "url-password": SecretRule("://", _LOGIN, whole=False),
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
    "netlify-token": SecretRule("nfp_", r"[A-Za-z0-9]{36,}"),
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
    "sonar-token": SecretRule("sq[upa]_", r"[0-9a-f]{40}" + _END),
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
    "zapier-hook": SecretRule(r"hooks\.zapier\.com", r"/hooks/catch/\d{4,12}/[A-Za-z0-9]{5,}"),
    "extended-private-key": SecretRule("xprv", r"[A-HJ-NP-Za-km-z1-9]{100,}"),
    "password-hash": SecretRule(r"\$(?:apr1|2[aby]|[56y]|argon2)", r"(?:id?)?\$[A-Za-z0-9./$=,+-]{20,}", whole=False),
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
