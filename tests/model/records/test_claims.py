"""When claims overlap, and how long a lease lasts."""

from __future__ import annotations

from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clawmem.errors import Unreadable
from clawmem.model.language.dates import moment_of, stamp
from clawmem.model.records.claims import (
    ENTITY,
    PATH,
    TASK,
    Claim,
    LiveClaim,
    SessionClaims,
    alive_until,
    collisions,
    covers,
    overlap,
    parse_claims,
    render_claims,
)
from clawmem.vault.strict_yaml import parse_yaml

NOON = moment_of("2026-11-21T12:00:00Z")


def at(minutes: int) -> str:
    return stamp(NOON + timedelta(minutes=minutes))


def path(what: str, project: str | None = "boat") -> Claim:
    return Claim(PATH, what, project)


@pytest.mark.parametrize(
    ("claim", "other", "meet"),
    [
        (path("src/auth"), path("src/auth/login.py"), True),
        (path("src/auth"), path("src/authors"), False),
        (path("src/auth/"), path("./src/auth/**"), True),
        (path("src/*.py"), path("src/a.py"), True),
        (path("src/*.py"), path("src/a.txt"), False),
        (path("src/*.py"), path("src"), True),
        (path("src/**/*.py"), path("src/a/b.py"), True),
        (path("src/*.py"), path("src/*.txt"), True),
        (path("src/*.py"), path("docs/*.py"), False),
        (path("src"), path("src", "ship"), False),
        (path("."), path("src/*.py"), True),
        (Claim(ENTITY, "projects/boat"), Claim(ENTITY, "projects/boat"), True),
        (Claim(ENTITY, "projects/boat"), Claim(ENTITY, "projects/boats"), False),
        (Claim(ENTITY, "projects/boat"), path("life/projects/boat/items.json", None), True),
        (Claim(TASK, "paint"), path("tasks/*.md", None), True),
        (Claim(TASK, "paint"), Claim(ENTITY, "projects/boat"), False),
    ],
)
def test_claims_overlap_where_both_contain_something(claim: Claim, other: Claim, meet: bool) -> None:
    assert overlap(claim, other) is meet
    assert overlap(other, claim) is meet


def test_an_entity_covers_its_files() -> None:
    assert covers(Claim(ENTITY, "projects/boat"), "life/projects/boat/items.json")
    assert not covers(Claim(ENTITY, "projects/boat"), "life/projects/ship/items.json")
    assert not covers(path("*", None), "life/projects/ship/items.json")
    assert not covers(path("life"), "life/projects/ship/items.json")  # a folder `life` of a project


PARTS = st.lists(st.sampled_from(["a", "b", "a*", "*", "**", "c.py"]), min_size=1, max_size=4).map("/".join)


@given(PARTS, PARTS)
def test_overlap_is_symmetric_and_everything_overlaps_itself(text: str, other: str) -> None:
    assert overlap(path(text), path(other)) == overlap(path(other), path(text))
    assert overlap(path(text), path(text))


def test_each_sign_of_life_renews_a_lease_and_a_gap_ends_it() -> None:
    assert stamp(alive_until(at(0), [], 30)) == at(30)
    assert stamp(alive_until(at(0), [at(50), at(25)], 30)) == at(80)
    assert stamp(alive_until(at(0), [at(31), at(32)], 30)) == at(30)  # it had ended: signs do not revive it


@given(st.lists(st.integers(0, 200)), st.integers(1, 60))
def test_a_lease_ends_at_the_first_gap(signs: list[int], lease: int) -> None:
    last = 0
    for sign in sorted(signs):
        if sign > last + lease:
            break
        last = sign
    assert stamp(alive_until(at(0), [at(sign) for sign in signs], lease)) == at(last + lease)


def test_a_collision_names_the_one_that_came_first_in_front() -> None:
    late = LiveClaim(Claim(TASK, "paint", since=at(5)), "s1", "ann", at(30))
    early = LiveClaim(Claim(TASK, "paint", since=at(1)), "s2", "bob", at(30))
    own = LiveClaim(Claim(TASK, "paint", since=at(6)), "s2", "bob", at(30))
    assert collisions([late, early, own]) == [(early, late), (late, own)]


def test_claims_are_written_and_read() -> None:
    pair = (SessionClaims("s1", "ann", at(0), (Claim(TASK, "paint", since=at(0)), path("src"))),)
    assert parse_claims(render_claims(pair), "agents/ann/claims.json", parse_yaml) == pair
    assert parse_claims(b"{}\n", "agents/ann/claims.json", parse_yaml) == ()
    for wrong in (b'{"s1": 3}', b'{"s1": {"seen": "soon", "claims": []}}'):
        with pytest.raises(Unreadable, match="'s1"):
            parse_claims(wrong, "agents/ann/claims.json", parse_yaml)
