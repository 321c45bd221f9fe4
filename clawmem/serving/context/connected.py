"""A further pass of a context for a question: facts about the things that the found facts name.

"Where is the company of Jane based?" finds where Jane works; that fact names the company, and the facts about the
company have the rest of the answer. What is found is shown beside the fact that leads to it.
"""

import re
from collections.abc import Collection, Mapping, Sequence
from math import fsum

from clawmem.index.search.by_tier import FactCandidate
from clawmem.index.search.channels import (
    facts_in_rows,
    names_in,
    number_of_facts,
    predicate_channel,
    statements_in_rows,
)
from clawmem.index.search.graph import rows_about_thing, things_named
from clawmem.index.tables.store import Index
from clawmem.index.vectors import facts_by_meaning, has_vectors
from clawmem.model.facts.catalog import Catalog
from clawmem.model.facts.fact import Fact, importance_of
from clawmem.model.facts.reach import scope_of
from clawmem.model.language.question import STOPWORDS, search_words
from clawmem.model.language.text import forms_of, normal
from clawmem.model.named_tuple import NamedTuple
from clawmem.model.pages import context_frame as frame
from clawmem.model.search.ranking import BACKGROUND, meaning_share, word_weight
from clawmem.serving.context.hits import ContextRequest
from clawmem.serving.context.units import ItemReason, TierCounts, tiers_of
from clawmem.vault.vault import Vault

# The first pass and two further ones. A pass starts from so many facts, follows so many of the things that they name,
# and looks at so many facts of each kind about a thing.
LAST_PASS = 3
_BEST = 6
_THINGS = 8
_LOOKED_AT = 30
# What closeness in meaning, rare words and importance are worth beside the part of the question's words in a fact.
_MEANING, _RARITY, _IMPORTANCE = 0.4, 0.3, 0.3
_NOBODY = frozenset(("user", "the user"))
_CAPITALS = re.compile(r"[A-ZÀ-ÖØ-Þ][\w'’-]*(?: [A-ZÀ-ÖØ-Þ][\w'’-]*)*")
_CALENDAR = frozenset(
    "monday tuesday wednesday thursday friday saturday sunday january february march april may june july august"
    " september october november december".split()
)


class ConnectedFact(NamedTuple):
    """A fact about a thing that another fact names: its row, the row of that fact, the thing, how much it is worth
    showing, the part of the question's words that both facts have together, the pass that found it, and whether they
    answer the question together."""

    n: int
    via: int
    thing: str
    worth: float
    covered: float
    at_pass: int
    answers: bool = False


class _Question(NamedTuple):
    """The words of a question with their forms and weights, and the names in it that are known."""

    text: str
    forms: Mapping[str, Sequence[str]]
    weights: Mapping[str, float]
    names: Mapping[str, str | None]


def answering_chain(
    vault: Vault, on: TierCounts, wish: ContextRequest, best: Sequence[FactCandidate]
) -> list[ConnectedFact]:
    """Return the facts that have more of the question together with a found fact than any found fact alone; each
    starts where the one before it ends. Return none if one found fact has all words of the question."""
    index, asked = on.source, _question(on.source, wish.question or "")
    first = [candidate.n for candidate in best[:_BEST]]
    has = _words_in(index, asked, first)
    most = max((_share(asked, words) for words in has.values()), default=0.0)
    if most >= 1.0 or not first:
        return []
    starts, record, chain = _starts(index, asked, first), has, list[ConnectedFact]()
    catalog = vault.catalog_or_none() or Catalog({})
    for at_pass in range(2, LAST_PASS + 1):
        seen = {*starts, *(fact.n for fact in chain)}
        found = _connected(on, wish, asked, starts, seen, {fact.thing for fact in chain})
        covers = _words_in(index, asked, [n for n, _, _ in found])
        things = {thing for _, _, thing in found}
        # The facts with the relation that the question asks for and a thing as their subject.
        exact = {
            thing: predicate_channel(index, f"{asked.text} {thing}", catalog, wish.wanted).scores for thing in things
        }
        scored = [
            ConnectedFact(
                n, via, thing, float(n in exact[thing]), _share(asked, covers[n] | record[via]), at_pass, True
            )
            for n, via, thing in found
        ]
        scored = [
            fact for fact in scored if fact.covered > most or (fact.worth and not (covers[fact.n] <= record[fact.via]))
        ]
        if not scored:
            break
        # Of equal ones, the id decides, since the order of rows depends on the history of the index.
        ids = statements_in_rows(index, [fact.n for fact in scored])
        top = min(scored, key=lambda fact: (-(fact.covered + fact.worth), starts.index(fact.via), ids[fact.n][2]))
        chain.append(top)
        most = max(top.covered, most)
        record = {top.n: covers[top.n] | record[top.via]}
        starts = [top.n]
        if most >= 1.0:
            break
    return chain


def connected_facts(
    vault: Vault, on: TierCounts, wish: ContextRequest, best: Sequence[FactCandidate], known: Collection[int]
) -> list[ConnectedFact]:
    """Return facts about the things that the best found facts name, each thing's best fact first.

    They are ranked by the question's words and meaning, importance, and how rare their words are: what is said of few
    things tells more about one of them than what is said of all. Facts in the rows `known` are left out.
    """
    index, asked = on.source, _question(on.source, wish.question or "")
    first = [candidate.n for candidate in best[:_BEST]]
    found = _connected(on, wish, asked, _starts(index, asked, first), {*known, *first}, ())
    if not found:
        return []
    covers = _words_in(index, asked, [n for n, _, _ in found])
    close: Mapping[int, float] = {}
    if has_vectors(vault):
        close = facts_by_meaning(vault, index, asked.text, wish.wanted).scores
    facts = {n: placed.fact for n, placed in facts_in_rows(index, [n for n, _, _ in found]).items()}
    rare = _rarities(index, facts, [thing for _, _, thing in found])
    scored = []
    for n, via, thing in found:
        share = _share(asked, covers[n])
        meant = meaning_share(close[n]) if n in close else 0.0
        worth = share + _MEANING * meant + _RARITY * rare[n] + _IMPORTANCE * importance_of(facts[n])
        scored.append(ConnectedFact(n, via, thing, worth, share, 2))
    return _in_turns(sorted(scored, key=lambda fact: (-fact.worth, facts[fact.n].id)))


def pass_reasons(
    on: TierCounts, further: Mapping[int, ConnectedFact], shown: Collection[str]
) -> tuple[ItemReason, ...]:
    """Return why each fact of a further pass is in a context, as far as it is shown."""
    facts = facts_in_rows(on.source, list({n for fact in further.values() for n in (fact.n, fact.via)}))
    reasons = []
    for n, other_fact in further.items():
        fact, via = facts[n].fact, facts[other_fact.via].fact.id
        if fact.id in shown:
            factors = {"worth": other_fact.worth, "words": other_fact.covered}
            section = frame.ASKED if other_fact.answers else frame.CONNECTED
            score = other_fact.worth + other_fact.covered * other_fact.answers
            reasons.append(ItemReason(fact.id, section, scope_of(fact), score, factors, other_fact.at_pass, via))
    return tuple(reasons)


def _question(index: Index, text: str) -> _Question:
    names = {name: entity for name, entity in things_named(index, names_in(text)).items() if _is_name(name)}
    forms = {word: forms_of(word) for word in search_words(text)}
    facts = number_of_facts(index)
    weights = {word: word_weight(facts, index.engine.count(each, max(facts, 1))) for word, each in forms.items()}
    return _Question(text, forms, weights, names)


def _is_name(name: str) -> bool:
    return name not in STOPWORDS and name not in _NOBODY


def _words_in(index: Index, asked: _Question, rows: Sequence[int]) -> dict[int, frozenset[str]]:
    """Return which words of the question each fact has."""
    found: dict[int, set[str]] = {n: set() for n in rows}
    for word, forms in asked.forms.items():
        for n in index.engine.having(rows, forms):
            found[n].add(word)
    return {n: frozenset(words) for n, words in found.items()}


def _share(asked: _Question, words: Collection[str]) -> float:
    whole = sum(asked.weights.values())
    return fsum(asked.weights[word] for word in words) / whole if whole else 0.0  # a set has no order


def _starts(index: Index, asked: _Question, rows: Sequence[int]) -> list[int]:
    """Return the facts that mention what the question names; all, if it names nothing that is known."""
    words = {word for name in asked.names for word in name.split()}
    mention = index.engine.having(rows, sorted(words)) if words else set()
    entities = {entity for entity in asked.names.values() if entity}
    places = statements_in_rows(index, rows) if entities else {}
    mention |= {n for n, (_, entity, _) in places.items() if entity in entities}
    return [n for n in rows if n in mention] or list(rows)


def _connected(
    on: TierCounts,
    wish: ContextRequest,
    asked: _Question,
    starts: Sequence[int],
    seen: Collection[int],
    followed: Collection[str],
) -> list[tuple[int, int, str]]:
    """Return the facts about the things that some facts name and the question does not, each with the row of the fact
    that names the thing, and the thing."""
    index = on.source
    placed = facts_in_rows(index, starts)
    named = {n: _names(placed[n].fact) for n in starts}
    known = things_named(index, {name for names in named.values() for name in names})
    places = {entity for entity in asked.names.values() if entity}
    spoken = [*asked.names, *_named_in(asked.text)]
    things: dict[str, int] = {}
    for n in starts:
        capitals = _named_in(placed[n].fact.fact)
        for name in named[n]:
            other = (name in known or name in capitals) and _is_name(name)
            other = other and name not in followed and (known.get(name) or "") not in places
            if other and not any(f" {name} " in f" {text} " for text in spoken):
                things.setdefault(name, n)
    found: dict[int, tuple[int, int, str]] = {}
    for thing in list(things)[:_THINGS]:
        for n in rows_about_thing(index, thing, known.get(thing), wish.wanted, _LOOKED_AT):
            if n not in seen:
                found.setdefault(n, (n, things[thing], thing))
    shown = tiers_of(on, found.keys())
    return [pair for n, pair in found.items() if n in shown]


def _names(fact: Fact) -> list[str]:
    """Return what may name a thing in a fact: its triple, related entities, and its words, longer names first."""
    items = [normal(name) for name in (fact.object, fact.subject, *fact.related_entities) if name]
    return list(dict.fromkeys([*items, *_named_in(fact.fact), *reversed(names_in(fact.fact))]))


def _named_in(text: str) -> list[str]:
    """Return in normal form what a text writes with a capital, without days and months."""
    found = [normal(name).removesuffix("'s").removesuffix("’s") for name in _CAPITALS.findall(text)]
    return [name for name in dict.fromkeys(found) if name not in _CALENDAR and name not in STOPWORDS]


def _rarities(index: Index, facts: Mapping[int, Fact], things: Collection[str]) -> dict[int, float]:
    """Return how rare the words of each fact are on average, from 0 to 1; names do not count."""
    total = number_of_facts(index)
    names = {word for thing in things for word in thing.split()}
    highest = word_weight(total, 0)
    known: dict[str, float] = {}
    rare = {}
    for n, fact in facts.items():
        capitals = {word.strip(".,;:!?").lower() for word in fact.fact.split() if word[:1].isupper()}
        words = [word for word in search_words(fact.fact) if word not in names and word not in capitals]
        for word in words:
            if word not in known:
                known[word] = word_weight(total, index.engine.count(forms_of(word), total + BACKGROUND))
        rare[n] = sum(known[word] for word in words) / len(words) / highest if words else 0.0
    return rare


def _in_turns(found: Sequence[ConnectedFact]) -> list[ConnectedFact]:
    """Return the best fact of each thing, then the second one of each, and so on."""
    places: dict[str, int] = {}
    turns = []
    for fact in found:
        places[fact.thing] = place = places.get(fact.thing, -1) + 1
        turns.append((place, fact))
    return [fact for _, fact in sorted(turns, key=lambda each: each[0])]
