"""Scope: which facts a query sees, by the workflow and the project of the fact and of the query.

Scopes from narrow to broad are `project`, `team` (the practice of one workflow), `framework` (all workflows) and
`organisation`. A fact without scope, workflow and project is everybody's. A query sees its own scope and the broader
ones. A `workflow` with a slash, such as `heartbeat/rules`, is the extractor of a learned fact and no workflow.
"""

from collections.abc import Collection, Mapping
from typing import TYPE_CHECKING, Any

from clawmem.errors import InvalidInput
from clawmem.model.named_tuple import NamedTuple

if TYPE_CHECKING:
    from clawmem.model.facts.fact import Fact

PROJECT, TEAM, FRAMEWORK, ORGANISATION = "project", "team", "framework", "organisation"
SCOPES = (PROJECT, TEAM, FRAMEWORK, ORGANISATION)
# The scope of a query that sees every workflow and project.
EVERY_SCOPE = "all"
_NEXT = "\t"
_AFTER_NEXT = "\n"


class Reach(NamedTuple):
    """The scope of a query: its workflow, its project (a remote's URL or a folder), and the narrowest scope it sees.

    Without a workflow, the project's facts of all workflows are seen, and no workflow's own. `others_hidden` is the
    scope of a query that names none, from inside a project: it sees everything except the facts of other projects."""

    workflow: str | None = None
    project: str | None = None
    scope: str = PROJECT
    others_hidden: bool = False

    def realms(self) -> tuple[str, ...]:
        """Return the realms that the query sees, without those in `range`."""
        seen = ["", *SCOPES[max(SCOPES.index(self.scope), 2) :]]
        if self.scope in (PROJECT, TEAM):
            seen.append(_team(self.workflow))
        if self.scope == PROJECT and self.project is not None and self.workflow is not None:
            seen += [_project(self.project, workflow) for workflow in (self.workflow, None)]
        return tuple(seen)

    def range(self) -> tuple[str, str] | None:
        """Return the first of the other realms that the query sees and the first after them, or None."""
        if self.scope != PROJECT or self.project is None or self.workflow is not None:
            return None
        return _project(self.project, None), f"{PROJECT}:{self.project}{_AFTER_NEXT}"

    def sees(self, realm: str) -> bool:
        """Return whether the query sees a realm."""
        if self.others_hidden and not realm.startswith(f"{PROJECT}:"):
            return True
        within = self.range()
        return realm in self.realms() or (within is not None and within[0] <= realm < within[1])

    def sees_event(self, metadata: Mapping[str, Any] | None) -> bool:
        """Return whether the query sees an event, by `workflow` and `project` in its metadata."""
        given = metadata or {}
        return self.sees(realm(None, _text(given.get("workflow")), _text(given.get("project"))))


def realm_of(fact: "Fact") -> str:
    """Return the realm of a fact, a text that is equal for facts of one scope."""
    return realm(fact.scope, fact.workflow, fact.project)


def realm(scope: str | None, workflow: str | None, project: str | None) -> str:
    """Return the realm of something with these values. Without a scope, it is the narrowest that the others allow."""
    if scope in (FRAMEWORK, ORGANISATION):
        return scope
    if project is not None and scope != TEAM:
        return _project(project, workflow)
    return _team(workflow) if scope or is_workflow(workflow) else ""


def is_workflow(text: str | None) -> bool:
    """Return whether a fact's `workflow` is one, and not the extractor that learned the fact."""
    return bool(text) and "/" not in (text or "")


def scope_of(fact: "Fact") -> str | None:
    """Return the scope of a fact, also where only its workflow or its project is set; None for everybody's."""
    return realm_of(fact).partition(":")[0] or None


def label_of(realm: str, reach: Reach | None) -> str:
    """Return the name of the project or the workflow of a realm, if it is not the query's own, else an empty text."""
    kind, _, rest = realm.partition(":")
    if kind == PROJECT:
        project, _, workflow = rest.partition(_NEXT)
        own = reach is not None and reach.project == project
        return "" if own else project_name(project) or workflow
    return rest if kind == TEAM and (reach is None or reach.workflow != rest) else ""


def workflow_of_realm(realm: str) -> str | None:
    """Return the workflow of a realm, or None."""
    kind, _, rest = realm.partition(":")
    return (rest if kind == TEAM else rest.partition(_NEXT)[2] if kind == PROJECT else "") or None


def project_name(project: str) -> str:
    """Return the last part of a remote's URL or of a folder, without `.git`."""
    return project.rstrip("/").replace(":", "/").rpartition("/")[2].removesuffix(".git") or project


def check_scope(
    scope: str | None, workflow: str | None, project: str | None, choices: Collection[str] = SCOPES
) -> None:  # fmt: skip
    """Raise InvalidInput if the scope is unknown, or is of a workflow or a project that is not named.

    `choices` are what the message names."""
    if scope is None:
        return
    if scope not in SCOPES:
        raise InvalidInput(f"'{scope}' is not a scope.", f"Choose one of {', '.join(choices)}.")
    if scope == TEAM and workflow is None:
        raise InvalidInput("The scope 'team' needs a workflow.", "Add --workflow, or set CLAWMEM_WORKFLOW.")
    if scope == PROJECT and project is None:
        raise InvalidInput(
            "The scope 'project' needs a project; the home folder and the vault's folder are none.",
            "Run the command in the project's folder, or add --project.",
        )


def _team(workflow: str | None) -> str:
    return f"{TEAM}:{workflow if is_workflow(workflow) else ''}"


def _project(project: str, workflow: str | None) -> str:
    return f"{PROJECT}:{project}{_NEXT}{workflow if is_workflow(workflow) else ''}"


def _text(value: object) -> str | None:
    return value if isinstance(value, str) and value else None
