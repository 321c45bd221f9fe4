"""Tasks in a text that somebody pastes: a page of a task, or a Markdown checklist."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

from clawmem.errors import InvalidInput, Unreadable
from clawmem.model.language.text import one_line
from clawmem.model.pages.summary import split_front_matter
from clawmem.model.records.parsing import Yaml
from clawmem.model.records.task import parse_task, with_keys

_BOX = re.compile(r"(?P<indent>[ \t]*)(?:[-*+]|\d+[.)])\s+\[(?P<mark>[ xX])\]\s+(?P<words>\S.*)")
_BULLET = re.compile(r"[ \t]*(?:[-*+]|\d+[.)])\s+(?P<words>.*)")


class NewTask(NamedTuple):
    """A task to add: its title, what the text says about it, its criteria with whether each is checked, and whether its
    own box is checked. `page` is the text where it is the page of one task."""

    title: str
    about: str = ""
    acceptance: tuple[tuple[str, bool], ...] = ()
    checked: bool = False
    page: str = ""


def new_tasks(text: str, title: str | None, yaml: Yaml, name: str = "the text") -> tuple[NewTask, ...]:
    """Return the tasks in a text. Raise InvalidInput, naming the line, if it has none, or a value is wrong.

    With a `title`, the text is about one task, and its boxes are the criteria. A text with front matter or a heading
    `Acceptance` is the page of one task. In any other text, each box that is not below another one is a task, and the
    boxes below it are its criteria. A text of one line is a title."""
    text = text.replace("\r\n", "\n").strip("\n")
    lines = text.split("\n")
    if title is None and len(lines) == 1 and not _BOX.match(text):
        return (NewTask(one_line(text)),)
    try:
        page = parse_task(text.encode(), name, yaml)
    except Unreadable as problem:
        raise InvalidInput(problem.message, "Correct that line and add it again; nothing was added.") from None
    if split_front_matter(text)[0] is not None or page.acceptance:
        return (NewTask(title or page.title, page=with_keys(text, {"title": title}) if title else text),)
    boxes = [(number, found) for number, found in enumerate(map(_BOX.match, lines)) if found]
    if title is not None:
        about = "\n".join(line for line in lines if not _BOX.match(line)).strip()
        return (NewTask(title, about, tuple(_box(found) for _, found in boxes)),)
    if not boxes:
        raise InvalidInput(
            "The text has several lines and no checkbox, so it is not clear what its tasks are.",
            "Write each task as `- [ ] title`, or give the title as an argument, and the text with --from.",
        )
    return tuple(_groups(lines, boxes))


def unread_lines(text: str, new: Sequence[NewTask]) -> int:
    """Return how many bullets and empty boxes of a checklist are in none of its tasks."""
    if any(task.page for task in new) or "\n" not in text.strip():
        return 0
    items = [one_line(found["words"]) for found in map(_BULLET.fullmatch, text.splitlines()) if found]
    message = [task.title for task in new] + [words for task in new for words, _ in task.acceptance]
    message += [line.removeprefix("- ") for task in new for line in task.about.splitlines()]
    left = Counter(re.sub(r"^\[[ xX]?\]\s*", "", item) for item in items) - Counter(
        re.sub(r"^\[[ xX]?\]\s*", "", one_line(name)) for name in message
    )
    return left.total()


def _groups(lines: list[str], boxes: list[tuple[int, re.Match[str]]]) -> list[NewTask]:
    """Return a task for each box of the least indent; what is below it belongs to it."""
    width = min(len(found["indent"].expandtabs(4)) for _, found in boxes)
    outer = [(number, found) for number, found in boxes if len(found["indent"].expandtabs(4)) == width]
    stops = [*(number for number, _ in outer[1:]), len(lines)]
    made = []
    for (start, found), stop in zip(outer, stops, strict=True):
        below = [line for line in lines[start + 1 : stop] if line[:1] in (" ", "\t", "")]
        words, checked = _box(found)
        inner = tuple(_box(match) for match in map(_BOX.match, below) if match)
        about = "\n".join(_plain(line) for line in below if not _BOX.match(line)).strip()
        made.append(NewTask(words, about, inner, checked))
    return made


def _box(found: re.Match[str]) -> tuple[str, bool]:
    return one_line(found["words"]), found["mark"] != " "


def _plain(line: str) -> str:
    found = _BULLET.fullmatch(line)
    return f"- {found['words']}" if found else line.strip()
