"""The command line: one JSON document for each run, exit codes, stdin, and the rule that found the vault."""

from __future__ import annotations

import json
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from clawmem.extensions.hub.contract_export import BATCH_LINES
from clawmem.faces.verbs.table import FIRST_TOPICS, FORMER_VERBS, OTHER_NAMES, TOPICS, VERBS
from tests.conftest import Command
from tests.extensions.hub.test_contract import CLAIM

pytestmark = pytest.mark.usefixtures("without_vectors")


def test_every_verb_has_help_in_one_paragraph_and_takes_the_common_options(clawmem: Command) -> None:
    for verb in VERBS:
        result = clawmem(verb, "--help")
        assert result.code == 0, (verb, result.err)
        assert VERBS[verb].split(" (")[0].rstrip(".") in " ".join(result.out.split()), verb
        for option in ("--vault", "--agent", "--json", "--quiet"):
            assert option in result.out, (verb, option)
        text = result.out.partition("Options:")[0].replace("\n  ", "\n")
        assert "  " not in text.partition("Arguments:")[0].strip(), verb


def test_aliases_are_the_verbs_they_stand_for(clawmem: Command) -> None:
    assert clawmem("add", "Jane likes tea", "--json").data["outcome"] == ["added"]
    assert clawmem("search", "tea", "--json").data["facts"][0]["fact"] == "Jane likes tea"


def test_failures_are_one_document_with_code_message_and_hint(clawmem: Command) -> None:
    for line, code, error in (
        ("recall", 2, "usage"),
        ("nonsense", 2, "usage"),
        ("recall x --limit many", 2, "usage"),
        ("show fact_00000000", 1, "not_found"),
        ("remember ''", 2, "invalid_input"),
        ("remember x --valid-from someday", 2, "invalid_input"),
        ("remember x --entity ../../etc/passwd", 2, "invalid_input"),
        ("recall x --vault /nowhere", 10, "no_vault"),
    ):
        result, spoken = clawmem(*shlex.split(line), "--json"), clawmem(*shlex.split(line))
        document = result.json
        assert (result.code, result.err, document["schema_version"], document["ok"]) == (code, "", 1, False), result
        assert document["error"]["code"] == error and document["error"]["hint"]
        assert document["error"]["message"].endswith((".", "?", "!", ")"))
        assert (spoken.code, spoken.out) == (code, "")
        assert spoken.err.startswith("error: ") and "\nhint: " in spoken.err


def test_what_was_meant_is_named(clawmem: Command) -> None:
    for line, meant in (
        ("recal tea", "`clawmem recall tea`"),
        ("serch tea", "`clawmem search tea`"),
        ("remembre", "'remember'"),
        ("agent lsit", "'list'"),
        ("recall tea --limt 3", "`clawmem recall tea --limit 3`"),
        ("list --entiy jane", "`clawmem list --entity jane`"),
        ("review approve prop_1 --resaon x", "`clawmem review approve prop_1 --reason x`"),
        ("status --jsno", "`clawmem status --json`"),
        ("--vualt . status", "`clawmem --vault . status`"),
    ):
        result = clawmem(*line.split())
        assert (result.code, result.out) == (2, "")
        assert "Did you mean " in result.err and meant in result.err


def test_a_former_verb_is_what_took_its_place(clawmem: Command) -> None:
    for word, meant in FORMER_VERBS.items():
        assert word not in VERBS
        assert clawmem("help", word).out == clawmem("help", *meant.split()).out
        named = [each for each in meant.split() if not each.startswith("-")]
        assert clawmem("schema", word, "--json").data["schema"] == clawmem("schema", *named, "--json").data["schema"]


@pytest.mark.parametrize("word", OTHER_NAMES)
@pytest.mark.few(8)
def test_a_word_that_other_programs_use_is_answered_with_the_verb(word: str, clawmem: Command) -> None:
    result = clawmem(word)
    assert (result.code, result.out) == (2, "")
    meant = OTHER_NAMES[word].partition(" {")[0]
    assert f"Did you mean {meant!r}?" in result.err
    assert clawmem(*shlex.split(meant), "--help").code == 0


def test_a_usage_error_is_plain_and_says_what_fits(clawmem: Command) -> None:
    rows: list[tuple[list[str], str, str]] = [
        (["context", "--budget", "no"], "'no' is not a whole number.", "context --help"),
        (["context", "--budget", "0"], "0 is less than 1.", "context --help"),
        (["recall", "x", "--limit", "2000"], "2000 is not between 1 and 1000.", "recall --help"),
        (["heartbeat", "--budget-cents", "a"], "'a' is not a number.", "heartbeat --help"),
        (["tier"], "Missing argument", "Example: `clawmem tier fact_1a2b"),
        (["retract"], "Neither a fact nor an origin is given.", "Name a fact, or --source"),
        (["merge", "fact_1"], "Missing option '--into'.", "Example: `clawmem merge fact_1a2b fact_5e6f --into"),
        (["graph", "jane"], "There is no fact or entity 'jane'.", ""),
        (
            ["review", "approve", "prop_1", "prop_2"],
            "Got unexpected extra",
            "One at a time: `clawmem review approve prop_1`.",
        ),
        (
            ["remember", "Jane", "likes", "tea"],
            "Got unexpected extra",
            "Quote a text of several words: `clawmem remember 'Jane likes tea' --json`.",
        ),
        (
            ["supersede", "fact_1", "Jane", "left"],
            "Got unexpected extra",
            "`clawmem supersede fact_1 'Jane left' --json`.",
        ),
        (
            ["precedent", "large", "files", "-n", "3"],
            "Got unexpected extra",
            "precedent 'large files' -n 3 --json`.",
        ),
        (["list", "jane"], "Got unexpected extra", "See `clawmem list --help`."),
        (["schema", "recal"], "There is no command 'recal'.", "Did you mean 'recall'?"),
    ]
    for words, message, hint in rows:
        error = clawmem(*words, "--json").json["error"]
        assert message in error["message"] and hint in error["hint"], words


def test_text_and_many_facts_come_from_stdin(clawmem: Command) -> None:
    result = clawmem("remember", "-", "--json", given="Jane likes tea\n")
    assert result.data["facts"][0]["fact"] == "Jane likes tea"
    lines = "\n".join(json.dumps({"fact": f"Fact {n}", "entity": "projects/p", "tags": ["t"]}) for n in range(5))
    many = clawmem("remember", "--jsonl", "-", "--json", given=lines)
    assert many.data["outcome"] == ["added"] * 5
    assert {fact["entity"] for fact in many.data["facts"]} == {"projects/p"}
    bad = clawmem("remember", "--jsonl", "-", "--json", given=lines.replace("Fact 3", "") + "\n{")
    assert bad.code == 2
    assert "Line 4" in bad.json["error"]["message"]


def test_each_line_of_a_text_is_a_fact_unless_it_goes_on_in_the_next(clawmem: Command) -> None:
    text = "- Jane likes tea\n* Ann lives in Oslo,\n  where it rains\n\nBob sings.\n- and whistles\r\n"
    facts = ["Jane likes tea", "Ann lives in Oslo, where it rains", "Bob sings.", "and whistles"]
    result = clawmem("remember", "-", "--tag", "people", given=text)
    assert (result.code, "note: stored 4 facts\n" in result.err) == (0, True)
    listed = clawmem("list", "--tag", "people", "--json").data["facts"]
    assert sorted(fact["fact"] for fact in listed) == sorted(facts)
    again = clawmem("remember", "--", f"{text}Eve rows.")
    assert "note: stored 1 of 5 facts\n" in again.err
    assert "stored" not in clawmem("remember", "Max reads\nnovels.").err
    assert "Max reads novels." in clawmem("list").out
    assert clawmem("remember", "-", given="\n \n").code == 2


def test_quiet_says_nothing_but_the_payload(clawmem: Command, vault_root: Path) -> None:
    (vault_root / "MEMORY.md").write_text("# By hand\n")
    assert "note: " in clawmem("remember", "One").err
    (vault_root / "MEMORY.md").write_text("# By hand again\n")
    assert clawmem("remember", "Two", "--quiet").err == ""


def test_the_vault_is_found_by_option_then_environment_then_upwards_then_default(
    clawmem: Command, vault_root: Path, tmp_path: Path, environment: dict[str, str]
) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()

    def rule(*arguments: str, cwd: Path, env: dict[str, str] | None = None) -> str:
        text: str = clawmem("status", "--json", *arguments, cwd=cwd, env=env).data["rule"]
        return text

    assert "upwards" in rule(cwd=vault_root / "life")
    assert "--vault" in rule("--vault", str(vault_root), cwd=elsewhere)
    assert "CLAWMEM_VAULT" in rule(cwd=elsewhere, env={"CLAWMEM_VAULT": str(vault_root)})
    assert clawmem("status", "--json", cwd=elsewhere).code == 10
    assert clawmem("init", str(Path(environment["HOME"]) / ".clawmem")).code == 0
    assert "default" in rule(cwd=elsewhere)


def test_a_new_vault_without_a_path_is_where_every_command_looks(
    clawmem: Command, tmp_path: Path, environment: dict[str, str]
) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()

    def made_and_found(*options: str, env: dict[str, str] | None = None) -> tuple[str, str]:
        made = clawmem("init", *options, cwd=elsewhere, env=env)
        assert made.code == 0, made.err
        assert ("export" in made.out) == bool(options)
        found = clawmem("status", "--json", *options, cwd=elsewhere, env=env).data["vault"]
        return made.out.splitlines()[0], f"A new vault is ready in {found}."

    named = {"CLAWMEM_VAULT": str(tmp_path / "named")}
    for line, found in (made_and_found(), made_and_found(env=named), made_and_found("--vault", "../option")):
        assert line == found
    assert (Path(environment["HOME"]) / ".clawmem/clawmem.yaml").is_file()
    assert list(elsewhere.iterdir()) == []
    again = clawmem("init", cwd=elsewhere)
    assert (again.code, "is already a vault" in again.err) == (1, True)


def test_a_new_vault_elsewhere_says_how_to_use_it(clawmem: Command, tmp_path: Path) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    made = clawmem("init", "my vault", cwd=elsewhere)
    assert f"export CLAWMEM_VAULT='{elsewhere / 'my vault'}'" in made.out
    env = {"CLAWMEM_VAULT": str(elsewhere / "my vault")}
    assert clawmem("status", cwd=tmp_path, env=env).code == 0
    assert clawmem("init", "other", cwd=elsewhere, env={"CLAWMEM_VAULT": str(elsewhere / "other")}).out.count("\n") == 2
    twice = clawmem("init", "a", "--vault", "b", cwd=elsewhere)
    assert (twice.code, "given twice" in twice.err) == (2, True)


def test_an_empty_name_is_an_error_and_never_another_vault(
    clawmem: Command, vault_root: Path, environment: dict[str, str]
) -> None:
    assert clawmem("init", str(Path(environment["HOME"]) / ".clawmem")).code == 0
    for before, after in (([], ["--vault", ""]), (["--vault="], []), ([], ["--agent", " "]), (["--agent", ""], [])):
        for verb in (["remember", "Jane likes tea"], ["note", "tea"]):
            result = clawmem(*before, *verb, *after)
            assert result.code == 2, (before, verb, after)
            assert " is empty." in result.err
    for name in ("CLAWMEM_VAULT", "CLAWMEM_AGENT"):
        result = clawmem("remember", "Jane likes tea", env={name: ""})
        assert (result.code, result.err.startswith(f"error: {name} is empty.")) == (2, True)
    for option in ("--entity", "--category", "--tag", "--as-of"):
        for verb in (["recall", "tea"], ["list"]):
            result = clawmem(*verb, option, "", "--json")
            assert (result.code, result.json["error"]["message"]) == (2, f"{option} is empty.")
    # What is named in place of an empty variable counts.
    assert clawmem("status", "--vault", str(vault_root), env={"CLAWMEM_VAULT": ""}).code == 0
    assert clawmem("list", "--json").data["facts"] == []


def test_a_vault_without_its_settings_is_not_passed_over(
    clawmem: Command, vault_root: Path, environment: dict[str, str]
) -> None:
    assert clawmem("init", str(Path(environment["HOME"]) / ".clawmem")).code == 0
    (vault_root / "clawmem.yaml").unlink()
    for words, cwd in ((["status"], vault_root / "life"), (["status", "--vault", "."], vault_root)):
        result = clawmem(*words, cwd=cwd)
        assert result.code == 10
        assert f"The vault {vault_root} has lost its clawmem.yaml" in result.err
    again = result.err.split("`")[1].split()
    subprocess.run(again, check=True, env=environment, capture_output=True)
    assert clawmem("status").code == 0


def test_help_and_version_are_answers_too(clawmem: Command) -> None:
    for words in (["-h"], ["list", "-h"], ["entity", "create", "-h"], ["sync", "-h"]):
        short, long = clawmem(*words), clawmem(*words[:-1], "--help")
        assert (short.code, short.out) == (0, long.out)
        assert clawmem(*words, "--json").data == {"help": long.out[:-1]}
        assert clawmem("--json", *words).data == {"help": long.out[:-1]}
    assert clawmem("--version", "--json").data == {"version": clawmem("--version").out.split()[1]}
    assert clawmem("--json").json["error"]["code"] == "usage"


def test_the_first_screen_lists_the_verbs_of_a_day_and_names_the_others(clawmem: Command) -> None:
    screen = clawmem("--help").out
    for topic, names in TOPICS.items():
        listed = [name for name in names.split() if re.search(rf"^  {name}  +[A-Z]", screen, re.MULTILINE)]
        assert listed == (names.split() if topic in FIRST_TOPICS else []), topic
        assert topic in FIRST_TOPICS or f"help {topic}" in screen
    assert clawmem("help").out == screen


def test_every_verb_is_in_one_topic() -> None:
    assert sorted(" ".join(TOPICS.values()).split()) == sorted(VERBS)


def test_help_of_a_topic_and_of_a_verb(clawmem: Command) -> None:
    work = clawmem("help", "work")
    assert work.code == 0
    assert [line.split()[0] for line in work.out.splitlines()[1:]] == TOPICS["work"].split()
    assert clawmem("help", "work", "--json").data == {"help": work.out[:-1]}
    assert clawmem("help", "recall").out == clawmem("recall", "--help").out
    assert clawmem("help", "entity", "move").out == clawmem("entity", "move", "--help").out
    assert clawmem("help", "nonsense").code == 2
    everything = clawmem("help", "all").out
    assert all(f"\n  {verb} " in everything for verb in VERBS)


def test_without_a_verb_the_state_and_what_to_do_next_are_shown(clawmem: Command, vault_root: Path) -> None:
    first, *others = [step["command"] for step in clawmem("status", "--json").data["next"]]
    assert first == "clawmem remember 'Jane prefers tea.'" and len(others) == 2
    assert (clawmem().code, clawmem().out) == (0, clawmem("status").out)
    clawmem("remember", "Jane prefers tea.")
    again = [step["command"] for step in clawmem("status", "--json").data["next"]]
    assert len(again) == 3 and "clawmem remember 'Jane prefers tea.'" not in again


def test_a_text_that_begins_with_a_dash(clawmem: Command) -> None:
    result = clawmem("remember", "- buy milk")
    assert result.code == 2
    assert result.err.startswith("error: A text that begins with a dash is read as an option.")
    assert "after `--`" in result.err
    assert clawmem("remember", "--", "- buy milk").code == 0


def test_a_reader_that_goes_away_is_no_error(vault_root: Path, environment: dict[str, str]) -> None:
    command = f"{sys.executable} -m clawmem list --help | head -n 1; echo ${{PIPESTATUS[0]}}"
    process = subprocess.run(["bash", "-c", command], cwd=vault_root, env=environment, capture_output=True, text=True)
    assert process.stdout.strip().endswith("0")
    assert "Traceback" not in process.stderr


def _closed_after_a_line(words: str, vault_root: Path, environment: dict[str, str], value: str = "") -> tuple[int, str]:
    """Run a command whose reader goes away after the first line; its exit code and what it wrote to stderr."""
    command = f"{sys.executable} -m clawmem {words} | head -n 1 >/dev/null; exit ${{PIPESTATUS[0]}}"
    process = subprocess.run(
        ["bash", "-c", command],
        cwd=vault_root,
        env=environment,
        input=value,
        capture_output=True,
        text=True,
        timeout=300,
    )
    return process.returncode, process.stderr


def test_what_is_published_is_stored_though_nobody_reads_the_answers(
    vault_root: Path, environment: dict[str, str], clawmem: Command
) -> None:
    # More lines than one commit takes.
    value = (
        (json.dumps(CLAIM) + "\n") * BATCH_LINES + json.dumps({**CLAIM, "claim": "Jane has a boat."}) + "\nnonsense\n"
    )
    code, text = _closed_after_a_line("publish - --json", vault_root, environment, value)
    assert code == 4 and "2 stored, 1999 known, 1 refused" in text
    assert {fact["fact"] for fact in clawmem("list", "--json").data["facts"]} == {CLAIM["claim"], "Jane has a boat."}


def test_what_follows_a_queue_ends_when_nobody_reads_it(
    vault_root: Path, environment: dict[str, str], clawmem: Command
) -> None:
    words = [sys.executable, "-m", "clawmem", "review", "watch"]
    with subprocess.Popen(words, cwd=vault_root, env=environment, stdout=subprocess.PIPE) as watching:
        assert watching.stdout is not None
        watching.stdout.close()
        try:
            for number in range(120):  # until the command follows
                for place in ("Oslo", "Rome"):
                    clawmem("remember", f"Jane{number} lives in {place}.", "--entity", "areas/people/jane", "--quiet")
                if watching.poll() is not None:
                    break
            assert watching.wait(60) == 0
        finally:
            watching.kill()


def test_nothing_prompts_and_rich_draws_only_on_terminals(clawmem: Command) -> None:
    clawmem("remember", "Jane likes tea")
    for verb in (["list"], ["entity", "list"], ["recall", "tea"]):
        assert "\x1b[" not in clawmem(*verb).out
