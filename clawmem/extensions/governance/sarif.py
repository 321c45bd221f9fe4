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
