"""Credentials in files, wherever they stand; in a large vault the search ends in time and says what it left out."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator

from clawmem.errors import ClawmemError
from clawmem.memory.health.checks.problem import WARNING, HealthProblem
from clawmem.memory.health.checks.reading import VaultContent
from clawmem.model.records.layout import is_ledger
from clawmem.model.safety.secrets.find import find_secrets
from clawmem.vault.vault import Vault

SEARCH_SECONDS = 5.0
# So many bytes are looked at before the clock is.
_CHUNK_BYTES = 1 << 20
_MAX_PER_FILE = 3


class SecretSearch:
    """Looks through one file after the other, for so many seconds (None: to the end); `left` are the files for which
    they did not suffice."""

    def __init__(self, seconds: float | None = SEARCH_SECONDS) -> None:
        self._end = None if seconds is None else time.monotonic() + seconds
        self.skipped: list[str] = []

    def search(self, vault: Vault, paths: Iterable[str]) -> Iterator[HealthProblem]:
        """The first credentials in each file; what cannot be read is told elsewhere."""
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
            # Events have ids of others' making, which may look as random as a credential.
            text = data[start:end].decode(errors="replace")
            for match in find_secrets(text, unnamed=not is_ledger(path)):
                found += 1
                if found > _MAX_PER_FILE:
                    return
                line = lines + text.count("\n", 0, match.start) + 1
                yield HealthProblem(
                    WARNING, "secret", path, line, f"Here is what looks like a credential ({match.rule})."
                )
            start, lines = end, lines + text.count("\n")

    def notices(self) -> list[str]:
        """What to say of the files that were left out."""
        if not self.skipped:
            return []
        more = f" and {len(self.skipped) - 1:,} other files" if len(self.skipped) > 1 else ""
        left = f"not all of {self.skipped[0]}{more} was searched for credentials, as that takes long"
        return [f"{left}; `clawmem doctor --full` searches everything"]


def _chunk_ends(text: bytes) -> Iterator[int]:
    """Where pieces of whole lines end."""
    end = 0
    while end < len(text):
        end = text.find(b"\n", end + _CHUNK_BYTES) + 1 or len(text)
        yield end


def files_to_search(reading: VaultContent) -> list[str]:
    """Every file but those whose facts or proposals were looked at one by one, ledgers last."""
    known = {one.path for one in reading.facts} | {one.path for one in reading.filed}
    return sorted((path for path in reading.tree.owned if path not in known - reading.broken), key=is_ledger)
