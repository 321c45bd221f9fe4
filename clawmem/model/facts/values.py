"""Classify values of a relation: a name, a country, an address, or a mere description.

"Lives in Oslo", "lives in Norway", "lives in a flat" and "lives at 34 Baker Street" can all be true at once, and so can
"is from California" and "is from Los Angeles". Of two cities, only one can.
"""

import re
from functools import lru_cache

from clawmem.model.language.languages import rows, word_list
from clawmem.model.language.text import normal

NAMED, COUNTRY, REGION, ADDRESS = "named", "country", "region", "address"
# An unnamed thing ("a bakery"), and a description of a place or a part of something.
UNNAMED, DESCRIBED = "unnamed", "described"
# The values of these relations are names; for other relations, any two different values contradict each other.
_BY_NAME = frozenset(("place", "organisation", "person"))
_CALLED = r"\b(?:called|named) [\"']?[A-Z0-9]"
_ASIDE = r"[,(]| (?:in|near|with|on|at|of|for|from|by|outside|inside|close|next|and|or|that|which|where|who)\b"
# A part of an organisation rather than the organisation.
_PART = r"(?i)\b(?:office|branch|department|team|headquarters|hq|desk|site|floor|division|counter|unit)s?$"
_WITHOUT_NAME = frozenset("a an some my our their his her its another this that one two three any someone".split())


def are_exclusive(kind: str, text: str, other: str) -> bool:
    """Return whether two values exclude each other; `kind` is the catalog's type of the relation's values."""
    sort = value_class(kind, text)
    return sort == value_class(kind, other) and sort != DESCRIBED


@lru_cache(maxsize=4096)
def value_class(kind: str, value: str) -> str:
    """Return the class of a value; all values are `named` unless the relation is to a place, organisation or person."""
    if kind not in _BY_NAME:
        return NAMED
    if kind == "place":
        if any(letter.isdigit() for letter in value):
            return ADDRESS
        name = re.sub(r"^the ", "", normal(value).strip(" ."))
        # Countries and continents; states and provinces, of which New York and Washington are cities as well.
        for kind_of_place, names in ((COUNTRY, "countries"), (REGION, "regions")):
            if name in rows("places")[names]:
                return kind_of_place
    if _is_named(value):
        return NAMED
    return DESCRIBED if kind == "place" or re.search(_PART, _head(value)) else UNNAMED


def _is_named(value: str) -> bool:
    if re.search(_CALLED, value):
        return True
    words = _head(value).split()
    if not words or words[0].lower() in _WITHOUT_NAME:
        return False
    if words[0].lower() == "the":
        return not words[-1][0].islower()
    # Even a value in small letters is a name if one of its words is no common one.
    return any(not word[0].islower() for word in words) or not word_list("common").issuperset(words)


def _head(value: str) -> str:
    """Return the words before any addition such as "in Oslo" or "which ..."."""
    return re.split(_ASIDE, value.strip(), maxsplit=1)[0]
