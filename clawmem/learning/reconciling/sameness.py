"""Compare two statements about one subject: repetition, more detail, denial, ending."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache

from clawmem.learning.english.words import SMALL
from clawmem.model.language.irregular import irregular_verbs
from clawmem.model.language.text import normal

_TOKEN = re.compile(r"(?<![.+#@/-])(?:[.+#@/-]*+\w++)++[+#]*+")
_VERSION = re.compile(r"v(?=\d)")
_BASES = {form: base for base, forms in irregular_verbs().items() for form in (base, *forms)}
_NEVER = re.compile(
    r"\bnever (?P<what>.+?)"
    r"(?: (?:or|before|yet|so far|in (?:the|this|my|our|their) (?:project|app|code|codebase|life|career))\b|[.,]?$)"
)
_STOPPED = re.compile(
    r"^(?:.{1,60}? )?(?:(?:(?:has |have )?(?:stopped|quit|given up|gave up)|no longer) (?P<deed>.+?)|"
    r"(?:has |have )?(?:cancelled|canceled|called off|scrapped) (?P<plan>.+?)|"
    r"(?:does|do) not (?P<habit>.+?) any ?more)(?: any ?more| altogether| completely| for good)?[.!]?$"
)
# A habit or a state starts with a verb in the present tense.
_NOW = re.compile(
    r"^(?:(?:usually|often|always|normally|regularly|also|still|both|and|others) )*(?:is|are|has|[a-z]+s)\b"
)
_ANY = frozenset(("any", "ever", "single", "yet", "actually", "even"))
_NEGATION = re.compile(
    r"\b(?:no longer|no|not|never|neither|nor|none|nobody|nothing|nowhere|cannot|without|hardly|barely|scarcely|"
    r"nicht|kein\w*|nie|niemals|nirgends|niemand|ohne|"
    r"(?:ai|are|ca|could|did|do|does|had|has|have|is|might|must|need|should|was|were|wo|would)n['’]?t)\b",
    re.IGNORECASE,
)
_SAID_ASIDE = 3  # words
_ENOUGH = 4  # words in common
_MOST = 0.75  # of the shorter statement


def contradicts(new: str, old: str) -> bool:
    """Whether one statement negates more than the other: then they cannot say the same, whatever words they share."""
    return negations(new) != negations(old)


def negations(text: str) -> int:
    """How many negations a statement has."""
    return len(_NEGATION.findall(text))


def adds_nothing(new: str, known: Iterable[str]) -> bool:
    """Return whether the known objects name every thing in the new object, and it says little else.

    If the new object has a version, its other words may differ.
    """
    names, rest = _named(new)
    if not names:
        return False
    all_names: set[str] = set()
    all_rest: set[str] = set()
    for one in known:
        old_names, old_rest = _named(one)
        all_names |= old_names
        all_rest |= old_rest
    versioned = any(letter.isdigit() for name in names for letter in name) and len(rest) <= _SAID_ASIDE
    return (versioned or rest <= all_rest) and all(_known(name, all_names) for name in names)


def is_more_detailed(new: str, old: str) -> bool:
    """Return whether the new object names everything in the old one and has all its other words."""
    names, rest = _named(new)
    old_names, old_rest = _named(old)
    return bool(old_names) and old_rest <= rest and all(_known(name, names) for name in old_names)


def is_contained(new: str, old: str, subject: str) -> bool:
    """Return whether the old statement has all content words of the new one, and the same negation and tense."""
    ours, theirs, about = _stems(new), _stems(old), _stems(subject)
    if ours & _TURNING != theirs & _TURNING:
        return False
    return len(ours - about) >= 2 and ours - about <= theirs


def denies(denial: str, statement: str, subject: str) -> bool:
    """Return whether `denial` says that what `statement` says never happened."""
    denied = _NEVER.search(denial)
    if denied is None or _NEVER.search(statement):
        return False
    theirs = _stems(statement)
    # Using something implies that it was added.
    theirs = theirs | {_root("make")} if _root("use") in theirs else theirs
    ours = _stems(denied["what"]) - _stems(subject) - _ANY
    return len(ours) >= 2 and ours <= theirs and not theirs & _TURNING


def ends(ending: str, statement: str, subject: str, planned: bool) -> bool:
    """Return whether `ending` says that the activity or plan in `statement` is over.

    `planned` says that `statement` is a plan; only plans can be cancelled.
    """
    over = _STOPPED.match(ending)
    if over is None or (over["plan"] and not planned) or not _NOW.match(statement.removeprefix(subject).lstrip()):
        return False
    ours = _stems(over["deed"] or over["plan"] or over["habit"]) - _stems(subject)
    theirs = _stems(statement) - _stems(subject)
    enough = len(ours) >= 2 or ours == theirs
    return bool(ours) and enough and ours <= theirs and not theirs & (_TURNING - {"plan"})


def is_similar(new: str, old: str, subject: str) -> bool:
    """Return whether two statements share most words, and the new one adds no name and no number."""
    ours, theirs, about = _stems(new), _stems(old), _stems(subject)
    if ours & _TURNING != theirs & _TURNING:
        return False
    names, _ = _named(new.split(" ", 1)[-1])
    ours, theirs = ours - about, theirs - about
    shared = len(ours & theirs)
    enough = shared >= _ENOUGH and shared >= _MOST * min(len(ours), len(theirs))
    return enough and names - about <= theirs and _numbers(ours) <= _numbers(theirs)


def _numbers(words: Iterable[str]) -> frozenset[str]:
    return frozenset(word for word in words if any(letter.isdigit() for letter in word))


def _known(name: str, names: Iterable[str]) -> bool:
    return any(other == name or other.startswith(name + ".") for other in names)


@lru_cache(maxsize=65536)
def _named(text: str) -> tuple[frozenset[str], frozenset[str]]:
    """Return the named things in an object (with capitals or digits), and its other content words."""
    names, rest = set(), set()
    for token in _TOKEN.findall(text):
        word = token.strip("./-")
        if not word or word.lower() in SMALL:
            continue
        if word.lower() not in _GENERAL and any(letter.isupper() or letter.isdigit() for letter in word):
            names.add(_VERSION.sub("", normal(word)))
        else:
            stem = _stem(word)
            if stem not in _GENERAL and word not in _GENERAL:
                rest.add(stem)
    return frozenset(names), frozenset(rest)


@lru_cache(maxsize=65536)
def _stems(text: str) -> frozenset[str]:
    words = (_VERSION.sub("", normal(token).removesuffix("'s").strip("./-")) for token in _TOKEN.findall(text))
    return frozenset(_stem(word) for word in words if word and word not in SMALL)


def _stem(word: str) -> str:
    stem = _root(word.lower())
    return _root("make") if stem in _MAKING else stem


def _root(word: str) -> str:
    """Return the root of a word: irregular forms by table, regular ones without their ending."""
    return word if word == "used" else _final(_BASES.get(word) or _without_ending(word))


def _without_ending(word: str) -> str:
    if word.endswith(("ss", "us", "is", "thing", "eed")):
        return word
    for ending in ("ing", "ed", "es", "s"):
        stem = word.removesuffix(ending)
        if stem != word and len(stem) > 1:
            doubled = ending in ("ing", "ed") and len(stem) > 3 and stem[-1] == stem[-2] and stem[-1] not in "lsz"
            return stem[:-1] if doubled else stem
    return word


def _final(stem: str) -> str:
    if stem.endswith("y") and len(stem) > 3:
        return f"{stem[:-1]}i"
    return stem.removesuffix("e") if len(stem) > 2 else stem


_MAKING = frozenset(
    map(_root, "add implement integrate configure create build set develop include write install".split())
)
# Words that change the meaning of a statement: planned, over, denied or only considered.
_TURNING = frozenset(
    map(
        _root,
        "not no never cannot without longer former used will plan want hope consider think try stop quit intend "
        "cancel leave only nicht kein keine nie".split(),
    )
)
# Purposes of a tool that only say that it is in use.
_GENERAL = frozenset(
    map(
        _root,
        "project app application site website web page portfolio layout style styling design ui interface backend "
        "frontend database db development code system work build responsive local main current purpose tool use using "
        "version component management program software server stack framework library mine lightweight personal "
        "single-page".split(),
    )
)
