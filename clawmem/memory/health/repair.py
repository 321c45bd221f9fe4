"""Repair what is safe to repair, one commit for each thing, and rebuild the index. Of unreadable files, only those of
facts are changed: they are restored, and what was in them is kept."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Sequence
from datetime import timedelta
from math import inf
from typing import NamedTuple

from clawmem.errors import ClawmemError, ModelFailed, Refused, StorageFailed, Unreadable
from clawmem.index.refresh import rebuild, run_query
from clawmem.index.search.lookup import PlacedFact, all_facts, unreadable_fact_files, unreadable_notices
from clawmem.index.tables.contents import row_counts
from clawmem.index.tables.store import index_size
from clawmem.index.vectors.embed import EmbeddingRun, embed_missing
from clawmem.index.vectors.local_model import INSTALL, missing_packages
from clawmem.index.vectors.store import LOCAL, NONE
from clawmem.memory.entities.places import new_entity_files
from clawmem.memory.health.checks import HealthProblem
from clawmem.memory.health.checks.facts import is_rewritable
from clawmem.memory.health.checks.tree import (
    ATTRIBUTES,
    BRANCH,
    CONFIGURATION,
    GIT_INDEX,
    LINE_ENDS,
    LOST,
    remove_partial_files,
    with_attributes,
)
from clawmem.memory.health.checks.tree import CHECK as MERGING
from clawmem.memory.pages.summaries import tier_rule
from clawmem.memory.scope import WriteScope
from clawmem.memory.sync.complete_merges import merge_duplicate_ids
from clawmem.memory.writing import writing
from clawmem.model.facts.codec import parse_items, render_items
from clawmem.model.kinds import ITEMS_FILE, file_kind
from clawmem.model.language.dates import stamp
from clawmem.model.language.text import counted
from clawmem.model.merging.collisions import Facts, FiledFact, close_replaced
from clawmem.model.pages.summary import facts_block, generated_part, with_generated
from clawmem.model.progress import OnProgress
from clawmem.model.records.caller import Caller
from clawmem.model.records.change import Change, agent_author, subject_line, trailers
from clawmem.model.records.entity import name_of_path
from clawmem.vault.commit.integrity import rebuild_git_index, restore_branch, restore_object
from clawmem.vault.disk import writer_lock
from clawmem.vault.edits.hand_edits import last_readable_commit
from clawmem.vault.git.merge_driver import install_driver
from clawmem.vault.past import delete_past_state
from clawmem.vault.vault import Vault
from clawmem.vault.work_tree import HandEdits, write_file

_WAIT_SECONDS = 10.0


def repair(vault: Vault, caller: Caller, problems: Sequence[HealthProblem]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Repair the fixable problems. Return the commits, oldest first, and notices.

    The start of the transaction removes stale locks and completes an interrupted change. If the vault cannot be
    changed, a notice says why.
    """
    wanted = [problem for problem in problems if problem.fixable]
    try:
        _repair_git(vault, wanted)
        with writing(vault, caller, "doctor") as work:
            restored = restore_unreadable(work) if any(problem.check == "items" for problem in wanted) else Restored()
            commits = (*restored.commits, *_repair_facts(work, wanted), *work.commit(list(_changes(work, wanted))))
            remove_partial_files(vault)
            notices = (*work.notices, *restored.notices)
        if any(problem.check == "index" for problem in wanted):
            rebuild(vault).close()
    except ClawmemError as problem:
        return (), (f"nothing was repaired: {problem.message}",)
    return commits, notices


def _repair_git(vault: Vault, problems: Sequence[HealthProblem]) -> None:
    """Repair git first, because the other repairs need it."""
    vault.check_writable()
    for problem in problems:
        if problem.check in (GIT_INDEX, BRANCH):
            with writer_lock(vault.state / "lock", _WAIT_SECONDS, "doctor"):
                (rebuild_git_index if problem.check == GIT_INDEX else restore_branch)(vault)
        elif problem.check == LOST and problem.path:
            restore_object(vault, problem.path)
        elif problem.check == LINE_ENDS and problem.path == ".git/config":
            vault.git.configure({"core.autocrlf": "false"})
        elif problem.check == MERGING and problem.path == CONFIGURATION:
            install_driver(vault)


def _repair_facts(work: WriteScope, problems: Sequence[HealthProblem]) -> tuple[str, ...]:
    checks = {problem.check for problem in problems}
    commits = merge_duplicate_ids(work) if "id-unique" in checks else ()
    return commits + close_replaced_facts(work) if "chain" in checks else commits


def _changes(work: WriteScope, problems: Iterable[HealthProblem]) -> Iterator[Change]:
    for problem in problems:
        path = problem.path or ""
        if problem.check == "missing-folder":
            keep = f"{path}.gitkeep"
            yield _change(work, path.rstrip("/"), "the folder was missing", keep, b"")
            continue
        if problem.check == LINE_ENDS and path != ".git/config":
            yield from _line_ends(work, path)
            continue
        if problem.check == MERGING and path == ATTRIBUTES:
            rules = with_attributes(work.read(path))
            yield _change(work, path, "clawmem merges this vault's files", path, rules)
            continue
        name = name_of_path(path)
        if name is None:
            continue
        if problem.check == "entity-files" and work.read(path) is None:
            what = f"{path.rsplit('/', 1)[-1]} was missing"
            yield _change(work, name, what, path, _new_file(work, name, path), name)
        elif problem.check == "items-form":
            data = work.read(path)
            if data is not None and path not in work.transaction.unreadable and is_rewritable(data):
                yield _change(
                    work, name, "one fact a line, canonical keys", path, render_items(parse_items(data, path)), name
                )
        elif problem.check == "marks":
            yield from _restore_marks(work, name, path)


def _new_file(work: WriteScope, name: str, path: str) -> bytes:
    content = new_entity_files(name, work.caller)[path]
    assert content is not None
    if file_kind(path) is ITEMS_FILE:
        return content
    return with_generated(content.decode(), _generated_block(work, name)).encode()


def _line_ends(work: WriteScope, path: str) -> Iterator[Change]:
    data = work.read(path)
    if data is not None and path not in work.transaction.unreadable:
        yield _change(work, path, "plain ends of lines", path, data.replace(b"\r\n", b"\n"), name_of_path(path))


def _restore_marks(work: WriteScope, name: str, path: str) -> Iterator[Change]:
    text = work.text(path)
    if text and generated_part(text) is None and path not in work.transaction.unreadable:
        page = with_generated(text, _generated_block(work, name))
        yield _change(work, name, "the marks of the generated part were missing", path, page.encode(), name)


def _generated_block(work: WriteScope, name: str) -> str:
    """Return the generated part, or an empty string if the facts cannot be read."""
    try:
        facts = work.facts(name)
    except ClawmemError:
        return ""
    return facts_block(name, facts, work.caller.now, rule=tier_rule(work))


def _change(work: WriteScope, place: str, what: str, path: str, content: bytes, entity: str | None = None) -> Change:
    caller = work.caller
    return Change(
        subject=subject_line("fix", place, what),
        writes={path: content},
        trailers=trailers("fix", entities=[entity] if entity else [], agent=caller.agent, session=caller.session),
        author=agent_author(caller.agent),
    )


# Repair damage: files of facts that cannot be read, and replaced facts that are still active.

_LEFT_ALONE = timedelta(hours=1)


class Restored(NamedTuple):
    """The files of facts that were restored, the commits, oldest first, and a sentence about each file."""

    paths: tuple[str, ...] = ()
    commits: tuple[str, ...] = ()
    notices: tuple[str, ...] = ()


def restore_left_alone(vault: Vault, caller: Caller, edits: HandEdits) -> Restored:
    """Restore the damaged files of facts that nobody has changed for an hour; a person may still edit a later one."""
    damaged = any(_is_damaged(path, problem) for path, problem in edits.bad)
    if not damaged and not run_query(vault, unreadable_fact_files):
        return Restored()
    with writing(vault, caller, "heartbeat") as work:
        return restore_unreadable(work, (caller.now - _LEFT_ALONE).timestamp())


def restore_unreadable(work: WriteScope, unchanged_since: float = inf) -> Restored:
    """Restore each file of facts that cannot be read from the last commit in which it could be. What was in it is kept
    in clawmem's folder. Files that changed after a moment (seconds since 1970) stay as they are, and so does a merge
    that a person has to finish."""
    vault, unreadable = work.vault, work.transaction.unreadable
    damaged = {path for path, problem in unreadable.items() if _is_damaged(path, problem)}
    damaged |= set(unreadable_fact_files(work.index)) - (unreadable.keys() - damaged)
    changes, notices, restored = [], [], []
    for path in sorted(damaged):
        place, commit = vault.path(path), last_readable_commit(vault, path)
        broken = vault.disk.read(place) or b""
        if commit is None or b"<<<<<<< " in broken or (place.exists() and place.stat().st_mtime > unchanged_since):
            continue
        kept = vault.state / "damaged" / f"{path.replace('/', '.')}.{stamp(work.caller.now).replace(':', '')}"
        vault.disk.replace(kept, broken, vault.state)
        good, now = (vault.contents_at(name, [path])[path] for name in (commit, "HEAD"))
        write_file(vault, path, now)
        unreadable.pop(path, None)
        if work.read(path) != good:
            entity = name_of_path(path) or path
            rows = trailers("fix", entities=[entity], agent=work.caller.agent, session=work.caller.session)
            subject = subject_line("fix", entity, f"restored from {commit[:12]}, because it could not be read")
            changes.append(Change(subject, {path: good}, rows, author=agent_author(work.caller.agent)))
        restored.append(path)
        notices.append(f"{path} could not be read and was restored from {commit[:12]}; what it held is in {kept}")
    commits = work.commit(changes)
    work.update_index()
    return Restored(tuple(restored), commits, tuple(notices))


def _is_damaged(path: str, problem: ClawmemError) -> bool:
    return isinstance(problem, Unreadable) and file_kind(path) is ITEMS_FILE


def close_replaced_facts(work: WriteScope) -> tuple[str, ...]:
    """Supersede facts that are active although another fact replaced them."""
    facts: Facts = {placed.fact.id: FiledFact(placed.fact, placed.entity) for placed in all_facts(work.index)}
    before = dict(facts)
    close_replaced(facts, ())
    changed = [PlacedFact(filed.fact, filed.path) for key, filed in facts.items() if filed != before[key]]
    if not changed:
        return ()
    entities = list(dict.fromkeys(placed.entity for placed in changed))
    ids = [placed.fact.id for placed in changed]
    rows = trailers("fix", facts=ids, entities=entities, agent=work.caller.agent, session=work.caller.session)
    subject = subject_line("fix", "vault", f"{counted(len(ids), 'fact')} replaced before, and still active")
    author = agent_author(work.caller.agent)
    commits = work.commit([Change(subject, work.items_with(changed), rows, author=author)])
    work.update_index()
    return commits


class ReindexResult(NamedTuple):
    """The size of the new index: numbers of records, search engine, build time in seconds, bytes on disk."""

    facts: int
    events: int
    entities: int
    engine: str
    seconds: float
    size: int
    notices: tuple[str, ...] = ()


def reindex(vault: Vault, report: OnProgress | None = None) -> ReindexResult:
    """Rebuild the index, and delete the indexes of past commits. `report` gets how far it is. Raise StorageFailed if it
    cannot be stored."""
    started = time.perf_counter()
    delete_past_state(vault)
    index = rebuild(vault, report)
    try:
        if not index.kept:
            raise StorageFailed(f"The index cannot be stored: {index.notices[-1]}.", "Searches still work, slowly.")
        seconds = time.perf_counter() - started
        notices = (*index.notices, *unreadable_notices(index, facts=False))
        return ReindexResult(*row_counts(index), index.engine.name, seconds, index_size(vault), notices)
    finally:
        index.close()


def rebuild_vectors(vault: Vault, report: OnProgress | None = None) -> EmbeddingRun:
    """Compute the vectors of all facts and events again, without a time limit. `report` gets how far it is. Raise like
    check_embedding, and Locked."""
    check_embedding(vault)
    return embed_missing(vault, inf, anew=True, report=report)


def check_embedding(vault: Vault) -> None:
    """Raise Refused if vectors are disabled, ModelFailed if the local model is not installed."""
    if vault.settings.words("semantic.model") == NONE:
        raise Refused(
            "Vectors are disabled: semantic.model is none.",
            f"Enable them with `clawmem config set semantic.model {LOCAL}`.",
        )
    lacking = missing_packages()
    if lacking:
        raise ModelFailed(
            f"The local embedding model is not installed: {', '.join(lacking)} cannot be imported.",
            f"Install it with `{INSTALL}`.",
        )
