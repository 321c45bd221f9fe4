"""Condensation: several cold claims of one entity and topic become one richer claim."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator
from datetime import datetime
from typing import NamedTuple

from clawmem.model.facts.catalog import Catalog, is_single
from clawmem.model.facts.draft import UNSET_ID
from clawmem.model.facts.fact import ACTIVE, Fact, FactLink, is_given_by_person
from clawmem.model.facts.pulled import origin_of
from clawmem.model.facts.reach import realm_of
from clawmem.model.language.text import LONGEST_FACT, normal
from clawmem.model.lifecycle.chain import CONDENSED
from clawmem.model.lifecycle.tiers import COLD, tier_of
from clawmem.model.proposals.quarantine import quarantine_rule

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


def is_condensable(fact: Fact, now: datetime) -> bool:
    """Return whether a claim may become a part of another one: it is active, cold and without an end, no person stored
    it, it is not in quarantine, and it is neither a decision nor a rule. A copy of a fact of the organisation follows
    its origin, so it becomes a part of nothing."""
    if origin_of(fact) is not None:
        return False
    if fact.status != ACTIVE or fact.valid_to is not None or fact.category in _KEPT:
        return False
    return tier_of(fact, now) == COLD and not is_given_by_person(fact) and not quarantine_rule(fact)


def clusters(
    placed: Iterable[tuple[Fact, str]], now: datetime, fewest: int, without: Collection[str] = ()
) -> list[Cluster]:
    """Return the groups of at least `fewest` claims (fact, entity) that may become one: those that were accessed most
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
        if len(free) >= fewest:
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
    begins = {_before_value(fact) for fact in cluster.facts}
    begin = begins.pop()
    if begins or begin is None:
        return None
    values = list({normal(fact.object or ""): fact.object or "" for fact in cluster.facts}.values())
    if any(_JOINED.search(value) or value[0].isdigit() for value in values):
        return None
    joint = values[0] if len(values) == 1 else f"{', '.join(values[:-1])} and {values[-1]}"
    text = f"{_words_before_value(first)}{joint}."
    if len(text) > LONGEST_FACT:
        return None
    return condensed(cluster, text)._replace(
        subject=first.subject, predicate=first.predicate, object=joint, relation_phrase=first.relation_phrase
    )


def condensed(cluster: Cluster, text: str) -> Fact:
    """Return the claim with these words in place of a group: with the tags, entities and links of all of it, its lowest
    confidence, its highest importance, and its latest begin."""
    facts, first = cluster.facts, cluster.facts[0]
    sure = [fact.confidence for fact in facts if fact.confidence is not None]
    weights = [fact.importance for fact in facts if fact.importance is not None]
    return Fact(
        UNSET_ID,
        text,
        first.category,
        "",
        SOURCE,
        valid_from=max((fact.valid_from for fact in facts if fact.valid_from), default=None),
        confidence=min(sure, default=None),
        importance=max(weights, default=None),
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


def _before_value(fact: Fact) -> str | None:
    before = _words_before_value(fact)
    return None if before is None else normal(before)


def _words_before_value(fact: Fact) -> str | None:
    text, value = fact.fact.rstrip(". "), fact.object or ""
    if not value or not text.casefold().endswith(f" {value.casefold()}"):
        return None
    return text[: len(text) - len(value)]


def _united(items: Iterable[tuple[str, ...]]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(word for words in items for word in words))
