"""The draft: a fact as somebody asks for it, before it has an id, a time and a place."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any, NamedTuple

from clawmem.errors import InvalidInput
from clawmem.model.codec import fact_from_record
from clawmem.model.dates import parse_moment
from clawmem.model.fact import TRUSTS, Fact
from clawmem.model.text import check_statement, one_line

UNSET_ID = "new"
_OWN_KEYS = frozenset(("status", "superseded_by", "supersededBy", "access_count", "accessCount", "id", "fact_id"))


class Draft(NamedTuple):
    """A checked fact without an identity, and the entity it was asked to stand in (None: clawmem decides)."""

    fact: Fact
    entity: str | None = None


def draft_from_record(record: Mapping[str, Any], now: datetime) -> Draft:
    """A draft from loose keys, in any layout facts are read in; raises InvalidInput with what is wrong.

    Identity, status and counters are the vault's to give and are not taken over.
    """
    entity = record.get("entity")
    if entity is not None and not isinstance(entity, str):
        raise InvalidInput("The key 'entity' must be text.")
    given = {key: value for key, value in record.items() if key not in _OWN_KEYS and key != "entity"}
    if not isinstance(given.get("fact"), str):
        raise InvalidInput('The key \'fact\' is missing: each line needs at least {"fact": "..."}.')
    given["fact"] = check_statement(given["fact"])
    given["id"] = UNSET_ID
    try:
        fact = fact_from_record(given)
    except InvalidInput as problem:
        raise InvalidInput(f"The fact cannot be kept: {problem.message}.", "Mend that value and try again.") from None
    return Draft(_normalised(fact, now), entity)


def _normalised(fact: Fact, now: datetime) -> Fact:
    if fact.trust is not None and fact.trust not in TRUSTS:
        raise InvalidInput(f"'{fact.trust}' is not a trust.", f"Choose one of {', '.join(TRUSTS)}.")
    if not fact.category.replace("-", "").replace("_", "").isalnum():
        raise InvalidInput(f"'{fact.category}' is not a category.", "Use one word, such as preference or milestone.")
    valid_from = parse_moment(fact.valid_from, now) if fact.valid_from else None
    valid_to = parse_moment(fact.valid_to, now) if fact.valid_to else None
    if valid_from and valid_to and valid_to <= valid_from:
        raise InvalidInput(
            f"The fact would end ({valid_to}) before it begins ({valid_from}).", "Swap the two dates, or drop one."
        )
    return fact._replace(
        category=fact.category.lower(),
        valid_from=valid_from,
        valid_to=valid_to,
        subject=_line(fact.subject, "subject"),
        predicate=_line(fact.predicate, "predicate"),
        object=_line(fact.object, "object"),
        tags=tuple(dict.fromkeys(one_line(tag).lower() for tag in fact.tags if tag.strip())),
    )


def _line(text: str | None, what: str) -> str | None:
    return check_statement(text, what) if text is not None else None
