"""Ingest: messages go into the ledger verbatim, each once, in one commit; nothing is learned yet."""

from __future__ import annotations

import hashlib
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from clawmem.index.lookup import known_events
from clawmem.memory.writing import Writing, writing
from clawmem.model.caller import Caller
from clawmem.model.change import Change, agent_author, subject_line, trailers
from clawmem.model.daily import day_and_agent, noted
from clawmem.model.dates import day_of, stamp
from clawmem.model.event import Event, ledger_path, render_events
from clawmem.model.recalled import is_recalled
from clawmem.model.secrets import find_secret, redact
from clawmem.model.transcript import Message, Skipped
from clawmem.vault.vault import Vault

NOTES = "daily notes"


class Ingested(NamedTuple):
    """How many events were added, how many the ledger held already, what was skipped and why, the commit."""

    added: int
    known: int
    skipped: tuple[Skipped, ...]
    days: tuple[str, ...]
    commit: str | None
    notices: tuple[str, ...] = ()


def ingest(vault: Vault, messages: Iterable[Message | Skipped], caller: Caller, source: str) -> Ingested:
    """Append the messages to their days' ledgers; the same transcript twice adds nothing.

    A message that holds a credential is skipped and named, or redacted where the settings say so.
    """
    skipped: list[Skipped] = []
    clean: list[Message] = []
    for one in messages:
        safe = one if isinstance(one, Skipped) else _without_secret(one, vault)
        if isinstance(safe, Skipped):
            skipped.append(safe)
        else:
            clean.append(safe)
    with writing(vault, caller, "ingest") as work:
        events = to_events(clean, caller, source)
        added, commit = _append(work, events, source)
        days = tuple(sorted({day_of(event.timestamp) for event in added}))
        return Ingested(len(added), len(events) - len(added), tuple(skipped), days, commit, work.notices)


def ingest_notes(vault: Vault, caller: Caller) -> Ingested:
    """Take the lines of the daily notes into the ledger as events, so that facts can cite them."""
    with writing(vault, caller, "ingest") as work:
        events = note_events(work)
        added, commit = _append(work, events, NOTES)
        days = tuple(sorted({day_of(event.timestamp) for event in added}))
        return Ingested(len(added), len(events) - len(added), (), days, commit, work.notices)


def to_events(messages: Sequence[Message], caller: Caller, source: str) -> list[Event]:
    """Messages as events. An event's id comes from what it says, who says it, in which session and when, and how
    often the same was said before, so that a transcript read again gives the same ids."""
    seen: Counter[tuple[str | None, ...]] = Counter()
    events = []
    for one in messages:
        key = (one.session, one.role, one.speaker, one.timestamp, one.external_id, one.text)
        seen[key] += 1
        events.append(
            Event(
                event_id(*key, str(seen[key])),
                one.timestamp or stamp(caller.now),
                one.role,
                one.text,
                one.speaker,
                one.session or caller.session,
                caller.agent,
                source,
                one.external_id,
                "note" if one.role == "note" else "message",
                is_recalled(one.text),
            )
        )
    return events


def note_events(work: Writing) -> list[Event]:
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
        for line in noted(work.text(path)):
            if find_secret(line.text):
                continue
            moment = f"{day}T{(line.time or '00:00').zfill(5)}:00Z"
            key = event_id("note", agent, day, line.text)
            events.append(Event(key, moment, "note", line.text, agent=agent, source=path, kind="note"))
    return list({event.id: event for event in events}.values())


def event_id(*parts: str | None) -> str:
    """An id made from what identifies an event: `evt_` and 16 hex digits."""
    digest = hashlib.sha256("\x1f".join(part or "" for part in parts).encode(errors="surrogatepass"))
    return f"evt_{digest.hexdigest()[:16]}"


def _append(work: Writing, events: Sequence[Event], source: str) -> tuple[list[Event], str | None]:
    known = known_events(work.index, (event.id for event in events))
    fresh = [event for event in events if event.id not in known]
    if not fresh:
        return [], None
    by_day: dict[str, list[Event]] = defaultdict(list)
    for event in fresh:
        by_day[day_of(event.timestamp)].append(event)
    writes: dict[str, bytes | None] = {}
    for day, of_day in sorted(by_day.items()):
        path = ledger_path(day)
        before = work.read(path) or b""
        writes[path] = before + (b"" if before.endswith(b"\n") or not before else b"\n") + render_events(of_day)
    first, last = min(by_day), max(by_day)
    span = first if first == last else f"{first} to {last}"
    change = Change(
        subject_line("ingest", "ledger", f"{len(fresh)} events from {source} ({span})"),
        writes,
        trailers("ingest", agent=work.caller.agent, session=work.caller.session, sources=[source]),
        author=agent_author(work.caller.agent),
    )
    return fresh, work.commit([change])[-1]


def _without_secret(message: Message, vault: Vault) -> Message | Skipped:
    match = find_secret(message.text)
    if match is None:
        return message
    if vault.settings.words("secrets.action") == "redact":
        return message._replace(text=redact(message.text))
    return Skipped(message.line, f"it holds what looks like a credential ({match.rule})")
