"""Accept commits from elsewhere: those of accepted authors and those signed with an accepted key."""

from collections.abc import Mapping
from typing import Any

from clawmem.model.facts.fact import EXTERNAL, Fact, is_low_trust
from clawmem.model.named_tuple import NamedTuple
from clawmem.model.proposals.quarantine import (
    RULES,
    is_approved,
    orders_in,
    orders_in_text,
    with_approval,
    without_approval,
)
from clawmem.model.records.strict_json import checksum

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
    return Acceptance(_texts(authors), _texts(keys))


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


def _texts(value: Any) -> tuple[str, ...]:
    return tuple(text for text in value if isinstance(text, str) and text) if isinstance(value, list) else ()
