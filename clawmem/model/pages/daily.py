"""Daily notes: one page per day with one line per note, in the vault's own folder or an agent's."""

from __future__ import annotations

import re
from collections.abc import Callable

from clawmem.model.language.text import LIST_MARK
from clawmem.model.named_tuple import NamedTuple

_LINE = re.compile(rf"^\s*(?:{LIST_MARK}(?:\s+|$))?(?:\[[ xX]\]\s*)?(?:(\d{{1,2}}:\d{{2}})\s+)?(.*?)\s*$")
_PATH = re.compile(r"(?:agents/([^/]+)/)?daily/(\d{4}-\d{2}-\d{2})\.md")
_GENERATED = re.compile(r"<!-- clawmem:begin -->.*?(?:<!-- clawmem:end -->|\Z)", re.DOTALL)
# What nothing closes is taken in one piece, or each opening would be looked for to the end.
_COMMENT = re.compile(r"<!--.*?-->|(?P<open><!--.*)", re.DOTALL)


# How the line of a note begins that a request to forget has hidden.
HIDDEN_LINE = "<!-- hidden by "


class NoteLine(NamedTuple):
    """One note: the time of day (`HH:MM`), if given, and the text."""

    time: str | None
    text: str


def daily_path(day: str, agent: str | None = None) -> str:
    """Return the vault path of a day's note."""
    return f"agents/{agent}/daily/{day}.md" if agent else f"daily/{day}.md"


def day_and_agent(path: str) -> tuple[str, str | None] | None:
    """Return the day and the agent (None: the vault's own) of a daily note's path, or None for another path."""
    found = _PATH.fullmatch(path)
    return (found[2], found[1]) if found else None


def with_line(page: str, day: str, line: str) -> str:
    """Return the page with a line at its end; a new page starts with the day as its title."""
    start = page if page.strip() else f"# {day}\n\n"
    return start + ("" if start.endswith("\n") else "\n") + line + "\n"


# What MEMORY.md of a new vault says: nobody's memory.
MEMORY_TEMPLATE = "What matters most, in a few lines: the first thing an agent reads. You may write here too."


def note_lines(page: str) -> tuple[NoteLine, ...]:
    """Return the notes of a page, without headings, comments and the part that clawmem generated."""
    lines = []
    for line in _own_lines(page):
        if line.lstrip().startswith(("#", "---", ">", "|", "```")):
            continue
        found = _LINE.match(line)
        if found and found[2]:
            lines.append(NoteLine(found[1], found[2]))
    return tuple(lines)


def written_lines(page: str) -> tuple[str, ...]:
    """Return the lines that people wrote on a page of the wiki, each without its mark: headings, quotations and rows of
    tables, too, but no front matter, comments and generated parts."""
    from clawmem.model.pages.summary import split_front_matter  # loads much, and few pages are of the wiki

    _, body = split_front_matter(page)
    lines = []
    for line in _own_lines(body):
        found = _LINE.match(line.strip().strip("#>| \t"))
        if found and any(map(str.isalnum, found[2])):
            lines.append(found[2])
    return tuple(lines)


def _own_lines(page: str) -> list[str]:
    return _COMMENT.sub(lambda found: found["open"] or "", _GENERATED.sub("", page)).splitlines()


def without_notes(page: str, why: str, is_gone: Callable[[str], bool]) -> str:
    """Return the page with each note whose text is gone in a comment that says why. Comments are not served."""
    gone = {note_line.text for note_line in note_lines(page) if is_gone(note_line.text)}
    lines = page.split("\n")
    for place, line in enumerate(lines if gone else ()):
        found = _LINE.match(line)
        if found and found[2] in gone:
            lines[place] = f"<!-- {why}: {line.strip().replace('--', '- -')} -->"
    return "\n".join(lines)


def with_notes_back(page: str, why: str) -> str:
    """Return the page with the notes that `without_notes` hid for this reason."""
    return re.sub(rf"^<!-- {re.escape(why)}: (.*) -->$", r"\1", page, flags=re.MULTILINE)
