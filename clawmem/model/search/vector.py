"""Vectors as bytes: eight bits per number for precise comparison, one bit per number for fast comparison."""

from __future__ import annotations

import struct
from collections.abc import Sequence
from math import cos, pi, sqrt
from operator import mul

_LARGEST = 127
# For each byte as a signed number, the digit that says whether it is above zero.
_ABOVE_ZERO = bytes(ord("1") if 0 < byte < 128 else ord("0") for byte in range(256))


def normalize_vector(numbers: Sequence[float]) -> list[float]:
    """Return the vector scaled to length one; a zero vector stays as it is."""
    length = sqrt(sum(map(mul, numbers, numbers)))
    return [number / length for number in numbers] if length else list(numbers)


def pack_vector(numbers: Sequence[float]) -> bytes:
    """Return the vector as one byte per number, after a four-byte scale factor."""
    largest = max(map(abs, numbers), default=0.0)
    scale = largest / _LARGEST if largest else 1.0
    whole = [round(number / scale) for number in numbers]
    return struct.pack(f"<f{len(whole)}b", scale, *whole)


def unpack_vector(data: bytes) -> list[float]:
    """Return the numbers of a packed vector."""
    scale, *whole = struct.unpack(f"<f{len(data) - 4}b", data)
    return [scale * number for number in whole]


def packed_cosine(question: Sequence[float], data: bytes) -> float:
    """Return the closeness of the angle between a vector and a packed vector, both of length one."""
    (scale,) = struct.unpack_from("<f", data)
    return float(scale * sum(map(mul, question, memoryview(data)[4:].cast("b"))))


def sign_bits(numbers: Sequence[float]) -> bytes:
    """Return one bit per number, set if it is above zero; the last byte is padded with zeros."""
    width = code_size(len(numbers))
    bits = "".join("1" if number > 0 else "0" for number in numbers)
    return int(bits.ljust(width * 8, "0") or "0", 2).to_bytes(width, "big")


def packed_sign_bits(data: bytes) -> bytes:
    """Return the sign bits of a packed vector."""
    bits = data[4:].translate(_ABOVE_ZERO)
    width = code_size(len(bits))
    return int(bits.ljust(width * 8, b"0") or b"0", 2).to_bytes(width, "big")


def code_size(numbers: int) -> int:
    """Return the number of bytes for the sign bits of this many numbers."""
    return (numbers + 7) // 8


def hamming_distances(codes: bytes, question: bytes) -> list[int]:
    """Return, for each of the concatenated codes, the number of bits that differ from the question's."""
    wanted, read = int.from_bytes(question, "big"), int.from_bytes
    return [(read(code, "big") ^ wanted).bit_count() for (code,) in struct.iter_unpack(f"{len(question)}s", codes)]


def expected_cosine(difference: float, numbers: int) -> float:
    """Return the expected closeness for this many different signs, as for random hyperplanes (Charikar, 2002)."""
    return cos(pi * difference / numbers) if numbers else 0.0
