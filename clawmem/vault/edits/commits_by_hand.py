"""The commits of edits made by hand."""

from __future__ import annotations

from clawmem.vault.vault import Vault

_FORM = "--format=%H %P,%(trailers:key=Clawmem-Op,valueonly,separator=%x2C)"
_BY_HAND = ("", "edit")


def commits_by_hand(vault: Vault, old: str, new: str, folder: str) -> list[tuple[str, str]]:
    """Return the commits between two others in which people edited files of a folder, each with its parent, newest
    first: those of adopted edits, and those that clawmem did not make. Merges are left out. Runs git."""
    printed = vault.git.try_run("log", _FORM, "--no-merges", f"{old}..{new}", "--", folder)
    rows = [line.partition(",") for line in (printed or b"").decode(errors="replace").splitlines()]
    found = [names.split() for names, _, op in rows if op.strip() in _BY_HAND]
    return [(names[0], names[1]) for names in found if len(names) == 2]
