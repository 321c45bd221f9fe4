"""Relate: extract triples from the words of remembered facts that have none, in one commit.

Two facts whose triples contradict each other are a conflict: the same commit files the question for a person.

Only facts since the last complete heartbeat are read, each once. A triple that was undone or removed manually is not
added again.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import NamedTuple

from clawmem.errors import ClawmemError
from clawmem.index.refresh import run_query
from clawmem.index.search.lookup import PlacedFact, by_ids, entities, entity_names, facts_of
from clawmem.index.tables.store import Index
from clawmem.learning.rules.clauses import matched_form, predicate_of, tail_match, template_filled, values_of
from clawmem.learning.rules.language import Language, Rule, language_of
from clawmem.learning.rules.rules import statements
from clawmem.memory.facts.rival_values import RivalValueFinder, ValueConflict, ask_about, with_question
from clawmem.memory.scope import WriteScope, items_write
from clawmem.memory.writing import writing
from clawmem.model.facts.catalog import ASK, Catalog, Predicate
from clawmem.model.facts.codec import parse_items
from clawmem.model.facts.fact import Fact, trust_rank
from clawmem.model.facts.gates import Settlement
from clawmem.model.history.entry import trailer_pattern
from clawmem.model.kinds import ITEMS_FILE, file_kind
from clawmem.model.language.text import counted, normal
from clawmem.model.proposals.proposal import proposal_path
from clawmem.model.records.caller import Caller
from clawmem.model.records.change import Change, subject_line, trailers
from clawmem.model.records.entity import Entity, kind_of, name_of_path, owner_of, title_of
from clawmem.model.records.event import Event
from clawmem.vault.vault import Vault

# Extract the triple of a remembered statement, if a pattern reads every word of it.

_LONGEST_NAME, _MOST_WORDS = 6, 20
# Of these, what is true is another value each year.
_FLEETING = frozenset(("age",))
_FIRST_PERSON = re.compile(r"(?:I|I'm|My|Ich|Mein\w*)\b")
_HEDGES = ("unsure", "reported", "untrue")
_MARKS = re.compile(r"[?!;{}<>|*`\"“”„«»…\[\]]|\.\.")


class StatementTriple(NamedTuple):
    """The triple of a statement. `phrase` is the verb of the clause."""

    subject: str
    predicate: str
    object: str
    phrase: str | None


class SubjectPhrase(NamedTuple):
    """The subject of a statement: its name in triples, its kind, the rest of the text, and what is owned
    (`Ann's birthday`).
    """

    subject: str
    kind: str
    rest: str
    owned: bool
    thing: bool = False


class EntityNames:
    """All names of each entity in statements. `default` is the entity of facts without an explicit one.

    `user` is the name of the user of the vault."""

    def __init__(self, known: Iterable[Entity], default: str, user: str = "user") -> None:
        self._default = default
        self.user = "the user" if normal(user) == "user" else user
        self._known = {entity.name: entity for entity in known}
        self._names: dict[str, set[str]] = defaultdict(set)
        for entity in self._known.values():
            for name in (entity.title, *entity.aliases, title_of(entity.name)):
                self._names[normal(name)].add(entity.name)
        self._names["user"] |= self._names[normal(user)]

    def whose(self, text: str, entity: str) -> SubjectPhrase | None:
        """Return the subject of a text if it is its entity; in the default one, any known entity or the user."""
        for head, rest, owned in _heads(text):
            name = normal(head)
            bare = name.removeprefix("the ")
            if bare == "user" and (entity == self._default or self.is_the_users(entity)):
                return SubjectPhrase(self.user, "person", rest, owned)
            about = self._about(bare, entity)
            if about:
                kind = about.kind or kind_of(about.name)
                thing = bare != name
                return SubjectPhrase(_called(about, head, thing), kind, rest, owned, thing)
        return None

    def is_the_users(self, entity: str) -> bool:
        """Return whether the entity is the user of the vault."""
        about = self._known.get(entity)
        return entity in self._names["user"] and about is not None and about.kind == "person"

    def _about(self, name: str, entity: str) -> Entity | None:
        named = self._names.get(name, ())
        if entity in named:
            return self._known[entity]
        if entity not in self._known and name == normal(title_of(entity)):
            return Entity(entity, title_of(entity), (), kind_of(entity))
        shared = [text for text in named if owner_of(text) is None]
        return self._known[shared[0]] if entity == self._default and len(shared) == 1 else None


def _called(about: Entity, head: str, thing: bool) -> str:
    """How triples call an entity: by its title, and a thing as learning calls it, "the webshop"."""
    if not thing:
        return about.title
    return f"the {head[4:] if normal(head[4:]) == normal(about.title) else about.title}"


def _heads(text: str) -> Iterator[tuple[str, str, bool]]:
    """The beginnings of a text that may be a name, longest first, each with what follows."""
    ends = [found.start() for found in re.finditer(" ", text)][:_LONGEST_NAME]
    for end in reversed(ends):
        head, rest = text[:end], text[end + 1 :]
        bare = re.sub(r"['’]s$", "", head)
        if bare[-1:].isalnum():
            yield bare, rest, bare != head


def triple_of(fact: Fact, entity: str, called: EntityNames, catalog: Catalog) -> StatementTriple | None:
    """Return the triple of a fact's statement about its entity, or None unless a pattern reads all of it."""
    text = fact.fact.strip().replace("’", "'").removesuffix(".")
    language = language_of(text)
    if len(text.split()) > _MOST_WORDS or _MARKS.search(text) or _is_hedged(text, language):
        return None
    if _FIRST_PERSON.match(text):
        spoken = fact.trust == "user" and fact.agent is None and called.is_the_users(entity)
        return _first_person(text, called.user, fact, catalog) if spoken else None
    whose = called.whose(text, entity)
    if whose is None:
        return None
    about_thing = whose.thing and not whose.owned and whose.kind != "person"
    slot = _of_thing(text, whose, language, catalog) if about_thing else None
    return slot or _of_named(whose, language, catalog)


def _is_hedged(text: str, language: Language) -> bool:
    return any(language.guards[name].search(text) for name in _HEDGES)


def _first_person(text: str, user: str, fact: Fact, catalog: Catalog) -> StatementTriple | None:
    """What the user says of themself."""
    found = statements(Event(fact.id, fact.timestamp, "user", text), catalog)
    if len(found) != 1 or found[0].span != (0, len(text)) or found[0].ended or found[0].former:
        return None
    proposition = found[0]
    if (
        not (proposition.subject and proposition.predicate and proposition.object)
        or proposition.valid_from
        or proposition.predicate in _FLEETING
    ):
        return None
    return StatementTriple(
        proposition.subject.replace("the user", user, 1),
        proposition.predicate,
        proposition.object,
        proposition.relation_phrase,
    )


def _of_named(whose: SubjectPhrase, language: Language, catalog: Catalog) -> StatementTriple | None:
    """What is said of somebody or something by name, in the words in which a rule says it."""
    owner = language.possessive.replace("{name}", whose.subject)
    for rule in language.rules:
        if (rule.of == "thing") != (whose.kind != "person") or rule.ended or rule.predicate in _FLEETING:
            continue
        found = tail_match(rule, whose.rest, whose.owned)
        if found:
            return _triple_from(
                rule, found, language, catalog, {"who": whose.subject, "whose": owner, "env": whose.subject}
            )
    return None


def _of_thing(text: str, whose: SubjectPhrase, language: Language, catalog: Catalog) -> StatementTriple | None:
    """What is said of something that belongs to a thing and goes by its name: "The webshop deadline is ..."."""
    for rule in language.rules:
        if rule.of != "thing" or rule.ended:
            continue
        _, found = matched_form(rule, text) or (None, None)
        triple = (
            _triple_from(rule, found, language, catalog, {})
            if found and "former" not in values_of(found, language)
            else None
        )
        if triple:
            own = normal(triple.subject).startswith(normal(whose.subject).removeprefix("the "), 4)
            return triple if own or normal(triple.subject) == normal(whose.subject) else None
    return None


def _triple_from(
    rule: Rule, found: re.Match[str], language: Language, catalog: Catalog, names: dict[str, str]
) -> StatementTriple | None:
    values = {**values_of(found, language), **names}
    predicate, value = predicate_of(rule, values, language), template_filled(rule.object, values)
    if (
        not value
        or not predicate
        or predicate not in catalog.predicates
        or _is_vague(value, catalog.predicates[predicate])
    ):
        return None
    phrase = template_filled(rule.phrase, values).lower() or None
    return StatementTriple(template_filled(rule.subject, values), predicate, value, phrase)


def _is_vague(value: str, predicate: Predicate) -> bool:
    """Whether a value only describes one where one name is asked for: "a bank"."""
    return predicate.single and predicate.value != "text" and re.match(r"(?:an?|eine?\w*) ", value) is not None


OP = "relate"
_SHOWN_IN_SUBJECT, _SHOWN_IN_BODY = 5, 100
# The workflows of learned facts. The same rules have already read their original words.
_LEARNED = ("heartbeat/", "promotion/")


class RelatedFact(NamedTuple):
    """A fact before and after, and its entity."""

    before: Fact
    after: Fact
    entity: str


class RelateResult(NamedTuple):
    """The facts with their new triples, and the commit."""

    facts: tuple[PlacedFact, ...] = ()
    commit: str | None = None
    notices: tuple[str, ...] = ()


def relate(vault: Vault, caller: Caller, since: str | None, dry_run: bool = False) -> RelateResult:
    """Add triples to the facts that came after the commit `since`, or to all facts.

    The lock is not held while facts are read. With `dry_run` nothing is written.
    """
    found = run_query(vault, lambda index: _missing_triples(vault, index, since))
    if dry_run or not found:
        return RelateResult(tuple(PlacedFact(fact.after, fact.entity) for fact in found))
    with writing(vault, caller, "learn") as work:
        by_entity = {entity: each for entity, each in _by_entity(found).items() if work.is_readable(entity)}
        writes, kept = apply_triples(work, by_entity)
        if not kept:
            return RelateResult(notices=work.notices)
        asked = conflicts_of_triples(work, kept)
        change = _change(writes, kept)
        for conflict in asked:
            change = with_question(change, conflict)
        notices = (
            *work.notices,
            *(f"{conflict.proposal.says}: {conflict.proposal.why}" for conflict in asked if conflict.proposal),
        )
        return RelateResult(tuple(kept), work.commit([change])[-1], notices)


def _missing_triples(vault: Vault, index: Index, since: str | None) -> list[RelatedFact]:
    """Return the changes to make, based on the index."""
    past = _past(vault, since)
    user = vault.settings.words("user.name")
    called = EntityNames(entities(index), vault.settings.words("defaults.entity"), user)
    new: list[RelatedFact] = []
    reworded: list[RelatedFact] = []
    for name in entity_names(index) if past is None else past.entities:
        for fact, entity in facts_of(index, name):
            old = past.facts.get(fact.id) if past else None
            message = partial(triple_of, entity=entity, called=called, catalog=vault.catalog)
            if old is None and _needs_triple(index, fact) and (triple := message(fact)):
                new.append(RelatedFact(fact, _dated(_with(fact, triple)), entity))
            elif old is not None and _only_words_changed(old, fact) and _triple(old) == message(old):
                reworded.append(RelatedFact(fact, _with(fact, message(fact)), entity))
    group = _related_before(vault, since if past else None) if new else frozenset()
    return [*(fact for fact in new if fact.before.id not in group), *reworded]


class _FactsSince(NamedTuple):
    """The entities whose facts changed since a commit, and the earlier facts by id."""

    entities: Sequence[str]
    facts: Mapping[str, Fact]


def _past(vault: Vault, since: str | None) -> _FactsSince | None:
    """Return the facts of the commit `since`, or None if git does not know it."""
    head = vault.head().commit
    changed = vault.changed_paths_or_none(since, head) if since and head else None
    if since is None or changed is None:
        return None
    paths = {path: name for path in changed if file_kind(path) is ITEMS_FILE and (name := name_of_path(path))}
    contents = vault.contents_at(since, paths) if paths else {}
    return _FactsSince(
        list(paths.values()), {fact.id: fact for path, data in contents.items() for fact in _parsed(data, path)}
    )


def _parsed(data: bytes | None, path: str) -> Sequence[Fact]:
    try:
        return parse_items(data, path) if data else ()
    except ClawmemError:
        return ()  # only the current content counts, and it was checked


def _needs_triple(index: Index, fact: Fact) -> bool:
    """Return whether a fact needs a triple. One that replaces another inherits a relation, which may not fit."""
    if not fact.is_current or fact.object or _is_learned(fact):
        return False
    if not (fact.subject or fact.predicate or fact.relation_phrase):
        return True
    olds = by_ids(index, [link.to for link in fact.links if link.type == "supersedes"])
    return any(_relation(placed.fact) == _relation(fact) for placed in olds.values())


def _only_words_changed(old: Fact, fact: Fact) -> bool:
    """Return whether a manual edit changed the words of a fact but not its triple."""
    changed = old.fact != fact.fact and _triple(old) == _triple(fact)
    return changed and fact.is_current and fact.predicate is not None and not _is_learned(fact)


def _is_learned(fact: Fact) -> bool:
    return (fact.workflow or "").startswith(_LEARNED)


def _relation(fact: Fact) -> tuple[str | None, str | None]:
    return fact.subject, fact.predicate


def _triple(fact: Fact) -> StatementTriple:
    return StatementTriple(fact.subject or "", fact.predicate or "", fact.object or "", fact.relation_phrase)


def _with(fact: Fact, triple: StatementTriple | None) -> Fact:
    subject, predicate, value, phrase = triple or (None, None, None, None)
    return fact._replace(subject=subject, predicate=predicate, object=value, relation_phrase=phrase)


def _dated(fact: Fact) -> Fact:
    """Return the fact with the time it was said, so that older news cannot replace it."""
    known = fact.metadata or {}
    return fact if fact.source_event else fact._replace(metadata={"said_at": fact.timestamp, **known})


def _related_before(vault: Vault, since: str | None) -> frozenset[str]:
    """Return the facts that received a triple since a commit, or ever. A missing one was removed on purpose."""
    from clawmem.vault.history.history import (  # loads GitPython, rarely needed
        HistoryFilter,
        open_history,
    )

    wanted = HistoryFilter(grep=[trailer_pattern("Clawmem-Op", OP)], rev=f"{since}..HEAD" if since else "HEAD")
    with open_history(vault) as history:
        return frozenset(fact for entry in history.entries(wanted) if entry.op == OP for fact in entry.facts)


def _by_entity(found: Iterable[RelatedFact]) -> dict[str, dict[str, RelatedFact]]:
    by_entity: dict[str, dict[str, RelatedFact]] = defaultdict(dict)
    for fact in found:
        by_entity[fact.entity][fact.before.id] = fact
    return by_entity


def apply_triples(
    work: WriteScope, by_entity: Mapping[str, Mapping[str, RelatedFact]]
) -> tuple[dict[str, bytes | None], list[PlacedFact]]:
    """Return the files to write and the changed facts. Facts that changed since they were read are left out."""
    writes: dict[str, bytes | None] = {}
    kept: list[PlacedFact] = []
    for entity, readings in by_entity.items():
        facts = work.facts(entity)
        changed = {now.id: one.after for now in facts if (one := readings.get(now.id)) and one.before == now}
        if changed:
            writes.update(items_write(entity, [changed.get(now.id, now) for now in facts]))
            kept += [PlacedFact(fact, entity) for fact in changed.values()]
    return writes, kept


def conflicts_of_triples(work: WriteScope, kept: Sequence[PlacedFact]) -> list[ValueConflict]:
    """Return the conflicts that the new triples of some facts show, each with the question for a person.

    A fact without a triple states no value that `remember` could compare. The question proposes the fact of the
    highest trust, and of these the latest. A question that was asked before, about the same facts, is not repeated."""
    finder = RivalValueFinder(work)
    new = {placed.fact.id: placed.fact for placed in kept}
    found: dict[str, ValueConflict] = {}
    for fact, entity in kept:
        known = [new.get(each.id, each) for each in work.facts(entity) if each.id != fact.id]
        rivals = finder.find(fact, entity, known) if fact.is_current else ()
        if not rivals:
            continue
        *others, best = sorted((*rivals, fact), key=lambda rival: (trust_rank(rival.trust), rival.timestamp, rival.id))
        unsettled = Settlement(None, ASK, "the triples were read after both facts were stored")
        asked = ask_about(work, best, entity, others, unsettled, finder.relation(fact))
        if asked.proposal and work.read(proposal_path(asked.proposal.id)) is None:
            found[asked.proposal.id] = asked
    return list(found.values())


def _change(writes: Mapping[str, bytes | None], kept: Sequence[PlacedFact]) -> Change:
    places = sorted({placed.entity for placed in kept})
    triples = ", ".join(format_triple(placed.fact) for placed in kept[:_SHOWN_IN_SUBJECT])
    words = f"{counted(len(kept), 'triple')} read from the words: {triples}"
    return Change(
        subject_line(OP, places[0] if len(places) == 1 else "facts", words),
        writes,
        trailers(OP, facts=[placed.fact.id for placed in kept], entities=places),
        body="\n".join(
            f"- {placed.entity}: {placed.fact.fact} {format_triple(placed.fact)}" for placed in kept[:_SHOWN_IN_BODY]
        ),
    )


def format_triple(fact: Fact) -> str:
    """Return the triple of a fact on one line."""
    return f"({fact.subject}, {fact.predicate}, {fact.object})" if fact.predicate else "(none)"
