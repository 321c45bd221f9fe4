"""Runs many commands without starting Python for each: requests are lines of JSON, each answered by a line."""

from __future__ import annotations

import importlib
import json
import os
import pkgutil
import signal
import sys
import time
from typing import Any


def _preload() -> None:
    from clawmem.faces import cli, verbs

    for package in (cli, verbs):
        for module in pkgutil.iter_modules(package.__path__, f"{package.__name__}."):
            importlib.import_module(module.name)
    importlib.import_module("git")


def _child(request: dict[str, Any]) -> None:
    os.setsid()
    os.environ.clear()
    os.environ.update(request["env"])
    os.chdir(request["cwd"])
    out = os.open(request["out"], os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    nothing = os.open(os.devnull, os.O_RDONLY)
    for number, target in ((0, nothing), (1, out), (2, out)):
        os.dup2(target, number)
    sys.argv = ["clawmem", *request["argv"]]
    from clawmem.__main__ import main

    code = 1
    try:
        main()
    except SystemExit as ended:
        code = ended.code if isinstance(ended.code, int) else 1
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)


def _waited(child: int, seconds: float) -> int | None:
    """The exit code, None where the time was over."""
    end = time.monotonic() + seconds
    pause = 0.001
    while time.monotonic() < end:
        ended, status = os.waitpid(child, os.WNOHANG)
        if ended:
            return os.waitstatus_to_exitcode(status)
        time.sleep(pause)
        pause = min(pause * 1.5, 0.01)
    os.killpg(child, signal.SIGKILL)
    os.waitpid(child, 0)
    return None


def _serve() -> None:
    _preload()
    for line in sys.stdin:
        request = json.loads(line)
        child = os.fork()
        if child == 0:
            _child(request)
        sys.stdout.write(json.dumps(_waited(child, request["seconds"])) + "\n")
        sys.stdout.flush()


if __name__ == "__main__":
    _serve()
