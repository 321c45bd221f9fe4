"""Run a suite: each test in each arm, graded, in a vault in a temporary folder, with a pinned clock and seed."""

from __future__ import annotations

import json
import re
import shlex
import shutil
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from hashlib import sha256
from math import log
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

from clawmem import __version__
from clawmem.errors import BudgetSpent, ClawmemError, InvalidInput, ModelFailed, NotFound
from clawmem.extensions.governance.suites.graders import Grade, Grader, Judge, grade_test, not_judged
from clawmem.extensions.governance.suites.store import EvalRun, EvalScore, eval_runs
from clawmem.extensions.governance.suites.suite import (
    COPY,
    FILES,
    MEMORY,
    Generated,
    Step,
    Suite,
    SuiteTest,
    filled,
)
from clawmem.extensions.governance.suites.world import GENERATORS
from clawmem.index.refresh import run_query
from clawmem.index.search.lookup import all_facts
from clawmem.index.tables.background import exact_counter
from clawmem.llm.budget import Account, Spent
from clawmem.llm.choice import Model, prompt
from clawmem.llm.client import check_model, prices_of
from clawmem.llm.loop import ask
from clawmem.model.facts.fact import ACTIVE, new_id
from clawmem.model.language.dates import day_of, moment_of, stamp
from clawmem.model.language.question import STOPWORDS
from clawmem.model.language.text import normal
from clawmem.model.progress import OnProgress, Progress
from clawmem.model.records.caller import Caller
from clawmem.vault.exchange.create import copy_vault, create_vault
from clawmem.vault.state.journal import JOURNAL
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


def checksum_of(suite: Suite) -> str:
    """Return a checksum of what the suite says: a changed suite is not compared test by test without saying so."""
    return sha256(repr(suite).encode()).hexdigest()[:16]


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


# Verbs that change nothing but the counts of accesses.
_READING = frozenset("status recall search context show list graph stale tier analytics log why diff precedent".split())


class InnerCommand(NamedTuple):
    """A command line in the vault of a suite: its words, the vault's folder, its time, its seed, and its input."""

    words: Sequence[str]
    root: Path
    now: str
    seed: str
    given: str = ""


RunInner = Callable[[InnerCommand], tuple[int, str]]
"""Runs a command line; gives its exit code and what it wrote to stdout."""


class SuiteVault:
    """The vault of one run of a suite, after its fixtures."""

    def __init__(self, suite: Suite, root: Path, run: RunInner) -> None:
        self._suite = suite
        self._root = root
        self._run = run

    def answer(self, variables: Mapping[str, object], number: int) -> str:
        """Return what the memory answers: the context for a question, or the output of a command.

        A command that may write runs in a copy, so that no test changes what another one sees."""
        words = self._words(variables)
        wanted = InnerCommand(words, self._root, self._suite.now, f"{self._suite.seed}-test-{number}")
        if words[0] in _READING:
            text = self._run(wanted)[1]
            (self._root / ".git" / "clawmem" / JOURNAL).unlink(missing_ok=True)
            return text
        with TemporaryDirectory(prefix="clawmem-eval-") as folder:
            copy = Path(folder) / "vault"
            shutil.copytree(self._root, copy)
            return self._run(wanted._replace(root=copy))[1]

    def _words(self, variables: Mapping[str, object]) -> list[str]:
        if "question" in variables:
            return ["context", str(filled(variables["question"], variables)), f"--budget={self._suite.budget}"]
        return words_of(str(variables["command"]), variables)


@contextmanager
def suite_vault(
    suite: Suite, steps: Sequence[Step], own: Callable[[], Vault], environment: Mapping[str, str], run: RunInner
) -> Iterator[SuiteVault]:
    """Make the vault of a run in a temporary folder and run the steps of its fixtures in it. `own` opens the vault of
    which a suite may have a copy.

    Raise InvalidInput, naming the step, where one fails."""
    with TemporaryDirectory(prefix="clawmem-eval-") as folder:
        root = Path(folder) / "vault"
        if suite.vault == COPY:
            copy_vault(own(), root, environment)
        else:
            create_vault(root, environment, moment_of(steps[0].now or suite.now if steps else suite.now))
        for number, step in enumerate(steps):
            _take(suite, root, environment, run, step, number)
        yield SuiteVault(suite, root, run)


def words_of(command: str, variables: Mapping[str, object]) -> list[str]:
    """Return the words of a command line; a variable is one word or a part of one, whatever it contains."""
    try:
        words = [str(filled(word, variables)) for word in shlex.split(command)]
    except ValueError as problem:
        raise InvalidInput(f"'{command}' is not a command line: {problem}.") from None
    words = words[1:] if words[:1] == ["clawmem"] else words
    if not words:
        raise InvalidInput("A command line of the suite is empty.")
    return words


def _take(suite: Suite, root: Path, environment: Mapping[str, str], run: RunInner, step: Step, number: int) -> None:
    try:
        ids = {name: _fact_id(root, environment, text) for name, text in step.facts.items()}
        words = words_of(step.run, ids)
        code, text = run(InnerCommand(words, root, step.now or suite.now, f"{suite.seed}-{number}", step.stdin))
    except ClawmemError as problem:
        raise InvalidInput(f"metadata.fixtures[{number}]: {problem.message}", problem.hint) from None
    if code != 0:
        message = text.strip() or f"exit code {code}"
        raise InvalidInput(f"metadata.fixtures[{number}] `{step.run}` ended with exit code {code}: {message}")


def _fact_id(root: Path, environment: Mapping[str, str], text: str) -> str:
    """Return the id of the active fact with this text."""
    facts = run_query(Vault(root, environment), lambda index: [placed.fact for placed in all_facts(index)])
    found = [fact.id for fact in facts if fact.fact == text and fact.status == ACTIVE]
    if len(found) != 1:
        raise NotFound(f"{len(found)} active facts say '{text}'.", "Name a fact that an earlier step stored.")
    return found[0]
