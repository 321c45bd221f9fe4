"""Extensions: features beside the core, each described by one value, `EXTENSION`.

The core imports none of them. It knows the names of its own (`OWN`), which are packages below `clawmem.extensions`, and
works without those whose folder was deleted. An extension of another distribution has an entry point in the group
`GROUP`. It is loaded only after a person accepted it on this machine with `clawmem config extension`.
"""

import os
from collections.abc import Callable, Mapping
from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING, Any, NamedTuple

from clawmem.errors import ExtensionMissing, ExtensionUnusable

if TYPE_CHECKING:
    from pathlib import Path

GROUP = "clawmem.extensions"
OWN = ("governance", "exchange", "digest", "documents", "wiki", "hub")
"""The extensions that come with clawmem, in the order in which their tables are read."""

ACCEPTED_FILE = "extensions.json"
"""The accepted extensions of other distributions, in the user's configuration folder: name -> `module:EXTENSION`."""


class Extension(NamedTuple):
    """What an extension adds. Every function, table and module is named, as `module:name` or `module`, and imported
    only when it is needed.

    verbs: the module of each verb, which holds it as `VERB`, or `module:name`.
    help: the line of help of each verb. The table of verbs has those of clawmem's own extensions.
    kinds: a tuple of `FileKind`.
    steps: steps of the heartbeat, as a mapping from the core's step that they follow to a tuple of `Step`.
    checks: functions of doctor, each from a vault to problems (`HealthProblem`).
    context: functions that add to a context, each from a vault, a caller and a question or None to sections: their
        titles, lines and the commands that show more. Those of clawmem's own extensions are not asked.
    completions: by the kind that a parameter's `completes` names, a function from the runtime, the word at the cursor
        and the words before it to pairs of a word and its meaning.
    graders: graders of eval suites by name.
    answers: functions that the core or an extension asks for, by the names in `ask` and `answer_of`.
    """

    name: str
    verbs: Mapping[str, str] = {}
    help: Mapping[str, str] = {}
    kinds: str = ""
    steps: str = ""
    checks: tuple[str, ...] = ()
    context: tuple[str, ...] = ()
    completions: Mapping[str, str] = {}
    graders: Mapping[str, str] = {}
    answers: Mapping[str, str] = {}


class Accepted:
    """Where the list of accepted extensions is: a function that returns the user's configuration folder. The runtime
    sets it, and nothing is read before somebody asks for an extension."""

    folder: "Callable[[], Path] | None" = None


def own(name: str) -> Extension:
    """Return an extension of clawmem. Raise ExtensionMissing if its folder was deleted."""
    extension: Extension = named(f"{GROUP}.{name}:EXTENSION")
    return extension


def named(reference: str) -> Any:
    """Return what `module:name` names. Raise ExtensionMissing if it belongs to an extension that is not here."""
    module, _, name = reference.partition(":")
    try:
        return getattr(import_module(module), name)
    except ModuleNotFoundError:
        owner = module.removeprefix(f"{GROUP}.").partition(".")[0] if module.startswith(f"{GROUP}.") else ""
        if not owner or is_present(owner):
            raise
        raise ExtensionMissing(owner) from None


@cache
def is_present(name: str) -> bool:
    """Return whether the package of an extension of clawmem is here, without importing it."""
    return os.path.isfile(f"{os.path.dirname(__file__)}/extensions/{name}/__init__.py")  # noqa: PTH113, PTH120 - imports less


def read_accepted() -> dict[str, str]:
    """Return the accepted extensions of other distributions. The list counts as empty if it cannot be read, so that
    nothing foreign is loaded by mistake."""
    if Accepted.folder is None:
        return {}
    import json  # few have any

    try:
        record = json.loads((Accepted.folder() / ACCEPTED_FILE).read_bytes())
    except (OSError, ValueError, RecursionError):
        return {}
    return {name: value for name, value in record.items() if isinstance(value, str)} if isinstance(record, dict) else {}


@cache
def load_foreign(name: str, reference: str) -> Extension:
    """Return an accepted extension of another distribution. Raise ExtensionUnusable if it cannot be imported."""
    try:
        extension = named(reference)
    except Exception as problem:
        raise ExtensionUnusable(name, f"{type(problem).__name__}: {problem}") from problem
    if not isinstance(extension, Extension):
        raise ExtensionUnusable(name, f"{reference} is no Extension")
    return extension


def load_foreign_part(extension: Extension, reference: str) -> Any:
    """Return what an extension of another distribution names. Raise ExtensionUnusable if it cannot be imported."""
    try:
        return named(reference)
    except Exception as problem:
        raise ExtensionUnusable(extension.name, f"{type(problem).__name__}: {problem}") from problem


def foreign() -> tuple[Extension, ...]:
    """Return the accepted extensions of other distributions, without those that cannot be imported: `doctor` and
    `clawmem config extension` name these."""
    found = []
    for name, reference in read_accepted().items():
        try:
            found.append(load_foreign(name, reference))
        except ExtensionUnusable:
            continue
    return tuple(found)


def extensions() -> tuple[Extension, ...]:
    """Return the extensions that are here: clawmem's own, then the accepted ones of other distributions."""
    return (*(own(name) for name in OWN if is_present(name)), *foreign())


def ask(owner: str, subject: str) -> Any:
    """Return the function with which an extension of clawmem answers for a subject. Raise ExtensionMissing."""
    return named(own(owner).answers[subject])


def answer_of(name: str) -> Any:
    """Return the function that answers for a subject of an extension, or None where the extension is not here."""
    found = (extension.answers[name] for extension in extensions() if name in extension.answers)
    reference = next(found, None)
    return None if reference is None else named(reference)
