"""The order in which a person gets facts, and what is said of a filter that no fact fits."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from tests.conftest import Command, Once


def _at(day: int) -> dict[str, str]:
    return {"CLAWMEM_NOW": f"2026-11-{day:02}T12:00:00Z"}


@pytest.fixture(autouse=True)
def _facts(once: Once, clawmem: Command) -> None:
    def build() -> None:
        clawmem("remember", "Jane prefers tea.", "--entity", "areas/people/jane", "--tag", "drinks", env=_at(1))
        clawmem("remember", "Atlas uses Postgres.", "--project", "atlas", env=_at(2))
        clawmem("remember", "The office closes at six.", "--importance", "0.9", env=_at(3))
        clawmem("decision", "add", "Atlas is free.", "--reason", "It sells.", "--project", "atlas", env=_at(4))

    once(build)


def _listed(clawmem: Command, *options: str) -> list[str]:
    return re.findall(r"fact_\w+  (.+?)  \(", clawmem("list", *options).out)


def test_a_person_reads_the_newest_first_and_reading_changes_no_order(clawmem: Command) -> None:
    newest = ["Atlas is free.", "The office closes at six.", "Atlas uses Postgres.", "Jane prefers tea."]
    assert _listed(clawmem) == newest
    for _ in range(3):
        clawmem("show", "Jane prefers tea.")
    assert _listed(clawmem) == newest
    assert _listed(clawmem, "--limit", "2") == newest[:2]
    by_tier = [fact["tier"] for fact in clawmem("list", "--json").data["facts"]]
    assert by_tier == sorted(by_tier, key=["hot", "warm", "cold"].index)
    assert clawmem("list", "--json").data["facts"][0]["fact"] == "Jane prefers tea."


def test_the_facts_of_a_named_project_come_before_those_of_everybody(clawmem: Command) -> None:
    own, rest = ["Atlas is free.", "Atlas uses Postgres."], ["The office closes at six.", "Jane prefers tea."]
    assert _listed(clawmem, "--project", "atlas") == [*own, *rest]
    assert "note: 2 of the project, then 2 of everybody\n" in clawmem("list", "--project", "atlas").err
    clawmem("show", "Jane prefers tea.")
    clawmem("show", "Atlas uses Postgres.")
    assert _listed(clawmem, "--project", "atlas") == [*own, *rest]
    assert _listed(clawmem, "--project", "atlas", "--limit", "3") == [*own, rest[0]]


def test_a_name_that_no_fact_has_is_said_with_the_nearest(clawmem: Command) -> None:
    for words, said in (
        ("list --category decisions", "No fact has the category 'decisions'. Did you mean 'decision'?"),
        ("list -t drink", "No fact has the tag 'drink'. Did you mean 'drinks'?"),
        ("recall tea -t nosuch", "No fact has the tag 'nosuch'. Known are drinks."),
        ("remember x --project atlsa", "'atlsa' is a new project, beside 'atlas'; `clawmem undo` takes it back"),
    ):
        result = clawmem(*words.split())
        assert (result.code, f"note: {said}\n" in result.err) == (0, True), result


def test_a_project_that_nothing_has_is_an_error_where_a_person_names_it(clawmem: Command) -> None:
    for words, hint in (
        ("list --project Atlsa", "Did you mean 'atlas'?"),
        ("list --project nosuch", "Known are atlas."),
        ("recall postgres --project=projects/Atlsa", "Known are atlas."),
        ("decision list --project atlsa", "Did you mean 'atlas'?"),
        ("context --project nosuch", "Known are atlas."),
    ):
        result = clawmem(*words.split())
        assert result.code == 1, words
        assert "No fact and no entity has the project '" in result.err and hint in result.err
    of_environment = clawmem("list", "--json", env={"CLAWMEM_PROJECT": "nosuch"})
    assert of_environment.code == clawmem("list", "--project", "git.example.org/ada/site").code == 0
    assert clawmem("list", "--project", "nosuch", "--agent", "scout").code == 0


def test_a_project_that_only_has_a_page_is_that_page(clawmem: Command) -> None:
    clawmem("remember", "Kestrel flies.", "--entity", "projects/kestrel")
    for name in ("kestrel", "Kestrel", "projects/kestrel"):
        listed = clawmem("list", "--project", name)
        assert listed.code == 0 and "Kestrel flies." in listed.out and "Jane" not in listed.out, name
        assert "Jane" not in clawmem("recall", "who prefers tea?", "--project", name).out
        assert "Kestrel flies." in clawmem("context", "--project", name).out


def test_of_many_names_the_rest_is_counted(clawmem: Command) -> None:
    clawmem("remember", "Ann sails.", *(word for tag in "abcdef" for word in ("--tag", tag)))
    assert "Known are a, b, c, d, drinks and 2 more." in clawmem("list", "-t", "nosuch").err


def test_a_name_that_is_known_or_new_is_not_remarked_on(clawmem: Command) -> None:
    for words in (
        "list --project atlas", "list --project Atlas", "list -c DECISION", "list -t Drinks", "recall tea -t drinks",
        "decision list --project atlas", "remember x --project atlas", "remember x --project borealis",
    ):  # fmt: skip
        err = clawmem(*words.split()).err
        assert "No fact has" not in err and "is a new" not in err, words


def test_a_renamed_project_keeps_its_facts_under_both_names(clawmem: Command) -> None:
    assert clawmem("entity", "rename", "atlas", "borealis").code == 0
    for name in ("borealis", "atlas", "Borealis"):
        assert _listed(clawmem, "--project", name)[:2] == ["Atlas is free.", "Atlas uses Postgres."], name
        assert "Atlas is free." in clawmem("decision", "list", "--project", name).out
    clawmem("remember", "Borealis has a logo.", "--project", "borealis")
    assert "Borealis has a logo." in _listed(clawmem, "--project", "atlas")
    shown = clawmem("show", "borealis").out
    assert "Atlas uses Postgres." in shown.partition("Elsewhere")[2]
    assert shown.count("Borealis has a logo.") == 1


def test_days_are_said_in_words_and_a_list_of_decisions_has_them(clawmem: Command) -> None:
    env = {"CLAWMEM_NOW": "2026-11-16T12:00:00Z"}
    assert "Atlas uses Postgres." in clawmem("list", "--since", "2 weeks ago", env=env).out
    for words in ("2 weeks", "last 14 days", "2w"):
        assert "Atlas uses Postgres." in clawmem("list", "--since", words, env=env).out, words
        assert "Jane" not in clawmem("list", "--since", words, env=env).out, words
    assert clawmem("list", "--since", "week", env=env).out == ""
    assert "Atlas is free." in clawmem("decision", "list", "--since", "2 weeks", env=env).out
    assert clawmem("decision", "list", "--since", "week", env=env).out == ""
    assert clawmem("decision", "list", "--until", "2026-11-03", env=env).out == ""


def test_a_folder_names_the_project_of_its_repository(clawmem: Command, vault_root: Path, tmp_path: Path) -> None:
    (tmp_path / "site/.git").mkdir(parents=True)
    (tmp_path / "site/.git/HEAD").write_text("ref: refs/heads/main\n")
    (tmp_path / "site/.git/config").write_text('[remote "origin"]\n\turl = git@git.example.org:Ada/Boat.git\n')
    env = {"CLAWMEM_VAULT": str(vault_root)}
    assert clawmem("remember", "The hull is oak.", "--project", ".", cwd=tmp_path / "site", env=env).code == 0
    for name in ("./site", str(tmp_path / "site"), "git.example.org/ada/boat"):
        result = clawmem("list", "--project", name, "--json", cwd=tmp_path, env=env)
        projects = {fact["fact"]: fact.get("project") for fact in result.data["facts"]}
        assert projects["The hull is oak."] == "git.example.org/ada/boat"


def talk_about(clawmem: Command, name: str) -> str:
    """Keep a note and a message about something, and two messages about other things. Return the message."""
    clawmem("note", f"The {name} demo went well.")
    texts = (f"{name} will be shown on Tuesday.", "The dentist is at four.", "Buy bread and milk.")
    lines = [
        json.dumps({"role": "user", "content": text, "session": "ses_1", "timestamp": f"2026-11-20T09:0{number}:00Z"})
        for number, text in enumerate(texts)
    ]
    clawmem("ingest", "-", given="\n".join(lines))
    return texts[0]


def test_an_entity_is_shown_with_who_is_in_its_facts_and_without_what_was_said_beside(
    clawmem: Command,
) -> None:
    clawmem("entity", "add", "areas/people/anna-nair")
    clawmem("remember", "Kestrel ships in June.", "-e", "projects/kestrel", "--related", "areas/people/anna-nair")
    clawmem("remember", "Ben works from Pune.", "-e", "areas/people/ben")
    clawmem("remember", "Ben owns the parser of Kestrel.", "-e", "projects/kestrel")
    clawmem("remember", "Bent pipes leak.", "-e", "areas/people/bent")
    message = talk_about(clawmem, "Kestrel")
    shown = clawmem("show", "kestrel", "--json").data
    assert shown["people"] == ["areas/people/anna-nair", "areas/people/ben"]
    assert {hit["text"] for hit in shown["elsewhere"]} == {message, "The Kestrel demo went well."}
    assert "Kestrel ships in June." in clawmem("show", "Anna Nair").out.partition("Elsewhere")[2]


def test_a_name_of_an_entity_is_taken_where_a_fact_is(clawmem: Command) -> None:
    for entity, text in (("projects/kestrel", "Kestrel is a shop."), ("areas/people/dan", "Dan works on Kestrel.")):
        clawmem("remember", text, "--entity", entity)
    clawmem("decision", "add", "Kestrel uses Redis.", "--why", "It is known.", "--entity", "projects/kestrel")
    assert clawmem("wiki", "gate", "kestrel").out == clawmem("wiki", "gate", "--entity", "projects/kestrel").out != ""
    assert "fact: Kestrel uses Redis." in clawmem("decision", "show", "kestrel").out
    assert "Kestrel is a shop." in clawmem("show", "kestrel", "--as-of", "today").out
    for verb in ("why", "tier"):
        for name in ("kestrel", "projects/kestrel"):
            failed = clawmem(verb, name)
            assert failed.code == 1 and "is the entity projects/kestrel" in failed.err and "fact_" not in failed.err
    assert clawmem("show", "projects/kestrel", "--format", "claiv").code == 1


def test_what_is_shown_of_a_fact_is_in_words(clawmem: Command) -> None:
    clawmem("remember", "Ann rows.")
    clawmem("supersede", "Ann rows", "Ann runs.", "--reason", "May is full")
    shown = clawmem("show", "Ann runs").out
    assert re.search(r"^timestamp +2026-11-21 09:30 UTC$", shown, re.MULTILINE)
    assert re.search(r"^links +type supersedes, to fact_\w+, reason May is full, at 2026-11-21 09:30 UTC$", shown, re.M)
    assert "2026-11-21T" not in shown and "[" not in shown
