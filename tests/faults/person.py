"""A person who works in the vault with plain git, beside commands that write: what was acknowledged stays in HEAD."""

from __future__ import annotations

import random
import subprocess
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from threading import Event

from clawmem.vault.git.acceptance import accept
from tests.command_server import shared_server
from tests.faults.checks import assert_sound, assert_whole, commits, git
from tests.memory.machines import make_machines

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
    accept(other / ".git", own)
    git(root, own, "remote", "add", "origin", str(hub))
    end = time.monotonic() + seconds
    with ThreadPoolExecutor(writers + 1) as pool:
        person = pool.submit(_person, root, other, own, end, random.Random(seed))
        kept = [text for texts in pool.map(partial(_write, root, own, end), range(writers)) for text in texts]
        tally = person.result()
    _git(root, own, "merge", "--abort")
    _remember(root, own, "The last one.")
    record = git(root, own, "grep", "-h", "-e", "fact", "HEAD", "--", "life")
    missing = [text for text in kept if text not in record]
    assert missing == []
    assert_whole(root, own)
    assert_sound(root, own)
    tally["facts"], tally["commits"] = len(kept), len(commits(root, own))
    return tally


def sync_beside(folder: Path, environment: Mapping[str, str], syncs: int, seed: int) -> Counter[str]:
    """Two clones that write and sync so many times, while a person commits and edits in both at random moments.

    Every commit by hand is an ancestor of HEAD afterwards, every line by hand and every fact is in HEAD, in both."""
    own = {key: value for key, value in environment.items() if key != "CLAWMEM_SEED"}
    roots = [machine.root for machine in make_machines(folder, own)]
    finished, tally = Event(), Counter[str]()
    with ThreadPoolExecutor(2) as pool:
        people = [pool.submit(_person_of_clone, root, own, finished, random.Random(f"{seed} {root}")) for root in roots]
        try:
            facts = _sync_in_turn(roots, own, syncs, random.Random(seed), tally)
        finally:
            finished.set()
        by_hand = [person.result() for person in people]
    for root in (*roots, *roots, *roots):
        assert _clawmem(root, own, "sync") == 0
    for root in roots:
        for made, _ in by_hand:
            assert [name for name in made if _git(root, own, "merge-base", "--is-ancestor", name, "HEAD")] == []
        text = git(root, own, "grep", "-h", "-e", "", "HEAD", "--", "life", "wiki")
        assert [line for line in (*facts, *(line for _, lines in by_hand for line in lines)) if line not in text] == []
        assert_whole(root, own)
        assert_sound(root, own)
        assert _clawmem(root, own, "doctor", "--full") == 0
    tally["commits"] = sum(len(made) for made, _ in by_hand)
    tally["lines"], tally["facts"] = sum(len(lines) for _, lines in by_hand), len(facts)
    return tally


def _sync_in_turn(
    roots: Sequence[Path], environment: Mapping[str, str], syncs: int, chance: random.Random, tally: Counter[str]
) -> list[str]:
    facts = []
    for number in range(syncs):
        root = roots[number % 2]
        text = f"The clone {root.name} says {number}."
        if _remember(root, environment, text, f"projects/p{number % 3}") == 0:
            facts.append(text)
        time.sleep(chance.random() / 20)
        code = _clawmem(root, environment, "sync")
        assert code in _BUSY, code
        tally["syncs"] += 1
        tally[f"sync {code}"] += 1
    return facts


def _person_of_clone(
    root: Path, environment: Mapping[str, str], finished: Event, chance: random.Random
) -> tuple[list[str], list[str]]:
    """Commit and edit at random moments until the end; the commits and the lines that git or the disk confirmed."""
    made, lines = [], []
    number = 0
    while not finished.is_set():
        number += 1
        line = f"{root.name} wrote line {number} by hand."
        page = root / f"wiki/{root.name}-{number % 4}.md"
        page.parent.mkdir(exist_ok=True)
        with page.open("a") as file:
            file.write(f"\n{line}\n")
        lines.append(line)
        if chance.random() < 0.6 and _git(root, environment, "add", str(page)) == 0:
            commit = _commit(root, environment, line)
            made += [commit] if commit else []
        finished.wait(chance.random() / 2)
    return made, lines


def _commit(root: Path, environment: Mapping[str, str], message: str) -> str | None:
    """Commit what is staged; the commit that git names, or None if git refused."""
    command = ["git", "commit", "-q", "-m", message]
    if subprocess.run(command, cwd=root, env=environment, capture_output=True, check=False).returncode:
        return None
    return git(root, environment, "log", "-g", "-1", "--format=%H", f"--grep-reflog=commit: {message}").strip()


def pull_beside(folder: Path, environment: Mapping[str, str], seconds: float, seed: int) -> Counter[str]:
    """Three writers in one clone, where a person pulls with git what a second clone writes and syncs. Afterwards the
    index has what HEAD has."""
    own = {key: value for key, value in environment.items() if key != "CLAWMEM_SEED"}
    here, there = [machine.root for machine in make_machines(folder, own)]
    end, tally = time.monotonic() + seconds, Counter[str]()
    with ThreadPoolExecutor(4) as pool:
        other = pool.submit(_write_and_sync, there, own, end)
        writers = pool.map(partial(_write, here, own, end), range(3))
        chance = random.Random(seed)
        while time.monotonic() < end:
            code = _git(here, own, "pull", "-q", "--no-rebase", "--no-edit", "origin", "main")
            tally[f"pull {code}"] += 1
            if (here / ".git/MERGE_HEAD").exists():
                _git(here, own, "merge", "--abort")
            time.sleep(chance.random() / 4)
        kept = [text for texts in writers for text in texts]
        tally["facts"], tally["other facts"] = len(kept), len(other.result())
    if _git(here, own, "pull", "-q", "--no-rebase", "--no-edit", "origin", "main"):
        _git(here, own, "merge", "--abort")
    _remember(here, own, "The last one.")
    record = git(here, own, "grep", "-h", "-e", "fact", "HEAD", "--", "life")
    assert [text for text in kept if text not in record] == []
    assert_sound(here, own)
    assert _clawmem(here, own, "doctor", "--full") == 0
    return tally


def _write_and_sync(root: Path, environment: Mapping[str, str], end: float) -> list[str]:
    kept, number = [], 0
    while time.monotonic() < end:
        number += 1
        text = f"The other clone says {number}."
        if _remember(root, environment, text, f"projects/o{number % 3}") == 0:
            kept.append(text)
        _clawmem(root, environment, "sync")
    return kept


def _clawmem(root: Path, environment: Mapping[str, str], *arguments: str) -> int:
    return shared_server().run(arguments, b"", root, environment, seconds=300).returncode


def _write(root: Path, environment: Mapping[str, str], end: float, writer: int) -> list[str]:
    kept, number = [], 0
    while time.monotonic() < end:
        number += 1
        text = f"Writer {writer} kept fact {number}."
        if _remember(root, environment, text, f"projects/p{number % 3}") == 0:
            kept.append(text)
    return kept


def _remember(root: Path, environment: Mapping[str, str], text: str, entity: str = "areas/last") -> int:
    process = shared_server().run(("remember", text, "--entity", entity), b"", root, environment, seconds=300)
    assert process.returncode in _BUSY, process
    return process.returncode


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
