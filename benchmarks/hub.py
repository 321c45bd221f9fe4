"""The hub by size: `python -m benchmarks.hub [--sizes 10000 100000 1000000] [--vaults 20]`.

1. Real vaults of 5,000 invented facts are taken in by a worker: facts a second, and the size of the database.
2. Generated rows bring the organisation to each size. At each, questions are asked by 1, 8 and 32 clients with a
   connection of their own, by a role that reads a fifth of the scopes; against the same as plain SQL (best `ts_rank_cd`
   first), by the same role and by the owner without row-level security, and against `recall` on a local index.
3. What the planner does with partitions of other organisations, by `EXPLAIN`.

The server is one that this program starts, with 1 GB of shared buffers, on the same two cores as the clients.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import random
import resource
import statistics
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from benchmarks.corpus import NOW, entity_names, invented_facts, make_vault, questions
from benchmarks.measure import environment
from clawmem.extensions.hub.postgres.connect import HubAddress, connect
from clawmem.extensions.hub.postgres.operator import add_user, add_vault, add_worker, ensure_scope
from clawmem.extensions.hub.postgres.search import HubQuestion, search_facts
from clawmem.extensions.hub.worker import WorkerOptions, work_once
from clawmem.index.refresh import open_index
from clawmem.index.search.channels import FactFilter
from clawmem.model.facts.codec import fact_to_record
from clawmem.model.language.question import search_words
from clawmem.model.records.caller import Caller
from clawmem.serving.recall.recall import RecallQuery, recall_in
from clawmem.serving.recall.result import FACTS
from tests.extensions.hub.postgres.server import ORG, Database, Server, make_template, running_server

_SETTINGS = {"shared_buffers": "1GB", "maintenance_work_mem": "512MB", "max_wal_size": "4GB", "work_mem": "32MB"}
_SCOPES = 20
_READABLE = 4
_ASKED = 60
_COLUMNS = (
    "org, vault, id, scope, scopes, entity, claim, category, subject, predicate, object, status, confidence, trust,"
    ' "timestamp", source, tags, author, commit, path, line, recorded_at, record'
)
_PLAIN = (
    "SELECT id, claim FROM clawmem.fact, websearch_to_tsquery('english', %s) AS q"
    " WHERE org = 'acme' AND text_search @@ q ORDER BY ts_rank_cd(text_search, q) DESC LIMIT 10"
)
Ask = Callable[[Any, str], object]


class Latency(NamedTuple):
    """Milliseconds of many questions, and how many were answered in a second by all clients together."""

    p50: float
    p95: float
    rate: float

    def __str__(self) -> str:
        return f"p50 {self.p50:.1f} ms, p95 {self.p95:.1f} ms, {self.rate:.0f}/s"


def by_search(hub: Any, question: str) -> object:
    """What `org query` asks the database."""
    return search_facts(hub, HubQuestion(question, NOW))


def by_plain_sql(hub: Any, question: str) -> object:
    """Any of the words, best first, as PostgreSQL ranks by itself."""
    return hub.execute(_PLAIN, (" or ".join(search_words(question)),)).fetchall()


def latency(database: Database, role: str, clients: int, ask: Ask, asked: int = _ASKED) -> Latency:
    """Ask in so many threads, in at most four processes; each client asks all questions, in an order of its own."""
    processes = min(clients, 4)
    with multiprocessing.get_context("spawn").Pool(processes) as pool:
        address = database.address(role)
        items = [(address, clients // processes, ask, asked, number) for number in range(processes)]
        spent = [pair for part in pool.starmap(_clients, items) for pair in part]
    times = sorted(took for took, _ in spent)
    whole = max(end for _, end in spent)
    return Latency(
        statistics.median(times) * 1000, times[int(0.95 * (len(times) - 1))] * 1000, len(times) / max(whole, 1e-9)
    )


def _clients(address: HubAddress, threads: int, ask: Ask, asked: int, number: int) -> list[tuple[float, float]]:
    """Return, for each question, the seconds it took and those since all began."""
    spent: list[tuple[float, float]] = []
    barrier = threading.Barrier(threads)
    start: list[float] = []

    def client(at: int) -> None:
        own = questions(asked + 3, seed=1)
        random.Random(number * 100 + at).shuffle(own)
        with connect(address) as hub:
            for question in own[:3]:
                ask(hub, question)
            barrier.wait()
            start.append(time.perf_counter())
            for question in own[3:]:
                began = time.perf_counter()
                ask(hub, question)
                spent.append((time.perf_counter() - began, time.perf_counter() - start[0]))

    pool = [threading.Thread(target=client, args=(at,)) for at in range(threads)]
    for thread in pool:
        thread.start()
    for thread in pool:
        thread.join()
    return spent


def generate(server: Server, database: Database, first: int, count: int) -> float:
    """Copy generated rows in as the superuser, 5,000 a vault; return the seconds."""
    start = time.perf_counter()
    names = entity_names(500, 1)
    with server.admin(database.name) as admin, admin.cursor() as cursor:
        for at in range(first, first + count, 5_000):
            number = at // 5_000
            vault, scope = f"vault_{number:06}", f"team-{number % _SCOPES:02}"
            ensure_scope(admin, ORG, scope, None)
            admin.execute(
                "INSERT INTO clawmem.vault (org, vault, address, scope) VALUES (%s, %s, %s, %s) ON CONFLICT DO NOTHING",
                (ORG, vault, f"/generated/{number}", scope),
            )
            with cursor.copy(f"COPY clawmem.fact_{ORG} ({_COLUMNS}) FROM STDIN") as copy:
                for line, (entity, fact) in enumerate(invented_facts(min(5_000, count), names, seed=number + 1), 1):
                    copy.write_row(
                        (
                            ORG, vault, fact.id, scope, [scope], entity, fact.fact, fact.category, fact.subject,
                            fact.predicate, fact.object, fact.status, fact.confidence, fact.trust, fact.timestamp,
                            fact.source, list(fact.tags), "Ada <ada@example.org>", "c" * 40,
                            f"life/{entity}/items.json", line, fact.timestamp, json.dumps(fact_to_record(fact)),
                        )
                    )  # fmt: skip
        admin.execute("VACUUM ANALYZE clawmem.fact")
    return time.perf_counter() - start


def taken_in(database: Database, folder: Path, vaults: int) -> Iterator[str]:
    """Take in real vaults of 5,000 facts each."""
    env = environment(folder / "home")
    with connect(database.address()) as hub:
        add_worker(hub, "bench_worker", None)
        for number in range(vaults):
            vault = make_vault(folder / f"vault-{number}", 5_000, 100, seed=number + 1)
            ensure_scope(hub, ORG, f"team-{number % _SCOPES:02}", None)
            add_vault(hub, ORG, str(vault.root), f"team-{number % _SCOPES:02}")
    before = _cpu()
    start = time.perf_counter()
    options = WorkerOptions(folder / "mirrors", env, 120)
    items = list(work_once(database.address("bench_worker"), options))
    took = time.perf_counter() - start
    assert [report.problem for report in items] == [None] * vaults, items
    facts = sum(report.facts for report in items)
    yield (
        f"| a worker takes in {vaults} vaults | {facts:,} facts | {facts / took:,.0f} facts/s |"
        f" {took:.1f} s, {_cpu() - before:.1f} s CPU of the worker and its git |"
    )


def _cpu() -> float:
    kinds = (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)
    return sum(other.ru_utime + other.ru_stime for other in map(resource.getrusage, kinds))


def local_lines(folder: Path, sizes: Sequence[int]) -> Iterator[str]:
    """`recall` over facts on a local index, inside one process."""
    for size in sizes:
        vault = make_vault(folder / f"local-{size}", size, max(50, size // 50))
        index = open_index(vault)
        times = []
        for question in questions(_ASKED + 3):
            start = time.perf_counter()
            recall_in(vault, index, RecallQuery(question, Caller(NOW, bytes), FactFilter(), 10, (FACTS,)))
            times.append((time.perf_counter() - start) * 1000)
        times = sorted(times[3:])
        measured = f"p50 {times[len(times) // 2]:.1f} ms, p95 {times[-4]:.1f} ms"
        yield f"| `recall` on a local index | {size:,} | 1 | {measured} |"


def sized_lines(server: Server, database: Database, sizes: Sequence[int], clients: Sequence[int]) -> Iterator[str]:
    """The questions at each size."""
    there = 0
    with connect(database.address()) as hub:
        for number in range(_SCOPES):
            ensure_scope(hub, ORG, f"team-{number:02}", None)
        for number in range(_READABLE):
            add_user(hub, ORG, "fifth", f"team-{number:02}", (), None)
        for number in range(_SCOPES):
            add_user(hub, ORG, "all", f"team-{number:02}", (), None)
    for size in sizes:
        took = generate(server, database, there, size - there)
        with server.admin(database.name) as admin:
            stored = admin.execute("SELECT pg_size_pretty(pg_total_relation_size('clawmem.fact_acme'))").fetchone()
        assert stored is not None
        yield f"| generated by COPY, with all indexes | {size:,} | | {(size - there) / took:,.0f} rows/s; {stored[0]} |"
        there = size
        for role in ("fifth", "all"):
            for count in clients:
                if role == "fifth" or count == 1:
                    measured = latency(database, role, count, by_search)
                    yield f"| `org query`, role `{role}` | {size:,} | {count} | {measured} |"
        for role, name in (("fifth", "plain SQL, row-level security"), ("postgres", "plain SQL, no security")):
            yield f"| {name} | {size:,} | 1 | {latency(database, role, 1, by_plain_sql, 20)} |"


def pruning(server: Server, database: Database) -> Iterator[str]:
    """What EXPLAIN says where an organisation is named, with several in the database."""
    with connect(database.address()) as hub:
        for name in ("beta", "gamma"):
            hub.execute("SELECT clawmem.add_organisation(%s, %s, false)", (name, name.title()))
    with server.admin(database.name) as admin:
        rows = admin.execute(
            "EXPLAIN (COSTS OFF) SELECT id FROM clawmem.fact WHERE org = 'acme' AND entity = 'projects/x'"
        ).fetchall()
        yield from (str(value) for (value,) in rows)
        yield ""
        rows = admin.execute("EXPLAIN (COSTS OFF) SELECT id FROM clawmem.fact WHERE entity = 'projects/x'").fetchall()
        yield from (str(value) for (value,) in rows)
    with connect(database.address("fifth")) as member:
        yield ""
        rows = member.execute(
            "EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF, SUMMARY OFF) SELECT id FROM clawmem.fact"
            " WHERE entity = 'projects/x'"
        ).fetchall()
        yield from (str(value) for (value,) in rows)


def main() -> int:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sizes", type=int, nargs="+", default=[10_000, 100_000, 1_000_000])
    parser.add_argument("--local", type=int, nargs="+", default=[10_000, 100_000])
    parser.add_argument("--clients", type=int, nargs="+", default=[1, 8, 32])
    parser.add_argument("--vaults", type=int, default=20)
    namespace = parser.parse_args()
    folder = Path(tempfile.mkdtemp(prefix="clawmem-bench-"))
    with running_server(folder, _SETTINGS) as server:
        make_template(server)
        for name in ("taken", "sized"):
            with server.admin() as admin:
                admin.execute(f"CREATE DATABASE {name} TEMPLATE clawmem_template OWNER hub_owner")
        print("| what | facts | clients | measured |\n|---|---|---|---|")
        for line in taken_in(Database(server, "taken"), folder, namespace.vaults):
            print(line, flush=True)
        for line in local_lines(folder, namespace.local):
            print(line, flush=True)
        sized = Database(server, "sized")
        for line in sized_lines(server, sized, namespace.sizes, namespace.clients):
            print(line, flush=True)
        print("\n```")
        for line in pruning(server, sized):
            print(line)
        print("```")
    return 0


if __name__ == "__main__":
    sys.exit(main())
