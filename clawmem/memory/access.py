"""Acts on who may see what: grant and withdraw, mark messages and facts, and say who may see something and why."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from clawmem.errors import PERSON_RUNS, InvalidInput, NotFound, NotPermitted
from clawmem.index.refresh import run_query
from clawmem.index.search.events import events_by_id
from clawmem.index.search.lookup import PlacedFact, find_fact
from clawmem.index.tables.rights import AccessRules, marks_of, read_access
from clawmem.index.tables.store import Index
from clawmem.memory.scope import WriteScope, fact_change
from clawmem.memory.writing import writing
from clawmem.model.facts.fact import new_id
from clawmem.model.history.entry import RIGHTS
from clawmem.model.language.dates import day_of, stamp
from clawmem.model.language.text import some_of
from clawmem.model.records.access import (
    ACCESS_HINT,
    EVERYTHING,
    GRANTS_PATH,
    PREFIX,
    AccessMark,
    Grant,
    Person,
    Verdict,
    check_known,
    event_of_mark,
    verdict,
    with_grants,
)
from clawmem.model.records.caller import Caller
from clawmem.model.records.change import Change, agent_author, subject_line, trailers
from clawmem.model.records.event import MARK, MARK_OF, Event, ledger_path, render_events
from clawmem.model.records.layout import ACCESS
from clawmem.vault.commit.secret_gate import allowed
from clawmem.vault.vault import Vault

_EVENT = "evt_"


class Granted(NamedTuple):
    """The grant or the withdrawal that was recorded, its commit, and remarks."""

    grant: Grant
    commit: str
    notices: tuple[str, ...] = ()


class Marked(NamedTuple):
    """What was marked: the marks by id, the last commit, and remarks."""

    marks: dict[str, AccessMark]
    commit: str
    notices: tuple[str, ...] = ()


class SeenBy(NamedTuple):
    """The marks that something has, its own and of the message that it was learned from, and for each person whether
    they may see it and why."""

    id: str
    marks: tuple[AccessMark, ...]
    verdicts: dict[str, Verdict]


def known_access(vault: Vault) -> AccessRules:
    """Return the policy and the grants. Raise NotFound where the vault has no policy."""
    rules = read_access(vault)
    if rules is None:
        raise NotFound(f"This memory has no {ACCESS}: everybody may see everything.", ACCESS_HINT)
    return rules


def decide_access(vault: Vault, caller: Caller, wanted: Grant) -> Granted:
    """Record that somebody may see kinds of content, or no longer may. `wanted` is the grant without id, time and who
    decided. Raise NotPermitted for an agent, and InvalidInput for names that the policy does not have."""
    _check_person(caller)
    rules = known_access(vault)
    check_known(rules.policy, [wanted.of] if wanted.of else [], wanted.may, wanted.who)
    reason = allowed(vault.settings, wanted.reason, "The reason") if wanted.reason else None
    with writing(vault, caller, "access") as work:
        name = new_id(PREFIX, caller.entropy, {grant.id for grant in rules.grants})
        by = person.name if (person := work.person) else None
        grant = wanted._replace(id=name, timestamp=stamp(caller.now), reason=reason, by=by)
        change = Change(
            subject_line(RIGHTS, grant.who, f"{grant.in_words}{f', {reason}' if reason else ''}"),
            {GRANTS_PATH: with_grants(work.read(GRANTS_PATH) or b"", [grant])},
            trailers(RIGHTS, session=caller.session),
        )
        commit = work.commit([change])[-1]
        says = "what was said to some people only is not decided by --of: it stays for them"
        stays = [says] if grant.of is not None and EVERYTHING in grant.may else []
        return Granted(grant, commit, (*work.notices, *stays))


def mark(vault: Vault, caller: Caller, references: Sequence[str], wanted: AccessMark) -> Marked:
    """Mark messages and facts, each in a commit; an empty mark is for everybody. Kinds of content leave the audience as
    it is, and an audience leaves the kinds. Raise NotPermitted for an agent, and InvalidInput for names that the policy
    does not have, or for people without a kind of content."""
    _check_person(caller)
    if wanted.about and not wanted.kinds:
        message = "Whom it is about decides nothing without a kind of content. Nothing was changed."
        raise InvalidInput(message, "Add --kind, or name with --audience for whom it is.")
    check_known(known_access(vault).policy, wanted.about, wanted.kinds, audience=wanted.audience)
    marks, notices = {}, []
    with writing(vault, caller, "access") as work:
        targets: list[PlacedFact | Event] = [
            _message(work.index, name) if name.startswith(_EVENT) else find_fact(work.index, name)
            for name in references
        ]
        for target in targets:
            name = target.id if isinstance(target, Event) else target.fact.id
            before = next(iter(marks_of(work.index, name, name)), AccessMark())
            marks[name] = wanted
            if wanted.kinds and not wanted.audience:
                marks[name] = wanted._replace(audience=before.audience)
            if wanted.audience and not wanted.kinds:
                marks[name] = wanted._replace(kinds=before.kinds, about=before.about)
            if before.restricts and not wanted.restricts:
                notices.append(f"{name} was {before.in_words}; `clawmem undo` makes it so again")
            fits = _mark_message if isinstance(target, Event) else _mark_fact
            commit = work.commit([fits(work, target, marks[name])])[-1]  # type: ignore[arg-type]
        return Marked(marks, commit, (*work.notices, *notices))


def seen_by(vault: Vault, caller: Caller, reference: str) -> SeenBy:
    """Return who may see a message or a fact, and why."""
    rules = known_access(vault)
    moment = stamp(caller.now)
    found, marks = run_query(vault, lambda index: _marks(index, reference))
    verdicts = {}
    for name, person in rules.policy.people.items():
        each = [_verdict(rules, person, mark, moment) for mark in marks] or [Verdict(True, "it is not marked")]
        verdicts[name] = next((other for other in each if not other.allowed), each[0])
    return SeenBy(found, marks, verdicts)


def _verdict(rules: AccessRules, person: Person, mark: AccessMark, moment: str) -> Verdict:
    """Return whether a person may see what has a mark; if not, the words of it that the person may see."""
    found = verdict(*rules, person, mark, moment)
    if not found.allowed and (unknown := rules.policy.unknown_in(mark.audience)):
        found = found._replace(why=f"{found.why}; {ACCESS} does not know {some_of(unknown)}")
    parts = [part.words for part in mark.parts if verdict(*rules, person, mark.of_part(part), moment).allowed]
    return found if found.allowed or not parts else found._replace(why=f"{found.why}, but “{' … '.join(parts)}”")


def _marks(index: Index, reference: str) -> tuple[str, tuple[AccessMark, ...]]:
    if reference.startswith(_EVENT):
        return (event := _message(index, reference).id), marks_of(index, "", event)
    fact = find_fact(index, reference).fact
    return fact.id, marks_of(index, fact.id, fact.source_event or "")


def _message(index: Index, event_id: str) -> Event:
    event = events_by_id(index, [event_id]).get(event_id)
    if event is None or event.recalled:
        raise NotFound(f"There is no message '{event_id}'.", "`clawmem recall --in events` shows ids.")
    return event


def _mark_message(work: WriteScope, message: Event, wanted: AccessMark) -> Change:
    path = ledger_path(day_of(message.timestamp))
    data = work.read(path) or b""
    gap = b"\n" if data and not data.endswith(b"\n") else b""
    before = data.count(f'"{MARK_OF}": "{message.id}"'.encode())
    event = event_of_mark(message, wanted, work.caller.agent, before=before)
    return Change(
        subject_line(RIGHTS, "ledger", f"{message.id} is {wanted.in_words}"),
        {path: data + gap + render_events([event])},
        trailers(RIGHTS, session=work.caller.session, events=[message.id]),
        author=agent_author(work.caller.agent),
    )


def _mark_fact(work: WriteScope, placed: PlacedFact, wanted: AccessMark) -> Change:
    fact, entity = placed
    record = {key: list(names) for key, names in wanted._asdict().items() if names}
    rest = {key: value for key, value in (fact.metadata or {}).items() if key != MARK}
    marked = fact._replace(metadata={**rest, **({MARK: record} if record else {})} or None)
    writes = work.items_with([PlacedFact(marked, entity)])
    return fact_change(work.caller, RIGHTS, entity, f"{fact.fact} is {wanted.in_words}", writes, [marked])


def _check_person(caller: Caller) -> None:
    if caller.agent is not None:
        raise NotPermitted(f"Only a person decides who may see what, and {caller.agent} is an agent.", PERSON_RUNS)
