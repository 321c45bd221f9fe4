"""What a clause says that is worth keeping: its category, predicate and object, or nothing."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import NamedTuple

from clawmem.learning import grammar as g
from clawmem.learning import verbs
from clawmem.learning.words import (
    APPOINTMENT,
    BORING,
    FACT_THINGS,
    FREQUENCY,
    HABITUAL,
    IDENTITY,
    LASTING,
    OCCUPATION,
    POSSESSION,
    PRONOUN,
    RELATION_OF,
    VAGUE,
    WORK_THINGS,
)


OWN_ATTRIBUTES = frozenset(
    "name birthday job wants from pronouns timezone email phone hobby deadline budget height diet works_at nationality".split()
)
DATELESS = frozenset("lives_in works_at health from job studied_at studies uses owns member_of likes dislikes child pet spouse".split())


class Shape(NamedTuple):
    """What was recognised; `object` is a part of the clause, in the speaker's own words."""

    category: str
    predicate: str | None = None
    object: str | None = None
    importance: float = 0.5
    confidence: float = 0.75
    ended: bool = False
    former: str | None = None


class Setting(NamedTuple):
    """What surrounds a clause: whether a date, name or number pins it down, whether a date stands in it at all, and
    whether it is said to an assistant (`chat`) or among people."""

    specific: bool
    dated: bool
    chat: bool


_Rule = Callable[[g.Reading, Setting], Shape | None]


def classify(reading: g.Reading, setting: Setting) -> Shape | None:
    """The shape of a clause, or None where it says nothing that lasts."""
    rest = reading.rest
    if reading.person == g.THING:
        return _thing(reading, setting)
    if reading.person == g.MINE:
        owned = _owned(reading, setting)
        if owned or not _is_somebody(reading.subject):
            return owned
    if reading.ended:
        return _ended(reading)
    if reading.lemma == "be" and re.match(r"going by ", rest):
        return None
    if rest and VAGUE.match(rest) and not (reading.lemma in ("learn", "decide") or reading.lemma == "be" and OCCUPATION.search(rest)):
        return None
    if PRONOUN.match(rest) or BORING.match(FREQUENCY.sub("", rest).rstrip(" .!,")) and reading.lemma not in _COMPLETE:
        return None
    shape = _RULES[reading.aspect](reading, setting) if reading.aspect in _RULES else None
    if shape and reading.negated and not shape.predicate and not reading.never:
        return None
    return shape


_COMPLETE = frozenset(
    "run swim hike paint meditate exercise jog surf climb knit sew draw sing dance garden write read cook bake retire graduate "
    "be like love enjoy hate dislike prefer get return move marry".split()
)


# --- states ------------------------------------------------------------------------------------------

_AGE = re.compile(r"(?:turning |about to turn )?(\d{1,3})(?: years? old| yrs? old)?[.!]?$")
_FROM = re.compile(r"(?:originally |all the way )?from ([A-Z][\w .,'-]*|(?:a|the) (?:small|tiny|big) \w+.*)")
_BORN = re.compile(r"born (?:and raised )?(in|on) (?:the )?(.+)")
_RAISED = re.compile(r"raised in (.+)")
_ALLERGIC = re.compile(r"(?:\w+ )?(?:allergic|intolerant) to (.+)")
_BASED = re.compile(r"(?:based|located|living|stationed) (?:in|at|out of|near) (.+)")
_MARRIED_TO = re.compile(r"(?:happily )?(married|engaged) to (.+)")
_FOND = re.compile(
    r"(?:really |very |super |so |also |huge |a (?:huge |big |massive |total )?)*"
    r"(?:into|fond of|fan of|fans of|passionate about|keen on|crazy about|obsessed with|hooked on|interested in|addicted to) (.+)"
)
_AFRAID = re.compile(r"(?:really |very |so |terribly )?(?:afraid|scared|terrified) of (.+)")
_FLUENT = re.compile(r"fluent in (.+)")
_TURNED = re.compile(
    r"(?:recently |just |finally |also |officially )*(?P<what>diagnosed with|promoted|hired|fired|laid off|accepted|elected|"
    r"nominated|awarded|selected|chosen|appointed|drafted|enrolled|invited to|certified|admitted|transferred|married)\b(?P<of>.*)"
)


def _is(reading: g.Reading, setting: Setting) -> Shape | None:
    rest = reading.rest.rstrip(" .!,")
    for rule in (_born_or_from, _lasting_state, _tastes):
        shape = rule(rest, reading)
        if shape:
            return shape if not reading.past or shape.category in ("milestone", "health") else _was(shape)
    turned = _TURNED.match(rest)
    if turned and not reading.negated and (reading.past or reading.aspect == g.BEEN or turned["what"] != "married"):
        return _turn(turned)
    return None if reading.negated else _is_a(rest, reading)


def _was(shape: Shape) -> Shape | None:
    """A state that is over: worth knowing, but not the standing value of a predicate."""
    return shape._replace(predicate=shape.predicate if shape.predicate in ("from", "born_in", "birthday") else None)


def _turn(turned: re.Match[str]) -> Shape:
    if turned["what"] == "diagnosed with":
        return Shape("health", "health", turned["of"].strip(), 0.9, 0.85)
    return Shape("milestone", None, (turned["what"] + turned["of"]).strip(), 0.65, 0.8)


def _born_or_from(rest: str, reading: g.Reading) -> Shape | None:
    born, raised, origin = _BORN.match(rest), _RAISED.match(rest), _FROM.match(rest)
    if born:
        return Shape(
            "milestone", "born_in" if born[1] == "in" and not born[2][:1].isdigit() else "birthday", born[2], 0.8, 0.9
        )
    if raised or origin:
        return Shape("identity", "from", (raised or origin)[1], 0.8, 0.85)  # type: ignore[index]
    age = _AGE.match(rest)
    if age and reading.person != g.WE and ("old" in rest or reading.person == g.I) and 1 <= int(age[1]) <= 120:
        return Shape("identity", "age", age[1], 0.7, 0.9)
    return None


def _lasting_state(rest: str, reading: g.Reading) -> Shape | None:
    allergic, married, based = _ALLERGIC.match(rest), _MARRIED_TO.match(rest), _BASED.match(rest)
    if allergic:
        return Shape("health", "allergic_to", allergic[1], 0.9, 0.9, ended=reading.negated)
    if married and not VAGUE.match(married[2]):
        return Shape("relationship", "spouse" if married[1] == "married" else "partner", married[2], 0.8, 0.9)
    if based and not VAGUE.match(based[1]):
        return Shape("status", "lives_in", based[1], 0.8, 0.85)
    lasting = LASTING.match(rest)
    if not lasting or len(rest) - lasting.end() > 40:
        return None
    predicate = {"diet": "diet", "marital": "marital_status", "health": "health", "identity": "identity"}[
        lasting.lastgroup or ""
    ]
    if lasting.lastgroup == "health":
        return Shape("health", "health", rest, 0.9, 0.85)
    return Shape("identity" if predicate != "diet" else "preference", predicate, rest, 0.8, 0.85, ended=reading.negated)


def _tastes(rest: str, reading: g.Reading) -> Shape | None:
    fond, afraid, fluent = _FOND.match(rest), _AFRAID.match(rest), _FLUENT.match(rest)
    if fluent:
        return Shape("identity", "speaks", fluent[1], 0.7, 0.9)
    if afraid and not VAGUE.match(afraid[1]):
        return Shape("preference", "afraid_of", afraid[1], 0.6, 0.8)
    if fond and not VAGUE.match(fond[1]):
        return Shape("preference", "dislikes" if reading.negated else "likes", fond[1], 0.5, 0.8)
    return None


_IS_A = re.compile(
    r"(?:also |still |now |actually |currently )*(?:working as |training as )?"
    r"(?:an?|the|one of the|part of|[A-Z][\w'-]+'s) ?(.*)"
)
_PASSING_NOUN = re.compile(
    r"(?:an?|the) (?:bit|little|lot|mess|wreck|ton|blast|joy|pleasure|challenge|step|reminder|way|great (?:way|time|feeling)|"
    r"huge (?:step|help|relief)|big (?:step|help|relief|deal)|real|total|dream come true|good|nice|lucky|sucker|few)\b"
)


def _is_a(rest: str, reading: g.Reading) -> Shape | None:
    matched = _IS_A.match(rest)
    if not matched or _PASSING_NOUN.match(rest) or len(rest.split()) > 25:
        return None
    head = " ".join(
        re.split(r"[,(]| (?:who|which|that|and|but|so|because|when|for|at|in|with|from|on|to) ", rest)[0].split()[:7]
    )
    if OCCUPATION.search(head):
        current = not reading.past and reading.aspect == g.BE
        return Shape("identity", "job" if current else None, rest, 0.75, 0.8)
    if IDENTITY.search(head):
        return Shape("identity", "identity" if not reading.past else None, rest, 0.7, 0.75)
    if rest.startswith("part of ") and not VAGUE.match(matched[1]):
        return Shape("status", "member_of", rest[8:], 0.6, 0.75)
    return None


# --- having ------------------------------------------------------------------------------------------

_COUNTED = re.compile(
    r"(?:got )?(?:an?|one|two|three|four|five|six|seven|eight|nine|ten|\d{1,2}|twin|some|several|many|a couple of|a few) "
    r"(?:\w+[ -]){0,2}?(?P<noun>[a-zé]+)\b"
)
_CALLED = re.compile(r"(?:named|called|name is|,) ([A-Z][\w'-]+(?:(?:,? and |, | & )[A-Z][\w'-]+)*)")


def _has(reading: g.Reading, setting: Setting) -> Shape | None:
    rest = reading.rest.rstrip(" .!,")
    counted = _COUNTED.match(rest)
    if counted and counted["noun"] in RELATION_OF and not reading.past:
        predicate = RELATION_OF[counted["noun"]]
        if predicate != "friend" or _CALLED.search(rest):
            return Shape("relationship", predicate, rest, 0.75, 0.85)
    if re.match(r"(?:never had|no) ", rest):
        return None
    if "deadline" in rest and setting.dated:
        due = re.search(r"deadline (?:of|on|for|by|set for) (.+)", rest)
        return Shape("fact", "deadline", due[1] if due else rest, 0.7, 0.8)
    if APPOINTMENT.search(rest) and setting.dated:
        return Shape("event", None, rest, 0.55, 0.75)
    if reading.past and reading.aspect == verbs.PAST:
        met = re.match(r"(?:an?|my|our) (?:\w+ ){0,2}(?:chat|talk|conversation|meeting|call|lunch|dinner|coffee|encounter|session|lesson) with ", rest)
        return Shape("event", None, f"had {rest}", 0.45, 0.7) if met and setting.specific else None
    if POSSESSION.search(rest) and len(rest.split()) <= 25:
        return _owns(rest)
    return None


def _owns(rest: str) -> Shape:
    if re.search(r"\ballerg", rest):
        return Shape("health", "allergic_to", re.sub(r".*?allerg\w+ (?:to )?", "", rest) or rest, 0.9, 0.85)
    if re.search(
        r"\b(?:asthma|diabetes|adhd|anxiety|arthritis|migraines|epilepsy|condition|disorder|disability)\b", rest, re.I
    ):
        return Shape("health", "health", rest, 0.9, 0.85)
    if re.search(r"\b(?:degree|master's|bachelor's|phd|certificate|certification|diploma)\b", rest, re.I):
        return Shape("identity", "degree", rest, 0.7, 0.8)
    if re.search(r"\b(?:girlfriend|boyfriend|partner)\b", rest):
        return Shape("relationship", "partner", rest, 0.75, 0.8)
    if re.search(r"\b(?:passion for|soft spot for)\b", rest):
        return Shape("preference", "likes", re.sub(r".*?(?:passion|soft spot) for ", "", rest), 0.5, 0.75)
    owned = re.search(
        r"\b(?:house|apartment|condo|cabin|car|truck|motorcycle|bike|boat|van|piano|guitar|violin|collection)\b", rest
    )
    return Shape("status", "owns" if owned else None, rest, 0.5, 0.7)


# --- doing, in the present ---------------------------------------------------------------------------

_AT = re.compile(r"(?:\w+ing )?(?:full[- ]time |part[- ]time |remotely )?(at|for|with|as|in|on) (.+)")
_NOT_LIKED = re.compile(
    r"(?:to (?:hear|see|know|say|think|talk|chat|share|be|get|try|go|check|learn more|have)\b|hearing|seeing|knowing|being able|"
    r"the (?:idea|thought|way|fact|vibes?|energy|view|feeling|look|colou?rs?|design|sound|support|pics?|photos?|painting|enthusiasm|"
    r"atmosphere|process|result|connection|sense|rush|thrill|freedom|challenge|moment)|every (?:minute|moment|second|bit)|"
    r"each other|everyone|myself|ourselves|when|talking (?:to|with)|chatting|catching up|having you|my (?:life|new look)|"
    r"(?:his|her|their|its)\b|both|all of)",
    re.IGNORECASE,
)
_NOT_WANTED = frozenset(
    "know see hear say thank make sure try help show share ask be understand talk tell keep do get give have let look "
    "check give ensure add implement optimize optimise use handle focus improve avoid include set take spend go put "
    "stay hang confirm verify review test display return fix prevent feel cover reduce".split()
)
_WANT_CHAT = re.compile(r"(?P<what>(?:the|my|our|all|each|every|this) [\w -]{2,40}?) to (?P<do>\w+ .+)")
_THE_LIKED = re.compile(
    r"the (?!outdoors|ocean|beach|mountains?|sea|water|rain|snow|sun|summer|winter|piano|guitar|violin|color|colour|smell of|taste of|"
    r"sound of|challenge of|[A-Z]|\w+ (?:of|in|by|from) [A-Z])"
)


def _does(reading: g.Reading, setting: Setting) -> Shape | None:
    rest = reading.rest.rstrip(" .!,")
    if reading.lemma == "have":
        return _has(reading, setting)
    if reading.lemma in verbs.LIKING:
        return _likes(reading, rest, setting)
    if reading.lemma in ("want", "hope", "plan", "intend", "dream", "aim"):
        return _aims(reading, rest, setting)
    if reading.lemma in _WORKING and not reading.negated:
        shape = _WORKING[reading.lemma](rest)
        if shape:
            return shape
    return _habit(reading, rest, setting)


def _likes(reading: g.Reading, rest: str, setting: Setting) -> Shape | None:
    if len(rest) < 3 or rest == "to":
        return None
    if not rest or _NOT_LIKED.match(rest) or _THE_LIKED.match(rest) or (reading.past and reading.aspect == verbs.PAST):
        return None
    if reading.lemma == "like" and re.match(r"to ", rest) and not FREQUENCY.search(rest) and setting.chat:
        return None
    predicate = verbs.LIKING[reading.lemma]
    if reading.negated:
        predicate = {"likes": "dislikes", "dislikes": "likes", "prefers": "dislikes"}[predicate]
    return Shape("preference", predicate, rest, 0.7 if predicate == "prefers" else 0.55, 0.8)


def _aims(reading: g.Reading, rest: str, setting: Setting) -> Shape | None:
    wanted = re.match(
        r"(?:to (?:(?:also|eventually|one day|someday|just|really) )?(\w+)|on (\w+ing)|of (\w+ing))(?: (.+))?$", rest
    )
    planned = reading.lemma in ("plan", "intend")
    if reading.negated or reading.past or not wanted:
        return _requires(rest) if setting.chat and reading.lemma in ("want", "need") else None
    lemma = wanted[1] or verbs.lemma_as(wanted[2] or wanted[3] or "", verbs.ING) or ""
    if (
        lemma in verbs.IDLE
        or lemma in _NOT_WANTED
        or BORING.match(wanted[4] or "x")
        or VAGUE.match(wanted[4] or ("" if setting.dated else "it"))
        or (reading.lemma in ("want", "hope") and setting.chat)
    ):
        return _requires(rest) if setting.chat else None
    return Shape("plan" if planned else "goal", "plans_to" if planned else "wants", rest.removeprefix("to "), 0.55, 0.7)


def _requires(rest: str) -> Shape | None:
    wanted = _WANT_CHAT.match(rest)
    if not wanted or re.search(r"\b(?:help|code|example)\b", wanted["what"]):
        return None
    return Shape("requirement", "requires", f"{wanted['what']} to {wanted['do']}", 0.6, 0.75)


def _works(rest: str) -> Shape | None:
    place = _AT.match(rest)
    if not place or VAGUE.match(place[2]) or re.match(r"(?:on (?:my|it)self|out|hard|together)", rest):
        return None
    kind = place[1]
    if kind == "as":
        return Shape("status", "job", place[2], 0.75, 0.85)
    if kind == "on":
        return Shape("status", "works_on", place[2], 0.55, 0.75)
    if kind in ("at", "for") and not re.match(
        r"(?:home|night|the moment|\d|a living|years|me|him|her|them)\b", place[2]
    ):
        return Shape(
            "status",
            "works_at",
            re.split(r"[,.]| (?:as|since|and|but|where|which|in the|for) ", place[2])[0],
            0.8,
            0.85,
        )
    return Shape("status", None, rest, 0.5, 0.7)


def _lives(rest: str) -> Shape | None:
    home = re.match(r"(?:(?:down|up|over|out|right|just) )?(in|near|at|on|with|outside|by) (.+)", rest)
    if not home or VAGUE.match(home[2]) or re.match(r"(?:the moment|peace|fear|the present)", home[2]):
        return None
    return Shape("status", "lives_with" if home[1] == "with" else "lives_in", home[2], 0.8, 0.85)


def _named(
    category: str, predicate: str | None, importance: float, accept: str = r".+"
) -> Callable[[str], Shape | None]:
    pattern = re.compile(accept)

    def rule(rest: str) -> Shape | None:
        found = pattern.match(rest)
        return Shape(category, predicate, found[found.lastindex or 0], importance, 0.8) if found else None

    return rule


_WORKING: dict[str, Callable[[str], Shape | None]] = {
    "work": _works,
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
    "play": _named("preference", "hobby", 0.5, r"(?:the )?((?:piano|guitar|violin|drums?|cello|flute|clarinet|saxophone|bass|ukulele|"
                   r"keyboard|harp|trumpet|soccer|football|basketball|tennis|chess|volleyball|baseball|softball|hockey|golf|"
                   r"rugby|cricket|badminton|video games|board games|squash|pickleball)\b.*|for .+)"),
    "attend": _named("status", "studied_at", 0.6, r"((?:[A-Z]|\w+ (?:school|college|university)).*)"),
    "take": _named("health", "takes", 0.7, r"(.*\b(?:medication|insulin|pills|antihistamines?|inhaler|supplements|mg)\b.*)"),
    "suffer": _named("health", "health", 0.9, r"from (.+)"),
    "run": _named("status", None, 0.55, r"((?:an?|my|our|the) (?:\w+ ){0,3}(?:business|shop|store|company|blog|channel|podcast|"
                  r"studio|bakery|restaurant|cafe|group|club|class|workshop|charity|farm|agency|startup)\b.*)"),
}  # fmt: skip


def _habit(reading: g.Reading, rest: str, setting: Setting) -> Shape | None:
    if reading.past or reading.lemma not in verbs.HABITS or not rest or (reading.negated and not reading.never):
        return _avoids(reading, rest)
    often = FREQUENCY.search(rest) or HABITUAL.search(reading.verb)
    if not often or len(rest.split()) < 2:
        return None
    return Shape("habit", None, f"{reading.lemma} {rest}", 0.5, 0.75)


def _avoids(reading: g.Reading, rest: str) -> Shape | None:
    if reading.lemma in ("eat", "drink") and reading.negated and not reading.past and rest:
        return Shape("preference", "dislikes", rest, 0.75, 0.8)
    return None


def _able(reading: g.Reading, setting: Setting) -> Shape | None:
    rest = reading.rest.rstrip(" .!,")
    if reading.lemma == "speak":
        return _named("identity", "speaks", 0.7, r"((?:\w+ )?[A-Z]\w+.*)")(rest)
    if reading.lemma == "play":
        return _WORKING["play"](rest)
    if reading.lemma == "stand":
        return Shape("preference", "dislikes", rest, 0.55, 0.8) if rest and not VAGUE.match(rest) else None
    return (
        Shape("health", "allergic_to" if reading.lemma == "tolerate" else "dislikes", rest, 0.85, 0.75)
        if rest
        else None
    )


# --- under way ---------------------------------------------------------------------------------------

_ONLY_WITH = {
    "take": r"(?:\w+ ){0,4}(?:class(?:es)?|courses?|lessons?|medication|insulin|workshop|break from|time off|care of my)\b",
    "get": r"(?:married|divorced|certified|promoted|into \w+|ready for (?:a|the|my)|back into \w+|a (?:\w+ ){0,2}(?:dog|puppy|cat|kitten))\b",
    "look": r"(?:for an? (?:\w+ ){0,3}(?:job|apartment|house|place|roommate|home|position|school|car|dog)|into (?!it|that|this|ways?|how))",
    "try": r"to (?:learn|save|quit|lose|get (?:into|pregnant|healthier)|start|build|find an?|become|sell|buy|adopt|publish|improve my)\b",
    "work": r"(?:on (?!it|that|this|me|myself|some(?: \w+)? stuff|things)|at |as |with |for |toward|part|full|remotely)",
    "make": r"(?:an? \w+|my own|our own|music)\b.*",
    "start": r"(?!from scratch|to (?:feel|get|see|think|realize|notice|understand|lose|have)|getting|thinking|feeling|seeing|having|off|over|out|being)\w+",
    "put": r"together ", "think": r"(?:about|of) (?!it\b|that\b|this\b|what|how)\w+ing \w+",
    "go": r"to (?:therapy|school|college|counseling|law school|med school|physical)|through (?:a |my )?(?:divorce|separation|chemo)",
    "do": r"(?:an? (?:\w+ ){0,3}(?:course|internship|degree|phd|residency|class)|yoga|kickboxing|karate|crossfit|pilates|ballet|taekwondo|"
    r"(?:\w+ )?(?:yoga|training|therapy|volunteer work|research on))\b",
    "run": r"(?:for |an? |my |farther|longer|every)\w*",
    "save": r"(?:up |money )?(?:up )?(?:for|to) ",
    "read": r"(?:\"|'|[A-Z]|(?:an? |the |some )?(?:\w+ ){0,2}(?:book|novel|series|biography) (?:about|on|by|called|named))",
    "expect": r"(?:an? (?:baby|child|boy|girl)|our|my|twins)",
    "use": r"(?:\w+ ){0,3}(?:[A-Z]\w+|\w*\d)",
    "play": r"(?!with|around|along)\w+",
    "care": r"for ",
    "focus": r"on (?!it|that|this|myself|me\b)",
    "move": r"(?:to|into|in with|out of|back to) ",
    "test": r"(?:\w+ ){0,4}(?:[A-Z]\w+)",
    "major": r"in ", "minor": r"in ", "aim": r"(?:for|to) ", "do it": r"$",
    "finish": r"(?:up )?(?:my|the|a) ",
    "pay": r"(?:off |\$|\d|rent)",
    "date": r"(?:an?|my|someone|[A-Z])",
    "manage": r"(?:an?|the|my) ",
    "create": r"(?:an?|my|our) ", "build": r"(?:an?|my|our) ", "write": r"(?:an?|my|our|about|songs|poetry|articles|poems|stories) ?",
}  # fmt: skip
_NOW = {"work": "works_on", "study": "studies", "learn": "studies", "build": "works_on", "develop": "works_on", "write": "works_on",
        "live": "lives_in", "use": "uses", "date": "partner", "plan": "plans_to", "volunteer": "member_of", "move": "plans_to"}  # fmt: skip
_LEAST_AGO = re.compile(r"\b(?:since|for (?:\w+ ){0,3}(?:years?|months|decades)|\w+ years now)\b")


def _is_doing(reading: g.Reading, setting: Setting) -> Shape | None:
    rest = reading.rest.rstrip(" .!,")
    known = reading.lemma in verbs.UNDERTAKINGS
    if reading.negated or reading.past or not rest or not known or len(rest.split()) > 30:
        return None
    if reading.lemma == "go" and setting.dated and re.match(r"(?:to|on|for) (?:the |an? |my |[A-Z])", rest):
        return Shape("plan", "plans_to", f"go {rest}", 0.55, 0.75)
    limit = _ONLY_WITH.get(reading.lemma)
    if limit and not re.match(limit, rest):
        return None
    if reading.lemma == "plan":
        return _plan_of(rest, setting)
    if setting.chat and (reading.lemma in ("try", "look", "consider", "explore", "research", "focus", "prepare", "test", "do", "make",
                                           "implement", "integrate", "refactor", "think", "start", "get", "put", "create", "plan") and not setting.dated):  # fmt: skip
        return None
    if reading.lemma == "work":
        return _works(rest)
    predicate = _NOW.get(reading.lemma)
    if predicate in ("lives_in", "member_of"):
        shape = _WORKING[reading.lemma](rest)
        return shape if shape else None
    return Shape("status" if predicate != "plans_to" else "plan", predicate, rest, 0.55, 0.75)


def _plan_of(rest: str, setting: Setting) -> Shape | None:
    planned = re.match(r"(?:to |on |for )?(.+)", rest)
    lemma = re.match(r"(?:to|on) (\w+)", rest)
    if not planned or VAGUE.match(planned[1]) or (setting.chat and lemma and not setting.dated):
        return None
    if lemma and (verbs.lemma_as(lemma[1], verbs.ING) or lemma[1]) in verbs.IDLE:
        return None
    return Shape("plan", "plans_to", planned[1], 0.55, 0.75)


def _has_been_doing(reading: g.Reading, setting: Setting) -> Shape | None:
    if reading.never or reading.negated:
        return None
    lasting = _LEAST_AGO.search(reading.rest) and reading.lemma in (verbs.UNDERTAKINGS | verbs.HABITS) - verbs.IDLE
    what = re.sub(
        r"\b(?:ever )?since\b.*|\bfor (?:\w+ ){0,3}(?:years?|months?|weeks?|decades).*|\b\w+ years now.*",
        "",
        reading.rest,
    ).strip(" .!,")
    if (
        lasting
        and (BORING.match(what) or re.search(r"since (?:we|I|our) (?:last|started talking)", reading.rest))
        and reading.lemma not in _COMPLETE
    ):
        return None
    if lasting:
        return Shape("status", None, f"{reading.lemma} {reading.rest}".rstrip(" .!,"), 0.6, 0.8)
    shape = _is_doing(reading._replace(past=False), setting)
    return shape._replace(predicate=shape.predicate if shape.predicate != "plans_to" else None) if shape else None


# --- done --------------------------------------------------------------------------------------------

_STRONG_ONLY_WITH = {
    "start": r"(?!from scratch|to (?:feel|get|see|think|realize|notice|understand|lose)|getting|thinking|feeling|seeing|having|off|over|out|being|realizing)(?:\w+)",
    "begin": r"(?!to (?:feel|get|see|think|realize)|getting|thinking|feeling|seeing)\w+",
    "learn": r"(?:to (?!love|appreciate|accept|cope)|how to|that |the hard way|about [A-Z]|[A-Z]|\w+ing\b)",
    "lose": r"(?:my|our|the|\d|a) (?!\w*\s*(?:keys|wallet|phone|mind|way|temper|track|hope|motivation|focus|cool|balance|marbles))",
    "break": r"(?:my|our|a|the) (?!\w*\s*(?:heart|mold|record|ice|rules))|up with",
    "pass": r"(?:my|the|an?) ",
    "sign": r"(?:up|with|a|the|for|on|off)",
    "open": r"(?:an?|my|our|the) ",
    "close": r"(?:on |my |our |the (?:deal|shop|store))",
    "move": r"(?:to|into|in with|out|back|from|here|away) ?",
    "decide": r"(?:to|on|against|that|we|not to) ",
    "choose": r"(?:to |an? |the |[A-Z])",
    "make": r"(?:an?|my|some) ", "build": r"(?:an?|my|our|some|the) ", "write": r"(?:an?|my|our|some|about|\d|two|three) ?",
    "create": r"(?:an?|my|our|some) ", "design": r"(?:an?|my|our|the) ",
    "grow": r"up (?:in|on|near|with|as)|(?:my|our|some) ",
    "receive": r"(?:an?|my|our|the|\d) ", "win": r"(?:an?|the|our|my|first|second|third|\d|[A-Z])",
    "discover": r"(?:an?|my|the|that|[A-Z]|\w+ing\b) ?", "find": r"(?:an?|my|our) (?:new |great |perfect |really )*(?:job|house|apartment|home|place|roommate|church|therapist|doctor)",
    "land": r"(?:an?|the|my) ", "beat": r"(?:my|the|our|cancer)", "score": r"(?:\d|an?|the|my)",
    "run": r"(?:an?|the|my|\d)", "fail": r"(?:my|the|an?) ", "drop": r"out",
    "accept": r"(?:an?|the|my) ", "complete": r"(?:an?|the|my|our|[A-Z]|\w+ing)", "finish": r"(?:an?|the|my|our|up|[A-Z]|\w+ing|writing|reading) ?",
    "celebrate": r"(?:my|our|an?|the) ", "plant": r"\w+", "record": r"(?:an?|my|our|some|the) ",
    "display": r"(?:my|our) ", "present": r"(?:my|our|an?) ", "pass away": r"$",
    "become": r"(?:an?|friends with|the|vegan|vegetarian|interested in|engaged) ?",
    "teach": r"(?:an?|my|myself|[A-Z]|\d|some (?:kids|students)) ?", "earn": r"(?:an?|my|the|\$?\d) ?", "release": r"(?:an?|my|our|the|version|v?\d) ?",
    "use": r"$", "raise": r"(?:\$?\d|money|funds|awareness|an?) ?", "recover": r"from", "perform": r"(?:at|in|for|an?|my) ",
    "hire": r"(?:an?|[A-Z]|two|three|our) ?", "train": r"for|with|in", "participate": r"in ", "compete": r"in ", "settle": r"(?:in|on|down in) ",
    "set": r"up ", "attend": r"(?:an?|my|the|[A-Z]|\w+ \w+)", "celebrate ": r"", "donate": r"(?!to it)", "order": r"(?:an?|my|some) ",
    "apply": r"(?:to|for) ", "submit": r"(?:my|an?|the|our) ", "configure": r".*[A-Z\d]", "integrate": r".*[A-Z\d]", "implement": r".*[A-Z\d]",
    "install": r"(?:an?|the|my|[A-Z]|\w+ \d)", "cancel": r"(?:my|our|the) ", "replace": r"(?:my|our|the|[A-Z])", "test": r"$",
    "organize": r"(?:an?|the|my|our) ", "organise": r"(?:an?|the|my|our) ", "host": r"(?:an?|the|my|our) ", "join": r"(?:an?|the|my|our|[A-Z]|\w+ \w+)",
    "present ": r"", "achieve": r"(?:an?|my|our|\d) ", "discover ": r"", "qualify": r"for ", "celebrated": r"", "register": r"(?:for|as|my) ?",
    "book": r"(?:an?|my|our|the|tickets|flights?) ?", "direct": r"(?:an?|my) ", "film": r"(?:an?|my) ", "propose": r"to ", "immerse": r"$",
}  # fmt: skip
_GOT = re.compile(
    r"(?:(?:officially |finally )?(?:married|engaged|promoted|hired|fired|divorced|laid off|accepted|certified|diagnosed with|licensed|pregnant|rejected)\b|"
    r"(?:an?|my|our|some|two|another) (?:first |new |own |little |cute |adorable |brand new |used |old |permanent |full-time |part-time |summer |dream )*(?:\w+ )?"
    r"(?:job|promotion|raise|degree|licen[cs]e|certificat\w+|tattoo|dog|puppy|pup|cat|kitten|pet|car|house|apartment|bike|guitar|piano|"
    r"offer|scholarship|internship|gig|role|grant|award|diagnosis|turtles?|necklace|console|camera|book deal|contract|sponsorship|deal|visa|passport)\b|"
    r"into (?:an?|[A-Z]|\w+ school|college|grad|law|med)|back from [a-zA-Z ]{4,})"
)
_TOLD = re.compile(r"(?:to|that|on|against|we) ")
_SWITCHED = re.compile(r"(?:over )?(?:(?:\w+ )?from (?P<old>.+?) )?to (?P<new>.+)")


def _did(reading: g.Reading, setting: Setting) -> Shape | None:
    rest = reading.rest.rstrip(" .!,")
    lemma = reading.lemma
    if lemma == "have":
        return _has(reading, setting)
    if reading.negated and not reading.never:
        return None
    if reading.never:
        return (
            Shape("status", None, f"never {lemma} {rest}", 0.5, 0.75)
            if setting.chat and len(rest.split()) > 1
            else None
        )
    if lemma in verbs.LIKING and reading.aspect == g.HAVE_DONE and "always" in reading.verb:
        return _likes(reading._replace(past=False), rest, setting)
    turned = re.match(r"(\d{1,3})(?: years old)?$", rest) if lemma == "turn" else None
    if turned:
        return Shape("identity", "age", turned[1], 0.7, 0.85)
    if lemma == "pass" and rest.startswith("away") and reading.person != g.I:
        return Shape("relationship", None, "passed away", 0.85, 0.85)
    if lemma == "grow" and re.match(r"up (?:in|near) \S+", rest):
        return Shape("identity", "from", re.sub(r"^up (?:in|near) ", "", rest), 0.7, 0.85)
    if lemma == "get":
        return Shape("milestone", None, f"got {rest}", 0.6, 0.8) if _GOT.match(rest) else None
    if lemma in ("switch", "migrate", "convert", "change"):
        return _switched(rest)
    if not rest or lemma in verbs.IDLE:
        return _quit(lemma, rest)
    return _quit(lemma, rest) or _milestone(reading, rest, setting)


def _quit(lemma: str, rest: str) -> Shape | None:
    stopped = re.match(r"(\w+ing) (.+)", rest)
    if lemma in ("leave", "quit") and re.match(r"my (?:[\w-]+ ){0,2}job\b(?! (?:at|with))", rest):
        return Shape("milestone", None, f"{lemma} {rest}", 0.7, 0.8)
    job = re.match(r"(?:my (?:old |previous )?job (?:at|with) |working (?:at|for) |(?=[A-Z]))(.+)", rest)
    if lemma in ("quit", "leave") and job and not (stopped and stopped[1] != "working"):
        name = re.split(r"[,.]| (?:to|because|and|as|in|for|after|since|with) ", job[1])[0]
        return Shape("milestone", "works_at", name, 0.7, 0.8, ended=True)
    if lemma in ("quit", "stop") and stopped and not VAGUE.match(stopped[2]):
        return Shape("milestone", "hobby", stopped[2], 0.6, 0.75, ended=True)
    if lemma == "quit" and re.match(r"(?:my job|smoking|drinking|school|college)", rest):
        return Shape("milestone", None, f"quit {rest}", 0.7, 0.8)
    return None


def _switched(rest: str) -> Shape | None:
    found = _SWITCHED.match(rest)
    if not found or VAGUE.match(found["new"]):
        return None
    new = re.split(r"[,.]| (?:because|since|as|for|in|on) ", found["new"])[0]
    return Shape("decision", "uses", new, 0.7, 0.8, former=found["old"])


def _milestone(reading: g.Reading, rest: str, setting: Setting) -> Shape | None:
    lemma = reading.lemma
    if len(rest.split()) > 35:
        return None
    if lemma == "decide" or (lemma == "choose" and setting.chat):
        return _decided(rest)
    if lemma == "learn" and re.match(r"(?:that|the hard way) ", rest):
        return Shape("lesson", "learned", rest, 0.65, 0.75)
    if lemma == "move" and re.match(r"(?:back )?(?:to|into) ", rest) and not VAGUE.match(rest):
        return _moved(rest)
    if lemma == "marry" or (lemma == "adopt" and re.search(r"\b(?:dog|cat|puppy|kitten|pup)\b", rest)):
        return Shape("relationship", "spouse" if lemma == "marry" else "pet", rest, 0.75, 0.85)
    if lemma == "join" and re.match(r"(?:an?|the|my|[A-Z])", rest):
        return Shape("milestone", "member_of", rest, 0.6, 0.8)
    limit = _STRONG_ONLY_WITH.get(lemma)
    if lemma in verbs.MILESTONES and (not limit or re.match(limit, rest)):
        if setting.chat and lemma in _TASKS and not setting.specific:
            return None
        return Shape("milestone", _DONE.get(lemma), rest, 0.55, 0.8)
    if setting.chat and lemma in ("try", "see", "find", "get", "manage", "check", "look"):
        return _managed(reading, rest) if lemma == "manage" else None
    pinned = setting.specific or (not setting.chat and lemma not in _NEEDS_PIN and _CONCRETE.match(rest))
    if lemma in verbs.EVENTS and pinned and (not limit or re.match(limit, rest)):
        return Shape("event", None, f"{reading.verb} {rest}", 0.45, 0.7)
    return None


_NEEDS_PIN = frozenset("get put set do give find see hold lead manage use hit reach show send bring leave cover increase improve talk speak discuss share "
                       "meet call text chat check stay arrive catch pick spend handle support".split())  # fmt: skip
_CONCRETE = re.compile(
    r"(?:(?:to|on|at|in|for|up|with|around|through|along) )?(?:an?|my|our|some|the|two|three|\d+|[A-Z]\w+)\b(?: \S+){2,}"
)


def _managed(reading: g.Reading, rest: str) -> Shape | None:
    achieved = re.match(r"to (?:reduce|improve|increase|cut|reach|bring|get|achieve|fix|deploy|migrate) .*\d", rest)
    return Shape("milestone", None, rest, 0.5, 0.75) if achieved else None


_TASKS = frozenset("start begin create build write design implement configure integrate install replace record receive test "
                   "refactor complete finish close open set attend".split())  # fmt: skip
_DONE = {"buy": "owns", "purchase": "owns"}


def _decided(rest: str) -> Shape | None:
    if re.match(r"(?:to|on|not to|that) (?:it|that|this|go for it|try|the following|take)\b", rest) or not _TOLD.match(
        rest
    ):
        return None
    return Shape("decision", "decided", rest.removeprefix("to "), 0.7, 0.8)


def _moved(rest: str) -> Shape:
    to = re.match(r"(?:back )?(?:to|into) (.+)", rest)
    place = re.split(r"[,.]? (?:from|with|because|for|after|when|and|since|so|as|before|to) ", to[1] if to else rest)[0]
    if re.match(r"(?:[A-Z]|an? (?:new )?(?:city|town|apartment|house|place|home|flat))", place):
        return Shape("milestone", "lives_in", place, 0.75, 0.85)
    return Shape("milestone", None, f"moved {rest}", 0.5, 0.7)


# --- ahead -------------------------------------------------------------------------------------------


def _will(reading: g.Reading, setting: Setting) -> Shape | None:
    rest = reading.rest.rstrip(" .!,")
    if reading.negated or reading.lemma in verbs.IDLE or not rest:
        return None
    sure = " going to " in f" {reading.verb} " or reading.verb.startswith("will be ") or setting.dated
    known = reading.lemma in verbs.MILESTONES | verbs.EVENTS | {"have", "be"}
    if not (sure and known and setting.specific) and not (
        sure and reading.lemma in ("adopt", "marry", "move", "retire", "become")
    ):
        return None
    if reading.lemma == "be" and not APPOINTMENT.search(rest):
        return None
    return Shape("plan", "plans_to", f"{reading.lemma} {rest}", 0.55, 0.75)


def _used_to(reading: g.Reading, setting: Setting) -> Shape | None:
    rest = reading.rest.rstrip(" .!,")
    if (
        reading.lemma in verbs.IDLE
        or (reading.lemma not in verbs.HABITS and reading.lemma not in ("be", "love", "like"))
        or not rest
    ):
        return None
    return Shape("fact", None, f"used to {reading.lemma} {rest}", 0.5, 0.75)


def _ended(reading: g.Reading) -> Shape | None:
    rest = re.sub(r"\s*\b(?:anymore|any more|any longer)\b.*", "", reading.rest).rstrip(" .!,")
    if not rest or VAGUE.match(rest):
        return None
    if reading.lemma == "work" and re.match(r"(?:at|for) ", rest):
        return Shape("status", "works_at", rest.split(" ", 1)[1], 0.75, 0.85, ended=True)
    if reading.lemma == "live" and re.match(r"in ", rest):
        return Shape("status", "lives_in", rest[3:], 0.75, 0.85, ended=True)
    if reading.lemma in ("use", "own", "speak", "take"):
        predicate = {"use": "uses", "own": "owns", "speak": "speaks", "take": "takes"}[reading.lemma]
        return Shape("status", predicate, rest, 0.65, 0.8, ended=True)
    if reading.lemma in verbs.LIKING:
        return Shape("preference", verbs.LIKING[reading.lemma], rest, 0.6, 0.8, ended=True)
    if reading.lemma in ("eat", "drink"):
        return Shape("preference", "dislikes", rest, 0.7, 0.75)
    if reading.lemma in ("play", "do", "practice", "collect"):
        return Shape("status", "hobby", rest, 0.6, 0.75, ended=True)
    if reading.lemma == "be":
        shape = _is(reading._replace(ended=False, negated=False, rest=rest), Setting(True, False, False))
        return shape._replace(ended=True) if shape and shape.predicate else None
    return None


# --- what belongs to the speaker, and things ---------------------------------------------------------

_ATTRIBUTE = re.compile(
    r"(?:(?P<favorite>(?:all-time )?favou?rite (?:[\w-]+ ?){1,4})|(?P<name>(?:full |first |last )?name)|(?P<birthday>birthday)|"
    r"(?P<job>job|occupation|profession|day job)|(?P<goal>(?:main |biggest |ultimate |next |big )*(?:goal|dream|aim|plan|focus))|"
    r"(?P<hometown>hometown|home country)|(?P<pronouns>pronouns)|(?P<timezone>time ?zone)|(?P<email>e-?mail(?: address)?)|"
    r"(?P<phone>phone(?: number)?)|(?P<hobby>(?:main |favou?rite )?hobb(?:y|ies))|(?P<deadline>(?:\w+ )?deadline)|"
    r"(?P<budget>(?:\w+ )?budget)|(?P<height>height)|(?P<diet>diet)|(?P<employer>employer|company)|(?P<nationality>nationality))$"
)
_ATTRIBUTE_PREDICATE = {"job": "job", "goal": "wants", "hometown": "from", "employer": "works_at"}


def _owner_words(subject: str) -> str:
    return subject.split(" ", 1)[1] if " " in subject else ""


def _is_somebody(subject: str) -> bool:
    words = _owner_words(subject).lower().split()
    return any(word.strip(",") in RELATION_OF for word in words[:4]) and not subject.endswith(",")


def _owned(reading: g.Reading, setting: Setting) -> Shape | None:
    owned, rest = _owner_words(reading.subject), reading.rest.rstrip(" .!,")
    attribute = _ATTRIBUTE.match(owned)
    if attribute and reading.aspect == g.BE and not reading.negated and rest and not VAGUE.match(rest):
        return _attribute(attribute, rest, setting) if not reading.past else None
    named = re.match(r"(?:[\w -]+'s )name$", owned) or re.match(r"(?:[\w-]+ )?name$", owned)
    if named and reading.aspect == g.BE and re.match(r"[A-Z]", rest):
        return Shape("relationship", "name", rest, 0.75, 0.9)
    if reading.lemma == "be" and _is_somebody(reading.subject) and re.match(r"(?:called|named) [A-Z]", rest):
        return Shape("relationship", "name", rest.split(" ", 1)[1], 0.75, 0.9)
    last = owned.split()[-1].lower() if owned else ""
    if last in WORK_THINGS | FACT_THINGS:
        return _thing(reading, setting)
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


_THING_IS = re.compile(r"(?:\$?[\d#]|[A-Z\"'`]|an? |the |set (?:to|at|for) |due |on |in |at |by |called |named |hosted|deployed|built|written|based|"
                       r"running|scheduled|limited|located|moved|pushed|version|v\d|now |currently |around \d|about \d|under \d|over \d|up to \d)")  # fmt: skip
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


def _thing(reading: g.Reading, setting: Setting) -> Shape | None:
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
    for noun, predicate in (("deadline", "deadline"), ("launch", "deadline"), ("release date", "deadline"), ("budget", "budget"),
                            ("limit", "limit"), ("quota", "limit"), ("database", "uses"), ("stack", "uses")):  # fmt: skip
        if noun in joined:
            return predicate
    return None


_RULES: dict[str, _Rule] = {
    g.BE: _is,
    g.BEEN: _is,
    verbs.PRESENT: _does,
    verbs.PAST: _did,
    g.HAVE_DONE: _did,
    g.DOING: _is_doing,
    g.BEEN_DOING: _has_been_doing,
    g.FUTURE: _will,
    g.USED_TO: _used_to,
    g.ABLE: _able,
}
