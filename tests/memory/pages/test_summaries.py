"""Summaries: between two weeks only pages of changed entities are rewritten, with a new week all of them."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from clawmem.heartbeat.steps import refresh_summaries
from clawmem.memory.facts.remember import remember
from clawmem.model.facts.draft import draft_from_record
from clawmem.model.records.caller import Caller
from clawmem.vault.vault import Vault


def _remember(vault: Vault, caller: Caller, words: str, entity: str) -> None:
    remember(vault, [draft_from_record({"fact": words, "entity": entity}, caller.now)], caller)


def test_time_alone_rewrites_pages_only_when_a_week_begins(vault: Vault, caller: Caller) -> None:
    # 2026-11-21 is a Saturday; the week of summaries begins on Sundays at midnight.
    _remember(vault, caller, "The bicycle is green", "resources/bike")
    _remember(vault, caller, "The car is red", "resources/car")
    assert refresh_summaries(vault, caller).changed == ("resources/bike", "resources/car")
    before_sunday = caller._replace(now=datetime(2026, 11, 21, 23, 59, tzinfo=UTC))
    assert refresh_summaries(vault, before_sunday).changed == ()
    sunday = caller._replace(now=datetime(2026, 12, 6, 0, 0, tzinfo=UTC))
    assert refresh_summaries(vault, sunday).changed == ("resources/bike", "resources/car")
    assert "## Warm facts" in (vault.read_text("life/resources/bike/summary.md") or "")
    friday = caller._replace(now=sunday.now + timedelta(days=5))
    _remember(vault, friday, "The car has a dent", "resources/car")
    assert refresh_summaries(vault, friday).changed == ("resources/car",)
    assert refresh_summaries(vault, friday).commit is None
