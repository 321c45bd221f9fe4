"""Where a text quotes."""

from __future__ import annotations

import pytest

from clawmem.learning.attribution.quotations import quotations, unclosed_quotations

QUOTED = [
    ('He said "hello there" twice.', ['"hello there"']),
    ("He said “hello there” twice.", ["“hello there”"]),
    ("Er sagte „guten Tag“ und «bonjour».", ["„guten Tag“", "«bonjour»"]),
    ("She said 'It isn't mine' to Tom's friends.", ["'It isn't mine'"]),
    ("It isn't Tom's, it's the dogs' bowl.", []),
    ('A 27" screen and a 32" one', []),
]


@pytest.mark.parametrize(("text", "found"), QUOTED)
def test_quotations(text: str, found: list[str]) -> None:
    assert [text[start:end] for start, end in quotations(text)] == found


def test_what_is_never_closed_goes_to_the_end_of_its_line() -> None:
    text = 'One "two" three\nHe said "four five\nsix "seven'
    assert [text[start:end] for start, end in unclosed_quotations(text)] == ['"four five', '"seven']
