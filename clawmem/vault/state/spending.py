"""What models cost on this machine, by day, where no event in the ledger says it; and what each agent spent.

Each payment is a line in `.git/clawmem/spent/<day>` with the cents and a checksum. The maximum cost of a call is
recorded before it, and the difference to the actual cost is subtracted after it. So no cost is missing after a crash.
Calls and tokens whose price is not known are counted in the same way.
"""

from __future__ import annotations

from math import fsum
from pathlib import Path

from clawmem.errors import StorageFailed
from clawmem.model.named_tuple import NamedTuple
from clawmem.model.records.strict_json import checksum
from clawmem.vault.disk import append_line
from clawmem.vault.vault import Vault

FOLDER = "spent"
OF_AGENTS = "spent-by-agents"
CALLS, TOKENS = "unpriced-calls", "unpriced-tokens"
_SEAL = "#"


def record_spending(vault: Vault, day: str, cents: float, agent: str | None = None) -> None:
    """Add to what was spent on a day, in all or by one agent, or to the CALLS or TOKENS whose price is not known.

    Raise StorageFailed if it cannot be recorded, so that no cost goes uncounted."""
    if not cents:
        return
    text = repr(cents)
    try:
        path = _file(vault, day, agent)
        path.parent.mkdir(parents=True, exist_ok=True)
        append_line(path, f"{text} {_SEAL}{checksum(text):08x}\n".encode())
    except OSError as problem:
        raise StorageFailed(
            f"The cost of the model cannot be recorded ({problem.strerror}), so it is not called.", "Check the disk."
        ) from None


def spent_on(vault: Vault, day: str, agent: str | None = None) -> float:
    """Return the cents spent on a day, in all or by one agent, or the CALLS or TOKENS whose price is not known.

    Raise StorageFailed if they cannot be read reliably."""
    *lines, rest = (vault.disk.read(_file(vault, day, agent)) or b"").decode(errors="replace").split("\n")
    # The last line may be an entry that lost its line break, rather than a partial line of a killed process.
    is_complete = _cents(rest) is not None or _cents(rest[:-1]) is not None
    cents = [_cents(line) for line in (*lines, *([rest] if is_complete else []))]
    known = [cent for cent in cents if cent is not None]
    if len(known) < len(cents):
        raise StorageFailed(
            f"The amount spent on {day} cannot be read, so nothing more is spent.",
            f"Delete {_file(vault, day, agent)} to start from zero.",
        )
    return max(0.0, fsum(known))


def delete_spending_before(vault: Vault, before: str) -> None:
    """Delete the records of earlier days."""
    for pattern in (f"{FOLDER}/*", f"{OF_AGENTS}/*/*", f"{CALLS}/*", f"{TOKENS}/*"):
        for path in vault.state.glob(pattern):
            if path.name < before:
                path.unlink(missing_ok=True)


def _file(vault: Vault, day: str, agent: str | None) -> Path:
    if agent in (CALLS, TOKENS):
        return vault.state / agent / day
    return vault.state / FOLDER / day if agent is None else vault.state / OF_AGENTS / agent / day


class UseMeter(NamedTuple):
    """Counts the calls and tokens whose price is not known, of this machine on a day."""

    vault: Vault
    day: str

    def used(self) -> tuple[int, int]:
        """Return the calls and tokens so far. Raise StorageFailed if they cannot be read reliably."""
        return int(spent_on(self.vault, self.day, CALLS)), int(spent_on(self.vault, self.day, TOKENS))

    def add(self, calls: int, tokens: int) -> None:
        """Count calls and tokens. Raise StorageFailed if they cannot be recorded."""
        record_spending(self.vault, self.day, calls, CALLS)
        record_spending(self.vault, self.day, tokens, TOKENS)


def _cents(line: str) -> float | None:
    text, _, value = line.partition(f" {_SEAL}")
    return float(text) if value == f"{checksum(text):08x}" else None


class AgentPurse(NamedTuple):
    """The purse of an agent for a day: the most that may be spent, in cents."""

    vault: Vault
    agent: str
    day: str
    most: float

    def refusal(self, cents: float | None) -> str | None:
        """Return why a call that can cost this much is not allowed, as a sentence, or None. A call of unknown price is
        refused where nothing may be spent."""
        spent = spent_on(self.vault, self.day, self.agent)
        key = f"agents.{self.agent}.cents"
        if self.most <= 0:
            return f"The agent {self.agent} may spend nothing on models ({key})."
        if spent + (cents or 0.0) <= self.most:
            return None
        return (
            f"The next call can cost {cents or 0.0:.4g} cents, the agent {self.agent} has spent {spent:.4g} today, and"
            f" its limit for one day is {self.most:.4g} ({key})."
        )

    def pay(self, cents: float) -> None:
        """Record what was spent, or less than nothing for what was given back."""
        record_spending(self.vault, self.day, cents, self.agent)
