"""Criteria: what one item of an acceptance list asks for, how it is checked, and what a check found.

A criterion is `command: ...` or `rule: ...`, as the whole item or as code in it. Every other item needs a judgement.
Rules are about the files of the work, or about what the memory holds.
"""

from __future__ import annotations

import os
import re
import shlex
import shutil
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Annotated, Any, NamedTuple

import regex

from clawmem.errors import ClawmemError, InvalidInput, NotFound, Refused
from clawmem.index.refresh import run_query
from clawmem.index.search.lookup import facts_of
from clawmem.index.tables.store import Index
from clawmem.memory.allowed_commands import top_of_checkout
from clawmem.memory.entities.places import find_entity
from clawmem.model.facts.fact import ACTIVE, ARCHIVED, Fact
from clawmem.model.language.text import one_line, some_of
from clawmem.model.proposals.proposal import BY_EVALUATION
from clawmem.model.records.caller import Caller
from clawmem.model.records.parsing import read_log
from clawmem.vault.git.git import resolve_commit, write_snapshot
from clawmem.vault.git.refs import git_dir_of, read_head
from clawmem.vault.vault import Vault

COMMAND, RULE, JUDGED = KINDS = ("command", "rule", "judged")
MET, REFUTED, UNDECIDED = RESULTS = ("met", "refuted", "undecided")
PASS, FAIL, ESCALATE = VERDICTS = ("pass", "fail", "escalate")
_LONGEST_EVIDENCE = 500
# Below this confidence, a criterion is undecided.
LEAST = 0.7

RULES: Mapping[str, tuple[str, ...]] = {
    "exists": ("PATTERN",),
    "missing": ("PATTERN",),
    "contains": ("PATTERN", "REGEX"),
    "lacks": ("PATTERN", "REGEX"),
    "fact": ("ENTITY", "REGEX"),
}
"""The rules with their arguments. The last one reads the memory, the others the work."""

_CODE = re.compile(r"(?P<ticks>`+)(?P<code>.+?)(?P=ticks)")
_CHECK = re.compile(r"\s*(?P<kind>command|rule):\s*(?P<check>.*\S)\s*", re.IGNORECASE | re.DOTALL)


class Criterion(NamedTuple):
    """One thing that a task must fulfil: the text of its item, its kind, and what is checked (of a judged one, the
    text)."""

    text: str
    kind: str
    check: str


class CriterionResult(NamedTuple):
    """What became of a criterion: `met`, `refuted` or `undecided`, the evidence in words, a confidence from 0 to 1, who
    or what evaluated it, the cost in cents, and the time in milliseconds."""

    criterion: str
    kind: Annotated[str, KINDS]
    result: Annotated[str, RESULTS]
    evidence: str
    confidence: Annotated[float, (0, 1)]
    evaluator: str
    cents: Annotated[float, (0, 1e12)] = 0.0
    milliseconds: Annotated[int, (0, 1e12)] = 0


class Rule(NamedTuple):
    """A parsed rule: its name and its arguments."""

    name: str
    arguments: tuple[str, ...]


def criteria_of(texts: Iterable[str]) -> tuple[Criterion, ...]:
    """Return the single criteria of the items of an acceptance list. Each check that is code in an item is one."""
    return tuple(criterion for text in texts for criterion in _criteria(one_line(text)))


def _criteria(text: str) -> list[Criterion]:
    whole = _CHECK.fullmatch(text)
    if whole:
        inside = _CODE.fullmatch(whole["check"])
        return [Criterion(text, whole["kind"].lower(), (inside["code"] if inside else whole["check"]).strip())]
    found = [check for code in _CODE.finditer(text) if (check := _CHECK.fullmatch(code["code"]))]
    return [Criterion(text, match["kind"].lower(), match["check"]) for match in found] or [
        Criterion(text, JUDGED, text)
    ]


def parse_rule(text: str) -> Rule:
    """Read a rule: its name and its arguments, split as a shell splits words. Raise InvalidInput."""
    try:
        name, *arguments = shlex.split(text)
    except ValueError as problem:
        raise InvalidInput(f"The rule '{text}' cannot be split into words: {problem}.", "Close each quote.") from None
    if name not in RULES:
        raise InvalidInput(f"'{name}' is not a rule.", f"The rules are: {', '.join(RULES)}.")
    wanted = RULES[name]
    if len(arguments) != len(wanted):
        raise InvalidInput(
            f"The rule '{name}' takes {' '.join(wanted)}, and {len(arguments)} words are given.",
            "Put a value with blanks in single quotes.",
        )
    return Rule(name, tuple(arguments))


def verdict_of(results: Sequence[CriterionResult]) -> tuple[str, str]:
    """Return the verdict and its reason. A result below LEAST decides nothing."""
    sure = [
        criterion_result
        for criterion_result in results
        if criterion_result.result != UNDECIDED and criterion_result.confidence >= LEAST
    ]
    refuted = [criterion_result for criterion_result in sure if criterion_result.result == REFUTED]
    if refuted:
        return FAIL, f"{len(refuted)} of {len(results)} criteria are refuted."
    if not results:
        return ESCALATE, "The task has no acceptance list."
    if len(sure) < len(results):
        return ESCALATE, f"{len(results) - len(sure)} of {len(results)} criteria are undecided."
    return PASS, f"{len(results)} of {len(results)} criteria are met."


def shortened(evidence: str) -> str:
    """Return evidence on one line, of at most 500 characters."""
    line = one_line(evidence)
    return line if len(line) <= _LONGEST_EVIDENCE else line[: _LONGEST_EVIDENCE - 1].rstrip() + "…"


EVALUATIONS = "governance/evaluations.jsonl"
PREFIX = BY_EVALUATION


class Evaluation(NamedTuple):
    """One evaluation of a task. `found` is the verdict of its criteria, `verdict` the one that counts: `escalate` in
    place of `pass` while too few verdicts agree with those of people. `work` is what was evaluated, `by` the agent or
    the person who asked, `at` the time (ISO 8601 UTC). `extra` holds keys of other versions."""

    id: str
    at: str
    task: str
    workflow: str | None
    work: str
    found: Annotated[str, VERDICTS]
    verdict: Annotated[str, VERDICTS]
    reason: str
    results: tuple[CriterionResult, ...]
    by: str
    extra: Mapping[str, Any] = {}


parse_evaluations = partial(read_log, Evaluation)
"""Reads the evaluations, oldest first. Raises Unreadable, naming the line and the key."""


# A pattern of a stranger may take for ever. Seconds for one file.
_SECONDS = 1.0
_AGENT = "agent"


class RuleAnswer(NamedTuple):
    """What a rule found: `met`, `refuted` or `undecided`, the evidence, and a confidence from 0 to 1."""

    result: str
    evidence: str
    confidence: float = 1.0


def check_rule(vault: Vault, caller: Caller, work: Work, rule: Rule) -> RuleAnswer:
    """Check a parsed rule. Raise NotFound or Refused if it asks for work or an entity that is not there."""
    pattern, *words = rule.arguments
    wanted = rule.name in ("exists", "contains")
    try:
        if rule.name == "fact":
            return run_query(vault, lambda index: _fact(index, caller, *rule.arguments))
        if words:
            return _searched(work, pattern, words[0], wanted)
    except TimeoutError:
        return RuleAnswer(UNDECIDED, "The pattern took too long.", 0.0)
    found = files_matching(work, pattern)
    result = MET if bool(found) is wanted else REFUTED
    return RuleAnswer(result, _named(work, found) if found else f"No file matches {pattern}.")


def _searched(work: Work, pattern: str, words: str, wanted: bool) -> RuleAnswer:
    """Whether the files have a line that matches, which is `wanted` or not."""
    found = files_matching(work, pattern)
    if not found:
        return RuleAnswer(REFUTED if wanted else UNDECIDED, f"No file matches {pattern}.", 1.0 if wanted else 0.0)
    hit, unread = _first_hit(work, found, words)
    if hit is None and unread:
        return RuleAnswer(UNDECIDED, f"{', '.join(unread[:3])}: not text, or larger than 2 MB.", 0.0)
    fits = (hit is not None) is wanted
    return RuleAnswer(MET if fits else REFUTED, hit or f"{_named(work, found)}: nothing matches.")


def _first_hit(work: Work, found: list[Path], words: str) -> tuple[str | None, list[str]]:
    """Return the first line that matches, as `file:line: text`, and the files that are not text."""
    pattern = _compiled(words)
    unread = []
    for path in found:
        name, text = _name(work, path), text_of_file(path)
        if text is None:
            unread.append(name)
            continue
        hit = pattern.search(text, timeout=_SECONDS)
        if hit:
            line = text.count("\n", 0, hit.start()) + 1
            return f"{name}:{line}: {text.splitlines()[line - 1].strip() if text else ''}", unread
    return None, unread


def _compiled(words: str) -> Any:
    try:
        return regex.compile(words, regex.MULTILINE)
    except regex.error as problem:
        raise InvalidInput(f"'{words}' is not a regular expression: {problem}.", "Write it as Python does.") from None


def _fact(index: Index, caller: Caller, named: str, words: str) -> RuleAnswer:
    """Facts that agents stated decide nothing, because the worker can be the agent."""
    entity = find_entity(index, named, caller)
    current = [placed for placed in facts_of(index, entity) if placed.fact.status in (ACTIVE, ARCHIVED)]
    pattern = _compiled(words)
    hits = [placed.fact for placed in current if pattern.search(placed.fact.fact, timeout=_SECONDS)]
    if not hits:
        return RuleAnswer(REFUTED, f"No current fact of {entity} matches.")
    sure = [hit for hit in hits if hit.trust not in (_AGENT, "external")]
    best = max(sure or hits, key=_confidence)
    if not sure:
        return RuleAnswer(UNDECIDED, f"{best.id}: {best.fact} (stated by {best.trust} only)", 0.0)
    return RuleAnswer(MET, f"{best.id}: {best.fact}", _confidence(best))


def _confidence(fact: Fact) -> float:
    return 1.0 if fact.confidence is None else fact.confidence


def _name(work: Work, path: Path) -> str:
    return path.relative_to(work.folder).as_posix() if work.folder and path.is_relative_to(work.folder) else path.name


def _named(work: Work, found: list[Path]) -> str:
    return some_of([_name(work, path) for path in found])


NO_WORK = "none"
_SKIPPED = frozenset(("node_modules", "__pycache__", "venv", "target", "dist", "build"))
_MOST_FILES = 20_000
_LARGEST = 2_000_000


class Work(NamedTuple):
    """The work: its name in records, the folder with its files (None: no work), and the checkout for which its commands
    are allowed (None: commands cannot run on it)."""

    name: str
    folder: Path | None = None
    place: Path | None = None


@contextmanager
def opened_work(vault: Vault, named: str | None, working_folder: Path) -> Iterator[Work]:
    """Yield the work that `named` means: a folder, a file, or a commit, which are looked for in this order. Without a
    name it is the checkout of the working folder, unless that is in the vault. Raise NotFound, and Refused for a folder
    of the vault."""
    root = vault.root.resolve()
    path = (working_folder / Path(named).expanduser()).resolve() if named else top_of_checkout(working_folder)
    if path.is_dir():
        if path.is_relative_to(root):
            if named is None:
                yield Work(NO_WORK)
                return
            raise Refused(f"The work is the folder of the vault: {path}.", "Name a checkout outside of it with --work.")
        yield Work(_name_of(path), path, path)
        return
    with TemporaryDirectory(prefix="clawmem-", ignore_cleanup_errors=True) as temporary:
        folder = Path(temporary).resolve()
        if path.is_file():
            shutil.copyfile(path, folder / path.name)
            yield Work(path.name, folder)
            return
        repository, commit = _export(vault, named or "", working_folder, folder)
        yield Work(f"{repository.name}@{commit[:12]}", folder, repository)


def _name_of(folder: Path) -> str:
    """Return the name of a checkout with the commit that it is at, where it has one."""
    for root in (folder, *folder.parents):
        git_dir = git_dir_of(root)
        if git_dir is not None:
            try:
                commit = read_head(git_dir).commit
            except (ClawmemError, OSError):
                commit = None
            return f"{folder.name}@{commit[:12]}" if commit else folder.name
    return folder.name


def _export(vault: Vault, named: str, working_folder: Path, target: Path) -> tuple[Path, str]:
    """Write the files of a commit to a folder. Return the repository's work tree and the commit's hash."""
    here = working_folder.resolve()
    root = next((parent for parent in (here, *here.parents) if git_dir_of(parent) is not None), None)
    if root is None or root.is_relative_to(vault.root.resolve()):
        raise NotFound(f"There is no file or folder '{named}'.", _HINT)
    commit = resolve_commit(root, vault.environment, named)
    if commit is None:
        raise NotFound(f"There is no file, folder or commit '{named}' in {root}.", _HINT)
    write_snapshot(root, vault.environment, commit, target)
    return root, commit


def files_matching(work: Work, pattern: str) -> list[Path]:
    """Return the plain files of the work that a pattern such as `docs/*.md` names, sorted. Links out of it are left
    out. Raise NotFound if there is no work."""
    if work.folder is None:
        raise NotFound("No work was named.", _HINT)
    root = work.folder.resolve()
    if pattern.startswith("/") or ".." in Path(pattern).parts:
        raise Refused(f"The path '{pattern}' leads out of the work.", "Name a path inside the work.")
    exact = root / pattern
    found = [exact] if exact.exists() or not pattern else list(root.glob(pattern))
    return sorted(path for path in found if path.is_file() and path.resolve().is_relative_to(root))


def text_of_file(path: Path) -> str | None:
    """Return the text of a file; None if it is larger than 2 MB or not UTF-8."""
    try:
        if path.stat().st_size > _LARGEST:
            return None
        return path.read_bytes().decode("utf-8-sig")
    except (OSError, UnicodeDecodeError):
        return None


def all_files(work: Work) -> Iterator[Path]:
    """Yield the files of the work, without hidden folders and those that programs make."""
    count = 0
    for place, folders, names in os.walk(work.folder) if work.folder else ():
        folders[:] = sorted(folder for folder in folders if not folder.startswith(".") and folder not in _SKIPPED)
        for name in sorted(names):
            path = Path(place, name)
            if not path.is_symlink() and path.is_file():
                yield path
                count += 1
            if count >= _MOST_FILES:
                return


_HINT = "--work takes the folder of a checkout, a file, or a commit of the repository you are in."
