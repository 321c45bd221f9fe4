"""Relations that are not in the catalog: map them to a known predicate, or propose a new one after three facts."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence

from clawmem.index.search.lookup import current_facts_with
from clawmem.index.tables.store import Index
from clawmem.model.facts.catalog import Catalog, Predicate, canonical_predicate
from clawmem.model.facts.fact import Fact
from clawmem.model.language.text import normal
from clawmem.model.proposals.proposal import CatalogEntry
from clawmem.model.proposals.proposition import Proposition

MIN_FACTS = 3
# A wrongly guessed single value turns every further value into a conflict, so the guess needs more facts.
MIN_SUBJECTS = 5
_MAX_UNDERSCORES = 4
# One verb in the present tense: a lasting state. A single past action ("went", "won") is not a relation.
_PRESENT = re.compile(r"[a-z]{3,}[^su]s")
_EMPTY = frozenset(
    "has does goes gets takes makes says comes thinks feels tries seems looks means wants needs knows keeps gives "
    "sees hopes finds lets puts shows tells asks hears plans starts stops begins spends becomes "
    "is was are be have had do did".split()
)
_NAME = re.compile(r"[^a-z0-9]+")


def map_predicate(proposition: Proposition, catalog: Catalog, by_model: bool) -> Proposition:
    """Return the proposition with the catalog's predicate for its relation phrase, if it has no predicate."""
    phrase = proposition.relation_phrase
    if proposition.predicate or not proposition.object or not phrase or not is_lasting(phrase, by_model):
        return proposition
    return proposition._replace(predicate=canonical_predicate(catalog, phrase))


def is_lasting(phrase: str, by_model: bool) -> bool:
    """Return whether a relation phrase names a lasting relation.

    A model returns relations. The rules return the verb of the clause, and only the present tense means a state.
    """
    if by_model:
        return phrase not in _EMPTY and predicate_name(phrase).count("_") < _MAX_UNDERSCORES
    return _PRESENT.fullmatch(phrase) is not None and phrase not in _EMPTY


class UnknownPredicates:
    """The relations seen in a round that are not in the catalog.

    These are unknown predicate names, phrases without a predicate, and phrases that a model used for a predicate that
    does not list them.
    """

    def __init__(self, catalog: Catalog) -> None:
        self._catalog = catalog
        self._seen: dict[tuple[str | None, str | None], list[Fact]] = defaultdict(list)

    def add(self, fact: Fact, by_model: bool) -> None:
        """Record the relation of a new fact if it is unknown."""
        predicate, phrase = fact.predicate, fact.relation_phrase
        if not fact.subject or not fact.object:
            return
        if predicate and predicate not in self._catalog.predicates:
            self._seen[predicate, None].append(fact)
        elif phrase and (by_model or predicate is None) and self._is_new(phrase, by_model):
            self._seen[predicate, phrase].append(fact)

    def _is_new(self, phrase: str, by_model: bool) -> bool:
        return is_lasting(phrase, by_model) and canonical_predicate(self._catalog, phrase) is None

    def entries(self, index: Index) -> list[tuple[CatalogEntry, Fact, int]]:
        """Return the catalog entries that three or more facts support, each with its newest fact and their number."""
        found = []
        for (predicate, phrase), fresh in self._seen.items():
            facts = list(
                {normal(fact.fact): fact for fact in (*current_facts_with(index, predicate, phrase), *fresh)}.values()
            )
            name = predicate or predicate_name(phrase or "")
            if len(facts) >= MIN_FACTS and name == predicate_name(name):
                known = self._catalog.predicates.get(name)
                entry = phrase_entry(known, phrase or "", facts) if known else predicate_entry(name, facts)
                found.append((entry, facts[-1], len(facts)))
        return found


def predicate_name(phrase: str) -> str:
    """Return the phrase as a predicate name: lower case, words joined by underscores."""
    return _NAME.sub("_", normal(phrase)).strip("_")


def predicate_entry(name: str, facts: Sequence[Fact]) -> CatalogEntry:
    """Return a new entry derived from facts. It is single-valued if at least five subjects have one value each."""
    phrases = dict.fromkeys(fact.relation_phrase for fact in facts if fact.relation_phrase)
    words = tuple(phrase for phrase in phrases if phrase and predicate_name(phrase) != name)
    questions = tuple(f"* {word}" for word in dict.fromkeys((name.replace("_", " "), *words)))
    predicate = Predicate(name, words, single=_has_one_value_each(facts), questions=questions)
    return CatalogEntry(predicate, _example(facts))


def phrase_entry(known: Predicate, phrase: str, facts: Sequence[Fact]) -> CatalogEntry:
    """Return an entry that adds a phrase to a known predicate."""
    return CatalogEntry(Predicate(known.name, (phrase,)), _example(facts))


def describe_entry(entry: CatalogEntry, catalog: Catalog) -> str:
    """Return a sentence that says what an entry adds to the catalog."""
    predicate = entry.predicate
    if predicate.name in catalog.predicates:
        return f"Add the phrase '{', '.join(predicate.phrases)}' to the relation '{predicate.name}'."
    return f"Add the relation '{predicate.name}', which takes {'one value' if predicate.single else 'many values'}."


def entry_key(entry: CatalogEntry) -> tuple[str, ...]:
    """Return the key of an entry: its name, and its phrases if the predicate is already known."""
    predicate = entry.predicate
    return (predicate.name,) if predicate.questions else (predicate.name, *predicate.phrases)


def _example(facts: Sequence[Fact]) -> str:
    return f'As in "{facts[-1].fact.rstrip(".")}".'


def _has_one_value_each(facts: Iterable[Fact]) -> bool:
    values = {(normal(fact.subject or ""), normal(fact.object or "")) for fact in facts}
    counts = Counter(subject for subject, _ in values)
    return len(counts) >= MIN_SUBJECTS and max(counts.values()) == 1
