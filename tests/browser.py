"""A real headless browser, where the machine has one: Chromium, driven by Playwright."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

_PROGRAMS = ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome")
PROGRAM = next((found for name in _PROGRAMS if (found := shutil.which(name))), None)
NO_BROWSER = "no browser: pip install playwright, and apt-get install chromium-headless-shell"
HAS_BROWSER = PROGRAM is not None and find_spec("playwright") is not None
needs_browser = pytest.mark.skipif(not HAS_BROWSER, reason=NO_BROWSER)


@contextmanager
def open_browser(*more: str) -> Iterator[Any]:
    """A browser of Playwright, without a network; `more` are further flags."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        # Software draws graphs, by WebGL; pages without its help, which takes half the time.
        angle = ["--use-gl=angle", "--use-angle=swiftshader", "--enable-unsafe-swiftshader"]
        flags = ["--no-sandbox", *angle, "--disable-gpu-compositing", *more]
        browser = playwright.chromium.launch(executable_path=PROGRAM, args=flags)
        try:
            yield browser
        finally:
            browser.close()


class Visit:
    """One page in a browser, with what it asked for, what the policy refused, and every error and dialog."""

    def __init__(self, browser: Any, folder: Path, **options: Any) -> None:
        self.context = browser.new_context(offline=True, reduced_motion="reduce", **options)
        self.page = self.context.new_page()
        self.folder = folder.resolve()
        self.problems: list[str] = []
        self.requests: list[str] = []
        self.page.on("pageerror", lambda error: self.problems.append(f"error: {error}"))
        self.page.on("console", self._said)
        self.page.on("dialog", self._asked)
        self.page.on("request", lambda request: self.requests.append(request.url))

    def open(self, path: str) -> None:
        """Load a page of the site and wait until its scripts have run."""
        self.page.goto(f"{self.folder.as_uri()}/{path}")

    def outside(self) -> list[str]:
        """Return the requests for anything but the site's own files."""
        return [url for url in self.requests if not url.startswith(self.folder.as_uri())]

    def close(self) -> None:
        self.context.close()

    def _said(self, message: Any) -> None:
        if message.type in ("error", "warning") and "GPU stall" not in message.text:
            self.problems.append(f"{message.type}: {message.text}")

    def _asked(self, dialog: Any) -> None:
        self.problems.append(f"dialog: {dialog.message}")
        dialog.dismiss()
