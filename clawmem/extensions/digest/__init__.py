"""Digest: long texts become claims, and cold facts of one topic become one."""

from clawmem.extension import Extension

_HERE = "clawmem.extensions.digest"

EXTENSION = Extension(
    name="digest",
    verbs={"digest": f"{_HERE}.verbs"},
    steps=f"{_HERE}.steps:STEPS",
    answers={"digestion": f"{_HERE}.digest:digestion", "condensation": f"{_HERE}.condense:condensation"},
)
