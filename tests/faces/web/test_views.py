"""The site in a real browser: every view, search, the graph with its filters, and accessibility by axe."""

from __future__ import annotations

from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from clawmem.faces.web.render_site import render_site
from clawmem.model.facts.fact import SUPERSEDED
from clawmem.model.records.entity import Entity
from clawmem.model.records.event import Event
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
from tests.browser import Visit, needs_browser, open_browser
from tests.faces.web.sites import fact, write

JANE, BOAT, SEA = "wiki/areas/people/jane.md", "wiki/projects/boat.md", "wiki/topics/sea.md"
VIEWS = (
    "index.html", "areas/people/jane.html", "projects/boat.html", "topics/sea.html", "search.html?q=oslo",
    "graph.html", "decisions.html", "lessons.html",
)  # fmt: skip


def small_site() -> Site:
    """A site with every part of a page: history, premises, a conflict, a doubt, topics, backlinks, notes."""
    quoted = {"source_event": "evt_1", "source_text": "I moved to Bergen", "confidence": 0.9}
    home = fact("fact_home", "Jane lives in Bergen.", valid_from="2026-03-01", **quoted)
    old = fact("fact_old", "Jane lives in Oslo.", status=SUPERSEDED, superseded_by=home.id, valid_from="2020-01-01")
    length = fact("fact_long", "The boat is 9 m long.", tags=("sea",), trust="agent")
    berth = fact("fact_berth", "Jane rents a large berth.", category="decision", tags=("sea",))
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
    topic = TopicPage(SEA, "sea", (PageLink(BOAT, "Boat", 1), PageLink(JANE, "Jane", 1)))
    event = Event("evt_1", "2026-03-02T08:00:00Z", "user", "I moved to Bergen yesterday.", speaker="Jane")
    notes = "# Notes\n\nShe likes *tea*. See [the boat](../../projects/boat.md).\n\n| a | b |\n|---|--:|\n| 1 | 2 |"
    return Site((jane, boat), (topic,), entries, {"evt_1": event}, {JANE: notes})


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write(small_site(), tmp_path_factory.mktemp("views") / "site")


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    with open_browser() as opened:
        yield opened


@pytest.fixture
def visit(browser: Any, folder: Path) -> Iterator[Visit]:
    visit = Visit(browser, folder)
    yield visit
    visit.close()
    assert visit.problems == [] and visit.outside() == []


def test_the_same_site_gives_the_same_bytes() -> None:
    assert dict(render_site(small_site())) == dict(render_site(small_site()))


def test_a_page_shows_evidence_history_premises_conflicts_and_notes(folder: Path) -> None:
    jane = (folder / "areas/people/jane.html").read_text("utf-8")
    for words in (
        "<p>I moved to Bergen</p>", "evt_1, 2026-03-02, Jane", "<dd>0.90</dd>", "What it replaced",
        "Jane lives in Oslo.", 'href="../../projects/boat.html#fact_long"', "A long boat.", "Also known as Janie",
        "nobody confirmed it for 180 days", "1 fact does not pass the gates", "<em>tea</em>",
        '<a href="../../projects/boat.html">the boat</a>', "<h3>Notes</h3>",
    ):  # fmt: skip
        assert words in jane, words
    boat = (folder / "projects/boat.html").read_text("utf-8")
    assert "Open conflicts" in boat and "The boat is red." in boat and "The boat is blue." in boat
    assert 'href="../areas/people/jane.html"' in boat and "from agent, unreviewed" in boat
    assert "Jane rents a large berth." in (folder / "decisions.html").read_text("utf-8")


@needs_browser
def test_search_finds_a_claim_and_leads_to_it(visit: Visit) -> None:
    visit.open("search.html")
    page = visit.page
    page.keyboard.type("bergn")
    page.locator("#results a", has_text="Jane lives in Bergen.").click()
    assert page.url.endswith("areas/people/jane.html#fact_home")
    page.keyboard.press("Tab")
    page.locator("summary", has_text="history").press("Enter")
    assert page.get_by_text("Jane lives in Oslo.").is_visible()


@needs_browser
def test_the_graph_shows_a_neighbourhood_filters_and_goes_back_in_time(visit: Visit) -> None:
    visit.open(f"graph.html#{BOAT}")
    page = visit.page
    rows = page.locator("#rows tr")

    def shows(text: str) -> bool:
        return bool(page.locator("#rows td:first-child", has_text=text).count())

    assert page.locator("#centre").input_value() == "Boat"
    assert shows("Boat") and shows("Jane rents a large berth.") and not shows("Jane lives in Oslo.")
    page.select_option("#reach", "all")
    assert rows.count() == 9
    page.locator("#kinds input[value=decision]").uncheck()
    assert rows.count() == 8 and not shows("berth")
    page.select_option("#trust", "external")
    assert rows.count() == 3 and shows("The boat is blue.")
    page.select_option("#trust", "")
    page.locator("#time").fill("0")
    assert page.locator("#day").inner_text() == "2020-01-01"
    assert shows("Jane lives in Oslo.") and not shows("Jane lives in Bergen.")
    page.fill("#centre", "Jane")
    page.select_option("#reach", "1")
    page.locator("#time").press("End")
    assert shows("Jane lives in Bergen.") and not shows("The boat is red.")
    assert page.locator("#drawing canvas").count() > 0


@needs_browser
@pytest.mark.skipif(find_spec("axe_playwright_python") is None, reason="axe is not installed: pip install -e '.[dev]'")
@pytest.mark.parametrize(
    ("scheme", "width", "views"), [("light", 1280, VIEWS), ("dark", 390, ("areas/people/jane.html", "graph.html"))]
)
def test_axe_finds_no_violation(browser: Any, folder: Path, scheme: str, width: int, views: tuple[str, ...]) -> None:
    from axe_playwright_python.sync_playwright import Axe

    visit = Visit(browser, folder, viewport={"width": width, "height": 900}, color_scheme=scheme)
    for view in views:
        visit.open(view)
        visit.page.evaluate("document.querySelectorAll('details').forEach((one) => { one.open = true; })")
        # Without `preload`, axe does not fetch the style sheet, which the policy would refuse.
        found = Axe().run(visit.page, options={"preload": False}).response["violations"]
        assert [(view, one["id"], one["nodes"][0]["html"]) for one in found] == []
        assert visit.page.evaluate("document.documentElement.scrollWidth") <= width
    assert visit.problems == []
    visit.close()


@needs_browser
@pytest.mark.skipif(find_spec("axe_playwright_python") is None, reason="axe is not installed: pip install -e '.[dev]'")
def test_axe_sees_what_it_looks_for(browser: Any, folder: Path, tmp_path: Path) -> None:
    from axe_playwright_python.sync_playwright import Axe

    text = (folder / "search.html").read_text("utf-8")
    (tmp_path / "search.html").write_text(text.replace('<label for="query">', "<label>"), "utf-8")
    visit = Visit(browser, tmp_path)
    visit.open("search.html")
    assert "label" in {one["id"] for one in Axe().run(visit.page, options={"preload": False}).response["violations"]}
    visit.close()
