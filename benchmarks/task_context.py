"""Context for a task: two workflows in one vault, forty questions, and what a context of 800 tokens holds.

The facts and the questions were written before the ranking was tuned. Run it with `python -m benchmarks.task_context`.
Each question is asked by an agent in one project of one workflow. It counts as answered if the fact with its answer is
in the context. A line of another workflow or project is noise, and so is a line of somebody's private life.
"""

from __future__ import annotations

import random
import shutil
import tempfile
from datetime import UTC, datetime
from pathlib import Path
from typing import NamedTuple

from clawmem.memory.facts.remember import remember
from clawmem.model.facts.draft import Draft, draft_from_record
from clawmem.model.facts.reach import Reach
from clawmem.model.records.caller import Caller
from clawmem.serving.context.context import context
from clawmem.vault.exchange.create import create_vault

NOW = datetime(2026, 11, 21, 9, 30, tzinfo=UTC)
BUDGET = 800

# Workflow, project ('' is the team, '*' the framework), category, words. An importance of 0 is none.
FACTS: tuple[tuple[str, str, str, str], ...] = (
    ("software", "upload", "lesson", "Run the database migrations before the integration tests."),
    ("software", "upload", "lesson", "The proxy cuts request bodies above 1 MB unless buffering is off."),
    ("software", "upload", "lesson", "Set the chunk size to 8 MB; smaller chunks doubled the upload time."),
    ("software", "upload", "lesson", "Mock S3 with MinIO in the tests; the real bucket rate-limits the CI."),
    ("software", "upload", "lesson", "Restart the worker after changing the queue name, or it reads the old one."),
    ("software", "upload", "decision", "Uploads are streamed to object storage and never buffered on disk."),
    ("software", "upload", "decision", "Virus scanning happens after the upload, in a background job."),
    ("software", "upload", "decision", "The resumable protocol is tus 1.0, not a protocol of our own."),
    ("software", "upload", "fact", "The upload service listens on port 8443."),
    ("software", "upload", "fact", "The staging bucket is called acme-upload-staging."),
    ("software", "upload", "fact", "Priya owns the upload service and reviews its pull requests."),
    ("software", "upload", "fact", "Files above 5 GB are refused with status 413."),
    ("software", "billing", "lesson", "Round amounts only when an invoice is printed, never in between."),
    ("software", "billing", "lesson", "Replay webhooks from the payment provider with their original timestamps."),
    ("software", "billing", "lesson", "The tax tests fail in the first hours of January UTC; pin the clock."),
    ("software", "billing", "lesson", "Take the ledger lock before the account lock, or transfers deadlock."),
    ("software", "billing", "decision", "Invoices are numbered by the database sequence, without gaps."),
    ("software", "billing", "decision", "Refunds create a credit note and never change the invoice."),
    ("software", "billing", "decision", "Currency amounts are stored as integers of the minor unit."),
    ("software", "billing", "fact", "The billing service uses PostgreSQL 16 with logical replication."),
    ("software", "billing", "fact", "The sandbox key of the payment provider expires every 90 days."),
    ("software", "billing", "fact", "Omar is on call for billing on weekdays."),
    ("software", "billing", "fact", "The nightly invoice run starts at 02:15 UTC."),
    ("software", "", "lesson", "Squash a branch only after the reviewer has approved it."),
    ("software", "", "lesson", "Write the failing test first when a bug report comes with steps."),
    ("software", "", "lesson", "A flaky test is quarantined on the same day and fixed within the week."),
    ("software", "", "decision", "Python services use ruff and mypy in strict mode."),
    ("software", "", "fact", "Releases go out on Tuesdays at 10:00 UTC, and never on a Friday."),
    ("software", "", "fact", "Pull requests above 400 lines need two reviewers."),
    ("research", "soil", "lesson", "Dry the soil samples at 40 degrees; higher heat changes the nitrogen."),
    ("research", "soil", "lesson", "Discard the first centimetre of each core before sampling."),
    ("research", "soil", "lesson", "The spectrometer drifts after two hours; run a reference every 20 samples."),
    ("research", "soil", "lesson", "The 2019 survey mixed up plots 7 and 9; do not use its nitrogen column."),
    ("research", "soil", "decision", "Carbon is measured by dry combustion and not by loss on ignition."),
    ("research", "soil", "decision", "Plots are sampled on a grid of 25 metres and not at random."),
    ("research", "soil", "decision", "Missing values are left empty and never imputed."),
    ("research", "soil", "fact", "The control plots are numbers 3, 8 and 14."),
    ("research", "soil", "fact", "Dr. Hale keeps the keys of the field station."),
    ("research", "soil", "fact", "The freezer for soil cores is in room B12."),
    ("research", "tides", "lesson", "Correct the gauge readings for air pressure before comparing harbours."),
    ("research", "tides", "lesson", "Convert the old charts from local time; they ignore summer time."),
    ("research", "tides", "lesson", "The gauge at Norhavn freezes below minus ten; its winter data has gaps."),
    ("research", "tides", "decision", "Harmonic analysis uses 37 constituents, as the national service does."),
    ("research", "tides", "decision", "Storm surges are removed by a 30-hour filter before the fit."),
    ("research", "tides", "decision", "The reference level is the mean sea level of 1996 to 2014."),
    ("research", "tides", "fact", "Gauge data arrives every six minutes through the harbour office."),
    ("research", "tides", "fact", "The longest series starts in 1887, at Skagby."),
    ("research", "tides", "fact", "Lund answers questions about the calibration of the gauges."),
    ("research", "", "lesson", "Write down the search terms before opening a paper."),
    ("research", "", "lesson", "Check whether a preprint was retracted before citing it."),
    ("research", "", "decision", "A claim needs two independent sources before it enters the report."),
    ("research", "", "fact", "The reference manager is Zotero; the shared library is called Meridian."),
    ("research", "", "fact", "Drafts go to the editor on the last Thursday of a month."),
    ("", "*", "lesson", "Ask for the acceptance criteria before starting a task."),
    ("", "*", "lesson", "State the units of every number in a report."),
    ("", "*", "decision", "Secrets are kept in the vault of the operations team and never in files."),
    ("", "*", "fact", "The retrospective is on the first Monday of a month."),
)
PRIVATE = (
    "Jane lives in Oslo.", "Jane's daughter Mia goes to school in Grünerløkka.", "Jane is allergic to peanuts.",
    "Jane's mother has her birthday on 14 May.", "Jane prefers green tea.", "Jane runs ten kilometres on Sundays.",
    "Jane's passport expires in March.", "Jane's brother Tom plays the cello.", "Jane sold her old boat in 2024.",
    "Jane's dentist is Dr. Berg.", "Jane wants to learn Portuguese.", "Jane's cat is called Bucket.",
    "Jane keeps sourdough in the freezer.", "Jane's flight to Porto is on 3 December.", "Jane reads before sleeping.",
)  # fmt: skip
# Workflow, project, question, words of the fact with the answer.
QUESTIONS: tuple[tuple[str, str, str, str], ...] = (
    ("software", "upload", "fix the failing integration tests", "migrations before the integration tests"),
    ("software", "upload", "why are large requests cut off at the proxy?", "cuts request bodies above 1 MB"),
    ("software", "upload", "tune the chunk size of uploads", "chunk size to 8 MB"),
    ("software", "upload", "write a test that needs an S3 bucket", "Mock S3 with MinIO"),
    ("software", "upload", "rename the queue of the worker", "Restart the worker"),
    ("software", "upload", "should we buffer uploads on disk?", "streamed to object storage"),
    ("software", "upload", "where does the virus scan belong?", "Virus scanning happens after"),
    ("software", "upload", "let clients resume a broken upload", "tus 1.0"),
    ("software", "upload", "which port does the service use?", "port 8443"),
    ("software", "upload", "who can review my pull request?", "Priya owns"),
    ("software", "upload", "what happens with a file of 6 GB?", "Files above 5 GB"),
    ("software", "billing", "an invoice total is off by a cent because of rounding", "Round amounts only"),
    ("software", "billing", "replay the webhooks of yesterday's outage", "Replay webhooks"),
    ("software", "billing", "the tax tests failed in CI at new year", "pin the clock"),
    ("software", "billing", "transfers deadlock under load", "ledger lock before the account lock"),
    ("software", "billing", "implement a refund of an invoice", "credit note"),
    ("software", "billing", "which type should the column for amounts have?", "integers of the minor unit"),
    ("software", "billing", "when does the nightly invoice run start?", "02:15 UTC"),
    ("software", "billing", "the key of the payment sandbox stopped working", "expires every 90 days"),
    ("software", "upload", "when is the next release?", "Releases go out on Tuesdays"),
    ("software", "billing", "my pull request has 600 lines", "above 400 lines"),
    ("software", "billing", "set up linting and type checks for a new service", "ruff and mypy"),
    ("research", "soil", "prepare the soil samples for drying", "Dry the soil samples at 40"),
    ("research", "soil", "how do I take a sample from a core?", "first centimetre"),
    ("research", "soil", "plan a day of measurements with the spectrometer", "spectrometer drifts"),
    ("research", "soil", "can I use the nitrogen values of the 2019 survey?", "mixed up plots 7 and 9"),
    ("research", "soil", "method for measuring carbon", "dry combustion"),
    ("research", "soil", "design the sampling of the new field", "grid of 25 metres"),
    ("research", "soil", "some values are missing in the table", "left empty and never imputed"),
    ("research", "soil", "compare treatment with control plots", "numbers 3, 8 and 14"),
    ("research", "soil", "where are the cores stored?", "room B12"),
    ("research", "tides", "compare the water levels of two harbours", "Correct the gauge readings for air pressure"),
    ("research", "tides", "digitise the old tide charts", "Convert the old charts"),
    ("research", "tides", "gaps in the winter data of Norhavn", "freezes below minus ten"),
    ("research", "tides", "how many constituents for the harmonic analysis?", "37 constituents"),
    ("research", "tides", "remove storm surges from the series", "30-hour filter"),
    ("research", "tides", "ask somebody about gauge calibration", "Lund answers"),
    ("research", "soil", "may I cite this preprint?", "preprint was retracted"),
    ("research", "tides", "how many sources does a claim need?", "two independent sources"),
    ("research", "tides", "which units go into the report?", "units of every number"),
)


class Share(NamedTuple):
    """The answered questions, the lines of other workflows or projects, and the private lines."""

    answered: int
    other: int
    private: int
    lines: int
    missed: tuple[str, ...]


def drafts() -> list[Draft]:
    """Return the facts of the vault."""
    found = []
    for workflow, project, category, words in FACTS:
        record: dict[str, object] = {"fact": words, "category": category, "entity": "areas/work"}
        if project == "*":
            record["scope"] = "framework"
        else:
            record |= {"workflow": workflow, "scope": "project" if project else "team"}
            record |= {"project": f"https://example.org/{project}.git"} if project else {}
        found.append(draft_from_record(record, NOW))
    people = ({"fact": words, "entity": "areas/people/jane", "importance": 0.8} for words in PRIVATE)
    return found + [draft_from_record(person, NOW) for person in people]


def measure(scoped: bool, folder: Path) -> Share:
    """Ask every question of one vault, with the workflow and the project or without."""
    vault = create_vault(folder, {"HOME": str(folder.parent), "PATH": "/usr/bin:/bin"}, NOW)
    settings = folder / "clawmem.yaml"
    settings.write_text(settings.read_text().replace("\n  model: local\n", "\n  model: none\n"))
    caller = Caller(NOW, random.Random(1).randbytes)
    remember(vault, drafts(), caller)
    missed, other, private, lines = [], 0, 0, 0
    for workflow, project, question, answer in QUESTIONS:
        reach = Reach(workflow, f"https://example.org/{project}.git") if scoped else None
        text = context(vault, caller, BUDGET, question, reach=reach).text
        missed += [] if answer in text else [f"{question} -> {answer}"]
        lines += sum(line.startswith("- ") for line in text.splitlines())
        other += sum(
            words in text
            for of, at, _, words in FACTS
            if at != "*" and (of, at) not in ((workflow, project), (workflow, ""))
        )
        private += sum(words in text for words in PRIVATE)
    return Share(len(QUESTIONS) - len(missed), other, private, lines, tuple(missed))


def main() -> None:
    """Print the shares."""
    for scoped in (False, True):
        folder = Path(tempfile.mkdtemp())
        try:
            share = measure(scoped, folder / "vault")
        finally:
            shutil.rmtree(folder)
        print(
            f"{'with' if scoped else 'without'} workflow: {share.answered} of {len(QUESTIONS)} answered,"
            f" {share.other} lines of another workflow or project, {share.private} private lines,"
            f" {share.lines} lines in all"
        )
        for text in share.missed:
            print(f"    missed: {text}")


if __name__ == "__main__":
    main()
