"""The check of a claim: a question with the answer that the memory must give, or a command that must succeed."""

import re
from collections.abc import Mapping, Sequence

from clawmem.errors import InvalidInput
from clawmem.model.facts.fact import Fact
from clawmem.model.language.text import check_statement, normal
from clawmem.model.lifecycle.premises import with_metadata
from clawmem.model.named_tuple import NamedTuple
from clawmem.model.records.strict_json import QUESTION_CHARACTERS, beyond_limit

CHECK, FAILED = "check", "check_failed"
"""The keys of a fact's metadata with its check, and with the day and the reason of a failure."""
HITS = 5
"""So many of the best hits of the question may contain the answer."""


class ClaimCheck(NamedTuple):
    """A question and the expected answer, or a command and the text that its output must contain (None: any)."""

    question: str | None = None
    command: str | None = None
    expect: str | None = None


def checked_check(question: str | None, command: str | None, expect: str | None) -> ClaimCheck:
    """Return the check with these parts. Raise InvalidInput if they make no check."""
    if (question is None) == (command is None):
        raise InvalidInput("A check has a question or a command.", "Use --question Q --expect A, or --command C.")
    if question is not None and expect is None:
        raise InvalidInput("The expected answer is missing.", "Add --expect with words that the answer must contain.")
    for name, text in (("question", question), ("expected answer", expect), ("command", command)):
        if text is not None and len(text) > QUESTION_CHARACTERS:
            raise InvalidInput(f"{beyond_limit(f'The {name}', len(text), QUESTION_CHARACTERS, 'characters')}.", "")
    if expect is not None and not normal(expect):
        raise InvalidInput("The expected answer has no words.", "Name words or numbers that the answer must contain.")
    return ClaimCheck(
        check_statement(question, "question") if question is not None else None,
        check_statement(command, "command") if command is not None else None,
        check_statement(expect, "expected answer") if expect is not None else None,
    )


def check_of(fact: Fact) -> ClaimCheck | None:
    """Return the check of a fact, or None if it has none or one that cannot be read."""
    record = (fact.metadata or {}).get(CHECK)
    if not isinstance(record, Mapping) or not all(
        isinstance(record.get(key), str | None) for key in ClaimCheck._fields
    ):
        return None
    check = ClaimCheck(record.get("question"), record.get("command"), record.get("expect"))
    try:
        return checked_check(*check)
    except InvalidInput:
        return None


def with_check(fact: Fact, check: ClaimCheck | None) -> Fact:
    """Return the fact with this check, or without one; what an earlier check found is removed."""
    record = {key: value for key, value in check._asdict().items() if value is not None} if check else None
    return with_metadata(with_metadata(fact, CHECK, record), FAILED, None)


def answers_question(expect: str, texts: Sequence[str]) -> bool:
    """Return whether one of some texts contains the words of the expected answer, in any case and spelling of marks."""
    wanted = f" {normal(expect)} "
    return any(wanted in f" {normal(text)} " for text in texts)


def failure_of(fact: Fact) -> str | None:
    """Return why the check of a fact failed when it was last run, or None."""
    record = (fact.metadata or {}).get(FAILED)
    return record["why"] if isinstance(record, Mapping) and isinstance(record.get("why"), str) else None


MEASURING = frozenset(
    "run runs listen listens cost costs take takes last lasts hold holds keep keeps expire expires pay pays weigh"
    " weighs start starts end ends open opens close closes allow allows".split()
)
"""Verbs in the present before one number at a time."""


_DIGIT = re.compile(r"\d")


def may_deny(statement: str) -> bool:
    """Return whether a statement may deny something."""
    # Written out, because hundreds of statements are read for a context.
    return "no longer" in statement or " not " in statement or "n't " in statement or "n’t " in statement


def may_claim(statement: str) -> bool:
    """Return whether a statement denies something, or may state a number, time or day of something."""
    return may_deny(statement) or (
        _DIGIT.search(statement) is not None and (" is " in statement or not MEASURING.isdisjoint(statement.split()))
    )
