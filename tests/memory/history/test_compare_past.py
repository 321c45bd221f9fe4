"""The past: which commit a text means, what is read there, and which index is kept."""

from __future__ import annotations

import hashlib
import json
import os
import random
import shutil
import sqlite3
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime, timedelta
from pathlib import Path

import pytest

from clawmem.errors import AmbiguousId, ClawmemError, InvalidInput, NotFound, Refused
from clawmem.index.refresh import open_index
from clawmem.index.search.channels import FactFilter
from clawmem.index.tables.store import index_path, open_store
from clawmem.memory.facts.remember import remember
from clawmem.memory.facts.revise import supersede
from clawmem.memory.health.repair import reindex
from clawmem.memory.history.compare import PastVault, open_past
from clawmem.model.facts.draft import draft_from_record
from clawmem.model.language.dates import stamp
from clawmem.model.records.caller import Caller
from clawmem.serving.browse import list_facts, show_fact
from clawmem.serving.recall.recall import recall
from clawmem.vault.past import MAX_KEPT
from clawmem.vault.state.journal import unfolded_accesses
from clawmem.vault.vault import Vault
from tests.command_server import shared_server
from tests.conftest import Once


def keep(vault: Vault, caller: Caller, words: str, days: float = 0) -> str:
    """Remember a fact some days after now; returns the commit."""
    moment = caller._replace(now=caller.now + timedelta(days=days))
    result = remember(vault, [draft_from_record({"fact": words, "entity": "projects/x"}, moment.now)], moment)
    return str(result.commit)


def said(then: PastVault) -> list[str]:
    return sorted(placed.fact.fact for placed, _ in list_facts(then.vault, then.caller, FactFilter()).facts)


def plain_git(vault: Vault, *arguments: str) -> str:
    """git as a person runs it."""
    printed = vault.git.run("-c", "user.name=Ada", "-c", "user.email=ada@example.org", *arguments)
    return printed.decode().strip()


@pytest.fixture
def three(once: Once, vault: Vault, caller: Caller) -> list[str]:
    """Commits of three days that follow each other; the last is HEAD."""
    return once(lambda: [keep(vault, caller, f"Said on day {day}.", day) for day in (1, 2, 3)])


@pytest.fixture
def later(caller: Caller) -> Caller:
    """The same person ten days later."""
    return caller._replace(now=caller.now + timedelta(days=10))


def test_a_point_is_a_commit_its_beginning_a_tag_or_a_way_to_it(vault: Vault, three: list[str], later: Caller) -> None:
    plain_git(vault, "tag", "start", three[0])
    plain_git(vault, "tag", "-a", "-m", "said", "v1", three[0])
    for text in (three[0], three[0][:9], "start", "v1", "HEAD~2", f" {three[0][:12]} "):
        then = open_past(vault, later, text)
        assert (then.vault.commit, said(then)) == (three[0], ["Said on day 1."])
        assert stamp(then.caller.now) == then.point.time == "2026-11-22T09:30:00Z"
    assert said(open_past(vault, later, "HEAD")) == [f"Said on day {day}." for day in (1, 2, 3)]


def test_a_date_is_the_last_commit_at_or_before_it(vault: Vault, three: list[str], later: Caller) -> None:
    for text, commits, clock in (
        ("2026-11-21", 0, "2026-11-21T23:59:59Z"),
        ("2026-11-22", 1, "2026-11-22T23:59:59Z"),
        ("2026-11-22T09:29:59Z", 0, "2026-11-22T09:29:59Z"),
        ("2026-11-22T09:30:00Z", 1, "2026-11-22T09:30:00Z"),
        ("2026-11-22T10:30:00+01:00", 1, "2026-11-22T09:30:00Z"),
        ("2026-11-22T08:30:00-02:00", 1, "2026-11-22T10:30:00Z"),
        ("7d", 3, "2026-11-24T23:59:59Z"),
        ("yesterday", 3, "2026-11-30T23:59:59Z"),
        ("2030-01-01", 3, "2026-12-01T09:30:00Z"),
        ("2026-11", 3, "2026-11-30T23:59:59Z"),
        ("2026", 3, "2026-12-01T09:30:00Z"),
    ):
        then = open_past(vault, later, text)
        assert (text, len(said(then)), stamp(then.caller.now)) == (text, commits, clock)


@pytest.mark.parametrize(
    ("text", "kind", "words"),
    [
        ("beefbeef", NotFound, "no commit 'beefbeef'"),
        ("no-such-tag", NotFound, "no commit 'no-such-tag'"),
        ("--all", NotFound, "no commit '--all'"),
        ("", NotFound, "no commit ''"),
        ("2026-02-30", InvalidInput, "'2026-02-30' is not a date"),
        ("21.11.2026", InvalidInput, "'21.11.2026' is not a date"),
        ("2020", NotFound, "The vault was still empty at 2020: its first commit is from 2026-11-21T"),
        ("2027", NotFound, "no commit '2027'"),
        ("2020-01-01", NotFound, "The vault was still empty at 2020-01-01: its first commit is from 2026-11-21T"),
    ],
)
def test_what_is_no_point_is_said(
    vault: Vault, three: list[str], later: Caller, text: str, kind: type[ClawmemError], words: str
) -> None:
    with pytest.raises(kind, match=words) as caught:
        open_past(vault, later, text)
    assert caught.value.hint


def test_a_commit_of_another_branch_is_refused(vault: Vault, three: list[str], later: Caller) -> None:
    tree = plain_git(vault, "rev-parse", "HEAD^{tree}")
    aside = plain_git(vault, "commit-tree", tree, "-p", three[1], "-m", "aside")
    with pytest.raises(NotFound, match="not part of this vault's history"):
        open_past(vault, later, aside)


def test_a_beginning_of_several_commits_is_ambiguous(vault: Vault, three: list[str], later: Caller) -> None:
    tree = plain_git(vault, "rev-parse", "HEAD^{tree}")
    seen: dict[str, int] = {}
    # At a pinned time, so that the same two begin alike in every run.
    pinned = {"GIT_AUTHOR_DATE": "@1790000000 +0000", "GIT_COMMITTER_DATE": "@1790000000 +0000"}
    with vault.git.with_environment(pinned):
        first = plain_git(vault, "commit-tree", tree, "-m", "0")
        begin = plain_git(vault, "cat-file", "commit", first).removesuffix("0")
        for number in range(5000):
            text = f"{begin}{number}\n".encode()
            name = hashlib.sha1(b"commit %d\0%s" % (len(text), text)).hexdigest()
            if name[:4] in seen and not name[:4].isdigit():  # four digits are a year
                break
            seen[name[:4]] = number
        for message in (seen[name[:4]], number):
            made = plain_git(vault, "commit-tree", tree, "-m", str(message))
    assert made == name
    with pytest.raises(AmbiguousId, match=f"'{name[:4]}' matches 2 ids"):
        open_past(vault, later, name[:4])


def test_a_shallow_copy_says_where_its_history_begins(
    vault: Vault, three: list[str], later: Caller, tmp_path: Path, environment: dict[str, str]
) -> None:
    plain_git(vault, "clone", "--quiet", "--depth", "2", f"file://{vault.root}", str(tmp_path / "copy"))
    copy = Vault(tmp_path / "copy", environment)
    assert len(said(open_past(copy, later, three[1]))) == 2
    with pytest.raises(NotFound, match="shallow, its history starts at 2026-11-23T09:30:00Z") as caught:
        open_past(copy, later, "2026-11-22")
    assert "--unshallow" in caught.value.hint
    with pytest.raises(NotFound) as caught:
        open_past(copy, later, three[0])
    assert "--unshallow" in caught.value.hint


def test_settings_catalog_and_pages_are_those_of_then(vault: Vault, caller: Caller, later: Caller) -> None:
    keep(vault, caller, "Jane lives in Oslo.")
    page = vault.root / "life/projects/x/summary.md"
    settings, catalog = vault.root / "clawmem.yaml", vault.root / "predicates.yaml"
    for number, path in enumerate((page, settings, catalog)):
        path.write_text(path.read_text() + f"\n# written later {number}\n")
    settings.write_text(settings.read_text().replace("limit: 10", "limit: 3"))
    catalog.write_text("dwells_in:\n  cardinality: single\n")
    plain_git(vault, "commit", "-qam", "by hand")
    then, now = open_past(vault, later, "HEAD~1"), open_past(vault, later, "HEAD")
    assert [past_vault.vault.settings.whole("defaults.limit") for past_vault in (then, now)] == [10, 3]
    assert "lives_in" in str(then.vault.catalog)
    assert "dwells_in" in str(now.vault.catalog)
    name = "life/projects/x/summary.md"
    assert "later" not in str(then.vault.read_text(name))
    assert "later" in str(now.vault.read_text(name))
    assert then.vault.read("life/projects/y/summary.md") is None
    assert then.vault.read("clawmem.yaml") != now.vault.read("clawmem.yaml")
    with pytest.raises(InvalidInput):
        then.vault.read("../outside")


def test_settings_that_cannot_be_read_give_way_to_todays_and_that_is_said(
    vault: Vault, caller: Caller, later: Caller
) -> None:
    keep(vault, caller, "Jane lives in Oslo.")
    good = {name: (vault.root / name).read_bytes() for name in ("clawmem.yaml", "predicates.yaml")}
    for name in good:
        (vault.root / name).write_text("a: [\n")
    plain_git(vault, "commit", "-qam", "broken")
    for name, data in good.items():
        (vault.root / name).write_bytes(data)
    plain_git(vault, "commit", "-qam", "mended")
    then = open_past(Vault(vault.root, vault.git.environment), later, "HEAD~1")
    assert said(then) == ["Jane lives in Oslo."]
    assert [sum(name in notice for notice in then.notices) for name in good] == [1, 1]


def test_looking_back_counts_no_access_and_cannot_write(vault: Vault, three: list[str], later: Caller) -> None:
    recall(vault, "what was said on day 1?", later, FactFilter(), 5)
    journal = unfolded_accesses(vault)
    then = open_past(vault, later, three[1])
    found = recall(then.vault, "what was said on day 1?", then.caller, FactFilter(), 5).found
    assert [hit.fact.access_count for hit in found] == [0, 0]
    assert show_fact(then.vault, found[0].fact.id, then.caller).fact.access_count == 0
    assert (unfolded_accesses(vault), unfolded_accesses(then.vault)) == (journal, b"")
    with pytest.raises(Refused, match="cannot be changed"):
        keep(then.vault, then.caller, "Never said.")


def test_a_fact_that_came_later_is_named_as_such(vault: Vault, three: list[str], later: Caller) -> None:
    last = next(
        placed.fact.id for placed, _ in list_facts(vault, later, FactFilter()).facts if "day 3" in placed.fact.fact
    )
    then = open_past(vault, later, three[0])
    with pytest.raises(NotFound, match=f"{last} was not in the vault then; it was recorded at 2026-11-24T09:30:00Z"):
        show_fact(then.vault, last, then.caller)
    with pytest.raises(NotFound, match="No fact has the id"):
        show_fact(then.vault, "fact_00000000", then.caller)


def test_a_second_look_opens_what_the_first_built(vault: Vault, three: list[str], later: Caller) -> None:
    then = open_past(vault, later, three[1])
    said(then)
    built = os.path.realpath(index_path(then.vault))
    again = open_past(vault, later, three[1])
    assert len(said(again)) == 2
    # A new index would have a new name.
    assert os.path.realpath(index_path(again.vault)) == built
    assert os.path.realpath(index_path(vault)) != built


def test_only_the_points_used_last_are_kept(vault: Vault, caller: Caller) -> None:
    commits = [keep(vault, caller, f"Fact {number}.", number) for number in range(MAX_KEPT + 3)]
    folder = vault.state / "at"
    for age, commit in enumerate(reversed(commits[:-1])):
        said(open_past(vault, caller, commit))
        os.utime(folder / commit, (2_000_000_000 - age, 2_000_000_000 - age))
    assert len(list(folder.iterdir())) == MAX_KEPT
    first_kept = commits[-2]
    open_past(vault, caller, first_kept)
    said(open_past(vault, caller, commits[-1]))
    assert {path.name for path in folder.iterdir()} >= {commits[-1]}
    assert len(list(folder.iterdir())) == MAX_KEPT
    reindex(vault)
    assert not folder.exists()
    assert len(said(open_past(vault, caller, commits[0]))) == 1


def test_the_present_index_is_never_mistaken_for_one_of_the_past(vault: Vault, three: list[str], later: Caller) -> None:
    then = open_past(vault, later, three[0])
    said(then)
    own = os.path.realpath(index_path(vault))
    keep(vault, later, "Said today.")
    assert os.path.realpath(index_path(vault)) == own
    assert len(said(then)) == 1
    assert len(list_facts(vault, later, FactFilter()).facts) == 4


def _begun_as_a_copy(then: PastVault) -> bool:
    index = open_index(then.vault)
    try:
        return index.meta("mark") == "copied along"
    finally:
        index.close()


def test_near_points_begin_as_a_copy_of_the_present_and_far_ones_do_not(
    vault: Vault, caller: Caller, later: Caller
) -> None:
    first = keep(vault, caller, "The first of all.")
    drafts = [
        draft_from_record({"fact": f"Number {n} likes tea and boats.", "entity": f"resources/r{n % 40}"}, caller.now)
        for n in range(400)
    ]
    remember(vault, drafts, caller)
    near = str(vault.head().commit)
    old = list_facts(vault, caller, FactFilter(entity="resources/r7")).facts[0][0].fact.id
    supersede(vault, old, draft_from_record({"fact": "Number 7 likes chess."}, caller.now), caller)
    present = open_index(vault)
    present.set_meta("mark", "copied along")
    present.close()
    then, far = open_past(vault, later, near), open_past(vault, later, first)
    assert _begun_as_a_copy(then)
    assert not _begun_as_a_copy(far)
    assert (len(said(then)), len(said(far))) == (401, 1)
    found = recall(then.vault, "who likes chess?", then.caller, FactFilter(), 5)
    assert "Number 7 likes chess." not in [hit.fact.fact for hit in found.found]
    index = open_store(then.vault)
    assert index is not None
    assert index.head() == near
    index.close()


def _cut_short(path: Path) -> None:
    os.truncate(path, 5000)


def _overwrite(path: Path) -> None:
    with path.open("r+b") as file:
        file.seek(4096)
        file.write(random.Random(1).randbytes(path.stat().st_size - 4096))


@pytest.mark.parametrize("spoil", [Path.unlink, _cut_short, _overwrite])
def test_a_damaged_index_of_the_past_is_built_anew(
    vault: Vault, three: list[str], later: Caller, spoil: Callable[[Path], None]
) -> None:
    said(open_past(vault, later, three[1]))
    then = open_past(vault, later, three[1])
    spoil(Path(os.path.realpath(index_path(then.vault))))
    assert said(then) == ["Said on day 1.", "Said on day 2."]


def test_a_damaged_present_index_does_not_spoil_the_past(vault: Vault, three: list[str], later: Caller) -> None:
    open_index(vault).close()
    _overwrite(Path(os.path.realpath(index_path(vault))))
    assert said(open_past(vault, later, three[1])) == ["Said on day 1.", "Said on day 2."]


def test_where_nothing_can_be_kept_the_past_is_read_in_memory(vault: Vault, three: list[str], later: Caller) -> None:
    open_index(vault).close()
    (vault.state / "at").write_text("a file in the way\n")
    then = open_past(vault, later, three[0])
    message = list_facts(then.vault, then.caller, FactFilter())
    assert [placed.fact.fact for placed, _ in message.facts] == ["Said on day 1."]
    assert "the index is built for this command only" in message.notices[0]
    assert (vault.state / "at").read_text() == "a file in the way\n"


def test_a_half_built_index_is_no_index(vault: Vault, three: list[str], later: Caller) -> None:
    folder = vault.state / "at" / three[1]
    folder.mkdir(parents=True)
    database = sqlite3.connect(folder / "index-dead.sqlite")
    database.execute("CREATE TABLE fact (n INTEGER)")
    database.close()
    assert len(said(open_past(vault, later, three[1]))) == 2
    assert not (folder / "index-dead.sqlite").exists()


def test_many_may_look_back_at_once(vault: Vault, three: list[str], environment: dict[str, str]) -> None:
    shutil.rmtree(vault.state / "at", ignore_errors=True)

    def look(commit: str) -> list[str]:
        words = ("recall", "what was said?", "--json", "--at", commit)
        process = shared_server().run(words, b"", vault.root, environment, seconds=120)
        assert process.returncode == 0, process.stderr
        return [fact["fact"] for fact in json.loads(process.stdout)["data"]["facts"]]

    with ThreadPoolExecutor(6) as pool:
        found = list(pool.map(look, (three[0], three[1]) * 3))
    assert [facts.count("Said on day 2.") for facts in found] == [0, 1] * 3


def test_the_clock_of_a_commit_from_the_future_is_its_own(vault: Vault, caller: Caller) -> None:
    ahead = keep(vault, caller, "Said by a clock that is ahead.", 400)
    assert open_past(vault, caller, ahead).caller.now == caller.now + timedelta(days=400)
    assert isinstance(open_past(vault, caller, "today").caller.now, datetime)
