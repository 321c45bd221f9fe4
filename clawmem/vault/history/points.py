"""Points in the history by plain git: what a name or a moment stands for. Starts no more than git itself."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from typing import NamedTuple

from clawmem.errors import AmbiguousId, InvalidInput, NotFound
from clawmem.model.language.dates import end_of, looks_like_a_date, moment_of, parse_state, stamp
from clawmem.vault.git.refs import common_dir_of
from clawmem.vault.vault import Vault

_SHORTEST = 4
_YEAR = re.compile(r"\d{4}")
_HEX = frozenset("0123456789abcdef")
_LOG_SHOWS = "`clawmem log` shows the commits there are."


class Revision(NamedTuple):
    """A commit that leads to HEAD; `moment` is the time asked for, the commit's own where a commit was named.

    Times are ISO 8601 in UTC.
    """

    commit: str
    time: str
    moment: str


def point_at(vault: Vault, text: str, now: datetime) -> Revision | None:
    """The last commit at or before a date, a day, month or year lasting to its end, or else the commit of that name.

    Four digits are a year, but begin the name of a commit where that year is still to come. None for a date before the
    first commit. Raises NotFound or AmbiguousId, and InvalidInput where the text would be a date and is not one.
    """
    try:
        moment = end_of(parse_state(_not_to_come(text, now), now))
    except InvalidInput as no_date:
        if looks_like_a_date(text) and find_commit(vault, text) is None:
            raise no_date from None
        commit = resolve_commit(vault, text.strip())
        time = commit_time(vault, commit)
        return Revision(commit, time, time)
    commit_then = last_commit_at(vault, moment)
    return Revision(commit_then, commit_time(vault, commit_then), min(moment, stamp(now))) if commit_then else None


def before_first_commit(vault: Vault, text: str) -> NotFound:
    """The error for a date before the first commit."""
    printed = vault.git.run("log", "--format=%ct", "HEAD", "--").decode().split()
    first = _stamped(min(map(int, printed)))
    if _is_shallow(vault):
        return NotFound(
            f"Nothing is known of {text}: this copy of the vault is shallow, its history begins at {first}.",
            "Fetch the rest with `git fetch --unshallow`, or name a later date.",
        )
    return NotFound(
        f"Nothing was in the vault yet at {text}: its first commit is of {first}.", "Name a later date, or a commit."
    )


def resolve_commit(vault: Vault, text: str) -> str:
    """The full name of the commit that a name, its unique start, a tag or `HEAD~2` stands for.

    Raises AmbiguousId where several begin so, NotFound where there is none or HEAD does not stand on it.
    """
    vault.head()  # raises where HEAD itself is the trouble
    name = find_commit(vault, text)
    if name is None:
        if len(matches := _beginning(vault, text)) > 1:
            raise AmbiguousId(text, matches)
        more = "This copy of the vault is shallow; `git fetch --unshallow` brings the rest of its history."
        hint = more if _is_shallow(vault) else _LOG_SHOWS
        raise NotFound(f"There is no commit '{text}' in the vault.", hint)
    if vault.git.try_run("merge-base", "--is-ancestor", name, "HEAD") is None:
        raise NotFound(f"The commit {name[:12]} is not part of this vault's history.", "`clawmem log` shows what is.")
    return name


def find_commit(vault: Vault, text: str) -> str | None:
    """The full name of the commit that `text` stands for, on whatever branch, or None."""
    if not text or text.startswith("-") or not text.isprintable():
        return None
    printed = vault.git.try_run("rev-parse", "--verify", "--quiet", f"{text}^{{commit}}")
    return printed.decode().strip() if printed else None


def last_commit_at(vault: Vault, moment: str) -> str | None:
    """The last commit of the main line at or before an ISO time, or None where all are younger."""
    printed = vault.git.run("rev-list", "-1", "--first-parent", f"--until={git_time(moment)}", "HEAD", "--")
    return printed.decode().strip() or None


def commit_time(vault: Vault, commit: str) -> str:
    """When a commit was made."""
    return _stamped(int(vault.git.run("log", "-1", "--format=%ct", commit, "--").decode()))


def git_time(moment: str) -> str:
    """An ISO time as seconds: of written dates git guesses some, and takes far ones for today."""
    return f"@{max(0, int(moment_of(moment).timestamp()))} +0000"


def _not_to_come(text: str, now: datetime) -> str:
    if _YEAR.fullmatch(given := text.strip()) and given > f"{now.year:04d}":
        raise InvalidInput(f"The year {given} is still to come.")
    return text


def _beginning(vault: Vault, text: str) -> list[str]:
    """The commits whose names begin so."""
    if len(text) < _SHORTEST or not set(text) <= _HEX:
        return []
    objects = vault.git.run("rev-parse", f"--disambiguate={text}")
    kinds = vault.git.run("cat-file", "--batch-check", stdin=objects).decode().splitlines()
    return sorted(line.split()[0] for line in kinds if line.split()[1] == "commit")


def _is_shallow(vault: Vault) -> bool:
    return (common_dir_of(vault.git_dir) / "shallow").exists()


def _stamped(seconds: int) -> str:
    return stamp(datetime.fromtimestamp(seconds, UTC))
