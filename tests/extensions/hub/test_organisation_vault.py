"""A vault in a folder as the organisation: promote, review, query, pull, withdraw and fail, each by the command."""

from __future__ import annotations

import fcntl
import os
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from clawmem.errors import InvalidInput
from clawmem.extensions.hub.organisation_vault import named_folder
from clawmem.index.tables.store import stores_kept_open
from clawmem.model.safety.recalled_text import CLOSING
from tests.extensions.hub.members import Member, new_member
from tests.index.tables.test_rights import POLICY

__all__ = ["new_member"]

PORT = "The gateway listens on port 8123."
QUESTION = "which port does the gateway use?"


@pytest.fixture
def acme(new_member: Callable[[str], Member]) -> Member:
    """The vault that is the organisation."""
    member = new_member("acme")
    assert member("config", "set", "vault.name", "Acme").code == 0
    return member


@pytest.fixture
def ana(new_member: Callable[[str], Member], acme: Member) -> Member:
    """A person whose vault is connected to it."""
    return connected(new_member("ana"), acme)


@pytest.fixture
def ben(new_member: Callable[[str], Member], acme: Member) -> Member:
    """Another person whose vault is connected to it."""
    return connected(new_member("ben"), acme)


def connected(member: Member, acme: Member) -> Member:
    result = member("org", "connect", str(acme.root))
    assert result.code == 0, result.err
    assert member("config", "set", "org.timeout_seconds", "60").code == 0
    return member


def commits(member: Member) -> int:
    counted = subprocess.run(["git", "rev-list", "--count", "HEAD"], cwd=member.root, capture_output=True, check=True)
    return int(counted.stdout)


def only(member: Member) -> str:
    """The id of the only fact of a vault."""
    (fact,) = member("list", "--json").data["facts"]
    return str(fact["id"])


def test_a_promoted_fact_keeps_its_origin_and_is_found_by_others(acme: Member, ana: Member, ben: Member) -> None:
    fact, before = ana.keep(PORT), commits(acme)
    result = ana("org", "promote", fact)
    assert result.out == f"{fact} is shared with the scope organisation\n", result.err
    assert ana("org", "promote", fact).out == f"{fact} is shared with the scope organisation, asked for before\n"
    assert commits(acme) == before + 1
    log = subprocess.run(["git", "log", "-1", "--format=%an"], cwd=acme.root, capture_output=True, check=True)
    assert log.stdout.decode().strip() == "Ada Person"
    there = acme("show", only(acme), "--json").data["fact"]
    assert (there["fact"], there["source"], there["trust"], there["entity"]) == (
        PORT,
        "user",
        "user",
        "projects/gateway",
    )
    assert there["metadata"]["published"]["author"] == "Ada Person <ada@example.org>"
    assert there["metadata"]["published"]["promoted_from"]["fact"] == fact
    (found,) = ben("org", "query", QUESTION, "--json").data["facts"]
    assert found["id"] == there["id"] and found["origin"]["scopes"] == ["organisation"]
    assert (found["origin"]["vault"], found["origin"]["author"]) == ("ana", "Ada Person <ada@example.org>")
    assert ana("org", "query", QUESTION, "--json").data["facts"] == [found]
    status = ana("org", "status", "--json").data
    assert status["promotions"] == [{"fact": fact, "scope": "organisation", "status": "approved"}]
    assert (status["readable"], status["promoted"]) == (1, 1)


def test_recall_and_context_label_it_after_what_answers_of_the_own(acme: Member, ana: Member, ben: Member) -> None:
    fact = ana.keep(PORT)
    assert ana("org", "promote", fact).code == 0
    by_hand = acme.keep("The gateway port is public.")
    own = ben.keep("The gateway is written in Go.")
    lines = ben("recall", QUESTION, "--org").out.splitlines()
    assert f"Ada Person: {PORT}  (acme/organisation)" in lines[0] + lines[1] and lines[-1].startswith(own)
    assert ben("recall", "what is the gateway written in?", "--org").out.startswith(own)
    assert any(line.startswith(by_hand) and line.endswith("(acme/organisation)") for line in lines)
    alone = ben("context", QUESTION, "--budget", "400", "--json").data["context"]
    joined = ben("context", QUESTION, "--org", "--budget", "400", "--json").data["context"]
    own_part = alone["text"].removesuffix(CLOSING).rstrip("\n")
    assert joined["text"].startswith(own_part) and own in joined["facts"] and joined["token_count"] <= 400
    assert f"- {PORT} (2026-11-21, acme/organisation, by Ada Person)" in joined["text"]
    # What this vault promoted is not repeated beside its own answer.
    shown = ana("recall", QUESTION, "--org", "--json").data["organisation"]["facts"]
    assert [other["id"] for other in shown] == [by_hand]


def test_a_server_that_keeps_indexes_open_asks_again_and_again(acme: Member, ben: Member) -> None:
    by_hand = acme.keep("The gateway port is public.")
    with stores_kept_open():
        for _ in range(2):
            found = ben("recall", QUESTION, "--org", "--json").data["organisation"]["facts"]
            assert [other["id"] for other in found] == [by_hand]
    itself = ben("org", "query", QUESTION, env={"CLAWMEM_ORG_URL": str(ben.root)})
    assert itself.code == 1 and "its own organisation" in itself.err


def test_the_gates_and_the_scopes_refuse(acme: Member, ana: Member) -> None:
    fact, before = ana.keep("It works. It is fast."), commits(acme)
    result = ana("org", "promote", fact)
    assert result.code == 1 and "atomic: it has 2 sentences" in result.err
    result = ana("org", "promote", ana.keep(PORT), "--scope", "team-a")
    assert result.code == 2 and "no scope 'team-a'" in result.err
    assert commits(acme) == before


def test_an_agent_without_the_scope_takes_nothing_back(acme: Member, ana: Member) -> None:
    fact = ana.keep(PORT)
    assert ana("org", "promote", fact).code == 0
    assert ana("agent", "create", "scout").code == 0
    assert ana("config", "set", "agents.scout.scopes", "project").code == 0
    for verb in ("promote", "withdraw"):
        refused = ana("org", verb, fact, "--agent", "scout")
        assert refused.code == 1 and "may not write facts in the scope organisation" in refused.err, refused
    assert ana("org", "status", "--json").data["promotions"][0]["status"] == "approved"


def test_a_route_there_makes_it_wait_in_the_queue_there(acme: Member, ana: Member, ben: Member) -> None:
    assert acme("config", "set", "review.routes", "kind:bridge").code == 0
    fact = ana.keep(PORT)
    result = ana("org", "promote", fact, "--json").data
    assert (result["status"], result["new"]) == ("pending", True)
    waiting = result["promotion"]
    assert "asked for before" in ana("org", "promote", fact).out
    assert ben("org", "query", QUESTION, "--json").data["facts"] == []
    assert f"clawmem --vault {acme.root} review" in ben("org", "review").err
    (listed,) = acme("review", "list", "--json").data["proposals"]
    assert (listed["id"], listed["kind"], listed["says"]) == (waiting, "bridge", PORT)
    assert f"--vault {acme.root} review reject {waiting}" in ana("org", "withdraw", fact).err
    by_agent = acme("review", "approve", waiting, "--agent", "scout")
    assert by_agent.code == 1 and "agent" in by_agent.err
    assert acme("review", "approve", waiting).code == 0
    assert len(ben("org", "query", QUESTION, "--json").data["facts"]) == 1
    # The fact got an id in review, and is withdrawn by its origin all the same.
    assert ana("org", "promote", fact, "--json").data["new"] is False
    assert ana("org", "withdraw", fact).out == f"{fact}: 1 promotion withdrawn\n"
    assert ben("org", "query", QUESTION, "--json").data["facts"] == []
    other = ana.keep("The gateway is blue.")
    waiting = ana("org", "promote", other, "--json").data["promotion"]
    assert acme("review", "reject", waiting, "--reason", "no").code == 0
    refused = ana("org", "promote", other)
    assert refused.code == 1 and "was rejected there before" in refused.err


def test_a_named_reviewer_promotes_at_once_and_others_wait(acme: Member, ana: Member) -> None:
    assert acme("config", "set", "review.routes", "projects/* ada@example.org; areas/* jane@example.org").code == 0
    assert ana("org", "promote", ana.keep(PORT), "--json").data["status"] == "approved"
    other = ana.keep("Jane likes tea.", "areas/jane")
    waiting = ana("org", "promote", other, "--json").data
    assert waiting["status"] == "pending"


def test_a_pull_brings_copies_that_follow_their_origin(acme: Member, ana: Member, ben: Member) -> None:
    fact = ana.keep(PORT)
    assert ana("org", "promote", fact).code == 0
    there, by_hand = only(acme), acme.keep("The office is in Basel.", "areas/office")
    assert sorted(ben("org", "pull", "--json").data["added"]) == sorted((there, by_hand))
    assert ben("org", "pull", "--json").data["commit"] is None
    copy = ben("show", there, "--json").data["fact"]
    assert (copy["trust"], copy["source"]) == ("external", "organisation:acme")
    assert copy["metadata"]["organisation"]["author"] == "Ada Person <ada@example.org>"
    assert "read-only here" in ben("retract", there).err
    assert "was pulled" in ben("org", "promote", there).err
    # The own fact does not come back as a copy.
    assert ana("org", "pull", "--json").data["added"] == [by_hand]
    assert acme("retract", by_hand).code == 0
    assert ana("retract", fact, "--reason", "It moved.").code == 0
    result = ana("org", "status")
    assert f"withdrawn at the organisation, as here: {fact}" in result.err
    assert "its vault withdrew the fact" in acme("show", there).out
    assert sorted(ben("org", "pull", "--json").data["retracted"]) == sorted((there, by_hand))
    assert "was retracted there before" in ana("org", "promote", fact).err or ana("org", "promote", fact).code == 1


def test_what_was_superseded_or_redacted_here_is_withdrawn_there(acme: Member, ana: Member, ben: Member) -> None:
    first, second = ana.keep(PORT), ana.keep("The gateway belongs to Peregrin Underhill.")
    for text in (first, second):
        assert ana("org", "promote", text).code == 0
    copies = ben("org", "pull", "--json").data["added"]
    assert len(copies) == 2
    assert ana("supersede", first, "The gateway listens on port 9000.").code == 0
    assert ana("redact", second, "--yes").code == 0
    assert sorted(ana("org", "pull", "--json").data["withdrawn"]) == sorted((first, second))
    assert ben("org", "query", "gateway", "--json").data["facts"] == []
    # The words are in the history there until a person redacts them there; then copies are redacted, too.
    (value,) = [copy for copy in copies if "Underhill" in acme("show", copy).out]
    assert acme("redact", value, "--yes").code == 0
    result = ben("org", "pull", "--json")
    assert result.code == 4 and result.data["to_redact"] == [value]
    assert ben("org", "pull", "--yes", "--json").data["redacted"] == [value]


def test_workspaces_of_agents_are_not_of_the_organisation(acme: Member, ben: Member) -> None:
    assert acme("agent", "create", "scout").code == 0
    result = acme("remember", "The gateway port is secret.", "-e", "@scout/areas/notes", "--agent", "scout", "--json")
    assert result.code == 0, result.err
    assert ben("org", "query", "gateway port", "--json").data["facts"] == []
    assert ben("org", "pull", "--json").data["added"] == []


def check_answers_alone(member: Member, fact: str, why: str) -> None:
    """Check that `recall --org` gives the vault's own part with one notice, in time."""
    alone = member("recall", QUESTION)
    assert (alone.code, alone.err) == (0, "") and "written in Go" in alone.out
    result = member("recall", QUESTION, "--org")
    assert (result.code, result.out) == (4, alone.out), result
    assert result.err.count("without the organisation") == 1 and why in result.err, result.err
    with_org = member("context", QUESTION, "--org")
    assert (with_org.code, with_org.out) == (4, member("context", QUESTION).out)
    status = member("org", "status", "--json")
    assert status.code == 4 and status.data["reachable"] is False
    for words in (("org", "query", QUESTION), ("org", "pull"), ("org", "promote", fact)):
        failed = member(*words)
        assert failed.code == 1 and why in failed.err, (words, failed)


def gone(root: Path) -> None:
    shutil.rmtree(root)


def no_vault(root: Path) -> None:
    (root / "clawmem.yaml").unlink()


def newer(root: Path) -> None:
    settings = root / "clawmem.yaml"
    settings.write_text(settings.read_text().replace("format: 1", "format: 99"))


def damaged(root: Path) -> None:
    shutil.rmtree(root / ".git" / "objects")
    shutil.rmtree(root / ".git" / "clawmem")


@pytest.mark.parametrize(
    ("change", "why"),
    [
        (gone, "There is no folder"),
        (no_vault, "so it is no vault"),
        (newer, "This vault has format 99"),
        (damaged, "cannot be used"),
    ],
)
def test_failures_leave_the_own_part(acme: Member, ben: Member, change: Callable[[Path], None], why: str) -> None:
    fact = ben.keep("The gateway is written in Go.")
    change(acme.root)
    check_answers_alone(ben, fact, why)


def test_a_folder_that_may_not_be_read(acme: Member, ben: Member) -> None:
    fact = ben.keep("The gateway is written in Go.")
    acme.root.chmod(0)
    try:
        if os.access(acme.root / "clawmem.yaml", os.R_OK):
            pytest.skip("this user reads everything")
        check_answers_alone(ben, fact, "cannot be used")
    finally:
        acme.root.chmod(0o700)


def test_a_vault_that_does_not_answer_in_time(acme: Member, ben: Member) -> None:
    fact = ben.keep("The gateway is written in Go.")
    assert ben("config", "set", "org.timeout_seconds", "0.5").code == 0
    (acme.root / ".git" / "clawmem" / "index.sqlite").unlink()
    # Another process builds its index, and does not end.
    with (acme.root / ".git" / "clawmem" / "index.lock").open("a") as wrapper:
        fcntl.flock(wrapper, fcntl.LOCK_EX)
        check_answers_alone(ben, fact, "did not answer in time")


def test_a_locked_vault_is_read_and_refuses_a_promotion_in_time(acme: Member, ana: Member) -> None:
    fact = ana.keep(PORT)
    assert ana("config", "set", "org.timeout_seconds", "4").code == 0
    acme.keep("The gateway port is public.")
    with (acme.root / ".git" / "clawmem" / "lock").open("a") as wrapper:
        fcntl.flock(wrapper, fcntl.LOCK_EX)
        result = ana("org", "promote", fact)
        assert result.code == 1, result
        assert "cannot be used: The vault is locked" in result.err
        assert len(ana("org", "query", QUESTION, "--json").data["facts"]) == 1
    assert ana("org", "promote", fact).code == 0


def test_an_entity_that_is_damaged_there_is_said(acme: Member, ben: Member) -> None:
    acme.keep("The gateway port is public.")
    acme.keep("The gateway is old.", "projects/other")
    (acme.root / "life/projects/other/items.json").write_text("no json")
    subprocess.run(
        ["git", "commit", "--quiet", "--all", "-m", "damage"], cwd=acme.root, env=acme.environment, check=True
    )
    result = ben("recall", QUESTION, "--org")
    assert result.code == 4 and "a part of the organisation is missing" in result.err
    assert "The gateway port is public." in result.out


def test_connect_names_what_it_cannot_use(acme: Member, ana: Member, tmp_path: Path) -> None:
    bare = tmp_path / "bare.git"
    subprocess.run(["git", "clone", "--quiet", "--bare", str(acme.root), str(bare)], check=True)
    for address, code, why in (
        ("git@example.org:acme/memory.git", 2, "git remote behind a network"),
        ("ssh://git@example.org/acme/memory", 2, "git remote behind a network"),
        (str(bare), 2, "bare repository"),
        (str(ana.root), 1, "cannot be its own organisation"),
        (str(tmp_path / "nothing"), 1, "There is no folder"),
    ):
        result = ana("org", "connect", address)
        assert result.code == code and why in result.err, result
    clone = tmp_path / "clone"
    subprocess.run(["git", "clone", "--quiet", f"file://{bare}", str(clone)], check=True)
    result = ana("org", "connect", f"file://{clone}")
    assert result.code == 0 and f"connected to Acme (acme) at {clone}" in result.out, result
    # A clone of somebody else's vault runs no program, and takes facts all the same.
    assert ana("org", "promote", ana.keep(PORT)).code == 0
    assert ana("org", "disconnect").code == 0
    named = ana("org", "connect", str(acme.root), env={"CLAWMEM_ORG_URL": str(clone)})
    assert named.code == 2 and "names the organisation already" in named.err
    by_variable = ana("org", "query", QUESTION, "--json", env={"CLAWMEM_ORG_URL": str(clone)})
    assert len(by_variable.data["facts"]) == 1
    assert "connected to no organisation" in ana("org", "query", "x").err


@pytest.mark.parametrize(
    ("text", "folder"),
    [
        ("postgresql://ana@hub.example/clawmem", None),
        ("host=hub.example dbname=clawmem", None),
        ("-", None),
        ("/srv/shared", "/srv/shared"),
        ("file:///srv/shared", "/srv/shared"),
        ("shared/memory", "/here/shared/memory"),
        ("./a=b", "/here/a=b"),
    ],
)
def test_an_address_names_a_hub_or_a_folder(text: str, folder: str | None) -> None:
    found = named_folder(text, lambda name: Path("/here") / name)
    assert found == (folder and Path(folder))


@pytest.mark.parametrize(
    "text", ["git@hub.example:a/b.git", "hub.example:a", "ssh://hub.example/a", "https://x.example/a"]
)
def test_a_remote_behind_a_network_is_refused_without_its_text(text: str) -> None:
    with pytest.raises(InvalidInput) as refused:
        named_folder(text, Path)
    assert "example" not in refused.value.message


def share_policy(member: Member) -> None:
    path = member.root / "governance/access.yaml"
    path.parent.mkdir(exist_ok=True)
    path.write_text(POLICY)


@pytest.mark.parametrize("there_too", [True, False], ids=["policy", "no policy"])
def test_the_organisation_answers_a_reader_what_its_policy_lets_them_see(
    acme: Member, ben: Member, there_too: bool
) -> None:
    """Who may not see a fact there does not see it through another vault, nor as a copy that was pulled."""
    share_policy(acme)
    share_policy(ben)
    fact, public = acme.keep("Lucia takes lithium."), acme.keep("Lucia lives in Graz.")
    assert acme("access", "mark", fact, "--kind", "health", "--about", "lucia").code == 0
    if not there_too:
        (acme.root / "governance/access.yaml").unlink()
    for words in (["recall", "Lucia"], ["context", "Lucia"]):
        for options in (("--viewer", "clara"), ("--agent", "desk")):
            found = ben(*words, "--org", *options)
            if there_too:
                assert "Graz" in found.out and "lithium" not in found.out + found.err, found
        assert ("lithium" in ben(*words, "--org", "--viewer", "alvarez").out) == there_too
        assert "lithium" in ben(*words, "--org").out
    assert ben("org", "pull").code == 0
    assert public in ben("list", "--viewer", "clara").out
    for name in ("clara", "alvarez"):
        assert ("lithium" in ben("list", "--viewer", name).out) == (name == "alvarez")


def test_what_is_not_for_everybody_is_not_promoted(acme: Member, ana: Member) -> None:
    share_policy(ana)
    fact = ana.keep("Lucia takes lithium.")
    assert ana("access", "mark", fact, "--kind", "health", "--about", "lucia").code == 0
    refused = ana("org", "promote", fact)
    assert refused.code != 0 and "is health of lucia, and a mark does not count there" in refused.err
    assert ana("access", "mark", fact).code == 0 and ana("org", "promote", fact).code == 0
