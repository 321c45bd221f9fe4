"""How well the turn that answers a question is found: `python -m benchmarks.retrieval FILE... [--as-one] [--detail]`.

FILE is a JSON list of conversations in LoCoMo's form, each turn one event. A question counts where its evidence names
turns that exist. Evidence recall@k is the share of those turns among the first k found, hit@5 the share of questions
with any of them among the first five, both averaged over questions. Every ranker is given the same texts (speaker,
words, day) and, apart from `grep`, the same question words. `--as-one` puts all conversations in one memory.

`--vaults` measures `recall` as the command line calls it, on vaults that a heartbeat learned from: facts, events, and
everything in one ranking, without the local model and with it. A fact counts for the turn that it quotes. Every other
conversation is looked at, the rest only reported; intervals are of a bootstrap over conversations and their questions.
"""

from __future__ import annotations

import argparse
import atexit
import json
import math
import os
import random
import re
import shutil
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple

from benchmarks.measure import environment
from benchmarks.report import Row
from clawmem.index.refresh import open_index
from clawmem.index.search.channels import FactFilter
from clawmem.index.search.events import rank_by_meaning
from clawmem.index.tables.store import Index
from clawmem.index.vectors import events_by_meaning
from clawmem.index.vectors.embed import embed_missing
from clawmem.index.vectors.local_model import missing_packages
from clawmem.model.language.question import search_words
from clawmem.model.records.caller import Caller
from clawmem.model.records.change import Change, trailers
from clawmem.model.records.event import Event, render_events
from clawmem.model.search.passage import search_texts
from clawmem.serving.recall.events import EventResults, find_said
from clawmem.serving.recall.recall import LEAST_SCORE, RecallQuery, question_words, recall_in
from clawmem.serving.recall.result import EVENTS, FACTS, RECALL_KINDS, EventHit, FactHit, RecallHit
from clawmem.vault.commit.transaction import transaction
from clawmem.vault.exchange.create import create_vault
from clawmem.vault.vault import Vault

_CALLER = Caller(datetime(2026, 1, 1, tzinfo=UTC), os.urandom)
DEPTHS = (1, 5, 10, 20)
COLUMNS = (*(f"R@{depth}" for depth in DEPTHS), "nDCG@10", "hit@5")
CATEGORIES = {1: "multi-hop", 2: "time", 3: "open", 4: "single-hop", 5: "adversarial"}
_TURN_ID = re.compile(r"D\d+:\d+")
_WORD = re.compile(r"[^\W_]+")

# Given a question, the numbers of the best events, best first.
Ranker = Callable[[str], Sequence[int]]
# Given the events, a ranker over them. A further one, such as vectors, needs no more than a line in RANKERS.
Maker = Callable[[Sequence[Event]], Ranker]


class Asked(NamedTuple):
    """A question, the numbers of the events that answer it, its category, and the conversation it is about."""

    question: str
    evidence: frozenset[int]
    category: int
    conversation: str


class Corpus(NamedTuple):
    """Events in the order they were said, and the questions asked of them."""

    events: tuple[Event, ...]
    asked: tuple[Asked, ...]


def read(path: Path, as_one: bool = False) -> list[Corpus]:
    """The conversations of a file, each for itself or all as one."""
    content = json.loads(path.read_text(encoding="utf-8"))
    # REALTALK has one conversation in a file, with its sessions beside its questions.
    samples = content if isinstance(content, list) else [{"conversation": content, "qa": content["qa"]}]
    corpora = [conversation(sample, path.stem if len(samples) == 1 else f"{at}") for at, sample in enumerate(samples)]
    if not as_one:
        return corpora
    events: list[Event] = []
    asked: list[Asked] = []
    for corpus in corpora:
        shift = len(events)
        asked += [
            other_asked._replace(evidence=frozenset(n + shift for n in other_asked.evidence))
            for other_asked in corpus.asked
        ]
        events += corpus.events
    return [Corpus(tuple(events), tuple(asked))]


def conversation(sample: Mapping[str, Any], fallback: str) -> Corpus:
    name = str(sample.get("sample_id", fallback))
    events = tuple(_events(sample["conversation"], name))
    number = {event.external_id: n for n, event in enumerate(events)}
    asked = []
    for other in sample["qa"]:
        named = _TURN_ID.findall(" ".join(other["evidence"]))
        evidence = frozenset(number[turn] for turn in named if turn in number)
        if evidence:
            asked.append(Asked(str(other["question"]), evidence, int(other["category"]), name))
    return Corpus(events, tuple(asked))


def _events(conversation: Mapping[str, Any], name: str) -> Iterator[Event]:
    number = 1
    while f"session_{number}" in conversation:
        for turn in conversation[f"session_{number}"]:
            if "date_time" in turn:
                when = datetime.strptime(turn["date_time"], "%d.%m.%Y, %H:%M:%S")
            else:
                when = datetime.strptime(conversation[f"session_{number}_date_time"], "%I:%M %p on %d %B, %Y")
            text = turn["text"] if "text" in turn else turn["clean_text"]
            if not text.strip():
                continue
            yield Event(
                id=f"{name}:{turn['dia_id']}",
                timestamp=f"{when.isoformat()}Z",
                role="user",
                text=text,
                speaker=turn["speaker"],
                session=f"{name}:{number}",
                external_id=turn["dia_id"],
            )
        number += 1


def measured(found: Sequence[int], evidence: frozenset[int]) -> tuple[float, ...]:
    """The figures of one question, in the order of COLUMNS."""
    hits = [n in evidence for n in found[: max(DEPTHS)]]
    gain = sum(hit / math.log2(at + 2) for at, hit in enumerate(hits[:10]))
    ideal = sum(1 / math.log2(at + 2) for at in range(min(len(evidence), 10)))
    recalls = [sum(hits[:depth]) / len(evidence) for depth in DEPTHS]
    return (*recalls, gain / ideal, float(any(hits[:5])))


def _texts(events: Sequence[Event]) -> list[str]:
    return [" ".join(search_texts(event.text, event.speaker, event.timestamp)) for event in events]


def _tokens(text: str) -> list[str]:
    return [word.lower() for word in _WORD.findall(text)]


def grep(events: Sequence[Event]) -> Ranker:
    """By how many of the question's words, as they stand, are in the text."""
    bags = [set(_tokens(text)) for text in _texts(events)]

    def rank(question: str) -> Sequence[int]:
        words = set(_tokens(question))
        return sorted(range(len(bags)), key=lambda n: (-len(words & bags[n]), n))

    return rank


def rank_bm25(events: Sequence[Event]) -> Ranker:
    """By the package rank-bm25, Okapi with its own defaults."""
    from rank_bm25 import BM25Okapi  # brings numpy, which only this ranker needs

    bm25 = BM25Okapi([_tokens(text) for text in _texts(events)])

    def rank(question: str) -> Sequence[int]:
        scores = bm25.get_scores([part for word in search_words(question) for part in _tokens(word)])
        return sorted(range(len(events)), key=lambda n: (-scores[n], n))

    return rank


def fts5(events: Sequence[Event], most: int = max(DEPTHS)) -> Ranker:
    """By SQLite's FTS5 (BM25) with the Porter stemmer, whole texts."""
    database = _words_table((n, text) for n, text in enumerate(_texts(events)))

    def rank(question: str) -> Sequence[int]:
        return [n for n, _ in _matches(database, [_phrase(word) for word in search_words(question)], most)]

    return rank


def whoosh(events: Sequence[Event]) -> Ranker:
    """By Whoosh with its stemming analyser and BM25F."""
    from whoosh.analysis.analyzers import StemmingAnalyzer
    from whoosh.fields import STORED, TEXT, Schema
    from whoosh.filedb import filestore
    from whoosh.query.compound import Or
    from whoosh.query.terms import Term

    memory: Any = filestore.RamStorage  # carries no types
    analyzer: Any = StemmingAnalyzer(expression=r"[^\W_]+", stoplist=None, minsize=1)
    index = memory().create_index(Schema(n=STORED, text=TEXT(analyzer=analyzer)))
    writer = index.writer()
    for n, text in enumerate(_texts(events)):
        writer.add_document(n=n, text=text)
    writer.commit()
    searcher = index.searcher()

    def rank(question: str) -> Sequence[int]:
        terms = [Term("text", token.text) for word in search_words(question) for token in analyzer(word)]
        return [hit["n"] for hit in searcher.search(Or(terms), limit=max(DEPTHS))] if terms else []

    return rank


def ours(events: Sequence[Event]) -> Ranker:
    """By clawmem itself, as `clawmem recall --in events` does it where no text was embedded."""
    vault, index = _vault_of(events)
    return _asking(events, lambda question: [hit.event.id for hit in _said(vault, index, question).heard])


def with_model(events: Sequence[Event]) -> Ranker:
    """By clawmem itself after a heartbeat embedded every event with the local model."""
    vault, index = _vault_of(events)
    embed_missing(vault, seconds=3600)
    return _asking(events, lambda question: [hit.event.id for hit in _said(vault, index, question).heard])


def vectors(events: Sequence[Event]) -> Ranker:
    """By the local model's vectors alone, as the channel of that name gives them."""
    vault, index = _vault_of(events)
    embed_missing(vault, seconds=3600)
    ids = dict(index.database.execute("SELECT n, id FROM event"))

    def found(question: str) -> list[str]:
        scores = rank_by_meaning(index, question, events_by_meaning(vault, index, question)).scores
        return [ids[n] for n in sorted(scores, key=lambda n: (-scores[n], n))]

    return _asking(events, found)


def _vault_of(events: Sequence[Event]) -> tuple[Vault, Index]:
    """A vault with these events in its ledger, and its index."""
    folder = Path(tempfile.mkdtemp(prefix="clawmem-bench-"))
    atexit.register(shutil.rmtree, folder)
    vault = create_vault(folder / "vault", environment(folder / "home"), _CALLER.now)
    days: dict[str, list[Event]] = {}
    for event in events:
        days.setdefault(event.timestamp[:10], []).append(event)
    writes = {f"ledger/{day}.jsonl": render_events(items) for day, items in sorted(days.items())}
    with transaction(vault, _CALLER.now, "benchmark") as work:
        work.commit([Change("ingest: conversations to measure on", writes, trailers("ingest"))])
    return vault, open_index(vault)


_CLAWMEM = [str(Path(sys.executable).with_name("clawmem"))]
PLACES: Mapping[str, Sequence[str]] = {"facts": (FACTS,), "events": (EVENTS,), "everything": RECALL_KINDS}
# As many hits as the command line shows.
_SHOWN = 10
# Of the heartbeats that one vault needs until every text has its vector.
_MOST_HEARTBEATS = 20


def learned_vault(events: Sequence[Event]) -> Vault:
    """A vault that was told a conversation on the command line, after heartbeats until every text has its vector."""
    folder = Path(tempfile.mkdtemp(prefix="clawmem-bench-"))
    atexit.register(shutil.rmtree, folder)
    env, root = environment(folder / "home"), folder / "vault"
    lines = (
        json.dumps(
            {
                "role": event.role,
                "speaker": event.speaker,
                "content": event.text,
                "id": event.id,
                "timestamp": event.timestamp,
                "session": event.session,
            }
        )
        for event in events
    )
    _run([*_CLAWMEM, "init", str(root)], folder, env)
    _run([*_CLAWMEM, "ingest", "-", "--format", "jsonl"], root, env, "\n".join(lines))
    for _ in range(_MOST_HEARTBEATS):
        result = json.loads(_run([*_CLAWMEM, "heartbeat", "--json"], root, env))["data"]
        if not (result.get("embedded") or {}).get("left"):
            break
    return Vault(root, env)


def _run(command: Sequence[str], folder: Path, env: Mapping[str, str], value: str = "") -> str:
    process = subprocess.run(
        command, cwd=folder, env=dict(env), input=value, capture_output=True, text=True, check=True
    )
    return process.stdout


def recalled(vault: Vault, index: Index, events: Sequence[Event], places: Sequence[str]) -> Ranker:
    """By `recall` as the command line calls it, with what it shows by itself; -1 for a hit that adds no turn."""
    query = "SELECT id, line FROM event"
    number = {event.id: n for n, event in enumerate(events)}
    turn = {name: number[json.loads(line)["external_id"]] for name, line in index.database.execute(query)}

    def turn_of(hit: RecallHit) -> int:
        if isinstance(hit.hit, FactHit):
            return turn.get(hit.hit.fact.source_event or "", -1)
        return turn[hit.hit.event.id] if isinstance(hit.hit, EventHit) else -1

    def rank(question: str) -> Sequence[int]:
        asked = RecallQuery(question, _CALLER, FactFilter(), _SHOWN, places, least=LEAST_SCORE)
        turns = [turn_of(hit) for hit in recall_in(vault, index, asked).ranking]
        # Two facts from one turn are one turn found.
        return [n if n not in turns[:at] else -1 for at, n in enumerate(turns)]

    return rank


def interval(results: Sequence[Scored], column: int, rounds: int = 2_000) -> tuple[float, float]:
    """The 95 % interval of a figure's mean, by a bootstrap over conversations and over the questions of each."""
    chance = random.Random(1)
    by_name: dict[str, list[float]] = {}
    for result in results:
        by_name.setdefault(result.asked.conversation, []).append(result.figures[column])
    each = list(by_name.values())
    means = []
    for _ in range(rounds):
        drawn = [chance.choices(values, k=len(values)) for values in chance.choices(each, k=len(each))]
        means.append(sum(map(sum, drawn)) / sum(map(len, drawn)))
    means.sort()
    return means[int(0.025 * rounds)], means[int(0.975 * rounds)]


def vault_lines(corpora: Sequence[Corpus]) -> Iterator[str]:
    """`recall` on vaults, against BM25 over the turns, as a Markdown table: R@10 with its interval, and hit@5."""
    found: dict[tuple[str, str], list[Scored]] = {}
    for at, corpus in enumerate(corpora):
        half = "reported only" if at % 2 else "looked at"
        vault = learned_vault(corpus.events)
        makers: dict[str, Maker] = {"rank-bm25": rank_bm25, "FTS5 alone": fts5}
        for model in ("no model",) if missing_packages() else ("local model", "no model"):
            if model == "no model":
                _run([*_CLAWMEM, "config", "set", "semantic.model", "none"], vault.root, vault.git.environment)
            seen = Vault(vault.root, vault.git.environment)
            for place, kinds in PLACES.items():
                makers[f"recall, {place}, {model}"] = _maker(seen, kinds)
            for name, maker in makers.items():
                found.setdefault((half, name), []).extend(scored([corpus], maker))
            makers = {}
    yield "| conversations | ranker | questions | R@10 | 95 % | hit@5 |"
    yield "|---|---|---|---|---|---|"
    column = COLUMNS.index("R@10")
    for (half, name), results in sorted(found.items()):
        low, high = interval(results, column)
        figures = mean(results)
        yield f"| {half} | {name} | {len(results)} | {figures[column]:.3f} | {low:.3f}-{high:.3f} | {figures[-1]:.3f} |"


def _maker(vault: Vault, places: Sequence[str]) -> Maker:
    return lambda events: recalled(vault, open_index(vault), events, places)


def _said(vault: Vault, index: Index, question: str) -> EventResults:
    asked = RecallQuery(question, _CALLER, FactFilter(), max(DEPTHS), (EVENTS,))
    return find_said(vault, index, asked, question_words(index, question, with_talk=True))


def _asking(events: Sequence[Event], found: Callable[[str], Sequence[str]]) -> Ranker:
    number = {event.id: n for n, event in enumerate(events)}
    return lambda question: [number[name] for name in found(question)]


def _words_table(documents: Iterable[tuple[int, str]]) -> sqlite3.Connection:
    database = sqlite3.connect(":memory:")
    tokenizer = "porter unicode61 remove_diacritics 2"
    database.execute(f"CREATE VIRTUAL TABLE words USING fts5(text, content='', tokenize='{tokenizer}')")
    database.executemany("INSERT INTO words (rowid, text) VALUES (?, ?)", documents)
    return database


def _phrase(word: str) -> str:
    return '"' + word.replace('"', '""') + '"'


def _matches(database: sqlite3.Connection, phrases: Sequence[str], limit: int) -> list[tuple[int, float]]:
    query = "SELECT rowid, -rank FROM words WHERE words MATCH ? ORDER BY rank, rowid LIMIT ?"
    return database.execute(query, (" OR ".join(phrases), limit)).fetchall()


RANKERS: Mapping[str, Maker] = {
    "grep-like word overlap": grep,
    "rank-bm25": rank_bm25,
    "FTS5 alone": fts5,
    "Whoosh alone": whoosh,
    "clawmem, no model": ours,
    **({} if missing_packages() else {"vectors alone": vectors, "clawmem, local model": with_model}),
}


class Scored(NamedTuple):
    """A question with its figures, and what finding took, in milliseconds of this process."""

    asked: Asked
    figures: tuple[float, ...]
    took: float


def scored(corpora: Sequence[Corpus], maker: Maker) -> list[Scored]:
    """Every question of every corpus, ranked by one ranker."""
    results = []
    for corpus in corpora:
        rank = maker(corpus.events)
        for asked in corpus.asked:
            start = time.process_time()
            found = rank(asked.question)
            took = (time.process_time() - start) * 1000
            results.append(Scored(asked, measured(found, asked.evidence), took))
    return results


def mean(results: Sequence[Scored]) -> tuple[float, ...]:
    """The mean of each figure."""
    return tuple(sum(column) / len(results) for column in zip(*(result.figures for result in results), strict=True))


def table(results: Mapping[str, Sequence[Scored]]) -> Iterator[str]:
    """All rankers, over all questions, as a Markdown table."""
    yield f"| ranker | {' | '.join(COLUMNS)} | median ms |"
    yield f"|---|{'---|' * (len(COLUMNS) + 1)}"
    for name, result in results.items():
        took = sorted(each.took for each in result)[len(result) // 2]
        yield f"| {name} | {' | '.join(f'{value:.3f}' for value in mean(result))} | {took:.2f} |"


def detail(results: Mapping[str, Sequence[Scored]]) -> Iterator[str]:
    """All rankers by category and by conversation."""
    yield f"| ranker | questions | n | {' | '.join(COLUMNS)} |"
    yield f"|---|---|---|{'---|' * len(COLUMNS)}"
    for name, all_of_it in results.items():
        for kind, part in _parts(all_of_it):
            yield f"| {name} | {kind} | {len(part)} | {' | '.join(f'{value:.3f}' for value in mean(part))} |"


def _parts(results: Sequence[Scored]) -> Iterator[tuple[str, list[Scored]]]:
    for category in sorted({result.asked.category for result in results}):
        kind = CATEGORIES.get(category, str(category))
        yield kind, [result for result in results if result.asked.category == category]
    for name in dict.fromkeys(result.asked.conversation for result in results):
        yield name, [result for result in results if result.asked.conversation == name]


def retrieval_rows(path: Path) -> Iterator[Row]:
    """The figures that were aimed at, without a model and with it, beside what FTS5 alone finds."""
    corpora = read(path)
    plain = mean(scored(corpora, fts5))
    for name, maker, goal in (("clawmem, no model", ours, 0.79), ("clawmem, local model", with_model, 0.81)):
        if maker is with_model and missing_packages():
            continue
        figures = mean(scored(corpora, maker))
        yield Row(f"{name}: R@10", figures[2], goal, f"FTS5 alone {plain[2]:.3f}", at_least=True)
        yield Row(f"{name}: hit@5", figures[5], 0.76, f"FTS5 alone {plain[5]:.3f}", at_least=True)


def main() -> int:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", type=Path, nargs="+", metavar="FILE")
    parser.add_argument("--vaults", action="store_true")
    parser.add_argument("--as-one", action="store_true")
    parser.add_argument("--detail", action="store_true")
    namespace = parser.parse_args()
    corpora = [corpus for path in namespace.files for corpus in read(path, namespace.as_one)]
    if namespace.vaults:
        for line in vault_lines(corpora):
            print(line, flush=True)
        return 0
    results = {name: scored(corpora, maker) for name, maker in RANKERS.items()}
    print(
        f"{sum(len(corpus.events) for corpus in corpora):,} turns, "
        f"{sum(len(corpus.asked) for corpus in corpora):,} questions\n"
    )
    for line in (*table(results), *(("", *detail(results)) if namespace.detail else ())):
        print(line, flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
