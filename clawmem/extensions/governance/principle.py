"""Principles (`governance/principles.yaml`): rules for files, each with a check and with examples that prove it."""

from __future__ import annotations

import re
import warnings
from collections.abc import Mapping, Sequence
from fnmatch import fnmatchcase
from typing import Annotated, Any, NamedTuple

from clawmem.errors import InvalidInput
from clawmem.model.forms import ONE_OR_MORE, Before, FilledText, WrongValue, no_other_keys, read_record, wrong
from clawmem.model.records.allowed_command import words_of
from clawmem.model.records.parsing import Yaml, keyed_records

PRINCIPLES_PATH = "governance/principles.yaml"
LONGEST_EXAMPLE = 200
_LONGEST_PATTERN = 1000
# Seconds for a line of an example: a stranger may have written the pattern.
_EXAMPLE_SECONDS = 0.1
_MOST_DEEP = 3
_CHECK = "{regex: PATTERN} or {command: COMMAND}"
# A brace that counts nothing is a letter in Python's expressions, and allows errors in those of `regex`.
_BRACE = re.compile(r"\\(?:N\{[^}]*\}|.)|\{(?![0-9]*+,?[0-9]*+\})", re.DOTALL)


class RuleCheck(NamedTuple):
    """The check of a rule: the pattern that no line may match, of the package `regex`, or a command that must exit
    with 0."""

    pattern: Any
    command: str | None = None


def _check(value: Any) -> RuleCheck:
    kind, text = next(iter(value.items())) if isinstance(value, Mapping) and len(value) == 1 else (None, None)
    if kind not in ("regex", "command") or not isinstance(text, str) or not text.strip():
        raise wrong(_CHECK, value)
    if kind == "regex":
        return RuleCheck(_compiled(text))
    try:
        words_of(text)
    except InvalidInput as problem:
        raise WrongValue(f"cannot be used: {problem.message.rstrip('.')}") from None
    return RuleCheck(None, text)


def _compiled(source: str) -> Any:
    import regex  # has a time limit, which `re` lacks, and is slow to import

    if len(source) > _LONGEST_PATTERN:
        raise WrongValue(f"has {len(source):,} characters; the limit is {_LONGEST_PATTERN:,}")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")  # what Python warns about means something else in `regex`
            re.compile(source)  # refuses what only `regex` has, such as recursion, which takes all memory
        return regex.compile(_BRACE.sub(lambda found: found[0] if found[0] != "{" else r"\{", source))
    except (re.error, regex.error, OverflowError, RecursionError, Warning) as problem:
        raise WrongValue(f"'{source}' is not a regular expression: {problem}") from None


def _globs(globs: tuple[str, ...]) -> tuple[str, ...]:
    if not globs or any(glob.split("/").count("**") > _MOST_DEEP for glob in globs):
        raise WrongValue(f"has a glob with more than {_MOST_DEEP} of **" if globs else "is an empty list")
    return globs


@no_other_keys
class Principle(NamedTuple):
    """A rule: what it says and why, the files it is about (globs; one that begins with `!` takes files out), and its
    check. `good` and `bad` are lines that keep it and break it; a rule with a command may do without them."""

    id: str
    rule: FilledText
    reason: FilledText
    check: Annotated[RuleCheck, Before(_check, _CHECK)]
    paths: Annotated[tuple[FilledText, ...], ONE_OR_MORE, _globs] = ("**",)
    good: Annotated[tuple[str, ...], ONE_OR_MORE] = ()
    bad: Annotated[tuple[str, ...], ONE_OR_MORE] = ()

    @property
    def pattern(self) -> Any:
        """Return the pattern that no line may match, or None."""
        return self.check.pattern

    @property
    def command(self) -> str | None:
        """Return the command that must exit with 0, or None."""
        return self.check.command

    def breaks(self, line: str, seconds: float = _EXAMPLE_SECONDS) -> tuple[int, int] | None:
        """Return where a line matches the pattern, as a half-open range of characters, or None. Raise TimeoutError if
        that takes more than `seconds`."""
        found = self.pattern.search(line, timeout=seconds) if self.pattern else None
        return found.span() if found else None


def parse_principles(data: bytes, path: str, yaml: Yaml) -> tuple[Principle, ...]:
    """Read the principles in file order. Raise Unreadable, with the line and the key, if one has the wrong form, or if
    an example does not prove its rule: the good ones must pass the check, and the bad ones fail it."""
    return tuple(keyed_records(_principle, "principle", data, path, yaml).values())


def _principle(name: str, entry: Any) -> Principle:
    principle = read_record(Principle, entry, id=name)
    for key, should in (("good", False), ("bad", True)):
        examples = getattr(principle, key)
        if not examples and principle.command is None:
            raise WrongValue("is missing; it must be a list", key)
        for example in examples if principle.pattern else ():
            if len(example) > LONGEST_EXAMPLE:
                raise WrongValue(f"is longer than {LONGEST_EXAMPLE} characters", key)
            try:
                breaks = any(map(principle.breaks, example.splitlines()))
            except TimeoutError:
                raise WrongValue(f"takes the check very long: {example.strip()}", key) from None
            if breaks != should:
                text = "passes the check, but it should fail" if should else "fails the check, but it should pass"
                raise WrongValue(f"{text}: {example.strip()}", key)
    return principle


class PathMatcher:
    """Says whether a file is one that globs name. A glob is held against the whole path, or, if it has no `/`, against
    the name. `*` and `?` stay within a name; `**` is any number of folders. A glob that begins with `!` takes files
    out; the last glob that matches counts."""

    def __init__(self, globs: tuple[str, ...]) -> None:
        self._rules = [(not glob.startswith("!"), _parts(glob.removeprefix("!"))) for glob in globs]
        # A list that only takes files out is about all others.
        self._otherwise = all(not wanted for wanted, _ in self._rules)

    def matches(self, path: str) -> bool:
        """Return whether the globs name a path, which has `/` between its parts."""
        parts = tuple(path.split("/"))
        return next((wanted for wanted, glob in reversed(self._rules) if _fits(parts, glob)), self._otherwise)


def _parts(glob: str) -> tuple[str, ...]:
    """Return the parts of a glob, in which a bracket is a letter, as in the folder `[id]`."""
    return (*(() if "/" in glob else ("**",)), *glob.replace("[", "[[]").strip("/").split("/"))


def _fits(parts: Sequence[str], glob: Sequence[str]) -> bool:
    """Return whether a glob fits a path, both in parts. All fits are followed at once, so that none is tried twice."""
    ends = {0}
    for name in glob:
        if name == "**":
            ends = set(range(min(ends, default=len(parts)), len(parts)))
        else:
            ends = {at + 1 for at in ends if at < len(parts) and fnmatchcase(parts[at], name)}
    return bool(ends) if glob[-1] == "**" else len(parts) in ends


SCHEMA = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"


class Finding(NamedTuple):
    """A line that breaks a principle. `path` is relative to the checked folder; `line`, `start` and `end` count from 1,
    `end` is behind the last character. Line 0 stands for the whole, where a command names no line."""

    path: str
    line: int
    start: int
    end: int
    principle: str
    rule: str
    text: str


def sarif_log(
    findings: Sequence[Finding], principles: Sequence[Principle], version: str, not_run: Sequence[str] = ()
) -> dict[str, Any]:
    """Return the log of one run: a rule for each principle, a result for each finding, and why checks did not run."""
    places = {principle.id: at for at, principle in enumerate(principles)}
    rules = [
        {
            "id": principle.id,
            "shortDescription": {"text": principle.rule},
            "fullDescription": {"text": f"{principle.rule} {principle.reason}"},
            "help": {"text": principle.reason + "".join(f"\n\n{word}: {line}" for word, line in _examples(principle))},
        }
        for principle in principles
    ]
    driver = {
        "name": "clawmem",
        "version": version,
        "informationUri": "https://pypi.org/project/clawmem-vault/",
        "rules": rules,
    }
    items = [{"level": "error", "message": {"text": text}} for text in not_run]
    run = {
        "tool": {"driver": driver},
        "invocations": [{"executionSuccessful": not not_run, "toolExecutionNotifications": items}],
        "columnKind": "unicodeCodePoints",
        "results": [_result(finding, places[finding.principle]) for finding in findings],
    }
    return {"$schema": SCHEMA, "version": "2.1.0", "runs": [run]}


def _examples(principle: Principle) -> list[tuple[str, str]]:
    return [*(("Right", line) for line in principle.good[:1]), *(("Wrong", line) for line in principle.bad[:1])]


def _result(finding: Finding, at: int) -> dict[str, Any]:
    region = {
        "startLine": finding.line,
        "startColumn": finding.start,
        "endColumn": finding.end,
        "snippet": {"text": finding.text},
    }
    if finding.line == 0:
        return {"ruleId": finding.principle, "ruleIndex": at, "level": "error", "message": {"text": finding.text}}
    place = {"artifactLocation": {"uri": _uri(finding.path)}, "region": region}
    return {
        "ruleId": finding.principle,
        "ruleIndex": at,
        "level": "error",
        "message": {"text": finding.rule},
        "locations": [{"physicalLocation": place}],
    }


_UNRESERVED = frozenset(b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~/")


def _uri(path: str) -> str:
    """Return a path as a relative URI (RFC 3986): every other byte is escaped."""
    data = path.encode(errors="surrogateescape")
    return "".join(chr(byte) if byte in _UNRESERVED else f"%{byte:02X}" for byte in data)
