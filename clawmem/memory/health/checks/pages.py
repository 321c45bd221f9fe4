"""Check text files: encoding, conflict markers, front matter, markers of generated parts, settings, catalog."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from functools import partial
from io import BytesIO
from typing import Any, NamedTuple

from clawmem.errors import ClawmemError, InvalidInput, NeedsDecision, Unreadable
from clawmem.memory.health.checks import ERROR, INFO, WARNING, HealthProblem
from clawmem.model.facts.catalog import catalog_from_mapping
from clawmem.model.facts.fact import check_reference
from clawmem.model.facts.fact_words import PAGE as GUARDRAILS
from clawmem.model.language.dates import moment_of
from clawmem.model.pages.summary import generated_part, marker_problem, split_front_matter
from clawmem.model.proposals.proposal import OPEN, Proposal, parse_proposal
from clawmem.model.records.entity import check_name, is_entity_name, name_of_path, summary_path, title_of
from clawmem.model.records.layout import CATALOG, SETTINGS
from clawmem.model.records.parsing import line_of_key
from clawmem.model.safety.secrets.find import find_secret
from clawmem.model.settings.settings import MODEL, REMOVED, removed_sentence, settings_from_mapping
from clawmem.vault.edits.hand_edits import check_file
from clawmem.vault.strict_yaml import parse_yaml

_MARKS = ("<<<<<<< ", ">>>>>>> ")
_PIECE = 1 << 20
_QUOTED = re.compile(r"'([^']+)'|setting (\S+)")


class SummaryContent(NamedTuple):
    """The title and aliases of an entity, and the problems of its page."""

    title: str
    aliases: tuple[str, ...]
    problems: tuple[HealthProblem, ...]


def text_problems(path: str, data: bytes) -> Iterator[HealthProblem]:
    """The problems that any text file can have: not UTF-8, markers of a merge conflict, Windows line ends."""
    for line, piece in _pieces(data):
        try:
            piece.decode()
        except UnicodeDecodeError as problem:
            line += piece[: problem.start].count(b"\n")
            yield HealthProblem(ERROR, "encoding", path, line, "The file is not UTF-8 text.")
            break
    if b"\r\n" in data:
        line, message = data[: data.index(b"\r\n")].count(b"\n") + 1, "The lines have Windows line ends (CRLF)."
        yield HealthProblem(WARNING, "line-ends", path, line, message, fixable=True)
    if b"<<<<<<< " not in data and b">>>>>>> " not in data:
        return
    for number, line_text in enumerate(data.decode(errors="replace").split("\n"), 1):
        if line_text.startswith(_MARKS):
            yield HealthProblem(ERROR, "conflict", path, number, "The marks of a merge conflict are still here.")
            return


def _pieces(data: bytes) -> Iterator[tuple[int, bytes]]:
    """Some whole lines at a time, with the number of the first line."""
    number = 1
    for lines in iter(partial(BytesIO(data).readlines, _PIECE), []):
        yield number, b"".join(lines)
        number += len(lines)


def read_summary(path: str, data: bytes) -> SummaryContent:
    """Read the page of an entity: its front matter and the markers of its generated part."""
    name = name_of_path(path) or path
    text = data.decode("utf-8-sig", errors="replace")
    problems: list[HealthProblem] = []
    described = _front_matter(path, text, problems)
    title, aliases = described.get("title"), described.get("aliases")
    if title is not None and not isinstance(title, str):
        problems.append(HealthProblem(WARNING, "front-matter", path, None, "The title is not text: put it in quotes."))
    if aliases is not None and not (isinstance(aliases, list) and all(isinstance(alias, str) for alias in aliases)):
        problems.append(HealthProblem(ERROR, "front-matter", path, None, "The aliases must be a list of texts."))
        aliases = None
    problems += _mark_problems(path, text)
    return SummaryContent(str(title or title_of(name)), tuple(aliases or ()), tuple(problems))


def alias_problems(aliases: Mapping[str, Sequence[str]], entities: Collection[str]) -> Iterator[HealthProblem]:
    """Paths that could mean two entities: an alias that is the path or an alias of another entity as well.

    `aliases` holds those of each entity that has a page.
    """
    bearers: dict[str, list[str]] = {}
    for name in sorted(aliases):
        for alias in dict.fromkeys(alias.lower() for alias in aliases[name] if is_entity_name(alias.lower())):
            bearers.setdefault(alias, []).append(name)
    for alias, names in sorted(bearers.items()):
        others = [name for name in names if name != alias]
        if others and (alias in entities or len(others) > 1):
            meant = f"leads to {alias} itself" if alias in entities else "could mean any of them"
            message = f"The alias '{alias}' of {' and '.join(others)} {meant}: remove it, or move one of them."
            yield HealthProblem(WARNING, "alias", summary_path(others[0]), None, message)


def _front_matter(path: str, text: str, problems: list[HealthProblem]) -> dict[str, Any]:
    front, _ = split_front_matter(text)
    if front is None:
        problems.append(HealthProblem(INFO, "front-matter", path, None, "The page has no front matter."))
        return {}
    try:
        described = parse_yaml(front, path)
    except Unreadable as problem:
        line = (problem.line or 0) + 1  # the fence before it is a line as well
        problems.append(HealthProblem(ERROR, "front-matter", path, line, f"The front matter {_why(problem)}."))
        return {}
    if described is None or isinstance(described, dict):
        return described or {}
    problems.append(HealthProblem(ERROR, "front-matter", path, 2, "The front matter must be keys and values."))
    return {}


def lost_marks(path: str, data: bytes) -> Iterator[HealthProblem]:
    """Yield the problem of a page of guardrails without its marks, and of a page of the wiki that lost one of them:
    what was generated before looks like a person's text, and stays as it is."""
    is_guardrails = path.rpartition("/")[2] == GUARDRAILS
    if not is_guardrails and not path.startswith("wiki/"):
        return
    text = data.decode("utf-8-sig", errors="replace")
    wrong = marker_problem(text)
    if wrong is None and is_guardrails and generated_part(text) is None:
        wrong = "it has no marks of clawmem"
    if wrong:
        message = f"The page is unusual: {wrong}. What was generated before may stand there twice: delete that copy."
        yield HealthProblem(WARNING, "marks", path, None, message)


def _mark_problems(path: str, text: str) -> Iterator[HealthProblem]:
    wrong = marker_problem(text)
    if wrong:
        yield HealthProblem(WARNING, "marks", path, None, f"The page is unusual: {wrong}.")
    elif generated_part(text) is None:
        message = "The page has no marks, so there is no place for its generated part."
        yield HealthProblem(WARNING, "marks", path, None, message, fixable=True)


def parse_problems(path: str, data: bytes) -> Iterator[HealthProblem]:
    """What keeps a file from being read as what its kind says. The same check decides about edits made by hand."""
    try:
        check_file(path, data)
    except Unreadable as problem:
        yield HealthProblem(ERROR, "unreadable", path, problem.line, f"The file cannot be read: {_reason(problem)}.")
    except ClawmemError as problem:
        yield HealthProblem(ERROR, "unreadable", path, None, f"The file cannot be read: {problem.message}")


_GONE = {*REMOVED, MODEL}


def settings_problems(text: str) -> Iterator[HealthProblem]:
    """The problems of `clawmem.yaml`."""
    try:
        mapping = parse_yaml(text, SETTINGS)
        settings = settings_from_mapping(mapping or {})
    except ClawmemError as problem:
        yield _yaml_problem("settings", SETTINGS, text, problem)
        return
    if not isinstance(mapping, dict) or "format" not in mapping:
        yield HealthProblem(WARNING, "format", SETTINGS, None, "The file does not name its format; 1 is assumed.")
    lost = [key for key, value in settings.unknown.items() if key in _GONE and value not in (None, REMOVED.get(key))]
    messages = {lost[0]: " ".join(map(removed_sentence, lost))} if lost else {}
    messages |= {key: f"There is no setting '{key}'; it has no effect." for key in settings.unknown.keys() - _GONE}
    for key, message in messages.items():
        yield HealthProblem(WARNING, "settings", SETTINGS, line_of_key(text, str(key)), message)


def catalog_problems(text: str) -> Iterator[HealthProblem]:
    """The problems of `predicates.yaml`."""
    try:
        catalog_from_mapping(parse_yaml(text, CATALOG) or {})
    except ClawmemError as problem:
        yield _yaml_problem("catalog", CATALOG, text, problem)


def _yaml_problem(check: str, path: str, text: str, problem: ClawmemError) -> HealthProblem:
    if isinstance(problem, Unreadable):
        return HealthProblem(ERROR, check, path, problem.line, f"The file {_why(problem)}.")
    named = _QUOTED.search(problem.message)
    line = line_of_key(text, named[1] or named[2]) if named else None
    return HealthProblem(ERROR, check, path, line, problem.message.removeprefix(f"{path}: "))


def _reason(problem: Unreadable) -> str:
    return str(problem).partition(" cannot be read: ")[2].rstrip(".")


def _why(problem: Unreadable) -> str:
    return _reason(problem).removeprefix("it ")


_NAMED = re.compile(r"(?<!\w)'(\w+)(?:[.\[][^']*)?'")


class FiledProposal(NamedTuple):
    """A proposal, its path, and the text of the file, to look up the line of a key."""

    proposal: Proposal
    path: str
    text: str

    def problem(self, severity: str, key: str, message: str, check: str = "proposal") -> HealthProblem:
        """A problem at the line of one key."""
        return HealthProblem(severity, check, self.path, line_of(self.text, key), f"{self.proposal.id} {message}.")


def read_review(path: str, data: bytes) -> tuple[FiledProposal | None, list[HealthProblem]]:
    """Read a proposal: the proposal, or None where it cannot be read, and the problems of the file."""
    text = data.decode("utf-8-sig", errors="replace")
    try:
        filed = FiledProposal(parse_proposal(data, path), path, text)
    except NeedsDecision:
        return None, []  # conflict markers are reported for every file alike
    except Unreadable as problem:
        why = str(problem).partition(" cannot be read: ")[2].rstrip(".")
        line = problem.line or _line_named(text, why)
        return None, [HealthProblem(ERROR, "proposal", path, line, f"The proposal cannot be read: {why}.")]
    return filed, list(_own_problems(filed))


def line_of(text: str, key: str) -> int | None:
    """The line on which a top-level key begins, or None where it cannot be found."""
    wanted = re.compile(rf'\s*+(?:[{{,]\s*+)?"{re.escape(key)}"\s*:')
    return next((number for number, line in enumerate(text.split("\n"), 1) if wanted.match(line)), None)


def _line_named(text: str, why: str) -> int | None:
    """The line of the first key that a message names: "the key 'worth.on'" is on the line of `worth`."""
    found = (line_of(text, name) for name in _NAMED.findall(why))
    return next((line for line in found if line is not None), None)


def _own_problems(filed: FiledProposal) -> Iterator[HealthProblem]:
    """The problems of a proposal that can be read, by itself."""
    proposal = filed.proposal
    yield from _time_problems(filed)
    match = find_secret(filed.text)
    if match:
        yield filed.problem(WARNING, "says", f"holds what looks like a credential ({match.rule})", "secret")
    if proposal.status == OPEN and proposal.decided:
        yield filed.problem(WARNING, "decided", "is open, but has a decision")
    try:
        check_reference(proposal.id)
    except InvalidInput:
        yield filed.problem(ERROR, "id", "cannot be an id: no command can name it")
    if proposal.entity is not None and proposal.status == OPEN:
        try:
            check_name(proposal.entity)
        except ClawmemError as problem:
            yield filed.problem(WARNING, "entity", f"cannot be approved: {problem.message.rstrip('.')}")


def _time_problems(filed: FiledProposal) -> Iterator[HealthProblem]:
    proposal = filed.proposal
    times = {"created": proposal.created, **({"decided": proposal.decided.at} if proposal.decided else {})}
    for key, value in times.items():
        try:
            moment_of(value)
        except ValueError:
            yield filed.problem(ERROR, key, f"has '{value[:40]}' as the time it was {key}, which is not a time")
