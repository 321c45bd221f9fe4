"""The tree of a fact: chains of any length, merges, circles, and evidence with and without its event."""

from __future__ import annotations

from typing import Any

import pytest

from clawmem.faces.cli.display import Display
from clawmem.faces.cli.drawing.canvas import draw
from clawmem.faces.parts.command import Answer
from tests.faces.cli.screens import styled

EVENT = {"id": "evt_1", "timestamp": "2026-11-02T10:00:00Z", "role": "user", "kind": "message", "speaker": "Mia"}


def record(number: int, by: int | None = None, **more: Any) -> dict[str, Any]:
    return {
        "id": f"fact_{number:08x}",
        "fact": f"Jane has {number} boats.",
        "category": "fact",
        "timestamp": "2026-11-02T10:00:00Z",
        "source": "user",
        "status": "active" if by is None else "superseded",
        "superseded_by": None if by is None else f"fact_{by:08x}",
        "entity": "areas/people/jane",
        "recorded": f"{number:040x}",
        **more,
    }


def drawn(width: int, own: dict[str, Any], *chain: dict[str, Any], is_styled: bool = False, **more: Any) -> list[str]:
    made = draw(Answer({"fact": own, "chain": chain, "history": [], **more}), "why", {}, Display(width, is_styled))
    assert made is not None
    return "".join(made).split("\n")


def test_a_chain_of_any_length_keeps_its_room() -> None:
    chain = [record(number, number + 1) for number in range(1, 1200)]
    rows = drawn(40, record(1200), *chain)
    assert max(map(len, rows)) <= 40
    items = [row for row in rows if " boats." in row]
    assert [row.split()[-2] for row in items] == ["1200", *(str(number) for number in range(1199, 0, -1))]


def test_what_a_merge_replaced_is_below_it() -> None:
    rows = drawn(80, record(3), record(1, 3, source_text="one"), record(2, 3))
    assert [row for row in rows if "this fact" in row or "has" in row or '"' in row] == [
        "Jane has 3 boats.",
        "│   └── this fact",
        "│       ├── Jane has 1 boats.",
        '│       │   "one"',
        "│       └── Jane has 2 boats.",
    ]


@pytest.mark.parametrize("width", [80, 40, 20])
def test_merges_of_merges_keep_their_room(width: int) -> None:
    chain = [
        other_record
        for level in range(1, 30)
        for other_record in (record(level, level + 1), record(100 + level, level + 1))
    ]
    rows = drawn(width, record(30), *chain)
    assert max(map(len, rows)) <= width
    assert sum("boats." in row for row in rows) == len(chain) + 1 or width == 20


def test_a_circle_is_drawn_once() -> None:
    rows = drawn(80, record(1, 2), record(2, 1))
    assert sum("this fact" in row for row in rows) == 1
    assert sum("has 2 boats" in row for row in rows) == 1


def test_the_quoted_words_are_set_off_in_the_event() -> None:
    own = record(1, source_text="two boats", source_span=[7, 16], source_event="evt_1")
    shown = drawn(80, own, event={**EVENT, "text": "I have two boats\nin town."}, is_styled=True)
    assert "\x1b[1;35mtwo boats\x1b[0m in town." in "\n".join(shown)
    assert next(styled("\n".join(shown))) == ("bold", "Jane has 1 boats.")
    wrong = drawn(80, {**own, "source_span": [0, 9]}, event={**EVENT, "text": "I have two boats\nin town."})
    assert "│   I have two boats in town." in wrong
    assert '├── evidence  "two boats"' in drawn(80, own)
    assert "├── evidence  none was given" in drawn(80, record(1))


def test_premises_a_removed_fact_and_a_shallow_clone() -> None:
    begins = {"time": "2026-11-01T10:00:00Z", "commit": "b" * 40}
    links = [{"type": "depends_on", "to": "fact_00000009", "reason": "it says so"}, {"type": "supports", "to": "x"}]
    rows = drawn(90, record(1, links=links), removed="c" * 40, history_begins=begins)
    assert "├── recorded  2026-11-01 10:00 UTC or earlier; the history before bbbbbbbbbbbb is not here" in rows
    assert "├── removed  in cccccccccccc; `clawmem undo cccccccccccc` restores it" in rows
    assert "│   └── fact_00000009 depends_on: it says so" in rows
    assert "└── history: none of it is here" in rows
