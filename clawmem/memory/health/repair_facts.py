"""Repair damage: files of facts that cannot be read; and by merges of older versions, withdrawn or replaced facts that
are active, and lost events that facts cite."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Mapping
from datetime import timedelta
from math import inf
from typing import NamedTuple

from clawmem.errors import ClawmemError, Unreadable
from clawmem.index.refresh.refresh import run_query
from clawmem.index.search.lookup import all_facts, event_day
from clawmem.index.search.unreadable import unreadable_fact_files
from clawmem.memory.history.withdrawn import find_reactivated
from clawmem.memory.scope import WriteScope, items_write, with_fact
from clawmem.memory.writing import writing
from clawmem.model.facts.fact import Fact
from clawmem.model.kinds import ITEMS_FILE, file_kind
from clawmem.model.language.dates import stamp
from clawmem.model.language.text import counted
from clawmem.model.merging.facts.chains import Facts, close_replaced
from clawmem.model.merging.facts.fields import merge_fact
from clawmem.model.merging.facts.table import FiledFact
from clawmem.model.merging.files.ledger import merge_ledger
from clawmem.model.merging.policy import OURS
from clawmem.model.records.caller import Caller
from clawmem.model.records.change import Author, Change, agent_author, subject_line, trailers
from clawmem.model.records.entity import name_of_path
from clawmem.vault.edits.hand_edits import last_readable_commit
from clawmem.vault.edits.scan import HandEdits
from clawmem.vault.vault import Vault
from clawmem.vault.work_tree import write_file

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
            changes.append(Change(subject, {path: good}, rows, author=_author(work)))
        restored.append(path)
        notices.append(f"{path} could not be read and was restored from {commit[:12]}; what it held is in {kept}")
    commits = work.commit(changes)
    work.update_index()
    return Restored(tuple(restored), commits, tuple(notices))


def _is_damaged(path: str, problem: ClawmemError) -> bool:
    return isinstance(problem, Unreadable) and file_kind(path) is ITEMS_FILE


def retract_reactivated(work: WriteScope) -> tuple[str, ...]:
    """Withdraw facts that are active although a commit withdrew them."""
    places = {placed.fact.id: placed for placed in all_facts(work.index)}
    standing = {key for key, placed in places.items() if placed.fact.is_current}
    changed: dict[str, list[Fact]] = defaultdict(list)
    for reactivated_fact in find_reactivated(work.vault, standing):
        now = places[reactivated_fact.fact.id]
        ended = merge_fact(None, now.fact, reactivated_fact.fact, lambda key: ("", key), OURS).fact
        changed[now.entity].append(ended)
    return _commit(work, changed, "withdrawn before, and active again since a merge")


def close_replaced_facts(work: WriteScope) -> tuple[str, ...]:
    """Supersede facts that are active although another fact replaced them."""
    facts: Facts = {placed.fact.id: FiledFact(placed.fact, placed.entity) for placed in all_facts(work.index)}
    before = dict(facts)
    close_replaced(facts, ())
    changed: dict[str, list[Fact]] = defaultdict(list)
    for key, filed_fact in facts.items():
        if filed_fact != before[key]:
            changed[filed_fact.path].append(filed_fact.fact)
    return _commit(work, changed, "replaced before, and still active")


def restore_events(work: WriteScope) -> tuple[str, ...]:
    """Restore cited events that no ledger contains, from the history."""
    writes: dict[str, bytes | None] = {}
    found = []
    cited = dict.fromkeys(placed.fact.source_event for placed in all_facts(work.index) if placed.fact.source_event)
    for event in (text for text in cited if event_day(work.index, text) is None):
        for path, line in _lost_lines(work, event).items():
            now = writes.get(path) or work.read(path) or b""
            writes[path] = merge_ledger(now, now, now + line + b"\n")
            found.append(event)
    if not writes:
        return ()
    rows = trailers("fix", agent=work.caller.agent, session=work.caller.session, events=found)
    words = f"{counted(len(found), 'event')} restored, because facts cite them"
    return work.commit([Change(subject_line("fix", "ledger", words), writes, rows, author=_author(work))])


def _lost_lines(work: WriteScope, event: str) -> Mapping[str, bytes]:
    """Return the last ledger that contained an event, and its line; empty if the history has no such event."""
    vault = work.vault
    asked = ("log", f'-S"id": "{event}"', "--format=%H %P", "HEAD", "--", "ledger/")
    for line in vault.git.run(*asked).decode().splitlines():
        for commit in line.split():
            for path in vault.files_at(commit, "ledger"):
                data = _line_of(vault.contents_at(commit, [path])[path] or b"", event)
                if data is not None:
                    return {path: data}
    return {}


def _line_of(data: bytes, event: str) -> bytes | None:
    marked = f'"id": "{event}"'.encode()
    found = (line for line in data.split(b"\n") if marked in line and json.loads(line).get("id") == event)
    return next(found, None)


def _commit(work: WriteScope, changed: Mapping[str, list[Fact]], what: str) -> tuple[str, ...]:
    writes: dict[str, bytes | None] = {}
    for entity, facts in changed.items():
        items = work.facts(entity)
        for fact in facts:
            items = with_fact(items, fact)
        writes.update(items_write(entity, items))
    if not writes:
        return ()
    ids = [fact.id for facts in changed.values() for fact in facts]
    rows = trailers("fix", facts=ids, entities=changed, agent=work.caller.agent, session=work.caller.session)
    words = f"{counted(len(ids), 'fact')} {what}"
    commits = work.commit([Change(subject_line("fix", "vault", words), writes, rows, author=_author(work))])
    work.update_index()
    return commits


def _author(work: WriteScope) -> Author | None:
    return agent_author(work.caller.agent)
