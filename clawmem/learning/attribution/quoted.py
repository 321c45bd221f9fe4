"""Which words of a message are not its sender's: a text to work on, reported speech, a pasted mail or chat."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice

from clawmem.learning.attribution.fiction import announces, heading, made_up_from, returns
from clawmem.learning.attribution.introductions import (
    asks_at_the_start,
    asks_by_its_line,
    asks_for_work,
    asks_on_its_own,
    asks_only,
    asks_to_play,
    names_a_speaker,
    reports,
    said_before_comma,
)
from clawmem.learning.attribution.pastes import is_heading, pasted, unclear
from clawmem.learning.attribution.reported import reported
from clawmem.learning.english.quotations import Span, never_closed, quotations
from clawmem.learning.english.sentences import TextSpan, sentences, sub_piece

_FARTHEST, _MOST_COLONS = 400, 4

_COLON = re.compile(r":(?=\s|$|[\"“'*_`])|\s[-–—]\s")
_QUOTE = re.compile(r"(?<![\w\"“”])[\"“](?=\S)[^\"“”]{2,4000}?[\"”](?!\w)")
_FIRST_PERSON = re.compile(r"\b(?:I|I'm|I've|[Ww]e|[Mm]y|[Oo]ur)\b")
_FIRST = re.compile(r"\S")
_IN_FIRST_PERSON = re.compile(r"\s*(?:I|I['’]\w+|[Mm]y|[Ww]e|[Ww]e['’]\w+)\b")
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
_SPEAKS = re.compile(r"(?:I|I'm|I’m|I've|I’ve|[Mm]y|[Ww]e)\b")
_SENDER = frozenset(("me", "i", "myself"))


def own_sentences(text: str) -> Iterator[TextSpan]:
    """The prose sentences of a message as far as its sender speaks in them for themself."""
    pieces = list(sentences(text))
    foreign = _foreign(text, pieces)
    ends = [end for _, end in foreign]
    for sentence in pieces:
        at = sentence.start
        for start, end in foreign[bisect_right(ends, sentence.start) :]:
            if start >= sentence.end:
                break
            yield from _between(sentence, at, start)
            at = end
        yield from _between(sentence, at, sentence.end)


def is_own(text: str, start: int, end: int) -> bool:
    """Whether the sender speaks for themself in all of a stretch of a message."""
    foreign = [*_foreign(text, list(sentences(text))), *_speeches(text)]
    return not any(first < end and start < last for first, last in foreign)


def doubtful(text: str) -> list[Span]:
    """Where a message may hold another's words as well as its sender's, so that nobody but a person can tell; in order,
    apart from each other."""
    return _joined([*unclear(text), *_after_another(text)])


def touches(spans: Sequence[Span], start: int, end: int) -> bool:
    """Whether a stretch has a part in one of some spans that are in order and apart."""
    place = bisect_right(spans, start, key=lambda span: span[1])
    return place < len(spans) and spans[place][0] < end


def _after_another(text: str) -> list[Span]:
    """What stands below another's words that a colon announced and nothing closes: they may go on."""
    for sentence in sentences(text):
        for start, end in _after_colon(text, sentence):
            closed = text[start:end].rstrip().endswith(('"', "”", "```", "~~~"))
            if not closed and end < len(text):
                return [(end, len(text))]
    return []


def _foreign(text: str, pieces: Sequence[TextSpan]) -> list[Span]:
    """Where in a message somebody else speaks, or nobody at all; in order, apart from each other."""
    marked = _joined([*_quotations(text), *_mails(text), *_turns(text), *_headed(text), *pasted(text)])
    ends = [end for _, end in marked]
    found: list[Span] = []
    until = 0
    for number, sentence in enumerate(pieces):
        next_one = bisect_right(ends, sentence.start)
        if sentence.start < until or (next_one < len(marked) and marked[next_one][0] <= sentence.start):
            continue
        new = (
            _announced(text, sentence)
            or _after(text, sentence)
            or _around(text, sentence, last=number == len(pieces) - 1)
        )
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


def _between(piece: TextSpan, start: int, end: int) -> Iterator[TextSpan]:
    """The part of a sentence between two places of the message, where there is any."""
    if start <= piece.start and piece.end <= end:
        yield piece
        return
    first, last = max(start, piece.start) - piece.start, min(end, piece.end) - piece.start
    part = sub_piece(piece, first, last) if first < last else None
    if part and part.text:
        yield part


def _announced(text: str, sentence: TextSpan) -> list[Span]:
    """A sentence that announces something made up, and that up to where its teller returns."""
    if not announces(sentence.text.replace("’", "'").rstrip(" .!?*_")):
        return []
    return [(sentence.start, returns(text, sentence.end, _end_of_block(text, sentence.end, len(text)), play=True))]


def _after(text: str, sentence: TextSpan) -> list[Span]:
    """What follows a colon, where the words before it announce another's words, or a comma."""
    announced = _after_colon(text, sentence)
    if announced:
        return announced
    words = sentence.text.replace("’", "'")
    told = said_before_comma(words) or made_up_from(words)
    spans = [(told, len(words))] if told else reported(words)
    return [(sentence.start + start, sentence.start + end) for start, end in spans]


def _after_colon(text: str, sentence: TextSpan) -> list[Span]:
    for colon in islice(_COLON.finditer(sentence.text, 0, _FARTHEST), _MOST_COLONS):
        head, at = sentence.text[: colon.start()].replace("’", "'").strip(" *_"), sentence.start + colon.end()
        if (asks_for_work(head) or _is_part(head, text)) if colon[0] == ":" else asks_only(head):
            return [(at, returns(text, at, _end_of_block(text, at, len(text))))]
        if colon[0] == ":" and (reports(head) or (names_a_speaker(head) and _IN_FIRST_PERSON.match(text, at))):
            line = text.find("\n", at)
            empty = line >= 0 and not text[at:line].strip()
            return [(at, _end_of_block(text, at, len(text) if line < 0 or empty else line))]
    return []


def _is_part(head: str, text: str) -> bool:
    """Whether words before a colon give somebody a part whose words follow; who ends with a question speaks for
    themself ("Act as a doctor: I have a cold, what helps?")."""
    return asks_to_play(head) and not text.rstrip().endswith("?")


def _around(text: str, sentence: TextSpan, last: bool) -> list[Span]:
    """The text that a request without a colon is about: what follows it, or where it comes last, what is before it."""
    words = sentence.text.replace("’", "'").rstrip(" .!?")
    if last:
        return [_before(text, sentence)] if asks_on_its_own(words, back=True) else []
    ends_line = _ENDS_LINE.match(text, sentence.end) is not None
    begins = sentence.text.endswith("?") and _FIRST.search(text, 0, sentence.start) is None
    if (
        (begins and asks_at_the_start(words))
        or asks_on_its_own(words)
        or asks_only(words)
        or (ends_line and asks_by_its_line(words))
    ):
        return [(sentence.end, returns(text, sentence.end, _end_of_block(text, sentence.end, len(text))))]
    return []


def _before(text: str, sentence: TextSpan) -> Span:
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
    """Quotations of more than one sentence in the first person, and those that nothing closes."""
    long = [one for one in _speeches(text) if re.search(r"[.!?]\s|\n", text[one[0] : one[1] - 1])]
    return [*long, *(one for one in never_closed(text) if _FIRST_PERSON.search(text, *one))]


def _speeches(text: str) -> list[Span]:
    """Quotations in the first person."""
    found = [*(one.span() for one in _QUOTE.finditer(text)), *quotations(text)]
    return [one for one in found if _FIRST_PERSON.search(text, *one)]


def _mails(text: str) -> list[Span]:
    head = _MAIL.search(text)
    return [(head.start(), len(text))] if head else []


def _headed(text: str) -> list[Span]:
    start = heading(text)
    return [(start, returns(text, start, len(text), play=True))] if start is not None else []


def _turns(text: str) -> list[Span]:
    """The turns of others in a chat that was pasted, and a line that a single name with a colon begins."""
    turns = list(_TURN.finditer(text))
    count = Counter(turn["who"] for turn in turns)
    chat = len(count) > 1 and max(count.values()) > 1
    ends = [*(turn.start() for turn in turns[1:]), len(text)]
    spans = []
    for turn, end in zip(turns, ends, strict=False):
        line = text.find("\n", turn.end())
        if turn["who"].lower() not in _SENDER and (chat or _is_speaker(turn["who"], text, turn.end())):
            spans.append((turn.start(), end if chat or line < 0 else line))
    return spans


def _is_speaker(label: str, text: str, at: int) -> bool:
    """Whether a label may be the name of who says "I" in what begins there."""
    last = label.split()[-1]
    if label.split()[0] in ("Dear", "Hi", "Hello", "Hey"):
        return False
    if not last[1:].islower() or is_heading(label):
        return False
    return _SPEAKS.match(text, at) is not None
