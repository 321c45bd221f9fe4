"""Our named tuples behave as those of `typing`, and a class of them is made faster."""

import copy
import inspect
import pickle
import timeit
import typing
from collections.abc import Callable
from typing import Any

import pytest

from clawmem.model.named_tuple import NamedTuple


class Ours(NamedTuple):
    """A value."""

    name: str
    size: int = 3
    tags: tuple[str, ...] = ()

    @property
    def doubled(self) -> int:
        """Twice the size."""
        return self.size * 2


class Theirs(typing.NamedTuple):
    """A value."""

    name: str
    size: int = 3
    tags: tuple[str, ...] = ()

    @property
    def doubled(self) -> int:
        """Twice the size."""
        return self.size * 2


class More(Ours):
    """A class that only adds a method."""

    def loud(self) -> str:
        return self.name.upper()


class Nothing(NamedTuple):
    """A value without fields."""


def both(act: Callable[[Any], object]) -> None:
    """The same result, or the same kind of failure, from both classes."""

    def outcome(kind: Any) -> object:
        try:
            return act(kind)
        except (TypeError, ValueError, AttributeError) as problem:
            return type(problem), str(problem)

    ours, theirs = outcome(Ours), outcome(Theirs)
    assert str(ours).replace("Ours", "Theirs") == str(theirs)


@pytest.mark.parametrize(
    "act",
    [
        lambda kind: kind("a"),
        lambda kind: kind("a", tags=("x",)),
        lambda kind: kind(size=1, name="b"),
        lambda kind: kind(),
        lambda kind: kind("a", 1, (), 4),
        lambda kind: kind("a", other=1),
        lambda kind: kind("a")._replace(size=5),
        lambda kind: kind("a")._replace(other=5),
        lambda kind: kind("a")._asdict(),
        lambda kind: kind._make(["a", 2, ()]),
        lambda kind: kind._make(["a"]),
        lambda kind: kind("a") == ("a", 3, ()) and hash(kind("a")) == hash(("a", 3, ())),
        lambda kind: (kind("a").size, kind("a").doubled, kind("a")[0], *kind("a")),
        lambda kind: setattr(kind("a"), "more", 1),
        lambda kind: (kind._fields, kind._field_defaults, kind.__match_args__, kind.__annotations__, kind.__doc__),
        lambda kind: inspect.signature(kind),
        lambda kind: kind("a") < kind("b"),
    ],
)
def test_it_behaves_as_a_named_tuple_of_typing(act: Callable[[Any], object]) -> None:
    both(act)


def test_a_field_cannot_be_set() -> None:
    with pytest.raises(AttributeError):
        Ours("a").size = 4  # type: ignore[misc]


def test_it_is_copied_and_pickled() -> None:
    ours = Ours("a", 2)
    assert copy.copy(ours) == copy.deepcopy(ours) == pickle.loads(pickle.dumps(ours)) == ours
    assert type(pickle.loads(pickle.dumps(ours))) is Ours


def test_a_class_may_add_methods_or_have_no_field() -> None:
    assert More("a").loud() == "A" and More("a")._replace(name="b") == ("b", 3, ())
    assert Nothing() == () and Nothing._fields == ()


def test_it_is_matched_by_its_fields() -> None:
    match Ours("a", 7):
        case Ours(name, size=size):
            assert (name, size) == ("a", 7)


def test_a_field_without_a_default_after_one_with_a_default_is_refused() -> None:
    with pytest.raises(TypeError, match="without a default"):

        class Wrong(NamedTuple):
            size: int = 3
            name: str  # type: ignore[misc]


def test_a_class_is_made_in_half_the_time() -> None:
    def made(base: Any) -> Callable[[], object]:
        body = "class Made(base):\n" + "".join(f"    field{number}: int\n" for number in range(9))
        code = compile(body, "made", "exec", dont_inherit=True)
        return lambda: exec(code, {"base": base, "__name__": __name__})

    times = [min(timeit.repeat(made(base), number=20, repeat=5)) for base in (NamedTuple, typing.NamedTuple)]
    assert times[0] < times[1] / 2
