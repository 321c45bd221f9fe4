"""Find what a model should know before it reads events: standing facts, entities, and the turns before."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from functools import cache
from itertools import chain, islice
from typing import NamedTuple

from clawmem.index.refresh import open_index
from clawmem.index.search.channels import FactFilter, facts_in_rows, keyword_channel, names_in
from clawmem.index.search.listing import projects_in_use
from clawmem.index.search.lookup import (
    PlacedFact,
    entities,
    entities_called,
    entities_known_as,
    facts_of,
    newest_rows_about,
)
from clawmem.index.tables.rights import read_access
from clawmem.index.tables.store import Index
from clawmem.learning.attribution.quoted import injection_in
from clawmem.learning.attribution.sentences import said_by_user
from clawmem.learning.by_model.task import (
    MAX_BEFORE,
    MAX_KNOWN,
    EventPiece,
    KnownFact,
    ReadingTask,
    is_readable,
    shortened,
)
from clawmem.learning.reconciling.gate import word_beginnings
from clawmem.model.facts.catalog import Catalog
from clawmem.model.facts.fact import EXTERNAL, Fact
from clawmem.model.facts.reach import project_names
from clawmem.model.language.dates import day_of
from clawmem.model.language.question import search_words
from clawmem.model.language.text import normal
from clawmem.model.proposals.para import project_of_event
from clawmem.model.proposals.quarantine import quarantine_rule
from clawmem.model.records.entity import Entity, slug
from clawmem.model.records.event import Event, display_speaker, ledger_path, parse_events
from clawmem.model.safety.recalled_text import mask_recalled, parts_of
from clawmem.model.safety.secrets.find import find_secret
from clawmem.vault.vault import Vault

_SEARCHED_WORDS = 48
_MOST_SEARCHED = 480
_OF_SPEAKER = 300
_OF_ENTITY = 60
# What a candidate is worth: each word in common, a relation that the text names, a relation with one value, and an
# entity that the text names.
_WORD, _RELATION, _SINGLE, _NAMED = 1.0, 2.0, 1.5, 1.5
_BEST_OF_PIECE = 2
_MOST_PLACES = 20
_TAIL = 400
_SHOWN_ONCE = 60
# The turns before take at most this part of the text that is to be read.
_PART_BEFORE = 6


class Surroundings:
    """Makes the tasks of a run: finds in the vault what a model should know with some pieces."""

    def __init__(self, vault: Vault, agent: str | None = None) -> None:
        self._vault = vault
        self._agent = agent
        self._user = vault.settings.words("user.name")
        self._days: dict[str, list[Event]] = {}

    def events_of(self, day: str) -> list[Event]:
        """Return the events of a day in order, each with its speaker."""
        if day not in self._days:
            path = ledger_path(day)
            events = parse_events(self._vault.read(path) or b"", path)
            self._days[day] = [said_by_user(event, self._user) for event in events]
        return self._days[day]

    def task(
        self, pieces: Sequence[EventPiece], labels: Sequence[str] = (), items: Sequence[str] = (), most: int = 0
    ) -> ReadingTask:
        """Return the task to read some pieces."""
        index = open_index(self._vault)
        try:
            known = known_for(index, self._vault.catalog, pieces, self._agent)
            names = (name for project in projects_in_use(index) for name in project_names(project))
            in_talk = (project_of_event(piece.event) or "" for piece in pieces)
            projects = frozenset(map(slug, (*names, *in_talk)))
        finally:
            index.close()
        before = turns_before(self.events_of(day_of(pieces[0].event.timestamp)), pieces[0])
        before = shortened(before, sum(len(piece.text) for piece in pieces) // _PART_BEFORE)
        rules = read_access(self._vault)
        policy = rules.policy if rules else None
        return ReadingTask(
            tuple(pieces),
            tuple(labels),
            known.facts,
            known.entities,
            before,
            tuple(items),
            most,
            policy,
            projects=projects,
        )

    def talk_before(self, pieces: Sequence[EventPiece]) -> tuple[Event, ...]:
        """Return what was said before each of some pieces, as far as the reader may have been shown it once."""
        read = {piece.event.id for piece in pieces}
        turns = (turns_before(self.events_of(day_of(piece.event.timestamp)), piece, _SHOWN_ONCE) for piece in pieces)
        return tuple({turn.id: turn for talk in turns for turn in talk if turn.id not in read}.values())

    def turns_after(self, pieces: Sequence[EventPiece]) -> dict[str, str]:
        """Return by the id of each piece's event the next turn of the same conversation, with its speaker, if it is
        readable and of a person or an assistant."""
        found = {}
        for piece in pieces:
            events = self.events_of(day_of(piece.event.timestamp))
            own = [event for event in events if event.session == piece.event.session]
            place = next((n for n, event in enumerate(own, 1) if event.id == piece.event.id), len(own))
            for event in own[place : place + 1]:
                if event.role in ("user", "assistant") and is_readable(event) and injection_in(event) is None:
                    text = mask_recalled(event.text, parts_of(event.metadata))
                    found[piece.event.id] = f"{display_speaker(event)} {text}"
        return found


class Known(NamedTuple):
    """The facts and entities that matter for some pieces, the most relevant facts first."""

    facts: tuple[KnownFact, ...] = ()
    entities: tuple[Entity, ...] = ()


def known_for(index: Index, catalog: Catalog, pieces: Sequence[EventPiece], agent: str | None = None) -> Known:
    """Return the standing facts and the entities that some pieces may be about, at most MAX_KNOWN facts.

    Facts are labelled k1, k2, ... The two that touch each piece most come first, and then those that touch any. Facts
    of other agents, from outside, or with a credential are left out.
    """
    text = "\n".join(f"{piece.speaker}: {piece.text}" for piece in pieces)
    speakers = list(dict.fromkeys(piece.speaker for piece in pieces if piece.role == "user"))
    owners = frozenset(("", agent or ""))
    own = {entity: name for name in speakers for entity in entities_known_as(index, normal(name))}
    named = {**own, **entities_called(index, names_in(text))}
    relevance = _Relevance(text, speakers, named, catalog)
    found = [_of_fact(placed) for placed in reversed(_candidates(index, pieces, speakers, named, owners).values())]
    ranked = sorted(map(relevance.scored, found), key=lambda scored: scored.worth, reverse=True)
    touched = [scored for scored in ranked if scored.worth >= _WORD]
    # The search for credentials takes long, and few facts are chosen.
    is_clean = cache(lambda statement: find_secret(statement) is None)
    best = (fact for piece in pieces for fact in _nearest(touched, word_beginnings(piece.text), is_clean))
    rest = (scored.fact for scored in touched if scored.worth >= _SINGLE and is_clean(scored.fact.statement))
    chosen: dict[KnownFact, None] = {}
    for fact in chain(best, rest):
        if len(chosen) == MAX_KNOWN:
            break
        chosen.setdefault(fact)
    labelled = [fact._replace(label=f"k{number}") for number, fact in enumerate(chosen, 1)]
    wanted = {fact.entity for fact in chosen} - own.keys()
    wanted |= entities_called(index, names_in("\n".join(piece.text for piece in pieces))).keys()
    shown = [entity for entity in entities(index) if entity.name in wanted and _owner(entity.name) in owners]
    return Known(tuple(labelled), tuple(shown[:_MOST_PLACES]))


def _nearest(
    known: Iterable[_ScoredFact], stems: frozenset[str], is_clean: Callable[[str], bool]
) -> Iterator[KnownFact]:
    """Yield the two clean facts with most words in common with a piece."""
    shared = [(number, fact) for _, fact, words in known if (number := len(stems & words))]
    ranked = (fact for _, fact in sorted(shared, key=lambda pair: -pair[0]) if is_clean(fact.statement))
    return islice(ranked, _BEST_OF_PIECE)


def turns_before(events: Sequence[Event], first: EventPiece, most: int = MAX_BEFORE) -> tuple[Event, ...]:
    """Return the readable turns of the same conversation before a piece: at most `most`, oldest first.

    `events` are the events of its day in order. A later piece of a long event is preceded by the end of the one before.
    """
    event = first.event
    place = next((n for n, each in enumerate(events) if each.id == event.id), 0)
    same = [each for each in events[:place] if each.session == event.session]
    shown = [event for event in same[-2 * most :] if is_readable(event) and injection_in(event) is None][-most:]
    turns = [event._replace(text=mask_recalled(event.text, parts_of(event.metadata))) for event in shown]
    if first.start:
        turns.append(event._replace(text=event.text[max(0, first.start - _TAIL) : first.start]))
    return tuple(turns)


def _candidates(
    index: Index,
    pieces: Sequence[EventPiece],
    speakers: Iterable[str],
    named: Mapping[str, str],
    owners: Collection[str],
) -> dict[str, PlacedFact]:
    words = list(dict.fromkeys(word for piece in pieces for word in search_words(piece.text)[:_SEARCHED_WORDS]))
    rows: set[int] = set()
    for start in range(0, min(len(words), _MOST_SEARCHED), _SEARCHED_WORDS):
        part = words[start : start + _SEARCHED_WORDS]
        rows.update(keyword_channel(index, part, FactFilter(tuple(sorted(owners)))).scores)
    for speaker in speakers:
        rows.update(newest_rows_about(index, speaker, _OF_SPEAKER))
    found = list(facts_in_rows(index, sorted(rows)).values())
    for entity in named:
        found += facts_of(index, entity)[-_OF_ENTITY:]
    return {placed.fact.id: placed for placed in found if _is_shown(placed, owners)}


def _is_shown(placed: PlacedFact, owners: Collection[str]) -> bool:
    fact = placed.fact
    good = fact.is_current and fact.trust != EXTERNAL and _owner(placed.entity) in owners
    return good and quarantine_rule(fact) is None


def _owner(entity: str) -> str:
    return entity[1:].partition("/")[0] if entity.startswith("@") else ""


def _of_fact(placed: PlacedFact) -> KnownFact:
    fact: Fact = placed.fact
    return KnownFact(
        "", fact.id, fact.fact, fact.subject, fact.predicate, fact.object, (fact.valid_from or "")[:10], placed.entity
    )


class _ScoredFact(NamedTuple):
    """A fact, its worth, and the beginnings of its words, which are compared with every piece."""

    worth: float
    fact: KnownFact
    words: frozenset[str]


class _Relevance:
    """How much a known fact may matter for a text."""

    def __init__(self, text: str, speakers: Sequence[str], named: Mapping[str, str], catalog: Catalog) -> None:
        self._stems = word_beginnings(text)
        self._speakers = {normal(speaker) for speaker in speakers}
        self._named = named
        self._single = {name for name, predicate in catalog.predicates.items() if predicate.single}
        plain = f" {normal(text)} "
        self._relations = {
            name
            for name, predicate in catalog.predicates.items()
            if any(f" {phrase} " in plain for phrase in (name.replace("_", " "), *predicate.phrases))
        }

    def scored(self, fact: KnownFact) -> _ScoredFact:
        """Return a fact with its worth; of equal ones, the later one comes first."""
        words = word_beginnings(f"{fact.statement} {fact.object or ''}")
        of_speaker = normal(fact.subject or "") in self._speakers
        worth = (
            _WORD * min(4, len(words & self._stems))
            + _RELATION * (fact.predicate in self._relations)
            + _SINGLE * (fact.predicate in self._single and of_speaker)
            + _NAMED * (fact.entity in self._named and not of_speaker)
        )
        return _ScoredFact(worth, fact, words)
