"""Recognise names of people."""

from __future__ import annotations

import re

from clawmem.learning.english.words import IDENTITY, LASTING, OCCUPATION

_NAME = re.compile(r"[A-Z][a-zà-ÿ'-]+(?: [A-Z][a-zà-ÿ'-]+){0,2}")
_OF_A_PEOPLE = re.compile(
    r"(?:ian|ean|ish|ese|utch|ench|elsh|wiss|eek|hai|aqi|ani|bani|istan|ican|rman|ocean|esbian|uslim|indu|ewish)$"
)
_LIKE_PEOPLES = frozenset(
    "Adrian Brian Bryan Christian Damian Dorian Fabian Florian Gillian Ian Jean Julian Kilian Lilian Lillian Marian "
    "Octavian Ryan Sean Dean Sebastian Vivian Norman Herman Trish Dani Hani Jani Giovani Rani".split()
)


def is_name(text: str) -> bool:
    """Return whether capitalised words can be a personal name, not an origin or occupation."""
    if not _NAME.fullmatch(text) or LASTING.match(text) or OCCUPATION.search(text) or IDENTITY.search(text):
        return False
    return text in _LIKE_PEOPLES or not _OF_A_PEOPLE.search(text)
