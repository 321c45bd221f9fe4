"""A proposal as named values; texts in it are data."""

from __future__ import annotations

import re

import pytest

from clawmem.faces.cli.display import Display
from clawmem.faces.cli.drawing.canvas import draw
from clawmem.faces.parts.command import Answer, Fields
from tests.faces.cli.drawing.test_draw import ATTACKS
from tests.faces.cli.screens import screen_of, styled, without_styles


@pytest.mark.parametrize("attack", ATTACKS)
@pytest.mark.parametrize("width", [100, 40])
def test_texts_of_a_proposal_do_nothing_to_a_terminal(attack: str, width: int) -> None:
    text = ATTACKS[attack]
    pairs = (("says", f"Jane {text}"), ("evidence", f'"{text}" in evt_1'), ("now", f"fact_1a2b3c4d  {text}"))
    made = draw(Answer({}, Fields(pairs, f"prop_1a2b3c4d  {text}")), "review show", {}, Display(width, True))
    assert made is not None
    sent = "".join(made)
    plain = without_styles(sent)
    assert not re.search("[\x00-\x09\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\u2028\u2029]", plain)
    assert max(map(len, screen_of(sent, width))) <= width
    assert {style for style, _ in styled(sent)} <= {"bold", "dim"}
    assert any("prop_1a2b3c4d" in row for row in screen_of(sent, width))
