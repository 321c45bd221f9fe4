"""The Open Knowledge Format, version 0.2: a folder of Markdown pages with front matter.

Source: OKF specification, sections 3 to 9, https://github.com/GoogleCloudPlatform/knowledge-catalog/blob/main/okf/SPEC.md
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from clawmem.extensions.exchange.foreign_memory import (
    NO_STATEMENT,
    Files,
    ForeignMemory,
    Found,
    Page,
    SkippedMemory,
    Yaml,
    day,
    entity_path,
    footnotes,
    is_definition,
    is_statement,
    linked_pages,
    mapping,
    moment,
    pages_of,
    passages,
    plain,
    words,
)
from clawmem.model.facts.fact import SUPERSEDED, Fact
from clawmem.model.language.dates import day_of
from clawmem.model.language.text import one_line
from clawmem.model.pages.summary import yaml_scalar
from clawmem.serving.browse import Concept

VERSION = "0.2"
INDEX = "index.md"
LOG = "log.md"
EARLIER = "Earlier"
"""The heading of the statements that no longer hold, on pages that clawmem writes."""

_PERSON = "human:"
_SPAN = re.compile(
    r" \((?:since (?P<since>[\dTZ:-]+)|until (?P<until>[\dTZ:-]+)|(?P<begin>[\dTZ:-]+) to (?P<end>[\dTZ:-]+))\)$"
)
_ENDED = re.compile(r"^ended (?P<day>\d{4}-\d\d-\d\d): ")


def fits(files: Files, yaml: Yaml) -> bool:
    """Return whether files are an OKF bundle: pages with a `type`, or an index that names the version. Pages with a
    `permalink` are basic-memory's, which have a `type`, too."""
    pages = list(pages_of(files, yaml))
    if any("okf_version" in page.front for path, page in pages if path == INDEX):
        return True
    concepts = [page for path, page in pages if posixpath.basename(path) not in (INDEX, LOG)]
    typed = all(isinstance(page.front.get("type"), str) for page in concepts)
    return bool(concepts) and typed and not any("permalink" in page.front for page in concepts)


def read(files: Files, yaml: Yaml) -> Iterator[Found]:
    """Yield a statement for the description of each concept and for each paragraph and bullet of its body.

    What has no front matter with a `type` is no concept and is skipped, and so are code, tables and HTML.
    """
    titles = {path: _title(path, page) for path, page in pages_of(files, yaml)}
    for path, page in pages_of(files, yaml):
        if posixpath.basename(path) in (INDEX, LOG):
            continue
        if page.problem or not isinstance(page.front.get("type"), str):
            yield SkippedMemory(path, page.problem or "it has no type, so it is not a concept")
        else:
            yield from _concept(path, page, titles)


def _concept(path: str, page: Page, titles: Mapping[str, str]) -> Iterator[Found]:
    concept, title, front = path.removesuffix(".md"), titles[path], page.front
    named = mapping(front.get("clawmem")).get("entity")  # on a page that clawmem wrote
    entity = named if named and isinstance(named, str) else entity_path(title, str(front["type"]))
    common, own = _common(front), "clawmem" in front
    when = moment(mapping(front.get("generated")).get("at"), front.get("timestamp"))
    description = front.get("description")
    if isinstance(description, str) and description.strip() and not own:
        yield ForeignMemory(path, concept, _about(title, description), description, entity, title, when, common)
    for passage in passages(page.body, page.above):
        place = f"{path}:{passage.line}"
        if is_definition(passage.text):
            continue
        if not (own or is_statement(passage.text)):
            yield SkippedMemory(place, NO_STATEMENT)
            continue
        statement, span = _dated(plain(passage.text))
        related = [titles[to] for link in linked_pages(passage.text) if (to := _target(path, link)) in titles]
        record = {**common, **span}
        if related:
            record["related_entities"] = [name for name in map(entity_path, related) if name]
        if cited := _cited(front, footnotes(passage.text)):
            record["details"] = {**mapping(record.get("details")), "sources": cited}
        inner = passage.heading.rpartition(" > ")[2]
        if inner == EARLIER and not record.get("valid_to"):
            yield SkippedMemory(place, "it no longer holds and has no end")
            continue
        text = statement if inner in ("", EARLIER, "Facts") else f"{inner}: {statement}"
        yield ForeignMemory(
            place, concept, text if own else _about(title, text), passage.quote, entity, title, when, record
        )


def _title(path: str, page: Page) -> str:
    value = page.front.get("title")
    name = posixpath.basename(path).removesuffix(".md")
    return one_line(value) if isinstance(value, str) and value.strip() else " ".join(re.split(r"[-_]+", name)).strip()


def _about(title: str, text: str) -> str:
    message = one_line(text)
    words_of_title = [other for other in re.findall(r"\w+", title.lower()) if len(other) > 2]
    return message if any(word in message.lower() for word in words_of_title) else f"{title}: {message}"


def _common(front: Mapping[str, Any]) -> dict[str, Any]:
    """Return the keys that every statement of a concept has: tags, end, and who wrote and confirmed it."""
    record: dict[str, Any] = {}
    if tags := words(front.get("tags")):
        record["tags"] = list(tags)
    details = {
        key: value
        for key, value in (
            ("generated_by", mapping(front.get("generated")).get("by")),
            (
                "verified_by",
                [str(verification.get("by")) for verification in _verifications(front) if verification.get("by")],
            ),
            ("resource", front.get("resource")),
            ("review_by", day(front.get("stale_after"))),
        )
        if value
    }
    if details:
        record["details"] = details
    if front.get("status") == "deprecated":
        record["valid_to"] = day(mapping(front.get("generated")).get("at"), front.get("timestamp")) or "1970-01-01"
    elif front.get("status") == "draft":
        record["confidence"] = 0.5
    return record


def _verifications(front: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    items = front.get("verified")
    return [record for record in (items if isinstance(items, list) else [items]) if isinstance(record, dict)]


def _cited(front: Mapping[str, Any], labels: Sequence[str]) -> list[dict[str, str]]:
    """Return the sources that a passage cites by footnotes; without a footnote, those of the page."""
    items = front.get("sources")
    known = [record for record in (items if isinstance(items, list) else []) if isinstance(record, dict)]
    chosen = [record for record in known if str(record.get("id")) in labels] if labels else known
    return [
        {key: str(record[key]) for key in ("resource", "title", "author") if record.get(key) is not None}
        for record in chosen
    ]


def _target(path: str, link: str) -> str:
    return posixpath.normpath(
        link.lstrip("/") if link.startswith("/") else posixpath.join(posixpath.dirname(path), link)
    )


def _dated(statement: str) -> tuple[str, dict[str, str]]:
    """Split `Jane lives in Oslo. (since 2024-03-01)` into the statement and the time for which it holds."""
    ended = _ENDED.match(statement)
    if ended:
        statement = statement[ended.end() :]
    match = _SPAN.search(statement)
    span: dict[str, str] = {}
    if match:
        statement = statement[: match.start()]
        begin, end = match["since"] or match["begin"], match["until"] or match["end"]
        span = {key: value for key, value in (("valid_from", begin), ("valid_to", end)) if value}
    if ended:
        span.setdefault("valid_to", ended["day"])
    return statement, span


def render(concepts: Sequence[Concept], today: str) -> dict[str, str]:
    """Return the files of a bundle, by path: a page for each concept, and an index. `today` is a day."""
    pages = {
        f"{concept.entity.name.replace('@', 'agents/')}.md": _page(concept) for concept in concepts if concept.facts
    }
    lines = [f'---\nokf_version: "{VERSION}"\n---\n', "# Concepts\n"]
    lines += [
        f"* [{_escaped(concept.entity.title)}]({path}) - {_escaped(_description(concept))}"
        for concept, path in zip((concept for concept in concepts if concept.facts), pages, strict=True)
    ]
    return {INDEX: "\n".join(lines) + "\n", LOG: f"# Log\n\n## {today}\n* **Export**: written by clawmem.\n", **pages}


def _page(concept: Concept) -> str:
    standing = [fact for fact in concept.facts if fact.is_current]
    ended = [fact for fact in concept.facts if fact.status == SUPERSEDED]
    labels = {name: f"s{number}" for number, name in enumerate(dict.fromkeys(fact.source for fact in concept.facts), 1)}
    tags = sorted({tag for fact in concept.facts for tag in fact.tags})
    last = concept.facts[-1]
    front = [
        f"type: {yaml_scalar((concept.entity.kind or 'note').capitalize())}",
        f"title: {yaml_scalar(concept.entity.title)}",
        f"description: {yaml_scalar(_description(concept))}",
        *([f"tags: [{', '.join(map(yaml_scalar, tags))}]"] if tags else []),
        "sources:",
        *(f"  - {{ id: {label}, resource: {yaml_scalar(name)} }}" for name, label in labels.items()),
        f"generated: {{ by: {yaml_scalar(f'{last.agent}/clawmem' if last.agent else f'{_PERSON}user')}, "
        f"at: {max(fact.timestamp for fact in concept.facts)} }}",
        *_verified(standing),
        "status: stable" if standing else "status: deprecated",
        f"clawmem: {{ entity: {yaml_scalar(concept.entity.name)} }}",
    ]
    body = ["# Facts\n", *(_bullet(fact, labels) for fact in standing)]
    if ended:
        body += [f"\n# {EARLIER}\n", *(_bullet(fact, labels, ended_at(fact, concept.facts)) for fact in ended)]
    notes = [f"[^{label}]: {_escaped(name)}" for name, label in labels.items()]
    return "\n".join(["---", *front, "---", "", *body, "", *notes, ""])


def ended_at(fact: Fact, among: Sequence[Fact]) -> str:
    """Return the day on which a superseded fact ended: its own end, else the begin or recording of its successor."""
    after = next((other_fact for other_fact in among if other_fact.id == fact.superseded_by), None)
    return day_of(fact.valid_to or (after and (after.valid_from or after.timestamp)) or fact.timestamp)


def _bullet(fact: Fact, labels: Mapping[str, str], ended: str | None = None) -> str:
    span = ""
    if fact.valid_from and fact.valid_to:
        span = f" ({fact.valid_from} to {fact.valid_to})"
    elif fact.valid_from or fact.valid_to:
        span = f" (since {fact.valid_from})" if fact.valid_from else f" (until {fact.valid_to})"
    text = f"{f'ended {ended}: ' if ended else ''}{_escaped(fact.fact)}{span}"
    # A backslash before the footnote would escape it.
    return f"- {text}{' ' if text.endswith(chr(92)) else ''}[^{labels[fact.source]}]"


def _description(concept: Concept) -> str:
    return one_line(next((fact for fact in concept.facts if fact.is_current), concept.facts[0]).fact)


def _verified(standing: Sequence[Fact]) -> list[str]:
    """Return the verification of a page whose every standing fact comes from a person."""
    if not standing or any(fact.trust != "user" or fact.agent for fact in standing):
        return []
    return [f"verified: {{ by: {_PERSON}user, at: {max(fact.timestamp for fact in standing)} }}"]


def _escaped(text: str) -> str:
    """Return text in which nothing is Markdown: links, footnotes, HTML and bold marks are escaped."""
    return re.sub(r"([\[\]<>*_`\\])", r"\\\1", one_line(text))
