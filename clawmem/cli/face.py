"""How clawmem speaks: the payload on stdout, talk on stderr, or one JSON document for everything."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, TextIO

from clawmem.errors import DONE, PARTIAL, IncompleteAnswer
from clawmem.model.language.text import visible
from clawmem.runtime import Runtime, from_process

SCHEMA_VERSION = 1
_ERASE = "\r\x1b[K"


class Drawn(str):
    """A line that was drawn here, with the terminal's escapes; what it shows of the vault was made visible before."""


class Face:
    """One command's voice: its options that all verbs share, its runtime, its output."""

    def __init__(self, runtime: Runtime, as_json: bool = False, quiet: bool = False) -> None:
        self.runtime = runtime
        self.as_json = as_json
        self.quiet = quiet

    @classmethod
    def of(cls, ctx: Any) -> Face:
        """The face for a command's context."""
        meta = ctx.meta
        runtime = from_process(meta.get("clawmem.vault"), meta.get("clawmem.agent"))
        return cls(runtime, bool(meta.get("clawmem.json")), bool(meta.get("clawmem.quiet")))

    def done(
        self,
        data: Any,
        lines: Iterable[str] = (),
        notices: Sequence[str] = (),
        exit_code: int = DONE,
        talk: Sequence[str] = (),
    ) -> int:
        """Give the result: `data` as JSON, or `lines` for people; `notices` are asides, and `talk` what the data says
        by itself, such as that nothing was found. Returns the command's exit code: PARTIAL in place of DONE where a
        notice says what the result lacks."""
        notices = (*notices, *self.runtime.settings_notices())
        if exit_code == DONE and any(isinstance(one, IncompleteAnswer) for one in notices):
            exit_code = PARTIAL
        if self.as_json:
            return document({"ok": True, "data": data, "notices": list(notices)}, exit_code)
        # What keeps a command from being done is no aside: whoever asked for quiet has to know it, too.
        self.notice(*notices, *talk, needed=exit_code != DONE)
        return say("".join(f"{line if isinstance(line, Drawn) else visible(line)}\n" for line in lines), exit_code)

    def table(self, columns: Sequence[str], rows: Sequence[Sequence[str]]) -> Iterable[str]:
        """Lines of a table: drawn by Rich on a terminal, tab separated for everything else."""
        if not self.fancy():
            return ["\t".join(row) for row in rows]
        from clawmem.cli.paint import table  # Rich costs as much as all the rest: only on a terminal

        return map(Drawn, table(columns, [[visible(cell) for cell in row] for row in rows]))

    def notice(self, *sentences: str, needed: bool = False) -> None:
        """Say something on stderr that is not the payload; with --quiet only what is needed."""
        if not self.as_json and (needed or not self.quiet):
            for sentence in sentences:
                tell(f"note: {sentence}\n")

    @contextmanager
    def progress(self) -> Iterator[Callable[[str], None] | None]:
        """What shows how far a long command is: in one line of a terminal's stderr, which is gone in the end, and None
        anywhere else."""
        dumb = self.runtime.environment.get("TERM") == "dumb"
        if self.quiet or self.as_json or dumb or not sys.stderr.isatty():
            yield None
            return
        try:
            yield lambda words: _draw(_ERASE + visible(words.strip()))
        finally:
            _draw(_ERASE)

    def fancy(self) -> bool:
        """Whether stdout is a terminal that may be drawn on."""
        environment = self.runtime.environment
        return sys.stdout.isatty() and "NO_COLOR" not in environment and environment.get("TERM") != "dumb"


def document(body: dict[str, Any], exit_code: int) -> int:
    """Write the one JSON document of a command; returns its exit code."""
    import json

    # A terminal may be reading, and an encoding may lack a letter: both get the escapes that JSON has for it.
    every = not (sys.stdout.encoding or "").lower().startswith("utf")
    text = json.dumps({"schema_version": SCHEMA_VERSION, **body}, ensure_ascii=every)
    return say(f"{visible(text)}\n", exit_code)


def say(text: str, exit_code: int = DONE) -> int:
    """Write to stdout and return the command's exit code: PARTIAL in place of DONE where it could not be written.

    What was done is done by now: where only its account fails, that must not look like a failure of the act.
    """
    try:
        sys.stdout.write(text)
        sys.stdout.flush()
    except BrokenPipeError:
        _let_go(sys.stdout)  # the reader has heard enough
    except OSError as problem:
        _let_go(sys.stdout)
        tell(f"error: The result could not be written: {problem.strerror}. What the command did stands.\n")
        tell("hint: Do not run a change again: `clawmem log` shows whether it was made.\n")
        return exit_code or PARTIAL
    return exit_code


def tell(text: str) -> None:
    """Write to stderr, if anybody can be reached there; if not, the exit code still speaks."""
    _draw(visible(text))


def _draw(text: str) -> None:
    try:
        sys.stderr.write(text)
        sys.stderr.flush()
    except OSError:
        _let_go(sys.stderr)


def _let_go(stream: TextIO) -> None:
    """Send what the stream still holds nowhere: it would fail again at the end of the process."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())
