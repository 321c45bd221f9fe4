"""The reader and the writer of records: the annotations of a tuple class say which keys a record has.

    class EvalScore(NamedTuple):
        test: str                                 # a key without a default must be there
        outcome: Annotated[str, OUTCOMES]         # one of these words
        score: Annotated[float, (0, 1)]           # a number between these two; None is no bound
        at: Annotated[str, moment]                # what a function makes of the value; it raises ValueError
        reasons: tuple[str, ...] = ()             # a list; a key with a default may be missing or null
        labels: Mapping[str, Any] = {}            # an object
        marks: tuple[Mark, ...] = ()              # another tuple class is a nested record
        extra: Mapping[str, Any] = {}             # gets the keys of other versions; without it they are ignored

`Before(function)` in an annotation changes the value before it is checked, `Key(name)` names the key where the field
has another name, and a class with `@no_other_keys` refuses keys that it does not have.
"""

import json
from collections.abc import Callable, Collection, Iterable, Mapping
from functools import cache
from sys import modules
from types import NoneType, UnionType
from typing import Annotated, Any, TypeVar, Union, get_args, get_origin, get_type_hints

from clawmem.errors import InvalidInput, UnreadableKey, key_name
from clawmem.model.language.dates import moment_of
from clawmem.model.named_tuple import NamedTuple

_Record = TypeVar("_Record")
_Class = TypeVar("_Class", bound=type)
_Keys = tuple[str | int, ...]
_LONGEST = 40
_EXTRA = "extra"


class WrongValue(InvalidInput):
    """A value of a record is wrong. `keys` leads to it; `problem` completes the sentence "the key ... "."""

    def __init__(self, problem: str, *keys: str | int) -> None:
        super().__init__(f"the key '{key_name(keys)}' {problem}" if keys else f"it {problem}")
        self.keys: _Keys = keys
        self.problem = problem


class Before(NamedTuple):
    """Changes a value before it is checked. `words` say what it must be, where the type does not."""

    function: Callable[[Any], Any]
    words: str = ""


class Key(NamedTuple):
    """The key of a field that has another name."""

    name: str


class _Form(NamedTuple):
    """What an annotation says of a value: its Python types, the words for what it must be, and how it is read."""

    types: tuple[type, ...]
    words: str
    read: Callable[[Any], Any]


class _Field(NamedTuple):
    """A field of a class: its name, its key, its form, and whether it has a default. One without a default must be
    there unless it may be null."""

    name: str
    key: str
    form: _Form
    has_default: bool

    @property
    def is_needed(self) -> bool:
        """Return whether a record without the key is refused."""
        return not self.has_default and NoneType not in self.form.types


def no_other_keys(kind: _Class) -> _Class:
    """Let records of this class refuse keys that the class does not have."""
    kind._refuses_other_keys = True  # type: ignore[attr-defined]
    return kind


def read_record(kind: Callable[..., _Record], value: Any, **known: Any) -> _Record:
    """Return the record of a class in a value. Raise WrongValue with the key. `known` are fields that are no keys."""
    if not isinstance(value, Mapping):
        raise WrongValue(f"must be an object, but is {shown(value)}")
    fields = fields_of(kind)
    if hasattr(kind, "_refuses_other_keys"):
        refuse_other_keys(value, [field.key for field in fields if field.name not in known])
    values = {**known}
    for field in fields:
        if field.name in known:
            continue
        found = value.get(field.key)
        if found is not None:
            values[field.name] = _below(field.key, field.form.read, found)
        elif field.is_needed:
            raise WrongValue(f"is missing; it must be {field.form.words}", field.key)
        elif not field.has_default:
            values[field.name] = None
    if _EXTRA in kind._fields:  # type: ignore[attr-defined]
        names = {field.key for field in fields}
        values[_EXTRA] = {key: other for key, other in value.items() if key not in names}
    return kind(**values)


def refuse_other_keys(record: Mapping[str, Any], keys: Collection[str]) -> None:
    """Raise WrongValue if a record has a key that is none of these."""
    for key in record:
        if key not in keys:
            raise WrongValue(f"is unknown; the keys are {', '.join(keys)}", str(key))


def read_in_file(
    kind: Callable[..., _Record], value: Any, path: str, line: int | None = None, at: _Keys = (), **known: Any
) -> _Record:
    """Return the record of a class in a value from a file. Raise UnreadableKey, which names the file and the key.

    `at` are the keys that lead to the value."""
    try:
        return read_record(kind, value, **known)
    except WrongValue as problem:
        raise UnreadableKey(path, (*at, *problem.keys), problem.problem, line) from None


def to_record(value: Any, left_out: Collection[Any] = (None, ())) -> dict[str, Any]:
    """Return a record of a class as a JSON object, in the order of its fields, with the keys of `extra` behind them.

    Values in `left_out` of fields that may be missing are left out."""
    found = {}
    for field in fields_of(type(value)):  # type: ignore[arg-type]
        record = getattr(value, field.name)
        if field.is_needed or record not in left_out:
            found[field.key] = _plain(record, left_out)
    return found | dict(getattr(value, _EXTRA, {}))


def render_lines(records: Iterable[Any]) -> bytes:
    """Return records of classes as a log, one a line."""
    lines = (json.dumps(to_record(record, (None, ())), ensure_ascii=False) for record in records)
    return "".join(f"{line}\n" for line in lines).encode()


def filled(text: str) -> str:
    """Return a text without blanks around it. Raise WrongValue if nothing is left."""
    if not text.strip():
        raise WrongValue("is empty")
    return text.strip()


def time_text(text: str) -> str:
    """Return a text that is a time. Raise WrongValue if it is none."""
    try:
        moment_of(text)
    except (ValueError, OverflowError):
        raise wrong("a time such as 2026-11-21T09:30:00Z", text) from None
    return text


FilledText = Annotated[str, filled]
TimeText = Annotated[str, time_text]
ONE_OR_MORE = Before(lambda value: [value] if isinstance(value, str) else value)
"""Of a list of texts: it may be one text alone."""


def short_for(key: str) -> Before:
    """Let a record be a text alone, which is the value of this key."""
    return Before(lambda value: {key: value} if isinstance(value, str) else value)


def wrong(words: str, value: Any) -> WrongValue:
    """Return the error that a value is something else than it must be."""
    return WrongValue(f"must be {words}, but is {shown(value)}")


def shown(value: Any) -> str:
    """Return a value in a few words, for messages."""
    if isinstance(value, str):
        return f"'{value[:_LONGEST]}{'…' * (len(value) > _LONGEST)}'" if value.strip() else "empty"
    if isinstance(value, list | tuple | Mapping):
        return "an object" if isinstance(value, Mapping) else "a list"
    return json.dumps(value) if isinstance(value, int | float | None) else f"{value} without quotes"  # a date of YAML


@cache
def fields_of(kind: Any) -> tuple[_Field, ...]:
    """Return the fields of a class, without `extra`."""
    # A function that an annotation defines finds the names of its module only if these are the globals.
    hints = get_type_hints(kind, vars(modules[kind.__module__]), include_extras=True)
    return tuple(_field(name, hints[name], name in kind._field_defaults) for name in kind._fields if name != _EXTRA)


def _field(name: str, hint: Any, has_default: bool) -> _Field:
    key = next((mark.name for mark in get_args(hint)[1:] if isinstance(mark, Key)), name)
    return _Field(name, key, _form(hint), has_default)


@cache
def _form(hint: Any) -> _Form:
    if hint is Any:
        return _Form((object,), "a value", lambda value: value)
    if hint in _PLAIN:
        return _typed(hint, *_PLAIN[hint])
    origin, arguments = get_origin(hint), get_args(hint)
    if origin is Annotated:
        form = _form(arguments[0])
        for mark in arguments[1:]:
            form = _narrowed(form, mark)
        return form
    if origin in (UnionType, Union):
        return _either([_form(argument) for argument in arguments])
    if origin is tuple:
        return _list(arguments)
    if hasattr(hint, "_fields"):
        return _Form((Mapping, hint), "an object", lambda value: _nested(hint, value))
    return _by_name(_form(arguments[1]))


_PLAIN = {
    str: ("text", (str,)), int: ("a whole number", (int,)), float: ("a number", (int, float)),
    bool: ("true or false", (bool,)), NoneType: ("null", (NoneType,)),
}  # fmt: skip


def _typed(kind: type, words: str, types: tuple[type, ...]) -> _Form:
    def read(value: Any) -> Any:
        if isinstance(value, types) and (kind is bool or not isinstance(value, bool)):
            return value
        raise wrong(words, value)

    return _Form(types, words, read)


def _narrowed(form: _Form, mark: Any) -> _Form:
    if isinstance(mark, Key):
        return form
    if isinstance(mark, Before):
        return _Form((object,), mark.words or form.words, lambda value: form.read(mark.function(value)))
    if callable(mark):
        return form._replace(read=lambda value: _made(mark, form.read(value)))
    if isinstance(next(iter(mark)), str):
        words, fits = f"one of {', '.join(mark)}", mark.__contains__
    else:
        low, high = mark
        words = f"{form.words} between {low} and {high:,}" if high is not None else f"{form.words}, {low} or more"
        fits = lambda number: low <= number and (high is None or number <= high)  # noqa: E731

    def read(value: Any) -> Any:
        if isinstance(value, form.types) and not isinstance(value, bool) and fits(value):
            return value
        raise wrong(words, value)

    return _Form(form.types, words, read)


def _made(function: Callable[[Any], Any], value: Any) -> Any:
    try:
        return function(value)
    except WrongValue:
        raise
    except InvalidInput as problem:
        raise WrongValue(f"is wrong: {problem.message.rstrip('.')}") from None
    except ValueError as problem:
        raise WrongValue(str(problem)) from None


def _either(forms: list[_Form]) -> _Form:
    words = " or ".join(form.words for form in forms if form.types != (NoneType,))
    # To Python, true is a whole number, too.
    by_type = sorted(forms, key=lambda form: bool not in form.types)

    def read(value: Any) -> Any:
        form = next((form for form in by_type if isinstance(value, form.types)), None)
        if form is None:
            raise wrong(words, value)
        return form.read(value)

    return _Form(tuple(kind for form in forms for kind in form.types), words, read)


def _list(arguments: tuple[Any, ...]) -> _Form:
    item = _form(arguments[0])
    length = None if arguments[-1] is Ellipsis else len(arguments)
    words = "a list" if length is None else f"a list of {length}"

    def read(value: Any) -> Any:
        if not isinstance(value, list | tuple) or len(value) != (length or len(value)):
            raise wrong(words, value)
        return tuple(_below(place, item.read, other) for place, other in enumerate(value))

    return _Form((list, tuple), words, read)


def _by_name(item: _Form) -> _Form:
    def read(value: Any) -> Any:
        if not isinstance(value, Mapping):
            raise wrong("an object", value)
        return {str(key): _below(str(key), item.read, other) for key, other in value.items()}

    return _Form((Mapping,), "an object", read)


def _nested(kind: Callable[..., _Record], value: Any) -> _Record:
    return value if isinstance(value, kind) else read_record(kind, value)  # type: ignore[arg-type]


def _below(key: str | int, read: Callable[[Any], Any], value: Any) -> Any:
    """Read a value that is below a key. The keys in an error begin with it."""
    try:
        return read(value)
    except WrongValue as problem:
        raise WrongValue(problem.problem, key, *problem.keys) from None


def _plain(value: Any, left_out: Collection[Any]) -> Any:
    if hasattr(value, "_fields"):
        return to_record(value, left_out)
    if isinstance(value, Mapping):
        return {key: _plain(other, left_out) for key, other in value.items()}
    return [_plain(other, left_out) for other in value] if isinstance(value, list | tuple) else value
