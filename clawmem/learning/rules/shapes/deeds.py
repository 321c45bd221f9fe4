"""Classify past actions: milestones, events, decisions, lessons."""

from __future__ import annotations

import re

from clawmem.learning.english import grammar as g
from clawmem.learning.english import verbs
from clawmem.learning.english.words import (
    BORING,
    ON_THE_TABLE,
    VAGUE,
)
from clawmem.learning.rules.shapes.changes import classify_change, classify_switch, is_switch
from clawmem.learning.rules.shapes.habits import classify_preference
from clawmem.learning.rules.shapes.shape import ClauseContext, ClauseShape
from clawmem.learning.rules.shapes.states import classify_possession

_STRONG_ONLY_WITH = {
    "start": r"(?!from scratch|to (?:feel|get|see|think|realize|notice|understand|lose)|getting|thinking|"
    r"feeling|seeing|having|off|over|out|being|realizing)(?:\w+)",
    "begin": r"(?!to (?:feel|get|see|think|realize)|getting|thinking|feeling|seeing)\w+",
    "learn": r"(?:to (?!love|appreciate|accept|cope)|how to|that (?!the hard way)|about [A-Z]|[A-Z]|\w+ing\b)",
    "lose": r"(?:my|our|the|\d|a) (?!\w*\s*(?:keys|wallet|phone|mind|way|temper|track|hope|motivation|focus|"
    r"cool|balance|marbles))",
    "break": r"(?:my|our|a|the|his|her) (?!\w*\s*(?:heart|mold|record|ice|rules))|up with",
    "pass": r"(?:my|the|an?) ",
    "sign": r"(?:up|with|a|the|for|on|off)",
    "open": r"(?:an?|my|our|the) ",
    "close": r"(?:on |my |our |the (?:deal|shop|store))",
    "move": r"(?:to|into|in with|out|back|from|here|away) ?",
    "decide": r"(?:to|on|against|that|we|not to) ",
    "choose": r"(?:to |an? |the |[A-Z])",
    "make": r"(?:an?|my|some) ",
    "build": r"(?:an?|my|our|some|the) ",
    "write": r"(?:an?|my|our|some|about|\d|"
    r"two|three) ?",
    "create": r"(?:an?|my|our|some) ",
    "design": r"(?:an?|my|our|the) ",
    "grow": r"up (?:in|on|near|with|as)|(?:my|our|some) ",
    "receive": r"(?:an?|my|our|the|\d) ",
    "win": r"(?:an?|the|our|my|first|second|third|\d|[A-Z])",
    "discover": r"(?:an?|my|the|that|[A-Z]|\w+ing\b) ?",
    "find": r"(?:an?|my|our) (?:new |great |perfect |"
    r"really )*(?:job|house|apartment|home|place|roommate|church|therapist|doctor)",
    "land": r"(?:an?|the|my) ",
    "beat": r"(?:my|the|our|cancer)",
    "score": r"(?:\d|an?|the|my)",
    "run": r"(?:an?|the|my|\d)",
    "fail": r"(?:my|the|an?) ",
    "drop": r"out",
    "accept": r"(?:an?|the|my) ",
    "complete": r"(?:an?|the|my|our|[A-Z]|\w+ing)",
    "finish": r"(?:an?|the|my|"
    r"our|up|[A-Z]|\w+ing|writing|reading) ?",
    "celebrate": r"(?:my|our|an?|the) ",
    "plant": r"\w+",
    "record": r"(?:an?|my|our|some|the) ",
    "display": r"(?:my|our) ",
    "present": r"(?:my|our|an?) ",
    "become": r"(?:an?|friends with|the|vegan|vegetarian|interested in|engaged) ?",
    "teach": r"(?:an?|me to|my|myself|[A-Z]|\d|some (?:kids|students)) ?",
    "earn": r"(?:an?|my|the|\$?\d) ?",
    "release": r"(?:an?|my|our|the|version|v?\d) ?",
    "use": r"$",
    "raise": r"(?:\$?\d|money|funds|awareness|an?) ?",
    "recover": r"from",
    "perform": r"(?:at|in|"
    r"for|an?|my) ",
    "hire": r"(?:an?|[A-Z]|two|three|our) ?",
    "train": r"for|with|in",
    "participate": r"in ",
    "compete": r"in ",
    "settle": r"(?:in|on|down in) ",
    "set": r"up ",
    "attend": r"(?:an?|my|the|[A-Z]|\w+ \w+)",
    "donate": r"(?!to it)",
    "order": r"(?:an?|my|some) ",
    "apply": r"(?:to|for) ",
    "submit": r"(?:my|an?|the|our) ",
    "configure": r".*[A-Z\d]",
    "integrate": r".*[A-Z\d]",
    "implement": r".*[A-Z\d]",
    "install": r"(?:an?|the|my|[A-Z]|\w+ \d)",
    "cancel": r"(?:my|our|the) ",
    "replace": r"(?:my|our|the|"
    r"[A-Z])",
    "test": r"$",
    "organize": r"(?:an?|the|my|our) ",
    "organise": r"(?:an?|the|my|our) ",
    "host": r"(?:an?|the|my|our) ",
    "join": r"(?:an?|the|my|our|[A-Z]|\w+ \w+)",
    "achieve": r"(?:an?|my|our|\d) ",
    "qualify": r"for ",
    "register": r"(?:for|as|my) ?",
    "book": r"(?:an?|my|our|the|tickets|flights?) ?",
    "direct": r"(?:an?|my) ",
    "film": r"(?:an?|my) ",
    "propose": r"to ",
    "immerse": r"$",
}
_GOT = re.compile(
    r"(?:(?:officially |finally )?(?:married|engaged|promoted|hired|fired|divorced|laid off|accepted|"
    r"certified|diagnosed with|licensed|pregnant|rejected)\b|"
    r"(?:an?|my|our|some|two|another) (?:first |new |own |little |cute |adorable |brand new |used |old |"
    r"permanent |full-time |part-time |summer |dream )*(?:\w+ )?"
    r"(?:job|promotion|raise|degree|licen[cs]e|certificat\w+|tattoo|dog|puppy|pup|cat|kitten|pet|car|house|"
    r"apartment|bike|guitar|piano|"
    r"offer|scholarship|internship|gig|role|grant|award|diagnosis|turtles?|necklace|console|camera|book deal|"
    r"contract|sponsorship|deal|visa|passport)\b|"
    r"into (?:an?|[A-Z]|\w+ school|college|grad|law|med)|back from (?!(?:my |the |a )?(?:\w+ )?(?:walk|run|"
    r"work|gym|store|shop)\b)[a-zA-Z ]{4,})"
)
_TAKEN_UP = re.compile(r"up (?!(?:space|time|the|my|his|her|their|an?|room|arms|so)\b)([a-z][\w -]{2,40})")
_TOLD = re.compile(r"(?:to|that|on|against|we) ")


def classify_event(reading: g.ParsedClause, setting: ClauseContext) -> ClauseShape | None:
    """Classify a clause about a past action."""
    rest = reading.rest.rstrip(" .!,")
    lemma = reading.lemma
    if lemma == "have":
        return classify_possession(reading, setting)
    if reading.negated and not reading.never:
        return None
    if reading.never:
        return (
            ClauseShape("status", None, f"never {lemma} {rest}", 0.5, 0.75)
            if setting.chat and len(rest.split()) > 1
            else None
        )
    if lemma in verbs.LIKING and reading.aspect == g.HAVE_DONE and "always" in reading.verb:
        return classify_preference(reading._replace(past=False), rest, setting)
    if lemma == "take" and (begun := _TAKEN_UP.fullmatch(rest)):
        return ClauseShape("preference", "hobby", begun[1], 0.5, 0.8)
    shape = _about_somebody(reading, rest) or classify_change(reading, rest)
    if shape:
        return shape
    if lemma == "get":
        return ClauseShape("milestone", None, f"got {rest}", 0.6, 0.8) if _GOT.match(rest) else None
    if is_switch(lemma, rest):
        return classify_switch(rest)
    shape = _always(reading, rest, setting)
    if shape or not rest or lemma in verbs.IDLE:
        return shape
    return _milestone(reading, rest, setting)


def _about_somebody(reading: g.ParsedClause, rest: str) -> ClauseShape | None:
    """An age reached, a death, a childhood."""
    lemma = reading.lemma
    turned = re.match(r"(\d{1,3})(?: years old)?(?= (?:in|on|last|this) |$)", rest) if lemma == "turn" else None
    if turned:
        return ClauseShape("identity", "age", turned[1], 0.7, 0.85)
    if lemma == "pass" and rest.startswith("away") and reading.person != g.SELF:
        return ClauseShape("relationship", None, "passed away", 0.85, 0.85)
    if lemma == "grow" and re.match(r"up (?:in|near) \S+", rest):
        return ClauseShape("identity", "from", re.sub(r"^up (?:in|near) ", "", rest), 0.7, 0.85)
    return None


def _always(reading: g.ParsedClause, rest: str, setting: ClauseContext) -> ClauseShape | None:
    """Likings and wishes told in the past or perfect that still say who somebody is."""
    if reading.lemma in ("love", "enjoy") and re.match(
        r"(?:reading |watching |playing )?(?:\"|"
        r"[A-Z]\w+ [A-Z])",
        rest,
    ):
        return ClauseShape("preference", "likes", rest, 0.5, 0.75)
    if (
        reading.lemma == "want"
        and "always" in reading.verb
        and re.match(r"to \w+ \w+", rest)
        and not BORING.match(rest[3:])
    ):
        return ClauseShape("goal", "wants", rest.removeprefix("to "), 0.5, 0.75)
    if reading.lemma == "give" and re.match(
        r"an? (?:\w+ ){0,3}(?:presentation|talk|speech|lecture|workshop|"
        r"demo|toast)\b",
        rest,
    ):
        return ClauseShape("event", None, f"gave {rest}", 0.5, 0.75)
    return None


# "the API", "65% after the test run": what it is of is said somewhere else.
_BARE = re.compile(
    r"(?:up |on |off |out )?the [\w-]+(?:,? (?:since|on|in|for) [\w ,-]*\d[\w ,-]*)?$|\d[\d.,]*%?(?= (?:after|"
    r"in|on|by|at|for)\b|$)"
)


# Things that only the talk around them could tell from others of their kind.
_UNNAMED = re.compile(
    r"^(?:up )?(?:all )?the (?!(?:mountain|dish|stair|wood|kid|art|olympic|final|playoff|national|semifinal|outdoor|"
    r"bahama|alp|dolomite)s\b)[a-z]+s(?= (?:to|and|with|together)\b|$)|"
    r"\ban? new (?:team|platform|group|place|project|phase|chapter|journey|adventure|challenge)$|"
    r"^(?:on|off|out) (?:on )?an? (?:\w+ )?(?:trip|journey|adventure)$"
)
_MINOR = frozenset("host raise perform organize organise participate make play hold".split())
_TELLS_ENOUGH = 8  # words


def _milestone(reading: g.ParsedClause, rest: str, setting: ClauseContext) -> ClauseShape | None:
    lemma = reading.lemma
    if len(rest.split()) > 35 or (setting.chat and _BARE.match(rest)) or _UNNAMED.search(rest):
        return None
    if lemma in _MINOR and not setting.specific and len(rest.split()) < _TELLS_ENOUGH:
        return None
    if lemma == "decide" or (lemma == "choose" and setting.chat):
        return _decided(rest)
    if lemma == "learn" and re.match(r"(?:that|the hard way that) (?!the hard way)\w+ \w+", rest):
        return ClauseShape("lesson", "learned", rest, 0.65, 0.75)
    if lemma == "move" and re.match(r"(?:back )?(?:to|into) ", rest) and not VAGUE.match(rest):
        return _moved(rest)
    if lemma == "marry" or (lemma == "adopt" and re.search(r"\b(?:dog|cat|puppy|kitten|pup)\b", rest)):
        return ClauseShape("relationship", "spouse" if lemma == "marry" else "pet", rest, 0.75, 0.85)
    if lemma == "join" and re.match(r"(?:an?|the|my|[A-Z])", rest):
        return ClauseShape("milestone", "member_of", rest, 0.6, 0.8)
    limit = _STRONG_ONLY_WITH.get(lemma)
    if lemma in verbs.MILESTONES and (not limit or re.match(limit, rest)):
        if setting.chat and lemma in _TASKS and not setting.specific:
            return None
        return ClauseShape("milestone", _DONE.get(lemma), rest, 0.55, 0.8)
    if setting.chat and lemma in ("try", "see", "find", "get", "manage", "check", "look"):
        return _managed(reading, rest) if lemma == "manage" else None
    pinned = setting.specific or (not setting.chat and lemma not in _NEEDS_PIN and _CONCRETE.match(rest))
    if lemma in verbs.EVENTS and pinned and (not limit or re.match(limit, rest)):
        return ClauseShape("event", None, f"{reading.verb} {rest}", 0.45, 0.7)
    return None


_NEEDS_PIN = frozenset(
    "work get put set do give find see hold lead manage use hit reach show send bring leave "
    "cover increase improve talk speak discuss share "
    "meet call text chat check stay arrive catch pick spend handle support".split()
)
_CONCRETE = re.compile(
    r"(?:(?:to|on|at|in|for|up|with|around|through|along) )?(?:an?|my|our|some|the|two|three|\d+|"
    r"[A-Z]\w+)\b(?: \S+){4,}"
)


def _managed(reading: g.ParsedClause, rest: str) -> ClauseShape | None:
    achieved = re.match(r"to (?:reduce|improve|increase|cut|reach|bring|get|achieve|fix|deploy|migrate) .*\d", rest)
    return ClauseShape("milestone", None, rest, 0.5, 0.75) if achieved else None


_TASKS = frozenset(
    "start begin create build write design implement configure integrate install replace "
    "record receive test "
    "refactor complete finish close open set attend".split()
)
_DONE = {"buy": "owns", "purchase": "owns"}


def _decided(rest: str) -> ClauseShape | None:
    over = re.match(r"(?P<new>[\w.+# -]{2,40}?) (?:over|instead of|rather than) (?P<old>[\w.+# -]{2,60})$", rest)
    if over and not VAGUE.match(rest):
        return ClauseShape("decision", "decided", rest, 0.7, 0.8)
    if re.match(r"(?:to|on|not to|that) (?:it|that|this|go for it|try|the following|take)\b", rest) or not _TOLD.match(
        rest
    ):
        return None
    what = re.match(r"to \w+ (?P<what>the .+)", rest)
    if what and ON_THE_TABLE.match(what["what"]):
        return None
    return ClauseShape("decision", "decided", rest.removeprefix("to "), 0.7, 0.8)


def _moved(rest: str) -> ClauseShape:
    to = re.match(r"(?:back )?(?:to|into) (.+)", rest)
    place = re.split(r"[,.]? (?:from|with|because|for|after|when|and|since|so|as|before|to) ", to[1] if to else rest)[0]
    if re.match(r"(?:[A-Z]|an? (?:new )?(?:city|town|apartment|house|place|home|flat))", place):
        return ClauseShape("milestone", "lives_in", place, 0.75, 0.85)
    return ClauseShape("milestone", None, f"moved {rest}", 0.5, 0.7)
