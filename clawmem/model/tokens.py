"""How many tokens a text has at most, without the vocabulary: a bound that is never below the exact cl100k_base count.

Why it holds. The vocabulary has every byte, every run of one to three digits, and every pair of lower-case letters
but those in LONELY. Merging stops only where no two neighbours make a token, so two tokens of one letter never stand
side by side unless their pair is in LONELY; that bounds a run of letters. A common word with a space before it and
no letter after it is a piece of its own and one token. All other characters count their UTF-8 bytes, which no
encoding exceeds. The bound of texts put together is at most the sum of their bounds where each begins with `-`.
"""

from __future__ import annotations

import re

from clawmem.model.dates import day_of
from clawmem.model.fact import Fact

LONELY = frozenset(
    "bq fj fz gj gk gq hj jg jv jw jx jy jz kq kx kz lq mz nq oq qf qg qj qk qo qy qz rj tj tq uq vq vz wq wv wz xg xh "
    "xj xk xq xu xv xw yf yj yq yv zg zj zq zr zv".split()
)
# A word's end must be sure: what follows is the end or an ASCII character that is no letter, here seen as `after`.
_PIECE = re.compile(r" [A-Za-z][a-z]+(?![^\x00-\x40\x5b-\x60\x7b-\x7f])|[a-z]+|[0-9]+|[^a-z0-9]", re.ASCII)


def context_line(fact: Fact) -> str:
    """The fact as `context` gives it to an agent: one line with when it was true, or else the day it was recorded."""
    return f"- {fact.fact} ({fact_dates(fact)})\n"


def fact_dates(fact: Fact) -> str:
    """When the fact was true where that is known, else the day it was recorded."""
    if fact.valid_from and fact.valid_to:
        return f"{day_of(fact.valid_from)} to {day_of(fact.valid_to)}"
    if fact.valid_from:
        return f"since {day_of(fact.valid_from)}"
    return f"until {day_of(fact.valid_to)}" if fact.valid_to else day_of(fact.timestamp)


def line_tokens(fact: Fact) -> int:
    """The most tokens the fact's line of context can have."""
    return token_bound(context_line(fact))


def token_bound(text: str) -> int:
    """The most cl100k_base tokens the text can have."""
    return sum(_most(piece) for piece in _PIECE.findall(text))


def _most(piece: str) -> int:
    first = piece[0]
    if first == " " and len(piece) > 1:
        from clawmem.model.common_words import COMMON_WORDS  # only writers count tokens

        return 1 if piece[1:] in COMMON_WORDS else 2 - piece[1].islower() + _letters(piece[1:].lstrip(piece[1].upper()))
    if first.isdigit() and first.isascii():
        # A digit of another script may stand beside these and shift the groups of three.
        return -(-len(piece) // 3) + 1
    if "a" <= first <= "z":
        return _letters(piece)
    # An apostrophe may begin a contraction, which cuts a run of letters in two.
    return 2 if first == "'" else len(piece.encode("utf-8", errors="surrogatepass"))


def _letters(run: str) -> int:
    """The most tokens a run of lower-case letters can fall into."""
    # The most for the letters so far, the last of them a token of its own, or part of a longer one.
    alone, joined = 0, 0
    before = ""
    for letter in run:
        beside = alone if before + letter in LONELY or not before else 0
        alone, joined = max(joined, beside) + 1, max(alone, joined)
        before = letter
    return max(alone, joined)
