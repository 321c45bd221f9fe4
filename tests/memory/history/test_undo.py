"""Undo restores the state before one operation with a new commit; it is refused if later changes depend on the
operation."""

from __future__ import annotations

import random
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given
from hypothesis import strategies as st

from clawmem.errors import NotFound, Refused
from clawmem.heartbeat.loop import run_heartbeat
from clawmem.index.refresh import open_index
from clawmem.index.search.lookup import all_facts
from clawmem.learning.ingest import ingest, note
from clawmem.memory.entities.entities import archive_entity, create_entity, list_entities
from clawmem.memory.facts.access import fold_accesses
from clawmem.memory.facts.redact import RedactTarget, redact
from clawmem.memory.facts.remember import remember
from clawmem.memory.facts.revise import link, merge, retract, supersede
from clawmem.memory.history.undo import undo
from clawmem.memory.writing import writing
from clawmem.model.facts.codec import render_items
from clawmem.model.facts.draft import Draft, draft_from_record
from clawmem.model.facts.fact import Fact
from clawmem.model.history.redaction import RECORD
from clawmem.model.lifecycle.chain import chain_problems
from clawmem.model.records.caller import Caller
from clawmem.model.records.change import Change, trailers
from clawmem.model.transcripts.message import Message
from clawmem.serving.browse import peek
from clawmem.vault.exchange.create import create_vault
from clawmem.vault.state.journal import record_access
from clawmem.vault.vault import Vault
from tests.conftest import examples

pytestmark = pytest.mark.usefixtures("without_vectors")

PLACE = "areas/people/jane"
ITEMS = f"life/{PLACE}/items.json"


def draft(caller: Caller, words: str, **record: object) -> Draft:
    return draft_from_record({"fact": words, "entity": PLACE, **record}, caller.now)


def keep(vault: Vault, caller: Caller, words: str, **record: object) -> str:
    return remember(vault, [draft(caller, words, **record)], caller).facts[0].fact.id


def facts(vault: Vault) -> dict[str, Fact]:
    index = open_index(vault)
    try:
        return {placed.fact.id: placed.fact for placed in all_facts(index)}
    finally:
        index.close()


def head(vault: Vault) -> str:
    return str(vault.head().commit)


def tree(vault: Vault, commit: str = "HEAD") -> str:
    return vault.git.run("rev-parse", f"{commit}^{{tree}}").decode().strip()


def clean(vault: Vault) -> bool:
    return vault.git.run("status", "--porcelain") == b"" and not chain_problems(facts(vault).values())


def test_a_fact_is_unlearned_with_the_entity_made_for_it(vault: Vault, caller: Caller) -> None:
    before = tree(vault)
    caller = caller._replace(agent="finance")
    text = keep(vault, caller, "Jane likes tea.")
    result = undo(vault, text, caller)
    assert [(each.fact.id, what) for each, what in zip(result.facts, result.outcome, strict=True)] == [
        (text, "removed")
    ]
    assert tree(vault) == before
    assert facts(vault) == {}
    message = vault.git.run("log", "-1", "--format=%an%n%B").decode()
    assert message.startswith(f"finance\nundo({PLACE}): remember({PLACE}): Jane likes tea.\n")
    assert f"Fact: {text}\n" in message
    assert f"Undoes: {result.undone.commit}\n" in message
    assert "Clawmem-Op: undo\n" in message
    assert clean(vault)


def test_a_correction_is_taken_back_from_either_of_its_facts(vault: Vault, caller: Caller) -> None:
    for which in (0, 1):
        old = keep(vault, caller, f"Jane lives in Paris {which}.")
        standing = facts(vault)
        new = supersede(vault, old, draft(caller, f"Jane lives in Rome {which}."), caller).facts[0].fact.id
        undo(vault, (old, new)[which], caller)
        assert facts(vault) == standing
        assert clean(vault)


def test_a_merge_and_a_retraction_are_taken_back(vault: Vault, caller: Caller) -> None:
    text, two = keep(vault, caller, "Jane has a dog."), keep(vault, caller, "Jane has a cat.")
    standing = facts(vault)
    merge(vault, [text, two], draft(caller, "Jane has a dog and a cat."), caller)
    undo(vault, two, caller)
    assert facts(vault) == standing
    retract(vault, text, caller, "wrong")
    undo(vault, "HEAD", caller)
    assert facts(vault) == standing


def test_an_undo_can_be_undone_and_that_again(vault: Vault, caller: Caller) -> None:
    old = keep(vault, caller, "Jane lives in Paris.")
    supersede(vault, old, draft(caller, "Jane lives in Rome."), caller)
    trees = [tree(vault, "HEAD~1"), tree(vault)]
    for turn in range(4):
        undo(vault, head(vault), caller)
        assert tree(vault) == trees[turn % 2]


def test_a_second_undo_says_that_it_was_done(vault: Vault, caller: Caller) -> None:
    text = keep(vault, caller, "Jane likes tea.")
    target = head(vault)
    first = undo(vault, text, caller)
    for reference, words in ((text, "is an undo already"), (target, "undone already")):
        with pytest.raises(Refused, match=words) as refusal:
            undo(vault, reference, caller)
        assert str(first.commit)[:12] in refusal.value.message
    assert head(vault) == first.commit


def test_what_came_back_by_an_undo_of_an_undo_is_not_said_to_be_gone(vault: Vault, caller: Caller) -> None:
    first = keep(vault, caller, "Jane lives in Oslo.")
    taken = undo(vault, first, caller).commit
    back = undo(vault, str(taken), caller).commit
    assert first in facts(vault)
    for commit in (back, None):
        commit = commit or undo(vault, str(back), caller).commit
        with pytest.raises(Refused, match="is an undo already") as raised:
            undo(vault, first, caller)
        assert f"To take that back: `clawmem undo {str(commit)[:12]}`." in raised.value.hint
    assert first not in facts(vault)


def test_other_facts_of_the_commit_and_of_the_entity_stay(vault: Vault, caller: Caller) -> None:
    text, two, three = (keep(vault, caller, f"Jane knows {name}.") for name in ("Ada", "Bob", "Cy"))
    with writing(vault, caller, "test") as work:
        changed = [fact._replace(tags=("friend",)) for fact in work.facts(PLACE)[:2]]
        writes = {ITEMS: render_items([*changed, work.facts(PLACE)[2]])}
        work.commit([Change("tag(x): both", writes, trailers("tag", facts=[text, two]))])
    undo(vault, text, caller)
    assert {key: fact.tags for key, fact in facts(vault).items()} == {text: (), two: ("friend",), three: ()}


def test_a_later_change_is_named_and_refused(vault: Vault, caller: Caller) -> None:
    text = keep(vault, caller, "Jane likes tea.")
    first = head(vault)
    retract(vault, text, caller, "wrong")
    with pytest.raises(Refused, match="changed since") as refusal:
        undo(vault, first, caller)
    assert head(vault)[:12] in refusal.value.message
    assert facts(vault)[text].status == "retracted"


def test_a_later_edit_by_hand_is_named_and_refused(vault: Vault, caller: Caller) -> None:
    keep(vault, caller, "Jane likes tea.")
    first = head(vault)
    items = vault.root / ITEMS
    items.write_text(items.read_text().replace("tea", "coffee"))
    with pytest.raises(Refused, match="by hand"):
        undo(vault, first, caller)
    assert "coffee" in items.read_text()


def test_a_fact_that_another_stands_on_stays(vault: Vault, caller: Caller) -> None:
    base, other = keep(vault, caller, "Jane likes tea."), keep(vault, caller, "Jane owns a kettle.")
    link(vault, other, "depends_on", base, caller)
    with pytest.raises(Refused, match=f"{other} .* depends on {base}"):
        undo(vault, "HEAD~2", caller)
    undo(vault, other, caller)
    undo(vault, base, caller)
    assert list(facts(vault)) == [other]


def test_a_fact_does_not_come_back_pointing_at_nothing(vault: Vault, caller: Caller) -> None:
    base, other = keep(vault, caller, "Jane likes tea."), keep(vault, caller, "Jane owns a kettle.")
    link(vault, other, "depends_on", base, caller)
    unlinked = undo(vault, other, caller)
    undo(vault, base, caller)
    with pytest.raises(Refused, match=f"would point at {base}, which does not exist any more"):
        undo(vault, str(unlinked.commit), caller)


def test_accesses_folded_since_are_kept(vault: Vault, caller: Caller) -> None:
    text = keep(vault, caller, "Jane likes tea.")
    retract(vault, text, caller)
    record_access(vault, "2026-11-21T10:00:00Z", [text])
    fold_accesses(vault, caller)
    undo(vault, text, caller)
    shown = peek(vault, text).fact
    assert (shown.status, shown.access_count) == ("active", 1)
    with pytest.raises(Refused, match="changed no fact"):
        undo(vault, "HEAD~1", caller)


def test_an_entity_made_by_hand_of_others_stays(vault: Vault, caller: Caller) -> None:
    text = keep(vault, caller, "Jane likes tea.")
    other = keep(vault, caller, "Jane likes milk.")
    undo(vault, text, caller)
    assert list(facts(vault)) == [other]
    assert (vault.root / f"life/{PLACE}/summary.md").exists()


def test_a_summary_that_was_edited_keeps_its_entity(vault: Vault, caller: Caller) -> None:
    text = keep(vault, caller, "Jane likes tea.")
    page = vault.root / f"life/{PLACE}/summary.md"
    page.write_text(page.read_text() + "\nMet in Vienna.\n")
    result = undo(vault, text, caller)
    assert "edited since" in result.notices[-1]
    assert (facts(vault), page.exists(), (vault.root / ITEMS).read_text()) == ({}, True, "[]\n")
    assert clean(vault)


def test_making_an_entity_is_undone_while_it_is_empty(vault: Vault, caller: Caller) -> None:
    create_entity(vault, "projects/x", caller)
    made = head(vault)
    text = keep(vault, caller, "X is late.", entity="projects/x")
    with pytest.raises(Refused, match="it has other facts"):
        undo(vault, made, caller)
    undo(vault, text, caller)
    undo(vault, made, caller)
    assert [row.entity.name for row in list_entities(vault).rows] == []


def test_a_move_goes_back_whole_or_not_at_all(vault: Vault, caller: Caller) -> None:
    text = keep(vault, caller, "X is late.", entity="projects/x")
    before = tree(vault)
    remembered = head(vault)
    archive_entity(vault, "projects/x", caller)
    with pytest.raises(Refused, match="changed since"):
        undo(vault, remembered, caller)
    moved = head(vault)
    with pytest.raises(Refused, match="a move"):
        undo(vault, text, caller)
    late = keep(vault, caller, "X is archived.", entity="archives/x")
    with pytest.raises(Refused, match="archives/x has new facts since"):
        undo(vault, moved, caller)
    undo(vault, late, caller)
    undo(vault, moved, caller)
    assert tree(vault) == before


def test_events_go_unless_a_fact_cites_them(vault: Vault, caller: Caller) -> None:
    before = tree(vault)
    ingest(vault, [Message(n, "user", f"Line {n}", "2026-11-20T08:00:00Z") for n in (1, 2)], caller, "chat")
    ingested = head(vault)
    event = (vault.read_text("ledger/2026-11-20.jsonl") or "").split('"id": "')[1].split('"')[0]
    ingest(vault, [Message(1, "user", "Later", "2026-11-20T09:00:00Z")], caller, "chat")
    name = keep(vault, caller, "Jane wrote.", source_event=event)
    with pytest.raises(Refused, match="was learned from"):
        undo(vault, ingested, caller)
    undo(vault, name, caller)
    undo(vault, ingested, caller)
    text = vault.read_text("ledger/2026-11-20.jsonl") or ""
    assert text.count("\n") == 1
    assert "Later" in text
    undo(vault, "HEAD~3", caller)
    assert tree(vault) == before


def test_a_note_and_a_setting_are_taken_back(vault: Vault, caller: Caller) -> None:
    note(vault, "First.", caller)
    first = head(vault)
    note(vault, "Second.", caller)
    undo(vault, first, caller)
    assert vault.read_text("daily/2026-11-21.md") == "# 2026-11-21\n\n- 09:30 Second.\n"
    config = vault.root / "clawmem.yaml"
    original = config.read_text()
    config.write_text(original + "history: {limit: 5}\n")
    note(vault, "Third.", caller)
    edit = vault.git.run("log", "-1", "--format=%H", "--grep=^edit(clawmem.yaml)").decode().strip()
    undo(vault, edit, caller)
    assert config.read_text() == original
    assert clean(vault)


def test_a_file_changed_again_is_refused(vault: Vault, caller: Caller) -> None:
    memory = vault.root / "MEMORY.md"
    memory.write_text("one\n")
    note(vault, "First.", caller)
    edit = vault.git.run("log", "-1", "--format=%H", "--grep=^edit(MEMORY.md)").decode().strip()
    memory.write_text("two\n")
    with pytest.raises(Refused, match=r"MEMORY\.md was changed since, last by .* \(edit\(MEMORY\.md\)"):
        undo(vault, edit, caller)


def test_a_dry_run_plans_the_same_and_writes_nothing(vault: Vault, caller: Caller) -> None:
    text = keep(vault, caller, "Jane likes tea.")
    (vault.root / "MEMORY.md").write_text("edited\n")
    before = head(vault), (vault.root / ITEMS).read_bytes()
    planned = undo(vault, text, caller, dry_run=True)
    assert planned.commit is None
    assert (head(vault), (vault.root / ITEMS).read_bytes()) == before
    result = undo(vault, text, caller)
    assert (planned.facts, planned.outcome, planned.paths) == (result.facts, result.outcome, result.paths)


def test_what_cannot_be_undone_says_why(vault: Vault, caller: Caller) -> None:
    with pytest.raises(Refused, match="created the vault"):
        undo(vault, "HEAD", caller)
    for unknown in ("fact_ffffffffff", "beefbeef", "HEAD~7", "nobody"):
        with pytest.raises(NotFound):
            undo(vault, unknown, caller)
    text = keep(vault, caller, "Jane likes tea.")
    vault.git.run("switch", "-qc", "side", "HEAD~1")
    vault.git.run("-c", "user.name=A", "-c", "user.email=a@b.c", "commit", "-q", "--allow-empty", "-m", "side")
    vault.git.run("switch", "-q", "main")
    vault.git.run("-c", "user.name=A", "-c", "user.email=a@b.c", "merge", "-q", "--no-edit", "side")
    with pytest.raises(Refused, match="is a merge"):
        undo(vault, "HEAD", caller)
    assert undo(vault, text, caller).outcome == ("removed",)


@examples(2, 16, HealthCheck.function_scoped_fixture)
@given(seed=st.integers(0, 10_000))
def test_undoing_every_commit_newest_first_ends_where_it_began(
    seed: int, tmp_path_factory: pytest.TempPathFactory, environment: dict[str, str], caller: Caller
) -> None:
    chance = random.Random(seed)
    mine = caller._replace(entropy=chance.randbytes)
    root: Path = tmp_path_factory.mktemp("undo")
    vault = create_vault(root / "v", environment, caller.now)
    trees = [tree(vault)]
    for number in range(6):
        _some_act(vault, mine, chance, number)
        trees.append(tree(vault))
    acts = vault.git.run("rev-list", "HEAD").decode().split()[:-1]
    wanted = [tree(vault, f"{name}^") for name in acts]
    for name, expected in zip(acts, wanted, strict=True):
        undo(vault, name, mine)
        assert tree(vault) == expected
        assert clean(vault)
    assert tree(vault) == trees[0]


def test_a_redaction_stays_done(vault: Vault, caller: Caller, environment: dict[str, str]) -> None:
    """Without its record the next sync would bring the text back."""
    fact = keep(vault, caller, "The codeword is xyzzy-plugh-42.")
    redact(vault, RedactTarget(pattern="xyzzy-plugh-42"), caller)
    vault = Vault(vault.root, environment)
    made = head(vault)
    for reference in ("HEAD", made[:12], fact):
        for dry_run in (True, False):
            with pytest.raises(Refused, match="redacted a secret, which cannot be undone"):
                undo(vault, reference, caller, dry_run)
    with pytest.raises(Refused, match="was changed since") as refused:
        undo(vault, "HEAD~1", caller)
    assert "A redaction cannot be undone" in refused.value.hint
    retract(vault, fact, caller)
    undo(vault, fact, caller)
    (left,) = facts(vault).values()
    assert left.is_current and left.metadata and "redacted" in left.metadata
    assert vault.contents_at("HEAD", [RECORD]) == vault.contents_at(made, [RECORD])


def test_a_commit_that_brought_a_record_back_is_undone_without_it(
    vault: Vault, caller: Caller, environment: dict[str, str]
) -> None:
    keep(vault, caller, "The codeword is xyzzy-plugh-42.")
    redact(vault, RedactTarget(pattern="xyzzy-plugh-42"), caller)
    vault = Vault(vault.root, environment)
    git = vault.git.run
    record = (vault.root / RECORD).read_bytes()
    git("rm", "-q", RECORD)
    git("commit", "-qm", "away")
    undo(vault, "HEAD", caller)
    assert (vault.root / RECORD).read_bytes() == record
    (vault.root / "MEMORY.md").write_text("# Mine\n")
    git("commit", "-qam", "more")
    with pytest.raises(Refused, match="must be kept"):
        undo(vault, "HEAD~1", caller)
    assert (vault.root / RECORD).read_bytes() == record


def test_the_undo_of_a_fact_passes_over_what_the_heartbeat_did_to_it(vault: Vault, caller: Caller) -> None:
    leeds = keep(vault, caller, "Jane lives in Leeds.")
    run_heartbeat(vault, caller)
    assert facts(vault)[leeds].object == "Leeds"
    bergen = supersede(vault, leeds, draft(caller, "Jane lives in Bergen."), caller).facts[-1].fact.id
    run_heartbeat(vault, caller)
    assert undo(vault, bergen, caller).undone.op == "supersede"
    assert facts(vault).keys() == {leeds} and facts(vault)[leeds].is_current
    with pytest.raises(Refused, match="is an undo already"):
        undo(vault, leeds, caller)
    assert undo(vault, None, caller).undone.op == "remember" and not facts(vault)


def test_undo_alone_goes_back_through_what_its_caller_did(vault: Vault, caller: Caller) -> None:
    scout = caller._replace(agent="scout")
    first = keep(vault, caller, "Jane lives in Leeds.")
    run_heartbeat(vault, caller._replace(unattended=True))
    second = keep(vault, caller, "Jane likes tea.")
    run_heartbeat(vault, caller._replace(unattended=True))
    theirs = keep(vault, scout, "Jane has a boat.")
    assert undo(vault, None, caller).facts[0].fact.id == second
    assert undo(vault, None, scout).facts[0].fact.id == theirs
    with pytest.raises(Refused, match="no change of scout stands"):
        undo(vault, None, scout)
    assert undo(vault, None, caller).facts[0].fact.id == first
    assert not facts(vault)
    with pytest.raises(Refused, match="no change of"):
        undo(vault, None, caller)


@pytest.mark.parametrize("change", ["retract", "supersede"])
def test_undo_alone_goes_on_to_what_was_there_before_an_undone_fact(vault: Vault, caller: Caller, change: str) -> None:
    first = keep(vault, caller, "One is 1.")
    second = keep(vault, caller, "Two is 2.")
    if change == "retract":
        retract(vault, second, caller)
    else:
        supersede(vault, second, draft(caller, "Two is 3."), caller)
    assert [undo(vault, None, caller).undone.op for _ in range(2)] == [change, "remember"]
    undo(vault, head(vault), caller)  # what an undo takes back stands again
    assert undo(vault, None, caller).facts[0].fact.id == second
    assert undo(vault, None, caller).facts[0].fact.id == first
    assert not facts(vault)


def _some_act(vault: Vault, caller: Caller, chance: random.Random, number: int) -> None:
    standing = [key for key, fact in facts(vault).items() if fact.is_current]
    choice = chance.choice(["keep", "keep", "supersede", "retract", "merge", "link", "archive", "note"])
    entity = chance.choice([PLACE, "projects/x"])
    if choice == "note":
        note(vault, f"Note {number}.", caller)
    elif choice == "supersede" and standing:
        supersede(vault, chance.choice(standing), draft(caller, f"Newer {number}."), caller)
    elif choice == "retract" and standing:
        retract(vault, chance.choice(standing), caller)
    elif choice == "merge" and len(standing) > 1:
        merge(vault, chance.sample(standing, 2), draft(caller, f"Joined {number}."), caller)
    elif choice == "link" and len(standing) > 1:
        text, other = chance.sample(standing, 2)
        link(vault, text, "supports", other, caller)
    elif choice == "archive" and "projects/x" in {row.entity.name for row in list_entities(vault).rows}:
        archive_entity(vault, "projects/x", caller)
    else:
        keep(vault, caller, f"Fact {number}.", entity=entity)
