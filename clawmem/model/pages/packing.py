"""Pack sections of lines with token counts into a budget, with remarks on what did not fit."""

from collections.abc import Callable, Iterable, Mapping, Sequence

from clawmem.errors import InvalidInput
from clawmem.model.language.text import counted
from clawmem.model.named_tuple import NamedTuple
from clawmem.model.pages import context_frame as frame
from clawmem.model.pages.context_frame import FramePart

# The row number of a fact, or the name of another unit.
Key = int | str
Shown = Mapping[Key, str]
_ASIDE_SHARE = 1 / 2
# The part of the budget that may stay unused if there is more to say, and the fewest units of a section of which one is
# replaced to use it.
_WASTE = 1 / 50
_FEW = 4
_MANY = 999_999_999


class Unit(NamedTuple):
    """Lines that are included together or not at all, and their tokens: exact if `exact`, else an upper bound.

    `text` ends in a newline. If it is None, the text is fetched by key once the unit is included. `shelves` lists every
    fact in the unit with the section that counts it. `when` is its place in time, where that is known.
    """

    key: Key
    tokens: int
    exact: bool
    text: str | None = None
    shelves: tuple[tuple[Key, str], ...] = ()
    when: tuple[str, int] = ("", 0)


class Section(NamedTuple):
    """A title and its units, most important first.

    `units` returns the units for a number of tokens, given what is already shown and which section counts it. `total`
    is the number of all facts of the section, if `units` may return fewer; each fact is counted by one section with a
    total. `further` is the number of lines beyond the units that are neither shown nor counted elsewhere. `more` is the
    command that shows them. The section gets up to `share` of the budget, and lower turns are filled first, wherever
    the section is on the page. A section that `leads` gets at least one line, and remarks name it if lines are missing.
    The first unit of an `assured` section has its room before every other section is filled, except a `whole` one,
    which is filled first and never cut. An `extra` section only gets what all others leave, and its other lines do not
    count as left out. A section `in_time` gives its lines by their time.
    """

    title: str
    units: Callable[[int, Shown], Sequence[Unit]]
    more: str
    total: int | None = None
    share: float = 1.0
    turn: int = 0
    further: Callable[[Shown], int] | None = None
    leads: bool = False
    extra: bool = False
    whole: bool = False
    assured: bool = False
    in_time: bool = False


class FilledSection(NamedTuple):
    """A section's included units, the number of lines left out that no earlier section counts, and those of them that
    it offered."""

    title: str
    units: tuple[Unit, ...]
    left_out: int
    missing: tuple[Unit, ...] = ()


class PackedContext(NamedTuple):
    """The content of a context in reading order, and the tokens of all of it with its frame.

    `exact` is True if all parts were counted exactly, False if no unit was, and None if some were.
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
    more: str,
    aside: FramePart | None = None,
) -> PackedContext:
    """Spend the budget on the sections in their turns. A unit that does not fit is left out; smaller ones may follow.

    Every line ends in a newline and does not start with white space, so no token crosses lines, and the total is the
    sum of the lines. `more` is the command that shows what is left out of all sections but the one that leads. The
    `aside` comes before the remarks if it takes at most half of the free tokens. Raise InvalidInput, with the least
    budget, if the frame or a `whole` section does not fit.
    """
    try:
        return _packed(heading, sections, budget, more, aside)
    except InvalidInput as problem:
        least = _least_budget(lambda more_tokens: _packed(heading, sections, more_tokens, more, aside), budget)
        hint = f"Raise the budget to {least:,} tokens or more (--budget){problem.hint}"
        raise InvalidInput(problem.message, hint) from None


def _least_budget(packed: Callable[[int], PackedContext], budget: int) -> int:
    """Return the least budget above one that is too small, by trial: what fits depends on it in several ways."""
    short, enough = budget, max(2 * budget, 100)
    while not _fits(packed, enough):
        short, enough = enough, 2 * enough
    while enough - short > 1:
        middle = (short + enough) // 2
        short, enough = (short, middle) if _fits(packed, middle) else (middle, enough)
    return enough


def _fits(packed: Callable[[int], PackedContext], budget: int) -> bool:
    try:
        packed(budget)
    except InvalidInput:
        return False
    return True


def _packed(
    heading: FramePart, sections: Sequence[Section], budget: int, more: str, aside: FramePart | None
) -> PackedContext:
    free = budget - sum(part.tokens for part in (frame.opening(), heading, frame.closing()))
    asides = [aside] if aside is not None and aside.tokens <= free * _ASIDE_SHARE else []
    free -= sum(part.tokens for part in asides)
    filled, remarks = _filled_with_remarks(sections, free, budget, more)
    remarks = [*asides, *remarks]
    parts = [frame.opening(), heading, *remarks, frame.closing()]
    parts += [frame.title(section.title) for section in filled if section.units]
    units = [unit for section in filled for unit in section.units]
    tokens = sum(part.tokens for part in parts) + sum(unit.tokens for unit in units)
    return PackedContext(heading, tuple(filled), tuple(remarks), tokens, _exactness(parts, units))


def render_context(packed: PackedContext, words: Mapping[Key, str]) -> str:
    """Return the text without a final newline; `words` holds the lines of the units that have no text."""
    body = [frame.opening().text, packed.heading.text]
    for section in packed.sections:
        if section.units:
            body += [frame.title(section.title).text, *(unit.text or words[unit.key] for unit in section.units)]
    body += [part.text for part in packed.remarks] + [frame.closing().text]
    return "".join(body).removesuffix("\n")


def _filled_with_remarks(
    sections: Sequence[Section], free: int, budget: int, more: str
) -> tuple[list[FilledSection], list[FramePart]]:
    """Fill the sections, and return the remark on the one that leads and the one on all others, if they are needed."""
    joint = frame.total_remark(_MANY, more, _MANY).tokens
    leading = {
        section.title: frame.remark(section.title, section.total or _MANY, section.more).tokens
        for section in sections
        if section.leads
    }
    room = free - joint
    # What a leading section does not need for its remark, it may use: only room that there is can be reserved.
    reserved = leading if sum(leading.values()) <= room else {}
    filled = _fill(sections, max(room - sum(reserved.values()), 0), reserved)
    remarks = _remarks(sections, filled, more)
    if _spent(sections, filled) + sum(remark.tokens for remark in remarks) > free:
        filled = _fill(sections, 0, {})
        remarks = _remarks(sections, filled, more)
    missing = sum(unit.tokens for section in filled for unit in section.missing)
    if free >= 0 and missing <= joint:  # there may be room without a remark
        complete = _fill(sections, free, {})
        if not _remarks(sections, complete, more):
            return complete, []
    needed = _spent(sections, filled) + sum(remark.tokens for remark in remarks)
    if free < needed:
        short = f"A budget of {counted(budget, 'token')} is too small."
        raise InvalidInput(short, ".")
    return filled, remarks


def _spent(sections: Sequence[Section], filled: Sequence[FilledSection]) -> int:
    return sum(_cost(section, other_section.units) for section, other_section in zip(sections, filled, strict=True))


def _remarks(sections: Sequence[Section], filled: Sequence[FilledSection], more: str) -> list[FramePart]:
    remarks, others = [], 0
    for section, other_section in zip(sections, filled, strict=True):
        if not section.leads:
            others += other_section.left_out
        elif other_section.left_out:
            remarks.append(frame.remark(other_section.title, other_section.left_out, section.more))
    everything = others + sum(len(other_section.units) for other_section in filled)
    return [*remarks, *([frame.total_remark(others, more, everything)] if others else [])]


def _fill(sections: Sequence[Section], free: int, reserves: Mapping[str, int]) -> list[FilledSection]:
    whole = [other_section for other_section in sections if other_section.whole]
    for section in whole:
        _check_room(section, free)
    in_turn = sorted(
        (other_section for other_section in sections if not other_section.extra),
        key=lambda other_section: other_section.turn,
    )
    beside = free - sum(_cost(other_section, other_section.units(_MANY, {})) for other_section in whole)
    filling = _BudgetFill(free, reserves, _assured(in_turn, beside))
    for section in in_turn:
        filling.give(section)
    for section in sorted(
        in_turn, key=lambda other_section: other_section.leads
    ):  # the section that leads stays within its share
        if section.share < 1:
            filling.give_more(section)
    for section in reversed(in_turn):
        filling.fit_better(section)
    for section in sections:
        if section.extra:
            filling.give_rest(section)
    return [filling.filled(section) for section in sections]


def _check_room(section: Section, free: int) -> None:
    needed = _cost(section, section.units(_MANY, {}))
    if needed > free:
        raise InvalidInput(
            f"The section {section.title} takes {counted(needed, 'token')}, and is never cut; the budget leaves"
            f" {max(free, 0):,} for it.",
            ", or retract some of these facts.",
        )


def _assured(sections: Sequence[Section], free: int) -> dict[str, int]:
    """Return the tokens of the title and the first unit of each assured section, as far as they fit."""
    record: dict[str, int] = {}
    for section in sections:
        units = section.units(free, {}) if section.assured else ()
        if units and (cost := _cost(section, units[:1])) <= free - sum(record.values()):
            record[section.title] = cost
    return record


class _BudgetFill:
    """The state of filling: the tokens left, what is shown, and what each section offered and kept.

    A line that is left out is counted by one section: the first one that offers it or counts all lines of its kind.
    """

    def __init__(self, free: int, reserves: Mapping[str, int], assured: Mapping[str, int]) -> None:
        self._free, self._left, self._reserves = free, free, reserves
        self._assured = dict(assured)  # the room that is held for sections that are not filled yet
        self._shown: dict[Key, str] = {}
        self._offered: dict[str, Sequence[Unit]] = {}
        self._kept: dict[str, tuple[Unit, ...]] = {}
        # The keys that a section counts because it offered them first, and those of a tier that other sections count.
        self._counted: dict[str, list[Key]] = {}
        self._elsewhere: dict[str, list[Key]] = {}
        self._claimed: set[Key] = set()
        self._totalled: set[str] = set()

    def give(self, section: Section) -> None:
        """Fill the section's share; if it needs no remark, its reserve is free again."""
        reserve = self._reserves.get(section.title, 0)
        own = self._assured.pop(section.title, 0)
        room = self._left - sum(self._assured.values())
        most = min(room, max(own, int(self._free * section.share)))
        # The ledger may contain an event twice, on two days.
        units = list({unit.key: unit for unit in section.units(max(most, 0) + reserve, self._shown)}.values())
        self._offered[section.title] = units
        self._claim(section, units)
        if section.leads:
            most = max(most, _cost(section, _some(section, units, self._shown, room)[:1]))
        self._keep(section, self._all(section, units, most + reserve) or _some(section, units, self._shown, most))
        if self._left_out(section, self._shown) == 0:
            self._left += reserve

    def give_more(self, section: Section) -> None:
        """Fill a section further with the tokens that the others left."""
        title = frame.title(section.title).tokens if self._kept[section.title] else 0
        self._keep(section, _some(section, self._offered[section.title], self._shown, self._left + title))

    def give_rest(self, section: Section) -> None:
        """Fill an extra section with what is left; it offers nothing else."""
        units = section.units(self._left, self._shown)
        self._offered[section.title] = _some(section, units, self._shown, self._left)
        self._counted[section.title] = []
        self._keep(section, self._offered[section.title])

    def fit_better(self, section: Section) -> None:
        """Replace a unit of the second half of a section by a longer one, if too much of the budget is left."""
        kept = self._kept[section.title]
        if self._left <= self._free * _WASTE or len(kept) < _FEW:
            return
        rest = [unit for unit in self._offered[section.title] if unit.key not in self._shown]
        pairs = [
            (longer.tokens - unit.tokens, at, longer)
            for at, unit in enumerate(kept)
            if at >= len(kept) // 2 and len(unit.shelves) < 2
            for longer in rest
            if 0 < longer.tokens - unit.tokens <= self._left
        ]
        if pairs:
            _, at, longer = max(pairs, key=lambda pair: pair[:2])
            self._shown.pop(kept[at].key)
            self._kept[section.title] = (*kept[:at], *kept[at + 1 :])
            self._left += kept[at].tokens
            self._keep(section, [longer])

    def filled(self, section: Section) -> FilledSection:
        """Return the result for the section."""
        counted = set(self._counted[section.title]) - self._shown.keys()
        missing = tuple(unit for unit in self._offered[section.title] if unit.key in counted)
        kept = self._kept[section.title]
        kept = tuple(sorted(kept, key=lambda unit: unit.when)) if section.in_time else kept
        return FilledSection(section.title, kept, self._left_out(section, self._shown), missing)

    def _keep(self, section: Section, more: Sequence[Unit]) -> None:
        before = self._kept.get(section.title, ())
        keys = {unit.key for unit in (*before, *more)}
        self._kept[section.title] = tuple(unit for unit in self._offered[section.title] if unit.key in keys)
        self._left -= _cost(section, self._kept[section.title]) - _cost(section, before)
        for unit in more:
            self._shown.update({unit.key: "", **dict(unit.shelves)})

    def _all(self, section: Section, units: Sequence[Unit], most: int) -> tuple[Unit, ...]:
        """Return all units if they fit into the budget and the reserve, which is free because no remark is needed."""
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
