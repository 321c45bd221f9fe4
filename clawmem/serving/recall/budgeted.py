"""Recall results as text for a prompt, within a token budget."""

from __future__ import annotations

from collections.abc import Sequence

from clawmem.index.refresh import run_query
from clawmem.index.search.by_tier import ALWAYS, FactCandidate, ReaderScope
from clawmem.index.search.channels import FactFilter, facts_in_rows
from clawmem.index.tables.store import Index
from clawmem.model.facts.catalog import Catalog
from clawmem.model.facts.fact_words import UNREVIEWED
from clawmem.model.language.dates import stamp
from clawmem.model.language.question import is_private, is_technical
from clawmem.model.language.text import shorten
from clawmem.model.lifecycle.tiers import ALWAYS_TOLD, HOT
from clawmem.model.pages import context_frame as frame
from clawmem.model.pages.packing import Section, Unit, pack
from clawmem.model.pages.tokens import note_line, token_bound
from clawmem.model.proposals.quarantine import order_handed_on
from clawmem.model.records.caller import Caller
from clawmem.model.records.event import is_speech
from clawmem.serving.context.hits import former_units, leading_facts, public_facts
from clawmem.serving.context.pages import follow_up_commands, orders_remark, replaced_remark, said_units
from clawmem.serving.context.units import (
    ContextResult,
    TierCounts,
    UnitStyle,
    candidates_of,
    context_result,
    fact_units,
    first_of_tier,
    tiers_at,
)
from clawmem.serving.recall.result import FactHit, NoteHit, RecallResult
from clawmem.vault.vault import Vault

_LONGEST_NOTE = 600
_MOST_HOT = 400  # tokens


def recalled_context(
    vault: Vault,
    caller: Caller,
    question: str,
    wanted: FactFilter,
    result: RecallResult,
    budget: int,
    evidence: bool = False,
    hot: bool = False,
) -> ContextResult:
    """Return the results of `recall`, best first, in a context frame and within the budget; with `hot`, after the facts
    of `always_told`.

    Superseded facts are there only where what held before is asked for, with what holds now; retracted ones never are.
    Raise InvalidInput if the budget is too small for the frame.
    """

    def packed(index: Index) -> ContextResult:
        return _packed(vault, index, caller, question, wanted, result, budget, evidence, hot)

    return run_query(vault, packed)


def always_told(
    vault: Vault, caller: Caller, question: str, wanted: FactFilter, least: float = ALWAYS_TOLD
) -> list[FactHit]:
    """Return the facts that are told beside every question, the most important first, from the importance `least`."""

    def read(index: Index) -> list[FactHit]:
        on = TierCounts(index, ReaderScope(wanted.owners, caller.now, wanted.entity, wanted.reach), {}, {})
        candidates = _hot(on, question, caller.agent)
        placed = facts_in_rows(index, [candidate.n for candidate in candidates])
        return [
            FactHit(*placed[candidate.n], 0.0, HOT, {}, candidate.tokens, bool(candidate.exact))
            for candidate in candidates
            if candidate.n in placed and candidate.weight >= least
        ]

    return run_query(vault, read)


def _hot(on: TierCounts, question: str, reader: str | None) -> list[FactCandidate]:
    found = [candidate for candidate in first_of_tier(on, ALWAYS, _MOST_HOT) if candidate.weight >= ALWAYS_TOLD]
    public = public_facts(on, found, is_technical(question) and not is_private(question))
    return leading_facts(on, public, reader)


def _packed(
    vault: Vault,
    index: Index,
    caller: Caller,
    question: str,
    wanted: FactFilter,
    result: RecallResult,
    budget: int,
    evidence: bool,
    hot: bool,
) -> ContextResult:
    reader = ReaderScope(wanted.owners, caller.now, wanted.entity, wanted.reach)
    on = tiers_at(index, reader, {}, wanted) if wanted.as_of else TierCounts(index, reader, {}, {})
    way = UnitStyle(vault.catalog_or_none() or Catalog({}), wanted.as_of or stamp(caller.now), evidence)
    events = [hit.event for hit in result.heard if is_speech(hit.event) and hit.event.role != "tool"]
    items = said_units(index, events, {hit.event.id: hit.outdated for hit in result.heard})
    notes = [hit for hit in result.noted if not (hit.path.startswith("agents/") and order_handed_on(hit.text))]
    former = [] if wanted.as_of or wanted.superseded else former_units(result)
    parts = (
        (frame.FORMER, "", former),
        (frame.ASKED, "", fact_units(on, candidates_of(on, [hit.fact.id for hit in result.found]), way)),
        (frame.SAID, " --in events", items),
        (frame.NOTED, " --in notes", [_note_unit(note) for note in notes]),
    )
    most = max(len(result.found), len(result.heard), len(result.noted))
    limit = f" --limit {most}" if most > vault.settings.whole("defaults.limit") else ""
    more = follow_up_commands(wanted, question)
    always = fact_units(on, _hot(on, question, caller.agent), way) if hot else []
    sections = [_section(frame.ALWAYS, always, "clawmem list --tier hot", -1)] if always else []
    sections += [
        _section(title, units, f"{more.recall}{limit}{where}", turn)
        for turn, (title, where, units) in enumerate(parts)
        if units
    ]
    heading = frame.heading(stamp(caller.now)[:10], wanted.as_of)
    asides = [replaced_remark(wanted, question, result.earlier)] if result.earlier else []
    orders = orders_remark(len(events) - len(items), follow_up_commands(wanted, question).recall)
    asides += [orders] if orders else []
    aside = frame.aside("; ".join(asides)) if asides else None
    shows = more.others if events or result.noted else more.recall
    packed = pack(heading, sections, budget, shows, aside)
    return context_result(on, packed, ())[0]


def _section(title: str, units: Sequence[Unit], more: str, turn: int) -> Section:
    return Section(title, lambda tokens, shown: units, more, turn=turn, in_time=title == frame.SAID)


def _note_unit(note: NoteHit) -> Unit:
    agent = note.path.split("/")[1] if note.path.startswith("agents/") else ""
    text = note_line(shorten(note.text, _LONGEST_NOTE) + (f" ({agent}, {UNREVIEWED})" if agent else ""))
    return Unit(f"{note.path} {note.place}", token_bound(text), False, text)
