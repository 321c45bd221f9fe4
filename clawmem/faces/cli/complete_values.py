"""The values that a shell is offered for a parameter, by the kind that its `completes` names."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from clawmem.extension import extensions, named
from clawmem.faces.parts.command import Command
from clawmem.faces.verbs.table import all_verbs, load
from clawmem.index.refresh.refresh import run_query
from clawmem.index.search.lookup import entity_names
from clawmem.index.tables.contents import categories, facts_with_prefix
from clawmem.memory.review.proposals import read_proposals
from clawmem.model.settings.settings import SETTINGS, setting_named
from clawmem.model.settings.values import PLACES
from clawmem.runtime import Runtime

FILES = ":files"
"""Asks the shell for the names of files."""

_MAX_FACTS = 100

Pairs = list[tuple[str, str]]
_Source = Callable[[Runtime, str, Sequence[str]], Pairs]


def _files(runtime: Runtime, prefix: str, before: Sequence[str]) -> Pairs:
    return [(FILES, "")]


def _facts(runtime: Runtime, prefix: str, before: Sequence[str]) -> Pairs:
    """Active facts come first, newest first."""
    return run_query(runtime.vault(), lambda index: facts_with_prefix(index, prefix, _MAX_FACTS))


def _entities(runtime: Runtime, prefix: str, before: Sequence[str]) -> Pairs:
    agent = runtime.caller().agent
    own = prefix.startswith("@/") and agent is not None
    start = f"@{agent}{prefix[1:]}" if own else prefix
    names = [name for name in run_query(runtime.vault(), entity_names) if name.startswith(start)]
    return [(f"@{name.removeprefix(f'@{agent}')}" if own else name, "") for name in names]


def _agents(runtime: Runtime, prefix: str, before: Sequence[str]) -> Pairs:
    folder = runtime.vault().root / "agents"
    names = (path.name for path in folder.iterdir() if path.is_dir()) if folder.is_dir() else ()
    return [(name, "") for name in sorted(names) if name.startswith(prefix)]


def _categories(runtime: Runtime, prefix: str, before: Sequence[str]) -> Pairs:
    """A category with white space cannot be completed in every shell."""
    names = run_query(runtime.vault(), categories)
    return [(name, "") for name in names if name.startswith(prefix) and not any(map(str.isspace, name))]


def _proposals(runtime: Runtime, prefix: str, before: Sequence[str]) -> Pairs:
    return [(proposal.id, proposal.says) for proposal in read_proposals(runtime.vault()).open]


def _keys(runtime: Runtime, prefix: str, before: Sequence[str]) -> Pairs:
    return [(setting.key, setting.about) for setting in SETTINGS]


def _setting_values(runtime: Runtime, prefix: str, before: Sequence[str]) -> Pairs:
    setting = setting_named(before[0])
    words = {"choice": setting.choices, "bool": ("true", "false"), "places": PLACES}.get(setting.kind, ())
    return [(word, "") for word in words]


def _nodes(runtime: Runtime, prefix: str, before: Sequence[str]) -> Pairs:
    return [*_facts(runtime, prefix, before), *_entities(runtime, prefix, before)]


def _predicates(runtime: Runtime, prefix: str, before: Sequence[str]) -> Pairs:
    return [(name, ", ".join(predicate.phrases)) for name, predicate in runtime.vault().catalog.predicates.items()]


def _words_of_verb(runtime: Runtime, prefix: str, before: Sequence[str]) -> Pairs:
    verb = load(before[0]) if before[0] in all_verbs() else {}
    return [] if isinstance(verb, Command) else [(word, "") for word in verb]


def _sessions(runtime: Runtime, prefix: str, before: Sequence[str]) -> Pairs:
    paths = (runtime.vault().root / "agents").glob("*/sessions/*.json")
    return [(path.stem, path.parts[-3]) for path in sorted(paths) if path.stem.startswith(prefix)]


def _tasks(runtime: Runtime, prefix: str, before: Sequence[str]) -> Pairs:
    from clawmem.memory.tasks import list_tasks

    listed = list_tasks(runtime.vault()).tasks
    return [(task.slug, task.title) for task in listed if task.slug.startswith(prefix)]


def _workflows(runtime: Runtime, prefix: str, before: Sequence[str]) -> Pairs:
    names = (path.stem for path in (runtime.vault().root / "workflows").glob("*.yaml"))
    return [(name, "") for name in sorted(names) if name.startswith(prefix)]


def _failure_modes(runtime: Runtime, prefix: str, before: Sequence[str]) -> Pairs:
    from clawmem.memory.failure_modes import read_modes

    modes = read_modes(runtime.vault()).modes.values()
    return [(mode.id, mode.about or "") for mode in modes if mode.id.startswith(prefix)]


def values_of(kind: str, runtime: Runtime, prefix: str, before: Sequence[str]) -> Pairs:
    """The values of a kind that begin with the word at the cursor; none where the extension of the kind is not here."""
    for extension in () if kind in SOURCES else extensions():
        if kind in extension.completions:
            source: _Source = named(extension.completions[kind])
            return source(runtime, prefix, before)
    return SOURCES[kind](runtime, prefix, before) if kind in SOURCES else []


SOURCES: dict[str, _Source] = {
    "agent": _agents,
    "category": _categories,
    "entity": _entities,
    "fact": _facts,
    "failure mode": _failure_modes,
    "fact or entity": _nodes,
    "file": _files,
    "predicate": _predicates,
    "proposal": _proposals,
    "setting": _keys,
    "value of a setting": _setting_values,
    "session": _sessions,
    "task": _tasks,
    "word of a verb": _words_of_verb,
    "workflow": _workflows,
}
