"""`clawmem ingest`."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import IO

from clawmem.errors import DONE, PARTIAL, InvalidInput
from clawmem.faces.parts.command import Answer, Call, Command
from clawmem.faces.parts.parameters import FILE, Parameter
from clawmem.faces.parts.reading import opened
from clawmem.learning.ingest import ingest as act
from clawmem.model.event import ROLES
from clawmem.model.text import check_statement, counted
from clawmem.model.transcript import Message, Skipped
from clawmem.model.transcripts.formats import AUTO, FORMATS, HEAD_BYTES, Shape, check_format, read, shape_of

_SHOWN = 20
_TOLD_EVERY = 200
_BLOCK_BYTES = 1 << 18


def ingest(
    call: Call, file: str, format_: str, session: str | None, speaker: str | None, role: str, source: str | None
) -> Answer:
    """Events are kept verbatim and once: the same file again adds nothing. Lines that are no message are skipped
    and named, and the exit code is then 4."""
    check_format(format_)
    if role not in ROLES:
        raise InvalidInput(f"'{role}' is not a role.", f"Choose one of {', '.join(ROLES)}.")
    session = session and check_statement(session, "session")
    speaker = speaker and check_statement(speaker, "speaker")
    name = check_statement(source or ("stdin" if file == "-" else file.rsplit("/", 1)[-1]), "source")
    with opened(call, file) as given, call.progress() as told:
        shape = shape_of(given.read(HEAD_BYTES), name, format_, role)
        given.seek(0)
        found = read(shape, _pieces(given, shape), name, role)
        messages = _named(found, session, speaker)
        done = act(call.runtime.vault(), _told(messages, told) if told else messages, call.runtime.caller(), name)
    data = {
        "format": shape.format,
        "added": done.added,
        "known": done.known,
        "skipped": [one._asdict() for one in done.skipped],
        "days": list(done.days),
        "commit": done.commit,
        "commits": done.commits,
    }
    lines = [f"{counted(done.added, 'event')} added, {done.known} known already, {len(done.skipped)} skipped"]
    lines.append(_committed(done.commit, done.commits))
    return Answer(data, lines, [*done.notices, *_said(done.skipped)], PARTIAL if done.skipped else DONE)


def _pieces(given: IO[bytes], shape: Shape) -> Iterator[bytes]:
    return iter(given) if shape.by_line else iter(lambda: given.read(_BLOCK_BYTES), b"")


def _named(
    found: Iterator[Message | Skipped], session: str | None, speaker: str | None
) -> Iterator[Message | Skipped]:  # fmt: skip
    for one in found:
        if isinstance(one, Message):
            spoken = one.role in ("user", "note")
            yield one._replace(session=one.session or session, speaker=one.speaker or (speaker if spoken else None))
        else:
            yield one


def _told(found: Iterator[Message | Skipped], told: Callable[[str], None]) -> Iterator[Message | Skipped]:
    for number, one in enumerate(found, 1):
        if number % _TOLD_EVERY == 0:
            told(f"{number:,} messages read")
        yield one


def _committed(last: str | None, number: int) -> str:
    if last is None:
        return "nothing changed, so there is no commit"
    return f"commit {last[:12]}" + (f", the last of {number}" if number > 1 else "")


def _said(skipped: tuple[Skipped, ...]) -> list[str]:
    sentences = [f"line {one.line} was skipped: {one.reason}" for one in skipped[:_SHOWN]]
    if len(skipped) > _SHOWN:
        more = len(skipped) - _SHOWN
        was = "was" if more == 1 else "were"
        sentences.append(f"{counted(more, 'more line')} {was} skipped; --json lists them all")
    return sentences


VERB = Command(
    ingest,
    (
        FILE._replace(help="A transcript, an export or notes, or - for stdin."),
        Parameter("format_", "One of {choices}.", ("--format", "-f"), default=AUTO, choices=FORMATS),
        Parameter("session", "The session of lines that name none.", ("--session",)),
        Parameter("speaker", "The speaker of the user's lines that name none.", ("--speaker",)),
        Parameter("role", "The role of plain text.", ("--role",), default="note", choices=ROLES),
        Parameter("source", "What to call the source (default: the file's name).", ("--source",)),
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
