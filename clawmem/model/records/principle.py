"""Principles (`governance/principles.yaml`): rules for files, each with a check and with examples that prove it."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, NamedTuple

from clawmem.errors import InvalidInput, Unreadable
from clawmem.model.records.parsing import Yaml, text, yaml_value
from clawmem.model.records.yaml_lines import line_of_key
from clawmem.model.safety.user_patterns import bounded_pattern

PRINCIPLES_PATH = "governance/principles.yaml"
LONGEST_EXAMPLE = 200
_ID = re.compile(r"[a-z0-9](?:[a-z0-9-]{0,62}[a-z0-9])?")
_KEYS = ("rule", "reason", "paths", "check", "good", "bad")


class Principle(NamedTuple):
    """A rule: what it says and why, the files it is about (globs; one that begins with `!` takes files out), and the
    pattern that no line of them may match. `good` and `bad` are lines that keep it and break it."""

    id: str
    rule: str
    reason: str
    paths: tuple[str, ...]
    pattern: re.Pattern[str]
    good: tuple[str, ...] = ()
    bad: tuple[str, ...] = ()

    def breaks(self, line: str) -> tuple[int, int] | None:
        """Return where a line breaks the rule, as a half-open range of characters, or None."""
        found = self.pattern.search(line)
        return found.span() if found else None


def parse_principles(data: bytes, path: str, yaml: Yaml) -> tuple[Principle, ...]:
    """Read the principles in file order. Raise Unreadable, with the line and the key, if one has the wrong form, or if
    an example does not prove its rule: the good ones must pass the check, and the bad ones fail it."""
    held = yaml_value(data, path, yaml)
    written = text(data, path, yaml)
    if held is None:
        return ()
    if not isinstance(held, Mapping):
        raise Unreadable(path, None, "it does not map the ids of principles to their rules")
    return tuple(_principle(str(name), one, path, written) for name, one in held.items())


def _principle(name: str, held: Any, path: str, written: str) -> Principle:
    def wrong(key: str, what: str) -> Unreadable:
        line = line_of_key(written, key) or line_of_key(written, name)
        return Unreadable(path, line, f"the key '{key}' {what}")

    if not _ID.fullmatch(name):
        raise wrong(name, "is no id of a principle: use lower-case letters, digits and -")
    if not isinstance(held, Mapping):
        raise wrong(name, f"has no keys below it; the keys are {', '.join(_KEYS)}")
    for key in held:
        if key not in _KEYS:
            raise wrong(f"{name}.{key}", f"is unknown; the keys are {', '.join(_KEYS)}")
    for key in ("rule", "reason"):
        if not isinstance(held.get(key), str) or not held[key].strip():
            raise wrong(f"{name}.{key}", "is missing or not text")
    lists = {}
    for key in ("paths", "good", "bad"):
        words = [held[key]] if isinstance(held.get(key), str) else held.get(key)
        if key == "paths" and words is None:
            words = ["**"]
        if not isinstance(words, list) or not words or not all(isinstance(one, str) and one for one in words):
            raise wrong(f"{name}.{key}", "is missing, or no list of texts")
        lists[key] = tuple(words)
    check = held.get("check")
    if not isinstance(check, Mapping) or list(check) != ["regex"] or not isinstance(check["regex"], str):
        raise wrong(f"{name}.check", "is missing or has no regex; it is `check: {regex: PATTERN}`")
    try:
        pattern = bounded_pattern(check["regex"])
    except InvalidInput as problem:
        raise wrong(f"{name}.check", f"cannot be used: {problem.message.rstrip('.')}") from None
    found = Principle(name, held["rule"].strip(), held["reason"].strip(), pattern=pattern, **lists)
    for key, should in (("good", False), ("bad", True)):
        for example in lists[key]:
            if len(example) > LONGEST_EXAMPLE:
                raise wrong(f"{name}.{key}", f"is longer than {LONGEST_EXAMPLE} characters")
            if any(found.breaks(line) for line in example.splitlines()) != should:
                said = "passes the check, but it should fail" if should else "fails the check, but it should pass"
                raise wrong(f"{name}.{key}", f"{said}: {example.strip()}")
    return found


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
    if len(parts) == 1 and "/" not in glob:
        parts = ["**", *parts]
    said = []
    for at, part in enumerate(parts):
        last = at == len(parts) - 1
        if part == "**":
            said.append("(?s:.+)" if last else "(?:[^/]+/)*+")
        else:
            letters = (_LETTERS.get(letter) or re.escape(letter) for letter in re.sub(r"\*+", "*", part))
            said.append("".join(letters) + ("" if last else "/"))
    return "".join(said)


_LETTERS = {"*": "[^/]*", "?": "[^/]"}
