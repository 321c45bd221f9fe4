"""Sites for tests, from values: one with every text of a page an attack, one with every part of a page."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from clawmem.faces.web.render_site import render_site
from clawmem.model.facts.fact import SUPERSEDED, Fact, FactLink
from clawmem.model.records.entity import Entity
from clawmem.model.records.event import Event
from clawmem.model.wiki.names import INDEX, entity_page, topic_page
from clawmem.model.wiki.page import (
    DoubtfulClaim,
    EntityPage,
    FactPlace,
    PageEntry,
    PageLink,
    Premise,
    TopicPage,
    WikiClaim,
    WikiConflict,
)
from clawmem.model.wiki.site import Site
from clawmem.wiki.write_site import write_site


def site_of(texts: Iterable[str]) -> Site:
    """A site with a page for each text, which is everything on its page that the vault can say."""
    given = tuple(texts)
    pages = tuple(_page(number, text) for number, text in enumerate(given))
    topics = tuple(
        TopicPage(_topic(text), text, (PageLink(page.path, text, 1),)) for page, text in zip(pages, given, strict=True)
    )
    entries = tuple(
        PageEntry(page.path, page.entity.title, [], text or "area", 1, 1, "2026-11-20", {}, {text: 1}, None)
        for page, text in zip(pages, given, strict=True)
    )
    events = {
        f"evt_{number}": Event(f"evt_{number}", "2026-11-20T09:00:00Z", "user", text, speaker=text)
        for number, text in enumerate(given)
    }
    written = {page.path: f"# {text}\n\n{text}\n\n- {text}\n" for page, text in zip(pages, given, strict=True)}
    return Site(pages, topics, entries, events, {**written, INDEX: "\n\n".join(given)})


def write(site: Site, folder: Path) -> Path:
    write_site(folder, render_site(site))
    return folder


def fact(fact_id: str, text: str, **keys: object) -> Fact:
    return Fact(fact_id, text, "fact", "2026-11-20T09:00:00Z", "user")._replace(**keys)  # type: ignore[arg-type]


def _topic(text: str) -> str:
    return topic_page(text.encode(errors="replace").decode())


def _page(number: int, text: str) -> EntityPage:
    name = f"areas/number-{number}"
    path = entity_page(name)
    common = {
        "source": text, "tags": (text,), "trust": text, "source_text": text, "source_event": f"evt_{number}",
        "confidence": 0.9, "links": (FactLink("depends_on", f"fact_{number}p", text),),
        "metadata": {"said_at": text}, "valid_from": text,
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
