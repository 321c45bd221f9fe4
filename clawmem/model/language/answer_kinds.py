"""What a text must have to answer some kinds of questions: a number, an age, a phone number, a colour."""

from __future__ import annotations

import re

_NUMBER = (
    r"\d|\b(?:one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|\w+teen|twenty|thirty|fou?rty|fifty|sixty|"
    r"seventy|eighty|ninety|zwei|drei|vier|fünf|sechs|sieben|acht|neun|zehn|elf|zwölf|\w+zig)\b"
)
_AMOUNT = (
    r"\b(?:no|none|nobody|nothing|an?|dozens?|hundreds?|thousands?|millions?|half|once|twice|both|couple|few|several|"
    r"many|most|all|some|free|kein\w*|ein(?:e[nrs]?)?|beide|alle|viele|paar)\b"
)
_COLOURS = (
    r"\b(?:dark|light|pale|bright)?(?:white|black|gr[ae]y|red|blue|green|yellow|orange|purple|violet|pink|brown|beige|"
    r"silver|gold(?:en)?|turquoise|navy|cream|ivory|maroon|wei(?:ß|ss)|schwarz|grau|rot|blau|grün|gelb|lila|rosa|braun)"
    r"(?:ish|e[mnrs]?)?\b"
)
_AGE = (
    rf"(?:{_NUMBER})\W+(?:\w+\W+)?(?:years?|months?|weeks?|days?|old|Jahren?|Monaten?|alt)\b|\d[\s-]?jährig|"
    r"\b(?:born|birthday|Geburtstag|geboren|baby|newborn)\b|"
    rf"(?:\b(?:I am|are|is|was|were|bin|ist|wird|be|aged?|turn\w*)|['’](?:m|s|re))\W+(?:\w+\W+)?(?:{_NUMBER})"
)
_KINDS = tuple(
    (re.compile(asked, re.IGNORECASE), answer)
    for asked, answer in (
        (r"\b(?:phone|telephone|mobile) number\b|\bTelefonnummer\b", r"(?:\d[\s/()-]*){5}"),
        (r"^\W*(?:what|which) colou?r\b|^\W*welche Farbe\b", _COLOURS),
        (r"^\W*how old\b|^\W*wie alt\b", _AGE),
        (r"^\W*how (?:much|many)\b|^\W*wie ?viele?\b", rf"{_NUMBER}|{_AMOUNT}"),
    )
)


def answer_pattern(question: str) -> re.Pattern[str] | None:
    """Return the pattern of what an answer to a question has; None where its kind says nothing of that."""
    answer = next((answer for asked, answer in _KINDS if asked.search(question)), None)
    return None if answer is None else re.compile(answer, re.IGNORECASE)
