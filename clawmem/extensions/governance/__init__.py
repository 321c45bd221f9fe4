"""Governance: suites of tests on the memory, the evaluation of tasks, failures, and principles."""

from clawmem.extension import Extension

_HERE = "clawmem.extensions.governance"

EXTENSION = Extension(
    name="governance",
    verbs={verb: f"{_HERE}.verbs.{verb}" for verb in ("eval", "evaluate", "failure", "principle")},
    kinds=f"{_HERE}.kinds:KINDS",
    completions={
        "suite": f"{_HERE}.suites.store:completed_suites",
        "principle": f"{_HERE}.verbs.principle:completed_principles",
    },
    answers={
        "alignment": f"{_HERE}.alignment:alignment_numbers",
        "decided tasks": f"{_HERE}.alignment:record_decisions",
    },
)
