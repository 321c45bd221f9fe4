"""Ingest: append messages to the ledger, each once, with one commit per 5,000 messages. Nothing is learned yet.

Notes: lines in the daily note. People and agents write them; the heartbeat learns from them.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import chain
from shlex import quote
from typing import TYPE_CHECKING, Any, NamedTuple

from clawmem.errors import ClawmemError, NotPermitted
from clawmem.index.search.lookup import known_events
from clawmem.index.tables.rights import is_restricted, marks_of, read_access
from clawmem.memory.facts.revoke import withdrawal_notices
from clawmem.memory.pages.summaries import count_said
from clawmem.memory.quarantine import HandoverScreen
from clawmem.memory.scope import WriteScope
from clawmem.memory.writing import writing
from clawmem.model.facts.codec import refuse_conflict_markers
from clawmem.model.facts.fact import is_low_trust, least_trust, trust_of_source
from clawmem.model.language.dates import day_of, stamp
from clawmem.model.language.languages import EVERY, pattern_of
from clawmem.model.language.text import check_statement, counted, normal, some_of
from clawmem.model.pages.daily import daily_path, day_and_agent, note_lines, with_line
from clawmem.model.records.caller import Caller
from clawmem.model.records.change import Change, agent_author, subject_line, trailers
from clawmem.model.records.event import (
    FOR_SOME,
    ONE_TO_ONE,
    Event,
    is_of_user,
    ledger_path,
    may_ask_to_forget,
    render_events,
)
from clawmem.model.records.layout import ACCESS
from clawmem.model.safety.recalled_text import is_recalled, parts_of
from clawmem.model.safety.secrets.find import SecretMatch, find_known_secret, find_secret, find_secrets, redact
from clawmem.model.settings.settings import BY_KEY
from clawmem.model.transcripts.message import Message, SkippedLine
from clawmem.vault.commit.secret_gate import allowed
from clawmem.vault.git.git import personal_identity
from clawmem.vault.vault import Vault

if TYPE_CHECKING:
    from clawmem.model.records.access import Grant, Policy

NOTES = "daily notes"
PART = 5_000
PART_CHARACTERS = 4_000_000
_LINES_SHOWN = 5
_SHORT = 2_000  # a message that repeats what was to be forgotten is no document
_CODES = frozenset(("entered-code", "lock-combination", "pin", "spoken-code"))

# The verbs of a request to forget in English.
_ASKS = re.compile(
    r"\b(?:forget|disregard|unlearn|delete|erase|remove|drop|wipe|scrub|strike|remember|memori|keep|store|save|retain|record|"
    r"note|write down|hold on)",
    re.IGNORECASE,
)


class IngestResult(NamedTuple):
    """The result of an ingest.

    `known` counts events that were already in the ledger. `days` are the days of the new events. `commit` is the last
    of the `commits` made.
    """

    added: int
    known: int
    skipped: tuple[SkippedLine, ...]
    days: tuple[str, ...]
    commit: str | None
    notices: tuple[str, ...] = ()
    commits: int = 0


def ingest(vault: Vault, messages: Iterable[Message | SkippedLine], caller: Caller, source: str) -> IngestResult:
    """Append the messages to the ledgers of their days. Ingesting a transcript twice adds nothing.

    A message with a credential is skipped and reported, or redacted if `secrets.action` is `redact`. Of one with a door
    code or a PIN only the code is redacted, in any case. The messages are read in parts of at most 5,000, and each part
    is one commit, which stays if a later part fails.

    Raise SecretFound if `source` or the session looks like a credential.
    """
    source = allowed(vault.settings, source, "The source")
    if caller.session:
        caller = caller._replace(session=allowed(vault.settings, caller.session, "The session", is_name=True))
    skipped: list[SkippedLine] = []
    redacted: list[int] = []
    parts = _parts(_clean(messages, vault, skipped, redacted))
    # Read before taking the lock, so that slow or invalid input does not block other writers.
    first = next(parts, [])
    with writing(vault, caller, "ingest") as work:
        run = _IngestRun(work, source)
        try:
            for part in chain([first], parts):
                run.add_messages(part)
        except ClawmemError as problem:
            if run.added:
                kept = f"{counted(run.added, 'event')} {'is' if run.added == 1 else 'are'} kept"
                problem.hint = f"{kept}; run the same command again to add the rest. {problem.hint}"
            raise
        result = run.result(skipped)
        if run.known and not caller.unattended and not is_restricted(vault):
            result = result._replace(notices=(*result.notices, *withdrawal_notices(work, run.known)))
    if result.added:
        count_said(vault)
    if redacted:
        lines = ", ".join(map(str, redacted[:_LINES_SHOWN])) + (", ..." if len(redacted) > _LINES_SHOWN else "")
        says = f"{counted(len(redacted), 'message')} (line {lines}) had a credential or a code, which was not stored"
        result = result._replace(notices=(*result.notices, says))
    notices = _hide_what_is_to_be_forgotten(vault, caller, run.requests)
    if run.short:
        from clawmem.memory.facts.forget import hide_repeated  # only where something waits for a person

        with writing(vault, caller, "forget") as work:
            change = hide_repeated(work, run.short)
            if change is not None:
                work.commit([change])
    notices += _audience_notices(vault, run.for_some) if run.for_some else []
    if not caller.unattended and is_restricted(vault):  # whether a message is known says that somebody said it
        all_new, commit = result.added + result.known, result.commit or vault.head().commit
        days, commits = tuple(sorted(run.all_days)), max(1, result.commits)
        result = result._replace(added=all_new, known=0, days=days, commit=commit, commits=commits)
    return result._replace(notices=(*result.notices, *notices, *_name_notices(vault, caller, run.speakers)))


def _audience_notices(vault: Vault, audience: Collection[str]) -> list[str]:
    """Return for which names of audiences a shared memory knows nobody."""
    from clawmem.index.tables.rights import read_access  # few messages say for whom they are

    rules = read_access(vault)
    unknown = rules.policy.unknown_in(sorted(audience)) if rules else ()
    return [f"{ACCESS} does not know {some_of(unknown)}, so nobody sees for that name what was said"] if unknown else []


def _name_notices(vault: Vault, caller: Caller, speakers: set[str]) -> list[str]:
    """Return how a person says which speaker they are, unless a setting does: one with their name in git, or any."""
    is_unset = vault.settings.words("user.name") == BY_KEY["user.name"].default
    if not (speakers and is_unset) or caller.agent or caller.unattended or read_access(vault):
        return []  # in a shared memory nobody is "the user"
    person = personal_identity(vault.git)
    own = {normal(person.name), *normal(person.name).split()[:1]} if person else set()
    names = sorted(name for name in speakers if normal(name) in own) or sorted(speakers)
    who, name = (names[0], quote(names[0])) if len(names) == 1 else (f"one of {some_of(names)}", "NAME")
    return [f"If {who} is you, `clawmem config set user.name {name}` says so: the next heartbeat joins your facts"]


def _hide_what_is_to_be_forgotten(vault: Vault, caller: Caller, requests: Sequence[Event]) -> list[str]:
    """Hide at once what messages of the user ask to forget, and file each for a person. Return a notice for each."""
    notices = []
    for event in requests:
        targets = _targets(event)
        if targets:
            from clawmem.memory.facts.forget import STAYS, plan_forgetting  # few messages ask to forget

            with writing(vault, caller, "forget") as work:
                try:
                    found = plan_forgetting(work, targets, event)
                    if found and found.proposal:
                        work.commit([found.change])
                except NotPermitted as problem:  # the next requests are heard all the same
                    notices.append(f"Nothing is hidden of what {event.id} asks to forget: {problem}")
                    continue
                if found and found.proposal:
                    says = found.proposal.says.rstrip(".")
                    state = "stays for now" if STAYS in (found.proposal.details or {}) else "is hidden now"
                    notices.append(f"{says}. It {state}, and {found.proposal.id} waits for a person.")
    return [] if is_restricted(vault) else notices  # they tell what is known


def _targets(event: Event) -> Sequence[tuple[str, ...]]:
    """Return what a message asks to forget; of a note of an agent, what it says that the user asked."""
    from clawmem.learning.attribution.forgetting import asked_in_note, asked_to_forget  # few messages ask to forget

    return asked_in_note(event.text) if event.role == "note" and event.agent else asked_to_forget(event.text)


def count_new(
    vault: Vault, messages: Iterable[Message | SkippedLine], caller: Caller, source: str
) -> tuple[int, tuple[SkippedLine, ...]]:
    """Return how many events an ingest of the messages would add, and what it would skip. Nothing is written."""
    skipped: list[SkippedLine] = []
    repeats, added = RepeatCounter(), 0
    with writing(vault, caller, "ingest", dry_run=True) as work:
        for part in _parts(_clean(messages, vault, skipped, [])):
            added += len(_unknown(work, to_events(part, caller, source, repeats)))
    return added, tuple(skipped)


def ingest_notes(vault: Vault, caller: Caller) -> IngestResult:
    """Add the lines of the daily notes to the ledger as events, so that facts can cite them."""
    with writing(vault, caller, "ingest") as work:
        run = _IngestRun(work, NOTES)
        run.add_events(note_events(work))
        result = run.result(())
    notices = _hide_what_is_to_be_forgotten(vault, caller, run.requests)
    return result._replace(notices=(*result.notices, *notices))


def hide_noted(vault: Vault, caller: Caller, text: str) -> tuple[str, ...]:
    """Hide at once what a note that was just written asks to forget. Return the notices."""
    if not _may_ask(text) or not _targets(Event("", "", "note", text, agent=caller.agent)):
        return ()
    return ingest_notes(vault, caller).notices


def _may_ask(text: str) -> bool:
    """Return whether a text has a verb of a request to forget, in a language in which one is understood."""
    return _ASKS.search(text) is not None or any(pattern_of(code, "forget_verbs").search(text) for code in EVERY)


def _names_audience(metadata: Mapping[str, Any] | None) -> bool:
    """Return whether the source of a message says for whom it is."""
    return not {*FOR_SOME}.isdisjoint(metadata or {}) and ONE_TO_ONE not in (metadata or {})


def _is_typed(message: Message) -> bool:
    trust = message.trust or trust_of_source(message.source or "")
    return message.role == "user" and not is_low_trust(trust)


def _of_two(message: Event, pair: Sequence[str], agent: str | None, holds: bool = True) -> Event:
    """Return the event that marks a message for the two of a conversation, or that no longer does so."""
    from clawmem.model.records.access import AccessMark, event_of_mark

    return event_of_mark(message, AccessMark(audience=tuple(pair)), agent, by_reader=True, one_to_one=holds)


class _IngestRun:
    """The progress of one ingest."""

    def __init__(self, work: WriteScope, source: str) -> None:
        self._work = work
        self._source = source
        self._repeats = RepeatCounter()
        self._commits: list[str] = []
        self._days: set[str] = set()
        self.all_days: set[str] = set()
        self._known = 0
        self.known: set[str] = set()
        self.added = 0
        self.requests: list[Event] = []
        self.short: list[Event] = []
        self.speakers: set[str] = set()
        self.for_some: set[str] = set()
        self._hides = any((work.vault.root / "review").glob("prop_*.json"))

    def add_messages(self, messages: Sequence[Message]) -> None:
        """Commit the new messages and release their memory."""
        messages, marks = self._of_people(messages)
        self.add_events([*to_events(messages, self._work.caller, self._source, self._repeats), *marks])
        self._work.flush()

    def _of_people(self, messages: Sequence[Message]) -> tuple[Sequence[Message], list[Event]]:
        """Return messages with what the policy of a shared memory says of them: those in a channel that it lists, with
        who speaks in it, have the trust of their role; those of a one-to-one conversation are for its two people, and
        those of a session of an agent that reads for one person are for this one, who is the user in it. Return the
        marks of what was said in a conversation before others spoke, too.

        Elsewhere anybody may write under any name."""
        rules = read_access(self._work.vault)
        if rules is None:
            return messages, []
        from clawmem.model.records.access import Person, channel_in  # few memories are shared

        policy = rules.policy

        def is_member(message: Message) -> bool:
            person = policy.person(message.speaker) if message.speaker else None
            return person is not None and policy.is_for(channel_in(message.metadata or {}), person)

        if policy.channels:
            messages = [each._replace(trust=None) if each.in_channel and is_member(each) else each for each in messages]
        if (viewer := self._work.vault.viewer) and viewer.names:
            # One whom the policy does not name is an audience of nobody.
            people = [policy.person(name) or Person((name,), id=name) for name in viewer.names]
            own = {"participants": list(dict.fromkeys(person.id for person in people))}
            user = (*people[0].name, people[0].id)[0]
            return [
                each._replace(
                    metadata={**({} if _names_audience(each.metadata) else own), **(each.metadata or {})},
                    speaker=each.speaker or (user if _is_typed(each) else None),
                )
                for each in messages
            ], []
        pairs, marks = self._pairs(policy, rules.grants, messages)
        for_two = [
            each._replace(metadata={**(each.metadata or {}), "participants": pairs[each.session], ONE_TO_ONE: True})
            if each.session in pairs
            else each
            for each in messages
        ]
        return for_two, marks

    def _pairs(
        self, policy: Policy, grants: Sequence[Grant], messages: Sequence[Message]
    ) -> tuple[dict[str | None, list[str]], list[Event]]:
        """Return the two people of each session in which nobody else has spoken, and of which nothing says for whom it
        is, with the marks that its earlier messages need; and those of sessions that are no longer of two. An agent
        that may not see everything opens none by what it hands in."""
        from clawmem.index.search.events import events_of_sessions  # few messages are told to a shared memory
        from clawmem.model.records.access import Person

        agent, now = self._work.caller.agent, stamp(self._work.caller.now)
        spoken: dict[str, set[str | None]] = defaultdict(set)
        sure: dict[str, set[str | None]] = defaultdict(set)
        earlier: dict[str, list[Event]] = defaultdict(list)

        @lru_cache(None)
        def sees_all(name: str | None) -> bool:
            person = name and (policy.people.get(name) or Person(id=name))
            return not person or policy.sees_everything(grants, person, now)

        def count(session: str, said: Message | Event, is_sure: bool) -> None:
            person = policy.person(said.speaker) if said.speaker else None
            here: set[str | None]
            if _names_audience(said.metadata) or (isinstance(said, Message) and said.in_channel):
                here = {None}  # its source says for whom it is
            else:
                here = {person.id if person else None} if said.role in ("user", "note") else set()
            spoken[session] |= here
            if is_sure:
                sure[session] |= here

        is_sure = not is_restricted(self._work.vault)
        for message in messages:
            if message.session:
                count(message.session, message, is_sure)
        for event in events_of_sessions(self._work.index, spoken) if spoken else ():
            if event.session:
                earlier[event.session].append(event)
                count(event.session, event, sees_all(event.agent))
        pairs: dict[str | None, list[str]] = {}
        marks: list[Event] = []
        for session, here in spoken.items():
            known = sure[session]
            for_all = None in known or len(known) > 2
            people = known if len(known) == 2 else here
            pair = sorted(name for name in people if name)
            if for_all:
                marks += self._ends(earlier[session])
            elif len(pair) == len(people) == 2:
                pairs[session] = pair
                marks += [
                    _of_two(event, pair, agent)
                    for event in earlier[session]
                    if ONE_TO_ONE not in (event.metadata or {})
                ]
        return pairs, marks

    def _ends(self, events: Sequence[Event]) -> Iterator[Event]:
        """Yield the marks that let everybody see what was for the first two people of a session."""
        index, agent = self._work.index, self._work.caller.agent
        for event in events:
            for mark in marks_of(index, "", event.id):
                by_source = ONE_TO_ONE in (event.metadata or {})
                if mark.audience and (by_source or known_events(index, [_of_two(event, mark.audience, agent).id])):
                    yield _of_two(event, mark.audience, agent, False)

    def add_events(self, events: Sequence[Event]) -> None:
        """Commit the new events."""
        fresh = _unknown(self._work, events)
        messages = [event for event in events if event.kind != "mark"]
        self.known.update({event.id for event in messages}.difference(event.id for event in fresh))
        self._known += len(messages) - sum(event.kind != "mark" for event in fresh)
        self.all_days.update(day_of(event.timestamp) for event in messages)
        if fresh:
            change = _change(self._work, fresh, self._source)
            self._commits.append(self._work.commit([change])[-1])
            self.added += sum(event.kind != "mark" for event in fresh)
            self.requests += [event for event in fresh if _may_ask(event.text) and may_ask_to_forget(event)]
            hides = self._hides or self.requests
            self.short += [event for event in fresh if len(event.text) < _SHORT] if hides else []
            self.speakers |= {
                event.speaker for event in fresh if event.speaker and event.role == "user" and not is_of_user(event)
            }
            if marked := [each for each in fresh if each.metadata and not each.metadata.keys().isdisjoint(FOR_SOME)]:
                from clawmem.model.records.access import mark_of_event  # few messages say for whom they are

                self.for_some.update(name for event in marked for name in mark_of_event(event).audience)
            self._days.update(day_of(event.timestamp) for event in fresh if event.kind != "mark")

    def result(self, skipped: Sequence[SkippedLine]) -> IngestResult:
        """Return the result."""
        last = self._commits[-1] if self._commits else None
        days = tuple(sorted(self._days))
        return IngestResult(self.added, self._known, tuple(skipped), days, last, self._work.notices, len(self._commits))


class RepeatCounter:
    """Number repeated messages that have no id. It stores a hash per message, not the text."""

    def __init__(self) -> None:
        self._once: set[int] = set()
        self._more: Counter[int] = Counter()

    def number(self, *key: str | None) -> int:
        """Return 1 for the first message with this key, 2 for the second, and so on."""
        digest = int.from_bytes(_digest(key)[:8])
        if digest not in self._once:
            self._once.add(digest)
            return 1
        self._more[digest] += 1
        return 1 + self._more[digest]


def to_events(messages: Iterable[Message], caller: Caller, source: str, repeats: RepeatCounter) -> list[Event]:
    """Return the messages as events.

    The id of an event is a hash of text, speaker, session, time and repeat number, so that reading a transcript again
    gives the same ids. What an agent hands in has at most the trust of the agent, whoever it says has spoken; a program
    that runs an agent hands in conversations as they were, and its caller is `unattended`.
    """
    now, most = stamp(caller.now), "agent" if caller.agent and not caller.unattended else None
    events = []
    for message in messages:
        key = (message.session, message.role, message.speaker, message.timestamp, message.external_id, message.text)
        number = 1 if message.external_id else repeats.number(*key)
        events.append(
            Event(
                event_id(*key, str(number)),
                message.timestamp or now,
                message.role,
                message.text,
                message.speaker,
                message.session or caller.session,
                caller.agent,
                message.source or source,
                message.external_id,
                "note" if message.role == "note" else message.kind,
                message.recalled or is_recalled(message.text, parts_of(message.metadata)),
                message.metadata,
                least_trust(message.trust, most),
            )
        )
    return events


def note_events(work: WriteScope) -> list[Event]:
    """Return every line of every daily note as an event of its day. Lines with a credential are left out."""
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
    """Return an event id made from its identifying parts: `evt_` and 16 hex digits."""
    return f"evt_{_digest(parts).hex()[:16]}"


def _digest(parts: Sequence[str | None]) -> bytes:
    return hashlib.sha256("\x1f".join(part or "" for part in parts).encode(errors="surrogatepass")).digest()


def _parts(messages: Iterable[Message]) -> Iterator[list[Message]]:
    part: list[Message] = []
    size = 0
    for message in messages:
        part.append(message)
        size += len(message.text)
        if len(part) >= PART or size >= PART_CHARACTERS:
            yield part
            part, size = [], 0
    if part:
        yield part


def _unknown(work: WriteScope, events: Sequence[Event]) -> list[Event]:
    known = known_events(work.index, (event.id for event in events))
    return list({event.id: event for event in events if event.id not in known}.values())


def _with_appended(work: WriteScope, events: Sequence[Event]) -> dict[str, bytes | None]:
    """Return the ledgers of the days of new events with these, by path."""
    by_day: dict[str, list[Event]] = defaultdict(list)
    for event in events:
        by_day[day_of(event.timestamp)].append(event)
    writes: dict[str, bytes | None] = {}
    for day, of_day in sorted(by_day.items()):
        before = work.read(path := ledger_path(day)) or b""
        writes[path] = before + (b"" if before.endswith(b"\n") or not before else b"\n") + render_events(of_day)
    return writes


def _change(work: WriteScope, events: Sequence[Event], source: str) -> Change:
    writes = _with_appended(work, events)
    days = [day_of(event.timestamp) for event in events]
    first, last = min(days), max(days)
    span = first if first == last else f"{first} to {last}"
    return Change(
        subject_line("ingest", "ledger", f"{counted(len(events), 'event')} from {source} ({span})"),
        writes,
        trailers("ingest", agent=work.caller.agent, session=work.caller.session, sources=[source]),
        author=agent_author(work.caller.agent),
    )


def _clean(
    messages: Iterable[Message | SkippedLine], vault: Vault, skipped: list[SkippedLine], redacted: list[int]
) -> Iterator[Message]:
    """Yield the messages without credentials. Note the others in `skipped`, changed ones in `redacted`."""
    for message in messages:
        safe = message if isinstance(message, SkippedLine) else _without_secret(message, vault)
        if isinstance(safe, SkippedLine):
            skipped.append(safe)
        else:
            redacted += [] if safe is message else [safe.line]
            yield safe


def _without_secret(message: Message, vault: Vault) -> Message | SkippedLine:
    found = _secret_in(message)
    if found is None:
        return message
    if vault.settings.words("secrets.action") == "redact" or _has_only_codes(message):
        return _redacted(message)
    rule, where = found
    return SkippedLine(message.line, f"{where} holds what looks like a credential ({rule})")


def _has_only_codes(message: Message) -> bool:
    """Return whether the credentials in a message are codes told in a sentence, of which the rest matters."""
    rules = {match.rule for match in find_secrets(message.text)}
    return bool(rules) and rules <= _CODES and _secret_in(message._replace(text="")) is None


def _secret_in(message: Message) -> tuple[str, str] | None:
    """Return the rule that finds a credential in a message, and where. Ids and metadata may look random."""
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
    """Return the rule that finds a credential in a name. Cached, because few names repeat in many messages."""
    match = find_known_secret(name)
    return match.rule if match else None


def _redacted(message: Message) -> Message:
    """Return the message with credentials redacted. An id or metadata with a credential is removed."""
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


class NoteResult(NamedTuple):
    """The written line, the path of the daily note, and the commit."""

    line: str
    path: str
    commit: str
    notices: tuple[str, ...] = ()


def note(vault: Vault, text: str, caller: Caller, day: str | None = None) -> NoteResult:
    """Add a line to a day's note (default: today's) of the calling agent, or of the vault if a person calls. Raise
    SecretFound."""
    statement = allowed(vault.settings, check_statement(text, "note"), "The note")
    moment = stamp(caller.now)
    clock = f"{moment[11:16]} " if day in (None, moment[:10]) else ""
    moment = day or moment
    path = daily_path(moment[:10], caller.agent)
    with writing(vault, caller, "note") as work:
        screen = HandoverScreen(work, {"source": path})
        statement = screen.kept(statement, "note") if caller.agent else statement
        line = f"- {clock}{statement}"
        page = work.text(path)
        refuse_conflict_markers(page, path)
        place = path.removesuffix(".md")
        change = Change(
            subject_line("note", place, statement),
            {path: with_line(page, moment[:10], line).encode()},
            trailers("note", agent=caller.agent, session=caller.session),
            author=agent_author(caller.agent),
        )
        commits = work.commit([*screen.changes, change])
        return NoteResult(line, path, commits[-1], (*work.notices, *screen.notices))
