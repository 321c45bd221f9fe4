"""Check proposals: every one can be read, and those that are open can still be approved."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from clawmem.errors import ClawmemError, InvalidInput, NeedsDecision, Unreadable
from clawmem.memory.health.checks.facts import CheckedFact
from clawmem.memory.health.checks.problem import ERROR, WARNING, HealthProblem
from clawmem.model.facts.fact import RETRACTED
from clawmem.model.facts.ids import check_reference
from clawmem.model.language.dates import moment_of
from clawmem.model.language.text import normal
from clawmem.model.proposals.promotion import promotion_of
from clawmem.model.proposals.proposal import OPEN, PROMOTE, Proposal, ProposalTarget
from clawmem.model.proposals.proposal_file import parse_proposal
from clawmem.model.records.entity import check_name
from clawmem.model.safety.secrets.find import find_secret

_NAMED = re.compile(r"(?<!\w)'(\w+)(?:[.\[][^']*)?'")
_REJECT = "`clawmem review reject {} --reason ...` closes it"


class FiledProposal(NamedTuple):
    """A proposal, its path, and the text of the file, to look up the line of a key."""

    proposal: Proposal
    path: str
    text: str

    def problem(self, severity: str, key: str, message: str, check: str = "proposal") -> HealthProblem:
        """A problem at the line of one key."""
        return HealthProblem(severity, check, self.path, line_of(self.text, key), f"{self.proposal.id} {message}.")


def read_review(path: str, data: bytes) -> tuple[FiledProposal | None, list[HealthProblem]]:
    """Read a proposal: the proposal, or None where it cannot be read, and the problems of the file."""
    text = data.decode("utf-8-sig", errors="replace")
    try:
        filed = FiledProposal(parse_proposal(data, path), path, text)
    except NeedsDecision:
        return None, []  # conflict markers are reported for every file alike
    except Unreadable as problem:
        why = str(problem).partition(" cannot be read: ")[2].rstrip(".")
        line = problem.line or _line_named(text, why)
        return None, [HealthProblem(ERROR, "proposal", path, line, f"The proposal cannot be read: {why}.")]
    return filed, list(_own_problems(filed))


def line_of(text: str, key: str) -> int | None:
    """The line on which a top-level key begins, or None where it cannot be found."""
    wanted = re.compile(rf'\s*+(?:[{{,]\s*+)?"{re.escape(key)}"\s*:')
    return next((number for number, line in enumerate(text.split("\n"), 1) if wanted.match(line)), None)


def _line_named(text: str, why: str) -> int | None:
    """The line of the first key that a message names: "the key 'worth.on'" is on the line of `worth`."""
    found = (line_of(text, name) for name in _NAMED.findall(why))
    return next((line for line in found if line is not None), None)


def _own_problems(filed: FiledProposal) -> Iterator[HealthProblem]:
    """The problems of a proposal that can be read, by itself."""
    proposal = filed.proposal
    yield from _time_problems(filed)
    match = find_secret(filed.text)
    if match:
        yield filed.problem(WARNING, "says", f"holds what looks like a credential ({match.rule})", "secret")
    if proposal.status == OPEN and proposal.decided:
        yield filed.problem(WARNING, "decided", "is open, but has a decision")
    try:
        check_reference(proposal.id)
    except InvalidInput:
        yield filed.problem(ERROR, "id", "cannot be an id: no command can name it")
    if proposal.entity is not None and proposal.status == OPEN:
        try:
            check_name(proposal.entity)
        except ClawmemError as problem:
            yield filed.problem(WARNING, "entity", f"cannot be approved: {problem.message.rstrip('.')}")


def _time_problems(filed: FiledProposal) -> Iterator[HealthProblem]:
    proposal = filed.proposal
    times = {"created": proposal.created, **({"decided": proposal.decided.at} if proposal.decided else {})}
    for key, value in times.items():
        try:
            moment_of(value)
        except ValueError:
            yield filed.problem(ERROR, key, f"has '{value[:40]}' as the time it was {key}, which is not a time")


def review_problems(
    filed: Sequence[FiledProposal], facts: Mapping[str, CheckedFact], texts: Mapping[str, str], unread: str
) -> Iterator[HealthProblem]:
    """What prevents the approval of open proposals.

    `facts` are by id, `texts` are those of cited events by id. What occurs in `unread`, the text of lines that do not
    parse, is not reported as missing.
    """
    for filed_proposal in filed:
        if filed_proposal.proposal.status == OPEN:
            for target in filed_proposal.proposal.targets:
                yield from _target_problems(filed_proposal, target, facts, unread)
            yield from _evidence_problems(filed_proposal, texts, unread)


def _target_problems(
    filed: FiledProposal, target: ProposalTarget, facts: Mapping[str, CheckedFact], unread: str
) -> Iterator[HealthProblem]:
    """The reasons for which approval would refuse a target."""
    close = _REJECT.format(filed.proposal.id)
    if target.id not in facts:
        if f'"{target.id}"' not in unread:
            yield filed.problem(WARNING, "targets", f"is about {target.id}, which does not exist; {close}")
        return
    fact = facts[target.id].fact
    if filed.proposal.kind == "forget" and fact.status == RETRACTED:
        return  # it is hidden until a person decides
    if fact.superseded_by:
        yield filed.problem(WARNING, "targets", f"is about {fact.id}, which {fact.superseded_by} superseded; {close}")
    elif not fact.is_current:
        yield filed.problem(WARNING, "targets", f"is about {fact.id}, which was {fact.status}; {close}")
    elif normal(fact.fact) != normal(target.fact):
        yield filed.problem(WARNING, "targets", f"is about {fact.id}, which has another statement now; {close}")
    elif filed.proposal.does == PROMOTE and promotion_of(fact):
        yield filed.problem(WARNING, "targets", f"is about {fact.id}, which was promoted already; {close}")


def _evidence_problems(filed: FiledProposal, texts: Mapping[str, str], unread: str) -> Iterator[HealthProblem]:
    fact = filed.proposal.fact
    if fact is None or fact.source_event is None or f'"{fact.source_event}"' in unread:
        return
    close = _REJECT.format(filed.proposal.id)
    text = texts.get(fact.source_event)
    if text is None:
        yield filed.problem(WARNING, "fact", f"cites the event {fact.source_event}, which is in no ledger; {close}")
    elif fact.source_span and text[slice(*fact.source_span)] != fact.source_text:
        yield filed.problem(WARNING, "fact", f"quotes words that {fact.source_event} does not say; {close}")
