"""An upper bound on the cl100k_base tokens of a text that needs no vocabulary and is never below the exact count.

Why it is correct: The vocabulary contains every run of one to three digits, every space with a letter after it, and
every pair of lower-case letters except those in LONELY. Merging stops only if no two neighbours form a token. So two
tokens of one letter are never adjacent unless their pair is in LONELY, which bounds a run of letters. A common word
with a space before it and no letter after it is one token. Everything else counts its UTF-8 bytes, which no encoding
exceeds. The bound of each part is independent of its neighbours, so joined texts never exceed the sum.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from functools import lru_cache

from clawmem.model.facts.fact import EXTERNAL, OUTSIDE_WARNING, Fact, since_or_from
from clawmem.model.facts.fact_words import labels
from clawmem.model.language.dates import day_of
from clawmem.model.language.text import one_line, shorten, visible
from clawmem.model.records.event import Event, display_speaker, trust_limit
from clawmem.model.search.passage import excerpt_place

LONELY = frozenset(
    "bq fj fz gj gk gq hj jg jv jw jx jy jz kq kx kz lq mz nq oq qf qg qj qk qo qy qz rj tj tq uq vq vz wq wv wz xg xh "
    "xj xk xq xu xv xw yf yj yq yv zg zj zq zr zv".split()
)
# A word before a letter of any script would be part of a longer piece, so only the end or an ASCII character
# other than a letter may follow. Digits after a digit of another script are grouped from there: the first counts alone.
_DAY = re.compile("[0-9]{4}-[0-9]{2}-[0-9]{2}")
_PIECE = (
    r" [A-Za-z][a-z]+(?![^\x00-\x40\x5b-\x60\x7b-\x7f])"
    r"|[a-z]+|(?<![^\x00-\x7f])[0-9]+|'[A-Z]|[^a-z]"
)
_NEVER = -(10**6)
_MARK = "clawmem-context"
# The most characters of a turn in a line of context: what people said, and the answers of assistants and tools, which
# are long and seldom what is asked for.
LONGEST_TURN, LONGEST_ANSWER = 1000, 300
_REMARK = f", {OUTSIDE_WARNING}"


def context_line(fact: Fact, label: str = "") -> str:
    """Return the fact as a line of context: when it was true or said, the label of its scope, its own labels."""
    remarks = ", ".join([fact_dates(fact), *([label] if label else []), *labels(fact)])
    return f"- {servable(fact.fact)} ({servable(remarks)})\n"


def label_part(label: str) -> str:
    """Return the part of a line that names the scope of the fact; empty without a label."""
    return f", {servable(label)}" if label else ""


def event_line(event: Event, words: Sequence[str] = ()) -> str:
    """Return an event as a line of context: speaker, text (shortened), day, and a warning for text from outside.

    Of a long text, the part with most of some words in lower case is shown, or the beginning if there are none.
    """
    return counted_event_line(event, words)[0]


def counted_event_line(
    event: Event, words: Sequence[str] = (), tokens: int | None = None, counts: bytes | None = None
) -> tuple[str, int | None]:
    """Return an event as a line of context, and the tokens of that line, or None if they are not known.

    `tokens` are those of the line without words, and `counts` is what `word_counts` returned for the event.
    """
    speaker, text, rest = _event_parts(event)
    most = _most_characters(event)
    if len(text) <= most or not words:
        return f"{speaker} {shorten(text, most)}{rest}", tokens
    begin, end = excerpt_place(text, words, most)
    shown = f"{'… ' if begin else ''}{text[begin:end]}{' …' if end < len(text) else ''}"
    return f"{speaker} {shown}{rest}", _excerpt_tokens(text, begin, end, counts) if counts else None


def word_counts(event: Event, count: Callable[[str], int]) -> bytes | None:
    """Return the tokens of what surrounds a text that is too long for a line, and of each of its words, or None if it
    is short enough. No token crosses the space before a word, so the tokens of any part are the sum of its words'."""
    speaker, text, rest = _event_parts(event)
    if len(text) <= _most_characters(event):
        return None
    from array import array  # few texts are so long

    counts = [count(f"{speaker}{rest}"), *(count(f" {word}") for word in text.split(" "))]
    return array("H", counts).tobytes() if max(counts) < 1 << 16 else None


def _excerpt_tokens(text: str, begin: int, end: int, counts: bytes) -> int | None:
    """Return the tokens of a line with a part of a text, or None if the part cuts a word or the counts do not fit."""
    from array import array  # few texts are so long

    known = array("H", counts)
    whole_words = (not begin or text[begin - 1] == " ") and (end == len(text) or text[end] == " ")
    if not whole_words or len(known) != text.count(" ") + 2:
        return None
    first = text.count(" ", 0, begin) + 1
    words = known[first : first + text.count(" ", begin, end) + 1]
    return known[0] + sum(words) + bool(begin) + (end < len(text))  # an ellipsis is one token


def _most_characters(event: Event) -> int:
    return LONGEST_TURN if event.role in ("user", "note") else LONGEST_ANSWER


def _event_parts(event: Event) -> tuple[str, str, str]:
    """Return what stands before the text of an event in its line, the text, and what stands after it."""
    remark = _REMARK if trust_limit(event) == EXTERNAL else ""
    return f"- {servable(display_speaker(event))}:", servable(event.text), f" ({day_of(event.timestamp)}{remark})\n"


def note_line(text: str) -> str:
    """Return a note as a line of context."""
    return f"- {servable(text)}\n"


def servable(text: str) -> str:
    """Return text as one printable line that cannot end its context, even if it quotes the context's marks."""

    line = visible(one_line(text))
    return line.replace("<", "\N{SINGLE LEFT-POINTING ANGLE QUOTATION MARK}") if _MARK in line.casefold() else line


def said_on(fact: Fact) -> str | None:
    """Return the day on which the fact was said, or None if it is unknown."""
    value = (fact.metadata or {}).get("said_at")
    return day_of(value) if isinstance(value, str) and value else None


def lacks_day(fact: Fact) -> bool:
    """Return whether the day on which a fact was said is only known from its event."""
    return fact.source_event is not None and not (fact.valid_from or fact.valid_to or said_on(fact))


def with_said_day(fact: Fact, day: str) -> Fact:
    """Return the fact with the day on which it was said.

    The token count of its line stays correct, because all days have equally many tokens. If the day or the recording
    time is not a day, the fact is not changed.
    """
    if not (_DAY.fullmatch(day) and _DAY.fullmatch(day_of(fact.timestamp))):
        return fact
    return fact._replace(metadata={**(fact.metadata or {}), "said_at": day})


def fact_dates(fact: Fact) -> str:
    """Return when the fact was true if known, else the day it was said, else the day it was recorded."""
    if fact.valid_from and fact.valid_to and day_of(fact.valid_from) == day_of(fact.valid_to):
        return f"on {day_of(fact.valid_to)}"
    if fact.valid_from and fact.valid_to:
        return f"{day_of(fact.valid_from)} to {day_of(fact.valid_to)}"
    if fact.valid_from:
        return f"{since_or_from(fact)} {day_of(fact.valid_from)}"
    return f"until {day_of(fact.valid_to)}" if fact.valid_to else said_on(fact) or day_of(fact.timestamp)


def line_tokens(fact: Fact) -> int:
    """Return an upper bound of the tokens of the fact's line of context."""
    return token_bound(context_line(fact))


def token_bound(text: str) -> int:
    """Return an upper bound of the text's cl100k_base tokens."""
    return sum(map(_most, re.findall(_PIECE, text)))  # compiled only where tokens are counted


@lru_cache(maxsize=100_000)
def _most(piece: str) -> int:
    if piece[0] == " " and len(piece) > 1:
        from clawmem.model.language.languages import word_list  # only needed for counting

        return 1 if piece[1:] in word_list("common") else _letters(piece)
    if "a" <= piece[0] <= "z":
        return _letters(piece)
    if "0" <= piece[0] <= "9":
        return -(-len(piece) // 3)
    # A contraction in capitals may split the letters after it.
    return 3 if len(piece) == 2 else len(piece.encode("utf-8", errors="surrogatepass"))


def _letters(run: str) -> int:
    """Return the most tokens for a run of letters with an optional space before it."""
    # The most tokens up to here if the last one is a single letter, if it is longer, and either way one letter ago.
    single, longer, earlier = _NEVER, 0, _NEVER
    before = ""
    for letter in run:
        beside = single if before.isupper() or before + letter in LONELY else _NEVER
        single, longer, earlier = 1 + max(longer, beside), 1 + earlier, max(single, longer)
        before = letter
    return max(single, longer)
