"""`clawmem ingest`."""

from __future__ import annotations

from typing import Annotated

import typer

from clawmem.cli.face import Face
from clawmem.cli.reading import file_or_stdin
from clawmem.errors import DONE, PARTIAL, InvalidInput
from clawmem.learning.ingest import ingest as act
from clawmem.model.event import ROLES
from clawmem.model.text import check_statement
from clawmem.model.transcript import Message, looks_like_json_lines, read_json_lines, read_plain

FORMATS = ("auto", "jsonl", "text")


def ingest(
    ctx: typer.Context,
    file: Annotated[str, typer.Argument(help="A transcript, or - for stdin.")],
    format_: Annotated[str, typer.Option("--format", "-f", help="auto, jsonl or text.")] = "auto",
    session: Annotated[str | None, typer.Option(help="The session of lines that name none.")] = None,
    speaker: Annotated[str | None, typer.Option(help="The speaker of lines that name none.")] = None,
    role: Annotated[str, typer.Option(help="The role of plain text.")] = "note",
    source: Annotated[str | None, typer.Option(help="What to call the source (default: the file's name).")] = None,
) -> int:
    """Events are kept verbatim and once: the same file again adds nothing. Lines that are no message are skipped
    and named, and the exit code is then 4."""
    face = Face.of(ctx)
    if format_ not in FORMATS:
        raise InvalidInput(f"'{format_}' is not a format.", f"Choose one of {', '.join(FORMATS)}.")
    if role not in ROLES:
        raise InvalidInput(f"'{role}' is not a role.", f"Choose one of {', '.join(ROLES)}.")
    text = file_or_stdin(file)
    as_lines = format_ == "jsonl" or (format_ == "auto" and looks_like_json_lines(text))
    read = read_json_lines(text) if as_lines else read_plain(text, role)
    messages = (
        one._replace(session=one.session or session, speaker=one.speaker or speaker)
        if isinstance(one, Message)
        else one
        for one in read
    )
    name = check_statement(source or ("stdin" if file == "-" else file.rsplit("/", 1)[-1]), "source")
    done = act(face.runtime.vault(), messages, face.runtime.caller(), name)
    data = {
        "added": done.added,
        "known": done.known,
        "skipped": [one._asdict() for one in done.skipped],
        "days": list(done.days),
        "commit": done.commit,
    }
    lines = [f"{done.added} events added, {done.known} known already, {len(done.skipped)} skipped"]
    lines.append(f"commit {done.commit[:12]}" if done.commit else "nothing changed, so there is no commit")
    notices = [*done.notices, *(f"line {one.line} was skipped: {one.reason}" for one in done.skipped)]
    return face.done(data, lines, notices, PARTIAL if done.skipped else DONE)
