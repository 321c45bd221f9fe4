"""Runs `clawmem` under Linux as if on Windows: `python tests/platform/windows.py VERB ...`, or Python code after `-c`.

What the package imports of the standard library says `win32`, and lacks the names that Windows lacks. The file system
refuses what Windows refuses: to make links, and to move, replace or delete a file that this process has open. `msvcrt`
is made of the locks of Linux. The standard library itself, git, and every other package run as they are.
"""

from __future__ import annotations

import builtins
import errno
import fcntl
import os
import select
import stat
import struct
import sys
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from types import ModuleType
from typing import Any

_ABSENT_MODULES = frozenset("fcntl grp pty pwd readline resource termios tty".split())
_ABSENT = {
    "os": "O_CLOEXEC O_DIRECTORY O_NOCTTY O_NOFOLLOW O_NONBLOCK O_SYNC WNOHANG chown environb fchmod fchown fork"
    " getegid geteuid getgid getloadavg getpgid getpgrp getsid getuid killpg lchown mkfifo nice openpty pread pwrite"
    " sched_getaffinity setpgid setsid statvfs sync sysconf tcgetpgrp uname wait",
    "signal": "ITIMER_REAL SIGALRM SIGCHLD SIGCONT SIGHUP SIGKILL SIGPIPE SIGSTOP SIGUSR1 SIGUSR2 SIGWINCH SIG_BLOCK"
    " SIG_SETMASK alarm pthread_sigmask setitimer",
    "socket": "AF_UNIX socketpair",
    "select": "epoll poll",
    "selectors": "DefaultSelector",
    "sys": "",
}  # fmt: skip
_BINARY = 1 << 29
_SET_LOCK_OF_DESCRIPTION = 37


class _AsOnWindows(ModuleType):
    """A module without the names that Windows lacks, and with some of its own."""

    def __init__(self, real: ModuleType, **own: Any) -> None:
        super().__init__(real.__name__)
        vars(self).update(own, _real=real, _absent=frozenset(_ABSENT[real.__name__].split()))

    def __getattr__(self, name: str) -> Any:
        if name in vars(self)["_absent"]:
            raise AttributeError(f"Windows has no {self.__name__}.{name}")
        return getattr(vars(self)["_real"], name)

    def __setattr__(self, name: str, value: Any) -> None:
        setattr(vars(self)["_real"], name, value)


def pretend() -> None:
    """Let everything that clawmem imports from now on look as on Windows."""
    own: dict[str, dict[str, Any]] = {
        "os": {"O_BINARY": _BINARY, "name": "nt", "open": _open, "kill": _kill},
        "select": {"select": _select_of_sockets},
        "sys": {"platform": "win32"},
    }
    made: dict[str, ModuleType] = {name: _AsOnWindows(__import__(name), **own.get(name, {})) for name in _ABSENT}
    import_real, made["msvcrt"] = builtins.__import__, _console_library()

    def import_as_on_windows(name: str, globals: Any = None, *rest: Any, **more: Any) -> ModuleType:
        if (globals or {}).get("__name__", "").startswith("clawmem"):
            if name in _ABSENT_MODULES:
                raise ModuleNotFoundError(f"No module named {name!r}", name=name)
            if name in made:
                return made[name]
        return import_real(name, globals, *rest, **more)

    builtins.__import__ = import_as_on_windows
    for name in ("replace", "rename", "unlink", "remove"):
        setattr(os, name, _unless_open(getattr(os, name), name))
    os.symlink = _no_link


def _open(path: Any, flags: int, mode: int = 0o777) -> int:
    by_open = flags & os.O_CLOEXEC  # Python's own `open`, which asks for bytes on Windows
    assert flags & _BINARY or by_open or path == os.devnull, f"{path} would be opened as text, which changes line ends"
    if Path(path).is_dir():
        raise PermissionError(errno.EACCES, "Permission denied", str(path))
    return os.open(path, flags & ~_BINARY, mode)


def _select_of_sockets(*arguments: Any) -> Any:
    for file in (file for files in arguments[:3] for file in files):
        number = file if isinstance(file, int) else file.fileno()
        if not stat.S_ISSOCK(os.fstat(number).st_mode):
            raise OSError(errno.ENOTSOCK, "Socket operation on non-socket")
    return select.select(*arguments)


def _kill(number: int, sign: int) -> None:
    raise AssertionError(f"os.kill ends or interrupts process {number}, whatever the signal {sign} is")


def _no_link(*_: Any, **__: Any) -> None:
    raise OSError(errno.EPERM, "A required privilege is not held by the client")


def _unless_open(act: Callable[..., None], name: str) -> Callable[..., None]:
    def refused_while_open(*paths: Any, **options: Any) -> None:
        for path in paths:
            if os.path.lexists(path) and _is_open(path):
                raise PermissionError(errno.EACCES, "The file is used by another process", str(path))
        if name == "rename" and Path(paths[1]).exists():
            raise FileExistsError(errno.EEXIST, "The file exists", str(paths[1]))
        act(*paths, **options)

    return refused_while_open


def _is_open(path: Any) -> bool:
    wanted = os.lstat(path)
    for entry in Path("/proc/self/fd").iterdir():
        with suppress(OSError):  # the descriptor of the listing itself
            if os.path.samestat(os.fstat(int(entry.name)), wanted):
                return True
    return False


def _console_library() -> ModuleType:
    library = ModuleType("msvcrt")

    def locking(descriptor: int, mode: int, size: int) -> None:
        place = os.lseek(descriptor, 0, os.SEEK_CUR)
        request = struct.pack("hhqqi", mode, os.SEEK_SET, place, size, 0)
        try:
            fcntl.fcntl(descriptor, _SET_LOCK_OF_DESCRIPTION, request)
        except BlockingIOError:
            raise PermissionError(errno.EACCES, "Permission denied") from None

    vars(library).update(locking=locking, LK_NBLCK=fcntl.F_WRLCK, LK_UNLCK=fcntl.F_UNLCK)
    return library


if __name__ == "__main__":
    sys.path[0] = str(Path(__file__).parents[2])
    pretend()
    if sys.argv[1] == "-c":
        exec(sys.argv[2], {"__name__": "clawmem-as-on-windows"})
    else:
        from clawmem.__main__ import main

        main()
