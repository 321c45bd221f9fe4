"""`clawmem learn pending|apply`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Any

from clawmem.errors import DONE, PARTIAL, InvalidInput
from clawmem.faces.parts.command import Answer, Call, Command
from clawmem.faces.parts.parameters import FILE, Parameter
from clawmem.faces.parts.reading import opened
from clawmem.heartbeat.queue import apply_task, next_task
from clawmem.heartbeat.reports import CANDIDATE, LEARNED, candidate_data, candidate_line, learn_data, learn_lines
from clawmem.learning.apply import ApplyResult, refused_notice
from clawmem.learning.pending import DEFAULT_TOKENS
from clawmem.model.language.text import counted
from clawmem.model.records.strict_json import RECORD_BYTES


def pending(
    call: Call,
    limit_tokens: Annotated[
        int,
        Parameter("The maximum number of tokens of the task.", ("--limit-tokens",), default=DEFAULT_TOKENS, least=1),
    ],
    session: Annotated[str | None, Parameter("Only events of this session.", ("--session",))],
    set_aside: Annotated[bool, Parameter("Only events on which a model failed twice.", ("--set-aside",))],
) -> Answer:
    """The task is one text with everything that it needs: what to do, what is known, the text, and the form of the
    answer. Messages that no model has read come first, then texts to digest, facts to promote, days to tell, and cold
    facts to join. It calls no model and changes nothing. Pass the answer to `learn apply`."""
    found = next_task(call.runtime.vault(), call.runtime.caller(), limit_tokens, session, set_aside)
    data = {
        "task": found.text,
        "id": found.key or None,
        "kind": found.kind or None,
        "events": list(found.events),
        "known": found.known,
        "tokens": found.tokens,
        "waiting": found.waiting,
    }
    left = found.waiting - len(found.events)
    talk = [] if found.text else ["Nothing waits to be read by an agent."]
    if found.others > 1:
        talk.append(f"{counted(found.others - 1, 'more task')} beside messages.")
    if left:
        wait = "waits" if left == 1 else "wait"
        talk.append(f"{counted(left, 'more event')} {wait} for the next task.")
    return Answer(data, [found.text.rstrip("\n")] if found.text else [], talk=talk)


def apply(call: Call, file: Annotated[str, FILE._replace(help="The answer, or - for stdin.")]) -> Answer:
    """Each fact of the answer is checked against the event that it quotes. The command says what became of it and why.
    Doubtful facts are asked about once more: the command prints that task, and exits with 4. Only the events that
    were answered count as read. The same answer may be applied twice."""
    with opened(call, file) as o:
        raw = o.read(RECORD_BYTES + 1)
    if len(raw) > RECORD_BYTES:
        raise InvalidInput(f"The answer has more than {RECORD_BYTES:,} bytes.", "Answer one task at a time.")
    try:
        text = raw.decode("utf-8-sig")
    except UnicodeDecodeError as problem:
        raise InvalidInput(f"The answer is not UTF-8 text ({problem.reason}).", "Write it in UTF-8.") from None
    applied = apply_task(call.runtime.vault(), call.runtime.caller(), text)
    if applied.learned is None:
        empty: dict[str, Any] = dict.fromkeys(("learned", "follow_up", "commit"))
        data = {**empty, "candidates": [], "doubtful": [], "refused": {}, "waiting": 0, "did": list(applied.lines)}
        return Answer(data, applied.lines)
    result = applied.learned
    partly = result.follow_up or result.refused
    return Answer(_data(result), _lines(result), _notices(result), PARTIAL if partly else DONE, _talk(result))


def _data(result: ApplyResult) -> dict[str, Any]:
    return {
        "learned": learn_data(result.learned),
        "candidates": [candidate_data(candidate) for candidate in result.learned.candidates],
        "doubtful": [candidate_data(candidate) for candidate in result.doubtful],
        "follow_up": result.follow_up or None,
        "refused": dict(result.refused),
        "waiting": result.waiting,
        "commit": result.learned.commit,
        "did": [],
    }


def _lines(result: ApplyResult) -> Iterator[str]:
    learned = result.learned
    if not learned.events:
        yield "nothing changed; no commit was made"
        return
    yield from learn_lines(learned, False)
    yield from map(candidate_line, learned.candidates)
    yield from (
        f"doubtful   {candidate.proposition.statement}  [{candidate.gate}: {candidate.reason}]"
        for candidate in result.doubtful
    )
    if result.follow_up:
        yield ""
        yield result.follow_up.rstrip("\n")


def _notices(result: ApplyResult) -> list[str]:
    notices = list(result.learned.notices)
    if result.refused:
        notices.append(refused_notice(result.refused))
    if result.doubtful:
        are = "is" if len(result.doubtful) == 1 else "are"
        notices.append(
            f"{counted(len(result.doubtful), 'fact')} {are} doubtful: answer the task above with `clawmem learn apply`."
        )
    return notices


def _talk(result: ApplyResult) -> list[str]:
    talk = ["This answer was applied before."] if result.again else []
    if result.waiting:
        wait = "waits" if result.waiting == 1 else "wait"
        talk.append(
            f"{counted(result.waiting, 'event')} {wait} to be read; `clawmem learn pending` prints the next task."
        )
    return talk


VERB = {
    "pending": Command(
        pending,
        {
            "task": str, "id": (str, None), "kind": (str, None), "events": [str], "known": int, "tokens": int,
            "waiting": int,
        },
        ("clawmem learn pending > task.txt", "clawmem learn pending --limit-tokens 6000 --session s1"),
    ),
    "apply": Command(
        apply,
        {
            "learned": (LEARNED, None),
            "candidates": [CANDIDATE],
            "doubtful": [CANDIDATE],
            "follow_up": (str, None),
            "refused": {str: str},
            "waiting": int,
            "commit": (str, None),
            "did": [str],
        },
        ("clawmem learn apply answer.json", "clawmem learn apply - < answer.json"),
    ),
}  # fmt: skip
