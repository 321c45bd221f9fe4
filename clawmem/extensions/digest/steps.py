"""The steps of the heartbeat that digest what ended, and condense cold facts."""

from __future__ import annotations

from clawmem.extensions.digest.condense import CondenseResult, condense
from clawmem.extensions.digest.digest import DigestResult, digest
from clawmem.heartbeat.reports import Report, Reporter, Step, StepContext
from clawmem.heartbeat.steps import ALWAYS, WRITING, answers_of_models
from clawmem.model.language.text import counted


def _run_digest(run: StepContext) -> DigestResult:
    result = digest(run.vault, run.caller, report=run.report)
    return result._replace(
        sources=(*(source for read in answers_of_models(run, "digest") for source in read.sources), *result.sources)
    )


def _run_condense(run: StepContext) -> CondenseResult:
    result = condense(run.vault, run.caller, run.dry_run, asks=run.model is None)
    read = answers_of_models(run, "condense")
    return result._replace(
        facts=(*(fact for other in read for fact in other.facts), *result.facts),
        archived=(*(fact for other in read for fact in other.archived), *result.archived),
    )


def _digest_report(result: DigestResult | None, explain: bool) -> Report:
    """Return what became of the claims of each source that was worked on."""
    sources = result.sources if result else ()
    lines = [
        f"digested {source.item.title}: {counted(source.item.counts.get('claims', 0), 'claim')}" for source in sources
    ]
    return Report({"digested": [source.key for source in sources]}, tuple(lines))


def _condense_report(result: CondenseResult | None, explain: bool) -> Report:
    """Return the facts that took the place of several cold ones. With `explain`, list them."""
    facts = result.facts if result else ()
    filed = result.proposals if result else ()
    lines = [f"condensed {counted(len(result.archived), 'cold fact')} into {len(facts)}"] if result and facts else []
    lines += [f"{counted(len(filed), 'group')} of cold facts to condense: `clawmem review list`"] if filed else []
    details = tuple(f"{'condensed':<10} {placed.fact.fact}" for placed in facts)
    return Report({"condensed": [placed.fact.id for placed in facts]}, tuple(lines), details)


STEPS = {
    "candidates": (
        Step("digest", "Digest ended sessions and documents.", WRITING, _run_digest,
             Reporter({"digested": [str]}, _digest_report)),
        # Before facts decay: what is archived is not condensed.
        Step("condense", "Join cold facts of one topic into one.", ALWAYS, _run_condense,
             Reporter({"condensed": [str]}, _condense_report)),
    ),
}  # fmt: skip
