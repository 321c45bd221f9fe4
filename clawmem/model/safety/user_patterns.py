"""Regular expressions from files that people and agents write: those that could take very long are refused.

Python's `re` backtracks. A repetition within a repetition, and alternatives that begin alike within one, can take time
that is exponential in the length of the text. Without them, the time grows with a power of the length, which is the
number of open repetitions.
"""

from __future__ import annotations

import re
import re._constants as kinds  # type: ignore[import-not-found] # the only reader of patterns in the standard library
import re._parser as parser  # type: ignore[import-not-found]
import warnings
from typing import Any

from clawmem.errors import InvalidInput

LONGEST_PATTERN = 1000
_MOST_OPEN, _MOST_WAYS = 3, 4096
# A repetition with more possible counts than this is as good as open.
_WIDE = 16
_REPEATS = frozenset((kinds.MAX_REPEAT, kinds.MIN_REPEAT, kinds.POSSESSIVE_REPEAT))
_HINT = "Write it with one level of repetition, such as [a-z. ]+ instead of ([a-z]+[. ])+."


def bounded_pattern(source: str) -> re.Pattern[str]:
    """Compile a pattern. Raise InvalidInput if it is not valid, or if it could take very long on some text."""
    if len(source) > LONGEST_PATTERN:
        raise InvalidInput(f"the pattern has {len(source):,} characters; the limit is {LONGEST_PATTERN:,}")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")  # what Python warns about means something else in a later version
            pattern = re.compile(source)
            tree = parser.parse(source)
    except (re.error, OverflowError, RecursionError, Warning) as problem:
        raise InvalidInput(f"'{source}' is not a regular expression: {problem}") from None
    opened, ways = _cost(tree, False)
    if opened > _MOST_OPEN or ways > _MOST_WAYS:
        raise InvalidInput(f"the pattern could take very long: it has more than {_MOST_OPEN} open repetitions", _HINT)
    return pattern


def _cost(tree: Any, repeated: bool) -> tuple[int, int]:
    """Return the number of open repetitions, and in how many ways the others can match."""
    opened, ways = 0, 1
    for kind, value in tree:
        more, other = _cost_of(kind, value, repeated)
        opened, ways = opened + more, ways * other
    return opened, ways


def _cost_of(kind: Any, value: Any, repeated: bool) -> tuple[int, int]:
    if kind in _REPEATS:
        least, most, body = value
        return _cost_of_repeat(least, most, body, repeated)
    if kind is kinds.BRANCH:
        branches = value[1]
        if repeated and not _begin_differently(branches):
            raise InvalidInput("the pattern could take very long: it repeats alternatives that begin alike", _HINT)
        costs = [_cost(branch, repeated) for branch in branches]
        return max(opened for opened, _ in costs), sum(ways for _, ways in costs)
    if kind in (kinds.GROUPREF, kinds.GROUPREF_EXISTS):
        raise InvalidInput("the pattern refers back to a group, which can take very long")
    if kind is kinds.SUBPATTERN:
        return _cost(value[3], repeated)
    if kind in (kinds.ASSERT, kinds.ASSERT_NOT):
        return _cost(value[1], repeated)
    return _cost(value, repeated) if kind is kinds.ATOMIC_GROUP else (0, 1)


def _cost_of_repeat(least: int, most: int, body: Any, repeated: bool) -> tuple[int, int]:
    if least == most:
        opened, ways = _cost(body, repeated)
        return opened * min(most, 100), ways ** min(most, 100)
    if repeated:
        raise InvalidInput("the pattern could take very long: it repeats a repetition", _HINT)
    if most == 1:
        opened, ways = _cost(body, False)
        return opened, ways + 1
    _cost(body, True)
    return (1, 1) if most - least > _WIDE else (0, most - least + 1)


def _begin_differently(branches: Any) -> bool:
    firsts = [branch[0] if len(branch) else None for branch in branches]
    letters = [chr(first[1]).casefold() for first in firsts if first is not None and first[0] is kinds.LITERAL]
    return len(letters) == len(firsts) == len(set(letters))
