"""Find the line of a key in YAML text, for messages."""

from __future__ import annotations

import re


def line_of_key(text: str, key: str) -> int | None:
    """Return the line on which the last part of a dotted key stands below the parts before it, or None."""
    line: int | None = None
    lines = text.split("\n")
    for part in key.split("."):
        start = line or 0
        wanted = re.compile(rf"""\s*['"]?{re.escape(part)}['"]?\s*:""")
        line = next((number for number in range(start + 1, len(lines) + 1) if wanted.match(lines[number - 1])), None)
        if line is None:
            return None
    return line
