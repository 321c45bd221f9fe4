"""The page that leads a browser to the dashboard: everybody on the machine can read the arguments of a program, and
only its owner this file, so that no argument holds the token of the login."""

from __future__ import annotations

import os
from html import escape
from pathlib import Path

from clawmem.vault.vault import Vault

_PAGE = '<!doctype html>\n<title>clawmem</title>\n<meta http-equiv="refresh" content="0; url={}">\n'


def write_opening_page(vault: Vault, port: int, address: str) -> Path:
    """Write the page for a port, which only its owner can read, and return its path."""
    vault.prepare_state()
    path = _path(vault, port)
    path.unlink(missing_ok=True)
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
    with os.fdopen(descriptor, "w", encoding="utf-8") as file:
        file.write(_PAGE.format(escape(address)))
    return path


def delete_opening_page(vault: Vault, port: int) -> None:
    """Delete the page for a port, if it is there."""
    _path(vault, port).unlink(missing_ok=True)


def _path(vault: Vault, port: int) -> Path:
    return vault.state / f"dashboard-{port}.html"
