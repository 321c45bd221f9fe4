"""Two machines in two commands: connecting a vault, joining it, and what is refused with nothing left behind."""

from __future__ import annotations

import functools
import http.server
import os
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.conftest import Command, Result
from tests.faults.checks import git
from tests.memory.machines import make_hub
from tests.setup.test_cron import CRONTAB


class Home:
    """A machine of its own: a home in which there is no vault yet."""

    def __init__(self, clawmem: Command, folder: Path) -> None:
        folder.mkdir()
        self.folder, self._clawmem = folder, clawmem

    def __call__(self, *arguments: str, **env: str) -> Result:
        place = {"HOME": str(self.folder), "CLAWMEM_VAULT": str(self.folder / ".clawmem")}
        place["XDG_CONFIG_HOME"] = str(self.folder / ".config")
        return self._clawmem(*arguments, env={**place, **env}, cwd=self.folder)

    def facts(self) -> set[str]:
        """What its vault states."""
        return {fact["fact"] for fact in self("list", "--json").data["facts"]}


@pytest.fixture
def home(clawmem: Command, tmp_path: Path) -> Home:
    """A machine without a vault."""
    return Home(clawmem, tmp_path / "other home")


@pytest.mark.usefixtures("without_vectors")
def test_two_machines_in_two_commands(
    clawmem: Command, home: Home, tmp_path: Path, environment: dict[str, str]
) -> None:
    address = str(tmp_path / "shelf.git")
    clawmem("remember", "Ann likes tea.")
    assert clawmem("sync", "setup", address).code == 0
    assert home("sync", "setup", address).out.startswith(f"joined the memory at {address}: {home.folder}/.clawmem\n")
    assert home.facts() == {"Ann likes tea."} and "0 errors, 0 warnings" in home("doctor").out
    assert home("remember", "Ben likes jam.").code == 0  # it was made here: nothing more to accept
    assert "sent " in home("heartbeat").out
    assert "received " in clawmem("heartbeat").out
    assert "Ben likes jam." in clawmem("list").out
    for run in (clawmem, home) * 3:
        last = run("heartbeat")
    assert last.out == "nothing to do\n" and clawmem("heartbeat").out == "nothing to do\n"
    assert "connected with" in clawmem("sync", "setup", address).out  # again
    for vault in (tmp_path / "vault", home.folder / ".clawmem"):  # a person's own git knows the way, too
        assert git(vault, environment, "pull", "--no-rebase").strip() == "Already up to date."


@pytest.mark.usefixtures("without_vectors")
def test_a_new_vault_takes_what_is_there_and_one_with_facts_does_not(
    clawmem: Command, home: Home, tmp_path: Path
) -> None:
    address = str(tmp_path / "shelf.git")
    clawmem("remember", "Ann likes tea.")
    clawmem("sync", "setup", address)
    home("init")
    assert home("sync", "setup", address).code == 0 and home.facts() == {"Ann likes tea."}
    third = Home(clawmem, tmp_path / "third home")
    third("init", CLAWMEM_NOW="2026-11-19T09:00:00Z")
    third("remember", "Zoe likes figs.")
    refused = third("sync", "setup", address)
    assert refused.code == 1 and "no common history" in refused.err
    assert git(third.folder / ".clawmem", {"PATH": os.environ["PATH"]}, "remote") == "" and third.facts() == {
        "Zoe likes figs."
    }


def test_the_first_machine_may_start_from_nothing_and_cron_runs_the_heartbeat(home: Home, tmp_path: Path) -> None:
    program = tmp_path / "bin" / "crontab"
    program.parent.mkdir()
    program.write_text(CRONTAB)
    program.chmod(0o755)
    path = f"{program.parent}:/usr/bin:/bin"
    hub = make_hub(tmp_path, {})
    made = home("sync", "setup", str(hub), PATH=path)
    assert made.code == 0 and "connected with" in made.out and "every 15 minutes" in made.out
    assert "heartbeat" in (home.folder / "table").read_text()
    assert "cron show" in home("sync", "setup", str(hub), PATH=path).out


@pytest.mark.parametrize(
    ("address", "words"),
    [
        ("{}/nowhere/x.git", "no folder"),
        ("{}/Dropbox/x.git", "a program syncs (Dropbox)"),
        ("{}/OneDrive - Acme/x.git", "a program syncs"),
        ("{}/code", "no vault"),
        ("https://ann:secret@host.example/x.git", "contains a password"),
    ],
)
def test_what_is_no_place_for_a_memory_is_refused(home: Home, tmp_path: Path, address: str, words: str) -> None:
    for name in ("Dropbox", "OneDrive - Acme"):
        (tmp_path / name).mkdir()
    code = tmp_path / "code"
    code.mkdir()
    git(code, {}, "init", "-q", ".")
    git(code, {}, "-c", "user.name=a", "-c", "user.email=b", "commit", "-q", "--allow-empty", "-m", "x")
    before = sorted(tmp_path.rglob("*"))
    refused = home("sync", "setup", address.format(tmp_path))
    assert refused.code != 0 and words in refused.err and "secret" not in refused.out
    assert sorted(tmp_path.rglob("*")) == before


def test_an_option_is_no_address(home: Home) -> None:
    for words in (("--help",), ("--dry-run",), ()):
        refused = home("sync", "setup", *words)
        assert refused.code == 2 and "error: " in refused.err and list(home.folder.iterdir()) == []


def test_a_vault_on_a_synced_drive_is_refused(clawmem: Command, tmp_path: Path) -> None:
    (tmp_path / "Dropbox").mkdir()
    vault = str(tmp_path / "Dropbox" / "memory")
    clawmem("init", vault)
    refused = clawmem("--vault", vault, "sync", "setup", str(tmp_path / "shelf.git"))
    assert refused.code != 0 and "Dropbox" in refused.err and not (tmp_path / "shelf.git").exists()


def test_an_agent_connects_nothing(clawmem: Command, tmp_path: Path) -> None:
    refused = clawmem("sync", "setup", str(tmp_path / "shelf.git"), env={"CLAWMEM_AGENT": "scout"})
    assert refused.code != 0 and "Only a person" in refused.err and not (tmp_path / "shelf.git").exists()


def test_another_address_does_not_replace_the_present_one(clawmem: Command, tmp_path: Path) -> None:
    clawmem("sync", "setup", str(tmp_path / "one.git"))
    refused = clawmem("sync", "setup", str(tmp_path / "two.git"))
    assert refused.code != 0 and "remote set-url" in refused.err and not (tmp_path / "two.git").exists()


@pytest.fixture
def public(tmp_path: Path) -> Iterator[str]:
    """A repository that everybody can read by HTTP."""
    hub = make_hub(tmp_path, {})
    git(hub, {}, "--git-dir=.", "update-server-info")
    handler = functools.partial(http.server.SimpleHTTPRequestHandler, directory=str(hub.parent))
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}/{hub.name}"
        server.shutdown()


def test_an_address_that_everybody_can_read_is_refused(home: Home, public: str) -> None:
    refused = home("sync", "setup", public)
    assert refused.code != 0 and "Everybody can read" in refused.err
    assert list(home.folder.iterdir()) == []


@pytest.mark.parametrize(
    ("said_by_ssh", "hint"),
    [
        ("Host key verification failed.", "does not know this host yet"),
        ("git@host.example: Permission denied (publickey).", "ssh-keygen"),
        ("ERROR: Repository not found.", "create a private, empty repository"),
        ("ssh: connect to host host.example port 22: Connection refused", "Nothing was lost"),
    ],
)
def test_what_a_host_says_is_answered_with_what_to_do(home: Home, tmp_path: Path, said_by_ssh: str, hint: str) -> None:
    ssh = tmp_path / "ssh"
    ssh.write_text(f"#!/bin/sh\necho '{said_by_ssh}' >&2\nexit 255\n")
    ssh.chmod(0o755)
    failed = home("sync", "setup", "git@host.example:ann/memory.git", GIT_SSH_COMMAND=str(ssh))
    assert failed.code == 1 and hint in failed.err and list(home.folder.iterdir()) == []
