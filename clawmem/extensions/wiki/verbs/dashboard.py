"""`clawmem dashboard`."""

from __future__ import annotations

from typing import Annotated

from clawmem.faces.parts.command import Answer, Call, Command
from clawmem.faces.parts.parameters import Parameter

IDLE_MINUTES = 60.0


def dashboard(
    call: Call,
    port: Annotated[int | None, Parameter("The port; the default is a free one.", ("--port",), least=1, most=65_535)],
    no_open: Annotated[bool, Parameter("Open no browser.", ("--no-open",))],
    idle_minutes: Annotated[
        float,
        Parameter(
            f"End after so many minutes without use; 0: never. The default is {IDLE_MINUTES:g}.",
            ("--idle-minutes",),
            default=IDLE_MINUTES,
            least=0,
        ),
    ],
) -> Answer:
    """Metrics, tasks, live sessions, approvals, changes with undo, search and the graph, on 127.0.0.1 only. The printed
    address logs one browser in. Each decision is what the verb does, one commit under your name. With --json, print the
    numbers and end."""
    if not call.wants_data():
        call.runtime.vault().check_writable()
        from clawmem.extensions.wiki.web.dashboard.serve import serve  # numbers need no server

        call.serve_pages(
            lambda person, started: serve(call.runtime, port, person and not no_open, idle_minutes, started)
        )
        return Answer({})
    from clawmem.extensions.wiki.web.dashboard.actions import metrics_data, metrics_lines

    data, notices = metrics_data(call.runtime)
    return Answer(data, metrics_lines(data), notices)


_METRICS = {
    "at": str,
    "head": (str, None),
    "facts": {
        "by_status": {str: int}, "by_tier": {str: int}, "by_workflow": {str: int}, "stale": int, "conflicts": int,
    },
    "weeks": [{"begins": str, "learned": int, "corrected": int, "forgotten": int, "cents": float}],
    "use": {
        "facts": int, "asked_for": int, "accesses": int, "served": int,
        "useful": int, "useless": int, "harmful": int,
    },
    "entities": int,
    "events": int,
    "proposals": int,
    "tasks": {str: int},
    "sessions": {str: int},
    "alignment": {"decided": int, "agreed": int, "agreement": (float, None), "bar": float, "passes": bool},
    "money": {"cents_today": float, "unpriced_tokens_today": int, "models": [str]},
}  # fmt: skip

VERB = Command(
    dashboard,
    _METRICS,
    ("clawmem dashboard", "clawmem dashboard --port 8800 --no-open --idle-minutes 0"),
    person="lets one decide",
)
