"""When two statements about one subject say the same: nothing new in the later one, or everything of the earlier."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache

from clawmem.learning.english.verbs import FORMS
from clawmem.learning.english.words import SMALL
from clawmem.model.language.text import normal

_TOKEN = re.compile(r"[\w.+#@/-]*\w[+#]*")
_VERSION = re.compile(r"v(?=\d)")
_MAKING = frozenset("add implement integrate configure create build set develop include write make install".split())
# Words that turn a statement into another one: what is planned, over, denied or only considered.
_TURNING = frozenset(
    "not no never cannot without longer former used will plan want hope consider think try stop quit going intend "
    "cancel leave only".split()
)
# What a tool is said to be for, where that says no more than that it is in use.
_GENERAL = frozenset(
    "project app application site website web page portfolio layout style styling design ui interface backend frontend "
    "database db development code system work build responsive local main current purpose tool use using version "
    "component management program software server stack framework library mine lightweight personal single-page".split()
)


_NEVER = re.compile(
    r"\bnever (?P<what>.+?)"
    r"(?: (?:or|before|yet|so far|in (?:the|this|my|our|their) (?:project|app|code|codebase|life|career))\b|[.,]?$)"
)
_STOPPED = re.compile(
    r"^(?:.{1,60}? )?(?:(?:(?:has |have )?(?:stopped|quit|given up|gave up)|no longer) (?P<deed>.+?)|"
    r"(?:has |have )?(?:cancelled|canceled|called off|scrapped) (?P<plan>.+?)|"
    r"(?:does|do) not (?P<habit>.+?) any ?more)(?: any ?more| altogether| completely| for good)?[.!]?$"
)
# How a statement begins that tells of a habit or a state: the verb is in the present.
_NOW = re.compile(
    r"^(?:(?:usually|often|always|normally|regularly|also|still|both|and|others) )*(?:is|are|has|[a-z]+s)\b"
)
_ANY = frozenset(("any", "ever", "single", "yet", "actually", "even"))
_NEGATION = re.compile(
    r"\b(?:no longer|no|not|never|neither|nor|none|nobody|nothing|nowhere|cannot|without|hardly|barely|scarcely|"
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
    """Whether every named thing in the new object is named in what is known already, and it says little else.

    A version makes the thing itself the news, so what it is used for may then differ.
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


def enriched(new: str, old: str) -> bool:
    """Whether the new object names all that the old one names, says all that it says, and more."""
    names, rest = _named(new)
    old_names, old_rest = _named(old)
    return bool(old_names) and old_rest <= rest and all(_known(name, names) for name in old_names)


def contained(new: str, old: str, subject: str) -> bool:
    """Whether the new statement holds no word of meaning that the old one lacks, and neither turns the other."""
    ours, theirs, about = _stems(new), _stems(old), _stems(subject)
    if ours & _TURNING != theirs & _TURNING:
        return False
    return len(ours - about) >= 2 and ours - about <= theirs


def denied(never: str, did: str, subject: str) -> bool:
    """Whether the one statement says that what the other one tells of never happened."""
    deed = _NEVER.search(never)
    if deed is None or _NEVER.search(did):
        return False
    theirs = _stems(did)
    # Who uses something has it made a part of the work.
    theirs = theirs | {"make"} if "use" in theirs else theirs
    ours = _stems(deed["what"]) - _stems(subject) - _ANY
    return len(ours) >= 2 and ours <= theirs and not theirs & _TURNING


def ceased(ending: str, did: str, subject: str, planned: bool) -> bool:
    """Whether the one statement says that the deed or plan of the other one is over: it names the same doing and the
    same thing. `planned` says that the other one tells of a plan; only those can be cancelled."""
    over = _STOPPED.match(ending)
    if over is None or (over["plan"] and not planned) or not _NOW.match(did.removeprefix(subject).lstrip()):
        return False
    ours = _stems(over["deed"] or over["plan"] or over["habit"]) - _stems(subject)
    theirs = _stems(did) - _stems(subject)
    enough = len(ours) >= 2 or ours == theirs
    return bool(ours) and enough and ours <= theirs and not theirs & (_TURNING - {"plan"})


def alike(new: str, old: str, subject: str) -> bool:
    """Whether two statements share most of their words, the later with no name or number that the earlier lacks."""
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
    """The named things in an object (capitals, digits), and its other words that mean something."""
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
    lowered = word.lower()
    forms = FORMS.get(lowered)
    if lowered == "used":
        return lowered
    stem = forms[0][0] if forms else _singular(lowered)
    return "make" if stem in _MAKING else stem


def _singular(word: str) -> str:
    return word[:-1] if len(word) > 3 and word.endswith("s") and not word.endswith(("ss", "us", "is")) else word
