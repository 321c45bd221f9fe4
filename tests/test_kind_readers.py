"""An unreadable file of each kind, for every reader: each reader names it, and none fails or loses it."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.conftest import Command
from tests.faults.checks import git
from tests.kind_files import FILES, READ

pytestmark = pytest.mark.usefixtures("without_vectors")

# The settings stop every command, and are asked about alone. git itself reads .gitignore.
SPOILED = [name for name in READ if name not in ("settings", "git settings")]
UNCLAIMED = {
    "agents/cli/notes.json": b'{"valid": "JSON"}\n',
    "wiki/table.yaml": b"a: [1\n",
    "review/notes.json": b"{}\n",
    "ledger/2026/old.jsonl": b"not json\n",
}
BUG = 3


def put(root: Path, files: dict[str, bytes]) -> None:
    for path, data in files.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_bytes(data)


def bad_files() -> dict[str, bytes]:
    return {FILES[name][0]: FILES[name][2] for name in SPOILED}


@pytest.fixture
def good(vault_root: Path, environment: dict[str, str], clawmem: Command) -> Path:
    """A vault that holds a readable file of each kind, committed by hand adoption."""
    put(vault_root, {FILES[name][0]: FILES[name][1] for name in FILES if name != "redactions"})
    assert clawmem("remember", "The sea is blue.").code == 0
    assert git(vault_root, environment, "status", "--porcelain") == ""
    return vault_root


def test_hand_adoption_refuses_and_names_each(good: Path, environment: dict[str, str], clawmem: Command) -> None:
    wrong = {**bad_files(), **UNCLAIMED}
    put(good, wrong)
    before = git(good, environment, "rev-parse", "HEAD").strip()
    for command in (("remember", "The sky is blue."), ("undo", before), ("heartbeat",), ("recall", "boat"), ("sync",)):
        result = clawmem(*command, "--json")
        assert result.code != BUG, (command, result.out, result.err)
        if command[0] in ("remember", "heartbeat"):
            # `remember` tells it in notices, `heartbeat` among what failed.
            assert [path for path in wrong if path not in result.out] == [], (command, result.out)
    assert {path: (good / path).read_bytes() for path in wrong} == wrong
    committed = git(good, environment, "log", "--format=", "--name-only", f"{before}..HEAD").split()
    assert set(committed).isdisjoint(wrong)


def test_doctor_names_each_as_an_error(good: Path, clawmem: Command) -> None:
    put(good, bad_files())
    found = clawmem("doctor", "--json").data["problems"]
    errors = {other["path"] for other in found if other["severity"] == "error"}
    assert [path for path in bad_files() if path not in errors] == []


def test_doctor_names_what_no_kind_claims(good: Path, clawmem: Command) -> None:
    put(good, UNCLAIMED)
    found = clawmem("doctor", "--json").data["problems"]
    record = {other["path"]: other["message"] for other in found if other["check"] == "unclaimed-file"}
    assert record.keys() == UNCLAIMED.keys()
    assert all("move it out of the vault" in message for message in record.values())
    errors = {other["path"] for other in found if other["severity"] == "error"}
    assert {"wiki/table.yaml", "ledger/2026/old.jsonl"} <= errors


def test_settings_that_cannot_be_read_are_named_by_every_command(good: Path, clawmem: Command) -> None:
    put(good, {FILES["settings"][0]: FILES["settings"][2]})
    for command in (("recall", "boat"), ("remember", "The sky is blue."), ("heartbeat",), ("doctor",)):
        result = clawmem(*command)
        assert result.code in ((0,) if command[0] == "recall" else (1, 2, 4)), command
        assert "clawmem.yaml" in result.out + result.err
    assert (good / "clawmem.yaml").read_bytes() == FILES["settings"][2]


def test_what_plain_git_committed_breaks_no_reader(good: Path, environment: dict[str, str], clawmem: Command) -> None:
    bad = bad_files()
    put(good, bad)
    git(good, environment, "add", "-A")
    git(good, environment, "-c", "user.name=Ada", "-c", "user.email=ada@example.org", "commit", "-qm", "spoiled")
    spoiled = git(good, environment, "rev-parse", "HEAD").strip()
    found = clawmem("doctor", "--json").data["problems"]
    errors = {other["path"] for other in found if other["severity"] == "error"}
    assert [path for path in bad if path not in errors] == []
    answered = clawmem("recall", "boat", "--json")
    assert answered.code == 4
    assert "life/projects/boat/items.json" in " ".join(answered.json["notices"])
    for command in (("heartbeat",), ("undo", spoiled), ("remember", "The sky is blue.")):
        assert clawmem(*command, "--json").code != BUG, command
    # The undo of that commit may have brought readable files back; a ledger only grows.
    for path, data in bad.items():
        whole = {data, *(file[1] for file in FILES.values() if file[0] == path)}
        assert any(other_data in (good / path).read_bytes() for other_data in whole), path


def test_a_session_record_is_adopted_and_undone(good: Path, environment: dict[str, str], clawmem: Command) -> None:
    path = "agents/cli/sessions/s2.json"
    put(good, {path: b"not json\n"})
    assert f"left alone: {path}" in " ".join(clawmem("remember", "The sky is blue.", "--json").json["notices"])
    put(good, {path: b'{"id": "s2", "task": "sail"}\n'})
    assert clawmem("remember", "Grass is green.").code == 0
    edit = git(good, environment, "rev-parse", "HEAD~1").strip()
    assert clawmem("undo", edit).code == 0
    assert not (good / path).exists()
