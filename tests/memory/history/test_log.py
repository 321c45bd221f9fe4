"""The history of the vault, an entity and a fact."""

from __future__ import annotations

from pathlib import Path

import pytest

from clawmem.errors import AmbiguousId, NotFound
from clawmem.index.search.channels import FactFilter
from clawmem.memory.entities.entities import move_entity
from clawmem.memory.facts.access import fold_accesses
from clawmem.memory.facts.remember import remember
from clawmem.memory.facts.revise import retract, supersede
from clawmem.memory.history.log import LogBounds, LogResult, log
from clawmem.memory.history.undo import undo
from clawmem.memory.history.why import why
from clawmem.model.facts.draft import Draft, draft_from_record
from clawmem.model.records.caller import Caller
from clawmem.serving.browse import list_facts
from clawmem.vault.state.journal import record_access
from clawmem.vault.vault import Vault


def draft(caller: Caller, words: str, entity: str = "areas/people/jane", **record: object) -> Draft:
    return draft_from_record({"fact": words, "entity": entity, **record}, caller.now)


def keep(vault: Vault, caller: Caller, words: str, entity: str = "areas/people/jane") -> str:
    return remember(vault, [draft(caller, words, entity)], caller).facts[0].fact.id


def ops(result: LogResult) -> list[str | None]:
    return [entry.op for entry in result.entries]


EVERYTHING = LogBounds(100)


def test_the_vaults_history_is_oldest_first_and_the_newest_of_it(vault: Vault, caller: Caller) -> None:
    for number in range(4):
        keep(vault, caller, f"Fact number {number}.")
    result = log(vault, None, caller, EVERYTHING)
    assert ops(result) == ["init", *["remember"] * 4]
    assert (result.kind, result.name, result.truncated) == ("vault", None, False)
    short = log(vault, None, caller, LogBounds(2))
    assert [entry.subject[-2:] for entry in short.entries] == ["2.", "3."]
    assert short.truncated


def test_a_facts_history_holds_every_commit_that_touched_it_and_no_other(vault: Vault, caller: Caller) -> None:
    old = keep(vault, caller, "Jane lives in Paris.")
    keep(vault, caller, "Jane likes tea.")
    new = supersede(vault, old, draft(caller, "Jane lives in Lisbon."), caller).facts[0].fact.id
    retract(vault, new, caller)
    assert ops(log(vault, old, caller, EVERYTHING)) == ["remember", "supersede"]
    assert ops(log(vault, new[:9], caller, EVERYTHING)) == ["supersede", "retract"]


def test_an_edit_by_hand_is_part_of_a_facts_history(vault: Vault, caller: Caller) -> None:
    text = keep(vault, caller, "Jane lives in Paris.")
    other = keep(vault, caller, "Jane likes tea.")
    items = vault.root / "life/areas/people/jane/items.json"
    items.write_text(items.read_text().replace("Paris", "Parma"))
    keep(vault, caller, "Jane has a dog.")
    edit = log(vault, text, caller, EVERYTHING).entries[-1]
    assert (edit.op, edit.author, edit.author_email) == ("edit", "Ada Person", "ada@example.org")
    assert ops(log(vault, other, caller, EVERYTHING)) == ["remember"]


def test_an_entitys_history_goes_on_under_the_paths_it_had_before(vault: Vault, caller: Caller) -> None:
    keep(vault, caller, "The budget is 100 euros.", "projects/budget")
    keep(vault, caller, "Jane likes tea.")
    move_entity(vault, "projects/budget", "areas/money", caller)
    keep(vault, caller, "The budget is 200 euros.", "areas/money")
    result = log(vault, "areas/money", caller, EVERYTHING)
    assert (result.kind, result.name, len(result.entries)) == ("entity", "areas/money", 3)
    assert [entry.op for entry in result.entries][::2] == ["remember", "remember"]
    assert log(vault, "projects/budget", caller, EVERYTHING) == result
    assert log(vault, "Budget", caller, EVERYTHING) == result


def test_folds_are_skipped_unless_asked_for(vault: Vault, caller: Caller) -> None:
    text = keep(vault, caller, "Jane likes tea.")
    record_access(vault, "2026-11-21T10:00:00Z", [text])
    assert fold_accesses(vault, caller).commit is not None
    shown = LogBounds(100, include_folds=True)
    assert "access" not in ops(log(vault, None, caller, EVERYTHING))
    assert ops(log(vault, None, caller, shown))[-1] == "access"
    for about in ("areas/people/jane", text):
        assert "access" not in ops(log(vault, about, caller, shown)), "a fold changes no fact"


def test_an_author_is_an_agent_a_name_or_an_address_and_no_part_of_one(vault: Vault, caller: Caller) -> None:
    keep(vault, caller, "Jane likes tea.")
    mine = keep(vault, caller._replace(agent="finance"), "Jane owes 5 euros.")
    for author in ("finance", "Finance", "finance@agents.clawmem"):
        result = log(vault, None, caller, LogBounds(100, author=author))
        assert [entry.facts for entry in result.entries] == [(mine,)]
        assert [entry.facts for entry in log(vault, mine, caller, LogBounds(100, author=author)).entries] == [(mine,)]
    assert log(vault, None, caller, LogBounds(100, author="fin")).entries == ()
    assert log(vault, None, caller, LogBounds(100, author="f.*e")).entries == ()


def test_a_span_of_time_bounds_a_facts_history_too(vault: Vault, caller: Caller) -> None:
    text = keep(vault, caller, "Jane likes tea.")
    later = caller._replace(now=caller.now.replace(hour=15))
    retract(vault, text, later)
    for about in (None, text):
        assert ops(log(vault, about, caller, LogBounds(100, since="2026-11-21T12:00:00Z"))) == ["retract"]
        assert "retract" not in ops(log(vault, about, caller, LogBounds(100, until="2026-11-21T12:00:00Z")))


def test_a_fact_that_an_undo_removed_still_has_a_history(vault: Vault, caller: Caller) -> None:
    text = keep(vault, caller, "Jane likes tea.")
    undo(vault, text, caller)
    assert ops(log(vault, text, caller, EVERYTHING)) == ["remember", "undo"]
    assert ops(log(vault, text[:10], caller, EVERYTHING)) == ["remember", "undo"]


def test_what_is_neither_entity_nor_fact_is_not_found(vault: Vault, caller: Caller) -> None:
    keep(vault, caller, "Jane likes tea.")
    for wrong in ("fact_ffffffffff", "nobody", "projects/none"):
        with pytest.raises(NotFound):
            log(vault, wrong, caller, EVERYTHING)
    keep(vault, caller, "Jane likes milk.")
    with pytest.raises(AmbiguousId):
        log(vault, "fact_", caller, EVERYTHING)


def test_a_fact_that_plain_git_brought_in_is_found_in_the_text(vault: Vault, vault_root: Path, caller: Caller) -> None:
    folder = vault_root / "life/resources/books"
    folder.mkdir(parents=True)
    (folder / "items.json").write_text('[\n{"id": "fact_byhand01", "fact": "Emma was printed in 1815."}\n]\n')
    vault.git.run("add", "life/resources/books/items.json")
    with vault.git.with_user_config():
        vault.git.run("-c", "user.name=Ada", "-c", "user.email=ada@example.org", "commit", "-m", "books")
    (entry,) = log(vault, "fact_byhand01", caller, EVERYTHING).entries
    assert (entry.op, entry.author, entry.subject) == (None, "Ada", "books")


def test_a_shallow_clone_says_once_that_its_history_is_cut_off(vault: Vault, caller: Caller) -> None:
    text = keep(vault, caller, "Jane lives in Paris.")
    keep(vault, caller, "Jane likes tea.")
    place = vault.root.parent / "shallow"
    vault.git.run("clone", "--quiet", "--depth=1", f"file://{vault.root}", str(place))
    clone = Vault(place, vault.git.environment)
    for about in (None, text, "areas/people/jane"):
        result = log(clone, about, caller, EVERYTHING)
        assert [notice for notice in result.notices if "shallow" in notice] == [
            "the history is incomplete: this is a shallow clone, which lacks the older commits;"
            " `git fetch --unshallow` gets them"
        ]
        assert log(vault, about, caller, EVERYTHING).notices == ()
    assert log(clone, text, caller, EVERYTHING).entries == ()
    assert len(why(clone, text).notices) == 1
    assert why(vault, text).notices == ()
    assert list_facts(clone, caller, FactFilter()).notices == ()
