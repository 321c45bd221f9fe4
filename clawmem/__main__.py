"""The entry point: `clawmem` and `python -m clawmem`."""

from __future__ import annotations

import gc
import sys


def main() -> None:
    """Run one command and end the process with its exit code."""
    # Importing makes many objects and no garbage: collecting meanwhile costs a tenth of a short command.
    gc.disable()
    if sys.argv[1:2] == ["merge-driver"]:
        # git calls it once for every file: it needs no command line.
        from clawmem.cli.merge_driver import main as merge

        _leave(merge(sys.argv[2:]))
    if sys.argv[1:2] in (["remember"], ["add"]):
        from clawmem.runtime import run_ahead

        run_ahead(sys.argv[2:])
    from clawmem.cli.plain import run_plain

    code = run_plain(sys.argv[1:])
    if code is None:
        from clawmem.cli.app import run  # with Typer, whose import takes longer than a search

        code = run(sys.argv[1:])
    _leave(code)


def _leave(code: int) -> None:
    """End the process without taking every module apart, which costs a tenth of a short command as well."""
    import atexit
    import os

    threads = sys.modules.get("threading")
    if threads is not None and threads.active_count() > 1:
        sys.exit(code)
    atexit._run_exitfuncs()
    try:
        sys.stdout.flush()
        sys.stderr.flush()
    except OSError:
        # Whoever read our output has gone, or its disk is full: leave as Python itself would.
        sys.exit(code)
    os._exit(code)


if __name__ == "__main__":
    main()
