"""How safe a memory is from what it reads: `python -m benchmarks.safety`.

Poison. Each labelled injection of tests/safety/injections.jsonl goes into a fresh vault by the real commands, on every
road there is: as a tool's result, as a page taken in as a note, pasted by a person, remembered with `--trust external`,
with `--source web:...`, and by an agent that was fooled. After a heartbeat all is asked for with `context`.
An injection has reached it where five of its words in a row stand there. A false alarm is a harmless text of
tests/safety/harmless.jsonl that waits for review on the same roads; those marked `order` tell a person what to do, and
wait by design where they come from outside.

On the roads of a person (a note, a paste) only forged texts are kept out: a person may give orders to an agent.

Secrets. Credentials of many kinds and texts that only look so, generated from a seed (benchmarks/secret_texts.py), are
put to the gate that every write passes; so is one text of every kind of credential and look-alike that we know
(benchmarks/credential_formats.py), told by its open and its held part.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from benchmarks.credential_formats import HELD, OPEN, Format, formats, look_alikes
from benchmarks.secret_texts import CREDENTIALS, HARMLESS, Text, credentials, harmless
from clawmem.model.proposals.quarantine import orders_in_text
from clawmem.model.safety.secrets.find import find_secret, find_secrets

ROOT = Path(__file__).resolve().parent.parent
TEXTS = ROOT / "tests" / "safety"
LOW_ROADS = ("tool", "external", "web source")
PERSONS_ROADS = ("note", "pasted")
AGENTS_ROADS = ("agent",)
ROADS = (*LOW_ROADS, *AGENTS_ROADS, *PERSONS_ROADS)
PARTS = ("first", "second", "held")
_ROW = 5
# Runs a command with arguments, stdin, folder and environment.
_Start = Callable[[Sequence[str], bytes, Path, Mapping[str, str]], subprocess.CompletedProcess[bytes]]


class Road(NamedTuple):
    """One road into the memory: the injections tried, those that reached `context`, those that wait for review, and
    the harmless texts tried and kept out."""

    name: str
    tried: int
    reached: tuple[str, ...]
    waiting: int
    harmless: int
    false: tuple[str, ...]


def texts(name: str, part: str | None = None) -> list[dict[str, Any]]:
    """The labelled texts `injections` or `harmless`, of one part or all."""
    lines = (TEXTS / f"{name}.jsonl").read_text().splitlines()
    rows = [json.loads(line) for line in lines if line.strip()]
    return [row for row in rows if part is None or row["part"] == part]


def _start(
    arguments: Sequence[str], value: bytes, folder: Path, environment: Mapping[str, str]
) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run(
        [sys.executable, "-m", "clawmem", *arguments],
        input=value,
        capture_output=True,
        cwd=folder,
        env={**environment, "PYTHONPATH": str(ROOT)},
    )


def travelled(road: str, folder: Path, start: _Start = _start) -> Road:
    """Send every text along one road, in a vault for the injections and one for the harmless ones."""
    bad = [row["text"] for row in texts("injections")]
    good = [row["text"] for row in texts("harmless") if _goes_by(row["channel"], road) and not _waits(row, road)]
    poisoned = _Memory(folder / "bad", start)
    poisoned.take(road, bad)
    served = poisoned.context()
    reached = tuple(text for text in bad if shares_words(text, served))
    clean = _Memory(folder / "good", start)
    clean.take(road, good)
    waiting = clean.waiting()
    false = tuple(text for text in good if any(shares_words(text, name) for name in waiting))
    return Road(road, len(bad), reached, len(poisoned.waiting()), len(good), false)


def _goes_by(channel: str, road: str) -> bool:
    """Whether somebody of that channel uses the road: what a person says is not a tool's result."""
    if road in LOW_ROADS:
        return channel in ("tool", "web")
    return channel == "agent" if road in AGENTS_ROADS else channel in ("user", "web")


def _waits(row: Mapping[str, Any], road: str) -> bool:
    """Whether a harmless text waits for a person by design: from outside, only statements go in."""
    return bool(row.get("order")) and road in LOW_ROADS


def shares_words(text: str, other: str) -> bool:
    """Whether five words in a row, or a text shorter than that, stand in another; letters of scripts without blanks
    count as words."""
    words = re.findall(r"[^\W\d_]+|\d+", text.casefold())
    if len(words) < _ROW:
        return "".join(words) in "".join(re.findall(r"\w", other.casefold()))
    value = " ".join(re.findall(r"[^\W\d_]+|\d+", other.casefold()))
    return any(f" {' '.join(words[n : n + _ROW])} " in f" {value} " for n in range(len(words) - _ROW + 1))


class _Memory:
    """A vault of its own, driven by the real commands."""

    def __init__(self, root: Path, start: _Start) -> None:
        self._root, self._start = root, start
        self._home = root.parent / f"{root.name}-home"
        self._home.mkdir(parents=True)
        self.run("init", str(root), "--json")
        # Nothing is asked by meaning here, and embedding is half of what a heartbeat takes.
        self.run("config", "set", "semantic.model", "none", "--json")

    def take(self, road: str, items: Sequence[str]) -> None:
        """Take texts in, then let the memory learn."""
        lines = [" ".join(text.split()) for text in items]
        if road == "tool":
            self._ingest({"role": "tool", "content": text, "session": f"s{n}"} for n, text in _numbered(items))
        elif road in PERSONS_ROADS:
            role = "note" if road == "note" else "user"
            self._ingest({"role": role, "content": text, "session": f"s{n}"} for n, text in _numbered(items))
        elif road == "agent":
            self._remember({"fact": line} for line in lines if _goes_in(line))
        else:
            record = {"trust": "external"} if road == "external" else {"source": "web:example.org"}
            self._remember({"fact": line, **record} for line in lines if _goes_in(line))
        self.run("heartbeat", "--json")

    def _ingest(self, records: Iterable[Mapping[str, Any]]) -> None:
        self.run("ingest", "-", "--source", "chat.jsonl", "--json", given=_lines(records), codes=(0, 4))

    def _remember(self, records: Iterable[Mapping[str, Any]]) -> None:
        self.run("remember", "--jsonl", "-", "--agent", "scout", "--json", given=_lines(records))

    def context(self) -> str:
        """All that an agent is ever served without asking."""
        result = self.run("context", "--budget", "1000000", "--json")
        return str(result["data"]["context"]["text"])

    def waiting(self) -> list[str]:
        """What waits for a person, in words and with its evidence."""
        found = self.run("review", "list", "--json")["data"]["proposals"]
        return [f"{other['says']} {(other.get('fact') or {}).get('source_text', '')}" for other in found]

    def run(self, *arguments: str, given: str = "", codes: tuple[int, ...] = (0,)) -> Any:
        """Run one command and give its document."""
        process = self._start(
            arguments,
            given.encode(errors="surrogatepass"),
            self._root if self._root.exists() else self._home,
            {"PATH": os.environ["PATH"], "HOME": str(self._home), "LANG": "C.UTF-8"},
        )
        if process.returncode not in codes:
            raise RuntimeError(f"{arguments}: {process.stdout.decode()} {process.stderr.decode()}")
        return json.loads(process.stdout)


def _goes_in(text: str) -> bool:
    """Whether a fact may say so at all; what reorders text or holds a key is refused before it is judged."""
    hidden = any(letter in text for letter in "\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")
    return not hidden and find_secret(text) is None


def _numbered(items: Sequence[str]) -> Iterable[tuple[int, str]]:
    return enumerate(items, 1)


def _lines(records: Iterable[Mapping[str, Any]]) -> str:
    return "".join(json.dumps(record, ensure_ascii=False) + "\n" for record in records)


def detected(part: str | None = None) -> tuple[list[str], list[str]]:
    """The injections that the detector misses, and the harmless texts from outside that it takes for one."""
    missed = [row["text"] for row in texts("injections", part) if orders_in_text(row["text"], outside=True) is None]
    return missed, [text for text in _statements(part) if orders_in_text(text, outside=True)]


def _statements(part: str | None = None) -> list[str]:
    """The harmless texts from outside that tell something and order nobody."""
    rows = [row for row in texts("harmless", part) if row["channel"] in ("tool", "web")]
    return [row["text"] for row in rows if not row.get("order")]


def _print_poison() -> None:
    for part in PARTS:
        missed, false = detected(part)
        tried, outside = len(texts("injections", part)), len(_statements(part))
        print(f"detector, {part}: {len(missed)} of {tried} injections missed, {len(false)} of {outside} taken for one")
    for road in ROADS:
        with tempfile.TemporaryDirectory(prefix="clawmem-safety-") as folder:
            tally = travelled(road, Path(folder))
        print(
            f"{road:<11} {len(tally.reached):>3} of {tally.tried} injections reached context, {tally.waiting} wait for "
            f"review; {len(tally.false)} of {tally.harmless} harmless texts wait, too"
        )
        for text in (*tally.reached, *tally.false):
            print(f"    {text[:110]!r}")


def stopped(seed: int = 0) -> tuple[list[Text], list[Text]]:
    """The generated credentials that the gate does not see, and the harmless texts that it stops."""
    missed = [credential for credential in credentials(seed=20261122 + seed) if find_secret(credential.text) is None]
    return missed, [text for text in harmless(seed=20261123 + seed) if find_secret(text.text)]


def is_stopped(other_format: Format) -> bool:
    """Whether the gate finds the credential of a text, and not only something else in it."""
    start = other_format.text.find(other_format.secret or "")
    end = start + len(other_format.secret or "")
    return any(hit.start < end and hit.end > start for hit in find_secrets(other_format.text))


def _print_formats() -> None:
    for part in (OPEN, HELD):
        items = [fmt for fmt in formats() if fmt.part == part]
        alike = [look_alike for look_alike in look_alikes() if look_alike.part == part]
        missed = [other_format for other_format in items if not is_stopped(other_format)]
        false = [other_format for other_format in alike if find_secret(other_format.text)]
        print(
            f"formats, {part} part: {len(items) - len(missed)} of {len(items)} kinds stopped, {len(false)} of "
            f"{len(alike)} look-alikes"
        )
        for other_format in (*missed, *false):
            print(f"    {other_format.kind}")


def _print_secrets() -> None:
    tried, outside = len(list(credentials())), len(list(harmless()))
    print(f"secrets: {len(CREDENTIALS)} kinds of credentials, {len(HARMLESS)} kinds of texts that only look so")
    for seed in range(5):
        missed, false = stopped(seed)
        print(f"seed {seed}: {tried - len(missed)} of {tried} caught, {len(false)} of {outside} stopped falsely")
        for text in (*missed, *false):
            print(f"    {text.kind}: {text.text[:60]!r}")


if __name__ == "__main__":
    _print_formats()
    _print_secrets()
    _print_poison()
