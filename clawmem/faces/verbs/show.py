"""`clawmem show`."""

from __future__ import annotations

import json
from collections.abc import Sequence
from shlex import quote
from typing import Annotated, Any

from clawmem.errors import AmbiguousId, InvalidInput, NotFound
from clawmem.faces.parts.command import Answer, Call, Command
from clawmem.faces.parts.filters import PointInTime, filter_of, point_in_time
from clawmem.faces.parts.parameters import AT, FACT, Parameter
from clawmem.faces.parts.words import plain_value, said
from clawmem.index.refresh.refresh import run_query
from clawmem.index.search.lookup import PlacedFact, by_ids
from clawmem.memory.entities.entities import EntityDetails, show_entity
from clawmem.model.facts.codec import exchange_record
from clawmem.model.facts.fact import FACT_PREFIX, PINNED
from clawmem.model.facts.fact_words import fact_data, fact_line, trust_label
from clawmem.model.facts.validity import is_over
from clawmem.model.language.dates import parse_period, parse_state, stamp
from clawmem.model.language.text import counted, normal
from clawmem.model.lifecycle.tiers import tier_of
from clawmem.model.pages.summary import prose
from clawmem.serving.browse import FactDetails, TruthAt
from clawmem.serving.browse import show_fact as act

CLAIV = "claiv"
_MOST_ELSEWHERE = 10
_MOST_NAMES = 3  # beside the title


def show(
    call: Call,
    fact: Annotated[
        str,
        FACT._replace(help="A fact, by id or by words that only it has; or an entity.", completes="fact or entity"),
    ],
    as_of: Annotated[str | None, Parameter("Show whether it was true then, and if not, which fact was.", ("--as-of",))],
    at: Annotated[str | None, AT],
    style: Annotated[
        str | None, Parameter("The record of another program: {choices}.", ("--format",), choices=(CLAIV,))
    ],
) -> Answer:
    """Of a fact all keys that are set are printed; with `--format claiv`, the record that CLAIV and its like exchange,
    with the times and links of the fact as temporal edges. Of an entity all that the memory has: its summary, its
    decisions, lessons and facts, and what other entities, messages and notes say of it. So of a name that no entity
    has, if several facts state it."""
    if style not in (None, CLAIV):
        raise InvalidInput(f"'{style}' is not a format of a record.", f"The format is {CLAIV}.")
    here = point_in_time(call, at)
    moment = parse_state(as_of, here.caller.now) if as_of else None
    near = ""
    fact = fact.removeprefix("daily/")  # a daily note is named by its day
    if not (style or as_of or fact.startswith(FACT_PREFIX)):
        try:
            return _entity(here, show_entity(here.vault, fact, here.caller))
        except NotFound as problem:
            near = problem.hint if problem.hint.startswith("Did you mean ") else ""
    try:
        shown = act(here.vault, fact, here.caller, moment)
    except AmbiguousId as problem:
        is_prefix = problem.matches[0].startswith((fact, FACT_PREFIX + fact))
        if as_of and not is_prefix:
            problem.hint = f"`clawmem recall {quote(fact)} --as-of {quote(as_of)}` says what was true then."
        if is_prefix or style or as_of:
            raise
        return _stating(here, fact, problem.matches)
    except NotFound as problem:
        from clawmem.memory.history.why import removed_fact_error  # reads the history: only where the fact is not there

        if days := parse_period(fact, here.caller.now) if fact[-1:].isdigit() and "-" in fact else None:
            notes = f"`clawmem recall '' --since {days[0]} --until {days[1]}` shows what was said and noted"
            near = f"{notes}, and `clawmem log {days[0]}` what changed."
        problem.hint = near or problem.hint
        raise (None if at else removed_fact_error(here.vault, fact)) or problem from None
    data, lines = {**_data(shown), **here.data}, _lines(shown)
    if style:
        tier = tier_of(shown.fact, here.caller.now, policy=here.vault.settings.words("tiers.policy"))
        data["record"] = exchange_record(shown.fact, tier)
        lines = [json.dumps(data["record"], ensure_ascii=False, indent=2)]
    return Answer(data, lines, (*here.notices, *shown.notices))


def _data(shown: FactDetails) -> dict[str, Any]:
    data: dict[str, Any] = {"fact": fact_data(shown.fact, shown.entity, shown.against)}
    if shown.truth:
        instead = shown.truth.instead
        data["as_of"] = {
            "moment": shown.truth.as_of,
            "true": shown.truth.why_not is None,
            "why_not": shown.truth.why_not,
            "instead": fact_data(*instead) if instead else None,
        }
    return data


def _entity(here: PointInTime, shown: EntityDetails) -> Answer:
    """What the memory has of an entity: its own page, and what is said of it elsewhere."""
    entity, title = shown.entity, shown.entity.title
    names = ", ".join((entity.name, *(alias for alias in entity.aliases if alias != title)))
    lines = [f"{title}  ({names})", *([prose(shown.summary)] if prose(shown.summary) else [])]
    data = {"entity": said(entity._asdict()), **said({"summary": prose(shown.summary)})}
    others = [alias for alias in entity.aliases if "/" not in alias and normal(alias) != normal(title)]
    return _all_of(here, [title, *others[:_MOST_NAMES]], shown.facts, lines, data, shown.notices)


def _stating(here: PointInTime, words: str, facts: Sequence[str]) -> Answer:
    """What the memory has of a name that no entity has and several facts state."""
    placed = run_query(here.vault, lambda index: by_ids(index, facts)).values()
    return _all_of(here, [words], [*placed], [f"No entity is named '{words}'."], {}, ())


def _all_of(
    here: PointInTime,
    names: Sequence[str],
    facts: Sequence[PlacedFact],
    lines: list[str],
    data: dict[str, Any],
    notices: Sequence[str],
) -> Answer:
    from clawmem.faces.verbs.recall import hit_lines  # a fact needs no search
    from clawmem.serving.recall.recall import LEAST_SCORE, recall
    from clawmem.serving.recall.result import EVENTS, FACTS, NOTES, RecallHit

    wanted, places = filter_of(here.vault, here.caller), (FACTS, EVENTS, NOTES)
    own, user = {placed.fact.id for placed in facts}, here.vault.settings.words("user.name")
    elsewhere: dict[str, RecallHit] = {}
    rows = list[str]()
    for name in names:
        result = recall(here.vault, name, here.caller, wanted, _MOST_ELSEWHERE, places, 1, LEAST_SCORE)
        named = [hit for hit in result.ranking if "keyword" in hit.hit.channels]  # not what is only near in meaning
        others = [hit for hit in named if getattr(getattr(hit.hit, "fact", None), "id", None) not in own]
        hits = [hit for hit in others if hit.text not in elsewhere]
        elsewhere |= {hit.text: hit for hit in hits}
        rows += hit_lines(result, hits, name, user, explain=False)
    current = [placed for placed in facts if placed.fact.is_current]
    groups: dict[str, list[str]] = {"Decisions": [], "Lessons": [], "Facts": [], "Over": []}
    for fact, entity in current:
        group = {"decision": "Decisions", "lesson": "Lessons"}.get(fact.category, "Facts")
        groups["Over" if is_over(fact, stamp(here.caller.now)) else group].append(fact_line(fact, entity))
    for heading, found in {**groups, "Elsewhere": rows}.items():
        lines += ["", heading, *found] if found else []
    if former := len(own) - len(current):
        lines += ["", f"{counted(former, 'former fact')}: clawmem entity show {data['entity']['name']}"]
    data |= {
        "facts": [fact_data(placed.fact, placed.entity) for placed in facts],
        "elsewhere": [{"kind": hit.kind, "text": hit.text} for hit in elsewhere.values()],
    }
    return Answer({**data, **here.data}, lines, (*here.notices, *notices))


def _lines(shown: FactDetails) -> list[str]:
    lines = _truth_lines(shown.truth) if shown.truth else []
    record = fact_data(shown.fact, shown.entity, shown.against)
    width = max(map(len, record))
    label = trust_label(shown.fact)
    notes = {"trust": f", {label.removeprefix('agent, ')}"} if label not in (None, shown.fact.trust) else {}
    if shown.fact.importance == PINNED:
        notes["importance"] = ", pinned"
    rows = ((key, f"{plain_value(value)}{notes.get(key, '')}") for key, value in record.items() if value is not None)
    return lines + [f"{key:<{width}}  {words}" for key, words in rows]


def _truth_lines(truth: TruthAt) -> list[str]:
    if truth.why_not is None:
        return [f"True on {truth.as_of}."]
    lines = [f"Not true on {truth.as_of}: {truth.why_not}."]
    if truth.instead:
        lines.append(f"True then: {fact_line(*truth.instead)}")
    return lines


VERB = Command(
    show,
    {
        "fact?": "fact",
        "entity?": "entity",
        "summary?": str,
        "facts?": ["fact"],
        "elsewhere?": [{"kind": str, "text": str}],
        "as_of?": {"moment": str, "true": bool, "why_not": (str, None), "instead": ("fact", None)},
        "record?": {str: object},
        "at?": "point",
    },
    ("clawmem show fact_1a2b", "clawmem show jane", "clawmem show fact_1a2b --format claiv"),
    ("fact",),
)
