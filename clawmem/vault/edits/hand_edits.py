"""Check edits made by hand. A file that cannot be committed is left as it is and named, and no fact is lost by that.

Unreadable files in HEAD: what is wrong with each, and the last commit in which it was readable.

Facts copied by hand: an id must be unique, so a copy is left unchanged and reported; a rename is completed. Facts that
were moved from file to file, and the places that are connected by such moves.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from clawmem.errors import ClawmemError, ConflictMarkers, InvalidInput, Refused, SecretFound, Unreadable, UnreadableKey
from clawmem.model.facts.codec import parse_items
from clawmem.model.kinds import FACTS, ITEMS_FILE, REDACTIONS, SUMMARY_PAGE, file_kind, handling
from clawmem.model.language.text import counted
from clawmem.model.named_tuple import NamedTuple
from clawmem.model.pages.summary import split_front_matter, yaml_scalar
from clawmem.model.records.entity import ITEMS, SUMMARY, check_agent, check_name, items_path, name_of_path, summary_path
from clawmem.model.safety.secrets.find import find_secret, find_secrets, redact
from clawmem.vault.strict_yaml import parse_yaml, with_line
from clawmem.vault.vault import Vault
from clawmem.vault.work_tree import HandEdits, write_file

UNCLAIMED = "clawmem knows no kind of file with this name in this folder, so nothing reads it"
UNCLAIMED_HINT = "Make it a Markdown page (.md), or move it out of the vault."

Files = Mapping[str, bytes | None]
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
    paths = [path for path in (*good, *bad) if handling(path).merge == FACTS]
    before = {place_of(path): _ids(data) for path, data in vault.committed(paths).items()}
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
    if match and vault.committed([path])[path] is None:
        raise SecretFound(match.rule, f"The name {'/'.join(map(redact, path.split('/')))}")


def _refuse_lost_record(vault: Vault, path: str, data: bytes | None) -> None:
    """Raise Refused where an edit removes the record of a redaction."""
    if handling(path).undo != REDACTIONS:
        return
    from clawmem.model.history.redaction import lacks_record  # few vaults have such a file, and nobody edits it

    if lacks_record(data, vault.committed([path])[path]):
        raise Refused(
            f"{path} is not committed: it lacks records of redactions, which must be kept.",
            f"Restore it: `git checkout HEAD -- {path}`.",
        )


def _refuse_new_secret(vault: Vault, path: str, data: bytes | None) -> None:
    """Raise SecretFound where an edit adds a credential that history does not hold yet."""
    text = (data or b"").decode(errors="replace")
    matches = find_secrets(text)
    standing = (vault.committed([path])[path] or b"").decode(errors="replace") if matches else ""
    for match in matches:
        if text[match.start : match.end] not in standing:
            raise SecretFound(match.rule, f"{path}:{text.count(chr(10), 0, match.start) + 1}")


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
    found: dict[str, ClawmemError] = {}
    for path, data in vault.committed(paths).items():
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


_INLINE = re.compile(r"^(aliases:[ \t]*\[)([^\n\]]*)(\][ \t]*)$", re.MULTILINE)
_LISTED = re.compile(r"^(aliases:[ \t]*\n)([ \t]*)(?=- )", re.MULTILINE)


def find_renamed(before: Files, after: Files, moved: Mapping[tuple[str, str], int]) -> Iterator[tuple[str, str]]:
    """Yield the old and new paths of entities that were certainly renamed.

    The facts and the summary were both removed, and all facts are in a place that is new. `before` and `after` are the
    edited files; `moved` counts the facts that moved between two places.
    """
    for (old, new), number in moved.items():
        old_paths, new_paths = (items_path(old), summary_path(old)), (items_path(new), summary_path(new))
        removed = all(before.get(path) is not None and after.get(path, b"") is None for path in old_paths)
        added = all(before.get(path) is None and after.get(path) is not None for path in new_paths)
        went = [pair for pair in moved if old in pair or new in pair]
        whole = removed and number == len(parse_items(before[old_paths[0]] or b"", old_paths[0]))
        if whole and added and went == [(old, new)]:
            yield old, new


def add_old_path_aliases(
    vault: Vault, before: Files, after: Files, moved: Mapping[tuple[str, str], int]
) -> dict[str, bytes]:
    """Add the old path to the aliases of each renamed entity and return the new pages by path.

    If this is killed, it leaves one more edit by hand.
    """
    pages = {}
    for old, new in find_renamed(before, after, moved):
        path = summary_path(new)
        page = with_alias((after[path] or b"").decode("utf-8-sig", errors="replace"), old, path)
        if page is not None and vault.read(path) == after[path]:
            vault.disk.replace(vault.path(path), page.encode(), vault.state)
            pages[path] = page.encode()
    return pages


def with_alias(page: str, alias: str, path: str) -> str | None:
    """Return the page with one more alias in its front matter and no other change.

    Return None if it has the alias already or its front matter cannot be edited safely.
    """
    front, _ = split_front_matter(page)
    if front is None:
        return None
    more = yaml_scalar(alias)
    known = _aliases(front, path)
    written = _INLINE.sub(lambda found: f"{found[1]}{', '.join(filter(None, (found[2], more)))}{found[3]}", front, 1)
    if written == front:
        written = _LISTED.sub(lambda found: f"{found[1]}{found[2]}- {more}\n{found[2]}", front, 1)
    if written == front and known == []:
        written = f"{front.rstrip()}\naliases: [{more}]\n"
    if known is None or alias in known or sorted(_aliases(written, path) or ()) != sorted([*known, alias]):
        return None
    return page.replace(front, written, 1)


def _aliases(front: str, path: str) -> list[str] | None:
    try:
        value = parse_yaml(front, path)
    except ClawmemError:
        return None
    found = (value.get("aliases") or []) if isinstance(value, dict) else None
    return [str(other) for other in found] if isinstance(found, list) else None


_FORM = "--format=%H %P,%(trailers:key=Clawmem-Op,valueonly,separator=%x2C)"
_BY_HAND = ("", "edit")


def commits_by_hand(vault: Vault, old: str, new: str, folder: str) -> list[tuple[str, str]]:
    """Return the commits between two others in which people edited files of a folder, each with its parent, newest
    first: those of adopted edits, and those that clawmem did not make. Merges are left out. Runs git."""
    printed = vault.git.try_run("log", _FORM, "--no-merges", f"{old}..{new}", "--", folder)
    rows = [line.partition(",") for line in (printed or b"").decode(errors="replace").splitlines()]
    found = [names.split() for names, _, op in rows if op.strip() in _BY_HAND]
    return [(names[0], names[1]) for names in found if len(names) == 2]


# A renamed file is compared with this many earlier versions.
_EARLIER = 200


def find_in_head(vault: Vault, ids: Iterable[str]) -> dict[str, list[str]]:
    """Return the files of HEAD that contain each of some facts."""
    wanted = frozenset(ids)
    if not wanted:
        return {}
    quoted = "".join(f'"{key}"\n' for key in sorted(wanted)).encode()
    named = vault.git.try_run("grep", "-lzF", "-f", "-", "HEAD", "--", f":(glob)**/{ITEMS}", stdin=quoted) or b""
    paths = [name.removeprefix("HEAD:") for name in named.decode(errors="surrogateescape").split("\0") if name]
    found: dict[str, list[str]] = {}
    for path, data in vault.contents_at("HEAD", paths).items():
        for key in _ids_in(path, data) & wanted:
            found.setdefault(key, []).append(path)
    return found


def copies(vault: Vault, good: Files) -> list[tuple[str, ClawmemError]]:
    """Return the edited files that must be left unchanged, because their facts are in other files too.

    This includes files that depend on them: the rest of a copied folder, and deletions in the folder it was copied
    from.
    """
    items = [path for path in good if file_kind(path) is ITEMS_FILE]
    committed = vault.committed(items)
    now = {path: _ids_in(path, good[path]) for path in items}
    before = {path: _ids_in(path, committed[path]) for path in items}
    arrived = {path: now[path] - before[path] for path in items}
    elsewhere = find_in_head(vault, {key for keys in arrived.values() for key in keys})
    refused: dict[str, Refused] = {}
    sources: set[str] = set()
    for path in sorted(items):
        for key in sorted(arrived[path]):
            others = [other for other in elsewhere.get(key, ()) if other != path and key in now.get(other, {key})]
            others += [other for other in items if other < path and key in arrived[other] and other not in refused]
            if others:
                refused.setdefault(path, _refused(path, key, others[0], len(arrived[path])))
                sources.add(place_of(others[0]))
    return [*refused.items(), *_dependent_files(vault, good, refused, sources)]


def _refused(path: str, key: str, other: str, number: int) -> Refused:
    which = key if number == 1 else f"{key} and {counted(number - 1, 'other fact')}"
    return Refused(
        f"{path} is not committed: {which} came from {other}, which still has the same ids, and an id must be unique."
        " Remove the copy, or give its facts new ids.",
        "`clawmem entity move` gives an entity another place.",
    )


def _dependent_files(
    vault: Vault, good: Files, refused: Mapping[str, Refused], sources: set[str]
) -> list[tuple[str, Refused]]:
    """Return the other files of a copied folder, and the deleted files of the folder it was copied from."""
    head = vault.head().commit
    copied = {place_of(path): path for path in refused}
    found = []
    for path, data in good.items():
        place = place_of(path)
        if path in refused:
            continue
        is_new = place in copied and head and vault.contents_at(head, [items_path(place)])[items_path(place)] is None
        if is_new or (place in sources and data is None and copied):
            stops = copied.get(place) or next(iter(refused))
            found.append((path, Refused(f"{path} waits for {stops}.", "Repair that file first.")))
    return found


def finish_renames(vault: Vault, changed: Sequence[str]) -> tuple[str, ...]:
    """Complete folder renames that git has interfered with, and return the edited files.

    If others changed the facts of a renamed folder, a pull puts the old file back. Its contents are merged into the
    renamed file, and the old file is deleted. If this is killed, the next command completes it.
    """
    edited = list(changed)
    for old, new in _renames(vault, changed):
        kept, removed = items_path(new), items_path(old)
        merged = _merged(vault, kept, removed)
        if merged is not None:
            write_file(vault, kept, merged)
            write_file(vault, removed, None)
            edited.append(removed)
    return tuple(edited)


def _renames(vault: Vault, changed: Sequence[str]) -> list[tuple[str, str]]:
    """Return the old and new paths of entities whose folder was renamed, except for a file of facts that git put
    back."""
    head = vault.head().commit
    fresh = [path for path in changed if file_kind(path) is ITEMS_FILE]
    gone = [path for path in changed if file_kind(path) is SUMMARY_PAGE]
    if not head or not fresh or not gone:
        return []
    found = []
    for page in gone:
        old = place_of(page)
        source = items_path(old)
        committed = vault.contents_at(head, [page, source])
        if source in changed or None in committed.values() or vault.read(page) is not None:
            continue
        ids = _ids_in(source, committed[source])
        targets = [place_of(path) for path in fresh if _is_copy(vault, head, path, ids)]
        found += [(old, new) for new in targets if len(targets) == 1 and summary_path(new) in changed]
    return found


def _is_copy(vault: Vault, head: str, path: str, ids: set[str]) -> bool:
    ids_now = _ids_in(path, vault.read(path))
    return bool(ids_now) and ids_now <= ids and vault.contents_at(head, [path])[path] is None


def _merged(vault: Vault, kept: str, removed: str) -> bytes | None:
    """Return the facts of both files.

    If the renamed file equals an old version of the other, nothing was removed from it, so the contents from git are
    used. Otherwise the facts of both are kept.
    """
    from clawmem.model.merging.files import merge_file  # rarely needed

    here, there = vault.read(kept), vault.read(removed)
    commits = (
        vault.git.run("log", f"-n{_EARLIER}", "--format=%H", "HEAD", "--", f":(literal){removed}").decode().split()
    )
    if here in vault.git.read_blobs(f"{commit}:{removed}" for commit in commits).values():
        return there
    try:
        return merge_file(kept, None, here, there).content
    except ClawmemError:
        return None


def _ids_in(path: str, data: bytes | None) -> set[str]:
    try:
        return {fact.id for fact in parse_items(data, path)} if data is not None else set()
    except ClawmemError:
        return set()


Places = Mapping[str, Mapping[str, Any]]
"""The facts of each place, by id."""


class MovedFact(NamedTuple):
    """A fact that was removed from one place and added to another."""

    id: str
    old: str
    new: str


def place_of(path: str) -> str:
    """Return the place that a file belongs to: its entity, or the file itself."""
    return name_of_path(path) or path


def facts_moved(before: Places, after: Places) -> tuple[MovedFact, ...]:
    """Return the facts that moved from one place to another."""
    arrived: dict[str, list[str]] = {}
    for place, facts in after.items():
        for key in facts.keys() - before.get(place, {}).keys():
            arrived.setdefault(key, []).append(place)
    return tuple(
        MovedFact(key, place, new)
        for place, facts in before.items()
        for key in facts
        if key not in after.get(place, {})
        for new in arrived.get(key, ())
    )


def gathered(places: Iterable[str], went: Iterable[MovedFact]) -> tuple[tuple[str, ...], ...]:
    """Group the places so that places between which facts moved are in one group."""
    group = {place: {place} for place in places}
    for fact in went:
        if group[fact.old] is not group[fact.new]:
            group[fact.old] |= group[fact.new]
            group.update(dict.fromkeys(group[fact.old], group[fact.old]))
    return tuple(sorted({tuple(sorted(members)) for members in group.values()}))
