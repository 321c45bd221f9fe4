"""Histories of which one is the other as it was before a redaction: met, they would bring back what was taken out."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping

from clawmem.model.entry import REDACT, trailer_pattern
from clawmem.model.redaction import MARK, RECORD
from clawmem.vault.merges import Apart
from clawmem.vault.vault import Vault

HERE, THERE = "here", "there"
_FORM = "%an <%ae> %at %ct%x00%s"


def redacted_side(vault: Vault, head: str, tip: str, between: Apart) -> str | None:
    """Where two histories are one before and after a redaction: whether that was made `here`, at `head`, or `there`;
    None where they are not. `between` is how far they are apart.

    A record of redactions can be taken out, their commits cannot. One that both sides have stands before all that was
    built on it, so the old form begins elsewhere: only then all of history is asked.
    """
    here = between.redacted or vault.read(RECORD) is not None
    here = here or (between.scattered and bool(redactions_in(vault, head)))
    there = between.news.redacted or not between.parting
    if not (here or there) or not is_other_form(vault, head, tip):
        return None
    return HERE if here else THERE


def redactions_in(vault: Vault, commit: str) -> list[str]:
    """The commits that tell of redactions in a history, newest first."""
    pattern = trailer_pattern("Clawmem-Op", REDACT)
    return vault.git.run("log", "--basic-regexp", f"--grep={pattern}", "--format=%H", commit, "--").decode().split()


def is_other_form(vault: Vault, head: str, tip: str) -> bool:
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


def forget_fetched(vault: Vault, ref: str, remote: str) -> None:
    """Let go of what was fetched just now: the refs, git's own note of it, and the objects that nothing else leads to.

    The caller holds the writer lock, so that no unfinished work of others is among them.
    """
    form = "--format=%(refname)"
    names = vault.git.run("for-each-ref", form, f"refs/remotes/{remote}/", ref).decode().split()
    vault.git.run("update-ref", "--stdin", given="".join(f"option no-deref\ndelete {one}\n" for one in names).encode())
    (vault.git_dir / "FETCH_HEAD").unlink(missing_ok=True)
    vault.git.run("-c", "pack.threads=1", "repack", "-a", "-d", "-q")
    vault.git.run("prune", "--expire=now")
