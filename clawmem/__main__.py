"""The entry point: `clawmem` and `python -m clawmem`."""

from __future__ import annotations

import gc
import io
import os
import sys

TYPE_CHECKING = False  # loading `typing` takes a tenth of the hook that a server answers
if TYPE_CHECKING:
    from pathlib import Path


def main() -> None:
    """Run one command and end the process with its exit code."""
    # Importing makes many objects and no garbage: collecting meanwhile costs a tenth of a short command.
    gc.disable()
    _settle_streams()
    if sys.argv[1:2] == ["merge-driver"]:
        # git calls it once for every file: it needs no command line.
        _leave(_merge_driver(sys.argv[2:]))
    if sys.argv[1:2] == ["hook"]:
        from clawmem.faces.prompt_hook import answered_by_server

        if answered_by_server(sys.argv[1:]):
            _leave(0)
    from clawmem.extension import Accepted
    from clawmem.faces.cli.plain import run_plain

    Accepted.folder = _user_folder
    code = run_plain(sys.argv[1:])
    if code is None:
        from clawmem.faces.cli.app import run  # with Typer, whose import takes longer than a search

        code = run(sys.argv[1:])
    # A hook that fails must not stop the agent: some harnesses take any other exit code as an order to stop.
    _leave(0 if sys.argv[1:2] == ["hook"] else code)


def _user_folder() -> Path:
    """The user's configuration folder, with the list of accepted extensions; an agent uses none that was planted."""
    from clawmem.runtime import runtime_of
    from clawmem.vault.git.acceptance import user_folder

    return user_folder(runtime_of(sys.argv[1:]).environment)


def _merge_driver(arguments: list[str]) -> int:
    """Merge BASE and THEIRS into OURS by the rules for PATH."""
    from clawmem.errors import USAGE
    from clawmem.vault.git.merge_driver import merge_for_git

    if len(arguments) != 4:
        sys.stderr.write("usage: clawmem merge-driver BASE OURS THEIRS PATH (git calls this; see docs/sync.md)\n")
        return USAGE
    base, ours, theirs, path = arguments
    return merge_for_git(base, ours, theirs, path, os.environ)


def _settle_streams() -> None:
    """Let no stream stand in the way: one that is closed becomes a silent one, and letters that the encoding lacks
    are written as escapes."""
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            # The next file to be opened would get the stream's number, and what git says would go into it.
            setattr(sys, name, open(os.devnull, mode))  # noqa: SIM115, PTH123
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="backslashreplace")


def _leave(code: int) -> None:
    """End the process without taking every module apart, which costs a tenth of a short command as well."""
    import atexit

    threads = sys.modules.get("threading")
    if threads is not None and threads.active_count() > 1:
        sys.exit(code)
    atexit._run_exitfuncs()
    os._exit(code)


if __name__ == "__main__":
    main()
