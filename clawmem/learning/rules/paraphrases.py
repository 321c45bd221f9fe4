"""Rewrite everyday statements of a change in the plain form that the rules know."""

from __future__ import annotations

import re

from clawmem.learning.english.sentences import TextSpan
from clawmem.learning.english.words import APPOINTMENT, FACT_THINGS, RELATION_OF

_OWN = r"(?:e-?mail(?: address)?|(?:tele)?phone(?: number)?|(?:first |last |full )?name|pronouns|time ?zone)"
_PEOPLE = "|".join(sorted({*RELATION_OF, "landlord", "landlady"}, key=len, reverse=True))
_ROLE = rf"(?P<role>[Mm]y (?:[\w-]+ ){{0,2}}?(?:{_PEOPLE}))"
_NAME = r"[A-Z][\w'-]+(?: [A-Z][\w'-]+){0,2}"
_NO_MORE = r"(?:is no longer|isn't|is not)"
_CHANGED = re.compile(
    r"(?:I|[Ww]e)(?:'ve| have)?(?: just| recently| finally| now)? (?:changed|updated|switched) "
    rf"(?:my|our) (?P<what>{_OWN}) (?:from \S+(?: \S+)? )?to (?P<new>\S.*)|"
    rf"[Mm]y (?P<mine>{_OWN}) (?:has |has been |was |got )?(?:just |recently )?changed "
    r"(?:from \S+(?: \S+)? )?to (?P<now>\S.*)|"
    r"(?:I|[Ww]e)(?:'ve| have)?(?: just| recently)?(?: got| have| set up)? an? new "
    rf"(?P<another>{_OWN})(?:[:,]| which is| and it's|, it's) (?P<which>\S*[@\d].*)"
)
_LEFT = re.compile(rf"(?P<who>{_NAME}) {_NO_MORE} {_ROLE}(?: any ?more| any longer| now)?")
# The sentence before "Fiona Grant is.", and what may follow it with the name alone.
_GONE = re.compile(
    rf"(?:{_NAME} {_NO_MORE} {_ROLE}(?: any ?more| any longer| now)?|"
    rf"{_ROLE.replace('?P<role>', '?P<of>')} {_NO_MORE} {_NAME}(?: any ?more| any longer)?)"
    r"[.,;!]+ *(?:and |but |now )?$"
)
_INSTEAD = re.compile(
    rf"(?P<new>{_NAME}) is(?: now)?|(?:it's|it is|the new one is|now it's) (?:now )?(?P<now>{_NAME})(?: now)?"
)
_FAR = 120
_NEW_DAY = re.compile(
    r"(?P<what>(?:[Tt]he|[Mm]y|[Oo]ur) [\w' -]{3,50}?)(?: is|'s) (?P<anew>now )?on (?P<new>(?:the )?[^,]*\d[^,]*?)"
    r"(?P<not>,? (?:and )?not (?:on )?(?:the )?[^,]*\d[^,]*)?"
)


def plain_form(piece: TextSpan, text: str) -> TextSpan:
    """Return the clause in plain form with the span it has in `text`, or the clause itself."""
    words = piece.text.rstrip(" .!")
    plain = (
        _changed(words)
        or _left(words)
        or _instead(words, text[max(0, piece.start - _FAR) : piece.start])
        or _day(words)
    )
    return TextSpan(plain, piece.start, piece.end) if plain else piece


def _changed(words: str) -> str | None:
    """`I changed my email to x`: my new email is x."""
    found = _CHANGED.fullmatch(words)
    if not found:
        return None
    what, new = found["what"] or found["mine"] or found["another"], found["new"] or found["now"] or found["which"]
    return f"My new {what} is {new}"


def _left(words: str) -> str | None:
    """`Tom isn't my boss any more`: my boss is no longer Tom."""
    found = _LEFT.fullmatch(words)
    return f"M{found['role'][1:]} is no longer {found['who']}" if found else None


def _instead(words: str, before: str) -> str | None:
    """`Ada is`, where the words before say that somebody else is my boss no more."""
    found, gone = _INSTEAD.fullmatch(words), _GONE.search(before.replace("’", "'"))
    if not found or not gone:
        return None
    return f"M{(gone['role'] or gone['of'])[1:]} is {found['new'] or found['now']}"


def _day(words: str) -> str | None:
    """`The exam is on May 8, not May 5`: it was set for May 8."""
    found = _NEW_DAY.fullmatch(words)
    if not found or not (found["anew"] or found["not"]):
        return None
    last = re.split(r" (?:for|of|with|on) ", found["what"].lower())[0].split()[-1]
    known = last in FACT_THINGS or APPOINTMENT.fullmatch(last)
    return f"{found['what'][0].upper()}{found['what'][1:]} was set for {found['new']}" if known else None
