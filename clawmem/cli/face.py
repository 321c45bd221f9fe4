"""How clawmem speaks: the payload on stdout, talk on stderr, or one JSON document for everything."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Sequence
from typing import Any

from clawmem.errors import DONE
from clawmem.runtime import Runtime, from_process

SCHEMA_VERSION = 1


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

    @classmethod
    def plain(cls, as_json: bool) -> Face:
        """A face for failures that happened before there was a context."""
        return cls(from_process(), as_json)

    def done(self, data: Any, lines: Iterable[str] = (), notices: Sequence[str] = (), exit_code: int = DONE) -> int:
        """Give the result: `data` as JSON, or `lines` for people; `notices` are asides. Returns the exit code."""
        if self.as_json:
            self._document({"ok": True, "data": data, "notices": list(notices)})
        else:
            self.notice(*notices)
            for line in lines:
                sys.stdout.write(line + "\n")
        return exit_code

    def table(self, columns: Sequence[str], rows: Sequence[Sequence[str]]) -> Iterable[str]:
        """Lines of a table: drawn by Rich on a terminal, tab separated for everything else."""
        if not self.fancy():
            return ["\t".join(row) for row in rows]
        from clawmem.cli.paint import table  # Rich costs as much as all the rest: only on a terminal

        return table(columns, rows)

    def notice(self, *sentences: str) -> None:
        """Say something on stderr that is not the payload."""
        if not self.quiet and not self.as_json:
            for sentence in sentences:
                sys.stderr.write(f"note: {sentence}\n")

    def fancy(self) -> bool:
        """Whether stdout is a terminal that may be drawn on."""
        environment = self.runtime.environment
        return sys.stdout.isatty() and "NO_COLOR" not in environment and environment.get("TERM") != "dumb"

    def failed(self, code: str, message: str, hint: str) -> None:
        """Report a failure."""
        if self.as_json:
            self._document({"ok": False, "error": {"code": code, "message": message, "hint": hint}, "notices": []})
            return
        sys.stderr.write(f"error: {message}\n")
        if hint:
            sys.stderr.write(f"hint: {hint}\n")

    def _document(self, body: dict[str, Any]) -> None:
        import json

        sys.stdout.write(json.dumps({"schema_version": SCHEMA_VERSION, **body}, ensure_ascii=False) + "\n")
