"""How much is read of what another person, machine or program wrote. What goes beyond a bound counts as unreadable."""

from __future__ import annotations

# Levels of lists and objects within each other, in JSON and in YAML.
JSON_DEPTH = 64
YAML_DEPTH = 32
# Longer whole numbers are no float either, and many readers of JSON read all numbers as floats.
NUMBER_DIGITS = 300
# A counter must fit into the 64 bits that SQLite has for it.
LARGEST_NUMBER = 2**63 - 1
# Lists, objects and the values in them, in one JSON text: each takes memory, however short its text is.
JSON_VALUES = 2_000_000
# YAML repeats what an alias names, and aliases of aliases multiply.
YAML_ALIASES = 8
YAML_BYTES = 1 << 20
# A longer plain scalar that begins like a number is none; reading it as one can take quadratic time.
YAML_NUMBER = 4_000
# One file of facts, or any other JSON file of a vault.
JSON_BYTES = 32 << 20
# One page, or any other text file of a vault.
TEXT_BYTES = 32 << 20
# One event: a line of a ledger, and the text of one message that is taken in.
LEDGER_LINE_BYTES = 32 << 20
MESSAGE_CHARACTERS = 4_000_000
# One line, or one JSON document, of a transcript.
RECORD_BYTES = 16 << 20
# A question to `recall` or `context`.
QUESTION_CHARACTERS = 100_000
# The description in a backup of what the backup holds.
MANIFEST_BYTES = 16 << 20


def beyond(what: str, number: int, most: int, unit: str) -> str:
    """The sentence, without its end, for something that goes beyond a bound."""
    return f"{what} has {number:,} {unit}; {most:,} is the most"
