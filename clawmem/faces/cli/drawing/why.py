"""Where a fact comes from: a tree of its evidence, its premises, what it replaced, and its history.

Entries of the history by day.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import groupby
from typing import Any

from rich.console import RenderableType
from rich.text import Text
from rich.tree import Tree

from clawmem.faces.cli.drawing.canvas import ALERT, FAINT, HEAD, HIT, LEVEL, Canvas, fact_of, remarks, words
from clawmem.faces.parts.command import Answer
from clawmem.faces.parts.words import SHORT, event_warning
from clawmem.faces.verbs.why import around_quote, source_words
from clawmem.model.facts.fact import Fact
from clawmem.model.language.dates import minute
from clawmem.model.lifecycle.premises import PREMISES
from clawmem.model.records.event import Event, event_from_record

_MINUTE = 7
"""Columns of an indented time."""


def log(canvas: Canvas, answer: Answer, record: Mapping[str, Any]) -> Iterator[Text]:
    """The entries, newest first unless the oldest are asked for first."""
    history = answer.made()["history"]
    return entries(canvas, history if record["oldest_first"] else reversed(history))


def entries(canvas: Canvas, history: Iterable[_Record]) -> Iterator[Text]:
    """Entries below the day on which they were made."""
    for day, made in groupby(history, key=lambda record: str(record["time"][:10])):
        yield words(f"{day} UTC", HEAD)
        for record in made:
            who = (words(record["commit"][:SHORT], FAINT), words(record["author"], FAINT))
            below = canvas.flow(who, canvas.width - _MINUTE - 2)
            time = words(record["time"][11:16], FAINT)
            yield from canvas.block(Text("  ").append_text(time), _MINUTE, [subject(record), *below], beside=True)


def subject(entry: _Record) -> Text:
    """The first line of a commit's message, with the operation of clawmem set off."""
    text = words(entry["subject"])
    operation = entry.get("op") or ""
    if operation and text.plain.startswith(f"{operation}("):
        text.stylize(HEAD, 0, len(operation))
    return text


_Record = Mapping[str, Any]

_DEEPEST = 4
"""The deepest level of a tree that has another one below it: 40 columns have no room for more."""


def why(canvas: Canvas, answer: Answer, record: Mapping[str, Any]) -> Iterable[RenderableType] | None:
    """The fact as the root of a tree; None of what rests on it, and of what an organisation says."""
    data = answer.made()
    return [_tree(canvas, data)] if "history" in data else None


def _tree(canvas: Canvas, data: _Record) -> Tree:
    fact = fact_of(data["fact"])
    tree = Tree(canvas.node(0, *_statement(canvas, data["fact"], HEAD, 0)), guide_style=FAINT)
    for rows in (_own(data, fact), _evidence(data, fact)):
        for row in rows:
            tree.add(canvas.node(1, *row))
    _add_premises(canvas, tree, fact)
    _add_chain(canvas, tree, data)
    _add_history(canvas, tree, data["history"])
    return tree


def _own(data: _Record, fact: Fact) -> Iterator[Sequence[Text]]:
    yield (_labelled("recorded", words(_recorded(data, data["history"]))),)
    if "removed" in data:
        removed = f"in {data['removed'][:SHORT]}; `clawmem undo {data['removed'][:SHORT]}` restores it"
        yield (_labelled("removed", words(removed, ALERT)),)
    yield (_labelled("source", words(", ".join(source_words(fact, _event(data))))),)


def _statement(canvas: Canvas, record: _Record, style: str, level: int) -> Iterator[Text]:
    yield words(record["fact"], style)
    yield from canvas.flow(remarks(record), canvas.width - LEVEL * level)


def _labelled(label: str, text: Text) -> Text:
    return words(label, FAINT).append("  ").append_text(text)


def _recorded(link: _Record, history: Sequence[_Record]) -> str:
    begins = link.get("history_begins")
    if begins is not None:
        return f"{minute(begins['time'])} or earlier; the history before {begins['commit'][:SHORT]} is not here"
    commit = link.get("recorded")
    if commit is None:
        return "in no commit yet"
    entry = next((record for record in history if record["commit"] == commit), None)
    if entry is None:
        return f"in {commit[:SHORT]}"
    return f"{minute(entry['time'])} by {entry['author']} <{entry['author_email']}> in {commit[:SHORT]}"


def _event(data: _Record) -> Event | None:
    record = data.get("event")
    return record and event_from_record({key: record[key] for key in Event._fields if key in record})


def _evidence(data: _Record, fact: Fact) -> Iterator[Sequence[Text]]:
    event = _event(data)
    if event is None:
        quote = words(f'"{fact.source_text}"', HIT) if fact.source_text else words("none was given")
        yield (_labelled("evidence", quote),)
        return
    who = event.role if event.speaker is None else f"{event.speaker} ({event.role})"
    message = words(f"{who}, {minute(event.timestamp)},").append(" ").append_text(words(event.id, FAINT))
    before, quoted, after = around_quote(event.text, fact.source_span, fact.source_text)
    text = _spaced(before).append_text(_spaced(quoted or "", HIT)).append_text(_spaced(after))
    warning = event_warning(event).strip(" ()")
    yield (_labelled("evidence", message), text, *([words(warning, ALERT)] if warning else []))


def _spaced(text: str, style: str = "") -> Text:
    """A part of a text on one line, with a space where it begins or ends with one."""
    shown = words(text, style)
    before, after = text[:1].isspace(), text[-1:].isspace() and bool(shown)
    return Text(" " if before else "").append_text(shown).append(" " if after else "")


def _add_premises(canvas: Canvas, tree: Tree, fact: Fact) -> None:
    premises = [link for link in fact.links if link.type in PREMISES]
    if not premises:
        return
    branch = tree.add(words("rests on", FAINT))
    for link in premises:
        because = words(f": {link.reason}") if link.reason else Text()
        premise = words(link.to, FAINT).append(" ").append_text(words(link.type)).append_text(because)
        branch.add(canvas.node(2, premise))


def _add_chain(canvas: Canvas, tree: Tree, data: _Record) -> None:
    """What replaced what, the newest first; where one fact replaced several, these are below it."""
    chain = _Chain(canvas, data)
    if len(chain.members) < 2:
        return
    branch = tree.add(words("chain, newest first", FAINT))
    newest = [member for member in chain.members.values() if member.get("superseded_by") not in chain.members]
    # A record that somebody wrote may say that facts replace each other in a circle: none is the newest then.
    for member in (*newest, *reversed(chain.members.values())):
        chain.add(branch, member, 2)


class _Chain:
    """The facts of a chain, each of which is drawn once."""

    def __init__(self, canvas: Canvas, data: _Record) -> None:
        self.members: dict[str, _Record] = {other["id"]: other for other in (*data["chain"], data["fact"])}
        self._canvas = canvas
        self._data = data
        self._drawn: set[str] = set()
        self._replaced: defaultdict[str, list[_Record]] = defaultdict(list)
        for member in self.members.values():
            self._replaced[member.get("superseded_by") or ""].append(member)

    def add(self, branch: Tree, newest: _Record, level: int) -> None:
        """Draw a fact and what it replaced, if it was not drawn yet."""
        ahead = [newest]
        while ahead:
            record = ahead.pop()
            if record["id"] in self._drawn:
                continue
            self._drawn.add(record["id"])
            node = branch.add(self._canvas.node(level, *self._rows(record, level)))
            replaced = self._replaced[record["id"]]
            if len(replaced) == 1 or level > _DEEPEST:
                ahead += replaced
                continue
            for each in replaced:
                self.add(node, each, level + 1)

    def _rows(self, record: _Record, level: int) -> Iterator[Text]:
        """A fact: its quote, when it was recorded, and why it was replaced. The root of the tree has told all but the
        last of the fact that was asked for."""
        if record["id"] == self._data["fact"]["id"]:
            yield words("this fact", HIT)
        else:
            yield from _statement(self._canvas, record, "", level)
            if record.get("source_text"):
                yield words(f'"{record["source_text"]}"')
            yield words(f"recorded {_recorded(record, self._data['history'])}", FAINT)
        successor = self.members.get(record.get("superseded_by") or "", {})
        for link in successor.get("links", ()):
            if link["to"] == record["id"] and link.get("reason"):
                yield words(f"replaced because: {link['reason']}")


def _add_history(canvas: Canvas, tree: Tree, history: Sequence[_Record]) -> None:
    branch = tree.add(words("history" if history else "history: none of it is here", FAINT))
    for record in history:
        parts = (
            words(record["commit"][:SHORT], FAINT),
            words(minute(record["time"]), FAINT),
            words(record["author"], FAINT),
        )
        branch.add(canvas.node(2, subject(record), *canvas.flow(parts, canvas.width - 2 * LEVEL)))
