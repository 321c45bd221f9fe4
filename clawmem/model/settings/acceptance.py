"""Whose commits count on this machine as much as its own: those of accepted authors, and those with an accepted key."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from clawmem.model.facts.fact import Fact
from clawmem.model.facts.trust import EXTERNAL, is_low_trust
from clawmem.model.proposals.quarantine import RULES, approved, is_approved, orders_in, orders_in_text, unapproved
from clawmem.model.records.seal import checksum

APPROVAL, ORDER = "approval", "order"


class Signature(NamedTuple):
    """Who a commit says made it (`Name <email>`), and the fingerprint of the key of a good signature; '' without."""

    author: str
    key: str = ""


class Acceptance(NamedTuple):
    """What a person accepted on this machine: authors as patterns on the name, the address or both, and keys."""

    authors: tuple[str, ...] = ()
    keys: tuple[str, ...] = ()


def accepts(commit: Signature, accepted: Acceptance) -> bool:
    """Whether a commit that was made elsewhere counts like one that was made here."""
    from fnmatch import fnmatchcase  # few ask this, and many need what else is here

    if commit.key and commit.key in accepted.keys:
        return True
    name, _, rest = commit.author.partition(" <")
    forms = (commit.author, name, rest.removesuffix(">"))
    return any(fnmatchcase(form.lower(), one.lower()) for form in forms for one in accepted.authors)


def acceptance_of(value: Any) -> Acceptance:
    """What a file of this machine says; nothing is accepted where it says something else."""
    given = value if isinstance(value, Mapping) else {}
    authors, keys = (given.get(name) for name in Acceptance._fields)
    return Acceptance(_texts(authors), _texts(keys))


def accepted_as(accepted: Acceptance) -> int:
    """A number that changes where what is accepted does, or the rules by which facts are judged."""
    return checksum(RULES, "\n".join(accepted.authors), "\n".join(accepted.keys))


def stake_in(fact: Fact) -> str | None:
    """What of a fact must come from a commit that counts: the mark of an approval that lifts a quarantine, or the
    user's own words where they read as an order to an agent. None for every ordinary fact."""
    if is_low_trust(fact.trust):
        return APPROVAL if is_approved(fact) and orders_in(fact) else None
    if fact.trust in (None, "user") and orders_in_text(fact.fact, outside=True):
        return ORDER
    return None


def as_served(fact: Fact, stake: str | None) -> Fact:
    """A fact as it is served where what is at stake in it came from elsewhere: an approval lifts nothing, an order is
    labelled as one from outside, and a forged one waits."""
    if stake is None or stake_in(fact) != stake:
        return fact
    if stake == APPROVAL:
        return unapproved(fact)
    outsider = fact._replace(trust=EXTERNAL)
    return outsider if orders_in_text(fact.fact, outside=False) else approved(outsider, "", "")


def _texts(value: Any) -> tuple[str, ...]:
    return tuple(one for one in value if isinstance(one, str) and one) if isinstance(value, list) else ()
