"""Names of entities: what may be one, where its files are, and that every file system takes their paths."""

from __future__ import annotations

from pathlib import PureWindowsPath

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clawmem.errors import InvalidInput
from clawmem.extensions.wiki.values.page import entity_page, topic_page
from clawmem.model.records.entity import (
    check_agent,
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
from clawmem.model.records.layout import fits_windows
from clawmem.model.records.session import check_session_id, scratchpad_path, session_path
from clawmem.model.records.task import check_workflow, task_path, workflow_path

DEVICES = ("con", "PRN", "aux", "nul", "com1", "lpt9", "com¹", "con.txt", "nul.")
TEXTS = st.one_of(st.sampled_from(DEVICES), st.text(max_size=90), st.from_regex(r"\A[\w.-]{1,40}\Z"))
PATHS = (
    lambda text: items_path(check_new_name(f"projects/{text}")),
    lambda text: items_path(check_new_name(f"@{text}/areas/people/{text}")),
    lambda text: items_path(check_new_name(f"areas/{slug(text)}")),
    lambda text: session_path(check_agent(text.lower()), check_session_id(text)),
    lambda text: scratchpad_path("scout", text),
    lambda text: task_path(slug(text) or "task"),
    lambda text: workflow_path(check_workflow(text.lower())),
    lambda text: entity_page(f"areas/{text.replace('/', '-')}"),
    topic_page,
)


def _is_on_windows(path: str) -> bool:
    """What Python, and git for Windows, say of a path."""
    parts = [PureWindowsPath(part) for part in path.split("/")]
    whole = all(str(part) == name and name[-1:] not in ". " for part, name in zip(parts, path.split("/"), strict=True))
    return whole and not any(part.is_reserved() for part in parts) and not set(path) & set('<>:"|?*\\')


@given(TEXTS)
def test_windows_can_have_each_file_that_a_name_gives(text: str) -> None:
    for path_of in PATHS:
        try:
            path = path_of(text)
        except InvalidInput:
            continue
        assert _is_on_windows(path), path
        assert fits_windows(path), path


@pytest.mark.parametrize("path", [f"life/areas/{name}/items.json" for name in (*DEVICES, "a:b", "a ", "what?")])
def test_other_paths_are_known(path: str) -> None:
    assert not fits_windows(path)
    assert not _is_on_windows(path)


def test_a_title_gives_a_name_that_is_no_device() -> None:
    assert (slug("Aux"), slug("Auxiliary")) == ("aux-name", "auxiliary")
    with pytest.raises(InvalidInput, match="'con' cannot be part of it"):
        check_new_name("areas/people/con")


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
