"""Dead links and orphans."""

from clawmem.model.wiki.links import DeadLink, check_links


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
