"""The lines for cron and systemd: any path comes through cron's own reading and the shell as it was."""

from __future__ import annotations

import shlex

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clawmem.errors import InvalidInput
from clawmem.model.settings.schedule import (
    cron_line,
    daily_schedule,
    find_entry,
    interval_schedule,
    quoted,
    service_unit,
    shell_command,
    timer_unit,
    with_entry,
)

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
    assert (interval_schedule("2h").calendar, daily_schedule("03:30").calendar) == ("*-*-* 0/2:00:00", "*-*-* 03:30:00")
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


def test_systemd_units() -> None:
    service = service_unit(["/my py/python", "-m", "x", '/va"ult 100% $HOME'], "/log 5%", "/bin")
    assert 'ExecStart="/my py/python" "-m" "x" "/va\\"ult 100%% $$HOME"' in service
    assert "StandardOutput=append:/log 5%%" in service
    assert "OnCalendar=*-*-* *:0/30:00" in timer_unit(interval_schedule("30m"))


def test_how_often_in_words() -> None:
    assert [interval_schedule(text).words for text in ("30m", "60m", "1h", "2h", "1d")] == [
        "every 30 minutes",
        "every hour",
        "every hour",
        "every 2 hours",
        "every day at 00:00",
    ]
