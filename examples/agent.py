"""An agent for the demonstration: it reads a task of `clawmem learn pending` and gives a recorded answer.

The answer (`answer.jsonl`) was written once, as a strong model gives it. This program only puts in the ids of this
vault: of the events that contain the quotes, and of the known facts that a fact changes.
"""

import json
import sys
from pathlib import Path

RECORDED = Path(__file__).with_name("answer.jsonl")


def rows(task: str, name: str) -> list[dict]:
    """Return the data between two marks of the task."""
    if f"\n<{name}>\n" not in task:
        return []
    inside = task.split(f"\n<{name}>\n", 1)[1].split(f"\n</{name}>", 1)[0]
    return [json.loads(line) for line in inside.split("\n")]


def main() -> None:
    """Print the recorded facts of the events in the task."""
    task = sys.stdin.read()
    events, known = rows(task, "events"), {row["fact"]: row["id"] for row in rows(task, "known")}
    facts, places = [], {}
    for line in RECORDED.read_text(encoding="utf-8").splitlines():
        fact = json.loads(line)
        event = next((row["id"] for row in events if fact["quote"] in row["text"]), None)
        if event is None:
            continue
        changes = [
            {"id": known.get(one["fact"]) or places.get(one["fact"], "?"), "how": one["how"]}
            for one in fact.get("changes", ())
        ]
        facts.append({**fact, "event": event, "changes": changes})
        places[fact["statement"]] = f"#{len(facts)}"
    answer = {"facts": facts, "read": [row["id"] for row in events], "more": []}
    sys.stdout.write(json.dumps(answer, ensure_ascii=False) + "\n")


main()
