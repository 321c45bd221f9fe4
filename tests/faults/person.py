"""A person who works in the vault with plain git, beside commands that write: what was acknowledged stays in HEAD."""

from __future__ import annotations

import random
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path

from tests.faults.checks import assert_sound, assert_whole, commits, git

_BUSY = (0, 11, 12)


def work_beside(root: Path, environment: Mapping[str, str], seconds: float, writers: int, seed: int) -> Counter[str]:
    """Writers and a person for so many seconds; counts what happened. Every acknowledged fact is in HEAD afterwards,
    and each commit by hand is an ancestor of it."""
    own = {key: value for key, value in environment.items() if key != "CLAWMEM_SEED"}
    (root / "notes.txt").write_text("notes\n")
    git(root, own, "add", "notes.txt")
    git(root, own, "commit", "-q", "-m", "notes")
    hub, other = root.parent / "hub.git", root.parent / "other"
    git(root.parent, own, "clone", "-q", "--bare", str(root), str(hub))
    git(root.parent, own, "clone", "-q", str(hub), str(other))
    git(root, own, "remote", "add", "origin", str(hub))
    end = time.monotonic() + seconds
    with ThreadPoolExecutor(writers + 1) as pool:
        person = pool.submit(_person, root, other, own, end, random.Random(seed))
        kept = [text for texts in pool.map(partial(_write, root, own, end), range(writers)) for text in texts]
        tally = person.result()
    _git(root, own, "merge", "--abort")
    _remember(root, own, "The last one.")
    held = git(root, own, "grep", "-h", "-e", "fact", "HEAD", "--", "life")
    missing = [text for text in kept if text not in held]
    assert missing == []
    assert_whole(root, own)
    assert_sound(root, own)
    tally["facts"], tally["commits"] = len(kept), len(commits(root, own))
    return tally


def _write(root: Path, environment: Mapping[str, str], end: float, writer: int) -> list[str]:
    kept, number = [], 0
    while time.monotonic() < end:
        number += 1
        text = f"Writer {writer} kept fact {number}."
        if _remember(root, environment, text, f"projects/p{number % 3}") == 0:
            kept.append(text)
    return kept


def _remember(root: Path, environment: Mapping[str, str], text: str, entity: str = "areas/last") -> int:
    command = [sys.executable, "-m", "clawmem", "remember", text, "--entity", entity]
    done = subprocess.run(command, cwd=root, env=environment, capture_output=True, check=False)
    assert done.returncode in _BUSY, done
    return done.returncode


def _person(root: Path, other: Path, environment: Mapping[str, str], end: float, chance: random.Random) -> Counter[str]:
    tally: Counter[str] = Counter()
    number = 0
    while time.monotonic() < end:
        number += 1
        with (root / "notes.txt").open("a") as file:
            file.write(f"line {number}\n")
        if chance.random() < 0.5:
            _git(root, environment, "add", "notes.txt")
            code = _git(root, environment, "commit", "-q", "-m", f"by hand {number}")
        else:
            code = _git(root, environment, "commit", "-q", "-a", "-m", f"by hand {number}")
        tally[f"commit {code}"] += 1
        if number % 3 == 0:
            # Half of the pulls meet a conflict, and every one meets writers.
            name = "notes.txt" if chance.random() < 0.5 else "others.txt"
            with (other / name).open("a") as file:
                file.write(f"from elsewhere {number}\n")
            for command in (("add", name), ("commit", "-q", "-m", f"elsewhere {number}"), ("push", "-q")):
                _git(other, environment, *command)
            code = _git(root, environment, "pull", "-q", "--no-rebase", "--no-edit", "origin", "main")
            tally[f"pull {code}"] += 1
            if (root / ".git/MERGE_HEAD").exists():
                _git(root, environment, "merge", "--abort")
    return tally


def _git(root: Path, environment: Mapping[str, str], *arguments: str) -> int:
    return subprocess.run(["git", *arguments], cwd=root, env=environment, capture_output=True, check=False).returncode
