"""Quarantine: a fact that needs a decision of a person becomes a complete proposal in `review/`."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from clawmem.errors import InvalidInput
from clawmem.memory.proposals import proposal_trailers, proposal_writes, read_proposals
from clawmem.memory.scope import WriteScope
from clawmem.model.facts.fact import GUARDRAIL, UNSET_ID, Fact, is_low_trust
from clawmem.model.language.dates import stamp
from clawmem.model.language.text import LONGEST_FACT, each_text, one_line, visible
from clawmem.model.proposals.proposal import (
    ADD,
    OPEN,
    REJECTED,
    RETRACT,
    Proposal,
    ProposalTarget,
    new_proposal_id,
    topic,
)
from clawmem.model.proposals.quarantine import WITHHELD, is_approved, order_handed_on, orders_in, without_orders
from clawmem.model.records.caller import Caller
from clawmem.model.records.change import Change, agent_author, subject_line, trailers
from clawmem.model.records.strict_json import texts_in
from clawmem.vault.commit.secret_gate import allowed

_TARGET_WORDS = {"supersede": "instead of", "merge": "joined with"}


class QuarantineReason(NamedTuple):
    """The kind of the proposal, and why a person must decide."""

    kind: str
    why: str


class FiledProposalChange(NamedTuple):
    """The proposal, and the change that files it (None if the proposal existed)."""

    proposal: Proposal
    change: Change | None
    notice: str | None = None


def quarantine_reason(fact: Fact, against: Iterable[Fact] = ()) -> QuarantineReason | None:
    """Return why a person must decide about a fact, or None. `against` are the facts that it would replace."""
    orders = orders_in(fact)
    if orders:
        rule, words = orders
        source = f"a source of low trust ({fact.trust})" if is_low_trust(fact.trust) else f"an {fact.trust}"
        text = f"From {source}, and it reads like an instruction to the reader ({rule}): {words}"
        return QuarantineReason("fact", text)
    if fact.category == GUARDRAIL and fact.agent is not None and not is_approved(fact):
        return QuarantineReason(
            GUARDRAIL, f"The agent {fact.agent} gives it as a guardrail, which a person accepts first."
        )
    better = next((fact for fact in against if not is_low_trust(fact.trust)), None)
    if better is None or not is_low_trust(fact.trust):
        return None
    text = better.trust or "user"
    return QuarantineReason(
        "conflict", f"A source of low trust ({fact.trust}) would change what the {text} said: {better.id}."
    )


class ProposalWriter:
    """Plans new proposals. The existing ones are read once."""

    def __init__(self, work: WriteScope) -> None:
        self._work = work
        self._filed = list(read_proposals(work.vault, work.read).proposals)

    def file(
        self, fact: Fact, entity: str, reason: QuarantineReason, does: str = ADD, targets: Sequence[Fact] = ()
    ) -> FiledProposalChange:
        """Plan the proposal. Return the existing one if the same proposal is open or was rejected."""
        waiting, named = fact._replace(id=UNSET_ID), {target.id for target in targets}
        for other_proposal in self._filed:
            if other_proposal.fact is None or topic(other_proposal.does, other_proposal.fact) != topic(does, waiting):
                continue
            if other_proposal.status == OPEN and {target.id for target in other_proposal.targets} == named:
                return FiledProposalChange(other_proposal, None, f"it already waits for review, as {other_proposal.id}")
            if other_proposal.status == REJECTED:
                return FiledProposalChange(other_proposal, None, f"it was rejected in review, as {other_proposal.id}")
        proposal = self._proposal(waiting, entity, reason, does, targets)
        self._filed.append(proposal)
        return FiledProposalChange(proposal, _change(self._work, proposal, fact, entity))

    def _proposal(
        self, fact: Fact, entity: str, reason: QuarantineReason, does: str, targets: Sequence[Fact]
    ) -> Proposal:
        words, says = _TARGET_WORDS.get(does), f"Retract: {fact.fact}" if does == RETRACT else fact.fact
        caller = self._work.caller
        return Proposal(
            new_proposal_id(caller.entropy, {proposal.id for proposal in self._filed}),
            reason.kind,
            f"{fact.fact} ({words}: {'; '.join(target.fact for target in targets)})" if words else says,
            reason.why,
            stamp(caller.now),
            does,
            targets=tuple(ProposalTarget(target.id, target.fact) for target in targets),
            fact=fact,
            entity=entity,
            source_event=fact.source_event,
            agent=caller.agent,
        )


def refuse_order(caller: Caller, name: str, *texts: str | None) -> None:
    """Raise InvalidInput if a text of a field that cannot wait for review, such as a title, reads as an order and an
    agent gives it."""
    for text in filter(None, texts if caller.agent else ()):
        found = order_handed_on(text, advice=True)
        if found:
            raise InvalidInput(
                f"The {name} reads as an order to its reader ({found[0]}): {found[1]}",
                "An agent hands it to later sessions. Say what is to be done in other words, or let a person add it.",
            )


class HandoverScreen:
    """Judges what an agent hands to later readers, whatever the field and the road.

    A credential is refused or masked. A sentence that reads as an order waits for review, and the text says so in its
    place. `about` are keys of the facts that wait: source, entity, scope and details."""

    def __init__(self, work: WriteScope, about: Mapping[str, Any]) -> None:
        self._work = work
        self._about = about
        self._writer: ProposalWriter | None = None
        self.proposals: list[Proposal] = []
        self.changes: list[Change] = []
        self.notices: list[str] = []

    def kept(self, value: Any, name: str) -> Any:
        """Return a JSON value with each text in it as it may be kept. Raise SecretFound, with the name of the field."""
        settings = self._work.vault.settings
        return each_text(
            value, lambda text: without_orders(allowed(settings, text.strip(), f"The {name}"), self._withheld)
        )

    def reason(self, entry: Any) -> QuarantineReason | None:
        """Return why an entry that becomes a fact waits for review: a text in it reads as an order; else None."""
        for text in texts_in(entry):
            found = order_handed_on(text, advice=True)
            if found:
                return self._why(*found)
        return None

    def file(self, fact: Fact, entity: str | None, reason: QuarantineReason) -> Proposal:
        """File a fact that waits."""
        self._writer = self._writer or ProposalWriter(self._work)
        filed = self._writer.file(fact, entity or self._work.vault.settings.words("defaults.entity"), reason)
        self.proposals.append(filed.proposal)
        self.changes += [filed.change] if filed.change else []
        waits = f"what reads as an order waits for a person: `clawmem review show {filed.proposal.id}`"
        self.notices.append(filed.notice or waits)
        return filed.proposal

    def _withheld(self, sentence: str) -> str:
        from clawmem.model.facts.draft import draft_from_record  # little is withheld

        caller, words = self._work.caller, visible(one_line(sentence))[:LONGEST_FACT]
        record = {"category": "report", "trust": "agent", "agent": caller.agent, **self._about, "fact": words}
        draft = draft_from_record({key: value for key, value in record.items() if value}, caller.now)
        found = order_handed_on(sentence)
        assert found is not None
        return f"{WITHHELD[:-1]}; {self.file(draft.fact, draft.entity, self._why(*found)).id}]"

    def _why(self, rule: str, words: str) -> QuarantineReason:
        text = f"An agent hands it to later sessions, and it reads like an instruction to the reader ({rule}): {words}"
        return QuarantineReason("fact", text)


def _change(work: WriteScope, proposal: Proposal, fact: Fact, entity: str) -> Change:
    caller = work.caller
    items = trailers(
        "propose",
        entities=[entity],
        agent=caller.agent,
        session=caller.session,
        sources=[fact.source],
        events=[fact.source_event] if fact.source_event else [],
    )
    return Change(
        # The words are in the proposal only, because agents read the log.
        subject_line("propose", entity, f"a {proposal.kind} that waits for a person ({proposal.id})"),
        proposal_writes([proposal]),
        (*items, *proposal_trailers([proposal])),
        author=agent_author(caller.agent),
    )


def with_proposal_id(proposal: Proposal, fact: Fact) -> Fact:
    """Return the fact with the id of the proposal, which `clawmem review` accepts."""
    return fact._replace(id=proposal.id)
