"""Proposals as a queue and as a tree; texts in them are data."""

from __future__ import annotations

import re
from typing import Any

import pytest

from clawmem.faces.cli.display import Display
from clawmem.faces.cli.drawing.canvas import draw
from clawmem.faces.parts.command import Answer, Fields
from tests.faces.cli.drawing.test_draw import ATTACKS
from tests.faces.cli.screens import screen_of, styled, without_styles


def proposal(text: str) -> dict[str, Any]:
    return {
        "id": "prop_1a2b3c4d",
        "kind": "conflict",
        "status": "open",
        "says": f"Jane says {text}",
        "why": f"because {text}",
        "created": "2026-11-21T09:30:00Z",
        "does": "add",
        "entity": f"areas/people/{text}",
        "agent": f"scout {text}",
    }


def drawn(verb: str, answer: Answer, width: int) -> str:
    made = draw(answer, verb, {}, Display(width, True))
    assert made is not None
    return "".join(made)


def shown(text: str, width: int) -> tuple[str, str]:
    target = {
        "id": "fact_1a2b3c4d",
        "fact": f"Jane {text}",
        "category": "fact",
        "timestamp": "2026-11-21T09:30:00Z",
        "source": "user",
        "status": "active",
        "entity": f"areas/people/{text}",
    }
    pairs = (("says", "x"), ("evidence", f'"{text}" in evt_1'), ("approved", f"by {text}"), ("now", "x"))
    data = {"proposal": proposal(text), "targets": [target], "reviewers": []}
    return (
        drawn("review list", Answer({"proposals": [proposal(text)] * 2}, ()), width),
        drawn("review show", Answer(data, Fields(pairs, "head")), width),
    )


@pytest.mark.parametrize("attack", ATTACKS)
@pytest.mark.parametrize("width", [100, 40])
def test_texts_of_a_proposal_do_nothing_to_a_terminal(attack: str, width: int) -> None:
    for sent in shown(ATTACKS[attack], width):
        plain = without_styles(sent)
        assert not re.search("[\x00-\x09\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\u2028\u2029]", plain)
        assert max(map(len, screen_of(sent, width))) <= width
        assert {style for style, _ in styled(sent)} <= {"bold", "dim"}
        assert any("prop_1a2b3c4d" in row for row in screen_of(sent, width))


def test_a_proposal_as_a_tree() -> None:
    queue, tree = shown("tea", 80)
    assert screen_of(queue, 80)[:3] == [
        "2026-11-21  Jane says tea",
        "            because tea",
        "            prop_1a2b3c4d · conflict · open · areas/people/tea · scout tea",
    ]
    assert screen_of(tree, 80) == [
        "Jane says tea",
        "prop_1a2b3c4d · conflict · open · areas/people/tea · scout tea",
        "made 2026-11-21 09:30 UTC",
        '├── evidence  "tea" in evt_1',
        "├── approved  by tea",
        "└── now  Jane tea",
        "    fact_1a2b3c4d · areas/people/tea",
    ]
