"""Extraction by rules: from one event to the propositions in it, with no model and no network."""

from __future__ import annotations

from collections.abc import Collection

from clawmem.model.catalog import Catalog
from clawmem.model.event import Event
from clawmem.model.proposition import Proposition


def extract(event: Event, catalog: Catalog, speakers: Collection[str] = ()) -> tuple[Proposition, ...]:
    """The propositions in one event; `speakers` names the people whose every turn is read in full."""
    return ()
