"""What doctor checks, one module for each kind of file or state.

A problem that doctor found.
"""

from __future__ import annotations

from collections.abc import Iterable

from clawmem.model.named_tuple import NamedTuple

ERROR = "error"
WARNING = "warning"
INFO = "info"
SEVERITIES = (ERROR, WARNING, INFO)


class HealthProblem(NamedTuple):
    """One broken rule. `check` names the rule; `path` and `line` (from 1) are None if there is no place."""

    severity: str
    check: str
    path: str | None
    line: int | None
    message: str
    fixable: bool = False
    fixed: bool = False


def sorted_problems(problems: Iterable[HealthProblem]) -> tuple[HealthProblem, ...]:
    """Return the problems without duplicates, worst first, then by place."""
    unique = dict.fromkeys(problems)
    return tuple(
        sorted(
            unique,
            key=lambda problem: (
                SEVERITIES.index(problem.severity),
                problem.path or "",
                problem.line or 0,
                problem.check,
            ),
        )
    )
