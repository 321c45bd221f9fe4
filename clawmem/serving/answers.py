"""What the memory answers to a question without a model, for checks: nothing is counted as an access."""

from __future__ import annotations

from clawmem.index.refresh.refresh import run_query
from clawmem.index.search.channels import FactFilter
from clawmem.model.records.caller import Caller
from clawmem.model.records.entity import visible_owners
from clawmem.serving.recall.recall import LEAST_SCORE, RecallQuery, recall_in
from clawmem.serving.recall.result import FACTS
from clawmem.vault.vault import Vault


def statements_answering(vault: Vault, question: str, caller: Caller, limit: int) -> tuple[str, ...]:
    """Return the statements of the best facts for a question, at most `limit`; weak hits are left out."""
    wanted = FactFilter(owners=visible_owners(caller.agent, None))
    query = RecallQuery(question, caller, wanted, limit, (FACTS,), least=LEAST_SCORE)
    found = run_query(vault, lambda index: recall_in(vault, index, query)).found
    return tuple(one.fact.fact for one in found)
