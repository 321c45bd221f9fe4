"""The hits of `recall`, in one ranking, and what each channel did.

Recall results as text for a prompt, without reading further: a short form for simple results.
"""

from collections.abc import Iterable, Mapping

from clawmem.index.search.channels import names_in
from clawmem.index.search.lookup import PlacedFact
from clawmem.index.tables.store import Index
from clawmem.model.facts.fact import ACTIVE, Fact, is_low_trust
from clawmem.model.named_tuple import NamedTuple
from clawmem.model.pages.tokens import context_line, lacks_day
from clawmem.model.records.entity import SUMMARY
from clawmem.model.records.event import Event
from clawmem.model.safety.recalled_text import CLOSING, OPENING
from clawmem.model.search.meant import FactPlace, named_and_others
from clawmem.model.search.ranking import AskedOf

FACTS, EVENTS, NOTES, SUMMARIES = "facts", "events", "notes", "summaries"
RECALL_KINDS = (FACTS, EVENTS, NOTES, SUMMARIES)


class FactHit(NamedTuple):
    """A recalled fact with its current access counts, score and tier.

    `channels` and `prior` are what each channel and the fact's prior add to the score. `tokens` is the size of its
    line in a context: an exact count if `exact`, else an upper bound. `share` is the part of the question's words that
    the fact has itself, and `only_named` says that it has nothing of the question but a name, or says it of somebody
    else. `tells` is false if it is no answer: that, or only names where something of somebody is asked. So it is of all
    hits.
    """

    fact: Fact
    entity: str
    score: float
    tier: str
    channels: Mapping[str, float]
    tokens: int = 0
    exact: bool = False
    prior: float = 0.0
    share: float = 0.0
    only_named: bool = False
    tells: bool = True


class EventHit(NamedTuple):
    """A found event, its score, what each channel adds to it, and whether the event reads as an order.

    `outdated` says what holds in place of what the event taught, if that no longer holds. `place` is its place in the
    ledger: of events of one moment, the last one is the newest.
    """

    event: Event
    score: float
    channels: Mapping[str, float]
    is_order: bool = False
    share: float = 0.0
    only_named: bool = False
    tells: bool = True
    place: int = 0
    outdated: str = ""


class NoteHit(NamedTuple):
    """A found line of a page: path, line number, day if it has one, text, score, and what each channel adds to it."""

    path: str
    place: int
    day: str | None
    text: str
    score: float
    channels: Mapping[str, float]
    share: float = 0.0
    only_named: bool = False
    tells: bool = True


class RecallHit(NamedTuple):
    """A hit of the one ranking: its kind (facts, events, notes, summaries), the hit, and for a fact what it quotes.

    `event` is the event of the quote, which has no hit of its own. `speaker` is who said what a fact comes from.
    """

    kind: str
    hit: FactHit | EventHit | NoteHit
    event: Event | None = None
    speaker: str | None = None

    @property
    def text(self) -> str:
        """The statement, the message or the line."""
        hit = self.hit
        return hit.fact.fact if isinstance(hit, FactHit) else hit.event.text if isinstance(hit, EventHit) else hit.text


class ChannelReport(NamedTuple):
    """What one channel did: whether it ran, its number of hits, and why it did not run.

    `unable` means that it could not run, and not just that the question gave it nothing to do.
    """

    ran: bool
    hits: int
    why_not: str = ""
    unable: bool = False


class RecallResult(NamedTuple):
    """The facts, events and notes (with summaries), each best first, and a report on each channel.

    `conflicts` are the ids of the facts that some of them are in conflict with, by id.
    `ranking` has them all in one order, and `weak` is the number of hits that were left out because of their low score.
    `successors` say what holds in place of the replaced facts, by id. `gone` are replaced and withdrawn facts that
    have the words of the question where no other hit has one.
    `nearest` are the best hits where none answers the question.
    `earlier` is a moment in the days of the question at which a fact answered it that was replaced later. Such a fact
    is left out.
    """

    found: tuple[FactHit, ...]
    channels: Mapping[str, ChannelReport]
    notices: tuple[str, ...] = ()
    heard: tuple[EventHit, ...] = ()
    noted: tuple[NoteHit, ...] = ()
    earlier: str | None = None
    conflicts: Mapping[str, tuple[str, ...]] = {}
    ranking: tuple[RecallHit, ...] = ()
    weak: int = 0
    nearest: tuple[RecallHit, ...] = ()
    successors: Mapping[str, str] = {}
    gone: tuple[Fact, ...] = ()

    def ranked(self, hits: Iterable[RecallHit]) -> "RecallResult":
        """Return the result with these hits, in their order."""
        ranking = tuple(hits)
        return self._replace(
            found=tuple(hit.hit for hit in ranking if isinstance(hit.hit, FactHit)),
            heard=tuple(hit.hit for hit in ranking if isinstance(hit.hit, EventHit)),
            noted=tuple(hit.hit for hit in ranking if isinstance(hit.hit, NoteHit)),
            ranking=ranking,
        )


def page_kind(path: str) -> str:
    """Return where `recall` looks for the lines of a page: summaries or notes."""
    return SUMMARIES if path.endswith(f"/{SUMMARY}") else NOTES


def facts_asked_of(index: Index, question: str, called: Mapping[str, str], found: Mapping[int, PlacedFact]) -> AskedOf:
    """Return which of the found facts are about what the question names, and which about others than a named person.

    `called` are the entities that the question names, each with that name."""
    names = names_in(question)
    places = {n: FactPlace(placed.fact.subject, placed.entity) for n, placed in found.items()}
    named, others = named_and_others(question, names, called, places, index.engine.having)
    return AskedOf({found[n].fact.id for n in named}, {found[n].fact.id for n in others})


# Exact cl100k_base counts of the two marks with their newlines; `clawmem.model.pages.packing` has the same.
_MARKS = 6 + 6


class Brief(NamedTuple):
    """The text, its tokens, how they were counted (exact or upper bound), and the ids of its facts."""

    text: str
    tokens: int
    counted_by: str
    facts: tuple[str, ...]
    left_out: tuple[tuple[str, int], ...] = ()


def brief(result: RecallResult, budget: int) -> Brief | None:
    """Return the facts, best first, one per line, or None if the results need more than that.

    They do if they contain events, notes, inactive facts, facts of low trust, facts in conflict, or facts that need
    the day of their event, if facts were replaced later, or if the budget is too small.
    """
    tokens = _MARKS + sum(hit.tokens for hit in result.found)
    facts = [hit.fact for hit in result.found]
    plain = all(fact.status == ACTIVE and not is_low_trust(fact.trust) and not lacks_day(fact) for fact in facts)
    if result.heard or result.noted or result.earlier or result.conflicts or tokens > budget or not plain:
        return None
    lines = [f"{OPENING}\n", *(context_line(hit.fact) for hit in result.found), f"{CLOSING}"]
    how = "exact" if all(hit.exact for hit in result.found) else "upper bound"
    return Brief("".join(lines), tokens, how, tuple(hit.fact.id for hit in result.found))
