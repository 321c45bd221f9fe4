"""Trust: how much the source of a statement counts against another one."""

from __future__ import annotations

# What an outsider says: the web, or another program's feed.
EXTERNAL = "external"
# What is said beside it wherever it is served.
OUTSIDE = "from outside, unverified"
# From the least to the most. A fact that says nothing of its source was written by hand or by an older layout.
_RANKS = {EXTERNAL: 0, "tool": 1, "agent": 2, "user": 3}


def rank(trust: str | None) -> int:
    """How much a source counts, 0 to 3; one that is not named counts as the user."""
    return _RANKS.get(trust or "user", 0)


def is_low(trust: str | None) -> bool:
    """Whether what the source says may never replace what a user or an agent said without a person."""
    return rank(trust) <= _RANKS["tool"]


# What a source is called that is a program or a place on the net: the whole word, or the part before : / or a blank.
_NAMES = {
    "external": "external", "web": "external", "http": "external", "https": "external", "browser": "external",
    "website": "external", "webpage": "external", "www": "external", "feed": "external", "rss": "external",
    "tool": "tool", "function": "tool", "mcp": "tool", "shell": "tool", "plugin": "tool",
}  # fmt: skip


def trust_of_source(source: str) -> str | None:
    """The trust that a source's name itself tells of, such as `external` for `web:example.org`; None where it does
    not say."""
    word = source.strip().lower()
    for mark in (":", "/", " "):
        word = word.partition(mark)[0]
    return _NAMES.get(word)


def trusted_as(trust: str | None, source: str, agent: str | None) -> str:
    """The trust of a statement: what was given, at most what its source's name tells of, else who asks."""
    told = trust_of_source(source)
    given = trust or told or ("agent" if agent else "user")
    return given if told is None or rank(given) <= rank(told) else told
