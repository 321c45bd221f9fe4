"""`clawmem config get|set|list`."""

from __future__ import annotations

from typing import Annotated

import typer

from clawmem.faces.cli.face import Face
from clawmem.memory.configure import Configured, all_settings, change_setting, setting, shown

config = typer.Typer(
    add_completion=False, rich_markup_mode=None, no_args_is_help=True, help="Read and change settings."
)

_Key = Annotated[str, typer.Argument(metavar="KEY", help="A key such as defaults.limit.")]


@config.command("get")
def get(ctx: typer.Context, key: _Key) -> int:
    """Print the value of a setting."""
    face = Face.of(ctx)
    found = setting(face.runtime.vault(), key)
    return face.done(_data(found), [shown(found.value)])


@config.command("set")
def set_(
    ctx: typer.Context,
    key: _Key,
    value: Annotated[str, typer.Argument(metavar="VALUE", help="The new value.")],
) -> int:
    """Change a setting in clawmem.yaml, in one commit; comments and order stay."""
    face = Face.of(ctx)
    done = change_setting(face.runtime.vault(), face.runtime.caller(), key, value)
    data = {"key": done.key, "old": done.old, "new": done.new, "commit": done.commit}
    if done.commit is None:
        lines = [f"{done.key} is {shown(done.new)} already, so there is no commit"]
    else:
        lines = [f"{done.key}: {shown(done.old)} -> {shown(done.new)}", f"commit {done.commit[:12]}"]
    return face.done(data, lines, done.notices)


@config.command("list")
def list_(ctx: typer.Context) -> int:
    """List every setting: its value, whether it is set or the default, and what it means."""
    face = Face.of(ctx)
    found = all_settings(face.runtime.vault())
    rows = [(one.setting.key, shown(one.value), "set" if one.is_set else "default", one.setting.about) for one in found]
    lines = face.table(("key", "value", "from", "about"), rows)
    return face.done({"settings": [_data(one) for one in found]}, lines)


def _data(found: Configured) -> dict[str, object]:
    known = found.setting
    return {
        "key": known.key,
        "value": found.value,
        "default": known.default,
        "about": known.about,
        "set": found.is_set,
    }
