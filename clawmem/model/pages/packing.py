"""Packing: sections of priced lines into a budget of tokens, and last lines that say what did not fit."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import NamedTuple

from clawmem.errors import InvalidInput
from clawmem.model.language.text import counted
from clawmem.model.pages import context_frame as frame
from clawmem.model.pages.context_frame import FramePart

# A fact by its row, anything else by a name.
Key = int | str
Shown = Mapping[Key, str]
# Remarks may reserve this part of the budget; where they would take more, one remark stands for all.
_REMARKS_SHARE = 1 / 4
_ASIDE_SHARE = 1 / 2
_MANY = 999_999_999


class Unit(NamedTuple):
    """Lines that are served together or not at all, and their tokens: `exact`, or the most there can be.

    `text` ends in a newline; where it is None the words are fetched by the key once the unit is in. `shelves` names
    every fact it shows, each with the section that counts it.
    """

    key: Key
    tokens: int
    exact: bool
    text: str | None = None
    shelves: tuple[tuple[Key, str], ...] = ()


class Section(NamedTuple):
    """A title and its units, most important first.

    `units` gives those that so many tokens could hold, knowing what is shown already and which section counts it.
    `total` is how many there are in all, where it does not give all; only facts have one, and then each is counted by
    one such section. `further` is how many there are beyond the units, not counting what is shown or counted by others.
    `more` is the command that shows them. The section may take `share` of the budget; one of a lower `turn` is filled
    first, wherever it stands. One that `leads` has a line in before its share counts, and is named where it lacks any.
    """

    title: str
    units: Callable[[int, Shown], Sequence[Unit]]
    more: str
    total: int | None = None
    share: float = 1.0
    turn: int = 0
    further: Callable[[Shown], int] | None = None
    leads: bool = False


class OmittedHint(NamedTuple):
    """The commands that show what was left out of all sections together: facts, and anything else."""

    facts: str = "clawmem list"
    others: str = "clawmem recall QUESTION --in all"


ALL = OmittedHint()


class FilledSection(NamedTuple):
    """A section's units that are in, how many were left out that no section filled before it counts, and those of these
    that it offered."""

    title: str
    units: tuple[Unit, ...]
    left_out: int
    missing: tuple[Unit, ...] = ()


class PackedContext(NamedTuple):
    """What goes into a context in the order it is read, and the tokens of all of it with its frame.

    `exact` tells whether the parts were counted exactly: all, none of the units, or some (None).
    """

    heading: FramePart
    sections: tuple[FilledSection, ...]
    remarks: tuple[FramePart, ...]
    tokens: int
    exact: bool | None


def pack(
    heading: FramePart,
    sections: Sequence[Section],
    budget: int,
    more: OmittedHint = ALL,
    aside: FramePart | None = None,
) -> PackedContext:
    """Spend the budget on the sections in their turns; a unit that does not fit is left out, smaller ones may follow.

    Every line ends in a newline and begins with no white space, and no token reaches over that, so the sum of the
    lines is what the text takes. Where there is no room for a remark on each section, one says it for all facts, and
    one for all else if it fits. The `aside` stands before the remarks if it takes no more than half of what is free.
    Raises InvalidInput where not even the frame fits.
    """
    free = budget - sum(part.tokens for part in (frame.opening(), heading, frame.closing()))
    asides = [aside] if aside is not None and aside.tokens <= free * _ASIDE_SHARE else []
    free -= sum(part.tokens for part in asides)
    reserves = {one.title: _reserve(one) for one in sections}
    if sum(reserves.values()) > free * _REMARKS_SHARE:
        filled, remarks = _with_one_remark(sections, free, budget, more)
    else:
        filled = _fill(sections, free - sum(reserves.values()), reserves)
        remarks = _remarks(sections, filled)
    remarks = [*asides, *remarks]
    parts = [frame.opening(), heading, *remarks, frame.closing()]
    parts += [frame.title(one.title) for one in filled if one.units]
    units = [unit for one in filled for unit in one.units]
    tokens = sum(part.tokens for part in parts) + sum(unit.tokens for unit in units)
    return PackedContext(heading, tuple(filled), tuple(remarks), tokens, _exactness(parts, units))


def rendered(packed: PackedContext, words: Mapping[Key, str]) -> str:
    """The text, without a newline at its end; `words` are the lines of the units that have none of their own."""
    body = [frame.opening().text, packed.heading.text]
    for one in packed.sections:
        if one.units:
            body += [frame.title(one.title).text, *(unit.text or words[unit.key] for unit in one.units)]
    body += [part.text for part in packed.remarks] + [frame.closing().text]
    return "".join(body).removesuffix("\n")


def _reserve(section: Section) -> int:
    """The most tokens the section's remark can take."""
    return frame.remark(section.title, section.total or _MANY, section.more).tokens


def _with_one_remark(
    sections: Sequence[Section], free: int, budget: int, more: OmittedHint
) -> tuple[list[FilledSection], list[FramePart]]:
    filled = _fill(sections, free, {})
    numbers = _missing(sections, filled)
    command = more.facts if numbers[0] else more.others
    leader = next((one.title for one in sections if one.leads), "")
    plain, named = (frame.remark_on_all(_MANY, command, leader, most).tokens for most in (0, _MANY if leader else 0))
    needed = named if any(numbers) else 0
    if free < needed:
        short = f"A budget of {counted(budget, 'token')} is too small."
        raise InvalidInput(short, f"This memory needs at least {budget - free + needed:,} tokens.")
    if not any(numbers):
        return filled, []
    filled = _fill(sections, free - plain, {})
    if _lacking(sections, filled):  # to say so takes room, too
        filled = _fill(sections, free - named, {})
    lacking = _lacking(sections, filled)
    left = free - sum(_cost(section, one.units) for section, one in zip(sections, filled, strict=True))
    remarks = []
    for number, command, among in zip(_missing(sections, filled), more, (lacking, 0), strict=True):
        remark = frame.remark_on_all(number, command, leader, among)
        if number and remark.tokens <= left:
            remarks.append(remark)
            left -= remark.tokens
    return filled, remarks


def _lacking(sections: Sequence[Section], filled: Sequence[FilledSection]) -> int:
    """How many lines of the section that leads were left out."""
    return sum(one.left_out for section, one in zip(sections, filled, strict=True) if section.leads)


def _missing(sections: Sequence[Section], filled: Sequence[FilledSection]) -> tuple[int, int]:
    """How many facts were left out of all sections together, and how much else, each once."""
    everything = sum(one.left_out for one in filled)
    others = 0
    for section, one in zip(sections, filled, strict=True):
        if section.total is None:
            others += one.left_out - sum(isinstance(unit.key, int) for unit in one.missing)
    return everything - others, others


def _remarks(sections: Sequence[Section], filled: Sequence[FilledSection]) -> list[FramePart]:
    return [
        frame.remark(one.title, one.left_out, section.more)
        for section, one in zip(sections, filled, strict=True)
        if one.left_out
    ]


def _fill(sections: Sequence[Section], free: int, reserves: Mapping[str, int]) -> list[FilledSection]:
    filling = _BudgetFill(free, reserves)
    in_turn = sorted(sections, key=lambda one: one.turn)
    for section in in_turn:
        filling.give(section)
    for section in in_turn:
        if section.share < 1:
            filling.give_more(section)
    return [filling.filled(section) for section in sections]


class _BudgetFill:
    """The budget while it is being spent: what is left, what is shown, and what each section offered and kept.

    What is left out is counted by one section alone, the first that offers it or counts all of its kind.
    """

    def __init__(self, free: int, reserves: Mapping[str, int]) -> None:
        self._free, self._left, self._reserves = free, free, reserves
        self._shown: dict[Key, str] = {}
        self._offered: dict[str, Sequence[Unit]] = {}
        self._kept: dict[str, tuple[Unit, ...]] = {}
        # The keys that a section counts because it offered them first, and those of a shelf that others count so.
        self._counted: dict[str, list[Key]] = {}
        self._elsewhere: dict[str, list[Key]] = {}
        self._claimed: set[Key] = set()
        self._totalled: set[str] = set()

    def give(self, section: Section) -> None:
        """The section's share, filled with what it has; what was reserved for its remark where none is needed."""
        reserve = self._reserves.get(section.title, 0)
        most = min(self._left, int(self._free * section.share))
        # The ledger may hold an event twice, on two days.
        units = list({unit.key: unit for unit in section.units(max(most, 0) + reserve, self._shown)}.values())
        self._offered[section.title] = units
        self._claim(section, units)
        if section.leads:
            most = max(most, _cost(section, _some(section, units, self._shown, self._left)[:1]))
        self._keep(section, self._all(section, units, most + reserve) or _some(section, units, self._shown, most))
        if self._left_out(section, self._shown) == 0:
            self._left += reserve

    def give_more(self, section: Section) -> None:
        """What the others did not need."""
        title = frame.title(section.title).tokens if self._kept[section.title] else 0
        self._keep(section, _some(section, self._offered[section.title], self._shown, self._left + title))

    def filled(self, section: Section) -> FilledSection:
        """What became of the section."""
        counted = set(self._counted[section.title]) - self._shown.keys()
        missing = tuple(unit for unit in self._offered[section.title] if unit.key in counted)
        return FilledSection(section.title, self._kept[section.title], self._left_out(section, self._shown), missing)

    def _keep(self, section: Section, more: Sequence[Unit]) -> None:
        before = self._kept.get(section.title, ())
        keys = {unit.key for unit in (*before, *more)}
        self._kept[section.title] = tuple(unit for unit in self._offered[section.title] if unit.key in keys)
        self._left -= _cost(section, self._kept[section.title]) - _cost(section, before)
        for unit in more:
            self._shown.update({unit.key: "", **dict(unit.shelves)})

    def _all(self, section: Section, units: Sequence[Unit], most: int) -> tuple[Unit, ...]:
        """All units, where they fit into the budget and the reserve for the remark that is not needed then."""
        kept = _some(section, units, self._shown, _MANY)
        numbers = dict(self._shown)
        for unit in kept:
            numbers.update({unit.key: "", **dict(unit.shelves)})
        complete = self._left_out(section, numbers) == 0
        return kept if complete and _cost(section, kept) <= most else ()

    def _claim(self, section: Section, units: Sequence[Unit]) -> None:
        mine = self._counted[section.title] = list[Key]()
        if section.total is not None:
            self._totalled.add(section.title)
            return
        for unit in units:
            shelf = next((shelf for key, shelf in unit.shelves if key == unit.key), "")
            if unit.key not in self._claimed and shelf not in self._totalled:
                mine.append(unit.key)
                self._elsewhere.setdefault(shelf, []).append(unit.key)
        self._claimed.update(mine)

    def _left_out(self, section: Section, shown: Shown) -> int:
        if section.total is None:
            further = section.further({**dict.fromkeys(self._claimed, ""), **shown}) if section.further else 0
            return further + sum(key not in shown for key in self._counted[section.title])
        elsewhere = sum(key not in shown for key in self._elsewhere.get(section.title, ()))
        return section.total - sum(title == section.title for title in shown.values()) - elsewhere


def _some(section: Section, units: Sequence[Unit], shown: Mapping[Key, str], most: int) -> tuple[Unit, ...]:
    kept: list[Unit] = []
    seen = set(shown)
    left = most - frame.title(section.title).tokens
    for unit in units:
        if unit.tokens <= left and unit.key not in seen:
            kept.append(unit)
            seen.update((unit.key, *(key for key, _ in unit.shelves)))
            left -= unit.tokens
    return tuple(kept)


def _cost(section: Section, kept: Sequence[Unit]) -> int:
    return frame.title(section.title).tokens + sum(unit.tokens for unit in kept) if kept else 0


def _exactness(parts: Iterable[FramePart], units: Sequence[Unit]) -> bool | None:
    if all(part.exact for part in parts) and all(unit.exact for unit in units):
        return True
    return False if units and not any(unit.exact for unit in units) else None
