"""`clawmem diff`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import date, timedelta
from typing import Annotated, Any

from clawmem.errors import InvalidInput
from clawmem.faces.parts.command import Answer, Call, Command
from clawmem.faces.parts.parameters import Parameter
from clawmem.faces.parts.words import SHORT, entry_data
from clawmem.memory.history.compare import Comparison, OtherChanges, compare
from clawmem.model.facts.fact_words import fact_data, origin_warnings
from clawmem.model.history.comparison import GROUPS, ChangeSentence, FactDifference, change_sentences, summary
from clawmem.model.history.entry import HistoryEntry
from clawmem.model.language.dates import minute, parse_period, stamp
from clawmem.model.language.text import counted


def diff(
    call: Call,
    older: Annotated[
        str | None,
        Parameter(
            "A commit or a date; default: one day before TO. If the vault is younger, its first commit; if that day has"
            " no change, the commit before TO. A day, week or month alone means what changed in it.",
            metavar="[FROM]",
        ),
    ],
    newer: Annotated[str | None, Parameter("A commit or a date; default: HEAD.", metavar="[TO]")],
    start: Annotated[str | None, Parameter("The same as FROM; alone, what changed since then.", ("--from",))],
    end: Annotated[str | None, Parameter("The same as TO.", ("--to",))],
) -> Answer:
    """The answer describes in sentences what was learned, corrected and forgotten. A date means the last commit at or
    before it; a day, month or year means its end. One day, week or month alone means what changed in it."""
    caller = call.runtime.caller()
    first, last = _one("FROM", older, start), _one("TO", newer, end)
    days = parse_period(older, caller.now) if older and not last else None
    if days is not None:
        first = (date.fromisoformat(days[0]) - timedelta(days=1)).isoformat()
        last = days[1] if days[1] < stamp(caller.now)[:10] else None
    comparison = compare(call.runtime.vault(), caller, first, last)
    return Answer(_data(comparison), _lines(comparison), comparison.notices)


def _one(name: str, argument: str | None, option: str | None) -> str | None:
    if argument and option:
        raise InvalidInput(f"{name} is given twice: {argument} and {option}.", "Use one of them.")
    return option or argument


def _data(comparison: Comparison) -> dict[str, Any]:
    sentences = change_sentences(comparison.changes)
    return {
        **({"from": entry_data(comparison.older)} if comparison.older else {}),
        "to": entry_data(comparison.newer),
        "summary": f"{_sentence(comparison, sentences)}.",
        "sentences": [
            {"group": change_sentence.group, "sentence": change_sentence.sentence, "fact": change_sentence.fact.id}
            for change_sentence in sentences
        ],
        "changes": [_change_data(change) for change in comparison.changes],
        "moved": [facts._asdict() for facts in comparison.moved],
        "counts": {**comparison.counts._asdict(), "other_files": list(comparison.counts.other_files)},
    }


def _change_data(difference: FactDifference) -> dict[str, Any]:
    return {
        "kind": difference.kind,
        "fact": fact_data(difference.fact, difference.entity),
        **({"before": fact_data(difference.before, difference.entity)} if difference.before else {}),
    }


def _lines(comparison: Comparison) -> Iterator[str]:
    sentences = change_sentences(comparison.changes)
    yield f"{_sentence(comparison, sentences)}."
    yield from (
        f"{change.sentence}  ({', '.join([change.entity, change.fact.id, *origin_warnings(change.fact)])})"
        for change in sentences
    )
    yield from (f"Also: {line}." for line in (*_moves(comparison), *_counts(comparison.counts)))


def _sentence(comparison: Comparison, sentences: Sequence[ChangeSentence]) -> str:
    return f"From {_point(comparison.older)} to {_point(comparison.newer)} the vault {summary(sentences)}"


def _moves(comparison: Comparison) -> Iterator[str]:
    for move in comparison.moved:
        yield f"{counted(move.facts, 'fact')} moved from {move.source} to {move.target}"


def _point(entry: HistoryEntry | None) -> str:
    return f"{minute(entry.time)} ({entry.commit[:SHORT]})" if entry else "before the first commit"


def _counts(counts: OtherChanges) -> Iterator[str]:
    if counts.events_added:
        yield f"{counted(counts.events_added, 'event')} added to the ledger"
    if counts.events_removed:
        yield f"{counted(counts.events_removed, 'event')} removed from the ledger"
    if counts.note_lines_added:
        yield f"{counted(counts.note_lines_added, 'line')} added to daily notes"
    if counts.note_lines_removed:
        yield f"{counted(counts.note_lines_removed, 'line')} removed from daily notes"
    if counts.other_files:
        yield f"{counted(len(counts.other_files), 'other file')} changed"


VERB = Command(
    diff,
    {
        "from?": "entry",
        "to": "entry",
        "summary": str,
        "sentences": [{"group": set(GROUPS), "sentence": str, "fact": str}],
        "changes": [{"kind": str, "fact": "fact", "before?": "fact"}],
        "moved": [{"source": str, "target": str, "facts": int}],
        "counts": {
            "events_added": int,
            "events_removed": int,
            "note_lines_added": int,
            "note_lines_removed": int,
            "other_files": [str],
        },
    },
    ("clawmem diff", "clawmem diff today", "clawmem diff HEAD~3 HEAD"),
    ("changes",),
)
