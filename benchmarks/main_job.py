"""The main job on conversations in a file: how much is read, what is learned, and whether every quote is exact.

    python -m benchmarks.main_job FILE [--show 5]

FILE is JSON Lines as `clawmem ingest` takes them, or a JSON list of LoCoMo conversations; each has a vault of its own.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from typing import Any

from benchmarks.measure import environment

_CLAWMEM = [str(Path(sys.executable).with_name("clawmem"))]


def conversations(path: Path) -> Iterator[tuple[str, list[str]]]:
    """Each conversation's name and its lines for `clawmem ingest`."""
    text = path.read_text(encoding="utf-8")
    if not text.lstrip().startswith("["):
        yield path.stem, text.splitlines()
        return
    for number, sample in enumerate(json.loads(text)):
        yield sample.get("sample_id", str(number)), list(_lines(sample["conversation"]))


def _lines(conversation: dict[str, Any]) -> Iterator[str]:
    number = 1
    while f"session_{number}" in conversation:
        when = datetime.strptime(conversation[f"session_{number}_date_time"], "%I:%M %p on %d %B, %Y")
        for turn in conversation[f"session_{number}"]:
            record = {"role": "user", "speaker": turn["speaker"], "content": turn["text"], "id": turn["dia_id"]}
            yield json.dumps({**record, "timestamp": f"{when.isoformat()}Z", "session": f"session_{number}"})
        number += 1


def quotes(root: Path) -> tuple[int, int]:
    """How many facts quote an event, and how many of them quote it exactly at their span."""
    texts: dict[str, str] = {}
    for path in sorted((root / "ledger").glob("*.jsonl")):
        for line in path.read_text(encoding="utf-8").splitlines():
            event = json.loads(line)
            texts[event["id"]] = event["text"]
    facts = [fact for path in root.glob("life/**/items.json") for fact in json.loads(path.read_text(encoding="utf-8"))]
    quoting = [fact for fact in facts if fact.get("source_event")]
    exact = [f for f in quoting if texts[f["source_event"]][slice(*f["source_span"])] == f["source_text"]]
    return len(quoting), len(exact)


def main() -> int:
    """Run every conversation and print a row for each; the exit code says whether all quotes are exact."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("file", type=Path)
    parser.add_argument("--show", type=int, default=0)
    namespace = parser.parse_args()
    print("| conversation | events | facts | entities | quotes exact | ingest s | heartbeat s | second beat |")
    print("|---|---|---|---|---|---|---|---|")
    sound = True
    with tempfile.TemporaryDirectory(prefix="clawmem-main-job-") as folder:
        env = environment(Path(folder) / "home")
        for name, lines in conversations(namespace.file):
            root = Path(folder) / name
            sound &= _run(name, root, "\n".join(lines), env, namespace.show)
    return 0 if sound else 1


def _run(name: str, root: Path, lines: str, env: dict[str, str], show: int) -> bool:
    _command(["init", str(root)], root.parent, env)
    took, ingested = _command(["ingest", "-", "--format", "jsonl"], root, env, lines)
    beat, _ = _command(["heartbeat"], root, env)
    _, again = _command(["heartbeat"], root, env)
    _, listed = _command(["list", "--limit", "100000"], root, env)
    _, entities = _command(["entity", "list"], root, env)
    quoting, exact = quotes(root)
    cells = (name, ingested["added"], listed["total"], len(entities["entities"]), f"{exact} of {quoting}")
    second = f"{len(again['commits'])} commits"
    print("| " + " | ".join(str(cell) for cell in (*cells, f"{took:.2f}", f"{beat:.2f}", second)) + " |", flush=True)
    for fact in listed["facts"][:show]:
        print(f"  {fact['id']} {fact['fact']}\n    evidence: {fact['source_text']!r} at {fact['source_span']}")
    return quoting == exact and again["commits"] == []


def _command(arguments: list[str], root: Path, env: dict[str, str], value: str = "") -> tuple[float, dict[str, Any]]:
    start = time.perf_counter()
    process = subprocess.run(
        [*_CLAWMEM, *arguments, "--json"], cwd=root, env=env, input=value.encode(), capture_output=True
    )
    seconds = time.perf_counter() - start
    if process.returncode != 0:
        raise RuntimeError(
            f"{arguments} ended with {process.returncode}: {process.stdout.decode()}{process.stderr.decode()}"
        )
    data: dict[str, Any] = json.loads(process.stdout)["data"]
    return seconds, data


if __name__ == "__main__":
    sys.exit(main())
