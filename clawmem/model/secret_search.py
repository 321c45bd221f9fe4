"""The search for credentials where a text gave reason for one: by shape, by name, by looking random."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from functools import cache

from clawmem.model.secret_looks import (
    could_be_key,
    could_be_password,
    is_placeholder,
    is_sample,
    is_stand_in,
    looks_random,
)
from clawmem.model.secret_rules import RULES

Hit = tuple[str, int, int]
"""Rule, start, end."""

_SHORTEST_ASSIGNED_KEY = 12
_SHORTEST_SPOKEN_KEY = 16
_HEADERS = ("bearer-token", "basic-authorization")

_RUN = r"[A-Za-z0-9+/=_-]{32,}"
_ASSIGNED = r"""(\\?["'`]?\s{0,3}(?::=|=>|==?|:)\s{0,3}|\s{1,3}(?:is|was):?\s{1,3})(\\?["'`]?)([^\s"'`,;]{6,200})"""
_OPTION = r"""([ =]{1,3})(["'`]?)([^\s"'`,;]{6,200})"""
_HEADER = r"\s{1,3}([A-Za-z0-9._~+/-]{16,}=*)"
_PUBLIC = (
    r"-----BEGIN (?:[A-Z0-9]{1,12} ){0,3}(?:CERTIFICATE(?: REQUEST)?|PUBLIC KEY(?: BLOCK)?|SIGNATURE|CRL)-----[^-]*+"
    r"(?:-{1,4}(?!-)[^-]*+)*+-----END"
)
_DISCORD = r"(?<![\w.-])[MNO][A-Za-z0-9_-]{22,27}\.[A-Za-z0-9_-]{6}\.[A-Za-z0-9_-]{27,40}(?![\w-])"


def search(text: str, rules: Iterable[str], named: Iterable[tuple[str, int, bool]], bare: bool) -> Iterator[Hit]:
    """The credentials of the rules in question, of the named places, and bare ones where asked; in order, apart."""
    found = [hit for rule in rules for hit in _by_rule(rule, text)]
    for rule, end, option in named:
        found += _after_header(text, rule, end) if rule in _HEADERS else _after_name(text, rule, end, option)
    if bare:
        found += _bare(text)
    return _merged(found)


@cache
def _compiled(pattern: str) -> re.Pattern[str]:
    """Only the patterns a text asks for are compiled: all of them would take 5 ms."""
    return re.compile(pattern)


def _by_rule(rule: str, text: str) -> Iterator[Hit]:
    check = _says_nothing if rule == "url-password" else is_placeholder
    for match in _compiled(RULES[rule].pattern).finditer(text):
        start, end = match.span(match.lastindex or 0)
        if not check(text[start:end]):
            yield rule, start, end


def _after_name(text: str, rule: str, end: int, option: bool) -> Iterator[Hit]:
    """The value given to a name: `password = ...`, `"api_key": "..."`, `the password is ...`, `--token ...`."""
    match = _compiled(_OPTION if option else _ASSIGNED).match(text, end)
    if match is None:
        return
    # What is said in a sentence must look more like a value than what stands in quotes or after an equals sign.
    spoken = not match[2] and "=" not in match[1]
    value = match[3].rstrip(".!?)") if spoken else match[3].rstrip("\\")
    seen = value.split("\\n", 1)[0]
    # Somebody may well say that his password is password1; code only shows what would stand there.
    said = rule == "password" and (spoken or match[1].strip(" :\n") in ("is", "was"))
    if len(seen) >= 6 and not (is_stand_in if said else _says_nothing)(seen) and _fits(seen, rule, spoken):
        yield rule, match.start(3), match.start(3) + len(value)


def _says_nothing(value: str) -> bool:
    return is_stand_in(value) or is_sample(value)


def _fits(value: str, rule: str, spoken: bool) -> bool:
    if rule == "password":
        return could_be_password(value) if spoken else True
    return could_be_key(value, _SHORTEST_SPOKEN_KEY if spoken else _SHORTEST_ASSIGNED_KEY)


def _after_header(text: str, rule: str, end: int) -> Iterator[Hit]:
    match = _compiled(_HEADER).match(text, end)
    if match and not is_stand_in(match[1]) and could_be_key(match[1], _SHORTEST_SPOKEN_KEY):
        yield rule, match.start(1), match.end(1)


def _bare(text: str) -> Iterator[Hit]:
    """Long runs that look random with nothing said about them."""
    if text.count(".") >= 2:
        for match in _compiled(_DISCORD).finditer(text):
            if looks_random(match[0].replace(".", ""), ""):
                yield "discord-token", match.start(), match.end()
    public = _public_blocks(text)
    for match in _compiled(_RUN).finditer(text):
        if any(start <= match.start() < end for start, end in public):
            continue
        before = text[max(0, match.start() - 200) : match.start()]
        word = before.rsplit(None, 1)[-1] if before and not before[-1].isspace() else ""
        follows = text[match.end() : match.end() + 1]
        if "://" not in word and follows != "@" and looks_random(match[0], before[-24:]):
            yield "random-token", match.start(), match.end()


def _public_blocks(text: str) -> list[tuple[int, int]]:
    """Where certificates, public keys and signatures stand: random to look at, and for everybody to see."""
    return [match.span() for match in _compiled(_PUBLIC).finditer(text)] if "-----BEGIN " in text else []


def _merged(found: list[Hit]) -> Iterator[Hit]:
    """Overlapping hits as one, under the rule that was asked first."""
    asked: dict[str, int] = {}
    for rule, _, _ in found:
        asked.setdefault(rule, len(asked))
    current: Hit | None = None
    for hit in sorted(found, key=lambda each: each[1:]):
        if current is None or hit[1] >= current[2]:
            if current:
                yield current
            current = hit
        else:
            current = (min(current[0], hit[0], key=asked.__getitem__), current[1], max(current[2], hit[2]))
    if current:
        yield current
