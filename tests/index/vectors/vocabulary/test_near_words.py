"""Words with a near meaning, told apart from others by the vectors that come with the package."""

from __future__ import annotations

import pytest

from clawmem.index.vectors.local_model import has_near_word


@pytest.mark.parametrize(
    ("words", "others", "near"),
    [
        (["drink"], ["tea"], True),
        (["earn"], ["wage"], True),
        (["drink"], ["drink"], True),
        (["paint", "drink"], ["roof", "coffee"], True),
        (["drink"], ["bridge"], False),
        (["earn"], ["tea"], False),
        (["xqzzvw"], ["tea"], False),
        (["drink"], ["xqzzvw"], False),
        ([], ["tea"], False),
        (["drink"], [], False),
    ],
)
def test_a_word_is_near_another_or_not(words: list[str], others: list[str], near: bool) -> None:
    assert has_near_word(words, others) is near
    assert has_near_word(others, words) is near
