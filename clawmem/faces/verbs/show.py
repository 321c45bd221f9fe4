"""`clawmem show`, `clawmem list` and `clawmem tier`."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from shlex import quote
from typing import TYPE_CHECKING, Annotated, Any

from clawmem.errors import AmbiguousId, InvalidInput, NotFound
from clawmem.faces.parts.command import Answer, Call, Command
from clawmem.faces.parts.filters import PointInTime, entity_or_page, filter_of, named_entity, point_in_time, reach_of
from clawmem.faces.parts.parameters import (
    AS_OF,
    AT,
    FACT,
    LIMIT,
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
from clawmem.faces.parts.words import plain_value, said
from clawmem.index.refresh import run_query
from clawmem.index.search.channels import FactFilter
from clawmem.index.search.lookup import PlacedFact, by_ids
from clawmem.model.facts.codec import exchange_record
from clawmem.model.facts.fact import FACT_PREFIX, PINNED, STATUSES
from clawmem.model.facts.fact_words import change_labels, fact_data, fact_line, reason_labels, trust_label
from clawmem.model.facts.validity import is_over
from clawmem.model.language.dates import parse_period, parse_state, stamp
from clawmem.model.language.text import check_choice, counted, normal
from clawmem.model.lifecycle.tiers import TIERS, explain, tier_of
from clawmem.model.pages.summary import prose
from clawmem.model.records.caller import Caller
from clawmem.model.records.entity import kind_of
from clawmem.serving.answers import unknown_names
from clawmem.serving.browse import FactDetails, TruthAt, list_facts, list_stale, peek, plain_importance
from clawmem.serving.browse import show_fact as act
from clawmem.vault.vault import Vault

if TYPE_CHECKING:
    from clawmem.memory.entities.entities import EntityDetails

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
    decisions, lessons and facts, the people in them, and what other entities, messages and notes say of it. So of a
    name that no entity has, if several facts state it."""
    from clawmem.memory.entities.entities import show_entity

    if style not in (None, CLAIV):
        raise InvalidInput(f"'{style}' is not a format of a record.", f"The format is {CLAIV}.")
    here = point_in_time(call, at)
    moment = parse_state(as_of, here.caller.now) if as_of else None
    near = ""
    fact = fact.removeprefix("daily/")  # a daily note is named by its day
    if as_of and not style and (entity := named_entity(here.vault, fact, here.caller)):
        then = list_facts(here.vault, here.caller, filter_of(here.vault, here.caller, entity, as_of=as_of)).facts
        data = {"facts": [fact_data(*placed) for placed, _ in then], **here.data}
        talk = [] if then else ["Nothing that is known of it was true then."]
        return Answer(data, [fact_line(*placed) for placed, _ in then], here.notices, talk=talk)
    if not (style or as_of or fact.startswith(FACT_PREFIX)):
        try:
            return _entity(here, show_entity(here.vault, fact, here.caller), fact)
        except NotFound as problem:
            near = problem.hint if problem.hint.startswith("Did you mean ") else ""
    try:
        shown = act(here.vault, fact, here.caller, moment)
    except AmbiguousId as problem:
        is_prefix = any(match.startswith((fact, FACT_PREFIX + fact)) for match in problem.matches[:1])
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


def _entity(here: PointInTime, shown: EntityDetails, called: str) -> Answer:
    """What the memory has of an entity: its own page, and what is said of it elsewhere; and who else is called so."""
    entity, title = shown.entity, shown.entity.title
    names = ", ".join((entity.name, *(alias for alias in entity.aliases if alias != title)))
    lines = [f"{title}  ({names})", *([prose(shown.summary)] if prose(shown.summary) else [])]
    data = {"entity": said(entity._asdict()), **said({"summary": prose(shown.summary)})}
    namesakes = [name for name in _people_called(here, called) if name != entity.name]
    lines += [f"Also called {called}: {', '.join(namesakes)}"] if namesakes and kind_of(entity.name) == "person" else []
    others = [alias for alias in entity.aliases if "/" not in alias and normal(alias) != normal(title)]
    return _all_of(here, [title, *others[:_MOST_NAMES]], shown.facts, lines, data, shown)


def _stating(here: PointInTime, words: str, facts: Sequence[str]) -> Answer:
    """What the memory has of a name that no entity has and several facts state; of a first name that several people
    have, what the page of each has first."""
    people = _people_called(here, words)
    filters = (filter_of(here.vault, here.caller, person) for person in people)
    of_people = [placed for wanted in filters for placed, _ in list_facts(here.vault, here.caller, wanted).facts]
    placed = {placed.fact.id: placed for placed in of_people}
    placed |= run_query(here.vault, lambda index: by_ids(index, facts))
    first = f"'{words}' may be {' or '.join(people)}." if len(people) > 1 else f"No entity is named '{words}'."
    return _all_of(here, [words], [*placed.values()], [first], {})


def _people_called(here: PointInTime, name: str) -> list[str]:
    from clawmem.memory.entities.places import people_called  # a fact by its id needs none

    return people_called(here.vault, name, here.caller) if "/" not in name else []


def _all_of(
    here: PointInTime,
    names: Sequence[str],
    facts: Sequence[PlacedFact],
    lines: list[str],
    data: dict[str, Any],
    shown: EntityDetails | None = None,
) -> Answer:
    from clawmem.faces.verbs.recall import hit_lines  # a fact needs no search
    from clawmem.serving.recall.recall import said_of
    from clawmem.serving.recall.result import EVENTS, FACTS, NOTES, RecallHit

    wanted, places = filter_of(here.vault, here.caller), (FACTS, EVENTS, NOTES)
    about, persons, notices = (shown.about, shown.people, shown.notices) if shown else ((), (), ())
    own, user = {placed.fact.id for placed in (*facts, *about)}, here.vault.settings.words("user.name")
    elsewhere: dict[str, RecallHit] = {}
    rows = [fact_line(*placed) for placed in about]
    for name in names:
        result, named = said_of(here.vault, name, here.caller, wanted, _MOST_ELSEWHERE, places)
        others = [hit for hit in named if getattr(getattr(hit.hit, "fact", None), "id", None) not in own]
        hits = [hit for hit in others if hit.text not in elsewhere]
        elsewhere |= {hit.text: hit for hit in hits}
        rows += hit_lines(result, hits, name, user, explain=False)
    current = [placed for placed in facts if placed.fact.is_current]
    groups: dict[str, list[str]] = {"Decisions": [], "Lessons": [], "Facts": [], "Over": []}
    for fact, entity in current:
        group = {"decision": "Decisions", "lesson": "Lessons"}.get(fact.category, "Facts")
        groups["Over" if is_over(fact, stamp(here.caller.now)) else group].append(fact_line(fact, entity))
    people = [f"{person.title}  ({person.name})" for person in persons]
    for heading, found in {**groups, "People": people, "Elsewhere": rows}.items():
        lines += ["", heading, *found] if found else []
    if former := len(facts) - len(current):
        lines += ["", f"{counted(former, 'former fact')}: clawmem entity show {data['entity']['name']}"]
    data |= {
        "facts": [fact_data(placed.fact, placed.entity) for placed in facts],
        "people": [person.name for person in persons],
        "elsewhere": [
            *({"kind": FACTS, "text": placed.fact.fact} for placed in about),
            *({"kind": hit.kind, "text": hit.text} for hit in elsewhere.values()),
        ],
    }
    return Answer({**data, **here.data}, lines, (*here.notices, *notices))


def _lines(shown: FactDetails) -> list[str]:
    lines = _truth_lines(shown.truth) if shown.truth else []
    remarks = {"remarks": ", ".join([*change_labels(shown.fact), *reason_labels(shown.fact)]) or None}
    record = {**fact_data(shown.fact, shown.entity, shown.against), **remarks}
    width = max(map(len, record))
    label = trust_label(shown.fact)
    notes = {"trust": f", {label.removeprefix('agent, ')}"} if label not in (None, shown.fact.trust) else {}
    if shown.fact.importance == PINNED:
        notes["importance"] = ", pinned"
    rows = ((key, f"{plain_value(value)}{notes.get(key, '')}")
            for key, value in record.items() if value is not None and key != "source_span")  # fmt: skip
    return lines + [f"{key:<{width}}  {words}" for key, words in rows]


def _truth_lines(truth: TruthAt) -> list[str]:
    if truth.why_not is None:
        return [f"True on {truth.as_of}."]
    lines = [f"Not true on {truth.as_of}: {truth.why_not}."]
    if truth.instead:
        lines.append(f"True then: {fact_line(*truth.instead)}")
    return lines


# How many facts a person sees where no number is given.
_SHOWN = 50


def list_(
    call: Call,
    entity: Annotated[str | None, OF_ENTITY],
    category: Annotated[str | None, OF_CATEGORY],
    tag: Annotated[str | None, WITH_TAG],
    tier: Annotated[str | None, Parameter("{choices}.", ("--tier",), choices=TIERS)],
    status: Annotated[str | None, Parameter("{choices}.", ("--status",), choices=STATUSES)],
    as_of: Annotated[str | None, AS_OF],
    at: Annotated[str | None, AT],
    include_superseded: Annotated[bool, SUPERSEDED],
    limit: Annotated[int | None, LIMIT._replace(help="The maximum number of facts. A person sees 50 by default.")],
    every: Annotated[bool, Parameter("List all facts.", ("--all",))],
    workflow: Annotated[str | None, WORKFLOW],
    scope: Annotated[str | None, SCOPE],
    project: Annotated[str | None, PROJECT],
    since: Annotated[str | None, SINCE],
    until: Annotated[str | None, UNTIL],
    stale: Annotated[bool, Parameter("Only facts that somebody should check, each with the reason.", ("--stale",))],
) -> Answer:
    """A person sees the newest facts first, and those of a named project before everybody's; a program gets hot facts
    first, then warm, then cold. A fact is stale if its day for review has passed, its source
    was revoked, redacted or changed, what it rests on was replaced or withdrawn, or nobody has used it for 180
    days; with --stale, the most important are first."""
    check_choice(tier, "tier", TIERS)
    check_choice(status, "status", STATUSES)
    here = point_in_time(call, at)
    replaced = include_superseded or status in STATUSES[1:3]
    reach = reach_of(call, workflow, scope, project)
    place = entity_or_page(call, here.vault, entity, project, reach)
    wanted = filter_of(here.vault, here.caller, place, category, tag, as_of, replaced, since, until, reach)
    if stale:
        if tier or status or at or as_of or include_superseded:
            raise InvalidInput("--stale takes no tier, status or time.", "It lists current facts.")
        return _stale(here.vault, here.caller, wanted, limit or (None if every else _SHOWN))
    if limit is None and not every and not call.wants_data():
        limit = _SHOWN
    listed = list_facts(here.vault, here.caller, wanted, limit, tier, status, newest=not call.wants_data())
    data = {
        "facts": [
            {**fact_data(hit.fact, hit.entity, listed.conflicts.get(hit.fact.id, ())), "tier": heat}
            for hit, heat in listed.facts
        ],
        "total": listed.total,
        **here.data,
    }
    # A tier that all facts share says nothing.
    tiers = len({heat for _, heat in listed.facts}) > 1
    lines = [
        f"{f'{heat:<4}  ' if tiers else ''}{fact_line(hit.fact, hit.entity, listed.conflicts.get(hit.fact.id, ()))}"
        for hit, heat in listed.facts
    ]
    own = sum(hit.fact.project is not None for hit, _ in listed.facts)
    rest = (
        [f"{own:,} of the project, then {len(lines) - own:,} of everybody"] if project and 0 < own < len(lines) else []
    )
    talk = [*_talk(listed.total, len(lines), "No fact matches."), *rest, *listed.scope_talk()]
    unfound = (None, None) if lines else (category, tag)
    unknown = unknown_names(here.vault, here.caller, reach if project and place == entity else None, *unfound)
    return Answer(data, lines, (*here.notices, *listed.notices, *unknown), talk=talk)


def _stale(vault: Vault, caller: Caller, wanted: FactFilter, limit: int | None) -> Answer:
    listed = list_stale(vault, caller, wanted, limit)
    facts = [{**fact_data(placed.fact, placed.entity), "why": why} for placed, why in listed.facts]
    lines = [f"{fact_line(placed.fact, placed.entity)}  {why}" for placed, why in listed.facts]
    return Answer(
        {"facts": facts, "total": listed.total}, lines, talk=_talk(listed.total, len(lines), "No fact is stale.")
    )


def _talk(total: int, shown: int, nothing: str) -> list[str]:
    if not shown:
        return [nothing]
    return [f"... and {total - shown:,} more; `--limit N` or `--all`"] if total > shown else []


def tier(
    call: Call,
    fact: Annotated[str, FACT],
    wake: Annotated[bool, Parameter("Make an archived fact active again first.", ("--restore",))],
) -> Answer:
    """The answer contains the result of each policy, and names the deciding one."""
    from clawmem.memory.facts.access import restore

    vault = call.runtime.vault()
    result = restore(vault, fact, call.runtime.caller()) if wake else None
    placed = peek(vault, fact, call.runtime.caller())
    days, policy = vault.settings.whole("decay.archive_days"), vault.settings.words("tiers.policy")
    data = explain(placed.fact, call.runtime.now(), days, policy, plain_importance(vault, placed.fact.id))
    lines = [fact_line(placed.fact, placed.entity), f"{data['tier']}: {data['reason']}"]
    pair = ("tier", "reason", "policy", "archive")
    lines += [f"  {key}: {_plain(value)}" for key, value in data.items() if key not in pair]
    lines.append(_archive_line(data["archive"]))
    if result is None:
        return Answer({"id": placed.fact.id, **data}, lines)
    lines += [] if result.commit else ["nothing changed; no commit was made"]
    return Answer({"id": placed.fact.id, **data, "commit": result.commit}, lines, result.notices)


def _archive_line(archive: Mapping[str, Any]) -> str:
    if archive["never_fades"] and not archive["due"]:
        return "  archive: not due; what a person typed, and what has an importance of 0.8 or more, never fades"
    rule = f"it is due if its score is below {archive['below']:g} and it was not used for {archive['days']:g} days"
    return f"  archive: {'due' if archive['due'] else f'not due; {rule}'}"


def _plain(value: object) -> str:
    if isinstance(value, dict):
        return ", ".join(f"{key} {part}" for key, part in value.items())
    return str(value)


_TIER = set(TIERS)


VERBS = {
    "show": Command(
        show,
        {
            "fact?": "fact",
            "entity?": "entity",
            "summary?": str,
            "facts?": ["fact"],
            "people?": [str],
            "elsewhere?": [{"kind": str, "text": str}],
            "as_of?": {"moment": str, "true": bool, "why_not": (str, None), "instead": ("fact", None)},
            "record?": {str: object},
            "at?": "point",
        },
        ("clawmem show fact_1a2b", "clawmem show jane", "clawmem show fact_1a2b --format claiv"),
        ("fact",),
    ),
    "list": Command(
        list_,
        (
            {"facts": [{"...": "fact", "tier": set(TIERS)}], "total": int, "at?": "point"},
            {"facts": [{"...": "fact", "why": str}], "total": int},
        ),
        (
            "clawmem list --entity areas/people/jane",
            "clawmem list --since 'last week'",
            "clawmem list --stale --category lesson",
        ),
        ("facts",),
    ),
    "tier": Command(
        tier,
        {
            "id": str,
            "tier": _TIER,
            "reason": str,
            "policy": {"recency", "importance", "score"},
            "status": str,
            "last_access": str,
            "days_since_access": float,
            "access_count": int,
            "recency": {"tier": _TIER, "hot_days": float, "warm_days": float},
            "score": {"tier": int, "value": float, "base": float},
            "importance": {"tier": _TIER, "value": float},
            "archive": {"due": bool, "never_fades": bool, "below": float, "days": float},
            "commit?": (str, None),
        },
        ("clawmem tier fact_1a2b", "clawmem tier fact_1a2b --restore"),
    ),
}
