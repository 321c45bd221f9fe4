"""A measured figure beside the figure that was asked for."""

from __future__ import annotations

from typing import NamedTuple


class Row(NamedTuple):
    """One figure: what it is, the value, the goal (at most, or at least where `at_least`), and the raw numbers."""

    name: str
    value: float
    goal: float
    detail: str = ""
    at_least: bool = False

    @property
    def met(self) -> bool:
        """Whether the goal is met."""
        return self.value >= self.goal if self.at_least else self.value <= self.goal


def line(row: Row) -> str:
    """The row as a line of a Markdown table."""
    sign = "≥" if row.at_least else "≤"
    return f"| {row.name} | {row.value:,.2f} | {sign} {row.goal:,g} | {'yes' if row.met else '**no**'} | {row.detail} |"


HEAD = "| what | measured | goal | met | raw |\n|---|---|---|---|---|"
