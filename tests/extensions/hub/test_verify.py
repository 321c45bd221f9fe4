"""The comparison of log and tables finds whatever is changed in a table."""

from __future__ import annotations

from pathlib import Path

import pytest

from clawmem.extensions.hub.postgres.connect import ask
from clawmem.extensions.hub.verify import DIFFERS, EXTRA, MISSING, verify
from tests.extensions.hub.postgres.hubs import PATH, History, add, fact, items, make_worker, verified, work
from tests.extensions.hub.postgres.server import Database

_LINK = {"type": "supports", "to": "fact_9", "reason": "so"}


@pytest.fixture
def hub(database: Database, tmp_path: Path) -> Database:
    make_worker(database)
    history = History(tmp_path / "source")
    history.commit(
        {
            PATH: items(fact("fact_1", "Jane likes tea.", confidence=0.9, links=[_LINK], tags=["a"])),
            "life/areas/people/jane/summary.md": "---\ntitle: Jane Doe\n---\n",
        }
    )
    add(database, history.root)
    work(database, tmp_path)
    verified(database)
    return database


@pytest.mark.parametrize(
    ("change", "table", "how", "columns"),
    [
        ("UPDATE fact SET claim = 'Jane likes gin.'", "fact", DIFFERS, ("claim",)),
        ("UPDATE fact SET scopes = '{team-a,organisation}'", "fact", DIFFERS, ("scopes",)),
        ("UPDATE fact SET confidence = 0.8, line = 7", "fact", DIFFERS, ("confidence", "line")),
        ("UPDATE fact SET record = record || '{\"tags\": []}'", "fact", DIFFERS, ("record",)),
        ("UPDATE fact SET id = 'fact_2'", "fact", EXTRA, ()),
        ("DELETE FROM fact", "fact", MISSING, ()),
        ("UPDATE link SET reason = 'other'", "link", DIFFERS, ("reason",)),
        ("DELETE FROM link", "link", MISSING, ()),
        ("UPDATE entity SET title = 'John'", "entity", DIFFERS, ("title",)),
        ("UPDATE author SET commits = 2", "author", DIFFERS, ("commits",)),
        ("DELETE FROM taken_commit", "taken_commit", MISSING, ()),
        ("UPDATE taken_commit SET position = 4", "taken_commit", DIFFERS, ("position",)),
        ("UPDATE vault SET head = 'x'", "vault", DIFFERS, ("head",)),
        ("DELETE FROM vault", "fact", EXTRA, ()),
    ],
)
def test_a_change_of_a_table_is_found(
    hub: Database, change: str, table: str, how: str, columns: tuple[str, ...]
) -> None:
    ask(hub.address(), 10, lambda connection: connection.execute(change))  # type: ignore[arg-type, unused-ignore]
    found = ask(hub.address(), 10, verify, checked=False).differences
    assert (table, how, columns) in [(difference.table, difference.how, difference.columns) for difference in found]


def test_a_row_that_is_missing_in_the_log_is_found(hub: Database) -> None:
    with hub.server.admin(hub.name) as admin:
        admin.execute("ALTER TABLE clawmem.log DISABLE TRIGGER log_only_grows")
        admin.execute("DELETE FROM clawmem.log WHERE kind = 'fact'")
    found = ask(hub.address(), 10, verify, checked=False).differences
    assert [(difference.table, difference.how) for difference in found] == [("fact", EXTRA), ("link", EXTRA)]


@pytest.mark.parametrize(
    "time", ["0001-01-01", "9999-12-31T23:59:59Z", "99999-01-01T00:00:00Z", "infinity", "0000-01-01"]
)
@pytest.mark.parametrize("zone", ["America/Lima", "Asia/Tokyo"])
def test_a_time_at_or_beyond_the_ends_is_taken_in_and_gives_no_difference(
    database: Database, tmp_path: Path, time: str, zone: str
) -> None:
    with database.server.admin() as admin:
        admin.execute(f"ALTER DATABASE {database.name} SET timezone = '{zone}'")
    make_worker(database)
    history = History(tmp_path / "source")
    history.commit({PATH: items(fact("fact_1", "Jane likes tea.", timestamp=time, valid_from=time))})
    add(database, history.root)
    work(database, tmp_path)
    assert verified(database).rows["fact"] == 1


def test_a_commit_of_a_far_year_is_taken_in(database: Database, tmp_path: Path) -> None:
    make_worker(database)
    history = History(tmp_path / "source")
    history.commit({PATH: items(fact("fact_1", "Jane likes tea."))})
    written = history.git("cat-file", "commit", "HEAD").replace("1750000001", "99999999999999")
    commit = history.git("hash-object", "-t", "commit", "-w", "--stdin", given=f"{written}\n".encode())
    history.git("reset", "--quiet", "--hard", commit)
    add(database, history.root)
    work(database, tmp_path)
    assert verified(database).rows["fact"] == 1
