"""The vectors of single pieces that are kept in a file: what the model says of them, as the script has it."""

from __future__ import annotations

from pathlib import Path

import pytest

from clawmem.index.vectors.local_model import LocalModel, vocabulary
from clawmem.model.search.vector import normalize_vector, packed_cosine, unpack_vector
from tests.needs import needs_local_model

numpy = pytest.importorskip("numpy", reason="the extra is not installed: pip install -e '.[semantic]'")

from clawmem.index.vectors.vocabulary import make_priors, priors  # noqa: E402 - numpy first


def test_each_piece_of_the_vocabulary_has_a_vector() -> None:
    pieces = vocabulary()
    assert len(pieces) == len(set(pieces)) == 30_522
    known = dict(priors.priors(pieces))
    assert list(known) == pieces
    assert {len(data) for data in known.values()} == {4 + priors.NUMBERS}
    size = 2 * priors.DIRECTIONS * priors.NUMBERS + (2 + priors.DIRECTIONS) * len(pieces)
    assert priors.FILE.stat().st_size == size


@needs_local_model
def test_the_file_says_what_the_model_says() -> None:
    pieces = vocabulary()
    known = dict(priors.priors(pieces))
    model = LocalModel()
    sample = vocabulary()[1996::311]
    assert len(sample) > 90
    anew = make_priors.vectors_of(model, sample)
    data = priors.FILE.read_bytes()
    numbers = numpy.frombuffer(data, "<f2", priors.DIRECTIONS * priors.NUMBERS)
    basis = numbers.reshape(priors.DIRECTIONS, priors.NUMBERS).astype(numpy.float32)
    scales = numpy.frombuffer(data, "<f2", len(pieces), numbers.nbytes).astype(numpy.float32)
    parts = numpy.frombuffer(data, numpy.int8, len(pieces) * priors.DIRECTIONS, numbers.nbytes + 2 * len(pieces))
    average = (parts.reshape(len(pieces), -1) * scales[:, None]).mean(axis=0) @ basis
    # The part of a vector in the directions that are kept is in the file, but for the rounding to eight bits.
    kept = numpy.array([unpack_vector(known[piece]) for piece in sample]) + average
    assert numpy.abs(anew @ basis.T @ basis - kept).max() < 0.004
    # That part is most of it.
    assert float((anew * kept).sum(axis=1).mean()) > 0.8
    assert numpy.abs(basis @ basis.T - numpy.eye(priors.DIRECTIONS)).max() < 0.002


def test_what_the_script_writes_is_what_the_file_is_read_as(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made = numpy.random.default_rng(1).standard_normal((500, priors.DIRECTIONS))
    spread = numpy.random.default_rng(2).standard_normal((priors.DIRECTIONS, priors.NUMBERS))
    vectors = made @ spread  # in no more directions than are kept, so that all of it comes back
    vectors /= numpy.linalg.norm(vectors, axis=1, keepdims=True)
    path = tmp_path / "priors.bin"
    path.write_bytes(make_priors.encode_vectors(vectors))
    monkeypatch.setattr(priors, "FILE", path)
    pieces = [f"piece {at}" for at in range(500)]
    for (_, data), wanted in zip(priors.priors(pieces), (vectors - vectors.mean(axis=0)).tolist(), strict=True):
        length = sum(number * number for number in wanted) ** 0.5
        assert packed_cosine(normalize_vector(wanted), data) == pytest.approx(length, abs=0.01)
        assert unpack_vector(data) == pytest.approx(wanted, abs=0.01)
