"""A measured figure beside the figure that was asked for."""

from __future__ import annotations

from typing import NamedTuple


class Row(NamedTuple):
    """One figure: what it is, the value, the goal (at most, or at least where `at_least`; None where it is measured and
    no more), and the raw numbers."""

    name: str
    value: float
    goal: float | None
    detail: str = ""
    at_least: bool = False

    @property
    def met(self) -> bool:
        """Whether the goal is met, where there is one."""
        if self.goal is None:
            return True
        return self.value >= self.goal if self.at_least else self.value <= self.goal


def line(row: Row) -> str:
    """The row as a line of a Markdown table."""
    if row.goal is None:
        return f"| {row.name} | {row.value:,.2f} | none | | {row.detail} |"
    sign = "≥" if row.at_least else "≤"
    return f"| {row.name} | {row.value:,.2f} | {sign} {row.goal:,g} | {'yes' if row.met else '**no**'} | {row.detail} |"


HEAD = "| what | measured | goal | met | raw |\n|---|---|---|---|---|"
