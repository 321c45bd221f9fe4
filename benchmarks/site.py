"""The site of a large memory: building it, searching it, and dragging its graph."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from benchmarks.corpus import NOW, make_vault
from benchmarks.measure import environment, folder_size
from benchmarks.report import Row

_CLAWMEM = [str(Path(sys.executable).with_name("clawmem"))]
_WORDS = ("needs", "project", "allergic", "moved to", "zandvoort")
_FRAMES = """
(done) => {
  const box = document.querySelector("#drawing").getBoundingClientRect();
  const target = document.querySelector("#drawing .sigma-mouse");
  const times = [];
  const at = (x) => ({ clientX: box.left + x, clientY: box.top + 200, bubbles: true, button: 0 });
  let step = 0;
  target.dispatchEvent(new MouseEvent("mousedown", at(200)));
  const frame = (now) => {
    times.push(now);
    document.dispatchEvent(new MouseEvent("mousemove", at(200 + 3 * (step % 100))));
    step += 1;
    if (times.length < 61) requestAnimationFrame(frame);
    else {
      document.dispatchEvent(new MouseEvent("mouseup", at(200)));
      done((times.length - 1) * 1000 / (times[times.length - 1] - times[0]));
    }
  };
  requestAnimationFrame(frame);
}
"""


def site_rows(folder: Path, facts: int = 100_000) -> Iterator[Row]:
    """The site of a vault of `facts` facts and 500 entities, and its pages in a browser where one is installed."""
    env = {**environment(folder / "home"), "CLAWMEM_NOW": NOW.strftime("%Y-%m-%dT%H:%M:%SZ")}
    root, site = make_vault(folder / "vault", facts).root, folder / "site"
    _cpu([*_CLAWMEM, "recall", "nothing"], root, env)
    build = [*_CLAWMEM, "wiki", "site", str(site)]
    seconds, peak = _cpu(build, root, env)
    name = f"`wiki site`, {facts:,} facts"
    yield Row(f"{name}, CPU seconds", seconds, None, f"peak {peak:.0f} MB")
    yield Row(f"{name}, size, MB", folder_size(site) / 1e6, None, f"{sum(1 for path in site.rglob('*.*')):,} files")
    yield from _browser_rows(site, folder)


def _cpu(command: Sequence[str], root: Path, env: dict[str, str]) -> tuple[float, float]:
    """Run a command; return its CPU seconds and its peak memory in MB."""
    program = (
        "import resource, subprocess, sys; subprocess.run(sys.argv[1:], check=True, stdout=subprocess.DEVNULL);"
        "used = resource.getrusage(resource.RUSAGE_CHILDREN); print(used.ru_utime + used.ru_stime, used.ru_maxrss)"
    )
    process = subprocess.run(
        [sys.executable, "-c", program, *command], cwd=root, env=env, capture_output=True, check=True
    )
    seconds, kilobytes = process.stdout.split()
    return float(seconds), int(kilobytes) / 1024


def _browser_rows(site: Path, folder: Path) -> Iterator[Row]:
    from tests.browser import HAS_BROWSER, NO_BROWSER, Visit, open_browser

    if not HAS_BROWSER:
        print(NO_BROWSER, file=sys.stderr)
        return
    with open_browser() as browser:
        for words in _WORDS:
            visit = Visit(browser, site)
            start = time.perf_counter()
            visit.open(f"search.html?q={words}")
            visit.page.locator("#results li").first.wait_for()
            seconds = time.perf_counter() - start
            status = visit.page.locator("#status").inner_text()
            yield Row(f"search page opened with '{words}' until the first result, s", seconds, 1, status)
            visit.close()
        largest = max(site.glob("*/**/*.html"), key=lambda path: path.stat().st_size)
        visit = Visit(browser, site)
        start = time.perf_counter()
        visit.open(largest.relative_to(site).as_posix())
        seconds = time.perf_counter() - start
        yield Row("largest page until it is loaded, s", seconds, 1, f"{largest.stat().st_size / 1e6:.1f} MB")
        for reach in ("1", "2", "3", "entities"):
            visit.open("graph.html")
            start = time.perf_counter()
            visit.page.select_option("#reach", reach)
            visit.page.locator("#rows tr").first.wait_for()
            visit.page.wait_for_timeout(1500)
            status = visit.page.locator("#status").inner_text()
            yield Row(f"graph, reach {reach}, frames a second while dragging", _frames(visit), None, status)
        visit.close()


def _frames(visit: Any) -> float:
    return float(visit.page.evaluate(f"() => new Promise({_FRAMES})"))
