"""The error boundary: every failure is reported here, as text or JSON, with its exit code.

It is imported only after a failure (`clawmem.faces.cli.terminal.bounded`).
"""

from __future__ import annotations

from collections.abc import Sequence

from clawmem.errors import INTERRUPTED, REFUSED
from clawmem.faces.cli.terminal import document, tell
from clawmem.faces.parts.failures import explained


def reported(arguments: Sequence[str], problem: Exception | KeyboardInterrupt) -> int:
    """Report a failure; returns its exit code."""
    if isinstance(problem, KeyboardInterrupt):
        return failed(arguments, "interrupted", INTERRUPTED, "Interrupted.", "")
    found = explained(problem)
    notes = getattr(found, "__notes__", ())
    return failed(arguments, found.code, found.exit_code, found.message, found.hint, notes)


def failed(
    arguments: Sequence[str], code: str, exit_code: int, message: str, hint: str, notices: Sequence[str] = ()
) -> int:
    """Report a failure after its notices, without texts that look like a credential; returns its exit code."""
    from clawmem.model.safety.secrets.find import redact  # only where something failed

    message, hint = redact(message), redact(hint)
    if "--json" in arguments:
        error = {"code": code, "message": message, "hint": hint}
        return document({"ok": False, "error": error, "notices": list(notices)}, exit_code or REFUSED)
    for notice in () if "--quiet" in arguments else notices:
        tell(f"note: {notice}\n")
    tell(f"error: {message}\n" + (f"hint: {hint}\n" if hint else ""))
    return exit_code or REFUSED
