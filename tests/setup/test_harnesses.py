"""The plugin for Claude Code: its files in the repository are those that setup would wire."""

from __future__ import annotations

import json

from clawmem.model.harness import native_events
from tests.manual import PLUGIN, ROOT
from tests.setup.plugin import FOLDER, MARKETPLACE, plugin_files


def test_the_files_are_up_to_date() -> None:
    files = [path for folder in (PLUGIN, ROOT / MARKETPLACE) for path in folder.rglob("*") if path.is_file()]
    found = {path.relative_to(ROOT).as_posix(): path.read_text() for path in files}
    assert found == plugin_files(), "run `make docs`"
    [plugin] = json.loads(found[".claude-plugin/marketplace.json"])["plugins"]
    assert (ROOT / plugin["source"] / ".claude-plugin/plugin.json").is_file()


def test_each_event_has_its_hook() -> None:
    hooks = json.loads(plugin_files()[f"{FOLDER}/hooks/hooks.json"])["hooks"]
    assert tuple(hooks) == native_events("claude-code")
    assert {hook[0]["hooks"][0]["command"] for hook in hooks.values()} == {"clawmem"}
