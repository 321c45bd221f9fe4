"""`clawmem recall`."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from functools import cache
from typing import TYPE_CHECKING, Annotated, Any

from clawmem.errors import DONE, PARTIAL, InvalidInput
from clawmem.extension import ask
from clawmem.faces.parts.command import Answer, Call, Command
from clawmem.faces.parts.filters import entity_or_page, filter_of, mark_session, point_in_time, reach_of
from clawmem.faces.parts.parameters import (
    AS_OF,
    AT,
    OF_CATEGORY,
    OF_ENTITY,
    PROJECT,
    SCOPE,
    SINCE,
    SUPERSEDED,
    UNTIL,
    WITH_TAG,
    WORKFLOW,
    Parameter,
)
from clawmem.faces.parts.words import (
    OF_ORGANISATION,
    ORG,
    context_data,
    event_data,
    event_warning,
    said,
)
from clawmem.index.tables.store import stores_kept_open
from clawmem.model.facts.fact import source_name
from clawmem.model.facts.fact_words import fact_data, fact_line, person_of
from clawmem.model.language.question import search_words
from clawmem.model.language.text import counted, forms_of, normal
from clawmem.model.lifecycle.tiers import TIERS
from clawmem.model.pages.tokens import said_on
from clawmem.model.records.event import display_speaker
from clawmem.model.records.layout import agent_of
from clawmem.model.search.passage import excerpt
from clawmem.serving.answers import hidden_notices, unknown_names
from clawmem.serving.recall.recall import LEAST_SCORE, NEAR_SHARE, gone_words
from clawmem.serving.recall.recall import recall as act
from clawmem.serving.recall.result import (
    FACTS,
    RECALL_KINDS,
    SUMMARIES,
    ChannelReport,
    EventHit,
    FactHit,
    NoteHit,
    RecallHit,
    RecallResult,
)

if TYPE_CHECKING:
    from clawmem.serving.context.units import ContextResult
    from clawmem.serving.recall.result import Brief

ALL = "all"
_USER, _NOTE = "user", "note"
# With fewer lines than this, what was left out is said.
_FEW_LINES = 3
# A hit is one line: of longer texts, the characters around the words of the question.
LONGEST_LINE = 240
_SINGULAR = {FACTS: "fact", "events": "event", "notes": "note", SUMMARIES: "summary"}


def recall(
    call: Call,
    question: Annotated[str, Parameter("The question, or - for stdin.", stdin=True)],
    where: Annotated[
        list[str] | None,
        Parameter(
            "Where to look: {choices}; may be repeated, or several between commas. The default is all.",
            ("--in",),
            choices=(*RECALL_KINDS, ALL),
        ),
    ],
    every: Annotated[
        bool,
        Parameter("Show weak hits too, which have hardly more than a name or are far behind the best.", ("--all",)),
    ],
    limit: Annotated[int | None, Parameter("The maximum number of results.", ("--limit", "-n"), least=1, most=1000)],
    entity: Annotated[str | None, OF_ENTITY],
    category: Annotated[str | None, OF_CATEGORY],
    tag: Annotated[str | None, WITH_TAG],
    since: Annotated[str | None, SINCE],
    until: Annotated[str | None, UNTIL],
    as_of: Annotated[str | None, AS_OF],
    at: Annotated[str | None, AT],
    include_superseded: Annotated[bool, SUPERSEDED],
    passes: Annotated[
        int,
        Parameter(
            "Number of search passes; each further pass follows the links of the best facts.",
            ("--passes",),
            default=1,
            least=1,
            most=5,
        ),
    ],
    budget: Annotated[
        int | None,
        Parameter("Print a text for a prompt, with at most this number of tokens.", ("--budget", "-b"), least=1),
    ],
    evidence: Annotated[bool, Parameter("Include the quote and day of each fact in that text.", ("--evidence",))],
    explain: Annotated[
        bool, Parameter("Show the scores of each result and the report of each channel.", ("--explain",))
    ],
    strict: Annotated[bool, Parameter("Exit with code 4 if a channel could not run.", ("--strict",))],
    workflow: Annotated[str | None, WORKFLOW],
    scope: Annotated[str | None, SCOPE],
    project: Annotated[str | None, PROJECT],
    org: Annotated[bool, ORG],
) -> Answer:
    """Everything is searched in one ranking, and what is said twice appears once; with a filter for facts, only facts
    are searched. An agent gets its own facts and the global ones, its own first."""
    asked = question.strip()
    if not asked and since is None and until is None:
        example = "Example: clawmem recall 'where does Jane live?', or clawmem recall '' --since yesterday"
        raise InvalidInput("The question is empty.", example)
    here = point_in_time(call, at)
    reach = reach_of(call, workflow, scope, project)
    place = entity_or_page(call, here.vault, entity, project, reach)
    wanted = filter_of(here.vault, here.caller, place, category, tag, as_of, include_superseded, since, until, reach)
    most = limit or here.vault.settings.whole("defaults.limit")
    narrowed = [name for name, value in (("entity", entity), ("category", category), ("tag", tag)) if value]
    places = _places(where, of_facts=bool(narrowed or as_of))
    least, near = (0.0, 0.0) if every else (LEAST_SCORE, 0.0 if limit or places != RECALL_KINDS else NEAR_SHARE)
    result = act(here.vault, asked, here.caller, wanted, most, places, passes, least, near)

    mark_session(here, [hit.fact.id for hit in result.found])

    beside = ask("hub", "beside")(here, asked, most, [hit.fact.id for hit in result.found], as_of) if org else None
    unfound = () if result.found else (category, tag)
    unknown = unknown_names(here.vault, here.caller, reach if project and place == entity else None, *unfound)
    hidden = hidden_notices(here.vault, asked, here.caller, wanted) if reach and FACTS in places else []
    notices = [*here.notices, *result.notices, *unknown, *hidden, *(beside.notices() if beside else ())]
    also = {"organisation": beside.data()} if beside else {}

    def within_budget(hot: bool = False) -> Brief | ContextResult:
        own = of_vault(hot)
        if beside is None:
            return own
        text: Brief | ContextResult
        text, left_out = beside.joined(own, budget or here.vault.settings.whole("context.budget"))
        notices.extend(left_out if budget else ())
        return text

    def of_vault(hot: bool) -> Brief | ContextResult:
        from clawmem.serving.recall.result import brief  # lines alone need no text for a prompt

        room = budget or here.vault.settings.whole("context.budget")
        short = None if budget or evidence or hot else brief(result, room)
        if short is not None:
            return short
        from clawmem.serving.context.hits import recalled_context  # what most questions find needs none of it

        return recalled_context(here.vault, here.caller, asked, wanted, result, room, evidence, hot)

    def told_always() -> Sequence[FactHit]:
        from clawmem.serving.context.hits import always_told  # lines for a person have none of it

        return () if as_of or at else always_told(here.vault, here.caller, asked, wanted)

    made, hot_facts = cache(within_budget), cache(told_always)
    text = made() if budget else None
    user = here.vault.settings.words("user.name")
    theirs = beside.statements() if beside else ()
    most_asked = max((_asked_words(asked, statement) for statement in theirs), default=0)
    first = [hit for hit in result.ranking if not most_asked or _asked_words(asked, hit.text) >= most_asked]
    after = [hit for hit in result.ranking if hit not in first]
    lines = hit_lines(result, first, asked, user, explain)
    around = [f"near: {line}" for line in hit_lines(result, result.nearest, asked, user, explain=False)]
    where_not = "Nothing" if places == RECALL_KINDS else f"Nothing in {' and '.join(places)}"
    nothing = (f"{where_not} says that.", *around, *_what_else(question, result, places, narrowed))
    talk = ((*_gone(result), *(() if limit else _weaker(result)))) if result.ranking else nothing
    if beside and beside.hits:
        talk = talk if result.ranking else ()
        lines += beside.lines()
    lines += hit_lines(result, after, asked, user, explain)
    lines += _account(result) if explain else []
    unable = [
        f"channel {name} {channel_state(channel)}"
        for name, channel in result.channels.items()
        if strict and channel.unable
    ]
    return Answer(
        lambda: {**_data(result, user), **also, **here.data, **_texts(made, hot_facts)},
        lines if text is None else [text.text] if text.text else [],
        (*notices, *unable),
        PARTIAL if unable else DONE,
        talk,
    )


def _places(where: list[str] | None, of_facts: bool) -> tuple[str, ...]:
    """Where to look; without --in everywhere, or only in facts if there is a filter that only facts have."""
    named = [word.strip() for text in where or () for word in text.split(",")]
    for text in named:
        if text not in (*RECALL_KINDS, ALL):
            raise InvalidInput(
                f"'{text}' is not a valid value of --in.", f"Choose from {', '.join(RECALL_KINDS)}, {ALL}."
            )
    if not named and of_facts:
        return (FACTS,)
    return RECALL_KINDS if not named or ALL in named else tuple(kind for kind in RECALL_KINDS if kind in named)


def _what_else(question: str, result: RecallResult, places: Sequence[str], narrowed: Sequence[str]) -> list[str]:
    """What to try where nothing was found."""
    others = ",".join(kind for kind in RECALL_KINDS if kind not in places)
    meaning = result.channels.get("vector")
    return [
        *_gone(result),
        *([f"Only words were searched, not the meaning: {meaning.why_not}."] if meaning and meaning.unable else []),
        *([f"{counted(result.weak, 'weak hit')} left out: add --all to see them."] if result.weak else []),
        *([f"Without --{' and --'.join(narrowed)}, more is searched."] if narrowed else []),
        *([f"Other places: --in {others}, or --in all."] if others else []),
        "Fewer words, or words that the answer may have; `clawmem list` shows every fact.",
        *(["`clawmem recall '' --in notes --since 'last week'` shows notes."] if "note" in question.lower() else []),
        *(["`clawmem task list` shows tasks."] if "task" in question.lower() else []),
    ]


def _gone(result: RecallResult) -> list[str]:
    text = gone_words(result.gone, result.successors) if result.gone else ""
    return [f"No longer: {text}; --include-superseded shows all."] if text else []


def _weaker(result: RecallResult) -> Sequence[str]:
    """How many weaker hits there are, as far as fewer lines are shown than fit."""
    few = len(result.ranking) < _FEW_LINES and result.weak
    return (f"{counted(result.weak, 'weaker hit')} left out: add --all to see more.",) if few else ()


def _data(result: RecallResult, user: str) -> dict[str, Any]:
    records: dict[str, list[dict[str, Any]]] = {kind: [] for kind in RECALL_KINDS}
    clocks = _clocks(result.ranking)
    for rank, recall_hit in enumerate(result.ranking, 1):
        date, who = _date_and_who(recall_hit, user)
        place = {
            "rank": rank,
            "score": recall_hit.hit.score,
            **_parts_of_score(recall_hit.hit),
            **said({"date": date, "who": who}),
        }
        record = {**_hit_data(recall_hit, result), **place, **said({"time": clocks.get(_id(recall_hit))})}
        records[recall_hit.kind].append(record)
    return {
        **records,
        "weak": result.weak,
        **said({"gone": [fact.id for fact in result.gone]}),
        "nearest": [
            {"kind": recall_hit.kind, "id": _id(recall_hit), "score": recall_hit.hit.score}
            for recall_hit in result.nearest
        ],
        "answer_facts": [{**_record(hit), "score": hit.score} for hit in result.found],
        "channels": {name: _channel_data(channel) for name, channel in result.channels.items()},
    }


def _record(hit: FactHit) -> dict[str, Any]:
    """A fact with the few keys that a program needs; without a triple, its object is the whole statement."""
    fact = hit.fact
    return {
        "id": fact.id,
        "fact": fact.fact,
        "entity": hit.entity,
        "predicate": fact.predicate,
        "object_text": fact.object or fact.fact,
        "tier": hit.tier,
        "confidence": fact.confidence,
        "source": source_name(fact),
        "source_text": fact.source_text,
    }


def _hit_data(other_hit: RecallHit, result: RecallResult) -> dict[str, Any]:
    hit = other_hit.hit
    if isinstance(hit, EventHit):
        return {**event_data(hit.event), **said({"quarantined": hit.is_order or None, "outdated": hit.outdated})}
    if isinstance(hit, NoteHit):
        return {"path": hit.path, "place": hit.place, "text": hit.text}
    quote = {"quote": other_hit.event.text} if other_hit.event and other_hit.event.text != hit.fact.source_text else {}
    against = result.conflicts.get(hit.fact.id, ())
    now = said({"then": result.successors.get(hit.fact.id)})
    return {**fact_data(hit.fact, hit.entity, against), "tier": hit.tier, **quote, **now}


def _channel_data(report: ChannelReport) -> dict[str, Any]:
    return {
        "ran": report.ran,
        "hits": report.hits,
        **said({"why_not": report.why_not}),
        **({"unable": True} if report.unable else {}),
    }


def _texts(made: Callable[..., Brief | ContextResult], hot: Callable[[], Sequence[FactHit]]) -> dict[str, Any]:
    """The text for a prompt, the same with the facts that are always told, and these; made where they are printed."""

    def prompt() -> dict[str, Any]:
        text = made(True) if hot() else made()
        return {"text": text.text, "token_count": text.tokens}

    return {
        "context": lambda: {key: value for key, value in context_data(made()).items() if key != "facts"},
        "hot_facts": lambda: [_record(hit) for hit in hot()],
        "llm_context": prompt,
    }


def _id(other_hit: RecallHit) -> str:
    hit = other_hit.hit
    if isinstance(hit, FactHit):
        return hit.fact.id
    return hit.event.id if isinstance(hit, EventHit) else f"{hit.path}:{hit.place}"


def _asked_words(question: str, text: str) -> int:
    """How many words of a question a text has, in any of their forms."""
    words = set(search_words(text))
    return sum(not words.isdisjoint(forms_of(word)) for word in search_words(question))


def _date_and_who(other_hit: RecallHit, user: str) -> tuple[str | None, str]:
    """The day on which it was said or recorded, and by whom. The user has one name, wherever it is from."""
    hit = other_hit.hit
    if isinstance(hit, NoteHit):
        return hit.day, agent_of(hit.path) or _NOTE
    event = hit.event if isinstance(hit, EventHit) else other_hit.event
    if event is not None:
        date, who = event.timestamp[:10], display_speaker(event)
    else:
        assert isinstance(hit, FactHit)
        date = said_on(hit.fact) or hit.fact.timestamp[:10]
        trust = hit.fact.trust if hit.fact.source_event else None  # not by the agent that read the message
        who = other_hit.speaker or trust or hit.fact.agent or person_of(hit.fact) or hit.fact.trust or _USER
    return date, user if who == _USER else who


def _clocks(hits: Sequence[RecallHit]) -> dict[str, str]:
    """The times of the events that are shown with others of their day, by id."""
    times = {
        recall_hit.hit.event.id: recall_hit.hit.event.timestamp
        for recall_hit in hits
        if isinstance(recall_hit.hit, EventHit)
    }
    days = Counter(day for day, _ in {(time[:10], time[11:16]) for time in times.values()})
    return {event_id: time[11:16] for event_id, time in times.items() if days[time[:10]] > 1}


def _parts_of_score(hit: FactHit | EventHit | NoteHit) -> dict[str, Any]:
    """What the score is made of; left out if it is that of one channel, except the channels of a fact."""
    channels = {name: round(score, 4) for name, score in hit.channels.items()}
    if isinstance(hit, FactHit):
        return {"channels": channels, **({"prior": round(hit.prior, 4)} if hit.prior else {})}
    return {"channels": channels} if len(channels) > 1 else {}


def hit_lines(result: RecallResult, hits: Sequence[RecallHit], question: str, user: str, explain: bool) -> list[str]:
    """Return a line for each hit: its id, kind, day, speaker and words; with `explain`, its score below."""
    words = [form for word in search_words(question) for form in forms_of(word)]
    tiers = len({recall_hit.hit.tier for recall_hit in hits if isinstance(recall_hit.hit, FactHit)}) > 1
    quoted: set[str] = set()
    lines: list[str] = []
    clocks = _clocks(hits)
    for recall_hit in hits:
        date, who = _date_and_who(recall_hit, user)
        text = _words(result, recall_hit, words, again=recall_hit.event is not None and recall_hit.event.id in quoted)
        quoted |= {recall_hit.event.id} if recall_hit.event else set()
        clock = f" {clocks[_id(recall_hit)]}" if _id(recall_hit) in clocks else ""
        lines.append(f"{_id(recall_hit)}  {_SINGULAR[recall_hit.kind]}  {date or 'undated'}{clock}  {who}: {text}")
        lines += [f"    {_score(recall_hit.hit, tiers)}"] if explain else []
    return lines


def _words(result: RecallResult, other_hit: RecallHit, words: Sequence[str], again: bool) -> str:
    """What a hit says, and for a fact what it quotes, as far as it says something else and was not said `again`."""
    hit = other_hit.hit
    if isinstance(hit, NoteHit):
        return excerpt(hit.text, words, LONGEST_LINE)
    if isinstance(hit, EventHit):
        outdated = f"  ({hit.outdated})" if hit.outdated else ""
        return f"{excerpt(hit.event.text, words, LONGEST_LINE)}{event_warning(hit.event, hit.is_order)}{outdated}"
    against = result.conflicts.get(hit.fact.id, ())
    then = f"  then: {now}" if (now := result.successors.get(hit.fact.id)) else ""
    statement = fact_line(hit.fact, hit.entity, against).removeprefix(f"{hit.fact.id}  ") + then
    quote = other_hit.event.text if other_hit.event else hit.fact.source_text
    if not quote or again or normal(quote) == normal(hit.fact.fact):
        return statement
    return f'{statement}  "{excerpt(quote, words, LONGEST_LINE)}"'


def _score(hit: FactHit | EventHit | NoteHit, tiers: bool) -> str:
    """The score and what it is made of, and with `tiers` the tier. The last digit of the largest part is such that the
    parts add up."""
    prior = {"prior": hit.prior} if isinstance(hit, FactHit) and hit.prior else {}
    parts = {name: round(points, 3) for name, points in {**hit.channels, **prior}.items()}
    parts[max(parts, key=lambda name: parts[name])] += round(hit.score, 3) - sum(parts.values())
    total = " + ".join(f"{name} {points:.3f}" for name, points in parts.items())
    return f"score {hit.score:.3f} = {total}{f'; {hit.tier}' if tiers and isinstance(hit, FactHit) else ''}"


def _account(result: RecallResult) -> list[str]:
    weak = [f"{counted(result.weak, 'weak hit')} left out; --all shows them"] if result.weak else []
    return [*(f"channel {name}: {channel_state(channel)}" for name, channel in result.channels.items()), *weak]


def channel_state(channel: ChannelReport) -> str:
    """What a channel of the search did, in words."""
    if channel.ran:
        return counted(channel.hits, "hit") + (f", incomplete: {channel.why_not}" if channel.unable else "")
    return f"{'could' if channel.unable else 'did'} not run, {channel.why_not}"


_TEXT = (str, None)
_RECORD = {
    "id": str,
    "fact": str,
    "entity": str,
    "predicate": _TEXT,
    "object_text": str,
    "tier": set(TIERS),
    "confidence": (float, None),
    "source": str,
    "source_text": _TEXT,
}
_HIT = {"rank": int, "score": float, "date?": str, "who": str}
_SAID = {**_HIT, "time?": str, "channels?": {str: float}}
_LINE = {"path": str, "place": int, "text": str, **_SAID}

VERB = Command(
    recall,
    {
        "facts": [
            {
                "...": "fact",
                "tier": set(TIERS),
                "channels": {str: float},
                "prior?": float,
                "quote?": str,
                "then?": str,
                **_HIT,
            }
        ],
        "events": [{"...": "event", "quarantined?": {True}, "outdated?": str, **_SAID}],
        "notes": [_LINE],
        "summaries": [_LINE],
        "weak": int,
        "gone?": [str],
        "nearest": [{"kind": str, "id": str, "score": float}],
        "answer_facts": [{**_RECORD, "score": float}],
        "hot_facts": [_RECORD],
        "llm_context": {"text": str, "token_count": int},
        "channels": {str: {"ran": bool, "hits": int, "why_not?": str, "unable?": {True}}},
        "context": "context",
        "organisation?": OF_ORGANISATION,
        "at?": "point",
    },
    (
        "clawmem recall 'where does Jane live?' --as-of 2025-01-01",
        "clawmem recall 'what did Lena think of the film?' --in events,notes",
    ),
    RECALL_KINDS,
    stores_kept_open,  # the text for a prompt is a second query
)
