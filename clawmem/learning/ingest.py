"""Ingest: messages go into the ledger verbatim, each once, a commit for every 5,000; nothing is learned yet."""

from __future__ import annotations

import hashlib
import json
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import chain
from typing import Any, NamedTuple

from clawmem.errors import ClawmemError
from clawmem.index.search.lookup import known_events
from clawmem.memory.writing import WriteScope, writing
from clawmem.model.language.dates import day_of, stamp
from clawmem.model.language.text import counted
from clawmem.model.pages.daily import day_and_agent, note_lines
from clawmem.model.records.caller import Caller
from clawmem.model.records.change import Change, agent_author, subject_line, trailers
from clawmem.model.records.event import Event, ledger_path, render_events
from clawmem.model.safety.recalled_text import is_recalled, parts_of
from clawmem.model.safety.secrets.find import SecretMatch, find_known_secret, find_secret, redact
from clawmem.model.transcripts.message import Message, SkippedLine
from clawmem.vault.commit.secret_gate import allowed, allowed_name
from clawmem.vault.vault import Vault

NOTES = "daily notes"
PART = 5_000
PART_CHARACTERS = 4_000_000


class IngestResult(NamedTuple):
    """How many events were added, how many the ledger held already, what was skipped and why, the last commit."""

    added: int
    known: int
    skipped: tuple[SkippedLine, ...]
    days: tuple[str, ...]
    commit: str | None
    notices: tuple[str, ...] = ()
    commits: int = 0


def ingest(vault: Vault, messages: Iterable[Message | SkippedLine], caller: Caller, source: str) -> IngestResult:
    """Append the messages to their days' ledgers; the same transcript twice adds nothing.

    A message that holds a credential is skipped and named, or redacted where the settings say so; a source or session
    that is one raises SecretFound. At most 5,000 messages are held at a time, and each such part is one commit: those
    made stay where a later one fails.
    """
    source = allowed(vault.settings, source, "The source")
    if caller.session:
        caller = caller._replace(session=allowed_name(vault.settings, caller.session, "The session"))
    skipped: list[SkippedLine] = []
    parts = _parts(_clean(messages, vault, skipped))
    # Taken before the lock: where nothing is recognised, no other writer has to wait for that.
    first = next(parts, [])
    with writing(vault, caller, "ingest") as work:
        intake = _IngestRun(work, source)
        try:
            for part in chain([first], parts):
                intake.take(part)
        except ClawmemError as problem:
            if intake.added:
                kept = f"{counted(intake.added, 'event')} {'is' if intake.added == 1 else 'are'} kept"
                problem.hint = f"{kept}; the same command again adds the rest. {problem.hint}"
            raise
        return intake.done(skipped)


def ingest_notes(vault: Vault, caller: Caller) -> IngestResult:
    """Take the lines of the daily notes into the ledger as events, so that facts can cite them."""
    with writing(vault, caller, "ingest") as work:
        intake = _IngestRun(work, NOTES)
        intake.append(note_events(work))
        return intake.done(())


class _IngestRun:
    """What one ingest has taken in so far."""

    def __init__(self, work: WriteScope, source: str) -> None:
        self._work = work
        self._source = source
        self._repeats = RepeatCounter()
        self._commits: list[str] = []
        self._days: set[str] = set()
        self._known = 0
        self.added = 0

    def take(self, messages: Sequence[Message]) -> None:
        """Commit the messages that are new, and let go of them."""
        self.append(to_events(messages, self._work.caller, self._source, self._repeats))
        self._work.settle()

    def append(self, events: Sequence[Event]) -> None:
        """Commit the events that are new."""
        fresh = _unknown(self._work, events)
        self._known += len(events) - len(fresh)
        if fresh:
            change = _change(self._work, fresh, self._source)
            self._commits.append(self._work.commit([change])[-1])
            self.added += len(fresh)
            self._days.update(day_of(event.timestamp) for event in fresh)

    def done(self, skipped: Sequence[SkippedLine]) -> IngestResult:
        """The account of it."""
        last = self._commits[-1] if self._commits else None
        days = tuple(sorted(self._days))
        return IngestResult(self.added, self._known, tuple(skipped), days, last, self._work.notices, len(self._commits))


class RepeatCounter:
    """How often the same was said before, for messages that have no id of their own. It holds a number for each of
    them and not the text."""

    def __init__(self) -> None:
        self._once: set[int] = set()
        self._more: Counter[int] = Counter()

    def number(self, *key: str | None) -> int:
        """1 for the first message of this key, 2 for the second."""
        digest = int.from_bytes(_digest(key)[:8])
        if digest not in self._once:
            self._once.add(digest)
            return 1
        self._more[digest] += 1
        return 1 + self._more[digest]


def to_events(messages: Iterable[Message], caller: Caller, source: str, repeats: RepeatCounter) -> list[Event]:
    """Messages as events. An event's id comes from what it says, who says it, in which session and when, and how
    often the same was said before, so that a transcript read again gives the same ids."""
    now = stamp(caller.now)
    events = []
    for one in messages:
        key = (one.session, one.role, one.speaker, one.timestamp, one.external_id, one.text)
        number = 1 if one.external_id else repeats.number(*key)
        events.append(
            Event(
                event_id(*key, str(number)),
                one.timestamp or now,
                one.role,
                one.text,
                one.speaker,
                one.session or caller.session,
                caller.agent,
                one.source or source,
                one.external_id,
                "note" if one.role == "note" else one.kind,
                one.recalled or is_recalled(one.text, parts_of(one.metadata)),
                one.metadata,
                one.trust,
            )
        )
    return events


def note_events(work: WriteScope) -> list[Event]:
    """Every line of every daily note as an event of its day."""
    root = work.vault.root
    pages = sorted([*root.glob("daily/*.md"), *root.glob("agents/*/daily/*.md")])
    events = []
    for page in pages:
        path = page.relative_to(root).as_posix()
        place = day_and_agent(path)
        if place is None:
            continue
        day, agent = place
        for line in note_lines(work.text(path)):
            if find_secret(line.text):
                continue
            moment = f"{day}T{(line.time or '00:00').zfill(5)}:00Z"
            key = event_id("note", agent, day, line.text)
            events.append(Event(key, moment, "note", line.text, agent=agent, source=path, kind="note"))
    return list({event.id: event for event in events}.values())


def event_id(*parts: str | None) -> str:
    """An id made from what identifies an event: `evt_` and 16 hex digits."""
    return f"evt_{_digest(parts).hex()[:16]}"


def _digest(parts: Sequence[str | None]) -> bytes:
    return hashlib.sha256("\x1f".join(part or "" for part in parts).encode(errors="surrogatepass")).digest()


def _parts(messages: Iterable[Message]) -> Iterator[list[Message]]:
    part: list[Message] = []
    size = 0
    for one in messages:
        part.append(one)
        size += len(one.text)
        if len(part) >= PART or size >= PART_CHARACTERS:
            yield part
            part, size = [], 0
    if part:
        yield part


def _unknown(work: WriteScope, events: Sequence[Event]) -> list[Event]:
    known = known_events(work.index, (event.id for event in events))
    return list({event.id: event for event in events if event.id not in known}.values())


def _change(work: WriteScope, events: Sequence[Event], source: str) -> Change:
    by_day: dict[str, list[Event]] = defaultdict(list)
    for event in events:
        by_day[day_of(event.timestamp)].append(event)
    writes: dict[str, bytes | None] = {}
    for day, of_day in sorted(by_day.items()):
        path = ledger_path(day)
        before = work.read(path) or b""
        writes[path] = before + (b"" if before.endswith(b"\n") or not before else b"\n") + render_events(of_day)
    first, last = min(by_day), max(by_day)
    span = first if first == last else f"{first} to {last}"
    return Change(
        subject_line("ingest", "ledger", f"{counted(len(events), 'event')} from {source} ({span})"),
        writes,
        trailers("ingest", agent=work.caller.agent, session=work.caller.session, sources=[source]),
        author=agent_author(work.caller.agent),
    )


def _clean(messages: Iterable[Message | SkippedLine], vault: Vault, skipped: list[SkippedLine]) -> Iterator[Message]:
    """The messages without credentials; what is left out is added to `skipped`."""
    for one in messages:
        safe = one if isinstance(one, SkippedLine) else _without_secret(one, vault)
        if isinstance(safe, SkippedLine):
            skipped.append(safe)
        else:
            yield safe


def _without_secret(message: Message, vault: Vault) -> Message | SkippedLine:
    found = _secret_in(message)
    if found is None:
        return message
    if vault.settings.words("secrets.action") == "redact":
        return _redacted(message)
    rule, where = found
    return SkippedLine(message.line, f"{where} holds what looks like a credential ({rule})")


def _secret_in(message: Message) -> tuple[str, str] | None:
    """The rule that finds a credential in a message, and where. Ids may look random: that is what they are for, and
    metadata is full of them."""
    match = find_secret(message.text)
    if match:
        return match.rule, "it"
    names = ((message.speaker, "its speaker"), (message.session, "its session"), (message.source, "its source"))
    for name, where in names:
        rule = _rule_of_name(name) if name else None
        if rule:
            return rule, where
    match = find_known_secret(message.external_id) if message.external_id else None
    if match:
        return match.rule, "its id"
    match = _match_in(message.metadata)
    return (match.rule, "its metadata") if match else None


@lru_cache(maxsize=1024)
def _rule_of_name(name: str) -> str | None:
    """The same few speakers and sessions come again and again."""
    match = find_known_secret(name)
    return match.rule if match else None


def _redacted(message: Message) -> Message:
    """The message without its credentials. An id that is one tells nothing any more, and goes; so does metadata."""
    speaker, session, source = (_redacted_name(name) for name in (message.speaker, message.session, message.source))
    identity = message.external_id
    return message._replace(
        text=redact(message.text),
        speaker=speaker,
        session=session,
        source=source,
        external_id=None if identity and find_known_secret(identity) else identity,
        metadata=None if _match_in(message.metadata) else message.metadata,
    )


def _redacted_name(name: str | None) -> str | None:
    rule = _rule_of_name(name) if name else None
    return f"[redacted: {rule}]" if rule else name


def _match_in(metadata: Mapping[str, Any] | None) -> SecretMatch | None:
    return find_secret(json.dumps(metadata, ensure_ascii=False), unnamed=False) if metadata else None
