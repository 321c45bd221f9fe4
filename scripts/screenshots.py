"""Take pictures of the site of the demo vault, and of the dashboard where that is possible: `make screenshots`.

    python scripts/screenshots.py [FOLDER]

Each view is taken light and dark, at a width of 1280 and of 390 pixels, in a headless Chromium. The pictures are
written to FOLDER (default: `build/screenshots`); the one in the README is copied to `docs/pictures`. The
demo vault is made by `examples/demo.sh`.
"""

from __future__ import annotations

import importlib.util
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from clawmem.vault.git.acceptance import accept  # noqa: E402
from tests.browser import HAS_BROWSER, NO_BROWSER, Visit, open_browser  # noqa: E402

VIEWS = {
    "index": "index.html",
    "person": "areas/people/nora.html",
    "project": "projects/tidewatch.html",
    "search": "search.html?q=nora",
    "graph": "graph.html",
    "decisions": "decisions.html",
    "lessons": "lessons.html",
    "pages": "pages.html",
    "own-page": "own/wiki/questions.html",
}
SIZES = {"wide": {"width": 1280, "height": 900}, "narrow": {"width": 390, "height": 844}}
# The one in the README, and its name there.
SHOWN = {"person-light-wide": "site-person.png"}
LARGEST = 150_000
OWN_PAGE = """# Questions for Nora

What I want to ask [[Nora]] about [[tidewatch]], and what stands in the way.

- Who reads the alerts at night?
- Which stations come first? See [the index](index.md).

| day | plan |
|---|---|
| Friday | ask Elias |
| Monday | decide |

The [[harbour office]] has no page yet.
"""


def main(folder: Path) -> None:
    """Write all pictures to a folder. Raise SystemExit if there is no browser, or a view misses or is too large."""
    if not HAS_BROWSER:
        raise SystemExit(NO_BROWSER)
    folder.mkdir(parents=True, exist_ok=True)
    site = demo_site(folder / "site")
    with open_browser() as browser:
        for scheme in ("light", "dark"):
            for size, viewport in SIZES.items():
                take(browser, site, folder, scheme, size, viewport)
    pictures = ROOT / "docs" / "pictures"
    pictures.mkdir(exist_ok=True)
    for name, shown in SHOWN.items():
        picture = folder / f"{name}.png"
        if picture.stat().st_size > LARGEST:
            raise SystemExit(f"{picture} has {picture.stat().st_size:,} bytes, more than {LARGEST:,}.")
        shutil.copy(picture, pictures / shown)
    dashboard(folder)


def demo_site(folder: Path) -> Path:
    """Return the site of a copy of the demo vault, with a page that a person wrote."""
    if not (ROOT / "demo-vault").is_dir():
        subprocess.run(["sh", "examples/demo.sh"], cwd=ROOT, check=True, stdout=subprocess.DEVNULL)
    vault = folder.parent / "vault"
    for place in (vault, folder):
        shutil.rmtree(place, ignore_errors=True)
    shutil.copytree(ROOT / "demo-vault", vault, symlinks=True)
    (vault / "wiki").mkdir(exist_ok=True)
    (vault / "wiki" / "questions.md").write_text(OWN_PAGE, encoding="utf-8")
    kept = {key: value for key, value in os.environ.items() if not key.startswith("CLAWMEM_")}
    accept(vault / ".git", kept)  # a copy is not the memory of this machine before somebody accepts it
    program = str(Path(sys.executable).with_name("clawmem"))
    for words in (("wiki", "build"), ("wiki", "site", str(folder))):
        environment = {**kept, "CLAWMEM_VAULT": str(vault)}
        subprocess.run([program, *words], env=environment, check=True, stdout=subprocess.DEVNULL)
    return folder


def take(browser: Any, site: Path, folder: Path, scheme: str, size: str, viewport: dict[str, int]) -> None:
    """Take a picture of each view. Raise SystemExit for a view that is not there or reports a problem."""
    visit = Visit(browser, site, viewport=viewport, color_scheme=scheme)
    for name, path in VIEWS.items():
        if not (site / path.partition("?")[0]).is_file():
            raise SystemExit(f"The site of the demo vault has no {path}.")
        visit.open(path)
        if name == "search":
            visit.page.locator("#results li").first.wait_for()
        if name == "graph":
            visit.page.locator("#rows tr").first.wait_for(state="attached")
            visit.page.wait_for_timeout(500)
        visit.page.screenshot(path=folder / f"{name}-{scheme}-{size}.png")
    if visit.problems:
        raise SystemExit("\n".join(visit.problems))
    visit.close()


def dashboard(folder: Path) -> None:
    """Take the pictures of the dashboard, if the script for them is here."""
    script = ROOT / "scripts" / "screenshots_dashboard.py"
    if script.is_file():
        spec = importlib.util.spec_from_file_location("screenshots_dashboard", script)
        assert spec is not None and spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        module.main(folder)


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else ROOT / "build" / "screenshots").resolve())
