"""Read and change settings. A shared setting is a line of `clawmem.yaml` and a commit. A setting that sends data
outside this machine is stored in a local file; in `clawmem.yaml` it is only a suggestion.

Edit YAML text in place. All other bytes stay the same: comments, blank lines, quotes and indentation.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from decimal import Decimal
from importlib.metadata import entry_points
from typing import Any, NamedTuple

from clawmem.errors import PERSON_RUNS, ExtensionUnusable, NotFound, NotPermitted, Refused, StorageFailed
from clawmem.extension import ACCEPTED_FILE, GROUP, OWN, extensions, load_foreign, named, read_accepted
from clawmem.llm.choice import missing_model_part
from clawmem.memory.health.checks import WARNING, HealthProblem
from clawmem.memory.permission import check_may_write
from clawmem.model.language.text import check_visible
from clawmem.model.pages.summary import yaml_scalar
from clawmem.model.records.caller import Caller
from clawmem.model.records.change import Change, agent_author, subject_line, trailers
from clawmem.model.records.layout import SETTINGS as FILE
from clawmem.model.settings.local import (
    HERE,
    SettingSuggestion,
    data_flows,
    in_force,
    open_suggestions,
    origin_of,
    read_local_settings,
    read_tolerantly,
    with_suggestions,
)
from clawmem.model.settings.settings import (
    AGENTS,
    BY_KEY,
    COMMAND,
    DEFAULTS,
    LOCAL,
    REMOVED,
    SETTINGS,
    Settings,
    is_command,
    parse_value,
    setting_named,
    settings_from_mapping,
)
from clawmem.model.settings.values import Setting, Value
from clawmem.vault.commit.secret_gate import allowed
from clawmem.vault.commit.transaction import transaction
from clawmem.vault.disk import Disk, writer_lock
from clawmem.vault.git.acceptance import accept, is_accepted, revoke_acceptance, user_folder
from clawmem.vault.git.config import shown
from clawmem.vault.git.git import personal_identity
from clawmem.vault.state.local_settings import (
    SettingsFile,
    delete_parsed_cache,
    effective_settings,
    local_settings_file,
    machine_settings,
    parse_settings_text,
    read_settings_text,
    settings_lock,
    user_settings_file,
    write_settings_text,
)
from clawmem.vault.state.own_commits import disown
from clawmem.vault.strict_yaml import parse_yaml
from clawmem.vault.vault import Vault

_INDENT = "  "

# Text that needs no quotes, not even in a flow mapping.
_PLAIN = re.compile(r"[\w./@ -]+")


def with_value(text: str, key: str, value: int | float | bool | str, name: str) -> str:
    """Return the text with a dotted key set to a value. A missing key is added to its section, or at the end.

    `name` is the file name for messages. Raise Unreadable if the text is not YAML. Raise Refused if the result would
    not parse to the old values with only this change, for example if the value is an alias.
    """
    wanted = _changed(parse_yaml(text, name) or {}, key, value)
    parts = key.split(".")
    for scalar in _scalar_forms(value):
        candidate = _edit(text, parts, scalar)
        if _reads_as(candidate, wanted, name):
            return candidate
    raise Refused(f"{key} cannot be changed safely in {name} as it is laid out.", f"Edit {name} by hand.")


def _changed(old: Any, key: str, value: object) -> Any:
    *path, last = key.split(".")
    new = place = dict(old) if isinstance(old, dict) else {}
    for part in path:
        inner = place.get(part)
        place[part] = dict(inner) if isinstance(inner, dict) else {}
        place = place[part]
    place[last] = value
    return new


def _scalar_forms(value: int | float | bool | str) -> Sequence[str]:
    """Return the possible notations of a value, the simplest first."""
    if isinstance(value, bool):
        return ("true" if value else "false",)
    if isinstance(value, str):
        return (value, yaml_scalar(value)) if _PLAIN.fullmatch(value) else (yaml_scalar(value),)
    # Above 2**53 a float without a decimal point would be read as another number.
    return (format_number(value), f"{format_number(value)}.0")


def format_number(number: int | float) -> str:
    """Return a number without an exponent, which YAML may read as text."""
    return f"{Decimal(repr(number)):f}".removesuffix(".0")


def _reads_as(candidate: str, wanted: object, name: str) -> bool:
    try:
        return bool(parse_yaml(candidate, name) == wanted)
    except Exception:  # noqa: BLE001 - if it does not parse, the next notation is tried
        return False


def _edit(text: str, parts: Sequence[str], scalar: str) -> str:
    import yaml

    node = yaml.compose(text, Loader=yaml.SafeLoader)
    if not isinstance(node, yaml.MappingNode):
        return _appended(text, parts, scalar)
    for depth, part in enumerate(parts):
        found = next(((key, value) for key, value in reversed(node.value) if key.value == part), None)
        if found is None:
            return _inserted(text, node, parts[depth:], scalar, top=depth == 0)
        key_node, value_node = found
        if depth == len(parts) - 1:
            return _replaced(text, value_node, scalar)
        if not isinstance(value_node, yaml.MappingNode):
            return _with_first_key(text, node, key_node, value_node, parts[depth + 1 :], scalar)
        node = value_node
    return text


def _with_first_key(text: str, parent: Any, key: Any, empty: Any, parts: Sequence[str], scalar: str) -> str:
    """Add the first key to an empty section."""
    if parent.flow_style or empty.end_mark.index > empty.start_mark.index:
        return _replaced(text, empty, "{" + _in_flow(parts, scalar) + "}")
    return _line_added(text, key.start_mark.line, key.start_mark.column, _INDENT, parts, scalar)


def _in_flow(parts: Sequence[str], scalar: str) -> str:
    return f"{': {'.join(parts)}: {scalar}{'}' * (len(parts) - 1)}"


def _replaced(text: str, node: Any, scalar: str) -> str:
    start, end = node.start_mark.index, node.end_mark.index
    old = text[start:end]
    before = "" if text[:start].endswith((" ", "\t")) else " "
    after = "\n" if old.endswith("\n") else ""
    return text[:start] + before + scalar + after + text[end:]


def _inserted(text: str, node: Any, parts: Sequence[str], scalar: str, top: bool) -> str:
    if node.flow_style:
        place = node.end_mark.index - 1
        comma = ", " if node.value else ""
        return text[:place].rstrip() + comma + _in_flow(parts, scalar) + text[place:]
    if top:
        return _appended(text, parts, scalar)
    last = node.value[-1][1].end_mark
    line = last.line if last.column else last.line - 1
    return _line_added(text, line, node.start_mark.column, "", parts, scalar)


def _line_added(text: str, line: int, column: int, indent: str, parts: Sequence[str], scalar: str) -> str:
    lines = text.splitlines(keepends=True)
    if not lines[line].endswith("\n"):
        lines[line] += "\n"
    lines.insert(line + 1, _nested(parts, scalar, " " * column + indent))
    return "".join(lines)


def _appended(text: str, parts: Sequence[str], scalar: str) -> str:
    gap = "" if not text or text.endswith("\n") else "\n"
    return text + gap + _nested(parts, scalar, "")


def _nested(parts: Sequence[str], scalar: str, indent: str) -> str:
    lines = [f"{indent}{_INDENT * depth}{part}:" for depth, part in enumerate(parts)]
    return "\n".join(lines) + f" {scalar}\n"


class SettingsProposal(NamedTuple):
    """What a vault suggests: whether it was accepted on this machine, each value that is suggested and not in force,
    what would leave the machine with them, in sentences, and the settings of its git configuration that `sync` would
    use from then on."""

    accepted: bool
    differences: tuple[SettingSuggestion, ...]
    reached: tuple[str, ...]
    git: tuple[str, ...] = ()


def proposed_settings(vault: Vault) -> SettingsProposal:
    """Return what `accept_settings` would set. All files are read again, because cached values may be of another vault.

    Raise the problem of a settings file, for example Unreadable."""
    if vault.vault_settings.unread is not None:
        raise vault.vault_settings.unread
    accepted = is_accepted(vault.git_dir, vault.environment)
    settings = vault.settings if accepted else _settings_of_copy(vault)
    found = open_suggestions(settings)
    hidden = tuple(dict.fromkeys(shown(ignored_setting) for ignored_setting in vault.git.ignored_settings()))
    return SettingsProposal(accepted, found, data_flows(with_suggestions(settings)) if found else (), hidden)


def _settings_of_copy(vault: Vault) -> Settings:
    """Return the settings of a vault that was not accepted. Its `local.yaml` counts as suggestions."""
    place = local_settings_file(vault)
    text = read_settings_text(place)
    if text is None:
        return vault.settings
    own = read_local_settings(parse_settings_text(place, text), HERE, place.name, accepted=False)
    for problem in own.wrong.values():
        raise problem
    return in_force(
        vault.vault_settings,
        [own, *(machine_setting for machine_setting in machine_settings(vault) if machine_setting.origin != HERE)],
    )


def accept_settings(vault: Vault, wanted: SettingsProposal) -> str:
    """Copy the suggested values to this machine, and record the vault as accepted. Return the name of the file.

    The commits of a vault from elsewhere stay another's: `review trust` accepts their authors.
    Later changes of the suggestions have no effect.
    """
    place, wait = local_settings_file(vault), vault.settings.number("lock.wait_seconds")
    write_values(place, {difference.key: difference.suggested for difference in wanted.differences}, wait)
    if not wanted.accepted:
        delete_parsed_cache(place)
        if vault.is_foreign:
            vault.prepare_state()
            with writer_lock(vault.state / "lock", wait, "trust"):
                disown(vault)
        _record_acceptance(vault, accepted=True)
        vault.is_foreign = False
    return place.name


def withdraw_acceptance(vault: Vault) -> bool:
    """Withdraw the acceptance of the vault. Return whether it was accepted. `local.yaml` stays without effect."""
    accepted = is_accepted(vault.git_dir, vault.environment)
    if accepted:
        _record_acceptance(vault, accepted=False)
    return accepted


def check_person(caller: Caller, what: str) -> None:
    """Raise NotPermitted if the caller is an agent."""
    if caller.agent is not None:
        does = "says who decides in review" if what.startswith("review.") else "decides which data leaves this machine"
        raise NotPermitted(
            f"{what} {does}, so only a person may change it, and {caller.agent} is an agent.", PERSON_RUNS
        )


def check_accepted(vault: Vault) -> None:
    """Raise Refused if the vault was not accepted here, because its `local.yaml` would have no effect."""
    if not is_accepted(vault.git_dir, vault.environment):
        raise Refused(
            "This vault was not accepted on this machine, so it cannot have local settings here.",
            "`clawmem config trust` shows what it suggests and accepts it; `--user` sets the value for all vaults.",
        )


def write_values(place: SettingsFile, values: Mapping[str, Value], wait: float) -> Mapping[str, Value]:
    """Write values to a local settings file and return its former values. Comments are kept.

    Nothing is written if no value changes. Raise the problems of the file, except those of the replaced values."""
    try:
        with settings_lock(place, wait):
            text = read_settings_text(place) or ""
            before = read_local_settings(parse_settings_text(place, text), place.origin, place.name)
            for problem in (error for key, error in before.wrong.items() if key not in values):
                raise problem
            new = text
            for key, value in values.items():
                new = with_value(new, key, value, place.name) if before.values.get(key) != value else new
            if new != text:
                write_settings_text(place, new)
            return before.values
    except OSError as problem:
        raise StorageFailed(f"{place.name} cannot be written: {problem.strerror}.", "Nothing was changed.") from problem


def _record_acceptance(vault: Vault, accepted: bool) -> None:
    try:
        (accept if accepted else revoke_acceptance)(vault.git_dir, vault.environment)
    except OSError as problem:
        raise StorageFailed(
            f"The list of accepted vaults cannot be written: {problem.strerror}.",
            "Make your configuration folder writable, or set XDG_CONFIG_HOME to another one.",
        ) from problem


PRESET = "llm.preset"


class SettingState(NamedTuple):
    """A setting with its current value and its origin: default, vault, local or user.

    `suggested` is the value that the vault suggests, if it differs."""

    setting: Setting
    value: Value
    origin: str
    suggested: Value | None = None


class SettingChange(NamedTuple):
    """The old and the new value of a setting.

    `commit` is None if the value did not change, or if it is stored in the local `file`. `suggested` is true if the
    new value is only a suggestion. `also` are other settings that changed with it, each with its old and new value.
    `reached` says in sentences what leaves the machine from now on, and `missing` what a model still needs."""

    key: str
    old: Value
    new: Value
    commit: str | None
    notices: tuple[str, ...] = ()
    file: str | None = None
    suggested: bool = False
    also: tuple[tuple[str, Value, Value], ...] = ()
    reached: tuple[str, ...] = ()
    missing: str | None = None


def setting(vault: Vault, key: str) -> SettingState:
    """Return one setting. Raise NotFound, with similar keys in the hint."""
    named = _find_setting(key)
    if named.key in vault.settings.wrong:
        raise vault.settings.wrong[named.key]
    return _state_of(vault, named)


def all_settings(vault: Vault) -> tuple[SettingState, ...]:
    """Return all settings in the order of the documentation."""
    own = [setting_named(key) for key in vault.settings.values if key.startswith(f"{AGENTS}.")]
    return tuple(_state_of(vault, setting) for setting in (*SETTINGS, *own))


def change_setting(vault: Vault, caller: Caller, key: str, text: str, shared: bool = False) -> SettingChange:
    """Set a setting to a value as typed, in one commit (none if nothing changes).

    A setting that sends data outside is stored on this machine, and only if the vault was accepted here; with
    `shared` it becomes a suggestion in `clawmem.yaml`. Raise InvalidInput if the value is not valid, NotPermitted
    for an agent, Refused if the vault was not accepted."""
    named, new = _parsed(vault.settings, key, text)
    if named.key.startswith("review."):
        check_person(caller, named.key)
    if named.key in LOCAL and not shared:
        check_person(caller, named.key)
        check_accepted(vault)
        wait = vault.settings.number("lock.wait_seconds")
        change = _write_local(local_settings_file(vault), vault.settings, named.key, new, wait)
        return _with_effects(change, effective_settings(vault, vault.vault_settings), vault.environment)
    return _commit(vault, caller, named, new)


def change_user_setting(environment: Mapping[str, str], caller: Caller, key: str, text: str) -> SettingChange:
    """Set a local setting for all vaults of this user. The value of a single vault has precedence.

    Raise Refused for a shared setting."""
    named, new = _parsed(DEFAULTS, key, text)
    if named.key not in LOCAL:
        raise Refused(f"{named.key} is a shared setting of the vault, not a local one.", "Leave out --user.")
    check_person(caller, named.key)
    place, wait = user_settings_file(environment), DEFAULTS.number("lock.wait_seconds")
    owned = _own_settings(place)
    change = _write_local(place, owned, named.key, new, wait)
    return _with_effects(change, _own_settings(place), environment)


def _parsed(settings: Settings, key: str, text: str) -> tuple[Setting, Value]:
    named = _find_setting(key)
    check_visible(text, f"value of {named.key}")
    return named, parse_value(named.key, allowed(settings, text, f"The value of {named.key}"))


def _own_settings(place: SettingsFile) -> Settings:
    """Return the settings with the values of one local file alone."""
    own = read_local_settings(parse_settings_text(place, read_settings_text(place) or ""), place.origin, place.name)
    return in_force(DEFAULTS, [own])


def _write_local(place: SettingsFile, settings: Settings, key: str, new: Value, wait: float) -> SettingChange:
    more = _with_preset(settings, new) if key == PRESET else {}
    before = write_values(place, {**more, key: new}, wait)
    old = {text: before.get(text, BY_KEY[text].default) for text in (key, *more)}
    also = tuple((text, old[text], value) for text, value in more.items() if value != old[text])
    return SettingChange(key, old[key], new, None, file=place.name, also=also)


def _with_preset(settings: Settings, preset: Value) -> dict[str, Value]:
    """Return the settings that a preset needs to be used: a model that is a program, and no other program."""
    model = str(settings.values.get("llm.model", ""))
    if preset == BY_KEY[PRESET].default:
        return {"llm.model": ""} if is_command(model) and not settings.values.get("llm.command") else {}
    return {"llm.command": "", **({} if is_command(model) else {"llm.model": COMMAND})}


def _with_effects(change: SettingChange, settings: Settings, environment: Mapping[str, str]) -> SettingChange:
    """Return the change with what it means for the data of this machine, if it names a model."""
    names_model = change.key in ("llm.api_base", "llm.command", PRESET) or change.key.endswith("model")
    if not names_model or change.new in ("", *BY_KEY[change.key].offline) or settings.wrong:
        return change
    return change._replace(reached=data_flows(settings), missing=missing_model_part(settings, environment))


def _commit(vault: Vault, caller: Caller, named: Setting, new: Value) -> SettingChange:
    put_back = _revert_invalid_edit(vault, caller, named.key)
    with transaction(vault, caller.now, "config", caller=caller) as txn:
        txn.adopt()
        if FILE in txn.unreadable:
            raise txn.unreadable[FILE]
        old_text = (txn.read(FILE) or b"").decode("utf-8-sig")
        old = _current_value(old_text, named.key)
        commit = None
        if new != old:
            new_text = with_value(old_text, named.key, new, FILE)
            assert _value_of(_values(new_text), named.key) == new
            check_may_write(vault, caller, [FILE], "config")
            change = Change(
                subject=subject_line("config", named.key, f"{shown_value(old)} -> {shown_value(new)}"),
                writes={FILE: new_text.encode()},
                trailers=trailers("config", agent=caller.agent, session=caller.session),
                author=agent_author(caller.agent),
            )
            person = None if caller.agent else personal_identity(vault.git)
            (commit,) = txn.commit([change._replace(author=change.author or person)])
        suggested = named.key in LOCAL and new not in named.offline
        return SettingChange(named.key, old, new, commit, (*put_back, *txn.notices), suggested=suggested)


def _current_value(text: str, key: str) -> Value:
    """Return the value of a key; an invalid value is returned as text."""
    mapping = parse_yaml(text, FILE) or {}
    wrong = key in read_tolerantly(mapping).wrong
    return str(_raw(mapping, key)) if wrong else _value_of(settings_from_mapping(mapping), key)


def _value_of(settings: Settings, key: str) -> Value:
    """Return the value of a key in `clawmem.yaml`, which may be a suggestion."""
    return settings.suggested[key] if key in settings.suggested else settings.get(key)


def _revert_invalid_edit(vault: Vault, caller: Caller, key: str) -> list[str]:
    """Revert a hand edit that made the value of the key invalid, and return a notice. Other edits are kept.

    If HEAD itself has an invalid value, the new commit replaces it."""
    if key not in vault.vault_settings.wrong:
        return []
    check_may_write(vault, caller, [FILE], "config")
    value, head = vault.read_text(FILE) or "", vault.head().commit
    data = vault.contents_at(head, [FILE])[FILE] if head else None
    standing = read_tolerantly(parse_yaml((data or b"").decode(errors="replace"), FILE) or {})
    if key in standing.wrong:
        return []
    text = with_value(value, key, _value_of(standing, key), FILE)
    vault.vault_settings = _values(text)  # raises if another setting is invalid too
    vault.settings = effective_settings(vault, vault.vault_settings)
    vault.disk.replace(vault.path(FILE), text.encode(), vault.state)
    return [f"{key} was {_raw(parse_yaml(value, FILE), key)} by a hand edit, which is not valid"]


def _raw(mapping: Any, key: str) -> Any:
    """Return the raw value of a dotted key in a parsed `clawmem.yaml`, or None."""
    for part in key.split("."):
        mapping = mapping.get(part) if isinstance(mapping, dict) else None
    return mapping


def _values(text: str) -> Settings:
    return settings_from_mapping(parse_yaml(text, FILE) or {})


def _state_of(vault: Vault, setting: Setting) -> SettingState:
    settings = vault.settings
    is_set = not settings.unread and _raw(vault.load_yaml(FILE), setting.key) is not None
    value = settings.values.get(setting.key, setting.default)
    suggested = settings.suggested.get(setting.key)
    return SettingState(
        setting, value, origin_of(settings, setting.key, is_set), None if suggested == value else suggested
    )


def _find_setting(key: str) -> Setting:
    try:
        return setting_named(key)
    except NotFound as problem:
        if key in REMOVED or problem.hint.startswith("Did you mean"):
            raise
        from difflib import get_close_matches

        near = get_close_matches(key, BY_KEY, n=3, cutoff=0.5)
        meant = f"Did you mean {' or '.join(near)}? " if near else ""
        raise NotFound(problem.message, meant + problem.hint) from None


def shown_value(value: Value) -> str:
    """Return a value as a sentence names it: an empty one is visible."""
    return format_value(value) or "(empty)"


def format_value(value: Value) -> str:
    """Return a value as it is written in `clawmem.yaml`."""
    if isinstance(value, bool):
        return "true" if value else "false"
    return format_number(value) if isinstance(value, float) else str(value)


_WAIT_SECONDS = 10.0


class FoundExtension(NamedTuple):
    """An extension of another distribution: where its value is, as `module:name`, and whether it was accepted."""

    name: str
    reference: str
    distribution: str
    version: str
    accepted: bool


def found_extensions() -> tuple[FoundExtension, ...]:
    """Return the installed extensions of other distributions by name."""
    accepted = read_accepted()
    found = {
        entry.name: FoundExtension(
            entry.name,
            entry.value,
            entry.dist.name if entry.dist else "",
            entry.dist.version if entry.dist else "",
            accepted.get(entry.name) == entry.value,
        )
        for entry in entry_points(group=GROUP)
        if entry.name not in OWN
    }
    return tuple(found[name] for name in sorted(found))


def find_extension(name: str) -> FoundExtension:
    """Return an installed extension. Raise NotFound."""
    found = next((extension for extension in found_extensions() if extension.name == name), None)
    if found is None:
        raise NotFound(
            f"No installed distribution has an extension '{name}'.", "`clawmem config extension` lists those there are."
        )
    return found


def accept_extension(environment: Mapping[str, str], extension: FoundExtension) -> str:
    """Accept an extension for all vaults of this user on this machine. Return the file that says so."""
    return _write(environment, {**read_accepted(), extension.name: extension.reference})


def withdraw_extension(environment: Mapping[str, str], name: str) -> bool:
    """Withdraw the acceptance of an extension, also of one that is gone. Return whether it had one."""
    accepted = read_accepted()
    if name not in accepted:
        return False
    _write(environment, {other: reference for other, reference in accepted.items() if other != name})
    return True


def _write(environment: Mapping[str, str], accepted: Mapping[str, str]) -> str:
    folder = user_folder(environment)
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        with writer_lock(folder / "extensions.lock", _WAIT_SECONDS, "config extension"):
            text = json.dumps(accepted, indent=1, sort_keys=True) + "\n"
            Disk().replace(folder / ACCEPTED_FILE, text.encode(), folder)
    except OSError as problem:
        raise StorageFailed(f"{folder} cannot be written: {problem.strerror}.", "Nothing was changed.") from problem
    return str(folder / ACCEPTED_FILE)


def extension_problems(vault: Vault) -> Iterator[HealthProblem]:
    """Yield the problems of extensions."""
    for name, reference in read_accepted().items():
        try:
            load_foreign(name, reference)
        except ExtensionUnusable as problem:
            yield HealthProblem(WARNING, "extension", None, None, f"{problem.message} {problem.hint}")
    for extension in extensions():
        for check in extension.checks:
            yield from named(check)(vault)
