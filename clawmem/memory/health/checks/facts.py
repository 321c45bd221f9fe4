"""Check the rules for a single fact, and the rules for all facts together."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from clawmem.errors import InvalidInput
from clawmem.memory.health.checks.problem import ERROR, INFO, WARNING, HealthProblem
from clawmem.memory.history.withdrawn import find_reactivated
from clawmem.model.facts.codec import fact_to_line
from clawmem.model.facts.fact import LINK_TYPES, TRUSTS, Fact
from clawmem.model.facts.ids import check_reference
from clawmem.model.language.dates import moment_of, sortable
from clawmem.model.language.text import check_statement, normal
from clawmem.model.lifecycle import chain
from clawmem.model.safety.secrets.find import find_secret
from clawmem.vault.vault import Vault

_CLAWMEM_ID = re.compile(r"fact_[0-9a-f]{8,64}")
_WRITTEN_TIME = re.compile(r"\d{4}-\d\d-\d\d(T\d\d:\d\d:\d\d(\.\d+)?Z)?")
_TIMES = ("timestamp", "last_accessed", "valid_from", "valid_to")
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
    hidden = set(_WORD.findall(unread)) - first.keys()
    for problem in chain.chain_problems(checked_fact.fact for checked_fact in first.values()):
        if hidden.isdisjoint(word.rstrip(".:") for word in _WORD.findall(problem.sentence)):
            found = first[problem.fact_id].problem(ERROR, "chain", problem.sentence)
            yield found._replace(fixable=problem.closable)


CHECK = "withdrawn"


def withdrawn_problems(vault: Vault, facts: Sequence[CheckedFact]) -> Iterator[HealthProblem]:
    """Yield facts that are active although a commit withdrew them. Duplicate ids are reported elsewhere."""
    places: dict[str, list[CheckedFact]] = defaultdict(list)
    for checked_fact in facts:
        places[checked_fact.fact.id].append(checked_fact)
    standing = {key: place[0] for key, place in places.items() if len(place) == 1 and place[0].fact.is_current}
    for back in find_reactivated(vault, standing):
        message = (
            f"{back.fact.id} was withdrawn by {back.commit[:12]} and is active again, but no commit restored it:"
            " a merge by an older version may be the cause."
        )
        yield standing[back.fact.id].problem(ERROR, CHECK, message)._replace(fixable=True)
