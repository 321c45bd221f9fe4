"""The arm of plain files: the same acts on Markdown files, searched with BM25 within the same budget of tokens.

It is as good as a careful person with a text editor: a fact that is named is edited in its line, and what came from a
withdrawn origin is deleted, and what it had replaced comes back. It knows only what the acts say.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from math import log
from typing import NamedTuple

from clawmem.extensions.governance.suites.suite import Step
from clawmem.extensions.governance.suites.vaults import words_of
from clawmem.model.language.question import STOPWORDS

# The usual parameters of BM25 (Robertson and Zaragoza 2009).
_K1, _B = 1.2, 0.75
_WORD = re.compile(r"\w+")
_ORIGINS = ("source", "agent", "session")


class _Line(NamedTuple):
    file: str
    text: str
    origins: tuple[str, ...]
    replaced: tuple[_Line, ...] = ()


class _Act(NamedTuple):
    """A step: its arguments, its options with their values, its input, its day, and the origins that it names."""

    arguments: Sequence[str]
    options: Mapping[str, str]
    stdin: str
    day: str
    origins: tuple[str, ...]


class PlainFiles:
    """Lines of Markdown files by the acts of the fixtures; `count` counts the tokens of a text."""

    def __init__(self, steps: Sequence[Step], count: Callable[[str], int]) -> None:
        self._lines: list[_Line] = []
        self._count = count
        for step in steps:
            words, options = _read(words_of(step.run, step.facts))
            act = self._ACTS.get(words[0])
            if act is not None:
                origins = tuple(f"{name} {options[name]}" for name in _ORIGINS if name in options)
                act(self, _Act(words[1:], options, step.stdin, (step.now or "")[:10], origins))
        self._index = _Bm25([_terms(f"{line.file} {line.text}") for line in self._lines])

    def answer(self, question: str, budget: int) -> str:
        """Return the best lines for a question, each with its file, within a budget of tokens."""
        taken: list[str] = []
        left = budget
        for place in self._index.best(_terms(question)):
            line = f"{self._lines[place].file}: {self._lines[place].text}\n"
            left -= self._count(line)
            if left < 0:
                break
            taken.append(line)
        return "".join(taken)

    def _remember(self, act: _Act) -> None:
        rows = [json.loads(line) for line in act.stdin.splitlines()] if "jsonl" in act.options else []
        rows += [{"fact": argument, "entity": act.options.get("entity", "notes")} for argument in act.arguments]
        for row in rows:
            until = row.get("valid_to") or act.options.get("valid-to")
            dates = f"{act.day}, until {until}" if until else act.day
            origins = (*act.origins, *(f"{name} {row[name]}" for name in _ORIGINS if name in row))
            self._lines.append(_Line(f"{row.get('entity', 'notes')}.md", f"{row['fact']} ({dates})", origins))

    def _ingest(self, act: _Act) -> None:
        for row in map(json.loads, act.stdin.splitlines()):
            day = str(row.get("timestamp", act.day))[:10]
            origins = (*act.origins, *(f"{name} {row[name]}" for name in _ORIGINS if name in row))
            self._lines.append(_Line(f"chats/{day}.md", f"{row['role']}: {row['content']} ({day})", origins))

    def _note(self, act: _Act) -> None:
        self._lines.append(_Line(f"daily/{act.day}.md", act.arguments[0], act.origins))

    def _supersede(self, act: _Act) -> None:
        old = self._named(act.arguments[0])
        self._lines = [line for line in self._lines if line not in old]
        file = old[0].file if old else "notes.md"
        self._lines.append(_Line(file, f"{act.arguments[1]} ({act.day})", act.origins, tuple(old)))

    def _retract(self, act: _Act) -> None:
        gone = self._named(act.arguments[0])
        self._lines = [line for line in self._lines if line not in gone]

    def _undo(self, act: _Act) -> None:
        self._withdraw(self._named(act.arguments[0]))

    def _revoke(self, act: _Act) -> None:
        wanted = {f"{name} {value}" for name, value in act.options.items()}
        self._withdraw([line for line in self._lines if wanted <= set(line.origins)])

    def _withdraw(self, gone: Sequence[_Line]) -> None:
        self._lines = [line for line in self._lines if line not in gone]
        self._lines += [before for line in gone for before in line.replaced]

    def _named(self, text: str) -> list[_Line]:
        return [line for line in self._lines if line.text.startswith(text)]

    _ACTS: Mapping[str, Callable[[PlainFiles, _Act], None]] = {
        "remember": _remember,
        "ingest": _ingest,
        "note": _note,
        "supersede": _supersede,
        "retract": _retract,
        "undo": _undo,
        "revoke": _revoke,
    }


class _Bm25:
    """Okapi BM25 over lists of terms."""

    def __init__(self, documents: Sequence[Sequence[str]]) -> None:
        self._counts = [Counter(document) for document in documents]
        self._lengths = [len(document) for document in documents]
        self._mean = sum(self._lengths) / len(documents) if documents else 1.0
        counts = Counter(term for count in self._counts for term in count)
        total = len(documents)
        self._weights = {term: log(1 + (total - n + 0.5) / (n + 0.5)) for term, n in counts.items()}

    def best(self, terms: Sequence[str]) -> list[int]:
        """Return the places of the documents that contain a term, best first."""
        scores = {place: score for place in range(len(self._counts)) if (score := self._score(place, terms)) > 0}
        return sorted(scores, key=lambda place: (-scores[place], place))

    def _score(self, place: int, terms: Sequence[str]) -> float:
        norm = _K1 * (1 - _B + _B * self._lengths[place] / self._mean)
        counts = self._counts[place]
        return sum(
            self._weights[term] * counts[term] * (_K1 + 1) / (counts[term] + norm) for term in terms if term in counts
        )


def _terms(text: str) -> list[str]:
    return [word for word in _WORD.findall(text.lower()) if word not in STOPWORDS]


def _read(words: Sequence[str]) -> tuple[list[str], dict[str, str]]:
    """Return the arguments and the options of a command line, each option with its value."""
    arguments: list[str] = []
    options: dict[str, str] = {}
    rest = iter(words)
    for word in rest:
        if not word.startswith("-") or word == "-":
            arguments.append(word)
            continue
        name, joined, value = word.lstrip("-").partition("=")
        options["entity" if name == "e" else name] = value if joined else next(rest, "")
    return arguments, options
