"""Bits turned over all over the index file: what is asked is answered from a new one, and nothing ends with a bug."""

from __future__ import annotations

import random
import sqlite3
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from clawmem.errors import ClawmemError
from clawmem.faces.cli.complete import values_of
from clawmem.index.refresh import open_index, rebuild, run_query
from clawmem.index.search.channels import FactFilter
from clawmem.index.tables.store import Index, index_path
from clawmem.memory.entities.entities import list_agents, list_entities, show_entity
from clawmem.memory.facts.remember import remember
from clawmem.memory.health.status import status
from clawmem.memory.history.log import LogBounds, log
from clawmem.memory.history.why import why
from clawmem.memory.pages.summaries import count_tokens
from clawmem.model.facts.draft import Draft, draft_from_record
from clawmem.model.records.caller import Caller
from clawmem.runtime import Runtime
from clawmem.serving.browse import list_facts, show_fact
from clawmem.serving.context.context import context
from clawmem.serving.graph import neighbors
from clawmem.serving.recall.recall import recall
from clawmem.serving.recall.result import EVENTS, FACTS, NOTES
from clawmem.vault.vault import Vault
from tests.conftest import NOW, Once
from tests.faults.flips import prepare
from tests.faults.scenarios import keep

JANE = "areas/people/jane"


def _caller() -> Caller:
    return Caller(NOW, random.Random(3).randbytes)


def _fact(vault: Vault) -> str:
    data = (vault.root / f"life/{JANE}/items.json").read_text()
    return data[data.index("fact_") :][:13]


def _draft() -> Draft:
    return draft_from_record({"fact": "Jane has a dog.", "entity": JANE}, NOW)


def _completions(vault: Vault, kind: str, prefix: str) -> object:
    return values_of(kind, Runtime(vault.git.environment, vault.root, str(vault.root)), prefix, ())


ACTS: dict[str, Callable[[Vault], object]] = {
    "list": lambda vault: list_facts(vault, _caller(), FactFilter(superseded=True)),
    "recall": lambda vault: recall(vault, "Where does Jane live?", _caller(), FactFilter(), 50, (FACTS, EVENTS, NOTES)),
    "context": lambda vault: context(vault, _caller(), 2000, "Which bird was ringed?"),
    "show": lambda vault: show_fact(vault, _fact(vault), _caller()),
    "log": lambda vault: log(vault, None, _caller(), LogBounds(200)),
    "log of an entity": lambda vault: log(vault, JANE, _caller(), LogBounds(200)),
    "why": lambda vault: why(vault, _fact(vault)),
    "status": status,
    "entity list": list_entities,
    "entity show": lambda vault: show_entity(vault, JANE, _caller()),
    "agents": list_agents,
    "graph": lambda vault: neighbors(vault, JANE, _caller(), FactFilter(), 2, 50),
    "complete a fact": lambda vault: _completions(vault, "fact", "fact_"),
    "complete an entity": lambda vault: _completions(vault, "entity", ""),
    "complete a category": lambda vault: _completions(vault, "category", ""),
    "count": count_tokens,
    "remember": lambda vault: remember(
        vault, [draft_from_record({"fact": "Jane has a dog.", "entity": JANE}, NOW)], _caller()
    ),
}


def _places(path: Path, count: int, seed: int) -> Iterator[tuple[int, int]]:
    """Bits of the header, of the schema, and of everything, a third each."""
    chance, data = random.Random(seed), path.read_bytes()
    schema = data.index(b"CREATE TABLE meta")
    spans = ((0, 100), (max(0, schema - 4000), schema + 4000), (0, len(data)))
    for number in range(count):
        low, high = spans[number % 3]
        yield chance.randrange(low, min(high, len(data))), chance.randrange(8)


def _strike(vault: Vault, count: int, seed: int) -> list[str]:
    """Each bit turned over, then some of the acts, each first in its turn; what ended otherwise than it may."""
    wrong, acts = [], list(ACTS.items())
    rebuild(vault).close()
    places = list(_places(index_path(vault).resolve(), count, seed))
    for number, (offset, bit) in enumerate(places):
        path = index_path(vault).resolve()
        data = bytearray(path.read_bytes())
        data[offset % len(data)] ^= 1 << bit
        with path.open("r+b") as file:
            file.write(data)
        for turn in range(3):
            name, act = acts[(number + turn * 7) % len(acts)]
            fresh = Vault(vault.root, vault.git.environment)
            try:
                act(fresh)
            except ClawmemError as problem:
                if name != "remember" or "search index" not in problem.message:
                    wrong.append(f"{name} after bit {bit} at {offset}: {problem.message}")
            except Exception as problem:  # noqa: BLE001 - each is a finding
                wrong.append(f"{name} after bit {bit} at {offset}: {problem!r}")
        if path == index_path(vault).resolve():
            rebuild(vault).close()
    return wrong


def test_bits_all_over_the_index(vault: Vault, once: Once) -> None:
    once(lambda: prepare(vault))
    assert _strike(vault, 24, 1) == []


WORDS = {
    "a table's name": b"TABLE fact (",
    "a column's name": b"    entity TEXT NOT NULL",
    "the word CREATE": b"CREATE INDEX fact_entity",
    "a word of a fact": b"plays the cello",
}


@pytest.mark.parametrize("stride", [4, pytest.param(1, marks=pytest.mark.soak)])
@pytest.mark.parametrize("what", WORDS)
def test_a_byte_that_is_no_text(vault: Vault, once: Once, what: str, stride: int) -> None:
    """SQLite's own sentence about a damaged schema repeats the bytes, and Python cannot read it then.

    A normal run tries each act with one of the words.
    """
    once(lambda: prepare(vault))
    wrong: list[tuple[str, Exception]] = []
    for name, act in [*ACTS.items()][[*WORDS].index(what) % stride :: stride]:
        rebuild(vault).close()
        path = index_path(vault).resolve()
        data = path.read_bytes()
        assert WORDS[what] in data
        path.write_bytes(data.replace(WORDS[what], b"\xc1" + WORDS[what][1:]))
        try:
            act(Vault(vault.root, vault.git.environment))
        except ClawmemError as problem:
            wrong += [] if name == "remember" and "search index" in problem.message else [(name, problem)]
        except Exception as problem:  # noqa: BLE001 - each is a finding
            wrong.append((name, problem))
    assert wrong == []


def test_a_transaction_that_sqlite_ended_by_itself(vault: Vault) -> None:
    """If the disk is full, SQLite rolls back by itself; the reported error is that of the disk."""
    index = open_index(vault)
    (pages,) = index.database.execute("PRAGMA page_count").fetchone()
    index.database.execute(f"PRAGMA max_page_count = {pages}")
    with pytest.raises(sqlite3.OperationalError, match="full"), index.writing():
        for number in range(1000):
            index.set_meta(f"key {number}", "x" * 4000)
    index.database.execute("PRAGMA max_page_count = 1000000")
    with index.writing():
        index.set_meta("key", "it goes on")
    assert (index.meta("key"), index.meta("key 0")) == ("it goes on", None)
    index.close()


def test_an_error_of_an_act_is_no_damage(vault: Vault) -> None:
    """A mistake of ours on a sound index stays what it is: no new index hides it."""
    keep(vault, "Jane plays the cello.")
    before = index_path(vault).resolve()

    def wrong(index: Index) -> None:
        raise KeyError("ours")

    with pytest.raises(KeyError, match="ours"):
        run_query(vault, wrong)
    assert index_path(vault).resolve() == before


@pytest.mark.soak
@pytest.mark.parametrize("seed", range(2, 8))
def test_many_bits_all_over_the_index(vault: Vault, seed: int) -> None:
    prepare(vault)
    assert _strike(vault, 3000, seed) == []
