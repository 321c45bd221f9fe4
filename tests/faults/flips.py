"""One byte altered, or a file cut short, anywhere in a vault: what is served afterwards, and what doctor says."""

from __future__ import annotations

import json
import random
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from clawmem.errors import ClawmemError
from clawmem.index.refresh import rebuild, run_query
from clawmem.index.search.channels import FactFilter, facts_in_rows
from clawmem.index.search.graph import edges_at
from clawmem.index.search.lookup import entity_names
from clawmem.index.search.rival_values import linked_as_contrary
from clawmem.index.tables.fact_marks import open_disputes
from clawmem.index.tables.passages import page_lines
from clawmem.index.tables.store import Index
from clawmem.memory.facts.remember import remember
from clawmem.memory.health.doctor import Diagnosis, doctor
from clawmem.model.facts.codec import fact_to_line
from clawmem.model.facts.draft import draft_from_record
from clawmem.model.facts.fact import Fact
from clawmem.model.proposals.proposal import Proposal, ProposalTarget, render_proposal
from clawmem.model.records.caller import Caller
from clawmem.model.records.event import Event, event_to_line, parse_events, render_events
from clawmem.serving.browse import list_facts, peek
from clawmem.serving.recall.recall import recall
from clawmem.serving.recall.result import EVENTS, NOTES
from clawmem.vault.commit.pending import PendingCommit, write_pending
from clawmem.vault.state.journal import record_access
from clawmem.vault.state.upkeep import pack_repository
from clawmem.vault.vault import Vault
from tests.conftest import NOW
from tests.faults.checks import git
from tests.faults.scenarios import keep

HARMLESS, FOUND, NAMED, REPAIRED, WRONG = "harmless", "found", "named", "repaired", "served wrong"
QUESTIONS = ("Where does Jane live?", "lighthouse lamp", "Who plays the cello?", "number 17")
DAY = "2026-11-20"
NOTED = "".join(
    f"- {line}\n"
    for line in (
        "The lighthouse lamp was cleaned.",
        "Jane talked of Oslo.",
        "Number 17 was seen again.",
        "A cello was heard.",
    )
)
ASKED = "Is the lamp of the lighthouse green?"
HARBOUR: tuple[dict[str, Any], ...] = (
    {"id": "fact_0000c0de", "fact": "The lamp is red.", "related_entities": ["projects/towage"]},
    {"id": "fact_0000beef", "fact": "The lamp is lit.", "links": [{"type": "contradicts", "to": "fact_0000c0de"}]},
)
BIRDS = tuple(f"Bird number {number} was ringed near the lighthouse in {1980 + number}." for number in range(40))


class Damage(NamedTuple):
    """A file, by its path below the vault, and what is done to it: a bit turned over, or the end cut off (None)."""

    path: str
    offset: int
    bit: int | None

    def __str__(self) -> str:
        result = "cut" if self.bit is None else f"bit {self.bit}"
        return f"{self.path} at {self.offset}: {result}"


class Outcome(NamedTuple):
    """What became of a damage: one of the five words above, and why."""

    kind: str
    why: str


def prepare(vault: Vault) -> None:
    """A vault with some of everything: facts in chains and with links, events, an open question, packs and loose
    objects, an index, accesses to fold, the note of a change whose process died after its commit."""
    lives = ("Jane lives in Oslo.", "Jane plays the cello.", "The lamp of the lighthouse is green.")
    keep(vault, *lives, entity="areas/people/jane")
    keep(vault, *BIRDS, entity="projects/birds")
    events = [
        Event(f"evt_{number:016x}", f"2026-11-20T08:{number:02}:00Z", "user", bird) for number, bird in enumerate(BIRDS)
    ]
    (vault.root / f"ledger/{DAY}.jsonl").write_bytes(render_events(events))
    (vault.root / f"daily/{DAY}.md").write_text(f"# {DAY}\n\n{NOTED}")
    _join(vault.root)
    keep(vault, "A first change takes the ledger and the note in.", entity="areas/general")
    pack_repository(vault, 1)
    git(vault.root, vault.git.environment, "pack-refs", "--all")
    keep(vault, "Jane moved to Bergen.", "The boat needs a mast.", entity="projects/boat")
    rebuild(vault).close()
    for placed, _ in list_facts(vault, _caller(), _everything()).facts[:5]:
        assert record_access(vault, "2026-11-21T08:00:00Z", [placed.fact.id]) is None
    head = vault.head().commit
    assert head is not None
    parent = git(vault.root, vault.git.environment, "rev-parse", "HEAD~1").strip()
    paths = git(vault.root, vault.git.environment, "diff", "--name-only", "HEAD~1").split()
    subject = git(vault.root, vault.git.environment, "log", "-1", "--format=%s").strip()
    write_pending(vault, PendingCommit(parent, tuple(paths), subject, ()))


def _join(root: Path) -> None:
    """Facts that point at things and at each other, and a question about one of them, written by hand."""
    targets = (ProposalTarget(HARBOUR[0]["id"], HARBOUR[0]["fact"]),)
    asked = Proposal("prop_00000000", "conflict", ASKED, "two values", "2026-11-21", "retract", targets=targets)
    for path, data in (
        ("life/projects/harbour/items.json", json.dumps(HARBOUR).encode()),
        ("review/prop_00000000.json", render_proposal(asked)),
    ):
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_bytes(data)


def damages(root: Path, count: int, seed: int) -> Iterator[Damage]:
    """Return damages spread over all files, each file equally likely whatever its size; a third of them are in files of
    git and clawmem other than objects."""
    chance = random.Random(seed)
    files = [path for path in sorted(_files(root)) if path.stat().st_size]
    few = [path for path in files if _is_state(path.relative_to(root).as_posix())]
    for number in range(count):
        path = chance.choice(few if number % 3 == 0 else files)
        size = path.stat().st_size
        yield Damage(
            path.relative_to(root).as_posix(), chance.randrange(size), None if number % 10 == 9 else chance.randrange(8)
        )


def _is_state(path: str) -> bool:
    if not path.startswith(".git/"):
        return False
    return not path.startswith((".git/objects/", ".git/logs/")) or path.startswith(".git/objects/pack/")


class Range:
    """A prepared vault that is damaged, looked at and put back, in place: the index knows the number of its file."""

    def __init__(self, vault: Vault) -> None:
        self.root, self.environment = vault.root, dict(vault.git.environment)
        self.tally: Counter[str] = Counter()
        self.outcomes: list[tuple[Damage, Outcome]] = []
        self._remember()

    def _remember(self) -> None:
        journal = self.root / ".git/clawmem/access.log"
        kept = journal.read_bytes()
        self._truth, self._found = self._served()
        self._joined = self._found["joined"]
        self._said = _written(self.root)
        journal.write_bytes(kept)
        self._files = {path: path.read_bytes() for path in _files(self.root)}
        self._links = {path: path.readlink() for path in self.root.rglob("*") if path.is_symlink()}
        self._index = self._links[self.root / ".git/clawmem/index.sqlite"]
        self._head = git(self.root, self.environment, "rev-parse", "HEAD")

    def strike(self, damage: Damage) -> Outcome:
        """Do the damage, see what becomes of it, and put everything back."""
        path = self.root / damage.path
        if damage.path.startswith(".git/clawmem/index-"):
            path = self.root / ".git/clawmem" / self._index  # it has another name once it was built anew
        data = path.read_bytes()
        offset = damage.offset % len(data)
        with path.open("r+b") as file:
            if damage.bit is None:
                file.truncate(offset)
            else:
                file.seek(offset)
                file.write(bytes([data[offset] ^ (1 << damage.bit)]))
        try:
            outcome = self._judged(damage)
        finally:
            self._put_back()
        self.tally[outcome.kind] += 1
        self.outcomes.append((damage, outcome))
        return outcome

    def _judged(self, damage: Damage) -> Outcome:
        text, strange = self._reads()
        found = self._doctor()
        wrong = self._writes(damage)
        if wrong or text.startswith("wrong"):
            return Outcome(WRONG, wrong or text)
        if isinstance(found, str):
            return Outcome(FOUND, found)
        errors = [problem for problem in found.problems if problem.severity == "error"]
        if errors:
            return Outcome(FOUND, f"{errors[0].path}: {errors[0].message}")
        if text:
            return Outcome(FOUND, text)
        if strange and not damage.path.endswith("access.log"):
            return Outcome(WRONG, "other facts were found, and doctor is content")
        if damage.path.startswith(".git/clawmem/index") and self._index_is_new():
            return Outcome(REPAIRED, "the index was built anew")
        items = [problem for problem in found.problems if problem.check not in ("pending", "foreign-file")]
        if items:
            return Outcome(NAMED, f"{items[0].path}: {items[0].message}")
        return Outcome(HARMLESS, "")

    def _index_is_new(self) -> bool:
        link = self.root / ".git/clawmem/index.sqlite"
        return not link.is_symlink() or link.readlink() != self._index

    def _reads(self) -> tuple[str, bool]:
        """Nothing where everything served is true and whole, the sentence of the error, or what was wrong; and whether
        questions found other facts than before."""
        try:
            served, found = self._served()
        except (ClawmemError, OSError) as problem:
            return f"refused: {problem}", False
        text = "" if served == self._truth else f"wrong: {_first_difference(self._truth, served)}"
        known = {**self._truth["list"], **self._said, **self._joined}
        untrue = [item for answer in found.values() for item in answer.items() if known.get(item[0]) != item[1]]
        return f"wrong: {untrue[0]}" if untrue else text, found != self._found

    def _served(self) -> tuple[dict[str, Any], dict[str, Any]]:
        vault, caller = Vault(self.root, self.environment), _caller()
        listed = {placed.fact.id: _line(placed.fact) for placed, _ in list_facts(vault, caller, _everything()).facts}
        shown = {fact_id: _line(peek(vault, fact_id).fact) for fact_id in sorted(listed)[::7]}
        facts = {
            question: {hit.fact.id: _line(hit.fact) for hit in recall(vault, question, caller, FactFilter(), 5).found}
            for question in QUESTIONS
        }
        record = {f"{question} (said)": _said(vault, question) for question in QUESTIONS}
        return {"list": listed, "show": shown}, {**facts, **record, "joined": run_query(vault, _joined)}

    def _doctor(self) -> Diagnosis | str:
        try:
            return doctor(Vault(self.root, self.environment), _caller(), full=True)
        except (ClawmemError, OSError) as problem:
            return f"doctor refused: {problem}"

    def _writes(self, damage: Damage) -> str:
        """A change must succeed or be refused; what it commits must hold every fact as it was, but for an edit of a
        file that people may edit, which it names."""
        vault = Vault(self.root, self.environment)
        draft = draft_from_record({"fact": "The next change works.", "entity": "areas/people/jane"}, NOW)
        try:
            result = remember(vault, [draft], Caller(NOW, random.Random(7).randbytes))
        except (ClawmemError, OSError):
            return ""
        edited = not damage.path.startswith(".git/") and any("edited by hand" in notice for notice in result.notices)
        try:
            served = {
                placed.fact.id: _line(placed.fact) for placed, _ in list_facts(vault, _caller(), _everything()).facts
            }
            items = [item for question in QUESTIONS for item in _said(vault, question).items()]
        except (ClawmemError, OSError):
            return ""
        lost = {key: line for key, line in self._truth["list"].items() if served.get(key) != line}
        untrue = [pair for pair in items if self._said.get(pair[0]) != pair[1]]
        if edited or not (lost or untrue):
            return ""
        return f"after a change: {_first_difference(lost, served) if lost else untrue[0]}"

    def _put_back(self) -> None:
        for path in [path for path in _files(self.root) if path not in self._files]:
            path.unlink()
        for path in [path for path in self.root.rglob("*") if path.is_symlink() and path not in self._links]:
            path.unlink()
        for path, data in self._files.items():
            if not path.exists():
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_bytes(data)
            elif path.read_bytes() != data:
                path.chmod(0o644)
                with path.open("r+b") as file:
                    file.write(data)
                    file.truncate()
        if self._index_is_new() or not (self.root / ".git/clawmem" / self._index).exists():
            self._renew_index()

    def _renew_index(self) -> None:
        vault = Vault(self.root, self.environment)
        rebuild(vault).close()
        self._remember()


def _caller() -> Caller:
    return Caller(NOW, random.Random(1).randbytes)


def _everything() -> FactFilter:
    return FactFilter(superseded=True)


def _line(fact: Fact) -> str:
    # How often a fact was used is no part of what it says; the journal of uses is checked line by line on its own.
    return fact_to_line(fact._replace(access_count=0, last_accessed=None))


def _said(vault: Vault, question: str) -> dict[str, str]:
    """The events and the lines of notes that answer a question, each by its name."""
    found = recall(vault, question, _caller(), FactFilter(), 5, (EVENTS, NOTES))
    heard = {hit.event.id: event_to_line(hit.event) for hit in found.heard}
    return {**heard, **{f"{hit.path} {hit.place} {hit.day}": hit.text for hit in found.noted}}


def _joined(index: Index) -> dict[str, str]:
    """The names of all entities, the edges of a few nodes, the pairs of facts that contradict each other, and the
    questions that wait, each said once more as it is."""
    ids = [record["id"] for record in HARBOUR]
    numbers = [n for (n,) in index.database.execute("SELECT n FROM fact ORDER BY n")]
    facts = {n: placed.fact.id for n, placed in facts_in_rows(index, numbers).items()}
    edges = [
        edge for node in (*ids, "projects/harbour", "projects/towage") for edge in edges_at(index, node, FactFilter())
    ]
    items = [*entity_names(index), *edges, *open_disputes(index, ids).items()]
    pairs = [tuple(facts[n] for n in pair) for pair in linked_as_contrary(index, [""], numbers)]
    return {str(pair): str(pair) for pair in (*items, *pairs)}


def _written(root: Path) -> dict[str, str]:
    """The same names and texts of all that was said or noted on the one day, from the files."""
    ledger, page = f"ledger/{DAY}.jsonl", f"daily/{DAY}.md"
    events = parse_events((root / ledger).read_bytes(), ledger)
    lines = page_lines(page, (root / page).read_bytes())
    noted = {f"{page} {place} {DAY}": line for place, line in enumerate(lines, 1)}
    return {**{event.id: event_to_line(event) for event in events}, **noted}


def _files(root: Path) -> list[Path]:
    return [path for path in root.rglob("*") if path.is_file() and not path.is_symlink()]


def _first_difference(record: Mapping[str, Any], other: Mapping[str, Any]) -> str:
    for key in record:
        if record[key] != other.get(key):
            mine, yours = record[key], other.get(key)
            if isinstance(mine, dict) and isinstance(yours, dict):
                return f"{key}: {_first_difference(mine, yours)}"
            return f"{key}: {mine!r} became {yours!r}"
    return "something was added"
