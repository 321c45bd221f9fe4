"""Where a fact comes from: a tree of its evidence, its premises, what it replaced, and its history."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from rich.console import Group, RenderableType
from rich.text import Text
from rich.tree import Tree

from clawmem.faces.cli.drawing.canvas import ALERT, FAINT, HEAD, HIT, LEVEL, Canvas, words
from clawmem.faces.cli.drawing.facts import fact_of, remarks
from clawmem.faces.cli.drawing.log import subject
from clawmem.faces.parts.command import Answer
from clawmem.faces.parts.past import SHORT, minute
from clawmem.faces.parts.words import event_warning
from clawmem.faces.verbs.why import around_quote
from clawmem.model.facts.fact import Fact
from clawmem.model.lifecycle.premises import PREMISES
from clawmem.model.records.event import Event, event_from_record

_Record = Mapping[str, Any]


def why(canvas: Canvas, answer: Answer, given: Mapping[str, Any]) -> Iterator[RenderableType]:
    """The fact as the root of a tree."""
    data = answer.made()
    record, fact = data["fact"], fact_of(data["fact"])
    tree = Tree(_statement(canvas, record, HEAD, level=0), guide_style=FAINT)
    tree.add(_labelled("recorded", words(_recorded(data, data["history"]))))
    if "removed" in data:
        tree.add(_labelled("removed", words(f"in {data['removed'][:SHORT]}; `clawmem undo` restores it", ALERT)))
    tree.add(_labelled("source", words(", ".join(_source(fact)))))
    _add_evidence(tree, data, fact)
    _add_premises(tree, fact)
    _add_chain(canvas, tree, data)
    _add_history(canvas, tree, data["history"])
    yield tree


def _statement(canvas: Canvas, record: _Record, style: str, level: int) -> RenderableType:
    return Group(words(record["fact"], style), *canvas.flow(remarks(record), canvas.width - LEVEL * level))


def _labelled(label: str, text: Text) -> Text:
    return words(label, FAINT).append("  ").append_text(text)


def _recorded(link: _Record, history: Sequence[_Record]) -> str:
    begins = link.get("history_begins")
    if begins is not None:
        return f"{minute(begins['time'])} or earlier; the history before {begins['commit'][:SHORT]} is not here"
    commit = link.get("recorded")
    if commit is None:
        return "in no commit yet"
    entry = next((one for one in history if one["commit"] == commit), None)
    if entry is None:
        return f"in {commit[:SHORT]}"
    return f"{minute(entry['time'])} by {entry['author']} <{entry['author_email']}> in {commit[:SHORT]}"


def _source(fact: Fact) -> Iterator[str]:
    yield fact.source
    if fact.trust:
        yield f"trust {fact.trust}"
    if fact.confidence is not None:
        yield f"confidence {fact.confidence:g}"


def _add_evidence(tree: Tree, data: _Record, fact: Fact) -> None:
    if "event" not in data:
        quote = words(f'"{fact.source_text}"', HIT) if fact.source_text else words("none was given")
        tree.add(_labelled("evidence", quote))
        return
    event = event_from_record({key: data["event"][key] for key in Event._fields if key in data["event"]})
    who = event.role if event.speaker is None else f"{event.speaker} ({event.role})"
    told = words(f"{who}, {minute(event.timestamp)},").append(" ").append_text(words(event.id, FAINT))
    before, quoted, after = around_quote(event.text, fact.source_span, fact.source_text)
    text = _spaced(before).append_text(_spaced(quoted or "", HIT)).append_text(_spaced(after))
    warning = event_warning(event).strip(" ()")
    rows = [_labelled("evidence", told), text, *([words(warning, ALERT)] if warning else [])]
    tree.add(Group(*rows))


def _spaced(text: str, style: str = "") -> Text:
    """A part of a text on one line, with a space where it begins or ends with one."""
    shown = words(text, style)
    before, after = text[:1].isspace(), text[-1:].isspace() and bool(shown)
    return Text(" " if before else "").append_text(shown).append(" " if after else "")


def _add_premises(tree: Tree, fact: Fact) -> None:
    premises = [link for link in fact.links if link.type in PREMISES]
    if not premises:
        return
    branch = tree.add(words("rests on", FAINT))
    for link in premises:
        because = words(f": {link.reason}") if link.reason else Text()
        branch.add(words(link.to, FAINT).append(" ").append_text(words(link.type)).append_text(because))


def _add_chain(canvas: Canvas, tree: Tree, data: _Record) -> None:
    """What replaced what, the newest first, each with what it replaced below it."""
    members = {one["id"]: one for one in (data["fact"], *data["chain"])}
    if len(members) < 2:
        return
    branch = tree.add(words("chain, newest first", FAINT))
    for one in members.values():
        if one.get("superseded_by") not in members:
            _add_link(canvas, branch, one, members, data, 2)


def _add_link(
    canvas: Canvas, branch: Tree, one: _Record, members: Mapping[str, _Record], data: _Record, level: int
) -> None:
    node = branch.add(Group(*_link_rows(canvas, one, members, data, level)))
    for replaced in members.values():
        if replaced.get("superseded_by") == one["id"]:
            _add_link(canvas, node, replaced, members, data, level + 1)


def _link_rows(
    canvas: Canvas, one: _Record, members: Mapping[str, _Record], data: _Record, level: int
) -> Iterator[RenderableType]:
    """A fact of the chain: its quote, when it was recorded, and why it was replaced. The root has told all but the
    last of the fact that was asked for."""
    if one["id"] == data["fact"]["id"]:
        yield words("this fact", HIT)
    else:
        yield _statement(canvas, one, "", level)
        if one.get("source_text"):
            yield words(f'"{one["source_text"]}"')
        yield words(f"recorded {_recorded(one, data['history'])}", FAINT)
    successor = members.get(one.get("superseded_by") or "", {})
    for link in successor.get("links", ()):
        if link["to"] == one["id"] and link.get("reason"):
            yield words(f"replaced because: {link['reason']}")


def _add_history(canvas: Canvas, tree: Tree, history: Sequence[_Record]) -> None:
    branch = tree.add(words("history" if history else "history: none of it is here", FAINT))
    for one in history:
        parts = (words(one["commit"][:SHORT], FAINT), words(minute(one["time"]), FAINT), words(one["author"], FAINT))
        branch.add(Group(subject(one), *canvas.flow(parts, canvas.width - 2 * LEVEL)))
