"""The record of changed premises on facts, in the commit that changes a premise."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from clawmem.errors import InvalidInput
from clawmem.index.search.lookup import PlacedFact, by_ids
from clawmem.index.search.replaced import has_dependents, resting_on
from clawmem.index.tables.store import Index
from clawmem.model.facts.codec import fact_from_record, parse_items, render_items
from clawmem.model.facts.fact import Fact
from clawmem.model.kinds import ITEMS_FILE, file_kind
from clawmem.model.language.dates import stamp
from clawmem.model.lifecycle.premises import (
    PREMISES,
    doubt_words,
    premise_changes,
    recomputed,
    with_premise_changes,
)
from clawmem.model.records.change import Change, changed_facts, is_about_premises
from clawmem.model.records.entity import items_path, name_of_path
from clawmem.model.records.strict_json import read_json

if TYPE_CHECKING:
    from clawmem.memory.scope import WriteScope


MOST_SHOWN = 20
_LINKED = tuple(f'"type": "{kind}"'.encode() for kind in PREMISES)


class PremiseView:
    """The facts as they will be: those of the index, those that earlier commits wrote, and those of a change."""

    def __init__(self, index: Index, today: str) -> None:
        self._index = index
        self.today = today
        self._known: dict[str, PlacedFact | None] = {}

    def put(self, fact: Fact, entity: str) -> None:
        self._known[fact.id] = PlacedFact(fact, entity)

    def load(self, ids: Collection[str]) -> None:
        """Read some facts from the index in one query."""
        missing = [identifier for identifier in ids if identifier not in self._known]
        if missing:
            found = by_ids(self._index, missing)
            self._known.update({text: found.get(text) for text in missing})

    def placed(self, fact_id: str) -> PlacedFact | None:
        self.load([fact_id])
        return self._known[fact_id]

    def find(self, fact_id: str) -> Fact | None:
        found = self.placed(fact_id)
        return found.fact if found else None

    def affected(self, ids: Collection[str]) -> set[str]:
        """Return some facts with all that rests on them, or on what they replaced, directly or not."""
        own = self._own_edges()
        reached, level = set(ids), set(ids)
        while level:
            following = {fact_id for _, fact_id in resting_on(self._index, level, replaced=True)}
            following |= {fact_id for target in level for fact_id in own.get(target, ())}
            level = following - reached
            reached |= level
        return reached

    def _own_edges(self) -> dict[str, list[str]]:
        edges: dict[str, list[str]] = defaultdict(list)
        for placed in self._known.values():
            fact = placed.fact if placed else None
            for link in fact.links if fact else ():
                if fact and link.type in PREMISES:
                    edges[link.to].append(fact.id)
            if fact and fact.superseded_by:
                edges[fact.superseded_by].append(fact.id)
        return edges

    def recomputed(self, ids: Collection[str]) -> dict[str, Fact]:
        """Return the facts whose record changes when some facts change."""
        affected = self.affected(ids)
        self.load(affected)
        return recomputed(affected, self.find, self.today)


def with_records(work: WriteScope, changes: Sequence[Change]) -> list[Change]:
    """Return the changes, each with the records of the facts whose premises it changes, and note these facts.

    An unreadable file is left as it is; the heartbeat corrects it when it can be read again."""
    items: list[Change] = []
    later: dict[str, dict[str, Fact]] = defaultdict(dict)
    view: PremiseView | None = None
    for change in changes:
        change = _with_earlier(change, later)
        ids = changed_facts(change)
        if is_about_premises(change):
            if view is None:
                work.update_index()
                view = PremiseView(work.index, stamp(work.caller.now)[:10])
            if has_dependents(work.index, ids) or any(kind in data for _, data in _items(change) for kind in _LINKED):
                _read_change(view, change, ids)
                change = _recorded(work, view, change, view.recomputed(ids), later)
        items.append(change)
    return items


def _items(change: Change) -> Iterator[tuple[str, bytes]]:
    for path, data in change.writes.items():
        if data is not None and file_kind(path) is ITEMS_FILE:
            yield path, data


def _read_change(view: PremiseView, change: Change, ids: Collection[str]) -> None:
    """Read the facts of a change that it names or that rest on others. Only their lines are parsed."""
    wanted = (*_LINKED, *(f'"{identifier}"'.encode() for identifier in ids))
    for path, data in _items(change):
        entity = name_of_path(path)
        for line in data.split(b"\n") if entity else ():
            if any(piece in line for piece in wanted):
                try:
                    view.put(fact_from_record(read_json(line.decode().rstrip(","))), entity or "")
                except (ValueError, InvalidInput):
                    continue  # not one fact a line: the committed state is used


def _recorded(
    work: WriteScope, view: PremiseView, change: Change, facts: Mapping[str, Fact], later: dict[str, dict[str, Fact]]
) -> Change:
    writes, by_entity = dict(change.writes), defaultdict[str, list[Fact]](list)
    for fact in facts.values():
        placed = view.placed(fact.id)
        if placed is not None and work.is_readable(placed.entity):
            by_entity[placed.entity].append(fact)
    marked: list[PlacedFact] = []
    for entity, items in by_entity.items():
        path = items_path(entity)
        if path in writes and writes[path] is None:
            continue
        now = parse_items(writes[path] or b"", path) if path in writes else work.facts(entity)
        new = {fact.id: fact for fact in items}
        writes[path] = render_items(new.get(fact.id, fact) for fact in now)
        later[path].update(new)
        for fact in items:
            view.put(fact, entity)
            marked.append(PlacedFact(fact, entity))
    if not marked:
        return change
    work.note_premises(marked)
    body = "\n".join(filter(None, (change.body, *described(marked))))
    return change._replace(writes=writes, body=body)


def described(marked: Sequence[PlacedFact]) -> Iterator[str]:
    for hit in marked[:MOST_SHOWN]:
        words = doubt_words(hit.fact)
        yield f"- {hit.fact.id} {f'is in doubt ({words})' if words else 'is not in doubt any more'}: {hit.fact.fact}"
    if len(marked) > MOST_SHOWN:
        yield f"- and {len(marked) - MOST_SHOWN:,} more"


def _with_earlier(change: Change, later: Mapping[str, Mapping[str, Fact]]) -> Change:
    """Return the change with the records that earlier changes of the same act made in its files."""
    writes = dict(change.writes)
    for path, record in later.items():
        data = writes.get(path)
        if data is not None:
            now = parse_items(data, path)
            writes[path] = render_items(
                fact._replace(metadata=_joined(fact, record[fact.id])) if fact.id in record else fact for fact in now
            )
    return change._replace(writes=writes)


def _joined(now: Fact, marked: Fact) -> Mapping[str, object] | None:
    return with_premise_changes(now, premise_changes(marked)).metadata


def with_own_record(work: WriteScope, fact: Fact) -> Fact:
    """Return a new fact with the record of its premises, which exist already."""
    view = PremiseView(work.index, stamp(work.caller.now)[:10])
    view.put(fact, "")
    return recomputed([fact.id], view.find, view.today).get(fact.id, fact)
