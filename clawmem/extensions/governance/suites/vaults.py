"""The vaults of suites: each run has one of its own in a temporary folder, with a pinned clock and seed."""

from __future__ import annotations

import shlex
import shutil
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

from clawmem.errors import ClawmemError, InvalidInput, NotFound
from clawmem.extensions.governance.suites.suite import COPY, Step, Suite, filled
from clawmem.index.refresh.refresh import run_query
from clawmem.index.search.lookup import all_facts
from clawmem.model.facts.fact import ACTIVE
from clawmem.model.language.dates import moment_of
from clawmem.vault.exchange.create import copy_vault, create_vault
from clawmem.vault.state.journal import JOURNAL
from clawmem.vault.vault import Vault

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
            question = str(filled(variables["question"], variables))
            return ["context", question, f"--budget={self._suite.budget}"]
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
