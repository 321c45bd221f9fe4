"""No verb shows an agent anything from the workspace of another agent; a person can read everything."""

from __future__ import annotations

import pytest

from tests.conftest import Command, Once

SECRET, PLACE = "The budget of Zqx is 900", "@finance/projects/budget"


@pytest.fixture
def held(once: Once, clawmem: Command) -> str:
    """A fact in the workspace of the agent finance, and one that all share; the id of the first."""

    def build() -> str:
        clawmem("remember", "The office is in Bonn", "-e", "projects/office")
        clawmem("agent", "create", "finance")
        done = clawmem("remember", SECRET, "-e", PLACE, "--agent", "finance", "--json")
        return str(done.data["facts"][0]["id"])

    return once(build)


VERBS = (
    ("list", "-e", PLACE),
    ("recall", "budget", "-e", PLACE),
    ("context", "budget", "-e", PLACE),
    ("show", "{id}"),
    ("why", "{id}"),
    ("tier", "{id}"),
    ("log", "{id}"),
    ("log", PLACE),
    ("graph", "neighbors", "{id}"),
    ("graph", "neighbors", PLACE),
    ("entity", "show", PLACE),
    ("agent", "show", "finance"),
)


@pytest.mark.parametrize("verb", VERBS, ids=" ".join)
@pytest.mark.few(6)
def test_another_agent_is_refused_and_its_owner_and_a_person_are_not(
    clawmem: Command, held: str, verb: tuple[str, ...]
) -> None:
    arguments = [word.format(id=held) for word in verb]
    refused = clawmem(*arguments, "--agent", "legal")
    assert refused.code == 1
    assert "belongs to the agent finance" in refused.err
    assert "Zqx" not in refused.out + refused.err
    for asking in ((), ("--agent", "finance")):
        told = clawmem(*arguments, *asking)
        assert "belongs to the agent finance" not in told.err
        if verb[0] not in ("graph", "agent") or (len(verb) == 3 and verb[-1] == "{id}"):
            assert "Zqx" in told.out


def test_the_whole_log_leaves_it_out(clawmem: Command, held: str) -> None:
    assert "Zqx" not in clawmem("log", "--agent", "legal").out
    assert "Zqx" in clawmem("log").out
