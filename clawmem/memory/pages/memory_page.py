"""MEMORY.md: its generated part lists the most important global facts.

The generated part of MEMORY.md: the most important facts within a token budget, and how many were left out.

It depends only on the facts. It does not change when a fact is read. Time changes it only when a fact's validity ends.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import NamedTuple

from clawmem.errors import ClawmemError
from clawmem.index.search.conflicts import conflicting_ids
from clawmem.index.search.lookup import PlacedFact, important_facts
from clawmem.index.search.rival_values import rows_of_ids
from clawmem.memory.scope import WriteScope
from clawmem.model.facts.catalog import Catalog
from clawmem.model.facts.codec import refuse_conflict_markers
from clawmem.model.facts.fact import ACTIVE, BESIDE, Fact, importance_of, trust_rank
from clawmem.model.facts.fact_words import labels
from clawmem.model.facts.reach import PROJECT, scope_of
from clawmem.model.facts.validity import PLANS, is_over
from clawmem.model.language.dates import days_between, moment_of, stamp
from clawmem.model.language.text import one_line
from clawmem.model.lifecycle.tiers import ALWAYS_HOT
from clawmem.model.pages.summary import with_generated
from clawmem.model.pages.tokens import fact_dates, said_on, token_bound
from clawmem.model.proposals.promotion import MARK, promotion_of
from clawmem.model.proposals.quarantine import may_be_told, may_lead
from clawmem.model.records.change import Change, subject_line, trailers
from clawmem.model.records.entity import ITEMS, owner_of

PATH = "MEMORY.md"


class RefreshedPages(NamedTuple):
    """What changed, or would on a dry run: the pages, or the entities with such pages; the commit; and the problems
    that prevented more."""

    changed: tuple[str, ...] = ()
    commit: str | None = None
    notices: tuple[str, ...] = ()
    problems: tuple[ClawmemError, ...] = ()


def refresh_memory_page(work: WriteScope, dry_run: bool = False) -> RefreshedPages:
    """Update the generated part of MEMORY.md in one commit. The rest of the page is never changed. If facts cannot be
    read, the page is not changed. The index of the write scope must be at HEAD."""
    unread = [problem for path, problem in work.unreadable_files(ITEMS).items() if path.startswith("life/")]
    if unread:
        return RefreshedPages((), None, work.notices, tuple(unread))
    after = memory_page_after(work)
    if after is None or dry_run:
        return RefreshedPages((PATH,) if after else (), notices=work.notices)
    change = Change(subject_line("curate", PATH, "what matters most"), {PATH: after}, trailers("curate"))
    return RefreshedPages((PATH,), work.join(change, "memory"), work.notices)


def memory_page_after(work: WriteScope, changed: Iterable[PlacedFact] = ()) -> bytes | None:
    """Return MEMORY.md with its generated part made of the facts of the index, with some of them `changed`, or None if
    it does not change. Raise Unreadable for a page with conflict markers."""
    page = work.text(PATH)
    refuse_conflict_markers(page, PATH)
    known = {placed.fact.id: placed.fact for placed in important_facts(work.index, CATEGORIES, ALWAYS_HOT, MARK)}
    new = {placed.fact.id: placed.fact for placed in changed if owner_of(placed.entity) is None}
    known |= new
    parts = sections(known.values(), stamp(work.caller.now), _conflicts(work, known, new))
    block = memory_block(parts, work.vault.settings.whole("memory.max_tokens"), token_bound)
    after = with_generated(page or "# Memory\n", block)
    return after.encode() if after != page else None


def _conflicts(work: WriteScope, known: Mapping[str, Fact], new: Mapping[str, Fact]) -> dict[str, list[str]]:
    """Return the ids of the facts that each known fact is in conflict with, by id.

    The index does not have the changed facts `new` yet: what these settle is left out."""
    rows = rows_of_ids(work.index, list(known))
    if not rows:
        return {}
    catalog = work.vault.catalog_or_none() or Catalog({})
    found = conflicting_ids(work.index, [""], catalog, stamp(work.caller.now), rows)
    left = {
        text: [other for other in others if not (_is_settled(text, other, new) or _is_settled(other, text, new))]
        for text, others in found.items()
    }
    return {text: others for text, others in left.items() if others}


def _is_settled(text: str, other: str, new: Mapping[str, Fact]) -> bool:
    fact = new.get(text)
    return fact is not None and (
        not fact.is_current or any(link.type == BESIDE and link.to == other for link in fact.links)
    )


Count = Callable[[str], int]

# For so many days, a plan without a day counts as open.
_OPEN_DAYS = 180
# Categories with their own section, regardless of importance.
NO_CONFLICTS: Mapping[str, Sequence[str]] = {}
CATEGORIES = ("decision", "lesson", *PLANS)


class PageSection(NamedTuple):
    """A section of the page, most important line first; each round of filling takes up to `share` lines from it."""

    title: str
    lines: tuple[str, ...]
    more: str
    share: int


def sections(
    facts: Iterable[Fact], now: str, against: Mapping[str, Sequence[str]] = NO_CONFLICTS
) -> tuple[PageSection, ...]:
    """Return the sections for important facts, decisions, lessons and open plans; each fact is in one of them.

    Facts of one project, facts from outside, facts that are over at `now` (ISO 8601 UTC), and plans without a day that
    were made long before are left out. `against` are the ids of the facts that a fact is in conflict with, by id: its
    line names them, and of facts in conflict that of the highest trust comes first.
    """
    known = [fact for fact in facts if fact.status == ACTIVE and fact.trust not in ("external", "tool")]
    known = [fact for fact in known if scope_of(fact) != PROJECT and not is_over(fact, now) and may_be_told(fact, None)]
    decisions = [fact for fact in known if fact.category == "decision"]
    lessons = [fact for fact in known if fact.category == "lesson"]
    plans = [fact for fact in known if fact.category in PLANS and not _is_forgotten(fact, now)]
    placed = {fact.id for fact in (*decisions, *lessons, *plans)}
    rest = [fact for fact in known if fact.id not in placed and fact.category not in PLANS]
    important = [fact for fact in rest if importance_of(fact) >= ALWAYS_HOT or promotion_of(fact)]
    important = [fact for fact in important if may_lead(fact, None)]
    return (
        PageSection("Important", _lines(important, _by_importance, against), "clawmem list --tier hot", 3),
        PageSection("Decisions", _lines(decisions, _by_time, against), "clawmem list --category decision", 2),
        PageSection("Lessons", _lines(lessons, _by_time, against), "clawmem list --category lesson", 2),
        PageSection("Open plans", _lines(plans, _by_time, against), "clawmem list --category plan", 1),
    )


def _is_forgotten(plan: Fact, now: str) -> bool:
    """Return whether a plan that names no day was made so long ago that it is hardly open."""
    if plan.valid_from or plan.valid_to or plan.category != "plan":
        return False
    return days_between(said_on(plan) or plan.timestamp, moment_of(now)) > _OPEN_DAYS


def memory_block(parts: Sequence[PageSection], budget: int, count: Count) -> str:
    """Fill the sections in turns until the budget is used, and add the number of lines left out, with a command.

    `count` returns an upper bound of a text's tokens. The block stays within `budget`, apart from the remarks on lines
    left out, which are always added.
    """
    filled = [part for part in parts if part.lines]
    taken = [0] * len(filled)
    left = budget - sum(
        count(f"\n## {section.title}\n\n") + count(_remark(section, len(section.lines)) + "\n") for section in filled
    )
    going = set(range(len(filled)))
    while going:
        for at in sorted(going):
            fits, left = _take(filled[at], taken[at], left, count)
            taken[at] += fits
            if fits < filled[at].share:
                going.discard(at)
    blocks = [_section(section, number) for section, number in zip(filled, taken, strict=True)]
    return "\n\n".join(blocks)


def _take(section: PageSection, taken: int, left: int, count: Count) -> tuple[int, int]:
    """Return how many of the section's next lines fit, up to its share, and the tokens left after them."""
    fits = 0
    for line in section.lines[taken : taken + section.share]:
        price = count(line + "\n")
        if price > left:
            break
        left -= price
        fits += 1
    return fits, left


def _section(section: PageSection, taken: int) -> str:
    lines = [*section.lines[:taken]]
    if taken < len(section.lines):
        lines.append(_remark(section, len(section.lines) - taken))
    return "\n".join([f"## {section.title}", "", *lines])


def _remark(section: PageSection, number: int) -> str:
    return f"({number} more left out: `{section.more}`)"


def _lines(
    facts: Sequence[Fact], order: Callable[[Fact], tuple[object, ...]], against: Mapping[str, Sequence[str]]
) -> tuple[str, ...]:
    newest = sorted(sorted(facts, key=lambda fact: fact.id), key=lambda fact: fact.timestamp, reverse=True)
    return tuple(
        f"- {one_line(fact.fact)} ({', '.join([fact_dates(fact), *labels(fact), fact.id, *_conflict(fact, against)])})"
        for fact in _trusted_first(sorted(newest, key=order), against)
    )


def _conflict(fact: Fact, against: Mapping[str, Sequence[str]]) -> list[str]:
    rivals = against.get(fact.id, ())
    return [f"in conflict with {', '.join(rivals)}, not settled"] if rivals else []


def _trusted_first(ordered: Sequence[Fact], against: Mapping[str, Sequence[str]]) -> list[Fact]:
    """Return the facts in their order, but the rivals of a fact that have a higher trust directly before it."""
    known = {fact.id: fact for fact in ordered}
    found: dict[str, Fact] = {}
    for fact in ordered:
        rivals = [known[text] for text in against.get(fact.id, ()) if text in known]
        better = [rival for rival in rivals if trust_rank(rival.trust) > trust_rank(fact.trust)]
        for other_fact in (*sorted(better, key=lambda each: -trust_rank(each.trust)), fact):
            found.setdefault(other_fact.id, other_fact)
    return list(found.values())


def _by_importance(fact: Fact) -> tuple[object, ...]:
    mark = promotion_of(fact)
    return (-importance_of(fact), -float(mark.get("score") or 0) if mark else 0.0)


def _by_time(fact: Fact) -> tuple[object, ...]:
    """Keep the order, newest first."""
    return ()
