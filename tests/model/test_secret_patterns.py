"""Each pattern for credentials takes time linear in the text, whatever the text; each that is kept has its word."""

from __future__ import annotations

import re
import time

import pytest

from clawmem.memory.facts.redact import contains_text
from clawmem.model.safety.secrets.find import find_secrets
from clawmem.model.safety.secrets.place_rules import PLACES
from clawmem.model.safety.secrets.places import kept_rules
from clawmem.model.safety.secrets.rules import INSIDE, STARTING
from clawmem.model.safety.written_forms import compile_needles, replace_needles

ALL = {
    **{rule: re.compile(f"(?:{'|'.join(map(re.escape, starts.split()))}){rest}") for rule, starts, rest in STARTING},
    **{rule: re.compile(pattern) for rule, _, pattern in INSIDE},
    **{place: re.compile(rule.pattern, re.IGNORECASE) for place, rule in PLACES.items() if rule.pattern},
    **{f"kept {n}": re.compile(rule.pattern, re.IGNORECASE * rule.ignores_case) for n, rule in enumerate(kept_rules())},
}
STARTS = tuple(start for _, starts, _ in STARTING for start in starts.split())
PIECES = (
    "a", "A", "1", " ", "\n", '"', "\\", "-", "=", ":", "/", "x:", "://a:", "-----BEGIN ", "PRIVATE KEY-----", "aws ",
    "password: ", "password is ", "pass ", "eyJ", "eyJaaaaaaaaaaaa.", "sk-", "curl -u ", "curl ", "mysql -p", "login ",
    "machine a login b ", "<password>", "</", '"auth": "', "cookie sid=", "otpauth://a?", "pin is 1", "the pin ",
    "recovery codes: ", "abcd ", "ABCD ", "secret ABCD ", "abandon ", "%41", "\\u0041", "\u200b", "\uff41", "key=",
    "echo a:b|", "combination 1 ", "password x auf ", "password, a: ", "WIFI:S:a;", "login: a / ", "login x is a ",
    "code a ",
    "code porte a ", "client('a', '", "auth=('a',", "ldapsearch 'a' ", "mongosh -x ", "try a1b2c3 ",
    "recovery code 1234 ",
    "seed phrase: abc ", "wallet [1,", "hook.eu1.make.com/", "pa-a", "user a password '",
    "0x", "AAAA", "hooks.zapier.com", "ghp_a\n", "'", "x:5432:", "//:_authToken=", "kind: secret\n data: ",
)  # fmt: skip


def slowest(work: object, pieces: tuple[str, ...] = PIECES) -> list[tuple[str, float, float]]:
    """The pieces of which four times as many take much more than four times as long."""
    slow = []
    for piece in pieces:
        few, many = _seconds(work, piece, 5_000), _seconds(work, piece, 20_000)
        if many > 0.05 and many > 9 * few:
            few, many = min(_seconds(work, piece, 5_000) for _ in range(3)), _seconds(work, piece, 20_000)
            if many > 9 * few:
                slow.append((piece, few, many))
    return slow


def _seconds(work: object, piece: str, size: int) -> float:
    text = piece * (size // len(piece))
    started = time.perf_counter()
    work(text)  # type: ignore[operator]
    return time.perf_counter() - started


@pytest.mark.soak
@pytest.mark.parametrize("rule", ALL)
def test_a_pattern_is_linear(rule: str) -> None:
    assert slowest(lambda text: sum(1 for _ in ALL[rule].finditer(text))) == []


@pytest.mark.soak
@pytest.mark.parametrize("part", [0, 1])
def test_the_search_is_linear(part: int) -> None:
    starts = tuple(dict.fromkeys((*STARTS, *(word for place in PLACES.values() for word in place.words.split("|")))))
    assert slowest(find_secrets, (*PIECES, *starts[part::2])) == []


@pytest.mark.soak
def test_taking_out_and_looking_again_are_linear() -> None:
    wanted = compile_needles(('"marigold" \\ heron',))
    assert slowest(lambda text: replace_needles(text.encode(), wanted, b"[redacted]")) == []
    assert slowest(lambda text: contains_text(text.encode(), ('"marigold" \\ heron',))) == []


def test_each_kept_rule_is_asked_for_by_a_word() -> None:
    asked = {*PLACES["kept"].words.split("|"), *map(str.lower, STARTS)}
    for rule in kept_rules():
        assert all(
            any(known in word or word in known for known in asked | {"accountkey=", ":_auth"}) for word in rule.words
        )


def test_what_is_left_is_found_in_latin_1_as_in_utf_8() -> None:
    for encoding in ("utf-8", "latin-1"):
        assert contains_text("Das Kätzchen heißt Mönch.".encode(encoding), ("heißt Mönch",))
        assert not contains_text("Das Kätzchen heißt Mönch.".encode(encoding), ("heißt Mönche",))
