"""The kinds of proposals: one row says everything that differs between one kind and another.

To add a kind, add a row to `PROPOSAL_KINDS`. Nothing else names the kinds: the queue, `review list --kind`, the JSON
Schema, the check of proposal files and the routes of reviewers read this table. A proposal of the new kind uses an
existing action (`clawmem.model.proposals.proposal.ACTIONS`), and keeps what only its kind knows in `details`, a JSON
object that is stored as it is. Its entity and `details.workflow` decide which reviewers it has.

- A proposal that adds or changes facts uses `add`, `supersede`, `merge`, `end` or `retract`; approval does the rest.
- A proposal that changes no fact uses `decide`. Approval records the decision, and `on_decision` does the work.
- `on_decision` names a function as `module:function`, in `clawmem.review`, a lower layer or an extension. It is
  called for each approval and each rejection of the kind, whatever the action, as `function(work, proposal, facts)`:
  `work` is the `WriteScope` of the decision, which has not been committed yet; `proposal.status` and
  `proposal.decided` say what was decided; `facts` are the facts as the approval leaves them (`PlacedFact`; empty for a
  rejection). It returns the further writes of the decision, as `{path: bytes or None}`, which become part of the same
  commit. To refuse the decision, it raises Refused.
"""

from __future__ import annotations

from collections.abc import Mapping

from clawmem.model.named_tuple import NamedTuple


class ProposalKind(NamedTuple):
    """One kind of proposal.

    about: what waits, in a few words.
    delegable: whether a person may delegate its decisions to an agent.
    on_decision: the function that adds to the commit of a decision, as `module:function`, or ''.
    """

    name: str
    about: str
    delegable: bool = True
    on_decision: str = ""


PROPOSAL_KINDS: tuple[ProposalKind, ...] = (
    ProposalKind("fact", "a fact that a person must confirm"),
    ProposalKind("conflict", "facts that contradict each other"),
    ProposalKind("predicate", "an entry of the predicate catalog"),
    ProposalKind("promotion", "a fact to keep, or a fact for a broader scope"),
    ProposalKind("guardrail", "a rule that leads the context of agents", delegable=False),
    ProposalKind("tacit", "a line of an agent's TACIT.md", delegable=False),
    ProposalKind(
        "escalation",
        "an evaluation that only a person can decide",
        delegable=False,
        on_decision="clawmem.extensions.governance.alignment:decide_escalation",
    ),
    ProposalKind(
        "wiki",
        "a change of a wiki page, or of what is on it",
        on_decision="clawmem.extensions.wiki.decisions:on_wiki_decision",
    ),
    ProposalKind(
        "deprecation", "a claim to replace by another one", on_decision="clawmem.memory.facts.claims:on_deprecation"
    ),
    ProposalKind("check", "a claim whose check fails"),
    ProposalKind("lesson", "a lesson that was reported as harmful"),
    ProposalKind(
        "forget",
        "facts and messages that somebody asked to forget",
        delegable=False,
        on_decision="clawmem.memory.facts.forget:on_decision",
    ),
    ProposalKind(
        "archive",
        "finished work to archive",
        delegable=False,
        on_decision="clawmem.memory.entities.entities:on_archive",
    ),
    ProposalKind("bridge", "a fact for the organisation", delegable=False),
)

KINDS = tuple(proposal_kind.name for proposal_kind in PROPOSAL_KINDS)
BY_KIND: Mapping[str, ProposalKind] = {proposal_kind.name: proposal_kind for proposal_kind in PROPOSAL_KINDS}
