"""Extraction of propositions from events, by rules or by a model."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any, NamedTuple

from clawmem.errors import ClawmemError
from clawmem.learning.attribution.quoted import limit_trust
from clawmem.learning.by_model.telemetry import model_run
from clawmem.learning.reconciling.round_state import LearningCandidate
from clawmem.learning.rules import rules
from clawmem.model.facts.catalog import Catalog
from clawmem.model.proposals.para import Proposition
from clawmem.model.records.access import Grant
from clawmem.model.records.event import Event
from clawmem.vault.state.reading_state import ReadingState
from clawmem.vault.vault import Vault

RULES = "rules"


class Extraction(NamedTuple):
    """The result of extraction.

    Without a `model` the rules read all events. Otherwise `found` maps event ids to the model's propositions, all other
    events wait, and those that only the rules have read are read again. `telemetry` is the event that records the model
    run, `problem` the reason why the model read only a part, `dropped` the number of dropped facts by reason, and
    `rejected` these facts. Only some propositions of an `unfinished` event are known, so it waits. `progress` is stored
    after the commit. `passed` are the events that count as read beside those found, those `again` had been set aside,
    and `workflow` is stored with each fact. `forget` maps the events that ask to forget something to the ids of the
    facts that they mean. `lines` tell messages alone, `marks` say for whom they are, and `grants` what messages grant.
    """

    model: str | None = None
    found: Mapping[str, tuple[Proposition, ...]] = {}
    telemetry: Event | None = None
    problem: ClawmemError | None = None
    dropped: Mapping[str, int] = {}
    notices: tuple[str, ...] = ()
    unfinished: frozenset[str] = frozenset()
    progress: ReadingState | None = None
    rejected: tuple[LearningCandidate, ...] = ()
    passed: frozenset[str] = frozenset()
    workflow: str = ""
    again: frozenset[str] = frozenset()
    forget: Mapping[str, tuple[str, ...]] = {}
    lines: tuple[Event, ...] = ()
    marks: tuple[Event, ...] = ()
    grants: tuple[Grant, ...] = ()

    @property
    def by_rules(self) -> bool:
        """Return whether the rules read the events."""
        return self.model is None

    @property
    def extractor(self) -> str:
        """Return the name of the extractor: the model, or `rules`."""
        return self.model or RULES

    @property
    def run(self) -> Mapping[str, Any] | None:
        """Return the record of the model run, or None if no model was called."""
        return model_run(self.telemetry) if self.telemetry else None

    def covers(self, event: Event) -> bool:
        """Return whether the event was read completely, or will be read by the rules."""
        found = event.id in self.found and event.id not in self.unfinished
        return self.by_rules or found or event.id in self.passed

    def propositions(self, event: Event, catalog: Catalog, speakers: Collection[str]) -> tuple[Proposition, ...]:
        """Return the propositions of the event. A model's proposition without exact evidence is left out."""
        if event.id not in self.found:
            return rules.extract(event, catalog, speakers)
        found = (
            proposition
            for proposition in self.found[event.id]
            if event.text[slice(*proposition.span)] == proposition.source_text
        )
        return limit_trust(event, tuple(found), by_reader=True)


BY_RULES = Extraction()


def ledger_paths(vault: Vault, days: Collection[str] | None) -> list[str]:
    """Return the vault paths of the ledger files of these days, or of all days, oldest first."""
    found = sorted((vault.root / "ledger").glob("*.jsonl"))
    return [f"ledger/{path.name}" for path in found if days is None or path.stem in days]
