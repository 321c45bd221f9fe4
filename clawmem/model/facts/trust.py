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


# What a source is called that is a program, or a channel on which others write: the whole word, or the part before
# : / or a blank.
_NAMES = dict.fromkeys(
    "external web http https browser website webpage www feed rss atom url html htm pdf docx epub ocr scrape crawl "
    "email mail e-mail imap smtp inbox newsletter slack discord telegram whatsapp sms imessage irc mattermost zulip "
    "twitter mastodon reddit forum usenet webhook clipboard attachment upload download".split(),
    EXTERNAL,
) | dict.fromkeys("tool function mcp shell bash terminal stdout stderr log hook plugin".split(), "tool")
# Files that hold pages, mails or logs, whatever they are called.
_SUFFIXES = {
    **dict.fromkeys("html htm xhtml mhtml pdf eml mbox msg rss atom xml epub docx odt rtf vtt srt".split(), EXTERNAL),
    **dict.fromkeys("log out err trace".split(), "tool"),
}


def trust_of_source(source: str) -> str | None:
    """The trust that a source's name itself tells of: `external` for `web:example.org`, an address or `page.html`,
    `tool` for `tool:grep` or `build.log`; None where it does not say."""
    word = source.strip().lower()
    if "://" in word:
        return EXTERNAL
    named = word
    for mark in (":", "/", " "):
        named = named.partition(mark)[0]
    return _NAMES.get(named) or _SUFFIXES.get(word.rpartition(".")[2] if "." in word else "")


def least(*trusts: str | None) -> str | None:
    """The lowest of some limits; None where there is none."""
    given = [one for one in trusts if one is not None]
    return min(given, key=rank) if given else None


def trusted_as(trust: str | None, source: str, agent: str | None) -> str:
    """The trust of a statement: what was given, at most what its source's name tells of, else who asks."""
    told = trust_of_source(source)
    given = trust or told or ("agent" if agent else "user")
    return given if told is None or rank(given) <= rank(told) else told
