"""The suites and runs of a vault: find and list suites, keep runs, find earlier ones."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple
from xml.etree.ElementTree import Element, SubElement, indent, tostring

from clawmem.errors import AmbiguousId, ClawmemError, IncompleteAnswer, InvalidInput, NotFound, Refused, UnreadableKey
from clawmem.extensions.governance.suites.suite import (
    COPY,
    FOLDER,
    REGRESSION,
    Suite,
    is_suite_id,
    parse_suite,
    suite_path,
)
from clawmem.extensions.governance.suites.world import GENERATED, generated_suite
from clawmem.index.refresh import run_query
from clawmem.index.search.lookup import all_facts
from clawmem.memory.proposals import find_proposal, read_proposals
from clawmem.memory.writing import writing
from clawmem.model.facts.fact import ACTIVE, check_prefix
from clawmem.model.forms import render_lines
from clawmem.model.language.dates import stamp
from clawmem.model.language.text import check_statement, counted, one_line, visible
from clawmem.model.proposals.proposal import REJECTED
from clawmem.model.records.caller import Caller
from clawmem.model.records.change import Change, agent_author, subject_line, trailers
from clawmem.model.records.parsing import read_log
from clawmem.vault.strict_yaml import parse_yaml, with_line
from clawmem.vault.vault import Vault
from clawmem.work.tasks import read_failures

if TYPE_CHECKING:
    from clawmem.runtime import Runtime


def list_suites(vault: Vault) -> tuple[list[Suite], list[str]]:
    """Return the readable suites in the order of their ids, those that clawmem contains included, and a notice for each
    unreadable file."""
    found, notices = list[Suite](), list[str]()
    for name in suite_names(vault):
        try:
            found.append(find_suite(vault, name))
        except ClawmemError as problem:
            notices.append(IncompleteAnswer(problem.message))
    return found, notices


def find_suite(vault: Vault, name: str) -> Suite:
    """Return a suite of the vault, else of clawmem. Raise NotFound or Unreadable, which names line and key."""
    if not is_suite_id(name):
        raise InvalidInput(f"'{name}' is not the id of a suite.", "Use lower-case letters, digits, - and _.")
    path = suite_path(name)
    data = vault.read(path)
    if data is not None:
        return read_suite(data, path)
    if name in GENERATED:
        return generated_suite(name)
    raise NotFound(
        f"There is no suite '{name}'.", f"The suites are: {', '.join(suite_names(vault))}. A new one is a file {path}."
    )


def read_suite(data: bytes, path: str) -> Suite:
    """Return the suite in a file. Raise Unreadable, which names line and key."""
    try:
        return parse_suite(data, path, parse_yaml)
    except UnreadableKey as problem:
        raise with_line(problem, data) from None


def eval_runs(vault: Vault) -> tuple[EvalRun, ...]:
    """Return the runs, oldest first. Raise Unreadable, which names the line."""
    return parse_eval_runs(vault.read(RUNS_PATH) or b"", RUNS_PATH, parse_yaml)


def last_run(vault: Vault, suite: str) -> EvalRun | None:
    """Return the last run of a suite, or None."""
    return next((eval_run for eval_run in reversed(eval_runs(vault)) if eval_run.suite == suite), None)


def find_run(vault: Vault, reference: str) -> EvalRun:
    """Return a run by its id or a unique prefix, or the last run of the suite with this name. Raise NotFound."""
    runs = eval_runs(vault)
    found = [run for run in runs if run.id.startswith(reference)] if reference else []
    if len(found) > 1:
        raise AmbiguousId(reference, [run.id for run in found])
    found = found or [run for run in runs if run.suite == reference][-1:]
    if not found:
        raise NotFound(
            f"There is no run '{reference}'.",
            "`clawmem eval list` shows the last run of each suite, and `clawmem eval run` makes one.",
        )
    return found[0]


def keep_run(vault: Vault, caller: Caller, run: EvalRun) -> str:
    """Append a run to the runs of the vault. Return the commit."""
    with writing(vault, caller, "eval") as work:
        # A file that cannot be read is not extended: the run before it could be misread.
        parse_eval_runs(work.read(RUNS_PATH) or b"", RUNS_PATH, parse_yaml)
        passed = sum(score.outcome == PASSED for score in run.scores)
        change = Change(
            subject_line("eval", run.suite, f"{run.id}, {passed} of {counted(len(run.scores), 'test')} passed"),
            {RUNS_PATH: (work.read(RUNS_PATH) or b"") + render_lines([run])},
            trailers("eval", agent=caller.agent, session=caller.session),
            author=agent_author(caller.agent),
        )
        return work.commit([change])[-1]


def suite_names(vault: Vault) -> list[str]:
    """Return the ids of the suites of the vault and of clawmem, in order."""
    return sorted({*GENERATED, *(path.stem for path in (vault.root / FOLDER).glob("*.yaml"))})


def completed_suites(runtime: Runtime, prefix: str, before: Sequence[str]) -> list[tuple[str, str]]:
    """Return the names of suites that begin with the word at the cursor of a shell."""
    return [(name, "") for name in suite_names(runtime.vault()) if name.startswith(prefix)]


RUNS_PATH = "governance/eval-runs.jsonl"
# A test passed, failed, or was not judged because no model is set; a test that is not judged did not pass.
PASSED, FAILED, UNJUDGED = "passed", "failed", "not judged"
OUTCOMES = (PASSED, FAILED, UNJUDGED)


class EvalScore(NamedTuple):
    """What became of one test in one arm: its outcome, its score from 0 to 1, and the reasons where it did not pass."""

    test: str
    arm: str
    outcome: Annotated[str, OUTCOMES]
    score: float
    reasons: tuple[str, ...] = ()
    labels: Mapping[str, Any] = {}


class EvalRun(NamedTuple):
    """One run of a suite: its id and time, the commit of the vault, the version of clawmem, the checksum of the suite,
    and the scores."""

    id: str
    timestamp: str
    suite: str
    commit: str | None
    version: str
    checksum: str
    scores: tuple[EvalScore, ...]

    def outcome_by_test(self) -> dict[tuple[str, str], str]:
        """Return the outcome of each test in each arm."""
        return {(score.test, score.arm): score.outcome for score in self.scores}


class OutcomeChange(NamedTuple):
    """A test whose outcome differs between two runs; None where a run does not have it."""

    test: str
    arm: str
    before: str | None
    after: str | None


def changes_between(before: EvalRun, after: EvalRun) -> tuple[OutcomeChange, ...]:
    """Return the tests whose outcome differs, in the order of the later run, then those that only the earlier has."""
    old, new = before.outcome_by_test(), after.outcome_by_test()
    names = dict.fromkeys((*new, *old))
    found = (OutcomeChange(test, arm, old.get((test, arm)), new.get((test, arm))) for test, arm in names)
    return tuple(change for change in found if change.before != change.after)


def regressions(before: EvalRun | None, after: EvalRun) -> tuple[OutcomeChange, ...]:
    """Return the tests that passed before and do not pass now. Without an earlier run there are none."""
    found = changes_between(before, after) if before else ()
    return tuple(change for change in found if change.before == PASSED and change.after not in (PASSED, None))


parse_eval_runs = partial(read_log, EvalRun)
"""Reads the runs. Raises Unreadable, with the line and the key, where one is incomplete."""


def junit_xml(runs: Iterable[EvalRun]) -> str:
    """Return the runs as one document: a test suite for each suite and arm, a failure for each test that failed, and a
    skipped test for each that was not judged. Characters that XML cannot contain are written as escapes."""
    root = Element("testsuites", name="clawmem eval")
    for run in runs:
        for arm in dict.fromkeys(score.arm for score in run.scores):
            _suite(root, run, arm, [score for score in run.scores if score.arm == arm])
    for count in ("tests", "failures", "errors", "skipped"):
        root.set(count, str(sum(int(element.get(count, "0")) for element in root)))
    root.set("time", "0")
    indent(root)
    return '<?xml version="1.0" encoding="UTF-8"?>\n' + tostring(root, encoding="unicode") + "\n"


def _suite(root: Element, run: EvalRun, arm: str, scores: list[EvalScore]) -> None:
    name = f"{run.suite} ({arm})"
    failed, skipped = (sum(score.outcome == outcome for score in scores) for outcome in (FAILED, UNJUDGED))
    suite = SubElement(
        root, "testsuite", name=name, tests=str(len(scores)), failures=str(failed), errors="0", skipped=str(skipped),
        time="0", timestamp=run.timestamp.removesuffix("Z"), hostname="localhost",
    )  # fmt: skip
    for score in scores:
        case = SubElement(suite, "testcase", classname=name, name=_plain(score.test), time="0")
        reasons = _plain("\n".join(score.reasons))
        if score.outcome == FAILED:
            failure = SubElement(case, "failure", message=reasons.partition("\n")[0], type="assertion")
            failure.text = reasons
        elif score.outcome == UNJUDGED:
            SubElement(case, "skipped", message=reasons.partition("\n")[0])


def _plain(text: str) -> str:
    shown = visible(text)
    return "".join(
        name if name in "\t\n" or name.isprintable() or name == " " else f"\\u{ord(name):04x}" for name in shown
    )


class ScoreRow(NamedTuple):
    """The tests of a category in an arm: how many, how many passed or were not judged, in how many the answer lacks
    something, and in how many it contains something that it must not contain."""

    category: str
    arm: str
    tests: int
    passed: int
    unjudged: int
    lacks: int
    barred: int


def score_rows(run: EvalRun) -> tuple[ScoreRow, ...]:
    """Return a row for each category and arm, in the order of the run, and one for each arm over all categories."""
    names = dict.fromkeys((_category(score), score.arm) for score in run.scores)
    rows = [
        _row(name, arm, (score for score in run.scores if (_category(score), score.arm) == (name, arm)))
        for name, arm in names
    ]
    rows.sort(key=lambda row: list(dict.fromkeys(name for name, _ in names)).index(row.category))
    if len({name for name, _ in names}) > 1:
        arms = dict.fromkeys(arm for _, arm in names)
        rows += [_row("all", arm, (score for score in run.scores if score.arm == arm)) for arm in arms]
    return tuple(rows)


def _row(name: str, arm: str, scores: Iterable[EvalScore]) -> ScoreRow:
    found = list(scores)
    failed = [score for score in found if score.outcome == FAILED]
    return ScoreRow(
        name,
        arm,
        len(found),
        sum(score.outcome == PASSED for score in found),
        sum(score.outcome == UNJUDGED for score in found),
        sum(any(not reason.startswith("not-") for reason in score.reasons) for score in failed),
        sum(any(reason.startswith("not-") for reason in score.reasons) for score in failed),
    )


def _category(score: EvalScore) -> str:
    return str(score.labels.get("category", "tests"))


_FAILURE = "fail_"
_ABOUT = "What went wrong once and must not go wrong again"


class WishedTest(NamedTuple):
    """What a person says of the test: the question, and texts that its answer must contain or must not contain."""

    question: str | None = None
    contains: Sequence[str] = ()
    bars: Sequence[str] = ()


class AddedTest(NamedTuple):
    """The path of the suite with the new test, the description of the test, and the commit; None if the test was there
    already."""

    path: str
    description: str
    commit: str | None


def add_test(vault: Vault, caller: Caller, suite: str, reference: str, wish: WishedTest) -> AddedTest:
    """Add a test made from a failure or a rejected proposal to a regression suite, which is created if it is missing.

    The suite runs on a copy of the vault, with the clock at the time of this call. Raise NotFound, Refused for a
    proposal that was not rejected, or InvalidInput where the record does not say enough for a test.
    """
    import yaml  # slow to import

    if not is_suite_id(suite):
        raise InvalidInput(f"'{suite}' is not the id of a suite.", "Use lower-case letters, digits, - and _.")
    test = _from_failure(vault, reference, wish) if reference.startswith(_FAILURE) else _of(vault, reference, wish)
    path, description = suite_path(suite), test["description"]
    with writing(vault, caller, "eval add") as work:
        record: dict[str, Any] = {"description": _ABOUT, "metadata": {"kind": REGRESSION, "vault": COPY}, "tests": []}
        if (data := work.read(path)) is not None:
            read_suite(data, path)
            record = parse_yaml(data.decode("utf-8-sig"), path)
        if any(each["description"] == description for each in record["tests"]):
            return AddedTest(path, description, None)
        record["tests"].append(test)
        metadata = record.get("metadata") or {}
        if metadata.get("vault") == COPY:
            metadata["now"] = stamp(caller.now)
        change = Change(
            subject_line("eval", suite, f"add a test: {description}"),
            {path: yaml.safe_dump(record, sort_keys=False, allow_unicode=True, width=118).encode()},
            trailers("eval", agent=caller.agent, session=caller.session, sources=[reference]),
            author=agent_author(caller.agent),
        )
        return AddedTest(path, description, work.commit([change])[-1])


def _of(vault: Vault, reference: str, wish: WishedTest) -> dict[str, Any]:
    """The test of a rejected proposal: the memory does not serve what was rejected."""
    proposal = find_proposal(read_proposals(vault), reference)
    if proposal.status != REJECTED:
        raise Refused(
            f"{proposal.id} was not rejected; it is {proposal.status}.", "Only a rejected proposal becomes a test."
        )
    text = proposal.fact.fact if proposal.fact is not None else proposal.says
    text = proposal.line.text if proposal.line is not None else text
    # To reject a conflict is to say that both facts are true: a fact that stands is served, and must be.
    standing = run_query(
        vault, lambda index: {placed.fact.fact for placed in all_facts(index) if placed.fact.status == ACTIVE}
    )
    bars = (*wish.bars, *((text,) if text not in standing else ()))
    return _test(f"{proposal.id} was rejected: {text}", proposal.id, wish, text, bars)


def _from_failure(vault: Vault, reference: str, wish: WishedTest) -> dict[str, Any]:
    found = [failure for failure in read_failures(vault) if failure.id.startswith(reference)]
    if len(found) != 1:
        number = "No" if not found else "More than one"
        raise NotFound(f"{number} recorded failure is '{reference}'.", "`clawmem failure list` shows their ids.")
    failure = found[0]
    check_prefix(reference, reference, failure.id, _FAILURE)
    description = f"{failure.id}, {failure.mode}: {failure.note or 'no note'}"
    return _test(description, failure.id, wish, failure.note, tuple(wish.bars))


def _test(description: str, source: str, wish: WishedTest, question: str | None, bars: Sequence[str]) -> dict[str, Any]:
    asked = wish.question or question
    if not asked:
        raise InvalidInput(f"{source} does not say what was asked.", "Name it with --question.")
    wanted = [{"type": "icontains", "value": contain} for contain in wish.contains]
    wanted += [{"type": "not-icontains", "value": bar} for bar in dict.fromkeys(bars)]
    if not wanted:
        raise InvalidInput(
            f"{source} does not say what a right answer is.",
            "Name texts with --contains and --not-contains; each may be repeated.",
        )
    for text in (asked, *wish.contains, *bars):
        check_statement(text, "text")
        if any(sign in text for sign in ("{{", "{%", "{#")):
            raise InvalidInput(f"'{text}' contains a template of promptfoo.", "Choose another part of the text.")
    about = {"description": one_line(description), "vars": {"question": asked}}
    return {**about, "assert": wanted, "metadata": {"source": source}}
