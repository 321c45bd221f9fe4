"""Which page a dead link can mean."""

from clawmem.extensions.wiki.values.links import page_names
from clawmem.extensions.wiki.values.mending import dead_targets, link_targets, mended
from clawmem.model.records.entity import Entity

SHIP = Entity("projects/ship", "The Ship", ("Boat", "projects/boat"), "project")
JANE = Entity("areas/people/jane", "Jane", (), "person")
OTHER = Entity("projects/jane", "Jane's plan", (), "project")
PAGES = (
    "wiki/projects/ship.md",
    "wiki/areas/people/jane.md",
    "wiki/projects/jane.md",
    "wiki/topics/sea.md",
    "wiki/a b.md",
)
NAMES = page_names(PAGES)
TARGETS = link_targets((SHIP, JANE, OTHER), ("sea",), {"wiki/a b.md": "My notes"})


def mend(text: str, unlink: bool = False) -> str:
    return mended(text, dead_targets("wiki/x.md", text, NAMES, TARGETS), NAMES, unlink)[0]


def test_former_names_titles_and_topics() -> None:
    assert mend("[[boat]] [[wiki/projects/boat]] [[The ship#Now|it]]") == (
        "[[ship|boat]] [[ship|wiki/projects/boat]] [[ship#Now|it]]"
    )
    assert mend("[x](projects/boat.md) [y](boat.md#z) [n](<My notes.md>)") == (
        "[x](projects/ship.md) [y](projects/ship.md#z) [n](<a%20b.md>)"
    )
    assert mend("[[my notes]] [[Jane's plan]]") == "[[a b|my notes]] [[projects/jane|Jane's plan]]"


def test_what_is_not_dead_or_not_certain_stays() -> None:
    text = "[[jane]] [[sea]] [[ship]] [j](jane.md) [[nowhere]] [o](https://example.org/boat.md)"
    assert mend(text) == text  # jane.md can be either of two
    assert mend(text, unlink=True) == "[[jane]] [[sea]] [[ship]] j nowhere [o](https://example.org/boat.md)"
