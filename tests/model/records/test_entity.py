"""Names of entities: what may be one, and where its files are."""

from __future__ import annotations

import pytest

from clawmem.errors import InvalidInput
from clawmem.model.records.entity import (
    check_name,
    check_new_name,
    is_entity_name,
    items_path,
    kind_of,
    name_of_path,
    slug,
    summary_path,
    title_in,
    title_of,
    visible_owners,
)


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("people/Mia", "areas/people/mia"), ("/projects/larder/", "projects/larder"),
        ("@scout/people/mia", "@scout/areas/people/mia"), (" areas/home/roof", "areas/home/roof"),
        ("candidates/2026-11-21", "candidates/2026-11-21"), (f"projects/{'x' * 200}", f"projects/{'x' * 200}"),
    ],
)  # fmt: skip
def test_a_name_is_written_in_one_way(text: str, name: str) -> None:
    assert check_name(text) == name
    assert is_entity_name(name) and is_entity_name(text) is (text == name)


@pytest.mark.parametrize(
    "text",
    [
        "projects", "", "elsewhere/x", "projects/a/b/c", "projects/a..b", "projects/.git", "@Sc out/projects/x",
        f"projects/{'x' * 201}", f"projects/{'ü' * 101}",
    ],
)  # fmt: skip
def test_what_is_no_name_is_refused(text: str) -> None:
    with pytest.raises(InvalidInput):
        check_name(text)
    assert not is_entity_name(text)


@pytest.mark.parametrize(
    "text", ["candidates/2026-11-21", "areas/people", "@scout/areas/companies", f"areas/{'x' * 81}"]
)
def test_a_new_name_is_no_folder_and_short(text: str) -> None:
    with pytest.raises(InvalidInput):
        check_new_name(text)
    assert check_new_name(f"areas/{'x' * 80}") == f"areas/{'x' * 80}"


@pytest.mark.parametrize(
    ("name", "folder", "kind"),
    [
        ("areas/people/mia", "life/areas/people/mia", "person"),
        ("areas/companies/a", "life/areas/companies/a", "company"),
        ("areas/home/roof", "life/areas/home/roof", "area"), ("projects/larder", "life/projects/larder", "project"),
        ("@scout/projects/x", "agents/scout/workspace/projects/x", "project"),
        ("candidates/2026-11-21", "daily/candidates/2026-11-21", "candidate"),
    ],
)  # fmt: skip
def test_the_files_of_an_entity_are_in_one_folder(name: str, folder: str, kind: str) -> None:
    assert (items_path(name), summary_path(name)) == (f"{folder}/items.json", f"{folder}/summary.md")
    assert name_of_path(items_path(name)) == name
    assert kind_of(name) == kind


@pytest.mark.parametrize(
    "path", ["life/projects/items.json", "life/projects/x/other.md", "daily/2026-11-21/items.json", "wiki/x/items.json"]
)
def test_other_files_belong_to_no_entity(path: str) -> None:
    assert name_of_path(path) is None


def test_titles_and_names_lead_to_each_other() -> None:
    assert title_of("areas/people/hye-jin_park") == "Hye Jin Park"
    assert slug(" Hye-jin  Park! ") == "hye-jin-park" and slug("!?") == ""
    assert title_in("areas/people/hye-jin-park", "I met Hye-jin Park today.") == "Hye-jin Park"
    assert title_in("areas/people/mia", "the mia case") is title_in("areas/people/mia", "Miami") is None


def test_an_agent_sees_its_own_entities_and_a_person_those_asked_for() -> None:
    assert visible_owners("scout") == visible_owners(None, "@scout/projects/x") == ("", "scout")
    assert visible_owners(None) == visible_owners(None, "projects/x") == ("",)
