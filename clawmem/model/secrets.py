"""Credentials in text: found by rule or by looking random, so that they never enter the history.

Every write asks, so this module holds only the cheap question whether anything could be there; the rules and
their patterns are loaded where something could.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

# Words a credential of the rule begins with: no letter or digit before them, 16 unbroken characters after.
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
)
# Words that stand inside a credential of the rule.
INSIDE = (
    ("PRIVATE KEY", "private-key"),
    ("PuTTY-User-Key-File", "putty-key"),
    ("Q~", "azure-client-secret"),
    (":AA", "telegram-bot-token"),
    ("/api/webhooks/", "discord-webhook"),
    (".atlasv1.", "terraform-token"),
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
# Words that a credential follows, and the rule it then falls under.
NAMES = (
    ("password", "password"),
    ("passwd", "password"),
    ("passphrase", "password"),
    ("passcode", "password"),
    ("pwd", "password"),
    ("passwort", "password"),
    ("kennwort", "password"),
    ("contraseña", "password"),
    ("secret", "assigned-secret"),
    ("token", "assigned-token"),
    ("key", "assigned-key"),
    ("bearer", "bearer-token"),
    ("basic", "basic-authorization"),
)
# A bare "key" says little; after one of these words it names a credential.
KEY_STEMS = (
    "api", "access", "secret", "private", "account", "signing", "encryption", "auth", "master", "service", "license",
)  # fmt: skip
_LONG_WORD = 32
_SHORTEST_TAIL = 16


class SecretMatch(NamedTuple):
    """A credential: the rule that found it and the half-open range of characters that holds it."""

    rule: str
    start: int
    end: int


def find_secret(text: str, unnamed: bool = True) -> SecretMatch | None:
    """The first credential in the text, or None."""
    found = find_secrets(text, unnamed)
    return found[0] if found else None


def find_known_secret(text: str) -> SecretMatch | None:
    """The first credential that is known by its own shape, for texts that may look random: ids of sessions, say."""
    rules = _rules_in_question(text)
    if not rules:
        return None
    from clawmem.model.secret_search import search

    return next((SecretMatch(*hit) for hit in search(text, rules, (), False)), None)


def find_secrets(text: str, unnamed: bool = True) -> tuple[SecretMatch, ...]:
    """Every credential in the text, in order, without overlaps; takes time linear in the text. What only looks random,
    and nothing names it, counts with `unnamed`."""
    rules = _rules_in_question(text)
    named = list(_named_places(text))
    bare = unnamed and _has_long_word(text)
    if not (rules or named or bare):
        return ()
    # The patterns take a millisecond to load, and hardly any text gets here.
    from clawmem.model.secret_search import search

    return tuple(SecretMatch(*hit) for hit in search(text, rules, named, bare))


def redact(text: str) -> str:
    """The text with each credential replaced by `[redacted: rule]`."""
    parts = []
    done = 0
    for match in find_secrets(text):
        parts += [text[done : match.start], f"[redacted: {match.rule}]"]
        done = match.end
    return "".join([*parts, text[done:]])


def _rules_in_question(text: str) -> list[str]:
    """The rules whose words stand in the text, each once."""
    rules = [rule for start, rule in STARTS if start in text and _begins(text, start)]
    rules += [rule for word, rule in INSIDE if word in text]
    if "://" in text and "@" in text:
        rules.append("url-password")
    return list(dict.fromkeys(rules))


def _begins(text: str, start: str) -> bool:
    """Whether the word stands at a beginning somewhere, with enough after it to be a credential."""
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


def _named_places(text: str) -> Iterator[tuple[str, int, bool]]:
    """Where a value may follow a credential's name: the rule, the end of the name, whether it is a `--name` option."""
    lower = _lowered(text)
    for word, rule in NAMES:
        if word in lower:
            for place in _places(lower, word):
                end = place + len(word)
                if word != "key" or lower[max(0, place - 12) : place].rstrip("_- ").endswith(KEY_STEMS):
                    yield from _named_place(lower, rule, place, end)


def _named_place(lower: str, rule: str, place: int, end: int) -> Iterator[tuple[str, int, bool]]:
    near = lower[end : end + 6]
    if rule in ("bearer-token", "basic-authorization"):
        if near[:1] == " " and (rule == "bearer-token" or "authorization" in lower[max(0, place - 24) : place]):
            yield rule, end, False
    elif near[:1] == " " and "--" in lower[max(0, place - 16) : place].rsplit(" ", 1)[-1]:
        yield rule, end, True
    elif any(sign in near for sign in ("=", ":", " is", " was")):
        yield rule, end, False


def _lowered(text: str) -> str:
    """The text in lower case with every character in its place, also where lower case is longer."""
    lower = text.lower()
    if len(lower) == len(text):
        return lower
    return "".join(letter.lower() if len(letter.lower()) == 1 else letter for letter in text)


def _has_long_word(text: str) -> bool:
    """Whether a word is long enough to be a key that nothing announces, and has capitals, as each of them has; what an
    address holds is not looked at."""
    long = (word for word in text.split() if len(word) >= _LONG_WORD and not word.islower())
    return any(not 0 <= word.find("://") < _LONG_WORD for word in long)
