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
        for arm in dict.fromkeys(score.arm for score in run.scores):
            _suite(root, run, arm, [score for score in run.scores if score.arm == arm])
    for count in ("tests", "failures", "errors", "skipped"):
        root.set(count, str(sum(int(element.get(count, "0")) for element in root)))
    root.set("time", "0")
    indent(root)
    return '<?xml version="1.0" encoding="UTF-8"?>\n' + tostring(root, encoding="unicode") + "\n"


def _suite(root: Element, run: EvalRun, arm: str, scores: list[EvalScore]) -> None:
    name = f"{run.suite} ({arm})"
    failed, skipped = (sum(score.outcome == outcome for score in scores) for outcome in (FAILED, UNJUDGED))
    suite = SubElement(
        root, "testsuite", name=name, tests=str(len(scores)), failures=str(failed), errors="0", skipped=str(skipped),
        time="0", timestamp=run.timestamp.removesuffix("Z"), hostname="localhost",
    )  # fmt: skip
    for score in scores:
        case = SubElement(suite, "testcase", classname=name, name=_plain(score.test), time="0")
        reasons = _plain("\n".join(score.reasons))
        if score.outcome == FAILED:
            failure = SubElement(case, "failure", message=reasons.partition("\n")[0], type="assertion")
            failure.text = reasons
        elif score.outcome == UNJUDGED:
            SubElement(case, "skipped", message=reasons.partition("\n")[0])


def _plain(text: str) -> str:
    shown = visible(text)
    return "".join(
        name if name in "\t\n" or name.isprintable() or name == " " else f"\\u{ord(name):04x}" for name in shown
    )
