"""The guardrail verbs: for whom a guardrail holds, what led to it, and what its line says."""

from __future__ import annotations

import pytest

from tests.conftest import Command

ADD = ("guardrail", "add", "Never push to the main branch.", "--why", "A release was lost.")


@pytest.mark.parametrize(
    ("options", "scope"),
    [
        ((), None),
        (("--project", "boat"), "project"),
        (("--workflow", "software"), "team"),
        (("--workflow", "software", "--project", "boat"), "project"),
    ],
)
def test_a_project_or_a_workflow_says_who_sees_it(
    clawmem: Command, options: tuple[str, ...], scope: str | None
) -> None:
    assert clawmem(*ADD, *options, "--json").data["guardrail"].get("scope") == scope


def test_the_line_names_agents_uses_and_failures(clawmem: Command) -> None:
    add = (*ADD, "--for", "coder", "--evidence", "fail_1", "--failure-mode", "loop", "--json")
    fact = clawmem(*add).data["guardrail"]["id"]
    for hour in ("10", "11"):
        time = {"CLAWMEM_NOW": f"2026-11-21T{hour}:00:00Z", "CLAWMEM_SEED": hour}
        assert clawmem("failure", "record", "loop", "--note", "Again.", "--agent", "coder", env=time).code == 0
    (shown,) = clawmem("guardrail", "list", "--json").data["guardrails"]
    assert (shown["agents"], shown["evidence"], shown["served"]) == (["coder"], ["fail_1"], 0)
    assert (len(shown["came_back"]), shown["last_failure"]) == (2, "2026-11-21T11:00:00Z")
    line = clawmem("guardrail", "list").out
    assert fact in line and "(for coder, since 2026-11-21, served 0 times, loop came back 2 times)" in line
