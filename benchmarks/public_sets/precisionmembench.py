"""PrecisionMemBench: is exactly what bears on a question retrieved, and nothing beside it?

    python -m benchmarks.public_sets.precisionmembench BELIEFS QUESTIONS [--cases N] [--set KEY=VALUE] [--json]

BELIEFS and QUESTIONS are `beliefs.seed.json` and `cases.json` of the set. Each belief is a fact, by `remember` and
`supersede`: its content, with its name and aliases as tags, in the project of its scope; a belief of the user is
everybody's. Each case is one `clawmem recall QUESTION --in facts --project SCOPE`, weak hits left out. Of what it
gives, pinned beliefs, open questions and those of the user do not count: the set has other lists for them. Precision is
1 where nothing is expected and nothing is given. A case passes if exactly the expected beliefs are given.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from benchmarks.public_sets.common import Memory, Options, folders, key_of, main, read_json, share
from clawmem.errors import InvalidInput
from clawmem.index.search.channels import FactFilter
from clawmem.memory.facts.remember import remember
from clawmem.memory.facts.revise import supersede
from clawmem.model.facts.draft import draft_from_record
from clawmem.model.facts.reach import Reach
from clawmem.serving.recall.recall import LEAST_SCORE, NEAR_SHARE, recall
from clawmem.serving.recall.result import FACTS

_LIMIT = 10
_USER = "user:universal"
_QUESTION = "open_question"


class PrecisionSet(NamedTuple):
    """The beliefs and the cases of the set, as it has them."""

    beliefs: Sequence[Mapping[str, Any]]
    cases: Sequence[Mapping[str, Any]]


class PrecisionOutcome(NamedTuple):
    """What a case expects and what is given, as ids of beliefs."""

    case: Mapping[str, Any]
    expected: frozenset[str]
    given: tuple[str, ...]

    @property
    def precision(self) -> float:
        """The part of what is given that is expected; 1 if nothing is given and nothing expected."""
        return len(self.expected.intersection(self.given)) / len(self.given) if self.given else float(not self.expected)

    @property
    def recall(self) -> float:
        """The part of what is expected that is given; 1 if nothing is expected."""
        return len(self.expected.intersection(self.given)) / len(self.expected) if self.expected else 1.0


def read_set(beliefs: Path, cases: Path) -> PrecisionSet:
    """Read the two files of the set. Raise InvalidInput for anything else."""
    items = [read_json(path) for path in (beliefs, cases)]
    for path, records in zip((beliefs, cases), items, strict=True):
        if not isinstance(records, list) or not all(isinstance(record, dict) for record in records):
            raise InvalidInput(f"{path} is no list of objects.")
    for record in items[0]:
        key_of(record, "content", str, f"{beliefs}, {record.get('_id')}")
    return PrecisionSet(*items)


def _learn(memory: Memory, beliefs: Sequence[Mapping[str, Any]]) -> dict[str, str]:
    """Store the beliefs, the replaced ones first, and return the id of the belief of each fact."""
    by_id = {belief["_id"]: belief for belief in beliefs}
    ids: dict[str, str] = {}
    for belief in sorted(beliefs, key=lambda record: _steps_to_now(record, by_id), reverse=True):
        memory.later()
        draft = draft_from_record(_record(belief), memory.caller.now)
        old = next((ids[record["_id"]] for record in beliefs if record.get("superseded_by") == belief["_id"]), None)
        if old is None:
            ids[belief["_id"]] = remember(memory.vault, [draft], memory.caller).facts[0].fact.id
        else:
            ids[belief["_id"]] = supersede(memory.vault, old, draft, memory.caller).facts[0].fact.id
    return {fact: belief for belief, fact in ids.items()}


def _steps_to_now(belief: Mapping[str, Any], by_id: Mapping[str, Mapping[str, Any]]) -> int:
    later = by_id.get(belief.get("superseded_by") or "")
    return 1 + _steps_to_now(later, by_id) if later else 0


def _record(belief: Mapping[str, Any]) -> dict[str, Any]:
    names = [belief["canonical_name"], *belief.get("aliases", ())]
    tags = [name.lower().replace("_", "-").replace(" ", "-") for name in names]
    scope = belief["scope"][0]
    project = {} if scope == _USER else {"project": scope}
    return {"fact": belief["content"], "tags": list(dict.fromkeys(tags)), **project}


def _ask(memory: Memory, case: Mapping[str, Any], names: Mapping[str, str]) -> list[str]:
    found: dict[str, None] = {}
    for scope in case["scope"] if case["query"].strip() else ():
        wanted = FactFilter(reach=Reach(project=scope))
        result = recall(
            memory.vault, case["query"], memory.caller, wanted, _LIMIT, (FACTS,), 1, LEAST_SCORE, NEAR_SHARE
        )
        found |= dict.fromkeys(names[hit.fact.id] for hit in result.found if hit.fact.id in names)
    return list(found)


def run(value: PrecisionSet, options: Options) -> dict[str, Any]:
    """Ask the cases and return the table and every outcome."""
    cases = [
        record
        for record in value.cases
        if record["expect"].get("relevantBeliefs", {}).get("shouldOnlyInclude") is not None
    ]
    cases = cases[: options.cases]
    apart = {
        belief["_id"]
        for belief in value.beliefs
        if belief["pinned"] or belief["type"] == _QUESTION or belief["scope"][0] == _USER
    }
    outcomes = []
    with folders() as new:
        memory, empty = Memory(new(), options), Memory(new(), options)
        names = _learn(memory, value.beliefs)
        for case in cases:
            items = _ask(empty if case.get("userId") else memory, case, names)
            expected = frozenset(case["expect"]["relevantBeliefs"]["shouldOnlyInclude"])
            outcomes.append(
                PrecisionOutcome(case, expected, tuple(text for text in items if text not in apart - expected))
            )
    rows = {
        "expects beliefs": [outcome for outcome in outcomes if outcome.expected],
        "expects none": [outcome for outcome in outcomes if not outcome.expected],
        "all": outcomes,
    }
    return {
        "set": "PrecisionMemBench",
        "read": len(cases),
        "scored": len(outcomes),
        "table": [_row(name, row) for name, row in rows.items()],
        "cases": [
            {"id": outcome.case["caseId"], "expected": sorted(outcome.expected), "given": list(outcome.given)}
            for outcome in outcomes
        ],
    }


def _row(name: str, items: Sequence[PrecisionOutcome]) -> Mapping[str, Any]:
    return {
        "cases": name,
        "number": len(items),
        "precision %": share(sum(outcome.precision for outcome in items), len(items)),
        "recall %": share(sum(outcome.recall for outcome in items), len(items)),
        "passed": sum(outcome.expected == set(outcome.given) for outcome in items),
    }


if __name__ == "__main__":
    sys.exit(main(__doc__, read_set, run, ["beliefs", "questions"]))
