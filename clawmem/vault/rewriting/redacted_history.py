"""Histories of which one is the other as it was before a redaction: met, they would bring back what was taken out."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping

from clawmem.model.history.entry import REDACT, trailer_pattern
from clawmem.model.history.redaction import MARK, RECORD
from clawmem.vault.history.git_merges import HistoryDistance
from clawmem.vault.vault import Vault

HERE, THERE = "here", "there"
_FORM = "%an <%ae> %at %ct%x00%s"


def redacted_side(vault: Vault, head: str, tip: str, between: HistoryDistance) -> str | None:
    """Where two histories are one before and after a redaction: whether that was made `here`, at `head`, or `there`;
    None where they are not. `between` is how far they are apart.

    A record of redactions can be taken out, their commits cannot. One that both sides have stands before all that was
    built on it, so the old form begins elsewhere: only then all of history is asked.
    """
    here = between.redacted or vault.read(RECORD) is not None
    here = here or (between.scattered and bool(redactions_in(vault, head)))
    there = between.news.redacted or not between.parting
    if not (here or there) or not is_rewritten_copy(vault, head, tip):
        return None
    return HERE if here else THERE


def redactions_in(vault: Vault, commit: str) -> list[str]:
    """The commits that tell of redactions in a history, newest first."""
    pattern = trailer_pattern("Clawmem-Op", REDACT)
    return vault.git.run("log", "--basic-regexp", f"--grep={pattern}", "--format=%H", commit, "--").decode().split()


def is_rewritten_copy(vault: Vault, head: str, tip: str) -> bool:
    """Whether what one commit would add to another's history stands there already, rewritten, or the other way round.

    Names of commits tell nothing, as a redaction gives new ones, and old ones are not kept: a secret could be guessed
    from them. People, times and subjects stay.
    """
    known = _commits(vault, head)
    return any(
        _alike(words, there)
        for made, subjects in _commits(vault, f"{head}..{tip}").items()
        for words in subjects
        for there in known.get(made, ())
    )


def _commits(vault: Vault, given: str) -> Mapping[str, set[str]]:
    printed = vault.git.run("log", f"--format={_FORM}", given, "--").decode(errors="replace")
    found: dict[str, set[str]] = defaultdict(set)
    for line in printed.splitlines():
        made, _, words = line.partition("\0")
        found[made].add(words)
    return found


def _alike(one: str, other: str) -> bool:
    return one == other or _fits(one, other) or _fits(other, one)


def _fits(redacted: str, words: str) -> bool:
    """Whether a subject is another one with some of it taken out."""
    begin, *between = redacted.split(MARK)
    if not between or not words.startswith(begin):
        return False
    *between, end = between
    place = len(begin)
    for piece in between:
        # The first place will do: what follows has the more room. A pattern would try all of them.
        found = words.find(piece, place)
        if found < 0:
            return False
        place = found + len(piece)
    return len(words) - len(end) >= place and words.endswith(end)


def is_redacted(vault: Vault, head: str | None) -> bool:
    """Whether something was redacted in the history of a commit."""
    return vault.read(RECORD) is not None or (head is not None and bool(redactions_in(vault, head)))


def unreachable_originals(vault: Vault, head: str) -> list[str]:
    """The commits that git still keeps beside the history of one, and that look like commits of it from before a
    redaction: of the same people and times, with the same subjects. Runs git over all objects."""
    told = vault.git.run("fsck", "--unreachable", "--no-reflogs", "--no-progress", "--connectivity-only").decode()
    rows = [line.split() for line in told.splitlines()]
    kept = [row[2] for row in rows if row[:2] == ["unreachable", "commit"]]
    kept += vault.git.run("rev-list", "--all", "--not", head).decode().split()
    if not kept:
        return []
    given = "".join(f"{name}\n" for name in dict.fromkeys(kept)).encode()
    form = f"--format=%H %x01{_FORM}"
    printed = vault.git.run("log", "--no-walk=unsorted", "--stdin", form, stdin=given).decode(errors="replace")
    known = _commits(vault, head)
    found = []
    for line in printed.splitlines():
        name, _, rest = line.partition(" \x01")
        made, _, words = rest.partition("\0")
        if any(_alike(words, other) for other in known.get(made, ())):
            found.append(name)
    return found


def discard_rejected(vault: Vault, ref: str, before: str | None) -> None:
    """Let go of a history that was fetched and not taken: the ref that git moved by itself goes back to where it was;
    where something was redacted here, the objects go, too, as they may hold it. The caller holds the writer lock."""
    vault.git.run("update-ref", "--no-deref", *((ref, before) if before else ("-d", ref)))
    (vault.git_dir / "FETCH_HEAD").unlink(missing_ok=True)
    if is_redacted(vault, vault.head().commit):
        if before:  # its reflog names what was fetched
            vault.git.run("reflog", "expire", "--expire=now", "--expire-unreachable=now", ref)
        _drop_unreachable(vault)


def discard_fetched(vault: Vault, ref: str, remote: str) -> None:
    """Let go of what was fetched just now: the refs, git's own note of it, and the objects that nothing else leads to.

    The caller holds the writer lock, so that no unfinished work of others is among them.
    """
    form = "--format=%(refname)"
    names = vault.git.run("for-each-ref", form, f"refs/remotes/{remote}/", ref).decode().split()
    vault.git.run("update-ref", "--stdin", stdin="".join(f"option no-deref\ndelete {one}\n" for one in names).encode())
    (vault.git_dir / "FETCH_HEAD").unlink(missing_ok=True)
    _drop_unreachable(vault)


def _drop_unreachable(vault: Vault) -> None:
    vault.git.run("-c", "pack.threads=1", "repack", "-a", "-d", "-q")
    vault.git.run("prune", "--expire=now")
