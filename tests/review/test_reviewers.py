"""Who decides: the people of the routes, agents only by delegation, and a signed commit where the settings ask."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from clawmem.errors import ClawmemError, NotFound, NotPermitted, Refused
from clawmem.faces.mcp.tools import TOOLS
from clawmem.memory.entities.entities import create_agent
from clawmem.memory.health.configure import change_setting
from clawmem.memory.history.undo import undo
from clawmem.memory.proposals import proposal_writes, read_proposals
from clawmem.memory.writing import writing
from clawmem.model.facts.fact import UNSET_ID, Fact
from clawmem.model.proposals.proposal import ADD, BY_KIND, Proposal
from clawmem.model.records.caller import Caller
from clawmem.model.records.change import Change
from clawmem.review.review import approve, list_proposals, reject
from clawmem.review.reviewers import agreement, delegate
from clawmem.vault.vault import Vault
from tests.conftest import Command
from tests.faults.checks import git

AT = "2026-11-21T09:30:00Z"
ADA = "Ada Person <ada@example.org>"


def file(vault: Vault, caller: Caller, number: int = 1, kind: str = "promotion", **more: object) -> Proposal:
    """A proposal to add a fact about Dana, committed."""
    words = f"Dana sails boat {number}."
    fact = Fact(UNSET_ID, words, "fact", AT, "chat")
    made = Proposal(f"prop_{number:08}", kind, words, "Doubtful.", AT, ADD, fact=fact, entity="areas/people/dana")
    made = made._replace(**more)  # type: ignore[arg-type]
    with writing(vault, caller, "test") as work:
        work.commit([Change("propose(test): one", proposal_writes([made]))])
    return made


def setting(vault: Vault, caller: Caller, key: str, value: str) -> Vault:
    """The vault after a setting was changed."""
    change_setting(vault, caller, key, value)
    return Vault(vault.root, vault.git.environment)


def trailer(vault: Vault, key: str) -> str:
    return vault.git.run("log", "-1", f"--format=%(trailers:key={key},valueonly)").decode().strip()


def test_only_a_reviewer_of_the_route_decides(vault: Vault, caller: Caller) -> None:
    proposal = file(vault, caller)
    routed = setting(vault, caller, "review.routes", "* ada@example.org; areas/people/* grace@example.org Bob")
    for act in (approve, reject):
        with pytest.raises(NotPermitted, match=r"Only grace@example.org or Bob may decide .* you are Ada Person"):
            act(routed, proposal.id, caller, "because")
    assert list_proposals(routed, mine=caller).proposals == ()
    assert read_proposals(vault).open
    mine = setting(routed, caller, "review.routes", "* grace@example.org; areas/people/* 'ada person'")
    assert list_proposals(mine, mine=caller).proposals == (proposal,)
    outcome = approve(mine, proposal.id, caller, "she told me")
    assert outcome.proposal.decided and outcome.proposal.decided.by == ADA
    assert (trailer(vault, "Reviewed-by"), trailer(vault, "Reason")) == (ADA, "she told me")


def test_routes_in_a_list_of_the_settings_file(
    vault: Vault, vault_root: Path, clawmem: Command, caller: Caller
) -> None:
    proposal = file(vault, caller)
    path = vault_root / "clawmem.yaml"
    text = path.read_text().replace('  routes: ""\n', "  routes:\n    - '* grace@example.org'\n    - kind:whim bob\n")
    path.write_text(text)
    wrong = clawmem("review", "approve", proposal.id)
    assert (wrong.code, "review.routes is wrong in line 2: 'whim' is not a kind" in wrong.err) == (2, True), wrong
    path.write_text(text.replace("kind:whim bob", "kind:fact bob"))
    refused = clawmem("review", "approve", proposal.id)
    assert (refused.code, "Only grace@example.org may decide" in refused.err) == (1, True), refused


@pytest.mark.parametrize("key", ["review.routes", "review.delegations", "review.signed"])
def test_an_agent_changes_no_setting_of_review(vault: Vault, caller: Caller, key: str) -> None:
    open_to_all = setting(vault, caller, "agents.bot.write", "all")
    value = "true" if key == "review.signed" else ""
    with pytest.raises(NotPermitted, match="only a person"):
        change_setting(open_to_all, caller._replace(agent="bot"), key, value)


def test_no_road_lets_an_agent_decide(vault: Vault, caller: Caller, clawmem: Command) -> None:
    proposal, bot = file(vault, caller), {"CLAWMEM_AGENT": "bot"}
    for words in (("approve", proposal.id), ("reject", proposal.id, "--reason", "x")):
        assert clawmem("review", *words, env=bot).code == 1
        assert clawmem("review", *words, "--agent", "bot").code == 1
    assert clawmem("review", "delegate", "promotion", "bot", env=bot).code == 1
    assert clawmem("review", "list", "--mine", env=bot).code == 1
    assert not [name for name, tool in TOOLS.items() if "review" in (name, *tool.verb.split())]
    approved = approve(vault, proposal.id, caller)
    with pytest.raises(NotPermitted, match="decision of review"):
        undo(vault, approved.commit or "", caller._replace(agent="bot"))
    undone = undo(vault, approved.commit or "", caller)
    with pytest.raises(NotPermitted, match="decision of review"):
        undo(vault, undone.commit or "", caller._replace(agent="bot"))
    assert read_proposals(vault).open


def test_delegation_is_recorded_with_who_delegated(vault: Vault, caller: Caller) -> None:
    bot = caller._replace(agent="bot")
    with pytest.raises(NotFound, match="no agent 'bot'"):
        delegate(vault, caller, "promotion", "bot", "areas/*")
    create_agent(vault, "bot", caller)
    before = vault.head()
    delegate(vault, caller, "promotion", "bot", "areas/*")
    assert vault.head() == before, "it is a setting of this machine"
    vault = Vault(vault.root, vault.git.environment)
    decided = approve(vault, file(vault, caller).id, bot).proposal.decided
    assert decided and (decided.by, decided.delegated_by) == ("bot", ADA)
    assert (trailer(vault, "Reviewed-by"), trailer(vault, "Delegated-by")) == ("bot", ADA)
    with pytest.raises(NotPermitted, match="Only a person may decide"):
        approve(vault, file(vault, caller, 2, entity="projects/boat").id, bot)
    with pytest.raises(NotPermitted, match="Only a person may decide"):
        approve(vault, file(vault, caller, 3).id, caller._replace(agent="other"))
    outside = Fact(UNSET_ID, "The boiler is from 2011.", "fact", AT, "web", trust="external")
    with pytest.raises(NotPermitted, match="comes from outside"):
        approve(vault, file(vault, caller, 4, fact=outside).id, bot)
    with pytest.raises(NotPermitted, match="only a person may change it"):
        delegate(vault, bot, "promotion", "bot")
    assert delegate(vault, caller, "promotion", "bot", "areas/*", remove=True).delegations == ()
    vault = Vault(vault.root, vault.git.environment)
    with pytest.raises(NotPermitted):
        approve(vault, file(vault, caller, 5).id, bot)
    (kind,) = agreement(vault).kinds
    assert (kind.decided, kind.waiting) == (0, 4), "a delegated decision is no agreement of a person"


@pytest.mark.parametrize("kind", ["guardrail", "escalation", "tacit", "bridge"])
def test_what_is_never_delegated(vault: Vault, caller: Caller, kind: str) -> None:
    with pytest.raises(Refused, match="never delegated"):
        delegate(vault, caller, kind, "bot")
    with pytest.raises(NotPermitted, match="never delegated"):
        approve(vault, file(vault, caller, kind=kind).id, caller._replace(agent="bot"))


def test_a_vault_delegates_nothing_by_its_own_files(vault: Vault, caller: Caller, vault_root: Path) -> None:
    path = vault_root / "clawmem.yaml"
    path.write_text(path.read_text().replace('  delegations: ""\n', "  delegations: kind:promotion bot Ada\n"))
    fresh = Vault(vault_root, vault.git.environment)
    assert fresh.settings.suggested["review.delegations"] == "kind:promotion bot Ada"
    with pytest.raises(NotPermitted):
        approve(fresh, file(fresh, caller).id, caller._replace(agent="bot"))


def test_agreement_proposes_delegation_where_it_is_always(
    vault: Vault, caller: Caller, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("clawmem.review.reviewers.DELEGATE_AFTER", 3)
    for number in range(5):
        proposal = file(vault, caller, number)
        if number == 1:
            reject(vault, proposal.id, caller._replace(now=caller.now.replace(minute=number)), "no")
        else:
            approve(vault, proposal.id, caller._replace(now=caller.now.replace(minute=number)))
        (kind,) = agreement(vault).kinds
        assert (kind.decided, kind.delegate) == (number + 1, number == 4)
    assert (kind.approved, kind.rejected, kind.in_a_row) == (4, 1, 3)
    create_agent(vault, "bot", caller)
    delegate(vault, caller, "promotion", "bot")
    (kind,) = agreement(Vault(vault.root, vault.git.environment)).kinds
    assert (kind.delegated_to, kind.delegate) == ("bot", False)


def compiled(work: object, proposal: Proposal, facts: object) -> dict[str, bytes | None]:
    """What a kind of proposal adds to a decision, in the test below."""
    return {"wiki/dana.md": f"{proposal.status}: {facts}\n".encode()}


def test_a_kind_adds_to_the_commit_of_a_decision(vault: Vault, caller: Caller, monkeypatch: pytest.MonkeyPatch) -> None:
    row = BY_KIND["wiki"]._replace(on_decision=f"{__name__}:compiled")
    monkeypatch.setitem(BY_KIND, "wiki", row)
    approve(vault, file(vault, caller, kind="wiki", does="decide", fact=None).id, caller)
    names = vault.git.run("show", "--format=", "--name-only", "HEAD").decode().split()
    assert names == ["review/prop_00000001.json", "wiki/dana.md"]
    assert vault.read_text("wiki/dana.md") == "approved: ()\n"


@pytest.mark.skipif(shutil.which("ssh-keygen") is None, reason="no ssh-keygen to make a key with")
def test_a_decision_is_signed_where_the_settings_ask(
    vault: Vault, caller: Caller, environment: dict[str, str], tmp_path: Path
) -> None:
    proposal = file(vault, caller)
    vault = setting(vault, caller, "review.signed", "true")
    before = vault.head()
    with pytest.raises(Refused, match="git has no key to sign with"):
        approve(vault, proposal.id, caller)
    assert vault.head() == before
    key = tmp_path / "key"
    subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", str(key)], check=True)
    (tmp_path / "allowed").write_text(f"ada@example.org {key.with_suffix('.pub').read_text()}")
    with (Path(environment["HOME"]) / ".gitconfig").open("a") as config:
        config.write(f'[gpg]\n\tformat = ssh\n[user]\n\tsigningKey = {key}\n[gpg "ssh"]\n')
        config.write(f"\tallowedSignersFile = {tmp_path / 'allowed'}\n")
    decided = approve(vault, proposal.id, caller).proposal.decided
    assert decided and decided.signed
    assert git(vault.root, environment, "log", "-2", "--format=%G? %GS %an").splitlines()[0] == (
        "G ada@example.org Ada Person"
    )
    file(vault, caller, 2)
    assert git(vault.root, environment, "log", "-1", "--format=%G?").strip() == "N", "only decisions are signed"
    key.unlink()
    with pytest.raises(ClawmemError):
        reject(vault, "prop_00000002", caller, "no")
    assert read_proposals(vault).open and not vault.git.run("status", "--porcelain")
