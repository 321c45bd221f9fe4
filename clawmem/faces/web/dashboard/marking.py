"""Marks the words of a question in a text."""

from __future__ import annotations

import re
from collections.abc import Collection

from markupsafe import Markup, escape

from clawmem.model.language.text import visible

_WORD = re.compile(r"\w+")
_LONG = 3


def marked(text: str, words: Collection[str]) -> Markup:
    """Return the text as HTML, with each word that is one of `words` (in lower case), or begins with a long one, in a
    mark element."""
    begins, parts, done = tuple(one for one in words if len(one) >= _LONG), [], 0
    for match in _WORD.finditer(text):
        word = match[0].lower()
        if word in words or word.startswith(begins):
            parts += [_escaped(text[done : match.start()]), Markup("<mark>"), _escaped(match[0]), Markup("</mark>")]
            done = match.end()
    return Markup("").join([*parts, _escaped(text[done:])])


def _escaped(text: str) -> Markup:
    return escape(visible(text))
