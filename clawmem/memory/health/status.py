"""Status: show which vault this is and its content. Only the index may be updated."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

from clawmem.errors import StorageFailed
from clawmem.index.refresh.refresh import run_query
from clawmem.index.search.lookup import broken_files, fact_counts, unreadable_notices
from clawmem.index.tables.contents import event_rows, summary_names
from clawmem.index.tables.store import UNREADABLE, Index, index_path, open_store
from clawmem.memory.health.checks.repository import unfinished_git
from clawmem.memory.health.learning_state import LearningState, learning_state
from clawmem.memory.proposals import read_proposals
from clawmem.model.facts.fact import STATUSES
from clawmem.model.language.text import counted
from clawmem.model.named_tuple import NamedTuple
from clawmem.model.proposals.proposal import is_candidate
from clawmem.model.settings.local import SettingSuggestion, open_suggestions
from clawmem.vault.commit.pending import read_pending
from clawmem.vault.edits.hand_edits import check_edits
from clawmem.vault.edits.scan import finish_scan, start_scan
from clawmem.vault.git.acceptance import is_accepted
from clawmem.vault.state.hook_marks import HookMark, read_marks
from clawmem.vault.state.journal import count_accesses, unfolded_accesses
from clawmem.vault.state.reading_state import read_reading_state
from clawmem.vault.vault import Vault

FRESH, STALE, MISSING = "fresh", "stale", "missing"


class PendingEdits(NamedTuple):
    """Hand edits: files that the next change commits, and unreadable files with the reason."""

    waiting: tuple[str, ...]
    unreadable: tuple[tuple[str, str], ...]


class IndexState(NamedTuple):
    """The state of the index (fresh, stale or missing), its engine, and committed files that it could not read."""

    state: str
    engine: str
    unreadable: tuple[tuple[str, str], ...]


class Status(NamedTuple):
    """The state of a vault.

    `facts` are numbers by status. `unfinished` describes an interrupted change. `proposals` is the number of open
    proposals, and `candidates` that of those from messages that nobody read. `accepted` says whether the vault was
    accepted on this machine; `suggested` are the suggested settings that are not used here."""

    name: str
    format: int
    branch: str | None
    head: str | None
    facts: Mapping[str, int]
    entities: int
    events: int
    unfolded_accesses: int
    edits: PendingEdits
    unfinished: str | None
    search: IndexState
    notices: tuple[str, ...] = ()
    proposals: int = 0
    candidates: int = 0
    accepted: bool = True
    suggested: tuple[SettingSuggestion, ...] = ()
    learning: LearningState = LearningState()
    hooks: tuple[HookMark, ...] = ()


def status(vault: Vault, today: str = "") -> Status:
    """Return the state of the vault. `today` is the day (UTC) whose costs are counted; none if it is empty."""
    scan = start_scan(vault)
    head = vault.head()
    found = _index_state(vault)
    filed = read_proposals(vault)
    waiting = finish_scan(vault, scan)

    def read_status(index: Index) -> Status:
        learning = learning_state(vault, index, today)
        numbers = fact_counts(index)
        uncounted = () if learning.uncounted is None else (learning.uncounted,)
        return Status(
            name=vault.settings.words("vault.name"),
            format=vault.settings.whole("format"),
            branch=head.branch.removeprefix("refs/heads/") if head.branch else None,
            head=head.commit,
            facts=_by_status(numbers),
            entities=len(summary_names(index) | numbers.keys()),
            events=event_rows(index),
            unfolded_accesses=sum(
                count_access.count for count_access in count_accesses(unfolded_accesses(vault)).values()
            ),
            edits=_pending_edits(vault, waiting),
            unfinished=_unfinished(vault),
            search=IndexState(found, index.engine.name, tuple(broken_files(index))),
            notices=(*index.notices, *unreadable_notices(index), *filed.unreadable, *uncounted, *_set_aside(vault)),
            proposals=len(filed.open),
            candidates=sum(map(is_candidate, filed.open)),
            accepted=is_accepted(vault.git_dir, vault.environment),
            suggested=open_suggestions(vault.settings),
            learning=learning,
            hooks=tuple(read_marks(vault)),
        )

    return run_query(vault, read_status)


def _set_aside(vault: Vault) -> tuple[str, ...]:
    """The events that no model could read."""
    aside = read_reading_state(vault).set_aside
    if not aside:
        return ()
    return (f"the model gave no usable answer on {counted(len(aside), 'event')}, set aside: {', '.join(aside[-5:])}",)


def _index_state(vault: Vault) -> str:
    if not index_path(vault).exists():
        return MISSING
    index = open_store(vault)
    if index is None:
        return STALE
    try:
        return FRESH if index.head() == vault.head().commit else STALE
    except UNREADABLE:
        return STALE
    finally:
        index.close()


def _by_status(counts: Mapping[str, Mapping[str, int]]) -> dict[str, int]:
    totals: Counter[str] = Counter(dict.fromkeys(STATUSES, 0))
    for numbers in counts.values():
        totals.update(numbers)
    return dict(totals)


def _pending_edits(vault: Vault, paths: tuple[str, ...]) -> PendingEdits:
    edits = check_edits(vault, paths)
    return PendingEdits(tuple(edits.good), tuple((path, str(problem)) for path, problem in edits.bad))


def _unfinished(vault: Vault) -> str | None:
    what = unfinished_git(vault)
    if what:
        return f"a git {what} that a person must finish"
    try:
        pending = read_pending(vault)
    except StorageFailed as problem:
        return problem.message
    return f"{pending.subject} (the next change completes it)" if pending else None
