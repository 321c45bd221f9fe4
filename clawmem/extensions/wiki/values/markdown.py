"""Pages of the wiki as Markdown, which Obsidian and git hosts show alike: links are relative Markdown links."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from itertools import islice

from clawmem.extensions.wiki.values.page import (
    INDEX,
    EntityPage,
    FactPlace,
    PageEntry,
    PageLink,
    Premise,
    TopicPage,
    WikiClaim,
    WikiConflict,
    relative_link,
)
from clawmem.model.facts.fact import RETRACTED, SUPERSEDED, Fact
from clawmem.model.facts.fact_words import change_labels, project_words, reasons_of, trust_label
from clawmem.model.facts.gates import named_premises
from clawmem.model.language.dates import day_of
from clawmem.model.language.text import counted, normal, one_line, visible
from clawmem.model.pages.tokens import fact_dates
from clawmem.model.records.entity import kind_of

_SECTIONS = {
    "person": "People", "company": "Companies", "project": "Projects", "area": "Areas", "resource": "Resources",
    "archive": "Archives",
}  # fmt: skip


def render_entity(page: EntityPage) -> str:
    """Return the generated part of an entity's page."""
    doubtful = [
        f"- {markdown_text(stale.fact.fact)} To be checked: {markdown_text(stale.reason)}. "
        f"({claim_details(stale.fact)})"
        for stale in page.doubtful
    ]
    blocks = [_head(page)]
    for category, claims in grouped_claims(page.claims):
        title = markdown_text("Facts" if category == "fact" else category.capitalize())
        blocks.append(section(title, [_claim(claim, page.path) for claim in claims]))
    blocks.append(section("Open conflicts", [_conflict(conflict, page.path) for conflict in page.conflicts]))
    blocks += [section("In doubt", doubtful), _list("Topics", page.topics, page.path)]
    blocks += [_list("Mentioned in", page.backlinks, page.path), _held_back(page)]
    return "\n\n".join(filter(None, blocks))


def render_topic(page: TopicPage) -> str:
    """Return the generated part of a topic's page."""
    lines = "\n".join(_link_line(entity, page.path) for entity in page.entities)
    blocks = [f"# {markdown_text(page.topic)}", _index_link(page.path), lines]
    return "\n\n".join(filter(None, blocks))


def render_index(entries: Iterable[PageEntry], topics: Sequence[PageLink], reports: Iterable[str] = ()) -> str:
    """Return the generated part of the index: pages by kind of entity, topics, and reports, newest first."""
    blocks = [section(markdown_text(title), list(map(_entry_line, found))) for title, found in grouped_entries(entries)]
    blocks.append(_list("Topics", topics, INDEX))
    named = (
        f"- [{markdown_text(path.rpartition('/')[2].removesuffix('.md'))}]({relative_link(INDEX, path)})"
        for path in reports
    )
    blocks.append(section("Reports", sorted(named, reverse=True)))
    return "# Wiki\n\n" + ("\n\n".join(filter(None, blocks)) or "No fact has passed the gates yet.")


def grouped_entries(entries: Iterable[PageEntry]) -> list[tuple[str, list[PageEntry]]]:
    """Return the entries by the kind of entity, under the title of the group, each group by title."""
    groups: dict[str, list[PageEntry]] = {title: [] for title in _SECTIONS.values()}
    for entry in sorted(entries, key=lambda other_entry: (other_entry.title.casefold(), other_entry.path)):
        groups.setdefault(_SECTIONS.get(entry.kind, entry.kind.capitalize()), []).append(entry)
    return [(title, found) for title, found in groups.items() if found]


def claim_details(fact: Fact) -> str:
    """Return when a claim holds, its confidence, trust, labels and source, and its id."""
    parts = [fact_dates(fact)]
    if fact.confidence is not None:
        parts.append(f"confidence {fact.confidence:.2f}")
    parts.append(trust_label(fact) or "from user")
    parts += [*change_labels(fact), f"source {fact.source_event or fact.source}", *project_words(fact), fact.id]
    return ", ".join(map(markdown_text, parts))


def grouped_claims(claims: Iterable[WikiClaim]) -> list[tuple[str, list[WikiClaim]]]:
    """Return the claims by category, the categories in alphabetical order, plain facts last."""
    groups: dict[str, list[WikiClaim]] = {}
    for claim in claims:
        groups.setdefault(claim.fact.category, []).append(claim)
    return sorted(groups.items(), key=lambda group: (group[0] == "fact", group[0]))


def _head(page: EntityPage) -> str:
    entity = page.entity
    kind = entity.kind or kind_of(entity.name)
    known = f" Also known as {', '.join(map(markdown_text, entity.aliases))}." if entity.aliases else ""
    count = f"{len(page.claims)} claim{'' if len(page.claims) == 1 else 's'}"
    head = f"{markdown_text(kind.capitalize())}, {count}.{known} {_index_link(page.path)}"
    return f"# {markdown_text(entity.title)}\n\n{head}"


def _index_link(path: str) -> str:
    return f"[Index]({relative_link(path, INDEX)})"


def _claim(claim: WikiClaim, path: str) -> str:
    lines = [f"- {_with_links(claim, path)} ({claim_details(claim.fact)})"]
    lines += [f"  - {label}: {markdown_text(text)}" for label, text in reasons_of(claim.fact)]
    lines += [_premise(claim.fact, premise, path) for premise in claim.premises]
    lines += [f"  - Replaced: {markdown_text(old.fact)} ({claim_details(old)})" for old in claim.replaced]
    return "\n".join(lines)


def _premise(claim: Fact, premise: Premise, path: str) -> str:
    """Return the line of a premise, with what became of it. What the claim itself says is not repeated."""
    place, fact = premise.place, premise.place.fact
    name = markdown_text(fact.id)
    state = {RETRACTED: " (withdrawn)", SUPERSEDED: f" (replaced by {markdown_text(fact.superseded_by or 'another')})"}
    why = f": {markdown_text(premise.reason)}" if premise.reason and not named_premises(premise.reason) else ""
    if normal(fact.fact.rstrip(".")) in normal(claim.fact):
        words = name if place.page in (None, path) else f"[{name}]({relative_link(path, place.page or path)})"
    else:
        words = f"{_linked(place, path)} ({name})"
    return f"  - Since {words}{state.get(fact.status, '')}{why}"


def _with_links(claim: WikiClaim, path: str) -> str:
    """Return the statement with links on the titles of entities in it, and after it links to the others."""
    text = claim.fact.fact
    spans: list[tuple[int, int, str, str]] = []
    others = []
    for page, title in claim.mentions:
        name = re.escape(title)
        written = [*re.finditer(rf"\[\[{name}(?:\|([^\[\]|]+))?\]\]", text)] if "[[" in text else []
        bare = [] if written else [*islice(re.finditer(rf"(?<!\w){name}(?!\w)()", text), 1)]
        found = [(*match.span(), page, match[1] or title) for match in (*written, *bare)]
        if found and all(last <= start or end <= first for first, last, *_ in found for start, end, *_ in spans):
            spans += found
        else:
            others.append(f"[{markdown_text(title)}]({relative_link(path, page)})")
    shown, at = "", 0
    for start, end, page, words in sorted(spans):
        shown += f"{_part(text[at:start])}[{_part(words)}]({relative_link(path, page)})"
        at = end
    shown = shown + _part(text[at:]) if at else markdown_text(text)
    return f"{shown} (see {', '.join(others)})" if others else shown


def _part(text: str) -> str:
    """Return a part of a statement as Markdown, with the spaces at its ends."""
    bare = text.strip()
    start = text.find(bare)
    return text[:start] + markdown_text(bare) + text[start + len(bare) :] if bare else text


def _linked(place: FactPlace, path: str) -> str:
    """Return a statement, with a link to its page if that is another one."""
    words = markdown_text(place.fact.fact.rstrip("."))
    return words if place.page in (None, path) else f"[{words}]({relative_link(path, place.page or path)})"


def _conflict(conflict: WikiConflict, path: str) -> str:
    sides = (f"{_linked(place, path)} ({claim_details(place.fact)})" for place in conflict)
    return "- Not settled: " + "; against it: ".join(sides)


def _list(title: str, links: Sequence[PageLink], path: str) -> str:
    return section(title, [_link_line(link, path) for link in links])


def section(title: str, lines: Sequence[str]) -> str:
    """Return lines under a heading; nothing without a line."""
    return f"## {title}\n\n" + "\n".join(lines) if lines else ""


def _link_line(link: PageLink, path: str) -> str:
    return f"- [{markdown_text(link.title)}]({relative_link(path, link.page)}): {counted(link.claims, 'claim')}"


def _entry_line(entry: PageEntry) -> str:
    count = f"{entry.claims} claim{'' if entry.claims == 1 else 's'}"
    newest = f", newest {day_of(entry.newest)}" if entry.newest else ""
    return f"- [{markdown_text(entry.title)}]({relative_link(INDEX, entry.path)}): {count}{newest}"


def _held_back(page: EntityPage) -> str:
    if not page.held_back:
        return ""
    count = f"{page.held_back} fact{' does' if page.held_back == 1 else 's do'}"
    return f"{count} not pass the gates: `clawmem wiki gate --entity {page.entity.name}`"


# Characters that CommonMark, GitHub or Obsidian read as markup: emphasis, code, links, HTML, tables, headings and tags,
# mathematics, highlights and comments.
_MARKUP = re.compile(r"[\\`*\[\]<>|~$#^=%{}!&]|(?<!\w)_|_(?!\w)")
# Most titles, which need no work.
_PLAIN = re.compile(r"[A-Za-z]+(?: [A-Za-z0-9]+)*")
# A number with a dot, or a dash, makes a list at the beginning of a line.
_LIST = re.compile(r"\A(\d+)([.)])|\A([-+])(?=\s)")


def markdown_text(text: str) -> str:
    """Return a text as one line of Markdown that shows exactly this text."""
    if _PLAIN.fullmatch(text):
        return text
    escaped = _MARKUP.sub(lambda found: "\\" + found[0], visible(one_line(text)))
    return _LIST.sub(lambda found: f"{found[1]}\\{found[2]}" if found[1] else f"\\{found[3]}", escaped)
