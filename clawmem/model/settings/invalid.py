"""Load settings of which some are invalid: the others apply, and each invalid one blocks only what needs it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from clawmem.errors import ClawmemError, InvalidInput
from clawmem.model.settings.settings import BY_KEY, FILE, GROUPS, HARMLESS, Settings, flatten, settings_from_mapping


def read_tolerantly(mapping: Mapping[Any, Any]) -> Settings:
    """Return the settings from a parsed `clawmem.yaml`; an invalid one gets its default and is listed in `wrong`.

    Raise Refused if the vault is newer than this clawmem.
    """
    fitting: dict[str, Any] = {}
    wrong: dict[str, ClawmemError] = {}
    for key, value in flatten(mapping):
        try:
            settings_from_mapping({key: value})
            fitting[key] = value
        except InvalidInput as problem:
            wrong.update(dict.fromkeys(_concerned(key), problem))
    return settings_from_mapping(fitting)._replace(wrong=wrong)


def _concerned(key: str) -> Iterable[str]:
    return [text for text in BY_KEY if text.startswith(f"{key}.")] if key in GROUPS else [key]


def invalid_messages(settings: Settings) -> Iterator[str]:
    """Yield messages about invalid settings, and about a file that cannot be parsed."""
    if settings.unread is not None:
        yield f"{settings.unread.message} Until it is repaired, nothing can be changed."
    own: dict[str, list[str]] = {}
    for key, problem in settings.wrong.items():
        if key in settings.origins:
            own.setdefault(problem.message, []).append(key)
        elif key in HARMLESS:
            yield f"{FILE}: {problem.message} Until it is repaired, {key} has its default, {BY_KEY[key].default}."
        else:
            yield f"{FILE}: {problem.message} Until it is repaired, everything that needs {key} is refused."
    for message, keys in own.items():
        needed = keys[0] if len(keys) == 1 else "this machine's own settings"
        yield f"{message} Until it is repaired, everything that needs {needed} is refused."
