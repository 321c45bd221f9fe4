"""Facts of notes that were imported before: which of them a note no longer says, and what takes their place."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from difflib import SequenceMatcher
from hashlib import sha256
from typing import Any, NamedTuple

from clawmem.index.search.lookup import by_ids, facts_containing
from clawmem.index.tables.store import Index
from clawmem.model.facts.fact import Fact, is_forgotten
from clawmem.model.facts.validity import is_over
from clawmem.model.language.text import normal

IMPORTED = "imported"
_LEAST_ALIKE = 0.7
# Whose note it is, before its path.
_OWNER = re.compile(r"[^/~:]+@[^/~:]+:")


class NoteFacts(NamedTuple):
    """The facts, by id, that notes no longer say; the ids of those that a person reworded, which stay; and how many
    facts each note has that is no longer there."""

    outdated: Mapping[str, Fact] = {}
    reworded: tuple[str, ...] = ()
    gone: Mapping[str, int] = {}


def mark_of(note: str, statement: str) -> dict[str, Any]:
    """Return the metadata of a fact of a note: the note, and a digest by which a change of the words is seen."""
    return {IMPORTED: {"note": note, "words": sha256(normal(statement).encode()).hexdigest()[:12]}}


def note_of(fact: Fact) -> str:
    """Return the note that a fact is of, or an empty text."""
    mark = (fact.metadata or {}).get(IMPORTED)
    return str(mark.get("note")) if isinstance(mark, Mapping) else ""


def reason_of_end(fact: Fact) -> str:
    """Return why a fact that its note no longer says ends."""
    return f"no longer in {note_of(fact).rpartition('/')[2]}"


def facts_of_notes(
    index: Index, said: Mapping[str, Collection[str]], present: Collection[str], folder: str, now: str
) -> NoteFacts:
    """Compare the facts of earlier imports that hold at `now` (ISO 8601 UTC) with the statements of each note, and the
    events that these are known by.

    `present` are all notes there are, also those that could not be read. Others below `folder` are gone; without a
    folder, none is."""
    facts = [placed.fact for placed in facts_containing(index, f'"{IMPORTED}"') if placed.fact.is_current]
    by_note = [(note_of(fact), fact) for fact in facts if not is_over(fact, now)]
    texts = {note: set(map(normal, statements)) for note, statements in said.items()}
    unsaid = [
        fact for note, fact in by_note if texts.get(note, {""}).isdisjoint((normal(fact.fact), fact.source_event, ""))
    ]
    outdated = {
        fact.id: fact
        for fact in unsaid
        if mark_of(note_of(fact), fact.fact)[IMPORTED] == (fact.metadata or {})[IMPORTED]
    }
    gone = Counter(
        _OWNER.sub("", note) for note, _ in by_note if folder and note.startswith(folder) and note not in present
    )
    return NoteFacts(outdated, tuple(fact.id for fact in unsaid if fact.id not in outdated), gone)


def forgotten_of_notes(index: Index) -> dict[str, list[str]]:
    """Return what each note said that was forgotten on request."""
    found: dict[str, list[str]] = {}
    for placed in facts_containing(index, f'"{IMPORTED}"'):
        if is_forgotten(placed.fact):
            found.setdefault(note_of(placed.fact), []).append(placed.fact.fact)
    return found


def may_come_back(index: Index, fact: Fact, outdated: Collection[str]) -> bool:
    """Return whether a fact ended, or its successor is to end, because its note no longer said it."""
    seen = {fact.id}
    while (later := fact.superseded_by) and later not in seen and (after := by_ids(index, [later])):
        fact = after[later].fact
        seen.add(later)
    return fact.id in outdated or (fact.details or {}).get("because") == reason_of_end(fact)


def pairs_alike(olds: Sequence[str], news: Sequence[str]) -> dict[int, int]:
    """Return by the number of each new statement that of the old one whose place it takes, the most similar first."""
    ratios = [(_ratio(old, new), n, m) for n, old in enumerate(olds) for m, new in enumerate(news)]
    pairs: dict[int, int] = {}
    for ratio, n, m in sorted(ratios, reverse=True):
        if ratio >= _LEAST_ALIKE and m not in pairs and n not in pairs.values():
            pairs[m] = n
    return pairs


def _ratio(old: str, new: str) -> float:
    matcher = SequenceMatcher(None, old, new)
    quick = matcher.quick_ratio()  # an upper bound, found in less time
    return matcher.ratio() if quick >= _LEAST_ALIKE else quick
