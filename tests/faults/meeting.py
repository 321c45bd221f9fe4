"""Many clones that write and sync at the same time through one bare repository, and what must be true afterwards."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path

from clawmem.vault.git.acceptance import accept
from tests.command_server import shared_server
from tests.faults.checks import assert_sound, assert_whole, facts, git

# As git writes them, in any file and any encoding; a line of equal signs alone may also underline a heading.
MARKS = re.compile(rb"^(?:<{7}|>{7}|\|{7})(?: |\r?$)", re.MULTILINE)


def clones(folder: Path, environment: Mapping[str, str], count: int) -> list[Path]:
    """A vault in a bare repository, and clones of it."""
    hub, first = folder / "hub.git", folder / "clone-0"
    git(folder, environment, "init", "-q", "--bare", "-b", "main", str(hub))
    run(folder, environment, "init", str(first))
    git(first, environment, "remote", "add", "origin", str(hub))
    run(first, environment, "sync")
    for number in range(1, count):
        git(folder, environment, "clone", "-q", str(hub), f"clone-{number}")
        accept(folder / f"clone-{number}/.git", environment)
    return [folder / f"clone-{number}" for number in range(count)]


def run(root: Path, environment: Mapping[str, str], *arguments: str) -> str:
    """A real command, which must succeed; what it says."""
    process = shared_server().run(arguments, b"", root, environment, seconds=300)
    assert process.returncode == 0, (arguments, process.returncode, process.stderr.decode())
    return process.stdout.decode()


def meet_at_once(folder: Path, environment: Mapping[str, str], count: int, writes: int) -> None:
    """`count` clones make `writes` each, with a sync after every one, all at once: every command succeeds, and in the
    end all clones say the same and hold every fact."""
    # Ids must differ from process to process, as they do in life.
    own = {key: value for key, value in environment.items() if key != "CLAWMEM_SEED"}
    roots = clones(folder, own, count)
    with ThreadPoolExecutor(count) as pool:
        list(pool.map(partial(_write, own, writes), range(count), roots))
    for root in (*roots, *roots):
        run(root, own, "sync")
    assert len({git(root, own, "rev-parse", "HEAD").strip() for root in roots}) == 1
    for root in roots:
        assert_whole(root, own)
        texts = [record["fact"] for record in facts(root)]
        assert sorted(texts) == sorted(text(writer, turn) for writer in range(count) for turn in range(writes))
        assert_sound(root, own)
        assert_no_marks(root, own)
    assert_no_marks(folder / "hub.git", own)


def _write(environment: Mapping[str, str], writes: int, number: int, root: Path) -> None:
    for turn in range(writes):
        # Half of the facts go to one place that all share, half to a place of each one's own.
        entity = "areas/shared" if turn % 2 else f"projects/writer-{number}"
        run(root, environment, "remember", text(number, turn), "--entity", entity)
        run(root, environment, "sync")


def text(writer: int, turn: int) -> str:
    """What a clone keeps."""
    return f"Clone {writer} kept fact {turn}."


def assert_no_marks(root: Path, environment: Mapping[str, str]) -> None:
    """No file of any commit that any ref of the repository leads to, or ever led to, holds the marks of a conflict."""
    blobs = blobs_of_all_commits(root, environment)
    assert blobs
    for name, data in blobs.items():
        assert not MARKS.search(data), (root, name, data)


def blobs_of_all_commits(root: Path, environment: Mapping[str, str]) -> dict[str, bytes]:
    """The contents of every file of every commit of all refs and reflogs, by the names of the blobs."""
    listed = git(root, environment, "rev-list", "--all", "--reflog", "--objects")
    data = "".join(f"{line.partition(' ')[0]}\n" for line in listed.splitlines()).encode()
    command = ["git", "cat-file", "--batch", "--buffer"]
    stream = subprocess.run(command, cwd=root, env=environment, input=data, capture_output=True, check=True).stdout
    found, at = {}, 0
    while at < len(stream):
        end = stream.index(b"\n", at)
        name, kind, size = stream[at:end].split()
        if kind == b"blob":
            found[name.decode()] = stream[end + 1 : end + 1 + int(size)]
        at = end + 1 + int(size) + 1
    return found
