"""Sync: every state two machines can be in towards each other, every policy, and what is refused."""

from __future__ import annotations

import subprocess
from datetime import timedelta
from pathlib import Path

import pytest

from clawmem.errors import (
    HistoryRewritten,
    InvalidInput,
    Locked,
    NeedsDecision,
    NotFound,
    NotPermitted,
    Refused,
    RemoteFailed,
    Unreadable,
)
from clawmem.index.tables.store import index_path, open_store
from clawmem.memory.entities.entities import move_entity
from clawmem.memory.facts.revise import retract, supersede
from clawmem.memory.health.configure import change_setting
from clawmem.memory.history.undo import undo
from clawmem.memory.proposals import read_proposals
from clawmem.memory.sync.sync import SyncOptions, sync
from clawmem.model.facts.codec import render_items
from clawmem.model.facts.draft import draft_from_record
from clawmem.model.lifecycle import chain
from clawmem.model.merging.facts import DUPLICATE_REASON
from clawmem.serving.browse import peek
from clawmem.vault.exchange.create import create_vault
from clawmem.vault.git.acceptance import accept
from clawmem.vault.history.history import MAX_KEPT
from tests.conftest import NOW, Command
from tests.faults.checks import assert_sound, assert_whole, git
from tests.index.contents import assert_equal_to_a_rebuild
from tests.memory.machines import Machine, make_hub, make_machines

JANE = "areas/people/jane"


@pytest.fixture
def machines(tmp_path: Path, environment: dict[str, str]) -> list[Machine]:
    """Two clones of one vault."""
    return make_machines(tmp_path, environment)


def replace(machine: Machine, fact: str, text: str, **more: object) -> str:
    """Supersede a fact; the id of its successor."""
    draft = draft_from_record({"fact": text, **more}, NOW)
    return supersede(machine.vault, fact, draft, machine.caller).facts[0].fact.id


def assert_alike(*machines: Machine) -> None:
    """All say the same, to the byte, and are sound."""
    for machine in machines:
        assert_whole(machine.root, machine.environment)
    assert_sound(machines[0].root, machines[0].environment)
    assert chain.chain_problems(machines[0].facts().values()) == ()
    assert len({machine.git("rev-parse", "HEAD^{tree}") for machine in machines}) == 1


def meet(*machines: Machine) -> None:
    """Everybody syncs until all say the same."""
    for machine in (*machines, *machines[:-1]):
        machine.sync()
    assert_alike(*machines)


def test_a_first_push_to_an_empty_remote(tmp_path: Path, environment: dict[str, str]) -> None:
    hub = make_hub(tmp_path, environment)
    alone = Machine(create_vault(tmp_path / "vault", environment, NOW).root, environment, 1)
    alone.git("remote", "add", "origin", str(hub))
    result = alone.sync()
    assert (result.received, result.sent, result.pushed) == (0, 1, True)
    assert git(hub, environment, "rev-parse", "main").strip() == alone.head()
    again = alone.sync()
    assert (again.received, again.sent, again.pushed) == (0, 0, False)


def test_what_both_did_is_joined_in_one_commit_of_two_parents(machines: list[Machine]) -> None:
    machine, other = machines
    machine.keep("The boat is red.")
    other.keep("The lamp is green.")
    machine.sync()
    before = other.head()
    result = other.sync()
    assert [taken.how for taken in result.rounds] == ["merge"]
    assert other.git("rev-parse", "HEAD^1", "HEAD^2").split() == [before, machine.head()]
    subject, _, rest = other.git("log", "-1", "--format=%B").partition("\n\n")
    assert subject == "sync(vault): 1 change from origin joined with 1 made here"
    assert "- remember(areas/general): The boat is red." in rest and rest.strip().endswith("Clawmem-Op: sync")
    assert "Decided:" not in rest
    assert machine.sync().rounds[-1].how == "fast-forward"
    assert_alike(machine, other)
    assert machine.standing() == ["Jane lives in Oslo.", "The boat is red.", "The lamp is green."]


def test_a_rescue_ref_says_where_the_branch_was(machines: list[Machine]) -> None:
    machine, other = machines
    older = [f"refs/clawmem/rescue/20250101T0000{number:02}Z-{other.head()[:12]}" for number in range(MAX_KEPT)]
    for ref in older:
        other.git("update-ref", ref, "HEAD")
    for number in range(2):
        machine.keep(f"Fact {number} of one.")
        machine.sync()
        other.keep(f"Fact {number} of the other.")
        before = other.head()
        result = other.sync()
        assert other.git("rev-parse", str(result.rounds[0].rescue)).strip() == before
        machine.sync()
    refs = other.git("for-each-ref", "--format=%(refname)", "refs/clawmem").split()
    assert len([ref for ref in refs if ref.startswith("refs/clawmem/rescue/")]) == MAX_KEPT
    assert [ref for ref in older if ref in refs] == older[2:], "the oldest go first"
    assert "refs/clawmem/joined" not in refs and "refs/clawmem/outgoing" not in refs


def test_equal_facts_become_one_that_leads_to_both_sources(machines: list[Machine]) -> None:
    machine, other = machines
    (first,) = machine.keep("Jane has a cat.", entity=JANE, tags=["home"])
    (second,) = other.keep("Jane has a cat", entity=JANE, tags=["pets"])
    meet(machine, other)
    facts = machine.facts()
    (kept,) = [fact for fact in facts.values() if fact.is_current and "cat" in fact.fact]
    (gone,) = [facts[key] for key in (first.id, second.id) if key != kept.id]
    assert (gone.status, gone.superseded_by) == ("superseded", kept.id)
    assert [(link.type, link.to, link.reason) for link in kept.links] == [("merges", gone.id, DUPLICATE_REASON)]
    assert sorted(kept.tags) == ["home", "pets"]
    shown = other.git("log", "--grep", gone.id, "--format=%s")
    assert "sync(vault)" in shown


def test_uses_on_two_machines_add_up(machines: list[Machine]) -> None:
    from clawmem.memory.facts.access import fold_accesses
    from clawmem.vault.state.journal import record_access

    other_machine, other = machines
    (jane,) = other_machine.facts()
    for machine, times in ((other_machine, 3), (other, 4)):
        for minute in range(times):
            record_access(machine.vault, f"2026-11-21T08:0{minute}:00Z", [jane])
        fold_accesses(machine.vault, machine.caller)
    meet(other_machine, other)
    for machine in machines:
        shown = peek(machine.vault, jane).fact
        assert (shown.access_count, shown.last_accessed) == (7, "2026-11-21T08:03:00Z")


def test_two_successors_stand_until_a_person_decides(machines: list[Machine]) -> None:
    machine, other = machines
    (jane,) = machine.facts()
    lyon = replace(machine, jane, "Jane lives in Lyon.", since=None)
    bergen = replace(other, jane, "Jane lives in Bergen.")
    meet(machine, other)
    facts = machine.facts()
    assert facts[jane].superseded_by == min(lyon, bergen)
    assert facts[lyon].is_current and facts[bergen].is_current
    (asked,) = read_proposals(other.vault).open
    assert (asked.kind, asked.does) == ("conflict", "supersede")
    assert {target.id for target in asked.targets} == {lyon, bergen}
    assert jane in asked.why


@pytest.mark.parametrize("policy", ["ours", "theirs"])
def test_two_successors_become_one_chain_by_policy(machines: list[Machine], policy: str) -> None:
    machine, other = machines
    (jane,) = machine.facts()
    lyon, bergen = replace(machine, jane, "Jane lives in Lyon."), replace(other, jane, "Jane lives in Bergen.")
    machine.sync()
    result = other.sync(SyncOptions(conflict=policy))
    winner = {"ours": bergen, "theirs": lyon}[policy]
    loser = ({lyon, bergen} - {winner}).pop()
    facts = other.facts()
    assert facts[winner].is_current and facts[loser].superseded_by == winner
    assert [conflict.kind for conflict in result.conflicts] == ["successors"] and not result.proposals
    assert chain.chain_of(jane, facts)[-1].id == winner
    machine.sync()
    assert_alike(machine, other)


def test_a_policy_never_lets_the_web_replace_what_a_user_said(machines: list[Machine]) -> None:
    machine, other = machines
    (jane,) = machine.facts()
    lyon = replace(machine, jane, "Jane lives in Lyon.")
    web = replace(other, jane, "Jane lives on the moon.")
    items = f"life/{JANE}/items.json"
    facts = [fact._replace(trust="external") if fact.id == web else fact for fact in other.facts().values()]
    other.write(items, render_items(facts).decode())
    machine.sync()
    result = other.sync(SyncOptions(conflict="ours"))
    assert other.facts()[lyon].is_current and other.facts()[web].is_current
    assert len(result.proposals) == 1


def test_fail_changes_nothing(machines: list[Machine]) -> None:
    machine, other = machines
    (jane,) = machine.facts()
    replace(machine, jane, "Jane lives in Lyon.")
    replace(other, jane, "Jane lives in Bergen.")
    machine.sync()
    before = other.head()
    with pytest.raises(NeedsDecision, match="was replaced by"):
        other.sync(SyncOptions(conflict="fail"))
    assert other.head() == before
    assert_whole(other.root, other.environment)
    other.sync()
    assert other.head() != before


def test_the_same_id_for_two_facts(tmp_path: Path, environment: dict[str, str]) -> None:
    machine, other = make_machines(tmp_path, environment)
    twin = Machine(other.root, environment, 77)
    machine = Machine(machine.root, environment, 77)
    (first,) = machine.keep("The boat is red.", entity="projects/boat")
    (second,) = twin.keep("The lamp is green.", entity="projects/lamp")
    assert first.id == second.id
    newer = replace(twin, second.id, "The lamp is yellow.")
    replace(machine, first.id, "The boat is blue.")
    meet(machine, twin)
    record = {fact.fact: fact for fact in machine.facts().values()}
    for old, new in (("The boat is red.", "The boat is blue."), ("The lamp is green.", "The lamp is yellow.")):
        assert record[old].superseded_by == record[new].id
        assert [link.to for link in record[new].links] == [record[old].id]
    assert len({fact.id for fact in record.values()}) == 5
    assert any(len(fact.id) > len(newer) for fact in record.values())


def test_an_entity_that_moves_takes_along_what_others_wrote(machines: list[Machine]) -> None:
    machine, other = machines
    move_entity(machine.vault, JANE, "archives/jane", machine.caller)
    (new,) = other.keep("Jane has a cat.", entity=JANE)
    page = other.read(f"life/{JANE}/summary.md")
    other.write(f"life/{JANE}/summary.md", page.replace("# Jane\n", "# Jane\n\nA friend of ours.\n"))
    meet(machine, other)
    assert not (machine.root / f"life/{JANE}").exists()
    assert new.id in machine.read("life/archives/jane/items.json")
    assert "A friend of ours." in machine.read("life/archives/jane/summary.md")


def test_undone_here_and_built_on_there(machines: list[Machine]) -> None:
    machine, other = machines
    (boat,) = machine.keep("The boat is red.")
    machine.sync()
    other.sync()
    undo(machine.vault, boat.id, machine.caller)
    retract(other.vault, boat.id, other.caller)
    meet(machine, other)
    assert machine.facts()[boat.id].status == "retracted"
    (lamp,) = machine.keep("The lamp is green.")
    meet(machine, other)
    undo(machine.vault, lamp.id, machine.caller)
    meet(machine, other)
    assert lamp.id not in other.facts()


def test_prose_notes_and_settings(machines: list[Machine]) -> None:
    other_machine, other = machines
    path = f"life/{JANE}/summary.md"
    for machine, words in ((other_machine, "Written at home."), (other, "Written at work.")):
        machine.write(path, machine.read(path).replace("# Jane\n", f"# Jane\n\n{words}\n"))
        machine.write("daily/2026-11-21.md", f"# 2026-11-21\n\n- 0{len(words) % 8}:30 {words}\n")
    change_setting(other_machine.vault, other_machine.caller, "defaults.limit", "7")
    change_setting(other.vault, other.caller, "context.budget", "900")
    meet(other_machine, other)
    assert "Written at home." in other_machine.read(path) and "Written at work." in other_machine.read(path)
    assert other_machine.read("daily/2026-11-21.md").count("\n- 0") == 2
    assert (
        other_machine.vault.settings.whole("defaults.limit") == 7
        and other_machine.vault.settings.whole("context.budget") == 900
    )


def test_one_setting_changed_twice_keeps_the_other_value_as_a_comment(machines: list[Machine]) -> None:
    machine, other = machines
    change_setting(machine.vault, machine.caller, "defaults.limit", "7")
    change_setting(other.vault, other.caller, "defaults.limit", "8")
    machine.sync()
    result = other.sync()
    assert [conflict.kind for conflict in result.conflicts] == ["setting"]
    assert other.vault.settings.whole("defaults.limit") == 8
    assert "# another machine had: limit: 7" in other.read("clawmem.yaml")
    machine.sync()
    assert_alike(machine, other)


def test_edits_by_hand_are_taken_in_first(machines: list[Machine]) -> None:
    machine, other = machines
    machine.keep("The boat is red.")
    machine.sync()
    other.write("wiki/ropes.md", "# Ropes\n\nA bowline holds.\n")
    assert any("by hand" in notice for notice in other.sync().notices)
    machine.sync()
    assert machine.read("wiki/ropes.md") == "# Ropes\n\nA bowline holds.\n"
    assert_alike(machine, other)


def assert_index_followed(machine: Machine) -> None:
    """The index was left at HEAD, and says what a new one would."""
    index = open_store(machine.vault)
    assert index is not None and index.head() == machine.head()
    assert_equal_to_a_rebuild(machine.vault, index)


def test_the_index_has_followed_whatever_came_in(machines: list[Machine]) -> None:
    machine, other = machines
    (boat,) = machine.keep("The boat is red.", entity="projects/boat")
    machine.write("daily/2026-11-20.md", "# 2026-11-20\n\n- 09:30 We sailed.\n")
    assert machine.sync().pushed
    assert [taken.how for taken in other.sync().rounds] == ["fast-forward"]
    assert_index_followed(other)
    move_entity(machine.vault, JANE, "archives/jane", machine.caller)
    replace(machine, boat.id, "The boat is blue.")
    machine.sync()
    other.keep("Jane has a cat.", entity=JANE)
    # An edit by hand, and an index that does not know of it: git tells it what changed.
    other.write("wiki/ropes.md", "# Ropes\n\nA bowline holds.\n")
    assert [taken.how for taken in other.sync().rounds] == ["merge"]
    assert_index_followed(other)
    index_path(other.vault).write_bytes(b"nonsense")
    machine.sync()
    machine.keep("The lamp is green.")
    machine.sync()
    other.sync()
    assert_index_followed(other)


def test_an_unreadable_edit_stops_only_a_merge_that_would_overwrite_it(machines: list[Machine]) -> None:
    machine, other = machines
    machine.keep("Jane has a cat.", entity=JANE)
    machine.sync()
    items = f"life/{JANE}/items.json"
    broken = other.read(items).replace("]", "")
    other.write(items, broken)
    before = other.head()
    with pytest.raises(Unreadable):
        other.sync()
    assert (other.head(), other.read(items)) == (before, broken)
    other.git("checkout", "HEAD", "--", items)
    assert other.sync().received == 1


def test_files_that_are_not_clawmems(machines: list[Machine]) -> None:
    other_machine, other = machines
    for machine, words in ((other_machine, "red"), (other, "blue")):
        machine.write("tool.sh", f"#!/bin/sh\necho {words}\n")
        (machine.root / "tool.sh").chmod(0o755)
        machine.write(f"{words}.txt", f"{words}\n")
        (machine.root / f"{words}.link").symlink_to(f"{words}.txt")
        machine.git("add", "tool.sh", f"{words}.txt", f"{words}.link")
        machine.git("commit", "-qm", words)
    for machine in (*machines, *machines):
        machine.sync()
    assert other_machine.head() == other.head()
    assert other_machine.git("status", "--porcelain") == other.git("status", "--porcelain") == ""
    assert {other_machine.read(path.name) for path in other_machine.root.glob("tool.sh*")} == {
        "#!/bin/sh\necho red\n",
        "#!/bin/sh\necho blue\n",
    }
    assert (other_machine.root / "blue.link").is_symlink() and other_machine.read("blue.link") == "blue\n"


def test_a_dry_run_says_it_all_and_changes_nothing(machines: list[Machine]) -> None:
    machine, other = machines
    (jane,) = machine.facts()
    replace(machine, jane, "Jane lives in Lyon.")
    replace(other, jane, "Jane lives in Bergen.")
    machine.sync()
    before = other.head(), other.git("status", "--porcelain"), other.git("for-each-ref", "refs/clawmem/rescue")
    result = other.sync(SyncOptions(dry_run=True))
    assert (result.received, result.sent, result.pushed) == (1, 1, False)
    assert [conflict.kind for conflict in result.conflicts] == ["successors"] and len(result.proposals) == 1
    after = other.head(), other.git("status", "--porcelain"), other.git("for-each-ref", "refs/clawmem/rescue")
    assert after == before


def test_vaults_begun_separately(tmp_path: Path, environment: dict[str, str]) -> None:
    machine, _ = make_machines(tmp_path, environment)
    later = NOW + timedelta(hours=1)
    stranger = Machine(create_vault(tmp_path / "stranger", environment, later).root, environment, 9)
    stranger.keep("Jane likes tea.", entity=JANE)
    stranger.git("remote", "add", "origin", str(tmp_path / "hub.git"))
    before = stranger.head()
    with pytest.raises(Refused, match="no common history") as refused:
        stranger.sync()
    assert "--allow-unrelated" in refused.value.hint and stranger.head() == before
    stranger.sync(SyncOptions(allow_unrelated=True))
    machine.sync()
    assert_alike(machine, stranger)
    assert machine.standing() == ["Jane likes tea.", "Jane lives in Oslo."]


def test_without_a_remote_or_with_another_one(vault_root: Path, machines: list[Machine]) -> None:
    machine, other = machines
    alone = Machine(vault_root, machine.environment, 5)
    with pytest.raises(NotFound, match="git has none configured here") as nobody:
        alone.sync()
    assert "remote add origin URL" in nobody.value.hint
    with pytest.raises(NotFound, match="no remote 'backup' here; it has origin"):
        machine.sync(SyncOptions(remote="backup"))
    with pytest.raises(NotFound, match="no remote"):
        machine.sync(SyncOptions(remote="ext::sh -c date"))
    with pytest.raises(InvalidInput, match="not a valid branch name"):
        machine.sync(SyncOptions(branch="main:refs/heads/other"))
    machine.git("remote", "rename", "origin", "hub")
    accept(machine.vault.git_dir, machine.environment)
    change_setting(machine.vault, machine.caller, "sync.remote", "hub")
    change_setting(machine.vault, machine.caller, "sync.branch", "shared")
    assert machine.sync().pushed
    assert "refs/heads/shared" in git(machine.root.parent / "hub.git", machine.environment, "for-each-ref")
    assert other.sync().received == 0


def test_a_remote_that_cannot_be_reached(machines: list[Machine]) -> None:
    machine, _ = machines
    machine.keep("The boat is red.")
    before = machine.head()
    machine.git("remote", "set-url", "origin", str(machine.root.parent / "nowhere.git"))
    with pytest.raises(RemoteFailed, match="origin could not be fetched from"):
        machine.sync()
    machine.git("remote", "set-url", "origin", "https://127.0.0.1:1/vault.git")
    with pytest.raises(RemoteFailed):
        machine.sync()
    assert machine.head() == before
    assert_whole(machine.root, machine.environment)


def test_a_remote_that_gives_but_does_not_take(machines: list[Machine]) -> None:
    machine, other = machines
    machine.keep("The boat is red.")
    machine.sync()
    other.keep("The lamp is green.")
    accept(other.vault.git_dir, other.environment)
    hook = machine.root.parent / "hub.git/hooks/pre-receive"
    hook.parent.mkdir(exist_ok=True)
    hook.write_text("#!/bin/sh\necho 'this branch is protected' >&2\nexit 1\n")
    hook.chmod(0o755)
    result = other.sync()
    assert result.received == 1 and not result.pushed and result.sent == 2
    assert result.problem is not None and result.problem.code == "remote"
    assert result.problem.message == (
        "origin refused the push to main (pre-receive hook declined): this branch is protected."
    )
    assert other.standing() == ["Jane lives in Oslo.", "The boat is red.", "The lamp is green."]
    with pytest.raises(NotPermitted, match="No person has synced"):  # nothing of theirs was sent there yet
        sync(other.vault, other.caller._replace(agent="scout"), SyncOptions())
    hook.unlink()
    other.git("config", "--file", str(machine.root.parent / "hub.git/config"), "core.bare", "false")
    refused = other.sync().problem
    assert refused is not None and "(branch is currently checked out)" in refused.message
    assert "a bare repository" in refused.hint
    other.git("config", "--file", str(machine.root.parent / "hub.git/config"), "core.bare", "true")
    assert other.sync().pushed


def test_others_are_faster_every_time(machines: list[Machine], monkeypatch: pytest.MonkeyPatch) -> None:
    machine, other = machines
    monkeypatch.setattr("clawmem.memory.sync.sync.ATTEMPTS", 3)
    machine.sync()
    other.sync()
    other.keep("The lamp is green.")
    # Whenever somebody is about to push, another commit lands first.
    accept(other.vault.git_dir, other.environment)
    hook = machine.root.parent / "hub.git/hooks/pre-receive"
    hook.parent.mkdir(exist_ok=True)
    hook.write_text(
        "#!/bin/sh\nunset GIT_QUARANTINE_PATH GIT_OBJECT_DIRECTORY\n"
        "export GIT_AUTHOR_NAME=x GIT_AUTHOR_EMAIL=x@x GIT_COMMITTER_NAME=x GIT_COMMITTER_EMAIL=x@x\n"
        "new=$(git commit-tree -p main -m faster 'main^{tree}')\necho $new > refs/heads/main\n"
    )
    hook.chmod(0o755)
    with pytest.raises(Locked, match="3 times"):
        other.sync()
    hook.unlink()
    assert other.sync().pushed
    assert_whole(other.root, other.environment)


def test_a_rewritten_history_is_not_brought_back_by_itself(machines: list[Machine]) -> None:
    machine, other = machines
    machine.keep("The password is secret.")
    machine.sync()
    other.sync()
    machine.git("reset", "-q", "--hard", "HEAD~1")
    machine.keep("The boat is red.")
    machine.git("push", "-q", "--force", "origin", "main")
    before = other.head()
    for _ in range(2):
        with pytest.raises(NeedsDecision, match="rewritten"):
            other.sync()
    assert other.head() == before
    other.sync(SyncOptions(allow_rewritten=True))
    assert "The boat is red." in other.standing()


def test_a_rewritten_history_is_seen_whatever_a_persons_own_git_is_told(machines: list[Machine]) -> None:
    machine, other = machines
    machine.keep("The password is secret.")
    machine.sync()
    other.sync()
    machine.git("reset", "-q", "--hard", "HEAD~1")
    machine.git("push", "-q", "--force", "origin", "main")
    other.git("config", "--global", "fetch.showForcedUpdates", "false")
    other.git("config", "--global", "fetch.output", "compact")
    with pytest.raises(HistoryRewritten, match="no longer has commits"):
        other.sync()


def test_unusual_states_of_the_clone(machines: list[Machine]) -> None:
    other_machine, other = machines
    other_machine.git("checkout", "-q", "--detach")
    with pytest.raises(Refused, match="detached"):
        other_machine.sync()
    other_machine.git("switch", "-q", "main")
    other_machine.write("MEMORY.md", "# Mine\n")
    other.write("MEMORY.md", "# Yours\n")
    for machine in machines:
        machine.git("commit", "-qam", "memory")
    other_machine.git("push", "-q", "origin", "main")
    other.git("fetch", "-q")
    subprocess.run(["git", "merge", "-q", "origin/main"], cwd=other.root, env=other.environment, check=False)
    with pytest.raises(NeedsDecision, match="merge is unfinished"):
        other.sync()


def test_the_command(machines: list[Machine], clawmem: Command) -> None:
    machine, other = machines
    machine.keep("The boat is red.")
    result = clawmem("sync", cwd=machine.root)
    assert (result.code, result.out, result.err) == (0, "sent: 1 change to origin/main\n", "")
    other.keep("The lamp is green.")
    shown = clawmem("sync", "--dry-run", cwd=other.root)
    assert shown.out == "would be received: 1 change from origin/main\nwould be sent: 1 change to origin/main\n"
    data = clawmem("sync", "--json", cwd=other.root).data
    assert (data["received"], data["sent"], data["pushed"], data["attempts"]) == (1, 2, True, 1)
    assert data["taken"][0]["how"] == "merge" and data["problem"] is None
    assert clawmem("sync", cwd=other.root).out == "nothing to do: origin/main and this vault have the same contents\n"
    assert clawmem("sync", "--conflict", "mine").code == 2
    assert clawmem("sync").code == 1


def learn(machine: Machine, place: str, **more: object) -> str:
    """Learn where Jane works, with nothing replaced; the fact's id."""
    text = f"Jane was born in {place}."
    (fact,) = machine.keep(text, entity=JANE, subject="Jane", predicate="born_in", object=place, **more)
    return fact.id


def test_two_values_of_one_relation_stand_until_a_person_decides(machines: list[Machine]) -> None:
    machine, other = machines
    lyon, bergen = learn(machine, "Lyon"), learn(other, "Bergen")
    machine.sync()
    result = other.sync()
    assert [conflict.kind for conflict in result.conflicts] == ["values"] and len(result.proposals) == 1
    machine.sync()
    assert machine.facts()[lyon].is_current and machine.facts()[bergen].is_current
    (asked,) = read_proposals(machine.vault).open
    assert (asked.kind, {target.id for target in asked.targets}) == ("conflict", {lyon, bergen})
    assert asked.id in other.git("log", "-3", "--format=%B")


def test_a_question_about_values_can_be_answered(machines: list[Machine], clawmem: Command) -> None:
    machine, other = machines
    both = {learn(machine, "Lyon"), learn(other, "Bergen")}
    machine.sync()
    (asked,) = other.sync().proposals
    result = clawmem("review", "approve", asked, "--json", cwd=other.root)
    assert (result.code, result.data["outcome"]) == (0, ["updated", "updated"]), result.err
    born = {key: fact for key, fact in other.facts().items() if "born" in fact.fact}
    assert born.keys() == both, "the one that stood takes the place of the other; no third one is made"
    (winner,) = [key for key, fact in born.items() if fact.is_current]
    (loser,) = both - {winner}
    assert born[loser].superseded_by == winner
    assert [(link.type, link.to) for link in born[winner].links] == [("supersedes", loser), ("contradicts", loser)]
    assert [fact["id"] for fact in result.data["facts"]] == [winner, loser]
    assert other.git("log", "-1", "--format=%(trailers:key=Supersedes,valueonly)").strip() == loser
    meet(machine, other)


def test_a_question_about_values_answered_alike_on_both_sides(machines: list[Machine], clawmem: Command) -> None:
    other_machine, other = machines
    both = {learn(other_machine, "Lyon"), learn(other, "Bergen")}
    other_machine.sync()
    (asked,) = other.sync().proposals
    meet(other_machine, other)
    for machine in machines:
        assert clawmem("review", "approve", asked, cwd=machine.root).code == 0
    meet(other_machine, other)
    assert {key for key, fact in other_machine.facts().items() if "born" in fact.fact} == both
    assert len([fact for fact in other_machine.facts().values() if fact.is_current and "born" in fact.fact]) == 1
    assert not read_proposals(other_machine.vault).open


def test_successors_in_question_become_one_chain_and_may_stand_beside_each_other(
    machines: list[Machine], clawmem: Command
) -> None:
    machine, other = machines
    (jane,) = machine.facts()
    both = {replace(machine, jane, "Jane lives in Lyon."), replace(other, jane, "Jane lives in Bergen.")}
    meet(machine, other)
    (asked,) = read_proposals(machine.vault).open
    known = machine.facts().keys()
    result = clawmem("review", "approve", asked.id, "--json", cwd=machine.root)
    assert machine.facts().keys() == known
    assert len([fact for fact in machine.facts().values() if fact.is_current]) == 1
    assert clawmem("undo", result.data["commit"], cwd=machine.root).code == 0
    beside = clawmem("review", "approve", asked.id, "--beside", "--json", cwd=machine.root)
    assert (beside.code, beside.data["outcome"]) == (0, ["updated"])
    assert machine.facts().keys() == known
    assert {key for key, fact in machine.facts().items() if fact.is_current} == both


def test_a_third_value_widens_the_question(tmp_path: Path, environment: dict[str, str]) -> None:
    machines = make_machines(tmp_path, environment, 3)
    wanted = {learn(machine, place) for machine, place in zip(machines, ("Lyon", "Bergen", "Turku"), strict=True)}
    for machine in (*machines, *machines):
        machine.sync()
    assert_alike(*machines)
    (asked,) = read_proposals(machines[0].vault).open
    assert {target.id for target in asked.targets} == wanted


def test_the_newest_of_two_values_stands_by_policy(machines: list[Machine]) -> None:
    machine, other = machines
    lyon, bergen = learn(machine, "Lyon"), learn(other, "Bergen")
    machine.sync()
    result = other.sync(SyncOptions(conflict="newest"))
    winner = max(lyon, bergen)
    (loser,) = {lyon, bergen} - {winner}
    assert other.facts()[winner].is_current and other.facts()[loser].superseded_by == winner
    assert [conflict.kind for conflict in result.conflicts] == ["values"] and not result.proposals
    meet(machine, other)


def test_two_values_and_the_policy_to_fail(machines: list[Machine], clawmem: Command) -> None:
    machine, other = machines
    learn(machine, "Lyon")
    learn(other, "Bergen")
    machine.sync()
    before = other.head()
    result = clawmem("sync", "--conflict", "fail", cwd=other.root)
    assert result.code == 12 and "several values of born_in" in result.err
    assert other.head() == before
    assert_whole(other.root, other.environment)


@pytest.mark.parametrize("spelling", ["file://{hub}", "../hub.git"])
def test_a_bare_repository_of_another_default_branch_can_be_cloned_after_the_first_push(
    tmp_path: Path, environment: dict[str, str], clawmem: Command, spelling: str
) -> None:
    hub = tmp_path / "hub.git"
    git(tmp_path, environment, "init", "-q", "--bare", "-b", "master", str(hub))
    alone = Machine(create_vault(tmp_path / "alone", environment, NOW).root, environment, 1)
    alone.git("remote", "add", "origin", spelling.format(hub=hub))
    result = clawmem("sync", "--json", cwd=alone.root)
    assert result.code == 0
    assert result.json["notices"] == [
        "HEAD of origin named a branch that does not exist; it now names main, so that clones check it out"
    ]
    git(tmp_path, environment, "clone", "-q", str(hub), "clone")
    assert clawmem("status", cwd=tmp_path / "clone").code == 0
    alone.keep("More.")
    assert clawmem("sync", "--json", cwd=alone.root).json["notices"] == []


def test_a_head_that_cannot_be_changed_is_named(tmp_path: Path, environment: dict[str, str], clawmem: Command) -> None:
    hub = tmp_path / "hub"
    git(tmp_path, environment, "init", "-q", "-b", "master", str(hub))  # somebody's work tree: left as it is
    alone = Machine(create_vault(tmp_path / "alone", environment, NOW).root, environment, 1)
    alone.git("remote", "add", "origin", str(hub))
    (notice,) = clawmem("sync", "--json", cwd=alone.root).json["notices"]
    assert "names a branch that does not exist, so a clone checks nothing out" in notice
    assert "`git symbolic-ref HEAD refs/heads/main` in it, or clone with `git clone --branch main`" in notice
    assert (hub / ".git/HEAD").read_text() == "ref: refs/heads/master\n"


def test_a_repository_without_commits_is_not_taken_for_a_clone_of_a_vault(
    tmp_path: Path, environment: dict[str, str], clawmem: Command
) -> None:
    git(tmp_path, environment, "init", "-q", "other")
    found = clawmem("status", "--json", cwd=tmp_path / "other")
    assert found.code == 10
    assert "There is no vault here" in found.json["error"]["message"]


def test_an_agent_syncs_with_an_address_only_after_a_person(machines: list[Machine]) -> None:
    machine = machines[1]  # a clone that nobody has synced
    agent = machine.caller._replace(agent="scout")
    lock = machine.vault.git_dir / "refs/remotes/origin/main.lock"
    lock.parent.mkdir(parents=True, exist_ok=True)
    lock.touch()
    with pytest.raises(NotPermitted, match="No person has synced"):
        sync(machine.vault, agent, SyncOptions())
    assert not lock.exists(), "no git is left that holds it"
    sync(machine.vault, machine.caller._replace(shell="codex"), SyncOptions())
    with pytest.raises(NotPermitted, match="No person has synced"):
        sync(machine.vault, agent, SyncOptions())
    machine.sync()
    assert sync(machine.vault, agent, SyncOptions()).problem is None
    machine.git("config", "core.sshCommand", "ssh -v")
    with pytest.raises(NotPermitted, match="No person has synced"):
        sync(machine.vault, agent, SyncOptions())
    change_setting(machine.vault, machine.caller, "agents.scout.read_only", "true")
    with pytest.raises(NotPermitted, match="change this memory"):
        sync(machine.vault, agent, SyncOptions())
