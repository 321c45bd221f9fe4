"""`clawmem heartbeat`."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from clawmem.cli.face import Face
from clawmem.errors import DONE, PARTIAL
from clawmem.heartbeat import Heartbeat, beat
from clawmem.learning.learn import Candidate


def heartbeat(
    ctx: typer.Context,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Say what would be done, write nothing.")] = False,
    explain: Annotated[bool, typer.Option("--explain", help="List every candidate with its verdict.")] = False,
) -> int:
    """Takes in edits made by hand, learns from new events and daily notes, folds accesses, archives what has
    decayed, refreshes summaries. One commit for each; none where nothing changed. Exit code 4: only part was done."""
    face = Face.of(ctx)
    done = beat(face.runtime.vault(), face.runtime.caller(), dry_run)
    notices = [*done.notices, *(f"{name} failed: {problem.message} {problem.hint}" for name, problem in done.failed)]
    code = PARTIAL if done.failed else DONE
    return face.done(_data(done, explain), _lines(done, dry_run, explain), notices, code)


def _data(done: Heartbeat, explain: bool) -> dict[str, Any]:
    learned = done.learned
    data: dict[str, Any] = {
        "commits": list(done.commits),
        "notes": done.noted.added if done.noted else 0,
        "learned": {
            "extractor": learned.extractor,
            "events": learned.events,
            **{outcome: learned.count(outcome) for outcome in ("added", "updated", "noop", "noted", "refused")},
            "entities": list(learned.entities),
        }
        if learned
        else None,
        "accesses": done.folded.facts if done.folded else 0,
        "archived": [one.fact.id for one in done.decayed.facts] if done.decayed else [],
        "refreshed": list(done.refreshed.entities) if done.refreshed else [],
        "repacked": bool(done.upkeep and done.upkeep.repacked),
        "failed": [{"act": name, "code": problem.code, "message": problem.message} for name, problem in done.failed],
    }
    if explain and learned:
        data["candidates"] = [_candidate(one) for one in learned.candidates]
    return data


def _candidate(one: Candidate) -> dict[str, Any]:
    return {
        "statement": one.proposition.statement,
        "outcome": one.outcome,
        "reason": one.reason,
        "event": one.proposition.event_id,
        "evidence": one.proposition.source_text,
        "fact": one.fact.id if one.fact else None,
        "entity": one.entity,
    }


def _lines(done: Heartbeat, dry_run: bool, explain: bool) -> list[str]:
    lines = []
    learned = done.learned
    if learned and learned.events:
        lines.append(
            f"read {learned.events} events by {learned.extractor}: {learned.count('added')} facts added, "
            f"{learned.count('updated')} replaced older ones, {learned.count('noop')} known already, "
            f"{learned.count('noted')} noted only, {learned.count('refused')} refused"
        )
    if done.folded and done.folded.facts:
        lines.append(f"counted the use of {done.folded.facts} facts")
    if done.decayed and done.decayed.facts:
        lines.append(f"archived {len(done.decayed.facts)} facts that were not used for long")
    if done.refreshed and done.refreshed.entities:
        lines.append(f"refreshed {len(done.refreshed.entities)} summaries")
    if done.upkeep and done.upkeep.repacked:
        lines.append("packed the repository")
    if explain and learned:
        lines += [f"{one.outcome:<7}  {one.proposition.statement}  [{one.reason}]" for one in learned.candidates]
    if dry_run:
        return ["this would be done:", *lines] if lines else ["nothing would change"]
    return lines + [f"commit {name[:12]}" for name in done.commits]
