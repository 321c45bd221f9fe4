"""The ways in which one text can be written in a file or an object of git, and where it stands in any of them.

Data is searched as it is, and again after each layer of escapes has been read: backslashes as JSON, YAML and git write
them (once for each string that holds another one), and percent signs. What is found is known by its bytes in the data
itself, whole escapes only, so that a text of JSON stays one when it is taken out.
"""

from __future__ import annotations

import base64
import re
import unicodedata
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from itertools import accumulate
from typing import NamedTuple

CUT = "…".encode()
SHORTEST_CUT = 6
# A text can be escaped again and again; more often than this nobody does.
_DEEPEST = 8
_MOST_LAYERS = 24
_LONGEST_ESCAPE = 12
_BACKSLASHES = re.compile(
    rb"\\(?:u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|u[0-9a-fA-F]{4}|U[0-9a-fA-F]{8}|x[0-9a-fA-F]{2}"
    rb"|[0-3][0-7]{2}|\r?\n[ \t]*|[^\r\n])"
)
_PERCENTS = re.compile(rb"%[0-9a-fA-F]{2}")
_SHORT = {b"n": b"\n", b"t": b"\t", b"r": b"\r", b"b": b"\b", b"f": b"\f", b"0": b"\0", b"a": b"\a", b"v": b"\v"}
_SPACE = rb"(?:[ \t\r\n\x0b\x0c]|\xc2\xa0)++"
Span = tuple[int, int]
"""The bytes from one place up to another."""


class Needle(NamedTuple):
    """One form of a text: the pattern of all of it, and those of its letters one by one, for where it was cut off."""

    whole: re.Pattern[bytes]
    letters: tuple[bytes, ...]

    @property
    def head(self) -> re.Pattern[bytes]:
        """The pattern of what a cut off text begins with."""
        return re.compile(b"".join(self.letters[:SHORTEST_CUT]))


@lru_cache(maxsize=64)
def needles(texts: tuple[str, ...]) -> tuple[Needle, ...]:
    """Every form of the texts that is no matter of escapes: as given, in small letters, composed and decomposed, on any
    lines, and in base64; the longest first."""
    found: dict[str, None] = {}
    given = {one for text in texts for one in (text, text.casefold())}
    for text in sorted(given, key=lambda one: (-len(one), one)):
        words = unicodedata.normalize("NFC", " ".join(text.split()))
        if words:
            found[words] = None
    forms = [_needle(text) for text in found]
    plain = [unicodedata.normalize(normal, one) for one in (*texts, *found) for normal in ("NFC", "NFD")]
    return (*forms, *(_literal(one) for way in dict.fromkeys((*texts, *plain)) for one in _encoded(way)))


def _needle(text: str) -> Needle:
    letters = tuple(_letter(one) for one in text)
    # A run of blanks or backslashes is entered at its beginning only, or its length would count twice.
    start = rb"(?<![ \t\r\n])" if text[0] == " " else b""
    return Needle(re.compile(start + b"".join(letters)), letters)


def _literal(data: bytes) -> Needle:
    return Needle(re.compile(re.escape(data)), ())


def _letter(letter: str) -> bytes:
    """The pattern of one letter: composed or not, and of old messages in Latin-1."""
    if letter == " ":
        return _SPACE
    if letter == "'":
        return b"'{1,2}+"  # YAML doubles it between single quotes
    if letter.isascii():
        return re.escape(letter.encode())
    ways = [letter.encode(errors="surrogatepass"), unicodedata.normalize("NFD", letter).encode(errors="surrogatepass")]
    found = [re.escape(way) for way in dict.fromkeys(ways)]
    if ord(letter) < 256:
        # A single byte, and no part of a longer character.
        found.append(rb"(?<![\x80-\xff])" + re.escape(letter.encode("latin-1")) + rb"(?![\x80-\xbf])")
    return b"(?:" + b"|".join(found) + b")"


def _encoded(text: str) -> Iterator[bytes]:
    """The text in base64, wherever in a longer one it begins, and as hexadecimal digits."""
    data = text.encode(errors="surrogatepass")
    for shift in range(3):
        whole = base64.b64encode(b"\0" * shift + data)
        # Only letters that depend on nothing beside the text.
        last = (shift + len(data)) * 4 // 3
        inner = whole[-(-shift * 4 // 3) : last]
        yield from dict.fromkeys((inner, inner.translate(bytes.maketrans(b"+/", b"-_"))))
    yield data.hex().encode()
    yield data.hex().upper().encode()


def spans(data: bytes, wanted: Sequence[Needle]) -> list[Span]:
    """Where the texts stand in the data, in any form, in order and apart."""
    found: list[Span] = []
    for layer, read in _layers(data):
        here = [span for needle in wanted for span in _in_layer(layer, needle)]
        if here:
            found += _back(data, read, here) if read else [_whole_escapes(data, *span) for span in here]
    return _merged(found)


def holds(data: bytes, wanted: Sequence[Needle]) -> bool:
    """Whether one of the texts stands in the data in any form, or the beginning of one that was cut off."""
    return any(next(_in_layer(layer, needle), None) for layer, _ in _layers(data) for needle in wanted)


def without(data: bytes, wanted: Sequence[Needle], mark: bytes) -> bytes:
    """The data with the mark for each of the texts."""
    pieces, done = [], 0
    for start, end in spans(data, wanted):
        pieces += [data[done:start], mark]
        done = end
    return b"".join([*pieces, data[done:]]) if pieces else data


def _layers(data: bytes) -> Iterator[tuple[bytes, tuple[re.Pattern[bytes], ...]]]:
    """The data as it is and after escapes were read, each with what was read on the way there."""
    waiting: list[tuple[bytes, tuple[re.Pattern[bytes], ...]]] = [(data, ())]
    known = {data}
    while waiting:
        layer, read = waiting.pop(0)
        yield layer, read
        if len(known) > _MOST_LAYERS or len(read) >= _DEEPEST:
            continue
        for sign, pattern in ((b"\\", _BACKSLASHES), (b"%", _PERCENTS)):
            if sign in layer:
                deeper = pattern.sub(_plain, layer)
                if deeper not in known:
                    known.add(deeper)
                    waiting.append((deeper, (*read, pattern)))


def _plain(match: re.Match[bytes]) -> bytes:
    """What one escape stands for."""
    given = match[0]
    if given[:1] == b"%":
        return bytes.fromhex(given[1:].decode())
    kind, rest = given[1:2], given[2:]
    if kind == b"u" and rest:
        return _character("".join(chr(int(one, 16)) for one in rest.split(rb"\u")))
    if kind == b"U" and rest:
        return _character(chr(int(rest, 16))) if int(rest, 16) < 0x110000 else given
    if kind == b"x" and rest:
        return _character(chr(int(rest, 16)))
    if kind.isdigit() and rest:
        return bytes([int(given[1:], 8)])
    if kind in b"\r\n":
        return b""
    return _SHORT.get(kind, kind)


def _character(text: str) -> bytes:
    # Two halves of a pair become the one character they stand for.
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "surrogatepass").encode(errors="surrogatepass")


def _back(data: bytes, read: Sequence[re.Pattern[bytes]], found: Iterable[Span]) -> list[Span]:
    """Spans of a layer as spans of the data: whole escapes, where one stands at their border."""
    steps: list[list[tuple[int, int, int, int]]] = []
    for pattern in read:
        pieces: list[bytes] = []
        step: list[tuple[int, int, int, int]] = []
        done = size = 0
        for match in pattern.finditer(data):
            new = _plain(match)
            size += match.start() - done
            step.append((size, size + len(new), match.start(), match.end()))
            pieces += [data[done : match.start()], new]
            done, size = match.end(), size + len(new)
        data = b"".join([*pieces, data[done:]])
        steps.append(step)
    spans_here = sorted(found)
    for step in reversed(steps):
        spans_here = [_before(step, span) for span in spans_here]
    return spans_here


def _before(step: Sequence[tuple[int, int, int, int]], span: Span) -> Span:
    def place(at: int, is_end: bool) -> int:
        number = bisect_right(step, at - is_end, key=lambda one: one[0]) - 1
        if number < 0:
            return at
        _, new_end, old_start, old_end = step[number]
        if is_end:
            return old_end if at <= new_end else old_end + at - new_end
        return old_start if at < new_end else old_end + at - new_end

    return place(span[0], False), place(span[1], True)


def _in_layer(layer: bytes, needle: Needle) -> Iterator[Span]:
    for match in needle.whole.finditer(layer):
        yield match.span()
    if CUT in layer and len(needle.letters) > SHORTEST_CUT:
        for match in needle.head.finditer(layer):
            end = _cut_end(layer, match.end(), needle.letters[SHORTEST_CUT:])
            if end is not None:
                yield match.start(), end


def _whole_escapes(layer: bytes, start: int, end: int) -> Span:
    """The span with the escapes that it only cuts into: what is left of one would be no text of JSON any more."""
    for place in (start, end):
        sign = layer.rfind(b"\\", max(0, place - _LONGEST_ESCAPE), place)
        run = sign
        while run >= 0 and layer[run : run + 1] == b"\\":
            run -= 1
        match = _BACKSLASHES.match(layer, sign) if sign >= 0 and (sign - run) % 2 else None
        if match and match.start() < place < match.end():
            start, end = min(start, match.start()), max(end, match.end())
    return start, end


def _cut_end(layer: bytes, place: int, letters: Sequence[bytes]) -> int | None:
    """Where the beginning of a text ends before the sign that something was cut."""
    for letter in letters:
        if layer.startswith(CUT, place):
            return place
        match = re.compile(letter).match(layer, place)
        if match is None:
            return None
        place = match.end()
    return None


def _merged(found: Iterable[Span]) -> list[Span]:
    ordered = sorted(found)
    ends = accumulate((end for _, end in ordered), max)
    merged: list[Span] = []
    for (start, _), end in zip(ordered, ends, strict=True):
        if merged and start < merged[-1][1]:
            merged[-1] = (merged[-1][0], end)
        else:
            merged.append((start, end))
    return merged
