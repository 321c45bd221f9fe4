"""Read a question: the words to search for, and the time it is about."""

import re
from datetime import datetime

from clawmem.model.named_tuple import NamedTuple

_WORD = re.compile(r"[^\W_]+(?:['’][^\W_]+)?")
# Words of most sentences; they would make searches slower and worse.
STOPWORDS = frozenset(
    "a about after all also am an and any are as at be because been before being but by can could did do does doing "
    "for from get got had has have having he her here hers him his how i if in into is it its just like me more most "
    "my no not of on only or other our out over own she should so some such than that the their them then there "
    "these they this those to too under up us very was we were what when where which while who whom whose why will "
    "with would you your".split()
)
# A question without any of these words and without a digit names no time.
_TIME_WORDS = frozenset(
    "today yesterday tomorrow tonight last past this coming next upcoming ago day days week weeks month months year "
    "years january february march april may june july august september october november december jan feb mar apr jun "
    "jul aug sept sep oct nov dec monday tuesday wednesday thursday friday saturday sunday".split()
)
# Days to come: a text that was written earlier means other days by these words.
_AHEAD = re.compile(r"\b(?:(?:next|coming) (?:week|weekend|month|year)|tomorrow)\b", re.IGNORECASE)
_FIRST_PERSON = frozenset("i me my mine myself".split())


class DaySpan(NamedTuple):
    """A period of days, from first to last inclusive, as `YYYY-MM-DD`."""

    first: str
    last: str


def search_words(question: str) -> tuple[str, ...]:
    """Return the question's words, each once, without stopwords and days such as "next week".

    If nothing else is left, these are returned.
    """
    words, telling = _words(question)
    if _AHEAD.search(question) is not None:
        telling = _words(_AHEAD.sub(" ", question))[1] or telling
    return tuple(telling or words)


def _words(question: str) -> tuple[list[str], list[str]]:
    """Return the words in lower case, each once, and those of them that are no stopwords."""
    words = list(dict.fromkeys(word.lower().replace("’", "'") for word in _WORD.findall(question)))
    return words, [word.removesuffix("'s") for word in words if word.removesuffix("'s") not in STOPWORDS]


def is_first_person(question: str) -> bool:
    """Return whether the question is about the person who asks it: it has "I", "me" or "my"."""
    return any(word.lower().split("'")[0] in _FIRST_PERSON for word in _WORD.findall(question.replace("’", "'")))


def time_asked(question: str, now: datetime) -> DaySpan | None:
    """Return the days that a question names, or None."""
    words = {word.lower() for word in _WORD.findall(question)}
    if words.isdisjoint(_TIME_WORDS) and not any(character.isdigit() for character in question):
        return None
    from clawmem.model.language.date_words import days_named  # its pattern takes milliseconds to compile

    return days_named(question, now.date())
