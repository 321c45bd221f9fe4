"""A promotion is of one statement: it ends in the transaction that takes in another one, or the end of the fact."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

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
from tests.extensions.hub.postgres.server import OWNER, Database

_OTHER = "life/areas/people/bob/items.json"
# What a later commit changes of a fact, and why its promotion is over then; None: it stays.
_CHANGES: tuple[tuple[dict[str, Any], str | None], ...] = (
    ({"fact": "Jane likes gin."}, "its vault changed the statement"),
    ({"subject": "john"}, "its vault changed the statement"),
    ({"predicate": "hates"}, "its vault changed the statement"),
    ({"object": "gin"}, "its vault changed the statement"),
    ({"relation_phrase": "hates"}, "its vault changed the statement"),
    ({"category": "guardrail"}, "its vault changed the statement"),
    ({"valid_from": "2020-01-01"}, "its vault changed the statement"),
    ({"valid_to": "2020-01-01"}, "its vault changed the statement"),
    ({"status": "superseded", "superseded_by": "other"}, "its vault superseded the fact"),
    ({"status": "retracted"}, "its vault withdrew the fact"),
    ({"metadata": {"redacted": {"at": "2026-11-21"}}}, "its vault withdrew the fact"),
    ({"tags": ["tea"]}, None),
    ({"status": "archived"}, None),
    ({"access_count": 3, "confidence": 0.5}, None),
)


def _facts(*, changed: bool) -> str:
    return items(
        *(
            {**fact(f"fact_{number:02}", "Jane likes tea."), **(change if changed else {})}
            for number, (change, _) in enumerate(_CHANGES)
        )
    )


def _promoted(database: Database, folder: Path, history: History, status: str) -> str:
    """Take a vault in, and give each of its facts a promotion."""
    make_worker(database)
    vault = add(database, history.root)
    work(database, folder)
    if status == "approved":
        rows(database, "SELECT share_fact(org, vault, id, 'organisation', true) FROM fact", WORKER)
    rows(
        database,
        "INSERT INTO promotion (org, vault, fact, scope, status)"
        " SELECT org, vault, id, 'organisation', %s FROM fact RETURNING seq",
        OWNER,
        status,
    )
    verified(database)
    return vault


@pytest.mark.parametrize("status", ["approved", "pending"])
@pytest.mark.parametrize("rewritten", [False, True])
def test_another_statement_and_an_end_end_the_promotion(
    database: Database, tmp_path: Path, status: str, rewritten: bool
) -> None:
    history = History(tmp_path / "source")
    history.commit({PATH: _facts(changed=False)})
    _promoted(database, tmp_path, history, status)
    if rewritten:
        history.git("update-ref", "-d", "HEAD")
    history.commit({PATH: _facts(changed=True)})
    (report,) = work(database, tmp_path)
    assert report.rewritten == rewritten
    found = rows(
        database,
        "SELECT p.fact, p.status, p.reason, 'organisation' = ANY (f.scopes) FROM promotion p"
        " JOIN fact f ON f.id = p.fact ORDER BY p.fact",
    )
    assert found == [
        (f"fact_{number:02}", "withdrawn", "its vault changed or removed the fact" if rewritten else why, False)
        if why
        else (f"fact_{number:02}", status, None, status == "approved")
        for number, (_, why) in enumerate(_CHANGES)
    ]
    ended = [f"fact_{number:02}" for number, (_, why) in enumerate(_CHANGES) if why]
    logged = rows(database, "SELECT subject FROM log WHERE kind = 'unshared' ORDER BY subject")
    assert logged == ([(text,) for text in ended] if status == "approved" else [])
    verified(database)


def test_a_fact_that_moved_to_another_entity_is_promoted_no_more(database: Database, tmp_path: Path) -> None:
    history = History(tmp_path / "source")
    history.commit({PATH: items(fact("fact_1", "The port is 1."))})
    _promoted(database, tmp_path, history, "approved")
    history.commit({PATH: items(), _OTHER: items(fact("fact_1", "The port is 1."))})
    work(database, tmp_path)
    assert rows(database, "SELECT scopes FROM fact") == [(["team-a"],)]
    ((status, reason),) = rows(database, "SELECT status, reason FROM promotion")
    assert status == "withdrawn" and reason
    verified(database)
