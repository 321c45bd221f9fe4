"""Settings read and changed. A shared one is a line of `clawmem.yaml` and a commit; what reaches outside is a line of
one of this machine's own files, and in `clawmem.yaml` a suggestion."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from clawmem.errors import NotFound, Refused
from clawmem.memory.health.local_settings import check_accepted, check_person, put_values
from clawmem.memory.health.yaml_edit import in_full, with_value
from clawmem.memory.permission import check_may_write
from clawmem.model.language.text import check_visible
from clawmem.model.records.caller import Caller
from clawmem.model.records.change import Change, agent_author, subject_line, trailers
from clawmem.model.records.layout import SETTINGS as FILE
from clawmem.model.settings.invalid import read_tolerantly
from clawmem.model.settings.local import origin_of
from clawmem.model.settings.settings import (
    AGENTS,
    BY_KEY,
    DEFAULTS,
    LOCAL,
    SETTINGS,
    Settings,
    parse_value,
    setting_named,
    settings_from_mapping,
)
from clawmem.model.settings.values import Setting, Value
from clawmem.vault.commit.secret_gate import allowed
from clawmem.vault.commit.transaction import transaction
from clawmem.vault.state.local_settings import SettingsFile, local_place, settings_here, user_place
from clawmem.vault.strict_yaml import parse_yaml
from clawmem.vault.vault import Vault


class SettingState(NamedTuple):
    """A setting, the value in force, where that comes from (default, vault, local or user), and what the vault suggests
    where it is another."""

    setting: Setting
    value: Value
    origin: str
    suggested: Value | None = None


class SettingChange(NamedTuple):
    """A setting before and after; `commit` is None where the value was that already, and where it is `kept` in a file
    of this machine. `suggested` where it is only a suggestion."""

    key: str
    old: Value
    new: Value
    commit: str | None
    notices: tuple[str, ...] = ()
    kept: str | None = None
    suggested: bool = False


def setting(vault: Vault, key: str) -> SettingState:
    """One setting; NotFound, with the keys that come near, where there is none of that name."""
    named = _named(key)
    if named.key in vault.settings.wrong:
        raise vault.settings.wrong[named.key]
    return _configured(vault, named)


def all_settings(vault: Vault) -> tuple[SettingState, ...]:
    """Every setting, in the order they are documented."""
    own = [setting_named(key) for key in vault.settings.values if key.startswith(f"{AGENTS}.")]
    return tuple(_configured(vault, one) for one in (*SETTINGS, *own))


def change_setting(vault: Vault, caller: Caller, key: str, text: str, shared: bool = False) -> SettingChange:
    """Give a setting a value as typed; InvalidInput where it does not fit. One commit, none where nothing changes. What
    reaches outside is kept on this machine, in a vault that was accepted, and `shared` makes a suggestion of it."""
    named, new = _given(vault.settings, key, text)
    if named.key in LOCAL and not shared:
        check_person(caller, named.key)
        check_accepted(vault)
        return _keep(local_place(vault), named.key, new, vault.settings.number("lock.wait_seconds"))
    return _commit(vault, caller, named, new)


def change_user_setting(environment: Mapping[str, str], caller: Caller, key: str, text: str) -> SettingChange:
    """Give a setting that reaches outside a value for all vaults of this user, where a vault has none of its own."""
    named, new = _given(DEFAULTS, key, text)
    if named.key not in LOCAL:
        raise Refused(f"{named.key} is a setting of the vault, not of a machine.", "Leave out --user.")
    check_person(caller, named.key)
    return _keep(user_place(environment), named.key, new, DEFAULTS.number("lock.wait_seconds"))


def _given(settings: Settings, key: str, text: str) -> tuple[Setting, Value]:
    named = _named(key)
    check_visible(text, f"value of {named.key}")
    return named, parse_value(named.key, allowed(settings, text, f"The value of {named.key}"))


def _keep(place: SettingsFile, key: str, new: Value, wait: float) -> SettingChange:
    old = put_values(place, {key: new}, wait).get(key)
    return SettingChange(key, BY_KEY[key].default if old is None else old, new, None, kept=place.name)


def _commit(vault: Vault, caller: Caller, named: Setting, new: Value) -> SettingChange:
    put_back = _put_back(vault, caller, named.key)
    with transaction(vault, caller.now, "config") as started:
        started.adopt()
        if FILE in started.unreadable:
            raise started.unreadable[FILE]
        old_text = (started.read(FILE) or b"").decode("utf-8-sig")
        old = _standing(old_text, named.key)
        commit = None
        if new != old:
            new_text = with_value(old_text, named.key, new, FILE)
            assert _stated(_values(new_text), named.key) == new
            check_may_write(vault, caller, [FILE], "config")
            (commit,) = started.commit([_change(named.key, old, new, new_text, caller)])
        suggested = named.key in LOCAL and new not in named.offline
        return SettingChange(named.key, old, new, commit, (*put_back, *started.notices), suggested=suggested)


def _standing(text: str, key: str) -> Value:
    """The value of a key, as it stands there where it does not fit."""
    mapping = parse_yaml(text, FILE) or {}
    wrong = key in read_tolerantly(mapping).wrong
    return str(_raw(mapping, key)) if wrong else _stated(settings_from_mapping(mapping), key)


def _stated(settings: Settings, key: str) -> Value:
    """What `clawmem.yaml` says of a key, and be it a suggestion."""
    return settings.suggested[key] if key in settings.suggested else settings.get(key)


def _put_back(vault: Vault, caller: Caller, key: str) -> list[str]:
    """Take an edit by hand that left no fitting value of the key back to HEAD's, and say so; other edits stay, and are
    taken in on their own. What HEAD itself has is left to the commit that replaces it."""
    if key not in vault.stated.wrong:
        return []
    check_may_write(vault, caller, [FILE], "config")
    given, head = vault.read_text(FILE) or "", vault.head().commit
    held = vault.contents_at(head, [FILE])[FILE] if head else None
    standing = read_tolerantly(parse_yaml((held or b"").decode(errors="replace"), FILE) or {})
    if key in standing.wrong:
        return []
    text = with_value(given, key, _stated(standing, key), FILE)
    vault.stated = _values(text)  # raises where something else is wrong, too
    vault.settings = settings_here(vault, vault.stated)
    vault.disk.replace(vault.path(FILE), text.encode(), vault.state)
    return [f"{key} was {_raw(parse_yaml(given, FILE), key)} by hand, which does not fit"]


def _raw(mapping: Any, key: str) -> Any:
    """What a parsed `clawmem.yaml` has under a dotted key; None where it has nothing."""
    for part in key.split("."):
        mapping = mapping.get(part) if isinstance(mapping, dict) else None
    return mapping


def _values(text: str) -> Settings:
    return settings_from_mapping(parse_yaml(text, FILE) or {})


def _configured(vault: Vault, one: Setting) -> SettingState:
    settings = vault.settings
    is_set = not settings.unread and _raw(vault.load_yaml(FILE), one.key) is not None
    value = settings.values.get(one.key, one.default)
    suggested = settings.suggested.get(one.key)
    return SettingState(one, value, origin_of(settings, one.key, is_set), None if suggested == value else suggested)


def _named(key: str) -> Setting:
    try:
        return setting_named(key)
    except NotFound as problem:
        if problem.hint.startswith("Did you mean"):
            raise
        from difflib import get_close_matches

        near = get_close_matches(key, BY_KEY, n=3, cutoff=0.5)
        meant = f"Did you mean {' or '.join(near)}? " if near else ""
        raise NotFound(problem.message, meant + problem.hint) from None


def _change(key: str, old: Value, new: Value, text: str, caller: Caller) -> Change:
    return Change(
        subject=subject_line("config", key, f"{shown(old)} -> {shown(new)}"),
        writes={FILE: text.encode()},
        trailers=trailers("config", agent=caller.agent, session=caller.session),
        author=agent_author(caller.agent),
    )


def shown(value: Value) -> str:
    """A value as `clawmem.yaml` would have it."""
    if isinstance(value, bool):
        return "true" if value else "false"
    return in_full(value) if isinstance(value, float) else str(value)
