"""The heartbeat steps, in the order in which they run. To add a step, add a row to STEPS."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import nullcontext
from functools import cache, partial
from typing import Any

from clawmem import __version__
from clawmem.errors import ModelFailed
from clawmem.extension import extensions, named
from clawmem.heartbeat import reports
from clawmem.heartbeat.queue import QueueRun, answer_tasks, kinds_about, narration, promotion
from clawmem.heartbeat.reports import Due, Step, StepContext, nights_due, promote_nights
from clawmem.index.vectors.embed import embed_missing
from clawmem.learning.adapt import adapt
from clawmem.learning.by_model.telemetry import BY_RULES
from clawmem.learning.ingest import ingest_notes
from clawmem.learning.learn import LearnResult, days_to_read, learn
from clawmem.learning.pending import propose_unread
from clawmem.learning.relate import RelateResult, relate
from clawmem.learning.synthesize import synthesize
from clawmem.llm.choice import further_readers
from clawmem.memory.entities.entities import name_user_entity
from clawmem.memory.facts.access import archive_decayed, fold_accesses
from clawmem.memory.facts.premises import apply_future_values, refresh_premises
from clawmem.memory.pages.guardrails import refresh_guardrail_pages
from clawmem.memory.pages.memory_page import RefreshedPages, refresh_memory_page
from clawmem.memory.pages.summaries import count_tokens, refresh_pages
from clawmem.memory.scope import WriteScope
from clawmem.memory.sync.sync import HEARTBEAT_REMOTE, SyncOptions, sync
from clawmem.memory.writing import writing
from clawmem.model.language.dates import stamp
from clawmem.model.records.caller import Caller
from clawmem.vault.state.spending import delete_spending_before
from clawmem.vault.state.upkeep import UpkeepResult, pack_repository
from clawmem.vault.vault import Vault
from clawmem.work.sessions.notes import fold_sessions


def _refreshed(
    purpose: str,
    refresh: Callable[[WriteScope, bool], RefreshedPages],
    vault: Vault,
    caller: Caller,
    dry_run: bool = False,
    pages: WriteScope | None = None,
) -> RefreshedPages:
    with nullcontext(pages) if pages else writing(vault, caller, purpose, dry_run=dry_run) as work:
        return refresh(work, dry_run)


refresh_summaries = partial(_refreshed, "summaries", refresh_pages)
refresh_memory = partial(_refreshed, "memory", refresh_memory_page)
refresh_guardrails = partial(_refreshed, "guardrails", refresh_guardrail_pages)


def _relate(run: StepContext) -> RelateResult:
    # Every fact up to this commit was read by this version of the rules.
    read_until = run.last.head if run.last.made == __version__ else None
    return relate(run.vault, run.caller, read_until, run.dry_run)


def _learn(run: StepContext) -> LearnResult:
    # Parsing only the changed ledgers saves most of the time.
    days = days_to_read(run.vault, run.last.head)
    if days == frozenset() and run.last.read_by == run.read_by:
        return LearnResult(0, (), (), None)
    return learn(run.vault, run.caller, run.dry_run, run.model, days, run.report)


def _ask(run: StepContext) -> QueueRun:
    """Let the models of this heartbeat answer the queue: texts and cold facts always, days once each. One that could
    not be used in an earlier step or kind is not asked again, and all share the cents of the run."""
    asked = [(run.model, [*kinds_about("digestion"), *kinds_about("condensation")], False)]
    further = further_readers(run.model, run.vault.settings, run.vault.environment) if run.model else []
    asked += [(other, [*kinds_about("digestion")], True) for other in further]
    asked += [(run.judge, [promotion()], False), (run.narrator, [narration()], False)] if nights_due(run) else []
    if run.dry_run:
        named = sorted({model.name for model, *_ in asked if model})
        return QueueRun(notices=(f"A dry run calls no model: {', '.join(named)} would answer what waits.",))
    learned = run.results.get("learn")
    read = learned.extraction if learned else BY_RULES
    failed = {read.model} if isinstance(read.problem, ModelFailed) else set()
    whole, cents = QueueRun(), float((read.run or {}).get("cents", 0.0))
    for model, kinds, is_further in asked:
        if model is None or model.name in failed:
            continue
        left = model._replace(limits=model.limits._replace(cents=max(0.0, model.limits.cents - cents)))
        other_run = answer_tasks(run.vault, run.caller, left, kinds, is_further)
        cents += other_run.cents
        failed |= {model.name} if isinstance(other_run.problem, ModelFailed) else set()
        whole = QueueRun(
            problem=whole.problem or other_run.problem,
            results={**whole.results, **{kind: (*whole.of(kind), *more) for kind, more in other_run.results.items()}},
            records=(*whole.records, *other_run.records),
            notices=(*whole.notices, *other_run.notices),
            commits=(*whole.commits, *other_run.commits),
        )
    return whole


def answers_of_models(run: StepContext, kind: str) -> tuple[Any, ...]:
    """Return what the models' answers to tasks of a kind did in this heartbeat."""
    asked: QueueRun | None = run.results.get("queue")
    return asked.of(kind) if asked else ()


def _upkeep(run: StepContext) -> UpkeepResult:
    delete_spending_before(run.vault, stamp(run.caller.now)[:10])
    return pack_repository(run.vault)


ALWAYS = Due("at every heartbeat", lambda run: True)
WRITING = Due("at every heartbeat that writes", lambda run: not run.dry_run)
NIGHTLY = Due("once for each day, after 03:00 UTC", nights_due)
DAILY = Due("at the first heartbeat of a day", lambda run: run.last.day != stamp(run.caller.now)[:10])
SYNC = "sync"
_SYNCING = Due("at every heartbeat that writes, with `sync.heartbeat`",
               lambda run: not run.dry_run and run.vault.settings.words(HEARTBEAT_REMOTE))  # fmt: skip
_ASKING = Due("at every heartbeat, if a model is set", lambda run: run.model or run.judge or run.narrator)

STEPS = (
    Step("notes", "Add new lines of daily notes to the ledger.", WRITING,
         lambda run: ingest_notes(run.vault, run.caller), reports.NOTES),
    Step("user", "Join what is known of the user under `user.name`.", ALWAYS,
         lambda run: name_user_entity(run.vault, run.caller, run.dry_run), reports.USER),
    # Remembered facts need their triple before learning, which may replace them.
    Step("relate", "Extract triples for facts that have none.", ALWAYS, _relate, reports.RELATE),
    Step("learn", "Learn facts from new events.", ALWAYS, _learn, reports.LEARN,
         lambda other: [("model", why) for why in (other.extraction.problem, *other.extraction.others) if why]),
    Step("settle", "Apply announced facts whose start date has come.", ALWAYS,
         lambda run: apply_future_values(run.vault, run.caller, run.dry_run), reports.SETTLE),
    Step("fold", "Add the counts of the access journal.", DAILY,
         lambda run: fold_accesses(run.vault, run.caller, run.dry_run), reports.FOLD),
    Step("sessions", "Commit the notes of sessions; mark sessions without a sign of life as abandoned.", ALWAYS,
         lambda run: fold_sessions(run.vault, run.caller, run.dry_run), reports.SESSIONS),
    Step("queue", "Let the model answer the queue: digest, promote, tell days, join cold facts.",
         _ASKING, _ask, reports.QUEUE, lambda other: [("model", other.problem)] if other.problem else []),
    # After every reader of this heartbeat.
    Step("candidates", "File candidates from messages that nobody has read.", ALWAYS,
         lambda run: propose_unread(run.vault, run.caller, run.dry_run), reports.CANDIDATES),
    Step("decay", "Archive facts that were not used for a long time.", ALWAYS,
         lambda run: archive_decayed(run.vault, run.caller, run.dry_run), reports.DECAY),
    # After decay, and before pages are written.
    Step("premises", "Archive what was deprecated, and mark what rests on changed premises.", ALWAYS,
         lambda run: refresh_premises(run.vault, run.caller, run.dry_run), reports.PREMISES),
    Step("adapt", "Tune promotion by the outcomes of promoted facts.", NIGHTLY,
         lambda run: adapt(run.vault, run.caller, nights_due(run)[-1], run.dry_run), reports.ADAPT),
    Step("promote", "Promote the facts of a day that are worth keeping for thirty days.", NIGHTLY,
         lambda run: promote_nights(run, answers_of_models(run, "promote")),
         reports.PROMOTE, lambda other: other.failed),
    Step("synthesize", "Write the generated part of daily notes.", ALWAYS,
         lambda run: synthesize(run.vault, run.caller, None, run.last.head, run.dry_run, pages=run.pages),
         reports.SYNTHESIZE, shares=True),
    Step("summaries", "Refresh the summaries of changed entities.", ALWAYS,
         lambda run: refresh_summaries(run.vault, run.caller, run.dry_run, run.pages), reports.SUMMARIES, shares=True),
    Step("guardrails", "Refresh the pages of guardrails.", ALWAYS,
         lambda run: refresh_guardrails(run.vault, run.caller, run.dry_run, run.pages), reports.GUARDRAILS,
         shares=True),
    Step("memory", "Refresh MEMORY.md.", ALWAYS,
         lambda run: refresh_memory(run.vault, run.caller, run.dry_run, run.pages), reports.MEMORY, shares=True),
    Step(SYNC, "Exchange changes with the remote that `sync setup` named.", _SYNCING,
         lambda run: sync(run.vault, run.caller, SyncOptions(run.vault.settings.words(HEARTBEAT_REMOTE))), reports.SYNC,
         lambda other: [(None, other.problem)] if other.problem else []),
    Step("upkeep", "Pack the repository.", WRITING, _upkeep, reports.UPKEEP),
    Step("embed", "Embed texts that have no vector yet.", WRITING,
         lambda run: embed_missing(run.vault, report=run.report), reports.EMBED,
         lambda other: [(None, other.problem)] if other.problem else []),
    Step("tokens", "Count tokens and check new events for injected instructions.", WRITING,
         lambda run: count_tokens(run.vault)),
)  # fmt: skip


@cache
def all_steps() -> tuple[Step, ...]:
    """Return the steps of the core and of the extensions that are here, in the order in which they run."""
    following: dict[str, list[Step]] = {}
    for extension in extensions():
        for name, steps in (named(extension.steps) if extension.steps else {}).items():
            following.setdefault(name, []).extend(steps)
    ordered = [step for core in STEPS for step in (core, *following.pop(core.name, ()))]
    return (*ordered, *(step for steps in following.values() for step in steps))
