"""Check edits made by hand. A file that cannot be committed is left as it is and named, and no fact is lost by that.

Unreadable files in HEAD: what is wrong with each, and the last commit in which it was readable.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

from clawmem.errors import ClawmemError, ConflictMarkers, InvalidInput, Refused, SecretFound, Unreadable, UnreadableKey
from clawmem.model.kinds import FACTS, REDACTIONS, file_kind, handling
from clawmem.model.records.entity import ITEMS, SUMMARY, check_agent, check_name, name_of_path
from clawmem.model.safety.secrets.find import find_secret, redact
from clawmem.vault.edits.copies import MovedFact, copies, facts_moved, gathered, place_of
from clawmem.vault.edits.scan import HandEdits
from clawmem.vault.strict_yaml import parse_yaml, with_line
from clawmem.vault.vault import Vault

UNCLAIMED = "clawmem knows no kind of file with this name in this folder, so nothing reads it"
UNCLAIMED_HINT = "Make it a Markdown page (.md), or move it out of the vault."

_ID = re.compile(rb'"(?:id|fact_id)"\s*:\s*"([^"]+)"')


def check_edits(vault: Vault, paths: Iterable[str]) -> HandEdits:
    """Divide changed files into those that can be committed and those that cannot."""
    good: dict[str, bytes | None] = {}
    bad: list[tuple[str, ClawmemError]] = []
    for path in paths:
        try:
            good[path] = _sound(vault, path)
        except ClawmemError as problem:
            bad.append((path, problem))
    if good and bad:
        bad += _without_their_other_half(vault, good, dict(bad))
    bad += copies(vault, {path: data for path, data in good.items() if path not in dict(bad)})
    return HandEdits({path: data for path, data in good.items() if path not in dict(bad)}, tuple(bad))


def _sound(vault: Vault, path: str) -> bytes | None:
    obstacle = vault.obstacle(path)
    if obstacle is not None:
        raise Refused(f"{path} is not committed: {obstacle}.", "Put a real file or folder in its place.")
    data = vault.read(path)
    if data is not None:
        _refuse_secret_name(vault, path)
        _check_place(path)
    _refuse_lost_record(vault, path, data)
    check_file(path, data)
    _refuse_new_secret(vault, path, data)
    return data


def _check_place(path: str) -> None:
    """Raise InvalidInput where nothing would read the file under its name."""
    parts, name = path.split("/"), name_of_path(path)
    try:
        if parts[0] == "agents" and len(parts) > 2:
            check_agent(parts[1])
        right = name and check_name(name)
    except InvalidInput as problem:
        raise InvalidInput(f"{path} is not committed: {problem.message}", problem.hint) from None
    if right != name:
        raise InvalidInput(f"{path} is not committed: the entity must be named {right}.", "Rename its folder.")
    if name is None and parts[-1] in (ITEMS, SUMMARY) and (parts[0] == "life" or "workspace" in parts[2:3]):
        raise InvalidInput(
            f"{path} is not committed: no entity can be here.",
            "Move its folder to life/projects/NAME, life/areas/NAME, life/areas/people/NAME or life/resources/NAME.",
        )
    if file_kind(path) is None:
        raise InvalidInput(f"{path} is not committed: {UNCLAIMED}.", UNCLAIMED_HINT)


def _without_their_other_half(
    vault: Vault, good: Mapping[str, bytes | None], bad: Mapping[str, ClawmemError]
) -> list[tuple[str, ClawmemError]]:
    """The valid files that must wait: facts moved between them and a file that is left alone. To commit one half of
    the move would lose the facts."""
    head = vault.head().commit
    paths = [path for path in (*good, *bad) if handling(path).merge == FACTS]
    stood = vault.contents_at(head, paths) if head else {}
    before = {place_of(path): _ids(stood.get(path)) for path in paths}
    after = {place_of(path): _ids(good[path] if path in good else _raw(vault, path)) for path in paths}
    went = facts_moved(before, after)
    blocked = {place_of(path): path for path in bad}
    waiting: list[tuple[str, ClawmemError]] = []
    for group in gathered({place_of(path) for path in (*good, *bad)}, went):
        stops = next((blocked[place] for place in group if place in blocked), None)
        if len(group) > 1 and stops:
            waiting += [(path, _waits(path, stops, went)) for path in good if place_of(path) in group]
    return waiting


def _waits(path: str, stops: str, went: Iterable[MovedFact]) -> Refused:
    place = place_of(path)
    old, new = next((fact.old, fact.new) for fact in went if place in (fact.old, fact.new))
    return Refused(
        f"{path} waits for {stops}: facts moved from {old} to {new}, and half of that would lose them.",
        "Repair the file that is left alone, or move the facts back.",
    )


def _raw(vault: Vault, path: str) -> bytes | None:
    try:
        return vault.read(path)
    except (ClawmemError, OSError):
        return None  # behind a link, or a folder: no fact can have moved there


def _ids(data: bytes | None) -> dict[str, None]:
    """The ids in a file of facts, whether it can be read or not."""
    return dict.fromkeys(found.decode(errors="replace") for found in _ID.findall(data or b""))


def _refuse_secret_name(vault: Vault, path: str) -> None:
    """Raise SecretFound, without the credential, where the path of a new file contains one."""
    match = find_secret(path)
    head = vault.head().commit
    if match is None or (head and vault.contents_at(head, [path])[path] is not None):
        return
    raise SecretFound(match.rule, f"The name {'/'.join(map(redact, path.split('/')))}")


def _refuse_lost_record(vault: Vault, path: str, data: bytes | None) -> None:
    """Raise Refused where an edit removes the record of a redaction."""
    head = vault.head().commit
    if head is None or handling(path).undo != REDACTIONS:
        return
    from clawmem.model.history.redaction import lacks_record  # few vaults have such a file, and nobody edits it

    if lacks_record(data, vault.contents_at(head, [path])[path]):
        raise Refused(
            f"{path} is not committed: it lacks records of redactions, which must be kept.",
            f"Restore it: `git checkout HEAD -- {path}`.",
        )


def _refuse_new_secret(vault: Vault, path: str, data: bytes | None) -> None:
    """Raise SecretFound where an edit adds a credential that history does not hold yet."""
    text = (data or b"").decode(errors="replace")
    match = find_secret(text)
    if match is None:
        return
    head = vault.head().commit
    standing = (vault.contents_at(head, [path])[path] if head else None) or b""
    if text[match.start : match.end] not in standing.decode(errors="replace"):
        line = text.count("\n", 0, match.start) + 1
        raise SecretFound(match.rule, f"{path}:{line}")


def check_file(path: str, data: bytes | None) -> None:
    """Raise Unreadable, ConflictMarkers or InvalidInput, naming the line, where a file cannot be what its path says."""
    if data is None:
        return
    try:
        handling(path).parsed(data, path, parse_yaml)
    except UnreadableKey as problem:
        raise with_line(problem, data) from None


# How many versions of a file are checked, newest first.
_VERSIONS = 50
_SHOWN = 12


def unreadable_files(vault: Vault, paths: Iterable[str]) -> dict[str, ClawmemError]:
    """Return those of the files that are unreadable in HEAD, with the error and a hint for restoring them."""
    head = vault.head().commit
    wanted = list(paths)
    found: dict[str, ClawmemError] = {}
    for path, data in (vault.contents_at(head, wanted) if head and wanted else {}).items():
        problem = _problem_of(path, data)
        if problem is not None:
            problem.hint = restore_hint(vault, path)
            found[path] = problem
    return found


def add_restore_hint(vault: Vault, problem: Unreadable | ConflictMarkers) -> None:
    """Let the hint name the last commit in which the file was readable, if it is not readable in HEAD."""
    head = vault.head().commit
    if head is None:
        return
    data = vault.contents_at(head, [problem.path])[problem.path]
    if data is None or _problem_of(problem.path, data):
        problem.hint = restore_hint(vault, problem.path)


def restore_hint(vault: Vault, path: str) -> str:
    """Return how to restore a file that is not readable in HEAD."""
    commit = last_readable_commit(vault, path)
    if commit is None:
        return f"Repair the file by hand: {path} is readable in no commit."
    return (
        "Repair the file by hand, or restore the last readable version with"
        f" `git checkout {commit[:_SHOWN]} -- {path}`; the next change commits it."
    )


def last_readable_commit(vault: Vault, path: str) -> str | None:
    """Return the newest of the last commits that changed a file and left it readable, or None. Runs git."""
    printed = vault.git.run("rev-list", f"--max-count={_VERSIONS}", "HEAD", "--", path)
    return next((name for name in printed.decode().split() if _is_readable(vault, name, path)), None)


def _is_readable(vault: Vault, commit: str, path: str) -> bool:
    data = vault.contents_at(commit, [path])[path]
    return data is not None and _problem_of(path, data) is None


def _problem_of(path: str, data: bytes | None) -> ClawmemError | None:
    try:
        check_file(path, data)
    except ClawmemError as problem:
        return problem
    return None
