"""The heartbeat: it learns with exact evidence, counts accesses, archives and updates pages; a second heartbeat changes
nothing."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Sequence
from datetime import timedelta
from pathlib import Path

import pytest

from clawmem.errors import InvalidInput, Locked
from clawmem.heartbeat.loop import HeartbeatResult, due_steps, run_heartbeat, step_reports
from clawmem.index.refresh import open_index
from clawmem.index.search.lookup import all_facts, entity_names
from clawmem.learning.ingest import ingest, note
from clawmem.memory.facts.remember import remember
from clawmem.memory.health.configure import change_setting
from clawmem.memory.history.undo import undo
from clawmem.model.facts.codec import parse_items
from clawmem.model.facts.draft import draft_from_record
from clawmem.model.facts.fact import Fact
from clawmem.model.records.caller import Caller
from clawmem.model.records.event import Event, parse_events
from clawmem.model.safety.recalled_text import wrap_context
from clawmem.model.transcripts.message import Message
from clawmem.serving.browse import peek
from clawmem.vault.disk import Disk, writer_lock
from clawmem.vault.state.heartbeat_state import LOG, MOST_LOG_BYTES, STATE, read_heartbeat_state
from clawmem.vault.state.journal import FOLDING, record_access
from clawmem.vault.vault import Vault
from tests.conftest import Command

pytestmark = pytest.mark.usefixtures("without_vectors")

TALK = (
    Message(1, "user", "Hi! How are you?", "2026-11-02T10:00:00Z", "Nora"),
    Message(
        2,
        "user",
        "Please remember that I moved to Lisbon. Remember that I work at Brightpath.",
        "2026-11-02T10:01:00Z",
        "Nora",
    ),
    Message(3, "assistant", "Sounds great, congratulations!", "2026-11-02T10:02:00Z"),
    Message(4, "user", "Remember that I'm allergic to peanuts.", "2026-11-02T10:03:00Z", "Nora"),
    Message(5, "user", "Remember that my sister Clara lives in Ghent.", "2026-11-02T10:04:00Z", "Nora"),
)


def _facts(vault: Vault) -> list[Fact]:
    index = open_index(vault)
    try:
        return [placed.fact for placed in all_facts(index)]
    finally:
        index.close()


def _events(vault: Vault) -> dict[str, Event]:
    found: dict[str, Event] = {}
    for path in sorted((vault.root / "ledger").glob("*.jsonl")):
        found.update({event.id: event for event in parse_events(path.read_bytes(), path.name)})
    return found


def test_every_fact_quotes_its_event_exactly(vault: Vault, caller: Caller) -> None:
    ingest(vault, TALK, caller, "talk.jsonl")
    result = run_heartbeat(vault, caller)
    assert not result.failed
    events = _events(vault)
    facts = _facts(vault)
    assert len(facts) >= 3
    for fact in facts:
        assert fact.source_event is not None
        assert fact.source_span is not None
        start, end = fact.source_span
        assert fact.source_text == events[fact.source_event].text[start:end]
    assert any("peanut" in fact.fact for fact in facts)
    assert not any("congratulations" in fact.fact.lower() for fact in facts)
    index = open_index(vault)
    assert "areas/people/nora" in entity_names(index)
    index.close()


def test_a_dry_run_takes_no_edit_in_and_needs_no_lock(vault: Vault, caller: Caller) -> None:
    ingest(vault, TALK, caller, "talk.jsonl")
    page, head = vault.root / "MEMORY.md", vault.head()
    page.write_text("Written by hand.\n")
    with writer_lock(vault.state / "lock", 1, "another writer"):
        result = run_heartbeat(vault, caller, dry_run=True)
    assert result.failed == () and result.of("learn") and result.of("learn").count("added") >= 3
    assert result.notices == ("1 file edited by hand would be committed first, which a dry run does not do: MEMORY.md",)
    assert (vault.head(), page.read_text()) == (head, "Written by hand.\n")


def test_ingesting_twice_adds_nothing_and_growth_adds_the_rest(vault: Vault, caller: Caller) -> None:
    first = ingest(vault, TALK[:3], caller, "talk.jsonl")
    assert (first.added, first.known) == (3, 0)
    again = ingest(vault, TALK[:3], caller, "copy.jsonl")
    assert (again.added, again.known, again.commit) == (0, 3, None)
    grown = ingest(vault, TALK, caller, "talk.jsonl")
    assert (grown.added, grown.known) == (2, 3)


def test_equal_messages_without_a_time_are_each_kept(vault: Vault, caller: Caller) -> None:
    yes = [Message(1, "user", "yes"), Message(2, "user", "yes")]
    assert ingest(vault, yes, caller, "a").added == 2
    later = caller._replace(now=caller.now + timedelta(days=3))
    assert ingest(vault, yes, later, "a").added == 0


def test_text_out_of_this_memory_is_never_learned_again(vault: Vault, caller: Caller) -> None:
    served = wrap_context("- Nora is allergic to shellfish.")
    message = Message(1, "user", served, "2026-11-02T10:00:00Z", "Nora")
    mixed = Message(2, "user", f"Remember that I moved to Porto in May.\n{served}", "2026-11-02T10:01:00Z", "Nora")
    ingest(vault, [message, mixed], caller, "session")
    run_heartbeat(vault, caller)
    facts = _facts(vault)
    assert any("Porto" in fact.fact for fact in facts)
    assert not any("shellfish" in fact.fact for fact in facts)


def test_a_named_tool_is_not_one_of_the_people_talking(vault: Vault, caller: Caller) -> None:
    asked = Message(1, "user", "Remember that the vet comes on 22 September 2026.", "2026-09-02T10:00:00Z")
    answered = Message(2, "tool", "Rain until noon.", "2026-09-02T10:01:00Z", "WEATHER")
    ingest(vault, [asked, answered], caller, "chat")
    run_heartbeat(vault, caller)
    assert any("vet" in fact.fact for fact in _facts(vault))


def test_daily_notes_are_read_once(vault: Vault, caller: Caller) -> None:
    note(vault, "Remember that the wifi box is behind the bookshelf", caller)
    page = vault.root / "daily" / "2026-11-20.md"
    page.write_text("# 2026-11-20\n\n- We decided to use Postgres for the billing service.\n")
    first = run_heartbeat(vault, caller)
    assert first.of("notes") is not None
    assert first.of("notes").added == 2
    assert run_heartbeat(vault, caller).commits == ()


def test_accesses_are_folded_once_and_wake_archived_facts(vault: Vault, caller: Caller) -> None:
    draft = draft_from_record({"fact": "The bicycle is green"}, caller.now)
    fact = remember(vault, [draft], caller._replace(agent="cli")).facts[0].fact
    late = caller._replace(now=caller.now + timedelta(days=120))
    assert [other_fact.fact.id for other_fact in (run_heartbeat(vault, late).of("decay") or ()).facts] == [fact.id]  # type: ignore[union-attr]
    assert _facts(vault)[0].status == "archived"
    for _ in range(3):
        assert record_access(vault, "2027-03-21T09:30:00Z", [fact.id]) is None
    assert run_heartbeat(vault, late).commits == ()
    late = late._replace(now=late.now + timedelta(days=1))
    woken = run_heartbeat(vault, late)
    assert woken.of("fold") is not None
    assert woken.of("fold").restored == (fact.id,)
    after = peek(vault, fact.id).fact
    assert (after.status, after.access_count, after.last_accessed) == ("active", 3, "2027-03-21T09:30:00Z")
    assert run_heartbeat(vault, late).commits == ()


def test_a_file_that_does_not_parse_stops_only_what_needs_it(vault: Vault, caller: Caller) -> None:
    draft = draft_from_record({"fact": "The bicycle is green", "entity": "resources/bike"}, caller.now)
    remember(vault, [draft], caller)
    broken: Path = vault.root / "life/resources/bike/items.json"
    broken.write_text("[\n{oops\n]\n")
    ingest(vault, TALK, caller, "talk.jsonl")
    result = run_heartbeat(vault, caller)
    assert broken.read_text() == "[\n{oops\n]\n"
    ((act, problem),) = result.failed
    assert (act, "life/resources/bike/items.json:2" in problem.message) == ("edits", True)
    assert not [notice for notice in result.notices if "left alone" in notice]
    assert result.of("learn") is not None
    assert result.of("learn").count("added") >= 3


def test_summaries_say_what_is_known_and_keep_what_people_wrote(vault: Vault, caller: Caller) -> None:
    draft = draft_from_record({"fact": "The bicycle is green", "entity": "resources/bike"}, caller.now)
    remember(vault, [draft], caller)
    page = vault.root / "life/resources/bike/summary.md"
    page.write_text(page.read_text().replace("# Bike", "# Bike\n\nMy own words."))
    run_heartbeat(vault, caller)
    text = page.read_text()
    assert "My own words." in text
    assert "The bicycle is green" in text
    assert "resources/bike" in (vault.root / "life/index.md").read_text()
    assert parse_items((vault.root / "life/resources/bike/items.json").read_bytes(), "x")


def test_a_beat_that_remembers_nothing_makes_no_commit_either(vault: Vault, caller: Caller) -> None:
    ingest(vault, TALK, caller, "talk.jsonl")
    note(vault, "We decided to use Postgres for the billing service.", caller)
    assert run_heartbeat(vault, caller).commits
    head = vault.head()
    assert run_heartbeat(vault, caller).commits == ()
    (vault.state / STATE).unlink()
    assert run_heartbeat(vault, caller).commits == ()
    assert vault.head() == head and vault.git.run("status", "--porcelain") == b""


def test_nothing_new_runs_no_act_and_anything_new_runs_them_all(vault: Vault, caller: Caller) -> None:
    ingest(vault, TALK, caller, "talk.jsonl")
    run_heartbeat(vault, caller)
    assert read_heartbeat_state(vault).head == vault.head().commit
    assert run_heartbeat(vault, caller).of("learn") is None
    for change in (
        lambda: note(vault, "The plumber came.", caller),
        lambda: (vault.root / "daily/2026-11-20.md").write_text("# 2026-11-20\n\n- Rain.\n"),
    ):
        change()
        assert run_heartbeat(vault, caller).of("learn") is not None
        assert run_heartbeat(vault, caller).of("learn") is None
    record_access(vault, "2026-11-21T09:31:00Z", [_facts(vault)[0].id])
    assert run_heartbeat(vault, caller).commits == ()
    tomorrow = caller._replace(now=caller.now + timedelta(days=1))
    assert run_heartbeat(vault, tomorrow).of("fold").facts == 1
    assert run_heartbeat(vault, tomorrow).of("learn") is None


def test_generated_pages_are_one_commit(vault: Vault, caller: Caller) -> None:
    record = {"fact": "The bicycle is green", "entity": "resources/bike", "importance": 0.9}
    remember(vault, [draft_from_record(record, caller.now)], caller)
    result = run_heartbeat(vault, caller)
    assert all(result.of(step) for step in ("synthesize", "summaries", "memory"))
    log = vault.git.run("log", "--format=%s", "--", "MEMORY.md", "daily", "life/resources/bike/summary.md").decode()
    subject = log.splitlines()[0]
    assert subject == "summarise(pages): daily notes, summaries, MEMORY.md"
    remember(vault, [draft_from_record({**record, "fact": "The bicycle is old"}, caller.now)], caller)
    (vault.root / "MEMORY.md").write_text("<<<<<<< ours\n")
    odd = run_heartbeat(vault, caller)
    assert {step for step, _ in odd.failed} <= {"edits", "memory"} and odd.failed
    assert "is old" in (vault.root / "life/resources/bike/summary.md").read_text()


def test_another_version_of_the_program_does_everything_once(vault: Vault, caller: Caller) -> None:
    run_heartbeat(vault, caller)
    state = vault.state / STATE
    state.write_text(json.dumps({**json.loads(state.read_text()), "made": "0.0.1"}))
    assert run_heartbeat(vault, caller).of("learn") is not None
    assert run_heartbeat(vault, caller).of("learn") is None


def test_a_heartbeat_cuts_the_log_that_grew_too_long(vault: Vault, caller: Caller) -> None:
    log = vault.state / LOG
    log.write_bytes(b"one line\n" * (MOST_LOG_BYTES // 8))
    run_heartbeat(vault, caller)
    assert log.stat().st_size < MOST_LOG_BYTES


def test_the_acts_commit_in_their_order(vault: Vault, caller: Caller) -> None:
    ingest(vault, TALK, caller, "talk.jsonl")
    run_heartbeat(vault, caller)
    record_access(vault, "2026-11-21T09:31:00Z", [_facts(vault)[0].id])
    (vault.root / "daily/2026-11-20.md").write_text(
        "# 2026-11-20\n\n- Remember that we decided to use Postgres for billing.\n"
    )
    start = vault.head().commit
    result = run_heartbeat(vault, caller._replace(now=caller.now + timedelta(days=1)))
    subjects = vault.git.run("log", "--reverse", "--format=%s", f"{start}..HEAD").decode().split("\n")
    verbs = [subject.split("(")[0] for subject in subjects if subject]
    order = ["edit", "ingest", "learn", "access", "propose", "promote", "summarise", "wiki"]
    assert verbs == [verb for verb in order if verb in verbs]
    assert set(verbs) >= {*order} - {"propose"}
    assert len(result.commits) == len(verbs) - 1


def test_a_night_promotes_once_even_where_the_promotion_was_undone(vault: Vault, caller: Caller) -> None:
    record = {"fact": "Ada is allergic to nuts.", "category": "health", "importance": 0.78}
    draft = draft_from_record(record, caller.now)
    remember(vault, [draft], caller)
    assert [other_night.kept for other_night in run_heartbeat(vault, caller).of("promote").nights] == [()]
    tomorrow = caller._replace(now=caller.now + timedelta(days=1))
    (night,) = run_heartbeat(vault, tomorrow).of("promote").nights
    assert (night.on, len(night.kept)) == ("2026-11-21", 1)
    assert night.commit is not None
    undo(vault, night.commit, tomorrow)
    assert run_heartbeat(vault, tomorrow).of("promote") is None
    assert _facts(vault)[0].importance == 0.78


def test_nights_missed_are_made_up_for(vault: Vault, caller: Caller) -> None:
    run_heartbeat(vault, caller)
    later = caller._replace(now=caller.now + timedelta(days=3))
    assert [night.on for night in run_heartbeat(vault, later).of("promote").nights] == [
        "2026-11-21",
        "2026-11-22",
        "2026-11-23",
    ]


class Between(Disk):
    """A disk that makes something happen once in the middle of a heartbeat, while no step holds the lock."""

    def __init__(self, happens: Callable[[], object]) -> None:
        self.happens: Callable[[], object] | None = happens

    def read(self, path: Path) -> bytes | None:
        """Read as ever; the access journal is looked at before its act takes the lock."""
        happens = self.happens
        if happens is not None and path.name == FOLDING:
            self.happens = None
            happens()
        return super().read(path)


def test_a_commit_by_somebody_else_meanwhile_is_not_taken_for_done(vault: Vault, caller: Caller) -> None:
    ingest(vault, TALK[:3], caller, "talk.jsonl")
    disk = Between(lambda: ingest(vault, TALK, caller, "talk.jsonl"))
    own = Vault(vault.root, vault.git.environment, disk)
    assert run_heartbeat(own, caller).commits
    assert disk.happens is None
    assert read_heartbeat_state(vault).head is None
    learned = run_heartbeat(own, caller).of("learn")
    assert learned is not None
    assert learned.events == 2


def test_a_busy_vault_is_waited_for_once(vault: Vault, caller: Caller) -> None:
    change_setting(vault, caller, "lock.wait_seconds", "0.2")
    own = Vault(vault.root, vault.git.environment)
    with writer_lock(vault.state / "lock", 0, "a long write"), pytest.raises(Locked, match="a long write"):
        run_heartbeat(own, caller)
    assert run_heartbeat(own, caller).failed == ()


def test_a_writer_that_comes_between_the_acts_costs_one_wait(vault: Vault, caller: Caller) -> None:
    change_setting(vault, caller, "lock.wait_seconds", "0.2")
    ingest(vault, TALK, caller, "talk.jsonl")
    event, over = threading.Event(), threading.Event()

    def hold() -> None:
        with writer_lock(vault.state / "lock", 30, "a long write"):
            event.set()
            over.wait(60)

    def come() -> None:
        writer.start()
        event.wait(30)

    writer = threading.Thread(target=hold)
    own = Vault(vault.root, vault.git.environment, Between(come))
    result = run_heartbeat(own, caller)
    over.set()
    writer.join()
    assert result.of("learn") is not None
    assert {problem.code for _, problem in result.failed} == {"locked"}
    assert len(result.failed) > 5
    assert len({id(problem) for _, problem in result.failed}) == 1
    assert read_heartbeat_state(vault).head is None
    assert run_heartbeat(own, caller).failed == ()


def _run(command: Command, *arguments: str) -> Sequence[str]:
    return command("heartbeat", *arguments).out.splitlines()


def test_the_command_says_what_it_did_and_exits_with_four_where_a_part_failed(vault: Vault, clawmem: Command) -> None:
    talk = "\n".join(
        json.dumps({"role": message.role, "speaker": message.speaker, "content": message.text}) for message in TALK
    )
    assert clawmem("ingest", "-", given=talk).code == 0
    assert any(line.startswith("read 5 events by rules") for line in _run(clawmem))
    assert _run(clawmem) == ["nothing to do"]
    (vault.root / "ledger/adaptation.json").write_text("oops\n")
    odd = clawmem("heartbeat", "--json", "--explain", env={"CLAWMEM_NOW": "2026-11-22T09:30:00Z"})
    assert odd.code == 4
    assert {other["act"] for other in odd.data["failed"]} == {"adapt", "edits", "promote"}
    (vault.root / "ledger/adaptation.json").unlink()
    good = clawmem("heartbeat", "--json", "--explain", env={"CLAWMEM_NOW": "2026-11-22T09:30:00Z"})
    assert good.code == 0
    assert good.data["promoted"][0]["date"] == "2026-11-21"
    assert any(candidate["promoted"] for candidate in good.data["promoted"][0]["candidates"])


def test_a_night_whose_promotion_failed_is_due_again(vault: Vault, clawmem: Command) -> None:
    text = json.dumps({"role": "user", "content": "Hello there.", "timestamp": "2026-11-21T08:00:00Z"})
    assert clawmem("ingest", "-", given=text).code == 0
    assert clawmem("heartbeat", env={"CLAWMEM_NOW": "2026-11-21T09:30:00Z"}).code == 0
    assert read_heartbeat_state(vault).promoted == "2026-11-20"
    ledger = vault.root / "ledger/learned.json"
    good = ledger.read_text()
    ledger.write_text(good + "{broken\n")
    vault.git.run("add", ".")
    vault.git.run("commit", "--quiet", "--message", "by hand")
    odd = clawmem("heartbeat", "--json", env={"CLAWMEM_NOW": "2026-11-22T09:30:00Z"})
    assert "promote" in {other["act"] for other in odd.data["failed"]}
    assert "adapt" not in {other["act"] for other in odd.data["failed"]}
    assert read_heartbeat_state(vault).promoted == "2026-11-20"
    ledger.write_text(good)
    assert clawmem("heartbeat", env={"CLAWMEM_NOW": "2026-11-22T10:30:00Z"}).code == 0
    assert read_heartbeat_state(vault).promoted == "2026-11-21"


def test_a_note_that_cannot_be_written_is_a_part_that_failed(vault: Vault, clawmem: Command) -> None:
    talk = "\n".join(
        json.dumps({"role": message.role, "speaker": message.speaker, "content": message.text}) for message in TALK
    )
    assert clawmem("ingest", "-", given=talk).code == 0
    (ledger,) = (vault.root / "ledger").glob("*.jsonl")
    good = ledger.read_text()
    ledger.write_text(good + "{broken\n")
    vault.git.run("commit", "--quiet", "--all", "--message", "by hand")
    result = clawmem("heartbeat", "--quiet")
    assert result.code == 4
    assert f"synthesize failed: ledger/{ledger.name}:{good.count(chr(10)) + 1} cannot be read" in result.err
    day = clawmem("synthesize", "--date", ledger.stem, "--json")
    assert day.code == 4
    assert "cannot be read" in day.json["notices"][0]


def test_one_step_runs_alone_and_the_heartbeat_is_not_taken_for_done(vault: Vault, caller: Caller) -> None:
    ingest(vault, TALK, caller, "talk.jsonl")
    result = run_heartbeat(vault, caller, only=["learn"])
    assert set(result.results) == {"learn"} and result.of("learn").count("added") >= 3
    assert read_heartbeat_state(vault).head is None
    assert set(run_heartbeat(vault, caller).results) >= {"notes", "learn", "summaries"}
    with pytest.raises(InvalidInput, match="no step 'lern'"):
        run_heartbeat(vault, caller, only=["lern"])


def test_every_step_has_a_name_of_its_own_and_says_what_it_does_and_when(vault: Vault, caller: Caller) -> None:
    steps = due_steps(vault, caller)
    assert len({step.name for step, _ in steps}) == len(steps)
    assert all(step.description.endswith(".") and step.due.description for step, _ in steps)
    due = {step.name: due for step, due in steps}
    assert due["learn"] is True


def test_a_heartbeat_without_results_reports_every_key(vault: Vault, caller: Caller) -> None:
    ingest(vault, TALK, caller, "talk.jsonl")
    result = run_heartbeat(vault, caller)
    keys = [key for step_report in step_reports(result, False) for key in step_report.data]
    assert len(set(keys)) == len(keys)
    assert keys == [key for step_report in step_reports(HeartbeatResult(), False) for key in step_report.data]


def test_the_command_lists_the_steps_and_runs_one(vault: Vault, clawmem: Command) -> None:
    listed = clawmem("heartbeat", "--list", "--json").data["steps"]
    assert [other["name"] for other in listed][:3] == ["notes", "user", "relate"]
    only = clawmem("heartbeat", "--only", "summaries", "--json")
    assert (only.code, only.data["learned"], only.data["commits"]) == (0, None, [])
