"""Limits on reading what other people, machines or programs wrote. Anything beyond a limit counts as unreadable."""

from __future__ import annotations

from clawmem.errors import Unreadable

# Nesting levels of lists and objects, in JSON and in YAML.
JSON_DEPTH = 64
YAML_DEPTH = 32
# Longer whole numbers do not fit into a float, and many JSON readers use floats for all numbers.
NUMBER_DIGITS = 300
# A counter must fit into SQLite's 64 bits.
LARGEST_NUMBER = 2**63 - 1
# Number of lists, objects and values in one JSON text: each takes memory, even in a short text.
JSON_VALUES = 2_000_000
# YAML repeats the target of an alias, and aliases of aliases multiply.
YAML_ALIASES = 8
YAML_BYTES = 1 << 20
# A longer plain scalar that starts like a number is not a number; parsing it as one can take quadratic time.
YAML_NUMBER = 4_000
# One file of facts, or another JSON file of a vault.
JSON_BYTES = 32 << 20
# One page, or any other text file of a vault.
TEXT_BYTES = 32 << 20
# One day of a ledger.
LEDGER_BYTES = 256 << 20
# No file has a lower limit, so a smaller file need not be compared with the limit of its kind.
LOWEST_FILE_LIMIT = YAML_BYTES
# One event: a line of a ledger, and the text of one ingested message.
LEDGER_LINE_BYTES = 32 << 20
MESSAGE_CHARACTERS = 4_000_000
# One line, or one JSON document, of a transcript.
RECORD_BYTES = 16 << 20
# A question to `recall` or `context`.
QUESTION_CHARACTERS = 100_000
# The manifest of a backup.
MANIFEST_BYTES = 16 << 20


def beyond_limit(what: str, number: int, most: int, unit: str) -> str:
    """Return the message, without its end, for a value beyond a limit."""
    return f"{what} has {number:,} {unit}; the limit is {most:,}"


class UnreadFile(bytes):
    """Stands for the contents of a file beyond its limit, which were not read.

    `blob` is git's name for the contents, `size` their length and `limit` the most that are read, both in bytes. As
    bytes it is text in no encoding, JSON or YAML, and equal for equal contents, so that no parser accepts it and
    comparisons still work.
    """

    blob: str
    size: int
    limit: int

    @classmethod
    def of(cls, blob: str, size: int, limit: int) -> UnreadFile:
        """Return what stands for a blob."""
        made = cls(f"\0{blob}\0".encode() + b"\xff")
        made.blob, made.size, made.limit = blob, size, limit
        return made


def refuse_unread(data: bytes | None, path: str) -> None:
    """Raise Unreadable if these are contents beyond their limit."""
    if isinstance(data, UnreadFile):
        raise Unreadable(path, None, beyond_limit("it", data.size, data.limit, "bytes"))
