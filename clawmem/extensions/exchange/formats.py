"""The formats of foreign memories, and which one some files have.

PARA trees are folders of entities with `items.json` and `summary.md`, and daily notes: `life/areas/people/jane/` in any
folder, `knowledge/...`, and `memory/global/...` beside `memory/agents/NAME/workspace/...`. A file of facts is a list of
`{"id", "fact", "timestamp", "status", "supersededBy", ...}`, or has it under `facts` or `items`.
"""

from __future__ import annotations

import posixpath
import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from shlex import quote
from typing import Any, NamedTuple

from clawmem.errors import InvalidInput
from clawmem.extensions.exchange import foreign_memory as mem0
from clawmem.extensions.exchange import okf
from clawmem.extensions.exchange.foreign_memory import (
    NO_STATEMENT,
    NOTE_LINK,
    Files,
    ForeignMemory,
    Found,
    Page,
    Passage,
    SkippedMemory,
    Yaml,
    entity_path,
    is_statement,
    mapping,
    moment,
    naming,
    pages_of,
    passages,
    plain,
    stated,
    with_shown_links,
    without_code,
    words,
)
from clawmem.model.facts.codec import OTHER_NAMES
from clawmem.model.facts.fact import RETRACTED, SUPERSEDED
from clawmem.model.harness import RULE_FILES
from clawmem.model.language.text import check_choice, one_line
from clawmem.model.pages.summary import split_front_matter
from clawmem.model.records.entity import ITEMS, ROOTS, SUMMARY, check_name, slug
from clawmem.model.records.strict_json import read_json
from clawmem.model.transcripts.message import Message, SkippedLine, word
from clawmem.model.transcripts.notes import NumberedLine, read_markdown
from clawmem.vault.strict_yaml import parse_yaml

# Memories kept as pages with observations and relations: basic-memory and Obsidian.
#
# Formats: basic-memory writes pages with `- [category] text #tag` and `- relation [[Target]]`. Obsidian writes pages
# with `[[links]]`.

_OBSERVATION = re.compile(r"[-*]\s+\[(?P<category>[\w-]{2,})\]\s+(?P<text>.+)", re.DOTALL)
_RELATION = re.compile(r"[-*]\s+(?P<relation>[^\[\]]+?)\s*\[\[(?P<target>[^\]|#]+)[^\]]*\]\]\s*", re.DOTALL)
_TAG = re.compile(r"(?<!\S)#(?=[\d/-]*[^\W\d])([\w/-]+)")
# Tags within a sentence are words of it. Those on a line of their own, and those behind an end, are not.
_TAGS_APART = re.compile(rf"(?:^|(?<=[.!?:)\]]))(?:[ \t]*{_TAG.pattern})+[ \t]*$", re.MULTILINE)
_TAGS_LAST = re.compile(rf"(?:\s+{_TAG.pattern})+\s*\Z")
_BLOCK_NAME = re.compile(r"[ \t]+\^[\w-]+[ \t]*$", re.MULTILINE)
_EMBED = re.compile(r"^[ \t]*(?:[-*+][ \t]+)?!\[\[([^\[\]|#]+)(?:[|#][^\[\]]*)?\]\][ \t]*$", re.MULTILINE)
_DAY_IN_NAME = re.compile(r"\d{4}-\d\d-\d\d(?=[^/]*$)")
# What the front matter says about the page, not about its subject.
_OF_PAGE = frozenset(
    "title tags tag aliases alias created date modified updated type permalink id publish cssclass cssclasses".split()
)
_NOTHING = ("", "~", "null")


class _Note(NamedTuple):
    """A page of a folder of notes, with the name and the entity of its subject, and its own time."""

    path: str
    page: Page
    title: str
    entity: str | None
    when: str | None

    def aliases(self) -> tuple[str, ...]:
        return words(self.page.front.get("aliases") or self.page.front.get("alias") or [])

    def memory(self, place: str, statement: str, quote: str, record: Mapping[str, Any]) -> ForeignMemory:
        key = word(self.page.front.get("permalink")) or self.title
        return ForeignMemory(
            place, key, statement, quote, self.entity, self.title, self.when, record, None, self.aliases()
        )


def _notes(files: Files, yaml: Yaml) -> list[_Note]:
    """Return the pages. Where several have one name, the path tells their subjects apart."""
    pages = list(pages_of(files, yaml))
    titles = [str(page.front.get("title") or _stem(path)) for path, page in pages]
    kinds = [(word(page.front.get("type")), posixpath.basename(posixpath.dirname(path))) for path, page in pages]
    entities = [entity_path(title, *kind) for title, kind in zip(titles, kinds, strict=True)]
    of_name, of_entity = Counter(map(slug, titles)), Counter(entities)
    notes = []
    for (path, page), title, kind, entity in zip(pages, titles, kinds, entities, strict=True):
        folder, front, named = posixpath.dirname(path), page.front, _DAY_IN_NAME.search(path)
        when = moment(front.get("date"), front.get("created"), named and named[0], front.get("modified"))
        shown = f"{title} ({folder})" if folder and of_name[slug(title)] > 1 else title
        own = entity if of_entity[entity] == 1 else entity_path(shown, *kind)
        notes.append(_Note(path, page, shown, own, when))
    return notes


def _stem(path: str) -> str:
    return posixpath.basename(path).rsplit(".", 1)[0]


def _entities_by_name(notes: list[_Note]) -> dict[str, str | None]:
    """Return the entity for each text of a link, in lower case: a path, else a name, of the note nearest to the top."""
    found = {note.path.rsplit(".", 1)[0].lower(): note.entity for note in notes}
    for note in sorted(notes, key=lambda note: (note.path.count("/"), note.path)):
        for name in (_stem(note.path), note.title, *note.aliases()):
            found.setdefault(name.lower(), note.entity)
    return found


def _related_to(text: str, known: Mapping[str, str | None]) -> dict[str, Any]:
    links = (link for link in NOTE_LINK.finditer(text) if not link["shown"])  # what is shown is often a picture
    names = (link["note"].strip().removesuffix(".md") for link in links)
    found = [known.get(name.lower()) or entity_path(posixpath.basename(name)) for name in names]
    return {"related_entities": list(dict.fromkeys(filter(None, found)))} if any(found) else {}


def _relation(place: str, note: _Note, relation: str, target: str, known: Mapping[str, str | None]) -> ForeignMemory:
    phrase, who, what = one_line(relation.replace("_", " ")), _spaced(note.title), _spaced(target)
    text = f"{who} {phrase} {what}."
    record = {"subject": who, "predicate": phrase.replace(" ", "_").lower(), "object": what}
    related = _related_to(f"[[{target}]]", known)
    return note.memory(place, text, text, {**record, **related})._replace(key=note.title)


def _spaced(name: str) -> str:
    """Return a name with spaces: models write John_Smith as the name of an entity."""
    return name if " " in name else name.replace("_", " ").strip() or name


def is_linked_notes(files: Files, yaml: Yaml) -> bool:
    """Return whether files are a folder of basic-memory or Obsidian."""
    if any(path.split("/")[0] in (".obsidian", ".basic-memory") for path in files):
        return True
    found = list(pages_of(files, yaml))
    return any("permalink" in page.front for _, page in found) or any(NOTE_LINK.search(page.body) for _, page in found)


def read_linked_notes(files: Files, yaml: Yaml) -> Iterator[Found]:
    """Yield a statement for each property, observation, relation, paragraph, bullet and row of the pages."""
    notes = _notes(files, yaml)
    known = _entities_by_name(notes)
    for note in notes:
        if note.page.problem:
            yield SkippedMemory(note.path, note.page.problem)
        elif note.page.front:
            yield from _properties(note, files[note.path], known)
        for passage in passages(note.page.body, note.page.above):
            yield _passage(f"{note.path}:{passage.line}", passage, note, known)


def _properties(note: _Note, text: str, known: Mapping[str, str | None]) -> Iterator[Found]:
    front, _ = split_front_matter(text.replace("\r\n", "\n"))
    for key, value in parse_yaml(front or "", note.path, as_text=True).items():
        items = [item for item in (value if isinstance(value, list) else [value]) if item not in _NOTHING]
        if key.lower() in _OF_PAGE or not items:
            continue
        if not all(isinstance(text, str) for text in items):
            yield SkippedMemory(f"{note.path}:1", f"its property '{key}' is neither a text nor a list of texts")
            continue
        listed, verb = ", ".join(items), "is" if len(items) == 1 else "are"
        statement = f"{note.title}'s {re.sub('[_-]+', ' ', key)} {verb} {with_shown_links(listed)}"
        yield note.memory(note.path, one_line(statement), f"{key}: {listed}", _related_to(listed, known))


def _passage(place: str, passage: Passage, note: _Note, known: Mapping[str, str | None]) -> Found:
    is_basic, front = "permalink" in note.page.front, note.page.front
    if is_basic and (relation := _RELATION.fullmatch(passage.text.strip())):
        return _relation(place, note, relation["relation"], relation["target"].strip(), known)
    text, shown = _EMBED.sub("", passage.text).strip(), _EMBED.findall(passage.text)
    if shown and not text:
        return SkippedMemory(place, f"it only shows {', '.join(shown)}")
    if not is_statement(text):
        return SkippedMemory(place, NO_STATEMENT)
    record: dict[str, Any] = _related_to(without_code(text), known)
    if tags := [*words(front.get("tags") or front.get("tag") or []), *_TAG.findall(text)]:
        record["tags"] = tags
    if is_basic and (observed := _OBSERVATION.fullmatch(text)):
        record["category"], text = observed["category"], _TAGS_LAST.sub("", observed["text"])
    message = plain(_TAGS_APART.sub("", _BLOCK_NAME.sub("", text)))
    if not message:
        return SkippedMemory(place, NO_STATEMENT)
    return note.memory(place, naming(note.title, message), passage.quote, record)


# Memories that agent programs keep as Markdown: Claude Code's auto-memory, and MEMORY.md with dated notes.
#
# Layouts: Claude Code writes one page a memory, with `name`, `description` and a `type` (user, feedback, project or
# reference) in its front matter, and lists the pages in MEMORY.md. Codex and OpenClaw write MEMORY.md, USER.md and
# memory/YYYY-MM-DD.md as lists. Letta Code keeps a repository of pages with a `description`, those of system/ always
# in the prompt, persona.md among them.

_CATEGORIES = {"user": "fact", "feedback": "instruction", "project": "project", "reference": "reference"}
_INDEX = "MEMORY.md"
_DAILY = re.compile(r"(?:^|/)memory/(?P<day>\d{4}-\d\d-\d\d)[^/]*\.md$")
_WHY = re.compile(r"\*{0,2}Why:\*{0,2}\s+")
_OF_AGENT = re.compile(r"(?:^|/)(?:MEMORY|USER|memory_summary|raw_memories)\.md$")
# What Codex writes for its own look-ups: lists of files, of search words, and the head of a summary.
_CODEX_LOOKUPS = frozenset(("rollout_summary_files", "keywords", "what's in memory"))
_CODEX_HEAD = re.compile(r"(?:thread_id|updated_at|rollout_path|cwd|git_branch|scope|applies_to):\s*\S")
_CODEX_UPDATED = re.compile(r"^updated_at:\s*(?P<when>\S+)", re.MULTILINE)
_IN_PROMPT, _PERSONA = re.compile(r"(?:^|/)system/.*\.md$"), "persona.md"
_NO_DAY = "YYYY-MM-DD"
_PLACEHOLDER = re.compile(r"_[^_]+_|\*[^*]+\*")
NO_MEMORY = "it is a placeholder, or what the program keeps for its own look-ups"
_OBSERVED = re.compile(r"<!--\s*observed:\s*(?P<day>[\w-]+)\s*(?:\|\s*status:\s*(?P<status>\w+)\s*)?-->")
# OpenClaw writes the mark on a line above the statement, where it would be read as a comment.
_MARK_ABOVE = re.compile(
    r"^[ \t]*(?P<mark><!--\s*observed:[^\n]*-->)[ \t]*\n(?P<gap>(?:[ \t]*\n)*)(?P<line>[^\n]+)", re.MULTILINE
)


def is_auto_memory(files: Files, yaml: Yaml) -> bool:
    """Return whether files are Claude Code's memory: pages with a name, a description and one of its types."""
    return any(_type(page) in _CATEGORIES and "description" in page.front for _, page in pages_of(files, yaml))


def read_auto_memory(files: Files, yaml: Yaml) -> Iterator[Found]:
    """Yield one statement for each paragraph and bullet of a page, its description in front; a `Why` is its reason."""
    for path, page in pages_of(files, yaml):
        if posixpath.basename(path) == _INDEX:
            continue
        description = page.front.get("description")
        if page.problem or not isinstance(description, str) or not description.strip():
            yield SkippedMemory(path, page.problem or "it has no description")
            continue
        record: dict[str, Any] = {"category": _CATEGORIES.get(_type(page), "fact")}
        about = mapping(page.front.get("metadata"))
        if origin := word(about.get("originSessionId") or page.front.get("originSessionId")):
            record["details"] = {"session": origin}
        when = moment(about.get("modified"), about.get("updated_at"), about.get("created_at"), page.front.get("date"))
        name = str(page.front.get("name") or path)
        found: list[Found] = []
        for passage in passages(page.body, page.above):
            memory, why = stated(f"{path}:{passage.line}", name, passage, record), _WHY.match(passage.text)
            last = found[-1] if found else None
            if why and isinstance(last, ForeignMemory) and isinstance(memory, ForeignMemory):
                about = {"because": plain(passage.text[why.end() :]), **mapping(last.record.get("details"))}
                quote = f"{last.quote}\n\n{memory.quote}"
                found[-1] = last._replace(quote=quote, record={**last.record, "details": about})
                continue
            if isinstance(memory, ForeignMemory):
                memory = memory._replace(statement=_described(one_line(description), memory.statement), timestamp=when)
            found.append(memory)
        if not any(isinstance(memory, ForeignMemory) for memory in found):
            yield ForeignMemory(path, name, one_line(description), description, timestamp=when, record=record)
        yield from found


def _described(description: str, text: str) -> str:
    """Return a passage behind the description of its page, unless it says the same."""
    if description.rstrip(".").lower() in text.lower():
        return text
    return f"{description}{' ' if description.endswith(('.', '!', '?')) else ': '}{text}"


def is_agent_memory(files: Files, yaml: Yaml) -> bool:
    """Return whether files have a page that Codex, OpenClaw or Letta Code keeps its memory in."""
    if any(_OF_AGENT.search(path) or _DAILY.search(path) for path in files):
        return True
    return any(_IN_PROMPT.search(path) and "description" in page.front for path, page in pages_of(files, yaml))


def read_agent_memory(files: Files, yaml: Yaml) -> Iterator[Found]:
    """Yield each paragraph and bullet of the pages; what the page marks as no longer active is left out."""
    for path, page in pages_of(files, yaml):
        if posixpath.basename(path) == _PERSONA:
            yield SkippedMemory(path, "it tells an agent how to behave")
            continue
        dated, updated = _DAILY.search(path), _CODEX_UPDATED.search(page.body)
        on = f"{dated['day']}T00:00:00Z" if dated else updated and updated["when"]
        body = _MARK_ABOVE.sub(lambda found: f"\n{found['gap']}{found['line']} {found['mark']}", page.body)
        for passage in passages(body, page.above):
            yield _noted(path, passage, on)


def _noted(path: str, passage: Passage, on: str | None) -> Found:
    mark, text = _OBSERVED.search(passage.text), _OBSERVED.sub("", passage.text).strip()
    place, heading = f"{path}:{passage.line}", passage.heading.rpartition(" > ")[2]
    if mark and mark["status"] not in (None, "active"):
        return SkippedMemory(place, f"it is marked as {mark['status']}")
    looked_up = any(part.strip().lower() in _CODEX_LOOKUPS for part in passage.heading.split(" > "))
    if looked_up or _CODEX_HEAD.match(text) or _PLACEHOLDER.fullmatch(text) or (mark and mark["day"] == _NO_DAY):
        return SkippedMemory(place, NO_MEMORY)
    details: Mapping[str, Any] = {"details": {"heading": heading}} if heading else {}
    found = stated(place, path, passage._replace(text=text, quote=_OBSERVED.sub("", passage.quote).strip()), details)
    when = moment(mark["day"] if mark else None, on)
    return found if isinstance(found, SkippedMemory) else found._replace(timestamp=when)


def _type(page: Page) -> str:
    return str(mapping(page.front.get("metadata")).get("type") or page.front.get("type") or "")


# Rules that people write for agents. Their project is not in the file: it is that of the folder.

_OTHER_FILE = re.compile(r"@\S+")


def is_rules(files: Files, yaml: Yaml) -> bool:
    """Return whether all files are rules for agents, such as CLAUDE.md."""
    return bool(files) and all(posixpath.basename(path) in RULE_FILES for path in files)


def read_rules(files: Files, yaml: Yaml) -> Iterator[Found]:
    """Yield each paragraph and bullet as an instruction."""
    for path, page in pages_of(files, yaml):
        for passage in passages(page.body, page.above):
            found = None if _OTHER_FILE.fullmatch(plain(passage.text)) else _noted(path, passage, None)
            if isinstance(found, ForeignMemory):
                found = found._replace(record={**found.record, "category": "instruction"})
            yield found or SkippedMemory(f"{path}:{passage.line}", "it names another file, which is not read")


AUTO = "auto"
RULES = "rules"


class MemoryFormat(NamedTuple):
    """A format: what it is, whether files have it, how they are read, the trust of its statements unless a person says,
    and what of it becomes events only."""

    says: str
    fits: Callable[[Files, Yaml], bool]
    read: Callable[[Files, Yaml], Iterator[Found]]
    trust: str
    messages: Callable[[Files], Iterator[Message]] = lambda files: iter(())


_DAY_PAGE = re.compile(r"(?:^|/)\d{4}-\d\d-\d\d[^/]*\.md$")
_AGENT_FOLDER = re.compile(r"(?:^|/)agents/(?P<agent>[^/]+)/")
# Pages that tell an agent how to behave, and those that a program writes from the rest.
_OTHER_PAGES = frozenset(("soul.md", "identity.md", "agents.md", "tools.md", "heartbeat.md", "index.md", "readme.md"))
_NO_PAGE = "it tells an agent how to behave, or is written from the rest"
# What clawmem takes over of a foreign record, by its own names. Ids and counts are the vault's own.
_KEPT = ("category", "tags", "confidence", "importance", "valid_from", "valid_to", "subject", "predicate", "object")


def is_para(files: Files, yaml: Yaml) -> bool:
    """Return whether files are a PARA tree: some `items.json` below projects, areas, resources or archives."""
    return any(
        _place(path) and _fact_records(text) for path, text in files.items() if posixpath.basename(path) == ITEMS
    )


def read_para(files: Files, yaml: Yaml) -> Iterator[Found]:
    """Yield each fact with its entity and dates, and each paragraph of pages that no file of facts stands beside."""
    for path in sorted(files):
        if path.endswith(".json") and posixpath.basename(path) == ITEMS:
            yield from _facts(path, files[path])
    for path, page in pages_of(files, yaml):
        folder, name = posixpath.split(path)
        if _DAY_PAGE.search(path) or (name == SUMMARY and f"{folder}/{ITEMS}" in files):
            continue
        if name.lower() in _OTHER_PAGES:
            yield SkippedMemory(path, _NO_PAGE)
            continue
        for passage in passages(page.body, page.above):
            yield stated(f"{path}:{passage.line}", path, passage, _origin(path), _place(path))


def para_messages(files: Files) -> Iterator[Message]:
    """Yield the lines of daily notes, which become events on their day."""
    for path in sorted(filter(_DAY_PAGE.search, files)):
        lines = (NumberedLine(number, line) for number, line in enumerate(files[path].split("\n"), 1))
        yield from read_markdown(lines, name=posixpath.basename(path))


def _place(path: str) -> str | None:
    """Return the entity of a file: its folder from the innermost of PARA's folders on, else None."""
    parts = posixpath.dirname(path).split("/")
    start = max((number for number, part in enumerate(parts) if part in ROOTS), default=len(parts))
    agent = _AGENT_FOLDER.search(path)
    with suppress(InvalidInput):
        return check_name("/".join([*([f"@{agent['agent']}"] if agent else []), *parts[start:]]))
    return None


def _origin(path: str) -> Mapping[str, Any]:
    agent = _AGENT_FOLDER.search(path)
    return {"details": {"agent": agent["agent"]}} if agent else {}


def _fact_records(text: str) -> list[Mapping[str, Any]] | None:
    try:
        document = read_json(text)
    except ValueError:
        return None
    record = mapping(document)
    items = document if isinstance(document, list) else record.get("facts") or record.get("items")
    return [other for other in items if isinstance(other, dict)] if isinstance(items, list) else None


def _facts(path: str, text: str) -> Iterator[Found]:
    records = _fact_records(text)
    if records is None:
        yield SkippedMemory(path, "it has no list of facts")
        return
    named = [{OTHER_NAMES.get(key, key): value for key, value in record.items()} for record in records]
    former = {record["superseded_by"]: word(record.get("id")) for record in named if word(record.get("superseded_by"))}
    known = {record.get("id") for record in named}
    for number, record in enumerate(named, 1):
        place, statement = f"{path}#{number}", word(record.get("fact"))
        if statement is None or record.get("status") == RETRACTED:
            yield SkippedMemory(place, "it was retracted" if statement else "it has no text")
            continue
        kept = {key: record[key] for key in _KEPT if record.get(key) is not None}
        key, when = word(record.get("id")) or place, moment(record.get("timestamp"))
        replaces = former.get(key)
        is_over = record.get("superseded_by") or record.get("status") in (SUPERSEDED, "historical")
        if is_over and record.get("superseded_by") not in known:
            kept = {"valid_to": when or "1970-01-01", **kept}  # by what is not said
        elif when and (replaces or is_over):
            kept = {"valid_from": when, **kept}
        related = record.get("related_entities")
        if isinstance(related, list):
            kept["related_entities"] = [_related(name) for name in related if isinstance(name, str)]
        origin = {"details": {"source": source}} if (source := word(record.get("source"))) else {}
        record = {**_origin(path), **origin, **kept}
        yield ForeignMemory(place, key, statement, statement, _place(path), None, when, record, replaces)


def _related(name: str) -> str:
    with suppress(InvalidInput):
        return check_name(name)
    return name


# In the order in which they are tried: a format with fewer signs of its own comes later.
MEMORY_FORMATS = {
    RULES: MemoryFormat(
        "`CLAUDE.md`, `AGENTS.md`: each paragraph and bullet is an instruction of the project whose folder it is in, in"
        " `~/.claude` of every project",
        is_rules, read_rules, "user",
    ),
    "mem0": MemoryFormat("the export of mem0, and a Letta agent file", mem0.fits, mem0.read, "agent"),
    "claude-memory": MemoryFormat(
        "the memory folder of Claude Code: each paragraph is a fact behind its description, a `Why` is its reason",
        is_auto_memory, read_auto_memory, "agent",
    ),
    "para": MemoryFormat(
        "projects, areas, resources and archives with `items.json`: places, dates, and what replaced what are kept;"
        " daily notes become events",
        is_para, read_para, "agent", para_messages,
    ),
    "okf": MemoryFormat("Open Knowledge Format 0.2", okf.fits, okf.read, "external"),
    "agent-memory": MemoryFormat(
        "`MEMORY.md`, `USER.md` and `memory/DATE.md` of Codex and OpenClaw, the repository of Letta Code",
        is_agent_memory, read_agent_memory, "agent",
    ),
    "notes": MemoryFormat(
        "basic-memory, Obsidian: each paragraph, bullet, row of a table and property is a fact, and `aliases`, tags"
        " and links are kept. The folder `People`, `Companies` or `Projects` is the kind of the entity; of"
        " notes of one name it is in the name",
        is_linked_notes, read_linked_notes, "user",
    ),
}  # fmt: skip
FORMATS = {
    AUTO: "by what the files are",
    **{name: memory_format.says for name, memory_format in MEMORY_FORMATS.items()},
}


def format_of(files: Files, yaml: Yaml, name: str, wanted: str = AUTO) -> str:
    """Return the format of some files. Raise InvalidInput if none is recognised, or `wanted` is not a format."""
    check_choice(wanted, "format", FORMATS)
    if wanted != AUTO:
        return wanted
    found = next((name for name, memory_fmt in MEMORY_FORMATS.items() if memory_fmt.fits(files, yaml)), None)
    if found is None:
        raise InvalidInput(
            f"Nothing in {name} was recognised as a memory.",
            f"`clawmem ingest {quote(name)}` takes a chat, mail, a table or a document, "
            "`--format notes` any Markdown pages; "
            f"other formats: {', '.join(MEMORY_FORMATS)}.",
        )
    return found


_CONVERSATIONS = re.compile(r"conversations(?:-\d+)?\.json")
_MEMORY = re.compile(r"memories\.json|projects\.json")
_DESIGN_CHAT = re.compile(r"(?:^|/)design_chats/[^/]+\.json$")
_PROJECT = re.compile(r"(?:^|/)projects/[^/]+\.json$")


def is_conversations(path: str) -> bool:
    """Return whether a file of an archive holds conversations: the numbered ones, or the chat of a design."""
    return bool(_CONVERSATIONS.fullmatch(posixpath.basename(path)) or _DESIGN_CHAT.search(path))


def is_memory(path: str) -> bool:
    """Return whether a file of an archive holds memories or projects."""
    return _MEMORY.fullmatch(posixpath.basename(path)) is not None or _PROJECT.search(path) is not None


def memories(files: Files) -> Iterator[Found]:
    """Yield a statement for each paragraph and bullet of the memories, and for each description of a project."""
    projects = _project_names(files)
    for path in sorted(files):
        for record in _records(files[path]):
            if record is None:
                yield SkippedMemory(path, "it is not JSON")
            elif posixpath.basename(path) == "memories.json":
                yield from _memories(path, record, projects)
            elif text := word(record.get("description")):
                when = moment(record.get("updated_at"), record.get("created_at"))
                key = str(record.get("uuid") or path)
                yield ForeignMemory(path, key, f"{_name(record)}: {plain(text)}", text, timestamp=when)


def _project_names(files: Files) -> dict[str, str]:
    of_projects = (text for path, text in files.items() if posixpath.basename(path) != "memories.json")
    records = (record for text in of_projects for record in _records(text))
    return {str(record["uuid"]): _name(record) for record in records if record and record.get("uuid")}


def _memories(path: str, record: Mapping[str, Any], projects: Mapping[str, str]) -> Iterator[Found]:
    value = record.get("project_memories")
    of_projects = value if isinstance(value, dict) else {"": value}
    for key, text in [("", record.get("conversations_memory")), *of_projects.items()]:
        about = {"details": {"project": projects[key]}} if key in projects else {}
        for passage in passages(text) if isinstance(text, str) else ():
            yield stated(f"{path}:{passage.line}", key or path, passage, about)


def documents(files: Files) -> Iterator[Message | SkippedLine]:
    """Yield the instructions and the documents of projects as notes."""
    for path in sorted(files):
        for record in _records(files[path]) if posixpath.basename(path) != "memories.json" else ():
            for number, document in enumerate(_documents(record or {}), 1):
                text = mapping(document).get("content")
                if not isinstance(text, str) or not text.strip():
                    yield SkippedLine(number, f"a document of {path} has no text")
                    continue
                about = {"file": str(document.get("filename") or path), "project": _name(record or {})}
                when = moment(document.get("created_at"))
                yield Message(
                    number, "note", text, when, None, None, word(document.get("uuid")), "attachment", metadata=about
                )


def _documents(record: Mapping[str, Any]) -> list[Any]:
    items = record.get("docs")
    written = list(items) if isinstance(items, list) else []
    if not word(record.get("prompt_template")):
        return written
    at = record.get("updated_at")
    return [{"content": record["prompt_template"], "filename": "instructions", "created_at": at}, *written]


def _name(record: Mapping[str, Any]) -> str:
    return word(record.get("name")) or "project"


def _records(text: str) -> list[Mapping[str, Any] | None]:
    try:
        document = read_json(text)
    except ValueError:
        return [None]
    return [record for record in (document if isinstance(document, list) else [document]) if isinstance(record, dict)]
