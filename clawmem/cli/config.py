"""`clawmem config get|set|list|trust`."""

from __future__ import annotations

import sys
from typing import Annotated, Any

import typer

from clawmem.cli.face import Face, tell
from clawmem.errors import InvalidInput, Refused
from clawmem.memory.health.configure import (
    SettingChange,
    SettingState,
    all_settings,
    change_setting,
    change_user_setting,
    format_value,
    setting,
)
from clawmem.memory.health.local_settings import (
    SettingsProposal,
    accept_settings,
    check_person,
    proposed_settings,
    withdraw_acceptance,
)
from clawmem.model.settings.settings import LOCAL
from clawmem.model.settings.values import Value

config = typer.Typer(
    add_completion=False, rich_markup_mode=None, no_args_is_help=True, help="Read and change settings."
)

_SAY_YES = "Run it again with --yes to accept that on this machine."
_LONGEST = 200
_Key = Annotated[str, typer.Argument(metavar="KEY", help="A key such as defaults.limit.")]


@config.command("get")
def get(ctx: typer.Context, key: _Key) -> int:
    """Print the value of a setting that is in force. Where it comes from is said beside it: default, vault, local (this
    machine, this vault) or user (this machine, all vaults); and what the vault suggests."""
    face = Face.of(ctx)
    found = setting(face.runtime.vault(), key)
    talk = (f"from {_origin(found)}",) if found.setting.key in LOCAL else ()
    return face.done(_data(found), [format_value(found.value)], talk=talk)


@config.command("set")
def set_(
    ctx: typer.Context,
    key: _Key,
    value: Annotated[str, typer.Argument(metavar="VALUE", help="The new value.")],
    user: Annotated[bool, typer.Option("--user", help="For all vaults of this user on this machine.")] = False,
    shared: Annotated[
        bool, typer.Option("--shared", help="In clawmem.yaml; what reaches outside is a suggestion there.")
    ] = False,
) -> int:
    """Change a setting. One of the vault is changed in clawmem.yaml, in one commit; comments and order stay. One that
    reaches outside (llm.*, semantic.*, sync.remote, sync.branch) is kept on this machine, in .git/clawmem/local.yaml,
    and only a person sets it."""
    face = Face.of(ctx)
    if user and shared:
        raise InvalidInput("--user and --shared exclude each other.", "Name one.")
    runtime = face.runtime
    if user:
        done = change_user_setting(runtime.environment, runtime.caller(), key, value)
    else:
        done = change_setting(runtime.vault(), runtime.caller(), key, value, shared)
    data = {"key": done.key, "old": done.old, "new": done.new, "commit": done.commit, "kept": done.file}
    return face.done({**data, "suggested": done.suggested}, _lines(done), done.notices)


@config.command("list")
def list_(ctx: typer.Context) -> int:
    """List every setting: the value in force, where it comes from, what the vault suggests, and what it means."""
    face = Face.of(ctx)
    found = all_settings(face.runtime.vault())
    rows = [(one.setting.key, format_value(one.value), _origin(one), one.setting.about) for one in found]
    lines = face.table(("key", "value", "from", "about"), rows)
    return face.done({"settings": [_data(one) for one in found]}, lines)


@config.command("trust")
def trust(
    ctx: typer.Context,
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask.")] = False,
    remove: Annotated[bool, typer.Option("--remove", help="Take the acceptance of this vault back.")] = False,
) -> int:
    """Accept on this machine what the vault suggests. Models, addresses, key variables and remotes that a vault names
    have no effect until a person accepts them. The values are copied to .git/clawmem/local.yaml: what the vault
    suggests later is shown again. Not for agents."""
    face = Face.of(ctx)
    vault, caller = face.runtime.vault(), face.runtime.caller()
    check_person(caller, "What a vault may reach")
    if remove:
        removed = withdraw_acceptance(vault, caller)
        said = "is not accepted any more: .git/clawmem/local.yaml has no effect" if removed else "was not accepted"
        return face.done({"accepted": False, "removed": removed}, [f"this vault {said}"])
    found = proposed_settings(vault)
    if found.accepted and not found.differences:
        data = {"accepted": True, "differences": [], "kept": None}
        return face.done(data, ["this vault is accepted, and suggests nothing that is not in force here"])
    if not yes:
        _confirm(face, found)
    kept = accept_settings(vault, caller, found)
    data = {"accepted": True, "differences": _differences(found), "kept": kept}
    lines = _shown(found) if yes else []
    return face.done(data, [*lines, f"accepted on this machine, {kept}"])


def _confirm(face: Face, found: SettingsProposal) -> None:
    lines = _shown(found)
    if face.as_json:
        raise Refused(" ".join(lines), _SAY_YES)
    tell("".join(f"{line}\n" for line in lines))
    if not sys.stdin.isatty():
        raise Refused("Nothing was accepted.", _SAY_YES)
    typer.confirm("Accept this on this machine?", abort=True, err=True)


def _brief(value: Value) -> str:
    text = format_value(value)
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}..."


def _shown(found: SettingsProposal) -> list[str]:
    lines = [] if found.accepted else ["This vault was not accepted on this machine yet."]
    lines += [
        f"{one.key}: '{_brief(one.suggested)}' is suggested, '{_brief(one.in_force)}' is in force."
        for one in found.differences
    ]
    return [*lines, *(f"Then: {sentence}" for sentence in found.reached)]


def _differences(found: SettingsProposal) -> list[dict[str, Any]]:
    return [{"key": one.key, "suggested": one.suggested, "in_force": one.in_force} for one in found.differences]


def _lines(done: SettingChange) -> list[str]:
    if done.file is not None:
        said = (
            f"is {format_value(done.new)} already"
            if done.old == done.new
            else f"{format_value(done.old)} -> {format_value(done.new)}"
        )
        return [f"{done.key}: {said}", f"kept on this machine, {done.file}"]
    if done.commit is None:
        return [f"{done.key} is {format_value(done.new)} already, so there is no commit"]
    lines = [f"{done.key}: {format_value(done.old)} -> {format_value(done.new)}", f"commit {done.commit[:12]}"]
    if done.suggested:
        lines.append("suggested: it has an effect where a person accepts it, `clawmem config trust`")
    return lines


def _origin(found: SettingState) -> str:
    aside = "" if found.suggested is None else f" (suggested: {_brief(found.suggested)})"
    return f"{found.origin}{aside}"


def _data(found: SettingState) -> dict[str, object]:
    known = found.setting
    return {
        "key": known.key,
        "value": found.value,
        "default": known.default,
        "about": known.about,
        "set": found.origin != "default",
        "from": found.origin,
        "suggested": found.suggested,
    }
