"""The runtime: finds the vault, and is the only reader of environment, home, clock and randomness."""

import os
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from clawmem.errors import ClawmemError, InvalidInput, NoVault, Refused
from clawmem.model.facts.ids import Entropy
from clawmem.model.language.dates import moment_of
from clawmem.model.language.text import check_visible
from clawmem.model.records.caller import Caller
from clawmem.model.records.entity import check_agent
from clawmem.model.records.layout import SETTINGS
from clawmem.vault.git.refs import git_dir_of
from clawmem.vault.vault import Vault

if TYPE_CHECKING:
    from clawmem.llm.choice import Model

DEFAULT_FOLDER = ".clawmem"
_AHEAD: dict[Path, Vault] = {}


class VaultLocation(NamedTuple):
    """A vault's place and the rule that chose it."""

    root: Path
    rule: str


class Runtime:
    """What one run of clawmem takes from the machine around it."""

    def __init__(
        self,
        environment: Mapping[str, str],
        working_folder: Path,
        vault: str | None = None,
        agent: str | None = None,
    ) -> None:
        self.environment = environment
        self.working_folder = working_folder
        self._vault = vault
        self._agent = agent
        self._opened: Vault | None = None

    def found(self) -> VaultLocation:
        """The vault by option, environment, nearest `clawmem.yaml` upwards, or the user's default; else NoVault."""
        for text, rule in ((self._vault, "--vault"), (self.environment.get("CLAWMEM_VAULT"), "CLAWMEM_VAULT")):
            if text is not None:
                return self._named(_filled(text, rule, "the vault's folder"), rule)
        for folder in (self.working_folder, *self.working_folder.parents):
            if (folder / SETTINGS).is_file():
                return VaultLocation(folder, f"the nearest {SETTINGS} upwards")
            # Without its settings it is still the vault that was meant, and no other may take its place.
            self._refuse_bare(folder, "the nearest vault upwards")
        default = self.home() / DEFAULT_FOLDER
        if (default / SETTINGS).is_file():
            return VaultLocation(default, "the user's default")
        raise NoVault(
            f"There is no vault here: no {SETTINGS} in {self.working_folder} or above it, and none in {default}.",
            "Make one with `clawmem init PATH`, or name one with --vault or CLAWMEM_VAULT.",
        )

    def vault(self) -> Vault:
        """The open vault; NoVault where the folder found is not one."""
        if self._opened is None:
            root = self.found().root
            self._opened = _AHEAD.pop(root, None) or Vault(root, self.environment)
        return self._opened

    def asides(self) -> tuple[str, ...]:
        """What is wrong with the settings of the vault, where they were read."""
        settings = None if self._opened is None else vars(self._opened).get("settings")
        if settings is None or not (settings.wrong or settings.unread):
            return ()
        from clawmem.model.settings.invalid import invalid_messages  # few vaults have anything to tell

        return tuple(invalid_messages(settings))

    def caller(self) -> Caller:
        """Who asks, and when."""
        agent, rule = self._agent, "--agent"
        if agent is None:
            agent, rule = self.environment.get("CLAWMEM_AGENT"), "CLAWMEM_AGENT"
        session = self.environment.get("CLAWMEM_SESSION") or None
        check_visible(session or "", "session in CLAWMEM_SESSION")
        return Caller(
            now=self.now(),
            entropy=self.entropy(),
            agent=None if agent is None else check_agent(_filled(agent, rule, "the agent's id")),
            session=session,
        )

    def model(self) -> "Model | None":
        """The model that reads events, None where the vault's settings name none."""
        from clawmem.llm.choice import choose_model  # only the heartbeat asks

        return choose_model(self.vault().settings, self.environment)

    def now(self) -> datetime:
        """The time, or what CLAWMEM_NOW pins it to."""
        pinned = self.environment.get("CLAWMEM_NOW")
        if not pinned:
            return datetime.now(UTC)
        try:
            return moment_of(pinned)
        except ValueError:
            raise InvalidInput(
                f"CLAWMEM_NOW is '{pinned}', which is not a time.", "Write it like 2026-11-21T09:30:00Z."
            ) from None

    def entropy(self) -> Entropy:
        """Random bytes from the system, or a fixed sequence where CLAWMEM_SEED pins it."""
        seed = self.environment.get("CLAWMEM_SEED")
        if not seed:
            return os.urandom
        import random  # only tests pin ids

        return random.Random(seed).randbytes

    def home(self) -> Path:
        """The user's home folder."""
        named = self.environment.get("HOME")
        return Path(named) if named else Path.home()

    def _named(self, text: str, rule: str) -> VaultLocation:
        root = (self.working_folder / Path(text).expanduser()).resolve()
        if not root.is_dir():
            raise NoVault(f"There is no folder {root} ({rule}).", f"Make a vault there with `clawmem init {text}`.")
        if not (root / SETTINGS).is_file():
            self._refuse_bare(root, rule)
            what = "has no clawmem.yaml" if git_dir_of(root) else "is neither a vault nor a git repository"
            raise NoVault(f"{root} {what} ({rule}).", f"Make a vault there with `clawmem init {text}`.")
        return VaultLocation(root, rule)

    def _refuse_bare(self, folder: Path, rule: str) -> None:
        """Raise NoVault where the folder is a vault that has lost its `clawmem.yaml`, or a clone without any file."""
        if (folder / ".git" / "clawmem").is_dir():
            raise NoVault(
                f"The vault {folder} has lost its {SETTINGS} ({rule}).",
                f"Bring it back with `git -C {folder} checkout HEAD -- {SETTINGS}`; where `clawmem init` was"
                " interrupted, run it again.",
            )
        if git_dir_of(folder) is None:
            return
        from clawmem.vault.exchange.unborn_clone import unborn_clone  # only in a repository that is no vault

        branch = unborn_clone(folder, self.environment)
        if branch is not None:
            raise NoVault(
                f"{folder} is a clone of a vault, and git checked nothing out ({rule}): HEAD of what it was cloned from"
                " names no branch that is there.",
                f"Check it out: `git -C {folder} switch {branch}`.",
            )


def from_process(vault: str | None = None, agent: str | None = None) -> Runtime:
    """The runtime of this process; Refused where its working folder is gone."""
    try:
        folder = os.getcwd()  # noqa: PTH109 - Path.cwd costs more
    except FileNotFoundError:
        raise Refused("The folder that this runs in does not exist any more.", "Change to one that does.") from None
    return Runtime(os.environ, Path(folder), vault, agent)


def _filled(text: str, rule: str, what: str) -> str:
    """The text, which may not be empty: a script whose variable is not set would write into another vault, or as
    another."""
    if not text.strip():
        raise InvalidInput(f"{rule} is empty.", f"Give it {what}, or leave it out altogether.")
    return text


def run_ahead(arguments: Sequence[str]) -> None:
    """Let git look at the vault that a command will write to, before the command line is even imported.

    Anything that stands in the way is left to the command itself, which meets and reports it.
    """
    from clawmem.vault.edits.early_scan import start_early

    try:
        runtime = from_process(_option(arguments, "--vault"))
        vault = runtime.vault()
        vault.early = start_early(vault)
    except (ClawmemError, OSError):
        return
    _AHEAD[vault.root] = vault


def _option(arguments: Sequence[str], name: str) -> str | None:
    for place, word in enumerate(arguments):
        if word.startswith(f"{name}="):
            return word.partition("=")[2]
        if word == name and place + 1 < len(arguments):
            return arguments[place + 1]
    return None
