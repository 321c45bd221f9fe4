"""Search a text for credentials by shape, by name, and by randomness."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import cache

from clawmem.model.safety.secrets.find import SecretSearch, find_secrets
from clawmem.model.safety.secrets.looks import (
    could_be_key,
    could_be_password,
    is_placeholder,
    is_sample,
    is_stand_in,
    looks_random,
)
from clawmem.model.safety.secrets.rules import RULES

Hit = tuple[str, int, int]
"""Rule, start, end."""

_SHORTEST_ASSIGNED_KEY = 12
_SHORTEST_SPOKEN_KEY = 16
_HEADERS = ("bearer-token", "basic-authorization")

_UUID = r"[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}"
_RUN = r"[A-Za-z0-9+/=_-]{32,}"
_SIGN = r"""(\\?["'`*_]{0,3}\s{0,3}(?::=|=>|==?|:)[*_]{0,2}\s{0,3}|\s{1,3}(?:is|was):?\s{1,3})"""
_ASSIGNED = _SIGN + r"""(\\?["'`]?)([^\s"'`,;]{6,200})"""
_NEXT_NAME = r"-?\s{0,3}[A-Za-z_][\w.-]{0,80}\s{0,2}[=:](?=\s|$|[^\s]*$|[^\s]*\s)"
_HEADER_NAME = (
    r"(?:X-(?:[A-Za-z0-9]{1,20}-){0,4}|(?:[A-Z][A-Za-z]{1,20}-){1,4})(?:Api-?)?(?:Token|Key|Secret|Auth|Pat)$"
)
# Headers that hold ids in the form of a UUID, and no key.
_ID_HEADERS = (
    "idempotency request trace correlation cache partition surrogate page next continuation sync cursor websocket csrf "
    "xsrf dedup client-token row sort lock job message event"
).split()
_UUID_NAMES = (
    r"(?i:api[_-]?keys?|access[_-]?tokens?|auth[_-]?tokens?|api[_-]?tokens?|client[_-]?secret|secret[_-]?key)$"
)
_OPTION = r"""([ =]{1,3})(["'`]?)([^\s"'`,;]{6,200})"""
_HEADER = r"\s{1,3}([A-Za-z0-9._~+/-]{16,}=*)"
_PUBLIC = (
    r"-----BEGIN (?:[A-Z0-9]{1,12} ){0,3}(?:CERTIFICATE(?: REQUEST)?|PUBLIC KEY(?: BLOCK)?|SIGNATURE|CRL)-----[^-]*+"
    r"(?:-{1,4}(?!-)[^-]*+)*+-----END"
)
_DISCORD = r"(?<![\w.-])[MNO][A-Za-z0-9_-]{22,27}\.[A-Za-z0-9_-]{6}\.[A-Za-z0-9_-]{27,40}(?![\w-])"


def search(text: str, lower: str, asked: SecretSearch) -> Iterator[Hit]:
    """Yield the credentials to look for, in order and without overlaps. `lower` is the text in lower case."""
    found = list(_in_plain_text(text, lower, asked))
    if asked.hidden:
        from clawmem.model.safety.secrets.hidden import joined_forms, plain_forms

        for form in plain_forms(text):
            found += [_back(form.places, (hit.rule, hit.start, hit.end), text) for hit in find_secrets(form.text)]
        for form, rules in joined_forms(text):
            found += [_back(form.places, hit, text) for rule in rules for hit in _by_rule(rule, form.text)]
    return _merged(found)


def _in_plain_text(text: str, lower: str, asked: SecretSearch) -> Iterator[Hit]:
    for rule in asked.rules:
        yield from _by_rule(rule, text)
    for rule, end, option in asked.named:
        yield from _after_header(text, rule, end) if rule in _HEADERS else _after_name(text, rule, end, option)
    if asked.places:
        from clawmem.model.safety.secrets.places import find_at_places

        yield from find_at_places(text, lower, asked.places)
    if asked.phrases:
        from clawmem.model.safety.secrets.places import find_recovery_phrases

        yield from find_recovery_phrases(text)
    if asked.bare:
        yield from _bare(text)


def _back(places: Sequence[int], hit: Hit, text: str) -> Hit:
    """Map a hit in another form of the text to the text itself."""
    rule, start, end = hit
    first, last = places[start], places[end]
    return rule, first, first + len(text[first:last].rstrip(" \t\n\\"))


@cache
def _compiled(pattern: str) -> re.Pattern[str]:
    """Compile a pattern on first use; compiling all of them would take 5 ms."""
    return re.compile(pattern)


def _by_rule(rule: str, text: str) -> Iterator[Hit]:
    check = _says_nothing if rule == "url-password" else is_placeholder
    for match in _compiled(RULES[rule].pattern).finditer(text):
        start, end = match.span(match.lastindex or 0)
        if not check(text[start:end]):
            yield rule, start, end


def _after_name(text: str, rule: str, end: int, option: bool) -> Iterator[Hit]:
    """Yield the value after a name: `password = ...`, `"api_key": "..."`, `the password is ...`, `--token ...`."""
    hit = _assigned(text, rule, end, option)
    if hit is None and rule == "password" and not option:
        from clawmem.model.safety.secrets.words import find_spoken_password  # few texts speak of passwords

        span = find_spoken_password(text, end)
        hit = (rule, *span) if span else None
    if hit:
        yield hit


def _assigned(text: str, rule: str, end: int, option: bool) -> Hit | None:
    match = _compiled(_OPTION if option else _ASSIGNED).match(text, end)
    if match is None:
        return None
    if "\n" in match[1] and _is_next_name(text, match):
        return None
    # A value in a sentence needs to look more like a secret than one in quotes or after an equals sign.
    spoken = not match[2] and "=" not in match[1]
    value = match[3].rstrip(".!?)") if spoken else match[3].rstrip("\\")
    seen = value.split("\\n", 1)[0]
    name = _compiled(r"[A-Za-z_]*$").search(text, max(0, end - 40), end)
    full = _compiled(r"[A-Za-z0-9_-]*$").search(text, max(0, end - 60), end)
    if _is_uuid_of_a_key(seen, full[0] if full else "", match[1]):
        return rule, match.start(3), match.start(3) + len(value)
    # A person may really have the password `password1`; in code it is a sample.
    in_sentence = rule == "password" and (spoken or match[1].strip(" :\n*_") in ("is", "was"))
    # `pass` and `pw` are also words of code: a value assigned to them must look like a password.
    loose = spoken or (name is not None and name[0].endswith(("pass", "pw")))
    if len(seen) < 6 or (is_stand_in if in_sentence else _says_nothing)(seen) or not _fits(seen, rule, loose):
        return None
    return rule, match.start(3), match.start(3) + len(value)


def _is_next_name(text: str, match: re.Match[str]) -> bool:
    """Return whether the value is really the next line's name, because the value itself is empty."""
    return "=" in match[1] or _compiled(_NEXT_NAME).match(text, match.start(3)) is not None


def _is_uuid_of_a_key(value: str, name: str, sign: str) -> bool:
    """Return whether an environment variable contains a key in the form of a UUID, as several vendors use."""
    named = _compiled(_UUID).fullmatch(value) is not None
    return named and (_is_variable(name, sign) or _names_a_key(name, sign))


def _is_variable(name: str, sign: str) -> bool:
    return name.isupper() and "IDEMPOTENCY" not in name and "=" in sign and "_" in name


def _names_a_key(name: str, sign: str) -> bool:
    """Return whether a name is that of a header or a setting for a key: `X-Acme-Token`, `api_key`."""
    if any(word in name.lower() for word in _ID_HEADERS):
        return False
    header = ":" in sign and _compiled(_HEADER_NAME).search(name)
    return bool(header or (not sign.isspace() and _compiled(_UUID_NAMES).search(name)))


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
    """Yield long runs that look random and have no name."""
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
    """Return where certificates, public keys and signatures are; they look random but are public."""
    return [match.span() for match in _compiled(_PUBLIC).finditer(text)] if "-----BEGIN " in text else []


def _merged(found: list[Hit]) -> Iterator[Hit]:
    """Merge overlapping hits; the rule that was tried first names the result."""
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
