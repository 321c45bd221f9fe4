"""`review decide` on a real terminal."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from pathlib import Path

import pytest

from clawmem.faces.cli.review_keys import _wrapped
from clawmem.memory.proposals import read_proposals
from clawmem.model.facts.fact import Fact
from clawmem.model.proposals.proposal import ADD, Proposal, proposal_path, render_proposal
from clawmem.vault.vault import Vault
from tests.at_terminal import AtTerminal, at_terminal
from tests.conftest import PINNED_NOW, Command

Decide = Callable[..., AbstractContextManager[AtTerminal]]


@pytest.fixture
def decide(vault_root: Path, environment: dict[str, str]) -> Decide:
    """Starts `review decide` on a terminal."""

    def start(*options: str, env: Mapping[str, str] | None = None) -> AbstractContextManager[AtTerminal]:
        return at_terminal(["review", "decide", *options], vault_root, {**environment, **(env or {})})

    return start


def filed(number: int, says: str | None = None) -> Proposal:
    """A proposal of a fact about a boat."""
    text = says or f"Boat {number} is painted red."
    fact = Fact(f"fact_{number:08x}", text, "status", PINNED_NOW, source="user")
    created = f"2026-11-{1 + number // 86400 % 20:02}T{number // 3600 % 24:02}:{number // 60 % 60:02}:{number % 60:02}Z"
    return Proposal(
        f"prop_{number:08x}", "fact", text, "A person must confirm it.", created, ADD, fact=fact, entity="projects/boat"
    )


@pytest.fixture
def queue(vault_root: Path, environment: dict[str, str]) -> Callable[..., list[str]]:
    """Files proposals in one commit, and returns their ids."""

    def file(number: int, says: str | None = None) -> list[str]:
        made = [filed(other_number, says) for other_number in range(1, number + 1)]
        for proposal in made:
            path = vault_root / proposal_path(proposal.id)
            path.parent.mkdir(exist_ok=True)
            path.write_bytes(render_proposal(proposal))
        for words in (["add", "review"], ["commit", "-qm", "queue"]):
            subprocess.run(["git", *words], cwd=vault_root, env=environment, check=True)
        return [proposal.id for proposal in made]

    return file


def states(vault: Vault) -> dict[str, str]:
    return {proposal.id: proposal.status for proposal in read_proposals(vault).proposals}


def subjects(vault_root: Path, environment: Mapping[str, str], last: int) -> list[str]:
    process = subprocess.run(
        ["git", "log", f"-{last}", "--format=%s"], cwd=vault_root, env=environment, capture_output=True, text=True
    )
    return process.stdout.splitlines()


def test_one_key_is_one_decision_and_one_commit(
    decide: Decide, queue: Callable[..., list[str]], vault: Vault, vault_root: Path, environment: dict[str, str]
) -> None:
    text, two, three, four = queue(4)
    with decide() as terminal:
        modes = terminal.modes()
        terminal.until("1 of 4  [a t r s e u ? q] ")
        terminal.press("a")
        assert f"approved: {text}" in terminal.until("2 of 4  [")
        terminal.press("r")
        terminal.until("reason for rejecting: ")
        terminal.press("it was a joke\r")
        assert f"rejected: {two}" in terminal.until("3 of 4  [")
        terminal.press("s")
        terminal.until("4 of 4  [")
        terminal.press("a")
        terminal.until("That was the last one.  [u q] ")
        terminal.press("q")
        assert terminal.ended() == 0
        assert terminal.modes() == modes
        assert terminal.shown.endswith("2 approved, 1 rejected, 1 left\n")
    assert states(vault) == {text: "approved", two: "rejected", three: "open", four: "approved"}
    assert subjects(vault_root, environment, 4) == [
        "review(projects/boat): approved: Boat 4 is painted red.",
        f"review({two}): rejected: Boat 2 is painted red. (because: it was a joke)",
        "review(projects/boat): approved: Boat 1 is painted red.",
        "queue",
    ]


def test_undo_goes_back_to_what_was_decided(decide: Decide, queue: Callable[..., list[str]], vault: Vault) -> None:
    text, two = queue(2)
    with decide() as terminal:
        terminal.until("1 of 2  [")
        terminal.press("u")
        assert "Nothing was decided yet." in terminal.until("1 of 2  [")
        terminal.press("a")
        terminal.until("2 of 2  [")
        terminal.press("a")
        terminal.until("That was the last one.")
        terminal.until("] ")
        terminal.press("u")
        assert "undone: " in terminal.until("2 of 2  [")
        terminal.press("u")
        terminal.until("1 of 2  [")
        terminal.press("a")
        terminal.until("2 of 2  [")
        terminal.press("q")
        assert terminal.ended() == 0
    assert states(vault) == {text: "approved", two: "open"}


def test_what_is_shown_before_a_decision(decide: Decide, clawmem: Command, vault: Vault) -> None:
    triple = ("--subject", "Dana", "--predicate", "born_in", "-e", "areas/people/dana")
    clawmem("remember", "Dana was born in Oslo.", *triple, "--object", "Oslo")
    clawmem("remember", "Dana was born in Bergen.", *triple, "--object", "Bergen")
    with decide() as terminal:
        card = terminal.until("1 of 1  [a b k r s e u ? q] ")
        assert "Dana was born in Bergen." in card and "why       It contradicts" in card
        assert card.count("now       fact_") == 2
        terminal.press("e")
        assert "There is no evidence." in terminal.until("1 of 1  [")
        terminal.press("?")
        assert "  k  decide the conflict for one of its facts\n" in terminal.until("1 of 1  [")
        terminal.press("x")
        assert "Press one key: a approve" in terminal.until("1 of 1  [")
        terminal.press("k")
        terminal.until("(empty: none): ")
        terminal.press("7\r")
        assert "Nothing was decided." in terminal.until("1 of 1  [")
        terminal.press("k")
        assert "  1  fact_" in terminal.until("(empty: none): ")
        terminal.press("1\r")
        terminal.until("That was the last one.")
        terminal.until("] ")
        terminal.press("\x04")
        assert terminal.ended() == 0
    assert set(states(vault).values()) == {"approved"}
    assert [fact["fact"] for fact in clawmem("list", "--json").data["facts"]] == ["Dana was born in Oslo."]


def test_what_others_decide_meanwhile_is_told_and_passed(
    decide: Decide, queue: Callable[..., list[str]], clawmem: Command, vault: Vault
) -> None:
    text, two, three = queue(3)
    with decide() as terminal:
        terminal.until("1 of 3  [")
        assert clawmem("review", "approve", text).code == 0
        assert clawmem("review", "reject", two, "--reason", "no boat").code == 0
        terminal.press("r")
        terminal.until("rejecting: ")
        terminal.press("why not\r")
        message = terminal.until("3 of 3  [")
        assert f"{text} is already approved, by Ada Person <ada@example.org>" in message
        assert f"{text} is approved meanwhile by Ada Person" in message
        assert f"{two} is rejected meanwhile by Ada Person <ada@example.org> at 2026-11-21 09:30 UTC" in message
        terminal.press("q")
        assert terminal.ended() == 0
        assert terminal.shown.endswith("0 approved, 0 rejected, 1 left\n")
    assert states(vault) == {text: "approved", two: "rejected", three: "open"}


def test_the_text_of_a_proposal_cannot_act_on_the_terminal(decide: Decide, queue: Callable[..., list[str]]) -> None:
    queue(1, "\x1b]0;title\x07\x1b[2J[red]Boat[/red]\u202e\rhidden\x9b31m")
    with decide() as terminal:
        card = terminal.until("1 of 1  [")
        terminal.press("q")
        terminal.ended()
    assert "does      adds: \\u001b]0;title" in card
    assert "\\u001b]0;title\\u0007\\u001b[2J[red]Boat[/red]\\u202e hidden\\u009b31m" in card
    assert {part[:1] for part in terminal.raw.split("\x1b")[1:]} == {"["}
    assert "\x1b[2J" not in terminal.raw and "\x9b" not in terminal.raw and "\x07" not in terminal.raw


def test_only_a_single_key_decides(decide: Decide, queue: Callable[..., list[str]], vault: Vault) -> None:
    (text,) = queue(1)
    with decide() as terminal:
        terminal.until("1 of 1  [")
        for keys in ("\x1b[A", "\x1bOA", "aaa", "\x1b", "\x1b[200~a\x1b[201~", "ø"):
            terminal.until("] ")
            terminal.press(keys)
            assert "Press one key" in terminal.until("1 of 1  ["), keys
        terminal.press("q")
        assert terminal.ended() == 0
    assert states(vault) == {text: "open"}


def test_another_size_draws_the_prompt_again(decide: Decide, queue: Callable[..., list[str]], vault: Vault) -> None:
    (text,) = queue(1)
    with decide() as terminal:
        terminal.until("1 of 1  [")
        terminal.until("] ")
        terminal.resize(10, 30)
        terminal.until("1 of 1  [")
        terminal.until("] ")
        terminal.press("a")
        terminal.until("last one.  [u q] ")
        terminal.press("q")
        assert terminal.ended() == 0
    assert states(vault) == {text: "approved"}


def test_control_c_takes_a_question_back_and_then_ends(
    decide: Decide, queue: Callable[..., list[str]], vault: Vault
) -> None:
    text, two = queue(2)
    with decide() as terminal:
        modes = terminal.modes()
        terminal.until("1 of 2  [")
        terminal.press("a")
        terminal.until("2 of 2  [")
        terminal.press("r")
        terminal.until("rejecting: ")
        terminal.press("half a rea\x03")
        assert "Not rejected: a rejection needs a reason." in terminal.until("2 of 2  [")
        terminal.press("\x03")
        assert terminal.ended() == 130
        assert terminal.modes() == modes
        assert terminal.shown.endswith("1 approved, 0 rejected, 1 left\n")
    assert states(vault) == {text: "approved", two: "open"}


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_a_signal_restores_the_terminal(
    number: signal.Signals, decide: Decide, queue: Callable[..., list[str]], vault: Vault
) -> None:
    text, two = queue(2)
    with decide() as terminal:
        modes = terminal.modes()
        terminal.until("1 of 2  [")
        terminal.press("a")
        terminal.until("2 of 2  [")
        assert terminal.modes() != modes
        os.kill(terminal.pid, number)
        assert terminal.wait() == 128 + number
        assert terminal.modes() == modes
    assert states(vault) == {text: "approved", two: "open"}


def test_a_closed_window_ends_it(decide: Decide, queue: Callable[..., list[str]], vault: Vault) -> None:
    text, two = queue(2)
    with decide() as terminal:
        terminal.until("1 of 2  [")
        terminal.press("a")
        terminal.until("2 of 2  [")
        terminal.close()
        terminal.wait()
    assert states(vault) == {text: "approved", two: "open"}


def test_an_agent_and_a_pipe_are_refused(
    decide: Decide, queue: Callable[..., list[str]], clawmem: Command, environment: dict[str, str]
) -> None:
    queue(1)
    piped = clawmem("review", "decide")
    assert (piped.code, piped.out) == (1, "")
    assert "there is none" in piped.err and "`clawmem review list` shows what waits" in piped.err
    assert clawmem("review", "decide", "--json").json["error"]["code"] == "refused"
    for options, env in ((["--agent", "scout"], {}), ([], {"CLAWMEM_AGENT": "scout"})):
        with decide(*options, env=env) as terminal:
            assert terminal.ended() == 1
            assert "so only a person may run it, and scout is an agent." in terminal.shown


def test_only_what_the_person_may_decide_is_asked(
    decide: Decide, queue: Callable[..., list[str]], clawmem: Command
) -> None:
    queue(2)
    assert clawmem("config", "set", "review.routes", "kind:fact ben@example.org").code == 0
    with decide() as terminal:
        assert terminal.ended() == 0
        assert "There is nothing for you to decide." in terminal.shown
        assert "2 proposals for other reviewers (`review.routes`)." in terminal.shown


def test_a_thousand_proposals_start_at_once(decide: Decide, queue: Callable[..., list[str]], vault: Vault) -> None:
    ids = queue(1000)
    with decide() as terminal:
        terminal.until("1 of 1,000  [")
        terminal.press("s")
        terminal.until("2 of 1,000  [")
        terminal.press("a")
        terminal.until("3 of 1,000  [")
        terminal.press("q")
        assert terminal.ended() == 0
        assert terminal.shown.endswith("1 approved, 0 rejected, 999 left\n")
    assert [text for text, status in states(vault).items() if status != "open"] == [ids[1]]


def by(number: signal.Signals) -> Callable[[AtTerminal], None]:
    """Ends a command with a signal to it alone."""
    return lambda terminal: os.kill(terminal.pid, number)


# The last two reach the git processes, too.
ENDS: dict[str, Callable[[AtTerminal], None]] = {
    "kill": by(signal.SIGKILL),
    "interrupt": by(signal.SIGINT),
    "hangup": by(signal.SIGHUP),
    "terminate": by(signal.SIGTERM),
    "Control-C": lambda terminal: terminal.press("\x03"),
    "close": AtTerminal.close,
}


@pytest.mark.parametrize("end", ENDS)
def test_an_end_at_any_moment_leaves_the_vault_whole(
    end: str,
    request: pytest.FixtureRequest,
    decide: Decide,
    queue: Callable[..., list[str]],
    clawmem: Command,
    vault: Vault,
    vault_root: Path,
    environment: dict[str, str],
) -> None:
    ids = queue(4)
    with decide() as terminal:
        for place in range(1, 3):
            terminal.until(f"{place} of 4  [")
            terminal.press("a")
        time.sleep(random.Random(request.node.name).uniform(0, 0.08))
        ENDS[end](terminal)
        terminal.wait()
    assert clawmem("status").code == 0
    assert clawmem("review", "approve", ids[3]).code == 0
    assert clawmem("doctor").code == 0
    clean = subprocess.run(
        ["git", "status", "--porcelain"], cwd=vault_root, env=environment, capture_output=True, text=True
    )
    assert clean.stdout == ""
    decided = [text for text, status in states(vault).items() if status == "approved"]
    assert decided in (ids[:1] + ids[3:], ids[:2] + ids[3:])
    assert len(clawmem("list", "--json").data["facts"]) == len(decided)


@pytest.mark.parametrize("rounds", [pytest.param(60, marks=pytest.mark.soak)])
def test_many_kills_leave_the_vault_whole(
    rounds: int,
    decide: Decide,
    queue: Callable[..., list[str]],
    clawmem: Command,
    vault: Vault,
    vault_root: Path,
    environment: dict[str, str],
) -> None:
    ids, chance = queue(rounds), random.Random(16)
    for place in range(rounds):
        with decide() as terminal:
            terminal.until("  [")
            terminal.press(chance.choice("aau"))
            time.sleep(chance.uniform(0, 0.15))
            chance.choice([*ENDS.values()])(terminal)
            terminal.wait()
        assert clawmem("remember", f"Round {place} is over.", "-e", "projects/boat").code == 0
        assert subjects(vault_root, environment, 1) == [f"remember(projects/boat): Round {place} is over."]
    assert clawmem("doctor").code == 0
    approved = sum(status == "approved" for status in states(vault).values())
    facts = clawmem("list", "--limit", "1000", "--json").data["facts"]
    assert len(facts) == approved + rounds and len(states(vault)) == len(ids)


def test_only_the_walk_loads_what_reads_keys(vault_root: Path, environment: dict[str, str]) -> None:
    code = (
        "import sys, json; from clawmem.faces.cli.plain import run_plain\n"
        "run_plain(['review', 'list']); before = set(sys.modules)\n"
        "import clawmem.faces.cli.review_keys\n"
        "print(json.dumps([sorted(before), sorted(sys.modules)]))"
    )
    process = subprocess.run(
        [sys.executable, "-c", code], cwd=vault_root, env=environment, capture_output=True, text=True, check=True
    )
    before, after = (set(load) for load in json.loads(process.stdout.splitlines()[-1]))
    keys = {"termios", "tty", "clawmem.faces.cli.keys", "clawmem.faces.cli.review_keys", "clawmem.faces.cli.progress"}
    assert before & keys == set()
    assert {"rich", "typer", "git"} & after == set()


@pytest.mark.parametrize("columns", [32, 40, 72])
def test_a_long_line_is_wrapped_below_what_is_behind_its_label(columns: int) -> None:
    text = "why       It contradicts fact_1a2b3c4d: only one of them can be true. All stay active until decided."
    first, *rest = _wrapped(text, columns)
    assert rest and all(len(line) <= columns for line in (first, *rest))
    assert all(line.startswith(" " * 10) and line[10] != " " for line in rest)
    assert " ".join(" ".join((first, *rest)).split()) == " ".join(text.split())


def test_a_terminal_that_does_not_say_its_width_wraps_nothing() -> None:
    assert _wrapped("x " * 200, 0) == ["x " * 200]
    assert _wrapped("a" * 60, 40) == ["a" * 60]
