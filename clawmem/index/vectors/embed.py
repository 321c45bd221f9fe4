"""Embedding texts that have no vector yet: the heartbeat's part of the vector channel, time-limited and resumable."""

from __future__ import annotations

import json
import re
import sqlite3
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from math import isinf
from typing import NamedTuple

from clawmem.errors import ClawmemError, StorageFailed
from clawmem.index.refresh.refresh import open_index
from clawmem.index.search.lookup import all_facts
from clawmem.index.tables.store import Index
from clawmem.index.vectors.local_model import NAME, LocalModel, missing_packages, vocabulary
from clawmem.index.vectors.store import (
    EVENTS,
    FACTS,
    LOCAL,
    NONE,
    NOTES,
    VectorPack,
    Vectors,
    note_id,
    open_or_create_vectors,
    open_vectors,
    pack_vector,
    packed_sign_bits,
    unpack_vector,
)
from clawmem.model.progress import OnProgress, Progress
from clawmem.model.records.entity import title_of
from clawmem.model.search.passage import pieces
from clawmem.vault.disk import writer_lock
from clawmem.vault.vault import Vault

_SENTENCE_END = re.compile(r"(?<=[.!?])\s+")
_SHORTEST_SENTENCE = 3
# A pasted file is found by its words. Its meaning is that of its beginning, and each piece costs 10 ms or more.
_MOST_PIECES = 32
_MARKS_OF_DATA = frozenset('{}[]"<>|;')
_MOST_MARKS = 0.1


class EmbeddedText(NamedTuple):
    """A text to embed: the id of its source, its words, and the key of its vector."""

    id: str
    words: str
    key: bytes


def fact_texts(index: Index) -> Iterator[EmbeddedText]:
    """Yield every fact, preceded by the title of its entity if the fact does not name it."""
    for placed in all_facts(index):
        title, statement = title_of(placed.entity), placed.fact.fact
        words = statement if title.lower() in statement.lower() else f"{title}: {statement}"
        yield EmbeddedText(placed.fact.id, words, key_of(words))


def demand(index: Index) -> dict[str, int]:
    """Return how often each fact was asked for, as far as committed, without those that never were."""
    return dict(index.database.execute("SELECT id, access_count FROM fact WHERE access_count > 0"))


def event_texts(index: Index) -> Iterator[EmbeddedText]:
    """Yield the first pieces of every event that was not recalled from this memory, without those that are data."""
    query = "SELECT id, day, line FROM event WHERE recalled = 0 ORDER BY day, sitting, place"
    for event_id, day, line in index.database.execute(query):
        if "\n" in event_id:
            continue
        record = json.loads(line)
        for piece in pieces(record["text"])[:_MOST_PIECES]:
            if _is_data(piece):
                continue
            words = f"{record['speaker']}: {piece}" if record.get("speaker") else piece
            yield EmbeddedText(f"{day} {event_id}", words, key_of(words))
    lines = "SELECT event.id, event.day, told.line FROM event AS told INDEXED BY event_sitting"
    for event_id, day, line in index.database.execute(
        f"{lines} JOIN event ON event.n = told.place WHERE told.sitting = ''"
    ):
        text = json.loads(line)["text"]
        yield EmbeddedText(f"{day} {event_id}", text, key_of(text))


def _is_data(piece: str) -> bool:
    """Whether a piece is JSON, a table or code rather than sentences, by its marks."""
    return sum(map(piece.count, _MARKS_OF_DATA)) > _MOST_MARKS * max(len(piece), 100)


def note_texts(index: Index) -> Iterator[EmbeddedText]:
    """Yield the pieces of every note line, except those of MEMORY.md, which every agent reads in full and which mostly
    contains facts."""
    for path, text in index.database.execute(
        "SELECT path, text FROM note WHERE path != 'MEMORY.md' ORDER BY path, place"
    ):
        for words in pieces(text):
            yield EmbeddedText(note_id(path, text), words, key_of(words))


def sentences(texts: Iterable[EmbeddedText]) -> Iterator[EmbeddedText]:
    """Yield the sentences of texts that have several, because their length is closer to that of a question."""
    for text in texts:
        parts = _SENTENCE_END.split(text.words)
        for words in parts if len(parts) > 1 else ():
            if len(words.split()) >= _SHORTEST_SENTENCE:
                yield EmbeddedText("", words, key_of(words))


def key_of(words: str) -> bytes:
    """Return the key of a text's vector: the first 16 bytes of its SHA-256."""
    from hashlib import sha256

    return sha256(words.encode(errors="surrogatepass")).digest()[:16]


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
