"""Commits by name or date, found with plain git."""

from __future__ import annotations

import re
from datetime import datetime
from typing import NamedTuple

from clawmem.errors import AmbiguousId, InvalidInput, NotFound
from clawmem.model.language.dates import end_of, looks_like_a_date, moment_of, parse_state, stamp, stamp_of_seconds
from clawmem.vault.git.refs import common_dir_of
from clawmem.vault.vault import Vault

_SHORTEST = 4
_YEAR = re.compile(r"\d{4}")
_HEX = frozenset("0123456789abcdef")
_LOG_SHOWS = "`clawmem log` lists the commits."


class Revision(NamedTuple):
    """A commit that leads to HEAD.

    `time` is that of the commit. `moment` is the time asked for, or that of the commit if a commit was named. Times are
    ISO 8601 in UTC.
    """

    commit: str
    time: str
    moment: str


def point_at(vault: Vault, text: str, now: datetime) -> Revision | None:
    """Return the last commit at or before a date, or else the commit with that name.

    A day, month or year includes its whole length. Four digits are a year, but the start of a commit name if that year
    is in the future. Return None for a date before the first commit.

    Raise NotFound or AmbiguousId, and InvalidInput if the text looks like a date and is not valid.
    """
    try:
        moment = end_of(parse_state(_without_future_year(text, now), now))
    except InvalidInput as no_date:
        if looks_like_a_date(text) and find_commit(vault, text) is None:
            raise no_date from None
        commit = resolve_commit(vault, text.strip())
        time = commit_time(vault, commit)
        return Revision(commit, time, time)
    last = last_commit_at(vault, moment)
    return Revision(last, commit_time(vault, last), min(moment, stamp(now))) if last else None


def before_first_commit(vault: Vault, text: str) -> NotFound:
    """Return the error for a date before the first commit."""
    printed = vault.git.run("log", "--format=%ct", "HEAD", "--").decode().split()
    first = stamp_of_seconds(min(map(int, printed)))
    if _is_shallow(vault):
        return NotFound(
            f"Nothing is known of {text}: this copy of the vault is shallow, its history starts at {first}.",
            "Fetch the rest with `git fetch --unshallow`, or name a later date.",
        )
    return NotFound(
        f"The vault was still empty at {text}: its first commit is from {first}.", "Name a later date, or a commit."
    )


def resolve_commit(vault: Vault, text: str) -> str:
    """Return the full name of the commit that a name, a unique prefix, a tag or `HEAD~2` refers to.

    Raise AmbiguousId if there are several, and NotFound if there is none or HEAD does not contain it.
    """
    vault.head()  # raises if HEAD itself is damaged
    name = find_commit(vault, text)
    if name is None:
        if len(matches := _with_prefix(vault, text)) > 1:
            raise AmbiguousId(text, matches)
        more = "This copy of the vault is shallow; `git fetch --unshallow` fetches the rest of its history."
        hint = more if _is_shallow(vault) else _LOG_SHOWS
        raise NotFound(f"There is no commit '{text}' in the vault.", hint)
    if vault.git.try_run("merge-base", "--is-ancestor", name, "HEAD") is None:
        raise NotFound(f"The commit {name[:12]} is not part of this vault's history.", "`clawmem log` shows what is.")
    return name


def find_commit(vault: Vault, text: str) -> str | None:
    """Return the full name of the commit that `text` refers to, on any branch, or None."""
    if not text or text.startswith("-") or not text.isprintable():
        return None
    printed = vault.git.try_run("rev-parse", "--verify", "--quiet", f"{text}^{{commit}}")
    return printed.decode().strip() if printed else None


def last_commit_at(vault: Vault, moment: str) -> str | None:
    """Return the last commit of the main line at or before an ISO time, or None."""
    printed = vault.git.run("rev-list", "-1", "--first-parent", f"--until={git_time(moment)}", "HEAD", "--")
    return printed.decode().strip() or None


def commit_time(vault: Vault, commit: str) -> str:
    """Return the time of a commit."""
    return stamp_of_seconds(int(vault.git.run("log", "-1", "--format=%ct", commit, "--").decode()))


def git_time(moment: str) -> str:
    """Return an ISO time as seconds, because git guesses some written dates and reads distant ones as today."""
    return f"@{max(0, int(moment_of(moment).timestamp()))} +0000"


def _without_future_year(text: str, now: datetime) -> str:
    if _YEAR.fullmatch(value := text.strip()) and value > f"{now.year:04d}":
        raise InvalidInput(f"The year {value} is in the future.")
    return text


def _with_prefix(vault: Vault, text: str) -> list[str]:
    """Return the commits whose names start with `text`."""
    if len(text) < _SHORTEST or not set(text) <= _HEX:
        return []
    objects = vault.git.run("rev-parse", f"--disambiguate={text}")
    kinds = vault.git.run("cat-file", "--batch-check", stdin=objects).decode().splitlines()
    return sorted(line.split()[0] for line in kinds if line.split()[1] == "commit")


def _is_shallow(vault: Vault) -> bool:
    return (common_dir_of(vault.git_dir) / "shallow").exists()
