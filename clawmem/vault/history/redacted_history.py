"""Detecting two histories of which one is the other after a redaction. Merging them would restore the redacted text."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping

from clawmem.model.facts.fact import REDACTED
from clawmem.model.history.entry import REDACT, trailer_pattern
from clawmem.model.history.redaction import RECORD
from clawmem.vault.history.git_merges import HistoryDistance
from clawmem.vault.history.points import delete_refs
from clawmem.vault.vault import Vault

HERE, THERE = "here", "there"
_FORM = "%an <%ae> %at %ct%x00%s"


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
    printed = vault.git.run("log", f"--format={_FORM}", value, "--").decode(errors="replace")
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
    form = f"--format=%H %x01{_FORM}"
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
