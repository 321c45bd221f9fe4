"""Merges that git itself made in the vault, by a `git pull` or `git merge` of the user. clawmem completes each of them
once.

How far two histories have diverged, and whether one of them is the other after a redaction: merging them would restore
the redacted text.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from clawmem.model.facts.fact import REDACTED
from clawmem.model.history.entry import REDACT, SYNC, trailer_pattern
from clawmem.model.history.redaction import RECORD
from clawmem.vault.git.index import is_merging
from clawmem.vault.git.refs import last_merge_mark
from clawmem.vault.history.history import delete_refs
from clawmem.vault.vault import Vault

UNFINISHED_MERGES = "merges-left"
MERGE_MARK = "joined"
# The trailer of a commit that completed a merge.
COMPLETES = "Completes"
_MOST = 50
_FORM = "--format=%m%H %P%x00%(trailers:key=Clawmem-Op,valueonly,separator=%x2C)%x00%s%x01"


class GitMerge(NamedTuple):
    """A merge commit and its two parents."""

    commit: str
    ours: str
    theirs: str


def has_new_merges(vault: Vault) -> bool:
    """Return whether git has merged histories here since the last check."""
    mark = last_merge_mark(vault.git_dir)
    return mark is not None and (vault.disk.read(vault.state / MERGE_MARK) or b"").decode().partition("\n")[0] != mark


class MergePoint(NamedTuple):
    """git's mark of the last merge, and the commit of HEAD that contains it."""

    mark: str
    head: str


def merge_point(vault: Vault) -> MergePoint | None:
    """Return the present point, or None if git never merged here, or is at it: it writes the mark when it begins."""
    mark = last_merge_mark(vault.git_dir)
    if mark is None or is_merging(vault):
        return None
    head = vault.head().commit
    return MergePoint(mark, head) if head else None


def new_merges(vault: Vault, point: MergePoint) -> list[GitMerge]:
    """Return the merges that clawmem did not make, up to a point since the last check, oldest first."""
    kept = (vault.disk.read(vault.state / MERGE_MARK) or b"").decode().partition("\n")[2].strip()
    since = kept or point.mark.partition(" ")[0]
    printed = vault.git.try_run("log", _FORM, "--merges", f"--max-count={_MOST}", f"{since}..{point.head}", "--")
    return [row.merge for row in _rows(printed or b"") if row.merge][::-1]


def mark_merges_complete(vault: Vault, point: MergePoint) -> None:
    """Record that all merges up to a point are complete."""
    vault.disk.replace(vault.state / MERGE_MARK, f"{point.mark}\n{point.head}\n".encode(), vault.state)


def has_unfinished_merges(vault: Vault) -> bool:
    """Return whether an earlier command left merges to complete."""
    return (vault.state / UNFINISHED_MERGES).exists()


def write_unfinished_merges(vault: Vault, merges: Sequence[GitMerge]) -> None:
    """Write the list of merges still to complete. Without any, the list is deleted."""
    path = vault.state / UNFINISHED_MERGES
    if merges:
        vault.disk.replace(path, "".join(f"{' '.join(merge)}\n" for merge in merges).encode(), vault.state)
    else:
        vault.disk.remove(path)


def add_unfinished_merges(vault: Vault, merges: Sequence[GitMerge]) -> None:
    """Add merges that the branch is about to receive, so that a killed command loses none of them."""
    if merges:
        write_unfinished_merges(vault, tuple(dict.fromkeys((*read_unfinished_merges(vault), *merges))))


def read_unfinished_merges(vault: Vault) -> list[GitMerge]:
    """Return the merges of this branch that an earlier command left to complete. Requires the writer lock.

    A list of merges that are not in this branch is deleted.
    """
    lines = (vault.disk.read(vault.state / UNFINISHED_MERGES) or b"").decode(errors="replace").splitlines()
    rows = [GitMerge(*line.split()) for line in lines if len(line.split()) == 3]
    in_branch = [
        row for row in rows if vault.git.try_run("merge-base", "--is-ancestor", row.commit, "HEAD") is not None
    ]
    if lines and not in_branch:
        write_unfinished_merges(vault, ())
    return in_branch


def is_completed(vault: Vault, merge: GitMerge) -> bool:
    """Return whether a later commit, made in any clone, completed a merge."""
    form = f"--format=%(trailers:key={COMPLETES},valueonly)"
    grep = ("--fixed-strings", f"--grep={COMPLETES}: {merge.commit}")
    return merge.commit in vault.git.run("log", form, *grep, f"{merge.commit}..HEAD", "--").decode().split()


class IncomingCommits(NamedTuple):
    """What one history has and another does not.

    `subjects` are the newest ones, newest first. `merges` are those that clawmem did not make, oldest first. `redacted`
    says whether something was redacted. `joins` are the merges that clawmem made elsewhere, newest first.
    """

    subjects: tuple[str, ...] = ()
    merges: tuple[GitMerge, ...] = ()
    redacted: bool = False
    joins: tuple[str, ...] = ()


class HistoryDistance(NamedTuple):
    """How far two histories have diverged.

    `own` and `received` count the commits that only one of them has, and `news` describes those of the other. `parting`
    are the commits where they diverge, with the best common ancestors among them. `redacted` says whether something was
    redacted in our own commits. `scattered` says whether the other's commits start from several commits, or from none.
    """

    own: int
    received: int
    news: IncomingCommits
    parting: tuple[str, ...]
    redacted: bool
    scattered: bool


def history_distance(vault: Vault, ours: str, theirs: str, most: int) -> HistoryDistance:
    """Compare two histories with one git process; `most` limits the number of subjects."""
    rows = _rows(vault.git.run("log", _FORM, "--left-right", "--boundary", f"{ours}...{theirs}", "--"))
    others = [row for row in rows if row.mark == ">"]
    merges = [row.merge for row in others if row.merge]
    subjects = tuple(row.subject for row in others[:most])
    redacted = {row.mark for row in rows if row.op == REDACT}
    joins = tuple(row.commit for row in others if row.op == SYNC and row.is_merge)[:_MOST]
    news = IncomingCommits(subjects, tuple(merges[:_MOST][::-1]), ">" in redacted, joins)
    parting = tuple(row.commit for row in rows if row.mark == "-")
    scattered = len(parting) > 1 or any(row.is_root for row in others)
    return HistoryDistance(sum(row.mark == "<" for row in rows), len(others), news, parting, "<" in redacted, scattered)


class _LogRow(NamedTuple):
    mark: str
    commit: str
    subject: str
    op: str
    merge: GitMerge | None
    is_root: bool
    is_merge: bool


def _rows(printed: bytes) -> list[_LogRow]:
    rows = printed.decode(errors="replace").split("\x01")
    return [_row(*row.strip("\n").split("\0")) for row in rows if row.strip()]


def _row(names: str, op: str, subject: str) -> _LogRow:
    commits = names[1:].split()
    is_merge = len(commits) == 3
    merge = GitMerge(commits[0], commits[1], commits[2]) if is_merge and not op.strip() else None
    return _LogRow(names[0], commits[0], subject, op.strip(), merge, len(commits) == 1, is_merge)


HERE, THERE = "here", "there"
_COMMIT_FORM = "%an <%ae> %at %ct%x00%s"


def redacted_side(vault: Vault, head: str, tip: str, between: HistoryDistance) -> str | None:
    """Return on which side the redaction was made, `here` (at `head`) or `there`, or None if the histories are
    unrelated to one.

    `between` is their distance. A record of redactions can be deleted, but not their commits. If both sides have such a
    commit, it precedes all later work, so the original form starts elsewhere. Only then the whole history is searched.
    """
    here = between.redacted or vault.read(RECORD) is not None
    here = here or (between.scattered and bool(redactions_in(vault, head)))
    there = between.news.redacted or not between.parting
    if not (here or there) or not is_rewritten_copy(vault, head, tip):
        return None
    return HERE if here else THERE


def redactions_in(vault: Vault, commit: str) -> list[str]:
    """Return the redaction commits of a history, newest first."""
    pattern = trailer_pattern("Clawmem-Op", REDACT)
    return vault.git.run("log", "--basic-regexp", f"--grep={pattern}", "--format=%H", commit, "--").decode().split()


def is_rewritten_copy(vault: Vault, head: str, tip: str) -> bool:
    """Return whether commits that `tip` would add to `head` are there already in rewritten form, or the other way
    round.

    Commit names cannot be compared: a redaction creates new ones, and old ones are not stored, because a secret could
    be guessed from them. Authors, times and subjects stay the same.
    """
    known = _commits(vault, head)
    return any(
        _alike(words, there)
        for made, subjects in _commits(vault, f"{head}..{tip}").items()
        for words in subjects
        for there in known.get(made, ())
    )


def _commits(vault: Vault, value: str) -> Mapping[str, set[str]]:
    printed = vault.git.run("log", f"--format={_COMMIT_FORM}", value, "--").decode(errors="replace")
    found: dict[str, set[str]] = defaultdict(set)
    for line in printed.splitlines():
        made, _, words = line.partition("\0")
        found[made].add(words)
    return found


def _alike(text: str, other: str) -> bool:
    return text == other or _fits(text, other) or _fits(other, text)


def _fits(redacted: str, words: str) -> bool:
    """Return whether a subject is another one with parts redacted."""
    begin, *between = redacted.split(REDACTED)
    if not between or not words.startswith(begin):
        return False
    *between, end = between
    place = len(begin)
    for piece in between:
        # The first match is enough: it leaves the most room for the rest. A regular expression would try all of them.
        found = words.find(piece, place)
        if found < 0:
            return False
        place = found + len(piece)
    return len(words) - len(end) >= place and words.endswith(end)


def is_redacted(vault: Vault, head: str | None) -> bool:
    """Return whether something was redacted in the history of a commit."""
    return vault.read(RECORD) is not None or (head is not None and bool(redactions_in(vault, head)))


def unreachable_originals(vault: Vault, head: str) -> list[str]:
    """Return unreachable commits that look like commits of this history from before a redaction.

    They have the same authors, times and subjects. Runs git over all objects.
    """
    output = vault.git.run("fsck", "--unreachable", "--no-reflogs", "--no-progress", "--connectivity-only").decode()
    rows = [line.split() for line in output.splitlines()]
    kept = [row[2] for row in rows if row[:2] == ["unreachable", "commit"]]
    kept += vault.git.run("rev-list", "--all", "--not", head).decode().split()
    if not kept:
        return []
    data = "".join(f"{name}\n" for name in dict.fromkeys(kept)).encode()
    form = f"--format=%H %x01{_COMMIT_FORM}"
    printed = vault.git.run("log", "--no-walk=unsorted", "--stdin", form, stdin=data).decode(errors="replace")
    known = _commits(vault, head)
    found = []
    for line in printed.splitlines():
        name, _, rest = line.partition(" \x01")
        made, _, words = rest.partition("\0")
        if any(_alike(words, other) for other in known.get(made, ())):
            found.append(name)
    return found


def discard_rejected(vault: Vault, ref: str, before: str | None) -> None:
    """Discard a fetched history that was not accepted. Requires the writer lock.

    The ref that git moved is restored. If something was redacted here, the fetched objects are deleted too, because
    they may contain it.
    """
    vault.git.run("update-ref", "--no-deref", *((ref, before) if before else ("-d", ref)))
    (vault.git_dir / "FETCH_HEAD").unlink(missing_ok=True)
    if is_redacted(vault, vault.head().commit):
        if before:  # its reflog names the fetched commits
            vault.git.run("reflog", "expire", "--expire=now", "--expire-unreachable=now", ref)
        _drop_unreachable(vault)


def discard_fetched(vault: Vault, ref: str, remote: str) -> None:
    """Discard what was just fetched: the refs, FETCH_HEAD, and the objects that nothing else refers to.

    Requires the writer lock, so that no unfinished work of others is deleted.
    """
    delete_refs(vault, f"refs/remotes/{remote}/", ref)
    (vault.git_dir / "FETCH_HEAD").unlink(missing_ok=True)
    _drop_unreachable(vault)


def _drop_unreachable(vault: Vault) -> None:
    vault.git.run("-c", "pack.threads=1", "repack", "-a", "-d", "-q")
    vault.git.run("prune", "--expire=now")
