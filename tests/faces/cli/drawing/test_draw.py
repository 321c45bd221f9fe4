"""What a terminal shows of answers: recorded screens, attacks by texts of the vault, and what piping does not change.

`CLAWMEM_UPDATE_TRANSCRIPTS=1` writes the recorded screens anew.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import zlib
from pathlib import Path

import pytest

from clawmem.errors import DONE
from tests.conftest import Command
from tests.faces.cli.screens import on_terminal, screen_of, styled, without_styles
from tests.transcripts.transcript import Labels

UPDATE = bool(os.environ.get("CLAWMEM_UPDATE_TRANSCRIPTS"))
SCREENS = Path(__file__).parent / "screens.txt"
_IDS = re.compile(r"\b(?:fact|evt|prop)_[0-9a-f]+\b")
ATTACKS = {
    "colour": "\x1b[31mred\x1b[0m",
    "clear": "\x1b[2J\x1b[H",
    "cursor": "up\x1b[5Aover\x1b[10D\rback\b\b\b",
    "link": "\x1b]8;;https://evil.example\x1b\\here\x1b]8;;\x1b\\",
    "title": "\x1b]0;owned\x07",
    "clipboard": "\x1b]52;c;cm0gLXJm\x07",
    "one-byte": "\x9b31m\x9d8;;https://evil.example\x9c",
    "alternate screen": "\x1b[?1049h\x1b[?25l",
    "bidi": "invoice\u202egnp.exe\u202c \u2066\u2067x\u2069",
    "markup": "[red]danger[/red] [link=https://evil.example]click[/link] :skull: [/] [@click=app.bell]x[/]",
    "report": "\x1b[6n\x1b[c\x05",
    "lines": "one\nfact_00000000  forged\r\n\x0b\x0ctwo\u2028three\u2029\x85",
}


def build(clawmem: Command) -> dict[str, str]:
    """A vault with a chain, a premise, an agent's fact, wide letters, a conversation, and a proposal. Returns the ids
    that the tests name."""
    ids: dict[str, str] = {}

    def do(day: int, *words: str, given: str | None = None) -> str:
        env = {"CLAWMEM_NOW": f"2026-11-{day}T08:00:00Z", "CLAWMEM_SEED": str(zlib.crc32(repr(words).encode()))}
        result = clawmem(*words, given=given, env=env)
        assert result.code == DONE, result.err
        return next(iter(_IDS.findall(result.out)), "")

    jane = ("--entity", "areas/people/jane")
    ids["oslo"] = do(16, "remember", "Jane lives in Oslo.", *jane, "--source", "a letter", "--evidence", "from Oslo")
    long = "Jane lives in Bergen, near the old harbour, in the yellow house with the blue door."
    ids["bergen"] = do(17, "supersede", ids["oslo"], long, "--reason", "she moved", "--agent", "scout")
    ids["tea"] = do(18, "remember", "Jane meets her friends at the harbour café on Fridays.", *jane)
    do(18, "link", ids["tea"], ids["bergen"], "--type", "depends_on", "--reason", "it is around the corner")
    jose = ("--entity", "areas/people/jose")
    do(19, "remember", "José müsste 東京 besuchen 😀 und die Cafés dort.", *jose)
    do(19, "remember", "日本語の文章は空白なしで書かれるので、折り返しは幅によって決まります。", *jose)
    pair = (
        ("2026-11-02T10:00:00Z", "Remember that I was born in Bergen. I went to a café with Jane."),
        ("2026-11-03T10:00:00Z", "Remember that I was born in Oslo."),
    )
    lines = [json.dumps({"role": "user", "speaker": "Mia", "timestamp": at, "content": text}) for at, text in pair]
    do(20, "ingest", "-", "--session", "s", given="\n".join(lines))
    do(20, "heartbeat", "--quiet")
    ids["proposal"] = _IDS.findall(clawmem("review", "list").out)[0]
    return ids


def commands(ids: dict[str, str]) -> list[list[str]]:
    return [
        ["recall", "which cafes does Jane visit, and where does she live?", "-n", "4"],
        ["recall", "where did Jane go?", "--in", "events", "--explain"],
        ["list", "-n", "5"],
        ["why", ids["bergen"]],
        ["why", ids["tea"]],
        ["log", "areas/people/jane"],
        ["review", "list"],
        ["review", "show", ids["proposal"]],
        ["entity", "list"],
    ]


@pytest.mark.usefixtures("without_vectors")
def test_the_screens_are_as_recorded(clawmem: Command) -> None:
    ids = build(clawmem)
    labels, recorded = Labels(), []
    named: list[str] = []
    for words in commands(ids):
        for columns in (80, 40):
            env = {"COLUMNS": str(columns), "CLAWMEM_SEED": str(zlib.crc32(repr(words).encode()))}
            sent = clawmem(*words, "--color", "always", env=env).out
            rows = screen_of(sent, columns)
            named = named if columns == 40 else _IDS.findall(clawmem(*words, "--quiet", env=env).out)
            for name in named:
                assert any(name in row for row in rows), f"{name} is cut at {columns} columns by {words}"
            styles: dict[str, list[str]] = {}
            for style, text in styled(sent):
                styles.setdefault(style, []).append(text)
            # `dim` is shown by one word for each row: the rows say what is in it.
            shown = [
                f"{style}: {' | '.join(dict.fromkeys(texts))}" for style, texts in styles.items() if style != "dim"
            ]
            parts = [f"$ clawmem {' '.join(words)}  ; {columns} columns", *rows, *(f"# {line}" for line in shown)]
            recorded.append("\n".join(labels.put_in(part) for part in parts) + "\n")
    text = "\n".join(recorded)
    if UPDATE:
        SCREENS.write_text(text)
    assert text == SCREENS.read_text()


def test_a_terminal_is_sent_what_a_pipe_gets_with_color_always(
    vault_root: Path, environment: dict[str, str], clawmem: Command
) -> None:
    clawmem("remember", "Jane lives in the yellow house at the harbour.", "--entity", "areas/people/jane")
    for columns in (80, 40):
        for words, text in ((["recall", "living"], None), (["recall", "-"], "living"), (["status"], None)):
            piped = clawmem(*words, "--color=always", env={"COLUMNS": str(columns)}, given=text)
            assert text or on_terminal(words, vault_root, environment, columns).replace("\r\n", "\n") == piped.out
            assert words[0] == "status" or "\x1b[1;35mlives\x1b[0m" in piped.out
            assert max(map(len, screen_of(piped.out, columns))) <= columns


def test_texts_of_the_vault_do_nothing_to_a_terminal(
    vault_root: Path, environment: dict[str, str], clawmem: Command
) -> None:
    lines = []
    for number, (name, attack) in enumerate(ATTACKS.items()):
        content = f"{name} harbour {attack} end"
        lines.append(json.dumps({"role": "user", "speaker": f"M {attack}", "content": content, "session": str(number)}))
    assert clawmem("ingest", "-", given="\n".join(lines)).code == DONE
    kept = json.dumps({"fact": f"The harbour {ATTACKS['markup']}", "source": "[red]x[/red]", "tags": ["[red]x[/red]"]})
    assert clawmem("remember", "--jsonl", "-", given=kept).code == DONE
    # What a merge brings in has passed no check of `remember`.
    (items,) = (vault_root / "life").rglob("items.json")
    text = items.read_text()
    for number, attack in enumerate(ATTACKS.values()):
        record = {"id": f"fact_{number:08x}", "fact": f"harbour {attack}", "category": attack, "source_text": attack}
        text = text.replace("[\n", f"[\n{json.dumps(record)},\n", 1)
    items.write_text(text)
    subprocess.run(["git", "commit", "-qam", f"x {ATTACKS['colour']}"], cwd=vault_root, env=environment, check=True)
    for words in (
        ["recall", "harbour", "--all", "-n", "50"],
        ["recall", "harbour", "--in", "events", "--all", "-n", "50", "--explain"],
        ["list"],
        ["list", "--fields", "id,fact,category"],
        ["why", "fact_00000003"],
        ["log"],
        ["entity", "list"],
    ):
        sent = on_terminal(words, vault_root, environment, 80)
        plain = without_styles(sent)
        assert not set(plain) - {"\n", "\r"} & set(map(chr, range(32))), words
        assert not re.search("[\x1b\x7f-\x9f\u202a-\u202e\u2066-\u2069\u2028\u2029]", plain), words
        assert "\r" not in plain.replace("\r\n", ""), words
        assert {part for style, _ in styled(sent) for part in style.split()} <= {"bold", "dim", "red", "magenta"}
        assert max(map(len, screen_of(sent, 80))) <= 80
        assert not any(row.startswith("fact_00000000  forged") for row in screen_of(sent, 80)), words
    assert "[red]danger[/red] [link=https://evil.example]click[/link] :skull: [/]" in " ".join(
        without_styles(on_terminal(["list"], vault_root, environment, 200)).split()
    )


def test_what_rests_on_a_fact_is_shown_on_a_terminal(
    vault_root: Path, environment: dict[str, str], clawmem: Command
) -> None:
    fact, other = (
        clawmem("remember", text, "--json").data["facts"][0]["id"] for text in ("Mia rows.", "Mia needs a boat.")
    )
    clawmem("link", other, fact, "--type", "depends_on")
    sent = on_terminal(["why", fact, "--impact"], vault_root, environment, 80)
    assert "Mia needs a boat." in sent


def test_each_way_to_ask_for_colours(vault_root: Path, environment: dict[str, str], clawmem: Command) -> None:
    clawmem("remember", "Jane lives in Oslo.", "--entity", "areas/people/jane")
    plain = clawmem("list")
    recall = ["recall", "where does Jane live?"]
    assert "\x1b" not in plain.out and plain.out.startswith("fact_")
    # On a terminal whose width is unknown: 80.
    assert "\x1b[1;35mlives\x1b[0m" in on_terminal(recall, vault_root, environment, 0)
    uncoloured = on_terminal(recall, vault_root, {**environment, "NO_COLOR": "1"}, 80)
    assert uncoloured.startswith("2026-11-21  Jane lives in Oslo.\r\n") and "\x1b" not in uncoloured
    dumb = on_terminal(["list"], vault_root, {**environment, "TERM": "dumb"}, 80)
    assert dumb.replace("\r\n", "\n") == plain.out
    latin = on_terminal(["list"], vault_root, {**environment, "PYTHONIOENCODING": "latin-1"}, 80)
    assert latin.replace("\r\n", "\n") == plain.out
    # In a pipe.
    assert "\x1b[2m" in clawmem("list", "--color", "always", env={"NO_COLOR": "1"}).out
    assert "\x1b[2m" in clawmem("list", env={"FORCE_COLOR": "1"}).out
    assert clawmem("list", env={"FORCE_COLOR": "1", "NO_COLOR": "1"}).out == plain.out
    assert clawmem("list", "--color", "never", env={"FORCE_COLOR": "1"}).out == plain.out
    for words in (["list", "--json"], ["list", "--jsonl"]):
        assert clawmem(*words, "--color=always", env={"FORCE_COLOR": "1"}).out == clawmem(*words).out
    wrong = clawmem("remember", "Jane rows.", "--color", "sometimes")
    assert clawmem("list").out == plain.out
    assert (wrong.code, wrong.out) == (2, "")
    assert wrong.err.startswith("error: 'sometimes' is not a valid value of --color.")


@pytest.mark.parametrize("words", [["recall", "where does Jane live?"], ["status"], ["why", "FACT"]])
def test_rich_is_imported_only_where_something_is_drawn(
    words: list[str], vault_root: Path, environment: dict[str, str], clawmem: Command
) -> None:
    clawmem("remember", "Jane lives in Oslo.", "--entity", "areas/people/jane")
    (fact,) = clawmem("list", "--json").data["facts"]
    words = [fact["id"] if word == "FACT" else word for word in words]
    code = (
        "import os, sys; from clawmem.faces.cli.plain import run_plain\n"
        f"code = run_plain({words!r})\n"
        "drawn = sorted(name for name in sys.modules if name.startswith(('rich', 'clawmem.faces.cli.drawing')))\n"
        "sys.stderr.write(' '.join(drawn)); sys.stderr.flush(); sys.stdout.flush(); os._exit(code)"
    )
    command = [sys.executable, "-c", code]
    process = subprocess.run(command, cwd=vault_root, env=environment, capture_output=True, text=True, check=True)
    assert (process.stderr, process.stdout != "") == ("", True)
    drawn = subprocess.run(
        command, cwd=vault_root, env={**environment, "FORCE_COLOR": "1"}, capture_output=True, text=True, check=True
    )
    assert "rich.text" in drawn.stderr and "clawmem.faces.cli.drawing.canvas" in drawn.stderr


def test_a_reader_that_goes_away_and_a_full_disk(
    vault_root: Path, environment: dict[str, str], clawmem: Command
) -> None:
    lines = "\n".join(json.dumps({"fact": f"Fact {number} " + "x " * 1500}) for number in range(30))
    assert clawmem("remember", "--jsonl", "-", given=lines).code == DONE
    command = f"'{sys.executable}' -m clawmem list --color always"
    for line, code in ((f"{command} | head -1; exit ${{PIPESTATUS[0]}}", 0), (f"{command} >/dev/full", 4)):
        process = subprocess.run(["bash", "-c", line], cwd=vault_root, env=environment, capture_output=True, text=True)
        assert process.returncode == code, process.stderr
        assert "Traceback" not in process.stderr
