"""The entry point: `clawmem` and `python -m clawmem`."""

from __future__ import annotations

import gc
import sys


def main() -> None:
    """Run one command and end the process with its exit code."""
    # Importing makes many objects and no garbage: collecting meanwhile costs a tenth of a short command.
    gc.disable()
    from clawmem.cli.app import run

    sys.exit(run(sys.argv[1:]))


if __name__ == "__main__":
    main()
