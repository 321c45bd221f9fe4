"""Acts on decisions and lessons: add them, and append the outcome of a decision. They are never edited."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from clawmem.errors import Refused
from clawmem.index.search.channels import FactFilter, facts_in_rows, keyword_channel
from clawmem.index.search.lookup import PlacedFact, find_fact, resolve_id
from clawmem.memory.facts.gates import check_daily_limit
from clawmem.memory.facts.remember import FactPlanner, RememberedFact, without_secrets
from clawmem.memory.facts.revise import ReviseResult, check_reason
from clawmem.memory.quarantine import HandoverScreen
from clawmem.memory.scope import WriteScope, fact_change
from clawmem.memory.writing import writing
from clawmem.model.facts.draft import Draft, draft_from_record
from clawmem.model.facts.fact import Fact, FactLink
from clawmem.model.facts.fact_words import DECISION_MAKERS
from clawmem.model.facts.gates import DECISION, goes_against, with_outcome
from clawmem.model.facts.reach import Reach, is_workflow
from clawmem.model.language.dates import stamp
from clawmem.model.language.question import search_words
from clawmem.model.language.text import check_statement, forms_of
from clawmem.model.proposals.proposal import APPROVED
from clawmem.model.proposals.quarantine import is_approved, with_approval
from clawmem.model.proposals.routes import RoutedItem
from clawmem.model.records.caller import Caller
from clawmem.model.records.entity import visible_owners
from clawmem.review.reviewers import person_decider
from clawmem.vault.commit.secret_gate import allowed
from clawmem.vault.vault import Vault

_PRECEDENTS = 20


class AddedRecord(NamedTuple):
    """The stored lesson or decision, the earlier decisions that it goes against with the reasons, and the commit (None
    if it was known)."""

    fact: RememberedFact
    against: tuple[tuple[PlacedFact, str], ...]
    commit: str | None
    notices: tuple[str, ...] = ()


class RecordedOutcome(NamedTuple):
    """The decision with the new outcome, its entity, and the commit."""

    fact: Fact
    entity: str
    commit: str
    notices: tuple[str, ...] = ()


def add_record(vault: Vault, record: Mapping[str, Any], caller: Caller) -> AddedRecord:
    """Store a lesson or a decision (the record of a fact, see `clawmem.work.session_end_records`) in one commit.

    A decision that goes against an earlier one in its scope gets a `contradicts` link to it, with the reason."""
    argument = {key: value for key, value in record.items() if value not in (None, [], {})}
    draft = without_secrets(vault, draft_from_record(argument, caller.now))
    with writing(vault, caller, str(record["category"])) as work:
        draft = _with_decision_maker(work, draft)
        check_daily_limit(work, int(draft.fact.category == "lesson"))
        against = precedents_against(work, draft.fact)
        planner = FactPlanner(work)
        fact, change = planner.plan(draft._replace(fact=with_contradictions(work, draft.fact, against)))
        commits = work.commit([change]) if change else ()
        notices = (*work.notices, *planner.notices, *(contradiction_notice(placed, why) for placed, why in against))
        return AddedRecord(fact, tuple(against), commits[-1] if commits else None, notices)


def record_outcome(
    vault: Vault, reference: str, outcome: str, caller: Caller, note: str | None = None
) -> RecordedOutcome:
    """Append an outcome to a decision, in one commit. Raise Refused if the fact is no decision."""
    words = allowed(vault.settings, check_statement(note, "note"), "The note") if note else None
    with writing(vault, caller, "decision outcome") as work:
        screen = HandoverScreen(work, {"source": "agent"})
        words = screen.kept(words, "note") if words and caller.agent else words
        placed = find_fact(work.index, reference)
        if placed.fact.category != DECISION:
            raise Refused(f"{placed.fact.id} is no decision.", "`clawmem decision list` shows the decisions.")
        entry = {
            "outcome": outcome,
            "at": stamp(caller.now),
            "note": words,
            "by": caller.agent,
            "session": caller.session,
        }
        fact = with_outcome(placed.fact, {key: value for key, value in entry.items() if value})
        writes = work.items_with([PlacedFact(fact, placed.entity)])
        text = f"{outcome}: {fact.fact}"
        change = fact_change(caller, "decision outcome", placed.entity, text, writes, [fact])
        commit = work.commit([*screen.changes, change])[-1]
        return RecordedOutcome(fact, placed.entity, commit, (*work.notices, *screen.notices))


def _with_decision_maker(work: WriteScope, draft: Draft) -> Draft:
    """Return a person's decision with the name of the person, unless it names its decision makers."""
    details = draft.fact.details or {}
    person = work.person if draft.fact.category == DECISION and work.caller.agent is None else None
    if person is None or DECISION_MAKERS in details:
        return draft
    return draft._replace(fact=draft.fact._replace(details={**details, DECISION_MAKERS: person.name}))


def precedents_against(work: WriteScope, fact: Fact) -> list[tuple[PlacedFact, str]]:
    """Return the earlier decisions in the scope of a decision that it goes against, with the reasons."""
    if fact.category != DECISION:
        return []
    named = {resolve_id(work.index, link.to) for link in fact.links if link.type == "contradicts"}
    reach = Reach(fact.workflow, fact.project) if fact.workflow or fact.project else None
    wanted = FactFilter(visible_owners(work.caller.agent), category=DECISION, reach=reach)
    options = [alternative["option"] for alternative in (fact.details or {}).get("alternatives", ())]
    words = [form for text in (fact.fact, *options) for word in search_words(text) for form in forms_of(word)]
    rows = keyword_channel(work.index, list(dict.fromkeys(words)), wanted, _PRECEDENTS).scores
    found = facts_in_rows(work.index, list(rows))
    against = ((placed, goes_against(fact, placed.fact)) for placed in found.values() if placed.fact.id not in named)
    return [(placed, why) for placed, why in against if why is not None]


def with_contradictions(work: WriteScope, fact: Fact, against: list[tuple[PlacedFact, str]]) -> Fact:
    """Return the decision with a link to each decision that it goes against."""
    links = (FactLink("contradicts", placed.fact.id, why, stamp(work.caller.now)) for placed, why in against)
    return fact._replace(links=(*fact.links, *links))


def contradiction_notice(placed: PlacedFact, why: str) -> str:
    """Return the sentence that a decision goes against an earlier one."""
    return f"this goes against an earlier decision, {placed.fact.id} ({placed.fact.fact}): {why}"


LESSON = "lesson"


def accept_lesson(vault: Vault, reference: str, caller: Caller, reason: str | None = None) -> ReviseResult:
    """Mark a lesson as accepted by a person, in one commit; no commit if it is accepted already.

    Raise NotPermitted for a person who is not a reviewer of it, and Refused if the fact is no current lesson."""
    because = check_reason(reason)
    with writing(vault, caller, "lesson accept") as work:
        placed = work.latest(find_fact(work.index, reference))
        fact = placed.fact
        if fact.category != LESSON or not fact.is_current:
            raise Refused(f"{fact.id} is no lesson that holds.", "`clawmem lesson list` shows the lessons.")
        if is_approved(fact):
            return ReviseResult((placed,), ("noop",), None, work.notices)
        item = RoutedItem(LESSON, placed.entity, fact.workflow if is_workflow(fact.workflow) else None)
        who = person_decider(vault, item, fact.id)
        accepted = with_approval(fact, who.by, stamp(caller.now))
        writes = work.items_with([PlacedFact(accepted, placed.entity)])
        change = fact_change(caller, "lesson accept", placed.entity, fact.fact, writes, [accepted])
        items = [("Decision", APPROVED), ("Reviewed-by", who.by), *([("Reason", because)] if because else [])]
        change = change._replace(trailers=(*change.trailers, *items), signed=who.signed)
        commits = work.commit([change])
        return ReviseResult((PlacedFact(accepted, placed.entity),), ("updated",), commits[-1], work.notices)
