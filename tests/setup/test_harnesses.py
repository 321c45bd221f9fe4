"""The plugin for Claude Code: its files in the repository are those that setup would wire."""

from __future__ import annotations

import json

from clawmem.model.harness import native_events
from tests.manual import PLUGIN
from tests.setup.plugin import plugin_files


def test_the_files_are_up_to_date() -> None:
    found = {path.relative_to(PLUGIN).as_posix(): path.read_text() for path in PLUGIN.rglob("*") if path.is_file()}
    assert found == plugin_files(), "run `make docs`"


def test_each_event_has_its_hook() -> None:
    hooks = json.loads(plugin_files()["clawmem/hooks/hooks.json"])["hooks"]
    assert tuple(hooks) == native_events("claude-code")
    assert {hook[0]["hooks"][0]["command"] for hook in hooks.values()} == {"clawmem"}
