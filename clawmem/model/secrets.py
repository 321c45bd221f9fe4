"""Credentials in text: found by rule or by looking random, so that they never enter the history."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from typing import NamedTuple

from clawmem.model.secret_looks import could_be_key, could_be_password, is_placeholder, is_stand_in, looks_random
from clawmem.model.secret_rules import RULES, Rule

PASSWORD_WORDS = ("password", "passwd", "passphrase", "passcode", "pwd", "passwort", "kennwort", "contraseña")
KEY_WORDS = ("secret", "token", "key")
_KEY_STEMS = tuple("api access secret private account signing encryption auth master shared service license".split())
_TRIGGERS = tuple((trigger, rule) for rule in RULES for trigger in rule.triggers)
_LONGEST_PLAIN_WORD = 31
_SHORTEST_ASSIGNED_KEY = 12
_SHORTEST_SPOKEN_KEY = 16

_RUN = r"[A-Za-z0-9+/=_-]{32,}"
_ASSIGNED = r"""(["'`]?\s{0,3}(?::=|=>|==?|:)\s{0,3}|\s{1,3}(?:is|was)[:]?\s{1,3})(["'`]?)([^\s"'`,;]{6,200})"""
_FLAGGED = r"""([ =]{1,3})(["'`]?)([^\s"'`,;]{6,200})"""
_BEARER = r"\s{1,3}([A-Za-z0-9._~+/-]{16,}=*)"
_DISCORD = r"(?<![\w.-])[MNO][A-Za-z0-9_-]{22,27}\.[A-Za-z0-9_-]{6}\.[A-Za-z0-9_-]{27,40}(?![\w-])"


class SecretMatch(NamedTuple):
    """A credential: the rule that found it and the half-open range of characters that holds it."""

    rule: str
    start: int
    end: int


def find_secret(text: str) -> SecretMatch | None:
    """The first credential in the text, or None."""
    found = find_secrets(text)
    return found[0] if found else None


def find_secrets(text: str) -> tuple[SecretMatch, ...]:
    """Every credential in the text, in order, without overlaps; takes time linear in the text."""
    lower = _lowered(text)
    found = [match for rule in _triggered(text) for match in _by_rule(rule, text)]
    found += _assigned(text, lower)
    found += _bearers(text, lower)
    found += _bare(text)
    return tuple(_merged(found)) if found else ()


def redact(text: str) -> str:
    """The text with each credential replaced by `[redacted: rule]`."""
    parts = []
    done = 0
    for match in find_secrets(text):
        parts += [text[done : match.start], f"[redacted: {match.rule}]"]
        done = match.end
    return "".join([*parts, text[done:]])


@cache
def _compiled(pattern: str) -> re.Pattern[str]:
    """Patterns are compiled when a trigger asks for them: all of them would cost every command milliseconds."""
    return re.compile(pattern)


def _lowered(text: str) -> str:
    """The text in lower case with every character in its place, also where lower case is longer."""
    lower = text.lower()
    if len(lower) == len(text):
        return lower
    return "".join(letter.lower() if len(letter.lower()) == 1 else letter for letter in text)


def _triggered(text: str) -> dict[Rule, None]:
    """The rules whose trigger stands in the text, each once: the one cheap step that most texts end with."""
    return dict.fromkeys([rule for trigger, rule in _TRIGGERS if trigger in text])


def _by_rule(rule: Rule, text: str) -> Iterator[SecretMatch]:
    for match in _compiled(rule.pattern).finditer(text):
        start, end = match.span(match.lastindex or 0)
        check = is_stand_in if rule.name == "url-password" else is_placeholder
        if not check(text[start:end]):
            yield SecretMatch(rule.name, start, end)


def _assigned(text: str, lower: str) -> Iterator[SecretMatch]:
    """Values given to a password, secret, token or key: `password = ...`, `"api_key": "..."`, `password is ...`."""
    for word in PASSWORD_WORDS:
        for start in _places(lower, word):
            yield from _value_after(text, lower, start, start + len(word), "password")
    for word in KEY_WORDS:
        for start in _places(lower, word):
            if word != "key" or lower[max(0, start - 12) : start].rstrip("_- ").endswith(_KEY_STEMS):
                yield from _value_after(text, lower, start, start + len(word), f"assigned-{word}")


def _places(lower: str, word: str) -> Iterator[int]:
    place = lower.find(word)
    while place >= 0:
        yield place
        place = lower.find(word, place + len(word))


def _value_after(text: str, lower: str, start: int, end: int, rule: str) -> Iterator[SecretMatch]:
    near = lower[end : end + 6]
    flag = near[:1] == " " and "--" in lower[max(0, start - 16) : start].rsplit(" ", 1)[-1]
    if not flag and not any(sign in near for sign in ("=", ":", " is", " was")):
        return
    match = _compiled(_FLAGGED if flag else _ASSIGNED).match(text, end)
    if match is None:
        return
    spoken = not flag and not match[2] and "=" not in match[1]
    value = match[3].rstrip(".!?)") if spoken else match[3]
    if len(value) >= 6 and not is_stand_in(value) and _fits(value, rule, spoken):
        yield SecretMatch(rule, match.start(3), match.end(3))


def _fits(value: str, rule: str, spoken: bool) -> bool:
    if rule == "password":
        return could_be_password(value) if spoken else True
    return could_be_key(value, _SHORTEST_SPOKEN_KEY if spoken else _SHORTEST_ASSIGNED_KEY)


def _bearers(text: str, lower: str) -> Iterator[SecretMatch]:
    """Values of an authorization header: after `Bearer`, and after `Basic` where the header is named."""
    words = ["bearer"] if "bearer" in lower else []
    words += ["basic"] if "authorization" in lower and "basic" in lower else []
    for word in words:
        for start in _places(lower, word):
            match = _compiled(_BEARER).match(text, start + len(word))
            if match and not is_stand_in(match[1]) and could_be_key(match[1], _SHORTEST_SPOKEN_KEY):
                yield SecretMatch(f"{word}-token", *match.span(1))


def _bare(text: str) -> Iterator[SecretMatch]:
    """Long runs that look random with nothing said about them."""
    if all(len(word) <= _LONGEST_PLAIN_WORD for word in text.split()):
        return
    if text.count(".") >= 2:
        for match in _compiled(_DISCORD).finditer(text):
            if looks_random(match[0].replace(".", ""), ""):
                yield SecretMatch("discord-token", *match.span())
    for match in _compiled(_RUN).finditer(text):
        before = text[max(0, match.start() - 200) : match.start()]
        word = before.rsplit(None, 1)[-1] if before and not before[-1].isspace() else ""
        follows = text[match.end() : match.end() + 1]
        if "://" not in word and follows != "@" and looks_random(match[0], before[-24:]):
            yield SecretMatch("random-token", *match.span())


def _merged(found: list[SecretMatch]) -> Iterator[SecretMatch]:
    """Overlapping matches as one, which carries the name of the rule that was asked first."""
    rank = {match.rule: -place for place, match in reversed(list(enumerate(found)))}
    current: SecretMatch | None = None
    for match in sorted(found, key=lambda each: (each.start, each.end)):
        if current is None or match.start >= current.end:
            if current:
                yield current
            current = match
        else:
            rule = max(current.rule, match.rule, key=lambda name: rank[name])
            current = SecretMatch(rule, current.start, max(current.end, match.end))
    if current:
        yield current
