"""Rows of a drawing: never wider than the display, never a word cut that fits, and only codes of styles."""

from __future__ import annotations

import re

from hypothesis import given, settings
from hypothesis import strategies as st
from rich.cells import cell_len

from clawmem.faces.cli.display import Display
from clawmem.faces.cli.drawing.canvas import ALERT, FAINT, HIT, Canvas, draw, words
from clawmem.faces.parts.command import Answer, Fields, Table
from tests.faces.cli.screens import styled, without_styles

IDS = st.from_regex(r"fact_[0-9a-f]{8}", fullmatch=True)
PIECES = ("Jane", "東京", "😀", "e\u0301", "\x1b[2J", "[red]", "\u202e", "\n", "x" * 50)
TEXTS = st.one_of(
    st.text(max_size=60),
    st.lists(st.sampled_from(["Jane", "東京", "😀", "e\u0301", "\x1b[2J", "[red]", "\u202e", "\n", "x" * 50])).map(
        " ".join
    ),
)
WIDTHS = st.integers(20, 130)


def rows_of(canvas: Canvas, made: object) -> list[str]:
    return [canvas.drawn(row) for row in made]  # type: ignore[attr-defined]


@settings(max_examples=60)
@given(WIDTHS, TEXTS, st.lists(IDS, min_size=1, max_size=4), st.sampled_from([True, False]), st.booleans())
def test_a_block_keeps_within_the_width_and_cuts_no_id(
    width: int, text: str, ids: list[str], is_styled: bool, beside: bool
) -> None:
    canvas = Canvas(Display(width, is_styled))
    below = canvas.flow([words(identifier, FAINT) for identifier in ids], width - 6 if beside else canvas.beside(4))
    sent = rows_of(canvas, canvas.block(words("day", FAINT), 4, [words(text, HIT), *below], beside))
    plain = [without_styles(row) for row in sent]
    assert all(cell_len(row.removesuffix("\n")) <= width for row in plain)
    assert all(row.endswith("\n") and row.count("\n") == 1 and not row.endswith(" \n") for row in plain)
    assert all(any(identifier in row for row in plain) for identifier in ids)
    assert not re.search("[\x00-\x09\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]", "".join(plain))
    assert is_styled or "\x1b" not in "".join(sent)


@settings(max_examples=60)
@given(WIDTHS, st.lists(st.tuples(IDS, TEXTS, st.sampled_from(["hot", "cold"])), min_size=1, max_size=5))
def test_columns_align_or_are_refused(width: int, table: list[tuple[str, str, str]]) -> None:
    canvas = Canvas(Display(width, True))
    aligned = canvas.columns([[words(cell) for cell in row] for row in table])
    longest = [max((cell_len(word) for word in words(text).plain.split()), default=0) for _, text, _ in table]
    if aligned is None:
        assert 13 + 2 + max(longest) + 2 + len("cold") > width
        return
    rows = [without_styles(canvas.drawn(row)).removesuffix("\n") for row in aligned]
    assert max(map(cell_len, rows)) <= width
    assert [row[:13] for row in rows if row[:1].strip()] == [identity for identity, _, _ in table]
    tails = {cell_len(row) - len(row.split()[-1]) for row in rows if row.startswith("fact_")}
    assert len(tails) == 1


def test_styles_are_words_of_the_palette() -> None:
    canvas = Canvas(Display(80, True))
    row = words("Jane", HIT).append(" ").append_text(words("lives", FAINT)).append_text(words("!", ALERT))
    assert canvas.drawn(row) == "\x1b[1;35mJane\x1b[0m \x1b[2mlives\x1b[0m\x1b[31m!\x1b[0m\n"
    assert list(styled(canvas.drawn(row))) == [("bold magenta", "Jane"), ("dim", "lives"), ("red", "!")]


def test_a_long_word_is_cut_behind_a_mark() -> None:
    canvas = Canvas(Display(40, False))
    path = words("remember(@scout/areas/people/ann-with-a-long-name): x https://example.org/" + "y" * 60)
    assert rows_of(canvas, canvas.wrapped(path, 40)) == [
        "remember(@scout/areas/people/\n",
        "ann-with-a-long-name): x\n",
        "https://example.org/\n",
        "y" * 40 + "\n",
        "y" * 20 + "\n",
    ]
    assert rows_of(canvas, canvas.wrapped(words("東" * 30), 40)) == ["東" * 20 + "\n", "東" * 10 + "\n"]


ROWS = (("areas/people/jane", "Jane 東京", "2"), ("projects/a-long-name-of-a-project", "", "12"))
TABLE = Answer({}, Table(("entity", "title", "facts"), ROWS))


def drawn(answer: Answer, width: int, is_styled: bool = False) -> str:
    made = draw(answer, "", {}, Display(width, is_styled))
    assert made is not None
    return "".join(made)


def test_a_table_on_a_wide_and_on_a_narrow_display() -> None:
    assert drawn(TABLE, 80) == (
        "entity                             title      facts\n"
        "areas/people/jane                  Jane 東京  2\n"
        "projects/a-long-name-of-a-project             12\n"
    )
    assert drawn(TABLE, 40) == (
        "entity  areas/people/jane\ntitle   Jane 東京\nfacts   2\n\n"
        "entity  projects/\n        a-long-name-of-a-project\nfacts   12\n"
    )
    assert drawn(Answer({}, Table(("entity",), ())), 80) == ""


def test_named_values() -> None:
    pairs = (
        ("heartbeat", "never on this machine; `clawmem cron install` schedules it"),
        ("broken", "x cannot be read"),
    )
    answer = Answer({}, Fields(pairs, "a head"))
    assert isinstance(answer.lines, Fields) and list(answer.lines) == [
        "a head",
        f"heartbeat {pairs[0][1]}",
        "broken    x cannot be read",
    ]
    assert drawn(answer, 40) == (
        "a head\n"
        "heartbeat  never on this machine;\n"
        "           `clawmem cron install`\n"
        "           schedules it\n"
        "broken     x cannot be read\n"
    )
    styles = list(styled(drawn(answer, 80, is_styled=True)))
    assert styles == [("bold", "a head"), ("dim", "heartbeat"), ("red", "broken"), ("red", "x cannot be read")]


def test_lines_without_a_form_are_not_drawn() -> None:
    assert draw(Answer({}, ["fact_1a2b  Jane"]), "remember", {}, Display(80, True)) is None
