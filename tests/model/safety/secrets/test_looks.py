"""What a value looks like: the boundaries between a placeholder, a word, a password and a key."""

from __future__ import annotations

import pytest

from clawmem.model.safety.secrets.looks import (
    could_be_chosen,
    could_be_key,
    could_be_password,
    has_mixed_case,
    is_mixed,
    is_placeholder,
    is_row_of_words,
    is_sample,
    is_stand_in,
    is_token,
    looks_random,
    password_of_login,
)

HEX = "8f14e45fceea167a5a36dedd4bea2543"
RANDOM = "q7Rk2R8uQYuY8CstQTuNzuNGrTFh"
UUID = "123e4567-e89b-12d3-a456-426614174000"


@pytest.mark.parametrize(
    ("value", "is_none"),
    [
        ("q9k3vv7b2ccb2777bb2c7b", True), ("q9k3vv7b2ccb2777bd2c7b", False),  # four and five letters at the end
        ("k9-EXAMPLE-m2p5w8", True), (RANDOM, False), ("ab" * 101, False),
    ],
)  # fmt: skip
def test_a_placeholder_has_few_letters_or_says_so(value: str, is_none: bool) -> None:
    assert is_placeholder(value) is is_none


@pytest.mark.parametrize(
    ("value", "is_none"),
    [
        ("'Secret'.", True), ("$TOKEN", True), ("fact_1a2b3c4d", True), ("aabbab", True), ("ftp://a.b/c9", True),
        (UUID, True), (UUID[:-1] + "g", False), ("get_token()", True), ("settings2.value", False),
        ("new_password", True), ("new_passw0rd", False), ("blue_heron", False), ("user.name", True),
        ("rows[0]", True), ("Tr0ub4dor&3", False),
    ],
)  # fmt: skip
def test_what_stands_for_a_secret_is_none(value: str, is_none: bool) -> None:
    assert is_stand_in(value) is is_none


@pytest.mark.parametrize(
    ("value", "is_none"),
    [
        ("secure_password123", True), ("my-secret-key-1", True), ("Test123!", True), ("test124578", False),
        ("user1", False), ("password" * 26, False),
    ],
)  # fmt: skip
def test_sample_text_is_no_secret(value: str, is_none: bool) -> None:
    assert is_sample(value) is is_none


@pytest.mark.parametrize(
    ("value", "could_be"),
    [
        ("heron42", True), ("heron!", True), ("heron", False), ("4242!", False), ("sha256sum9", False),
        ("45kg", False), ("45KG", False), ("45kG", True), ("3-Phase", False), ("45kg!", True),
    ],
)  # fmt: skip
def test_a_password_has_letters_and_more_and_is_no_measure(value: str, could_be: bool) -> None:
    assert could_be_password(value) is could_be


@pytest.mark.parametrize(
    ("value", "could_be"),
    [
        ("heron42", True), ("heron4", False), ("heron4!", True), ("hero!n#", True), ("heron!", False), ("her42", False),
        ("`heron42`.", True), ("HERON42", False), ("HERON42!", True), ("HER-ON42x", True), ("iphone15x", False),
        ("ada42@example.org", False), ("page42.html", False), ("v1.2.13a", False), ("12-heron", False),
    ],
)  # fmt: skip
def test_a_person_chooses_a_symbol_or_two_digits(value: str, could_be: bool) -> None:
    assert could_be_chosen(value) is could_be


@pytest.mark.parametrize(
    ("value", "mixed", "token"),
    [
        (HEX, True, True), (HEX[:24], True, True), (HEX[:23], False, False), (HEX[:14], False, True),
        (HEX[:13], False, False), (UUID, True, False), (RANDOM, True, True), ("sha256-" + RANDOM, True, False),
        ("the4thhouseofthelongstreet", False, False), ("a1b2c3d4e5f6gh", False, True), ("a1bcdefghi2klm", False, False),
    ],
)  # fmt: skip
def test_what_looks_random(value: str, mixed: bool, token: bool) -> None:
    assert (is_mixed(value), is_token(value)) == (mixed, token)


def test_a_key_is_long_and_varied() -> None:
    assert could_be_key(RANDOM, 28) and not could_be_key(RANDOM, 29)
    assert could_be_key("kQxRvTzWpLmNbHjGfDsC", 20) and not could_be_key("correcthorsebatterystaple", 20)
    assert not could_be_key("12345678901234567890", 20) and not could_be_key("a1a1a1a1a1a1a1a1a1a1", 20)
    assert has_mixed_case("kQxRvTzWpLmN") and not has_mixed_case("Houseboats") and not has_mixed_case("kqxrvtzw")


def test_a_recovery_phrase_does_not_repeat_itself_or_join_words() -> None:
    assert is_row_of_words("ocean lamp tiger velvet") and not is_row_of_words("ocean lamp tiger lamp")
    assert not is_row_of_words("ocean lamp and tiger")


@pytest.mark.parametrize(
    ("run", "before", "random"),
    [
        (RANDOM + "k3Vw", "the value ", True), (RANDOM + "k3V", "the value ", False),
        (RANDOM + "k3Vw", "SHA256: ", False), (RANDOM.lower() + "k3vw", "the value ", False),
        ("1" + RANDOM + "k3Vwm9", "the value ", False), ("Qm" + RANDOM + "k3VwPz5TnB8xJd2H", "the value ", False),
        (HEX, "the value ", False), ("-----" + RANDOM + "-----", "the value ", False),
    ],
)  # fmt: skip
def test_a_bare_run_is_a_key_if_it_is_mixed(run: str, before: str, random: bool) -> None:
    assert looks_random(run, before) is random


def test_the_password_of_a_login_is_behind_its_name() -> None:
    assert password_of_login("YWRhOmhlcm9uNDI=") == password_of_login("YWRhOmhlcm9uNDI") == "heron42"
    assert password_of_login("Omhlcm9uNDI=") == password_of_login("aGVyb240Mg==") == password_of_login("***") == ""
