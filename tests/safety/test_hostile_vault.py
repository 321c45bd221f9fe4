"""A vault from somebody else: with whatever files in it, no command runs a program, touches a file outside the vault,
hangs or ends in a bug."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

import pytest

from clawmem.vault.exchange.create import create_vault
from clawmem.vault.git.acceptance import accept
from tests.conftest import NOW, PINNED_NOW
from tests.faults.checks import git
from tests.faults.scenarios import keep
from tests.safety.plants import EVERY_VERB, PLANTS, REMEMBER, SYNC, Plant, Scene

_SECONDS = 20.0
_SERVER = Path(__file__).with_name("fork_server.py")


class Ran(NamedTuple):
    """How one command ended, and what it said."""

    verb: tuple[str, ...]
    code: int | None
    said: str


class Commands:
    """A process that runs commands without starting Python for each."""

    def __init__(self) -> None:
        self._server = subprocess.Popen(
            [sys.executable, str(_SERVER)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )

    def run(self, verb: tuple[str, ...], cwd: Path, environment: Mapping[str, str], out: Path) -> Ran:
        """Run one command on the vault in a folder, which its person names: so it gets as far as it leads."""
        assert self._server.stdin is not None and self._server.stdout is not None
        request = {
            "argv": ("--vault", str(cwd), *verb),
            "cwd": str(cwd),
            "env": dict(environment),
            "out": str(out),
            "seconds": _SECONDS,
        }
        self._server.stdin.write(json.dumps(request) + "\n")
        self._server.stdin.flush()
        return Ran(verb, json.loads(self._server.stdout.readline()), out.read_text(errors="replace"))

    def close(self) -> None:
        """End it."""
        self._server.communicate()


@pytest.fixture(scope="module")
def commands() -> Iterator[Commands]:
    """The process that runs them."""
    made = Commands()
    yield made
    made.close()


@pytest.fixture(scope="module")
def prepared(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a vault that holds two facts, was searched, and has a remote."""
    folder = tmp_path_factory.mktemp("prepared")
    environment = _environment(folder)
    (folder / "home").mkdir()
    (folder / "tmp").mkdir()
    (folder / "home/.gitconfig").write_text("[user]\n\tname = Ada Person\n\temail = ada@example.org\n")
    vault = create_vault(folder / "vault", environment, NOW)
    settings = vault.root / "clawmem.yaml"
    settings.write_text(settings.read_text().replace("\n  model: local\n", "\n  model: none\n"))
    keep(vault, "Jane lives in Oslo.", entity="areas/people/jane")
    keep(vault, "Jane plays the cello.", entity="areas/people/jane")
    git(folder, environment, "init", "-q", "--bare", "-b", "main", "hub.git")
    git(vault.root, environment, "remote", "add", "origin", "/nowhere")
    git(vault.root, environment, "config", "--unset-all", "remote.origin.url")
    return folder


def _environment(folder: Path) -> dict[str, str]:
    return {
        "PATH": os.environ["PATH"],
        "HOME": str(folder / "home"),
        "LANG": "C.UTF-8",
        "TMPDIR": str(folder / "tmp"),
        "CLAWMEM_NOW": PINNED_NOW,
    }


@pytest.fixture
def scene(prepared: Path, tmp_path: Path) -> Scene:
    """A copy of the vault, with something precious outside and a program that leaves a mark."""
    folder = tmp_path / "all"
    shutil.copytree(prepared, folder, symlinks=True)
    outside = folder / "outside"
    outside.mkdir()
    (outside / "precious").write_text("what is precious to the user\n")
    (outside / "tool.lock").write_text("a lock of another program's\n")
    program = tmp_path / "program"
    program.write_text(f"#!/bin/sh\necho ran >> {tmp_path}/mark\ncat\n")
    program.chmod(0o755)
    (outside / "hooks").mkdir()
    for name in ("pre-push", "reference-transaction", "post-index-change"):
        (outside / "hooks" / name).symlink_to(program)
    root, environment = folder / "vault", _environment(folder)
    # A copy has other inodes: git would read every file again in each command.
    git(root, environment, "config", "remote.origin.url", str(folder / "hub.git"))
    git(root, environment, "update-index", "-q", "--refresh")
    return Scene(root, outside, program, environment)


def _state_of(folder: Path) -> dict[str, tuple[str, object]]:
    """Return every path below a folder, with its kind and contents."""
    found: dict[str, tuple[str, object]] = {}
    for path in sorted(folder.rglob("*")):
        name = str(path.relative_to(folder))
        if name.startswith(".gnupg"):
            continue  # of the person's own gpg, which signs where nothing else is accepted
        if path.is_symlink():
            found[name] = ("link", str(path.readlink()))
        elif path.is_file():
            found[name] = ("file", path.read_bytes())
        else:
            found[name] = ("other", path.lstat().st_mode)
    return found


def _tried(commands: Commands, scene: Scene, plant: Plant, verbs: tuple[tuple[str, ...], ...]) -> None:
    """Plant it, run the verbs, and look what happened outside."""
    listed = subprocess.run(
        ["grep", "-rhoE", "fact_[0-9a-f]+", "life"], cwd=scene.root, capture_output=True, text=True, check=True
    )
    fact = listed.stdout.split()[0]
    plant.put(scene)
    folder = scene.root.parent
    before = {name: _state_of(folder / name) for name in ("outside", "home")}
    items = []
    for verb in verbs:
        words = tuple(word.format(fact=fact, folder=folder) for word in verb)
        items.append(commands.run(words, scene.root, scene.environment, folder.parent / "said"))
        assert not (folder.parent / "mark").exists(), f"{verb} ran the program: {items[-1]}"
        assert {name: _state_of(folder / name) for name in before} == before, f"{verb} reached outside: {items[-1]}"
        assert items[-1].code is not None, f"{verb} never ended"
        assert items[-1].code in (0, 1, 2, 4, 10, 11, 12), f"{verb}: {items[-1]}"
        assert not list((folder / "tmp").glob("clawmem-git-*")), verb
    if plant.refused is not None:
        named = [ran for ran in items if plant.refused in ran.said and ran.code in (1, 10, 12)]
        assert named, f"nothing refused it by name: {items}"
    elif REMEMBER in verbs and verbs[0] != REMEMBER:
        remembered = items[verbs.index(REMEMBER)]
        assert remembered.code in (0, 1), remembered


@pytest.mark.few(10)
@pytest.mark.parametrize("plant", PLANTS, ids=lambda plant: plant.name)
def test_nothing_that_is_planted_runs_or_reaches_outside(commands: Commands, scene: Scene, plant: Plant) -> None:
    _tried(commands, scene, plant, plant.verbs)


@pytest.mark.soak
@pytest.mark.parametrize("plant", PLANTS, ids=lambda plant: plant.name)
def test_no_verb_falls_for_anything_that_is_planted(commands: Commands, scene: Scene, plant: Plant) -> None:
    # Those that could fall for it come first: others change what it depends on.
    _tried(commands, scene, plant, (*plant.verbs, *(verb for verb in EVERY_VERB if verb not in plant.verbs)))


def test_there_are_plants_enough() -> None:
    assert len({plant.name for plant in PLANTS}) == len(PLANTS) >= 60


def test_the_program_would_leave_its_mark(scene: Scene) -> None:
    """The plants are live: git itself runs them."""
    next(plant for plant in PLANTS if plant.name == "filter.clean by .gitattributes").put(scene)
    git(scene.root, scene.environment, "status")
    assert (scene.root.parent.parent / "mark").exists()


def test_what_is_hidden_does_not_stop_the_work(commands: Commands, scene: Scene) -> None:
    scene.config('[core]\n\tsshCommand = PROGRAM\n[filter "x"]\n\tclean = PROGRAM')
    out = scene.root.parent.parent / "said"
    assert commands.run(REMEMBER, scene.root, scene.environment, out).code == 0
    met = commands.run(SYNC, scene.root, scene.environment, out)
    assert met.code == 0 and "core.sshcommand" in met.said and "clawmem config trust" in met.said
    # The local filter has nothing to do with others: it is not named.
    assert "filter" not in met.said
    hub = scene.root.with_name("hub.git")
    assert "The boat is red." in git(hub, scene.environment, "log", "-1", "--format=%s", "main")


def test_what_was_accepted_is_used_to_reach_others(commands: Commands, scene: Scene) -> None:
    git(scene.root, scene.environment, "remote", "set-url", "origin", "ssh://nobody@nowhere.invalid/x")
    scene.config("[core]\n\tsshCommand = PROGRAM")
    scene.program.write_text(scene.program.read_text().replace("cat", "exit 1"))
    out, mark = scene.root.parent.parent / "said", scene.root.parent.parent / "mark"
    commands.run(SYNC, scene.root, scene.environment, out)
    assert not mark.exists()
    accept(scene.git_dir, scene.environment)
    commands.run(REMEMBER, scene.root, scene.environment, out)
    assert not mark.exists()
    commands.run(SYNC, scene.root, scene.environment, out)
    assert mark.exists()


def test_a_copy_of_an_accepted_vault_is_not_accepted(commands: Commands, scene: Scene) -> None:
    git(scene.root, scene.environment, "remote", "set-url", "origin", "ssh://nobody@nowhere.invalid/x")
    scene.config("[core]\n\tsshCommand = PROGRAM")
    accept(scene.git_dir, scene.environment)
    copy = scene.root.with_name("copy")
    shutil.copytree(scene.root, copy, symlinks=True)
    commands.run(SYNC, copy, scene.environment, scene.root.parent.parent / "said")
    assert not (scene.root.parent.parent / "mark").exists()
