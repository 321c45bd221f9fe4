"""What belongs to the speaker, and facts about things."""

from __future__ import annotations

import re

from clawmem.learning import grammar as g
from clawmem.learning import verbs
from clawmem.learning.shapes.shape import Setting, Shape
from clawmem.learning.words import (
    FACT_THINGS,
    RELATION_OF,
    VAGUE,
    WORK_THINGS,
)

_ATTRIBUTE = re.compile(
    r"(?:(?P<favorite>(?:all-time )?favou?rite (?:[\w-]+ ?){1,4})|(?P<name>(?:full |first |last )?name)|"
    r"(?P<birthday>birthday)|"
    r"(?P<job>job|occupation|profession|day job)|(?P<goal>(?:main |biggest |ultimate |next |big )*(?:goal|"
    r"dream|aim|plan|focus))|"
    r"(?P<hometown>hometown|home country)|(?P<pronouns>pronouns)|(?P<timezone>time ?zone)|"
    r"(?P<email>e-?mail(?: address)?)|"
    r"(?P<phone>phone(?: number)?)|(?P<hobby>(?:main |favou?rite )?hobb(?:y|ies))|(?P<deadline>(?:\w+ )?deadline)|"
    r"(?P<budget>(?:\w+ )?budget)|(?P<height>height)|(?P<diet>diet)|(?P<employer>employer|company)|"
    r"(?P<nationality>nationality))$"
)
_ATTRIBUTE_PREDICATE = {"job": "job", "goal": "wants", "hometown": "from", "employer": "works_at"}


def _owner_words(subject: str) -> str:
    return subject.split(" ", 1)[1] if " " in subject else ""


def is_somebody(subject: str) -> bool:
    words = _owner_words(subject).lower().split()
    return any(word.strip(",") in RELATION_OF for word in words[:4]) and not subject.endswith(",")


def owned(reading: g.Reading, setting: Setting) -> Shape | None:
    owned, rest = _owner_words(reading.subject), reading.rest.rstrip(" .!,")
    attribute = _ATTRIBUTE.match(owned)
    if attribute and reading.aspect == g.BE and not reading.negated and rest and not VAGUE.match(rest):
        return _attribute(attribute, rest, setting) if not reading.past else None
    named = re.match(r"(?:[\w -]+'s )name$", owned) or re.match(r"(?:[\w-]+ )?name$", owned)
    if named and reading.aspect == g.BE and re.match(r"[A-Z]", rest):
        return Shape("relationship", "name", rest, 0.75, 0.9)
    if reading.lemma == "be" and is_somebody(reading.subject) and re.match(r"(?:called|named) [A-Z]", rest):
        return Shape("relationship", "name", rest.split(" ", 1)[1], 0.75, 0.9)
    last = owned.split()[-1].lower() if owned else ""
    if last in WORK_THINGS | FACT_THINGS:
        return thing(reading, setting)
    return None


def _attribute(attribute: re.Match[str], rest: str, setting: Setting) -> Shape | None:
    kind = attribute.lastgroup or ""
    if kind == "name" and not re.match(r"[A-Z]", rest):
        return None
    if kind == "favorite" and re.search(r"(?:thing|part|one|memory|moment|way|bit|spots?)\b", attribute["favorite"]):
        return None
    if kind == "goal" and (setting.chat or not re.match(r"to \w+ \w+", rest)):
        return None
    if kind in ("job", "employer", "hobby", "diet") and re.match(
        r"(?:so|really|very|pretty|going|great|good|hard|stressful|tough|keeping|awesome)\b", rest
    ):
        return None
    category = {"favorite": "preference", "goal": "goal", "hobby": "preference", "diet": "preference"}.get(
        kind, "identity"
    )
    return Shape(category, _ATTRIBUTE_PREDICATE.get(kind, kind), rest, 0.7, 0.85)


_THING_IS = re.compile(
    r"(?:\$?[\d#]|[A-Z\"'`]|an? |the |set (?:to|at|for) |due |on |in |at |by |called |"
    r"named |hosted|deployed|built|written|based|"
    r"running|scheduled|limited|located|moved|pushed|version|v\d|now |currently |around \d|"
    r"about \d|under \d|over \d|up to \d)"
)
_THING_VERBS = {
    "use": "uses",
    "run": "uses",
    "require": "requires",
    "need": "requires",
    "support": None,
    "cost": None,
    "depend": "uses",
    "weigh": None,
}


def thing(reading: g.Reading, setting: Setting) -> Shape | None:
    words = reading.subject.lower().split()[1:]
    head = next((word for word in words if word.strip(",'s") in FACT_THINGS | WORK_THINGS), None)
    rest = reading.rest.rstrip(" .!,")
    if not head or not rest or VAGUE.match(rest) or reading.negated or len(words) > 7:
        return None
    if (
        reading.aspect == g.BE
        and not reading.past
        and _THING_IS.match(rest)
        and (setting.specific or re.search(r"\d", rest))
    ):
        rest = re.sub(r"^(?:now |currently |set (?:to|at|for) |moved to |pushed to )+", "", rest)
        return Shape("fact", _thing_predicate(words), rest, 0.65, 0.75)
    if reading.aspect == verbs.PRESENT and reading.lemma in _THING_VERBS and setting.specific:
        return Shape("fact", _THING_VERBS[reading.lemma], re.sub(r"^(?:on|to) ", "", rest), 0.6, 0.75)
    if (
        reading.aspect == g.BE
        and reading.past
        and re.match(r"(?:moved|pushed|changed|extended|postponed) (?:back )?(?:from .+ )?to ", rest)
    ):
        return Shape("fact", _thing_predicate(words), re.sub(r".*? to ", "", rest), 0.65, 0.75)
    return None


def _thing_predicate(words: list[str]) -> str | None:
    joined = " ".join(words)
    for noun, predicate in (
        ("deadline", "deadline"),
        ("launch", "deadline"),
        ("release date", "deadline"),
        ("budget", "budget"),
        ("limit", "limit"),
        ("quota", "limit"),
        ("database", "uses"),
        ("stack", "uses"),
    ):
        if noun in joined:
            return predicate
    return None
