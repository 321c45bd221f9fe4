"""All errors that clawmem reports: each has a message, a hint and an exit code."""

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
    """A notice that an answer is incomplete; a command with such a notice exits as partly done."""

    __slots__ = ()


PERSON_RUNS = "A person runs the command in a terminal of their own, without --agent and CLAWMEM_AGENT."
"""The hint where an agent asked for what only a person may do."""


class ClawmemError(Exception):
    """An error with a message for people, a stable `code` for programs, and an exit code."""

    code = "refused"
    exit_code = REFUSED

    def __init__(self, message: str, hint: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint


class Refused(ClawmemError):
    """The request is valid but not allowed in this state."""


class NotPermitted(ClawmemError):
    """The agent for whom the command runs may not write there."""

    code = "not_permitted"


class NotFound(ClawmemError):
    """A named fact, entity, event, agent, setting or commit does not exist."""

    code = "not_found"


class PossiblyUnreadable(NotFound):
    """No readable file contains the named thing, but an unreadable one may."""

    code = "unreadable_file"
    exit_code = USAGE

    def __init__(self, what: str, path: str) -> None:
        super().__init__(
            f"No readable file contains {what}, and {path} cannot be read.",
            "`clawmem doctor` shows the problem, and the last commit with the file intact.",
        )


class AmbiguousId(ClawmemError):
    """A prefix matches more than one identifier."""

    code = "ambiguous_id"

    def __init__(
        self, prefix: str, matches: list[str], hint: str = "Give more characters of the id.", entity: str | None = None
    ) -> None:
        shown = ", ".join(matches[:5]) + (f" and {len(matches) - 5} more" if len(matches) > 5 else "")
        which = f"'{prefix}' matches {len(matches)} ids" if prefix else f"{len(matches)} are meant"
        is_entity = f"'{prefix}' is the entity {entity}, and this is about one fact."
        super().__init__(is_entity if entity else f"{which}: {shown}.", hint)
        self.matches = matches


class AlreadySuperseded(ClawmemError):
    """A superseded fact cannot be changed; its successor can."""

    code = "already_superseded"

    def __init__(self, fact_id: str, successor: str) -> None:
        super().__init__(
            f"{fact_id} was already superseded by {successor}.",
            f"Change {successor} instead, the current fact.",
        )


class SecretFound(ClawmemError):
    """A text contains a credential; nothing was written."""

    code = "secret"

    def __init__(self, rule: str, where: str) -> None:
        super().__init__(
            f"{where} contains what looks like a credential ({rule}); nothing was written.",
            "The history keeps everything: remove the secret, or set `secrets.action` to `redact`.",
        )
        self.rule = rule


class InvalidInput(ClawmemError):
    """An argument, an input line or a setting has an invalid form."""

    code = "invalid_input"
    exit_code = USAGE


class ExtensionMissing(ClawmemError):
    """A part of clawmem that is an extension is not installed here."""

    code = "extension_missing"

    def __init__(self, name: str) -> None:
        super().__init__(
            f"The extension `{name}` of clawmem is not installed here.",
            f"Install clawmem again: its folder is clawmem/extensions/{name}. The files of the vault are unchanged.",
        )


class ExtensionUnusable(ClawmemError):
    """An accepted extension of another distribution cannot be imported."""

    code = "extension_unusable"

    def __init__(self, name: str, why: str) -> None:
        super().__init__(
            f"The extension `{name}` cannot be used: {why}.",
            f"Repair or install it again, or run `clawmem config extension {name} --remove`.",
        )


class Unreadable(ClawmemError):
    """A vault file cannot be parsed; it was not changed."""

    code = "unreadable_file"
    exit_code = USAGE

    def __init__(self, path: str, line: int | None, problem: str) -> None:
        place = f"{path}:{line}" if line else path
        cure = f"`git checkout HEAD -- {path}` if it was committed; `clawmem doctor` lists all such files"
        if path.endswith("/items.json"):
            cure = "`clawmem doctor --fix`, which keeps what is in it; a heartbeat does so after an hour"
        super().__init__(
            f"{place} cannot be read: {problem}.",
            f"Repair the file by hand, or restore the last good version with {cure}.",
        )
        self.path = path
        self.line = line


def key_name(keys: tuple[str | int, ...]) -> str:
    """Return the keys that lead to a value as one name, such as `stages[0].role`."""
    return "".join(f"[{key}]" if isinstance(key, int) else f".{key}" for key in keys).removeprefix(".")


class UnreadableKey(Unreadable):
    """A key of a vault file has a wrong value. `keys` leads to it, with numbers for places in lists."""

    def __init__(self, path: str, keys: tuple[str | int, ...], problem: str, line: int | None = None) -> None:
        super().__init__(path, line, f"the key '{key_name(keys)}' {problem}" if keys else f"it {problem}")
        self.keys = keys
        self.problem = problem


class NoVault(ClawmemError):
    """There is no vault at the given place, or none was found."""

    code = "no_vault"
    exit_code = NO_VAULT


class Locked(ClawmemError):
    """Another writer held the lock for too long."""

    code = "locked"
    exit_code = LOCKED


class ChangedMeanwhile(Locked):
    """The branch moved, or a file was edited, while a command worked with what it had read. Nothing was written."""


class NeedsDecision(ClawmemError):
    """Two versions are in conflict, and a person must decide."""

    code = "conflict"
    exit_code = CONFLICT


class ConflictMarkers(NeedsDecision):
    """git left conflict markers in a vault file; it was not changed."""

    def __init__(self, path: str, line: int) -> None:
        super().__init__(
            f"{path}:{line} still has the markers of a merge conflict.",
            f"Keep the correct lines, delete the markers, and run the command again; {path} was not changed.",
        )
        self.path = path


class HistoryRewritten(NeedsDecision):
    """The history here or in the other repository was rewritten, so that they no longer agree."""

    code = "rewritten"


class DamagedBackup(ClawmemError):
    """A backup does not match its manifest, or is not a backup."""

    code = "damaged_backup"

    def __init__(self, why: str) -> None:
        super().__init__(
            f"The backup is damaged or is not a backup: {why}.",
            "Nothing was changed: use another copy or an older one.",
        )


class BudgetSpent(ClawmemError):
    """A model call would exceed a limit of money, time or facts; the rest is read later."""

    code = "budget"
    exit_code = BUDGET


class ModelFailed(ClawmemError):
    """The model cannot be reached, refuses, is too slow, or gives no usable answer."""

    code = "model"
    exit_code = MODEL


class StorageFailed(ClawmemError):
    """The disk, the file system or git failed; the vault is unchanged."""

    code = "storage"


class GitFailed(StorageFailed):
    """A git command failed unexpectedly."""

    code = "git"


class RemoteFailed(ClawmemError):
    """Another repository cannot be reached or rejects the request; nothing was changed there."""

    code = "remote"


class OrganisationUnavailable(RemoteFailed):
    """The vault that is the organisation cannot be read or written, or is too slow; nothing was changed there."""

    code = "organisation"


class HubUnavailable(RemoteFailed):
    """The hub cannot be reached, is too slow, or cannot do what was asked of it now."""

    code = "hub"


class HubVersion(HubUnavailable):
    """The schema of the hub and this program do not fit each other."""

    code = "hub_version"
