"""Compare the lines of Python of each package, and the words of `docs/`, with their rows in `line_budgets.toml`;
`make lint` runs this.

    python scripts/line_budgets.py [ROOT]

A package above its row fails, so that what a feature weighs is decided and not noticed years later. A row far above its
package fails too: lines that were deleted must not come back unseen.
"""

from __future__ import annotations

import re
import sys
import tomllib
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path

ROWS = Path("scripts", "line_budgets.toml")
LOOSE = "top-level modules"
TOTAL = "all of clawmem"
MODULES = "modules"
WORDS = "words of docs"
EXTENSIONS = "extensions"
# How far a row may be above the truth. 200 lines are one feature or two modules: with less, every small deletion would
# lower a row; with more, a whole module could come back without a word. Every branch changes the two sums, so these
# have more room.
SLACK = {TOTAL: 1000, MODULES: 20, WORDS: 2000}
PACKAGE_SLACK = 200
# What `make docs` and tests write into a page is reference, which grows with the code.
GENERATED = re.compile(r"<!-- begin: .*?<!-- end -->", re.DOTALL)


def main() -> None:
    """Print what is wrong, one sentence for each row, and exit with 1; print nothing where every row fits."""
    root = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).parent.parent
    rows = tomllib.loads((root / ROWS).read_text("utf-8"))
    faults = list(compare(rows, {**measure(root / "clawmem"), WORDS: count_words(root / "docs")}))
    if faults:
        sys.exit("\n".join(faults))


def measure(package: Path) -> dict[str, int]:
    """Count the lines of each folder of a package, of its loose modules, of all of it, and its modules. Each extension
    is a row of its own."""
    counts: Counter[str] = Counter({LOOSE: 0, TOTAL: 0, MODULES: 0})
    for module in package.rglob("*.py"):
        folder, *inner = module.relative_to(package).parts
        if folder == EXTENSIONS and len(inner) > 1:
            folder = f"{EXTENSIONS}/{inner[0]}"
        lines = module.read_bytes().count(b"\n")
        counts[folder if inner else LOOSE] += lines
        counts[TOTAL] += lines
        counts[MODULES] += 1
    return dict(counts)


def count_words(docs: Path) -> int:
    """Count the words of a folder's pages as `wc -w` does, without the parts that are generated."""
    return sum(len(GENERATED.sub("", page.read_text("utf-8")).split()) for page in docs.rglob("*.md"))


def compare(rows: Mapping[str, int], counts: Mapping[str, int]) -> Iterator[str]:
    """Yield a sentence for each row that is too low, too high or missing, and for each that counts nothing."""
    for name, count in sorted(counts.items()):
        label = name if name in (LOOSE, TOTAL, MODULES, WORDS) else f"clawmem/{name}"
        unit = {MODULES: "modules", WORDS: "words"}.get(name, "lines")
        if name not in rows:
            yield f"{label} has no row in {ROWS}. Add one of {count} in a commit of its own that says why."
        elif count > rows[name]:
            yield (
                f"{label}: {count - rows[name]} {unit} more than the row of {rows[name]} in {ROWS} allows."
                f" Pay for them by deleting, or raise the row to {count} in a commit of its own that says why."
            )
        elif rows[name] - count > SLACK.get(name, PACKAGE_SLACK):
            yield (
                f"{label}: {rows[name] - count} {unit} fewer than the row of {rows[name]} in {ROWS} allows."
                f" Lower the row to {count}, so that they do not come back unseen."
            )
    for name in sorted(rows.keys() - counts.keys()):
        yield f"clawmem/{name}: no such package. Delete its row from {ROWS}."


if __name__ == "__main__":
    main()
