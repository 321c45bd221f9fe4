"""`clawmem ingest`."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import IO

from clawmem.errors import DONE, PARTIAL, InvalidInput
from clawmem.faces.parts.command import Answer, Call, Command
from clawmem.faces.parts.parameters import FILE, Parameter
from clawmem.faces.parts.reading import opened
from clawmem.learning.ingest import ingest as act
from clawmem.model.facts.fact import TRUSTS
from clawmem.model.facts.trust import is_low_trust, least_trust, trust_of_source
from clawmem.model.language.text import check_statement, counted
from clawmem.model.records.bounds import RECORD_BYTES
from clawmem.model.records.event import EVENT_ROLES
from clawmem.model.transcripts.formats import AUTO, FORMATS, HEAD_BYTES, FileFormat, check_format, read, shape_of
from clawmem.model.transcripts.message import Message, SkippedLine

_SHOWN = 20
_TOLD_EVERY = 200
_BLOCK_BYTES = 1 << 18


def ingest(
    call: Call,
    file: str,
    format_: str,
    session: str | None,
    speaker: str | None,
    role: str,
    source: str | None,
    trust: str,
) -> Answer:
    """Events are stored verbatim and only once: a second import of the same file adds nothing. Lines that are not a
    message are skipped and listed, and the exit code is then 4."""
    check_format(format_)
    if role not in EVENT_ROLES:
        raise InvalidInput(f"'{role}' is not a role.", f"Choose one of {', '.join(EVENT_ROLES)}.")
    if trust not in TRUSTS:
        raise InvalidInput(f"'{trust}' is not a trust level.", f"Choose one of {', '.join(TRUSTS)}.")
    session = session and check_statement(session, "session")
    speaker = speaker and check_statement(speaker, "speaker")
    name = check_statement(source or ("stdin" if file == "-" else file.rsplit("/", 1)[-1]), "source")
    with opened(call, file) as given, call.progress() as on_progress:
        shape = shape_of(given.read(HEAD_BYTES), name, format_, role)
        given.seek(0)
        found = read(shape, _pieces(given, shape), name, role)
        messages = _named(found, session, speaker, None if trust == "user" else trust)
        done = act(
            call.runtime.vault(),
            _with_progress(messages, on_progress) if on_progress else messages,
            call.runtime.caller(),
            name,
        )
    data = {
        "format": shape.format,
        "added": done.added,
        "known": done.known,
        "skipped": [one._asdict() for one in done.skipped],
        "days": list(done.days),
        "commit": done.commit,
        "commits": done.commits,
    }
    lines = [f"{counted(done.added, 'event')} added, {done.known} already known, {len(done.skipped)} skipped"]
    lines.append(_committed(done.commit, done.commits))
    return Answer(data, lines, [*done.notices, *_skipped_notices(done.skipped)], PARTIAL if done.skipped else DONE)


def _pieces(given: IO[bytes], shape: FileFormat) -> Iterator[bytes]:
    return _lines(given) if shape.by_line else iter(lambda: given.read(_BLOCK_BYTES), b"")


def _lines(given: IO[bytes]) -> Iterator[bytes]:
    """The lines. A line that is longer than a record may be is cut; the rest is skipped."""
    while line := given.readline(RECORD_BYTES + 1):
        yield line
        while len(line) > _BLOCK_BYTES and not line.endswith(b"\n"):
            line = given.readline(len(line))


def _named(
    found: Iterator[Message | SkippedLine], session: str | None, speaker: str | None, most: str | None
) -> Iterator[Message | SkippedLine]:  # fmt: skip
    for one in found:
        if isinstance(one, Message):
            spoken = one.role in ("user", "note") and not is_low_trust(one.trust or trust_of_source(one.source or ""))
            speaks = one.speaker or (speaker if spoken else None)
            yield one._replace(session=one.session or session, speaker=speaks, trust=least_trust(one.trust, most))
        else:
            yield one


def _with_progress(
    found: Iterator[Message | SkippedLine], on_progress: Callable[[str], None]
) -> Iterator[Message | SkippedLine]:
    for number, one in enumerate(found, 1):
        if number % _TOLD_EVERY == 0:
            on_progress(f"{number:,} messages read")
        yield one


def _committed(last: str | None, number: int) -> str:
    if last is None:
        return "nothing changed; no commit was made"
    return f"commit {last[:12]}" + (f", the last of {number}" if number > 1 else "")


def _skipped_notices(skipped: tuple[SkippedLine, ...]) -> list[str]:
    sentences = [f"line {one.line} was skipped: {one.reason}" for one in skipped[:_SHOWN]]
    if len(skipped) > _SHOWN:
        more = len(skipped) - _SHOWN
        was = "was" if more == 1 else "were"
        sentences.append(f"{counted(more, 'more line')} {was} skipped; --json lists them all")
    return sentences


VERB = Command(
    ingest,
    (
        FILE._replace(help="A transcript, an export, notes, or - for stdin."),
        Parameter("format_", "One of {choices}.", ("--format", "-f"), default=AUTO, choices=FORMATS),
        Parameter("session", "The session of messages without one.", ("--session",)),
        Parameter("speaker", "The speaker of user messages without one.", ("--speaker",)),
        Parameter("role", "The role of plain text.", ("--role",), default="note", choices=EVENT_ROLES),
        Parameter("source", "The name of the source (default: the file name).", ("--source",)),
        Parameter(
            "trust", "The highest trust level of the events: {choices}.", ("--trust",), default="user", choices=TRUSTS
        ),
    ),
    {
        "format": str,
        "added": int,
        "known": int,
        "skipped": [{"line": int, "reason": str}],
        "days": [str],
        "commit": (str, None),
        "commits": int,
    },
    (
        "clawmem ingest chat.jsonl",
        "pbpaste | clawmem ingest - --source 'meeting notes'",
        "clawmem ingest ~/.claude/projects/-home-ada-site/4f1c.jsonl",
    ),
)
