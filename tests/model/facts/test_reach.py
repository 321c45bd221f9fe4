"""Scope: a query sees its own scope and the broader ones, and never another workflow's narrower ones."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clawmem.errors import InvalidInput
from clawmem.index.refresh import run_query
from clawmem.index.search.channels import FactFilter, all_passing
from clawmem.memory.facts.remember import remember
from clawmem.model.facts.draft import Draft
from clawmem.model.facts.fact import Fact
from clawmem.model.facts.reach import (
    SCOPES,
    Reach,
    canonical_project,
    check_scope,
    project_of_page,
    realm,
    realm_of,
)
from clawmem.model.records.caller import Caller
from clawmem.vault.vault import Vault

WORKFLOWS = (None, "software", "research", "heartbeat/rules")
PROJECTS = (None, "https://example.org/a.git", "https://example.org/a.git.b", "/home/ada/b")


def _sees(reach: Reach, scope: str | None, workflow: str | None, project: str | None) -> bool:
    """The rule in words: nothing narrower than asked, nothing of another workflow or project."""
    of = workflow if workflow and "/" not in workflow else None
    if scope in ("framework", "organisation"):
        return SCOPES.index(scope) >= SCOPES.index(reach.scope)
    if project is not None and scope != "team":
        mine = reach.workflow is None or of in (None, reach.workflow)
        return reach.scope == "project" and project == reach.project and mine
    if scope is None and of is None:
        return True
    return reach.scope in ("project", "team") and of == reach.workflow


@given(
    st.sampled_from((None, *SCOPES)),
    st.sampled_from(WORKFLOWS),
    st.sampled_from(PROJECTS),
    st.builds(
        Reach, st.sampled_from(WORKFLOWS[:3]), st.sampled_from(PROJECTS), st.sampled_from(SCOPES), st.just(False)
    ),
)
def test_who_sees_what(scope: str | None, workflow: str | None, project: str | None, reach: Reach) -> None:
    assert reach.sees(realm(scope, workflow, project)) == _sees(reach, scope, workflow, project)


def _seen(vault: Vault, reach: Reach) -> set[str]:
    found = run_query(vault, lambda index: all_passing(index, FactFilter(reach=reach)))
    return {placed.fact.fact for placed in found}


def test_the_index_filters_as_the_rule_says(vault: Vault, caller: Caller) -> None:
    every = [
        Fact("new", f"Statement {at} about boats.", "lesson", "", "test", scope=scope, workflow=of, project=project)
        for at, (scope, of, project) in enumerate(
            (scope, of, project) for scope in (None, *SCOPES) for of in WORKFLOWS for project in PROJECTS
        )
    ]
    remember(vault, [Draft(fact) for fact in every], caller)
    for workflow in WORKFLOWS[:3]:
        for project in PROJECTS:
            for scope in SCOPES:
                reach = Reach(workflow, project, scope)
                seen = _seen(vault, reach)
                assert seen == {fact.fact for fact in every if reach.sees(realm_of(fact))}, reach


def test_a_query_in_a_repository_hides_the_facts_of_other_projects_alone(vault: Vault, caller: Caller) -> None:
    own = Reach(project=PROJECTS[1], others_hidden=True)
    every = [
        Fact("new", f"Statement {at} about boats.", "lesson", "", "test", scope=scope, workflow=of, project=project)
        for at, (scope, of, project) in enumerate(
            (scope, of, project) for scope in (None, *SCOPES) for of in WORKFLOWS for project in PROJECTS
        )
    ]
    remember(vault, [Draft(fact) for fact in every], caller)
    wide = ("team", "framework", "organisation")
    wanted = {fact.fact for fact in every if fact.scope in wide or fact.project in (None, own.project)}
    assert _seen(vault, own) == wanted == {fact.fact for fact in every if own.sees(realm_of(fact))}


def test_the_same_words_in_two_scopes_are_two_facts(vault: Vault, caller: Caller) -> None:
    drafts = [
        Draft(Fact("new", "Run the tests first.", "lesson", "", "test", scope="team", workflow=text))
        for text in ("software", "research", "software")
    ]
    assert [fact.outcome for fact in remember(vault, drafts, caller).facts] == ["added", "added", "noop"]


@pytest.mark.parametrize(("scope", "missing"), [("team", "workflow"), ("project", "project"), ("planet", "scope")])
def test_a_scope_needs_what_it_is_of(scope: str, missing: str) -> None:
    with pytest.raises(InvalidInput, match=missing):
        check_scope(scope, None, None)


@pytest.mark.parametrize(
    "address",
    [
        "https://git.example.org/fjordline/pelican",
        "https://git.example.org/Fjordline/Pelican.git",
        "https://ada:secret@git.example.org:8443/fjordline/pelican/",
        "git@git.example.org:fjordline/pelican.git",
        "ssh://git@git.example.org:2222/fjordline/pelican.git",
        "ssh://git@git.example.org/fjordline/pelican",
        "git://git.example.org/fjordline/pelican.git",
        "git.example.org/fjordline/pelican",
    ],
)
def test_every_form_of_an_address_is_one_project(address: str) -> None:
    assert canonical_project(address) == "git.example.org/fjordline/pelican"


@pytest.mark.parametrize("name", ["/home/ada/Boat", "kestrel", "acme/kestrel", "~/code/boat", "./boat"])
def test_a_folder_or_a_name_is_a_project_as_it_is(name: str) -> None:
    assert canonical_project(name) == name


def test_the_port_of_https_for_ssh_is_the_same_host() -> None:
    assert canonical_project("ssh://git@ssh.github.com:443/acme/boat.git") == "github.com/acme/boat"


@given(st.from_regex(r"((https|ssh)://)?(u@)?[a-z.]{1,9}(:[0-9]{2})?[:/][A-Za-z0-9._/-]{1,12}", fullmatch=True))
def test_the_one_name_of_a_project_is_its_own(address: str) -> None:
    assert canonical_project(canonical_project(address)) == canonical_project(address)


def test_a_query_sees_the_facts_of_joined_projects() -> None:
    reach = Reach(project="example.org/a/new", joined=("example.org/a/old",))
    for old in ("https://example.org/a/old.git", "example.org/a/old"):
        assert reach.sees(realm(None, None, old)) and reach.sees(realm(None, "software", old))
        assert reach._replace(workflow="software").sees(realm(None, "software", old))
        assert reach._replace(others_hidden=True).sees(realm(None, None, old))
    assert not reach.sees(realm(None, None, "example.org/a/older"))


@pytest.mark.parametrize(
    ("project", "seen"),
    [
        ("git.example.org/fjord/pelican", ("pelican", "fjord")),
        ("/home/ada/work/pelican", ("pelican",)),
        ("/home/ada/Fjord Line", ("fjord-line",)),
    ],
)
def test_a_project_sees_what_has_its_name_alone(project: str, seen: tuple[str, ...]) -> None:
    reach = Reach(project=project, others_hidden=True)
    for name in ("pelican", "fjord", "work", "home", "fjord-line"):
        assert reach.sees(realm(None, None, name)) == (name in seen)


PELICAN = "git.example.org/fjord/pelican"


@pytest.mark.parametrize(
    ("entity", "of_facts", "here", "others", "project"),
    [
        ("projects/pelican", (), PELICAN, (), PELICAN),
        ("projects/pelican-api", (), PELICAN, (), PELICAN),  # a part of it
        ("projects/pelicans-nest", (), PELICAN, (), "pelicans-nest"),  # only begins with the same letters
        ("areas/companies/pel", (), PELICAN, (), None),
        ("areas/companies/pelican", (), PELICAN, (), PELICAN),
        ("projects/fjord", (), PELICAN, (), "fjord"),  # all repositories of that owner
        ("projects/heron", (PELICAN,), PELICAN, (), PELICAN),  # the product of a repository of another name
        ("projects/heron", ("a/heron",), PELICAN, (), "a/heron"),
        ("projects/heron", (), PELICAN, ("git.example.org/x/heron",), "heron"),
        ("projects/heron", (), PELICAN, (), "heron"),
        ("projects/heron", (), None, (), None),  # a project that is no repository
        ("areas/companies/heron", (), PELICAN, ("git.example.org/heron/x",), "heron"),
        ("areas/companies/stripe", (), PELICAN, (), None),
    ],
)
def test_a_page_says_which_project_sees_it(
    entity: str, of_facts: tuple[str, ...], here: str | None, others: tuple[str, ...], project: str | None
) -> None:
    assert project_of_page(entity, "The rate is 90.", of_facts, here, others, has_page=True) == project


def test_a_page_of_a_repository_without_one_is_everybodys_unless_its_statement_names_the_repository() -> None:
    page = "projects/move", "The move of Pelican is in May."
    assert project_of_page(*page, (), PELICAN, (), has_page=False) == PELICAN
    assert project_of_page(page[0], "The move is in May.", (), PELICAN, (), has_page=False) is None
