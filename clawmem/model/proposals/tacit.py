"""Find tacit patterns: corrections or wishes that an agent meets again and again."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from clawmem.model.facts.fact import ACTIVE, Fact
from clawmem.model.language.text import normal, one_line

WISHES = ("preference", "lesson", "requirement")
_SHOWN = 5
_WORD = re.compile(r"[^\W\d_]{3,}")
# Words that express a wish or nothing at all, rather than its topic.
_EMPTY = frozenset(
    "the and for are was were with has have had not his her their its that this they them she who when what which "
    "from than then into over very more most all any only also but about always never should must please want wants "
    "like likes love loves enjoy enjoys hate hates prefer prefers preferred favorite favourite dislike dislikes need "
    "needs wish wishes learned asked remember rather instead user uses use using keep".split()
)


class Pattern(NamedTuple):
    """A pattern: the agent, a stable key, a sentence, and the ids of the facts behind it."""

    agent: str
    key: str
    sentence: str
    facts: tuple[str, ...]


def find_patterns(facts: Iterable[Fact], least: int) -> tuple[Pattern, ...]:
    """Return the patterns in facts of agents, each with at least `least` facts."""
    by_agent: dict[str, list[Fact]] = defaultdict(list)
    for fact in sorted(facts, key=lambda one: (one.timestamp, one.id)):
        if fact.agent:
            by_agent[fact.agent].append(fact)
    found: list[Pattern] = []
    for agent, known in sorted(by_agent.items()):
        found += _corrections(agent, known, least)
        found += _wishes(agent, known, least)
    return tuple(found)


def _corrections(agent: str, facts: Sequence[Fact], least: int) -> list[Pattern]:
    kinds: dict[str, list[Fact]] = defaultdict(list)
    for fact in facts:
        if any(link.type == "supersedes" for link in fact.links):
            kinds[fact.predicate or fact.category].append(fact)
    return [
        Pattern(agent, f"corrected:{kind}", _corrected(kind, found), _ids(found))
        for kind, found in sorted(kinds.items())
        if len(found) >= least
    ]


def _corrected(kind: str, found: Sequence[Fact]) -> str:
    latest = " / ".join(one_line(fact.fact) for fact in found[-_SHOWN:])
    return f"Check before relying on what is known of '{kind.replace('_', ' ')}': it was corrected again. {latest}"


def _wishes(agent: str, facts: Sequence[Fact], least: int) -> list[Pattern]:
    """Return wishes of one subject that share a word, most common word first; each fact belongs to one pattern."""
    subjects: dict[str, list[Fact]] = defaultdict(list)
    for fact in facts:
        if fact.status == ACTIVE and fact.category in WISHES:
            subjects[normal(fact.subject or "")].append(fact)
    found = []
    for subject, wishes in sorted(subjects.items()):
        while word := _shared(wishes, least):
            about = [fact for fact in wishes if word in _words(fact)]
            wish_list = " / ".join(one_line(fact.fact) for fact in about[:_SHOWN])
            found.append(Pattern(agent, f"wished:{subject}:{word}", f"On '{word}': {wish_list}", _ids(about)))
            wishes = [fact for fact in wishes if fact not in about]
    return found


def _shared(wishes: Sequence[Fact], least: int) -> str | None:
    counts: dict[str, int] = defaultdict(int)
    for fact in wishes:
        for word in _words(fact):
            counts[word] += 1
    often = [(-count, word) for word, count in counts.items() if count >= least]
    return min(often)[1] if often else None


def _words(fact: Fact) -> frozenset[str]:
    own = frozenset(_WORD.findall(normal(fact.subject or "")))
    words = frozenset(_WORD.findall(normal(fact.fact))) - _EMPTY - own
    # Singular and plural count as one word.
    return frozenset(word.removesuffix("s") if len(word) > 4 else word for word in words)


def _ids(facts: Iterable[Fact]) -> tuple[str, ...]:
    return tuple(fact.id for fact in facts)
