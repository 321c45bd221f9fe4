"""The crontab of a person: ours is added and taken out, the rest stays. `crontab` is a stand-in for
a program outside the project, a real script that keeps what it is given in a file."""

from __future__ import annotations

import os
import shlex
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clawmem.errors import InvalidInput, NotFound, Refused
from clawmem.setup import cron as schedule
from clawmem.setup.cron import (
    cron_line,
    daily_schedule,
    find_entry,
    interval_schedule,
    quoted,
    shell_command,
    with_entry,
)
from clawmem.vault.vault import Vault

CRONTAB = """#!/bin/sh
if [ "$1" = -l ]; then
    [ -e "$HOME/table" ] || { echo "no crontab for you" >&2; exit 1; }
    exec cat "$HOME/table"
fi
[ -e "$HOME/refuse" ] && { cat >/dev/null; echo "bad minute" >&2; exit 1; }
cat > "$HOME/table"
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


def test_git_from_an_unusual_folder_is_found_by_cron_too(
    vault: Vault, environment: dict[str, str], tmp_path: Path
) -> None:
    tools = tmp_path / "my tools"
    _put(tools / "git", "#!/bin/sh\n")
    _, _, path = schedule.heartbeat_command(vault, {**environment, "PATH": f"{tools}{os.pathsep}/usr/bin"})
    assert path == f"{tools}:/usr/bin:/bin"


PATHS = st.text(st.sampled_from("ab /%\\'\"$`#!&;|()<>*?~é"), min_size=1, max_size=12)
MARK = "clawmem heartbeat 0123abcd"


def through_cron(line: str) -> str:
    """What cron gives the shell of an entry: after five fields, `\\%` is a percent sign and a bare one ends it."""
    rest = line.split(" ", 5)[5]
    command, escaped = "", False
    for letter in rest:
        if escaped and letter == "%":
            command = command[:-1] + "%"
        elif not escaped and letter == "%":
            break
        else:
            command += letter
        escaped = letter == "\\" and not escaped
    return command


@given(st.lists(PATHS, min_size=1, max_size=3), PATHS)
def test_every_word_comes_through_cron_and_the_shell_as_it_was(parts: list[str], log: str) -> None:
    line = cron_line(interval_schedule("30m"), shell_command(parts, log, "/usr/bin:/bin"), MARK)
    words = shlex.split(through_cron(line), comments=True)
    assert words == ["cd", "/", "&&", "PATH=/usr/bin:/bin", *parts, "</dev/null", f">>{log}", "2>&1"]


@given(PATHS)
def test_quoting_is_the_shells(text: str) -> None:
    assert shlex.split(quoted(text)) == [text]


def test_a_line_break_in_a_path_is_refused() -> None:
    with pytest.raises(InvalidInput, match="line break"):
        shell_command(["/a\nb"], "/log", "/bin")


def test_intervals_and_times_that_cron_can_keep() -> None:
    assert interval_schedule("30m").cron == "*/30 * * * *"
    assert interval_schedule("60m").cron == interval_schedule("1h").cron == "0 * * * *"
    assert interval_schedule("2h").cron == "0 */2 * * *"
    assert interval_schedule("1d").cron == interval_schedule("24h").cron == "0 0 * * *"
    assert daily_schedule("3:05").cron == "5 3 * * *"
    for wrong in ("7m", "5h", "0m", "often", "", "-5m", "1w"):
        with pytest.raises(InvalidInput):
            interval_schedule(wrong)
    for wrong in ("24:00", "3", "03:60", "noon"):
        with pytest.raises(InvalidInput):
            daily_schedule(wrong)


TABLES = st.lists(st.sampled_from(["# a remark", "", "MAILTO=me", "5 4 * * * other # clawmem heartbeat ffffffff"]))


@given(TABLES)
def test_other_lines_stay_and_installing_twice_changes_nothing(rows: list[str]) -> None:
    table = "".join(f"{row}\n" for row in rows)
    line = cron_line(interval_schedule("30m"), "run", MARK)
    once = with_entry(table, line, MARK)
    assert once.split("\n")[:-2] == rows
    assert find_entry(once, MARK) == line
    assert with_entry(once, line, MARK) == once
    assert with_entry(once, None, MARK) == table
    later = cron_line(daily_schedule("03:30"), "run", MARK)
    assert with_entry(once, later, MARK) == once.replace(line, later)


def test_an_entry_that_a_person_commented_out_is_none() -> None:
    line = cron_line(interval_schedule("30m"), "run", MARK)
    assert find_entry(f"# {line}\n", MARK) is None
    assert with_entry("no newline at the end", line, MARK) == f"no newline at the end\n{line}\n"


def test_how_often_in_words() -> None:
    assert [interval_schedule(text).words for text in ("30m", "60m", "1h", "2h", "1d")] == [
        "every 30 minutes",
        "every hour",
        "every hour",
        "every 2 hours",
        "every day at 00:00",
    ]
