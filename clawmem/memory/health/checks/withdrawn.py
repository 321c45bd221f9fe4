"""Check that withdrawn facts are not active again without a reason."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence

from clawmem.memory.health.checks.facts import CheckedFact
from clawmem.memory.health.checks.problem import ERROR, HealthProblem
from clawmem.memory.history.withdrawn import find_reactivated
from clawmem.vault.vault import Vault

CHECK = "withdrawn"


def withdrawn_problems(vault: Vault, facts: Sequence[CheckedFact]) -> Iterator[HealthProblem]:
    """Yield facts that are active although a commit withdrew them. Duplicate ids are reported elsewhere."""
    places: dict[str, list[CheckedFact]] = defaultdict(list)
    for checked_fact in facts:
        places[checked_fact.fact.id].append(checked_fact)
    standing = {key: place[0] for key, place in places.items() if len(place) == 1 and place[0].fact.is_current}
    for back in find_reactivated(vault, standing):
        message = (
            f"{back.fact.id} was withdrawn by {back.commit[:12]} and is active again, but no commit restored it:"
            " a merge by an older version may be the cause."
        )
        yield standing[back.fact.id].problem(ERROR, CHECK, message)._replace(fixable=True)
