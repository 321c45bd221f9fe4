"""Compare the facts of two states of the vault: learned, corrected, retracted, archived, changed, removed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from clawmem.errors import InvalidInput
from clawmem.model.facts.codec import fact_from_record
from clawmem.model.facts.fact import ACTIVE, ARCHIVED, RETRACTED, SUPERSEDED, Fact, is_forgotten
from clawmem.model.language.text import counted
from clawmem.model.lifecycle.chain import REPLACING_LINKS
from clawmem.model.lifecycle.premises import deprecation, without_record
from clawmem.model.records.strict_json import read_json

LEARNED = "learned"
CORRECTED = "corrected"
CHANGED = "changed"
REMOVED = "removed"
KINDS = (LEARNED, CORRECTED, RETRACTED, ARCHIVED, CHANGED, REMOVED)

FORGOTTEN_KINDS = (RETRACTED, ARCHIVED, REMOVED)

FactsById = Mapping[str, tuple[Fact, str]]
"""Facts by id, each with its entity."""


class FactDifference(NamedTuple):
    """One fact that differs.

    `fact` is the later state, or the last one if the kind is `removed`. `before` is the fact's earlier state, or the
    replaced fact if the kind is `corrected`.
    """

    kind: str
    fact: Fact
    entity: str
    before: Fact | None = None


def bare(fact: Fact) -> Fact:
    """Return the fact without access counters and its record of changed premises: these are computed."""
    return without_record(fact)._replace(access_count=0, last_accessed=None)


def differences(before: FactsById, after: FactsById) -> tuple[FactDifference, ...]:
    """Return how the facts of two states differ, in the order of the later state, removed ones last.

    A correction appears once, with the fact that replaced another one; the replaced fact is not listed again.
    """
    replaced = {fact_id: by for fact_id in after if (by := _replaced_by(fact_id, before, after))}
    successors = frozenset(replaced.values())
    found = []
    for fact_id, (fact, entity) in after.items():
        old = before[fact_id][0] if fact_id in before else None
        is_successor = fact_id in successors
        if old is None and not is_successor:
            found.append(FactDifference(LEARNED, fact, entity))
        if fact_id in replaced:
            found.append(FactDifference(CORRECTED, *after[replaced[fact_id]], old or fact))
        elif old is not None and bare(old) != bare(fact):
            kind = _kind(old, fact)
            if kind != CHANGED or not is_successor:
                found.append(FactDifference(kind, fact, entity, old))
    found += [FactDifference(REMOVED, fact, entity, fact) for key, (fact, entity) in before.items() if key not in after]
    return tuple(found)


def without_forgotten_words(change: FactDifference) -> FactDifference:
    """Return the change with nothing that a forgotten fact says, and not of whom; its earlier state is left out."""
    before = change.before
    if before and before.id == change.fact.id and is_forgotten(change.fact):
        before = None
    entity = "" if is_forgotten(change.fact) else change.entity
    return change._replace(fact=_wordless(change.fact), entity=entity, before=before and _wordless(before))


def _wordless(fact: Fact) -> Fact:
    if not is_forgotten(fact):
        return fact
    remark = {"retracted": (fact.metadata or {})["retracted"]}
    return Fact(fact.id, _quoted(fact), fact.category, fact.timestamp, fact.source, RETRACTED, metadata=remark)


def count_moves(before: FactsById, after: FactsById) -> dict[tuple[str, str], int]:
    """Return how many facts moved, by old and new entity."""
    counted: dict[tuple[str, str], int] = {}
    for fact_id, (_, entity) in after.items():
        old = before.get(fact_id)
        if old and old[1] != entity:
            counted[old[1], entity] = counted.get((old[1], entity), 0) + 1
    return counted


def read_single_fact(data: bytes, fact_id: str) -> Fact | None:
    """Read one fact from an `items.json` without parsing the others; return None if it is missing or unreadable.

    This needs one fact per line, as clawmem writes the file.
    """
    quoted = f'"{fact_id}"'.encode()
    for line in data.split(b"\n"):
        if quoted not in line:
            continue
        try:
            fact = fact_from_record(read_json(line.strip().rstrip(b",")))
        except (ValueError, AttributeError, InvalidInput):
            continue
        if fact.id == fact_id:
            return fact
    return None


def points_at(fact: Fact) -> frozenset[str]:
    """Return the ids of the facts that this one refers to: its successor, its links, and the ids in its details."""
    ids = {link.to for link in fact.links} | set(_ids_in(fact.details))
    return frozenset(ids | ({fact.superseded_by} if fact.superseded_by else set()))


def _ids_in(value: object) -> Iterable[str]:
    if isinstance(value, str):
        if value.startswith("fact_"):
            yield value
    elif isinstance(value, Mapping):
        for each in value.values():
            yield from _ids_in(each)
    elif isinstance(value, list | tuple):
        for each in value:
            yield from _ids_in(each)


def _replaced_by(fact_id: str, before: FactsById, after: FactsById) -> str | None:
    """Return the fact that replaced this one between the two states, or None."""
    fact = after[fact_id][0]
    old = before.get(fact_id)
    newly = fact.status == SUPERSEDED and (old is None or old[0].status != SUPERSEDED)
    return fact.superseded_by if newly and fact.superseded_by in after else None


def _kind(old: Fact, new: Fact) -> str:
    if old.status != new.status and new.status in (RETRACTED, ARCHIVED):
        return new.status
    return CHANGED


def told_changes(changes: Iterable[FactDifference]) -> tuple[FactDifference, ...]:
    """Return the changes of a time as its end shows them: what was learned and withdrawn in it is withdrawn, and what
    was learned and replaced in it is told with what replaced it."""
    shown = []
    for change in changes:
        status = change.fact.status
        if change.kind == LEARNED and status in (RETRACTED, ARCHIVED):
            shown.append(change._replace(kind=status))
        elif change.kind != LEARNED or status != SUPERSEDED:
            shown.append(change)
    return tuple(shown)


def count_kinds(changes: Iterable[FactDifference]) -> Counter[str]:
    """Return how many changes there are of each kind."""
    return Counter(change.kind for change in changes)


FORGOTTEN = "forgotten"
GROUPS = (LEARNED, CORRECTED, FORGOTTEN, CHANGED)
_NAMES = {"fact": "statement", "valid_from": "beginning", "valid_to": "end", "superseded_by": "successor"}
_NOT_SHOWN = frozenset(("id", "superseded_by", "links", "metadata"))


class ChangeSentence(NamedTuple):
    """One change: its group, the sentence, the fact it is about and that fact's entity."""

    group: str
    sentence: str
    fact: Fact
    entity: str


class _ReplacedFacts(NamedTuple):
    """The facts that a current fact replaced: those known before, and those that were only current in between."""

    known: tuple[Fact, ...]
    passing: tuple[Fact, ...]


def change_sentences(changes: Sequence[FactDifference]) -> tuple[ChangeSentence, ...]:
    """Return the changes as sentences, by group.

    A chain of corrections is one sentence about its ends. A fact that was both learned and replaced between the two
    states appears in the sentence about its successor.
    """
    roots = _roots(changes)
    firsts: dict[str, FactDifference] = {}
    for change in changes:
        if change.kind == CORRECTED:
            firsts.setdefault(change.fact.id, change)
    passing = {fact.id for each in roots.values() for fact in each.passing}
    sentences: list[ChangeSentence] = []
    for change in changes:
        if change.kind == CORRECTED:
            if change.fact.id in roots and firsts[change.fact.id] is change:
                sentences.append(_correction(change, roots[change.fact.id]))
        elif change.kind != LEARNED or change.fact.id not in passing:
            sentences.append(_plain(change))
    return tuple(sorted(sentences, key=lambda sentence: GROUPS.index(sentence.group)))


def summary(sentences: Iterable[ChangeSentence]) -> str:
    """Return the changes as one clause: `learned 2 facts, corrected 1 and forgot 1`."""
    groups = [sentence.group for sentence in sentences]
    verbs = {LEARNED: "learned", CORRECTED: "corrected", FORGOTTEN: "forgot", CHANGED: "changed"}
    parts = [f"{verbs[group]} {groups.count(group)}" for group in GROUPS if group in groups]
    if not parts:
        return "learned, corrected and forgot nothing"
    verb, number = parts[0].split(" ")
    parts[0] = f"{verb} {counted(int(number), 'fact')}"
    return " and ".join([", ".join(parts[:-1]), parts[-1]] if len(parts) > 1 else parts)


def _roots(changes: Sequence[FactDifference]) -> dict[str, _ReplacedFacts]:
    """Return all that led to each fact at the end of a chain of corrections."""
    into: dict[str, list[FactDifference]] = {}
    for change in changes:
        if change.kind == CORRECTED and change.before:
            into.setdefault(change.fact.id, []).append(change)
    fresh = {change.fact.id for change in changes if change.kind == LEARNED}
    replaced = {difference.before.id for each in into.values() for difference in each if difference.before}
    return {end: _gathered(end, into, fresh) for end in into if end not in replaced}


def _gathered(end: str, into: Mapping[str, Sequence[FactDifference]], fresh: set[str]) -> _ReplacedFacts:
    known, passing, queue, seen = list[Fact](), list[Fact](), [end], {end}
    for current in queue:
        for difference in into.get(current, ()):
            if difference.before is None or difference.before.id in seen:
                continue
            seen.add(difference.before.id)
            queue.append(difference.before.id)
            new = difference.before.id in fresh or difference.before.id in into
            (passing if new else known).append(difference.before)
    return _ReplacedFacts(tuple(known), tuple(reversed(passing)))


def _plain(change: FactDifference) -> ChangeSentence:
    fact = change.fact
    if change.kind == LEARNED:
        return _sentence(LEARNED, _quoted(fact) + _fate(fact), change)
    if change.kind in (RETRACTED, ARCHIVED, REMOVED):
        return _sentence(FORGOTTEN, _quoted(fact) + _loss(change.kind, fact), change)
    return _sentence(CHANGED, _quoted(fact) + _alteration(change.before or fact, fact), change)


def _sentence(group: str, words: str, change: FactDifference) -> ChangeSentence:
    ended = words if words.endswith(('."', '!"', '?"', ".", "!", "?")) else f"{words}."
    return ChangeSentence(group, f"{group.capitalize()}: {ended}", change.fact, change.entity)


def _correction(change: FactDifference, roots: _ReplacedFacts) -> ChangeSentence:
    fact = change.fact
    if not roots.known:
        return _sentence(LEARNED, f"{_quoted(fact)}, at first as {_listed(roots.passing)}{_fate(fact)}", change)
    meanwhile = f", by way of {_listed(roots.passing)}" if roots.passing else ""
    verb = "were joined into" if len(roots.known) > 1 else "was replaced by"
    words = f"{_listed(roots.known)} {verb} {_quoted(fact)}{meanwhile}{_because(_reason(fact))}{_fate(fact)}"
    return _sentence(CORRECTED, words, change)


def _loss(kind: str, fact: Fact, again: str = "") -> str:
    if kind == RETRACTED:
        remark = (fact.metadata or {}).get("retracted")
        return f" was withdrawn{again}" + _because(remark.get("reason") if isinstance(remark, dict) else None)
    if kind != ARCHIVED:
        return " was removed from the vault"
    deprecated = deprecation(fact)
    return f" was archived{again} because it was " + (f"deprecated until {deprecated[1]}" if deprecated else "not used")


def _fate(fact: Fact) -> str:
    """Return what happened to a fact by the later state, if it was retracted or archived."""
    return f", and it{_loss(fact.status, fact, ' again')}" if fact.status in (RETRACTED, ARCHIVED) else ""


def _alteration(old: Fact, new: Fact) -> str:
    before, after = bare(old)._asdict(), bare(new)._asdict()
    if old.status != ACTIVE and new.status == ACTIVE:
        return f" is active again; it was {old.status}"
    keys = [key for key in before if before[key] != after[key]]
    parts = [_part(key, before[key], after[key]) for key in keys if key not in _NOT_SHOWN]
    if not parts:
        return _remarked(before["metadata"] or {}, after["metadata"] or {}) or " has other links"
    return " changed: " + ", ".join(parts)


# What a new remark in the metadata of a fact says of it; any other is named by its key.
_REMARKS = {
    "promoted": "was promoted",
    "deprecated": "was deprecated",
    "approved": "was approved",
    "premises_confirmed": "still holds, as its premises were confirmed",
    "check_failed": "failed its check",
    "yields_to": "has an announced successor",
}


def _remarked(old: Mapping[str, object], new: Mapping[str, object]) -> str:
    changed = [key for key in {**old, **new} if old.get(key) != new.get(key)]
    others = [key.replace("_", " ") for key in changed if key not in new or key not in _REMARKS]
    parts = [_REMARKS[key] for key in changed if key in new and key in _REMARKS]
    parts += [f"has another {' and '.join(others)}"] if others else []
    return f" {' and '.join(parts)}" if parts else ""


def _part(key: str, old: object, new: object) -> str:
    name = _NAMES.get(key, key.replace("_", " "))
    if not all(value is None or isinstance(value, str | float | int) for value in (old, new)):
        return f"its {name}"
    if old is None:
        return f"its {name} is {new}"
    return f"its {name} was {old}" + ("" if key == "fact" else f" and is {'none' if new is None else new}")


def _reason(fact: Fact) -> str | None:
    return next((link.reason for link in reversed(fact.links) if link.type in REPLACING_LINKS and link.reason), None)


def _because(reason: object) -> str:
    return f", because: {reason}" if isinstance(reason, str) and reason else ""


def _listed(facts: Sequence[Fact]) -> str:
    names = [_quoted(fact) for fact in facts]
    return names[0] if len(names) == 1 else ", ".join(names[:-1]) + f" and {names[-1]}"


def _quoted(fact: Fact) -> str:
    return "a statement" if is_forgotten(fact) else f'"{fact.fact}"'
