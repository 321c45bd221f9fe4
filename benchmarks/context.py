"""Context: its time as a whole process, its budget, and what it saves: `python -m benchmarks.context FILE`.

FILE is a JSON list of conversations in LoCoMo's form, each turn one event, one memory for each conversation. For every
question a context is made at each budget. Evidence recall is the share of the turns that answer a question which stand
in the text, averaged over questions. What it is held against is the whole history in the prompt, and the newest part
of the history that has the same evidence recall on average.
"""

from __future__ import annotations

import argparse
import os
import random
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from benchmarks.corpus import NOW, make_vault, questions
from benchmarks.measure import environment, in_turn, ratio, run
from benchmarks.report import Row
from benchmarks.retrieval import Corpus, read
from clawmem.index.refresh.refresh import open_index
from clawmem.index.search.channels import FactFilter
from clawmem.index.tables.passages import take_in_ledger
from clawmem.index.tables.store import create_in_memory
from clawmem.index.tables.token_counts import count_exactly
from clawmem.model.pages.tokens import event_line
from clawmem.model.records.caller import Caller
from clawmem.model.records.event import Event, render_events
from clawmem.serving.context.context import ContextRequest, context_in
from clawmem.vault.exchange.create import create_vault
from clawmem.vault.state.token_counter import token_counter
from clawmem.vault.vault import Vault

RUNS = 15
PAIRS = 2_000
BUDGETS = (250, 500, 1_000, 2_000, 4_000)
_TYPER = [sys.executable, str(Path(__file__).with_name("typer_program.py"))]
_CLAWMEM = [str(Path(sys.executable).with_name("clawmem"))]
Count = Callable[[str], int]


def context_rows(folder: Path, sizes: tuple[int, ...] = (1_000, 10_000, 100_000)) -> Iterator[Row]:
    """`context` at each number of facts against a Typer program, and budgets that were exceeded."""
    env = environment(folder / "home")
    for facts in sizes:
        vault = make_vault(folder / f"context-{facts}", facts, max(50, facts // 50))
        _count_tokens(vault)
        asked = questions(RUNS + 2)
        for name, question in (("context", False), ("context QUESTION", True)):

            def served(
                number: int, root: Path = vault.root, question: bool = question, asked: list[str] = asked
            ) -> float:
                return run([*_CLAWMEM, "context", *([asked[number]] if question else [])], env, root)

            def typer(_: int, root: Path = vault.root) -> float:
                return run(_TYPER, env, root)

            ours, plain = in_turn(RUNS, served, typer)
            detail = f"{ours.median * 1000:.0f} ms / {plain.median * 1000:.0f} ms, p95 {ours.p95 * 1000:.0f} ms"
            limit = 1.3 if facts <= 10_000 else 2.0
            yield Row(f"{name}, {facts:,} facts / Typer", ratio(ours, plain), limit, detail)
    yield _budgets_row(folder)


def _count_tokens(vault: Vault) -> None:
    """What the heartbeat does in the background."""
    index = open_index(vault)
    count_exactly(index, token_counter(os.environ).count)
    index.close()


def _budgets_row(folder: Path) -> Row:
    """Random vaults under random budgets, as the tests check them; a fact that is gone fails there, too."""
    from tests.serving.budgets import check_one

    vault = create_vault(folder / "budgets", environment(folder / "home"), NOW)
    count, chance, broken, served = token_counter(os.environ).count, random.Random(1), 0, 0
    for seed in range(2 * PAIRS):
        try:
            served += check_one(vault, seed, chance.randrange(20, 4_000), count) is not None
        except AssertionError:
            broken += 1
        if served + broken == PAIRS:
            break
    return Row(f"contexts above their budget, or with a fact that is gone, of {served + broken:,}", broken, 0)


class Served(NamedTuple):
    """A question's context: its exact tokens, and the share of the evidence in it."""

    tokens: int
    recall: float


class Spent(NamedTuple):
    """One budget over all questions: mean tokens and evidence recall; the tokens of the newest part of the history
    with that recall, and of all of it."""

    budget: int
    tokens: float
    recall: float
    newest: float
    whole: float


def spent(corpora: Sequence[Corpus], budget: int, count: Count) -> Spent:
    """What a budget gives over all conversations."""
    served: list[Served] = []
    histories: list[tuple[list[int], list[list[int]]]] = []
    for corpus in corpora:
        serve = _server(corpus.events, count)
        served += [serve(asked.question, asked.evidence, budget) for asked in corpus.asked]
        lines = [count(event_line(event)) for event in corpus.events]
        histories.append((lines, [sorted(asked.evidence) for asked in corpus.asked]))
    recall = sum(one.recall for one in served) / len(served)
    tokens = sum(one.tokens for one in served) / len(served)
    return Spent(budget, tokens, recall, _newest(histories, recall), _whole(histories))


def _server(events: Sequence[Event], count: Count) -> Callable[[str, frozenset[int], int], Served]:
    folder = tempfile.TemporaryDirectory(prefix="clawmem-bench-")
    vault = create_vault(Path(folder.name) / "vault", environment(Path(folder.name) / "home"), NOW)
    index = create_in_memory(vault, "a benchmark")
    days: dict[str, list[Event]] = {}
    for event in events:
        days.setdefault(event.timestamp[:10], []).append(event)
    for day in sorted(days):
        take_in_ledger(index, f"ledger/{day}.jsonl", render_events(days[day]))
    count_exactly(index, count)

    def serve(question: str, evidence: frozenset[int], budget: int) -> Served:
        _ = folder  # it lasts as long as its server
        done, _answering = context_in(
            vault, index, ContextRequest(Caller(NOW, os.urandom), budget, question, FactFilter())
        )
        found = sum(event_line(events[n]) in done.text for n in evidence)
        return Served(count(done.text), found / len(evidence))

    return serve


def _newest(histories: Sequence[tuple[list[int], list[list[int]]]], recall: float) -> float:
    """The mean tokens of the smallest part of each history, newest first, that has the evidence recall on average."""
    for percent in range(101):
        tokens, found, asked = 0.0, 0.0, 0
        for lines, evidence in histories:
            first = len(lines) - round(len(lines) * percent / 100)
            tokens += sum(lines[first:]) * len(evidence)
            found += sum(sum(n >= first for n in each) / len(each) for each in evidence)
            asked += len(evidence)
        if found / asked >= recall:
            return tokens / asked
    return _whole(histories)


def _whole(histories: Sequence[tuple[list[int], list[list[int]]]]) -> float:
    asked = sum(len(evidence) for _, evidence in histories)
    return sum(sum(lines) * len(evidence) for lines, evidence in histories) / asked


def table(rows: Sequence[Spent]) -> Iterator[str]:
    """All budgets as a Markdown table."""
    yield "| budget | tokens used | evidence recall | newest history of equal recall | saved | whole history | saved |"
    yield "|---|---|---|---|---|---|---|"
    for one in rows:
        told = f"| {one.budget:,} | {one.tokens:,.0f} | {one.recall:.3f} | {one.newest:,.0f} |"
        yield f"{told} {1 - one.tokens / one.newest:.0%} | {one.whole:,.0f} | {1 - one.tokens / one.whole:.0%} |"


def main() -> int:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("file", type=Path)
    given = parser.parse_args()
    corpora, counter = read(given.file), token_counter(os.environ)
    print(f"counted by {counter.source}\n")
    for line in table([spent(corpora, budget, counter.count) for budget in BUDGETS]):
        print(line, flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
