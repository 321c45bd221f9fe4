"""The values that a shell is offered for a parameter, by the kind that its `completes` names."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from clawmem.faces.parts.command import Command
from clawmem.faces.verbs.table import VERBS, load
from clawmem.memory.facts.completion import agent_candidates, category_candidates, entity_candidates, fact_candidates
from clawmem.memory.review.proposals import read_proposals
from clawmem.model.settings.settings import SETTINGS, setting_named
from clawmem.model.settings.values import PLACES
from clawmem.runtime import Runtime

FILES = ":files"
"""Asks the shell for the names of files."""

Pairs = list[tuple[str, str]]
_Source = Callable[[Runtime, str, Sequence[str]], Pairs]


def _files(runtime: Runtime, prefix: str, before: Sequence[str]) -> Pairs:
    return [(FILES, "")]


def _facts(runtime: Runtime, prefix: str, before: Sequence[str]) -> Pairs:
    return fact_candidates(runtime.vault(), prefix)


def _entities(runtime: Runtime, prefix: str, before: Sequence[str]) -> Pairs:
    agent = runtime.caller().agent
    own = prefix.startswith("@/") and agent is not None
    names = entity_candidates(runtime.vault(), f"@{agent}{prefix[1:]}" if own else prefix)
    return [(f"@{name.removeprefix(f'@{agent}')}" if own else name, "") for name in names]


def _agents(runtime: Runtime, prefix: str, before: Sequence[str]) -> Pairs:
    return [(name, "") for name in agent_candidates(runtime.vault(), prefix)]


def _categories(runtime: Runtime, prefix: str, before: Sequence[str]) -> Pairs:
    return [(name, "") for name in category_candidates(runtime.vault(), prefix)]


def _proposals(runtime: Runtime, prefix: str, before: Sequence[str]) -> Pairs:
    return [(one.id, one.says) for one in read_proposals(runtime.vault()).open]


def _keys(runtime: Runtime, prefix: str, before: Sequence[str]) -> Pairs:
    return [(setting.key, setting.about) for setting in SETTINGS]


def _setting_values(runtime: Runtime, prefix: str, before: Sequence[str]) -> Pairs:
    setting = setting_named(before[0])
    words = {"choice": setting.choices, "bool": ("true", "false"), "places": PLACES}.get(setting.kind, ())
    return [(word, "") for word in words]


def _nodes(runtime: Runtime, prefix: str, before: Sequence[str]) -> Pairs:
    return [*_facts(runtime, prefix, before), *_entities(runtime, prefix, before)]


def _predicates(runtime: Runtime, prefix: str, before: Sequence[str]) -> Pairs:
    return [(name, ", ".join(one.phrases)) for name, one in runtime.vault().catalog.predicates.items()]


def _words_of_verb(runtime: Runtime, prefix: str, before: Sequence[str]) -> Pairs:
    verb = load(before[0]) if before[0] in VERBS else {}
    return [] if isinstance(verb, Command) else [(word, "") for word in verb]


SOURCES: dict[str, _Source] = {
    "agent": _agents,
    "category": _categories,
    "entity": _entities,
    "fact": _facts,
    "fact or entity": _nodes,
    "file": _files,
    "predicate": _predicates,
    "proposal": _proposals,
    "setting": _keys,
    "value of a setting": _setting_values,
    "word of a verb": _words_of_verb,
}
