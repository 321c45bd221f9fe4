"""Who asks for colours, and who is asked first: --color, then the environment, then the terminal."""

from __future__ import annotations

import pytest

from clawmem.errors import InvalidInput
from clawmem.faces.cli.display import ALWAYS, AUTO, NEVER, UNKNOWN_WIDTH, Display, checked_color, display_of

PLAIN, BARE, STYLED = None, Display(100, False), Display(100, True)


@pytest.mark.parametrize(
    ("color", "environment", "on_terminal", "in_pipe"),
    [
        (AUTO, {}, STYLED, PLAIN),
        (AUTO, {"NO_COLOR": ""}, STYLED, PLAIN),  # no-color.org: present and not an empty string
        (AUTO, {"NO_COLOR": "0"}, BARE, PLAIN),
        (AUTO, {"TERM": "dumb"}, PLAIN, PLAIN),
        (AUTO, {"CLICOLOR": "0"}, BARE, PLAIN),
        (AUTO, {"CLICOLOR": "1"}, STYLED, PLAIN),
        (AUTO, {"FORCE_COLOR": "1"}, STYLED, STYLED),
        (AUTO, {"FORCE_COLOR": "", "CLICOLOR_FORCE": ""}, STYLED, PLAIN),
        (AUTO, {"FORCE_COLOR": "0"}, STYLED, PLAIN),
        (AUTO, {"FORCE_COLOR": "3", "TERM": "dumb"}, STYLED, STYLED),
        (AUTO, {"FORCE_COLOR": "1", "NO_COLOR": "1"}, BARE, PLAIN),
        (AUTO, {"CLICOLOR_FORCE": "1"}, STYLED, STYLED),
        (AUTO, {"CLICOLOR_FORCE": "1", "CLICOLOR": "0"}, STYLED, STYLED),
        (AUTO, {"CLICOLOR_FORCE": "1", "NO_COLOR": "yes"}, BARE, PLAIN),
        (ALWAYS, {}, STYLED, STYLED),
        (ALWAYS, {"NO_COLOR": "1", "TERM": "dumb", "CLICOLOR": "0"}, STYLED, STYLED),
        (NEVER, {}, BARE, PLAIN),
        (NEVER, {"FORCE_COLOR": "1", "CLICOLOR_FORCE": "1"}, BARE, PLAIN),
        (NEVER, {"TERM": "dumb"}, PLAIN, PLAIN),
    ],
)
def test_who_decides(
    color: str, environment: dict[str, str], on_terminal: Display | None, in_pipe: Display | None
) -> None:
    wide = {**environment, "COLUMNS": "100"}
    assert display_of(wide, color, "utf-8", 60) == on_terminal
    assert display_of(wide, color, "utf-8", None) == in_pipe


@pytest.mark.parametrize(
    ("environment", "columns", "width"),
    [
        ({}, 61, 61),
        ({}, 0, UNKNOWN_WIDTH),
        ({}, None, UNKNOWN_WIDTH),
        ({"COLUMNS": "44"}, 61, 44),
        ({"COLUMNS": "0"}, 61, 61),
        ({"COLUMNS": "wide"}, 61, 61),
        ({"COLUMNS": "-5"}, 61, 61),
        ({"COLUMNS": "٤٤"}, 61, 61),
        ({"COLUMNS": "9" * 5000}, 61, 61),
        ({}, 3, 20),
    ],
)
def test_the_width(environment: dict[str, str], columns: int | None, width: int) -> None:
    assert display_of(environment, ALWAYS, "utf-8", columns) == Display(width, True)


@pytest.mark.parametrize(("encoding", "drawn"), [("UTF-8", True), ("utf8", True), ("latin-1", False), (None, False)])
def test_nothing_is_drawn_in_an_encoding_without_its_characters(encoding: str | None, drawn: bool) -> None:
    assert (display_of({}, ALWAYS, encoding, 80) is not None) == drawn


def test_another_word_is_refused() -> None:
    with pytest.raises(InvalidInput, match="'on' is not a valid value of --color") as raised:
        checked_color("on")
    assert (checked_color(None), checked_color(NEVER)) == (AUTO, NEVER)
    assert raised.value.hint == "Choose from auto, always, never."
