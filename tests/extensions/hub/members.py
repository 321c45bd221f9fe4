"""Fixtures of the organisation's tests: a hub with two teams, and two vaults that are connected to it.

A test module imports those that it needs."""

from __future__ import annotations

import subprocess
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from clawmem.vault.git.acceptance import accept
from tests.answers import check_document
from tests.conftest import Result
from tests.extensions.hub.hub_vaults import PROMOTE, REVIEW, Hub
from tests.extensions.hub.postgres.server import Database
from tests.in_process import run_here
from tests.trees import Tree

__all__ = ["ana", "ben", "hub", "new_member"]

ORGANISATION = "organisation"


class Member:
    """A person with a vault of their own, who asks the hub as a role."""

    def __init__(self, root: Path, environment: dict[str, str]) -> None:
        self.root, self.environment = root, environment

    def __call__(self, *arguments: str, env: Mapping[str, str] | None = None) -> Result:
        """Run a command in this process, which has loaded the client of the hub already."""
        process = run_here(arguments, b"", self.root, {**self.environment, **(env or {})})
        printed = process.stdout.decode()
        check_document(arguments, printed)
        return Result(process.returncode, printed, process.stderr.decode())

    def keep(self, statement: str, entity: str = "projects/gateway", *options: str) -> str:
        """Store a fact and return its id."""
        result = self("remember", statement, "-e", entity, *options, "--json")
        return str(result.data["facts"][0]["id"])


NewMember = Callable[[str], Member]


@pytest.fixture
def new_member(tmp_path: Path, environment: dict[str, str], newborn: Tree) -> NewMember:
    """A function that makes a vault for a person."""

    def made(name: str) -> Member:
        root = newborn.write(tmp_path / "vaults" / name)
        accept(root / ".git", environment)
        settings = root / "clawmem.yaml"
        settings.write_text(settings.read_text().replace("\n  model: local\n", "\n  model: none\n"))
        git = ["git", "-c", f"user.name={name}", "commit", "--quiet", "--all", "-m", f"settings of {name}"]
        subprocess.run(git, cwd=root, env=environment, check=True)
        # Each vault has ids of its own.
        seed = str(sum(name.encode()))
        return Member(root, {**environment, "CLAWMEM_SEED": seed, "CLAWMEM_VAULT": str(root)})

    return made


@pytest.fixture
def hub(database: Database, tmp_path: Path) -> Hub:
    """The organisation with the scopes team-a and team-b and no member."""
    made = Hub(database, tmp_path)
    made.scope("team-a", "team-b")
    return made


@pytest.fixture
def ana(hub: Hub, new_member: NewMember) -> Member:
    """A person of team A who may promote to everybody, with the vault `alpha` at the hub."""
    member = new_member("ana")
    url = hub.member("ana", {"team-a": [PROMOTE], ORGANISATION: [PROMOTE]})
    hub.take_in("alpha", "team-a", member.root)
    assert member("org", "connect", url).code == 0
    return member


@pytest.fixture
def ben(hub: Hub, new_member: NewMember) -> Member:
    """A person of team B who reviews what goes to everybody, with the vault `beta` at the hub."""
    member = new_member("ben")
    url = hub.member("ben", {"team-b": [PROMOTE], ORGANISATION: [REVIEW]})
    hub.take_in("beta", "team-b", member.root)
    assert member("org", "connect", url).code == 0
    return member
