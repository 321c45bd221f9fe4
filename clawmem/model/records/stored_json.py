"""JSON for stores that have no NUL characters."""

from __future__ import annotations

import json
from typing import Any

_NUL, _INSTEAD = "\0", "\ufffd"


def stored_json(value: Any) -> str:
    """Return a value as JSON in which each NUL character became U+FFFD: PostgreSQL does not store one."""
    text = json.dumps(value, ensure_ascii=False)
    return json.dumps(_without_nul(value), ensure_ascii=False) if "\\u0000" in text else text


def _without_nul(value: Any) -> Any:
    if isinstance(value, str):
        return value.replace(_NUL, _INSTEAD)
    if isinstance(value, dict):
        return {key.replace(_NUL, _INSTEAD): _without_nul(other) for key, other in value.items()}
    return [_without_nul(other) for other in value] if isinstance(value, list | tuple) else value
