"""Who reads the events, rules or a model, and what came of it: what learning goes by."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any, NamedTuple

from clawmem.errors import ClawmemError
from clawmem.learning.attribution.orders import as_trusted
from clawmem.learning.by_model.telemetry import run_of
from clawmem.learning.rules import rules
from clawmem.llm.choice import Model
from clawmem.model.facts.catalog import Catalog
from clawmem.model.proposals.proposition import Proposition
from clawmem.model.records.caller import Caller
from clawmem.model.records.event import Event
from clawmem.vault.state.reading_state import ReadingState
from clawmem.vault.vault import Vault

RULES = "rules"


class Extraction(NamedTuple):
    """What was read. `found` holds a model's propositions by event id; `by_rules` says that rules read all the rest,
    else an event that is not there was not read and waits. `telemetry` is the event the run leaves in the ledger,
    `problem` why the model did not read everything, `dropped` how many of its propositions did not stand, by reason.
    Of an `unfinished` event only some propositions are known yet: it waits. A `continued` one was read in part by an
    earlier run. `progress` is what to keep once all this is committed.
    """

    model: str | None = None
    by_rules: bool = True
    found: Mapping[str, tuple[Proposition, ...]] = {}
    telemetry: Event | None = None
    problem: ClawmemError | None = None
    dropped: Mapping[str, int] = {}
    notices: tuple[str, ...] = ()
    unfinished: frozenset[str] = frozenset()
    continued: frozenset[str] = frozenset()
    progress: ReadingState | None = None

    @property
    def extractor(self) -> str:
        """Who read."""
        if self.model is None or (self.by_rules and not self.found):
            return RULES
        return f"{self.model}, then {RULES}" if self.by_rules else self.model

    @property
    def run(self) -> Mapping[str, Any] | None:
        """What the run of the model cost, as its event in the ledger says; None where nobody was called."""
        return run_of(self.telemetry) if self.telemetry else None

    def covers(self, event: Event) -> bool:
        """Whether the event was read to its end, or will be by rules."""
        return self.by_rules or (event.id in self.found and event.id not in self.unfinished)

    def propositions(self, event: Event, catalog: Catalog, speakers: Collection[str]) -> tuple[Proposition, ...]:
        """What the event proposes; a model's words count only where their evidence is in it to the character."""
        if event.id not in self.found:
            return rules.extract(event, catalog, speakers)
        found = (one for one in self.found[event.id] if event.text[slice(*one.span)] == one.source_text)
        return as_trusted(event, tuple(found))


BY_RULES = Extraction()


def ledgers(vault: Vault, days: Collection[str] | None) -> list[str]:
    """The vault paths of the ledger's files, oldest first: of these days, or of all."""
    found = sorted((vault.root / "ledger").glob("*.jsonl"))
    return [f"ledger/{path.name}" for path in found if days is None or path.stem in days]


def extract_unread(
    vault: Vault, caller: Caller, model: Model | None, dry_run: bool = False, days: Collection[str] | None = None
) -> Extraction:
    """Let the model, where there is one, read what no earlier round has, of these days or of all; else everything is
    left to the rules.

    No lock is held meanwhile: a model takes seconds, and other writers must not wait for it.
    """
    if model is None:
        return BY_RULES
    from clawmem.learning.by_model.read import read_by_model  # only where a model is set

    return read_by_model(vault, caller, model, dry_run, days)
