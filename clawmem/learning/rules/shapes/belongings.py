"""Classify statements about possessions and attributes of the speaker, and about things."""

from __future__ import annotations

import re

from clawmem.learning.english import grammar as g
from clawmem.learning.english import verbs
from clawmem.learning.english.names import is_name
from clawmem.learning.english.words import (
    APPOINTMENT,
    FACT_THINGS,
    RELATION_OF,
    VAGUE,
    WORK_THINGS,
)
from clawmem.learning.rules.shapes.shape import ClauseContext, ClauseShape

_ATTRIBUTE = re.compile(
    r"(?:(?P<favorite>(?:all-time )?favou?rite (?:[\w-]+ ?){1,4})|(?P<name>(?:full |first |last )?name)|"
    r"(?P<birthday>birthday)|"
    r"(?P<job>job|occupation|profession|day job)|(?P<goal>(?:main |biggest |ultimate |next |big )*(?:goal|"
    r"dream|aim|plan|focus))|"
    r"(?P<hometown>hometown|home country)|(?P<pronouns>pronouns)|(?P<timezone>time ?zone)|"
    r"(?P<email>e-?mail(?: address)?)|"
    r"(?P<phone>phone(?: number)?)|(?P<hobby>(?:main |favou?rite )?hobb(?:y|ies))|(?P<deadline>(?:\w+ )?deadline)|"
    r"(?P<budget>(?:\w+ )?budget)|(?P<height>height)|(?P<diet>diet)|(?P<employer>employer|company)|"
    r"(?P<nationality>nationality)|"
    r"(?P<trait>blood (?:type|group)|(?:first|native|second) language|mother tongue|(?:eye|hair) colou?r|shoe size|"
    r"star sign|weight|(?:work|personal|private|home|mobile|cell) (?:e-?mail(?: address)?|phone(?: number)?|address))|"
    r"(?P<thing>car|van|bike|motorbike|truck|laptop|camera|bank|dentist|doctor|gp|therapist|vet|school|university))$",
    re.IGNORECASE,
)
# A thing of one's own is known by its make or its name, and not by how it is doing.
_MAKE = re.compile(r"(?:an? (?:[a-z]+ )?)?(?:\d{4} )?[A-Z]")
_OPINION = re.compile(r"(?:an?|the|so|very|too|really|pretty|quite|always|hard|easy|important|complicated)\b")
_SHORT = 5  # words
_ATTRIBUTE_PREDICATE = {"job": "job", "goal": "wants", "hometown": "from", "employer": "works_at"}


def _owner_words(subject: str) -> str:
    return subject.split(" ", 1)[1] if " " in subject else ""


def is_person(subject: str) -> bool:
    """Return whether a subject is a person."""
    words = _owner_words(subject).lower().split()
    return any(word.strip(",") in RELATION_OF for word in words[:4]) and not subject.endswith(",")


def classify_belonging(reading: g.ParsedClause, setting: ClauseContext) -> ClauseShape | None:
    """Classify a clause about something that belongs to the speaker."""
    owned, rest = _owner_words(reading.subject), reading.rest.rstrip(" .!,")
    attribute = _ATTRIBUTE.match(re.sub(r"^(?:new|current|updated) ", "", owned))
    if attribute and reading.aspect == g.BE and not reading.negated and rest and not VAGUE.match(rest):
        return _attribute(attribute, rest, setting) if not reading.past else None
    named = re.match(r"(?:[\w -]+'s )name$", owned) or re.match(r"(?:[\w-]+ )?name$", owned)
    if named and reading.aspect == g.BE and re.match(r"[A-Z]", rest):
        return ClauseShape("relationship", "name", rest, 0.75, 0.9)
    if reading.lemma == "be" and is_person(reading.subject) and re.match(r"(?:called|named) [A-Z]", rest):
        return ClauseShape("relationship", "name", rest.split(" ", 1)[1], 0.75, 0.9)
    if reading.aspect == g.BE and not reading.past and not reading.negated and _OWN_SUPERIOR.fullmatch(owned):
        bare = re.sub(r" (?:any ?more|any longer)$", "", rest)
        return ClauseShape("relationship", "name", bare, 0.7, 0.85, ended=reading.ended) if is_name(bare) else None
    of_other = _OTHERS.match(owned)
    if of_other and reading.aspect == g.BE and not reading.negated and not reading.past and rest:
        attribute = _ATTRIBUTE.match(of_other["what"])
        return _attribute(attribute, rest, setting) if attribute and not VAGUE.match(rest) else None
    head = _HEAD.match(owned.lower())
    last = head[0].split()[-1] if head else ""
    if APPOINTMENT.fullmatch(last) and (moved := _moved(reading)):
        return moved
    if last in _THINGS or reading.rest.startswith("due "):
        return classify_thing(reading, setting)
    if reading.aspect == g.BE and not reading.past and not reading.negated and setting.dated and _ON_DAY.match(rest):
        return ClauseShape("event", "scheduled_for", rest, 0.6, 0.8) if APPOINTMENT.fullmatch(last) else None
    return None


def _moved(reading: g.ParsedClause) -> ClauseShape | None:
    """The new day of an appointment that was put off or brought forward."""
    found = _MOVED.match(reading.rest) if reading.past and reading.lemma == "be" and not reading.negated else None
    value = reading.rest[found.end() :].rstrip(" .!,") if found else ""
    return ClauseShape("event", "scheduled_for", value, 0.6, 0.8) if value else None


_DUE = re.compile(r"due (?:(?:on|by|at|in) )?(?P<when>(?:the )?(?:[A-Z]|\d).*)")
# Of these one has one at a time.
SUPERIOR = re.compile(r"(?:boss|manager|supervisor|landlord|landlady)$")
_OWN_SUPERIOR = re.compile(rf"(?:(?:new|current|direct|line) )*{SUPERIOR.pattern}")
_HEAD = re.compile(r"[\w' -]+?(?= (?:for|of|to|with|on|in|at) |$)")
_ON_DAY = re.compile(r"(?:on |at |in |scheduled (?:for|on) |set for |due )?\S*\d|(?:on|next|this) ")
_OTHERS = re.compile(r"(?P<who>(?:[\w-]+ ){0,2}(?P<noun>[a-zé]+)(?:,? [A-Z]\w+)?)'s (?P<what>[a-z -]+)$")


def _attribute(attribute: re.Match[str], rest: str, setting: ClauseContext) -> ClauseShape | None:
    kind = attribute.lastgroup or ""
    if kind == "name" and not re.match(r"[A-Z]", rest):
        return None
    if kind == "favorite" and re.search(r"(?:thing|part|one|memory|moment|way|bit|spots?)\b", attribute["favorite"]):
        return None
    if kind == "goal" and ((setting.chat and not setting.dated) or not re.match(r"to \w+ \w+", rest)):
        return None
    if kind in ("job", "employer", "hobby", "diet") and re.match(
        r"(?:so|really|very|pretty|going|great|good|hard|stressful|tough|keeping|awesome)\b", rest
    ):
        return None
    if kind in ("trait", "thing"):
        named = (kind == "trait" and not _OPINION.match(rest)) or (_MAKE.match(rest) and len(rest.split()) <= _SHORT)
        return ClauseShape("identity", None, rest, 0.65, 0.8) if named else None
    category = {"favorite": "preference", "goal": "goal", "hobby": "preference", "diet": "preference"}.get(
        kind, "identity"
    )
    return ClauseShape(category, _ATTRIBUTE_PREDICATE.get(kind, kind), rest, 0.7, 0.85)


_THING_IS = re.compile(
    r"(?:\$?[\d#]|[A-Z\"'`]|an? |the |set (?:to|at|for) |due |on |in |at |by |called |"
    r"named |hosted|deployed|built|written|based|"
    r"running|scheduled|limited|located|moved|pushed|version|v\d|now |currently |around \d|"
    r"about \d|under \d|over \d|up to \d)"
)
_THINGS = FACT_THINGS | WORK_THINGS
_THING_VERBS = {
    "use": "uses",
    "run": "uses",
    "require": "requires",
    "need": "requires",
    "support": None,
    "cost": None,
    "depend": "uses",
    "weigh": None,
    "end": "ends",
    "expire": "ends",
    "start": None,
    "begin": None,
    "close": None,
}


def classify_thing(reading: g.ParsedClause, setting: ClauseContext) -> ClauseShape | None:
    """Classify a clause about a thing."""
    words = reading.subject.lower().split()[1:]
    head = next((bare for word in words if (bare := word.strip(",").removesuffix("'s")) in _THINGS), None)
    rest = reading.rest.rstrip(" .!,")
    if reading.aspect == g.BE and not reading.past and not reading.negated and setting.dated and len(words) <= 5:
        due = _DUE.fullmatch(rest)
        if due:
            return ClauseShape("fact", "deadline", due["when"], 0.7, 0.8)
    last = re.split(r" (?:for|of|in|with|on|at) ", " ".join(words))[0].split()[-1:]
    if not head and last and APPOINTMENT.fullmatch(last[0]) and (moved_to := _moved(reading)):
        return moved_to
    if not head or not rest or VAGUE.match(rest) or reading.negated or len(words) > 7:
        return None
    if (
        reading.aspect == g.BE
        and not reading.past
        and _THING_IS.match(rest)
        and (setting.specific or re.search(r"\d", rest))
    ):
        rest = re.sub(r"^(?:now |currently |set (?:to|at|for) |moved to |pushed to )+", "", rest)
        return ClauseShape("fact", _thing_predicate(words, rest), rest, 0.65, 0.75)
    if reading.aspect == verbs.PRESENT and reading.lemma == "run" and re.match(r"out\b", rest):
        return ClauseShape("fact", "ends", re.sub(r"^out ?", "", rest), 0.65, 0.75) if setting.dated else None
    if reading.aspect == verbs.PRESENT and reading.lemma in _THING_VERBS and setting.specific:
        return ClauseShape("fact", _THING_VERBS[reading.lemma], re.sub(r"^(?:on|to) ", "", rest), 0.6, 0.75)
    if (reading.past or reading.aspect == g.BEEN) and reading.lemma == "be" and (moved := _MOVED.match(rest)):
        return ClauseShape("fact", _thing_predicate(words, rest), rest[moved.end() :], 0.65, 0.75)
    return None


_MOVED = re.compile(
    r"(?:moved|pushed|changed|extended|postponed|delayed|rescheduled|brought|raised|increased|lowered|reduced|cut|"
    r"shortened|bumped|set|capped) (?:back |forward |up |down )?(?:from .+? )?(?:to|at|for|until|till|"
    r"by) (?=\S*[\d$]|.*(?:day|\d))"
)
_AT_TIME = re.compile(
    r"(?:(?:moved|pushed|changed|extended|postponed|delayed|rescheduled|set|brought) .*|(?:on|at|in|every|"
    r"each) .*)(?:\d|day)"
)
_SET_TO = re.compile(r"(?:[A-Z][\w.+#/-]*|v?\d[\w.,]*|[\"'`]\S+[\"'`])(?: [\w.+#%-]+){0,2}$")
_WHEN = frozenset("standup meeting retro review demo sprint milestone call kickoff class rehearsal".split())
_WHAT = frozenset(
    "database hosting framework version port domain branch license threshold timeout target cap maximum minimum "
    "size coverage stack".split()
)


def _thing_predicate(words: list[str], rest: str) -> str | None:
    """What of a thing is told, where it is something of which there is one at a time."""
    joined = " ".join(words)
    for noun, predicate in (
        ("deadline", "deadline"),
        ("launch", "deadline"),
        ("release", "deadline"),
        ("budget", "budget"),
        ("limit", "limit"),
        ("quota", "limit"),
    ):
        if noun in joined:
            return predicate
    last = re.split(r" (?:for|of|in|with|on) ", joined)[0].split()[-1]
    if last in _WHEN and _AT_TIME.match(rest):
        return "scheduled_for"
    if last in _WHAT and _SET_TO.match(rest):
        return "set_to"
    return "uses" if "database" in joined or "stack" in joined else None
