"""Nothing that a vault says runs, loads anything, or becomes an element of a page."""

from __future__ import annotations

from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest
from markupsafe import escape

from clawmem.extensions.wiki.web.notes import POLICY
from tests.browser import Visit, needs_browser
from tests.extensions.wiki.web.attacks import ATTACKS
from tests.extensions.wiki.web.sites import site_of, write

_ELEMENTS = set(
    "html head meta title link script body a header nav ul li main h1 h2 h3 h4 p section article details summary dl div"
    " dt dd blockquote span strong code footer ol form label input datalist select option output fieldset legend table"
    " thead tr th tbody button noscript em hr br pre td svg path circle rect line polyline i del time".split()
)
_ATTRIBUTES = set(
    "lang charset http-equiv content name rel href src defer class id aria-label aria-current tabindex dir role"
    " aria-labelledby for type autocomplete spellcheck list value selected min max scope hidden start title rel viewbox"
    " aria-hidden focusable placeholder d x y cx cy r width height rx ry points".split()
)


class _Elements(HTMLParser):
    """Every element of a page with its attributes, as a parser reads them."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.found: list[tuple[str, dict[str, str | None]]] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append((tag, dict(attrs)))


@pytest.fixture(scope="module")
def attacked(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write(site_of(ATTACKS), tmp_path_factory.mktemp("attacked") / "site")


def test_there_are_at_least_sixty_attacks() -> None:
    assert len(set(ATTACKS)) >= 60


def test_no_text_becomes_an_element_an_attribute_or_an_address(attacked: Path) -> None:
    pages = list(attacked.rglob("*.html"))
    assert len(pages) > 2 * len(ATTACKS)
    for page in pages:
        for tag, attributes in _Elements(page.read_text("utf-8")).found:
            assert tag in _ELEMENTS and attributes.keys() <= _ATTRIBUTES, (page, tag, attributes)
            if tag == "script":
                assert attributes.keys() == {"defer", "src"}
            if tag == "meta" and "http-equiv" in attributes:
                assert attributes["content"] in (POLICY, "off")
            for name in ("href", "src"):
                address = attributes.get(name)
                if address is not None and attributes.get("class") == "outside":
                    # A link that a person wrote: nothing loads until somebody follows it.
                    assert tag == "a" and attributes["rel"] == "noreferrer noopener"
                    assert address.startswith(("https://", "http://"))
                elif address is not None and not address.startswith("#"):
                    target = (page.parent / address.partition("#")[0]).resolve()
                    assert target.is_relative_to(attacked.resolve()) and target.is_file(), (page, address)


def test_data_scripts_are_one_assignment_in_ascii(attacked: Path) -> None:
    files = list((attacked / "data").rglob("*.js"))
    assert len(files) > 2 * len(ATTACKS)
    for file in files:
        lines = file.read_text("ascii").splitlines()
        assert len(lines) == 2 and "<" not in lines[1] and lines[1].endswith(";")


@needs_browser
@pytest.mark.parametrize("step", [45, pytest.param(1, marks=pytest.mark.soak)])
def test_nothing_runs_and_nothing_loads_in_a_browser(browser: Any, attacked: Path, step: int) -> None:
    """Index, decisions, search and graph show every attack; of the pages with one attack, a sample is opened."""
    pages = sorted(path.relative_to(attacked).as_posix() for path in attacked.rglob("*.html"))
    single = [page for page in pages if "/" in page]
    assert len(single) == 3 * len(ATTACKS)
    visit = Visit(browser, attacked)
    for page in ["index.html", "decisions.html", *single[::step]]:
        visit.open(page)
        assert visit.page.evaluate("window.attacked") is None, page
        assert (
            visit.page.locator("script:not([src]), style, img, svg:not(.icon), iframe, object, embed").count() == 0
        ), page
    visit.open("search.html")
    for words in ("script", "img", "click", "proto", "__proto__", "attacked"):
        visit.page.fill("#query", words)
    visit.page.locator("#results li").first.wait_for()
    visit.open("graph.html")
    visit.page.get_by_text("Filter").click()
    visit.page.select_option("#reach", "all")
    visit.page.locator("#kinds input[value=fact]").check()
    visit.page.locator("#rows tr").nth(99).wait_for(state="attached")
    assert visit.page.locator("#rows tr").count() == 100
    assert visit.page.evaluate("window.attacked") is None
    assert visit.problems == [] and visit.outside() == []
    visit.close()


@needs_browser
def test_the_policy_stops_what_would_run(browser: Any, tmp_path: Path) -> None:
    """The check sees what it looks for: with markup in a page, the browser reports what the policy refused."""
    site = write(site_of(["plain"]), tmp_path / "site")
    page = site / "index.html"
    text = page.read_text("utf-8")
    added = "<script>window.attacked=1</script><img src='https://attacker.example/x.png'>"
    page.write_text(text.replace("</main>", f"{added}</main>"), "utf-8")
    visit = Visit(browser, site)
    visit.open("index.html")
    assert visit.page.evaluate("window.attacked") is None
    assert len(visit.problems) == 2
    page.write_text(text.replace(str(escape(POLICY)), "").replace("</main>", f"{added}</main>"), "utf-8")
    visit.open("index.html")
    assert visit.page.evaluate("window.attacked") == 1 and visit.outside()
    visit.close()
