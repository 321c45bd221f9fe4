"""Quarantine: facts from outside that read as orders to their reader wait for a person.

Whether text is an order depends on its source. A person may say "always answer in French"; a tool or a web page may
not. "Ignore your instructions" is an attack from any source.

Commits from elsewhere count if their author or their key is accepted here; of others, an order waits, too.
"""

import re
from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from clawmem.model.facts.fact import EXTERNAL, Fact, is_low_trust
from clawmem.model.named_tuple import NamedTuple
from clawmem.model.records.event import Event, is_from_outside, trust_limit
from clawmem.model.records.strict_json import checksum, texts_in

if TYPE_CHECKING:
    from clawmem.model.records.session import SessionRecord


MARK = "approved"
# The version of the rules in `clawmem.model.safety.injection`; verdicts of older versions are computed again.
RULES = 11
WITHHELD = "[withheld: it reads as an order]"
# A text that names an address outside has one of these.
ADDRESS_SIGNS = ("://", "@", "www.")
_SENTENCE_ENDS = r"((?<=[.!?。！？])\s+|\n+)"


def quarantine_rule(fact: Fact) -> str | None:
    """Return the rule by which a fact from outside reads as an order, unless a person approved it; else None."""
    if not is_low_trust(fact.trust) or is_approved(fact):
        return None
    found = orders_in(fact)
    return found[0] if found else None


def orders_in(fact: Fact) -> tuple[str, str] | None:
    """Return the rule that finds an order in a fact's texts, and the words, or None.

    An agent may say how to work, in the fact and in its details and reasons, but not forge roles and orders, send
    secrets away or run what nobody looked at. A person's fact is not checked.
    """
    if fact.trust in (None, "user"):
        return None
    outside = is_low_trust(fact.trust)
    found = next((found for text in _texts(fact) if (found := orders_in_text(text, outside))), None)
    if found:
        return found
    reasons = [link.reason for link in fact.links if link.reason]
    items = (fact.fact, *texts_in(fact.details), *reasons)
    return next((found for text in items if (found := order_handed_on(text, advice=not outside))), None)


def may_lead(fact: Fact, reader: str | None) -> bool:
    """Return whether a fact may stand first in what an agent, or a person (None), reads: not what another agent
    states, that no person approved, and that reads as an order."""
    return not _is_of_another_agent(fact, reader) or orders_in_text(fact.fact, outside=True) is None


def may_be_told(fact: Fact, reader: str | None) -> bool:
    """Return whether a fact may be told to an agent, or a person (None), who did not ask: not what another agent
    states, that no person approved, and that bids its reader do something at an address outside. Lessons and decisions
    are orders, so only the address tells which of them could send data away."""
    if not _is_of_another_agent(fact, reader):
        return True
    texts = (fact.fact, *texts_in(fact.details))
    if not any(sign in text for sign in ADDRESS_SIGNS for text in texts):
        return True
    from clawmem.model.safety.injection.rules import names_outside_address  # few facts name an address

    return not any(names_outside_address(text) and orders_in_text(text, outside=True) for text in texts)


def _is_of_another_agent(fact: Fact, reader: str | None) -> bool:
    return fact.trust == "agent" and not is_approved(fact) and (fact.agent is None or fact.agent != reader)


def reviewer_needed(fact: Fact) -> str | None:
    """Return why somebody else gets a promoted fact only after a person approved it, or None: an agent or a program
    said it, or it reads as an order, whoever said it. To others, even the words of a person come from outside."""
    if fact.trust not in (None, "user") or (fact.trust is None and fact.agent is not None):
        return f"it comes from {fact.agent or fact.trust}, not from a person"
    found = next((one for text in _texts(fact) if (one := _order_to_others(text))), None)
    return f"it reads as an order ({found[0]}): {found[1]}" if found else None


@lru_cache(maxsize=512)  # subjects and objects come again and again
def _order_to_others(text: str) -> tuple[str, str] | None:
    return orders_in_text(text, outside=True)


def _texts(fact: Fact) -> list[str]:
    texts = (fact.fact, fact.subject, fact.object, fact.source_text, *fact.tags, *fact.related_entities)
    return [text for text in texts if text]


def orders_in_text(text: str, outside: bool) -> tuple[str, str] | None:
    """Return the rule that finds an order in a text, and the words, or None.

    Text from outside also counts as an order if it addresses its reader.
    """
    from clawmem.model.safety.injection.find import find_injection  # not needed for text from people

    found = find_injection(text, forged_only=not outside)
    if found:
        return found.rule, found.words
    if not outside:
        return None
    from clawmem.model.safety.injection.mood import addresses_reader

    words = addresses_reader(text)
    return ("speaks-to-reader", words) if words else None


def order_handed_on(text: str, advice: bool = False) -> tuple[str, str] | None:
    """Return the rule that finds an order in what an agent hands to a later reader, and the words, or None.

    A report tells what happened and has no order. A lesson or a decision says how to work: with `advice`, only that is
    no order."""
    from clawmem.model.safety.injection.find import find_injection  # few texts are handed on

    found = find_injection(text, advice=advice)
    return (found.rule, found.words) if found else None


def without_orders(text: str, put: Callable[[str], str] = lambda _: WITHHELD) -> str:
    """Return a text that an agent hands on, with something put in place of each sentence that reads as an order, or of
    the whole text if only the whole reads so."""
    if order_handed_on(text) is None:
        return text
    pieces = re.split(_SENTENCE_ENDS, text)
    orders = {piece for piece in pieces if order_handed_on(piece) is not None}
    if not orders or order_handed_on("".join("" if piece in orders else piece for piece in pieces)) is not None:
        return put(text)
    return "".join(put(piece) if piece in orders else piece for piece in pieces)


def judged_mark(record: "SessionRecord") -> int:
    """Return a checksum of what a session hands on and of the rules. A record that holds it was judged when it was
    written, so that a start need not judge it again."""
    reflection = record.reflection or {}
    items = (*reflection.get("learned", ()), *reflection.get("watch_for", ()))
    return checksum(RULES, record.summary, *items, *record.warnings)


def orders_in_event_text(text: str, outside: bool) -> tuple[str, str] | None:
    """Return the same for the text of an event, where an obligation counts as an order, too.

    A fact may state an obligation ("The manager must sign the form"), because facts from outside are checked before
    they are served. Events are served without such a check.
    """
    found = orders_in_text(text, outside)
    if found or not outside:
        return found
    from clawmem.model.safety.injection.mood import find_obligation

    obligation = find_obligation(text)
    return ("lays-a-duty", obligation) if obligation else None


def quarantined_event(event: Event) -> bool:
    """Return whether an event reads as an order to its reader.

    From a tool or from outside, any order or obligation counts, from others only a forgery.
    """
    return orders_in_event_text(event.text, outside=is_from_outside(event)) is not None


def quarantine_reason(event: Event) -> str:
    """Return why an event is quarantined, as a clause: it hides text from its reader, or it reads as an order."""
    from clawmem.model.safety.injection.find import HIDDEN  # only for an event that is quarantined

    found = orders_in_event_text(event.text, outside=is_from_outside(event))
    return "it has hidden characters" if found and found[0] == HIDDEN else "it reads as an order"


def verdict_key(event: Event) -> int:
    """Return a checksum of everything that `quarantined_event` depends on; it changes with the text and the rules."""
    return checksum(RULES, event.role, event.kind, trust_limit(event), event.text)


def is_approved(fact: Fact) -> bool:
    """Return whether a person approved the fact."""
    return bool((fact.metadata or {}).get(MARK))


def with_approval(fact: Fact, by: str, at: str) -> Fact:
    """Return the fact with the mark of a person's approval; `at` is ISO 8601 UTC."""
    return fact._replace(metadata={**(fact.metadata or {}), MARK: {"by": by, "at": at}})


def without_approval(fact: Fact) -> Fact:
    """Return the fact without that mark, which callers cannot set themselves."""
    if not is_approved(fact):
        return fact
    kept = {key: value for key, value in (fact.metadata or {}).items() if key != MARK}
    return fact._replace(metadata=kept or None)


APPROVAL, ORDER = "approval", "order"


class Signature(NamedTuple):
    """A commit's author (`Name <email>`), and the key fingerprint of its valid signature, or ''."""

    author: str
    key: str = ""


class Acceptance(NamedTuple):
    """What a person accepted on this machine: patterns for author names and addresses, and key fingerprints."""

    authors: tuple[str, ...] = ()
    keys: tuple[str, ...] = ()


def accepts(commit: Signature, accepted: Acceptance) -> bool:
    """Return whether a commit from elsewhere counts like one of this machine."""
    from fnmatch import fnmatchcase  # rarely needed

    if commit.key and commit.key in accepted.keys:
        return True
    name, _, rest = commit.author.partition(" <")
    forms = (commit.author, name, rest.removesuffix(">"))
    return any(fnmatchcase(form.lower(), author.lower()) for form in forms for author in accepted.authors)


def read_acceptance(value: Any) -> Acceptance:
    """Read the acceptance from parsed data of this machine; invalid data accepts nothing."""
    record = value if isinstance(value, Mapping) else {}
    authors, keys = (record.get(name) for name in Acceptance._fields)
    return Acceptance(_patterns(authors), _patterns(keys))


def acceptance_checksum(accepted: Acceptance) -> int:
    """Return a number that changes with the acceptance and with the rules for quarantine."""
    return checksum(RULES, "\n".join(accepted.authors), "\n".join(accepted.keys))


def stake_in(fact: Fact) -> str | None:
    """Return which part of a fact must come from an accepted commit, or None for an ordinary fact.

    It is the approval that lifts a quarantine or the label of an agent's lesson, or a user's statement that reads as an
    order to an agent.
    """
    if fact.category == "lesson" and fact.trust == "agent":
        return APPROVAL if is_approved(fact) else None
    if is_low_trust(fact.trust):
        return APPROVAL if is_approved(fact) and orders_in(fact) else None
    if fact.trust in (None, "user") and orders_in_text(fact.fact, outside=True):
        return ORDER
    return None


def as_served(fact: Fact, stake: str | None) -> Fact:
    """Return a fact as it is served when its `stake` came from a commit that is not accepted.

    An approval is removed. An order is labelled as coming from outside, and a forged one is quarantined.
    """
    if stake is None or stake_in(fact) != stake:
        return fact
    if stake == APPROVAL:
        return without_approval(fact)
    outsider = fact._replace(trust=EXTERNAL)
    return outsider if orders_in_text(fact.fact, outside=False) else with_approval(outsider, "", "")


def _patterns(value: Any) -> tuple[str, ...]:
    return tuple(text for text in value if isinstance(text, str) and text) if isinstance(value, list) else ()
