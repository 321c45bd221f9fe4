"""Revoke: withdraw everything from one origin in one commit. Facts that it had replaced become active again."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from typing import NamedTuple

from clawmem.errors import ClawmemError, InvalidInput, NotFound
from clawmem.index.search.lookup import PlacedFact, all_facts, revoked_events
from clawmem.memory.history.log import fact_history
from clawmem.memory.pages.summaries import daily_pages_without, pages_after
from clawmem.memory.proposals import proposal_trailers, proposal_writes, read_proposals
from clawmem.memory.scope import WriteScope
from clawmem.memory.writing import writing
from clawmem.model.facts.fact import RETRACTED, Fact
from clawmem.model.history.comparison import read_single_fact
from clawmem.model.history.entry import trailer_pattern
from clawmem.model.history.revocation import (
    DependentFact,
    Revocation,
    derived_from_revoked,
    plan_revocation,
    replaced_by_revoked,
)
from clawmem.model.language.dates import day_of, stamp
from clawmem.model.language.text import counted
from clawmem.model.proposals.proposal import MERGE, OPEN, REJECTED, Proposal, ReviewDecision
from clawmem.model.records.caller import Caller
from clawmem.model.records.change import Change, agent_author, subject_line, trailers
from clawmem.model.records.digestion import DONE, QUEUE_PATH, render_queue, stored_queue
from clawmem.model.records.entity import items_path
from clawmem.model.records.event import Event, event_to_line, parse_events
from clawmem.model.records.session import REVOKED, SessionRecord, parse_session, render_session
from clawmem.vault.history.history import History, HistoryFilter, open_history
from clawmem.vault.strict_yaml import parse_yaml
from clawmem.vault.vault import Vault

_CREATING_OPS = ("remember", "supersede", "merge", "session-end", "session-checkpoint", "publish")
_A_PERSON = "a person"


class RevokeOrigin(NamedTuple):
    """The origin of facts and events. All given fields must match. `since` is ISO 8601 in UTC."""

    source: str | None = None
    event: str | None = None
    session: str | None = None
    agent: str | None = None
    since: str | None = None

    def in_words(self) -> str:
        """Return the origin in words, for example `from source web since 2026-11-01`."""
        record = {name: f"{name} {value}" for name, value in self._asdict().items() if value is not None}
        since = record.pop("since", "")
        return " ".join(filter(None, (f"from {', '.join(record.values())}" if record else "", since)))


class RevokeResult(NamedTuple):
    """The changed facts, each with an outcome (`retracted`, `restored` or `updated`), and the commit.

    `dependents` stay active although they were derived from a withdrawn fact. `proposals` were rejected, and `events`
    are excluded from learning and answers, and `sessions` are marked as revoked. `commit` is None on a dry run."""

    facts: tuple[PlacedFact, ...]
    outcome: tuple[str, ...]
    dependents: tuple[tuple[DependentFact, str], ...]
    proposals: tuple[Proposal, ...]
    events: tuple[str, ...]
    commit: str | None
    notices: tuple[str, ...] = ()
    sessions: tuple[str, ...] = ()


class _RevokePlan(NamedTuple):
    revocation: Revocation
    homes: Mapping[str, str]
    proposals: tuple[Proposal, ...]
    events: Mapping[str, tuple[Event, ...]]
    sessions: Mapping[str, SessionRecord]
    pages: Mapping[str, bytes | None]


def revoke(
    vault: Vault, origin: RevokeOrigin, caller: Caller, reason: str | None = None, dry_run: bool = False
) -> RevokeResult:
    """Withdraw the facts, reject the proposals and exclude the events of an origin.

    Raise InvalidInput if no origin is given, NotFound if nothing came from it.
    """
    if not any(origin):
        raise InvalidInput(
            "Neither a fact nor an origin is given.",
            "Name a fact, or --source, --event, --session, --agent or --since.",
        )
    why = f"revoked: {origin.in_words().removeprefix('from ')}" + (f" ({reason})" if reason else "")
    with writing(vault, caller, "revoke", dry_run=dry_run) as work:
        plan = _plan(work, origin, why)
        if not (plan.revocation.retracted or plan.proposals or plan.events or plan.sessions or plan.pages):
            nothing = f"Nothing came {origin.in_words()}."
            raise NotFound(nothing, "`clawmem log` shows sources, agents and sessions.")
        commit = None if dry_run else work.commit([_change(work, origin, plan, reason)])[-1]
        return _result(work, plan, commit)


def withdrawal_notices(work: WriteScope, ids: Collection[str]) -> list[str]:
    """Return which commits withdrew events that are handed in again, and how to bring them back."""
    gone, notices = revoked_events(work.index, ids), []
    with open_history(work.vault) as history:
        for entry in history.entries(HistoryFilter(grep=[trailer_pattern("Clawmem-Op", "revoke")])) if gone else ():
            if found := gone.intersection(entry.events):
                were = "was" if len(found) == 1 else "were"
                notices.append(
                    f"{counted(len(found), 'event')} {were} withdrawn on {entry.time[:10]}: "
                    f"`clawmem undo {entry.commit[:12]}` brings back what that commit withdrew"
                )
                gone -= found
    return notices


def _plan(work: WriteScope, origin: RevokeOrigin, why: str) -> _RevokePlan:
    every = [placed for placed in all_facts(work.index) if work.is_readable(placed.entity)]
    homes = {placed.fact.id: placed.entity for placed in every}
    entities = dict.fromkeys(homes.values())
    by_id = {fact.id: fact for entity in entities for fact in work.facts(entity)}
    by_day = dict(_events(work))
    events = {event.id: event for found in by_day.values() for event in found}
    with open_history(work.vault) as history:
        in_session = _facts_of_session(history, origin.session) if origin.session else frozenset()
        revoked = {
            fact.id for fact in by_id.values()
            if fact.status != RETRACTED and _came_from(origin, fact, events.get(fact.source_event or ""), in_session)
        }  # fmt: skip
        revoked |= {text for text in derived_from_revoked(by_id, revoked) if by_id[text].status != RETRACTED}
        replaced = replaced_by_revoked(by_id, revoked)
        before = _states_before(history, {fact.id: homes[fact.id] for fact in replaced}, revoked)
    chosen = {
        path: tuple(event for event in found if _event_came_from(origin, event)) for path, found in by_day.items()
    }
    revocation = plan_revocation(by_id, revoked, before, stamp(work.caller.now), why)
    return _RevokePlan(
        revocation,
        homes,
        _rejected_proposals(work, origin, events, why, revoked),
        {path: items for path, items in chosen.items() if items},
        _sessions(work, origin),
        daily_pages_without(work, {fact.id for fact in revocation.retracted}, _gone_notes(origin, chosen)),
    )


def _gone_notes(
    origin: RevokeOrigin, chosen: Mapping[str, tuple[Event, ...]]
) -> Callable[[str | None, str, str], bool]:
    """Return whether a note of an agent and a day is revoked: its event is, or all that its agent wrote."""
    group = {(event.agent, day_of(event.timestamp), event.text) for found in chosen.values() for event in found}
    whole = origin.agent if origin == RevokeOrigin(agent=origin.agent) else None
    return lambda agent, day, text: (agent is not None and agent == whole) or (agent, day, text) in group


def _came_from(origin: RevokeOrigin, fact: Fact, event: Event | None, in_session: frozenset[str]) -> bool:
    """Return whether the fact, or the event it was learned from, came from the origin."""
    checks = (
        (origin.source, _is_source(origin.source, fact.source, event)),
        (origin.event, fact.source_event == origin.event),
        (
            origin.session,
            fact.id in in_session
            or fact.source == f"session:{origin.session}"
            or (event is not None and event.session == origin.session),
        ),
        (origin.agent, fact.agent == origin.agent),
        (origin.since, fact.timestamp >= (origin.since or "")),
    )
    return all(holds for text, holds in checks if text is not None)


def _event_came_from(origin: RevokeOrigin, event: Event) -> bool:
    """Return whether the event came from the origin and is not excluded yet."""
    checks = (
        (origin.source, _is_source(origin.source, event.source or "", None)),
        (origin.event, event.id == origin.event),
        (origin.session, event.session == origin.session),
        (origin.agent, event.agent == origin.agent),
        (origin.since, event.timestamp >= (origin.since or "")),
    )
    return not event.recalled and all(holds for text, holds in checks if text is not None)


def _is_source(wanted: str | None, source: str, event: Event | None) -> bool:
    """Return whether a source matches. `web` also matches `web:example.org` and `web/page`."""
    names = [source, *([event.source] if event and event.source else [])]
    return wanted is not None and any(name == wanted or name.startswith((f"{wanted}:", f"{wanted}/")) for name in names)


def _facts_of_session(history: History, session: str) -> frozenset[str]:
    """Return the facts that commands of a session created. Only the commits name the session, not the facts."""
    entries = history.entries(HistoryFilter(grep=[trailer_pattern("Session", session)]))
    made = (entry for entry in entries if entry.op in _CREATING_OPS and entry.session == session)
    return frozenset(fact for entry in made for fact in entry.facts if fact not in entry.supersedes)


def _states_before(history: History, homes: Mapping[str, str], revoked: Iterable[str]) -> dict[str, Fact]:
    """Return each fact as it was before a revoked fact replaced it, where the history has that state."""
    gone = set(revoked)
    places = {fact_id: [items_path(entity)] for fact_id, entity in homes.items()}
    found: dict[str, Fact] = {}
    for fact_id, entries in (fact_history(history, places) if places else {}).items():
        paths = places[fact_id]
        for entry in reversed(entries):
            parents = entry.parents[:1]
            record = history.vault.contents_at(parents[0], paths) if parents else {}
            was = next((one for data in record.values() if data and (one := read_single_fact(data, fact_id))), None)
            if was is not None and was.superseded_by not in gone and was.superseded_by is None:
                found[fact_id] = was
                break
    return found


def _events(work: WriteScope) -> Iterator[tuple[str, tuple[Event, ...]]]:
    for path in sorted((work.vault.root / "ledger").glob("*.jsonl")):
        name = f"ledger/{path.name}"
        if name not in work.transaction.unreadable:
            yield name, parse_events(work.read(name) or b"", name)


def _rejected_proposals(
    work: WriteScope, origin: RevokeOrigin, events: Mapping[str, Event], why: str, revoked: Collection[str]
) -> tuple[Proposal, ...]:
    """Return the open proposals from the origin, and those that would merge or derive a fact from a revoked one."""
    ruling = ReviewDecision(work.caller.agent or _A_PERSON, stamp(work.caller.now), why)
    found = []
    for proposal in read_proposals(work.vault, work.read).open:
        event = events.get(proposal.source_event or "")
        stands_for = proposal.fact and proposal.fact._replace(
            timestamp=proposal.created, agent=proposal.fact.agent or proposal.agent
        )
        holds = proposal.does == MERGE and any(target.id in revoked for target in proposal.targets)
        if holds or (stands_for and _came_from(origin, stands_for, event, frozenset())):
            found.append(proposal._replace(status=REJECTED, decided=ruling))
    return tuple(proposal for proposal in found if proposal.status != OPEN)


def _change(work: WriteScope, origin: RevokeOrigin, plan: _RevokePlan, reason: str | None) -> Change:
    revocation = plan.revocation
    facts = (*revocation.retracted, *revocation.restored, *revocation.relinked)
    changed = [PlacedFact(fact, plan.homes[fact.id]) for fact in facts]
    words = f"{counted(len(revocation.retracted), 'fact')} {origin.in_words()}" + (
        f" (because: {reason})" if reason else ""
    )
    items = trailers(
        "revoke",
        facts=[fact.id for fact in facts],
        entities=list(dict.fromkeys(plan.homes[fact.id] for fact in facts)),
        agent=work.caller.agent,
        session=work.caller.session,
        events=[event.id for found in plan.events.values() for event in found],
    )
    body = [f"- {fact.id} is withdrawn: {fact.fact}" for fact in revocation.retracted]
    body += [f"- {fact.id} is current again: {fact.fact}" for fact in revocation.restored]
    body += [
        f"- {dependent.fact.id} stays, though it {dependent.relation} {dependent.of}: {dependent.fact.fact}"
        for dependent in revocation.dependents
    ]
    return Change(
        subject_line("revoke", "vault", words),
        {
            **work.items_with(changed),
            **_ledger_writes(work, plan),
            **{path: render_session(session) for path, session in plan.sessions.items()},
            **_queue_writes(work, plan),
            **proposal_writes(plan.proposals),
            **pages_after(work, changed),
            **plan.pages,
        },
        (*items, *proposal_trailers(plan.proposals)),
        body="\n".join(body),
        author=agent_author(work.caller.agent),
    )


def _ledger_writes(work: WriteScope, plan: _RevokePlan) -> dict[str, bytes | None]:
    """Return the ledgers with the events marked. Their text stays, but it is not used for learning or answers."""
    day = day_of(stamp(work.caller.now))
    writes: dict[str, bytes | None] = {}
    for path, chosen in plan.events.items():
        marked = {
            event.id: event._replace(recalled=True, metadata={**(event.metadata or {}), "revoked": day})
            for event in chosen
        }
        lines = (work.read(path) or b"").split(b"\n")
        events = iter(parse_events(work.read(path) or b"", path))
        written = [_line(line, marked.get(next(events).id)) if line.strip() else line for line in lines]
        writes[path] = b"\n".join(written)
    return writes


def _sessions(work: WriteScope, origin: RevokeOrigin) -> dict[str, SessionRecord]:
    """Return the records of the sessions that are the origin, by path, as revoked. Unreadable ones stay."""
    found: dict[str, SessionRecord] = {}
    for path in sorted((work.vault.root / "agents").glob("*/sessions/*.json")):
        name = path.relative_to(work.vault.root).as_posix()
        try:
            record = parse_session(work.read(name) or b"", name, parse_yaml)
        except ClawmemError:
            continue
        agent = record.agent or name.split("/")[1]
        checks = (
            (origin.source, origin.source == f"session:{record.id}"),
            (origin.event, False),
            (origin.session, record.id == origin.session),
            (origin.agent, agent == origin.agent),
            (origin.since, record.started >= (origin.since or "")),
        )
        if record.state != REVOKED and all(holds for text, holds in checks if text is not None):
            found[name] = record._replace(state=REVOKED)
    return found


def _queue_writes(work: WriteScope, plan: _RevokePlan) -> dict[str, bytes | None]:
    """Return the digestion queue without the work on what is revoked."""
    queue = stored_queue(work.read, parse_yaml)
    events = {event.id for found in plan.events.values() for event in found}
    sessions = {session.id for session in plan.sessions.values()}
    gone = {
        key: item._replace(phase=DONE, claims=(), error=None)
        for key, item in queue.items()
        if item.phase != DONE and (item.session in sessions or (item.events and set(item.events) <= events))
    }
    return {QUEUE_PATH: render_queue({**queue, **gone})} if gone else {}


def _line(line: bytes, marked: Event | None) -> bytes:
    return event_to_line(marked).encode() if marked else line


def _result(work: WriteScope, plan: _RevokePlan, commit: str | None) -> RevokeResult:
    revocation = plan.revocation
    rows = [(fact, "retracted") for fact in revocation.retracted]
    rows += [(fact, "restored") for fact in revocation.restored]
    rows += [(fact, "updated") for fact in revocation.relinked]
    return RevokeResult(
        tuple(PlacedFact(fact, plan.homes[fact.id]) for fact, _ in rows),
        tuple(outcome for _, outcome in rows),
        tuple((dependent, plan.homes[dependent.fact.id]) for dependent in revocation.dependents),
        plan.proposals,
        tuple(event.id for found in plan.events.values() for event in found),
        commit,
        work.notices,
        tuple(session.id for session in plan.sessions.values()),
    )
