"""The steps of the heartbeat that write the wiki and curate it."""

from __future__ import annotations

from clawmem.extensions.wiki.compile import WikiBuild, build_wiki
from clawmem.extensions.wiki.curator import FILED, Curation, curate, is_due
from clawmem.extensions.wiki.values.curation import sentence
from clawmem.heartbeat.reports import Due, Report, Reporter, Step
from clawmem.heartbeat.steps import NIGHTLY
from clawmem.model.language.text import counted


def _wiki(build: WikiBuild | None, explain: bool) -> Report:
    """Return the number of wiki pages that were written or removed."""
    pages = len(build.written) + len(build.removed) if build else 0
    return Report({"wiki": pages}, (f"updated {counted(pages, 'page')} of the wiki",) if pages else ())


def _curate(curation: Curation | None, explain: bool) -> Report:
    """Return the report of the week, and the proposals that were filed. With `explain`, list every finding."""
    filed = [finding.proposal for finding in curation.findings if finding.outcome == FILED] if curation else []
    mended = curation.mended if curation else ()
    lines = [f"wrote the report {curation.report}"] if curation and curation.report else []
    lines += [f"mended {counted(len(mended), 'link')} of the wiki"] if mended else []
    wait = "waits" if len(filed) == 1 else "wait"
    lines += [f"{counted(len(filed), 'finding')} about the wiki {wait}: `clawmem review list`"] if filed else []
    shown = curation.findings if curation else ()
    details = tuple(
        f"{curated.finding.rule:<16}  {sentence(curated.finding.says, curated.finding.why)} ({curated.outcome})"
        for curated in shown
    )
    return Report(
        {"wiki_report": curation.report if curation else None, "wiki_proposals": filed}, tuple(lines), details
    )


_WEEKLY = Due("once for each week (ISO 8601, UTC), after it ends", lambda run: is_due(run.vault, run.caller))
STEPS = {
    "memory": (
        Step("wiki", "Write the wiki's pages of changed entities.", NIGHTLY,
             lambda run: build_wiki(run.vault, run.caller, dry_run=run.dry_run, report=run.report),
             Reporter({"wiki": int}, _wiki)),
        # After the pages are written: it reads them.
        Step("curate", "Report the week, mend the wiki's links, and propose what needs a person.", _WEEKLY,
             lambda run: curate(run.vault, run.caller, dry_run=run.dry_run),
             Reporter({"wiki_report": (str, None), "wiki_proposals": [str]}, _curate)),
    ),
}  # fmt: skip
