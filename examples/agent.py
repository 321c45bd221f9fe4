"""An agent for the demonstration: it reads a task of `clawmem learn pending` and gives a recorded answer.

The answer (`answer.jsonl`) was written once, as a strong model gives it. This program only puts in the numbers of this
task: of the messages that contain the quotes, and of the known facts that a fact changes.
"""

import json
import re
import sys
from pathlib import Path

RECORDED = Path(__file__).with_name("answer.jsonl")
# The keys of a fact as the task asks for them.
KEYS = {"q": "quote", "s": "statement", "of": "subject", "p": "predicate", "o": "object", "c": "category"}


def entries(task: str, name: str, start: str) -> dict[str, str]:
    """Return the texts between two marks of the task by their labels; further lines of a text belong to it."""
    inside = task.partition(f"\n<{name}>\n")[2].partition(f"\n</{name}>")[0]
    return {found[1]: found[2] for found in re.finditer(rf"(?ms)^({start}) (.*?)(?=^{start} |^# |\Z)", inside)}


def main() -> None:
    """Print the recorded facts of the messages in the task."""
    task = sys.stdin.read()
    messages, known = entries(task, "events", r"\d+"), entries(task, "known", r"k\d+")
    labels = {text.strip().partition(" (")[0]: label for label, text in known.items()}
    facts = []
    for line in RECORDED.read_text(encoding="utf-8").splitlines():
        record = json.loads(line)
        number = next((number for number, text in messages.items() if record["quote"] in text), None)
        if number is None:
            continue
        fact = {"e": int(number), **{key: record[name] for key, name in KEYS.items() if record[name]}}
        fact |= {"i": record["importance"], "when": record["when"], "ended": record["ended"] or None}
        about = record["about"]
        fact["at"] = f"{about['kind']}:{about['title']}" if about else None
        fact["x"] = {labels[change["fact"]]: change["how"] for change in record["changes"] if change["fact"] in labels}
        facts.append({key: value for key, value in fact.items() if value not in (None, {})})
        labels[record["statement"]] = f"#{len(facts)}"
    name = re.search(r'<clawmem-task id="([^"]+)">', task)
    answer = {"task": name[1] if name else "", "facts": facts}
    sys.stdout.write(json.dumps(answer, ensure_ascii=False) + "\n")


main()
