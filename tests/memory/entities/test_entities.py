"""Entities: made, moved, archived, renamed; an old name always leads to the new place."""

from __future__ import annotations

import pytest

from clawmem.errors import InvalidInput, NotFound, Refused
from clawmem.memory.entities.entities import (
    archive_entity,
    create_agent,
    create_entity,
    list_agents,
    list_entities,
    merge_entities,
    move_entity,
    rename_entity,
    show_agent,
    show_entity,
)
from clawmem.memory.facts.remember import remember
from clawmem.memory.history.undo import undo
from clawmem.model.facts.draft import draft_from_record
from clawmem.model.records.caller import Caller
from clawmem.serving.context.context import context
from clawmem.vault.vault import Vault
from tests.conftest import Command

pytestmark = pytest.mark.usefixtures("without_vectors")


def _keep(vault: Vault, caller: Caller, text: str, entity: str) -> str:
    return remember(vault, [draft_from_record({"fact": text, "entity": entity}, caller.now)], caller).facts[0].entity


def test_an_entity_is_made_once_and_found_by_title_and_alias(vault: Vault, caller: Caller) -> None:
    create_entity(vault, "projects/website", caller, "The Website", ("www",))
    for name in ("projects/website", "the website", "WWW"):
        assert show_entity(vault, name, caller).entity.name == "projects/website"
    with pytest.raises(Refused):
        create_entity(vault, "projects/website", caller)
    with pytest.raises(NotFound):
        show_entity(vault, "projects/other", caller)


def test_an_entity_gets_another_name_once(vault: Vault, caller: Caller, clawmem: Command) -> None:
    create_entity(vault, "people/mia", caller, "Mia Berg")
    page = vault.root / "life/areas/people/mia/summary.md"
    page.write_text(page.read_text() + "Written by hand.\n")
    assert clawmem("entity", "alias", "mia", "Dr Berg").out.startswith("areas/people/mia is also called Dr Berg")
    assert _keep(vault, caller, "Dr Berg likes tea", "dr berg") == "areas/people/mia"
    assert "Written by hand." in page.read_text()
    for name in ("Dr Berg", "mia berg"):
        assert "no commit was made" in clawmem("entity", "alias", "mia", name).out
    create_entity(vault, "people/tom", caller)
    refused = clawmem("entity", "alias", "tom", "Mia Berg")
    assert refused.code != 0 and "entity merge areas/people/tom areas/people/mia" in refused.err


def test_a_new_name_that_is_nearly_a_known_one_is_pointed_out(clawmem: Command) -> None:
    clawmem("remember", "Priya likes tea.", "--entity", "areas/people/priya")
    near = clawmem("remember", "Priya likes figs.", "--entity", "people/pirya")
    line = "clawmem entity merge areas/people/pirya areas/people/priya"
    assert near.code == 0 and f"`{line}`" in near.err
    for name in ("areas/people/paul", "projects/priya", "areas/people/priyanka"):
        assert "spelled like" not in clawmem("remember", "Somebody likes tea.", "--entity", name).err
    assert clawmem(*line.split()[1:]).code == 0


def test_old_names_lead_to_the_new_place_through_every_move(vault: Vault, caller: Caller) -> None:
    _keep(vault, caller, "The site is written in Python", "projects/website")
    page = vault.root / "life/projects/website/summary.md"
    page.write_text(page.read_text().replace("# Website\n", "# Website\n\nWritten by hand.\n"))
    assert move_entity(vault, "projects/website", "resources/website", caller).former == "projects/website"
    rename_entity(vault, "website", "homepage", caller)
    change = archive_entity(vault, "resources/homepage", caller)
    assert change.name == "archives/homepage"
    for name in ("projects/website", "resources/website", "resources/homepage", "archives/homepage", "Website"):
        shown = show_entity(vault, name, caller)
        assert shown.entity.name == "archives/homepage"
        assert [placed.fact.fact for placed in shown.facts] == ["The site is written in Python"]
    assert "Written by hand." in show_entity(vault, "website", caller).summary
    assert not (vault.root / "life/projects/website/items.json").exists()
    assert _keep(vault, caller, "The site is offline", "projects/website") == "archives/homepage"
    assert archive_entity(vault, "website", caller).commit is None
    assert vault.git.run("status", "--porcelain") == b""


def test_keys_a_person_added_to_the_front_matter_survive_a_move(vault: Vault, caller: Caller) -> None:
    create_entity(vault, "projects/roof", caller)
    page = vault.root / "life/projects/roof/summary.md"
    page.write_text(page.read_text().replace("created:", "owner: Ada\ncreated:"))
    move_entity(vault, "projects/roof", "areas/roof", caller)
    assert "owner: Ada\n" in show_entity(vault, "areas/roof", caller).summary


def test_a_move_never_lands_on_another_entity(vault: Vault, caller: Caller) -> None:
    create_entity(vault, "projects/one", caller)
    create_entity(vault, "projects/two", caller)
    before = vault.head()
    with pytest.raises(Refused):
        move_entity(vault, "projects/one", "projects/two", caller)
    with pytest.raises(InvalidInput):
        rename_entity(vault, "projects/one", "../two", caller)
    assert vault.head() == before


@pytest.mark.parametrize(
    "name",
    ["projects/../x", "/etc/passwd", "projects", "elsewhere/x", "projects/.git", "areas/a/b/c", "@x y/projects/z"],
)
def test_names_that_leave_the_vault_are_refused(vault: Vault, caller: Caller, name: str) -> None:
    with pytest.raises(InvalidInput):
        create_entity(vault, name, caller)


def test_agents_have_a_workspace_that_others_do_not_see(vault: Vault, caller: Caller) -> None:
    create_agent(vault, "finance", caller)
    agent = caller._replace(agent="finance")
    assert _keep(vault, agent, "The budget is 10k", "@/projects/budget") == "@finance/projects/budget"
    assert show_agent(vault, "finance").entities == ("@finance/projects/budget",)
    assert [other_agent.id for other_agent in list_agents(vault)] == ["finance"]
    with pytest.raises(Refused):
        create_agent(vault, "finance", caller)
    with pytest.raises(NotFound):
        show_agent(vault, "legal")
    with pytest.raises(InvalidInput):
        _keep(vault, caller, "Whose is this", "@/projects/budget")
    assert [row.entity.name for row in list_entities(vault).rows] == ["@finance/projects/budget"]


def test_folders_of_entities_and_long_names_make_none(vault: Vault, caller: Caller) -> None:
    create_agent(vault, "finance", caller)
    create_entity(vault, "areas/health", caller)
    for name in ("areas/people", "areas/companies", "@finance/areas/people", "projects/" + "x" * 81):
        draft = draft_from_record({"fact": "Jane swims", "entity": name}, caller.now)
        with pytest.raises(InvalidInput):
            create_entity(vault, name, caller)
        with pytest.raises(InvalidInput):
            move_entity(vault, "areas/health", name, caller)
        with pytest.raises(InvalidInput):
            remember(vault, [draft], caller)
    assert [row.entity.name for row in list_entities(vault).rows].count("areas/health") == 1


def test_a_folder_of_entities_that_is_one_already_can_be_moved_away(vault: Vault, caller: Caller) -> None:
    folder = vault.root / "life/areas/people"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "items.json").write_text('[\n{"id": "fact_00000001", "fact": "Old."}\n]\n')
    (folder / "summary.md").write_text("---\ntitle: People\n---\n")
    create_entity(vault, "areas/health", caller)
    assert show_entity(vault, "areas/people", caller).facts[0].fact.fact == "Old."
    assert move_entity(vault, "areas/people", "areas/everybody", caller).name == "areas/everybody"


def test_what_an_agents_pages_are_for_is_served_to_nobody(vault: Vault, caller: Caller) -> None:
    create_agent(vault, "finance", caller)
    assert all("<!--" in text for _, text in show_agent(vault, "finance").pages)
    result = context(vault, caller._replace(agent="finance"), 2000)
    assert "habits and preferences" not in str(result) and "Who finance is" not in str(result)


def test_a_rename_takes_along_a_title_that_only_told_the_name(vault: Vault, caller: Caller) -> None:
    create_entity(vault, "areas/people/jane", caller)
    assert rename_entity(vault, "jane", "janet", caller).notices == ()
    shown = show_entity(vault, "janet", caller)
    assert (shown.entity.title, shown.entity.aliases) == ("Janet", ("Jane", "areas/people/jane"))
    assert "\n# Janet\n" in shown.summary
    rename_entity(vault, "janet", "jane", caller)
    shown = show_entity(vault, "areas/people/janet", caller)
    assert (shown.entity.title, shown.entity.aliases) == ("Jane", ("Janet", "areas/people/janet"))


def test_a_rename_leaves_a_title_that_was_chosen_and_says_so(vault: Vault, caller: Caller) -> None:
    create_entity(vault, "areas/people/jane", caller, "Jane Doe")
    items = rename_entity(vault, "Jane Doe", "janet", caller).notices
    assert items == ("its title is still 'Jane Doe': change it in life/areas/people/janet/summary.md",)
    assert show_entity(vault, "janet", caller).entity.aliases == ("areas/people/jane",)


def test_no_entity_takes_a_path_that_leads_to_another(vault: Vault, caller: Caller) -> None:
    create_entity(vault, "projects/one", caller)
    archive_entity(vault, "projects/one", caller)
    create_entity(vault, "projects/two", caller)
    before = vault.head()
    with pytest.raises(Refused) as refused:
        create_entity(vault, "projects/one", caller)
    assert refused.value.message == "projects/one is an alias of archives/one."
    assert "life/archives/one/summary.md" in refused.value.hint
    with pytest.raises(Refused):
        move_entity(vault, "projects/two", "projects/one", caller)
    for alias in ("Projects/One", "projects/two"):
        with pytest.raises(Refused):
            create_entity(vault, "projects/three", caller, aliases=(alias,))
    assert vault.head() == before
    assert move_entity(vault, "archives/one", "projects/one", caller).name == "projects/one"


def test_a_merge_keeps_names_facts_text_and_keys_of_both(vault: Vault, caller: Caller) -> None:
    _keep(vault, caller, "Bob likes tea", "areas/people/bob")
    _keep(vault, caller, "Robert likes chess", "areas/people/robert")
    page = vault.root / "life/areas/people/robert/summary.md"
    page.write_text(page.read_text().replace("created:", "owner: Ada\ncreated:"))
    change = merge_entities(vault, "bob", "robert", caller)
    assert (change.name, change.former) == ("areas/people/robert", "areas/people/bob")
    shown = show_entity(vault, "Bob", caller)
    assert {placed.fact.fact for placed in shown.facts} == {"Bob likes tea", "Robert likes chess"}
    assert shown.entity.aliases == ("Bob", "areas/people/bob") and "owner: Ada\n" in shown.summary
    assert merge_entities(vault, "bob", "robert", caller).commit is None
    undo(vault, change.commit or "", caller)
    assert [placed.fact.fact for placed in show_entity(vault, "bob", caller).facts] == ["Bob likes tea"]


def test_a_merge_stays_in_one_workspace(vault: Vault, caller: Caller) -> None:
    create_agent(vault, "finance", caller)
    create_entity(vault, "@finance/projects/one", caller)
    create_entity(vault, "projects/two", caller)
    with pytest.raises(InvalidInput):
        merge_entities(vault, "@finance/projects/one", "projects/two", caller)
    with pytest.raises(NotFound):
        merge_entities(vault, "projects/none", "projects/two", caller)


def _people(clawmem: Command) -> dict[str, int]:
    rows = clawmem("entity", "list", "--json").data["entities"]
    return {row["name"]: sum(row["facts"].values()) for row in rows if row["name"].startswith("areas/people/")}


def test_a_name_given_later_takes_over_what_was_known_of_the_user(clawmem: Command) -> None:
    clawmem("note", "Remember that I live in Oslo.")
    clawmem("heartbeat")
    assert _people(clawmem) == {"areas/people/user": 1}
    clawmem("config", "set", "user.name", "Mia Berg")
    clawmem("note", "Remember that I am allergic to peanuts.")
    assert "moved what is known of the user to areas/people/mia-berg\n" in clawmem("heartbeat").out
    assert _people(clawmem) == {"areas/people/mia-berg": 2}
    assert "Mia Berg is allergic to peanuts." in clawmem("list").out
    assert "moved" not in clawmem("heartbeat").out


def test_it_joins_the_person_who_is_known_by_that_name(clawmem: Command) -> None:
    clawmem("note", "Remember that I live in Oslo.")
    clawmem("heartbeat")
    clawmem("remember", "Mia likes tea.", "--entity", "areas/people/mia")
    clawmem("config", "set", "user.name", "Mia")
    assert "\nmoved what is known of the user to areas/people/mia\n" in f"\n{clawmem('heartbeat', '--dry-run').out}"
    clawmem("heartbeat")
    assert _people(clawmem) == {"areas/people/mia": 2}


def test_an_entity_has_the_name_that_its_first_fact_writes(clawmem: Command) -> None:
    clawmem("remember", "Su-ah Kim starts on Monday.", "--entity", "areas/people/su-ah-kim")
    assert clawmem("entity", "show", "su-ah-kim", "--json").data["entity"]["title"] == "Su-ah Kim"
