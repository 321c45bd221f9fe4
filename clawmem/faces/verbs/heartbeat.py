"""`clawmem heartbeat`."""

from __future__ import annotations

from typing import Any

from clawmem.errors import DONE, PARTIAL, ClawmemError
from clawmem.faces.parts.command import Answer, Call, Command
from clawmem.faces.parts.learned import CANDIDATE, LEARNED, candidate_data, learned_data, learned_lines, verdict_line
from clawmem.faces.parts.parameters import DRY_RUN, EXPLAIN, Parameter
from clawmem.faces.verbs.promote import PROMOTION, promotion_data
from clawmem.faces.verbs.promote import verdict_line as promotion_line
from clawmem.heartbeat import Heartbeat, beat
from clawmem.learning.relate import triple_in_words
from clawmem.llm.choice import Model
from clawmem.model.dates import stamp
from clawmem.model.text import counted


def heartbeat(call: Call, dry_run: bool, explain: bool, budget_cents: float | None, stamped: bool) -> Answer:
    """Takes in edits made by hand, reads what facts given without a triple say, learns from new events and daily
    notes, folds accesses, archives what has decayed, writes daily notes, promotes what the day before taught, refreshes
    summaries and MEMORY.md. One commit for each; none where nothing changed. Exit code 4: only part was done; 13: a
    limit on the model was reached; 14: the model could not be used. What it did not read waits for the next run."""
    caller = call.runtime.caller()
    before = f"{stamp(caller.now)} " if stamped else ""
    try:
        with call.progress() as told:
            done = beat(call.runtime.vault(), caller, dry_run, _model(call, budget_cents), told)
    except ClawmemError as problem:
        if stamped:
            problem.add_note(f"{before}the heartbeat did not run")
        raise
    notices = [*done.notices, *(f"{name} failed: {problem.message} {problem.hint}" for name, problem in done.failed)]
    lines = [f"{before}{line}" for line in _lines(done, dry_run, explain)]
    return Answer(_data(done, explain), lines, [f"{before}{each}" for each in notices], _exit_code(done))


def _model(call: Call, budget_cents: float | None) -> Model | None:
    """The model of the settings, with this run's budget where one was given."""
    model = call.runtime.model()
    if model is None or budget_cents is None:
        return model
    return model._replace(limits=model.limits._replace(cents=budget_cents))


def _exit_code(done: Heartbeat) -> int:
    """What a model left undone says why it did; any other failure that only part was done."""
    codes = {problem.exit_code if name == "model" else PARTIAL for name, problem in done.failed}
    return DONE if not codes else codes.pop() if len(codes) == 1 else PARTIAL


def _data(done: Heartbeat, explain: bool) -> dict[str, Any]:
    learned = done.learned
    data: dict[str, Any] = {
        "commits": list(done.commits),
        "notes": done.noted.added if done.noted else 0,
        "learned": learned_data(learned) if learned else None,
        "related": [one.fact.id for one in done.related.facts] if done.related else [],
        "accesses": done.folded.facts if done.folded else 0,
        "began": [one.id for one in done.settled.begun] if done.settled else [],
        "archived": [one.fact.id for one in done.decayed.facts] if done.decayed else [],
        "restored": list(done.folded.restored) if done.folded else [],
        "daily": list(done.synthesized.pages) if done.synthesized else [],
        "promoted": [promotion_data(one, explain) for one in done.promoted if explain or one.kept or one.waiting],
        "adapted": done.adapted.after._asdict() if done.adapted and done.adapted.commit else None,
        "tacit": [one.id for one in done.proposed.proposals] if done.proposed else [],
        "refreshed": list(done.refreshed.entities) if done.refreshed else [],
        "memory": bool(done.curated and done.curated.changed),
        "repacked": bool(done.upkeep and done.upkeep.repacked),
        "embedded": {"texts": done.embedding.embedded, "left": done.embedding.left, "model": done.embedding.model}
        if done.embedding
        else None,
        "failed": [{"act": name, "code": problem.code, "message": problem.message} for name, problem in done.failed],
    }
    if explain and learned:
        data["candidates"] = [candidate_data(one) for one in learned.candidates]
    return data


def _lines(done: Heartbeat, dry_run: bool, explain: bool) -> list[str]:
    lines: list[str] = []
    learned = done.learned
    if done.related and done.related.facts:
        lines.append(f"read the triples of {counted(len(done.related.facts), 'fact')} from the words")
    if learned and learned.events:
        lines += learned_lines(learned, dry_run)
    if done.settled:
        lines += [f"took effect, as announced: {one.fact}" for one in done.settled.begun]
        lines += [f"stands on, as what was announced is off: {one.fact}" for one in done.settled.kept]
    if done.folded and done.folded.facts:
        lines.append(f"counted the use of {counted(done.folded.facts, 'fact')}")
    if done.decayed and done.decayed.facts:
        was = "was" if len(done.decayed.facts) == 1 else "were"
        lines.append(f"archived {counted(len(done.decayed.facts), 'fact')} that {was} not used for long")
    if done.folded and done.folded.restored:
        was = "was" if len(done.folded.restored) == 1 else "were"
        lines.append(f"restored {counted(len(done.folded.restored), 'archived fact')} that {was} used again")
    lines += _nightly_lines(done, explain)
    if done.refreshed and done.refreshed.entities:
        lines.append(f"refreshed {counted(len(done.refreshed.entities), 'summary', 'summaries')}")
    if done.curated and done.curated.changed:
        lines.append("refreshed MEMORY.md")
    if done.upkeep and done.upkeep.repacked:
        lines.append("packed the repository")
    if done.embedding and done.embedding.embedded:
        rest = f", {done.embedding.left:,} wait for the next" if done.embedding.left else ""
        lines.append(f"embedded {counted(done.embedding.embedded, 'text')}{rest}")
    if explain and done.related:
        lines += [f"{'related':<10} {one.fact.fact}  [{triple_in_words(one.fact)}]" for one in done.related.facts]
    if explain and learned:
        lines += map(verdict_line, learned.candidates)
    if dry_run:
        return ["this would be done:", *lines] if lines else ["nothing would change"]
    return lines + [f"commit {name[:12]}" for name in done.commits]


def _nightly_lines(done: Heartbeat, explain: bool) -> list[str]:
    lines = []
    if done.synthesized and done.synthesized.pages:
        lines.append(f"wrote {counted(len(done.synthesized.pages), 'daily note')}")
    for one in done.promoted:
        lines += [f"promoted {counted(len(one.kept), 'fact')} of {one.on}"] if one.kept else []
        lines += map(promotion_line, one.verdicts if explain else [*one.kept, *one.waiting])
    if done.adapted and done.adapted.after != done.adapted.before:
        lines.append(f"promotion takes a score of {done.adapted.after.score:g} now")
    if done.proposed and done.proposed.proposals:
        wait = "waits" if len(done.proposed.proposals) == 1 else "wait"
        lines.append(f"{counted(len(done.proposed.proposals), 'pattern')} for TACIT.md {wait}: `clawmem review list`")
    return lines


VERB = Command(
    heartbeat,
    (
        DRY_RUN,
        EXPLAIN,
        Parameter(
            "budget_cents", "The most this run of a model may cost, in cents.", ("--budget-cents",), float, least=0
        ),
        Parameter("stamped", "Begin each line with the time, for a log.", ("--stamped",), bool, False),
    ),
    {
        "commits": [str],
        "notes": int,
        "learned": (LEARNED, None),
        "related": [str],
        "accesses": int,
        "began": [str],
        "archived": [str],
        "restored": [str],
        "daily": [str],
        "promoted": [PROMOTION],
        "adapted": ({str: object}, None),
        "tacit": [str],
        "refreshed": [str],
        "memory": bool,
        "repacked": bool,
        "embedded": ({"texts": int, "left": int, "model": str}, None),
        "failed": [{"act": str, "code": str, "message": str}],
        "candidates?": [CANDIDATE],
    },
    ("clawmem heartbeat --quiet", "clawmem heartbeat --dry-run --explain"),
)
