"""The words of a question with the forms in which texts may have them: of another language, what has the same stem."""

from collections.abc import Iterator, Mapping, Sequence
from itertools import islice

from clawmem.index.search.conflicts import written_forms
from clawmem.index.tables.store import Index
from clawmem.model.language.languages import has_characters, irregular_forms, languages_of, root, rows, words_of
from clawmem.model.language.question import COMMON_WORDS, search_words
from clawmem.model.language.text import forms_of, plain
from clawmem.model.named_tuple import NamedTuple

# So many letters are the same in all regular forms of a word, and so many terms that begin with them are read.
_BEGIN = 3
_MOST_TERMS, _MOST_FORMS = 2_000, 12
# The shortest parts of a compound word.
_PART = 4


class AskedForms(NamedTuple):
    """The search words of a question with the forms of each, and the words that tell little in its language."""

    forms: Mapping[str, Sequence[str]]
    common: frozenset[str] = COMMON_WORDS


def asked_forms(index: Index, question: str) -> AskedForms:
    """Return the words of a question with their forms. Of Chinese and Japanese words, only those that a text has."""
    languages, words = languages_of(question), search_words(question)
    if not languages:
        return AskedForms({word: forms_of(word) for word in words})
    common = COMMON_WORDS.union(*(words_of(code, "stop", "everyday") for code in languages))
    if has_characters(question):
        known = [word for word in words if _is_known(index, word)]
        return AskedForms({word: (word,) for word in known or words}, common)
    return AskedForms({word: _forms(index, word, languages) for word in words}, common)


def _forms(index: Index, word: str, languages: Sequence[str]) -> tuple[str, ...]:
    """Return a word with the terms of the index that have its stem in one of the languages, or are parts of it."""
    found = dict.fromkeys([word, *(form for code in languages for form in irregular_forms(code, word))])
    for code in languages:
        found.update(dict.fromkeys(islice(_related(index, word, code), _MOST_FORMS)))
        if "joints" in rows(code) and word.isalpha():
            found.update(dict.fromkeys(_parts(index, word, rows(code)["joints"].split())))
    return tuple(found)


def _related(index: Index, word: str, code: str) -> Iterator[str]:
    if len(word) < _BEGIN or not word.isalpha():
        return
    roots = {root(code, word), root(code, plain(word))}
    begins = {word[:_BEGIN], plain(word)[:_BEGIN], *(stem[:_BEGIN] for stem in roots)}
    if begin := rows(code).get("participle"):
        begins |= {f"{begin}{stem}"[:_BEGIN] for stem in roots}
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
