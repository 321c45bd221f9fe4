"""Tiers: each boundary of the table, and what holds for any fact."""

from __future__ import annotations

import json
import math
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clawmem.errors import InvalidInput
from clawmem.model.facts.fact import ARCHIVED, REDACTED, RETRACTED, STATUSES, SUPERSEDED, Fact
from clawmem.model.facts.validity import is_over
from clawmem.model.language.dates import stamp
from clawmem.model.lifecycle.tiers import (
    COLD,
    HOT,
    IMPORTANCE_POLICY,
    RECENCY_POLICY,
    SCORE_POLICY,
    TIERS,
    WARM,
    days_since_access,
    effective_tier,
    explain,
    fact_score,
    importance_tier,
    policy_tier,
    recency_tier,
    score,
    score_tier,
    should_archive,
    stale_reason,
    tier_of,
    zone,
)
from clawmem.model.records.event import Event

NOW = datetime(2026, 11, 21, 9, 30, tzinfo=UTC)
SECOND = 1 / 86400


def ago(days: float) -> str:
    return stamp(NOW - timedelta(days=days))


def a_fact(days: float = 0, *, recorded: float = 400, accesses: int = 0, **changes: object) -> Fact:
    fact = Fact("fact_1a2b3c4d", "Jane likes tea.", "fact", ago(recorded), "conversation", access_count=accesses)
    return fact._replace(last_accessed=ago(days), **changes)  # type: ignore[arg-type]


FACTS = st.builds(
    a_fact,
    st.floats(0, 500),
    recorded=st.floats(0, 500),
    accesses=st.integers(0, 60),
    importance=st.none() | st.floats(0, 1),
    status=st.sampled_from(STATUSES),
)


@pytest.mark.parametrize(
    ("accesses", "days", "tier"),
    [
        # Whole days count: the eighth day ends a moment before eight days have passed.
        (0, 0, HOT), (0, 8 - SECOND, HOT), (0, 8, WARM), (0, 31 - SECOND, WARM), (0, 31, COLD),
        (10, 8 - SECOND, HOT), (10, 8, WARM), (10, 31 - SECOND, WARM), (10, 31, COLD),
        (11, 11 - SECOND, HOT), (11, 11, WARM), (11, 46 - SECOND, WARM), (11, 46, COLD),
        (20, 11 - SECOND, HOT), (20, 11, WARM), (20, 46 - SECOND, WARM), (20, 46, COLD),
        (21, 15 - SECOND, HOT), (21, 15, WARM), (21, 61 - SECOND, WARM), (21, 61, COLD),
        (0, -3, HOT),
    ],
)  # fmt: skip
def test_recency_boundaries(accesses: int, days: float, tier: str) -> None:
    assert recency_tier(ago(days), accesses, NOW) == tier
    assert tier_of(a_fact(days, accesses=accesses), NOW) == tier


@pytest.mark.parametrize(
    ("base", "n", "days", "value"),
    [
        (0.5, 0, 0, 0.5),
        (0.5, 1, 0, 0.5),
        (0.5, 10, 0, 0.5 * (1 + math.log(10) * 0.1)),
        (0.8, 1, 50, 0.4),
        (1.0, 1, 100, 0.0),
        (1.0, 9, 250, 0.0),
    ],
)
def test_the_score_formula(base: float, n: int, days: float, value: float) -> None:
    assert score(base, n, days) == pytest.approx(value)


POLICIES = [
    ("recency", 0.1, 0, 7.5, HOT), ("recency", 0.9, 0, 40, COLD),
    ("importance", 0.8, 0, 400, HOT), ("importance", 0.4, 0, 400, WARM), ("importance", 0.39, 99, 0, COLD),
    ("score", 0.75, 1, 0, HOT), ("score", 0.75, 1, 8, WARM), ("score", 0.5, 1, 5, WARM), ("score", 0.3, 1, 0, COLD),
]  # fmt: skip


@pytest.mark.parametrize(("policy", "importance", "accesses", "days", "tier"), POLICIES)
def test_the_tier_by_each_policy(policy: str, importance: float, accesses: int, days: float, tier: str) -> None:
    assert policy_tier(policy, importance, accesses, ago(days), NOW) == tier


def test_the_score_of_a_fact_is_the_formula_alone() -> None:
    assert fact_score(a_fact(0, accesses=5, importance=0.5), NOW) == pytest.approx(score(0.5, 5, 0))


@pytest.mark.parametrize(
    ("value", "days", "tier"),
    [(0.71, 7, 1), (0.7, 7, 2), (0.71, 7.1, 2), (0.41, 30, 2), (0.4, 30, 3), (0.99, 30.1, 3), (0, 0, 3)],
)
def test_score_tiers(value: float, days: float, tier: int) -> None:
    assert score_tier(value, days) == tier


@pytest.mark.parametrize(
    ("importance", "tier"), [(1, HOT), (0.8, HOT), (0.799, WARM), (0.4, WARM), (0.399, COLD), (0, COLD)]
)
def test_importance_boundaries(importance: float, tier: str) -> None:
    assert importance_tier(importance) == tier


@pytest.mark.parametrize("status", [SUPERSEDED, RETRACTED])
def test_replaced_and_withdrawn_facts_are_cold_however_fresh_or_important(status: str) -> None:
    fact = a_fact(0, accesses=50, status=status, importance=1.0, superseded_by="fact_99aa88bb")
    assert effective_tier(fact, NOW).tier == COLD
    assert status in effective_tier(fact, NOW).reason


def test_the_names_of_the_tiers_are_those_of_files_and_options() -> None:
    assert TIERS == ("hot", "warm", "cold")


@given(FACTS)
def test_importance_from_eight_tenths_never_fades(fact: Fact) -> None:
    important = fact._replace(importance=0.8, status="active")
    assert (
        tier_of(important, NOW)
        == effective_tier(important, NOW).tier
        == (COLD if is_over(important, stamp(NOW)) else HOT)
    )
    assert effective_tier(important, NOW).tier == HOT
    assert not should_archive(important, NOW)


def test_access_counts_from_the_recording_where_there_was_none() -> None:
    fact = a_fact(recorded=12)._replace(last_accessed=None)
    assert days_since_access(fact, NOW) == pytest.approx(12)
    assert effective_tier(fact, NOW).tier == WARM
    assert "recorded 12.0 days ago" in effective_tier(fact, NOW).reason


@pytest.mark.parametrize(
    ("changes", "days", "due"),
    [
        ({}, 90, True),
        ({}, 90 - SECOND, False),
        ({"accesses": 1}, 90, True),
        ({"accesses": 10}, 90, True),
        ({"accesses": 20}, 90, True),
        ({"importance": 0.79}, 90, True),
        ({"importance": 0.8}, 400, False),
        ({"trust": "user"}, 400, False),
        ({"trust": "user", "valid_to": "2020-01-01"}, 400, True),
        ({"trust": "user", "agent": "cli"}, 400, True),
        ({"trust": "user", "workflow": "heartbeat/rules"}, 400, True),
        ({"status": ARCHIVED}, 400, False),
        ({"status": RETRACTED}, 400, False),
        ({"status": SUPERSEDED}, 400, False),
    ],
)
def test_when_a_fact_is_archived(changes: dict[str, object], days: float, due: bool) -> None:
    assert should_archive(a_fact(days, **changes), NOW) is due  # type: ignore[arg-type]


def test_a_setting_moves_the_archive_rule() -> None:
    fact = a_fact(80)
    assert not should_archive(fact, NOW)
    assert should_archive(fact, NOW, archive_days=80)


@given(FACTS, st.sampled_from((RECENCY_POLICY, IMPORTANCE_POLICY, SCORE_POLICY)), st.none() | st.floats(0, 1))
def test_the_verdict_is_one_of_three_and_agrees_with_itself(fact: Fact, policy: str, base: float | None) -> None:
    verdict = effective_tier(fact, NOW, policy, base)
    assert verdict.tier in TIERS
    assert verdict.tier == tier_of(fact, NOW, policy=policy, base=base)
    assert verdict.reason
    assert 0 <= fact_score(fact, NOW) <= 1


@given(FACTS, st.floats(0, 400))
def test_a_fact_only_cools_while_nobody_asks(fact: Fact, days: float) -> None:
    later = NOW + timedelta(days=days)
    assert TIERS.index(tier_of(fact, later)) >= TIERS.index(tier_of(fact, NOW))
    assert fact_score(fact, later) <= fact_score(fact, NOW) + 1e-9
    assert should_archive(fact, later) >= should_archive(fact, NOW)


@given(FACTS)
def test_one_more_access_never_cools(fact: Fact) -> None:
    asked = fact._replace(access_count=fact.access_count + 1)
    assert TIERS.index(tier_of(asked, NOW)) <= TIERS.index(tier_of(fact, NOW))
    assert fact_score(asked, NOW) >= fact_score(fact, NOW) - 1e-9


@given(FACTS)
def test_the_explanation_is_json_and_says_what_the_verdict_says(fact: Fact) -> None:
    message = json.loads(json.dumps(explain(fact, NOW)))
    verdict = effective_tier(fact, NOW)
    assert message["tier"] == verdict.tier
    assert message["reason"] == verdict.reason
    assert message["recency"]["tier"] == verdict.recency
    assert message["score"]["tier"] == verdict.score_tier
    assert message["archive"]["due"] is should_archive(fact, NOW)


@pytest.mark.parametrize(
    ("valid_to", "over"),
    [
        (None, False),
        ("2020-01-01", True),
        ("2026-11-20", True),
        ("2026-11-21", False),
        ("2026-11-21T09:30:00Z", True),
        ("2026-11-21T09:30:01Z", False),
        ("2026-11-22", False),
        ("some day", False),
    ],
)
def test_what_is_over_is_cold_however_important_or_fresh(valid_to: str | None, over: bool) -> None:
    fact = a_fact(0, accesses=30, importance=0.95, valid_to=valid_to)
    assert is_over(fact, stamp(NOW)) is over
    assert tier_of(fact, NOW) == (COLD if over else HOT)
    verdict = effective_tier(fact, NOW)
    assert verdict.tier == tier_of(fact, NOW)
    assert ("it is over: it was valid until" in verdict.reason) is over


def test_what_was_not_over_at_the_time_that_is_asked_about_keeps_its_tier() -> None:
    fact = a_fact(0, importance=0.95, valid_to="2020-01-01")
    assert tier_of(fact, NOW, "2020-01-01") == HOT
    assert tier_of(fact, NOW, "2020-01-02") == COLD


def test_what_is_over_is_archived_however_important_it_was() -> None:
    assert should_archive(a_fact(91, importance=0.95, valid_to="2020-01-01"), NOW)
    assert not should_archive(a_fact(91, importance=0.95, valid_to="2027-01-01"), NOW)


def test_a_verdict_names_the_fact_in_its_place_where_there_is_one() -> None:
    replaced = a_fact(0, status=SUPERSEDED, superseded_by="fact_5e6f7a8b")
    assert effective_tier(replaced, NOW).reason == "it was superseded by fact_5e6f7a8b"
    assert effective_tier(replaced._replace(superseded_by=None), NOW).reason == "it was superseded"
    assert effective_tier(a_fact(0, status=RETRACTED), NOW).reason == "it was retracted"


def test_the_explanation_in_full() -> None:
    assert explain(a_fact(8.4, accesses=11, importance=0.5), NOW) == {
        "tier": HOT,
        "reason": "it was accessed 8.4 days ago; with 11 accesses, it is hot for 10 days and warm for 45",
        "policy": "recency",
        "status": "active",
        "last_access": "2026-11-12T23:54:00Z",
        "days_since_access": 8.4,
        "access_count": 11,
        "recency": {"tier": HOT, "hot_days": 10, "warm_days": 45},
        "score": {"tier": 2, "value": 0.5678, "base": 0.5},
        "importance": {"tier": WARM, "value": 0.5},
        "archive": {"due": False, "never_fades": False, "below": 0.2, "days": 90},
    }
    old = explain(a_fact(95, recorded=95, accesses=1), NOW, 50)
    assert old["reason"] == "it was accessed 95.0 days ago; with 1 access, it is hot for 7 days and warm for 30"
    assert old["score"] == {"tier": 3, "value": 0.025, "base": 0.5}
    assert old["archive"] == {"due": True, "never_fades": False, "below": 0.2, "days": 50}
    used = explain(a_fact(8.4, accesses=11, importance=0.7), NOW, policy="score", base=0.5)
    assert (used["policy"], used["tier"], used["importance"]["value"]) == ("score", WARM, 0.7)
    assert used["score"] == {"tier": 2, "value": 0.5678, "base": 0.5}
    assert used["reason"] == "its score is 0.5678 and it was accessed 8.4 days ago (tiers.policy is score)"
    assert explain(a_fact(95, recorded=95, importance=0.8), NOW)["archive"] == {
        "due": False,
        "never_fades": True,
        "below": 0.2,
        "days": 90,
    }


def test_a_verdict_in_full() -> None:
    fact = a_fact(7, accesses=2, importance=0.83)
    value = 0.83 * (1 + math.log(2) * 0.1) * (1 - 7 * 0.01)
    verdict = effective_tier(fact, NOW)
    assert verdict[:4] == (HOT, "its importance 0.83 keeps it hot at any age", HOT, HOT)
    assert [verdict.score, verdict.score_tier, verdict.days] == pytest.approx([value, 1, 7])
    assert fact_score(a_fact(0, accesses=60, importance=1.0), NOW) == 1.0
    assert days_since_access(a_fact(-3), NOW) == 0.0


def test_a_fact_is_archived_only_below_the_score() -> None:
    assert not should_archive(a_fact(59), NOW, archive_days=30)  # its score is 0.205
    assert should_archive(a_fact(61), NOW, archive_days=30)  # and 0.195


def quoting(event: str, text: str = "likes tea") -> Fact:
    return a_fact(source_event=event, source_text=text)


@pytest.mark.parametrize(
    ("fact", "why"),
    [
        (a_fact(180, trust="agent"), None),
        (a_fact(181, trust="agent"), "not confirmed or used for 181 days"),
        (a_fact(400, trust="user"), None),
        (a_fact(400, trust="user", project="crane"), "not confirmed or used for 400 days"),
        (a_fact(details={"review_by": "2026-11-21"}), None),
        (a_fact(details={"review_by": "2026-11-20"}), "stale after 2026-11-20"),
        (a_fact(metadata={"check_failed": {"why": "no file"}}), "its check failed: no file"),
        (quoting("evt_1"), None),
        (quoting("evt_1", "likes coffee"), "source changed: evt_1 no longer contains the quote"),
        (quoting("evt_2"), "source changed: evt_2 was redacted"),
        (quoting("evt_3"), "source changed: evt_3 was revoked"),
        (quoting("evt_4"), "source changed: evt_4 is no longer in the ledger"),
    ],
)
def test_why_a_fact_is_stale(fact: Fact, why: str | None) -> None:
    event = Event("evt_1", "2026-11-01T09:00:00Z", "user", "Jane likes tea.")
    sources = {
        "evt_1": event,
        "evt_2": event._replace(text=REDACTED),
        "evt_3": event._replace(metadata={"revoked": True}),
    }
    assert stale_reason(fact, NOW, sources) == why


@pytest.mark.parametrize(
    ("used", "expected"),
    [(0, "green"), (39, "green"), (40, "target"), (60, "target"), (61, "rotate"), (80, "rotate"), (81, "compact")],
)
def test_the_zone_of_a_context_window(used: int, expected: str) -> None:
    assert zone(used, 100) == expected
    for wrong in ((used, 0), (-1 - used, 100)):
        with pytest.raises(InvalidInput):
            zone(*wrong)
