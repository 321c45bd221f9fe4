"""The manifest of a backup: what it contains, and what a restored vault must contain."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, NamedTuple

from clawmem.errors import DamagedBackup, Refused
from clawmem.model.records.bounds import MANIFEST_BYTES
from clawmem.model.records.strict_json import read_json

KIND = "clawmem-backup"
FORMAT = 1


class ManifestMember(NamedTuple):
    """The size in bytes and the SHA-256 (hex) of one part of the backup."""

    size: int
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
    counts: Mapping[str, int]
    members: Mapping[str, ManifestMember]
    left_out: Mapping[str, str] = {}


def manifest_record(manifest: Manifest) -> dict[str, Any]:
    """Return the manifest as plain values, in file order."""
    fields = manifest._asdict()
    members = {name: one._asdict() for name, one in manifest.members.items()}
    return {"kind": KIND, "format": FORMAT, **fields, "members": members}


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
    try:
        known = {key: record[key] for key in Manifest._fields}
        members = {
            name: ManifestMember(_size(one["size"]), str(one["sha256"])) for name, one in known["members"].items()
        }
        known["counts"] = {name: _size(number) for name, number in known["counts"].items()}
    except (ValueError, TypeError, KeyError, AttributeError) as problem:
        raise DamagedBackup(f"its manifest is incomplete ({problem})") from None
    for name in ("made", "made_by", "vault", "object_format", "commit", "tree"):
        if not isinstance(known[name], str):
            raise DamagedBackup(f"the '{name}' in its manifest is not text")
    if not isinstance(known["branch"], str | None):
        raise DamagedBackup("the 'branch' in its manifest is not text")
    for name in ("refs", "left_out"):
        if not isinstance(known[name], dict) or not all(isinstance(value, str) for value in known[name].values()):
            raise DamagedBackup(f"the '{name}' in its manifest is not a list of texts by name")
    return Manifest(**{**known, "members": members})


def _size(number: object) -> int:
    if not isinstance(number, int) or isinstance(number, bool) or number < 0:
        raise ValueError("a number is missing or not a whole number, 0 or more")
    return number
