"""Settings read and changed: one key, one line of `clawmem.yaml`, one commit."""

from __future__ import annotations

from typing import Any, NamedTuple

from clawmem.errors import InvalidInput, NotFound
from clawmem.memory.permission import check_may_write
from clawmem.memory.yaml_edit import in_full, with_value
from clawmem.model.caller import Caller
from clawmem.model.change import Change, agent_author, subject_line, trailers
from clawmem.model.layout import SETTINGS as FILE
from clawmem.model.setting_values import Setting, Value
from clawmem.model.settings import AGENTS, BY_KEY, SETTINGS, Settings, parse_value, setting_named, settings_from_mapping
from clawmem.model.text import check_visible
from clawmem.vault.new_secrets import allowed
from clawmem.vault.transaction import transaction
from clawmem.vault.vault import Vault, parse_yaml


class Configured(NamedTuple):
    """A setting, its value, and whether `clawmem.yaml` says so (else it is the default)."""

    setting: Setting
    value: Value
    is_set: bool


class Changed(NamedTuple):
    """A setting before and after; `commit` is None where the value was that already."""

    key: str
    old: Value
    new: Value
    commit: str | None
    notices: tuple[str, ...] = ()


def setting(vault: Vault, key: str) -> Configured:
    """One setting; NotFound, with the keys that come near, where there is none of that name."""
    return _configured(vault, _named(key))


def all_settings(vault: Vault) -> tuple[Configured, ...]:
    """Every setting, in the order they are documented."""
    own = [setting_named(key) for key in vault.settings.values if key.startswith(f"{AGENTS}.")]
    return tuple(_configured(vault, one) for one in (*SETTINGS, *own))


def change_setting(vault: Vault, caller: Caller, key: str, text: str) -> Changed:
    """Give a setting a value as typed; InvalidInput where it does not fit. One commit, none where nothing changes."""
    named = _named(key)
    check_visible(text, f"value of {named.key}")
    mended = _mend(vault, caller, named.key, text)
    new = parse_value(named.key, allowed(vault.settings, text, f"The value of {named.key}"))
    with transaction(vault, caller.now, "config") as started:
        started.adopt()
        if FILE in started.unreadable:
            raise started.unreadable[FILE]
        old_text = (started.read(FILE) or b"").decode("utf-8-sig")
        old = _values(old_text).get(named.key)
        commit = None
        if new != old:
            new_text = with_value(old_text, named.key, new, FILE)
            assert _values(new_text).get(named.key) == new
            check_may_write(vault, caller, [FILE], "config")
            (commit,) = started.commit([_change(named.key, old, new, new_text, caller)])
        if mended is not None:
            old, commit = mended, vault.head().commit
        return Changed(named.key, old, new, commit, tuple(started.notices))


def _mend(vault: Vault, caller: Caller, key: str, text: str) -> Value | None:
    """Put the value in place of one that keeps the file from being understood; returns that one, None where there is
    none. It goes into the file as it stands, edits by hand included, and is taken in together with them."""
    try:
        _ = vault.settings
        return None
    except InvalidInput:
        given = vault.read_text(FILE) or ""
        # Raises where something else is wrong, too.
        vault.settings = _values(with_value(given, key, parse_value(key, text), FILE))
        check_may_write(vault, caller, [FILE], "config")
        new = parse_value(key, allowed(vault.settings, text, f"The value of {key}"))
        mended = with_value(given, key, new, FILE)
        vault.disk.replace(vault.path(FILE), mended.encode(), vault.state)
        return str(_raw(parse_yaml(given, FILE), key))


def _raw(mapping: Any, key: str) -> Any:
    """What a parsed `clawmem.yaml` has under a dotted key; None where it has nothing."""
    for part in key.split("."):
        mapping = mapping.get(part) if isinstance(mapping, dict) else None
    return mapping


def _values(text: str) -> Settings:
    return settings_from_mapping(parse_yaml(text, FILE) or {})


def _configured(vault: Vault, one: Setting) -> Configured:
    return Configured(one, vault.settings.get(one.key), _raw(vault.load_yaml(FILE), one.key) is not None)


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
