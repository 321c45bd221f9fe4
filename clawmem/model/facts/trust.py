"""Trust: how much a statement's source counts in comparison with other sources.

What must not fade: health, who somebody is, and standing orders. `remember` and learning ask the same function.
"""

from __future__ import annotations

import re
from functools import lru_cache

from clawmem.model.facts.fact import Fact, is_given_by_person

# The trust of outsiders: the web, or another program's feed.
EXTERNAL = "external"
# The warning wherever such a fact is served.
OUTSIDE_WARNING = "from outside, unverified"
# From the least to the most. A fact without trust was written by hand or by an older version.
_RANKS = {EXTERNAL: 0, "tool": 1, "agent": 2, "user": 3}


def trust_rank(trust: str | None) -> int:
    """Return the rank of a trust level, 0 to 3; a missing one counts as the user."""
    return _RANKS.get(trust or "user", 0)


def is_low_trust(trust: str | None) -> bool:
    """Return whether a source's statements may not replace those of a user or an agent without a person's approval."""
    return trust_rank(trust) <= _RANKS["tool"]


# Names of sources that are programs, or channels on which others write: the whole name, or the part before the first
# colon, slash or blank.
_NAMES = dict.fromkeys(
    "external web http https browser website webpage www feed rss atom url html htm pdf docx epub ocr scrape crawl "
    "email mail e-mail imap smtp inbox newsletter slack discord telegram whatsapp sms imessage irc mattermost zulip "
    "twitter mastodon reddit forum usenet webhook clipboard attachment upload download".split(),
    EXTERNAL,
) | dict.fromkeys("tool function mcp shell bash terminal stdout stderr log hook plugin".split(), "tool")
# Extensions of files that contain pages, mails or logs.
_SUFFIXES = {
    **dict.fromkeys("html htm xhtml mhtml pdf eml mbox msg rss atom xml epub docx odt rtf vtt srt".split(), EXTERNAL),
    **dict.fromkeys("log out err trace".split(), "tool"),
}
# Words for the origin of a statement: the user stated it, the user corrected it, or an agent's extractor found it.
# The first two say nothing that the caller cannot say: what an agent stores keeps the trust of the agent.
USER_STATED, CORRECTION, MEMORY_EXTRACTOR = "user_stated", "correction", "memory_extractor"


@lru_cache(maxsize=4096)
def trust_of_source(source: str) -> str | None:
    """Return the trust that a source's name implies, or None.

    It is `external` for `web:example.org`, an address or `page.html`, `tool` for `tool:grep` or `build.log`, and
    `agent` for `memory_extractor:AGENT`.
    """
    word = source.strip().lower()
    if "://" in word:
        return EXTERNAL
    named = word
    for mark in (":", "/", " "):
        named = named.partition(mark)[0]
    if named == MEMORY_EXTRACTOR:
        return "agent"
    return _NAMES.get(named) or _SUFFIXES.get(word.rpartition(".")[2] if "." in word else "")


def agent_of_source(source: str) -> str | None:
    """Return the agent that the source `memory_extractor:AGENT` names, or None."""
    word, _, agent = source.strip().lower().partition(":")
    named = agent.replace("-", "").replace("_", "").isalnum() and agent.isascii()
    return agent if word == MEMORY_EXTRACTOR and named else None


def source_name(fact: Fact) -> str:
    """Return how a statement came in: `user_stated`, `correction`, or `memory_extractor:AGENT`; else its source."""
    if fact.source in (USER_STATED, CORRECTION) or agent_of_source(fact.source):
        return fact.source
    if is_given_by_person(fact):
        return CORRECTION if any(link.type == "supersedes" for link in fact.links) else USER_STATED
    return f"{MEMORY_EXTRACTOR}:{fact.agent or 'clawmem'}" if fact.agent or fact.source_event else fact.source


def least_trust(*trusts: str | None) -> str | None:
    """Return the lowest of some trust levels, or None if all are None."""
    items = [trust for trust in trusts if trust is not None]
    return min(items, key=trust_rank) if items else None


def statement_trust(trust: str | None, source: str, agent: str | None) -> str:
    """Return a statement's trust: the given one or that of the caller.

    It is at most what the source's name implies, and at most `agent` for an agent, who cannot speak as a person."""
    implied, most = trust_of_source(source), "agent" if agent else "user"
    return least_trust(trust or implied or most, implied, most) or most


HEALTH, ORDER, IDENTITY = 0.9, 0.85, 0.8
_BY_CATEGORY = {"health": HEALTH, "instruction": ORDER, "identity": IDENTITY}
_BY_WORDS = (
    (
        HEALTH,
        re.compile(
            r"\b(?:allerg(?:ic|y|ies)|intoleran(?:t|ce)|anaphyla\w+|epi-?pen|diabet(?:es|ic)|insulin|asthma(?:tic)?|"
            r"epilep(?:sy|tic)|seizures?|co?eliac|pacemaker|h(?:a|ae)emophili(?:a|ac)|pregnant|colou?r[- ]?blind|"
            r"(?:blood (?:type|group|pressure|thinners?))|hypertension|migraines?|arthritis|adhd|dementia|"
            r"dyslex(?:ia|ic)|"
            r"(?:parkinson|alzheimer|crohn)'?s|diagnosed with|prescribed|(?:on|takes?|needs?) (?:\w+ )?medication|"
            r"(?:can(?:not|'t| not)|must(?: not|n't)|may not|should(?: not|n't)) eat)\b",
            re.IGNORECASE,
        ),
    ),
    (
        ORDER,
        re.compile(
            r"^(?:please )?(?:always|never|from now on|do not ever|don't ever)\b|\bwants? this rule to be followed\b|"
            r"^(?:please )?(?:do not|don't) \w+ .*\bwithout\b",
            re.IGNORECASE,
        ),
    ),
    (
        IDENTITY,
        re.compile(
            r"\b(?:name|surname|pronouns?|birthday|date of birth|nationality|native language|mother tongue|"
            r"emergency contact) (?:is|are)\b|\b(?:was|were) born (?:on|in)\b|\b(?:is|are) called\b",
            re.IGNORECASE,
        ),
    ),
)


def vital_importance(statement: str, category: str) -> float | None:
    """Return the importance, from 0 to 1, that a statement has by what it says, or None for everyday matters."""
    found = [importance for importance, words in _BY_WORDS if words.search(statement.replace("’", "'"))]
    return max([*found, _BY_CATEGORY.get(category, 0.0)]) or None


def with_vital_importance(fact: Fact) -> Fact:
    """Return the fact with at least the importance of what it says. A tool or the web makes nothing important."""
    vital = None if is_low_trust(fact.trust) else vital_importance(fact.fact, fact.category)
    return fact if vital is None or (fact.importance or 0.0) >= vital else fact._replace(importance=vital)
