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
from clawmem.model.language.text import LONGEST_FACT, counted, normal
from clawmem.model.proposals.para import Proposition

FindSecret = Callable[[str], str | None]

_NEGATIONS = frozenset("not no never cannot isn't doesn't don't didn't won't can't hasn't longer without".split())
_PASSING = frozenset(
    "right now|at the moment|at this very moment|for now|this minute|tonight i|in a minute|in a bit".split("|")
)
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
    new, old = content_words(proposition.statement), content_words(fact.fact)
    subject = content_words(proposition.subject or "")
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


_NEGATION = re.compile(
    r"\b(?:no longer|no|not|never|neither|nor|none|nobody|nothing|nowhere|cannot|without|hardly|barely|scarcely|"
    r"nicht|kein\w*|nie|niemals|nirgends|niemand|ohne|"
    r"(?:ai|are|ca|could|did|do|does|had|has|have|is|might|must|need|should|was|were|wo|would)n['’]?t)\b",
    re.IGNORECASE,
)


def contradicts(new: str, old: str) -> bool:
    """Whether one statement negates more than the other: then they cannot say the same, whatever words they share."""
    return negations(new) != negations(old)


def negations(text: str) -> int:
    """How many negations a statement has."""
    return len(_NEGATION.findall(text))
