"""What lines of the interchange contract change: each is stored, follows its origin, is known, waits, or is refused.

The id of a published fact is a hash of source, author, the id of the claim there if it has one, entity and claim. So a
line that comes again finds its fact, on every machine, and a run that was killed can be repeated. The wordings of one
claim with an id are found by what their ids begin with.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from functools import lru_cache
from typing import Any, NamedTuple

from clawmem.errors import ConflictMarkers, InvalidInput, NotPermitted, Refused, Unreadable
from clawmem.extensions.hub.contract import (
    CURRENT,
    REVOKED,
    Line,
    checked_line,
    fact_of,
    is_published,
    status_of,
    texts_of,
)
from clawmem.index.search.lookup import (
    PlacedFact,
    by_ids,
    by_prefix,
    entities_known_as,
    entity_exists,
    entity_in_same_folder,
    items_of,
)
from clawmem.memory.entities.places import new_entity_files, resolve_entity
from clawmem.memory.facts.remember import with_identity
from clawmem.memory.permission import check_may_write, check_scope_right, may_read
from clawmem.memory.quarantine import ProposalWriter, QuarantineReason, quarantine_reason
from clawmem.memory.scope import WriteScope
from clawmem.model.facts.codec import fact_to_line, items_file, parse_items
from clawmem.model.facts.fact import GUARDRAIL, RETRACTED, SUPERSEDED, Fact, FactLink, is_low_trust, trust_rank
from clawmem.model.facts.fact import REVOKED as WITH_ITS_ORIGIN
from clawmem.model.facts.pulled import PUBLISHED, holds_copies, published_values
from clawmem.model.language.dates import stamp
from clawmem.model.language.text import as_one_file, counted, normal, one_line
from clawmem.model.lifecycle.chain import superseded
from clawmem.model.proposals.proposal import REJECTED
from clawmem.model.proposals.quarantine import orders_in_text
from clawmem.model.records.change import Change, agent_author, subject_line, trailers
from clawmem.model.records.entity import ROOTS, check_new_name, items_path, owner_of, slug, title_in, title_of
from clawmem.model.records.strict_json import JSON_BYTES
from clawmem.model.safety.secrets.find import find_secret, redact

BATCH_ENTITY_BYTES = 32 << 20
"""A batch ends early when the files of the entities that it touches are larger than this together."""

STORED, CHANGED, KNOWN, WAITS, REFUSED = OUTCOMES = ("stored", "changed", "known", "waits", "refused")
_SPREAD = 6


Asks = Callable[[WriteScope, Fact, str], "QuarantineReason | None"]
"""Says why a person must decide about a new fact of an entity first, or None."""


class LineAnswer(NamedTuple):
    """What became of a line.

    `stored` is a new fact, `changed` a fact that follows its origin, `known` nothing new, `waits` a proposal for a
    person, and `refused` nothing stored. `id` is that of the fact or the proposal.
    """

    line: int
    outcome: str
    id: str | None = None
    entity: str | None = None
    reason: str | None = None


class _ItemsFile:
    """The lines of one `items.json` during a batch."""

    def __init__(self, work: WriteScope, entity: str) -> None:
        path = items_path(entity)
        if not work.is_readable(entity):
            raise work.transaction.unreadable[path]
        data = work.read(path)
        canonical = data is not None and data == items_of(work.index, entity)
        if canonical:
            work.transaction.read_set.mark_verified(path)
        self.lines: list[str] = []
        if data is not None and canonical and data.startswith(b"[\n"):
            self.lines = data[2:-3].decode().split(",\n")
        elif data is not None:
            self.lines = [fact_to_line(fact) for fact in parse_items(data, path)]
        self.size = len(data or b"")

    def add(self, fact: Fact) -> None:
        """Append a fact. Raise InvalidInput if the file would be larger than clawmem reads."""
        line = fact_to_line(fact)
        self.size += len(line.encode()) + 2
        if self.size > JSON_BYTES:
            self.size -= len(line.encode()) + 2
            raise InvalidInput(f"The entity is full: its facts have {JSON_BYTES >> 20} MB.")
        self.lines.append(line)

    def replace(self, fact: Fact) -> None:
        """Replace the fact of the same id."""
        start = f'{{"id": "{fact.id}",'
        place = next(at for at, line in enumerate(self.lines) if line.startswith(start))
        self.lines[place] = fact_to_line(fact)

    def render(self) -> bytes:
        """Return the file."""
        return items_file(self.lines)


class PublishPlan:
    """What some lines change. Each line sees the changes of the earlier ones."""

    def __init__(self, work: WriteScope, trust: str, asks: Asks | None) -> None:
        self._work = work
        self._trust = trust
        self._asks = asks
        self._files: dict[str, _ItemsFile] = {}
        self._facts: dict[str, PlacedFact] = {}
        self._wordings: dict[str, list[str]] = {}
        self._names: dict[str, str] = {}
        self._new: dict[str, str | None] = {}
        self._folders: dict[str, str] = {}
        self._titles: dict[str, str] = {}
        self._added: dict[str, str] = {}
        self._changed: dict[str, Fact] = {}
        self._proposed: list[Change] = []
        self._proposals: ProposalWriter | None = None
        self._lessons = 0
        self._loaded = 0

    def take(self, line: Line) -> LineAnswer:
        """Plan one line, and return what becomes of it."""
        try:
            return self._take(self._safe(line))
        except (InvalidInput, NotPermitted, Refused, Unreadable, ConflictMarkers) as problem:
            return LineAnswer(line.number, REFUSED, reason=problem.message)

    def is_full(self) -> bool:
        """Return whether the files of the touched entities are beyond what a batch holds in memory."""
        return self._loaded > BATCH_ENTITY_BYTES

    def changes(self) -> list[Change]:
        """Return the changes: one of new facts, one of facts that follow their origin, and the proposals."""
        added: dict[str, bytes | None] = {}
        for entity, title in self._new.items():
            added.update(new_entity_files(entity, self._work.caller, title))
        closed = {fact.id: fact for fact in self._changed.values() if fact.id not in self._added}
        grown = dict.fromkeys(self._added.values())
        added |= {items_path(entity): self._files[entity].render() for entity in grown}
        new = [self._facts[text].fact for text in self._added]
        found = [self._change("publish", new, list(grown), added)] if new else []
        if closed:
            homes = {text: self._facts[text].entity for text in closed}
            for fact_id, fact in closed.items():
                self._file(homes[fact_id]).replace(fact)
            entities = list(dict.fromkeys(homes.values()))
            writes = {items_path(entity): self._files[entity].render() for entity in entities}
            found.append(self._change("publish-update", list(closed.values()), entities, writes))
        return [*found, *self._proposed]

    def _change(
        self, op: str, facts: Sequence[Fact], entities: Sequence[str], writes: Mapping[str, bytes | None]
    ) -> Change:
        caller = self._work.caller
        words = counted(len(facts), "claim") if len(facts) > 1 else facts[0].fact
        text = "vault" if len(entities) > 1 else entities[0]
        return Change(
            subject_line(op, text, words if op == "publish" else f"{words} changed by its origin"),
            writes,
            trailers(
                op,
                facts=[fact.id for fact in facts],
                entities=entities,
                agent=caller.agent,
                session=caller.session,
                sources=[fact.source for fact in facts],
                supersedes=[fact.id for fact in facts if fact.superseded_by],
            ),
            author=agent_author(caller.agent),
        )

    def _safe(self, line: Line) -> Line:
        """Return the line without credentials, if the settings say so. Raise InvalidInput if it contains one."""
        found = _secret_in(line.values)
        if found is None:
            return line
        if self._work.vault.settings.words("secrets.action") == "redact":
            line = checked_line(line.number, _redacted(line.values))
            if _secret_in(line.values) is None:
                return line
        raise InvalidInput(f"Line {line.number} contains what looks like a credential ({found}).")

    def _take(self, line: Line) -> LineAnswer:
        fact = with_identity(fact_of(line, self._trust, self._work.caller.now), self._work.caller, line.fact_id)
        check_scope_right(self._work.vault, self._work.caller, fact)
        own = self._own(line)
        if own is not None:
            return _answer(line, KNOWN, own, "it is a fact of this vault")
        known = self._find(line.fact_id)
        if known is not None and not is_published(known.fact):
            return _answer(line, KNOWN, known, "it was changed here by hand")
        if line.names_next_wording:
            return LineAnswer(line.number, KNOWN, reason="its origin says it in other words now")
        chain = self._chain(line)
        if chain:
            return self._follow(line, fact, chain)
        if line.status == REVOKED:
            return LineAnswer(line.number, KNOWN, reason="it is revoked, and was not published here")
        return self._put(line, fact)

    def _own(self, line: Line) -> PlacedFact | None:
        """Return the fact of this vault that comes back as a line, or None."""
        fact_id = line.values.get("id")
        found = self._find(fact_id) if fact_id is not None else None
        if found is None or is_published(found.fact) or normal(found.fact.fact) != normal(line.claim):
            return None
        return found

    def _follow(self, line: Line, fact: Fact, chain: Sequence[PlacedFact]) -> LineAnswer:
        """Change what was published before as its origin says now."""
        last = chain[-1]
        same = next((other for other in reversed(chain) if self._says(other, line)), None)
        if not may_read(self._work.caller, last.entity):
            raise NotPermitted(f"Line {line.number} belongs to the workspace of another agent.")
        moment = _moment(last)
        closing = line.status != CURRENT and status_of(last.fact) != REVOKED and (same is last or line.moment >= moment)
        if closing and (last.fact.is_current or line.status == REVOKED):
            return self._close(line, fact, last)
        if not last.fact.is_current:
            reason = None if line.status != CURRENT else f"it was {last.fact.status}; a line does not take that back"
            return _answer(line, KNOWN, last, reason)
        later = line.moment > moment
        if same is not None and (same is not last or not later):
            return _answer(line, KNOWN, same, None if same is last else "a later wording is stored")
        if same is last:
            return self._renew(line, fact, last)
        if line.moment < moment:
            return _answer(line, KNOWN, last, "a later line of the same origin is stored")
        return self._reword(line, fact, last)

    def _chain(self, line: Line) -> list[PlacedFact]:
        """Return the wordings of the claim that are stored here; the last one is not replaced by another."""
        if not line.has_id:
            found = self._find(line.fact_id)
            return [found] if found else []
        prefix = line.id_prefix
        if prefix not in self._wordings:
            stored = by_prefix(self._work.index, prefix)
            self._facts = {placed.fact.id: placed for placed in stored} | self._facts
            self._wordings[prefix] = [placed.fact.id for placed in stored]
        origin = (line.values["source"], line.values["author"], line.values["id"])
        every = [self._facts[wording] for wording in self._wordings[prefix]]
        own = [placed for placed in every if is_published(placed.fact) and claim_origin(placed.fact) == origin]
        ids = {placed.fact.id for placed in own}
        return sorted(own, key=lambda placed: placed.fact.superseded_by not in ids)

    def _says(self, placed: PlacedFact, line: Line) -> bool:
        entity = published_values(placed.fact).get("entity")
        return placed.fact.fact == line.claim and entity == line.values["entity"]

    def _close(self, line: Line, fact: Fact, last: PlacedFact) -> LineAnswer:
        self._check_rank(line, fact, last)
        metadata = {**(last.fact.metadata or {}), **(fact.metadata or {})}
        if not self._says(last, line):
            named = {key: value for key, value in line.values.items() if key == "superseded_by"}
            metadata[PUBLISHED] = {**published_values(last.fact), **named}
        ended = last.fact._replace(metadata=metadata, valid_to=fact.valid_to or last.fact.valid_to)
        self._change_fact(self._closed(line, ended), last.entity)
        return _answer(line, CHANGED, last, line.status)

    def _closed(self, line: Line, fact: Fact) -> Fact:
        """Return the fact as superseded by its successor; withdrawn if it was revoked, or the successor is not here."""
        successor = self._successor(line) if line.status == SUPERSEDED else None
        if successor is not None and successor != fact.id:
            return fact._replace(status=SUPERSEDED, superseded_by=successor)
        metadata = dict(fact.metadata or {})
        remark: dict[str, Any] = {"at": stamp(self._work.caller.now), "reason": f"{line.status} by its origin"}
        if line.status == SUPERSEDED:
            metadata[PUBLISHED] = {**metadata[PUBLISHED], "status": SUPERSEDED}
        else:
            remark |= {WITH_ITS_ORIGIN: True}
        return fact._replace(status=RETRACTED, superseded_by=None, metadata={**metadata, "retracted": remark})

    def _renew(self, line: Line, fact: Fact, last: PlacedFact) -> LineAnswer:
        """Take over the values of a later line with the same claim."""
        self._check_rank(line, fact, last)
        kept = last.fact
        renewed = kept._replace(
            metadata={**(kept.metadata or {}), **(fact.metadata or {})},
            confidence=fact.confidence,
            category=fact.category,
            tags=fact.tags,
            valid_from=fact.valid_from,
            valid_to=fact.valid_to,
        )
        if self._orders(line, renewed) is not None:
            raise InvalidInput(f"Line {line.number} reads like an instruction to its reader; the claim was kept.")
        self._change_fact(renewed, last.entity)
        return _answer(line, CHANGED, last, "a later line of the same origin")

    def _reword(self, line: Line, fact: Fact, last: PlacedFact) -> LineAnswer:
        """Store the new wording of the origin, and close the old one."""
        self._check_rank(line, fact, last)
        link = FactLink("supersedes", last.fact.id, None, stamp(self._work.caller.now))
        new = fact._replace(links=(*fact.links, link))
        answer = self._put(line, new)
        if answer.outcome != STORED:
            return answer
        self._change_fact(superseded(last.fact, new.id, new.valid_from or stamp(line.moment)), last.entity)
        return answer._replace(reason=f"it replaces {last.fact.id}")

    def _check_rank(self, line: Line, fact: Fact, last: PlacedFact) -> None:
        if trust_rank(fact.trust) < trust_rank(last.fact.trust):
            raise InvalidInput(
                f"Line {line.number} has the trust {fact.trust}, and {last.fact.id} was published with"
                f" {last.fact.trust}: it was not changed."
            )

    def _successor(self, line: Line) -> str | None:
        """Return the fact here that replaced the claim, if it is known."""
        if "superseded_by" not in line.values:
            return None
        chain = self._chain(Line(0, {**line.values, "id": line.values["superseded_by"]}))
        if chain:
            return chain[-1].fact.id
        items = self._file(self._entity(line))
        generator = (fact for text in items.lines for fact in parse_items(f"[{text}]".encode(), "a line"))
        return next(
            (fact.id for fact in generator if published_values(fact).get("id") == line.values["superseded_by"]), None
        )

    def _put(self, line: Line, fact: Fact) -> LineAnswer:
        """Store a new fact, or file it for review."""
        entity = self._entity(line)
        if self._work.caller.agent:
            check_may_write(self._work.vault, self._work.caller, [items_path(entity)], "publish")
            self._count_lesson(fact)
        reason = self._orders(line, fact) or (self._asks(self._work, fact, entity) if self._asks else None)
        if reason is not None:
            return self._propose(line, fact, entity, reason)
        if line.status != CURRENT:
            fact = self._closed(line, fact)
        self._file(entity).add(fact)
        self._added[fact.id] = entity
        self._facts[fact.id] = PlacedFact(fact, entity)
        if line.has_id:
            self._wordings[line.id_prefix].append(fact.id)
        if entity not in self._new and not entity_exists(self._work.index, entity):
            named = _is_path(line.values["entity"])
            title = title_in(entity, fact.fact) if named else one_line(line.values["entity"])
            self._new[entity] = title
            self._folders[as_one_file(entity)] = entity
            self._titles[normal(title or title_of(entity))] = entity
        return LineAnswer(line.number, STORED, fact.id, entity)

    def _count_lesson(self, fact: Fact) -> None:
        if fact.category != "lesson":
            return
        from clawmem.memory.facts.gates import check_daily_limit

        self._lessons += 1
        check_daily_limit(self._work, self._lessons)

    def _orders(self, line: Line, fact: Fact) -> QuarantineReason | None:
        """Return why a person must decide about a line first, or None."""
        if fact.category == GUARDRAIL and fact.trust != "user":
            return QuarantineReason(GUARDRAIL, "It comes from outside as a guardrail, which a person accepts first.")
        reason = quarantine_reason(fact)
        if reason is not None or fact.trust == "user":
            return reason
        for key, value in line.values.items():
            if key in ("claim", "timestamp", "confidence", "status"):
                continue
            for text in (key, *texts_of(value)):
                if (found := _order(text, is_low_trust(fact.trust))) is not None:
                    message = f"The key '{key}' reads like an instruction to the reader ({found[0]}): {found[1]}"
                    return QuarantineReason("fact", message)
        return None

    def _propose(self, line: Line, fact: Fact, entity: str, reason: QuarantineReason) -> LineAnswer:
        for text in self._file(entity).lines:
            for item in parse_items(f"[{text}]".encode(), "a line"):
                if claim_origin(item) == claim_origin(fact) and item.fact == fact.fact:
                    return _answer(line, KNOWN, PlacedFact(item, entity), "a person approved it")
        self._proposals = self._proposals or ProposalWriter(self._work)
        filed = self._proposals.file(fact, entity, reason)
        self._proposed += [filed.change] if filed.change else []
        if filed.change is None:
            why = "it was rejected in review" if filed.proposal.status == REJECTED else "it waits for review"
            return LineAnswer(line.number, KNOWN, filed.proposal.id, entity, why)
        return LineAnswer(line.number, WAITS, filed.proposal.id, entity, reason.why)

    def _change_fact(self, fact: Fact, entity: str) -> None:
        self._facts[fact.id] = PlacedFact(fact, entity)
        self._changed[fact.id] = fact
        if fact.id in self._added:
            self._file(entity).replace(fact)

    def _find(self, fact_id: Any) -> PlacedFact | None:
        if not isinstance(fact_id, str):
            return None
        if fact_id not in self._facts:
            found = by_ids(self._work.index, [fact_id])
            if fact_id not in found:
                return None
            self._facts[fact_id] = found[fact_id]
        return self._facts[fact_id]

    def _file(self, entity: str) -> _ItemsFile:
        if entity not in self._files:
            self._files[entity] = _ItemsFile(self._work, entity)
            self._loaded += self._files[entity].size
        return self._files[entity]

    def _entity(self, line: Line) -> str:
        text = one_line(line.values["entity"])
        if text not in self._names:
            found = self._resolved(text)
            if holds_copies(found):
                raise InvalidInput(f"'{found}' is for facts that were pulled from an organisation.")
            self._names[text] = self._folders.get(as_one_file(found), found)
        return self._names[text]

    def _resolved(self, text: str) -> str:
        """Return the entity of a path, or of a name: the one with that title or alias, else one in resources/."""
        work = self._work
        if _is_path(text):
            return check_new_name(resolve_entity(work.index, text, work.caller))
        every = entities_known_as(work.index, text)
        known = [word for word in every if owner_of(word) in (None, work.caller.agent) and not holds_copies(word)]
        if len(known) > 1:
            raise InvalidInput(f"'{text}' may be {', '.join(known)}.", "Use the path of the entity.")
        if known:
            return known[0]
        if normal(text) in self._titles:
            return self._titles[normal(text)]
        name = slug(text)
        if not name:
            raise InvalidInput(f"'{text}' has no letter or digit, so no entity can have that name.")
        plain = check_new_name(f"resources/{name}")
        if as_one_file(plain) not in self._folders and entity_in_same_folder(work.index, plain) is None:
            return plain
        # An entity with another title has that path already.
        return f"{plain[:80]}-{hashlib.sha256(normal(text).encode()).hexdigest()[:_SPREAD]}"


def _is_path(text: str) -> bool:
    return text.startswith("@") or text.partition("/")[0].lower() in ROOTS


def claim_origin(fact: Fact) -> tuple[Any, ...]:
    """Return what identifies the claim where it comes from."""
    own = published_values(fact)
    what = own.get("id") or (own.get("entity"), fact.fact)
    return own.get("source", fact.source), own.get("author"), what


def _moment(placed: PlacedFact) -> datetime:
    return Line(0, published_values(placed.fact)).moment


def _answer(line: Line, outcome: str, placed: PlacedFact, reason: str | None) -> LineAnswer:
    return LineAnswer(line.number, outcome, placed.fact.id, placed.entity, reason)


def _secret_in(values: Mapping[str, Any]) -> str | None:
    found = find_secret("\n".join(texts_of(values)))
    return found.rule if found else None


def _redacted(value: Any) -> Any:
    if isinstance(value, str):
        return redact(value)
    if isinstance(value, Mapping):
        return {key: _redacted(other) for key, other in value.items()}
    return [_redacted(other) for other in value] if isinstance(value, list) else value


_order = lru_cache(maxsize=4096)(orders_in_text)
