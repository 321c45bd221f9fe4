"""Backups that somebody made up: each is refused with a sentence, and nothing is left of it."""

from __future__ import annotations

import gzip
import hashlib
import io
import json
import os
import subprocess
import sys
import tarfile
import zipfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from clawmem.errors import DamagedBackup, Refused
from clawmem.memory.backup import backup_to_file, restore
from clawmem.model.records.caller import Caller
from clawmem.vault.vault import Vault
from tests.faults.checks import git
from tests.faults.scenarios import keep
from tests.trees import Tree

MEGABYTE = 1 << 20

# Run a command from a small process: the peak memory of a child starts at that of the process which started it.
_MEASURE = """
import resource, subprocess, sys
done = subprocess.run(sys.argv[1:])
used = resource.getrusage(resource.RUSAGE_CHILDREN)
print(done.returncode, used.ru_maxrss, used.ru_utime + used.ru_stime)
"""


class Whole(NamedTuple):
    """A backup taken apart."""

    manifest: Mapping[str, Any]
    parts: Mapping[str, bytes]

    def packed(self, described: bytes | None = None, **parts: bytes | None) -> bytes:
        """The file again, with another manifest or other parts; None leaves one out."""
        data = json.dumps(self.manifest).encode() if described is None else described
        checksum = f"{hashlib.sha256(data).hexdigest()}  manifest.json\n".encode()
        record: dict[str, bytes | None] = {"manifest.json": data, "manifest.sha256": checksum, **self.parts, **parts}
        return _tar({name: other_data for name, other_data in record.items() if other_data is not None})

    def saying(self, **changes: Any) -> bytes:
        """The file with other values in its manifest."""
        return self.packed(json.dumps({**self.manifest, **changes}).encode())

    def lacking(self, key: str) -> bytes:
        """The file without a key of its manifest."""
        return self.packed(json.dumps({name: other for name, other in self.manifest.items() if name != key}).encode())

    def with_bundle(self, data: bytes) -> bytes:
        """The file with another bundle, which the manifest describes as it is."""
        record = {"size": len(data), "sha256": hashlib.sha256(data).hexdigest()}
        members = {**self.manifest["members"], "vault.bundle": record}
        return self.packed(json.dumps({**self.manifest, "members": members}).encode(), **{"vault.bundle": data})

    def with_member(self, **record: Any) -> bytes:
        """The file whose manifest says something else of the bundle."""
        members = self.manifest["members"]
        return self.saying(members={**members, "vault.bundle": {**members["vault.bundle"], **record}})

    def with_kind(self, name: str, kind: bytes, link: str = "") -> bytes:
        """The file with one part that is a link, a folder or a device."""
        data = json.dumps(self.manifest).encode()
        checksum = f"{hashlib.sha256(data).hexdigest()}  manifest.json\n".encode()
        out = io.BytesIO()
        with tarfile.open(fileobj=out, mode="w") as archive:
            for part, content in {"manifest.json": data, "manifest.sha256": checksum, **self.parts}.items():
                header = tarfile.TarInfo(part)
                header.size = len(content)
                if part == name:
                    header.type, header.linkname, header.size = kind, link, 0
                archive.addfile(header, io.BytesIO(content))
        return out.getvalue()


def _tar(members: Mapping[str, bytes]) -> bytes:
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w") as archive:
        for name, data in members.items():
            header = tarfile.TarInfo(name)
            header.size = len(data)
            archive.addfile(header, io.BytesIO(data))
    return out.getvalue()


def _zipped(_: Whole) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        archive.writestr("manifest.json", "{}")
    return out.getvalue()


def _flipped(whole: Whole) -> bytes:
    data = bytearray(whole.parts["vault.bundle"])
    data[len(data) // 2] ^= 1
    return whole.with_bundle(bytes(data))


def _needing_more(whole: Whole) -> bytes:
    head, rest = whole.parts["vault.bundle"].split(b"\n", 1)
    return whole.with_bundle(head + b"\n-" + b"1" * 40 + b" before\n" + rest)


def _another_head(whole: Whole) -> bytes:
    commit = whole.manifest["commit"].encode()
    return whole.with_bundle(whole.parts["vault.bundle"].replace(commit, b"1" * 40))


def _one_ref_more(whole: Whole) -> bytes:
    line = whole.manifest["commit"].encode() + b" refs/heads/main\n"
    more = line.replace(b"/main", b"/evil")
    return whole.with_bundle(whole.parts["vault.bundle"].replace(line, line + more))


def _with_part(whole: Whole, name: str) -> bytes:
    return whole.saying(members={**whole.manifest["members"], name: {"size": 0, "sha256": ""}})


def _not_utf8(whole: Whole) -> bytes:
    return whole.packed(json.dumps(whole.manifest).encode().replace(b"clawmem", b"\xff", 1))


CASES: dict[str, Callable[[Whole], bytes]] = {
    # What is no archive.
    "empty": lambda whole: b"",
    "one byte": lambda whole: b"\0",
    "zeros": lambda whole: bytes(20_480),
    "text": lambda whole: b"not a backup\n" * 1000,
    "zip": _zipped,
    "compressed": lambda whole: gzip.compress(whole.packed()),
    "cut in half": lambda whole: whole.packed()[: len(whole.packed()) // 2],
    "cut after the header": lambda whole: whole.packed()[:512],
    "archive without members": lambda whole: _tar({}),
    # Its manifest.
    "no manifest": lambda whole: whole.packed(**{"manifest.json": None}),
    "no checksum": lambda whole: whole.packed(**{"manifest.sha256": None}),
    "wrong checksum": lambda whole: whole.packed(**{"manifest.sha256": b"0" * 64 + b"  manifest.json\n"}),
    "checksum of another file": lambda whole: whole.packed(**{"manifest.sha256": b"\xff" * 80}),
    "manifest empty": lambda whole: whole.packed(b""),
    "manifest no JSON": lambda whole: whole.packed(b"{kind: x}"),
    "manifest null": lambda whole: whole.packed(b"null"),
    "manifest a list": lambda whole: whole.packed(b"[]"),
    "manifest a text": lambda whole: whole.packed(b'"clawmem-backup"'),
    "manifest deep lists": lambda whole: whole.packed(b"[" * 100_000),
    "manifest deep objects": lambda whole: whole.packed(b'{"a":' * 100_000 + b"1" + b"}" * 100_000),
    "manifest deep and closed": lambda whole: whole.saying(left_out=json.loads("[" * 200 + "]" * 200)),
    "manifest of many values": lambda whole: whole.packed(b"[" + b"[]," * 5_000_000 + b"[]]"),
    "manifest UTF-16": lambda whole: whole.packed(json.dumps(whole.manifest).encode("utf-16")),
    "manifest no UTF-8": _not_utf8,
    "number without end": lambda whole: whole.packed(b'{"kind": 1e999}'),
    "NaN": lambda whole: whole.packed(b'{"kind": NaN}'),
    "number of 5,000 digits": lambda whole: whole.packed(b'{"kind": ' + b"9" * 5000 + b"}"),
    "half of a character": lambda whole: whole.saying(vault="\ud800"),
    "another kind": lambda whole: whole.saying(kind="other"),
    "kind a list": lambda whole: whole.saying(kind=["clawmem-backup"]),
    "format a text": lambda whole: whole.saying(format="1"),
    "format true": lambda whole: whole.saying(format=True),
    "format 0": lambda whole: whole.saying(format=0),
    "newer format": lambda whole: whole.saying(format=99),
    "no branch": lambda whole: whole.lacking("branch"),
    "no refs": lambda whole: whole.lacking("refs"),
    "no counts": lambda whole: whole.lacking("counts"),
    "no tree": lambda whole: whole.lacking("tree"),
    "branch a list": lambda whole: whole.saying(branch=[]),
    "branch an object": lambda whole: whole.saying(branch={}),
    "branch a number": lambda whole: whole.saying(branch=5),
    "branch no branch": lambda whole: whole.saying(branch="main"),
    "branch climbs out": lambda whole: whole.saying(branch="refs/heads/../../../x"),
    "branch an option": lambda whole: whole.saying(branch="refs/heads/-x"),
    "branch with a line break": lambda whole: whole.saying(branch="refs/heads/x\nrefs/heads/main"),
    "branch with NUL": lambda whole: whole.saying(branch="refs/heads/x\0"),
    "branch that is not there": lambda whole: whole.saying(branch="refs/heads/other"),
    "branch too long": lambda whole: whole.saying(branch="refs/heads/" + "x" * 500_000),
    "commit a number": lambda whole: whole.saying(commit=5),
    "commit an option": lambda whole: whole.saying(commit="--help"),
    "commit of zeros": lambda whole: whole.saying(commit="0" * 40),
    "commit with NUL": lambda whole: whole.saying(commit="\0", branch=None),
    "tree another": lambda whole: whole.saying(tree="1" * 40),
    "tree a list": lambda whole: whole.saying(tree=[]),
    "refs a list": lambda whole: whole.saying(refs=[]),
    "refs none": lambda whole: whole.saying(refs={}),
    "refs more": lambda whole: whole.saying(refs={**whole.manifest["refs"], "refs/heads/x": "1" * 40}),
    "refs numbers": lambda whole: whole.saying(refs={"refs/heads/main": 1}),
    "counts a list": lambda whole: whole.saying(counts=[]),
    "counts wrong": lambda whole: whole.saying(counts={**whole.manifest["counts"], "facts": 9}),
    "counts below zero": lambda whole: whole.saying(counts={**whole.manifest["counts"], "facts": -1}),
    "counts a fraction": lambda whole: whole.saying(counts={**whole.manifest["counts"], "facts": 1.5}),
    "members a list": lambda whole: whole.saying(members=[]),
    "members none": lambda whole: whole.saying(members={}),
    "members outside": lambda whole: _with_part(whole, "../x"),
    "members more": lambda whole: _with_part(whole, "hook"),
    "size a text": lambda whole: whole.with_member(size="1"),
    "size below zero": lambda whole: whole.with_member(size=-1),
    "size too large": lambda whole: whole.with_member(size=10**18),
    "sum wrong": lambda whole: whole.with_member(sha256="0" * 64),
    "sum a number": lambda whole: whole.with_member(sha256=5),
    "format of objects unknown": lambda whole: whole.saying(object_format="md5"),
    "format of objects a list": lambda whole: whole.saying(object_format=["sha1"]),
    "format of objects an option": lambda whole: whole.saying(object_format="sha1 --bare"),
    "format of objects another": lambda whole: whole.saying(object_format="sha256"),
    "left out a list": lambda whole: whole.saying(left_out=["x"]),
    "made a number": lambda whole: whole.saying(made=5),
    # Its parts.
    "no bundle": lambda whole: whole.packed(**{"vault.bundle": None}),
    "no journal": lambda whole: whole.packed(**{"access.log": None}),
    "bundle a link": lambda whole: whole.with_kind("vault.bundle", tarfile.SYMTYPE, "/etc/passwd"),
    "bundle a hard link": lambda whole: whole.with_kind("vault.bundle", tarfile.LNKTYPE, "manifest.json"),
    "bundle a hard link to itself": lambda whole: whole.with_kind("vault.bundle", tarfile.LNKTYPE, "vault.bundle"),
    "bundle a folder": lambda whole: whole.with_kind("vault.bundle", tarfile.DIRTYPE),
    "bundle a device": lambda whole: whole.with_kind("vault.bundle", tarfile.CHRTYPE),
    "bundle a pipe": lambda whole: whole.with_kind("vault.bundle", tarfile.FIFOTYPE),
    "manifest a link": lambda whole: whole.with_kind("manifest.json", tarfile.SYMTYPE, "/etc/passwd"),
    "bundle empty": lambda whole: whole.with_bundle(b""),
    "bundle no bundle": lambda whole: whole.with_bundle(b"x" * 5000),
    "bundle of another version": lambda whole: whole.with_bundle(b"# v9 git bundle\n" + bytes(100)),
    "bundle cut": lambda whole: whole.with_bundle(whole.parts["vault.bundle"][:-100]),
    "bundle with a bit": _flipped,
    "bundle that needs more": _needing_more,
    "bundle of another commit": _another_head,
    "bundle with one ref more": _one_ref_more,
}  # fmt: skip


@pytest.fixture(scope="module")
def whole(newborn: Tree, tmp_path_factory: pytest.TempPathFactory) -> Whole:
    """A small vault's backup, made once."""
    folder = tmp_path_factory.mktemp("whole")
    environment = {"PATH": os.environ["PATH"], "HOME": str(folder)}
    vault = Vault(newborn.write(folder / "vault"), environment)
    git(vault.root, environment, "update-index", "-q", "--refresh")
    keep(vault, "Jane lives in Oslo.", entity="areas/people/jane")
    from tests.conftest import NOW

    backup_to_file(vault, Caller(NOW, os.urandom), folder / "a.clawmem")
    with tarfile.open(folder / "a.clawmem") as archive:
        record = {name: _content(archive, name) for name in archive.getnames()}
    parts = {name: data for name, data in record.items() if not name.startswith("manifest")}
    return Whole(json.loads(record["manifest.json"]), parts)


def _content(archive: tarfile.TarFile, name: str) -> bytes:
    file = archive.extractfile(name)
    assert file is not None
    return file.read()


def test_there_are_enough_of_them() -> None:
    assert len(CASES) >= 60


@pytest.mark.parametrize("case", CASES)
def test_it_is_refused_and_leaves_nothing(
    case: str, whole: Whole, tmp_path: Path, caller: Caller, environment: dict[str, str]
) -> None:
    place = tmp_path / "new"
    with pytest.raises((DamagedBackup, Refused)) as refused:
        restore(io.BytesIO(CASES[case](whole)), place / "vault", caller, environment)
    text = refused.value.message
    assert text.endswith(".") and len(text) < 600 and "Traceback" not in text
    assert not place.exists()


def test_the_backup_they_are_made_of_is_restored(
    whole: Whole, tmp_path: Path, caller: Caller, environment: dict[str, str]
) -> None:
    made = restore(io.BytesIO(whole.packed()), tmp_path / "new" / "vault", caller, environment)
    assert (made.errors, made.manifest.counts["facts"]) == (0, 1)


@pytest.mark.parametrize("part", ["manifest.json", "manifest.sha256", "vault.bundle"])
def test_a_part_of_a_hundred_gigabytes_takes_no_memory(
    part: str, whole: Whole, tmp_path: Path, environment: dict[str, str]
) -> None:
    """The file has holes for contents: what is said of it is large, not what is on the disk."""
    file = tmp_path / "large.clawmem"
    before = {"manifest.json": {}, "manifest.sha256": {"manifest.json": b"{}"}}.get(part)
    value = json.loads(json.dumps(whole.manifest))
    value["members"]["vault.bundle"]["size"] = 100 << 30
    data = json.dumps(value).encode()
    checksum = f"{hashlib.sha256(data).hexdigest()}  manifest.json\n".encode()
    members = {"manifest.json": data, "manifest.sha256": checksum} if before is None else before
    header = tarfile.TarInfo(part)
    header.size = (100 << 30) if part != "vault.bundle" else 1 << 30
    start = _tar(members)[: sum(512 + -(-len(member) // 512) * 512 for member in members.values())]
    with file.open("wb") as out:
        out.write(start + header.tobuf())
        out.truncate(len(start) + 512 + header.size)
    command = [sys.executable, "-m", "clawmem", "restore", str(file), str(tmp_path / "new")]
    process = subprocess.run(
        [sys.executable, "-c", _MEASURE, *command], env=environment, capture_output=True, text=True, check=False
    )
    assert "damaged" in process.stderr
    code, kilobytes, seconds = (float(word) for word in process.stdout.split())
    assert code == 1, process.stderr
    assert kilobytes < 300 * 1024
    assert seconds < 5
    assert not (tmp_path / "new").exists()
