"""Classify changes: the end or replacement of a job, partner, possession, tool or plan."""

from __future__ import annotations

import re

from clawmem.learning.english import grammar as g
from clawmem.learning.english.words import OCCUPATION, VAGUE
from clawmem.learning.rules.shapes.shape import ClauseShape

_FIRM = r"(?P<what>[A-Z][\w&.'-]*(?: [A-Z][\w&.'-]*){0,3})"
_TOOL = r"(?P<what>[A-Z][\w.+#-]*(?: [A-Z\d][\w.+#-]*)?)(?= (?:for|because|in favou?r of|entirely|completely|as)\b|$)"
_MINE = r"(?:my|our|the) (?P<what>[\w -]{2,40}?)(?= (?:to|for|because|in|at|after|and|last)\b|,|$)"
_GROUP = r"(?:choir|band|club|team|group|party|board|council|union|society|committee|orchestra|league|gym|church)"
_PASTIME = (
    r"(?P<what>piano|guitar|violin|drums?|cello|flute|clarinet|saxophone|trumpet|banjo|harp|ukulele|tennis|golf|"
    r"soccer|football|rugby|cricket|squash|chess|running|swimming|cycling|climbing|painting|smoking|drinking)"
)

_NEW_POST = re.compile(r"(?:an? |my |the )?(?:[\w-]+ ){0,3}(?:job|position|role) (?:at|with) " + _FIRM)
_UP_WITH = re.compile(r"(?:up|it off|things off) with (?:my (?:boyfriend|girlfriend|partner),? )?" + _FIRM)
_GIVEN_UP = re.compile(r"up (?:on )?(?:the |my |playing (?:the )?|doing )?" + _PASTIME + r"\b")
_LEFT_GROUP = re.compile(
    r"(?:the|my|our) (?P<what>(?:[\w'-]+ ){0,3}" + _GROUP + r")(?=,|$| (?:in|because|after|for)\b)"
)

# By lemma: what follows the verb, the predicate, and whether the news ends it (else it gives the new value).
_RULES: dict[str, tuple[tuple[re.Pattern[str], str, bool], ...]] = {
    "get": (
        (_NEW_POST, "works_at", False),
        (re.compile(r"(?P<what>divorced|married|separated)(?! to\b)"), "marital_status", False),
        (re.compile(r"married to (?P<what>[A-Z]\w+)"), "spouse", False),
        (re.compile(r"engaged to (?P<what>[A-Z]\w+)"), "partner", False),
        (re.compile(r"promoted to (?P<what>(?:an? )?\w[\w -]+)"), "job", False),
        (re.compile(r"rid of " + _TOOL), "uses", True),
        (re.compile(r"rid of " + _MINE), "owns", True),
    ),
    "start": (
        (re.compile(r"(?:work(?:ing)?|an? (?:new )?job) (?:at|for|with) " + _FIRM), "works_at", False),
        (re.compile(r"at (?!\S*(?: \S+)? (?:University|College|School|Academy)\b)" + _FIRM + r"$"), "works_at", False),
    ),
    "resign": ((re.compile(r"from (?:my (?:job|position|role) (?:at|with) )?" + _FIRM), "works_at", True),),
    "sell": ((re.compile(_MINE), "owns", True),),
    "give": ((_GIVEN_UP, "hobby", True),),
    "break": ((_UP_WITH, "partner", True),),
    "leave": ((_LEFT_GROUP, "member_of", True),),
    "drop": ((re.compile(_TOOL), "uses", True),),
    "remove": ((re.compile(_TOOL), "uses", True),),
}


_SWITCHED = re.compile(
    r"(?:over )?(?:(?:\w+ )?from (?P<old>.+?) )?to (?P<new>.+?)(?: from (?P<was>[\w.+#-]+(?: [\w.+#-]+)?))?$"
)


_SWITCHED_IN = re.compile(
    r"(?:my|our|the) (?P<what>(?!job|jobs|subject|topic)[\w.-]+(?: [\w.-]+){0,3}?) (?:over |back )?"
    r"(?:from (?P<old>[\w.+#-]+(?: [\w.+#-]+){0,2}) )?to (?P<new>[A-Z][\w.+#-]*(?: (?:v?\d[\w.]*|[A-Z][\w.+#-]*))*)$"
)


_STOPPED = {
    "using": "uses", "working": "works_at", "living": "lives_in", "taking": "takes", "dating": "partner",
    "seeing": None, "studying": "studies", "learning": "studies", "eating": None, "drinking": None, "going": None,
}  # fmt: skip


_SET_UP = re.compile(
    r"up (?:my|our|the) [\w. -]{3,40} (?:with|using|to use) (?P<what>[A-Z][\w.+#-]*(?: v?\d[\w.]*)?.*)"
)


def classify_change(reading: g.ParsedClause, rest: str) -> ClauseShape | None:
    """Classify the change that a past verb states, or return None."""
    lemma = reading.lemma
    if lemma in _WHOLE:
        return _WHOLE[lemma](rest)
    stopped = _stopped(lemma, rest)
    if stopped or reading.person not in (g.SELF, g.WE, g.MINE) or reading.negated:
        return stopped
    if lemma in ("drop", "remove") and reading.person != g.WE:
        return None
    for pattern, predicate, ended in _RULES.get(lemma, ()):
        found = pattern.match(rest)
        if found and not VAGUE.match(found["what"]):
            return ClauseShape("milestone", predicate, found["what"].strip(), 0.7, 0.8, ended=ended)
    return None


def is_switch(lemma: str, rest: str) -> bool:
    """Return whether the verb says that one thing replaced another."""
    moved = lemma in ("move", "port") and (found := _SWITCHED_IN.match(rest)) is not None and bool(found["old"])
    return moved or lemma in ("switch", "migrate", "convert", "change") or _upgraded(lemma, rest)


def _upgraded(lemma: str, rest: str) -> bool:
    return lemma == "upgrade" and rest.startswith("from ")


def _replaced(rest: str) -> ClauseShape | None:
    """`Pulumi with Terraform`: the named thing after `with` is in use instead of the one before."""
    found = re.match(r"(?:my |our |the )?(?P<old>.{2,60}?) (?:with|by) (?P<new>[A-Z\d].+)", rest)
    return ClauseShape("decision", "uses", found["new"], 0.7, 0.8, former=found["old"]) if found else None


def _cancelled(rest: str) -> ClauseShape | None:
    """A plan that was given up, as the plan it ends."""
    found = re.match(r"(?:my|our|the) plans? (?:to|for|of) (?P<what>\w+ .+)", rest)
    return ClauseShape("plan", "plans_to", found["what"], 0.6, 0.8, ended=True) if found else None


def classify_switch(rest: str) -> ClauseShape | None:
    """Classify what is used now, with the former value if the clause names it."""
    found = _SWITCHED.match(rest)
    if not found:
        return _switched_in(rest)
    if VAGUE.match(found["new"]):
        return None
    new = re.split(r"[,.]| (?:because|since|as|for|in|on) ", found["new"])[0]
    return ClauseShape("decision", "uses", new, 0.7, 0.8, former=found["old"] or found["was"])


def _switched_in(rest: str) -> ClauseShape | None:
    """`the billing service to MySQL`: what is in use there now, instead of what was."""
    found = _SWITCHED_IN.match(re.split(r",| (?:because|since|as|last|this|yesterday|today)\b", rest)[0])
    if not found:
        return None
    what = found["what"]
    return ClauseShape("decision", "uses", f"{found['new']} for the {what}", 0.7, 0.8, former=found["old"], scope=what)


def _stopped(lemma: str, rest: str) -> ClauseShape | None:
    stopped = re.match(r"(\w+ing) (.+)", rest)
    if lemma in ("leave", "quit") and re.match(r"my (?:[\w-]+ ){0,2}job\b(?! (?:at|with))", rest):
        return ClauseShape("milestone", None, f"{lemma} {rest}", 0.7, 0.8)
    job = re.match(r"(?:my (?:old |previous )?job (?:at|with) |working (?:at|for) |(?=[A-Z]))(.+)", rest)
    if lemma in ("quit", "leave") and job and not (stopped and stopped[1] != "working"):
        name = re.split(r"[,.]| (?:to|because|and|as|in|for|after|since|with) ", job[1])[0]
        return ClauseShape("milestone", "works_at", name, 0.7, 0.8, ended=True)
    if lemma in ("quit", "stop") and stopped and not VAGUE.match(stopped[2]):
        what = re.sub(r"^(?:at|for|in) ", "", stopped[2]) if stopped[1] in ("working", "living") else stopped[2]
        return ClauseShape("milestone", _STOPPED.get(stopped[1], "hobby"), what, 0.6, 0.75, ended=True)
    if lemma == "quit" and re.match(r"(?:my job|smoking|drinking|school|college)", rest):
        return ClauseShape("milestone", None, f"quit {rest}", 0.7, 0.8)
    return None


def _set_up(rest: str) -> ClauseShape | None:
    """`set up my project with Flask 3`: what is in use there."""
    found = _SET_UP.match(rest)
    return ClauseShape("status", "uses", found["what"], 0.55, 0.75) if found else None


def _became(rest: str) -> ClauseShape | None:
    found = re.match(r"(?:an? |the )(?P<what>[\w -]{3,40}?)(?= (?:at|in|for|of|with|after|when)\b|,|$)", rest)
    return (
        ClauseShape("milestone", "job", found["what"], 0.7, 0.8) if found and OCCUPATION.search(found["what"]) else None
    )


_WHOLE = {"become": _became, "replace": _replaced, "cancel": _cancelled, "set": _set_up}
_INSTEAD = re.compile(r"(?P<new>.+?) (?:instead of|rather than|in place of) (?P<old>.+)")


def with_replaced(rest: str, shape: ClauseShape | None) -> ClauseShape | None:
    """Return the shape with the value that it replaces, if the clause names it."""
    found = _INSTEAD.match(rest)
    if not shape or not found or shape.predicate != "uses":
        return shape
    return shape._replace(object=found["new"], former=re.split(r" (?:for|because|since|now)\b", found["old"])[0])
