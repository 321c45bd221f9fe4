"""`clawmem config get|set|list`."""

from __future__ import annotations

from clawmem.faces.parts.command import Answer, Call, Command, Table
from clawmem.faces.parts.parameters import Parameter
from clawmem.memory.configure import Configured, all_settings, change_setting, setting, shown


def get(call: Call, key: str) -> Answer:
    """Print the value of a setting."""
    found = setting(call.runtime.vault(), key)
    return Answer(_data(found), [shown(found.value)])


def set_(call: Call, key: str, value: str) -> Answer:
    """Change a setting in clawmem.yaml, in one commit; comments and order stay."""
    done = change_setting(call.runtime.vault(), call.runtime.caller(), key, value)
    data = {"key": done.key, "old": done.old, "new": done.new, "commit": done.commit}
    if done.commit is None:
        lines = [f"{done.key} is {shown(done.new)} already, so there is no commit"]
    else:
        lines = [f"{done.key}: {shown(done.old)} -> {shown(done.new)}", f"commit {done.commit[:12]}"]
    return Answer(data, lines, done.notices)


def list_(call: Call) -> Answer:
    """List every setting: its value, whether it is set or the default, and what it means."""
    found = all_settings(call.runtime.vault())
    rows = [(one.setting.key, shown(one.value), "set" if one.is_set else "default", one.setting.about) for one in found]
    return Answer({"settings": [_data(one) for one in found]}, Table(("key", "value", "from", "about"), rows))


def _data(found: Configured) -> dict[str, object]:
    known = found.setting
    return {"key": known.key, "value": found.value, "default": known.default, "about": known.about, "set": found.is_set}


_KEY = Parameter("key", "A key such as defaults.limit.", required=True, metavar="KEY", completes="setting")
_SETTING = {"key": str, "value": object, "default": object, "about": str, "set": bool}

VERB = {
    "get": Command(get, (_KEY,), _SETTING, ("clawmem config get defaults.limit",)),
    "set": Command(
        set_,
        (_KEY, Parameter("value", "The new value.", required=True, metavar="VALUE", completes="value of a setting")),
        {"key": str, "old": object, "new": object, "commit": (str, None)},
        ("clawmem config set defaults.limit 20",),
    ),
    "list": Command(list_, (), {"settings": [_SETTING]}, ("clawmem config list",)),
}
