"""Check the rules of acceptance lists: on the files of the work, and on what the memory holds."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import regex

from clawmem.errors import InvalidInput
from clawmem.extensions.governance.criterion import MET, REFUTED, UNDECIDED, Rule
from clawmem.extensions.governance.evaluator_work import Work, files_matching, text_of_file
from clawmem.index.refresh.refresh import run_query
from clawmem.index.search.lookup import PlacedFact, facts_of
from clawmem.index.tables.store import Index
from clawmem.memory.entities.places import find_entity
from clawmem.memory.review.proposals import read_proposals
from clawmem.model.facts.fact import ACTIVE, ARCHIVED, Fact
from clawmem.model.records.caller import Caller
from clawmem.model.records.strict_json import read_json
from clawmem.vault.vault import Vault

# A pattern of a stranger may take for ever. Seconds for one file.
_SECONDS = 1.0
_MISSING = object()
_AGENT = "agent"


class RuleAnswer(NamedTuple):
    """What a rule found: `met`, `refuted` or `undecided`, the evidence, and a confidence from 0 to 1."""

    result: str
    evidence: str
    confidence: float = 1.0


def check_rule(vault: Vault, caller: Caller, work: Work, rule: Rule) -> RuleAnswer:
    """Check a parsed rule. Raise NotFound or Refused if it asks for work or an entity that is not there."""
    checks: dict[str, Callable[..., RuleAnswer]] = {
        "exists": _exists,
        "missing": _missing,
        "contains": _contains,
        "lacks": _lacks,
        "json": _json,
    }
    if rule.name in checks:
        try:
            return checks[rule.name](work, *rule.arguments)
        except TimeoutError:
            return RuleAnswer(UNDECIDED, "The pattern took too long.", 0.0)
    return run_query(vault, lambda index: _of_memory(vault, index, caller, rule))


def _exists(work: Work, pattern: str) -> RuleAnswer:
    found = files_matching(work, pattern)
    return RuleAnswer(MET, _named(work, found)) if found else RuleAnswer(REFUTED, f"No file matches {pattern}.")


def _missing(work: Work, pattern: str) -> RuleAnswer:
    found = files_matching(work, pattern)
    return RuleAnswer(REFUTED, _named(work, found)) if found else RuleAnswer(MET, f"No file matches {pattern}.")


def _contains(work: Work, pattern: str, words: str) -> RuleAnswer:
    found = files_matching(work, pattern)
    if not found:
        return RuleAnswer(REFUTED, f"No file matches {pattern}.")
    hit, unread = _first_hit(work, found, words)
    if hit is not None:
        return RuleAnswer(MET, hit)
    return _unread(unread) or RuleAnswer(REFUTED, f"{_named(work, found)}: nothing matches.")


def _lacks(work: Work, pattern: str, words: str) -> RuleAnswer:
    found = files_matching(work, pattern)
    if not found:
        return RuleAnswer(UNDECIDED, f"No file matches {pattern}.", 0.0)
    hit, unread = _first_hit(work, found, words)
    if hit is not None:
        return RuleAnswer(REFUTED, hit)
    return _unread(unread) or RuleAnswer(MET, f"{_named(work, found)}: nothing matches.")


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


def _unread(names: list[str]) -> RuleAnswer | None:
    if not names:
        return None
    return RuleAnswer(UNDECIDED, f"{', '.join(names[:3])}: not text, or larger than 2 MB.", 0.0)


def _json(work: Work, name: str, pointer: str, wanted: str) -> RuleAnswer:
    found = files_matching(work, name)
    if not found:
        return RuleAnswer(REFUTED, f"There is no file {name}.")
    text = text_of_file(found[0])
    try:
        document = read_json(text or "")
    except ValueError as problem:
        return RuleAnswer(REFUTED, f"{name} is not JSON: {problem}.")
    value = _at(document, pointer)
    if value is _MISSING:
        return RuleAnswer(REFUTED, f"{name} has nothing at {pointer}.")
    shown = f"{name} {pointer}: {json.dumps(value, ensure_ascii=False)}"
    return RuleAnswer(MET if _is_equal(value, wanted) else REFUTED, shown)


def _at(document: Any, pointer: str) -> Any:
    """Return the value at a JSON Pointer (RFC 6901), or `_MISSING`. Raise InvalidInput for another form."""
    if pointer and not pointer.startswith("/"):
        raise InvalidInput(f"'{pointer}' is not a JSON Pointer.", "It begins with a slash, such as /version.")
    value = document
    for part in pointer.split("/")[1:]:
        key = part.replace("~1", "/").replace("~0", "~")
        if isinstance(value, dict) and key in value:
            value = value[key]
        elif isinstance(value, list) and key.isdecimal() and int(key) < len(value):
            value = value[int(key)]
        else:
            return _MISSING
    return value


def _is_equal(value: Any, wanted: str) -> bool:
    """Return whether a value is what a rule says: as JSON, or a text without its quotes."""
    if value == wanted:
        return True
    try:
        stated = read_json(wanted)
    except ValueError:
        return False
    return type(stated) is type(value) and bool(stated == value)


def _of_memory(vault: Vault, index: Index, caller: Caller, rule: Rule) -> RuleAnswer:
    entity = find_entity(index, rule.arguments[0], caller)
    current = [placed for placed in facts_of(index, entity) if placed.fact.status in (ACTIVE, ARCHIVED)]
    if rule.name == "fact":
        return _fact(current, entity, rule.arguments[1])
    return _no_conflict(vault, current, entity)


def _fact(current: list[PlacedFact], entity: str, words: str) -> RuleAnswer:
    """Facts that agents stated decide nothing, because the worker can be the agent."""
    pattern = _compiled(words)
    try:
        hits = [placed.fact for placed in current if pattern.search(placed.fact.fact, timeout=_SECONDS)]
    except TimeoutError:
        return RuleAnswer(UNDECIDED, "The pattern took too long.", 0.0)
    if not hits:
        return RuleAnswer(REFUTED, f"No current fact of {entity} matches.")
    sure = [hit for hit in hits if hit.trust not in (_AGENT, "external")]
    best = max(sure or hits, key=_confidence)
    if not sure:
        return RuleAnswer(UNDECIDED, f"{best.id}: {best.fact} (stated by {best.trust} only)", 0.0)
    return RuleAnswer(MET, f"{best.id}: {best.fact}", _confidence(best))


def _confidence(fact: Fact) -> float:
    return 1.0 if fact.confidence is None else fact.confidence


def _no_conflict(vault: Vault, current: list[PlacedFact], entity: str) -> RuleAnswer:
    ids = {placed.fact.id for placed in current}
    for proposal in read_proposals(vault).open:
        about = proposal.entity == entity or any(target.id in ids for target in proposal.targets)
        if proposal.kind == "conflict" and about:
            return RuleAnswer(REFUTED, f"{proposal.id} waits for a person: {proposal.says}")
    for placed in current:
        for link in placed.fact.links:
            if link.type == "contradicts" and link.to in ids:
                return RuleAnswer(REFUTED, f"{placed.fact.id} contradicts {link.to}.")
    return RuleAnswer(MET, f"Nothing about {entity} is in conflict.")


def _name(work: Work, path: Path) -> str:
    return path.relative_to(work.folder).as_posix() if work.folder and path.is_relative_to(work.folder) else path.name


def _named(work: Work, found: list[Path]) -> str:
    names = [_name(work, path) for path in found]
    return ", ".join(names[:3]) + (f" and {len(names) - 3} more" if len(names) > 3 else "")
