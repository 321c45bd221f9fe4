"""What a context has at each budget, as `packed.txt` lists it: the units of each section, how many were left out, and
which of these it offered; then the remarks and the tokens.

After a change that is meant to alter it, run this file with `CLAWMEM_UPDATE_TRANSCRIPTS=1` and read the difference.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from itertools import groupby
from pathlib import Path

import pytest

from clawmem.errors import InvalidInput
from clawmem.model.pages.context_frame import (
    ALWAYS,
    ASKED,
    HOT_FACTS,
    SUMMARIES,
    TIMELINE,
    WARM_FACTS,
    FramePart,
    heading,
    remark,
)
from clawmem.model.pages.packing import Section, Unit, pack

TABLE = Path(__file__).with_name("packed.txt")
DAY = heading("2026-11-22")
MORE = "clawmem context --budget 1200"


def fact(key: int, tokens: int, shelf: str, *others: int, when: int = 0) -> Unit:
    return Unit(key, tokens, True, f"- fact {key}\n", tuple((n, shelf) for n in (key, *others)), ("2026", when))


def fixed(units: Sequence[Unit]) -> Callable[..., Sequence[Unit]]:
    return lambda tokens, shown: units


ALWAYS_UNITS = [fact(1, 12, ALWAYS), fact(2, 9, ALWAYS), fact(3, 30, ALWAYS)]
PAGE = Unit("page", 14, False, "page\n")
ASKED_UNITS = [fact(4, 11, HOT_FACTS, 5, when=3), fact(6, 8, WARM_FACTS, when=1), fact(7, 25, HOT_FACTS, when=2)]
HOT_UNITS = [fact(4, 10, HOT_FACTS), fact(5, 9, HOT_FACTS), *(fact(n, 5 + n % 4, HOT_FACTS) for n in range(8, 14))]
SECTIONS = (
    Section(ALWAYS, fixed(ALWAYS_UNITS), "clawmem list --always", 3, 0.3, 1, leads=True),
    Section(ASKED, fixed(ASKED_UNITS), "clawmem recall", None, 0.6, 2, in_time=True),
    Section(SUMMARIES, fixed([PAGE]), "clawmem show", None, 1.0, 3, further=lambda shown: 2 - ("page" in shown)),
    Section(HOT_FACTS, fixed(HOT_UNITS), "clawmem list", 11, 0.5, 5),
    Section(WARM_FACTS, fixed([fact(6, 8, WARM_FACTS), fact(14, 7, WARM_FACTS)]), "clawmem list", 2, 1.0, 4),
)
RULES = Section("Guardrails", fixed([fact(40, 15, ALWAYS), fact(41, 6, ALWAYS)]), "clawmem guardrail list", whole=True)
LAST = Section(TIMELINE, fixed([fact(50, 9, TIMELINE), fact(4, 9, HOT_FACTS)]), "clawmem log", extra=True)
CASES: dict[str, tuple[Sequence[Section], FramePart | None]] = {
    "one remark": (SECTIONS, None),
    "one remark until all fits": ((*SECTIONS[:2], SECTIONS[3]._replace(total=9)), None),
    "one remark, and what is beside": ((RULES, *SECTIONS[:3], LAST), remark("Aside", 7, "clawmem status")),
    "what is never cut, and what is last": ((RULES, *SECTIONS, LAST), None),
    "what has its room": ((*SECTIONS[:3], SECTIONS[4]._replace(assured=True)), None),
}


def row(case: str, budget: int) -> str:
    """What a context of a budget has, in one line."""
    sections, aside = CASES[case]
    try:
        packed = pack(DAY, sections, budget, MORE, aside)
    except InvalidInput as problem:
        return f"{problem.message} {problem.hint}".replace(f"budget of {budget} tokens", "budget")
    assert packed.tokens <= budget
    parts = [
        f"{' '.join(str(unit.key) for unit in part.units)} -{part.left_out}"
        f" ({' '.join(str(unit.key) for unit in part.missing)})".replace(" ()", "")
        for part in packed.sections
    ]
    remarks = [part.text.strip("(\n)").replace(" shows them", "") for part in packed.remarks]
    return " | ".join([*parts, *remarks, f"{packed.tokens} {packed.exact}"])


@pytest.mark.parametrize("case", CASES)
@pytest.mark.few(3)
def test_what_a_context_has_at_each_budget(case: str) -> None:
    found = [f"# {case}"]
    for line, budgets in groupby(range(10, 600), lambda budget: row(case, budget)):
        numbers = list(budgets)
        found.append(f"{numbers[0]}-{numbers[-1]}: {line}")
    tables = dict.fromkeys(CASES, "")
    if TABLE.exists():
        tables |= {text.partition("\n")[0]: f"# {text.strip()}\n" for text in TABLE.read_text().split("# ")[1:]}
    if "CLAWMEM_UPDATE_TRANSCRIPTS" in os.environ:
        tables[case] = "\n".join(found) + "\n"
        TABLE.write_text("\n".join(tables[name] for name in CASES))
    assert tables[case].splitlines() == found
