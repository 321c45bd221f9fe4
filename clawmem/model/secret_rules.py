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
}
