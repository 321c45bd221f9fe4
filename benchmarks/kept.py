"""A simulated year of one person: what they typed, what contradicts, who they are, and whom `git blame` names."""

from __future__ import annotations

import json
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from datetime import timedelta
from pathlib import Path
from typing import Any

from benchmarks.measure import environment
from benchmarks.report import Row
from benchmarks.year import START, year_of_talk

_CLAWMEM = [str(Path(sys.executable).with_name("clawmem"))]
_VITAL = (
    "I'm allergic to penicillin.",
    "{name} has a severe peanut allergy.",
    "{name} cannot eat gluten.",
    "{name} has type 1 diabetes.",
    "Never share {name}'s address without asking.",
    "Always write to {name} in French.",
    "{name} was born on 3 March 1985.",
    "{name}'s emergency contact is Nora.",
)
_EVERYDAY = ("The bicycle of {name} is green.", "{name} collects old maps.", "{name} has a boat in the harbour.")
# Two values of one relation, typed half a year apart, with other words around the second.
_RIVALS = (
    ("{name} lives in Porto.", "{name} lives in Lisbon now."),
    ("{name} works at Acme.", "{name} now works at Vattenlab as a buyer."),
    ("{name}'s email is one@example.org.", "{name}'s email is two@example.org these days."),
    ("The {name} deadline is 3 May 2027.", "The {name} deadline is now 9 May 2027."),
    ("{name} is married to Kim.", "{name} is married to Robin since last week."),
)
# Both can be true, or say the same.
_FRIENDS = (
    ("{name} lives in Porto.", "{name} lives in Porto, Portugal."),
    ("{name} works at Acme.", "{name} also works at Tesco on Saturdays."),
    ("{name} lives in Oslo.", "{name} lives in a flat."),
    ("{name} lives in Rome.", "{name} no longer lives in Oslo."),
)
_NAMES = ("Ines", "Tomas", "Freya", "Malik", "Yuki", "Olga")


class _Year:
    """A vault and its clock."""

    def __init__(self, folder: Path) -> None:
        self._env = environment(folder / "home")
        self.root = folder / "kept"
        self._day = 0
        self.run("init", str(self.root), root=folder)
        self.run("config", "set", "user.name", "Ada")

    def pass_days(self, days: int) -> None:
        """Let days pass, with a heartbeat at the end."""
        self._day += days
        self.run("heartbeat")

    def run(self, *arguments: str, given: str = "", root: Path | None = None) -> Any:
        """Run a command at the time of the year, and return its data."""
        now = (START + timedelta(days=self._day)).isoformat()
        process = subprocess.run(
            [*_CLAWMEM, *arguments, "--json"],
            cwd=root or self.root,
            env={**self._env, "CLAWMEM_NOW": now},
            input=given,
            capture_output=True,
            text=True,
        )
        if process.returncode:
            raise RuntimeError(f"{arguments} ended with {process.returncode}: {process.stdout}")
        return json.loads(process.stdout)["data"]

    def type(self, texts: Sequence[str], entity: str) -> list[Any]:
        """Remember facts as the person; return them, and the conflicts that were said."""
        lines = "\n".join(json.dumps({"fact": text, "entity": entity}) for text in texts)
        result = self.run("remember", "--jsonl", "-", given=lines)
        return [result["facts"], result.get("conflicts", [])]


def kept_rows(folder: Path, events: int = 2_000) -> Iterator[Row]:
    """What a year leaves of typed facts, contradictions, names and blame."""
    year = _Year(folder)
    typed = [
        fact
        for name in _NAMES
        for fact in year.type([text.format(name=name) for text in (*_VITAL, *_EVERYDAY)], f"areas/people/{name}")[0]
    ]
    for name in _NAMES:
        for number, (first, _) in enumerate((*_RIVALS, *_FRIENDS)):
            year.type([first.format(name=name)], f"projects/{name}-{number}".lower())
    for _ in range(6):
        year.pass_days(30)
    record = {"rival": 0, "friend": 0}
    for name in _NAMES:
        for number, (_, second) in enumerate((*_RIVALS, *_FRIENDS)):
            kind = "rival" if number < len(_RIVALS) else "friend"
            record[kind] += bool(year.type([second.format(name=name)], f"projects/{name}-{number}".lower())[1])
    year.run("ingest", "-", "--format", "jsonl", given="\n".join(_chat(events)))
    for _ in range(6):
        year.run("recall", "Where does Ines live?")
        year.pass_days(31)
    facts = {fact["id"]: fact for fact in year.run("list", "--limit", "1000")["facts"]}
    yield from _typed_rows(typed, facts)
    pairs = len(_NAMES) * len(_RIVALS)
    yield Row("contradictions said at once, share", record["rival"] / pairs, 1, f"{record['rival']} of {pairs}", True)
    wrong = len(_NAMES) * len(_FRIENDS)
    yield Row("said where both can be true, share", record["friend"] / wrong, 0, f"{record['friend']} of {wrong}")
    rivals = {f"projects/{name}-{number}".lower() for name in _NAMES for number in range(len(_RIVALS))}
    listed = Counter(fact["entity"] for fact in facts.values() if not fact.get("conflicts_with"))
    silent = sum(listed[entity] > 1 for entity in rivals)
    yield Row("contradictory facts listed without a mark, share", silent / pairs, 0, f"{silent} of {pairs}")
    people = {fact["entity"] for fact in facts.values() if fact.get("subject") in ("Ada", "the user", "User")}
    yield Row("entities of the person", len(people), 1, ", ".join(sorted(people)))
    yield _blame_row(year.root)


def _chat(events: int) -> Iterator[str]:
    """The talk of a year; the person is named, unnamed or called the user."""
    for number, line in enumerate(year_of_talk(events)):
        record = json.loads(line)
        if record["speaker"] == "Ada":
            record["speaker"] = ("Ada", None, "user")[number % 3]
        yield json.dumps({key: value for key, value in record.items() if value is not None})


def _typed_rows(typed: Sequence[Any], facts: dict[str, Any]) -> Iterator[Row]:
    active = sum(other["id"] in facts and facts[other["id"]]["status"] == "active" for other in typed)
    yield Row("typed facts still active, share", active / len(typed), 1, f"{active} of {len(typed)}", True)
    vital = [other for other in typed if other.get("importance")]
    hot = sum(facts[other["id"]]["tier"] == "hot" for other in vital if other["id"] in facts)
    wanted = len(_NAMES) * len(_VITAL)
    yield Row("vital typed facts still hot, share", hot / wanted, 1, f"{hot} of {wanted}", True)


def _blame_row(root: Path) -> Row:
    lines = folds = 0
    for path in sorted(root.glob("life/**/items.json")):
        command = ["git", "blame", "--line-porcelain", "HEAD", "--", str(path.relative_to(root))]
        shown = subprocess.run(command, cwd=root, capture_output=True, text=True, check=True).stdout
        subjects = [line for line in shown.splitlines() if line.startswith("summary ")]
        lines += len(subjects)
        folds += sum(line.startswith("summary access(") for line in subjects)
    return Row("lines of facts blamed on a fold, share", folds / lines, 0, f"{folds} of {lines}")
