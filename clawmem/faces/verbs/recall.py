"""`clawmem recall`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from clawmem.errors import DONE, PARTIAL, InvalidInput
from clawmem.faces.parts.command import Answer, Call, Command
from clawmem.faces.parts.filters import filter_of, standpoint
from clawmem.faces.parts.parameters import AS_OF, AT, OF_CATEGORY, OF_ENTITY, SUPERSEDED, WITH_TAG, Parameter
from clawmem.faces.parts.words import context_data, event_warning
from clawmem.model.facts.fact_words import fact_data, fact_line
from clawmem.model.language.text import counted
from clawmem.model.lifecycle.tiers import TIERS
from clawmem.model.proposals.quarantine import quarantined_event
from clawmem.model.records.event import display_speaker
from clawmem.serving.recall.brief import Brief, brief
from clawmem.serving.recall.recall import FACTS, RECALL_KINDS, ChannelReport, EventHit, FactHit, NoteHit, RecallResult
from clawmem.serving.recall.recall import recall as act

if TYPE_CHECKING:
    from clawmem.serving.context.context import ContextResult

ALL = "all"


def recall(
    call: Call,
    question: str,
    where: str,
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
) -> Answer:
    """An agent gets its own facts and the global ones, its own first."""
    asked = question.strip()
    if not asked:
        raise InvalidInput("The question is empty.", "Example: clawmem recall 'where does Jane live?'")
    here = standpoint(call, at)
    wanted = filter_of(here.vault, here.caller, entity, category, tag, as_of, include_superseded)
    most = limit or here.vault.settings.whole("defaults.limit")
    result = act(here.vault, asked, here.caller, wanted, most, _places(where), passes)

    def told() -> Brief | ContextResult:
        room = budget or here.vault.settings.whole("context.budget")
        short = None if budget or evidence else brief(result, room)
        if short is not None:
            return short
        from clawmem.serving.recall.budgeted import recalled_context  # what most questions find needs none of it

        return recalled_context(here.vault, here.caller, asked, wanted, result, room, evidence)

    text = told() if budget else None
    lines, account = _lines(result, explain), _account(result)
    talk = () if lines else ("Nothing was found.", *(() if explain else account))
    lines += account if explain else []
    unable = [f"channel {name} {_told(one)}" for name, one in result.channels.items() if strict and one.unable]
    return Answer(
        lambda: {**_data(result), **here.data, "context": context_data(text or told())},
        lines if text is None else [text.text] if text.text else [],
        (*here.notices, *result.notices, *unable),
        PARTIAL if unable else DONE,
        talk,
    )


def _places(where: str) -> tuple[str, ...]:
    if where == ALL:
        return RECALL_KINDS
    if where not in RECALL_KINDS:
        raise InvalidInput(
            f"'{where}' is not a valid value of --in.", f"Choose one of {', '.join(RECALL_KINDS)}, {ALL}."
        )
    return (where,)


def _data(result: RecallResult) -> dict[str, Any]:
    return {
        "facts": [
            {
                **fact_data(one.fact, one.entity, result.conflicts.get(one.fact.id, ())),
                "score": one.score,
                "tier": one.tier,
                "channels": _scores(one.channels),
            }
            for one in result.found
        ],
        "events": [_event_data(one) for one in result.heard],
        "notes": [{**one._asdict(), "channels": _scores(one.channels)} for one in result.noted],
        "channels": {name: channel._asdict() for name, channel in result.channels.items()},
    }


def _event_data(one: EventHit) -> dict[str, Any]:
    told = {key: value for key, value in one.event._asdict().items() if value is not None}
    held = {"quarantined": True} if quarantined_event(one.event) else {}
    return {**told, **held, "score": one.score, "channels": _scores(one.channels)}


def _scores(channels: Mapping[str, float]) -> dict[str, float]:
    return {name: round(score, 4) for name, score in channels.items()}


def _lines(result: RecallResult, explain: bool) -> list[str]:
    lines: list[str] = []
    for fact in result.found:
        lines += _shown(
            fact_line(fact.fact, fact.entity, result.conflicts.get(fact.fact.id, ())), fact, explain, f"; {fact.tier}"
        )
    for heard in result.heard:
        lines += _shown(_event_line(heard), heard, explain)
    for note in result.noted:
        lines += _shown(f"{note.path}  {note.text}", note, explain)
    return lines


def _account(result: RecallResult) -> list[str]:
    return [f"channel {name}: {_told(channel)}" for name, channel in result.channels.items()]


def _shown(line: str, one: FactHit | EventHit | NoteHit, explain: bool, more: str = "") -> list[str]:
    paths = ", ".join(f"{name} {score:.2f}" for name, score in one.channels.items())
    return [line, f"    score {one.score:.3f} = {paths}{more}"] if explain else [line]


def _event_line(heard: EventHit) -> str:
    event = heard.event
    words = " ".join(event.text.split())
    return f"{event.id}  {event.timestamp[:10]}  {display_speaker(event)}: {words}{event_warning(event)}"


def _told(channel: ChannelReport) -> str:
    if channel.ran:
        return counted(channel.hits, "hit") + (f", incomplete: {channel.why_not}" if channel.unable else "")
    return f"{'could' if channel.unable else 'did'} not run, {channel.why_not}"


VERB = Command(
    recall,
    (
        Parameter("question", "The question, or - for stdin.", required=True, stdin=True),
        Parameter("where", "Where to look: {choices}.", ("--in",), default=FACTS, choices=(*RECALL_KINDS, ALL)),
        Parameter("limit", "The maximum number of results of each kind.", ("--limit", "-n"), int, least=1, most=1000),
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
    ),
    {
        "facts": [{"...": "fact", "score": float, "tier": set(TIERS), "channels": {str: float}}],
        "events": [{"...": "event", "quarantined?": {True}, "score": float, "channels": {str: float}}],
        "notes": [
            {"path": str, "place": int, "day": (str, None), "text": str, "score": float, "channels": {str: float}}
        ],
        "channels": {str: {"ran": bool, "hits": int, "why_not": str, "unable": bool}},
        "context": "context",
        "at?": "point",
    },
    (
        "clawmem recall 'where does Jane live?' --as-of 2025-01-01",
        "clawmem recall 'what did Lena think of the film?' --in events",
    ),
)
