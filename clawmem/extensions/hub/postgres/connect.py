"""Connections to the hub: within a limit of time, and with errors that show no credentials.

psycopg is an extra and slow to import, so it is imported when a connection is opened. Credentials come from the
environment (PG* variables, or the password of a URL that is in the environment), a service file or `~/.pgpass`, which
libpq reads by itself.
"""

from __future__ import annotations

import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from clawmem.errors import HubUnavailable, HubVersion, InvalidInput, NotPermitted, Refused
from clawmem.extensions.hub.postgres.rows import known_migrations, newer_schema
from clawmem.model.settings.values import has_password

if TYPE_CHECKING:
    from psycopg import Connection, Error

    HubConnection = Connection[tuple[Any, ...]]

FROM_ENVIRONMENT = "-"
"""Instead of a URL: libpq's own variables and files say where the hub is."""

Answer = TypeVar("Answer")

_SECONDS_TO_CONNECT = 10.0
_INSTALL = "Install the extra: pip install 'clawmem-vault[hub]'."
# Classes and codes of SQLSTATE, see appendix A of PostgreSQL's manual.
_NO_RIGHT, _READ_ONLY, _NO_TABLE, _NO_SCHEMA, _NO_FUNCTION = "42501", "25006", "42P01", "3F000", "42883"
# An error of the connection itself has no code.
_NO_CONNECTION_LEFT = ("too many connections", "too many clients", "remaining connection slots")
_TOO_MANY, _CANCELED, _LOCKED = "53300", "57014", "55P03"
_EXPIRED = "timeout expired"
_ADDRESSES = "Write postgresql://HOST/DATABASE, or - for libpq's variables."


class HubAddress(NamedTuple):
    """Where a hub is. `url` is a connection string of libpq, or `-`; one from the environment may have a password."""

    url: str = FROM_ENVIRONMENT

    def shown(self) -> str:
        """Return the address without its password, for texts."""
        if self.url == FROM_ENVIRONMENT:
            return "the hub of the environment"
        try:
            parts = _parsed(self.url)
        except InvalidInput:
            return "the hub"
        place = parts.get("host") or "a local socket"
        port = f":{parts['port']}" if "port" in parts else ""
        return f"{place}{port}/{parts.get('dbname', '')}".rstrip("/")


def hub_address(url: str, from_environment: bool = False) -> HubAddress:
    """Return the address of a hub from a URL (`postgresql://HOST/DATABASE`), a connection string, or `-`.

    Raise InvalidInput if it cannot be read, or if it has a password and is not from the environment.
    """
    if url == FROM_ENVIRONMENT:
        return HubAddress()
    if not from_environment and (has_password(url) or "password" in _parsed(url)):
        raise InvalidInput(
            "The address of the hub contains a password.",
            "Give the password in ~/.pgpass, a service file or PGPASSWORD, and the address without it.",
        )
    return HubAddress(url)


def ask(address: HubAddress, seconds: float, work: Callable[[HubConnection], Answer], checked: bool = True) -> Answer:
    """Open a connection, return what `work` makes of it, and close it: all within so many seconds.

    What `work` changed is committed if it returns. With `checked`, raise HubVersion first if the schema of the hub is
    not the one of this program.

    Raise HubUnavailable if the hub cannot be reached or does not answer in time, and NotPermitted if the role may not
    do that. A limit holds on the side of this program, so a server that hangs cannot exceed it.
    """
    opened: list[HubConnection] = []

    def run() -> Answer:
        with hub_errors(address), connect(address, min(seconds, _SECONDS_TO_CONNECT), seconds) as connection:
            opened.append(connection)
            if checked:
                check_version(connection)
            return work(connection)

    def late() -> HubUnavailable:
        for connection in opened:
            _cut(connection)
        return _too_slow(address)

    return in_time(run, seconds, late)


def in_time(run: Callable[[], Answer], seconds: float, late: Callable[[], Exception]) -> Answer:
    """Return what `run` returns in a thread of its own, or raise what it raises. After so many seconds, raise what
    `late` returns: the thread then goes on, and nobody waits for it."""
    result: list[Answer] = []
    failed: list[BaseException] = []

    def act() -> None:
        try:
            result.append(run())
        except BaseException as problem:  # noqa: BLE001 - raised again below, in the thread of the caller
            failed.append(problem)

    thread = threading.Thread(target=act, daemon=True)
    thread.start()
    thread.join(seconds)
    if thread.is_alive():
        raise late()
    if failed:
        raise failed[0]
    return result[0]


def connect(address: HubAddress, to_connect: float = _SECONDS_TO_CONNECT, statement: float = 0) -> HubConnection:
    """Open a connection. `to_connect` and `statement` are limits in seconds; 0 is none.

    `with` on it commits at the end, or rolls back after an exception, and closes it. Errors of psycopg that come later
    are not translated: see `hub_errors`.
    """
    try:
        import psycopg
    except ImportError:
        raise Refused("The hub needs psycopg, which is not installed.", _INSTALL) from None
    conninfo = "" if address.url == FROM_ENVIRONMENT else address.url
    settings = {"connect_timeout": max(2, round(to_connect)), "application_name": "clawmem"}
    try:
        connection = psycopg.connect(conninfo, **settings)  # type: ignore[arg-type]
    except psycopg.Error as problem:
        raise hub_error(address, problem) from None
    try:
        # Not as `options` of the connection, which poolers refuse. Never `public`, where others may make functions.
        connection.execute(
            "SELECT pg_catalog.set_config('statement_timeout', %s, false),"
            " pg_catalog.set_config('search_path', 'clawmem, pg_temp', false),"
            " pg_catalog.set_config('TimeZone', 'UTC', false)",
            (f"{round(statement * 1000)}ms",),
        )
        connection.commit()
    except psycopg.Error as problem:
        connection.close()
        raise hub_error(address, problem) from None
    return connection


@contextmanager
def hub_errors(address: HubAddress) -> Iterator[None]:
    """Translate errors of psycopg inside the context into those of clawmem."""
    try:
        yield
    except Exception as problem:
        if not type(problem).__module__.startswith("psycopg"):
            raise
        raise hub_error(address, problem) from None


def check_version(connection: HubConnection) -> None:
    """Raise HubVersion if the migrations of the hub are not those of this program."""
    here = {migration.number for migration in known_migrations()}
    there = _applied(connection)
    if there - here:
        raise newer_schema(max(there - here))
    if here - there:
        missing = ", ".join(f"{number:04}" for number in sorted(here - there)) if there else "all"
        raise HubVersion(
            f"The schema of the hub is older than this program; migrations that it lacks: {missing}.",
            "Its owner runs `clawmem hub init`.",
        )


def _applied(connection: HubConnection) -> set[int]:
    if connection.execute("SELECT to_regclass('clawmem.migration')").fetchone() == (None,):
        return set()
    return {int(number) for (number,) in connection.execute("SELECT number FROM clawmem.migration")}


def hub_error(address: HubAddress, problem: BaseException) -> BaseException:
    """Return the error to report for one of psycopg; any other is returned as it is."""
    if not type(problem).__module__.startswith("psycopg"):
        return problem
    error: Error = problem  # type: ignore[assignment]
    code = error.sqlstate or ""
    words = _scrubbed(address, error.diag.message_primary or str(error))
    if words is None:
        return HubUnavailable("The address of the hub cannot be read.", _ADDRESSES)
    if code == _NO_RIGHT and "schema clawmem" in words:
        return NotPermitted(
            "This role has no rights at the hub, or not any more.",
            "The operator of the hub grants rights with `clawmem hub user add`.",
        )
    if code == _NO_RIGHT:
        return NotPermitted(
            f"The hub refused it: {words}.",
            "The operator of the hub grants rights with `clawmem hub user add`.",
        )
    if code in (_NO_TABLE, _NO_SCHEMA, _NO_FUNCTION):
        return HubVersion(
            f"The hub lacks a part of the schema: {words}.",
            "Its owner runs `clawmem hub init`; or this database is not a hub.",
        )
    if code == _READ_ONLY:
        return HubUnavailable(
            "The hub is a read-only replica or in recovery; nothing was changed.", "Connect to its primary server."
        )
    if code == _TOO_MANY or any(sign in words for sign in _NO_CONNECTION_LEFT):
        return HubUnavailable(f"The hub has no free connection: {words}.", "Try again later.")
    if code in (_CANCELED, _LOCKED) or _EXPIRED in words:
        return _too_slow(address)
    if code[:2] in ("", "08", "28", "57", "3D"):
        return HubUnavailable(f"The hub cannot be reached ({address.shown()}): {words}.", _hint(code, words))
    return HubUnavailable(f"The hub failed: {words}.", "See the log of the server.")


def _hint(code: str, words: str) -> str:
    if code.startswith("28") or "password" in words:
        return "Give the credentials in ~/.pgpass, a service file, or PGUSER and PGPASSWORD."
    return "Check that the server runs and that the address is right; local verbs work without it."


def _too_slow(address: HubAddress) -> HubUnavailable:
    return HubUnavailable(
        f"The hub did not answer in time ({address.shown()}).",
        f"Try again later. The limit is `org.timeout_seconds` for `org` verbs, and {_SECONDS_TO_CONNECT:g} seconds to"
        " connect for `hub` verbs.",
    )


def _scrubbed(address: HubAddress, words: str) -> str | None:
    """Return the first line of a message without a password, or None if the address cannot be read."""
    first = words.strip().split("\n")[0].rpartition("FATAL:")[2].removeprefix("connection failed:").strip().rstrip(".")
    try:
        password = "" if address.url == FROM_ENVIRONMENT else str(_parsed(address.url).get("password", ""))
    except InvalidInput:
        return None
    return first.replace(password, "***") if password else first


def _parsed(url: str) -> dict[str, Any]:
    """Return the parts of a connection string. Raise InvalidInput, without its text, if it cannot be read."""
    try:
        from psycopg import ProgrammingError
        from psycopg.conninfo import conninfo_to_dict
    except ImportError:
        raise Refused("The hub needs psycopg, which is not installed.", _INSTALL) from None
    try:
        return conninfo_to_dict(url)
    except ProgrammingError:
        raise InvalidInput("The address of the hub cannot be read.", _ADDRESSES) from None


def _cut(connection: HubConnection) -> None:
    """End a connection that another thread waits for, so that the thread ends."""
    with suppress(Exception), socket.socket(fileno=connection.fileno()) as line:
        try:
            line.shutdown(socket.SHUT_RDWR)
        finally:
            line.detach()
