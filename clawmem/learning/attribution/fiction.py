"""Find fiction and writing tasks without a colon: where invented text starts and where the sender speaks again."""

from __future__ import annotations

import re

from clawmem.learning.attribution.introductions import TEXT

_LONGEST = 400
_ADJECTIVES = r"(?:[\w-]+ ){0,4}?"
_OPENING = r"(?:(?:ok|okay|so|now|well|hi|hello|hey|please|alright|and)[,.!]? )*+"
_SHOWN = re.compile(
    rf"{_OPENING}(?:(?:here(?:'s| is| are| comes)|below is|check out|have a look at|take a look at|read|rate|review|"
    rf"continue|complete|finish|extend) (?:my|our|a|an|the|another|one|some) {_ADJECTIVES}{TEXT}|"
    rf"this is (?:my|our|an? (?:excerpt|extract|scene)|the (?:first|opening|next)) {_ADJECTIVES}{TEXT})"
    r"(?: (?:about|called|titled|from|by|so far|for|of|idea)\b[^,;:]*)?",
    re.IGNORECASE,
)
_MADE_UP = re.compile(
    rf"{_OPENING}(?:"
    # The sender plays a role.
    r"(?:(?:let's|let us|can we|could we|shall we|(?:can|could|would) you|i(?:'d like| want)(?: you)? to|we(?:'re| are)"
    r"(?: going to)?) )?(?:please )?(?:(?:do|start|play|begin|try) (?:a |some )?)?role-? ?play\b.*|"
    r"(?:(?:let's|let us|just|please) )*(?:pretend|imagine|make believe)(?: that| for a \w+| with me)*,? "
    r"(?:i|i'm|i've|we|we're)\b.*|"
    r"(?:my|our) (?:(?!(?:fav|least|best)\w*)[\w&-]+ ){0,2}?(?:character|protagonist|narrator|avatar|alter ego)"
    r"(?:'s (?:name|backstory|story))? (?:is|was|has|comes|lives|goes)\b.*|"
    r"once upon a time\b.*|"
    rf"(?:write|tell|compose|draft|create)\b.*\b{TEXT}\b.*\b(?:(?:perspective|point of view|voice) of (?!me\b|my\b)|"
    r"in (?:the )?first person\b).*)",
    re.IGNORECASE,
)
_WITHIN = re.compile(
    r"\b[Ii]n (?:(?:my|our|this|the|a|an) (?:[\w'&-]+ ){0,3}?(?:story|tale|novel|poem|song|dream|nightmare|fantasy|"
    r"role-? ?play|screenplay|scenario)),? (?=(?:I|I'm|I've|we|we're|my|our)\b)"
)
_TO_WRITE = re.compile(
    rf"{_OPENING}(?:(?:(?:can|could|would|will) you (?:please )?|(?:i|we)(?:'d like| want| need| would like)(?: you)?"
    r"(?: to)? |help me (?:to )?)?(?:write|draft|compose|create|make(?: up)?|generate|invent|tell|sing|give|send))\b"
    rf"(?P<what>[^.!?:]*?\b(?:{TEXT}|e-?mail|message|text|reply|bio(?:graphy)?|cv|r[eé]sum[eé]|profile|intro(?:duction)?|"
    r"post|caption|tweet|statement|ad|advert|toast|vows?|speech|joke|review)s?\b[^.!?:]*?) (?:in which|where|whose|"
    r"that|saying|says|stating|states|telling|about how|as if|as though) (?=.*\b(?:I|I'm|we|my)\b)",
    re.IGNORECASE,
)
# Where the sender speaks about the real world again.
_BACK = re.compile(
    r"(?:(?<=[.!?)\]] )|(?<=\n))(?:(?:but|and|so|ok(?:ay)?|anyway)[,.]? )?(?:in real life|irl\b|in reality|out of "
    r"character|ooc\b|back to (?:me|reality|real life)|for real(?:,| now)|by the way|btw\b|about me|for the record|"
    r"(?:please )?remember that|what do you think|(?:can|could|would|will) you (?:please )?(?:improve|check|rate|fix|"
    r"correct|continue|rewrite|translate|make|review|proofread|edit|shorten|finish))",
    re.IGNORECASE,
)


def announces_fiction(words: str) -> bool:
    """Return whether a sentence introduces invented text: it shows a text, starts a role play or names a character."""
    short = len(words) <= _LONGEST
    return short and (_SHOWN.fullmatch(words) is not None or _MADE_UP.fullmatch(words) is not None)


def fiction_start(words: str) -> int | None:
    """Return the offset where invented text starts within a sentence, or None."""
    found = _TO_WRITE.match(words[:_LONGEST]) or _WITHIN.search(words)
    return found.end() if found else None


def fiction_end(text: str, start: int, end: int) -> int:
    """Return the offset where the sender speaks for themself again, or `end`."""
    back = _BACK.search(text, start, end)
    return back.start() if back else end
