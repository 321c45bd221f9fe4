"""Token counters: the vocabulary is found where it lies, and never fetched."""

from __future__ import annotations

import base64
import hashlib
import importlib.machinery
import importlib.util
import os
import socket
import sys
from pathlib import Path

import pytest

from clawmem.model.pages.tokens import token_bound
from clawmem.vault.state import token_counter as tokens
from clawmem.vault.state.token_counter import CACHED, exact_counter, token_counter


def _vocabulary(path: Path) -> Path:
    """A vocabulary of all bytes and a few words, in the form of the real one."""
    entries = [bytes([value]) for value in range(256)] + [b"te", b"tea", b" tea"]
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(b"".join(base64.b64encode(entry) + b" %d\n" % rank for rank, entry in enumerate(entries)))
    return path


@pytest.fixture
def no_network(monkeypatch: pytest.MonkeyPatch) -> None:
    """Fail on any attempt to reach out."""

    def refuse(*given: object, **named: object) -> None:
        raise AssertionError(f"a connection was tried: {given}")

    monkeypatch.setattr(socket.socket, "connect", refuse)
    monkeypatch.setattr(socket, "getaddrinfo", refuse)


@pytest.fixture
def no_litellm(monkeypatch: pytest.MonkeyPatch) -> None:
    """As where litellm is not installed."""
    find = importlib.util.find_spec
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None if name == "litellm" else find(name))


@pytest.mark.usefixtures("no_network", "no_litellm")
def test_without_a_vocabulary_an_estimate_says_so(tmp_path: Path) -> None:
    counter = token_counter({"TIKTOKEN_CACHE_DIR": str(tmp_path)})
    assert not counter.exact
    assert "errs high" in counter.source
    assert counter.count("- some text\n") == token_bound("- some text\n")


@pytest.mark.usefixtures("no_network", "no_litellm")
@pytest.mark.parametrize("key", ["TIKTOKEN_CACHE_DIR", "DATA_GYM_CACHE_DIR"])
def test_tiktokens_cache_is_used(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, key: str) -> None:
    path = _vocabulary(tmp_path / CACHED)
    monkeypatch.setattr(tokens, "SHA256", hashlib.sha256(path.read_bytes()).hexdigest())
    counter = token_counter({key: str(tmp_path)})
    assert (counter.exact, counter.source) == (True, "cl100k_base, from tiktoken's cache")
    assert counter.count("tea tea") == 2
    assert counter.count("xyz") == 3
    assert counter.count("<|endoftext|>") == 12, "what looks like a special token is plain text"


@pytest.mark.usefixtures("no_network", "no_litellm")
def test_a_damaged_vocabulary_is_not_used_and_not_deleted(tmp_path: Path) -> None:
    path = _vocabulary(tmp_path / CACHED)
    assert not token_counter({"TIKTOKEN_CACHE_DIR": str(tmp_path)}).exact
    assert path.exists()


@pytest.mark.usefixtures("no_network")
def test_litellms_copy_comes_first_and_litellm_is_not_imported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(sys.modules, "litellm", raising=False)
    package = tmp_path / "litellm"
    path = _vocabulary(package / "litellm_core_utils" / "tokenizers" / CACHED)
    (package / "__init__.py").write_text("raise AssertionError('it was imported')\n")
    monkeypatch.setattr(tokens, "SHA256", hashlib.sha256(path.read_bytes()).hexdigest())
    found = importlib.machinery.PathFinder.find_spec("litellm", [str(tmp_path)])
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: found)
    counter = token_counter({})
    assert (counter.exact, counter.source) == (True, "cl100k_base, from litellm's package")
    assert counter.count(" tea") == 1
    assert "litellm" not in sys.modules


def test_the_pieces_are_cut_as_cl100k_cuts_them(tmp_path: Path) -> None:
    # With single bytes only, each piece counts its bytes: a merge across pieces would show.
    counter = exact_counter(_vocabulary(tmp_path / "v"), "here")
    assert counter.count("tea's tea") == len("'s") + 2
    assert counter.count("1234") == 4
    assert counter.count("a  tea") == 3


def test_the_real_vocabulary_where_there_is_one() -> None:
    counter = token_counter(os.environ)
    if not counter.exact:
        pytest.skip("the cl100k_base vocabulary is not on this machine: install the extra `llm`")
    assert counter.count("hello world") == 2
    assert counter.count("The quick brown fox jumps over the lazy dog.") == 10
    assert counter.count("2026-11-21") == 6
