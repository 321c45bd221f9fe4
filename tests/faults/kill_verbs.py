"""The verbs that are killed: `remember`, `supersede` and `heartbeat`, each with its own promise."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from clawmem.model.records.accesses import ACCESSES_PATH, parse_accesses
from clawmem.vault.state.heartbeat_state import STATE
from clawmem.vault.state.journal import count_accesses, unfolded_accesses
from clawmem.vault.vault import Vault
from tests.faults.checks import facts
from tests.faults.kills import Arena, Tally, kill_many


def kill_remember(root: Path, environment: Mapping[str, str], count: int) -> Tally:
    """Every fact acknowledged is there; every other one is there once or not at all."""
    arena = Arena(root, environment, seed=count)

    def text(number: int) -> str:
        return f"Remembered under fire, number {number}."

    def command(number: int) -> tuple[str, ...]:
        return ("remember", text(number), "--entity", f"projects/place-{number % 5}")

    return kill_many(arena, count, command, lambda number: arena.acknowledged.append(text(number)))


def kill_supersede(root: Path, environment: Mapping[str, str], count: int) -> Tally:
    """A chain of facts grows under kills; its links stay valid and exactly one of its facts is current."""
    arena = Arena(root, environment, seed=count)
    arena.run("remember", "The keeper is number 0.", "--entity", "projects/chain")

    def standing() -> str:
        chain = [fact for fact in facts(root) if fact["fact"].startswith("The keeper is")]
        heads = [record["id"] for record in chain if record["status"] == "active"]
        assert len(heads) == 1
        assert {record["superseded_by"] for record in chain} - {None} == {record["id"] for record in chain} - {
            chain[0]["id"]
        }
        return str(heads[0])

    def command(number: int) -> tuple[str, ...]:
        return ("supersede", standing(), f"The keeper is number {number} now.")

    def acknowledge(number: int) -> None:
        arena.acknowledged.append(f"The keeper is number {number} now.")

    tally = kill_many(arena, count, command, acknowledge)
    standing()
    return tally


def kill_heartbeat(root: Path, environment: Mapping[str, str], count: int) -> Tally:
    """Each access is counted exactly once, and each event is learned from at most once, at whatever moment the process
    is killed."""
    arena = Arena(root, environment, seed=count)
    arena.run("remember", "The lighthouse keeper likes anchovies.", "--entity", "projects/light")
    shown = 0

    def command(number: int) -> tuple[str, ...]:
        nonlocal shown
        arena.run("recall", "lighthouse keeper anchovies", "--in", "facts", "--limit", "1")
        shown += 1
        (root / "daily" / "2026-11-21.md").write_text(f"- My favourite number today is {number}.\n")
        assert _accesses(root, environment) == shown
        (Vault(root, environment).state / STATE).unlink(missing_ok=True)  # accesses are folded once a day
        return ("heartbeat",)

    tally = kill_many(arena, count, command)
    arena.run("heartbeat")
    assert _accesses(root, environment) == shown
    return tally


def _accesses(root: Path, environment: Mapping[str, str]) -> int:
    vault = Vault(root, environment)
    waiting = count_accesses(unfolded_accesses(vault))
    folded = parse_accesses(vault.read(ACCESSES_PATH))
    keeper = next(fact for fact in facts(root) if "anchovies" in fact["fact"])
    return sum(counts[keeper["id"]][0] for counts in (folded, waiting) if keeper["id"] in counts)
