"""What no reader has read: the strongest sentences become candidates, which a person accepts, edits or drops.

A candidate is a proposal of the kind `fact`. It is never a fact by itself; a reader's answer about its message takes
its place.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta
from itertools import islice
from typing import NamedTuple

from clawmem.index.search.lookup import facts_about, facts_from_event
from clawmem.learning.attribution.speaker import said_by_user
from clawmem.learning.by_model.known import Surroundings
from clawmem.learning.by_model.task import is_readable
from clawmem.learning.pending import after_cursor
from clawmem.learning.reconciling.gate import judge
from clawmem.learning.reconciling.namesakes import people_of, session_of
from clawmem.learning.rules.rules import candidate_in
from clawmem.memory.review.proposals import proposal_trailers, proposal_writes, read_proposals
from clawmem.memory.scope import WriteScope
from clawmem.memory.writing import writing
from clawmem.model.facts.draft import UNSET_ID
from clawmem.model.language.dates import day_of, stamp
from clawmem.model.language.text import counted, normal
from clawmem.model.proposals.learned_fact import learned_fact
from clawmem.model.proposals.proposal import ADD, CANDIDATES, Proposal, is_candidate, new_proposal_id
from clawmem.model.proposals.proposition import Proposition
from clawmem.model.records.caller import Caller
from clawmem.model.records.change import Change, subject_line, trailers
from clawmem.model.records.event import Event
from clawmem.model.safety.recalled_text import mask_recalled, parts_of
from clawmem.vault.state.reading_state import read_reading_state
from clawmem.vault.vault import Vault

_GRACE = timedelta(hours=12)
_MOST_SEARCHED = 500  # events, the newest first
_WHY = "No reader has read its message."


class CandidatesResult(NamedTuple):
    """The filed candidates (in a dry run, those that would be filed) and the commit."""

    proposals: tuple[Proposal, ...] = ()
    commit: str | None = None
    notices: tuple[str, ...] = ()


def propose_unread(vault: Vault, caller: Caller, dry_run: bool = False) -> CandidatesResult:
    """File the strongest sentence of each of the newest messages that nobody has read for twelve hours, at most
    `heartbeat.candidates` a day."""
    most = vault.settings.whole("heartbeat.candidates")
    if not most:
        return CandidatesResult()
    with writing(vault, caller, "learn", dry_run=dry_run) as work:
        filed = [each for each in read_proposals(vault, work.read).proposals if is_candidate(each)]
        room = most - sum(day_of(each.created) == day_of(stamp(caller.now)) for each in filed)
        fresh = list(islice(_candidates(work, filed), max(0, room)))
        if dry_run or not fresh:
            return CandidatesResult(tuple(fresh), notices=work.notices)
        change = Change(
            subject_line("propose", "ledger", f"{counted(len(fresh), 'candidate')} from messages that nobody read"),
            proposal_writes(fresh),
            (*trailers("propose", events=[each.source_event or "" for each in fresh]), *proposal_trailers(fresh)),
            body="\n".join(f"- {each.id} waits for review: {each.says}" for each in fresh),
        )
        return CandidatesResult(tuple(fresh), work.commit([change])[-1], work.notices)


def _candidates(work: WriteScope, filed: list[Proposal]) -> Iterator[Proposal]:
    before = {each.source_event for each in filed} | {normal(each.says) for each in filed}
    taken = {each.id for each in filed}
    for event, found in _sentences(work):
        if event.id in before or normal(found.statement) in before:
            continue
        before.add(normal(found.statement))
        made = Proposal(
            new_proposal_id(work.caller.entropy, taken), "fact", found.statement, _WHY, stamp(work.caller.now), ADD,
            fact=learned_fact(found, event, UNSET_ID, stamp(work.caller.now), CANDIDATES),
            source_event=event.id, agent=event.agent,
        )  # fmt: skip
        taken.add(made.id)
        yield made


def _sentences(work: WriteScope) -> Iterator[tuple[Event, Proposition]]:
    """Yield the unread messages with the sentence of each that a person may want to keep, newest first."""
    vault = work.vault
    user, until = vault.settings.words("user.name"), stamp(work.caller.now - _GRACE)
    days = Surroundings(vault)
    for event in islice(after_cursor(vault, read_reading_state(vault), newest_first=True), _MOST_SEARCHED):
        if event.timestamp > until or not is_readable(event):
            continue
        people = people_of(days.events_of(day_of(event.timestamp)))[session_of(event)]
        own = event._replace(text=mask_recalled(event.text, parts_of(event.metadata)))
        found = candidate_in(said_by_user(own, user), vault.catalog, people)
        if found and event.text[slice(*found.span)] == found.source_text and _is_news(work, found):
            yield event, found


def _is_news(work: WriteScope, found: Proposition) -> bool:
    """Return whether the gate accepts a sentence of which no fact was made."""
    known = [placed.fact for placed in facts_about(work.index, found.subject)] if found.subject else []
    made = (placed.fact.source_span for placed in facts_from_event(work.index, found.event_id))
    start, end = found.span
    kept = any(span and span[0] < end and start < span[1] for span in made)
    return not kept and judge(found, known, lambda text: None).accepted
