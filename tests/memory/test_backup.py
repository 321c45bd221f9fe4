"""Backup and restore: what goes in comes out, and anything less is refused with nothing left behind."""

from __future__ import annotations

import io
import json
import random
import tarfile
from collections.abc import Callable
from pathlib import Path

import pytest

from clawmem.errors import DamagedBackup, InvalidInput, NeedsDecision, Refused
from clawmem.memory.backup import BackupResult, RestoreResult, backup_to_file, backup_to_stream, restore, verify_backup
from clawmem.memory.health.doctor import doctor
from clawmem.model.records.caller import Caller
from clawmem.model.records.event import Event, render_events
from clawmem.vault.state.journal import count_accesses, record_access, unfolded_accesses
from clawmem.vault.vault import Vault
from tests.conftest import Command, Once
from tests.faults.checks import assert_sound, assert_whole, commits, facts, git
from tests.faults.scenarios import keep

Back = Callable[[], RestoreResult]


@pytest.fixture
def full(once: Once, vault: Vault) -> Vault:
    """A vault with facts, an event that was not ingested yet, and accesses that are not counted yet."""

    def build() -> None:
        keep(vault, "Jane lives in Oslo.", "Jane plays the cello.", entity="areas/people/jane")
        event = Event("evt_1", "2026-11-20T08:00:00Z", "user", "I moved to Lisbon.")
        (vault.root / "ledger/2026-11-20.jsonl").write_bytes(render_events([event]))
        assert record_access(vault, "2026-11-21T08:00:00Z", [facts(vault.root)[0]["id"]]) is None

    once(build)
    return vault


@pytest.fixture
def target(tmp_path: Path) -> Path:
    """Return an empty folder for the backup, so that leftover files are visible."""
    (tmp_path / "copies").mkdir()
    return tmp_path / "copies" / "memory.clawmem"


@pytest.fixture
def back(tmp_path: Path, target: Path, caller: Caller, environment: dict[str, str]) -> Back:
    """Restore the backup into a new place."""

    def run() -> RestoreResult:
        with target.open("rb") as file:
            return restore(file, tmp_path / "new" / "vault", caller, environment)

    return run


def test_what_was_backed_up_comes_back(
    full: Vault, caller: Caller, target: Path, back: Back, environment: dict[str, str]
) -> None:
    git(full.root, environment, "tag", "keepsake")
    git(full.root, environment, "branch", "aside", "HEAD~1")
    git(full.root, environment, "update-ref", "refs/clawmem/rescue/1", "HEAD")
    git(full.root, environment, "update-ref", "refs/remotes/origin/main", "HEAD")
    result = backup_to_file(full, caller, target)
    assert result.notices == ("committed 1 file(s) edited by hand",)
    assert result.size == target.stat().st_size
    counts = result.manifest.counts
    assert (counts["facts"], counts["events"], counts["entities"], counts["unreadable"]) == (2, 1, 1, 0)
    assert [path.name for path in target.parent.iterdir()] == [target.name]
    restored = back()
    assert restored.errors == 0
    assert restored.notices == ()
    assert commits(restored.root, environment) == commits(full.root, environment)
    assert facts(restored.root) == facts(full.root)
    names = git(restored.root, environment, "for-each-ref", "--format=%(refname)").split()
    assert names == ["refs/clawmem/rescue/1", "refs/heads/aside", "refs/heads/main", "refs/tags/keepsake"]
    assert_whole(restored.root, environment)
    assert_sound(restored.root, environment)
    again = Vault(restored.root, environment)
    assert count_accesses(unfolded_accesses(again)) == count_accesses(unfolded_accesses(full))
    keep(again, "Life goes on.", entity="areas/people/jane")
    assert_whole(restored.root, environment)
    assert git(restored.root, environment, "config", "core.autocrlf") == "false\n"
    assert git(restored.root, environment, "remote") == ""


def test_a_file_that_exists_is_replaced_only_when_told(full: Vault, caller: Caller, target: Path) -> None:
    target.write_text("something else")
    with pytest.raises(Refused, match="already exists"):
        backup_to_file(full, caller, target)
    assert target.read_text() == "something else"
    backup_to_file(full, caller, target, overwrite=True)
    with target.open("rb") as file:
        assert verify_backup(file, full.git.environment).manifest.counts["facts"] == 2


@pytest.mark.parametrize(("place", "words"), [("copies", "is a folder"), ("nowhere/x", "no folder")])
def test_a_target_that_cannot_be(full: Vault, caller: Caller, target: Path, place: str, words: str) -> None:
    with pytest.raises(InvalidInput, match=words):
        backup_to_file(full, caller, target.parent.parent / place)


def test_a_folder_gets_a_backup_named_by_the_day(full: Vault, clawmem: Command, tmp_path: Path) -> None:
    folder = tmp_path / "shelf"
    assert "no folder" in clawmem("backup", f"{folder}/").err and not folder.exists()
    folder.mkdir()
    assert clawmem("backup", str(folder), env={"CLAWMEM_NOW": "2026-11-20T10:00:00Z"}).code == 0
    assert [file.name for file in folder.iterdir()] == [f"{full.root.name}-2026-11-20.clawmem"]


def test_equal_vaults_give_equal_streams(full: Vault, caller: Caller) -> None:
    o, other = io.BytesIO(), io.BytesIO()
    backup_to_stream(full, caller, o)
    backup_to_stream(full, caller, other)
    assert o.getvalue() == other.getvalue()


def test_plain_tools_can_open_it(full: Vault, caller: Caller, target: Path, tmp_path: Path) -> None:
    backup_to_file(full, caller, target)
    with tarfile.open(target) as archive:
        assert archive.getnames() == ["manifest.json", "manifest.sha256", "vault.bundle", "access.log"]
        (tmp_path / "vault.bundle").write_bytes(archive.extractfile("vault.bundle").read())  # type: ignore[union-attr]
    git(tmp_path, full.git.environment, "clone", "-q", "vault.bundle", "cloned")
    assert facts(tmp_path / "cloned") == facts(full.root)


def test_every_damage_is_refused_and_leaves_nothing(
    full: Vault, caller: Caller, target: Path, tmp_path: Path, environment: dict[str, str]
) -> None:
    """Single bits anywhere and every kind of cut; what tar fills up with zeros says nothing."""
    backup_to_file(full, caller, target)
    sound = target.read_bytes()
    chance = random.Random(5)
    harmless = 0
    for number in range(36):
        data = bytearray(sound)
        if number % 6 == 0:
            del data[chance.randrange(len(data) - 1024) :]
        else:
            data[chance.randrange(len(data))] ^= 1 << chance.randrange(8)
        target.write_bytes(data)
        try:
            with target.open("rb") as file:
                result = verify_backup(file, environment)
        except DamagedBackup:
            with target.open("rb") as file, pytest.raises(DamagedBackup):
                restore(file, tmp_path / "new" / "vault", caller, environment)
            assert not (tmp_path / "new").exists()
            continue
        harmless += 1
        assert result.manifest.counts["facts"] == 2
    assert harmless < 18


@pytest.mark.parametrize("content", [b"", b"not a tar at all", b"PK\x03\x04", b"\0" * 10240])
def test_what_is_no_backup(target: Path, content: bytes, back: Back, tmp_path: Path) -> None:
    target.write_bytes(content)
    with pytest.raises(DamagedBackup):
        back()
    assert not (tmp_path / "new").exists()


def _with_manifest(target: Path, **changes: object) -> None:
    """Rewrite the manifest, checksum and all, as somebody who means it would."""
    import hashlib

    with tarfile.open(target) as archive:
        parts = {name: archive.extractfile(name).read() for name in archive.getnames()}  # type: ignore[union-attr]
    record = json.loads(parts["manifest.json"]) | changes
    parts["manifest.json"] = json.dumps(record).encode()
    digest = hashlib.sha256(parts["manifest.json"]).hexdigest()
    parts["manifest.sha256"] = f"{digest}  manifest.json\n".encode()
    with tarfile.open(target, "w") as archive:
        for name, data in parts.items():
            header = tarfile.TarInfo(name)
            header.size = len(data)
            archive.addfile(header, io.BytesIO(data))


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"counts": {"facts": 3, "events": 1, "entities": 1, "files": 21, "commits": 3}}, "counts differs"),
        ({"branch": "--upload-pack=evil"}, "an invalid branch"),
        ({"branch": "refs/heads/other"}, "has no commit"),
        ({"refs": {}}, "refs differs"),
        ({"kind": "something"}, "does not describe a backup"),
        ({"members": {"../evil": {"size": 1, "sha256": "0"}}}, "parts that a backup does not have"),
        ({"tree": "0" * 40}, "tree differs"),
    ],
)
def test_a_manifest_that_says_other_things(
    full: Vault, caller: Caller, target: Path, back: Back, tmp_path: Path, changes: dict[str, object], words: str
) -> None:
    backup_to_file(full, caller, target)
    _with_manifest(target, **changes)
    with pytest.raises(DamagedBackup, match=words):
        back()
    assert not (tmp_path / "new").exists()


def test_a_backup_of_a_newer_format(full: Vault, caller: Caller, target: Path, back: Back) -> None:
    backup_to_file(full, caller, target)
    _with_manifest(target, format=2)
    with pytest.raises(Refused, match="format 2"):
        back()


def test_places_that_are_taken(
    full: Vault, caller: Caller, target: Path, tmp_path: Path, environment: dict[str, str]
) -> None:
    backup_to_file(full, caller, target)
    (tmp_path / "file").write_text("x")
    (tmp_path / "inner").mkdir()
    (tmp_path / "inner" / "x").write_text("x")
    (tmp_path / "empty").mkdir()
    for place, error in (("file", InvalidInput), ("inner", Refused), ("vault/inside", Refused)):
        with target.open("rb") as file, pytest.raises(error):
            restore(file, tmp_path / place, caller, environment)
    with target.open("rb") as file:
        assert restore(file, tmp_path / "empty", caller, environment).manifest.counts["facts"] == 2
    with target.open("rb") as file:
        restore(file, tmp_path / "vault" / "inside", caller, environment, inside_repository=True)
    assert (tmp_path / "vault" / "inside" / "clawmem.yaml").exists()


def test_a_vault_without_a_commit(tmp_path: Path, caller: Caller, target: Path, environment: dict[str, str]) -> None:
    git(tmp_path, environment, "init", "-q", "-b", "main", "unborn")
    (tmp_path / "unborn" / "clawmem.yaml").write_text("format: 1\n")
    vault = Vault(tmp_path / "unborn", environment)
    git(vault.root, environment, "add", "clawmem.yaml")
    try:
        assert backup_to_file(vault, caller, target).manifest.counts["files"] == 1
    except Refused as problem:
        assert "no commit yet" in problem.message
        assert not target.exists()


def test_a_shallow_clone_is_refused(
    full: Vault, caller: Caller, target: Path, tmp_path: Path, environment: dict[str, str]
) -> None:
    git(tmp_path, environment, "clone", "-q", "--depth=1", f"file://{full.root}", "shallow")
    shallow = Vault(tmp_path / "shallow", environment)
    with pytest.raises(Refused, match="shallow clone"):
        backup_to_file(shallow, caller, target)
    assert list(target.parent.iterdir()) == []
    assert "shallow" in {problem.check for problem in doctor(shallow, caller).problems}


def test_an_edit_that_does_not_parse_is_named_and_left_out(
    full: Vault, target: Path, clawmem: Command, caller: Caller
) -> None:
    items = full.root / "life/areas/people/jane/items.json"
    items.write_text("[{\n")
    result = clawmem("backup", str(target), "--json")
    assert result.code == 4
    assert list(result.data["manifest"]["left_out"]) == ["life/areas/people/jane/items.json"]
    assert items.read_text() == "[{\n"
    again = clawmem("restore", str(target), str(target.parent / "new"))
    assert again.code == 0
    assert "not in the backup: life/areas/people/jane/items.json" in again.err
    assert len(facts(target.parent / "new")) == 2


def test_an_unfinished_merge_does_not_stop_it(full: Vault, caller: Caller, target: Path) -> None:
    keep(full, "All is taken in.", entity="areas/general")
    (full.git_dir / "MERGE_HEAD").write_text(f"{full.head().commit}\n")
    with pytest.raises(NeedsDecision):
        keep(full, "No.", entity="areas/general")
    (full.root / "MEMORY.md").write_text("# In the middle of it\n")
    result = backup_to_file(full, caller, target)
    assert result.manifest.left_out == {"MEMORY.md": "A git merge is unfinished in the vault."}


def test_a_detached_head_comes_back_detached(
    full: Vault, caller: Caller, target: Path, back: Back, environment: dict[str, str]
) -> None:
    keep(full, "All is taken in.", entity="areas/general")
    git(full.root, environment, "checkout", "-q", "--detach", "HEAD~1")
    backup_to_file(full, caller, target)
    restored = back()
    assert Vault(restored.root, environment).head() == full.head()
    assert restored.manifest.branch is None


def test_signed_and_sha256_vaults(tmp_path: Path, caller: Caller, target: Path, environment: dict[str, str]) -> None:
    git(tmp_path, environment, "init", "-q", "-b", "main", "--object-format=sha256", "wide")
    (tmp_path / "wide" / "clawmem.yaml").write_text("format: 1\nvault:\n  name: wide\n")
    git(tmp_path / "wide", environment, "add", ".")
    git(tmp_path / "wide", environment, "commit", "-qm", "first")
    vault = Vault(tmp_path / "wide", environment)
    keep(vault, "Jane lives in Oslo.", entity="areas/people/jane")
    result = backup_to_file(vault, caller, target)
    assert result.manifest.object_format == "sha256"
    with target.open("rb") as file:
        restored = restore(file, tmp_path / "back", caller, environment)
    assert commits(restored.root, environment) == commits(vault.root, environment)


def test_a_vault_with_mistakes_comes_back_with_them(
    full: Vault, caller: Caller, target: Path, back: Back, environment: dict[str, str]
) -> None:
    items = full.root / "life/areas/people/jane/items.json"
    items.write_bytes(items.read_bytes().replace(b'"superseded_by": null', b'"superseded_by": "fact_gone"', 1))
    backup_to_file(full, caller, target)
    restored = back()
    errors = [problem for problem in doctor(full, caller).problems if problem.severity == "error"]
    assert restored.errors == len(errors) > 0
    assert f"doctor finds {len(errors)} error" in restored.notices[0]


def test_a_damaged_history_is_not_backed_up(full: Vault, target: Path, clawmem: Command) -> None:
    keep(full, "All is taken in.", entity="areas/general")
    blob = git(full.root, full.git.environment, "rev-parse", "HEAD:clawmem.yaml").strip()
    loose = full.git_dir / "objects" / blob[:2] / blob[2:]
    packs = list((full.git_dir / "objects" / "pack").glob("*.pack"))
    for path in [loose] if loose.exists() else packs:
        path.chmod(0o644)
        data = bytearray(path.read_bytes())
        data[len(data) // 2] ^= 1
        path.write_bytes(data)
    result = clawmem("backup", str(target), "--json")
    assert result.code == 1
    assert result.json["error"]["code"] in ("git", "damaged_backup")
    assert list(target.parent.iterdir()) == []


def test_the_command_line(full: Vault, target: Path, clawmem: Command, tmp_path: Path) -> None:
    result = clawmem("backup", str(target), "--json")
    assert result.data["file"] == str(target)
    assert result.data["manifest"]["counts"]["facts"] == 2
    piped = clawmem("backup", "--verify", "-", given=target.read_bytes())
    assert piped.code == 0
    assert "is valid" in piped.out
    assert clawmem("backup", "-", "--json").code == 2
    assert clawmem("backup", "--verify", str(tmp_path / "none")).code == 1
    back = clawmem("restore", "-", str(tmp_path / "piped"), "--json", given=target.read_bytes())
    assert back.data["counts"]["facts"] == 2
    assert back.data["vault"] == str(tmp_path / "piped")
    assert clawmem("list", "--vault", str(tmp_path / "piped"), "--json").data["facts"]


def test_what_a_backup_says(full: Vault, caller: Caller) -> None:
    made: BackupResult = backup_to_stream(full, caller, io.BytesIO())
    assert made.manifest.vault == "memory"
    assert made.manifest.made == "2026-11-21T09:30:00Z"
    assert made.manifest.refs["refs/heads/main"] == made.manifest.commit == full.head().commit
