"""Every verb on a damaged repository: a clear sentence and the right code, or the truth; never a bug, never less than
all in silence."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from clawmem.vault.vault import Vault
from tests.conftest import Command
from tests.faults.checks import facts, git
from tests.faults.scenarios import keep

pytestmark = pytest.mark.usefixtures("without_vectors", "own_processes")

VERBS = (
    ("list", "--json"),
    ("recall", "Where does Jane live?", "--json"),
    ("status", "--json"),
    ("log", "--json"),
    ("remember", "The boat is blue.", "--entity", "projects/boat", "--json"),
    ("heartbeat", "--json"),
    ("doctor", "--full", "--json"),
)
KNOWN = ("Jane lives in Oslo.", "Jane plays the cello.")


def _head(words: bytes) -> Callable[[Vault], object]:
    return lambda vault: (vault.git_dir / "HEAD").write_bytes(words)


def _branch(words: bytes) -> Callable[[Vault], object]:
    return lambda vault: (vault.git_dir / "refs/heads/main").write_bytes(words)


def _config(vault: Vault) -> None:
    (vault.git_dir / "config").write_bytes(b"[core\n\x00\xff nonsense")


def _index(vault: Vault) -> None:
    place = vault.git_dir / "index"
    data = bytearray(place.read_bytes())
    data[60] ^= 255
    data[:4] = b"EVIL"
    place.write_bytes(data)


def _no_index(vault: Vault) -> None:
    (vault.git_dir / "index").unlink()


def _objects(vault: Vault) -> None:
    shutil.rmtree(vault.git_dir / "objects")
    (vault.git_dir / "objects").mkdir()


def _search(vault: Vault) -> None:
    place = (vault.state / "index.sqlite").resolve()
    data = bytearray(place.read_bytes())
    data[4096:] = bytes(len(data) - 4096)
    place.write_bytes(data)


def _dot_git(vault: Vault) -> None:
    vault.git_dir.rename(vault.root.parent / "elsewhere")
    (vault.root / ".git").write_bytes(b"gitdir: ../elsewh\x00re\xff\n")


def _packed(vault: Vault) -> None:
    git(vault.root, vault.git.environment, "pack-refs", "--all")
    place = vault.git_dir / "packed-refs"
    place.write_bytes(place.read_bytes().replace(b"refs/heads/main", b"refs/heads/mbin"))


def _detached(vault: Vault) -> None:
    git(vault.root, vault.git.environment, "checkout", "-q", "--detach")


def _note(vault: Vault) -> None:
    (vault.state / "pending.json").write_bytes(b'{"parent": null, "paths": ["../x"], "subject": "", "consumes": []}')


STATES: dict[str, tuple[Callable[[Vault], object], str | None]] = {
    "HEAD is nonsense": (_head(b"\xff\xfenonsense\n"), ".git/HEAD is damaged"),
    "HEAD is empty": (_head(b"\n"), ".git/HEAD is damaged"),
    "HEAD names no branch there is": (_head(b"ref: refs/heads/maio\n"), "which has no commit"),
    "the branch is empty": (_branch(b"\n"), ".git/refs/heads/main is damaged"),
    "the branch is nonsense": (_branch(b"\xff" * 41), ".git/refs/heads/main is damaged"),
    "the branch leads nowhere": (_branch(b"1" * 40 + b"\n"), None),
    "the packed branch has another name": (_packed, "which has no commit"),
    "git's settings are nonsense": (_config, None),
    "git's index is nonsense": (_index, None),
    "git's index is gone": (_no_index, None),
    "all objects are gone": (_objects, None),
    "the search index is zeros": (_search, None),
    ".git is a file of nonsense": (_dot_git, "is not a git repository of its own"),
    "HEAD is detached": (_detached, None),
    "the note of a change names a strange path": (_note, None),
}
FINE = frozenset(("git's index is gone", "the search index is zeros"))


@pytest.mark.parametrize("state", STATES)
@pytest.mark.few(4)
def test_every_verb_in_every_state(vault: Vault, clawmem: Command, state: str) -> None:
    keep(vault, *KNOWN, entity="areas/people/jane")
    assert clawmem("list").code == 0
    damage, words = STATES[state]
    damage(vault)
    for verb in VERBS:
        result = clawmem(*verb)
        assert result.code in (0, 1, 2, 4, 10, 11, 12), (verb, result)
        document = result.json
        if verb[0] == "list" and result.code == 0:
            assert {fact["fact"] for fact in document["data"]["facts"]} >= set(KNOWN), (verb, result)
        if verb[0] == "doctor" and state not in FINE:
            assert result.code != 0, result
        if not document["ok"]:
            assert document["error"]["hint"], (verb, document)
            assert document["error"]["code"] != "bug"
        if words and verb[0] == "remember":
            assert any(word in str(document["error"]) for word in words.split("|")), document


def test_an_edit_of_the_catalog_that_does_not_parse_keeps_nobody_from_asking(vault: Vault, clawmem: Command) -> None:
    clawmem("remember", "Jane lives in Oslo", "--subject", "Jane", "--predicate", "lives_in", "--object", "Oslo")
    path = vault.root / "predicates.yaml"
    good = path.read_text()
    for broken in ("[: broken", "lives_in: 5\n", "\xff"):
        path.write_text(broken, encoding="latin-1")
        found = clawmem("recall", "Where does Jane live?", "--json").data
        assert found["channels"]["predicate"]["hits"] == 1
        assert "Jane lives in Oslo" in clawmem("context").out
        assert clawmem("doctor").code == 1
    path.write_text("[: broken")
    vault.git.run("commit", "--quiet", "--all", "--message", "by hand")
    lacking = clawmem("recall", "Jane")
    assert (lacking.code, "Jane lives in Oslo" in lacking.out) == (4, True)
    assert "predicates.yaml cannot be read" in lacking.err
    assert clawmem("context").code == 4
    path.write_text(good)
    assert clawmem("recall", "Jane").code == 0


def test_an_unborn_branch_beside_a_history_never_begins_another(vault: Vault, clawmem: Command) -> None:
    """A commit on it would have no parent, and all that was known would look forgotten."""
    keep(vault, *KNOWN, entity="areas/people/jane")
    head = vault.head().commit
    (vault.git_dir / "HEAD").write_bytes(b"ref: refs/heads/maio\n")
    (vault.root / "MEMORY.md").write_text("# An edit by hand\n")
    for verb in (("heartbeat",), ("init", str(vault.root)), ("remember", "Lost.")):
        assert clawmem(*verb).code in (1, 4, 11), verb
    assert not (vault.git_dir / "refs/heads/maio").exists()
    (vault.git_dir / "HEAD").write_bytes(b"ref: refs/heads/main\n")
    assert clawmem("doctor").code == 0
    assert git(vault.root, vault.git.environment, "merge-base", "--is-ancestor", str(head), "HEAD") == ""
    assert len(facts(vault.root)) == 2


def test_bytes_that_fell_over_without_a_trace_are_not_committed(
    vault: Vault, clawmem: Command, environment: dict[str, str]
) -> None:
    """A disk that alters a byte leaves the file's times and size, by which git knows what changed."""
    import os

    keep(vault, *KNOWN, entity="areas/people/jane")
    git(vault.root, environment, "config", "core.trustctime", "false")
    items = vault.root / "life/areas/people/jane/items.json"
    os.utime(items, ns=(1_700_000_000_000_000_000, 1_700_000_000_000_000_000))
    git(vault.root, environment, "update-index", "--refresh")
    items.write_bytes(items.read_bytes().replace(b"Oslo", b"Nslo"))
    os.utime(items, ns=(1_700_000_000_000_000_000, 1_700_000_000_000_000_000))
    assert git(vault.root, environment, "status", "--porcelain") == ""
    result = clawmem("remember", "Jane has a cat.", "--entity", "areas/people/jane", "--json")
    assert result.code == 11
    assert "the disk altered it" in result.json["error"]["message"]
    found = clawmem("doctor", "--json")
    assert found.code == 1
    (problem,) = [other_problem for other_problem in found.data["problems"] if other_problem["check"] == "altered"]
    assert problem["path"] == "life/areas/people/jane/items.json"
    assert "index" not in {other_problem["check"] for other_problem in found.data["problems"]}
    os.utime(items)
    git(vault.root, environment, "checkout", "-q", "HEAD", "--", str(items))
    assert clawmem("remember", "Jane has a cat.", "--entity", "areas/people/jane").code == 0
    assert {fact["fact"] for fact in facts(vault.root)} == {*KNOWN, "Jane has a cat."}


def test_a_damaged_git_index_is_made_anew(vault: Vault, clawmem: Command, environment: dict[str, str]) -> None:
    keep(vault, *KNOWN, entity="areas/people/jane")
    _index(vault)
    found = clawmem("doctor", "--fix", "--json")
    assert found.code == 0, found
    assert [problem["fixed"] for problem in found.data["problems"] if problem["check"] == "git-index"] == [True]
    assert (vault.state / "git-index.damaged").read_bytes().startswith(b"EVIL")
    assert git(vault.root, environment, "status", "--porcelain") == ""


def test_windows_line_ends_are_found_and_mended(vault: Vault, clawmem: Command, environment: dict[str, str]) -> None:
    keep(vault, *KNOWN, entity="areas/people/jane")
    git(vault.root, environment, "config", "core.autocrlf", "true")
    page = vault.root / "life/areas/people/jane/summary.md"
    page.write_bytes(page.read_bytes().replace(b"\n", b"\r\n"))
    items = page.with_name("items.json")
    items.write_bytes(items.read_bytes().replace(b"\n", b"\r\n"))
    found = [problem for problem in clawmem("doctor", "--json").data["problems"] if problem["check"] == "line-ends"]
    assert {other["path"].rsplit("/", 1)[-1] for other in found} == {"config", "summary.md", "items.json"}
    mended = clawmem("doctor", "--fix", "--json")
    assert [problem for problem in mended.data["problems"] if not problem["fixed"]] == []
    assert b"\r" not in page.read_bytes() + items.read_bytes()
    assert git(vault.root, environment, "config", "core.autocrlf") == "false\n"
    assert len(facts(vault.root)) == 2


def test_names_that_collide_elsewhere_are_found_in_head(
    vault: Vault, clawmem: Command, environment: dict[str, str], tmp_path: Path
) -> None:
    """On a disk that takes both for one, only one of them is in the folder; HEAD has both."""
    keep(vault, *KNOWN, entity="areas/people/jane")
    blob = git(vault.root, environment, "rev-parse", "HEAD:life/areas/people/jane/items.json").strip()
    entry = f"100644,{blob},life/areas/people/Jane/items.json"
    git(vault.root, environment, "update-index", "--add", "--cacheinfo", entry)
    git(vault.root, environment, "commit", "-qm", "another Jane")
    found = clawmem("doctor", "--json")
    assert "case" in {problem["check"] for problem in found.data["problems"]}
    assert found.code == 1
