"""The predicate catalog: names of relations, how many values they take, and the questions that ask for them."""

from collections.abc import Mapping, Sequence
from functools import cache, lru_cache
from typing import Any

from clawmem.errors import InvalidInput
from clawmem.model.language.question import COMMON_WORDS, search_words
from clawmem.model.language.text import normal, one_line
from clawmem.model.named_tuple import NamedTuple

VALUE_TYPES = ("text", "person", "place", "organisation", "date", "number", "thing")
CARDINALITIES = ("single", "many")
GAP = "*"
NEWEST, CONFIDENCE, ASK = STRATEGIES = ("newest", "confidence", "ask")
_LONGEST_NAME = 4  # words of a predicate
_KEYS = frozenset(("description", "phrases", "value", "cardinality", "replaces", "questions", "conflict"))


class Predicate(NamedTuple):
    """One relation. `phrases` are other names for it; with `replaces`, a new value retires the old one.

    `questions` are templates: words in order, `*` for any words between them, `a|b` for either word. `description` says
    what the relation means; models that read events are shown it. `conflict` is the strategy for facts that contradict
    each other: newest, confidence or ask.
    """

    name: str
    phrases: tuple[str, ...] = ()
    value: str = "text"
    single: bool = False
    replaces: bool = False
    questions: tuple[str, ...] = ()
    description: str = ""
    conflict: str | None = None


class Catalog(NamedTuple):
    """All known predicates, and the canonical name for the normal form of each phrase."""

    predicates: Mapping[str, Predicate] = {}
    names: Mapping[str, str] = {}


def catalog_from_mapping(mapping: Mapping[str, Any]) -> Catalog:
    """Read the catalog from plain data. Raise InvalidInput, naming the predicate, if an entry is wrong."""
    if not isinstance(mapping, Mapping):
        raise InvalidInput("The predicate catalog must map predicate names to their entries.")
    predicates: dict[str, Predicate] = {}
    names: dict[str, str] = {}
    for name, entry in mapping.items():
        predicate = _predicate(name, entry)
        predicates[predicate.name] = predicate
        for phrase in (name, name.replace("_", " "), *predicate.phrases):
            owner = names.setdefault(_key(phrase), predicate.name)
            if owner != predicate.name:
                raise InvalidInput(f"The phrase '{phrase}' belongs to the predicates '{owner}' and '{name}'.")
    return Catalog(predicates, names)


def canonical_predicate(catalog: Catalog, phrase: str) -> str | None:
    """Return the predicate that a phrase names, or None if it is unknown."""
    key = normal(phrase)
    return catalog.names.get(key) or catalog.names.get(normal(key.replace("_", " ")))


def is_single(catalog: Catalog, predicate: str | None) -> bool:
    """Return whether a subject has at most one current value of the predicate; unknown predicates take many."""
    entry = catalog.predicates.get(predicate or "")
    return entry is not None and entry.single


def is_replaced(catalog: Catalog, predicate: str | None) -> bool:
    """Return whether a new value of the predicate retires the old one."""
    entry = catalog.predicates.get(predicate or "")
    return entry is not None and entry.single and entry.replaces


def predicates_asked(catalog: Catalog, question: str) -> tuple[str, ...]:
    """Return the predicates that a question asks for, in catalog order."""
    words = _words(question)
    known = frozenset(words)
    return tuple(
        predicate.name
        for predicate in catalog.predicates.values()
        if not known.isdisjoint(_last_words(predicate.questions))
        and any(_asks(template, words, known) for template in predicate.questions)
    )


def other_words(catalog: Catalog, question: str) -> dict[str, tuple[str, ...]]:
    """Return what texts may have for the words by which a question asks for predicates: for `due` in "when is it due"
    the phrases of `deadline`."""
    words = _words(question)
    known, found = frozenset(words), dict[str, tuple[str, ...]]()
    for predicate in catalog.predicates.values():
        templates = [template for template in predicate.questions if _asks(template, words, known)]
        if not templates:
            continue  # the words of all phrases take a tenth of a `recall`
        asking = {word for template in templates for run in _runs(template) for choices in run for word in choices}
        names = (predicate.name.replace("_", " "), *predicate.phrases)
        phrases = [name for name in names if not COMMON_WORDS.issuperset(search_words(name))]
        found |= {word: (*found.get(word, ()), *phrases) for word in search_words(question) if word in asking}
    return found


def predicates_called(catalog: Catalog, question: str) -> tuple[str, ...]:
    """Return the predicates that a question of a few words is the name of, in any spelling: "has_deadline"."""
    words = _words(question)
    if not 0 < len(words) <= _LONGEST_NAME:
        return ()
    return tuple(name for name in catalog.predicates if any(_words(each) == words for each in spellings(catalog, name)))


def spellings(catalog: Catalog, name: str) -> frozenset[str]:
    """Return how facts of other programs may write a predicate: its name, also with `has`, and its phrases, each with
    spaces, with underscores, and with capitals in their place."""
    return _spellings((name, f"has {name}", *catalog.predicates[name].phrases))


@cache
def _spellings(phrases: Sequence[str]) -> frozenset[str]:
    found = set()
    for phrase in phrases:
        words = phrase.replace("_", " ").split()
        found |= {" ".join(words), "_".join(words), words[0] + "".join(word.capitalize() for word in words[1:])}
    return frozenset(found)


def _key(phrase: str) -> str:
    """Return the normal form of a phrase, with a fast path for plain words."""
    plain = phrase.isascii() and phrase.replace(" ", "").isalnum()
    return " ".join(phrase.lower().split()) if plain else normal(phrase)


@lru_cache(maxsize=4096)  # the spellings of all predicates
def _words(text: str) -> Sequence[str]:
    cleaned = "".join(letter if letter.isalnum() else " " for letter in normal(text).replace("'s", " "))
    return tuple(cleaned.split())


def _asks(template: str, words: Sequence[str], known: frozenset[str]) -> bool:
    """Return whether the template's words occur in order; words without a gap between them must be adjacent."""
    at = 0
    for wanted in _runs(template):
        for choices in wanted:
            if known.isdisjoint(choices):
                return False
        found = next(
            (start for start in range(at, len(words) - len(wanted) + 1) if _matches(wanted, words, start)), None
        )
        if found is None:
            return False
        at = found + len(wanted)
    return True


@cache
def _last_words(templates: Sequence[str]) -> frozenset[str]:
    ends = (choices for template in templates for choices in template.replace(GAP, " ").split()[-1:])
    return frozenset(word for choices in ends for word in choices.split("|"))


@cache
def _runs(template: str) -> list[list[list[str]]]:
    return [[word.split("|") for word in run.split()] for run in template.split(GAP)]


def _matches(wanted: Sequence[Sequence[str]], words: Sequence[str], start: int) -> bool:
    return all(words[start + place] in choices for place, choices in enumerate(wanted))


def _predicate(name: Any, entry: Any) -> Predicate:
    if not isinstance(name, str) or not name.replace("_", "").isalnum() or name != name.lower():
        raise InvalidInput(f"The predicate name '{name}' must be lower-case letters, digits and underscores.")
    if not isinstance(entry, Mapping):
        raise InvalidInput(f"The predicate '{name}' must be a mapping.")
    unknown = sorted(str(key) for key in entry.keys() - _KEYS)
    if unknown:
        raise InvalidInput(f"The predicate '{name}' has the unknown key '{unknown[0]}'.")
    single = _choice(name, entry, "cardinality", CARDINALITIES, "many") == "single"
    replaces = entry.get("replaces", False)
    if not isinstance(replaces, bool):
        raise InvalidInput(f"The predicate '{name}' must say `replaces: true` or `replaces: false`.")
    if replaces and not single:
        raise InvalidInput(f"The predicate '{name}' replaces its old value, so it must be `cardinality: single`.")
    value = _choice(name, entry, "value", VALUE_TYPES, "text")
    about = entry.get("description") or ""
    if not isinstance(about, str):
        raise InvalidInput(f"The predicate '{name}' must have one sentence as its description.")
    phrases, questions = _texts(name, entry, "phrases"), _texts(name, entry, "questions")
    conflict = _choice(name, entry, "conflict", STRATEGIES, "") if entry.get("conflict") is not None else None
    return Predicate(name, phrases, value, single, replaces, questions, one_line(about), conflict)


def _choice(name: str, entry: Mapping[str, Any], key: str, allowed: Sequence[str], default: str) -> str:
    value = entry.get(key, default)
    if value not in allowed:
        raise InvalidInput(f"The predicate '{name}' has the {key} '{value}'; it must be one of {', '.join(allowed)}.")
    return str(value)


def _texts(name: str, entry: Mapping[str, Any], key: str) -> tuple[str, ...]:
    value = entry.get(key) or ()
    if not isinstance(value, list | tuple) or not all(isinstance(item, str) and item.strip() for item in value):
        raise InvalidInput(f"The predicate '{name}' must list its {key} as texts.")
    return tuple(value)
