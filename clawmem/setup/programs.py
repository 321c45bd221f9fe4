"""The command by which other programs start clawmem."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from pathlib import Path


def own_command(environment: Mapping[str, str]) -> tuple[str, ...]:
    """Return the first words of clawmem's command line, with absolute paths: they do not depend on the PATH of the
    program that uses them."""
    interpreter = os.path.abspath(sys.executable)  # noqa: PTH100 - keep the link of a virtual environment
    script = Path(interpreter).with_name("clawmem")
    if script.is_file() and os.access(script, os.X_OK):
        return (str(script),)
    return (interpreter, "-P", "-m", "clawmem")
