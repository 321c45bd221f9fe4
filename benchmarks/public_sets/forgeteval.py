"""ForgetEval-Adv: does a fact leave when it is superseded, released or purged, and does everything else stay?

    python -m benchmarks.public_sets.forgeteval FILE... [--cases N] [--json]

FILE is a file of the set: the Python modules with lists of `GeneratedCase(...)` (they are read, not run), or JSON with
cases of the same keys (a list, or one below `admitted_cases` or `cases`). A case passes where the five hits for its
question contain every `must_contain` and no `must_not_contain`; `probed` asks for each forbidden text itself, too. Both
are the set's own scoring (bench/forgeteval/scoring.py); no model takes part.

Each setup fact is one `remember`. A mutation names its target in words, and the verb finds it: `supersede WORDS NEW`
(`remember NEW` where it finds no fact, or several), `forget WORDS --yes` to release, `forget WORDS --everywhere --yes`
to purge. A case whose verb was refused is counted, and so is over-deletion: a needed text that the setup had and that
no current fact has at the end. The cases that fail are listed, with what each lacks or serves.
"""

from __future__ import annotations

import ast
import sys
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from benchmarks.public_sets.common import (
    Memory,
    Options,
    current_facts,
    folders,
    key_of,
    line_of,
    main,
    places_with,
    read_json,
    share,
)
from clawmem.errors import ClawmemError, InvalidInput
from clawmem.memory.facts.forget import erase, forget
from clawmem.memory.facts.remember import remember
from clawmem.memory.facts.revise import supersede
from clawmem.model.facts.draft import draft_from_record

TOP = 5
_OPERATIONS = {"supersede": 2, "release": 1, "purge": 1}


class ForgetCase(NamedTuple):
    """One case: what is stored, what happens to it, and what the question must and must not find."""

    name: str
    group: str
    facts: tuple[str, ...]
    mutations: tuple[tuple[str, ...], ...]
    question: str
    needed: tuple[str, ...]
    forbidden: tuple[str, ...]


class ForgetOutcome(NamedTuple):
    """What became of a case: the needed texts that are missing, the forbidden ones served for the question and for any
    probe, where a purged text is left, the needed texts that are in no current fact any more, and what the memory
    refused."""

    case: ForgetCase
    missing: tuple[str, ...]
    served: tuple[str, ...]
    reachable: tuple[str, ...]
    left: tuple[str, ...]
    deleted: tuple[str, ...]
    refused: tuple[str, ...]

    @property
    def passed(self) -> bool:
        """Whether the case passes by its own question."""
        return not (self.missing or self.served)

    @property
    def probed(self) -> bool:
        """Whether it passes where forbidden texts are asked for, too."""
        return not (self.missing or self.reachable)


def read_cases(files: Sequence[Path]) -> list[ForgetCase]:
    """Read cases from files of the set. Raise InvalidInput for anything else."""
    return [case for path in files for case in _read(path)]


def _read(path: Path) -> Iterator[ForgetCase]:
    records = _python_records(path) if path.suffix == ".py" else _json_records(path)
    for number, record in enumerate(records, 1):
        yield _case(record, f"{path}, case {number}")


def _json_records(path: Path) -> list[Any]:
    record = read_json(path)
    if isinstance(record, dict):
        record = record.get("admitted_cases", record.get("cases"))
    if not isinstance(record, list):
        raise InvalidInput(f"{path} has no list of cases.")
    return record


def _python_records(path: Path) -> Iterator[dict[str, Any]]:
    """The keyword arguments of each `GeneratedCase(...)` of a module, in order; nothing of the module is run."""
    try:
        tree = ast.parse(path.read_text(encoding="utf-8"))
    except (OSError, SyntaxError) as problem:
        raise InvalidInput(f"{path} is not a Python module: {problem}.") from None
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "GeneratedCase":
            try:
                yield {keyword.arg: ast.literal_eval(keyword.value) for keyword in node.keywords if keyword.arg}
            except ValueError:
                raise InvalidInput(f"{path}, line {node.lineno}: the case is not made of plain values.") from None


def _case(record: Any, where: str) -> ForgetCase:
    if not isinstance(record, dict):
        raise InvalidInput(f"{where} is not an object.")
    mutations = [tuple(other) for other in key_of(record, "mutations", list, where)]
    for mutation in mutations:
        if not mutation or _OPERATIONS.get(mutation[0]) != len(mutation) - 1:
            raise InvalidInput(f"{where}: {list(mutation)} is not a mutation of the set.")
    return ForgetCase(
        key_of(record, "id", str, where),
        str(record.get("category") or record.get("family") or ""),
        tuple(key_of(record, "setup_facts", list, where)),
        tuple(mutations),
        key_of(record, "final_query", str, where),
        tuple(key_of(record, "must_contain", list, where)),
        tuple(key_of(record, "must_not_contain", list, where)),
    )


def play(case: ForgetCase, folder: Path, options: Options) -> ForgetOutcome:
    """Play one case in a new vault."""
    memory, refused = Memory(folder, options), list[str]()
    for text in case.facts:
        _do(refused, lambda text=text: _remember(memory, text))
    before = _stored(memory)
    for mutation in case.mutations:
        memory.later()
        _do(refused, lambda mutation=mutation: _mutate(memory, *mutation))
    answer = _answer(memory, case.question)
    probes = "\n".join([answer, *(_answer(memory, name) for name in case.forbidden)])
    purged = [text for text in case.forbidden if any(items[0] == "purge" for items in case.mutations)]
    left = places_with(memory.vault, purged) if purged else []
    stored = _stored(memory)
    needed = [name for name in case.needed if name.casefold() in before]
    return ForgetOutcome(
        case,
        tuple(name for name in case.needed if name.casefold() not in answer),
        tuple(name for name in case.forbidden if name.casefold() in answer),
        tuple(name for name in case.forbidden if name.casefold() in probes),
        tuple(left),
        tuple(name for name in needed if name.casefold() not in stored),
        tuple(refused),
    )


def _do(refused: list[str], act: Any) -> None:
    """Run an act of the memory; what it refuses is part of the result."""
    try:
        act()
    except ClawmemError as problem:
        refused.append(problem.message)


def _remember(memory: Memory, text: str) -> None:
    result = remember(memory.vault, [draft_from_record({"fact": text}, memory.caller.now)], memory.caller)
    if result.failed:
        raise result.failed


def _mutate(memory: Memory, operation: str, target: str, new: str = "") -> None:
    """Do what the verb does that a person would type: `supersede WORDS NEW` (or `remember NEW`, where it finds
    nothing), `forget WORDS --yes`, or `forget WORDS --everywhere --yes`."""
    vault, caller = memory.vault, memory.caller
    if operation == "supersede":
        draft = draft_from_record({"fact": new}, caller.now)
        try:
            supersede(vault, target, draft, caller)
        except ClawmemError:
            _remember(memory, new)
            raise
    elif operation == "release":
        forget(vault, target, caller)
    else:
        erase(vault, target, caller)


def _stored(memory: Memory) -> str:
    return "\n".join(placed.fact.fact for placed in current_facts(memory.vault)).casefold()


def _answer(memory: Memory, question: str) -> str:
    return "\n".join(line_of(hit) for hit in memory.ask(question, TOP)).casefold()


def run(cases: Sequence[ForgetCase], options: Options) -> dict[str, Any]:
    """Play the cases and return the table and every outcome."""
    wanted = cases[: options.cases]
    with folders() as new:
        items = [play(case, new(), options) for case in wanted]
    groups = [*sorted(Counter(outcome.case.group for outcome in items)), None]
    return {
        "set": "ForgetEval-Adv",
        "read": len(wanted),
        "scored": len(items),
        "table": [
            _row(group, [outcome for outcome in items if group in (None, outcome.case.group)]) for group in groups
        ],
        "failed": "".join(f"\n{_failure(outcome)}" for outcome in items if not outcome.passed or outcome.deleted),
        "cases": [_record(outcome) for outcome in items],
    }


def _failure(outcome: ForgetOutcome) -> str:
    """Return what was wrong with a case, in one line."""
    names = ("missing", "served", "deleted", "refused")
    parts = [f"{name}: {' | '.join(texts)}" for name in names if (texts := getattr(outcome, name))]
    return f"{outcome.case.group}, {outcome.case.name}: {'; '.join(parts)}"


def _row(group: str | None, items: Sequence[ForgetOutcome]) -> Mapping[str, Any]:
    purges = [outcome for outcome in items if any(mutation[0] == "purge" for mutation in outcome.case.mutations)]
    return {
        "category": group or "all",
        "cases": len(items),
        "pass %": share(sum(outcome.passed for outcome in items), len(items)),
        "pass %, probed": share(sum(outcome.probed for outcome in items), len(items)),
        "over-deletion": sum(bool(outcome.deleted) for outcome in items),
        "right text missing": sum(bool(outcome.missing) for outcome in items),
        "forbidden text served": sum(bool(outcome.served) for outcome in items),
        "purged text left in the vault": f"{sum(bool(purge.left) for purge in purges)} of {len(purges)}",
        "refused": sum(bool(outcome.refused) for outcome in items),
    }


def _record(outcome: ForgetOutcome) -> dict[str, Any]:
    record = {
        "id": outcome.case.name,
        "category": outcome.case.group,
        "passed": outcome.passed,
        "probed": outcome.probed,
    }
    names = ("missing", "served", "reachable", "left", "deleted", "refused")
    return {**record, **{name: list(getattr(outcome, name)) for name in names}}


if __name__ == "__main__":
    sys.exit(main(__doc__, read_cases, run, ["files"]))
