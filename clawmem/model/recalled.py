"""Text that came out of this memory: marked when it is given out, known again when it comes back."""

from __future__ import annotations

import re

OPENING = "<clawmem-context>"
CLOSING = "</clawmem-context>"
_BLOCK = re.compile(re.escape(OPENING) + r".*?(?:" + re.escape(CLOSING) + r"|\Z)", re.DOTALL)


def wrapped(text: str) -> str:
    """Served text between the marks by which it is known again."""
    return f"{OPENING}\n{text}\n{CLOSING}"


def is_recalled(text: str) -> bool:
    """Whether a text is nothing but recalled context."""
    return OPENING in text and not _BLOCK.sub("", text).strip()


def masked(text: str) -> str:
    """The text with recalled blocks blanked out, every other character in its place."""
    return _BLOCK.sub(lambda block: "".join("\n" if character == "\n" else " " for character in block[0]), text)
