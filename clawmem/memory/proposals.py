"""Read and find the proposals in `review/`. Each proposal is one file."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable

from clawmem.errors import AmbiguousId, ClawmemError, IncompleteAnswer, NotFound
from clawmem.model.facts.fact import check_prefix, check_proposal_reference
from clawmem.model.language.text import check_choice
from clawmem.model.named_tuple import NamedTuple
from clawmem.model.proposals.proposal import (
    FOLDER,
    KINDS,
    OPEN,
    PREFIX,
    Proposal,
    parse_proposal,
    proposal_path,
    render_proposal,
)
from clawmem.model.records.change import Change
from clawmem.vault.vault import Vault

TRAILER = "Proposal"
ESCALATION = "escalation"
Read = Callable[[str], bytes | None]


class FiledProposals(NamedTuple):
    """All readable proposals, oldest first, and a notice for each unreadable file."""

    proposals: tuple[Proposal, ...]
    unreadable: tuple[str, ...] = ()

    @property
    def open(self) -> tuple[Proposal, ...]:
        """Return the proposals that wait for a decision."""
        return tuple(proposal for proposal in self.proposals if proposal.status == OPEN)


def read_proposals(vault: Vault, read: Read | None = None) -> FiledProposals:
    """Return all proposals of the vault. Pass the `read` of a transaction to see its state."""
    found: list[Proposal] = []
    unreadable: list[str] = []
    for path in sorted((vault.root / FOLDER).glob(f"{PREFIX}*.json")):
        name = f"{FOLDER}/{path.name}"
        try:
            data = (read or vault.read)(name)
            if data is not None:
                found.append(parse_proposal(data, name))
        except ClawmemError as problem:
            unreadable.append(IncompleteAnswer(problem.message))
    found.sort(key=lambda proposal: (proposal.created, proposal.id))
    return FiledProposals(tuple(found), tuple(unreadable))


def find_proposal(filed: FiledProposals, reference: str) -> Proposal:
    """Return the proposal with this id or unique prefix.

    Raise NotFound or AmbiguousId, and InvalidInput for a short prefix."""
    value = check_proposal_reference(reference)
    for prefix in (value, PREFIX + value):
        matches = [proposal for proposal in filed.proposals if proposal.id.startswith(prefix)]
        exact = [match for match in matches if match.id == prefix]
        if len(exact or matches) == 1:
            found = (exact or matches)[0]
            check_prefix(value, prefix, found.id, PREFIX)
            return found
        if matches:
            raise AmbiguousId(value, [match.id for match in matches])
    raise NotFound(f"There is no proposal '{value}'.", "`clawmem review list --all` shows them.")


def read_proposal(vault: Vault, reference: str, read: Read | None = None) -> Proposal:
    """Return the proposal with this id or unique prefix. Only its own file is read if the id is complete.

    Raise NotFound, AmbiguousId, or Unreadable, and InvalidInput for a short prefix."""
    value = check_proposal_reference(reference)
    path = proposal_path(value)
    data = (read or vault.read)(path) if value.startswith(PREFIX) else None
    return find_proposal(read_proposals(vault, read), value) if data is None else parse_proposal(data, path)


def select_proposals(filed: FiledProposals, include_closed: bool = False, kind: str | None = None) -> list[Proposal]:
    """Return the open proposals, or all of them, optionally of one kind. Raise InvalidInput for an unknown kind."""
    check_choice(kind, "kind of proposal", KINDS)
    return [
        proposal for proposal in (filed.proposals if include_closed else filed.open) if kind in (None, proposal.kind)
    ]


def proposal_writes(proposals: Iterable[Proposal]) -> dict[str, bytes | None]:
    """Return the writes that store the proposals."""
    return {proposal_path(proposal.id): render_proposal(proposal) for proposal in proposals}


def with_proposals(change: Change, proposals: Collection[Proposal]) -> Change:
    """Return the change that stores the proposals, too."""
    rows = (*change.trailers, *proposal_trailers(proposals))
    return change._replace(writes={**change.writes, **proposal_writes(proposals)}, trailers=rows)


def proposal_trailers(proposals: Iterable[Proposal]) -> tuple[tuple[str, str], ...]:
    """Return the trailers that let plain git find the commits of a proposal."""
    return tuple((TRAILER, proposal.id) for proposal in proposals)
