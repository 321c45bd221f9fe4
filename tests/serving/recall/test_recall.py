"""Recall: channels, filters, agents, time; reads never commit and are counted."""

from __future__ import annotations

import pytest

from clawmem.index.search.channels import FactFilter
from clawmem.learning.ingest import ingest
from clawmem.memory.facts.access import fold_accesses
from clawmem.memory.facts.remember import remember
from clawmem.memory.facts.revise import retract, supersede
from clawmem.model.facts.draft import draft_from_record
from clawmem.model.records.caller import Caller
from clawmem.model.transcripts.message import Message
from clawmem.serving.browse import list_facts, show_fact
from clawmem.serving.context.context import context
from clawmem.serving.recall.recall import LEAST_SCORE, NEAR_SHARE, recall
from clawmem.serving.recall.result import RECALL_KINDS, ChannelReport, RecallResult
from clawmem.vault.state.journal import count_accesses, unfolded_accesses
from clawmem.vault.vault import Vault

EVERYTHING = FactFilter()


def _keep(vault: Vault, caller: Caller, text: str, **more: object) -> str:
    return remember(vault, [draft_from_record({"fact": text, **more}, caller.now)], caller).facts[0].fact.id


def _ask(vault: Vault, caller: Caller, question: str, wanted: FactFilter = EVERYTHING, limit: int = 10) -> RecallResult:
    return recall(vault, question, caller, wanted, limit)


def _texts(result: RecallResult) -> list[str]:
    return [hit.fact.fact for hit in result.found]


@pytest.fixture
def stocked(vault: Vault, caller: Caller) -> Vault:
    """A vault with a few facts of different kinds."""
    _keep(vault, caller, "Jane lives in Oslo", subject="Jane", predicate="lives_in", object="Oslo", tags=["home"])
    _keep(vault, caller, "Jane prefers green tea", entity="areas/people/jane", category="preference")
    _keep(vault, caller, "The roof was repaired", entity="projects/roof", valid_from="2024-05-10")
    _keep(vault, caller, "The painters come every spring", entity="projects/roof")
    return vault


def test_the_predicate_channel_finds_what_the_question_asks_for(stocked: Vault, caller: Caller) -> None:
    result = _ask(stocked, caller, "Where does Jane live?")
    assert _texts(result)[0] == "Jane lives in Oslo"
    assert "predicate" in result.found[0].channels
    assert result.channels["time"].ran is False
    assert result.channels["time"].why_not


def test_keywords_are_stemmed_and_order_by_fit(stocked: Vault, caller: Caller) -> None:
    assert _texts(_ask(stocked, caller, "painting")) == ["The painters come every spring"] or _texts(
        _ask(stocked, caller, "painter")
    ) == ["The painters come every spring"]
    assert _texts(_ask(stocked, caller, "repairs of the roof"))[0] == "The roof was repaired"


def test_the_time_channel_finds_facts_of_those_days(stocked: Vault, caller: Caller) -> None:
    result = _ask(stocked, caller, "What happened in May 2024?")
    assert "The roof was repaired" in _texts(result)
    assert result.channels["time"].ran


def test_filters_narrow(stocked: Vault, caller: Caller) -> None:
    assert _texts(_ask(stocked, caller, "Jane", FactFilter(tag="home"))) == ["Jane lives in Oslo"]
    assert _texts(_ask(stocked, caller, "Jane", FactFilter(category="preference"))) == ["Jane prefers green tea"]
    assert _texts(_ask(stocked, caller, "roof spring", FactFilter(entity="projects/roof"), 1)) != []
    assert _texts(_ask(stocked, caller, "Jane", FactFilter(entity="projects/roof"))) == []


def test_replaced_and_withdrawn_facts_come_only_when_asked_for(stocked: Vault, caller: Caller) -> None:
    oslo = _ask(stocked, caller, "Where does Jane live?").found[0].fact.id
    draft = draft_from_record({"fact": "Jane lives in Rome", "valid_from": "2026-06-01"}, caller.now)
    supersede(stocked, oslo, draft, caller)
    false = _keep(stocked, caller, "Jane lives on the moon")
    retract(stocked, false, caller)
    assert _texts(_ask(stocked, caller, "Where does Jane live?"))[0] == "Jane lives in Rome"
    assert not {"Jane lives in Oslo", "Jane lives on the moon"} & set(_texts(_ask(stocked, caller, "Jane lives")))
    every = _ask(stocked, caller, "Jane lives", FactFilter(superseded=True))
    assert {"Jane lives in Oslo", "Jane lives on the moon", "Jane lives in Rome"} <= set(_texts(every))
    then = _texts(_ask(stocked, caller, "Jane lives", FactFilter(as_of="2026-05-31")))
    assert "Jane lives in Oslo" in then
    assert "Jane lives in Rome" not in then
    assert "Jane lives on the moon" not in then


def test_an_agent_sees_its_own_facts_and_the_global_ones(stocked: Vault, caller: Caller) -> None:
    agent = caller._replace(agent="finance")
    _keep(stocked, agent, "Jane owes us 40 euro", entity="@finance/areas/people/jane")
    assert "Jane owes us 40 euro" not in _texts(_ask(stocked, caller, "Jane"))
    own = FactFilter(owners=("", "finance"))
    assert {"Jane owes us 40 euro", "Jane lives in Oslo"} <= set(_texts(_ask(stocked, agent, "Jane", own)))
    listed = list_facts(stocked, agent, own)
    assert listed.facts[0][0].entity == "@finance/areas/people/jane"


def test_a_list_with_a_limit_is_the_beginning_of_the_whole_one(stocked: Vault, caller: Caller) -> None:
    every = FactFilter(superseded=True)
    show_fact(stocked, _ask(stocked, caller, "green tea").found[0].fact.id, caller)
    whole = list_facts(stocked, caller, every)
    assert len(whole.facts) == whole.total == 4
    for limit in range(1, whole.total + 2):
        assert list_facts(stocked, caller, every, limit) == whole._replace(facts=whole.facts[:limit])
    hot = [fact for fact in whole.facts if fact[1] == "hot" and fact[0].fact.status == "active"]
    message = list_facts(stocked, caller, every, 1, "hot", "active")
    assert (message.total, message.facts) == (len(hot), tuple(hot[:1]))
    assert hot


def test_reads_never_commit_and_shown_counts_include_them(stocked: Vault, caller: Caller) -> None:
    head = stocked.head()
    for _ in range(3):
        fact = _ask(stocked, caller, "green tea").found[0].fact
    assert stocked.head() == head
    assert stocked.git.run("status", "--porcelain") == b""
    assert count_accesses(unfolded_accesses(stocked))[fact.id].count == 3
    placed = show_fact(stocked, fact.id, caller)
    assert placed.fact.access_count == 3
    folded = fold_accesses(stocked, caller)
    assert folded.commit is not None
    assert show_fact(stocked, fact.id, caller).fact.access_count == 4
    assert stocked.git.run("log", "-1", "--format=%s").startswith(b"access(")


def test_nothing_found_says_what_each_channel_did(stocked: Vault, caller: Caller) -> None:
    result = _ask(stocked, caller, "zeppelin")
    assert result.found == ()
    assert result.channels["keyword"] == ChannelReport(True, 0)


def test_a_limit_cuts_after_ranking(stocked: Vault, caller: Caller) -> None:
    whole = _texts(_ask(stocked, caller, "Jane roof"))
    assert _texts(_ask(stocked, caller, "Jane roof", limit=2)) == whole[:2]


def test_own_facts_come_first_among_those_found(stocked: Vault, caller: Caller) -> None:
    agent = caller._replace(agent="finance")
    everything = FactFilter(owners=("", "finance"))
    _keep(stocked, agent, "Invoices of Jane go to Oslo", entity="@finance/areas/mail")
    assert _texts(_ask(stocked, agent, "Jane in Oslo", everything))[0] == "Invoices of Jane go to Oslo"
    # A name alone does not put it before the answer.
    assert _texts(_ask(stocked, agent, "Where does Jane live?", everything))[0] == "Jane lives in Oslo"


def test_what_is_over_comes_behind_what_holds(vault: Vault, caller: Caller) -> None:
    _keep(vault, caller, "Jane works at Acme", valid_from="2010-01-01", valid_to="2020-01-01", importance=0.95)
    _keep(vault, caller, "Jane works at Statoil since long ago", valid_from="2021-01-01")
    _keep(vault, caller, "Jane likes tea")
    now = _ask(vault, caller, "where does Jane work?")
    assert _texts(now)[:2] == ["Jane works at Statoil since long ago", "Jane works at Acme"]
    assert [hit.tier for hit in now.found[:2]] == ["hot", "cold"]
    then = _ask(vault, caller, "where did Jane work in 2015?")
    assert _texts(then)[0] == "Jane works at Acme"
    assert "time" in then.found[0].channels
    listed = list_facts(vault, caller, EVERYTHING)
    assert [(placed.fact.fact, tier) for placed, tier in listed.facts][-1] == ("Jane works at Acme", "cold")
    (past, *_) = list_facts(vault, caller, FactFilter(as_of="2015-01-01")).facts
    assert (past[0].fact.fact, past[1]) == ("Jane works at Acme", "hot")


@pytest.mark.parametrize("triple", [True, False])
def test_a_question_about_the_past_names_the_command_for_what_was_replaced(
    vault: Vault, caller: Caller, triple: bool
) -> None:
    more = {"subject": "Jane", "predicate": "lives_in", "object": "Oslo"} if triple else {}
    old = _keep(vault, caller, "Jane lives in Oslo", valid_from="2020-01-01", **more)
    draft = draft_from_record({"fact": "Jane lives in Bergen now", "valid_from": "2025-06-01"}, caller.now)
    supersede(vault, old, draft, caller)
    _keep(vault, caller, "Jane drinks tea")
    asked = "where did Jane live in 2024?"
    result = _ask(vault, caller, asked)
    assert _texts(result)[0] == "Jane lives in Bergen now"
    assert "Jane lives in Oslo" not in _texts(result)
    shows = f"clawmem recall '{asked}' --as-of 2024-12-31"
    says = f"facts that were valid on 2024-12-31 were replaced later: show them with `{shows}`"
    assert result.notices == (says,)
    assert _texts(_ask(vault, caller, asked, FactFilter(as_of="2024-12-31")))[0] == "Jane lives in Oslo"
    assert _ask(vault, caller, asked, FactFilter(as_of="2024-12-31")).notices == ()
    assert _ask(vault, caller, asked, FactFilter(superseded=True)).notices == ()
    for other in ("where does Jane live?", "where did Jane live in 2019?", "what did Jane drink in 2024?"):
        assert _ask(vault, caller, other).notices == (), other
    part = _ask(vault, caller, "where did Jane live in 2025?").notices
    assert "--as-of 2025-05-31`" in "".join(part)


def test_who_was_gives_what_held_before_behind_what_holds(vault: Vault, caller: Caller) -> None:
    old = _keep(vault, caller, "Jane is the manager of Aurora")
    supersede(vault, old, draft_from_record({"fact": "Carla is the manager of Aurora"}, caller.now), caller)
    _keep(vault, caller, "Aurora has a budget of 9,000 euros")
    both = ["Carla is the manager of Aurora", "Jane is the manager of Aurora"]
    assert _texts(_ask(vault, caller, "Who was the manager of Aurora?"))[:2] == both
    assert both[1] not in _texts(_ask(vault, caller, "Who is the manager of Aurora?"))
    wrong = _keep(vault, caller, "Carla was born in Bergen")
    supersede(vault, wrong, draft_from_record({"fact": "Carla was born in Bodø"}, caller.now), caller)
    born = _texts(_ask(vault, caller, "Where was Carla born?"))
    assert born[0] == "Carla was born in Bodø" and "Carla was born in Bergen" not in born, "it tells the past itself"


def test_a_question_for_a_reason_finds_the_fact_that_has_one(vault: Vault, caller: Caller) -> None:
    old = _keep(vault, caller, "The Aurora launch is planned for 15 December 2026")
    draft = draft_from_record({"fact": "The Aurora launch is planned for 20 January 2027"}, caller.now)
    supersede(vault, old, draft, caller, reason="the payment provider is late")
    _keep(vault, caller, "The Aurora launch is moved to 2 February 2027")
    asked = [recall(vault, words, caller, EVERYTHING, 10, least=LEAST_SCORE, near=NEAR_SHARE) for words in
             ("Why was the Aurora launch moved?", "When was the Aurora launch moved?")]  # fmt: skip
    with_reason, without = (
        next(hit.score for hit in result.found if "20 January" in hit.fact.fact) for result in asked
    )
    assert with_reason > 1.5 * without


def test_options_that_were_not_taken_are_found(vault: Vault, caller: Caller) -> None:
    details = {"alternatives": [{"option": "Adyen", "why": "too expensive"}]}
    _keep(vault, caller, "Use Stripe for payments", category="decision", details=details)
    found = recall(vault, "What alternatives did we consider?", caller, EVERYTHING, 10, least=LEAST_SCORE)
    assert _texts(found) == ["Use Stripe for payments"]


def test_a_question_that_somebody_asked_stands_behind_the_fact_that_answers_it(vault: Vault, caller: Caller) -> None:
    _keep(vault, caller, "The tidepool service uses port 8090")
    said = ["which port does the tidepool service use?", "8087, from config.toml.", "thanks, the port it is then"]
    ingest(vault, [Message(at, "user", text, None, "Ada", "s1") for at, text in enumerate(said)], caller, "chat")
    asked = recall(vault, "which port does tidepool use", caller, EVERYTHING, 10, RECALL_KINDS, least=LEAST_SCORE)
    assert asked.ranking[0].text == "The tidepool service uses port 8090"
    assert said[0] in [hit.text for hit in asked.ranking]


def test_a_page_of_notes_may_be_called_a_summary(vault: Vault, caller: Caller) -> None:
    path = "daily/trip-summary.md"
    (vault.root / path).write_text("The ferry leaves from pier 4.\n")
    _keep(vault, caller, "Jane lives in Oslo")
    notes, summaries = (
        recall(vault, "ferry", caller, EVERYTHING, 10, (kind,)).noted for kind in ("notes", "summaries")
    )
    assert ([hit.path for hit in notes], summaries) == ([path], ())


def test_a_fact_of_somebody_else_stands_behind_one_of_whom_is_asked(vault: Vault, caller: Caller) -> None:
    rows = [{"fact": f"Jane has key {n} in a box", "entity": "areas/people/jane"} for n in range(40)]
    remember(vault, [draft_from_record(row, caller.now) for row in rows], caller)
    _keep(vault, caller, "Jane drinks coffee", entity="areas/people/jane")
    _keep(vault, caller, "Ben drinks black tea at breakfast", entity="areas/people/ben")
    hers, his = _ask(vault, caller, "Which tea does Jane drink at breakfast?").found[:2]
    assert (hers.fact.fact, his.fact.fact) == ("Jane drinks coffee", "Ben drinks black tea at breakfast")
    assert hers.score > his.score


def test_a_fact_that_has_only_the_name_in_a_question_lets_no_weak_message_in(vault: Vault, caller: Caller) -> None:
    _keep(vault, caller, "Jane prefers tea", entity="areas/people/jane")
    said = "Ben wants to move out of his flat in Bergen, and has no car for the boxes."
    others = (f"The boat number {number} goes out for the harbour office before noon." for number in range(9))
    talk = [Message(at, "user", text, None, "Ada", "s1") for at, text in enumerate((said, *others))]
    ingest(vault, talk, caller, "chat")
    text = context(vault, caller, 1000, "Jane's lease of a flat with a balcony and a cellar").text
    assert "Jane prefers tea" in text and "Ben wants" not in text
