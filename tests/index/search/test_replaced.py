"""Messages that taught what no longer holds say which of their words are meant."""

from __future__ import annotations

import json

import pytest

from tests.conftest import Command

pytestmark = pytest.mark.usefixtures("without_vectors")
WHOLE = "I live in Turku."
LONG = "Hi, I am Mira. I live in Turku with my partner. My contact at Harbourline is Jonas Ek, who leads operations."
REPLY = "Noted, you live in Turku."
OTHER = "Hello Mira. It is a small app for berths, and Jonas Ek leads operations there."
NOW = "no longer: now The user lives in Naantali."


@pytest.mark.parametrize(
    ("text", "reply", "marked"),
    [
        (WHOLE, REPLY, {WHOLE: NOW, REPLY: NOW}),
        (LONG, REPLY, {LONG: f'"I live in Turku" {NOW}', REPLY: NOW}),
        (LONG, OTHER, {LONG: f'"I live in Turku" {NOW}', OTHER: ""}),
        (WHOLE, "Nice, Turku has a river.", {WHOLE: NOW, "Nice, Turku has a river.": ""}),
        (
            LONG,
            f"{OTHER} So you live in Turku.",
            {f"{OTHER} So you live in Turku.": f'"The user lives in Turku." {NOW}'},
        ),
    ],
)
def test_only_the_words_that_ended_are_marked(clawmem: Command, text: str, reply: str, marked: dict[str, str]) -> None:
    talk = [("user", text), ("assistant", reply)]
    lines = (
        json.dumps({"role": role, "content": words, "session": "s", "timestamp": f"2026-11-02T10:00:0{n}Z"})
        for n, (role, words) in enumerate(talk)
    )
    clawmem("ingest", "-", given="\n".join(lines))
    events = clawmem("recall", "Turku berths river", "--in", "events", "--all", "--json").data["events"]
    event = next(event["id"] for event in events if event["text"] == text)
    found = {"event": event, "quote": "I live in Turku", "statement": "The user lives in Turku."}
    assert clawmem("learn", "apply", "-", given=json.dumps({"facts": [found]})).code == 0
    assert clawmem("supersede", "The user lives in Turku", "The user lives in Naantali.").code == 0
    shown = clawmem("recall", "Turku berths river", "--in", "events", "--all").out.splitlines()
    for words, remark in marked.items():
        (line,) = (line for line in shown if f": {words}" in line)
        assert line.rstrip().endswith(f"({remark})") if remark else "(" not in line
