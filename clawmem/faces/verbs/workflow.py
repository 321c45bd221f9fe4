"""`clawmem workflow list|show|check`."""

from __future__ import annotations

from typing import Any

from clawmem.errors import DONE, REFUSED
from clawmem.faces.parts.command import Answer, Call, Command, Table
from clawmem.faces.parts.parameters import Parameter
from clawmem.model.language.text import counted
from clawmem.model.records.workflow import Workflow
from clawmem.work.workflows import check_workflows, find_workflow, list_workflows


def list_(call: Call) -> Answer:
    """List the workflows."""
    done = list_workflows(call.runtime.vault())
    data = [{"id": one.id, "title": one.title} for one in done.workflows]
    rows = [(one.id, one.title, " > ".join(stage.name for stage in one.stages)) for one in done.workflows]
    talk = () if rows else ("There are no workflows; a workflow is a file workflows/ID.yaml.",)
    return Answer({"workflows": data}, Table(("workflow", "title", "stages"), rows), done.notices, talk=talk)


def show(call: Call, workflow_id: str) -> Answer:
    """Show a workflow: scopes, roles, stages with what they take and hand in, states, failure modes."""
    one = find_workflow(call.runtime.vault(), workflow_id)
    lines = [f"{one.id}: {one.title}", one.about, f"scopes: {' > '.join(one.scopes)}"]
    lines += [f"role {name}: {about}" for name, about in one.roles.items()]
    lines += [
        f"stage {stage.name}{f' ({stage.role})' if stage.role else ''}:"
        f" takes {', '.join(stage.takes) or 'nothing'}; hands in {', '.join(stage.hands_in) or 'nothing'}"
        for stage in one.stages
    ]
    lines += [f"state {name}: {about}" for name, about in one.states.items()]
    lines += [f"adapter {name}: {command}" for name, command in one.adapters.items()]
    lines += [f"failure modes: {', '.join(one.failure_modes)}"] if one.failure_modes else []
    return Answer({"workflow": _data(one)}, [line for line in lines if line])


def check(call: Call, workflow_id: str | None) -> Answer:
    """Say what a workflow lacks. The exit code is 1 if something is missing."""
    checked = check_workflows(call.runtime.vault(), workflow_id)
    data = [{"id": one.id, "missing": list(one.missing)} for one in checked]
    lines = [f"{one.id}: {words}" for one in checked for words in one.missing or ("complete",)]
    missing = sum(len(one.missing) for one in checked)
    talk = (f"{counted(missing, 'problem')} found.",) if missing else ()
    return Answer({"workflows": data}, lines, exit_code=REFUSED if missing else DONE, talk=talk)


def _data(one: Workflow) -> dict[str, Any]:
    stages = [{**stage._asdict(), "takes": list(stage.takes), "hands_in": list(stage.hands_in)} for stage in one.stages]
    lists = {name: list(getattr(one, name)) for name in ("scopes", "failure_modes", "unknown")}
    maps = {name: dict(getattr(one, name)) for name in ("roles", "states", "adapters")}
    return {**one._asdict(), **lists, **maps, "stages": stages}


_ID = Parameter("workflow_id", "The workflow's id, such as software.", required=True, completes="workflow")
_STAGE = {"name": str, "takes": [str], "hands_in": [str], "role": (str, None)}
_WORKFLOW = {
    "id": str, "title": str, "about": str, "scopes": [str], "roles": {str: str}, "stages": [_STAGE],
    "states": {str: str}, "adapters": {str: str}, "failure_modes": [str], "unknown": [str],
}  # fmt: skip

VERB = {
    "list": Command(list_, (), {"workflows": [{"id": str, "title": str}]}, ("clawmem workflow list",), ("workflows",)),
    "show": Command(show, (_ID,), {"workflow": _WORKFLOW}, ("clawmem workflow show software",), ("workflow",)),
    "check": Command(
        check,
        (_ID._replace(required=False),),
        {"workflows": [{"id": str, "missing": [str]}]},
        ("clawmem workflow check", "clawmem workflow check research"),
        ("workflows",),
    ),
}
