"""A reader for tests: it answers each message that waits with the plain statements that patterns read in it.

What a real reader finds goes the same way, through `learn_from`: gate, reconciliation and placement are the real ones.
"""

from __future__ import annotations

from collections.abc import Collection

from clawmem.learning.attribution.sentences import said_by_user
from clawmem.learning.by_model.telemetry import Extraction
from clawmem.learning.learn import LearnResult, learn_from
from clawmem.learning.reconciling.entities import people_of, session_of
from clawmem.learning.rules.rules import statements
from clawmem.learning.unread import after_cursor
from clawmem.model.records.caller import Caller
from clawmem.model.safety.recalled_text import mask_recalled, parts_of
from clawmem.vault.vault import Vault


def learn_plainly(
    vault: Vault, caller: Caller, dry_run: bool = False, model: None = None, days: Collection[str] | None = None
) -> LearnResult:
    """Learn what a reader finds who states plain sentences plainly."""
    user = vault.settings.words("user.name")
    events = [said_by_user(event, user) for event in after_cursor(vault)]
    people = people_of(events)
    found = {}
    for event in events:
        own = event._replace(text=mask_recalled(event.text, parts_of(event.metadata)))
        found[event.id] = statements(own, vault.catalog, tuple(people[session_of(event)]))
    return learn_from(vault, caller, Extraction("plain", found), dry_run, days)
