"""Wire clawmem into a harness, and take it out again. What was changed is kept in a receipt.

All changes are planned before the first one is made: a file that cannot be read or written changes nothing. Where
nobody else has changed a file since, its former bytes are restored; else exactly the entries of clawmem are taken out.
"""

from __future__ import annotations

import base64
import hashlib
import json
import os
import shutil
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from clawmem.errors import ClawmemError, InvalidInput, Refused, StorageFailed
from clawmem.memory.health.checks import WARNING, HealthProblem
from clawmem.model.harness import native_events
from clawmem.model.language.dates import moment_of
from clawmem.setup.harnesses import (
    HARNESSES,
    SHELL,
    Block,
    Entry,
    OwnFile,
    Step,
    VendorCommand,
    Wiring,
    own_command,
    wiring,
)
from clawmem.setup.jsonc import Broken, depth_of, value_at, with_entry, without_entry
from clawmem.vault.disk import swap_in
from clawmem.vault.state.hook_marks import read_marks
from clawmem.vault.vault import Vault

_BEGIN = "# >>> clawmem >>>"
_END = "# <<< clawmem <<<"
_VENDOR_SECONDS = 60


class WiredFile(NamedTuple):
    """A file, and what happened to it in words."""

    path: str
    did: str


class WireResult(NamedTuple):
    """The files that were changed, or would be in a dry run, and what a person should know."""

    files: tuple[WiredFile, ...]
    notices: tuple[str, ...] = ()


class Receipt:
    """What was changed for one harness on this machine."""

    def __init__(self, path: Path, record: dict[str, Any]) -> None:
        self.path = path
        self.files: dict[str, dict[str, Any]] = record.get("files", {})
        self.folders: list[str] = record.get("folders", [])
        self.at: str = record.get("at", "")
        self.settings: dict[str, Any] = record.get("settings", {})
        """The former values of the settings of this machine that setup has changed."""
        self.scheduled: bool = record.get("scheduled", False)
        """Whether setup has scheduled the heartbeat."""
        self.viewer: str | None = record.get("viewer")
        """For whom alone the harness reads a shared memory."""

    @property
    def exists(self) -> bool:
        return self.path.exists()

    def write(self, at: str) -> None:
        # It holds what stood in configuration files, which may be keys.
        self.path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        record = {"at": at, "files": self.files, "folders": self.folders, "settings": self.settings,
                "scheduled": self.scheduled, "viewer": self.viewer}  # fmt: skip
        _replace(self.path, (json.dumps(record, indent=1) + "\n").encode(), 0o600)


def _receipt_path(harness: str, home: Path, environment: Mapping[str, str]) -> Path:
    base = environment.get("XDG_STATE_HOME")
    return (Path(base) if base else home / ".local" / "state") / "clawmem" / "setup" / f"{harness}.json"


def is_wired(harness: str, home: Path, environment: Mapping[str, str]) -> bool:
    """Return whether a harness was wired on this machine."""
    return _receipt_path(harness, home, environment).exists()


def receipt_of(harness: str, home: Path, environment: Mapping[str, str]) -> Receipt:
    """Return the receipt of a harness; an empty one if nothing was wired."""
    path = _receipt_path(harness, home, environment)
    try:
        record = json.loads(path.read_bytes())
    except FileNotFoundError:
        record = {}
    except (OSError, ValueError) as problem:
        raise StorageFailed(
            f"The receipt {path} cannot be read: {problem}.", "Remove it and run setup again."
        ) from None
    return Receipt(path, record if isinstance(record, dict) else {})


def wire(
    wanted: Wiring, receipt: Receipt, environment: Mapping[str, str], at: str, dry_run: bool = False
) -> WireResult:
    """Wire a harness. A second time, the entries are brought up to date.

    Raise InvalidInput if a configuration file cannot be parsed, Refused if one may not be written."""
    before: dict[Path, bytes | None] = {}
    after: dict[Path, bytes | None] = {}
    steps: dict[Path, list[dict[str, Any]]] = {}
    notices = list(wanted.notices)
    vendors = []
    for step in wanted.steps:
        if isinstance(step, VendorCommand):
            program = shutil.which(step.program, path=environment.get("PATH"))
            if program and not _has_entry(step.instead, receipt):
                vendors.append((program, step))
                continue
            if not program:
                result = "would be" if dry_run else "was"
                notices.append(f"{step.program} was not found, so its file {step.path} {result} edited directly")
            step = step.instead
        path = _target(step.path)
        if path not in before:
            before[path] = _unwired(path, receipt)
            after[path] = before[path]
            steps[path] = []
        if wanted.plain_json and isinstance(step, Entry):
            _check_plain(wanted.program, path, after[path])
        if _is_others(step, path, after[path]):
            if isinstance(step, Entry) and isinstance(step.value, str) and step.append:
                continue  # a name in a list of names, which a person put there
            notices.append(f"{_named(step, path)} is there already and not clawmem's; it was left as it is")
            continue
        record, text = _applied(step, path, after[path])
        steps[path].append(record)
        after[path] = text
    changed = {path: data for path, data in after.items() if data != _read(path)}
    for path in [*changed, *(_target(step.path) for _, step in vendors)]:
        _check_writable(path)
    files = [WiredFile(str(path), "added" if _read(path) is None else "changed") for path in changed]
    files += [WiredFile(str(step.path), f"changed by `{step.program} {' '.join(step.add[:2])}`") for _, step in vendors]
    if dry_run:
        return WireResult(tuple(files), tuple(notices))
    receipt.folders = [*dict.fromkeys([*receipt.folders, *_new_folders([*changed, receipt.path])])]
    for path, data in after.items():
        if not steps[path]:
            receipt.files.pop(str(path), None)
            continue
        receipt.files[str(path)] = {
            "before": _kept(before[path]), "after": _hash(data), "steps": steps[path],
        }  # fmt: skip
    receipt.write(at)
    _write_all(changed)
    for program, vendor in vendors:
        notices += _by_vendor(program, vendor, receipt, environment)
    receipt.write(at)
    return WireResult(tuple(files), tuple(notices))


def unwire(wanted: Wiring, receipt: Receipt, environment: Mapping[str, str], dry_run: bool = False) -> WireResult:
    """Take out what the receipt lists in files of the harness; another file is left, and its part of the receipt.

    Raise Refused if a file may not be written; the receipt then stays."""
    changes: dict[Path, bytes | None] = {}
    files, notices, vendors, others = [], [], [], {}
    known = {_target(step.path) for step in wanted.steps}
    for name, file in receipt.files.items():
        path = Path(name)
        if not _is_known(path, file, known, wanted):
            others[name] = file
            notices.append(f"{path} is no file that setup writes for {wanted.program} here; it was left as it is")
            continue
        now = _read(path)
        restored = _unwired(path, receipt)
        vendor = file.get("vendor")
        if vendor and now is not None and _hash(now) != file["after"] and restored == now:
            vendors.append((path, vendor))
        if restored == now:
            if file["steps"] and now is not None and restored != _bytes(file["before"]):
                notices.append(f"{path} has no entry of clawmem any more, or was changed by hand; it was left as it is")
            continue
        exact = restored == _bytes(file["before"])
        did = "removed" if restored is None else "restored" if exact else "the entries of clawmem were taken out"
        files.append(WiredFile(name, did))
        changes[path] = restored
    for path in changes:
        _check_writable(path)
    if not dry_run:
        _write_all(changes)
        for path, vendor in vendors:
            notices += _removed_by_vendor(path, vendor, environment)
        receipt.files = others
        if others:
            receipt.write(receipt.at)
        else:
            receipt.path.unlink(missing_ok=True)
        above = {str(folder) for path in (*known, receipt.path) for folder in path.parents}
        own = [str(receipt.path.parent), str(receipt.path.parent.parent)]
        for folder in sorted({*own, *(above & {*receipt.folders})}, key=len, reverse=True):
            if Path(folder).is_dir() and not any(Path(folder).iterdir()):
                Path(folder).rmdir()
    return WireResult(tuple(files), tuple(notices))


def _is_known(path: Path, record: Mapping[str, Any], known: set[Path], wanted: Wiring) -> bool:
    """Whether a receipt's file and command are those of the harness. A file of settings can change its ending."""
    commands = [[step.program, *step.remove] for step in wanted.steps if isinstance(step, VendorCommand)]
    return (
        path == _target(path)
        and path.with_suffix("") in {file.with_suffix("") for file in known}
        and (not record.get("vendor") or record["vendor"] in commands)
    )


def _applied(step: Step, path: Path, data: bytes | None) -> tuple[dict[str, Any], bytes]:
    """The step as the receipt keeps it, and the bytes of its file with it."""
    text = _text(path, data)
    if isinstance(step, OwnFile):
        return {"kind": "file"}, step.text.encode()
    if isinstance(step, Block):
        block = f"{_BEGIN}\n{step.text}{_END}\n"
        return {"kind": "block", "text": block}, (
            text + ("" if text.endswith("\n") or not text else "\n") + block
        ).encode()
    above = step.keys if step.append else step.keys[:-1]
    try:
        made = depth_of(text, above) if text.strip() else -1
        changed = with_entry(text, step.keys, step.value, step.append)
    except (Broken, TypeError) as problem:
        line = getattr(problem, "line", None)
        what = f"{path} is not JSON (line {line})" if line else f"In {path}, {problem} is not what clawmem expects"
        raise InvalidInput(f"{what}; nothing was changed.", "Repair it, then run setup again.") from None
    keys = {"keys": list(step.keys), "value": step.value, "append": step.append, "made": max(made, 0)}
    return {"kind": "entry", **keys}, changed.encode()


def _check_plain(program: str, path: Path, data: bytes | None) -> None:
    """Refuse a file with comments or trailing commas where the harness refuses it, too."""
    text = _text(path, data).removeprefix("\ufeff")
    try:
        json.loads(text or "{}")
    except ValueError as problem:
        line = getattr(problem, "lineno", 1)
        raise InvalidInput(
            f"{path} is not plain JSON (line {line}), so {program} refuses all of it; nothing was changed.",
            "Take out comments and trailing commas, then run setup again.",
        ) from None


def _is_others(step: Step, path: Path, data: bytes | None) -> bool:
    """Whether somebody else has put something where the step would put its own."""
    if isinstance(step, OwnFile):
        return data is not None and data != step.text.encode()
    if isinstance(step, Block) or data is None:
        return False
    try:
        node = value_at(_text(path, data), step.keys)
    except Broken:
        return False  # reported when it is edited
    return node is not None and (step.value in node if step.append and isinstance(node, list) else not step.append)


def _named(step: Step, path: Path) -> str:
    return f"{'.'.join(step.keys)} in {path}" if isinstance(step, Entry) else str(path)


def _unwired(path: Path, receipt: Receipt) -> bytes | None:
    """The bytes of a file without what the receipt says that clawmem put there; None for no file."""
    now, record = _read(path), receipt.files.get(str(path))
    if record is None or now is None:
        return now
    if _hash(now) == record["after"]:
        return _bytes(record["before"])
    text = _text(path, now)
    for step in reversed(record["steps"]):
        if step["kind"] == "block":
            text = text.replace(step["text"], "")
        elif step["kind"] == "entry":
            try:
                text = without_entry(text, step["keys"], step["value"], step["append"], step["made"])
            except Broken as problem:
                raise InvalidInput(
                    f"{path} is not JSON (line {problem.line}), so nothing was taken out.", "Repair it, then try again."
                ) from None
    return text.encode()


def _by_vendor(program: str, vendor: VendorCommand, receipt: Receipt, environment: Mapping[str, str]) -> list[str]:
    path = _target(vendor.path)
    value = receipt.files.pop(str(path), None)
    if value is not None:  # an earlier setup
        if _hash(_read(path)) == value["after"]:
            _put(path, _bytes(value["before"]))
        else:
            _run([program, *vendor.remove], environment)
    before = _read(path)
    failed = _run([program, *vendor.add], environment)
    now = _read(path)
    if failed is None and now is not None and now != before:
        receipt.files[str(path)] = {
            "before": _kept(before), "after": _hash(now), "steps": [],
            "vendor": [vendor.program, *vendor.remove],
        }  # fmt: skip
        return []
    if failed is None:
        return [f"`{vendor.program} {' '.join(vendor.add[:2])}` changed nothing in {path}"]
    record, data = _applied(vendor.instead, path, before)
    receipt.files[str(path)] = {"before": _kept(before), "after": _hash(data), "steps": [record]}
    receipt.folders = [*dict.fromkeys([*receipt.folders, *_new_folders([path])])]
    _write_all({path: data})
    return [f"`{vendor.program} {' '.join(vendor.add[:2])}` failed ({failed}), so {path} was edited directly"]


def _removed_by_vendor(path: Path, words: Sequence[str], environment: Mapping[str, str]) -> list[str]:
    program = shutil.which(words[0], path=environment.get("PATH"))
    if program is None:
        return [f"{words[0]} was not found: remove clawmem from {path} with `{' '.join(words)}`"]
    failed = _run([program, *words[1:]], environment)
    return [f"`{' '.join(words)}` failed: {failed}"] if failed else []


def _run(command: Sequence[str], environment: Mapping[str, str]) -> str | None:
    """Why a program failed, or None."""
    try:
        process = subprocess.run(
            command, env=dict(environment), stdin=subprocess.DEVNULL, capture_output=True, timeout=_VENDOR_SECONDS
        )
    except (OSError, subprocess.SubprocessError) as problem:
        return str(problem)
    if process.returncode == 0:
        return None
    items = (process.stderr or process.stdout).decode(errors="replace").strip().splitlines()
    return items[-1] if items else f"exit code {process.returncode}"


def _has_entry(step: Step, receipt: Receipt) -> bool:
    """Whether an earlier setup edited the file directly, so that the vendor's command would find the entry there."""
    record = receipt.files.get(str(_target(step.path)))
    return record is not None and bool(record["steps"])


def _write_all(changes: Mapping[Path, bytes | None]) -> None:
    """Write files; if one cannot be written, the others get their former bytes again."""
    former = {path: _read(path) for path in changes}
    items: list[Path] = []
    try:
        for path, data in changes.items():
            items.append(path)
            _put(path, data)
    except OSError as problem:
        for path in items:
            try:
                _put(path, former[path])
            except OSError:
                continue
        raise StorageFailed(
            f"{problem.filename} cannot be written: {problem.strerror}.", "Nothing was changed."
        ) from None


def _put(path: Path, data: bytes | None) -> None:
    if data is None:
        path.unlink(missing_ok=True)
    else:
        path.parent.mkdir(parents=True, exist_ok=True)
        _replace(path, data)


def _replace(path: Path, data: bytes, mode: int = 0o666) -> None:
    """Replace a file's bytes in one step; in place where only the file may be written, or where it is shared."""
    if path.exists() and (not os.access(path.parent, os.W_OK) or path.stat().st_nlink > 1):
        path.write_bytes(data)
        return
    swap_in(path.with_name(f".{path.name}.clawmem-{os.getpid()}"), path, data, 0o600 if path.exists() else mode)


def _check_writable(path: Path) -> None:
    place = path
    while not place.exists() and place != place.parent:
        place = place.parent
    if path.exists() and not path.is_file():
        raise Refused(f"{path} is not a file; nothing was changed.")
    if not os.access(place, os.W_OK):
        raise Refused(f"{place} may not be written; nothing was changed.", "Change its permissions, then try again.")


def _target(path: Path) -> Path:
    """The file that is meant: where a link leads to."""
    return path.resolve()


def _new_folders(paths: Sequence[Path]) -> list[str]:
    found = []
    for path in paths:
        place = path.parent
        while not place.exists():
            found.append(str(place))
            place = place.parent
    return found


def _read(path: Path) -> bytes | None:
    try:
        return path.read_bytes()
    except FileNotFoundError:
        return None
    except OSError as problem:
        raise Refused(f"{path} cannot be read: {problem.strerror}; nothing was changed.") from None


def _text(path: Path, data: bytes | None) -> str:
    try:
        return (data or b"").decode()
    except UnicodeDecodeError:
        raise InvalidInput(f"{path} is not UTF-8 text; nothing was changed.", "Convert it first.") from None


def _kept(data: bytes | None) -> str | None:
    return None if data is None else base64.b64encode(data).decode()


def _bytes(kept: str | None) -> bytes | None:
    return None if kept is None else base64.b64decode(kept)


def _hash(data: bytes | None) -> str:
    return hashlib.sha256(data or b"").hexdigest()


HARNESS = "harness"
_TRUST = {"codex": " Codex skips hooks until you trust them: start `codex` and accept them under 'Hooks need review'."}


def harness_problems(vault: Vault, environment: Mapping[str, str], home: Path) -> Iterator[HealthProblem]:
    """Yield a problem for each file of a setup that is gone or is not what a setup of today writes, and for hooks that
    ran sessions never called."""
    for harness in HARNESSES:
        try:
            receipt = receipt_of(harness, home, environment)
        except ClawmemError as problem:
            yield HealthProblem(WARNING, HARNESS, None, None, f"{problem.message} {problem.hint}")
            continue
        if not receipt.exists:
            continue
        gone = [path for path in receipt.files if not Path(path).exists()]
        for path in gone:
            message = f"{harness}: {path} is gone. `clawmem setup {harness}` writes it again."
            yield HealthProblem(WARNING, HARNESS, None, None, message)
        if not gone and str(vault.root) in str(receipt.files):  # it was set up for this vault
            yield from _outdated(harness, vault, receipt, environment, home)
        if harness != SHELL and native_events(harness) and _never_called(vault, harness, receipt.at, home, environment):
            message = f"{harness} had sessions since its setup, but called no hook.{_TRUST.get(harness, '')}"
            yield HealthProblem(WARNING, HARNESS, None, None, message)


def _outdated(
    harness: str, vault: Vault, receipt: Receipt, environment: Mapping[str, str], home: Path
) -> Iterator[HealthProblem]:
    wanted = wiring(harness, home, environment, own_command(environment), str(vault.root), receipt.viewer)
    own = wanted._replace(steps=tuple(step for step in wanted.steps if not isinstance(step, VendorCommand)))
    try:
        files = wire(own, receipt, environment, receipt.at, dry_run=True).files
    except ClawmemError as problem:
        yield HealthProblem(WARNING, HARNESS, None, None, f"{harness}: {problem.message} {problem.hint}")
        return
    for file in files:
        message = f"{harness}: {file.path} is not what this version sets up. `clawmem setup {harness}` renews it."
        yield HealthProblem(WARNING, HARNESS, None, None, message)


def _never_called(vault: Vault, harness: str, since: str, home: Path, environment: Mapping[str, str]) -> bool:
    """Whether a harness that can skip hooks in silence had sessions since a time, and called none."""
    if harness != "codex" or any(mark.harness == harness for mark in read_marks(vault)):
        return False
    place = Path(environment.get("CODEX_HOME") or home / ".codex") / "sessions"
    moment = moment_of(since).timestamp()
    return any(path.stat().st_mtime > moment for path in place.rglob("rollout-*.jsonl"))
