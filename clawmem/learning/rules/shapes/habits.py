"""Classify habits, preferences and wishes in the present tense."""

from __future__ import annotations

import re
from collections.abc import Callable

from clawmem.learning.english import grammar as g
from clawmem.learning.english import verbs
from clawmem.learning.english.words import (
    BORING,
    FREQUENCY,
    HABITUAL,
    ON_THE_TABLE,
    VAGUE,
)
from clawmem.learning.rules.shapes.changes import with_replaced
from clawmem.learning.rules.shapes.shape import ClauseContext, ClauseShape
from clawmem.learning.rules.shapes.states import classify_possession

_AT = re.compile(r"(?:\w+ing )?(?:full[- ]time |part[- ]time |remotely )?(at|for|with|as|in|on) (.+)")
_NOT_LIKED = re.compile(
    r"(?:to (?:hear|see|know|say|think|talk|chat|share|be|get|try|go|check|learn more|have)\b|hearing|seeing|"
    r"knowing|being able|"
    r"the (?:idea|thought|way|fact|vibes?|energy|view|feeling|look|colou?rs?|design|sound|support|pics?|"
    r"photos?|painting|enthusiasm|"
    r"atmosphere|process|result|connection|sense|rush|thrill|freedom|challenge|moment)|every (?:minute|moment|"
    r"second|bit)|"
    r"spending (?:quality )?time with (?:the|my|our) (?:friends|people|loved ones)|each other|everyone|myself|"
    r"ourselves|when|talking (?:to|with)|chatting|catching up|having you|"
    r"my (?:life|new look)|"
    r"(?:his|her|their|its)\b|both|all of)",
    re.IGNORECASE,
)
_NOT_WANTED = frozenset(
    "know see hear say thank make sure try help show share ask be understand talk tell keep do get give have "
    "let look "
    "check give ensure add implement optimize optimise use handle focus improve avoid include set take spend go put "
    "stay hang confirm verify review test display return fix prevent feel cover reduce".split()
)
_WANT_CHAT = re.compile(r"(?P<what>(?:the|my|our|all|each|every|this) [\w -]{2,40}?) to (?P<do>\w+ .+)")
_THE_LIKED = re.compile(
    r"the (?!outdoors|ocean|beach|mountains?|sea|water|rain|snow|sun|summer|winter|piano|guitar|violin|color|"
    r"colour|smell of|taste of|"
    r"sound of|challenge of|[A-Z]|\w+ (?:of|in|by|from) [A-Z])"
)


def classify_habit(reading: g.ParsedClause, setting: ClauseContext) -> ClauseShape | None:
    """Classify a clause in the present tense."""
    rest = reading.rest.rstrip(" .!,")
    if reading.lemma == "have":
        return classify_possession(reading, setting)
    if reading.lemma in verbs.LIKING:
        return classify_preference(reading, rest, setting)
    if reading.lemma in ("want", "hope", "plan", "intend", "dream", "aim"):
        return _aims(reading, rest, setting)
    if reading.lemma in WORKING and not reading.negated:
        shape = with_replaced(rest, WORKING[reading.lemma](rest))
        if shape:
            return shape
    return _habit(reading, rest, setting)


# "simple tools to keep the app small" says what for, "tea to coffee" what is liked less.
_RATHER = re.compile(
    r" (?:to(?! (?:be|do|have|get|make|keep|ensure|avoid|maintain|reduce|improve|save|help)\b)"
    r"(?! [a-z]+ (?:the|an?|my|our|their|its|full)\b)|over|rather than|instead of|than) "
)


def classify_preference(reading: g.ParsedClause, rest: str, setting: ClauseContext) -> ClauseShape | None:
    """Classify a clause about liking or preferring something."""
    if len(rest) < 3 or rest == "to":
        return None
    if not rest or _NOT_LIKED.match(rest) or _THE_LIKED.match(rest) or (reading.past and reading.aspect == verbs.PAST):
        return None
    if reading.lemma == "like" and re.match(r"to ", rest) and not FREQUENCY.search(rest) and setting.chat:
        return None
    predicate = verbs.LIKING[reading.lemma]
    if reading.negated:
        predicate = {"likes": "dislikes", "dislikes": "likes", "prefers": "dislikes"}[predicate]
    over = _RATHER.search(rest) if predicate == "prefers" else None
    former = rest[over.end() :] if over else None
    return ClauseShape("preference", predicate, rest, 0.7 if predicate == "prefers" else 0.55, 0.8, former=former)


def _aims(reading: g.ParsedClause, rest: str, setting: ClauseContext) -> ClauseShape | None:
    wanted = re.match(
        r"(?:to (?:(?:also|eventually|one day|someday|just|really) )?(\w+)|on (\w+ing)|of (\w+ing))(?: (.+))?$", rest
    )
    planned = reading.lemma in ("plan", "intend")
    if reading.negated or reading.past or not wanted:
        return _requires(rest) if setting.chat and reading.lemma in ("want", "need") else None
    lemma = wanted[1] or verbs.lemma_as(wanted[2] or wanted[3] or "", verbs.ING) or ""
    if (
        lemma in verbs.IDLE
        or (lemma in _NOT_WANTED and (setting.chat or not planned))
        or BORING.match(wanted[4] or "x")
        or VAGUE.match(wanted[4] or ("" if setting.dated else "it"))
        or (reading.lemma in ("want", "hope") and setting.chat)
    ):
        return _requires(rest) if setting.chat else None
    return ClauseShape(
        "plan" if planned else "goal", "plans_to" if planned else "wants", rest.removeprefix("to "), 0.55, 0.7
    )


def _requires(rest: str) -> ClauseShape | None:
    wanted = _WANT_CHAT.match(rest)
    if not wanted or ON_THE_TABLE.match(wanted["what"]) or re.search(r"\b(?:help|code|example)\b", wanted["what"]):
        return None
    return ClauseShape("requirement", "requires", f"{wanted['what']} to {wanted['do']}", 0.6, 0.75)


def classify_work(rest: str) -> ClauseShape | None:
    """Classify the rest of a clause about work."""
    place = _AT.match(rest)
    if not place or VAGUE.match(place[2]) or re.match(r"(?:on (?:my|it)self|out|hard|together)", rest):
        return None
    kind = place[1]
    if kind == "as":
        return ClauseShape("status", "job", place[2], 0.75, 0.85)
    if kind == "on":
        return ClauseShape("status", "works_on", place[2], 0.55, 0.75)
    if kind in ("at", "for") and not re.match(
        r"(?:home|night|the moment|\d|a living|years|me|him|her|them)\b", place[2]
    ):
        return ClauseShape(
            "status",
            "works_at",
            re.split(r"[,.]| (?:as|since|and|but|where|which|in the|for) ", place[2])[0],
            0.8,
            0.85,
        )
    return ClauseShape("status", None, rest, 0.5, 0.7)


def _lives(rest: str) -> ClauseShape | None:
    home = re.match(r"(?:(?:down|up|over|out|right|just) )?(in|near|at|on|with|outside|by) (.+)", rest)
    if not home or VAGUE.match(home[2]) or re.match(r"(?:the moment|peace|fear|the present)", home[2]):
        return None
    return ClauseShape("status", "lives_with" if home[1] == "with" else "lives_in", home[2], 0.8, 0.85)


def _named(
    category: str, predicate: str | None, importance: float, accept: str = r".+"
) -> Callable[[str], ClauseShape | None]:
    pattern = re.compile(accept)

    def rule(rest: str) -> ClauseShape | None:
        found = pattern.match(rest)
        return ClauseShape(category, predicate, found[found.lastindex or 0], importance, 0.8) if found else None

    return rule


WORKING: dict[str, Callable[[str], ClauseShape | None]] = {
    "work": classify_work,
    "live": _lives,
    "study": _named("status", "studies", 0.65),
    "teach": _named("status", None, 0.6),
    "volunteer": _named("status", "member_of", 0.6, r"(?:at|for|with) (.+)"),
    "own": _named("status", "owns", 0.6),
    "speak": _named("identity", "speaks", 0.7, r"((?:\w+ ){0,2}[A-Z]\w+.*)"),
    "collect": _named("preference", "hobby", 0.55),
    "coach": _named("status", None, 0.6),
    "mentor": _named("status", None, 0.6),
    "drive": _named("status", "drives", 0.5, r"((?:an?|my) .+)"),
    "use": _named("status", "uses", 0.55, r"((?:\w+ ){0,3}[A-Z].+|\w+ (?:for|to|as) .+)"),
    "play": _named(
        "preference",
        "hobby",
        0.5,
        r"(?:the )?((?:piano|guitar|violin|drums?|cello|flute|clarinet|"
        r"saxophone|bass|ukulele|"
        r"keyboard|harp|trumpet|soccer|football|basketball|tennis|chess|volleyball|baseball|"
        r"softball|hockey|golf|"
        r"rugby|cricket|badminton|video games|board games|squash|pickleball)\b.*|for .+)",
    ),
    "attend": _named("status", "studied_at", 0.6, r"((?:[A-Z]|\w+ (?:school|college|university)).*)"),
    "take": _named(
        "health",
        "takes",
        0.7,
        r"(.*\b(?:medication|insulin|pills|antihistamines?|inhaler|"
        r"supplements|mg)\b.*)",
    ),
    "sing": _named(
        "preference", "hobby", 0.5, r"((?:[\w-]+ )?(?:in|with) (?:an?|the|my|our) .*\b(?:choir|band|chorus|group)\b.*)"
    ),
    "rent": _named("status", None, 0.55, r"((?:an?|my|our|the) .+)"),
    "wear": _named("health", None, 0.6, r"((?:\w+ )?(?:glasses|contact lenses|contacts|hearing aids?|braces)\b.*)"),
    "weigh": _named("health", None, 0.55, r"((?:about |around )?\d.*)"),
    "get": _named(
        "health", "health", 0.8, r"((?:\w+ )?(?:migraines|headaches|hay fever|panic attacks|nosebleeds)\b.*)"
    ),
    "keep": _named(
        "status", None, 0.5, r"((?:halal|kosher|bees|chickens|hens|goats|sheep|rabbits|ducks|pigeons|horses)\b.*)"
    ),
    "suffer": _named("health", "health", 0.9, r"from (.+)"),
    "run": _named(
        "status",
        None,
        0.55,
        r"((?:an?|my|our|the) (?:\w+ ){0,3}(?:business|shop|store|company|"
        r"blog|channel|podcast|"
        r"studio|bakery|restaurant|cafe|group|club|class|workshop|charity|farm|agency|startup)\b.*)",
    ),
}


def _habit(reading: g.ParsedClause, rest: str, setting: ClauseContext) -> ClauseShape | None:
    if reading.past or reading.lemma not in verbs.HABITS or not rest or (reading.negated and not reading.never):
        return _avoids(reading, rest)
    often = FREQUENCY.search(rest) or HABITUAL.search(reading.verb)
    if not often or len(rest.split()) < 2:
        return None
    return ClauseShape("habit", None, f"{reading.lemma} {rest}", 0.5, 0.75)


def _avoids(reading: g.ParsedClause, rest: str) -> ClauseShape | None:
    if reading.lemma in ("eat", "drink") and reading.negated and not reading.past and rest:
        return ClauseShape("preference", "dislikes", rest, 0.75, 0.8)
    return None


def classify_ability(reading: g.ParsedClause, setting: ClauseContext) -> ClauseShape | None:
    """Classify a clause about an ability."""
    rest = reading.rest.rstrip(" .!,")
    if reading.lemma == "speak":
        return _named("identity", "speaks", 0.7, r"((?:\w+ )?[A-Z]\w+.*)")(rest)
    if reading.lemma == "play":
        return WORKING["play"](rest)
    if reading.lemma == "stand":
        return ClauseShape("preference", "dislikes", rest, 0.55, 0.8) if rest and not VAGUE.match(rest) else None
    return (
        ClauseShape("health", "allergic_to" if reading.lemma == "tolerate" else "dislikes", rest, 0.85, 0.75)
        if rest
        else None
    )
