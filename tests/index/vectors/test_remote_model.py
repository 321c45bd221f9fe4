"""A model that is called for vectors: what it costs is counted whoever asks, and no question is paid for twice."""

from __future__ import annotations

import sqlite3

import pytest

from clawmem.errors import BudgetSpent, StorageFailed
from clawmem.index.vectors.embed import MAX_CACHED_QUESTIONS, embed_missing
from clawmem.index.vectors.store import (
    configured_model,
    open_or_create_vectors,
    open_vectors,
    question_model,
    vectors_path,
)
from clawmem.llm.budget import RunLimits
from clawmem.llm.choice import Model
from clawmem.memory.facts.access import fold_accesses
from clawmem.model.language.dates import stamp
from clawmem.model.records.caller import Caller
from clawmem.vault.past import VaultAt
from clawmem.vault.state.journal import record_access
from clawmem.vault.state.spending import FOLDER, record_spending, spent_on
from clawmem.vault.vault import Vault
from tests.command_server import CommandServer
from tests.conftest import Command, Result
from tests.loopback import embeds, refuses, serving
from tests.needs import needs_litellm

pytestmark = needs_litellm


@pytest.fixture
def command_server(litellm_server: CommandServer) -> CommandServer:
    """Several commands here call litellm."""
    return litellm_server


DAY = "2026-11-21"
PRICED = "openai/text-embedding-3-small"
QUESTION = "who has a dog"


@pytest.fixture
def called(vault: Vault, clawmem: Command) -> Vault:
    """A vault with one fact whose settings name a model with a price; where it is has still to be said."""
    clawmem("remember", "Jane adopted a puppy.", "--entity", "areas/people/jane")
    clawmem("config", "set", "semantic.model", PRICED)
    return vault


def again(vault: Vault) -> Vault:
    """Return the vault with newly read settings."""
    return Vault(vault.root, vault.git.environment)


def asked(clawmem: Command, question: str = QUESTION, *options: str) -> Result:
    result = clawmem("recall", question, "--json", *options)
    assert result.code == 0, result.err
    return result


def test_a_question_is_counted_and_asked_again_it_is_free(called: Vault, clawmem: Command) -> None:
    with serving(embeds("dog puppy")) as server:
        clawmem("config", "set", "semantic.api_base", server.address)
        run = embed_missing(again(called), day=DAY)
        assert spent_on(called, DAY) == pytest.approx(run.cents) and run.cents > 0
        head = called.head().commit
        assert asked(clawmem).data["channels"]["vector"]["ran"]
        paid = spent_on(called, DAY)
        assert run.cents < paid < 2 * run.cents + 0.01
        assert len(server.asked) == 2
        assert asked(clawmem).data["channels"]["vector"]["ran"]
        assert asked(clawmem, QUESTION, "--in", "all").data["channels"]["vector"]["ran"]
        assert (len(server.asked), spent_on(called, DAY)) == (2, paid)
        asked(clawmem, "another question")
        assert len(server.asked) == 3 and spent_on(called, DAY) > paid
        assert called.head().commit == head


def test_a_heartbeat_keeps_what_was_asked_and_takes_in_what_it_cost(called: Vault, clawmem: Command) -> None:
    with serving(embeds("dog puppy")) as server:
        clawmem("config", "set", "semantic.api_base", server.address)
        embed_missing(again(called), day=DAY)
        asked(clawmem)
        clawmem("config", "set", "semantic.daily_cents", "50")
        record_spending(called, DAY, 50 - spent_on(called, DAY))
        clawmem("remember", "Omar bakes bread.", "--entity", "areas/people/omar")
        run = embed_missing(again(called), day=DAY)
        assert run.left == 1 and run.problem is not None and "semantic.daily_cents" in run.problem.message
        assert len(server.asked) == 2
        tomorrow = embed_missing(again(called), day="2026-11-22")
        assert tomorrow.left == 0 and tomorrow.embedded == 1
        assert [path.name for path in (called.state / FOLDER).iterdir()] == ["2026-11-22"]
        asked(clawmem)
        assert len(server.asked) == 3


def test_a_search_beyond_the_day_is_not_paid_for_and_says_so(called: Vault, clawmem: Command) -> None:
    with serving(embeds("dog puppy")) as server:
        clawmem("config", "set", "semantic.api_base", server.address)
        embed_missing(again(called), day=DAY)
        record_spending(called, DAY, 99.99999999 - spent_on(called, DAY))
        result = asked(clawmem, "who has a puppy")
        assert [fact["fact"] for fact in result.data["facts"]] == ["Jane adopted a puppy."]
        vector = result.data["channels"]["vector"]
        assert not vector["ran"] and vector["unable"] and "(semantic.daily_cents)" in vector["why_not"]
        assert clawmem("recall", "who has a puppy", "--strict").code == 4
        assert len(server.asked) == 1
        assert spent_on(called, DAY) < 100


def test_a_look_at_the_past_spends_the_money_of_now(called: Vault, clawmem: Command) -> None:
    from clawmem.index.vectors.remote_model import RemoteEmbedder

    model = Model(PRICED, api_key="k", limits=RunLimits(tokens=0, group="semantic"))
    record_spending(called, DAY, 1.0)
    commit = called.head().commit
    assert commit is not None
    past = RemoteEmbedder(VaultAt(called, commit), model, "2020-01-01")
    assert past.day == DAY and past.vault.state == called.state
    assert RemoteEmbedder(called, model, "2026-11-22").day == "2026-11-22"


def test_a_call_that_fails_costs_nothing(called: Vault, clawmem: Command) -> None:
    with serving(embeds("dog puppy"), refuses(500, "broken")) as server:
        clawmem("config", "set", "semantic.api_base", server.address)
        embed_missing(again(called), day=DAY)
        before = spent_on(called, DAY)
        assert not asked(clawmem).data["channels"]["vector"]["ran"]
        assert spent_on(called, DAY) == pytest.approx(before)


def test_what_others_set_aside_meanwhile_is_not_spent_twice(called: Vault) -> None:
    from clawmem.index.vectors.remote_model import RemoteEmbedder

    with serving(embeds("dog")) as server:
        limits = RunLimits(tokens=0, daily_cents=1.0, cents=10, group="semantic")
        model = RemoteEmbedder(called, Model(PRICED, api_base=server.address, limits=limits), DAY)
        record_spending(called, DAY, 0.9999999)
        with pytest.raises(BudgetSpent, match="were spent today"):
            model.embed(["a dog"])
        assert server.asked == [] and spent_on(called, DAY) == pytest.approx(0.9999999)
        record_spending(called, DAY, -0.9)
        assert len(model.embed(["a dog"])) == 1


def test_money_that_cannot_be_counted_is_not_spent(called: Vault, clawmem: Command) -> None:
    from clawmem.index.vectors.remote_model import RemoteEmbedder

    with serving(embeds("dog")) as server:
        clawmem("config", "set", "semantic.api_base", server.address)
        embed_missing(again(called), day=DAY)
        path = called.state / FOLDER / DAY
        path.write_bytes(b"garbage\n")
        model = RemoteEmbedder(called, Model(PRICED, limits=RunLimits(tokens=0, group="semantic")), DAY)
        with pytest.raises(StorageFailed, match="cannot be read"):
            model.embed(["a dog"])
        assert "cannot be read" in asked(clawmem).data["channels"]["vector"]["why_not"]
        assert len(server.asked) == 1


def test_a_writer_at_work_does_not_lose_an_answer(called: Vault, clawmem: Command) -> None:
    with serving(embeds("dog puppy")) as server:
        clawmem("config", "set", "semantic.api_base", server.address)
        embed_missing(again(called), day=DAY)
        other = sqlite3.connect(vectors_path(called), isolation_level=None)
        other.execute("BEGIN IMMEDIATE")
        try:
            assert asked(clawmem).data["channels"]["vector"]["ran"]
        finally:
            other.execute("ROLLBACK")
            other.close()
        asked(clawmem)
        assert len(server.asked) == 3


def test_the_questions_that_are_kept_are_bounded(called: Vault, clawmem: Command) -> None:
    with serving(embeds("dog puppy")) as server:
        clawmem("config", "set", "semantic.api_base", server.address)
        now = again(called)
        vectors = open_or_create_vectors(now)
        name = question_model(configured_model(now))
        vectors.store_vectors(name, [(at.to_bytes(16, "big"), b"\0" * 8) for at in range(MAX_CACHED_QUESTIONS + 5)])
        vectors.store_vectors(question_model("another model"), [(b"k" * 16, b"\0" * 8)])
        vectors.close()
        embed_missing(now, day=DAY)
        kept = open_vectors(now)
        assert kept is not None
        assert kept.keys(name) == {at.to_bytes(16, "big") for at in range(5, MAX_CACHED_QUESTIONS + 5)}
        assert kept.keys(question_model("another model")) == set()
        kept.close()


def test_what_is_asked_for_gets_its_vector_first(called: Vault, clawmem: Command, caller: Caller) -> None:
    words = ("Omar bakes bread.", "Ada rows on Sundays.", "The kiln burns at night.")
    ids = [clawmem("remember", word, "--json").data["facts"][0]["id"] for word in words]
    record_access(called, stamp(caller.now), [ids[2], ids[2], ids[1]])
    fold_accesses(called, caller)
    with serving(embeds("dog puppy")) as server:
        clawmem("config", "set", "semantic.api_base", server.address)
        embed_missing(again(called), day=DAY)
        first = server.asked[0].body["input"]
    assert [other.rpartition(": ")[2] for other in first[:2]] == [words[2], words[1]]
