"""Reconciling news with what stands: add, leave, replace, merge or close, and never touch a bystander."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from clawmem.learning.gate import content_words
from clawmem.model.catalog import Catalog, is_replaced, is_single
from clawmem.model.fact import Fact
from clawmem.model.proposition import Proposition
from clawmem.model.text import normal

ADD = "add"
NOOP = "noop"
UPDATE = "update"
MERGE = "merge"
RETRACT = "retract"

_FACT_ID = re.compile(r"\bfact_[0-9a-f]{4,40}\b")
_ARTICLES = re.compile(r"^(?:the|a|an|his|her|their|its)\s+")
_REFINEMENT = re.compile(r"(?:,| (?:named|called|who|which|that|with|from|in|near|for|since)\b)")


class Decision(NamedTuple):
    """What becomes of a proposition: the outcome, the facts it falls on, those it contradicts, and why."""

    outcome: str
    targets: tuple[str, ...]
    reason: str
    contradicts: tuple[str, ...] = ()


def reconcile(proposition: Proposition, same_subject: Sequence[Fact], catalog: Catalog) -> Decision:
    """Decide about one proposition; only standing facts with its very subject, or named by id, can be targets."""
    named = _named(proposition, same_subject)
    if named:
        outcome = RETRACT if proposition.ended else UPDATE
        return Decision(outcome, named, "The text names the fact that it changes.")
    standing = [fact for fact in same_subject if fact.stands and _same(fact.subject, proposition.subject)]
    related = [fact for fact in standing if proposition.predicate and fact.predicate == proposition.predicate]
    if proposition.ended:
        return _ended(proposition, related, catalog)
    return (
        _restated(proposition, standing, related)
        or _replaced_by_name(proposition, related)
        or _single(proposition, related, catalog)
        or _refined(proposition, related)
        or Decision(ADD, (), "Nothing known says the same or stands against it.")
    )


def _named(proposition: Proposition, facts: Iterable[Fact]) -> tuple[str, ...]:
    ids = set(_FACT_ID.findall(proposition.source_text))
    return tuple(fact.id for fact in facts if fact.stands and fact.id in ids)


def _ended(proposition: Proposition, related: Sequence[Fact], catalog: Catalog) -> Decision:
    if proposition.object:
        over = [fact for fact in related if _overlap(fact.object, proposition.object)]
    else:
        over = [fact for fact in related if is_single(catalog, fact.predicate)]
    over = [fact for fact in over if not _older(proposition, fact)]
    if over:
        return Decision(RETRACT, _ids(over), "The text says that this is no longer so.")
    return Decision(ADD, (), "It says that something ended which was not known; the ending is kept as news.")


def _restated(proposition: Proposition, standing: Sequence[Fact], related: Sequence[Fact]) -> Decision | None:
    same = [fact for fact in standing if normal(fact.fact) == normal(proposition.statement)]
    same = same or [fact for fact in related if _repeats(proposition, fact)]
    return Decision(NOOP, _ids(same[:1]), "It restates what is known.") if same else None


def _repeats(proposition: Proposition, fact: Fact) -> bool:
    if not proposition.object or not fact.object:
        return False
    if proposition.valid_from and fact.valid_from and proposition.valid_from != fact.valid_from:
        return False
    new, old = _bare(proposition.object), _bare(fact.object)
    return new == old or bool(old.startswith(new) and _REFINEMENT.match(old[len(new) :]))


def _replaced_by_name(proposition: Proposition, related: Sequence[Fact]) -> Decision | None:
    if not proposition.former:
        return None
    gone = [fact for fact in related if _overlap(fact.object, proposition.former) and not _older(proposition, fact)]
    return Decision(UPDATE, _ids(gone), f"The text says it replaces '{proposition.former}'.") if gone else None


def _single(proposition: Proposition, related: Sequence[Fact], catalog: Catalog) -> Decision | None:
    if not related or not is_single(catalog, proposition.predicate):
        return None
    if not is_replaced(catalog, proposition.predicate):
        reason = f"'{proposition.predicate}' has one value that does not change, and another one is known."
        return Decision(ADD, (), reason, _ids(related))
    newer = [fact for fact in related if _older(proposition, fact)]
    if newer:
        return Decision(NOOP, _ids(newer[:1]), f"It is older news than {newer[0].id}, which stays.")
    return Decision(UPDATE, _ids(related), f"'{proposition.predicate}' has one value, and this is the newer one.")


def _refined(proposition: Proposition, related: Sequence[Fact]) -> Decision | None:
    poorer = [fact for fact in related if _richer(proposition.object, fact.object)]
    return Decision(MERGE, _ids(poorer), "It says the same with more detail.") if len(poorer) == 1 else None


def _richer(new: str | None, old: str | None) -> bool:
    if not new or not old:
        return False
    more, less = _bare(new), _bare(old)
    return more.startswith(less) and _REFINEMENT.match(more[len(less) :]) is not None


def _older(proposition: Proposition, fact: Fact) -> bool:
    """Whether the fact is newer news: true from a later day, or said later."""
    if proposition.valid_from and fact.valid_from and proposition.valid_from != fact.valid_from:
        return proposition.valid_from < fact.valid_from
    said = (fact.metadata or {}).get("said_at")
    return bool(said and proposition.said_at) and str(proposition.said_at) < str(said)


def _same(one: str | None, other: str | None) -> bool:
    return bool(one and other) and normal(one or "") == normal(other or "")


def _bare(text: str) -> str:
    return _ARTICLES.sub("", normal(text))


def _overlap(known: str | None, named: str) -> bool:
    """Whether one object is the other, or the other with more words."""
    if not known:
        return False
    one, other = content_words(known), content_words(named)
    return bool(one and other) and (one <= other or other <= one)


def _ids(facts: Iterable[Fact]) -> tuple[str, ...]:
    return tuple(fact.id for fact in facts)
