"""Quarantine: facts from outside that read as orders to whoever is served them wait for a person.

An order is judged by who gives it. A person may say "always answer in French"; a tool or a web page may not, and
nobody says in earnest "ignore your instructions".
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from clawmem.model.facts.fact import Fact
from clawmem.model.facts.trust import is_low_trust
from clawmem.model.records.event import is_from_outside, trust_limit
from clawmem.model.records.seal import checksum

if TYPE_CHECKING:
    from clawmem.model.records.event import Event

MARK = "approved"
# Counts the versions of the rules in `clawmem.model.safety.injection`: what an older one judged is judged anew.
RULES = 2


def quarantined(fact: Fact) -> str | None:
    """The rule by which a fact from outside reads as an order, where no person has approved it; else None."""
    if not is_low_trust(fact.trust) or is_approved(fact):
        return None
    found = orders_in(fact)
    return found[0] if found else None


def orders_in(fact: Fact) -> tuple[str, str] | None:
    """The rule that finds orders in what a fact says or quotes, and the words; for an agent's fact only what is
    forged whoever says it, for a person's nothing."""
    if fact.trust in (None, "user"):
        return None
    for text in (fact.fact, fact.subject, fact.object, fact.source_text, *fact.tags, *fact.related_entities):
        found = orders_in_text(text, outside=is_low_trust(fact.trust)) if text else None
        if found:
            return found
    return None


def orders_in_text(text: str, outside: bool) -> tuple[str, str] | None:
    """The rule that finds orders in a text, and the words. From outside, what speaks to its reader at all is one: a
    fact only tells something."""
    from clawmem.model.safety.injection.find import find_injection  # only for what does not come from a person

    found = find_injection(text, forged_only=not outside)
    if found:
        return found.rule, found.words
    if not outside:
        return None
    from clawmem.model.safety.injection.mood import addresses_reader

    words = addresses_reader(text)
    return ("speaks-to-reader", words) if words else None


def orders_said(text: str, outside: bool) -> tuple[str, str] | None:
    """The like in what was said. A fact from outside may tell of a duty ("The manager must sign the form"), as it waits
    for a person where it speaks to its reader; words that nobody looked at may not."""
    found = orders_in_text(text, outside)
    if found or not outside:
        return found
    from clawmem.model.safety.injection.duty import find_obligation

    duty = find_obligation(text)
    return ("lays-a-duty", duty) if duty else None


def quarantined_event(event: Event) -> bool:
    """Whether what was said reads as an order to whoever reads it: from a tool or from outside any order and any duty,
    from anybody else a forged one."""
    return orders_said(event.text, outside=is_from_outside(event)) is not None


def mark_of(event: Event) -> int:
    """A number, 0 or more, for all that `quarantined_event` judges by: another text or other rules have another."""
    return checksum(RULES, event.role, event.kind, trust_limit(event), event.text)


def is_approved(fact: Fact) -> bool:
    """Whether a person has looked at the fact and let it in."""
    return bool((fact.metadata or {}).get(MARK))


def approved(fact: Fact, by: str, at: str) -> Fact:
    """The fact with the mark that a person let it in; `at` is ISO 8601 UTC."""
    return fact._replace(metadata={**(fact.metadata or {}), MARK: {"by": by, "at": at}})


def unapproved(fact: Fact) -> Fact:
    """The fact without that mark, which nobody can give to what they write themselves."""
    if not is_approved(fact):
        return fact
    kept = {key: value for key, value in (fact.metadata or {}).items() if key != MARK}
    return fact._replace(metadata=kept or None)
