"""Embedding by a model that is called: within its limits of money and time, one portion of texts at a time."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress

from clawmem.errors import BudgetSpent, ModelFailed
from clawmem.index.vectors.embedded_texts import key_of
from clawmem.index.vectors.store import Vectors, named_model, of_questions
from clawmem.llm.budget import Account
from clawmem.llm.choice import Model, choose_embedder
from clawmem.llm.client import ModelTimeout, RequestRejected, check_model, embed, prices_of
from clawmem.model.pages.tokens import token_bound
from clawmem.model.search.vector import normalize_vector, pack_vector, unpack_vector
from clawmem.vault.state.spending import last_day, note_spending, spent_on
from clawmem.vault.vault import Vault

PORTION = 64
# What most models take; the rest of a longer text is left out.
MOST_CHARACTERS = 4000
_NO_DAY = "0000-00-00"


class CalledModel:
    """A model behind litellm, with the account of this run. `day` (UTC) is the one whose money is spent; where it is
    before the last that was paid for, as in a look at the past, that one counts."""

    def __init__(self, vault: Vault, model: Model, day: str) -> None:
        check_model(model)
        self.vault = vault.present or vault
        self.model = model
        self.day = max(day, last_day(self.vault) or _NO_DAY)
        self.account = Account(model.limits, prices_of(model))

    def embed(self, texts: Sequence[str]) -> list[list[float]]:
        """The vectors of some texts, of length one. Raises BudgetSpent before a call that is not allowed,
        ModelFailed where the model cannot be used, StorageFailed where what it costs cannot be kept."""
        asked = [text[:MOST_CHARACTERS] for text in texts]
        most = sum(map(token_bound, asked))
        with self._reserved(most):
            return self._embedded(asked, most)

    @contextmanager
    def _reserved(self, tokens: int) -> Iterator[None]:
        """Set the most a call can cost aside before it, so that others at work see it, and what is left back after."""
        account = self.account
        most, before = account.highest_cost(tokens) or 0.0, account.spent.cents
        note_spending(self.vault, self.day, most)
        try:
            account.earlier_today = max(0.0, spent_on(self.vault, self.day) - most - before)
            refusal = account.refusal(tokens)
            if refusal:
                raise BudgetSpent(refusal, "The rest is embedded by the next heartbeats.")
            yield
        finally:
            note_spending(self.vault, self.day, account.spent.cents - before - most)

    def _embedded(self, asked: Sequence[str], most: int) -> list[list[float]]:
        try:
            done = embed(self.model, asked, self.account.seconds(self.model.timeout_seconds))
        except ModelTimeout as slow:
            self.account.charge(most, 0, slow.milliseconds)
            raise ModelFailed(
                f"The model {self.model.name} did not answer within {self.model.timeout_seconds:g} seconds"
                " (semantic.timeout_seconds).",
                "Nothing was lost: the next heartbeat tries again.",
            ) from None
        except RequestRejected as problem:
            raise ModelFailed(
                f"The model {self.model.name} would not embed: {problem}", "Check `semantic.model`."
            ) from None
        self.account.charge(done.tokens or most, 0, done.milliseconds)
        return [normalize_vector(vector) for vector in done.vectors]


def embed_question(vault: Vault, vectors: Vectors, question: str, day: str) -> list[float]:
    """The vector of a question by the model that the settings name, kept so that asking again costs nothing; raises
    ModelFailed, StorageFailed, or BudgetSpent where even that may not be paid."""
    present = vault.present or vault
    asked, key = of_questions(named_model(present)), key_of(question)
    kept = vectors.values(asked, [key]).get(key)
    if kept is not None:
        return unpack_vector(kept)
    model = choose_embedder(present.settings, present.git.environment)
    if model is None:
        raise ModelFailed("semantic.model names no model to call.", "Name one as litellm does.")
    vector = CalledModel(present, model, day).embed([question])[0]
    # Where a heartbeat is writing, or nothing can be written, the answer counts for this search all the same.
    with suppress(sqlite3.OperationalError):
        vectors.put(asked, [(key, pack_vector(vector))])
    return vector
