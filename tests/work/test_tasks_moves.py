"""Reading tasks of a vault, and what doctor says of them."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path

import pytest

from clawmem.errors import AmbiguousId, NotFound, Refused, Unreadable
from clawmem.memory.proposals import read_proposals
from clawmem.model.records.caller import Caller
from clawmem.vault.vault import Vault
from clawmem.work.tasks import find_task, list_tasks, move_task
from tests.conftest import Command

GOOD = "---\ntitle: {title}\npriority: {priority}\n---\n"


@pytest.fixture
def tasks(vault_root: Path) -> Path:
    folder = vault_root / "tasks"
    for name, title, priority in (("fix-login", "Fix the login", 3), ("fix-menu", "Fix the menu", 1)):
        (folder / f"{name}.md").write_text(GOOD.format(title=title, priority=priority))
    (folder / "README.md").write_text("# How we work\n")
    return folder


def test_tasks_are_listed_by_priority_and_found_by_their_names(tasks: Path, vault: Vault) -> None:
    assert [task.slug for task in list_tasks(vault).tasks] == ["fix-menu", "fix-login"]
    for name in ("fix-login", "tasks/fix-login.md", "Fix the login", "fix-l"):
        assert find_task(vault, name).slug == "fix-login"
    with pytest.raises(AmbiguousId):
        find_task(vault, "fix")
    with pytest.raises(NotFound):
        find_task(vault, "paint")
    with pytest.raises(NotFound):
        find_task(vault, "..")


def test_an_unreadable_task_hides_no_other(tasks: Path, vault: Vault) -> None:
    (tasks / "odd.md").write_text("---\nstate: started\n---\n")
    found = list_tasks(vault)
    assert len(found.tasks) == 2
    assert "tasks/odd.md:2" in found.notices[0]
    with pytest.raises(Unreadable):
        find_task(vault, "odd")


def test_doctor_names_line_and_key(tasks: Path, clawmem: Command) -> None:
    (tasks / "odd.md").write_text("---\nstate: started\n---\n")
    (tasks / "idle.md").write_text("---\ntitle: Idle\nworkflow: flying\nstate: working\n---\n")
    text = clawmem("doctor").out
    assert "tasks/odd.md:2" in text
    assert "'state' is 'started'" in text
    assert "tasks/idle.md:4" in text
    assert "tasks/idle.md:3" in text
    assert "There is no workflow 'flying'." in text
    assert "'holder' names nobody" in text


def test_a_hand_edit_is_taken_in_and_a_wrong_one_is_named_and_kept(tasks: Path, clawmem: Command) -> None:
    assert "committed 3 file(s) edited by hand" in clawmem("remember", "Grass is green.").err
    page = (tasks / "fix-menu.md").read_text()
    (tasks / "fix-menu.md").write_text(page.replace("priority: 1", "state: done"))
    (tasks / "fix-login.md").write_text(page.replace("priority: 1", "state: finished"))
    text = clawmem("remember", "Rain is wet.").err
    assert "committed 1 file(s) edited by hand" in text
    assert "tasks/fix-login.md:3 cannot be read: the key 'state' is 'finished'" in text
    assert "finished" in (tasks / "fix-login.md").read_text()


def test_a_person_who_took_a_task_keeps_it_for_longer_than_a_lease(tasks: Path, vault: Vault, caller: Caller) -> None:
    move_task(vault, caller, "fix-menu", "take")
    later = caller._replace(agent="bob", now=caller.now + timedelta(hours=5))
    with pytest.raises(Refused, match="held by"):
        move_task(vault, later, "fix-menu", "take")


def test_a_task_that_is_decided_again_leaves_the_escalation_as_it_was_answered(
    tasks: Path, vault: Vault, clawmem: Command
) -> None:
    (tasks / "fix-menu.md").write_text("---\ntitle: Fix the menu\n---\n## Acceptance\n\n- [ ] It is nice.\n")
    clawmem("evaluate", "fix-menu")
    for words in (("close",), ("reopen",), ("reject", "--reason", "It is not nice.")):
        assert clawmem("task", words[0], "fix-menu", *words[1:]).code == 0, words
    (proposal,) = read_proposals(vault).proposals
    assert proposal.status == "approved"
