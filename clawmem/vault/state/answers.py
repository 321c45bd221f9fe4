"""Answers of models that were kept: `.git/clawmem/answers/`, one file for each, the oldest deleted first.

They save money and hold nothing that is known only here. A redaction deletes them.
"""

from __future__ import annotations

from contextlib import suppress

from clawmem.errors import ClawmemError
from clawmem.vault.vault import Vault

FOLDER = "answers"
# The most answers, and the most bytes of their texts.
MAX_ANSWERS, MAX_BYTES = 500, 8_000_000


class KeptAnswers:
    """The kept answers of a vault: at most `most`, and at most MAX_BYTES of text."""

    def __init__(self, vault: Vault, most: int = MAX_ANSWERS) -> None:
        self._vault = vault
        self._folder = vault.state / FOLDER
        self._most = most

    def get(self, key: str) -> str | None:
        """Return the text of an answer, or None. `key` is a file name."""
        try:
            data = self._vault.disk.read(self._folder / key)
        except (OSError, ClawmemError):
            return None
        return None if data is None else data.decode(errors="replace")

    def put(self, key: str, text: str) -> None:
        """Keep the text of an answer. A full disk is no failure: the answer is used all the same."""
        with suppress(OSError, ClawmemError):
            self._vault.prepare_state()
            self._folder.mkdir(mode=0o700, exist_ok=True)
            self._vault.disk.replace(self._folder / key, text.encode(), self._vault.state)
            self._delete_oldest()

    def _delete_oldest(self) -> None:
        found = sorted(((path.stat(), path) for path in self._folder.iterdir()), key=lambda pair: -pair[0].st_mtime_ns)
        size = 0
        for number, (status, path) in enumerate(found, 1):
            size += status.st_size
            if number > self._most or size > MAX_BYTES:
                path.unlink(missing_ok=True)
