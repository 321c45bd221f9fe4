"""Claims: confirm one in spite of a changed premise, give it a check and run it, or deprecate it for another one."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from clawmem.errors import IncompleteAnswer, InvalidInput, Refused
from clawmem.index.refresh import run_query
from clawmem.index.search.lookup import PlacedFact, by_ids, facts_containing, find_fact
from clawmem.index.search.replaced import resting_on
from clawmem.index.tables.store import Index
from clawmem.memory.allowed_commands import run_command
from clawmem.memory.facts.revise import ReviseResult
from clawmem.memory.permission import check_may_read_fact, may_read
from clawmem.memory.proposals import read_proposals, with_proposals
from clawmem.memory.scope import WriteScope, fact_change
from clawmem.memory.writing import writing
from clawmem.model.facts.claim_check import (
    CHECK,
    FAILED,
    ClaimCheck,
    answers_question,
    check_of,
    failure_of,
    with_check,
)
from clawmem.model.facts.fact import Fact, trust_rank
from clawmem.model.language.dates import parse_end, stamp
from clawmem.model.language.text import counted
from clawmem.model.lifecycle.premises import DEPRECATED, REVIEW_BY, confirmed, deprecation, with_metadata
from clawmem.model.proposals.proposal import (
    APPROVED,
    DECIDE,
    OPEN,
    REJECTED,
    RETRACT,
    Proposal,
    ProposalTarget,
    new_proposal_id,
)
from clawmem.model.proposals.quarantine import is_approved, orders_in, with_approval
from clawmem.model.records.caller import Caller
from clawmem.vault.vault import Vault

PASSED, FAILS, SKIPPED = "passed", "failed", "skipped"
_A_PERSON = "a person"
Answer = Callable[[str], Sequence[str]]
"""Returns the texts with which the memory answers a question, best first."""


class ClaimTest(NamedTuple):
    """One tested claim: `passed`, `failed` or `skipped`, the reason unless it passed, and its proposal if there is
    one."""

    placed: PlacedFact
    outcome: str
    why: str | None = None
    proposal: str | None = None


class ClaimTests(NamedTuple):
    """The tested claims, and the commit with what changed."""

    tests: tuple[ClaimTest, ...]
    commit: str | None = None
    notices: tuple[str, ...] = ()

    @property
    def failed(self) -> bool:
        """Return whether a check failed."""
        return any(test.outcome == FAILS for test in self.tests)


def confirm(
    vault: Vault, reference: str, caller: Caller, review_by: str | None = None, reason: str | None = None
) -> ReviseResult:
    """Record that a person confirms a fact as it is: it is not in doubt any more, until a premise changes again.

    `review_by` is the next day for review; one that has passed is removed. An agent's fact counts as reviewed. Raise
    Refused if the fact is not current, InvalidInput for a day that has passed."""
    day = _coming_day(review_by, caller) if review_by is not None else None
    with writing(vault, caller, "confirm") as work:
        placed = _current(work, reference)
        new = confirmed(placed.fact, stamp(caller.now)[:10])
        if day is not None:
            new = new._replace(details={**(new.details or {}), REVIEW_BY: day})
        if new.trust == "agent" and not is_approved(new) and orders_in(new) is None:
            new = with_approval(new, _A_PERSON, stamp(caller.now))
        return _revised(work, "confirm", placed, new, reason, "it was not in doubt")


def set_check(vault: Vault, reference: str, check: ClaimCheck | None, caller: Caller) -> ReviseResult:
    """Give a fact a check, or remove it (None). Raise Refused if the fact is not current."""
    with writing(vault, caller, "check") as work:
        placed = _current(work, reference)
        if check_of(placed.fact) == check:
            nothing = "it has no check" if check is None else "it has this check already"
            return ReviseResult((placed,), ("noop",), None, (*work.notices, nothing))
        return _revised(work, "check", placed, with_check(placed.fact, check), None, "")


def deprecate(
    vault: Vault, reference: str, new: str, until: str, caller: Caller, reason: str | None = None
) -> ReviseResult:
    """Announce that another fact replaces a fact: it is labelled up to and with a day, and archived after it.

    An agent that deprecates what a person stated files a proposal. Raise InvalidInput for a day that has passed or for
    the same fact, Refused if one of the facts is not current."""
    day = _coming_day(until, caller)
    with writing(vault, caller, "deprecate") as work:
        placed, instead = _current(work, reference), _current(work, new)
        old = placed.fact
        if old.id == instead.fact.id:
            raise InvalidInput("A fact cannot be deprecated for itself.", "Name the fact that takes its place.")
        if deprecation(old) == (instead.fact.id, day):
            return ReviseResult((placed,), ("noop",), None, (*work.notices, f"{old.id} is deprecated already"))
        if caller.agent is not None and trust_rank(old.trust) > trust_rank("agent"):
            return _proposed(work, placed, instead, day, reason)
        resting = len(resting_on(work.index, [old.id]))
        result = _revised(work, "deprecate", placed, _deprecated(old, instead.fact.id, day, reason), reason, "")
        if not resting:
            return result
        text = f"{counted(resting, 'fact')} named it as a premise: `clawmem why {old.id} --impact` shows them"
        return result._replace(notices=(*result.notices, text))


def _deprecated(old: Fact, new: str, day: str, reason: str | None) -> Fact:
    record = {"for": new, "until": day, **({"reason": reason} if reason else {})}
    return with_metadata(old, DEPRECATED, record)


def _proposed(work: WriteScope, placed: PlacedFact, instead: PlacedFact, day: str, reason: str | None) -> ReviseResult:
    old, new = placed.fact, instead.fact
    filed = read_proposals(work.vault, work.read).proposals
    details = {"for": new.id, "until": day, **({"reason": reason} if reason else {})}
    same = [
        proposal
        for proposal in filed
        if proposal.kind == "deprecation" and _is_about(proposal, old.id) and proposal.details == details
    ]
    known = next((proposal for proposal in same if proposal.status in (OPEN, REJECTED)), None)
    proposal = known or Proposal(
        new_proposal_id(work.caller.entropy, {proposal.id for proposal in filed}),
        "deprecation",
        f"{old.fact} (deprecated until {day}, then: {new.fact})",
        f"The agent {work.caller.agent} would deprecate what the {old.trust or 'user'} said.",
        stamp(work.caller.now),
        DECIDE,
        targets=(ProposalTarget(old.id, old.fact),),
        entity=placed.entity,
        agent=work.caller.agent,
        details=details,
    )
    shown = PlacedFact(old._replace(id=proposal.id), placed.entity)
    if known:
        return ReviseResult((shown,), ("proposed",), None, (*work.notices, f"it is {known.status}, as {known.id}"))
    words = f"a deprecation that waits for a person ({proposal.id})"
    change = with_proposals(fact_change(work.caller, "propose", placed.entity, words, {}, []), [proposal])
    return ReviseResult((shown,), ("proposed",), work.commit([change])[-1], work.notices)


def on_deprecation(work: WriteScope, proposal: Proposal, facts: Sequence[PlacedFact]) -> dict[str, bytes | None]:
    """Return the writes of an approved deprecation. Raise Refused if one of its facts is not current any more."""
    if proposal.status != APPROVED:
        return {}
    details = proposal.details or {}
    placed, instead = _current(work, proposal.targets[0].id), _current(work, str(details.get("for")))
    new = _deprecated(placed.fact, instead.fact.id, str(details.get("until")), details.get("reason"))
    return work.items_with([PlacedFact(new, placed.entity)])


def run_checks(
    vault: Vault, caller: Caller, reference: str | None, answer: Answer, folder: Path, dry_run: bool = False
) -> ClaimTests:
    """Run the check of one claim, or of every current claim that has one.

    A claim whose check fails is flagged, and a proposal to withdraw it is filed once; a flag is removed when the check
    passes. A command runs in `folder`, and only if a person allowed it there. Raise InvalidInput if the named claim has
    no check."""
    tests = [
        _tested(vault, placed, answer, folder)
        for placed in run_query(vault, lambda index: _held(index, reference, caller))
    ]
    notices = tuple(
        IncompleteAnswer(f"the check of {test.placed.fact.id} did not run: {test.why}")
        for test in tests
        if test.outcome == SKIPPED
    )
    changed = [test for test in tests if test.outcome != SKIPPED and _flag(test) != failure_of(test.placed.fact)]
    if dry_run or not changed:
        return ClaimTests(tuple(_with_known_proposals(vault, tests)), None, notices)
    with writing(vault, caller, "claim test") as work:
        commit = _record(work, changed)
        items = work.notices
    return ClaimTests(tuple(_with_known_proposals(vault, tests)), commit, (*items, *notices))


def _held(index: Index, reference: str | None, caller: Caller) -> list[PlacedFact]:
    if reference is None:
        items = facts_containing(index, f'"{CHECK}": {{')
        return [
            placed
            for placed in items
            if placed.fact.is_current and check_of(placed.fact) and may_read(caller, placed.entity)
        ]
    placed = find_fact(index, reference)
    check_may_read_fact(caller, placed)
    if check_of(placed.fact) is None:
        raise InvalidInput(
            f"{placed.fact.id} has no check.",
            f"`clawmem claim check {placed.fact.id} --question Q --expect A` adds one.",
        )
    return [placed]


def _tested(vault: Vault, placed: PlacedFact, answer: Answer, folder: Path) -> ClaimTest:
    check = check_of(placed.fact)
    assert check is not None
    if check.question is not None:
        texts = answer(check.question)
        if answers_question(check.expect or "", texts):
            return ClaimTest(placed, PASSED)
        found = f"the best answer is: {texts[0]}" if texts else "nothing is found"
        return ClaimTest(placed, FAILS, f"'{check.question}' should give '{check.expect}', and {found}")
    try:
        run = run_command(vault, check.command or "", folder)
    except Refused as problem:
        return ClaimTest(placed, SKIPPED, f"{problem.message} {problem.hint}".strip())
    if run.ended or run.code != 0:
        why = run.ended or f"it ended with exit code {run.code}"
        return ClaimTest(placed, FAILS, f"the command `{check.command}` failed: {why}")
    if check.expect is not None and not answers_question(check.expect, run.output.splitlines()):
        return ClaimTest(placed, FAILS, f"the output of `{check.command}` does not contain '{check.expect}'")
    return ClaimTest(placed, PASSED)


def _flag(test: ClaimTest) -> str | None:
    return test.why if test.outcome == FAILS else None


def _record(work: WriteScope, tests: Sequence[ClaimTest]) -> str | None:
    """Flag the claims that fail, file their proposals, and remove the flags of those that pass, in one commit."""
    filed = list(read_proposals(work.vault, work.read).proposals)
    now = stamp(work.caller.now)
    changed, new = list[PlacedFact](), list[Proposal]()
    latest = by_ids(work.index, [test.placed.fact.id for test in tests])
    for test in tests:
        placed = latest.get(test.placed.fact.id)
        if placed is None or not placed.fact.is_current or check_of(placed.fact) != check_of(test.placed.fact):
            continue
        flag: dict[str, Any] | None = {"at": now, "why": test.why} if test.outcome == FAILS else None
        changed.append(PlacedFact(with_metadata(placed.fact, FAILED, flag), placed.entity))
        if flag is not None and not any(_is_filed(each, placed.fact) for each in filed):
            new.append(_withdrawal(work, placed, test.why or "", {each.id for each in filed}))
            filed.append(new[-1])
    if not changed:
        return None
    entities = {placed.entity for placed in changed}
    failing = sum(test.outcome == FAILS for test in tests)
    words = f"{counted(failing, 'check')} failed" if failing else f"{counted(len(changed), 'check')} passed again"
    place = changed[0].entity if len(entities) == 1 else "facts"
    facts = [placed.fact for placed in changed]
    change = fact_change(work.caller, "claim-test", place, words, work.items_with(changed), facts)
    return work.commit([with_proposals(change, new)])[-1]


def _withdrawal(work: WriteScope, placed: PlacedFact, why: str, taken: set[str]) -> Proposal:
    fact, check = placed.fact, check_of(placed.fact)
    return Proposal(
        new_proposal_id(work.caller.entropy, taken),
        "check",
        f"Withdraw: {fact.fact}",
        f"Its check fails: {why}.",
        stamp(work.caller.now),
        RETRACT,
        targets=(ProposalTarget(fact.id, fact.fact),),
        entity=placed.entity,
        agent=work.caller.agent,
        details={key: value for key, value in (check or ClaimCheck())._asdict().items() if value is not None},
    )


def _is_about(proposal: Proposal, fact_id: str) -> bool:
    return any(target.id == fact_id for target in proposal.targets)


def _is_filed(proposal: Proposal, fact: Fact) -> bool:
    """Return whether a proposal about this check of a fact is open or was rejected."""
    check = check_of(fact)
    same = check is not None and all(
        (proposal.details or {}).get(key) == value for key, value in check._asdict().items()
    )
    return (
        proposal.kind == "check"
        and _is_about(proposal, fact.id)
        and (proposal.status == OPEN or (proposal.status == REJECTED and same))
    )


def _with_known_proposals(vault: Vault, tests: Sequence[ClaimTest]) -> list[ClaimTest]:
    if not any(test.outcome == FAILS for test in tests):
        return list(tests)
    waiting = [proposal for proposal in read_proposals(vault).open if proposal.kind == "check"]
    by_fact = {target.id: proposal.id for proposal in waiting for target in proposal.targets}
    return [
        test._replace(proposal=by_fact.get(test.placed.fact.id)) if test.outcome == FAILS else test for test in tests
    ]


def _current(work: WriteScope, reference: str) -> PlacedFact:
    placed = find_fact(work.index, reference)
    check_may_read_fact(work.caller, placed)
    placed = work.latest(placed)
    fact = placed.fact
    if not fact.is_current:
        raise Refused(f"{fact.id} is {fact.status}.", f"`clawmem why {fact.id}` shows what happened to it.")
    return placed


def _revised(
    work: WriteScope, verb: str, placed: PlacedFact, new: Fact, reason: str | None, unchanged: str
) -> ReviseResult:
    """Store a fact with other fields in one commit; no commit if it is unchanged."""
    if new == placed.fact:
        return ReviseResult((placed,), ("noop",), None, (*work.notices, unchanged))
    own = PlacedFact(new, placed.entity)
    words = new.fact + (f" (because: {reason})" if reason else "")
    change = fact_change(work.caller, verb, placed.entity, words, work.items_with([own]), [new])
    commit = work.commit([change])[-1]
    marked = {placed.fact.id: placed for placed in work.marked}
    own = marked.pop(new.id, own)
    return ReviseResult((own,), ("updated",), commit, work.notices, tuple(marked.values()))


def _coming_day(text: str, caller: Caller) -> str:
    day = parse_end(text, caller.now, ahead=True)[:10]
    if day < stamp(caller.now)[:10]:
        raise InvalidInput(f"{day} has passed.", "Name today or a later day.")
    return day
