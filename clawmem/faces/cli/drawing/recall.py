"""Hits of a search, and lists of facts: the day beside what was said, and below it where that is from."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from rich.text import Text

from clawmem.faces.cli.drawing.canvas import ALERT, FAINT, HIT, Canvas, paragraphs, words
from clawmem.faces.cli.drawing.facts import fact_of, remarks
from clawmem.faces.parts.command import Answer
from clawmem.faces.parts.words import event_warning
from clawmem.faces.verbs.recall import LONGEST_LINE, channel_state
from clawmem.index.search.matched_words import matched_spans
from clawmem.model.language.irregular import forms_of
from clawmem.model.language.question import search_words
from clawmem.model.language.text import counted, normal
from clawmem.model.pages.tokens import said_on
from clawmem.model.records.event import Event, event_from_record
from clawmem.model.search.excerpt import excerpt
from clawmem.serving.recall.result import RECALL_KINDS, ChannelReport

_Record = Mapping[str, Any]

_DAY = 10
"""Columns of a day."""
_SINGULAR = {"events": "event", "notes": "note", "summaries": "summary"}


def recall(canvas: Canvas, answer: Answer, given: Mapping[str, Any]) -> Iterator[Text] | None:
    """The hits with the words that matched; the text for a prompt (--budget) is printed as it is."""
    if given["budget"]:
        return None
    data = answer.made()
    told = data.get("narrative", {}).get("text")
    if told:
        return iter(canvas.wrapped(paragraphs(told), canvas.width))
    return _hits(canvas, data, given)


def listed(canvas: Canvas, answer: Answer, given: Mapping[str, Any]) -> Iterator[Text] | None:
    """The facts of a list, with the day on which they were recorded."""
    facts = answer.made()["facts"]
    tiers = len({one["tier"] for one in facts}) > 1
    return (row for one in facts for row in _listed(canvas, one, tiers))


def _listed(canvas: Canvas, record: _Record, tiers: bool) -> Iterator[Text]:
    below = [words(record["tier"], FAINT)] if tiers else []
    day = said_on(fact_of(record)) or record["timestamp"][:_DAY]
    texts = [words(record["fact"]), *canvas.flow([*below, *remarks(record)], canvas.beside(_DAY))]
    return canvas.block(words(day, FAINT), _DAY, texts)


def _hits(canvas: Canvas, data: _Record, given: Mapping[str, Any]) -> Iterator[Text]:
    kinds = [(kind, one) for kind in RECALL_KINDS for one in data[kind]]
    ranked = sorted(kinds, key=lambda hit: hit[1]["rank"])
    forms = [form for word in search_words(given["question"].strip()) for form in forms_of(word)]
    texts = _marked(_texts(ranked, forms), forms)
    for (kind, one), said in zip(ranked, texts, strict=True):
        clock = [words(one["time"], FAINT)] if "time" in one else []
        below = list(canvas.flow([*clock, *_below(kind, one)], canvas.beside(_DAY)))
        if given["explain"]:
            below.append(_score(one))
        yield from canvas.block(words(one.get("date") or "undated", FAINT), _DAY, [*said, *below])
    if given["explain"]:
        yield from _channels(canvas, data)


def _texts(ranked: Sequence[tuple[str, _Record]], forms: Sequence[str]) -> Iterator[list[Text]]:
    """What each hit says, and for a fact what it quotes, as far as that says something else and was not quoted yet."""
    quoted: set[str] = set()
    for kind, one in ranked:
        if kind != "facts":
            said = words(excerpt(one["text"], forms, LONGEST_LINE))
            yield [Text(f"{words(one['who'])}: ").append_text(said) if kind == "events" else said]
            continue
        quote, event = one.get("quote") or one.get("source_text"), one.get("source_event")
        again = event in quoted or not quote or normal(quote) == normal(one["fact"])
        quoted |= {event} if event else set()
        yield [words(one["fact"]), *([] if again else [words(f'"{excerpt(quote or "", forms, LONGEST_LINE)}"')])]


def _marked(texts: Iterator[list[Text]], forms: Sequence[str]) -> list[list[Text]]:
    """The same texts with the words highlighted that the search matched."""
    held = list(texts)
    every = [text for one in held for text in one]
    for text, spans in zip(every, matched_spans([text.plain for text in every], forms), strict=True):
        for start, end in spans:
            text.stylize(HIT, start, end)
    return held


def _below(kind: str, one: _Record) -> Iterator[Text]:
    if kind == "facts":
        identity, *others = remarks(one)
        yield from (identity, words(one["who"], FAINT), *others)
        return
    if kind == "events":
        yield words(one["id"], FAINT)
        event = event_from_record({key: one[key] for key in Event._fields if key in one})
        warning = event_warning(event, bool(one.get("quarantined"))).strip(" ()")
        yield from [words(warning, ALERT)] if warning else []
    else:
        yield words(f"{one['path']}:{one['place']}", FAINT)
        yield words(one["who"], FAINT)
    yield words(_SINGULAR[kind], FAINT)


def _score(one: _Record) -> Text:
    parts = {**one.get("channels", {}), **({"prior": one["prior"]} if "prior" in one else {})}
    made_of = ", ".join(f"{name} {points:.3f}" for name, points in parts.items())
    tier = [one["tier"]] if "tier" in one else []
    return words("; ".join([f"score {one['score']:.3f}", *([made_of] if made_of else []), *tier]), FAINT)


def _channels(canvas: Canvas, data: _Record) -> Iterator[Text]:
    column = max(map(len, data["channels"]), default=0)
    for name, one in data["channels"].items():
        report = ChannelReport(one["ran"], one["hits"], one.get("why_not", ""), one.get("unable", False))
        text = words(channel_state(report), ALERT if report.unable else "")
        yield from canvas.block(words(name, FAINT), column, [text], beside=True)
    if data["weak"]:
        yield words(f"{counted(data['weak'], 'weak hit')} left out; --all shows them", FAINT)
