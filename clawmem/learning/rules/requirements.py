"""Requirements for a product ("The logo must use our brand green")."""

from __future__ import annotations

import re

from clawmem.learning.english.sentences import TextSpan
from clawmem.learning.english.third_person import in_third_person
from clawmem.model.language.text import one_line
from clawmem.model.proposals.proposition import EntityHint, Proposition
from clawmem.model.records.event import Event

PREDICATE = "requires"
_THINGS = (
    "logo|logos|app|apps|site|website|page|pages|form|forms|button|buttons|screen|header|footer|banner|font|fonts|"
    "report|reports|invoice|invoices|contract|contracts|document|documents|letter|letters|label|labels|brochure|poster|"
    "api|apis|endpoint|endpoints|service|services|server|database|backup|backups|build|builds|release|releases|"
    "deployment|deployments|password|passwords|token|tokens|log|logs|test|tests|query|queries|response|"
    "responses|request|requests|payload|file|files|upload|uploads|export|exports|import|imports|commit|commits|"
    "migration|migrations|dashboard|script|scripts|tool|library|module|modules|component|components|"
    "certificate|newsletter|payment|payments|sample|samples|prototype|design|layout|"
    "translation|translations|caption|captions|recording|recordings|thesis|essay|proposal|budget|schedule"
)
_RULE = re.compile(
    rf"(?P<subject>(?:The|Our|My|All|Every|Each|Any)(?: (?!must\b|that\b|who\b)[\w'/&-]+){{0,4}}? (?i:{_THINGS})) "
    r"(?P<modal>must|has to|have to|needs? to) (?P<what>(?:(?:not|never|always|only|also) )?(?P<verb>[a-z]+)\b.*)"
)
# "must be tired" and "must have been fun" guess; "must be at most ten pages" does not.
_GUESSED = frozenset(
    "be have feel look seem sound taste cost mean come go get wait break love like hate know think".split()
)
_MEASURED = re.compile(
    r"(?:(?:not|never|always|only|also) )?be (?:at (?:most|least)|(?:under|over|below|above|within) \S*\d|"
    r"no (?:more|less|longer) than|"
    r"(?:less|more|fewer|smaller|larger|shorter|longer) than|signed|encrypted|written|approved|stored|sent|"
    r"available|accessible|compatible|readable|printed|named|kept|paid|tested|reviewed|done by|ready by|\d)"
)
_DOUBT = re.compile(r"\b(?:if|unless|maybe|perhaps|probably|supposedly|or else|apparently|I|me)\b", re.IGNORECASE)


def requirement(sentence: TextSpan, event: Event, name: str, trust: str) -> Proposition | None:
    """Return the requirement that a whole sentence states in its own words, or None."""
    text = sentence.text.replace("’", "'")
    found = _RULE.fullmatch(text.rstrip(" .!"))
    if not found or "?" in text or _DOUBT.search(text) or not 5 <= len(text.split()) <= 40:
        return None
    if found["verb"] in _GUESSED and not _MEASURED.match(found["what"]):
        return None
    theirs = found["subject"].startswith(("Our ", "My "))
    words = one_line(in_third_person(text.rstrip(" .!"), name if theirs else None))
    subject = in_third_person(found["subject"], name) if theirs else found["subject"]
    start, user = sentence.start, name == "The user"
    return Proposition(
        statement=f"{words[0].upper()}{words[1:]}.",
        event_id=event.id,
        span=(start, sentence.end),
        source_text=event.text[start : sentence.end],
        subject=subject[0].lower() + subject[1:] if user or not theirs else subject,
        predicate=PREDICATE,
        object=one_line(in_third_person(found["what"])),
        relation_phrase=found["modal"],
        category="requirement",
        confidence=0.8,
        importance=0.6,
        entity_hints=(EntityHint("person", "User" if user else name, "speaker"),),
        trust=trust,
        said_at=event.timestamp,
    )
