"""The exact token counter: the vocabulary comes with the package, is checked, and nothing is fetched."""

from __future__ import annotations

import gzip
import os
import subprocess
import sys
from pathlib import Path

import pytest

from clawmem.errors import StorageFailed
from clawmem.index.tables import background
from clawmem.index.tables.background import exact_counter

# As on a default install without a network: no litellm, no cache of tiktoken's, no connection.
_OFFLINE = """
import socket, sys
def refuse(*given, **named): raise AssertionError(f"a connection was tried: {given}")
socket.socket.connect = socket.getaddrinfo = refuse
sys.modules["litellm"] = None
from clawmem.index.tables.background import exact_counter
assert "tiktoken" not in sys.modules
print(exact_counter()("The quick brown fox jumps over the lazy dog."))
"""


def test_the_counts_are_those_of_cl100k_base() -> None:
    count = exact_counter()
    assert count("hello world") == 2
    assert count("2026-11-21") == 6
    assert count("I'LL say it's 1234567 — 日本 😀") == 14
    assert count("<|endoftext|>") == 7, "what looks like a special token is plain text"


def test_a_default_install_counts_exactly_without_a_network(tmp_path: Path) -> None:
    env = {"PATH": os.environ["PATH"], "HOME": str(tmp_path), "TIKTOKEN_CACHE_DIR": str(tmp_path / "none")}
    env["PYTHONPATH"] = str(Path(background.__file__).parents[3])
    process = subprocess.run([sys.executable, "-c", _OFFLINE], env=env, capture_output=True, text=True, timeout=60)
    assert (process.stdout, process.stderr) == ("10\n", "")


@pytest.mark.parametrize("damage", ["cut", "changed", "gone"])
def test_a_damaged_vocabulary_is_an_error_and_not_a_wrong_count(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, damage: str
) -> None:
    path, whole = tmp_path / "vocabulary.gz", background.VOCABULARY.read_bytes()
    if damage == "cut":
        path.write_bytes(whole[:-1000])
    elif damage == "changed":
        path.write_bytes(gzip.compress(gzip.decompress(whole).replace(b"IQ== 0\n", b"IQ== 1\n")))
    monkeypatch.setattr(background, "VOCABULARY", path)
    exact_counter.cache_clear()
    with pytest.raises(StorageFailed, match=r"The token vocabulary .* cannot be read"):
        exact_counter()
