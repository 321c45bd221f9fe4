"""The runtime: which vault, which caller, which time, which project, and what is said about them."""

from __future__ import annotations

import os
import shutil
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from clawmem.errors import ClawmemError, InvalidInput, NotPermitted, NoVault, Refused
from clawmem.memory.health.configure import change_setting
from clawmem.model.records.caller import AGENT_SHELLS, Caller
from clawmem.runtime import Runtime, from_process, runtime_of
from clawmem.vault.vault import Vault

Variables = Mapping[str, str]


def run(
    environment: Variables, folder: Path, /, vault: str | None = None, agent: str | None = None, **more: Any
) -> Runtime:
    """A runtime of an environment, with further variables in capitals and other arguments of `Runtime`."""
    variables = {name: value for name, value in more.items() if name.isupper()}
    rest = {name: value for name, value in more.items() if not name.isupper()}
    return Runtime({**environment, **variables}, folder, vault, agent, **rest)


@pytest.mark.parametrize(
    ("agent", "variables", "expected"),
    [
        (None, {}, (None, None)),
        ("scout", {}, ("scout", None)),
        (None, {"CLAWMEM_AGENT": "scout"}, ("scout", None)),
        ("clerk", {"CLAWMEM_AGENT": "scout"}, ("clerk", None)),
        (None, {"CLAUDECODE": "1"}, ("claude-code", "claude-code")),
        (None, {"CLAUDECODE": ""}, ("claude-code", "claude-code")),
        (None, {"CLAUDECODE": "1", "CLAWMEM_AGENT": "scout"}, ("scout", "claude-code")),
        ("clerk", {"CLAUDECODE": "1"}, ("clerk", "claude-code")),
        (None, {"CURSOR_EXTENSION_HOST_ROLE": "agent-exec"}, ("cursor", "cursor")),
        (None, {"CURSOR_EXTENSION_HOST_ROLE": "user"}, (None, None)),
    ],
)
def test_who_calls(
    environment: Variables, tmp_path: Path, agent: str | None, variables: Variables, expected: tuple[str | None, ...]
) -> None:
    runtime = run(environment, tmp_path, agent=agent, **variables)
    caller = runtime.caller()
    assert (caller.agent, caller.shell) == expected
    assert (caller.session, caller.unattended) == (None, False)
    shell = expected[1] if agent is None else None
    assert (runtime.shell() or (None, None))[1] == shell
    person = runtime.of_person()
    assert (person.caller().agent, person.caller().shell, person.shell()) == (None, None, None)
    assert run(environment, tmp_path, agent=agent, CLAWMEM_SESSION="s1", **variables).caller().session == "s1"
    assert runtime.renewed("reader").agent() == (agent if agent else variables.get("CLAWMEM_AGENT", "reader"))


@pytest.mark.parametrize("row", AGENT_SHELLS)
def test_each_agents_shell_is_that_agents(environment: Variables, tmp_path: Path, row: str) -> None:
    name, _, value = row.partition("=")
    assert run(environment, tmp_path, **{name: value or "1"}).agent() == AGENT_SHELLS[row]


@pytest.mark.parametrize(
    ("act", "variables", "message"),
    [
        (Runtime.agent, {"CLAWMEM_AGENT": " "}, "CLAWMEM_AGENT is empty"),
        (Runtime.agent, {"CLAWMEM_AGENT": "user"}, "'user' does not name an agent"),
        (Runtime.agent, {"agent": ""}, "--agent is empty"),
        (Runtime.locate, {"CLAWMEM_VAULT": ""}, "CLAWMEM_VAULT is empty"),
        (Runtime.locate, {"vault": " "}, "--vault is empty"),
        (Runtime.now, {"CLAWMEM_NOW": "soon"}, "CLAWMEM_NOW is 'soon', which is not a time"),
        (Runtime.caller, {"CLAWMEM_SESSION": "a\x00b"}, "session in CLAWMEM_SESSION"),
        (lambda runtime: runtime.workflow(" "), {}, "--workflow is empty"),
        (lambda runtime: runtime.workflow(), {"CLAWMEM_WORKFLOW": "no id!"}, "no id!"),
        (lambda runtime: runtime.project(" "), {}, "--project is empty"),
        (lambda runtime: runtime.new_vault_folder("x"), {"vault": "y"}, "given twice"),
    ],
)
def test_what_is_no_answer_is_refused(
    environment: Variables, tmp_path: Path, act: Any, variables: dict[str, str], message: str
) -> None:
    with pytest.raises(InvalidInput) as refused:
        act(run(environment, tmp_path, **variables))
    assert message in refused.value.message


def test_time_and_chance_may_be_fixed(environment: Variables, tmp_path: Path) -> None:
    fixed = run(environment, tmp_path)
    assert fixed.now() == datetime(2026, 11, 21, 9, 30, tzinfo=UTC)
    assert fixed.entropy()(8) == fixed.entropy()(8) != run(environment, tmp_path, CLAWMEM_SEED="2").entropy()(8)
    free = run({"HOME": environment["HOME"]}, tmp_path)
    assert abs(free.now() - datetime.now(UTC)) < timedelta(minutes=5)
    assert free.entropy() is os.urandom
    assert free.home() == Path(environment["HOME"])


def test_which_vault_is_used(environment: Variables, vault_root: Path, tmp_path: Path) -> None:
    inside, outside = vault_root / "life", tmp_path / "empty"
    outside.mkdir()
    default = Path(environment["HOME"]) / ".clawmem"
    for runtime, rule in (
        (run(environment, outside, str(vault_root), CLAWMEM_VAULT="/nowhere"), "--vault"),
        (run(environment, tmp_path, "vault"), "--vault"),
        (run(environment, outside, CLAWMEM_VAULT=str(vault_root)), "CLAWMEM_VAULT"),
        (run(environment, inside), "the nearest clawmem.yaml upwards"),
    ):
        assert runtime.locate() == (vault_root, rule)
        assert (runtime.vault().is_foreign, runtime.vault().is_chosen) == (False, rule == "--vault")
        assert runtime.vault() is runtime.vault() and runtime.notices() == ()
    with pytest.raises(NoVault) as missing:
        run(environment, outside).locate()
    assert missing.value.message == (
        f"There is no vault here: no clawmem.yaml in {outside} or above it, and none in {default}."
    )
    for text, message in (
        (str(tmp_path / "none"), f"There is no folder {tmp_path / 'none'} (--vault)."),
        (str(outside), f"{outside} is neither a vault nor a git repository (--vault)."),
    ):
        with pytest.raises(NoVault) as missing:
            run(environment, outside, text).locate()
        assert missing.value.message == message
    shutil.copytree(vault_root, default)
    assert run(environment, outside).locate() == (default, "the user's default")
    assert run(environment, inside).locate().root == vault_root
    (vault_root / "clawmem.yaml").unlink()
    for runtime in (run(environment, inside), run(environment, outside, str(vault_root))):
        with pytest.raises(NoVault, match=r"has lost its clawmem\.yaml"):
            runtime.locate()
    shutil.rmtree(vault_root / ".git" / "clawmem")
    assert run(environment, inside).locate().root == default
    with pytest.raises(NoVault, match=r"has no clawmem\.yaml \(--vault\)"):
        run(environment, outside, str(vault_root)).locate()


def test_a_vault_of_others_is_read_by_people_and_passed_over_by_agents(
    environment: Variables, vault_root: Path, tmp_path: Path
) -> None:
    other = tmp_path / "other"
    shutil.copytree(vault_root, other)
    person = run(environment, other)
    assert person.vault().root == other and person.vault().is_foreign
    assert person.notices()[0].startswith(f"{other} is a vault that was not made or accepted on this machine: what")
    assert not run(environment, other, own=True).vault().is_foreign
    for runtime in (run(environment, other, agent="scout"), run(environment, other, str(other), agent="scout")):
        with pytest.raises(NoVault, match="no agent uses it"):
            runtime.vault()
        assert len(runtime.notices()) == 1 and "so it was not used" in runtime.notices()[0]
    taking = run(environment, other)
    taking.takes_in = True
    with pytest.raises(NoVault):
        taking.locate()
    default = Path(environment["HOME"]) / ".clawmem"
    shutil.copytree(vault_root, default)
    for runtime in (
        run(environment, other, agent="a"),
        run(environment, tmp_path, CLAWMEM_VAULT=str(other), agent="a"),
    ):
        assert runtime.vault().root == default
        assert [line.partition(" ")[0] for line in runtime.notices()] == [str(other)]
    # A command that `setup` wired: an own vault of the working folder before --vault, another's after it.
    assert run(environment, vault_root / "life", str(default), agent="a").nearest().locate().root == vault_root
    assert run(environment, other, str(default), agent="a").nearest().locate().root == default
    assert run(environment, vault_root).nearest().locate().rule == "the nearest clawmem.yaml upwards"


def test_where_a_new_vault_is_made(environment: Variables, tmp_path: Path) -> None:
    default = Path(environment["HOME"]) / ".clawmem"
    plain = run(environment, tmp_path)
    assert plain.new_vault_folder(None) == default
    assert plain.new_vault_folder("here") == tmp_path / "here"
    assert run(environment, tmp_path, "there").new_vault_folder(None) == tmp_path / "there"
    named = run(environment, tmp_path, CLAWMEM_VAULT="named")
    assert named.new_vault_folder(None) == tmp_path / "named"
    assert named.new_vault_folder("here") == tmp_path / "here"
    assert (plain.is_found_anywhere(default), plain.is_found_anywhere(tmp_path)) == (True, False)
    assert (named.is_found_anywhere(tmp_path / "named"), named.is_found_anywhere(default)) == (True, False)
    assert plain.at(tmp_path / "x").new_vault_folder("y") == tmp_path / "x" / "y"


def test_a_folder_of_settings_that_a_repository_brings_is_not_used_for_agents(
    environment: Variables, tmp_path: Path
) -> None:
    repository, plain = tmp_path / "repository", tmp_path / "plain"
    (repository / ".git").mkdir(parents=True)
    (repository / ".git" / "HEAD").write_text("ref: refs/heads/main\n")
    plain.mkdir()
    for place, agent, used in (
        (repository / "config", "scout", ""),
        (repository / "config", None, str(repository / "config")),
        (plain / "config", "scout", str(plain / "config")),
        (tmp_path / "work" / "config", "scout", ""),
    ):
        runtime = run(environment, tmp_path / "work", agent=agent, XDG_CONFIG_HOME=str(place))
        assert runtime.environment["XDG_CONFIG_HOME"] == used
        assert any("XDG_CONFIG_HOME" in line for line in runtime.notices()) is (used == "")
    shell = run(environment, tmp_path / "work", XDG_CONFIG_HOME=str(repository / "config"), CLAUDECODE="1")
    assert shell.environment["XDG_CONFIG_HOME"] == ""
    assert shell.of_person().environment["XDG_CONFIG_HOME"] == str(repository / "config")
    assert run(environment, tmp_path, agent="a", XDG_CONFIG_HOME="config").environment["XDG_CONFIG_HOME"] == "config"


def test_workflows_and_projects(environment: Variables, vault: Vault, caller: Caller, tmp_path: Path) -> None:
    root, work = vault.root, tmp_path / "work"
    work.mkdir()
    plain = run(environment, work, str(root))
    assert (plain.workflow(), plain.workflow("software"), plain.names_scope()) == (None, "software", False)
    named = run(environment, work, str(root), CLAWMEM_WORKFLOW="research", CLAWMEM_PROJECT="boat")
    assert (named.workflow(), named.workflow("software"), named.names_scope()) == ("research", "software", True)
    assert (named.project(), named.project("yawl")) == ("boat", "yawl")
    assert run(environment, work, str(root), CLAWMEM_PROJECT="boat").names_scope()
    assert run(environment, work, str(root), CLAWMEM_WORKFLOW="", CLAWMEM_PROJECT="").workflow() is None
    change_setting(vault, caller, "projects.joined", "boat = yawl, yawl = ketch, sloop = raft")
    joined = run(environment, work, str(root))
    assert joined.joined_projects("boat") == ("ketch", "yawl")
    assert joined.joined_projects("ketch") == ("boat", "yawl")
    assert joined.joined_projects("canoe") == joined.joined_projects(None) == ()


def test_an_agent_is_held_to_its_verbs_where_there_is_a_vault(
    environment: Variables, vault: Vault, caller: Caller, tmp_path: Path
) -> None:
    change_setting(vault, caller, "agents.scout.verbs", "recall")
    scout = run(environment, tmp_path, str(vault.root), "scout")
    scout.check_verb("recall")
    with pytest.raises(NotPermitted):
        scout.check_verb("remember")
    run(environment, tmp_path, str(vault.root)).check_verb("remember")
    run(environment, tmp_path, str(tmp_path / "none"), "scout").check_verb("remember")
    with pytest.raises(ClawmemError):
        scout.model(name="openai/other")


def test_a_process_names_its_vault_and_agent_by_its_arguments(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for arguments, folder in (
        (["--vault", "a"], "a"),
        (["recall", "--vault=b", "x"], "b"),
        (["recall", "--vault"], None),
        (["--vaults=c"], None),
    ):
        runtime = runtime_of([*arguments])
        assert runtime.working_folder == tmp_path
        assert runtime.new_vault_folder(None) == (
            tmp_path / folder if folder else Path(os.environ["HOME"]) / ".clawmem"
        )
    assert runtime_of(["--agent", "scout"]).agent() == "scout"
    gone = tmp_path / "gone"
    gone.mkdir()
    monkeypatch.chdir(gone)
    gone.rmdir()
    with pytest.raises(Refused, match="no longer exists"):
        from_process()
