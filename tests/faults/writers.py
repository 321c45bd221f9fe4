"""Many processes that write at once, and what must be true afterwards."""

from __future__ import annotations

from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path

from tests.command_server import shared_server
from tests.faults.checks import assert_sound, assert_whole, commits, facts


def write_at_once(
    root: Path, environment: Mapping[str, str], writers: int, each: int, patience: float | None = None
) -> None:
    """`writers` at a time run `clawmem remember`, `each` one after the other: all succeed, and all is there.

    Each waits for the others `patience` seconds at most; None is what the settings say.
    """
    # Ids must differ from process to process, as they do in life.
    own = {key: value for key, value in environment.items() if key != "CLAWMEM_SEED"}
    if patience is not None:
        words = ("config", "set", "lock.wait_seconds", str(patience))
        shared_server().run(words, b"", root, own, seconds=300).check_returncode()
    before = len(commits(root, own))
    with ThreadPoolExecutor(writers) as pool:
        failed = [text for all_said in pool.map(partial(_write, root, own, each), range(writers)) for text in all_said]
    assert not failed, failed
    assert_whole(root, own)
    assert_sound(root, own)
    assert len(commits(root, own)) == before + writers * each
    texts = [record["fact"] for record in facts(root)]
    assert sorted(texts) == sorted(_text(writer, number) for writer in range(writers) for number in range(each))
    assert len({record["id"] for record in facts(root)}) == writers * each


def _write(root: Path, environment: Mapping[str, str], each: int, writer: int) -> list[str]:
    items = []
    for number in range(each):
        # Half of the facts go to one place that all writers share, half to a place of each writer's own.
        entity = "areas/shared" if number % 2 else f"projects/writer-{writer}"
        words = ("remember", _text(writer, number), "--entity", entity)
        process = shared_server().run(words, b"", root, environment, seconds=300)
        if process.returncode != 0:
            items.append(f"exit {process.returncode}: {process.stderr.decode()}")
    return items


def _text(writer: int, number: int) -> str:
    return f"Writer {writer} kept fact {number}."
