"""A sentence that says several things, without one of them."""

import pytest

from clawmem.model.facts.parts import clear_part, parts_of, subject_of, without_part


@pytest.mark.parametrize(
    ("text", "named", "rest"),
    [
        ("Lena works at Fjord and lives in Bergen.", "Bergen", "Lena works at Fjord."),
        ("Lena works at Fjord and lives in Bergen.", "Fjord", "Lena lives in Bergen."),
        ("Lena lives in Bonn, Germany and works at Fjord.", "Fjord", "Lena lives in Bonn, Germany."),
        ("Hugo speaks Danish, plays chess and drives a Fiat.", "Danish", "Hugo plays chess and drives a Fiat."),
        ("Hugo speaks Danish, German and Dutch.", "German", "Hugo speaks Danish and Dutch."),
        ("The user has a cat named Biscuit and a parrot.", "cat", "The user has a parrot."),
        ("I am allergic to shellfish and nuts.", "shellfish", "I am allergic to nuts."),
        ("I live in Oslo and work at Fjord", "Oslo", "I work at Fjord"),
        ("I like tea and coffee.", "tea", "I like coffee."),
        ("I am allergic to nuts and I hate coriander.", "nuts", "I hate coriander."),
        ("Dr. Moss works at Elm, and her assistant is Pia.", "Elm", "Dr. Moss's assistant is Pia."),
        ("User's wife is Ana and their son is Leo.", "Ana", "User's son is Leo."),
        ("My pass is X44 and my blood type is B.", "X44", "My blood type is B."),
        ("Our office is in Antwerp; the lamp is red.", "lamp", "Our office is in Antwerp."),
        ("Greta studied law and now runs a bakery.", "law", "Greta now runs a bakery."),
        ("Lena arbeitet bei Krause und wohnt in Ulm.", "Krause", "Lena wohnt in Ulm."),
        ("Ich arbeite bei Krause und wohne in Ulm.", "Krause", "Ich wohne in Ulm."),
        ("On Monday, Jane swims in the lake.", "lake", None),
        ("She lives in Bonn, Germany.", "Bonn", None),
        ("Lena lives in Bergen.", "Bergen", None),
        ("Lena lives in Bergen, too.", "Bergen", None),
        ("Lena works at Fjord and lives in Bergen.", "e", None),
        ("Lena works at Fjord and lives in Bergen.", "boat", None),
        ("", "boat", None),
    ],
)
def test_what_is_left_without_a_part(text: str, named: str, rest: str | None) -> None:
    at = clear_part([float(named in part) for part in parts_of(text)[1]], 0.5)
    assert (None if at is None else without_part(text, at)) == rest


@pytest.mark.parametrize(
    ("text", "subject"),
    [
        ("Marta's gym is FitBox in Malmö.", "Marta's gym"),
        ("The choir rehearses on Mondays.", "The choir"),
        ("Ghent", ""),
        ("", ""),
    ],
)
def test_what_stands_before_the_verb(text: str, subject: str) -> None:
    assert subject_of(text) == subject
