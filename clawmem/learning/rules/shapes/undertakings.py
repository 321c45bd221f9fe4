"""Classify current activities ("I am learning Portuguese")."""

from __future__ import annotations

import re

from clawmem.learning.english import grammar as g
from clawmem.learning.english import verbs
from clawmem.learning.english.words import (
    BORING,
    VAGUE,
)
from clawmem.learning.rules.shapes.changes import with_replaced
from clawmem.learning.rules.shapes.habits import WORKING, classify_work
from clawmem.learning.rules.shapes.shape import COMPLETE, ClauseContext, ClauseShape

_ONLY_WITH = {
    "have": r"an? (?:\w+ ){0,4}(?:baby|show|party|wedding|surgery|exhibition|event|meeting|interview|concert|"
    r"recital|reunion)\b",
    "hope": r"to (?!hear|see|get|have|be|make|keep|do|it|stay)\w+ \w+",
    "take": r"(?:\w+ ){0,4}(?:class(?:es)?|courses?|lessons?|medication|insulin|workshop|break from|time off|"
    r"care of my)\b",
    "get": r"(?:married|divorced|certified|promoted|into \w+|ready for (?:a|the|my)|back into \w+|"
    r"a (?:\w+ ){0,2}(?:dog|puppy|cat|kitten))\b",
    "look": r"(?:for an? (?:\w+ ){0,3}(?:job|apartment|house|place|roommate|home|position|school|car|dog)|"
    r"into (?!it|that|this|ways?|how))",
    "try": r"to (?:learn|save|quit|lose|get (?:into|pregnant|healthier)|start|build|find an?|become|eat|"
    r"reduce|cut|make healthier|exercise|stop|run|sell|buy|adopt|publish|improve my)\b",
    "work": r"(?:on (?!it|that|this|me|myself|some(?: \w+)? stuff|things)|at |as |with |for |toward|part|full|"
    r"remotely)",
    "make": r"(?:an? \w+|my own|our own|music)\b.*",
    "start": r"(?!from scratch|to (?:feel|get|see|think|realize|notice|understand|lose|have)|getting|thinking|"
    r"feeling|seeing|having|off|over|out|being)\w+",
    "put": r"together ",
    "think": r"(?:about|of) (?!it\b|that\b|this\b|what|how)\w+ing \w+",
    "go": r"to (?:therapy|school|college|counseling|law school|med school|physical)|through (?:a |"
    r"my )?(?:divorce|separation|chemo)",
    "do": r"(?:an? (?:\w+ ){0,3}(?:course|internship|degree|phd|residency|class)|yoga|kickboxing|karate|"
    r"crossfit|pilates|ballet|taekwondo|"
    r"(?:\w+ )?(?:yoga|training|therapy|volunteer work|research on))\b",
    "run": r"(?:for |an? |my |farther|longer|every)\w*",
    "save": r"(?:up |money )?(?:up )?(?:for|to) ",
    "read": r"(?:\"|'|[A-Z]|(?:an? |the |some )?(?:\w+ ){0,2}(?:book|novel|series|biography) (?:about|on|by|"
    r"called|named))",
    "expect": r"(?:an? (?:baby|child|boy|girl)|our|my|twins)",
    "use": r"(?:\w+ ){0,3}(?:[A-Z]\w+|\w*\d)",
    "play": r"(?!with|around|along)[\"\w]+",
    "care": r"for ",
    "focus": r"on (?!the (?:positive|moment|present|good|future|journey)|it|that|this|myself|me\b)",
    "move": r"(?:to|into|in with|out of|back to) ",
    "test": r"(?:\w+ ){0,4}(?:[A-Z]\w+)",
    "major": r"in ",
    "minor": r"in ",
    "aim": r"(?:for|to) ",
    "do it": r"$",
    "finish": r"(?:up )?(?:my|the|a) ",
    "pay": r"(?:off |\$|\d|rent)",
    "date": r"(?:an?|my|someone|[A-Z])",
    "manage": r"(?:an?|the|my) ",
    "create": r"(?:an?|my|our) ",
    "build": r"(?:an?|my|our) ",
    "write": r"(?:an?|my|our|about|songs|poetry|"
    r"articles|poems|stories) ?",
}
_NOW = {
    "work": "works_on",
    "study": "studies",
    "learn": "studies",
    "build": "works_on",
    "develop": "works_on",
    "write": "works_on",
    "live": "lives_in",
    "use": "uses",
    "date": "partner",
    "plan": "plans_to",
    "volunteer": "member_of",
    "move": "plans_to",
}
_LEAST_AGO = re.compile(r"\b(?:since|for (?:\w+ ){0,3}(?:years?|months|decades)|\w+ years now)\b")


# What is under way for an hour when it is told to an assistant.
_TASKS = frozenset(
    "try look consider explore research focus prepare test do "
    "make implement integrate refactor think start get put create plan".split()
)
_FINISHING = re.compile(
    r"on (?:finali[sz]|finish|improv|fix|debug|gett|mak|refin|clean|polish|wrapp|complet|understand|test)ing\b"
)


def classify_undertaking(reading: g.ParsedClause, setting: ClauseContext) -> ClauseShape | None:
    """Classify a clause in the present continuous."""
    rest = reading.rest.rstrip(" .!,")
    known = reading.lemma in verbs.UNDERTAKINGS or (reading.lemma in ("hope", "have") and not setting.chat)
    if reading.negated or reading.past or not rest or not known or len(rest.split()) > 30:
        return None
    if reading.lemma == "go" and setting.dated and re.match(r"(?:to|on|for) (?:the |an? |my |[A-Z])", rest):
        return ClauseShape("plan", "plans_to", f"go {rest}", 0.55, 0.75)
    limit = _ONLY_WITH.get(reading.lemma)
    if limit and not re.match(limit, rest):
        return None
    if re.search(r"\b(?:something|anything|whatever|stuff|things)\b", " ".join(rest.split()[:8])):
        return None
    if reading.lemma == "plan":
        return _plan_of(rest, setting)
    if setting.chat and reading.lemma in _TASKS and not setting.dated:
        return None
    if reading.lemma == "work":
        return None if setting.chat and _FINISHING.match(rest) else classify_work(rest)
    predicate = _NOW.get(reading.lemma)
    if predicate in ("lives_in", "member_of"):
        shape = WORKING[reading.lemma](rest)
        return shape if shape else None
    return with_replaced(
        rest, ClauseShape("status" if predicate != "plans_to" else "plan", predicate, rest, 0.55, 0.75)
    )


def _plan_of(rest: str, setting: ClauseContext) -> ClauseShape | None:
    planned = re.match(r"(?:to |on |for )?(.+)", rest)
    lemma = re.match(r"(?:to|on) (\w+)", rest)
    if not planned or VAGUE.match(planned[1]) or (setting.chat and lemma and not setting.dated):
        return None
    if lemma and (verbs.lemma_as(lemma[1], verbs.ING) or lemma[1]) in verbs.IDLE:
        return None
    return ClauseShape("plan", "plans_to", planned[1], 0.55, 0.75)


_HOW_LONG = re.compile(
    r"\b(?:ever )?since\b.*|\bfor (?:\w+ ){0,3}(?:years?|months?|weeks?|decades).*|\b\w+ years now.*"
)
_SINCE_WE_TALKED = re.compile(r"since (?:we|I|our) (?:last|started talking)")


def classify_ongoing(reading: g.ParsedClause, setting: ClauseContext) -> ClauseShape | None:
    """Classify `I've been painting since 2016` and other activities that began in the past."""
    if reading.never or reading.negated or _SINCE_WE_TALKED.search(reading.rest):
        return None
    what = _HOW_LONG.sub("", reading.rest).strip(" .!,")
    if BORING.match(what) and reading.lemma not in COMPLETE:
        return None
    if _LEAST_AGO.search(reading.rest) and reading.lemma in (verbs.UNDERTAKINGS | verbs.HABITS) - verbs.IDLE:
        return ClauseShape("status", None, f"{reading.lemma} {reading.rest}".rstrip(" .!,"), 0.6, 0.8)
    shape = classify_undertaking(reading._replace(past=False), setting)
    return shape._replace(predicate=shape.predicate if shape.predicate != "plans_to" else None) if shape else None
