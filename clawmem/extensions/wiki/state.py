"""What the last build of the wiki on this machine wrote: `.git/clawmem/wiki.json`. A build without it is a full one."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import NamedTuple

from clawmem.extensions.wiki.values.page import HandLinks, PageEntry
from clawmem.vault.vault import Vault

STATE = "wiki.json"
_FORM = 2


class WikiState(NamedTuple):
    """The commit and the day of the last build, what it depended on, its pages by entity, and the links that people
    wrote, by page."""

    head: str
    day: str
    basis: str
    pages: Mapping[str, PageEntry]
    by_hand: Mapping[str, HandLinks]


def read_wiki_state(vault: Vault) -> WikiState | None:
    """Return the state of the last build, or None if there is none or the file is invalid."""
    try:
        record = json.loads(vault.disk.read(vault.state / STATE) or b"null")
        if record["form"] != _FORM:
            return None
        pages = {name: PageEntry(*row) for name, row in record["pages"].items()}
        by_hand = {path: HandLinks(*row) for path, row in record["by_hand"].items()}
        return WikiState(str(record["head"]), str(record["day"]), str(record["basis"]), pages, by_hand)
    except (ValueError, TypeError, KeyError):
        return None


def write_wiki_state(vault: Vault, state: WikiState) -> None:
    """Store the state of a build."""
    vault.prepare_state()
    record = {**state._asdict(), "form": _FORM}
    vault.disk.replace(vault.state / STATE, json.dumps(record, ensure_ascii=False).encode(), vault.state)
