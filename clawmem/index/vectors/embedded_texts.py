"""Which texts of a vault are embedded: facts, pieces of events and notes, and the sentences of facts and events."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from clawmem.index.search.lookup import all_facts
from clawmem.index.tables.store import Index
from clawmem.index.vectors.store import note_id
from clawmem.model.records.entity import title_of
from clawmem.model.search.passage import pieces

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
