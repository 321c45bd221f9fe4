"""Find a text in data in all the forms in which files and git objects can contain it.

The data is searched as it is and after decoding each layer of escapes: backslash escapes as JSON, YAML and git write
them (one layer for each string inside a string), and percent escapes. Matches are positions in the original data and
cover whole escapes, so that JSON stays valid when the text is removed.
"""

from __future__ import annotations

import base64
import re
import unicodedata
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from itertools import accumulate

from clawmem.model.named_tuple import NamedTuple

CUT = "…".encode()
SHORTEST_CUT = 6
# Text can be escaped repeatedly; deeper nesting does not occur in practice.
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
"""Start and end (exclusive) in bytes."""


class Needle(NamedTuple):
    """The patterns of one form of a text: of the whole text, and of each letter, to find a text that was cut off."""

    whole: re.Pattern[bytes]
    letters: tuple[bytes, ...]

    @property
    def head(self) -> re.Pattern[bytes]:
        """Return the pattern of the first letters of a text that was cut off."""
        return re.compile(b"".join(self.letters[:SHORTEST_CUT]))


@lru_cache(maxsize=64)
def compile_needles(texts: tuple[str, ...]) -> tuple[Needle, ...]:
    """Return every form of the texts apart from escapes, the longest first.

    The forms are: as given, in lower case, composed and decomposed, with other line breaks, and in base64.
    """
    found: dict[str, None] = {}
    group = {name for text in texts for name in (text, text.casefold())}
    for text in sorted(group, key=lambda name: (-len(name), name)):
        words = unicodedata.normalize("NFC", " ".join(text.split()))
        if words:
            found[words] = None
    forms = [_needle(text) for text in found]
    plain = [unicodedata.normalize(normal, other_text) for other_text in (*texts, *found) for normal in ("NFC", "NFD")]
    return (
        *forms,
        *(Needle(re.compile(re.escape(data)), ()) for way in dict.fromkeys((*texts, *plain)) for data in _encoded(way)),
    )


def _needle(text: str) -> Needle:
    letters = tuple(_letter(name) for name in text)
    # Match a run of blanks from its start only; else this takes quadratic time.
    start = rb"(?<![ \t\r\n])" if text[0] == " " else b""
    return Needle(re.compile(start + b"".join(letters)), letters)


def _letter(letter: str) -> bytes:
    """Return the pattern of one letter: composed, decomposed, or in Latin-1 as in old messages."""
    if letter == " ":
        return _SPACE
    if letter == "'":
        return b"'{1,2}+"  # YAML doubles it between single quotes
    if letter.isascii():
        return re.escape(letter.encode())
    ways = [letter.encode(errors="surrogatepass"), unicodedata.normalize("NFD", letter).encode(errors="surrogatepass")]
    found = [re.escape(way) for way in dict.fromkeys(ways)]
    if ord(letter) < 256:
        # A single byte that is not part of a longer character.
        found.append(rb"(?<![\x80-\xff])" + re.escape(letter.encode("latin-1")) + rb"(?![\x80-\xbf])")
    return b"(?:" + b"|".join(found) + b")"


def _encoded(text: str) -> Iterator[bytes]:
    """Yield the text in base64 at each of the three alignments, and in hexadecimal digits."""
    data = text.encode(errors="surrogatepass")
    for shift in range(3):
        whole = base64.b64encode(b"\0" * shift + data)
        # Only the base64 characters that do not depend on neighbouring text.
        last = (shift + len(data)) * 4 // 3
        inner = whole[-(-shift * 4 // 3) : last]
        yield from dict.fromkeys((inner, inner.translate(bytes.maketrans(b"+/", b"-_"))))
    yield data.hex().encode()
    yield data.hex().upper().encode()


def find_spans(data: bytes, wanted: Sequence[Needle]) -> list[Span]:
    """Return where the data contains the texts in any form, in order and without overlaps."""
    found: list[Span] = []
    for layer, read in _layers(data):
        here = [span for needle in wanted for span in _in_layer(layer, needle)]
        if here:
            found += _back(data, read, here) if read else [_whole_escapes(data, *span) for span in here]
    return _merged(found)


def contains(data: bytes, wanted: Sequence[Needle]) -> bool:
    """Return whether the data contains one of the texts in any form, or the beginning of one that was cut off."""
    return any(next(_in_layer(layer, needle), None) for layer, _ in _layers(data) for needle in wanted)


def replace_needles(data: bytes, wanted: Sequence[Needle], mark: bytes) -> bytes:
    """Return the data with each of the texts replaced by the mark."""
    pieces, number = [], 0
    for start, end in find_spans(data, wanted):
        pieces += [data[number:start], mark]
        number = end
    return b"".join([*pieces, data[number:]]) if pieces else data


def _layers(data: bytes) -> Iterator[tuple[bytes, tuple[re.Pattern[bytes], ...]]]:
    """Yield the data and each layer below its escapes, with the patterns that were decoded on the way."""
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
    """Return what an escape stands for."""
    data = match[0]
    if data[:1] == b"%":
        return bytes.fromhex(data[1:].decode())
    kind, rest = data[1:2], data[2:]
    if kind == b"u" and rest:
        return _character("".join(chr(int(word, 16)) for word in rest.split(rb"\u")))
    if kind == b"U" and rest:
        return _character(chr(int(rest, 16))) if int(rest, 16) < 0x110000 else data
    if kind == b"x" and rest:
        return _character(chr(int(rest, 16)))
    if kind.isdigit() and rest:
        return bytes([int(data[1:], 8)])
    if kind in b"\r\n":
        return b""
    return _SHORT.get(kind, kind)


def _character(text: str) -> bytes:
    # Join surrogate pairs into one character.
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "surrogatepass").encode(errors="surrogatepass")


def _back(data: bytes, read: Sequence[re.Pattern[bytes]], found: Iterable[Span]) -> list[Span]:
    """Map spans of a layer to spans of the data; a partly covered escape is included as a whole."""
    steps: list[list[tuple[int, int, int, int]]] = []
    for pattern in read:
        pieces: list[bytes] = []
        step: list[tuple[int, int, int, int]] = []
        number = size = 0
        for match in pattern.finditer(data):
            new = _plain(match)
            size += match.start() - number
            step.append((size, size + len(new), match.start(), match.end()))
            pieces += [data[number : match.start()], new]
            number, size = match.end(), size + len(new)
        data = b"".join([*pieces, data[number:]])
        steps.append(step)
    spans_here = sorted(found)
    for step in reversed(steps):
        spans_here = [_before(step, span) for span in spans_here]
    return spans_here


def _before(step: Sequence[tuple[int, int, int, int]], span: Span) -> Span:
    def place(at: int, is_end: bool) -> int:
        number = bisect_right(step, at - is_end, key=lambda pair: pair[0]) - 1
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
    """Extend a span to whole escapes, because the rest of a partly removed escape is invalid JSON."""
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
    """Return where the beginning of a text ends before the sign for cut text, or None."""
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
