"""The rehearsal: a transaction that never writes, for dry runs. It needs no lock and no right to write."""

from __future__ import annotations

from clawmem.errors import Refused
from clawmem.model.language.text import counted
from clawmem.vault.commit.interrupted import refuse_interrupted
from clawmem.vault.commit.transaction import Transaction
from clawmem.vault.edits.scan import HandEdits, finish_scan, start_scan

_SHOWN = 3


class DryRun(Transaction):
    """What a transaction would see, as HEAD has it: edits made by hand are named and not looked at."""

    def begin(self, eager: bool = False) -> None:
        """Find out which files are not as HEAD has them."""
        refuse_interrupted(self.vault)
        edited = finish_scan(self.vault, start_scan(self.vault))
        head = self.vault.head().commit
        self._committed = self.vault.contents_at(head, edited) if head and edited else {}
        if edited:
            names = ", ".join(edited[:_SHOWN]) + (f" and {len(edited) - _SHOWN} more" if len(edited) > _SHOWN else "")
            self.notices.append(
                f"{counted(len(edited), 'file')} edited by hand would be taken in first; a dry run leaves that: {names}"
            )

    def read(self, path: str) -> bytes | None:
        """A file as HEAD has it."""
        return self._committed[path] if path in self._committed else self.read_set.read(path)

    def adopt(self) -> HandEdits:
        """Nothing: an edit made by hand stays what it is."""
        return HandEdits({}, ())

    def commit(self, changes: object, purpose: str | None = None) -> tuple[str, ...]:
        """Refused, always."""
        raise Refused("A dry run writes nothing.", "Run the command without --dry-run.")
