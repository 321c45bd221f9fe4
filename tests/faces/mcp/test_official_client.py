"""The official client of the protocol, in its modes of both eras, against the server as a process."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from clawmem.faces.mcp.tools import TOOLS

MODES = {"auto": "2026-07-28", "legacy": "2025-11-25", "2026-07-28": "2026-07-28"}


def text_of(result: Any) -> str:
    """The text of a tool's answer."""
    return str(result.content[0].text)


async def visit(mode: str, folder: Path, environment: Mapping[str, str]) -> dict[str, Any]:
    """What a client of that mode sees."""
    from mcp import Client
    from mcp.client.stdio import StdioServerParameters
    from mcp.shared.exceptions import MCPError

    parameters = StdioServerParameters(
        command=sys.executable, args=["-m", "clawmem", "mcp"], env=dict(environment), cwd=folder
    )
    async with Client(parameters, mode=mode) as client:
        listed = await client.list_tools()
        stored = await client.call_tool("remember", {"text": f"Mode {mode} works."})
        found = await client.call_tool("recall", {"question": f"does mode {mode} work?"})
        wrong = await client.call_tool("recall", {"query": "x"})
        with pytest.raises(MCPError):
            await client.call_tool("forget", {})
        return {
            "version": client.protocol_version,
            "tools": [tool.name for tool in listed.tools],
            "stored": stored.is_error,
            "found": text_of(found),
            "wrong": (wrong.is_error, text_of(wrong)),
        }


@pytest.mark.parametrize("mode", MODES)
def test_a_client_of_each_era(mode: str, vault_root: Path, environment: dict[str, str]) -> None:
    seen = asyncio.run(visit(mode, vault_root, environment))
    assert seen["version"] == MODES[mode]
    assert seen["tools"] == [*TOOLS]
    assert not seen["stored"] and "works." in seen["found"]
    assert seen["wrong"][0] and "It takes question" in seen["wrong"][1]
