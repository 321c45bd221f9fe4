"""History through GitPython: the environment is clean, whatever the person's git configuration."""

from __future__ import annotations

import os
import subprocess
import sys
from datetime import timedelta
from pathlib import Path

import pytest

from clawmem.errors import GitFailed, NotFound
from clawmem.model.records.caller import Caller
from clawmem.model.records.change import Author, Change, trailers
from clawmem.vault.commit.transaction import transaction
from clawmem.vault.exchange.create import create_vault
from clawmem.vault.history.history import HistoryFilter, find_commit, last_commits_at, open_history
from clawmem.vault.vault import Vault


def commit(vault: Vault, caller: Caller, number: int, hours: int = 0, author: Author | None = None) -> str:
    moment = caller.now + timedelta(hours=hours)
    items = trailers("note", facts=[f"fact_{number}"])
    with transaction(vault, moment, "test") as started:
        content = f"# {number}\n".encode()
        return started.commit(
            [Change(f"note(x): {number}", {f"daily/2026-11-{number:02}.md": content}, items, author=author)]
        )[-1]


def test_entries_come_newest_first_with_time_and_author(vault: Vault, caller: Caller) -> None:
    names = [commit(vault, caller, 1), commit(vault, caller, 2, hours=5, author=Author("Ada <x>", "ada@example.org"))]
    with open_history(vault) as history:
        newest, older, first = list(history.entries(HistoryFilter()))
    assert [newest.commit, older.commit] == names[::-1]
    assert (newest.time, newest.author, newest.author_email) == ("2026-11-21T14:30:00Z", "Ada x", "ada@example.org")
    assert newest.facts == ("fact_2",)
    assert newest.parents == (older.commit,)
    assert (first.op, first.parents) == ("init", ())


def test_entries_can_be_narrowed_by_message_author_time_and_path(vault: Vault, caller: Caller) -> None:
    text = commit(vault, caller, 1)
    two = commit(vault, caller, 2, hours=5, author=Author("finance", "finance@agents.clawmem"))

    def names(wanted: HistoryFilter) -> list[str]:
        with open_history(vault) as history:
            return [entry.commit for entry in history.entries(wanted)]

    assert names(HistoryFilter(grep=["^Fact: fact_1$"])) == [text]
    assert names(HistoryFilter(grep=["^Fact: fact_1$", "^Clawmem-Op: init$"], inverted=True)) == [two]
    assert names(HistoryFilter(author="FINANCE")) == [two]
    assert names(HistoryFilter(since="2026-11-21T12:00:00Z")) == [two]
    assert names(HistoryFilter(until="2026-11-21T12:00:00Z"))[0] == text
    assert names(HistoryFilter(paths=["daily/2026-11-02.md"])) == [two]
    assert names(HistoryFilter(rev=f"{text}..HEAD")) == [two]


def test_variables_of_git_from_outside_do_not_reach_it(
    vault: Vault, caller: Caller, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    name = commit(vault, caller, 1)
    elsewhere = tmp_path / "elsewhere"
    subprocess.run(["git", "init", "--quiet", elsewhere], check=True)
    for key, value in {
        "GIT_DIR": str(elsewhere / ".git"),
        "GIT_WORK_TREE": str(elsewhere),
        "GIT_OBJECT_DIRECTORY": str(elsewhere / ".git/objects"),
        "GIT_COMMON_DIR": str(elsewhere / ".git"),
        "GIT_CONFIG_COUNT": "1",
        "GIT_CONFIG_KEY_0": "grep.patternType",
        "GIT_CONFIG_VALUE_0": "fixed",
    }.items():
        monkeypatch.setenv(key, value)
    before = dict(os.environ)
    with open_history(vault) as history:
        assert "GIT_DIR" not in os.environ
        assert [entry.commit for entry in history.entries(HistoryFilter(grep=["^Fact: fact_1$"]))] == [name]
    assert dict(os.environ) == before


def test_the_environment_comes_back_after_a_failure(vault: Vault) -> None:
    before = dict(os.environ)
    with pytest.raises(NotFound), open_history(vault) as history:
        history.named("beefbeef")
    assert dict(os.environ) == before


def test_the_persons_own_settings_do_not_change_what_is_found(
    vault: Vault, caller: Caller, environment: dict[str, str]
) -> None:
    name = commit(vault, caller, 1)
    config = Path(environment["HOME"]) / ".gitconfig"
    config.write_text(
        config.read_text() + "[grep]\n\tpatternType = perl\n[log]\n\tshowSignature = true\n[core]\n\tpager = false\n"
    )
    with open_history(vault) as history:
        assert [entry.commit for entry in history.entries(HistoryFilter(grep=[r"^Fact: fact_1$"]))] == [name]
        assert history.commits_changing("# 1", ".md") == [name]


def test_a_date_is_the_last_commit_at_or_before_it(vault: Vault, caller: Caller) -> None:
    text, two = commit(vault, caller, 1, hours=1), commit(vault, caller, 2, hours=2)
    assert last_commits_at(vault, "2026-11-21T10:30:00Z") == [text]
    assert last_commits_at(vault, "2026-11-21T11:29:59Z") == [text]
    assert last_commits_at(vault, "2026-11-21T11:30:00Z") == [two]
    assert last_commits_at(vault, "2026-11-21T09:29:59Z") == []
    assert last_commits_at(vault, "1066-10-14T00:00:00Z") == []
    assert last_commits_at(vault, "2999-01-01T00:00:00Z") == [two]


def test_a_commit_is_named_in_full_in_part_or_from_head(vault: Vault, caller: Caller) -> None:
    name = commit(vault, caller, 1)
    with open_history(vault) as history:
        assert {history.named(text).commit for text in (name, name[:8], "HEAD")} == {name}
        assert history.named("HEAD~1").op == "init"
        for wrong in ("", "--output=x", "0000000", "HEAD~9", "nope", "HEAD:README.md", "a\nb"):
            assert find_commit(vault, wrong) is None


def test_a_commit_that_does_not_lead_to_head_is_not_part_of_the_history(vault: Vault, caller: Caller) -> None:
    before = vault.head().commit
    name = commit(vault, caller, 1)
    vault.git.run("reset", "--quiet", "--hard", str(before))
    with open_history(vault) as history, pytest.raises(NotFound, match="not part of this vault"):
        history.named(name)


def test_a_damaged_history_is_a_sentence_and_no_bug(vault: Vault, caller: Caller) -> None:
    first = str(vault.head().commit)
    commit(vault, caller, 1)
    (vault.git_dir / "objects" / first[:2] / first[2:]).unlink()
    with open_history(vault) as history, pytest.raises(GitFailed):
        list(history.entries(HistoryFilter()))


def test_the_hot_verbs_never_load_gitpython() -> None:
    code = "import sys; from clawmem.faces.verbs import history, recall, remember; sys.exit('git' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], timeout=60).returncode == 0


def test_a_folder_with_a_dollar_sign_is_its_own(tmp_path: Path, environment: dict[str, str], caller: Caller) -> None:
    """GitPython expands variables in paths."""
    odd = create_vault(tmp_path / "$HOME and $PATH", environment, caller.now)
    name = commit(odd, caller, 1)
    with open_history(odd) as history:
        assert next(entry.commit for entry in history.entries(HistoryFilter())) == name
        assert history.entry(name).parents
