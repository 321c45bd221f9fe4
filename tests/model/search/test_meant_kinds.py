"""Kinds of things: what is another name of something, what is an example of it, and what is told apart from it."""

import pytest

from clawmem.model.search.meant import CONTRARY, EXAMPLE, RELATED, SAME, closeness, names_somebody


@pytest.mark.parametrize(
    ("word", "other", "near"),
    [
        ("job", "works", RELATED),
        ("job", "plumber", EXAMPLE),
        ("Wohnort", "live", RELATED),
        ("dog", "perro", RELATED),
        ("dog", "beagle", EXAMPLE),
        ("pet", "cat", EXAMPLE),
        ("dog", "cat", CONTRARY),
        ("red", "blue", CONTRARY),
        ("red", "red", SAME),
        ("dogs", "dog", SAME),
        ("son", "daughter", CONTRARY),
        ("wife", "doctor", 0.0),
        ("allergy", "allergic", RELATED),
        ("rotated", "rotation", RELATED),
        ("Marin", "Marina", None),
        ("4471902", "4471903", None),
        ("kestrel", "lamp", None),
    ],
)
def test_how_near_words_are(word: str, other: str, near: float | None) -> None:
    assert closeness(word, other) == closeness(other, word) == near


def test_who_is_somebody_to_another() -> None:
    words = ("sister", "Chefin", "boat", "bosses", "Kindes")
    assert [word for word in words if names_somebody(word)] == ["sister", "Chefin", "bosses", "Kindes"]
