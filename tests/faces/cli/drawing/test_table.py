"""Tables and named values, wide and narrow."""

from __future__ import annotations

from clawmem.faces.cli.display import Display
from clawmem.faces.cli.drawing.draw import draw
from clawmem.faces.parts.command import Answer, Fields, Table
from tests.faces.cli.screens import styled

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
