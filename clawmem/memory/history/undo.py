"""Undo: reverse one commit, for one fact or completely, with a new commit."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from clawmem.errors import PERSON_RUNS, InvalidInput, NotFound, NotPermitted, PossiblyUnreadable, Refused
from clawmem.index.refresh import run_query
from clawmem.index.search.lookup import PlacedFact
from clawmem.index.tables.store import Index
from clawmem.memory.history.log import fact_history, paths_of_fact, resolve_fact
from clawmem.memory.history.undo_plan import UndoPlan, plan_undo
from clawmem.memory.writing import writing
from clawmem.model.facts.fact import FACT_PREFIX
from clawmem.model.history.entry import HOUSEKEEPING, OF_PAGES, REDACT, UNDO, UNDOES, HistoryEntry, trailer_pattern
from clawmem.model.records.caller import Caller
from clawmem.model.records.change import Change, agent_author, subject_line, trailers
from clawmem.vault.git.git import personal_identity
from clawmem.vault.history.history import History, HistoryFilter, find_commit, open_history
from clawmem.vault.vault import Vault

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
