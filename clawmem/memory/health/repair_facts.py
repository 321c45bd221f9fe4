"""Repair damage by merges of older versions: withdrawn or replaced facts that are active, and lost events that facts
cite."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Mapping

from clawmem.index.search.lookup import all_facts, event_day
from clawmem.memory.history.withdrawn import find_reactivated
from clawmem.memory.scope import WriteScope, items_write, with_fact
from clawmem.model.facts.fact import Fact
from clawmem.model.language.text import counted
from clawmem.model.merging.facts.chains import Facts, close_replaced
from clawmem.model.merging.facts.fields import merge_fact
from clawmem.model.merging.facts.table import FiledFact
from clawmem.model.merging.files.ledger import merge_ledger
from clawmem.model.merging.policy import OURS
from clawmem.model.records.change import Author, Change, agent_author, subject_line, trailers


def retract_reactivated(work: WriteScope) -> tuple[str, ...]:
    """Withdraw facts that are active although a commit withdrew them."""
    places = {one.fact.id: one for one in all_facts(work.index)}
    standing = {key for key, one in places.items() if one.fact.is_current}
    changed: dict[str, list[Fact]] = defaultdict(list)
    for one in find_reactivated(work.vault, standing):
        now = places[one.fact.id]
        ended = merge_fact(None, now.fact, one.fact, lambda key: ("", key), OURS).fact
        changed[now.entity].append(ended)
    return _commit(work, changed, "withdrawn before, and active again since a merge")


def close_replaced_facts(work: WriteScope) -> tuple[str, ...]:
    """Supersede facts that are active although another fact replaced them."""
    facts: Facts = {one.fact.id: FiledFact(one.fact, one.entity) for one in all_facts(work.index)}
    before = dict(facts)
    close_replaced(facts, ())
    changed: dict[str, list[Fact]] = defaultdict(list)
    for key, one in facts.items():
        if one != before[key]:
            changed[one.path].append(one.fact)
    return _commit(work, changed, "replaced before, and still active")


def restore_events(work: WriteScope) -> tuple[str, ...]:
    """Restore cited events that no ledger contains, from the history."""
    writes: dict[str, bytes | None] = {}
    found = []
    cited = dict.fromkeys(one.fact.source_event for one in all_facts(work.index) if one.fact.source_event)
    for event in (one for one in cited if event_day(work.index, one) is None):
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
                held = _line_of(vault.contents_at(commit, [path])[path] or b"", event)
                if held is not None:
                    return {path: held}
    return {}


def _line_of(data: bytes, event: str) -> bytes | None:
    marked = f'"id": "{event}"'.encode()
    found = (line for line in data.split(b"\n") if marked in line and json.loads(line).get("id") == event)
    return next(found, None)


def _commit(work: WriteScope, changed: Mapping[str, list[Fact]], what: str) -> tuple[str, ...]:
    writes: dict[str, bytes | None] = {}
    for entity, facts in changed.items():
        held = work.facts(entity)
        for fact in facts:
            held = with_fact(held, fact)
        writes.update(items_write(entity, held))
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
