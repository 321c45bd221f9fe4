"""`clawmem hub init|vault|user|worker|status|verify|state`: the organisation tier, from the operator's side."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TypeVar

from clawmem.errors import DONE, PARTIAL, REFUSED, ClawmemError, InvalidInput
from clawmem.extensions.hub.postgres import operator
from clawmem.extensions.hub.postgres.connect import (
    FROM_ENVIRONMENT,
    HubAddress,
    ask,
    check_version,
    connect,
    hub_address,
    hub_errors,
)
from clawmem.extensions.hub.postgres.intake import judge_facts
from clawmem.extensions.hub.postgres.rows import find_text, known_migrations, log_of, migrate, vacuum_fully
from clawmem.extensions.hub.postgres.search import enable_vectors
from clawmem.extensions.hub.worker import VaultReport, VectorReport, WorkerOptions, embed_missing, work_on, work_once
from clawmem.faces.parts.command import Answer, Call, Command, Feed, Table
from clawmem.faces.parts.parameters import Parameter
from clawmem.faces.parts.words import data_of
from clawmem.model.language.dates import moment_of, parse_end, stamp
from clawmem.model.language.text import counted, visible
from clawmem.vault.exchange.mirror import check_mirror_address, mirrors_folder

if TYPE_CHECKING:
    from clawmem.extensions.hub.postgres.connect import HubConnection

_Result = TypeVar("_Result")
# Seconds. A verb of the operator may take longer than one of an agent; to compare a large hub takes long.
_PATIENCE, _LONG = 30.0, 86_400.0
_VARIABLE, _PASSWORD = "CLAWMEM_HUB_URL", "CLAWMEM_HUB_USER_PASSWORD"
_SHOWN = 20


_NO_VECTORS = (
    "Search by meaning is off: the database lacks the extension of pgvector. Where the server has it, a superuser runs"
    " CREATE EXTENSION vector in this database; then run `clawmem hub init` again."
)


def init(
    call: Call,
    url: Annotated[str, Parameter("The address of the database, or -.")],
    org: Annotated[str | None, Parameter("Also add or change this organisation.", ("--org",), metavar="ORG")],
    name: Annotated[str | None, Parameter("Its full name.", ("--name",), metavar="TEXT")],
    *,
    review: Annotated[bool, _REVIEW],
    no_review: Annotated[bool, _NO_REVIEW],
    close_public: Annotated[bool, Parameter("Revoke CREATE on the schema public.", ("--close-public",))],
) -> Answer:
    """Make or update the schema of the hub in a PostgreSQL database, as its owner. Doing it again changes nothing but
    the name and the review of the organisation, if they are given.
    URL is postgresql://HOST/DATABASE without a password, or - for libpq's own variables and files. A database where
    everybody may create objects in the schema public is refused, unless --close-public takes that right away."""
    address, reviewed = hub_address(url), _chosen_review(review, no_review)

    def act(hub: HubConnection) -> tuple[tuple[str, ...], list[str], bool, bool, bool]:
        closed = operator.close_public(hub, close_public)
        applied = [f"{migration.number:04}_{migration.name}" for migration in migrate(hub)]
        judge_facts(hub)
        vectors = enable_vectors(hub)
        made = org is not None and operator.add_organisation(hub, org, name, reviewed)
        return closed, applied, vectors, made, org is not None and operator.has_review(hub, org)

    closed, applied, vectors, made, waits = ask(address, _LONG, act, checked=False)
    lines = [f"{who} may no longer create objects in the schema public" for who in closed]
    lines += [f"applied {text}" for text in applied] or ["the schema is up to date"]
    how = "wait for a person" if waits else "are shared at once"
    lines += [f"{'added' if made else 'updated'} the organisation {org}: promotions {how}"] if org else []
    data = {
        "applied": applied,
        "migration": known_migrations()[-1].number,
        "vectors": vectors,
        "added": org if made else None,
        "closed": list(closed),
    }
    return Answer(data, lines, is_report=True, talk=() if vectors else (_NO_VECTORS,))


def _chosen_review(review: bool, no_review: bool) -> bool | None:
    """Return whether promotions shall wait for a person, or None to leave that as it is."""
    if review and no_review:
        raise InvalidInput("--review and --no-review contradict each other.", "Give one of them.")
    return review if review or no_review else None


def vault(
    call: Call,
    action: Annotated[str, _ADD_OR_REMOVE],
    address: Annotated[str, Parameter("The URL or folder of the vault, or its id.")],
    scope: Annotated[str | None, _SCOPE],
    kind: Annotated[str | None, _KIND],
    of_org: Annotated[str | None, _ORG],
    hub: Annotated[str | None, _HUB],
    *,
    purge: Annotated[bool, Parameter("Also empty what the log has of it.", ("--purge",))],
) -> Answer:
    """Add a vault that workers take in, or remove one with all its rows. ADDRESS is the full URL of its git remote, or
    its folder on the machine of the worker; to remove, also its id. Members of the scope read everything in it."""
    _check_words((_ADD_OR_REMOVE, action), (_KIND, kind))
    if action == "add":
        return _add_vault(call, address, scope, kind, of_org, hub)

    def act(connection: HubConnection) -> tuple[str, str, int, tuple[str, ...]]:
        org = operator.chosen_organisation(connection, of_org)
        found, where, of_scope = _named_vault(call, connection, org, address)
        emptied = operator.remove_vault(connection, org, found, purge)
        return found, where, emptied, operator.remove_unused_scopes(connection, org, [of_scope])

    found, where, emptied, unused = _act(call, hub, act)
    lines = [f"removed {found} ({where})", *([f"emptied {counted(emptied, 'row')} of the log"] if purge else [])]
    lines += _unused_lines(unused)
    data = {"vault": found, "address": where, "emptied": emptied, "new_scope": None, "removed_scopes": list(unused)}
    return Answer(data, lines, is_report=True)


def _unused_lines(scopes: tuple[str, ...]) -> list[str]:
    return [f"removed the scope {scope}, which nothing uses any more" for scope in scopes]


def _add_vault(
    call: Call, address: str, scope: str | None, kind: str | None, of_org: str | None, hub: str | None
) -> Answer:
    if scope is None:
        raise InvalidInput("A vault needs a scope, whose members read it.", "Name one: --scope team-a.")
    checked = check_mirror_address(address, call.runtime.working_folder)

    def act(connection: HubConnection) -> tuple[str, bool, bool]:
        org = operator.chosen_organisation(connection, of_org)
        made_scope = operator.ensure_scope(connection, org, scope, kind)
        return *operator.add_vault(connection, org, checked, scope), made_scope

    made, is_new, made_scope = _act(call, hub, act)
    lines = [f"{'added' if is_new else 'known already:'} {made} ({checked}), read by members of {scope}"]
    lines += [f"new scope {scope} ({kind or operator.TEAM}), which has no members yet"] if made_scope else []
    data = {"vault": made, "address": checked, "emptied": 0, "new_scope": scope if made_scope else None}
    return Answer({**data, "removed_scopes": []}, lines, is_report=True)


def user(
    call: Call,
    action: Annotated[str, _ADD_OR_REVOKE],
    name: Annotated[str, Parameter("The login role.")],
    scope: Annotated[str | None, _SCOPE._replace(help="The scope; without it, revoke takes all.")],
    may: Annotated[
        list[str] | None, Parameter("What it may do besides reading: {choices}.", ("--may",), choices=operator.RIGHTS)
    ],
    of_org: Annotated[str | None, _ORG],
    hub: Annotated[str | None, _HUB],
    *,
    worker: Annotated[bool, Parameter("A role of workers, which see every scope.", ("--worker",))],
) -> Answer:
    """Add a login role of PostgreSQL that reads a scope, or revoke it. To add it again replaces its rights in the
    scope. One role is of one organisation. A revocation
    holds at once. CLAWMEM_HUB_USER_PASSWORD sets the role's password. With --worker, the role takes vaults in."""
    _check_words((_ADD_OR_REVOKE, action), *((_MAY, text) for text in may or ()))
    if action == "revoke":
        return _revoke(call, name, scope, of_org, hub)
    password = call.runtime.environment.get(_PASSWORD)
    if worker:
        if scope is not None or may or of_org is not None:
            raise InvalidInput(
                "A worker has no scope, no rights and no organisation of its own: it reads every scope of the hub.",
                "Leave out --scope, --may and --org, or leave out --worker for a user.",
            )
        made = _act(call, hub, lambda connection: operator.add_worker(connection, name, password))
        lines = [f"{name} may take vaults in", *(["made the role"] if made else [])]
        return Answer({"user": name, "scopes": [], "made": made}, lines, is_report=True)
    if scope is None:
        raise InvalidInput("A user needs a scope to read.", "Name one: --scope team-a; or --worker for a worker.")

    def act(connection: HubConnection) -> tuple[tuple[str, ...], bool]:
        org = operator.chosen_organisation(connection, of_org)
        had = operator.rights_in(connection, org, name, scope)
        return had, operator.add_user(connection, org, name, scope, may or (), password)

    had, made = _act(call, hub, act)
    rights = ", ".join(sorted({"read", *(may or ())}, key=operator.RIGHTS.index))
    before = f"; before: {', '.join(had)}" if had and ", ".join(had) != rights else ""
    lines = [f"{name} may now {rights} in {scope}{before}", *(["made the role"] if made else [])]
    return Answer({"user": name, "scopes": [scope], "made": made}, lines, is_report=True)


def _revoke(call: Call, name: str, scope: str | None, of_org: str | None, hub: str | None) -> Answer:
    def act(connection: HubConnection) -> tuple[tuple[str, ...], tuple[str, ...]]:
        org = operator.chosen_organisation(connection, of_org or operator.organisation_of(connection, name))
        lost = operator.revoke_user(connection, org, name, scope)
        return lost, operator.remove_unused_scopes(connection, org, lost)

    lost, unused = _act(call, hub, act)
    lines = [f"{name} sees nothing of {', '.join(lost) or 'the organisation'} any more", *_unused_lines(unused)]
    return Answer({"user": name, "scopes": list(lost), "made": False}, lines, is_report=True)


def worker(
    call: Call,
    every: Annotated[float, Parameter("Seconds between two looks.", ("--every",), default=30.0)],
    fetch_seconds: Annotated[
        float, Parameter("How long git may take for one vault.", ("--fetch-seconds",), default=300.0)
    ],
    embed_seconds: Annotated[
        float, Parameter("How long to compute vectors in one round.", ("--embed-seconds",), default=60.0)
    ],
    of_org: Annotated[str | None, _ORG._replace(help="Work for this organisation only.")],
    hub: Annotated[str | None, _HUB],
    *,
    once: Annotated[bool, Parameter("Look at each vault once, then end.", ("--once",))],
) -> Answer | Feed:
    """Take new commits of the vaults into the hub, again and again or --once, then compute missing vectors. It may be
    killed at any moment, and several may run. Mirrors of the vaults are kept below ~/.cache/clawmem/hub and can be
    deleted."""
    runtime, address = call.runtime, _address(call, hub)
    folder = mirrors_folder(runtime.environment, runtime.home())
    options = WorkerOptions(folder, runtime.environment, fetch_seconds, of_org)
    if not once:
        return Feed(_events(work_on(address, options, every, embed_seconds), runtime.now))
    items = list(work_once(address, options))
    embedded = embed_missing(address, embed_seconds)
    failed = [report for report in items if report.problem]
    lines = [
        f"{report.address}: {counted(report.commits, 'commit')}, {counted(report.facts, 'fact')}"
        + (", history rewritten" if report.rewritten else "")
        for report in items
        if report.commits
    ]
    lines = lines or ["nothing new" if items else "the hub has no vaults, or other workers are at them"]
    lines += [f"computed {counted(embedded.vectors, 'vector')}"] if embedded.vectors else []
    notices = [visible(f"{report.address}: {report.problem}") for report in failed]
    notices += [embedded.problem] if embedded.problem else []
    data = {"vaults": [report._asdict() for report in items], "vectors": embedded.vectors}
    return Answer(data, lines, notices, PARTIAL if failed else DONE, is_report=True)


def _events(
    found: Iterator[VaultReport | VectorReport | ClawmemError], now: Callable[[], datetime]
) -> Iterator[dict[str, Any]]:
    for error in found:
        if isinstance(error, ClawmemError):
            yield {"event": "hub", "at": stamp(now()), "problem": error.message}
        elif isinstance(error, VectorReport):
            yield {"event": "vectors", "at": stamp(now()), **error._asdict()}
        else:
            yield {"event": "vault", "at": stamp(now()), **error._asdict()}


def status(call: Call, hub: Annotated[str | None, _HUB]) -> Answer:
    """Show the version of the hub, its organisations, scopes and members, and how far each vault was taken in."""
    state = _act(call, hub, operator.read_state)
    vaults = [
        {**vault._asdict(), "checked_at": _time(vault.checked_at), "taken_at": _time(vault.taken_at)}
        for vault in state.vaults
    ]
    organisations = [
        {
            **row._asdict(),
            "scopes": [{"scope": scope, "kind": kind} for scope, kind in row.scopes],
            "members": [{"user": role, "scope": scope, "may": list(may)} for role, scope, may in row.members],
        }
        for row in state.organisations
    ]
    data = data_of(state, organisations=organisations, vaults=vaults)
    vectors = "full text and vectors" if state.vectors else "full text; no vectors"
    lines = [
        f"PostgreSQL {state.server}, schema {state.migration:04}, {vectors},"
        f" {state.bytes / 1e6:.1f} MB, {counted(state.rows_in_log, 'row')} in the log"
    ]
    lines += [f"workers: {', '.join(state.workers)}"] if state.workers else []
    for row in state.organisations:
        review = "; promotions wait for a person" if row.review else ""
        lines.append(f"{row.org} ({visible(row.name)}): {counted(row.waiting, 'promotion')} waiting{review}")
        lines += [f"  scope {scope} ({kind})" for scope, kind in row.scopes]
        lines += [f"  {role} may {', '.join(may)} in {scope}" for role, scope, may in row.members]
    for each in state.vaults:
        at = f"at {each.head[:12]}, {counted(each.commits, 'commit')}" if each.head else "not taken in yet"
        lines.append(f"{each.vault} {each.address} ({each.scope}): {at}, {counted(each.facts, 'fact')}")
    notices = [visible(f"{vault.address}: {vault.problem}") for vault in state.vaults if vault.problem]
    return Answer(data, lines, notices)


def verify(
    call: Call,
    redacted: Annotated[
        str | None, Parameter("Search for this text, or - for stdin.", ("--redacted",), metavar="TEXT", stdin=True)
    ],
    of_org: Annotated[str | None, _ORG],
    hub: Annotated[str | None, _HUB],
    *,
    vacuum: Annotated[bool, Parameter("First write all tables anew.", ("--vacuum",))],
) -> Answer:
    """Rebuild the state of each vault from the log, compare it with the tables, and print what differs (exit code 1).
    With --redacted, search every table for a text instead; also as the owner with --vacuum, which first writes all
    tables anew, so that their files have no deleted rows. The server's write-ahead log, backups and replicas keep
    what they have until they are recycled."""
    if redacted is not None:
        return _search(call, redacted, hub, vacuum)
    from clawmem.extensions.hub.postgres.rows import Verified  # few calls
    from clawmem.extensions.hub.postgres.rows import verify as verified

    def act(connection: HubConnection) -> Verified:
        check_version(connection)
        connection.commit()  # the snapshot begins with the comparison
        return verified(connection, of_org)

    found = ask(_address(call, hub), _LONG, act, checked=False)
    rows = ", ".join(f"{table} {number}" for table, number in sorted(found.rows.items()))
    lines = [
        f"{counted(found.vaults, 'vault')}, {counted(found.log_rows, 'row')} of the log; "
        f"rows of tables: {rows or 'none'}"
    ]
    lines += [_difference(difference._asdict()) for difference in found.differences[:_SHOWN]]
    more = len(found.differences) - _SHOWN
    lines += [f"and {more} more"] if more > 0 else []
    lines.append(
        f"{counted(len(found.differences), 'difference')}" if found.differences else "the log and the tables agree"
    )
    return Answer(data_of(found), lines, exit_code=REFUSED if found.differences else DONE)


def _difference(record: dict[str, Any]) -> str:
    columns = f": {', '.join(record['columns'])}" if record["columns"] else ""
    return visible(
        f"{record['how']}: {record['table']} {' '.join(map(str, record['key']))} of {record['vault']}{columns}"
    )


def _search(call: Call, text: str, hub: str | None, vacuum: bool) -> Answer:
    if not text.strip():
        raise InvalidInput("The text to search for is empty.", "Give the redacted text, or - for stdin.")
    address = _address(call, hub)
    written: list[str] = []
    if vacuum:
        with hub_errors(address), connect(address) as connection:
            connection.autocommit = True
            written += vacuum_fully(connection)
    found = ask(address, _LONG, lambda connection: find_text(connection, text))
    lines = [f"found in {each.table}: {counted(each.rows, 'row')}" for each in found] or ["the text is in no table"]
    lines += [f"wrote {counted(len(written), 'table')} anew"] if vacuum else []
    data = {"found": [other_text._asdict() for other_text in found], "rewritten_tables": written}
    return Answer(data, lines, exit_code=REFUSED if found else DONE)


def state(
    call: Call,
    address: Annotated[str, Parameter("The address or the id of the vault.")],
    at: Annotated[str | None, Parameter("The time (default: now).", ("--at",), metavar="WHEN")],
    of_org: Annotated[str | None, _ORG],
    hub: Annotated[str | None, _HUB],
) -> Answer:
    """Print the facts of a vault as the hub had them at a time, rebuilt from the log alone."""
    from clawmem.extensions.hub.postgres.rows import folded

    until = None if at is None else moment_of(parse_end(at, call.runtime.now()))

    def act(connection: HubConnection) -> tuple[str | None, list[dict[str, Any]]]:
        org = operator.chosen_organisation(connection, of_org)
        vault, _, scope = _named_vault(call, connection, org, address)
        fold = folded(scope, log_of(connection, org, vault, until))
        return fold.head(), list(fold.facts())

    head, facts = ask(_address(call, hub), _LONG, act)
    rows = [(fact["id"], fact["status"], fact["entity"], fact["claim"]) for fact in facts]
    talk = () if rows else ("The hub had no facts of this vault then.",)
    return Answer({"head": head, "facts": facts}, Table(("fact", "status", "entity", "claim"), rows), talk=talk)


def _check_words(*chosen: tuple[Parameter, str | None]) -> None:
    """Raise InvalidInput for a word that a parameter does not take."""
    for parameter, word in chosen:
        if word is not None and word not in parameter.choices:
            raise InvalidInput(f"'{word}' is not one of {', '.join(parameter.choices)}.", parameter.about)


def _named_vault(call: Call, connection: HubConnection, org: str, named: str) -> tuple[str, str, str]:
    """Return id, address and scope of a vault of the hub by its id or address; a folder may be given relative."""
    folder = call.runtime.working_folder / Path(named).expanduser()
    return operator.find_vault(connection, org, str(folder.resolve()) if folder.is_dir() else named)


def _act(call: Call, hub: str | None, act: Callable[[HubConnection], _Result]) -> _Result:
    return ask(_address(call, hub), _PATIENCE, act)


def _address(call: Call, named: str | None) -> HubAddress:
    """Return the hub: the named one, else CLAWMEM_HUB_URL, else what libpq's variables say."""
    if named is not None:
        return hub_address(named)
    value = call.runtime.environment.get(_VARIABLE)
    if value:
        return hub_address(value, from_environment=True)
    if any(call.runtime.environment.get(name) for name in ("PGHOST", "PGSERVICE", "PGDATABASE")):
        return HubAddress(FROM_ENVIRONMENT)
    raise InvalidInput(
        "No hub is named.",
        f"Name one with --hub postgresql://HOST/DATABASE or {_VARIABLE}, or set PGHOST and PGDATABASE.",
    )


def _time(moment: datetime | None) -> str | None:
    return None if moment is None else stamp(moment)


_HUB = Parameter("The hub's address, or - (default: CLAWMEM_HUB_URL, else PG* variables).", ("--hub",), metavar="URL")  # fmt: skip # noqa: E501
_ORG = Parameter("The organisation; not needed if the hub has one only.", ("--org",), metavar="ORG")
_REVIEW = Parameter("Promotions wait until a person approves them.", ("--review",))
_NO_REVIEW = Parameter("Promotions are shared at once.", ("--no-review",))
_SCOPE = Parameter("The scope: a team, a framework or the organisation.", ("--scope",), metavar="SCOPE")
_ADD_OR_REMOVE = Parameter("{choices}.", choices=("add", "remove"))
_ADD_OR_REVOKE = Parameter("{choices}.", choices=("add", "revoke"))
_KIND = Parameter("The kind of a new scope: {choices}.", ("--kind",), choices=operator.SCOPE_KINDS)
_MAY = Parameter("What it may do besides reading: {choices}.", ("--may",), choices=operator.RIGHTS)
_FACT = {
    **dict.fromkeys(
        ("id", "scope", "entity", "claim", "category", "status", "timestamp", "source", "author", "commit", "path",
         "recorded_at"), str,
    ),
    **dict.fromkeys(
        ("subject", "predicate", "object", "trust", "valid_from", "valid_to", "source_event", "agent", "workflow",
         "project", "reach", "superseded_by"), (str, None),
    ),
    "scopes": [str], "tags": [str], "confidence": (float, None), "importance": (float, None), "line": int,
    "record": {str: object},
}  # fmt: skip

_DECIDES = "decides who reads what"
VERB = {
    "init": Command(
        init,
        {"applied": [str], "migration": int, "vectors": bool, "added": (str, None), "closed": [str]},
        ("clawmem hub init - --org acme",),
        person=_DECIDES,
    ),
    "vault": Command(
        vault,
        {"vault": str, "address": str, "emptied": int, "new_scope": (str, None), "removed_scopes": [str]},
        ("clawmem hub vault add ~/.clawmem --scope team-a",),
        person=_DECIDES,
    ),
    "user": Command(
        user,
        {"user": str, "scopes": [str], "made": bool},
        ("clawmem hub user add ann --scope team-a --may promote", "clawmem hub user revoke ann"),
        person=_DECIDES,
    ),
    "worker": Command(
        worker,
        {"vaults": [VaultReport], "vectors": int},
        ("clawmem hub worker --once",),
        ("vaults",),
    ),
    "status": Command(
        status,
        {
            "...": operator.HubState,
            "organisations": [
                {"...": operator.OrganisationState, "scopes": [{"scope": str, "kind": str}],
                 "members": [{"user": str, "scope": str, "may": [str]}]}
            ],
            "vaults": [{"...": operator.VaultState, "checked_at": (str, None), "taken_at": (str, None)}],
        },
        ("clawmem hub status",),
        ("vaults",),
    ),
    "verify": Command(
        verify,
        (
            "clawmem.extensions.hub.postgres.rows:Verified",
            {"found": ["clawmem.extensions.hub.postgres.rows:FoundText"], "rewritten_tables": [str]},
        ),
        ("clawmem hub verify", "clawmem hub verify --redacted 'the old password'"),
    ),
    "state": Command(
        state,
        {"head": (str, None), "facts": [_FACT]},
        ("clawmem hub state ~/.clawmem --at 2026-11-20",),
        ("facts",),
    ),
}  # fmt: skip
