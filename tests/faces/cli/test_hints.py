"""What a mistyped command line is answered with: a command that can be run, or none."""

from __future__ import annotations

import shlex
from pathlib import Path

import pytest

from clawmem.faces.cli.hints import unknown_command
from clawmem.faces.cli.plain import plain_call
from clawmem.faces.parts.command import Command as Verb
from clawmem.faces.parts.command import all_parameters
from clawmem.faces.verbs.table import INSTEAD, OTHER_NAMES, OTHER_OPTIONS, all_verbs, load
from clawmem.vault.vault import Vault
from tests.conftest import Command, Once


@pytest.fixture(autouse=True)
def _facts(once: Once, clawmem: Command) -> None:
    def build() -> None:
        clawmem("remember", "Jane Doe prefers tea.", "--entity", "areas/people/jane")
        clawmem("remember", "Atlas uses Postgres.", "--entity", "projects/atlas")

    once(build)


@pytest.fixture
def names(once: Once, clawmem: Command, _facts: None) -> dict[str, str]:
    """What a third fact makes of the vault: two facts, and a commit."""

    def build() -> dict[str, str]:
        clawmem("remember", "Jane Doe rows.", "--entity", "areas/people/jane")
        [entry, *_] = clawmem("log", "--json").data["history"][::-1]
        facts = [fact["id"] for fact in clawmem("list", "--json").data["facts"]]
        return {"fact": facts[0], "other": facts[1], "commit": entry["commit"][:12]}

    return once(build)


def _hinted(clawmem: Command, *words: str) -> list[str]:
    """The words of the command in the hint, or none."""
    result = clawmem(*words)
    assert result.code in (1, 2) and result.out == "", words
    hint = result.err.partition("hint: ")[2]
    return [] if hint.startswith("See ") else shlex.split(hint.split("`")[1])[1:]


_HINTS = (
    ("show project atlas", "show atlas"),
    ("show jane doe prefers tea", "show 'jane doe prefers tea'"),
    ("show person zzz", ""),
    ("log person jane", "log jane"),
    ("tier postgres zzz", ""),
    ("why did we choose Postgres", "recall 'why did we choose Postgres'"),
    ("why 'did we choose Postgres'", "recall 'why did we choose Postgres'"),
    ("entity create person Mia Berg", "entity create areas/people/mia-berg"),
    ("entity add project site", "entity create projects/site"),
    ("merge jane atlas", "entity merge jane atlas"),
    ("merge jane zzz", "merge fact_1a2b fact_5e6f --into 'Jane lives in Oslo, in Grünerløkka.'"),
    ("--limit 2 list", "list --limit 2"),
    ("-n 2 recall tea", "recall tea -n 2"),
    ("decision 'Use Postgres.' --why 'It is known.'", "decision add 'Use Postgres.' --why 'It is known.'"),
    ("show daily/2026-11-20", "recall '' --since 2026-11-20 --until 2026-11-20"),
    ("note list", "recall '' --in notes --since today"),
    ("note show yesterday", "recall '' --in notes --since today"),
    ("remember list", "list"),
    ("remember list jane", "list"),
    ("remember ' show '", "list"),
    ("log last week", "log 'last week'"),
    ("list this week", "list --since 'this week'"),
    ("recall last week", "recall '' --since 'last week'"),
)


def test_the_hint_is_a_command_that_can_be_run(clawmem: Command, vault: Vault) -> None:
    before = vault.head()
    for words, meant in _HINTS:
        assert _hinted(clawmem, *shlex.split(words)) == shlex.split(meant), words
    assert vault.head() == before
    for meant in dict(_HINTS).values():
        if meant and "fact_1a2b" not in meant:
            assert clawmem(*shlex.split(meant)).code == 0, meant


def test_an_entity_is_proposed_where_a_name_is_misspelt(clawmem: Command) -> None:
    assert "Did you mean areas/people/jane?" in clawmem("show", "Jnae").err


def test_a_fact_is_proposed_where_one_letter_of_its_id_is_wrong(clawmem: Command) -> None:
    fact = clawmem("list", "--json").data["facts"][0]["id"]
    for slip in (f"{fact[:-1]}{'0' if fact[-1] != '0' else '1'}", f"{'0' if fact[5] != '0' else '1'}{fact[6:]}"):
        assert f"Did you mean {fact}?" in clawmem("show", slip).err
    assert "Did you mean" not in clawmem("show", "fact_zzzzzzzz").err


def test_what_has_the_name_of_a_day_is_shown(clawmem: Command) -> None:
    clawmem("entity", "create", "resources/2026-11", "--title", "2026-11")
    assert clawmem("show", "2026-11").out.startswith("2026-11  (resources/2026-11)")
    assert "--since 2026-10-01 --until 2026-10-31" in clawmem("show", "2026-10").err


def test_facts_about_somebody_are_shown(clawmem: Command) -> None:
    assert "Did you mean `clawmem show Jane`?" in clawmem("facts", "about", "Jane").err


def test_the_words_before_a_file_are_left_out(clawmem: Command, tmp_path: Path) -> None:
    file = tmp_path / "memory.md"
    file.write_text("- I like tea\n")
    assert f"`clawmem import {file}`" in clawmem("import", "markdown", str(file)).err


def test_what_turns_learning_off_is_named(clawmem: Command) -> None:
    for hint in (clawmem(word).err for word in ("pause", "off", "stop")):
        for words in ("setup HARNESS --remove", "config set llm.model ''", "config set session.ask false"):
            assert f"`clawmem {words}`" in hint
    assert clawmem("config", "set", "llm.model", "").code == clawmem("config", "set", "session.ask", "false").code == 0


def test_a_word_spelled_like_no_verb_gets_no_guess() -> None:
    for word in ("project", "pause", "redo"):
        assert unknown_command([word], all_verbs(), {}).endswith(f"{word!r}.")
    assert "'remember'" in unknown_command(["Remembre"], all_verbs(), {})
    assert "'entity list'" in unknown_command(["projects"], all_verbs(), OTHER_NAMES)


def test_each_word_of_other_programs_is_answered_with_a_command_that_exists() -> None:
    for word in OTHER_NAMES.keys() - {"version"}:
        meant = OTHER_NAMES[word].partition(" {")[0]
        assert unknown_command([word], all_verbs(), OTHER_NAMES).endswith(f"Did you mean {meant!r}?")
        verb, *rest = meant.split()
        found = load(verb)
        command = found if isinstance(found, Verb) else found[rest[0]] if rest else None
        flags = {flag for parameter in all_parameters(command) for flag in parameter.flags} if command else set()
        assert {part for part in rest if part.startswith("-")} <= flags, word


def test_the_command_that_is_meant_is_named_whole(clawmem: Command) -> None:
    for words, meant in (
        (("tag", "fact_1a2b", "tools"), "edit fact_1a2b --tag tools"),
        (("pin", "fact_1a2b"), "edit fact_1a2b --pin"),
        (("move", "fact_1a2b", "projects/atlas"), "edit fact_1a2b --entity projects/atlas"),
        (("update", "fact_1a2b", "Ann's bike is red."), "supersede fact_1a2b 'Ann'\"'\"'s bike is red.'"),
        (("remembr", "Ann rows."), "remember 'Ann rows.'"),
    ):
        assert f"Did you mean `clawmem {meant}`?" in clawmem(*words).err


def test_a_second_word_that_names_a_list_is_answered_with_it(clawmem: Command) -> None:
    for words, meant in (("list decisions", "decision list"), ("entity list people", "entity list")):
        assert f"Did you mean `clawmem {meant}`?" in clawmem(*words.split()).err
    assert "`clawmem remember 'people like tea'`" in clawmem("remember", "people", "like", "tea").err


def test_a_line_of_another_program_is_answered_with_a_line_that_can_be_read(clawmem: Command) -> None:
    for words, meant in [
        ("ls -la", "list"), ("ls -l atlas", "list --entity atlas"), ("rm -rf fact_1a2b", "retract fact_1a2b"),
        ("grep -i tea", "recall tea"),
        ("grep -n tea", "recall tea"), ("grep -r jane tea", "recall 'jane tea'"), ("tasks --open", "task list"),
        ("head -n 5", "list -n 5"), ("tail -5", "log --limit 5"), ("cat -n atlas", "show atlas"),
        ("cat atlas notes", "recall 'atlas notes'"), ("get facts -o json", "list --json"), ("count facts", "status"),
        ("describe tasks", "task list"), ("ls projects", "entity list"), ("zeige jane", "show jane"),
        ("merke 'Jane rudert.'", "remember 'Jane rudert.'"), ("suche tea", "recall tea"), ("vergiss tea", "forget tea"),
        ("new this week", "diff this week"), ("everything jane", "show jane"), ("about jane", "show jane"),
        ("who is Aisha", "recall 'who is Aisha'"), ("where does Jane live", "recall 'where does Jane live'"),
    ]:  # fmt: skip
        assert f"Did you mean `clawmem {meant}`?" in clawmem(*shlex.split(words)).err
        assert plain_call(shlex.split(meant)) is not None


def test_what_list_does_not_take_is_answered_with_a_line_that_runs(clawmem: Command) -> None:
    for words, meant in (
        ("list facts --output json", "list --json"), ("list facts -o json", "list --json"),
        ("list tags", "list --jsonl --fields tags"), ("list --tags", "list --jsonl --fields tags"),
        ("list atlas --limit 3", "list --entity atlas --limit 3"), ("list --count 3", "list --limit 3"),
    ):  # fmt: skip
        assert f"Did you mean `clawmem {meant}`?" in clawmem(*words.split()).err
        assert clawmem(*meant.split()).code == 0


def test_what_clawmem_has_not_is_answered_with_what_there_is(clawmem: Command) -> None:
    for words in (*INSTEAD, "cp a b", "CP a b", "remember x --from facts.txt", "task add x --due friday"):
        text = clawmem(*words.split()).err
        others = [instead for key, instead in INSTEAD.items() if words.lower().startswith(key.split()[0])]
        assert any(instead in text for instead in others), words
        assert "Did you mean" not in text, words


def test_the_word_on_dashes_is_for_texts_alone(clawmem: Command) -> None:
    assert "after `--`" in clawmem("remember", "- Jane likes tea").err
    for words in (("remember", "-f", "x"), ("list", "-la")):
        assert "after `--`" not in clawmem(*words).err
    assert "times" not in clawmem("undo", "1").err


def test_what_cannot_be_read_whole_is_named_by_its_verb(clawmem: Command) -> None:
    for words in (("tag", "fact_1a2b"), ("unforget", "the address"), ("decisions", "a", "b", "c")):
        assert f"Did you mean {OTHER_NAMES[words[0]].partition(' {')[0]!r}?" in clawmem(*words).err


def test_an_option_of_other_programs_is_answered_with_the_line_that_is_meant(clawmem: Command) -> None:
    for words, meant in [
        ("list --top 3", "list --limit 3"), ("list --max=3", "list --limit 3"), ("list --format x", "list --json"),
        ("list --type x", "list --category x"), ("remember x --until 2027", "remember x --valid-to 2027"),
        ("remember x --due 2027", "remember x --valid-to 2027"), ("log -5", "log --limit 5"),
        ("merge a b --into c --why x", "merge a b --into c --reason x"),
        ("recall tea --on yesterday", "recall tea --since yesterday --until yesterday"),
        ("note x --on yesterday", "note x --date yesterday"), ("recall -i TEA", "recall TEA"),
        ("search tea --user_id sam --limt 3", ""), ("search tea --user_id sam --limit 3", "recall tea --limit 3"),
        ("recall tea --notes", "recall tea --in notes"), ("log --today", "log --since today"),
        ("log --oneline -n 5", "log -n 5"), ("remember 'a b' --about jane", "remember 'a b' --entity jane"),
        ("recall --entitty jane tea", "recall --entity jane tea"),
        ("note x --reason y", ""), ("entity list --since 2026", ""),
    ]:  # fmt: skip
        text = clawmem(*shlex.split(words)).err
        assert "No such option: -" in text, words
        assert f"Did you mean `clawmem {meant}`?" in text if meant else "Did you mean `" not in text, words
        if meant:
            assert clawmem(*shlex.split(meant)).code == meant.startswith("merge"), meant


def test_a_short_option_of_other_programs_is_that_of_the_program(clawmem: Command) -> None:
    assert "Did you mean '--version'?" in clawmem("-V").err


def test_each_option_of_other_programs_stands_for_some_that_exist(clawmem: Command) -> None:
    verbs = ("list", "remember", "diff", "supersede", "entity", "note", "recall", "entity create", "decision add", "")
    flags = " ".join(clawmem(*verb.split(), "--help").out for verb in verbs)
    meant = {word for text in OTHER_OPTIONS.values() for word in text.split() if word.startswith("-")}
    assert {flag for flag in meant if flag not in flags} == set()


@pytest.mark.parametrize(
    ("words", "line"),
    [
        (("task", "add", "Call Ann", "due:friday", "+home"), "task add 'Call Ann'"),
        (("supersede", "Jane drinks jam.", "{fact}"), "supersede {fact} 'Jane drinks jam.'"),
        (("why", "why did Jane choose tea"), "recall 'why did Jane choose tea'"),
        (("show", "jane doe", "--as-of", "2026-11-20"), "recall 'jane doe' --as-of 2026-11-20"),
        (("edit", "doe"), "show doe"),
        (("link", "{fact}", "supports", "{other}"), "link {fact} {other} --type supports"),
        (("{fact}", "edit", "Jane drinks jam."), "edit {fact} 'Jane drinks jam.'"),
        (("remind", "2099-01-01", "Buy jam"), "remember 'Buy jam' --valid-from 2099-01-01 --valid-to 2099-01-01"),
        (("decision", "ls"), "decision list"),
        (("export", "atlas"), "export FOLDER --entity atlas"),
        (("rename", "jane", "Jane Berg"), "entity rename jane 'Jane Berg'"),
        (("undo", "remember"), "undo {commit}"),
        (("note", "Dentist", "--date", "2099-01-01"), "remember Dentist --valid-from 2099-01-01 --valid-to 2099-01-01"),
    ],
)
def test_a_word_that_has_no_place_is_answered_with_the_line(
    words: tuple[str, ...], line: str, clawmem: Command, names: dict[str, str]
) -> None:
    failed = clawmem(*(word.format(**names) for word in words))
    assert failed.code != 0 and f"`clawmem {line.format(**names)}`" in failed.err
    assert clawmem(*shlex.split(line.format(**names))).code == 0


def test_what_is_spelled_like_another_word_by_chance_is_no_guess(clawmem: Command) -> None:
    for words in (("backup", "--every", "night", "x"), ("remember", "x", "--private"), ("pause", "1h")):
        assert "Did you mean `" not in clawmem(*words).err and "Did you mean '--" not in clawmem(*words).err
    assert "type it 2 times" in clawmem("undo", "2").err
    assert "hint: Confidence, 0 to 1." in clawmem("remember", "x", "--confidence", "low").err
    assert "due:friday, @phone stays" in clawmem("task", "add", "call Ann due:friday @phone").err
    refused = clawmem("remember", "x", "--entity", "Halden Group")
    assert refused.code == 2 and "areas/companies/halden-group" in refused.err


@pytest.mark.parametrize(
    ("words", "line"),
    [
        ("edit Atlas uses Postgres.", "edit 'Atlas uses Postgres.'"),
        ("edit Atlas uses Redis now.", "edit FACT 'NEW WORDS'"),
        ("supersede atlas uses postgres Atlas uses Redis.", "supersede 'atlas uses postgres' 'Atlas uses Redis.'"),
    ],
)
def test_unquoted_words_replace_no_fact_by_a_part_of_a_sentence(words: str, line: str, clawmem: Command) -> None:
    assert f"`clawmem {line}`" in clawmem(*words.split()).err
    clawmem(*shlex.split(line))
    facts = [fact["fact"] for fact in clawmem("list", "--json").data["facts"]]
    assert ("Atlas uses Redis." if "Redis.'" in line else "Atlas uses Postgres.") in facts


def test_a_name_without_the_second_word_shows_what_is_beside_it(clawmem: Command) -> None:
    assert clawmem("graph", "jane").out == clawmem("graph", "neighbors", "jane").out != ""
    assert clawmem("agent", "add", "scout").out.startswith("created agent scout")
    assert "Atlas uses Postgres." in clawmem("claim", "show", "postgres").out
    assert "workflows/NAME.yaml" in clawmem("workflow", "add", "x").err


def test_days_and_places_are_explained_once(clawmem: Command) -> None:
    assert "--since" in clawmem("help", "time").out and "--scope" in clawmem("help", "where").out
    assert "help time" in clawmem("--help").out
    assert "`clawmem help where`" in clawmem("help", "scope").err
    assert "lists notes" in clawmem("note", "--help").out
    assert "--in notes" in clawmem("recall", "my notes").err


def test_a_group_by_itself_lists(clawmem: Command) -> None:
    for group in ("review", "task", "decision", "entity", "lesson", "config"):
        assert clawmem(group).out == clawmem(group, "list").out and clawmem(group).code == 0
        assert "Usage:" in clawmem(group, "--help").out


def test_the_word_add_is_that_of_a_verb(clawmem: Command) -> None:
    assert clawmem("entity", "add", "areas/people/mia").out == "created areas/people/mia\n"
    assert clawmem("note", "add", "Met Mia.").out.endswith("Met Mia.\n")
    assert clawmem("remember", "add", "Mia likes tea.", "--json").data["facts"][0]["fact"] == "Mia likes tea."
