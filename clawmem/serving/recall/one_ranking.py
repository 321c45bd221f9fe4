"""Facts, events, notes and summaries in one order, each thing once."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from itertools import accumulate
from typing import Any, TypeVar

from clawmem.model.facts.fact import PINNED, Fact, is_given_by_person, is_low_trust
from clawmem.model.facts.fact_words import because
from clawmem.model.facts.validity import is_over
from clawmem.model.language.dates import begin_instant, end_of, sortable
from clawmem.model.language.text import normal
from clawmem.model.lifecycle.premises import SHARE_IN_DOUBT, in_doubt
from clawmem.model.records.entity import owner_of
from clawmem.model.records.event import display_speaker, is_of_person, trust_limit
from clawmem.model.search.event_ranking import ASSISTANT, only_asks
from clawmem.serving.recall.result import EVENTS, FACTS, EventHit, FactHit, NoteHit, RecallHit, RecallResult, page_kind

Scored = TypeVar("Scored", FactHit, EventHit, NoteHit)
# An event of at most so many characters is shown whole as the quote of a fact.
WHOLE_QUOTE = 300
# An agent's own facts come first if their score is at least this part of the best one.
OWN_SHARE = 0.5
# A question that somebody asked is seldom an answer, and a statement without its end says little: they keep this part
# of their scores.
ASKING_SHARE, UNFINISHED_SHARE = 0.8, 0.5
# A fact about what the question names, with the relation that it asks for, gets this part of what it lacks of a full
# match, divided by the number of such facts: its triple answers the question, whatever its words.
_EXACT_SHARE = 0.5
# What a fact with a reason gets of its own score where a reason is asked for, up to a full match.
_REASON_SHARE = 1.5
# What has the same words of the question, and at least this part of the score, says about as much.
NEAR_TIE = 0.7
# What a fact and a later message have in common where they may be about the same.
_MOST_WORDS, _NUMBER, _JUST_ABOVE = 0.6, re.compile(r"\d+(?:[.,:]\d+)*"), 0.0001
_HANGING = frozenset("a an and because but for of or than that the to where which who whose with".split())


def in_one_order(
    result: RecallResult,
    agent: str | None,
    now: str,
    sources: Collection[EventHit] = (),
    why: bool = False,
    present: str | None = None,
) -> list[RecallHit]:
    """Return all hits, best first; an agent's own facts come first among those that match about as well.

    A fact takes the place of the event that it comes from, with the higher of both scores. Equal texts appear once: the
    fact before the event before the line of a page. `sources` are events of facts that the question did not find. With
    `why`, the question asks for a reason. `present` is the moment whose state is asked for, None where the question is
    about another time. Times are ISO 8601 UTC.
    """
    hits = _behind_news(_behind_facts(_without_equal(_every(result, sources, why))), now)
    hits = _with_present_first(hits, result.found, present) if present else hits
    by_score = sorted(hits, key=lambda hit: (hit.hit.only_named, -hit.hit.score))
    every = _newest_of_near_ties(by_score)
    if agent is None or not every:
        return every
    near = every[0].hit.score * OWN_SHARE
    own = [hit for hit in every if isinstance(hit.hit, FactHit) and owner_of(hit.hit.entity) == agent]
    return sorted(every, key=lambda hit: not (hit in own and hit.hit.score >= near))


def with_falling_scores(hits: Sequence[RecallHit]) -> list[RecallHit]:
    """Return the hits, none with a higher score than the one before it, such as one that has only a name."""
    most = accumulate((recall_hit.hit.score for recall_hit in hits), min)
    return [_scoring(hit, score) for hit, score in zip(hits, most, strict=True)]


def _newest_of_near_ties(hits: Sequence[RecallHit]) -> list[RecallHit]:
    """Return the hits, but of those in a row that were said or noted, have the same part of the question's words, and
    score about as much as the first of them, the newest first."""
    rows: list[list[RecallHit]] = []
    for hit in hits:
        first = rows[-1][0] if rows else None
        if first is not None and _ties(first, hit):
            rows[-1].append(hit)
        else:
            rows.append([hit])
    newest = [hit for row in rows for hit in sorted(row, key=_when, reverse=True)]
    return [_scoring(hit, other.hit.score) for hit, other in zip(newest, hits, strict=True)]


def _ties(first: RecallHit, hit: RecallHit) -> bool:
    same = FACTS not in (first.kind, hit.kind) and hit.hit.only_named == first.hit.only_named
    # An assistant often repeats later what it was told.
    same = same and _is_advice(first) == _is_advice(hit)
    return same and hit.hit.share == first.hit.share > 0 and hit.hit.score >= NEAR_TIE * first.hit.score


def _is_advice(hit: RecallHit) -> bool:
    return isinstance(hit.hit, EventHit) and hit.hit.event.role == ASSISTANT


def _when(hit: RecallHit) -> tuple[str, int]:
    if isinstance(hit.hit, NoteHit):
        return hit.hit.day or "", hit.hit.place
    return (hit.hit.event.timestamp, hit.hit.place) if isinstance(hit.hit, EventHit) else ("", 0)


def _behind_facts(hits: Sequence[RecallHit]) -> list[RecallHit]:
    """Return the hits, but no question that somebody asked above a fact with as many of the words, and nothing that no
    longer holds above the fact that holds instead."""
    facts = [hit.hit for hit in hits if isinstance(hit.hit, FactHit) and not hit.hit.only_named]

    def limit(hit: EventHit) -> float:
        asks = only_asks(hit.event.text)
        before = (
            fact.score for fact in facts if fact.fact.fact in hit.outdated or (asks and fact.share >= hit.share > 0)
        )
        return min(hit.score, max(before, default=hit.score))

    return [_scoring(hit, limit(hit.hit)) if isinstance(hit.hit, EventHit) else hit for hit in hits]


def _with_present_first(hits: Sequence[RecallHit], found: Sequence[FactHit], moment: str) -> list[RecallHit]:
    """Return the hits, but of the facts with the relation that the question asks for, the one that holds at a moment
    and is of whom it asks about before those that do not, whatever the messages are worth that they come from."""
    exact = {hit.fact.id for hit in found if hit.channels.get("predicate")}
    facts = {hit.hit.fact.id: hit.hit for hit in hits if isinstance(hit.hit, FactHit)}
    holding = {name: hit for name, hit in facts.items() if name in exact and _holds(hit.fact, moment)}
    best = max(holding.values(), key=lambda hit: hit.score, default=None)
    if best is None:
        return list(hits)
    rivals = {n for n, hit in facts.items() if n not in holding and hit.fact.predicate == best.fact.predicate}
    most = max(best.score, *(facts[name].score for name in rivals), 0.0)

    def score(hit: FactHit) -> float:
        if hit.fact.id in rivals:
            return min(hit.score, most * (1 - _JUST_ABOVE))
        return most if hit is best else hit.score

    return [_scoring(hit, score(hit.hit)) if isinstance(hit.hit, FactHit) else hit for hit in hits]


def _holds(fact: Fact, moment: str) -> bool:
    begins = begin_instant(sortable(fact.valid_from) or "")
    return fact.is_current and not is_over(fact, moment) and begins <= end_of(moment)


def _behind_news(hits: Sequence[RecallHit], now: str) -> list[RecallHit]:
    """Return the hits, but no learned fact above what a person said later, and before `now`, with as many of the words
    and another number."""
    found = (hit.hit for hit in hits if isinstance(hit.hit, FactHit))
    facts = [hit for hit in found if hit.share >= _MOST_WORDS and _is_only_learned(hit.fact)]
    said_at = {fact.fact.id: str((fact.fact.metadata or {}).get("said_at", fact.fact.timestamp)) for fact in facts}
    numbers = [(fact, old) for fact in facts if (old := set(_NUMBER.findall(fact.fact.fact)))]

    def lifted(hit: EventHit) -> float:
        new = set(_NUMBER.findall(hit.event.text))
        is_news = hit.event.role == "user" and is_of_person(hit.event) and hit.event.timestamp <= now
        if not new or not is_news or hit.outdated or hit.only_named or only_asks(hit.event.text):
            return hit.score
        over = (fact for fact, old in numbers if old.isdisjoint(new) and hit.share >= fact.share)
        older = (fact for fact in over if said_at[fact.fact.id] < hit.event.timestamp)
        return max((fact.score + _JUST_ABOVE for fact in older if fact.score >= hit.score), default=hit.score)

    return [_scoring(hit, lifted(hit.hit)) if numbers and isinstance(hit.hit, EventHit) else hit for hit in hits]


def _is_only_learned(fact: Fact) -> bool:
    return fact.source_event is not None and fact.importance != PINNED and not is_given_by_person(fact)


def _every(result: RecallResult, sources: Collection[EventHit], why: bool = False) -> Iterator[RecallHit]:
    heard = {source.event.id: source for source in (*sources, *result.heard)}
    shown: set[str] = set()
    exact = result.channels["predicate"].hits if "predicate" in result.channels else 0
    for fact in (_fitting(hit, exact, why) for hit in result.found):
        message = heard.get(fact.fact.source_event or "")
        if message is None or not _says_it_all(fact, message):
            yield RecallHit(FACTS, fact, None, display_speaker(message.event) if message else None)
            continue
        shown.add(message.event.id)
        yield RecallHit(FACTS, _with_score_of(fact, message) if message.score > fact.score else fact, message.event)
    for hit in result.heard:
        if hit.event.id not in shown:
            yield RecallHit(EVENTS, scaled(hit, ASKING_SHARE) if only_asks(hit.event.text) else hit)
    yield from (RecallHit(page_kind(hit.path), hit) for hit in result.noted)


def _fitting(fact: FactHit, exact: int, why: bool) -> FactHit:
    """Return a fact with a higher score if its triple answers the question, as those of `exact` facts do, or its reason
    one that asks `why`, and with a lower one if it is unfinished or in doubt."""
    if fact.fact.fact.rstrip(" .").rpartition(" ")[2].lower() in _HANGING:
        return scaled(fact, UNFINISHED_SHARE)
    if fact.fact.metadata and in_doubt(fact.fact):
        fact = scaled(fact, SHARE_IN_DOUBT)
    if why and because(fact.fact):
        fact = scaled(fact, max(1.0, min(1 + _REASON_SHARE, 1 / fact.score if fact.score else 1.0)))
    if not exact or not fact.channels.get("predicate"):
        return fact
    more = round((1 - min(fact.score, 1.0)) * _EXACT_SHARE / exact, 4)
    channels = {**fact.channels, "predicate": fact.channels["predicate"] + more}
    return fact._replace(score=round(fact.score + more, 4), channels=channels)


def _scoring(other_hit: RecallHit, score: float) -> RecallHit:
    hit: Any = other_hit.hit
    return other_hit if hit.score in (0, score) else other_hit._replace(hit=scaled(hit, score / hit.score, score))


def scaled(hit: Scored, share: float, score: float | None = None) -> Scored:
    channels = {name: points * share for name, points in hit.channels.items()}
    scaled = hit._replace(score=round(hit.score * share, 4) if score is None else score, channels=channels)
    return scaled._replace(prior=scaled.prior * share) if isinstance(scaled, FactHit) else scaled


def _says_it_all(fact: FactHit, hit: EventHit) -> bool:
    """Return whether a fact and its quote say all of an event. One with a warning of its own is shown, too."""
    event = hit.event
    whole = len(event.text) <= WHOLE_QUOTE or 2 * len(fact.fact.source_text or "") >= len(event.text)
    warned = is_low_trust(trust_limit(event)) and not is_low_trust(fact.fact.trust)
    return whole and not warned and not hit.is_order


def _without_equal(hits: Iterator[RecallHit]) -> list[RecallHit]:
    """Return the hits without those that say what an earlier one says, which gets the higher score of both.

    Equal facts of two entities are about two things, and the same words of two people are two things said.
    """
    found: dict[tuple[str, ...], RecallHit] = {}
    first: dict[str, tuple[str, ...]] = {}
    quoted: dict[str, tuple[str, ...]] = {}
    for recall_hit in hits:
        text, whose = _text_and_owner(recall_hit)
        key = (text, *whose)
        same = key if key in found else first.get(text) if recall_hit.kind != FACTS else None
        if same is None and recall_hit.kind not in (FACTS, EVENTS):
            same = quoted.get(text)
        if recall_hit.event is not None:
            quoted.setdefault(normal(recall_hit.event.text), key)
        if same is None or (found[same].kind == EVENTS == recall_hit.kind and same != key):
            found[key] = recall_hit
            first.setdefault(text, key)
        elif recall_hit.hit.score > found[same].hit.score:
            found[same] = found[same]._replace(hit=_with_score_of(found[same].hit, recall_hit.hit))
    return list(found.values())


def _with_score_of(
    hit: FactHit | EventHit | NoteHit, other: FactHit | EventHit | NoteHit
) -> FactHit | EventHit | NoteHit:
    scored = hit._replace(score=other.score, channels=other.channels)
    return scored._replace(prior=0.0) if isinstance(scored, FactHit) else scored


def _text_and_owner(hit: RecallHit) -> tuple[str, tuple[str, ...]]:
    owner: tuple[str, ...] = ()
    if isinstance(hit.hit, FactHit):
        owner = hit.hit.entity, hit.hit.fact.status
    elif isinstance(hit.hit, EventHit):
        owner = (hit.hit.event.speaker or hit.hit.event.role,)
    return normal(hit.text), owner
