"""Exact token counts, if the cl100k_base vocabulary is on this machine. Nothing is ever downloaded.

The vocabulary is looked for in litellm's package, which contains a copy, then in tiktoken's cache.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

from clawmem.model.pages.tokens import token_bound

# The file name in tiktoken's cache: the SHA-1 of its download address.
CACHED = "9b5ad71b2ce5302211f9c61530b329a4922fc6a4"
SHA256 = "223921b76ee99bde995b7ff738513eef100fb51d18c93597a113bcffe865b2a7"
# How cl100k_base splits a text into the pieces that are encoded separately.
_PIECES = (
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*"
    r"|\s*[\r\n]+|\s+(?!\S)|\s+"
)


class TokenCounter(NamedTuple):
    """A way to count the tokens of a text. If it is not `exact`, it returns an upper bound. `source` names its
    basis."""

    count: Callable[[str], int]
    exact: bool
    source: str


def token_counter(environment: Mapping[str, str]) -> TokenCounter:
    """Return the best counter on this machine. The first use of an exact one takes about 0.2 s."""
    for path, source in _places(environment):
        if _is_vocabulary(path):
            return exact_counter(path, source)
    return TokenCounter(
        token_bound, False, "an estimate that errs high: the cl100k_base vocabulary is not on this machine"
    )


def exact_counter(path: Path, source: str) -> TokenCounter:
    """Return a counter for a vocabulary file with a base64 token and its rank on each line."""
    import base64

    import tiktoken  # 0.1 s with its vocabulary: never imported by a search

    lines = (line.split() for line in path.read_bytes().splitlines() if line)
    ranks = {base64.b64decode(token): int(rank) for token, rank in lines}
    encoding = tiktoken.Encoding("cl100k_base", pat_str=_PIECES, mergeable_ranks=ranks, special_tokens={})
    return TokenCounter(lambda text: len(encoding.encode_ordinary(text)), True, source)


def _places(environment: Mapping[str, str]) -> Iterator[tuple[Path, str]]:
    import importlib.util

    # Only find the package: importing litellm takes seconds.
    found = importlib.util.find_spec("litellm")
    for folder in (found.submodule_search_locations or ()) if found else ():
        yield Path(folder) / "litellm_core_utils" / "tokenizers" / CACHED, "cl100k_base, from litellm's package"
    yield _cache(environment) / CACHED, "cl100k_base, from tiktoken's cache"


def _cache(environment: Mapping[str, str]) -> Path:
    for key in ("TIKTOKEN_CACHE_DIR", "DATA_GYM_CACHE_DIR"):
        if environment.get(key):
            return Path(environment[key])
    import tempfile

    return Path(tempfile.gettempdir()) / "data-gym-cache"


def _is_vocabulary(path: Path) -> bool:
    import hashlib

    try:
        return hashlib.sha256(path.read_bytes()).hexdigest() == SHA256
    except OSError:
        return False
