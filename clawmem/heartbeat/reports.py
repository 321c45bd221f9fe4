"""The reports of the heartbeat steps, as JSON and as lines.

Promotion at night: one run for each day that is due.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from clawmem.errors import ClawmemError
from clawmem.heartbeat.queue import QueueRun
from clawmem.heartbeat.step import Report, Reporter, StepContext
from clawmem.index.vectors.embed import EmbeddingRun
from clawmem.learning.ingest import IngestResult
from clawmem.learning.learn import LearnResult
from clawmem.learning.promotion.adapt import AdaptResult
from clawmem.learning.promotion.promote import PromoteResult, joined_results, promote
from clawmem.learning.promotion.tacit import TacitResult
from clawmem.learning.relate import RelateResult, format_triple
from clawmem.learning.report import (
    CANDIDATE,
    LEARNED,
    PROMOTION,
    candidate_data,
    candidate_line,
    learn_data,
    learn_lines,
    promotion_data,
    promotion_line,
)
from clawmem.learning.synthesize import SynthesizeResult
from clawmem.learning.unread import CandidatesResult
from clawmem.memory.entities.entities import EntityChange
from clawmem.memory.facts.access import FoldResult
from clawmem.memory.facts.decay import DecayResult
from clawmem.memory.facts.future_values import FutureValuesResult
from clawmem.memory.facts.premises import PremisesResult
from clawmem.memory.pages.guardrails import GuardrailPagesResult
from clawmem.memory.pages.memory_page import MemoryPageResult
from clawmem.memory.pages.summaries import SummariesResult
from clawmem.model.language.text import counted
from clawmem.model.lifecycle.premises import in_doubt
from clawmem.model.lifecycle.week import days_after, night_of
from clawmem.model.records.model_run import cost_line
from clawmem.model.wiki.curation import sentence
from clawmem.vault.state.upkeep import UpkeepResult
from clawmem.wiki.compile import WikiBuild
from clawmem.wiki.curator import FILED, Curation
from clawmem.work.condense import CondenseResult
from clawmem.work.digestion.digest import DigestResult
from clawmem.work.sessions.notes import FoldedSessions


def _notes(done: IngestResult | None, explain: bool) -> Report:
    """Return the number of note lines added to the ledger."""
    return Report({"notes": done.added if done else 0})


def _user(done: EntityChange | None, explain: bool) -> Report:
    """Return the entity that what is known of the user was moved to."""
    lines = (f"moved what is known of the user to {done.name}",) if done else ()
    return Report({"user_entity": done.name if done else None}, lines)


def _relate(done: RelateResult | None, explain: bool) -> Report:
    """Return the facts that received a triple."""
    facts = done.facts if done else ()
    lines = (f"extracted triples of {counted(len(facts), 'fact')}",) if facts else ()
    details = tuple(f"{'related':<10} {one.fact.fact}  [{format_triple(one.fact)}]" for one in facts)
    return Report({"related": [one.fact.id for one in facts]}, lines, details)


def _wiki(done: WikiBuild | None, explain: bool) -> Report:
    """Return the number of wiki pages that were written or removed."""
    pages = len(done.written) + len(done.removed) if done else 0
    return Report({"wiki": pages}, (f"updated {counted(pages, 'page')} of the wiki",) if pages else ())


def _curate(done: Curation | None, explain: bool) -> Report:
    """Return the report of the week, and the proposals that were filed. With `explain`, list every finding."""
    filed = [one.proposal for one in done.findings if one.outcome == FILED] if done else []
    mended = done.mended if done else ()
    lines = [f"wrote the report {done.report}"] if done and done.report else []
    lines += [f"mended {counted(len(mended), 'link')} of the wiki"] if mended else []
    wait = "waits" if len(filed) == 1 else "wait"
    lines += [f"{counted(len(filed), 'finding')} about the wiki {wait}: `clawmem review list`"] if filed else []
    shown = done.findings if done else ()
    details = tuple(
        f"{one.finding.rule:<16}  {sentence(one.finding.says, one.finding.why)} ({one.outcome})" for one in shown
    )
    return Report({"wiki_report": done.report if done else None, "wiki_proposals": filed}, tuple(lines), details)


def _learn(done: LearnResult | None, explain: bool) -> Report:
    """Return what was learned. With `explain`, list every candidate with its outcome."""
    data: dict[str, Any] = {"learned": learn_data(done) if done else None}
    if done is None:
        return Report(data)
    if explain:
        data["candidates"] = [candidate_data(one) for one in done.candidates]
    # A dry run has no commit.
    lines = tuple(learn_lines(done, dry_run=done.commit is None)) if done.events or done.extraction.run else ()
    return Report(data, lines, tuple(map(candidate_line, done.candidates)))


def _settle(done: FutureValuesResult | None, explain: bool) -> Report:
    """Return the announced facts that are now in effect."""
    begun, kept = (done.effective, done.reopened) if done else ((), ())
    lines = [f"took effect, as announced: {one.fact}" for one in begun]
    lines += [f"remains valid, because its announced replacement was cancelled: {one.fact}" for one in kept]
    return Report({"began": [one.id for one in begun]}, tuple(lines))


def _fold(done: FoldResult | None, explain: bool) -> Report:
    """Return how many facts were accessed and which archived facts were restored."""
    facts, restored = (done.facts, done.restored) if done else (0, ())
    lines = [f"counted accesses of {counted(facts, 'fact')}"] if facts else []
    if restored:
        was = "was" if len(restored) == 1 else "were"
        lines.append(f"restored {counted(len(restored), 'archived fact')} that {was} used again")
    return Report({"accesses": facts, "restored": list(restored)}, tuple(lines))


def _sessions(done: FoldedSessions | None, explain: bool) -> Report:
    """Return how many notes of sessions were committed, and which sessions are abandoned now."""
    notes, abandoned = (done.notes, done.abandoned) if done else (0, ())
    lines = [f"committed {counted(notes, 'note')} of sessions"] if notes else []
    lines += [f"no sign of life, so abandoned: session {one}" for one in abandoned]
    return Report({"session_notes": notes, "abandoned": list(abandoned)}, tuple(lines))


def _digest(done: DigestResult | None, explain: bool) -> Report:
    """Return what became of the claims of each source that was worked on."""
    sources = done.sources if done else ()
    lines = [f"digested {one.item.title}: {counted(one.item.counts.get('claims', 0), 'claim')}" for one in sources]
    return Report({"digested": [one.key for one in sources]}, tuple(lines))


def _condense(done: CondenseResult | None, explain: bool) -> Report:
    """Return the facts that took the place of several cold ones. With `explain`, list them."""
    facts = done.facts if done else ()
    filed = done.proposals if done else ()
    lines = [f"condensed {counted(len(done.archived), 'cold fact')} into {len(facts)}"] if done and facts else []
    lines += [f"{counted(len(filed), 'group')} of cold facts to condense: `clawmem review list`"] if filed else []
    details = tuple(f"{'condensed':<10} {one.fact.fact}" for one in facts)
    return Report({"condensed": [one.fact.id for one in facts]}, tuple(lines), details)


def _decay(done: DecayResult | None, explain: bool) -> Report:
    """Return the facts that were archived."""
    facts = done.facts if done else ()
    was = "was" if len(facts) == 1 else "were"
    lines = (f"archived {counted(len(facts), 'fact')} that {was} not used for a long time",) if facts else ()
    return Report({"archived": [one.fact.id for one in facts]}, lines)


def _premises(done: PremisesResult | None, explain: bool) -> Report:
    """Return the deprecated facts that were archived, and the facts whose record of changed premises changed."""
    marked, archived = (done.facts, done.archived) if done else ((), ())
    lines = [f"archived {counted(len(archived), 'deprecated fact')}"] * bool(archived)
    lines += [f"{'in doubt' if in_doubt(one.fact) else 'not in doubt any more'}: {one.fact.id}" for one in marked[:20]]
    data = {"in_doubt": [one.fact.id for one in marked if in_doubt(one.fact)]}
    data |= {"not_in_doubt": [one.fact.id for one in marked if not in_doubt(one.fact)]}
    return Report({**data, "deprecated": [one.fact.id for one in archived]}, tuple(lines))


def _synthesize(done: SynthesizeResult | None, explain: bool) -> Report:
    """Return the daily notes that were written."""
    pages = done.pages if done else ()
    lines = (f"wrote {counted(len(pages), 'daily note')}",) if pages else ()
    return Report({"daily": list(pages)}, lines)


def _adapt(done: AdaptResult | None, explain: bool) -> Report:
    """How strict promotion is now, where that changed."""
    data = {"adapted": done.after._asdict() if done and done.commit else None}
    if done is None or done.after == done.before:
        return Report(data)
    return Report(data, (f"promotion takes a score of {done.after.score:g} now",))


def _promote(done: PromotedNights | None, explain: bool) -> Report:
    """Return what was promoted for each day. With `explain`, list every candidate."""
    nights = done.nights if done else ()
    lines: list[str] = []
    for one in nights:
        lines += [f"promoted {counted(len(one.kept), 'fact')} of {one.on}"] if one.kept else []
        lines += map(promotion_line, one.verdicts if explain else [*one.kept, *one.waiting])
    shown = [one for one in nights if explain or one.kept or one.waiting]
    return Report({"promoted": [promotion_data(one, explain) for one in shown]}, tuple(lines))


def _queue(done: QueueRun | None, explain: bool) -> Report:
    """Return what the answers of models to tasks of the queue cost."""
    records = done.records if done else ()
    return Report({"asked": [dict(one) for one in records]}, tuple(map(cost_line, records)))


def _candidates(done: CandidatesResult | None, explain: bool) -> Report:
    """Return the candidates that wait for review."""
    proposals = done.proposals if done else ()
    from_ = f"{counted(len(proposals), 'message')} that nobody read"
    wait = "a candidate waits" if len(proposals) == 1 else "candidates wait"
    lines = (f"from {from_} {wait} for you: `clawmem review decide`",) if proposals else ()
    shown = tuple(f"{'candidate':<10} {each.says}" for each in proposals)
    return Report({"proposed_unread": [each.id for each in proposals]}, lines, shown)


def _tacit(done: TacitResult | None, explain: bool) -> Report:
    """Return the patterns that wait for review."""
    proposals = done.proposals if done else ()
    wait = "waits" if len(proposals) == 1 else "wait"
    words = f"{counted(len(proposals), 'pattern')} for TACIT.md {wait}: `clawmem review list`"
    return Report({"tacit": [one.id for one in proposals]}, (words,) if proposals else ())


def _summaries(done: SummariesResult | None, explain: bool) -> Report:
    """Return the entities whose summaries changed."""
    entities = done.entities if done else ()
    lines = (f"refreshed {counted(len(entities), 'summary', 'summaries')}",) if entities else ()
    return Report({"refreshed": list(entities)}, lines)


def _memory(done: MemoryPageResult | None, explain: bool) -> Report:
    """Return whether MEMORY.md changed."""
    changed = bool(done and done.changed)
    return Report({"memory": changed}, ("refreshed MEMORY.md",) if changed else ())


def _guardrails(done: GuardrailPagesResult | None, explain: bool) -> Report:
    """Return the pages of guardrails that changed."""
    pages = done.changed if done else ()
    return Report({"guardrails": list(pages)}, (f"refreshed {', '.join(pages)}",) if pages else ())


def _upkeep(done: UpkeepResult | None, explain: bool) -> Report:
    """Return whether the repository was packed."""
    repacked = bool(done and done.repacked)
    return Report({"repacked": repacked}, ("packed the repository",) if repacked else ())


def _embed(done: EmbeddingRun | None, explain: bool) -> Report:
    """Return how many texts were embedded and how many remain."""
    if done is None:
        return Report({"embedded": None})
    left = f", {done.left:,} left for the next heartbeat" if done.left else ""
    lines = (f"embedded {counted(done.embedded, 'text')}{left}",) if done.embedded else ()
    return Report({"embedded": {"texts": done.embedded, "left": done.left, "model": done.model}}, lines)


NOTES = Reporter({"notes": int}, _notes)
USER = Reporter({"user_entity": (str, None)}, _user)
RELATE = Reporter({"related": [str]}, _relate)
LEARN = Reporter({"learned": (LEARNED, None), "candidates?": [CANDIDATE]}, _learn)
SETTLE = Reporter({"began": [str]}, _settle)
FOLD = Reporter({"accesses": int, "restored": [str]}, _fold)
QUEUE = Reporter({"asked": ["run"]}, _queue)
DIGEST = Reporter({"digested": [str]}, _digest)
SESSIONS = Reporter({"session_notes": int, "abandoned": [str]}, _sessions)
CONDENSE = Reporter({"condensed": [str]}, _condense)
DECAY = Reporter({"archived": [str]}, _decay)
PREMISES = Reporter({"in_doubt": [str], "not_in_doubt": [str], "deprecated": [str]}, _premises)
SYNTHESIZE = Reporter({"daily": [str]}, _synthesize)
ADAPT = Reporter({"adapted": ({str: object}, None)}, _adapt)
PROMOTE = Reporter({"promoted": [PROMOTION]}, _promote)
CANDIDATES = Reporter({"proposed_unread": [str]}, _candidates)
TACIT = Reporter({"tacit": [str]}, _tacit)
SUMMARIES = Reporter({"refreshed": [str]}, _summaries)
MEMORY = Reporter({"memory": bool}, _memory)
GUARDRAILS = Reporter({"guardrails": [str]}, _guardrails)
UPKEEP = Reporter({"repacked": bool}, _upkeep)
EMBED = Reporter({"embedded": ({"texts": int, "left": int, "model": str}, None)}, _embed)
WIKI = Reporter({"wiki": int}, _wiki)
CURATE = Reporter({"wiki_report": (str, None), "wiki_proposals": [str]}, _curate)


MAX_NIGHTS = 7
"""The most nights that one heartbeat catches up on after the machine was off."""


class PromotedNights(NamedTuple):
    """The promotion result for each night that was due, with what a reader judged, and the nights that failed."""

    nights: tuple[PromoteResult, ...]
    failed: tuple[tuple[str | None, ClawmemError], ...]
    commits: tuple[str, ...]
    notices: tuple[str, ...]


def nights_due(run: StepContext) -> Sequence[str]:
    """Return the days that are ready for promotion and not yet promoted, as ISO dates, oldest first."""
    hour = run.vault.settings.whole("promotion.hour")
    return days_after(run.last.promoted, night_of(run.caller.now, hour), MAX_NIGHTS)


def promote_nights(run: StepContext, judged: Sequence[PromoteResult]) -> PromotedNights:
    """Promote each day that is due by the rules, after what a reader has `judged`."""
    done: list[PromoteResult] = []
    failed: list[tuple[str | None, ClawmemError]] = []
    days = nights_due(run)
    for day in sorted({*days, *(one.on for one in judged)}):
        results = [one for one in judged if one.on == day]
        try:
            results += [promote(run.vault, run.caller, day, run.dry_run)] if day in days else []
        except ClawmemError as problem:
            failed.append((None, problem))
        done += [joined_results(results)] if results else []
    commits = tuple(night.commit for night in done if night.commit)
    return PromotedNights(tuple(done), tuple(failed), commits, tuple(one for night in done for one in night.notices))
