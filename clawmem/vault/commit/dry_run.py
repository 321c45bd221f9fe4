"""A transaction for dry runs: it never writes, and needs neither the lock nor write permission."""

from __future__ import annotations

from clawmem.errors import Refused
from clawmem.model.language.text import counted
from clawmem.vault.commit.pending import refuse_interrupted
from clawmem.vault.commit.transaction import Transaction
from clawmem.vault.edits.scan import HandEdits, finish_scan, start_scan

_SHOWN = 3


class DryRun(Transaction):
    """What a transaction would see, as of HEAD. Files edited by hand are named and not read."""

    def begin(self, eager: bool = False) -> None:
        """Find the files that differ from HEAD."""
        refuse_interrupted(self.vault)
        edited = finish_scan(self.vault, start_scan(self.vault))
        head = self.vault.head().commit
        self._committed = self.vault.contents_at(head, edited) if head and edited else {}
        if edited:
            names = ", ".join(edited[:_SHOWN]) + (f" and {len(edited) - _SHOWN} more" if len(edited) > _SHOWN else "")
            self.notices.append(
                f"{counted(len(edited), 'file')} edited by hand would be committed first,"
                f" which a dry run does not do: {names}"
            )

    def read(self, path: str) -> bytes | None:
        """Return a file as of HEAD."""
        return self._committed[path] if path in self._committed else self.read_set.read(path)

    def adopt(self) -> HandEdits:
        """Return no edits: a dry run does not commit edits made by hand."""
        return HandEdits({}, ())

    def commit(self, changes: object, purpose: str | None = None) -> tuple[str, ...]:
        """Raise Refused, always."""
        raise Refused("A dry run writes nothing.", "Run the command without --dry-run.")
