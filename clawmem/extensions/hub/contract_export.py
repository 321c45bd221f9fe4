"""Export a vault as lines of the interchange contract, whole or since a commit."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from datetime import timedelta
from functools import partial
from typing import Any, NamedTuple

from clawmem.errors import (
    ClawmemError,
    ConflictMarkers,
    HistoryRewritten,
    IncompleteAnswer,
    NotFound,
    SecretFound,
    Unreadable,
)
from clawmem.extensions.hub.contract import (
    REVOKED,
    Line,
    is_published,
    line_of,
    status_of,
    texts_of,
)
from clawmem.extensions.hub.contract_plan import REFUSED, Asks, LineAnswer, PublishPlan, claim_origin
from clawmem.index.refresh import run_query
from clawmem.index.search.lookup import PlacedFact, by_ids, entity_names, facts_of, unreadable_notices
from clawmem.index.tables.rights import for_everybody, hidden_facts, left_out
from clawmem.index.tables.store import Index
from clawmem.memory.entities.places import find_entity
from clawmem.memory.permission import may_read
from clawmem.memory.sync.merge_plan import state_at
from clawmem.memory.writing import writing
from clawmem.model.facts.codec import parse_items
from clawmem.model.facts.fact import Fact
from clawmem.model.facts.pulled import holds_copies, published_values
from clawmem.model.kinds import ITEMS_FILE, file_kind
from clawmem.model.language.dates import moment_of, parse_period, stamp
from clawmem.model.records.caller import Caller
from clawmem.model.records.entity import is_candidate_place, name_of_path
from clawmem.model.records.event import MARK
from clawmem.vault.git.git import personal_identity
from clawmem.vault.history.history import find_commit, resolve_commit
from clawmem.vault.vault import Vault

_ENTITIES = 100
_FILES = 200
# Of more facts, the commits are found in the whole log.
_FEW = 20
_UNKNOWN = "unknown"


class ContractExport(NamedTuple):
    """The commit that is exported, the lines in their order, and notices, which are complete behind the last line."""

    commit: str | None
    lines: Iterator[dict[str, Any]]
    notices: list[str]


def export_contract(
    vault: Vault, caller: Caller, entity: str | None = None, since: str | None = None
) -> ContractExport:
    """Return the lines of what the caller may read, or of one entity, without what not everybody may see.

    Without `since` these are the current and the superseded facts. With it, they are those that were added or changed
    after that commit, or from that day on, and what was revoked or removed. A fact comes before those that it
    superseded.
    Raise NotFound if there is no such entity, HistoryRewritten if the commit is not in the history.
    """
    head, notices = vault.head().commit, list[str]()
    vault = for_everybody(vault, stamp(caller.now))
    name = run_query(vault, lambda index: find_entity(index, entity, caller)) if entity else None
    writer = _Writer(vault)
    if since is None:
        return ContractExport(head, writer.whole(caller, name, notices), notices)
    if head is None:
        return ContractExport(head, iter(()), notices)
    if find_commit(vault, since) is None and (days := parse_period(since, caller.now)):
        before = state_at(vault, stamp(moment_of(days[0]) - timedelta(seconds=1)))
        lines = writer.changed(caller, name, before, head, notices) if before else writer.whole(caller, name, notices)
        return ContractExport(head, lines, notices)
    try:
        start = resolve_commit(vault, since)
    except NotFound as problem:
        raise HistoryRewritten(
            f"{problem.message} A redaction may have rewritten the history.",
            "Export everything, without --since. Facts that were redacted must be redacted at the receiver, too.",
        ) from None
    return ContractExport(head, writer.changed(caller, name, start, head, notices), notices)


def line_of_fact(vault: Vault, placed: PlacedFact) -> dict[str, Any]:
    """Return the line of one current fact."""
    return run_query(vault, lambda index: _Writer(vault).lines(index, [placed]))[0]


class _Writer:
    """Turns facts into lines."""

    def __init__(self, vault: Vault) -> None:
        self._vault = vault
        self._recorded: Mapping[str, tuple[str, str]] | None = None
        self._person: str | None = None

    def whole(self, caller: Caller, name: str | None, notices: list[str]) -> Iterator[dict[str, Any]]:
        """Yield the lines of the current and superseded facts."""

        def wanted(index: Index) -> list[str]:
            notices.extend((*index.notices, *unreadable_notices(index), *left_out(index)))
            return [entity_name for entity_name in entity_names(index) if _is_exported(caller, entity_name, name)]

        names = run_query(self._vault, wanted)
        for start in range(0, len(names), _ENTITIES):
            yield from run_query(self._vault, partial(self._lines_of, names=names[start : start + _ENTITIES]))

    def _lines_of(self, index: Index, names: Sequence[str]) -> list[dict[str, Any]]:
        placed = [other_placed for name in names for other_placed in _in_order(facts_of(index, name))]
        return self.lines(index, [each for each in placed if status_of(each.fact) != REVOKED])

    def changed(
        self, caller: Caller, name: str | None, start: str, head: str, notices: list[str]
    ) -> Iterator[dict[str, Any]]:
        """Yield the lines that differ between two commits."""
        paths = [path for path in self._vault.changed_paths(start, head) if file_kind(path) is ITEMS_FILE]
        paths = [path for path in paths if _is_exported(caller, name_of_path(path) or "", name)]
        for at in range(0, len(paths), _FILES):
            part = paths[at : at + _FILES]
            old, new = (self._facts(commit, part, notices) for commit in (start, head))
            yield from run_query(self._vault, partial(self._differences, before=old, after=new))

    def _differences(
        self, index: Index, before: Mapping[str, PlacedFact], after: Mapping[str, PlacedFact]
    ) -> list[dict[str, Any]]:
        old, new = _public(index, before, after)
        known = [placed for placed in new.values() if status_of(placed.fact) != REVOKED or placed.fact.id in old]
        then = {record["fact"]: record["line"] for record in self._identified(index, old.values())}
        found = self._identified(index, _in_order(known))
        lines = [record["line"] for record in found if record["line"] != then.get(record["fact"])]
        gone = [fact_id for fact_id in old if fact_id not in new]
        moved = by_ids(index, gone)
        removed = [old[fact_id] for fact_id in gone if fact_id not in moved]
        items = [placed for placed in removed if status_of(placed.fact) != REVOKED]
        return lines + [
            {key: value for key, value in line.items() if key != "superseded_by"} | {"status": REVOKED}
            for line in self.lines(index, items)
        ]

    def _facts(self, commit: str, paths: Sequence[str], notices: list[str]) -> dict[str, PlacedFact]:
        found: dict[str, PlacedFact] = {}
        for path, data in self._vault.contents_at(commit, paths).items():
            try:
                facts = parse_items(data, path) if data else ()
            except ClawmemError as problem:
                notices.append(IncompleteAnswer(f"left out: {problem.message}"))
                continue
            found.update((fact.id, PlacedFact(fact, name_of_path(path) or path)) for fact in facts)
        return found

    def lines(self, index: Index, placed: Iterable[PlacedFact]) -> list[dict[str, Any]]:
        """Return the lines of some facts."""
        return [record["line"] for record in self._identified(index, placed)]

    def _identified(self, index: Index, placed: Iterable[PlacedFact]) -> list[dict[str, Any]]:
        """Return the lines, each with the id of its fact."""
        every = list(placed)
        successors = by_ids(index, {each.fact.superseded_by for each in every if each.fact.superseded_by})
        found = []
        for other_placed in every:
            follower = successors.get(other_placed.fact.superseded_by or "")
            own = published_values(follower.fact) if follower else {}
            if own.get("id") and follower and claim_origin(follower.fact) == claim_origin(other_placed.fact):
                continue  # its origin says the same claim in other words now
            replaced_by = own.get("id") if own or not follower else follower.fact.id
            line = line_of(other_placed.fact, other_placed.entity, self._author(other_placed.fact), replaced_by)
            found.append({"fact": other_placed.fact.id, "line": line})
        return found

    def _author(self, fact: Fact) -> str:
        """Return the author of a fact: its agent, or who made the commit that recorded it."""
        if is_published(fact):
            return str(published_values(fact).get("author", _UNKNOWN))
        if fact.agent:
            return fact.agent
        if self._recorded is None:
            self._recorded = first_commits(self._vault)
        if fact.id in self._recorded:
            return self._recorded[fact.id][1]
        if self._person is None:
            found = personal_identity(self._vault.git)
            self._person = f"{found.name} <{found.email}>" if found else _UNKNOWN
        return self._person


def _public(index: Index, *states: Mapping[str, PlacedFact]) -> Iterator[dict[str, PlacedFact]]:
    """Yield states of facts without those that not everybody may see; of one that is gone, its mark says so."""
    hidden = hidden_facts(index)
    for state in states:
        marked = [name for name in state if index.is_restricted and MARK in (state[name].fact.metadata or {})]
        gone = set(marked) - by_ids(index, marked).keys()
        yield {name: placed for name, placed in state.items() if name not in hidden | gone}


def first_commits(vault: Vault, ids: Collection[str] | None = None) -> dict[str, tuple[str, str]]:
    """Return the first commit that names each fact, and its author; at least for some facts, or for all."""
    form = "%x1e%H%x1f%an <%ae>%x1f%(trailers:key=Fact,valueonly,separator=%x2C)"
    few = [f"--grep=Fact: {identifier}" for identifier in sorted(ids)] if ids is not None and len(ids) <= _FEW else []
    words = ("log", "--reverse", "--topo-order", "--fixed-strings", f"--format={form}", *few, "HEAD", "--")
    found: dict[str, tuple[str, str]] = {}
    for entry in vault.git.run(*words).decode(errors="replace").split("\x1e")[1:]:
        commit, _, rest = entry.strip("\n").partition("\x1f")
        author, _, named = rest.partition("\x1f")
        for fact_id in filter(None, named.split(",")):
            found.setdefault(fact_id, (commit, author))
    return found


def _is_exported(caller: Caller, entity: str, name: str | None) -> bool:
    """Return whether an entity is exported: not what waits for promotion, or copies that others pull for themselves."""
    unsent = is_candidate_place(entity) or holds_copies(entity)
    return may_read(caller, entity) and not unsent and name in (None, entity)


def _in_order(placed: Iterable[PlacedFact]) -> list[PlacedFact]:
    """Return the facts so that each comes before those that it superseded: facts are appended to their file."""
    every = list(placed)
    closed = [other_placed for other_placed in every if not other_placed.fact.is_current]
    return [other_placed for other_placed in every if other_placed.fact.is_current] + closed[::-1]


BATCH_LINES = 2_000
BATCH_BYTES = 8 << 20


class Published(NamedTuple):
    """What became of some lines of one batch, the last commit (None if nothing changed), and notices."""

    answers: tuple[LineAnswer, ...]
    commit: str | None = None
    notices: tuple[str, ...] = ()


def publish(
    vault: Vault,
    lines: Iterable[Line | LineAnswer],
    caller: Caller,
    trust: str = "external",
    asks: Asks | None = None,
) -> Iterator[Published]:
    """Store the lines, and yield what became of each batch once it is committed, in the order of the lines. One that is
    not of the contract is given as the answer to it.

    `trust` is the highest trust of the claims. `asks` says for which new facts a person decides, beside those that
    are quarantined. Each batch takes the writer lock anew. A failure that is not of one
    line, such as a full disk, is raised; what was yielded is kept then.
    """
    for batch in _batches(lines):
        good = [line for line in batch if isinstance(line, Line)]
        published = _store(vault, good, caller, trust, asks) if good else Published(())
        refused = [line for line in batch if isinstance(line, LineAnswer)]
        answers = sorted((*published.answers, *refused), key=lambda answer: answer.line)
        yield published._replace(answers=tuple(answers))


def _batches(lines: Iterable[Line | LineAnswer]) -> Iterator[list[Line | LineAnswer]]:
    batch: list[Line | LineAnswer] = []
    size = 0
    for line in lines:
        batch.append(line)
        size += sum(map(len, texts_of(line.values))) if isinstance(line, Line) else 0
        if len(batch) == BATCH_LINES or size > BATCH_BYTES:
            yield batch
            batch, size = [], 0
    if batch:
        yield batch


def _store(vault: Vault, lines: Sequence[Line], caller: Caller, trust: str, asks: Asks | None) -> Published:
    """Store some lines, in as few commits as their entities allow. If a commit is refused, find the line."""
    try:
        with writing(vault, caller, "publish") as work:
            plan = PublishPlan(work, trust, asks)
            answers = []
            for line in lines:
                answers.append(plan.take(line))
                if plan.is_full():
                    break
            commits = work.commit(plan.changes())
            published = Published(tuple(answers), commits[-1] if commits else None, work.notices)
    except (SecretFound, Unreadable, ConflictMarkers) as problem:
        if len(lines) == 1:
            return Published((LineAnswer(lines[0].number, REFUSED, reason=problem.message),))
        half = len(lines) // 2
        published = _store(vault, lines[:half], caller, trust, asks)
    if len(published.answers) == len(lines):
        return published
    more = _store(vault, lines[len(published.answers) :], caller, trust, asks)
    notices = tuple(dict.fromkeys((*published.notices, *more.notices)))
    return Published((*published.answers, *more.answers), more.commit or published.commit, notices)
