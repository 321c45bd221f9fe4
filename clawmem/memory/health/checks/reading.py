"""Read every owned file once, in the order that lets each check see what it needs.

Search files for credentials.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import islice

from clawmem.errors import ClawmemError
from clawmem.memory.health.checks import ERROR, WARNING, HealthProblem
from clawmem.memory.health.checks.facts import CheckedFact, all_facts_problems, fact_problems, read_items
from clawmem.memory.health.checks.ledger import EventIds, evidence_problems, read_ledger, repeated_problems
from clawmem.memory.health.checks.pages import (
    FiledProposal,
    alias_problems,
    catalog_problems,
    lost_marks,
    parse_problems,
    read_review,
    read_summary,
    settings_problems,
    text_problems,
)
from clawmem.memory.health.checks.tree import VaultTree, walk
from clawmem.model.facts.fact import Fact
from clawmem.model.kinds import (
    AT_INGEST,
    CATALOG,
    EVENTS,
    FACTS,
    LOG,
    NONE,
    PARSE,
    POLICY,
    PROPOSAL,
    REDACTIONS,
    SETTINGS,
    SUMMARY,
    TASK,
    handling,
)
from clawmem.model.language.text import normal
from clawmem.model.records.entity import name_of_path
from clawmem.model.records.event import Event, as_said
from clawmem.model.records.strict_json import UnreadFile, beyond_limit
from clawmem.model.safety.secrets.find import find_secrets
from clawmem.vault.strict_yaml import parse_yaml
from clawmem.vault.vault import Vault


class VaultContent:
    """What the files hold, as it is collected while they are read: the tree; facts; ids of events by file; files that
    do not parse; the problems of the files; names of entities; texts of cited events by id; text that does not parse;
    counts; proposals; files that are unchanged since a check found nothing in them."""

    def __init__(self, tree: VaultTree, unchanged: frozenset[str]) -> None:
        self.tree = tree
        self.unchanged = unchanged.intersection(tree.owned)
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


def read_vault(vault: Vault, unchanged: frozenset[str] = frozenset()) -> VaultContent:
    """Read the whole work tree of the vault. `reading_problems` checks later what the facts say. Of `unchanged` files,
    in which a check found nothing, those are not read with which nothing is compared."""
    book = VaultContent(walk(vault), unchanged)
    owned = book.tree.owned
    # Facts first: then it is known which events' texts must be kept for comparison.
    for path in sorted(owned, key=lambda path: handling(path).check == EVENTS):
        _read_file(vault, path, book)
    book.problems += repeated_problems(lambda path: vault.read(path) or b"", book.event_ids)
    book.problems += [
        HealthProblem(WARNING, "task", path, line, f"There is no workflow '{name}'.")
        for path, line, name in book.workflows
        if f"workflows/{name}.yaml" not in owned
    ]
    book.problems += alias_problems(book.aliases, book.entities)
    book.counts.update(entities=len(book.entities), facts=len(book.facts))
    return book


def reading_problems(reading: VaultContent) -> Iterator[HealthProblem]:
    """The problems of the facts that were read, each alone and all together. Reads no file."""
    for placed in reading.facts:
        if placed.path not in reading.unchanged:
            yield from fact_problems(placed)
    unread = "\n".join(reading.unread)
    yield from all_facts_problems(reading.facts, frozenset(map(normal, reading.names)), unread)
    yield from evidence_problems(reading.facts, reading.cited, unread)


def _read_file(vault: Vault, path: str, book: VaultContent) -> None:
    book.counts["files"] += 1
    try:
        data = vault.read(path)
    except OSError as problem:
        book.problems.append(
            HealthProblem(ERROR, "unreadable", path, None, f"The file cannot be read: {problem.strerror}.")
        )
        return
    if isinstance(data, UnreadFile):
        text = beyond_limit("The file", data.size, data.limit, "bytes")
        book.problems.append(HealthProblem(ERROR, "unreadable", path, None, f"{text}."))
        book.broken.add(path)
    elif data is not None:
        name = name_of_path(path)
        if name is not None:
            book.entities.add(name)
            book.names.add(name)
        check = handling(path).check
        if path not in book.unchanged or check not in _COMPARED_WITH_NOTHING:
            found = [] if check == NONE else list(text_problems(path, data))
            book.problems += found
            if check not in _NEEDING_TEXT or not any(problem.severity == ERROR for problem in found):
                CHECKS[check](path, data, book)


_COMPARED_WITH_NOTHING = (CATALOG, REDACTIONS, PARSE, NONE)
# What is only read as its kind where it is text.
_NEEDING_TEXT = (PARSE, TASK)


def _check_facts(path: str, data: bytes, book: VaultContent) -> None:
    items = read_items(path, data)
    book.problems += items.problems
    if not items.parses:
        book.broken.add(path)
        book.unread.append(items.unread)
    _take_facts(path, items.facts, book)


def _take_facts(path: str, facts: Iterable[tuple[int, Fact]], book: VaultContent) -> None:
    entity = name_of_path(path) or path
    for line, fact in facts:
        book.facts.append(CheckedFact(fact, entity, path, line))
        if fact.source_event is not None:
            book.wanted.add(fact.source_event)
            book.counts["quotes"] += fact.source_span is not None


def _check_summary(path: str, data: bytes, book: VaultContent) -> None:
    summary = read_summary(path, data)
    book.names.update((summary.title, *summary.aliases))
    book.aliases[name_of_path(path) or path] = summary.aliases
    book.problems += summary.problems


def _check_proposal(path: str, data: bytes, book: VaultContent) -> None:
    filed, problems = read_review(path, data)
    book.problems += problems
    if filed is not None:
        book.filed.append(filed)
        book.counts["proposals"] += 1


def _check_events(path: str, data: bytes, book: VaultContent) -> None:
    def take(line: int, event: Event) -> None:
        book.counts["events"] += 1
        book.event_ids.add(path, event.id)
        if event.id in book.wanted:
            book.cited.setdefault(event.id, as_said(event))

    ledger = read_ledger(path, data, take)
    book.problems += ledger.problems
    if ledger.unread:
        book.broken.add(path)
        book.unread.append(ledger.unread)


def _check_settings(path: str, data: bytes, book: VaultContent) -> None:
    book.problems += settings_problems(data.decode("utf-8-sig", errors="replace"))


def _check_catalog(path: str, data: bytes, book: VaultContent) -> None:
    book.problems += catalog_problems(data.decode("utf-8-sig", errors="replace"))


def _check_parse(path: str, data: bytes, book: VaultContent) -> bool:
    found = [*parse_problems(path, data), *lost_marks(path, data)]
    book.problems += found
    return not any(problem.severity == ERROR for problem in found)


def _check_task(path: str, data: bytes, book: VaultContent) -> None:
    if _check_parse(path, data, book):
        from clawmem.model.records.task import line_of, parse_task, task_warnings

        task = parse_task(data, path, parse_yaml)
        if task.workflow is not None:
            book.workflows.append((path, line_of(task.page, "workflow"), task.workflow))
        items = task_warnings(task)
        book.problems += [HealthProblem(WARNING, "task", path, line, says) for line, says in items]


def _check_policy(path: str, data: bytes, book: VaultContent) -> None:
    if _check_parse(path, data, book):
        from clawmem.model.records.access import parse_policy  # few vaults have one

        faults = parse_policy(data, path, parse_yaml).faults()
        book.problems += [HealthProblem(WARNING, "access", path, None, fault) for fault in faults]


def _check_nothing(path: str, data: bytes, book: VaultContent) -> None:
    """Files that nothing reads may hold anything, and doctor compares the redactions with the history."""


# For each value of a kind's `check`, the function that reads the file for what doctor reports and compares later.
CHECKS: Mapping[str, Callable[[str, bytes, VaultContent], object]] = {
    FACTS: _check_facts,
    EVENTS: _check_events,
    SUMMARY: _check_summary,
    PROPOSAL: _check_proposal,
    SETTINGS: _check_settings,
    CATALOG: _check_catalog,
    REDACTIONS: _check_nothing,
    TASK: _check_task,
    POLICY: _check_policy,
    PARSE: _check_parse,
    NONE: _check_nothing,
}


# So many bytes are searched at a time.
_CHUNK_BYTES = 1 << 20
_MAX_PER_FILE = 3


def credential_problems(vault: Vault, paths: Iterable[str]) -> Iterator[HealthProblem]:
    """Yield the first credentials in each file. Unreadable files are reported elsewhere."""
    for path in paths:
        try:
            data = vault.read(path) or b""
        except (ClawmemError, OSError):
            continue
        yield from islice(_credentials_in(path, data), _MAX_PER_FILE)


def _credentials_in(path: str, data: bytes) -> Iterator[HealthProblem]:
    start = lines = 0
    for end in _chunk_ends(data):
        # Events have foreign ids, which may look like credentials.
        text = data[start:end].decode(errors="replace")
        for match in find_secrets(text, unnamed=handling(path).secrets != AT_INGEST):
            line = lines + text.count("\n", 0, match.start) + 1
            yield HealthProblem(WARNING, "secret", path, line, f"This looks like a credential ({match.rule}).")
        start, lines = end, lines + text.count("\n")


def _chunk_ends(text: bytes) -> Iterator[int]:
    """Yield the ends of chunks of whole lines."""
    end = 0
    while end < len(text):
        end = text.find(b"\n", end + _CHUNK_BYTES) + 1 or len(text)
        yield end


def files_to_search(reading: VaultContent) -> list[str]:
    """Return the files to search, ledgers last. Facts and proposals are checked one by one elsewhere."""
    known = reading.unchanged | {fact.path for fact in reading.facts} | {proposal.path for proposal in reading.filed}
    paths = (path for path in reading.tree.owned if path not in known - reading.broken)
    return sorted(paths, key=lambda path: handling(path).owner == LOG)
