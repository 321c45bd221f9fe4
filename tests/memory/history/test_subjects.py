"""The subjects of commits say what happened in words."""

from __future__ import annotations

from clawmem.vault.vault import Vault
from tests.conftest import Command


def test_subjects_have_the_verb_and_the_old_words(clawmem: Command, vault: Vault) -> None:
    for second, knots in enumerate(("6 knots", "8 knots")):
        triple = ("--subject", "dock", "--predicate", "limit", "--object", knots, "-e", "projects/d")
        moment = {"CLAWMEM_NOW": f"2026-11-21T09:30:0{second}Z", "CLAWMEM_SEED": f"{second}"}
        assert clawmem("remember", f"The limit is {knots}.", *triple, env=moment).code == 0
    lesson = clawmem("lesson", "add", "Test before you ship.", "-e", "projects/d", env={"CLAWMEM_SEED": "5"})
    decision = clawmem("decision", "add", "Use R2.", "--why", "egress", "-e", "projects/d", env={"CLAWMEM_SEED": "6"})
    assert (lesson.code, decision.code) == (0, 0), lesson.err + decision.err
    ids = clawmem("list", "-e", "projects/d", "--include-superseded", "--json").data["facts"]
    clawmem("link", ids[0]["id"], ids[1]["id"], "--type", "supports")
    subjects = vault.git.run("log", "--format=%s").decode().splitlines()
    assert any(line.startswith("decision(") and line.endswith(": Use R2.") for line in subjects)
    assert any(line.startswith("lesson(") and line.endswith(": Test before you ship.") for line in subjects)
    assert "supersede(projects/d): The limit is 8 knots. (was: The limit is 6 knots.)" in subjects
    (linked,) = [line for line in subjects if line.startswith("link(projects/d): ")]
    assert " supports " in linked and "fact_" not in linked
