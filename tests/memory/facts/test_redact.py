"""Redact by the real commands: nothing of the secret is left anywhere, all else stays, and it is said what was done."""

from __future__ import annotations

import json
import random
import string
import subprocess
from pathlib import Path

import pytest

from tests.conftest import Command, Once

pytestmark = pytest.mark.usefixtures("without_vectors")

DICE = random.Random(7)
# Lower-case words, so that the gate lets it in as a secret that no rule knows.
SECRET = "quiet-otter-" + "".join(DICE.choice(string.ascii_lowercase) for _ in range(12))


def git(vault: Path, *arguments: str) -> str:
    return subprocess.run(
        ["git", "-c", "user.name=Ada", "-c", "user.email=ada@example.org", *arguments],
        cwd=vault,
        check=True,
        capture_output=True,
        text=True,
    ).stdout


def everything(vault: Path) -> bytes:
    """Every object git still has, and every file but packed ones."""
    printed = subprocess.run(
        ["git", "cat-file", "--batch-all-objects", "--batch"], cwd=vault, check=True, capture_output=True
    ).stdout
    files = (path for path in vault.rglob("*") if path.is_file() and ".git/objects" not in path.as_posix())
    return printed + b"".join(path.read_bytes() for path in files)


@pytest.fixture
def leaked(once: Once, clawmem: Command, vault_root: Path) -> str:
    """Create a vault with a secret in a ledger, facts, messages, a note and a page of its history; return the id of the
    fact."""
    return once(lambda: _leak(clawmem, vault_root))


def _leak(clawmem: Command, vault_root: Path) -> str:
    clawmem("remember", "Jane likes tea.", "-e", "areas/people/jane")
    record = {
        "role": "user",
        "content": f"The gate opens with {SECRET}. Remember that I live in Ghent.",
        "session": "s",
    }
    clawmem("ingest", "-", "--source", "chat", given=json.dumps(record))
    clawmem("heartbeat")
    result = clawmem("remember", f"The gate opens with {SECRET} at night.", "-e", "areas/house", "--json")
    fact = str(result.data["facts"][0]["id"])
    clawmem("note", f"gate: {SECRET}")
    clawmem("supersede", fact, f"The gate opens with {SECRET} all day.", env={"CLAWMEM_SEED": "2"})
    clawmem("heartbeat", env={"CLAWMEM_NOW": "2026-11-21T10:30:00Z"})
    clawmem("remember", "Jane has a boat.", "-e", "areas/people/jane", env={"CLAWMEM_SEED": "3"})
    git(vault_root, "tag", "-a", "-m", f"with {SECRET}", "kept")
    git(vault_root, "branch", "side", "HEAD~2")
    assert SECRET.encode() in everything(vault_root)
    return fact


def facts(clawmem: Command) -> dict[str, str]:
    listed = clawmem("list", "--json", "--include-superseded").data["facts"]
    return {other["id"]: other["fact"] for other in listed}


def test_nothing_of_it_is_left_and_all_else_stays(clawmem: Command, vault_root: Path, leaked: str) -> None:
    before = facts(clawmem)
    subjects = git(vault_root, "log", "--format=%s|%an|%ad").replace(SECRET, "[redacted]").splitlines()
    result = clawmem("redact", "--pattern", "-", "--yes", "--reason", "it was typed here", "--json", given=SECRET)
    assert result.code == 0, result
    assert result.data["remains"] == [] and len(result.data["commits"]) >= 5
    assert SECRET.encode() not in everything(vault_root)
    assert facts(clawmem) == {key: text.replace(SECRET, "[redacted]") for key, text in before.items()}
    assert git(vault_root, "log", "--format=%s|%an|%ad").splitlines()[1:] == subjects
    assert git(vault_root, "status", "--porcelain") == ""
    subprocess.run(["git", "fsck", "--strict"], cwd=vault_root, check=True, capture_output=True)
    assert "[redacted]" in git(vault_root, "tag", "-n", "-l", "kept")
    assert git(vault_root, "for-each-ref", "--format=%(refname)", "refs/clawmem") == ""
    assert clawmem("doctor", "--full").code == 0
    assert clawmem("remember", "Life goes on.").code == 0


def test_the_record_says_what_was_done(clawmem: Command, vault_root: Path, leaked: str) -> None:
    old = git(vault_root, "rev-parse", "HEAD").strip()
    result = clawmem("redact", leaked, "--yes", "--reason", "oops", "--json")
    (record,) = json.loads((vault_root / "ledger/redactions.json").read_text())["redactions"]
    assert record["by"] == "Ada Person"
    assert record["old_head"] == old == result.data["old_head"]
    assert record["base"] == git(vault_root, "rev-parse", "HEAD~1").strip()
    assert record["reason"] == "oops" and leaked in record["facts"] and record["at"] == "2026-11-21T09:30:00Z"
    assert "redact(vault): a secret, out of" in git(vault_root, "log", "-1", "--format=%s")
    shown = clawmem("show", leaked, "--json").data["fact"]
    assert shown["metadata"]["redacted"] == {"at": "2026-11-21T09:30:00Z", "reason": "oops"}


def test_quotes_are_where_they_are_said_to_be(clawmem: Command, vault_root: Path, leaked: str) -> None:
    clawmem("redact", "--pattern", SECRET, "--yes")
    ghent = next(fact for fact in clawmem("list", "--json").data["facts"] if "Ghent" in fact["fact"])
    lines = [line for path in (vault_root / "ledger").glob("*.jsonl") for line in path.read_text().splitlines()]
    events = {other["id"]: other["text"] for other in map(json.loads, lines)}
    start, end = ghent["source_span"]
    assert events[ghent["source_event"]][start:end] == ghent["source_text"]
    assert clawmem("doctor", "--full").code == 0


def test_an_event_goes_whole_where_no_rule_knows_its_secret(clawmem: Command, vault_root: Path, leaked: str) -> None:
    ghent = next(fact for fact in clawmem("list", "--json").data["facts"] if "Ghent" in fact["fact"])
    result = clawmem("redact", "--event", ghent["source_event"], "--yes", "--json")
    assert result.code == 0 and result.data["events"] == [ghent["source_event"]]
    assert "opens with" not in "".join(path.read_text() for path in (vault_root / "ledger").glob("*.jsonl"))
    left = clawmem("show", ghent["id"], "--json").data["fact"]
    assert "source_text" not in left and left["source_event"] == ghent["source_event"]
    assert clawmem("doctor", "--full").code == 0


def test_a_dry_run_changes_nothing_and_names_the_commits(clawmem: Command, vault_root: Path, leaked: str) -> None:
    before = git(vault_root, "for-each-ref"), everything(vault_root)
    result = clawmem("redact", "--pattern", SECRET, "--dry-run", "--json").data
    named = set(git(vault_root, "log", "--all", f"-S{SECRET}", "--format=%H").split())
    assert named <= set(result["commits"]) and result["new_head"] is None
    assert result["renamed"] >= len(result["commits"])
    assert git(vault_root, "for-each-ref") == before[0]
    assert SECRET.encode() in everything(vault_root)


def test_it_asks_twice_and_refuses_in_words(clawmem: Command, vault_root: Path, leaked: str) -> None:
    head = git(vault_root, "rev-parse", "HEAD")
    refused = clawmem("redact", "--pattern", SECRET, "--json")
    assert refused.code == 1 and "--yes" in refused.json["error"]["hint"]
    assert clawmem("redact", "--pattern", SECRET, "--yes", "--agent", "scout").code == 1
    assert clawmem("redact", "--pattern", "abc", "--yes").code == 2
    assert clawmem("redact", "--yes").code == 2
    assert clawmem("redact", leaked, "--pattern", SECRET, "--yes").code == 2
    assert clawmem("redact", "--pattern", "nobody-ever-wrote-this", "--yes").code == 1
    (vault_root / "clawmem.yaml").write_text((vault_root / "clawmem.yaml").read_text() + "# mine\n")
    git(vault_root, "stash")
    assert clawmem("redact", "--pattern", SECRET, "--yes").code == 12
    git(vault_root, "stash", "drop")
    (vault_root / ".git" / "MERGE_HEAD").write_text(head)
    assert clawmem("redact", "--pattern", SECRET, "--yes").code == 12
    (vault_root / ".git" / "MERGE_HEAD").unlink()
    assert git(vault_root, "rev-parse", "HEAD") == head


def test_what_it_cannot_reach_is_named(clawmem: Command, vault_root: Path, leaked: str, tmp_path: Path) -> None:
    git(vault_root, "clone", "--bare", "--quiet", str(vault_root), str(tmp_path / "remote.git"))
    git(vault_root, "remote", "add", "origin", str(tmp_path / "remote.git"))
    git(vault_root, "fetch", "--quiet", "origin")
    (vault_root / "mine.txt").write_text(f"my own copy of {SECRET}\n")
    result = clawmem("redact", "--pattern", SECRET, "--yes", "--json")
    assert result.code == 4
    assert result.data["remains"] == ["mine.txt"] and result.data["remotes"] == ["origin"]
    assert git(vault_root, "for-each-ref", "--format=%(refname)", "refs/remotes") == ""
    would = clawmem("redact", "--pattern", SECRET, "--dry-run", "--json")
    assert (would.code, would.data["remains"]) == (0, ["mine.txt"])
    assert "Remotes still contain it (origin)" in clawmem("redact", "--pattern", SECRET, "--yes").out


def test_a_fact_that_is_nothing_but_the_secret_is_withdrawn(clawmem: Command, vault_root: Path) -> None:
    fact = clawmem("remember", f"{SECRET} {SECRET}", "--json").data["facts"][0]["id"]
    assert clawmem("redact", fact, "--yes").code == 0
    shown = clawmem("show", fact, "--json").data["fact"]
    assert (shown["fact"], shown["status"]) == ("[redacted]", "retracted")
    assert SECRET.encode() not in everything(vault_root)
    assert clawmem("doctor").code == 0
