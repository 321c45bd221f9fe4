"""Import memories of other programs: each statement becomes an event with its own date, and a fact that cites it."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import chain
from typing import Any, NamedTuple

from clawmem.errors import ClawmemError, InvalidInput
from clawmem.extensions.exchange.foreign_memory import ForeignMemory, Found, SkippedMemory
from clawmem.index.search.lookup import facts_from_event
from clawmem.learning.ingest import IngestResult, RepeatCounter, count_new, ingest, to_events
from clawmem.memory.facts.remember import RememberedFact, remember
from clawmem.memory.proposals import read_proposals
from clawmem.memory.writing import writing
from clawmem.model.facts.draft import Draft, draft_from_record
from clawmem.model.language.text import check_statement
from clawmem.model.records.caller import Caller
from clawmem.model.safety.secrets.find import find_secret
from clawmem.model.transcripts.message import Message, SkippedLine
from clawmem.vault.vault import Vault


class ImportResult(NamedTuple):
    """The result of an import: the facts with their outcomes, in order, and what was skipped.

    `known` statements were imported before. `planned` are the new statements; on a dry run nothing else is done.
    `events` is the number of new events, on a dry run of those that would be added. `commit` is the last commit, or
    None if nothing changed.
    """

    planned: tuple[ForeignMemory, ...]
    facts: tuple[RememberedFact, ...]
    known: int
    skipped: tuple[SkippedMemory, ...]
    events: int
    commit: str | None
    notices: tuple[str, ...] = ()
    failed: ClawmemError | None = None


class _Statement(NamedTuple):
    memory: ForeignMemory
    message: Message
    draft: Draft
    event: str


def import_memories(
    vault: Vault,
    found: Iterable[Found],
    messages: Iterable[Message | SkippedLine],
    caller: Caller,
    origin: str,
    trust: str,
    dry_run: bool = False,
) -> ImportResult:
    """Store each statement once, with `origin` as its source, so that one `retract --source` withdraws all of it.

    `messages` are conversations and notes, which become events only. `trust` is the highest trust of a statement. A
    statement whose event some fact or proposal cites is known, even if it was corrected, withdrawn or rejected since.
    Statements with a credential are skipped.
    """
    trust = "agent" if trust == "user" and caller.agent else trust  # an agent cannot speak as a person
    skipped: list[SkippedMemory] = []
    statements = _statements(found, caller, origin, trust, skipped)
    with writing(vault, caller, "import", dry_run=True) as work:
        proposed = {
            proposal.fact.source_event for proposal in read_proposals(vault, work.read).proposals if proposal.fact
        }
        fresh = [
            statement
            for statement in statements
            if statement.event not in proposed and not facts_from_event(work.index, statement.event)
        ]
    known, planned = len(statements) - len(fresh), tuple(statement.memory for statement in fresh)
    if dry_run:
        every = chain((statement.message for statement in fresh), messages)
        events, left_out = count_new(vault, every, caller, origin)
        skipped += [_skipped_message(line) for line in left_out]
        return ImportResult(planned, (), known, tuple(skipped), events, None)
    heard = ingest(vault, (statement.message for statement in fresh), caller, origin) if fresh else None
    spoken = ingest(vault, messages, caller, origin)
    skipped += [_skipped_message(line) for line in (*(heard.skipped if heard else ()), *spoken.skipped)]
    refused = {skipped_line.line for skipped_line in heard.skipped} if heard else set()
    drafts = [statement.draft for statement in fresh if statement.message.line not in refused]
    result = remember(vault, drafts, caller) if drafts else None
    commit = (result and result.commit) or spoken.commit or (heard and heard.commit)
    return ImportResult(
        planned,
        result.facts if result else (),
        known,
        tuple(skipped),
        spoken.added + (heard.added if heard else 0),
        commit,
        _notices(heard, spoken) + (result.notices if result else ()),
        result.failed if result else None,
    )


def _statements(
    found: Iterable[Found], caller: Caller, origin: str, trust: str, skipped: list[SkippedMemory]
) -> list[_Statement]:  # fmt: skip
    """Return the statements with their events and drafts; a repeated one once. Add the others to `skipped`."""
    check_statement(origin, "source")
    by_event: dict[str, _Statement] = {}
    for number, memory in enumerate(found, 1):
        if isinstance(memory, SkippedMemory):
            skipped.append(memory)
            continue
        secret = find_secret(f"{memory.statement}\n{memory.quote}\n{memory.record}")
        if secret is not None:
            skipped.append(SkippedMemory(memory.place, f"it contains a credential ({secret.rule})"))
            continue
        message = Message(
            number, "system", memory.quote, memory.timestamp, None, None, memory.key, "app", trust=trust, source=origin
        )
        [event] = to_events([message], caller, origin, RepeatCounter())
        try:
            draft = _draft(memory, event.id, caller, origin, trust)
        except InvalidInput as problem:
            skipped.append(SkippedMemory(memory.place, problem.message))
            continue
        by_event.setdefault(f"{event.id} {draft.fact.fact}", _Statement(memory, message, draft, event.id))
    return list(by_event.values())


def _draft(memory: ForeignMemory, event: str, caller: Caller, origin: str, trust: str) -> Draft:
    record: dict[str, Any] = {
        **memory.record, "fact": memory.statement, "entity": memory.entity, "source": origin, "source_event": event,
        "source_text": memory.quote, "trust": trust,
    }  # fmt: skip
    return draft_from_record(record, caller.now)._replace(title=memory.title)


def _skipped_message(line: SkippedLine) -> SkippedMemory:
    return SkippedMemory(f"line {line.line}", line.reason)


def _notices(*items: IngestResult | None) -> tuple[str, ...]:
    return tuple(dict.fromkeys(notice for result in items if result for notice in result.notices))
