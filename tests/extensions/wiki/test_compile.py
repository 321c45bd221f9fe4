"""The compiler: what a page shows, what a build changes, and that an incremental build equals a full one."""

from __future__ import annotations

import json
from collections.abc import Callable
from contextlib import suppress
from datetime import timedelta
from pathlib import Path

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from clawmem.errors import ClawmemError
from clawmem.extensions.wiki.compile import build_wiki, changed_names, counted_writes
from clawmem.extensions.wiki.curator import check_pages, curate
from clawmem.extensions.wiki.gather import STATE, read_wiki_state, titles_of
from clawmem.learning.ingest import ingest
from clawmem.memory.entities.entities import rename_entity
from clawmem.memory.facts.access import fold_accesses
from clawmem.memory.facts.claims import confirm
from clawmem.memory.facts.remember import remember
from clawmem.memory.facts.revise import link, retract, supersede
from clawmem.memory.facts.revoke import RevokeOrigin, revoke
from clawmem.memory.writing import writing
from clawmem.model.facts.draft import draft_from_record
from clawmem.model.language.dates import stamp
from clawmem.model.records.caller import Caller
from clawmem.model.records.change import Change
from clawmem.model.transcripts.message import Message
from clawmem.vault.commit.transaction import transaction
from clawmem.vault.state.journal import record_access
from clawmem.vault.vault import Vault
from tests.conftest import Command

JANE, BOAT = "areas/people/jane", "projects/boat"


def add(vault: Vault, caller: Caller, text: str, entity: str = JANE, **keys: object) -> str:
    draft = draft_from_record({"entity": entity, "fact": text, **keys}, caller.now)
    return remember(vault, [draft], caller).facts[0].fact.id


def page(vault: Vault, name: str) -> str:
    return (vault.root / "wiki" / f"{name}.md").read_text(encoding="utf-8")


def pages(vault: Vault) -> dict[str, bytes]:
    folder = vault.root / "wiki"
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*.md")}


def test_a_page_shows_claims_with_source_history_premises_and_links(vault: Vault, caller: Caller) -> None:
    rope = add(vault, caller, "The boat is 9 m long.", BOAT)
    old = add(vault, caller, "Jane lives in Oslo.")
    bergen = draft_from_record({"fact": "Jane lives in Bergen."}, caller.now)
    new = supersede(vault, old, bergen, caller).facts[0].fact.id
    berth = add(vault, caller, "Jane rents a large berth for the Boat.", related_entities=[BOAT], tags=["sea"])
    add(vault, caller, "The boat crosses the sea.", BOAT, tags=["sea"])
    link(vault, berth, "depends_on", rope, caller, "A boat of that length needs a large berth.")
    build = build_wiki(vault, caller)
    assert build.pages == 2 and build.claims == 4 and build.full and build.commit
    jane = page(vault, JANE)
    assert f"- Jane lives in Bergen. (since 2026-11-21, from user, source user, {new})" in jane
    assert f"  - Replaced: Jane lives in Oslo. (until 2026-11-21, from user, source user, {old})" in jane
    assert "berth for the [Boat](../../projects/boat.md)" in jane
    assert f"  - Since [The boat is 9 m long](../../projects/boat.md) ({rope}): A boat of that length" in jane
    assert "- [sea](../../topics/sea.md): 1 claim" in jane
    assert "## Mentioned in\n\n- [Jane](../areas/people/jane.md): 1 claim" in page(vault, BOAT)
    assert "- [Boat](../projects/boat.md): 1 claim" in page(vault, "topics/sea")
    assert "- [Jane](areas/people/jane.md): 2 claims, newest 2026-11-21" in page(vault, "index")
    found = check_pages(vault)
    assert found.dead == () and found.orphans == ()


def test_a_page_shows_why_a_decision_was_made_and_what_taught_a_lesson(vault: Vault, caller: Caller) -> None:
    rejected = [{"option": "*MySQL*", "why": "no jobs"}, {"option": "Files"}]
    details = {"why": "It has <b>jobs</b>.", "alternatives": rejected}
    add(vault, caller, "We use Postgres.", BOAT, category="decision", details=details)
    add(vault, caller, "Run the tests first.", BOAT, category="lesson", details={"because": "A column was missing."})
    build_wiki(vault, caller)
    shown = page(vault, BOAT)
    assert (
        "  - Why: It has \\<b\\>jobs\\</b\\>.\n  - Not chosen: \\*MySQL\\*: no jobs\n  - Not chosen: Files\n" in shown
    )
    assert "  - Because: A column was missing.\n" in shown


def test_a_second_build_changes_nothing_and_one_change_only_its_pages(vault: Vault, caller: Caller) -> None:
    for number in range(4):
        add(vault, caller, f"The boat has part number {number}.", f"projects/boat-{number}")
    build_wiki(vault, caller)
    again = build_wiki(vault, caller)
    assert again.written == () and again.commit is None and not again.full
    add(vault, caller, "The boat is red.", "projects/boat-2")
    assert build_wiki(vault, caller).written == ("wiki/index.md", "wiki/projects/boat-2.md")


def test_a_change_of_the_settings_or_the_catalog_concerns_every_page(vault: Vault, caller: Caller) -> None:
    add(vault, caller, "Jane prefers tea.")
    add(vault, caller, "The boat is red.", BOAT)
    build_wiki(vault, caller)
    state, both = read_wiki_state(vault), {JANE, BOAT}
    with writing(vault, caller, "test") as work:
        titles = titles_of(work.index)
        for path, names in (("clawmem.yaml", both), ("predicates.yaml", both), ("notes.txt", set()), (None, both)):
            changed = None if path is None else [path]
            assert changed_names(work, state, both, titles, changed) == names, path
        assert changed_names(work, None, both, titles, []) == both


def test_names_in_sentences_are_links_of_obsidian_also_where_their_pages_come_later(
    vault: Vault, clawmem: Command
) -> None:
    clawmem("config", "set", "wiki.links", "obsidian")
    clawmem("remember", "Priya owns the parser of Kestrel.", "-e", "projects/kestrel")
    clawmem("remember", "Ask [[Priya]] about releases, and [[Priya|the lead]] about plans.", "-e", "projects/kestrel")
    clawmem("heartbeat")
    assert "priya" not in (vault.read_text("wiki/projects/kestrel.md") or "")
    clawmem("remember", "Priya works from Pune.", "-e", "areas/people/priya")
    clawmem("wiki", "build")
    page, priya = "wiki/projects/kestrel.md", "[[wiki/areas/people/priya|Priya]]"
    shown = vault.read_text(page) or ""
    assert f"- {priya} owns the parser" in shown
    assert f"- Ask {priya} about releases, and [[wiki/areas/people/priya|the lead]] about plans." in shown
    assert "[[wiki/projects/kestrel|Kestrel]]: 2 claims" in (vault.read_text("wiki/areas/people/priya.md") or "")
    assert "- [[life/projects/kestrel/summary|Kestrel]] `projects/kestrel`" in (vault.read_text("life/index.md") or "")
    assert clawmem("wiki", "build", "--full", "--json").data["written"] == []


def test_pages_have_links_of_obsidian_where_the_vault_says_so(vault: Vault, caller: Caller, clawmem: Command) -> None:
    add(vault, caller, "The boat is 9 m long.", BOAT, tags=["sea"])
    add(vault, caller, "Jane rents the boat.", related_entities=[BOAT], tags=["sea"])
    build_wiki(vault, caller)
    page = f"wiki/{JANE}.md"
    assert "[[" not in (vault.read_text(page) or "")
    clawmem("config", "set", "wiki.links", "obsidian")
    clawmem("wiki", "build")
    jane, index = vault.read_text(page) or "", vault.read_text("wiki/index.md") or ""
    assert f"[[wiki/{BOAT}|Boat]]" in jane and "[[wiki/topics/sea|sea]]" in jane and "[[wiki/index|Index]]" in jane
    assert f"[[wiki/{JANE}|Jane]]" in index and "](" not in jane + index
    assert clawmem("wiki", "check").code == 0
    assert "Wrote 0 pages" in clawmem("wiki", "build").out


def test_what_a_person_typed_or_imported_is_shown_however_many_sentences_it_has(
    vault: Vault, caller: Caller, clawmem: Command, tmp_path: Path
) -> None:
    recipe = add(vault, caller, "Deploy with `make image`. Then tell Jane.", BOAT, confidence=0.5)
    build_wiki(vault, caller)
    assert "Then tell Jane." in (vault.read_text(f"wiki/{BOAT}.md") or "")
    gated = clawmem("wiki", "gate", recipe)
    assert "passes" in gated.out and "no   atomic: it has 2 sentences" in gated.out
    assert clawmem("wiki", "gate", recipe, "--json").data["passed"] == 1
    (tmp_path / "notes/.obsidian").mkdir(parents=True)
    (tmp_path / "notes/.obsidian/app.json").write_text("{}")
    (tmp_path / "notes/Flat.md").write_text("The rent is 900. Mr. Voss gets it.\n")
    assert clawmem("import", str(tmp_path / "notes")).code == 0
    build_wiki(vault, caller)
    assert "Mr. Voss gets it." in (vault.read_text("wiki/resources/flat.md") or "")


def test_written_and_removed_pages_are_counted_apart() -> None:
    assert counted_writes({"a": b"x", "b": None, "c": None}) == "1 written, 2 removed"
    assert counted_writes({"a": b"x", "b": b"y"}) == "2 written"


def test_text_outside_the_markers_stays_and_a_page_without_an_entity_goes(vault: Vault, caller: Caller) -> None:
    add(vault, caller, "Jane prefers tea.")
    add(vault, caller, "The boat is red.", BOAT)
    build_wiki(vault, caller)
    path = vault.root / "wiki" / f"{JANE}.md"
    path.write_text("My own words.\n\n" + path.read_text() + "\nAnd below.\n")
    (vault.root / "wiki/old.md").write_bytes(b"Written in caf\xe9s, before there was UTF-8.\n")
    vault.git.run("add", "wiki/old.md")
    vault.git.run("commit", "-qm", "an old page", "wiki/old.md")
    add(vault, caller, "Jane sails.")
    build_wiki(vault, caller)
    assert path.read_text().startswith("My own words.\n") and path.read_text().endswith("\nAnd below.\n")
    assert "Jane sails." in path.read_text()
    rename_entity(vault, JANE, "janet", caller)
    rename_entity(vault, BOAT, "ship", caller)
    build = build_wiki(vault, caller)
    assert "wiki/projects/boat.md" in build.removed
    assert "My own words." in path.read_text() and "Jane sails." not in path.read_text()
    assert "Jane sails." in page(vault, "areas/people/janet")


def test_conflicts_are_shown_with_both_sides(vault: Vault, caller: Caller) -> None:
    add(vault, caller, "Jane lives in Oslo.", subject="Jane", predicate="lives_in", object="Oslo")
    add(vault, caller, "Jane lives in Bergen.", subject="Jane", predicate="lives_in", object="Bergen")
    build_wiki(vault, caller)
    jane = page(vault, JANE)
    assert "## Open conflicts" in jane and "Oslo" in jane and "Bergen" in jane
    assert "2 facts do not pass the gates" in jane


def test_a_new_conflict_is_shown_on_the_page_of_the_other_side(vault: Vault, caller: Caller) -> None:
    add(vault, caller, "Jane lives in Oslo.", subject="Jane", predicate="lives_in", object="Oslo")
    build_wiki(vault, caller)
    add(vault, caller, "Jane lives in Bergen.", BOAT)
    assert not build_wiki(vault, caller).full
    assert all("## Open conflicts" in page(vault, name) for name in (JANE, BOAT))


def test_a_claim_whose_premise_fell_is_shown_in_doubt(vault: Vault, caller: Caller) -> None:
    premise = add(vault, caller, "The boat is 9 m long.", BOAT)
    resting = add(vault, caller, "Jane rents a large berth.")
    link(vault, resting, "depends_on", premise, caller)
    build_wiki(vault, caller)
    assert "## In doubt" not in page(vault, JANE)
    retract(vault, premise, caller)
    build_wiki(vault, caller)
    assert f"## In doubt\n\n- Jane rents a large berth. To be checked: it rests on {premise}" in page(vault, JANE)


def test_a_day_that_passes_takes_a_claim_away(vault: Vault, caller: Caller) -> None:
    add(vault, caller, "Jane is on leave.", valid_to="2026-11-25")
    build_wiki(vault, caller)
    assert "on leave" in page(vault, JANE)
    later = caller._replace(now=caller.now + timedelta(days=6))
    assert build_wiki(vault, later).written == ("wiki/areas/people/jane.md", "wiki/index.md")
    assert "on leave" not in page(vault, JANE)


def test_a_page_that_was_deleted_or_changed_by_hand_is_made_anew(vault: Vault, caller: Caller) -> None:
    add(vault, caller, "Jane prefers tea.")
    build_wiki(vault, caller)
    path = vault.root / "wiki" / f"{JANE}.md"
    before = path.read_text()
    path.unlink()
    build_wiki(vault, caller)
    assert path.read_text() == before
    path.write_text(before.replace("tea", "coffee"))
    build_wiki(vault, caller)
    assert path.read_text() == before


def test_a_build_says_whose_text_between_the_markers_it_replaced(vault: Vault, caller: Caller) -> None:
    add(vault, caller, "Jane prefers tea.", tags=["sea"])
    add(vault, caller, "Jane sails.", tags=["sea"])
    build_wiki(vault, caller)
    for name in (JANE, "topics/sea"):
        path = vault.root / "wiki" / f"{name}.md"
        before = path.read_text()
        assert before.startswith("<!-- Write here. clawmem rewrites only what is between its two marks below. -->\n\n")
        path.write_text(f"Mine.\n\n{before}")
        assert not any("replaced" in notice for notice in build_wiki(vault, caller).notices)
        path.write_text(path.read_text().replace("Jane", "Tom"))
        notices = build_wiki(vault, caller).notices
        items = [
            notice for notice in notices if "text between the markers of the generated part was replaced" in notice
        ]
        assert len(items) == 1 and items[0].startswith(f"wiki/{name}.md: ")
        commit = items[0].partition(" commit ")[2].partition(":")[0]
        assert b"Tom" in vault.git.run("show", commit)
        assert path.read_text() == f"Mine.\n\n{before}"


def test_a_build_names_the_last_of_several_edits_of_each_page(vault: Vault, caller: Caller) -> None:
    add(vault, caller, "Jane prefers tea.")
    add(vault, caller, "The boat is red.", BOAT)
    build_wiki(vault, caller)
    edits = [(BOAT, "red", "blue"), (JANE, "tea", "milk"), (JANE, "milk", "rum"), (BOAT, "Write here", "Write below")]
    for name, was, now in edits:
        path = vault.root / "wiki" / f"{name}.md"
        path.write_text(path.read_text().replace(was, now))
        vault.git.run("commit", "-qam", f"{was} is {now}")
    notices = [notice for notice in build_wiki(vault, caller).notices if "between the markers" in notice]
    assert [notice.partition(":")[0] for notice in notices] == [f"wiki/{JANE}.md", f"wiki/{BOAT}.md"]
    for notice, subject in zip(notices, ("milk is rum", "red is blue"), strict=True):
        commit = notice.partition(" commit ")[2].partition(":")[0]
        assert vault.git.run("log", "-1", "--format=%s", commit).decode().strip() == subject


def test_a_claim_goes_with_the_message_that_confirmed_it(vault: Vault, caller: Caller) -> None:
    """The revoked message is further evidence: no fact of its day changed."""
    agent = caller._replace(agent="helper")
    days = ("2026-11-10", "2026-11-12")
    for number, day in enumerate(days):
        items = [Message(1, "user", "Jane sails on Sundays.", f"{day}T10:00:00Z", "Jane")]
        ingest(vault, items, agent._replace(session=f"session-{number}"), f"chat {number}")
    events = [json.loads((vault.root / f"ledger/{day}.jsonl").read_text())["id"] for day in days]
    for event in events:
        add(vault, agent, "Jane sails on Sundays.", source_event=event, trust="agent", confidence=0.9)
    build_wiki(vault, caller)
    assert "Jane sails on Sundays." in page(vault, JANE)
    revoke(vault, RevokeOrigin(event=events[1]), caller)
    build_wiki(vault, caller)
    assert "Jane sails on Sundays." not in page(vault, JANE)


NAMES = (JANE, "areas/people/tom", BOAT)
WORDS = ("add", "add", "add", "supersede", "retract", "link", "rename", "move", "day", "write", "build", "curate")
STEPS = st.lists(
    st.tuples(st.sampled_from(WORDS), st.integers(0, 5), st.integers(0, 5)),
    min_size=3,
    max_size=14,
)
# A report links to the page of an entity that moves, and leaves a page behind on which a person wrote.
REPORTED = [("add", 0, 1), ("write", 0, 0), ("build", 0, 0), *[("day", 0, 0)] * 2, ("curate", 0, 0), ("move", 0, 0)]


@pytest.mark.parametrize("rounds", [4, pytest.param(150, marks=pytest.mark.soak)])
def test_an_incremental_build_equals_a_full_one(rounds: int, vault: Vault, caller: Caller) -> None:
    @settings(max_examples=rounds, deadline=None, suppress_health_check=list(HealthCheck), derandomize=rounds < 100)
    @example(REPORTED)
    @given(STEPS)
    def compare(steps: list[tuple[str, int, int]]) -> None:
        history = History(vault, caller)
        for step, number, other in steps:
            history.run(step, number, other)
        build_wiki(vault, history.caller)
        incremental = pages(vault)
        (vault.state / STATE).unlink()
        build_wiki(vault, history.caller)
        assert pages(vault) == incremental

    compare()
    assert any(path.startswith("reports/") for path in pages(vault))


def test_a_full_build_keeps_reports_and_removes_pages_that_another_machine_left(vault: Vault, caller: Caller) -> None:
    """This machine has no state of the build that wrote them."""
    add(vault, caller, "Jane prefers tea.")
    add(vault, caller, "The boat is red.", BOAT)
    build_wiki(vault, caller)
    written = page(vault, BOAT)
    later = caller._replace(now=caller.now + timedelta(days=7))
    report = curate(vault, later).report
    assert report is not None
    data = (vault.root / report).read_bytes()
    rename_entity(vault, BOAT, "ship", later)
    build_wiki(vault, later)
    for name, text in (("projects/boat", written), ("projects/raft", f"Mine.\n\n{written}"), ("mine", "Mine, too.\n")):
        (vault.root / "wiki" / f"{name}.md").write_text(text)
    assert build_wiki(vault, later, full=True).removed == ("wiki/projects/boat.md",)
    assert page(vault, "projects/raft").startswith("Mine.\n") and "The boat is red." not in page(vault, "projects/raft")
    assert page(vault, "mine") == "Mine, too.\n"
    assert (vault.root / report).read_bytes() == data


def test_a_build_after_the_clock_went_back_reads_everything(vault: Vault, caller: Caller) -> None:
    add(vault, caller, "Jane prefers tea.")
    build_wiki(vault, caller._replace(now=caller.now + timedelta(days=7)))
    assert [build_wiki(vault, caller).full for _ in range(2)] == [True, False]


class History:
    """A history of random acts on a few entities."""

    def __init__(self, vault: Vault, caller: Caller) -> None:
        self.vault, self.caller = vault, caller
        self.facts: list[str] = []
        self.names = dict.fromkeys(NAMES, 0)

    def run(self, step: str, number: int, other: int) -> None:
        if step == "add":
            self._add(number, other)
        elif step == "day":
            self.caller = self.caller._replace(now=self.caller.now + timedelta(days=1 + number * 40))
        elif step == "build":
            build_wiki(self.vault, self.caller)
        elif step == "curate":
            curate(self.vault, self.caller)
        elif step == "move":
            self._move(NAMES[number % 3], f"moved-{len(self.facts)}")
        elif step == "rename":
            self._on_entity(number, other)
        elif step == "write":
            self._write(number, other)
        elif self.facts:
            self._on_fact(step, self.facts[number % len(self.facts)], self.facts[other % len(self.facts)])

    def _add(self, number: int, other: int) -> None:
        place, named = NAMES[number % 3], NAMES[other % 3].rpartition("/")[2].capitalize()
        keys: dict[str, object] = {"tags": ["sea"]} if other % 2 else {"valid_to": f"2026-12-0{other + 1}"}
        if number > 2:
            keys |= {"subject": "Jane", "predicate": "lives_in", "object": f"Town {other}"}
        text = f"Jane lives in Town {other}." if number > 2 else f"{named} saw number {len(self.facts)}."
        self.facts.append(add(self.vault, self.caller, text, place, related_entities=[NAMES[other % 3]], **keys))

    def _write(self, number: int, other: int) -> None:
        places = (f"wiki/{NAMES[number % 3]}.md", "wiki/notes.md", "wiki/topics/sea.md")
        path = self.vault.root / places[number // 2]
        before = path.read_text() if path.exists() else ""
        links = ("[[jane]]", "[[people/tom|Tom]]", "[sea](topics/sea.md)", "[[sea]]", "[boat](../projects/boat.md)", "")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"{links[other]}\n" + before if links[other] else before.replace("[[jane]]", "Jane"))

    def _move(self, name: str, new: str) -> None:
        with suppress(ClawmemError):  # there is no such entity yet, or it has that name
            rename_entity(self.vault, name, new, self.caller)

    def _on_entity(self, number: int, other: int) -> None:
        path = f"life/{NAMES[number % 3]}/summary.md"
        data = self.vault.read(path)
        if data is not None:
            title = f"title: Name {other}\n".encode()
            lines = data.splitlines(keepends=True)
            changed = b"".join(title if line.startswith(b"title:") else line for line in lines)
            with transaction(self.vault, self.caller.now, "rename") as txn:
                txn.adopt()
                txn.commit([Change("rename", {path: changed})])

    def _on_fact(self, step: str, fact: str, other: str) -> None:
        acts: dict[str, Callable[[], object]] = {
            "supersede": lambda: self._supersede(fact),
            "retract": lambda: retract(self.vault, fact, self.caller),
            "link": lambda: fact != other and link(self.vault, fact, "depends_on", other, self.caller, "It needs it."),
        }
        try:
            acts[step]()
        except ClawmemError:
            return  # the fact was replaced or withdrawn by an earlier step

    def _supersede(self, fact: str) -> None:
        draft = draft_from_record({"fact": f"Number {len(self.facts)} is what holds."}, self.caller.now)
        self.facts.append(supersede(self.vault, fact, draft, self.caller).facts[0].fact.id)


def test_a_premise_that_does_not_hold_any_more_says_so(vault: Vault, caller: Caller) -> None:
    db = add(vault, caller, "The database is Postgres 14.", BOAT)
    crew = add(vault, caller, "The crew has three people.", BOAT)
    needs = add(vault, caller, "Migrations need a superuser.", BOAT)
    text = add(vault, caller, f"Since [[{db}]], we use pgcrypto.", BOAT)
    link(vault, needs, "depends_on", db, caller, "a default of 14")
    link(vault, needs, "depends_on", crew, caller)
    build_wiki(vault, caller)
    assert page(vault, BOAT).count(f"  - Since The database is Postgres 14 ({db})\n") == 1
    retract(vault, db, caller, "it is MySQL")
    four = draft_from_record({"fact": "The crew has four people."}, caller.now)
    new = supersede(vault, crew, four, caller).facts[0].fact.id
    confirm(vault, needs, caller)
    confirm(vault, text, caller)
    build_wiki(vault, caller)
    shown = page(vault, BOAT)
    assert f"  - Since The database is Postgres 14 ({db}) (withdrawn): a default of 14\n" in shown
    assert f"  - Since The crew has three people ({crew}) (replaced by {new})\n" in shown
    assert f"  - Since The database is Postgres 14 ({db}) (withdrawn)\n" in shown


def test_a_fact_that_is_used_is_not_stale(vault: Vault, caller: Caller) -> None:
    fact = add(vault, caller, "The tool exits with 3.", BOAT, trust="tool", confidence=0.9, source="tool:make")
    other = add(vault, caller, "The tool returns 3.", BOAT, trust="tool", source="tool:ninja")
    link(vault, fact, "supports", other, caller)
    build_wiki(vault, caller)
    assert "- The tool exits with 3." in page(vault, BOAT)
    later = caller._replace(now=caller.now + timedelta(days=190))
    build_wiki(vault, later)
    assert "## In doubt\n\n- The tool exits with 3." in page(vault, BOAT)
    record_access(vault, stamp(later.now), [fact])
    fold_accesses(vault, later)
    build_wiki(vault, later)
    assert "In doubt" not in page(vault, BOAT)
    latest = caller._replace(now=later.now + timedelta(days=190))
    build_wiki(vault, latest)
    assert "In doubt" in page(vault, BOAT)


def test_a_fact_that_a_person_files_elsewhere_leaves_the_page_of_its_old_entity(vault: Vault, caller: Caller) -> None:
    add(vault, caller, "Jane prefers tea.")
    add(vault, caller, "The boat is red.", JANE)
    add(vault, caller, "The boat is 9 m long.", BOAT)
    build_wiki(vault, caller)
    here, there = (vault.root / "life" / name / "items.json" for name in (JANE, BOAT))
    staying, moved = json.loads(here.read_text())
    here.write_text(json.dumps([staying]))
    there.write_text(json.dumps([*json.loads(there.read_text()), moved]))
    assert not build_wiki(vault, caller).full
    assert "The boat is red." not in page(vault, JANE) and "Jane prefers tea." in page(vault, JANE)
    assert "The boat is red." in page(vault, BOAT)


def test_a_topic_that_gets_or_loses_its_page_is_linked_or_not_on_every_page(vault: Vault, caller: Caller) -> None:
    add(vault, caller, "Jane sails.", tags=["sea"])
    build_wiki(vault, caller)
    assert "topics/sea" not in page(vault, JANE)
    boat = add(vault, caller, "The boat crosses the sea.", BOAT, tags=["sea"])
    assert not build_wiki(vault, caller).full
    assert "- [sea](../../topics/sea.md): 1 claim" in page(vault, JANE)
    retract(vault, boat, caller)
    build_wiki(vault, caller)
    assert "topics/sea" not in page(vault, JANE)


def test_a_page_changes_on_the_day_on_which_time_alone_changes_it(vault: Vault, caller: Caller) -> None:
    add(vault, caller, "Jane sails a yawl.", valid_from="2026-11-25")
    add(vault, caller, "The hull is dry.", BOAT, details={"review_by": "2026-11-25"})
    build_wiki(vault, caller)
    before = page(vault, JANE)
    then = caller._replace(now=caller.now + timedelta(days=4))
    build = build_wiki(vault, then)
    assert f"wiki/{JANE}.md" in build.written and not build.full
    assert page(vault, JANE) != before
    assert build_wiki(vault, then, full=True).written == ()


def test_what_people_write_is_found(vault: Vault, caller: Caller, clawmem: Command) -> None:
    add(vault, caller, "The boat is red.", BOAT, tags=["sea"])
    add(vault, caller, "Jane prefers tea.")
    add(vault, caller, "Jane sails.", tags=["sea"])
    build_wiki(vault, caller)
    jane = vault.root / "wiki" / f"{JANE}.md"
    jane.write_text("She learned knitting on the [[boat|old boat]].\n\n" + jane.read_text())
    (vault.root / "wiki/trip.md").write_text(
        "# The trip\n\nWe took the [Boat](projects/boat.md) and the [[topics/sea]].\n"
    )
    assert build_wiki(vault, caller).written == ()
    assert check_pages(vault) == ((), ("wiki/trip.md",))
    assert build_wiki(vault, caller).written == ()
    assert '"path": "wiki/trip.md", "place": 1, "text": "The trip"' in clawmem("recall", "which trip?", "--json").out
    (vault.root / "wiki/trip.md").unlink()
    build_wiki(vault, caller)
    hits = clawmem("recall", "who learned knitting?", "--json").data
    assert "knitting" in json.dumps(hits) and f"wiki/{JANE}.md" in json.dumps(hits)


def test_a_dead_link_fails_the_check(vault: Vault, caller: Caller, clawmem: Command) -> None:
    add(vault, caller, "The boat is red.", BOAT)
    build_wiki(vault, caller)
    assert clawmem("wiki", "check").code == 0
    (vault.root / "wiki/notes.md").write_text("Nothing yet.\n")
    alone = clawmem("wiki", "check")
    assert (alone.code, alone.out) == (0, "wiki/notes.md: no page links to it\n")
    (vault.root / "wiki/notes.md").write_text("See [it](gone.md).\n")
    result = clawmem("wiki", "check")
    assert (result.code, "no page 'gone.md'" in result.out) == (1, True)


def test_what_is_forgotten_is_on_no_page_at_once_and_undo_takes_back_the_forgetting(
    vault: Vault, clawmem: Command
) -> None:
    for words in ("Rosa speaks Norwegian.", "Rosa grows leeks.", "Rosa has a dog."):
        clawmem("remember", words, "-e", "areas/people/rosa")
    clawmem("wiki", "build", "--full")
    page = vault.root / "wiki/areas/people/rosa.md"
    assert "Norwegian" in page.read_text()
    clawmem("forget", "speaks Norwegian", "--yes")
    assert "Norwegian" not in page.read_text() and "leeks" in page.read_text()
    assert "Rosa speaks Norwegian." in clawmem("undo").out
    clawmem("wiki", "build")
    page.write_text(f"<<<<<<< HEAD\n=======\n>>>>>>> other\n{page.read_text()}")
    vault.git.run("commit", "-qam", "half of a merge")
    forgotten = clawmem("forget", "speaks Norwegian", "--yes")
    assert forgotten.code == 0 and "until `clawmem wiki build`" in forgotten.err
    assert "Norwegian" not in clawmem("recall", "what does Rosa speak?").out
