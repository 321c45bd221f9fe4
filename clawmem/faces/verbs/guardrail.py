"""`clawmem guardrail list|show|add`."""

from __future__ import annotations

from typing import Annotated, Any

from clawmem.faces.parts.command import Answer, Call, Command
from clawmem.faces.parts.parameters import FACT, PROJECT, SCOPE, WORKFLOW, Parameter
from clawmem.model.facts.fact_words import agents_of, fact_data
from clawmem.model.facts.reach import SCOPES, check_scope
from clawmem.model.language.text import counted
from clawmem.work.session_end_records import GuardrailUse, add_guardrail, list_guardrails, show_guardrail


def list_(call: Call) -> Answer:
    """List the guardrails: since when each holds, how many contexts it led, and how often its failure came back since.
    With --agent, those that hold for the agent."""
    result = list_guardrails(call.runtime.vault(), call.runtime.caller())
    lines = [
        f"{guardrail_use.guardrail.fact.id}  {guardrail_use.guardrail.fact.fact} ({_in_words(guardrail_use)})"
        for guardrail_use in result.guardrails
    ]
    talk = () if lines else ("There are no guardrails.",)
    return Answer(
        {"guardrails": [_data(guardrail) for guardrail in result.guardrails]}, lines, result.notices, talk=talk
    )


def show(call: Call, fact: Annotated[str, FACT]) -> Answer:
    """Show a guardrail: its reason and evidence, for whom it holds, how often it was served, and each failure since."""
    result = show_guardrail(call.runtime.vault(), call.runtime.caller(), fact)
    use = result.guardrails[0]
    record = use.guardrail.fact.details or {}
    lines = [f"{use.guardrail.fact.id}  {use.guardrail.fact.fact}"]
    lines += [f"why: {record['why']}"] if record.get("why") else []
    lines += [f"status: {use.guardrail.fact.status}", _in_words(use)]
    lines += [f"evidence: {' '.join(map(str, record['evidence']))}"] if record.get("evidence") else []
    lines += [f"came back: {each.timestamp}  {each.id}  {each.note or ''}".rstrip() for each in use.came_back]
    return Answer({"guardrail": _data(use)}, lines, result.notices)


def add(
    call: Call,
    rule: Annotated[str, Parameter("The rule in one sentence, or - for stdin.", stdin=True)],
    why: Annotated[str, Parameter("The reason.", ("--why", "--reason"))],
    failure_mode: Annotated[
        str | None, Parameter("The failure mode that it prevents.", ("--failure-mode",), completes="failure mode")
    ],
    agents: Annotated[
        list[str] | None,
        Parameter(
            "An agent for which it holds; may be repeated. The default is everybody.",
            ("--for",),
            metavar="AGENT",
            completes="agent",
        ),
    ],
    evidence: Annotated[list[str] | None, Parameter("The id of what led to it; may be repeated.", ("--evidence",))],
    workflow: Annotated[str | None, WORKFLOW._replace(help="The workflow for which it holds; the default is all.")],
    scope: Annotated[
        str | None, SCOPE._replace(choices=SCOPES, help="Who sees it: {choices}; the default is everybody.")
    ],
    project: Annotated[str | None, PROJECT._replace(help="The project for which it holds; the default is all.")],
) -> Answer:
    """Store a guardrail. It leads every context that it holds for, and no budget cuts it. One that an agent gives waits
    for a person."""
    check_scope(scope, "a workflow", "a project")
    fields = {"workflow": workflow, "scope": scope, "project": project}
    if scope is None and (project or workflow):
        fields["scope"] = "project" if project else "team"
    record = {key: value for key, value in fields.items() if value is not None}
    vault, caller = call.runtime.vault(), call.runtime.caller()
    guardrail = add_guardrail(vault, caller, rule, why, failure_mode, agents or (), evidence or (), record)
    placed = guardrail.guardrail
    data = {
        "outcome": guardrail.outcome,
        "guardrail": fact_data(placed.fact, placed.entity) if placed else None,
        "proposal": guardrail.proposal.id if guardrail.proposal else None,
        "commit": guardrail.commit,
    }
    line = f"{guardrail.outcome}  {placed.fact.id}  {placed.fact.fact}" if placed else ""
    if guardrail.proposal is not None and guardrail.outcome == "rejected":
        decided = guardrail.proposal.decided
        who = f" by {decided.by}" + (f" ({decided.reason})" if decided.reason else "") if decided else ""
        line = f"not filed, because it was rejected before{who}: {guardrail.proposal.id}  {guardrail.proposal.says}"
    elif guardrail.proposal is not None:
        line = f"proposed, waits for a person: {guardrail.proposal.id}  {guardrail.proposal.says}"
    return Answer(data, [line], guardrail.notices)


def _in_words(use: GuardrailUse) -> str:
    fact = use.guardrail.fact
    mode = (fact.details or {}).get("failure_mode")
    items = [f"for {', '.join(agents_of(fact)) or 'everybody'}", f"since {fact.timestamp[:10]}"]
    items.append(f"served {counted(fact.access_count, 'time')}")
    if mode:
        times = len(use.came_back)
        items.append(f"{mode} came back {counted(times, 'time')}" if times else f"{mode} did not come back")
    return ", ".join(items)


def _data(use: GuardrailUse) -> dict[str, Any]:
    fact, record = use.guardrail.fact, use.guardrail.fact.details or {}
    return {
        **fact_data(fact, use.guardrail.entity),
        "why": record.get("why"),
        "failure_mode": record.get("failure_mode"),
        "agents": list(agents_of(fact)),
        "evidence": [str(each) for each in record.get("evidence") or ()],
        "served": fact.access_count,
        "last_served": fact.last_accessed,
        "came_back": [each.id for each in use.came_back],
        "last_failure": use.came_back[-1].timestamp if use.came_back else None,
    }


_GUARDRAIL = {
    "...": "fact", "why": (str, None), "failure_mode": (str, None), "agents": [str], "evidence": [str], "served": int,
    "last_served": (str, None), "came_back": [str], "last_failure": (str, None),
}  # fmt: skip

VERB = {
    "list": Command(list_, {"guardrails": [_GUARDRAIL]}, ("clawmem guardrail list",), ("guardrails",)),
    "show": Command(show, {"guardrail": _GUARDRAIL}, ("clawmem guardrail show fact_guardrail",), ("guardrail",)),
    "add": Command(
        add,
        {"outcome": str, "guardrail": ("fact", None), "proposal": (str, None), "commit": (str, None)},
        ("clawmem guardrail add 'Never push to the main branch.' --why 'A release was lost.' --for coder",),
    ),
}
