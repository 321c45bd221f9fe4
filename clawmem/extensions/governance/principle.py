"""Principles (`governance/principles.yaml`): rules for files, each with a check and with examples that prove it.

Regular expressions that could take very long are refused.
"""

from __future__ import annotations

import re
import re._constants as kinds  # type: ignore[import-not-found] # the only reader of patterns in the standard library
import re._parser as parser  # type: ignore[import-not-found]
import warnings
from collections.abc import Mapping, Sequence
from typing import Annotated, Any, NamedTuple

from clawmem.errors import InvalidInput
from clawmem.model.forms import ONE_OR_MORE, Before, FilledText, WrongValue, no_other_keys, read_record, wrong
from clawmem.model.records.allowed_command import words_of
from clawmem.model.records.parsing import Yaml, keyed_records

LONGEST_PATTERN = 1000
_MOST_OPEN, _MOST_WAYS = 3, 4096
# A repetition with more possible counts than this is as good as open.
_WIDE = 16
_REPEATS = frozenset((kinds.MAX_REPEAT, kinds.MIN_REPEAT, kinds.POSSESSIVE_REPEAT))
_HINT = "Write it with one level of repetition, such as [a-z. ]+ instead of ([a-z]+[. ])+."


def bounded_pattern(source: str) -> re.Pattern[str]:
    """Compile a pattern. Raise InvalidInput if it is not valid, or if it could take very long on some text."""
    if len(source) > LONGEST_PATTERN:
        raise InvalidInput(f"the pattern has {len(source):,} characters; the limit is {LONGEST_PATTERN:,}")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")  # what Python warns about means something else in a later version
            pattern = re.compile(source)
            tree = parser.parse(source)
    except (re.error, OverflowError, RecursionError, Warning) as problem:
        raise InvalidInput(f"'{source}' is not a regular expression: {problem}") from None
    opened, ways = _cost(tree, False)
    if opened > _MOST_OPEN or ways > _MOST_WAYS:
        raise InvalidInput(f"the pattern could take very long: it has more than {_MOST_OPEN} open repetitions", _HINT)
    return pattern


def _cost(tree: Any, repeated: bool) -> tuple[int, int]:
    """Return the number of open repetitions, and in how many ways the others can match."""
    opened, ways = 0, 1
    for kind, value in tree:
        more, other = _cost_of(kind, value, repeated)
        opened, ways = opened + more, ways * other
    return opened, ways


def _cost_of(kind: Any, value: Any, repeated: bool) -> tuple[int, int]:
    if kind in _REPEATS:
        least, most, body = value
        return _cost_of_repeat(least, most, body, repeated)
    if kind is kinds.BRANCH:
        branches = value[1]
        if repeated and not _begin_differently(branches):
            raise InvalidInput("the pattern could take very long: it repeats alternatives that begin alike", _HINT)
        costs = [_cost(branch, repeated) for branch in branches]
        return max(opened for opened, _ in costs), sum(ways for _, ways in costs)
    if kind in (kinds.GROUPREF, kinds.GROUPREF_EXISTS):
        raise InvalidInput("the pattern refers back to a group, which can take very long")
    if kind is kinds.SUBPATTERN:
        return _cost(value[3], repeated)
    if kind in (kinds.ASSERT, kinds.ASSERT_NOT):
        return _cost(value[1], repeated)
    return _cost(value, repeated) if kind is kinds.ATOMIC_GROUP else (0, 1)


def _cost_of_repeat(least: int, most: int, body: Any, repeated: bool) -> tuple[int, int]:
    if least == most:
        opened, ways = _cost(body, repeated)
        return opened * min(most, 100), ways ** min(most, 100)
    if repeated:
        raise InvalidInput("the pattern could take very long: it repeats a repetition", _HINT)
    if most == 1:
        opened, ways = _cost(body, False)
        return opened, ways + 1
    _cost(body, True)
    return (1, 1) if most - least > _WIDE else (0, most - least + 1)


def _begin_differently(branches: Any) -> bool:
    firsts = [branch[0] if len(branch) else None for branch in branches]
    letters = [chr(first[1]).casefold() for first in firsts if first is not None and first[0] is kinds.LITERAL]
    return len(letters) == len(firsts) == len(set(letters))


PRINCIPLES_PATH = "governance/principles.yaml"
LONGEST_EXAMPLE = 200
_MOST_DEEP = 3
_CHECK = "{regex: PATTERN} or {command: COMMAND}"


class RuleCheck(NamedTuple):
    """The check of a rule: the pattern that no line may match, or a command that must exit with 0."""

    pattern: re.Pattern[str] | None
    command: str | None = None


def _check(value: Any) -> RuleCheck:
    kind, text = next(iter(value.items())) if isinstance(value, Mapping) and len(value) == 1 else (None, None)
    if kind not in ("regex", "command") or not isinstance(text, str) or not text.strip():
        raise wrong(_CHECK, value)
    try:
        if kind == "regex":
            return RuleCheck(bounded_pattern(text))
        words_of(text)
        return RuleCheck(None, text)
    except InvalidInput as problem:
        raise WrongValue(f"cannot be used: {problem.message.rstrip('.')}") from None


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
    def pattern(self) -> re.Pattern[str] | None:
        """Return the pattern that no line may match, or None."""
        return self.check.pattern

    @property
    def command(self) -> str | None:
        """Return the command that must exit with 0, or None."""
        return self.check.command

    def breaks(self, line: str) -> tuple[int, int] | None:
        """Return where a line matches the pattern, as a half-open range of characters, or None."""
        found = self.pattern.search(line) if self.pattern else None
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
            if any(principle.breaks(line) for line in example.splitlines()) != should:
                text = "passes the check, but it should fail" if should else "fails the check, but it should pass"
                raise WrongValue(f"{text}: {example.strip()}", key)
    return principle


class PathMatcher:
    """Says whether a file is one that globs name. A glob is held against the whole path, or, if it has no `/`, against
    the name. `*` and `?` stay within a name; `**` is any number of folders. A glob that begins with `!` takes files
    out; the last glob that matches counts."""

    def __init__(self, globs: tuple[str, ...]) -> None:
        self._rules = [(not glob.startswith("!"), re.compile(_translated(glob.removeprefix("!")))) for glob in globs]
        # A list that only takes files out is about all others.
        self._otherwise = all(not wanted for wanted, _ in self._rules)

    def matches(self, path: str) -> bool:
        """Return whether the globs name a path, which has `/` between its parts."""
        return next((wanted for wanted, rule in reversed(self._rules) if rule.fullmatch(path)), self._otherwise)


def _translated(glob: str) -> str:
    parts = glob.strip("/").split("/")
    if "/" not in glob:
        parts = ["**", *parts]
    items = ["(?:[^/]+/)*" if part == "**" else f"{_name(part)}/" for part in parts[:-1]]
    return "".join(["\\A", *items, "(?s:.+)" if parts[-1] == "**" else _name(parts[-1])])


def _name(part: str) -> str:
    """Return a pattern for a name. Behind each `*` but the last, the first fit is enough: nothing is tried twice."""
    pieces = ["".join("[^/]" if letter == "?" else re.escape(letter) for letter in word) for word in part.split("*")]
    if len(pieces) == 1:
        return pieces[0]
    between = "".join(f"(?>[^/]*?{piece})" for piece in pieces[1:-1] if piece)
    return f"{pieces[0]}{between}[^/]*{pieces[-1]}"


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
