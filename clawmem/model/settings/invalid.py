"""Settings some of which do not fit: the others count, and each of these stops only what needs it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from clawmem.errors import ClawmemError, InvalidInput
from clawmem.model.settings.settings import BY_KEY, FILE, GROUPS, HARMLESS, Settings, flat, settings_from_mapping


def tolerant(mapping: Mapping[Any, Any]) -> Settings:
    """Settings out of a parsed `clawmem.yaml`: what does not fit has its default, and is in `wrong` with the reason.

    Raises Refused where the vault is newer than this clawmem.
    """
    fitting: dict[str, Any] = {}
    wrong: dict[str, ClawmemError] = {}
    for key, value in flat(mapping):
        try:
            settings_from_mapping({key: value})
            fitting[key] = value
        except InvalidInput as problem:
            wrong.update(dict.fromkeys(_concerned(key), problem))
    return settings_from_mapping(fitting)._replace(wrong=wrong)


def _concerned(key: str) -> Iterable[str]:
    return [one for one in BY_KEY if one.startswith(f"{key}.")] if key in GROUPS else [key]


def told_of(settings: Settings) -> Iterator[str]:
    """What a person should hear of settings that do not fit, and of a file that does not parse."""
    if settings.unread is not None:
        yield f"{settings.unread.message} Until it is mended nothing can be changed."
    own: dict[str, list[str]] = {}
    for key, problem in settings.wrong.items():
        if key in settings.origins:
            own.setdefault(problem.message, []).append(key)
        elif key in HARMLESS:
            yield f"{FILE}: {problem.message} Until it is mended, {key} counts as {BY_KEY[key].default}."
        else:
            yield f"{FILE}: {problem.message} Until it is mended, what needs {key} refuses."
    for message, keys in own.items():
        needed = keys[0] if len(keys) == 1 else "this machine's own settings"
        yield f"{message} Until it is mended, what needs {needed} refuses."
