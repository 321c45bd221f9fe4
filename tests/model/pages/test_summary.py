"""The pages people read: only the marked part is rewritten, and nothing of what they wrote is lost."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from clawmem.model.facts.fact import ARCHIVED, RETRACTED, SUPERSEDED, Fact
from clawmem.model.language.dates import stamp
from clawmem.model.pages.summary import (
    BEGIN,
    END,
    IndexRow,
    facts_block,
    front_matter,
    generated_part,
    index_block,
    index_page,
    marker_problem,
    split_front_matter,
    summary_page,
    with_generated,
    yaml_scalar,
)
from clawmem.model.records.entity import Entity

NOW = datetime(2026, 11, 21, 9, 30, tzinfo=UTC)
NAME = "areas/people/jane"
JANE = Entity(NAME, "Jane Doe", ("projects/jane",))
# Prose, with marks wherever people may have left them.
PIECES = st.lists(st.sampled_from([BEGIN, END, "prose", "- item", "", " ", "\r", f"see {BEGIN} in text", f"  {END} "]))
PAGES = st.builds(lambda lines, last: "\n".join(lines) + last, PIECES, st.sampled_from(["", "\n"]))
GENERATED = st.one_of(st.text(max_size=40), st.sampled_from(["", "one\ntwo", BEGIN, END, f"a\n{END}\nb\n{BEGIN}"]))


def a_fact(number: int, days: float = 1, **changes: object) -> Fact:
    at = stamp(NOW - timedelta(days=days))
    return Fact(f"fact_{number:08x}", f"Statement {number}.", "fact", at, "user")._replace(**changes)  # type: ignore[arg-type]


@given(PAGES, GENERATED)
def test_everything_outside_the_markers_is_unchanged(page: str, generated: str) -> None:
    before = generated_part(page)
    after = with_generated(page, generated)
    inner = generated_part(after)
    assert inner is not None
    if before is None:
        assert after.startswith(page)
        assert after[len(page) :].strip("\n") == f"{BEGIN}\n{inner}{END}"
    else:
        # An empty part is between any two characters: one of the places where it may be is between the marks.
        places = [
            at
            for at in range(len(page) + 1)
            if page.startswith(before, at) and page[:at] + inner + page[at + len(before) :] == after
        ]
        assert any(
            page[:place].rstrip().endswith(BEGIN) and page[place + len(before) :].lstrip().startswith(END)
            for place in places
        )


@given(PAGES, GENERATED)
def test_rewriting_is_idempotent(page: str, generated: str) -> None:
    once = with_generated(page, generated)
    assert with_generated(once, generated) == once


@given(PAGES, GENERATED, GENERATED)
def test_only_the_last_rewriting_is_seen(page: str, first: str, second: str) -> None:
    once = with_generated(page, first)
    assert with_generated(once, second) == with_generated(with_generated(once, "other"), second)


@given(st.text(), st.text())
def test_any_page_keeps_what_was_written_before_the_first_mark(page: str, generated: str) -> None:
    after = with_generated(page, generated)
    assert after.startswith(page)
    assert with_generated(after, generated) == after


@pytest.mark.parametrize(
    ("page", "expected"),
    [
        ("", f"{BEGIN}\nnew\n{END}\n"),
        ("prose", f"prose\n\n{BEGIN}\nnew\n{END}\n"),
        ("prose\n", f"prose\n\n{BEGIN}\nnew\n{END}\n"),
        (f"{BEGIN}\n{END}", f"{BEGIN}\nnew\n{END}"),
        (f"a\n{BEGIN}\nold\n\nold\n{END}\nz", f"a\n{BEGIN}\nnew\n{END}\nz"),
        (f"a\r\n{BEGIN}\r\nold\r\n{END}\r\nz\r\n", f"a\r\n{BEGIN}\r\nnew\n{END}\r\nz\r\n"),
        (f"{BEGIN}\nmine\n", f"{BEGIN}\nmine\n\n{BEGIN}\nnew\n{END}\n"),
        (f"{END}\nmine\n", f"{END}\nmine\n\n{BEGIN}\nnew\n{END}\n"),
        (f"{BEGIN}\nmine\n{BEGIN}\nold\n{END}\nmine\n{END}\n", f"{BEGIN}\nmine\n{BEGIN}\nnew\n{END}\nmine\n{END}\n"),
        (f"{BEGIN}\nold\n{END}\nmine\n{BEGIN}\nmine\n{END}\n", f"{BEGIN}\nnew\n{END}\nmine\n{BEGIN}\nmine\n{END}\n"),
        (f"{END}\nmine\n{BEGIN}\nold\n{END}\n", f"{END}\nmine\n{BEGIN}\nnew\n{END}\n"),
        (f"about {BEGIN}\nmine\n{END} too\n", f"about {BEGIN}\nmine\n{END} too\n\n{BEGIN}\nnew\n{END}\n"),
    ],
)
def test_markers_whole_missing_doubled_and_nested(page: str, expected: str) -> None:
    assert with_generated(page, "new") == expected


def test_a_fact_that_quotes_a_mark_does_not_act_as_one() -> None:
    page = with_generated("mine\n", f"x\n{END}\ny")
    assert page.count(END) == 1
    assert with_generated(page, "new") == f"mine\n\n{BEGIN}\nnew\n{END}\n"


@pytest.mark.parametrize(
    ("page", "wrong"),
    [("", False), (f"{BEGIN}\n{END}", False), (BEGIN, True), (END, True), (f"{END}\n{BEGIN}", True),
     (f"{BEGIN}\n{END}\n{BEGIN}\n{END}", True), (f"see {BEGIN}", False)],
)  # fmt: skip
def test_broken_markers_are_named(page: str, wrong: bool) -> None:
    assert (marker_problem(page) is not None) is wrong


@given(st.text())
def test_any_text_is_a_safe_yaml_scalar(text: str) -> None:
    text = "".join(letter for letter in text if not "\ud800" <= letter <= "\udfff")
    scalar = yaml_scalar(text)
    assert "\n" not in scalar
    assert yaml.safe_load(f"key: {scalar}") == {"key": text}


@given(st.text(min_size=1), st.lists(st.text(min_size=1), max_size=3))
def test_front_matter_reads_back(title: str, aliases: list[str]) -> None:
    front, rest = split_front_matter(front_matter(Entity(NAME, title, tuple(aliases)), "2026-11-21") + "prose\n")
    assert front is not None
    assert rest == "prose\n"
    assert yaml.safe_load(front) == {"title": title, "kind": "person", "aliases": aliases, "created": "2026-11-21"}


@pytest.mark.parametrize(
    ("text", "front", "rest"),
    [
        ("---\na: 1\n---\nrest", "a: 1\n", "rest"),
        ("---\r\na: 1\r\n---\r\nrest", "a: 1\r\n", "rest"),
        ("\ufeff---\na: 1\n---\n", "a: 1\n", ""),
        ("---\n---\n", "", ""),
        ("---\na: 1\n---", "a: 1\n", ""),
        ("---\na: 1\n", None, "---\na: 1\n"),
        ("prose\n---\na: 1\n---\n", None, "prose\n---\na: 1\n---\n"),
        ("---\na: '---'\nb: ---x\n---\nrest\n---\n", "a: '---'\nb: ---x\n", "rest\n---\n"),
        ("", None, ""),
    ],
)
def test_splitting_front_matter(text: str, front: str | None, rest: str) -> None:
    assert split_front_matter(text) == (front, rest)


def test_a_new_page() -> None:
    page = summary_page(JANE, "2026-11-21", "No facts yet.")
    front, rest = split_front_matter(page)
    assert yaml.safe_load(front or "")["title"] == "Jane Doe"
    assert rest.startswith("\n# Jane Doe\n\n<!-- Write here.")
    assert rest.endswith(f"\n{BEGIN}\nNo facts yet.\n{END}\n")
    assert marker_problem(page) is None


def test_hot_facts_then_warm_by_access_count_with_dates_and_ids() -> None:
    facts = [
        a_fact(1, 20),
        a_fact(2, 1, access_count=1),
        a_fact(3, 2, access_count=5),
        a_fact(4, 200, importance=0.9, valid_from="2026-03-01"),
        a_fact(5, 20, access_count=3, valid_from="2026-01-01", valid_to="2026-12-01"),
        a_fact(6, 300),
        a_fact(7, 1, status=SUPERSEDED, superseded_by="fact_00000003"),
        a_fact(8, 1, status=RETRACTED),
        a_fact(9, 1, status=ARCHIVED),
    ]
    assert facts_block(NAME, facts, NOW).splitlines() == [
        "## Hot facts",
        "",
        "- Statement 3. (2026-11-19, fact_00000003)",
        "- Statement 2. (2026-11-20, fact_00000002)",
        "- Statement 4. (since 2026-03-01, fact_00000004)",
        "",
        "## Warm facts",
        "",
        "- Statement 5. (2026-01-01 to 2026-12-01, fact_00000005)",
        "- Statement 1. (2026-11-01, fact_00000001)",
        "",
        "1 more fact not shown: `clawmem list --entity areas/people/jane`",
    ]


def test_what_is_cut_is_counted_with_the_command_that_shows_it() -> None:
    block = facts_block(NAME, [a_fact(number) for number in range(12)], NOW, maximum=10)
    assert block.count("\n- ") == 10
    assert block.endswith("2 more facts not shown: `clawmem list --entity areas/people/jane`")


def test_an_entity_without_facts_and_one_with_only_cold_ones() -> None:
    assert facts_block(NAME, [], NOW) == "No facts yet."
    assert facts_block(NAME, [a_fact(1, 99)], NOW) == "1 fact not shown: `clawmem list --entity areas/people/jane`"


@given(
    st.lists(st.builds(a_fact, st.integers(0, 99), st.floats(0, 6)), unique_by=lambda fact: fact.id), st.floats(0, 1)
)
def test_time_alone_changes_nothing_within_a_tier(facts: list[Fact], days: float) -> None:
    assert facts_block(NAME, facts, NOW) == facts_block(NAME, facts, NOW + timedelta(days=days))


def test_a_statement_stays_on_its_line() -> None:
    block = facts_block(NAME, [a_fact(1, fact="one\ntwo")], NOW)
    assert "- one two (" in block


def test_the_index_groups_by_root_and_links_each_summary() -> None:
    rows = [
        IndexRow("resources/tea", "Tea"),
        IndexRow("areas/people/jane", "Jane [CEO]", 3, "2026-11-20T10:00:00Z"),
        IndexRow("projects/clawpy", "Clawpy", 1, "2026-11-01T00:00:00Z"),
    ]
    assert index_block(rows).splitlines() == [
        "## Projects",
        "",
        "- [Clawpy](projects/clawpy/summary.md) `projects/clawpy`: 1 fact, newest 2026-11-01",
        "",
        "## Areas",
        "",
        "- [Jane \\[CEO\\]](areas/people/jane/summary.md) `areas/people/jane`: 3 facts, newest 2026-11-20",
        "",
        "## Resources",
        "",
        "- [Tea](resources/tea/summary.md) `resources/tea`: no facts",
    ]
    assert index_block([]) == "No entities yet."


def test_the_index_page_keeps_what_people_wrote() -> None:
    page = f"# Mine\n\n{BEGIN}\nold\n{END}\n\nalso mine\n"
    assert index_page(page, []) == f"# Mine\n\n{BEGIN}\nNo entities yet.\n{END}\n\nalso mine\n"


def test_a_long_index_is_cut_and_says_so() -> None:
    rows = [IndexRow(f"projects/p{number:04}", "P") for number in range(503)]
    assert index_block(rows).endswith("- 3 more: `clawmem entity list`")


TEMPLATE = Path(__file__).parents[3] / "vault-template"


def test_the_template_index_is_what_an_empty_vault_gives() -> None:
    page = (TEMPLATE / "life" / "index.md").read_text(encoding="utf-8")
    assert index_page(page, []) == page


@pytest.mark.parametrize("name", ["MEMORY.md", "life/index.md"])
def test_template_pages_with_marks_have_one_pair(name: str) -> None:
    page = (TEMPLATE / name).read_text(encoding="utf-8")
    assert generated_part(page) is not None
    assert marker_problem(page) is None


def test_the_template_holds_every_folder_of_a_vault() -> None:
    kept = {path.parent.relative_to(TEMPLATE).as_posix() for path in TEMPLATE.rglob(".gitkeep")}
    assert kept == set(
        "life/projects life/areas/people life/areas/companies life/resources life/archives "
        "daily ledger agents review wiki tasks".split()
    )


def test_what_is_over_is_not_hot_and_a_learned_fact_has_the_day_it_was_said() -> None:
    facts = [
        a_fact(1, 1, importance=0.9, valid_to="2020-01-01"),
        a_fact(2, 1, valid_to="2026-11-20"),
        a_fact(3, 1, metadata={"said_at": "2026-03-01T10:00:00Z"}),
    ]
    earlier = NOW - timedelta(days=5)
    assert facts_block(NAME, facts, earlier, today="2026-11-21T10:00:00Z").splitlines() == [
        "## Hot facts",
        "",
        "- Statement 3. (2026-03-01, fact_00000003)",
        "",
        "## What is over",
        "",
        "- Statement 1. (until 2020-01-01, fact_00000001)",
        "- Statement 2. (until 2026-11-20, fact_00000002)",
    ]
    assert "- Statement 2. (until 2026-11-20, fact_00000002)" in facts_block(NAME, facts, earlier)
