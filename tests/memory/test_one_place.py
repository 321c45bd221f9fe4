"""An id exists in one place, after folders were renamed or copied by hand, after merges by git, and after commits by a
person."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from clawmem.memory.entities.entities import archive_entity
from clawmem.memory.facts.revise import merge, retract
from clawmem.memory.health.checks import ERROR
from clawmem.memory.health.doctor import doctor
from clawmem.model.facts.codec import parse_items
from clawmem.model.facts.draft import draft_from_record
from clawmem.model.facts.fact import ACTIVE, RETRACTED, Fact
from clawmem.model.lifecycle import chain
from tests.conftest import NOW, Command
from tests.faults.checks import assert_whole
from tests.memory.machines import Machine, make_machines, sync_all
from tests.memory.test_git_merges import pull

JANE, RENAMED = "life/areas/people/jane", "life/areas/people/jane-h2"
SITE = "projects/site"


def places(machine: Machine, fact_id: str) -> list[tuple[str, str]]:
    """Return the place and the status of a fact in the branch."""
    paths = [path for path in machine.vault.files_at("HEAD", "life") if path.endswith("items.json")]
    record = machine.vault.contents_at("HEAD", paths)
    return [
        (path, fact.status) for path in paths for fact in parse_items(record[path] or b"", path) if fact.id == fact_id
    ]


def errors(machine: Machine, fix: bool = False) -> list[str]:
    """What doctor finds wrong."""
    found = doctor(machine.vault, machine.caller, fix=fix).problems
    return [problem.message for problem in found if problem.severity == ERROR and not problem.fixed]


def meet(*machines: Machine) -> None:
    """All end with the same tree, chains valid, nothing wrong."""
    for machine in (*machines, *machines[:-1]):
        machine.sync()
    assert len({machine.git("rev-parse", "HEAD^{tree}") for machine in machines}) == 1
    assert chain.chain_problems(machines[0].facts().values()) == ()
    assert errors(machines[0]) == []
    for machine in machines:
        assert_whole(machine.root, machine.environment)


@pytest.fixture
def three(tmp_path: Path, environment: dict[str, str]) -> list[Machine]:
    """Three clones that clawmem has written to."""
    return make_machines(tmp_path, environment, 3, sync_all)


def test_a_merge_by_git_that_is_met_after_the_entity_moved_brings_no_file_back(three: list[Machine]) -> None:
    """The smallest history in which the repeated completion of a merge restored an archived entity with an ended
    fact."""
    other_machine, other, third = three
    (red,) = other_machine.keep("The site is red.", entity=SITE)
    (slow,) = other_machine.keep("The boat is slow.", entity="projects/boat")
    other_machine.sync()
    for machine in (other, third):
        machine.sync()
    draft = draft_from_record({"fact": "Site and boat are red and slow."}, NOW)
    both = merge(third.vault, [slow.id, red.id], draft, third.caller).facts[0].fact
    retract(other.vault, red.id, other.caller)
    other.sync()
    assert pull(third).returncode == 0
    third.git("push", "-q", "origin", "main")
    archive_entity(other_machine.vault, SITE, other_machine.caller)
    meet(other_machine, other, third)
    assert places(other, red.id) == [("life/archives/site/items.json", RETRACTED)]
    assert [status for _, status in places(other, both.id)] == [ACTIVE]
    assert not (other.root / "life/projects/site").exists()


def test_a_merge_is_completed_once_whoever_receives_it(three: list[Machine]) -> None:
    machine, other, third = (Machine(each.root, each.environment, 77) for each in three)
    (red,) = machine.keep("The boat is red.", entity="projects/boat")
    (green,) = other.keep("The lamp is green.", entity="projects/lamp")
    assert red.id == green.id
    machine.sync()
    assert pull(other).returncode == 0
    merge = other.head()
    other.keep("The next command completes it.")
    assert other.git("log", "-1", "--format=%(trailers:key=Completes,valueonly)", "HEAD~1").strip() == merge
    other.sync()
    third.sync()
    machine.sync()
    assert "complete(" not in machine.git("log", "--format=%s", f"{other.head()}..HEAD")
    assert machine.head() == other.head() == third.head()
    assert other.git("log", "--format=%s").count("complete(vault)") == 1
    meet(machine, other, third)


@pytest.mark.parametrize("finds", ["recall", "pull"])
@pytest.mark.few(1)
def test_a_folder_renamed_by_hand_and_then_pulled_into(three: list[Machine], finds: str, clawmem: Command) -> None:
    """A withdrawn fact was active again in the renamed folder, and served."""
    machine, other, third = three
    (ill,) = machine.keep("Jane is ill.", entity="areas/people/jane")
    machine.sync()
    other.sync()
    third.sync()
    shutil.move(machine.root / JANE, machine.root / RENAMED)
    retract(other.vault, ill.id, other.caller, "she is not")
    other.sync()
    assert pull(machine).returncode == 0
    machine.keep("The next command takes the rename in.")
    assert places(machine, ill.id) == [(f"{RENAMED}/items.json", RETRACTED)]
    assert not (machine.root / JANE).exists()
    assert '"areas/people/jane"' in machine.read(f"{RENAMED}/summary.md")
    assert "ill" not in clawmem("recall", "Is Jane ill?", cwd=machine.root).out
    if finds == "pull":
        machine.git("push", "-q", "origin", "main")
        assert pull(third).returncode == 0
    meet(machine, other, third)
    assert places(third, ill.id) == [(f"{RENAMED}/items.json", RETRACTED)]


def test_a_rename_that_two_pulls_came_into_keeps_what_they_brought(three: list[Machine]) -> None:
    """History 1012 of the long run: the second pull brought nothing, and the fact of the first was lost."""
    machine, other, third = three
    shutil.move(machine.root / JANE, machine.root / RENAMED)
    (new,) = other.keep("Jane has a dog.", entity="areas/people/jane")
    other.sync()
    assert pull(machine).returncode == 0
    assert pull(machine).returncode == 0
    meet(machine, other, third)
    assert places(machine, new.id) == [(f"{RENAMED}/items.json", ACTIVE)]


def test_a_renamed_folder_that_was_edited_too_keeps_both(three: list[Machine]) -> None:
    machine, other, third = three
    shutil.move(machine.root / JANE, machine.root / RENAMED)
    path = f"{RENAMED}/items.json"
    machine.write(path, machine.read(path).replace('"source": "user"', '"source": "chat"'))
    (new,) = other.keep("Jane has a dog.", entity="areas/people/jane")
    other.sync()
    assert pull(machine).returncode == 0
    meet(machine, other, third)
    assert places(machine, new.id) == [(path, ACTIVE)]
    assert not (machine.root / JANE).exists()


@pytest.mark.parametrize("by_hand", [True, False])
@pytest.mark.few(1)
def test_a_folder_renamed_here_and_written_to_there(three: list[Machine], by_hand: bool) -> None:
    machine, other, third = three
    shutil.move(machine.root / JANE, machine.root / RENAMED)
    if by_hand:
        machine.git("add", "-A")
        machine.git("commit", "-qm", "renamed")
    (new,) = other.keep("Jane has a dog.", entity="areas/people/jane")
    other.sync()
    machine.sync()
    meet(machine, other, third)
    assert places(machine, new.id) == [(f"{RENAMED}/items.json", ACTIVE)]


def test_a_copied_folder_is_left_alone_and_named(three: list[Machine], clawmem: Command) -> None:
    machine, other, _ = three
    (fact_id,) = machine.facts()
    shutil.copytree(machine.root / JANE, machine.root / "life/projects/copy")
    before = machine.head()
    result = clawmem("remember", "Something else.", "--json", cwd=machine.root)
    text = " ".join(result.json["notices"])
    assert result.code == 0
    assert f"{fact_id} came from {JANE}/items.json, which still has the same ids, and an id must be unique" in text
    assert "Remove the copy, or give its facts new ids." in text
    assert machine.git("rev-list", "--count", f"{before}..HEAD").strip() == "1"
    assert places(machine, fact_id) == [(f"{JANE}/items.json", ACTIVE)]
    assert machine.git("status", "--porcelain", "--untracked-files=all").splitlines() == [
        "?? life/projects/copy/items.json",
        "?? life/projects/copy/summary.md",
    ]
    assert clawmem("remember", "To the copy.", "--entity", "projects/copy", cwd=machine.root).code != 0
    shutil.rmtree(machine.root / "life/projects/copy")
    meet(machine, other)


def test_a_copy_with_ids_of_its_own_is_taken_in(three: list[Machine]) -> None:
    machine, other, _ = three
    shutil.copytree(machine.root / JANE, machine.root / "life/projects/copy")
    path = "life/projects/copy/items.json"
    (record,) = json.loads(machine.read(path))
    machine.write(path, machine.read(path).replace(record["id"], "fact_00c0ffee"))
    machine.keep("The next command takes it in.")
    assert places(machine, "fact_00c0ffee") == [(path, ACTIVE)]
    meet(machine, other)


def test_a_fact_pasted_into_another_file_is_named(three: list[Machine], clawmem: Command) -> None:
    machine = three[0]
    (boat,) = machine.keep("The boat is red.", entity="projects/boat")
    line = next(line for line in machine.read(f"{JANE}/items.json").splitlines() if "fact_" in line)
    path = "life/projects/boat/items.json"
    machine.write(path, machine.read(path).replace("\n]", f",\n{line}\n]"))
    refused = clawmem("retract", boat.id, cwd=machine.root)
    assert refused.code == 1 and "an id must be unique" in refused.err
    machine.git("checkout", "--", path)
    assert clawmem("retract", boat.id, cwd=machine.root).code == 0


def test_a_copy_committed_with_git_is_united_by_the_next_command(three: list[Machine], clawmem: Command) -> None:
    machine, other, third = three
    (ill,) = machine.keep("Jane is ill.", entity="areas/people/jane")
    machine.sync()
    other.sync()
    shutil.copytree(machine.root / JANE, machine.root / "life/areas/people/jane-copy")
    machine.git("add", "-A")
    machine.git("commit", "-qm", "copied")
    machine.git("push", "-q", "origin", "main")
    retract(other.vault, ill.id, other.caller, "she is not")
    other.sync()
    assert places(other, ill.id) == [(f"{JANE}/items.json", RETRACTED)]
    assert "ill" not in clawmem("recall", "Is Jane ill?", cwd=other.root).out
    meet(machine, other, third)


def test_words_that_differ_in_a_copy_are_kept_beside(three: list[Machine]) -> None:
    machine = three[0]
    (fact_id,) = machine.facts()
    shutil.copytree(machine.root / JANE, machine.root / "life/areas/people/jane-copy")
    path = "life/areas/people/jane-copy/items.json"
    machine.write(path, machine.read(path).replace("Oslo", "Bergen"))
    machine.git("add", "-A")
    machine.git("commit", "-qm", "copied and changed")
    machine.keep("The next command unites them.")
    facts = machine.facts()
    assert facts[fact_id].fact == "Jane lives in Oslo."
    (beside,) = [fact for fact in facts.values() if fact.fact == "Jane lives in Bergen."]
    assert [link.to for link in beside.links if link.type == "contradicts"] == [fact_id]
    assert "unite(vault): 1 id existed in several entities" in machine.git("log", "--format=%s")


def _as_an_older_version_left_it(machine: Machine, fact: Fact) -> None:
    """The old file beside the archived one, with the fact active in it; committed by clawmem's own hand."""
    archived, former = "life/archives/site/items.json", "life/projects/site/items.json"
    machine.write(former, machine.read(archived).replace(f'"status": "{RETRACTED}"', f'"status": "{ACTIVE}"'))
    page = machine.git("show", f"{_last_before_the_move(machine)}:life/projects/site/summary.md")
    machine.write("life/projects/site/summary.md", page)
    machine.git("add", "-A")
    machine.git("commit", "-qm", "complete(vault): what git could not see in the merge 123456789abc")
    assert len(places(machine, fact.id)) == 2


def _last_before_the_move(machine: Machine) -> str:
    return (
        machine.git("log", "-1", "--format=%H", "--diff-filter=D", "--", "life/projects/site/items.json").strip() + "~1"
    )


def test_doctor_mends_twin_ids_of_an_older_version(three: list[Machine], clawmem: Command) -> None:
    machine, other, third = three
    (red,) = machine.keep("The site is red.", entity=SITE)
    retract(machine.vault, red.id, machine.caller)
    archive_entity(machine.vault, SITE, machine.caller)
    _as_an_older_version_left_it(machine, red)
    found = clawmem("doctor", "--json", cwd=machine.root)
    assert found.code == 1
    assert [row["check"] for row in found.data["problems"] if row["severity"] == "error"] == ["id-unique"]
    mended = clawmem("doctor", "--fix", cwd=machine.root)
    assert mended.code == 0, mended.out
    assert places(machine, red.id) == [("life/archives/site/items.json", RETRACTED)]
    assert not (machine.root / "life/projects/site/items.json").exists()
    meet(machine, other, third)
