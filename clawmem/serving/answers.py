"""What the memory answers to a question without a model, for checks: nothing is counted as an access."""

from __future__ import annotations

from collections import Counter

from clawmem.index.refresh import run_query
from clawmem.index.search.by_tier import is_all_in_reach
from clawmem.index.search.channels import FactFilter
from clawmem.index.search.listing import names_in_use
from clawmem.index.tables.store import Index
from clawmem.model.facts.reach import Reach, realm_of
from clawmem.model.language.text import near_name
from clawmem.model.records.caller import Caller
from clawmem.model.records.entity import visible_owners
from clawmem.serving.recall.recall import LEAST_SCORE, NEAR_SHARE, RecallQuery, recall_in
from clawmem.serving.recall.result import FACTS
from clawmem.vault.vault import Vault

_MOST_HIDDEN = 20
_MOST_NAMED = 5


def statements_answering(vault: Vault, question: str, caller: Caller, limit: int) -> tuple[str, ...]:
    """Return the statements of the best facts for a question, at most `limit`; weak hits are left out."""
    wanted = FactFilter(owners=visible_owners(caller.agent, None))
    query = RecallQuery(question, caller, wanted, limit, (FACTS,), least=LEAST_SCORE)
    found = run_query(vault, lambda index: recall_in(vault, index, query)).found
    return tuple(hit.fact.fact for hit in found)


def hidden_notices(vault: Vault, question: str | None, caller: Caller, wanted: FactFilter) -> list[str]:
    """Return a notice of the facts that answer a question and that the scope of the query hides, by entity."""
    reach = wanted.reach
    if not question or reach is None:
        return []
    query = RecallQuery(
        question, caller, wanted._replace(reach=None), _MOST_HIDDEN, (FACTS,), least=LEAST_SCORE, near=NEAR_SHARE
    )

    def places(index: Index) -> Counter[str]:
        found = () if is_all_in_reach(index, reach) else recall_in(vault, index, query).found
        return Counter(hit.entity for hit in found if hit.share and not reach.sees(realm_of(hit.fact)))

    items = [f"{count} more in {entity}" for entity, count in sorted(run_query(vault, places).items())]
    return [f"{', '.join(items)}, of another project or scope: --scope all"] if items else []


def unknown_names(
    vault: Vault,
    caller: Caller,
    reach: Reach | None,
    category: str | None = None,
    tag: str | None = None,
    new: bool = False,
) -> list[str]:
    """Return a notice for the project of a scope, a category and a tag that no fact has, with the known one that is
    spelled most like it. A `new` name is about to be used: only a similar one is a reason for a notice."""
    projects = reach.projects() if reach is not None else ()
    filters = {"project": projects, "category": (category,) if category else (), "tag": (tag,) if tag else ()}
    if not any(filters.values()):
        return []
    known = run_query(vault, lambda index: names_in_use(index, visible_owners(caller.agent)))
    notices = []
    for kind, names in filters.items():
        forms = names if kind == "project" else map(str.lower, names)
        if not names or not known[kind].isdisjoint(forms):
            continue
        near = near_name(names[0], known[kind])
        if new:
            notices += [f"'{names[0]}' is a new {kind}, beside '{near}'; `clawmem undo` takes it back"] if near else []
        else:
            others = sorted(known[kind])
            more = f" and {len(others) - _MOST_NAMED} more" if len(others) > _MOST_NAMED else ""
            these = f"Known are {', '.join(others[:_MOST_NAMED])}{more}." if others else ""
            which = f"Did you mean '{near}'?" if near else these
            notices.append(f"No fact has the {kind} '{names[0]}'. {which}".strip())
    return notices
