"""Embedding texts that have no vector yet: the heartbeat's part of the vector channel, time-limited and resumable."""

from __future__ import annotations

import json
import sqlite3
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from math import isinf
from typing import Any, NamedTuple

from clawmem.errors import ClawmemError, StorageFailed
from clawmem.index.refresh import open_index
from clawmem.index.search.lookup import all_facts
from clawmem.index.tables.store import Index
from clawmem.index.vectors.local_model import NAME, NUMBERS, LocalModel, missing_packages
from clawmem.index.vectors.store import (
    EVENTS,
    FACTS,
    NONE,
    NOTES,
    Centre,
    VectorPack,
    Vectors,
    key_of,
    normalize_vector,
    note_id,
    open_or_create_vectors,
    open_vectors,
    pack_vector,
)
from clawmem.model.facts.fact_words import because
from clawmem.model.progress import OnProgress, Progress
from clawmem.model.records.entity import title_of
from clawmem.model.search.passage import pieces
from clawmem.vault.disk import writer_lock
from clawmem.vault.vault import Vault

# A pasted file is found by its words. Its meaning is that of its beginning, and each piece costs 30 ms or more.
_MOST_PIECES = 32
_MARKS_OF_DATA = frozenset('{}[]"<>|;')
_MOST_MARKS = 0.1


class EmbeddedText(NamedTuple):
    """A text to embed: the id of its source, its words, and the key of its vector."""

    id: str
    words: str
    key: bytes


def fact_texts(index: Index) -> Iterator[EmbeddedText]:
    """Yield every fact with its reason, preceded by the title of its entity if the fact does not name it."""
    for placed in all_facts(index):
        title = title_of(placed.entity)
        statement = ", ".join([placed.fact.fact, *because(placed.fact), *placed.fact.tags])
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
            if sum(map(piece.count, _MARKS_OF_DATA)) > _MOST_MARKS * max(len(piece), 100):
                continue
            words = f"{record['speaker']}: {piece}" if record.get("speaker") else piece
            yield EmbeddedText(f"{day} {event_id}", words, key_of(words))
    lines = "SELECT event.id, event.day, told.line FROM event AS told INDEXED BY event_sitting"
    for event_id, day, line in index.database.execute(
        f"{lines} JOIN event ON event.n = told.place WHERE told.sitting = ''"
    ):
        text = json.loads(line)["text"]
        yield EmbeddedText(f"{day} {event_id}", text, key_of(text))


def note_texts(index: Index) -> Iterator[EmbeddedText]:
    """Yield the pieces of every note line, but not MEMORY.md, which every agent reads and which mostly has facts."""
    for path, text in index.database.execute(
        "SELECT path, text FROM note WHERE path != 'MEMORY.md' ORDER BY path, place"
    ):
        for words in pieces(text):
            yield EmbeddedText(note_id(path, text), words, key_of(words))


# How long one heartbeat may embed.
EMBEDDING_SECONDS = 60
# What unrelated people say in several languages: a few texts do not tell what all texts share, so these count, too.
UNRELATED = (
    "The bus was late again this morning.", "Can you send me the file before noon?", "We should repaint the fence.",
    "She has known him since school.", "I am not sure that this will work.", "Thanks, that helps a lot!",
    "Mum: dinner is at seven, bring bread.", "The second version is faster than the first one.",
    "Ich habe den Brief gestern eingeworfen.", "Kannst du mich am Freitag abholen?", "Das Dach muss gedeckt werden.",
    "Anna: wir treffen uns dann vor dem Kino", "Mañana no puedo, tengo que trabajar.", "¿Has visto mis llaves?",
    "El tren sale a las ocho y media.", "Lucía: la reunión fue bastante larga", "Il fait trop froid pour sortir.",
    "Tu peux me rappeler ce soir ?", "Ho comprato il regalo per Marta.", "O jantar já está pronto.",
    "We gaan volgend weekend naar zee.", "Nie wiem, gdzie to położyłem.", "Мы вчера долго ждали автобус.",
    "明天下午我要去看医生。", "駅で友だちに会いました。", "Yarın toplantı saat dokuzda.",
)  # fmt: skip
_BATCH = 64
_AT_ONCE = 2_000


class EmbeddingRun(NamedTuple):
    """The result of one run.

    `model` is empty if there is none. `embedded` and `left` count texts. `why_not` and `problem` say what stopped the
    run.
    """

    model: str = ""
    embedded: int = 0
    left: int = 0
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
        return [vectors.meta(key) for key in ("model", "at", "left")] != [NAME, vault.head().commit, "0"]
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
        known = self.vectors.keys(NAME)
        primary = {text.key: text for text in (*facts, *notes) if text.key not in known}
        secondary = {text.key: text for text in reversed(events) if text.key not in known}
        asked = demand(self.index)
        # Facts that are asked for come first: a run that ends early leaves what nobody misses.
        first = sorted(primary.values(), key=lambda text: -asked.get(text.id, 0))
        wanted = list({text.key: text for text in (*first, *secondary.values())}.values())
        self.left = total = len(wanted)
        if wanted:
            self._embed(wanted, total)
        self._keep({FACTS: facts, EVENTS: events, NOTES: notes}, at)
        return EmbeddingRun(NAME, self.done, self.left, problem=self.problem)

    def _begin(self, anew: bool) -> None:
        with self.vectors.writing():
            execute = self.vectors.database.execute
            if anew:
                execute("DELETE FROM vector")
            if anew or self.vectors.meta("model") != NAME:
                # Data of the previous model.
                execute("DELETE FROM pack")
                execute("DELETE FROM meta WHERE key IN ('at', 'left', 'centre')")
                self.vectors.set_meta("model", NAME)

    def _embed(self, texts: Sequence[EmbeddedText], total: int) -> None:
        try:
            model = LocalModel()
        except ClawmemError as problem:
            self.problem = problem
            return
        known = self.vectors.keys(NAME)
        parts = [texts[start : start + _BATCH] for start in range(0, len(texts), _BATCH)]
        for part in parts:
            if time.monotonic() >= self.deadline:
                return
            beside = [text for text in _unrelated() if text.key not in known] if part is parts[0] else []
            rows = []
            for number, text in enumerate((*beside, *part), 1 - len(beside)):
                rows.append((text.key, pack_vector(model.embed(text.words))))
                self._tell(self.done + max(number, 0), total)
            self.vectors.store_vectors(NAME, rows)
            self.done += len(part)
            self.left -= len(part)

    def _tell(self, done: int, total: int) -> None:
        """Report how many texts are done, of those that will be when the time is over, at the rate so far."""
        if self.report:
            passed = time.monotonic() - self.began
            reached = total if isinf(self.deadline) or not done else done * (self.deadline - self.began) / passed
            self.report(Progress("embedding", done, max(done, min(total, reached)), "texts"))

    def _keep(self, packed: Mapping[str, Sequence[EmbeddedText]], at: str | None) -> None:
        """Make embedded texts searchable, and delete the vectors of texts that no longer exist."""
        wanted = {text.key for texts in (*packed.values(), _unrelated()) for text in texts}
        with self.vectors.writing():
            centre = self._centre(wanted)
            if centre is not None:
                self.vectors.set_centre(centre)
                for kind, texts in packed.items():
                    self.vectors.set_pack(kind, self._pack(texts, centre))
            self.vectors.set_meta("at", at or "")
            self.vectors.set_meta("left", str(self.left))
            if not self.left:
                self.vectors.database.execute("DELETE FROM vector WHERE model != ?", (NAME,))
                gone = [(NAME, key) for key in self.vectors.keys(NAME) - wanted]
                self.vectors.database.executemany("DELETE FROM vector WHERE model = ? AND key = ?", gone)

    def _centre(self, keys: Iterable[bytes]) -> Centre | None:
        """Return the centre of the texts with these keys, or None if none has a vector."""
        import numpy

        total, count, squares = numpy.zeros(NUMBERS), 0, 0.0
        for _, rows in self._rows(sorted(keys)):
            total += rows.sum(axis=0)
            squares += float((rows * rows).sum())
            count += len(rows)
        if not count:
            return None
        mean = total / count
        return Centre(mean.tolist(), max(squares / count - float(mean @ mean), 1e-6) ** 0.5)

    def _pack(self, texts: Sequence[EmbeddedText], centre: Centre) -> VectorPack:
        import numpy

        codes: dict[bytes, bytes] = {}
        for keys, rows in self._rows([text.key for text in texts]):
            signs = numpy.packbits(rows > numpy.array(centre.mean), axis=1)
            codes.update(zip(keys, map(bytes, signs), strict=True))
        kept = [text for text in texts if text.key in codes]
        return VectorPack(
            tuple(text.id for text in kept),
            b"".join(text.key for text in kept),
            b"".join(codes[text.key] for text in kept),
        )

    def _rows(self, keys: Sequence[bytes]) -> Iterator[tuple[Sequence[bytes], Any]]:
        """Yield the stored vectors of keys as matrices, a part at a time, each with the keys of its rows."""
        import numpy

        for start in range(0, len(keys), _AT_ONCE):
            values = self.vectors.values(NAME, keys[start : start + _AT_ONCE])
            if values:
                table = numpy.frombuffer(
                    b"".join(values.values()), numpy.dtype([("scale", "<f4"), ("whole", "i1", NUMBERS)])
                )
                yield list(values), table["whole"] * table["scale"][:, None]


def embed_alone(model: LocalModel) -> Callable[[str], Sequence[float]]:
    """Return what gives the vector of a text outside a vault, less the mean of unrelated ones, of length one."""
    vectors = [model.embed(words) for words in UNRELATED]
    mean = [sum(column) / len(vectors) for column in zip(*vectors, strict=True)]
    return lambda text: normalize_vector([n - other for n, other in zip(model.embed(text), mean, strict=True)])


def _unrelated() -> list[EmbeddedText]:
    return [EmbeddedText("", words, key_of(words)) for words in UNRELATED]
