"""`clawmem merge-driver`: what git calls for each file that both sides of a merge changed. Not for people."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence

from clawmem.errors import USAGE

_USAGE = "usage: clawmem merge-driver BASE OURS THEIRS PATH (git calls this; see docs/sync.md)\n"


def main(arguments: Sequence[str]) -> int:
    """Merge BASE and THEIRS into OURS by the rules for PATH."""
    from clawmem.vault.git.merge_driver import merge_for_git

    if len(arguments) != 4:
        sys.stderr.write(_USAGE)
        return USAGE
    base, ours, theirs, path = arguments
    return merge_for_git(base, ours, theirs, path, os.environ)
