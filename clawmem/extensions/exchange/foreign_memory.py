"""The output of the readers of foreign memories: one statement each, and what is left out."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Callable, Iterator, Mapping
from itertools import zip_longest
from shlex import quote
from typing import Any, NamedTuple

from clawmem.errors import Unreadable
from clawmem.faces.parts.reading import PAGES
from clawmem.model.language.dates import day_of
from clawmem.model.language.text import LIST_MARK, LONGEST_FACT, one_line, without_emphasis
from clawmem.model.pages.summary import split_front_matter
from clawmem.model.records.entity import slug
from clawmem.model.records.strict_json import read_json
from clawmem.model.transcripts.message import first, time_of, word
from clawmem.model.transcripts.notes import NumberedLine, read_markdown

Files = Mapping[str, str]
"""The text files of an import, by their path below the folder that is imported. Of a single file, by its name."""

Yaml = Callable[[str, str], Any]
"""Parses YAML text; the second argument names the text in errors. Raises Unreadable."""

_FOLDERS = {
    "person": "areas/people",
    "people": "areas/people",
    "persons": "areas/people",
    "user": "areas/people",
    "human": "areas/people",
    "organization": "areas/companies",
    "organisation": "areas/companies",
    "company": "areas/companies",
    "team": "areas/companies",
    "companies": "areas/companies",
    "project": "projects",
    "projects": "projects",
    "repository": "projects",
    "area": "areas",
}


class ForeignMemory(NamedTuple):
    """One statement of another program's memory.

    `place` is where it stands, for messages. `key` identifies it within its origin, also after an edit of its text
    where the format has ids. `quote` is the text as it was written; it becomes the evidence. `timestamp` is its own
    time, ISO 8601 in UTC, or None. `record` has further keys of a fact, such as category, tags or valid_to. `title`
    is the title of the entity, if the entity is new; `aliases` are its other names. `replaces` is the key of the
    statement that it replaced at its own time.
    """

    place: str
    key: str
    statement: str
    quote: str
    entity: str | None = None
    title: str | None = None
    timestamp: str | None = None
    record: Mapping[str, Any] = {}
    replaces: str | None = None
    aliases: tuple[str, ...] = ()


class SkippedMemory(NamedTuple):
    """A part that was not imported: where it stands, and why not."""

    place: str
    reason: str


Found = ForeignMemory | SkippedMemory


def entity_path(title: str, *kinds: str | None) -> str | None:
    """Return the entity for a title and the first known kind, such as person; resources/ where none is known."""
    name = slug(title)
    found = (_FOLDERS.get((kind or "").strip().lower()) for kind in kinds)
    return f"{next(filter(None, found), 'resources')}/{name}" if name else None


def naming(subject: str, statement: str) -> str:
    """Return the statement with its subject in front, if it does not contain the subject's name."""
    text = one_line(statement)
    known = re.search(rf"(?<!\w){re.escape(subject)}(?!\w)", text, re.IGNORECASE)
    return text if known else f"{subject}: {text}"


def moment(*values: Any) -> str | None:
    """Return the first of some values that is a time, as ISO 8601 in UTC, or None."""
    for value in values:
        try:
            if value is not None and (found := time_of(str(value))):
                return found
        except ValueError:
            continue
    return None


def day(*values: Any) -> str | None:
    """Return the day (UTC) of the first of some values that is a time, or None."""
    found = moment(*values)
    return day_of(found) if found else None


def words(value: Any) -> tuple[str, ...]:
    """Return a list of short texts, such as tags; a single text counts as a list of one."""
    items = value if isinstance(value, list) else [value]
    return tuple(text for other in items if (text := word(other)))


def mapping(value: Any) -> Mapping[str, Any]:
    """Return the value if it is a mapping, else an empty one."""
    return value if isinstance(value, dict) else {}


def unit(value: Any) -> float | None:
    """Return a number from 0 to 1, or None if the value is none."""
    return float(value) if isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value <= 1 else None


_BULLET = re.compile(rf"\A{LIST_MARK}\s+(?:\[(?P<tick>[ xX])\]\s+)?")
_TICKS = {"x": " (done)", " ": " (open)"}
_UNDER_COLUMN = re.compile(":?-+:?")
_CELL_END = re.compile(r"(?<!\\)\|")
_CODE = re.compile(r"(?<!\\)(`+)(?!`).+?(?<!`)\1(?!`)", re.DOTALL)
_FOOTNOTE = re.compile(r"(?<!\\)\[\^([^\]\s]+)\]")
_DEFINITION = re.compile(r"\[\^[^\]\s]+\]:")
_LINK = re.compile(r"(?<![\\\w])!?\[([^\[\]]*)\]\(([^)\s]*)(?:\s+\"[^\"]*\")?\)")
NOTE_LINK = re.compile(r"(?P<shown>!?)\[\[(?P<note>[^\[\]|#]*)(?P<heading>#[^\[\]|]*)?(?:\|(?P<words>[^\[\]]*))?\]\]")
_ESCAPED = re.compile(r"\\([\[\]<>*_`\\#|])")
_NO_PROSE = re.compile(r"```|~~~|\||<[a-z!/]|!\[", re.IGNORECASE)
_QUOTED = re.compile(r"^>[ \t]?", re.MULTILINE)
_CALLOUT = re.compile(r"\[!\w+\][+-]?\s*")
_LETTER = re.compile(r"\w")
_ADDRESS = re.compile(r"<?https?://\S+>?")


NO_STATEMENT = "it is code, a table without rows, HTML, an address, the beginning of a list, or too long for a fact"


class Page(NamedTuple):
    """A page: its front matter (empty if it has none) and its body. `problem` says why the front matter is unread.

    `above` is the number of lines above the body."""

    front: Mapping[str, Any]
    body: str
    problem: str | None = None
    above: int = 0


class Passage(NamedTuple):
    """A paragraph, a bullet or a row of a table: the number of its first line, its text (of a row, each cell behind the
    name of its column), the headings above it, and how it is written, as evidence."""

    line: int
    text: str
    heading: str
    quote: str


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
        if path.lower().endswith(PAGES):
            yield path, read_page(path, files[path], yaml)


def passages(body: str, above: int = 0) -> Iterator[Passage]:
    """Yield the paragraphs, bullets and rows of tables of a body, which begins after `above` lines of its file."""
    lines = (NumberedLine(number, line) for number, line in enumerate(body.split("\n"), 1))
    for message in read_markdown(lines):
        heading = str((message.metadata or {}).get("heading", ""))
        yield from _rows_apart(Passage(above + message.line, message.text, heading, message.text))


def _rows_apart(passage: Passage) -> Iterator[Passage]:
    """Yield a passage, or of a table what is above it and each row."""
    lines = _QUOTED.sub("", passage.text).split("\n")
    rule = next((n for n, line in enumerate(lines) if n and "|" in line and _is_rule(line)), 0)
    if not rule or rule + 1 == len(lines):
        yield passage
        return
    if rule > 1:
        above = "\n".join(lines[: rule - 1])
        yield passage._replace(text=above, quote=above)
    names = _cells(lines[rule - 1])
    for n, line in enumerate(lines[rule + 1 :], rule + 1):
        pairs = zip_longest(names, _cells(line), fillvalue="")
        text = ", ".join(f"{name}: {cell}" if name else cell for name, cell in pairs if cell)
        yield Passage(passage.line + n, text, passage.heading, line)


def _cells(line: str) -> list[str]:
    """Return the cells of a row. A bar in code, or behind a backslash, ends none."""
    bare = _CODE.sub(lambda code: code[0].replace("|", r"\|"), line.strip())
    cells = _CELL_END.split(re.sub(r"^\||(?<!\\)\|$", "", bare))
    return [cell.strip().replace(r"\|", "|") for cell in cells]


def _is_rule(line: str) -> bool:
    return all(map(_UNDER_COLUMN.fullmatch, _cells(line)))


def is_statement(text: str) -> bool:
    """Return whether a passage can be a fact: prose of bearable length, not code, a table, HTML or an address, and not
    the beginning of a list or the name of an empty field."""
    bare = _BULLET.sub("", text.lstrip(), count=1)
    if len(bare) > LONGEST_FACT or _NO_PROSE.match(bare):
        return False
    message = plain(text)
    return bool(_LETTER.search(message)) and not (message.endswith((":", "：")) or _ADDRESS.fullmatch(message))


def stated(place: str, key: str, passage: Passage, record: Mapping[str, Any], entity: str | None = None) -> Found:
    """Return a passage as a memory in its own words, or as skipped if it is no statement."""
    if not is_statement(passage.text):
        return SkippedMemory(place, NO_STATEMENT)
    return ForeignMemory(place, key, plain(passage.text), passage.quote, entity, record=record)


def is_definition(text: str) -> bool:
    """Return whether a passage only defines footnotes."""
    return all(_DEFINITION.match(line) for line in text.split("\n"))


def plain(text: str) -> str:
    """Return a passage as a plain statement: without bullet, quote, footnote and bold marks, and link targets.

    Code stays as it is."""
    spans: list[str] = []

    def hidden(found: re.Match[str]) -> str:
        spans.append(found[0])
        return f"\0{len(spans) - 1}\0"

    bare = _without_marks(_CODE.sub(hidden, text.replace("\0", "")))
    return one_line(re.sub("\0(\\d+)\0", lambda found: spans[int(found[1])], bare))


def without_code(text: str) -> str:
    """Return a text without its spans of code."""
    return _CODE.sub("", text)


def _without_marks(text: str) -> str:
    unquoted = _QUOTED.sub("", text.strip())
    bare = _CALLOUT.sub("", unquoted, count=1) if unquoted.startswith("[!") else unquoted
    bare = _in_one_sentence(bare) if _BULLET.match(bare) else bare
    bare = without_emphasis(_LINK.sub(r"\1", _FOOTNOTE.sub("", with_shown_links(bare))))
    return _ESCAPED.sub(r"\1", bare)


def _in_one_sentence(text: str) -> str:
    """Return an item of a list with those below it, each with its tick: "Pack (open): tent (done); stove"."""
    items: list[list[str]] = []
    for line in map(str.strip, text.split("\n")):
        if bullet := _BULLET.match(line):
            items.append([line[bullet.end() :], _TICKS.get((bullet["tick"] or "").lower(), "")])
        else:
            items[-1][0] += f" {line}"
    first, *below = (words.strip() + tick for words, tick in items)
    return f"{first.removesuffix(':')}: {'; '.join(below)}" if below else first


def with_shown_links(text: str) -> str:
    """Return a text with what is shown of its links to notes: their own words, else the note and the heading in it."""

    def shown(link: re.Match[str]) -> str:
        heading = (link["heading"] or "").replace("#", " > ")
        return link["words"] or f"{posixpath.basename(link['note'])}{heading}".removeprefix(" > ")

    return NOTE_LINK.sub(shown, text)


def footnotes(text: str) -> tuple[str, ...]:
    """Return the labels of the footnotes in a passage."""
    return tuple(dict.fromkeys(_FOOTNOTE.findall(text)))


def linked_pages(text: str) -> tuple[str, ...]:
    """Return the targets of the Markdown links in a text that lead to pages of the same folder."""
    targets = (match[2].partition("#")[0] for match in _LINK.finditer(text) if not match[0].startswith("!"))
    return tuple(dict.fromkeys(target for target in targets if target.endswith(".md") and "://" not in target))


# Exports of mem0: a JSON object or list of memories, each with a text, an id and times.
#
# Shapes: the answer of its `get_all`, `{"results": [{"id", "memory", "metadata", "created_at", "user_id"}]}`, and
# exports with `memories` and `text`. Of Letta, a list of `archival_memories` and the blocks of an agent file,
# `{"blocks": [{"label", "value"}]}` or `core_memory`, are read, too; some agent files are JSON within a JSON string.

_LISTS = ("results", "memories", "archival_memories", "blocks", "core_memory")
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
            page = path.lower().endswith(PAGES)
            takes = f"import {quote(path)} --format notes` takes it" if page else f"ingest {quote(path)}` takes a chat"
            yield SkippedMemory(path, f"it has no list of memories; `clawmem {takes}")
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
        if isinstance(records := mapping(document).get(key), list):
            return records
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
        if is_statement(line) and not line.lstrip().startswith(("# ", "##")):
            yield ForeignMemory(place, label, plain(line), line, record={"details": {"block": label}})
