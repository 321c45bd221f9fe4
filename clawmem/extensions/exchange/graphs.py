"""Memories kept as named entities with observations and relations: server-memory, basic-memory and Obsidian.

Formats: the reference MCP server `memory` writes JSON Lines of `entity` and `relation`. basic-memory writes pages
with `- [category] text #tag` and `- relation [[Target]]`. Obsidian writes pages with `[[links]]`.
"""

from __future__ import annotations

import json
import posixpath
import re
from collections.abc import Iterator, Mapping
from typing import Any

from clawmem.extensions.exchange.foreign_memory import (
    Files,
    ForeignMemory,
    Found,
    SkippedMemory,
    Yaml,
    entity_path,
    moment,
    naming,
    words,
)
from clawmem.extensions.exchange.pages import NO_STATEMENT, Page, is_statement, pages_of, passages, plain
from clawmem.model.language.text import one_line
from clawmem.model.transcripts.message import word

_OBSERVATION = re.compile(r"[-*]\s+\[(?P<category>[^\]\s][^\]]*)\]\s+(?P<text>.+)", re.DOTALL)
_RELATION = re.compile(r"[-*]\s+(?P<relation>[^\[\]]*?)\s*\[\[(?P<target>[^\]|#]+)[^\]]*\]\](?P<rest>.*)", re.DOTALL)
_TAG = re.compile(r"(?:^|\s)#(\w[\w/-]*)")
_WIKI_LINK = re.compile(r"!?\[\[([^\]|#]*)(?:#[^\]|]*)?(?:\|([^\]]*))?\]\]")
_TASK = (" ", "x", "X")


def is_server_memory(files: Files, yaml: Yaml) -> bool:
    """Return whether a file's first line is an entity or a relation of the MCP server `memory`."""
    return any(_graph_record(_first_line(text)) for text in files.values())


def read_server_memory(files: Files, yaml: Yaml) -> Iterator[Found]:
    """Yield a statement for each observation and each relation."""
    for path in sorted(files):
        records = list(enumerate(files[path].splitlines(), 1))
        kinds = {
            str(one["name"]): str(one.get("entityType", ""))
            for _, line in records
            if (one := _graph_record(line)) and one["type"] == "entity" and one.get("name")
        }
        for number, line in records:
            if line.strip():
                yield from _from_record(f"{path}:{number}", _graph_record(line), kinds)


def _first_line(text: str) -> str:
    return next((line for line in text.splitlines() if line.strip()), "")


def _graph_record(line: str) -> Mapping[str, Any] | None:
    try:
        record = json.loads(line)
    except (ValueError, RecursionError):
        return None
    return record if isinstance(record, dict) and record.get("type") in ("entity", "relation") else None


def _from_record(place: str, record: Mapping[str, Any] | None, kinds: Mapping[str, str]) -> Iterator[Found]:
    if record is None:
        yield SkippedMemory(place, "it is not an entity or a relation")
        return
    if record["type"] == "entity":
        name, items = word(record.get("name")), words(record.get("observations") or [])
        if name is None or not items:
            yield SkippedMemory(place, "it has no name" if name is None else "it has no observations")
            return
        for text in items:
            entity, title = entity_path(name, kinds.get(name)), _spaced(name)
            yield ForeignMemory(place, name, naming(title, text), text, entity, title)
        return
    ends = [word(record.get(key)) for key in ("from", "relationType", "to")]
    subject, relation, target = ends
    if subject is None or relation is None or target is None:
        yield SkippedMemory(place, "a relation needs from, to and relationType")
        return
    yield _relation(place, subject, relation, target, kinds.get(subject), kinds.get(target), None)


def _relation(
    place: str, subject: str, relation: str, target: str, kind: str | None, other: str | None, when: str | None
) -> ForeignMemory:
    phrase, who, what = one_line(relation.replace("_", " ")), _spaced(subject), _spaced(target)
    text = f"{who} {phrase} {what}."
    related = entity_path(target, other)
    record = {"subject": who, "predicate": phrase.replace(" ", "_").lower(), "object": what}
    more = {"related_entities": [related]} if related else {}
    return ForeignMemory(place, subject, text, text, entity_path(subject, kind), who, when, {**record, **more})


def _spaced(name: str) -> str:
    """Return a name with spaces: models write John_Smith as the name of an entity."""
    return name if " " in name else name.replace("_", " ").strip() or name


def is_linked_notes(files: Files, yaml: Yaml) -> bool:
    """Return whether files are a folder of basic-memory or Obsidian."""
    if any(path.split("/")[0] in (".obsidian", ".basic-memory") for path in files):
        return True
    found = list(pages_of(files, yaml))
    return any("permalink" in page.front for _, page in found) or any(_WIKI_LINK.search(page.body) for _, page in found)


def read_linked_notes(files: Files, yaml: Yaml) -> Iterator[Found]:
    """Yield a statement for each observation, relation, paragraph and bullet of the pages."""
    for path, page in pages_of(files, yaml):
        title = str(page.front.get("title") or posixpath.basename(path).rsplit(".", 1)[0])
        when = moment(page.front.get("created"), page.front.get("date"), page.front.get("modified"))
        if page.problem:
            yield SkippedMemory(path, page.problem)
        for passage in passages(page.body, page.above):
            yield _passage(f"{path}:{passage.line}", passage.text, title, page, when)


def _passage(place: str, text: str, title: str, page: Page, when: str | None) -> Found:
    kind = word(page.front.get("type"))
    key = word(page.front.get("permalink")) or title
    relation = _RELATION.fullmatch(text.strip())
    if relation and relation["relation"] and not relation["rest"].strip():
        return _relation(place, title, relation["relation"], relation["target"].strip(), kind, None, when)
    observed = _OBSERVATION.fullmatch(text.strip())
    category = None
    if observed and observed["category"] not in _TASK:
        category, text = one_line(observed["category"]), observed["text"]
    tags = [*words(page.front.get("tags") or []), *_TAG.findall(text)]
    message = _WIKI_LINK.sub(lambda link: link[2] or link[1], plain(_TAG.sub("", text)))
    if not message or not is_statement(text):
        return SkippedMemory(place, NO_STATEMENT)
    record: dict[str, Any] = {"tags": tags} if tags else {}
    if category and category.replace("-", "").replace("_", "").isalnum():
        record["category"] = category
    related = [name for link in _WIKI_LINK.finditer(text) if link[1] and (name := entity_path(link[1]))]
    if related:
        record["related_entities"] = list(dict.fromkeys(related))
    return ForeignMemory(place, key, naming(title, message), text, entity_path(title, kind), title, when, record)
