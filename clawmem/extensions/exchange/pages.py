"""Markdown pages of foreign memories: front matter, and the paragraphs and bullets below it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from clawmem.errors import Unreadable
from clawmem.extensions.exchange.foreign_memory import Files, Yaml
from clawmem.model.language.text import LONGEST_FACT, one_line
from clawmem.model.pages.summary import split_front_matter
from clawmem.model.transcripts.notes import NumberedLine, read_markdown

_BULLET = re.compile(r"(?:[-*+]|\d{1,9}[.)])\s+(?:\[[ xX]\]\s+)?")
_FOOTNOTE = re.compile(r"(?<!\\)\[\^([^\]\s]+)\]")
_DEFINITION = re.compile(r"\[\^[^\]\s]+\]:")
_LINK = re.compile(r"(?<!\\)!?\[([^\]]*)\]\(([^)\s]*)(?:\s+\"[^\"]*\")?\)")
_EMPHASIS = re.compile(r"(\*\*|__)(?=\S)(.+?)(?<=\S)\1")
_ESCAPED = re.compile(r"\\([\[\]<>*_`\\#])")
_NO_PROSE = re.compile(r"```|~~~|\||<[a-z!/]|!\[", re.IGNORECASE)
_QUOTED = re.compile(r"^>[ \t]?", re.MULTILINE)
_CALLOUT = re.compile(r"\[!\w+\][+-]?\s*")
_ADDRESS = re.compile(r"<?https?://\S+>?")


NO_STATEMENT = "it is code, a table, HTML, an address, the beginning of a list, or too long for a fact"


class Page(NamedTuple):
    """A page: its front matter (empty if it has none) and its body. `problem` says why the front matter is unread.

    `above` is the number of lines above the body."""

    front: Mapping[str, Any]
    body: str
    problem: str | None = None
    above: int = 0


class Passage(NamedTuple):
    """A paragraph or bullet: the number of its first line, its text as written, and the headings above it."""

    line: int
    text: str
    heading: str


def read_page(path: str, text: str, yaml: Yaml) -> Page:
    """Split a page and parse its front matter."""
    whole = text.replace("\r\n", "\n")
    front, body = split_front_matter(whole)
    above = whole.count("\n") - body.count("\n")
    if front is None:
        return Page({}, body)
    try:
        value = yaml(front, path)
    except Unreadable as problem:
        return Page({}, body, problem.message, above)
    if not isinstance(value, dict):
        return Page({}, body, "its front matter is not a mapping", above)
    return Page(value, body, None, above)


def pages_of(files: Files, yaml: Yaml) -> Iterator[tuple[str, Page]]:
    """Yield the Markdown pages with their paths, in order."""
    for path in sorted(files):
        if path.lower().endswith((".md", ".markdown")):
            yield path, read_page(path, files[path], yaml)


def passages(body: str, above: int = 0) -> Iterator[Passage]:
    """Yield the paragraphs and bullets of a body, which begins after `above` lines of its file."""
    lines = (NumberedLine(number, line) for number, line in enumerate(body.split("\n"), 1))
    for message in read_markdown(lines):
        yield Passage(above + message.line, message.text, str((message.metadata or {}).get("heading", "")))


def is_statement(text: str) -> bool:
    """Return whether a passage can be a fact: prose of bearable length, not code, a table, HTML or an address, and not
    the beginning of a list or the name of an empty field."""
    bare = _BULLET.sub("", text.lstrip(), count=1)
    message = plain(text)
    return bool(
        message
        and len(bare) <= LONGEST_FACT
        and not _NO_PROSE.match(bare)
        and not message.endswith((":", "："))
        and not _ADDRESS.fullmatch(message)
    )


def is_definition(text: str) -> bool:
    """Return whether a passage only defines footnotes."""
    return all(_DEFINITION.match(line) for line in text.split("\n"))


def plain(text: str) -> str:
    """Return a passage as a plain statement: without bullet, quote marks, footnote marks, link targets and bold
    marks."""
    unquoted = _QUOTED.sub("", text.strip())
    bare = _BULLET.sub("", _CALLOUT.sub("", unquoted, count=1) if unquoted.startswith("[!") else unquoted, count=1)
    bare = _EMPHASIS.sub(r"\2", _LINK.sub(r"\1", _FOOTNOTE.sub("", bare)))
    return one_line(_ESCAPED.sub(r"\1", bare))


def footnotes(text: str) -> tuple[str, ...]:
    """Return the labels of the footnotes in a passage."""
    return tuple(dict.fromkeys(_FOOTNOTE.findall(text)))


def linked_pages(text: str) -> tuple[str, ...]:
    """Return the targets of the Markdown links in a text that lead to pages of the same folder."""
    targets = (match[2].partition("#")[0] for match in _LINK.finditer(text) if not match[0].startswith("!"))
    return tuple(dict.fromkeys(target for target in targets if target.endswith(".md") and "://" not in target))
