"""Routes look like CODEOWNERS: the last line that matches decides; a wrong line is named by its number."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as some

from clawmem.errors import InvalidInput
from clawmem.model.proposals.routes import (
    Route,
    RoutedItem,
    is_named,
    last_match,
    matches,
    read_delegations,
    read_routes,
    written,
)
from tests.conftest import examples

ROUTES = """
* ada@example.org            # everything
kind:guardrail grace@example.org "Ada Lovelace"
areas/people/** hr@example.org
workflow:software&kind:conflict bob@example.org
projects/open
"""


@pytest.mark.parametrize(
    ("item", "reviewers"),
    [
        (RoutedItem("fact"), ("ada@example.org",)),
        (RoutedItem("guardrail", "projects/site"), ("grace@example.org", "Ada Lovelace")),
        (RoutedItem("guardrail", "areas/people/jane"), ("hr@example.org",)),
        (RoutedItem("conflict", "areas/people/jane", "software"), ("bob@example.org",)),
        (RoutedItem("fact", "areas/people/jane", "software"), ("hr@example.org",)),
        (RoutedItem("fact", "projects/open"), ()),
        (RoutedItem("fact", "projects/openly"), ("ada@example.org",)),
    ],
)
def test_the_last_match_wins(item: RoutedItem, reviewers: tuple[str, ...]) -> None:
    routes = read_routes(ROUTES)
    place = last_match(routes, item)
    assert place is not None and routes[place].reviewers == reviewers


@pytest.mark.parametrize(
    ("pattern", "entity", "fits"),
    [
        ("areas/*", "areas/people/jane", True),  # what is below a match matches
        ("areas/*/jane", "areas/people/jane", True),
        ("areas/*/jane", "areas/people/old/jane", False),
        ("areas/**/jane", "areas/people/old/jane", True),
        ("/areas/people/", "areas/people/jane", True),
        ("areas/people/j.ne", "areas/people/jane", False),
        ("*", None, True),
        ("areas/*", None, False),
    ],
)
def test_globs(pattern: str, entity: str | None, fits: bool) -> None:
    assert matches(pattern, RoutedItem("fact", entity)) is fits


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("* a@b; kind:whim a@b", "line 2: 'whim' is not a kind of proposal"),
        ("ada@example.org", "line 1: 'ada@example.org' is no pattern"),
        ("kind:fact&  a@b", "line 1: '' is no pattern"),
        ("\n\nworkflow: a@b", "line 3: 'workflow:' is no pattern"),
        ('* "Ada', "line 1: no closing quotation"),
    ],
)
def test_a_wrong_line_is_named(text: str, message: str) -> None:
    with pytest.raises(InvalidInput, match=message) as found:
        read_routes(text)
    assert found.value.message.startswith(message)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("kind:guardrail bot Ada", "never delegated"),
        ("areas/* bot Ada", "names a kind"),
        ("kind:fact bot", "has 2 words"),
        ("kind:fact bot Ada; kind:fact", "line 2: .* has 1 word$"),
    ],
)
def test_a_wrong_delegation_is_named(text: str, message: str) -> None:
    with pytest.raises(InvalidInput, match=message):
        read_delegations(text)


def test_people_are_known_by_address_or_name() -> None:
    who = ("Ada Lovelace", "ada@example.org")
    assert all(is_named([text], *who) for text in ("ADA@example.org", "ada lovelace", "*@example.org"))
    assert not any(is_named([text], *who) for text in ("ada", "ada@example.orgs", "a.a@example.org"))


WORD = some.text(some.characters(blacklist_characters=";\n\r\x0b\x0c\x1c\x1d\x1e\x85\u2028\u2029\0"), min_size=1)


@examples(25, 100)
@given(some.lists(some.tuples(some.sampled_from(("*", "kind:fact", "areas/*&kind:wiki")), some.lists(WORD))))
def test_what_is_written_reads_back(rows: list[tuple[str, list[str]]]) -> None:
    routes = tuple(Route(pattern, tuple(names)) for pattern, names in rows)
    assert read_routes(written(routes)) == routes


def test_a_pattern_that_can_match_nothing_is_refused() -> None:
    with pytest.raises(InvalidInput, match="'nonsense' is no pattern"):
        read_routes("nonsense")
