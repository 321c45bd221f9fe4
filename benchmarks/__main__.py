"""`make bench`, or `python -m benchmarks recall remember` for some of it; `--conversations FILE` adds retrieval."""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

from benchmarks.agents import agent_rows
from benchmarks.context import context_rows
from benchmarks.dashboard import dashboard_rows
from benchmarks.governance import governance_rows
from benchmarks.impact import impact_rows
from benchmarks.kept import kept_rows
from benchmarks.library import index_rows, library_rows
from benchmarks.many import batch_rows, repository_rows
from benchmarks.redaction import redaction_rows
from benchmarks.report import HEAD, Row, line
from benchmarks.retrieval import retrieval_rows
from benchmarks.site import site_rows
from benchmarks.start_up import recall_rows, remember_rows
from benchmarks.sync import sync_rows
from benchmarks.year import year_rows

SUITES: dict[str, Callable[[Path], Iterator[Row]]] = {
    "recall": recall_rows,
    "library": library_rows,
    "index": index_rows,
    "context": context_rows,
    "agents": agent_rows,
    "remember": remember_rows,
    "batch": batch_rows,
    "repository": repository_rows,
    "year": year_rows,
    "kept": kept_rows,
    "sync": sync_rows,
    "redact": redaction_rows,
    "impact": impact_rows,
    "governance": governance_rows,
    "site": site_rows,
    "dashboard": dashboard_rows,
}


def main(arguments: list[str]) -> int:
    """Run the named suites, or all; the exit code says whether every goal was met."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("suites", nargs="*", metavar="SUITE", help=", ".join(SUITES))
    parser.add_argument("--conversations", type=Path, metavar="FILE", help="conversations to measure retrieval on")
    namespace = parser.parse_args(arguments)
    unknown = set(namespace.suites) - set(SUITES)
    if unknown:
        print(f"no such suite: {', '.join(sorted(unknown))}; there are {', '.join(SUITES)}", file=sys.stderr)
        return 2
    met = True
    print(HEAD, flush=True)
    for name in namespace.suites or SUITES:
        with tempfile.TemporaryDirectory(prefix="clawmem-bench-") as folder:
            for row in SUITES[name](Path(folder)):
                print(line(row), flush=True)
                met &= row.met
    for row in retrieval_rows(namespace.conversations) if namespace.conversations else ():
        print(line(row), flush=True)
        met &= row.met
    return 0 if met else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
