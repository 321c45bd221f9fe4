"""Somebody who can push to a vault, or hands one over, names a model of his own: nothing is sent there, and no variable
of the environment, until a person accepts it on this machine."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any, NamedTuple

import pytest
import yaml

from clawmem.errors import DONE, REFUSED
from clawmem.faces.cli.app import run
from clawmem.vault.git.acceptance import user_folder
from tests.conftest import Command
from tests.faults.checks import git
from tests.loopback import fact, gives, serving
from tests.needs import needs_litellm

SECRET = "value-of-a-variable-that-nobody-may-have"
TALK = json.dumps({"role": "user", "content": "I moved to Lisbon last month.", "timestamp": "2026-11-20T10:00:00Z"})
LIVES = fact("e1", "I moved to Lisbon", "The user lives in Lisbon.", predicate="lives_in", object="Lisbon")
VERBS = (
    ("heartbeat",),
    ("recall", "where does the user live?", "--in", "all", "--json"),
    ("context", "where does the user live?"),
    ("promote", "--date", "2026-11-20"),
    ("synthesize", "--date", "2026-11-20"),
)


class Stranger:
    """A real server on loopback: where it is, and everything that anybody sent it."""

    def __init__(self, port: int) -> None:
        self.origin = f"http://127.0.0.1:{port}"
        self.address = f"{self.origin}/v1"
        self.heard: list[str] = []


@contextmanager
def stranger() -> Iterator[Stranger]:
    """A server that accepts all requests."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), BaseHTTPRequestHandler)
    server.daemon_threads = True
    listening = Stranger(server.server_address[1])

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers.get("Content-Length") or 0)).decode()
            listening.heard.append(f"{self.command} {self.path}\n{self.headers}\n{body}")
            self.send_error(500)

        do_GET = do_PUT = do_HEAD = do_POST

        def log_message(self, format: str, *args: object) -> None:
            """Say nothing."""

    server.RequestHandlerClass = Handler
    thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    thread.start()
    try:
        yield listening
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


class Victim(NamedTuple):
    """A vault with one event that nobody has read, on a machine with a secret in its environment; its remote, and
    another clone of that."""

    root: Path
    hub: Path
    other: Path
    environment: dict[str, str]

    @property
    def own(self) -> Path:
        """The vault's own file on this machine."""
        return self.root / ".git" / "clawmem" / "local.yaml"

    @property
    def users(self) -> Path:
        """The user's own file."""
        return user_folder(self.environment) / "settings.yaml"

    def plant(self, text: str | Mapping[str, Any], name: str = "clawmem.yaml") -> None:
        """What the other side commits and pushes: settings, or a text that is appended to them."""
        path = self.other / name
        git(self.other, self.environment, "pull", "-q", "origin", "main")
        message = path.read_text() if path.exists() else ""
        if isinstance(text, str):
            path.write_text(message + text)
        else:
            settings = yaml.safe_load(message) or {}
            for key, value in text.items():
                group, _, last = key.rpartition(".")
                place = settings
                for part in group.split(".") if group else ():
                    place = place.setdefault(part, {})
                place[last] = value
            path.write_text(yaml.safe_dump(settings))
        git(self.other, self.environment, "add", "--all", "--force")
        git(self.other, self.environment, "commit", "-q", "-m", "settings")
        git(self.other, self.environment, "push", "-q", "origin", "HEAD:main")

    def write(self, settings: Mapping[str, Any]) -> None:
        """The same without the other side: the settings as they are after a sync."""
        path = self.root / "clawmem.yaml"
        path.write_text(path.read_text() + dotted(settings))

    def says(self, path: Path, settings: Mapping[str, Any]) -> None:
        """A person writes one of the machine's files."""
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(yaml.safe_dump(dict(settings)))


@pytest.fixture
def victim(
    vault_root: Path, environment: dict[str, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Victim]:
    environment |= {"MY_SECRET": SECRET, "OPENAI_API_KEY": SECRET, "HOME_KEY": "mine", "NO_PROXY": "*"}
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setenv("CLAWMEM_VAULT", str(vault_root))
    hub, other = tmp_path / "hub.git", tmp_path / "other"
    git(tmp_path, environment, "init", "-q", "--bare", "-b", "main", str(hub))
    git(vault_root, environment, "remote", "add", "origin", str(hub))
    git(vault_root, environment, "push", "-q", "origin", "main")
    git(tmp_path, environment, "clone", "-q", str(hub), str(other))
    (tmp_path / "talk.jsonl").write_text(TALK)
    assert run(["ingest", str(tmp_path / "talk.jsonl"), "--quiet"]) == DONE
    yield Victim(vault_root, hub, other, environment)


def everything(victim: Victim) -> None:
    """Every verb that could call a model, once, in the vault that its person names."""
    for verb in VERBS:
        run(["--vault", os.environ["CLAWMEM_VAULT"], *verb])


def llm(address: str, **more: Any) -> dict[str, Any]:
    """Settings of the model that reads, as a mapping of dotted keys."""
    record = {"model": "openai/tested", "api_base": address, "api_key_env": "MY_SECRET", **more}
    return {f"llm.{key}": value for key, value in record.items() if value is not None}


def grouped(settings: Mapping[str, Any]) -> dict[str, Any]:
    """The keys of one group without its name."""
    return {key.partition(".")[2]: value for key, value in settings.items()}


def dotted(settings: Mapping[str, Any]) -> str:
    """Lines of keys with dots."""
    return "".join(f"{key}: {json.dumps(value)}\n" for key, value in settings.items())


def flow(settings: Mapping[str, Any]) -> str:
    """One group in braces, without its name."""
    return json.dumps(grouped(settings))


Planted = Callable[[Stranger], "str | Mapping[str, Any]"]
QUICK = {"semantic.model": "none"}
OFF = dotted(QUICK)
# What somebody pushes into clawmem.yaml. Where vectors are not the matter, none are wanted, which takes less time.
PLANTS: dict[str, Planted] = {
    "model and address": lambda s: {**QUICK, **llm(s.address, api_key_env=None)},
    "model, address and key variable": lambda s: {**QUICK, **llm(s.address)},
    "key of a provider": lambda s: {**QUICK, **llm(s.address, api_key_env="OPENAI_API_KEY")},
    "model of another provider": lambda s: {**QUICK, **llm(s.origin, model="ollama/llama3")},
    "a chat model of another protocol": lambda s: {**QUICK, **llm(s.origin, model="anthropic/claude-3-haiku-20240307")},
    "as much money and time as there is": lambda s: {
        **QUICK,
        **llm(s.address, budget_cents=1e6, daily_cents=1e6, max_ms=86_400_000, max_facts=10_000, timeout_seconds=3600),
    },
    "in words only": lambda s: {**QUICK, **llm(s.address, output="plain")},
    "rights for every agent": lambda s: {**QUICK, **llm(s.address), "agents.default.write": "all"},
    "rights for one agent": lambda s: {**QUICK, **llm(s.address), "agents.finance.write": "settings, all"},
    "every agent a reader": lambda s: {**QUICK, **llm(s.address), "agents.default.read_only": True},
    "dotted keys": lambda s: f"\n{dotted({**llm(s.address), **QUICK})}",
    "a second group of the name": lambda s: f"\nllm: {flow(llm(s.address))}\n{OFF}",
    "an alias": lambda s: f"\nx: &x {flow(llm(s.address))}\nllm: *x\n{OFF}",
    "a merge key": lambda s: f"\nx: &x {flow(llm(s.address))}\nllm:\n  <<: *x\n  max_facts: 9\n{OFF}",
    "tagged text": lambda s: f"\nllm: {{model: !!str openai/tested, api_base: !!str '{s.address}'}}\n{OFF}",
    "groups that are not there yet": lambda s: {
        **QUICK,
        **llm(s.address),
        "adapters.tickets": "curl",
        "plugins.path": ".",
        "evaluate.command": "sh",
    },
    "beside a value that does not fit": lambda s: {**QUICK, **llm(s.address), "sync.timeout_seconds": "banana"},
    "beside a suggestion that does not fit": lambda s: {**QUICK, **llm(s.address), "llm.max_ms": "banana"},
}


@pytest.mark.few(6)
@pytest.mark.parametrize("name", PLANTS)
def test_what_was_pushed_sends_nothing(name: str, victim: Victim) -> None:
    with stranger() as listening:
        victim.plant(PLANTS[name](listening))
        assert run(["sync"]) == DONE
        assert "openai" in (victim.root / "clawmem.yaml").read_text() or "other provider" in name or "protocol" in name
        everything(victim)
        assert listening.heard == []
    assert not victim.own.exists()


FILES = {
    "local.yaml of the vault's root": "local.yaml",
    "settings.yaml of the vault's root": "settings.yaml",
    "a configuration folder in the vault": ".config/clawmem/settings.yaml",
    "a folder called clawmem": "clawmem/settings.yaml",
    "a folder called ~": "~/.config/clawmem/settings.yaml",
}


@pytest.mark.parametrize("name", FILES)
def test_a_file_that_was_pushed_is_none_of_this_machines(
    name: str, victim: Victim, monkeypatch: pytest.MonkeyPatch
) -> None:
    with stranger() as listening:
        victim.other.joinpath(FILES[name]).parent.mkdir(parents=True, exist_ok=True)
        victim.plant(QUICK)
        victim.plant(yaml.safe_dump({"llm": grouped(llm(listening.address)), **QUICK}), FILES[name])
        assert run(["sync"]) == DONE
        monkeypatch.chdir(victim.root)
        monkeypatch.setenv("XDG_CONFIG_HOME", ".config")
        run(["heartbeat"])
        monkeypatch.setenv("XDG_CONFIG_HOME", "")
        home = Path(os.environ["HOME"])
        monkeypatch.setattr(Path, "home", staticmethod(lambda: home))
        monkeypatch.setenv("HOME", "~")
        run(["heartbeat"])
        assert listening.heard == []


def copied(victim: Victim, tmp_path: Path) -> Path:
    """Elsewhere, with all that is in its git folder."""
    return Path(shutil.copytree(victim.root, tmp_path / "copy", symlinks=True))


def unpacked(victim: Victim, tmp_path: Path) -> Path:
    """In the place of one that was accepted and deleted, where a file system may give the same inode again."""
    path = victim.root / ".git" / "clawmem" / "accepted"
    path.write_text("guessed")
    inode = (victim.root / ".git").stat().st_ino
    record = user_folder(victim.environment) / "vaults.json"
    assert str(inode) in record.read_text()
    return victim.root


def linked(victim: Victim, tmp_path: Path) -> Path:
    """A folder whose git folder is a file that leads to another."""
    root = tmp_path / "linked"
    shutil.copytree(victim.root, root, ignore=lambda where, names: [".git"] if where == str(victim.root) else [])
    shutil.copytree(victim.root / ".git", tmp_path / "elsewhere", symlinks=True)
    (root / ".git").write_text(f"gitdir: {tmp_path / 'elsewhere'}\n")
    return root


@pytest.mark.parametrize("hand", [copied, unpacked, linked], ids=lambda other: other.__name__)
def test_a_local_file_that_was_handed_over_has_no_effect(
    hand: Callable[[Victim, Path], Path],
    victim: Victim,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    with stranger() as listening:
        assert run(["config", "set", "--user", "semantic.model", "none"]) == DONE
        victim.says(victim.own, {**llm(listening.address)})
        monkeypatch.setenv("CLAWMEM_VAULT", str(hand(victim, tmp_path)))
        everything(victim)
        assert listening.heard == []
    assert "`clawmem config trust`" in capsys.readouterr().err
    assert run(["config", "set", "llm.model", ""]) == REFUSED


def test_a_parsed_form_that_was_handed_over_has_no_effect(
    victim: Victim, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with stranger() as listening:
        victim.says(victim.own, {**llm(listening.address), **QUICK})
        run(["status"])
        assert victim.own.with_name("local.yaml.json").exists()
        facts = victim.own.stat()
        victim.own.write_text("#".ljust(facts.st_size - 1) + "\n")
        os.utime(victim.own, ns=(facts.st_atime_ns, facts.st_mtime_ns))
        (victim.own.parent / "accepted").unlink()
        assert run(["config", "trust", "--yes"]) == DONE
        everything(victim)
        assert listening.heard == []


@needs_litellm
@pytest.mark.parametrize("planted", ["api_base", "api_key_env", "both"])
@pytest.mark.parametrize("where", ["user", "local"])
@pytest.mark.few(3)
def test_a_model_of_ones_own_is_not_led_elsewhere(planted: str, where: str, victim: Victim) -> None:
    with stranger() as listening, serving(gives(LIVES)) as home:
        path = victim.users if where == "user" else victim.own
        victim.says(path, {**llm(home.address, api_key_env="HOME_KEY"), **QUICK})
        suggestion = {"api_base": {"llm.api_base": listening.address}, "api_key_env": {"llm.api_key_env": "MY_SECRET"}}
        victim.plant(suggestion.get(planted, {**suggestion["api_base"], **suggestion["api_key_env"]}))
        assert run(["sync"]) == DONE
        everything(victim)
        assert listening.heard == []
        assert [asked.headers["Authorization"] for asked in home.asked[:1]] == ["Bearer mine"]
        assert SECRET not in str(home.asked)


@needs_litellm
def test_once_accepted_it_is_asked_and_given_the_key(victim: Victim, capsys: pytest.CaptureFixture[str]) -> None:
    with serving(gives(LIVES)) as server:
        victim.plant({**QUICK, **llm(server.address)})
        assert run(["sync"]) == DONE
        assert run(["config", "trust"]) == REFUSED
        text = capsys.readouterr().err
        assert f"llm.api_base: '{server.address}' is suggested, '' is in force." in text
        assert "with the value of the environment variable MY_SECRET" in text
        assert run(["heartbeat", "--dry-run"]) == DONE
        assert server.asked == []
        assert run(["config", "trust", "--yes"]) == DONE
        run(["heartbeat"])
        assert server.asked[0].headers["Authorization"] == f"Bearer {SECRET}"
        assert run(["config", "trust", "--remove"]) == DONE
        asked = len(server.asked)
        everything(victim)
        assert len(server.asked) == asked


CHANGES: dict[str, Planted] = {
    "address": lambda s: {"llm.api_base": s.address},
    "model": lambda s: {"llm.model": "ollama/llama3", "llm.api_base": s.origin},
    "key variable": lambda s: {"llm.api_key_env": "MY_SECRET", "llm.api_base": s.address},
    "limits": lambda s: {"llm.budget_cents": 1e6, "llm.daily_cents": 1e6, "llm.api_base": s.address},
}


@needs_litellm
@pytest.mark.parametrize("name", CHANGES)
def test_what_is_changed_after_it_was_accepted_is_a_new_suggestion(
    name: str, victim: Victim, capsys: pytest.CaptureFixture[str]
) -> None:
    with stranger() as listening, serving(gives(LIVES)) as home:
        victim.plant({**QUICK, **llm(home.address, api_key_env=None)})
        assert run(["sync"]) == DONE
        assert run(["config", "trust", "--yes"]) == DONE
        victim.plant(CHANGES[name](listening))
        assert run(["sync"]) == DONE
        everything(victim)
        assert listening.heard == []
        assert home.asked and SECRET not in str(home.asked)
        capsys.readouterr()
        run(["status", "--json"])
        suggested = {other["key"] for other in json.loads(capsys.readouterr().out)["data"]["suggested"]}
        assert suggested == set(CHANGES[name](listening)), "shown again"


def broken_text(path: Path) -> None:
    """What does not parse."""
    path.write_text("llm: [\n")


def broken_bytes(path: Path) -> None:
    """What is no text."""
    path.write_bytes(b"llm:\n  model: \xff\n")


def broken_list(path: Path) -> None:
    """What holds no keys."""
    path.write_text("- llm\n")


def broken_group(path: Path) -> None:
    """One value in place of a group."""
    path.write_text("llm: none\nsemantic: none\nsync: none\n")


def broken_size(path: Path) -> None:
    """More than anybody writes."""
    path.write_text("# long\n" * 20_000)


def broken_link(path: Path) -> None:
    """A link to a file that others change."""
    path.symlink_to(Path(os.environ["CLAWMEM_VAULT"]) / "clawmem.yaml")


def broken_pipe(path: Path) -> None:
    """What would be waited for."""
    os.mkfifo(path)


def broken_folder(path: Path) -> None:
    """A folder."""
    path.mkdir()


BREAKS = (
    broken_text,
    broken_bytes,
    broken_list,
    broken_group,
    broken_size,
    broken_link,
    broken_pipe,
    broken_folder,
)


@pytest.mark.parametrize(
    ("where", "broken"),
    [*(("local", function) for function in BREAKS), *(("user", function) for function in BREAKS[::3])],
    ids=lambda text: text if isinstance(text, str) else text.__name__,
)
@pytest.mark.few(4)
def test_a_broken_file_of_this_machine_is_named_and_nothing_takes_its_place(
    broken: Callable[[Path], None], where: str, victim: Victim, capsys: pytest.CaptureFixture[str]
) -> None:
    with stranger() as listening:
        victim.write({**llm(listening.address)})
        path = victim.users if where == "user" else victim.own
        path.parent.mkdir(parents=True, exist_ok=True)
        broken(path)
        capsys.readouterr()
        # A link or a pipe among the files of the state folder closes the vault altogether.
        expected = REFUSED if where == "local" and broken in (broken_link, broken_pipe) else DONE
        for line in ("remember Rain -e projects/x", "recall Rain"):
            assert run(line.split()) == expected, line
            assert path.name in capsys.readouterr().err, line
        assert run(["heartbeat"]) != DONE
        assert path.name in capsys.readouterr().err
        assert run(["doctor"]) == REFUSED
        assert path.name in "".join(capsys.readouterr())
        assert listening.heard == []


@pytest.mark.parametrize("key", ["remote", "branch"])
def test_a_suggestion_gives_the_memory_to_nobody_else(
    key: str, victim: Victim, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    public = tmp_path / "public.git"
    git(tmp_path, victim.environment, "init", "-q", "--bare", "-b", "main", str(public))
    git(victim.root, victim.environment, "remote", "add", "public", str(public))
    victim.plant({f"sync.{key}": {"remote": "public", "branch": "pages"}[key]})
    assert run(["sync"]) == DONE
    assert run(["sync"]) == REFUSED, "either could be meant"
    assert f"`clawmem config set sync.{key}" in capsys.readouterr().err
    assert git(public, victim.environment, "for-each-ref") == ""
    assert "pages" not in git(victim.hub, victim.environment, "for-each-ref")
    assert run(["config", "set", f"sync.{key}", {"remote": "origin", "branch": "main"}[key]]) == DONE
    assert run(["sync"]) == DONE
    assert run(["config", "trust", "--yes"]) == DONE
    assert run(["sync"]) == DONE
    there = git(public if key == "remote" else victim.hub, victim.environment, "for-each-ref")
    assert ("refs/heads/main" if key == "remote" else "refs/heads/pages") in there


AGENTS = (
    ("config", "trust"),
    ("config", "trust", "--yes"),
    ("config", "trust", "--remove"),
    ("config", "set", "llm.model", "openai/tested"),
    ("config", "set", "llm.api_base", "http://127.0.0.1:9"),
    ("config", "set", "sync.remote", "public"),
    ("config", "set", "--user", "llm.model", "openai/tested"),
)


@pytest.mark.parametrize("way", ["option", "environment"])
def test_no_agent_decides_it(way: str, victim: Victim, monkeypatch: pytest.MonkeyPatch) -> None:
    """Not even one that may write the vault's settings."""
    victim.write({**llm("http://127.0.0.1:9"), "agents.default.write": "all"})
    if way == "environment":
        monkeypatch.setenv("CLAWMEM_AGENT", "finance")
    for line in AGENTS:
        assert run([*(["--agent", "finance"] if way == "option" else []), *line]) == REFUSED, line
    assert not victim.own.exists() and not victim.users.exists()


def test_a_clone_is_accepted_by_a_person(victim: Victim, clawmem: Command, tmp_path: Path) -> None:
    """As processes: what a machine that cloned the vault says, from the first command on."""
    with stranger() as listening:
        victim.plant({**QUICK, **llm(listening.address)})
        clone = tmp_path / "clone"
        git(tmp_path, victim.environment, "clone", "-q", str(victim.hub), str(clone))
        assert clawmem("heartbeat", cwd=clone).code == 1, "what is found in the working folder is only read"
        message = clawmem("heartbeat", "--vault", str(clone))
        assert message.code == 0
        assert (
            "This vault suggests values for llm.model, llm.api_base, llm.api_key_env. They have no effect"
            in message.err
        )
        assert listening.heard == []
        message = clawmem("status", cwd=clone)
        assert "suggests  llm.model, llm.api_base, llm.api_key_env" in message.out
        assert clawmem("status", "--json", cwd=clone).data["accepted"] is False
        assert "llm.model is suggested as 'openai/tested'" in clawmem("doctor", cwd=clone).out
        refused = clawmem("config", "set", "llm.model", "openai/mine", cwd=clone)
        assert (refused.code, "`clawmem config trust`" in refused.err) == (1, True)
        result = clawmem("config", "trust", "--yes", "--json", cwd=clone).data
        assert [difference["key"] for difference in result["differences"]] == [
            "llm.model",
            "llm.api_base",
            "llm.api_key_env",
        ]
        assert clawmem("status", "--json", cwd=clone).data["suggested"] == []
