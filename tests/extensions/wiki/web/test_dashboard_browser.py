"""The dashboard in a real browser: the login, every page, decisions, two tabs, conflicts, attackers, and axe."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from tests.browser import needs_browser, open_browser
from tests.extensions.wiki.web.dashboards import Served, fill, run, served
from tests.trees import Tree

pytestmark = needs_browser
EVIL = "evil.example"
LOOKS = (("light", 1280), ("dark", 1280), ("dark", 390), ("light", 390))
PAGES = (
    "",
    "approvals",
    "timeline",
    "sessions",
    "tasks",
    "search?q=where+does+Jane+live",
    "graph",
    "entity?name=projects/boat",
)


class Desk:
    """A dashboard of a filled vault, a browser that is logged in, and what its pages reported."""

    def __init__(
        self, root: Path, environment: dict[str, str], ids: dict[str, str], here: Served, browser: Any
    ) -> None:
        self.root, self.environment, self.ids, self.here, self.browser = root, environment, ids, here, browser
        self.problems: list[str] = []
        self.requests: list[str] = []
        self.context = browser.new_context(reduced_motion="reduce")
        self.page = self.tab()
        self.page.goto(here.address)
        self.page.locator("#numbers").wait_for()
        path = self.page.evaluate("location.pathname")
        here.area = path
        here.cookie = "; ".join(f"{cooky['name']}={cooky['value']}" for cooky in self.context.cookies(self.page.url))

    def tab(self, context: Any = None) -> Any:
        """Open another tab, which reports what goes wrong in it."""
        page = (context or self.context).new_page()
        page.on("pageerror", lambda error: self.problems.append(f"error: {error}"))
        page.on("console", self._said)
        page.on("request", lambda request: self.requests.append(request.url))
        return page

    def _said(self, message: Any) -> None:
        expected = "GPU stall" in message.text or "the server responded with a status of 4" in message.text
        if message.type in ("error", "warning") and not expected:
            self.problems.append(f"{message.type}: {message.text}")

    def open(self, page: str, tab: Any = None) -> Any:
        """Load a page behind the login."""
        found = tab or self.page
        found.goto(self.here.origin + self.here.area + page)
        return found

    def do(self, *words: str) -> Any:
        """Run a command line beside the dashboard."""
        return run(self.root, self.environment, *words)

    def head(self) -> str:
        """The last subject in the history."""
        return str(self.do("log", "--limit", "1")["history"][0]["subject"])


def titled(page: Any, name: str) -> bool:
    """Wait until the page of that name is there: a click returns before what it leads to is loaded."""
    page.get_by_role("heading", name=name, exact=True, level=1).wait_for()
    return True


@pytest.fixture(scope="module")
def desk(newborn: Tree, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Desk]:
    place = tmp_path_factory.mktemp("desk")
    root = newborn.write(place / "vault")
    (place / "home").mkdir()
    (place / "home" / ".gitconfig").write_text("[user]\n\tname = Ada Person\n\temail = ada@example.org\n")
    environment = {"PATH": os.environ["PATH"], "HOME": str(place / "home"), "LANG": "C.UTF-8"}
    ids = fill(root, environment)
    with served(root, environment) as here, open_browser(f"--host-resolver-rules=MAP {EVIL} 127.0.0.1") as browser:
        made = Desk(root, environment, ids, here, browser)
        yield made
        assert made.problems == []
        assert [url for url in made.requests if not url.startswith(here.origin)] == []


def test_the_address_logs_in_once_and_leaves_no_trace(desk: Desk) -> None:
    assert desk.page.url == desk.here.origin + desk.here.area
    assert not [url for url in desk.requests if desk.here.token in url.partition("#")[0]]
    (cookie,) = desk.context.cookies(desk.page.url)
    assert cookie["httpOnly"] and cookie["sameSite"] == "Strict" and cookie["path"] == desk.here.area
    assert desk.page.evaluate("document.cookie") == ""
    stranger = desk.browser.new_context()
    page = desk.tab(stranger)
    page.goto(desk.here.address)
    page.get_by_text("A browser is logged in already").wait_for()
    page.goto(desk.here.origin + desk.here.area + "timeline")
    assert page.locator(".entries").count() == 0 and titled(page, "Log in")
    stranger.close()


def test_the_browser_gets_back_in_by_both_addresses_and_other_ports_learn_nothing(desk: Desk) -> None:
    for address in (desk.here.origin, desk.here.address):
        page = desk.tab()
        page.goto(address)
        page.locator("#numbers").wait_for()
        assert page.url == desk.here.origin + desk.here.area
        page.close()
    with site_of_an_attacker(lambda: "<title>Other</title>") as port:
        other = desk.context.new_page()
        other.goto(f"http://127.0.0.1:{port}/")
        assert other.evaluate("[document.cookie, localStorage.length]") == ["", 0]
        assert desk.context.cookies(f"http://127.0.0.1:{port}/") == []
        other.close()


def test_what_an_earlier_dashboard_left_in_the_browser_leads_to_the_login(desk: Desk) -> None:
    stranger = desk.browser.new_context()
    page = desk.tab(stranger)
    page.goto(desk.here.origin)
    for left in ("/0123456789abcdef012345/", "//evil.example/", "javascript:alert(1)"):
        page.evaluate("(left) => localStorage.setItem('clawmem-area', left)", left)
        page.goto(desk.here.origin)
        page.get_by_text("A browser is logged in already").wait_for()
        page.wait_for_load_state("load")
        assert page.url.startswith(desk.here.origin)
    page.goto(desk.here.address)
    page.get_by_text("A browser is logged in already").wait_for()
    stranger.close()


@pytest.mark.skipif(find_spec("axe_playwright_python") is None, reason="no axe: pip install axe-playwright-python")
@pytest.mark.parametrize("looks", [1, pytest.param(len(LOOKS), marks=pytest.mark.soak)])
def test_axe_finds_nothing_on_any_page(desk: Desk, looks: int) -> None:
    """Each page in one of the looks, in turn; the long run tries all."""
    from axe_playwright_python.base import AXE_FILE_PATH

    source = AXE_FILE_PATH.read_text("utf-8")
    context = desk.browser.new_context(bypass_csp=True, storage_state=desk.context.storage_state())
    page = desk.tab(context)
    for number, name in enumerate((*PAGES, f"fact/{desk.ids['moved']}", "no-such-page")):
        desk.open(name, page)
        page.evaluate(source)
        for scheme, width in (*LOOKS, *LOOKS)[number % len(LOOKS) :][:looks]:
            page.emulate_media(color_scheme=scheme)
            page.set_viewport_size({"width": width, "height": 800})
            found = page.evaluate("axe.run({resultTypes: ['violations']})")["violations"]
            assert not found, [(name, scheme, width, other["id"], other["nodes"][0]["html"]) for other in found]
            wide = page.evaluate("document.documentElement.scrollWidth > document.documentElement.clientWidth")
            assert not wide, (name, width)
    context.close()


def test_every_page_is_readable_without_scripts(desk: Desk) -> None:
    context = desk.browser.new_context(java_script_enabled=False, storage_state=desk.context.storage_state())
    page = desk.tab(context)
    words = {
        "": "4 proposals wait", "approvals": "Run the checks before a task", "timeline": "Found a berth.",
        "sessions": "The hull is sanded.", "tasks": "Paint the boat", PAGES[5]: "Jane lives in Bergen.",
        "graph": "The graph needs JavaScript", "entity?name=projects/boat": "The boat is 9 m long.",
    }  # fmt: skip
    for name, word in words.items():
        main = desk.open(name, page).locator("main")
        # What the browser has not drawn yet is no inner text.
        assert word in main.inner_text() or main.get_by_text(word).first.is_visible(), name
    context.close()


def test_the_login_works_without_scripts(vault_root: Path, environment: dict[str, str], desk: Desk) -> None:
    with served(vault_root, environment) as here:
        context = desk.browser.new_context(java_script_enabled=False)
        page = context.new_page()
        page.goto(here.origin)
        page.get_by_label("Token").fill(here.address)
        page.get_by_role("button", name="Log in").click()
        assert titled(page, "memory")
        page.get_by_role("button", name="Stop the dashboard").click()
        assert titled(page, "Stopped")
        context.close()
        here.is_stopped = True


def test_the_sessions_fit_a_narrow_screen(desk: Desk) -> None:
    context = desk.browser.new_context(
        viewport={"width": 360, "height": 800}, storage_state=desk.context.storage_state()
    )
    page = desk.open("sessions", desk.tab(context))
    page.locator("#rows li").first.wait_for()
    assert page.evaluate("document.getElementById('rows').scrollWidth") <= 360
    assert page.get_by_text("Found a berth.").is_visible()
    context.close()


def test_rejecting_and_approving_in_place(desk: Desk) -> None:
    page = desk.open("approvals")
    card = page.locator("article", has_text="the boat is sold").first
    for nothing in ("", "  "):
        card.get_by_label("Reason").fill(nothing)
        card.get_by_role("button", name="Reject").click()
        assert page.url.endswith("/approvals") and titled(page, "Waiting")
    card = page.locator("article", has_text="the boat is sold").first
    card.get_by_label("Reason").fill("It gives orders.")
    card.get_by_label("Reason").press("Enter")
    assert page.url.endswith("/approvals")
    card.get_by_role("button", name="Reject").click()
    assert titled(page, "Rejected") and "the boat is sold" in page.locator("main").inner_text()
    assert "rejected" in desk.head() and "(because: It gives orders.)" in desk.head()
    page = desk.open("approvals")
    card = page.locator("article", has_text="Run the checks before a task is submitted.")
    card.get_by_role("button", name="Approve").click()
    assert titled(page, "Approved") and "approved" in desk.head()
    page.get_by_role("link", name="Back to Waiting").click()
    assert "Run the checks" not in page.locator("main").inner_text()


def test_two_tabs_and_the_command_line_decide_one_thing_once(desk: Desk) -> None:
    first, second = desk.open("approvals"), desk.open("approvals", desk.tab())
    card = "article:has-text('harbour is closed')"
    first.locator(card).get_by_label("Reason").fill("No.")
    first.locator(card).get_by_role("button", name="Reject").click()
    assert titled(first, "Rejected")
    before = desk.head()
    second.locator(card).get_by_role("button", name="Approve").click()
    assert "is already rejected, by Ada Person" in second.get_by_role("alert").inner_text()
    assert "Nothing was changed" in second.locator("main").inner_text() and desk.head() == before
    desk.open("approvals", second)
    conflict = second.locator("article", has_text="Which one holds?")
    identity = conflict.get_attribute("id")
    desk.do("review", "reject", str(identity), "--reason", "Both are old.")
    before = desk.head()
    conflict.get_by_role("button", name="Both hold").click()
    assert "is already rejected" in second.get_by_role("alert").inner_text() and desk.head() == before
    second.close()


def test_undo_in_two_tabs(desk: Desk) -> None:
    desk.do("remember", "The mast is new.", "--entity", "projects/boat")
    first, second = desk.open("timeline"), desk.open("timeline", desk.tab())
    first.get_by_role("button", name="Undo: remember(projects/boat): The mast is new.").click()
    assert titled(first, "Undone") and desk.head().startswith("undo(projects/boat)")
    before = desk.head()
    second.get_by_role("button", name="Undo: remember(projects/boat): The mast is new.").click()
    assert "was undone already" in second.get_by_role("alert").inner_text() and desk.head() == before
    desk.open("timeline", second).get_by_role("button", name="Undo: undo(projects/boat)").first.click()
    assert titled(second, "Undone")
    assert "The mast is new." in desk.open("entity?name=projects/boat", second).locator("main").inner_text()
    second.close()


def test_sessions_are_live(desk: Desk) -> None:
    page = desk.open("sessions")
    page.get_by_text("Live.").wait_for()
    desk.do("session", "start", "--agent", "scout", "--id", "ses_new")
    page.locator("#events li", has_text="start, scout, ses_new").wait_for()
    page.locator("#rows li", has_text="ses_new").wait_for()
    desk.do("session", "note", "Look <b>here</b>.", "--session", "ses_new", "--agent", "scout")
    page.locator("#events li", has_text="note, scout, ses_new: Look <b>here</b>.").wait_for()
    assert page.locator("#rows b").count() == 0


def test_search_and_graph(desk: Desk) -> None:
    page = desk.open("search")
    page.get_by_label("Search facts, decisions, notes and messages").fill("where does Jane live")
    page.get_by_role("button", name="Search").click()
    assert page.locator("mark").first.inner_text() == "Jane"
    page.get_by_role("link", name="Jane lives in Bergen.").first.click()
    assert titled(page, "Jane lives in Bergen.")
    page = desk.open("graph")
    page.get_by_text("Filter").click()
    page.get_by_label("sentences").check()
    page.get_by_label("Around").fill("Jane")
    page.get_by_text("The same as a table").first.click()
    page.locator("#rows").get_by_role("link", name="Jane lives in Bergen.").click()
    assert titled(page, "Jane")
    assert page.url.partition("#")[2] == page.locator(".claim", has_text="Jane lives in Bergen.").get_attribute("id")
    page = desk.open("graph")
    page.get_by_text("The same as a table").first.click()
    page.locator("#rows").get_by_role("link", name="Boat", exact=True).click()
    assert "The boat is 9 m long." in str(page.locator("main").text_content())


@contextmanager
def site_of_an_attacker(page: Callable[[], str]) -> Iterator[int]:
    """A server on another port of this machine; its port."""

    class Handler(BaseHTTPRequestHandler):
        cookies: list[str] = []  # noqa: RUF012

        def do_GET(self) -> None:
            body = page().encode()
            self.cookies.append(self.headers.get("Cookie", ""))
            self.send_response(200)
            self.send_header("Content-Type", "text/html")
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, format: str, *args: Any) -> None:
            return

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True)
    thread.start()
    try:
        yield server.server_address[1]
        assert set(Handler.cookies) == {""}, "the cookie of the dashboard went to another port"
    finally:
        server.shutdown()
        server.server_close()


def test_other_sites_can_neither_read_nor_write(desk: Desk) -> None:
    """A page on another port, which a browser counts as the same site, knows even the secret path and the form."""
    area, before = desk.here.origin + desk.here.area, desk.head()
    fields = desk.here.fields("timeline", "undo")
    inputs = "".join(f"<input name='{key}' value='{value}'>" for key, value in fields.items())
    body = (
        f"<form method=post action='{area}undo'>{inputs}<button>go</button></form>"
        f"<script src='{area}data/graph.js'></script><iframe src='{area}timeline'></iframe>"
    )
    with site_of_an_attacker(lambda: body) as port:
        tab = desk.context.new_page()
        tab.goto(f"http://127.0.0.1:{port}/")
        assert tab.evaluate("typeof window.clawmemGraph") == "undefined"
        read = f"fetch('{area}timeline', {{credentials: 'include'}}).then(() => 'read', () => 'refused')"
        assert tab.evaluate(read) == "refused"
        how = f"{{method: 'POST', credentials: 'include', mode: 'no-cors', body: new URLSearchParams({fields})}}"
        tab.evaluate(f"fetch('{area}undo', {how}).catch(() => 'refused')")
        assert all("timeline" not in frame.url or frame.locator("h1").count() == 0 for frame in tab.frames[1:])
        tab.get_by_role("button", name="go").click()
        assert "does not come from a page of this dashboard" in tab.content()
        tab.close()
    assert desk.head() == before


def test_a_rebound_name_reads_nothing(desk: Desk) -> None:
    """The browser resolves a name of the attacker to this machine."""
    page = desk.context.new_page()
    for path in ("/login", desk.here.area, f"{desk.here.area}events"):
        response = page.goto(f"http://{EVIL}:{desk.here.port}{path}")
        assert response.status == 421 and "This server answers only as 127.0.0.1" in response.text()
        status = page.evaluate(f"fetch('{desk.here.area}timeline').then((given) => given.status, () => 'refused')")
        assert status in (421, "refused")
        body = f"{{method: 'POST', body: new URLSearchParams({{token: '{desk.here.token}'}})}}"
        assert page.evaluate(f"fetch('/login', {body}).then((given) => given.status, () => 'refused')") in (
            421,
            "refused",
        )
    page.close()
