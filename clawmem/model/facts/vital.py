"""What must not fade: health, who somebody is, and standing orders. `remember` and learning ask the same function."""

from __future__ import annotations

import re

from clawmem.model.facts.fact import Fact
from clawmem.model.facts.reach import is_workflow
from clawmem.model.facts.trust import is_low_trust

HEALTH, ORDER, IDENTITY = 0.9, 0.85, 0.8
_BY_CATEGORY = {"health": HEALTH, "instruction": ORDER, "identity": IDENTITY}
_BY_WORDS = (
    (
        HEALTH,
        re.compile(
            r"\b(?:allerg(?:ic|y|ies)|intoleran(?:t|ce)|anaphyla\w+|epi-?pen|diabet(?:es|ic)|insulin|asthma(?:tic)?|"
            r"epilep(?:sy|tic)|seizures?|co?eliac|pacemaker|h(?:a|ae)emophili(?:a|ac)|pregnant|colou?r[- ]?blind|"
            r"(?:blood (?:type|group|pressure|thinners?))|hypertension|migraines?|arthritis|adhd|dementia|"
            r"dyslex(?:ia|ic)|"
            r"(?:parkinson|alzheimer|crohn)'?s|diagnosed with|prescribed|(?:on|takes?|needs?) (?:\w+ )?medication|"
            r"(?:can(?:not|'t| not)|must(?: not|n't)|may not|should(?: not|n't)) eat)\b",
            re.IGNORECASE,
        ),
    ),
    (
        ORDER,
        re.compile(
            r"^(?:please )?(?:always|never|from now on|do not ever|don't ever)\b|\bwants? this rule to be followed\b|"
            r"^(?:please )?(?:do not|don't) \w+ .*\bwithout\b",
            re.IGNORECASE,
        ),
    ),
    (
        IDENTITY,
        re.compile(
            r"\b(?:name|surname|pronouns?|birthday|date of birth|nationality|native language|mother tongue|"
            r"emergency contact) (?:is|are)\b|\b(?:was|were) born (?:on|in)\b|\b(?:is|are) called\b",
            re.IGNORECASE,
        ),
    ),
)


def vital_importance(statement: str, category: str) -> float | None:
    """Return the importance, from 0 to 1, that a statement has by what it says, or None for everyday matters."""
    found = [importance for importance, words in _BY_WORDS if words.search(statement.replace("’", "'"))]
    return max([*found, _BY_CATEGORY.get(category, 0.0)]) or None


def with_vital_importance(fact: Fact) -> Fact:
    """Return the fact with at least the importance of what it says. A tool or the web makes nothing important."""
    vital = None if is_low_trust(fact.trust) else vital_importance(fact.fact, fact.category)
    return fact if vital is None or (fact.importance or 0.0) >= vital else fact._replace(importance=vital)


def is_given_by_person(fact: Fact) -> bool:
    """Return whether a person stored this fact themself: no agent did, and no program learned it."""
    typed = fact.trust == "user" or (fact.trust is None and fact.source == "user")
    return typed and fact.agent is None and (fact.workflow is None or is_workflow(fact.workflow))
