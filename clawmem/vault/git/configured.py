"""What the configuration of git says here, the person's and the repository's, several settings read by one git."""

from __future__ import annotations

from clawmem.vault.vault import Vault


def configured(vault: Vault, pattern: str) -> dict[str, str]:
    """The settings whose names match a regular expression (lower case but for names in the middle); the last value of
    each counts."""
    with vault.git.as_person():
        printed = vault.git.try_run("config", "-z", "--get-regexp", pattern)
    rows = (printed or b"").decode(errors="replace").split("\0")
    return {key: value for key, _, value in (row.partition("\n") for row in rows if row)}
