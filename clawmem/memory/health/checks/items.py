"""An `items.json` read for inspection: every line that is wrong, and whatever facts the others hold."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

from clawmem.errors import InvalidInput, NeedsDecision, Unreadable
from clawmem.memory.health.checks.problem import ERROR, WARNING, HealthProblem
from clawmem.model.facts.codec import OTHER_NAMES, fact_from_record, parse_items_with_lines, render_items
from clawmem.model.facts.fact import Fact
from clawmem.model.records.strict_json import read_json

# What rewriting a record would have to invent.
_NEVER_INVENTED = ("timestamp", "source")
_BRACKETS = ("", "[", "]", "[]")


class ItemsContent(NamedTuple):
    """The facts with their lines, the problems found, whether the file parses, and the text that no fact came of."""

    facts: tuple[tuple[int, Fact], ...]
    problems: tuple[HealthProblem, ...] = ()
    parses: bool = True
    unread: str = ""


def read_items(path: str, data: bytes) -> ItemsContent:
    """Read one `items.json`, however broken."""
    try:
        facts = parse_items_with_lines(data, path)
    except NeedsDecision:
        return _salvaged(path, data, None)  # the marks are reported for every file alike
    except Unreadable as problem:
        return _salvaged(path, data, problem)
    return ItemsContent(facts, tuple(_form_problems(path, data, facts)))


def _salvaged(path: str, data: bytes, why: Unreadable | None) -> ItemsContent:
    facts: list[tuple[int, Fact]] = []
    problems, unread = [], []
    for number, line in enumerate(data.decode(errors="replace").split("\n"), 1):
        if line.strip() in _BRACKETS:
            continue
        try:
            facts.append((number, fact_from_record(_record(line))))
        except ValueError as problem:
            problems.append(_unreadable(path, number, f"it is not valid JSON ({problem})"))
            unread.append(line)
        except InvalidInput as problem:
            problems.append(_unreadable(path, number, problem.message))
            unread.append(line)
    if why is None:
        # Both sides of the conflict hold the same facts: one of each will do until a person has chosen.
        problems, facts = [], list({fact.id: (number, fact) for number, fact in reversed(facts)}.values())
    elif not facts or (not problems and len({fact.id for _, fact in facts}) == len(facts)):
        problems = [_unreadable(path, why.line, str(why).partition(" cannot be read: ")[2].rstrip("."))]
    return ItemsContent(tuple(facts), tuple(problems), False, "\n".join(unread))


def _record(line: str) -> dict[str, Any]:
    record = read_json(line.strip().rstrip(","))
    if not isinstance(record, dict):
        raise InvalidInput("a fact must be a JSON object")
    return record


def _unreadable(path: str, line: int | None, why: str) -> HealthProblem:
    return HealthProblem(ERROR, "items", path, line, f"The fact cannot be read: {why}.", fixable=True)


def _form_problems(path: str, data: bytes, facts: tuple[tuple[int, Fact], ...]) -> Iterator[HealthProblem]:
    """The form that a line-wise diff needs: a valid array, one fact a line, canonical keys in order."""
    if data == render_items(fact for _, fact in facts):
        return
    lost = _lost_by_rewriting(data)
    if lost:
        severity = WARNING if _valid_json(data) else ERROR
        yield HealthProblem(severity, "items-form", path, None, f"The file is not in its normal form, and {lost}.")
        return
    if _valid_json(data) and data.lstrip().startswith(b"["):
        message = "The file is not in its normal form: one fact a line, canonical keys."
        yield HealthProblem(WARNING, "items-form", path, None, message, fixable=True)
    else:
        yield HealthProblem(ERROR, "items-form", path, None, "The file is not a valid JSON array.", fixable=True)


def is_rewritable(data: bytes) -> bool:
    """Whether writing the file anew in its normal form can lose or invent nothing."""
    return _lost_by_rewriting(data) is None


def _lost_by_rewriting(data: bytes) -> str | None:
    doubled: list[str] = []

    def unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        keys = [key for key, _ in pairs]
        doubled.extend(key for key in set(keys) if keys.count(key) > 1)
        return dict(pairs)

    text = data.decode("utf-8-sig").strip()
    if not text.startswith(("[", "{")) or not text.endswith(("]", "}")):
        return "its brackets are not closed, so something may have been cut off"
    records = _all_records(text, unique)
    if doubled:
        return f"the key '{doubled[0]}' occurs twice in one object"
    if records is None:
        return "it holds more than an array of facts"
    for record in records:
        known = {OTHER_NAMES.get(key, key) for key, value in record.items() if value is not None}
        missing = [key for key in _NEVER_INVENTED if key not in known]
        if missing:
            return f"the key '{missing[0]}' is missing from a fact"
    return None


def _all_records(text: str, hook: Any) -> list[dict[str, Any]] | None:
    try:
        whole = read_json(text, pairs=hook)
    except ValueError:
        lines = [line.strip().rstrip(",") for line in text.split("\n") if line.strip() not in _BRACKETS]
        return [read_json(line, pairs=hook) for line in lines]
    if isinstance(whole, dict) and len(whole) == 1:
        whole = next(iter(whole.values()))
    return whole if isinstance(whole, list) else None


def _valid_json(data: bytes) -> bool:
    try:
        read_json(data.decode())
    except ValueError:
        return False
    return True
