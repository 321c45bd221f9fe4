"""Hits of a search, and lists of facts: the day beside what was said, and below it where that is from.

The queue of proposals, and one of them with its evidence.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from rich.console import RenderableType
from rich.text import Text
from rich.tree import Tree

from clawmem.faces.cli.drawing.canvas import ALERT, FAINT, HEAD, HIT, LEVEL, Canvas, fact_of, remarks, words
from clawmem.faces.parts.command import Answer, Fields
from clawmem.faces.parts.words import event_warning
from clawmem.faces.verbs.recall import LONGEST_LINE, channel_state
from clawmem.index.search.events import matched_spans
from clawmem.model.language.dates import minute
from clawmem.model.language.question import search_words
from clawmem.model.language.text import counted, forms_of, normal
from clawmem.model.pages.tokens import said_on
from clawmem.model.proposals.proposal import OPEN
from clawmem.model.records.event import Event, event_from_record
from clawmem.model.search.passage import excerpt
from clawmem.serving.recall.result import RECALL_KINDS, ChannelReport

_Record = Mapping[str, Any]

_DAY = 10
"""Columns of a day."""
_SINGULAR = {"events": "event", "notes": "note", "summaries": "summary"}


def recall(canvas: Canvas, answer: Answer, record: Mapping[str, Any]) -> Iterator[Text] | None:
    """The hits with the words that matched; the text for a prompt (--budget) is printed as it is."""
    if record["budget"]:
        return None
    data = answer.made()
    return _hits(canvas, data, record)


def listed(canvas: Canvas, answer: Answer, record: Mapping[str, Any]) -> Iterator[Text] | None:
    """The facts of a list, with the day on which they were recorded."""
    facts = answer.made()["facts"]
    tiers = len({fact["tier"] for fact in facts}) > 1
    return (row for fact in facts for row in _listed(canvas, fact, tiers))


def _listed(canvas: Canvas, record: _Record, tiers: bool) -> Iterator[Text]:
    below = [words(record["tier"], FAINT)] if tiers else []
    day = said_on(fact_of(record)) or record["timestamp"][:_DAY]
    texts = [words(record["fact"]), *canvas.flow([*below, *remarks(record)], canvas.beside(_DAY))]
    return canvas.block(words(day, FAINT), _DAY, texts)


def _hits(canvas: Canvas, data: _Record, record: Mapping[str, Any]) -> Iterator[Text]:
    kinds = [(kind, other) for kind in RECALL_KINDS for other in data[kind]]
    ranked = sorted(kinds, key=lambda hit: hit[1]["rank"])
    forms = [form for word in search_words(record["question"].strip()) for form in forms_of(word)]
    texts = _marked(_texts(ranked, forms), forms)
    for (kind, other), items in zip(ranked, texts, strict=True):
        clock = [words(other["time"], FAINT)] if "time" in other else []
        below = list(canvas.flow([*clock, *_below(kind, other)], canvas.beside(_DAY)))
        if record["explain"]:
            below.append(_score(other))
        yield from canvas.block(words(other.get("date") or "undated", FAINT), _DAY, [*items, *below])
    if record["explain"]:
        yield from _channels(canvas, data)


def _texts(ranked: Sequence[tuple[str, _Record]], forms: Sequence[str]) -> Iterator[list[Text]]:
    """What each hit says, and for a fact what it quotes, as far as that says something else and was not quoted yet."""
    quoted: set[str] = set()
    for kind, record in ranked:
        if kind != "facts":
            text = words(excerpt(record["text"], forms, LONGEST_LINE))
            yield [Text(f"{words(record['who'])}: ").append_text(text) if kind == "events" else text]
            continue
        quote, event = record.get("quote") or record.get("source_text"), record.get("source_event")
        again = event in quoted or not quote or normal(quote) == normal(record["fact"])
        quoted |= {event} if event else set()
        yield [words(record["fact"]), *([] if again else [words(f'"{excerpt(quote or "", forms, LONGEST_LINE)}"')])]


def _marked(texts: Iterator[list[Text]], forms: Sequence[str]) -> list[list[Text]]:
    """The same texts with the words highlighted that the search matched."""
    items = list(texts)
    every = [text for other_items in items for text in other_items]
    for text, spans in zip(every, matched_spans([text.plain for text in every], forms), strict=True):
        for start, end in spans:
            text.stylize(HIT, start, end)
    return items


def _below(kind: str, record: _Record) -> Iterator[Text]:
    if kind == "facts":
        identity, *others = remarks(record)
        yield from (identity, words(record["who"], FAINT), *others)
        return
    if kind == "events":
        yield words(record["id"], FAINT)
        event = event_from_record({key: record[key] for key in Event._fields if key in record})
        warning = event_warning(event, bool(record.get("quarantined"))).strip(" ()")
        yield from [words(warning, ALERT)] if warning else []
    else:
        yield words(f"{record['path']}:{record['place']}", FAINT)
        yield words(record["who"], FAINT)
    yield words(_SINGULAR[kind], FAINT)


def _score(record: _Record) -> Text:
    parts = {**record.get("channels", {}), **({"prior": record["prior"]} if "prior" in record else {})}
    made_of = ", ".join(f"{name} {points:.3f}" for name, points in parts.items())
    tier = [record["tier"]] if "tier" in record else []
    return words("; ".join([f"score {record['score']:.3f}", *([made_of] if made_of else []), *tier]), FAINT)


def _channels(canvas: Canvas, data: _Record) -> Iterator[Text]:
    column = max(map(len, data["channels"]), default=0)
    for name, channel in data["channels"].items():
        report = ChannelReport(
            channel["ran"], channel["hits"], channel.get("why_not", ""), channel.get("unable", False)
        )
        text = words(channel_state(report), ALERT if report.unable else "")
        yield from canvas.block(words(name, FAINT), column, [text], beside=True)
    if data["weak"]:
        yield words(f"{counted(data['weak'], 'weak hit')} left out; --all shows them", FAINT)


def queue(canvas: Canvas, answer: Answer, record: Mapping[str, Any]) -> Iterator[Text]:
    """The proposals: what each says, why it waits, and what it is."""
    for proposal in answer.made()["proposals"]:
        below = canvas.flow(_about(proposal), canvas.beside(_DAY))
        day = words(proposal["created"][:_DAY], FAINT)
        yield from canvas.block(day, _DAY, [words(proposal["says"]), words(proposal["why"]), *below])


def proposal(canvas: Canvas, answer: Answer, record: Mapping[str, Any]) -> Iterator[RenderableType]:
    """A tree: what the proposal says, and below it why, what it does, its evidence, and the facts as they are now."""
    data = answer.made()
    other = data["proposal"]
    about = (*_about(other), words(f"made {minute(other['created'])}", FAINT))
    tree = Tree(canvas.node(0, words(other["says"], HEAD), *canvas.flow(about, canvas.width)), guide_style=FAINT)
    pairs = answer.lines.pairs if isinstance(answer.lines, Fields) else ()
    for name, value in pairs:
        if name not in ("says", "now"):
            tree.add(canvas.node(1, words(name, FAINT).append("  ").append_text(words(value))))
    for target in data["targets"]:
        below = canvas.flow(remarks(target), canvas.width - LEVEL)
        tree.add(canvas.node(1, words("now", FAINT).append("  ").append_text(words(target["fact"])), *below))
    yield tree


def _about(record: _Record) -> Iterator[Text]:
    yield words(record["id"], FAINT)
    yield words(record["kind"])
    yield words(record["status"], HEAD if record["status"] == OPEN else FAINT)
    yield from (words(record[key], FAINT) for key in ("entity", "agent") if record.get(key))
