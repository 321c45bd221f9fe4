"""Two servers behind `postgres_fdw`: `python -m benchmarks.hub_servers [--facts 100000]`.

The road past one server where Citus is not to be had: each organisation is on a server of its own, and a router has one
partitioned table whose partitions are foreign. (A foreign table cannot be a partition of `clawmem.fact`, which has a
primary key, so the router's table is another one, without keys.) Shown is what the planner sends to which server, and
the time of the ten best facts, asked at the server itself and through the router.

It needs a PostgreSQL of the system with `postgres_fdw` (Debian: `postgresql postgresql-contrib`).
"""

from __future__ import annotations

import argparse
import statistics
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from benchmarks.corpus import questions
from benchmarks.hub import generate
from clawmem.extensions.hub.postgres.connect import connect
from clawmem.model.language.question import search_words
from tests.extensions.hub.postgres.server import Database, Server, make_template, running_server

_COLUMNS = "org text, vault text, id text, scopes text[], claim text, text_search tsvector"
_BEST = (
    "SELECT vault, id, claim FROM {table}, websearch_to_tsquery('english', %s) AS q"
    " WHERE org = 'acme' AND text_search @@ q ORDER BY ts_rank_cd(text_search, q) DESC LIMIT 10"
)


def programs() -> Path | None:
    """The folder of a PostgreSQL of the system that has postgres_fdw."""
    for folder in sorted(Path("/usr/lib/postgresql").glob("*/bin"), reverse=True):
        version = folder.parent.name
        if Path(f"/usr/share/postgresql/{version}/extension/postgres_fdw.control").exists():
            return folder
    return None


def routed(router: Any, servers: dict[str, Server]) -> None:
    """Make a table on the router whose partitions are on the servers, one for each organisation."""
    router.execute("CREATE EXTENSION postgres_fdw")
    router.execute(f"CREATE TABLE fact ({_COLUMNS}) PARTITION BY LIST (org)")
    for org, server in servers.items():
        router.execute(
            f"CREATE SERVER {org} FOREIGN DATA WRAPPER postgres_fdw"
            f" OPTIONS (host '{server.socket}', dbname 'hub', use_remote_estimate 'true', fdw_tuple_cost '1')"
        )
        router.execute(f"CREATE USER MAPPING FOR postgres SERVER {org} OPTIONS (user 'postgres')")
        router.execute(
            f"CREATE FOREIGN TABLE fact_{org} PARTITION OF fact FOR VALUES IN ('{org}') SERVER {org}"
            f" OPTIONS (schema_name 'clawmem', table_name 'fact_{org}')"
        )


def milliseconds(connection: Any, query: str, asked: int = 20) -> float:
    """The median over some questions."""
    times = []
    for question in questions(asked + 2):
        start = time.perf_counter()
        connection.execute(query, (" or ".join(search_words(question)),)).fetchall()
        times.append((time.perf_counter() - start) * 1000)
    return statistics.median(times[2:])


def lines(folder: Path, binaries: Path, facts: int) -> Iterator[str]:
    """What is shown."""
    with ExitStack() as stack:
        servers = {}
        for org in ("acme", "beta"):
            server = stack.enter_context(running_server(folder, programs=binaries))
            make_template(server)
            with server.admin() as admin:
                admin.execute("CREATE DATABASE hub TEMPLATE clawmem_template OWNER hub_owner")
            if org != "acme":
                with connect(server.address("hub")) as hub:
                    hub.execute("SELECT clawmem.add_organisation('beta', 'Beta', false)")
            servers[org] = server
        generate(servers["acme"], Database(servers["acme"], "hub"), 0, facts)
        router = stack.enter_context(running_server(folder, programs=binaries)).admin()
        stack.enter_context(router)
        routed(router, servers)
        with servers["acme"].admin("hub") as straight:
            at_server = milliseconds(straight, _BEST.format(table="clawmem.fact"))
        through = milliseconds(router, _BEST.format(table="fact"))
        yield f"ten best of {facts:,} facts: {at_server:.0f} ms at the server, {through:.0f} ms through the router"
        for what in ("WHERE org = 'acme' AND", "WHERE"):
            plan = router.execute(
                f"EXPLAIN (VERBOSE, COSTS OFF) SELECT id FROM fact {what} text_search @@ 'budget'::tsquery"
                " ORDER BY ts_rank_cd(text_search, 'budget'::tsquery) DESC LIMIT 10"
            )
            yield ""
            yield from (str(line) for (line,) in plan)


def main() -> int:
    """Print what was measured."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--facts", type=int, default=100_000)
    namespace = parser.parse_args()
    binaries = programs()
    if binaries is None:
        print("There is no PostgreSQL of the system with postgres_fdw: apt-get install postgresql", file=sys.stderr)
        return 1
    for line in lines(Path(tempfile.mkdtemp(prefix="clawmem-bench-")), binaries, namespace.facts):
        print(line, flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
