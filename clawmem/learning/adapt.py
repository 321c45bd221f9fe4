"""Adaptation: the outcomes of promoted facts tune how strict promotion and the gate are. Each change is a commit.

The outcome counts and the resulting values are stored in `ledger/adaptation.json`.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

from clawmem.errors import Unreadable
from clawmem.index.search.lookup import facts_containing
from clawmem.index.tables.fact_marks import counted_facts
from clawmem.learning.reconciling.gate import DEFAULT_LIMITS
from clawmem.memory.proposals import proposal_trailers, proposal_writes, read_proposals
from clawmem.memory.scope import WriteScope
from clawmem.memory.writing import writing
from clawmem.model.facts.codec import refuse_conflict_markers
from clawmem.model.facts.fact import ACTIVE, Fact
from clawmem.model.language.dates import day_of, days_between, moment_of, stamp
from clawmem.model.language.text import normal, one_line
from clawmem.model.proposals.promotion import (
    MARK,
    WINDOW_DAYS,
    Adaptation,
    PromotionOutcomes,
    adapt_limits,
    count_outcomes,
    describe_adaptation,
    outcomes_from_record,
    render_adaptation,
)
from clawmem.model.proposals.proposal import LINE, REJECTED, PageLine, Proposal, new_proposal_id
from clawmem.model.records.caller import Caller
from clawmem.model.records.change import Change, subject_line, trailers
from clawmem.model.records.strict_json import read_json
from clawmem.model.settings.settings import Settings
from clawmem.vault.vault import Vault

PATH = "ledger/adaptation.json"
# The score from which a fact is worth thirty days, before outcomes move it.
PROMOTION_SCORE = 0.6
Read = Callable[[str], bytes | None]


class AdaptResult(NamedTuple):
    """The values before and after, the outcomes they are based on, and the commit if they changed."""

    before: Adaptation
    after: Adaptation
    seen: PromotionOutcomes
    commit: str | None = None
    notices: tuple[str, ...] = ()


def current_adaptation(read: Read, settings: Settings) -> Adaptation:
    """Return the current values: the settings, adjusted by the stored outcomes."""
    return adapt_limits(_base(settings), _stored(read))


def adapt(vault: Vault, caller: Caller, on: str, dry_run: bool = False) -> AdaptResult:
    """Count the outcomes of the facts promoted in the half year before the day `on`. Commit if a value changes."""
    with writing(vault, caller, "adapt", dry_run=dry_run) as work:
        base = _base(vault.settings)
        before = adapt_limits(base, _stored(work.read))
        marked = [placed.fact for placed in facts_containing(work.index, f'"{MARK}"', '"supersedes"')]
        seen = count_outcomes(counted_facts(work.index, marked), on, _rejected(work, on))
        after = adapt_limits(base, seen)
        if dry_run or after == before:
            return AdaptResult(before, after, seen, notices=work.notices)
        words = describe_adaptation(before, after, seen)
        change = Change(subject_line("adapt", "promotion", words), {PATH: _render(after, seen, on)}, trailers("adapt"))
        return AdaptResult(before, after, seen, work.commit([change])[-1], work.notices)


def _base(settings: Settings) -> Adaptation:
    return Adaptation(settings.whole("promotion.max_facts"), PROMOTION_SCORE, DEFAULT_LIMITS.confidence)


def _stored(read: Read) -> PromotionOutcomes:
    data = read(PATH)
    if data is None:
        return PromotionOutcomes()
    refuse_conflict_markers(data.decode("utf-8-sig", errors="replace"), PATH)
    try:
        return outcomes_from_record(read_json(data)["outcomes"])
    except (ValueError, KeyError, TypeError, AttributeError) as problem:
        raise Unreadable(PATH, None, f"it does not hold the outcomes of promoted facts ({problem})") from None


def _rejected(work: WriteScope, on: str) -> int:
    """Return the number of promotions that a person rejected within the window."""
    decisions = [
        proposal.decided
        for proposal in read_proposals(work.vault, work.read).proposals
        if proposal.kind == "promotion" and proposal.status == REJECTED
    ]
    end = moment_of(on)
    return sum(1 for decision in decisions if decision and -1 <= days_between(day_of(decision.at), end) <= WINDOW_DAYS)


def _render(after: Adaptation, seen: PromotionOutcomes, on: str) -> bytes:
    return render_adaptation({"changed": on, **after._asdict(), "outcomes": seen._asdict()})


# Tacit knowledge: propose patterns in corrections and preferences for an agent's TACIT.md. Approval writes them.
#
# Find tacit patterns: corrections or wishes that an agent meets again and again.

KIND = "tacit"
# The key of a pattern in its proposal. It prevents a second proposal, even after a rejection.
KEY = "pattern"
# The least corrections or wishes of one kind that make a pattern.
LEAST_FACTS = 3


class TacitResult(NamedTuple):
    """The filed proposals (in a dry run, those that would be filed) and the commit."""

    proposals: tuple[Proposal, ...]
    commit: str | None = None
    notices: tuple[str, ...] = ()


def propose_tacit(vault: Vault, caller: Caller, dry_run: bool = False) -> TacitResult:
    """File a proposal for each new pattern."""
    with writing(vault, caller, "tacit", dry_run=dry_run) as work:
        facts = [placed.fact for placed in facts_containing(work.index, '"agent": ')]
        found = find_patterns(facts)
        fresh = _proposals(work, found) if found else []
        if dry_run or not fresh:
            return TacitResult(tuple(fresh), notices=work.notices)
        words = fresh[0].says if len(fresh) == 1 else f"{len(fresh)} patterns for {', '.join(_agents(fresh))}"
        change = Change(
            subject_line("propose", KIND, words),
            proposal_writes(fresh),
            (*trailers("propose"), *proposal_trailers(fresh)),
        )
        return TacitResult(tuple(fresh), work.commit([change])[-1], work.notices)


def _agents(proposals: list[Proposal]) -> list[str]:
    return sorted({proposal.agent for proposal in proposals if proposal.agent})


def _proposals(work: WriteScope, found: tuple[Pattern, ...]) -> list[Proposal]:
    filed = read_proposals(work.vault, work.read).proposals
    known = {(proposal.agent, proposal.extra.get(KEY)) for proposal in filed if proposal.kind == KIND}
    taken = {proposal.id for proposal in filed}
    fresh = []
    for pattern in found:
        if (pattern.agent, pattern.key) not in known:
            fresh.append(_proposal(work.caller, pattern, taken))
            taken.add(fresh[-1].id)
    return fresh


def _proposal(caller: Caller, pattern: Pattern, taken: set[str]) -> Proposal:
    cited = ", ".join(pattern.facts)
    return Proposal(
        id=new_proposal_id(caller.entropy, taken),
        kind=KIND,
        says=f"{pattern.agent}'s TACIT.md: {pattern.sentence}",
        why=f"seen {len(pattern.facts)} times: {cited}",
        created=stamp(caller.now),
        does=LINE,
        line=PageLine(f"agents/{pattern.agent}/TACIT.md", f"- {pattern.sentence} ({cited})"),
        agent=pattern.agent,
        extra={KEY: pattern.key},
    )


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


def find_patterns(facts: Iterable[Fact]) -> tuple[Pattern, ...]:
    """Return the patterns in facts of agents, each with at least LEAST_FACTS of them."""
    by_agent: dict[str, list[Fact]] = defaultdict(list)
    for fact in sorted(facts, key=lambda other_fact: (other_fact.timestamp, other_fact.id)):
        if fact.agent:
            by_agent[fact.agent].append(fact)
    found: list[Pattern] = []
    for agent, known in sorted(by_agent.items()):
        found += _corrections(agent, known)
        found += _wishes(agent, known)
    return tuple(found)


def _corrections(agent: str, facts: Sequence[Fact]) -> list[Pattern]:
    kinds: dict[str, list[Fact]] = defaultdict(list)
    for fact in facts:
        if any(link.type == "supersedes" for link in fact.links):
            kinds[fact.predicate or fact.category].append(fact)
    return [
        Pattern(agent, f"corrected:{kind}", _corrected(kind, found), _ids(found))
        for kind, found in sorted(kinds.items())
        if len(found) >= LEAST_FACTS
    ]


def _corrected(kind: str, found: Sequence[Fact]) -> str:
    latest = " / ".join(one_line(fact.fact) for fact in found[-_SHOWN:])
    return f"Check before relying on what is known of '{kind.replace('_', ' ')}': it was corrected again. {latest}"


def _wishes(agent: str, facts: Sequence[Fact]) -> list[Pattern]:
    """Return wishes of one subject that share a word, most common word first; each fact belongs to one pattern."""
    subjects: dict[str, list[Fact]] = defaultdict(list)
    for fact in facts:
        if fact.status == ACTIVE and fact.category in WISHES:
            subjects[normal(fact.subject or "")].append(fact)
    found = []
    for subject, wishes in sorted(subjects.items()):
        while word := _shared(wishes):
            about = [fact for fact in wishes if word in _words(fact)]
            wish_list = " / ".join(one_line(fact.fact) for fact in about[:_SHOWN])
            found.append(Pattern(agent, f"wished:{subject}:{word}", f"On '{word}': {wish_list}", _ids(about)))
            wishes = [fact for fact in wishes if fact not in about]
    return found


def _shared(wishes: Sequence[Fact]) -> str | None:
    counts: dict[str, int] = defaultdict(int)
    for fact in wishes:
        for word in _words(fact):
            counts[word] += 1
    often = [(-count, word) for word, count in counts.items() if count >= LEAST_FACTS]
    return min(often)[1] if often else None


def _words(fact: Fact) -> frozenset[str]:
    own = frozenset(_WORD.findall(normal(fact.subject or "")))
    words = frozenset(_WORD.findall(normal(fact.fact))) - _EMPTY - own
    # Singular and plural count as one word.
    return frozenset(word.removesuffix("s") if len(word) > 4 else word for word in words)


def _ids(facts: Iterable[Fact]) -> tuple[str, ...]:
    return tuple(fact.id for fact in facts)
