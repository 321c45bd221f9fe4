"""Relations the catalog does not know: mapped where a phrase of it fits, proposed for it where a pattern is strong."""

from __future__ import annotations

import json
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence

from clawmem.index.search.lookup import PLACED, placed
from clawmem.index.tables.store import Index
from clawmem.model.facts.catalog import Catalog, Predicate, canonical_predicate
from clawmem.model.facts.fact import Fact
from clawmem.model.language.text import normal
from clawmem.model.proposals.proposal import CatalogEntry
from clawmem.model.proposals.proposition import Proposition

ENOUGH = 3
# A wrong guess of one value makes every further value a conflict, so it takes more.
ENOUGH_SUBJECTS = 5
_LONGEST = 4
# One verb in the present: a state that lasts. What somebody did once ("went", "won") is no relation.
_PRESENT = re.compile(r"[a-z]{3,}[^su]s")
_EMPTY = frozenset(
    "has does goes gets takes makes says comes thinks feels tries seems looks means wants needs knows keeps gives "
    "sees hopes finds lets puts shows tells asks hears plans starts stops begins spends becomes "
    "is was are be have had do did".split()
)
_NAME = re.compile(r"[^a-z0-9]+")


def mapped(proposition: Proposition, catalog: Catalog, by_model: bool) -> Proposition:
    """The proposition with the predicate that the catalog has for its phrase, where it has none of its own."""
    phrase = proposition.relation_phrase
    if proposition.predicate or not proposition.object or not phrase or not lasting(phrase, by_model):
        return proposition
    return proposition._replace(predicate=canonical_predicate(catalog, phrase))


def lasting(phrase: str, by_model: bool) -> bool:
    """Whether a relation phrase names a relation: a model was asked for one, the rules give the verb of the clause,
    of which only one in the present tells of a state."""
    if by_model:
        return phrase not in _EMPTY and predicate_name(phrase).count("_") < _LONGEST
    return _PRESENT.fullmatch(phrase) is not None and phrase not in _EMPTY


class UnknownPredicates:
    """Relations met in a round that the catalog does not know: by a name that it lacks, by a phrase that has no
    predicate, and by a phrase that a model took for a predicate it does not list it under."""

    def __init__(self, catalog: Catalog) -> None:
        self._catalog = catalog
        self._met: dict[tuple[str | None, str | None], list[Fact]] = defaultdict(list)

    def met(self, fact: Fact, by_model: bool) -> None:
        """Take notice of a new fact's relation."""
        predicate, phrase = fact.predicate, fact.relation_phrase
        if not fact.subject or not fact.object:
            return
        if predicate and predicate not in self._catalog.predicates:
            self._met[predicate, None].append(fact)
        elif phrase and (by_model or predicate is None) and self._is_new(phrase, by_model):
            self._met[predicate, phrase].append(fact)

    def _is_new(self, phrase: str, by_model: bool) -> bool:
        return lasting(phrase, by_model) and canonical_predicate(self._catalog, phrase) is None

    def entries(self, index: Index) -> list[tuple[CatalogEntry, Fact, int]]:
        """What deserves to be in the catalog because three facts or more show it, each with its newest fact and
        their number."""
        found = []
        for (predicate, phrase), fresh in self._met.items():
            facts = list({normal(one.fact): one for one in (*_standing(index, predicate, phrase), *fresh)}.values())
            name = predicate or predicate_name(phrase or "")
            if len(facts) >= ENOUGH and name == predicate_name(name):
                known = self._catalog.predicates.get(name)
                entry = more_for(known, phrase or "", facts) if known else entry_for(name, facts)
                found.append((entry, facts[-1], len(facts)))
        return found


def predicate_name(phrase: str) -> str:
    """A phrase as the name of a predicate: lower case, words joined by underscores."""
    return _NAME.sub("_", normal(phrase)).strip("_")


def entry_for(name: str, facts: Sequence[Fact]) -> CatalogEntry:
    """The entry that some facts suggest. One value at a time is guessed where at least five subjects have one each."""
    phrases = dict.fromkeys(one.relation_phrase for one in facts if one.relation_phrase)
    words = tuple(one for one in phrases if one and predicate_name(one) != name)
    questions = tuple(f"* {word}" for word in dict.fromkeys((name.replace("_", " "), *words)))
    predicate = Predicate(name, words, single=_one_each(facts), questions=questions)
    return CatalogEntry(predicate, _example(facts))


def more_for(known: Predicate, phrase: str, facts: Sequence[Fact]) -> CatalogEntry:
    """The entry that gives a predicate of the catalog one more phrase."""
    return CatalogEntry(Predicate(known.name, (phrase,)), _example(facts))


def said_of(entry: CatalogEntry, catalog: Catalog) -> str:
    """What an entry adds to the catalog, in a sentence."""
    one = entry.predicate
    if one.name in catalog.predicates:
        return f"Take '{', '.join(one.phrases)}' for the relation '{one.name}'."
    return f"Know the relation '{one.name}', which takes {'one value' if one.single else 'many values'}."


def shape_of(entry: CatalogEntry) -> tuple[str, ...]:
    """What tells entries apart: the name, and the phrases where it is one of a predicate that is known."""
    one = entry.predicate
    return (one.name,) if one.questions else (one.name, *one.phrases)


def _example(facts: Sequence[Fact]) -> str:
    return f'As in "{facts[-1].fact.rstrip(".")}".'


def _one_each(facts: Iterable[Fact]) -> bool:
    values = {(normal(one.subject or ""), normal(one.object or "")) for one in facts}
    counts = Counter(subject for subject, _ in values)
    return len(counts) >= ENOUGH_SUBJECTS and max(counts.values()) == 1


def _standing(index: Index, predicate: str | None, phrase: str | None) -> list[Fact]:
    """The facts that stand with exactly this predicate (or none) and this phrase (or any)."""
    quoted = f'"relation_phrase": {json.dumps(phrase, ensure_ascii=False)}' if phrase else ""
    rows = index.database.execute(
        f"SELECT {PLACED} FROM fact WHERE predicate IS ? AND status IN ('active', 'archived')"
        " AND instr(line, ?) ORDER BY n",
        (predicate, quoted),
    )
    return [fact for fact in (placed(row).fact for row in rows) if phrase in (None, fact.relation_phrase)]
