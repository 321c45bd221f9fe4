"""`clawmem review` as a process: its JSON, its exit codes, and what `heartbeat --explain` says about candidates."""

from __future__ import annotations

import json
import select
import subprocess
import sys
from pathlib import Path
from typing import IO

import pytest

from tests.conftest import Command, Once

pytestmark = pytest.mark.usefixtures("without_vectors")

TALK = (
    "Remember that I was born in Oslo.",
    "Remember that I was born in Bergen.",
    "Remember that I'm cooking soup right now in the kitchen.",
    "Remember that I like tea.",
    "Remember that I really like tea.",
)


@pytest.fixture
def proposal(once: Once, clawmem: Command) -> str:
    """The id of the one proposal of a short talk."""
    return once(lambda: _talk(clawmem))


def _talk(clawmem: Command) -> str:
    lines = (
        json.dumps({"role": "user", "speaker": "Dana", "timestamp": f"2026-11-0{day}T10:00:00Z", "content": text})
        for day, text in enumerate(TALK, 1)
    )
    assert clawmem("ingest", "-", given="\n".join(lines)).code == 0
    (other,) = clawmem("heartbeat", "--json").data["learned"]["proposals"]
    return str(other["id"])


def test_approve_gives_facts_outcome_and_commit(clawmem: Command, proposal: str) -> None:
    (listed,) = clawmem("review", "list", "--json").data["proposals"]
    assert (listed["id"], listed["kind"], listed["status"], listed["does"]) == (
        proposal,
        "conflict",
        "open",
        "supersede",
    )
    result = clawmem("review", "approve", proposal[5:10], "--reason", "her passport", "--json").data
    assert [fact["fact"] for fact in result["facts"]] == ["Dana was born in Bergen.", "Dana was born in Oslo."]
    assert {fact["entity"] for fact in result["facts"]} == {"areas/people/dana"}
    assert result["outcome"] == ["updated", "updated"]
    decided = {"by": "Ada Person <ada@example.org>", "at": "2026-11-21T09:30:00Z", "reason": "her passport"}
    assert result["proposal"]["decided"] == {**decided, "winner": result["facts"][0]["id"]}
    assert clawmem("review", "list", "--json").data == {"proposals": []}
    assert clawmem("undo", result["commit"], "--json").data["outcome"] == ["restored", "removed"]
    assert clawmem("status", "--json").data["proposals"] == 1


def test_show_and_reject(clawmem: Command, proposal: str) -> None:
    shown = clawmem("review", "show", proposal, "--json").data
    assert [target["fact"] for target in shown["targets"]] == ["Dana was born in Oslo."]
    assert shown["proposal"]["fact"]["source_text"] == "I was born in Bergen"
    missing = clawmem("review", "reject", proposal, "--json")
    assert (missing.code, missing.json["error"]["code"]) == (2, "usage")
    result = clawmem("review", "reject", proposal, "--reason", "a joke", "--json").data
    assert (result["facts"], result["outcome"]) == ([], [])
    assert result["proposal"]["decided"]["by"] == "Ada Person <ada@example.org>"
    late = clawmem("review", "approve", proposal, "--json")
    assert (late.code, late.json["error"]["code"]) == (1, "refused")
    (every,) = clawmem("review", "list", "--all", "--kind", "conflict", "--json").data["proposals"]
    assert every["status"] == "rejected"
    assert clawmem("review", "list", "--all", "--kind", "tacit", "--json").data == {"proposals": []}


def test_what_does_not_exist_is_not_found(clawmem: Command, vault_root: Path) -> None:
    found = clawmem("review", "show", "prop_1234", "--json")
    assert (found.code, found.json["error"]["code"]) == (1, "not_found")
    wrong = clawmem("review", "list", "--kind", "whim", "--json")
    assert (wrong.code, wrong.json["error"]["code"]) == (2, "invalid_input")


def test_explain_lists_every_candidate_with_its_verdict(clawmem: Command, proposal: str, vault_root: Path) -> None:
    (vault_root / "ledger" / "learned.json").write_text('{"days": {}, "mentions": {}}\n')
    clawmem("review", "reject", proposal, "--reason", "a joke")
    data = clawmem("heartbeat", "--explain", "--json").data
    verdicts = {candidate["statement"]: (candidate["outcome"], candidate["gate"]) for candidate in data["candidates"]}
    assert verdicts["Dana was born in Bergen."] == ("refused", "review")
    assert verdicts["Dana was born in Oslo."] == ("noop", "duplication")
    refused = {candidate["gate"]: candidate for candidate in data["candidates"] if candidate["outcome"] == "refused"}
    assert refused.keys() == {"review", "durability"}
    assert refused["review"]["proposal"] == proposal
    assert "a joke" in refused["review"]["reason"]
    assert "cooking soup" in refused["durability"]["statement"] and "right now" in refused["durability"]["reason"]
    assert data["learned"]["refused"] == 2
    assert data["learned"]["proposed"] == 0


def test_watch_prints_what_happens_to_the_queue(
    clawmem: Command, proposal: str, vault_root: Path, environment: dict[str, str]
) -> None:
    words = [sys.executable, "-m", "clawmem", "review", "watch", "--json"]
    with subprocess.Popen(words, cwd=vault_root, env=environment, stdout=subprocess.PIPE, text=True) as watching:
        assert watching.stdout is not None
        try:
            for number in range(60):  # until the command follows
                clawmem("remember", f"Jane{number} lives in Oslo.", "--entity", "areas/people/jane", "--quiet")
                clawmem("remember", f"Jane{number} lives in Rome.", "--entity", "areas/people/jane", "--quiet")
                if select.select([watching.stdout], [], [], 1.0)[0]:
                    break
            filed = json.loads(watching.stdout.readline())
            assert (filed["event"], filed["kind"], filed["entity"]) == ("filed", "conflict", "areas/people/jane")
            assert clawmem("review", "reject", proposal, "--reason", "a joke").code == 0
            assert (rejected := _next(watching.stdout))["reason"] == "a joke"
            assert (rejected["event"], rejected["proposal"]) == ("rejected", proposal)
            assert clawmem("undo", "HEAD").code == 0
            assert _next(watching.stdout)["event"] == "reopened"
        finally:
            watching.kill()


def _next(lines: IO[str]) -> dict[str, str]:
    """The next event that is no new proposal."""
    while True:
        event: dict[str, str] = json.loads(lines.readline())
        if event["event"] != "filed":
            return event


def test_agreement_is_a_table_like_every_list(clawmem: Command, proposal: str) -> None:
    assert clawmem("review", "agreement").out == "conflict\tnone decided\t1 waiting\t\n"
    clawmem("review", "approve", proposal)
    rows = [line.split("\t") for line in clawmem("review", "agreement").out.splitlines()]
    assert rows[0] == ["conflict", "1 of 1 approved", "0 waiting", ""]
    assert [len(row) for row in rows] == [4] * len(rows)
