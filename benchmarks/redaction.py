"""A secret taken out of a long history: what `redact` takes, and whether twice the history takes twice as long."""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
import time
from collections import defaultdict
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from typing import NamedTuple

from benchmarks.corpus import NOW, Words, entity_names, invented_facts
from benchmarks.measure import environment
from benchmarks.report import Row
from clawmem.model.facts.codec import render_items
from clawmem.model.facts.fact import Fact
from clawmem.model.records.change import Change, trailers
from clawmem.model.records.entity import items_path
from clawmem.model.records.event import Event, ledger_path, render_events
from clawmem.vault.commit.transaction import transaction
from clawmem.vault.exchange.create import create_vault

_CLAWMEM = [str(Path(sys.executable).with_name("clawmem"))]
_SECRET = "silent-heron-plumtree"
_EACH = 5
_EVENTS_A_DAY = 100
_AT_ONCE = 100


class Cost(NamedTuple):
    """What one redaction took: seconds, seconds of the processor, the peak memory of its largest process in MB; in how
    many commits the secret was, and the MB of all versions of all files."""

    seconds: float
    work: float
    peak: float
    commits: int
    versions: float


def redaction_rows(folder: Path, facts: int = 10_000, events: int = 5_000) -> Iterator[Row]:
    """One redaction with the secret in one fact of a hundred, from the first commit on; and how its work grows from
    half of the history, whose files are also half as long."""
    env = environment(folder / "home")
    half = redaction(folder / "half", env, facts // 2, events // 2)
    whole = redaction(folder / "whole", env, facts, events)
    name = f"redact in {facts:,} facts, {facts // _EACH:,} commits, {events:,} events"
    detail = f"{whole.work:.1f} s of work; out of {whole.commits:,} commits, {whole.versions:,.0f} MB of versions"
    yield Row(f"{name}, seconds", whole.seconds, None, detail)
    yield Row("its peak memory, MB", whole.peak, None, f"the largest process; {half.peak:.0f} MB for half of it")
    detail = f"{whole.work:.1f} s for {whole.versions:,.0f} MB / {half.work:.1f} s for {half.versions:,.0f} MB"
    growth = whole.work / whole.versions / (half.work / half.versions)
    yield Row("work for each byte of all versions / that in half of the history", growth, 1.25, detail)


def redaction(folder: Path, env: dict[str, str], facts: int, events: int) -> Cost:
    """What the command takes in a new vault of that size."""
    folder.mkdir()
    root = long_history(folder / "vault", facts, events)
    versions = _versions(root)
    watched = [sys.executable, "-c", _WATCHED, *_CLAWMEM, "redact", "--pattern", _SECRET, "--yes", "--json"]
    start = time.perf_counter()
    process = subprocess.run(watched, cwd=root, env=env, capture_output=True, check=True)
    seconds = time.perf_counter() - start
    answer, used = process.stdout.decode().splitlines()
    message = json.loads(answer)["data"]
    assert message["remains"] == [], message
    work, peak = used.split()
    return Cost(seconds, float(work), int(peak) / 1024, len(message["commits"]), versions)


_WATCHED = (
    "import resource, subprocess, sys; subprocess.run(sys.argv[1:], check=True);"
    "used = resource.getrusage(resource.RUSAGE_CHILDREN); print(used.ru_utime + used.ru_stime, used.ru_maxrss)"
)


def _versions(root: Path) -> float:
    """The MB of every version of every file, unpacked."""
    command = ["git", "cat-file", "--batch-all-objects", "--batch-check=%(objecttype) %(objectsize)"]
    printed = subprocess.run(command, cwd=root, capture_output=True, check=True).stdout
    return sum(int(line.split()[1]) for line in printed.splitlines() if line.startswith(b"blob")) / 1e6


def long_history(root: Path, facts: int, events: int) -> Path:
    """A vault to which facts came five a commit and events beside them; one fact and one event in a hundred hold the
    secret."""
    vault = create_vault(root, {"PATH": os.environ["PATH"], "HOME": str(root.parent)}, NOW)
    changes = list(_changes(facts, events))
    for begin in range(0, len(changes), _AT_ONCE):
        with transaction(vault, NOW, "corpus") as started:
            started.commit(changes[begin : begin + _AT_ONCE])
    return root


def _changes(facts: int, events: int) -> Iterator[Change]:
    names = entity_names(500, 1)
    shelves: dict[str, list[Fact]] = defaultdict(list)
    items = list(invented_facts(facts, names, seed=3))
    message = list(_said(events))
    commits = -(-facts // _EACH)
    for number in range(commits):
        touched = {}
        for place, (entity, fact) in enumerate(items[number * _EACH : (number + 1) * _EACH], number * _EACH):
            shelves[entity].append(_with_secret(fact) if place % 100 == 0 else fact)
            touched[items_path(entity)] = render_items(shelves[entity])
        first, last = (events * at // commits for at in (number, number + 1))
        touched.update(_ledgers(message, first, last))
        yield Change(f"corpus(vault): commit {number}", touched, trailers("corpus"))


def _with_secret(fact: Fact) -> Fact:
    return fact._replace(fact=f"{fact.fact} The gate opens with {_SECRET}.")


def _said(count: int) -> Iterator[Event]:
    words = Words(random.Random(5))
    for number in range(count):
        when = NOW + timedelta(days=number // _EVENTS_A_DAY - count // _EVENTS_A_DAY, seconds=number % _EVENTS_A_DAY)
        text = " ".join(words.word() for _ in range(30)) + (f" {_SECRET}" if number % 100 == 0 else "")
        yield Event(f"evt_{number:016x}", when.strftime("%Y-%m-%dT%H:%M:%SZ"), "user", text)


def _ledgers(items: list[Event], first: int, last: int) -> dict[str, bytes]:
    """The days' ledgers that some events are written to, as they are after them."""
    files = {}
    for day in {number // _EVENTS_A_DAY for number in range(first, last)}:
        events = items[day * _EVENTS_A_DAY : min(last, (day + 1) * _EVENTS_A_DAY)]
        files[ledger_path(events[0].timestamp[:10])] = render_events(events)
    return files
