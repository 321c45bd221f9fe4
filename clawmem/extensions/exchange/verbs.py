"""`clawmem import` and `clawmem export`; an imported statement becomes an event with its own date, and a fact."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from datetime import datetime
from functools import partial
from itertools import chain, starmap
from pathlib import Path
from shlex import quote
from typing import Annotated, Any, NamedTuple, TypeVar
from zipfile import ZipFile

from clawmem.errors import DONE, PARTIAL, ClawmemError, InvalidInput
from clawmem.extension import ask
from clawmem.extensions.exchange import formats as archives
from clawmem.extensions.exchange.foreign_memory import ForeignMemory, Found, SkippedMemory, entity_path
from clawmem.extensions.exchange.formats import AUTO, FORMATS, MEMORY_FORMATS, RULES, format_of
from clawmem.extensions.exchange.okf import render
from clawmem.faces.parts.command import Answer, Call, Command, Feed
from clawmem.faces.parts.filters import named_entity
from clawmem.faces.parts.parameters import DRY_RUN, OF_ENTITY, Parameter
from clawmem.faces.parts.reading import (
    MOST_BYTES,
    PAGES,
    NotUnpacked,
    ReadFiles,
    check_plain,
    open_archive,
    opened,
    read_files,
    unpacked,
    write_folder,
    write_lines,
)
from clawmem.index.refresh import run_query
from clawmem.index.search.lookup import entities, facts_from_event
from clawmem.index.tables.store import Index
from clawmem.learning.ingest import RepeatCounter, count_new, ingest, to_events
from clawmem.memory.entities.entities import EntityChange, add_alias
from clawmem.memory.facts.note_facts import (
    NoteFacts,
    facts_of_notes,
    forgotten_of_notes,
    mark_of,
    may_come_back,
    note_of,
    pairs_alike,
    reason_of_end,
)
from clawmem.memory.facts.remember import RememberedFact, remember
from clawmem.memory.facts.revise import FactEdit, ReviseResult, edit, retract, supersede
from clawmem.memory.facts.revoke import withdrawal_notices
from clawmem.memory.proposals import read_proposals
from clawmem.memory.writing import writing
from clawmem.model.facts.codec import fact_to_line
from clawmem.model.facts.draft import Draft, draft_from_record
from clawmem.model.facts.fact import TRUSTS, Fact
from clawmem.model.facts.fact_words import fact_data
from clawmem.model.facts.reach import project_name
from clawmem.model.facts.validity import is_over
from clawmem.model.harness import RULE_FILES
from clawmem.model.language.dates import day_of, moment_of, stamp
from clawmem.model.language.text import check_choice, check_statement, counted, normal
from clawmem.model.records.caller import Caller
from clawmem.model.safety.secrets.find import find_secret
from clawmem.model.transcripts.formats import HEAD_BYTES, read, shape_of
from clawmem.model.transcripts.message import Message, SkippedLine
from clawmem.serving.browse import export_memory
from clawmem.vault.git.folder import project_of
from clawmem.vault.git.git import personal_identity
from clawmem.vault.strict_yaml import parse_yaml
from clawmem.vault.vault import Vault

_Result = TypeVar("_Result", ReviseResult, EntityChange)


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
    changes: NoteFacts = NoteFacts()


class Pages(NamedTuple):
    """The pages of an import: their place, when each that was read was changed, the names of the others, and whether
    they are all of a folder."""

    place: str = ""
    times: Mapping[str, datetime] = {}
    unread: tuple[str, ...] = ()
    is_folder: bool = False

    def note(self, memory: ForeignMemory) -> str | None:
        """Return the page of a statement with its place, or None."""
        name = _PART.sub("", memory.place)
        return f"{self.place}/{name}" if name in self.times else None

    def compared(
        self, index: Index, statements: Iterable[_Statement], skipped: Iterable[SkippedMemory], now: str
    ) -> NoteFacts:
        """Return which facts of earlier imports the pages no longer say; of one that was skipped, nobody knows."""
        unread = {*self.unread, *(part.place for part in skipped)}
        said: dict[str, list[str]] = {f"{self.place}/{name}": [] for name in self.times if name not in unread}
        for statement in statements:
            if (note := self.note(statement.memory)) in said:
                said[note] += (statement.draft.fact.fact, statement.event)
        present = {f"{self.place}/{name}" for name in (*self.times, *unread)}
        return facts_of_notes(index, said, present, f"{self.place}/" if self.is_folder else "", now)

    def paired(self, fresh: list[_Statement], outdated: Mapping[str, Fact], now: str) -> list[_Statement]:
        """Return the statements, those with the fact that they replace that take the place of another one."""
        for note in set(map(note_of, outdated.values())):
            olds = [fact for fact in outdated.values() if note_of(fact) == note]
            news = [n for n, (memory, _, draft, _) in enumerate(fresh)
                    if self.note(memory) == note and not is_over(draft.fact, now)]  # fmt: skip
            start = f"{fresh[news[0]].memory.title}: " if news else ""
            texts = ([fact.fact for fact in olds], [fresh[n].draft.fact.fact for n in news])
            for m, old in pairs_alike(*([text.removeprefix(start) for text in side] for side in texts)).items():
                fresh[news[m]] = (new := fresh[news[m]])._replace(memory=new.memory._replace(replaces=olds[old].id))
        return fresh


NO_PAGES = Pages()
# A line or a record in a file, behind the name of the file.
_PART = re.compile(r"[:#]\d+$")


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
    pages: Pages = NO_PAGES,
) -> ImportResult:
    """Store each statement once, with `origin` as its source, so that one `retract --source` withdraws all of it.

    `messages` are conversations and notes, which become events only. `trust` is the highest trust of a statement. A
    statement whose event some fact or proposal cites is known, even if it was corrected, withdrawn or rejected since.
    Statements with a credential are skipped. Words such as "on Friday" count from the statement's own time, else from
    that of its page. Facts that their page no longer says are replaced or end, unless a person reworded them.
    """
    trust = "agent" if trust == "user" and caller.agent else trust  # an agent cannot speak as a person
    skipped: list[SkippedMemory] = []
    statements = _statements(found, caller, origin, trust, skipped, pages)
    with writing(vault, caller, "import", dry_run=True) as work:
        proposed = {
            proposal.fact.source_event for proposal in read_proposals(vault, work.read).proposals if proposal.fact
        }
        changes = pages.compared(work.index, statements, skipped, stamp(caller.now))
        said_again: list[str] = []
        fresh = []
        for statement in statements:
            cited = [placed.fact for placed in facts_from_event(work.index, statement.event)]
            if statement.event not in proposed and all(
                may_come_back(work.index, fact, changes.outdated) for fact in cited
            ):
                fresh.append(statement)
                said_again += [fact.id for fact in cited if fact.is_current and fact.id not in changes.outdated]
        fresh = _without_forgotten(work.index, fresh, skipped)
        withdrawn = withdrawal_notices(
            work, {statement.event for statement in statements} - {statement.event for statement in fresh}
        )
    fresh = pages.paired(fresh, changes.outdated, stamp(caller.now))
    known, planned = len(statements) - len(fresh), tuple(statement.memory for statement in fresh)
    if dry_run:
        every = chain((statement.message for statement in fresh), messages)
        events, left_out = count_new(vault, every, caller, origin)
        skipped += [_skipped_message(line) for line in left_out]
        return ImportResult(planned, (), known, tuple(skipped), events, None, tuple(withdrawn), changes=changes)
    heard = ingest(vault, (statement.message for statement in fresh), caller, origin) if fresh else None
    spoken = ingest(vault, messages, caller, origin)
    refused = {line.line for line in heard.skipped} if heard else set()
    skipped += [_skipped_message(line) for line in (*(heard.skipped if heard else ()), *spoken.skipped)]
    writer = _Writer(vault, caller, skipped, [heard.commit if heard else None, spoken.commit])
    kept = [statement for statement in fresh if statement.message.line not in refused]
    keys = {*changes.outdated, *(statement.memory.key for statement in kept)}
    later = [statement for statement in kept if statement.memory.replaces in keys]
    first = [statement for statement in kept if statement.memory.replaces not in keys]
    for fact_id in said_again:
        writer.attempt(fact_id, partial(retract, vault, fact_id, caller, "its note says it again"))
    result = remember(vault, [statement.draft for statement in first], caller) if first else None
    facts = list(result.facts) if result else []
    writer.commits.append(result and result.commit)
    ids = {fact_id: fact_id for fact_id in changes.outdated} | {
        statement.memory.key: fact.fact.id for statement, fact in zip(first, facts, strict=False)
    }
    replaced = {statement.memory.replaces for statement in later}
    writer.end(fact for fact_id, fact in changes.outdated.items() if fact_id not in replaced)
    facts += writer.replace(later, ids)
    writer.add_aliases(statements)
    notices = (*withdrawn, *(note for each in (heard, spoken, result) if each for note in each.notices))
    return ImportResult(
        planned,
        tuple(facts),
        known,
        tuple(skipped),
        spoken.added + (heard.added if heard else 0),
        next(filter(None, reversed(writer.commits)), None),
        tuple(dict.fromkeys(notices)),
        result.failed if result else None,
        changes,
    )


class _Writer(NamedTuple):
    """Writes one change after the other, with the commits so far. What is refused is added to `skipped`."""

    vault: Vault
    caller: Caller
    skipped: list[SkippedMemory]
    commits: list[str | None]

    def attempt(self, place: str, act: Callable[[], _Result]) -> _Result | None:
        """Return the result of an act, or None if it is refused."""
        try:
            result = act()
        except ClawmemError as problem:
            self.skipped.append(SkippedMemory(place, problem.message))
            return None
        self.commits.append(result.commit)
        return result

    def end(self, unsaid: Iterable[Fact]) -> None:
        """End the facts that their notes no longer say."""
        for fact in unsaid:
            end = FactEdit(valid_to=stamp(self.caller.now), reason=reason_of_end(fact))
            self.attempt(note_of(fact), partial(edit, self.vault, fact.id, end, self.caller))

    def replace(self, later: list[_Statement], ids: dict[str, str]) -> Iterator[RememberedFact]:
        """Replace facts by the statements that did so in their memory, the oldest first, and yield the new ones."""
        while ready := [statement for statement in later if statement.memory.replaces in ids]:
            later = [statement for statement in later if statement.memory.replaces not in ids]
            for memory, _, draft, _ in ready:
                old = ids[memory.replaces or ""]
                if result := self.attempt(memory.place, partial(supersede, self.vault, old, draft, self.caller)):
                    placed, outcome = result.facts[0], "replaced" if memory.replaces == old else "added"
                    ids[memory.key] = placed.fact.id
                    outcome = "proposed" if "proposed" in result.outcome else outcome
                    yield RememberedFact(placed.fact, placed.entity, outcome)
        self.skipped.extend(SkippedMemory(each.memory.place, "what it replaced was not imported") for each in later)

    def add_aliases(self, statements: Iterable[_Statement]) -> None:
        """Give the entities of the statements their other names."""
        wanted = {(memory.entity, alias): memory.place for memory, *_ in statements for alias in memory.aliases}
        described = run_query(self.vault, entities) if wanted else []
        known = {(entity.name, normal(name)) for entity in described for name in (entity.title, *entity.aliases)}
        for (entity, alias), place in wanted.items():
            if entity and (entity, normal(alias)) not in known:
                self.attempt(place, partial(add_alias, self.vault, entity, alias, self.caller))


def _statements(
    found: Iterable[Found], caller: Caller, origin: str, trust: str, skipped: list[SkippedMemory],
    pages: Pages,
) -> list[_Statement]:  # fmt: skip
    """Return the statements with their events and drafts; a repeated one once. Add the others to `skipped`."""
    check_statement(origin, "source")
    by_event: dict[str, _Statement] = {}
    for number, memory in enumerate(found, 1):
        if isinstance(memory, SkippedMemory):
            skipped.append(memory)
            continue
        message = Message(
            number, "system", memory.quote, memory.timestamp, None, None, memory.key, "app", trust=trust, source=origin
        )
        [event] = to_events([message], caller, origin, RepeatCounter())
        try:
            draft = _draft(memory, event.id, caller, origin, trust, pages)
        except InvalidInput as problem:
            skipped.append(SkippedMemory(memory.place, problem.message))
            continue
        texts = (f"{memory.statement}\n{memory.quote}\n{memory.record}", fact_to_line(draft.fact))
        if secret := next(filter(None, map(find_secret, texts)), None):
            skipped.append(SkippedMemory(memory.place, f"it contains a credential ({secret.rule})"))
            continue
        by_event.setdefault(f"{event.id} {draft.fact.fact}", _Statement(memory, message, draft, event.id))
    return list(by_event.values())


def _without_forgotten(
    index: Index, statements: Iterable[_Statement], skipped: list[SkippedMemory]
) -> list[_Statement]:
    """Return the statements that are not like what was forgotten of their note. Add the others to `skipped`."""
    forgotten, kept = forgotten_of_notes(index), list[_Statement]()
    for statement in statements:
        fact = statement.draft.fact
        if pairs_alike(forgotten.get(note_of(fact), ()), [fact.fact]):
            skipped.append(SkippedMemory(statement.memory.place, "it says what was to be forgotten"))
        else:
            kept.append(statement)
    return kept


def _draft(memory: ForeignMemory, event: str, caller: Caller, origin: str, trust: str, pages: Pages) -> Draft:
    record: dict[str, Any] = {
        **memory.record, "fact": memory.statement, "entity": memory.entity, "source": origin, "source_event": event,
        "source_text": memory.quote, "trust": trust,
    }  # fmt: skip
    note, at = pages.note(memory), memory.timestamp
    record["metadata"] = {**(mark_of(note, memory.statement) if note else {}), **({"said_at": at} if at else {})}
    written = moment_of(memory.timestamp) if memory.timestamp else pages.times.get(_PART.sub("", memory.place))
    return draft_from_record(record, written or caller.now, dated=written is not None)._replace(title=memory.title)


def _skipped_message(line: SkippedLine) -> SkippedMemory:
    return SkippedMemory(f"line {line.line}", line.reason)


ARCHIVE = "archive"
_CHOICES = {**FORMATS, ARCHIVE: "the zip export of ChatGPT or Claude"}
_SHOWN = 20


def import_(
    call: Call,
    path: Annotated[str, Parameter("A folder, a file, or the zip archive of a chat program.", completes="file")],
    format_: Annotated[str, Parameter("One of {choices}.", ("--format", "-f"), default=AUTO, choices=_CHOICES)],
    source: Annotated[
        str | None, Parameter("The name of the source (default: import: and the file name).", ("--source",))
    ],
    trust: Annotated[
        str | None,
        Parameter("The trust of the facts: {choices} (default: that of the format).", ("--trust",), choices=TRUSTS),
    ],
    dry_run: Annotated[bool, DRY_RUN],
) -> Answer:
    """Each statement becomes a fact, and an event with its own date that is the evidence. A second import adds what
    is new, and replaces or ends what a changed note no longer says. `retract --source` with the source that the answer
    names withdraws the whole import. Read what would be imported with --dry-run first."""
    check_choice(format_, "format", _CHOICES)
    check_choice(trust, "trust level", TRUSTS)
    target = (call.runtime.working_folder / Path(path).expanduser()).resolve()
    shared = target.name in (*RULE_FILES, "memory")  # each project has one of this name
    named = f"{target.parent.name}/{target.name}" if shared else target.name
    name = check_statement(source or f"import:{named}", "source")
    if format_ == ARCHIVE or (format_ == AUTO and target.suffix.lower() == ".zip"):
        return _from_archive(call, target, name, trust or "agent", dry_run)
    files = read_files(target)
    chosen = format_of(files, parse_yaml, path, format_)
    memory_format = MEMORY_FORMATS[chosen]
    folder = target if target.is_dir() else target.parent
    rules = files if chosen == RULES else ()
    projects = {name: _project_of_rules(call, (folder / name).parent) for name in rules}
    memories = (
        _of_project(memory, projects.get(_PART.sub("", memory.place)))
        for memory in memory_format.read(files, parse_yaml)
    )
    found = chain(memories, starmap(SkippedMemory, files.left_out.items()))
    messages, pages = memory_format.messages(files), _pages(call, folder, files, target.is_dir())
    answer = _imported(call, chosen, found, messages, name, trust or memory_format.trust, dry_run, pages)
    scopes = [
        f"{name}: rules {f'of the project {of}' if of else 'of yours, in every project'}"
        for name, of in projects.items()
    ]
    return answer._replace(talk=scopes)


def _from_archive(call: Call, target: Path, name: str, trust: str, dry_run: bool) -> Answer:
    check_plain(target)
    with opened(call, str(target)) as file, open_archive(file, target.name) as archive:
        files, conversations, others = ReadFiles(), [], 0
        for member in archive.infolist():
            if archives.is_conversations(member.filename):
                conversations.append(member.filename)
            elif archives.is_memory(member.filename) and member.file_size <= MOST_BYTES:
                try:
                    files.add(member.filename, b"".join(unpacked(archive, member.filename)))
                except NotUnpacked as problem:
                    files.left_out[member.filename] = problem.message
            elif not member.is_dir():
                others += 1
        if not (conversations or files or files.left_out):
            raise InvalidInput(
                f"{target.name} is not the export of a chat program.",
                "An export has conversations.json. Unpack other archives, and import the folder.",
            )
        if others:
            files.left_out["the rest of the archive"] = f"{counted(others, 'file')} with no conversation or memory"
        messages = chain(archives.documents(files), *(_conversation(archive, name) for name in conversations))
        found = chain(archives.memories(files), starmap(SkippedMemory, files.left_out.items()))
        return _imported(call, ARCHIVE, found, messages, name, trust, dry_run)


def _conversation(archive: ZipFile, name: str) -> Iterator[Message | SkippedLine]:
    try:
        shape = shape_of(next(unpacked(archive, name), b"")[:HEAD_BYTES], name)
        yield from read(shape, unpacked(archive, name), name)
    except NotUnpacked as problem:
        yield SkippedLine(0, f"{name}: {problem.message}")


def _pages(call: Call, folder: Path, files: ReadFiles, whole: bool) -> Pages:
    """Return the pages of an import. The time of an export is not that of what it contains. Two people who share a
    vault may have notes at the same place."""
    home, person = call.runtime.home(), personal_identity(call.runtime.vault().git)
    place = f"~/{folder.relative_to(home).as_posix()}" if folder.is_relative_to(home) else folder.as_posix()
    place = f"{person.email}:{place}" if person and person.email else place
    times = {name: files.times[name] for name in files if name.lower().endswith(PAGES)}
    return Pages(place, times, tuple(files.left_out), whole)


def _project_of_rules(call: Call, folder: Path) -> str | None:
    """Return the project of the rules in a folder; None for the rules of a person, as in ~/.claude."""
    home = call.runtime.home()
    if folder in (home, home / ".claude", home / ".codex", home / ".gemini"):
        return None
    return project_of(folder, call.runtime.vault().root, home) or folder.as_posix()


def _of_project(memory: Found, project: str | None) -> Found:
    """Return a rule with its project; what was skipped, and the rules of a person, stay as they are."""
    if project is None or isinstance(memory, SkippedMemory):
        return memory
    name, record = project_name(project), {**memory.record, "project": project}
    entity = entity_path(name, "project")
    return memory._replace(record=record, entity=entity, title=name, key=f"{project} {memory.key}")


def _imported(
    call: Call,
    chosen: str,
    found: Iterable[Found],
    messages: Iterable[Message | SkippedLine],
    origin: str,
    trust: str,
    dry_run: bool,
    pages: Pages = NO_PAGES,
) -> Answer:
    caller = call.runtime.caller()
    result = import_memories(call.runtime.vault(), found, messages, caller, origin, trust, dry_run, pages)
    outcomes = [fact.outcome for fact in result.facts]
    replaced = sum(memory.replaces in result.changes.outdated for memory in result.planned)
    data = {
        "format": chosen,
        "source": origin,
        "facts": [fact_data(remembered_fact.fact, remembered_fact.entity) for remembered_fact in result.facts],
        "outcome": outcomes,
        "planned": [
            {"fact": memory.statement, "entity": memory.entity, "timestamp": memory.timestamp, "place": memory.place}
            for memory in (result.planned if dry_run else ())
        ],
        "known": result.known,
        "replaced": replaced,
        "ended": len(result.changes.outdated) - replaced,
        "reworded": list(result.changes.reworded),
        "gone": dict(result.changes.gone),
        "events": result.events,
        "skipped": [memory._asdict() for memory in result.skipped],
        "commit": result.commit,
        "dry_run": dry_run,
    }
    notices = [*result.notices, *_change_notices(result.changes), *_skipped_notices(result.skipped)]
    if result.failed is not None:
        notices.append(f"stopped: {result.failed.message} {result.failed.hint}")
    return Answer(data, _lines(data, result.planned), notices, PARTIAL if result.failed else DONE)


def _lines(data: Mapping[str, Any], planned: tuple[ForeignMemory, ...]) -> list[str]:
    lines, count = list[str](), Counter(data["outcome"])
    same, dry_run = count["noop"] + count["updated"], data["dry_run"]
    if dry_run:
        for memory in planned[:_SHOWN]:
            day = memory.timestamp[:10] if memory.timestamp else "no date"
            lines.append(f"{day:<10}  {memory.statement}  ({memory.entity or 'default entity'})")
        more = len(planned) - len(lines)
        lines += [f"and {counted(more, 'more statement')}; --json lists them all"] if more else []
    items = [
        f"{counted(len(planned), 'statement')} to import" if dry_run else f"{counted(count['added'], 'fact')} added"
    ]
    items += [f"{data['replaced']} in place of what a note said before"] if data["replaced"] else []
    items += [f"{data['ended']} that {'end' if dry_run else 'ended'}"] if data["ended"] else []
    items += [f"{same} already stated by other facts"] if same else []
    items += [f"{count['proposed']} for review (`clawmem review`)"] if count["proposed"] else []
    items += [f"{data['known']} imported before"]
    items += [f"{counted(len(data['skipped']), 'part')} {'to skip' if dry_run else 'skipped'}"]
    items += [f"{counted(data['events'], 'event')} {'to add' if dry_run else 'added'}"]
    lines.append(f"{data['format']}: {', '.join(items)}")
    if dry_run or data["commit"] is None:
        return [*lines, "dry run; nothing was changed" if dry_run else "nothing changed; no commit was made"]
    withdraw = f"clawmem retract --source {quote(data['source'])}"
    return [*lines, f"to withdraw the import: {withdraw}"]


def _change_notices(changes: NoteFacts) -> list[str]:
    stay = [f"{fact} stays as somebody reworded it; its note says something else now" for fact in changes.reworded]
    gone = (f"{note} is gone, and its {counted(number, 'fact')} stayed" for note, number in changes.gone.items())
    return [*stay, *gone]


def _skipped_notices(skipped: tuple[SkippedMemory, ...]) -> list[str]:
    items = [f"{memory.place} was skipped: {memory.reason}" for memory in skipped[:_SHOWN]]
    more = len(skipped) - _SHOWN
    return [*items, f"{counted(more, 'more part')} skipped; --json lists them all"] if more > 0 else items


IMPORT = Command(
    import_,
    {
        "format": str,
        "source": str,
        "facts": ["fact"],
        "outcome": [str],
        "planned": [{"fact": str, "entity": (str, None), "timestamp": (str, None), "place": str}],
        "known": int,
        "replaced": int,
        "ended": int,
        "reworded": [str],
        "gone": {str: int},
        "events": int,
        "skipped": [{"place": str, "reason": str}],
        "commit": (str, None),
        "dry_run": bool,
    },
    (
        "clawmem import ~/.claude/projects/-home-ada-site/memory --dry-run",
        "clawmem import CLAUDE.md",
        "clawmem import ./bundle --format okf --trust agent",
    ),
    ("facts",),
)


def export(
    call: Call,
    target: Annotated[
        str, Parameter("The folder to write; with --contract the file, or - for stdout.", completes="file")
    ],
    contract: Annotated[bool, Parameter("Write lines of the interchange contract.", ("--contract",))],
    since: Annotated[
        str | None,
        Parameter("With --contract: only what changed after this commit, or from this day on.", ("--since",)),
    ],
    entity: Annotated[str | None, OF_ENTITY],
    force: Annotated[bool, Parameter("Replace files that exist.", ("--force",))],
) -> Answer | Feed:
    """Current and superseded facts are written as pages, with their sources; retracted ones are not. `backup` writes
    the whole vault with its history. With --contract, the lines are what `publish` takes; with --since, only what was
    added or changed after a commit, and what was revoked."""
    if contract:
        return _contract(call, target, entity, since, force)
    if since is not None:
        raise InvalidInput("--since is for --contract only.", "Add --contract, or leave out --since.")
    runtime = call.runtime
    caller = runtime.caller()
    if target == "-":
        raise InvalidInput("OKF is a folder of pages.", "Name a folder: `clawmem export ./bundle`.")
    if entity is None and not Path(target).exists() and named_entity(runtime.vault(), target, caller):
        instead = f"clawmem export FOLDER --entity {quote(target)}"
        raise InvalidInput(f"'{target}' is an entity, and the argument is a folder to write.", f"`{instead}`.")
    if Path(target).suffix in (".json", ".jsonl", ".md", ".zip"):
        instead = (
            "For one file: `clawmem list --all --jsonl`, `clawmem export FILE --contract`, or `clawmem backup FILE`."
        )
        raise InvalidInput(f"'{target}' has the name of a file, and what is written is a folder of pages.", instead)
    memory = export_memory(runtime.vault(), caller, entity)
    place = (runtime.working_folder / Path(target).expanduser()).resolve()
    files = render(memory.concepts, day_of(stamp(caller.now)))
    write_folder(place, files, force)
    number = sum(1 for _ in memory.facts())
    data = {"format": "okf", "target": str(place), "written": number, "files": len(files)}
    text = f"{counted(number, 'fact')} written to {place}, in {counted(len(files), 'file')}"
    return Answer(data, [text], memory.notices)


def _contract(call: Call, target: str, entity: str | None, since: str | None, force: bool) -> Answer | Feed:
    export = ask("hub", "contract export")(call.runtime.vault(), call.runtime.caller(), entity, since)
    if target == "-":
        return Feed(export.lines, end=lambda: Answer({}, (), export.notices, talk=[_next(export.commit)]))
    place = (call.runtime.working_folder / Path(target).expanduser()).resolve()
    number = write_lines(place, (json.dumps(line, ensure_ascii=False) for line in export.lines), force)
    data = {"format": "contract", "target": str(place), "written": number, "files": 1, "commit": export.commit}
    return Answer(data, [f"{counted(number, 'line')} written to {place}", _next(export.commit)], export.notices)


def _next(commit: str | None) -> str:
    return f"for what changes from now on: clawmem export - --contract --since {commit[:12] if commit else 'COMMIT'}"


EXPORT = Command(
    export,
    {"format": str, "target": str, "written": int, "files": int, "commit?": (str, None)},
    (
        "clawmem export ./okf",
        "clawmem export news.jsonl --contract --since HEAD~1",
    ),
)
