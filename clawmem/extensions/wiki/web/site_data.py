"""The data of a site for its scripts: one file for each page, the words of search, and the entities of the graph.

A browser loads only the files that a search or a neighbourhood needs.

A long list has several pages, with a number in their names.
"""

from __future__ import annotations

import hashlib
import math
import unicodedata
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Any, NamedTuple

from clawmem.extensions.wiki.values.page import (
    Conversation,
    EntityPage,
    OwnPage,
    PageEntry,
    Site,
    SitePage,
    own_path,
    relative_link,
    site_path,
    site_paths,
)
from clawmem.extensions.wiki.web.notes import data_script
from clawmem.model.facts.fact import Fact
from clawmem.model.facts.fact_words import NOT_CHOSEN, reasons_of
from clawmem.model.language.dates import day_of
from clawmem.model.pages.tokens import said_on
from clawmem.model.records.entity import kind_of
from clawmem.model.records.event import display_speaker

NEW, CHANGED, ENDED, WITHDRAWN, ASKS = "new", "changed", "ended", "withdrawn", "asks"
FACT, DECISION = "fact", "decision"
MENTIONS, RESTS_ON, CONTRADICTS, REPLACES = "mentions", "rests_on", "contradicts", "replaces"
_GOLDEN_ANGLE = math.pi * (3 - math.sqrt(5))


def _since(fact: Fact) -> str:
    """Return the day from which a fact is true, else that on which it was said, else that on which it was recorded."""
    return day_of(fact.valid_from or said_on(fact) or fact.timestamp)


def middles(sizes: Mapping[str, int]) -> dict[str, tuple[float, float]]:
    """Return a place for each entity, given the number of nodes around it: the entities are on one spiral, those with
    most nodes in the middle.

    This is the arrangement of a sunflower's seeds (H. Vogel, 1979): the n-th point has the angle n times the golden
    angle and a distance from the middle whose square grows with the area of the points before it. The nodes of an
    entity are arranged around it in the same way, when they are drawn.
    """
    places: dict[str, tuple[float, float]] = {}
    area = 0.0
    for number, (name, size) in enumerate(sorted(sizes.items(), key=lambda item: (-item[1], item[0]))):
        own = 4.0 * (size + 3)
        distance, angle = math.sqrt(area + own / 2), number * _GOLDEN_ANGLE
        x, y = (distance * math.cos(angle), distance * math.sin(angle)) if number else (0.0, 0.0)
        places[name] = (round(x, 2), round(y, 2))
        area += own
    return places


class NewsRow(NamedTuple):
    """What is new, changed, ended, withdrawn or not settled: since when, the sentence with its address, the words that
    it replaced, the reason, its page with an address, and its category if it holds now."""

    at: str
    kind: str
    text: str
    link: str
    was: str = ""
    because: str = ""
    place: tuple[str, str] | None = None
    category: str = ""


def news_of(page: EntityPage, address: str) -> Iterator[NewsRow]:
    """Yield what is new, changed, ended and coming on an entity's page, given its address."""
    place = (address, page.entity.title)

    def row(at: str, kind: str, fact: Fact, was: str = "", category: str = "") -> NewsRow:
        return NewsRow(at, kind, fact.fact, f"{address}#{fact.id}", was, reason_of(fact), place, category)

    for claim in page.claims:
        for fact in (claim.fact, *claim.replaced):
            was = next((old.fact for old in claim.replaced if old.superseded_by == fact.id), "")
            holds = fact.category if fact is claim.fact else ""
            yield row(said_on(fact) or fact.timestamp, CHANGED if was else NEW, fact, was, holds)
    yield from (row(fact.valid_to or fact.valid_from or "", ENDED, fact) for fact in page.ended)


def reason_of(fact: Fact) -> str:
    """Return the first reason of a fact, empty if there is none."""
    return next((text for label, text in reasons_of(fact) if label != NOT_CHOSEN), "")


def record_pages(name: str, category: str, rows: Iterable[NewsRow]) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield the path and the values of each page of a list of claims, the newest first."""
    for part in parts(f"{name}.html", sorted(rows, key=lambda row: (row.at[:10], row.link), reverse=True)):
        yield part.path, {"records": part.items, "parts": part_links(part), "kind": category}


PER_PAGE = 300


class Part(NamedTuple):
    """A part of a list: its path in the site, its number from 1 on, the paths of all parts, and its items."""

    path: str
    number: int
    paths: tuple[str, ...]
    items: Sequence[Any]


def parts(path: str, items: Sequence[Any]) -> list[Part]:
    """Return a list as parts; at least one, which has the path itself. Names of entities and topics have no `_`, so the
    paths of the others are free."""
    count = max(1, -(-len(items) // PER_PAGE))
    further = (f"{path.removesuffix('.html')}_{number}.html" for number in range(2, count + 1))
    paths = (path, *further)
    return [
        Part(other_path, at + 1, paths, items[at * PER_PAGE : (at + 1) * PER_PAGE])
        for at, other_path in enumerate(paths)
    ]


def part_links(part: Part) -> list[tuple[str, int, bool]]:
    """Return the links between the parts of a list; none if there is one part."""
    if len(part.paths) == 1:
        return []
    return [(relative_link(part.path, path), at + 1, at + 1 == part.number) for at, path in enumerate(part.paths)]


SEARCH, GRAPH = "data/search.js", "data/graph.js"
TOPICS = "topics"
TITLE, ABOUT_IT = "", "*"

# The places of values in the list of a fact.
ID, KIND, LABEL, HOME, TRUST, SINCE, UNTIL, CATEGORY, DAY, STATE, WHY = range(11)
# What stands before the id of a fact that is no current claim, in the words of search.
NOT_CURRENT = "~"


def key_of(path: str) -> str:
    """Return the name of the data file of a page, given its path in the site."""
    return hashlib.sha256(path.encode()).hexdigest()[:12]


def data_path(key: str) -> str:
    """Return the path of a data file."""
    return f"data/pages/{key}.js"


def entity_data(page: SitePage, known: Mapping[str, str]) -> dict[str, Any]:
    """Return the data of an entity's page: what search finds, and the facts and edges of the graph around it.

    A fact of another page has the path of that page as its home. A fact that this page shows has a category and a day,
    a state in words if it is no current claim, and its reasons. An edge is a kind with two ends: the number of a fact
    in the list, or the path of a page."""
    value, shown = page.page, _shown_facts(page.page)
    facts: dict[str, list[Any]] = {}
    edges: dict[tuple[str, str, str], None] = {}

    def node(fact: Fact, path: str | None, until: str | None = None) -> str:
        if fact.id not in facts:
            own, state = shown.get(fact.id, (None, None))
            home = None if path == value.path else site_path(path) if path in known and path is not None else ""
            kind = DECISION if fact.category == DECISION else FACT
            until = until or (day_of(fact.valid_to) if fact.valid_to else None)
            why = "; ".join(text for _, text in reasons_of(fact))
            about = (own.category, day_of(own.timestamp), state, why) if own else (None, None, None, "")
            facts[fact.id] = [fact.id, kind, fact.fact, home, fact.trust or "user", _since(fact), until, *about]
        return fact.id

    listed = (*(claim.fact for claim in value.claims), *(claim.fact for claim in value.doubtful))
    for fact in (*listed, *value.coming, *value.ended):
        node(fact, value.path)
    for claim in value.claims:
        heirs = {claim.fact.id: claim.fact}
        for old in claim.replaced:
            heir = heirs.get(old.superseded_by or "", claim.fact)
            heirs[old.id] = old
            edges[REPLACES, heir.id, node(old, value.path, _since(heir))] = None
        edges |= {(MENTIONS, claim.fact.id, site_path(path)): None for path, _ in claim.mentions if path in known}
        for premise in claim.premises:
            edges[RESTS_ON, claim.fact.id, node(premise.place.fact, premise.place.page)] = None
    for conflict in value.conflicts:
        one, other = sorted(node(place.fact, place.page) for place in conflict)
        edges[CONTRADICTS, one, other] = None
    numbers = {fact_id: number for number, fact_id in enumerate(facts)}
    entity = value.entity
    return {
        "path": site_path(value.path),
        "title": entity.title,
        "kind": entity.kind or kind_of(entity.name),
        "about": " ".join((*entity.aliases, *(text for _, text in page.notes))),
        "facts": list(facts.values()),
        "edges": [[kind, numbers[source], numbers.get(target, target)] for kind, source, target in edges],
        "beside": [site_path(link.page) for link in value.backlinks],
    }


def _shown_facts(page: EntityPage) -> dict[str, tuple[Fact, str | None]]:
    """Return the facts that have a place on a page, by id, each with its state in words, None for a current claim."""
    found: dict[str, tuple[Fact, str | None]] = {claim.fact.id: (claim.fact, None) for claim in page.claims}
    for claim in page.claims:
        for old in claim.replaced:
            found.setdefault(old.id, (old, "replaced"))
    for other_claim in page.doubtful:
        found.setdefault(other_claim.fact.id, (other_claim.fact, "in doubt"))
    for state, facts in (("coming", page.coming), ("ended", page.ended)):
        found.update((fact.id, (fact, state)) for fact in facts)
    for conflict in page.conflicts:
        for side in conflict:
            if side.page == page.path:
                found.setdefault(side.fact.id, (side.fact, "in conflict"))
    return found


def own_data(page: OwnPage) -> dict[str, Any]:
    """Return the data of a page that people wrote."""
    return {"path": own_path(page.path), "title": page.title, "kind": "page", "about": page.text, "facts": []}


def talk_data(talk: Conversation) -> dict[str, Any]:
    """Return the data of a conversation's page: each event as what search finds."""
    rows = [
        [event.id, "message", event.text, None, display_speaker(event), day, None, "message", day, None, ""]
        for event in talk.events
        for day in (day_of(event.timestamp),)
    ]
    return {"path": talk.path, "title": talk.title, "kind": "conversation", "about": "", "facts": rows}


def topics_data(totals: Iterable[str], paths: Mapping[str, str]) -> dict[str, Any]:
    """Return the data of all topics: a list of paths and titles."""
    return {"topics": [[paths[topic], topic] for topic in sorted(totals)]}


def words_on(data: Mapping[str, Any]) -> dict[str, list[str]]:
    """Return for each word the entries of a page's data that contain it: ids of facts, with a mark before those
    of facts that are no current claims, a mark for the title of the page and one for what else the page says of itself;
    for topics, their paths."""
    found: dict[str, list[str]] = {}
    for entry, text in _texts(data):
        for word in words_of(text):
            found.setdefault(word, []).append(entry)
    return found


def _texts(data: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    yield from data.get("topics", ())
    if "path" in data:
        yield TITLE, data["title"]
        yield ABOUT_IT, data["about"]
        shown = (fact for fact in data["facts"] if fact[CATEGORY] is not None)
        for fact in shown:
            yield fact[ID] if fact[STATE] is None else NOT_CURRENT + fact[ID], f"{fact[LABEL]} {fact[WHY]}"


class SearchIndex:
    """The words of a site, collected page by page."""

    def __init__(self) -> None:
        self._entries = 0
        self._words: dict[str, dict[str, dict[str, str]]] = {}

    def put(self, key: str, data: Mapping[str, Any]) -> bytes:
        """Take in the data of a page. Return the data file."""
        self._entries += sum(1 for entry, _ in _texts(data) if entry != ABOUT_IT)
        for word, found in words_on(data).items():
            self._words.setdefault(file_of(word), {}).setdefault(word, {})[key] = "\n".join(sorted(found))
        return data_script("clawmemPages", data, key)

    def files(self) -> Iterator[tuple[str, bytes]]:
        """Yield the files of words, and the file that names all of them."""
        for name, words in sorted(self._words.items()):
            rows = [
                [word, {key: ids.split("\n") for key, ids in sorted(pages.items())}]
                for word, pages in sorted(words.items())
            ]
            yield f"data/words/{name}.js", data_script("clawmemWords", rows, name)
        yield SEARCH, data_script("clawmemSearch", {"entries": self._entries, "files": sorted(self._words)})


class GraphEntities:
    """The entities of a site's graph: where they are, and how many of their claims lead to each other."""

    def __init__(self) -> None:
        self._sizes: dict[str, int] = {}

    def put(self, data: Mapping[str, Any]) -> None:
        """Take in the data of an entity's page."""
        self._sizes[data["path"]] = 1 + sum(1 for fact in data["facts"] if fact[HOME] is None)

    def file(self, entries: Iterable[PageEntry]) -> tuple[str, bytes]:
        """Return the file: entities as path, title, data file, number of nodes and place; pairs of them by number."""
        shown = {site_path(entry.path): entry for entry in entries}
        places = middles({path: self._sizes[path] for path in shown})
        rows = [[path, entry.title, key_of(path), self._sizes[path], *places[path]] for path, entry in shown.items()]
        numbers = {entry.path: number for number, entry in enumerate(shown.values())}
        links = [
            [number, numbers[target], claims]
            for number, entry in enumerate(shown.values())
            for target, claims in sorted(entry.links.items())
            if target in numbers
        ]
        return GRAPH, data_script("clawmemGraph", {"entities": rows, "links": links})


def graph_files(site: Site) -> Iterator[tuple[str, bytes]]:
    """Yield the files of a site's graph: the entities, and the data of each of their pages."""
    known = site_paths(site.entries, (), site.others)
    graph = GraphEntities()
    for page in site.pages:
        data = entity_data(page, known)
        graph.put(data)
        yield data_path(key_of(data["path"])), data_script("clawmemPages", data, key_of(data["path"]))
    yield graph.file(site.entries)


# The words of the site's search, and how they are divided into files.
#
# A site has an inverted index: for each word the statements that contain it. The words are divided into files by their
# first two characters, so that a browser loads only the files of the words that it searches for. `search.js` divides
# texts and words in the same way.

_BOTH = "abcdefghijklmnopqrstuvwxyz0123456789"


class _Gaps(dict[int, str]):
    """Spaces and punctuation as a space, any other character as itself, as MiniSearch divides texts."""

    def __missing__(self, code: int) -> str:
        letter = chr(code)
        between = letter in "\r\n" or unicodedata.category(letter)[0] in "ZP"
        self[code] = " " if between else letter
        return self[code]


_GAPS = _Gaps()


def words_of(text: str) -> set[str]:
    """Return the words of a text in the form in which they are compared: lower case, without accents."""
    found = set(map(_folded, text.translate(_GAPS).split(" ")))
    found.discard("")
    return found


@lru_cache(100_000)
def _folded(word: str) -> str:
    if word.isascii():
        return word.lower()
    plain = unicodedata.normalize("NFKD", word)
    return "".join(letter for letter in plain if unicodedata.category(letter)[0] != "M").lower()


def file_of(word: str) -> str:
    """Return the name of the file that a word is in: its first two characters if they are letters or digits of ASCII,
    `_` in place of a second one that is not; otherwise a number for the block of 64 characters of the first one."""
    if word[0] not in _BOTH:
        return f"u{ord(word[0]) >> 6:x}_"
    return word[0] + (word[1] if len(word) > 1 and word[1] in _BOTH else "_")
