"""Exports of mem0: a JSON object or list of memories, each with a text, an id and times.

Shapes: the answer of its `get_all`, `{"results": [{"id", "memory", "metadata", "created_at", "user_id"}]}`, and
exports with `memories` and `text`. Of Letta, a list of `archival_memories` and the blocks of an agent file,
`{"blocks": [{"label", "value"}]}` or `core_memory`, are read, too; some agent files are JSON within a JSON string.
"""

from __future__ import annotations

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
    mapping,
    moment,
    naming,
    unit,
    words,
)
from clawmem.model.language.text import one_line
from clawmem.model.records.strict_json import read_json
from clawmem.model.transcripts.message import first, word

_LISTS = ("results", "memories", "archival_memories")
_BLOCKS = ("blocks", "core_memory")
_TEXTS = ("memory", "text", "content", "data")
_NAME = re.compile(r"[^\W\d_]{2,}(?:[ ._-][^\W\d_]+){0,3}")
_NOBODY = frozenset("user users default default_user default-user me test anonymous admin none null unknown".split())
_USER = re.compile(r"(?:the )?user(?P<possessive>['’]s)? ", re.IGNORECASE)
_VERB = re.compile(
    r"(?:is|was|has|had|does|did|can|cannot|will|likes?|loves?|hates?|prefers?|wants?|needs?|lives?|works?|owns?|uses?"
    r"|plays?|enjoys?|speaks?|drinks?|eats?|drives?|studies|plans?|knows?|moved|dislikes?|avoids?|takes?|visited"
    r"|bought|started|stopped|attended|believes?|thinks?|feels?|keeps?|makes?|goes|travels?|runs?|wears?)",
    re.IGNORECASE,
)


def fits(files: Files, yaml: Yaml) -> bool:
    """Return whether a file is an export of memories, or a Letta agent file."""
    return any(path.endswith((".json", ".af")) and _records(text) is not None for path, text in files.items())


def read(files: Files, yaml: Yaml) -> Iterator[Found]:
    """Yield one statement a memory, and one a line of a block."""
    for path in sorted(files):
        records = _records(files[path])
        if records is None:
            yield SkippedMemory(path, "it has no list of memories")
            continue
        for number, record in enumerate(records, 1):
            place = f"{path}#{number}"
            if isinstance(record, dict) and isinstance(record.get("value"), str):
                yield from _block(place, record)
            else:
                yield _memory(place, record)


def _records(text: str) -> list[Any] | None:
    try:
        document = read_json(text)
        if isinstance(document, str):
            document = read_json(document)
    except ValueError:
        return None
    for key in _LISTS:
        if isinstance(document, dict) and isinstance(document.get(key), list):
            return list(document[key])
    for key in _BLOCKS:
        if isinstance(document, dict) and isinstance(document.get(key), list):
            return [
                record for record in document[key] if isinstance(record, dict) and isinstance(record.get("value"), str)
            ]
    shaped = isinstance(document, list) and all(
        isinstance(record, dict) and first(record, *_TEXTS) for record in document
    )
    return document if shaped and document else None


def _memory(place: str, record: Any) -> Found:
    text = word(first(record, *_TEXTS)) if isinstance(record, dict) else None
    if text is None:
        return SkippedMemory(place, "it has no text")
    about = mapping(record.get("metadata"))
    when = moment(record.get("created_at"), about.get("created_at"), record.get("updated_at"), about.get("updated_at"))
    category = word(record.get("category") or about.get("category") or about.get("type"))
    argument: dict[str, Any] = {}
    if category and category.replace("-", "").replace("_", "").isalnum():
        argument["category"] = category
    if tags := words(record.get("categories") or about.get("tags") or []):
        argument["tags"] = list(tags)
    if (confidence := unit(about.get("confidence"))) is not None:
        argument["confidence"] = confidence
    details = {key: str(value) for key in ("user_id", "agent_id") if (value := record.get(key))}
    if source := word(about.get("source")):
        details["source"] = source
    if details:
        argument["details"] = details
    owner = _name(record.get("user_id"))
    statement = _about(owner, one_line(text)) if owner else one_line(text)
    entity = entity_path(owner, "person") if owner else None
    key = word(record.get("id")) or place
    return ForeignMemory(place, key, statement, text, entity, owner if entity else None, when, argument)


def _name(user_id: Any) -> str | None:
    """Return the name of a person that a user's id is, or None for an id with digits and for ids that name nobody."""
    text = word(user_id)
    if text is None or not _NAME.fullmatch(text) or text.lower() in _NOBODY:
        return None
    names = re.split(r"[ ._]+", text)
    return " ".join(name.capitalize() if name.islower() else name for name in names)


def _about(owner: str, text: str) -> str:
    """Return a statement with its owner as the subject, if it has none: it begins with a verb, or with "User"."""
    user = _USER.match(text)
    if user:
        return f"{owner}{user['possessive'] or ''} {text[user.end() :]}"
    if re.search(rf"(?<!\w){re.escape(owner.split()[0])}(?!\w)", text, re.IGNORECASE):
        return text
    first, _, rest = text.partition(" ")
    if rest and _VERB.fullmatch(first):
        return f"{owner} {first.lower()} {rest}"
    return naming(owner, text)


def _block(place: str, record: Mapping[str, Any]) -> Iterator[Found]:
    label = word(record.get("label")) or "block"
    for line in record["value"].splitlines():
        text = one_line(line.lstrip("-*# \t"))
        if text and not line.lstrip().startswith("#"):
            yield ForeignMemory(place, label, text, line, record={"details": {"block": label}})
