"""Read every owned file once, in the order that lets each check see what it needs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from typing import NamedTuple

from clawmem.memory.health.checks.facts import CheckedFact, all_facts_problems, fact_problems
from clawmem.memory.health.checks.items import read_items
from clawmem.memory.health.checks.ledger import EventIds, evidence_problems, read_ledger, repeated_problems
from clawmem.memory.health.checks.pages import (
    alias_problems,
    catalog_problems,
    lost_marks,
    parse_problems,
    read_summary,
    settings_problems,
    text_problems,
)
from clawmem.memory.health.checks.problem import ERROR, WARNING, HealthProblem
from clawmem.memory.health.checks.review import FiledProposal, read_review, review_problems
from clawmem.memory.health.checks.tree import VaultTree, walk
from clawmem.model.kinds import (
    CATALOG,
    EVENTS,
    FACTS,
    NONE,
    PARSE,
    PROPOSAL,
    REDACTIONS,
    SETTINGS,
    SUMMARY,
    TASK,
    handling,
)
from clawmem.model.language.text import normal
from clawmem.model.records.bounds import UnreadFile, beyond_limit
from clawmem.model.records.entity import name_of_path
from clawmem.model.records.event import Event
from clawmem.vault.strict_yaml import parse_yaml
from clawmem.vault.vault import Vault


class VaultContent(NamedTuple):
    """What the files hold: facts; ids of events by file; files that do not parse; the problems of the files; names of
    entities; texts of cited events by id; text that does not parse; counts; proposals."""

    tree: VaultTree
    facts: tuple[CheckedFact, ...]
    event_ids: EventIds
    broken: frozenset[str]
    problems: tuple[HealthProblem, ...]
    names: frozenset[str]
    cited: Mapping[str, str]
    unread: str
    checked: Mapping[str, int]
    filed: tuple[FiledProposal, ...] = ()


class _VaultReader:
    """What is collected while the files are read."""

    def __init__(self) -> None:
        self.facts: list[CheckedFact] = []
        self.filed: list[FiledProposal] = []
        self.entities: set[str] = set()
        self.names: set[str] = set()
        self.aliases: dict[str, tuple[str, ...]] = {}
        self.event_ids = EventIds()
        self.cited: dict[str, str] = {}
        self.wanted: set[str] = set()
        self.broken: set[str] = set()
        self.unread: list[str] = []
        self.workflows: list[tuple[str, int | None, str]] = []
        self.problems: list[HealthProblem] = []
        self.counts: Counter[str] = Counter(files=0, facts=0, entities=0, events=0, quotes=0, proposals=0)


def read_vault(vault: Vault) -> VaultContent:
    """Read the whole work tree of the vault. `reading_problems` checks later what the facts say."""
    tree, book = walk(vault), _VaultReader()
    # Facts first: then it is known which events' texts must be kept for comparison.
    for path in sorted(tree.owned, key=lambda path: handling(path).check == EVENTS):
        _read_file(vault, path, book)
    book.problems += repeated_problems(lambda path: vault.read(path) or b"", book.event_ids)
    known = frozenset(tree.owned)
    book.problems += [
        HealthProblem(WARNING, "task", path, line, f"There is no workflow '{name}'.")
        for path, line, name in book.workflows
        if f"workflows/{name}.yaml" not in known
    ]
    book.problems += alias_problems(book.aliases, book.entities)
    book.counts.update(entities=len(book.entities), facts=len(book.facts))
    return VaultContent(
        tree=tree,
        facts=tuple(book.facts),
        event_ids=book.event_ids,
        broken=frozenset(book.broken),
        problems=tuple(book.problems),
        names=frozenset(normal(name) for name in book.names),
        cited=book.cited,
        unread="\n".join(book.unread),
        checked=dict(book.counts),
        filed=tuple(book.filed),
    )


def reading_problems(reading: VaultContent) -> Iterator[HealthProblem]:
    """The problems of the facts that were read, each alone and all together. Reads no file."""
    for placed in reading.facts:
        yield from fact_problems(placed)
    yield from all_facts_problems(reading.facts, reading.names, reading.unread)
    yield from evidence_problems(reading.facts, reading.cited, reading.unread)
    known = {one.fact.id: one for one in reading.facts}
    yield from review_problems(reading.filed, known, reading.cited, reading.unread)


def _read_file(vault: Vault, path: str, book: _VaultReader) -> None:
    book.counts["files"] += 1
    try:
        data = vault.read(path)
    except OSError as problem:
        book.problems.append(
            HealthProblem(ERROR, "unreadable", path, None, f"The file cannot be read: {problem.strerror}.")
        )
        return
    if isinstance(data, UnreadFile):
        said = beyond_limit("The file", data.size, data.limit, "bytes")
        book.problems.append(HealthProblem(ERROR, "unreadable", path, None, f"{said}."))
        book.broken.add(path)
    elif data is not None:
        name = name_of_path(path)
        if name is not None:
            book.entities.add(name)
            book.names.add(name)
        CHECKS[handling(path).check](path, data, book)


def _check_facts(path: str, data: bytes, book: _VaultReader) -> None:
    book.problems += text_problems(path, data)
    items = read_items(path, data)
    book.problems += items.problems
    if not items.parses:
        book.broken.add(path)
        book.unread.append(items.unread)
    for line, fact in items.facts:
        book.facts.append(CheckedFact(fact, name_of_path(path) or path, path, line))
        if fact.source_event is not None:
            book.wanted.add(fact.source_event)
            book.counts["quotes"] += fact.source_span is not None


def _check_summary(path: str, data: bytes, book: _VaultReader) -> None:
    book.problems += text_problems(path, data)
    summary = read_summary(path, data)
    book.names.update((summary.title, *summary.aliases))
    book.aliases[name_of_path(path) or path] = summary.aliases
    book.problems += summary.problems


def _check_proposal(path: str, data: bytes, book: _VaultReader) -> None:
    book.problems += text_problems(path, data)
    filed, problems = read_review(path, data)
    book.problems += problems
    if filed is not None:
        book.filed.append(filed)
        book.counts["proposals"] += 1
        if filed.proposal.fact and filed.proposal.fact.source_event:
            book.wanted.add(filed.proposal.fact.source_event)


def _check_events(path: str, data: bytes, book: _VaultReader) -> None:
    def take(line: int, event: Event) -> None:
        book.counts["events"] += 1
        book.event_ids.add(path, event.id)
        if event.id in book.wanted:
            book.cited.setdefault(event.id, event.text)

    book.problems += text_problems(path, data)
    ledger = read_ledger(path, data, take)
    book.problems += ledger.problems
    if ledger.unread:
        book.broken.add(path)
        book.unread.append(ledger.unread)


def _check_settings(path: str, data: bytes, book: _VaultReader) -> None:
    book.problems += text_problems(path, data)
    book.problems += settings_problems(data.decode("utf-8-sig", errors="replace"))


def _check_catalog(path: str, data: bytes, book: _VaultReader) -> None:
    book.problems += text_problems(path, data)
    book.problems += catalog_problems(data.decode("utf-8-sig", errors="replace"))


def _check_redactions(path: str, data: bytes, book: _VaultReader) -> None:
    """`redactions.py` compares the records with history, and reports where they cannot be read."""
    book.problems += text_problems(path, data)


def _check_parse(path: str, data: bytes, book: _VaultReader) -> None:
    found = list(text_problems(path, data))
    book.problems += found
    if not any(one.severity == ERROR for one in found):
        book.problems += parse_problems(path, data)
        book.problems += lost_marks(path, data)


def _check_task(path: str, data: bytes, book: _VaultReader) -> None:
    before = len(book.problems)
    _check_parse(path, data, book)
    if not any(one.severity == ERROR for one in book.problems[before:]):
        from clawmem.model.records.task import line_of, parse_task, task_warnings

        task = parse_task(data, path, parse_yaml)
        if task.workflow is not None:
            book.workflows.append((path, line_of(task.page, "workflow"), task.workflow))
        told = task_warnings(task)
        book.problems += [HealthProblem(WARNING, "task", path, line, says) for line, says in told]


def _check_nothing(path: str, data: bytes, book: _VaultReader) -> None:
    """Files that nothing reads may hold anything."""


# For each value of a kind's `check`, the function that reads the file for what doctor reports and compares later.
CHECKS: Mapping[str, Callable[[str, bytes, _VaultReader], None]] = {
    FACTS: _check_facts,
    EVENTS: _check_events,
    SUMMARY: _check_summary,
    PROPOSAL: _check_proposal,
    SETTINGS: _check_settings,
    CATALOG: _check_catalog,
    REDACTIONS: _check_redactions,
    TASK: _check_task,
    PARSE: _check_parse,
    NONE: _check_nothing,
}
