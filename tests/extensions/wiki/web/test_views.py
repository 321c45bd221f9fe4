"""The site in a real browser: every view, search, the graph with its filters, and accessibility by axe."""

from __future__ import annotations

import base64
import re
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from clawmem.extensions.wiki.web.render_site import render_site
from tests.browser import Visit, needs_browser
from tests.extensions.wiki.web.sites import dense_site, small_site, write

VIEWS = (
    "index.html", "areas/people/jane.html", "projects/boat.html", "topics/sea.html", "search.html?q=oslo",
    "graph.html", "decisions.html", "lessons.html", "pages.html", "own/wiki/sailing-ff9c89e5.html",
)  # fmt: skip
# The graph, which takes longest, is looked at in the other scheme and in the dashboard.
EACH_TEMPLATE = tuple(view for view in VIEWS if view not in ("projects/boat.html", "graph.html", "lessons.html"))


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write(small_site(), tmp_path_factory.mktemp("views") / "site")


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
        "<p>I moved to Bergen</p>", "by Jane on 2 Mar 2026", "<dd>0.90</dd>", "What it replaced",
        "Jane lives in Oslo.", 'href="../../projects/boat.html#fact_long"', "A long boat.", "Also known as Janie",
        "nobody confirmed it for 180 days", "1 fact is kept back", "<em>tea</em>",
        '<a href="../../projects/boat.html">the boat</a>', "<h3>Notes</h3>",
        "Replaced on 20 Nov 2026 by: Jane lives in Bergen.", '<li>Why: <span dir="auto">Storms.</span></li>',
        '<li>Not chosen: <span dir="auto">A buoy: too far out</span></li>',
    ):  # fmt: skip
        assert words in jane, words
    boat = (folder / "projects/boat.html").read_text("utf-8")
    assert "Open questions" in boat and "The boat is red." in boat and "The boat is blue." in boat
    assert 'href="../areas/people/jane.html"' in boat and "from agent, unreviewed" in boat
    assert "Jane rents a large berth." in (folder / "decisions.html").read_text("utf-8")


def test_the_home_page_says_what_is_new_and_changed_and_leads_on(folder: Path) -> None:
    home = (folder / "index.html").read_text("utf-8")
    for words in (
        '<i class="dot changed"></i>', "<del>Jane lives in Oslo.</del>", "Because: Storms.", "question is open",
        "The boat is blue.",
        'href="areas/people/jane.html#fact_home"', 'href="projects/boat.html#conflicts"', "<h3 dir=\"auto\">Boat</h3>",
    ):  # fmt: skip
        assert words in home, words


def test_entities_lead_to_each_other(folder: Path) -> None:
    jane, boat = ((folder / path).read_text("utf-8") for path in ("areas/people/jane.html", "projects/boat.html"))
    assert '<li><a href="../../projects/boat.html" dir="auto">' in jane
    assert '<li><a href="../areas/people/jane.html" dir="auto">' in boat


def test_a_page_of_people_has_resolved_links_and_marks_dead_ones(folder: Path) -> None:
    page = (folder / "own/wiki/sailing-ff9c89e5.html").read_text("utf-8")
    dead = '<span class="dead" title="There is no such page.">'
    outside = 'class="outside" rel="noreferrer noopener"'
    for words in (
        '<a href="../../areas/people/jane.html">her</a>', '<a href="../../projects/boat.html">Boat</a>',
        f"{dead}Raft</span>", f'<a href="https://charts.example/north.png" {outside}>chart</a>', f"{dead}gone</span>",
        f'<a href="https://rules.example/" {outside}>rules</a>', "<code>wiki/Sailing.md</code>",
    ):  # fmt: skip
        assert words in page, words
    assert 'href="own/wiki/sailing-ff9c89e5.html"' in (folder / "pages.html").read_text("utf-8")


@needs_browser
def test_search_finds_a_claim_and_leads_to_it(visit: Visit) -> None:
    visit.open("search.html")
    page = visit.page
    page.keyboard.type("bergn")
    page.locator("#results a", has_text="Jane lives in Bergen.").click()
    assert page.url.endswith("areas/people/jane.html#fact_home")
    page.keyboard.press("Tab")
    page.locator("summary", has_text="history").press("Enter")
    assert page.locator("#fact_old").is_visible()


def test_links_to_facts_lead_to_an_element(folder: Path) -> None:
    for path in ("areas/people/jane.html", "projects/boat.html"):
        text = (folder / path).read_text("utf-8")
        ids = re.findall(r' id="([^"]+)"', text)
        assert len(ids) == len(set(ids))
        for target, fact_id in re.findall(r'href="([^"#]+)#(fact_[^"]+)"', text):
            assert f' id="{fact_id}"' in ((folder / path).parent / target).read_text("utf-8"), fact_id


def test_trust_is_said_once(folder: Path) -> None:
    boat = (folder / "projects/boat.html").read_text("utf-8")
    assert "from outside, unverified)" in boat and "from from" not in boat and "from agent, unreviewed" in boat


@needs_browser
def test_search_finds_what_is_no_current_claim_and_says_so(visit: Visit) -> None:
    page = visit.page
    for words, place, about in (
        ("blue", "projects/boat.html#fact_blue", "Boat, fact, 20 Nov 2026, from outside, unverified, in conflict"),
        ("oslo", "areas/people/jane.html#fact_old", "Jane, fact, 20 Nov 2026, replaced"),
        ("tea", "areas/people/jane.html#fact_tea", "Jane, fact, 20 Nov 2026, in doubt"),
    ):
        visit.open(f"search.html?q={words}")
        page.locator("#results .meta", has_text=about).wait_for()
        assert page.locator("#results mark").first.inner_text().lower() == words
        page.locator(f"#results a[href='{place}']").click()
        assert page.locator(":target").is_visible(), words


@needs_browser
def test_search_finds_the_reason_of_a_statement_and_says_it(visit: Visit) -> None:
    for words in ("storms", "buoy far"):
        visit.open(f"search.html?q={words}")
        found = visit.page.locator("#results li", has_text="because: Storms.; A buoy: too far out")
        assert found.locator("mark").first.inner_text().lower() == words.split()[0]
        found.locator("a").click()
        assert visit.page.locator(":target").get_by_text("Storms.").is_visible(), words


@needs_browser
def test_current_claims_come_before_others(visit: Visit) -> None:
    visit.open("search.html?q=jane lives in")
    visit.page.locator("#results li").nth(1).wait_for()
    links = [other.get_attribute("href") for other in visit.page.locator("#results a").all()]
    assert links == ["areas/people/jane.html#fact_home", "areas/people/jane.html#fact_old"]


@needs_browser
def test_the_graph_shows_a_neighbourhood_filters_and_goes_back_in_time(visit: Visit) -> None:
    visit.open("graph.html#projects/boat.html")
    page = visit.page
    rows = page.locator("#rows tr")

    def shows(text: str) -> bool:
        return bool(page.locator("#rows td:first-child", has_text=text).count())

    assert page.locator("#centre").input_value() == "Boat" and page.locator("#day").inner_text() == "today"
    page.locator("#picked", has_text="The boat is 9 m long.").wait_for()
    assert rows.count() == 3 and shows("Boat") and shows("Jane rents a large berth.")
    page.get_by_text("Filter").click()
    page.select_option("#reach", "all")
    page.locator("#kinds input[value=fact]").check()
    assert rows.count() == 8 and not shows("Jane lives in Oslo.")
    page.locator("#kinds input[value=decision]").uncheck()
    assert rows.count() == 7 and not shows("berth")
    page.select_option("#trust", "external")
    assert rows.count() == 3 and shows("The boat is blue.")
    page.select_option("#trust", "")
    page.locator("#time").fill("0")
    assert page.locator("#day").inner_text() == "2020-01-01"
    assert shows("Jane lives in Oslo.") and not shows("Jane lives in Bergen.")
    page.fill("#centre", "Jane")
    page.select_option("#reach", "1")
    page.locator("#time").fill(str(page.locator("#time").get_attribute("max")))
    assert shows("Jane lives in Bergen.") and not shows("The boat is red.")
    assert page.locator("#drawing canvas").count() > 0


# The sizes of the connected areas of one colour in a picture, in pixels.
_AREAS = """async ([picture, colour]) => {
  const shown = await createImageBitmap(await (await fetch("data:image/png;base64," + picture)).blob());
  const [wide, high] = [shown.width, shown.height];
  const context = new OffscreenCanvas(wide, high).getContext("2d");
  context.drawImage(shown, 0, 0);
  const { data } = context.getImageData(0, 0, wide, high);
  const left = new Set();
  const has = (at) => colour.every((part, number) => data[4 * at + number] === part);
  for (let at = 0; at < wide * high; at += 1) if (has(at)) left.add(at);
  const sizes = [];
  for (const start of left) {
    const open = [start];
    let size = 0;
    left.delete(start);
    while (open.length) {
      const at = open.pop();
      size += 1;
      for (const next of [at - 1, at + 1, at - wide, at + wide]) if (left.delete(next)) open.push(next);
    }
    sizes.push(size);
  }
  return sizes;
}"""


@needs_browser
@pytest.mark.parametrize("width", [390, pytest.param(1400, marks=pytest.mark.soak)])
def test_no_page_lies_over_another_in_a_dense_graph(browser: Any, tmp_path: Path, width: int) -> None:
    visit = Visit(browser, write(dense_site(), tmp_path / "site"), viewport={"width": width, "height": 900})
    visit.open("graph.html")
    visit.page.locator("#status", has_text="links").wait_for()
    accent = visit.page.evaluate("getComputedStyle(document.querySelector('#legend i')).backgroundColor")
    colour = [int(part) for part in re.findall(r"\d+", accent)]
    picture = base64.b64encode(visit.page.locator("#drawing").screenshot()).decode()
    other = browser.new_page()
    sizes = [size for size in other.evaluate(_AREAS, [picture, colour]) if size > 100]
    other.close()
    # Each of the projects is a whole circle, but for the letters in it.
    assert len(sizes) == 12 and min(sizes) > 0.7 * max(sizes), sizes
    assert visit.problems == []
    visit.close()


@needs_browser
@pytest.mark.skipif(find_spec("axe_playwright_python") is None, reason="axe is not installed: pip install -e '.[dev]'")
@pytest.mark.parametrize(
    ("scheme", "width", "views"),
    [
        ("light", 1280, EACH_TEMPLATE),
        ("dark", 390, ("areas/people/jane.html", "graph.html")),
        pytest.param("light", 1280, VIEWS, marks=pytest.mark.soak),
    ],
)
def test_axe_finds_no_violation(browser: Any, folder: Path, scheme: str, width: int, views: tuple[str, ...]) -> None:
    from axe_playwright_python.sync_playwright import Axe

    visit = Visit(browser, folder, viewport={"width": width, "height": 900}, color_scheme=scheme)
    for view in views:
        visit.open(view)
        visit.page.evaluate("document.querySelectorAll('details').forEach((one) => { one.open = true; })")
        # Without `preload`, axe does not fetch the style sheet, which the policy would refuse.
        found = Axe().run(visit.page, options={"preload": False}).response["violations"]
        assert [(view, other["id"], other["nodes"][0]["html"]) for other in found] == []
        assert visit.page.evaluate("document.documentElement.scrollWidth") <= width
    assert visit.problems == []
    visit.close()


@needs_browser
@pytest.mark.skipif(find_spec("axe_playwright_python") is None, reason="axe is not installed: pip install -e '.[dev]'")
def test_axe_sees_what_it_looks_for(browser: Any, folder: Path, tmp_path: Path) -> None:
    from axe_playwright_python.sync_playwright import Axe

    text = (folder / "search.html").read_text("utf-8")
    (tmp_path / "search.html").write_text(
        text.replace('<label for="query" class="off">', "<label>").replace("placeholder", "data-x"), "utf-8"
    )
    visit = Visit(browser, tmp_path)
    visit.open("search.html")
    assert "label" in {
        violation["id"] for violation in Axe().run(visit.page, options={"preload": False}).response["violations"]
    }
    visit.close()
