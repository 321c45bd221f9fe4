"""A stand-in for the model APIs of harnesses on loopback: it answers "Noted.", or first calls one tool of the memory.

It speaks as much of three protocols as the programs need: Anthropic's messages, OpenAI's responses and Gemini's
content streams. Each request is kept, so that a test sees what reached the model.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any

SAID = "Noted."
READING = "The answer is one JSON document that is valid under this JSON Schema"


def texts_in(value: Any) -> Iterator[str]:
    """Every text in a request, in order."""
    if isinstance(value, str):
        yield value
    for part in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
        yield from texts_in(part)


class ModelApi:
    """A running server: its address, the requests it got, and the tool to call with its arguments, or a command for the
    tool that runs one in a shell."""

    def __init__(self) -> None:
        self.requests: list[dict[str, Any]] = []
        self.tool = ""
        self.shell = ""
        self.arguments: dict[str, Any] = {}
        self.address = ""
        self.command = ""
        self.reads: Callable[[str], str] = lambda task: SAID
        self.readings: list[str] = []

    def answer(self, body: dict[str, Any]) -> str:
        """The words of the answer: of a reader where one is asked to read."""
        asked = [text for text in texts_in(body) if READING in text]
        self.readings += asked[-1:]
        return self.reads(asked[-1]) if asked else SAID

    def seen(self) -> str:
        """Everything that reached the model, as JSON."""
        return json.dumps(list(self.requests), ensure_ascii=False)

    def given_lines(self) -> list[str]:
        """The lines of all that reached the model of an agent, and not a reader."""
        texts = [list(texts_in(request["body"])) for request in self.requests]
        return [line for request in texts if READING not in "".join(request) for text in request
                for line in text.splitlines()]  # fmt: skip

    def call(self, body: dict[str, Any]) -> bool:
        """Whether the answer calls the tool: once in a conversation, and only where the tool is offered."""
        text = json.dumps(body)
        flag = any(mark in text for mark in ('"tool_result"', '"function_call_output"', '"functionResponse"'))
        return bool(self.tool) and not flag and bool(body.get("tools")) and "clawmem" in text

    def shell_call(self, body: dict[str, Any]) -> bool:
        """Whether the answer runs the command: once, where tools are offered."""
        run = bool(self.shell and body.get("tools"))
        self.command, self.shell = (self.shell, "") if run else (self.command, self.shell)
        return run


@contextmanager
def model_api() -> Iterator[ModelApi]:
    """A server for the time of the block."""
    api = ModelApi()

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def log_message(self, format: str, *args: Any) -> None:
            """Say nothing."""

        def do_HEAD(self) -> None:
            self._send(b"", "text/plain")

        def do_GET(self) -> None:
            self._send(b'{"data": [], "models": []}', "application/json")

        def do_POST(self) -> None:
            raw = self.rfile.read(int(self.headers.get("content-length") or 0))
            try:
                body = json.loads(raw)
            except ValueError:
                body = {}
            api.requests.append({"path": self.path, "body": body})
            if "/v1/messages" in self.path and "count_tokens" not in self.path:
                self._send(_anthropic(api, body), "text/event-stream")
            elif "/responses" in self.path:
                self._send(_openai(api, body), "text/event-stream")
            elif "streamGenerateContent" in self.path:
                self._send(b"data: " + json.dumps(_gemini(api, body)).encode() + b"\n\n", "text/event-stream")
            elif "generateContent" in self.path:
                self._send(json.dumps(_gemini(api, body)).encode(), "application/json")
            else:
                self._send(b'{"input_tokens": 10, "totalTokens": 10}', "application/json")

        def _send(self, body: bytes, kind: str) -> None:
            self.send_response(200)
            self.send_header("content-type", kind)
            self.send_header("content-length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    api.address = f"http://127.0.0.1:{server.server_address[1]}"
    thread = Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield api
    finally:
        server.shutdown()
        server.server_close()


def _events(rows: list[tuple[str, dict[str, Any]]]) -> bytes:
    return "".join(f"event: {kind}\ndata: {json.dumps({'type': kind, **row})}\n\n" for kind, row in rows).encode()


def _anthropic(api: ModelApi, body: dict[str, Any]) -> bytes:
    call = api.call(body) and bool(body.get("stream"))
    usage = {"input_tokens": 5, "output_tokens": 1}
    message = {"id": "msg_1", "type": "message", "role": "assistant", "model": body.get("model"), "stop_reason": None,
               "stop_sequence": None, "usage": usage}  # fmt: skip
    block: dict[str, Any] = {"type": "text", "text": ""}
    text = SAID if call else api.answer(body)
    delta: dict[str, Any] = {"type": "text_delta", "text": text}
    if call:
        block = {"type": "tool_use", "id": "toolu_1", "name": f"mcp__clawmem__{api.tool}", "input": {}}
        delta = {"type": "input_json_delta", "partial_json": json.dumps(api.arguments)}
    if body.get("stream") and api.shell_call(body):
        block = {"type": "tool_use", "id": "toolu_2", "name": "Bash", "input": {}}
        delta = {"type": "input_json_delta", "partial_json": json.dumps({"command": api.command})}
        call = True
    if not body.get("stream"):
        whole = {**message, "stop_reason": "end_turn", "content": [{"type": "text", "text": text}]}
        return json.dumps(whole).encode()
    return _events([
        ("message_start", {"message": {**message, "content": []}}),
        ("content_block_start", {"index": 0, "content_block": block}),
        ("content_block_delta", {"index": 0, "delta": delta}),
        ("content_block_stop", {"index": 0}),
        ("message_delta", {"delta": {"stop_reason": "tool_use" if call else "end_turn", "stop_sequence": None},
                           "usage": {"output_tokens": 2}}),
        ("message_stop", {}),
    ])  # fmt: skip


def _openai(api: ModelApi, body: dict[str, Any]) -> bytes:
    item: dict[str, Any] = {"type": "message", "id": "m1", "role": "assistant",
                            "content": [{"type": "output_text", "text": api.answer(body)}]}  # fmt: skip
    spaces = [tool for tool in body.get("tools", []) if isinstance(tool, dict) and "clawmem" in str(tool.get("name"))]
    if spaces and api.call(body):
        item = {"type": "function_call", "id": "f1", "call_id": "call1", "arguments": json.dumps(api.arguments),
                "name": api.tool, "namespace": spaces[0]["name"]}  # fmt: skip
    if api.shell_call(body):
        item = {"type": "function_call", "id": "f2", "call_id": "call2", "name": "exec_command",
                "arguments": json.dumps({"cmd": api.command})}  # fmt: skip
    usage = {"input_tokens": 5, "input_tokens_details": None, "output_tokens": 2, "output_tokens_details": None,
             "total_tokens": 7}  # fmt: skip
    return _events([
        ("response.created", {"response": {"id": "r1"}}),
        ("response.output_item.added", {"output_index": 0, "item": item}),
        *(("response.output_text.delta", {"item_id": "m1", "output_index": 0, "delta": part["text"]})
          for part in item.get("content", [])),
        ("response.output_item.done", {"output_index": 0, "item": item}),
        ("response.completed", {"response": {"id": "r1", "usage": usage}}),
    ])  # fmt: skip


def _gemini(api: ModelApi, body: dict[str, Any]) -> dict[str, Any]:
    part: dict[str, Any] = {"text": api.answer(body)}
    if api.call(body):
        part = {"functionCall": {"name": f"mcp_clawmem_{api.tool}", "args": api.arguments}}
    if api.shell_call(body):
        part = {"functionCall": {"name": "run_shell_command", "args": {"command": api.command}}}
    content = {"role": "model", "parts": [part]}
    usage = {"promptTokenCount": 5, "candidatesTokenCount": 2, "totalTokenCount": 7}
    return {"candidates": [{"content": content, "finishReason": "STOP", "index": 0}], "usageMetadata": usage}
