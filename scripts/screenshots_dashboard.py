"""Takes pictures of each view of the dashboard, light and dark, wide and narrow, from a vault made for it."""

from __future__ import annotations

import os
import sys
import tempfile
from datetime import UTC, datetime
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from clawmem.vault.exchange.create import create_vault
from tests.browser import open_browser
from tests.extensions.wiki.web.dashboards import fill, served

VIEWS = {
    "overview": "", "approvals": "approvals", "changes": "timeline", "sessions": "sessions", "tasks": "tasks",
    "search": "search?q=where+does+Jane+live", "graph": "graph", "fact": "fact/{moved}",
    "entity": "entity?name=projects/boat",
}  # fmt: skip
SIZES = {"wide": (1280, 900), "narrow": (390, 844)}


def main(folder: Path) -> list[Path]:
    """Write the pictures into a folder, and return their paths."""
    folder.mkdir(parents=True, exist_ok=True)
    made = []
    with tempfile.TemporaryDirectory(prefix="clawmem-pictures-") as place:
        home = Path(place) / "home"
        home.mkdir()
        (home / ".gitconfig").write_text("[user]\n\tname = Ada Person\n\temail = ada@example.org\n")
        environment = {"PATH": os.environ["PATH"], "HOME": str(home), "LANG": "C.UTF-8"}
        root = create_vault(Path(place) / "vault", environment, datetime(2026, 10, 1, 9, tzinfo=UTC)).root
        ids = fill(root, environment)
        with served(root, environment) as here, open_browser() as browser:
            context = browser.new_context()
            page = context.new_page()
            page.goto(f"{here.origin}/login")
            made.append(folder / "dashboard-login-light-wide.png")
            page.screenshot(path=made[-1])
            page.goto(here.address)
            page.locator("#numbers").wait_for()
            here.area = page.evaluate("location.pathname")
            here.cookie = "; ".join(f"{one['name']}={one['value']}" for one in context.cookies(page.url))
            for name, view in VIEWS.items():
                for scheme in ("light", "dark"):
                    page.emulate_media(color_scheme=scheme)
                    for size, (width, height) in SIZES.items():
                        page.set_viewport_size({"width": width, "height": height})
                        page.goto(here.origin + here.area + view.format(**ids))
                        page.wait_for_timeout(400 if name in ("graph", "sessions") else 0)
                        made.append(folder / f"dashboard-{name}-{scheme}-{size}.png")
                        page.screenshot(path=made[-1], full_page=True)
            context.close()
    return made


if __name__ == "__main__":
    for picture in main(Path(sys.argv[1])):
        sys.stdout.write(f"{picture}\n")
