"""Find credentials by their place: a command's option, an XML element, a header, or a code in a sentence.

This module is loaded only if a text contains one of the words in `PLACES`. Every repetition is bounded, so each
pattern takes linear time.
"""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Callable, Iterator, Sequence
from functools import cache

from clawmem.model.safety.secrets.kept_rules import KEPT
from clawmem.model.safety.secrets.looks import entropy, is_placeholder, is_sample, is_stand_in

Hit = tuple[str, int, int]
"""Rule, start, end."""

_REST = r"[^\n|;]"
_VALUE = r"""[\\]{0,3}["']?([^\s"'`<>\\]{3,200})"""
_CODES = (
    r"pin(?:[ -]?(?:code|number|nummer))?|puk|passcode|"
    r"(?:door|alarm|gate|entry|unlock|lock|access|security|safe|garage|building|screen|phone|verification)[ -]code"
)
_SAYS = r"(?:\s{0,2}[:=]\s{0,3}|\s{1,3}(?:is|was|are|ist|war|lautet|es|est|è|é)\s{0,2}:?\s{1,3})"

PATTERNS: dict[str, str] = {
    "curl-login": (
        rf"\bcurl\b{_REST}{{0,300}}?"
        r"\s(?:-u|--user|--proxy-user)[ =]{0,2}[\"']?[^\s:\"'$]{1,80}:([^\s\"']{3,200})"
    ),
    "mysql-option": rf"\b(?:mysql|mariadb)[a-z-]{{0,12}}\b{_REST}{{0,200}}?\s-p[\"']?([^\s\"'$<-][^\s\"']{{2,200}})",
    "sshpass-option": rf"\bsshpass\s{{1,3}}(?:-v\s{{1,3}})?-p\s{{0,2}}{_VALUE}",
    "login-option": rf"\blogin\b{_REST}{{0,200}}?\s-p\s{{1,2}}{_VALUE}",
    "redis-option": rf"\bredis-cli\b{_REST}{{0,200}}?\s-a\s{{1,2}}{_VALUE}",
    "smb-option": (
        rf"\b(?:smb|rpc)client\b{_REST}{{0,200}}?"
        r"\s(?:-U|--user)[ =][\"']?[^\s%\"']{1,80}%([^\s\"']{3,200})"
    ),
    "defined-constant": (
        r"\bdefine\(\s{0,3}[\"'][A-Z_]{0,40}(?:PASSWORD|PASS|SECRET|KEY|SALT)[A-Z_]{0,20}[\"']\s{0,3},\s{0,3}"
        r"[\"']([^\s\"']{6,200})[\"']"
    ),
    "pgpass": r"(?<![^\s\"'])[^\s:\"']{1,100}:[56]432:[^\s:]{1,100}:[^\s:]{1,100}:([^\s:\"']{6,200})(?![^\s\"'])",
    "netrc": r"\bmachine\s{1,3}\S{1,100}\s{1,9}login\s{1,3}\S{1,100}\s{1,9}password\s{1,3}(\S{3,200})",
    "xml-element": (
        r"<[\w:.-]{0,40}?(?:pass(?:word|wd|phrase|code)?|pwd|secret|token|api[_-]?key|passwort|kennwort)[\w.-]{0,20}>"
        r"\s{0,3}([^<>\s]{4,200})\s{0,3}</"
    ),
    "docker-auth": r"\\{0,3}[\"']auth\\{0,3}[\"']\s{0,3}:\s{0,3}\\{0,3}[\"']([A-Za-z0-9+/]{8,400}={0,2})",
    "npmrc": r":_(?:authToken|password|auth)\s{0,3}=\s{0,3}[\"']?([^\s\"']{6,400})",
    "otpauth": r"otpauth://[^\s?\"']{1,200}\?(?:[^\s\"'&]{1,80}&){0,6}secret=([A-Z2-7]{16,128})",
    "cookie": (
        r"\bcookie\b[^\n]{0,200}?(?:sess(?:ion)?[\w.-]{0,12}|sid|[\w.-]{0,10}sid|auth[\w.-]{0,12}|remember[\w.-]{0,12})"
        r"=([A-Za-z0-9%._+/-]{20,400})"
    ),
    "json-web-key": r"[\"']d\\{0,3}[\"']\s{0,3}:\s{0,3}\\{0,3}[\"']([A-Za-z0-9_-]{20,700})",
    "genie-key": r"\bGenieKey\s{1,3}([0-9a-f-]{32,40})",
    "ssws-key": r"\bSSWS\s{1,3}([A-Za-z0-9_-]{30,60})",
    "pin": rf"\b(?:{_CODES})\b(?:\s[^\n\d:=.;]{{1,40}}?)?{_SAYS}[\"'*]{{0,3}}(\d(?:[ -]?\d){{3,9}})(?![\d.,]?\d)",
    "card-code": r"\b(?:cvv|cvc)2?\b(?:\s(?:code|number))?\s{0,2}(?::|=|is|ist)?\s{0,2}(\d{3,4})(?!\d)",
    "recovery-codes": (
        rf"\b(?:recovery|backup|rescue|wiederherstellungs?)[ -]?(?:codes?|keys?|schlüssel)\b[^\n:.]{{0,40}}?{_SAYS}"
        r"((?:[A-Za-z0-9]{4,12}(?:[- ][A-Za-z0-9]{4,12}){0,4}[\s,;*•-]{0,6}){1,40})"
    ),
    "totp-seed": (
        r"\b(?:secret|2fa|totp|otp|authenticator|setup key|key)\b[^\n]{0,40}?"
        r"(?<![A-Za-z0-9])((?:[A-Z2-7]{4} ){3,15}[A-Z2-7]{4}|(?:[a-z2-7]{4} ){7,15}[a-z2-7]{4})(?![A-Za-z0-9])"
    ),
}
_SECRET_ENTRY = r"(?m)^[ \t]{1,8}[\w.-]{1,80}:[ \t]{1,3}([A-Za-z0-9+/]{8,4000}={0,2})[ \t]*$"
_ROW = r"[A-Za-z0-9+/]{20,}={0,2}"
_END_OF_KEY = r"-----END [A-Z ]{0,40}PRIVATE KEY"


@cache
def compile_pattern(pattern: str, ignores_case: bool = True) -> re.Pattern[str]:
    """Compile a pattern on first use; compiling all of them would take many milliseconds."""
    return re.compile(pattern, re.IGNORECASE if ignores_case else 0)


def find_at_places(text: str, lower: str, places: Sequence[str]) -> Iterator[Hit]:
    """Yield the credentials at the given places."""
    for place in places:
        if place == "kept":
            yield from _kept(text, lower)
        elif place == "private-key-end":
            yield from _rows_before_end(text)
        elif place == "kubernetes-secret":
            yield from _entries(text)
        else:
            accepts = _CHECKS.get(place, _says_something)
            for match in compile_pattern(PATTERNS[place]).finditer(text):
                value = match[1].rstrip(" \n\t,;*•-") if place == "recovery-codes" else match[1]
                if accepts(value):
                    yield place, match.start(1), match.start(1) + len(value)


def _says_something(value: str) -> bool:
    return not is_stand_in(value) and not is_sample(value)


def _is_login(value: str) -> bool:
    """Return whether a value is base64 of a name and a password."""
    try:
        plain = base64.b64decode(value + "=" * (-len(value) % 4), validate=True)
    except (binascii.Error, ValueError):
        return False
    name, colon, password = plain.partition(b":")
    return bool(name and colon and password) and plain.isascii() and plain.decode().isprintable()


def _are_codes(value: str) -> bool:
    """Return whether a value has at least two codes; each needs a digit, so that sentences about codes do not count."""
    words = value.replace(",", " ").replace(";", " ").split()
    coded = [word for word in words if any(letter.isdigit() for letter in word)]
    return len(coded) >= 2 and len(coded) * 2 >= len(words)


def _is_random(value: str) -> bool:
    return entropy(value) >= 3.0 and not is_placeholder(value)


def _always(_: str) -> bool:
    return True


def _has_digit(value: str) -> bool:
    return any(letter.isdigit() for letter in value) and len(set(value)) > 4


_CHECKS: dict[str, Callable[[str], bool]] = {
    "docker-auth": _is_login,
    "recovery-codes": _are_codes,
    "pin": _always,
    "card-code": _always,
    "genie-key": _is_random,
    "cookie": _is_random,
    "otpauth": _is_random,
    "json-web-key": _is_random,
    "totp-seed": _has_digit,
    "npmrc": lambda value: not value.startswith(("$", "<", "{", "%")) and not is_placeholder(value),
}


def _kept(text: str, lower: str) -> Iterator[Hit]:
    for rule in KEPT:
        if any(word in lower for word in rule.words):
            for match in compile_pattern(rule.pattern, rule.ignores_case).finditer(text):
                start, end = match.span(match.lastindex or 0)
                while start < end and text[start] in ' \t\n=:"':
                    start += 1
                if not is_placeholder(text[start:end]):
                    yield rule.plugin, start, end


def _rows_before_end(text: str) -> Iterator[Hit]:
    """Yield the base64 lines of a private key without its first line, up to the line that ends it."""
    row = compile_pattern(_ROW, False)
    for match in compile_pattern(_END_OF_KEY, False).finditer(text):
        start = end = match.start()
        while start > 0:
            line = text[text.rfind("\n", 0, start - 1) + 1 : start].strip()
            if not row.fullmatch(line):
                break
            start = text.rfind("\n", 0, start - 1) + 1
        if start < end:
            yield "private-key", start, end


def _entries(text: str) -> Iterator[Hit]:
    """Yield the values of a Kubernetes secret, which are base64."""
    for match in compile_pattern(_SECRET_ENTRY, False).finditer(text):
        if len(match[1].rstrip("=")) % 4 != 1 and _has_digit(match[1]):
            yield "kubernetes-secret", match.start(1), match.end(1)


def find_recovery_phrases(text: str) -> Iterator[Hit]:
    """Yield recovery phrases: at least twelve words in a row from the word list of wallets."""
    from clawmem.model.safety.secrets.phrase_words import PHRASE_WORDS

    run: list[re.Match[str]] = []
    for match in (*compile_pattern(r"[^\W\d_]+", False).finditer(text), None):
        near = match is not None and (not run or not text[run[-1].end() : match.start()].strip(" \n\t,0123456789.)"))
        if match is not None and near and match[0].lower() in PHRASE_WORDS:
            run.append(match)
            continue
        ended = bool(run) and not text[run[-1].end() : run[-1].end() + 2].strip(" ")[:1].isalnum()
        if len(run) >= 12 and ended and len({one[0] for one in run}) > len(run) / 2:
            yield "recovery-phrase", run[0].start(), run[-1].end()
        run = [match] if match is not None and match[0].lower() in PHRASE_WORDS else []
