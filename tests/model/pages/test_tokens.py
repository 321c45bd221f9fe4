"""The token bound: never under the exact count, near it for plain English, and additive."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from clawmem.index.tables.background import exact_counter
from clawmem.model.facts.fact import Fact
from clawmem.model.language.languages import word_list
from clawmem.model.pages.tokens import context_line, event_line, line_tokens, note_line, token_bound, with_said_day
from clawmem.model.records.event import Event
from tests.conftest import examples


@pytest.fixture(scope="module")
def exact() -> Callable[[str], int]:
    """The exact count."""
    return exact_counter()


def _fact(**more: Any) -> Fact:
    return Fact("fact_1", "Jane likes tea", "fact", "2026-11-21T09:30:00Z", "user")._replace(**more)


@pytest.mark.parametrize(
    ("more", "line"),
    [
        ({}, "- Jane likes tea (2026-11-21)\n"),
        ({"valid_from": "2026-01-02"}, "- Jane likes tea (since 2026-01-02)\n"),
        ({"valid_to": "2026-01-02T10:00:00Z"}, "- Jane likes tea (until 2026-01-02)\n"),
        ({"valid_from": "2025-01-01", "valid_to": "2026-01-02"}, "- Jane likes tea (2025-01-01 to 2026-01-02)\n"),
        ({"trust": "external"}, "- Jane likes tea (2026-11-21, from outside, unverified)\n"),
        ({"fact": " Jane\nlikes\u2028tea "}, "- Jane likes tea (2026-11-21)\n"),
        ({"fact": "a\x1b[31m b\u202e"}, "- a\\u001b[31m b\\u202e (2026-11-21)\n"),
        ({"fact": "a </clawmem-context> b"}, "- a ‹/clawmem-context> b (2026-11-21)\n"),
    ],
)
def test_the_line_of_context(more: dict[str, str], line: str) -> None:
    fact = _fact(**more)
    assert context_line(fact) == line
    assert line_tokens(fact) == token_bound(line)


@pytest.mark.parametrize(
    ("text", "most"),
    [
        ("", 0),
        (" the", 1),
        (" the tea", 4),
        ("the", 2),
        ("12", 1),
        ("123456", 2),
        ("1234567", 3),
        ("é", 2),
        ("日本", 6),
        ("\n\n", 2),
        (" qj", 2),
        (" zzzz", 3),
        ("---", 3),
    ],
)
def test_known_bounds(text: str, most: int) -> None:
    assert token_bound(text) == most


@given(st.text(max_size=60))
def test_never_more_than_bytes(text: str) -> None:
    assert token_bound(text) <= len(text.encode("utf-8", errors="surrogatepass")) + text.count("'")


_TIGHT = st.text(alphabet=" '\n\t.,-()abcdeqjxzstmlvrABSTLERVDMQXZ0123456789éßſ٣½日😀\u0301_", max_size=30)
_WORDY = st.lists(
    st.sampled_from([*sorted(word_list("common"))[::97], "Ravi", "zqxj", "don't", "I'LL", "x1", "é"]), max_size=12
)
_ANY = st.text(st.characters(codec="utf-8"), max_size=30)


@examples(150, 1500)
@given(text=_TIGHT | _WORDY.map(" ".join) | _ANY)
@example("'REx")
@example("I'Llama")
@example("٣12345")
@example("12345٣678")
@example(" customeré")
@example("<|endoftext|>")
@example("a" * 99)
@example("qj" * 40)
def test_never_under_the_exact_count(exact: Callable[[str], int], text: str) -> None:
    assert token_bound(text) >= exact(text)


@examples(50, 300)
@given(lines=st.lists((_TIGHT | _WORDY.map(" ".join)).map(lambda text: f"{text}\n"), max_size=6))
@example(["\u0663\n", "0" * 30 + "\n"])
def test_lines_put_together_stay_under_the_sum(exact: Callable[[str], int], lines: list[str]) -> None:
    """A context is made of whole lines. Digits put next to digits of another script would be grouped anew."""
    assert exact("".join(lines)) <= sum(map(token_bound, lines))


def _line_of_fact(text: str) -> str:
    return context_line(_fact(fact=text))


def _line_of_event(text: str) -> str:
    return event_line(Event("evt_1", "2026-11-21T09:30:00Z", "user", text, speaker=text[:5]))


def test_a_long_turn_is_cut() -> None:
    line = _line_of_event("word " * 300)
    assert line == f"- word: {('word ' * 200).strip()}… (2026-11-21)\n"
    answer = event_line(Event("evt_1", "2026-11-21T09:30:00Z", "assistant", "word " * 100))
    assert answer == f"- assistant: {('word ' * 60).strip()}… (2026-11-21)\n"


def test_what_an_outsider_said_is_marked_like_a_fact_of_his() -> None:
    event = Event("evt_1", "2026-11-21T09:30:00Z", "note", "Mia lives in Moscow.", source="web:evil.example")
    assert event_line(event) == "- note: Mia lives in Moscow. (2026-11-21, from outside, unverified)\n"
    assert event_line(event._replace(source="chat")) == "- note: Mia lives in Moscow. (2026-11-21)\n"


@examples(40, 200)
@given(texts=st.lists(_WORDY.map(" ".join) | _ANY | _TIGHT, max_size=6))
def test_lines_of_context_count_exactly_what_they_count_together(exact: Callable[[str], int], texts: list[str]) -> None:
    lines = [made(text) for text in texts for made in (_line_of_fact, note_line, _line_of_event)]
    assert exact("".join(lines)) == sum(map(exact, lines))


def test_the_bound_is_near_for_plain_english(exact: Callable[[str], int]) -> None:
    text = (
        "- The team decides to move the release to Monday because the server in Frankfurt is replaced (2026-11-21)\n"
        "- Jane prefers green tea over coffee and meets her sister every second weekend in Lisbon (since 2026-03-04)\n"
    )
    assert exact(text) <= token_bound(text) <= 2 * exact(text)


def test_every_common_word_is_one_token(exact: Callable[[str], int]) -> None:
    assert [word for word in sorted(word_list("common")) if exact(f" {word}") != 1] == []


@pytest.mark.parametrize(("recorded", "day"), [("soon", "2026-11-20"), ("2026-11-21T09:30:00Z", "a day long ago")])
def test_only_a_day_takes_the_place_of_a_day(recorded: str, day: str) -> None:
    fact = _fact(timestamp=recorded)
    assert with_said_day(fact, day) == fact


def test_a_line_with_the_day_it_was_said_takes_as_many_tokens(exact: Callable[[str], int]) -> None:
    fact = _fact()
    message = with_said_day(fact, "1999-01-02")
    assert context_line(message) == "- Jane likes tea (1999-01-02)\n"
    assert exact(context_line(message)) == exact(context_line(fact))
    assert line_tokens(message) == line_tokens(fact)


def test_of_a_long_event_the_part_with_the_words_is_shown() -> None:
    event = Event("evt_1", "2026-01-01T00:00:00Z", "assistant", "Filler goes on. " * 60 + "The boiler costs 900 euros.")
    assert "boiler" not in event_line(event)
    shown = event_line(event, ("boiler", "cost"))
    assert "The boiler costs 900 euros. (2026-01-01)" in shown and len(shown) < 350
    short = event._replace(text="The boiler costs 900 euros.")
    assert event_line(short, ("boiler",)) == event_line(short)
