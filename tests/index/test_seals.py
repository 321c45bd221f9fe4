"""Rows of the index that were altered on the disk: none is told, and the next reader builds the index anew."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from clawmem.index.channels import Filter
from clawmem.index.graph import edges_at
from clawmem.index.lookup import entities, known_as
from clawmem.index.notes import days_of, events_between, lines_of, newest_lines
from clawmem.index.refresh import answered, open_index
from clawmem.index.said import events, notes
from clawmem.index.seals import RowDamaged, check_passages
from clawmem.index.store import Index
from clawmem.model.event import Event, render_events
from clawmem.vault.vault import Vault
from tests.faults.scenarios import keep

DAY = "2026-11-20"
PAGE = f"daily/{DAY}.md"
SUMMARY = "---\ntitle: The Harbour\naliases: [quay]\n---\n\nA harbour in the north.\n"

Read = Callable[[Index], Any]
READS: dict[str, tuple[str, Read]] = {
    "the text of an event": (
        "UPDATE event SET line = replace(line, 'green', 'greed')",
        lambda index: events_between(index, DAY, DAY, 9),
    ),
    "a recalled event": ("UPDATE event SET line = replace(line, 'green', 'greed')", lambda index: events(index, [1])),
    "the day of an event": (f"UPDATE event SET day = '{DAY[:-1]}1'", lambda index: days_of(index, ["evt_1"])),
    "the id of an event": ("UPDATE event SET id = 'evt_2'", lambda index: days_of(index, ["evt_2"])),
    "the text of a note": (
        f"UPDATE note SET text = 'No.' WHERE path = '{PAGE}'",
        lambda index: lines_of(index, [PAGE], 9),
    ),
    "the newest note": (f"UPDATE note SET text = 'No.' WHERE path = '{PAGE}'", lambda i: newest_lines(i, "daily", 9)),
    "the day of a note": (
        f"UPDATE note SET day = '2020-01-1' WHERE path = '{PAGE}'",
        lambda i: lines_of(i, [PAGE], 9),
    ),
    "the owner of a note": (f"UPDATE note SET owner = 'eve' WHERE path = '{PAGE}'", lambda i: notes(i, _numbers(i))),
    "the title of an entity": ("UPDATE entity SET title = 'The Harlour'", entities),
    "the aliases of an entity": (
        "UPDATE entity SET aliases = '[\"quad\"]'",
        lambda index: edges_at(index, "areas/harbour", Filter()),
    ),
    "the name an alias leads to": (
        "UPDATE alias SET name = 'areas/harbout' WHERE alias = 'quay'",
        lambda index: known_as(index, "Quay"),
    ),
}


def _numbers(index: Index) -> list[int]:
    return [row[0] for row in index.database.execute("SELECT n FROM note")]


@pytest.fixture
def filled(vault: Vault) -> Vault:
    """An event, a note and an entity that has a title and an alias."""
    said = Event("evt_1", f"{DAY}T08:00:00Z", "user", "The lamp is green.")
    (vault.root / f"ledger/{DAY}.jsonl").write_bytes(render_events([said]))
    (vault.root / PAGE).write_text(f"# {DAY}\n\n- The lamp was cleaned.\n")
    folder = vault.root / "life/areas/harbour"
    folder.mkdir(parents=True)
    (folder / "summary.md").write_text(SUMMARY)
    keep(vault, "The harbour has a crane.", entity="areas/harbour")
    return Vault(vault.root, vault.git.environment)


@pytest.mark.parametrize("what", READS)
def test_what_is_not_what_was_written_is_not_told(filled: Vault, what: str) -> None:
    alter, read = READS[what]
    index = open_index(filled)
    truth = read(index)
    with index.writing():
        assert index.database.execute(alter).rowcount > 0
    with pytest.raises(RowDamaged):
        read(index)
    with pytest.raises(RowDamaged):
        check_passages(index.database)
    index.close()
    assert truth or "evt_2" in alter
    assert answered(filled, read) == truth


def test_the_index_built_anew_is_whole(filled: Vault) -> None:
    index = open_index(filled)
    with index.writing():
        index.database.execute("UPDATE entity SET title = 'The Harlour'")
    index.close()
    assert [one.title for one in answered(filled, entities)] == ["The Harbour"]
    again = open_index(filled)
    assert [one.title for one in entities(again)] == ["The Harbour"]
    again.close()
