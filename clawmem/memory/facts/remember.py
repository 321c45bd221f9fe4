"""Remember: store drafts as facts, one commit each. A known statement is reinforced, not stored twice."""

import os
from collections.abc import Collection, Iterable, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from clawmem.errors import ClawmemError, InvalidInput, NotPermitted, SecretFound
from clawmem.index.search.lookup import PlacedFact, TakenIds, by_ids, entity_exists, entity_spelled_like, resolve_id
from clawmem.memory.entities.places import (
    OF_SELF,
    entities_in_statement,
    entity_for_draft,
    expand_own,
    new_entity_files,
    page_project,
    resolve_entity,
)
from clawmem.memory.facts.rival_values import (
    RivalValueFinder,
    ValueConflict,
    ask_about,
    strategy_for,
    with_closed_questions,
    with_question,
)
from clawmem.memory.permission import check_author, check_may_write, check_scope_right
from clawmem.memory.scope import WriteScope, fact_change
from clawmem.memory.writing import writing
from clawmem.model.facts.catalog import ASK, NEWEST, is_replaced, is_single
from clawmem.model.facts.codec import fact_to_line
from clawmem.model.facts.draft import Draft, doubt_about
from clawmem.model.facts.fact import (
    DEFAULT_CATEGORY,
    Fact,
    agent_of_source,
    is_low_trust,
    new_fact_id,
    statement_trust,
    with_vital_importance,
)
from clawmem.model.facts.fact_words import PERSON
from clawmem.model.facts.reach import OF_A_PROJECT, project_name, realm_of
from clawmem.model.language.dates import stamp
from clawmem.model.language.text import as_one_file, counted, normal
from clawmem.model.lifecycle.premises import with_metadata
from clawmem.model.lifecycle.reinforce import changed_fields, ignored_fields, reinforce
from clawmem.model.named_tuple import NamedTuple
from clawmem.model.proposals.quarantine import orders_in, without_approval
from clawmem.model.records.caller import Caller
from clawmem.model.records.change import Change, subject_line
from clawmem.model.records.entity import items_path, kind_of, slug, title_in, title_of
from clawmem.model.records.event import MARK
from clawmem.model.records.layout import ACCESS
from clawmem.model.safety.secrets.find import find_secret, redact
from clawmem.vault.commit.secret_gate import allowed
from clawmem.vault.git.folder import has_remote
from clawmem.vault.vault import Vault

if TYPE_CHECKING:
    from clawmem.memory.history.why import Days
    from clawmem.memory.quarantine import ProposalWriter, QuarantineReason
    from clawmem.model.facts.gates import Settlement
    from clawmem.model.records.access import AccessMark

BATCH_SIZE, BATCH_BYTES = 2000, 32 << 20
MAX_NOTICES = 20


# Subjects of facts that have a verb of their own.
_OWN_VERB = {"lesson": "lesson", "decision": "decision"}


class RememberedFact(NamedTuple):
    """The result for one draft: the fact, its entity and an outcome.

    The outcome is `added`; `noop` if the fact was known; `updated` if a known fact got new fields; or `proposed` if a
    person must decide. A proposed fact has the id of its proposal."""

    fact: Fact
    entity: str
    outcome: str


class RememberResult(NamedTuple):
    """The result for each draft, in order, and the last commit (None if nothing changed).

    `failed` is the error that stopped a large batch half way; `facts` then ends before the failed part."""

    facts: tuple[RememberedFact, ...]
    commit: str | None
    notices: tuple[str, ...] = ()
    failed: ClawmemError | None = None
    conflicts: tuple[ValueConflict, ...] = ()


def remember(vault: Vault, drafts: Sequence[Draft], caller: Caller) -> RememberResult:
    """Store the drafts, one commit each. Raise SecretFound before anything is written."""
    safe = [without_secrets(vault, draft) for draft in drafts]
    with writing(vault, caller, "remember") as work:
        if caller.agent is not None and any(draft.fact.category == "lesson" for draft in safe):
            from clawmem.memory.facts.gates import check_daily_limit

            check_daily_limit(work, sum(draft.fact.category == "lesson" for draft in safe))
        planner = FactPlanner(work)
        kept: list[RememberedFact] = []
        commits: tuple[str, ...] = ()
        failed = None
        while len(kept) < len(safe):
            planned: list[tuple[RememberedFact, Change | None]] = []
            size = 0
            try:
                # Each change has the whole file of its entity, so many facts of one entity take much memory.
                while len(kept) + len(planned) < len(safe) and len(planned) < BATCH_SIZE and size < BATCH_BYTES:
                    planned.append(planner.plan(safe[len(kept) + len(planned)]))
                    change = planned[-1][1]
                    size += sum(len(content or b"") for content in change.writes.values()) if change else 0
                commits = work.commit([change for _, change in planned if change is not None]) or commits
            except ClawmemError as problem:
                if not commits:
                    raise
                failed = problem
                break
            kept += [fact for fact, _ in planned]
        notices = (*work.notices, *_ignored_keys(drafts), *_limited(planner.notices))
        items = tuple(planner.conflicts)
        return RememberResult(tuple(kept), commits[-1] if commits else None, notices, failed, items)


def _ignored_keys(drafts: Sequence[Draft]) -> list[str]:
    keys = sorted({key for draft in drafts for key in draft.left_out})
    items = [f"ignored, because the vault sets these keys itself: {', '.join(keys)}"] if keys else []
    unknown: dict[str, list[int | None]] = {}
    for draft in drafts:
        for key in draft.fact.extra:
            unknown.setdefault(key, []).append(draft.line)
    near = ((key, next((name for name in Fact._fields if name.startswith(key)), None)) for key in sorted(unknown))
    return items + [
        f"{_at_lines(unknown[key])}the key '{key}' is unknown and has no effect; the key is '{name}'"
        for key, name in near
        if name
    ]


def _at_lines(lines: Sequence[int | None]) -> str:
    """Return the first line of the input that something is about, and how many more there are, as a prefix."""
    if lines[0] is None:
        return ""
    more = f" and {counted(len(lines) - 1, 'more line')}" if len(lines) > 1 else ""
    return f"Line {lines[0]}{more}: "


def _limited(notices: Sequence[str]) -> Sequence[str]:
    more = len(notices) - MAX_NOTICES
    return [*notices[:MAX_NOTICES], f"and {more} more like these"] if more > 0 else notices


def without_secrets(vault: Vault, draft: Draft) -> Draft:
    """Return the draft, redacted if `secrets.action` is `redact`. Else raise SecretFound if it contains a secret."""
    match = find_secret(fact_to_line(draft.fact))
    if match is None:
        return draft
    if vault.settings.words("secrets.action") != "redact":
        raise SecretFound(match.rule, "The fact" if draft.line is None else f"Line {draft.line}: the fact")
    fact = draft.fact
    return draft._replace(
        fact=fact._replace(
            fact=redact(fact.fact),
            object=redact(fact.object) if fact.object else fact.object,
            source_text=None,
            source_span=None,
            details=None if fact.details and find_secret(str(fact.details)) else fact.details,
            metadata=None if fact.metadata and find_secret(str(fact.metadata)) else fact.metadata,
        )
    )


class _EntityBatch:
    """The facts of one entity during a batch. The rendered lines are kept, so a batch takes linear time."""

    def __init__(self, facts: Iterable[Fact]) -> None:
        self.facts = list(facts)
        self.lines = [fact_to_line(fact) for fact in self.facts]
        self.places = {_place_key(fact): place for place, fact in enumerate(self.facts) if fact.is_current}

    def put(self, fact: Fact, place: int | None = None) -> None:
        """Add a fact, or replace the fact at index `place`."""
        if place is None:
            self.places[_place_key(fact)] = len(self.facts)
            self.facts.append(fact)
            self.lines.append(fact_to_line(fact))
        else:
            self.facts[place] = fact
            self.lines[place] = fact_to_line(fact)

    def render(self) -> bytes:
        """Return the content of `items.json`."""
        return ("[\n" + ",\n".join(self.lines) + "\n]\n").encode()


def _place_key(fact: Fact) -> tuple[str, str]:
    # The same words in two scopes are two facts: a query may see only one of them.
    return normal(fact.fact), realm_of(fact)


def mark_of_kind(work: WriteScope, fact: Fact, entity: str) -> "AccessMark | None":
    """Return the mark of a fact whose category is a kind of content of a shared memory: that kind, and whom the fact
    names. Without one, everybody would see it until somebody marks it."""
    if fact.category == DEFAULT_CATEGORY or not os.path.lexists(work.vault.path(ACCESS)):
        return None
    from clawmem.index.tables.rights import read_access  # only where several people share a memory
    from clawmem.model.records.access import AccessMark, Policy

    policy = rules.policy if (rules := read_access(work.vault)) else Policy()
    kind = next((name for name in policy.kinds if name.casefold() == fact.category.casefold()), None)
    text = " ".join((fact.fact, fact.subject or "", title_of(entity)))
    about = (person.id for person in policy.people.values() if policy.pattern_of(person).search(text))
    return AccessMark((kind,), tuple(about)) if kind else None


class FactPlanner:
    """Plans drafts one by one. Each plan includes the changes of the earlier drafts."""

    def __init__(self, work: WriteScope) -> None:
        self._work = work
        self._taken = TakenIds(work.index)
        self._batches: dict[str, _EntityBatch] = {}
        self._default = work.vault.settings.words("defaults.entity")
        self._user = work.vault.settings.words("user.name")
        self._proposal_writer: ProposalWriter | None = None
        self._finder = RivalValueFinder(work)
        self._days: Days = {}
        self._claims: dict[str, QuarantineReason | None] = {}
        self.conflicts: list[ValueConflict] = []
        self.notices: list[str] = []

    def plan(self, draft: Draft) -> tuple[RememberedFact, Change | None]:
        """Return the result for the draft, and its change (None if nothing changes)."""
        work = self._work
        check_author(work.caller, draft.fact.agent)
        check_scope_right(work.vault, work.caller, draft.fact)
        if "[[" in draft.fact.fact:
            draft = draft._replace(fact=self._with_premises(draft.fact))
        entity = entity_for_draft(work.index, draft, work.caller, self._default, self._user)
        if draft.entity is None:
            with suppress(NotPermitted):
                check_may_write(work.vault, work.caller, [items_path(entity)], "remember")
                draft = draft._replace(default=None)
            entity = draft.default or entity  # where an agent may not write, its own place takes it
            draft, entity = self._in_project(draft, entity)
            named = entities_in_statement(work.index, draft.fact.fact, work.caller.agent)
            related = dict.fromkeys((*draft.fact.related_entities, *(text for text in named if text != entity)))
            draft = draft._replace(fact=draft.fact._replace(related_entities=tuple(related)))
        writes: dict[str, bytes | None] = {}
        if entity not in self._batches:
            entity = next(
                (batch for batch in self._batches if as_one_file(batch) == as_one_file(entity)),
                entity,
            )
        if entity not in self._batches and not entity_exists(work.index, entity):
            title = draft.title or title_in(entity, f"{draft.fact.fact} {draft.fact.subject or ''}")
            writes.update(new_entity_files(entity, work.caller, title))
            # Of many facts at once only the first is asked about.
            if draft.entity and not self._batches and (near := entity_spelled_like(work.index, entity)):
                merge = f"if it is the same, `clawmem entity merge {entity} {near}`"
                self.notices.append(f"{entity} is new, and spelled like {near}: {merge}")
        batch = self._batch(entity)
        place = batch.places.get(_place_key(draft.fact))
        message = self._resolved(without_approval(self._as_caller(draft.fact)))
        if place is not None:
            return self._reinforce(batch, place, message, entity)
        fact = self._marked(self._based(signed(work, with_identity(message, work.caller, self._new_id()))), entity)
        proposed = self._quarantined(fact, entity)
        if proposed is not None:
            return proposed
        rivals = self._current(self._finder.find(fact, entity, batch.facts), entity)
        batch.put(fact)
        writes[items_path(entity)] = batch.render()
        change = fact_change(work.caller, "remember", entity, fact.fact, writes, [fact])
        if fact.category in _OWN_VERB:
            change = change._replace(subject=subject_line(_OWN_VERB[fact.category], entity, fact.fact))
        doubt = doubt_about(fact.fact)
        self.notices += [f"{fact.id} {doubt}"] if doubt and fact.category == DEFAULT_CATEGORY else []
        if not rivals:
            for old, _ in self._current(self._finder.may_be_replaced(fact), entity):
                from shlex import quote  # few facts may replace another

                way = f"`clawmem supersede {old.id} {quote(fact.fact)}`"
                self.notices.append(f"{fact.id} may replace {old.id} ({old.fact}): if so, {way}")
            return RememberedFact(fact, entity, "added"), change
        return self._in_conflict(change, PlacedFact(fact, entity), rivals)

    def _marked(self, fact: Fact, entity: str) -> Fact:
        mark = None if MARK in (fact.metadata or {}) else mark_of_kind(self._work, fact, entity)
        if mark is None:
            return fact
        from clawmem.model.records.access import narrowest

        self.notices.append(f"{fact.id} is {mark.in_words}: not everybody may see it")
        return fact._replace(metadata={**(fact.metadata or {}), MARK: narrowest([mark])})

    def _in_project(self, draft: Draft, entity: str) -> tuple[Draft, str]:
        """Return the draft with the project of its repository, if it is about the work there, and its place. What is of
        another project's page is seen where the rest of that page is."""
        if not draft.here:
            return draft, entity
        project: str | None = draft.here
        if kind_of(entity) in OF_A_PROJECT:
            project = page_project(self._work.index, (entity, draft.fact.fact), self._work.facts(entity), draft.here)
        else:
            from clawmem.model.proposals.para import TELLS, is_of_repository  # only for what is said of no page

            of_nobody = OF_SELF.match(draft.fact.fact) or TELLS.match(draft.fact.fact)
            elsewhere = entity != self._default and not of_nobody
            if elsewhere or not is_of_repository(draft.fact.fact, draft.here, self._user):
                return draft, entity
            page = f"projects/{slug(project_name(draft.here))}"
            entity = page if entity_exists(self._work.index, page) else entity
        return draft._replace(fact=draft.fact._replace(project=project)), entity

    def amend(self, placed: PlacedFact, **values: Any) -> dict[str, bytes | None]:
        """Return the writes that give a stored fact other values, which must not be its words or its scope."""
        batch = self._batch(placed.entity)
        place = next(at for at, fact in enumerate(batch.facts) if fact.id == placed.fact.id)
        batch.put(batch.facts[place]._replace(**values), place)
        return {items_path(placed.entity): batch.render()}

    def _batch(self, entity: str) -> _EntityBatch:
        if entity not in self._batches:
            self._batches[entity] = _EntityBatch(self._work.facts(entity))
        return self._batches[entity]

    def _current(self, found: Sequence[Fact], entity: str) -> list[PlacedFact]:
        """Return the facts that are current, with their entities, as earlier drafts of the batch left them."""
        placed = by_ids(self._work.index, [fact.id for fact in found])
        current = []
        for other_fact in found:
            home = placed[other_fact.id].entity if other_fact.id in placed else entity
            batch = self._batches.get(home)
            fact = next((each for each in batch.facts if each.id == other_fact.id), other_fact) if batch else other_fact
            current += [PlacedFact(fact, home)] if fact.is_current else []
        return current

    def _in_conflict(
        self, change: Change, new: PlacedFact, rivals: Sequence[PlacedFact]
    ) -> tuple[RememberedFact, Change]:
        """Return the fact and the change in which the strategy settles the conflict, or a person is asked."""
        from clawmem.model.facts.gates import settle

        relation = self._finder.relation(new.fact)
        strategy, origin = strategy_for(self._work, new.fact, relation, [placed.fact for placed in rivals])
        found = settle(strategy, origin, [*(placed.fact for placed in rivals), new.fact])
        if found.winner is not None and not self._may_write(rivals):
            found = found._replace(winner=None, why=f"{self._work.caller.agent} may not write all of these facts")
        if found.winner is not None:
            return self._settled(change, new, rivals, found, relation)
        facts = [placed.fact for placed in rivals]
        asked = ask_about(self._work, new.fact, new.entity, facts, found, relation)
        self.conflicts.append(asked)
        against = "; ".join(f"{fact.id} ({fact.fact})" for fact in facts)
        text = "" if found.strategy == ASK else f" ({found.strategy} decides nothing: {found.why})"
        self.notices.append(
            f"{new.fact.id} contradicts {against}. All are kept until you decide{text}: `clawmem review show"
            f" {asked.proposal.id if asked.proposal else ''}`"
        )
        return RememberedFact(new.fact, new.entity, "added"), with_question(change, asked)

    def _may_write(self, placed: Sequence[PlacedFact]) -> bool:
        try:
            paths = [items_path(each.entity) for each in placed]
            check_may_write(self._work.vault, self._work.caller, paths, "remember")
        except NotPermitted:
            return False
        return True

    def _settled(
        self,
        change: Change,
        new: PlacedFact,
        rivals: Sequence[PlacedFact],
        found: "Settlement",
        relation: str | None,
    ) -> tuple[RememberedFact, Change]:
        """Return the fact and the change in which the winner of a conflict replaces the others."""
        from clawmem.memory.facts.targets import rest_beside  # few facts replace others
        from clawmem.model.lifecycle.chain import correct, succeed

        everyone = [*rivals, new]
        winner = next(placed for placed in everyone if found.winner is not None and placed.fact.id == found.winner.id)
        others = [placed for placed in everyone if placed is not winner]
        moment, catalog = stamp(self._work.caller.now), self._work.vault.catalog
        fixed = is_single(catalog, relation) and not is_replaced(catalog, relation)
        if found.strategy == NEWEST and winner is new and not fixed:
            begins = new.fact.valid_from or moment
            succession = succeed(new.fact, (placed.fact for placed in others), "supersedes", found.why, moment, begins)
        else:
            succession = correct(winner.fact, (placed.fact for placed in others), found.why, moment)
        homes = {placed.fact.id: placed.entity for placed in everyone}
        changed = [PlacedFact(fact, homes[fact.id]) for fact in (succession.new, *succession.closed)]
        writes = dict(change.writes)
        for placed in changed:
            writes.update(self._put(placed))
        if winner is new:
            for rest in filter(None, (rest_beside(self._work, new.fact, placed) for placed in others)):
                self._batch(rest.entity).put(rest.fact)
                writes[items_path(rest.entity)] = self._batch(rest.entity).render()
                changed.append(rest)
                self.notices.append(f"{rest.fact.id} keeps what else was stated: {rest.fact.fact}")
        self.conflicts.append(ValueConflict(new.fact, tuple(placed.fact for placed in rivals), found))
        against = "; ".join(f"{placed.fact.id} ({placed.fact.fact})" for placed in others)
        self.notices.append(f"{winner.fact.id} wins against {against}: {found.why}")
        olds = " / ".join(placed.fact.fact for placed in others)
        words = (
            f"{new.fact.fact} (was: {olds})" if winner is new else f"{new.fact.fact} (not: {winner.fact.fact} stays)"
        )
        settled = fact_change(
            self._work.caller,
            "remember",
            new.entity,
            words,
            writes,
            [placed.fact for placed in changed],
            entities=[placed.entity for placed in changed],
            supersedes=[fact.id for fact in succession.closed if fact.superseded_by],
        )
        fact = next(placed.fact for placed in changed if placed.fact.id == new.fact.id)
        subject = subject_line("supersede" if winner is new else "remember", new.entity, words)
        settled = settled._replace(subject=subject, trailers=(*settled.trailers, ("Strategy", found.strategy)))
        settled = with_closed_questions(self._work, settled, winner.fact, [placed.fact.id for placed in others], found)
        return RememberedFact(fact, new.entity, "added"), settled

    def _put(self, placed: PlacedFact) -> dict[str, bytes | None]:
        """Replace a fact in its batch and return the write."""
        batch = self._batch(placed.entity)
        place = next(at for at, fact in enumerate(batch.facts) if fact.id == placed.fact.id)
        if not placed.fact.is_current:
            batch.places.pop(_place_key(placed.fact), None)
        batch.put(placed.fact, place)
        return {items_path(placed.entity): batch.render()}

    def _resolved(self, fact: Fact) -> Fact:
        """Return the fact with its references resolved. Most facts have none."""
        if not (fact.source_event or fact.links or fact.related_entities):
            return fact
        fact, notices = _resolve_references(self._work, fact, self._batches, self._days)
        self.notices += notices
        return fact

    def _as_caller(self, fact: Fact) -> Fact:
        """Return the fact with a trust that the caller may give, and say it if that is less than the draft has."""
        trust, notices = given_trust(fact, self._work.caller)
        self.notices += [notice for notice in notices if notice not in self.notices]
        return fact._replace(trust=trust)

    def _with_premises(self, fact: Fact) -> Fact:
        """Return the fact with links to the premises that its brackets name."""
        from clawmem.memory.facts.gates import linked_to_premises

        linked = linked_to_premises(self._work.index, fact, self._work.caller)
        self.notices += linked.notices
        return linked.fact

    def _based(self, fact: Fact) -> Fact:
        """Return the fact with the record of its changed premises. Most facts rest on no other."""
        if not fact.links:
            return fact
        from clawmem.memory.facts.premise_records import with_own_record

        return with_own_record(self._work, fact)

    def _reinforce(
        self, batch: _EntityBatch, place: int, fact: Fact, entity: str
    ) -> tuple[RememberedFact, Change | None]:
        known = batch.facts[place]
        agents = self._work.caller.agent is not None and known.trust in (None, "user")
        # What a person said gets its reasons from people only.
        richer = reinforce(known, fact._replace(details=None) if agents else fact)
        trust = statement_trust(fact.trust, fact.source, self._work.caller.agent)
        if fact.details and not agents:
            richer = known if orders_in(fact._replace(trust=trust)) else richer
        if is_low_trust(trust) and not is_low_trust(known.trust):
            # A source of low trust must not change a fact of a person or an agent.
            richer = known
        elif not agents:
            richer = self._marked(richer._replace(category=fact.category), entity)._replace(category=richer.category)
        more, other = changed_fields(known, richer), ignored_fields(fact, richer)
        by_person = self._work.caller.agent is None and not self._work.caller.unattended
        if by_person and fact.confidence is not None and known.confidence not in (None, fact.confidence):
            higher = fact.confidence > known.confidence
            (more if higher else other).append(f"confidence {fact.confidence}")
            richer = richer._replace(confidence=fact.confidence) if higher else richer
        self.notices += [f"{known.id} was already known; added to it: {', '.join(more)}"] if more else []
        self.notices += [f"{known.id} was already known; not changed: {', '.join(other)}"] if other else []
        if richer.links != known.links:
            richer = self._based(richer)
        if richer == known:
            return RememberedFact(known, entity, "noop"), None
        batch.put(richer, place)
        writes: dict[str, bytes | None] = {items_path(entity): batch.render()}
        words = f"{richer.fact} (now: {', '.join(more)})" if more else richer.fact
        change = fact_change(self._work.caller, "reinforce", entity, words, writes, [richer])
        return RememberedFact(richer, entity, "updated" if more else "noop"), change

    def _quarantined(self, fact: Fact, entity: str) -> tuple[RememberedFact, Change | None] | None:
        """Return the proposal for a fact that a person must decide about, or None."""
        if fact.trust == "user" and self._claimed(entity) is None:
            return None
        from clawmem.memory.quarantine import (  # not needed for facts of a person
            ProposalWriter,
            quarantine_reason,
            with_proposal_id,
        )

        reason = quarantine_reason(fact) or self._claimed(entity)
        if reason is None:
            return None
        self._proposal_writer = self._proposal_writer or ProposalWriter(self._work)
        filed = self._proposal_writer.file(fact, entity, reason)
        self.notices += [filed.notice] if filed.notice else []
        return RememberedFact(with_proposal_id(filed.proposal, fact), entity, "proposed"), filed.change

    def _claimed(self, entity: str) -> "QuarantineReason | None":
        """Return why a fact of this entity waits for review, where another session has claimed the entity."""
        if entity not in self._claims:
            self._claims[entity] = None
            if any((self._work.vault.root / "agents").glob("*/claims.json")):
                from clawmem.memory.leases import collision_with_entity  # only where a session has claimed something

                self._claims[entity] = collision_with_entity(self._work, [items_path(entity)])
        return self._claims[entity]

    def _new_id(self) -> str:
        fact_id = new_fact_id(self._work.caller.entropy, self._taken)
        self._taken.add(fact_id)
        return fact_id


def given_trust(fact: Fact, caller: Caller) -> tuple[str | None, tuple[str, ...]]:
    """Return the trust of a draft, at most that of the caller, and a notice if the draft has more.

    An agent cannot speak as a person. The facts of an unattended run have the trust of what they come from."""
    if caller.agent is None or caller.unattended or fact.trust != "user":
        return fact.trust, ()
    return "agent", (f"stored with trust agent, not user: {caller.agent} is an agent, and only a person speaks as one",)


def signed(work: WriteScope, fact: Fact) -> Fact:
    """Return a fact that a person states, and not a message, with the name of the person, where the vault is shared:
    `user` could be anybody there."""
    if fact.trust != "user" or fact.source_event is not None or not has_remote(work.vault.git_dir):
        return fact
    person = work.person
    return with_metadata(fact, PERSON, person.name) if person else fact


def with_identity(fact: Fact, caller: Caller, fact_id: str) -> Fact:
    """Return the fact with its id and time, and with author, trust, source and importance where the draft has none."""
    known = fact._replace(
        id=fact_id,
        timestamp=stamp(caller.now),
        source=fact.source if fact.source != "unknown" else ("agent" if caller.agent else "user"),
        agent=fact.agent or caller.agent or agent_of_source(fact.source),
        trust=statement_trust(fact.trust, fact.source, None if fact.trust and caller.unattended else caller.agent),
    )
    return known if fact.importance is not None else with_vital_importance(known)


def _resolve_references(
    work: WriteScope, fact: Fact, known: Collection[str], days: "Days"
) -> tuple[Fact, list[str]]:  # fmt: skip
    """Return the fact with its evidence quoted and with full ids and entity names, and notices.

    There is one notice for each related entity that does not exist. `known` are entities that the same act creates.
    Raise NotFound if an event or a fact does not exist, InvalidInput if the event does not contain the quote.
    """
    from clawmem.memory.history.why import with_evidence

    fact = _without_quoted_secret(work, with_evidence(work.vault, work.index, fact, days))
    links = tuple(link._replace(to=resolve_id(work.index, link.to)) for link in fact.links)
    related = tuple(dict.fromkeys(_entity_named(work, name, known) for name in fact.related_entities))
    missing = [name for name in related if name not in known and not entity_exists(work.index, name)]
    notices = [f"'{name}', a related entity of the fact, does not exist yet" for name in missing]
    return fact._replace(links=links, related_entities=related), notices


def _without_quoted_secret(work: WriteScope, fact: Fact) -> Fact:
    """Remove a quote that contains a credential. Merges can bring in events with credentials."""
    if fact.source_text is None or find_secret(fact.source_text) is None:
        return fact
    allowed(work.vault.settings, fact.source_text, "The evidence")
    return fact._replace(source_text=None, source_span=None)


def _entity_named(work: WriteScope, text: str, known: Collection[str]) -> str:
    """Return the entity with this name, title or alias. A word that is not a name yet is returned unchanged."""
    name = expand_own(text, work.caller)
    if name in known:
        return name
    try:
        return resolve_entity(work.index, text, work.caller)
    except InvalidInput:
        if "/" in name or ".." in name:
            raise
        return name
