"""Embedding what has no vector yet: the heartbeat's part of the vector channel, bounded and resumable."""

from __future__ import annotations

import re
import sqlite3
import time
from collections.abc import Callable, Container, Mapping, Sequence
from typing import NamedTuple, Protocol

from clawmem.errors import ClawmemError, StorageFailed
from clawmem.index.refresh.refresh import open_index
from clawmem.index.tables.store import Index
from clawmem.index.vectors.embedded_texts import EmbeddedText, event_texts, fact_texts, note_texts, sentences
from clawmem.index.vectors.local_model import NAME, LocalModel, missing, vocabulary
from clawmem.index.vectors.store import (
    EVENTS,
    FACTS,
    LOCAL,
    NONE,
    NOTES,
    VectorPack,
    Vectors,
    make_vectors,
    named_model,
    of_questions,
    open_vectors,
)
from clawmem.model.search.vector import pack_vector, packed_sign_bits, unpack_vector
from clawmem.vault.commit.lock import writer_lock
from clawmem.vault.state.spending import forget_spending
from clawmem.vault.vault import Vault

# So many texts teach what words mean here: facts, notes, then events and their sentences, the newest first.
MOST_TAUGHT = 12_000
MOST_SENTENCES = 6_000
# Learned anew once the texts have grown by so much.
GROWTH = 0.02
# Of questions to a model that is called, so many are not paid for when they are asked again.
MOST_ASKED = 2_000
_KEPT_AT_ONCE = 64
# Names of the vocabulary that stand for no piece of a word.
_NO_PIECE = re.compile(r"\[.*\]|(##)?[\W_]+")


class EmbeddingRun(NamedTuple):
    """What one run did: the model (empty: none), how many texts it embedded, how many are left,
    whether it learned what words mean anew, what it cost, and what stopped it."""

    model: str = ""
    embedded: int = 0
    left: int = 0
    fitted: bool = False
    cents: float = 0.0
    why_not: str = ""
    problem: ClawmemError | None = None


class _Embeds(Protocol):
    def __call__(self, texts: Sequence[str]) -> list[list[float]]: ...


def awaits_embedding(vault: Vault) -> bool:
    """Whether a run would find something to do. Cheap: it imports no model."""
    named = named_model(vault)
    if named == NONE or (named == LOCAL and missing()):
        return False
    try:
        vectors = open_vectors(vault)
    except sqlite3.DatabaseError:
        return True
    if vectors is None:
        return vault.head().commit is not None
    try:
        notes = [vectors.meta(key) for key in ("named", "at", "left")]
        return notes != [named, vault.head().commit, "0"]
    except sqlite3.DatabaseError:
        return True
    finally:
        vectors.close()


def embed_missing(
    vault: Vault,
    seconds: float | None = None,
    day: str = "",
    anew: bool = False,
    progress: Callable[[int, int], None] | None = None,
) -> EmbeddingRun:
    """Embed facts, events and notes that have no vector of the model that the settings name, for at most `seconds`
    (`semantic.max_seconds`), and make them searchable. `anew` makes every vector again.

    `day` is the day (UTC) whose money is spent; `progress` is told how many of how many are done. A model that fails
    is `problem`; what was embedded before stays. Raises Locked where another run is at work.
    """
    name = vault.settings.words("semantic.model")
    if name == NONE:
        return EmbeddingRun(why_not="semantic.model is none")
    if name == LOCAL and missing():
        return EmbeddingRun(why_not=f"the local model needs {', '.join(missing())}, not installed here")
    limit = vault.settings.number("semantic.max_seconds") if seconds is None else seconds
    vault.prepare_state()
    with writer_lock(vault.state / "vectors.lock", vault.settings.number("lock.wait_seconds"), "embedding"):
        index = open_index(vault)
        try:
            vectors = make_vectors(vault)
            try:
                return _Run(vault, index, vectors, time.monotonic() + limit, day, progress).all(anew)
            finally:
                vectors.close()
        except sqlite3.Error as problem:
            raise StorageFailed(f"The vectors cannot be kept: {problem}.", "Searches go on without them.") from None
        finally:
            index.close()


class _Run:
    """One run: embeds until all is done or its time is over, then makes what it has searchable."""

    def __init__(
        self,
        vault: Vault,
        index: Index,
        vectors: Vectors,
        deadline: float,
        day: str,
        progress: Callable[[int, int], None] | None,
    ) -> None:
        self.vault, self.index, self.vectors = vault, index, vectors
        self.deadline, self.day, self.progress = deadline, day, progress
        self.local = vault.settings.words("semantic.model") == LOCAL
        self.model = NAME if self.local else named_model(vault)
        self.done = self.left = 0
        self.cents = 0.0
        self.problem: ClawmemError | None = None

    def all(self, anew: bool) -> EmbeddingRun:
        """Do it."""
        self._begin(anew)
        at = self.index.head()
        facts, events, notes = (list(texts(self.index)) for texts in (fact_texts, event_texts, note_texts))
        taught = [*sentences(facts), *sentences(reversed(events))][:MOST_SENTENCES] if self.local else []
        known = self.vectors.keys(self.model)
        first = {text.key: text for text in (*facts, *notes) if text.key not in known}
        then = {text.key: text for text in (*reversed(events), *taught) if text.key not in known}
        wanted = list({**first, **then}.values())
        self.left = total = len(wanted)
        if self.local:
            self._have_pieces()
        embeds = self._embeds() if wanted else None
        if embeds:
            self._embed(embeds, wanted, total)
        fitted = self._fit([*facts, *notes, *reversed(events), *taught]) if self.local else False
        self._keep({FACTS: facts, EVENTS: events, NOTES: notes}, taught, at)
        return EmbeddingRun(self.model, self.done, self.left, fitted, self.cents, problem=self.problem)

    def _begin(self, anew: bool) -> None:
        with self.vectors.writing():
            execute = self.vectors.database.execute
            if anew:
                execute("DELETE FROM vector")
            if (
                anew
                or self.vectors.meta("named") != named_model(self.vault)
                or self.vectors.meta("model") != self.model
            ):
                # Of the model before: the vectors stay, in case it comes back before this one is done.
                for table in ("pack", "piece"):
                    execute(f"DELETE FROM {table}")
                execute("DELETE FROM meta WHERE key IN ('at', 'left', 'unseen', 'share', 'taught')")
                self.vectors.set_meta("named", named_model(self.vault))
                self.vectors.set_meta("model", self.model)

    def _have_pieces(self) -> None:
        """Put the vocabulary with the vectors of single pieces into a file of vectors that has none yet."""
        if self.vectors.database.execute("SELECT 1 FROM piece LIMIT 1").fetchone() is None:
            from clawmem.index.vectors.vocabulary.priors import priors

            # In the order of the table, in which they are put fastest.
            rows = sorted(row for row in priors(vocabulary()) if not _NO_PIECE.fullmatch(row[0]))
            with self.vectors.writing():
                self.vectors.database.executemany("INSERT INTO piece (piece, prior) VALUES (?, ?)", rows)

    def _embeds(self) -> _Embeds | None:
        try:
            return self._by_local() if self.local else self._by_call()
        except ClawmemError as problem:
            self.problem = problem
            return None

    def _by_local(self) -> _Embeds:
        model = LocalModel()
        return lambda texts: [model.embed(text) for text in texts]

    def _by_call(self) -> _Embeds:
        from clawmem.index.vectors.remote_model import CalledModel
        from clawmem.llm.choice import choose_embedder

        model = choose_embedder(self.vault.settings, self.vault.git.environment)
        if model is None:
            raise ClawmemError("semantic.model names no model to call.")
        called = CalledModel(self.vault, model, self.day)
        forget_spending(self.vault, called.day)

        def embeds(texts: Sequence[str]) -> list[list[float]]:
            try:
                return called.embed(texts)
            finally:
                self.cents = called.account.spent.cents

        return embeds

    def _embed(self, embeds: _Embeds, texts: Sequence[EmbeddedText], total: int) -> None:
        for start in range(0, len(texts), _KEPT_AT_ONCE):
            part = texts[start : start + _KEPT_AT_ONCE]
            if self._over():
                return
            try:
                made = embeds([text.words for text in part])
            except ClawmemError as problem:
                self.problem = problem
                return
            self.vectors.put(self.model, [(text.key, pack_vector(each)) for text, each in zip(part, made, strict=True)])
            self._count(len(part), total)

    def _over(self) -> bool:
        return self.problem is not None or time.monotonic() >= self.deadline

    def _count(self, number: int, total: int) -> None:
        self.done += number
        self.left -= number
        if self.progress:
            self.progress(self.done, total)

    def _fit(self, texts: Sequence[EmbeddedText]) -> bool:
        """Learn what words mean here, where the texts have grown enough since it was last learned."""
        known = self.vectors.values(self.model, (text.key for text in texts))
        kept = list({text.key: text for text in texts if text.key in known}.values())[:MOST_TAUGHT]
        before = int(self.vectors.meta("taught") or 0)
        if not kept or (before and len(kept) < before * (1 + GROWTH) and (len(kept) == before or self.left)):
            return False
        from clawmem.index.vectors.word_vectors import fit, pieces_in

        pieces = {row[0] for row in self.vectors.database.execute("SELECT piece FROM piece")}
        told = [pieces_in(text.words, pieces) for text in kept]
        found = fit(
            told,
            [unpack_vector(known[text.key]) for text in kept],
            self._priors({one for each in told for one in each}),
        )
        rows = [(pack_vector(vector), found.weights[piece], piece) for piece, vector in found.vectors.items()]
        with self.vectors.writing():
            self.vectors.database.execute("UPDATE piece SET fitted = NULL, weight = NULL WHERE fitted IS NOT NULL")
            self.vectors.database.executemany("UPDATE piece SET fitted = ?, weight = ? WHERE piece = ?", rows)
            for key, value in (("unseen", found.unseen), ("share", found.share), ("taught", len(kept))):
                self.vectors.set_meta(key, repr(value))
        return True

    def _priors(self, pieces: Container[str]) -> dict[str, Sequence[float]]:
        rows = self.vectors.database.execute("SELECT piece, prior FROM piece WHERE prior IS NOT NULL")
        return {piece: unpack_vector(prior) for piece, prior in rows if piece in pieces}

    def _keep(
        self, packed: Mapping[str, Sequence[EmbeddedText]], taught: Sequence[EmbeddedText], at: str | None
    ) -> None:
        """Make searchable what has a vector, and forget the vectors of texts that are gone."""
        with self.vectors.writing():
            for kind, texts in packed.items():
                self.vectors.set_pack(kind, self._pack(texts))
            self.vectors.set_meta("at", at or "")
            self.vectors.set_meta("left", str(self.left))
            if not self.left:
                wanted = {text.key for texts in (*packed.values(), taught) for text in texts}
                asked = of_questions(self.model)
                self.vectors.database.execute("DELETE FROM vector WHERE model NOT IN (?, ?)", (self.model, asked))
                newest = "SELECT rowid FROM vector WHERE model = ? ORDER BY rowid DESC LIMIT ?"
                query = f"DELETE FROM vector WHERE model = ? AND rowid NOT IN ({newest})"
                self.vectors.database.execute(query, (asked, asked, MOST_ASKED))
                gone = [(self.model, key) for key in self.vectors.keys(self.model) - wanted]
                self.vectors.database.executemany("DELETE FROM vector WHERE model = ? AND key = ?", gone)

    def _pack(self, texts: Sequence[EmbeddedText]) -> VectorPack:
        values = self.vectors.values(self.model, (text.key for text in texts))
        kept = [text for text in texts if text.key in values]
        codes = b"".join(packed_sign_bits(values[text.key]) for text in kept)
        return VectorPack(tuple(text.id for text in kept), b"".join(text.key for text in kept), codes)
