"""Vectors as bytes: only a little precision is lost, and signs approximate angles."""

from __future__ import annotations

import struct
from math import acos, isclose, pi, sqrt

from hypothesis import given
from hypothesis import strategies as st

from clawmem.index.vectors.store import (
    code_size,
    hamming_distances,
    normalize_vector,
    pack_vector,
    packed_product,
    sign_bits,
)

NUMBERS = st.lists(st.floats(-1e3, 1e3, width=32), min_size=1, max_size=40)
LARGE = st.lists(st.floats(-1, 1).filter(lambda number: number == 0 or abs(number) > 1e-3), min_size=1, max_size=40)


def unpack_vector(data: bytes) -> list[float]:
    scale, *whole = struct.unpack(f"<f{len(data) - 4}b", data)
    return [scale * number for number in whole]


def cosine(items: list[float], other: list[float]) -> float:
    return sum(a * b for a, b in zip(normalize_vector(items), normalize_vector(other), strict=True))


@given(NUMBERS)
def test_a_unit_vector_has_length_one_and_the_same_direction(numbers: list[float]) -> None:
    made = normalize_vector(numbers)
    if any(abs(number) > 1e-100 for number in numbers):
        assert isclose(sqrt(sum(number * number for number in made)), 1.0, rel_tol=1e-9)
        largest = max(range(len(numbers)), key=lambda at: abs(numbers[at]))
        scale = numbers[largest] / made[largest]
        assert scale > 0
        assert all(abs(scale * a - b) <= 1e-9 * abs(scale) for a, b in zip(made, numbers, strict=True))
    else:
        assert all(abs(number) <= 1.0 for number in made)


def test_a_vector_without_length_stays() -> None:
    assert normalize_vector([0.0, 0.0]) == [0.0, 0.0]
    assert normalize_vector([]) == []
    assert unpack_vector(pack_vector([0.0, 0.0])) == [0.0, 0.0]
    assert unpack_vector(pack_vector([])) == []


@given(NUMBERS)
def test_packing_loses_at_most_half_a_step(numbers: list[float]) -> None:
    data = pack_vector(numbers)
    assert len(data) == 4 + len(numbers)
    step = max(map(abs, numbers)) / 127
    assert all(abs(a - b) <= step * 0.5001 + 1e-40 for a, b in zip(unpack_vector(data), numbers, strict=True))


@given(LARGE)
def test_packing_what_was_unpacked_gives_the_same_bytes(numbers: list[float]) -> None:
    data = pack_vector(numbers)
    assert pack_vector(unpack_vector(data))[4:] == data[4:]


@given(st.integers(1, 40).flatmap(lambda n: st.tuples(*[st.lists(st.floats(-1, 1), min_size=n, max_size=n)] * 2)))
def test_closeness_is_the_cosine_but_for_the_packing(pair: tuple[list[float], list[float]]) -> None:
    question, text = normalize_vector(pair[0]), normalize_vector(pair[1])
    exact = sum(a * b for a, b in zip(question, text, strict=True))
    # Half a step of 1/127 at most in each number, and the question's numbers add up to at most the root of their count.
    assert abs(packed_product(question, pack_vector(text)) - exact) <= 0.5 / 127 * sqrt(len(text)) + 1e-6


@given(LARGE)
def test_signs_are_one_bit_a_number(numbers: list[float]) -> None:
    code = sign_bits(numbers)
    assert len(code) == code_size(len(numbers)) == -(-len(numbers) // 8)
    bits = "".join(f"{byte:08b}" for byte in code)
    assert bits == "".join("1" if number > 0 else "0" for number in numbers).ljust(len(bits), "0")


@given(st.integers(1, 6).flatmap(lambda n: st.lists(st.binary(min_size=n, max_size=n), min_size=1)))
def test_differences_count_bits(some: list[bytes]) -> None:
    question, *codes = some
    wanted = [sum((a ^ b).bit_count() for a, b in zip(code, question, strict=True)) for code in codes]
    assert hamming_distances(b"".join(codes), question) == wanted


def test_signs_estimate_the_angle_of_many_numbers() -> None:
    items = [((at * 7919) % 2003) / 2003 - 0.5 for at in range(2000)]
    other = [number + ((at * 104729) % 1999) / 1999 - 0.5 for at, number in enumerate(items)]
    (apart,) = hamming_distances(sign_bits(other), sign_bits(items))
    assert abs(apart / 2000 - acos(cosine(items, other)) / pi) < 0.05
