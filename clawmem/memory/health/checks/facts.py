"""Check the rules for a single fact, and the rules for all facts together."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from clawmem.errors import InvalidInput, NeedsDecision, Unreadable
from clawmem.memory.health.checks import ERROR, INFO, WARNING, HealthProblem
from clawmem.model.facts.codec import OTHER_NAMES, fact_from_record, fact_to_line, parse_items_with_lines, render_items
from clawmem.model.facts.fact import LINK_TYPES, TRUSTS, Fact, check_reference
from clawmem.model.language.dates import moment_of, sortable
from clawmem.model.language.text import check_statement, normal
from clawmem.model.lifecycle import chain
from clawmem.model.records.strict_json import read_json
from clawmem.model.safety.secrets.find import find_secret

_CLAWMEM_ID = re.compile(r"fact_[0-9a-f]{8,64}")
_WRITTEN_TIME = re.compile(r"\d{4}-\d\d-\d\d(T\d\d:\d\d:\d\d(\.\d+)?Z)?")
_TIMES = ("timestamp", "last_accessed", "valid_from", "valid_to")
_WORDS = re.compile(r"\w+")
_WORD = re.compile(r"[\w.:-]+")


class CheckedFact(NamedTuple):
    """A fact with its entity, file and line (from 1)."""

    fact: Fact
    entity: str
    path: str
    line: int

    def problem(self, severity: str, check: str, message: str) -> HealthProblem:
        """Return a problem with the file and line of this fact."""
        return HealthProblem(severity, check, self.path, self.line, message)


def fact_problems(placed: CheckedFact) -> Iterator[HealthProblem]:
    """Yield the problems of a single fact."""
    yield from _id_problems(placed)
    yield from _statement_problems(placed)
    yield from _time_problems(placed)
    yield from _word_problems(placed)
    yield from _triple_problems(placed)
    match = find_secret(fact_to_line(placed.fact))
    if match:
        yield placed.problem(
            WARNING, "secret", f"{placed.fact.id} contains what looks like a credential ({match.rule})."
        )


def _id_problems(placed: CheckedFact) -> Iterator[HealthProblem]:
    fact_id = placed.fact.id
    try:
        check_reference(fact_id)
    except InvalidInput:
        yield placed.problem(ERROR, "id", f"'{fact_id}' is not a valid id: no command accepts it.")
        return
    if not _CLAWMEM_ID.fullmatch(fact_id):
        yield placed.problem(INFO, "id", f"{fact_id} is not an id in the form of clawmem (fact_ and 8 hex digits).")


def _statement_problems(placed: CheckedFact) -> Iterator[HealthProblem]:
    try:
        statement = check_statement(placed.fact.fact)
    except InvalidInput as problem:
        yield placed.problem(ERROR, "statement", f"{placed.fact.id}: {problem.message}")
        return
    if statement != placed.fact.fact:
        yield placed.problem(
            WARNING, "statement", f"{placed.fact.id} has line breaks or doubled spaces in its statement."
        )


def _time_problems(placed: CheckedFact) -> Iterator[HealthProblem]:
    fact = placed.fact
    readable = {}
    for key in _TIMES:
        value = getattr(fact, key)
        if value is not None:
            try:
                readable[key] = moment_of(_comparable_time(key, value))
            except ValueError:
                yield placed.problem(ERROR, "time", f"{fact.id} has '{value[:40]}' as {key}, which is not a time.")
                continue
            if not _WRITTEN_TIME.fullmatch(value):
                message = (
                    f"{fact.id} has {key} '{value}', which sorts incorrectly: write 2026-11-21 or 2026-11-21T09:30:00Z."
                )
                yield placed.problem(WARNING, "time", message)
    if "valid_from" in readable and "valid_to" in readable and readable["valid_from"] > readable["valid_to"]:
        yield placed.problem(
            ERROR, "validity", f"{fact.id} ends ({fact.valid_to}) before it begins ({fact.valid_from})."
        )


def _comparable_time(key: str, value: str) -> str:
    """Return a time for parsing. `valid_from` and `valid_to` may be a month or a year, which becomes a day."""
    return (sortable(value, end=key == "valid_to") or value) if key in ("valid_from", "valid_to") else value


def _triple_problems(placed: CheckedFact) -> Iterator[HealthProblem]:
    """What a model read may have its value in other words; what a person stated lost it by an edit of the file."""
    fact = placed.fact
    if fact.object is None or fact.source_event is not None or not fact.is_current:
        return
    value, words = (set(_WORDS.findall(normal(text))) for text in (fact.object, fact.fact))
    if value and value.isdisjoint(words):
        message = (
            f"{fact.id} has the object '{fact.object}', which its words do not have: {fact.fact} After an edit by hand,"
            " delete the object there, or use `clawmem edit`."
        )
        yield placed.problem(WARNING, "triple", message)


def _word_problems(placed: CheckedFact) -> Iterator[HealthProblem]:
    fact = placed.fact
    if fact.trust is not None and fact.trust not in TRUSTS:
        message = f"{fact.id} has the trust '{fact.trust}', which is not one of {', '.join(TRUSTS)}."
        yield placed.problem(WARNING, "trust", message)
    for link in fact.links:
        if link.type not in LINK_TYPES:
            yield placed.problem(WARNING, "link-type", f"{fact.id} has a link of the unknown type '{link.type}'.")


def all_facts_problems(
    facts: Sequence[CheckedFact], known_names: frozenset[str], unread: str
) -> Iterator[HealthProblem]:
    """Yield problems of ids, chains, links and related entities in the whole vault.

    `known_names` are names, titles and aliases of entities in normal form. Ids in `unread`, the text of lines that
    do not parse, count as existing.
    """
    first: dict[str, CheckedFact] = {}
    for placed in facts:
        earlier = first.setdefault(placed.fact.id, placed)
        if earlier is not placed:
            place = f"{earlier.path}:{earlier.line}"
            problem = placed.problem(ERROR, "id-unique", f"{placed.fact.id} is also the id of the fact at {place}.")
            yield problem._replace(fixable=earlier.path != placed.path)
    yield from _chain_problems(first, unread)
    for placed in facts:
        for name in placed.fact.related_entities:
            if normal(name) not in known_names:
                message = f"{placed.fact.id} is related to '{name}', which is not an entity."
                yield placed.problem(WARNING, "related", message)


def _chain_problems(first: Mapping[str, CheckedFact], unread: str) -> Iterator[HealthProblem]:
    # Words of letters alone, such as `active`, are no ids.
    hidden = {word for word in _WORD.findall(unread) if not word.isalpha()} - first.keys()
    for problem in chain.chain_problems(checked_fact.fact for checked_fact in first.values()):
        if hidden.isdisjoint(word.rstrip(".:") for word in _WORD.findall(problem.sentence)):
            found = first[problem.fact_id].problem(ERROR, "chain", problem.sentence)
            yield found._replace(fixable=problem.closable)


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
