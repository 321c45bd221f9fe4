"""What models cost for one agent on one day, on this machine: a limit of the agent beside those of the vault."""

from __future__ import annotations

from typing import NamedTuple

from clawmem.vault.state.spending import record_spending, spent_on
from clawmem.vault.vault import Vault


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
