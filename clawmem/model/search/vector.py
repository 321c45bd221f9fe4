"""Vectors as bytes: eight bits a number to compare them well, one bit a number to compare them fast."""

from __future__ import annotations

import struct
from collections.abc import Sequence
from math import cos, pi, sqrt
from operator import mul

_LARGEST = 127
# For each byte, read as a number with a sign, the digit that says whether it is above zero.
_ABOVE_ZERO = bytes(ord("1") if 0 < byte < 128 else ord("0") for byte in range(256))


def unit(numbers: Sequence[float]) -> list[float]:
    """The vector with a length of one; one of no length stays as it is."""
    length = sqrt(sum(map(mul, numbers, numbers)))
    return [number / length for number in numbers] if length else list(numbers)


def packed(numbers: Sequence[float]) -> bytes:
    """The vector in a byte a number, after four bytes that say by how much each is multiplied."""
    largest = max(map(abs, numbers), default=0.0)
    scale = largest / _LARGEST if largest else 1.0
    whole = [round(number / scale) for number in numbers]
    return struct.pack(f"<f{len(whole)}b", scale, *whole)


def unpacked(data: bytes) -> list[float]:
    """The numbers of a packed vector."""
    scale, *whole = struct.unpack(f"<f{len(data) - 4}b", data)
    return [scale * number for number in whole]


def closeness(question: Sequence[float], data: bytes) -> float:
    """The cosine of the angle between a vector of length one and a packed one of length one."""
    (scale,) = struct.unpack_from("<f", data)
    return float(scale * sum(map(mul, question, memoryview(data)[4:].cast("b"))))


def signs(numbers: Sequence[float]) -> bytes:
    """One bit a number, set where it is above zero; the last byte is filled with zeros."""
    width = code_size(len(numbers))
    bits = "".join("1" if number > 0 else "0" for number in numbers)
    return int(bits.ljust(width * 8, "0") or "0", 2).to_bytes(width, "big")


def signs_of_packed(data: bytes) -> bytes:
    """The signs of a packed vector."""
    bits = data[4:].translate(_ABOVE_ZERO)
    width = code_size(len(bits))
    return int(bits.ljust(width * 8, b"0") or b"0", 2).to_bytes(width, "big")


def code_size(numbers: int) -> int:
    """The bytes that the signs of so many numbers take."""
    return (numbers + 7) // 8


def differences(codes: bytes, question: bytes) -> list[int]:
    """For each of the codes, which lie end to end, in how many bits it is not the question's."""
    wanted, read = int.from_bytes(question, "big"), int.from_bytes
    return [(read(code, "big") ^ wanted).bit_count() for (code,) in struct.iter_unpack(f"{len(question)}s", codes)]


def expected_closeness(difference: float, numbers: int) -> float:
    """The cosine that goes with so many different signs, as for random hyperplanes (Charikar, 2002)."""
    return cos(pi * difference / numbers) if numbers else 0.0
