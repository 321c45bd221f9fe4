"""What every answer has in common: its exit code, and its named values for people."""

from __future__ import annotations

from tests.conftest import Command


def test_an_answer_that_lacks_something_is_partial_unless_the_command_failed(clawmem: Command) -> None:
    """A check that may not run is skipped; one that fails counts more."""
    names = [clawmem("remember", text, "--json").data["facts"][0]["id"] for text in ("The port is 80.", "Jane sails.")]
    clawmem("claim", "check", names[0], "--command", "./none.sh")
    assert clawmem("claim", "test").code == 4
    clawmem("claim", "check", names[1], "--question", "What does Jane do?", "--expect", "dances")
    assert clawmem("claim", "test").code == 1


def test_named_values_stand_behind_their_first_line(clawmem: Command) -> None:
    fact = clawmem("remember", "Jane likes tea.", "--json").data["facts"][0]["id"]
    asked = clawmem("retract", fact, "--agent", "ann", "--json").data["facts"][0]["id"]
    first, *others = clawmem("review", "show", asked).out.splitlines()
    assert asked in first and others
