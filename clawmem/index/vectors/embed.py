"""Embedding texts that have no vector yet: the heartbeat's part of the vector channel, time-limited and resumable."""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Mapping, Sequence
from math import isinf
from typing import NamedTuple

from clawmem.errors import ClawmemError, StorageFailed
from clawmem.index.refresh.refresh import open_index
from clawmem.index.tables.store import Index
from clawmem.index.vectors.embedded_texts import EmbeddedText, demand, event_texts, fact_texts, note_texts, sentences
from clawmem.index.vectors.local_model import NAME, LocalModel, missing_packages, vocabulary
from clawmem.index.vectors.store import (
    EVENTS,
    FACTS,
    LOCAL,
    NONE,
    NOTES,
    VectorPack,
    Vectors,
    open_or_create_vectors,
    open_vectors,
)
from clawmem.model.progress import OnProgress, Progress
from clawmem.model.search.vector import pack_vector, packed_sign_bits, unpack_vector
from clawmem.vault.disk import writer_lock
from clawmem.vault.vault import Vault

# Word vectors are computed from at most this many texts: facts, notes, then events and sentences, newest first.
MAX_FITTED_TEXTS = 12_000
MAX_SENTENCES = 6_000
# Word vectors are computed again after this relative growth of the texts.
GROWTH = 0.02
# How long one heartbeat may embed.
EMBEDDING_SECONDS = 60
# Where the model's own vectors of single pieces are; if they were elsewhere, the word vectors are computed again.
PRIORS = "in the package, less their average"
_BATCH = 64


class EmbeddingRun(NamedTuple):
    """The result of one run.

    `model` is empty if there is none. `embedded` and `left` count texts. `fitted` says whether word vectors were
    computed again. `why_not` and `problem` say what stopped the run.
    """

    model: str = ""
    embedded: int = 0
    left: int = 0
    fitted: bool = False
    why_not: str = ""
    problem: ClawmemError | None = None


def needs_embedding(vault: Vault) -> bool:
    """Return whether a run would have work to do. Fast: it imports no model."""
    if vault.settings.words("semantic.model") == NONE or missing_packages():
        return False
    try:
        vectors = open_vectors(vault)
    except sqlite3.DatabaseError:
        return True
    if vectors is None:
        return vault.head().commit is not None
    try:
        notes = [vectors.meta(key) for key in ("named", "at", "left", "priors")]
        return notes != [LOCAL, vault.head().commit, "0", PRIORS]
    except sqlite3.DatabaseError:
        return True
    finally:
        vectors.close()


def embed_missing(
    vault: Vault, seconds: float = EMBEDDING_SECONDS, anew: bool = False, report: OnProgress | None = None
) -> EmbeddingRun:
    """Embed facts, events and notes that have no vector, and make them searchable.

    `seconds` is how long it may take. `anew` computes every vector again. `report` gets how far it is.

    If the model fails, the error is `problem`, and what was embedded before is kept. Raise Locked if another run is
    active.
    """
    if vault.settings.words("semantic.model") == NONE:
        return EmbeddingRun(why_not="semantic.model is none")
    if missing_packages():
        return EmbeddingRun(why_not=f"the local model needs {', '.join(missing_packages())}, not installed here")
    vault.prepare_state()
    with writer_lock(vault.state / "vectors.lock", vault.settings.number("lock.wait_seconds"), "embedding"):
        index = open_index(vault)
        try:
            vectors = open_or_create_vectors(vault)
            try:
                return _Run(index, vectors, time.monotonic() + seconds, report).all(anew)
            finally:
                vectors.close()
        except sqlite3.Error as problem:
            raise StorageFailed(f"The vectors cannot be stored: {problem}.", "Searches work without them.") from None
        finally:
            index.close()


class _Run:
    """One run: embeds until everything is done or the time is over, then makes the results searchable."""

    def __init__(self, index: Index, vectors: Vectors, deadline: float, report: OnProgress | None) -> None:
        self.index, self.vectors = index, vectors
        self.deadline, self.report = deadline, report
        self.began = time.monotonic()
        self.done = self.left = 0
        self.problem: ClawmemError | None = None

    def all(self, anew: bool) -> EmbeddingRun:
        """Run it."""
        self._begin(anew)
        at = self.index.head()
        facts, events, notes = (list(texts(self.index)) for texts in (fact_texts, event_texts, note_texts))
        fitted_texts = [*sentences(facts), *sentences(reversed(events))][:MAX_SENTENCES]
        known = self.vectors.keys(NAME)
        primary = {text.key: text for text in (*facts, *notes) if text.key not in known}
        secondary = {text.key: text for text in (*reversed(events), *fitted_texts) if text.key not in known}
        asked = demand(self.index)
        # Facts that are asked for come first: a run that ends early leaves what nobody misses.
        first = sorted(primary.values(), key=lambda text: -asked.get(text.id, 0))
        wanted = list({text.key: text for text in (*first, *secondary.values())}.values())
        self.left = total = len(wanted)
        self._drop_former_priors()
        if wanted:
            self._embed(wanted, total)
        fitted = self._fit([*facts, *notes, *reversed(events), *fitted_texts])
        self._keep({FACTS: facts, EVENTS: events, NOTES: notes}, fitted_texts, at)
        return EmbeddingRun(NAME, self.done, self.left, fitted, problem=self.problem)

    def _begin(self, anew: bool) -> None:
        with self.vectors.writing():
            execute = self.vectors.database.execute
            if anew:
                execute("DELETE FROM vector")
            if anew or self.vectors.meta("named") != LOCAL or self.vectors.meta("model") != NAME:
                # Data of the previous model. Its vectors are kept until this one is done: it may be configured again.
                for table in ("pack", "piece"):
                    execute(f"DELETE FROM {table}")
                execute("DELETE FROM meta WHERE key IN ('at', 'left', 'unseen', 'share', 'taught')")
                self.vectors.set_meta("named", LOCAL)
                self.vectors.set_meta("model", NAME)

    def _drop_former_priors(self) -> None:
        """Empty the table of pieces of an older version, which had a copy of the model's own vectors."""
        if self.vectors.meta("priors") == PRIORS:
            return
        with self.vectors.writing():
            former = self.vectors.database.execute("DELETE FROM piece").rowcount
            self.vectors.database.execute("DELETE FROM meta WHERE key = 'taught'")
            self.vectors.set_meta("priors", PRIORS)
        if former:
            self.vectors.database.execute("VACUUM")

    def _embed(self, texts: Sequence[EmbeddedText], total: int) -> None:
        try:
            model = LocalModel()
        except ClawmemError as problem:
            self.problem = problem
            return
        for start in range(0, len(texts), _BATCH):
            part = texts[start : start + _BATCH]
            if time.monotonic() >= self.deadline:
                return
            self.vectors.store_vectors(NAME, [(text.key, pack_vector(model.embed(text.words))) for text in part])
            self._count(len(part), total)

    def _count(self, number: int, total: int) -> None:
        self.done += number
        self.left -= number
        if self.report:
            self.report(Progress("embedding", self.done, self._reached(total), "texts"))

    def _reached(self, total: int) -> float:
        """Return how many texts are done when the time is over, at the rate so far; at most all."""
        passed = time.monotonic() - self.began
        return total if isinf(self.deadline) else min(total, self.done * (self.deadline - self.began) / passed)

    def _fit(self, texts: Sequence[EmbeddedText]) -> bool:
        """Compute the word vectors again if the texts have grown enough. Return whether this was done."""
        known = self.vectors.values(NAME, (text.key for text in texts))
        kept = list({text.key: text for text in texts if text.key in known}.values())[:MAX_FITTED_TEXTS]
        before = int(self.vectors.meta("taught") or 0)
        if not kept or (before and len(kept) < before * (1 + GROWTH) and (len(kept) == before or self.left)):
            return False
        from clawmem.index.vectors.priors import prior_vectors
        from clawmem.index.vectors.word_vectors import fit_word_vectors, pieces_in

        pieces = frozenset(vocabulary())
        text_pieces = [pieces_in(text.words, pieces) for text in kept]
        found = fit_word_vectors(
            text_pieces,
            [unpack_vector(known[text.key]) for text in kept],
            prior_vectors(sorted({piece for each in text_pieces for piece in each})),
        )
        rows = [(piece, pack_vector(vector), found.weights[piece]) for piece, vector in found.vectors.items()]
        with self.vectors.writing():
            self.vectors.database.execute("DELETE FROM piece")
            self.vectors.database.executemany("INSERT INTO piece (piece, fitted, weight) VALUES (?, ?, ?)", rows)
            for key, value in (("unseen", found.unseen), ("share", found.share), ("taught", len(kept))):
                self.vectors.set_meta(key, repr(value))
        return True

    def _keep(
        self, packed: Mapping[str, Sequence[EmbeddedText]], fitted_texts: Sequence[EmbeddedText], at: str | None
    ) -> None:
        """Make embedded texts searchable, and delete the vectors of texts that no longer exist."""
        with self.vectors.writing():
            for kind, texts in packed.items():
                self.vectors.set_pack(kind, self._pack(texts))
            self.vectors.set_meta("at", at or "")
            self.vectors.set_meta("left", str(self.left))
            if not self.left:
                wanted = {text.key for texts in (*packed.values(), fitted_texts) for text in texts}
                self.vectors.database.execute("DELETE FROM vector WHERE model != ?", (NAME,))
                gone = [(NAME, key) for key in self.vectors.keys(NAME) - wanted]
                self.vectors.database.executemany("DELETE FROM vector WHERE model = ? AND key = ?", gone)

    def _pack(self, texts: Sequence[EmbeddedText]) -> VectorPack:
        values = self.vectors.values(NAME, (text.key for text in texts))
        kept = [text for text in texts if text.key in values]
        codes = b"".join(packed_sign_bits(values[text.key]) for text in kept)
        return VectorPack(tuple(text.id for text in kept), b"".join(text.key for text in kept), codes)
