"""The values that options and arguments may take, by their names; a table, so that each verb need not say it."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from clawmem.memory.facts.completion import agent_candidates, category_candidates, entity_candidates, fact_candidates
from clawmem.memory.review.proposals import read_proposals
from clawmem.model.facts.draft import LINKED_BY_HAND
from clawmem.model.facts.fact import STATUSES, TRUSTS
from clawmem.model.merging.policy import POLICIES
from clawmem.model.proposals.proposal import KINDS
from clawmem.model.records.event import EVENT_ROLES
from clawmem.model.settings.settings import SETTINGS, setting_named
from clawmem.model.settings.values import PLACES
from clawmem.runtime import Runtime
from clawmem.serving.recall.recall import RECALL_KINDS

FILES = ":files"
"""Asks the shell for the names of files."""

Pairs = list[tuple[str, str]]
_Source = Callable[[Runtime, str], Pairs]


def _words(*words: str) -> _Source:
    return lambda runtime, prefix: [(word, "") for word in words]


def _files(runtime: Runtime, prefix: str) -> Pairs:
    return [(FILES, "")]


def _facts(runtime: Runtime, prefix: str) -> Pairs:
    return fact_candidates(runtime.vault(), prefix)


def _entities(runtime: Runtime, prefix: str) -> Pairs:
    agent = runtime.caller().agent
    own = prefix.startswith("@/") and agent is not None
    names = entity_candidates(runtime.vault(), f"@{agent}{prefix[1:]}" if own else prefix)
    return [(f"@{name.removeprefix(f'@{agent}')}" if own else name, "") for name in names]


def _agents(runtime: Runtime, prefix: str) -> Pairs:
    return [(name, "") for name in agent_candidates(runtime.vault(), prefix)]


def _categories(runtime: Runtime, prefix: str) -> Pairs:
    return [(name, "") for name in category_candidates(runtime.vault(), prefix)]


def _proposals(runtime: Runtime, prefix: str) -> Pairs:
    return [(one.id, one.says) for one in read_proposals(runtime.vault()).open if one.id.startswith(prefix)]


def _keys(runtime: Runtime, prefix: str) -> Pairs:
    return [(setting.key, setting.about) for setting in SETTINGS]


def _nodes(runtime: Runtime, prefix: str) -> Pairs:
    return [*_facts(runtime, prefix), *_entities(runtime, prefix)]


def _predicates(runtime: Runtime, prefix: str) -> Pairs:
    return [(name, ", ".join(one.phrases)) for name, one in runtime.vault().catalog.predicates.items()]


# By the verb and the parameter's name, else by the name alone.
SOURCES: dict[str, _Source] = {
    "vault": _files,
    "agent": _agents,
    "entity": _entities,
    "related_entities": _entities,
    "category": _categories,
    "fact": _facts,
    "facts": _facts,
    "link target": _facts,
    "link kind": _words(*LINKED_BY_HAND),
    "predicate": _predicates,
    "recall where": _words(*RECALL_KINDS, "all"),
    "trust": _words(*TRUSTS),
    "status": _words(*STATUSES),
    "tier": _words("hot", "warm", "cold"),
    "log about": _nodes,
    "log author": _agents,
    "graph neighbors node": _nodes,
    "graph path first": _nodes,
    "graph path last": _nodes,
    "graph backlinks node": _nodes,
    "undo target": _facts,
    "agent show agent_id": _agents,
    "entity show name": _entities,
    "entity move name": _entities,
    "entity move target": _entities,
    "entity rename name": _entities,
    "entity archive name": _entities,
    "entity create name": _entities,
    "config get key": _keys,
    "config set key": _keys,
    "completions shell": _words("bash", "zsh", "fish"),
    "jsonl": _files,
    "ingest file": _files,
    "ingest format_": _words(
        "auto", "claude-code", "openclaw", "chatgpt", "claude", "openai", "jsonl", "markdown", "text"
    ),
    "ingest role": _words(*EVENT_ROLES),
    "init path": _files,
    "backup file": _files,
    "restore file": _files,
    "restore folder": _files,
    "sync conflict": _words(*POLICIES),
    "cron install by": _words("auto", "crontab", "systemd"),
    "proposal": _proposals,
    "review list kind": _words(*KINDS),
}


def values(runtime: Runtime, path: str, name: str, prefix: str, before: Sequence[str] = ()) -> Pairs:
    """What may stand for a parameter, each with a word of help; `path` is the verb's words and the name, `before` the
    arguments that came before."""
    if path == "config set value":
        return _setting_values(*before)
    source = SOURCES.get(path) or SOURCES.get(name)
    return source(runtime, prefix) if source else []


def _setting_values(key: str) -> Pairs:
    setting = setting_named(key)
    words = {"choice": setting.choices, "bool": ("true", "false"), "places": PLACES}.get(setting.kind, ())
    return [(word, "") for word in words]
