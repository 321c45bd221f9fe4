"""What kind of value a relation has: a name, a country, an address, or no more than a description.

"Lives in Oslo", "lives in Norway", "lives in a flat" and "lives at 34 Baker Street" are all true at once; of two cities
one is.
"""

import re

from clawmem.model.language.text import normal

NAMED, COUNTRY, ADDRESS = "named", "country", "address"
# What stands for a name that was not said ("a bakery"), and what is said of a place or a part of something.
UNNAMED, DESCRIBED = "unnamed", "described"
# Relations to these are answered by a name; of any other kind every value stands against every other.
_BY_NAME = frozenset(("place", "organisation", "person"))
_CALLED = re.compile(r"\b(?:called|named) [\"']?[A-Z0-9]")
_ASIDE = re.compile(
    r"[,(]| (?:in|near|with|on|at|of|for|from|by|outside|inside|close|next|and|or|that|which|where|who)\b"
)
# Where in an organisation, and not in which.
_PART = re.compile(
    r"\b(?:office|branch|department|team|headquarters|hq|desk|site|floor|division|counter|unit)s?$", re.IGNORECASE
)
_WITHOUT_NAME = frozenset("a an some my our their his her its another this that one two three any someone".split())


def comparable(kind: str, one: str, other: str) -> bool:
    """Whether two values of a relation stand against each other; `kind` is the catalog's type of its values."""
    sort = sort_of(kind, one)
    return sort == sort_of(kind, other) and sort != DESCRIBED


def sort_of(kind: str, value: str) -> str:
    """Which sort of value it is; what no relation to a place, an organisation or a person has is all of one sort."""
    if kind not in _BY_NAME:
        return NAMED
    if kind == "place":
        if any(letter.isdigit() for letter in value):
            return ADDRESS
        if _is_country(value):
            return COUNTRY
    if _is_named(value):
        return NAMED
    return DESCRIBED if kind == "place" or _PART.search(_head(value)) else UNNAMED


def _is_country(value: str) -> bool:
    from clawmem.model.language.countries import COUNTRIES  # few values need them

    return re.sub(r"^the ", "", normal(value).strip(" .")) in COUNTRIES


def _is_named(value: str) -> bool:
    if _CALLED.search(value):
        return True
    words = _head(value).split()
    if not words or words[0].lower() in _WITHOUT_NAME:
        return False
    if words[0].lower() == "the":
        return not words[-1][0].islower()
    return any(not word[0].islower() for word in words) or not _all_common(words)


def _head(value: str) -> str:
    """The words up to what is only said of them."""
    return _ASIDE.split(value.strip(), maxsplit=1)[0]


def _all_common(words: list[str]) -> bool:
    """Whether a description has been given, for people who write names small, too."""
    from clawmem.model.language.common_words import COMMON_WORDS  # few values are written small

    return all(word in COMMON_WORDS for word in words)
