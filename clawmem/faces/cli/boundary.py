"""The error boundary: every failure is reported here, as text or JSON, with its exit code.

It is imported only after a failure (`clawmem.faces.cli.terminal.bounded`).
"""

from __future__ import annotations

import errno
import os
from collections.abc import Sequence

from clawmem.errors import BUG, INTERRUPTED, REFUSED, ClawmemError, StorageFailed
from clawmem.faces.cli.terminal import document, tell

# Codes of errors in what a call asks for; they are not logged.
_OF_THE_CALL = frozenset(
    (
        "refused not_permitted not_found ambiguous_id already_superseded secret invalid_input usage no_vault"
        " interrupted"
    ).split()
)
_READ_ONLY = "Reads still work; a change needs a writable disk and write permission."
# SQLite error codes: no permission, busy, locked, no memory, read only, I/O error, damaged, full, cannot open,
# protocol, no database.
_SQLITE_STORAGE_ERRORS = frozenset((3, 5, 6, 7, 8, 10, 11, 13, 14, 15, 26))


def reported(arguments: Sequence[str], problem: Exception | KeyboardInterrupt) -> int:
    """Report a failure; returns its exit code."""
    if isinstance(problem, KeyboardInterrupt):
        return failed(arguments, "interrupted", INTERRUPTED, "Interrupted.", "")
    if isinstance(problem, OSError):
        problem = _storage(problem)
    if isinstance(problem, ClawmemError):
        notes = getattr(problem, "__notes__", ())
        return failed(arguments, problem.code, problem.exit_code, problem.message, problem.hint, notes)
    if _is_index_error(problem):
        words = f"The search index cannot be used: {problem}."
        return failed(arguments, "storage", REFUSED, words, "Run `clawmem reindex`, then the command again.")
    return _bug(arguments, problem)


def failed(
    arguments: Sequence[str], code: str, exit_code: int, message: str, hint: str, notices: Sequence[str] = ()
) -> int:
    """Report a failure after its notices, without texts that look like a credential; returns its exit code."""
    from clawmem.model.safety.secrets.find import redact  # only where something failed

    message, hint = redact(message), redact(hint)
    if code not in _OF_THE_CALL:
        _log(arguments, code, exit_code or REFUSED, message)
    if "--json" in arguments:
        error = {"code": code, "message": message, "hint": hint}
        return document({"ok": False, "error": error, "notices": list(notices)}, exit_code or REFUSED)
    for notice in () if "--quiet" in arguments else notices:
        tell(f"note: {notice}\n")
    tell(f"error: {message}\n" + (f"hint: {hint}\n" if hint else ""))
    return exit_code or REFUSED


def _log(arguments: Sequence[str], code: str, exit_code: int, message: str) -> None:
    """Add an error to the log of the vault that the command is about, if there is one that can be written."""
    from contextlib import suppress

    from clawmem.model.language.dates import stamp
    from clawmem.runtime import runtime_of
    from clawmem.vault.state.error_log import LoggedError, log_error

    verb = next((word for word in arguments if not word.startswith("-")), "")
    # The error that is reported is the one above, also where there is no vault or the disk takes no record of it.
    with suppress(OSError, ClawmemError):
        runtime = runtime_of(arguments)
        log_error(runtime.vault().state, LoggedError(stamp(runtime.now()), verb, code, exit_code, message))


def _storage(problem: OSError) -> StorageFailed:
    where = f" ({problem.filename})" if problem.filename else ""
    why = problem.strerror or str(problem)
    if problem.errno in (errno.ENOSPC, errno.EDQUOT):
        return StorageFailed(
            f"The disk is full{where}.", "Free some space and run the command again; nothing was lost."
        )
    if problem.errno == errno.EROFS:
        return StorageFailed(f"The vault cannot be written{where}: {why}.", _READ_ONLY)
    if problem.errno in (errno.EACCES, errno.EPERM):
        path = problem.filename
        if path and os.path.exists(path) and not os.access(path, os.R_OK):  # noqa: PTH110
            return StorageFailed(f"There is no permission to read {path}: {why}.", "Grant it with chmod or chown.")
        return StorageFailed(f"The vault cannot be written{where}: {why}.", _READ_ONLY)
    return StorageFailed(f"The system call failed{where}: {why}.", "`clawmem doctor` checks the vault.")


def _is_index_error(problem: Exception) -> bool:
    """Whether SQLite cannot use a file or a disk; False for an invalid statement of clawmem."""
    return getattr(problem, "sqlite_errorcode", 0) & 0xFF in _SQLITE_STORAGE_ERRORS


def _bug(arguments: Sequence[str], problem: Exception) -> int:
    import traceback

    place = traceback.extract_tb(problem.__traceback__)[-1]
    where = f"{os.path.basename(place.filename)}:{place.lineno}"  # noqa: PTH119
    if "CLAWMEM_TRACEBACK" in os.environ:
        traceback.print_exception(problem)
    return failed(
        arguments,
        "bug",
        BUG,
        f"clawmem has a bug: {type(problem).__name__}: {problem} (at {where}).",
        "Set CLAWMEM_TRACEBACK=1 to see the traceback, and please report the bug.",
    )
