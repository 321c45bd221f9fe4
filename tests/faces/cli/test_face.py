"""Output of a command: when a stream is closed, what goes to stdout or stderr, and which characters never reach a
terminal."""

from __future__ import annotations

import json
import os
import re
import select
import subprocess
import sys
import time
from pathlib import Path

import pytest

from clawmem.errors import BUG, DONE, NO_VAULT, PARTIAL, REFUSED, USAGE
from tests.at_terminal import at_terminal
from tests.command_server import shared_server
from tests.conftest import Command, Result

pytestmark = pytest.mark.usefixtures("without_vectors")

ESCAPES = "\x1b]0;owned\x07 \x1b[31mred \x9b2J \u202egnp.exe"


@pytest.fixture
def shell(vault_root: Path, environment: dict[str, str], tmp_path: Path) -> Command:
    """Runs one line of bash in the vault, where `clawmem` is the real command; its exit code is that of the first
    command of a pipe."""
    program = tmp_path / "clawmem"
    program.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m clawmem "$@"\n')
    program.chmod(0o755)

    def run(*line: str, given: object = None, env: object = None, cwd: Path | None = None) -> Result:
        process = subprocess.run(
            ["bash", "-c", f"{line[0]}\nexit ${{PIPESTATUS[0]}}"],
            cwd=cwd or vault_root,
            env={**environment, "PATH": f"{tmp_path}:{environment['PATH']}"},
            capture_output=True,
        )
        return Result(
            process.returncode, process.stdout.decode(errors="replace"), process.stderr.decode(errors="replace")
        )

    return run


def kept(clawmem: Command) -> list[str]:
    """The statements that the vault holds."""
    return [fact["fact"] for fact in clawmem("list", "--json").data["facts"]]


def test_what_is_wrong_in_one_of_many_facts_names_its_line(clawmem: Command, vault_root: Path) -> None:
    secret = '{"fact": "Jane rows"}\n\n{"fact": "The key is AKIAIOSFODNN7EXAMPLQ and more"}\n'
    refused = clawmem("remember", "--jsonl", "-", given=secret)
    assert "Line 3: the fact contains what looks like a credential" in refused.err
    kept = clawmem("remember", "--jsonl", "-", given='{"fact": "Jane rows"}\n\n{"fact": "Jane sails", "conf": 0.3}\n')
    assert "Line 3: the key 'conf' is unknown" in kept.err


@pytest.mark.parametrize("how", [">&-", "2>&-", ">&- 2>&-", "<&- >&- 2>&-", "| true", "| head -c 1", "2>/dev/full"])
@pytest.mark.parametrize("as_json", ["", "--json"])
@pytest.mark.few(4)
def test_a_change_that_nobody_hears_of_has_succeeded(how: str, as_json: str, shell: Command, clawmem: Command) -> None:
    result = shell(f"clawmem remember 'Jane likes tea' {as_json} {how}")
    assert (result.code, result.err) == (DONE, "")
    assert kept(clawmem) == ["Jane likes tea"]
    assert clawmem("doctor").code == DONE


@pytest.mark.parametrize("as_json", ["", "--json"])
def test_a_result_that_cannot_be_written_is_said_and_the_change_stands(
    as_json: str, shell: Command, clawmem: Command
) -> None:
    result = shell(f"clawmem remember 'Jane likes tea' {as_json} >/dev/full")
    assert result.code == PARTIAL
    assert "result could not be written: No space left on device. The changes of the command are kept." in result.err
    assert "run the command again" not in result.err
    assert kept(clawmem) == ["Jane likes tea"]
    assert shell(f"clawmem remember 'Jane rows' {as_json} >/dev/full 2>/dev/full").code == PARTIAL
    assert len(kept(clawmem)) == 2


@pytest.mark.parametrize("how", [">&-", "2>&-", ">/dev/full", "2>/dev/full", ">/dev/full 2>/dev/full", "| true"])
@pytest.mark.parametrize(
    ("words", "code"),
    [
        ("bogus", USAGE),
        ("bogus --json", USAGE),
        ("show fact_00000000", REFUSED),
        ("show fact_00000000 --json", REFUSED),
        ("status --vault /nowhere --json", NO_VAULT),
        ("--help", DONE),
        ("list --help", DONE),
        ("--version", DONE),
    ],
)
@pytest.mark.few(10)
def test_exit_codes_do_not_depend_on_who_listens(words: str, code: int, how: str, shell: Command) -> None:
    result = shell(f"clawmem {words} {how}")
    unwritten = code == DONE and how.startswith(">/dev/full")
    assert result.code == (PARTIAL if unwritten else code), result.err
    assert "Traceback" not in result.err


def test_a_long_list_to_a_reader_that_goes_away(shell: Command, clawmem: Command) -> None:
    lines = "\n".join(json.dumps({"fact": f"Fact {number} " + "x" * 500}) for number in range(200))
    assert clawmem("remember", "--jsonl", "-", given=lines).code == DONE
    for _ in range(3):
        result = shell("clawmem list -n 1000 | head -1")
        assert (result.code, result.err, result.out.count("\n")) == (DONE, "", 1)
    assert shell("clawmem list -n 1000 >/dev/full").code == PARTIAL


def test_a_backup_that_did_not_arrive_is_none(shell: Command) -> None:
    cut = shell("clawmem backup - | true")
    assert cut.code == REFUSED
    assert "Broken pipe" in cut.err
    assert shell("clawmem backup - >/dev/full").code == REFUSED


@pytest.mark.parametrize(
    "locale",
    ["PYTHONIOENCODING=latin-1", "PYTHONIOENCODING=ascii:strict", "LC_ALL=C PYTHONUTF8=0 PYTHONCOERCECLOCALE=0"],
)
def test_letters_that_the_encoding_lacks_are_escapes(locale: str, shell: Command, clawmem: Command) -> None:
    value = json.dumps({"fact": "Zoë lives in 東京 😀"})
    result = shell(f"printf '%s' '{value}' | {locale} clawmem remember --jsonl - >out; cat out; (exit 0)")
    assert result.err == ""
    assert "\\u6771\\u4eac \\U0001f600" in result.out
    assert kept(clawmem) == ["Zoë lives in 東京 😀"]
    document = shell(f"{locale} clawmem recall lives --json")
    assert document.json["data"]["facts"][0]["fact"] == "Zoë lives in 東京 😀"
    assert "Zoë lives in 東京 😀" in shell("LC_ALL=C clawmem list").out


def test_stdout_is_the_payload_and_nothing_found_is_none(clawmem: Command) -> None:
    for words in (
        ["recall", "zebra"],
        ["list"],
        ["log", "--by", "nobody"],
        ["review", "list"],
        ["agent", "list"],
    ):
        spoken, quiet = clawmem(*words), clawmem(*words, "--quiet")
        assert (spoken.code, quiet.code, quiet.err, quiet.out) == (DONE, DONE, "", spoken.out), words
        assert spoken.err.startswith("note: "), words
        assert spoken.out == "", words
    explained = clawmem("recall", "zebra", "--explain", "--quiet")
    assert explained.out.startswith("channel ")
    for number in range(3):
        clawmem("remember", f"Jane likes tea {number}")
    more = clawmem("list", "--limit", "1")
    assert more.out.count("\n") == 1
    assert more.err == "note: ... and 2 more; `--limit N` or `--all`\n"


def test_a_quiet_heartbeat_that_succeeds_prints_nothing(clawmem: Command) -> None:
    clawmem("ingest", "-", given='{"role": "user", "content": "Remember that I live in Oslo.", "speaker": "Mia"}\n')
    assert "read 1 event" in clawmem("heartbeat", "--dry-run", "--quiet").out
    result = clawmem("heartbeat", "--quiet", "--stamped")
    assert (result.code, result.out, result.err) == (DONE, "", "")
    assert "Mia lives in Oslo." in clawmem("list").out


def test_what_failed_is_said_to_the_quiet_too(clawmem: Command, vault_root: Path) -> None:
    clawmem("ingest", "-", given='{"role": "user", "content": "I live in Oslo.", "speaker": "Mia"}\n')
    (ledger,) = (vault_root / "ledger").glob("*.jsonl")
    ledger.write_text(ledger.read_text() + "{broken\n")
    assert clawmem("remember", "Jane likes tea", "--quiet").err == ""
    failed = clawmem("heartbeat", "--quiet")
    assert failed.code == PARTIAL
    assert f"ledger/{ledger.name}:2 cannot be read" in failed.err


def test_the_vault_cannot_write_to_the_terminal(clawmem: Command, shell: Command) -> None:
    clawmem("ingest", "-", "--session", "s", given=json.dumps({"role": "user", "content": f"I live {ESCAPES}"}))
    clawmem("remember", "--jsonl", "-", given=json.dumps({"fact": "Jane rows", "metadata": {"said": ESCAPES}}))
    found = clawmem("recall", "live", "--in", "events")
    assert found.code == DONE
    assert "\\u001b]0;owned\\u0007 \\u001b[31mred \\u009b2J \\u202egnp.exe" in found.out
    for words in (["recall", "live", "--in", "all"], ["context"], ["recall", ESCAPES], ["show", ESCAPES], [ESCAPES]):
        for more in ([], ["--json"]):
            result = clawmem(*words, *more)
            assert result.code in (DONE, REFUSED, USAGE) and result.code != BUG
            assert not set("\x1b\x07\x9b\u202e") & set(result.out + result.err), words
    data = clawmem("recall", "live", "--in", "events", "--json").data
    assert data["events"][0]["text"] == f"I live {ESCAPES}"


def test_a_table_shows_words_as_they_are(vault_root: Path, environment: dict[str, str], clawmem: Command) -> None:
    clawmem("entity", "create", "projects/one", "--title", "The [bold]first[/bold] :smile:")
    shown = at_a_terminal(["entity", "list"], vault_root, environment)
    assert "\x1b[" in shown
    assert "The [bold]first[/bold] :smile:" in re.sub(r"\x1b\[[0-9;]*m", "", shown)


def test_progress_is_for_a_terminal_alone(vault_root: Path, environment: dict[str, str], clawmem: Command) -> None:
    dumb = at_a_terminal(["reindex"], vault_root, {**environment, "TERM": "dumb"})
    assert "\x1b" not in at_a_terminal(["reindex", "--quiet"], vault_root, environment) + dumb
    assert "\x1b" not in clawmem("reindex").err


def at_a_terminal(words: list[str], folder: Path, environment: dict[str, str]) -> str:
    """What a terminal of 120 columns is sent."""
    master, slave = os.openpty()
    environment = {"TERM": "xterm", "COLUMNS": "120", **environment}
    command = shared_server().start(words, (slave, slave, slave), folder, environment, terminal=True)
    os.close(slave)
    seen, deadline = b"", time.monotonic() + 300
    try:
        while time.monotonic() < deadline:
            if select.select([master], [], [], 0.2)[0]:
                seen += os.read(master, 65536)
            elif command.poll() is not None:
                break
    except OSError:
        pass  # the other end is closed
    finally:
        assert command.ended(300)
        os.close(master)
    return seen.decode()


def test_with_json_nothing_is_asked_at_a_terminal_either(
    clawmem: Command, vault_root: Path, environment: dict[str, str]
) -> None:
    clawmem("remember", "Jane sails.")
    with at_terminal(["redact", "--pattern", "Jane sails.", "--json"], vault_root, environment) as terminal:
        terminal.press("n\n")
        assert terminal.ended() == REFUSED, terminal.shown
        assert "needs a confirmation" in terminal.shown and "Rewrite history?" not in terminal.shown
    assert kept(clawmem) == ["Jane sails."]
