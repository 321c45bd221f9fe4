"""British and American spelling of words."""

from __future__ import annotations

import re

_STEMS = r"(?P<stem>favo|colo|flavo|neighbo|humo)"
_ENDS = r"(?=(?:s|ites?|ed|ing|ful)?\b)"
_BRITISH = re.compile(rf"\b{_STEMS}ur{_ENDS}", re.IGNORECASE)
_AMERICAN = re.compile(rf"\b{_STEMS}r{_ENDS}", re.IGNORECASE)


def other_spellings(text: str) -> tuple[str, ...]:
    """Return the text in British and American spelling, without its own spelling."""
    ways = (_BRITISH.sub(r"\g<stem>r", text), _AMERICAN.sub(r"\g<stem>ur", text))
    return tuple(way for way in ways if way != text)
