"""Search in the hub: candidates from the database, each channel with a limit, fused as in a vault."""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Mapping, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any, NamedTuple

from clawmem.extensions.hub.postgres.rows import first_value
from clawmem.index.search.channels import BEGUN, CANDIDATES, names_in
from clawmem.model.facts.catalog import Catalog, predicates_asked
from clawmem.model.facts.codec import fact_from_record
from clawmem.model.facts.fact import Fact, importance_of
from clawmem.model.facts.validity import is_over
from clawmem.model.language.dates import stamp
from clawmem.model.language.question import DaySpan, search_words, time_asked
from clawmem.model.language.text import forms_of
from clawmem.model.records.entity import title_of
from clawmem.model.search.meant import FactPlace, named_and_others
from clawmem.model.search.ranking import AskedOf, RankingFeatures, meaning_share, rank

if TYPE_CHECKING:
    from clawmem.extensions.hub.postgres.connect import HubConnection


HUB_FACT_COLUMNS = "vault, id, entity, scopes, author, source, commit, path, line, record"


class HubFact(NamedTuple):
    """A fact of the hub: who sees it, and the vault, the commit, the path and the line (from 1) that it is from.

    `author` is `Name <address>`, of the commit that recorded this state. `fact` is the fact as its vault has it.
    """

    vault: str
    entity: str
    scopes: tuple[str, ...]
    author: str
    source: str
    commit: str
    path: str
    line: int
    fact: Fact

    @property
    def key(self) -> str:
        """Return what names the fact in the whole organisation: its vault and its id."""
        return f"{self.vault} {self.fact.id}"


class HubHit(NamedTuple):
    """A found fact: its score, where 1 is the best possible, and what each channel adds to it."""

    found: HubFact
    score: float
    channels: Mapping[str, float]


class HubQuestion(NamedTuple):
    """A question: its words, the time at which it is asked, and the number of facts wanted.

    `catalog` has the relations that questions ask for, and `user` is the name of the person who says "I". `vector` is
    the meaning of the question by the local model, if known.
    """

    text: str
    now: datetime
    limit: int = 10
    catalog: Catalog = Catalog({})
    user: str = "user"
    vector: Sequence[float] | None = None


def search_facts(connection: HubConnection, asked: HubQuestion) -> list[HubHit]:
    """Return the current facts that the connected role may read and that match a question, best first."""
    span = time_asked(asked.text, asked.now)
    scores, shares = _candidates(connection, asked, span)
    keys = {key for found in scores.values() for key in found}
    if not keys:
        return []
    facts = _read(connection, keys)
    if span is not None:
        days = {key: (hub_fact.fact.valid_from or hub_fact.fact.timestamp)[:10] for key, hub_fact in facts.items()}
        scores["time"] |= {key: 1.0 for key, day in days.items() if span.first <= day <= span.last}
    shares["time"] = {key: score / BEGUN for key, score in scores["time"].items()}
    moment = min(span.first, stamp(asked.now)) if span else stamp(asked.now)
    features = {key: _features(key, hub_fact.fact, moment) for key, hub_fact in facts.items()}
    about = _asked_of(connection, asked.text, facts)
    best = rank(_of(scores, facts), features, shares=_of(shares, facts), asked=about)
    return [HubHit(facts[fact.id], fact.score, fact.channels) for fact in best[: asked.limit]]


_Scores = dict[str, dict[str, float]]


def _candidates(connection: HubConnection, asked: HubQuestion, span: DaySpan | None) -> tuple[_Scores, _Scores]:
    """Return the scores of each channel by the key of the fact, and the parts of a full match."""
    parts: list[str] = []
    values: list[Any] = []

    def channel(name: str, function: str, *items: Any) -> None:
        parts.append(f"SELECT '{name}', vault, id, score, share FROM clawmem.{function}")
        values.extend((*items, CANDIDATES))

    words = [" ".join(forms_of(word)) for word in search_words(asked.text)]
    if words:
        channel("keyword", "facts_by_words(%s::text[], %s)", words)
    if asked.vector is not None and vector_type(connection):
        channel("vector", "facts_by_meaning(%s, %s)", f"[{','.join(map(str, asked.vector))}]")
    relations = predicates_asked(asked.catalog, asked.text)
    if relations:
        names = list(names_in(asked.text, asked.user))
        channel("predicate", "facts_by_relation(%s::text[], %s::text[], %s)", list(relations), names)
    if span is not None:
        channel("time", "facts_by_time(%s::date, %s::date, %s)", span.first, span.last)
    scores: _Scores = {"predicate": {}, "keyword": {}, "vector": {}, "time": {}}
    shares: _Scores = {"keyword": {}}
    if parts:
        for name, vault, fact_id, score, share in connection.execute(" UNION ALL ".join(parts), values):
            scores[name][f"{vault} {fact_id}"] = score
            if share is not None:
                shares[name][f"{vault} {fact_id}"] = share
    shares["vector"] = {key: meaning_share(score) for key, score in scores["vector"].items()}
    return scores, shares


def _read(connection: HubConnection, keys: Collection[str]) -> dict[str, HubFact]:
    pairs = [key.split(" ", 1) for key in sorted(keys)]
    rows = connection.execute(
        f"SELECT {HUB_FACT_COLUMNS} FROM clawmem.fact JOIN unnest(%s::text[], %s::text[]) AS wanted (of_vault, of_id)"
        " ON vault = of_vault AND id = of_id WHERE org = (SELECT clawmem.my_org())",
        ([vault for vault, _ in pairs], [fact_id for _, fact_id in pairs]),
    )
    return {fact.key: fact for fact in map(hub_fact, rows)}


def hub_fact(row: tuple[Any, ...]) -> HubFact:
    """Return the fact of a row of HUB_FACT_COLUMNS."""
    vault, _, entity, scopes, author, source, commit, path, line, record = row
    return HubFact(vault, entity, tuple(scopes), author, source, commit, path, line, fact_from_record(record))


def _features(key: str, fact: Fact, moment: str) -> RankingFeatures:
    return RankingFeatures(
        key,
        "",
        importance=importance_of(fact),
        timestamp=fact.timestamp,
        trust=fact.trust,
        over=is_over(fact, moment),
    )


def _asked_of(connection: HubConnection, question: str, facts: Mapping[str, HubFact]) -> AskedOf:
    names = list(names_in(question))
    rows = connection.execute(
        "SELECT entity, name FROM clawmem.entity, unnest(aliases || title) AS name"
        " WHERE entity = ANY (%s) AND lower(name) = ANY (%s)",
        (list({fact.entity for fact in facts.values()}), names),
    )
    called = {str(entity): str(name).lower() for entity, name in rows}
    places = {key: FactPlace((hub_fact.fact.subject or "").lower(), hub_fact.entity) for key, hub_fact in facts.items()}

    def having(some: Collection[str], words: Sequence[str]) -> set[str]:
        return {key for key in some if any(word in facts[key].fact.fact.lower() for word in words)}

    return AskedOf(*named_and_others(question, names, called, places, having))


def _of(scores: Mapping[str, Mapping[str, float]], facts: Mapping[str, HubFact]) -> dict[str, dict[str, float]]:
    """Return the scores of facts that could be read: one may have gone between the two queries."""
    return {name: {key: score for key, score in each.items() if key in facts} for name, each in scores.items()}


_BATCH = 64


def vector_type(connection: HubConnection) -> str | None:
    """Return the type of the vectors of facts, with its schema, or None if the server lacks pgvector."""
    kind: str | None = first_value(
        connection,
        "SELECT atttypid::regtype::text FROM pg_attribute WHERE attrelid = 'clawmem.fact'::regclass"
        " AND attname = 'embedding' AND NOT attisdropped",
    )
    return kind


def enable_vectors(connection: HubConnection) -> bool:
    """Add vectors to the table of facts if it has none; return whether it has them. For the owner of the hub: a
    superuser may have made the extension since the schema was made."""
    return connection.execute("SELECT clawmem.enable_vectors()").fetchone() == (True,)


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
    """Return the text whose vector is stored: with the title of its entity in front, unless it names it."""
    title = title_of(entity)
    return claim if title.lower() in claim.lower() else f"{title}: {claim}"
