"""Credentials in files, wherever they stand; in a large vault the search ends in time and says what it left out."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator

from clawmem.errors import ClawmemError
from clawmem.memory.health.checks.problem import WARNING, HealthProblem
from clawmem.memory.health.checks.reading import VaultContent
from clawmem.model.kinds import AT_INGEST, LOG, handling
from clawmem.model.safety.secrets.find import find_secrets
from clawmem.vault.vault import Vault

SECONDS = 5.0
# So many bytes are looked at before the clock is.
_PIECE = 1 << 20
_SHOWN = 3


class SecretSearch:
    """Looks through one file after the other, for so many seconds (None: to the end); `left` are the files for which
    they did not suffice."""

    def __init__(self, seconds: float | None = SECONDS) -> None:
        self._end = None if seconds is None else time.monotonic() + seconds
        self.left: list[str] = []

    def look(self, vault: Vault, paths: Iterable[str]) -> Iterator[HealthProblem]:
        """The first credentials in each file; what cannot be read is told elsewhere."""
        for path in paths:
            try:
                data = vault.read(path)
            except (ClawmemError, OSError):
                continue
            yield from self._look_at(path, data or b"")

    def _look_at(self, path: str, data: bytes) -> Iterator[HealthProblem]:
        found = start = lines = 0
        for end in _ends(data):
            if self._end is not None and time.monotonic() > self._end:
                self.left.append(path)
                return
            # Events have ids of others' making, which may look as random as a credential.
            text = data[start:end].decode(errors="replace")
            for match in find_secrets(text, unnamed=handling(path).secrets != AT_INGEST):
                found += 1
                if found > _SHOWN:
                    return
                line = lines + text.count("\n", 0, match.start) + 1
                yield HealthProblem(
                    WARNING, "secret", path, line, f"Here is what looks like a credential ({match.rule})."
                )
            start, lines = end, lines + text.count("\n")

    def notices(self) -> list[str]:
        """What to say of the files that were left out."""
        if not self.left:
            return []
        more = f" and {len(self.left) - 1:,} other files" if len(self.left) > 1 else ""
        left = f"not all of {self.left[0]}{more} was searched for credentials, as that takes long"
        return [f"{left}; `clawmem doctor --full` searches everything"]


def _ends(text: bytes) -> Iterator[int]:
    """Where pieces of whole lines end."""
    end = 0
    while end < len(text):
        end = text.find(b"\n", end + _PIECE) + 1 or len(text)
        yield end


def files_to_search(reading: VaultContent) -> list[str]:
    """Every file but those whose facts or proposals were looked at one by one, ledgers last."""
    known = {one.path for one in reading.facts} | {one.path for one in reading.filed}
    paths = (path for path in reading.tree.owned if path not in known - reading.broken)
    return sorted(paths, key=lambda path: handling(path).owner == LOG)
