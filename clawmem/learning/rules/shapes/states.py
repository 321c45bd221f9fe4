"""Classify states and possessions."""

from __future__ import annotations

import re

from clawmem.learning.english import grammar as g
from clawmem.learning.english import verbs
from clawmem.learning.english.words import (
    APPOINTMENT,
    IDENTITY,
    ILLNESS,
    LASTING,
    OCCUPATION,
    POSSESSION,
    RELATION_OF,
    VAGUE,
)
from clawmem.learning.rules.shapes.shape import ClauseContext, ClauseShape

_AGE = re.compile(r"(?:turning |about to turn )?(\d{1,3})(?: years? old| yrs? old)?[.!]?$")
_FROM = re.compile(r"(?:originally |all the way )?from ([A-Z][\w .,'-]*|(?:a|the) (?:small|tiny|big) \w+.*)")
_BORN = re.compile(r"born (?:and raised )?(in|on) (?:the )?(.+)")
_RAISED = re.compile(r"raised in (.+)")
_ALLERGIC = re.compile(r"(?:\w+ )?(?:allergic|intolerant) to (.+)")
_BASED = re.compile(r"(?:based|located|living|stationed) (?:in|at|out of|near) (.+)")
_ZONE = re.compile(r"(?:usually |always )?on ((?:[A-Z][a-z]+ )+(?:standard |daylight )?time|UTC[+-]?\d*|[A-Z]{2,4}T)")
_MARRIED_TO = re.compile(r"(?:happily )?(married|engaged) to (.+)")
_FOND = re.compile(
    r"(?:really |very |super |so |also |huge |a (?:huge |big |massive |total )?)*"
    r"(?:into|fond of|fan of|fans of|passionate about|keen on|crazy about|obsessed with|hooked on|"
    r"interested in|addicted to) (.+)"
)
_AFRAID = re.compile(r"(?:really |very |so |terribly )?(?:afraid|scared|terrified) of (.+)")
_FLUENT = re.compile(r"fluent in (.+)")
_TURNED = re.compile(
    r"(?:recently |just |finally |also |officially )*(?P<what>diagnosed with|promoted|hired|fired|laid off|"
    r"accepted|elected|"
    r"nominated|awarded|selected|chosen|appointed|drafted|enrolled|invited to|certified|admitted|transferred|"
    r"married)\b(?P<of>.*)"
)


def classify_state(reading: g.ParsedClause, setting: ClauseContext) -> ClauseShape | None:
    """Classify a clause with "be"."""
    rest = reading.rest.rstrip(" .!,")
    named = _introduction(rest, reading, setting)
    if named:
        return named
    for rule in (_born_or_from, _lasting_state, _tastes):
        shape = rule(rest, reading)
        if shape:
            return shape if not reading.past or shape.category in ("milestone", "health") else _was(shape)
    turned = _TURNED.match(rest)
    if turned and not reading.negated and (reading.past or reading.aspect == g.BEEN or turned["what"] != "married"):
        return _turn(turned)
    return None if reading.negated else _is_a(rest, reading)


_INTRODUCED = re.compile(r"(?P<name>[A-Z][a-z]+(?: [A-Z][a-z]+)?)(?P<as>, (?:an?|the) .+)?$")
_PEOPLES = (
    "ish",
    "ese",
    "ian",
    "an",
    "ch",
    "ani",
    "aqi",
    "ali",
    "eek",
    "wiss",
    "hai",
    "utch",
    "ew",
    "uslim",
    "indu",
    "ist",
)


def _introduction(rest: str, reading: g.ParsedClause, setting: ClauseContext) -> ClauseShape | None:
    """`I'm Priya` or `I'm Priya, a nurse`, said by somebody who is not known by name yet."""
    found = _INTRODUCED.match(rest)
    if not found or reading.person != g.SELF or reading.past or reading.negated or reading.aspect != g.BE:
        return None
    if not setting.chat or (found["name"].endswith(_PEOPLES) and not found["as"]):
        return None
    return ClauseShape("identity", "name", found["name"], 0.85, 0.85)


def _was(shape: ClauseShape) -> ClauseShape | None:
    """A state that is over: worth knowing, but not the standing value of a predicate."""
    return shape._replace(predicate=shape.predicate if shape.predicate in ("from", "born_in", "birthday") else None)


def _turn(turned: re.Match[str]) -> ClauseShape:
    firm = re.match(
        r" (?:from|by) (?:my (?:job|position) (?:at|with) )?([A-Z][\w&.'-]*(?: [A-Z][\w&.'-]*)*)", turned["of"]
    )
    if turned["what"] in ("laid off", "fired") and firm:
        return ClauseShape("milestone", "works_at", firm[1], 0.75, 0.85, ended=True)
    if turned["what"] == "promoted" and (post := re.match(r" to (?:be )?((?:an? |the )?\w[\w -]+)", turned["of"])):
        return ClauseShape("milestone", "job", post[1], 0.7, 0.8)
    if turned["what"] == "diagnosed with":
        return ClauseShape("health", "health", turned["of"].strip(), 0.9, 0.85)
    return ClauseShape("milestone", None, (turned["what"] + turned["of"]).strip(), 0.65, 0.8)


def _born_or_from(rest: str, reading: g.ParsedClause) -> ClauseShape | None:
    born, raised, origin = _BORN.match(rest), _RAISED.match(rest), _FROM.match(rest)
    if born:
        return ClauseShape(
            "milestone", "born_in" if born[1] == "in" and not born[2][:1].isdigit() else "birthday", born[2], 0.8, 0.9
        )
    if raised or origin:
        return ClauseShape("identity", "from", (raised or origin)[1], 0.8, 0.85)  # type: ignore[index]
    age = _AGE.match(rest)
    if age and reading.person != g.WE and ("old" in rest or reading.person == g.SELF) and 1 <= int(age[1]) <= 120:
        return ClauseShape("identity", "age", age[1], 0.7, 0.9)
    return None


def _lasting_state(rest: str, reading: g.ParsedClause) -> ClauseShape | None:
    allergic, married, based = _ALLERGIC.match(rest), _MARRIED_TO.match(rest), _BASED.match(rest)
    if allergic:
        return ClauseShape("health", "allergic_to", allergic[1], 0.9, 0.9, ended=reading.negated)
    if married and not VAGUE.match(married[2]):
        role = "spouse" if married[1] == "married" else "partner"
        return ClauseShape("relationship", role, married[2], 0.8, 0.9, ended=reading.negated)
    if zone := _ZONE.fullmatch(rest):
        return ClauseShape("identity", "timezone", zone[1], 0.65, 0.85, ended=reading.negated)
    if based and not VAGUE.match(based[1]):
        return ClauseShape("status", "lives_in", based[1], 0.8, 0.85, ended=reading.negated)
    lasting = LASTING.match(rest)
    if not lasting or len(rest) - lasting.end() > 40:
        return None
    predicate = {"diet": "diet", "marital": "marital_status", "health": "health", "identity": "identity"}[
        lasting.lastgroup or ""
    ]
    if lasting.lastgroup == "health":
        return ClauseShape("health", "health", rest, 0.9, 0.85)
    return ClauseShape(
        "identity" if predicate != "diet" else "preference", predicate, rest, 0.8, 0.85, ended=reading.negated
    )


def _tastes(rest: str, reading: g.ParsedClause) -> ClauseShape | None:
    fond, afraid, fluent = _FOND.match(rest), _AFRAID.match(rest), _FLUENT.match(rest)
    if fluent:
        return ClauseShape("identity", "speaks", fluent[1], 0.7, 0.9)
    if afraid and not VAGUE.match(afraid[1]):
        return ClauseShape("preference", "afraid_of", afraid[1], 0.6, 0.8)
    if fond and not VAGUE.match(fond[1]):
        return ClauseShape("preference", "dislikes" if reading.negated else "likes", fond[1], 0.5, 0.8)
    return None


_IS_A = re.compile(
    r"(?:also |still |now |actually |currently )*(?:working as |training as )?"
    r"(?:an?|the|one of the|part of|[A-Z][\w'-]+'s) ?(.*)"
)
_PASSING_NOUN = re.compile(
    r"(?:an?|the) (?:bit|little|lot|mess|wreck|ton|blast|joy|pleasure|challenge|step|reminder|way|"
    r"great (?:way|time|feeling)|"
    r"huge (?:step|help|relief)|big (?:step|help|relief|deal)|real|total|dream come true|good|nice|lucky|"
    r"sucker|few)\b"
)


def _is_a(rest: str, reading: g.ParsedClause) -> ClauseShape | None:
    matched = _IS_A.match(rest)
    if not matched or _PASSING_NOUN.match(rest) or len(rest.split()) > 25:
        return None
    head = " ".join(
        re.split(r"[,(]| (?:who|which|that|and|but|so|because|when|for|at|in|with|from|on|to) ", rest)[0].split()[:7]
    )
    if OCCUPATION.search(head):
        current = not reading.past and reading.aspect == g.BE
        return ClauseShape("identity", "job" if current else None, rest, 0.75, 0.8)
    if IDENTITY.search(head):
        return ClauseShape("identity", "identity" if not reading.past else None, rest, 0.7, 0.75)
    if rest.startswith("part of ") and not VAGUE.match(matched[1]):
        return ClauseShape("status", "member_of", rest[8:], 0.6, 0.75)
    return None


_COUNTED = re.compile(
    r"(?:got )?(?:an?|one|two|three|four|five|six|seven|eight|nine|ten|\d{1,2}|twin|some|several|many|"
    r"a couple of|a few) "
    r"(?:\w+[ -]){0,2}?(?P<noun>[a-zé]+)\b"
)
_CALLED = re.compile(r"(?:named|called|name is|,) ([A-Z][\w'-]+(?:(?:,? and |, | & )[A-Z][\w'-]+)*)")


_YOUNG = re.compile(r"an? [\w-]+[- ](?:year|month|week)s?[- ]old(?: (?:named|called) [A-Z]\w+)?$")


def classify_possession(reading: g.ParsedClause, setting: ClauseContext) -> ClauseShape | None:
    """Classify a clause with "have"."""
    rest = reading.rest.rstrip(" .!,")
    counted = _COUNTED.match(rest)
    if _YOUNG.match(rest) and not reading.past:
        return ClauseShape("relationship", "child", rest, 0.75, 0.85)
    if counted and counted["noun"] in RELATION_OF and not reading.past:
        predicate = RELATION_OF[counted["noun"]]
        if predicate != "friend" or _CALLED.search(rest):
            return ClauseShape("relationship", predicate, rest, 0.75, 0.85)
    if re.match(r"(?:never had|no) ", rest):
        return None
    if "deadline" in rest and setting.dated:
        due = re.search(r"deadline (?:of|on|for|by|set for) (.+)", rest)
        return ClauseShape("fact", "deadline", due[1] if due else rest, 0.7, 0.8)
    if APPOINTMENT.search(re.split(r" (?:in|at|with|for|on|to|of|during|that|and) ", rest)[0]) and setting.dated:
        return ClauseShape("event", None, rest, 0.55, 0.75)
    if reading.past and reading.aspect == verbs.PAST:
        met = re.match(
            r"(?:an?|my|our) (?:\w+ ){0,2}(?:chat|talk|conversation|meeting|call|lunch|dinner|coffee|"
            r"encounter|session|lesson) with ",
            rest,
        )
        return ClauseShape("event", None, f"had {rest}", 0.45, 0.7) if met and setting.specific else None
    if POSSESSION.search(rest) and len(rest.split()) <= 25:
        return _owns(rest)
    return None


def _owns(rest: str) -> ClauseShape:
    if re.search(r"\ballerg", rest):
        return ClauseShape("health", "allergic_to", re.sub(r".*?allerg\w+ (?:to )?", "", rest) or rest, 0.9, 0.85)
    if ILLNESS.search(rest):
        return ClauseShape("health", "health", rest, 0.9, 0.85)
    if re.search(r"\b(?:degree|master's|bachelor's|phd|certificate|certification|diploma)\b", rest, re.I):
        return ClauseShape("identity", "degree", rest, 0.7, 0.8)
    if re.search(r"\b(?:girlfriend|boyfriend|partner)\b", rest):
        return ClauseShape("relationship", "partner", rest, 0.75, 0.8)
    if re.search(r"\b(?:passion for|soft spot for|love for|fascination with)\b", rest):
        return ClauseShape(
            "preference", "likes", re.sub(r".*?(?:passion|soft spot|love|fascination) for ", "", rest), 0.5, 0.75
        )
    owned = re.search(
        r"\b(?:house|apartment|condo|cabin|car|truck|motorcycle|bike|boat|van|piano|guitar|violin|collection)\b", rest
    )
    return ClauseShape("status", "owns" if owned else None, rest, 0.5, 0.7)
