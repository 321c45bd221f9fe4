"""Turn an accepted proposition into a fact."""

from __future__ import annotations

from clawmem.model.facts.fact import Fact
from clawmem.model.facts.trust import with_vital_importance
from clawmem.model.proposals.proposition import Proposition
from clawmem.model.records.event import Event

# What a person is and likes holds in every project.
_OF_THE_PERSON = frozenset("preference identity health relationship".split())


def learned_fact(proposition: Proposition, event: Event, fact_id: str, now: str, workflow: str) -> Fact:
    """Return the fact with its evidence.

    `now` is the recording time (ISO 8601 UTC), and `workflow` is the extractor. The quote is cut from the event itself,
    because the extractor may have seen other white space.
    """
    start, end = proposition.span
    fact = Fact(
        fact_id,
        proposition.statement,
        proposition.category,
        now,
        event.source or "conversation",
        subject=proposition.subject,
        predicate=proposition.predicate,
        object=proposition.object,
        relation_phrase=proposition.relation_phrase,
        valid_from=proposition.valid_from,
        valid_to=proposition.valid_to,
        source_event=event.id,
        source_text=event.text[start:end],
        source_span=proposition.span,
        confidence=proposition.confidence,
        importance=proposition.importance,
        trust=proposition.trust,
        agent=event.agent,
        workflow=workflow,
        project=_project_of(proposition, event),
        metadata={"said_at": proposition.said_at} if proposition.said_at else None,
    )
    return fact if proposition.ended else with_vital_importance(fact)


def _project_of(proposition: Proposition, event: Event) -> str | None:
    """Return the project in which it was said, so that no other project sees it; None for what is about the person."""
    project = (event.metadata or {}).get("project")
    return project if isinstance(project, str) and proposition.category not in _OF_THE_PERSON else None
