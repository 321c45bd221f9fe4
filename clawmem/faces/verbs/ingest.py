"""`clawmem ingest`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from pathlib import Path
from shlex import quote
from typing import IO, Annotated, Any, NamedTuple

from clawmem.errors import DONE, PARTIAL, InvalidInput, NotFound
from clawmem.faces.parts.command import Answer, Call, Command
from clawmem.faces.parts.parameters import FILE, Parameter
from clawmem.faces.parts.reading import INGESTED, MOST_DOCUMENT_BYTES, PAGES, open_regular, opened, read_document
from clawmem.faces.parts.words import data_of
from clawmem.learning.ingest import IngestResult
from clawmem.learning.ingest import ingest as act
from clawmem.model.facts.fact import TRUSTS, is_low_trust, least_trust, trust_of_source
from clawmem.model.harness import HANDED_IN, HARNESS, RULE_FILES, TRANSCRIPTS
from clawmem.model.language.dates import begin_instant, moment_of, parse_start
from clawmem.model.language.text import check_choice, check_statement, counted
from clawmem.model.progress import OnProgress, Progress
from clawmem.model.records.caller import Caller
from clawmem.model.records.event import EVENT_ROLES
from clawmem.model.records.strict_json import RECORD_BYTES
from clawmem.model.transcripts.documents import kind_of, read_document_text
from clawmem.model.transcripts.formats import (
    AUTO,
    DOCUMENT,
    FORMATS,
    HEAD_BYTES,
    RECORDS,
    FileFormat,
    check_format,
    read,
    shape_of,
)
from clawmem.model.transcripts.message import Message, SkippedLine
from clawmem.vault.vault import Vault

_SHOWN = 20
_MB = 1e6
_BLOCK_BYTES = 1 << 18
_MOST_BLOCKS = MOST_DOCUMENT_BYTES // _BLOCK_BYTES + 1


class Wish(NamedTuple):
    """How files are read: the options of a call."""

    format: str
    session: str | None
    speaker: str | None
    role: str
    source: str | None
    most: str | None
    since: str | None
    project: str | None
    harness: str | None = None


class Files(NamedTuple):
    """What came of some files: their formats, what was added, and the files that are no transcripts."""

    formats: tuple[str, ...] = ()
    added: int = 0
    known: int = 0
    skipped: tuple[dict[str, Any], ...] = ()
    days: frozenset[str] = frozenset()
    commit: str | None = None
    commits: int = 0
    notices: tuple[str, ...] = ()

    def plus(self, form: str, result: IngestResult, file: str | None) -> Files:
        """These files and one more; `file` names it in a folder."""
        where = {} if file is None else {"file": file}
        return Files(
            tuple(dict.fromkeys((*self.formats, form))),
            self.added + result.added,
            self.known + result.known,
            (*self.skipped, *({**line._asdict(), **where} for line in result.skipped)),
            self.days.union(result.days),
            result.commit or self.commit,
            self.commits + result.commits,
            tuple(dict.fromkeys((*self.notices, *result.notices))),
        )

    def without(self, file: str, reason: str) -> Files:
        """These files, and one that was left out."""
        return self._replace(skipped=(*self.skipped, {"line": 0, "reason": reason, "file": file}))


def ingest(
    call: Call,
    file: Annotated[
        str, FILE._replace(help="A transcript, an export, notes, a folder of transcripts, or - for stdin.")
    ],
    format_: Annotated[str, Parameter("One of {choices}.", ("--format", "-f"), default=AUTO, choices=FORMATS)],
    session: Annotated[str | None, Parameter("The session of messages without one.", ("--session",))],
    speaker: Annotated[str | None, Parameter("The speaker of user messages without one.", ("--speaker",))],
    role: Annotated[str, Parameter("The role of plain text.", ("--role",), default="note", choices=EVENT_ROLES)],
    source: Annotated[str | None, Parameter("The name of the source (default: the file name).", ("--source",))],
    trust: Annotated[
        str,
        Parameter("The highest trust level of the events: {choices}.", ("--trust",), default="user", choices=TRUSTS),
    ],
    since: Annotated[
        str | None, Parameter("Only messages from this day or time on, and files changed since.", ("--since",))
    ],
    project: Annotated[
        str | None, Parameter("The project of messages without one, such as the git remote.", ("--project",))
    ],
) -> Answer:
    """Events are stored verbatim and only once: a second import of the same file adds nothing. Of a folder, each .jsonl
    and .json file in it and below is read. Lines that are not a message are skipped and listed, and the exit code is
    then 4."""
    check_format(format_)
    check_choice(role, "role", EVENT_ROLES)
    check_choice(trust, "trust level", TRUSTS)
    wish = Wish(
        format_,
        session and check_statement(session, "session"),
        speaker and check_statement(speaker, "speaker"),
        role,
        source and check_statement(source, "source"),
        None if trust == "user" else trust,
        None if since is None else begin_instant(parse_start(since, call.runtime.now())),
        project and check_statement(project, "project"),
    )
    call.runtime.takes_in = True
    files = _read(call, file, wish)
    data = {"format": ", ".join(files.formats) or "none", **data_of(files, days=sorted(files.days))}
    del data["formats"]
    lines = [f"{counted(files.added, 'event')} added, {files.known} already known, {len(files.skipped)} skipped"]
    lines += [] if files.commit else ["nothing changed; no commit was made"]
    if Path(file).name in RULE_FILES:
        lines.append(f"to make each of its bullets a rule in force: clawmem import {quote(file)}")
    return Answer(data, lines, [*files.notices, *_skipped_notices(files.skipped)], PARTIAL if files.skipped else DONE)


class BytesRead:
    """Reports how many bytes of some files were read; the total is None for stdin."""

    def __init__(self, report: OnProgress | None, paths: Sequence[Path] | None) -> None:
        self._report = report
        self._done = 0
        self._total = sum(path.stat().st_size for path in paths if path.exists()) / _MB if paths and report else None

    def counted(self, pieces: Iterator[bytes]) -> Iterator[bytes]:
        """Yield the pieces of a file."""
        return self._counted(pieces, self._report) if self._report else pieces

    def _counted(self, pieces: Iterator[bytes], report: OnProgress) -> Iterator[bytes]:
        for piece in pieces:
            report(Progress("reading", self._done / _MB, self._total, "MB"))
            yield piece
            self._done += len(piece)
        report(Progress("reading", self._done / _MB, self._total, "MB"))


def _read(call: Call, file: str, wish: Wish) -> Files:
    """Ingest a file, or each transcript in a folder."""
    with call.progress() as report:
        if file == "-" or not Path(file).is_dir():
            counter = BytesRead(report, None if file == "-" else [Path(file)])
            return Files().plus(*_ingested(call, file, wish, counter), None)
        since = moment_of(wish.since).timestamp() if wish.since else None
        every = [path for path in Path(file).rglob("*") if path.is_file()]
        found = [path for path in every if path.suffix in (".jsonl", ".json")]
        others = sum(path.suffix.lower() in (*PAGES, *INGESTED) for path in every)
        takes = f"`clawmem import {quote(file)}` takes Markdown (plain pages: --format notes)"
        hint = f"{takes}, `clawmem ingest FILE` the rest."
        if others and not found:
            raise InvalidInput(f"{file} has no transcript (.jsonl or .json).", hint)
        paths = sorted(path for path in found if since is None or path.stat().st_mtime >= since)
        files = _read_folder(call, Path(file), paths, wish, BytesRead(report, paths))
        rest = (f"{counted(others, 'other file')} not read: {hint}",) if others else ()
        return files._replace(notices=(*files.notices, *rest))


def _read_folder(call: Call, folder: Path, paths: Sequence[Path], wish: Wish, counter: BytesRead) -> Files:
    files = Files()
    for path in paths:
        name = path.relative_to(folder).as_posix()
        try:
            files = files.plus(*_ingested(call, str(path), wish, counter), name)
        except (InvalidInput, NotFound) as problem:
            files = files.without(name, problem.message.rstrip("."))
    return files


def _ingested(call: Call, file: str, wish: Wish, counter: BytesRead) -> tuple[str, IngestResult]:
    """Ingest one file; returns its format as well."""
    name = check_statement(wish.source or ("stdin" if file == "-" else file.rsplit("/", 1)[-1]), "source")
    with opened(call, file) as o:
        head = o.read(HEAD_BYTES)
        kind = kind_of(head, file.rsplit("/", 1)[-1]) if wish.format in (AUTO, DOCUMENT) else None
        shape = FileFormat(DOCUMENT, False) if kind else shape_of(head, name, wish.format, wish.role)
        o.seek(0)
        pieces = counter.counted(_pieces(o, shape))
        document = read_document(call, b"".join(islice(pieces, _MOST_BLOCKS)), kind, name) if kind else None
        found = read_document_text(document, wish.role, name) if document else read(shape, pieces, name, wish.role)
        caller = call.runtime.caller()
        # In the shell of another agent, the name of the program is only what that agent says.
        named = caller.agent if caller.shell in (None, caller.agent) else None
        held_with = next((name for name, forms in TRANSCRIPTS.items() if shape.format in forms), None)
        wish = wish._replace(harness=None if held_with == caller.agent else held_with)
        by_program = named is not None and HANDED_IN.get(named) == shape.format
        result = act(call.runtime.vault(), _named(found, wish), caller._replace(unattended=by_program), name)
    result = result._replace(notices=(*result.notices, *(document.notices if document else ())))
    return shape.format, result


def ingest_transcript(vault: Vault, path: Path, harness: str, project: str | None, caller: Caller) -> IngestResult:
    """Ingest the transcript of a harness, whose messages get that project. Raise InvalidInput unless it is a regular
    file in a format of the harness; a program of one's own may use each format with records. Only for an
    `unattended` caller, what the user says in it is the user's."""
    wish = Wish(AUTO, caller.session, None, "user", None, None, None, project)
    with open_regular(path) as o:
        shape = shape_of(o.read(HEAD_BYTES), path.name, AUTO)
        if shape.format not in TRANSCRIPTS.get(harness, RECORDS):
            raise InvalidInput(f"{path.name} is no transcript of {harness}.", "Name it to `clawmem ingest` yourself.")
        o.seek(0)
        return act(vault, _named(read(shape, _pieces(o, shape), path.name), wish), caller, path.name)


def _pieces(o: IO[bytes], shape: FileFormat) -> Iterator[bytes]:
    return _lines(o) if shape.by_line else iter(lambda: o.read(_BLOCK_BYTES), b"")


def _lines(o: IO[bytes]) -> Iterator[bytes]:
    """The lines. A line that is longer than a record may be is cut; the rest is skipped."""
    while line := o.readline(RECORD_BYTES + 1):
        yield line
        while len(line) > _BLOCK_BYTES and not line.endswith(b"\n"):
            line = o.readline(len(line))


def _named(found: Iterator[Message | SkippedLine], wish: Wish) -> Iterator[Message | SkippedLine]:
    for line in found:
        if isinstance(line, SkippedLine):
            yield line
            continue
        if wish.since and line.timestamp and line.timestamp < wish.since:
            continue
        spoken = line.role in ("user", "note") and not is_low_trust(line.trust or trust_of_source(line.source or ""))
        about = line.metadata
        if wish.project:
            about = {"project": wish.project, **(about or {})}
        if wish.harness:
            about = {**(about or {}), HARNESS: wish.harness}
        yield line._replace(
            session=line.session or wish.session,
            speaker=line.speaker or (wish.speaker if spoken else None),
            trust=least_trust(line.trust, wish.most),
            metadata=about,
        )


def _skipped_notices(skipped: Sequence[Mapping[str, Any]]) -> list[str]:
    sentences = [f"{_place(record)} was skipped: {record['reason']}" for record in skipped[:_SHOWN]]
    if len(skipped) > _SHOWN:
        more = len(skipped) - _SHOWN
        was = "was" if more == 1 else "were"
        sentences.append(f"{counted(more, 'more line')} {was} skipped; --json lists them all")
    return sentences


def _place(record: Mapping[str, Any]) -> str:
    if "file" not in record:
        return f"line {record['line']}"
    return f"line {record['line']} of {record['file']}" if record["line"] else str(record["file"])


VERB = Command(
    ingest,
    {"format": str, "...": IngestResult, "skipped": [{"line": int, "reason": str, "file?": str}], "commits": int},
    (
        "clawmem ingest chat.jsonl",
        "pbpaste | clawmem ingest - --source 'meeting notes'",
        "clawmem ingest ~/.claude/projects/-home-ada-site/4f1c.jsonl",
    ),
)
