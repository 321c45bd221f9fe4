"""A browser for the tests of a module: its start takes longer than most pages."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from tests.browser import open_browser


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    """A real headless browser."""
    with open_browser() as opened:
        yield opened
