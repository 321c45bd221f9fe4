"""Embedding by a model that is called: within its limits of money and time, one portion of texts at a time."""

from __future__ import annotations

from collections.abc import Sequence

from clawmem.errors import BudgetSpent, ModelFailed
from clawmem.llm.budget import Account
from clawmem.llm.choice import Model, choose_embedder
from clawmem.llm.client import Rejected, TooSlow, check, embed, prices_of
from clawmem.model.tokens import token_bound
from clawmem.model.vector import unit
from clawmem.vault.vault import Vault

PORTION = 64
# What most models take; the rest of a longer text is left out.
MOST_CHARACTERS = 4000


class CalledModel:
    """A model behind litellm, with the account of this run."""

    def __init__(self, model: Model, earlier_today: float) -> None:
        check(model)
        self.model = model
        self.account = Account(model.limits, prices_of(model), earlier_today)

    def embed(self, texts: Sequence[str]) -> list[list[float]]:
        """The vectors of some texts, of length one. Raises BudgetSpent before a call that is not allowed,
        ModelFailed where the model cannot be used."""
        asked = [text[:MOST_CHARACTERS] for text in texts]
        most = sum(map(token_bound, asked))
        refusal = self.account.refusal(most)
        if refusal:
            raise BudgetSpent(refusal, "The rest is embedded by the next heartbeats.")
        try:
            done = embed(self.model, asked, self.account.seconds(self.model.timeout_seconds))
        except TooSlow as slow:
            self.account.charge(most, 0, slow.milliseconds)
            raise ModelFailed(
                f"The model {self.model.name} did not answer within {self.model.timeout_seconds:g} seconds"
                " (semantic.timeout_seconds).",
                "Nothing was lost: the next heartbeat tries again.",
            ) from None
        except Rejected as problem:
            raise ModelFailed(
                f"The model {self.model.name} would not embed: {problem}", "Check `semantic.model`."
            ) from None
        self.account.charge(done.tokens or most, 0, done.milliseconds)
        return [unit(vector) for vector in done.vectors]


def embed_question(vault: Vault, question: str) -> list[float]:
    """The vector of a question by the model that the settings name; raises ModelFailed, or BudgetSpent where even
    that may not be paid."""
    model = choose_embedder(vault.settings, vault.git.environment)
    if model is None:
        raise ModelFailed("semantic.model names no model to call.", "Name one as litellm does.")
    return CalledModel(model, 0.0).embed([question])[0]
