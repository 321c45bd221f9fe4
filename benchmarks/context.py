"""Context: its time as a whole process, its budget, and the evidence in it: `python -m benchmarks.context FILE...`.

FILE is a conversation in LoCoMo's form or in REALTALK's. Each conversation becomes a vault as a user makes one: `init`,
`ingest`, `heartbeat`. For every question a context is made at each budget, by the function that the command calls.
A turn that answers a question counts for the part of its words that stands in the text in their order, so a shortened
line counts for what is left of it. The figure is the mean over questions, of the mean over the turns of each.

It is held against the best hits of BM25 (SQLite's FTS5 with the Porter stemmer), packed greedily into the same budget,
once as whole turns and once as the shortened lines that a context shows; the better of the two at each budget counts.
Intervals are 95 % of a paired bootstrap by question.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import re
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, NamedTuple

from benchmarks.corpus import NOW, make_vault, questions
from benchmarks.measure import environment, in_turn, ratio, run
from benchmarks.report import Row
from benchmarks.retrieval import Asked, Corpus, conversation, fts5
from benchmarks.year import year_of_talk
from clawmem.index.refresh import open_index
from clawmem.index.search.channels import FactFilter
from clawmem.index.tables.background import exact_counter
from clawmem.memory.pages.summaries import count_tokens
from clawmem.model.language.dates import day_of
from clawmem.model.pages.tokens import event_line, servable
from clawmem.model.records.caller import Caller
from clawmem.model.records.change import Change, trailers
from clawmem.model.records.event import Event, display_speaker, render_events
from clawmem.serving.context.context import context_in
from clawmem.serving.context.hits import ContextRequest
from clawmem.vault.commit.transaction import transaction
from clawmem.vault.exchange.create import create_vault
from clawmem.vault.vault import Vault

RUNS = 15
PAIRS = 2_000
BUDGETS = (500, 1_000, 2_000, 4_000)
SAMPLES = 2_000
_MOST_HITS = 500
# So many words in a row are taken from a turn, and not by chance from another one.
_IN_A_ROW = 5
_WORD = re.compile(r"\w+")
_TYPER = [sys.executable, str(Path(__file__).with_name("typer_program.py"))]
_CLAWMEM = [str(Path(sys.executable).with_name("clawmem"))]
Count = Callable[[str], int]


def context_rows(folder: Path, sizes: tuple[int, ...] = (1_000, 10_000, 100_000)) -> Iterator[Row]:
    """`context` at each number of facts and events against a Typer program, and budgets that were exceeded."""
    env = environment(folder / "home")
    for facts in sizes:
        vault = make_vault(folder / f"context-{facts}", facts, max(50, facts // 50))
        _add_events(vault, facts)
        count_tokens(vault)  # as the heartbeat does
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
            limit = 1.2 if facts <= 10_000 else 2.0
            yield Row(f"{name}, {facts:,} facts and events / Typer", ratio(ours, plain), limit, detail)
    yield _budgets_row(folder)


def _add_events(vault: Vault, count: int) -> None:
    """Add invented talk of two people over a year, as `benchmarks.year` has it, without learning from it."""
    days: dict[str, list[Event]] = {}
    for number, line in enumerate(year_of_talk(count)):
        message = json.loads(line)
        event = Event(
            f"evt_{number:08x}",
            message["timestamp"],
            "user",
            message["content"],
            message["speaker"],
            message["session"],
        )
        days.setdefault(message["timestamp"][:10], []).append(event)
    writes: dict[str, bytes | None] = {f"ledger/{day}.jsonl": render_events(items) for day, items in days.items()}
    with transaction(vault, NOW, "corpus") as started:
        started.commit([Change(f"corpus(vault): {count} invented events", writes, trailers("corpus"))])


def _budgets_row(folder: Path) -> Row:
    """Random vaults under random budgets, as the tests check them; a fact that is gone fails there, too."""
    from tests.serving.budgets import check_one

    vault = create_vault(folder / "budgets", environment(folder / "home"), NOW)
    count, chance, broken, served = exact_counter(), random.Random(1), 0, 0
    for seed in range(2 * PAIRS):
        try:
            served += check_one(vault, seed, chance.randrange(20, 4_000), count) is not None
        except AssertionError:
            broken += 1
        if served + broken == PAIRS:
            break
    return Row(f"contexts above their budget, or with a fact that is gone, of {served + broken:,}", broken, 0)


class Figure(NamedTuple):
    """One question at one budget: the part of its evidence in the context, in BM25's whole turns and shortened lines,
    and the tokens of the context."""

    asked: Asked
    budget: int
    ours: float
    whole: float
    cut: float
    tokens: int


def conversations(path: Path) -> list[Corpus]:
    """Return the conversations of a file in LoCoMo's form, or the one of a file in REALTALK's."""
    read = json.loads(path.read_text(encoding="utf-8"))
    if isinstance(read, list):
        return [conversation(sample, f"{path.stem} {at}") for at, sample in enumerate(read)]
    return [conversation({"conversation": dict(_sessions(read)), "qa": read["qa"]}, path.stem)]


def _sessions(chat: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    """Yield REALTALK's sessions with the names and the time that LoCoMo gives them."""
    number = 1
    while turns := chat.get(f"session_{number}"):
        when = datetime.strptime(turns[0]["date_time"], "%d.%m.%Y, %H:%M:%S")
        yield f"session_{number}_date_time", when.strftime("%I:%M %p on %d %B, %Y")
        items = [{**turn, "text": turn["clean_text"]} for turn in turns if turn["clean_text"].strip()]
        yield f"session_{number}", items
        number += 1


def make_memory(root: Path, corpus: Corpus, semantic: bool) -> Vault:
    """Return a vault that learned a conversation, at the day after its end; one that is there already is used."""
    if not (root / "clawmem.yaml").exists():
        root.mkdir(parents=True)
        env = {**environment(root.parent / "home"), "CLAWMEM_NOW": _after(corpus).isoformat()}
        text = "\n".join(json.dumps(_message(event)) for event in corpus.events)
        model = ["config", "set", "semantic.model", "local" if semantic else "none"]
        for step in (["init", str(root)], model, ["ingest", "-", "--format", "jsonl"], ["heartbeat"]):
            process = subprocess.run([*_CLAWMEM, *step], env=env, cwd=root, input=text, capture_output=True, text=True)
            if process.returncode not in (0, 4):
                raise RuntimeError(f"{step} ended with {process.returncode}: {process.stderr}")
    return Vault(root, environment(root.parent / "home"))


def _after(corpus: Corpus) -> datetime:
    last = max(event.timestamp for event in corpus.events)
    return datetime.fromisoformat(last).astimezone(UTC) + timedelta(days=1)


def _message(event: Event) -> dict[str, object]:
    return {
        "role": event.role,
        "speaker": event.speaker,
        "content": event.text,
        "timestamp": event.timestamp,
        "session": event.session,
        "id": event.id,
    }


def figures(corpus: Corpus, vault: Vault, budgets: Sequence[int], count: Count) -> Iterator[Figure]:
    """Yield the figures of every question of a conversation at every budget."""
    caller = Caller(_after(corpus), os.urandom)
    rank = fts5(corpus.events, _MOST_HITS)
    whole, cut = ([line(event) for event in corpus.events] for line in (_whole_line, event_line))
    sizes = [[count(line) for line in lines] for lines in (whole, cut)]
    index = open_index(vault)
    for asked in corpus.asked:
        order = rank(asked.question)
        evidence = [corpus.events[n].text for n in sorted(asked.evidence)]
        for budget in budgets:
            result, _ = context_in(vault, index, ContextRequest(caller, budget, asked.question, FactFilter(("",))))
            packed = [_packed(order, lines, size, budget) for lines, size in zip((whole, cut), sizes, strict=True)]
            ours, most, less = (share_in(text, evidence) for text in (result.text, *packed))
            tokens = count(result.text)
            if tokens > budget:
                raise AssertionError(f"{tokens} tokens in a budget of {budget}: {asked.question}")
            yield Figure(asked, budget, ours, most, less, tokens)
    index.close()


def _whole_line(event: Event) -> str:
    return f"- {servable(display_speaker(event))}: {servable(event.text)} ({day_of(event.timestamp)})\n"


def _packed(order: Sequence[int], lines: Sequence[str], sizes: Sequence[int], budget: int) -> str:
    """Return the best lines that fit; a line that does not fit is left out, and shorter ones may follow."""
    kept = []
    for n in order:
        if sizes[n] <= budget:
            kept.append(lines[n])
            budget -= sizes[n]
    return "".join(kept)


def share_in(text: str, evidence: Sequence[str]) -> float:
    """Return the part of some turns that stands in a text, averaged over the turns."""
    lines = [_words(line) for line in text.splitlines()]
    return sum(_share(lines, _words(turn)) for turn in evidence) / len(evidence)


def _share(lines: Sequence[Sequence[str]], words: Sequence[str]) -> float:
    """Return the share of words that stand in some line in runs of several, or all of them where they are fewer."""
    size = min(_IN_A_ROW, len(words))
    if not size:
        return 1.0
    there = {run for line in lines for run in _runs(line, size)}
    found = {at + step for at, run in enumerate(_runs(words, size)) if run in there for step in range(size)}
    return len(found) / len(words)


def _runs(words: Sequence[str], size: int) -> list[tuple[str, ...]]:
    return [tuple(words[at : at + size]) for at in range(len(words) - size + 1)]


def _words(text: str) -> list[str]:
    return [word.lower() for word in _WORD.findall(text)]


def interval(differences: Sequence[float], samples: int = SAMPLES) -> tuple[float, float]:
    """Return the 95 % interval of a mean by bootstrap."""
    chance, size = random.Random(1), len(differences)
    means = sorted(sum(chance.choices(differences, k=size)) / size for _ in range(samples))
    return means[int(0.025 * samples)], means[int(0.975 * samples)]


def table(rows: Sequence[Figure]) -> Iterator[str]:
    """All budgets as a Markdown table."""
    yield "| budget | tokens used | context | BM25, whole turns | BM25, shortened | against the better | 95 % |"
    yield "|---|---|---|---|---|---|---|"
    for budget in sorted({row.budget for row in rows}):
        here = [row for row in rows if row.budget == budget]
        ours, whole, cut, tokens = (
            sum(values) / len(here) for values in zip(*((o.ours, o.whole, o.cut, o.tokens) for o in here), strict=True)
        )
        ahead = [figure.ours - (figure.whole if whole > cut else figure.cut) for figure in here]
        low, high = interval(ahead)
        text = f"| {budget:,} | {tokens:,.0f} | {ours:.3f} | {whole:.3f} | {cut:.3f} |"
        yield f"{text} {sum(ahead) / len(ahead):+.3f} | {low:+.3f} to {high:+.3f} |"


def main() -> int:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", type=Path, nargs="+", metavar="FILE")
    parser.add_argument("--vaults", type=Path, help="a folder that keeps the vaults for the next run")
    parser.add_argument("--only", type=int, nargs="*", help="the numbers of the conversations, from 0 on")
    parser.add_argument("--semantic", action="store_true", help="with the local embedding model")
    parser.add_argument("--dump", type=Path, help="write each question's figures as JSON lines")
    namespace = parser.parse_args()
    count = exact_counter()
    with tempfile.TemporaryDirectory(prefix="clawmem-bench-") as temporary:
        kept = (namespace.vaults or Path(temporary)).absolute()
        for path in namespace.files:
            rows: list[Figure] = []
            for number, corpus in enumerate(conversations(path)):
                if namespace.only is None or number in namespace.only:
                    name = f"{path.stem}-{number}{'-semantic' if namespace.semantic else ''}"
                    vault = make_memory(kept / name / "vault", corpus, namespace.semantic)
                    rows += figures(corpus, vault, BUDGETS, count)
            print(f"{path.stem}: {len(rows) // len(BUDGETS)} questions\n")
            for line in (*table(rows), ""):
                print(line, flush=True)
            if namespace.dump:
                with namespace.dump.open("a", encoding="utf-8") as out:
                    out.writelines(
                        json.dumps([row.asked.conversation, row.asked.question, *row[1:]]) + "\n" for row in rows
                    )
    return 0


if __name__ == "__main__":
    sys.exit(main())
