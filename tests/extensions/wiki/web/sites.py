"""Sites for tests, from values: one with every text of a page an attack, one with every part of a page."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from clawmem.extensions.wiki.site import write_site
from clawmem.extensions.wiki.values.page import (
    DoubtfulClaim,
    EntityPage,
    FactPlace,
    OwnPage,
    PageEntry,
    PageLink,
    Premise,
    Site,
    SitePage,
    SiteTopic,
    TopicPage,
    WikiClaim,
    WikiConflict,
    entity_page,
    topic_page,
)
from clawmem.extensions.wiki.web.render_site import render_site
from clawmem.model.facts.fact import SUPERSEDED, Fact, FactLink
from clawmem.model.records.entity import Entity
from clawmem.model.records.event import Event

JANE, BOAT, SEA = "wiki/areas/people/jane.md", "wiki/projects/boat.md", "wiki/topics/sea.md"
SAILING = "wiki/Sailing.md"


def site_of(texts: Iterable[str]) -> Site:
    """A site with a page for each text, which is everything on its page that the vault can say."""
    items = tuple(texts)
    pages = tuple(
        SitePage(
            _page(number, text),
            {f"evt_{number}": Event(f"evt_{number}", "2026-11-20T09:00:00Z", "user", text, speaker=text)},
            ((entity_page(f"areas/number-{number}"), f"# {text}\n\n{text}\n\n- {text}\n\n[[{text}]]\n"),),
        )
        for number, text in enumerate(items)
    )
    links = {text: (PageLink(site_page.page.path, text, 1),) for site_page, text in zip(pages, items, strict=True)}
    topics = tuple(SiteTopic(TopicPage(_topic(text), text, links[text]), text) for text in items)
    entries = tuple(
        PageEntry(
            site_page.page.path, text, [], text or "area", 1, 1, "2026-11-20", {site_page.page.path: 1}, {text: 1}, None
        )
        for site_page, text in zip(pages, items, strict=True)
    )
    own = tuple(OwnPage(f"wiki/{text}.md", text, text) for text in items)
    totals = dict.fromkeys(items, 1)
    return Site(pages, topics, own, entries, totals, {page.path: page.title for page in own}, "\n\n".join(items))


def small_site() -> Site:
    """A site with every part of a page: history, premises, a conflict, a doubt, topics, backlinks, notes."""
    quoted = {"source_event": "evt_1", "source_text": "I moved to Bergen", "confidence": 0.9}
    home = fact("fact_home", "Jane lives in Bergen.", valid_from="2026-03-01", **quoted)
    old = fact("fact_old", "Jane lives in Oslo.", status=SUPERSEDED, superseded_by=home.id, valid_from="2020-01-01")
    length = fact("fact_long", "The boat is 9 m long.", tags=("sea",), trust="agent")
    berth = fact("fact_berth", "Jane rents a large berth.", category="decision", tags=("sea",))
    berth = berth._replace(details={"why": "Storms.", "alternatives": [{"option": "A buoy", "why": "too far out"}]})
    rivals = [fact("fact_red", "The boat is red."), fact("fact_blue", "The boat is blue.", trust="external")]
    jane = EntityPage(
        JANE,
        Entity("areas/people/jane", "Jane", ("Janie",)),
        (
            WikiClaim(home, (old,)),
            WikiClaim(berth, (), (Premise(FactPlace(length, BOAT, "Boat"), "A long boat."),), ((BOAT, "Boat"),)),
        ),
        doubtful=(DoubtfulClaim(fact("fact_tea", "Jane likes tea."), "nobody confirmed it for 180 days"),),
        topics=(PageLink(SEA, "sea", 1),),
        held_back=1,
    )
    boat = EntityPage(
        BOAT,
        Entity("projects/boat", "Boat"),
        (WikiClaim(length),),
        (WikiConflict(FactPlace(rivals[0], BOAT, "Boat"), FactPlace(rivals[1], BOAT, "Boat")),),
        backlinks=(PageLink(JANE, "Jane", 1),),
    )
    entries = (
        PageEntry(JANE, "Jane", ["Janie"], "person", 2, 0, "2026-11-20", {BOAT: 1}, {"sea": 1}, None),
        PageEntry(BOAT, "Boat", [], "project", 1, 1, "2026-11-20", {}, {"sea": 1}, None),
    )
    topic = SiteTopic(TopicPage(SEA, "sea", (PageLink(BOAT, "Boat", 1), PageLink(JANE, "Jane", 1))))
    event = Event("evt_1", "2026-03-02T08:00:00Z", "user", "I moved to Bergen yesterday.", speaker="Jane")
    notes = "# Notes\n\nShe likes *tea*. See [the boat](../../projects/boat.md).\n\n| a | b |\n|---|--:|\n| 1 | 2 |"
    sailing = (
        "With [[jane|her]], on the [[Boat]], not on the [[Raft]]. ![chart](https://charts.example/north.png)"
        " [gone](gone.md) [rules](https://rules.example/)"
    )
    own = OwnPage(SAILING, "Sailing", sailing)
    pages = (SitePage(jane, {"evt_1": event}, ((JANE, notes),)), SitePage(boat, {}))
    return Site(pages, (topic,), (own,), entries, {"sea": 2}, {SAILING: "Sailing"})


def dense_site() -> Site:
    """A site of 12 projects and 48 people, each of which names most of the others, one of them in a decision."""
    names = [f"projects/project-{n}" for n in range(12)] + [f"areas/people/person-{n}" for n in range(48)]
    pages, entries = [], []
    for at, name in enumerate(names):
        others = [entity_page(names[(at + step) % len(names)]) for step in range(1, 50)]
        claims = tuple(
            WikiClaim(
                fact(f"fact_{at}x{step}", f"Claim {step} of {at}.", category="fact" if step else "decision"),
                mentions=((path, path),),
            )
            for step, path in enumerate(others)
        )
        title, path = name.rpartition("/")[2], entity_page(name)
        kind = "project" if at < 12 else "person"
        pages.append(SitePage(EntityPage(path, Entity(name, title), claims), {}))
        entries.append(PageEntry(path, title, [], kind, 49, 0, "2026-11-20", dict.fromkeys(others, 1), {}, None))
    return Site(tuple(pages), (), (), tuple(entries), {}, {})


def write(site: Site, folder: Path) -> Path:
    write_site(folder, render_site(site))
    return folder


def fact(fact_id: str, text: str, **keys: object) -> Fact:
    return Fact(fact_id, text, "fact", "2026-11-20T09:00:00Z", "user")._replace(**keys)  # type: ignore[arg-type]


def _topic(text: str) -> str:
    return topic_page(text)


def _page(number: int, text: str) -> EntityPage:
    name = f"areas/number-{number}"
    path = entity_page(name)
    common = {
        "source": text, "tags": (text,), "trust": text, "source_text": text, "source_event": f"evt_{number}",
        "confidence": 0.9, "links": (FactLink("depends_on", f"fact_{number}p", text),),
        "metadata": {"said_at": text}, "valid_from": text,
        "details": {"why": text, "because": text, "alternatives": [{"option": text, "why": text}]},
    }  # fmt: skip
    main = fact(f"fact_{number}", text, category=text, **common)
    old = fact(f"fact_{number}o", text, status=SUPERSEDED, superseded_by=main.id, **common)
    base = FactPlace(fact(f"fact_{number}p", text, **common), path, text)
    rival = FactPlace(fact(f"fact_{number}r", text, **common), None, text)
    claim = WikiClaim(main, (old,), (Premise(base, text),), ((path, text),))
    decided = WikiClaim(fact(f"fact_{number}d", text, **{**common, "category": "decision"}))
    return EntityPage(
        path,
        Entity(name, text, (text,), text),
        (claim, decided),
        (WikiConflict(FactPlace(main, path, text), rival),),
        (DoubtfulClaim(fact(f"fact_{number}u", text, **common), text),),
        (PageLink(_topic(text), text, 1),),
        (PageLink(path, text, 1),),
        3,
    )
