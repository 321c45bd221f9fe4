"""The fact: one atomic statement with its evidence, superseded and never deleted."""

import re
from collections.abc import Callable, Container, Mapping
from functools import lru_cache
from typing import Any

from clawmem.errors import InvalidInput
from clawmem.model.facts.reach import is_workflow
from clawmem.model.named_tuple import NamedTuple

ACTIVE = "active"
SUPERSEDED = "superseded"
RETRACTED = "retracted"
ARCHIVED = "archived"
STATUSES = (ACTIVE, SUPERSEDED, RETRACTED, ARCHIVED)

REVOKED = "revoked"
"""The key of a retraction's remark that says that the fact was revoked with its origin: no page repeats its words."""

REDACTED = "[redacted]"
"""What stands where a redaction removed a text."""

GUARDRAIL = "guardrail"
"""The category of facts that lead an agent's context; a person accepts those of agents."""

TRUSTS = ("user", "agent", "tool", "external")

LINK_TYPES = (
    "supersedes",
    "merges",
    "contradicts",
    "supports",
    "depends_on",
    "derived_from",
    "relates_to",
    "beside",
)
BESIDE = "beside"
"""The type of a link to a fact that a person kept although it contradicts this one: the conflict is settled."""

DEFAULT_CATEGORY = "fact"
UNSET_ID = "new"  # of a fact that the vault has not given an id
DEFAULT_IMPORTANCE = 0.5


class FactLink(NamedTuple):
    """A typed, dated pointer from one fact to another."""

    type: str
    to: str
    reason: str | None = None
    at: str | None = None


class Fact(NamedTuple):
    """One line of `items.json`; the field order is the key order on disk.

    Times are ISO 8601 in UTC. `source_span` is a half-open range of characters in the event's text. `confidence` and
    `importance` are from 0 to 1. `scope`, `workflow` and `project` say which queries see it, see
    `clawmem.model.facts.reach`. `extra` keeps keys that this version does not know.
    """

    id: str
    fact: str
    category: str
    timestamp: str
    source: str
    status: str = ACTIVE
    access_count: int = 0
    last_accessed: str | None = None
    superseded_by: str | None = None
    subject: str | None = None
    predicate: str | None = None
    object: str | None = None
    relation_phrase: str | None = None
    valid_from: str | None = None
    valid_to: str | None = None
    source_event: str | None = None
    source_text: str | None = None
    source_span: tuple[int, int] | None = None
    confidence: float | None = None
    importance: float | None = None
    trust: str | None = None
    agent: str | None = None
    workflow: str | None = None
    scope: str | None = None
    project: str | None = None
    related_entities: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    links: tuple[FactLink, ...] = ()
    details: Mapping[str, Any] | None = None
    metadata: Mapping[str, Any] | None = None
    extra: Mapping[str, Any] = {}

    @property
    def is_current(self) -> bool:
        """Whether the fact is current: active, or archived but not superseded or retracted."""
        return self.status in (ACTIVE, ARCHIVED)


def pointers(fact: Fact) -> list[tuple[str, str]]:
    """Return what a fact refers to, with the kind of reference: facts by id, entities by name."""
    found = [(link.type, link.to) for link in fact.links]
    found += [("related", name) for name in fact.related_entities]
    return [*found, ("superseded_by", fact.superseded_by)] if fact.superseded_by else found


ALWAYS_WRITTEN = Fact._fields[:9]
CANONICAL_KEYS = Fact._fields[:-1]


def importance_of(fact: Fact) -> float:
    """Return the fact's importance, or the default if it has none."""
    return DEFAULT_IMPORTANCE if fact.importance is None else fact.importance


def is_given_by_person(fact: Fact) -> bool:
    """Return whether a person stored this fact themself: no agent did, and no program learned it."""
    typed = fact.trust == "user" or (fact.trust is None and fact.source == "user")
    return typed and fact.agent is None and (fact.workflow is None or is_workflow(fact.workflow))


# The reasons of a fact that was retracted on a request to forget it: no answer has it.
FORGOTTEN = ("forgotten by a person", "asked to forget; ")


def is_forgotten(fact: Fact) -> bool:
    """Return whether the fact was withdrawn on a request to forget it."""
    remark = (fact.metadata or {}).get("retracted")
    reason = remark.get("reason") if isinstance(remark, Mapping) else None
    return fact.status == RETRACTED and isinstance(reason, str) and reason.startswith(FORGOTTEN)


def is_revoked(fact: Fact) -> bool:
    """Return whether the fact was withdrawn with its origin."""
    remark = (fact.metadata or {}).get("retracted")
    return fact.status == RETRACTED and isinstance(remark, Mapping) and remark.get(REVOKED) is True


def is_never_true(fact: Fact) -> bool:
    """Return whether the fact was corrected: what replaced it was true instead from the beginning."""
    return fact.status == SUPERSEDED and fact.valid_from == fact.valid_to is not None


def since_or_from(fact: Fact) -> str:
    """Return the word before the begin date: `from` if the fact was recorded before it, else `since`."""
    return "from" if fact.valid_from and fact.valid_from[:10] > fact.timestamp[:10] else "since"


# Trust: how much a statement's source counts in comparison with other sources.
#
# What must not fade: health, who somebody is, and standing orders. `remember` and learning ask the same function.

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
    **dict.fromkeys(
        "html htm xhtml mhtml pdf eml mbox msg rss atom xml epub docx pptx odt rtf vtt srt".split(), EXTERNAL
    ),
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
PINNED = 0.96
"""The importance of a fact that a person pinned, which nothing else has: it never fades, and each context has it."""
_BY_CATEGORY = {"health": HEALTH, "instruction": ORDER, "identity": IDENTITY}
_BY_WORDS = (
    (
        HEALTH,
        (
            r"\b(?:allerg(?:ic|y|ies)|intoleran(?:t|ce)|anaphyla\w+|epi-?pen|diabet(?:es|ic)|insulin|asthma(?:tic)?|"
            r"epilep(?:sy|tic)|seizures?|co?eliac|pacemaker|h(?:a|ae)emophili(?:a|ac)|pregnant|colou?r[- ]?blind|"
            r"(?:blood (?:type|group|pressure|thinners?))|hypertension|migraines?|arthritis|adhd|dementia|"
            r"dyslex(?:ia|ic)|"
            r"(?:parkinson|alzheimer|crohn)'?s|diagnosed with|prescribed|(?:on|takes?|needs?) (?:\w+ )?medication|"
            r"takes? (?:[\w.,]+ ){1,2}(?:mg|mcg|µg|milligrams?|micrograms?|tablets?|pills?|capsules?|drops)|"
            r"(?:can(?:not|'t| not)|must(?: not|n't)|may not|should(?: not|n't)) eat)\b"
        ),
    ),
    (
        ORDER,
        (
            r"^(?:please )?(?:always|never|from now on|do not ever|don't ever)\b|\bwants? this rule to be followed\b|"
            r"^(?:please )?(?:do not|don't) \w+ .*\bwithout\b"
        ),
    ),
    (
        IDENTITY,
        (
            r"\b(?:name|surname|pronouns?|birthday|date of birth|nationality|native language|mother tongue|"
            r"emergency contact) (?:is|are)\b|\b(?:was|were) born (?:on|in)\b|\b(?:is|are) called\b"
        ),
    ),
)


def vital_importance(statement: str, category: str) -> float | None:
    """Return the importance, from 0 to 1, that a statement has by what it says, or None for everyday matters."""
    text = statement.replace("’", "'")
    found = [importance for importance, words in _BY_WORDS if re.search(words, text, re.IGNORECASE)]
    return max([*found, _BY_CATEGORY.get(category, 0.0)]) or None


def with_vital_importance(fact: Fact) -> Fact:
    """Return the fact with at least the importance of what it says. A tool or the web makes nothing important."""
    vital = None if is_low_trust(fact.trust) else vital_importance(fact.fact, fact.category)
    return fact if vital is None or (fact.importance or 0.0) >= vital else fact._replace(importance=vital)


ALSO_FROM = "also_from"
MOST = 8
"""The most events that are kept."""


def evidence_row(fact: Fact) -> dict[str, Any]:
    """Return the source event of a fact, and its words there, as a row of further evidence."""
    span = list(fact.source_span) if fact.source_span else None
    row = {"source_event": fact.source_event, "source_text": fact.source_text, "source_span": span}
    return {key: value for key, value in row.items() if value is not None}


def further_rows(fact: Fact) -> list[dict[str, Any]]:
    """Return the rows of further evidence of a fact."""
    value = (fact.metadata or {}).get(ALSO_FROM)
    return [dict(record) for record in value if isinstance(record, Mapping)] if isinstance(value, list | tuple) else []


def further_events(fact: Fact) -> tuple[str, ...]:
    """Return the ids of the events of a fact's further evidence."""
    found = (further_row.get("source_event") for further_row in further_rows(fact))
    return tuple(dict.fromkeys(text for text in found if isinstance(text, str)))


def with_evidence_of(known: Fact, again: Fact) -> Fact:
    """Return a fact with the source event of another that says the same, if the fact does not have it yet."""
    events = (known.source_event, *further_events(known))
    if again.source_event is None or again.source_event in events or len(events) > MOST:
        return known
    rows = [*further_rows(known), evidence_row(again)]
    return known._replace(metadata={**(known.metadata or {}), ALSO_FROM: rows})


Entropy = Callable[[int], bytes]
"""A source of random bytes: takes a number and returns that many bytes."""

FACT_PREFIX = "fact_"
PROPOSAL_PREFIX = "prop_"
SHORTEST_ID_BYTES = 4
LONGEST_ID_BYTES = 32
SHORTEST_PREFIX = 4
_FACT_ID = r"[A-Za-z0-9][A-Za-z0-9_.:-]{0,127}"


def new_fact_id(entropy: Entropy, taken: Container[str]) -> str:
    """Return a new fact id that is not in `taken`; each collision doubles the number of digits, up to 64."""
    return new_id(FACT_PREFIX, entropy, taken)


def new_id(prefix: str, entropy: Entropy, taken: Container[str]) -> str:
    """Return the prefix and 8 random hex digits; each collision with `taken` doubles the digits, up to 64."""
    size = SHORTEST_ID_BYTES
    while True:
        candidate = prefix + entropy(size).hex()
        if candidate not in taken:
            return candidate
        size = min(size * 2, LONGEST_ID_BYTES)


def is_reference(text: str) -> bool:
    """Return whether a text from the command line can be an id or its prefix."""
    return re.fullmatch(_FACT_ID, text.strip()) is not None


def check_reference(text: str) -> str:
    """Return a fact id or prefix from the command line. Raise InvalidInput if it cannot be one."""
    return _reference(text, "a fact id", "Ids look like fact_1a2b3c4d; `clawmem list` shows them.")


def check_proposal_reference(text: str) -> str:
    """Return a proposal id or prefix from the command line. Raise InvalidInput if it cannot be one."""
    return _reference(text, "a proposal id", "Ids look like prop_1a2b3c4d; `clawmem review list --all` shows them.")


def _reference(text: str, what: str, hint: str) -> str:
    reference = text.strip()
    if not re.fullmatch(_FACT_ID, reference):
        raise InvalidInput(f"'{text}' is not {what}.", hint)
    return reference


def check_prefix(value: str, prefix: str, full_id: str, kind: str = "") -> str:
    """Return the full id that a prefix stands for. Raise InvalidInput if the prefix is too short to mean one id.

    `given` is what the user wrote, and `prefix` the same with the word `kind` that ids of this kind start with. The
    `SHORTEST_PREFIX` characters count behind that word. A complete id is never too short."""
    word = kind if full_id.startswith(kind) else ""
    if prefix != full_id and len(prefix) - len(word) < SHORTEST_PREFIX:
        behind = f" behind '{word}'" if word else ""
        raise InvalidInput(
            f"'{value}' is too short for a prefix of an id.",
            f"Give the whole id, {full_id}, or at least {SHORTEST_PREFIX} characters of it{behind}.",
        )
    return full_id
