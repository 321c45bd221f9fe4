"""Rival values: a remembered fact gives a subject a second value of a relation that takes one at a time."""

import re
from collections import defaultdict
from collections.abc import Sequence
from typing import TYPE_CHECKING

from clawmem.errors import ClawmemError
from clawmem.index.search.lookup import all_facts
from clawmem.index.search.rival_values import facts_with_value
from clawmem.memory.scope import WriteScope
from clawmem.model.facts.catalog import ASK, NEWEST
from clawmem.model.facts.claim_check import may_claim
from clawmem.model.facts.fact import ACTIVE, Fact, is_low_trust, trust_rank
from clawmem.model.facts.reach import is_workflow, realm_of
from clawmem.model.facts.stated_value import (
    SinglePhrase,
    StatedValue,
    are_rivals,
    hold_together,
    single_phrases,
    stated_value,
)
from clawmem.model.facts.validity import is_over
from clawmem.model.language.question import STOPWORDS
from clawmem.model.language.text import normal
from clawmem.model.named_tuple import NamedTuple
from clawmem.model.records.change import Change
from clawmem.model.records.entity import owner_of, title_of

if TYPE_CHECKING:
    from clawmem.model.facts.claims import Claim
    from clawmem.model.facts.gates import Settlement
    from clawmem.model.proposals.proposal import Proposal


# What a sentence says that sets something right, or tells that it changed.
_CHANGES = re.compile(
    r"^(?:correction|actually|no|wait|sorry|my mistake|that(?:'s| is| was) wrong|korrektur|nein)\b[,.:;!]|"
    r"\b(?:no longer|any ?more|now|instead|nicht mehr|jetzt|stattdessen)\b|"
    r"\b(?:moved|changed|switched|renamed|postponed|extended|resigned|replaced|stepped down|umgezogen|verschoben)\b|"
    r", (?:and )?(?:not|nicht) (?=\w)",
    re.IGNORECASE,
)
# What a sentence says that something is not: "tea, not coffee".
_INSTEAD_OF = re.compile(
    r"(?:, (?:and |but )?(?:not|nicht|no longer)|\b(?:instead of|rather than|(?:an)?statt)) (?P<old>[^,.;:()]+)",
    re.IGNORECASE,
)
_BESIDE = re.compile(r"\b(?:too|also|as well|in addition|besides|auch|außerdem|zusätzlich)\b", re.IGNORECASE)
_REASON = re.compile(r"\b(?:because|since|as|so that|weil|damit)\b")
# A thing uses, has and needs many things: these verbs do not make one value follow another.
_MANY = frozenset("use using uses used utilise need have has run benutzt nutzt verwendet braucht".split())
_MOST_MEANT = 3


def _telling(text: str) -> set[str]:
    """Return the words of a text that tell something, without endings; the speaker is one of them."""
    words = {normal(word).removesuffix("'s") for word in re.findall(r"[\w'.,-]*\w", text)}
    speaker = {"user"} if words & {"i", "i'm", "i've", "my", "me", "user", "ich", "mein", "meine"} else set()
    return {word.removesuffix("s") for word in words - _MANY if word not in STOPWORDS and len(word) > 1} | speaker


def _values_replaced(text: str) -> list[set[str]]:
    """Return the words of each value that a sentence puts another one in the place of."""
    return [_telling(_REASON.split(found["old"])[0]) for found in _INSTEAD_OF.finditer(text)]


def _in_common(known: set[str], words: set[str], replaced: list[set[str]]) -> int:
    """Return how many telling words a known fact shares with a change; none if the change names another value."""
    named = [bool(value & known) for value in replaced]
    return 0 if replaced and not any(named) else len(words & known) + sum(named)


class ValueConflict(NamedTuple):
    """A new fact, the current facts that its value stands against, and what becomes of them.

    `proposal` asks a person. It is None if the strategy of the relation or of the workflow settled the conflict."""

    fact: Fact
    rivals: tuple[Fact, ...]
    settlement: "Settlement"
    proposal: "Proposal | None" = None


class RivalValueFinder:
    """Finds the rival values of new facts during one write. The words of an entity's facts are read once."""

    def __init__(self, work: WriteScope) -> None:
        self._work = work
        self._user = work.vault.settings.words("user.name")
        self._phrases: tuple[SinglePhrase, ...] | None = None
        self._stated: dict[str, dict[tuple[str, str], list[Fact]]] = {}
        self._signs: dict[str, bool] = {}
        self._claimed: dict[str, dict[tuple[str, ...], list[tuple[Fact, Claim]]]] = {}
        self._new: list[Fact] = []
        self._telling: list[tuple[set[str], Fact]] = []

    def find(self, fact: Fact, entity: str, known: Sequence[Fact]) -> tuple[Fact, ...]:
        """Return the current facts that a new one stands against, oldest first.

        `known` are the facts of its entity without the new one; they are read by their words too.
        """
        self._new.append(fact)
        found = self._by_value(fact, entity, known)
        found += [by_word for by_word in self._by_words(fact, entity, known) if by_word not in found]
        return tuple(sorted(found, key=lambda other_fact: (other_fact.timestamp, other_fact.id)))

    def may_be_replaced(self, fact: Fact) -> list[Fact]:
        """Return the current facts that a new one may replace: it reads as a correction or a change, and they share
        two telling words with it, or the speaker and one. A change that names the value it replaces means only facts
        with that value, and what comes beside the rest replaces nothing. Those with the most are returned."""
        text = fact.fact.replace("’", "'")
        if not _CHANGES.search(text) or _BESIDE.search(text):
            return []
        agent = self._work.caller.agent
        stored = [] if self._telling else all_facts(self._work.index)
        known = [placed.fact for placed in stored if owner_of(placed.entity) in (None, agent)] + self._new[:-1]
        self._telling += [(_telling(each.fact), each) for each in known if each.status == ACTIVE]
        self._new = [fact]
        words, replaced = _telling(_CHANGES.sub(" ", text)), _values_replaced(text)
        shared = [(_in_common(others, words, replaced), each) for others, each in self._telling
                  if realm_of(each) == realm_of(fact) and not is_over(each, fact.timestamp)]  # fmt: skip
        most = max((number for number, _ in shared), default=0)
        return [each for number, each in shared if number == most > 1][:_MOST_MEANT]

    def relation(self, fact: Fact) -> str | None:
        """Return the relation of the value that a fact states, or None."""
        value = self._value(fact)
        return value.predicate if value else fact.predicate

    def _by_words(self, fact: Fact, entity: str, known: Sequence[Fact]) -> list[Fact]:
        """Return the facts of the entity that the plain words of a new one contradict."""
        if entity not in self._signs:
            self._signs[entity] = any(may_claim(fact.fact) for fact in known if fact.is_current)
        self._signs[entity] = self._signs[entity] or may_claim(fact.fact)
        if not self._signs[entity]:
            return []
        from clawmem.model.facts.claims import claims_of, contradict  # most facts claim nothing

        title = title_of(entity)
        if entity not in self._claimed:
            self._claimed[entity] = defaultdict(list)
            for other_fact in known:
                self._note_claims(other_fact, entity, title)
        ours = claims_of(fact.fact, title, fact.timestamp)
        against = [
            each
            for claim in ours
            for each, other in self._claimed[entity].get(claim.about, ())
            if contradict(claim, other) and self._both_hold(each, fact)
        ]
        self._note_claims(fact, entity, title)
        return against

    def _note_claims(self, fact: Fact, entity: str, title: str) -> None:
        from clawmem.model.facts.claims import claims_of

        for claim in claims_of(fact.fact, title, fact.timestamp) if fact.is_current else ():
            self._claimed[entity][claim.about].append((fact, claim))

    def _by_value(self, fact: Fact, entity: str, known: Sequence[Fact]) -> list[Fact]:
        value = self._value(fact)
        if value is None:
            return []
        owner = owner_of(entity) or ""
        subjects = {value.subject, f"the {value.subject}"}
        subjects |= {"user", normal(self._user)} if value.subject == "the user" else set()
        placed = facts_with_value(self._work.index, owner, subjects, value.predicate)
        found = {each.fact.id: each.fact for each in placed if each.entity != entity}
        found |= {fact.id: fact for fact in self._of_entity(entity, known).get(value[:2], ())}
        self._of_entity(entity, known).setdefault(value[:2], []).append(fact)
        return [each for each in found.values() if self._contradicts(each, fact, value)]

    def _contradicts(self, other_fact: Fact, fact: Fact, message: StatedValue) -> bool:
        value = self._value(other_fact) if self._both_hold(other_fact, fact) else None
        return value is not None and are_rivals(value, message)

    def _both_hold(self, other_fact: Fact, fact: Fact) -> bool:
        """Return whether a known fact and a new one are true together; what is over stands against nothing."""
        begins = fact.valid_from or fact.timestamp
        over = not other_fact.is_current or is_over(other_fact, begins) or is_over(fact, fact.timestamp)
        return not over and realm_of(other_fact) == realm_of(fact) and hold_together(other_fact, fact)

    def _value(self, fact: Fact) -> StatedValue | None:
        """Return the value that a fact states; the user's name means the user."""
        value = stated_value(fact, self._all_phrases())
        return value._replace(subject="the user") if value and value.subject == normal(self._user) else value

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


def strategy_for(work: WriteScope, fact: Fact, relation: str | None, rivals: Sequence[Fact]) -> tuple[str, str]:
    """Return the strategy for the conflicts of a fact, and what sets it: its relation, else its workflow.

    Where neither does, a later value from the same voice or a more trusted one wins, if the relation has values that
    are replaced; else a person is asked."""
    try:
        entry = work.vault.catalog.predicates.get(relation or "")
    except ClawmemError:
        entry = None
    if entry is not None and entry.conflict is not None:
        return entry.conflict, f"the relation {entry.name}"
    if fact.workflow and is_workflow(fact.workflow):
        from clawmem.model.records.task import parse_workflow, workflow_path  # few facts have one
        from clawmem.vault.strict_yaml import parse_yaml

        path = workflow_path(fact.workflow)
        data = work.read(path)
        found = parse_workflow(data, path, parse_yaml).conflicts if data is not None else None
        if found is not None:
            return found, f"the workflow {fact.workflow}"
    if entry is not None and entry.single and entry.replaces and all(_outlives(fact, rival) for rival in rivals):
        return NEWEST, f"the relation {relation}"
    return ASK, f"the relation {relation}" if relation else "nothing else is set, so it"


def _outlives(new: Fact, old: Fact) -> bool:
    """Return whether a statement plainly replaces an older one: it is true from a later moment on, and it comes from
    the same person or agent, or from a more trusted one."""
    more = trust_rank(new.trust) - trust_rank(old.trust)
    later = (new.valid_from or new.timestamp) > (old.valid_from or old.timestamp)
    return later and not is_low_trust(new.trust) and (more > 0 or (more == 0 and new.agent == old.agent))


def ask_about(
    work: WriteScope, fact: Fact, entity: str, rivals: Sequence[Fact], settlement: "Settlement", relation: str | None
) -> ValueConflict:
    """Return the conflict of a new fact, with the question for a person."""
    from clawmem.model.merging.collisions import supersede_proposal  # few facts have rivals
    from clawmem.model.merging.fields import VALUES, MergeConflict

    names = " and ".join(rival.id for rival in rivals)
    why = f"It contradicts {names}: only one of them can be true. All stay active until this is decided."
    asked = supersede_proposal(MergeConflict(VALUES, "", fact.id, why), (*rivals, fact), why, entity)
    details = {"relation": relation} if relation else None
    asked = asked._replace(created=fact.timestamp, agent=work.caller.agent, details=details)
    return ValueConflict(fact, tuple(rivals), settlement, asked)


def with_question(change: Change, conflict: ValueConflict) -> Change:
    """Return the change that stores a fact, with the question about it in the same commit."""
    from clawmem.memory.proposals import with_proposals

    return with_proposals(change, [conflict.proposal] if conflict.proposal else [])


def with_closed_questions(
    work: WriteScope, change: Change, winner: Fact, gone: Sequence[str], settlement: "Settlement"
) -> Change:
    """Return the change that settles a conflict, with the open questions that it answers closed for the same reason."""
    from clawmem.memory.conflicts import with_answered_questions
    from clawmem.model.language.dates import stamp
    from clawmem.model.proposals.proposal import BY_STRATEGY, ReviewDecision

    by = f"{BY_STRATEGY}{settlement.strategy}"
    decided = ReviewDecision(by, stamp(work.caller.now), settlement.why, winner=winner.id)
    return with_answered_questions(work, change, gone, decided)
