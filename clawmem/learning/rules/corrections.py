"""Corrections: a value stated together with the wrong one ("Marc, not Max")."""

from __future__ import annotations

import re

CORRECTION = "correction"


def is_specific(text: str) -> bool:
    """Return whether a value contains a capital letter or a digit."""
    return re.search(r"[A-Z\d]", text) is not None
