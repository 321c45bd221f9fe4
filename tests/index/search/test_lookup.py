"""Facts out of their rows: as much as is asked for, and nothing that is not what was written."""

from __future__ import annotations

import pytest

from clawmem.errors import IncompleteAnswer, InvalidInput, PossiblyUnreadable
from clawmem.index.refresh import open_index, run_query
from clawmem.index.search.channels import facts_in_rows
from clawmem.index.search.lookup import (
    all_facts,
    refuse_if_unreadable,
    resolve_id,
    standing_facts_with,
    unreadable_fact_files,
    unreadable_notices,
)
from clawmem.index.tables.schema import RowDamaged
from clawmem.index.tables.store import Index
from clawmem.model.facts.fact import Fact
from clawmem.vault.vault import Vault
from tests.faults.checks import git
from tests.index.search.test_channels import HOME, fact, index_of
from tests.serving.invented import indexed, invent


def _numbers(index: Index) -> list[int]:
    return [n for (n,) in index.database.execute("SELECT n FROM fact")]


ALTERED = {
    "the words": "UPDATE fact SET line = replace(line, 'tea', 'tar')",
    "the dates": "UPDATE fact SET line = replace(line, '2020-01-01', '2021-01-01')",
    "the place": "UPDATE fact SET entity = 'areas/people/jana'",
    "the seal": "UPDATE fact SET seal = seal + 1",
}


@pytest.mark.parametrize("what", ALTERED)
def test_a_row_that_was_altered_is_not_told(vault: Vault, what: str) -> None:
    index = index_of(vault, {HOME: [fact(1, "Jane likes tea", valid_from="2020-01-01")]})
    assert facts_in_rows(index, [1])[1].fact.fact == "Jane likes tea"
    with index.writing():
        assert index.database.execute(ALTERED[what]).rowcount == 1
    with pytest.raises(RowDamaged):
        facts_in_rows(index, [1])
    index.close()

    def read_all(index: Index) -> list[Fact]:
        return [placed.fact for placed in facts_in_rows(index, _numbers(index)).values()]

    assert [other_fact.fact for other_fact in run_query(vault, read_all)] == ["Jane likes tea"]
    again = open_index(vault)
    assert [placed.fact.fact for placed in all_facts(again)] == ["Jane likes tea"]
    again.close()


def test_the_standing_facts_of_some_relations(vault: Vault) -> None:
    index = indexed(vault, invent(3))
    known = [placed.fact for placed in all_facts(index)]
    wanted = sorted({fact.predicate for fact in known if fact.predicate})[:2]
    found = [placed.fact.id for placed in standing_facts_with(index, wanted)]
    assert found == [fact.id for fact in known if fact.predicate in wanted and fact.is_current] != []
    assert standing_facts_with(index, ("no_such_relation",)) == []
    index.close()


def test_a_prefix_of_an_id_needs_four_characters_behind_its_kind(vault: Vault) -> None:
    known = fact(1, "Jane likes tea")._replace(id="fact_1a2b3c4d")
    index = index_of(vault, {HOME: [known]})
    for text in ("fact_1a2b3c4d", "fact_1a2b", "1a2b"):
        assert resolve_id(index, text) == known.id
    for text in ("f", "fact", "fact_", "fact_1a2", "1", "1a2"):
        with pytest.raises(InvalidInput, match="too short"):
            resolve_id(index, text)
    index.close()


def test_a_complete_id_may_be_short(vault: Vault) -> None:
    index = index_of(vault, {HOME: [fact(1, "Jane likes tea")._replace(id="fact_1")]})
    assert resolve_id(index, "fact_1") == resolve_id(index, "1") == "fact_1"
    index.close()


def test_only_files_of_facts_hide_facts(vault: Vault, environment: dict[str, str]) -> None:
    def broken(path: str) -> None:
        (vault.root / path).parent.mkdir(parents=True, exist_ok=True)
        (vault.root / path).write_text("{broken")
        git(vault.root, environment, "add", path)
        git(vault.root, environment, "commit", "-qm", "broken")

    broken("ledger/2026-11-20.jsonl")
    index = open_index(vault)
    assert unreadable_fact_files(index) == []
    refuse_if_unreadable(index, "fact_x")
    assert [isinstance(notice, IncompleteAnswer) for notice in unreadable_notices(index)] == [False]
    assert [isinstance(notice, IncompleteAnswer) for notice in unreadable_notices(index, facts=False)] == [True]
    index.close()
    broken("life/areas/boat/items.json")
    index = open_index(vault)
    assert unreadable_fact_files(index) == ["life/areas/boat/items.json"]
    with pytest.raises(PossiblyUnreadable):
        refuse_if_unreadable(index, "fact_x")
    index.close()
