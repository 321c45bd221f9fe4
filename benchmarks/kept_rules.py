"""Write the two data files that come from other projects.

    pip install --target /tmp/rules detect-secrets==1.5.0 mnemonic==0.21
    PYTHONPATH=/tmp/rules python -m benchmarks.kept_rules

`clawmem/model/safety/secrets/kept_rules.json` has the patterns of detect-secrets (Apache-2.0) that are fit for prose:
each compiles, takes time linear in the text, and has a literal word that asks for it. What is left out, and why, is in
`LEFT_OUT`. `clawmem/model/language/data/recovery_phrase.txt` has the English words of wallets' recovery phrases
(BIP 39), from mnemonic (MIT).
"""

from __future__ import annotations

import importlib
import inspect
import json
import pkgutil
import re
import textwrap
from collections.abc import Iterator
from importlib.resources import files
from pathlib import Path
from typing import Any

MODEL = Path(__file__).resolve().parent.parent / "clawmem" / "model"
# Words of which one stands, in small letters, in whatever the plugin's patterns match.
WORDS = {
    "artifactory": ("akc",),
    "aws": ("aws",),
    "azure_storage_key": ("accountkey=",),
    "cloudant": ("cloudant",),
    "discord": ("",),
    "github_token": ("ghp_", "gho_", "ghu_", "ghs_", "ghr_"),
    "gitlab_token": ("glpat-", "gldt-", "glft-", "glsoat-", "glrt-", "gr1348941", "glcbt-", "glimt-", "glptt-",
                     "glagent-", "gloas-"),
    "ibm_cos_hmac": ("secret",),
    "mailchimp": ("-us",),
    "npm": (":_authtoken",),
    "pypi_token": ("pypi-ag",),
    "sendgrid": ("sg.",),
    "slack": ("xox", "hooks.slack.com"),
    "softlayer": ("softlayer",),
    "square_oauth": ("sq0csp-",),
    "stripe": ("k_live_",),
}  # fmt: skip
# Patterns that are not taken, by plugin and number: everything of the plugin where the number is None.
LEFT_OUT = {
    ("artifactory", 1): "matches a plain word of eleven letters that begins with APA to APF",
    ("aws", 0): "our own rule has the same, with the letters that are in use",
    ("basic_auth", None): "unbounded; our own rule for addresses has the same",
    ("discord", None): "no word asks for it; our own rule has the same and checks for randomness",
    ("ibm_cloud_iam", None): "every part of the name is optional, so it is any key of 44 characters",
    ("ip_public", None): "an address is no secret",
    ("jwt", None): "takes quadratic time; our own rule has the same",
    ("openai", None): "takes quadratic time; our own rules have the same",
    ("private_key", None): "the head alone says nothing; our own rule looks for the body",
    ("telegram_token", None): "no word asks for it; our own rule has the same",
    ("twilio", None): "the id of an account is no secret, and our own rule has the key",
    ("slack", 0): "takes quadratic time; our own rule has the same",
}
# What makes a pattern linear: each a literal replacement in its text.
TRANSLATED = (
    ("(?: *)", "(?: {0,3})"),
    ("| +|", "| {1,3}|"),
    (r"[\w\-]+", r"[\w\-]{1,100}"),
    (r"\/\/.+\/:_authToken=\s*((npm_.+)|([A-Fa-f0-9-]{36})).*", r"\/:_authToken=\s{0,3}(npm_\S+|[A-Fa-f0-9-]{36})"),
    (r"T[a-zA-Z0-9_]+/B[a-zA-Z0-9_]+/[a-zA-Z0-9_]+", r"T[a-zA-Z0-9_]{1,40}/B[a-zA-Z0-9_]{1,40}/[a-zA-Z0-9_]+"),
    ("AKC[a-zA-Z0-9]{10,}", "AKC[a-zA-Z0-9]{10,}+"),
    ("(?:cloudant|cl|clou)", "(?:cloudant)"),
    ("(?:softlayer|sl)", "(?:softlayer)"),
    ("(ghp|gho|ghu|ghs|ghr)", "(?:ghp|gho|ghu|ghs|ghr)"),
    ("(glpat|gldt|glft|glsoat|glrt)", "(?:glpat|gldt|glft|glsoat|glrt)"),
    ("([0-9a-fA-F]{2}_)?", "(?:[0-9a-fA-F]{2}_)?"),
)


def patterns() -> Iterator[tuple[str, int, re.Pattern[str]]]:
    """Every pattern of the package: its plugin, its number there, itself."""
    plugins: Any = importlib.import_module("detect_secrets.plugins")
    base: Any = importlib.import_module("detect_secrets.plugins.base").RegexBasedDetector
    for found in sorted(pkgutil.iter_modules(plugins.__path__), key=lambda info: info.name):
        module = importlib.import_module(f"detect_secrets.plugins.{found.name}")
        for kind in vars(module).values():
            own = inspect.isclass(kind) and issubclass(kind, base) and kind.__module__ == module.__name__
            if own and not inspect.isabstract(kind) and isinstance(kind.denylist, list | tuple):
                yield from ((found.name, number, other) for number, other in enumerate(kind.denylist))


def _rules() -> Iterator[list[Any]]:
    total = taken = altered = 0
    for plugin, number, pattern in patterns():
        total += 1
        if (plugin, None) in LEFT_OUT or (plugin, number) in LEFT_OUT:
            continue
        text = pattern.pattern
        for old, new in TRANSLATED:
            text = text.replace(old, new)
        re.compile(text, pattern.flags)
        taken, altered = taken + 1, altered + (text != pattern.pattern)
        words, small = WORDS[plugin], bool(pattern.flags & re.IGNORECASE)
        yield [plugin.replace("_", "-"), list(words), text, small]
    print(f"detect-secrets: {taken} of {total} patterns taken, {altered} of them altered, {total - taken} left out")


def main() -> None:
    """Write both files."""
    rows = ",\n".join(f" {json.dumps(rule)}" for rule in _rules())
    (MODEL / "safety/secrets/kept_rules.json").write_text(f"[\n{rows}\n]\n")
    words = (files("mnemonic") / "wordlist" / "english.txt").read_text().split()
    lines = textwrap.wrap(" ".join(words), 118)
    (MODEL / "language/data/recovery_phrase.txt").write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
