"""Rival values: a remembered fact gives a subject a second value of a relation that takes one at a time."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from typing import NamedTuple

from clawmem.errors import ClawmemError
from clawmem.index.search.rival_values import facts_with_value
from clawmem.memory.scope import WriteScope
from clawmem.model.facts.fact import Fact
from clawmem.model.facts.reach import realm_of
from clawmem.model.facts.stated_value import (
    SinglePhrase,
    StatedValue,
    are_rivals,
    hold_together,
    single_phrases,
    stated_value,
)
from clawmem.model.facts.validity import is_over
from clawmem.model.language.text import normal
from clawmem.model.proposals.proposal import Proposal
from clawmem.model.records.change import Change
from clawmem.model.records.entity import owner_of


class ValueConflict(NamedTuple):
    """A new fact, the current facts that its value stands against, and the proposal that asks a person."""

    fact: Fact
    rivals: tuple[Fact, ...]
    proposal: Proposal


class RivalValueFinder:
    """Finds the rival values of new facts during one write. The words of an entity's facts are read once."""

    def __init__(self, work: WriteScope) -> None:
        self._work = work
        self._user = work.vault.settings.words("user.name")
        self._phrases: tuple[SinglePhrase, ...] | None = None
        self._stated: dict[str, dict[tuple[str, str], list[Fact]]] = {}

    def find(self, fact: Fact, entity: str, known: Sequence[Fact]) -> tuple[Fact, ...]:
        """Return the current facts that a new one stands against, oldest first.

        `known` are the facts of its entity without the new one; they are read by their words too.
        """
        said = self._value(fact)
        if said is None:
            return ()
        owner = owner_of(entity) or ""
        subjects = {said.subject, f"the {said.subject}"}
        subjects |= {"user", normal(self._user)} if said.subject == "the user" else set()
        placed = facts_with_value(self._work.index, owner, subjects, said.predicate)
        found = {one.fact.id: one.fact for one in placed if one.entity != entity}
        found |= {one.id: one for one in self._of_entity(entity, known).get(said[:2], ())}
        self._of_entity(entity, known).setdefault(said[:2], []).append(fact)
        against = [one for one in found.values() if self._contradicts(one, fact, said)]
        return tuple(sorted(against, key=lambda one: (one.timestamp, one.id)))

    def _contradicts(self, one: Fact, fact: Fact, said: StatedValue) -> bool:
        begins = fact.valid_from or fact.timestamp
        if not one.is_current or is_over(one, begins) or is_over(fact, fact.timestamp):
            return False  # what is over stands against nothing
        value = self._value(one)
        return (
            realm_of(one) == realm_of(fact)
            and value is not None
            and are_rivals(value, said)
            and hold_together(one, fact)
        )

    def _value(self, fact: Fact) -> StatedValue | None:
        """Return the value that a fact states; the user's name means the user."""
        said = stated_value(fact, self._all_phrases())
        return said._replace(subject="the user") if said and said.subject == normal(self._user) else said

    def _all_phrases(self) -> tuple[SinglePhrase, ...]:
        if self._phrases is None:
            try:
                self._phrases = single_phrases(self._work.vault.catalog)
            except ClawmemError:
                self._phrases = ()  # without a catalog no relation is known to take one value
        return self._phrases

    def _of_entity(self, entity: str, known: Sequence[Fact]) -> dict[tuple[str, str], list[Fact]]:
        if entity not in self._stated:
            found: dict[tuple[str, str], list[Fact]] = defaultdict(list)
            for fact in known:
                value = self._value(fact) if fact.is_current else None
                if value:
                    found[value[:2]].append(fact)
            self._stated[entity] = found
        return self._stated[entity]


def ask_about(work: WriteScope, fact: Fact, entity: str, rivals: Sequence[Fact]) -> ValueConflict:
    """Return the conflict of a new fact, with the question for a person."""
    from clawmem.model.merging.facts.rivals import supersede_proposal  # few facts have rivals
    from clawmem.model.merging.policy import VALUES, MergeConflict

    names = " and ".join(one.id for one in rivals)
    why = f"It contradicts {names}: the relation takes one value at a time. All stay active until this is decided."
    asked = supersede_proposal(MergeConflict(VALUES, "", fact.id, why), (*rivals, fact), why, entity)
    return ValueConflict(fact, tuple(rivals), asked._replace(created=fact.timestamp, agent=work.caller.agent))


def with_question(change: Change, conflict: ValueConflict) -> Change:
    """Return the change that stores a fact, with the question about it in the same commit."""
    from clawmem.memory.review.proposals import proposal_trailers, proposal_writes

    asked = [conflict.proposal]
    return change._replace(
        writes={**change.writes, **proposal_writes(asked)}, trailers=(*change.trailers, *proposal_trailers(asked))
    )
