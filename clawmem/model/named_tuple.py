"""Frozen values as tuples with named fields: `typing.NamedTuple`, made in a tenth of the time.

`typing.NamedTuple` writes the constructor of each class as text and compiles it, 80 microseconds a class, and a short
command needs about seventy of them. Here all classes with the same number of fields share one compiled constructor,
whose arguments are renamed.
"""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from typing import NamedTuple as NamedTuple  # what mypy knows is all it has to know
else:
    from collections import _tuplegetter
    from functools import cache
    from types import FunctionType

    _new = tuple.__new__

    @cache
    def _constructor(count):
        """Return a constructor of tuples with this number of arguments, named by their numbers."""
        names = "".join(f"_{number}, " for number in range(count))
        return eval(f"lambda _cls, {names}: _new(_cls, ({names}))", {"_new": _new})

    class _Fields(type):
        """Makes a class of tuples from the annotations in the body of a class."""

        def __new__(cls, name, bases, body):
            if not bases[0].__dict__.get("_is_base"):
                return super().__new__(cls, name, bases, body)  # a class that only adds methods
            types = body.get("__annotations__", {})
            fields = tuple(types)
            defaults = {field: body[field] for field in fields if field in body}
            if fields[len(fields) - len(defaults) :] != tuple(defaults):
                raise TypeError(f"In {name}, a field without a default follows one with a default.")
            shared = _constructor(len(fields))
            code = shared.__code__.replace(co_varnames=("_cls", *fields))
            new = FunctionType(code, shared.__globals__, "__new__", tuple(defaults.values()))
            new.__qualname__ = f"{name}.__new__"
            new.__annotations__ = types
            made = {field: _tuplegetter(number, f"Field {number}.") for number, field in enumerate(fields)}
            about = {"_fields": fields, "_count": len(fields), "_field_defaults": defaults, "__match_args__": fields}
            return super().__new__(cls, name, bases, {**body, **made, **about, "__new__": new, "__slots__": ()})

    class NamedTuple(tuple, metaclass=_Fields):
        """The base of all classes of tuples, with the methods that `typing.NamedTuple` gives."""

        __slots__ = ()
        _is_base = True
        _fields = ()
        _count = 0

        @classmethod
        def _make(cls, values):
            made = _new(cls, values)
            if len(made) != cls._count:
                raise TypeError(f"Expected {cls._count} arguments, got {len(made)}")
            return made

        def _replace(self, /, **changed):
            made = self._make(map(changed.pop, self._fields, self))
            if changed:
                raise ValueError(f"Got unexpected field names: {list(changed)!r}")
            return made

        def _asdict(self):
            return dict(zip(self._fields, self, strict=True))

        def __repr__(self):
            values = ", ".join(f"{field}={value!r}" for field, value in zip(self._fields, self, strict=True))
            return f"{type(self).__name__}({values})"

        def __getnewargs__(self):
            return tuple(self)
