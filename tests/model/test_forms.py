"""Records are read, checked and written as the annotations of their class say."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, NamedTuple

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clawmem.errors import InvalidInput, UnreadableKey
from clawmem.model.forms import (
    ONE_OR_MORE,
    Before,
    FilledText,
    Key,
    TimeText,
    WrongValue,
    no_other_keys,
    read_in_file,
    read_record,
    render_lines,
    to_record,
)
from clawmem.model.named_tuple import NamedTuple as OwnNamedTuple


def even(number: int) -> int:
    if number % 2:
        raise InvalidInput("An odd number is no even number.", "Add 1.")
    return number


@no_other_keys
class Mast(OwnNamedTuple):
    height: Annotated[float, (0, 30)]
    kind: Annotated[str, ("wood", "steel")] = "wood"


class Boat(NamedTuple):
    name: FilledText
    owner: str | None
    built: TimeText | None = None
    crew: Annotated[tuple[str, ...], ONE_OR_MORE] = ()
    size: tuple[int, int] | None = None
    seats: Annotated[int, (1, None)] = 1
    oars: Annotated[int, even] = 0
    masts: tuple[
        Annotated[Mast, Before(lambda value: {"height": value} if isinstance(value, int) else value)], ...
    ] = ()
    marks: Mapping[str, str | bool] = {}
    is_new: Annotated[bool, Key("new")] = False
    anything: Any = None
    extra: Mapping[str, Any] = {}


FULL = {
    "name": "Anna", "owner": "Ada", "built": "2026-01-02T03:04:05Z", "crew": ["Bo", "Cy"], "size": [3, 9], "seats": 2,
    "oars": 4, "masts": [{"height": 9.5, "kind": "steel"}], "marks": {"a": "b", "c": True},
    "new": True, "anything": [1], "later": {"x": None},
}  # fmt: skip


def test_a_record_is_written_as_it_was_read() -> None:
    boat = read_record(Boat, FULL)
    assert boat.masts == (Mast(9.5, "steel"),)
    assert (boat.size, boat.is_new, boat.extra) == ((3, 9), True, {"later": {"x": None}})
    assert to_record(boat) == FULL
    assert list(to_record(boat)) == list(FULL)


def test_missing_and_null_are_the_default() -> None:
    assert read_record(Boat, {"name": " Anna ", "crew": None}) == Boat("Anna", None)
    assert to_record(Boat("Anna", None)) == {"name": "Anna", "seats": 1, "oars": 0, "marks": {}, "new": False}
    assert to_record(Boat("", None), (None, "", (), {}, False)) == {"name": "", "seats": 1}


def test_a_value_may_have_a_short_form_and_come_from_elsewhere() -> None:
    boat = read_record(Boat, {"name": "ignored", "crew": "Bo", "masts": [3, {"height": 4}]}, name="Anna")
    assert (boat.name, boat.crew, boat.masts) == ("Anna", ("Bo",), (Mast(3), Mast(4)))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"name": None}, "the key 'name' is missing; it must be text"),
        ({"name": "  "}, "the key 'name' is empty"),
        ({"name": "x", "owner": True}, "the key 'owner' must be text, but is true"),
        ({"built": "x" * 50}, f"the key 'built' must be a time such as 2026-11-21T09:30:00Z, but is '{'x' * 40}…'"),
        ({"crew": ["Bo", 3]}, "the key 'crew[1]' must be text, but is 3"),
        ({"crew": {}}, "the key 'crew' must be a list, but is an object"),
        ({"size": [1]}, "the key 'size' must be a list of 2, but is a list"),
        ({"size": [1, "b"]}, "the key 'size[1]' must be a whole number, but is 'b'"),
        ({"seats": 0}, "the key 'seats' must be a whole number, 1 or more, but is 0"),
        ({"seats": True}, "the key 'seats' must be a whole number, 1 or more, but is true"),
        ({"oars": 3}, "the key 'oars' is wrong: An odd number is no even number"),
        ({"masts": [{"height": "x"}]}, "the key 'masts[0].height' must be a number between 0 and 30, but is 'x'"),
        ({"masts": [{"height": 31}]}, "the key 'masts[0].height' must be a number between 0 and 30, but is 31"),
        (
            {"masts": [{"height": float("nan")}]},
            "the key 'masts[0].height' must be a number between 0 and 30, but is NaN",
        ),
        ({"masts": [{"height": 1, "kind": ""}]}, "the key 'masts[0].kind' must be one of wood, steel, but is empty"),
        ({"masts": [{"height": 1, "sail": 2}]}, "the key 'masts[0].sail' is unknown; the keys are height, kind"),
        (
            {"marks": {"a": []}},
            "the key 'marks.a' must be text or true or false, but is a list",
        ),
        ({"new": "yes"}, "the key 'new' must be true or false, but is 'yes'"),
    ],
)
def test_what_is_wrong_is_said_with_its_key(change: Mapping[str, Any], message: str) -> None:
    with pytest.raises(WrongValue) as caught:
        read_record(Boat, {**FULL, **change})
    assert caught.value.message == message
    with pytest.raises(UnreadableKey) as unreadable:
        read_in_file(Boat, {**FULL, **change}, "boats.jsonl", 3)
    assert unreadable.value.message == f"boats.jsonl:3 cannot be read: {message}."


@pytest.mark.parametrize("value", [None, 3, "text", [1]])
def test_no_record_at_all(value: object) -> None:
    with pytest.raises(WrongValue, match="it must be an object, but is "):
        read_record(Boat, value)


ANYTHING = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=8,
)


@given(st.dictionaries(st.sampled_from([*FULL, "other"]), ANYTHING, max_size=5))
def test_any_record_is_read_or_refused_and_written_alike(change: dict[str, Any]) -> None:
    try:
        boat = read_record(Boat, {**FULL, **change})
    except WrongValue:
        return
    assert read_record(Boat, to_record(boat)) == boat or "nan" in repr(boat)


def test_a_log_has_a_record_a_line() -> None:
    lines = render_lines([Mast(1), Mast(2, "steel")])
    assert lines == b'{"height": 1, "kind": "wood"}\n{"height": 2, "kind": "steel"}\n'
