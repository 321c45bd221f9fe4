"""A run as JUnit XML, in the form that continuous integration systems read."""

from __future__ import annotations

from collections.abc import Iterable
from xml.etree.ElementTree import Element, SubElement, indent, tostring

from clawmem.extensions.governance.suites.eval_run import FAILED, UNJUDGED, EvalRun, EvalScore
from clawmem.model.language.text import visible


def junit_xml(runs: Iterable[EvalRun]) -> str:
    """Return the runs as one document: a test suite for each suite and arm, a failure for each test that failed, and a
    skipped test for each that was not judged. Characters that XML cannot contain are written as escapes."""
    root = Element("testsuites", name="clawmem eval")
    for run in runs:
        for arm in dict.fromkeys(one.arm for one in run.scores):
            _suite(root, run, arm, [one for one in run.scores if one.arm == arm])
    for count in ("tests", "failures", "errors", "skipped"):
        root.set(count, str(sum(int(one.get(count, "0")) for one in root)))
    root.set("time", "0")
    indent(root)
    return '<?xml version="1.0" encoding="UTF-8"?>\n' + tostring(root, encoding="unicode") + "\n"


def _suite(root: Element, run: EvalRun, arm: str, scores: list[EvalScore]) -> None:
    name = f"{run.suite} ({arm})"
    failed, skipped = (sum(one.outcome == outcome for one in scores) for outcome in (FAILED, UNJUDGED))
    suite = SubElement(
        root, "testsuite", name=name, tests=str(len(scores)), failures=str(failed), errors="0", skipped=str(skipped),
        time="0", timestamp=run.timestamp.removesuffix("Z"), hostname="localhost",
    )  # fmt: skip
    for one in scores:
        case = SubElement(suite, "testcase", classname=name, name=_plain(one.test), time="0")
        reasons = _plain("\n".join(one.reasons))
        if one.outcome == FAILED:
            failure = SubElement(case, "failure", message=reasons.partition("\n")[0], type="assertion")
            failure.text = reasons
        elif one.outcome == UNJUDGED:
            SubElement(case, "skipped", message=reasons.partition("\n")[0])


def _plain(text: str) -> str:
    shown = visible(text)
    return "".join(one if one in "\t\n" or one.isprintable() or one == " " else f"\\u{ord(one):04x}" for one in shown)
