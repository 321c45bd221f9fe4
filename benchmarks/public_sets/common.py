"""What the runners of public sets share: a vault, what it serves for a question, an answering model, and the output."""

from __future__ import annotations

import argparse
import json
import os
import random
import re
import subprocess
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from datetime import timedelta
from pathlib import Path
from typing import Any, NamedTuple

from benchmarks.measure import environment
from clawmem.errors import ClawmemError, InvalidInput
from clawmem.index.refresh import open_index
from clawmem.index.search.channels import FactFilter
from clawmem.index.search.lookup import PlacedFact, all_facts
from clawmem.llm.budget import Account
from clawmem.llm.choice import Model, choose_model
from clawmem.llm.client import check_model, prices_of
from clawmem.llm.loop import ask
from clawmem.memory.health.configure import change_setting
from clawmem.model.facts.fact_words import fact_line
from clawmem.model.records.caller import Caller
from clawmem.serving.recall.recall import LEAST_SCORE, recall
from clawmem.serving.recall.result import RECALL_KINDS, EventHit, FactHit, RecallHit
from clawmem.vault.exchange.create import create_vault
from clawmem.vault.git.acceptance import accept
from clawmem.vault.vault import Vault
from tests.conftest import NOW

SEED = 1
_OF_REGULAR_EXPRESSIONS = re.compile(r"[\\\[\]()|?+*{}]")
_SHOWN_APART = ("set", "read", "scored", "table", "cases")
Table = Sequence[Mapping[str, Any]]


class Options(NamedTuple):
    """How the runs ask: settings of each vault as `key=value`, whether a model answers, and how many cases at most."""

    settings: tuple[str, ...] = ()
    answer: bool = False
    cases: int | None = None


class Memory:
    """A new vault in a folder, with the clock of the set and fixed ids."""

    def __init__(self, folder: Path, options: Options) -> None:
        self.vault: Vault = create_vault(folder / "vault", {**os.environ, **environment(folder / "home")}, NOW)
        accept(self.vault.git_dir, self.vault.environment)
        self.caller = Caller(NOW, random.Random(SEED).randbytes)
        for pair in options.settings:
            key, _, value = pair.partition("=")
            change_setting(self.vault, self.caller, key, value)
        self.vault = Vault(self.vault.root, self.vault.environment)  # with these settings
        self.answering = Answering(self.vault) if options.answer else None

    def later(self, seconds: int = 60) -> None:
        """Move the clock."""
        self.caller = self.caller._replace(now=self.caller.now + timedelta(seconds=seconds))

    def ask(self, question: str, limit: int, kinds: Sequence[str] = RECALL_KINDS) -> tuple[RecallHit, ...]:
        """Return what `clawmem recall --limit N` shows for a question, weak hits left out."""
        if not question.strip():
            return ()
        found = recall(self.vault, question, self.caller, FactFilter(), limit, kinds, 1, LEAST_SCORE)
        return found.ranking[:limit]


class Answering:
    """The answering model that the vault's settings name."""

    def __init__(self, vault: Vault) -> None:
        model = choose_model(vault.settings, os.environ)
        if model is None:
            raise InvalidInput("No answering model is set.", "Add --set llm.model=NAME, or leave --answer out.")
        check_model(model)
        self.model: Model = model
        self.account = Account(model.limits, prices_of(model))

    def json(self, system: str, text: str, schema: Mapping[str, Any]) -> dict[str, Any] | None:
        """Return the model's answer in this schema, or None where it gave none."""
        messages = [{"role": "system", "content": system}, {"role": "user", "content": text}]
        answer = ask(self.model, self.account, messages, schema)
        return answer.value if isinstance(answer.value, dict) else None


def line_of(hit: RecallHit) -> str:
    """Return a hit as the text that a reader gets: a fact with its labels and the event that it was learned from, as
    `recall --json` gives it; an event; or a line of a note."""
    if isinstance(hit.hit, FactHit):
        line = fact_line(hit.hit.fact, hit.hit.entity)
        return f"{line} ({hit.event.text})" if hit.event else line
    if isinstance(hit.hit, EventHit):
        event = hit.hit.event
        return f"[{event.timestamp[:10]}] {event.speaker or event.role}: {event.text}"
    return hit.hit.text


def hits_pattern(text: str, pattern: str) -> bool:
    """Return whether a text contains a pattern: a regular expression, or else a text without case, white space as one
    blank, plain words only whole.

    The rule is that of GateMem's own rule-based scorer (bench/eval/metrics.py)."""
    if _OF_REGULAR_EXPRESSIONS.search(pattern):
        with suppress(re.error):
            return re.search(pattern, text, re.IGNORECASE) is not None
    low, wanted = (" ".join(name.split()).lower() for name in (text, pattern))
    if not wanted:
        return False
    if re.fullmatch(r"[a-z0-9][a-z0-9\s_\-/.:]*[a-z0-9]", wanted):
        return re.search(rf"(?<!\w){re.escape(wanted)}(?!\w)", low) is not None
    return wanted in low


def current_facts(vault: Vault) -> list[PlacedFact]:
    """Return the facts of a vault that are neither replaced nor withdrawn."""
    index = open_index(vault)
    try:
        return [placed for placed in all_facts(index) if placed.fact.is_current]
    finally:
        index.close()


def places_with(vault: Vault, words: Sequence[str]) -> list[str]:
    """Return where a vault still has one of the words: its files, any object of its git history, and its index."""
    wanted = [word.casefold() for word in words if word]
    found = [
        path.relative_to(vault.root).as_posix()
        for path in sorted(vault.root.rglob("*"))
        if path.is_file() and ".git" not in path.relative_to(vault.root).parts and _has(path.read_bytes(), wanted)
    ]
    git = ["git", "cat-file", "--batch-all-objects", "--batch", "--buffer"]
    objects = subprocess.run(git, cwd=vault.root, env=dict(vault.git.environment), capture_output=True, check=True)
    found += ["git history"] if _has(objects.stdout, wanted) else []
    index = open_index(vault)
    try:
        rows = [*index.database.execute("SELECT line FROM fact"), *index.database.execute("SELECT line FROM event")]
        rows += index.database.execute("SELECT text FROM note").fetchall()
    finally:
        index.close()
    texts = "\n".join(str(other) for (other,) in rows)
    return [*found, "index"] if _has(texts.encode(), wanted) else found


def _has(content: bytes, wanted: Sequence[str]) -> bool:
    text = content.decode("utf-8", errors="replace").casefold()
    return any(word in text for word in wanted)


def share(part: float, whole: int) -> float | None:
    """Return a share in percent with one digit, or None of nothing."""
    return round(100 * part / whole, 1) if whole else None


@contextmanager
def folders() -> Iterator[Callable[[], Path]]:
    """Yield a source of new folders, one a case, which are removed at the end."""
    with tempfile.TemporaryDirectory(prefix="clawmem-public-") as top:
        yield lambda: Path(tempfile.mkdtemp(dir=top))


def markdown(rows: Table) -> str:
    """Return rows with the same keys as a Markdown table."""
    if not rows:
        return "(no cases)"
    keys = list(rows[0])
    lines = [f"| {' | '.join(keys)} |", "|" + "---|" * len(keys)]
    lines += [f"| {' | '.join('' if row[key] is None else str(row[key]) for key in keys)} |" for row in rows]
    return "\n".join(lines)


def main(doc: str | None, read: Callable[..., Any], run: Callable[..., Mapping[str, Any]], files: Sequence[str]) -> int:
    """Parse the command line of a runner, run it, and print its table, or everything as JSON.

    The exit code is 1 where the number of cases that were scored is not that of the cases that were read."""
    parser = argparse.ArgumentParser(description=doc, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name in files:
        parser.add_argument(name.rstrip("?"), type=Path, nargs={"files": "+", "rights?": "?"}.get(name))
    parser.add_argument("--cases", type=int, metavar="N", help="only the first N cases or episodes")
    parser.add_argument("--answer", action="store_true", help="let the model of the settings answer, too")
    parser.add_argument("--set", action="append", default=[], metavar="KEY=VALUE", help="a setting of each vault")
    parser.add_argument("--json", action="store_true", help="print one JSON document with every case")
    namespace = parser.parse_args()
    try:
        cases = read(*(getattr(namespace, name.rstrip("?")) for name in files))
        record = run(cases, Options(tuple(namespace.set), namespace.answer, namespace.cases))
    except ClawmemError as problem:
        parser.error(f"{problem.message} {problem.hint}")
    if namespace.json:
        print(json.dumps(record, indent=1, ensure_ascii=False))
    else:
        print(f"{record['read']} cases read, {record['scored']} scored\n\n{markdown(record['table'])}")
        print(*(f"\n{name}: {record[name]}" for name in record if name not in _SHOWN_APART), sep="")
    return 0 if record["read"] == record["scored"] else 1


def read_json(path: Path) -> Any:
    """Read a JSON file. Raise InvalidInput with the line where it is not JSON."""
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except OSError as problem:
        raise InvalidInput(f"{path} cannot be read: {problem.strerror}.") from None
    except ValueError as problem:
        raise InvalidInput(f"{path} is not JSON: {problem}.") from None


def read_lines(path: Path) -> list[dict[str, Any]]:
    """Read a JSON Lines file. Raise InvalidInput with the line that is not a JSON object."""
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except OSError as problem:
        raise InvalidInput(f"{path} cannot be read: {problem.strerror}.") from None
    records = []
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        try:
            record = json.loads(line)
        except ValueError as problem:
            raise InvalidInput(f"{path}, line {number} is not JSON: {problem}.") from None
        if not isinstance(record, dict):
            raise InvalidInput(f"{path}, line {number} is not a JSON object.")
        records.append(record)
    return records


def key_of(record: Mapping[str, Any], key: str, kind: type, where: str) -> Any:
    """Return a value of a record. Raise InvalidInput that names the record and the key where it is not of the kind."""
    value = record.get(key)
    if not isinstance(value, kind):
        raise InvalidInput(f"{where}: the key '{key}' is missing or not {kind.__name__}.")
    return value
