"""Session records: one JSON object for each piece of an agent's work."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from clawmem.errors import Unreadable
from clawmem.model.records.parsing import Yaml, json_object


def parse_session(data: bytes, path: str, yaml: Yaml) -> dict[str, Any]:
    """Read a session record; raises Unreadable where it is no JSON object or has no `id`."""
    record = json_object(data, path, yaml)
    if not isinstance(record.get("id"), str) or not record["id"]:
        raise Unreadable(path, None, "the key 'id' is missing or not text")
    return record


def render_session(record: Mapping[str, Any]) -> bytes:
    """The record as JSON, one key a line, so that a diff shows what changed."""
    rows = (f" {json.dumps(key)}: {json.dumps(value, ensure_ascii=False)}" for key, value in record.items())
    return ("{\n" + ",\n".join(rows) + "\n}\n").encode()
