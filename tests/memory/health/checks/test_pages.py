"""Doctor on what entities go by."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clawmem.memory.health.checks import ERROR, WARNING, HealthProblem
from clawmem.memory.health.checks.pages import alias_problems, read_review
from clawmem.memory.health.doctor import Diagnosis, doctor
from clawmem.model.facts.fact import UNSET_ID, Fact
from clawmem.model.proposals.proposal import (
    ADD,
    PROMOTE,
    RETRACT,
    PromotionWorth,
    Proposal,
    ProposalTarget,
    render_proposal,
)
from clawmem.model.records.caller import Caller
from clawmem.model.records.event import Event, render_events
from clawmem.vault.vault import Vault


def test_an_alias_that_is_a_path_leads_to_one_entity_alone() -> None:
    entities = {"areas/people/jane", "areas/people/janet", "archives/otters", "resources/otters", "projects/x"}
    aliases = {
        "areas/people/jane": ("areas/people/jane", "JD"),
        "areas/people/janet": ("JD", "Areas/people/jane"),
        "archives/otters": ("projects/otters", "areas/otters"),
        "resources/otters": ("projects/otters",),
        "projects/x": (),
    }
    found = list(alias_problems(aliases, entities))
    assert {(problem.severity, problem.check) for problem in found} == {(WARNING, "alias")}
    assert [(problem.path, problem.message.partition(":")[0]) for problem in found] == [
        (
            "life/areas/people/janet/summary.md",
            "The alias 'areas/people/jane' of areas/people/janet leads to areas/people/jane itself",
        ),
        (
            "life/archives/otters/summary.md",
            "The alias 'projects/otters' of archives/otters and resources/otters could mean any of them",
        ),
    ]


AT = "2026-11-21T09:30:00Z"
PATH = "review/prop_00000001.json"
TEA = Fact("fact_00000001", "Jane likes tea.", "preference", AT, "chat")
EVENT = Event("ev_1", AT, "user", "I like tea a lot.")
OPEN_ONE = Proposal(
    "prop_00000001", "conflict", "Jane likes tea no more.", "Somebody said so.", AT, RETRACT,
    targets=(ProposalTarget(TEA.id, TEA.fact),),
)  # fmt: skip
NEW = Fact(UNSET_ID, "Jane likes it a lot.", "preference", AT, "chat", source_event="ev_1", source_text="tea a lot",
           source_span=(7, 16))  # fmt: skip
ADDED = OPEN_ONE._replace(does=ADD, kind="fact", targets=(), fact=NEW, entity="areas/people/jane")
PROMOTED = OPEN_ONE._replace(kind="promotion", does=PROMOTE, worth=PromotionWorth("2026-11-20", 0.6))


def changed(proposal: Proposal = OPEN_ONE, **keys: Any) -> bytes:
    """The proposal's file with other values, one key a line; None takes a key out."""
    record = {**json.loads(render_proposal(proposal)), **keys}
    rows = [f" {json.dumps(key)}: {json.dumps(value)}" for key, value in record.items() if value is not None]
    return ("{\n" + ",\n".join(rows) + "\n}\n").encode()


def problems(data: bytes) -> list[HealthProblem]:
    """All that is said of one file."""
    return read_review(PATH, data)[1]


@pytest.mark.parametrize("proposal", [OPEN_ONE, ADDED, PROMOTED])
def test_what_can_be_approved_has_no_problem(proposal: Proposal) -> None:
    assert problems(render_proposal(proposal)) == []


@pytest.mark.parametrize(
    ("data", "line", "text"),
    [
        (b"{\n oops\n}\n", 2, "is not JSON"),
        (b"[]\n", None, "it is not a JSON object"),
        (changed(kind="whim"), 3, "the key 'kind' must be one of fact, conflict, "),
        (changed(kind="says"), 3, "but is 'says'"),
        (changed(says=None), None, "'says' is missing"),
        (changed(targets=[{"id": "fact_1"}]), 9, "the key 'targets[0].fact' is missing"),
        (changed(PROMOTED, worth={"on": "soon", "score": 1}), 10, "the key 'worth.on' must be a day, but is 'soon'"),
        (changed(id="prop_00000002"), None, "which does not match the file name"),
        (changed(created="yesterday"), 7, "has 'yesterday' as the time it was created"),
        (changed(status="rejected", decided={"by": "x", "at": "later"}), 10, "has 'later' as the time it was decided"),
    ],
)
def test_a_file_that_is_wrong_is_an_error_on_its_line(data: bytes, line: int | None, text: str) -> None:
    (problem,) = problems(data)
    assert (problem.severity, problem.path, problem.line) == (ERROR, PATH, line)
    assert text in problem.message


def test_an_entity_that_cannot_be_and_a_credential_are_said() -> None:
    (problem,) = problems(render_proposal(ADDED._replace(entity="../x")))
    assert (problem.severity, problem.line) == (WARNING, 10)
    assert "cannot be approved: " in problem.message
    key = "AKIA" + "QWERTYUIOPASDFGH"
    (secret,) = problems(render_proposal(OPEN_ONE._replace(why=f"It named {key}.")))
    assert (secret.check, secret.severity) == ("secret", WARNING)
    assert key not in secret.message


@given(st.binary(max_size=80) | st.dictionaries(st.sampled_from(Proposal._fields), st.integers() | st.text()).map(
    lambda record: json.dumps({**json.loads(render_proposal(OPEN_ONE)), **record}).encode()))  # fmt: skip
def test_whatever_stands_in_a_file_it_is_reported_and_never_fails(data: bytes) -> None:
    assert all(isinstance(problem, HealthProblem) and problem.message.endswith(".") for problem in problems(data))


@pytest.fixture
def check(vault_root: Path, environment: dict[str, str], caller: Caller) -> Callable[[], Diagnosis]:
    """Doctor on the vault as it is now."""
    return lambda: doctor(Vault(vault_root, environment), caller)


def test_doctor_reads_them_and_counts_them(vault_root: Path, check: Callable[[], Diagnosis]) -> None:
    (vault_root / "ledger").mkdir(exist_ok=True)
    (vault_root / "ledger/2026-11-21.jsonl").write_bytes(render_events([EVENT]))
    (vault_root / PATH).write_bytes(render_proposal(ADDED))
    (vault_root / "review/prop_00000002.json").write_bytes(render_proposal(OPEN_ONE._replace(id="prop_00000002")))
    (vault_root / "review/prop_00000003.json").write_bytes(b"{\n")
    found = check()
    items = [
        (problem.severity, problem.path, problem.line) for problem in found.problems if problem.check == "proposal"
    ]
    assert items == [(ERROR, "review/prop_00000003.json", 2)]
    assert (found.checked["proposals"], found.healthy) == (2, False)
