"""What went wrong, as one of clawmem's own errors: a message, a hint, a code and an exit code for every exception."""

from __future__ import annotations

import errno
import os

from clawmem.errors import BUG, ClawmemError, StorageFailed

_READ_ONLY = "Reads still work; a change needs a writable disk and write permission."
# SQLite error codes: no permission, busy, locked, no memory, read only, I/O error, damaged, full, cannot open,
# protocol, no database.
_SQLITE_STORAGE_ERRORS = frozenset((3, 5, 6, 7, 8, 10, 11, 13, 14, 15, 26))


class Bug(ClawmemError):
    """An exception that clawmem does not expect."""

    code = "bug"
    exit_code = BUG


def explained(problem: Exception) -> ClawmemError:
    """The error that reports an exception, without texts that look like a credential."""
    from clawmem.model.safety.secrets.find import redact  # only where something failed

    found = _explained(problem)
    found.message, found.hint = redact(found.message), redact(found.hint)
    return found


def _explained(problem: Exception) -> ClawmemError:
    if isinstance(problem, ClawmemError):
        return problem
    if isinstance(problem, OSError):
        return _storage(problem)
    if getattr(problem, "sqlite_errorcode", 0) & 0xFF in _SQLITE_STORAGE_ERRORS:
        words = f"The search index cannot be used: {problem}."
        return StorageFailed(words, "Run `clawmem reindex`, then the command again.")
    return _bug(problem)


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


def _bug(problem: Exception) -> Bug:
    import traceback

    place = traceback.extract_tb(problem.__traceback__)[-1]
    where = f"{os.path.basename(place.filename)}:{place.lineno}"  # noqa: PTH119
    if "CLAWMEM_TRACEBACK" in os.environ:
        traceback.print_exception(problem)
    return Bug(
        f"clawmem has a bug: {type(problem).__name__}: {problem} (at {where}).",
        "Set CLAWMEM_TRACEBACK=1 to see the traceback, and please report the bug.",
    )
