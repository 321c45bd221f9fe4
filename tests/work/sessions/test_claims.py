"""Coordination: a session takes its task, claims what it works on, and meets the claims of others."""

from __future__ import annotations

import json
import subprocess
import sys
from datetime import timedelta
from pathlib import Path

import pytest

from clawmem.errors import NotFound, Refused
from clawmem.memory.facts.remember import remember
from clawmem.memory.leases import claims_in_force
from clawmem.memory.proposals import read_proposals
from clawmem.model.facts.draft import Draft, draft_from_record
from clawmem.model.records.caller import Caller
from clawmem.model.records.claims import collisions
from clawmem.model.records.task_moves import SUBMIT, TAKE, NewTask
from clawmem.vault.vault import Vault
from clawmem.work.sessions.claims import claim_work, release_work
from clawmem.work.sessions.end import checkpoint_session, end_session
from clawmem.work.sessions.notes import fold_sessions, note_session
from clawmem.work.sessions.records import find_session, list_sessions, visible_to
from clawmem.work.sessions.start import changes, claim_changes, start_session
from clawmem.work.tasks import add_tasks, find_task, move_task
from tests.conftest import NOW, Command
from tests.memory.machines import make_machines

HANDED_IN = {"summary": "Done.", "reflection": {"learned": [], "watch_for": []}}


def by(caller: Caller, agent: str, session: str | None = None, minutes: int = 0) -> Caller:
    return caller._replace(agent=agent, session=session, now=caller.now + timedelta(minutes=minutes))


@pytest.fixture
def ann(vault: Vault, caller: Caller) -> Caller:
    """The agent ann in a session that holds the task `paint`."""
    add_tasks(vault, caller, [NewTask("Paint", acceptance=(("It is blue.", False),))], {})
    start_session(vault, by(caller, "ann"), task="paint", session="s-ann")
    return by(caller, "ann", "s-ann")


@pytest.fixture
def bob(vault: Vault, caller: Caller, ann: Caller) -> Caller:
    """The agent bob in a session of its own."""
    start_session(vault, by(caller, "bob"), session="s-bob")
    return by(caller, "bob", "s-bob")


def says(words: str, entity: str = "projects/boat") -> Draft:
    return draft_from_record({"fact": words, "entity": entity, "source": "test"}, NOW)


def settings(vault: Vault, key: str, before: str, after: str) -> Vault:
    path = vault.root / "clawmem.yaml"
    text = path.read_text()
    assert f"{key}: {before}" in text
    path.write_text(text.replace(f"{key}: {before}", f"{key}: {after}"))
    return Vault(vault.root, vault.environment)


def test_a_session_takes_its_task_and_gives_it_back(vault: Vault, ann: Caller) -> None:
    task = find_task(vault, "paint")
    assert (task.state, task.holder) == ("working", "ann")
    assert [live_claim.claim.what for live_claim in claims_in_force(vault, ann).claims] == ["paint"]
    end_session(vault, ann, HANDED_IN)
    task = find_task(vault, "paint")
    assert (task.state, task.holder) == ("open", None)
    assert not (vault.root / "agents/ann/claims.json").exists()


def test_a_task_that_was_handed_in_stays_in_review(vault: Vault, ann: Caller, clawmem: Command) -> None:
    assert clawmem("task", "submit", "paint", "--agent", "ann", env={"CLAWMEM_SESSION": "s-ann"}).code == 0
    end_session(vault, ann, HANDED_IN)
    assert (find_task(vault, "paint").state, find_task(vault, "paint").holder) == ("review", "ann")


def test_an_abandoned_session_gives_everything_back(vault: Vault, ann: Caller) -> None:
    claim_work(vault, ann, "path:src")
    fold_sessions(vault, ann._replace(agent=None, session=None, unattended=True, now=ann.now + timedelta(hours=25)))
    assert find_session(vault, "s-ann").state == "abandoned"
    assert (find_task(vault, "paint").state, find_task(vault, "paint").holder) == ("open", None)
    assert not (vault.root / "agents/ann/claims.json").exists()


def test_a_second_session_of_the_task_is_told_the_holder(vault: Vault, caller: Caller, ann: Caller) -> None:
    session = start_session(vault, by(caller, "bob"), task="Paint", session="s-bob")
    assert "collision: the task paint is claimed by ann (s-ann) until 10:00 UTC, so it is not taken" in session.notices
    assert (session.record.task, find_task(vault, "paint").holder) == ("paint", "ann")
    assert [claim.session for claim in session.claims] == ["s-ann"]
    assert [(collision.what, collision.holder) for collision in find_session(vault, "s-bob").collisions] == [
        ("paint", "ann")
    ]


def test_a_claim_lasts_from_the_last_sign_of_life(vault: Vault, caller: Caller, bob: Caller) -> None:
    claim_work(vault, by(caller, "ann", "s-ann"), "path:src/auth")
    with pytest.raises(Refused, match=r"claimed by ann \(s-ann\) until 10:00"):
        claim_work(vault, bob, "path:src/auth/login.py")
    note_session(vault, "Still here.", by(caller, "ann", "s-ann", 20))
    with pytest.raises(Refused, match="until 10:20"):
        claim_work(vault, by(caller, "bob", "s-bob", 40), "path:src/auth/login.py")
    checkpoint_session(vault, by(caller, "ann", "s-ann", 45))
    with pytest.raises(Refused, match="until 10:45"):
        claim_work(vault, by(caller, "bob", "s-bob", 70), "path:src")
    assert claim_work(vault, by(caller, "bob", "s-bob", 76), "path:src").changed
    note_session(vault, "Back.", by(caller, "ann", "s-ann", 77))  # too late: the claim is bob's now
    checkpoint_session(vault, by(caller, "ann", "s-ann", 77))
    (claim,) = [
        live_claim
        for live_claim in claims_in_force(vault, by(caller, "x", None, 77)).claims
        if live_claim.claim.kind == "path"
    ]
    assert claim.agent == "bob"


def test_a_task_whose_holder_is_gone_can_be_taken(vault: Vault, caller: Caller, ann: Caller) -> None:
    later = by(caller, "bob", None, 31)
    assert start_session(vault, later, task="paint", session="s-bob").notices == ()
    assert find_task(vault, "paint").holder == "bob"


def test_a_write_into_a_claim_of_another_is_refused(vault: Vault, bob: Caller, ann: Caller) -> None:
    remember(vault, [says("Boats float.")], ann._replace(agent=None, session=None))
    claim_work(vault, ann, "projects/boat")
    with pytest.raises(Refused, match="The entity projects/boat is claimed by ann"):
        remember(vault, [says("Boats sink.")], bob)
    assert [collision.what for collision in find_session(vault, "s-bob").collisions] == ["projects/boat"]
    assert remember(vault, [says("Boats swim.")], ann).commit
    assert remember(vault, [says("Ships sink.", "projects/ship")], bob).commit
    person = remember(vault, [says("Boats are old.")], bob._replace(agent=None, session=None))
    assert person.commit
    assert any(notice.startswith("collision: the entity projects/boat is claimed by ann") for notice in person.notices)


def test_a_fact_waits_for_review_or_is_written_where_the_settings_say_so(
    vault: Vault, bob: Caller, ann: Caller
) -> None:
    remember(vault, [says("Boats float.")], ann._replace(agent=None, session=None))
    claim_work(vault, ann, "projects/boat")
    proposing = settings(vault, "on_collision", "refuse", "propose")
    (fact,) = remember(proposing, [says("Boats sink.")], bob).facts
    assert fact.outcome == "proposed"
    (proposal,) = read_proposals(proposing).open
    assert proposal.why.startswith("The entity projects/boat is claimed by ann (s-ann)")
    warned = remember(settings(vault, "on_collision", "propose", "warn"), [says("Boats rot.")], bob)
    assert (warned.facts[0].outcome, any(notice.startswith("collision: ") for notice in warned.notices)) == (
        "added",
        True,
    )


def test_what_a_session_hands_in_is_never_lost_to_a_claim(vault: Vault, bob: Caller, ann: Caller) -> None:
    remember(vault, [says("Boats float.")], ann._replace(agent=None, session=None))
    claim_work(vault, ann, "projects/boat")
    lessons = [{"text": "Check the tide.", "entity": "projects/boat"}, {"text": "Eat.", "entity": "projects/ship"}]
    session = end_session(vault, bob, {**HANDED_IN, "lessons": lessons})
    assert [fact.outcome for fact in session.facts] == ["proposed", "added"]
    (proposal,) = read_proposals(vault).open
    assert proposal.why.startswith("The entity projects/boat is claimed by ann")


def test_a_claim_is_given_back_by_name_or_all_at_once(vault: Vault, ann: Caller) -> None:
    claim_work(vault, ann, "path:src")
    assert claim_work(vault, ann, "path:src").changed == ()
    claim_work(vault, ann, "docs/*.md")
    with pytest.raises(NotFound, match="has not claimed 'lib'"):
        release_work(vault, ann, "lib")
    assert [claim.what for claim in release_work(vault, ann, "src").changed] == ["src"]
    assert [claim.what for claim in release_work(vault, ann, None).changed] == ["paint", "docs/*.md"]
    assert release_work(vault, ann, None).commit is None
    of_projects = (claim_work(vault, ann, "lib/*", project=name).changed for name in ("boat", "boat", "car"))
    assert [len(changed) for changed in of_projects] == [1, 0, 1]


def test_what_means_nothing_is_not_claimed(vault: Vault, ann: Caller) -> None:
    for words in ("boots", "task:boots"):
        with pytest.raises(NotFound):
            claim_work(vault, ann, words)
    for words in ("/etc", "src/../..", "path:"):
        with pytest.raises(Exception, match="cannot be claimed"):
            claim_work(vault, ann, words)


def test_unfinished_notes_are_for_the_agent_and_for_people(vault: Vault, ann: Caller, bob: Caller) -> None:
    note_session(vault, "Half an idea.", ann)
    record = find_session(vault, "s-ann")
    assert visible_to(record, bob).notes == ()
    assert [note.text for note in visible_to(record, ann).notes] == ["Half an idea."]
    assert visible_to(record, bob._replace(agent=None)).notes
    before = record._replace(notes=())
    assert list(changes(before, record, bob)) == []
    assert [change["event"] for change in changes(before, record)] == ["note"]
    end_session(vault, ann, HANDED_IN)
    assert visible_to(find_session(vault, "s-ann"), bob).notes


def test_watching_shows_claims_and_collisions(vault: Vault, ann: Caller, bob: Caller) -> None:
    known = claims_in_force(vault, ann).claims
    sessions = {session.id: session for session in list_sessions(vault, ann.now).sessions}
    claim_work(vault, ann, "path:src")
    with pytest.raises(Refused):
        claim_work(vault, bob, "path:src/a.py")
    now = claims_in_force(vault, ann).claims
    (record,) = claim_changes(known, now, "2026-11-21T09:30:00Z")
    assert (record["event"], record["agent"], record["what"]) == ("claim", "ann", "src")
    (met,) = changes(sessions["s-bob"], find_session(vault, "s-bob"))
    assert (met["event"], met["agent"], met["holder"], met["with"]) == ("collision", "bob", "ann", "s-ann")
    # Two machines claimed the same before they synced.
    both = (*now, now[-1]._replace(session="s-bob", agent="bob"))
    events = [claim_change["event"] for claim_change in claim_changes(now, both, "2026-11-21T09:30:00Z")]
    assert events == ["claim", "collision"]
    assert [claim_change["event"] for claim_change in claim_changes(now, (), "2026-11-21T09:30:00Z")] == [
        "release",
        "release",
    ]


def test_of_processes_that_claim_at_once_exactly_one_gets_it(
    vault_root: Path, environment: dict[str, str], clawmem: Command
) -> None:
    agents = [f"agent{number}" for number in range(5)]
    for agent in agents:
        assert clawmem("session", "start", "--id", f"s-{agent}", "--agent", agent).code == 0
    command = [sys.executable, "-m", "clawmem", "session", "claim", "path:src", "--json"]
    running = [
        subprocess.Popen(
            [*command, "--session", f"s-{agent}", "--agent", agent],
            cwd=vault_root,
            env=environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        for agent in agents
    ]
    codes = []
    for process in running:
        out, _ = process.communicate(timeout=60)
        codes.append(process.returncode)
        if process.returncode:
            assert "claimed by agent" in json.loads(out)["error"]["message"]
    assert sorted(codes) == [0, 1, 1, 1, 1]
    assert len(list((vault_root / "agents").glob("*/claims.json"))) == 1


def test_taking_a_task_in_a_session_claims_it_until_it_is_handed_in(vault: Vault, caller: Caller, bob: Caller) -> None:
    add_tasks(vault, caller, [NewTask("Sail"), NewTask("Row")], {})
    move_task(vault, bob, "sail", TAKE)
    assert [
        live_claim.claim.what for live_claim in claims_in_force(vault, bob).claims if live_claim.agent == "bob"
    ] == ["sail"]
    with pytest.raises(Refused, match="held by bob"):
        move_task(vault, by(caller, "ann", "s-ann"), "sail", TAKE)
    move_task(vault, bob, "sail", SUBMIT)
    assert not (vault.root / "agents/bob/claims.json").exists()
    move_task(vault, by(caller, "eve", "some/other:program"), "row", TAKE)  # a session of another program
    assert not (vault.root / "agents/eve/claims.json").exists()


def test_two_machines_that_claimed_the_same_see_it_after_a_sync(tmp_path: Path, environment: dict[str, str]) -> None:
    machines = make_machines(tmp_path, environment)
    for machine, agent in zip(machines, ("ann", "bob"), strict=True):
        start_session(machine.vault, by(machine.caller, agent), session=f"s-{agent}")
        claim_work(machine.vault, by(machine.caller, agent, f"s-{agent}"), "path:src")
    for other_machine in (*machines, *machines):
        other_machine.sync()
    for other_machine in machines:
        found = claims_in_force(other_machine.vault, other_machine.caller).claims
        assert [(first.agent, second.agent) for first, second in collisions(found)] == [("ann", "bob")]
    with pytest.raises(Refused, match="claimed by ann"):
        claim_work(machines[1].vault, by(machines[1].caller, "bob", "s-bob"), "path:src/a.py")


def test_who_lost_a_task_in_a_merge_is_told_at_the_next_call(vault: Vault, ann: Caller, clawmem: Command) -> None:
    own = ("--agent", "ann", "--session", str(ann.session))
    assert clawmem("session", "note", "The first coat is on.", *own).err == ""
    page = vault.root / "tasks/paint.md"
    page.write_text(page.read_text().replace('holder: "ann"', "holder: Bob Lind"))
    for words in (("session", "note", "The second coat is on."), ("session", "checkpoint")):
        assert "Bob Lind holds the task paint, not ann: ask before you go on with it" in clawmem(*words, *own).err
