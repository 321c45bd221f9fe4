"""Dead links and orphans."""

from clawmem.extensions.wiki.values.links import (
    DeadLink,
    WrittenLink,
    check_links,
    dead_targets,
    link_targets,
    mended,
    page_names,
    with_targets,
)
from clawmem.model.records.entity import Entity


def test_dead_links_and_orphans() -> None:
    pages = {
        "wiki/index.md": "[Jane](areas/people/jane.md) [[boat|The boat]] [out](https://example.org) `[[code]]` "
        "[Mine](m%69ne.md)",
        "wiki/areas/people/jane.md": "[Index](../../index.md) [[Tom]] [gone](gone.md) [a](../../index.md#b) [x](#y)",
        "wiki/projects/boat.md": "[[areas/people/jane]] [[wiki/index]] \\[[not a link]]\n```\n[[code]]\n```\n",
        "wiki/mine.md": "[[Jane#Facts]]",
        "wiki/projects/alone.md": "Alone.",
    }
    found = check_links(pages)
    assert found.dead == (
        DeadLink("wiki/areas/people/jane.md", "Tom"),
        DeadLink("wiki/areas/people/jane.md", "gone.md"),
    )
    assert found.orphans == ("wiki/projects/alone.md",)


def test_what_obsidian_follows_is_not_dead() -> None:
    text = (
        "![[photo.png]] [[Boat plan.pdf]] [[people/jane#Facts|her]] | [[jane\\|in a table]] | [a](<my notes.md>)"
        " [b](my%20notes.md#x) [[daily/2026-11-20]] ![[my notes]] <!-- [[hidden]] --> %% [[comment]] %% [[#Below]]"
    )
    pages = {"wiki/areas/people/jane.md": "", "wiki/notes.md": text, "wiki/my notes.md": "[[notes]]"}
    others = ("wiki/photo.png", "wiki/Boat plan.pdf", "daily/2026-11-20.md")
    assert check_links(pages, others).dead == ()
    assert {link.target for link in check_links(pages).dead} == {"photo.png", "Boat plan.pdf", "daily/2026-11-20"}


def test_targets_are_replaced_and_everything_else_stays() -> None:
    text = '[[Jane#Facts]] [[Jane|her]] ![[Jane]] `[[Jane]]` [x](old.md#a "t") [y](<old.md>) [[Jane\\|cell]] [[Tom]]\n'
    renamed = {WrittenLink("Jane", True): "janet", WrittenLink("old.md", False): "../new.md"}
    assert with_targets(text, renamed) == (
        '[[janet#Facts|Jane]] [[janet|her]] ![[janet]] `[[Jane]]` [x](../new.md#a "t") [y](<../new.md>)'
        " [[janet\\|cell]] [[Tom]]\n"
    )
    assert with_targets(text, {}) == text


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


def mend(text: str) -> str:
    return mended(text, dead_targets("wiki/x.md", text, NAMES, TARGETS), NAMES)[0]


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
