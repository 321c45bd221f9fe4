"""`clawmem status`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from shlex import quote
from typing import TYPE_CHECKING, Annotated

from clawmem import __version__
from clawmem.faces.parts.command import Answer, Call, Command, Fields
from clawmem.faces.parts.parameters import Parameter
from clawmem.faces.parts.words import data_of
from clawmem.index.search.lookup import PlacedFact
from clawmem.learning.unread import unread_by_harness
from clawmem.llm.presets import PRESETS
from clawmem.memory.health.status import FRESH, LearningState, Status, failure_sentences, missing_key_sentence
from clawmem.memory.health.status import status as act
from clawmem.model.facts.fact import ACTIVE
from clawmem.model.language.dates import minute, stamp
from clawmem.model.language.text import counted, some_of
from clawmem.runtime import VaultLocation
from clawmem.setup.harnesses import HARNESSES
from clawmem.setup.wire import is_wired
from clawmem.vault.state.heartbeat_state import HeartbeatRun
from clawmem.vault.state.hook_marks import DONE, SKIPPED, HookMark

if TYPE_CHECKING:
    from clawmem.serving.browse import Analytics


_HOOKS_SHOWN = 2


def status(
    call: Call,
    usage: Annotated[bool, Parameter("Show which facts are asked for, and which never, instead.", ("--usage",))],
    limit: Annotated[
        int,
        Parameter(
            "With --usage, the maximum number of rows of each list.", ("--limit", "-n"), default=10, least=1, most=1000
        ),
    ],
) -> Answer:
    """The vault is not changed; the index may be updated. With --usage, active facts only: an access is a retrieval, by
    recall, show, the answers of a context, and what the settings `access.*` add."""
    if usage:
        return _usage(call, limit)
    found = call.runtime.locate()
    state = act(call.runtime.vault(), stamp(call.runtime.now())[:10])
    home, environment = call.runtime.home(), call.runtime.environment
    wired = bool(state.hooks) or any(is_wired(name, home, environment) for name in HARNESSES)
    steps = _next_steps(state, wired)
    unread = unread_by_harness(call.runtime.vault()) if state.learning.models else {}
    own = [
        f"nobody reads the sessions of {name}, {counted(number, 'message')} so far: `clawmem setup {name} --learn`"
        for name, number in unread.items()
    ]
    return Answer(_data(found, state, steps), Fields(_pairs(found, state, steps)), [*state.notices, *own])


def _data(found: VaultLocation, state: Status, steps: Sequence[tuple[str, str]]) -> dict[str, object]:
    return {
        "vault": str(found.root),
        "rule": found.rule,
        "name": state.name,
        "format": state.format,
        "version": __version__,
        "branch": state.branch,
        "head": state.head,
        "facts": dict(state.facts),
        "entities": state.entities,
        "events": state.events,
        "unfolded_accesses": state.unfolded_accesses,
        "proposals": state.proposals,
        "candidates": state.candidates,
        "learning": _learning_data(state.learning),
        "edits": {"waiting": list(state.edits.waiting), "unreadable": _reasons(state.edits.unreadable)},
        "unfinished": state.unfinished,
        "accepted": state.accepted,
        "suggested": [
            {"key": suggestion.key, "suggested": suggestion.suggested, "in_force": suggestion.in_force}
            for suggestion in state.suggested
        ],
        "hooks": [hook._asdict() for hook in state.hooks],
        "index": {
            "state": state.search.state,
            "engine": state.search.engine,
            "unreadable": _reasons(state.search.unreadable),
        },
        "next": [{"command": command, "reason": reason} for command, reason in steps],
    }


def _learning_data(learning: LearningState) -> dict[str, object]:
    keys = [{"setting": setting, "variable": variable} for setting, variable in learning.missing_keys.items()]
    last = learning.last
    models = {
        "names": list(learning.models),
        "missing": learning.missing_part,
        "cents_today": round(learning.cents_today, 6),
        "unpriced_tokens_today": learning.unpriced_tokens_today,
    }
    run = None if last is None else data_of(last)
    return {
        "waiting": learning.waiting, "missing_keys": keys, "models": models, "last_heartbeat": run,
        "reading": data_of(learning.reading),
    }  # fmt: skip


def _learning_pairs(learning: LearningState, harness: str, candidates: int) -> Iterator[tuple[str, str]]:
    reading = learning.reading
    unread = f"{reading.unread:,} unread by any model: `clawmem learn pending`" if reading.unread else "none is unread"
    off = "" if learning.models or not reading.unread else f", or `clawmem setup {harness} --learn`"
    ask = f"; {counted(candidates, 'candidate')} for you: `clawmem review decide`" if candidates else ""
    yield "learning", f"{counted(reading.kept, 'message')} kept, {reading.taught:,} taught a fact; {unread}{off}{ask}"
    yield "reader", "; ".join(_readers(learning, harness))
    yield "heartbeat", _last_run(learning.last)
    if learning.last is not None:
        for sentence in failure_sentences(learning.last):
            yield "failed", sentence
    if learning.missing_part:
        yield "missing", learning.missing_part
    for setting, variable in learning.missing_keys.items():
        yield "key", missing_key_sentence(setting, variable)


def _readers(learning: LearningState, harness: str) -> Iterator[str]:
    """Yield who reads on this machine, what it used today of its limits, and what each reader did so far."""
    reading = learning.reading
    if learning.models or reading.calls_today or learning.cents_today:
        used = zip((reading.calls_today, reading.tokens_today), reading.limits, ("calls", "tokens"), strict=True)
        of_limits = ", ".join(f"{count:,} of {limit:,} {what}" for count, limit, what in used)
        yield f"{', '.join(learning.models) or 'none'}: today {learning.cents_today:.4g} cents, {of_limits}"
    else:
        turn_on = f"`clawmem setup {harness} --learn` turns it on"
        yield f"off on this machine, so rules store orders and corrections only; {turn_on}"
    for name, total in reversed([*reading.readers.items()]):
        cents = f", {total.cents:.4g} cents" if total.cents else ""
        read = f"{counted(total.messages, 'message')}, {counted(total.facts, 'fact')}, {total.tokens:,} tokens{cents}"
        yield f"{name} read {read}, last {minute(total.last)}"


def _last_run(last: HeartbeatRun | None) -> str:
    if last is None:
        return "never on this machine; `clawmem cron install` schedules it"
    if any(not failure.step for failure in last.failed):
        return f"{minute(last.ended)}, could not start"
    read = f"read {counted(last.events, 'event')}, {counted(last.facts, 'fact')} kept"
    nothing = f"; taught nothing: {last.taught_nothing:,} of {counted(last.events, 'event')}"
    return f"{minute(last.ended)}, {read}{nothing if last.taught_nothing else ''}"


def _reasons(rows: tuple[tuple[str, str], ...]) -> list[dict[str, str]]:
    return [{"path": path, "problem": problem} for path, problem in rows]


def _pairs(found: VaultLocation, state: Status, steps: Sequence[tuple[str, str]]) -> Iterator[tuple[str, str]]:
    yield "vault", f"{found.root} (chosen by {found.rule})"
    if state.branch is None:
        yield "branch", f"none: HEAD is detached at {(state.head or 'no commit')[:12]}"
    others = ", ".join(f"{number:,} {status}" for status, number in state.facts.items() if number and status != ACTIVE)
    numbers = counted(state.facts.get(ACTIVE, 0), "fact"), counted(state.entities, "entity", "entities")
    yield "holds", f"{', '.join(numbers)}, {counted(state.events, 'event')}{f' (and {others})' if others else ''}"
    readable = {preset.harness for preset in PRESETS.values()}
    harness = next((mark.harness for mark in state.hooks if mark.harness in readable), "HARNESS")
    yield from _learning_pairs(state.learning, harness, state.candidates)
    for skipped in (mark for mark in state.hooks if mark.event == SKIPPED):
        yield "skipped", f"{skipped.harness} {minute(skipped.at)}: {skipped.message}"
    newest = sorted((mark for mark in state.hooks if mark.event != SKIPPED), key=lambda mark: mark.at, reverse=True)
    for hook in sorted(newest, key=lambda mark: mark.outcome == DONE)[:_HOOKS_SHOWN]:
        yield "hook", f"{hook.harness} {hook.event} {minute(hook.at)}: {hook.outcome}, {hook.message}"
    if state.proposals:
        yield "review", f"{state.proposals:,} open; `clawmem review list` shows them"
    if state.search.state != FRESH:
        yield "index", f"{state.search.state}: the next question brings it up to date"
    if state.suggested:
        keys = ", ".join(suggestion.key for suggestion in state.suggested)
        yield "suggests", f"{keys}: not in effect on this machine; `clawmem config trust` shows them"
    if state.unfinished:
        yield "waiting", state.unfinished
    if state.edits.waiting:
        paths = some_of(state.edits.waiting)
        yield "edits", f"{len(state.edits.waiting)} by hand, committed before the next change: {paths}"
    for _, problem in (*state.edits.unreadable, *state.search.unreadable):
        yield "broken", problem
    for command, reason in steps:
        yield "next", f"`{command}` {reason}"


def _next_steps(state: Status, wired: bool) -> list[tuple[str, str]]:
    """The commands to run next, three at most, the most urgent first, each with what it does."""
    reading, reader = state.learning.reading, state.learning.models
    own = state.from_elsewhere
    facts = counted(own.facts, "fact") if own else ""
    trusted = f"accepts what you wrote on other machines: {facts} served as from outside"
    steps = (
        (bool(state.edits.unreadable or state.search.unreadable), "clawmem doctor", "says how to mend what is broken"),
        (bool(state.proposals), "clawmem review decide", f"decides the {state.proposals:,} that wait"),
        (own is not None, f"clawmem review trust {quote(own.email)}" if own else "", trusted),
        (bool(reading.unread), "clawmem learn pending", f"gives the {reading.unread:,} unread to a reader"),
        (not state.facts.get("active"), "clawmem remember 'Jane prefers tea.'", "stores a fact"),
        (not wired, "clawmem setup --list", "lists the agents that it wires"),
        (not reader, "clawmem setup HARNESS --learn", "lets an agent's program read what is said"),
        (state.learning.last is None, "clawmem cron install", "schedules the heartbeat"),
        (True, "clawmem recall 'a question'", "asks the memory"),
        (True, "clawmem dashboard", "shows it in a browser"),
        (True, "clawmem --help", "lists the verbs"),
    )
    return [(command, reason) for fits, command, reason in steps if fits][:3]


def _usage(call: Call, limit: int) -> Answer:
    from clawmem.serving.browse import analytics  # only with --usage

    result = analytics(call.runtime.vault(), call.runtime.caller(), limit)
    data = {
        "total": {"facts": result.facts, "asked_for": result.asked_for, "accesses": result.accesses},
        "most": [_used_fact(placed) for placed in result.most],
        "never": [_used_fact(placed) for placed in result.never],
        "entities": [entity._asdict() for entity in result.entities],
    }
    return Answer(data, _usage_lines(result), result.notices)


def _used_fact(placed: PlacedFact) -> dict[str, object]:
    fact = placed.fact
    return {
        "id": fact.id,
        "fact": fact.fact,
        "entity": placed.entity,
        "access_count": fact.access_count,
        "last_accessed": fact.last_accessed,
        "timestamp": fact.timestamp,
    }


def _usage_lines(used: Analytics) -> Iterator[str]:
    accesses = counted(used.accesses, "access", "accesses")
    yield f"{counted(used.facts, 'active fact')}: {used.asked_for} asked for, {accesses}"
    if used.most:
        yield "Asked for most:"
        yield from (_usage_line(f"{placed.fact.access_count:>4}", placed) for placed in used.most)
    if used.never:
        yield f"Never asked for, oldest first ({used.facts - used.asked_for} in all):"
        yield from (_usage_line(placed.fact.timestamp[:10], placed) for placed in used.never)
    if used.entities:
        yield "By entity (facts, asked for, accesses):"
        for use in used.entities:
            yield f"  {use.facts:>4} {use.asked_for:>4} {use.accesses:>4}  {use.entity}"


def _usage_line(first: str, placed: PlacedFact) -> str:
    return f"  {first}  {placed.fact.id}  {placed.fact.fact}  ({placed.entity})"


_USED = {
    "id": str, "fact": str, "entity": str, "access_count": int, "last_accessed": (str, None), "timestamp": str,
}  # fmt: skip
_PROBLEMS = [{"path": str, "problem": str}]

VERB = Command(
    status,
    (
        {
            "vault": str,
            "rule": str,
            "name": str,
            "format": int,
            "version": str,
            "branch": (str, None),
            "head": (str, None),
            "facts": {str: int},
            "entities": int,
            "events": int,
            "unfolded_accesses": int,
            "proposals": int,
            "candidates": int,
            "learning": {
                "waiting": int,
                "missing_keys": [{"setting": str, "variable": str}],
                "models": {"names": [str], "missing": (str, None), "cents_today": float, "unpriced_tokens_today": int},
                "last_heartbeat": (HeartbeatRun, None),
                "reading": "clawmem.memory.health.status:Reading",
            },
            "edits": {"waiting": [str], "unreadable": _PROBLEMS},
            "unfinished": (str, None),
            "accepted": bool,
            "suggested": [{"key": str, "suggested": object, "in_force": object}],
            "hooks": [HookMark],
            "index": {"state": str, "engine": str, "unreadable": _PROBLEMS},
            "next": [{"command": str, "reason": str}],
        },
        {
            "total": {"facts": int, "asked_for": int, "accesses": int},
            "most": [_USED],
            "never": [_USED],
            "entities": ["clawmem.serving.browse:EntityUse"],
        },
    ),
    ("clawmem status", "clawmem status --usage --limit 20"),
)
