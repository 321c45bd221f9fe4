"""Tasks: `tasks/<slug>.md`, a page with front matter and an `## Acceptance` list, which people edit; and workflows:
`workflows/<id>.yaml` declares how one kind of work is done, and `check` finds what is missing.

A task is read leniently and changed by key: what clawmem does not know stays byte for byte.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping
from typing import Annotated, Any, NamedTuple

from clawmem.errors import InvalidInput, Unreadable
from clawmem.model.facts.catalog import STRATEGIES
from clawmem.model.facts.reach import SCOPES
from clawmem.model.forms import ONE_OR_MORE, FilledText, read_in_file, short_for
from clawmem.model.language.text import one_line
from clawmem.model.pages.summary import split_front_matter, yaml_scalar
from clawmem.model.records.entity import is_device
from clawmem.model.records.layout import TASKS
from clawmem.model.records.parsing import Yaml, yaml_value
from clawmem.model.records.parsing import text as page_text

WORKFLOWS = "workflows"
_ID = re.compile(r"[a-z0-9](?:[a-z0-9_-]{0,62}[a-z0-9])?")
_KEYS = ("title", "about", "scopes", "roles", "stages", "states", "adapters", "failure_modes", "conflicts")
STATES = ("open", "working", "review", "done", "rejected")


class Stage(NamedTuple):
    """A stage of a workflow, with what it takes and what it must hand in."""

    name: FilledText
    takes: Annotated[tuple[str, ...], ONE_OR_MORE] = ()
    hands_in: Annotated[tuple[str, ...], ONE_OR_MORE] = ()
    role: str | None = None


class Adapter(NamedTuple):
    """An executable that asks a foreign system, and the input with which it is tried."""

    run: str
    recorded: Mapping[str, Any] | None = None


class Workflow(NamedTuple):
    """A workflow. `scopes` is its scope chain, narrow to broad; `states` says what each state of a task means;
    `extra` are keys that this version does not know. `conflicts` is the strategy for facts of the workflow that
    contradict each other."""

    id: str
    title: str = ""
    about: str = ""
    scopes: Annotated[tuple[Annotated[str, SCOPES], ...], ONE_OR_MORE, lambda scopes: scopes or SCOPES] = SCOPES
    roles: Mapping[str, str] = {}
    stages: tuple[Annotated[Stage, short_for("name")], ...] = ()
    states: Mapping[str, str] = {}
    adapters: Mapping[str, Annotated[Adapter, short_for("run")]] = {}
    failure_modes: Annotated[tuple[str, ...], ONE_OR_MORE] = ()
    conflicts: Annotated[str, STRATEGIES] | None = None
    extra: Mapping[str, Any] = {}

    def stage(self, name: str) -> Stage:
        """Return a stage by name. Raise InvalidInput if the workflow has no such stage."""
        found = next((stage for stage in self.stages if stage.name == name), None)
        if found is None:
            names = ", ".join(stage.name for stage in self.stages) or "no stages"
            raise InvalidInput(f"'{name}' is not a stage of the workflow {self.id}.", f"It has {names}.")
        return found


def check_workflow(text: str) -> str:
    """Return a workflow id. Raise InvalidInput unless it has lower-case letters, digits, `-` and `_` only."""
    if not _ID.fullmatch(text) or is_device(text):
        raise InvalidInput(f"'{text}' is not a workflow id.", "Use lower-case letters, digits, - and _.")
    return text


def workflow_path(workflow: str) -> str:
    """Return the vault path of a workflow."""
    return f"{WORKFLOWS}/{workflow}.yaml"


def parse_workflow(data: bytes, path: str, yaml: Yaml) -> Workflow:
    """Read a workflow. Raise Unreadable if it is no YAML mapping, or a key has the wrong type."""
    record = yaml_value(data, path, yaml)
    name = path.rpartition("/")[2].removesuffix(".yaml")
    return workflow_from_mapping(name, {} if record is None else record, path)


def workflow_from_mapping(name: str, record: Any, path: str) -> Workflow:
    """Return a workflow from plain values. Raise Unreadable, naming the key, if one has the wrong type."""
    try:
        check_workflow(name)
    except InvalidInput as problem:
        raise Unreadable(path, None, problem.message.rstrip(".")) from None
    return read_in_file(Workflow, record, path, id=name)


def missing_in(workflow: Workflow) -> Iterator[str]:
    """Yield a sentence for each thing that a workflow lacks or gets wrong."""
    for key in ("title", "about", "roles", "stages", "states"):
        if not getattr(workflow, key):
            yield f"'{key}' is missing."
    for key in workflow.extra:
        yield f"'{key}' is not a key of a workflow; the keys are {', '.join(_KEYS)}."
    for state in workflow.states:
        if state not in STATES:
            yield f"states.{state} is not a state of a task; the states are {', '.join(STATES)}."
    handed_in = {"task"}
    for at, stage in enumerate(workflow.stages):
        place = f"stages[{at}] ({stage.name})"
        if not stage.hands_in:
            yield f"{place} does not say what it hands in."
        for take in stage.takes:
            if take not in handed_in:
                yield f"{place} takes '{take}', which no earlier stage hands in."
        if stage.role is not None and stage.role not in workflow.roles:
            yield f"{place} has the role '{stage.role}', which 'roles' does not describe."
        handed_in.update(stage.hands_in)
    names = [stage.name for stage in workflow.stages]
    for name in sorted({name for name in names if names.count(name) > 1}):
        yield f"There are {names.count(name)} stages with the name '{name}'."


FOLDER = TASKS
OPEN, WORKING, REVIEW, DONE, REJECTED = STATES
CLOSED = (DONE, REJECTED)
PASS, REJECT = "pass", "reject"
VERDICTS = {PASS: DONE, REJECT: REJECTED}
FIRST, LAST, USUAL = 1, 5, 3
HELD_BY = ", held by "
"""The priorities: 1 comes first, 5 last; 3 is that of a task that names none."""

_TEXTS = (
    "title",
    "workflow",
    "holder",
    "since",
    "verdict",
    "decided",
    "decided_by",
    "reason",
    "origin",
    "url",
    "foreign",
)
KEYS = (*_TEXTS, "state", "priority")
_HEADING = re.compile(r"(?P<marks>#{1,6})\s+(?P<words>.*?)\s*#*\s*")
_ACCEPTANCE = re.compile(r"acceptance(?: criteria| list)?:?", re.IGNORECASE)
_BULLET = re.compile(r"(?P<indent>\s*)(?:[-*+]|\d+[.)])\s+(?P<rest>.*)")
_BOX = re.compile(r"\[(?P<mark>[ xX])\](?:\s+(?P<words>.*))?")
_WRONG_BOX = re.compile(r"\[\S?\](?:\s|$)")
_FENCE = re.compile(r"\s*(?P<marks>`{3,}|~{3,})")
_KEY = re.compile(r"(?!- )(?P<key>[^\s:#][^:]*?)\s*:(?:\s|$)")


class AcceptanceItem(NamedTuple):
    """One criterion of a task: its text on one line, whether its box is checked, and its line in the file, from 1."""

    text: str
    checked: bool
    line: int


class Task(NamedTuple):
    """A task. `priority` is 1 (first) to 5. `since` is when clawmem last changed its state, ISO 8601 UTC.

    `verdict` (`pass` or `reject`), `decided`, `decided_by` and `reason` say how it was closed; a task whose state a
    person changed with an editor has none of them. `origin` is `<workflow>/<adapter>:<id>` where an adapter brought it,
    `url` its address there, and `foreign` what the foreign system said last, as JSON. `body` is the page below the
    front matter, `extra` the keys that this version does not know, and `page` the whole file."""

    slug: str
    title: str
    state: str = OPEN
    workflow: str | None = None
    holder: str | None = None
    priority: int = USUAL
    since: str | None = None
    verdict: str | None = None
    decided: str | None = None
    decided_by: str | None = None
    reason: str | None = None
    origin: str | None = None
    url: str | None = None
    foreign: str | None = None
    acceptance: tuple[AcceptanceItem, ...] = ()
    body: str = ""
    extra: Mapping[str, Any] = {}
    page: str = ""

    @property
    def path(self) -> str:
        """Return the vault path of the task."""
        return task_path(self.slug)

    @property
    def ruling(self) -> str | None:
        """Return `pass` or `reject` for a closed task, whoever closed it and however; None for one that is not."""
        return next((verdict for verdict, state in VERDICTS.items() if state == self.state), None)


def task_line(task: Task) -> str:
    """Return what a task is in one line, by which it is found: its state, workflow, priority, holder and title. The
    lines of open tasks sort by priority."""
    about = f"{task.state} task, priority {task.priority}{f', of {task.workflow}' if task.workflow else ''}"
    decided = f", {task.reason}" if task.reason else ""
    return one_line(f"{about}{f'{HELD_BY}{task.holder}' if task.holder else ''}: {task.title}{decided}")


def is_open_for(line: str, names: Collection[str] | None, free: bool) -> bool:
    """Return whether the line of a task is of one that is open or under way and that one of these holds (None: whoever
    holds it), or if `free` nobody."""
    head = line.partition(": ")[0]
    _, held, holder = head.partition(HELD_BY)
    theirs = (free and not held) or names is None or not set(holder.lower().split()).isdisjoint(names)
    return theirs and head.startswith((f"{OPEN} ", f"{WORKING} "))


def task_path(slug: str) -> str:
    """Return the vault path of a task."""
    return f"{FOLDER}/{slug}.md"


def parse_task(data: bytes, path: str, yaml: Yaml) -> Task:
    """Read a task. Raise Unreadable, naming line and key, if the front matter does not end, a value is none that the
    key takes, or a box is wrong.

    A page without front matter is an open task with the title of its first heading."""
    page = page_text(data, path, yaml)
    front, body = split_front_matter(page)
    if front is None and page.lstrip("\ufeff").partition("\n")[0].rstrip() == "---":
        raise Unreadable(path, 1, "the front matter does not end: a line `---` is missing")
    other_record = _front(front, path, yaml)
    _refuse_other_forms(front or "", other_record, path)
    slug = path.rpartition("/")[2].removesuffix(".md")
    record: dict[str, Any] = {}
    for key in KEYS:
        try:
            record[key] = _value(other_record, key)
        except InvalidInput as problem:
            raise Unreadable(path, line_of(page, key), problem.message) from None
    first = page.count("\n", 0, len(page) - len(body)) + 1
    title = record.pop("title") or _first_heading(body) or slug.replace("-", " ")
    items = tuple(_acceptance(body, first, path))
    extra = {key: value for key, value in other_record.items() if key not in KEYS}
    return Task(slug, title, **record, acceptance=items, body=body, extra=extra, page=page)


def render_task(task: Task) -> bytes:
    """The file of a task that `parse_task` gave."""
    return task.page.encode()


def new_page(
    title: str, keys: Mapping[str, Any], about: str = "", acceptance: tuple[tuple[str, bool], ...] = ()
) -> str:
    """Return the page of a new task. `acceptance` are texts, each with whether its box is checked."""
    head = with_keys("", {"title": title, "state": OPEN, **keys})
    boxes = "\n".join(f"- [{'x' if checked else ' '}] {words}" for words, checked in acceptance)
    parts = (f"# {title}", about.strip(), f"## Acceptance\n\n{boxes}" if boxes else "")
    return head + "\n" + "\n\n".join(filter(None, parts)) + "\n"


def with_keys(page: str, keys: Mapping[str, Any]) -> str:
    """Return the page with these keys of the front matter set, or removed where the value is None.

    Every other line stays as it is, comments too. A new key goes to the end of the front matter."""
    for key, value in keys.items():
        page = with_lines(page, key, [] if value is None else [f"{key}: {_scalar(value)}"])
    return page


def with_lines(page: str, key: str, written: list[str]) -> str:
    """Return the page with these lines in place of those of a key of the front matter."""
    front, body = split_front_matter(page)
    head = "" if front is None else page[: len(page) - len(body)]
    end = "\r\n" if "\r\n" in head else "\n"
    lines = (front or "").splitlines()
    start, stop = _place(lines, key)
    lines[start:stop] = written
    return end.join(["---", *lines, "---", ""]) + body


def line_of(page: str, key: str) -> int | None:
    """Return the line, from 1, of a key of the front matter; None if it is not there."""
    front, _ = split_front_matter(page)
    lines = (front or "").splitlines()
    start, stop = _place(lines, key)
    return start + 2 if start < stop else None


def key_lines(page: str) -> dict[str, str]:
    """Return the keys of the front matter in their order, each with its lines as they are written."""
    front, _ = split_front_matter(page)
    lines = (front or "").splitlines()
    names = [found["key"].strip("\"'") for found in map(_KEY.match, lines) if found]
    return {name: "\n".join(lines[slice(*_place(lines, name))]).rstrip() for name in names}


def task_warnings(task: Task) -> Iterator[tuple[int | None, str]]:
    """Yield what does not fit together in a readable task, each with its line."""
    if task.state == WORKING and task.holder is None:
        yield line_of(task.page, "state"), "The task is in work, and the key 'holder' names nobody."
    if task.verdict is not None and VERDICTS[task.verdict] != task.state:
        text = f"The verdict is {task.verdict}, and the state is {task.state}."
        yield line_of(task.page, "verdict"), text


def _front(front: str | None, path: str, yaml: Yaml) -> Mapping[Any, Any]:
    if front is None:
        return {}
    try:
        record = yaml(front, path)
    except Unreadable as problem:
        # The reader counts from the line below the opening fence.
        text = problem.message.partition(" cannot be read: ")[2].rstrip(".")
        raise Unreadable(path, problem.line + 1 if problem.line else None, text) from None
    if record is not None and not isinstance(record, Mapping):
        raise Unreadable(path, 2, "its front matter contains no keys and values")
    return record or {}


def _refuse_other_forms(front: str, record: Mapping[Any, Any], path: str) -> None:
    """Raise Unreadable where a key is not alone on its line, or occurs twice: a change of it would go wrong."""
    seen: set[str] = set()
    for number, line in enumerate(front.splitlines(), 2):
        found = _KEY.match(line)
        name = found["key"].strip("\"'") if found else ""
        if name in seen:
            raise Unreadable(path, number, f"the key '{name}' occurs twice")
        seen |= {name} if found else set()
    other = next((key for key in record if str(key) not in seen or not isinstance(key, str)), None)
    if other is not None:
        raise Unreadable(path, 2, f"the key '{other}' does not begin a line as plain text")


def _value(record: Mapping[Any, Any], key: str) -> Any:
    value = record.get(key)
    if key == "priority":
        return _priority(value)
    if value is not None and not isinstance(value, str):
        raise InvalidInput(f"the key '{key}' is not text; put it in quotes")
    words = one_line(value or "")
    if key == "state":
        return _one_of(words.lower() or OPEN, STATES, key)
    return _one_of(words.lower(), (*VERDICTS,), key) if key == "verdict" and words else words or None


def _one_of(word: str, among: tuple[str, ...], key: str) -> str:
    if word not in among:
        raise InvalidInput(f"the key '{key}' is '{word}'; it is one of {', '.join(among)}")
    return word


def _priority(value: Any) -> int:
    if value is None:
        return USUAL
    if isinstance(value, bool) or not isinstance(value, int) or not FIRST <= value <= LAST:
        raise InvalidInput(f"the key 'priority' is '{value}'; it is a number from {FIRST} (first) to {LAST}")
    return value


def _scalar(value: Any) -> str:
    """Return a value of the front matter: a plain word as it is, any other text in quotes."""
    plain = isinstance(value, int) or value in STATES or value in VERDICTS
    return str(value) if plain else yaml_scalar(one_line(str(value)))


def _place(lines: list[str], key: str) -> tuple[int, int]:
    """Return where the lines of a key start and stop; at the end of all lines if there is none."""
    for start, line in enumerate(lines):
        found = _KEY.match(line)
        if found and found["key"].strip("\"'") == key:
            stop = start + 1
            while stop < len(lines) and (lines[stop][:1] in (" ", "\t") or lines[stop].startswith("- ")):
                stop += 1
            return start, stop
    return len(lines), len(lines)


def _first_heading(body: str) -> str | None:
    found = (_HEADING.fullmatch(line) for line in body.splitlines())
    return next((one_line(match["words"]) for match in found if match and match["words"]), None)


def _acceptance(body: str, first: int, path: str) -> Iterator[AcceptanceItem]:
    """Yield the items below each heading `Acceptance`. `first` is the line of the file with which the body starts."""
    item: AcceptanceItem | None = None
    apart = False
    for number, line in _accepted_lines(body):
        begun = _item(line, first + number, path)
        if begun is not None:
            yield from _whole(item)
            item = begun
        elif item is not None and line.strip():
            bullet = _BULLET.fullmatch(line)
            more = "" if apart and line[0] not in " \t" else bullet["rest"] if bullet else line
            item = item._replace(text=one_line(f"{item.text} {more}"))
        apart = not line.strip()
    yield from _whole(item)


def _whole(item: AcceptanceItem | None) -> Iterator[AcceptanceItem]:
    if item is not None and item.text:
        yield item


def _item(line: str, number: int, path: str) -> AcceptanceItem | None:
    """Return the item that a line begins: each box, and each bullet that is not below another one."""
    found = _BULLET.fullmatch(line)
    if found is None:
        return None
    box = _BOX.fullmatch(found["rest"])
    if box is not None:
        return AcceptanceItem(one_line(box["words"] or ""), box["mark"] != " ", number)
    if _WRONG_BOX.match(found["rest"]):
        wrong = found["rest"].partition("]")[0]
        raise Unreadable(path, number, f"the box '{wrong}]' below Acceptance is neither [ ] nor [x]")
    return None if found["indent"] else AcceptanceItem(one_line(found["rest"]), False, number)


def _accepted_lines(body: str) -> Iterator[tuple[int, str]]:
    """Yield the lines below each heading `Acceptance`, from 0, without fenced code."""
    depth, fence = 0, ""
    for number, line in enumerate(body.split("\n")):
        line = line.rstrip("\r")
        mark = _FENCE.match(line)
        if mark and (not fence or mark["marks"].startswith(fence)):
            fence = "" if fence else mark["marks"]
            continue
        heading = None if fence else _HEADING.fullmatch(line)
        if heading:
            level = len(heading["marks"])
            if _ACCEPTANCE.fullmatch(heading["words"]):
                depth = level
            elif level <= depth:
                depth = 0
        elif depth and not fence and not line.lstrip().startswith("<!--"):
            yield number, line
