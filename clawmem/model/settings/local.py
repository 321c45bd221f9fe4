"""The machine's own settings: what reaches outside takes effect from its files only; a vault can suggest it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from clawmem.errors import ClawmemError, InvalidInput
from clawmem.model.settings.settings import BY_KEY, GROUPS, LOCAL, Settings, flat
from clawmem.model.settings.values import Value, checked

DEFAULT, VAULT, HERE, USER = "default", "vault", "local", "user"


class Own(NamedTuple):
    """What one of the machine's files says: where it stands (HERE: in the vault's git folder, USER: in the user's
    configuration), its name, values, what does not fit and why, and the keys that have no effect there. Not `accepted`
    is the local file of a vault that no person accepted on this machine: it suggests, too."""

    origin: str
    name: str
    values: Mapping[str, Value] = {}
    wrong: Mapping[str, ClawmemError] = {}
    no_effect: tuple[str, ...] = ()
    accepted: bool = True


class Difference(NamedTuple):
    """A local key for which the vault suggests another value than the one in force; `answered` where a file of this
    machine gives the key."""

    key: str
    suggested: Value
    in_force: Value
    answered: bool


def own_settings(mapping: object, origin: str, name: str, accepted: bool = True) -> Own:
    """The settings out of a parsed file of this machine, by the same rules as those of `clawmem.yaml`."""
    if mapping is not None and not isinstance(mapping, Mapping):
        return unreadable(InvalidInput(f"{name} must hold keys and values.", _HINT), origin, name, accepted)
    values: dict[str, Value] = {}
    wrong: dict[str, ClawmemError] = {}
    no_effect: list[str] = []
    for key, value in flat(mapping or {}):
        if key in GROUPS:
            problem = InvalidInput(f"{name}: '{key}' holds several settings, not one value.", _HINT)
            wrong.update({one: problem for one in LOCAL if one.startswith(f"{key}.")})
        elif key not in LOCAL:
            no_effect.append(key)
        elif value is not None:
            try:
                values[key] = checked(BY_KEY[key], value)
            except InvalidInput as problem:
                wrong[key] = InvalidInput(f"{name}: {problem.message}", problem.hint)
    return Own(origin, name, values, wrong, tuple(no_effect), accepted)


def unreadable(problem: ClawmemError, origin: str, name: str, accepted: bool = True) -> Own:
    """A file of this machine that cannot be read: it could have said anything of any local key."""
    return Own(origin, name, {}, dict.fromkeys(sorted(LOCAL), problem), accepted=accepted)


def in_force(stated: Settings, owns: Sequence[Own]) -> Settings:
    """What `clawmem.yaml` states, and for each local key what the first of the machine's files says of it. Where that
    does not fit, nothing else takes its place."""
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


def differences(settings: Settings) -> tuple[Difference, ...]:
    """What is suggested and not in force, in the order the settings are documented."""
    given = {key: settings.values.get(key, one.default) for key, one in BY_KEY.items() if key in settings.suggested}
    return tuple(
        Difference(key, settings.suggested[key], value, key in settings.origins)
        for key, value in given.items()
        if settings.suggested[key] != value
    )


def told_of_suggestions(settings: Settings, *groups: str) -> tuple[str, ...]:
    """What a person should hear of suggestions of some groups that this machine has no answer to. The values are left
    out: an agent may be reading, and they can be a stranger's words."""
    keys = [one.key for one in differences(settings) if not one.answered and one.key.partition(".")[0] in groups]
    if not keys:
        return ()
    return (
        f"This vault suggests {', '.join(keys)}: not in force on this machine until a person accepts it"
        " (`clawmem config trust`) or sets another value (`clawmem config set`).",
    )


def reached(settings: Settings) -> tuple[str, ...]:
    """What leaves this machine under some settings, and where it goes, in sentences."""
    told = []
    for group, key, what in (
        ("llm", "llm.model", "Events, daily notes and facts"),
        ("semantic", "semantic.model", "Facts, events, notes and questions"),
    ):
        model = settings.values.get(key)
        if model and model not in BY_KEY[key].offline:
            place = settings.values.get(f"{group}.api_base") or "the address of its provider"
            variable = settings.values.get(f"{group}.api_key_env")
            secret = f", with the value of the environment variable {variable}" if variable else ""
            told.append(f"{what} are sent to the model {model} at {place}{secret}.")
    remote, branch = settings.values.get("sync.remote"), settings.values.get("sync.branch")
    if {"sync.remote", "sync.branch"} & settings.suggested.keys():
        told.append(f"`clawmem sync` gives the whole memory to {remote}, {branch or 'the branch this vault is on'}.")
    return tuple(told)


def accepting(settings: Settings) -> Settings:
    """The settings as they are in force once everything that is suggested was accepted."""
    return settings._replace(values={**settings.values, **settings.suggested})


def origin_of(settings: Settings, key: str, is_set: bool) -> str:
    """Where the value of a key comes from; `is_set` tells whether `clawmem.yaml` has it."""
    if key not in LOCAL:
        return VAULT if is_set else DEFAULT
    if key in settings.origins:
        return settings.origins[key]
    one = BY_KEY[key]
    return VAULT if is_set and settings.values.get(key, one.default) in one.offline else DEFAULT


_HINT = "Mend it by hand; `clawmem config list` shows every key and what it means."
