"""Undo: reverse one commit, for one fact or completely, with a new commit.

Plan an undo: the new content of each file of a commit, and what prevents the undo.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import NamedTuple

from clawmem.errors import PERSON_RUNS, InvalidInput, NotFound, NotPermitted, PossiblyUnreadable, Refused
from clawmem.index.refresh import run_query
from clawmem.index.search.lookup import PlacedFact, by_ids, facts_from_event, facts_naming
from clawmem.index.tables.store import Index
from clawmem.memory.history.log import fact_history, paths_of_fact, resolve_fact
from clawmem.memory.writing import writing
from clawmem.model.facts.codec import parse_items, render_items
from clawmem.model.facts.fact import FACT_PREFIX, Fact
from clawmem.model.history.comparison import points_at
from clawmem.model.history.entry import HOUSEKEEPING, OF_PAGES, REDACT, UNDO, UNDOES, HistoryEntry, trailer_pattern
from clawmem.model.history.redaction import lacks_record
from clawmem.model.history.revocation import changed_facts, connected, facts_back, file_back, lines_back
from clawmem.model.kinds import EVENTS, FACTS, FILE, NEVER, NOTE, PAGE, REDACTIONS, SUMMARY, handling
from clawmem.model.records.caller import Caller
from clawmem.model.records.change import Change, agent_author, subject_line, trailers
from clawmem.model.records.entity import items_path, name_of_path
from clawmem.model.records.event import parse_events
from clawmem.model.records.layout import is_owned
from clawmem.vault.git.git import personal_identity
from clawmem.vault.history.history import History, HistoryFilter, find_commit, open_history
from clawmem.vault.vault import Vault

Read = Callable[[str], bytes | None]


class UndoPlan(NamedTuple):
    """The files to write and the changed facts, each with `restored` or `removed`.

    `unchanged` were in their former state already. `skipped` has a sentence for each part that cannot be undone."""

    writes: Mapping[str, bytes | None]
    facts: tuple[tuple[PlacedFact, str], ...]
    unchanged: tuple[str, ...]
    skipped: tuple[str, ...]


class _UndoPlanner:
    """The files of a commit before it, after it and now, and the plan made from them."""

    def __init__(self, vault: Vault, index: Index, history: History, read: Read, entry: HistoryEntry) -> None:
        self.vault = vault
        self.index = index
        self.history = history
        self.entry = entry
        parent = entry.parents[0]
        self.paths = vault.changed_paths(parent, entry.commit)
        self.before = vault.contents_at(parent, self.paths)
        self.after = vault.contents_at(entry.commit, self.paths)
        self.now = {path: read(path) for path in self.paths if is_owned(path) and handling(path).undo != NEVER}
        self.writes: dict[str, bytes | None] = {}
        self.facts: list[tuple[PlacedFact, str]] = []
        self.remaining: dict[str, int] = {}
        self.unchanged: list[str] = []
        self.skipped: list[str] = []

    def items(self) -> list[str]:
        """Return the `items.json` files of the commit."""
        return [path for path in self.now if handling(path).undo == FACTS]

    def parsed(self, path: str) -> tuple[Sequence[Fact], Sequence[Fact], Sequence[Fact]]:
        """Return the facts of a file before the commit, after it and now."""
        states = (self.before[path], self.after[path], self.now[path])
        before, after, now = (parse_items(data, path) if data is not None else () for data in states)
        return before, after, now

    def write(self, path: str, content: bytes | None) -> None:
        """Plan the content of a file, if it differs from the current one."""
        if content != self.now[path]:
            self.writes[path] = content


def plan_undo(
    vault: Vault, index: Index, history: History, read: Read, entry: HistoryEntry, fact_id: str | None
) -> UndoPlan:
    """Plan the undo of a commit, or of the group of facts connected with `fact_id`. Raise Refused with the reason."""
    planner = _UndoPlanner(vault, index, history, read, entry)
    states = {path: planner.parsed(path) for path in planner.items()}
    if fact_id is not None:
        _refuse_moved(planner, states, fact_id)
    _undo_facts(planner, states, _selected_facts(states, fact_id))
    _refuse_dangling(planner)
    if fact_id is None:
        for path in planner.now:
            UNDO_BY_KIND[handling(path).undo](planner, path)
    for path in planner.now:
        if handling(path).undo == SUMMARY:
            _undo_summary(planner, path, whole=fact_id is None)
    planner.skipped += [
        f"{path} is not managed by clawmem" for path in planner.paths if fact_id is None and not is_owned(path)
    ]
    return UndoPlan(planner.writes, tuple(planner.facts), tuple(planner.unchanged), tuple(planner.skipped))


def _selected_facts(states: Mapping[str, tuple[Sequence[Fact], ...]], fact_id: str | None) -> frozenset[str]:
    """Return the ids of the facts to undo: all that the commit changed, or those connected with one."""
    changed: dict[str, list[Fact | None]] = {}
    for before, after, _ in states.values():
        for key, pair in changed_facts(before, after).items():
            changed.setdefault(key, []).extend(pair)
    return connected(fact_id, changed) if fact_id else frozenset(changed)


def _refuse_moved(planner: _UndoPlanner, states: Mapping[str, tuple[Sequence[Fact], ...]], fact_id: str) -> None:
    places = [
        [path for path, each in states.items() if any(fact.id == fact_id for fact in each[when])] for when in (0, 1)
    ]
    if places[0] and places[1] and places[0] != places[1]:
        raise Refused(
            f"The latest change of {fact_id} is a move: {planner.entry.commit[:12]} ({planner.entry.subject}).",
            f"Undo the whole move: `clawmem undo {planner.entry.commit[:12]}`.",
        )


def _undo_facts(
    planner: _UndoPlanner,
    states: Mapping[str, tuple[Sequence[Fact], Sequence[Fact], Sequence[Fact]]],
    only: frozenset[str],
) -> None:
    removed: dict[str, PlacedFact] = {}
    restored: dict[str, PlacedFact] = {}
    for path, (before, after, now) in states.items():
        back = facts_back(before, after, now, only)
        if back.blocked:
            tidied = {fact.id: fact for fact in now if fact.id in back.blocked and _only_tidied(planner, fact.id)}
            back = facts_back(before, [tidied.get(fact.id, fact) for fact in after], now, only)
        entity = name_of_path(path) or path
        elsewhere = _moved_since(planner, [key for key in back.already if key not in {fact.id for fact in before}])
        for blocked in (*back.blocked, *elsewhere):
            raise _blocked_error(planner, blocked, next(reversed(_changes_since(planner, blocked)), None))
        standing = {fact.id: fact for fact in now}
        removed.update({key: PlacedFact(standing[key], entity) for key in back.removed})
        restored.update({key: PlacedFact(back.records[key], entity) for key in back.restored})
        planner.unchanged += back.already
        planner.remaining[path] = len(back.records)
        if (
            back.restored
            or back.removed
            or (planner.before[path] is not None and planner.after[path] is None and planner.now[path] is None)
        ):
            planner.write(path, render_items(back.records.values()))
    _refuse_split(planner, states, removed.keys() & restored.keys())
    planner.facts += [(placed, "restored") for placed in restored.values()]
    planner.facts += [(placed, "removed") for key, placed in removed.items() if key not in restored]


def _only_tidied(planner: _UndoPlanner, fact_id: str) -> bool:
    """Return whether all that happened to a fact since the commit was housekeeping, or was undone."""
    later = _changes_since(planner, fact_id)
    standing = {entry.commit: entry for entry in later if entry.op not in HOUSEKEEPING}
    for entry in reversed(later):
        if entry.op == UNDO and entry.commit in standing and entry.undoes in standing:
            del standing[entry.undoes], standing[entry.commit]
    return bool(later) and not standing


def _moved_since(planner: _UndoPlanner, gone: Iterable[str]) -> list[str]:
    """Return the facts that were moved to another entity since the commit."""
    places = {name_of_path(path) for path in planner.items()}
    return [key for key, placed in by_ids(planner.index, gone).items() if placed.entity not in places]


def _refuse_split(planner: _UndoPlanner, states: Iterable[str], moved: Iterable[str]) -> None:
    """Raise Refused if a moved entity has new facts in its new place. A move is undone completely."""
    name = planner.entry.commit[:12]
    for path in states if any(True for _ in moved) else ():
        if planner.before[path] is None and planner.remaining[path]:
            entity = name_of_path(path)
            raise Refused(
                f"{name} cannot be undone: {entity} has new facts since then.",
                f"Undo those first: `clawmem log {entity}` shows them.",
            )


def _changes_since(planner: _UndoPlanner, fact_id: str) -> Sequence[HistoryEntry]:
    entries = fact_history(planner.history, {fact_id: planner.items()}, include_folds=True)[fact_id]
    names = [entry.commit for entry in entries]
    return entries[names.index(planner.entry.commit) + 1 :] if planner.entry.commit in names else ()


def _blocked_error(planner: _UndoPlanner, what: str, later: HistoryEntry | None) -> Refused:
    by = f", last by {later.commit[:12]} ({later.subject})" if later else ", by an edit that is not committed yet"
    hint = f"Undo that first: `clawmem undo {later.commit[:12]}`." if later else "`git diff` in the vault shows it."
    if later and later.op == REDACT:
        hint = "A redaction cannot be undone; `clawmem retract ID` withdraws the rest of a fact."
    return Refused(f"{planner.entry.commit[:12]} cannot be undone: {what} was changed since{by}.", hint)


def _refuse_dangling(planner: _UndoPlanner) -> None:
    """Raise Refused if a fact would point at a removed fact."""
    gone = {placed.fact.id for placed, outcome in planner.facts if outcome == "removed"}
    back = {placed.fact.id: placed for placed, outcome in planner.facts if outcome == "restored"}
    for fact_id in sorted(gone):
        for each in facts_naming(planner.index, fact_id):
            stays = back.get(each.fact.id, each)
            if stays.fact.id not in gone and fact_id in points_at(stays.fact):
                raise Refused(
                    f"{planner.entry.commit[:12]} cannot be undone: "
                    f"{stays.fact.id} ({stays.fact.fact}) depends on {fact_id}.",
                    f"Undo what connects them first: `clawmem log {stays.fact.id}` shows it.",
                )
    for placed in back.values():
        targets = points_at(placed.fact) - back.keys()
        missing = sorted((targets & gone) | (targets - by_ids(planner.index, targets).keys()))
        if missing and not set(missing) <= _already_dangling(planner, placed.fact.id):
            raise Refused(
                f"{planner.entry.commit[:12]} cannot be undone: "
                f"{placed.fact.id} would point at {missing[0]}, which does not exist any more.",
                f"Restore that first: `clawmem log {missing[0]}` shows what removed it.",
            )


def _already_dangling(planner: _UndoPlanner, fact_id: str) -> set[str]:
    """Return the missing targets that the fact has already. They do not prevent the undo."""
    found = by_ids(planner.index, [fact_id]).get(fact_id)
    targets = points_at(found.fact) if found else frozenset()
    return set(targets - by_ids(planner.index, targets).keys())


def _undo_events(planner: _UndoPlanner, path: str) -> None:
    states = (planner.before[path], planner.after[path], planner.now[path])
    back = lines_back(*(_lines_by_event(data or b"", path) for data in states))
    if back.blocked:
        raise _blocked_error(planner, f"the event {back.blocked[0]}", _later_change(planner, path))
    going = {placed.fact.id for placed, outcome in planner.facts if outcome == "removed"}
    for event in back.removed:
        citing = next(
            (placed for placed in facts_from_event(planner.index, event) if placed.fact.id not in going), None
        )
        if citing is not None:
            raise Refused(
                f"{planner.entry.commit[:12]} cannot be undone: {citing.fact.id} ({citing.fact.fact}) was learned from "
                f"the event {event}.",
                f"Undo what was learned first: `clawmem log {citing.fact.id}` shows it.",
            )
    planner.unchanged += back.already
    if back.removed or back.restored:
        lines = b"".join(line + b"\n" for line in back.records.values())
        planner.write(path, lines or None)


def _lines_by_event(data: bytes, path: str) -> dict[str, bytes]:
    """Return the exact lines of a ledger by event id."""
    lines = [line for line in data.split(b"\n") if line.strip()]
    return {event.id: line for event, line in zip(parse_events(data, path), lines, strict=True)}


def _undo_file(planner: _UndoPlanner, path: str) -> None:
    before, after, now = planner.before[path], planner.after[path], planner.now[path]
    found = file_back(path, before, after, now)
    if found.verdict == "blocked":
        raise _blocked_error(planner, path, _later_change(planner, path))
    if handling(path).undo == REDACTIONS and lacks_record(found.content if found.verdict == "back" else now, now):
        planner.skipped.append(f"{path} stays: the record of redactions must be kept")
    elif found.verdict == "back":
        planner.write(path, found.content)
    elif file_back(path, before, after, after).verdict == "back":
        planner.unchanged.append(path)


def _later_change(planner: _UndoPlanner, path: str) -> HistoryEntry | None:
    later = HistoryFilter(paths=[path], rev=f"{planner.entry.commit}..HEAD")
    return next(iter(planner.history.entries(later)), None)


def _undo_summary(planner: _UndoPlanner, path: str, whole: bool) -> None:
    """Remove the summary of an entity that the commit created, if the entity has no other facts."""
    if planner.before[path] is not None or planner.after[path] is None:
        if whole:
            _undo_file(planner, path)
        return
    entity = name_of_path(path) or path
    items = items_path(entity)
    if planner.now[path] is None:
        planner.unchanged.append(path)
    elif planner.remaining.get(items, 1 if _has_facts(planner, items) else 0):
        planner.skipped.append(f"{entity} stays, because it has other facts")
    elif file_back(path, None, planner.after[path], planner.now[path]).verdict == "blocked":
        planner.skipped.append(f"{entity} stays, because its summary was edited since")
    else:
        planner.write(path, None)
        if items in planner.now:
            planner.write(items, None)


def _has_facts(planner: _UndoPlanner, items: str) -> bool:
    data = planner.now.get(items)
    return bool(data and parse_items(data, items))


def _undone_elsewhere(planner: _UndoPlanner, path: str) -> None:
    """Facts are undone before all other files, and summaries after them. The learning cursor is never undone, because
    the next heartbeat would learn the undone facts again."""


# What undo does with a file of the commit, for each value of a kind's `undo`.
UNDO_BY_KIND: Mapping[str, Callable[[_UndoPlanner, str], None]] = {
    FACTS: _undone_elsewhere,
    SUMMARY: _undone_elsewhere,
    NEVER: _undone_elsewhere,
    EVENTS: _undo_events,
    NOTE: _undo_file,
    PAGE: _undo_file,
    FILE: _undo_file,
    REDACTIONS: _undo_file,
}


_SHORTEST_NAME = 4
# A review decision is undone completely: its fact is reversed and the proposal is open again.
_REVIEW = "review"
_HEX = frozenset("0123456789abcdef")
_NAME_THE_COMMIT = "Name the change: `clawmem log` shows the commits, and `clawmem undo COMMIT` takes one back."


class UndoResult(NamedTuple):
    """The undone commit and the new commit (None on a dry run).

    `facts` are in their new state, or in their last state if removed; `outcome` is `restored` or `removed` for each.
    `paths` are the changed files, `removed` those of them that were deleted."""

    undone: HistoryEntry
    commit: str | None
    facts: tuple[PlacedFact, ...]
    outcome: tuple[str, ...]
    paths: tuple[str, ...]
    notices: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()


class _UndoTarget(NamedTuple):
    """The commit to undo, and the fact to undo it for (None: the whole commit)."""

    entry: HistoryEntry
    fact_id: str | None


def undo(vault: Vault, reference: str | None, caller: Caller, dry_run: bool = False) -> UndoResult:
    """Undo a commit, or the latest change of a fact together with the facts that this change connected with it.

    Without a reference, undo the last change that the calling agent or person made and that still stands. What the
    heartbeat did to a fact afterwards is never the change that is undone.

    Raise NotFound, and Refused if a later change, or a fact that points at a removed one, prevents it. The message
    names the obstacle. A dry run writes nothing and takes no lock.
    """
    if dry_run:

        def previewed(index: Index) -> UndoResult:
            target, plan = _plan(vault, index, vault.read, reference, caller)
            return _result(target, plan, None, index.notices)

        return run_query(vault, previewed, one_state=False)
    with writing(vault, caller, "undo") as work:
        target, plan = _plan(vault, work.index, work.read, reference, caller)
        commit = work.commit([_change(target.entry, plan, caller)])[-1]
        return _result(target, plan, commit, work.notices)


def _plan(
    vault: Vault, index: Index, read: Callable[[str], bytes | None], reference: str | None, caller: Caller
) -> tuple[_UndoTarget, UndoPlan]:
    with open_history(vault) as history:
        if reference is None:
            target, plan = _last_own_change(vault, index, history, read, caller.agent)
        else:
            target = _find_target(index, history, reference.strip())
            _check_undoable(target.entry)
            plan = plan_undo(vault, index, history, read, target.entry, target.fact_id)
            if not plan.writes:
                _refuse_empty_plan(history, target, plan)
        if caller.agent is not None:
            _refuse_decisions(read, plan, caller.agent)
            _check_agent(target.entry, caller.agent)
        return target, plan


def _last_own_change(
    vault: Vault, index: Index, history: History, read: Callable[[str], bytes | None], agent: str | None
) -> tuple[_UndoTarget, UndoPlan]:
    """Return the newest change of the calling agent or person that has something left to undo. Undos, merges
    and what only brings pages up to date are passed over, so that each undo goes one step further back."""
    author = agent_author(agent) or personal_identity(vault.git)
    if author is None:
        raise Refused("git does not say who you are, so clawmem cannot tell which changes are yours.", _NAME_THE_COMMIT)
    undone = set[str | None]()  # by an undo that stands
    for entry in history.entries(HistoryFilter()):
        if entry.op == UNDO and entry.commit not in undone:
            undone.add(entry.undoes)
        is_own = entry.agent == agent if agent else (entry.author, entry.author_email) == author and not entry.agent
        if entry.op == REDACT and not agent:
            raise Refused(
                f"The last change erased text from the whole history ({entry.commit[:12]}), which cannot be undone.",
                "`clawmem log` shows the changes before it, and `clawmem undo COMMIT` undoes one of them.",
            )
        if not is_own or entry.op in (UNDO, *OF_PAGES) or len(entry.parents) != 1:
            continue
        _check_undoable(entry)
        try:
            plan = plan_undo(vault, index, history, read, entry, None)
        except Refused:
            # Its fact was changed since by the undo of an earlier change.
            if entry.commit in undone:
                continue
            raise
        if plan.writes:
            return _UndoTarget(entry, None), plan
    raise Refused(f"Nothing to undo: no change of {author.name} stands that could be undone.", _NAME_THE_COMMIT)


def _check_agent(entry: HistoryEntry, agent: str) -> None:
    """Raise NotPermitted if an agent would take back what it did not do itself."""
    if agent not in (entry.agent, entry.author if (entry.author, entry.author_email) == agent_author(agent) else None):
        raise NotPermitted(
            f"{entry.commit[:12]} ({entry.subject}) was not made by {agent}, and an agent undoes only what it did.",
            PERSON_RUNS,
        )


def _refuse_decisions(read: Callable[[str], bytes | None], plan: UndoPlan, agent: str) -> None:
    """Raise NotPermitted if an agent would take back a decision of review, or bring one back."""
    from clawmem.model.proposals.proposal import FOLDER, OPEN, parse_proposal  # few undos touch a proposal

    for path in (write for write in plan.writes if write.startswith(f"{FOLDER}/") and write.endswith(".json")):
        found = [parse_proposal(data, path) for data in (read(path), plan.writes[path]) if data is not None]
        if any(proposal.status != OPEN for proposal in found):
            raise NotPermitted(
                f"This would change a decision of review ({found[0].id}), and {agent} is an agent.",
                PERSON_RUNS,
            )


def _find_target(index: Index, history: History, reference: str) -> _UndoTarget:
    commit = None if reference.startswith(FACT_PREFIX) else _commit_named(history, reference)
    try:
        fact_id = resolve_fact(index, history, reference)
    except (NotFound, InvalidInput) as problem:
        if commit is not None:
            return _UndoTarget(commit, None)
        if reference.startswith(FACT_PREFIX) or isinstance(problem, PossiblyUnreadable):
            raise
        raise NotFound(f"There is no fact and no commit '{reference}'.", "`clawmem log` shows both.") from None
    if commit is not None:
        raise Refused(
            f"'{reference}' is a prefix of the fact {fact_id} and of the commit {commit.commit[:12]}.",
            f"Write {fact_id}, or more characters of the commit.",
        )
    latest = _latest_change(index, history, fact_id)
    return _UndoTarget(latest, None if latest.op == _REVIEW else fact_id)


def _commit_named(history: History, reference: str) -> HistoryEntry | None:
    """Return the commit if the text can be a commit name. Raise NotFound if HEAD does not contain it."""
    if not (reference.startswith("HEAD") or (len(reference) >= _SHORTEST_NAME and set(reference) <= _HEX)):
        return None
    return history.named(reference) if find_commit(history.vault, reference) else None


def _latest_change(index: Index, history: History, fact_id: str) -> HistoryEntry:
    paths = paths_of_fact(index, history, fact_id)
    entries = [entry for entry in fact_history(history, {fact_id: paths})[fact_id] if entry.op not in HOUSEKEEPING]
    if not entries:
        raise NotFound(f"No commit names {fact_id}.", "`clawmem log` shows the commits; name one of them.")
    latest = entries[-1]
    if latest.op != UNDO:
        return latest
    earlier = [entry for entry in entries[:-1] if entry.op != UNDO and entry.commit != latest.undoes]
    further = f" To go further back: `clawmem undo {earlier[-1].commit[:12]}`." if earlier else ""
    raise Refused(
        f"Nothing to undo: the latest change of {fact_id} is an undo already, {latest.commit[:12]}.",
        f"To take that back: `clawmem undo {latest.commit[:12]}`.{further}",
    )


def _check_undoable(entry: HistoryEntry) -> None:
    if not entry.parents:
        raise Refused(
            f"{entry.commit[:12]} created the vault, so there is no earlier state.",
            "To start over, create a new vault with `clawmem init PATH`.",
        )
    if entry.op == REDACT:
        raise Refused(
            f"{entry.commit[:12]} redacted a secret, which cannot be undone: the text is no longer in the history, and"
            " the record of the redaction must stay.",
            "What is left of a fact can be changed: `clawmem supersede ID WORDS`, or `clawmem retract ID`.",
        )
    if len(entry.parents) > 1:
        raise Refused(
            f"{entry.commit[:12]} is a merge, so there is no single state before it.",
            "Undo the merged changes one by one: `clawmem log` shows them.",
        )


def _refuse_empty_plan(history: History, target: _UndoTarget, plan: UndoPlan) -> None:
    entry = target.entry
    what = f"{entry.commit[:12]} ({entry.subject})"
    if plan.skipped:
        raise Refused(f"{what} cannot be undone: {plan.skipped[0]}.", "`clawmem log` shows what came later.")
    if not plan.unchanged:
        raise Refused(f"Nothing to undo: {what} changed no fact, event or written text.", "`clawmem log` shows others.")
    undos = history.entries(HistoryFilter(grep=[trailer_pattern(UNDOES, entry.commit)]))
    by = next((undo for undo in undos if undo.undoes == entry.commit), None)
    raise Refused(
        f"Nothing to undo: {what} was undone already" + (f", by {by.commit[:12]}." if by else "."),
        f"To bring it back: `clawmem undo {by.commit[:12]}`." if by else "`clawmem log` shows what happened since.",
    )


def _change(entry: HistoryEntry, plan: UndoPlan, caller: Caller) -> Change:
    entities = list(dict.fromkeys(placed.entity for placed, _ in plan.facts)) or list(entry.entities)
    place = entities[0] if len(entities) == 1 else "vault"
    rows = trailers(
        UNDO,
        facts=[placed.fact.id for placed, _ in plan.facts],
        entities=entities,
        agent=caller.agent,
        session=caller.session,
    )
    return Change(
        subject=subject_line(UNDO, place, entry.subject),
        writes=plan.writes,
        trailers=(*rows, (UNDOES, entry.commit)),
        author=agent_author(caller.agent),
    )


def _result(target: _UndoTarget, plan: UndoPlan, commit: str | None, notices: tuple[str, ...]) -> UndoResult:
    return UndoResult(
        target.entry,
        commit,
        tuple(placed for placed, _ in plan.facts),
        tuple(outcome for _, outcome in plan.facts),
        tuple(sorted(plan.writes)),
        (*notices, *(f"kept: {reason}" for reason in plan.skipped)),
        tuple(sorted(path for path, data in plan.writes.items() if data is None)),
    )
