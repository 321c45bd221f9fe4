"""Marks the words of a question in a text."""

from __future__ import annotations

import re
from collections.abc import Collection

from markupsafe import Markup, escape

from clawmem.model.language.text import visible

_WORD = re.compile(r"\w+")


def marked(text: str, words: Collection[str]) -> Markup:
    """Return the text as HTML, with each word that is one of `words` (in lower case) in a mark element."""
    parts, done = [], 0
    for match in _WORD.finditer(text):
        if match[0].casefold() in words:
            parts += [_escaped(text[done : match.start()]), Markup("<mark>"), _escaped(match[0]), Markup("</mark>")]
            done = match.end()
    return Markup("").join([*parts, _escaped(text[done:])])


def _escaped(text: str) -> Markup:
    return escape(visible(text))
