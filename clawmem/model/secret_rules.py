"""The table of credential shapes: which words give a rule away, and the pattern that decides."""

from __future__ import annotations

from typing import NamedTuple

_END = r"(?![A-Za-z0-9])"


class Rule(NamedTuple):
    """A credential shape. `triggers` are looked for first, as plain text, case included.

    The pattern is `head` followed by `body`; `head` has a fixed width and, where `whole`, no letter or digit
    before it. Where the pattern has a group, only that is the secret. Every repetition is bounded or greedy
    to its end, so that a search takes time linear in the text.
    """

    name: str
    triggers: tuple[str, ...]
    head: str
    body: str
    whole: bool = True

    @property
    def pattern(self) -> str:
        """The regular expression; the look-behind stands after `head` so that its literal start stays searchable."""
        return f"{self.head}(?<![A-Za-z0-9]{self.head}){self.body}" if self.whole else self.head + self.body


_KEY_BODY = r"[A-Z ]{0,40}PRIVATE KEY(?: BLOCK)?-----"
_PEM = (
    _KEY_BODY
    + r"(?=[^-]{0,400}?[A-Za-z0-9+/]{24})(?:(?!-----)[A-Za-z0-9+/=\s\\,:.()-])*(?:-----END [A-Z ]{0,60}-----)?"
)
_LOGIN = r"""[^\s/:@"'<>]{0,100}:([^\s/@"'<>]{1,200})@(?=[\w\[.-])"""

RULES = (
    Rule("private-key", ("PRIVATE KEY",), "-----BEGIN ", _PEM, whole=False),
    Rule("putty-key", ("PuTTY-User-Key-File",), "PuTTY-User-Key-File", r"-\d:[\s\S]*", whole=False),
    Rule("age-key", ("AGE-SECRET-KEY-1",), "AGE-SECRET-KEY-1", r"[QPZRY9X8GF2TVDW0S3JN54KHCE6MUA7L]{58}"),
    Rule("aws-access-key", ("AKIA", "ASIA", "ABIA", "ACCA"), "A(?:KI|SI|BI|CC)A", r"[A-Z2-7]{16}" + _END),
    Rule("google-api-key", ("AIza",), "AIza", r"[A-Za-z0-9_-]{35}"),
    Rule("gcp-oauth", ("GOCSPX-", "ya29."), r"(?:GOCSPX-|ya29\.A)", r"[A-Za-z0-9_.-]{20,}", whole=False),
    Rule("gcp-refresh-token", ("1//0",), "1//0", r"[A-Za-z0-9_-]{35,}"),
    Rule("github-token", ("ghp_", "gho_", "ghu_", "ghs_", "ghr_"), "gh[pousr]_", r"[A-Za-z0-9]{36,}"),
    Rule("github-token", ("github_pat_",), "github_pat_", r"[A-Za-z0-9_]{40,}"),
    Rule(
        "gitlab-token",
        ("glpat-", "gloas-", "gldt-", "glrt-", "glcbt-", "glptt-", "glft-", "glimt-", "glagent-", "glsoat-", "glffct-"),
        "gl",
        r"(?:pat|oas|dt|rt|cbt|ptt|ft|imt|agent|soat|ffct)-"
        r"[A-Za-z0-9_.-]{20,}",
    ),
    Rule("gitlab-token", ("GR1348941",), "GR1348941", r"[A-Za-z0-9_-]{20,}"),
    Rule("slack-token", ("xox",), "xox", r"[abeoprs](?:\.xox[bp])?-(?=[A-Za-z-]{0,8}\d)[A-Za-z0-9-]{20,}"),
    Rule("slack-token", ("xapp-",), "xapp-", r"\d-[A-Za-z0-9-]{20,}"),
    Rule("slack-webhook", ("hooks.slack.com",), r"hooks\.slack\.com", r"/(?:services|workflows|triggers)/[\w/+-]{30,}"),
    Rule("stripe-key", ("k_live_", "k_test_"), "[sr]k_(?:live|test)_", r"[A-Za-z0-9]{16,}"),
    Rule("stripe-webhook-secret", ("whsec_",), "whsec_", r"[A-Za-z0-9+/]{24,}=*"),
    Rule("anthropic-key", ("sk-ant-",), "sk-ant-", r"[a-z]{2,8}\d{2}-[A-Za-z0-9_-]{24,}"),
    Rule(
        "openai-key",
        ("sk-proj-", "sk-svcacct-", "sk-admin-", "sk-service-"),
        "sk-",
        r"(?:proj|svcacct|admin|service)-(?=[A-Za-z_-]{0,80}\d)[A-Za-z0-9_-]{24,}",
    ),
    Rule("openai-key", ("sk-",), "sk-", r"(?=[A-Za-z]{0,40}\d)[A-Za-z0-9]{32,}" + _END),
    Rule("openrouter-key", ("sk-or-v1-",), "sk-or-v1-", r"[0-9a-f]{32,}"),
    Rule(
        "azure-storage-key",
        ("AccountKey=", "SharedAccessKey="),
        "A(?:ccount|ccess)Key=",
        r"([A-Za-z0-9+/]{40,}={0,2})",
        whole=False,
    ),
    Rule("azure-sas", ("sig=",), "sig=", r"([A-Za-z0-9%+/]{40,}(?:%3D|=))"),
    Rule(
        "azure-client-secret",
        ("Q~",),
        "",
        r"(?<![A-Za-z0-9_~.-])[A-Za-z0-9_~.-]{3}[0-9]Q~[A-Za-z0-9_~.-]{31,34}",
        whole=False,
    ),
    Rule("twilio-key", ("SK",), "SK", r"[0-9a-f]{32}" + _END),
    Rule("sendgrid-key", ("SG.",), r"SG\.", r"[A-Za-z0-9_-]{16,64}\.[A-Za-z0-9_-]{16,}"),
    Rule("mailgun-key", ("key-",), "key-", r"[0-9a-f]{32}" + _END),
    Rule("mailchimp-key", ("-us",), "", r"(?<![A-Za-z0-9])[0-9a-f]{32}-us\d{1,2}" + _END, whole=False),
    Rule("npm-token", ("npm_",), "npm_", r"[A-Za-z0-9]{36}" + _END),
    Rule("pypi-token", ("pypi-Ag",), "pypi-Ag", r"[A-Za-z0-9_-]{50,}"),
    Rule("rubygems-key", ("rubygems_",), "rubygems_", r"[0-9a-f]{40,}"),
    Rule("docker-token", ("dckr_pat_", "dckr_oat_"), "dckr_[po]at_", r"[A-Za-z0-9_-]{20,}"),
    Rule("huggingface-token", ("hf_",), "hf_", r"(?=[A-Za-z]{0,33}\d)[A-Za-z0-9]{30,}"),
    Rule("groq-key", ("gsk_",), "gsk_", r"[A-Za-z0-9]{40,}"),
    Rule("xai-key", ("xai-",), "xai-", r"[A-Za-z0-9]{60,}"),
    Rule("perplexity-key", ("pplx-",), "pplx-", r"[A-Za-z0-9]{40,}"),
    Rule("replicate-token", ("r8_",), "r8_", r"[A-Za-z0-9]{36,}"),
    Rule("telegram-bot-token", (":AA",), ":AA", r"[A-Za-z0-9_-]{32,34}(?![A-Za-z0-9_-])(?<=\d:AA.{32})", whole=False),
    Rule("discord-webhook", ("/api/webhooks/",), "/api/webhooks/", r"\d{16,20}/[A-Za-z0-9_-]{60,}", whole=False),
    Rule("discord-token", ("mfa.",), r"mfa\.", r"[A-Za-z0-9_-]{80,}"),
    Rule("digitalocean-token", ("_v1_",), "do[opr]_v1_", r"[0-9a-f]{64}"),
    Rule("shopify-token", ("shpat_", "shpca_", "shppa_", "shpss_"), "shp(?:at|ca|pa|ss)_", r"[0-9a-fA-F]{32}"),
    Rule("square-token", ("sq0",), "sq0", r"[a-z]{3}-[A-Za-z0-9_-]{22,}"),
    Rule("databricks-token", ("dapi",), "dapi", r"[0-9a-f]{32}"),
    Rule("vault-token", ("hvs.", "hvb.", "hvr."), r"hv[sbr]\.", r"[A-Za-z0-9_-]{24,}"),
    Rule("linear-key", ("lin_api_",), "lin_api_", r"[A-Za-z0-9]{32,}"),
    Rule("notion-token", ("ntn_",), "ntn_", r"[A-Za-z0-9]{40,}"),
    Rule("grafana-token", ("glsa_", "glc_"), "gl(?:sa|c_)_?", r"[A-Za-z0-9_+/=]{32,}", whole=False),
    Rule("new-relic-key", ("NRAK-",), "NRAK-", r"[A-Z0-9]{27}"),
    Rule("doppler-token", ("dp.",), r"dp\.", r"(?:pt|st|ct|sa|scim|audit)\.(?:[a-z0-9_-]{1,40}\.)?[A-Za-z0-9]{40,}"),
    Rule("planetscale-token", ("pscale_",), "pscale_", r"(?:tkn|pw|oauth)_[A-Za-z0-9_.-]{30,}"),
    Rule("postman-key", ("PMAK-",), "PMAK-", r"[0-9a-f]{24}-[0-9a-f]{34}"),
    Rule("atlassian-token", ("ATATT3", "ATBB"), "AT(?:ATT3|BB)", r"[A-Za-z0-9_=-]{28,}", whole=False),
    Rule("terraform-token", (".atlasv1.",), r"\.atlasv1\.", r"[A-Za-z0-9_=-]{50,}", whole=False),
    Rule("1password-token", ("ops_eyJ",), "ops_eyJ", r"[A-Za-z0-9_-]{100,}=*"),
    Rule("jwt", ("eyJ",), "eyJ", r"(?<![A-Za-z0-9_-]eyJ)[A-Za-z0-9_-]{8,}+\.eyJ[A-Za-z0-9_-]{8,}+\.[A-Za-z0-9_-]*"),
    Rule("url-password", ("://",), "://", _LOGIN, whole=False),
)
