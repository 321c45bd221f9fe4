"""Principles (`governance/principles.yaml`): rules for files, each with a check and with examples that prove it."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import NamedTuple

from clawmem.errors import InvalidInput
from clawmem.model.records.allowed_command import words_of
from clawmem.model.records.keyed_entries import EntryForm, KeyedEntry, keyed_entries
from clawmem.model.records.parsing import Yaml
from clawmem.model.safety.user_patterns import bounded_pattern

PRINCIPLES_PATH = "governance/principles.yaml"
LONGEST_EXAMPLE = 200
_MOST_DEEP = 3
_FORM = EntryForm(("rule", "reason", "paths", "check", "good", "bad"), "principle", "rules")


class Principle(NamedTuple):
    """A rule: what it says and why, the files it is about (globs; one that begins with `!` takes files out), and its
    check: the pattern that no line of them may match, or a command that must exit with 0. `good` and `bad` are lines
    that keep it and break it; a rule with a command may do without them."""

    id: str
    rule: str
    reason: str
    paths: tuple[str, ...]
    pattern: re.Pattern[str] | None
    command: str | None = None
    good: tuple[str, ...] = ()
    bad: tuple[str, ...] = ()

    def breaks(self, line: str) -> tuple[int, int] | None:
        """Return where a line matches the pattern, as a half-open range of characters, or None."""
        found = self.pattern.search(line) if self.pattern else None
        return found.span() if found else None


def parse_principles(data: bytes, path: str, yaml: Yaml) -> tuple[Principle, ...]:
    """Read the principles in file order. Raise Unreadable, with the line and the key, if one has the wrong form, or if
    an example does not prove its rule: the good ones must pass the check, and the bad ones fail it."""
    return tuple(_principle(one) for one in keyed_entries(data, path, yaml, _FORM))


def _principle(entry: KeyedEntry) -> Principle:
    name, held = entry.id, entry.held
    for key in ("rule", "reason"):
        if not isinstance(held.get(key), str) or not held[key].strip():
            raise entry.wrong(key, "is missing or not text")
    pattern, command = _check(entry)
    lists = {}
    for key in ("paths", "good", "bad"):
        words = [held[key]] if isinstance(held.get(key), str) else held.get(key)
        if words is None and (key == "paths" or command is not None):
            words = ["**"] if key == "paths" else []
        if not isinstance(words, list) or not all(isinstance(one, str) and one for one in words):
            raise entry.wrong(key, "is missing, or no list of texts")
        if not words and (key == "paths" or command is None):
            raise entry.wrong(key, "is missing, or no list of texts")
        if key == "paths" and any(one.split("/").count("**") > _MOST_DEEP for one in words):
            raise entry.wrong(key, f"has a glob with more than {_MOST_DEEP} of **")
        lists[key] = tuple(words)
    found = Principle(name, held["rule"].strip(), held["reason"].strip(), pattern=pattern, command=command, **lists)
    if pattern is None:
        return found
    for key, should in (("good", False), ("bad", True)):
        for example in lists[key]:
            if len(example) > LONGEST_EXAMPLE:
                raise entry.wrong(key, f"is longer than {LONGEST_EXAMPLE} characters")
            if any(found.breaks(line) for line in example.splitlines()) != should:
                said = "passes the check, but it should fail" if should else "fails the check, but it should pass"
                raise entry.wrong(key, f"{said}: {example.strip()}")
    return found


def _check(entry: KeyedEntry) -> tuple[re.Pattern[str] | None, str | None]:
    """Return the pattern or the command of a check."""
    held = entry.held.get("check")
    kind, value = next(iter(held.items())) if isinstance(held, Mapping) and len(held) == 1 else (None, None)
    if kind not in ("regex", "command") or not isinstance(value, str) or not value.strip():
        raise entry.wrong("check", "is missing or wrong; it is {regex: PATTERN} or {command: COMMAND}")
    try:
        if kind == "regex":
            return bounded_pattern(value), None
        words_of(value)
        return None, value
    except InvalidInput as problem:
        raise entry.wrong("check", f"cannot be used: {problem.message.rstrip('.')}") from None


class PathMatcher:
    """Says whether a file is one that globs name. A glob is held against the whole path, or, if it has no `/`, against
    the name. `*` and `?` stay within a name; `**` is any number of folders. A glob that begins with `!` takes files
    out; the last glob that matches counts."""

    def __init__(self, globs: tuple[str, ...]) -> None:
        self._rules = [(not one.startswith("!"), re.compile(_translated(one.removeprefix("!")))) for one in globs]
        # A list that only takes files out is about all others.
        self._otherwise = all(not wanted for wanted, _ in self._rules)

    def matches(self, path: str) -> bool:
        """Return whether the globs name a path, which has `/` between its parts."""
        return next((wanted for wanted, rule in reversed(self._rules) if rule.fullmatch(path)), self._otherwise)


def _translated(glob: str) -> str:
    parts = glob.strip("/").split("/")
    if "/" not in glob:
        parts = ["**", *parts]
    said = ["(?:[^/]+/)*" if part == "**" else f"{_name(part)}/" for part in parts[:-1]]
    return "".join(["\\A", *said, "(?s:.+)" if parts[-1] == "**" else _name(parts[-1])])


def _name(part: str) -> str:
    """Return a pattern for a name. Behind each `*` but the last, the first fit is enough, so that nothing is tried
    twice."""
    pieces = ["".join("[^/]" if letter == "?" else re.escape(letter) for letter in one) for one in part.split("*")]
    if len(pieces) == 1:
        return pieces[0]
    between = "".join(f"(?>[^/]*?{one})" for one in pieces[1:-1] if one)
    return f"{pieces[0]}{between}[^/]*{pieces[-1]}"
