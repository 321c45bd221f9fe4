"""Two versions of a file of facts: what changed is found line by line, and equals what the whole files say."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clawmem.errors import ClawmemError
from clawmem.extensions.hub.intake import ItemsChange, entity_state, items_change
from clawmem.model.facts.codec import parse_items_with_lines
from tests.extensions.hub.postgres.hubs import PATH, fact, items

_FACTS = st.dictionaries(st.sampled_from([f"fact_{n}" for n in range(6)]), st.sampled_from(["A.", "B.", "é\nC."]))


def written(facts: dict[str, str], order: bool) -> bytes:
    names = sorted(facts, reverse=order)
    return items(*(fact(name, facts[name]) for name in names)).encode()


def applied(old: dict[str, str], change: ItemsChange) -> dict[str, str]:
    kept = {} if change.whole else {name: claim for name, claim in old.items() if name not in change.gone}
    return kept | {put.fact.id: put.fact.fact for put in change.put}


@given(_FACTS, _FACTS, st.booleans(), st.booleans())
def test_the_change_leads_from_the_old_to_the_new_and_names_lines(
    old: dict[str, str], new: dict[str, str], turned: bool, indented: bool
) -> None:
    before, after = written(old, False), written(new, turned)
    if indented:
        after = json.dumps(json.loads(after), indent=1).encode()
    change = items_change(before, after, PATH)
    assert applied(old, change) == new
    assert {put.fact.id for put in change.put} == {name for name in new if old.get(name) != new[name]}
    lines = {fact.id: line for line, fact in parse_items_with_lines(after, PATH)}
    assert all(lines[put.fact.id] == put.line for put in change.put)


@given(_FACTS)
def test_a_file_comes_and_goes(facts: dict[str, str]) -> None:
    data = written(facts, False)
    assert applied({}, items_change(None, data, PATH)) == facts
    assert set(items_change(data, None, PATH).gone) == set(facts)


def test_an_old_version_that_cannot_be_read_says_nothing_and_a_new_one_is_an_error() -> None:
    data = items(fact("fact_1", "A.")).encode()
    change = items_change(b"<<<<<<< ours\n", data, PATH)
    assert (change.whole, [put.fact.id for put in change.put]) == (True, ["fact_1"])
    with pytest.raises(ClawmemError):
        items_change(data, b"[\n{\n]\n", PATH)


@pytest.mark.parametrize(
    ("front", "title", "aliases"),
    [
        ("---\ntitle: Jane Doe\naliases: [JD, 7]\n---\n", "Jane Doe", ["JD", "7"]),
        ("---\naliases: JD\n---\n", "Jane", ["JD"]),
        ("---\ntitle: [\n---\n", "Jane", []),
        ("no front matter", "Jane", []),
    ],
)
def test_an_entity_is_what_its_summary_says_else_its_path(front: str, title: str, aliases: Any) -> None:
    state = entity_state(front.encode(), "life/areas/people/jane/summary.md")
    assert state == {"title": title, "kind": "person", "aliases": aliases}
