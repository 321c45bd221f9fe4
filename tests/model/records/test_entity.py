"""Names become paths that every file system takes."""

from __future__ import annotations

from pathlib import PureWindowsPath

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clawmem.errors import InvalidInput
from clawmem.extensions.wiki.values.page import entity_page, topic_page
from clawmem.model.records.entity import check_agent, check_new_name, items_path, slug
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
