"""What was said or noted, for a question: so that a turn is found even where no fact was learned from it."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import NamedTuple

from clawmem.index.channels import Filter, Hits
from clawmem.index.meaning import events_by_meaning
from clawmem.index.said import event_keywords, event_meanings, events, note_keywords, notes, of_time, spoken_words
from clawmem.index.store import Index
from clawmem.model.caller import Caller
from clawmem.model.dates import stamp
from clawmem.model.event import is_for
from clawmem.model.question import search_words, time_asked
from clawmem.model.ranking import Ranked, fuse, said_weights
from clawmem.model.turns import covered
from clawmem.serving.recall import EVENTS, NOTES, Heard, Noted
from clawmem.vault.vault import Vault


class Said(NamedTuple):
    """The best events and notes, and what each channel did for either."""

    heard: tuple[Heard, ...]
    noted: tuple[Noted, ...]
    hits: tuple[Mapping[str, Hits], ...]


def find_said(
    vault: Vault, index: Index, question: str, caller: Caller, wanted: Filter, limit: int, where: Collection[str]
) -> Said:
    """The events and notes that answer a question best, at most `limit` of each.

    A note that the ledger holds as an event too is given once where both are asked for. Filters of entity, category
    and tag do not apply: they are about facts.
    """
    words = spoken_words(index, search_words(question))
    span = time_asked(question, caller.now)
    heard: tuple[Heard, ...] = ()
    noted: tuple[Noted, ...] = ()
    hits: list[Mapping[str, Hits]] = []
    if EVENTS in where:
        keyword = _spoken(event_keywords(index, question, words), words)
        close = events_by_meaning(vault, index, question, stamp(caller.now)[:10])
        meant = event_meanings(index, question, close)
        near = {*keyword.scores, *meant.scores}
        hits.append({"keyword": keyword, "vector": meant, "time": of_time(index, "event", span, near)})
        heard = _heard(index, _fused(hits[-1], words), limit, wanted.owners, without_notes=NOTES in where)
    if NOTES in where:
        keyword = _spoken(note_keywords(index, words, wanted.owners), words)
        hits.append({"keyword": keyword, "time": of_time(index, "note", span, keyword.scores, wanted.owners)})
        noted = _noted(index, _fused(hits[-1], words)[:limit])
    return Said(heard, noted, tuple(hits))


def _spoken(hits: Hits, words: Collection[object]) -> Hits:
    return hits if words else Hits({}, False, "the question has no words to search for")


def _heard(
    index: Index, ranked: Sequence[Ranked], limit: int, owners: Collection[str], without_notes: bool
) -> tuple[Heard, ...]:
    # Notes and echoes are few: a margin, and only rarely all of them.
    for margin in (limit + (limit if without_notes else 0) + 20, len(ranked)):
        found = events(index, [int(one.id) for one in ranked[:margin]])
        heard = [
            Heard(found[int(one.id)], round(one.score, 4), one.channels)
            for one in ranked[:margin]
            if int(one.id) in found
            and is_for(found[int(one.id)], owners)
            and not (without_notes and found[int(one.id)].role == "note")
        ]
        if len(heard) >= limit:
            break
    return tuple(heard[:limit])


def _noted(index: Index, ranked: Sequence[Ranked]) -> tuple[Noted, ...]:
    found = notes(index, [int(one.id) for one in ranked])
    return tuple(Noted(*found[int(one.id)], round(one.score, 4), one.channels) for one in ranked)


def _fused(hits: Mapping[str, Hits], words: Sequence[Mapping[int, float]]) -> list[Ranked]:
    scores = {name: {str(n): score for n, score in one.scores.items()} for name, one in hits.items()}
    return fuse(scores, said_weights(covered(words, max(scores["keyword"].values(), default=0.0))))
