"""git's own list of settings against those that a vault's configuration may set: nothing on it that runs a program or
leads elsewhere is let through."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest

from clawmem.vault.git.config import (
    PLAIN,
    ConfigEntry,
    is_plain,
    is_plain_address,
    parse_config_list,
    render_config,
)

_TABLE = Path(__file__).with_name("git_settings.txt")
ROWS = [line.split(" ", 1) for line in _TABLE.read_text().splitlines() if not line.startswith("#")]
CLASSES = {key: what for what, key in ROWS}
# What a setting that runs or leads somewhere is likely to be called.
_TELLING = re.compile(
    r"alias|allow|askpass|attributes|browser|bundle|cert|clean|cmd|command|cookie|dir|driver|editor|exec|external|file"
    r"|filter|helper|hook|host|include|insteadof|monitor|pager|path|program|promisor|proxy|server|signer|smudge|ssh"
    r"|target|template|textconv|tool|tunnel|uri|url|vcs|viewer|worktree",
    re.IGNORECASE,
)
# Ours, which is never run by what clawmem has git do, and those whose value decides.
_OURS = frozenset(("merge.clawmem.driver", "merge.clawmem.name", "merge.union.driver", "merge.union.name"))


def _entry(key: str, value: str) -> ConfigEntry:
    section, _, rest = re.sub(r"<[^>]+>|\*", "x", key).partition(".")
    subsection, _, name = rest.rpartition(".")
    return ConfigEntry(section.lower(), subsection if "." in rest else None, name.lower(), value)


@pytest.mark.parametrize("key", [key for what, key in ROWS if what != "harmless"])
def test_what_runs_or_redirects_is_hidden(key: str) -> None:
    value = "true" if key == "core.bare" else "ext::/tmp/program"
    assert not is_plain(_entry(key, value))


def test_what_is_let_through_is_harmless() -> None:
    harmless = {re.sub(r"<[^>]+>", "*", key).lower() for what, key in ROWS if what == "harmless"}
    assert sorted(PLAIN - harmless - _OURS) == []


def test_every_setting_of_this_git_that_could_run_something_is_classified() -> None:
    printed = subprocess.run(["git", "help", "--config"], capture_output=True, text=True, check=True).stdout
    keys = [line for line in printed.splitlines() if re.fullmatch(r"[\w.<>*-]+", line)]
    assert len(keys) > 300
    unknown = [key for key in keys if key not in CLASSES]
    print("not classified:", *unknown)  # noqa: T201 - for whoever reads the report of the tests
    unclassified = [key for key in unknown if _TELLING.search(key)]
    assert unclassified == [], f"classify them in {_TABLE.name}: {unclassified}"


def test_a_setting_that_nobody_knows_is_hidden() -> None:
    assert not is_plain(_entry("core.newCommand", "x")) and not is_plain(_entry("new.<x>.thing", "x"))


@pytest.mark.parametrize(
    ("address", "plain"),
    [
        ("https://example.org/x.git", True),
        ("ssh://git@example.org/x", True),
        ("git@example.org:x.git", True),
        ("/srv/hub.git", True),
        ("../hub.git", True),
        ("hub.git", True),
        ("file:///srv/hub.git", True),
        ("./a:b", True),
        ("ext::sh -c x", False),
        ("fd::7", False),
        ("evil://x", False),
        ("evil::https://x", False),
        ("-oProxyCommand=x", False),
        ("file:///srv/%65vil", False),
        ("", False),
    ],
)
def test_addresses(address: str, plain: bool) -> None:
    assert is_plain_address(address) is plain


def test_a_configuration_is_written_as_git_read_it(tmp_path: Path) -> None:
    path = tmp_path / "config"
    path.write_text(
        '# told\n[Core]\n\tFileMode=false\n  bare = false  \n\tsymlinks\n[remote "A.b c"]\n\turl = https://x/y z\n'
        '[user]\n\temail =\n[core "a\\"b"]\n\ty = "z # y"\n'
    )
    command = ["git", "config", "-z", "--file", str(path), "--list"]
    printed = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    path.write_text(render_config(parse_config_list(printed)))
    again = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    assert list(parse_config_list(again)) == list(parse_config_list(printed))
