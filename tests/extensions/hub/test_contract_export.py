"""Exporting lines: the whole vault, and what changed since a commit."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from clawmem.extensions.hub.contract import SCHEMA
from clawmem.extensions.hub.contract_export import export_contract
from clawmem.memory.scope import items_write
from clawmem.model.facts.fact import RETRACTED
from clawmem.model.facts.pulled import pulled_entity
from clawmem.model.records.caller import Caller
from clawmem.model.records.change import Change
from clawmem.vault.commit.transaction import transaction
from clawmem.vault.vault import Vault
from tests.conftest import Command
from tests.extensions.hub.test_organisation_pull import offered, plan


def keep(clawmem: Command, text: str, *more: str) -> str:
    result = clawmem("remember", text, "-e", "areas/people/jane", "--json", *more, env={"CLAWMEM_SEED": text})
    return str(result.data["facts"][0]["id"])


def lines(clawmem: Command, *more: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in clawmem("export", "-", "--contract", *more).out.splitlines()]


def test_facts_are_lines_with_their_author_and_what_narrows_them(clawmem: Command) -> None:
    import jsonschema

    keep(clawmem, "Jane likes tea.", "--confidence", "0.8", "--tag", "drinks", "--valid-from", "2026-03-01")
    keep(clawmem, "Jane has a dog.", "--agent", "cook", "--scope", "team", "--workflow", "kitchen")
    first, second = lines(clawmem)
    assert first == {
        "entity": "areas/people/jane", "claim": "Jane likes tea.", "source": "user", "confidence": 0.8,
        "timestamp": "2026-11-21T09:30:00Z", "author": "Ada Person <ada@example.org>", "id": first["id"],
        "tags": ["drinks"], "valid_from": "2026-03-01",
    }  # fmt: skip
    assert (second["author"], second["scope"], second["workflow"], second["confidence"]) == (
        "cook", "team", "kitchen", 0.7,
    )  # fmt: skip
    for line in (first, second):
        jsonschema.Draft202012Validator(SCHEMA).validate(line)


def test_what_changed_since_a_commit_is_exported_with_what_ended(clawmem: Command, vault: Vault) -> None:
    old, gone, kept = (keep(clawmem, f"Jane {text}.") for text in ("lives in Oslo", "has a boat", "rows"))
    since = str(vault.head().commit)
    assert lines(clawmem, "--since", since) == []
    new = clawmem("supersede", old, "Jane lives in Moss.", "--json").data["facts"][0]["id"]
    clawmem("retract", gone, "--reason", "it was sold")
    brief = keep(clawmem, "Jane has a cat.")
    clawmem("retract", brief)
    found = lines(clawmem, "--since", since)
    assert [(record["id"], record.get("status"), record.get("superseded_by")) for record in found] == [
        (new, None, None), (gone, "revoked", None), (old, "superseded", new),
    ]  # fmt: skip
    assert [line["id"] for line in lines(clawmem)] == [kept, new, old]


def test_what_an_undo_removes_is_revoked_and_what_moves_is_not(clawmem: Command, vault: Vault) -> None:
    keep(clawmem, "Jane lives in Oslo.")
    text = keep(clawmem, "Jane has a boat.")
    since = str(vault.head().commit)
    clawmem("undo", since)
    assert [(line["id"], line["status"]) for line in lines(clawmem, "--since", since)] == [(text, "revoked")]
    since = str(vault.head().commit)
    clawmem("entity", "move", "areas/people/jane", "areas/people/jane-berg")
    assert [line["entity"] for line in lines(clawmem, "--since", since)] == ["areas/people/jane-berg"]


def test_a_commit_that_is_not_in_the_history_is_an_error(clawmem: Command) -> None:
    result = clawmem("export", "-", "--contract", "--since", "0123456789abcdef0123456789abcdef01234567")
    assert result.code != 0 and "Export everything, without --since" in result.err and not result.out
    assert clawmem("export", "-", "--since", "HEAD").code == 2


def test_a_file_is_written_in_one_step_and_not_over_another(clawmem: Command, vault: Vault, tmp_path: Path) -> None:
    keep(clawmem, "Jane lives in Oslo.")
    file = tmp_path / "claims.jsonl"
    data = clawmem("export", str(file), "--contract", "--json").data
    assert (data["written"], data["commit"]) == (1, vault.head().commit) and len(file.read_text().splitlines()) == 1
    assert clawmem("export", str(file), "--contract").code == 1
    assert clawmem("export", str(file), "--contract", "--force").code == 0
    assert [path.name for path in tmp_path.iterdir() if "claims" in path.name] == ["claims.jsonl"]


def test_an_agent_exports_what_it_may_read(clawmem: Command, vault: Vault, caller: Caller) -> None:
    keep(clawmem, "Jane lives in Oslo.")
    clawmem("remember", "The cook likes salt.", "-e", "@cook/areas/food")
    for agent, number in (("cook", 2), ("waiter", 1), (None, 2)):
        assert len(list(export_contract(vault, caller._replace(agent=agent)).lines)) == number


def test_a_copy_that_was_pulled_is_exported_by_its_own_vault_only(
    clawmem: Command, vault: Vault, caller: Caller
) -> None:
    keep(clawmem, "Jane lives in Oslo.")
    since = str(vault.head().commit)
    ((copy, entity),) = plan(offered()).kept
    assert entity == pulled_entity("areas/people/jane")
    for status in (copy.status, RETRACTED):
        with transaction(vault, caller.now, "pull") as txn:
            txn.commit([Change("pull", items_write(entity, [copy._replace(status=status)]))])
        assert [line["claim"] for line in lines(clawmem)] == ["Jane lives in Oslo."]
        assert lines(clawmem, "--since", since) == []
    whole = export_contract(vault, caller, entity)
    assert list(whole.lines) == [] and whole.notices == []
