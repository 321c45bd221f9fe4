"""Explicit requests and commitments: requests to remember, instructions, promises and recommendations."""

from __future__ import annotations

import re
from collections.abc import Iterator

from clawmem.learning.english.sentences import TextSpan, sentences, sub_span
from clawmem.learning.english.third_person import in_third_person
from clawmem.learning.rules.dating import date_label, said_day
from clawmem.model.language.date_words import find_dates
from clawmem.model.language.text import one_line
from clawmem.model.proposals.proposition import EntityHint, Proposition
from clawmem.model.records.event import Event, name_of_outsider

_REMEMBER = re.compile(
    r"(?:(?:hey|ok|okay|so|also|and|oh|btw)[,]? )?(?:please |pls |can you please |could you please |can you |"
    r"could you )?"
    r"(?:(?:remember|note|keep in mind|bear in mind|don't forget|make a note|take note|save|store)(?: (?:that|"
    r"this|for later))?(?::|,| that\b| -)|"
    r"remember (?=I\b|I'|my\b|we\b)|for (?:future reference|the record)(?:,|:)|note to self(?:,|:|\s-))\s*",
    re.IGNORECASE,
)
_STANDING = re.compile(
    r"(?:(?:please|also|and|so|from now on|in future|in the future|going forward)[, ]+)*(?P<rule>(?:always|"
    r"never) (?P<verb>[a-z]+) .+|"
    r"(?:when(?:ever)? I (?:ask|say|request|mention)\b[^,]+, (?:please |always |never )*(?P<verb2>[a-z]+) .+))",
    re.IGNORECASE,
)
_FROM_NOW = re.compile(
    r"(?:from now on|going forward|in (?:the )?future)[, ]+(?:please )?(?P<rule>(?P<verb>[a-z]+) .+)", re.IGNORECASE
)
_DOABLE = frozenset(
    "include format provide use answer reply respond write show cite mention explain give add deploy commit "
    "push merge test run "
    "send schedule call book ask store log keep start end avoid check put round translate summarize summarise "
    "return list quote "
    "sign address skip print render generate validate verify update review confirm specify highlight describe "
    "suggest "
    "recommend prefer limit apply follow document open close delete rotate rebase squash tag release order "
    "buy cook".split()
)
_LESSON = re.compile(
    r"(?:lesson learned|lessons learned|key (?:takeaway|lesson|insight)|takeaway|til|moral of the story)(?::|"
    r",| -| is that| was that)\s*",
    re.I,
)
_PROMISE = re.compile(
    r"(?:I'll|I will|I'm going to) (?P<what>(?:remind|send|schedule|update|monitor|check back|follow up|"
    r"keep track|notify|ping|book|"
    r"prepare|draft|email|track|log|file|open a|create a|set up a|add|rerun|re-run|watch|renew|cancel|order) .+)"
)
_ADVICE = re.compile(
    r"(?:I(?:'d| would)? (?:strongly |highly |also |personally )?(?:recommend|suggest|advise)|"
    r"my recommendation is(?: to)?) (?P<what>.+)",
    re.IGNORECASE,
)
_ACTION = re.compile(
    r"\**(?:action items?|next steps?|to-?do|todo|follow-?up)\**\s*:\**\s*(?P<what>\S.+)", re.IGNORECASE
)
_SPECIFIC = re.compile(r"[A-Z][\w+#.-]+|\d")
_REPORT = re.compile(
    r"(?:The|Your|This) (?:[\w/-]+ ){1,5}(?:is|are|has|have|was|were|expires|ends|starts|costs|requires|"
    r"allows|supports) .*(?:\d|[A-Z]).*\."
)
_LONGEST_REPORT = 2000
_MOST_ADVICE = 2


def remember_request(
    sentence: TextSpan, event: Event, name: str, chat: bool
) -> tuple[TextSpan | None, Proposition | None] | None:
    """Return the content of a request to remember: the part to read as a sentence, and a fallback proposition."""
    text = sentence.text.replace("’", "'")
    remember, lesson = _REMEMBER.match(text), _LESSON.match(text)
    if (remember and (chat or text.lower().startswith(("note to self", "for the record")))) or lesson:
        rest = sub_span(sentence, (remember or lesson).end(), len(text))  # type: ignore[union-attr]
        if (text.endswith("?") and not text.lower().startswith(("can you", "could you", "please"))) or len(
            rest.text.split()
        ) < 3:
            return None
        inner = sub_span(rest, 0, len(rest.text.rstrip("?!. ")))
        return inner, _kept(inner, event, name, "lesson" if lesson or "self" in text[:16].lower() else "fact")
    return _instruction(sentence, text, event, name) if chat else None


def _kept(piece: TextSpan, event: Event, name: str, category: str) -> Proposition:
    verb = "learned" if category == "lesson" else "asked to remember"
    words = one_line(in_third_person(_dated(piece.text.replace("’", "'"), event)))
    predicate = "learned" if category == "lesson" else None
    return _proposition(piece, event, f"{name} {verb}: {words}.", name, predicate, words, category, 0.85, 0.8, "user")


def _instruction(sentence: TextSpan, text: str, event: Event, name: str) -> tuple[None, Proposition] | None:
    found = _STANDING.match(text) or _FROM_NOW.match(text)
    if not found or text.endswith("?"):
        return None
    verb = found["verb"] or found.groupdict().get("verb2") or ""
    if verb.lower() not in _DOABLE or not 3 <= len(text.split()) <= 60:
        return None
    rule = one_line(in_third_person(found["rule"])).rstrip(" .!")
    words = f"{name} wants this rule to be followed: {rule[0].lower()}{rule[1:]}."
    return None, _proposition(sentence, event, words, name, "instructed", rule, "instruction", 0.9, 0.85, "user")


def assistant_propositions(event: Event) -> Iterator[Proposition]:
    """Return the promises, recommendations and action items of an assistant's turn."""
    count = 0
    for sentence in sentences(event.text):
        text = sentence.text.replace("’", "'").strip("*_ ")
        if count >= _MOST_ADVICE or text.endswith(("?", ":")) or len(text) > 300:
            continue
        proposition = _commitment(sentence, text, event)
        if proposition:
            count += 1
            yield proposition


def _commitment(sentence: TextSpan, text: str, event: Event) -> Proposition | None:
    promise, advice, action = _PROMISE.match(text), _ADVICE.match(text), _ACTION.match(text)
    name = event.speaker or "The assistant"
    if promise and not re.search(r"\b(?:below|example|assume)\b", text):
        what = _of_user(_dated(promise["what"], event))
        return _proposition(
            sentence, event, f"{name} promised to {what}.", name, "plans_to", what, "commitment", 0.75, 0.6, "agent"
        )
    if action:
        what = _of_user(_dated(action["what"], event))
        return _proposition(
            sentence, event, f"{name} noted an action item: {what}.", name, None, what, "action", 0.7, 0.55, "agent"
        )
    if advice and _SPECIFIC.search(advice["what"]) and not re.search(r"\b(?:this|these|the following|below)\b", text):
        what = _of_user(advice["what"])
        return _proposition(
            sentence, event, f"{name} recommended {what}.", name, None, what, "recommendation", 0.65, 0.45, "agent"
        )
    return None


def _of_user(text: str) -> str:
    words = re.sub(r"\byour\b", "the user's", text, flags=re.IGNORECASE)
    return one_line(re.sub(r"\byou\b", "the user", words, flags=re.IGNORECASE)).rstrip(" .!*")


def _dated(text: str, event: Event) -> str:
    """The text with the days its relative dates mean: `tomorrow` means nothing on any other day."""
    label, words = date_label(find_dates(text, said_day(event), ahead=True)), text.rstrip(" .!*")
    return f"{words} ({label})" if label else words


def tool_propositions(event: Event) -> Iterator[Proposition]:
    """Return the plain sentences that a tool reported, attributed to the tool."""
    if len(event.text) > _LONGEST_REPORT:
        return
    name = name_of_outsider(event) or "A tool"
    for sentence in sentences(event.text):
        if _REPORT.fullmatch(sentence.text) and len(sentence.text) <= 200:
            words = one_line(sentence.text).rstrip(".")
            yield _proposition(
                sentence, event, f"{name} reported: {words}.", name, None, words, "fact", 0.65, 0.45, "tool"
            )


def _proposition(
    piece: TextSpan, event: Event, words: str, name: str, predicate: str | None, value: str, category: str,
    confidence: float, importance: float, trust: str,
) -> Proposition:  # fmt: skip
    user = name == "The user"
    hints = (
        (EntityHint("person", "User" if user else name, "speaker"),)
        if trust == "user"
        else (EntityHint("person", "User", "speaker"),)
    )
    return Proposition(
        statement=words,
        event_id=event.id,
        span=(piece.start, piece.end),
        source_text=event.text[piece.start : piece.end],
        subject="the user" if user else "the assistant" if name == "The assistant" else name,
        predicate=predicate,
        object=value,
        category=category,
        confidence=confidence,
        importance=importance,
        entity_hints=hints,
        trust=trust,
        said_at=event.timestamp,
    )
