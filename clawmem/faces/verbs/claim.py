"""`clawmem claim confirm|check|test`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

from clawmem.errors import REFUSED, InvalidInput
from clawmem.faces.parts.command import Answer, Call, Command
from clawmem.faces.parts.parameters import DRY_RUN, FACT, REASON, Parameter
from clawmem.faces.parts.words import REVISED, revised, said
from clawmem.memory.facts import claims
from clawmem.memory.facts.claims import FAILS, PASSED, SKIPPED, ClaimTest
from clawmem.memory.facts.revise import check_reason
from clawmem.model.facts.claim_check import HITS, checked_check
from clawmem.model.facts.fact_words import fact_data, fact_line
from clawmem.model.language.text import counted
from clawmem.serving.answers import statements_answering


def confirm(
    call: Call,
    fact: Annotated[str, FACT],
    review_by: Annotated[
        str | None, Parameter("The day by which it is to be checked again.", ("--review-by",), metavar="DATE")
    ],
    reason: Annotated[str | None, REASON._replace(help="Why it still holds.")],
) -> Answer:
    """Say, as a person, that a claim still holds although a premise changed, or that an agent's claim is right. It is
    not in doubt any more, and neither is what was in doubt only because of it, until a premise changes again."""
    vault, caller = call.runtime.vault(), call.runtime.caller()
    return revised(claims.confirm(vault, fact, caller, review_by, check_reason(reason)))


def check(
    call: Call,
    fact: Annotated[str, FACT],
    question: Annotated[str | None, Parameter("A question to the memory.", ("--question",))],
    expect: Annotated[str | None, Parameter("Words that the answer, or the output, must contain.", ("--expect",))],
    command: Annotated[str | None, Parameter("A command that must succeed.", ("--command",))],
    remove: Annotated[bool, Parameter("Remove the check.", ("--remove",))],
) -> Answer:
    """Give a claim a check: a question, and words that the answer of the memory must contain; or a command that must
    succeed. A command runs only after a person allowed it with `clawmem evaluate allow`."""
    if remove and (question or expect or command):
        raise InvalidInput("--remove cannot be combined with a new check.", "Use one of them.")
    wanted = None if remove else checked_check(question, command, expect)
    return revised(claims.set_check(call.runtime.vault(), fact, wanted, call.runtime.caller()))


def test(
    call: Call,
    fact: Annotated[
        str | None, FACT._replace(help="The id of the claim, or a unique prefix (default: all with a check).")
    ],
    work: Annotated[
        str,
        Parameter("The folder in which a command runs.", ("--work",), default=".", metavar="PATH", completes="file"),
    ],
    dry_run: Annotated[bool, DRY_RUN._replace(help="Run the checks; flag and file nothing.")],
) -> Answer:
    """Run the check of a claim, or of every claim that has one. A question is asked without a model; one of the five
    best facts must contain the expected answer. A claim that fails is flagged, and a proposal to withdraw it is filed,
    once. Exit code 1 if a check fails, 4 if one could not run."""
    vault, caller = call.runtime.vault(), call.runtime.caller()
    folder = (call.runtime.working_folder / Path(work).expanduser()).resolve()

    def answer(question: str) -> tuple[str, ...]:
        return statements_answering(vault, question, caller, HITS)

    tests = claims.run_checks(vault, caller, fact, answer, folder, dry_run)
    counts = {outcome: sum(test.outcome == outcome for test in tests.tests) for outcome in (PASSED, FAILS, SKIPPED)}
    data = {"tests": [_record(test) for test in tests.tests], **counts, "commit": tests.commit}
    lines = [_line(test) for test in tests.tests]
    lines += [f"{counted(len(tests.tests), 'check')}: {', '.join(f'{n} {name}' for name, n in counts.items() if n)}"]
    talk = () if tests.tests else ("No claim has a check.",)
    return Answer(data, lines if tests.tests else (), tests.notices, REFUSED if tests.failed else 0, talk)


def _record(test: ClaimTest) -> dict[str, Any]:
    shown = fact_data(test.placed.fact, test.placed.entity)
    return {**shown, "outcome": test.outcome, **said({"why": test.why, "filed_as": test.proposal})}


def _line(test: ClaimTest) -> str:
    why = f": {test.why}" if test.why else ""
    filed = f" (`clawmem review show {test.proposal}`)" if test.proposal else ""
    return f"{test.outcome}  {fact_line(test.placed.fact, test.placed.entity)}{why}{filed}"


_TEST = {"...": "fact", "outcome": {PASSED, FAILS, SKIPPED}, "why?": str, "filed_as?": str}

VERB = {
    "confirm": Command(
        confirm,
        REVISED,
        ("clawmem claim confirm fact_1a2b --reason 'The lock is needed anyway.' --review-by 2027-06-30",),
        ("facts",),
        person="says that a person knows it",
    ),
    "check": Command(
        check,
        REVISED,
        (
            "clawmem claim check fact_1a2b --question 'Where does Jane live?' --expect Oslo",
            "clawmem claim check fact_1a2b --command './check_port.sh 5432'",
        ),
        ("facts",),
    ),
    "test": Command(
        test,
        {"tests": [_TEST], PASSED: int, FAILS: int, SKIPPED: int, "commit": (str, None)},
        ("clawmem claim test", "clawmem claim test --dry-run"),
        ("tests",),
    ),
}  # fmt: skip
