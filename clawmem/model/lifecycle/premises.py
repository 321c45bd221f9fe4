"""Premises: what a fact rests on, and the record on the fact that one of its premises changed.

A fact rests on the targets of its `depends_on`, `derived_from` and `merges` links. If a premise is replaced, withdrawn,
deprecated or due for review, the fact is in doubt, and so is what rests on it. The record is computed from the facts
alone, so that every machine computes the same one. A person confirms that a fact holds in spite of a change; the
confirmation holds for that change only.
"""

from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping
from typing import Any

from clawmem.model.facts.fact import ARCHIVED, RETRACTED, SUPERSEDED, Fact
from clawmem.model.language.text import normal
from clawmem.model.named_tuple import NamedTuple

MERGES = "merges"
PREMISES = ("depends_on", "derived_from", MERGES)
SUCCEEDED = "superseded_by"
REVIEW_BY = "review_by"
"""The key of a fact's details with the day (`YYYY-MM-DD`) by which somebody should check it."""
CHANGED = "premises_changed"
CONFIRMED = "premises_confirmed"
DEPRECATED = "deprecated"
"""Keys of a fact's metadata: the record, what a person confirmed, and a deprecation `{"for", "until"}`."""
STALE, IN_DOUBT = "stale", "in doubt"
SHARE_IN_DOUBT = 0.95
"""A fact in doubt keeps this part of its score in a ranking."""

Find = Callable[[str], Fact | None]


class PremiseChange(NamedTuple):
    """One changed premise: its id, what happened to it, and the current fact in its place, if there is one.

    `why` is `superseded`, `retracted`, `deprecated`, `stale` (its day for review has passed) or `in doubt` (one of its
    own premises changed)."""

    premise: str
    why: str
    by: str | None = None

    @property
    def key(self) -> str:
        """Return the change in the form in which a confirmation names it."""
        return f"{self.why} {self.by}" if self.by else self.why


def premise_links(fact: Fact) -> list[tuple[str, str]]:
    """Return the ids of what a fact rests on, each with the type of the link."""
    return [(link.to, link.type) for link in fact.links if link.type in PREMISES and link.to != fact.id]


def premise_changes(fact: Fact) -> tuple[PremiseChange, ...]:
    """Return the recorded changes of a fact's premises. A malformed record counts as none."""
    value = (fact.metadata or {}).get(CHANGED)
    if not isinstance(value, list | tuple):
        return ()
    rows = (record for record in value if isinstance(record, Mapping))
    return tuple(
        PremiseChange(row["premise"], row["why"], row.get("by"))
        for row in rows
        if isinstance(row.get("premise"), str)
        and isinstance(row.get("why"), str)
        and isinstance(row.get("by"), str | None)
    )


def in_doubt(fact: Fact) -> bool:
    """Return whether a changed premise is recorded with the fact."""
    return bool(fact.metadata) and bool(premise_changes(fact))


def doubt_words(fact: Fact) -> str | None:
    """Return the recorded changes as a short remark, or None if there are none."""
    changes = premise_changes(fact)
    if not changes:
        return None
    first = changes[0]
    words = {
        SUPERSEDED: f"premise changed: now {first.by}" if first.by else "premise replaced",
        RETRACTED: "premise withdrawn",
        DEPRECATED: f"premise deprecated: now {first.by}",
        STALE: "premise due for review",
        IN_DOUBT: "rests on a premise in doubt",
    }
    return words.get(first.why, "premise changed") + (f" and {len(changes) - 1} more" if len(changes) > 1 else "")


def doubt_reason(fact: Fact) -> str | None:
    """Return the first recorded change as a clause on the fact, or None if there is none."""
    changes = premise_changes(fact)
    if not changes:
        return None
    first = changes[0]
    words = {STALE: "is due for review", IN_DOUBT: "is in doubt"}.get(first.why, f"was {first.why}")
    replaced = f" by {first.by}" if first.by and first.why == SUPERSEDED else f" for {first.by}" if first.by else ""
    more = f", and on {len(changes) - 1} more in doubt" if len(changes) > 1 else ""
    return f"it rests on {first.premise}, which {words}{replaced}{more}"


def with_premise_changes(fact: Fact, changes: Iterable[PremiseChange]) -> Fact:
    """Return the fact with this record in place of the earlier one."""
    rows = [{key: value for key, value in change._asdict().items() if value is not None} for change in changes]
    return with_metadata(fact, CHANGED, rows)


def with_metadata(fact: Fact, key: str, value: Any) -> Fact:
    """Return the fact with one key of its metadata set, or removed if the value is empty."""
    metadata = {name: other for name, other in (fact.metadata or {}).items() if name != key}
    return fact._replace(metadata={**metadata, **({key: value} if value else {})} or None)


def without_record(fact: Fact) -> Fact:
    """Return the fact without the record, which is computed and therefore not a change of the fact."""
    return with_metadata(fact, CHANGED, None) if fact.metadata and CHANGED in fact.metadata else fact


def without_own_record(fact: Fact) -> Fact:
    """Return a requested fact without the record and the confirmations, which only the vault sets."""
    group = {CHANGED, CONFIRMED, DEPRECATED} & (fact.metadata or {}).keys()
    for key in group:
        fact = with_metadata(fact, key, None)
    return fact


def deprecation(fact: Fact) -> tuple[str, str] | None:
    """Return the fact that replaces a deprecated one and the last day (`YYYY-MM-DD`) of the old one, or None."""
    record = (fact.metadata or {}).get(DEPRECATED)
    if not isinstance(record, Mapping):
        return None
    new, until = record.get("for"), record.get("until")
    return (new, until) if isinstance(new, str) and isinstance(until, str) else None


def review_words(fact: Fact) -> str:
    """Return the last day on which a fact that has one counts without being checked again, in words. These are right
    before and after that day: pages are read on any day."""
    return f"stale after {str((fact.details or {})[REVIEW_BY])[:10]}"


def is_due_for_review(fact: Fact, today: str) -> bool:
    """Return whether the day for review of a fact has passed."""
    due = (fact.details or {}).get(REVIEW_BY)
    return isinstance(due, str) and due[:10] < today


def confirmed(fact: Fact, today: str) -> Fact:
    """Return the fact with every recorded change confirmed, and without a day for review that has passed."""
    record = (fact.metadata or {}).get(CONFIRMED)
    known = dict(record) if isinstance(record, Mapping) else {}
    known.update({premise_change.premise: premise_change.key for premise_change in premise_changes(fact)})
    if is_due_for_review(fact, today):
        details = {key: value for key, value in (fact.details or {}).items() if key != REVIEW_BY}
        fact = fact._replace(details=details or None)
    return without_record(with_metadata(fact, CONFIRMED, known))


def _standing(premise: Fact, find: Find) -> tuple[Fact, Fact]:
    """Return the fact that carries the statement of a premise now, and the end of its chain of successors.

    A fact that merged the premise, or that says the same, carries it on."""
    carrier, seen = premise, {premise.id}
    while carrier.superseded_by and carrier.superseded_by not in seen:
        following = find(carrier.superseded_by)
        if following is None or not _carries(following, carrier):
            break
        carrier = following
        seen.add(carrier.id)
    last = carrier
    while last.superseded_by and last.superseded_by not in seen:
        following = find(last.superseded_by)
        if following is None:
            break
        last = following
        seen.add(last.id)
    return carrier, last


def _carries(new: Fact, old: Fact) -> bool:
    merged = any(link.type == MERGES and link.to == old.id for link in new.links)
    return merged or normal(new.fact) == normal(old.fact)


def _change_of(fact: Fact, premise: Fact, kind: str, find: Find, today: str) -> PremiseChange | None:
    """Return what happened to one premise itself, or None if it stands."""
    if kind == MERGES:
        return PremiseChange(premise.id, RETRACTED) if premise.status == RETRACTED else None
    carrier, last = _standing(premise, find)
    if fact.id in (carrier.id, last.id):
        return None
    if carrier.status == RETRACTED:
        return PremiseChange(premise.id, RETRACTED)
    if carrier.status == SUPERSEDED:
        return PremiseChange(premise.id, SUPERSEDED, last.id if last.is_current else None)
    replaced = deprecation(carrier)
    if replaced is not None and carrier.status == ARCHIVED:
        return PremiseChange(premise.id, DEPRECATED, replaced[0])
    return PremiseChange(premise.id, STALE) if is_due_for_review(carrier, today) else None


def recomputed(ids: Collection[str], find: Find, today: str) -> dict[str, Fact]:
    """Return those of some facts whose record must change, by id.

    `ids` must contain, with a fact, everything that rests on it: the records of all other facts are taken as they are.
    `find` returns a fact by id. `today` is `YYYY-MM-DD`. Circles of premises are allowed: what rests on nothing but a
    circle is not in doubt."""
    found = {identifier: fact for identifier in sorted(ids) if (fact := find(identifier)) is not None}
    own: dict[str, dict[str, PremiseChange]] = {}
    resting: dict[str, list[tuple[str, str]]] = defaultdict(list)
    doubted: list[str] = []
    for fact in found.values():
        own[fact.id] = _own_changes(fact, find, today) if fact.is_current else {}
        if own[fact.id]:
            doubted.append(fact.id)
        for target, kind in premise_links(fact) if fact.is_current else ():
            carrier = _carrier(target, kind, find)
            if carrier is not None and carrier.id != fact.id and target not in own[fact.id]:
                resting[carrier.id].append((fact.id, target))
    # Records outside of `ids` do not change, and put what rests on them in doubt.
    doubted += [
        text for text in resting if text not in found and (held := find(text)) is not None and held.is_current
        and in_doubt(held)
    ]  # fmt: skip
    reached = set(doubted)
    for text in doubted:
        for fact_id, target in resting.get(text, ()):
            change = PremiseChange(target, IN_DOUBT)
            if not _is_confirmed(found[fact_id], change):
                own[fact_id][target] = change
                if fact_id not in reached:
                    reached.add(fact_id)
                    doubted.append(fact_id)
    return {fact.id: new for fact in found.values() if (new := _recorded(fact, own[fact.id])) != fact}


def _own_changes(fact: Fact, find: Find, today: str) -> dict[str, PremiseChange]:
    changes = {}
    for target, kind in premise_links(fact):
        premise = find(target)
        change = _change_of(fact, premise, kind, find, today) if premise is not None else None
        if change is not None and not _is_confirmed(fact, change):
            changes[target] = change
    return changes


def _carrier(target: str, kind: str, find: Find) -> Fact | None:
    premise = find(target)
    return premise if premise is None or kind == MERGES else _standing(premise, find)[0]


def _is_confirmed(fact: Fact, change: PremiseChange) -> bool:
    record = (fact.metadata or {}).get(CONFIRMED)
    return isinstance(record, Mapping) and record.get(change.premise) == change.key


def _recorded(fact: Fact, changes: Mapping[str, PremiseChange]) -> Fact:
    if not changes and not (fact.metadata and CHANGED in fact.metadata):
        return fact
    order = dict.fromkeys(target for target, _ in premise_links(fact))
    return with_premise_changes(fact, [changes[text] for text in order if text in changes])
