"""`clawmem recall`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from clawmem.errors import DONE, PARTIAL, InvalidInput
from clawmem.faces.parts.command import Answer, Call, Command
from clawmem.faces.parts.filters import filter_of, mark_session, point_in_time, reach_of
from clawmem.faces.parts.parameters import (
    AS_OF,
    AT,
    OF_CATEGORY,
    OF_ENTITY,
    PROJECT,
    SCOPE,
    SUPERSEDED,
    WITH_TAG,
    WORKFLOW,
    Parameter,
)
from clawmem.faces.parts.words import context_data, event_data, event_warning, said
from clawmem.model.facts.fact_words import fact_data, fact_line
from clawmem.model.language.irregular import forms_of
from clawmem.model.language.question import search_words
from clawmem.model.language.text import counted, normal
from clawmem.model.lifecycle.tiers import TIERS
from clawmem.model.pages.tokens import said_on
from clawmem.model.records.event import display_speaker
from clawmem.model.records.layout import agent_of
from clawmem.model.search.excerpt import excerpt
from clawmem.serving.recall.brief import Brief, brief
from clawmem.serving.recall.recall import (
    FACTS,
    LEAST_SCORE,
    RECALL_KINDS,
    SUMMARIES,
    ChannelReport,
    EventHit,
    FactHit,
    NoteHit,
    RecallHit,
    RecallResult,
)
from clawmem.serving.recall.recall import recall as act

if TYPE_CHECKING:
    from clawmem.serving.context.context import ContextResult

ALL = "all"
# A hit is one line: of longer texts, the characters around the words of the question.
LONGEST_LINE = 240
_SINGULAR = {FACTS: "fact", "events": "event", "notes": "note", SUMMARIES: "summary"}


def recall(
    call: Call,
    question: str,
    where: Sequence[str] | None,
    every: bool,
    limit: int | None,
    entity: str | None,
    category: str | None,
    tag: str | None,
    as_of: str | None,
    at: str | None,
    include_superseded: bool,
    passes: int,
    budget: int | None,
    evidence: bool,
    explain: bool,
    strict: bool,
    workflow: str | None,
    scope: str | None,
    project: str | None,
) -> Answer:
    """Everything is searched in one ranking, and what is said twice appears once; with a filter for facts, only facts
    are searched. An agent gets its own facts and the global ones, its own first."""
    asked = question.strip()
    if not asked:
        raise InvalidInput("The question is empty.", "Example: clawmem recall 'where does Jane live?'")
    here = point_in_time(call, at)
    reach = reach_of(call, workflow, scope, project)
    wanted = filter_of(here.vault, here.caller, entity, category, tag, as_of, include_superseded, reach)
    most = limit or here.vault.settings.whole("defaults.limit")
    narrowed = [name for name, value in (("entity", entity), ("category", category), ("tag", tag)) if value]
    places = _places(where, of_facts=bool(narrowed or as_of))
    result = act(here.vault, asked, here.caller, wanted, most, places, passes, 0.0 if every else LEAST_SCORE)

    mark_session(here, [one.fact.id for one in result.found])

    def within_budget() -> Brief | ContextResult:
        room = budget or here.vault.settings.whole("context.budget")
        short = None if budget or evidence else brief(result, room)
        if short is not None:
            return short
        from clawmem.serving.recall.budgeted import recalled_context  # what most questions find needs none of it

        return recalled_context(here.vault, here.caller, asked, wanted, result, room, evidence)

    text = within_budget() if budget else None
    lines, account = _lines(result, asked, explain), _account(result)
    talk = () if lines else (_nothing(places), *_what_else(result, places, narrowed), *(() if explain else account))
    lines += account if explain else []
    unable = [f"channel {name} {_channel_state(one)}" for name, one in result.channels.items() if strict and one.unable]
    return Answer(
        lambda: {**_data(result), **here.data, "context": lambda: _context_data(text or within_budget())},
        lines if text is None else [text.text] if text.text else [],
        (*here.notices, *result.notices, *unable),
        PARTIAL if unable else DONE,
        talk,
    )


def _places(where: Sequence[str] | None, of_facts: bool) -> tuple[str, ...]:
    """Where to look; without --in everywhere, or only in facts if there is a filter that only facts have."""
    named = [word.strip() for one in where or () for word in one.split(",")]
    for one in named:
        if one not in (*RECALL_KINDS, ALL):
            raise InvalidInput(
                f"'{one}' is not a valid value of --in.", f"Choose from {', '.join(RECALL_KINDS)}, {ALL}."
            )
    if not named and of_facts:
        return (FACTS,)
    return RECALL_KINDS if not named or ALL in named else tuple(kind for kind in RECALL_KINDS if kind in named)


def _nothing(places: Sequence[str]) -> str:
    return "Nothing was found." if places == RECALL_KINDS else f"Nothing was found in {' and '.join(places)}."


def _what_else(result: RecallResult, places: Sequence[str], narrowed: Sequence[str]) -> list[str]:
    """What to try where nothing was found."""
    others = ",".join(kind for kind in RECALL_KINDS if kind not in places)
    return [
        *([f"{counted(result.weak, 'weak hit')} left out: add --all to see them."] if result.weak else []),
        *([f"Without --{' and --'.join(narrowed)}, more is searched."] if narrowed else []),
        *([f"Other places: --in {others}, or --in all."] if others else []),
        "Fewer words, or words that the answer may have; `clawmem list` shows every fact.",
    ]


def _data(result: RecallResult) -> dict[str, Any]:
    records: dict[str, list[dict[str, Any]]] = {kind: [] for kind in RECALL_KINDS}
    for rank, one in enumerate(result.ranking, 1):
        date, who = _date_and_who(one)
        place = {"rank": rank, "score": one.hit.score, "channels": _scores(one.hit.channels)}
        record = {**_hit_data(one, result.conflicts), **place, **said({"date": date, "who": who})}
        records[one.kind].append(record)
    return {
        **records,
        "weak": result.weak,
        "channels": {name: _channel_data(one) for name, one in result.channels.items()},
    }


def _hit_data(one: RecallHit, conflicts: Mapping[str, Sequence[str]]) -> dict[str, Any]:
    hit = one.hit
    if isinstance(hit, EventHit):
        return {**event_data(hit.event), **({"quarantined": True} if hit.is_order else {})}
    if isinstance(hit, NoteHit):
        return {"path": hit.path, "place": hit.place, "text": hit.text}
    quote = {"quote": one.event.text} if one.event and one.event.text != hit.fact.source_text else {}
    against = conflicts.get(hit.fact.id, ())
    return {**fact_data(hit.fact, hit.entity, against), "tier": hit.tier, "prior": round(hit.prior, 4), **quote}


def _channel_data(one: ChannelReport) -> dict[str, Any]:
    return {
        "ran": one.ran,
        "hits": one.hits,
        **said({"why_not": one.why_not}),
        **({"unable": True} if one.unable else {}),
    }


def _context_data(done: Brief | ContextResult) -> dict[str, Any]:
    """The text; the facts in it are among the records."""
    return {key: value for key, value in context_data(done).items() if key != "facts"}


def _id(one: RecallHit) -> str:
    hit = one.hit
    if isinstance(hit, FactHit):
        return hit.fact.id
    return hit.event.id if isinstance(hit, EventHit) else f"{hit.path}:{hit.place}"


def _date_and_who(one: RecallHit) -> tuple[str | None, str]:
    """The day on which it was said or recorded, and by whom."""
    hit = one.hit
    if isinstance(hit, NoteHit):
        return hit.day, agent_of(hit.path) or "notes"
    event = hit.event if isinstance(hit, EventHit) else one.event
    if event is not None:
        return event.timestamp[:10], display_speaker(event)
    assert isinstance(hit, FactHit)
    return said_on(hit.fact) or hit.fact.timestamp[:10], hit.fact.agent or hit.fact.trust or "user"


def _scores(channels: Mapping[str, float]) -> dict[str, float]:
    return {name: round(score, 4) for name, score in channels.items()}


def _lines(result: RecallResult, question: str, explain: bool) -> list[str]:
    words = [form for word in search_words(question) for form in forms_of(word)]
    lines: list[str] = []
    for one in result.ranking:
        date, who = _date_and_who(one)
        lines.append(f"{_id(one)}  {_SINGULAR[one.kind]}  {date or 'undated'}  {who}: {_words(result, one, words)}")
        lines += [f"    {_score(one.hit)}"] if explain else []
    return lines


def _words(result: RecallResult, one: RecallHit, words: Sequence[str]) -> str:
    """What a hit says, and for a fact what it quotes, as far as it says something else."""
    hit = one.hit
    if isinstance(hit, NoteHit):
        return excerpt(hit.text, words, LONGEST_LINE)
    if isinstance(hit, EventHit):
        return f"{excerpt(hit.event.text, words, LONGEST_LINE)}{event_warning(hit.event, hit.is_order)}"
    against = result.conflicts.get(hit.fact.id, ())
    statement = fact_line(hit.fact, hit.entity, against).removeprefix(f"{hit.fact.id}  ")
    quote = one.event.text if one.event else hit.fact.source_text
    if not quote or normal(quote) == normal(hit.fact.fact):
        return statement
    return f'{statement}  "{excerpt(quote, words, LONGEST_LINE)}"'


def _score(hit: FactHit | EventHit | NoteHit) -> str:
    """The score and what it is made of; the last digit of the largest part is such that the parts add up."""
    prior = {"prior": hit.prior} if isinstance(hit, FactHit) and hit.prior else {}
    parts = {name: round(points, 3) for name, points in {**hit.channels, **prior}.items()}
    most = max(parts, key=lambda name: parts[name])
    parts[most] += round(hit.score, 3) - sum(parts.values())
    total = " + ".join(f"{name} {points:.3f}" for name, points in parts.items())
    return f"score {hit.score:.3f} = {total}{f'; {hit.tier}' if isinstance(hit, FactHit) else ''}"


def _account(result: RecallResult) -> list[str]:
    weak = [f"{counted(result.weak, 'weak hit')} left out; --all shows them"] if result.weak else []
    return [*(f"channel {name}: {_channel_state(channel)}" for name, channel in result.channels.items()), *weak]


def _channel_state(channel: ChannelReport) -> str:
    if channel.ran:
        return counted(channel.hits, "hit") + (f", incomplete: {channel.why_not}" if channel.unable else "")
    return f"{'could' if channel.unable else 'did'} not run, {channel.why_not}"


_HIT = {"rank": int, "score": float, "channels": {str: float}, "date?": str, "who": str}
_LINE = {"path": str, "place": int, "text": str, **_HIT}

VERB = Command(
    recall,
    (
        Parameter("question", "The question, or - for stdin.", required=True, stdin=True),
        Parameter(
            "where",
            "Where to look: {choices}; may be repeated, or several between commas. The default is all.",
            ("--in",),
            repeated=True,
            choices=(*RECALL_KINDS, ALL),
        ),
        Parameter("every", "Show weak hits too, which have hardly more than a name.", ("--all",), bool, False),
        Parameter("limit", "The maximum number of results.", ("--limit", "-n"), int, least=1, most=1000),
        OF_ENTITY,
        OF_CATEGORY,
        WITH_TAG,
        AS_OF,
        AT,
        SUPERSEDED,
        Parameter(
            "passes",
            "Number of search passes; each further pass follows the links of the best facts.",
            ("--passes",),
            int,
            1,
            least=1,
            most=5,
        ),
        Parameter(
            "budget", "Print a text for a prompt, with at most this number of tokens.", ("--budget", "-b"), int, least=1
        ),
        Parameter("evidence", "Include the quote and day of each fact in that text.", ("--evidence",), bool, False),
        Parameter(
            "explain", "Show the scores of each result and the report of each channel.", ("--explain",), bool, False
        ),
        Parameter("strict", "Exit with code 4 if a channel could not run.", ("--strict",), bool, False),
        WORKFLOW,
        SCOPE,
        PROJECT,
    ),
    {
        "facts": [{"...": "fact", "tier": set(TIERS), "prior": float, "quote?": str, **_HIT}],
        "events": [{"...": "event", "quarantined?": {True}, **_HIT}],
        "notes": [_LINE],
        "summaries": [_LINE],
        "weak": int,
        "channels": {str: {"ran": bool, "hits": int, "why_not?": str, "unable?": {True}}},
        "context": "context",
        "at?": "point",
    },
    (
        "clawmem recall 'where does Jane live?' --as-of 2025-01-01",
        "clawmem recall 'what did Lena think of the film?' --in events,notes",
    ),
    RECALL_KINDS,
)
