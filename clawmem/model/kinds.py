"""The registry of file kinds: one row says everything that differs between one kind of vault file and another.

A path has at most one kind. `file_kind` finds it, and the index, `doctor`, hand edits, merges, undo, the search for
credentials and write permissions ask the row what to do. `CONTRIBUTING.md` shows how to add a row.

Importing this module imports no parser, no merge and no extension: functions are named as `module:function`.
"""

from collections.abc import Callable
from functools import lru_cache
from typing import Any

from clawmem.errors import Unreadable
from clawmem.extension import Extension, extensions, foreign, is_present, named, own
from clawmem.model.named_tuple import NamedTuple
from clawmem.model.records.entity import CANDIDATES, ITEMS, ROOTS
from clawmem.model.records.entity import SUMMARY as SUMMARY_NAME
from clawmem.model.records.strict_json import (
    JSON_BYTES,
    LEDGER_BYTES,
    TEXT_BYTES,
    YAML_BYTES,
    beyond_limit,
    refuse_unread,
)

# Owners: who writes the file.
PERSON, GENERATED, LOG, MIXED = "person", "generated", "log", "mixed"

# Write permissions: the places that the settings name, as `agents.<id>.write` does; EVERYONE needs no permission.
OWN, LIFE, RECORDS, CONFIGURATION, ALL, EVERYONE = "own", "life", "records", "settings", "all", "everyone"

# Checks by `doctor`: a table in `memory/health/checks/reading.py` has a function for each. PARSE reports what `parse`
# raises and is enough for most kinds.
FACTS, EVENTS, SUMMARY, PROPOSAL, SETTINGS, CATALOG = "facts", "events", "summary", "proposal", "settings", "catalog"
REDACTIONS, PARSE, NONE, TASK, POLICY = "redactions", "parse", "none", "task", "policy"

# How the index takes the file in: a table in `index/tables/intake.py` has a function for each but NONE.
PAGE, ACCESSES = "page", "accesses"

# How two versions merge: a table in `model/merging/files.py` has a function for each.
RECORD, CURSOR, ADAPTATION, NOTE = "record", "cursor", "adaptation", "note"
YAML, NAMES, TEXT, SESSION, DIGESTION = "yaml", "names", "text", "session", "digestion"

# What undo does: fact by fact, event by event, with the entity (SUMMARY), line by line (NOTE), a whole page but for its
# generated part (PAGE), the whole file, never (NEVER), or whole unless a redaction would be forgotten (REDACTIONS).
FILE, NEVER = "file", "never"

# Credentials: every text is searched, or each message was searched when it was ingested.
SEARCHED, AT_INGEST = "searched", "at ingest"

# The value of `render` where clawmem keeps the bytes that a person wrote.
AS_WRITTEN = "as written"

Yaml = Callable[[str, str], Any]
Parse = Callable[[bytes, str, Yaml], Any]
Render = Callable[[Any], bytes]


class FileKind(NamedTuple):
    """One kind of vault file.

    patterns: the paths. `*` is any text within a name, `**` any number of folders, `{day}` a date, `{undated}` no date,
        `{root}` a PARA root, `{task}` no README, `{version}` a name that a merge gave to the other version of a file.
    parse: `(data, path, yaml) -> value`; raises Unreadable or ConflictMarkers, naming the line.
    render: `(value) -> bytes`, or AS_WRITTEN.
    limit: the most bytes that are read.
    otherwise: the row claims only paths that no other row claims.
    """

    name: str
    patterns: tuple[str, ...]
    parse: str
    render: str
    check: str
    merge: str
    owner: str
    indexed_as: str
    undo: str
    places: tuple[str, ...]
    secrets: str = SEARCHED
    limit: int = TEXT_BYTES
    otherwise: bool = False

    def parsed(self, data: bytes, path: str, yaml: Yaml) -> Any:
        """The value that the file holds; `yaml` reads YAML text, as `vault/strict_yaml.py` does."""
        self.refuse_large(data, path)
        parse: Parse = named(self.parse)
        return parse(data, path, yaml)

    def refuse_large(self, data: bytes, path: str) -> None:
        """Raise Unreadable if the contents are beyond the limit, whether they were read or not."""
        refuse_unread(data, path)
        if len(data) > self.limit:
            raise Unreadable(path, None, beyond_limit("it", len(data), self.limit, "bytes"))

    def rendered(self, value: Any) -> bytes:
        """The file for a value that `parsed` gave."""
        render: Render = named(self.render)
        return render(value)


def _text(name: str, *patterns: str, merge: str = TEXT, places: tuple[str, ...] = (CONFIGURATION,)) -> FileKind:
    read, written = "clawmem.model.records.parsing:text", "clawmem.model.records.parsing:encode"
    return FileKind(name, patterns, read, written, PARSE, merge, PERSON, NONE, FILE, places)


def _page(name: str, *patterns: str, places: tuple[str, ...], owner: str = PERSON, index: str = NONE) -> FileKind:
    read, written = "clawmem.model.records.parsing:text", "clawmem.model.records.parsing:encode"
    return FileKind(name, patterns, read, written, PARSE, PAGE, owner, index, PAGE, places)


def _note(name: str, pattern: str, places: tuple[str, ...]) -> FileKind:
    return _page(name, pattern, places=places, owner=MIXED, index=PAGE)._replace(merge=NOTE, undo=NOTE)


def json_kind(name: str, pattern: str, parse: str, render: str, merge: str, places: tuple[str, ...]) -> FileKind:
    """A kind of JSON that clawmem writes."""
    return FileKind(
        name, (pattern,), parse, render, PARSE, merge, GENERATED, NONE, FILE, places, limit=JSON_BYTES
    )  # fmt: skip


def yaml_kind(name: str, pattern: str, parse: str, check: str) -> FileKind:
    """A kind of YAML that a person writes."""
    return FileKind(
        name, (pattern,), parse, AS_WRITTEN, check, YAML, PERSON, NONE, FILE, (CONFIGURATION,), limit=YAML_BYTES
    )  # fmt: skip


# The folders of a vault, and who may write what lies in them.
ROOMS = {
    "life": (LIFE,),
    "daily": (RECORDS,),
    "ledger": (RECORDS,),
    "agents": (OWN,),
    "review": (EVERYONE,),
    "wiki": (RECORDS,),
    "workflows": (CONFIGURATION,),
    "tasks": (RECORDS,),
    "governance": (CONFIGURATION,),
}


# What is kept as it is and not checked.
_UNREAD: dict[str, Any] = {"parse": "clawmem.model.records.parsing:unread", "render": AS_WRITTEN, "check": NONE}


def _in_each_room() -> tuple[FileKind, ...]:
    """What may lie in any folder: placeholders of empty folders, the versions that a merge put aside, documents."""
    rows = []
    for room, places in ROOMS.items():
        rows.append(_text(f"placeholder in {room}", f"{room}/**/.gitkeep", merge=NAMES, places=places))
        aside = _text(f"other version in {room}", f"{room}/**/{{version}}", places=places)
        rows.append(aside._replace(**_UNREAD, owner=GENERATED))
        if room not in ("ledger", "wiki"):
            rows.append(_page(f"document in {room}", f"{room}/**/*.md", places=places)._replace(otherwise=True))
    return tuple(rows)


# The folders of entities: `areas/people/jane` has one folder more than `projects/website`.
_ENTITIES = (
    *("life/{root}/*", "life/{root}/*/*"),
    *("agents/*/workspace/{root}/*", "agents/*/workspace/{root}/*/*"),
)

LEDGER_DAY = FileKind(
    "ledger day", ("ledger/*.jsonl",), "clawmem.model.records.parsing:events",
    "clawmem.model.records.event:render_events",
    EVENTS, EVENTS, LOG, EVENTS, EVENTS, (RECORDS,), AT_INGEST, LEDGER_BYTES,
)  # fmt: skip
ITEMS_FILE = FileKind(
    "facts",
    (*(f"{place}/{ITEMS}" for place in _ENTITIES), f"daily/{CANDIDATES}/{{day}}/{ITEMS}"),
    "clawmem.model.records.parsing:facts", "clawmem.model.facts.codec:render_items",
    FACTS, FACTS, MIXED, FACTS, FACTS, (LIFE, OWN), limit=JSON_BYTES,
)  # fmt: skip
SUMMARY_PAGE = FileKind(
    "entity summary",
    tuple(f"{place}/{SUMMARY_NAME}" for place in _ENTITIES),
    "clawmem.model.records.parsing:page", "clawmem.model.records.parsing:encode",
    SUMMARY, PAGE, MIXED, SUMMARY, SUMMARY, (LIFE, OWN),
)  # fmt: skip
PROPOSAL_FILE = FileKind(
    "proposal", ("review/prop_*.json",), "clawmem.model.records.parsing:proposal",
    "clawmem.model.proposals.proposal:render_proposal",
    PROPOSAL, PROPOSAL, MIXED, PROPOSAL, FILE, (EVERYONE,), limit=JSON_BYTES,
)  # fmt: skip
DAILY_NOTE = _note("daily note", "daily/{day}.md", (RECORDS,))
AGENT_NOTE = _note("agent's daily note", "agents/*/daily/{day}.md", (OWN,))

KINDS: tuple[FileKind, ...] = (
    yaml_kind("settings", "clawmem.yaml", "clawmem.model.records.parsing:settings", SETTINGS),
    yaml_kind("predicate catalog", "predicates.yaml", "clawmem.model.records.parsing:catalog", CATALOG),
    _page("instructions", "README.md", "AGENTS.md", places=(CONFIGURATION,)),
    _page("memory page", "MEMORY.md", places=(CONFIGURATION, RECORDS), owner=MIXED, index=PAGE),
    _text("git settings", ".gitattributes", ".gitignore", merge=NAMES),
    _page("index of entities", "life/index.md", places=(LIFE,), owner=MIXED),
    ITEMS_FILE,
    SUMMARY_PAGE,
    DAILY_NOTE,
    _page("undated note", "daily/{undated}.md", places=(RECORDS,), index=PAGE),
    LEDGER_DAY,
    json_kind(
        "learning cursor", "ledger/learned.json", "clawmem.model.records.parsing:cursor",
        "clawmem.model.records.cursor:render_cursor",
        CURSOR, (RECORDS,),
    )._replace(undo=NEVER),
    json_kind(
        "accesses", "ledger/accesses.json", "clawmem.model.records.parsing:accesses",
        "clawmem.model.records.accesses:render_accesses",
        ACCESSES, (RECORDS,),
    )._replace(indexed_as=ACCESSES, undo=NEVER),
    json_kind(
        "promotion outcomes", "ledger/adaptation.json", "clawmem.model.records.parsing:adaptation",
        "clawmem.model.proposals.promotion:render_adaptation", ADAPTATION, (RECORDS,),
    ),
    json_kind(
        "redactions", "ledger/redactions.json", "clawmem.model.records.parsing:redactions",
        "clawmem.model.history.redaction:render_records",
        REDACTIONS, (RECORDS,),
    )._replace(check=REDACTIONS, undo=REDACTIONS),
    json_kind(
        "digestion queue", "ledger/digestion.json", "clawmem.model.records.digestion:parse_queue",
        "clawmem.model.records.digestion:render_queue",
        DIGESTION, (EVERYONE,),
    )._replace(undo=NEVER),
    _page("agent's page", "agents/*/*.md", places=(OWN,), owner=MIXED, index=PAGE),
    AGENT_NOTE,
    _page("agent's undated note", "agents/*/daily/{undated}.md", places=(OWN,), index=PAGE),
    json_kind(
        "session record", "agents/*/sessions/*.json", "clawmem.model.records.session:parse_session",
        "clawmem.model.records.session:render_session", SESSION, (OWN,),
    )._replace(indexed_as=PAGE),
    json_kind(
        "claims of sessions", "agents/*/claims.json", "clawmem.model.records.claims:parse_claims",
        "clawmem.model.records.claims:render_claims",
        RECORD, (OWN,),
    )._replace(undo=NEVER),
    _page("scratchpad", "agents/*/scratchpads/*.md", places=(OWN,), owner=MIXED),
    yaml_kind("workflow", "workflows/*.yaml", "clawmem.model.records.task:parse_workflow", PARSE),
    _page("wiki page", "wiki/**/*.md", places=(RECORDS,), owner=MIXED, index=PAGE),
    yaml_kind("failure modes", "governance/failures.yaml", "clawmem.model.records.failure:parse_modes", PARSE),
    json_kind(
        "failures", "governance/failures.jsonl", "clawmem.model.records.failure:parse_failures",
        "clawmem.model.forms:render_lines",
        EVENTS, (EVERYONE,),
    )._replace(owner=LOG, limit=LEDGER_BYTES),
    yaml_kind("access policy", "governance/access.yaml", "clawmem.model.records.access:parse_policy", POLICY),
    json_kind(
        "grants", "governance/grants.jsonl", "clawmem.model.records.access:parse_grants",
        "clawmem.model.forms:render_lines", EVENTS, (CONFIGURATION,),
    )._replace(owner=LOG, limit=LEDGER_BYTES, undo=NOTE),
    _page("guardrails page", "governance/GUARDRAILS.md", places=(CONFIGURATION,), owner=MIXED),
    FileKind(
        "task", ("tasks/{task}.md",), "clawmem.model.records.task:parse_task", "clawmem.model.records.task:render_task",
        TASK, TASK, MIXED, PAGE, FILE, (RECORDS,),
    ),
    PROPOSAL_FILE,
    *_in_each_room(),
)  # fmt: skip

# What is done with a file that no row claims: it may be in history, or be somebody else's.
_UNCLAIMED = {
    ".md": _page("unclaimed page", places=()),
    ".json": json_kind("unclaimed JSON", "", "clawmem.model.records.parsing:json_value", AS_WRITTEN, RECORD, ()),
    ".jsonl": json_kind("unclaimed JSON lines", "", "clawmem.model.records.parsing:json_lines", AS_WRITTEN, TEXT, ()),
    ".yaml": yaml_kind("unclaimed YAML", "", "clawmem.model.records.parsing:yaml_value", PARSE)._replace(places=()),
}
_UNKNOWN = _text("unclaimed file", places=())
# Facts in a folder where no entity can be: nobody finds them, but no merge and no half of a move may lose them.
_MISPLACED = ITEMS_FILE._replace(name="misplaced facts", check=PARSE, indexed_as=NONE, undo=FILE, places=())


# The files of clawmem's own extensions. Where the extension is not here, they are kept and synced, and not checked.
OF_EXTENSIONS = {
    "governance/evals/*.yaml": "governance",
    "governance/eval-runs.jsonl": "governance",
    "governance/principles.yaml": "governance",
    "governance/evaluations.jsonl": "governance",
    "governance/alignment.jsonl": "governance",
}


@lru_cache(maxsize=4096)
def file_kind(path: str) -> FileKind | None:
    """The kind of the file at a vault path, or None where no row claims it."""
    if not path.isprintable() or "\\" in path:
        return None
    claims = _claims(rows_for(path.partition("/")[0]), path)
    kind = next((kind for kind in claims if not kind.otherwise), None)
    return kind or _kind_of_extension(path) or (claims[0] if claims else None)


def _claims(rows: tuple[FileKind, ...], path: str) -> list[FileKind]:
    return [kind for kind in rows if any(fits(pattern, path) for pattern in kind.patterns)]


def _kind_of_extension(path: str) -> FileKind | None:
    owner = next((name for pattern, name in OF_EXTENSIONS.items() if fits(pattern, path)), None)
    if owner is not None and not is_present(owner):
        return _by_ending(path)._replace(**_UNREAD, name=f"file of the extension {owner}")
    rows = (kinds_of(extension) for extension in (foreign() if owner is None else (own(owner),)))
    return next((kind for kinds in rows for kind in _claims(kinds, path)), None)


def kinds_of(extension: Extension) -> tuple[FileKind, ...]:
    """The kinds of file that an extension adds."""
    kinds: tuple[FileKind, ...] = named(extension.kinds) if extension.kinds else ()
    return kinds


def all_kinds() -> tuple[FileKind, ...]:
    """The kinds of file of the core, and of the extensions that are here."""
    return (*KINDS, *(kind for extension in extensions() for kind in kinds_of(extension)))


def handling(path: str) -> FileKind:
    """The row that says how to treat a file: its kind's, or one that goes by the ending where no row claims it."""
    kind = file_kind(path)
    if kind is not None:
        return kind
    name = path.rpartition("/")[2]
    if name == ITEMS:
        return _MISPLACED
    if name.startswith(".git"):
        return _UNKNOWN._replace(merge=NAMES)
    return _by_ending(path)


def _by_ending(path: str) -> FileKind:
    ending = "." + path.rpartition("/")[2].rpartition(".")[2]
    return _UNCLAIMED.get(".yaml" if ending == ".yml" else ending, _UNKNOWN)


@lru_cache
def rows_for(first: str) -> tuple[FileKind, ...]:
    """The rows whose paths begin with a folder, or are a file in the vault's root."""
    return tuple(kind for kind in KINDS if any(pattern.partition("/")[0] == first for pattern in kind.patterns))


@lru_cache
def indexed_roots() -> tuple[str, ...]:
    """The folders and files in the vault's root below which the index takes anything in."""
    firsts = (pattern.partition("/")[0] for kind in KINDS if kind.indexed_as != NONE for pattern in kind.patterns)
    return tuple(dict.fromkeys(firsts))


def fits(pattern: str, path: str) -> bool:
    """Whether a path is one that a pattern describes."""
    wanted, items = pattern.split("/"), path.split("/")
    if "**" in wanted:
        at = wanted.index("**")
        after = len(wanted) - at - 1
        if len(items) < at + after:
            return False
        return _each_fits(wanted[:at], items[:at]) and _each_fits(wanted[at + 1 :], items[len(items) - after :])
    return len(wanted) == len(items) and _each_fits(wanted, items)


def _each_fits(wanted: list[str], items: list[str]) -> bool:
    return all(text == other or _name_fits(text, other) for text, other in zip(wanted, items, strict=True))


def _name_fits(wanted: str, name: str) -> bool:
    for mark, holds in _PLACEHOLDERS.items():
        before, found, after = wanted.partition(mark)
        if found:
            inner = name[len(before) : len(name) - len(after)]
            ends = name.startswith(before) and name.endswith(after)
            return bool(inner) and ends and (mark == "{version}" or not is_other_version(name)) and holds(inner)
    return False


def _is_day(text: str) -> bool:
    return len(text) == 10 and text[4] + text[7] == "--" and (text[:4] + text[5:7] + text[8:]).isdecimal()


def is_other_version(name: str) -> bool:
    """Whether a merge gave this name, `<name>.other-<8 hex digits>.<ending>`, to the other version of a file."""
    before, mark, rest = name.rpartition(".other-")
    digits, dot, ending = rest.partition(".")
    return bool(before and mark and dot and ending) and len(digits) == 8 and set(digits) <= set("0123456789abcdef")


_PLACEHOLDERS: dict[str, Callable[[str], bool]] = {
    "*": bool,
    "{day}": _is_day,
    "{undated}": lambda text: not _is_day(text),
    "{root}": ROOTS.__contains__,
    "{version}": is_other_version,
    "{task}": lambda text: text.casefold() != "readme",
}
