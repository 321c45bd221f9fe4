"""The runtime: it finds the vault and is the only code that reads environment, home folder, clock and randomness."""

import os
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from clawmem.errors import InvalidInput, NoVault, Refused
from clawmem.model.facts.fact import Entropy
from clawmem.model.facts.reach import canonical_project
from clawmem.model.language.dates import moment_of, stamp
from clawmem.model.language.text import check_visible
from clawmem.model.named_tuple import NamedTuple
from clawmem.model.records.caller import NO_AGENTS, Caller, Viewer, agent_shell
from clawmem.model.records.entity import check_agent
from clawmem.model.records.layout import SETTINGS
from clawmem.vault.git.refs import git_dir_of
from clawmem.vault.vault import Vault

if TYPE_CHECKING:
    from clawmem.llm.choice import Model

DEFAULT_FOLDER = ".clawmem"
_OF_OTHERS = "is a vault that was not made or accepted on this machine"
_ACCEPT = "A person accepts it with `clawmem config trust`."


class VaultLocation(NamedTuple):
    """The root folder of a vault and the rule that selected it, in words."""

    root: Path
    rule: str


class Runtime:
    """The environment of one run: variables, working folder, and the `--vault` and `--agent` options."""

    def __init__(
        self,
        environment: Mapping[str, str],
        working_folder: Path,
        vault: str | None = None,
        agent: str | None = None,
        person: bool = False,
        own: bool = False,
        viewer: str | None = None,
    ) -> None:
        """`own` says that the vault is one that this program made for itself, and `viewer` for whom it is read."""
        self._given = environment
        self.working_folder = working_folder
        self._vault = vault
        self._agent = agent
        self._person = person
        self._own = own
        self.viewer = viewer
        self.names_agent = agent is not None
        self._opened: Vault | None = None
        self._passed_over: Path | None = None
        self.takes_in = False

    @cached_property
    def environment(self) -> Mapping[str, str]:
        """The variables; for an agent without an XDG_CONFIG_HOME that lies in a repository or in the working folder."""
        return self._given if self._planted is None else {**self._given, "XDG_CONFIG_HOME": ""}

    @cached_property
    def _planted(self) -> Path | None:
        """The configuration folder that an agent does not use."""
        named = self._given.get("XDG_CONFIG_HOME", "")
        by_agent = self._agent is not None or "CLAWMEM_AGENT" in self._given or agent_shell(self._given) is not None
        if self._person or not by_agent or not os.path.isabs(named):  # noqa: PTH117 - as `user_folder` reads it
            return None
        folder, home = Path(named).resolve(), self.home().resolve()
        around = {folder, *folder.parents} - {home, *home.parents}
        return folder if any(path == self.working_folder or git_dir_of(path) for path in around) else None

    def renewed(self, agent: str) -> "Runtime":
        """Return the same environment with nothing opened yet, for `agent` if none is named otherwise."""
        named = self._agent if self._agent is not None else self.environment.get("CLAWMEM_AGENT", agent)
        return self._copy(agent=named, person=False)

    def for_agent(self, agent: str) -> "Runtime":
        """Return the same environment with nothing opened yet, for the agent that an option of the verb names."""
        return self._copy(agent=agent, person=False)

    def nearest(self) -> "Runtime":
        """Return the same environment for a command that `setup` wired: the vault that the working folder is in has
        precedence over --vault if it was made or accepted on this machine."""
        found = (upward for upward in self._upwards() if (upward / SETTINGS).is_file() and self._is_own(upward))
        own = next(found, None) if self._vault is not None else None
        return self if own is None else self._copy(vault=str(own))

    def at(self, folder: Path) -> "Runtime":
        """Return the same environment in another folder."""
        return self._copy(working_folder=folder)

    def for_clients(self) -> "Runtime":
        """Return the same environment in the vault's own folder, without a session or an agent of this shell: a server
        names the agent of each client."""
        root, left_out = self.locate().root, ("CLAWMEM_SESSION", "CLAWMEM_AGENT")
        environment = {key: value for key, value in self._given.items() if key not in left_out}
        return self._copy(environment=environment, vault=str(root), working_folder=root)

    def of_person(self) -> "Runtime":
        """Return the same environment for a person who said that they are one."""
        return self._copy(agent=None, person=True)

    def _copy(self, **changed: Any) -> "Runtime":
        known: dict[str, Any] = {
            "environment": self._given, "working_folder": self.working_folder, "vault": self._vault,
            "agent": self._agent, "person": self._person, "own": self._own, "viewer": self.viewer,
        }  # fmt: skip
        return Runtime(**known | changed)

    def locate(self) -> VaultLocation:
        """Return the location of the vault.

        The order is: `--vault`, CLAWMEM_VAULT, the nearest `clawmem.yaml` in the working folder or above, `~/.clawmem`.
        For an agent, and for a command that `takes_in` what others say, one that nobody made or accepted on this
        machine is passed over. Raise NoVault if there is none, or if it is that of --vault.
        """
        own_only = self.takes_in or self.agent() is not None
        for text, rule in ((self._vault, "--vault"), (self.environment.get("CLAWMEM_VAULT"), "CLAWMEM_VAULT")):
            if text is None:
                continue
            place = self._location(_not_empty(text, rule, "the vault's folder"), rule)
            if not own_only or self._is_own(place.root):
                return place
            self._passed_over = place.root
            if rule == "--vault":
                raise self._no_own()
            break
        for folder in self._upwards():
            if (folder / SETTINGS).is_file():
                if not own_only or self._is_own(folder):
                    return VaultLocation(folder, f"the nearest {SETTINGS} upwards")
                self._passed_over = self._passed_over or folder
            elif not own_only or self._is_own(folder):
                # A vault that lost its settings is still meant: do not fall through to another vault.
                self._refuse_incomplete(folder, "the nearest vault upwards")
        default = self.default_vault_folder()
        if (default / SETTINGS).is_file():
            return VaultLocation(default, "the user's default")
        if self._passed_over:
            raise self._no_own()
        raise NoVault(
            f"There is no vault here: no {SETTINGS} in {self.working_folder} or above it, and none in {default}.",
            f"Create one in {default}: `clawmem setup claude-code` (or codex, ...) wires an agent, too, and"
            " `clawmem init` none. Or name one with --vault or CLAWMEM_VAULT.",
        )

    def new_vault_folder(self, path: str | None) -> Path:
        """Return the folder for a new vault: `path` or `--vault`, else CLAWMEM_VAULT, else `~/.clawmem`, where `locate`
        then finds it. Raise InvalidInput if `path` and `--vault` are both given."""
        if path is not None and self._vault is not None:
            raise InvalidInput("The folder is given twice, as PATH and with --vault.", "Use one of them.")
        named = ((path, "PATH"), (self._vault, "--vault"), (self.environment.get("CLAWMEM_VAULT"), "CLAWMEM_VAULT"))
        for text, rule in named:
            if text is not None:
                return self.resolved(_not_empty(text, rule, "the vault's folder"))
        return self.default_vault_folder()

    def is_found_anywhere(self, root: Path) -> bool:
        """Return whether a command in a folder without a vault uses this one, without an option."""
        named = self.environment.get("CLAWMEM_VAULT")
        return root == (self.default_vault_folder() if named is None else self.resolved(named))

    def vault(self) -> Vault:
        """Return the open vault. Raise NoVault if there is none."""
        if self._opened is None:
            root, rule = self.locate()
            self._opened = Vault(root, self.environment)
            self._opened.is_foreign = not self._is_own(root)
            self._opened.is_chosen = rule == "--vault"
            self._opened.viewer = self._viewer_of_vault()
        return self._opened

    def _viewer_of_vault(self) -> Viewer | None:
        """Return for whom the vault is read; None for a person who names nobody."""
        rules = ((self.viewer, "--viewer"), (self.environment.get("CLAWMEM_VIEWER"), "CLAWMEM_VIEWER"))
        names = tuple(_not_empty(text, rule, "the viewer's name") for text, rule in rules if text is not None)
        agent = self.agent()
        return Viewer(names, agent, lambda: stamp(self.now()), self._agent_of_shell()) if names or agent else None

    def notices(self) -> tuple[str, ...]:
        """Return notices about a vault of somebody else in the working folder, and about invalid settings if the
        settings were read in this run."""
        found = [f"{self._passed_over} {_OF_OTHERS}, so it was not used. {_ACCEPT}"] if self._passed_over else []
        if self._planted is not None:
            found.append(f"XDG_CONFIG_HOME is {self._planted}, which a repository can bring, so it was not used.")
        if self._opened is None:
            return tuple(found)
        if self._opened.is_foreign:
            found.append(f"{self._opened.root} {_OF_OTHERS}: what it says is another's word. {_ACCEPT}")
        settings = vars(self._opened).get("settings")
        if settings is not None and (settings.wrong or settings.unread):
            from clawmem.model.settings.local import invalid_messages

            found += invalid_messages(settings)
        return tuple(found)

    def caller(self) -> Caller:
        """Return the caller: agent, session, time and source of randomness."""
        session = self.environment.get("CLAWMEM_SESSION") or None
        check_visible(session or "", "session in CLAWMEM_SESSION")
        return Caller(
            now=self.now(),
            entropy=self.entropy(),
            agent=self.agent(),
            session=session,
            shell=self._agent_of_shell(),
        )

    def agent(self) -> str | None:
        """Return the id of the agent for whom this run is, or None for a person: who is named by --agent, else by
        CLAWMEM_AGENT, else the agent whose shell this is."""
        agent, rule = self._agent, "--agent"
        if agent is None and not self._person:
            agent, rule = self.environment.get("CLAWMEM_AGENT"), "CLAWMEM_AGENT"
            if agent is None:
                shell = agent_shell(self.environment)
                return shell[1] if shell else None
        if agent in NO_AGENTS:
            raise InvalidInput(f"'{agent}' does not name an agent.", f"Give the agent in {rule} a name of its own.")
        return None if agent is None else check_agent(_not_empty(agent, rule, "the agent's id"))

    def _agent_of_shell(self) -> str | None:
        return None if self._person else (agent_shell(self.environment) or (None, None))[1]

    def shell(self) -> tuple[str, str] | None:
        """Return the variable and the agent of the agent's shell in which a person may answer; None if there is none,
        or if --agent says who runs the command."""
        return agent_shell(self.environment) if self._agent is None and not self._person else None

    def check_verb(self, verb: str) -> None:
        """Raise NotPermitted if this run is for an agent that may not use a verb, or for a viewer to whom the verb
        would show too much. A person may use each."""
        agent = self.agent()
        if agent is None and self.viewer is None and "CLAWMEM_VIEWER" not in self.environment:
            return
        try:
            vault = self.vault()
        except NoVault:
            return  # without a vault there is nothing to protect, and the verb says what is missing
        from clawmem.memory.permission import check_verb, check_viewer

        if agent is not None:
            check_verb(vault, agent, verb)
        check_viewer(vault, verb)

    def workflow(self, named: str | None = None) -> str | None:
        """Return the workflow: the named one, else CLAWMEM_WORKFLOW, else None. Raise InvalidInput if it is no id."""
        text, rule = named, "--workflow"
        if text is None:
            text, rule = self.environment.get("CLAWMEM_WORKFLOW") or None, "CLAWMEM_WORKFLOW"
        if text is None:
            return None
        from clawmem.model.records.task import check_workflow  # few calls name one

        return check_workflow(_not_empty(text, rule, "the workflow's id"))

    def project(self, named: str | None = None) -> str | None:
        """Return the project: the named one, or that of a named folder, else CLAWMEM_PROJECT, else that of the working
        folder's repository."""
        text = named if named is not None else self.environment.get("CLAWMEM_PROJECT") or None
        if text is None:
            return self.repository_project()
        check_visible(_not_empty(text, "--project", "the project"), "project")
        folder = self.working_folder / Path(text).expanduser() if text[0] in "./~" else None
        return (self.repository_project(folder) if folder and folder.is_dir() else None) or canonical_project(text)

    def repository_project(self, folder: Path | None = None) -> str | None:
        """Return the project of the repository that a folder, by default the working folder, belongs to, or None."""
        from clawmem.vault.git.folder import project_of

        return project_of(folder or self.working_folder, self.vault().root, self.home())

    def joined_projects(self, project: str | None) -> tuple[str, ...]:
        """Return the other names of a project, by the setting `projects.joined`; of one that has a page, those of the
        page."""
        text = self.vault().settings.words("projects.joined") if project else ""
        pairs = [set(map(canonical_project, pair.split(" = "))) for pair in text.split(", ") if pair]
        names = {project or ""}
        if project and "/" not in project:
            from clawmem.memory.entities.places import names_of_project  # a repository has an address or a folder

            names |= names_of_project(self.vault(), project)
        while more := set().union(*(pair for pair in pairs if pair & names)) - names:
            names |= more
        return tuple(sorted(names - {project or ""}))

    def names_scope(self) -> bool:
        """Return whether the environment names a workflow or a project."""
        return bool(self.environment.get("CLAWMEM_WORKFLOW") or self.environment.get("CLAWMEM_PROJECT"))

    def model(self, task: str = "extract", name: str | None = None) -> "Model | None":
        """Return the model of a task from the vault's settings, or None if they name none. A `name` replaces it.

        Raise InvalidInput if its limits or its command are invalid, and NotPermitted if an agent names a model.
        """
        from clawmem.llm.choice import choose_model  # only some verbs use a model
        from clawmem.vault.state.spending import UseMeter

        vault = self.vault()
        if name:
            from clawmem.memory.health.configure import check_person

            check_person(self.caller(), "The model of a run")
        model = choose_model(vault.settings, self.environment, task, name)
        if model is None:
            return None
        caller = self.caller()
        meter = UseMeter(vault, stamp(caller.now)[:10])
        model = model._replace(meter=meter)
        if caller.agent is None:
            return model
        from clawmem.vault.state.spending import AgentPurse

        most = float(vault.settings.agent_value(caller.agent, "cents"))
        return model._replace(purse=AgentPurse(vault, caller.agent, stamp(caller.now)[:10], most))

    def now(self) -> datetime:
        """Return the current time, or the time in CLAWMEM_NOW. Raise InvalidInput if that is not a time."""
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
        """Return a source of random bytes: the system, or a fixed sequence if CLAWMEM_SEED is set."""
        seed = self.environment.get("CLAWMEM_SEED")
        if not seed:
            return os.urandom
        import random  # only tests set CLAWMEM_SEED

        return random.Random(seed).randbytes

    def home(self) -> Path:
        """Return the user's home folder."""
        named = self._given.get("HOME")
        return Path(named) if named else Path.home()

    def _upwards(self) -> tuple[Path, ...]:
        return (self.working_folder, *self.working_folder.parents)

    def _is_own(self, folder: Path) -> bool:
        """Return whether a folder with a vault is the user's: the default one, or made or accepted on this machine."""
        from clawmem.vault.git.acceptance import is_own_vault  # only where the working folder is in a vault

        return self._own or folder == self.default_vault_folder() or is_own_vault(folder, self.environment)

    def _no_own(self) -> NoVault:
        return NoVault(
            f"The vault {self._passed_over} was not made or accepted on this machine, so no agent uses it.",
            "A person accepts it with `clawmem config trust` in that folder.",
        )

    def default_vault_folder(self) -> Path:
        """Return the folder of a vault that every command finds from any folder."""
        return self.home() / DEFAULT_FOLDER

    def resolved(self, text: str) -> Path:
        """Return the absolute path of a path that a person wrote."""
        return (self.working_folder / Path(text).expanduser()).resolve()

    def _location(self, text: str, rule: str) -> VaultLocation:
        root = self.resolved(text)
        if not root.is_dir():
            raise NoVault(f"There is no folder {root} ({rule}).", f"Create a vault there with `clawmem init {text}`.")
        if not (root / SETTINGS).is_file():
            self._refuse_incomplete(root, rule)
            what = "has no clawmem.yaml" if git_dir_of(root) else "is neither a vault nor a git repository"
            raise NoVault(f"{root} {what} ({rule}).", f"Create a vault there with `clawmem init {text}`.")
        return VaultLocation(root, rule)

    def _refuse_incomplete(self, folder: Path, rule: str) -> None:
        """Raise NoVault if the folder is a vault without `clawmem.yaml`."""
        if (folder / ".git" / "clawmem").is_dir():
            raise NoVault(
                f"The vault {folder} has lost its {SETTINGS} ({rule}).",
                f"Restore it with `git -C {folder} checkout HEAD -- {SETTINGS}`. If `clawmem init` was interrupted,"
                " run it again.",
            )


def from_process(vault: str | None = None, agent: str | None = None, viewer: str | None = None) -> Runtime:
    """Return the runtime of this process. Raise Refused if its working folder no longer exists."""
    try:
        folder = os.getcwd()  # noqa: PTH109 - Path.cwd costs more
    except FileNotFoundError:
        raise Refused("The working folder no longer exists.", "Change to a folder that exists.") from None
    return Runtime(os.environ, Path(folder), vault, agent, viewer=viewer)


def _not_empty(text: str, rule: str, what: str) -> str:
    """Return the text. Raise InvalidInput if it is empty: an unset variable in a script must not select the default."""
    if not text.strip():
        raise InvalidInput(f"{rule} is empty.", f"Set it to {what}, or leave it out.")
    return text


def runtime_of(arguments: Sequence[str]) -> Runtime:
    """Return the runtime of this process with the vault that its arguments name."""
    return from_process(*(_option(arguments, name) for name in ("--vault", "--agent", "--viewer")))


def _option(arguments: Sequence[str], name: str) -> str | None:
    for place, word in enumerate(arguments):
        if word.startswith(f"{name}="):
            return word.partition("=")[2]
        if word == name and place + 1 < len(arguments):
            return arguments[place + 1]
    return None
