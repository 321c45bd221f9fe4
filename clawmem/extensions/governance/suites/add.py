"""A regression test from what went wrong: a recorded failure, or a proposal that a person rejected."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from clawmem.errors import InvalidInput, NotFound, Refused
from clawmem.extensions.governance.suites.store import read_suite
from clawmem.extensions.governance.suites.suite import (
    COPY,
    REGRESSION,
    Assertion,
    Suite,
    SuiteTest,
    suite_path,
    suite_text,
)
from clawmem.index.refresh.refresh import run_query
from clawmem.index.search.lookup import all_facts
from clawmem.memory.failure_log import read_failures
from clawmem.memory.review.proposals import find_proposal, read_proposals
from clawmem.memory.writing import writing
from clawmem.model.facts.fact import ACTIVE
from clawmem.model.facts.ids import check_prefix
from clawmem.model.language.dates import stamp
from clawmem.model.language.text import check_statement, one_line
from clawmem.model.proposals.proposal import REJECTED
from clawmem.model.records.caller import Caller
from clawmem.model.records.change import Change, agent_author, subject_line, trailers
from clawmem.vault.vault import Vault

_FAILURE = "fail_"


class WishedTest(NamedTuple):
    """What a person says of the test: the question, and texts that its answer must contain or must not contain."""

    question: str | None = None
    contains: Sequence[str] = ()
    bars: Sequence[str] = ()


class AddedTest(NamedTuple):
    """The suite with the new test, its path, and the commit; None if the test was there already."""

    suite: Suite
    path: str
    test: SuiteTest
    commit: str | None


def add_test(vault: Vault, caller: Caller, suite: str, reference: str, wish: WishedTest) -> AddedTest:
    """Add a test made from a failure or a rejected proposal to a regression suite, which is created if it is missing.

    The suite runs on a copy of the vault, with the clock at the time of this call. Raise NotFound, Refused for a
    proposal that was not rejected, or InvalidInput where the record does not say enough for a test.
    """
    test = _from_failure(vault, reference, wish) if reference.startswith(_FAILURE) else _of(vault, reference, wish)
    path = suite_path(suite)
    with writing(vault, caller, "eval add") as work:
        data = work.read(path)
        value = read_suite(data, path) if data is not None else _new_suite(suite, stamp(caller.now))
        if any(other_test.description == test.description for other_test in value.tests):
            return AddedTest(value, path, test, None)
        made = value._replace(tests=(*value.tests, test), now=stamp(caller.now) if value.vault == COPY else value.now)
        change = Change(
            subject_line("eval", suite, f"add a test: {test.description}"),
            {path: suite_text(made).encode()},
            trailers("eval", agent=caller.agent, session=caller.session, sources=[reference]),
            author=agent_author(caller.agent),
        )
        return AddedTest(made, path, test, work.commit([change])[-1])


def _new_suite(suite: str, now: str) -> Suite:
    about = "What went wrong once and must not go wrong again"
    return Suite(suite, about, (), REGRESSION, now, vault=COPY)


def _of(vault: Vault, reference: str, wish: WishedTest) -> SuiteTest:
    """The test of a rejected proposal: the memory does not serve what was rejected."""
    proposal = find_proposal(read_proposals(vault), reference)
    if proposal.status != REJECTED:
        raise Refused(
            f"{proposal.id} was not rejected; it is {proposal.status}.", "Only a rejected proposal becomes a test."
        )
    text = proposal.fact.fact if proposal.fact is not None else proposal.says
    text = proposal.line.text if proposal.line is not None else text
    # To reject a conflict is to say that both facts are true: a fact that stands is served, and must be.
    standing = run_query(
        vault, lambda index: {placed.fact.fact for placed in all_facts(index) if placed.fact.status == ACTIVE}
    )
    bars = (*wish.bars, *((text,) if text not in standing else ()))
    return _test(f"{proposal.id} was rejected: {text}", proposal.id, wish, text, bars)


def _from_failure(vault: Vault, reference: str, wish: WishedTest) -> SuiteTest:
    found = [failure for failure in read_failures(vault) if failure.id.startswith(reference)]
    if len(found) != 1:
        number = "No" if not found else "More than one"
        raise NotFound(f"{number} recorded failure is '{reference}'.", "`clawmem failure list` shows their ids.")
    failure = found[0]
    check_prefix(reference, reference, failure.id, _FAILURE)
    description = f"{failure.id}, {failure.mode}: {failure.note or 'no note'}"
    return _test(description, failure.id, wish, failure.note, tuple(wish.bars))


def _test(description: str, source: str, wish: WishedTest, question: str | None, bars: Sequence[str]) -> SuiteTest:
    asked = wish.question or question
    if not asked:
        raise InvalidInput(f"{source} does not say what was asked.", "Name it with --question.")
    wanted = [Assertion("icontains", contain) for contain in wish.contains]
    barred = [Assertion("not-icontains", bar) for bar in dict.fromkeys(bars)]
    if not wanted and not barred:
        raise InvalidInput(
            f"{source} does not say what a right answer is.",
            "Name texts with --contains and --not-contains; each may be repeated.",
        )
    for text in (asked, *wish.contains, *bars):
        check_statement(text, "text")
        if any(sign in text for sign in ("{{", "{%", "{#")):
            raise InvalidInput(f"'{text}' contains a template of promptfoo.", "Choose another part of the text.")
    return SuiteTest(one_line(description), {"question": asked}, (*wanted, *barred), None, {"source": source})
