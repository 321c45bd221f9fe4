"""What the steps of the heartbeat report, as JSON and in lines."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from clawmem.heartbeat.step import Report
from clawmem.index.vectors.embed import EmbeddingRun
from clawmem.learning.ingest import IngestResult
from clawmem.learning.learn import LearnResult
from clawmem.learning.promotion.adapt import Adapted
from clawmem.learning.promotion.tacit import TacitResult
from clawmem.learning.relate import RelateResult, triple_in_words
from clawmem.learning.report import candidate_data, learned_data, learned_lines, promotion_data, promotion_line
from clawmem.learning.report import verdict_line as candidate_line
from clawmem.learning.synthesize import SynthesizeResult
from clawmem.memory.facts.access import FoldResult
from clawmem.memory.facts.decay import DecayResult
from clawmem.memory.facts.future_values import FutureValuesResult
from clawmem.memory.pages.memory_page import MemoryPageResult
from clawmem.memory.pages.summaries import SummariesResult
from clawmem.model.language.text import counted
from clawmem.vault.state.upkeep import UpkeepResult

if TYPE_CHECKING:
    from clawmem.heartbeat.steps import PromotedNights


def notes(done: IngestResult | None, explain: bool) -> Report:
    """How many lines of notes were taken in."""
    return Report({"notes": done.added if done else 0})


def relate(done: RelateResult | None, explain: bool) -> Report:
    """The facts that got a triple."""
    facts = done.facts if done else ()
    lines = (f"read the triples of {counted(len(facts), 'fact')} from the words",) if facts else ()
    details = tuple(f"{'related':<10} {one.fact.fact}  [{triple_in_words(one.fact)}]" for one in facts)
    return Report({"related": [one.fact.id for one in facts]}, lines, details)


def learn(done: LearnResult | None, explain: bool) -> Report:
    """What was learned; under `--explain` every candidate with its verdict."""
    data: dict[str, Any] = {"learned": learned_data(done) if done else None}
    if done is None:
        return Report(data)
    if explain:
        data["candidates"] = [candidate_data(one) for one in done.candidates]
    # Whether it is a dry run shows in a proposal without a commit.
    lines = tuple(learned_lines(done, dry_run=done.commit is None)) if done.events else ()
    return Report(data, lines, tuple(map(candidate_line, done.candidates)))


def settle(done: FutureValuesResult | None, explain: bool) -> Report:
    """The announced facts that are in force now."""
    effective, reopened = (done.effective, done.reopened) if done else ((), ())
    lines = [f"took effect, as announced: {one.fact}" for one in effective]
    lines += [f"stands on, as what was announced is off: {one.fact}" for one in reopened]
    return Report({"began": [one.id for one in effective]}, tuple(lines))


def fold(done: FoldResult | None, explain: bool) -> Report:
    """How many facts were used, and which archived ones came back."""
    facts, restored = (done.facts, done.restored) if done else (0, ())
    lines = [f"counted the use of {counted(facts, 'fact')}"] if facts else []
    if restored:
        was = "was" if len(restored) == 1 else "were"
        lines.append(f"restored {counted(len(restored), 'archived fact')} that {was} used again")
    return Report({"accesses": facts, "restored": list(restored)}, tuple(lines))


def decay(done: DecayResult | None, explain: bool) -> Report:
    """The facts that were archived."""
    facts = done.facts if done else ()
    was = "was" if len(facts) == 1 else "were"
    lines = (f"archived {counted(len(facts), 'fact')} that {was} not used for long",) if facts else ()
    return Report({"archived": [one.fact.id for one in facts]}, lines)


def synthesize(done: SynthesizeResult | None, explain: bool) -> Report:
    """The daily notes that were written."""
    pages = done.pages if done else ()
    lines = (f"wrote {counted(len(pages), 'daily note')}",) if pages else ()
    return Report({"daily": list(pages)}, lines)


def adapt(done: Adapted | None, explain: bool) -> Report:
    """How strict promotion is now, where that changed."""
    data = {"adapted": done.after._asdict() if done and done.commit else None}
    if done is None or done.after == done.before:
        return Report(data)
    return Report(data, (f"promotion takes a score of {done.after.score:g} now",))


def promote(done: PromotedNights | None, explain: bool) -> Report:
    """What each night promoted; under `--explain` every candidate."""
    nights = done.nights if done else ()
    lines: list[str] = []
    for one in nights:
        lines += [f"promoted {counted(len(one.kept), 'fact')} of {one.on}"] if one.kept else []
        lines += map(promotion_line, one.verdicts if explain else [*one.kept, *one.waiting])
    shown = [one for one in nights if explain or one.kept or one.waiting]
    return Report({"promoted": [promotion_data(one, explain) for one in shown]}, tuple(lines))


def tacit(done: TacitResult | None, explain: bool) -> Report:
    """The patterns that wait for a person."""
    proposals = done.proposals if done else ()
    wait = "waits" if len(proposals) == 1 else "wait"
    words = f"{counted(len(proposals), 'pattern')} for TACIT.md {wait}: `clawmem review list`"
    return Report({"tacit": [one.id for one in proposals]}, (words,) if proposals else ())


def summaries(done: SummariesResult | None, explain: bool) -> Report:
    """The entities whose summaries changed."""
    entities = done.entities if done else ()
    lines = (f"refreshed {counted(len(entities), 'summary', 'summaries')}",) if entities else ()
    return Report({"refreshed": list(entities)}, lines)


def memory(done: MemoryPageResult | None, explain: bool) -> Report:
    """Whether MEMORY.md changed."""
    changed = bool(done and done.changed)
    return Report({"memory": changed}, ("refreshed MEMORY.md",) if changed else ())


def upkeep(done: UpkeepResult | None, explain: bool) -> Report:
    """Whether the repository was packed."""
    repacked = bool(done and done.repacked)
    return Report({"repacked": repacked}, ("packed the repository",) if repacked else ())


def embed(done: EmbeddingRun | None, explain: bool) -> Report:
    """How many texts were embedded, and how many wait."""
    if done is None:
        return Report({"embedded": None})
    left = f", {done.left:,} wait for the next" if done.left else ""
    lines = (f"embedded {counted(done.embedded, 'text')}{left}",) if done.embedded else ()
    return Report({"embedded": {"texts": done.embedded, "left": done.left, "model": done.model}}, lines)
