"""Scope: which facts a query sees, by the workflow and the project of the fact and of the query.

Scopes from narrow to broad are `project`, `team` (the practice of one workflow), `framework` (all workflows) and
`organisation`. A fact without scope, workflow and project is everybody's. A query sees its own scope and the broader
ones. A `workflow` with a slash, such as `heartbeat/rules`, is the extractor of a learned fact and no workflow.
"""

import re
from collections.abc import Collection, Mapping
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from clawmem.errors import InvalidInput
from clawmem.model.named_tuple import NamedTuple
from clawmem.model.records.entity import slug

if TYPE_CHECKING:
    from clawmem.model.facts.fact import Fact

PROJECT, TEAM, FRAMEWORK, ORGANISATION = "project", "team", "framework", "organisation"
SCOPES = (PROJECT, TEAM, FRAMEWORK, ORGANISATION)
# The kinds of entity whose facts may be of a project that is called like them.
OF_A_PROJECT = frozenset(("project", "company"))
# The scope of a query that sees every workflow and project.
EVERY_SCOPE = "all"
_NEXT = "\t"
_AFTER_NEXT = "\n"
# The address of a git remote: a URL, or `user@host:path` as ssh takes it.
_REMOTE = r"(?:(?P<scheme>[a-z][a-z0-9+.-]*)://)?(?:[^/@\s]*@)?(?P<host>[^/:@\s]+)(?::\d+(?=/))?[:/]/*(?P<path>\S+)"
# Hosts that take ssh on the port of https, and the names that they have otherwise.
_OTHER_HOSTS = {
    "ssh.github.com": "github.com",
    "altssh.gitlab.com": "gitlab.com",
    "altssh.bitbucket.org": "bitbucket.org",
}


class Reach(NamedTuple):
    """The scope of a query: its workflow, its project (the address of a remote or a folder), and the narrowest scope it
    sees.

    Without a workflow, the project's facts of all workflows are seen, and no workflow's own. `others_hidden` is the
    scope of a query that names none, from inside a project: it sees everything except the facts of other projects.
    `joined` are other names of the project, whose facts are its own, too."""

    workflow: str | None = None
    project: str | None = None
    scope: str = PROJECT
    others_hidden: bool = False
    joined: tuple[str, ...] = ()

    def projects(self) -> tuple[str, ...]:
        """Return the names of the query's project."""
        return () if self.project is None else (self.project, *self.joined)

    def realms(self) -> tuple[str, ...]:
        """Return the realms that the query sees, without those in `range`."""
        seen = ["", *SCOPES[max(SCOPES.index(self.scope), 2) :]]
        if self.scope in (PROJECT, TEAM):
            seen.append(_team(self.workflow))
        if self.scope == PROJECT and self.workflow is not None:
            seen += [_project(project, workflow) for project in self.called() for workflow in (self.workflow, None)]
        return tuple(seen)

    def ranges(self) -> tuple[tuple[str, str], ...]:
        """Return the other realms that the query sees: of each range the first realm, and the first after it."""
        if self.scope != PROJECT or self.workflow is not None:
            return ()
        return tuple(
            (_project(project, None), f"{PROJECT}:{canonical_project(project)}{_AFTER_NEXT}")
            for project in self.called()
        )

    def called(self) -> tuple[str, ...]:
        """Return the names of the query's project, with the words that mean it: a page or a person has those."""
        projects = self.projects()
        words = (slug(name) for project in projects for name in project_names(project))
        return tuple(dict.fromkeys((*projects, *words)))

    def sees(self, realm: str) -> bool:
        """Return whether the query sees a realm."""
        if self.others_hidden and not realm.startswith(f"{PROJECT}:"):
            return True
        return realm in self.realms() or any(first <= realm < after for first, after in self.ranges())

    def sees_event(self, metadata: Mapping[str, Any] | None) -> bool:
        """Return whether the query sees an event, by `workflow` and `project` in its metadata."""
        record = metadata or {}
        return self.sees(realm(None, _text(record.get("workflow")), _text(record.get("project"))))


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
        own = reach is not None and project in map(canonical_project, reach.called())
        return "" if own else project_name(project) or workflow
    return rest if kind == TEAM and (reach is None or reach.workflow != rest) else ""


def project_of_realm(realm: str) -> str:
    """Return the project of a realm of a project."""
    return realm.partition(":")[2].partition(_NEXT)[0]


def workflow_of_realm(realm: str) -> str | None:
    """Return the workflow of a realm, or None."""
    kind, _, rest = realm.partition(":")
    return (rest if kind == TEAM else rest.partition(_NEXT)[2] if kind == PROJECT else "") or None


@lru_cache(maxsize=512)
def canonical_project(project: str) -> str:
    """Return the one name of a project: `host/owner/name` in lower case for every form of a remote's address, without
    scheme, user, password, port and `.git`. A folder and any other name stay as they are."""
    text = project.strip().removeprefix("file://")
    found = None if text[:1] in ("/", "~", ".") else re.fullmatch(_REMOTE, text, re.I)
    if found is None or not (found["scheme"] or "@" in text or ":" in text or "." in found["host"]):
        return text
    host = found["host"].lower()
    path = found["path"].rstrip("/").removesuffix(".git")
    return f"{_OTHER_HOSTS.get(host, host)}/{path.lower()}"


def project_name(project: str) -> str:
    """Return the last part of a remote's URL or of a folder, without `.git`."""
    return project.rstrip("/").replace(":", "/").rpartition("/")[2].removesuffix(".git") or project


def project_names(project: str) -> tuple[str, ...]:
    """Return the words by which a project is called: its own name, and the owner in the address of a remote."""
    host, *path = canonical_project(project).split("/")
    owner = path[:1] if "." in host.strip(".") and len(path) > 1 else []
    return (project_name(project), *owner)


def project_of_page(
    entity: str, statement: str, of_facts: Collection[str], here: str | None, others: Collection[str], has_page: bool
) -> str | None:
    """Return the project that sees a statement on the page of a project or a company; None if everybody sees it.

    `of_facts` are the projects of the facts of the page, `here` is the one in which it was said, which may have a page
    of its own (`has_page`), and `others` are those that the vault knows. What has only the name of a page is seen in
    each project that is called so."""
    name, is_project = entity.rpartition("/")[2], entity.startswith("projects/")
    own, *owner = [slug(text) for text in project_names(here)] if here else [""]
    is_part = f"{own}-".startswith(f"{name}-") or f"{name}-".startswith(f"{own}-")  # "app" is no part of "apple"
    if here and (is_part or (is_project and here in of_facts)):
        return here
    if is_project and of_facts:
        return min(of_facts)
    if name in owner or any(name in map(slug, project_names(other)) for other in others):
        return name
    if is_project and here and own in slug(statement).split("-"):
        return here
    return name if is_project and here and has_page else None


def check_scope(
    scope: str | None, workflow: str | None, project: str | None, choices: Collection[str] = SCOPES
) -> None:  # fmt: skip
    """Raise InvalidInput if a scope is unknown, or lacks its workflow or project. The message has `choices`."""
    if scope is None:
        return
    if scope not in SCOPES:
        raise InvalidInput(f"'{scope}' is not a scope.", f"Choose one of {', '.join(choices)}.")
    if scope == TEAM and workflow is None:
        raise InvalidInput("The scope 'team' needs a workflow.", "Add --workflow, or set CLAWMEM_WORKFLOW.")
    if scope == PROJECT and project is None:
        raise InvalidInput(
            "The scope 'project' needs a project, and this folder is in no git repository.",
            "Run the command in the project's repository, or add --project.",
        )


def _team(workflow: str | None) -> str:
    return f"{TEAM}:{workflow if is_workflow(workflow) else ''}"


def _project(project: str, workflow: str | None) -> str:
    return f"{PROJECT}:{canonical_project(project)}{_NEXT}{workflow if is_workflow(workflow) else ''}"


def _text(value: object) -> str | None:
    return value if isinstance(value, str) and value else None
