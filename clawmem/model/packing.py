"""Packing: sections of lines into a budget of tokens, and a last line that says what did not fit."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from clawmem.model.recalled import CLOSING, OPENING

Count = Callable[[str], int]


class Section(NamedTuple):
    """A heading and its lines, most important first; `more` is the command that shows what was left out, `share`
    the most of the free budget that the section may take."""

    title: str
    lines: Sequence[str]
    more: str
    share: float = 1.0


class Packed(NamedTuple):
    """The text, its tokens, how many lines went in, and how many each section had to leave out."""

    text: str
    tokens: int
    included: int
    left_out: tuple[tuple[str, int, str], ...]


def pack(heading: str, sections: Sequence[Section], budget: int, count: Count) -> Packed:
    """Fill the budget in the order given; a line that does not fit is counted as left out, smaller ones may follow.

    `count` gives the tokens of one line with its newline. Lines end in a newline and begin with no white space,
    where tokenisers never join across, so the sum is what the whole text takes.
    """
    frame = count(OPENING + "\n") + count(heading + "\n") + count(CLOSING + "\n")
    reserve = sum(count(_remark(section.title, len(section.lines), section.more) + "\n") for section in sections)
    free = budget - frame - reserve
    body: list[str] = []
    left_out = []
    used = included = 0
    for section in sections:
        title = f"## {section.title}"
        cost = count(title + "\n")
        kept: list[str] = []
        most = min(free, used + int(free * section.share))
        for line in section.lines:
            price = count(line + "\n") + (0 if kept else cost)
            if used + price <= most:
                kept.append(line)
                used += price
        if kept:
            body += [title, *kept]
        included += len(kept)
        if len(kept) < len(section.lines):
            left_out.append((section.title, len(section.lines) - len(kept), section.more))
    remarks = [_remark(*one) for one in left_out]
    lines = [OPENING, heading, *body, *remarks, CLOSING]
    return Packed("\n".join(lines), sum(count(line + "\n") for line in lines), included, tuple(left_out))


def smallest_budget(heading: str, sections: Sequence[Section], count: Count) -> int:
    """The least budget that holds the frame and the remarks about everything left out."""
    remarks = sum(count(_remark(one.title, len(one.lines), one.more) + "\n") for one in sections)
    return remarks + count(OPENING + "\n") + count(heading + "\n") + count(CLOSING + "\n")


def _remark(title: str, number: int, more: str) -> str:
    return f"(left out of {title}: {number}; `{more}` shows them)"
