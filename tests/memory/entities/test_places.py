"""Names: every current and former name of an entity works everywhere; an unknown or ambiguous name is reported."""

from __future__ import annotations

import pytest

from clawmem.errors import InvalidInput, NotFound, NotPermitted
from clawmem.index.refresh import run_query
from clawmem.index.search.lookup import entities_ending_in
from clawmem.memory.entities.entities import (
    archive_entity,
    create_agent,
    create_entity,
    move_entity,
    rename_entity,
    show_entity,
)
from clawmem.memory.entities.places import find_readable_entity
from clawmem.memory.facts.remember import remember
from clawmem.memory.facts.revise import FactEdit, edit
from clawmem.memory.history.compare import open_past
from clawmem.model.facts.draft import draft_from_record
from clawmem.model.records.caller import Caller
from clawmem.vault.vault import Vault
from tests.conftest import Command


def _keep(vault: Vault, caller: Caller, text: str, entity: str) -> str:
    return remember(vault, [draft_from_record({"fact": text, "entity": entity}, caller.now)], caller).facts[0].entity


def test_readers_and_writers_take_the_same_names(vault: Vault, caller: Caller) -> None:
    create_entity(vault, "areas/people/jane", caller, "Jane Doe", ("JD", "AC/DC"))
    rename_entity(vault, "jane", "janet", caller)
    home = archive_entity(vault, "janet", caller).name
    paths = ("areas/people/jane", "areas/people/janet", "archives/janet", "/Areas/people/jane/")
    for name in (*paths, "jane", "Janet", "jane doe", "jd", "ac/dc"):
        assert find_readable_entity(vault, name, caller) == home == show_entity(vault, name, caller).entity.name, name
    for name in ("jane", "AC/DC"):
        assert _keep(vault, caller, f"She is called {name}", name) == home


def test_a_name_that_nothing_has_is_an_error_with_what_is_near(vault: Vault, caller: Caller) -> None:
    create_entity(vault, "areas/people/jane", caller, "Jane Doe")
    create_entity(vault, "projects/otters", caller)
    for name in ("areas/people/jaen", "jaen", "Jane Do"):
        with pytest.raises(NotFound) as known:
            find_readable_entity(vault, name, caller)
        assert known.value.message == f"There is no entity '{name}'."
        assert known.value.hint == "Did you mean areas/people/jane? `clawmem entity list` shows all of them."
    with pytest.raises(NotFound) as none_near:
        find_readable_entity(vault, "xyz", caller)
    assert none_near.value.hint == "`clawmem entity list` shows all of them."
    with pytest.raises(InvalidInput, match="is not an entity name"):
        find_readable_entity(vault, "elsewhere/x", caller)


def test_a_name_that_several_have_lists_them(vault: Vault, caller: Caller) -> None:
    create_entity(vault, "projects/otters", caller, "Pool")
    create_entity(vault, "areas/otters", caller, "River")
    with pytest.raises(InvalidInput) as both:
        find_readable_entity(vault, "otters", caller)
    assert both.value.message == "'otters' may be areas/otters, projects/otters."
    create_entity(vault, "resources/x", caller, "Otters")
    assert find_readable_entity(vault, "otters", caller) == "resources/x"  # a title goes before the ends of paths


def test_an_agent_finds_its_own_entities_and_not_those_of_another_agent(vault: Vault, caller: Caller) -> None:
    create_agent(vault, "finance", caller)
    finance = caller._replace(agent="finance")
    _keep(vault, finance, "The budget is 10k", "@/projects/budget")
    create_entity(vault, "areas/budget", caller)
    for name in ("@/projects/budget", "@finance/projects/budget", "budget"):
        assert find_readable_entity(vault, name, finance) == "@finance/projects/budget"
    assert find_readable_entity(vault, "budget", caller) == "areas/budget"
    assert find_readable_entity(vault, "@finance/projects/budget", caller) == "@finance/projects/budget"
    with pytest.raises(NotPermitted):
        find_readable_entity(vault, "@finance/projects/budget", caller._replace(agent="legal"))
    with pytest.raises(InvalidInput):
        find_readable_entity(vault, "@/projects/budget", caller)
    legal = caller._replace(agent="legal")
    assert find_readable_entity(vault, "budget", legal) == "areas/budget"  # and not that of finance


def test_accounts_of_users_are_not_about_the_user(vault: Vault, caller: Caller) -> None:
    create_entity(vault, "areas/people/user", caller)
    create_entity(vault, "projects/shop", caller, "Shop")
    drafts = [draft_from_record({"fact": text}, caller.now) for text in ("User accounts expire.", "The user rows.")]
    found = remember(vault, drafts, caller).facts
    assert [fact.entity for fact in found][1] == "areas/people/user" != found[0].entity


def test_a_fact_goes_to_whom_or_what_it_names_as_new(clawmem: Command) -> None:
    clawmem("entity", "create", "projects/kestrel")
    clawmem("entity", "create", "areas/people/mira-holt", "--title", "Mira Holt")
    expected = [
        ("Priya owns the parser of Kestrel from May on.", "areas/people/priya", ["projects/kestrel"]),
        ("Redis is responsible for caching.", "areas/general", []),
        ("Kafka works as the message bus.", "areas/general", []),
        ("Dependabot reviews the pull requests.", "areas/general", []),
        ("Nothing works as expected.", "areas/general", []),
        ("Friday works for me.", "areas/general", []),
        ("New York likes pizza.", "areas/general", []),
        ("Priya Nair signs every release of Kestrel.", "areas/people/priya-nair", ["projects/kestrel"]),
        ("Omar is the CTO of Brightsea.", "areas/people/omar", []),
        ("Mira reviews the docs.", "areas/people/mira-holt", []),
        ("We are building an app called Tidemark.", "projects/tidemark", []),
        ("Please track the Harbour project.", "projects/harbour", []),
        ("I run a company called Brightsea.", "areas/companies/brightsea", []),
        ("Marketing owns the budget of Kestrel.", "projects/kestrel", []),
        ("Docker is the lead cause of trouble.", "areas/general", []),
        ("We use a tool called Ruff.", "areas/general", []),
    ]
    kept = clawmem("remember", "\n".join(statement for statement, _, _ in expected), "--json").data["facts"]
    assert [(fact["fact"], fact["entity"], fact.get("related_entities", [])) for fact in kept] == expected


def test_an_entity_stays_when_its_last_fact_moves_away(vault: Vault, caller: Caller) -> None:
    create_entity(vault, "projects/shop", caller, "Shop")
    kept = remember(vault, [draft_from_record({"fact": "It sells tea.", "entity": "shop"}, caller.now)], caller)
    edit(vault, kept.facts[0].fact.id, FactEdit(entity="areas/tea"), caller)
    assert (vault.root / "life/projects/shop/items.json").read_text() == "[]\n"
    assert show_entity(vault, "shop", caller).entity.name == "projects/shop"


def test_the_past_is_asked_by_the_names_of_then_and_of_now(vault: Vault, caller: Caller) -> None:
    _keep(vault, caller, "Jane lives in Oslo", "areas/people/jane")
    before = vault.head().commit or ""
    move_entity(vault, "areas/people/jane", "areas/people/janet", caller)
    create_entity(vault, "projects/new", caller)
    then = open_past(vault, caller, before)
    for name in ("areas/people/jane", "jane", "areas/people/janet", "janet"):
        assert find_readable_entity(then.vault, name, then.caller) == "areas/people/jane"
    with pytest.raises(NotFound):
        find_readable_entity(then.vault, "projects/new", then.caller)


def test_an_entity_without_a_page_goes_by_the_end_of_its_path(vault: Vault, caller: Caller) -> None:
    _keep(vault, caller, "The roof leaks", "projects/roof_a")
    vault.git.run("rm", "-q", "life/projects/roof_a/summary.md")
    vault.git.run("commit", "-qm", "no page")
    assert run_query(vault, lambda index: entities_ending_in(index, "Roof_A")) == ["projects/roof_a"]
    assert run_query(vault, lambda index: entities_ending_in(index, "roofxa")) == []


@pytest.mark.parametrize("named", [False, True])
def test_i_am_the_user_and_a_unique_first_name_is_the_person(clawmem: Command, named: bool) -> None:
    page = "areas/people/ruth-amsel" if named else "areas/people/user"
    if named:
        clawmem("config", "set", "user.name", "Ruth Amsel")
    clawmem(
        "remember", "Maren Holt prefers tea.\nMaren is vegetarian.\nOtto Ahlberg prefers tea.\nOtto Brandt likes tea."
    )
    said = ("I am allergic to hazelnuts.", "My manager is Bruno.", "I'm a nurse.", "The user lives in Bruges.")
    for text in said:
        assert f"({page})" in clawmem("remember", text).out
    for text, entity in (
        ("Maren's cat is old.", "areas/people/maren-holt"),
        ("Otto is ill.", "areas/general"),
        ("My partner Lars is a cellist.", "areas/people/lars"),
        ("In winter I swim.", "areas/general"),
        ("I/O errors are logged.", "areas/general"),
        ("Maren periods are 30 days long.", "areas/general"),
    ):
        assert f"({entity})" in clawmem("remember", text).out, text
    for name in ("user", "me", *(["Ruth", "ruth amsel"] if named else [])):
        shown = clawmem("show", name).out
        assert all(text in shown for text in said), name
    assert "Maren is vegetarian." in clawmem("show", "maren").out
    both = "'Otto' may be areas/people/otto-ahlberg or areas/people/otto-brandt."
    assert clawmem("show", "Otto").out.splitlines()[0] == both
    clawmem("heartbeat", "--only", "summaries")
    assert clawmem("doctor").code == 0


def test_a_relation_of_the_user_is_nobody_else_with_that_first_name(clawmem: Command) -> None:
    facts = {
        "Hanna Virtanen is the owner of Wren.": "hanna-virtanen",
        "My sister Hanna collects ceramics.": "hanna",
        "My brother Olli Tolonen lives in Turku.": "olli-tolonen",
        "My brother Olli sings.": "olli-tolonen",
    }
    for text in facts:
        assert clawmem("remember", text).code == 0
    stored = {fact["fact"]: fact["entity"] for fact in clawmem("list", "--json").data["facts"]}
    assert stored == {text: f"areas/people/{name}" for text, name in facts.items()}
