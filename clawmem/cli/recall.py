"""`clawmem recall`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from clawmem.cli.face import Face
from clawmem.cli.filters import filter_of
from clawmem.cli.parameters import Parameter
from clawmem.cli.reading import text_or_stdin
from clawmem.cli.standpoint import AS_OF_HELP, AT_HELP, standpoint
from clawmem.cli.words import context_data, event_warning
from clawmem.errors import DONE, PARTIAL, InvalidInput
from clawmem.model.facts.fact_words import fact_data, fact_line
from clawmem.model.language.text import counted
from clawmem.model.proposals.quarantine import quarantined_event
from clawmem.model.records.event import display_speaker
from clawmem.serving.recall.brief import Brief, brief
from clawmem.serving.recall.recall import FACTS, RECALL_KINDS, ChannelReport, EventHit, FactHit, NoteHit, RecallResult
from clawmem.serving.recall.recall import recall as act

if TYPE_CHECKING:
    from clawmem.serving.context.context import ContextResult

ALL = "all"


PARAMETERS = (
    Parameter("question", "The question, or - for stdin.", required=True),
    Parameter("where", "Where to look: facts, events, notes or all.", ("--in",), default=FACTS),
    Parameter("limit", "How many of each.", ("--limit", "-n"), int, least=1, most=1000),
    Parameter("entity", "Only facts of this entity.", ("--entity", "-e")),
    Parameter("category", "Only facts of this category.", ("--category", "-c")),
    Parameter("tag", "Only facts with this tag.", ("--tag", "-t")),
    Parameter("as_of", AS_OF_HELP, ("--as-of",)),
    Parameter("at", AT_HELP, ("--at",)),
    Parameter(
        "include_superseded", "Replaced and withdrawn facts too, labelled.", ("--include-superseded",), bool, False
    ),
    Parameter(
        name="passes",
        help="How often to look: again through what the best facts point at.",
        flags=("--passes",),
        kind=int,
        default=1,
        least=1,
        most=5,
    ),
    Parameter("budget", "Give the text for a prompt, of at most so many tokens.", ("--budget", "-b"), int, least=1),
    Parameter("evidence", "In that text: each fact's quote and day.", ("--evidence",), bool, False),
    Parameter("explain", "Show each hit's path and each channel's account.", ("--explain",), bool, False),
    Parameter("strict", "Exit with 4 where a channel could not run.", ("--strict",), bool, False),
)


def recall(
    face: Face,
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
) -> int:
    """An agent sees its own facts and the global ones, its own first."""
    asked = text_or_stdin(question).strip()
    if not asked:
        raise InvalidInput("The question is empty.", "Ask it in words: clawmem recall 'where does Jane live?'")
    here = standpoint(face, at)
    wanted = filter_of(here.vault, here.caller, entity, category, tag, as_of, include_superseded)
    most = limit or here.vault.settings.whole("defaults.limit")
    result = act(here.vault, asked, here.caller, wanted, most, _places(where), passes)
    lines, account, data = _lines(result, explain), _account(result), {**_data(result), **here.data}
    talk = () if lines else ("Nothing was found.", *(() if explain else account))
    lines += account if explain else []
    if budget or face.as_json:
        room = budget or here.vault.settings.whole("context.budget")
        told: Brief | ContextResult | None = None if budget or evidence else brief(result, room)
        if told is None:
            from clawmem.serving.recall.budgeted import recalled_context  # what most questions find needs none of it

            told = recalled_context(here.vault, here.caller, asked, wanted, result, room, evidence)
        data["context"] = context_data(told)
        lines = ([told.text] if told.text else []) if budget else lines
    unable = [f"channel {name} {_told(one)}" for name, one in result.channels.items() if strict and one.unable]
    return face.done(data, lines, (*here.notices, *result.notices, *unable), PARTIAL if unable else DONE, talk)


def _places(where: str) -> tuple[str, ...]:
    if where == ALL:
        return RECALL_KINDS
    if where not in RECALL_KINDS:
        raise InvalidInput(f"'{where}' is no place to look.", f"Choose one of {', '.join(RECALL_KINDS)}, {ALL}.")
    return (where,)


def _data(result: RecallResult) -> dict[str, Any]:
    return {
        "facts": [
            {**fact_data(one.fact, one.entity), "score": one.score, "tier": one.tier, "channels": _scores(one.channels)}
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
        lines += _shown(fact_line(fact.fact, fact.entity), fact, explain, f"; {fact.tier}")
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
        return counted(channel.hits, "hit") + (f", not all of it: {channel.why_not}" if channel.unable else "")
    return f"{'could' if channel.unable else 'did'} not run, {channel.why_not}"
