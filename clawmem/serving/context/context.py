"""Context: what an agent should know, as text for its prompt within a token budget."""

from collections.abc import Collection, Sequence
from types import ModuleType
from typing import TYPE_CHECKING

from clawmem.extension import foreign, named
from clawmem.index.refresh import run_query
from clawmem.index.search.by_tier import ALWAYS, PAST, FactCandidate, ReaderScope, entities_of, quarantined_facts
from clawmem.index.search.channels import FactFilter, facts_in_rows, time_channel
from clawmem.index.search.listing import all_guardrails, guardrail_rows, realms_of_work
from clawmem.index.search.lookup import unreadable_notices
from clawmem.index.tables.store import Index
from clawmem.model.facts.catalog import Catalog
from clawmem.model.facts.fact_words import holds_for
from clawmem.model.facts.reach import Reach
from clawmem.model.language.dates import day_of, stamp
from clawmem.model.language.question import STOPWORDS, DaySpan, search_words, time_asked
from clawmem.model.lifecycle.tiers import ALWAYS_TOLD, COLD, HOT, RECENCY_POLICY, WARM
from clawmem.model.pages import context_frame as frame
from clawmem.model.pages.packing import Section, Shown, Unit, pack
from clawmem.model.records.caller import Caller
from clawmem.model.records.entity import slug, visible_owners
from clawmem.model.records.event import Event
from clawmem.serving.context.hits import (
    ContextRequest,
    QuestionHits,
    answers,
    find_hits,
    given,
    leading_facts,
    public_facts,
    unasked_facts,
)
from clawmem.serving.context.pages import (
    event_units,
    follow_up_commands,
    line_units,
    noted_units,
    page_units,
    recent_units,
    summary_units,
    task_units,
    tasks_for,
)
from clawmem.serving.context.units import (
    TITLES,
    ContextResult,
    TierCounts,
    UnitStyle,
    context_result,
    current_tiers,
    fact_units,
    first_of_tier,
    tiers_at,
    tiers_by,
    tiers_of,
    without_facts,
)
from clawmem.serving.recall.recall import check_question
from clawmem.vault.state.journal import count_accesses, record_access, unfolded_accesses
from clawmem.vault.vault import Vault

if TYPE_CHECKING:
    from clawmem.serving.context.for_task import ScopedFact

# Shares of the free budget: important facts beside a question, each of an agent's own pages, the days in the question,
# and summaries.
ALWAYS_SHARE = 0.15
PAGE_SHARE = 0.12
TIMELINE_SHARE = 0.25
SUMMARIES_SHARE = 0.2
# Facts of so many budgets are looked at for those that are told beside every question.
_LOOKED_AT = 10
_MOST_SUMMARIES = 12
_NEAR = 1000  # tokens of facts, best first, whose entities are summarized
_MOST_RECENT = 30
_MOST_TASKS = 10
_MOST_EVENTS = 40
_NAMED = 5
_TIER_OF = {ALWAYS: HOT, PAST: COLD}
# The usual number of tokens in a line of context.
_LINE = 25


def context(
    vault: Vault,
    caller: Caller,
    budget: int,
    question: str | None = None,
    entity: str | None = None,
    as_of: str | None = None,
    evidence: bool = False,
    reach: Reach | None = None,
    since: str | None = None,
    until: str | None = None,
) -> ContextResult:
    """Return context within a budget of tokens.

    Its sections are the agent's own pages, the most important facts, and people's notes. With a question, the others
    are the facts and events that answer it and the days in it, and the text ends where nothing more bears on it.
    Without one, they are the facts by tier. Superseded, retracted and quarantined facts are left out; with `as_of`, all
    facts that were true then are in. `reach` is the scope of the query; None sees every scope. `since` and `until`
    are the first and the last day (`YYYY-MM-DD`) on which something was said or recorded: without a question, what is
    of these days stands in place of the tiers. Only facts that answer the question count as accessed.
    Raise InvalidInput if the budget is too small for the frame.
    """
    owners = visible_owners(caller.agent, entity)[::-1]
    check_question(question or "")
    domain = domain_of(vault, caller.agent)
    wanted = FactFilter(owners, entity, as_of=as_of, domain=domain, since=since, until=until, reach=reach)
    of_user = frozenset(f"areas/people/{name}" for name in ("user", slug(vault.settings.words("user.name"))))
    wish = ContextRequest(
        caller, budget, question, wanted, evidence, of_user=of_user, general=vault.settings.words("defaults.entity")
    )
    result, answering = run_query(vault, lambda index: context_in(vault, index, wish))
    if not answering or as_of:
        return result
    problem = record_access(vault, stamp(caller.now), answering)
    return result._replace(notices=(*result.notices, problem)) if problem else result


def domain_of(vault: Vault, agent: str | None) -> tuple[str, ...]:
    """Return the entities and folders that the context of an agent is about; none if it is about everything."""
    places = str(vault.settings.agent_value(agent, "domain")).split(", ") if agent else ["all"]
    return () if {"all", "life"} & set(places) else tuple(places)


def context_in(vault: Vault, index: Index, wish: ContextRequest) -> tuple[ContextResult, list[str]]:
    """Return the context from an open index, and the ids of the facts that answer the question."""
    caller, wanted = wish.caller, wish.wanted
    reader = ReaderScope(wanted.owners, caller.now, wanted.entity, wanted.reach)
    counted = count_accesses(unfolded_accesses(vault))
    policy = vault.settings.words("tiers.policy")

    def tiers(of_question: bool) -> TierCounts:
        if wanted.as_of:
            on = tiers_at(index, reader, counted, wanted)
        elif policy != RECENCY_POLICY or wanted.domain:
            on = tiers_by(index, reader, counted, policy, wanted.domain)
        else:
            on = current_tiers(index, reader, counted, of_question)
        return _without_guardrails_of_others(on, caller.agent)

    has_words = _has_words(wish)
    on = tiers(has_words)
    way = UnitStyle(vault.catalog_or_none() or Catalog({}), wanted.as_of or stamp(caller.now), wish.evidence)
    scoped = _for_task().find_scoped(vault, on, wish) if wanted.of_work and not wanted.as_of else ()
    bare = wanted.of_work and not _for_task().task_words(wish)
    if bare and has_words:  # where nothing names the project, a session begins with what is in use
        asked, asides = _for_task().find_of_project(vault, index, on, wish, counted, {fact.n for fact in scoped})
    else:
        asked, asides = find_hits(vault, index, on, wish, counted) if has_words else (None, [])
    tasks = _open_tasks(index, wish, at_start=bare or not has_words)
    aside = frame.aside("; ".join(asides)) if asides and not tasks else None
    guards = _guardrails(vault, on, wish)
    sections = [
        *([_for_task().guardrail_section(on, way, wish, guards)] if guards else ()),
        *_own_pages(index, caller.agent),
        *tasks,
        *_of_extensions(vault, wish),
        *(_for_task().task_sections(on, way, wish, scoped) if scoped else ()),
        *(_hits(vault, on, way, wish, asked) if asked else _tiers(tiers(False) if has_words else on, way, wish)),
    ]
    heading = frame.heading(stamp(caller.now)[:10], wanted.as_of)
    packed = pack(heading, sections, wish.budget, _shows_more(wish, asked), aside)
    omitted = [aside.text.strip("()\n")] if aside and aside not in packed.remarks else []
    unread = unreadable_notices(index, wanted.entity, wanted.owners, facts=False)
    notices = dict.fromkeys((*index.notices, *unread, *vault.catalog_notice(), *_quarantined(index, reader), *omitted))
    result, answering = context_result(on, packed, tuple(notices))
    if asked and asked.further:
        from clawmem.serving.context.connected import pass_reasons

        result = result._replace(explained=pass_reasons(on, asked.further, result.facts))
    if scoped or guards:
        result, answering = _with_reasons(result, answering, [*guards, *scoped])
    return result, answering


def _for_task() -> ModuleType:
    """Return a module that is needed only where a workflow or a project is named, or guardrails are there."""
    from clawmem.serving.context import for_task

    return for_task


def _without_guardrails_of_others(on: TierCounts, agent: str | None) -> TierCounts:
    """Return the tiers without the guardrails that name other agents only. A person sees all."""
    others = (
        [placed.fact.id for placed in all_guardrails(on.source) if not holds_for(placed.fact, agent)] if agent else []
    )
    return without_facts(on, others) if others else on


def _guardrails(vault: Vault, on: TierCounts, wish: ContextRequest) -> "Sequence[ScopedFact]":
    """Return the guardrails of the query's scope; for an agent without a workflow or a project, those of everybody."""
    if wish.wanted.as_of or (wish.wanted.reach is None and wish.caller.agent is None):
        return ()
    reach = wish.wanted.reach or Reach()
    rows = guardrail_rows(on.source, FactFilter(owners=wish.wanted.owners, reach=reach))
    guards: Sequence[ScopedFact] = _for_task().read_guardrails(vault, on, wish, rows) if rows else ()
    return guards


def _with_reasons(
    result: ContextResult, answering: list[str], scoped: "Sequence[ScopedFact]"
) -> tuple[ContextResult, list[str]]:
    """Return the context with why each fact of the scope is in it, and these facts among the accessed ones."""
    shown = set(result.facts)
    explained = tuple(reason for reason in _for_task().reasons(scoped) if reason.id in shown)
    return result._replace(explained=(*explained, *result.explained)), list(
        dict.fromkeys([*answering, *(reason.id for reason in explained)])
    )


def _has_words(wish: ContextRequest) -> bool:
    """Return whether there is something to search for; a task such as "go on" is served as if there were none."""
    question = wish.question or ""
    names = any(word[0].isupper() and word != "I" for word in question.split()[1:])
    words = names or not STOPWORDS.issuperset(search_words(question))
    return words or time_asked(question, wish.caller.now) is not None


def _hits(vault: Vault, on: TierCounts, way: UnitStyle, wish: ContextRequest, asked: QuestionHits) -> list[Section]:
    """Return the sections for a question; nothing is in them only because it is fresh.

    Where the question asks for days, these come before the other answers.
    """
    bare = wish.wanted.of_work and not _for_task().task_words(wish)
    return [
        *_always_told(on, way, wish, asked.technical, {fact.n for fact in asked.facts}, bare),
        *_timeline(on, way, wish, asked.heard),
        *answers(vault, on, way, wish, asked),
        _summaries(on, (), asked.written),
        *(_public_shelves(on, way, wish, of_user=True) if bare and wish.at_work else ()),
    ]


def _tiers(on: TierCounts, way: UnitStyle, wish: ContextRequest) -> list[Section]:
    """Return the sections without a question: the facts by tier."""
    if wish.wanted.of_work:
        return [*_always_told(on, way, wish, wish.at_work, promoted=True), *_public_shelves(on, way, wish)]
    if wish.wanted.since or wish.wanted.until:
        return [*_always_told(on, way, wish, technical=False), *_timeline(on, way, wish, ())]
    return [
        *_shelf(on, way, wish, ALWAYS, 1),
        _summaries(on, (HOT, WARM)),
        *(section for shelf in (HOT, WARM, COLD, PAST) for section in _shelf(on, way, wish, shelf, 6)),
    ]


def _public_shelves(on: TierCounts, way: UnitStyle, wish: ContextRequest, of_user: bool = False) -> list[Section]:
    """Return what is in use beside the facts of a workflow or a project, without anybody's family and health; for a
    project nothing of other people and projects, and with `of_user` only what is known of the user."""
    found = []
    for shelf in (HOT, WARM):
        public = public_facts(on, first_of_tier(on, shelf, _LOOKED_AT * wish.budget), technical=True)
        public = _for_task().told_at_work(on, wish, public, of_user) if wish.at_work else public
        units = fact_units(on, unasked_facts(on, public, wish.caller.agent), way)
        more = f"clawmem list --tier {shelf}{follow_up_commands(wish.wanted, None).list.removeprefix('clawmem list')}"
        found += [Section(TITLES[shelf], given(units), more, turn=6)] if units else []
    return found


def _always_told(
    on: TierCounts,
    way: UnitStyle,
    wish: ContextRequest,
    technical: bool,
    found: Collection[int] = (),
    promoted: bool = False,
) -> list[Section]:
    """Return the section of what must not be missed whatever the question is; the rest is shown if it answers it.

    What the question found comes first. For work, `promoted` adds what was promoted for all."""
    important = first_of_tier(on, ALWAYS, _LOOKED_AT * wish.budget)
    items = sorted(important, key=lambda candidate: (not candidate.owner, candidate.n not in found, -candidate.weight))
    items = _told_always(on, wish, items, found, promoted)
    public = public_facts(on, items, technical or wish.at_work)
    facts = leading_facts(on, public, wish.caller.agent)
    units = fact_units(on, facts, way)
    more = f"clawmem list --tier {HOT}{follow_up_commands(wish.wanted, None).list.removeprefix('clawmem list')}"
    unseen = max(on.totals[ALWAYS] - len(important), 0) + len(public) - len(facts)
    if not units and not unseen:
        return []
    section = Section(TITLES[ALWAYS], given(units), more, share=ALWAYS_SHARE, turn=1, leads=True)
    return [section._replace(further=lambda shown: unseen) if unseen else section]


def _told_always(
    on: TierCounts, wish: ContextRequest, items: Sequence[FactCandidate], found: Collection[int], promoted: bool
) -> list[FactCandidate]:
    """Return those of the important facts that are told whatever the question is: for a project, rules and what the
    user is; outside of one what harms to forget, and all that is important where nothing is asked."""
    always = [candidate for candidate in items if candidate.weight >= ALWAYS_TOLD]
    if not wish.wanted.of_work:
        elsewhere = wish.question and not (wish.wanted.reach and wish.wanted.reach.project)
        others = realms_of_work(on.source, [candidate.n for candidate in always]) if elsewhere else {}
        return [candidate for candidate in always if candidate.n in found or candidate.n not in others]
    of_all = _for_task().for_work(on, items, promoted)
    if wish.at_work:
        always, of_all = (_for_task().told_at_work(on, wish, *each) for each in ((items, True), (of_all,)))
    elif not _has_words(wish):
        always = list(items)
    chosen = {candidate.n for candidate in (*always, *of_all)}
    return [candidate for candidate in items if candidate.n in chosen]


def _shows_more(wish: ContextRequest, asked: QuestionHits | None) -> str:
    """Return the command for what is left out: with a question, the search that finds all of its hits, else a larger
    context."""
    commands = follow_up_commands(wish.wanted, wish.question if asked else None)
    if asked is not None:
        return commands.others
    return f"clawmem context{commands.list.removeprefix('clawmem list')} --budget {2 * wish.budget}"


def _own_pages(index: Index, agent: str | None) -> list[Section]:
    if agent is None:
        return []
    more, folder = f"clawmem agent show {agent}", f"agents/{agent}"
    pages = {
        frame.SOUL: page_units(index, f"{folder}/SOUL.md"),
        frame.HABITS: page_units(index, f"{folder}/TACIT.md"),
        frame.FOCUS: page_units(index, f"{folder}/CONTEXT.md"),
        frame.RECENT: recent_units(index, agent, _MOST_RECENT),
    }
    return [Section(title, given(units), more, share=PAGE_SHARE) for title, units in pages.items() if units]


def _open_tasks(index: Index, wish: ContextRequest, at_start: bool) -> list[Section]:
    rows = [] if wish.wanted.as_of else tasks_for(index, wish.question or "", wish.caller.agent, at_start)
    units, more = task_units(rows[:_MOST_TASKS]), len(rows[_MOST_TASKS:])
    section = Section(frame.TASKS, given(units), "clawmem task list", share=PAGE_SHARE, further=lambda _: more)
    return [section] if units else []


def _of_extensions(vault: Vault, wish: ContextRequest) -> list[Section]:
    """Return the sections that accepted extensions add, each from its title, its lines and the command for more."""
    found = [named(function) for extension in foreign() for function in extension.context]
    sections = [section for function in found for section in function(vault, wish.caller, wish.question)]
    return [Section(title, given(line_units(title, lines)), more, share=PAGE_SHARE) for title, lines, more in sections]


def _shelf(on: TierCounts, way: UnitStyle, wish: ContextRequest, shelf: str, turn: int) -> list[Section]:
    def units(tokens: int, shown: Shown) -> Sequence[Unit]:
        # Facts shown in earlier sections cost nothing here.
        known = sum(title == TITLES[shelf] for title in shown.values()) * _LINE
        found = [candidate for candidate in first_of_tier(on, shelf, tokens + known) if candidate.n not in shown]
        allowed = leading_facts if shelf == ALWAYS else unasked_facts
        return fact_units(on, allowed(on, found, wish.caller.agent), way)

    options = follow_up_commands(wish.wanted, None).list.removeprefix("clawmem list")
    more = f"clawmem list --tier {_TIER_OF.get(shelf, shelf)}{options}"
    section = Section(TITLES[shelf], units, more, on.totals[shelf], turn=turn, leads=shelf == ALWAYS)
    return [section] if on.totals[shelf] else []


def _timeline(on: TierCounts, way: UnitStyle, wish: ContextRequest, heard: Sequence[Event]) -> list[Section]:
    """Return the section of the days that are asked for: what began, ended, was recorded or said, in time order."""
    span = _days_asked(wish)
    if span is None:
        return []
    owners, reach = wish.wanted.owners, wish.wanted.reach
    items, further = (
        ([], 0)
        if wish.wanted.entity or wish.wanted.as_of
        else event_units(on.source, span, owners, _MOST_EVENTS, stamp(wish.caller.now), reach)
    )
    notes = [] if wish.wanted.entity or wish.wanted.as_of else noted_units(on.source, span, owners)
    dated = sorted([*_dated(on, way, wish, span), *items, *notes], key=lambda pair: pair[0])
    commands = follow_up_commands(wish.wanted, wish.question)
    more = f"{commands.others if items else commands.recall} --limit {len(dated)}"
    units = [unit for _, unit in dated]
    offered = {unit.key for unit in units}
    among = (
        {event.id for event in heard if span.first <= day_of(event.timestamp) <= span.last} - offered
        if further
        else set()
    )

    def beyond(shown: Shown) -> int:
        return further - len(among & shown.keys())

    section = Section(frame.TIMELINE, given(units), more, share=TIMELINE_SHARE, turn=1, further=beyond)
    return [section] if units else []


def _days_asked(wish: ContextRequest) -> DaySpan | None:
    """Return the days of a request without a question, or else those that its question names."""
    if not wish.question and (wish.wanted.since or wish.wanted.until):
        return DaySpan(wish.wanted.since or "0001-01-01", wish.wanted.until or stamp(wish.caller.now)[:10])
    return time_asked(wish.question, wish.caller.now) if wish.question else None


def _dated(on: TierCounts, way: UnitStyle, wish: ContextRequest, span: DaySpan) -> list[tuple[str, Unit]]:
    chosen = tiers_of(on, time_channel(on.source, span, wish.wanted).scores.keys())
    facts = {n: placed.fact for n, placed in facts_in_rows(on.source, sorted(chosen)).items()}
    units = zip(chosen, fact_units(on, list(chosen.values()), way), strict=True)
    return [(facts[n].valid_from or facts[n].timestamp, unit) for n, unit in units]


def _summaries(on: TierCounts, tiers: Sequence[str], found: Collection[tuple[str, str]] = ()) -> Section:
    """Return the section with people's words: what was `found`, and about the entities of the first facts."""

    def units(tokens: int, shown: Shown) -> Sequence[Unit]:
        named = [on.reader.entity] if on.reader.entity else []
        named += entities_of(on.source, [n for n in shown if isinstance(n, int)])
        for tier in tiers:
            if len(set(named)) < _MOST_SUMMARIES:
                named += entities_of(on.source, [candidate.n for candidate in first_of_tier(on, tier, _NEAR)])
        return summary_units(on.source, list(dict.fromkeys(named))[:_MOST_SUMMARIES], found)

    more = "clawmem entity show NAME"
    return Section(frame.SUMMARIES, units, more, share=SUMMARIES_SHARE, turn=3 if found else 5)


def _quarantined(index: Index, reader: ReaderScope) -> list[str]:
    number, ids = quarantined_facts(index, reader, _NAMED)
    if not number:
        return []
    some = ", ".join(ids) + (f" and {number - len(ids)} more" if number > len(ids) else "")
    return [f"left out because they come from outside and read as orders: {some}"]
