"""How many tokens a text has at most, without the vocabulary: a bound that is never below the exact cl100k_base count.

Why it holds. The vocabulary has every run of one to three digits, every space with a letter after it, and every pair
of lower-case letters but those in LONELY. Merging stops only where no two neighbours make a token, so two tokens of
one letter never stand side by side unless their pair is in LONELY: that bounds a run of letters. A common word with
a space before it and no letter after it is a piece of its own and one token. All else counts its UTF-8 bytes, which
no encoding exceeds. Each part's bound holds whatever stands beside it, so texts put together never exceed the sum.
"""

from __future__ import annotations

import re
from functools import lru_cache

from clawmem.model.facts.fact import Fact, since_or_from
from clawmem.model.facts.trust import EXTERNAL, OUTSIDE_WARNING
from clawmem.model.language.dates import day_of
from clawmem.model.language.text import one_line, visible
from clawmem.model.records.event import Event, display_speaker, trust_limit

LONELY = frozenset(
    "bq fj fz gj gk gq hj jg jv jw jx jy jz kq kx kz lq mz nq oq qf qg qj qk qo qy qz rj tj tq uq vq vz wq wv wz xg xh "
    "xj xk xq xu xv xw yf yj yq yv zg zj zq zr zv".split()
)
# A word before a letter of any script would be part of a longer piece, so only the end or an ASCII character that is
# no letter may follow. Digits after one of another script are grouped from there: the first counts alone.
_DAY = re.compile("[0-9]{4}-[0-9]{2}-[0-9]{2}")
_PIECE = re.compile(
    r" [A-Za-z][a-z]+(?![^\x00-\x40\x5b-\x60\x7b-\x7f])"
    r"|[a-z]+|(?<![^\x00-\x7f])[0-9]+|'[A-Z]|[^a-z]",
)
_NEVER = -(10**6)
_MARK = "clawmem-context"
LONGEST_TURN = 300
_REMARK = f", {OUTSIDE_WARNING}"


def context_line(fact: Fact) -> str:
    """The fact as `context` gives it to an agent: one line with when it was true, or else the day it was said."""
    remark = _REMARK if fact.trust == EXTERNAL else ""
    return f"- {servable(fact.fact)} ({servable(fact_dates(fact))}{remark})\n"


def event_line(event: Event) -> str:
    """What was said, by whom, when, and whether its source is an outsider, as `context` gives it; long texts are
    cut."""
    said = cut(servable(event.text), LONGEST_TURN)
    remark = _REMARK if trust_limit(event) == EXTERNAL else ""
    return f"- {servable(display_speaker(event))}: {said} ({day_of(event.timestamp)}{remark})\n"


def note_line(text: str) -> str:
    """A line that somebody noted as `context` gives it."""
    return f"- {servable(text)}\n"


def servable(text: str) -> str:
    """Any text as one line that cannot end the context it stands in, for a fact may quote the marks around it, and
    that is printed as it was counted."""
    line = visible(one_line(text))
    return line.replace("<", "\N{SINGLE LEFT-POINTING ANGLE QUOTATION MARK}") if _MARK in line.casefold() else line


def cut(text: str, most: int) -> str:
    """The text, or its first `most` characters and a sign that there is more."""
    return text if len(text) <= most else text[:most].rstrip() + "…"


def said_on(fact: Fact) -> str | None:
    """The day on which the fact was said, or None where it does not tell."""
    said = (fact.metadata or {}).get("said_at")
    return day_of(said) if isinstance(said, str) and said else None


def lacks_day(fact: Fact) -> bool:
    """Whether the fact came from an event, and only that tells the day on which it was said."""
    return fact.source_event is not None and not (fact.valid_from or fact.valid_to or said_on(fact))


def said_then(fact: Fact, day: str) -> Fact:
    """The fact with the day on which it was said. Its line was counted with the day it was recorded, and any two days
    take as many tokens; where either is something else, it stays as it is."""
    if not (_DAY.fullmatch(day) and _DAY.fullmatch(day_of(fact.timestamp))):
        return fact
    return fact._replace(metadata={**(fact.metadata or {}), "said_at": day})


def fact_dates(fact: Fact) -> str:
    """When the fact was true where that is known, else the day it was said, else the day it was recorded."""
    if fact.valid_from and fact.valid_to:
        return f"{day_of(fact.valid_from)} to {day_of(fact.valid_to)}"
    if fact.valid_from:
        return f"{since_or_from(fact)} {day_of(fact.valid_from)}"
    return f"until {day_of(fact.valid_to)}" if fact.valid_to else said_on(fact) or day_of(fact.timestamp)


def line_tokens(fact: Fact) -> int:
    """The most tokens the fact's line of context can have."""
    return token_bound(context_line(fact))


def token_bound(text: str) -> int:
    """The most cl100k_base tokens the text can have."""
    return sum(map(_most, _PIECE.findall(text)))


@lru_cache(maxsize=100_000)
def _most(piece: str) -> int:
    if piece[0] == " " and len(piece) > 1:
        from clawmem.model.language.common_words import COMMON_WORDS  # only writers count tokens

        return 1 if piece[1:] in COMMON_WORDS else _letters(piece)
    if "a" <= piece[0] <= "z":
        return _letters(piece)
    if "0" <= piece[0] <= "9":
        return -(-len(piece) // 3)
    # A contraction in capitals may cut the letters after it in two.
    return 3 if len(piece) == 2 else len(piece.encode("utf-8", errors="surrogatepass"))


def _letters(run: str) -> int:
    """The most tokens that letters, and a space before them, can fall into."""
    # The most tokens up to here with the last one a single letter, with a longer one, and either way one letter ago.
    single, longer, earlier = _NEVER, 0, _NEVER
    before = ""
    for letter in run:
        beside = single if before.isupper() or before + letter in LONELY else _NEVER
        single, longer, earlier = 1 + max(longer, beside), 1 + earlier, max(single, longer)
        before = letter
    return max(single, longer)
