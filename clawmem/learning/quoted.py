"""Which words of a message are not its sender's: a text to work on, reported speech, a pasted mail or chat."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice

from clawmem.learning.introductions import (
    asks_by_its_line,
    asks_for_work,
    asks_on_its_own,
    asks_only,
    reports,
    said_before_comma,
)
from clawmem.learning.sentences import Piece, sentences, sub_piece

Span = tuple[int, int]
_FARTHEST, _MOST_COLONS = 400, 4

_COLON = re.compile(r":(?=\s|$|[\"“'*_`])|\s[-–—]\s")
_QUOTE = re.compile(r"(?<![\w\"“”])[\"“](?=\S)[^\"“”]{2,4000}?[\"”](?!\w)")
_FIRST_PERSON = re.compile(r"\b(?:I|I'm|I've|[Ww]e|[Mm]y|[Oo]ur)\b")
_FIRST = re.compile(r"\S")
_FENCE = re.compile(r"(```|~~~|\"\"\")")
_ENDS_LINE = re.compile(r"[ \t]*\n")
_GAP = re.compile(r"\n[ \t]*\n")
_MAIL = re.compile(
    r"(?m)^(?:-+ ?(?:Original|Forwarded) message.*|(?:From|Von): .+\n(?:.*\n){0,3}?(?:To|Subject|Date|Sent): .*)$", re.I
)
_TURN = re.compile(
    r"(?m)^(?:\[[^\]\n]{3,30}\] ?)?(?P<who>[A-Z][\w.'-]*(?: [A-Z][\w.'-]*){0,2})"
    r"(?: ?\(?\d{1,2}[:.]\d\d[^):\n]{0,12}\)?)?:[ \t]"
)
_SENDER = frozenset(("me", "i", "myself"))
# What stands with a colon before one's own words; any other capitalised word there may be who speaks.
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


def own_sentences(text: str) -> Iterator[Piece]:
    """The prose sentences of a message as far as its sender speaks in them for themself."""
    pieces = list(sentences(text))
    foreign = _foreign(text, pieces)
    ends = [end for _, end in foreign]
    for sentence in pieces:
        kept: Piece | None = sentence
        for start, end in foreign[bisect_right(ends, sentence.start) :]:
            if start >= sentence.end or not kept:
                break
            kept = _without(kept, start, end)
        if kept:
            yield kept


def is_own(text: str, start: int, end: int) -> bool:
    """Whether the sender speaks for themself in all of a stretch of a message."""
    return not any(first < end and start < last for first, last in _foreign(text, list(sentences(text))))


def _foreign(text: str, pieces: Sequence[Piece]) -> list[Span]:
    """Where in a message somebody else speaks, or nobody at all; in order, apart from each other."""
    marked = _joined([*_quotations(text), *_mails(text), *_turns(text)])
    ends = [end for _, end in marked]
    found: list[Span] = []
    until = 0
    for number, sentence in enumerate(pieces):
        next_one = bisect_right(ends, sentence.start)
        if sentence.start < until or (next_one < len(marked) and marked[next_one][0] <= sentence.start):
            continue
        new = _after(text, sentence) or _around(text, sentence, last=number == len(pieces) - 1)
        found += new
        until = max([until, *(end for start, end in new if start >= sentence.start)])
    return _joined([*marked, *found])


def _joined(spans: Iterable[Span]) -> list[Span]:
    joined: list[Span] = []
    for start, end in sorted(spans):
        if joined and start <= joined[-1][1]:
            joined[-1] = (joined[-1][0], max(end, joined[-1][1]))
        else:
            joined.append((start, end))
    return joined


def _without(piece: Piece, start: int, end: int) -> Piece | None:
    """A sentence as far as it stands before such a place, or after it; None where it lies in it."""
    if end <= piece.start or piece.end <= start:
        return piece
    after = start <= piece.start
    kept = sub_piece(piece, end - piece.start, len(piece.text)) if after else sub_piece(piece, 0, start - piece.start)
    return kept if kept.text and (not after or end < piece.end) else None


def _after(text: str, sentence: Piece) -> list[Span]:
    """What follows a colon, where the words before it announce another's words."""
    for colon in islice(_COLON.finditer(sentence.text, 0, _FARTHEST), _MOST_COLONS):
        head, at = sentence.text[: colon.start()].replace("’", "'").strip(" *_"), sentence.start + colon.end()
        if asks_for_work(head) if colon[0] == ":" else asks_only(head):
            return [(at, _end_of_block(text, at, len(text)))]
        if colon[0] == ":" and reports(head):
            line = text.find("\n", at)
            empty = line >= 0 and not text[at:line].strip()
            return [(at, _end_of_block(text, at, len(text) if line < 0 or empty else line))]
    told = said_before_comma(sentence.text.replace("’", "'"))
    return [(sentence.start + told, sentence.end)] if told else []


def _around(text: str, sentence: Piece, last: bool) -> list[Span]:
    """The text that a request without a colon is about: what follows it, or where it comes last, what is before it."""
    words = sentence.text.replace("’", "'").rstrip(" .!?")
    if last:
        return [_before(text, sentence)] if asks_on_its_own(words, back=True) else []
    ends_line = _ENDS_LINE.match(text, sentence.end) is not None
    if asks_on_its_own(words) or asks_only(words) or (ends_line and asks_by_its_line(words)):
        return [(sentence.end, _end_of_block(text, sentence.end, len(text)))]
    return []


def _before(text: str, sentence: Piece) -> Span:
    """The paragraph before a sentence: its own up to it, or the one before where it stands alone."""
    gaps = [0, *(gap.end() for gap in _GAP.finditer(text, 0, sentence.start))]
    alone = not text[gaps[-1] : sentence.start].strip()
    return (gaps[-2] if alone and len(gaps) > 1 else gaps[-1]), sentence.start


def _end_of_block(text: str, at: int, end: int) -> int:
    """Where a text that begins at a place ends: with its closing mark where it has one, else at `end`."""
    first = _FIRST.search(text, at)
    begin = first.start() if first else at
    quote, fence = _QUOTE.match(text, begin), _FENCE.match(text, begin)
    if fence:
        close = text.find(fence[1], fence.end())
        return close + len(fence[1]) if close >= 0 else len(text)
    return quote.end() if quote else end


def _quotations(text: str) -> list[Span]:
    """Quotations of more than one sentence in the first person."""
    return [
        found.span()
        for found in _QUOTE.finditer(text)
        if _FIRST_PERSON.search(found[0]) and re.search(r"[.!?]\s|\n", found[0][:-1])
    ]


def _mails(text: str) -> list[Span]:
    head = _MAIL.search(text)
    return [(head.start(), len(text))] if head else []


def _turns(text: str) -> list[Span]:
    """The turns of others in a chat that was pasted, and a line that a single name with a colon begins."""
    turns = list(_TURN.finditer(text))
    count = Counter(turn["who"] for turn in turns)
    chat = len(count) > 1 and max(count.values()) > 1
    ends = [*(turn.start() for turn in turns[1:]), len(text)]
    spans = []
    for turn, end in zip(turns, ends, strict=False):
        line = text.find("\n", turn.end())
        if turn["who"].lower() not in _SENDER and (chat or _is_speaker(turn["who"], text[turn.end() :])):
            spans.append((turn.start(), end if chat or line < 0 else line))
    return spans


def _is_speaker(label: str, rest: str) -> bool:
    """Whether a label may be the name of who says "I" after it."""
    last = label.split()[-1]
    if label.split()[0] in ("Dear", "Hi", "Hello", "Hey"):
        return False
    heading = last.lower() in _HEADINGS or _ABSTRACT.search(last.lower()) or not last[1:].islower()
    return not heading and re.match(r"(?:I|I'm|I’m|I've|I’ve|[Mm]y|[Ww]e)\b", rest) is not None
