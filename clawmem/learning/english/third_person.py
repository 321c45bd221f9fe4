"""Convert the first person to the third person."""

from __future__ import annotations

import re

from clawmem.learning.english.grammar import ABLE, FUTURE, MINE, THING, USED_TO, WE, ParsedClause
from clawmem.learning.english.verbs import PRESENT, third_person
from clawmem.learning.english.words import PRAISED

_TOKEN = re.compile(
    r"\b(?:I'm|I am|I've|I have|I'll|I was|I|we're|we've|we'll|we|me|my|mine|myself|us|our|ours|ourselves)\b",
    re.IGNORECASE,
)
_FORMS = {
    "i'm": "they are", "i am": "they are", "i've": "they have", "i have": "they have", "i'll": "they will",
    "i was": "they were", "i": "they", "we're": "they are", "we've": "they have", "we'll": "they will", "we": "they",
    "me": "them", "my": "their", "mine": "theirs", "myself": "themself", "us": "them", "our": "their",
    "ours": "theirs", "ourselves": "themselves",
}  # fmt: skip
_SECOND_VERB = re.compile(
    r"(?:^|,? )and (?:then |also |always |often |sometimes )?(practice|train|go|take|make|have|try|want|use|play|do|"
    r"get|help|keep|watch|read|feel|think|"
    r"need|work|teach|eat|drink|study|visit|"
    r"walk|talk|listen|train|exercise|spend|love|like|enjoy|live|run|write|cook|know|plan|hope)\b(?! and)"
)
_WITH_BARE_VERB = (FUTURE, USED_TO, ABLE)
_FAMILY = re.compile(
    r"\b(?:kids?|children|son|daughter|baby|married|wedding|honeymoon|anniversary|family|house|home|puppy|dog|"
    r"cat|pet|"
    r"husband|wife|nursery|parents)\b",
    re.IGNORECASE,
)
_TEAM = re.compile(
    r"\b(?:deploy\w*|ship\w*|migrat\w*|databases?|server|api|app|release\w*|sprint|customers?|clients?|"
    r"postgres\w*|sql\w*|"
    r"python|react|code\w*|tests?|framework|library|staging|production|budget|launch\w*|product|stack|backend|"
    r"frontend|"
    r"hosting|docker|kubernetes|aws|vendor|pricing|standup|roadmap|repo\w*|branch\w*|users)\b",
    re.IGNORECASE,
)


_AT_WORK = re.compile(
    r"\bwe (?:have |'ve )?(?:use|used|run|chose|chosen|picked|decided|need|"
    r"ship|build|built|store|require|support|agreed|"
    r"settled|moved|switched|migrated)\b",
    re.IGNORECASE,
)


def possessive(name: str) -> str:
    """Return the possessive form: `Ana` -> `Ana's`."""
    return name + "'s"


# After other words a mine is one that people dig.
_OWNED = re.compile(r"(?:^|\b(?:of|is|was|are|were|be|to|like|than|and|or|with|not|as|it|that) )$", re.IGNORECASE)


def other_speakers(text: str, name: str) -> str:
    """Return who "we" are if `name` says it, as far as the text shows."""
    if re.search(r"\b(?:married|engaged|honeymoon|wedding)\b", text):
        return f"{name} and partner"
    if _TEAM.search(text) or (name == "The user" and _AT_WORK.search(text)):
        return possessive(name) + " team"
    if _FAMILY.search(text):
        return possessive(name) + " family"
    return f"{name} and others"


def in_third_person(text: str, name: str | None = None) -> str:
    """Return the text with first-person words replaced. With `name`, the first one becomes that name."""
    given = [name] if name else []

    def change(match: re.Match[str]) -> str:
        word = match[0].lower()
        if word == "us" and match[0] != "us":
            return match[0]
        if word not in _FORMS or (word == "mine" and not _OWNED.search(match.string, 0, match.start())):
            return match[0]
        if given and word in ("my", "mine", "our", "ours"):
            return possessive(given.pop())
        if given and word in ("me", "us"):
            return given.pop()
        return _FORMS[word]

    return _TOKEN.sub(change, PRAISED.sub(article, text))


def article(match: re.Match[str]) -> str:
    """Return the article for a newly introduced thing ("this great book")."""
    following = match.string[match.end() :]
    return "an " if following[:1] in "aeiou" else "a "


def subject_of(reading: ParsedClause, name: str, context: str) -> str:
    """Return the subject of the clause in the third person."""
    if reading.person == WE:
        return other_speakers(context, name)
    if reading.person == MINE:
        return possessive(name) + reading.subject[reading.subject.index(" ") :]
    if reading.person == THING:
        return in_third_person(reading.subject, name)
    return name if reading.person == "i" else reading.subject


def is_plural(reading: ParsedClause) -> bool:
    """Return whether the subject takes a plural verb."""
    return reading.person == WE


def until_second_verb(text: str) -> str:
    """Return the text up to a second verb after "and"."""
    second = _SECOND_VERB.search(text)
    return text[: second.start()] if second else text


def _one_verb_form(reading: ParsedClause, text: str, single: bool) -> str:
    """A second verb after "and", made to go with the first; cut off where it is in another tense."""
    second = _SECOND_VERB.search(text)
    if not second or re.search(r"\b(?:to|can|will|not)\b", text[: second.start()]) or reading.aspect in _WITH_BARE_VERB:
        return text
    if reading.aspect == PRESENT and not reading.negated:
        return text[: second.start(1)] + (third_person(second[1]) if single else second[1]) + text[second.end(1) :]
    return text[: second.start()]


def statement(reading: ParsedClause, name: str, rest: str, context: str, label: str = "", lead: str = "") -> str:
    """Return the clause as one self-contained sentence."""
    subject = subject_of(reading, name, context)
    team = is_plural(reading) and subject.endswith((" team", " family"))
    verb = reading.plural if is_plural(reading) and not team else reading.verb
    speaks_of_self = reading.person in ("i", WE)
    tail = in_third_person(rest, None if speaks_of_self else name if reading.person != MINE else None)
    tail = re.sub(
        r"^(?:also|just|actually|really) (?=\w+ )",
        "",
        _one_verb_form(reading, tail, single=not is_plural(reading) or team),
    )
    words = f"{subject} {verb} {tail}".strip().rstrip(" .,;:!-")
    if lead:
        words = re.sub(r"^The\b", "the", words)
        words = f"{lead[0].upper()}{in_third_person(lead[1:])}, {words}"
    words = re.sub(r"\s+", " ", words)
    words = words[0].upper() + words[1:]
    return f"{words} ({label})." if label else f"{words}."
