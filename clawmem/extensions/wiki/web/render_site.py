"""A site of the memory as files: pages, data for search and graph, styles, scripts, and the libraries they use."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from heapq import nlargest
from typing import Any

from markupsafe import Markup

from clawmem.extensions.wiki.values.markdown import grouped_entries
from clawmem.extensions.wiki.values.page import (
    INDEX,
    FactPlace,
    PageLink,
    Site,
    SitePage,
    SiteTopic,
    WikiClaim,
    conversation_of,
    file_name,
    own_path,
    relative_link,
    site_path,
    site_paths,
    topic_page,
)
from clawmem.extensions.wiki.web.notes import LIBRARIES, POLICY, STATIC, NoteRenderer, days, template
from clawmem.extensions.wiki.web.site_data import (
    DECISION,
    ENDED,
    NEW,
    TOPICS,
    GraphEntities,
    NewsRow,
    Part,
    SearchIndex,
    data_path,
    entity_data,
    key_of,
    news_of,
    own_data,
    part_links,
    parts,
    record_pages,
    talk_data,
    topics_data,
)
from clawmem.memory.facts.gates import LESSON
from clawmem.model.facts.fact import Fact
from clawmem.model.facts.fact_words import change_labels, reasons_of, trust_words
from clawmem.model.language.dates import day_of
from clawmem.model.language.text import counted
from clawmem.model.pages.tokens import fact_dates
from clawmem.model.records.entity import kind_of
from clawmem.model.records.event import Event, display_speaker

_MENU = (
    ("index.html", "Home", "house"),
    ("search.html", "Search", "search"),
    ("graph.html", "Graph", "waypoints"),
    ("decisions.html", "Decisions", "scale"),
    ("pages.html", "Pages", "book-open"),
    ("lessons.html", "Lessons", "lightbulb"),
)
# How many rows of news, projects and questions a home page has.
NEWS, CARDS, _QUESTIONS = 9, 6, 4
_RECORDS = (("decisions", "Decisions", "decision"), ("lessons", "Lessons", "lesson"))
File = tuple[str, bytes]
TalkOf = Callable[[Event], str | None]


def render_site(site: Site) -> Iterator[File]:
    """Yield the path and the content of the files of a site. The same site gives the same bytes."""
    yield from library_files()
    for path in sorted(STATIC.iterdir()):
        yield f"static/{path.name}", path.read_bytes()
    yield from _Renderer(site).files()


def library_files() -> Iterator[tuple[str, bytes]]:
    """Yield the JavaScript libraries with their licences, as `pins.json` beside them names them."""
    pins = json.loads((LIBRARIES / "pins.json").read_text("utf-8"))
    for pin in pins.values():
        for name in pin["files"]:
            if not name.endswith(".svg"):  # which pages contain
                yield f"libraries/{name}", (LIBRARIES / name).read_bytes()


class _Renderer:
    """Renders a site, and collects what its pages say for lists, search and graph."""

    def __init__(self, site: Site) -> None:
        self._site = site
        self._known = site_paths(site.entries, map(topic_page, site.totals), site.others)
        self._notes = NoteRenderer(self._known)
        self._search = SearchIndex()
        self._graph = GraphEntities()
        self._records: dict[str, list[NewsRow]] = {category: [] for _, _, category in _RECORDS}
        self._news: list[NewsRow] = []
        self._leads: dict[str, str] = {}
        self._questions: list[tuple[str, str, int, list[str]]] = []

    def files(self) -> Iterator[File]:
        site = self._site
        for page in site.pages:
            yield from self._entity(page)
        for topic in site.topics:
            yield from self._topic(topic)
        for own in site.own:
            path = own_path(own.path)
            first, _, rest = own.text.lstrip().partition("\n")
            text = rest if first.strip() == f"# {own.title}" else own.text  # the page has its title already
            values = {"written": self._notes.html(text, own.path, path, 1), "source": own.path}
            yield _page("own.html", path, days(own.title), **values)
            yield self._data(path, own_data(own))
        for talk in (site.talks or {}).values():
            messages = list(map(said_values, talk.events))
            yield _page("talk.html", talk.path, talk.title, said=messages, about=days(talk.about), asked="")
            yield self._data(talk.path, talk_data(talk))
        paths = {topic: site_path(topic_page(topic)) for topic in site.totals}
        yield data_path(TOPICS), self._search.put(TOPICS, topics_data(site.totals, paths))
        yield from self._index()
        yield from self._own_list()
        for name, title, category in _RECORDS:
            for path, values in record_pages(name, category, self._records[category]):
                yield _page("records.html", path, title, **values)
        yield _page("search.html", "search.html", "Search", messages=site.talks is not None)
        yield _page("graph.html", "graph.html", "Graph")
        yield from self._search.files()
        yield self._graph.file(site.entries)

    def _data(self, path: str, data: Mapping[str, Any]) -> File:
        return data_path(key_of(path)), self._search.put(key_of(path), data)

    def _entity(self, page: SitePage) -> Iterator[File]:
        path = site_path(page.page.path)
        data = entity_data(page, self._known)
        self._graph.put(data)
        rows = list(news_of(page.page, path))
        for row in rows:
            self._records.get(row.category, []).append(row)
        fresh = (row for row in rows if row.category or row.kind == ENDED)
        self._news = nlargest(NEWS, [*self._news, *fresh], key=lambda row: (row.at, row.link))
        view = EntityView(page, "../" * path.count("/"), self._known, self._talk_of)
        values = view.values(self._written(page.notes, path))
        self._leads[path] = values["lead"]["fact"]["text"] if values["lead"] else ""
        for sides in page.page.conflicts[:1]:
            texts = [place.fact.fact for place in sides]
            self._questions.append((path, page.page.entity.title, len(page.page.conflicts), texts))
        yield _page("entity.html", path, page.page.entity.title, **values)
        yield self._data(path, data)

    def _talk_of(self, event: Event) -> str | None:
        """Return the address of what was said around an event, or None if the site does not have it."""
        talk = (self._site.talks or {}).get(conversation_of(event)[0])
        return f"{talk.path}#{event.id}" if talk and event in talk.events else None

    def _topic(self, topic: SiteTopic) -> Iterator[File]:
        page = topic.page
        path = site_path(page.path)
        found = parts(path, self._links(page.entities, page.path))
        values = {
            "links": found[0].items,
            "written": self._written(((page.path, topic.notes),) if topic.notes else (), path),
        }
        yield _page("topic.html", path, page.topic, **values, parts=part_links(found[0]))
        yield from _further(page.topic, found)

    def _index(self) -> Iterator[File]:
        site = self._site
        groups = []
        for title, entries in grouped_entries(site.entries):
            items = [(site_path(each.path), each.title, card_words(each.claims, each.newest)) for each in entries]
            found = parts(f"index_{file_name(title.casefold())}.html", items)
            newest = sorted(entries, key=lambda each: (each.newest or "", each.claims), reverse=True)[:CARDS]
            shown = {site_path(each.path) for each in newest} if title == "Projects" else ()
            cards = [(*item, self._leads.get(item[0], "")) for item in items if item[0] in shown]
            groups.append((title, cards, found[0].items, part_links(found[0])))
            yield from _further(title, found)
        topics = sorted(site.totals.items(), key=lambda item: (item[0].casefold(), item[0]))
        rows = [(site_path(topic_page(topic)), topic, counted(claims, "fact")) for topic, claims in topics]
        found = parts("index_topics.html", rows)
        yield from _further("Topics", found)
        asked = nlargest(_QUESTIONS, self._questions, key=lambda question: question[2])
        values: dict[str, Any] = {"groups": groups, "topics": (found[0].items, part_links(found[0])), "waits": asked}
        written = self._written(((INDEX, site.notes),) if site.notes else (), "index.html")
        values |= {"news": self._news, "written": written, "messages": site.talks is not None}
        yield _page("index.html", "index.html", "Memory", **values)

    def _own_list(self) -> Iterator[File]:
        rows = [(own_path(path), days(title), path) for path, title in self._site.others.items()]
        rows.sort(key=lambda row: (row[2].startswith("daily/"), row[1].casefold(), row[2]))
        talks = reversed(list((self._site.talks or {}).values()))
        rows += [
            (talk.path, talk.title, f"{days(talk.about)}, {counted(len(talk.events), 'message')}") for talk in talks
        ]
        for part in parts("pages.html", rows):
            yield _page("pages.html", part.path, "Pages", rows=part.items, parts=part_links(part))

    def _links(self, links: Iterable[PageLink], page: str) -> list[tuple[str, str, str]]:
        here = site_path(page)
        places = ((link, self._known.get(link.page) or site_path(link.page)) for link in links)
        return [(relative_link(here, place), link.title, counted(link.claims, "claim")) for link, place in places]

    def _written(self, notes: Iterable[tuple[str, str]], page: str) -> list[Markup]:
        return [self._notes.html(text, path, page) for path, text in notes]


def _page(name: str, path: str, title: str, **values: Any) -> tuple[str, bytes]:
    root = "../" * path.count("/")
    menu = [(root + target, words, mark, target == path) for target, words, mark in _MENU]
    text = template(name).render(title=title, root=root, menu=menu, policy=POLICY, waiting_count=0, **values)
    return path, text.encode("utf-8", errors="replace")


def _further(title: str, found: list[Part]) -> Iterator[File]:
    """Yield the further parts of a list of links."""
    for part in found[1:]:
        heading, values = f"{title}, part {part.number}", {"links": part.items, "parts": part_links(part)}
        yield _page("topic.html", part.path, heading, written=[], **values)


def card_words(claims: int, newest: str | None) -> str:
    """Return how much is known of an entity, and since when."""
    return ", ".join([counted(claims, "fact"), *([days(newest)] if newest else [])])


def said_values(event: Event) -> dict[str, str]:
    """Return what the page of a conversation shows of an event."""
    who, time = display_speaker(event), f"{days(event.timestamp[:10])}, {event.timestamp[11:16]}"
    return {"id": event.id, "who": who, "time": time, "text": event.text}


# How one does something stands before what is so, first the recipes; a statement with code in it is one, too.
_FIRST = {"procedure": 0, "recipe": 0, **dict.fromkeys("rule instruction constraint guardrail".split(), 1)}


def lead_of(title: str, is_project: bool, facts: Sequence[Fact]) -> Fact | None:
    """Return the fact that says what an entity is, or None: of a project, also one that only begins with "is"."""
    starts = [f"{title} is {word}" for word in ("a ", "an ", "the ", *([""] if is_project else []))]
    found = (fact for start in starts for fact in facts if fact.category != DECISION and fact.fact.startswith(start))
    return next(found, None)


class EntityView:
    """What the page of an entity shows, on a site and on the dashboard. `root` leads to the first page, and `talk` from
    an event to what was said around it, if there is a page of it."""

    def __init__(self, value: SitePage, root: str, known: Mapping[str, str], talk: TalkOf) -> None:
        self._value = value
        self._root = root
        self._known = known
        self._talk = talk
        self._rivals: dict[str, list[FactPlace]] = {}
        for place, other in value.page.conflicts:
            self._rivals.setdefault(place.fact.id, []).append(other)
            self._rivals.setdefault(other.fact.id, []).append(place)

    def values(self, written: list[Markup]) -> dict[str, Any]:
        """Return the values of the template. `written` is what people wrote on the page."""
        page, entity = self._value.page, self._value.page.entity
        kind = entity.kind or kind_of(entity.name)
        lead = lead_of(entity.title, kind == "project", [claim.fact for claim in page.claims])
        leading = next((claim for claim in page.claims if claim.fact is lead), None)
        claims: dict[str, list[WikiClaim]] = {DECISION: [], LESSON: [], "": []}
        for claim in page.claims:
            if claim is not leading:
                claims[claim.fact.category if claim.fact.category in claims else ""].append(claim)
        claims[""].sort(key=lambda claim: 0 if "`" in claim.fact.fact else _FIRST.get(claim.fact.category, 2))
        now = "How it works now" if kind == "project" else "What holds now"
        groups = [(now, claims[""], False), ("Decisions", claims[DECISION], True), ("Lessons", claims[LESSON], False)]
        beside = self._beside()
        rows = (row._replace(place=None) for row in news_of(page, self._address(page.path)) if row.kind != NEW)
        return {
            "entity": entity,
            "node": site_path(page.path),
            "kind": kind.capitalize(),
            "lead": None if leading is None else self._claim(leading),
            "people": [place for place in beside if "/people/" in place[0]],
            "related": [place for place in beside if "/people/" not in place[0]],
            "groups": [(title, list(map(self._claim, items)), track) for title, items, track in groups if items],
            "conflicts": self._conflicts(),
            "doubtful": [(self._fact(claim.fact), claim.reason) for claim in page.doubtful],
            "coming": list(map(self._fact, page.coming)),
            "ended": list(map(self._fact, page.ended)),
            "timeline": sorted(rows, key=lambda row: row.at, reverse=True),
            "sources": self._sources(),
            "topics": self._links(page.topics),
            "said": [(row.who, row.text, self._root + row.place, days(row.at[:10])) for row in self._value.said],
            "held_back": page.held_back,
            "written": written,
        }

    def _address(self, page: str) -> str:
        return self._root + (self._known.get(page) or site_path(page))

    def _links(self, links: Iterable[PageLink]) -> list[tuple[str, str, str]]:
        return [(self._address(link.page), link.title, counted(link.claims, "claim")) for link in links]

    def _beside(self) -> list[tuple[str, str]]:
        """Return the entities that the claims name, and those whose claims name this one, most often named first."""
        page, found = self._value.page, Counter[tuple[str, str]]()
        for claim in page.claims:
            found.update(claim.mentions)
            found.update((each.place.page, each.place.title) for each in claim.premises if each.place.page)
        found.update({(link.page, link.title): link.claims for link in page.backlinks})
        return [(self._address(path), title) for (path, title), _ in found.most_common() if path != page.path]

    def _sources(self) -> list[tuple[str, str | None, int]]:
        found = Counter[tuple[str, str | None]]()
        for claim in self._value.page.claims:
            fact = self._fact(claim.fact)
            typed = "typed by a person" if claim.fact.source == "user" else claim.fact.source
            found[" on ".join(fact["said"]) if fact["said"] else typed, fact["talk"]] += 1
        return [(*source, count) for source, count in found.most_common()]

    def _claim(self, claim: WikiClaim) -> dict[str, Any]:
        text, places = claim.fact.fact, [(self._address(path), title) for path, title in claim.mentions]
        # People call each other by their first names.
        called = [(address, title if title in text else title.partition(" ")[0]) for address, title in places]
        return {
            "fact": self._fact(claim.fact),
            "reasons": list(reasons_of(claim.fact)),
            "mentions": called,
            "others": [place for place, name in zip(places, called, strict=True) if name[1] not in text],
            "premises": [(self._side(premise.place), premise.reason) for premise in claim.premises],
            "replaced": self._history(claim),
            "conflicts": [self._side(rival) for rival in self._rivals.get(claim.fact.id, ())],
        }

    def _history(self, claim: WikiClaim) -> list[tuple[dict[str, Any], str, str]]:
        """Return what a claim replaced, newest first, each with the day and with what replaced it."""
        heirs = {fact.id: fact for fact in (claim.fact, *claim.replaced)}
        found = []
        for old in claim.replaced:
            heir = heirs.get(old.superseded_by or "", claim.fact)
            found.append((self._fact(old), days(day_of(heir.timestamp)), heir.fact))
        return found

    def _conflicts(self) -> list[list[dict[str, Any]]]:
        """Return both sides of each conflict. A fact of this page that has no other place has its id here."""
        page = self._value.page
        placed = {claim.fact.id for claim in page.claims} | {claim.fact.id for claim in page.doubtful}
        placed |= {old.id for claim in page.claims for old in claim.replaced}
        found = []
        for conflict in page.conflicts:
            sides = []
            for place in conflict:
                is_here = place.page == page.path and place.fact.id not in placed
                placed.add(place.fact.id)
                sides.append({**self._side(place), "id": place.fact.id if is_here else None})
            found.append(sides)
        return found

    def _side(self, place: FactPlace) -> dict[str, Any]:
        link = f"{self._address(place.page)}#{place.fact.id}" if place.page else None
        return {"link": link, "title": place.title, "fact": self._fact(place.fact)}

    def _fact(self, fact: Fact) -> dict[str, Any]:
        event = self._value.events.get(fact.source_event or "")
        talk = None if event is None else self._talk(event)
        source = None if event is None else (display_speaker(event), days(day_of(event.timestamp)))
        return {**fact_values(fact), "talk": self._root + talk if talk else None, "said": source}


def fact_values(fact: Fact) -> dict[str, Any]:
    """Return what every page shows of a fact."""
    return {
        "id": fact.id,
        "text": fact.fact,
        "category": "" if fact.category in ("fact", DECISION, LESSON) else fact.category,
        "dates": days(fact_dates(fact)),
        "recorded": days(day_of(fact.timestamp)),
        "confidence": None if fact.confidence is None else f"{fact.confidence:.2f}",
        "unsure": fact.confidence is not None and fact.confidence < 0.8,
        "trust": trust_words(fact).replace("from user", "from a person"),
        "labels": list(map(days, change_labels(fact))),
        "source": fact.source,
        "event": fact.source_event,
        "quote": fact.source_text,
        "tags": fact.tags,
    }
