"""Who sees and may do what at the hub: every role, by every verb and by SQL with its own role, in every scope.

`CLAWMEM_UPDATE_RIGHTS=1` writes the table of the results to docs/organisation-rights.md.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import psycopg
import pytest

from clawmem.extensions.hub.postgres.connect import ask
from clawmem.extensions.hub.postgres.operator import add_organisation, add_user, ensure_scope, revoke_user
from clawmem.vault.git.acceptance import accept
from tests.conftest import PINNED_NOW
from tests.extensions.hub.hub_vaults import PROMOTE, REVIEW, Hub
from tests.extensions.hub.members import ORGANISATION, Member
from tests.extensions.hub.postgres.server import ORG, OWNER, Server, new_database
from tests.trees import Tree

if TYPE_CHECKING:
    from clawmem.extensions.hub.postgres.connect import HubConnection

TABLE = Path(__file__).parents[3] / "docs" / "organisation-rights.md"
UPDATE = "CLAWMEM_UPDATE_RIGHTS" in os.environ
QUESTION = "gateway"
PAGE_BEGIN, PAGE_END = "<!-- results -->\n", "<!-- end of results -->\n"

# The facts of the test: the vault, and the scope that it was promoted to.
FACTS = {
    "a": ("alpha", None, "The gateway of team A is red."),
    "a-all": ("alpha", ORGANISATION, "The gateway of everybody is blue."),
    "a-platform": ("alpha", "platform", "The gateway of the platform is green."),
    "a-asked": ("alpha", "pending", "The gateway of tomorrow is yellow."),
    "b": ("beta", None, "The gateway of team B is black."),
    "other": ("gamma", ORGANISATION, "The gateway of another organisation is white."),
}
# What each role reads. The scopes are granted to a role by name; `organisation` is everybody's of the organisation.
ROLES: Mapping[str, tuple[Mapping[str, tuple[str, ...]], frozenset[str]]] = {
    "reader of team A": ({"team-a": ()}, frozenset(("a", "a-all", "a-platform", "a-asked"))),
    "reader of team B": ({"team-b": ()}, frozenset(("b", "a-all"))),
    "reader of the platform": ({"platform": ()}, frozenset(("a-platform", "a-all"))),
    "promoter of team A": (
        {"team-a": (PROMOTE,), ORGANISATION: (PROMOTE,)},
        frozenset(("a", "a-all", "a-platform", "a-asked")),
    ),
    "reviewer": ({ORGANISATION: (REVIEW,)}, frozenset(("a-all",))),
    "member of another organisation": ({}, frozenset(("other",))),
    "no member": ({}, frozenset()),
    "revoked member of team A": ({"team-a": ()}, frozenset()),
}
OUTSIDE = {"no member", "revoked member of team A"}
READING = ("org query", "recall --org", "context --org", "org pull", "SQL", "SQL of every table")
CHANGING = ("org promote", "org review", "org withdraw", "SQL that changes", "functions of the hub")
# Who may change something, and how: everybody else is refused.
MAY_PROMOTE, MAY_REVIEW = {"promoter of team A"}, {"reviewer"}


class World(NamedTuple):
    """The hub with the facts, the ids of these, and the vault of each role."""

    hub: Hub
    ids: Mapping[str, str]
    members: Mapping[str, Member]
    pending: int

    def named(self, ids: object) -> frozenset[str]:
        """Return the names of the facts whose id or statement occurs in something."""
        text = str(ids)
        return frozenset(name for name, identifier in self.ids.items() if identifier in text or FACTS[name][2] in text)


def role_name(role: str) -> str:
    return role.replace(" ", "_")


def _environment(home: Path) -> dict[str, str]:
    home.mkdir(parents=True)
    (home / ".gitconfig").write_text("[user]\n\tname = Ada Person\n\temail = ada@example.org\n")
    return {"PATH": os.environ["PATH"], "HOME": str(home), "LANG": "C.UTF-8", "CLAWMEM_NOW": PINNED_NOW}


@pytest.fixture(scope="module")
def world(server: Server, newborn: Tree, tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    folder = tmp_path_factory.mktemp("rights")
    with new_database(server, "clawmem_template") as database:
        hub = Hub(database, folder)
        hub.scope("team-a", "team-b")
        hub.as_owner("INSERT INTO scope VALUES (%s, 'platform', 'framework')", ORG)
        ask(database.address(), 10, lambda owner: add_organisation(owner, "globex", "Globex", False))
        ask(database.address(), 10, lambda owner: ensure_scope(owner, "globex", "team-a", "team"))
        hub.as_owner("UPDATE member SET scope = scope")

        def vault_of(name: str, number: int) -> Member:
            root = newborn.write(folder / name / "vault")
            environment = {**_environment(folder / name / "home"), "CLAWMEM_SEED": str(number)}
            accept(root / ".git", environment)
            settings = root / "clawmem.yaml"
            settings.write_text(settings.read_text().replace("\n  model: local\n", "\n  model: none\n"))
            member = Member(root, {**environment, "CLAWMEM_VAULT": str(root)})
            member.keep(f"The vault {name} exists.", "areas/general")
            return member

        vaults = {name: vault_of(name, number) for number, name in enumerate(("alpha", "beta", "gamma"), 1)}
        ids = {name: vaults[vault].keep(words) for name, (vault, _, words) in FACTS.items()}
        hub.take_in("alpha", "team-a", vaults["alpha"].root)
        hub.take_in("beta", "team-b", vaults["beta"].root)
        hub.as_owner(
            "INSERT INTO vault (org, vault, address, scope) VALUES ('globex', 'gamma', %s, 'team-a')",
            str(vaults["gamma"].root),
        )
        hub.take_in("alpha", "team-a", vaults["alpha"].root)
        first = {"organisation": (PROMOTE,), "platform": (PROMOTE,), "team-a": ()}
        setter = hub.member("setter", first)
        for name, (vault, scope, _) in FACTS.items():
            if vault == "alpha" and scope:
                hub.review(scope == "pending")
                target = ORGANISATION if scope == "pending" else scope
                result = vaults["alpha"](
                    "org", "promote", ids[name], "--scope", target, env={"CLAWMEM_ORG_URL": setter}
                )
                assert result.code == 0, result
        hub.as_owner("SELECT share_fact('globex', 'gamma', %s, 'organisation', true)", ids["other"])
        ((pending,),) = hub.as_owner("SELECT seq FROM promotion WHERE status = 'pending'")
        members = {}
        for role, (rights, _) in ROLES.items():
            name = role_name(role)
            if role == "no member":
                hub.as_owner(f'CREATE ROLE "{name}" LOGIN IN ROLE clawmem_member')
            elif role == "member of another organisation":
                ask(database.address(), 10, partial(_add_user, role=name))
            else:
                hub.member(name, rights)
            if role.startswith("revoked"):
                ask(database.address(), 10, partial(revoke_user, org=ORG, role=name, scope=None))
            root = vaults["alpha"].root if role in MAY_PROMOTE else folder / name / "vault"
            if not root.exists():
                shutil.copytree(vaults["beta"].root, root, symlinks=True)
            environment = {
                **_environment(folder / name / "home-of-role"),
                "CLAWMEM_VAULT": str(root),
                "CLAWMEM_ORG_URL": hub.url(name),
            }
            accept(root / ".git", environment)
            members[role] = Member(root, environment)
        yield World(hub, ids, members, pending)


def _add_user(owner: HubConnection, role: str) -> bool:
    return add_user(owner, "globex", role, "team-a", (), None)


def seen_by(world: World, role: str, verb: str) -> frozenset[str]:
    """Return the facts of other vaults that a role gets to see by a verb; it is refused, where it is no member."""
    member = world.members[role]
    if verb == "SQL":
        try:
            return world.named(world.hub.as_role(role_name(role), "SELECT id, claim FROM clawmem.fact"))
        except psycopg.Error:
            return frozenset()
    if verb == "SQL of every table":
        return _by_every_table(world, role)
    if verb == "org query":
        return _checked(world, role, member("org", "query", QUESTION, "--json"))
    if verb == "recall --org":
        return world.named(member("recall", QUESTION, "--org", "--json").json.get("data", {}).get("organisation"))
    if verb == "context --org":
        result = member("context", QUESTION, "--org", "--json")
        return world.named(result.data["organisation"]) if result.code != 1 else frozenset()
    assert verb == "org pull"
    result = _copy_of(member)("org", "pull", "--json")
    assert (result.code == 0) == (role not in OUTSIDE) and (result.code or not result.data["refused"]), result
    return world.named(result.data["added"]) if result.code == 0 else frozenset()


def _copy_of(member: Member) -> Member:
    """Return a member with a copy of the vault: a pull changes it."""
    root = Path(shutil.copytree(member.root, f"{member.root}-for-pull", symlinks=True, dirs_exist_ok=True))
    environment = {**member.environment, "CLAWMEM_VAULT": str(root)}
    accept(root / ".git", environment)
    return Member(root, environment)


def _checked(world: World, role: str, value: object) -> frozenset[str]:
    code, out = value.code, value.out  # type: ignore[attr-defined]
    assert (code == 1) == (role in OUTSIDE), value
    return world.named(out)


def _by_every_table(world: World, role: str) -> frozenset[str]:
    """Return the facts of which a role sees anything in any table or by any function that takes no rights."""
    tables = "fact log link entity author taken_commit promotion vault member account scope organisation".split()
    partitions = [f"fact_{ORG}", f"log_{ORG}", "fact_globex", f"promotion_{ORG}"]
    found = frozenset[str]()
    for table in (*tables, *partitions):
        try:
            rows = world.hub.as_role(role_name(role), f"SELECT * FROM clawmem.{table}")
        except psycopg.errors.InsufficientPrivilege:
            continue
        found |= world.named(rows)
    return found


@pytest.mark.parametrize("role", ROLES)
@pytest.mark.parametrize("verb", READING)
def test_each_role_reads_its_scopes_only(world: World, role: str, verb: str) -> None:
    expected = ROLES[role][1]
    seen = seen_by(world, role, verb)
    if verb in ("SQL", "SQL of every table"):
        # The table of promotions has the ids, not the statements, of what waits for the role.
        waits = {"a-asked"} if role in MAY_REVIEW and verb != "SQL" else set()
        assert seen == expected | waits
        return
    # A verb leaves out what the vault of the caller has itself.
    own = {"a", "a-all", "a-platform", "a-asked", "b"} if role in MAY_PROMOTE else {"b"}
    if verb == "org query":
        own = set()
    if verb == "org pull":
        own = {"a", "a-asked", "b"} | (own if role in MAY_PROMOTE else set())
    assert seen == expected - own, (role, verb)


@pytest.mark.parametrize("role", ROLES)
def test_only_a_promoter_promotes(world: World, role: str) -> None:
    name = role_name(role)
    for fact in ("a", "b", "other"):
        vault = FACTS[fact][0]
        call = "SELECT * FROM clawmem.ask_promotion(%s, %s, 'organisation', %s, '{}')"
        with pytest.raises(psycopg.Error) as refused:
            if role in MAY_PROMOTE and fact == "a":
                items = world.hub.as_role(name, call, vault, world.ids[fact], FACTS[fact][2])
                assert items[0][1] == "pending"
                assert world.hub.as_role(
                    name, "SELECT clawmem.withdraw_promotions(%s, %s, 'x')", vault, world.ids[fact]
                ) == [(1,)]
                raise psycopg.errors.InsufficientPrivilege("the promoter may")
            world.hub.as_role(name, call, vault, world.ids[fact], FACTS[fact][2])
        assert refused.value.sqlstate in ("42501", "P0001")
    if role not in MAY_PROMOTE:
        refusal = world.members[role]("org", "promote", world.ids["b"])
        assert refusal.code == 1, refusal
        assert any(words in refusal.err for words in ("refused", "no rights", "no member", "not know")), refusal


def test_a_member_of_a_middle_scope_does_not_promote_the_fact_of_another_vault(world: World) -> None:
    world.hub.member("middle", {"platform": (PROMOTE,), ORGANISATION: (PROMOTE,)})
    fact, words = world.ids["a-platform"], FACTS["a-platform"][2]
    assert world.hub.as_role("middle", "SELECT claim FROM fact WHERE id = %s", fact) == [(words,)]
    with pytest.raises(psycopg.errors.RaiseException, match="has no fact"):
        world.hub.as_role("middle", "SELECT * FROM ask_promotion('alpha', %s, 'organisation', %s, '{}')", fact, words)
    assert world.hub.as_owner("SELECT scopes FROM fact WHERE id = %s", fact) == [(["team-a", "platform"],)]


def test_what_was_redacted_is_told_only_to_those_who_could_read_it(world: World) -> None:
    vaults, facts = [FACTS[name][0] for name in world.ids], list(world.ids.values())
    database = world.hub.database
    with database.server.admin(database.name) as admin, admin.transaction(force_rollback=True):
        admin.execute('UPDATE clawmem.fact SET record = record || \'{"metadata": {"redacted": {}}}\'')
        for role, (_, reads) in ROLES.items():
            if role in OUTSIDE:
                continue
            admin.execute(f'SET LOCAL SESSION AUTHORIZATION "{role_name(role)}"')
            found = admin.execute("SELECT fact FROM clawmem.redacted_among(%s, %s)", (vaults, facts)).fetchall()
            assert world.named(found) == reads, role


@pytest.mark.parametrize("role", ROLES)
def test_only_a_reviewer_sees_what_waits_and_decides(world: World, role: str) -> None:
    member, number = world.members[role], world.pending
    result = member("org", "review", "--json")
    listed = world.named(result.data["promotions"]) if result.code == 0 else frozenset()
    assert listed == (frozenset(("a-asked",)) if role in MAY_REVIEW else frozenset())
    if role not in MAY_REVIEW:
        refused = member("org", "review", "approve", str(number))
        assert refused.code == 1 and FACTS["a-asked"][2] not in refused.out + refused.err
        with pytest.raises(psycopg.Error) as problem:
            world.hub.as_role(role_name(role), "SELECT clawmem.decide_promotion(%s, true, '')", number)
        assert problem.value.sqlstate in ("42501", "P0002")
    assert world.hub.as_owner("SELECT status FROM promotion WHERE seq = %s", number) == [("pending",)]


@pytest.mark.parametrize("role", ROLES)
def test_no_role_withdraws_what_others_promoted(world: World, role: str) -> None:
    name, fact = role_name(role), world.ids["a-platform"]
    try:
        assert world.hub.as_role(name, "SELECT clawmem.withdraw_promotions('alpha', %s, 'x')", fact) == [(0,)]
    except psycopg.errors.InsufficientPrivilege:
        assert role in OUTSIDE
    assert world.hub.as_owner("SELECT scopes FROM fact WHERE id = %s", fact) == [(["team-a", "platform"],)]


CHANGES = (
    "UPDATE clawmem.fact SET scopes = '{organisation}'",
    "DELETE FROM clawmem.fact",
    "INSERT INTO clawmem.member VALUES ('acme', session_user, 'team-a', '{read}')",
    "UPDATE clawmem.account SET org = 'acme'",
    "UPDATE clawmem.promotion SET status = 'approved'",
    "DELETE FROM clawmem.log",
    "SELECT clawmem.share_fact('acme', 'alpha', 'x', 'organisation', true)",
    "SELECT clawmem.empty_rewritten('acme', 'alpha')",
    "SELECT clawmem.add_organisation('mine', 'Mine', false)",
    "SET ROLE clawmem_worker",
    "SET SESSION AUTHORIZATION hub_owner",
    "ALTER TABLE clawmem.fact DISABLE ROW LEVEL SECURITY",
    "CREATE TABLE clawmem.mine (x int)",
    f"GRANT clawmem_worker TO {OWNER}",
)


@pytest.mark.parametrize("role", ROLES)
def test_no_role_changes_anything_by_sql(world: World, role: str) -> None:
    with psycopg.connect(world.hub.url(role_name(role)), autocommit=True) as connection:
        for statement in CHANGES:
            with pytest.raises(psycopg.errors.InsufficientPrivilege):
                connection.execute(statement)


def test_the_table_of_the_documentation_is_what_was_tried(world: World) -> None:
    rows = ["| role | reads |", "|---|---|"]
    for role in ROLES:
        seen = sorted(seen_by(world, role, "SQL"))
        rows.append(f"| {role} | {', '.join(seen) or 'nothing'} |")
    made = "\n".join(rows) + "\n"
    page = TABLE.read_text()
    before, _, rest = page.partition(PAGE_BEGIN)
    value, _, after = rest.partition(PAGE_END)
    if UPDATE:
        TABLE.write_text(before + PAGE_BEGIN + made + PAGE_END + after)
    else:
        assert value == made
