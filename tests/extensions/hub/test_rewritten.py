"""A rewritten history is followed: what was redacted is gone from tables, log and full text, byte by byte."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from clawmem.extensions.hub.postgres.connect import ask
from clawmem.extensions.hub.postgres.rows import find_text, vacuum_fully
from tests.conftest import Command
from tests.extensions.hub.postgres.hubs import (
    PATH,
    WORKER,
    History,
    add,
    fact,
    items,
    make_worker,
    rows,
    verified,
    work,
)
from tests.extensions.hub.postgres.server import Database

_SECRET = "swordfish-9931"
_OTHER = "life/areas/people/bob/items.json"


@pytest.fixture
def hub(database: Database) -> Database:
    make_worker(database)
    return database


def rewritten(history: History) -> None:
    """Replace the secret in the files and messages of every commit, as a redaction does."""
    history.git(
        "-c", "core.commentChar=;", "filter-branch", "--force",
        "--tree-filter", f"grep -rl {_SECRET} life | xargs -r sed -i s/{_SECRET}/redacted/g",
        "--msg-filter", f"sed s/{_SECRET}/redacted/g", "--", "main",
    )  # fmt: skip
    history.git("update-ref", "-d", "refs/original/refs/heads/main")
    history.git("reflog", "expire", "--expire=now", "--all")
    history.git("gc", "--quiet", "--prune=now")


def everything(hub: Database) -> str:
    """Every row of every table, as a dump has them."""
    tables = rows(
        hub,
        "SELECT c.oid::regclass::text FROM pg_class c JOIN pg_namespace n ON n.oid = relnamespace"
        " WHERE nspname = 'clawmem' AND relkind = 'r'",
        "postgres",
    )
    return "\n".join(str(row) for (name,) in tables for row in rows(hub, f"SELECT t::text FROM {name} t", "postgres"))


def test_what_was_redacted_is_gone_and_the_rest_stays(hub: Database, tmp_path: Path) -> None:
    history = History(tmp_path / "source")
    keep, leak = fact("fact_1", "Jane likes tea."), fact("fact_2", f"The code is {_SECRET}.")
    history.commit({PATH: items(keep)}, "first")
    history.commit({PATH: items(keep, leak)}, f"remember {_SECRET}")
    history.commit({PATH: items(keep), _OTHER: items(fact("fact_3", "Bob rows."))}, "take it back")
    history.commit({PATH: items(keep, fact("fact_4", f"Again {_SECRET}."))}, "again")
    vault = add(hub, history.root)
    work(hub, tmp_path)
    rows(hub, "SELECT share_fact('acme', %s, 'fact_1', 'organisation', true)", WORKER, vault)
    rows(hub, "SELECT share_fact('acme', %s, 'fact_4', 'organisation', true)", WORKER, vault)
    rows(
        hub,
        "INSERT INTO promotion (org, vault, fact, scope, status, gates) VALUES"
        " ('acme', %s, 'fact_4', 'organisation', 'approved', %s) RETURNING seq",
        "hub_owner", vault, f'{{"claim": "{_SECRET}"}}',
    )  # fmt: skip
    assert _SECRET in everything(hub)
    rewritten(history)
    (report,) = work(hub, tmp_path)
    assert report.rewritten
    assert _SECRET not in everything(hub)
    assert ask(hub.address(), 10, lambda connection: find_text(connection, _SECRET)) == ()
    found = rows(hub, "SELECT id, claim, scopes FROM fact ORDER BY id")
    assert found == [
        ("fact_1", "Jane likes tea.", ["team-a", "organisation"]),
        ("fact_3", "Bob rows.", ["team-a"]),
        ("fact_4", "Again redacted.", ["team-a"]),  # another statement than the one that was promoted
    ]
    assert rows(hub, "SELECT status, reason FROM promotion") == [("withdrawn", "its vault changed or removed the fact")]
    # What the new history still says, the log of the old one keeps.
    kept = rows(hub, "SELECT subject, emptied FROM log WHERE kind = 'fact' AND epoch = 1 ORDER BY seq")
    assert kept == [("fact_1", False), ("fact_2", True), ("fact_3", False), ("fact_4", True)]
    commits = rows(hub, "SELECT count(*) FROM log WHERE kind = 'commit' AND epoch = 1 AND emptied")
    assert commits == [(1,)]
    verified(hub)
    blobs = subprocess.run(
        ["git", "cat-file", "--batch-all-objects", "--batch"],
        cwd=next((tmp_path / "mirrors").glob("acme-*[!k]")), capture_output=True, check=True,
    )  # fmt: skip
    assert blobs.stdout and _SECRET.encode() not in blobs.stdout


def test_the_files_of_the_server_have_it_no_more_after_they_were_written_anew(hub: Database, tmp_path: Path) -> None:
    history = History(tmp_path / "source")
    history.commit({PATH: items(fact("fact_1", f"The code is {_SECRET}."))})
    add(hub, history.root)
    work(hub, tmp_path)
    assert files_with(hub)
    rewritten(history)
    work(hub, tmp_path)
    with hub.server.admin(hub.name) as admin:
        admin.execute("SET ROLE hub_owner")
        vacuum_fully(admin)
        admin.execute("RESET ROLE")
        admin.execute("CHECKPOINT")
    assert files_with(hub) == []


def files_with(hub: Database) -> list[str]:
    """The files of the database that contain the secret; not the write-ahead log, which the server recycles later."""
    with hub.server.admin(hub.name) as admin:
        admin.execute("CHECKPOINT")
        (oid,) = admin.execute("SELECT oid FROM pg_database WHERE datname = %s", (hub.name,)).fetchone() or (0,)
    folder = hub.server.data / "base" / str(oid)
    return [path.name for path in folder.iterdir() if _SECRET.encode() in path.read_bytes()]


def test_an_entity_and_a_fact_that_the_new_history_does_not_have_are_not_named_in_the_log(
    hub: Database, tmp_path: Path
) -> None:
    history = History(tmp_path / "source")
    path = f"life/resources/{_SECRET}"
    history.commit({PATH: items(fact("fact_1", "Jane likes tea."))})
    history.commit({f"{path}/summary.md": "---\ntitle: X\n---\n", f"{path}/items.json": items(fact("fact_2", "So."))})
    add(hub, history.root)
    work(hub, tmp_path)
    history.git("reset", "--quiet", "--hard", "HEAD~1")
    (report,) = work(hub, tmp_path)
    assert report.rewritten
    assert _SECRET not in everything(hub)
    verified(hub)


def test_a_redaction_of_a_real_vault_is_followed(
    hub: Database, clawmem: Command, vault_root: Path, tmp_path: Path
) -> None:
    assert clawmem("remember", "Jane likes tea.").code == 0
    assert clawmem("remember", f"The boat's word is {_SECRET}.").code == 0
    add(hub, vault_root)
    work(hub, tmp_path)
    assert _SECRET in everything(hub)
    result = clawmem("redact", "--pattern", _SECRET, "--yes")
    assert result.code == 0, result
    (taken,) = work(hub, tmp_path)
    assert taken.rewritten and taken.facts
    assert _SECRET not in everything(hub)
    verified(hub)
