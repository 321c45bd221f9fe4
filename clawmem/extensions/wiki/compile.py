"""Compile the wiki: Markdown pages of the facts that pass the gates, in one commit.

A build after the first reads only the entities that changed since, those that rest on them, and those whose time has
come. The result is the same as that of a full build.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import NamedTuple

from clawmem import __version__
from clawmem.errors import Unreadable
from clawmem.extensions.wiki.gather import (
    Titles,
    WikiState,
    gather_page,
    names_on_wiki,
    read_wiki_state,
    titles_of,
    write_wiki_state,
)
from clawmem.extensions.wiki.values.links import (
    with_wiki_links,
)
from clawmem.extensions.wiki.values.markdown import render_entity, render_index, render_topic
from clawmem.extensions.wiki.values.page import (
    FOLDER,
    INDEX,
    REPORTS,
    EntityPage,
    PageEntry,
    PageLink,
    TopicPage,
    topic_page,
)
from clawmem.index.search.graph import entities_beside, entities_citing, entities_disputed, entities_naming
from clawmem.index.search.lookup import by_ids, event_day, facts_containing
from clawmem.memory.facts.gates import GateContext
from clawmem.memory.scope import WriteScope
from clawmem.memory.writing import writing
from clawmem.model.facts.codec import parse_items, refuse_conflict_markers
from clawmem.model.facts.fact import ALSO_FROM, Fact, further_events
from clawmem.model.language.dates import day_of, stamp
from clawmem.model.pages.summary import INVITATION, generated_part, own_text, with_generated
from clawmem.model.progress import OnProgress, counting
from clawmem.model.records.accesses import ACCESSES_PATH, parse_accesses
from clawmem.model.records.caller import Caller
from clawmem.model.records.change import Change, subject_line, trailers
from clawmem.model.records.entity import ITEMS, name_of_path
from clawmem.model.records.layout import CATALOG, SETTINGS
from clawmem.vault.edits.hand_edits import commits_by_hand
from clawmem.vault.vault import Vault

OBSIDIAN = "obsidian"
# The least claims with a tag that give the tag a page.
_TOPIC_CLAIMS = 2
# With more new names than that, all pages are looked at, and not all facts for each of them.
_MOST_MOVED = 60
GONE = "The entity or topic of this page is gone. What people wrote here stays."


class WikiBuild(NamedTuple):
    """What a build did: the pages that it wrote and removed, all pages, its claims, and the commit (None if nothing
    changed). `full` says that every entity was read."""

    written: tuple[str, ...]
    removed: tuple[str, ...]
    pages: int
    claims: int
    full: bool
    commit: str | None = None
    notices: tuple[str, ...] = ()


class BuildPlan(NamedTuple):
    """What a build will do: the entries of all pages before and after it, the claims of each topic that has a page, the
    pages to render, and whether every entity was read.

    `texts` are pages of which the build takes another text than the vault has. `edited` are the paths below the wiki
    that changed since the last build on this machine."""

    before: Mapping[str, PageEntry]
    entries: Mapping[str, PageEntry]
    topics: Mapping[str, int]
    pages: Mapping[str, EntityPage]
    full: bool
    texts: Mapping[str, str]
    edited: frozenset[str] = frozenset()


def build_wiki(
    vault: Vault, caller: Caller, full: bool = False, dry_run: bool = False, report: OnProgress | None = None
) -> WikiBuild:
    """Compile the wiki in one commit. With `full`, read every entity; a build without a state on this machine does so,
    too. `report` gets how far it is. Raise Unreadable for a page with conflict markers."""
    with writing(vault, caller, "wiki", dry_run=dry_run) as work:
        plan = plan_build(work, full, report=report)
        writes = page_writes(work, plan, report=report)
        replaced = replaced_notices(work, plan, writes)
        commit = None
        if writes and not dry_run:
            change = Change(subject_line("wiki", "pages", counted_writes(writes)), writes, trailers("wiki"))
            commit = work.commit([change])[-1]
        if not dry_run:
            remember_build(work, plan, commit)
        written = tuple(sorted(path for path, data in writes.items() if data is not None))
        removed = tuple(sorted(path for path, data in writes.items() if data is None))
        claims = sum(entry.claims for entry in plan.entries.values())
        return WikiBuild(written, removed, len(plan.entries), claims, plan.full, commit, (*work.notices, *replaced))


def plan_build(
    work: WriteScope,
    full: bool = False,
    texts: Mapping[str, str] | None = None,
    report: OnProgress | None = None,
) -> BuildPlan:
    """Return what a build would do. `texts` replace what the vault has of some pages."""
    return _plan(work, None if full else _usable_state(work), texts or {}, report)


def remember_build(work: WriteScope, plan: BuildPlan, commit: str | None) -> None:
    """Store what the next build needs to know about this one."""
    head = commit or work.vault.head().commit
    if head is not None:
        write_wiki_state(work.vault, WikiState(head, today(work), _basis(work), plan.entries))


def _basis(work: WriteScope) -> str:
    """Return what every page depends on."""
    return f"{__version__} {work.vault.settings.words('wiki.links')}"


def today(work: WriteScope) -> str:
    """Return the day on which a build runs."""
    return day_of(stamp(work.caller.now))


def _usable_state(work: WriteScope) -> WikiState | None:
    """Return the state of the last build, unless what every page depends on changed, or the clock went back."""
    state = read_wiki_state(work.vault)
    usable = state is not None and state.basis == _basis(work) and state.day <= today(work)
    return state if usable else None


def _plan(work: WriteScope, last: WikiState | None, texts: Mapping[str, str], report: OnProgress | None) -> BuildPlan:
    context = GateContext(work.vault.catalog, work.caller)
    titles = titles_of(work.index)
    names = names_on_wiki(work.index, titles)
    before = last.pages if last else {}
    entries = {name: entry for name, entry in before.items() if name in names}
    pages = {}

    def gather(wanted: Iterable[str]) -> None:
        for name in counting(sorted(wanted), "wiki: reading", "entities", report):
            pages[name], entries[name] = gather_page(work.index, context, titles, name)

    changed = changed_paths(work, last)
    edited = frozenset(path for path in changed or () if path.startswith(f"{FOLDER}/"))
    gather(changed_names(work, last, names, titles, changed))
    shown, topics = topic_totals(before), topic_totals(entries)
    # What changed on one page can change the links on others, but not their claims.
    old, new = backlinks_of(before), backlinks_of(entries)
    moved = shown.keys() ^ topics.keys()
    others = [(name, entry) for name, entry in entries.items() if name not in pages]
    gather(name for name, each in others if old.get(each.path) != new.get(each.path) or moved & each.topics.keys())
    linked = {name: with_links(page, entries[name], new, topics) for name, page in pages.items()}
    return BuildPlan(before, entries, topics, linked, last is None, texts, edited)


def changed_paths(work: WriteScope, last: WikiState | None) -> list[str] | None:
    """Return the paths that changed since the last build, or None if that cannot be told."""
    head = work.vault.head().commit
    if last is None or head is None:
        return None
    return [] if head == last.head else work.vault.changed_paths_or_none(last.head, head)


def changed_names(
    work: WriteScope, last: WikiState | None, names: set[str], titles: Titles, paths: Sequence[str] | None
) -> set[str]:
    """Return the entities whose claims may differ from the last build; all of them if that cannot be told."""
    head = work.vault.head().commit
    if last is None or head is None or paths is None or any(path in (SETTINGS, CATALOG) for path in paths):
        return names
    changed = {name for path in paths if (name := name_of_path(path)) is not None}
    changed |= names - last.pages.keys()
    facts = _changed_facts(work, last.head, head, paths)
    if facts is None:
        return names
    changed |= entities_beside(work.index, facts)
    days = {path[7:-6] for path in paths if path.startswith("ledger/")}
    changed |= entities_citing(work.index, days) | _also_citing(work, days)
    if any(path.startswith("review/") for path in paths):
        changed |= entities_disputed(work.index) | {name for name, entry in last.pages.items() if entry.conflicts}
    if ACCESSES_PATH in paths:
        changed |= _accessed(work, last.head, head)
    changed |= _renamed(work, last, titles, names)
    if today(work) != last.day:
        changed |= {name for name, entry in last.pages.items() if entry.due is not None and entry.due <= today(work)}
    edited = {path for path in paths if path.startswith(f"{FOLDER}/")}
    changed |= {name for name, entry in last.pages.items() if entry.path in edited}
    return changed & names


def _changed_facts(work: WriteScope, old: str, new: str, paths: Iterable[str]) -> list[Fact] | None:
    """Return the facts that differ between two commits, in both versions, or None if a file cannot be read."""
    items = [path for path in paths if path.endswith(f"/{ITEMS}") and name_of_path(path) is not None]
    if not items:
        return []
    before, after = (work.vault.contents_at(commit, items) for commit in (old, new))
    found: list[Fact] = []
    try:
        for path in items:
            was, now = _facts_in(before[path], path), _facts_in(after[path], path)
            found += [fact for fact_id, fact in was.items() if now.get(fact_id) != fact]
            found += [fact for fact_id, fact in now.items() if was.get(fact_id) != fact]
    except Unreadable:
        return None
    return found


def _also_citing(work: WriteScope, days: Collection[str]) -> set[str]:
    """Return the entities with facts whose further evidence is of some days."""
    rows = facts_containing(work.index, f'"{ALSO_FROM}"') if days else []
    return {
        placed.entity
        for placed in rows
        if any(event_day(work.index, each) in days for each in further_events(placed.fact))
    }


def _accessed(work: WriteScope, old: str, new: str) -> set[str]:
    """Return the entities of the facts whose accesses differ between two commits: what is used is not stale."""
    before, after = (
        parse_accesses(work.vault.contents_at(commit, [ACCESSES_PATH])[ACCESSES_PATH]) for commit in (old, new)
    )
    differ = [fact_id for fact_id in before.keys() | after.keys() if before.get(fact_id) != after.get(fact_id)]
    return {placed.entity for placed in by_ids(work.index, differ).values()}


def _facts_in(data: bytes | None, path: str) -> dict[str, Fact]:
    return {fact.id: fact for fact in parse_items(data, path)} if data else {}


def _renamed(work: WriteScope, last: WikiState, titles: Titles, names: set[str]) -> set[str]:
    """Return the entities that name, or named, one whose title or aliases changed, or that is new or gone."""
    known = {name: (entry.title, *entry.aliases) for name, entry in last.pages.items()}
    now = {name: (entity.title, *entity.aliases) for name, entity in titles.entities.items()}
    moved = {name for name in (*known, *now) if name not in known or (name in now and known[name] != now[name])}
    moved |= known.keys() - names
    if not moved:
        return set()
    places = {last.pages[name].path for name in moved & last.pages.keys()}
    named = {name for name, entry in last.pages.items() if places & entry.links.keys()}
    words = {word for name in moved for word in (name, *now.get(name, ()))}
    if len(words) > _MOST_MOVED:
        return names
    stating = {placed.entity for placed in facts_containing(work.index, *sorted(words))}
    return named | stating | entities_naming(work.index, words)


def backlinks_of(entries: Mapping[str, PageEntry]) -> dict[str, tuple[PageLink, ...]]:
    """Return the links from claims to each page, by title."""
    found: dict[str, list[PageLink]] = {}
    for entry in entries.values():
        for path, claims in entry.links.items():
            found.setdefault(path, []).append(PageLink(entry.path, entry.title, claims))
    return {path: tuple(sorted(links, key=_by_title)) for path, links in found.items()}


def topic_totals(entries: Mapping[str, PageEntry]) -> dict[str, int]:
    """Return the number of claims of each topic that has enough for a page."""
    found: dict[str, int] = {}
    for entry in entries.values():
        for topic, claims in entry.topics.items():
            found[topic] = found.get(topic, 0) + claims
    return {topic: claims for topic, claims in found.items() if claims >= _TOPIC_CLAIMS}


def _changed_topics(plan: BuildPlan) -> dict[str, tuple[PageLink, ...]]:
    """Return the entities of each topic whose page may change; of all topics if the build is full."""
    differ = [name for name in plan.pages if plan.full or plan.before.get(name) != plan.entries[name]]
    gone = [entry for name, entry in plan.before.items() if name not in plan.entries]
    touched = {topic for name in differ for topic in plan.entries[name].topics}
    touched |= {topic for name in differ if name in plan.before for topic in plan.before[name].topics}
    touched |= {topic for entry in gone for topic in entry.topics}
    touched |= {topic for topic in plan.topics if topic_page(topic) in plan.edited} if plan.edited else set()
    return topic_links(plan.entries, touched & plan.topics.keys())


def topic_links(entries: Mapping[str, PageEntry], topics: Collection[str]) -> dict[str, tuple[PageLink, ...]]:
    """Return the entities of some topics, by title."""
    found: dict[str, list[PageLink]] = {topic: [] for topic in topics}
    for entry in entries.values():
        for topic in found.keys() & entry.topics.keys():
            found[topic].append(PageLink(entry.path, entry.title, entry.topics[topic]))
    return {topic: tuple(sorted(links, key=_by_title)) for topic, links in found.items()}


def _by_title(link: PageLink) -> tuple[str, str]:
    return link.title.casefold(), link.page


def with_links(
    page: EntityPage,
    entry: PageEntry,
    backlinks: Mapping[str, tuple[PageLink, ...]],
    topics: Mapping[str, int],
) -> EntityPage:
    shown = (PageLink(topic_page(text), text, count) for text, count in entry.topics.items() if text in topics)
    return page._replace(topics=tuple(sorted(shown, key=_by_title)), backlinks=backlinks.get(page.path, ()))


def page_writes(
    work: WriteScope, plan: BuildPlan, reports: Iterable[str] = (), report: OnProgress | None = None
) -> dict[str, bytes | None]:
    """Return the pages whose content changes, and those of entities and topics that are gone. `reports` are the paths
    of reports that the same commit adds."""
    pages = counting([*plan.pages.values()], "wiki: writing", "pages", report)
    generated = {page.path: render_entity(page) for page in pages}
    for topic, links in _changed_topics(plan).items():
        path = topic_page(topic)
        generated[path] = render_topic(TopicPage(path, topic, links))
    totals = [PageLink(topic_page(topic), topic, claims) for topic, claims in plan.topics.items()]
    listed = {*pages_in(work, REPORTS), *reports}
    generated[INDEX] = render_index(plan.entries.values(), sorted(totals, key=_by_title), listed)
    if work.vault.settings.words("wiki.links") == OBSIDIAN:
        generated = {path: with_wiki_links(part, path) for path, part in generated.items()}
    writes: dict[str, bytes | None] = {path: text.encode() for path, text in plan.texts.items()}
    for path, part in generated.items():
        text = plan.texts.get(path) or work.text(path)
        refuse_conflict_markers(text, path)
        # A page on which nobody wrote says where to write.
        is_bare = not text or with_generated(text, "") == with_generated("", "")
        after = with_generated(f"{INVITATION}\n" if is_bare else text, part)
        if after != text:
            writes[path] = after.encode()
    kept = {entry.path for entry in plan.entries.values()} | {INDEX, *map(topic_page, plan.topics)}
    for path in _old_pages(work, plan) - kept:
        text = plan.texts.get(path) or work.text(path)
        if generated_part(text) is not None:
            writes[path] = with_generated(text, GONE).encode() if own_text(text) else None
    return {path: data for path, data in writes.items() if data != work.read(path)}


def replaced_notices(work: WriteScope, plan: BuildPlan, writes: Mapping[str, bytes | None]) -> list[str]:
    """Return a notice for each page of which a build replaces what people wrote between the markers."""
    last, head = read_wiki_state(work.vault), work.vault.head().commit
    if last is None or head is None or not (plan.full or plan.edited & writes.keys()):
        return []
    found: dict[str, str] = {}
    for commit, parent in commits_by_hand(work.vault, last.head, head, FOLDER):
        paths = [path for path in work.vault.changed_paths(parent, commit) if path in writes and path not in found]
        was, now = (work.vault.contents_at(each, paths) for each in (parent, commit))
        found |= {path: commit for path in paths if now[path] and _generated(was[path]) != _generated(now[path])}
    return [
        f"{path}: text between the markers of the generated part was replaced; write outside them. The edit is in"
        f" commit {commit[:12]}: `git log -p -- {path}`"
        for path, commit in sorted(found.items())
    ]


def _generated(data: bytes | None) -> str | None:
    return generated_part(data.decode("utf-8-sig", errors="replace")) if data else None


def pages_in(work: WriteScope, folder: str) -> list[str]:
    """Return the paths of the pages that a folder has at HEAD."""
    head = work.vault.head().commit
    return [path for path in work.vault.files_at(head, folder) if path.endswith(".md")] if head is not None else []


def _old_pages(work: WriteScope, plan: BuildPlan) -> set[str]:
    """Return the pages that an earlier build may have left."""
    if plan.full:
        return {path for path in pages_in(work, FOLDER) if not path.startswith(f"{REPORTS}/")}
    topics = topic_totals(plan.before)
    return {entry.path for entry in plan.before.values()} | set(map(topic_page, topics))


def counted_writes(writes: Mapping[str, bytes | None]) -> str:
    """Return how many pages are written and removed."""
    removed = sum(1 for data in writes.values() if data is None)
    written = len(writes) - removed
    return f"{written} written" + (f", {removed} removed" if removed else "")
