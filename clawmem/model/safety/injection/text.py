"""Normalize disguised text: drop hidden letters, replace look-alikes, and join spread-out words."""

from __future__ import annotations

import re
import unicodedata

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
