"""Run a suite: each test in each arm, graded."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import datetime
from hashlib import sha256
from math import log
from typing import Any, NamedTuple

from clawmem import __version__
from clawmem.errors import BudgetSpent, InvalidInput, ModelFailed, NotFound, Refused, key_name
from clawmem.extensions.governance.suites.graders import Grade, Grader, Judge, grade, grade_test, not_judged
from clawmem.extensions.governance.suites.store import EvalRun, EvalScore, eval_runs
from clawmem.extensions.governance.suites.suite import (
    COPY,
    FILES,
    MEMORY,
    METADATA_KEYS,
    Generated,
    Step,
    Suite,
    SuiteTest,
    filled,
    suite_from_mapping,
    suite_to_mapping,
)
from clawmem.extensions.governance.suites.vaults import RunInner, suite_vault, words_of
from clawmem.extensions.governance.suites.world import GENERATORS
from clawmem.index.tables.background import exact_counter
from clawmem.llm.budget import Account, Spent
from clawmem.llm.choice import Model
from clawmem.llm.client import check_model, prices_of
from clawmem.llm.loop import ask
from clawmem.llm.prompts import prompt
from clawmem.model.facts.fact import new_id
from clawmem.model.forms import WrongValue
from clawmem.model.language.dates import day_of, stamp
from clawmem.model.language.question import STOPWORDS
from clawmem.model.language.text import normal
from clawmem.model.progress import OnProgress, Progress
from clawmem.model.records.caller import Caller
from clawmem.model.records.strict_json import RECORD_BYTES, read_json
from clawmem.vault.state.spending import record_spending, spent_on
from clawmem.vault.vault import Vault

Answers = Callable[[SuiteTest, int], str]


class SuiteRunner(NamedTuple):
    """What a run needs from the machine: how to run a command line, git's environment, the graders."""

    run: RunInner
    environment: Mapping[str, str]
    graders: Mapping[str, Grader]
    progress: OnProgress | None = None


def run_suite(vault: Vault, caller: Caller, suite: Suite, runner: SuiteRunner, arms: Sequence[str] = ()) -> EvalRun:
    """Run the tests of a suite in its arms, or in these, and return the scores. Nothing is written to the vault.

    The arm of plain files and the one without a memory answer questions only; they leave out tests with a command.
    Raise InvalidInput where a step of the fixtures fails."""
    steps = steps_of(suite)
    scores = [
        score for arm in arms or suite.arms for score in _run_arm(vault, suite, steps, runner, arm)
    ]  # fmt: skip
    return EvalRun(
        new_id("run_", caller.entropy, {eval_run.id for eval_run in eval_runs(vault)}),
        stamp(caller.now),
        suite.id,
        vault.head().commit,
        __version__,
        checksum_of(suite),
        tuple(scores),
    )


def answer_test(own: Callable[[], Vault], suite: Suite, variables: Mapping[str, object], runner: SuiteRunner) -> str:
    """Return what the memory answers to one test, in a vault made for it."""
    with suite_vault(suite, steps_of(suite), own, runner.environment, runner.run) as made:
        return made.answer(variables, 0)


def checksum_of(suite: Suite) -> str:
    """Return a checksum of what the suite says: a changed suite is not compared test by test without saying so."""
    return sha256(json.dumps(suite_to_mapping(suite), sort_keys=True).encode()).hexdigest()[:16]


def steps_of(suite: Suite) -> tuple[Step, ...]:
    """Return the steps of the fixtures. Raise NotFound if they name a generator that does not exist."""
    if not isinstance(suite.fixtures, Generated):
        return suite.fixtures
    make = GENERATORS.get(suite.fixtures.generate)
    if make is None:
        known = ", ".join(GENERATORS)
        raise NotFound(f"There is no generator '{suite.fixtures.generate}'.", f"The generators are: {known}.")
    return make(suite.fixtures.seed, suite.fixtures.size).steps


def _run_arm(vault: Vault, suite: Suite, steps: Sequence[Step], runner: SuiteRunner, arm: str) -> Iterator[EvalScore]:
    with _answers(vault, suite, steps, runner, arm) as answer:
        for number, test in enumerate(suite.tests):
            if arm != MEMORY and "question" not in test.variables:
                continue
            if runner.progress:
                runner.progress(Progress(arm, number, len(suite.tests), "tests"))
            try:
                output = answer(test, number).strip()
            except InvalidInput as problem:
                raise InvalidInput(f"tests[{number}] ({test.description}): {problem.message}", problem.hint) from None
            result = grade_test(test, output, runner.graders)
            yield EvalScore(test.description, arm, result.outcome, result.score, result.reasons, dict(test.labels))


@contextmanager
def _answers(vault: Vault, suite: Suite, steps: Sequence[Step], runner: SuiteRunner, arm: str) -> Iterator[Answers]:
    if arm == MEMORY:
        with suite_vault(suite, steps, lambda: vault, runner.environment, runner.run) as made:
            yield lambda test, number: made.answer(test.variables, number)
    elif arm == FILES:
        files = PlainFiles(steps, exact_counter())
        yield lambda test, number: files.answer(_question(test), suite.budget)
    else:
        yield lambda test, number: _question(test)


def _question(test: SuiteTest) -> str:
    return str(filled(test.variables["question"], test.variables))


# The answer to one test as promptfoo asks for it: through its `exec:` provider, with the context of the test as JSON.
#
# promptfoo merges the metadata of the suite into that of each test, so the fixtures come with every call.

_TEST_KEYS = ("description", "vars", "assert", "threshold")


def answer_for_promptfoo(
    prompt: str, context: str | None, runner: SuiteRunner, own: Callable[[], Vault], now: datetime
) -> str:
    """Return the answer to a test; without a context, what the vault answers at `now` to the prompt as a question.

    `own` opens the vault of the user, which only a suite with a copy of it needs. Raise Refused where an assertion in
    `metadata.assert` does not hold: promptfoo does not know these, so the provider says it. Raise InvalidInput if the
    context is none."""
    suite = _suite_of(context) if context is not None else _asked(prompt, stamp(now))
    test = suite.tests[0]
    output = answer_test(own, suite, test.variables, runner)
    for assertion in test.assertions:
        if assertion.is_own and assertion.weight > 0:
            result = grade(assertion, test.variables, output.strip(), runner.graders)
            if not result.holds:
                raise Refused(f"{assertion.type}: {result.reason}.")
    return output


def _asked(prompt: str, now: str) -> Suite:
    metadata = {"vault": COPY, "now": now}
    return _made({"description": prompt, "vars": {"question": prompt}, "assert": [{"type": "is-json"}]}, metadata)


def _suite_of(context: str) -> Suite:
    try:
        record = read_json(context, RECORD_BYTES)
    except ValueError as problem:
        raise InvalidInput(f"The context of the test is not JSON: {problem}.") from None
    test = record.get("test") if isinstance(record, dict) else None
    if not isinstance(test, dict):
        raise InvalidInput("The context has no test.", "promptfoo gives it to an exec: provider as the last argument.")
    metadata = test.get("metadata") or {}
    suite = {key: value for key, value in metadata.items() if key in METADATA_KEYS}
    labels = {key: value for key, value in metadata.items() if key not in METADATA_KEYS}
    made = {key: test[key] for key in _TEST_KEYS if test.get(key) is not None}
    return _made({"description": "a test", **made, "metadata": labels}, suite)


def _made(test: Mapping[str, Any], metadata: Mapping[str, Any]) -> Suite:
    try:
        return suite_from_mapping("promptfoo", {"description": "promptfoo", "metadata": metadata, "tests": [test]})
    except WrongValue as problem:
        where = key_name(problem.keys[2:] if problem.keys[:1] == ("tests",) else problem.keys)
        raise InvalidInput(f"The context of the test: the key '{where}' {problem.problem}.") from None


_MOST = 40_000
_SCHEMA = {
    "type": "object",
    "required": ["pass", "score", "quote", "reason"],
    "properties": {
        "pass": {"type": "boolean"},
        "score": {"type": "number", "minimum": 0, "maximum": 1},
        "quote": {"type": "string"},
        "reason": {"type": "string"},
    },
}


@contextmanager
def judging(vault: Vault, caller: Caller, model: Model | None) -> Iterator[Judge]:
    """Yield the judge for one run, with one budget. Without a model nothing is judged. What it costs counts for the
    day. Where the model fails or the budget is spent, the rest is not judged."""
    if model is None:
        yield not_judged
        return
    day = day_of(stamp(caller.now))
    check_model(model)
    account = Account(model.limits, prices_of(model), Spent(cents=spent_on(vault, day)))
    try:
        yield lambda rubric, output: _judged(model, account, rubric, output)
    finally:
        record_spending(vault, day, account.spent.cents)


def _judged(model: Model, account: Account, rubric: str, output: str) -> Grade:
    shown = output[:_MOST].replace("</output>", "</ output>")
    text = f"Rubric: {rubric}\n<output>\n{shown}\n</output>\nJSON only."
    messages = [{"role": "system", "content": prompt("rubric")}, {"role": "user", "content": text}]
    try:
        answer = ask(model, account, messages, _SCHEMA)
    except (BudgetSpent, ModelFailed) as problem:
        return Grade(None, 0.0, f"not judged: {problem.message}")
    if answer.value is None:
        return Grade(None, 0.0, f"not judged: {answer.problem}")
    result = answer.value
    quoted = normal(result["quote"])
    if quoted not in normal(output) or (result["pass"] and not quoted):
        return Grade(None, 0.0, "not judged: what the model quotes is not in the output")
    return Grade(result["pass"], float(result["score"]), result["reason"])


# The arm of plain files: the same acts on Markdown files, searched with BM25 within the same budget of tokens.
#
# It is as good as a careful person with a text editor: a fact that is named is edited in its line, and what came from a
# withdrawn origin is deleted, and what it had replaced comes back. It knows only what the acts say.

# The usual parameters of BM25 (Robertson and Zaragoza 2009).
_K1, _B = 1.2, 0.75
_WORD = re.compile(r"\w+")
_ORIGINS = ("source", "agent", "session")


class _Line(NamedTuple):
    file: str
    text: str
    origins: tuple[str, ...]
    replaced: tuple[_Line, ...] = ()


class _Act(NamedTuple):
    """A step: its arguments, its options with their values, its input, its day, and the origins that it names."""

    arguments: Sequence[str]
    options: Mapping[str, str]
    stdin: str
    day: str
    origins: tuple[str, ...]


class PlainFiles:
    """Lines of Markdown files by the acts of the fixtures; `count` counts the tokens of a text."""

    def __init__(self, steps: Sequence[Step], count: Callable[[str], int]) -> None:
        self._lines: list[_Line] = []
        self._count = count
        for step in steps:
            words, options = _read(words_of(step.run, step.facts))
            act = self._ACTS.get(words[0])
            if act is not None:
                origins = tuple(f"{name} {options[name]}" for name in _ORIGINS if name in options)
                act(self, _Act(words[1:], options, step.stdin, (step.now or "")[:10], origins))
        self._index = _Bm25([_terms(f"{line.file} {line.text}") for line in self._lines])

    def answer(self, question: str, budget: int) -> str:
        """Return the best lines for a question, each with its file, within a budget of tokens."""
        taken: list[str] = []
        left = budget
        for place in self._index.best(_terms(question)):
            line = f"{self._lines[place].file}: {self._lines[place].text}\n"
            left -= self._count(line)
            if left < 0:
                break
            taken.append(line)
        return "".join(taken)

    def _remember(self, act: _Act) -> None:
        rows = [json.loads(line) for line in act.stdin.splitlines()] if "jsonl" in act.options else []
        rows += [{"fact": argument, "entity": act.options.get("entity", "notes")} for argument in act.arguments]
        for row in rows:
            until = row.get("valid_to") or act.options.get("valid-to")
            dates = f"{act.day}, until {until}" if until else act.day
            origins = (*act.origins, *(f"{name} {row[name]}" for name in _ORIGINS if name in row))
            self._lines.append(_Line(f"{row.get('entity', 'notes')}.md", f"{row['fact']} ({dates})", origins))

    def _ingest(self, act: _Act) -> None:
        for row in map(json.loads, act.stdin.splitlines()):
            day = str(row.get("timestamp", act.day))[:10]
            origins = (*act.origins, *(f"{name} {row[name]}" for name in _ORIGINS if name in row))
            self._lines.append(_Line(f"chats/{day}.md", f"{row['role']}: {row['content']} ({day})", origins))

    def _note(self, act: _Act) -> None:
        self._lines.append(_Line(f"daily/{act.day}.md", act.arguments[0], act.origins))

    def _supersede(self, act: _Act) -> None:
        old = self._named(act.arguments[0])
        self._lines = [line for line in self._lines if line not in old]
        file = old[0].file if old else "notes.md"
        self._lines.append(_Line(file, f"{act.arguments[1]} ({act.day})", act.origins, tuple(old)))

    def _retract(self, act: _Act) -> None:
        gone = self._named(act.arguments[0])
        self._lines = [line for line in self._lines if line not in gone]

    def _undo(self, act: _Act) -> None:
        self._withdraw(self._named(act.arguments[0]))

    def _revoke(self, act: _Act) -> None:
        wanted = {f"{name} {value}" for name, value in act.options.items()}
        self._withdraw([line for line in self._lines if wanted <= set(line.origins)])

    def _withdraw(self, gone: Sequence[_Line]) -> None:
        self._lines = [line for line in self._lines if line not in gone]
        self._lines += [before for line in gone for before in line.replaced]

    def _named(self, text: str) -> list[_Line]:
        return [line for line in self._lines if line.text.startswith(text)]

    _ACTS: Mapping[str, Callable[[PlainFiles, _Act], None]] = {
        "remember": _remember,
        "ingest": _ingest,
        "note": _note,
        "supersede": _supersede,
        "retract": _retract,
        "undo": _undo,
        "revoke": _revoke,
    }


class _Bm25:
    """Okapi BM25 over lists of terms."""

    def __init__(self, documents: Sequence[Sequence[str]]) -> None:
        self._counts = [Counter(document) for document in documents]
        self._lengths = [len(document) for document in documents]
        self._mean = sum(self._lengths) / len(documents) if documents else 1.0
        counts = Counter(term for count in self._counts for term in count)
        total = len(documents)
        self._weights = {term: log(1 + (total - n + 0.5) / (n + 0.5)) for term, n in counts.items()}

    def best(self, terms: Sequence[str]) -> list[int]:
        """Return the places of the documents that contain a term, best first."""
        scores = {place: score for place in range(len(self._counts)) if (score := self._score(place, terms)) > 0}
        return sorted(scores, key=lambda place: (-scores[place], place))

    def _score(self, place: int, terms: Sequence[str]) -> float:
        norm = _K1 * (1 - _B + _B * self._lengths[place] / self._mean)
        counts = self._counts[place]
        return sum(
            self._weights[term] * counts[term] * (_K1 + 1) / (counts[term] + norm) for term in terms if term in counts
        )


def _terms(text: str) -> list[str]:
    return [word for word in _WORD.findall(text.lower()) if word not in STOPWORDS]


def _read(words: Sequence[str]) -> tuple[list[str], dict[str, str]]:
    """Return the arguments and the options of a command line, each option with its value."""
    arguments: list[str] = []
    options: dict[str, str] = {}
    rest = iter(words)
    for word in rest:
        if not word.startswith("-") or word == "-":
            arguments.append(word)
            continue
        name, joined, value = word.lstrip("-").partition("=")
        options["entity" if name == "e" else name] = value if joined else next(rest, "")
    return arguments, options
