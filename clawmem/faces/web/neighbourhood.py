"""The neighbourhood of an entity as a small drawing: the pages that it mentions and that mention it."""

from __future__ import annotations

import math
from typing import NamedTuple

from clawmem.model.wiki.page import EntityPage

MOST = 12
WIDTH = 520
_LONGEST = 18


class Neighbour(NamedTuple):
    """A page beside an entity's: its vault path, its title, and the number of claims that lead there and back."""

    path: str
    title: str
    there: int
    back: int


class DrawnNeighbour(NamedTuple):
    """A neighbour in the drawing, with the place of its dot, of its words, and the side on which they stand."""

    neighbour: Neighbour
    words: str
    x: int
    y: int
    side: str


def neighbours(page: EntityPage) -> list[Neighbour]:
    """Return the neighbours of an entity by claims, those with most claims first."""
    found: dict[str, Neighbour] = {}
    for claim in page.claims:
        beside = dict(claim.mentions)
        beside.update((one.place.page, one.place.title) for one in claim.premises if one.place.page)
        for path, title in beside.items():
            if path != page.path:
                known = found.get(path, Neighbour(path, title, 0, 0))
                found[path] = known._replace(there=known.there + 1)
    for link in page.backlinks:
        if link.claims:
            known = found.get(link.page, Neighbour(link.page, link.title, 0, 0))
            found[link.page] = known._replace(back=link.claims)
    return sorted(found.values(), key=lambda one: (-one.there - one.back, one.title.casefold(), one.path))


def height_of(found: list[Neighbour]) -> int:
    """Return the height of the drawing of some neighbours."""
    return 60 + 20 * min(len(found), MOST)


def drawn(found: list[Neighbour]) -> list[DrawnNeighbour]:
    """Return the first neighbours on an ellipse around the middle of the drawing, the first one on the right."""
    shown, height = found[:MOST], height_of(found)
    places = []
    for number, one in enumerate(shown):
        angle = 2 * math.pi * number / len(shown)
        x = round(WIDTH / 2 + WIDTH * 0.2 * math.cos(angle))
        y = round(height / 2 + (height / 2 - 16) * math.sin(angle))
        side = "right" if x >= WIDTH / 2 else "left"
        places.append(DrawnNeighbour(one, shortened(one.title), x, y, side))
    return places


def shortened(title: str) -> str:
    """Return a title for the drawing."""
    return title if len(title) <= _LONGEST else title[: _LONGEST - 1] + "\u2026"
