"""An example of an extension: a kind of file, a verb that shows it, a step that counts it, a section of context."""

from __future__ import annotations

from clawmem.extension import Extension

EXTENSION = Extension(
    name="birthdays",
    verbs={"birthdays": "clawmem_birthdays_parts"},
    help={"birthdays": "List the birthdays in life/birthdays.json."},
    kinds="clawmem_birthdays_parts:KINDS",
    steps="clawmem_birthdays_parts:STEPS",
    context=("clawmem_birthdays_parts:sections",),
)
