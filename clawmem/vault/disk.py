"""The few ways clawmem touches files, in one place so that each can be made to fail in a test."""

from __future__ import annotations

import errno
import os
from pathlib import Path


class Disk:
    """Plain file operations; every write is whole or not at all."""

    def read(self, path: Path) -> bytes | None:
        """The file's bytes, or None where there is no such file."""
        try:
            with open(path, "rb") as file:  # noqa: PTH123 - Path.open costs twice as much here
                return file.read()
        except (FileNotFoundError, NotADirectoryError):
            return None

    def replace(self, path: Path, data: bytes, staging: Path) -> None:
        """Put `data` at `path` in one step; `staging` is a folder for the half-written file."""
        half = staging / f"half-{os.getpid()}"
        half.write_bytes(data)
        path.parent.mkdir(parents=True, exist_ok=True)
        try:
            os.replace(half, path)  # noqa: PTH105
        except OSError as problem:
            if problem.errno != errno.EXDEV:
                raise
            beside = path.with_name(f".{path.name}.half")
            beside.write_bytes(data)
            os.replace(beside, path)  # noqa: PTH105
            half.unlink()

    def remove(self, path: Path) -> None:
        """Remove a file; a missing one is fine."""
        path.unlink(missing_ok=True)

    def append(self, path: Path, data: bytes) -> None:
        """Add bytes to the end of a file in one write, making the file where it is missing."""
        descriptor = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC, 0o644)
        try:
            os.write(descriptor, data)
        finally:
            os.close(descriptor)
