"""`--at` and `--as-of` on the verbs that read, as processes: their JSON, their words, their exit codes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.conftest import Command, Once
from tests.memory.machines import Machine, make_machines

ENTITY = "areas/people/jane"
READS = (("recall", "where does Jane live?"), ("context", "where does Jane live?"), ("list",), ("context",))


@pytest.fixture
def moved(once: Once, clawmem: Command) -> tuple[str, str]:
    """Jane lived in Paris since the 10th and lives in Rome since the 20th; both were said on their days."""
    return once(lambda: _move(clawmem))


def _move(clawmem: Command) -> tuple[str, str]:
    env = {"CLAWMEM_NOW": "2026-11-22T08:00:00Z"}
    old = clawmem("remember", "Jane lives in Paris.", "-e", ENTITY, "--valid-from", "2026-11-10", "--json", env=env)
    fact_id = old.data["facts"][0]["id"]
    env = {"CLAWMEM_NOW": "2026-11-24T08:00:00Z", "CLAWMEM_SEED": "2"}
    new = clawmem("supersede", fact_id, "Jane lives in Rome.", "--valid-from", "2026-11-20", "--json", env=env)
    return fact_id, new.data["facts"][0]["id"]


def ask(clawmem: Command, *arguments: str, agent: str = "") -> Any:
    env = {"CLAWMEM_NOW": "2026-11-30T08:00:00Z", **({"CLAWMEM_AGENT": agent} if agent else {})}
    return clawmem(*arguments, "--json", env=env)


def statements(data: Any) -> list[str]:
    """What was given, as text."""
    if "context" in data:
        return [town for town in ("Paris", "Rome") if f"Jane lives in {town}." in data["context"]["text"]]
    return [fact["fact"].split()[-1].rstrip(".") for fact in data["facts"]]


POINTS: tuple[tuple[tuple[str, ...], str | None], ...] = (
    ((), "Rome"),
    (("--at", "2026-11-23"), "Paris"),
    (("--at", "HEAD~1"), "Paris"),
    (("--at", "2026-11-24"), "Rome"),
    (("--as-of", "2026-11-19"), "Paris"),
    (("--as-of", "2026-11-20"), "Rome"),
    (("--as-of", "2026-11-20T01:00:00+02:00"), "Paris"),
    # Nobody knew in the evening of the 23rd that she had moved on the 20th.
    (("--at", "2026-11-23", "--as-of", "2026-11-21"), "Paris"),
    (("--at", "2026-11-24", "--as-of", "2026-11-19"), "Paris"),
    (("--at", "2026-11-24", "--as-of", "2026-11-09"), None),
)


def test_each_read_travels(clawmem: Command, moved: tuple[str, str]) -> None:
    for number, verb in enumerate(READS):
        # All points by one verb, and the two moments that can be named by each.
        for options, town in POINTS if number == 0 else (POINTS[0], POINTS[1], POINTS[4], POINTS[-1]):
            data = ask(clawmem, *verb, *options).data
            assert statements(data) == ([town] if town else []), (verb, options)
            assert ("at" in data) == ("--at" in options)


def test_the_point_is_told(clawmem: Command, moved: tuple[str, str]) -> None:
    result = ask(clawmem, "list", "--at", "2026-11-23")
    at = result.data["at"]
    assert (at["time"], at["moment"]) == ("2026-11-22T08:00:00Z", "2026-11-23T23:59:59Z")
    assert result.json["notices"] == [f"this is what the vault knew at {at['commit'][:12]} (2026-11-22 08:00)"]


def test_show_says_whether_a_fact_was_true_and_what_was(clawmem: Command, moved: tuple[str, str]) -> None:
    old, new = moved
    truth = ask(clawmem, "show", new, "--as-of", "2026-11-19").data["as_of"]
    why_not = "it is valid only from 2026-11-20"
    assert (truth["moment"], truth["true"], truth["why_not"]) == ("2026-11-19", False, why_not)
    assert truth["instead"]["id"] == old
    truth = ask(clawmem, "show", old, "--as-of", "2026-11-20").data["as_of"]
    why_not = "it was valid only until 2026-11-20"
    assert (truth["true"], truth["why_not"], truth["instead"]["id"]) == (False, why_not, new)
    assert ask(clawmem, "show", old, "--as-of", "2026-11-19").data["as_of"]["true"] is True
    early = ask(clawmem, "show", new, "--as-of", "2026-11-09").data["as_of"]
    assert (early["true"], early["instead"]) == (False, None)
    words = clawmem("show", new, "--as-of", "2026-11-19").out.splitlines()
    assert words[0] == "Not true on 2026-11-19: it is valid only from 2026-11-20."
    assert words[1].startswith(f"True then: {old}  Jane lives in Paris.")
    assert clawmem("show", new, "--as-of", "2026-11-20").out.splitlines()[0] == "True on 2026-11-20."
    clawmem("retract", new)
    gone = ask(clawmem, "show", new, "--as-of", "2026-11-20").data["as_of"]
    assert gone["why_not"] == "it was retracted, so it was never true"


def test_show_at_a_point_gives_the_fact_as_it_was(clawmem: Command, moved: tuple[str, str]) -> None:
    old, new = moved
    fact = ask(clawmem, "show", old, "--at", "2026-11-23").data["fact"]
    assert (fact["status"], fact.get("valid_to"), fact["access_count"]) == ("active", None, 0)
    assert ask(clawmem, "show", old).data["fact"]["status"] == "superseded"
    failed = ask(clawmem, "show", new, "--at", "2026-11-23")
    assert (failed.code, failed.json["error"]["code"]) == (1, "not_found")
    assert "was not in the vault then" in failed.json["error"]["message"]


def test_what_is_no_point_ends_with_its_code(clawmem: Command, moved: tuple[str, str]) -> None:
    wrong = (("2020-01-01", 1, "not_found"), ("beefbeef", 1, "not_found"), ("2026-13-01", 2, "invalid_input"))
    for point, code, error in wrong:
        failed = ask(clawmem, *READS[0], "--at", point)
        assert (failed.code, failed.json["error"]["code"]) == (code, error)
        assert failed.json["error"]["hint"]


def test_a_look_back_leaves_no_trace_beside_its_index(
    clawmem: Command, moved: tuple[str, str], vault_root: Path
) -> None:
    state = vault_root / ".git/clawmem"
    before = {path.name for path in state.iterdir()}
    for verb in READS:
        ask(clawmem, *verb, "--at", "HEAD~1")
    assert {path.name for path in state.iterdir()} - before == {"at"}
    assert not list(state.rglob("access.*"))


def test_what_is_always_told_now_is_not_of_a_past_moment(clawmem: Command, moved: tuple[str, str]) -> None:
    clawmem("remember", "Priya is allergic to penicillin.", "--importance", "0.95")
    question = ("recall", "where does Jane live?")
    told = [ask(clawmem, *question, *options).data["hot_facts"] for options in ((), ("--at", "HEAD"))]
    assert [len(facts) for facts in told] == [1, 0]


def test_what_clones_recorded_counts_from_the_day_it_was_recorded(
    tmp_path: Path, environment: dict[str, str], clawmem: Command
) -> None:
    def on(day: int, machine: Machine, *arguments: str) -> str:
        result = clawmem(*arguments, cwd=machine.root, env={"CLAWMEM_NOW": f"2026-12-{day:02}T09:00:00"})
        assert result.code == 0, result.err
        return result.out

    ours, theirs = make_machines(tmp_path, environment)
    on(2, ours, "remember", "Green two.", "-e", "projects/site")
    on(3, ours, "remember", "Blue three.", "-e", "projects/site")
    on(4, theirs, "remember", "Black four.", "-e", "projects/site")
    on(5, ours, "sync")
    on(6, theirs, "sync")
    on(6, ours, "sync")
    for machine in (ours, theirs):
        refs = machine.git("for-each-ref")
        assert "Blue three." in on(7, machine, "diff", "2026-12-03")
        assert "Green two." in on(7, machine, "diff", "2026-12-02")
        assert "learned 1 fact." in on(7, machine, "diff", "2026-12-04")
        assert "forgot nothing" in on(7, machine, "diff", "2026-12-06")
        then = on(7, machine, "list", "--at", "2026-12-05")
        assert all(words in then for words in ("Green two.", "Blue three.", "Black four."))
        assert "Black" not in on(7, machine, "list", "--at", "2026-12-03")
        assert machine.git("for-each-ref") == refs
