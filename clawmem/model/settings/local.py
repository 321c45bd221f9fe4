"""Local settings: settings with effects outside the vault come only from this machine; a vault can suggest them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from clawmem.errors import ClawmemError, InvalidInput
from clawmem.model.named_tuple import NamedTuple
from clawmem.model.settings.settings import (
    BY_KEY,
    FILE,
    GROUPS,
    HARMLESS,
    LOCAL,
    Settings,
    flatten,
    is_command,
    is_hosted_model,
    model_names,
    settings_from_mapping,
)
from clawmem.model.settings.values import Value, check_value

DEFAULT, VAULT, HERE, USER = "default", "vault", "local", "user"


class LocalSettings(NamedTuple):
    """The content of one of this machine's settings files.

    `origin` is HERE (in the vault's git folder) or USER (in the user's configuration). `wrong` holds invalid values,
    and `no_effect` keys that do nothing in this file. If not `accepted`, the file belongs to a vault that no person
    accepted on this machine, so it only suggests values.
    """

    origin: str
    name: str
    values: Mapping[str, Value] = {}
    wrong: Mapping[str, ClawmemError] = {}
    no_effect: tuple[str, ...] = ()
    accepted: bool = True


class SettingSuggestion(NamedTuple):
    """A local key for which the vault suggests another value than the current one.

    `answered` means that a file of this machine sets the key.
    """

    key: str
    suggested: Value
    in_force: Value
    answered: bool


def read_local_settings(mapping: object, origin: str, name: str, accepted: bool = True) -> LocalSettings:
    """Return the settings from a parsed file of this machine, by the same rules as for `clawmem.yaml`."""
    if mapping is not None and not isinstance(mapping, Mapping):
        return unreadable_settings(InvalidInput(f"{name} must contain keys and values.", _HINT), origin, name, accepted)
    values: dict[str, Value] = {}
    wrong: dict[str, ClawmemError] = {}
    no_effect: list[str] = []
    for key, value in flatten(mapping or {}):
        if key in GROUPS:
            problem = InvalidInput(f"{name}: '{key}' contains several settings, not one value.", _HINT)
            wrong.update({text: problem for text in LOCAL if text.startswith(f"{key}.")})
        elif key not in LOCAL or is_hosted_model(key, value):
            no_effect.append(key)
        elif value is not None:
            try:
                values[key] = check_value(BY_KEY[key], value)
            except InvalidInput as problem:
                wrong[key] = InvalidInput(f"{name}: {problem.message}", problem.hint)
    return LocalSettings(origin, name, values, wrong, tuple(no_effect), accepted)


def unreadable_settings(problem: ClawmemError, origin: str, name: str, accepted: bool = True) -> LocalSettings:
    """Return the result for a file that cannot be read: all local keys are invalid."""
    return LocalSettings(origin, name, {}, dict.fromkeys(sorted(LOCAL), problem), accepted=accepted)


def in_force(stated: Settings, owns: Sequence[LocalSettings]) -> Settings:
    """Return the settings of `clawmem.yaml`, with each local key from the first of this machine's files that has it.

    If that value is invalid, no other value replaces it.
    """
    values, suggested, origins = dict(stated.values), dict(stated.suggested), {}
    wrong = {key: problem for key, problem in stated.wrong.items() if key not in LOCAL}
    for own in owns:
        if not own.accepted:
            suggested.update(own.values)
            continue
        for key in own.values.keys() | own.wrong.keys():
            if key in origins:
                continue
            origins[key] = own.origin
            if key in own.wrong:
                wrong[key] = own.wrong[key]
            else:
                values[key] = own.values[key]
    return stated._replace(values=values, suggested=suggested, origins=origins, wrong=wrong)


def open_suggestions(settings: Settings) -> tuple[SettingSuggestion, ...]:
    """Return the suggestions that differ from the current values, in the order of the documentation."""
    record = {
        key: settings.values.get(key, setting.default) for key, setting in BY_KEY.items() if key in settings.suggested
    }
    return tuple(
        SettingSuggestion(key, settings.suggested[key], value, key in settings.origins)
        for key, value in record.items()
        if settings.suggested[key] != value
    )


def suggestion_message(settings: Settings, *groups: str) -> tuple[str, ...]:
    """Return a message about suggestions of some groups that this machine has not answered.

    The values are left out, because an agent may read the message and a stranger may have written them.
    """
    keys = [
        suggestion.key
        for suggestion in open_suggestions(settings)
        if not suggestion.answered and suggestion.key.partition(".")[0] in groups
    ]
    if not keys:
        return ()
    return (
        f"This vault suggests values for {', '.join(keys)}. They have no effect on this machine until a person accepts"
        " them (`clawmem config trust`) or sets other values (`clawmem config set`).",
    )


def data_flows(settings: Settings) -> tuple[str, ...]:
    """Return what leaves this machine with some settings, and where it goes, as sentences."""
    sentences = [_model_flow(settings, name) for name in model_names(settings)]
    if organisation := settings.values.get("org.url"):
        sentences.append(f"Questions with --org, and facts with `clawmem org promote`, are sent to {organisation}.")
    remote, branch = settings.values.get("sync.remote"), settings.values.get("sync.branch")
    if {"sync.remote", "sync.branch"} & settings.suggested.keys():
        target = branch or "the current branch of this vault"
        sentences.append(f"`clawmem sync` sends the whole memory to {remote}, {target}.")
    return tuple(sentences)


def _model_flow(settings: Settings, model: str) -> str:
    sent, variable = "Events, daily notes and facts", settings.values.get("llm.api_key_env")
    secret = f", with the value of the environment variable {variable}" if variable else ""
    if is_command(model):
        program = settings.values.get("llm.command") or settings.values.get("llm.preset")
        return f"{sent} are given to the program `{program}`{secret}, which may send them on."
    place = settings.values.get("llm.api_base") or "the address of its provider"
    return f"{sent} are sent to the model {model} at {place}{secret}."


def with_suggestions(settings: Settings) -> Settings:
    """Return the settings with every suggestion accepted."""
    return settings._replace(values={**settings.values, **settings.suggested})


def origin_of(settings: Settings, key: str, is_set: bool) -> str:
    """Return where a key's value comes from; `is_set` says whether `clawmem.yaml` contains the key."""
    if key not in LOCAL:
        return VAULT if is_set else DEFAULT
    if key in settings.origins:
        return settings.origins[key]
    setting = BY_KEY[key]
    return VAULT if is_set and settings.values.get(key, setting.default) in setting.offline else DEFAULT


_HINT = "Repair it by hand; `clawmem config list` explains every key."


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
