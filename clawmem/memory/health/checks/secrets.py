"""Search files for credentials. In a large vault the search has a time limit and reports the skipped files."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator

from clawmem.errors import ClawmemError
from clawmem.memory.health.checks.problem import WARNING, HealthProblem
from clawmem.memory.health.checks.reading import VaultContent
from clawmem.model.kinds import AT_INGEST, LOG, handling
from clawmem.model.safety.secrets.find import find_secrets
from clawmem.vault.vault import Vault

SEARCH_SECONDS = 5.0
# The time limit is checked after this many bytes.
_CHUNK_BYTES = 1 << 20
_MAX_PER_FILE = 3


class VaultSecretSearch:
    """Searches files one by one for at most `seconds` (None: no limit). `skipped` are the files that were left out."""

    def __init__(self, seconds: float | None = SEARCH_SECONDS) -> None:
        self._end = None if seconds is None else time.monotonic() + seconds
        self.skipped: list[str] = []

    def search(self, vault: Vault, paths: Iterable[str]) -> Iterator[HealthProblem]:
        """Yield the first credentials in each file. Unreadable files are reported elsewhere."""
        for path in paths:
            try:
                data = vault.read(path)
            except (ClawmemError, OSError):
                continue
            yield from self._look_at(path, data or b"")

    def _look_at(self, path: str, data: bytes) -> Iterator[HealthProblem]:
        found = start = lines = 0
        for end in _chunk_ends(data):
            if self._end is not None and time.monotonic() > self._end:
                self.skipped.append(path)
                return
            # Events have foreign ids, which may look like credentials.
            text = data[start:end].decode(errors="replace")
            for match in find_secrets(text, unnamed=handling(path).secrets != AT_INGEST):
                found += 1
                if found > _MAX_PER_FILE:
                    return
                line = lines + text.count("\n", 0, match.start) + 1
                yield HealthProblem(WARNING, "secret", path, line, f"This looks like a credential ({match.rule}).")
            start, lines = end, lines + text.count("\n")

    def notices(self) -> list[str]:
        """Return a notice for the skipped files."""
        if not self.skipped:
            return []
        more = f" and {len(self.skipped) - 1:,} other files" if len(self.skipped) > 1 else ""
        left = f"not all of {self.skipped[0]}{more} was searched for credentials, because of the time limit"
        return [f"{left}; `clawmem doctor --full` searches everything"]


def _chunk_ends(text: bytes) -> Iterator[int]:
    """Yield the ends of chunks of whole lines."""
    end = 0
    while end < len(text):
        end = text.find(b"\n", end + _CHUNK_BYTES) + 1 or len(text)
        yield end


def files_to_search(reading: VaultContent) -> list[str]:
    """Return the files to search, ledgers last. Facts and proposals are checked one by one elsewhere."""
    known = {one.path for one in reading.facts} | {one.path for one in reading.filed}
    paths = (path for path in reading.tree.owned if path not in known - reading.broken)
    return sorted(paths, key=lambda path: handling(path).owner == LOG)
