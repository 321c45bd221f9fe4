"""The crontab of a person: ours is added and taken out, the rest stays. `crontab` and `systemctl` are stand-ins
for programs outside the project, real scripts that keep what they are given in a file."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from clawmem.errors import NotFound, Refused
from clawmem.model.settings.schedule import daily_schedule, interval_schedule
from clawmem.setup import cron as schedule
from clawmem.vault.vault import Vault

CRONTAB = """#!/bin/sh
if [ "$1" = -l ]; then
    [ -e "$HOME/table" ] || { echo "no crontab for you" >&2; exit 1; }
    exec cat "$HOME/table"
fi
[ -e "$HOME/refuse" ] && { cat >/dev/null; echo "bad minute" >&2; exit 1; }
cat > "$HOME/table"
"""
SYSTEMCTL = """#!/bin/sh
echo "$@" >> "$HOME/systemctl.log"
"""


@pytest.fixture
def around(environment: dict[str, str], tmp_path: Path) -> dict[str, str]:
    """The environment with a `crontab` in it."""
    _put(tmp_path / "bin" / "crontab", CRONTAB)
    return {**environment, "PATH": f"{tmp_path / 'bin'}:/usr/bin:/bin"}


def _put(path: Path, text: str) -> None:
    path.parent.mkdir(exist_ok=True)
    path.write_text(text)
    path.chmod(0o755)


def test_installing_is_idempotent_and_leaves_other_lines_alone(vault: Vault, around: dict[str, str]) -> None:
    table = Path(around["HOME"]) / "table"
    table.write_text("# mine\n5 4 * * * backup 100\\%\n")
    assert schedule.install_crontab(vault, around, interval_schedule("30m"), dry_run=True).changed
    assert table.read_text() == "# mine\n5 4 * * * backup 100\\%\n"
    first = schedule.install_crontab(vault, around, interval_schedule("30m"), dry_run=False)
    assert (first.changed, first.installed) == (True, True)
    assert table.read_text() == f"# mine\n5 4 * * * backup 100\\%\n{first.text}\n"
    assert not schedule.install_crontab(vault, around, interval_schedule("30m"), dry_run=False).changed
    later = schedule.install_crontab(vault, around, daily_schedule("03:30"), dry_run=False)
    assert table.read_text() == f"# mine\n5 4 * * * backup 100\\%\n{later.text}\n"
    assert schedule.find_crontab_entry(vault, around) == later.text
    assert schedule.remove_crontab(vault, around, dry_run=False)
    assert table.read_text() == "# mine\n5 4 * * * backup 100\\%\n"
    assert schedule.remove_crontab(vault, around, dry_run=False) is None


def test_a_crontab_that_is_refused_is_said(vault: Vault, around: dict[str, str]) -> None:
    (Path(around["HOME"]) / "refuse").touch()
    with pytest.raises(Refused, match="bad minute"):
        schedule.install_crontab(vault, around, interval_schedule("30m"), dry_run=False)


def test_without_a_crontab_command_the_line_is_given_to_add_by_hand(vault: Vault, environment: dict[str, str]) -> None:
    alone = {**environment, "PATH": environment["HOME"]}
    with pytest.raises(NotFound) as caught:
        schedule.install_crontab(vault, alone, interval_schedule("30m"), dry_run=False)
    assert caught.value.hint.endswith(schedule.crontab_line(vault, alone, interval_schedule("30m")))
    assert schedule.find_crontab_entry(vault, alone) is None


def test_a_clawmem_that_needs_more_environment_than_cron_has_is_refused(
    vault: Vault, around: dict[str, str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    _put(tmp_path / "python", "#!/bin/sh\necho 'No module named clawmem' >&2\nexit 1\n")
    monkeypatch.setattr("sys.executable", str(tmp_path / "python"))
    with pytest.raises(Refused, match="No module named clawmem"):
        schedule.install_crontab(vault, around, interval_schedule("30m"), dry_run=False)
    assert not (Path(around["HOME"]) / "table").exists()


def test_systemd_units_are_written_started_and_removed(vault: Vault, around: dict[str, str], tmp_path: Path) -> None:
    _put(tmp_path / "bin" / "systemctl", SYSTEMCTL)
    home = Path(around["HOME"])
    entry = schedule.install_systemd(vault, around, home, interval_schedule("2h"), dry_run=False)
    name = schedule.unit_name(vault)
    timer = home / ".config/systemd/user" / f"{name}.timer"
    assert "OnCalendar=*-*-* 0/2:00:00" in timer.read_text()
    assert f'"--vault" "{vault.root}"' in timer.with_suffix(".service").read_text()
    assert entry.changed
    assert not schedule.install_systemd(vault, around, home, interval_schedule("2h"), dry_run=False).changed
    assert schedule.remove_systemd(vault, around, home, dry_run=False)
    assert not timer.exists()
    calls = (home / "systemctl.log").read_text().splitlines()
    assert [call for call in calls if "show-environment" not in call] == [
        "--user daemon-reload",
        f"--user enable --now {name}.timer",
        f"--user disable --now {name}.timer",
        "--user daemon-reload",
    ]


def test_git_from_an_unusual_folder_is_found_by_cron_too(
    vault: Vault, environment: dict[str, str], tmp_path: Path
) -> None:
    tools = tmp_path / "my tools"
    _put(tools / "git", "#!/bin/sh\n")
    _, _, path = schedule.heartbeat_command(vault, {**environment, "PATH": f"{tools}{os.pathsep}/usr/bin"})
    assert path == f"{tools}:/usr/bin:/bin"
