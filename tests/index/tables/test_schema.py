"""Index rows that were altered on disk: none is served, and the next reader rebuilds the index."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

from clawmem.index.refresh import open_index, run_query
from clawmem.index.search.channels import FactFilter
from clawmem.index.search.events import days_of, events_between, newest_lines, note_lines, read_events, read_note_lines
from clawmem.index.search.graph import check_edges, edges_at
from clawmem.index.search.lookup import broken_files, entities, entities_known_as, entity_names
from clawmem.index.search.rival_values import linked_as_contrary
from clawmem.index.tables.fact_marks import open_disputes
from clawmem.index.tables.schema import RowDamaged, check_passages
from clawmem.index.tables.store import Index
from clawmem.memory.health.doctor import doctor
from clawmem.model.proposals.proposal import Proposal, ProposalTarget, render_proposal
from clawmem.model.records.caller import Caller
from clawmem.model.records.event import Event, render_events
from clawmem.vault.vault import Vault
from tests.conftest import NOW, Once
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
    "a recalled event": (
        "UPDATE event SET line = replace(line, 'green', 'greed')",
        lambda index: read_events(index, [1]),
    ),
    "the day of an event": (f"UPDATE event SET day = '{DAY[:-1]}1'", lambda index: days_of(index, ["evt_1"])),
    "the id of an event": ("UPDATE event SET id = 'evt_2'", lambda index: days_of(index, ["evt_2"])),
    "the text of a note": (
        f"UPDATE note SET text = 'No.' WHERE path = '{PAGE}'",
        lambda index: note_lines(index, [PAGE], 9),
    ),
    "the newest note": (f"UPDATE note SET text = 'No.' WHERE path = '{PAGE}'", lambda i: newest_lines(i, "daily", 9)),
    "the day of a note": (
        f"UPDATE note SET day = '2020-01-1' WHERE path = '{PAGE}'",
        lambda i: note_lines(i, [PAGE], 9),
    ),
    "the owner of a note": (
        f"UPDATE note SET owner = 'eve' WHERE path = '{PAGE}'",
        lambda i: read_note_lines(i, _numbers(i)),
    ),
    "the title of an entity": ("UPDATE entity SET title = 'The Harlour'", entities),
    "the aliases of an entity": (
        "UPDATE entity SET aliases = '[\"quad\"]'",
        lambda index: edges_at(index, "areas/harbour", FactFilter()),
    ),
    "the name an alias leads to": (
        "UPDATE alias SET name = 'areas/harbout' WHERE alias = 'quay'",
        lambda index: entities_known_as(index, "Quay"),
    ),
}


def _numbers(index: Index) -> list[int]:
    return [row[0] for row in index.database.execute("SELECT n FROM note")]


@pytest.fixture
def filled(once: Once, vault: Vault) -> Vault:
    """An event, a note and an entity that has a title and an alias."""
    once(lambda: _fill(vault))
    return Vault(vault.root, vault.git.environment)


def _fill(vault: Vault) -> None:
    event = Event("evt_1", f"{DAY}T08:00:00Z", "user", "The lamp is green.")
    (vault.root / f"ledger/{DAY}.jsonl").write_bytes(render_events([event]))
    (vault.root / PAGE).write_text(f"# {DAY}\n\n- The lamp was cleaned.\n")
    folder = vault.root / "life/areas/harbour"
    folder.mkdir(parents=True)
    (folder / "summary.md").write_text(SUMMARY)
    keep(vault, "The harbour has a crane.", entity="areas/harbour")


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
        check_passages(index)
    index.close()
    assert truth or "evt_2" in alter
    assert run_query(filled, read) == truth


def test_the_index_built_anew_is_whole(filled: Vault) -> None:
    index = open_index(filled)
    with index.writing():
        index.database.execute("UPDATE entity SET title = 'The Harlour'")
    index.close()
    assert [entity.title for entity in run_query(filled, entities)] == ["The Harbour"]
    again = open_index(filled)
    assert [entity.title for entity in entities(again)] == ["The Harbour"]
    again.close()


CRANE, LAMP = "fact_0000c0de", "fact_0000beef"
EDGES: dict[str, tuple[str, Read]] = {
    "what a fact points at": (
        "UPDATE edge SET target = 'projects/tug' WHERE kind = 'related'",
        lambda index: edges_at(index, "projects/tug", FactFilter()),
    ),
    "how a fact points at another": (
        "UPDATE edge SET kind = 'supports' WHERE kind = 'contradicts'",
        lambda index: edges_at(index, LAMP, FactFilter()),
    ),
    "whose edge it is": (
        f"UPDATE edge SET n = (SELECT n FROM fact WHERE id = '{LAMP}') WHERE kind = 'related'",
        lambda index: edges_at(index, "projects/tow", FactFilter()),
    ),
    "an edge that nobody made": (
        f"INSERT INTO edge SELECT n, 'contradicts', '{CRANE}' FROM fact WHERE id = '{LAMP}'",
        lambda index: linked_as_contrary(index, [""], [row[0] for row in index.database.execute("SELECT n FROM fact")]),
    ),
}
ROWS: dict[str, tuple[str, Read]] = {
    "what a fact is about": (
        f"UPDATE fact SET subject = 'quay' WHERE id = '{LAMP}'",
        lambda index: edges_at(index, "areas/harbour", FactFilter()),
    ),
    "the id of a fact": (
        f"UPDATE fact SET id = 'fact_0000beee' WHERE id = '{LAMP}'",
        lambda index: edges_at(index, "fact_0000beee", FactFilter()),
    ),
    "the place of a fact": (f"UPDATE fact SET entity = 'projects/lanp' WHERE id = '{LAMP}'", entity_names),
    "the name of an entity": ("UPDATE entity SET name = 'areas/harbous' WHERE name = 'areas/harbour'", entity_names),
    "what a person is asked": ("UPDATE dispute SET says = 'No.'", lambda index: open_disputes(index, [LAMP])),
    "about what a person is asked": (
        f"UPDATE dispute SET target = '{CRANE}'",
        lambda index: open_disputes(index, [LAMP, CRANE]),
    ),
    "which proposal asks": (
        "UPDATE dispute SET path = 'review/prop_11111111.json'",
        lambda index: open_disputes(index, [LAMP]),
    ),
    "what is wrong with a file": ("UPDATE broken SET problem = 'Nothing.'", broken_files),
}
# No seal covers these columns: the index that `doctor --full` makes anew has them right.
REBUILT = ("what a fact is about", "the id of a fact")


@pytest.fixture
def joined(filled: Vault) -> Vault:
    """Facts that point at things and at each other, a question about one of them, and a file that cannot be read."""
    lamp = {"id": LAMP, "fact": "The lamp is green.", "subject": "the lamp"}
    links = [{"type": "contradicts", "to": LAMP}]
    crane = {"id": CRANE, "fact": "The lamp is red.", "related_entities": ["projects/tow"], "links": links}
    for place, record in (("projects/lamp", lamp), ("projects/crane", crane)):
        folder = filled.root / "life" / place
        folder.mkdir()
        (folder / "items.json").write_text(json.dumps([record]))
    targets = (ProposalTarget(LAMP, "The lamp is green."),)
    asked = Proposal(
        "prop_00000000", "conflict", "Is it green?", "two values", "2026-11-21", "retract", targets=targets
    )
    (filled.root / "review").mkdir(exist_ok=True)
    (filled.root / "review/prop_00000000.json").write_bytes(render_proposal(asked))
    broken = filled.root / "life/projects/broken"
    broken.mkdir()
    (broken / "items.json").write_text("[\n")
    filled.git.run("add", "-A")
    filled.git.run("-c", "user.name=Ada", "-c", "user.email=ada@example.org", "commit", "-qm", "by hand")
    return Vault(filled.root, filled.git.environment)


def _caller() -> Caller:
    return Caller(NOW, lambda size: b"7" * size)


def test_no_byte_of_the_graph_or_of_names_and_questions_is_told_as_truth(joined: Vault) -> None:
    for what, (alter, read) in {**EDGES, **ROWS}.items():
        index = open_index(joined)
        truth = read(index)
        with index.writing():
            assert index.database.execute(alter).rowcount == 1, what
        with pytest.raises(RowDamaged):
            read(index)
        if what in EDGES:
            with pytest.raises(RowDamaged):
                check_edges(index)
        index.close()
        problems = doctor(joined, _caller(), full="fact" in what).problems
        found = [problem.severity for problem in problems if problem.check == "index"]
        assert found == ([] if what in REBUILT else ["error"]), (what, problems)
        assert run_query(joined, read) == truth, what
        assert not [problem for problem in doctor(joined, _caller()).problems if problem.check == "index"], what


def test_a_question_that_fails_is_asked_again_of_a_new_index_if_the_old_one_is_damaged(joined: Vault) -> None:
    asked = []

    def read(index: Index) -> set[str]:
        asked.append(index)
        if len(asked) == 1:
            raise KeyError("what a question did not expect")
        return set(entity_names(index))

    with pytest.raises(KeyError):
        run_query(joined, read)
    asked.clear()
    index = open_index(joined)
    with index.writing():
        index.database.execute(f"UPDATE fact SET line = '{{}}' WHERE id = '{LAMP}'")
    index.close()
    assert "projects/lamp" in run_query(joined, read) and len(asked) == 2


def test_an_edge_that_is_gone_is_found_by_doctor(joined: Vault) -> None:
    index = open_index(joined)
    with index.writing():
        assert index.database.execute("DELETE FROM edge WHERE kind = 'related'").rowcount == 1
    index.close()
    (found,) = (problem for problem in doctor(joined, _caller()).problems if problem.check == "index")
    assert "edges of row" in found.message
    doctor(joined, _caller(), fix=True)
    assert [
        edge.relation for edge in run_query(joined, lambda index: edges_at(index, "projects/tow", FactFilter()))
    ] == ["related"]
