"""Corrections: a value stated together with the wrong one ("Marc, not Max")."""

from __future__ import annotations

import re

from clawmem.learning.english.sentences import TextSpan
from clawmem.learning.english.words import HAS_A
from clawmem.model.language.text import normal, one_line
from clawmem.model.proposals.proposition import EntityHint, Proposition
from clawmem.model.records.event import Event

CORRECTION = "correction"
_LINKS = "in at for with on to from as called named by of"
_NO_VALUE = (
    "only just because yet sure even really so that always much anymore to until till if when while since though what "
    "how why who where very too quite necessarily exactly all every any bad far near close long me you him her them "
    "us it this there here"
)
_VALUE = (
    rf"(?:(?:{'|'.join(_LINKS.split())}) )?(?P<{{}}>(?!(?:{'|'.join(_NO_VALUE.split())})\b)"
    r"(?:an? |the |my |our )?[\w$€£][\w'&.+#:/%-]*(?: (?!not\b|but\b|instead\b|rather\b|and\b)[\w'&.+#:/%-]+){{0,3}}?)"
)
_PROPER = (
    r"(?!(?:I|I'm|We|My|Our|He|She|It|It's|They|You|The|This|That|There|If|But|And|So)\b)"
    r"[A-Z\d$€£][\w'&.+#:/%-]*(?: [A-Z\d][\w'&.+#:/%-]*){0,3}"
)
_NOT = r"(?:,? (?:and |but )?not|,? instead of|,? rather than) "
_CONTRAST = re.compile(r", (?:and )?not " + _VALUE.format("old") + r"$")
_WRONG = (
    r"no|nope|sorry|oops|wait|actually|correction|my (?:mistake|bad)|i misspoke|scratch that|"
    r"that(?:['’]s| is| was) (?:wrong|not (?:right|correct|true)|incorrect|a (?:mistake|typo))"
)
_LEAD = rf"\A(?:(?:{_WRONG}|apologies|hmm|oh|ah)[,.:;!-]+ ?)*+"
# What stands before a clause that says anew what was wrong: "No, ", "Sorry, that's wrong: ".
_MARK = re.compile(rf"[.!?…\n] *(?:(?:oh|ah|hmm|and|but),? )?(?:(?:{_WRONG})(?:[,.:;!-]+\s*|\s+))+$", re.IGNORECASE)
_FARTHEST = 80
_MEANT = (
    r"(?:i (?:meant|mean|should have said|was thinking of)(?: to (?:say|write|type))?|it(?:'s| is| was| should be)|"
    r"that should (?:be|have been)|make (?:it|that)|read(?: that as)?)"
)
_FORMS = tuple(
    re.compile(_LEAD + form, re.IGNORECASE)
    for form in (
        rf"{_MEANT} " + _VALUE.format("new") + _NOT + _VALUE.format("old"),
        rf"(?:{_MEANT} )?not " + _VALUE.format("old") + rf"(?:,? but|,|;)(?: {_MEANT})? " + _VALUE.format("new"),
        r"i (?:said|wrote|typed) " + _VALUE.format("old") + r",?(?: but)? i meant " + _VALUE.format("new"),
        # Without a verb only names and numbers: "Bergen, not Oslo."
        rf"(?-i:(?P<new>{_PROPER}), not (?P<old>{_PROPER}))",
    )
)


def split_correction(piece: TextSpan) -> tuple[TextSpan, str | None]:
    """Return a clause without the value it calls wrong, and that value. The span stays that of the whole clause."""
    text = piece.text.rstrip(" .!")
    found = _CONTRAST.search(text)
    if not found or len(text[: found.start()].split()) < 2:
        return piece, None
    return TextSpan(text[: found.start()], piece.start, piece.end), found["old"]


def mark_correction(proposition: Proposition, event: Event) -> Proposition:
    """Mark the proposition as a correction if the words before its clause say so ("No, ...").

    A clause that names a relation counts only if it says nothing else: "No, my son Marc is ill" corrects the illness.
    """
    start = proposition.span[0]
    if _tells_who(proposition) and not _only_tells_who(proposition):
        return proposition
    # The text begins like a line.
    before = f"\n{event.text[:start]}" if start <= _FARTHEST else event.text[start - _FARTHEST : start]
    said = _MARK.search(before) or " is actually " in proposition.source_text
    return proposition._replace(corrects=True) if said else proposition


def _tells_who(proposition: Proposition) -> bool:
    return (proposition.relation_phrase or "").startswith(HAS_A)


def _only_tells_who(proposition: Proposition) -> bool:
    name = re.escape(proposition.object or "")
    said = proposition.source_text.rstrip(" .!,")
    return re.search(rf"(?:\bis|['’]s|called|named)(?: actually)? {name}$", said) is not None


def corrected_value(sentence: TextSpan, event: Event, name: str, trust: str) -> Proposition | None:
    """Return a proposition for a sentence that only corrects a value ("Bergen, not Oslo"), or None."""
    text = sentence.text.replace("’", "'").rstrip(" .!")
    found = next((match for form in _FORMS if (match := form.fullmatch(text))), None)
    if found is None or normal(found["new"]) == normal(found["old"]):
        return None
    new, old = one_line(found["new"]), one_line(found["old"])
    user = name == "The user"
    return Proposition(
        statement=f"{name} corrected '{old}' to '{new}'.",
        event_id=event.id,
        span=(sentence.start, sentence.end),
        source_text=event.text[sentence.start : sentence.end],
        subject="the user" if user else name,
        object=new,
        category=CORRECTION,
        confidence=0.85,
        entity_hints=(EntityHint("person", "User" if user else name, "speaker"),),
        trust=trust,
        former=old,
        said_at=event.timestamp,
    )


def is_specific(text: str) -> bool:
    """Return whether a value contains a capital letter or a digit."""
    return re.search(r"[A-Z\d]", text) is not None
