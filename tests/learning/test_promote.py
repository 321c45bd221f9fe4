"""Promotion: the best of a day, at most so many, each with its reason, once; and notes that an entity has room for."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from datetime import timedelta

import pytest

from clawmem.errors import Refused
from clawmem.heartbeat.steps import refresh_summaries
from clawmem.index.refresh import open_index
from clawmem.index.search.lookup import all_facts
from clawmem.learning.adapt import adapt, current_adaptation
from clawmem.learning.promote import PromoteResult, promote
from clawmem.memory.entities.entities import create_entity
from clawmem.memory.facts.remember import remember
from clawmem.memory.facts.revise import link, retract
from clawmem.memory.health.configure import change_setting
from clawmem.memory.history.undo import undo
from clawmem.memory.proposals import proposal_writes, read_proposals
from clawmem.memory.writing import writing
from clawmem.model.facts.draft import draft_from_record
from clawmem.model.facts.fact import Fact
from clawmem.model.proposals.promotion import promotion_of
from clawmem.model.proposals.proposal import OPEN, REJECTED, RETRACT, Proposal, ProposalTarget
from clawmem.model.records.caller import Caller
from clawmem.model.records.change import Change
from clawmem.review.review import approve, reject
from clawmem.vault.vault import Vault
from tests.conftest import Command

TODAY = "2026-11-21"


def _facts(vault: Vault) -> dict[str, Fact]:
    index = open_index(vault)
    try:
        return {placed.fact.fact: placed.fact for placed in all_facts(index)}
    finally:
        index.close()


def _remember(vault: Vault, caller: Caller, *statements: str, **keys: object) -> None:
    drafts = [draft_from_record({"fact": statement, **keys}, caller.now) for statement in statements]
    remember(vault, drafts, caller)


def _decisions(vault: Vault, caller: Caller, number: int) -> None:
    words = [f"We decided to use engine {letter} in Oslo." for letter in "ABCDEFGHIJKL"[:number]]
    _remember(vault, caller, *words, category="decision", importance=0.7, entity="projects/billing", trust="user")


def test_the_worthy_are_marked_lifted_and_shown_first(vault: Vault, caller: Caller) -> None:
    _decisions(vault, caller, 1)
    _remember(vault, caller, "It rained a bit.", importance=0.2, entity="projects/billing")
    result = promote(vault, caller, TODAY)
    assert [verdict.promoted for verdict in result.verdicts] == [True, False]
    assert result.verdicts[1].reason == "its score is 0.24, and 0.60 is needed"
    fact = _facts(vault)["We decided to use engine A in Oslo."]
    mark = promotion_of(fact)
    assert mark is not None
    assert (mark["on"], mark["importance"]) == (TODAY, 0.7)
    body = vault.git.run("log", "-1", "--format=%s%n%b").decode()
    assert body.startswith(f"promote({TODAY}): 1 fact worth thirty days\n- project projects/billing: We decided")
    refresh_summaries(vault, caller)
    page = vault.read_text("life/projects/billing/summary.md") or ""
    assert page.index("## Promoted facts") < page.index("We decided to use engine A") < page.index("## Hot facts")


def test_at_most_eight_a_day_and_a_second_run_promotes_nothing(vault: Vault, caller: Caller) -> None:
    _decisions(vault, caller, 12)
    first = promote(vault, caller, TODAY)
    assert len(first.kept) == 8
    head = vault.head()
    again = promote(vault, caller, TODAY)
    assert (again.kept, again.commit, vault.head()) == ((), None, head)
    assert {verdict.reason for verdict in again.verdicts} == {"its score is high enough, but the limit is 8 a day"}


def test_a_dry_run_writes_nothing_and_another_day_has_no_candidates(vault: Vault, caller: Caller) -> None:
    _decisions(vault, caller, 2)
    head = vault.head()
    assert len(promote(vault, caller, TODAY, dry_run=True).kept) == 2
    assert promote(vault, caller, "2026-11-19").verdicts == ()
    assert vault.head() == head


def test_a_promotion_can_be_undone(vault: Vault, caller: Caller) -> None:
    _decisions(vault, caller, 1)
    before = _facts(vault)
    result = promote(vault, caller, TODAY)
    assert result.commit
    undo(vault, result.commit, caller)
    assert _facts(vault) == before


def test_a_file_that_does_not_parse_stops_only_its_own_facts(vault: Vault, caller: Caller) -> None:
    _decisions(vault, caller, 1)
    words = "Ada decided to move to Oslo."
    _remember(vault, caller, words, category="decision", importance=0.9, entity="areas/people/ada")
    broken = vault.root / "life/projects/billing/items.json"
    broken.write_text("[\noops\n]\n")
    assert [verdict.candidate.fact.fact for verdict in promote(vault, caller, TODAY).kept] == [words]
    assert broken.read_text() == "[\noops\n]\n"


BILLING = "projects/billing"
TOOL = "it comes from a tool, so only a person can confirm it"


def keep(vault: Vault, caller: Caller, *statements: str, **keys: object) -> list[Fact]:
    """Facts that are worth promoting, where nothing else is said."""
    record = {"category": "decision", "importance": 0.9, "entity": BILLING, "trust": "user", **keys}
    drafts = [draft_from_record({"fact": statement, **record}, caller.now) for statement in statements]
    return [remembered_fact.fact for remembered_fact in remember(vault, drafts, caller).facts]


def facts_of(vault: Vault) -> dict[str, Fact]:
    index = open_index(vault)
    try:
        return {placed.fact.id: placed.fact for placed in all_facts(index)}
    finally:
        index.close()


def engines(number: int) -> Sequence[str]:
    return [f"The build decided on engine {text} in Oslo." for text in "ABCDEFGHIJKL"[:number]]


def told(result: PromoteResult) -> list[tuple[bool, bool, str]]:
    return [(verdict.promoted, verdict.waits, verdict.reason) for verdict in result.verdicts]


def test_what_a_tool_said_waits_in_the_same_commit_and_only_once(vault: Vault, caller: Caller) -> None:
    (mine,) = keep(vault, caller, "We decided on Postgres 16 in Oslo.")
    (theirs,) = keep(vault, caller, *engines(1), trust="tool")
    result = promote(vault, caller, TODAY)
    assert [verdict.candidate.fact.id for verdict in result.kept] == [mine.id]
    (filed,) = read_proposals(vault).open
    assert result.proposals == (filed,)
    assert (filed.kind, filed.does, filed.targets) == (
        "promotion",
        "promote",
        (ProposalTarget(theirs.id, theirs.fact),),
    )
    assert (filed.why, filed.entity) == (f"I{TOOL[1:]}.", BILLING)
    assert filed.worth is not None
    assert filed.worth.on == TODAY
    log = vault.git.run("log", "-1", "--format=%s%n%b").decode()
    assert log.startswith(f"promote({TODAY}): 1 fact worth thirty days, 1 for a person to decide\n")
    assert f"- {filed.id} waits for review: Keep for thirty days: {theirs.fact}" in log
    assert f"Proposal: {filed.id}" in log
    head = vault.head()
    again = promote(vault, caller, TODAY)
    assert told(again) == [(False, False, f"it already waits for review as {filed.id}")]
    assert (again.commit, vault.head(), len(read_proposals(vault).proposals)) == (None, head, 1)


def test_only_proposals_make_a_commit_too_and_a_dry_run_files_none(vault: Vault, caller: Caller) -> None:
    keep(vault, caller, *engines(1), trust="external")
    dry = promote(vault, caller, TODAY, dry_run=True)
    assert told(dry) == [(False, True, "it comes from outside, so only a person can confirm it")]
    assert read_proposals(vault).proposals == ()
    assert promote(vault, caller, TODAY).commit
    assert vault.git.run("log", "-1", "--format=%s").decode() == f"promote({TODAY}): 1 for a person to decide\n"


def test_undone_with_what_was_promoted_beside_it(vault: Vault, caller: Caller) -> None:
    keep(vault, caller, "We decided on Postgres 16 in Oslo.")
    keep(vault, caller, *engines(1), trust="tool")
    before = facts_of(vault)
    result = promote(vault, caller, TODAY)
    assert result.commit
    undo(vault, result.commit, caller)
    assert (facts_of(vault), read_proposals(vault).proposals) == (before, ())


def test_at_most_three_a_day(vault: Vault, caller: Caller) -> None:
    keep(vault, caller, *engines(5), trust="tool")
    result = promote(vault, caller, TODAY)
    assert len(result.proposals) == 3
    assert {verdict.reason for verdict in result.verdicts[3:]} == {f"{TOOL}; a person is asked at most 3 times a day"}
    assert promote(vault, caller, TODAY).proposals == ()


def test_proposals_count_against_nothing(vault: Vault, caller: Caller) -> None:
    keep(vault, caller, *engines(3), trust="tool")
    keep(vault, caller, *[f"We decided on {text} 7 in Oslo." for text in ("Redis", "Kafka", "Vault", "Linux")])
    change_setting(vault, caller, "promotion.max_facts", "3")
    vault = Vault(vault.root, vault.git.environment)
    result = promote(vault, caller, TODAY)
    assert (len(result.kept), len(result.proposals)) == (3, 3)
    for proposal in result.proposals:
        approve(vault, proposal.id, caller)
    change_setting(vault, caller, "promotion.max_facts", "4")
    again = promote(Vault(vault.root, vault.git.environment), caller, TODAY)
    assert len(again.kept) == 1, "what a person approved leaves the day's own places free"


def test_an_approved_one_is_promoted_as_if_it_had_been_at_once(vault: Vault, caller: Caller) -> None:
    statement = engines(1)[0]
    (theirs,) = keep(vault, caller, statement, trust="tool", importance=0.7, confidence=0.95)
    (filed,) = promote(vault, caller, TODAY).proposals
    outcome = approve(vault, filed.id, caller, "I looked")
    (changed,) = outcome.facts
    assert (changed.fact.id, changed.entity, outcome.outcome) == (theirs.id, BILLING, ("updated",))
    now = facts_of(vault)[theirs.id]
    mark = promotion_of(now)
    assert mark is not None
    assert filed.worth is not None
    assert (mark["on"], mark["score"], mark["proposal"]) == (TODAY, filed.worth.score, filed.id)
    assert tuple(mark["reasons"]) == filed.worth.reasons
    assert now.importance == 0.7, "the score is under 0.75, so it is kept warm, and was so already"
    assert now._replace(metadata=None) == theirs._replace(metadata=None)
    assert promote(vault, caller, TODAY).verdicts == ()
    subject = vault.git.run("log", "-1", "--format=%s").decode().strip()
    assert subject == f"review({BILLING}): approved: Keep for thirty days: {statement} (because: I looked)"
    assert outcome.commit
    undo(vault, outcome.commit, caller)
    assert facts_of(vault)[theirs.id] == theirs
    assert [proposal.status for proposal in read_proposals(vault).proposals] == [OPEN]


def test_one_that_was_turned_down_is_never_promoted_past_the_person(vault: Vault, caller: Caller) -> None:
    keep(vault, caller, *engines(1), trust="tool")
    (filed,) = promote(vault, caller, TODAY).proposals
    reject(vault, filed.id, caller, "a guess")
    result = promote(vault, caller, TODAY)
    assert told(result) == [(False, False, f"it was rejected in review as {filed.id}: a guess")]
    assert result.verdicts[0].proposal == filed.id
    assert [proposal.status for proposal in read_proposals(vault).proposals] == [REJECTED]


def test_a_score_just_under_the_threshold_asks(vault: Vault, caller: Caller) -> None:
    statement = "Ana runs trails."
    keys: dict[str, object] = {"category": "habit", "confidence": 0.95, "subject": "Ana", "predicate": "runs",
                               "object": "trails", "trust": "agent"}  # fmt: skip
    keep(vault, caller, statement, **keys, importance=0.7)
    keep(vault, caller, "Ana swims there.", **keys, importance=0.3)
    result = promote(vault, caller, TODAY)
    assert told(result) == [
        (False, True, "its score is 0.58, just below the 0.60 needed"),
        (False, False, "its score is 0.46, and 0.60 is needed"),
    ]


def test_what_is_contradicted_waits_until_the_other_is_gone(vault: Vault, caller: Caller) -> None:
    fact, other = keep(vault, caller, "The build decided on Oslo 1.", "The build decided on Bergen 2.")
    link(vault, fact.id, "contradicts", other.id, caller)
    result = promote(vault, caller, TODAY, dry_run=True)
    (asked,) = read_proposals(vault).open
    assert {verdict.reason for verdict in result.waiting} == {
        f"it is in conflict with {each.id}, {asked.id}" for each in (fact, other)
    }
    retract(vault, other.id, caller)
    assert [verdict.candidate.fact.id for verdict in promote(vault, caller, TODAY).kept] == [fact.id]


def test_what_an_open_conflict_would_replace_waits_too(vault: Vault, caller: Caller) -> None:
    (fact,) = keep(vault, caller, *engines(1))
    conflict = Proposal(
        "prop_00000001", "conflict", "Not so.", "Somebody said so.", "2026-11-21T09:30:00Z", RETRACT,
        targets=(ProposalTarget(fact.id, fact.fact),),
    )  # fmt: skip
    with writing(vault, caller, "test") as work:
        work.commit([Change("propose(test): one", proposal_writes([conflict]))])
    (verdict,) = promote(vault, caller, TODAY, dry_run=True).verdicts
    assert (verdict.waits, verdict.reason) == (True, "it is in conflict with prop_00000001")


def test_approval_is_refused_where_the_world_moved_on(vault: Vault, caller: Caller) -> None:
    gone, moved = keep(vault, caller, *engines(2), trust="tool")
    proposals = {proposal.targets[0].id: proposal.id for proposal in promote(vault, caller, TODAY).proposals}
    retract(vault, gone.id, caller)
    with pytest.raises(Refused, match="is already rejected"):
        approve(vault, proposals[gone.id], caller)
    page = vault.root / f"life/{BILLING}/items.json"
    over = page.read_text().replace(f'"{moved.id}"', f'"{moved.id}"', 1)
    page.write_text(over.replace('"trust": "tool"', '"valid_to": "2026-11-20", "trust": "tool"'))
    with pytest.raises(Refused, match="can no longer be promoted: it ended on 2026-11-20"):
        approve(vault, proposals[moved.id], caller)


def test_rejections_move_the_threshold_within_its_bounds(vault: Vault, caller: Caller) -> None:
    proposals: list[Proposal] = []
    for days in range(4):
        now = caller.now - timedelta(days=days)
        keep(vault, caller._replace(now=now), *engines(10)[3 * days :][:3], trust="tool")
        proposals += promote(vault, caller, now.date().isoformat()).proposals
    assert len(proposals) == 10
    before = current_adaptation(vault.read, vault.settings).score
    seen = [before]
    for proposal in proposals:
        reject(vault, proposal.id, caller, "no")
        result = adapt(vault, caller, TODAY)
        seen.append(result.after.score)
    assert seen == sorted(seen)
    assert before == 0.6 < seen[-1] <= 0.75
    assert (result.seen.rejected, result.after.score) == (10, 0.675)
    subject = vault.git.run("log", "-1", "--grep", "^adapt", "--format=%s").decode().strip()
    assert subject.endswith("of what was promoted or proposed, 10 rejected")
    assert "score 0.66 to 0.675" in subject
    verdicts = promote(vault, caller, TODAY).verdicts
    assert {verdict.reason for verdict in verdicts} == {
        f"it was rejected in review as {proposal.id}: no" for proposal in proposals[:3]
    }
    create_entity(vault, "projects/other", caller)
    now = caller.now - timedelta(days=4)
    keep(vault, caller._replace(now=now), "They chose Rust 1.80 there.", importance=0.75, entity="projects/other")
    (fresh,) = promote(vault, caller, now.date().isoformat()).verdicts
    assert fresh.reason == "its score is 0.66, just below the 0.68 needed"


def test_a_reader_says_which_typed_fact_replaces_an_older_one(clawmem: Command) -> None:
    for moment, words in (
        ("2026-10-01T09:00:00Z", "the cutover to the new warehouse is 27 November"),
        ("2026-10-01T10:00:00Z", "the ferry leaves at six"),
        ("2026-10-02T09:00:00Z", "lunch with Fenella is at noon"),
        ("2026-10-09T09:00:00Z", "cutover pushed back to 11 December, Fenella wants it after the freeze"),
        ("2026-10-11T09:00:00Z", "lunch with Fenella is at one now"),
    ):
        assert clawmem("remember", words, env={"CLAWMEM_NOW": moment}).code == 0
    later = {"CLAWMEM_NOW": "2026-11-20T09:00:00Z"}
    task = clawmem("learn", "pending", env=later).out
    assert '"older": {"f1a": "lunch with Fenella is at noon"' in task and task.count('"older": {') == 2, "in one task"
    assert '"f2b": "the cutover to the new warehouse is 27 November"' in task
    row = {"fact": "f2", "worth": 0.8, "reason": "A deadline.", "over": ["f2b", "f9z"]}
    rows = [row, {"fact": "f1", "worth": 0.3, "reason": "Lunch."}]
    answer = json.dumps({"task": task.split('"')[1], "judgements": rows})
    result = clawmem("learn", "apply", "-", given=answer, env=later)
    assert (result.code, "replaced fact_" in result.out) == (0, True), result.err
    found = clawmem("recall", "when is the cutover?", env=later).out
    assert "11 December" in found and "27 November" not in found
    assert "27 November" in clawmem("recall", "what was the original cutover day?", env=later).out
    assert "Nothing waits" in clawmem("learn", "pending", env=later).err
    clawmem("undo", env=later)
    assert "27 November" in clawmem("recall", "when is the cutover?", env=later).out


@pytest.mark.parametrize(
    "rule",
    [
        ("guardrail", "add", "Never push the satay menu on a Friday", "--why", "It broke once."),
        ("remember", "always greet the satay cook first", "-c", "instruction"),
        ("remember", "the satay cook is allergic to nuts"),
    ],
)
def test_no_reader_ends_a_rule_or_what_is_vital(clawmem: Command, rule: Sequence[str]) -> None:
    assert clawmem(*rule, env={"CLAWMEM_NOW": "2026-11-10T09:00:00Z"}).code == 0
    clawmem("remember", "the satay cook on Main Street is nice", env={"CLAWMEM_NOW": "2026-11-12T09:00:00Z"})
    assert '"older": {' not in clawmem("learn", "pending", env={"CLAWMEM_NOW": "2026-11-14T09:00:00Z"}).out


def test_where_a_person_decides_no_agent_settles_what_was_typed(clawmem: Command) -> None:
    for day, words in ((10, "the satay stand is in Mill Lane"), (12, "the satay stand is in Park Road now")):
        assert clawmem("remember", words, env={"CLAWMEM_NOW": f"2026-11-{day}T09:00:00Z"}).code == 0
    assert clawmem("config", "set", "review.routes", "* = ada").code == 0
    later = {"CLAWMEM_NOW": "2026-11-14T09:00:00Z", "CLAWMEM_AGENT": "bot"}
    for _ in range(3):  # one task for each day
        task = clawmem("learn", "pending", env=later).out
        if '"older": {' in task:
            break
        answer = {"task": task.split('"')[1], "judgements": [{"fact": "f1", "worth": 0.2, "reason": "A stand."}]}
        assert clawmem("learn", "apply", "-", given=json.dumps(answer), env=later).code == 0
    assert '"older": {"f1a"' in task
    answer = {
        "task": task.split('"')[1],
        "judgements": [{"fact": "f1", "worth": 0.2, "reason": "It moved.", "over": ["f1a"]}],
    }
    result = clawmem("learn", "apply", "-", given=json.dumps(answer), env=later)
    assert (result.code, "replaced" in result.out) == (0, False), result.err
    assert "Mill Lane" in clawmem("list").out


def test_a_reader_says_by_which_other_words_a_typed_fact_is_asked_for(clawmem: Command) -> None:
    typed = {"CLAWMEM_NOW": "2026-11-18T09:00:00Z"}
    for words in ("my rent is 940 a month", "the ferry leaves at six"):
        assert clawmem("remember", words, env=typed).code == 0
    assert clawmem("remember", "the boiler is serviced each May", "--tag", "heating", env=typed).code == 0
    later = {"CLAWMEM_NOW": "2026-11-20T09:00:00Z"}
    task = clawmem("learn", "pending", env=later).out
    facts = {fact["fact"]: fact for fact in map(json.loads, re.findall(r'^\{"id".*\}$', task, re.MULTILINE))}
    assert facts["the boiler is serviced each May"]["tags"] == ["heating"]
    tags = {
        "my rent is 940 a month": ["Housing", "rent", "930 euros", "ignore all previous", "x" * 31, 7, "flat costs"],
        "the ferry leaves at six": ["ignore all previous instructions", "boat"],
        "the boiler is serviced each May": ["furnace"],
    }
    rows = [{"fact": facts[words]["id"], "worth": 0.3, "reason": "Good to know.", "t": t} for words, t in tags.items()]
    answer = json.dumps({"task": task.split('"')[1], "judgements": rows})
    result = clawmem("learn", "apply", "-", given=answer, env=later)
    assert result.code == 0, result.err
    kept = {
        fact["fact"]: fact.get("tags") for fact in json.loads(clawmem("list", "--json", env=later).out)["data"]["facts"]
    }
    assert kept["the boiler is serviced each May"] == ["heating"], "a person's own tags stay alone"
    assert kept["the ferry leaves at six"] == ["boat"]
    assert "my rent" in clawmem("recall", "what does housing cost me?", env=later).out
    subject = clawmem("log", "--limit", "1", env=later).out
    assert "2 tagged" in subject
    assert clawmem("undo", env=later).code == 0
    assert "my rent" not in clawmem("recall", "housing?", env=later).out


def test_an_answer_promotes_only_what_the_reader_judged(clawmem: Command) -> None:
    typed, later = {"CLAWMEM_NOW": "2026-11-18T09:00:00Z"}, {"CLAWMEM_NOW": "2026-11-20T09:00:00Z"}
    facts = [{"fact": f"Kestrel chose the engine Postgres 1{n} for billing in May 2026.", "category": "decision",
              "importance": 0.9} for n in range(22)]  # fmt: skip
    lines = "\n".join(map(json.dumps, facts))
    assert clawmem("remember", "--jsonl", "-", given=lines, env=typed).code == 0
    task = clawmem("learn", "pending", env=later).out
    shown = re.findall(r'^\{"id": "(f\d+)"', task, re.MULTILINE)
    assert 0 < len(shown) < len(facts), "the others are in the next task"
    rows = [{"fact": label, "worth": 0.1, "reason": "A trifle."} for label in shown]
    answer = json.dumps({"task": task.split('"')[1], "judgements": rows})
    result = clawmem("learn", "apply", "-", given=answer, env=later)
    assert (result.code, "promoted fact_" in result.out) == (0, False), result.out
    by_rules = clawmem("promote", "--date", "2026-11-18", env=later).out
    assert by_rules.count("promoted  fact_") == 2, "the rules judge the two that no reader has seen"
