"""Classify values of a relation: a name, a country, an address, or a mere description.

"Lives in Oslo", "lives in Norway", "lives in a flat" and "lives at 34 Baker Street" can all be true at once, and so can
"is from California" and "is from Los Angeles". Of two cities, only one can.
"""

import re
from functools import lru_cache

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
# Countries and continents, in lower case.
_SINGLE = """
afghanistan albania algeria andorra angola argentina armenia australia austria azerbaijan bahamas bahrain bangladesh
barbados belarus belgium belize benin bhutan bolivia botswana brazil britain brunei bulgaria burundi cambodia cameroon
canada chad chile china colombia comoros croatia cuba cyprus czechia denmark djibouti dominica ecuador egypt england
eritrea estonia eswatini ethiopia fiji finland france gabon gambia georgia germany ghana greece greenland grenada
guatemala guinea guyana haiti honduras hungary iceland india indonesia iran iraq ireland israel italy jamaica japan
jordan kazakhstan kenya kiribati kosovo kuwait kyrgyzstan laos latvia lebanon lesotho liberia libya liechtenstein
lithuania luxembourg madagascar malawi malaysia maldives mali malta mauritania mauritius mexico micronesia moldova
monaco mongolia montenegro morocco mozambique myanmar namibia nauru nepal netherlands nicaragua niger nigeria norway
oman pakistan palau palestine panama paraguay peru philippines poland portugal qatar romania russia rwanda samoa
scotland senegal serbia seychelles singapore slovakia slovenia somalia spain sudan suriname sweden switzerland syria
taiwan tajikistan tanzania thailand togo tonga tunisia turkey turkmenistan tuvalu uganda ukraine uruguay uzbekistan
vanuatu venezuela vietnam wales yemen zambia zimbabwe uk usa us uae holland europe africa asia scandinavia america
"""
_SEVERAL = """
antigua and barbuda, bosnia and herzegovina, burkina faso, cape verde, central african republic, costa rica, czech
republic, democratic republic of the congo, dominican republic, east timor, el salvador, equatorial guinea, great
britain, hong kong, ivory coast, marshall islands, new zealand, north korea, north macedonia, northern ireland, papua
new guinea, puerto rico, republic of the congo, saudi arabia, sierra leone, solomon islands, south africa, south korea,
south sudan, sri lanka, trinidad and tobago, united arab emirates, united kingdom, united states, united states of
america, vatican city, north america, south america, latin america, central america, southeast asia, middle east
"""
# States and provinces, in lower case; a city lies in one. New York and Washington are cities as well.
_STATES = """
alabama, alaska, arizona, arkansas, california, colorado, connecticut, delaware, florida, hawaii, idaho, illinois,
indiana, iowa, kansas, kentucky, louisiana, maine, maryland, massachusetts, michigan, minnesota, mississippi, missouri,
montana, nebraska, nevada, new hampshire, new jersey, new mexico, north carolina, north dakota, ohio, oklahoma, oregon,
pennsylvania, rhode island, south carolina, south dakota, tennessee, texas, utah, vermont, virginia, west virginia,
wisconsin, wyoming, alberta, british columbia, manitoba, newfoundland, nova scotia, ontario, saskatchewan, new south
wales, queensland, south australia, tasmania, bavaria, brandenburg, hesse, lower saxony, north rhine-westphalia,
saxony, schleswig-holstein, thuringia, brittany, burgundy, normandy, provence, lombardy, piedmont, sicily, sardinia,
tuscany, umbria, veneto, andalusia, catalonia, galicia, cornwall, kent, yorkshire, sussex, essex, norfolk, suffolk,
devon, dorset, lancashire, wessex, flanders, wallonia, friesland, limburg, zeeland, carinthia, styria, tyrol, punjab,
kerala, gujarat, rajasthan, maharashtra, tamil nadu, west bengal, silesia, transylvania, siberia, crimea, scania
"""
_REGIONS = frozenset(" ".join(_STATES.split()).split(", "))
_COUNTRIES = frozenset(_SINGLE.split()) | frozenset(" ".join(_SEVERAL.split()).split(", "))


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
        if name in _COUNTRIES or name in _REGIONS:
            return COUNTRY if name in _COUNTRIES else REGION
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
    return any(not word[0].islower() for word in words) or not _all_common(words)


def _head(value: str) -> str:
    """Return the words before any addition such as "in Oslo" or "which ..."."""
    return re.split(_ASIDE, value.strip(), maxsplit=1)[0]


def _all_common(words: list[str]) -> bool:
    """Return whether all words are common ones, so that even a lower-case value is not a name."""
    from clawmem.model.language.common_words import COMMON_WORDS  # few values are written small

    return all(word in COMMON_WORDS for word in words)
