"""Find credentials by their place: a command's option, an XML element, a header, or a code in a sentence.

This module is loaded only if a text contains one of the words in `PLACES`. Every repetition is bounded, so each
pattern takes linear time.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from typing import Any, cast

from clawmem.model.named_tuple import NamedTuple
from clawmem.model.safety.secrets.find import places_of
from clawmem.model.safety.secrets.looks import (
    compiled,
    could_be_chosen,
    could_be_password,
    entropy,
    has_mixed_case,
    is_mixed,
    is_placeholder,
    is_row_of_words,
    is_sample,
    is_stand_in,
    is_token,
    password_of_login,
    says_nothing,
)
from clawmem.model.safety.secrets.place_rules import DOORS, PLACES

Hit = tuple[str, int, int]
"""Rule, start, end."""

_LISTS = ("recovery-codes", "recovery-list")
# What a text must have near a match.
_NEAR = 80
_NEEDED = {
    "lock-combination": (
        r"\b(?:safe|lock|locker|padlock|gym|bike|luggage|suitcase|briefcase|vault|gun|tresor|schloss|fahrradschloss|"
        r"koffer|spind|zahlenschloss|coffre|cadenas|valise|casier|caja|candado|maleta|taquilla|cofre|cadeado|mala|"
        r"cassaforte|lucchetto|valigia|armadietto|kluis|slot|fietsslot|cijferslot|handle)\b"
    ),
    "entered-code": rf"(?i)\b(?:{DOORS}|\w{{0,20}}(?:schloss|tür|box)|alarm\w{{0,8}}|dörr\w{{0,2}}|bank|sms|texted)\b",
}
_AROUND = 420  # characters, more than the longest match
_SECRET_ENTRY = r"(?m)^[ \t]{1,8}[\w.-]{1,80}:[ \t]{1,3}([A-Za-z0-9+/]{8,4000}={0,2})[ \t]*$"
_OF_WALLETS = r"\b(?:wallet|metamask|ledger|trezor|seed|mnemonic|recovery phrase|bitcoin|btc|ethereum)\b"
_ROW = r"[A-Za-z0-9+/]{20,}={0,2}"
_END_OF_KEY = r"-----END [A-Z ]{0,40}PRIVATE KEY"


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
            check, pattern = _CHECKS.get(place), compiled(PLACES[place].pattern, re.IGNORECASE)
            windows = around_words(lower, PLACES[place].words.split("|"))
            for match in (match for start, end in windows for match in pattern.finditer(text, start, end)):
                group = match.lastindex or 1
                value = match[group].rstrip(" \n\t,、，;/*•-") if place in _LISTS else match[group]
                near = text[max(0, match.start() - _NEAR) : match.end() + _NEAR] if place in _NEEDED else ""
                accepted = check(value) if check else not says_nothing(value)
                if accepted and (not near or compiled(_NEEDED[place], re.IGNORECASE).search(near)):
                    yield place, match.start(group), match.start(group) + len(value)


def around_words(lower: str, words: Sequence[str]) -> list[tuple[int, int]]:
    """Return the parts of a text around the words of a place: a match has one of them, and no repetition is endless."""
    found = sorted(place for word in words for place in places_of(lower, word))
    parts: list[tuple[int, int]] = []
    for place in found:
        start = parts.pop()[0] if parts and place - _AROUND <= parts[-1][1] else max(0, place - _AROUND)
        parts.append((start, place + _AROUND))
    return parts


def _are_codes(value: str) -> bool:
    """Return whether a value has at least two codes; each needs a digit, so that sentences about codes do not count."""
    words = re.split(r"[\s,、，;/•]+", value)
    coded = [word for word in words if any(letter.isdigit() for letter in word)]
    return len(coded) >= 2 and len(coded) * 2 >= len(words)


def _is_random(value: str) -> bool:
    return entropy(value) >= 3.0 and not is_placeholder(value)


def _always(_: str) -> bool:
    return True


def _is_recovery_key(value: str) -> bool:
    """Return whether a value is some codes or a key in groups; a date, a UUID and a plain word are not."""
    words = re.split(r"[\s,;/•]+", value)
    if len(words) > 1:
        return len(set(words)) > 1 and _has_digit(value)
    groups = value.split("-")
    return _has_digit(value) and (len(groups) == 1 or len(groups) > 2) and not is_stand_in(value)


def _is_typed(value: str) -> bool:
    """Return whether a value has a digit among letters that change their case as by chance."""
    letters = re.sub(r"\d", "", value)
    return 8 <= len(letters) < len(value) and value[-1].isalpha() and value.isalnum() and has_mixed_case(letters)


def _has_digit(value: str) -> bool:
    return any(letter.isdigit() for letter in value) and len(set(value)) > 4


_CHECKS: dict[str, Callable[[str], bool]] = {
    "docker-auth": lambda value: bool(password_of_login(value)),
    "recovery-codes": _are_codes,
    "pin": _always,
    "bitlocker-key": lambda value: len(set(value)) > 5 and len(set(value.replace(" ", "-").split("-"))) > 4,
    "wallet-key": lambda value: len(set(value)) > 6,
    "lock-combination": _always,
    "entered-code": _always,
    "spoken-code": lambda value: len(value) >= 4,
    "constructor-pair": lambda value: is_mixed(value) and not is_placeholder(value) and not is_sample(value),
    "command-token": lambda value: is_mixed(value) and not is_placeholder(value) and not is_sample(value),
    "pair-in-code": lambda value: could_be_password(value) and not says_nothing(value),
    "recovery-key": _is_recovery_key,
    "recovery-list": lambda value: _are_codes(value) or (" " not in value and _is_recovery_key(value)),
    "seed-words": is_row_of_words,
    "app-password": is_row_of_words,
    "login-pair": lambda value: could_be_chosen(value) or _is_typed(value),
    "settings-line": lambda value: could_be_chosen(value) or _is_typed(value),
    "opening-word": could_be_chosen,
    "said-pair": could_be_chosen,
    "wifi-key": could_be_chosen,
    "security-answer": could_be_password,
    "eastern-code": _always,
    "session-value": _is_random,
    "link-token": is_token,
    "spelled-password": could_be_chosen,
    "card-code": _always,
    "genie-key": _is_random,
    "cookie": _is_random,
    "otpauth": _is_random,
    "json-web-key": _is_random,
    "totp-seed": _has_digit,
    "npmrc": lambda value: not value.startswith(("$", "<", "{", "%")) and not is_placeholder(value),
}


class KeptRule(NamedTuple):
    """A pattern of detect-secrets: its plugin, the words of which one stands in small letters in what it matches, and
    whether case is ignored."""

    plugin: str
    words: tuple[str, ...]
    pattern: str
    ignores_case: bool


@cache
def kept_rules() -> tuple[KeptRule, ...]:
    """Return the patterns of detect-secrets 1.5.0, which benchmarks/kept_rules.py wrote: see NOTICE."""
    data = cast(Any, __spec__).loader.get_data(__file__.replace("places.py", "kept_rules.json"))
    return tuple(KeptRule(*rule) for rule in json.loads(data))


def _kept(text: str, lower: str) -> Iterator[Hit]:
    for rule in kept_rules():
        if any(word in lower for word in rule.words):
            for match in compiled(rule.pattern, re.IGNORECASE if rule.ignores_case else 0).finditer(text):
                start, end = match.span(match.lastindex or 0)
                while start < end and text[start] in ' \t\n=:"':
                    start += 1
                if not is_placeholder(text[start:end]):
                    yield rule.plugin, start, end


def _rows_before_end(text: str) -> Iterator[Hit]:
    """Yield the base64 lines of a private key without its first line, up to the line that ends it."""
    row = compiled(_ROW)
    for match in compiled(_END_OF_KEY).finditer(text):
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
    for match in compiled(_SECRET_ENTRY).finditer(text):
        if len(match[1].rstrip("=")) % 4 != 1 and _has_digit(match[1]):
            yield "kubernetes-secret", match.start(1), match.end(1)


def find_recovery_phrases(text: str) -> Iterator[Hit]:
    """Yield recovery phrases: at least twelve words in a row from the word list of wallets."""
    from clawmem.model.language.languages import word_list  # few texts have twelve words in a row

    of_wallets = word_list("recovery_phrase")
    words = compiled(r"[^\W\d_]+")
    if b"\1" * 12 not in bytes(map(of_wallets.__contains__, map(str.lower, words.findall(text)))):
        return
    run: list[re.Match[str]] = []
    for match in (*words.finditer(text), None):
        near = match is not None and (
            not run or not text[run[-1].end() : match.start()].strip(" \n\t,0123456789.)[]\"'")
        )
        if match is not None and near and match[0].lower() in of_wallets:
            run.append(match)
            continue
        ended = bool(run) and not text[run[-1].end() : run[-1].end() + 2].strip(" ")[:1].isalnum()
        ended = ended or (len(run) >= 12 and compiled(_OF_WALLETS, re.IGNORECASE).search(text) is not None)
        if len(run) >= 12 and ended and len({other_match[0] for other_match in run}) > len(run) / 2:
            yield "recovery-phrase", run[0].start(), run[-1].end()
        run = [match] if match is not None and match[0].lower() in of_wallets else []
