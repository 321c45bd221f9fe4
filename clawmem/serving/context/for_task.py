"""The sections of a context for work: guardrails, lessons, precedents and other facts of the query's scope.

They are ranked by priority x recency x match with the task x value per token. Further passes follow the links and tags
of what was found, until nothing new comes or the budget is spent.

The priority of a fact for a task: importance and reported outcomes, recency, words in common, value per token.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from clawmem.index.search.by_tier import FactCandidate
from clawmem.index.search.channels import (
    facts_in_rows,
    keyword_channel,
    statements_in_rows,
    weigh_words,
    words_had,
    work_columns,
)
from clawmem.index.search.listing import realms_of_work, scoped_among, scoped_linked, scoped_rows, scoped_with_tags
from clawmem.index.search.lookup import PlacedFact
from clawmem.index.tables.store import Index
from clawmem.index.vectors import facts_by_meaning, has_vectors
from clawmem.model.facts.fact import GUARDRAIL, PINNED, Fact, importance_of
from clawmem.model.facts.fact_words import holds_for
from clawmem.model.facts.gates import DECISION
from clawmem.model.facts.reach import FRAMEWORK, OF_A_PROJECT, ORGANISATION, PROJECT, TEAM, project_name, scope_of
from clawmem.model.language.dates import moment_of
from clawmem.model.language.question import is_of_life, is_technical, search_words
from clawmem.model.language.text import forms_of
from clawmem.model.lifecycle.premises import in_doubt
from clawmem.model.lifecycle.tiers import ALWAYS_TOLD, last_access, stale_reason
from clawmem.model.named_tuple import NamedTuple
from clawmem.model.pages import context_frame as frame
from clawmem.model.pages.packing import Section, Unit
from clawmem.model.pages.tokens import context_line, servable, token_bound
from clawmem.model.proposals.promotion import MARK as PROMOTION
from clawmem.model.proposals.promotion import promotion_of
from clawmem.model.proposals.quarantine import may_be_told
from clawmem.model.records.entity import kind_of, slug
from clawmem.model.search.ranking import meaning_share, share_of
from clawmem.serving.browse import sources_of
from clawmem.serving.context.hits import ContextRequest, QuestionHits, find_hits, given
from clawmem.serving.context.pages import follow_up_commands
from clawmem.serving.context.units import ItemReason, TierCounts, UnitStyle, fact_units, tiers_of
from clawmem.vault.state.journal import AccessCount
from clawmem.vault.vault import Vault

LESSON = "lesson"
PASSES = 3
_MOST = 200
# The part of the best match from which on a fact fits the task, and the importance that needs no match.
_FITS = 0.34
_ALWAYS = 0.8
# Without a task, this number of each kind is offered; the budget decides.
_WITHOUT_TASK = 40
# What everybody should know at work, also without a word of the task.
_EVERYBODYS = frozenset(("instruction", "correction", "rule", "convention"))
_SHARES = {frame.LESSONS: 0.3, frame.PRECEDENTS: 0.25, frame.SCOPED: 0.4}


class ScopedFact(NamedTuple):
    """A fact of the scope: its section, the factors of its priority, the pass that found it, and why it is stale."""

    n: int
    placed: PlacedFact
    section: str
    factors: PriorityFactors
    at_pass: int
    stale: str | None = None


def find_scoped(vault: Vault, on: TierCounts, wish: ContextRequest) -> list[ScopedFact]:
    """Return the facts of the query's scope that fit its task, best first; without a task the best of each section."""
    wanted, words = wish.wanted, task_words(wish)
    shares = _matching(vault, on, wish, words) if words else {}
    best = max(shares.values(), default=0.0)
    kept = {n for n, share in shares.items() if share >= _FITS * best}
    first = set(scoped_rows(on.source, wanted, _MOST, least=_ALWAYS if words else 0.0))
    found = _read(on, wish, first | kept, shares, 1)
    found = [fact for fact in found if fact.n in kept or may_be_told(fact.placed.fact, wish.caller.agent)]
    if words:
        found = [fact for fact in found if fact.n in kept or (fact.placed.fact.importance or 0.0) >= _ALWAYS]
        found = _further(on, wish, found, shares)
    found = _with_staleness(vault, on, wish, [fact for fact in found if fact.section != frame.GUARDRAILS])
    ranked = sorted(found, key=lambda fact: (-fact.factors.score, fact.placed.fact.id))
    return ranked if words else _first_of_each(ranked)


def task_words(wish: ContextRequest) -> list[str]:
    """Return the words of the task, without those that only name the project, which fit all that is known of it."""
    projects = wish.wanted.reach.projects() if wish.wanted.reach else ()
    named = {word for project in projects for word in search_words(f"{project_name(project)} repository")}
    return [word for word in search_words(wish.question or "") if word not in named]


def find_of_project(
    vault: Vault,
    index: Index,
    on: TierCounts,
    wish: ContextRequest,
    counted: Mapping[str, AccessCount],
    beside: set[int],
) -> tuple[QuestionHits | None, list[str]]:
    """Return what names the query's project but rows and talk `beside` those, if there are any, and remarks."""
    projects = wish.wanted.reach.projects() if wish.wanted.reach else ()
    named = wish._replace(question=" ".join(map(project_name, projects)) or wish.question, technical=True)
    asked, remarks = find_hits(vault, index, on, named, counted)
    rows = [fact.n for fact in asked.facts]
    own, places = realms_of_work(index, rows), statements_in_rows(index, rows)
    others = {n for n in rows if n not in own and n in places and _is_elsewhere(places[n][1], wish)}
    asked = asked._replace(facts=[fact for fact in asked.facts if fact.n not in beside | others])
    asked = asked._replace(heard=(), said=(), written=()) if beside else asked
    return (None, []) if asked.near or not (asked.facts or asked.heard or asked.written) else (asked, remarks)


def _is_elsewhere(entity: str, wish: ContextRequest) -> bool:
    """Return whether an entity is another project or company than the query's."""
    names = wish.wanted.reach.called() if wish.wanted.reach else ()
    return kind_of(entity) in OF_A_PROJECT and entity.rpartition("/")[2] not in map(slug, names)


def read_guardrails(vault: Vault, on: TierCounts, wish: ContextRequest, rows: Sequence[int]) -> list[ScopedFact]:
    """Return the guardrails in some rows that hold for the caller, the most important first: a guardrail whose details
    name `agents` holds for these only."""
    found = [fact for fact in _read(on, wish, set(rows), {}, 1) if holds_for(fact.placed.fact, wish.caller.agent)]
    return sorted(_with_staleness(vault, on, wish, found), key=lambda fact: rows.index(fact.n))


def guardrail_section(on: TierCounts, way: UnitStyle, wish: ContextRequest, found: Sequence[ScopedFact]) -> Section:
    """Return the section of the guardrails, which the budget does not cut."""
    more = follow_up_commands(wish.wanted, None).list
    return Section(frame.GUARDRAILS, given(_units(on, way, found)), more, turn=-1, whole=True)


def task_sections(on: TierCounts, way: UnitStyle, wish: ContextRequest, found: Sequence[ScopedFact]) -> list[Section]:
    """Return the sections for the facts that were found, in the order of a context."""
    commands = follow_up_commands(wish.wanted, wish.question)
    sections = []
    for title, share in _SHARES.items():
        facts = [fact for fact in found if fact.section == title]
        units = _units(on, way, facts)
        if units:
            sections.append(Section(title, given(units), commands.list, share=share, turn=0))
    return sections


def reasons(found: Sequence[ScopedFact]) -> tuple[ItemReason, ...]:
    """Return why each fact was found."""
    return tuple(
        ItemReason(
            fact.placed.fact.id,
            fact.section,
            scope_of(fact.placed.fact),
            fact.factors.score,
            fact.factors._asdict(),
            fact.at_pass,
        )
        for fact in found
    )


def _matching(vault: Vault, on: TierCounts, wish: ContextRequest, words: Sequence[str]) -> Mapping[int, float]:
    """Return how well facts of the scope match the task, from 0 to 1, by words and by meaning."""
    weighed = weigh_words(on.source, {word: forms_of(word) for word in words})
    hits = keyword_channel(on.source, [form for word in weighed for form in word.forms], wish.wanted, _MOST).scores
    shares = {n: share_of(weighed, had) for n, had in words_had(on.source, weighed, hits.keys()).items()}
    if has_vectors(vault):
        close = facts_by_meaning(vault, on.source, wish.question or "", wish.wanted)
        for n, score in close.scores.items():
            shares[n] = max(shares.get(n, 0.0), meaning_share(score))
    among = scoped_among(on.source, wish.wanted, shares.keys())
    return {n: share for n, share in shares.items() if n in among}


def _further(
    on: TierCounts, wish: ContextRequest, found: list[ScopedFact], shares: Mapping[int, float]
) -> list[ScopedFact]:
    """Return the facts with those that the links and tags of new ones lead to, until nothing new comes."""
    known, fresh = {fact.n for fact in found}, found
    for at_pass in range(2, PASSES + 1):
        spent = sum(token_bound(context_line(fact.placed.fact)) for fact in found)
        if not fresh or spent >= wish.budget:
            break
        tags = list(dict.fromkeys(tag for fact in fresh for tag in fact.placed.fact.tags))
        rows = scoped_linked(on.source, wish.wanted, {fact.n for fact in fresh})
        rows |= set(scoped_with_tags(on.source, wish.wanted, tags, _MOST))
        fresh = _read(on, wish, rows - known, shares, at_pass)
        known |= {fact.n for fact in fresh}
        found = [*found, *fresh]
    return found


def _read(
    on: TierCounts, wish: ContextRequest, rows: set[int], shares: Mapping[int, float], at_pass: int
) -> list[ScopedFact]:
    placed = facts_in_rows(on.source, sorted(tiers_of(on, rows))) if rows else {}
    return [_scored(n, each, wish, shares.get(n, 0.0), at_pass) for n, each in placed.items()]


def _scored(n: int, placed: PlacedFact, wish: ContextRequest, match: float, at_pass: int) -> ScopedFact:
    fact = placed.fact
    try:
        days = (wish.caller.now - moment_of(last_access(fact))).total_seconds() / 86_400
    except ValueError:
        days = 0.0
    factors = priority_factors(fact, days, match, token_bound(context_line(fact)), at_pass)
    return ScopedFact(n, placed, _section(fact), factors, at_pass)


def _section(fact: Fact) -> str:
    named = {GUARDRAIL: frame.GUARDRAILS, LESSON: frame.LESSONS, DECISION: frame.PRECEDENTS}
    return named.get(fact.category, frame.SCOPED)


def _with_staleness(
    vault: Vault, on: TierCounts, wish: ContextRequest, found: Sequence[ScopedFact]
) -> list[ScopedFact]:
    sources = sources_of(on.source, (fact.placed.fact for fact in found))
    now = wish.caller.now
    return [fact._replace(stale=stale_reason(fact.placed.fact, now, sources)) for fact in found]


def _first_of_each(ranked: Sequence[ScopedFact]) -> list[ScopedFact]:
    chosen = []
    for title in _SHARES:
        of_title = [fact for fact in ranked if fact.section == title]
        chosen += of_title[:_WITHOUT_TASK]
    return chosen


def for_work(on: TierCounts, candidates: Sequence[FactCandidate], promoted: bool) -> list[FactCandidate]:
    """Return the candidates of work: those with a scope, instructions and corrections for all, and pinned ones; with
    `promoted`, also what was promoted for all, whatever its importance."""
    rows = work_columns(on.source, [candidate.n for candidate in candidates], f'"{PROMOTION}"')
    marked = [n for n, (realm, _, is_marked) in rows.items() if promoted and is_marked and not realm]
    facts = facts_in_rows(on.source, marked) if marked else {}

    def is_of_work(candidate: FactCandidate) -> bool:
        if candidate.weight >= PINNED or candidate.n not in rows:
            return candidate.weight >= PINNED
        realm, category, _ = rows[candidate.n]
        told_always = candidate.weight >= ALWAYS_TOLD and (realm or category in _EVERYBODYS)
        return bool(told_always or (candidate.n in facts and promotion_of(facts[candidate.n].fact)))

    return [candidate for candidate in candidates if is_of_work(candidate)]


def told_at_work(
    on: TierCounts, wish: ContextRequest, candidates: Sequence[FactCandidate], of_user: bool = False
) -> list[FactCandidate]:
    """Return the candidates that a task of the query's project is told unasked: what has a scope or is pinned, rules
    for all work, and of everybody's facts nothing of other people and projects, of a home, or of money. With `of_user`,
    only what is known of the user."""
    rows = [candidate.n for candidate in candidates]
    statements, columns = statements_in_rows(on.source, rows), work_columns(on.source, rows, "")

    def is_told(candidate: FactCandidate) -> bool:
        statement, entity, _ = statements.get(candidate.n, ("", "", ""))
        realm, category, _ = columns.get(candidate.n, ("", "", False))
        if of_user and entity not in wish.of_user:
            return False
        if realm or candidate.weight >= PINNED or candidate.n not in statements:
            return True
        kind, rule = kind_of(entity), category in _EVERYBODYS
        of_another = (kind == "person" and entity not in wish.of_user) or kind == "archive"
        aside = kind == "area" and entity != wish.general and not (rule or is_technical(statement))
        return not (_is_elsewhere(entity, wish) or of_another or aside or is_of_life(statement))

    return [candidate for candidate in candidates if is_told(candidate)]


def _units(on: TierCounts, way: UnitStyle, facts: Sequence[ScopedFact]) -> list[Unit]:
    """Return a unit for each fact; the line of a stale one says why."""
    candidates = tiers_of(on, [fact.n for fact in facts])
    known = [fact for fact in facts if fact.n in candidates]
    plain = dict(
        zip((fact.n for fact in known), fact_units(on, [candidates[fact.n] for fact in known], way), strict=True)
    )
    return [_with_stale_remark(fact.placed.fact, plain[fact.n], fact.stale) for fact in known]


def _with_stale_remark(fact: Fact, unit: Unit, stale: str | None) -> Unit:
    line = context_line(fact)
    if not stale or in_doubt(fact) or stale in line:
        return unit
    below = "".join((unit.text or "").splitlines(keepends=True)[1:])
    text = f"{line.rstrip()} (stale: {servable(stale)})\n{below}"
    return unit._replace(text=text, tokens=token_bound(text), exact=False)


# A report that a fact was useful raises its priority by a fifth; a harmful fact loses half at once.
_WORTH = {"useful": 0.2, "useless": -0.25, "harmful": -0.5}
_LOWEST, _HIGHEST = 0.1, 2.0
_BY_SCOPE = {PROJECT: 1.0, TEAM: 0.9, FRAMEWORK: 0.8, ORGANISATION: 0.7, None: 0.6}
# Lessons and decisions stay useful for months: their recency halves in this number of days, down to a floor.
HALF_LIFE_DAYS = 120.0
_OLDEST = 0.4
# What a fact without a word of the task is worth beside one with all of them.
_NO_MATCH = 0.2
# A line of this number of tokens has the value 1 per token; the root keeps short lines from winning alone.
_LINE = 25
_EACH_PASS = 0.6


class PriorityFactors(NamedTuple):
    """What a priority is the product of: importance with reported outcomes and scope, recency, match with the task,
    value per token, and the pass in which the fact was found."""

    priority: float
    recency: float
    match: float
    value: float
    passed: float

    @property
    def score(self) -> float:
        """Return the product."""
        return self.priority * self.recency * self.match * self.value * self.passed


def reported_outcomes(fact: Fact) -> dict[str, int]:
    """Return how often sessions reported each outcome of a fact."""
    record: Any = (fact.metadata or {}).get("outcomes")
    return (
        {key: record[key] for key in _WORTH if isinstance(record.get(key), int)} if isinstance(record, Mapping) else {}
    )


def priority_factors(fact: Fact, days: float, match: float, tokens: int, at_pass: int) -> PriorityFactors:
    """Return the factors of a fact.

    `days` is its age since it was recorded or last accessed, `match` the part of the task's words that it has (0 to 1),
    `tokens` the size of its line, and `at_pass` the pass that found it, from 1."""
    worth = 1.0 + sum(_WORTH[key] * number for key, number in reported_outcomes(fact).items())
    worth = min(_HIGHEST, max(_LOWEST, worth))
    return PriorityFactors(
        (0.5 + importance_of(fact)) * worth * _BY_SCOPE.get(scope_of(fact), _BY_SCOPE[None]),
        max(_OLDEST, 0.5 ** (max(days, 0.0) / HALF_LIFE_DAYS)),
        _NO_MATCH + (1 - _NO_MATCH) * match,
        (_LINE / max(tokens, 1)) ** 0.5,
        _EACH_PASS ** (at_pass - 1),
    )
