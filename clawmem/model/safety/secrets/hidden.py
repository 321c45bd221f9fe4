"""Undo what hides a credential: escaped quotes, invisible characters, wide letters, broken lines and percent signs."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterator
from typing import NamedTuple

from clawmem.model.safety.secrets.find import ESCAPED, INVISIBLE, candidate_rules

_HIDDEN = re.compile(f"[{INVISIBLE}]+")
_BEFORE_QUOTE = re.compile(r'\\(?=")')
_WIDE = re.compile(r"[\uff01-\uff5e]+")
_BREAK = re.compile(r"(?<=[A-Za-z0-9_+/=-])(?:\\?\r?\n|\\n)[ \t]{0,8}(?=[A-Za-z0-9_+/=-])")
_PERCENT = re.compile(r"%[2-7][0-9A-Fa-f]")


class TextForm(NamedTuple):
    """A text in another form, and for each of its characters the position in the original text."""

    text: str
    places: list[int]


def plain_forms(text: str) -> Iterator[TextForm]:
    """Yield the text with plain quotes, then without invisible characters and with plain letters for wide ones."""
    if ESCAPED in text:
        yield _without(_whole(text), _BEFORE_QUOTE, _nothing)
    wide = None if text.isascii() else _WIDE.search(text)
    hidden = None if text.isascii() else _HIDDEN.search(text)
    if hidden or wide:
        form = _without(_whole(text), _HIDDEN, _nothing)
        yield _without(form, _WIDE, lambda found: unicodedata.normalize("NFKC", found))


def joined_forms(text: str) -> Iterator[tuple[TextForm, tuple[str, ...]]]:
    """Yield the text with joined lines, and the text without percent-encoding, each with the rules to look for.

    Only these rules apply, because joined lines form words that nobody wrote.
    """
    for pattern, change in ((_BREAK, _nothing), (_PERCENT, _decoded)):
        if pattern.search(text):
            asked = candidate_rules(_changed(text, pattern, change))
            if asked:
                yield _without(_whole(text), pattern, change), asked


def _changed(text: str, pattern: re.Pattern[str], change: Callable[[str], str]) -> str:
    return pattern.sub(lambda match: change(match[0]), text)


def _nothing(_: str) -> str:
    return ""


def _decoded(escape: str) -> str:
    return chr(int(escape[1:], 16))


def _whole(text: str) -> TextForm:
    return TextForm(text, list(range(len(text) + 1)))


def _without(form: TextForm, pattern: re.Pattern[str], change: Callable[[str], str]) -> TextForm:
    pieces: list[str] = []
    places: list[int] = []
    number = 0
    for match in pattern.finditer(form.text):
        new = change(match[0])
        pieces += [form.text[number : match.start()], new]
        places += form.places[number : match.start()]
        # Wide letters keep their positions; a decoded escape is at the start of the escape.
        places += [form.places[match.start() + (n if len(new) == len(match[0]) else 0)] for n in range(len(new))]
        number = match.end()
    pieces.append(form.text[number:])
    return TextForm("".join(pieces), places + form.places[number:])
