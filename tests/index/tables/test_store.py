"""The index as a file: damaged, foreign, shared, killed and unwritable ones never answer wrongly."""

from __future__ import annotations

import json
import os
import random
import shutil
import signal
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from clawmem.errors import InvalidInput
from clawmem.index.refresh import open_index, rebuild, run_query
from clawmem.index.search.channels import FactFilter
from clawmem.index.search.lookup import all_facts
from clawmem.index.tables import schema, store
from clawmem.index.tables.keyword import Document
from clawmem.index.tables.store import Index, delete_index, index_path, index_size, open_store, stores_kept_open
from clawmem.memory.facts.remember import remember
from clawmem.model.facts.draft import draft_from_record
from clawmem.model.records.caller import Caller
from clawmem.serving.recall.recall import recall
from clawmem.serving.recall.result import RECALL_KINDS
from clawmem.vault.vault import Vault
from tests.conftest import Command, Once
from tests.faults.checks import git
from tests.index.contents import assert_equal_to_a_rebuild
from tests.waiting import wait_until

FACTS = 40
KILLS = 30
# How often a journal is seen before a kill, at most: the kills hit different moments of a write.
LOOKS = 100


def fill(vault: Vault, caller: Caller, count: int = FACTS) -> None:
    """Remember so many facts about two entities."""
    records = ({"fact": f"Jane owns boat number {n}", "entity": f"projects/p{n % 2}"} for n in range(count))
    remember(vault, [draft_from_record(record, caller.now) for record in records], caller)


@pytest.fixture
def filled(once: Once, vault: Vault, caller: Caller) -> Vault:
    """A vault with facts and an index."""

    def build() -> None:
        fill(vault, caller)
        open_index(vault).close()

    once(build)
    return vault


def boats(index: Index) -> int:
    """How many facts a search finds, through both sides of the index."""
    found = {match.n for match in index.engine.search(["boats"], 1000)}
    return len(found & {row[0] for row in index.database.execute("SELECT n FROM fact")})


def real_file(vault: Vault) -> Path:
    """The file that the link names."""
    return index_path(vault).resolve()


@pytest.mark.parametrize("size", [0, 99, 20_000])
def test_a_truncated_index_is_built_anew(filled: Vault, size: int) -> None:
    with real_file(filled).open("r+b") as file:
        file.truncate(size)
    assert run_query(filled, boats) == FACTS
    assert_equal_to_a_rebuild(filled, open_index(filled))


def test_garbage_is_built_anew(filled: Vault) -> None:
    real_file(filled).write_bytes(random.Random(1).randbytes(80_000))
    assert run_query(filled, boats) == FACTS
    assert_equal_to_a_rebuild(filled, open_index(filled))


@pytest.mark.parametrize("page", range(1, 16, 2))
def test_a_spoiled_page_never_gives_a_wrong_answer(filled: Vault, page: int) -> None:
    data = bytearray(real_file(filled).read_bytes())
    start = page * 4096 % len(data)
    data[start : start + 4096] = b"\xff" * len(data[start : start + 4096])
    real_file(filled).write_bytes(data)
    facts = run_query(filled, lambda index: [placed.fact.id for placed in all_facts(index)])
    assert len(set(facts)) == FACTS
    assert run_query(filled, boats) == FACTS


def test_a_missing_link_or_file_is_built_anew(filled: Vault) -> None:
    real_file(filled).unlink()
    assert run_query(filled, boats) == FACTS
    index_path(filled).unlink()
    assert run_query(filled, boats) == FACTS
    assert len(list(filled.state.glob("index-*.sqlite"))) == 1


def test_a_folder_in_its_place_is_reported_and_answers_all_the_same(filled: Vault) -> None:
    delete_index(filled)
    index_path(filled).mkdir()
    index = open_index(filled)
    assert boats(index) == FACTS
    assert not index.kept
    assert "for this command only" in index.notices[-1]
    index.close()


@pytest.mark.parametrize("what", ["version", "boot"])
def test_another_version_or_boot_is_built_anew(filled: Vault, monkeypatch: pytest.MonkeyPatch, what: str) -> None:
    before = real_file(filled)
    if what == "version":
        monkeypatch.setattr(store, "VERSION", schema.VERSION + "x")
    else:
        monkeypatch.setattr(store, "_boot", lambda: "another boot")
    assert open_store(filled) is None
    assert run_query(filled, boats) == FACTS
    assert real_file(filled) != before
    assert not before.exists()


def test_a_copy_is_not_trusted(filled: Vault, environment: dict[str, str]) -> None:
    copy = filled.root.parent / "copy"
    shutil.copytree(filled.root, copy, symlinks=True)
    assert open_store(Vault(copy, environment)) is None
    assert run_query(Vault(copy, environment), boats) == FACTS


def test_the_other_engine_means_another_index(filled: Vault, environment: dict[str, str]) -> None:
    settings = filled.root / "clawmem.yaml"
    before = settings.read_text()
    settings.write_text("format: 1\nindex: {keyword: whoosh}\n")
    other = Vault(filled.root, environment)
    index = open_index(other)
    assert (index.engine.name, boats(index), index.notices) == ("whoosh", FACTS, ())
    index.close()
    assert list(filled.state.glob("index-*.whoosh"))
    assert index_size(other) > real_file(other).stat().st_size
    settings.write_text(before + "\n")
    index = open_index(Vault(filled.root, environment))
    assert (index.engine.name, boats(index)) == ("fts5", FACTS)
    index.close()
    assert not list(filled.state.glob("index-*.whoosh")), "nothing of the old index is left"


@pytest.mark.parametrize("harm", [Path.unlink, lambda path: path.unlink() or path.mkdir()], ids=["torn", "damaged"])
def test_whoosh_torn_between_its_two_commits_or_damaged_is_built_anew(
    filled: Vault, environment: dict[str, str], harm: Callable[[Path], None]
) -> None:
    (filled.root / "clawmem.yaml").write_text("format: 1\nindex: {keyword: whoosh}\n")
    vault = Vault(filled.root, environment)
    open_index(vault).close()
    for path in filled.state.glob("index-*.whoosh/*.toc"):
        harm(path)
    assert open_store(vault) is None
    assert run_query(vault, boats) == FACTS


def test_what_was_rolled_back_is_not_stored_with_the_next_change(filled: Vault, environment: dict[str, str]) -> None:
    (filled.root / "clawmem.yaml").write_text("format: 1\nindex: {keyword: whoosh}\n")
    index = open_index(Vault(filled.root, environment))
    with pytest.raises(KeyboardInterrupt), index.writing():
        index.engine.add([Document(998, "a platypus")])
        raise KeyboardInterrupt
    with index.writing():
        index.engine.add([Document(999, "a wombat")])
    assert [index.engine.count([word], 9) for word in ("platypus", "wombat")] == [0, 1]
    index.close()


# Takes FTS5 (and only what is no table-valued function) out of every connection, as a SQLite built without it is.
_WITHOUT_FTS5 = """
import ctypes, sqlite3
_library = ctypes.CDLL(LIBRARY)
_connect = sqlite3.connect
def connect(*given, **named):
    opened = _connect(*given, **named)
    handle = ctypes.c_void_p.from_address(id(opened) + object.__basicsize__)
    kept = (ctypes.c_char_p * 3)(b"json_each", b"json_tree", None)
    assert _library.sqlite3_drop_modules(handle, kept) == 0
    return opened
sqlite3.connect = connect
"""


def _without_fts5(folder: Path) -> dict[str, str]:
    """An environment in which Python's SQLite has no FTS5; skips where that cannot be brought about."""
    library = next((line.split()[-1] for line in _maps() if "libsqlite3" in line), None)
    if library is None:
        pytest.skip("this Python carries its SQLite inside, where nothing can be taken out of it")
    folder.mkdir()
    (folder / "sitecustomize.py").write_text(_WITHOUT_FTS5.replace("LIBRARY", repr(library)))
    return {"PYTHONPATH": str(folder)}


def _maps() -> list[str]:
    maps = Path("/proc/self/maps")
    sqlite3.connect(":memory:").close()
    return maps.read_text().splitlines() if maps.exists() else []


def test_without_fts5_whoosh_answers_and_says_so(clawmem: Command, tmp_path: Path) -> None:
    lacking = _without_fts5(tmp_path / "site")
    assert clawmem("remember", "Jane owns a boat").code == 0
    plain = clawmem("recall", "boats", "--json")
    assert plain.json["notices"] == []
    for _ in range(2):
        result = clawmem("recall", "boats", "--json", env=lacking)
        assert result.code == 0, result.err
        assert [fact["fact"] for fact in result.data["facts"]] == ["Jane owns a boat"]
        assert result.json["notices"] == ["keyword search runs on whoosh: this Python's SQLite has no FTS5"]
    assert clawmem("remember", "Ravi owns two boats", env=lacking).code == 0
    assert len(clawmem("recall", "boats", "--json", env=lacking).data["facts"]) == 2
    assert len(clawmem("recall", "boats", "--json").data["facts"]) == 2


_READER = """
import os, sys, time
from pathlib import Path
from clawmem.index.refresh import run_query
from clawmem.vault.vault import Vault
root, end = Path(sys.argv[1]), time.monotonic() + float(sys.argv[2])
def look(index):
    rows = {row[0]: row[1] for row in index.database.execute("SELECT n, id FROM fact")}
    first = index.head()
    found = {rows.get(match.n) for match in index.engine.search(["boats"], 10000, thorough=True)}
    assert index.head() == first
    assert found == set(rows.values()), (len(found), len(rows))
    return len(rows)
last, looks = 0, 0
while looks < 6 or time.monotonic() < end:
    now = run_query(Vault(root, os.environ), look)
    assert now >= last, (now, last)
    last, looks = now, looks + 1
print(looks, last)
"""


def test_readers_beside_a_writer_see_whole_states_in_order(
    vault: Vault, caller: Caller, environment: dict[str, str]
) -> None:
    command = [sys.executable, "-c", _READER, str(vault.root), "3"]
    readers = [subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, text=True) for _ in range(3)]
    end, count = time.monotonic() + 3, 0
    while time.monotonic() < end:
        record = {"fact": f"Jane owns boat number {count}", "entity": f"projects/p{count % 3}"}
        result = remember(vault, [draft_from_record(record, caller.now)], caller)
        assert not any("anew" in notice for notice in result.notices)
        count += 1
    for reader in readers:
        printed, _ = reader.communicate(timeout=300)
        assert reader.returncode == 0
        looks, last = map(int, printed.split())
        assert looks > 5
        assert last > count / 4
    assert len(list(vault.state.glob("index-*.sqlite"))) == 1
    assert_equal_to_a_rebuild(vault, open_index(vault))


def test_many_who_find_no_index_build_one(filled: Vault, environment: dict[str, str]) -> None:
    delete_index(filled)
    command = [sys.executable, "-c", _READER, str(filled.root), "0.5"]
    readers = [subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, text=True) for _ in range(4)]
    assert all(reader.wait(300) == 0 for reader in readers)
    assert all(reader.communicate()[0].split()[1] == str(FACTS) for reader in readers)
    assert len(list(filled.state.glob("index-*.sqlite"))) == 1


def test_a_reader_of_the_old_index_keeps_it_while_a_new_one_is_made(filled: Vault) -> None:
    old = open_index(filled)
    with old.snapshot():
        rebuild(filled).close()
        assert boats(old) == FACTS
    old.close()
    assert run_query(filled, boats) == FACTS


_WRITER = """
import os, sys
from pathlib import Path
from clawmem.index import refresh
from clawmem.vault.vault import Vault
vault = Vault(Path(sys.argv[1]), os.environ)
while True:
    for commit in sys.argv[2:]:
        # The index follows whatever HEAD says: let it go back and forth between two commits.
        (vault.git_dir / "HEAD").write_text(commit + "\\n")
        refresh.open_index(vault).close()
        # From now on every moment is one of writing, on a slow machine, too: all that is needed was imported.
        print("ready", flush=True)
"""


@pytest.mark.parametrize(
    ("keyword", "kills"),
    [
        ("fts5", 3),
        ("whoosh", 1),
        *(pytest.param(*row, marks=pytest.mark.soak) for row in (("fts5", KILLS), ("whoosh", 6))),
    ],
)
def test_a_killed_writer_leaves_a_right_index(
    vault: Vault, caller: Caller, environment: dict[str, str], keyword: str, kills: int
) -> None:
    (vault.root / "clawmem.yaml").write_text(f"format: 1\nindex: {{keyword: {keyword}}}\n")
    vault = Vault(vault.root, environment)
    fill(vault, caller, 300)
    first = git(vault.root, environment, "rev-list", "--max-parents=0", "HEAD").split()[0]
    last = git(vault.root, environment, "rev-parse", "HEAD").strip()
    chance, torn = random.Random(keyword), 0
    for number in range(KILLS):
        if number >= kills and (torn or keyword != "fts5"):
            break
        command = [sys.executable, "-c", _WRITER, str(vault.root), first, last]
        writer = subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, text=True)
        assert writer.stdout is not None
        assert [writer.stdout.readline() for _ in range(2)] == ["ready\n"] * 2
        for _ in range(chance.randrange(1, LOOKS)):
            assert wait_until(lambda: any(vault.state.glob("*-journal")))
        writer.send_signal(signal.SIGKILL)
        writer.communicate()
        torn += len(list(vault.state.glob("*-journal")))
        (vault.git_dir / "HEAD").write_text("ref: refs/heads/main\n")
        index = open_index(vault)
        assert index.database.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
        assert boats(index) == 300
        assert len(list(all_facts(index))) == 300
        index.close()
    assert torn > 0 or keyword != "fts5", "no kill hit a write, so this showed nothing"
    assert_equal_to_a_rebuild(vault, open_index(vault))


def test_a_killed_rebuild_leaves_the_old_index_and_its_rest_is_cleared(
    filled: Vault, environment: dict[str, str]
) -> None:
    code = (
        "import os, sys; from pathlib import Path; from clawmem.index import refresh\n"
        "from clawmem.vault.vault import Vault\n"
        "refresh.activate_store = lambda *given: os.kill(os.getpid(), 9)\n"
        "refresh.rebuild(Vault(Path(sys.argv[1]), os.environ))"
    )
    before = real_file(filled)
    process = subprocess.run([sys.executable, "-c", code, str(filled.root)], env=environment, check=False)
    assert process.returncode == -signal.SIGKILL
    assert real_file(filled) == before
    assert len(list(filled.state.glob("index-*.sqlite"))) == 2
    assert run_query(filled, boats) == FACTS
    rebuild(filled).close()
    assert len(list(filled.state.glob("index-*.sqlite"))) == 1


def _read_only(root: Path, *command: str, env: dict[str, str]) -> subprocess.CompletedProcess[bytes]:
    """A command that sees the folder as a read-only disk; skips where the system does not let us make one."""
    mount = f"mount --bind '{root}' '{root}' && mount -o remount,ro,bind '{root}' && "
    unshare = ["unshare", "--mount", "--propagation", "private"] + ([] if os.geteuid() == 0 else ["--map-root-user"])
    if shutil.which("unshare") is None:
        pytest.skip("unshare is not on this machine")
    trial = subprocess.run([*unshare, "sh", "-c", mount + "true"], env=env, capture_output=True, check=False)
    if trial.returncode != 0:
        pytest.skip(f"no read-only mount here: {trial.stderr.decode().strip()}")
    line = mount + 'exec "$@"'
    return subprocess.run([*unshare, "sh", "-c", line, "sh", *command], env=env, capture_output=True, check=False)


@pytest.mark.parametrize("index", ["fresh", "stale", "missing", "damaged"])
def test_a_read_only_vault_answers_and_says_why_it_is_slow(
    filled: Vault, caller: Caller, environment: dict[str, str], index: str
) -> None:
    expected = FACTS
    if index == "stale":
        fill_more = [draft_from_record({"fact": "Jane owns one more boat"}, caller.now)]
        remember(filled, fill_more, caller)
        git(filled.root, environment, "reset", "--quiet", "--hard", "HEAD~1")
    elif index == "missing":
        delete_index(filled)
    elif index == "damaged":
        real_file(filled).write_bytes(b"no index")
    command = (sys.executable, "-m", "clawmem", "recall", "boats", "--limit", "1000", "--json")
    process = _read_only(filled.root, *command, env={**environment, "CLAWMEM_VAULT": str(filled.root)})
    assert process.returncode == 0, process.stderr
    document = json.loads(process.stdout)
    assert len(document["data"]["facts"]) == expected
    slow = [notice for notice in document["notices"] if "for this command only" in notice]
    assert len(slow) == (0 if index == "fresh" else 1), document["notices"]
    assert any("access was not recorded" in notice for notice in document["notices"])


def recalled(vault: Vault, caller: Caller, question: str) -> list[str]:
    """The statements that a search finds, as a server asks again and again."""
    found = recall(vault, question, caller, FactFilter(), 10, RECALL_KINDS).found
    return sorted(hit.fact.fact for hit in found)


@pytest.mark.usefixtures("own_processes")
def test_a_store_that_is_kept_open_sees_what_other_processes_write(
    vault: Vault, caller: Caller, clawmem: Command
) -> None:
    fill(vault, caller, 3)
    with stores_kept_open():
        before = recalled(vault, caller, "who owns a kayak or boat number 1?")
        (first,) = store._KEPT_OPEN.values()
        assert recalled(vault, caller, "who owns a kayak or boat number 1?") == before
        assert {index_path(vault): first} == store._KEPT_OPEN, "the same one"
        clawmem("remember", "Jane owns kayak number 9", "--entity", "projects/p1")
        after = recalled(vault, caller, "who owns a kayak or boat number 1?")
        assert after == sorted([*before, "Jane owns kayak number 9"])
        assert {index_path(vault): first} == store._KEPT_OPEN, "still the same one"
        assert clawmem("undo", "HEAD").code == 0
        assert recalled(vault, caller, "who owns a kayak or boat number 1?") == before
        rebuild(vault).close()
        assert recalled(vault, caller, "who owns a kayak or boat number 1?") == before
        assert {index_path(vault): first} != store._KEPT_OPEN, "another file"
        delete_index(vault)
        assert recalled(vault, caller, "who owns a kayak or boat number 1?") == before
    assert not store._KEPT_OPEN


def test_a_query_that_fails_leaves_no_store_open(vault: Vault, caller: Caller) -> None:
    fill(vault, caller, 1)

    def fails(index: Index) -> None:
        raise InvalidInput("no such thing")

    with stores_kept_open():
        run_query(vault, lambda index: None)
        assert len(store._KEPT_OPEN) == 1
        with pytest.raises(InvalidInput):
            run_query(vault, fails)
        assert not store._KEPT_OPEN
        # One query within another has a store of its own.
        run_query(vault, lambda index: run_query(vault, lambda other: other.head()) == index.head())
        assert len(store._KEPT_OPEN) == 1
