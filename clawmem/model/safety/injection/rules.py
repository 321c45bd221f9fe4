"""Normalize disguised text (hidden letters, look-alikes, spread-out words), and search it by rules."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Collection, Mapping, Sequence
from functools import cache

from clawmem.model.safety.injection.forgeries import FORGERIES
from clawmem.model.safety.injection.orders import ORDERS_BY_RULE

# Letters of other scripts that look like Latin ones and are used to get past filters.
_TWINS = str.maketrans(
    "аеорсухіјѕԁԛɡһкмтвнАВЕКМНОРСТХІЈЅοαειρυνΑΒΕΖΗΙΚΜΝΟΡΤΥΧ",
    "aeopcyxijsdqghkmtbhABEKMHOPCTXIJSoaeipuvABEZHIKMNOPTYX",
)
_MIXED = re.compile(r"\b(?=\w*[a-zA-Z])(?=\w*[\u0370-\u04ff\u0500-\u052f\u0261\u04bb])\w+\b")
_SPREAD = re.compile(r"\b(?:[A-Za-z][ .*_-]){3,}[A-Za-z]\b")
_GAPS = re.compile(r"[ .*_-]")
_LEET = str.maketrans("013457@$", "oieastas")
_LEETED = re.compile(r"\b(?=[A-Za-z]*[013457@$])(?=[013457@$]{0,2}[A-Za-z])[A-Za-z013457@$]{4,20}\b")
_DROPPED = {ord(letter): None for letter in "\u200b\u200c\u200d\u2060\ufeff\u00ad\u2061\u2062\u2063\u2064"}
_TAG_FIRST, _TAG_LAST = 0xE0020, 0xE007E
_LONGEST_SHOWN = 80
_PATTERNS: Mapping[str, Sequence[str]] = {**FORGERIES, **ORDERS_BY_RULE}
_MANY_LINES = frozenset(("hidden-page-part",))


def normalize_disguises(text: str) -> str:
    """Return the text in a plain form with its white space; text spelled in tag characters is added at the end."""
    if text.isascii():
        plain = text
    else:
        hidden = "".join(chr(ord(letter) - 0xE0000) for letter in text if _TAG_FIRST <= ord(letter) <= _TAG_LAST)
        plain = unicodedata.normalize("NFKC", text.translate(_DROPPED)) + (f"\n{hidden}" if len(hidden) > 5 else "")
        plain = _MIXED.sub(lambda found: found[0].translate(_TWINS), plain)
    return _SPREAD.sub(lambda found: _GAPS.sub("", found[0]), plain)


def replace_leetspeak(text: str) -> str:
    """Return the text with digits and signs replaced by the letters they stand for ("1gn0re")."""
    return _LEETED.sub(lambda found: found[0].translate(_LEET), text)


def all_patterns() -> Mapping[str, Sequence[str]]:
    """Return the regular expressions of every rule."""
    return _PATTERNS


def search(forms: Collection[str], rules: Collection[str]) -> tuple[str, str] | None:
    """Return the first rule that matches one of the forms, and the matching words, or None."""
    for form in forms:
        for rule in rules:
            flags = re.IGNORECASE | re.MULTILINE | (re.DOTALL if rule in _MANY_LINES else 0)
            for pattern in _PATTERNS[rule]:
                match = _compiled(pattern, flags).search(form)
                if match:
                    return rule, _shown(match[0])
    return None


@cache
def _compiled(pattern: str, flags: int) -> re.Pattern[str]:
    """Compile a pattern on first use; compiling all of them would take 25 ms."""
    return re.compile(pattern, flags)


def _shown(words: str) -> str:
    line = " ".join("".join(letter if letter.isprintable() else "\ufffd" for letter in words).split())
    return line if len(line) <= _LONGEST_SHOWN else line[: _LONGEST_SHOWN - 1].rstrip() + "…"
