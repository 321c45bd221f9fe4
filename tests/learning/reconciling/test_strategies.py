"""What is learned keeps to the strategy of its relation; without one, a contradiction waits as before."""

from __future__ import annotations

import pytest

from clawmem.index.refresh import open_index
from clawmem.index.search.lookup import all_facts
from clawmem.learning.ingest import ingest
from clawmem.memory.proposals import read_proposals
from clawmem.model.records.caller import Caller
from clawmem.model.transcripts.message import Message
from clawmem.vault.vault import Vault
from tests.plain_reader import learn_plainly as learn

BORN, MOVED = ("I was born in Oslo.", "I was born in Bergen."), ("I live in Oslo.", "I live in Bergen.")


@pytest.mark.parametrize(
    ("pair", "strategy", "waits", "state"),
    [
        (BORN, None, 1, "active"),
        (BORN, "newest", 0, "superseded"),
        (BORN, "confidence", 1, "active"),  # rules are equally sure of both
        (MOVED, "ask", 1, "active"),
    ],
)
def test_a_learned_contradiction(
    vault: Vault, caller: Caller, pair: tuple[str, str], strategy: str | None, waits: int, state: str
) -> None:
    path = vault.root / "predicates.yaml"
    if strategy:
        relation = "born_in" if pair is BORN else "lives_in"
        path.write_text(path.read_text().replace(f"\n{relation}:\n", f"\n{relation}:\n  conflict: {strategy}\n"))
    vault = Vault(vault.root, vault.git.environment)
    for day, text in enumerate(pair, 1):
        ingest(vault, [Message(1, "user", text, f"2026-11-{day:02}T10:00:00Z", "Dana")], caller, "chat")
        learn(vault, caller)
    assert len(read_proposals(vault).open) == waits
    index = open_index(vault)
    facts = {placed.fact.fact: placed.fact for placed in all_facts(index)}
    index.close()
    old = next(fact for text, fact in facts.items() if "Oslo" in text)
    assert old.status == state
    if strategy == "newest":
        new = next(fact for text, fact in facts.items() if "Bergen" in text)
        assert any("settles conflicts by `newest`" in (link.reason or "") for link in new.links)
