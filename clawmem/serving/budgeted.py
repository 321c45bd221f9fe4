"""What recall found as text for a prompt, within a budget of tokens."""

from __future__ import annotations

from collections.abc import Sequence

from clawmem.index.channels import Filter
from clawmem.index.refresh import answered
from clawmem.index.standing import Reader
from clawmem.index.store import Index
from clawmem.model import frame
from clawmem.model.caller import Caller
from clawmem.model.catalog import Catalog
from clawmem.model.dates import stamp
from clawmem.model.packing import More, Section, Unit, pack
from clawmem.model.tokens import cut, note_line, token_bound
from clawmem.serving.commands import commands, replaced_remark
from clawmem.serving.context import Context, made
from clawmem.serving.pages import orders_remark, said_units
from clawmem.serving.recall import Noted, Recalled
from clawmem.serving.shelves import Shelves, found, shelves_then
from clawmem.serving.units import Way, fact_units
from clawmem.vault.vault import Vault

_LONGEST_NOTE = 600


def recalled_context(
    vault: Vault,
    caller: Caller,
    question: str,
    wanted: Filter,
    result: Recalled,
    budget: int,
    evidence: bool = False,
) -> Context:
    """What `recall` gave, best first, between the marks by which it is known again; never above the budget.

    Superseded and retracted facts stay out, whatever was asked for. Raises InvalidInput where the budget cannot hold
    even the frame.
    """
    return answered(vault, lambda index: _packed(vault, index, caller, question, wanted, result, budget, evidence))


def _packed(
    vault: Vault,
    index: Index,
    caller: Caller,
    question: str,
    wanted: Filter,
    result: Recalled,
    budget: int,
    evidence: bool,
) -> Context:
    reader = Reader(wanted.owners, caller.now, wanted.entity)
    on = shelves_then(index, reader, {}, wanted) if wanted.as_of else Shelves(index, reader, {}, {})
    way = Way(vault.catalog_to_read() or Catalog({}), wanted.as_of or stamp(caller.now), evidence)
    events = [one.event for one in result.heard]
    said = said_units(index, events)
    parts = (
        (frame.ASKED, "", fact_units(on, found(on, [one.fact.id for one in result.found]), way)),
        (frame.SAID, " --in events", said),
        (frame.NOTED, " --in notes", [_note_unit(one) for one in result.noted]),
    )
    most = max(len(result.found), len(result.heard), len(result.noted))
    limit = f" --limit {most}" if most > vault.settings.whole("defaults.limit") else ""
    more = commands(wanted, question)
    sections = [
        _section(title, units, f"{more.recall}{limit}{where}", turn)
        for turn, (title, where, units) in enumerate(parts)
        if units
    ]
    heading = frame.heading(stamp(caller.now)[:10], wanted.as_of)
    asides = [replaced_remark(wanted, question, result.earlier)] if result.earlier else []
    orders = orders_remark(len(events) - len(said), commands(wanted, question).recall)
    asides += [orders] if orders else []
    aside = frame.aside("; ".join(asides)) if asides else None
    packed = pack(heading, sections, budget, More(more.recall + limit, more.others + limit), aside)
    return made(on, packed, ())[0]


def _section(title: str, units: Sequence[Unit], more: str, turn: int) -> Section:
    return Section(title, lambda tokens, shown: units, more, turn=turn)


def _note_unit(note: Noted) -> Unit:
    text = note_line(cut(note.text, _LONGEST_NOTE))
    return Unit(f"{note.path} {note.place}", token_bound(text), False, text)
