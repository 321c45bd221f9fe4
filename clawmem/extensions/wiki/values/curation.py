"""What the curator finds: rules over frozen values, each finding with its reason and with what an approval does.

A finding that a machine can mend without a choice is mended by the caller and is not among these. The others become
proposals, once: `settled` names the earlier proposal of a finding.
"""

from __future__ import annotations

import hashlib
import re
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from clawmem.extensions.wiki.values.links import DeadTarget
from clawmem.model.facts.fact import GUARDRAIL, UNSET_ID, Fact, importance_of, trust_rank
from clawmem.model.facts.reach import realm_of
from clawmem.model.language.dates import day_of
from clawmem.model.language.text import counted, normal
from clawmem.model.lifecycle.premises import REVIEW_BY
from clawmem.model.lifecycle.tiers import CHECK_FAILED, SOURCE_CHANGED
from clawmem.model.proposals.proposal import (
    APPROVED,
    CONFIRM,
    DECIDE,
    JOIN_ENTITIES,
    MERGE,
    RETRACT,
    Proposal,
    ProposalTarget,
    new_proposal_id,
)
from clawmem.model.proposals.quarantine import quarantine_rule
from clawmem.model.records.entity import Entity, kind_of

KIND = "wiki"
FINDING = "finding"
DEAD_LINK, DUPLICATE_ENTITY, DUPLICATE_CLAIM = "dead-link", "duplicate-entity", "duplicate-claim"
STALE, LONG_PAGE = "stale", "long-page"
RULES = (DEAD_LINK, DUPLICATE_ENTITY, DUPLICATE_CLAIM, STALE, LONG_PAGE)

_ARTICLES = re.compile(r"\b(?:an?|the)\b")
_NO_WORD = re.compile(r"[\W_]+")


class WikiFinding(NamedTuple):
    """Something that needs a person.

    `about` names what it is about: ids of facts, names of entities, paths of pages. `state` differs where the same
    thing comes up anew after a person approved an earlier proposal. `says` is what an approval does, `why` the reason.
    """

    rule: str
    about: tuple[str, ...]
    says: str
    why: str
    does: str = DECIDE
    state: str = ""
    entity: str | None = None
    action: Mapping[str, Any] = {}
    targets: tuple[Fact, ...] = ()
    fact: Fact | None = None


FiledFindings = Mapping[tuple[str, ...], Sequence[Proposal]]
"""Proposals of findings, by the rule and what they are about."""


class StaleClaim(NamedTuple):
    """A fact that only its staleness keeps from the wiki, its entity, and the reason."""

    fact: Fact
    entity: str
    reason: str


def stale_findings(stale: Iterable[StaleClaim]) -> list[WikiFinding]:
    """Return a finding for each stale fact that a person can settle, the most important first."""
    ordered = sorted(stale, key=lambda claim: (-importance_of(claim.fact), claim.fact.timestamp, claim.fact.id))
    return [_stale(claim) for claim in ordered if not claim.reason.startswith(CHECK_FAILED)]


def _stale(claim: StaleClaim) -> WikiFinding:
    fact, why = claim.fact, f"It is stale: {claim.reason}. It passes all other gates."
    if claim.reason.startswith(SOURCE_CHANGED):
        says = f"Retract: {fact.fact}"
        return WikiFinding(STALE, (fact.id,), says, why, RETRACT, claim.reason, claim.entity, targets=(fact,))
    review = (fact.details or {}).get(REVIEW_BY)
    since = f"{review} {day_of(max(fact.timestamp, fact.last_accessed or ''))}"
    says = f"Confirm that this still holds: {fact.fact}"
    return WikiFinding(STALE, (fact.id,), says, why, DECIDE, since, claim.entity, {"action": CONFIRM}, (fact,))


def duplicate_claims(facts: Iterable[tuple[str, Fact]]) -> list[WikiFinding]:
    """Return the active facts of one entity, given with it, that say the same: the same words in the same order but for
    articles and punctuation, or the same relation to the same value."""
    groups: dict[tuple[str, ...], dict[str, Fact]] = {}
    for entity, fact in facts:
        if quarantine_rule(fact) is None and fact.category != GUARDRAIL:
            for key in _same(fact):
                groups.setdefault((entity, *key), {})[fact.id] = fact
    found: dict[tuple[str, ...], WikiFinding] = {}
    for group, same in sorted(groups.items()):
        if len(same) > 1:
            finding = _duplicate_claim(group[0], group[1], list(same.values()))
            found.setdefault(finding.about, finding)
    return list(found.values())


def _same(fact: Fact) -> Iterable[tuple[str, ...]]:
    pair = (realm_of(fact), fact.valid_from or "", fact.valid_to or "")
    yield ("words", _NO_WORD.sub(" ", _ARTICLES.sub(" ", normal(fact.fact))).strip(), *pair)
    if fact.subject and fact.predicate and fact.object:
        yield ("value", normal(fact.subject), fact.predicate, normal(fact.object), *pair)


def _duplicate_claim(entity: str, how: str, same: Sequence[Fact]) -> WikiFinding:
    ordered = sorted(same, key=lambda fact: (-trust_rank(fact.trust), fact.timestamp, fact.id))
    kept, others = ordered[0], ordered[1:]
    joint = kept._replace(
        id=UNSET_ID,
        tags=tuple(dict.fromkeys(tag for fact in ordered for tag in fact.tags)),
        related_entities=tuple(dict.fromkeys(name for fact in ordered for name in fact.related_entities)),
        importance=max((fact.importance for fact in ordered if fact.importance is not None), default=None),
        links=(),
        access_count=0,
        last_accessed=None,
    )
    text = "; ".join(other.fact for other in others)
    ids = ", ".join(fact.id for fact in ordered)
    why = f"{ids} of {entity} " + ("have the same words." if how == "words" else "give the same value.")
    about = tuple(sorted(fact.id for fact in ordered))
    says = f"{kept.fact} (joined with: {text})"
    return WikiFinding(DUPLICATE_CLAIM, about, says, why, MERGE, "", entity, targets=tuple(ordered), fact=joint)


def duplicate_entities(entities: Iterable[Entity], facts: Mapping[str, int]) -> list[WikiFinding]:
    """Return the entities of one kind that have a name in common, whatever its case, accents and punctuation.

    `facts` are the numbers of their facts; the entity with more of them stays."""
    known: dict[tuple[str, str], list[Entity]] = {}
    for entity in sorted(entities):
        names = {plain_name(word): word for word in (entity.title, *entity.aliases) if "/" not in word}
        for name in filter(None, names):
            known.setdefault((entity.kind or kind_of(entity.name), name), []).append(entity)
    found: dict[tuple[str, ...], WikiFinding] = {}
    for (_, name), same in known.items():
        ordered = sorted(same, key=lambda other_entity: (-facts.get(other_entity.name, 0), other_entity.name))
        for other in ordered[1:]:
            finding = _duplicate_entity(ordered[0], other, name, facts)
            found.setdefault(finding.about, finding)
    return list(found.values())


def _duplicate_entity(kept: Entity, other: Entity, name: str, facts: Mapping[str, int]) -> WikiFinding:
    counts = (f"{entity.name} has {counted(facts.get(entity.name, 0), 'fact')}" for entity in (kept, other))
    why = f"Both are called '{name}': {', '.join(counts)}."
    action = {"action": JOIN_ENTITIES, "from": other.name, "into": kept.name}
    about = tuple(sorted((kept.name, other.name)))
    says = f"Merge the entity {other.name} into {kept.name}"
    return WikiFinding(DUPLICATE_ENTITY, about, says, why, DECIDE, "", kept.name, action)


def plain_name(name: str) -> str:
    """Return a name without case, accents and punctuation."""
    folded = unicodedata.normalize("NFKD", name)
    return _NO_WORD.sub(" ", "".join(text for text in folded if not unicodedata.combining(text)).casefold()).strip()


def dead_link_findings(dead: Iterable[DeadTarget]) -> list[WikiFinding]:
    """Return a finding for each dead link of a person that leads to one of several pages, or to none."""
    found = []
    for target in dead:
        to = target.candidates[0] if target.candidates else None
        says = f"Let the link '{target.link.target}' on {target.page} lead to {to}"
        why = f"It leads nowhere, and it can mean {' or '.join(target.candidates)}."
        if to is None:
            says = f"Remove the link '{target.link.target}' on {target.page}, and keep its words"
            why = "It leads nowhere: no page, entity or topic has this name."
        found.append(WikiFinding(DEAD_LINK, (target.page, target.link.target), says, why))
    return found


def long_page(path: str, written: int, generated: int, most: int) -> WikiFinding | None:
    """Return a finding for a page with more words than `most`, or None. People wrote the one number of words, and the
    other is between the markers."""
    words = written + generated
    if words <= most:
        return None
    says = f"Move a part of {path} to a page of its own" if written > generated else f"Archive old claims of {path}"
    why = f"It has {words:,} words; at most {most:,} are allowed."
    return WikiFinding(LONG_PAGE, (path,), says, why, state=str(words // max(most, 1)))


def sentence(says: str, why: str) -> str:
    """Return what a finding says and why, as two sentences."""
    return f"{says}{'' if says.endswith(('.', '!', '?')) else '.'} {why}"


def filed_findings(filed: Iterable[Proposal], names: Mapping[str, str]) -> FiledFindings:
    """Return the proposals of findings by what they are about; `names` has the present names of entities."""
    found: dict[tuple[str, ...], list[Proposal]] = {}
    for proposal in filed:
        record = (proposal.details or {}).get(FINDING)
        if proposal.kind == KIND and isinstance(record, Mapping) and isinstance(record.get("about"), list):
            found.setdefault(_key(str(record.get("rule")), record["about"], names), []).append(proposal)
    return found


def settled(finding: WikiFinding, filed: FiledFindings, names: Mapping[str, str]) -> Proposal | None:
    """Return the proposal of this finding that waits, was rejected, or approved in this state, or None."""
    for proposal in filed.get(_key(finding.rule, finding.about, names), ()):
        if proposal.status != APPROVED or (proposal.details or {})[FINDING].get("state", "") == finding.state:
            return proposal
    return None


def _key(rule: str, about: Iterable[object], names: Mapping[str, str]) -> tuple[str, ...]:
    return (rule, *sorted(names.get(str(value), str(value)) for value in about))


def proposal_of(finding: WikiFinding, created: str, agent: str | None, taken: Iterable[str]) -> Proposal:
    """Return the proposal of a finding. Its id depends on the finding alone, so that two machines file one."""
    digest = hashlib.sha256("\n".join((finding.rule, *finding.about, finding.state)).encode()).digest()
    record: dict[str, Any] = {"rule": finding.rule, "about": list(finding.about)}
    record |= {"state": finding.state} if finding.state else {}
    return Proposal(
        new_proposal_id(lambda size: digest[:size], set(taken)),
        KIND,
        finding.says,
        finding.why,
        created,
        finding.does,
        targets=tuple(ProposalTarget(target.id, target.fact) for target in finding.targets),
        fact=finding.fact,
        entity=finding.entity,
        agent=agent,
        details={FINDING: record, **finding.action},
    )
