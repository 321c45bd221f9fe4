"""Packing: never above the budget, in order, nothing twice, and everything left out is counted."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clawmem.errors import InvalidInput
from clawmem.model.pages.context_frame import ALWAYS, ASKED, HOT_FACTS, SUMMARIES, TIMELINE, WARM_FACTS, heading
from clawmem.model.pages.packing import PackedContext, Section, Shown, Unit, pack, render_context
from tests.conftest import examples

DAY = heading("2026-11-22")
MORE = "clawmem list"
NAMES = (SUMMARIES, HOT_FACTS, WARM_FACTS)


def _unit(key: int, tokens: int, *others: int, shelf: str = HOT_FACTS) -> Unit:
    return Unit(key, tokens, True, f"- fact {key}\n", tuple((n, shelf) for n in (key, *others)))


def _section(name: str, units: list[Unit], share: float = 1.0, turn: int = 0, total: int | None = None) -> Section:
    return Section(name, lambda tokens, shown: units, "clawmem list", total, share, turn)


_UNIT = st.builds(_unit, st.integers(1, 30), st.integers(3, 60))
_UNITS = st.lists(_UNIT, max_size=12, unique_by=lambda unit: unit.key)
_SECTIONS = st.lists(
    st.builds(_section, st.sampled_from(NAMES), _UNITS, st.sampled_from([0.2, 0.5, 1.0]), st.integers(0, 3)),
    max_size=3,
    unique_by=lambda section: section.title,
)


@given(_SECTIONS, st.integers(0, 600))
def test_a_pack_keeps_its_budget_and_counts_what_it_left_out(sections: list[Section], budget: int) -> None:
    try:
        packed = pack(DAY, sections, budget, MORE)
    except InvalidInput as problem:
        assert budget < 60 + 100 * len(sections), problem.message
        return
    assert packed.tokens <= budget
    units = [unit for part in packed.sections for unit in part.units]
    shown = [unit.key for unit in units]
    assert len(shown) == len(set(shown))
    assert [part.title for part in packed.sections] == [section.title for section in sections]
    for part, section in zip(packed.sections, sections, strict=True):
        given_ = [unit.key for unit in section.units(0, {})]
        assert [key for key in given_ if key in {unit.key for unit in part.units}] == [unit.key for unit in part.units]
        assert part.left_out <= sum(key not in shown for key in given_)
    offered = {unit.key for section in sections for unit in section.units(0, {})}
    assert sum(part.left_out for part in packed.sections) == len(offered - set(shown)), "each is counted once"
    missed = any(part.left_out for part in packed.sections)
    assert bool(packed.remarks) == missed
    text = render_context(packed, {})
    assert text.startswith("<clawmem-context>\n# Memory on 2026-11-22\n")
    assert text.count("left out") == len(packed.remarks)


def test_what_fits_into_the_reserve_for_a_remark_needs_no_remark() -> None:
    for budget in range(60, 120):
        packed = pack(DAY, [_section(HOT_FACTS, [_unit(1, 20), _unit(2, 20)])], budget, MORE)
        frame_tokens = packed.tokens - sum(unit.tokens for part in packed.sections for unit in part.units)
        if budget >= 17 + 6 + 5 + 40 + 1:
            assert (len(packed.sections[0].units), packed.remarks) == (2, ()), budget
            assert frame_tokens == 28


def test_a_share_leaves_room_and_turns_decide_who_is_first() -> None:
    many = [_unit(n, 20) for n in range(1, 21)]
    late = [_unit(n, 20, shelf=WARM_FACTS) for n in range(21, 41)]
    packed = pack(DAY, [_section(HOT_FACTS, many, turn=2), _section(WARM_FACTS, late, share=0.5, turn=1)], 600, MORE)
    hot, warm = (len(part.units) for part in packed.sections)
    assert (hot, warm) == (14, 13)
    assert packed.sections[0].title == HOT_FACTS


def test_a_fact_that_stands_in_another_unit_counts_where_it_belongs_and_is_not_repeated() -> None:
    section = _section(SUMMARIES, [_unit(1, 10, 2)], turn=0)
    packed = pack(DAY, [section, _section(HOT_FACTS, [_unit(2, 10), _unit(3, 10)], turn=1, total=4)], 400, MORE)
    assert [[unit.key for unit in part.units] for part in packed.sections] == [[1], [3]]
    assert packed.sections[1].left_out == 1
    assert packed.remarks[0].text == "(left out: 1; `clawmem list` shows them)\n"
    together = pack(DAY, [_section(HOT_FACTS, [_unit(1, 10, 2), _unit(2, 10), _unit(3, 10)])], 400, MORE)
    assert [unit.key for unit in together.sections[0].units] == [1, 3]


def test_what_is_left_out_is_counted_where_it_is_offered_first() -> None:
    always, asked, late = (_unit(n, 90, shelf=shelf) for n, shelf in ((1, ALWAYS), (2, HOT_FACTS), (3, HOT_FACTS)))
    sections = [
        _section(ALWAYS, [always], turn=1, total=2),
        _section(ASKED, [always, asked], turn=2),
        _section(HOT_FACTS, [asked, late], turn=6, total=5),
        _section(TIMELINE, [asked, late], turn=7),
    ]
    packed = pack(DAY, sections, 100, MORE)
    assert [section.left_out for section in packed.sections] == [2, 1, 4, 0]
    assert [part.text for part in packed.remarks] == ["(left out: 7; `clawmem list` shows them)\n"]


def test_what_leads_has_a_line_in_whatever_its_share_and_is_named_where_it_lacks_one() -> None:
    def packed(budget: int, *important: int) -> PackedContext:
        first = _section(ALWAYS, [_unit(n, tokens, shelf=ALWAYS) for n, tokens in enumerate(important)], 0.5, 1)
        leading = first._replace(total=len(important), leads=True)
        rest = [_unit(9, 8), *(_unit(n, 90) for n in range(10, 40))]
        return pack(DAY, [leading, _section(HOT_FACTS, rest, turn=6)], budget, MORE)

    others = "(left out: 30; `clawmem list` shows them)\n"
    shown = packed(95, 30)
    assert [[unit.key for unit in section.units] for section in shown.sections] == [[0], [9]]
    assert [part.text for part in shown.remarks] == [others]
    shown = packed(109, 30, 30)
    assert [[unit.key for unit in section.units] for section in shown.sections] == [[0], [9]]
    assert [part.text for part in shown.remarks] == ["(left out of Always: 1; `clawmem list` shows them)\n", others]
    with pytest.raises(InvalidInput) as refused:
        packed(30, 30)
    least = int(refused.value.hint.partition("Raise the budget to ")[2].split()[0])
    assert packed(least, 30).tokens <= least
    with pytest.raises(InvalidInput):
        packed(least - 1, 30)


def test_sections_learn_what_is_shown_and_what_is_left() -> None:
    asked: list[tuple[int, dict[int | str, str]]] = []

    def units(tokens: int, shown: Shown) -> list[Unit]:
        asked.append((tokens, dict(shown)))
        return []

    pack(DAY, [_section(HOT_FACTS, [_unit(1, 30)]), Section(WARM_FACTS, units, "clawmem list", turn=1)], 400, MORE)
    assert [shown for _, shown in asked] == [{1: HOT_FACTS}] * 2
    assert asked[-1][0] == 400 - 23 - 5 - 30, "without a remark"


def test_little_room_gives_one_remark_for_all_and_less_than_that_is_refused() -> None:
    sections = [_section(name, [_unit(at, 500)]) for at, name in enumerate(NAMES)]
    packed = pack(DAY, sections, 60, MORE)
    assert [part.text for part in packed.remarks] == ["(left out: 3; `clawmem list` shows them)\n"]
    with pytest.raises(InvalidInput, match="too small") as refused:
        pack(DAY, sections, 20, MORE)
    least = int(refused.value.hint.partition("Raise the budget to ")[2].split()[0])
    assert pack(DAY, sections, least, MORE).tokens <= least
    with pytest.raises(InvalidInput, match="too small"):
        pack(DAY, sections, least - 1, MORE)


@pytest.mark.parametrize(("exact", "flag"), [([True, True], True), ([True, False], None), ([False, False], False)])
def test_how_it_was_counted_is_told(exact: list[bool], flag: bool | None) -> None:
    units = [Unit(at, 5, each, "- x\n") for at, each in enumerate(exact)]
    assert pack(DAY, [_section(HOT_FACTS, units)], 400, MORE).exact is flag


@examples(25, 100)
@given(_SECTIONS, st.lists(_UNIT, min_size=1, max_size=4, unique_by=lambda unit: unit.key), st.integers(0, 200))
def test_the_budget_that_is_hinted_is_enough(sections: list[Section], rules: list[Unit], budget: int) -> None:
    whole = Section("Guardrails", lambda tokens, shown: rules, "clawmem guardrail list", whole=True)
    try:
        pack(DAY, [whole, *sections], budget, MORE)
    except InvalidInput as problem:
        least = int(problem.hint.partition("Raise the budget to ")[2].split()[0].replace(",", ""))
        assert least > budget
        pack(DAY, [whole, *sections], least, MORE)
        with pytest.raises(InvalidInput):
            pack(DAY, [whole, *sections], least - 1, MORE)


def test_room_that_is_left_goes_to_a_longer_fact_of_the_second_half() -> None:
    """One fact of the second half gives its place to a longer one, but never a line that tells several facts."""

    def kept(*units: Unit) -> list[int | str]:
        offered = [*units, _unit(9, 35), _unit(10, 900)]
        # The frame takes 23 tokens, the remark 17, the title 5, and 20 are left.
        packed = pack(DAY, [_section(HOT_FACTS, offered)], 23 + 17 + 5 + sum(unit.tokens for unit in units) + 20, MORE)
        return [unit.key for unit in packed.sections[0].units]

    first = [_unit(1, 15), _unit(2, 20)]
    assert kept(*first, _unit(3, 20), _unit(4, 20)) == [1, 2, 3, 9]
    assert kept(*first, _unit(3, 20), _unit(4, 20, 5)) == [1, 2, 4, 9]
    assert kept(*first, _unit(3, 20, 6), _unit(4, 20, 5)) == [1, 2, 3, 4]
    assert kept(_unit(1, 15), _unit(2, 20), _unit(3, 20)) == [1, 2, 3]


def test_the_first_line_of_an_assured_section_has_its_room() -> None:
    """Also where a section of an earlier turn could fill the budget."""
    many = _section(HOT_FACTS, [_unit(n, 20) for n in range(1, 21)], turn=1)
    late = _section(WARM_FACTS, [_unit(30, 60), _unit(31, 60)], turn=2)
    assert [unit.key for unit in pack(DAY, [many, late], 200, MORE).sections[1].units] == []
    packed = pack(DAY, [many, late._replace(assured=True)], 200, MORE)
    assert [unit.key for unit in packed.sections[1].units] == [30]
    assert packed.sections[0].units


def test_a_section_with_a_share_gets_what_the_others_leave() -> None:
    few = _section(HOT_FACTS, [_unit(1, 20)], turn=1)
    many = _section(WARM_FACTS, [_unit(n, 20) for n in range(2, 40)], share=0.2, turn=2)
    packed = pack(DAY, [few, many], 400, MORE)
    assert sum(unit.tokens for unit in packed.sections[1].units) > 0.7 * 400


def test_only_a_section_in_time_gives_its_lines_by_their_time() -> None:
    units = [_unit(number, 20)._replace(when=(when, 0)) for number, when in ((1, "2026-11-03"), (2, "2026-11-01"))]
    plain = _section(TIMELINE, units)
    for section, order in ((plain, [1, 2]), (plain._replace(in_time=True), [2, 1])):
        (filled,) = pack(DAY, [section], 400, MORE).sections
        assert [unit.key for unit in filled.units] == order
