"""`clawmem workflow list|show|check|allow|run`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

from clawmem.errors import DONE, REFUSED
from clawmem.faces.parts.command import Answer, Call, Command, Table
from clawmem.faces.parts.parameters import Parameter
from clawmem.model.forms import to_record
from clawmem.model.language.text import counted
from clawmem.model.records.task import STATES, Workflow
from clawmem.work.tasks import check_workflows, find_workflow, list_workflows

if TYPE_CHECKING:
    from clawmem.vault.vault import Vault
    from clawmem.work.adapters import AdapterCheck


def list_(call: Call) -> Answer:
    """List the workflows."""
    result = list_workflows(call.runtime.vault())
    data = [{"id": workflow.id, "title": workflow.title} for workflow in result.workflows]
    rows = [
        (workflow.id, workflow.title, " > ".join(stage.name for stage in workflow.stages))
        for workflow in result.workflows
    ]
    talk = () if rows else ("There are no workflows; a workflow is a file workflows/ID.yaml.",)
    return Answer({"workflows": data}, Table(("workflow", "title", "stages"), rows), result.notices, talk=talk)


def show(call: Call, workflow_id: Annotated[str, _ID]) -> Answer:
    """Show a workflow: scopes, roles, stages with what they take and hand in, states, failure modes."""
    workflow = find_workflow(call.runtime.vault(), workflow_id)
    lines = [f"{workflow.id}: {workflow.title}", workflow.about, f"scopes: {' > '.join(workflow.scopes)}"]
    lines += [f"role {name}: {about}" for name, about in workflow.roles.items()]
    lines += [
        f"stage {stage.name}{f' ({stage.role})' if stage.role else ''}:"
        f" takes {', '.join(stage.takes) or 'nothing'}; hands in {', '.join(stage.hands_in) or 'nothing'}"
        for stage in workflow.stages
    ]
    lines += [f"state {name}: {about}" for name, about in workflow.states.items()]
    lines += [f"adapter {name}: {adapter.run}" for name, adapter in workflow.adapters.items()]
    lines += [f"failure modes: {', '.join(workflow.failure_modes)}"] if workflow.failure_modes else []
    return Answer({"workflow": _data(workflow)}, [line for line in lines if line])


def check(
    call: Call,
    workflow_id: Annotated[str | None, _ID],
    adapters: Annotated[bool, Parameter("Run the adapters with their recorded input, too.", ("--adapters",))],
) -> Answer:
    """Say what a workflow lacks. With --adapters, also run its adapters with their recorded input, and check what they
    answer. The exit code is 1 if something is missing or wrong."""
    vault = call.runtime.vault()
    data, lines, missing = [], list[str](), 0
    for workflow in check_workflows(vault, workflow_id):
        tried = _tried(vault, workflow.id) if adapters and workflow.is_readable else []
        data.append(
            {"id": workflow.id, "missing": list(workflow.missing), "adapters": [each._asdict() for each in tried]}
        )
        lines += [f"{workflow.id}: {words}" for words in workflow.missing or ("complete",)]
        for each in tried:
            counts = ((each.tasks, "task"), (each.events, "event"), (each.outcomes, "outcome"))
            found = ", ".join(counted(number, noun) for number, noun in counts)
            lines.append(f"{workflow.id}: adapter {each.name}: {each.problem or found}")
        missing += len(workflow.missing) + sum(each.problem is not None for each in tried)
    talk = (f"{counted(missing, 'problem')} found.",) if missing else ()
    return Answer({"workflows": data}, lines, exit_code=REFUSED if missing else DONE, talk=talk)


def allow(call: Call, workflow_id: Annotated[str, _ID], adapter: Annotated[str, _ADAPTER]) -> Answer:
    """Allow the program of an adapter on this machine. Read it first. If the file changes, it must be allowed again."""
    from clawmem.work.adapters import allow_adapter

    result = allow_adapter(call.runtime.vault(), call.runtime.caller(), workflow_id, adapter)
    return Answer(result._asdict(), [f"allowed {result.path}, SHA-256 {result.checksum}"])


def run(call: Call, workflow_id: Annotated[str, _ID], adapter: Annotated[str, _ADAPTER]) -> Answer:
    """Run an adapter: store its new events, its tasks and the outcomes of decisions. A value of a task that was changed
    here is kept, and named where the other side changed it, too."""
    from clawmem.work.adapters import run_adapter

    result = run_adapter(call.runtime.vault(), call.runtime.caller(), workflow_id, adapter)
    data = to_record(result, ())
    data.pop("notices")
    rows = [(task.id, task.state, task.title, task.url or "") for task in result.tasks]
    events = f"{counted(result.added, 'new event')}, {result.known} known"
    tasks_said = f"{counted(result.new_tasks, 'new task')}, {result.changed_tasks} changed"
    talk = (f"{events}, {counted(result.outcomes, 'outcome')} recorded", tasks_said)
    return Answer(data, Table(("task", "state", "title", "url"), rows), result.notices, talk=talk)


def _tried(vault: Vault, workflow_id: str) -> list[AdapterCheck]:
    from clawmem.work.adapters import check_adapters  # starts programs

    return check_adapters(vault, find_workflow(vault, workflow_id))


def _data(workflow: Workflow) -> dict[str, Any]:
    runs = {name: adapter.run for name, adapter in workflow.adapters.items()}
    recorded = {name: adapter.recorded for name, adapter in workflow.adapters.items() if adapter.recorded is not None}
    more = {"adapters": runs, "unknown": list(workflow.extra), "recorded": recorded}
    return {**to_record(workflow._replace(extra={}), ()), **more}


_ID = Parameter("The workflow's id, such as software.", completes="workflow")
_ADAPTER = Parameter("The adapter's name in the workflow.")
_CHECKED = {"name": str, "tasks": int, "events": int, "outcomes": int, "problem": (str, None)}
_TASK = {
    "id": str, "title": str, "state": set(STATES), "url": (str, None), "about": str, "acceptance": [str],
    "priority": (int, None),
}  # fmt: skip
_STAGE = {"name": str, "takes": [str], "hands_in": [str], "role": (str, None)}
_WORKFLOW = {
    "id": str, "title": str, "about": str, "scopes": [str], "roles": {str: str}, "stages": [_STAGE],
    "states": {str: str}, "adapters": {str: str}, "failure_modes": [str],
    "conflicts": (str, None), "unknown": [str],
    "recorded": {str: {str: object}},
}  # fmt: skip

VERB = {
    "list": Command(list_, {"workflows": [{"id": str, "title": str}]}, ("clawmem workflow list",), ("workflows",)),
    "show": Command(show, {"workflow": _WORKFLOW}, ("clawmem workflow show software",), ("workflow",)),
    "check": Command(
        check,
        {"workflows": [{"id": str, "missing": [str], "adapters": [_CHECKED]}]},
        ("clawmem workflow check", "clawmem workflow check research --adapters"),
        ("workflows",),
    ),
    "allow": Command(
        allow,
        {"path": str, "checksum": str},
        ("clawmem workflow allow software tickets",),
        person="lets a program run on this machine",
    ),
    "run": Command(
        run,
        {
            "tasks": [_TASK],
            "added": int,
            "known": int,
            "outcomes": int,
            "commits": [str],
            "new_tasks": int,
            "changed_tasks": int,
        },
        ("clawmem workflow run software tickets",),
        ("tasks",),
    ),
}
