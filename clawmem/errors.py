"""Every failure clawmem reports on purpose: one sentence, one hint, one exit code."""

from __future__ import annotations

DONE = 0
REFUSED = 1
USAGE = 2
BUG = 3
PARTIAL = 4
NO_VAULT = 10
LOCKED = 11
CONFLICT = 12
BUDGET = 13
MODEL = 14
INTERRUPTED = 130


class IncompleteAnswer(str):
    """A sentence about what an answer lacks: a command that gives one among its notices was done in part."""

    __slots__ = ()


class ClawmemError(Exception):
    """A failure with a sentence for people, a stable `code` for programs, and an exit code."""

    code = "refused"
    exit_code = REFUSED

    def __init__(self, message: str, hint: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint


class Refused(ClawmemError):
    """The request was understood and is not allowed in this state."""


class NotPermitted(ClawmemError):
    """The agent on whose behalf the command runs may not write there."""

    code = "not_permitted"


class NotFound(ClawmemError):
    """A named fact, entity, event, agent, setting or commit does not exist."""

    code = "not_found"


class PossiblyUnreadable(NotFound):
    """What was named is in no file that can be read, and may stand in one that cannot."""

    code = "unreadable_file"
    exit_code = USAGE

    def __init__(self, what: str, path: str) -> None:
        super().__init__(
            f"No file that can be read has {what}, and {path} cannot be read.",
            "`clawmem doctor` says what is wrong there, and which commit has the file whole.",
        )


class AmbiguousId(ClawmemError):
    """A prefix matches more than one identifier."""

    code = "ambiguous_id"

    def __init__(self, prefix: str, matches: list[str]) -> None:
        shown = ", ".join(matches[:5]) + (f" and {len(matches) - 5} more" if len(matches) > 5 else "")
        super().__init__(f"'{prefix}' matches {len(matches)} ids: {shown}.", "Give more of the id.")
        self.matches = matches


class AlreadySuperseded(ClawmemError):
    """A fact that already has a successor cannot be changed again; its successor can."""

    code = "already_superseded"

    def __init__(self, fact_id: str, successor: str) -> None:
        super().__init__(
            f"{fact_id} was already superseded by {successor}.",
            f"Change {successor}, the fact that stands now.",
        )


class SecretFound(ClawmemError):
    """Text holds a credential; nothing of it was written."""

    code = "secret"

    def __init__(self, rule: str, where: str) -> None:
        super().__init__(
            f"{where} holds what looks like a credential ({rule}); nothing was written.",
            "History is forever: remove the secret, or set `secrets.action` to `redact`.",
        )
        self.rule = rule


class InvalidInput(ClawmemError):
    """An argument, a line of input or a setting does not have the form it needs."""

    code = "invalid_input"
    exit_code = USAGE


class Unreadable(ClawmemError):
    """A vault file does not parse; it was left exactly as it is."""

    code = "unreadable_file"
    exit_code = USAGE

    def __init__(self, path: str, line: int | None, problem: str) -> None:
        place = f"{path}:{line}" if line else path
        super().__init__(
            f"{place} cannot be read: {problem}.",
            f"Repair the file by hand, or bring back the last good one with "
            f"`git checkout HEAD -- {path}`; `clawmem doctor` lists every such place.",
        )
        self.path = path
        self.line = line


class NoVault(ClawmemError):
    """No vault was found where one was named or searched."""

    code = "no_vault"
    exit_code = NO_VAULT


class Locked(ClawmemError):
    """Another writer held the vault longer than this one may wait."""

    code = "locked"
    exit_code = LOCKED


class NeedsDecision(ClawmemError):
    """Two versions stand against each other and a person must decide."""

    code = "conflict"
    exit_code = CONFLICT


class ConflictMarkers(NeedsDecision):
    """git left the marks of a conflict in a vault file; it was left exactly as it is."""

    def __init__(self, path: str, line: int) -> None:
        super().__init__(
            f"{path}:{line} still has the marks of a merge conflict.",
            f"Keep the lines that are right, delete the marks, then run the command again; {path} was not touched.",
        )
        self.path = path


class HistoryRewritten(NeedsDecision):
    """Another repository holds the same memory as it was before its history, or the one here, was rewritten."""

    code = "rewritten"


class DamagedBackup(ClawmemError):
    """A backup is not what its manifest says, or is none at all."""

    code = "damaged_backup"

    def __init__(self, why: str) -> None:
        super().__init__(
            f"The backup is damaged, or is none: {why}.", "Nothing was changed: use another copy, or an older one."
        )


class BudgetSpent(ClawmemError):
    """A limit of money, time or facts was reached before a call to a model; what was not read waits."""

    code = "budget"
    exit_code = BUDGET


class ModelFailed(ClawmemError):
    """The model cannot be reached, refuses, is too slow, or gives no answer that can be used."""

    code = "model"
    exit_code = MODEL


class StorageFailed(ClawmemError):
    """The disk, the file system or git refused; the vault is as it was before."""

    code = "storage"


class GitFailed(StorageFailed):
    """A git command failed where it should not have."""

    code = "git"


class RemoteFailed(ClawmemError):
    """Another repository cannot be reached, or does not take or give what is asked of it; nothing was changed there."""

    code = "remote"
