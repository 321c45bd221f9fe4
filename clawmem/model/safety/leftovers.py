"""Check after a redaction that data no longer contains a text, by meaning rather than by spelling.

The check shares no code with the search before it (`written_forms`). It parses JSON and looks at every string,
including JSON inside strings. It compares other text without backslashes and white space, which escapes may add or
remove. Such a check reports rather too much than too little.
"""

from __future__ import annotations

import base64
import html
import json
import re
import unicodedata
from collections.abc import Iterable, Iterator
from contextlib import suppress
from functools import lru_cache
from typing import Any

_DEEPEST = 24
_SHORTEST_CUT = 6
_CUT = "…"
# Match a run of backslashes from its start only; else this takes quadratic time.
_CODE = re.compile(r"(?<!\\)\\++(?:u([0-9a-fA-F]{4})|x([0-9a-fA-F]{2})|U([0-9a-fA-F]{8}))")
_PERCENT = re.compile(rb"%([0-9a-fA-F]{2})")
_OCTAL = re.compile(rb"\\([0-3][0-7]{2})")
_CONTROL = re.compile(r"(?<!\\)\\++[nrtbf]")
_SKIPPED = re.compile(r"[\\\s\u00a0]+")
_RUN = r"[A-Za-z0-9+/_-]"
_LONGEST_BASE64 = 1 << 20


def contains_text(data: bytes, texts: tuple[str, ...]) -> bool:
    """Return whether one of the texts can be read from the data."""
    wanted = tuple(dict.fromkeys(bare for text in texts for bare in (_bare(text), _bare(text.casefold())) if bare))
    return any(_says(text, wanted) for text in _readings(data)) or _is_encoded(data, wanted)


@lru_cache(maxsize=16)
def _bare(text: str) -> str:
    """Return the text without the characters that vary between spellings."""
    return _SKIPPED.sub("", unicodedata.normalize("NFC", text)).replace("''", "'")


def _says(text: str, wanted: Iterable[str]) -> bool:
    bare = _bare(text)
    return any(name in bare for name in wanted) or (_CUT in bare and any(_is_cut(bare, name) for name in wanted))


def _is_cut(bare: str, text: str) -> bool:
    """Return whether the data has a beginning of the text, followed by the sign for cut text."""
    for piece in bare.split(_CUT)[:-1]:
        tail = piece[-len(text) :]
        start = tail.rfind(text[:_SHORTEST_CUT])
        while start >= 0:
            if text.startswith(tail[start:]) and len(text) > _SHORTEST_CUT:
                return True
            start = tail.rfind(text[:_SHORTEST_CUT], 0, start + _SHORTEST_CUT - 1)
    return False


def _readings(data: bytes) -> Iterator[str]:
    """Yield what the data says: as text, as JSON strings, and with escapes decoded."""
    text = data.decode(errors="surrogateescape")
    yield text
    if not data.isascii():
        yield data.decode("latin-1")
    yield from _strings_of(text)
    if "\\" in text:
        plain = _CODE.sub(_character, text)
        joined = plain.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
        yield joined
        yield _CONTROL.sub(" ", joined)
        yield _OCTAL.sub(lambda match: bytes([int(match[1], 8)]), data).decode(errors="replace")
    if "&" in text:
        yield html.unescape(text)
    for _ in range(3):
        if "%" not in text:
            return
        data = _PERCENT.sub(lambda match: bytes([int(match[1], 16)]), text.encode(errors="surrogateescape"))
        text = data.decode(errors="surrogateescape")
        yield text


def _character(match: re.Match[str]) -> str:
    number = int(match[1] or match[2] or match[3], 16)
    return chr(number) if number < 0x110000 else match[0]


def _strings_of(text: str) -> Iterator[str]:
    """Yield every string in JSON or JSON lines, including strings inside JSON strings."""
    waiting: list[tuple[Any, int]] = [(value, 0) for value in _parsed(text)]
    while waiting:
        value, depth = waiting.pop()
        if isinstance(value, dict):
            waiting += [(key, depth) for key in (*value.keys(), *value.values())]
        elif isinstance(value, list):
            waiting += [(other, depth) for other in value]
        elif isinstance(value, str):
            yield value
            if depth < _DEEPEST and value.lstrip()[:1] in ("{", "[", '"'):
                waiting += [(other, depth + 1) for other in _parsed(value)]


def _parsed(text: str) -> Iterator[Any]:
    if text.lstrip()[:1] not in ("{", "[", '"'):
        return
    try:
        yield json.loads(text)
        return
    except (ValueError, RecursionError):
        pass
    for line in text.splitlines():
        try:
            yield json.loads(line.strip().rstrip(","))
        except (ValueError, RecursionError):
            continue


def _is_encoded(data: bytes, wanted: Iterable[str]) -> bool:
    """Return whether a run of base64 or hexadecimal digits encodes one of the texts."""
    shortest = min((len(text.encode(errors="surrogatepass")) for text in wanted), default=6)
    # A base64 run shorter than the encoded text cannot contain it.
    for match in re.finditer(f"{_RUN}{{{shortest * 4 // 3},}}", data.decode("latin-1")):
        run = match[0][:_LONGEST_BASE64]
        for plain in _decoded(run):
            if _says(plain.decode(errors="replace"), wanted):
                return True
    return False


def _decoded(run: str) -> Iterator[bytes]:
    letters = run[:-1] if len(run) % 4 == 1 else run
    padded = letters + "=" * (-len(letters) % 4)
    with suppress(ValueError):
        yield base64.b64decode(padded.replace("-", "+").replace("_", "/"), validate=True)
    with suppress(ValueError):
        yield bytes.fromhex(run[: len(run) // 2 * 2])
