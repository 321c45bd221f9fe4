"""CPU time of each governance verb in a vault of 10,000 facts, as a ratio to a bare Typer program in the same run."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from benchmarks.corpus import make_vault
from benchmarks.impact import cpu
from benchmarks.measure import environment
from benchmarks.report import Row
from clawmem.vault.vault import Vault

RUNS = 5
_LIMIT = 2.5
_TYPER = [sys.executable, str(Path(__file__).with_name("typer_program.py"))]
_CLAWMEM = [str(Path(sys.executable).with_name("clawmem"))]
_SUITE = """\
description: Boats
metadata:
  kind: regression
  now: '2026-03-02T09:00:00Z'
  fixtures:
    - remember 'The boat Bucket is blue.' --entity=projects/bucket
tests:
  - description: the colour
    vars: {question: Which colour is Bucket?}
    assert:
      - {type: icontains, value: blue}
"""
_PRINCIPLES = """\
no-print:
  rule: Only the command line prints.
  reason: Everything else returns a value, so that it can be tested.
  paths: "**/*.py"
  check: {regex: '^\\s*print\\('}
  good: logger.info(text)
  bad: print(text)
"""


class TimedVerb(NamedTuple):
    """A verb as it is timed: its name, its arguments for each round, a step before each round that is not timed, and
    the exit codes that are expected."""

    name: str
    arguments: Callable[[int], Sequence[str]]
    before: Callable[[int], Sequence[str] | None] = lambda _: None
    codes: Sequence[int] = (0,)


def governance_rows(folder: Path, facts: int = 10_000) -> Iterator[Row]:
    """Each verb against a Typer program, in turn; the lowest CPU time of several rounds of each."""
    env = environment(folder / "home")
    vault = make_vault(folder / "vault", facts, max(50, facts // 50))
    ids, work = _prepared(vault, env), folder / "work"
    work.mkdir()
    for number in range(20):
        (work / f"part_{number}.py").write_text("def part() -> int:\n    return 1\n" * 20)
    for verb in _verbs(ids, work):
        try:
            ours, plain = _timed(verb, env, vault.root)
        except subprocess.CalledProcessError as problem:
            raise RuntimeError(f"{verb.name}: {(problem.stdout + problem.stderr).decode()}") from None
        detail = f"{ours * 1000:.0f} / {plain * 1000:.0f} ms"
        yield Row(f"{verb.name} / Typer, {facts:,} facts, CPU", ours / plain, _LIMIT, detail)


def _timed(verb: TimedVerb, env: Mapping[str, str], root: Path) -> tuple[float, float]:
    ours, plain = [], []
    for number in range(RUNS + 1):
        step = verb.before(number)
        if step:
            _run(step, env, root)
        ours.append(cpu([*_CLAWMEM, *verb.arguments(number), "--json"], env, root, verb.codes))
        plain.append(cpu(_TYPER, env, root))
    # The first round fills the caches.
    return min(ours[1:]), min(plain[1:])


def _prepared(vault: Vault, env: Mapping[str, str]) -> list[str]:
    """Tasks, a session, failures, a suite, a principle and compiled pages; return the ids of some active facts."""
    for number in range(30):
        _run(["task", "add", f"Repair the winch {number}", "--accept", "rule: exists *.py"], env, vault.root)
    for name in ("scout", "writer"):
        _run(["agent", "create", name], env, vault.root)
    _run(["session", "start", "--id", "ses_bench", "--agent", "scout"], env, vault.root)
    _run(["failure", "record", "loop", "--note", "The same test failed three times."], env, vault.root)
    for name, text in (("evals/boats.yaml", _SUITE), ("principles.yaml", _PRINCIPLES)):
        path = vault.root / "governance" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    _run(["wiki", "build"], env, vault.root)
    items = sorted((vault.root / "life").rglob("items.json"))[:40]
    value = [fact for path in items for fact in json.loads(path.read_text(encoding="utf-8"))]
    ids = [fact["id"] for fact in value if fact.get("status", "active") == "active"]
    for identifier in ids[-5:]:
        _run(["claim", "check", identifier, "--question", "Which boat is blue?", "--expect", "Bucket"], env, vault.root)
    return ids


def _verbs(ids: Sequence[str], work: Path) -> Iterator[TimedVerb]:
    """Every verb; the rounds of a verb that writes use tasks and facts of their own."""

    def of(*arguments: str) -> TimedVerb:
        return TimedVerb(" ".join(argument for argument in arguments if argument != str(work)), lambda _: arguments)

    yield TimedVerb("task add", lambda n: ("task", "add", f"Oil the hinge {n}", "--accept", "It does not squeak."))
    yield of("task", "list")
    yield TimedVerb("task take", lambda n: ("task", "take", f"Repair the winch {n}"))
    yield TimedVerb("task close", lambda n: ("task", "close", f"Repair the winch {n + 10}", "--reason", "Seen."))
    session = ("--session", "ses_bench", "--agent", "scout")
    yield TimedVerb("session claim", lambda n: ("session", "claim", f"path:src/part-{n}/**", *session))
    evaluated = ("--work", str(work), "--agent", "writer")
    yield TimedVerb("evaluate task (rule)", lambda n: ("evaluate", "task", f"Repair the winch {n + 20}", *evaluated))
    yield TimedVerb("failure record", lambda n: ("failure", "record", "loop", "--note", f"It ran {n + 2} times."))
    yield of("guardrail", "list")
    yield of("principle", "check", str(work))
    yield of("eval", "list")
    yield of("review", "list")
    yield of("review", "agreement")
    yield of("review", "watch", "--seconds", "0.01")
    yield of("impact", ids[0])._replace(name="impact")
    yield of("claim", "test", "--dry-run")._replace(name="claim test (5 claims)", codes=(0, 1))
    yield TimedVerb("deprecate", lambda n: ("deprecate", ids[2 * n], "--for", ids[2 * n + 1], "--until", "2099-12-31"))
    yield of("stale")
    change = lambda n: ("remember", f"The hull {n} was painted.", "-e", "projects/hull", "--confidence", "1")  # noqa: E731
    yield TimedVerb("wiki build after one change", lambda _: ("wiki", "build"), change)
    yield of("wiki", "gate", ids[0])._replace(name="wiki gate")


def _run(arguments: Sequence[str], env: Mapping[str, str], root: Path) -> str:
    process = subprocess.run([*_CLAWMEM, *arguments], cwd=root, env=dict(env), capture_output=True, text=True)
    if process.returncode != 0:
        raise RuntimeError(f"{arguments} ended with {process.returncode}: {process.stdout}{process.stderr}")
    return process.stdout
