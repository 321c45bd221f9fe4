"""The backup file: an uncompressed tar with `manifest.json`, its checksum, a git bundle and the access journal."""

from __future__ import annotations

import io
import tarfile
from collections.abc import Mapping
from pathlib import Path
from typing import IO, Any

from clawmem.errors import DamagedBackup
from clawmem.model.history.manifest import Manifest, ManifestMember, parse_manifest, render_manifest
from clawmem.model.records.bounds import MANIFEST_BYTES

MANIFEST = "manifest.json"
CHECKSUM = "manifest.sha256"
BUNDLE = "vault.bundle"
JOURNAL = "access.log"
PARTS = (BUNDLE, JOURNAL)
_PIECE = 1 << 20
# tar headers contain only names and sizes, so that equal vaults give equal files.
_MODE = 0o644


def measure_file(path: Path) -> ManifestMember:
    """Return the size and SHA-256 of a file."""
    with path.open("rb") as file:
        return _copied(file, None)


def write_archive(target: Path, manifest: Manifest, parts: Mapping[str, Path]) -> None:
    """Write the backup file and wait until it is on the disk."""
    import os

    manifest_bytes = render_manifest(manifest)
    with open(target, "xb", opener=_private) as file:
        with tarfile.open(fileobj=file, mode="w", format=tarfile.USTAR_FORMAT) as archive:
            for name, data in ((MANIFEST, manifest_bytes), (CHECKSUM, _checksum(manifest_bytes))):
                archive.addfile(_header(name, len(data)), io.BytesIO(data))
            for name, path in parts.items():
                with path.open("rb") as part:
                    archive.addfile(_header(name, manifest.members[name].size), part)
        file.flush()
        os.fsync(file.fileno())


def read_archive(file: IO[bytes], folder: Path) -> Manifest:
    """Unpack the parts into a folder and check each against the manifest. Raise DamagedBackup if one is wrong."""
    try:
        with tarfile.open(fileobj=file, mode="r:") as archive:
            manifest_bytes = _read_small(archive, MANIFEST)
            if _read_small(archive, CHECKSUM) != _checksum(manifest_bytes):
                raise DamagedBackup(f"{MANIFEST} does not match its checksum")
            manifest = parse_manifest(manifest_bytes)
            if BUNDLE not in manifest.members or not set(manifest.members) <= set(PARTS):
                raise DamagedBackup("its manifest names parts that a backup does not have")
            for name, wanted in manifest.members.items():
                _unpack(archive, name, wanted, folder / name)
    except (tarfile.TarError, EOFError, KeyError, UnicodeError, ValueError, OverflowError, RecursionError) as problem:
        raise DamagedBackup(f"it cannot be unpacked ({problem})") from None
    return manifest


def _unpack(archive: tarfile.TarFile, name: str, wanted: ManifestMember, target: Path) -> None:
    header = archive.getmember(name)
    if header.size != wanted.size or header.sparse is not None:
        raise DamagedBackup(f"{name} does not have the size in the manifest")
    with _member(archive, name) as packed, target.open("xb") as file:
        found = _copied(packed, file)
    if found != wanted:
        raise DamagedBackup(f"{name} does not match the SHA-256 in the manifest")


def _copied(source: IO[bytes], target: IO[bytes] | None) -> ManifestMember:
    import hashlib

    digest, size = hashlib.sha256(), 0
    while piece := source.read(_PIECE):
        digest.update(piece)
        size += len(piece)
        if target is not None:
            target.write(piece)
    return ManifestMember(size, digest.hexdigest())


def _read_small(archive: tarfile.TarFile, name: str) -> bytes:
    with _member(archive, name) as packed:
        data = packed.read(MANIFEST_BYTES + 1)
    if len(data) > MANIFEST_BYTES:
        raise DamagedBackup(f"its {name} is longer than {MANIFEST_BYTES:,} bytes")
    return data


def _member(archive: tarfile.TarFile, name: str) -> IO[bytes]:
    try:
        found: Any = archive.extractfile(archive.getmember(name))
    except KeyError:
        found = None
    if found is None:
        raise DamagedBackup(f"it does not contain {name}")
    return found  # type: ignore[no-any-return]


def _private(path: str, flags: int) -> int:
    import os

    return os.open(path, flags, 0o600)


def _header(name: str, size: int) -> tarfile.TarInfo:
    header = tarfile.TarInfo(name)
    header.size, header.mode = size, _MODE
    return header


def _checksum(described: bytes) -> bytes:
    import hashlib

    return f"{hashlib.sha256(described).hexdigest()}  {MANIFEST}\n".encode()
