"""Split text into sentences and clauses with exact spans. Code, quotations and headings are left out."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from clawmem.learning.english.quotations import quotations

LONGEST_SENTENCE = 600
_FENCE = re.compile(r"^[ \t]*(?:```|~~~)")
_LINE = re.compile(r"[^\r\n]+")
_BULLET = re.compile(r"[ \t]*(?:[-*•+]|\d{1,3}[.)])[ \t]+")
# A run of marks is entered at its beginning only, or it would take quadratic time.
_END = re.compile(
    r"(?:(?<![.!?…])[.!?…]++[\"'”’)\]*]*+|(?<![\U0001F000-\U0001FAFF☀-➿️])[\U0001F000-\U0001FAFF☀-➿️]++)(?=\s|$)"
    r"|(?<=[a-z])[!?](?=[A-Z])"
)
_ABBREVIATION = re.compile(r"(?:\b(?:Dr|Mr|Mrs|Ms|St|Prof|vs|etc|e\.g|i\.e|approx|No|Inc|Jr|Sr|a\.m|p\.m|[A-Z]))\.$")
_CODE_LINE = re.compile(
    r"^(?:[#>|<@$%{}/]|import |from \w+ import|def |class |const |let |var |function|\w+\(.*\)|SELECT )"
)
_CODE_SIGN = re.compile(r"[{};]\s*$|=>|==|</|\(\)|\s=\s|::|\w\[\w+\]|->")

_CLAUSE = re.compile(
    r"(?<!\s)\s++[-–—]{1,3}\s+|—|(?<=[a-z])--?\s+|;\s+|(?:(?<!\s)\s++)?\.{3,}\s*|…\s*|:\s+(?=I\b|[Ww]e\b)"
    r"|(?:,|(?<!\s))\s++(?:and|but|so|though|although|cause|cuz|plus|yet|then|while|whereas|and then|and so|so now|"
    r"but now|and recently|and just)\s+"
    r"(?=(?:I|Im|Ive|I'[a-z]+|I’[a-z]+|[Ww]e|[Ww]e['’][a-z]+|it|it['’]s|that['’]s|this|there|there['’]s|he|she|"
    r"he['’]s|she['’]s"
    r"|they|they['’]re|you|you['’]re|my|our|can|could|do|is (?:it|that|there|this|he|she|the)|"
    r"what|how|now I|now we|hopefully|maybe)\s)"
    r"|,\s+(?=(?:I|Im|Ive|I['’][a-z]+|[Ww]e|[Ww]e['’][a-z]+|it|it['’]s|that['’]s|this|there|he|she|he['’]s|she['’]s|"
    r"they|they['’]re"
    r"|you|you['’]re|can|could|would|which|what|how|so|but|right|thanks|maybe|hopefully|is|are|do|"
    r"does|any)\s)"
    r"|,\s+(?=(?:my|our) (?:new|current) [\w -]{2,30} (?:is|are)\s)"
    r"|,\s+(?=(?:my|our|his|her|their) [\w-]{2,20}(?: [\w-]{2,20})? (?:is|are|was|were|has|had|lives?|works?|"
    r"likes?|loves?|hates?|wants?|owns?|plays?|lived|worked|moved|studies|teaches)\s)"
    r"|,\s+(?=(?:got|went|started|bought|took|finished|recently|just|been)\s)"
    r"|,\s+(?=(?:making|giving|helping|showing|reminding|feeling|letting|bringing|leaving)\s)"
    r"|(?:,|(?<!\s))\s++(?:and|but|so)\s+(?=(?:loved|hated|feel|felt|feeling|am|was so|can't wait|cannot wait|hope|"
    r"think|thought|thank)\b)"
)


# "Last week, I ..." is one clause: its first words say when.
_INTRODUCTION = re.compile(
    r"(?:^|[,!.:;-]\s+)(?:(?:and|but|so|oh|yeah|also|then) )?(?:last|next|this|yesterday|today|tonight|"
    r"tomorrow|earlier|on|in|when|after|before|during|"
    r"since|as|starting|growing up|while|a (?:few|couple)|an?|two|three|four|five|six|\d+|recently|lately|at|"
    r"for|over|by|back|until|every|"
    r"once|one)\b(?! (?:fact|addition|all|general|far|well|usual|always|for me))[^,!.;]{0,45}$",
    re.IGNORECASE,
)


_JOINED = re.compile(r"\b(?:and|but|so|though|although|yet|while|whereas)\b")


class TextSpan(NamedTuple):
    """A part of a text: `text` is the text from `start` to `end`."""

    text: str
    start: int
    end: int


def sentences(text: str) -> Iterator[TextSpan]:
    """Yield the prose sentences of a text in order, without surrounding white space and list marks."""
    fenced = False
    for line in _LINE.finditer(text):
        if _FENCE.match(line[0]):
            # A fence that opens and closes on one line hides only itself.
            fenced ^= line[0].count("```") + line[0].count("~~~") == 1
            continue
        if not fenced and not _is_code(line[0]):
            bullet = _BULLET.match(line[0])
            yield from _in_line(text, line.start() + (bullet.end() if bullet else 0), line.end())


def clauses(sentence: TextSpan) -> Iterator[TextSpan]:
    """Return the parts of a sentence that can stand alone. A quotation is never split."""
    start, quoted = 0, quotations(sentence.text)
    for cut in _CLAUSE.finditer(sentence.text):
        if any(first < cut.start() < last for first, last in quoted):
            continue
        before = sentence.text[max(start, cut.start() - 60) : cut.start()]
        if cut[0].startswith(",") and not _JOINED.search(cut[0]) and _INTRODUCTION.search(before):
            continue
        yield from _trimmed(sentence.text, start, cut.start(), sentence.start)
        start = cut.end()
    yield from _trimmed(sentence.text, start, len(sentence.text), sentence.start)


def sub_span(piece: TextSpan, start: int, end: int) -> TextSpan:
    """Return the part of a span between two of its own offsets, without surrounding white space."""
    return next(_trimmed(piece.text, start, end, piece.start), TextSpan("", piece.start + start, piece.start + start))


def _in_line(text: str, start: int, end: int) -> Iterator[TextSpan]:
    at = start
    for stop in _END.finditer(text, start, end):
        if stop[0] == "." and _ABBREVIATION.search(text, max(at, stop.end() - 8), stop.end()):
            continue
        yield from _trimmed(text, at, stop.end(), 0)
        at = stop.end()
    yield from _trimmed(text, at, end, 0)


def _trimmed(text: str, start: int, end: int, offset: int) -> Iterator[TextSpan]:
    part = text[start:end]
    left = len(part) - len(part.lstrip())
    kept = part.strip()
    if kept:
        first = offset + start + left
        yield TextSpan(kept, first, first + len(kept))


def _is_code(line: str) -> bool:
    stripped = line.strip()
    return bool(_CODE_LINE.match(stripped)) or bool(_CODE_SIGN.search(stripped[:LONGEST_SENTENCE]))
