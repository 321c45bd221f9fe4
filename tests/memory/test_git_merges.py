"""Merges made by git itself: with clawmem as its driver, without it, stopped half way, and completed afterwards."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from clawmem.errors import ClawmemError, NeedsDecision
from clawmem.memory.facts.remember import RememberResult, remember
from clawmem.memory.facts.revise import supersede
from clawmem.memory.health.configure import change_setting
from clawmem.memory.health.doctor import doctor
from clawmem.memory.proposals import read_proposals
from clawmem.memory.sync.merge_plan import apply_fast_forward, commit_merge, plan_with_policy
from clawmem.memory.sync.relation import RemoteBranch, compare_histories
from clawmem.model.facts.codec import parse_items, render_items
from clawmem.model.facts.draft import draft_from_record
from clawmem.model.facts.fact import Fact
from clawmem.model.lifecycle import chain
from clawmem.model.merging.files import merge_file
from clawmem.vault.commit.transaction import transaction
from clawmem.vault.exchange.remote import fetch, find_remote
from clawmem.vault.git.merge_driver import driver_problem, install_driver
from clawmem.vault.history.git_merges import GitMerge, write_unfinished_merges
from tests.conftest import NOW, Command
from tests.faults.checks import assert_sound, assert_whole
from tests.memory.machines import Machine, make_machines, sync_all

ITEMS = "life/areas/general/items.json"
JANE = "areas/people/jane"


@pytest.fixture
def machines(tmp_path: Path, environment: dict[str, str]) -> list[Machine]:
    """Two clones of one vault, both of which clawmem has written to."""
    return make_machines(tmp_path, environment, 2, sync_all)


def pull(machine: Machine) -> subprocess.CompletedProcess[bytes]:
    """Plain `git pull`, as a person would."""
    command = ["git", "pull", "-q", "--no-rebase", "--no-edit", "origin", "main"]
    return subprocess.run(command, cwd=machine.root, env=machine.environment, capture_output=True, check=False)


def forget_driver(machine: Machine) -> None:
    """A clone without the merge driver."""
    for name in ("clawmem", "union"):
        machine.git("config", "--remove-section", f"merge.{name}")


def replace(machine: Machine, fact: str, text: str) -> str:
    """Supersede a fact; the id of its successor."""
    draft = draft_from_record({"fact": text}, NOW)
    return supersede(machine.vault, fact, draft, machine.caller).facts[0].fact.id


def test_a_clone_is_told_at_its_first_write(tmp_path: Path, environment: dict[str, str]) -> None:
    _, other = make_machines(tmp_path, environment)
    assert driver_problem(other.vault) is not None
    assert not any(problem.fixed for problem in doctor(other.vault, other.caller).problems)
    other.keep("The lamp is green.")
    assert driver_problem(other.vault) is None
    assert "merge=clawmem" in other.read(".gitattributes")
    assert "clawmem" in other.git("check-attr", "merge", ITEMS) and "union" in other.git(
        "check-attr", "merge", "ledger/a.jsonl"
    )


def test_pull_merges_facts_as_sync_does(machines: list[Machine]) -> None:
    machine, other = machines
    machine.keep("The boat is red.", "Jane has a cat.")
    machine.sync()
    other.keep("The lamp is green.", "Jane has a cat.")
    ours, theirs = other.read(ITEMS), machine.read(ITEMS)
    process = pull(other)
    assert process.returncode == 0, process.stderr
    wanted = merge_file(ITEMS, None, ours.encode(), theirs.encode()).content
    assert other.read(ITEMS).encode() == wanted
    assert other.standing() == ["Jane has a cat.", "Jane lives in Oslo.", "The boat is red.", "The lamp is green."]
    assert other.git("status", "--porcelain") == ""
    assert len(other.git("rev-parse", "HEAD^1", "HEAD^2").split()) == 2
    assert other.sync().pushed
    machine.sync()
    assert machine.facts() == other.facts()


def test_ledgers_and_notes_are_united_by_time(machines: list[Machine]) -> None:
    other_machine, other = machines
    for machine, hours in ((other_machine, ("08", "10")), (other, ("09", "11"))):
        lines = [
            f'{{"id": "evt_{hour}", "timestamp": "2026-11-21T{hour}:00:00Z", "role": "user", "text": "at {hour}"}}\n'
            for hour in hours
        ]
        machine.write("ledger/2026-11-21.jsonl", "".join(lines))
        machine.write("daily/2026-11-21.md", "# 2026-11-21\n\n" + "".join(f"- {hour}:00 note\n" for hour in hours))
        machine.keep(f"Written by {hours[0]}.")
    other_machine.sync()
    assert pull(other).returncode == 0
    ledger = [line[8:14] for line in other.read("ledger/2026-11-21.jsonl").splitlines()]
    assert ledger == ["evt_08", "evt_09", "evt_10", "evt_11"]
    assert other.read("daily/2026-11-21.md").split("\n\n")[1].splitlines() == [
        f"- {hour}:00 note" for hour in ("08", "09", "10", "11")
    ]


def test_what_git_cannot_see_is_completed_by_the_next_command(tmp_path: Path, environment: dict[str, str]) -> None:
    machine, other = make_machines(tmp_path, environment)
    machine, twin = Machine(machine.root, environment, 77), Machine(other.root, environment, 77)
    (first,) = machine.keep("The boat is red.", entity="projects/boat")
    (second,) = twin.keep("The lamp is green.", entity="projects/lamp")
    assert first.id == second.id
    newer = replace(twin, second.id, "The lamp is yellow.")
    machine.sync()
    assert pull(twin).returncode == 0
    twin = Machine(twin.root, environment, 5)
    merge = twin.head()
    twin.keep("The next command works.")
    facts = twin.facts()
    record = {fact.fact: fact for fact in facts.values()}
    assert record["The boat is red."].is_current
    assert record["The lamp is green."].superseded_by == newer
    assert chain.chain_problems(facts.values()) == ()
    assert f"complete(vault): what git could not see in the merge {merge[:12]}" in twin.git("log", "--format=%s")
    before = twin.head()
    twin.keep("Nothing is left to complete.")
    assert twin.git("rev-list", "--count", f"{before}..HEAD").strip() == "1"
    assert_whole(twin.root, environment)


def test_what_others_merged_with_git_is_completed_by_sync(tmp_path: Path, environment: dict[str, str]) -> None:
    machine, other, third = make_machines(tmp_path, environment, 3)
    machine, twin = Machine(machine.root, environment, 77), Machine(other.root, environment, 77)
    machine.keep("The boat is red.", entity="projects/boat")
    twin.keep("The lamp is green.", entity="projects/lamp")
    machine.sync()
    assert pull(twin).returncode == 0
    twin.git("push", "-q", "origin", "main")
    third.sync()
    assert third.standing() == ["Jane lives in Oslo.", "The boat is red.", "The lamp is green."]
    assert_whole(third.root, environment)


def test_without_the_driver_git_stops_and_sync_merges(machines: list[Machine], clawmem: Command) -> None:
    machine, other = machines
    machine.keep("The boat is red.")
    machine.sync()
    other.keep("The lamp is green.")
    forget_driver(other)
    assert pull(other).returncode != 0
    assert "<<<<<<<" in other.read(ITEMS)
    refused = clawmem("remember", "Third.", cwd=other.root)
    assert refused.code == 12 and "`git merge --abort`; `clawmem sync`" in refused.err
    assert clawmem("doctor", cwd=other.root).code == 1
    other.git("merge", "--abort")
    result = clawmem("sync", cwd=other.root)
    assert result.code == 0, result.err
    assert other.standing() == ["Jane lives in Oslo.", "The boat is red.", "The lamp is green."]
    assert_whole(other.root, other.environment)
    assert_sound(other.root, other.environment)
    assert driver_problem(other.vault) is None


def test_doctor_writes_the_attributes_of_an_older_vault(machines: list[Machine]) -> None:
    machine, _ = machines
    machine.write(".gitattributes", "*.md -text\n*.png binary\n")
    machine.keep("The boat is red.")
    mended = doctor(machine.vault, machine.caller, fix=True)
    assert [problem.path for problem in mended.problems if problem.fixed] == [".gitattributes"]
    text = machine.read(".gitattributes")
    assert text.startswith("*.md -text\n*.png binary\n") and "*.json merge=clawmem\n" in text
    assert_whole(machine.root, machine.environment)


def test_facts_that_cannot_be_read_are_never_half_merged(machines: list[Machine]) -> None:
    machine, other = machines
    machine.keep("The boat is red.")
    machine.sync()
    other.keep("The lamp is green.")
    other.write(ITEMS, other.read(ITEMS).replace("]", ""))
    other.git("commit", "-qam", "broken")
    before = other.head()
    with pytest.raises(NeedsDecision, match="cannot be read"):
        other.sync()
    assert other.head() == before
    assert pull(other).returncode != 0
    assert "<<<<<<<" not in other.read(ITEMS) and "The lamp is green." in other.read(ITEMS)
    other.git("merge", "--abort")


def test_the_driver_leaves_other_peoples_files_to_git(machines: list[Machine]) -> None:
    other_machine, other = machines
    for machine, words in ((other_machine, "red"), (other, "blue")):
        machine.write("package.json", f'{{"name": "{words}"}}\n')
        machine.git("add", "package.json")
        machine.git("commit", "-qm", words)
    other_machine.git("push", "-q", "origin", "main")
    assert pull(other).returncode != 0
    assert "<<<<<<<" in other.read("package.json")
    other.git("merge", "--abort")


def test_a_driver_that_is_gone_is_told(machines: list[Machine]) -> None:
    machine, _ = machines
    machine.git("config", "merge.clawmem.driver", "/nowhere/python -m clawmem merge-driver %O %A %B %P")
    assert "no longer exists" in str(driver_problem(machine.vault))
    assert install_driver(machine.vault) and driver_problem(machine.vault) is None
    machine.git("config", "merge.clawmem.driver", "my-own-tool %O %A %B")
    assert driver_problem(machine.vault) is None


FACTS = [
    Fact(f"fact_{number:08x}", f"Statement {number}.", "fact", "2026-11-21T09:00:00Z", "user") for number in range(8)
]


def changed(facts: list[Fact], changes: list[tuple[int, str]]) -> list[Fact]:
    """What a side does to a list of facts."""
    found = list(facts)
    for place, what in changes:
        at = place % len(found) if found else 0
        if what == "add":
            found.append(FACTS[0]._replace(id=f"fact_{len(found):04x}{place:04x}", fact=f"Added {place}."))
        elif what == "remove" and found:
            del found[at]
        elif found:
            found[at] = found[at]._replace(tags=(what,))
    return found


STEPS = st.lists(st.tuples(st.integers(0, 40), st.sampled_from(("add", "remove", "red", "blue"))), max_size=4)


@settings(max_examples=30, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.integers(0, 8), STEPS, STEPS)
def test_plain_text_merges_are_right_or_stop(
    tmp_path: Path, size: int, mine: list[tuple[int, str]], yours: list[tuple[int, str]]
) -> None:
    """What git merges by lines, without the driver, loses nothing; or git stops, or the file does not parse."""
    base = FACTS[:size]
    sides = [base, changed(base, mine), changed(base, yours)]
    names = [tmp_path / name for name in ("base", "ours", "theirs")]
    for name, side in zip(names, sides, strict=True):
        name.write_bytes(render_items(side))
    command = ["git", "merge-file", "-p", str(names[1]), str(names[0]), str(names[2])]
    process = subprocess.run(command, capture_output=True, check=False)
    if process.returncode != 0:
        return
    try:
        merged = {fact.id: fact for fact in parse_items(process.stdout, "items.json")}
    except ClawmemError:
        return
    old, ours, theirs = (name.read_bytes() for name in names)
    wanted = merge_file("life/projects/x/items.json", old, ours, theirs).content
    kept = {fact.id: fact for fact in parse_items(wanted or b"", "items.json")}
    assert {key: fact.tags for key, fact in merged.items()} == {
        key: fact.tags for key, fact in kept.items() if key in merged
    }
    assert all(fact in base for key, fact in kept.items() if key not in merged)


def learn(machine: Machine, place: str) -> str:
    """Learn where Jane was born, with nothing replaced; the fact's id."""
    record = {"subject": "Jane", "predicate": "born_in", "object": place}
    (fact,) = machine.keep(f"Jane was born in {place}.", entity=JANE, **record)
    return fact.id


def test_two_values_that_git_merged_are_settled_by_the_next_command(machines: list[Machine]) -> None:
    machine, other = machines
    lyon, bergen = learn(machine, "Lyon"), learn(other, "Bergen")
    machine.sync()
    assert pull(other).returncode == 0
    assert other.facts()[lyon].is_current and other.facts()[bergen].is_current
    other.keep("The next command works.")
    standing = {key for key in (lyon, bergen) if other.facts()[key].is_current}
    asked = read_proposals(other.vault).open
    assert standing == {lyon, bergen}
    assert [{target.id for target in proposal.targets} for proposal in asked] == [{lyon, bergen}]
    assert chain.chain_problems(other.facts().values()) == ()
    assert_whole(other.root, other.environment)
    assert other.sync().pushed
    machine.sync()
    assert machine.facts() == other.facts()


def test_an_agent_with_few_rights_completes_a_merge_for_the_vault(machines: list[Machine], clawmem: Command) -> None:
    machine, other = machines
    change_setting(machine.vault, machine.caller, "agents.guest.write", "own")
    machine.sync()
    other.sync()
    learn(machine, "Lyon")
    learn(other, "Bergen")
    machine.sync()
    assert pull(other).returncode == 0
    as_guest = ("--agent", "guest")
    assert clawmem("remember", "Not mine.", "--entity", JANE, *as_guest, cwd=other.root).code == 1
    result = clawmem("remember", "Mine.", "--entity", "@/projects/own", *as_guest, cwd=other.root)
    assert result.code == 0, result.err
    assert len(read_proposals(other.vault).open) == 1
    assert other.git("log", "--format=%s").count("complete(vault)") == 1


def test_an_agent_with_few_rights_syncs_for_the_vault(
    tmp_path: Path, environment: dict[str, str], clawmem: Command
) -> None:
    other_machine, other, third = make_machines(tmp_path, environment, 3)
    change_setting(other_machine.vault, other_machine.caller, "agents.guest.write", "own")
    for machine in (other_machine, other, third):
        machine.sync()
    learn(other_machine, "Lyon")
    other_machine.sync()
    learn(other, "Bergen")
    assert pull(other).returncode == 0
    other.git("push", "-q", "origin", "main")
    result = clawmem("sync", "--agent", "guest", cwd=third.root)
    assert (result.code, "not completed" in result.err) == (0, False), result.err
    assert len(read_proposals(third.vault).open) == 1
    assert third.git("log", "--format=%s").count("complete(vault)") == 1


def beside_a_git_merge(tmp_path: Path, environment: dict[str, str]) -> Machine:
    """A third machine, after two met against each other and the second merged that with plain git and pushed."""
    other_machine, other, third = make_machines(tmp_path, environment, 3)
    for machine in (other_machine, other):
        machine.sync()
    learn(other_machine, "Lyon")
    other_machine.sync()
    learn(other, "Bergen")
    assert pull(other).returncode == 0
    other.git("push", "-q", "origin", "main")
    return third


def test_what_was_in_the_way_of_a_sync_is_tried_again_by_the_next_command(
    tmp_path: Path, environment: dict[str, str]
) -> None:
    third = beside_a_git_merge(tmp_path, environment)
    review = third.root / "review"
    moved = review.rename(third.root / "moved") if review.exists() else None
    review.write_text("A file where a folder should be.\n")
    assert any("not completed" in notice for notice in third.sync().notices)
    assert len(remembered(third, "Still in the way.").notices) >= 1
    review.unlink()
    if moved is not None:
        moved.rename(review)
    assert "complete(vault)" not in third.git("log", "--format=%s")
    third.keep("Out of the way.")
    assert len(read_proposals(third.vault).open) == 1
    third.keep("Nothing is left to complete.")
    assert third.git("log", "--format=%s").count("complete(vault)") == 1
    assert not (third.vault.state / "merges-left").exists()


@pytest.mark.parametrize("own", [False, True])
def test_a_sync_killed_after_the_branch_moved_loses_no_completion(
    tmp_path: Path, environment: dict[str, str], own: bool
) -> None:
    third = beside_a_git_merge(tmp_path, environment)
    if own:
        third.keep("The boat is red.", entity="projects/boat")
    take_in_and_die(third)
    assert read_proposals(third.vault).open == ()
    third.keep("Next.")
    assert third.git("log", "--format=%s").count("complete(vault)") == 1
    assert len(read_proposals(third.vault).open) == 1
    assert not (third.vault.state / "merges-left").exists()


def take_in_and_die(machine: Machine) -> None:
    """As far as a sync has come where it is killed when the branch has moved."""
    vault, caller = machine.vault, machine.caller
    vault.prepare_state()
    head = machine.head()
    tip = fetch(vault, find_remote(vault, "origin"), "main", None, 60.0)
    assert tip is not None
    with transaction(vault, NOW, "sync") as started:
        apart = compare_histories(vault, head, tip, RemoteBranch("origin", "main"))
        if apart.own:
            commit_merge(
                started, caller, "origin", (head, tip), apart, plan_with_policy(vault, (head, tip), "review", apart)
            )
        else:
            apply_fast_forward(started, caller, head, tip, apart)


def test_a_note_of_merges_that_never_came_in_goes(machines: list[Machine]) -> None:
    machine, other = machines
    other.keep("The boat is red.")
    foreign = other.head()
    vault = machine.vault
    vault.prepare_state()
    write_unfinished_merges(vault, [GitMerge(foreign, machine.head(), foreign)])
    machine.keep("Next.")
    assert not (vault.state / "merges-left").exists()
    assert "complete(vault)" not in machine.git("log", "--format=%s")


def remembered(machine: Machine, text: str) -> RememberResult:
    """Remember a fact; all that is told of it."""
    return remember(machine.vault, [draft_from_record({"fact": text}, NOW)], machine.caller)


def test_a_python_file_of_a_remote_is_not_imported_by_a_pull(machines: list[Machine], tmp_path: Path) -> None:
    """git runs the merge driver in the work tree, where a remote may have put modules of any name."""
    other_machine, other = machines
    for name in ("json.py", "clawmem.py", "sitecustomize.py"):
        other.write(name, f"open({str(tmp_path / 'ran')!r}, 'w')\n")
    other.git("add", "-A")
    other.git("commit", "-q", "-m", "modules")
    other.sync()
    other_machine.git("pull", "-q", "origin", "main")
    for machine in (other_machine, other):
        machine.keep(f"The boat of {machine.root.name} is red.", entity="areas/people/jane")
    other.sync()
    old = other_machine.git("config", "merge.clawmem.driver").strip().replace(" -P ", " ")
    other_machine.git("config", "merge.clawmem.driver", old)
    other_machine.sync()  # replaces the command of an older version
    assert " -P " in other_machine.git("config", "merge.clawmem.driver")
    for machine in (other_machine, other):
        machine.keep(f"The car of {machine.root.name} is red.", entity="areas/people/jane")
    other.sync()
    other_machine.git("pull", "-q", "--no-rebase", "--no-edit", "origin", "main")
    assert not (tmp_path / "ran").exists()
    assert len([fact for fact in other_machine.standing() if "car" in fact]) == 2
