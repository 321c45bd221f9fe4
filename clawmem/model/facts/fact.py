"""The fact: one atomic statement with its evidence, superseded and never deleted."""

from collections.abc import Mapping
from typing import Any

from clawmem.model.facts.reach import is_workflow
from clawmem.model.named_tuple import NamedTuple

ACTIVE = "active"
SUPERSEDED = "superseded"
RETRACTED = "retracted"
ARCHIVED = "archived"
STATUSES = (ACTIVE, SUPERSEDED, RETRACTED, ARCHIVED)

REVOKED = "revoked"
"""The key of a retraction's remark that says that the fact was revoked with its origin: no page repeats its words."""

GUARDRAIL = "guardrail"
"""The category of facts that lead an agent's context; a person accepts those of agents."""

TRUSTS = ("user", "agent", "tool", "external")

LINK_TYPES = (
    "supersedes",
    "merges",
    "contradicts",
    "supports",
    "depends_on",
    "derived_from",
    "relates_to",
    "beside",
)
BESIDE = "beside"
"""The type of a link to a fact that a person kept although it contradicts this one: the conflict is settled."""

DEFAULT_CATEGORY = "fact"
DEFAULT_IMPORTANCE = 0.5


class FactLink(NamedTuple):
    """A typed, dated pointer from one fact to another."""

    type: str
    to: str
    reason: str | None = None
    at: str | None = None


class Fact(NamedTuple):
    """One line of `items.json`; the field order is the key order on disk.

    Times are ISO 8601 in UTC. `source_span` is a half-open range of characters in the event's text. `confidence` and
    `importance` are from 0 to 1. `scope`, `workflow` and `project` say which queries see it, see
    `clawmem.model.facts.reach`. `extra` keeps keys that this version does not know.
    """

    id: str
    fact: str
    category: str
    timestamp: str
    source: str
    status: str = ACTIVE
    access_count: int = 0
    last_accessed: str | None = None
    superseded_by: str | None = None
    subject: str | None = None
    predicate: str | None = None
    object: str | None = None
    relation_phrase: str | None = None
    valid_from: str | None = None
    valid_to: str | None = None
    source_event: str | None = None
    source_text: str | None = None
    source_span: tuple[int, int] | None = None
    confidence: float | None = None
    importance: float | None = None
    trust: str | None = None
    agent: str | None = None
    workflow: str | None = None
    scope: str | None = None
    project: str | None = None
    related_entities: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    links: tuple[FactLink, ...] = ()
    details: Mapping[str, Any] | None = None
    metadata: Mapping[str, Any] | None = None
    extra: Mapping[str, Any] = {}

    @property
    def is_current(self) -> bool:
        """Whether the fact is current: active, or archived but not superseded or retracted."""
        return self.status in (ACTIVE, ARCHIVED)


def pointers(fact: Fact) -> list[tuple[str, str]]:
    """Return what a fact refers to, with the kind of reference: facts by id, entities by name."""
    found = [(link.type, link.to) for link in fact.links]
    found += [("related", name) for name in fact.related_entities]
    return [*found, ("superseded_by", fact.superseded_by)] if fact.superseded_by else found


ALWAYS_WRITTEN = Fact._fields[:9]
CANONICAL_KEYS = Fact._fields[:-1]


def importance_of(fact: Fact) -> float:
    """Return the fact's importance, or the default if it has none."""
    return DEFAULT_IMPORTANCE if fact.importance is None else fact.importance


def is_given_by_person(fact: Fact) -> bool:
    """Return whether a person stored this fact themself: no agent did, and no program learned it."""
    typed = fact.trust == "user" or (fact.trust is None and fact.source == "user")
    return typed and fact.agent is None and (fact.workflow is None or is_workflow(fact.workflow))


def is_revoked(fact: Fact) -> bool:
    """Return whether the fact was withdrawn with its origin."""
    remark = (fact.metadata or {}).get("retracted")
    return fact.status == RETRACTED and isinstance(remark, Mapping) and remark.get(REVOKED) is True


def since_or_from(fact: Fact) -> str:
    """Return the word before the begin date: `from` if the fact was recorded before it, else `since`."""
    return "from" if fact.valid_from and fact.valid_from[:10] > fact.timestamp[:10] else "since"
