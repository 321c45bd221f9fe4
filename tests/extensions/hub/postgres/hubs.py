"""A hub with vaults for tests: vaults made of plain commits, and one pass of a worker."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from clawmem.extensions.hub.postgres.connect import ask
from clawmem.extensions.hub.postgres.operator import add_user, add_vault, add_worker, ensure_scope
from clawmem.extensions.hub.postgres.rows import Verified, verify
from clawmem.extensions.hub.worker import VaultReport, WorkerOptions, work_once
from tests.extensions.hub.postgres.server import ORG, OWNER, Database

WORKER = "hub_worker"
PATH = "life/areas/people/jane/items.json"


class History:
    """A repository with the files of a vault, written by plain git: many commits cost little."""

    def __init__(self, root: Path) -> None:
        self.root = root
        root.mkdir()
        self.git("init", "--quiet", "--initial-branch=main")
        self.number = 0

    def git(self, *words: str, given: bytes | None = None) -> str:
        """Run git, and return what it printed."""
        variables = {
            "PATH": os.environ["PATH"], "HOME": str(self.root.parent), "GIT_AUTHOR_NAME": "Ada Person",
            "GIT_AUTHOR_EMAIL": "ada@example.org", "GIT_COMMITTER_NAME": "Ada Person",
            "GIT_COMMITTER_EMAIL": "ada@example.org", "FILTER_BRANCH_SQUELCH_WARNING": "1",
        }  # fmt: skip
        process = subprocess.run(["git", *words], cwd=self.root, env=variables, input=given, capture_output=True)
        assert process.returncode == 0, process.stderr.decode()
        return process.stdout.decode().strip()

    def commit(self, files: Mapping[str, str | None], subject: str = "change") -> str:
        """Write or delete files and commit; return the commit."""
        for path, text in files.items():
            place = self.root / path
            if text is None:
                place.unlink()
                continue
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_text(text)
        self.git("add", "--all")
        self.number += 1
        self.git("commit", "--quiet", "--allow-empty", "--date", f"{1_750_000_000 + self.number} +0000", "-m", subject)
        return self.git("rev-parse", "HEAD")

    def many(self, commits: Sequence[Mapping[str, str]]) -> None:
        """Commit many states of files with one process of git."""
        stream = []
        for number, files in enumerate(commits, self.number + 1):
            head = f"commit refs/heads/main\nauthor Ada Person <ada@example.org> {1_750_000_000 + number} +0000\n"
            subject = f"commit {number}"
            stream.append(f"{head}committer Ada Person <ada@example.org> {1_750_000_000 + number} +0000\n")
            stream.append(f"data {len(subject)}\n{subject}\n")
            if number == self.number + 1 and self.number:
                stream.append("from refs/heads/main^0\n")
            for path, text in files.items():
                stream.append(f"M 100644 inline {path}\ndata {len(text.encode())}\n{text}\n")
            stream.append("\n")
        self.git("fast-import", "--quiet", "--force", given="".join(stream).encode())
        self.number += len(commits)
        self.git("reset", "--quiet", "--hard")


def fact(fact_id: str, claim: str, **more: Any) -> dict[str, Any]:
    """The record of a fact."""
    return {
        "id": fact_id, "fact": claim, "category": "fact", "timestamp": "2026-11-21T09:30:00Z", "source": "cli",
        "status": "active", "access_count": 0, "last_accessed": None, "superseded_by": None, **more,
    }  # fmt: skip


def items(*facts: Mapping[str, Any]) -> str:
    """A file of facts, one a line."""
    body = ",\n".join(json.dumps(fact, ensure_ascii=False) for fact in facts)
    return f"[\n{body}\n]\n" if body else "[]\n"


def worker_options(folder: Path) -> WorkerOptions:
    """A worker's options, with mirrors in a folder."""
    environment = {"PATH": os.environ["PATH"], "HOME": str(folder)}
    return WorkerOptions(folder / "mirrors", environment, 60)


def make_worker(database: Database) -> None:
    """Make the role of the worker."""
    ask(database.address(), 10, lambda hub: add_worker(hub, WORKER, None))


def add(database: Database, address: Path | str, scope: str = "team-a", org: str = ORG) -> str:
    """Add a vault to the hub; return its id."""

    def act(hub: Any) -> str:
        ensure_scope(hub, org, scope, None)
        return add_vault(hub, org, str(address), scope)[0]

    return ask(database.address(), 10, act)


def member(database: Database, role: str, scope: str, *may: str, org: str = ORG) -> None:
    """Give a role a scope."""
    ask(database.address(), 10, lambda hub: add_user(hub, org, role, scope, may, None))


def work(database: Database, folder: Path) -> list[VaultReport]:
    """Look at every vault once."""
    items = list(work_once(database.address(WORKER), worker_options(folder)))
    assert [report.problem for report in items] == [None] * len(items)
    return items


def verified(database: Database) -> Verified:
    """Compare the log with the tables; they must be equal."""
    result = ask(database.address(), 600, verify, checked=False)
    assert not result.differences, result.differences[:5]
    return result


def rows(database: Database, query: str, role: str = OWNER, *values: Any) -> list[tuple[Any, ...]]:
    """Return the rows of a query."""
    return ask(database.address(role), 10, lambda hub: hub.execute(query, values or None).fetchall())
