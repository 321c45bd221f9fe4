"""Condense cold facts: several of one entity and topic become one fact that merges them, and they are archived."""

from __future__ import annotations

import hashlib
import re
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any, NamedTuple

from clawmem.errors import StorageFailed
from clawmem.heartbeat.queue import QueueKind
from clawmem.index.refresh import run_query
from clawmem.index.search.lookup import PlacedFact, by_ids, unused_since
from clawmem.llm.choice import prompt
from clawmem.llm.presets import ModelTask, checked_answer
from clawmem.memory.facts.remember import FactPlanner, without_secrets
from clawmem.memory.proposals import read_proposals
from clawmem.memory.quarantine import ProposalWriter, QuarantineReason
from clawmem.memory.scope import WriteScope
from clawmem.memory.writing import writing
from clawmem.model.facts.catalog import Catalog, is_single
from clawmem.model.facts.draft import Draft
from clawmem.model.facts.fact import ACTIVE, ARCHIVED, UNSET_ID, Fact, FactLink, is_given_by_person
from clawmem.model.facts.pulled import origin_of
from clawmem.model.facts.reach import realm_of
from clawmem.model.language.dates import stamp
from clawmem.model.language.text import LONGEST_FACT, counted, normal, one_line
from clawmem.model.lifecycle.chain import CONDENSED
from clawmem.model.lifecycle.tiers import COLD, RECENCY, tier_of
from clawmem.model.proposals.proposal import APPROVED, MERGE, OPEN, Proposal
from clawmem.model.proposals.quarantine import quarantine_rule
from clawmem.model.records.caller import Caller
from clawmem.model.records.change import Change, subject_line, trailers
from clawmem.model.safety.recalled_text import without_closing_marks
from clawmem.vault.disk import append_line
from clawmem.vault.vault import Vault
from clawmem.work.session_end_records import joined

# A person is asked about so many groups at a time, those that are used most first.
MOST_OPEN = 3
# So many cold facts of one entity and topic become one.
FEWEST = 5
# Groups that a model declined, so that it is not asked and paid again for the same group.
_DECLINED = "condense-declined"
WHY = "These cold facts are about one topic. Approve one fact in their place, with better words if you like."
_SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {"claim": {"type": ["string", "null"]}},
    "required": ["claim"],
    "additionalProperties": False,
}


class CondenseResult(NamedTuple):
    """The new facts, the facts archived for them, the new proposals, and the commit."""

    facts: tuple[PlacedFact, ...] = ()
    archived: tuple[str, ...] = ()
    proposals: tuple[Proposal, ...] = ()
    commit: str | None = None
    notices: tuple[str, ...] = ()


def condense(vault: Vault, caller: Caller, dry_run: bool = False, asks: bool = True) -> CondenseResult:
    """Condense the groups of at least FEWEST cold facts, in one commit; those that were accessed most come
    first. Running it again changes nothing.

    Rules do it where the result is certain. Other groups wait for a reader, who answers `condensing_tasks`, or if
    `asks` is true, they are proposed to a person, a few at a time."""
    found = find_clusters(vault, caller.now)
    if not found:
        return CondenseResult()
    planned = _plan(vault, found, asks)
    if dry_run:
        facts = tuple(PlacedFact(fact, cluster.entity) for cluster, fact in planned if fact)
        return CondenseResult(facts, tuple(old.id for cluster, fact in planned if fact for old in cluster.facts))
    if not planned:
        return CondenseResult()
    with writing(vault, caller, "condense") as work:
        return _write(work, planned)._replace(notices=work.notices)


def find_clusters(vault: Vault, now: datetime) -> list[Cluster]:
    """Return the groups that can be condensed now. Groups that wait for a person, or were rejected, are left out."""
    decided = {
        target.id
        for proposal in read_proposals(vault).proposals
        if proposal.does == MERGE and proposal.status != APPROVED
        for target in proposal.targets
    }
    # Nothing is cold before this.
    since = stamp(now - timedelta(days=RECENCY[-1][2]))
    placed = run_query(vault, lambda index: unused_since(index, since))
    return clusters(((other_placed.fact, other_placed.entity) for other_placed in placed), now, decided)


def _plan(vault: Vault, found: Sequence[Cluster], asks: bool) -> list[_Planned]:
    catalog = vault.catalog_or_none() or Catalog({})
    planned = [(cluster, certain_claim(cluster, catalog)) for cluster in found]
    waiting = sum(proposal.does == MERGE and proposal.status == OPEN for proposal in read_proposals(vault).proposals)
    asked = [pair for pair in planned if pair[1] is None][: max(0, MOST_OPEN - waiting) if asks else 0]
    return [pair for pair in planned if pair[1] is not None or pair in asked]


def condensing_tasks(vault: Vault, now: datetime) -> list[ModelTask]:
    """Return a task for each group of cold facts that rules cannot join, and that no reader has declined."""
    return [_task(group) for group in _open_groups(vault, now)]


def apply_condensing(vault: Vault, caller: Caller, key: str, answer: Mapping[str, Any]) -> CondenseResult | None:
    """Join a group of cold facts with an agent's answer to a task of `condensing_tasks`. Return None if no such task
    waits."""
    cluster = next((group for group in _open_groups(vault, caller.now) if _task(group).key == key), None)
    if cluster is None:
        return None
    fact = _joined(vault, cluster, checked_answer(_task(cluster), answer))
    if fact is None:
        return CondenseResult()
    with writing(vault, caller, "condense") as work:
        return _write(work, [(cluster, fact)])


def condensation() -> QueueKind:
    """Return the kind of the tasks to join cold facts."""
    return QueueKind("condense", "groups of cold facts to join",
                     lambda vault, caller: condensing_tasks(vault, caller.now),
                     apply_condensing, _condensed)  # fmt: skip


def _condensed(result: CondenseResult) -> list[str]:
    joined = [f"joined {counted(len(result.archived), 'fact')}: {placed.fact.fact}" for placed in result.facts]
    return joined or ["joined nothing; these facts are not asked about again"]


def _open_groups(vault: Vault, now: datetime) -> list[Cluster]:
    catalog = vault.catalog_or_none() or Catalog({})
    # A lost file only means that the model is asked once more.
    declined = (vault.disk.read(vault.state / _DECLINED) or b"").decode(errors="replace").split()
    found = find_clusters(vault, now)
    return [
        cluster for cluster in found if certain_claim(cluster, catalog) is None and group_key(cluster) not in declined
    ]


def _task(cluster: Cluster) -> ModelTask:
    statements = "\n".join(f"- {without_closing_marks(fact.fact)}" for fact in cluster.facts)
    return ModelTask("condense", prompt("condense"), f"<statements>\n{statements}\n</statements>", _SCHEMA)


def _joined(vault: Vault, cluster: Cluster, answer: Mapping[str, Any]) -> Fact | None:
    """Return the fact that a reader writes in place of a group. If it declines or loses a name or a number, return None
    and do not ask again."""
    text = one_line(answer["claim"] or "")
    if not text or len(text) > LONGEST_FACT or lost_words(cluster, text):
        _record_declined(vault, group_key(cluster))
        return None
    return condensed(cluster, text)


def _record_declined(vault: Vault, key: str) -> None:
    """Remember a declined group by its key. Raise StorageFailed if the disk does not take it."""
    try:
        vault.prepare_state()
        append_line(vault.state / _DECLINED, f"{key}\n".encode())
    except OSError as problem:
        raise StorageFailed(f"The answer of the model was not stored: {problem.strerror}.", "Check the disk.") from None


def group_key(cluster: Cluster) -> str:
    """Return a key that changes with the facts of a group and with their words."""
    text = "\n".join(f"{fact.id} {fact.fact}" for fact in cluster.facts)
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def _write(work: WriteScope, planned: Sequence[_Planned]) -> CondenseResult:
    planner, writer = FactPlanner(work), None
    facts, archived, proposals, changes = list[PlacedFact](), list[str](), list[Proposal](), list[Change]()
    for cluster, fact in planned:
        olds = _unchanged(work, cluster)
        if olds is None:
            continue
        if fact is None:
            writer = writer or ProposalWriter(work)
            asked = condensed(cluster, draft_of_proposal(cluster))._replace(links=())
            filed = writer.file(asked, cluster.entity, QuarantineReason("fact", WHY), MERGE, cluster.facts)
            proposals += [filed.proposal] if filed.change else []
            changes += [filed.change] if filed.change else []
            continue
        dated = tuple(link._replace(at=stamp(work.caller.now)) for link in fact.links)
        draft = without_secrets(work.vault, Draft(fact._replace(links=dated), cluster.entity))
        stored, change = planner.plan(draft)
        changes += [change] if change else []
        if stored.outcome == "proposed":
            continue
        facts.append(PlacedFact(stored.fact, stored.entity))
        archived += [old.fact.id for old in olds]
        for old in olds:
            writes = planner.amend(old, status=ARCHIVED)
            changes.append(Change(f"archive: {old.fact.fact}", writes, (("Fact", old.fact.id),)))
    if not changes:
        return CondenseResult()
    words = f"{counted(len(archived), 'cold fact')} into {len(facts)}"
    if not facts:
        words = f"{counted(len(proposals), 'group')} of cold facts proposed"
    entities = sorted({placed.entity for placed in facts})
    change = Change(subject_line("condense", "facts", words), {}, trailers("condense", entities=entities))
    commit = work.commit([joined(changes, change)])[-1]
    return CondenseResult(tuple(facts), tuple(archived), tuple(proposals), commit)


def _unchanged(work: WriteScope, cluster: Cluster) -> list[PlacedFact] | None:
    """Return the facts of a group, or None if one of them changed since the group was read, or cannot be written."""
    record = by_ids(work.index, [fact.id for fact in cluster.facts])
    same = [
        placed
        for fact in cluster.facts
        if (placed := record.get(fact.id)) is not None
        and (placed.fact.status, placed.fact.fact) == (ACTIVE, fact.fact)
        and placed.entity == cluster.entity
        and work.is_readable(placed.entity)
    ]
    return same if len(same) == len(cluster.facts) else None


SOURCE = "condensation"
MOST = 20
"""The most claims that one claim takes in."""
# Their exact words count.
_KEPT = frozenset(("decision", "guardrail", "instruction", "rule"))
_JOINED = re.compile(r"[,;]|\b(?:and|or|not|no|only|than)\b", re.IGNORECASE)
_TELLING = re.compile(r"\d+(?:[.,:]\d+)*|\b[A-Z][\w'-]*")


class Cluster(NamedTuple):
    """Cold claims of one entity and topic, oldest first. `demand` is how often they were accessed together."""

    entity: str
    topic: str
    facts: tuple[Fact, ...]

    @property
    def demand(self) -> int:
        """Return how often the claims were accessed."""
        return sum(fact.access_count for fact in self.facts)


_Planned = tuple[Cluster, Fact | None]
"""A group, and the fact in its place (None: a person is asked)."""


def is_condensable(fact: Fact, now: datetime) -> bool:
    """Return whether a claim may become a part of another one: it is active, cold and without an end, no person stored
    it, it is not in quarantine, and it is neither a decision nor a rule. A copy of a fact of the organisation follows
    its origin, so it becomes a part of nothing."""
    if origin_of(fact) is not None:
        return False
    if fact.status != ACTIVE or fact.valid_to is not None or fact.category in _KEPT:
        return False
    return tier_of(fact, now) == COLD and not is_given_by_person(fact) and not quarantine_rule(fact)


def clusters(placed: Iterable[tuple[Fact, str]], now: datetime, without: Collection[str] = ()) -> list[Cluster]:
    """Return the groups of at least FEWEST claims (fact, entity) that may become one: those that were accessed most
    come first. Claims of one group have the same scope, trust, agent and category. The topic is the subject with the
    predicate, else a tag. Each claim is in at most one group; ids in `without` are in none."""
    groups: dict[tuple[str, ...], list[Fact]] = defaultdict(list)
    for fact, entity in placed:
        if fact.id in without or not is_condensable(fact, now):
            continue
        place = (entity, realm_of(fact), fact.trust or "", fact.agent or "", fact.category)
        if fact.subject and fact.predicate and fact.object:
            groups[(*place, f"{normal(fact.subject)} {fact.predicate}")].append(fact)
        for tag in fact.tags:
            groups[(*place, f"#{tag}")].append(fact)
    found, taken = list[Cluster](), set[str]()
    for key in sorted(groups, key=lambda group: (group[-1].startswith("#"), -len(groups[group]), group)):
        free = sorted(
            (group for group in groups[key] if group.id not in taken), key=lambda other_fact: other_fact.timestamp
        )
        if len(free) >= FEWEST:
            found.append(Cluster(key[0], key[-1].removeprefix("#"), tuple(free[:MOST])))
            taken.update(other_fact.id for other_fact in free[:MOST])
    return sorted(found, key=lambda cluster: (-cluster.demand, cluster.entity, cluster.topic))


def certain_claim(cluster: Cluster, catalog: Catalog) -> Fact | None:
    """Return the claim that says exactly what all claims of a group say, or None if rules cannot find it.

    They can if subject and predicate are the same, the predicate takes several values, and the statements differ only
    in a plain value at their end: "Ada likes tea." and "Ada likes milk." become "Ada likes tea and milk."."""
    first = cluster.facts[0]
    if len({(normal(fact.subject or ""), fact.predicate) for fact in cluster.facts}) > 1 or not first.object:
        return None
    if is_single(catalog, first.predicate):
        return None
    begins = [_words_before_value(fact) for fact in cluster.facts]
    if None in begins or len({normal(begin or "") for begin in begins}) > 1:
        return None
    values = list({normal(fact.object or ""): fact.object or "" for fact in cluster.facts}.values())
    if any(_JOINED.search(value) or value[0].isdigit() for value in values):
        return None
    joint = values[0] if len(values) == 1 else f"{', '.join(values[:-1])} and {values[-1]}"
    text = f"{begins[0]}{joint}."
    if len(text) > LONGEST_FACT:
        return None
    return condensed(cluster, text)._replace(
        subject=first.subject, predicate=first.predicate, object=joint, relation_phrase=first.relation_phrase
    )


def condensed(cluster: Cluster, text: str) -> Fact:
    """Return the claim with these words in place of a group: with the tags, entities and links of all of it, its lowest
    confidence, its highest importance, and its latest begin."""
    facts, first = cluster.facts, cluster.facts[0]
    return Fact(
        UNSET_ID,
        text,
        first.category,
        "",
        SOURCE,
        valid_from=max((fact.valid_from for fact in facts if fact.valid_from), default=None),
        confidence=min([fact.confidence for fact in facts if fact.confidence is not None], default=None),
        importance=max([fact.importance for fact in facts if fact.importance is not None], default=None),
        trust=first.trust,
        agent=first.agent,
        workflow=first.workflow,
        scope=first.scope,
        project=first.project,
        related_entities=_united(fact.related_entities for fact in facts),
        tags=_united(fact.tags for fact in facts),
        links=tuple(FactLink("merges", fact.id, CONDENSED) for fact in facts),
    )


def draft_of_proposal(cluster: Cluster) -> str:
    """Return the words with which a group is proposed to a person: its statements one after the other."""
    words: list[str] = []
    for fact in cluster.facts:
        text = fact.fact if fact.fact.endswith((".", "!", "?")) else f"{fact.fact}."
        if sum(map(len, words)) + len(words) + len(text) <= LONGEST_FACT:
            words.append(text)
    return " ".join(dict.fromkeys(words))


def lost_words(cluster: Cluster, text: str) -> list[str]:
    """Return the numbers and names of a group that a text in its place does not contain, each once."""
    message = text.casefold()
    telling = (word for fact in cluster.facts for word in _telling(fact.fact))
    return list(dict.fromkeys(word for word in telling if word.casefold() not in message))


def _telling(statement: str) -> Iterator[str]:
    for found in _TELLING.finditer(statement):
        if found.start() > 0 or found[0][0].isdigit():  # any word is capitalised at the beginning
            yield found[0]


def _words_before_value(fact: Fact) -> str | None:
    text, value = fact.fact.rstrip(". "), fact.object or ""
    if not value or not text.casefold().endswith(f" {value.casefold()}"):
        return None
    return text[: len(text) - len(value)]


def _united(items: Iterable[tuple[str, ...]]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(word for words in items for word in words))
