"""Vectors of facts in the hub: fill those that are missing, in batches that each commit."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from clawmem.model.records.entity import title_of

if TYPE_CHECKING:
    from clawmem.index.hub.connect import HubConnection

_BATCH = 64


def vector_type(connection: HubConnection) -> str | None:
    """Return the type of the vectors of facts, with its schema, or None if the table has no vectors: the server lacks
    pgvector."""
    found = connection.execute(
        "SELECT atttypid::regtype::text FROM pg_attribute WHERE attrelid = 'clawmem.fact'::regclass"
        " AND attname = 'embedding' AND NOT attisdropped"
    ).fetchone()
    return str(found[0]) if found else None


def enable_vectors(connection: HubConnection) -> bool:
    """Add vectors to the table of facts if it has none; return whether it has them. For the owner of the hub: a
    superuser may have made the extension since the schema was made."""
    found = connection.execute("SELECT clawmem.enable_vectors()").fetchone()
    return found == (True,)


def fill_vectors(connection: HubConnection, embed: Callable[[str], Sequence[float]], seconds: float) -> int:
    """Embed current facts that have no vector yet, until none is left or the time is over; return how many.

    `embed` gives the vector of a text, with 384 numbers. Each batch is locked and committed alone, so several workers
    can do this at once, and one that is killed loses a batch at most.
    """
    if (kind := vector_type(connection)) is None:
        return 0
    until = time.monotonic() + seconds
    number = 0
    while time.monotonic() < until:
        with connection.transaction():
            rows = connection.execute(
                "SELECT org, vault, id, entity, claim FROM clawmem.fact"
                " WHERE embedding IS NULL AND status IN ('active', 'archived') LIMIT %s FOR UPDATE SKIP LOCKED",
                (_BATCH,),
            ).fetchall()
            if not rows:
                return number
            vectors = [str(list(embed(text_to_embed(entity, claim)))) for *_, entity, claim in rows]
            connection.execute(
                f"UPDATE clawmem.fact SET embedding = given.vector::{kind}"
                " FROM unnest(%s::text[], %s::text[], %s::text[], %s::text[]) AS given (org, vault, id, vector)"
                " WHERE (fact.org, fact.vault, fact.id) = (given.org, given.vault, given.id)",
                (*([row[at] for row in rows] for at in range(3)), vectors),
            )
        number += len(rows)
    return number


def text_to_embed(entity: str, claim: str) -> str:
    """Return the text of a fact whose vector is stored: as in a vault, with the title of its entity in front, unless
    it names it."""
    title = title_of(entity)
    return claim if title.lower() in claim.lower() else f"{title}: {claim}"
