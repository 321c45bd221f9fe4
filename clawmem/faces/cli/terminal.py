"""The output of the command line: the result on stdout, remarks on stderr, or one JSON document for everything."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import IO, TYPE_CHECKING, Any, TextIO, TypeVar

from clawmem.errors import DONE, PARTIAL, ClawmemError, InvalidInput, NotPermitted, Refused
from clawmem.faces.cli.display import DrawnAs, checked_color, display_of, terminal_columns
from clawmem.faces.parts.command import Answer, Call, Command, Feed, InnerRun, Stream, Table, check_person
from clawmem.model.language.text import visible
from clawmem.runtime import Runtime, from_process

if TYPE_CHECKING:
    from clawmem.faces.parts.shapes import Selection
    from clawmem.model.progress import OnProgress

SCHEMA_VERSION = 1
_EDITOR_HINT = "Set EDITOR to the command of an editor that ends when the file is closed."
ExitCode = TypeVar("ExitCode", int, int | None)


class Terminal(Call):
    """One command's call from the command line: its runtime, and what a person at a terminal sees and is asked."""

    def __init__(self, runtime: Runtime, as_json: bool = False, quiet: bool = False) -> None:
        super().__init__(runtime)
        self.selection: Selection | None = None
        self.drawn_as: DrawnAs | None = None
        self._as_json = as_json
        self._quiet = quiet

    @contextmanager
    def progress(self) -> Iterator[OnProgress | None]:
        """One line on stderr of a terminal with an estimate, removed at the end; None elsewhere."""
        dumb = self.runtime.environment.get("TERM") == "dumb"
        if self._quiet or self._as_json or dumb or not sys.stderr.isatty():
            yield None
            return
        from clawmem.faces.cli.progress import ProgressLine  # only where somebody looks on

        line = ProgressLine(_draw)
        try:
            yield line.report
        finally:
            line.clear()

    def confirmed(self, lines: Iterable[str], question: str) -> bool:
        """Asks on stderr, where stdin is a terminal."""
        return self._asked(lines, question, abort=True)

    def answered(self, lines: Iterable[str], question: str) -> bool:
        """As `confirmed`, where a no ends nothing."""
        return self._asked(lines, question, abort=False)

    def _asked(self, lines: Iterable[str], question: str, abort: bool) -> bool:
        if not sys.stdin.isatty() or self._as_json:
            return False
        import typer  # only where a person is asked

        for line in lines:
            tell(f"{line}\n")
        try:
            return typer.confirm(question, abort=abort, err=True)
        except typer.Abort:
            raise KeyboardInterrupt from None

    def edited(self, text: str) -> str | None:
        """Open `$VISUAL` or `$EDITOR`, where stdin is a terminal; None without a terminal, and with --json."""
        if not sys.stdin.isatty() or self._as_json:
            return None
        from clawmem.programs import edited_text  # only where a person edits

        editor = self.runtime.environment.get("VISUAL") or self.runtime.environment.get("EDITOR") or "vi"
        try:
            saved = edited_text(text, editor)
        except (OSError, ValueError) as problem:
            raise InvalidInput(f"The editor '{editor}' cannot be started: {problem}.", _EDITOR_HINT) from None
        if saved is None:
            raise InvalidInput(f"The editor '{editor}' failed, so nothing was changed.", _EDITOR_HINT)
        return " ".join(saved.split())

    def stdin(self) -> IO[bytes] | None:
        """The process's own, unless it is a terminal."""
        return None if sys.stdin is None or sys.stdin.isatty() else sys.stdin.buffer

    def serve_tools(self) -> int:
        """Serve the tools on stdin and stdout; refuses a terminal, at which no client is."""
        o = self.stdin()
        if o is None or sys.stdout.isatty():
            raise InvalidInput(
                "`clawmem mcp` speaks to a program on stdin and stdout, not to a terminal.",
                "An agent's client starts it: `clawmem setup` tells it how.",
            )
        from clawmem.faces.mcp.server import apart, serve  # only for this verb

        runtime = self.runtime.nearest()
        try:
            state = runtime.vault().state
        except ClawmemError:
            state = None  # each call says what is missing
        with apart(o, sys.stdout.buffer) as (source, out):
            return serve(source, out, runtime.renewed, state)

    def serve_clients(self, host: str, port: int, public_url: str | None, notes: Sequence[str]) -> None:
        """Print the address for clients on stdout, and serve until the end."""
        try:
            from clawmem.faces.mcp.remote import serve  # takes a second
        except ImportError:
            raise Refused(
                "`clawmem mcp --http` needs the official SDK of the protocol, which is not installed.",
                "Install the extra: pip install 'clawmem-vault[remote]'.",
            ) from None

        def started(url: str) -> None:
            say(f"{url}\n")
            self._notice(notes)

        serve(self.runtime, host, port, public_url, started)

    def wants_data(self) -> bool:
        """With --json, --jsonl or --fields."""
        return self._as_json or self.selection is not None

    def serve_pages(self, serve: Callable[[bool, Callable[[str], None]], None]) -> None:
        """Print the address on stdout, which a terminal's browser opens, and serve until the end."""
        person = sys.stdout.isatty()

        def started(address: str) -> None:
            say(f"{address}\n")
            if person and not self._quiet:
                tell("note: The address works once. Ctrl-C ends the dashboard.\n")

        serve(person, started)

    def decide_proposals(self, kind: str | None) -> Answer:
        """Ask on this terminal. With --json nothing can be asked."""
        if sys.platform == "win32":
            raise Refused("On Windows no single keys are read.", "Use `clawmem review approve` and `reject`.")
        from clawmem.faces.cli.review_keys import decide  # only for this verb

        return decide(self.runtime, kind, "--json" if self._as_json else "--jsonl" if self.selection else None)

    def run_inner(self, words: Sequence[str], runtime: Runtime, data: bytes) -> InnerRun:
        """Run a command line of a suite and print nothing."""
        from clawmem.faces.cli.inner import run_inner  # only for suites

        return run_inner(words, runtime, data)

    def give(self, answer: Answer | Feed | Stream) -> int:
        """Print an answer, and return the command's exit code."""
        if isinstance(answer, Feed):
            return self._follow(answer)
        if isinstance(answer, Stream):
            return self._send(answer)
        answer = answer.finished(self.runtime)
        if self._as_json:
            made = answer.made()
            whole = {key: value() if callable(value) else value for key, value in made.items()}
            data = self.selection.data(made) if self.selection else whole
            return document({"ok": True, "data": data, "notices": list(answer.notices)}, answer.exit_code)
        if self.selection:
            answer = answer._replace(lines=self.selection.shown(answer.made()), is_report=False)
        # The reason why a command was not completed is needed, also with --quiet.
        self._notice([*answer.notices, *answer.talk], needed=answer.exit_code != DONE)
        if self._quiet and answer.is_report and answer.exit_code == DONE:
            return DONE
        drawn = self._drawn(answer)
        if drawn is not None:
            return say(drawn, answer.exit_code)
        return say("".join(f"{visible(line)}\n" for line in answer.plain()), answer.exit_code)

    def _follow(self, feed: Feed) -> int:
        """Print each record when it comes, until there are no more, or the reader is gone and nothing depends on it."""
        import json

        every = not (sys.stdout.encoding or "").lower().startswith("utf")
        is_read = True
        for other_record in feed.records:
            if is_read:
                words = feed.words if not self._as_json and not self.selection else None
                record = self.selection.chosen(other_record) if self.selection else other_record
                line = words(other_record) if words else json.dumps(record, ensure_ascii=every)
                is_read = _printed(f"{visible(line)}\n")
            if not is_read and feed.end is None:
                break
        if feed.end is None:
            return DONE
        answer = feed.end().finished(self.runtime)
        self._notice([*answer.notices, *answer.talk], needed=answer.exit_code != DONE)
        return answer.exit_code

    def _send(self, stream: Stream) -> int:
        if self._as_json:
            why = f"The {stream.what} is written to stdout, so --json is not possible."
            raise InvalidInput(why, "Name a file, or leave out --json.")
        if sys.stdout.isatty():
            hint = f"Name a file, or pipe it: clawmem {stream.what} - | ..."
            raise InvalidInput(f"A {stream.what} cannot be written to a terminal.", hint)
        answer = stream.write(sys.stdout.buffer).finished(self.runtime)
        self._notice(answer.notices, needed=answer.exit_code != DONE)
        self._notice([] if isinstance(answer.lines, Table) else answer.lines)
        return answer.exit_code

    def _drawn(self, answer: Answer) -> Iterable[str] | None:
        """The answer as a drawing, or None where its lines are printed."""
        if self.drawn_as is None:
            return None
        verb, record, color = self.drawn_as
        columns = terminal_columns(sys.stdout.fileno()) if sys.stdout.isatty() else None
        display = display_of(self.runtime.environment, color, sys.stdout.encoding, columns)
        if display is None:
            return None
        from clawmem.faces.cli.drawing.canvas import draw  # Rich costs as much as all the rest: only where one looks

        return draw(answer, "" if self.selection else verb, record, display)

    def _notice(self, sentences: Iterable[str], needed: bool = False) -> None:
        if needed or not self._quiet:
            for sentence in sentences:
                tell(f"note: {sentence}\n")


def bounded(arguments: Sequence[str], act: Callable[[], ExitCode]) -> ExitCode:
    """What the act returns, or the exit code of the failure that it met."""
    try:
        return act()
    except (Exception, KeyboardInterrupt) as problem:  # noqa: BLE001 - the boundary reports every one
        from clawmem.faces.cli.boundary import reported  # most commands go well

        return reported(arguments, problem)


def run_command(command: Command, given: Mapping[str, Any], common: Mapping[str, Any], verb: str = "") -> int:
    """Call a command with its values and those of the common options, print its answer, return its exit code. `verb` is
    its name, which an agent must be allowed to use."""
    call = Terminal(from_process(common["vault"], common["agent"], common["viewer"]), common["json"], common["quiet"])
    call.runtime.check_verb(verb)
    color = checked_color(common["color"])
    if common["jsonl"] or common["fields"] is not None:
        from clawmem.faces.parts.shapes import selection

        call.selection = selection(command, common["fields"], common["jsonl"], common["json"])
    values = dict(given)
    for parameter in command.parameters:
        if parameter.stdin and values[parameter.name] == "-":
            from clawmem.faces.parts.reading import stdin_text  # few texts come that way

            values[parameter.name] = stdin_text(call)
    call.drawn_as = DrawnAs(verb, values, color)
    try:
        return _answered(call, command, values, verb)
    except NotPermitted as problem:
        from clawmem.faces.cli.keys import check_answer_of_person  # only where an agent's shell is

        check_answer_of_person(call.runtime.shell(), verb, problem)
        call.runtime = call.runtime.of_person()
        return _answered(call, command, values, verb)


def _answered(call: Terminal, command: Command, values: dict[str, Any], verb: str) -> int:
    check_person(command, verb, values, call.runtime.agent())
    with command.within():
        return call.give(command.function(call, **values))


def _printed(line: str) -> bool:
    """Write a line to stdout; returns whether somebody reads it."""
    try:
        sys.stdout.write(line)
        sys.stdout.flush()
    except BrokenPipeError:
        _discard_output(sys.stdout)
        return False
    return True


def document(body: dict[str, Any], exit_code: int) -> int:
    """Write the one JSON document of a command; returns its exit code."""
    import json

    # A terminal may be reading, and an encoding may lack a letter: both get the escapes that JSON has for it.
    every = not (sys.stdout.encoding or "").lower().startswith("utf")
    text = json.dumps({"schema_version": SCHEMA_VERSION, **body}, ensure_ascii=every)
    return say(f"{visible(text)}\n", exit_code)


def say(text: str | Iterable[str], exit_code: int = DONE) -> int:
    """Write a text, or its pieces as they are made, to stdout and return the command's exit code: PARTIAL in place of
    DONE where it could not be written.

    The command is complete at this point: a failure to print its result must not look like a failure of the command.
    """
    try:
        for piece in (text,) if isinstance(text, str) else text:
            sys.stdout.write(piece)
        sys.stdout.flush()
    except BrokenPipeError:
        _discard_output(sys.stdout)  # the reader closed the pipe
    except OSError as problem:
        _discard_output(sys.stdout)
        tell(f"error: The result could not be written: {problem.strerror}. The changes of the command are kept.\n")
        tell("hint: Do not repeat a change: `clawmem log` shows whether it was made.\n")
        return exit_code or PARTIAL
    return exit_code


def tell(text: str) -> None:
    """Write to stderr if possible; if not, the exit code still reports the result."""
    _draw(visible(text))


def _draw(text: str) -> None:
    try:
        sys.stderr.write(text)
        sys.stderr.flush()
    except OSError:
        _discard_output(sys.stderr)


def _discard_output(stream: TextIO) -> None:
    """Discard what the stream still buffers: writing it would fail again at the end of the process."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())
