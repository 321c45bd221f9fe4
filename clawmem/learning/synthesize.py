"""Synthesis: rewrite the generated part of daily notes for the days with changes, in one commit."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from contextlib import nullcontext
from datetime import timedelta
from pathlib import PurePosixPath
from types import MappingProxyType
from typing import Any, NamedTuple

from clawmem.errors import ClawmemError
from clawmem.index.search.lookup import PlacedFact, all_facts, by_ids, event_day, facts_containing, facts_of_days
from clawmem.index.tables.store import Index
from clawmem.learning.attribution.quoted import may_be_shown
from clawmem.learning.by_model.telemetry import model_run
from clawmem.llm.choice import prompt
from clawmem.llm.loop import answer_schema, data_lines, grounded
from clawmem.llm.presets import ModelTask, checked_answer
from clawmem.memory.scope import WriteScope
from clawmem.memory.writing import writing
from clawmem.model.facts.codec import parse_items, refuse_conflict_markers
from clawmem.model.facts.fact import RETRACTED, Fact, is_forgotten, is_revoked
from clawmem.model.facts.fact_words import labels
from clawmem.model.kinds import ITEMS_FILE, LEDGER_DAY, file_kind
from clawmem.model.language.dates import day_of
from clawmem.model.language.text import normal, one_line
from clawmem.model.pages.daily import daily_path, note_lines
from clawmem.model.pages.summary import generated_part, with_generated
from clawmem.model.records.caller import Caller
from clawmem.model.records.change import Change, subject_line, trailers
from clawmem.model.records.entity import ITEMS, owner_of
from clawmem.model.records.event import Event, ledger_path, parse_events
from clawmem.model.records.strict_json import checksum
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
    pages: WriteScope | None = None,
) -> SynthesizeResult:
    """Write the generated part of daily notes, with the new `narratives` by day.

    The days are `days` if given, else those changed after the commit `since`, else all. Text written by people is
    neither changed nor repeated. Nothing is written if a file of facts cannot be read. `pages` is an open write scope.
    """
    with nullcontext(pages) if pages else writing(vault, caller, "synthesize", dry_run=dry_run) as work:
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
        notes = tuple(writes)
        if dry_run or not writes:
            return SynthesizeResult(notes, None, work.notices, tuple(problems))
        words = notes[0].removesuffix(".md") if len(notes) == 1 else f"{len(notes)} notes"
        change = Change(subject_line("synthesize", "daily", words), writes, trailers("synthesize"))
        return SynthesizeResult(notes, work.join(change, "synthesize"), work.notices, tuple(problems))


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
    lines = tuple(f"- {part.capitalize()}: {text} ({', '.join(cites)})" for part, text, cites in found.sentences)
    return DayNarrative(lines, facts_checksum(stated, withdrawn)), found.notices


def _records(stated: Sequence[DayFact], withdrawn: Sequence[DayFact]) -> dict[str, Mapping[str, Any]]:
    """Return what the model is shown of the facts, by id."""
    gone = {day_fact.fact.id for day_fact in withdrawn}
    rows = [*withdrawn, *(day_fact for day_fact in stated if day_fact.fact.id not in gone)][:MOST_FACTS]
    return {
        row.fact.id: _record(row, "withdrawn" if row.fact.id in gone else "") for row in rows if may_be_shown(row.fact)
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


MENTIONS = "Mentioned, and kept as notes only:"
NARRATIVE = "## Narrative"
MOST = 100
_WRITTEN = "Written by a model from the facts of the day ({of}):"
_NARRATED = re.compile(re.escape(_WRITTEN).replace(re.escape("{of}"), "(?P<of>[0-9a-f]+)"))
_CITED = re.compile(r"\bfact_[0-9a-f]{4,64}\b")
_DAY = re.compile(r"\d{4}-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12]\d|3[01])")
_REPLACING = ("supersedes", "merges")


def is_day(text: str) -> bool:
    """Return whether a text is a valid day (`YYYY-MM-DD`) for a note."""
    return _DAY.fullmatch(text) is not None


class DayFact(NamedTuple):
    """A fact of the day, its entity, and the statements of the facts it replaced."""

    fact: Fact
    entity: str
    before: tuple[str, ...] = ()


class DayNarrative(NamedTuple):
    """The lines of a day's narrative, and the checksum of the facts that it was written from."""

    lines: tuple[str, ...] = ()
    of: str = ""


NO_NARRATIVE = DayNarrative()
_REVOKED = "(a revoked statement)"


def day_block(
    facts: Sequence[DayFact],
    withdrawn: Sequence[DayFact],
    events: Iterable[Event],
    mentions: Iterable[str],
    narrative: DayNarrative = NO_NARRATIVE,
) -> str:
    """Return the generated part of a day's note, or an empty text if there is nothing to report."""
    corrected = [fact for fact in facts if fact.before]
    decided = [day_fact for day_fact in facts if not day_fact.before and day_fact.fact.category == "decision"]
    learned = [day_fact for day_fact in facts if not day_fact.before and day_fact.fact.category != "decision"]
    statements = {normal(day_fact.fact.fact) for day_fact in facts}
    noted = dict.fromkeys(text for text in map(one_line, mentions) if normal(text) not in statements)
    items = [_WRITTEN.format(of=narrative.of), "", *narrative.lines] if narrative.lines else []
    blocks = (
        _block(NARRATIVE, items),
        _block("## Learned", [_line(fact) for fact in learned]),
        _block(
            "## Corrected", [*(_correction(fact) for fact in corrected), *(_withdrawal(fact) for fact in withdrawn)]
        ),
        _block("## Decided", [_line(fact) for fact in decided]),
        _block("## Sessions", _sessions(events)),
        # Last, because learning adds its lines at the end.
        "\n".join([MENTIONS, "", *(f"- {text}" for text in noted)]) if noted else "",
    )
    return "\n\n".join(filter(None, blocks))


def facts_checksum(facts: Sequence[DayFact], withdrawn: Sequence[DayFact]) -> str:
    """Return the checksum of what a narrative of these facts rests on: their ids, statements and statuses."""
    rows = [
        (day_fact.fact.id, day_fact.fact.fact, day_fact.fact.status, day_fact.before)
        for day_fact in (*facts, *withdrawn)
    ]
    return f"{checksum(*map(repr, sorted(rows))):08x}"


def narrative_of(page: str) -> DayNarrative:
    """Return the narrative in the generated part of a page, or an empty one."""
    rest = (generated_part(page) or "").partition(f"{NARRATIVE}\n\n")[2].splitlines()
    found = _NARRATED.fullmatch(rest[0]) if rest else None
    lines = []
    for line in rest[2:] if found else ():
        if not line.startswith("- "):
            break
        lines.append(line)
    return DayNarrative(tuple(lines), found["of"] if found else "")


def still_grounded(narrative: DayNarrative, known: Iterable[str]) -> DayNarrative:
    """Return the narrative without the lines that cite a fact that is not among these ids."""
    ids = frozenset(known)
    return narrative._replace(lines=tuple(line for line in narrative.lines if ids.issuperset(_CITED.findall(line))))


def mentions_of(page: str) -> tuple[str, ...]:
    """Return the statements that learning added to the page as mentions: below their title, or after a block."""
    found, ours, begun = [], False, False
    for line in (generated_part(page) or "").splitlines():
        if line.startswith("## "):
            ours, begun = True, False
        elif line == MENTIONS or (begun and not line):
            ours, begun = False, False
        elif line.startswith("- "):
            begun = ours
            found += [] if ours else [line.removeprefix("- ").strip()]
    return tuple(found)


def with_day_block(page: str, day: str, block: str) -> str:
    """Return the page with its generated part replaced; a new page starts with the day as its title.

    If the block is empty, a page without a generated part is not changed.
    """
    if not block and generated_part(page) in (None, ""):
        return page
    return with_generated(page if page.strip() else f"# {day}\n", block)


def _block(title: str, lines: Sequence[str]) -> str:
    if not lines:
        return ""
    shown = list(lines[:MOST])
    if len(lines) > MOST:
        shown.append(f"- {len(lines) - MOST} more: `clawmem list` shows all facts")
    return "\n".join([title, "", *shown])


def _line(fact: DayFact) -> str:
    gone = ", withdrawn since" if fact.fact.status == RETRACTED else ""
    return f"- {_statement(fact.fact)} ({', '.join([*_place(fact), *labels(fact.fact)])}{gone})"


def _place(fact: DayFact) -> list[str]:
    """Return where a fact is; of one that was to be forgotten only the id, because its entity may name somebody."""
    return [fact.fact.id] if is_forgotten(fact.fact) else [fact.entity, fact.fact.id]


def _statement(fact: Fact) -> str:
    return _REVOKED if is_revoked(fact) else one_line(fact.fact)


def _correction(fact: DayFact) -> str:
    return f"{_line(fact)} Before: {' / '.join(map(one_line, fact.before))}"


def _withdrawal(fact: DayFact) -> str:
    reason = ((fact.fact.metadata or {}).get("retracted") or {}).get("reason")
    because = f" Because: {one_line(str(reason))}" if reason else ""
    return f"- Withdrawn: {_statement(fact.fact)} ({', '.join(_place(fact))}){because}"


def _sessions(events: Iterable[Event]) -> list[str]:
    """Return one line for each session or source of messages, in the order of their first events."""
    groups: dict[tuple[str, str], list[Event]] = {}
    for event in sorted(events, key=lambda other_event: other_event.timestamp):
        if event.role != "note":
            groups.setdefault((event.session or "", event.source or ""), []).append(event)
    return [_session(*key, found) for key, found in groups.items()]


def _session(session: str, source: str, events: Sequence[Event]) -> str:
    who = dict.fromkeys(
        one_line(event.speaker or event.role) for event in events if event.role in ("user", "assistant")
    )
    names = ", ".join([*list(who)[:5], *([f"{len(who) - 5} others"] if len(who) > 5 else [])])
    first, last = events[0].timestamp[11:16], events[-1].timestamp[11:16]
    span = first if first == last else f"{first} to {last}"
    count = f"{len(events)} event{'' if len(events) == 1 else 's'}"
    title = " from ".join(one_line(part) for part in (session, source) if part) or "no session"
    return f"- {title}: {count}, {span}" + (f", {names}" if names else "")


def replaced_by(fact: Fact) -> tuple[str, ...]:
    """Return the ids of the facts that this one replaced."""
    return tuple(link.to for link in fact.links if link.type in _REPLACING)
