"""What facts claim in plain words, as far as two claims about one entity can be sure to contradict each other.

Two kinds are read: a number, time or day of something ("his desk extension is 412"), and a denial ("no longer
drinks coffee") beside the statement that it denies. Where words leave room for both, nothing is claimed.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from clawmem.model.facts.claim_check import MEASURING, may_claim
from clawmem.model.language.question import STOPWORDS
from clawmem.model.language.text import normal
from clawmem.model.named_tuple import NamedTuple

# Longer statements say several things.
_LONGEST = 300
_MONTHS = "january february march april may june july august september october november december".split()
_SELF = frozenset(("i", "he", "she", "they", "it", "the user"))
_OWN = frozenset(("his", "her", "their", "its", "my", "the", "the user"))
_COPULA = re.compile(
    r"(?:^|[;.] |, | and )(?P<what>(?:[Tt]he |[Mm]y |[Hh]is |[Hh]er |[Tt]heir |[Ii]ts |"
    r"[^\W\d_][\w-]{0,30}(?: [\w-]{1,30})?'s )[\w.-]{1,30}(?: [\w.-]{1,30}){0,5}) is "
    r"(?P<value>[^;,]{0,40}\d[^;,]{0,40})"
)
_UNSAID = frozenset("planned scheduled set due fixed moved for on at to the now currently again o'clock".split())
_HEDGED = re.compile(
    r"\b(?:not|never|no|maybe|perhaps|probably|about|around|at least|at most|over|under|than|if|unless|when|or|was|"
    r"used|before|formerly|previously|former|old|every|each|next|last|this|today|tomorrow|yesterday|(?:mon|tues|wednes|thurs"
    r"|fri|satur|sun)day)\b",
    re.IGNORECASE,
)
# The first number behind the verb of a short statement in the present: "We keep logs for 30 days".
_MEASURED = re.compile(
    rf"^(?P<what>(?:\S{{1,30}} ){{1,8}}?(?:{'|'.join(sorted(MEASURING))}) (?:\S{{1,30}} ){{0,5}}?)"
    r"(?P<value>\S{0,20}\d\S{0,20}(?: \S{1,30}){0,4})$"
)
_PERSON = r"(?P<who>[^\W\d_][\w'’.-]{0,30}(?: [^\W\d_][\w'’.-]{0,30}){0,3}?)"
_ENDED = re.compile(rf"^{_PERSON} (?:(?P<be>is|am|are) )?no longer (?P<rest>.+)$")
_NOT_NOW = re.compile(rf"^{_PERSON} (?:does not|doesn't|do not|don't) (?P<rest>.+?)(?P<ended> any ?more)?$")
_IS_NOT = re.compile(rf"^{_PERSON} (?:is|am|are)(?: not|n't) (?P<rest>.+?)(?P<ended> any ?more)?$")

_WORD = re.compile(r"[^\W_]+(?:'[^\W_]+)?")


class Claim(NamedTuple):
    """A claim: about what, which value or words, whether it denies them, and if so only `exactly` these words.

    `recorded` is the day on which it was recorded, and `day` the one that the value names, if it is a day.
    """

    about: tuple[str, ...]
    words: tuple[str, ...]
    denies: bool = False
    exactly: bool = False
    recorded: str = ""
    day: str = ""

    def may_contradict(self, statement: str) -> bool:
        """Return whether a statement that denies nothing has the words without which it cannot contradict this."""
        text = statement.replace("’", "'")
        if self.denies:
            text = text.lower()
            return all(word in text for word in self.words)
        return self.about[0] == "value" and may_claim(statement) and self.about[2] in normal(text)


def claims_of(statement: str, title: str, recorded: str = "") -> tuple[Claim, ...]:
    """Return what a statement about an entity of this title claims; `recorded` is when it was recorded."""
    if len(statement) > _LONGEST:
        return ()
    text = statement.replace("’", "'").strip().rstrip(".!")
    names = {*normal(title).split(), normal(title)}
    denial = _denial(text, names | _SELF)
    if denial is not None:
        return (denial,)
    values = _values(text, names | _OWN, recorded[:10]) or _measures(text, recorded[:10])
    return (*values, *_stated(text, names | _SELF))


def contradict(other_claim: Claim, other: Claim) -> bool:
    """Return whether two claims about one thing cannot both be true."""
    if other_claim.about != other.about:
        return False
    if other_claim.about[0] == "value":
        earlier, later = sorted((other_claim, other), key=lambda claim: claim.recorded)
        # A day that had passed when the next one was recorded is another occasion.
        passed = bool(earlier.day) and earlier.day <= later.recorded
        return not passed and _exclude(other_claim.words, other.words)
    if other_claim.denies is other.denies:
        return False
    denied, stated = (other_claim, other) if other_claim.denies else (other, other_claim)
    same = set(denied.words) == set(stated.words)
    return same if denied.exactly else set(denied.words) <= set(stated.words)


def _denial(text: str, names: set[str]) -> Claim | None:
    for pattern in (_ENDED, _IS_NOT, _NOT_NOW):
        found = pattern.match(text)
        if found is None:
            continue
        ended = pattern is _ENDED or bool(found["ended"])
        being = pattern is _IS_NOT or (pattern is _ENDED and bool(found["be"]))
        claim = _deed(found["who"], found["rest"], being, names)
        return claim._replace(denies=True, exactly=not ended) if claim else None
    return None


def _stated(text: str, names: set[str]) -> Sequence[Claim]:
    """Return the deed that a statement in the present states, whoever of up to four words does it: the entity, one
    word with a capital, or whoever *is* something."""
    for size in range(4, 0, -1):
        match = re.match(rf"(?P<who>(?:\S{{1,40}} ){{{size}}})(?:(?P<be>is|am|are) )?(?P<rest>.+)$", text)
        who = normal(match["who"]) if match else ""
        named = size == 1 and text[0].isupper() and who not in STOPWORDS
        known = match is not None and (who in names or bool(match["be"]) or named)
        if match and known and not _HEDGED.search(match["rest"].split(",")[0]):
            claim = _deed(match["who"], match["rest"], bool(match["be"]), names)
            return [claim] if claim else []
    return []


def _deed(who: str, rest: str, being: bool, names: set[str]) -> Claim | None:
    words = [word.lower() for word in _WORD.findall(rest)]
    if not words:
        return None
    verb = "be" if being else re.sub(r"(?<=[^aeiou]i)es$|(?<=[sxzh])es$|(?<=[^s])s$", "", words[0])
    telling = tuple(sorted({_stem(word) for word in (words if being else words[1:]) if word not in STOPWORDS}))
    subject = _subject(who, names)
    return Claim(("deed", subject, verb), telling) if telling else None


def _stem(word: str) -> str:
    return word.removesuffix("'s").removesuffix("s") if len(word) > 3 else word


def _subject(who: str, names: set[str]) -> str:
    """Return the subject, empty where it is the entity itself."""
    subject = normal(who)
    return "" if subject in names else subject


def _values(text: str, names: set[str], recorded: str) -> Sequence[Claim]:
    found = []
    for match in _COPULA.finditer(text):
        what, value = match["what"], match["value"]
        if _HEDGED.search(f"{what} {value}"):
            continue
        owner, _, thing = what.partition(" ")
        if "'s " in what:
            owner, _, thing = what.partition("'s ")
        words = tuple(word for word in normal(value).rstrip(".").split() if word not in _UNSAID)
        about = ("value", _subject(owner, names), normal(thing))
        found.append(Claim(about, words, recorded=recorded, day=_day(words, recorded)))
    return found


def _measures(text: str, recorded: str) -> Sequence[Claim]:
    match = _MEASURED.match(text)
    if match is None or _HEDGED.search(text):
        return []
    words = tuple(normal(word) for word in match["value"].split() if word not in _UNSAID)
    return [Claim(("value", "", normal(match["what"])), words, recorded=recorded, day=_day(words, recorded))]


def _day(words: Sequence[str], recorded: str) -> str:
    """Return the day that a value names, `YYYY-MM-DD`: without a year, in the year of recording; else an empty text."""
    month = next((_MONTHS.index(word) + 1 for word in words if word in _MONTHS), 0)
    number = next((int(word) for word in words if re.fullmatch(r"\d{1,2}", word)), 0)
    year = next((word for word in words if re.fullmatch(r"\d{4}", word)), recorded[:4])
    return f"{year}-{month:02}-{number:02}" if month and number else ""


def _exclude(items: tuple[str, ...], other: tuple[str, ...]) -> bool:
    """Return whether two values are different numbers, times or days, with the same other words."""
    dated = all(any(word in _MONTHS for word in words) for words in (items, other))
    if dated:
        items, other = (tuple(word for word in words if not re.fullmatch(r"\d{4}", word)) for words in (items, other))
    message, others = ([word for word in words if not _counts(word)] for words in (items, other))
    return message == others and items != other and len(items) == len(other)


def _counts(word: str) -> bool:
    return word in _MONTHS or any(letter.isdigit() for letter in word)
