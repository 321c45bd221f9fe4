"""Pairs of active facts that stand against each other: by their values, by their words, or linked as contrary; and the
words of a question with the forms in which texts may have them.
"""

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from itertools import islice
from typing import TYPE_CHECKING

from clawmem.index.search.channels import facts_in_rows
from clawmem.index.search.rival_values import (
    RivalValue,
    StatementRow,
    ended_rows,
    entities_with_claims,
    find_rival_values,
    kept_beside,
    linked_as_contrary,
    rows_of_ids,
    statements_about,
)
from clawmem.index.tables.fact_marks import disputed_with
from clawmem.index.tables.store import Index
from clawmem.model.facts.catalog import Catalog, is_single, other_words
from clawmem.model.facts.claim_check import may_claim, may_deny
from clawmem.model.language.dates import covers, end_of
from clawmem.model.language.languages import has_characters, irregular_forms, languages_of, root, rows, words_of
from clawmem.model.language.question import COMMON_WORDS, proper_names, search_words
from clawmem.model.language.text import forms_of, normal, plain
from clawmem.model.named_tuple import NamedTuple
from clawmem.model.records.entity import title_of

if TYPE_CHECKING:
    from clawmem.model.facts.claims import Claim


def conflicting_ids(
    index: Index, owners: Collection[str], catalog: Catalog, moment: str, ids: Mapping[int, str]
) -> dict[str, tuple[str, ...]]:
    """Return the ids of the active facts that stand against some active facts at a moment, by id.

    `ids` are the facts by row. Facts without a conflict are left out.
    """
    pairs = [
        (number, other) for number, other in conflicting_pairs(index, owners, catalog, moment, ids) if number in ids
    ]
    placed = facts_in_rows(index, sorted({n for _, n in pairs} - ids.keys()))
    named = {**ids, **{n: other_placed.fact.id for n, other_placed in placed.items()}}
    found: dict[str, list[str]] = {}
    for text, other in (*((ids[n], named[m]) for n, m in pairs), *_disputed(index, ids.values())):
        found.setdefault(text, []).append(other)
    return {text: tuple(dict.fromkeys(others)) for text, others in found.items()}


def _disputed(index: Index, ids: Collection[str]) -> list[tuple[str, str]]:
    """Return the pairs of ids that an open proposal puts in dispute, without those kept beside each other."""
    pairs = disputed_with(index, ids)
    if not pairs:
        return []
    rows = {fact_id: n for n, fact_id in rows_of_ids(index, {text for pair in pairs for text in pair}).items()}
    settled = kept_beside(index, rows.values())
    return [(text, other) for text, other in pairs if (rows.get(text), rows.get(other)) not in settled]


def conflicting_pairs(
    index: Index, owners: Collection[str], catalog: Catalog, moment: str, ids: Mapping[int, str]
) -> Iterable[tuple[int, int]]:
    """Return the pairs of rows that stand against each other at a moment, at least one of them given.

    Pairs that a person kept beside each other are left out."""
    pairs = list(_contrary_pairs(index, owners, catalog, moment, ids))
    settled = kept_beside(index, {n for pair in pairs for n in pair}) if pairs else set()
    return [pair for pair in pairs if pair not in settled]


def _contrary_pairs(
    index: Index, owners: Collection[str], catalog: Catalog, moment: str, ids: Mapping[int, str]
) -> Iterable[tuple[int, int]]:
    single = [name for name in catalog.predicates if is_single(catalog, name)]
    for group in find_rival_values(index, owners, single, ids):
        kind = catalog.predicates[group[0].predicate].value
        true = [value for value in group if covers(value.valid_from, value.valid_to, moment)]
        yield from (
            (value.n, other.n) for value in true if value.n in ids for other in true if _differ(value, other, kind)
        )
    yield from _by_words(index, owners, moment, ids)
    linked = linked_as_contrary(index, owners, ids)
    over = ended_rows(index, {n for pair in linked for n in pair}, end_of(moment)) if linked else set()
    for number, other in linked:
        # A fact that is over and its replacement do not contradict each other.
        if (number in over) is (other in over):
            yield from ((number, other), (other, number))


def _by_words(index: Index, owners: Collection[str], moment: str, ids: Iterable[int]) -> Iterable[tuple[int, int]]:
    """Yield the pairs of facts about one entity whose plain words contradict each other at a moment."""
    group = set(ids)
    # Most facts deny nothing and have no number; what reads the words takes milliseconds to load.
    entities = entities_with_claims(index, group)
    if not entities:
        return
    from clawmem.model.facts.claims import contradict

    rivals: dict[tuple[str, ...], list[tuple[int, Claim]]] = {}
    for row, claims in _claiming(statements_about(index, entities, owners), group, moment):
        for claim in claims:
            rivals.setdefault((row.entity, *claim.about), []).append((row.n, claim))
    pairs = [
        (number, other)
        for same in rivals.values()
        if len(same) > 1
        for number, ours in same
        for other, theirs in same
        if number != other and (number in group or other in group) and contradict(ours, theirs)
    ]
    yield from dict.fromkeys(pairs)


def _claiming(
    rows: Iterable[StatementRow], group: Collection[int], moment: str
) -> "Iterable[tuple[StatementRow, Sequence[Claim]]]":
    """Yield the facts that are true at a moment with what they claim: those of the group, and those that may
    contradict one of it. Others are not read, which takes most of the time."""
    from clawmem.model.facts.claims import claims_of

    def read(row: StatementRow) -> "Sequence[Claim]":
        return claims_of(row.statement, title_of(row.entity), row.timestamp)

    true = [row for row in rows if covers(row.valid_from, row.valid_to, moment)]
    claims = {
        row.n: read(row) for row in true if may_deny(row.statement) or (row.n in group and may_claim(row.statement))
    }
    tested: dict[str, list[Claim]] = {}
    for row in true:
        tested.setdefault(row.entity, []).extend(claims.get(row.n, ()))
    for row in true:
        if row.n in claims:
            yield row, claims[row.n]
        elif any(claim.may_contradict(row.statement) for claim in tested[row.entity]):
            yield row, read(row)


def _differ(other_value: RivalValue, other: RivalValue, kind: str) -> bool:
    """Return whether two facts give their subject values that cannot both be true.

    A fact without an object is compared by its statement.
    """
    if other_value.object and other.object:
        from clawmem.model.facts.stated_value import are_exclusive

        return normal(other_value.object) != normal(other.object) and are_exclusive(
            kind, other_value.object, other.object
        )
    if other_value.object or other.object:
        value, statement = (
            normal(other_value.object or other.object or ""),
            normal(other_value.statement or other.statement or ""),
        )
        return re.search(rf"(?<!\w){re.escape(value)}(?!\w)", statement) is None
    return normal(other_value.statement or "") != normal(other.statement or "")


# So many letters are looked for, and so many at the end of a word may be an ending that the index does not keep.
_BEGIN, _ENDING = 2, 3
_ENDINGS = ("", "e", "y", "s")
# With fewer letters, two words that differ in this way are often both meant: `plane` and `planet`, `Marta` and `Maria`.
_SWAPPED, _MORE_OR_FEWER, _OTHER = 5, 6, 7
_AN_ENDING = re.compile(r"(?:[aeinosy]|e[dmnrs]|er[ns]|i(?:es|ng|on)|al|ly)$")  # with a slip, the rest is no ending
_HEARD = re.compile(r"(\w)\1|y|c(?=[eiy]|$)|[oa]r$", re.MULTILINE)
_HEARD_AS = {"y": "i", "c": "s", "or": "er", "ar": "er"}


def with_slips_mended(index: Index, question: str, unknown: Collection[str]) -> tuple[str, dict[str, str]]:
    """Return a question with each of some words that no text has as the word that it nearly is, and these words."""
    meant = {}
    for word in unknown:
        if len(word) >= _SWAPPED and word.isalpha() and (near := _nearest(index, word)):
            meant[word] = near
    words = [meant.get(written.strip(".,;:!?\"'()").lower(), written) for written in question.split()]
    return " ".join(words), meant


def _nearest(index: Index, word: str) -> str | None:
    """Return the word of any text that differs from this one in one letter, the one with most letters; else the only
    one that begins with it and has few letters more."""
    begins = {word[:_BEGIN], word[1::-1], word[0] + word[2]}  # two of the first three letters may be swapped
    terms = {
        term for engine in (index.engine, index.passage_engine) for begin in begins for term in engine.terms(begin)
    }
    terms |= {f"{term[:-1]}y" for term in terms if term.endswith("i")}  # the stem of `birthday` is `birthdai`
    slips = (term for term in terms if _may_be_slip(word, term) and _is_slip(word, term))
    near = sorted(slips, key=lambda term: (len(term), term), reverse=True)
    alike = _sounding_alike(word, [term for term in terms if len(term) >= _SWAPPED])
    near += alike if len(alike) == 1 else []
    begun = [term for term in terms if term.startswith(word) and 1 < len(term) - len(word) <= _ENDING]
    near += begun if len(begun) == 1 else []
    return next((text for term in near for text in written_forms(index, term)), None)


def _sounding_alike(word: str, terms: Sequence[str]) -> list[str]:
    """Return the terms that a word is as it is heard, perhaps with an ending: `alergic`, `boyler`, `spruse`."""
    if len(word) < _MORE_OR_FEWER:
        return []
    heard, *meant = _HEARD.sub(lambda found: _HEARD_AS.get(found[0], found[0][0]), "\n".join((word, *terms))).split(
        "\n"
    )
    begun = tuple(heard[:end] for end in range(len(heard) - _ENDING, len(heard) + 1))
    return [term for term, sound in zip(terms, meant, strict=True) if sound in begun]


def written_forms(index: Index, term: str) -> list[str]:
    """Return a word that finds the texts with a term of the index; a stem is not always one: `greenhous`."""
    engines = (index.engine, index.passage_engine)
    written = (f"{term}{ending}" for ending in _ENDINGS)
    return next(([text] for text in written if any(engine.count((text,), 1) for engine in engines)), [])


def _may_be_slip(word: str, term: str) -> bool:
    """Return whether a term has a length that `_is_slip` accepts, and the first letters of the word or else its last
    ones: a slip is in one place only."""
    near = max(_SWAPPED, len(word) - _ENDING - 1) <= len(term) <= len(word) + 1
    return near and (term.startswith(word[:_LETTERS]) or term[_LETTERS + 1 :] in word)


def _is_slip(word: str, term: str) -> bool:
    """Return whether a word is a term with one letter more, fewer, swapped or other, perhaps without its ending."""
    if _one_off(word, term):
        return True
    ends = range(len(word) - _ENDING, len(word)) if len(term) >= _MORE_OR_FEWER else ()
    return any(word[:end] == term or (_AN_ENDING.match(word, end) and _one_off(word[:end], term)) for end in ends)


def _one_off(word: str, term: str) -> bool:
    short, long = sorted((word, term), key=len)
    at = next(
        (place for place, (text, other) in enumerate(zip(short, long, strict=False)) if text != other), len(short)
    )
    if len(long) == len(short) + 1:
        return len(short) >= _MORE_OR_FEWER and short[at:] == long[at + 1 :]
    if len(long) != len(short) or short == long:
        return False
    swapped = short[at : at + 2] == long[at : at + 2][::-1] and short[at + 2 :] == long[at + 2 :]
    return (swapped and len(short) >= _SWAPPED) or (len(short) >= _OTHER and short[at + 1 :] == long[at + 1 :])


# So many letters are the same in all regular forms of a word, and so many terms that begin with them are read.
_LETTERS = 3
_MOST_TERMS, _MOST_FORMS = 2_000, 12
# The shortest parts of a compound word.
_PART = 4
# Among so many texts with a phrase, one with the name of the question is looked for.
_MOST_NAMING = 200


class AskedForms(NamedTuple):
    """The search words of a question with the forms of each, and the words that tell little in its language."""

    forms: Mapping[str, Sequence[str]]
    common: frozenset[str] = COMMON_WORDS


def asked_forms(index: Index, question: str, catalog: Catalog | None = None) -> AskedForms:
    """Return the words of a question with their forms. Of Chinese and Japanese words, only those that a text has."""
    languages, words = languages_of(question), search_words(question)
    if not languages:
        names = proper_names(question)
        also = other_words(catalog, question) if catalog else {}
        also = {word: phrases for word, phrases in also.items() if _says_of(index, phrases, names)}
        return AskedForms({word: tuple(dict.fromkeys((*forms_of(word), *also.get(word, ())))) for word in words})
    common = COMMON_WORDS.union(*(words_of(code, "stop", "everyday") for code in languages))
    if has_characters(question):
        known = [word for word in words if _is_known(index, word)]
        return AskedForms({word: (word,) for word in known or words}, common)
    return AskedForms({word: _forms(index, word, languages) for word in words}, common)


def _says_of(index: Index, phrases: Sequence[str], names: Collection[str]) -> bool:
    """Return whether a text has one of some phrases and one of some names; true where there are no names."""
    engines, whom = (index.engine, index.passage_engine), tuple(names)
    return not names or any(
        engine.having([match.n for match in engine.search(phrases, _MOST_NAMING)], whom) for engine in engines
    )


def _forms(index: Index, word: str, languages: Sequence[str]) -> tuple[str, ...]:
    """Return a word with the terms of the index that have its stem in one of the languages, or are parts of it."""
    found = dict.fromkeys([word, *(form for code in languages for form in irregular_forms(code, word))])
    for code in languages:
        found.update(dict.fromkeys(islice(_related(index, word, code), _MOST_FORMS)))
        if "joints" in rows(code) and word.isalpha():
            found.update(dict.fromkeys(_parts(index, word, rows(code)["joints"].split())))
    return tuple(found)


def _related(index: Index, word: str, code: str) -> Iterator[str]:
    if len(word) < _LETTERS or not word.isalpha():
        return
    roots = {root(code, word), root(code, plain(word))}
    begins = {word[:_LETTERS], plain(word)[:_LETTERS], *(stem[:_LETTERS] for stem in roots)}
    if begin := rows(code).get("participle"):
        begins |= {f"{begin}{stem}"[:_LETTERS] for stem in roots}
    whole = plain(word) if "joints" in rows(code) and len(word) > _PART else None
    for term in _terms(index, begins):
        if root(code, term) in roots or (whole is not None and term.startswith(whole)):
            yield from written_forms(index, term)


def _terms(index: Index, begins: set[str]) -> Iterator[str]:
    terms = {
        term
        for engine in (index.engine, index.passage_engine)
        for begin in begins
        for term in islice(engine.terms(begin), _MOST_TERMS)
    }
    yield from sorted(terms)


def _parts(index: Index, word: str, joints: Sequence[str]) -> list[str]:
    """Return the parts of a compound word that texts have by themselves: `wohnung` and `miete` of `wohnungsmiete`."""
    for at in range(_PART, len(word) - _PART + 1):
        head, tail = word[:at], word[at:]
        if _is_known(index, tail):
            ends = [head, *(head.removesuffix(joint) for joint in joints if head.endswith(joint))]
            return [tail, *(end for end in ends if len(end) >= _PART - 1 and _is_known(index, end))]
    return []


def _is_known(index: Index, word: str) -> bool:
    return any(engine.count((word,), 1) for engine in (index.engine, index.passage_engine))
