"""Fixtures of all tests: a fixed clock, fixed ids, a separate home and git identity, and a real vault."""

from __future__ import annotations

import gc
import json
import os
import random
import shutil
import subprocess
import tempfile
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple, Protocol, TypeVar, cast

import pytest
from hypothesis import HealthCheck, settings

from clawmem.index.vectors.embed import UNRELATED
from clawmem.index.vectors.local_model import NAME, LocalModel, missing_packages
from clawmem.index.vectors.store import key_of, open_or_create_vectors, pack_vector
from clawmem.model.records.caller import AGENT_SHELLS, Caller
from clawmem.vault.exchange.create import create_vault
from clawmem.vault.git.acceptance import accept, is_accepted
from clawmem.vault.vault import Vault
from tests.answers import check_document
from tests.command_server import CommandServer, shared_server
from tests.in_process import run_here, runs_here
from tests.trees import Tree

NOW = datetime(2026, 11, 21, 9, 30, tzinfo=UTC)
PINNED_NOW = "2026-11-21T09:30:00Z"
_ROOM_IN_MEMORY = 4 << 30  # bytes that must be free; a run holds a few hundred MB at a time
_Test = TypeVar("_Test", bound=Callable[..., None])
_Built = TypeVar("_Built")


def pytest_configure(config: pytest.Config) -> None:
    """On a loaded machine examples are slow, which says nothing about the code. Every normal run tries the same ones;
    the long runs look for others."""
    long = config.getoption("markexpr") == "soak"
    settings.register_profile(
        "any machine",
        max_examples=100 if long else 30,
        deadline=None,
        suppress_health_check=[HealthCheck.too_slow],
        derandomize=not long,
    )
    settings.load_profile("any machine")
    _use_memory(config)
    gc.disable()  # nothing of what is collected is garbage


def examples(few: int, many: int, *checks: HealthCheck) -> Callable[[_Test], _Test]:
    """Try a property on few examples in a normal run, and on many other ones under `make soak`."""
    long = not settings().derandomize

    def decorate(test: _Test) -> _Test:
        known = [HealthCheck.too_slow, *checks]
        property_test = settings(max_examples=many if long else few, suppress_health_check=known)(test)
        return pytest.mark.soak(property_test) if long else property_test

    return decorate


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Of the rows of a test marked `few(n)` every run takes n, spread evenly; the others run under `make soak`.

    Each property is tried on more examples there. What uses litellm comes first, so that one process of a run imports
    it, which takes seconds.
    """
    items.sort(key=lambda item: not _uses_litellm(item))
    if not settings().derandomize:
        for item in items:
            if getattr(getattr(item, "obj", None), "is_hypothesis_test", False):
                item.add_marker(pytest.mark.soak)
    rows: dict[Any, list[pytest.Item]] = defaultdict(list)
    for item in items:
        if item.get_closest_marker("few"):
            rows[item.nodeid.partition("[")[0]].append(item)
    for group in rows.values():
        mark = group[0].get_closest_marker("few")
        number = min(mark.args[0], len(group)) if mark else 0
        kept = {len(group) * n // number for n in range(number)}
        for n, item in enumerate(group):
            if n not in kept:
                item.add_marker(pytest.mark.soak)


def _uses_litellm(item: pytest.Item) -> bool:
    marks = (mark.kwargs.get("reason", "") for mark in item.iter_markers("skipif"))
    return any("litellm" in reason for reason in marks) or "litellm_server" in getattr(item, "fixturenames", ())


def pytest_collection_finish() -> None:
    """What was collected lives to the end: no collection of garbage looks at it again."""
    gc.collect()
    gc.freeze()
    gc.enable()


def _use_memory(config: pytest.Config) -> None:
    """Put the files of the tests into memory if the machine has a folder for that.

    No test cuts the power, so waiting for a disk proves nothing, and it is half of what the tests of the vault take.
    TMPDIR and --basetemp choose another place.
    """
    place = Path("/dev/shm")
    if "TMPDIR" in os.environ or config.getoption("basetemp") or not os.access(place, os.W_OK):
        return
    disk = os.statvfs(place)
    if disk.f_bavail * disk.f_frsize >= _ROOM_IN_MEMORY and not disk.f_flag & getattr(os, "ST_NOEXEC", 0):
        os.environ["TMPDIR"] = str(place)
        tempfile.tempdir = None


class Result(NamedTuple):
    """What one run of a real command gave."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        """stdout as the one JSON document it must be."""
        return json.loads(self.out)

    @property
    def data(self) -> Any:
        """The payload of a --json document that says ok."""
        document = self.json
        assert document["ok"], document
        return document["data"]


class Command(Protocol):
    """Run `clawmem` as a separate process, in a new vault."""

    def __call__(
        self,
        *arguments: str,
        given: str | bytes | None = None,
        env: Mapping[str, str] | None = None,
        cwd: Path | None = None,
    ) -> Result: ...


@pytest.fixture(autouse=True)
def _no_real_home(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    home = tmp_path_factory.getbasetemp() / "home"
    home.mkdir(exist_ok=True)
    real = Path(os.path.expanduser("~")).resolve()  # noqa: PTH111
    shells = tuple(row.partition("=")[0] for row in AGENT_SHELLS)
    for name in [name for name in os.environ if name.startswith(("GIT_", "CLAWMEM_", "XDG_", *shells))]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("HOME", str(home))

    def refuse() -> Path:
        raise AssertionError(f"a test reached for the real home {real}")

    monkeypatch.setattr(Path, "home", staticmethod(refuse))


@pytest.fixture
def environment(tmp_path: Path) -> dict[str, str]:
    """The environment of a command under test: nothing of the developer's own but the path."""
    return _environment(tmp_path / "home")


def _environment(home: Path) -> dict[str, str]:
    home.mkdir()
    (home / ".gitconfig").write_text("[user]\n\tname = Ada Person\n\temail = ada@example.org\n")
    return {
        "PATH": os.environ["PATH"],
        "HOME": str(home),
        "LANG": "C.UTF-8",
        "CLAWMEM_NOW": PINNED_NOW,
        "CLAWMEM_SEED": "1",
        "CLAWMEM_TRACEBACK": "1",
    }


@pytest.fixture(scope="session")
def newborn(tmp_path_factory: pytest.TempPathFactory) -> Tree:
    """A vault as `init` leaves it, with what the first command keeps of its YAML files: parsing them takes longer than
    most commands. It is made once, and thousands of tests begin with a copy."""
    folder = tmp_path_factory.mktemp("newborn")
    vault = create_vault(folder / "vault", _environment(folder / "home"), NOW)
    assert vault.settings and vault.catalog
    return Tree.of(vault.root)


@pytest.fixture(scope="session")
def newborn_without_vectors(tmp_path_factory: pytest.TempPathFactory, newborn: Tree) -> Tree:
    """The same vault with settings by which it wants no vectors."""
    folder = tmp_path_factory.mktemp("newborn")
    root = newborn.write(folder / "vault")
    path = root / "clawmem.yaml"
    text = path.read_text()
    assert text.count("\n  model: local\n") == 1
    path.write_text(text.replace("\n  model: local\n", "\n  model: none\n"))
    command = ["git", "commit", "--quiet", "--all", "--amend", "--no-edit"]
    subprocess.run(command, cwd=root, env=_environment(folder / "home"), check=True)
    return Tree.of(root)


@pytest.fixture
def vault_root(tmp_path: Path, environment: dict[str, str], request: pytest.FixtureRequest) -> Path:
    """The folder of a fresh vault."""
    wants_vectors = "without_vectors" not in request.fixturenames
    tree: Tree = request.getfixturevalue("newborn" if wants_vectors else "newborn_without_vectors")
    root = tree.write(tmp_path / "vault")
    accept(root / ".git", environment)  # a copy is not what was accepted when it was made
    return root


@pytest.fixture
def vault(vault_root: Path, environment: dict[str, str]) -> Vault:
    """A fresh vault."""
    return Vault(vault_root, environment)


class Once(Protocol):
    """Brings the fresh vault, or the vaults in `roots`, into the state in which `build` leaves them, and returns what
    that returned: the first test runs it, the others get a copy."""

    def __call__(self, build: Callable[[], _Built], *roots: Path) -> _Built: ...


class _Prepared(NamedTuple):
    """What a function built: its vaults, whether each was accepted, and what the function returned."""

    trees: list[Tree]
    accepted: list[bool]
    returned: Any


@pytest.fixture(scope="session")
def _prepared() -> dict[str, _Prepared]:
    """What was built, by the function that built it."""
    return {}


@pytest.fixture
def once(vault_root: Path, environment: dict[str, str], _prepared: dict[str, _Prepared]) -> Once:
    """Runs what many tests begin with. It changes nothing but the vaults, and depends on nothing but them."""

    def run(build: Callable[[], _Built], *roots: Path) -> _Built:
        key, roots = f"{build.__module__}.{build.__qualname__}", roots or (vault_root,)
        if key not in _prepared:
            built = build()
            accepted = [is_accepted(root / ".git", environment) for root in roots]
            _prepared[key] = _Prepared([Tree.of(root) for root in roots], accepted, built)
            return built
        known = _prepared[key]
        for root, tree, is_mine in zip(roots, known.trees, known.accepted, strict=True):
            shutil.rmtree(root, ignore_errors=True)
            tree.write(root)
            if is_mine:
                accept(root / ".git", environment)
        return cast(_Built, known.returned)

    return run


@pytest.fixture
def without_vectors() -> None:
    """The fresh vault wants no vectors: they are most of what its first heartbeat takes."""


@pytest.fixture(scope="session")
def _unrelated() -> list[tuple[bytes, bytes]]:
    """The vectors of what unrelated people say, with their keys: no run for them in each vault, which takes longest."""
    if missing_packages():
        return []
    model = LocalModel(whole=False)
    return [(key_of(words), pack_vector(model.embed(words))) for words in UNRELATED]


@pytest.fixture
def unrelated_known(vault: Vault, _unrelated: list[tuple[bytes, bytes]]) -> None:
    """The fresh vault has these vectors, as after an earlier run, and none of what it holds."""
    vectors = open_or_create_vectors(vault)
    vectors.store_vectors(NAME, _unrelated)
    vectors.close()


@pytest.fixture
def caller() -> Caller:
    """A person who asks at a pinned time, with pinned ids."""
    return Caller(NOW, random.Random(1).randbytes)


@pytest.fixture(scope="session")
def command_server() -> Iterator[CommandServer]:
    """What forks the commands of all tests."""
    yield shared_server()
    shared_server().close()


@pytest.fixture(scope="session")
def litellm_server() -> Iterator[CommandServer]:
    """What forks commands that call litellm. A test file that runs many of them returns it as its `command_server`."""
    server = CommandServer(shared_server())
    yield server
    server.close()


@pytest.fixture
def own_processes() -> None:
    """Each command has a process of its own, whose end also ends what a damaged vault lets it leave behind."""


@pytest.fixture
def clawmem(
    vault_root: Path, environment: dict[str, str], command_server: CommandServer, request: pytest.FixtureRequest
) -> Command:
    """The real command, run in the fresh vault; what it prints with --json must fit its schema."""
    may_run_here = command_server is shared_server() and "own_processes" not in request.fixturenames

    def run(
        *arguments: str,
        given: str | bytes | None = None,
        env: Mapping[str, str] | None = None,
        cwd: Path | None = None,
    ) -> Result:
        data = given.encode() if isinstance(given, str) else given
        variables = {**environment, **(env or {})}
        folder = cwd or vault_root
        if may_run_here and runs_here(arguments, variables):
            process = run_here(arguments, data or b"", folder, variables)
        else:
            process = command_server.run(arguments, data or b"", folder, variables, seconds=300)
        if "_CLAWMEM_COMPLETE" not in (env or {}):
            check_document(arguments, process.stdout.decode())
        return Result(process.returncode, process.stdout.decode(), process.stderr.decode())

    return run


def mcp_answer(clawmem: Command, tool: str, arguments: Mapping[str, Any], env: Mapping[str, str]) -> str:
    """Call a tool of an MCP server as a client does, and return what the server answers."""
    calls: list[dict[str, Any]] = [
        {"id": 1, "method": "initialize", "params": {"protocolVersion": "2025-06-18", "clientInfo": {"name": "scout"}}},
        {"method": "notifications/initialized"},
        {"id": 2, "method": "tools/call", "params": {"name": tool, "arguments": arguments}},
    ]
    value = "".join(json.dumps({"jsonrpc": "2.0", **call}) + "\n" for call in calls)
    return clawmem("mcp", given=value, env=env).out.splitlines()[-1]
