"""Run `clawmem` commands as processes forked from one that has imported the package already.

Starting Python and importing the package is most of what a short command takes, and the tests run thousands of them.
A forked command is a process of its own like any other: it has its own streams, environment, folder and exit code. Its
parent, which is this module run as a script, has imported modules and done nothing else, and has no threads.
"""

from __future__ import annotations

import contextlib
import ctypes
import fcntl
import gc
import json
import os
import pkgutil
import re
import select
import selectors
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import termios
import threading
import time
import traceback
from collections.abc import Mapping, Sequence
from datetime import date
from functools import cache
from importlib import import_module
from pathlib import Path
from types import MappingProxyType
from typing import Any, NoReturn

from clawmem.model.records.caller import AGENT_SHELLS

ROOT = Path(__file__).parent.parent
_NUMBER = struct.Struct("!i")
_PIPE_BYTES = 1 << 15  # what a pipe takes although nobody reads yet
# Python or a library may start differently with other variables: such a command gets a Python of its own.
_KNOWN = {
    "PATH", "HOME", "LANG", "SHELL", "XDG_CONFIG_HOME", "GIT_CONFIG_GLOBAL", "GIT_EDITOR", "AGENT", "MY_KEY",
    "TERM", "COLUMNS", "EDITOR", "NO_COLOR", "FORCE_COLOR", "_CLAWMEM_COMPLETE", "CLAUDE_CONFIG_DIR", "CODEX_HOME",
    "GIT_AUTHOR_NAME", "GIT_AUTHOR_EMAIL",
    "PGHOST", "PGDATABASE", "PGUSER", "PGPASSWORD",
    *(row.partition("=")[0] for row in AGENT_SHELLS),
}  # fmt: skip
# Modules that start no thread.
_LAZY = (
    "encodings.utf_8_sig", "git", "gzip", "jsonpath", "jsonschema", "numpy", "pgvector.psycopg", "psycopg.conninfo",
    "psycopg.sql", "psycopg.types.json", "tomllib", "urllib.request",
)  # fmt: skip
_START = {"LANG": "C.UTF-8", "OPENBLAS_NUM_THREADS": "1"}
_LOAD = "\0"  # no word of a command line
_HUGE_PAGE, _MADV_COLLAPSE = 1 << 21, 25
# A program that has the server fork a command, with its own streams, folder and environment.
_PROGRAM = """#!{python} -IS
import json, os, socket, struct, sys
number, (reading, writing) = struct.Struct("!i"), os.pipe()
with socket.socket(socket.AF_UNIX) as link:
    link.connect({address!r})
    request = {{"arguments": sys.argv[1:], "folder": os.getcwd(), "environment": dict(os.environ)}}
    data = json.dumps(request).encode()
    socket.send_fds(link, [number.pack(len(data))], [0, 1, 2, writing])
    link.sendall(data)
os.close(writing)
for stream in (0, 1):
    os.close(stream)
with os.fdopen(reading, "rb") as file:
    _, code = struct.unpack("!ii", file.read())
os._exit(code if code >= 0 else 128 - code)
"""


class CommandServer:
    """The process that forks commands, and this side of the socket to it. It starts with the first command.

    A server with a parent is a fork of that one which has loaded litellm, too: that takes longer than all else a
    command with a model does. With `package` it is a server for a few commands of the package in another folder.
    """

    def __init__(self, parent: CommandServer | None = None, package: Path | None = None) -> None:
        self._parent, self._package = parent, package
        self._lock = threading.Lock()
        self._process: subprocess.Popen[bytes] | None = None
        self._socket: socket.socket | None = None
        self._folder = tempfile.TemporaryDirectory()

    def close(self) -> None:
        """End the server, if it was started."""
        if self._socket is not None:
            self._socket.close()
        if self._process is not None:
            self._process.communicate(timeout=60)
        self._folder.cleanup()

    def program(self) -> str:
        """Return the text of a program for the PATH: `clawmem`, whose commands this server forks."""
        self._start()
        return _PROGRAM.format(python=sys.executable, address=f"{self._folder.name}/door")

    def run(
        self, arguments: Sequence[str], given: bytes, folder: Path, environment: Mapping[str, str], seconds: float
    ) -> subprocess.CompletedProcess[bytes]:
        """Run one command as `subprocess.run` does. Raise TimeoutExpired after `seconds`."""
        words = [sys.executable, "-m", "clawmem", *arguments]
        if not can_fork(environment):
            return subprocess.run(
                words, input=given, capture_output=True, cwd=folder, env=dict(environment), timeout=seconds,
                start_new_session=True,
            )  # fmt: skip
        with contextlib.ExitStack() as stack:
            stdin = stack.enter_context(file_of(given))
            ends = [_pipe() for _ in range(3)]
            for file in (file for pair in ends for file in pair):
                stack.enter_context(file)
            theirs = [stdin, *(write for _, write in ends)]
            self._send(arguments, [file.fileno() for file in theirs], folder, environment)
            for file in theirs:
                file.close()
            out, err, message = (read for read, _ in ends)
            pid = _NUMBER.unpack(_all_of(message, _NUMBER.size))[0]
            printed = _drained(pid, (out, err), seconds, words)
            code = _NUMBER.unpack(_all_of(message, _NUMBER.size))[0]
        return subprocess.CompletedProcess(words, code, printed[0], printed[1])

    def start(
        self,
        arguments: Sequence[str],
        streams: tuple[int, int, int],
        folder: Path,
        environment: Mapping[str, str],
        terminal: bool = False,
    ) -> ForkedCommand:
        """Start a command that leads a session of its own, whose terminal is its stdin where that is one."""
        assert can_fork(environment), environment
        message, write = _pipe()
        with write:
            self._send(arguments, [*streams, write.fileno()], folder, environment, terminal)
        return ForkedCommand(message)

    def _send(
        self,
        arguments: Sequence[str],
        descriptors: list[int],
        folder: Path = ROOT,
        environment: Mapping[str, str] = MappingProxyType({}),
        terminal: bool | None = None,
    ) -> None:
        request = {"arguments": arguments, "folder": str(folder), "environment": dict(environment)}
        data = json.dumps({**request, "terminal": terminal}).encode()
        link = self._start()
        with self._lock:
            socket.send_fds(link, [_NUMBER.pack(len(data))], descriptors)
            link.sendall(data)

    def _start(self) -> socket.socket:
        with self._lock:
            if self._socket is None and self._parent is not None:
                self._socket = self._parent._fork_server()
            elif self._socket is None:
                self._socket, self._process = _started(self._folder.name, self._package)
            return self._socket

    def _fork_server(self) -> socket.socket:
        """Have the server fork one that loads litellm, and return this side of the socket to it."""
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_STREAM)
        with theirs, open(os.devnull, "wb") as null:  # noqa: PTH123
            self._send([_LOAD], [theirs.fileno(), null.fileno(), 2, null.fileno()])
        return ours


class ForkedCommand:
    """A command that runs, and its exit code when it has ended."""

    def __init__(self, message: Any) -> None:
        self._message = message
        self._code: int | None = None
        self.pid = _NUMBER.unpack(_all_of(message, _NUMBER.size))[0]

    def poll(self) -> int | None:
        """Return the exit code, or the negative number of a signal; None of a command that runs."""
        if self._code is None and select.select([self._message], [], [], 0)[0]:
            with self._message:
                self._code = _NUMBER.unpack(_all_of(self._message, _NUMBER.size))[0]
        return self._code

    def ended(self, seconds: float) -> bool:
        """Wait so long for the end, and return whether it came."""
        if self._code is None:
            select.select([self._message], [], [], seconds)
        return self.poll() is not None


@cache
def shared_server() -> CommandServer:
    """The server of all tests of this process."""
    return CommandServer()


def can_fork(environment: Mapping[str, str]) -> bool:
    """Whether a forked command does what a Python of its own would do with these variables."""
    return environment.get("LANG") == _START["LANG"] and all(map(_is_known, environment))


def _is_known(name: str) -> bool:
    return name in _KNOWN or name.startswith("CLAWMEM_")


def _started(folder: str, package: Path | None) -> tuple[socket.socket, subprocess.Popen[bytes]]:
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_STREAM)
    options = ["few"] if package else []
    path = os.pathsep.join(str(place) for place in (package, ROOT) if place)
    with theirs, socket.socket(socket.AF_UNIX) as door:
        door.bind(f"{folder}/door")
        door.listen()
        process = subprocess.Popen(
            [sys.executable, "-P", "-m", "tests.command_server", str(theirs.fileno()), str(door.fileno()), *options],
            env={**_START, "PATH": os.environ["PATH"], "HOME": os.devnull, "PYTHONPATH": path},
            pass_fds=[theirs.fileno(), door.fileno()],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            start_new_session=True,  # no command finds the terminal of whoever runs the tests
        )
    return ours, process


def _pipe() -> tuple[Any, Any]:
    read, write = os.pipe()
    return os.fdopen(read, "rb", 0), os.fdopen(write, "wb", 0)


def file_of(data: bytes) -> Any:
    """The open file that a command reads `data` from: a pipe, or a file where it is too much for a pipe."""
    if len(data) > _PIPE_BYTES:
        file = tempfile.TemporaryFile()  # noqa: SIM115
        file.write(data)
        file.seek(0)
        return file
    read, write = _pipe()
    with write:
        write.write(data)
    return read


def _all_of(file: Any, size: int) -> bytes:
    data = b""
    while len(data) < size:
        more = file.read(size - len(data))
        assert more, "the command server has ended; what it said is above"
        data += more
    return data


def _drained(pid: int, files: Sequence[Any], seconds: float, words: Sequence[str]) -> list[bytes]:
    """Read all files to their ends. After `seconds` kill the process and raise TimeoutExpired."""
    end = time.monotonic() + seconds
    read: dict[Any, list[bytes]] = {file: [] for file in files}
    with selectors.DefaultSelector() as selector:
        for file in files:
            selector.register(file, selectors.EVENT_READ)
        while selector.get_map():
            for key, _ in selector.select(max(0.0, end - time.monotonic())):
                data = os.read(key.fd, 1 << 16)
                read[key.fileobj].append(data)
                if not data:
                    selector.unregister(key.fileobj)
            if time.monotonic() > end:
                os.kill(pid, signal.SIGKILL)
                raise subprocess.TimeoutExpired(words, seconds)
    return [b"".join(read[file]) for file in files]


def _serve(link: socket.socket, door: socket.socket | None) -> None:
    """Fork a command for each request until the other side closes the socket; tell pid and exit code of each.

    Through the door comes one request each time."""
    reading, waking = os.pipe()
    os.set_blocking(waking, False)
    signal.set_wakeup_fd(waking)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    running: dict[int, int] = {}
    with selectors.DefaultSelector() as selector:
        selector.register(link, selectors.EVENT_READ)
        selector.register(reading, selectors.EVENT_READ)
        if door is not None:
            selector.register(door, selectors.EVENT_READ)
        while True:
            ready = {key.fileobj for key, _ in selector.select()}
            if reading in ready:
                os.read(reading, 1 << 10)
            for pid in [*running]:
                ended, status = os.waitpid(pid, os.WNOHANG)
                if ended:
                    message = running.pop(pid)
                    with contextlib.suppress(BrokenPipeError):  # nobody waits after a time-out
                        os.write(message, _NUMBER.pack(os.waitstatus_to_exitcode(status)))
                    os.close(message)
            if door is not None and door in ready:
                source, _ = door.accept()
            elif link in ready:
                source = link
            else:
                continue
            head, descriptors, _, _ = socket.recv_fds(source, _NUMBER.size, 4)
            if not head and source is link:
                return
            if not head:  # the program was killed
                source.close()
                continue
            with source.makefile("rb", 0) as rest:
                request = json.loads(_all_of(rest, _NUMBER.unpack(head)[0]))
            if source is not link:
                source.close()
            pid = os.fork()
            if pid == 0:
                signal.set_wakeup_fd(-1)
                signal.signal(signal.SIGCHLD, signal.SIG_DFL)
                for number, descriptor in enumerate(descriptors[:3]):
                    os.dup2(descriptor, number)
                sockets = [each.detach() for each in (link, door) if each is not None]
                for descriptor in (*descriptors, *running.values(), reading, waking, *sockets):
                    os.close(descriptor)
                selector.close()
                if request["arguments"][:1] == [_LOAD]:
                    _serve_with_litellm()
                _command(request)
            for descriptor in descriptors[:3]:
                os.close(descriptor)
            running[pid] = descriptors[3]
            os.write(descriptors[3], _NUMBER.pack(pid))


def _command(request: Mapping[str, Any]) -> NoReturn:
    """What `python -m clawmem` does, with the modules that are there."""
    from clawmem.__main__ import main

    code: Any = 1
    try:
        os.environ.clear()
        os.environ.update(request["environment"])
        os.chdir(request["folder"])
        sys.path[0] = request["folder"]
        sys.argv = [str(ROOT / "clawmem/__main__.py"), *request["arguments"]]
        gc.enable()
        if request.get("terminal") is not None:
            _lead_session(request["terminal"])
        main()
        code = 0
    except SystemExit as end:
        code = 0 if end.code is None else end.code
    except BaseException:  # noqa: BLE001 - as Python does with what nobody catches
        traceback.print_exc()
    threading._shutdown()  # type: ignore[attr-defined]
    with contextlib.suppress(OSError):
        sys.stdout.flush()
        sys.stderr.flush()
    os._exit(code)


def _lead_session(terminal: bool) -> None:
    """Lead a session, at the terminal of stdin as a shell's job does."""
    os.setsid()
    if not terminal:
        return
    fcntl.ioctl(0, termios.TIOCSCTTY, 0)
    signal.signal(signal.SIGINT, signal.default_int_handler)  # a run in the background ignores them
    signal.signal(signal.SIGQUIT, signal.SIG_DFL)
    sys.stdout.reconfigure(line_buffering=True)  # type: ignore[union-attr]


def _import_all() -> None:
    import clawmem

    for found in pkgutil.walk_packages(clawmem.__path__, "clawmem."):
        import_module(found.name)


def _prepare() -> None:
    """Import what commands import only where they need it, and make what each process makes once: it is most of what
    a small heartbeat takes."""
    from clawmem.index.tables.background import exact_counter
    from clawmem.learning.rules.language import CODES, language
    from clawmem.model.language.date_words import find_dates
    from clawmem.model.pages.tokens import token_bound
    from clawmem.model.records.entity import is_candidate_place, title_of
    from clawmem.model.safety.secrets.find import find_secrets
    from clawmem.model.safety.secrets.looks import compiled
    from clawmem.model.safety.secrets.place_rules import PLACES

    for name in _LAZY:
        with contextlib.suppress(ImportError):  # some are of extras
            import_module(name)
    exact_counter()
    for code in CODES:
        language(code)
    for place in PLACES.values():
        compiled(place.pattern, re.IGNORECASE)
    find_secrets("The api key is 8f3kd92kfl20dkf93kd02kdf9.")
    find_secrets("My password is Hunter2.x, and a fox ran over the old bridge.")
    find_dates("yesterday", date(2026, 11, 21))
    token_bound("Jane lives in Oslo.")
    is_candidate_place(title_of("areas/people/jane-berg"))


def _serve_with_litellm() -> NoReturn:
    """Load what takes long to load, and fork commands that find it ready."""
    from clawmem.llm.client import _litellm

    link = socket.socket(fileno=os.dup(0))
    with open(os.devnull, "rb") as null:  # noqa: PTH123
        os.dup2(null.fileno(), 0)
    _litellm()
    _be_ready()
    _serve(link, None)
    os._exit(0)


def _be_ready() -> None:
    assert threading.active_count() == 1, "a thread would not be in the forked commands"
    gc.collect()
    gc.freeze()
    _use_huge_pages()


def _use_huge_pages() -> None:
    """Put the memory into few large pages, where Linux can: a fork copies the table of pages, and an exit takes it
    apart, which is half of what a short command takes."""
    advise = getattr(ctypes.CDLL(None), "madvise", None)
    maps = Path("/proc/self/maps")
    if advise is None or not maps.exists():
        return
    for line in maps.read_text().splitlines():
        addresses, rights, _, _, _, *name = line.split()
        if rights != "rw-p" or name not in ([], ["[heap]"]):
            continue
        start, end = (int(address, 16) for address in addresses.split("-"))
        for place in range(-(-start // _HUGE_PAGE) * _HUGE_PAGE, end - _HUGE_PAGE + 1, _HUGE_PAGE):
            advise(ctypes.c_void_p(place), ctypes.c_size_t(_HUGE_PAGE), _MADV_COLLAPSE)


if __name__ == "__main__":
    _import_all()
    if sys.argv[3:] != ["few"]:
        _prepare()
    _be_ready()
    _serve(*(socket.socket(fileno=int(number)) for number in sys.argv[1:3]))
