"""The one error boundary: whatever goes wrong ends here, in words or as JSON, with its exit code."""

from __future__ import annotations

import errno
import os
import sys
from collections.abc import Callable, Sequence

from clawmem.cli.face import Face
from clawmem.errors import BUG, INTERRUPTED, REFUSED, ClawmemError, StorageFailed


def bounded(arguments: Sequence[str], act: Callable[[], int]) -> int:
    """What the act returns, or the exit code of the failure that it met."""
    try:
        code = act()
        sys.stdout.flush()
        return code
    except BrokenPipeError:
        # The reader of our output has gone: what was done is done, and there is nobody left to tell.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except KeyboardInterrupt:
        return failed(arguments, "interrupted", INTERRUPTED, "Interrupted.", "")
    except ClawmemError as problem:
        return failed(arguments, problem.code, problem.exit_code, problem.message, problem.hint)
    except OSError as problem:
        refused = _storage(problem)
        return failed(arguments, refused.code, refused.exit_code, refused.message, refused.hint)
    except Exception as problem:  # noqa: BLE001 - the boundary: whatever else happens is a bug of ours
        if any(kind.__module__ == "sqlite3" for kind in type(problem).__mro__):
            words = f"The search index cannot be used: {problem}."
            return failed(arguments, "storage", REFUSED, words, "Run `clawmem reindex`, then the command again.")
        return _bug(arguments, problem)


def failed(arguments: Sequence[str], code: str, exit_code: int, message: str, hint: str) -> int:
    """Report a failure; returns its exit code."""
    Face.plain("--json" in arguments).failed(code, message, hint)
    return exit_code or REFUSED


def _storage(problem: OSError) -> StorageFailed:
    where = f" ({problem.filename})" if problem.filename else ""
    if problem.errno == errno.ENOSPC:
        return StorageFailed(
            f"The disk is full{where}.", "Free some space and run the command again; nothing was lost."
        )
    if problem.errno in (errno.EROFS, errno.EACCES, errno.EPERM):
        return StorageFailed(
            f"The vault cannot be written{where}: {problem.strerror}.",
            "Reads still work; a change needs a writable disk and the right to write.",
        )
    return StorageFailed(f"The system refused{where}: {problem.strerror or problem}.", "Run `clawmem doctor`.")


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
        "Set CLAWMEM_TRACEBACK=1 to see all of it, and please report it.",
    )
