"""Nothing around clawmem changes what it stores: leaked variables, hooks, a person's git settings, git layouts."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from clawmem.errors import GitFailed, Refused
from clawmem.vault.exchange.create import create_vault
from clawmem.vault.git.git import Git, clean_environment
from clawmem.vault.git.refs import read_head
from clawmem.vault.vault import Vault
from tests.conftest import NOW, Command
from tests.faults.checks import assert_whole, commits, facts, git
from tests.faults.scenarios import keep

HOSTILE = {
    "GIT_DIR": "/nonexistent/.git",
    "GIT_WORK_TREE": "/nonexistent",
    "GIT_INDEX_FILE": "/nonexistent/index",
    "GIT_OBJECT_DIRECTORY": "/nonexistent/objects",
    "GIT_COMMON_DIR": "/nonexistent/common",
    "GIT_NAMESPACE": "elsewhere",
    "GIT_CEILING_DIRECTORIES": "/",
    "GIT_AUTHOR_NAME": "Mallory",
    "GIT_AUTHOR_EMAIL": "mallory@example.org",
    "GIT_AUTHOR_DATE": "2001-01-01T00:00:00Z",
    "GIT_COMMITTER_NAME": "Mallory",
    "GIT_COMMITTER_EMAIL": "mallory@example.org",
    "GIT_CONFIG_COUNT": "2",
    "GIT_CONFIG_KEY_0": "user.name",
    "GIT_CONFIG_VALUE_0": "Mallory",
    "GIT_CONFIG_KEY_1": "core.bare",
    "GIT_CONFIG_VALUE_1": "true",
    "GIT_CONFIG_PARAMETERS": "'core.bare=true'",
    "GIT_EDITOR": "false",
    "GIT_LITERAL_PATHSPECS": "1",
    "GIT_DEFAULT_HASH": "sha256",
    "GIT_TEMPLATE_DIR": "/nonexistent",
    "GIT_ALTERNATE_OBJECT_DIRECTORIES": "/nonexistent",
}


def test_leaked_git_variables_do_not_matter(
    vault_root: Path, environment: dict[str, str], clawmem: Command, tmp_path: Path
) -> None:
    assert clawmem("remember", "First.", env=HOSTILE).code == 0
    (vault_root / "MEMORY.md").write_text("# Mine\n")
    assert clawmem("remember", "Second.", env=HOSTILE).code == 0
    authors = set(git(vault_root, environment, "log", "--format=%an|%cn").splitlines())
    assert authors == {"clawmem|clawmem", "Mallory|clawmem"}, "git, too, would take the author from there"
    assert_whole(vault_root, environment)
    made = clawmem("init", str(tmp_path / "other"), env=HOSTILE)
    assert made.code == 0, made
    assert_whole(tmp_path / "other", environment)


def test_scrubbed_keeps_what_the_network_needs() -> None:
    clean = clean_environment({"GIT_DIR": "x", "GIT_SSH_COMMAND": "ssh -i key", "HOME": "/h", "GITHUB_TOKEN": "t"})
    assert clean["GIT_SSH_COMMAND"] == "ssh -i key"
    assert clean["HOME"] == "/h"
    assert "GIT_DIR" not in clean
    assert clean["GIT_TERMINAL_PROMPT"] == "0"


HOOKS = (
    "pre-commit prepare-commit-msg commit-msg post-commit post-checkout reference-transaction "
    "post-index-change pre-auto-gc post-rewrite fsmonitor-watchman"
).split()


@pytest.mark.parametrize("where", ["repository", "configured"])
def test_hooks_never_run(vault_root: Path, environment: dict[str, str], tmp_path: Path, where: str) -> None:
    folder = vault_root / ".git/hooks" if where == "repository" else tmp_path / "hooks"
    folder.mkdir(exist_ok=True)
    witness = tmp_path / "witness"
    for name in HOOKS:
        (folder / name).write_text(f"#!/bin/sh\necho {name} >>{witness}\nexit 1\n")
        (folder / name).chmod(0o755)
    if where == "configured":
        git(vault_root, environment, "config", "--global", "core.hooksPath", str(folder))
    git(vault_root, environment, "config", "core.fsmonitor", str(folder / "fsmonitor-watchman"))
    (vault_root / "MEMORY.md").write_text("# Mine\n")
    keep(Vault(vault_root, environment), "First.")
    assert not witness.exists()
    assert len(commits(vault_root, environment)) == 3


@pytest.mark.parametrize("settings", [("core.autocrlf=true",), ("core.autocrlf=input", "core.eol=crlf")])
def test_a_clone_of_git_has_the_same_bytes_whatever_the_line_ends_of_the_machine(
    vault_root: Path, environment: dict[str, str], tmp_path: Path, settings: tuple[str, ...]
) -> None:
    keep(Vault(vault_root, environment), "First.")
    options = [word for setting in settings for word in ("-c", setting)]
    git(tmp_path, environment, "clone", "-q", *options, str(vault_root), "clone")
    names = git(vault_root, environment, "ls-files").splitlines()
    assert len(names) > 20
    for name in names:
        assert (tmp_path / "clone" / name).read_bytes() == (vault_root / name).read_bytes(), name


@pytest.mark.few(3)
@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("commit.gpgSign", "true"),
        ("core.autocrlf", "true"),
        ("core.autocrlf", "input"),
        ("core.safecrlf", "true"),
        ("core.eol", "crlf"),
        ("core.fsmonitor", "true"),
        ("core.editor", "false"),
        ("core.pager", "false"),
        ("core.fileMode", "true"),
        ("core.splitIndex", "true"),
        ("core.excludesFile", "~/ignore"),
        ("core.quotePath", "true"),
        ("status.showUntrackedFiles", "no"),
        ("status.short", "true"),
        ("status.branch", "true"),
        ("status.relativePaths", "true"),
        ("status.renames", "copies"),
        ("fastimport.unpackLimit", "1"),
        ("index.version", "4"),
        ("feature.manyFiles", "true"),
        ("i18n.logOutputEncoding", "ISO-8859-1"),
        ("i18n.commitEncoding", "ISO-8859-1"),
        ("log.showSignature", "true"),
        ("init.defaultBranch", "trunk"),
        ("user.useConfigOnly", "true"),
        ("gc.auto", "1"),
        ("color.ui", "always"),
        ("format.pretty", "oneline"),
        ("log.date", "relative"),
        ("core.logAllRefUpdates", "false"),
        ("diff.external", "false"),
        ("core.whitespace", "cr-at-eol"),
    ],
)
def test_a_persons_git_settings_do_not_matter(
    environment: dict[str, str], tmp_path: Path, key: str, value: str
) -> None:

    git(tmp_path, environment, "config", "--global", key, value)
    (Path(environment["HOME"]) / "ignore").write_text("*.json\ndaily/\n")
    vault = create_vault(tmp_path / "vault", environment, NOW)
    keep(vault, "Über die Brücke.", entity="projects/brücke")
    (vault.root / "daily/2026-11-20.md").write_bytes(b"one\r\ntwo\n")
    keep(vault, "Second.")
    plain = {**environment, "HOME": str(tmp_path / "nobody")}
    assert_whole(vault.root, plain)
    assert git(vault.root, plain, "log", "--format=%s").splitlines()[:3] == [
        "remember(areas/general): Second.",
        "edit(daily/2026-11-20.md): by hand",
        "remember(projects/brücke): Über die Brücke.",
    ]
    assert git(vault.root, plain, "branch", "--show-current") == "main\n"


def test_packed_references(vault: Vault, environment: dict[str, str]) -> None:
    keep(vault, "First.")
    git(vault.root, environment, "pack-refs", "--all")
    git(vault.root, environment, "gc", "-q")
    assert not (vault.root / ".git/refs/heads/main").exists()
    keep(vault, "Second.")
    assert [fact["fact"] for fact in facts(vault.root)] == ["First.", "Second."]
    assert_whole(vault.root, environment)


def test_a_linked_work_tree(vault: Vault, environment: dict[str, str], tmp_path: Path) -> None:
    keep(vault, "First.")
    linked = tmp_path / "linked"
    git(vault.root, environment, "worktree", "add", "-q", str(linked), "-b", "side")
    other = Vault(linked, environment)
    keep(other, "On the side.", "And again.")
    (linked / "MEMORY.md").write_text("# Mine\n")
    git(vault.root, environment, "pack-refs", "--all")
    keep(other, "Third.")
    assert git(linked, environment, "status", "--porcelain", "-uall") == ""
    assert [fact["fact"] for fact in facts(linked)] == ["First.", "On the side.", "And again.", "Third."]
    assert [fact["fact"] for fact in facts(vault.root)] == ["First."]
    keep(vault, "On the main line.")
    assert_whole(vault.root, environment)


def test_a_git_folder_kept_elsewhere(vault: Vault, environment: dict[str, str], tmp_path: Path) -> None:
    shutil.move(vault.root / ".git", tmp_path / "elsewhere.git")
    (vault.root / ".git").write_text("gitdir: ../elsewhere.git\n")
    moved = Vault(vault.root, environment)
    keep(moved, "First.")
    assert git(vault.root, environment, "status", "--porcelain", "-uall") == ""
    assert [fact["fact"] for fact in facts(vault.root)] == ["First."]


def test_a_shallow_clone(vault: Vault, environment: dict[str, str], tmp_path: Path) -> None:
    keep(vault, "First.", "Second.", "Third.")
    git(tmp_path, environment, "clone", "-q", "--depth", "1", f"file://{vault.root}", "shallow")
    clone = Vault(tmp_path / "shallow", environment)
    keep(clone, "In the clone.")
    assert_whole(clone.root, environment)
    assert len(commits(clone.root, environment)) == 2
    assert len(facts(clone.root)) == 4


def test_another_hash(environment: dict[str, str], tmp_path: Path) -> None:
    root = tmp_path / "vault"
    git(tmp_path, environment, "init", "-q", "--object-format=sha256", "-b", "main", str(root))
    (root / "clawmem.yaml").write_text("format: 1\n")
    git(root, environment, "add", ".")
    git(root, environment, "commit", "-qm", "begin")
    keep(Vault(root, environment), "First.")
    keep(Vault(root, environment), "Second.")
    assert len(commits(root, environment)[-1]) == 64
    assert git(root, environment, "status", "--porcelain") == ""


def test_reftable_is_refused_in_words(vault: Vault) -> None:
    # What git writes into HEAD where branches are kept in a reftable: older gits cannot make one.
    (vault.git_dir / "HEAD").write_text("ref: refs/heads/.invalid\n")
    with pytest.raises(Refused, match="reftable"):
        read_head(vault.git_dir)


@pytest.mark.parametrize(
    "name", ["with space", "späce ü 日本", "new\nline", "quo'te\"s", "per%cent?#hash", "-dash", "trailing ", "$HOME;x"]
)
@pytest.mark.few(3)
def test_a_vault_in_a_strange_place(environment: dict[str, str], tmp_path: Path, clawmem: Command, name: str) -> None:
    root = tmp_path / name / "vault"
    root.parent.mkdir()
    assert clawmem("init", str(root)).code == 0
    assert clawmem("remember", "First.", cwd=root).code == 0
    (root / "MEMORY.md").write_text("# Mine\n")
    assert clawmem("remember", "Second.", "--vault", str(root)).code == 0
    assert clawmem("recall", "second", "--json", cwd=root).data["facts"][0]["fact"] == "Second."
    assert_whole(root, environment)


def test_git_that_is_missing_is_named(vault: Vault, environment: dict[str, str], tmp_path: Path) -> None:
    with pytest.raises(GitFailed, match="git was not found"):
        Git(vault.root, {**environment, "PATH": str(tmp_path)}).run("version")


def test_output_of_git_in_another_language(vault: Vault, environment: dict[str, str]) -> None:
    keep(Vault(vault.root, {**environment, "LANG": "de_DE.UTF-8", "LC_ALL": "de_DE.UTF-8", "LANGUAGE": "de"}), "Eins.")
    assert_whole(vault.root, environment)


def test_remember_runs_git_three_times(vault: Vault, environment: dict[str, str]) -> None:
    """The hot path: one look for hand edits, one commit, one index. It must not grow.

    git is asked who the person is (`var`) only where the files do not say it for certain, as in other builds of git.
    """
    keep(vault, "First.", entity="areas/people/jane")
    log: list[str] = []

    class Counting(Git):
        def start(self, *arguments: str) -> subprocess.Popen[bytes]:
            log.append(next(word for word in arguments if not word.startswith("-") and "=" not in word))
            return super().start(*arguments)

    fresh = Vault(vault.root, environment)
    fresh.git = Counting(vault.root, environment)
    keep(fresh, "Second.", entity="areas/people/jane")
    keep(fresh, "Third.", entity="areas/people/john")
    assert [name for name in log if name != "var"] == ["status", "fast-import", "update-index"] * 2
