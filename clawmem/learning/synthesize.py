"""Synthesis: rewrite the generated part of daily notes for the days with changes, in one commit."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from datetime import timedelta
from pathlib import PurePosixPath
from types import MappingProxyType
from typing import Any, NamedTuple

from clawmem.errors import ClawmemError
from clawmem.index.search.lookup import PlacedFact, all_facts, by_ids, event_day, facts_containing, facts_of_days
from clawmem.index.tables.store import Index
from clawmem.learning.attribution.orders import is_prompt_injection
from clawmem.learning.by_model.telemetry import model_run
from clawmem.llm.loop import answer_schema, data_lines, grounded
from clawmem.llm.presets import ModelTask, checked_answer
from clawmem.llm.prompts import prompt
from clawmem.memory.scope import WriteScope
from clawmem.memory.writing import writing
from clawmem.model.facts.codec import parse_items, refuse_conflict_markers
from clawmem.model.facts.fact import RETRACTED, Fact, is_revoked
from clawmem.model.kinds import ITEMS_FILE, LEDGER_DAY, file_kind
from clawmem.model.language.dates import day_of
from clawmem.model.language.text import normal
from clawmem.model.pages.daily import daily_path, note_lines
from clawmem.model.pages.day_page import (
    DayFact,
    DayNarrative,
    day_block,
    facts_checksum,
    is_day,
    mentions_of,
    narrative_line,
    narrative_of,
    replaced_by,
    still_grounded,
    with_day_block,
)
from clawmem.model.records.caller import Caller
from clawmem.model.records.change import Change, subject_line, trailers
from clawmem.model.records.entity import ITEMS, owner_of
from clawmem.model.records.event import ledger_path, parse_events
from clawmem.model.safety.secrets.find import find_secret
from clawmem.vault.vault import Vault

# For at most this many days the index is queried by day.
_FEW_DAYS = 200
# A reader is asked for the narratives of so many days before today.
_DAYS_TO_NARRATE = 3


class SynthesizeResult(NamedTuple):
    """The changed daily notes by vault path, the commit, and the errors of notes that were left unchanged."""

    pages: tuple[str, ...]
    commit: str | None = None
    notices: tuple[str, ...] = ()
    problems: tuple[ClawmemError, ...] = ()


class _DayFacts(NamedTuple):
    """The facts of one day for one page: those stated on that day, and those withdrawn on it."""

    stated: list[DayFact]
    withdrawn: list[DayFact]


def synthesize(
    vault: Vault,
    caller: Caller,
    days: Sequence[str] | None = None,
    since: str | None = None,
    dry_run: bool = False,
    narratives: Mapping[str, DayNarrative] = MappingProxyType({}),
) -> SynthesizeResult:
    """Write the generated part of daily notes, with the new `narratives` by day.

    The days are `days` if given, else those changed after the commit `since`, else all. Text written by people is
    neither changed nor repeated. Nothing is written if a file of facts cannot be read.
    """
    with writing(vault, caller, "synthesize", dry_run=dry_run) as work:
        if unread := work.unreadable_files(ITEMS):
            return SynthesizeResult((), None, work.notices, tuple(unread.values()))
        wanted = set(days) if days is not None else _touched(work, since)
        by_day = _by_day(work.index, wanted)
        writes: dict[str, bytes | None] = {}
        problems = []
        for day in sorted(_every_day(work, by_day) if wanted is None else wanted):
            try:
                writes.update(_pages(work, day, by_day[day], narratives.get(day)))
            except ClawmemError as problem:
                problems.append(problem)
        pages = tuple(writes)
        if dry_run or not writes:
            return SynthesizeResult(pages, None, work.notices, tuple(problems))
        words = pages[0].removesuffix(".md") if len(pages) == 1 else f"{len(pages)} notes"
        change = Change(subject_line("synthesize", "daily", words), writes, trailers("synthesize"))
        return SynthesizeResult(pages, work.commit([change])[-1], work.notices, tuple(problems))


def _days_to_narrate(
    vault: Vault, caller: Caller, days: Sequence[str]
) -> dict[str, tuple[list[DayFact], list[DayFact]]]:
    """Return the stated and the withdrawn facts of the days whose facts changed since their narrative."""
    with writing(vault, caller, "synthesize", dry_run=True) as work:
        by_day = _by_day(work.index, set(days))
        facts = {day: by_day[day].get(None) or _DayFacts([], []) for day in days}
        known = {day: narrative_of(work.text(daily_path(day))).of for day in days}
    return {
        day: (fact.stated, fact.withdrawn)
        for day, fact in facts.items()
        if (fact.stated or fact.withdrawn) and facts_checksum(fact.stated, fact.withdrawn) != known[day]
    }


def narrating_tasks(vault: Vault, caller: Caller, days: Sequence[str] = ()) -> dict[str, tuple[str, ModelTask]]:
    """Return the tasks to write the narratives of some days, or of the last ones, by their ids, each with its day."""
    today = caller.now.date()
    wanted = days or [(today - timedelta(days=back)).isoformat() for back in range(1, _DAYS_TO_NARRATE + 1)]
    made = ((day, narrating_task(day, *facts)) for day, facts in _days_to_narrate(vault, caller, wanted).items())
    return {task.key: (day, task) for day, task in made if task}


def apply_narrating(
    vault: Vault, caller: Caller, key: str, answer: Mapping[str, Any], days: Sequence[str] = ()
) -> SynthesizeResult | None:
    """Write the narrative of a day from an answer to a task of `narrating_tasks`. Return None if no such task waits."""
    day, task = narrating_tasks(vault, caller, days).get(key) or ("", None)
    if task is None:
        return None
    facts = _days_to_narrate(vault, caller, [day])[day]
    narrative, notices = narrative_of_answer(checked_answer(task, answer), *facts)
    result = synthesize(vault, caller, [day], narratives={day: narrative})
    return result._replace(notices=(*result.notices, *(f"narrative of {day}: {notice}" for notice in notices)))


def fact_day(index: Index, fact: Fact) -> str:
    """Return the day of a fact: the day of its event if it is in the ledger, else the day it was recorded."""
    return (event_day(index, fact.source_event) if fact.source_event else None) or day_of(fact.timestamp)


def _touched(work: WriteScope, since: str | None) -> set[str] | None:
    """Return the days whose ledger or facts changed after a commit, or None if git does not know it."""
    head = work.vault.head().commit
    paths = work.vault.changed_paths_or_none(since, head) if since and head else None
    if since is None or head is None or paths is None:
        return None
    days = {PurePosixPath(path).stem for path in paths if file_kind(path) is LEDGER_DAY}
    items = [path for path in paths if file_kind(path) is ITEMS_FILE]
    before, after = work.vault.contents_at(since, items), work.vault.contents_at(head, items)
    for path in items:
        days |= {day for fact in _changed(before[path], after[path], path) for day in _days_of(work.index, fact)}
    return {day for day in days if is_day(day)}


def _changed(before: bytes | None, after: bytes | None, path: str) -> list[Fact]:
    """Return the facts that changed, both versions. Changed access counts are ignored."""
    try:
        old, new = ({item.id: _unused(item) for item in parse_items(data or b"[]", path)} for data in (before, after))
    except ClawmemError:
        return []  # opening the vault already reported this file
    moved = [key for key in {**old, **new} if old.get(key) != new.get(key)]
    return [fact for key in moved for fact in (old.get(key), new.get(key)) if fact]


def _unused(fact: Fact) -> Fact:
    return fact._replace(access_count=0, last_accessed=None)


def _days_of(index: Index, fact: Fact) -> tuple[str, ...]:
    withdrawn = _withdrawn_on(fact)
    return (fact_day(index, fact), *((withdrawn,) if withdrawn else ()))


def _withdrawn_on(fact: Fact) -> str | None:
    remark = (fact.metadata or {}).get("retracted")
    at = remark.get("at") if isinstance(remark, Mapping) else None
    return day_of(at) if fact.status == RETRACTED and isinstance(at, str) else None


def _by_day(index: Index, wanted: set[str] | None) -> dict[str, dict[str | None, _DayFacts]]:
    """Return the facts by day and owner (None: the vault). Includes at least the wanted days, or all days if None."""
    if wanted is None or len(wanted) > _FEW_DAYS:
        known = list(all_facts(index))
    else:
        found = [*facts_of_days(index, wanted), *facts_containing(index, '"retracted"')] if wanted else []
        known = list({(placed.fact.id, placed.entity): placed for placed in found}.values())
    statements = _replaced(index, known)
    days: dict[str, dict[str | None, _DayFacts]] = defaultdict(lambda: defaultdict(lambda: _DayFacts([], [])))
    for fact, entity in known:
        before = tuple(statements[text] for text in replaced_by(fact) if text in statements)
        days[fact_day(index, fact)][owner_of(entity)].stated.append(DayFact(fact, entity, before))
        withdrawn = _withdrawn_on(fact)
        if withdrawn:
            days[withdrawn][owner_of(entity)].withdrawn.append(DayFact(fact, entity))
    return days


def _replaced(index: Index, known: Iterable[PlacedFact]) -> dict[str, str]:
    """Return the statements of replaced facts by id, without those of revoked ones."""
    ids = {text for placed in known for text in replaced_by(placed.fact)}
    return {fact_id: placed.fact.fact for fact_id, placed in by_ids(index, ids).items() if not is_revoked(placed.fact)}


def _every_day(work: WriteScope, by_day: Mapping[str, object]) -> set[str]:
    ledgers = {path.stem for path in (work.vault.root / "ledger").glob("*.jsonl")}
    return {day for day in ledgers | set(by_day) if is_day(day)}


def _pages(
    work: WriteScope, day: str, owners: Mapping[str | None, _DayFacts], message: DayNarrative | None
) -> dict[str, bytes | None]:
    ledger = ledger_path(day)
    data = work.read(ledger)
    # The records of model runs are not what happened on a day.
    events = [event for event in parse_events(data, ledger) if model_run(event) is None] if data else []
    writes: dict[str, bytes | None] = {}
    for owner in {None: None, **dict.fromkeys(owners)}:
        path = daily_path(day, owner)
        page = work.text(path)
        refuse_conflict_markers(page, path)
        written = {normal(line.text) for line in note_lines(page)}
        of_day = owners.get(owner) or _DayFacts([], [])
        stated = [day_fact for day_fact in of_day.stated if normal(day_fact.fact.fact) not in written]
        cited = (day_fact.fact.id for day_fact in (*of_day.stated, *of_day.withdrawn))
        narrative = message if message and owner is None else still_grounded(narrative_of(page), cited)
        block = day_block(stated, of_day.withdrawn, () if owner else events, mentions_of(page), narrative)
        after = with_day_block(page, day, block)
        if after != page:
            writes[path] = after.encode()
    return writes


PARTS = ("happened", "decided", "learned", "open")
MOST_FACTS = 100


def narrating_task(day: str, stated: Sequence[DayFact], withdrawn: Sequence[DayFact]) -> ModelTask | None:
    """Return the task to write the narrative of a day, or None if nothing may be shown."""
    shown = _records(stated, withdrawn)
    data = data_lines(f"The facts of {day}:", shown)
    return ModelTask("narrate", prompt("narrate"), data, answer_schema(PARTS)) if shown else None


def narrative_of_answer(
    answer: Mapping[str, Any], stated: Sequence[DayFact], withdrawn: Sequence[DayFact]
) -> tuple[DayNarrative, tuple[str, ...]]:
    """Return the narrative of a day from an answer, and notices of what was left out."""
    found = grounded(answer, PARTS, _records(stated, withdrawn))
    lines = tuple(narrative_line(sentence.part, sentence.text, sentence.cites) for sentence in found.sentences)
    return DayNarrative(lines, facts_checksum(stated, withdrawn)), found.notices


def _records(stated: Sequence[DayFact], withdrawn: Sequence[DayFact]) -> dict[str, Mapping[str, Any]]:
    """Return what the model is shown of the facts, by id."""
    gone = {day_fact.fact.id for day_fact in withdrawn}
    rows = [*withdrawn, *(day_fact for day_fact in stated if day_fact.fact.id not in gone)][:MOST_FACTS]
    return {
        row.fact.id: _record(row, "withdrawn" if row.fact.id in gone else "") for row in rows if _may_be_shown(row.fact)
    }


def _record(other_fact: DayFact, status: str) -> Mapping[str, Any]:
    fact = other_fact.fact
    return {
        "fact": fact.fact,
        "about": other_fact.entity,
        "category": fact.category,
        "from": fact.trust or "user",
        "status": status,
        "before": " / ".join(other_fact.before),
        "true_from": fact.valid_from,
        "true_until": fact.valid_to,
    }


def _may_be_shown(fact: Fact) -> bool:
    return find_secret(fact.fact) is None and not is_prompt_injection(fact.fact)
