"""Work the digestion queue: take in a document, and run the phases of every source, one commit for each phase."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from clawmem.errors import ClawmemError, InvalidInput, Locked
from clawmem.extensions.digest import phases
from clawmem.heartbeat.queue import QueueKind
from clawmem.index.refresh import run_query
from clawmem.index.search.lookup import accesses_of_entities
from clawmem.llm.presets import ModelTask, checked_answer
from clawmem.memory.writing import writing
from clawmem.model.facts.fact import EXTERNAL
from clawmem.model.language.dates import stamp
from clawmem.model.language.text import check_visible, one_line
from clawmem.model.progress import OnProgress, Progress
from clawmem.model.records.caller import Caller
from clawmem.model.records.change import Change, agent_author, subject_line, trailers
from clawmem.model.records.digestion import (
    ARCHIVE,
    DONE,
    PHASES,
    QUEUE_PATH,
    REDUCE,
    REFLECT,
    REWEAVE,
    VERIFY,
    Claim,
    DigestionItem,
    render_queue,
    stored_queue,
)
from clawmem.model.records.entity import slug
from clawmem.model.records.event import OF_DOCUMENT, Event, ledger_path, render_events
from clawmem.model.transcripts.documents import DocumentText
from clawmem.model.transcripts.notes import headings_in
from clawmem.vault.commit.secret_gate import allowed
from clawmem.vault.strict_yaml import parse_yaml
from clawmem.vault.vault import Vault
from clawmem.work.session_end_records import WorkScope, joined

# A text longer than this becomes several events.
_EVENT_CHARACTERS = 20_000
_LONGEST = 2_000_000
BY_READER = "model"
"""What `by` says of a source that a model or the calling agent has read to its end."""


ACTS: Mapping[str, phases.Phase] = {
    REDUCE: lambda work, item: phases.PhaseResult(item),
    REFLECT: phases.reflect,
    REWEAVE: phases.reweave,
    VERIFY: phases.verify,
    ARCHIVE: phases.archive,
}


class DigestedSource(NamedTuple):
    """A source by its key, as it is now, and the claims that were verified in this run."""

    key: str
    item: DigestionItem
    claims: tuple[Claim, ...] = ()


class DigestResult(NamedTuple):
    """The sources that were worked on, the commits, and the error of each source that could not go on."""

    sources: tuple[DigestedSource, ...]
    commits: tuple[str, ...] = ()
    problems: tuple[ClawmemError, ...] = ()


def add_document(
    vault: Vault,
    text: str,
    title: str,
    caller: Caller,
    scope: WorkScope | None = None,
    entity: str | None = None,
    narrowest: str | None = None,
    document: DocumentText | None = None,
) -> DigestedSource:
    """Store a text in the ledger and put it into the queue, in one commit. The same text again changes nothing.

    `narrowest` is the scope of its claims; the default is the narrowest that `scope` allows. `document` is what the
    text was read from, if it was no text. Raise InvalidInput if the
    text is empty or too long, SecretFound if it contains a credential."""
    of = scope or WorkScope()
    if not text.strip():
        raise InvalidInput("The document is empty.", "Name a file with text.")
    if len(text) > _LONGEST:
        raise InvalidInput(f"The document has {len(text):,} characters; the limit is {_LONGEST:,}.", "Split it.")
    check_visible(text, "document")
    kept, name = allowed(vault.settings, text, "The document"), one_line(allowed(vault.settings, title, "The title"))
    key = f"document:{hashlib.sha256(text.encode()).hexdigest()[:16]}"
    with writing(vault, caller, "digest") as work:
        queue = stored_queue(work.read, parse_yaml)
        if key in queue:
            return DigestedSource(key, queue[key])
        events = _events(kept, name, key, caller, document)
        item = DigestionItem(
            name,
            stamp(caller.now),
            agent=caller.agent,
            workflow=of.workflow,
            project=of.project,
            scope=narrowest,
            entity=entity or of.entity() or _entity_of(name),
            events=tuple(event.id for event in events),
        )
        path = ledger_path(stamp(caller.now)[:10])
        writes: dict[str, bytes | None] = {
            path: (work.read(path) or b"") + render_events(events),
            QUEUE_PATH: render_queue({**queue, key: item}),
        }
        work.commit([_change(caller, "add", name, writes)])
        return DigestedSource(key, item)


def digest(
    vault: Vault,
    caller: Caller,
    only: str | None = None,
    acts: Mapping[str, phases.Phase] = ACTS,
    report: OnProgress | None = None,
) -> DigestResult:
    """Run the phases that are due, of all sources or of one. A failure stops its source, and the next run tries that
    phase again; it stops no other source. Running it again changes nothing.

    Sources about what is asked for come first, so that a budget that ends early is spent on them. `report` gets the
    number of phases that were run. Rules find the claims of a source that no reader has read."""
    due = {
        key: other_item
        for key, other_item in queue_of(vault).items()
        if other_item.phase != DONE and only in (None, key)
    }
    waiting = _by_demand(vault, due) if len(due) > 1 else list(due)
    items: list[DigestedSource] = []
    commits: list[str] = []
    problems: list[ClawmemError] = []
    for number, key in enumerate(waiting):
        item: DigestionItem | None = queue_of(vault)[key]
        claims: tuple[Claim, ...] = ()
        while item is not None and item.phase != DONE:
            if report is not None:
                phase = number * len(ACTS) + PHASES.index(item.phase)
                report(Progress("digest", phase, len(waiting) * len(ACTS), now=f"{item.title}, {item.phase}"))
            claims = item.claims if item.phase == ARCHIVE else claims
            try:
                item, made = _run_phase(vault, caller, key, item, acts)
                commits += made
            except ClawmemError as problem:
                problems.append(problem)
                commits += _record_failure(vault, caller, key, problem)
                break
        items.append(DigestedSource(key, queue_of(vault)[key], claims))
    return DigestResult(tuple(items), tuple(commits), tuple(problems))


def _by_demand(vault: Vault, due: Mapping[str, DigestionItem]) -> list[str]:
    """Return the keys of sources: those whose entity's facts were accessed most come first, else in their order."""
    names = {item.entity for item in due.values() if item.entity}
    asked = run_query(vault, lambda index: accesses_of_entities(index, names))
    return sorted(due, key=lambda key: -asked.get(due[key].entity or "", 0))


def queue_of(vault: Vault) -> dict[str, DigestionItem]:
    """Return the queue; empty if there is none. Raise Unreadable."""
    return stored_queue(vault.read, parse_yaml)


def digestion_tasks(vault: Vault, only: str | None = None) -> list[ModelTask]:
    """Return the tasks about sources that no model or agent has read, also of those that only the rules have read;
    those about what is asked for come first."""
    queue = {key: item for key, item in queue_of(vault).items() if only in (None, key)}
    unread = {key: item for key, item in queue.items() if item.phase in (REDUCE, DONE) and item.by != BY_READER}
    keys = _by_demand(vault, unread) if len(unread) > 1 else unread
    return [task for key in keys for task, _ in phases.tasks_of(vault, unread[key]).values()]


def apply_digestion(vault: Vault, caller: Caller, key: str, answer: Mapping[str, Any]) -> DigestResult | None:
    """Digest a source with an agent's answer to a task of `digestion_tasks`. Return None if no such task waits."""
    for source, item in queue_of(vault).items():
        asked = phases.tasks_of(vault, item).get(key) if item.phase in (REDUCE, DONE) else None
        if asked is not None:
            with writing(vault, caller, "digest") as work:
                queue = stored_queue(work.read, parse_yaml)
                if queue.get(source) != item:
                    raise Locked("Another process works on this source.", "Run the same command again.")
                claims = phases.claims_of_answer(vault, asked[1], checked_answer(asked[0], answer))
                after = _reduced(vault, item._replace(read=(*item.read, key)), claims, BY_READER)
                change = _change(caller, REDUCE, item.title, {QUEUE_PATH: render_queue({**queue, source: after})})
                commits = work.commit([change], "digest")
            result = digest(vault, caller, only=source)
            return result._replace(
                sources=(
                    DigestedSource(source, queue_of(vault)[source], result.sources[0].claims if result.sources else ()),
                ),
                commits=(*commits, *result.commits),
            )
    return None


def digestion(only: str | None = None) -> QueueKind:
    """Return the kind of the tasks about texts to digest, of all sources or of one."""
    return QueueKind("digest", "texts to digest", lambda vault, caller: digestion_tasks(vault, only),
                     apply_digestion, _digested)  # fmt: skip


def _digested(result: DigestResult) -> list[str]:
    rows = ((source.item.title, source.item.counts) for source in result.sources)
    return [f"digested {title}: {', '.join(f'{number} {name}' for name, number in row.items())}" for title, row in rows]


def _reduced(vault: Vault, item: DigestionItem, claims: list[Claim], by: str) -> DigestionItem:
    """Return a source with the claims that were found. It counts as read when no task about it is left."""
    whole = by == BY_READER and not phases.tasks_of(vault, item)
    found = item._replace(
        phase=REFLECT, claims=tuple(claims), by=BY_READER if whole else "rules", failures=0, error=None
    )
    return found if claims else found._replace(phase=DONE, counts=item.counts or {"claims": 0})


def _run_phase(
    vault: Vault, caller: Caller, key: str, item: DigestionItem, acts: Mapping[str, phases.Phase]
) -> tuple[DigestionItem | None, tuple[str, ...]]:
    """Run one phase and commit it. Return None if another process has worked on the source meanwhile."""
    phase = item.phase
    claims = phases.claims_by_rules(vault, item) if phase == REDUCE else []
    with writing(vault, caller, "digest") as work:
        queue = stored_queue(work.read, parse_yaml)
        if queue.get(key) != item:
            return None, ()
        result = acts[phase](work, item)
        after = result.item._replace(phase=PHASES[PHASES.index(phase) + 1], failures=0, error=None)
        if phase == REDUCE:
            after = _reduced(vault, after, claims, "rules")
        change = _change(caller, phase, item.title, {QUEUE_PATH: render_queue({**queue, key: after})})
        return after, work.commit([joined(result.changes, change)], "digest")


def _record_failure(vault: Vault, caller: Caller, key: str, problem: ClawmemError) -> tuple[str, ...]:
    """Note the failure in the queue; the second one of the same kind makes no commit."""
    try:
        with writing(vault, caller, "digest") as work:
            queue = stored_queue(work.read, parse_yaml)
            item = queue[key]
            if item.error == problem.message:
                return ()
            failed = item._replace(failures=item.failures + 1, error=problem.message)
            writes: dict[str, bytes | None] = {QUEUE_PATH: render_queue({**queue, key: failed})}
            return work.commit([_change(caller, "failed", f"{item.title}: {item.phase}", writes)])
    except ClawmemError:
        return ()  # the vault cannot be written at all: the caller has the first problem


def _events(text: str, title: str, key: str, caller: Caller, document: DocumentText | None) -> list[Event]:
    mail = (document and document.mail) or {}
    about = document.audience if document else {}
    return [
        Event(
            f"evt_{hashlib.sha256(f'{key} {number}'.encode()).hexdigest()[:16]}",
            stamp(caller.now),
            "system",
            part,
            mail.get("speaker"),
            agent=caller.agent,
            source=f"{OF_DOCUMENT}{title}",
            external_id=f"{key}:{number}",
            kind="attachment",
            metadata={**about, **({phases.ABOVE: above} if above else {})} or None,
            trust=EXTERNAL if document else None,
        )
        for number, (part, above) in enumerate(_parts(text))
    ]


def _parts(text: str) -> Iterator[tuple[str, str]]:
    """Yield the parts of a long text, which end at paragraphs where they can, each with the headings above it."""
    at, above = 0, ""
    while at < len(text):
        end = at + _EVENT_CHARACTERS
        if end < len(text):
            gap = text.rfind("\n\n", at + _EVENT_CHARACTERS // 2, end)
            end = gap + 2 if gap > 0 else end
        yield text[at:end], above
        open_now = headings_in(f"{above}\n{text[at:end]}")
        above = "\n".join(f"{'#' * level} {title}" for level, title in open_now)
        at = end


def _entity_of(title: str) -> str | None:
    name = slug(title.rsplit("/", 1)[-1].rsplit(".", 1)[0])
    return f"resources/{name}" if name else None


def _change(caller: Caller, phase: str, title: str, writes: dict[str, bytes | None]) -> Change:
    items = trailers("digest", agent=caller.agent, session=caller.session)
    return Change(subject_line("digest", phase, title), writes, items, author=agent_author(caller.agent))
