"""Find the JSON in what a model wrote: after its reasoning, in a code fence, or between sentences."""

from __future__ import annotations

import json
import re
from typing import Any

_TAGS = "think|thinking|thought|reasoning|reflection|seed:think"
_END_OF_REASONING = re.compile(rf"</(?:{_TAGS})>", re.IGNORECASE)
_START_OF_REASONING = re.compile(rf"<(?:{_TAGS})>", re.IGNORECASE)
# Some models write their reasoning and their answer in channels of one text.
_ANSWER_CHANNEL, _MESSAGE = "<|channel|>final", "<|message|>"
_FENCE = re.compile(r"^[ \t]*```[^\n`]*\n(.*?)\n?[ \t]*```", re.DOTALL | re.MULTILINE)
# What follows a document that cannot be read is often not JSON at all.
_MOST_DOCUMENTS, _MOST_TRIES = 20, 200
_DECODER = json.JSONDecoder()


def without_reasoning(text: str) -> str:
    """Return what a model wrote after its reasoning; nothing if the reasoning has no end. Some servers leave out the
    tag at its start. A text that starts as JSON is returned as it is, because a tag in it is part of a string."""
    bare = text.strip()
    if bare.startswith(("{", "[")):
        return bare
    bare = bare.rpartition(_ANSWER_CHANNEL)[2]
    ends = [one.end() for one in _END_OF_REASONING.finditer(bare)]
    if not ends:
        return "" if _START_OF_REASONING.match(bare) else bare.rpartition(_MESSAGE)[2].strip()
    rest = bare[ends[-1] :]
    return (rest if "{" in rest else bare).strip()


def json_documents(text: str, whole: bool = False) -> list[Any]:
    """Return the JSON documents in a text, in their order: the text itself if it is one, else those in code fences,
    else objects between other words. With `whole`, as for an answer that was cut, no part of the text counts: a part
    of a cut answer can look complete.
    """
    if (value := _read(text)) is not _NOTHING:
        return [value]
    fenced = [value for block in _FENCE.findall(text)[:_MOST_DOCUMENTS] if (value := _read(block)) is not _NOTHING]
    return fenced or ([] if whole else _objects_between(text))


_NOTHING = object()


def _read(text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return _NOTHING


def _object_at(text: str, start: int) -> tuple[Any, int] | None:
    try:
        return _DECODER.raw_decode(text, start)
    except (ValueError, RecursionError):
        return None


def _objects_between(text: str) -> list[Any]:
    found: list[Any] = []
    start, tries = text.find("{"), 0
    while start >= 0 and len(found) < _MOST_DOCUMENTS and tries < _MOST_TRIES:
        tries += 1
        read = _object_at(text, start)
        if read is not None:
            found.append(read[0])
        start = text.find("{", read[1] if read else start + 1)
    return found
