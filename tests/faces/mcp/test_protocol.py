"""The protocol in both eras, without a process: which message gets which answer."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from clawmem.faces.mcp.protocol import CURRENT, INSTRUCTIONS, WITH_HANDSHAKE, Connection

LIST = [{"name": "recall"}]
META = {"io.modelcontextprotocol/protocolVersion": CURRENT, "io.modelcontextprotocol/clientInfo": {"name": "new"}}


def talk(*messages: Any) -> list[Any]:
    """The answers of one connection, whose tool says who called it with what."""

    def dispatch(name: str, arguments: Mapping[str, Any], client: str | None) -> tuple[str, bool]:
        return f"{name} {dict(arguments)} {client}", "fail" in arguments

    connection = Connection(lambda: LIST, dispatch)
    return [connection.answer(one) for one in messages]


def request(method: str, identity: Any = 1, **params: Any) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": identity, "method": method, "params": params}


@pytest.mark.parametrize("version", WITH_HANDSHAKE)
def test_a_handshake_agrees_on_the_clients_revision(version: str) -> None:
    (answer,) = talk(request("initialize", protocolVersion=version, clientInfo={"name": "old"}))
    assert answer["result"]["protocolVersion"] == version
    assert answer["result"]["serverInfo"]["name"] == "clawmem"
    assert "resultType" not in answer["result"]


def test_a_handshake_of_another_revision_offers_the_newest_with_one() -> None:
    (answer,) = talk(request("initialize", protocolVersion="2030-01-01"))
    assert answer["result"]["protocolVersion"] == WITH_HANDSHAKE[0]


def test_after_a_handshake_results_have_no_keys_of_the_new_era() -> None:
    hello, ready, tools, called = talk(
        request("initialize", protocolVersion="2025-06-18", clientInfo={"name": "old"}),
        {"jsonrpc": "2.0", "method": "notifications/initialized"},
        request("tools/list", 2),
        request("tools/call", 3, name="recall", arguments={"a": 1}),
    )
    assert hello["result"]["capabilities"] == {"tools": {}}
    assert ready is None
    assert tools["result"] == {"tools": LIST}
    assert called["result"] == {"content": [{"type": "text", "text": "recall {'a': 1} old"}], "isError": False}


def test_without_a_handshake_each_result_says_what_the_new_era_asks_for() -> None:
    found, tools, called = talk(
        request("server/discover", _meta=META),
        request("tools/list", 2, _meta=META),
        request("tools/call", 3, _meta=META, name="recall", arguments={"fail": 1}),
    )
    assert found["result"]["supportedVersions"][0] == CURRENT
    for one in (found, tools):
        assert one["result"]["ttlMs"] > 0
        assert one["result"]["cacheScope"] == "private"
    for one in (found, tools, called):
        assert one["result"]["resultType"] == "complete"
        assert one["result"]["_meta"]["io.modelcontextprotocol/serverInfo"]["name"] == "clawmem"
    assert called["result"]["isError"] is True
    assert called["result"]["content"][0]["text"].endswith("new")
    assert "structuredContent" not in called["result"]


def test_both_eras_on_one_connection() -> None:
    _, new, old = talk(
        request("initialize", protocolVersion="2025-11-25", clientInfo={"name": "old"}),
        request("tools/call", 2, _meta=META, name="recall"),
        request("tools/call", 3, name="recall"),
    )
    assert new["result"]["content"][0]["text"] == "recall {} new"
    assert old["result"]["content"][0]["text"] == "recall {} old"
    assert "resultType" in new["result"] and "resultType" not in old["result"]


def test_an_unknown_revision_is_an_error_that_lists_the_known_ones() -> None:
    (answer,) = talk(request("tools/list", _meta={"io.modelcontextprotocol/protocolVersion": "1900-01-01"}))
    assert answer["error"]["code"] == -32022
    assert answer["error"]["data"] == {"supported": [CURRENT, *WITH_HANDSHAKE], "requested": "1900-01-01"}


@pytest.mark.parametrize(
    ("message", "code"),
    [
        ([], -32600),
        ("text", -32600),
        ({"id": 1, "method": "ping"}, -32600),
        ({"jsonrpc": "2.0", "id": True, "method": "ping"}, -32600),
        ({"jsonrpc": "2.0", "id": [], "method": "ping"}, -32600),
        ({"jsonrpc": "2.0", "id": 1}, -32600),
        (request("prompts/list"), -32601),
        (request(["odd"]), -32601),  # type: ignore[arg-type]
        ({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": [1]}, -32602),
        (request("tools/call", name="forget"), -32602),
        (request("tools/call", name=["recall"]), -32602),
        (request("tools/call", name="recall", arguments=[1]), -32602),
    ],
)
def test_messages_that_are_wrong(message: Any, code: int) -> None:
    (answer,) = talk(message)
    assert answer["error"]["code"] == code
    assert answer["error"]["message"]


def test_an_unknown_tool_is_answered_with_the_tools_there_are() -> None:
    (answer,) = talk(request("tools/call", name="forget"))
    assert "recall" in answer["error"]["message"]


def test_notifications_and_answers_get_none() -> None:
    assert talk(
        {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 1}},
        {"jsonrpc": "2.0", "id": 5, "result": {}},
        [{"jsonrpc": "2.0", "method": "notifications/initialized"}],
    ) == [None, None, None]


def test_a_batch_is_answered_in_its_order() -> None:
    (answers,) = talk([request("ping", 1), {"jsonrpc": "2.0", "method": "x"}, request("tools/list", "b")])
    assert [one["id"] for one in answers] == [1, "b"]


def test_the_instructions_fit_what_clients_keep() -> None:
    assert len(INSTRUCTIONS.encode()) < 2048
