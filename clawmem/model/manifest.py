"""The manifest of a backup: what it was made of, and what a restored vault must have again."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, NamedTuple

from clawmem.errors import DamagedBackup, Refused
from clawmem.model.bounds import MANIFEST_BYTES
from clawmem.model.strict_json import read_json

KIND = "clawmem-backup"
FORMAT = 1


class Member(NamedTuple):
    """The size in bytes and the SHA-256, in hex, of one part of the backup."""

    size: int
    sha256: str


class Manifest(NamedTuple):
    """When and by which version it was made; the vault's name; the branch HEAD was on (None: detached), its commit
    and that commit's tree; every ref by name; numbers of facts, events, entities, files and commits; the parts of
    the backup; what the vault held beside its history and the backup does not, with the reasons."""

    made: str
    made_by: str
    vault: str
    object_format: str
    branch: str | None
    commit: str
    tree: str
    refs: Mapping[str, str]
    counts: Mapping[str, int]
    members: Mapping[str, Member]
    left_out: Mapping[str, str] = {}


def manifest_record(manifest: Manifest) -> dict[str, Any]:
    """The manifest as plain values, in the order in which it is written."""
    fields = manifest._asdict()
    members = {name: one._asdict() for name, one in manifest.members.items()}
    return {"kind": KIND, "format": FORMAT, **fields, "members": members}


def render_manifest(manifest: Manifest) -> bytes:
    """The manifest as it stands in the file."""
    return (json.dumps(manifest_record(manifest), ensure_ascii=False, indent=1) + "\n").encode()


def parse_manifest(data: bytes) -> Manifest:
    """Read a manifest; raises DamagedBackup where it is none, Refused where a newer clawmem made it."""
    try:
        record = read_json(data, MANIFEST_BYTES)
        kind, form = record["kind"], record["format"]
    except (ValueError, TypeError, KeyError):
        raise DamagedBackup("its manifest cannot be read") from None
    if kind != KIND or not isinstance(form, int):
        raise DamagedBackup("its manifest is not that of a backup")
    if form > FORMAT:
        raise Refused(
            f"This backup has format {form}; this clawmem reads formats up to {FORMAT}.",
            "Install a newer one: pip install --upgrade clawmem-vault",
        )
    try:
        known = {key: record[key] for key in Manifest._fields}
        members = {name: Member(int(one["size"]), str(one["sha256"])) for name, one in known["members"].items()}
        known["counts"] = {name: int(number) for name, number in known["counts"].items()}
    except (ValueError, TypeError, KeyError, AttributeError) as problem:
        raise DamagedBackup(f"its manifest lacks something ({problem})") from None
    return Manifest(**{**known, "members": members})
