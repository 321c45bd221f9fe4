"""Every owned file read once, in the order that lets each check see what it needs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import NamedTuple

from clawmem.memory.health.checks.facts import CheckedFact, all_facts_problems, fact_problems
from clawmem.memory.health.checks.items import read_items
from clawmem.memory.health.checks.ledger import EventIds, evidence_problems, read_ledger, repeated_problems
from clawmem.memory.health.checks.pages import (
    alias_problems,
    catalog_problems,
    json_problems,
    read_summary,
    settings_problems,
    text_problems,
)
from clawmem.memory.health.checks.problem import ERROR, HealthProblem
from clawmem.memory.health.checks.review import FiledProposal, read_review, review_problems
from clawmem.memory.health.checks.tree import VaultTree, walk
from clawmem.model.language.text import normal
from clawmem.model.proposals.proposal import FOLDER
from clawmem.model.records.entity import ITEMS, SUMMARY, name_of_path
from clawmem.model.records.event import Event
from clawmem.model.records.layout import CATALOG, SETTINGS
from clawmem.vault.vault import Vault


class VaultContent(NamedTuple):
    """What the files hold: facts, the ids of events by file, the files that do not parse, the problems of
    the files; names entities go by, texts of cited events by id, text that does not parse; counts; proposals."""

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
    """What is gathered while the files go by."""

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
        self.problems: list[HealthProblem] = []
        self.counts: Counter[str] = Counter(files=0, facts=0, entities=0, events=0, quotes=0, proposals=0)


def read_vault(vault: Vault) -> VaultContent:
    """Read the vault's work tree whole. What the files' facts say is checked by `reading_problems`, later."""
    tree, book = walk(vault), _VaultReader()
    ledgers = [path for path in tree.owned if path.startswith("ledger/") and path.endswith(".jsonl")]
    others = [path for path in tree.owned if path not in set(ledgers)]
    # Facts first: then it is known which events' texts must be kept for comparison.
    for path in [*others, *ledgers]:
        _read_file(vault, path, book)
    book.problems += repeated_problems(lambda path: vault.read(path) or b"", book.event_ids)
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
    """What is wrong with the facts that were read, each alone and all together; needs no file any more."""
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
    if data is None:
        return
    book.problems += text_problems(path, data)
    name, last = name_of_path(path), path.rsplit("/", 1)[-1]
    if name is not None:
        book.entities.add(name)
        book.names.add(name)
    if name is not None and last == ITEMS:
        _take_items(path, name, data, book)
    elif name is not None and last == SUMMARY:
        summary = read_summary(path, data)
        book.names.update((summary.title, *summary.aliases))
        book.aliases[name] = summary.aliases
        book.problems += summary.problems
    elif path.startswith("ledger/") and path.endswith(".jsonl"):
        _take_ledger(path, data, book)
    elif path.startswith(f"{FOLDER}/"):
        _take_review(path, data, book)
    elif path.endswith(".json"):
        book.problems += json_problems(path, data)
    elif path == SETTINGS:
        book.problems += settings_problems(data.decode("utf-8-sig", errors="replace"))
    elif path == CATALOG:
        book.problems += catalog_problems(data.decode("utf-8-sig", errors="replace"))


def _take_items(path: str, name: str, data: bytes, book: _VaultReader) -> None:
    items = read_items(path, data)
    book.problems += items.problems
    if not items.parses:
        book.broken.add(path)
        book.unread.append(items.unread)
    for line, fact in items.facts:
        book.facts.append(CheckedFact(fact, name, path, line))
        if fact.source_event is not None:
            book.wanted.add(fact.source_event)
            book.counts["quotes"] += fact.source_span is not None


def _take_review(path: str, data: bytes, book: _VaultReader) -> None:
    filed, problems = read_review(path, data)
    book.problems += problems
    if filed is not None:
        book.filed.append(filed)
        book.counts["proposals"] += 1
        if filed.proposal.fact and filed.proposal.fact.source_event:
            book.wanted.add(filed.proposal.fact.source_event)


def _take_ledger(path: str, data: bytes, book: _VaultReader) -> None:
    def take(line: int, event: Event) -> None:
        book.counts["events"] += 1
        book.event_ids.add(path, event.id)
        if event.id in book.wanted:
            book.cited.setdefault(event.id, event.text)

    ledger = read_ledger(path, data, take)
    book.problems += ledger.problems
    if ledger.unread:
        book.broken.add(path)
        book.unread.append(ledger.unread)
