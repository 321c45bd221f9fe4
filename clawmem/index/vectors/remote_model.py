"""Embedding with a remote model, within its limits of money and time, in batches of texts."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from weakref import WeakKeyDictionary

from clawmem.errors import BudgetSpent, ModelFailed
from clawmem.index.vectors.embedded_texts import key_of
from clawmem.index.vectors.store import Vectors, configured_model, question_model
from clawmem.llm.budget import Account, Spent
from clawmem.llm.choice import Model, choose_embedder
from clawmem.llm.client import ModelTimeout, RequestRejected, check_model, embed, prices_of
from clawmem.model.pages.tokens import token_bound
from clawmem.model.search.vector import normalize_vector, pack_vector, unpack_vector
from clawmem.vault.state.spending import last_spending_day, record_spending, spent_on
from clawmem.vault.vault import Vault

# The input limit of most models. The rest of a longer text is ignored.
MAX_CHARACTERS = 4000
_NO_DAY = "0000-00-00"


class RemoteEmbedder:
    """A model called through litellm, with the account of this run.

    `day` (UTC) is the day whose budget pays. If a later day has been paid for, as in a search of the past, that one
    counts.
    """

    def __init__(self, vault: Vault, model: Model, day: str) -> None:
        check_model(model)
        self.vault = vault.present or vault
        self.model = model
        self.day = max(day, last_spending_day(self.vault) or _NO_DAY)
        self.account = Account(model.limits, prices_of(model))

    def embed(self, texts: Sequence[str]) -> list[list[float]]:
        """Return the vectors of some texts, of length one.

        Raise BudgetSpent before a call that is not allowed, ModelFailed if the model cannot be used, and StorageFailed
        if its cost cannot be recorded.
        """
        asked = [text[:MAX_CHARACTERS] for text in texts]
        most = sum(map(token_bound, asked))
        with self._reserved(most):
            return self._embedded(asked, most)

    @contextmanager
    def _reserved(self, tokens: int) -> Iterator[None]:
        """Record the maximum cost before a call, so that other processes see it, and return the rest afterwards."""
        account = self.account
        most, before = account.highest_cost(tokens) or 0.0, account.spent.cents
        record_spending(self.vault, self.day, most)
        try:
            earlier = max(0.0, spent_on(self.vault, self.day) - most - before)
            account.earlier_today = Spent(cents=earlier)
            refusal = account.refusal(tokens)
            if refusal:
                raise BudgetSpent(refusal, "The rest is embedded by the next heartbeats.")
            yield
        finally:
            record_spending(self.vault, self.day, account.spent.cents - before - most)

    def _embedded(self, asked: Sequence[str], most: int) -> list[list[float]]:
        try:
            reply = embed(self.model, asked, self.account.seconds(self.model.timeout_seconds))
        except ModelTimeout as slow:
            self.account.charge(most, 0, slow.milliseconds)
            raise ModelFailed(
                f"The model {self.model.name} did not answer within {self.model.timeout_seconds:g} seconds.",
                "Nothing was lost: the next heartbeat tries again.",
            ) from None
        except RequestRejected as problem:
            raise ModelFailed(
                f"The model {self.model.name} rejected the request: {problem}", "Check `semantic.model`."
            ) from None
        self.account.charge(reply.tokens or most, 0, reply.milliseconds)
        return [normalize_vector(vector) for vector in reply.vectors]


# The last question of each vault in this process: a search asks for facts, events and notes in turn, and the cache may
# be locked by a writer meanwhile.
_LAST: WeakKeyDictionary[Vault, tuple[tuple[str, bytes], list[float]]] = WeakKeyDictionary()


def embed_question(vault: Vault, vectors: Vectors, question: str, day: str) -> list[float]:
    """Return the vector of a question from the configured model, cached so that asking again is free.

    Raise ModelFailed, StorageFailed, or BudgetSpent if the budget is used up.
    """
    present = vault.present or vault
    asked, key = question_model(configured_model(present)), key_of(question)
    kept = vectors.values(asked, [key]).get(key)
    if kept is not None:
        return unpack_vector(kept)
    last = _LAST.get(present)
    if last is not None and last[0] == (asked, key):
        return last[1]
    model = choose_embedder(present.settings, present.git.environment)
    if model is None:
        raise ModelFailed("semantic.model does not name a model.", "Set it to a model name of litellm.")
    vector = RemoteEmbedder(present, model, day).embed([question])[0]
    _LAST[present] = (asked, key), vector
    # If the cache cannot be written, the vector is still used for this search.
    with suppress(sqlite3.OperationalError):
        vectors.store_vectors(asked, [(key, pack_vector(vector))])
    return vector
