"""Findings in the Static Analysis Results Interchange Format (SARIF) 2.1.0, an OASIS standard."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from clawmem.extensions.governance.principle import Principle

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
    """Return the log of one run, with a rule for each principle and a result for each finding. `not_run` says of each
    check that did not run why."""
    places = {one.id: at for at, one in enumerate(principles)}
    rules = [
        {
            "id": one.id,
            "shortDescription": {"text": one.rule},
            "fullDescription": {"text": f"{one.rule} {one.reason}"},
            "help": {"text": one.reason + "".join(f"\n\n{word}: {line}" for word, line in _examples(one))},
        }
        for one in principles
    ]
    driver = {
        "name": "clawmem",
        "version": version,
        "informationUri": "https://pypi.org/project/clawmem-vault/",
        "rules": rules,
    }
    told = [{"level": "error", "message": {"text": one}} for one in not_run]
    run = {
        "tool": {"driver": driver},
        "invocations": [{"executionSuccessful": not not_run, "toolExecutionNotifications": told}],
        "columnKind": "unicodeCodePoints",
        "results": [_result(one, places[one.principle]) for one in findings],
    }
    return {"$schema": SCHEMA, "version": "2.1.0", "runs": [run]}


def _examples(one: Principle) -> list[tuple[str, str]]:
    return [*(("Right", line) for line in one.good[:1]), *(("Wrong", line) for line in one.bad[:1])]


def _result(one: Finding, at: int) -> dict[str, Any]:
    region = {"startLine": one.line, "startColumn": one.start, "endColumn": one.end, "snippet": {"text": one.text}}
    if one.line == 0:
        return {"ruleId": one.principle, "ruleIndex": at, "level": "error", "message": {"text": one.text}}
    place = {"artifactLocation": {"uri": _uri(one.path)}, "region": region}
    return {
        "ruleId": one.principle,
        "ruleIndex": at,
        "level": "error",
        "message": {"text": one.rule},
        "locations": [{"physicalLocation": place}],
    }


_UNRESERVED = frozenset(b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~/")


def _uri(path: str) -> str:
    """Return a path as a relative URI (RFC 3986): every other byte is escaped."""
    data = path.encode(errors="surrogateescape")
    return "".join(chr(byte) if byte in _UNRESERVED else f"%{byte:02X}" for byte in data)
