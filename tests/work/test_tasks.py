"""Workflows: the examples of the template are complete, and `check` names what is missing."""

from __future__ import annotations

import pytest

from clawmem.errors import NotFound
from clawmem.vault.vault import Vault
from clawmem.work.tasks import check_workflows, find_workflow, list_workflows
from tests.conftest import Command


def test_the_examples_of_the_template_are_complete(vault: Vault) -> None:
    assert [workflow.id for workflow in list_workflows(vault)[0]] == ["research", "software"]
    assert [(workflow.id, workflow.missing) for workflow in check_workflows(vault)] == [
        ("research", ()),
        ("software", ()),
    ]


def test_check_names_what_is_missing(vault: Vault, clawmem: Command) -> None:
    (vault.root / "workflows/boats.yaml").write_text(
        "title: Boats\nstages:\n  - name: sail\n    takes: [boat]\n    role: captain\n  - sail\n"
        "states: {wet: in the sea}\nsize: 3\n"
    )
    (found,) = check_workflows(vault, "boats")
    text = "\n".join(found.missing)
    for words in (
        "'about' is missing",
        "'roles' is missing",
        "'size' is not a key",
        "states.wet is not a state",
        "takes 'boat', which no earlier stage hands in",
        "'captain', which 'roles' does not describe",
        "2 stages with the name 'sail'",
    ):
        assert words in text
    assert clawmem("workflow", "check", "boats").code == 1
    assert clawmem("workflow", "check", "software").code == 0


def test_a_broken_file_stops_only_itself(vault: Vault) -> None:
    (vault.root / "workflows/broken.yaml").write_text("stages: 3\n")
    found, notices = list_workflows(vault)
    assert len(found) == 2
    assert "the key 'stages' must be a list, but is 3" in notices[0]


def test_an_unknown_workflow_is_refused_with_the_known_ones(vault: Vault) -> None:
    with pytest.raises(NotFound) as problem:
        find_workflow(vault, "sales")
    assert "research, software" in problem.value.hint


def test_unknown_failure_modes_are_named_and_those_of_the_vault_are_known(vault: Vault) -> None:
    modes = vault.root / "governance/failures.yaml"
    modes.write_text("sinking:\n  signs: [water]\n  actions: [Bail.]\n")
    software = vault.root / "workflows/software.yaml"
    text = software.read_text()
    software.write_text(text.replace("failure_modes: [", "failure_modes: [sinking, burning, "))
    (found,) = check_workflows(vault, "software")
    (missing,) = found.missing
    assert missing.startswith("failure_modes: 'burning' is no failure mode; the modes are context-exhaustion, loop")
    modes.write_text("sinking: 3\n")
    (broken,) = check_workflows(vault, "software")
    assert "governance/failures.yaml:1 cannot be read" in broken.missing[0]
