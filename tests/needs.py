"""What a test needs besides clawmem itself, and the reason it is skipped for where that is missing."""

from __future__ import annotations

from importlib.util import find_spec

import pytest

needs_litellm = pytest.mark.skipif(
    find_spec("litellm") is None or find_spec("jsonschema") is None,
    reason="litellm is not installed: pip install -e '.[llm]'",
)
