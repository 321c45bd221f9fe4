"""Edits made by hand are committed as the person's own; what does not parse is left alone and stops only its own."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from clawmem.errors import Locked, Refused
from clawmem.model.history.redaction import RECORD, RedactionRecord, with_record
from clawmem.model.records.caller import Caller
from clawmem.model.records.change import Change
from clawmem.vault.commit.transaction import Transaction, transaction
from clawmem.vault.disk import writer_lock
from clawmem.vault.git.refs import Head
from clawmem.vault.vault import Vault
from tests.conftest import NOW, Command, Once
from tests.faults.checks import assert_whole, commits, facts, git
from tests.faults.scenarios import keep

JANE = "life/areas/people/jane/items.json"


@pytest.fixture
def furnished(vault: Vault, once: Once) -> Vault:
    """A vault with two entities."""

    def build() -> None:
        keep(vault, "Jane plays the cello.", entity="areas/people/jane")
        keep(vault, "The boat is blue.", entity="projects/boat")

    once(build)
    return vault


def log(vault: Vault, environment: dict[str, str], form: str = "%s|%an <%ae>|%cn") -> list[str]:
    return git(vault.root, environment, "log", f"--format={form}").splitlines()


def test_an_edited_a_new_and_a_deleted_file_are_committed_first(
    furnished: Vault, environment: dict[str, str], clawmem: Command
) -> None:
    items = furnished.root / JANE
    items.write_bytes(items.read_bytes().replace(b"cello", b"viola"))
    (furnished.root / "daily/2026-11-20.md").write_text("A quiet day.\n")
    (furnished.root / "life/projects/boat/summary.md").unlink()
    result = clawmem("remember", "Ada was here.")
    assert result.code == 0
    assert "committed 3 file(s) edited by hand" in result.err
    rows = log(furnished, environment)
    assert rows[0].startswith("remember(areas/general): Ada was here.|")
    assert sorted(rows[1:4]) == [
        "edit(areas/people/jane): by hand|Ada Person <ada@example.org>|clawmem",
        "edit(daily/2026-11-20.md): by hand|Ada Person <ada@example.org>|clawmem",
        "edit(projects/boat): by hand|Ada Person <ada@example.org>|clawmem",
    ]
    assert_whole(furnished.root, environment)
    assert "Jane plays the viola." in [fact["fact"] for fact in facts(furnished.root)]


def test_a_person_without_an_identity_is_called_by_hand(furnished: Vault, environment: dict[str, str]) -> None:
    (Path(environment["HOME"]) / ".gitconfig").unlink()
    (furnished.root / "MEMORY.md").write_text("# Mine\n")
    keep(furnished, "Next.")
    assert log(furnished, environment)[1] == "edit(MEMORY.md): by hand|by hand <hand@clawmem>|clawmem"


def test_files_of_others_are_never_staged(furnished: Vault, environment: dict[str, str]) -> None:
    photo = furnished.root / "life/projects/boat/photo.png"
    photo.write_bytes(b"\x89PNG\r\n\x1a\n")
    (furnished.root / "notes.txt").write_text("mine")
    (furnished.root / "src").mkdir()
    (furnished.root / "src/README.md").write_text("mine")
    keep(furnished, "Next.", entity="projects/boat")
    status = git(furnished.root, environment, "status", "--porcelain", "--untracked-files=all").splitlines()
    assert status == ["?? life/projects/boat/photo.png", "?? notes.txt", "?? src/README.md"]
    assert photo.read_bytes() == b"\x89PNG\r\n\x1a\n"


def test_what_a_person_staged_stays_staged(furnished: Vault, environment: dict[str, str]) -> None:
    (furnished.root / "notes.txt").write_text("first\n")
    git(furnished.root, environment, "add", "notes.txt")
    (furnished.root / "notes.txt").write_text("second\n")
    keep(furnished, "Next.")
    assert git(furnished.root, environment, "status", "--porcelain") == "AM notes.txt\n"
    assert git(furnished.root, environment, "show", ":notes.txt") == "first\n"
    assert "notes.txt" not in git(furnished.root, environment, "ls-tree", "-r", "--name-only", "HEAD")


def test_a_staged_edit_of_a_vault_file_is_taken_in(furnished: Vault, environment: dict[str, str]) -> None:
    (furnished.root / "MEMORY.md").write_text("# Staged\n")
    git(furnished.root, environment, "add", "MEMORY.md")
    keep(furnished, "Next.")
    assert log(furnished, environment, "%s")[1] == "edit(MEMORY.md): by hand"
    assert_whole(furnished.root, environment)


def test_ignored_files_and_other_repositories_are_left_alone(furnished: Vault, environment: dict[str, str]) -> None:
    (furnished.root / ".gitignore").write_text("*.draft.md\nlife/private/\n")
    new = furnished.root / "life/resources/bag"
    new.mkdir(parents=True)
    (new / "a.draft.md").write_text("not yet")
    (furnished.root / "life/private").mkdir()
    (furnished.root / "life/private/diary.md").write_text("mine")
    other = furnished.root / "life/projects/boat/code"
    other.mkdir()
    git(other, environment, "init", "-q")
    (other / "README.md").write_text("another repository")
    git(other, environment, "add", ".")
    git(other, environment, "commit", "-qm", "first")
    keep(furnished, "Next.")
    names = git(furnished.root, environment, "ls-tree", "-r", "--name-only", "HEAD").splitlines()
    assert ".gitignore" in names
    assert [name for name in names if "draft" in name or "private" in name or "code" in name] == []


BROKEN: dict[str, tuple[str, bytes, str, int]] = {
    "items.json": (JANE, b'[\n{"id": "fact_1", "fact": "x"},\n{"id": oops}\n]\n', f"{JANE}:3", 2),
    "conflict": (JANE, b'[\n<<<<<<< HEAD\n{"id": "a", "fact": "x"}\n=======\n>>>>>>> other\n]\n', f"{JANE}:2", 12),
    "two facts of one id": (JANE, b'[\n{"id": "a", "fact": "x"},\n{"id": "a", "fact": "y"}\n]\n', f"{JANE}:3", 2),
    "not UTF-8": (JANE, b'[\n{"id": "a", "fact": "\xff"}\n]\n', f"{JANE}:2", 2),
    "empty": (JANE, b"", f"{JANE}:1", 2),
    "cut off": (JANE, b'[\n{"id": "a", "fact": "x"},\n', JANE, 2),
}


@pytest.mark.parametrize("kind", BROKEN)
def test_a_broken_file_stays_as_it_is_and_stops_only_its_own(
    furnished: Vault, environment: dict[str, str], clawmem: Command, kind: str
) -> None:
    path, data, place, code = BROKEN[kind]
    (furnished.root / path).write_bytes(data)
    (furnished.root / "MEMORY.md").write_text("# Sound\n")
    other = clawmem("remember", "The boat was sold.", "--entity", "projects/boat", "--json")
    assert other.code == 0
    assert [notice for notice in other.json["notices"] if place in notice]
    own = clawmem("remember", "Jane moved.", "--entity", "areas/people/jane", "--json")
    assert own.code == code
    assert place in own.json["error"]["message"]
    assert (furnished.root / path).read_bytes() == data
    assert git(furnished.root, environment, "status", "--porcelain") == f" M {path}\n"
    assert log(furnished, environment, "%s")[1] == "edit(MEMORY.md): by hand"
    git(furnished.root, environment, "checkout", "HEAD", "--", path)
    assert clawmem("remember", "Jane moved.", "--entity", "areas/people/jane").code == 0
    assert_whole(furnished.root, environment)


def test_the_page_of_an_entity_is_committed_though_its_facts_are_broken(furnished: Vault) -> None:
    (furnished.root / JANE).write_text("{broken")
    page = JANE.replace("items.json", "summary.md")
    (furnished.root / page).write_text("# Jane\n\nA neighbour.\n")
    with transaction(furnished, NOW, "test") as started:
        edits = started.adopt()
    assert ([*edits.good], [path for path, _ in edits.bad]) == ([page], [JANE])


def test_an_invalid_file_is_not_committed_and_is_named(
    furnished: Vault, environment: dict[str, str], clawmem: Command
) -> None:
    files = [
        ("ledger/2026-11-20.jsonl", b'{"id": "e1"}\n', "ledger/2026-11-20.jsonl:1"),
        ("ledger/2026-11-19.jsonl", b"{}\nnot json\n", "ledger/2026-11-19.jsonl:1"),
        ("life/projects/boat/summary.md", b"---\ntitle: [\n---\nText\n", "life/projects/boat/summary.md:"),
        ("predicates.yaml", b"a: [\n", "predicates.yaml:"),
        ("wiki/page.md", b"a\n<<<<<<< HEAD\nb\n", "wiki/page.md:2"),
        ("daily/2026-11-20.md", b"caf\xe9\n", "daily/2026-11-20.md:1 cannot be read: it is not UTF-8 text"),
        ("wiki/other.md", b"one\ntwo \xff\n", "wiki/other.md:2 cannot be read: it is not UTF-8 text"),
        ("life/projects/My Boat/summary.md", b"# Boat\n", "'my boat' cannot be part of it"),
        ("life/projects/UPPER/items.json", b"[\n]\n", "the entity must be named projects/upper"),
        ("agents/The Bot/CONTEXT.md", b"# Bot\n", "'The Bot' is not an agent id"),
    ]
    for path, data, _ in files:
        target = furnished.root / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(data)
    result = clawmem("remember", "Jane moved.", "--entity", "areas/people/jane", "--json")
    assert result.code == 0, result
    left = [notice for notice in result.json["notices"] if notice.startswith("left alone: ")]
    status = git(furnished.root, environment, "status", "--porcelain", "--untracked-files=all")
    for path, data, why in files:
        assert [notice for notice in left if why in notice], why
        assert (furnished.root / path).read_bytes() == data
        assert path in status
    unreadable = [other["path"] for other in clawmem("status", "--json").data["edits"]["unreadable"]]
    assert sorted(unreadable) == sorted(path for path, *_ in files)


def test_broken_settings_are_named_with_their_line(furnished: Vault, clawmem: Command) -> None:
    settings = furnished.root / "clawmem.yaml"
    settings.write_bytes(b"format: 1\nlock: [\n")
    result = clawmem("remember", "Jane moved.", "--json")
    assert result.code == 2
    assert "clawmem.yaml:" in result.json["error"]["message"]
    assert settings.read_bytes() == b"format: 1\nlock: [\n"


def test_a_change_never_writes_over_a_broken_file(furnished: Vault) -> None:
    broken = b"---\ntitle: x\n---\n<<<<<<< HEAD\nmine\n"
    summary = furnished.root / "life/projects/boat/summary.md"
    summary.write_bytes(broken)
    with transaction(furnished, NOW, "test") as started, pytest.raises(Exception, match=r"summary\.md:4"):
        started.commit([Change("x(y): z", {"life/projects/boat/summary.md": b"ours\n"})])
    assert summary.read_bytes() == broken


def test_an_edit_between_read_and_commit_is_not_overwritten(furnished: Vault, environment: dict[str, str]) -> None:
    before = commits(furnished.root, environment)
    with transaction(furnished, NOW, "test") as started:
        data = started.read(JANE)
        assert data is not None
        (furnished.root / JANE).write_bytes(data.replace(b"cello", b"viola"))
        with pytest.raises(Locked):
            started.commit([Change("x(y): z", {JANE: b"[]\n"})])
    assert commits(furnished.root, environment) == before
    assert b"viola" in (furnished.root / JANE).read_bytes()


@pytest.mark.parametrize("path", [JANE, "life/areas/people/new/summary.md", "daily/2026-11-21.md"])
def test_a_file_made_while_a_change_runs_is_not_overwritten_unread(furnished: Vault, path: str) -> None:
    with transaction(furnished, NOW, "test") as started:
        started.adopt()
        target = furnished.root / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(b"a person's own words\n")
        with pytest.raises(Locked):
            started.commit([Change("x(y): z", {path: b"ours\n"})])
    assert target.read_bytes() == b"a person's own words\n"


def test_an_edit_in_the_moment_of_the_commit_survives(furnished: Vault, environment: dict[str, str]) -> None:
    """The person saves after the last look and before the files follow: both versions must be there."""
    mine = (furnished.root / JANE).read_bytes().replace(b"cello", b"viola")

    class Saving(Transaction):
        def _write_commits(self, changes: Sequence[Change], head: Head) -> tuple[str, ...]:
            names = super()._write_commits(changes, head)
            (furnished.root / JANE).write_bytes(mine)
            return names

    with writer_lock(furnished.state / "lock", 1, "test"):
        started = Saving(furnished, NOW, "test")
        started.begin()
        data = started.read(JANE)
        assert data is not None
        started.commit([Change("x(y): z", {JANE: data.replace(b"Jane", b"Joan")})])
        started.wait()
    assert (furnished.root / JANE).read_bytes() == mine
    assert "Joan" in git(furnished.root, environment, "show", f"HEAD:{JANE}")
    assert f"kept your edit of {JANE}" in started.notices[0]
    assert git(furnished.root, environment, "status", "--porcelain") == f" M {JANE}\n"


@pytest.mark.parametrize("how", ["file", "folder", "dangling", "inside"])
def test_links_are_not_followed(
    furnished: Vault, environment: dict[str, str], clawmem: Command, tmp_path: Path, how: str
) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "items.json").write_text('[{"id": "fact_secret", "fact": "From outside."}]')
    (outside / "summary.md").write_text("outside")
    link = furnished.root / ("life/areas/people/jane" if how == "folder" else JANE)
    if how == "folder":
        subprocess.run(["rm", "-r", str(link)], check=True)
    else:
        link.unlink()
    aims: dict[str, Path] = {
        "file": outside / "items.json",
        "folder": outside,
        "dangling": outside / "no",
        "inside": Path("../../../index.md"),
    }
    link.symlink_to(aims[how])
    kept = {path.name: path.read_bytes() for path in outside.iterdir()}
    other = clawmem("remember", "The boat was sold.", "--entity", "projects/boat")
    assert other.code == 0, other
    assert "symbolic link" in other.err
    own = clawmem("remember", "Jane moved.", "--entity", "areas/people/jane")
    assert own.code in (1, 2), own
    assert {path.name: path.read_bytes() for path in outside.iterdir()} == kept
    assert link.is_symlink()
    assert "From outside" not in git(furnished.root, environment, "log", "-p")
    link.unlink()
    git(furnished.root, environment, "checkout", "HEAD", "--", "life")
    assert clawmem("remember", "Jane moved.", "--entity", "areas/people/jane").code == 0
    assert_whole(furnished.root, environment)


def test_a_file_where_a_folder_should_be_stops_only_its_own(
    furnished: Vault, environment: dict[str, str], clawmem: Command
) -> None:
    (furnished.root / "life/areas/garden").write_text("a file")
    result = clawmem("remember", "The roses are red.", "--entity", "areas/garden")
    assert result.code == 1
    assert "life/areas/garden is a file where a folder should be" in result.err
    assert clawmem("remember", "The boat was sold.", "--entity", "projects/boat").code == 0
    assert git(furnished.root, environment, "status", "--porcelain") == "?? life/areas/garden\n"


def test_a_folder_where_a_file_should_be(furnished: Vault, clawmem: Command) -> None:
    (furnished.root / "life/areas/garden/items.json").mkdir(parents=True)
    result = clawmem("remember", "The roses are red.", "--entity", "areas/garden")
    assert result.code == 1
    assert "is a folder where a file should be" in result.err
    assert clawmem("remember", "The boat was sold.", "--entity", "projects/boat").code == 0


@pytest.mark.parametrize("convert", [lambda data: data.replace(b"\n", b"\r\n"), lambda data: b"\xef\xbb\xbf" + data])
def test_windows_line_ends_and_a_byte_order_mark_are_read_and_kept(
    furnished: Vault, environment: dict[str, str], clawmem: Command, convert: Callable[[bytes], bytes]
) -> None:
    items, page = furnished.root / JANE, furnished.root / "life/projects/boat/summary.md"
    items.write_bytes(convert(items.read_bytes()))
    page.write_bytes(convert(page.read_bytes()))
    assert clawmem("remember", "The roses are red.", "--entity", "areas/garden").code == 0
    assert_whole(furnished.root, environment)
    before = commits(furnished.root, environment)
    assert clawmem("remember", "Jane moved.", "--entity", "areas/people/jane").code == 0
    assert len(commits(furnished.root, environment)) == len(before) + 1
    assert [fact["fact"] for fact in facts(furnished.root)].count("Jane plays the cello.") == 1
    assert_whole(furnished.root, environment)


@pytest.mark.parametrize("rule", ["* text=auto", "* text eol=lf", "* text eol=crlf", "*.json filter=upper", "* ident"])
@pytest.mark.parametrize("where", ["vault", "home"])
@pytest.mark.few(3)
def test_git_attributes_cannot_convert_vault_files(
    furnished: Vault, environment: dict[str, str], rule: str, where: str
) -> None:
    if where == "vault":
        (furnished.root / ".gitattributes").write_text(rule + "\n")
    else:
        (Path(environment["HOME"]) / ".config/git").mkdir(parents=True)
        (Path(environment["HOME"]) / ".config/git/attributes").write_text(rule + "\n")
    git(furnished.root, environment, "config", "--global", "filter.upper.clean", "tr a-z A-Z")
    items = furnished.root / JANE
    items.write_bytes(items.read_bytes().replace(b"\n", b"\r\n"))
    (furnished.root / "daily/2026-11-20.md").write_bytes(b"one\r\ntwo $Id$\n")
    keep(furnished, "Next.")
    before = len(commits(furnished.root, environment))
    keep(furnished, "And next.")
    assert len(commits(furnished.root, environment)) == before + 1
    assert_whole(furnished.root, environment)
    assert (furnished.root / "daily/2026-11-20.md").read_bytes() == b"one\r\ntwo $Id$\n"


def test_nothing_is_committed_where_nothing_changed(furnished: Vault, environment: dict[str, str]) -> None:
    before = commits(furnished.root, environment)
    (furnished.root / JANE).chmod(0o755)
    (furnished.root / "MEMORY.md").touch()
    (furnished.root / ".git/index").unlink()
    with transaction(furnished, NOW, "test") as started:
        started.adopt()
    assert commits(furnished.root, environment) == before
    assert git(furnished.root, environment, "status", "--porcelain") == ""
    git(furnished.root, environment, "rm", "-q", "--cached", JANE)
    with transaction(furnished, NOW, "test") as started:
        started.adopt()
    assert commits(furnished.root, environment) == before
    assert_whole(furnished.root, environment)


def test_permissions_of_a_file_are_kept(furnished: Vault, environment: dict[str, str]) -> None:
    (furnished.root / JANE).chmod(0o600)
    keep(furnished, "Jane moved.", entity="areas/people/jane")
    assert (furnished.root / JANE).stat().st_mode & 0o777 == 0o600
    (furnished.root / JANE).chmod(0o755)
    git(furnished.root, environment, "-c", "core.fileMode=true", "commit", "-qam", "executable")
    keep(furnished, "Jane came back.", entity="areas/people/jane")
    assert_whole(furnished.root, environment)


def test_an_edit_that_takes_facts_out_says_so(furnished: Vault, clawmem: Command) -> None:
    stale = (furnished.root / JANE).read_bytes()
    keep(furnished, "Jane moved.", entity="areas/people/jane")
    gone = facts(furnished.root)[1]["id"] if len(facts(furnished.root)) > 1 else ""
    (furnished.root / JANE).write_bytes(stale)
    result = clawmem("remember", "Next.", "--json")
    assert result.code == 0
    assert [notice for notice in result.json["notices"] if notice.startswith(f"your edit of {JANE} takes out fact_")]
    assert gone


def test_an_edit_with_a_wrong_fact_is_committed_and_named(furnished: Vault, clawmem: Command) -> None:
    items = furnished.root / JANE
    items.write_bytes(items.read_bytes().replace(b"the cello", b"the \\u001b[31mcello"))
    (own,) = [fact["id"] for fact in facts(furnished.root) if "cello" in fact["fact"]]
    result = clawmem("remember", "Next.", "--json")
    message = [
        notice
        for notice in result.json["notices"]
        if notice.startswith(f"{JANE} was committed with a wrong fact, {own}: ")
    ]
    assert result.code == 0 and len(message) == 1 and "control character U+001B" in message[0]
    assert not any("wrong fact" in notice for notice in clawmem("remember", "More.", "--json").json["notices"])


def test_an_entity_deleted_by_hand_is_gone(furnished: Vault, environment: dict[str, str], clawmem: Command) -> None:
    subprocess.run(["rm", "-r", str(furnished.root / "life/projects/boat")], check=True)
    assert clawmem("remember", "Next.").code == 0
    assert_whole(furnished.root, environment)
    assert clawmem("recall", "boat blue", "--json").data["facts"] == []


def test_strange_names_are_not_ours(furnished: Vault, environment: dict[str, str]) -> None:
    for name in (b"new\nline.md", b"tab\t.md", b"bad\xff.md"):
        (furnished.root / "wiki").mkdir(exist_ok=True)
        (furnished.root / "wiki" / os.fsdecode(name)).write_text("x")
    for title in ('quo"te.md', "späce ü 日本.md", "-dash.md", ":(top)x.md", "*star.md"):
        (furnished.root / "wiki" / title).write_text("x")
    keep(furnished, "Next.")
    names = git(furnished.root, environment, "ls-tree", "-r", "-z", "--name-only", "HEAD").split("\0")
    assert sorted(name for name in names if name.startswith("wiki/") and name.endswith(".md")) == sorted(
        ["wiki/*star.md", "wiki/-dash.md", "wiki/:(top)x.md", 'wiki/quo"te.md', "wiki/späce ü 日本.md"]
        + [name for name in names if name == "wiki/index.md"]
    )
    assert len(git(furnished.root, environment, "status", "--porcelain", "-uall").splitlines()) == 3


def test_a_link_out_of_the_vault_is_not_read(furnished: Vault, tmp_path: Path) -> None:
    secret = tmp_path / "secret.md"
    secret.write_text("outside")
    (furnished.root / "daily/link.md").symlink_to(secret)
    with pytest.raises(Refused):
        furnished.read("daily/link.md")


@pytest.mark.parametrize("path", ["life/areas/{}/items.json", "wiki/{}.md", "agents/scout/sessions/{}.md"])
def test_a_new_file_with_a_credential_in_its_name_is_left_alone(vault: Vault, path: str) -> None:
    key = "AKIA" + "Q7R2TZ5WJ3XK4PLM"
    place, head = vault.root / path.format(key), vault.head()
    place.parent.mkdir(parents=True, exist_ok=True)
    place.write_text("[\n]\n")
    with transaction(vault, NOW, "test") as work:
        good, bad = work.adopt()
    assert (good, [name for name, _ in bad], vault.head()) == ({}, [path.format(key)], head)
    named = path.format("[redacted: aws-access-key]")
    assert work.notices == [
        f"left alone: The name {named} contains what looks like a credential (aws-access-key); nothing was written."
    ]
    git(vault.root, vault.git.environment, "add", "--force", path.format(key))
    git(vault.root, vault.git.environment, "commit", "-qm", "let in by plain git")
    place.write_text("[\n\n]\n")
    with transaction(vault, NOW, "test") as work:
        assert "The name" not in str(work.adopt().bad)


def test_an_edit_that_brings_a_credential_is_left_alone(vault: Vault, caller: Caller) -> None:
    token = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
    page = vault.root / "MEMORY.md"
    page.write_text(f"# Memory\n\nThe deploy token is {token}\n")
    with transaction(vault, caller.now, "test") as started:
        edits = started.adopt()
    assert not edits.good
    assert "MEMORY.md:3" in str(edits.bad[0][1])
    assert token in page.read_text()
    assert token not in vault.git.run("cat-file", "--batch-all-objects", "--batch").decode(errors="replace")


def test_a_credential_behind_one_that_stands_is_seen(vault: Vault, caller: Caller) -> None:
    standing = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
    new = "ghp_" + "Z9y8X7w6V5u4T3s2R1q0P9o8N7m6L5k4J3i2"
    page = vault.root / "MEMORY.md"
    page.write_text(f"# Memory\n\nThe old token was {standing}\n")
    git(vault.root, vault.git.environment, "commit", "-qam", "let in by plain git")
    page.write_text(f"{page.read_text()}\nThe new one is {new}\n")
    with transaction(vault, caller.now, "test") as started:
        edits = started.adopt()
    assert not edits.good and "MEMORY.md:5" in str(edits.bad[0][1])
    page.write_text(f"# Memory\n\nThe old token, {standing}, is void.\n")
    with transaction(vault, caller.now, "test") as started:
        assert set(started.adopt().good) == {"MEMORY.md"}


def test_the_record_of_a_redaction_is_not_taken_out(vault: Vault) -> None:
    """Neither whole nor in part, and not by a file that cannot be read; more of it is welcome."""
    data = with_record(None, RedactionRecord("2026-11-01T10:00:00Z", "a person", None, (), (), 1, None, "1" * 40))
    place = vault.root / RECORD
    place.write_bytes(data)
    with transaction(vault, NOW, "test") as started:
        assert set(started.adopt().good) == {RECORD}
    for wrong in (b'{"redactions": []}\n', b"", None):
        place.unlink() if wrong is None else place.write_bytes(wrong)
        with transaction(vault, NOW, "test") as started:
            ((path, problem),) = started.adopt().bad
        assert path == RECORD and "must be kept" in problem.message and "git checkout HEAD" in problem.hint
    assert vault.contents_at("HEAD", [RECORD]) == {RECORD: data}
    place.write_bytes(
        with_record(data, RedactionRecord("2026-11-02T10:00:00Z", "a person", None, (), (), 1, None, "2" * 40))
    )
    with transaction(vault, NOW, "test") as started:
        assert set(started.adopt().good) == {RECORD}
