"""`redact` killed at random moments: after the next command the secret is gone from everywhere, or openly there."""

from __future__ import annotations

import json
import random
import string
from collections.abc import Mapping
from functools import partial
from pathlib import Path

from clawmem.memory.facts.redact import contains_text
from clawmem.model.facts.fact import REDACTED
from clawmem.model.history.redaction import RECORD
from clawmem.vault.history import redaction
from clawmem.vault.vault import Vault
from tests.faults.checks import facts, git
from tests.faults.kills import Arena, Tally, kill_many

DAY = "2026-11-20"
DOORS = 3


class Leak:
    """A secret in three facts, an event, a note and the messages of commits of an arena's vault."""

    def __init__(self, arena: Arena, number: int) -> None:
        self.arena, self.number = arena, number
        # Lower-case words, so that the gate lets it in as a secret that no rule knows.
        self.secret = "silent-heron-" + "".join(random.Random(number).choices(string.ascii_lowercase, k=12))
        self.redacted = False
        vault = arena.root
        event = {
            "id": f"evt_{number}",
            "timestamp": f"{DAY}T08:00:00Z",
            "role": "user",
            "text": f"I said {self.secret}.",
        }
        with (vault / f"ledger/{DAY}.jsonl").open("a") as ledger:
            ledger.write(json.dumps(event) + "\n")
        with (vault / f"daily/{DAY}.md").open("a") as page:
            page.write(f"- Note {number}: {self.secret}\n")
        for text in self.texts(self.secret):
            arena.run("remember", text, "--entity", "areas/house")

    def texts(self, word: str) -> list[str]:
        """Return the statements of the facts, with the secret or with its replacement."""
        return [f"Door {self.number} {door} opens with {word}." for door in range(DOORS)]

    def command(self) -> tuple[str, ...]:
        """What takes it out."""
        return ("redact", "--pattern", self.secret, "--yes")

    def is_gone(self) -> bool:
        """Return whether the secret is gone; raise if it is partly gone, or if other text is gone too."""
        root, environment = self.arena.root, self.arena.environment
        known = {fact["fact"] for fact in facts(root)}
        left = redaction.find_remains(Vault(root, environment), partial(contains_text, texts=(self.secret,)))
        assert git(root, environment, "for-each-ref", "refs/clawmem/redacting") == ""
        assert not (root / ".git/clawmem/redacting.json").exists()
        gone = known >= set(self.texts(REDACTED))
        assert gone == (left == []), left
        word = REDACTED if gone else self.secret
        assert known >= set(self.texts(word))
        assert f"I said {word}." in (root / f"ledger/{DAY}.jsonl").read_text()
        assert f"- Note {self.number}: {word}\n" in (root / f"daily/{DAY}.md").read_text()
        return gone


def kill_redact(root: Path, environment: Mapping[str, str], count: int) -> Tally:
    """Redact secrets one after another under kills; each disappears and never returns."""
    arena = Arena(root, environment, seed=count)
    leaks: list[Leak] = []

    def command(number: int) -> tuple[str, ...]:
        if not leaks or _settled(leaks[-1]):
            leaks.append(Leak(arena, len(leaks)))
        return leaks[-1].command()

    def acknowledge(number: int) -> None:
        leaks[-1].redacted = True

    tally = kill_many(arena, count, command, acknowledge)
    if not _settled(leaks[-1]):
        arena.run(*leaks[-1].command())
    assert all(leak.is_gone() for leak in leaks)
    assert len(json.loads((root / RECORD).read_bytes())["redactions"]) == len(leaks)
    return tally


def _settled(leak: Leak) -> bool:
    """Whether a secret is gone, as it must be where that was acknowledged."""
    gone = leak.is_gone()
    assert gone or not leak.redacted
    return gone
