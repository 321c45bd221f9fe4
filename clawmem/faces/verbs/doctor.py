"""`clawmem doctor` and `clawmem reindex`."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated

from clawmem.errors import DONE, REFUSED
from clawmem.faces.parts.command import Answer, Call, Command
from clawmem.faces.parts.parameters import Parameter
from clawmem.faces.parts.words import data_of, said
from clawmem.memory.health.checks import ERROR, INFO, WARNING, HealthProblem, sorted_problems
from clawmem.memory.health.repair import ReindexResult, check_embedding, rebuild_vectors
from clawmem.memory.health.repair import reindex as reindex_act
from clawmem.model.language.text import counted

if TYPE_CHECKING:
    from clawmem.index.vectors.embed import EmbeddingRun
    from clawmem.memory.health.doctor import Diagnosis

# Up to this number, remarks of one kind are all shown; above it, only the first one.
_SHOWN_REMARKS = 3


def doctor(
    call: Call,
    fix: Annotated[bool, Parameter("Repair what is safe to repair, one commit for each repair.", ("--fix",))],
    full: Annotated[bool, Parameter("Check all files and git objects; show every remark.", ("--full",))],
) -> Answer:
    """Files in which an earlier check found nothing, and that are the same still, are only compared with the others.
    The exit code is 0 if no error remains and 1 otherwise; warnings and information do not count."""
    from clawmem.memory.health.doctor import doctor as act
    from clawmem.setup.wire import harness_problems

    runtime = call.runtime
    found = act(runtime.vault(), runtime.caller(), fix=fix, full=full)
    wired = harness_problems(runtime.vault(), runtime.environment, runtime.home())
    found = found._replace(problems=sorted_problems([*found.problems, *wired]))
    data = data_of(found, problems=[said(problem._asdict()) for problem in found.problems])
    del data["changed"]
    return Answer(data, _lines(found, fix, full), found.notices, DONE if found.healthy else REFUSED)


def _lines(found: Diagnosis, fix: bool, full: bool) -> Iterator[str]:
    remarks = Counter(problem.check for problem in found.problems if problem.severity == INFO and not problem.fixed)
    many = {check: number for check, number in remarks.items() if number > _SHOWN_REMARKS and not full}
    for problem in found.problems:
        more = many.get(problem.check, 0) if problem.severity == INFO and not problem.fixed else 0
        if more >= 0:
            yield _line(problem) + (f"  and {more - 1:,} similar ones: --full shows them" if more else "")
        if more > 0:
            many[problem.check] = -1
    yield "Checked: " + ", ".join(f"{what} {number:,}" for what, number in found.checked.items()) + "."
    if found.since:
        yield f"Read again: {counted(found.changed, 'file')} with a change since {found.since[:12]} or with a problem."
        yield "`clawmem doctor --full` reads everything."
    numbers = [
        counted(found.remaining(ERROR), "error"),
        counted(found.remaining(WARNING), "warning"),
        f"{found.remaining(INFO)} info",
    ]
    yield ", ".join(numbers) + "."
    repairable = sum(1 for problem in found.problems if problem.fixable and not problem.fixed)
    if repairable and not fix:
        yield f"{repairable} of these can be repaired safely: clawmem doctor --fix"


def _line(problem: HealthProblem) -> str:
    place = "" if problem.path is None else f"{problem.path}:{problem.line}  " if problem.line else f"{problem.path}  "
    return f"{'repaired' if problem.fixed else problem.severity}  {place}{problem.message}  [{problem.check}]"


def reindex(
    call: Call,
    vectors: Annotated[bool, Parameter("Also compute all vectors again; this can take long.", ("--vectors",))],
) -> Answer:
    """The index is derived from the vault and can be deleted; commands update it automatically. With --vectors, exit
    code 14 means that the model could not be used. Texts without a
    vector wait for the next heartbeat."""
    vault = call.runtime.vault()
    if vectors:
        check_embedding(vault)
    with call.progress() as report:
        result = reindex_act(vault, report)
    data = data_of(result, seconds=round(result.seconds, 3))
    lines = [
        f"indexed {counted(result.facts, 'fact')}, {counted(result.events, 'event')}"
        f" and {counted(result.entities, 'entity', 'entities')}"
        f" in {result.seconds:.1f} s; the index takes {result.size / 1e6:.1f} MB ({result.engine})"
    ]
    if not vectors:
        return Answer(data, lines, result.notices)
    with call.progress() as report:
        embedded = rebuild_vectors(vault, report)
    problem = embedded.problem
    notices = [
        *result.notices,
        *([f"not embedded: {problem.message} {problem.hint}".strip()] if problem else []),
    ]
    data["vectors"] = {"model": embedded.model, "texts": embedded.embedded, "left": embedded.left}
    return Answer(data, [*lines, _embedded_line(embedded)], notices, problem.exit_code if problem else DONE)


def _embedded_line(run: EmbeddingRun) -> str:
    rest = f"; {run.left:,} wait for the next heartbeat" if run.left else ""
    return f"embedded {counted(run.embedded, 'text')} with {run.model}{rest}"


VERBS = {
    "doctor": Command(
        doctor,
        {
            "problems": [{"...": HealthProblem, "severity": {ERROR, WARNING, INFO}, "path?": str, "line?": int}],
            "checked": {str: int},
            "commits": [str],
            "since": (str, None),
        },
        ("clawmem doctor --full", "clawmem doctor --fix"),
        ("problems",),
    ),
    "reindex": Command(
        reindex,
        {"...": ReindexResult, "vectors?": {"model": str, "texts": int, "left": int}},
        ("clawmem reindex", "clawmem reindex --vectors"),
    ),
}
