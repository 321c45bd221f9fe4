"""The gate: accept or refuse propositions, each refusal with a reason.

Compare two statements about one subject: repetition, more detail, denial, ending.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from functools import lru_cache
from typing import NamedTuple

from clawmem.learning.rules.language import SMALL
from clawmem.model.facts.fact import Fact
from clawmem.model.language.question import search_words
from clawmem.model.language.text import LONGEST_FACT, counted, irregular_verbs, normal
from clawmem.model.proposals.para import Proposition

FindSecret = Callable[[str], str | None]

_NEGATIONS = frozenset("not no never cannot isn't doesn't don't didn't won't can't hasn't longer without".split())
_PASSING = frozenset(
    "right now|at the moment|at this very moment|for now|this minute|tonight i|in a minute|in a bit".split("|")
)


# Predicates whose values are often rephrased.
_LOOSE = frozenset((None, "plans_to", "works_on", "wants", "studies", "likes"))

# "It is much better now.": nobody knows a year later what is meant.
_VAGUE = re.compile(
    r"(?:(?:the user|the assistant|der nutzer|die nutzerin|\w+) (?:says?|said|thinks?|finds?|reports?|reported|sagt|"
    r"findet|meint|meldet)[,:]? (?:that |dass )?)?"
    r"(?!(?:it|es) (?:is|was|has been|ist|wurde) (?:agreed|decided|planned|known|forbidden|vereinbart|beschlossen)\b)"
    r"(?:(?:it|this|that|these|those|things?|everything|something|stuff|they|he|she)\b(?! (?:user|assistant)\b)"
    r"(?=[ '’](?:is|was|are|were|s|has|have|had|will|would|can|should|must|does|did|works?|looks?|seems?|feels?|goes|"
    r"went|lives?|likes?|needs?|wants?|runs?|costs?|takes?|got|gets|no longer|now)\b)"
    r"|(?:es|er|das|dies|alles) (?:ist|war|hat|geht|läuft|wird|wurde|funktioniert|klappt|kostet|sieht)\b"
    r"|(?:esto|eso|todo) (?:es|está|fue|va|funciona)\b|(?:ça|cela|tout) (?:est|va|était|marche)\b|c['’]est\b)",
    re.IGNORECASE,
)
_BEGINNING, _LETTERS = 4, re.compile(r"[^\W_]{3,}")
_UNSPACED = re.compile(r"[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff]")


class GateLimits(NamedTuple):
    """The limits of the gate.

    `words` is the least number of words of a statement. `overlap` is the share of common words from which two
    statements count as the same.
    """

    confidence: float = 0.5
    words: int = 3
    overlap: float = 0.85
    trusted: tuple[str, ...] = ("user", "agent", "tool")


class GateVerdict(NamedTuple):
    """Whether a proposition is accepted. If not: the gate that refused it, the reason, and the fact it repeats."""

    accepted: bool
    gate: str
    reason: str
    duplicate_of: str | None = None


ACCEPTED = GateVerdict(True, "", "It is specific, durable, new and free of secrets.")
DEFAULT_LIMITS = GateLimits()


def judge(
    proposition: Proposition, known: Iterable[Fact], find_secret: FindSecret, limits: GateLimits = DEFAULT_LIMITS
) -> GateVerdict:
    """Judge one proposition against the known facts about its subject. The first gate that refuses decides.

    `find_secret` returns the rule that finds a credential in a text, or None.
    """
    return (
        _secrets(proposition, find_secret)
        or _trust(proposition, limits)
        or _utility(proposition, limits)
        or _durability(proposition)
        or _duplication(proposition, known, limits)
        or ACCEPTED
    )


def _secrets(proposition: Proposition, find_secret: FindSecret) -> GateVerdict | None:
    rule = find_secret(proposition.statement) or find_secret(proposition.source_text)
    return GateVerdict(False, "secrets", f"It holds what looks like a credential ({rule}).") if rule else None


def _trust(proposition: Proposition, limits: GateLimits) -> GateVerdict | None:
    if proposition.trust in limits.trusted:
        return None
    why = f" Here {proposition.doubt}." if proposition.doubt else ""
    reason = f"Its source is '{proposition.trust}', which needs the approval of a person.{why}"
    return GateVerdict(False, "trust", reason)


def _utility(proposition: Proposition, limits: GateLimits) -> GateVerdict | None:
    words = _word_count(proposition.statement)
    if words < limits.words:
        return GateVerdict(False, "utility", f"It has only {counted(words, 'word')}, too few for a statement.")
    if len(proposition.statement) > LONGEST_FACT:
        return GateVerdict(False, "utility", f"It is longer than {LONGEST_FACT:,} characters.")
    if proposition.confidence < limits.confidence:
        return GateVerdict(
            False, "utility", f"Its confidence {proposition.confidence:.2f} is below {limits.confidence:.2f}."
        )
    if is_vague(proposition.statement) and not proposition.ended:
        return GateVerdict(False, "utility", "It cannot be understood alone: it does not say who or what is meant.")
    if _is_tautology(proposition):
        return GateVerdict(False, "utility", "It says of its subject only what the subject is called in it.")
    if not content_words(proposition.statement) - content_words(proposition.subject or ""):
        return GateVerdict(False, "utility", "It says nothing specific about its subject.")
    return None


def is_vague(statement: str) -> bool:
    """Return whether a statement is about "it" or "they", so that nobody can understand it alone."""
    return _VAGUE.match(statement) is not None


def _is_tautology(proposition: Proposition) -> bool:
    """Return whether the value of a name is the subject itself ("Priya's name is Priya")."""
    named = plain(proposition.object or "")
    return proposition.predicate == "name" and not proposition.ended and named == plain(proposition.subject or "")


def _word_count(text: str) -> int:
    """Return the number of words. In scripts without spaces between words, two letters count as one word."""
    return len(text.split()) + len(_UNSPACED.findall(text)) // 2


def _durability(proposition: Proposition) -> GateVerdict | None:
    text = normal(proposition.statement)
    passing = next((phrase for phrase in _PASSING if phrase in text), None)
    if passing and proposition.category != "decision":
        return GateVerdict(False, "durability", f"It is only temporary ('{passing}').")
    return None


def _duplication(proposition: Proposition, known: Iterable[Fact], limits: GateLimits) -> GateVerdict | None:
    statement = normal(proposition.statement)
    for fact in known:
        if not fact.is_current:
            continue
        if plain(fact.fact) == statement:
            return GateVerdict(False, "duplication", f"It is already known as {fact.id}.", fact.id)
        if not (proposition.ended or proposition.former) and _near(proposition, fact, limits.overlap):
            return GateVerdict(False, "duplication", f"It says the same as {fact.id}: {fact.fact}", fact.id)
    return None


def _near(proposition: Proposition, fact: Fact, overlap: float) -> bool:
    """Return whether both say the same about the same subject: most words, and all numbers and negations, agree."""
    if plain(fact.subject or "") != plain(proposition.subject or ""):
        return False
    if fact.predicate and proposition.predicate and fact.predicate != proposition.predicate:
        return False
    if contradicts(proposition.statement, fact.fact):
        return False
    about = proposition.subject or ""
    # What a plan says beside its day must not end with it.
    lasts = proposition.valid_to or not fact.valid_to
    if lasts and is_contained(proposition.statement, fact.fact, about):
        return True
    if proposition.predicate in _LOOSE and is_similar(proposition.statement, fact.fact, about):
        return True
    new, old = content_words(proposition.statement), content_words(fact.fact)
    subject = content_words(about)
    ours, theirs = new - subject, old - subject
    enough = bool(ours) and len(ours & theirs) >= overlap * len(ours | theirs)
    return enough and _decisive(new) == _decisive(old)


def _decisive(words: frozenset[str]) -> frozenset[str]:
    return frozenset(word for word in words if word in _NEGATIONS or any(letter.isdigit() for letter in word))


@lru_cache(maxsize=65536)
def plain(text: str) -> str:
    """Return the normalised text. Cached, because a round compares the same facts many times."""
    return normal(text)


@lru_cache(maxsize=4096)
def word_beginnings(text: str) -> frozenset[str]:
    """Return the first four letters of the words of a text that say something, in lower case."""
    return frozenset(
        word[:_BEGINNING].casefold() for word in search_words(text) if _LETTERS.fullmatch(word[:_BEGINNING])
    )


@lru_cache(maxsize=65536)
def content_words(text: str) -> frozenset[str]:
    """Return the normalised words of a text without function words."""
    words = (normal(word).removesuffix("'s").removesuffix("’s") for word in text.split())
    return frozenset(word for word in words if word and word not in SMALL and word != "will")


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
    for text in known:
        old_names, old_rest = _named(text)
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
    if denied is None:
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
