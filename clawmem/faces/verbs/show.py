"""`clawmem show`."""

from __future__ import annotations

import json
from typing import Annotated, Any

from clawmem.errors import InvalidInput, NotFound
from clawmem.faces.parts.command import Answer, Call, Command
from clawmem.faces.parts.filters import point_in_time
from clawmem.faces.parts.parameters import AT, FACT, Parameter
from clawmem.model.facts.codec import exchange_record
from clawmem.model.facts.fact_words import fact_data, fact_line
from clawmem.model.facts.labels import trust_label
from clawmem.model.language.dates import parse_state
from clawmem.model.lifecycle.tiers import tier_of
from clawmem.serving.browse import FactDetails, TruthAt
from clawmem.serving.browse import show_fact as act

CLAIV = "claiv"


def show(
    call: Call,
    fact: Annotated[str, FACT],
    as_of: Annotated[str | None, Parameter("Show whether it was true then, and if not, which fact was.", ("--as-of",))],
    at: Annotated[str | None, AT],
    style: Annotated[
        str | None, Parameter("The record of another program: {choices}.", ("--format",), choices=(CLAIV,))
    ],
) -> Answer:
    """Keys that are set are printed, one per line; with `--format claiv`, the record that CLAIV and its like exchange,
    with the times and links of the fact as temporal edges."""
    if style not in (None, CLAIV):
        raise InvalidInput(f"'{style}' is not a format of a record.", f"The format is {CLAIV}.")
    here = point_in_time(call, at)
    moment = parse_state(as_of, here.caller.now) if as_of else None
    try:
        shown = act(here.vault, fact, here.caller, moment)
    except NotFound as problem:
        from clawmem.memory.history.why import removed_fact_error  # reads the history: only where the fact is not there

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


def _lines(shown: FactDetails) -> list[str]:
    lines = _truth_lines(shown.truth) if shown.truth else []
    record = fact_data(shown.fact, shown.entity, shown.against)
    width = max(map(len, record))
    label = trust_label(shown.fact)
    notes = {"trust": f", {label.removeprefix('agent, ')}"} if label not in (None, shown.fact.trust) else {}
    rows = ((key, f"{_plain(value)}{notes.get(key, '')}") for key, value in record.items() if value is not None)
    return lines + [f"{key:<{width}}  {words}" for key, words in rows]


def _truth_lines(truth: TruthAt) -> list[str]:
    if truth.why_not is None:
        return [f"True on {truth.as_of}."]
    lines = [f"Not true on {truth.as_of}: {truth.why_not}."]
    if truth.instead:
        lines.append(f"True then: {fact_line(*truth.instead)}")
    return lines


def _plain(value: object) -> str:
    if isinstance(value, str):
        return value
    return json.dumps(value, ensure_ascii=False)


VERB = Command(
    show,
    {
        "fact": "fact",
        "as_of?": {"moment": str, "true": bool, "why_not": (str, None), "instead": ("fact", None)},
        "record?": {str: object},
        "at?": "point",
    },
    ("clawmem show fact_1a2b", "clawmem show fact_1a2b --format claiv"),
    ("fact",),
)
