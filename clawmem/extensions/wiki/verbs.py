"""`clawmem wiki build|check|curate|gate|site` and `clawmem dashboard`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

from clawmem.errors import DONE, REFUSED, InvalidInput, NotPermitted
from clawmem.extensions.wiki.compile import WikiBuild, build_wiki
from clawmem.extensions.wiki.curator import FILED, LEFT, OUTCOMES, CuratedFinding, Curation, check_pages
from clawmem.extensions.wiki.curator import curate as curate_act
from clawmem.extensions.wiki.gather import kept_out_by
from clawmem.extensions.wiki.site import build_site, check_site_folder
from clawmem.extensions.wiki.values.curation import RULES, sentence
from clawmem.extensions.wiki.values.links import LinkReport
from clawmem.faces.parts.command import Answer, Call, Command
from clawmem.faces.parts.filters import named_entity
from clawmem.faces.parts.parameters import DRY_RUN, Parameter
from clawmem.faces.parts.words import data_of
from clawmem.memory.entities.places import find_readable_entity
from clawmem.memory.facts.gates import GatedFact, gate_entity, gate_fact
from clawmem.model.facts.fact_words import fact_line
from clawmem.model.facts.gates import GateResult, failed_gates
from clawmem.model.language.text import counted


def build(
    call: Call,
    full: Annotated[bool, Parameter("Read every entity again.", ("--full",))],
    dry_run: Annotated[bool, DRY_RUN],
) -> Answer:
    """Write a page for each entity and topic from the facts that pass the gates, and an index, in one commit.

    Only pages whose facts changed are written. What people write outside the markers stays."""
    with call.progress() as report:
        result = build_wiki(call.runtime.vault(), call.runtime.caller(), full, dry_run, report)
    verb = "Would write" if dry_run else "Wrote"
    lines = [
        f"{verb} {counted(len(result.written), 'page')}, removed {len(result.removed)}. "
        f"{counted(result.pages, 'page')}, {counted(result.claims, 'claim')}."
    ]
    return Answer(data_of(result), lines, notices=result.notices)


def gate(
    call: Call,
    fact: Annotated[str | None, Parameter("A fact, or an entity.", completes="fact or entity")],
    entity: Annotated[
        str | None, Parameter("All active facts of this entity.", ("--entity", "-e"), completes="entity")
    ],
    explain: Annotated[bool, Parameter("Show the verdict of every gate.", ("--explain",))],
) -> Answer:
    """Say whether a fact, or each active fact of an entity, may enter the wiki, and why not."""
    if (fact is None) is (entity is None):
        raise InvalidInput("Name one fact, or an entity with --entity.", "clawmem wiki gate fact_4d2c")
    vault, caller = call.runtime.vault(), call.runtime.caller()
    place = find_readable_entity(vault, entity, caller) if entity else named_entity(vault, fact, caller)
    found = gate_entity(vault, caller, place) if place else (gate_fact(vault, caller, fact or ""),)
    lines = [line for other_fact in found for line in _lines(other_fact, explain or not place)]
    data = {
        "facts": [_data(other_fact) for other_fact in found],
        "passed": sum(not kept_out_by(other.placed.fact, other.results) for other in found),
    }
    return Answer(data, lines, talk=() if found else ("The entity has no active fact.",))


def check(call: Call) -> Answer:
    """List links of the wiki that lead nowhere, and pages that no other page links to. The exit code is 1 if there are
    links that lead nowhere."""
    found = check_pages(call.runtime.vault())
    lines = [f"{link.page}: no page '{link.target}'" for link in found.dead]
    lines += [f"{page}: no page links to it" for page in found.orphans]
    talk = () if lines else ("No dead links, no orphans.",)
    return Answer(data_of(found), lines, exit_code=REFUSED if found.dead else DONE, talk=talk)


def curate(
    call: Call,
    dry_run: Annotated[bool, DRY_RUN],
) -> Answer:
    """Build the wiki, mend dead links that have one possible target, file proposals for what needs a person, and write
    the report of the last week that is over, all in one commit.

    Stale facts, dead links, duplicates, and pages that are too long become proposals: once, and never again after a
    person rejected them. `review approve` does what a proposal about facts or entities says; pages are edited by
    hand. The heartbeat does this once a week."""
    curation = curate_act(call.runtime.vault(), call.runtime.caller(), dry_run)
    data = data_of(curation, findings=[_finding_data(finding) for finding in curation.findings])
    would = "Would write" if dry_run else "Wrote"
    lines = [f"{would} {curation.report}"] if curation.report else [f"No new report for {curation.week}."]
    lines += [f"{would} {counted(len(curation.pages), 'other page')}"] if curation.pages else []
    for link in curation.mended:
        lines.append(f"{link.page}: '{link.target}' leads to {link.to} now")
    lines += [_finding_line(finding, dry_run) for finding in curation.findings]
    return Answer(data, lines, notices=curation.notices)


def site(
    call: Call,
    folder: Annotated[str, Parameter("The folder of the site.", completes="file")],
    more: Annotated[
        str | None,
        Parameter("messages: also the notes of each day and what was said.", ("--with",), choices=("messages",)),
    ],
) -> Answer:
    """Write the memory as a site of static pages: every entity and topic, the evidence and history of each claim, what
    people wrote, search, and a graph.

    It opens from the disk, without a server and without a network. Nothing in it can load or run what a fact says.
    Think before you publish one with messages: only what was marked as being for some people is left out.
    Edits by hand are shown once they are committed, which `clawmem wiki build` does. A folder that contains anything
    but such a site is refused."""
    if more not in (None, "messages"):
        raise InvalidInput(f"'{more}' is nothing that a site can have.", "Use --with messages, or leave it out.")
    runtime = call.runtime
    target = (runtime.working_folder / Path(folder).expanduser()).resolve()
    check_site_folder(runtime.vault(), target)
    from clawmem.extensions.wiki.web.render_site import render_site  # only for this verb

    with call.progress() as report:
        build = build_site(runtime.vault(), runtime.caller(), target, render_site, report, more is not None)
    data = {
        "folder": str(target),
        "index": str(target / "index.html"),
        "pages": build.pages,
        "files": build.files,
        "bytes": build.size,
        "written": build.written,
        "removed": build.removed,
    }
    pages, files = counted(build.pages, "page"), counted(build.written, "file")
    line = f"{pages}, {build.size / 1e6:.1f} MB. Wrote {files}, removed {build.removed:,}."
    return Answer(data, [line, f"Open {target / 'index.html'}"], build.notices, is_report=True)


def _lines(gated: GatedFact, explain: bool) -> list[str]:
    failed = kept_out_by(gated.placed.fact, gated.results)
    verdict = f"does not pass{'' if explain else f' ({failed_gates(failed)})'}" if failed else "passes"
    lines = [f"{fact_line(gated.placed.fact, gated.placed.entity)}  {verdict}"]
    if explain:
        lines += [f"  {'yes' if result.passed else 'no '}  {result.gate}: {result.reason}" for result in gated.results]
    return lines


def _data(gated: GatedFact) -> dict[str, Any]:
    return {
        "id": gated.placed.fact.id,
        "entity": gated.placed.entity,
        "fact": gated.placed.fact.fact,
        "passed": not kept_out_by(gated.placed.fact, gated.results),
        "gates": [result._asdict() for result in gated.results],
    }


def _finding_data(finding: CuratedFinding) -> dict[str, Any]:
    found = finding.finding
    about = {"rule": found.rule, "about": list(found.about), "says": found.says, "why": found.why}
    return {**about, "outcome": finding.outcome, "proposal": finding.proposal}


def _finding_line(finding: CuratedFinding, dry_run: bool) -> str:
    words = {FILED: "would file" if dry_run else f"filed as {finding.proposal}", LEFT: "left for the next run"}
    outcome = words.get(finding.outcome, f"{finding.outcome}: {finding.proposal}")
    return f"{finding.finding.rule:<16}  {sentence(finding.finding.says, finding.finding.why)} ({outcome})"


_FINDING = {
    "rule": set(RULES), "about": [str], "says": str, "why": str, "outcome": set(OUTCOMES), "proposal": (str, None),
}  # fmt: skip

WIKI = {
    "build": Command(build, {"...": WikiBuild, "commit": (str, None)}, ("clawmem wiki build",)),
    "gate": Command(
        gate,
        {
            "facts": [{"id": str, "entity": str, "fact": str, "passed": bool, "gates": [GateResult]}],
            "passed": int,
        },
        ("clawmem wiki gate --entity areas/people/jane",),
        ("facts",),
    ),
    "site": Command(
        site,
        {
            "folder": str,
            "index": str,
            "pages": int,
            "files": int,
            "bytes": int,
            "written": int,
            "removed": int,
        },
        ("clawmem wiki site ~/memory-site",),
    ),
    "curate": Command(
        curate,
        {"...": Curation, "findings": [_FINDING]},
        ("clawmem wiki curate --dry-run",),
        ("findings",),
    ),
    "check": Command(check, LinkReport, ("clawmem wiki check",)),
}


IDLE_MINUTES = 60.0


def dashboard(
    call: Call,
    port: Annotated[int | None, Parameter("The port; the default is a free one.", ("--port",), least=1, most=65_535)],
    no_open: Annotated[bool, Parameter("Open no browser.", ("--no-open",))],
    idle_minutes: Annotated[
        float,
        Parameter(
            f"End after so many minutes without use; 0: never. The default is {IDLE_MINUTES:g}.",
            ("--idle-minutes",),
            default=IDLE_MINUTES,
            least=0,
        ),
    ],
) -> Answer:
    """Metrics, tasks, live sessions, approvals, changes with undo, search and the graph, on 127.0.0.1 only. The printed
    address logs one browser in. Each decision is what the verb does, one commit under your name. With --json, print the
    numbers and end."""
    if not call.wants_data():
        call.runtime.vault().check_writable()
        from clawmem.extensions.wiki.web.dashboard.serve import serve  # numbers need no server

        call.serve_pages(
            lambda person, started: serve(call.runtime, port, person and not no_open, idle_minutes, started)
        )
        return Answer({})
    from clawmem.extensions.wiki.web.dashboard.actions import metrics_data
    from clawmem.index.tables.rights import is_restricted  # few memories are shared

    if is_restricted(call.runtime.vault()):
        raise NotPermitted("The numbers count what not everybody may see.", "Leave out --json, or --viewer.")
    data, notices = metrics_data(call.runtime)
    return Answer(data, notices=notices)


_METRICS = {
    "at": str,
    "head": (str, None),
    "facts": {
        "by_status": {str: int}, "by_tier": {str: int}, "by_workflow": {str: int}, "stale": int, "conflicts": int,
    },
    "weeks": [{"begins": str, "learned": int, "corrected": int, "forgotten": int, "cents": float}],
    "use": {
        "facts": int, "asked_for": int, "accesses": int, "served": int,
        "useful": int, "useless": int, "harmful": int,
    },
    "entities": int,
    "events": int,
    "proposals": int,
    "tasks": {str: int},
    "sessions": {str: int},
    "alignment": {"decided": int, "agreed": int, "agreement": (float, None), "bar": float, "passes": bool},
    "money": {"cents_today": float, "unpriced_tokens_today": int, "models": [str]},
}  # fmt: skip

DASHBOARD = Command(
    dashboard,
    _METRICS,
    ("clawmem dashboard", "clawmem dashboard --port 8800 --no-open --idle-minutes 0"),
    person="lets one decide",
)
