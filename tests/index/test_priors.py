"""The vectors of single pieces that are kept in a file: what the model says of them, as the script has it."""

from __future__ import annotations

from pathlib import Path

import pytest

from clawmem.index.vectors.local_model import LocalModel, vocabulary
from tests.needs import needs_local_model

numpy = pytest.importorskip("numpy", reason="the extra is not installed: pip install -e '.[semantic]'")

from benchmarks import make_priors  # noqa: E402 - numpy first
from clawmem.index.vectors import priors  # noqa: E402


def test_each_piece_of_the_vocabulary_has_a_vector() -> None:
    pieces = vocabulary()
    assert len(pieces) == len(set(pieces)) == 30_522
    known = priors.prior_vectors([*pieces, "xqzzvw"])
    assert list(known) == pieces
    size = 2 * priors.DIRECTIONS * priors.NUMBERS + (2 + priors.DIRECTIONS) * len(pieces)
    assert priors.FILE.stat().st_size == size
    assert numpy.abs(numpy.mean(list(known.values()), axis=0)).max() < 1e-5


def test_the_vectors_of_a_question_are_those_of_all() -> None:
    """One way reads the few pieces of a question without numpy, the other those of all texts with it."""
    pieces = [vocabulary()[0], "tea", "##ing", vocabulary()[-1]]
    known, own = priors.prior_vectors(pieces), priors.Priors()
    for piece in pieces:
        assert piece in own
        assert own.total([piece]) == pytest.approx(known[piece].tolist(), abs=1e-5)
    assert own.total([*pieces, "tea"]) == pytest.approx(sum([*known.values(), known["tea"]]).tolist(), abs=1e-5)
    assert "xqzzvw" not in own and "" not in own and "tea\ncoffee" not in own
    assert [list(numbers) for numbers in own.along(["tea", "xqzzvw"])] == [list(own.along(["tea"])[0])]


@needs_local_model
def test_the_file_says_what_the_model_says() -> None:
    sample = vocabulary()[1996::311]
    assert len(sample) > 90
    anew = make_priors.vectors_of(LocalModel(), sample)
    numbers = numpy.frombuffer(priors.FILE.read_bytes(), "<f2", priors.DIRECTIONS * priors.NUMBERS)
    basis = numbers.reshape(priors.DIRECTIONS, priors.NUMBERS).astype(numpy.float32)
    average = numpy.frombuffer(priors.AVERAGE.read_bytes(), "<f4") @ basis
    # The part of a vector in the directions that are kept is in the file, but for the rounding to eight bits.
    kept = numpy.array(list(priors.prior_vectors(sample).values())) + average
    assert numpy.abs(anew @ basis.T @ basis - kept).max() < 0.004
    # That part is most of it.
    assert float((anew * kept).sum(axis=1).mean()) > 0.8
    assert numpy.abs(basis @ basis.T - numpy.eye(priors.DIRECTIONS)).max() < 0.002


def test_what_the_script_writes_is_what_the_file_is_read_as(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made = numpy.random.default_rng(1).standard_normal((500, priors.DIRECTIONS))
    spread = numpy.random.default_rng(2).standard_normal((priors.DIRECTIONS, priors.NUMBERS))
    vectors = made @ spread  # in no more directions than are kept, so that all of it comes back
    vectors /= numpy.linalg.norm(vectors, axis=1, keepdims=True)
    pieces = [f"piece-{at}" for at in range(500)]
    for name, data in zip(("FILE", "AVERAGE"), make_priors.encode_vectors(vectors), strict=True):
        (tmp_path / name).write_bytes(data)
        monkeypatch.setattr(priors, name, tmp_path / name)
    (tmp_path / "pieces").write_text("".join(f"{piece}\n" for piece in pieces))
    monkeypatch.setattr(priors, "VOCABULARY", tmp_path / "pieces")
    wanted = (vectors - vectors.mean(axis=0)).tolist()
    for vector, numbers in zip(priors.prior_vectors(pieces).values(), wanted, strict=True):
        assert vector.tolist() == pytest.approx(numbers, abs=0.01)
