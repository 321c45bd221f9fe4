"""Search a text for the rules that could match, in its original and its normalized forms."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from functools import cache

from clawmem.model.safety.injection.forgeries import FORGERIES
from clawmem.model.safety.injection.orders import ORDERS_BY_RULE

_LONGEST_SHOWN = 80
_PATTERNS: Mapping[str, Sequence[str]] = {**FORGERIES, **ORDERS_BY_RULE}
_MANY_LINES = frozenset(("hidden-page-part",))


def all_patterns() -> Mapping[str, Sequence[str]]:
    """Return the regular expressions of every rule."""
    return _PATTERNS


def search(forms: Collection[str], rules: Collection[str]) -> tuple[str, str] | None:
    """Return the first rule that matches one of the forms, and the matching words, or None."""
    for form in forms:
        for rule in rules:
            flags = re.IGNORECASE | re.MULTILINE | (re.DOTALL if rule in _MANY_LINES else 0)
            for pattern in _PATTERNS[rule]:
                match = _compiled(pattern, flags).search(form)
                if match:
                    return rule, _shown(match[0])
    return None


@cache
def _compiled(pattern: str, flags: int) -> re.Pattern[str]:
    """Compile a pattern on first use; compiling all of them would take 25 ms."""
    return re.compile(pattern, flags)


def _shown(words: str) -> str:
    line = " ".join("".join(letter if letter.isprintable() else "\ufffd" for letter in words).split())
    return line if len(line) <= _LONGEST_SHOWN else line[: _LONGEST_SHOWN - 1].rstrip() + "…"
