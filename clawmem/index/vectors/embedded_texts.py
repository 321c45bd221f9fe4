"""What is embedded of a vault: the text of each fact, the pieces of each event and note, and the sentences of facts and
events."""

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


class EmbeddedText(NamedTuple):
    """A text to be embedded: whose it is, its words, and the key of its vector."""

    id: str
    words: str
    key: bytes


def fact_texts(index: Index) -> Iterator[EmbeddedText]:
    """Every fact, after the entity it stands in where it does not name it."""
    for placed in all_facts(index):
        title, said = title_of(placed.entity), placed.fact.fact
        words = said if title.lower() in said.lower() else f"{title}: {said}"
        yield EmbeddedText(placed.fact.id, words, key_of(words))


def event_texts(index: Index) -> Iterator[EmbeddedText]:
    """Every event that did not come out of this memory, piece by piece."""
    query = "SELECT id, day, line FROM event WHERE recalled = 0 ORDER BY day, sitting, place"
    for event_id, day, line in index.database.execute(query):
        if "\n" in event_id:
            continue
        record = json.loads(line)
        for piece in pieces(record["text"]):
            words = f"{record['speaker']}: {piece}" if record.get("speaker") else piece
            yield EmbeddedText(f"{day} {event_id}", words, key_of(words))


def note_texts(index: Index) -> Iterator[EmbeddedText]:
    """Every line of the pages that people or agents write, piece by piece, but for MEMORY.md: an agent begins with all
    of that, and most of it is facts."""
    for path, text in index.database.execute(
        "SELECT path, text FROM note WHERE path != 'MEMORY.md' ORDER BY path, place"
    ):
        for words in pieces(text):
            yield EmbeddedText(note_id(path, text), words, key_of(words))


def sentences(texts: Iterable[EmbeddedText]) -> Iterator[EmbeddedText]:
    """The sentences of texts that have several: they are nearer in length to a question."""
    for text in texts:
        parts = _SENTENCE_END.split(text.words)
        for words in parts if len(parts) > 1 else ():
            if len(words.split()) >= _SHORTEST_SENTENCE:
                yield EmbeddedText("", words, key_of(words))


def key_of(words: str) -> bytes:
    """The key of a text's vector: 16 bytes of its SHA-256."""
    from hashlib import sha256

    return sha256(words.encode(errors="surrogatepass")).digest()[:16]
