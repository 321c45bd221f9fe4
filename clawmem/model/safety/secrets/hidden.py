"""Texts with what hides a credential taken away: invisible characters, wide letters, broken lines, percent signs."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterator
from typing import NamedTuple

from clawmem.model.safety.secrets.find import INVISIBLE, rules_in_question

_HIDDEN = re.compile(f"[{INVISIBLE}]+")
_WIDE = re.compile(r"[\uff01-\uff5e]+")
_BREAK = re.compile(r"(?<=[A-Za-z0-9_+/=-])(?:\\?\r?\n|\\n)[ \t]{0,8}(?=[A-Za-z0-9_+/=-])")
_PERCENT = re.compile(r"%[2-7][0-9A-Fa-f]")


class Form(NamedTuple):
    """A text in another form, and for each of its characters where that stood before."""

    text: str
    places: list[int]


def forms(text: str) -> Iterator[Form]:
    """The text without invisible characters and with plain letters for wide ones."""
    wide = None if text.isascii() else _WIDE.search(text)
    hidden = None if text.isascii() else _HIDDEN.search(text)
    if hidden or wide:
        form = _without(_whole(text), _HIDDEN, _nothing)
        yield _without(form, _WIDE, lambda found: unicodedata.normalize("NFKC", found))


def broken_forms(text: str) -> Iterator[tuple[Form, tuple[str, ...]]]:
    """The text with its lines joined, and without percent-encoding, each with the rules of shape that it asks for. Only
    those are looked for, as joined lines make words that nobody wrote."""
    for pattern, change in ((_BREAK, _nothing), (_PERCENT, _decoded)):
        if pattern.search(text):
            asked = rules_in_question(_changed(text, pattern, change))
            if asked:
                yield _without(_whole(text), pattern, change), asked


def _changed(text: str, pattern: re.Pattern[str], change: Callable[[str], str]) -> str:
    return pattern.sub(lambda match: change(match[0]), text)


def _nothing(_: str) -> str:
    return ""


def _decoded(escape: str) -> str:
    return chr(int(escape[1:], 16))


def _whole(text: str) -> Form:
    return Form(text, list(range(len(text) + 1)))


def _without(form: Form, pattern: re.Pattern[str], change: Callable[[str], str]) -> Form:
    pieces: list[str] = []
    places: list[int] = []
    done = 0
    for match in pattern.finditer(form.text):
        new = change(match[0])
        pieces += [form.text[done : match.start()], new]
        places += form.places[done : match.start()]
        # Wide letters keep their count; an escape stands where it began.
        places += [form.places[match.start() + (n if len(new) == len(match[0]) else 0)] for n in range(len(new))]
        done = match.end()
    pieces.append(form.text[done:])
    return Form("".join(pieces), places + form.places[done:])
