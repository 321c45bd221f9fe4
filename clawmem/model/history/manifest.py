"""The manifest of a backup: what it contains, and what a restored vault must contain."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Annotated, Any, NamedTuple

from clawmem.errors import DamagedBackup, Refused
from clawmem.model.forms import WrongValue, read_record, to_record
from clawmem.model.records.bounds import MANIFEST_BYTES
from clawmem.model.records.strict_json import read_json

KIND = "clawmem-backup"
FORMAT = 1


class ManifestMember(NamedTuple):
    """The size in bytes and the SHA-256 (hex) of one part of the backup."""

    size: Annotated[int, (0, None)]
    sha256: str


class Manifest(NamedTuple):
    """A description of a backup.

    `made` and `made_by` are the time and the clawmem version. `branch` is the branch of HEAD, or None if HEAD was
    detached; `commit` and `tree` belong to HEAD. `refs` holds every ref by name. `counts` holds the numbers of facts,
    events, entities, files and commits. `left_out` names what the backup omits, with the reasons.
    """

    made: str
    made_by: str
    vault: str
    object_format: str
    branch: str | None
    commit: str
    tree: str
    refs: Mapping[str, str]
    counts: Mapping[str, Annotated[int, (0, None)]]
    members: Mapping[str, ManifestMember]
    left_out: Mapping[str, str] = {}


def manifest_record(manifest: Manifest) -> dict[str, Any]:
    """Return the manifest as plain values, in file order."""
    return {"kind": KIND, "format": FORMAT, **to_record(manifest, ())}


def render_manifest(manifest: Manifest) -> bytes:
    """Return the manifest as file content."""
    return (json.dumps(manifest_record(manifest), ensure_ascii=False, indent=1) + "\n").encode()


def parse_manifest(data: bytes) -> Manifest:
    """Read a manifest. Raise DamagedBackup if it is invalid, and Refused if a newer clawmem made it."""
    try:
        record = read_json(data, MANIFEST_BYTES)
        kind, form = record["kind"], record["format"]
    except (ValueError, TypeError, KeyError):
        raise DamagedBackup("its manifest cannot be read") from None
    if kind != KIND or type(form) is not int or form < 1:
        raise DamagedBackup("its manifest does not describe a backup")
    if form > FORMAT:
        raise Refused(
            f"This backup has format {form}; this clawmem reads formats up to {FORMAT}.",
            "Install a newer one: pip install --upgrade clawmem-vault",
        )
    if not record.keys() >= set(Manifest._fields):
        raise DamagedBackup("its manifest is incomplete")
    try:
        return read_record(Manifest, record)
    except WrongValue as problem:
        raise DamagedBackup(f"its manifest is wrong: {problem.message}") from None
