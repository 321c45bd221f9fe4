"""A model on this machine: a real HTTP server on loopback that speaks the OpenAI protocol."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Event, Lock, Thread
from typing import Any, NamedTuple


class Wire(NamedTuple):
    """What the server sends: a status, a body, how long it waits first, and how many seconds between bytes."""

    status: int
    body: bytes
    wait: float = 0.0
    drip: float = 0.0


class Asked(NamedTuple):
    """One request as it came in."""

    body: Mapping[str, Any]
    headers: Mapping[str, str]

    @property
    def messages(self) -> list[dict[str, str]]:
        """The messages of the request; a request for vectors has none."""
        return list(self.body.get("messages", ()))

    @property
    def events(self) -> list[dict[str, Any]]:
        """The events that were shown: the number, the speaker and the text of each."""
        text = next(
            message["content"]
            for message in self.messages
            if "<events>" in message["content"] and message["role"] == "user"
        )
        return shown_events(text)

    @property
    def facts(self) -> list[dict[str, Any]]:
        """The facts that were shown to be judged, as the data they came as."""
        return self._data("facts")

    @property
    def lines(self) -> list[dict[str, Any]]:
        """The lines that were shown to be told in sentences, as the data they came as."""
        return self._data("lines")

    @property
    def narrates(self) -> bool:
        """Whether the narrative of a day is asked for."""
        return any(message["content"].startswith("You write the note of one day") for message in self.messages)

    def _data(self, what: str) -> list[dict[str, Any]]:
        text = next(
            message["content"]
            for message in self.messages
            if f"<{what}>" in message["content"] and message["role"] == "user"
        )
        inside = text.split(f"<{what}>\n", 1)[1].rsplit(f"\n</{what}>", 1)[0]
        return [json.loads(line) for line in inside.split("\n")]


def shown_events(task: str) -> list[dict[str, Any]]:
    """Return the events of a reading task: the number, the speaker, the text, and the line above the conversation."""
    found: list[dict[str, Any]] = []
    above = ""
    for line in task.split("<events>\n", 1)[1].rsplit("\n</events>", 1)[0].split("\n"):
        if line.startswith(" "):
            found[-1]["text"] += f"\n{line[1:]}"
        elif line.startswith("# "):
            above = line[2:]
        else:
            number, speaker, text = re.fullmatch(r"(\d+) ([^:]*): (.*)", line).groups()  # type: ignore[union-attr]
            found.append({"id": number, "speaker": speaker, "text": text, "above": above})
    return found


def known_facts(task: str) -> dict[str, str]:
    """Return the known facts of a reading task: the label of each, by its statement."""
    if "<known>\n" not in task:
        return {}
    lines = task.split("<known>\n", 1)[1].split("\n</known>", 1)[0].split("\n")
    return {re.sub(r" \([\d-]+\)$", "", words): label for label, _, words in (line.partition(" ") for line in lines)}


Behaviour = Callable[[Asked], Wire]


class Loopback:
    """A running server: where it is, what it was asked, and what it does next; the last behaviour stays."""

    def __init__(self, address: str, behaviours: Sequence[Behaviour], narrates: bool) -> None:
        self.address = address
        self.asked: list[Asked] = []
        self._behaviours = list(behaviours)
        self._narrates = narrates
        self._lock = Lock()

    def next(self, asked: Asked) -> Wire:
        """What to answer. A night also asks for narratives: where no test is about them, there is nothing to tell."""
        if asked.narrates and not self._narrates:
            return says('{"happened": [], "decided": [], "learned": [], "open": []}')(asked)
        with self._lock:
            self.asked.append(asked)
            behaviour = self._behaviours.pop(0) if len(self._behaviours) > 1 else self._behaviours[0]
        return behaviour(asked)


@contextmanager
def serving(*behaviours: Behaviour, narrates: bool = False) -> Iterator[Loopback]:
    """A server that shows these behaviours, one a request; with `narrates`, also to requests for narratives."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), BaseHTTPRequestHandler)
    server.daemon_threads = True
    loopback = Loopback(f"http://127.0.0.1:{server.server_address[1]}/v1", behaviours, narrates)
    # Once it is set nobody is kept waiting: a call that was given up would else last into the tests that follow.
    over = Event()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            wire = (
                loopback.next(Asked(body, dict(self.headers.items())))
                if self.path in ("/v1/chat/completions", "/v1/embeddings")
                else Wire(404, b"{}")
            )
            with suppress(BrokenPipeError, ConnectionResetError):
                self._send(wire)

        def _send(self, wire: Wire) -> None:
            if over.wait(wire.wait):
                return
            self.send_response(wire.status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(wire.body)))
            self.end_headers()
            step = 1 if wire.drip else max(1, len(wire.body))
            for start in range(0, len(wire.body), step):
                self.wfile.write(wire.body[start : start + step])
                self.wfile.flush()
                if over.wait(wire.drip):
                    return

        def log_message(self, format: str, *args: object) -> None:
            """Say nothing."""

    server.RequestHandlerClass = Handler
    thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    thread.start()
    try:
        yield loopback
    finally:
        over.set()
        server.shutdown()
        server.server_close()
        thread.join()


def closed_address() -> str:
    """Return an address without a listening server."""
    with serving(says("")) as gone:
        return gone.address


def says(
    text: str, wait: float = 0.0, drip: float = 0.0, tokens: tuple[int, int] = (100, 50), cut: bool = False
) -> Behaviour:
    """Answer with this text."""
    return lambda asked: Wire(200, _completion(text, tokens, cut), wait, drip)


def gives(*facts: Mapping[str, Any], tokens: tuple[int, int] = (100, 50), wait: float = 0.0) -> Behaviour:
    """Answer with these facts, in the form that was asked for."""
    return says(json.dumps({"facts": list(facts)}), tokens=tokens, wait=wait)


def refuses(status: int, message: str = "no", kind: str = "error") -> Behaviour:
    """Answer with an error as OpenAI does."""
    body = json.dumps({"error": {"message": message, "type": kind, "code": kind, "param": None}}).encode()
    return lambda asked: Wire(status, body)


def raw(status: int, body: bytes) -> Behaviour:
    """Answer with exactly these bytes."""
    return lambda asked: Wire(status, body)


def fact(event: str, quote: str, statement: str, **more: Any) -> dict[str, Any]:
    """One fact of an answer, whole."""
    return {
        "event": event,
        "quote": quote,
        "statement": statement,
        "subject": "the user",
        "predicate": "",
        "object": "",
        "relation_phrase": "",
        "category": "fact",
        "confidence": 0.9,
        "importance": 0.5,
        "valid_from": None,
        "ended": False,
        "former": None,
        "about": None,
        **more,
    }


def _completion(text: str, tokens: tuple[int, int], cut: bool) -> bytes:
    prompt, answer = tokens
    return json.dumps(
        {
            "id": "chatcmpl-1",
            "object": "chat.completion",
            "created": 1,
            "model": "loopback",
            "choices": [
                {
                    "index": 0,
                    "message": {"role": "assistant", "content": text},
                    "finish_reason": "length" if cut else "stop",
                }
            ],
            "usage": {"prompt_tokens": prompt, "completion_tokens": answer, "total_tokens": prompt + answer},
        }
    ).encode()
