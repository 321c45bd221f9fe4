"""Random lives of a vault: what people and agents do to it, as pure steps, so that thousands can be merged a minute."""

from __future__ import annotations

import json
import random
import re
from collections.abc import Callable, Mapping

from clawmem.model.facts.codec import fact_to_record, parse_items, render_items
from clawmem.model.facts.fact import ACTIVE, ARCHIVED, RETRACTED, Fact, FactLink
from clawmem.model.language.text import normal
from clawmem.model.lifecycle.chain import succeed
from clawmem.model.lifecycle.reinforce import reinforce
from clawmem.model.merging.facts import DUPLICATE_REASON
from clawmem.model.merging.tree import Files
from clawmem.model.pages.daily import with_line
from clawmem.model.pages.summary import summary_page
from clawmem.model.records.entity import Entity, items_path, summary_path
from clawmem.model.records.event import Event, parse_events, render_events

PLACES = ("projects/boat", "areas/people/jane", "areas/general")
WORDS = ("tea", "boats", "Oslo", "the cello", "anchovies", "snow")
DAY = "2026-11-21"
LEDGER, NOTE = f"ledger/{DAY}.jsonl", f"daily/{DAY}.md"
Step = Callable[["Life"], None]
_TIME = re.compile(rb"2026-11-21T(\d\d):(\d\d):(\d\d)Z")


def _second(time: tuple[bytes, bytes, bytes]) -> int:
    hours, minutes, seconds = map(int, time)
    return (hours - 10) * 3600 + minutes * 60 + seconds


class Life:
    """A vault's files while a random life goes by. `few_ids` lets machines draw the same id for different facts."""

    def __init__(self, files: Mapping[str, bytes | None], seed: int, few_ids: bool = False) -> None:
        self.files = {path: data for path, data in files.items() if data is not None}
        self.chance = random.Random(seed)
        self.few_ids = few_ids
        # Clocks differ from machine to machine, but none goes back behind what it has seen.
        self.second = max((_second(time) for data in self.files.values() for time in _TIME.findall(data)), default=0)

    def live(self, steps: int, doing: tuple[Step, ...]) -> Files:
        """Take some random steps; the files as they are then."""
        for _ in range(steps):
            self.chance.choice(doing)(self)
        return dict(self.files)

    def now(self) -> str:
        """A time that goes on, at another pace on each machine."""
        self.second += self.chance.randint(0, 40)
        minutes, seconds = divmod(self.second, 60)
        return f"{DAY}T{10 + minutes // 60:02}:{minutes % 60:02}:{seconds:02}Z"

    def new_id(self) -> str:
        """An id that no fact of this vault has."""
        taken = {fact.id for fact in self.facts()}
        while True:
            number = self.chance.randrange(24) if self.few_ids else self.chance.getrandbits(32)
            if f"fact_{number:08x}" not in taken:
                return f"fact_{number:08x}"
            self.few_ids = self.few_ids and len(taken) < 20

    def facts(self) -> list[Fact]:
        """Every fact of the vault."""
        return [fact for path in self.paths() for fact in parse_items(self.files[path], path)]

    def paths(self) -> list[str]:
        """The files of facts."""
        return sorted(path for path in self.files if path.endswith("/items.json"))

    def standing(self) -> Fact | None:
        """Return a current fact, or None."""
        found = [fact for fact in self.facts() if fact.is_current]
        return self.chance.choice(found) if found else None

    def put(self, *facts: Fact) -> None:
        """Write facts to their files; add new facts to the first file, or to any file."""
        for fact in facts:
            path = self.place_of(fact.id) or self.place_of(facts[-1].id) or self.chance.choice(self.paths())
            record = {item.id: item for item in parse_items(self.files[path], path)}
            record[fact.id] = fact
            self.files[path] = render_items(record.values())

    def place_of(self, fact_id: str) -> str | None:
        """The file of a fact."""
        return next((path for path in self.paths() if f'"id": "{fact_id}"'.encode() in self.files[path]), None)

    def words(self) -> str:
        """Something to say."""
        return f"Jane {self.chance.choice(('likes', 'sees', 'knows'))} {self.chance.choice(WORDS)}."


def first_vault() -> Files:
    """A vault with three entities and nothing in them."""
    files: dict[str, bytes | None] = {LEDGER: b"", NOTE: f"# {DAY}\n\n".encode()}
    for name in PLACES:
        files[items_path(name)] = b"[]\n"
        files[summary_path(name)] = summary_page(Entity(name, name), DAY).encode()
    files["clawmem.yaml"] = b"format: 1\n\ndefaults:\n  # How many.\n  limit: 10\n  entity: areas/general\n"
    return files


def _add(life: Life) -> None:
    words, path = life.words(), life.chance.choice(life.paths())
    same = [
        item for item in parse_items(life.files[path], path) if item.is_current and normal(item.fact) == normal(words)
    ]
    fact = Fact(life.new_id(), words, "fact", life.now(), "user", tags=(life.chance.choice(WORDS),), confidence=0.5)
    _, verb, thing = words.rstrip(".").split(" ", 2)
    fact = fact._replace(subject="Jane", predicate=verb, object=thing)
    if same:
        life.put(reinforce(same[0], fact))
        return
    items = parse_items(life.files[path], path)
    life.files[path] = render_items([*items, fact])


def _supersede(life: Life) -> None:
    old = life.standing()
    if old is None:
        return
    at = life.now()
    new = Fact(life.new_id(), f"{life.words()} ({life.chance.randrange(1000)})", "fact", at, "user")
    succession = succeed(new, [old], "supersedes", "it changed", at, at)
    life.put(succession.new, *succession.closed)


def _supersede_by_known(life: Life) -> None:
    old, new = life.standing(), life.standing()
    if old is None or new is None or old.id == new.id:
        return
    succession = succeed(new, [old], "supersedes", "known", life.now(), old.timestamp)
    life.put(succession.new, *succession.closed)


def _retract(life: Life) -> None:
    fact = life.standing()
    if fact:
        life.put(fact._replace(status=RETRACTED, metadata={"retracted": {"at": life.now()}}))


def _link(life: Life) -> None:
    fact, other = life.standing(), life.standing()
    if fact and other and fact.id != other.id:
        life.put(fact._replace(links=(*fact.links, FactLink("depends_on", other.id, None, life.now()))))


def _use(life: Life) -> None:
    fact = life.standing()
    if fact:
        life.put(fact._replace(access_count=fact.access_count + life.chance.randint(1, 3), last_accessed=life.now()))


def _archive(life: Life) -> None:
    fact = life.standing()
    if fact:
        life.put(fact._replace(status=ARCHIVED if fact.status == ACTIVE else ACTIVE))


def _tag(life: Life) -> None:
    fact = life.standing()
    if fact:
        words = {*fact.tags, life.chance.choice(WORDS)}
        life.put(fact._replace(tags=tuple(sorted(words)), importance=life.chance.random()))


def _reword(life: Life) -> None:
    fact = life.standing()
    if fact:
        life.put(fact._replace(fact=f"{life.words()} (by hand {life.chance.randrange(1000)})"))


def _take_out(life: Life) -> None:
    """Undo of the latest fact that nothing points at."""
    text = b"".join(life.files.values())
    loose = [fact for fact in life.facts() if text.count(fact.id.encode()) == 1 and not fact.links]
    if loose:
        path = life.place_of(loose[-1].id) or ""
        life.files[path] = render_items(item for item in parse_items(life.files[path], path) if item.id != loose[-1].id)


def _move(life: Life) -> None:
    old = "projects/boat"
    if items_path(old) in life.files:
        new = "archives/boat"
        life.files[items_path(new)] = life.files.pop(items_path(old))
        page = life.files.pop(summary_path(old)).decode()
        life.files[summary_path(new)] = page.replace("aliases: []", f'aliases: ["{old}"]').encode()


def _event(life: Life) -> None:
    events = parse_events(life.files[LEDGER], LEDGER)
    event = Event(f"evt_{life.chance.getrandbits(64):016x}", life.now(), "user", life.words())
    life.files[LEDGER] = render_events([*events, event])


def _note(life: Life) -> None:
    line = f"- {life.now()[11:16]} {life.words()} {life.chance.randrange(1000)}"
    life.files[NOTE] = with_line(life.files[NOTE].decode(), DAY, line).encode()


def _write(life: Life) -> None:
    path = next(path for path in sorted(life.files) if path.endswith("jane/summary.md"))
    page = life.files[path].decode()
    added = f"{life.words()} {life.chance.randrange(1000)}\n\n<!-- clawmem:begin -->"
    life.files[path] = page.replace("<!-- clawmem:begin -->", added).encode()


def _set(life: Life) -> None:
    limit = life.chance.randint(1, 5)
    text = life.files["clawmem.yaml"].decode().splitlines()
    life.files["clawmem.yaml"] = "\n".join(
        f"  limit: {limit}" if "  limit:" in line else line for line in text
    ).encode()


ORDERLY: tuple[Step, ...] = (
    *(_add, _add, _add, _supersede, _supersede, _retract, _link, _use, _use, _archive, _tag, _event, _event, _note),
    *(_move, _write),
)
"""What no order of merging can tell apart."""

ANYTHING: tuple[Step, ...] = (*ORDERLY, _supersede_by_known, _reword, _take_out, _set)
"""Everything that happens to a vault. Where three machines change the same words by hand, take the same fact out, or
let facts replace each other in a circle, the order of merging decides what is counted and which link remains."""


def record_of(fact: Fact, facts: Mapping[str, tuple[Fact, str]]) -> str:
    """A fact as text that compares, whatever the order of its lists. Of a fact that gave way to an equal one, what it
    gathered while it stood does not count: the one that stands has it all."""
    record = fact_to_record(fact)
    successor = facts.get(fact.superseded_by or "")
    if successor and any(link.to == fact.id and link.reason == DUPLICATE_REASON for link in successor[0].links):
        record = {key: record[key] for key in ("id", "fact", "timestamp", "status", "superseded_by", "access_count")}
    ordered = {
        key: sorted(value, key=json.dumps) if isinstance(value, list) else value for key, value in record.items()
    }
    return json.dumps(ordered, sort_keys=True)
