"""Find pasted text in a message by its structure, not its content.

Logs, lists of keys and markup elements have a clear form. A block next to a short line without first-person words is
unclear: it may be the text that the line is about, or the sender's own words. A person decides in that case.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

Span = tuple[int, int]

_GAP = re.compile(r"\n[ \t]*\n\s*")
_OF_SENDER = re.compile(r"\b(?:I|me|my|mine|myself|we|us|our|ours)\b|\bi['’]?m\b", re.IGNORECASE)
_GREETING = re.compile(
    r"(?:hi|hello|hey|hiya|yo|good (?:morning|afternoon|evening|day)|greetings|hallo|hola|bonjour|salut)"
    r"(?: (?:there|again|you|claude|chatgpt|assistant))?[\s!.,:)]*",
    re.IGNORECASE,
)
_MOST_WORDS = 12
_LETTER = re.compile(r"[ \t]*[A-Z][\w'’.-]*(?:[ \t]+[\w'’.-]+){0,4},[ \t]*(?:\n|$)")
_LOG = re.compile(
    r"[ \t]*(?:\[?\d{4}-\d\d-\d\d[T ]\d\d:\d\d|\[?\d\d:\d\d:\d\d|[A-Z][a-z]{2} +\d{1,2} \d\d:\d\d:\d\d|"
    r"\[?(?:TRACE|DEBUG|INFO|NOTICE|WARN|WARNING|ERROR|FATAL|CRITICAL)\b)"
)
_KEY = re.compile(r"[ \t]*(?:-[ \t]+)?[\"']?[a-z][\w.-]{0,40}[\"']?[ \t]*[:=](?:[ \t]|$)")
_OPENS_BLOCK = re.compile(r"([ \t]*)(?:-[ \t]+)?[\"']?[\w.-]{1,40}[\"']?:[ \t]*[|>]?[-+]?[ \t]*$")
_ELEMENT = re.compile(r"(?m)^[ \t]*<([A-Za-z][\w.:-]{0,60})(?:\s[^<>\n]{0,200})?>")
_LABEL = re.compile(r"\s*(?P<head>[^\n:.!?]{2,60}):\s+(?=\S)")
_SPEAKS = re.compile(r"[\"“']?(?:I|I['’]\w+|[Mm]y|[Ww]e|[Oo]ur)\b")
# Labels of the sender's own words. Any other capitalised word before a colon may be a speaker.
_HEADINGS = frozenset(
    "update updates correction corrections note notes reminder info news status background context situation question "
    "answer goal goals plan plans decision problem summary bio intro job work home location diet hobby hobbies family "
    "health allergy allergies contact name address age language languages stack tools setup project today tomorrow "
    "yesterday ps fyi btw tldr edit heads-up disclaimer preference preferences about me education skills experience "
    "result results task todo ok okay yes no hi hello hey thanks well so also first second third finally again then "
    "now actually honestly true fact facts profile requirements constraint constraints budget deadline issue topic "
    "lesson takeaway til remember important warning".split()
)
_ABSTRACT = re.compile(r"(?:ion|ment|ing|ity|ness|ence|ance|age|ies|ship|ure|ly)s?$")


def is_heading(label: str) -> bool:
    """Return whether a label before a colon introduces the sender's own words, such as `Update`."""
    last = label.split()[-1]
    return last.lower() in _HEADINGS or _ABSTRACT.search(last.lower()) is not None


def pasted_spans(text: str) -> list[Span]:
    """Return the spans of pasted data: markup elements, log lines and lists of keys."""
    return [*_elements(text), *_lines_of_data(text)]


def unclear_signs(text: str) -> list[tuple[Span, str]]:
    """Return the spans that may be the sender's own text or another's, each with the sign of that as a clause."""
    beside = "a short line beside it, such as a title, thanks or a signature, may be about a pasted text"
    return [
        *((pair, "it stands below a salutation, as in a letter") for pair in _letter(text)),
        *((pair, beside) for pair in _next_to_lead(text)),
        *((pair, "the label before it may name who says it") for pair in _after_label(text)),
    ]


def _elements(text: str) -> Iterator[Span]:
    at = 0
    unclosed: set[str] = set()
    while found := _ELEMENT.search(text, at):
        name, at = found[1], found.end()
        end = -1 if name in unclosed else text.rfind(f"</{name}>", at)
        if end < 0:
            unclosed.add(name)
            continue
        at = end + len(name) + 3
        yield found.start(), at


def _lines_of_data(text: str) -> Iterator[Span]:
    """Yield log lines, two or more consecutive lines of keys, and lines indented below a key."""
    keys: list[Span] = []
    below: int | None = None
    for start, end, line in _lines(text):
        indent = len(line) - len(line.lstrip())
        if below is not None and line.strip() and indent > below:
            yield start, end
            continue
        opens = _OPENS_BLOCK.match(line)
        below = len(opens[1]) if opens else below if not line.strip() else None
        if _LOG.match(line):
            yield start, end
        if _KEY.match(line):
            keys.append((start, end))
            continue
        if line.strip():
            yield from keys if len(keys) > 1 else ()
            keys = []
    yield from keys if len(keys) > 1 else ()


def _letter(text: str) -> list[Span]:
    """Return the body below a salutation line, as in a letter."""
    line = text.partition("\n")[0]
    rest = text[len(line) :].strip()
    begins = _LETTER.match(line) and not _OF_SENDER.search(line)
    return [(len(line), len(text))] if begins and rest else []


def _next_to_lead(text: str) -> Iterator[Span]:
    """Yield the blocks next to a short line without first-person words, such as a request, a title or thanks."""
    blocks = [(start, end) for start, end in _blocks(text) if not _GREETING.fullmatch(text[start:end].strip())]
    leads = {block for block in blocks if _is_lead(text[slice(*block)])}
    if leads and len(leads) < len(blocks):
        yield from (block for block in blocks if block not in leads)


def _after_label(text: str) -> list[Span]:
    """Return the first-person sentences after an initial label with a colon, unless the label is a heading."""
    label = _LABEL.match(text)
    if label is None or _OF_SENDER.search(label["head"]) or any(map(is_heading, label["head"].split())):
        return []
    if not _SPEAKS.match(text, label.end()) or not re.search(r"[.!?]\s+\S", text[label.end() :]):
        return []
    return [(label.end(), len(text))]


def _is_lead(block: str) -> bool:
    words = block.split()
    return 0 < len(words) <= _MOST_WORDS and "\n" not in block.strip() and not _OF_SENDER.search(block)


def _blocks(text: str) -> Iterator[Span]:
    """Yield the paragraphs; a short first or last line of a paragraph is a block of its own."""
    start = 0
    for gap in [*_GAP.finditer(text), None]:
        end = gap.start() if gap else len(text)
        if text[start:end].strip():
            yield from _split_lead(text, start, end)
        start = gap.end() if gap else end


def _split_lead(text: str, start: int, end: int) -> Iterator[Span]:
    first, last = text.find("\n", start, end), text.rfind("\n", start, end)
    if first >= 0 and _is_lead(text[start:first]) and not _is_item(text[start:first]):
        yield start, first
        yield first + 1, end
    elif last >= 0 and _is_lead(text[last + 1 : end]) and not _is_item(text[last + 1 : end]):
        yield start, last
        yield last + 1, end
    else:
        yield start, end


def _is_item(line: str) -> bool:
    """Return whether a line is a list item."""
    return re.match(r"[ \t]*(?:[-*•+]|\d{1,3}[.)])[ \t]", line) is not None


def _lines(text: str) -> Iterator[tuple[int, int, str]]:
    start = 0
    for line in text.split("\n"):
        yield start, start + len(line), line
        start += len(line) + 1
