"""Doctor: read every file of the vault and check every rule. With `fix`, repair what is safe to repair.

Files in which the last check found nothing, and that are still the same, are not read again.

Check the hooks of agent harnesses: the last call of each must have done its work in time.

Check that the vault has a record of every redaction in its history.

Check that the index equals a rebuild from HEAD.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, suppress
from datetime import datetime
from functools import cache
from itertools import groupby, islice
from pathlib import Path
from typing import NamedTuple

import clawmem
from clawmem.errors import ClawmemError
from clawmem.index.refresh import is_index_damage, open_index, rebuild
from clawmem.index.search.graph import check_edges
from clawmem.index.tables.contents import (
    event_ids,
    fact_lines,
    searchable_facts,
    sqlite_problem,
    summary_names,
)
from clawmem.index.tables.schema import check_passages, check_total
from clawmem.index.tables.store import Index, index_path, open_store
from clawmem.memory.health.checks import ERROR, INFO, WARNING, HealthProblem, sorted_problems
from clawmem.memory.health.checks.facts import CheckedFact
from clawmem.memory.health.checks.ledger import EventIds, learning_problems
from clawmem.memory.health.checks.reading import (
    VaultContent,
    credential_problems,
    files_to_search,
    read_vault,
    reading_problems,
)
from clawmem.memory.health.checks.tree import (
    altered_problems,
    branch_problems,
    case_problems,
    clone_problems,
    committed_name_problems,
    fsck_problems,
    git_index_problems,
    local_settings_problems,
    lost_problems,
    merging_problems,
    repository_problems,
    state_problems,
    tree_problems,
    waiting_problems,
)
from clawmem.memory.health.configure import extension_problems
from clawmem.memory.health.repair import repair
from clawmem.model.facts.codec import fact_to_line, parse_items
from clawmem.model.history.redaction import RECORD, records_of
from clawmem.model.kinds import ITEMS_FILE, LEDGER_DAY, SUMMARY_PAGE, file_kind
from clawmem.model.language.text import counted
from clawmem.model.records.caller import Caller
from clawmem.model.records.entity import name_of_path
from clawmem.model.records.event import parse_events
from clawmem.vault.commit.integrity import altered_files, head_blobs, lost_files
from clawmem.vault.disk import writer_lock
from clawmem.vault.edits.hand_edits import check_edits, unreadable_files
from clawmem.vault.history.git_merges import is_redacted, redactions_in, unreachable_originals
from clawmem.vault.state.hook_marks import DONE, FOLDER, read_marks
from clawmem.vault.vault import Vault
from clawmem.vault.work_tree import finish_scan, start_scan

_MAX_SHOWN = 3
_PLACE = ".git/clawmem/index.sqlite"


class ExpectedIndex(NamedTuple):
    """The expected content of the index: entity and digest of each fact, entities with a summary, and sorted hashes of
    the event ids."""

    lines: frozenset[tuple[str, str]]
    entities: frozenset[str]
    events: Sequence[int]


def expected_at_head(
    vault: Vault, facts: Iterable[CheckedFact], events: EventIds, owned: Iterable[str], waiting: Iterable[str]
) -> ExpectedIndex:
    """Return what a rebuild would contain. Files in `waiting` differ from HEAD and are read from HEAD."""
    changed = set(waiting)
    lines = {
        (checked_fact.entity, _digest(fact_to_line(checked_fact.fact)))
        for checked_fact in facts
        if checked_fact.path not in changed
    }
    entities = {name_of_path(path) or "" for path in owned if file_kind(path) is SUMMARY_PAGE and path not in changed}
    more: set[str] = set()
    head = vault.head().commit
    if head and changed:
        for path, data in vault.contents_at(head, sorted(changed)).items():
            if data is not None:
                _add(path, data, lines, entities, more)
    ids = sorted([*events.digests(changed), *map(hash, more)])
    return ExpectedIndex(frozenset(lines), frozenset(entities - {""}), [number for number, _ in groupby(ids)])


def _digest(line: str) -> str:
    """Return the id in the line of a fact and the hash of the line: a large vault has many lines."""
    return f"{line[8:21]} {hash(line)}"


def _add(path: str, data: bytes, lines: set[tuple[str, str]], entities: set[str], ids: set[str]) -> None:
    name, kind = name_of_path(path) or path, file_kind(path)
    try:
        if kind is ITEMS_FILE:
            lines.update((name, _digest(fact_to_line(fact))) for fact in parse_items(data, path))
        elif kind is SUMMARY_PAGE:
            entities.add(name)
        elif kind is LEDGER_DAY:
            ids.update(event.id for event in parse_events(data, path))
    except ClawmemError:
        return  # the index skips such a file too, and reports it


def index_problems(vault: Vault, expected: ExpectedIndex, full: bool) -> Iterator[HealthProblem]:
    """Yield the differences of the updated index from a rebuild; nothing if there is no index.

    With `full`, an index without a difference is rebuilt: a word that is missing in it shows in no row."""
    if not index_path(vault).exists():
        return
    index = open_store(vault)
    if index is None:
        message = "The index has another version, engine or boot id, or is damaged; the next command rebuilds it."
        yield HealthProblem(INFO, "index", _PLACE, None, message, fixable=True)
        return
    try:
        if index.head() != vault.head().commit:
            index.close()
            index = open_index(vault)
        clean = True
        for problem in _compared(index, expected):
            clean = False
            yield problem
        if clean:
            check_edges(index)  # reads every fact and checks its checksum
            check_total(index)
            check_passages(index)
        if clean and full:
            index.close()
            index = rebuild(vault)
    except (ClawmemError, OSError):
        raise
    except Exception as damage:
        if not is_index_damage(index, damage):
            raise
        yield _index_problem(f"it cannot be read ({damage})")
    finally:
        index.close()


def _compared(index: Index, expected: ExpectedIndex) -> Iterator[HealthProblem]:
    problem = sqlite_problem(index)
    if problem is not None:
        yield _index_problem(f"SQLite says: {problem}")
        return
    rows = [(name, _digest(line)) for name, line in fact_lines(index)]
    found = frozenset(rows)
    yield from _differences("facts", expected.lines, found)
    if len(rows) != len(found):
        yield _index_problem(f"{len(rows) - len(found)} facts are in it twice")
    yield from _differences("entities", expected.entities, summary_names(index))
    yield from _event_differences(index, expected.events)
    words = searchable_facts(index)
    if words not in (None, len(rows)):
        yield _index_problem(f"keyword search knows {words} texts of {len(rows)} facts")


def _differences(what: str, wanted: frozenset[object], found: frozenset[object]) -> Iterator[HealthProblem]:
    missing, surplus = wanted - found, found - wanted
    if missing or surplus:
        shown = ", ".join(_describe(value) for value in sorted(missing | surplus, key=str)[:_MAX_SHOWN])
        yield _index_problem(f"{len(missing)} {what} are missing and {len(surplus)} should not be there ({shown})")


def _event_differences(index: Index, wanted: Sequence[int]) -> Iterator[HealthProblem]:
    found = sorted(map(hash, event_ids(index)))
    if found == wanted:
        return
    missing, surplus = set(wanted).difference(found), set(found).difference(wanted)
    named = (event_id for event_id in event_ids(index) if hash(event_id) in surplus)
    shown = f" ({', '.join(islice(named, _MAX_SHOWN))})" if surplus else ""
    yield _index_problem(f"{len(missing)} events are missing and {len(surplus)} should not be there{shown}")


def _describe(value: object) -> str:
    return f"{value[0]} {value[1].partition(' ')[0]}" if isinstance(value, tuple) else str(value)


def _index_problem(why: str) -> HealthProblem:
    return HealthProblem(ERROR, "index", _PLACE, None, f"The index differs from a rebuild: {why}.", fixable=True)


STATE = "doctor.json"


class CommittedFiles(NamedTuple):
    """The files of HEAD with the names of their blobs, the files that differ from it as git sees, and those of which
    git does not see that they differ."""

    head: str
    blobs: Mapping[str, str]
    waiting: tuple[str, ...]
    altered: Sequence[str]


def committed_files(vault: Vault, head: str) -> CommittedFiles:
    """Compare the work tree with HEAD. Reads every file. Runs git."""
    waiting = finish_scan(vault, start_scan(vault))
    blobs = head_blobs(vault, head)
    return CommittedFiles(head, blobs, waiting, altered_files(vault, blobs, waiting))


def unchanged_files(vault: Vault, now: CommittedFiles) -> tuple[str | None, frozenset[str]]:
    """Return the commit of the last check, and the files in which it found nothing and that are the same now; none if
    another clawmem made it. Runs git."""
    try:
        record = vault.kept(STATE)
        commit, left = str(record["commit"]), {str(path) for path in record["left"]}
        if record["version"] != _program():
            return None, frozenset()
        before = now.blobs if commit == now.head else head_blobs(vault, commit)
    except (ValueError, TypeError, KeyError, ClawmemError):
        return None, frozenset()
    differing = {*now.waiting, *now.altered, *left}
    same = (path for path, blob in now.blobs.items() if path not in differing and before.get(path) == blob)
    return commit, frozenset(same)


def record_check(vault: Vault, now: CommittedFiles, problems: Iterable[HealthProblem]) -> None:
    """Store that everything in HEAD was checked but the files with a problem."""
    left = sorted({problem.path for problem in problems if problem.path is not None} & now.blobs.keys())
    with suppress(OSError, ClawmemError):  # a vault that cannot be written was checked all the same
        vault.keep(STATE, {"version": _program(), "commit": now.head, "left": left})


@cache
def _program() -> str:
    """Return the version of clawmem and when its newest module was written: rules change between two releases, too."""
    newest = max(module.stat().st_mtime_ns for module in Path(clawmem.__file__).parent.rglob("*.py"))
    return f"{clawmem.__version__} {newest}"


_WAIT_SECONDS = 10.0
_BREAKS_INDEX = ("settings", "git", "ledger")


class Diagnosis(NamedTuple):
    """The problems, worst first, with the repaired ones marked as fixed; the numbers of checked things; the commits.

    With `since`, the commit of an earlier check, only the `changed` files and those with problems then were read
    whole."""

    problems: tuple[HealthProblem, ...]
    checked: Mapping[str, int]
    commits: tuple[str, ...] = ()
    notices: tuple[str, ...] = ()
    since: str | None = None
    changed: int = 0

    def remaining(self, severity: str) -> int:
        """Return the number of unfixed problems of a severity."""
        return sum(1 for problem in self.problems if problem.severity == severity and not problem.fixed)

    @property
    def healthy(self) -> bool:
        """Return whether there is no unfixed error."""
        return self.remaining(ERROR) == 0


def doctor(vault: Vault, caller: Caller, *, fix: bool = False, full: bool = False) -> Diagnosis:
    """Check the vault.

    What an earlier check found without a problem, and is unchanged, is only compared with the rest. With `full`,
    everything is read, git checks every object too, and nothing is skipped to save time. With `fix`, the vault is
    checked again after the repair, so a problem counts as fixed only if it does not exist any more."""
    before = _examine(vault, full, caller.now)
    if not fix or not any(problem.fixable for problem in before.problems):
        return before
    commits, notices = repair(vault, caller, before.problems)
    after = _examine(Vault(vault.root, vault.git.environment, vault.disk), full, caller.now)
    left = {_key(problem) for problem in after.problems}
    fixed = [
        problem._replace(fixed=True) for problem in before.problems if problem.fixable and _key(problem) not in left
    ]
    problems = sorted_problems([*fixed, *after.problems])
    return after._replace(problems=problems, commits=commits, notices=(*before.notices, *notices))


def _key(problem: HealthProblem) -> tuple[str, str | None, str]:
    return problem.check, problem.path, problem.message


def _examine(vault: Vault, full: bool, now: datetime) -> Diagnosis:
    notices: list[str] = []
    with ExitStack() as stack:
        # The lock keeps writers away, so that all files are of one state.
        try:
            vault.prepare_state()
            stack.enter_context(writer_lock(vault.state / "lock", _WAIT_SECONDS, "doctor"))
        except OSError as problem:
            notices.append(f"the vault is not writable, so it was read without the lock: {problem.strerror}")
        committed = _committed(vault)
        since, unchanged = unchanged_files(vault, committed) if committed and not full else (None, frozenset())
        reading = read_vault(vault, unchanged)
        problems = [*tree_problems(vault, reading.tree), *reading.problems]
        problems, lost = _git_problems(vault, reading, committed, problems, full)
    # Writers do not have to wait for the rest.
    problems += reading_problems(reading)
    problems += local_settings_problems(vault)
    problems += hook_problems(vault)
    problems += extension_problems(vault)
    ledgers = [path for path in reading.tree.owned if file_kind(path) is LEDGER_DAY]
    problems += learning_problems(vault, ledgers, now)
    problems += credential_problems(vault, files_to_search(reading))
    if full:
        problems += fsck_problems(vault)
        problems += old_history_problems(vault)
    if committed and not lost and Vault(vault.root, vault.git.environment).head().commit == committed.head:
        record_check(vault, committed, problems)
    changed = len(reading.tree.owned) - len(reading.unchanged)
    return Diagnosis(sorted_problems(problems), dict(reading.counts), (), tuple(notices), since, changed)


def _committed(vault: Vault) -> CommittedFiles | None:
    """Compare the work tree with HEAD; None if that cannot be done, which is reported elsewhere."""
    try:
        head = vault.head().commit
        return committed_files(vault, head) if head else None
    except ClawmemError:
        return None


def _git_problems(
    vault: Vault,
    reading: VaultContent,
    committed: CommittedFiles | None,
    problems: list[HealthProblem],
    full: bool,
) -> tuple[list[HealthProblem], bool]:
    """Return the problems with those of git and the index, and whether git lacks something that other checks need."""
    try:
        problems += branch_problems(vault)
        head = vault.head().commit
        problems += repository_problems(vault)
        problems += state_problems(vault)
        problems += git_index_problems(vault)
        problems += clone_problems(vault)
        problems += merging_problems(vault)
        problems += redaction_problems(vault, head) if head else ()
        if committed is None and head:
            committed = committed_files(vault, head)
        _, in_head, waiting, altered = committed or CommittedFiles("", {}, finish_scan(vault, start_scan(vault)), ())
        lost = lost_files(vault, in_head)
    except ClawmemError as problem:
        problems += case_problems(reading.tree.owned)
        return [*problems, HealthProblem(ERROR, "git", ".git", None, _sentence(problem))], True
    problems += committed_name_problems(in_head, reading.tree.owned)
    problems += altered_problems(altered)
    problems = [
        _as_deleted(problem) if problem.check == "entity-files" and problem.path in waiting else problem
        for problem in problems
    ]
    if lost:
        # The remaining checks need git, which cannot answer.
        whole = set(reading.tree.owned) - {*waiting, *altered}
        return [
            *(problem for problem in problems if problem.path not in lost),
            *lost_problems(lost, whole),
        ], True
    problems += _last_readable(
        vault,
        {problem.path for problem in problems if problem.severity == ERROR} - set(waiting),
        in_head,
    )
    named = {problem.path for problem in problems if problem.severity != INFO}
    problems += waiting_problems(check_edits(vault, waiting), named)
    if not any(problem.severity == ERROR and problem.check in _BREAKS_INDEX for problem in problems):
        facts = [fact for fact in reading.facts if fact.path not in reading.broken]
        expected = expected_at_head(vault, facts, reading.event_ids, reading.tree.owned, {*waiting, *altered})
        problems += index_problems(vault, expected, full)
    return problems, False


def _last_readable(vault: Vault, paths: Collection[str | None], in_head: Collection[str]) -> list[HealthProblem]:
    """Say how to restore the files that are unreadable in HEAD too."""
    broken = unreadable_files(vault, (path for path in paths if path in in_head and path is not None))
    return [HealthProblem(INFO, "last-whole", path, None, problem.hint) for path, problem in broken.items()]


def _sentence(problem: ClawmemError) -> str:
    """Return the message and the hint, but not a hint that only says to run doctor."""
    return problem.message if "`clawmem doctor" in problem.hint else f"{problem.message} {problem.hint}".strip()


def _as_deleted(problem: HealthProblem) -> HealthProblem:
    """Mark a missing file as deleted by hand: it must be restored from HEAD, not created empty."""
    message = f"{problem.message} It was deleted by hand: restore it with `git checkout HEAD -- {problem.path}`."
    return problem._replace(severity=ERROR, message=message, fixable=False)


def hook_problems(vault: Vault) -> Iterator[HealthProblem]:
    """Yield a problem for each hook whose last call failed or took too long."""
    for mark in read_marks(vault):
        if mark.outcome != DONE:
            text = f"The last call of {mark.event} by {mark.harness} ({mark.at}) {_WORDS.get(mark.outcome, 'failed')}"
            yield HealthProblem(WARNING, "hook", f".git/clawmem/{FOLDER}", None, f"{text}: {mark.message.rstrip('.')}.")


_WORDS = {"late": "was too late", "failed": "failed"}


def redaction_problems(vault: Vault, head: str) -> Iterator[HealthProblem]:
    """Yield missing records, or an unreadable record file. Runs git."""
    made = redactions_in(vault, head)
    try:
        known = len(records_of(vault.read(RECORD)))
    except ValueError as problem:
        yield HealthProblem(ERROR, "redactions", RECORD, None, f"The records cannot be read: {problem}")
        return
    if known < len(made):
        cure = f"`git checkout {made[0][:12]} -- {RECORD}` restores the record of that commit."
        message = f"The history has {counted(len(made), 'redaction')}, but the file has {known}. {cure}"
        yield HealthProblem(ERROR, "redactions", RECORD, None, message)


def old_history_problems(vault: Vault) -> Iterator[HealthProblem]:
    """Yield commits from before a redaction that the repository still has. Runs git over all objects, whose damage is
    reported elsewhere."""
    kept: list[str] = []
    with suppress(ClawmemError):
        head = vault.head().commit
        kept = unreachable_originals(vault, head) if head and is_redacted(vault, head) else []
    if kept:
        message = (
            f"git still has {counted(len(kept), 'commit')} of this history from before a redaction, "
            f"such as {kept[0][:12]}. To remove them, if nothing else needs them: `git remote prune origin`, delete "
            "the refs that contain them (`git for-each-ref --contains COMMIT`), "
            "`git reflog expire --expire=now --all`, `git repack -a -d` and `git prune --expire=now`."
        )
        yield HealthProblem(WARNING, "redactions", ".git", None, message)
