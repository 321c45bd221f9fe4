"""Settings read and changed: one key, one line of `clawmem.yaml`, one commit."""

from __future__ import annotations

from typing import Any, NamedTuple

from clawmem.errors import NotFound
from clawmem.memory.permission import check_may_write
from clawmem.memory.yaml_edit import in_full, with_value
from clawmem.model.caller import Caller
from clawmem.model.change import Change, agent_author, subject_line, trailers
from clawmem.model.layout import SETTINGS as FILE
from clawmem.model.setting_values import Setting, Value
from clawmem.model.settings import AGENTS, BY_KEY, SETTINGS, Settings, parse_value, setting_named, settings_from_mapping
from clawmem.model.settings_wrong import tolerant
from clawmem.model.text import check_visible
from clawmem.vault.new_secrets import allowed
from clawmem.vault.strict_yaml import parse_yaml
from clawmem.vault.transaction import transaction
from clawmem.vault.vault import Vault


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
    named = _named(key)
    if named.key in vault.settings.wrong:
        raise vault.settings.wrong[named.key]
    return _configured(vault, named)


def all_settings(vault: Vault) -> tuple[Configured, ...]:
    """Every setting, in the order they are documented."""
    own = [setting_named(key) for key in vault.settings.values if key.startswith(f"{AGENTS}.")]
    return tuple(_configured(vault, one) for one in (*SETTINGS, *own))


def change_setting(vault: Vault, caller: Caller, key: str, text: str) -> Changed:
    """Give a setting a value as typed; InvalidInput where it does not fit. One commit, none where nothing changes."""
    named = _named(key)
    check_visible(text, f"value of {named.key}")
    new = parse_value(named.key, allowed(vault.settings, text, f"The value of {named.key}"))
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
            assert _values(new_text).get(named.key) == new
            check_may_write(vault, caller, [FILE], "config")
            (commit,) = started.commit([_change(named.key, old, new, new_text, caller)])
        return Changed(named.key, old, new, commit, (*put_back, *started.notices))


def _standing(text: str, key: str) -> Value:
    """The value of a key, as it stands there where it does not fit."""
    mapping = parse_yaml(text, FILE) or {}
    return str(_raw(mapping, key)) if key in tolerant(mapping).wrong else settings_from_mapping(mapping).get(key)


def _put_back(vault: Vault, caller: Caller, key: str) -> list[str]:
    """Take an edit by hand that left no fitting value of the key back to HEAD's, and say so; other edits stay, and are
    taken in on their own. What HEAD itself has is left to the commit that replaces it."""
    if key not in vault.settings.wrong:
        return []
    check_may_write(vault, caller, [FILE], "config")
    given, head = vault.read_text(FILE) or "", vault.head().commit
    held = vault.contents_at(head, [FILE])[FILE] if head else None
    standing = tolerant(parse_yaml((held or b"").decode(errors="replace"), FILE) or {})
    if key in standing.wrong:
        return []
    text = with_value(given, key, standing.get(key), FILE)
    vault.settings = _values(text)  # raises where something else is wrong, too
    vault.disk.replace(vault.path(FILE), text.encode(), vault.state)
    return [f"{key} was {_raw(parse_yaml(given, FILE), key)} by hand, which does not fit"]


def _raw(mapping: Any, key: str) -> Any:
    """What a parsed `clawmem.yaml` has under a dotted key; None where it has nothing."""
    for part in key.split("."):
        mapping = mapping.get(part) if isinstance(mapping, dict) else None
    return mapping


def _values(text: str) -> Settings:
    return settings_from_mapping(parse_yaml(text, FILE) or {})


def _configured(vault: Vault, one: Setting) -> Configured:
    given = None if vault.settings.unread else _raw(vault.load_yaml(FILE), one.key)
    return Configured(one, vault.settings.values.get(one.key, one.default), given is not None)


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
