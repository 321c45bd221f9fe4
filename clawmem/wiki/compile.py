"""Compile the wiki: Markdown pages of the facts that pass the gates, in one commit.

A build after the first reads only the entities that changed since, those that rest on them, and those whose time has
come. The result is the same as that of a full build.
"""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Iterable, Mapping
from typing import NamedTuple, Protocol

from clawmem import __version__
from clawmem.errors import Unreadable
from clawmem.index.search.graph import entities_beside, entities_citing, entities_disputed, entities_naming
from clawmem.index.search.lookup import entities, entity_names
from clawmem.index.tables.store import Index
from clawmem.memory.scope import WriteScope
from clawmem.memory.writing import writing
from clawmem.model.facts.codec import parse_items, refuse_conflict_markers
from clawmem.model.facts.fact import Fact
from clawmem.model.language.dates import day_of, stamp
from clawmem.model.pages.summary import generated_part, own_text, with_generated
from clawmem.model.records.caller import Caller
from clawmem.model.records.change import Change, subject_line, trailers
from clawmem.model.records.entity import ITEMS, name_of_path
from clawmem.model.records.layout import CATALOG, SETTINGS
from clawmem.model.wiki.markdown import render_entity, render_index, render_topic
from clawmem.model.wiki.names import FOLDER, INDEX, REPORTS, topic_page
from clawmem.model.wiki.page import EntityPage, PageEntry, PageLink, TopicPage
from clawmem.vault.state.wiki_state import WikiState, read_wiki_state, write_wiki_state
from clawmem.vault.vault import Vault
from clawmem.wiki.gather import Titles, gate_context, gather_page, is_on_wiki, titles_of

_SETTINGS = ("wiki.gates.confidence", "wiki.gates.length", "wiki.gates.sources", "wiki.topic_claims", "stale.days")
_GONE = "The entity or topic of this page is gone. What people wrote here stays."


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


class BuildScope(Protocol):
    """What deciding about pages reads: a vault, its index, and the caller with the time."""

    @property
    def vault(self) -> Vault: ...
    @property
    def index(self) -> Index: ...
    @property
    def caller(self) -> Caller: ...


class _Plan(NamedTuple):
    """The entries of all pages before and after a build, the claims of each topic that has a page, and the pages to
    render."""

    before: Mapping[str, PageEntry]
    entries: Mapping[str, PageEntry]
    topics: Mapping[str, int]
    pages: Mapping[str, EntityPage]


def build_wiki(vault: Vault, caller: Caller, full: bool = False, dry_run: bool = False) -> WikiBuild:
    """Compile the wiki in one commit. With `full`, read every entity; a build without a state on this machine does so,
    too. Raise Unreadable for a page with conflict markers."""
    with writing(vault, caller, "wiki", dry_run=dry_run) as work:
        last = None if full else _usable_state(work)
        plan = _plan(work, last)
        writes = _writes(work, plan, last is None)
        commit = None
        if writes and not dry_run:
            change = Change(subject_line("wiki", "pages", _words(writes)), writes, trailers("wiki"))
            commit = work.commit([change])[-1]
        head = commit or vault.head().commit
        if head is not None and not dry_run:
            write_wiki_state(vault, WikiState(head, today(work), basis(vault), plan.entries))
        written = tuple(sorted(path for path, data in writes.items() if data is not None))
        removed = tuple(sorted(path for path, data in writes.items() if data is None))
        claims = sum(entry.claims for entry in plan.entries.values())
        return WikiBuild(written, removed, len(plan.entries), claims, last is None, commit, work.notices)


def today(work: BuildScope) -> str:
    """Return the day on which a build runs."""
    return day_of(stamp(work.caller.now))


def basis(vault: Vault) -> str:
    """Return a digest of what every page depends on: this version and the thresholds."""
    given = [__version__, *(str(vault.settings.get(key)) for key in _SETTINGS)]
    return hashlib.sha256("\n".join(given).encode()).hexdigest()


def _usable_state(work: WriteScope) -> WikiState | None:
    """Return the state of the last build, unless something changed on which every page depends, or the clock went
    back."""
    state = read_wiki_state(work.vault)
    usable = state is not None and state.basis == basis(work.vault) and state.day <= today(work)
    return state if usable else None


def _plan(work: WriteScope, last: WikiState | None) -> _Plan:
    context = gate_context(work.vault.settings, work.vault.catalog, work.caller)
    titles = titles_of(entities(work.index))
    names = {name for name in entity_names(work.index) if is_on_wiki(name)} | set(titles.entities)
    before = last.pages if last else {}
    entries = {name: entry for name, entry in before.items() if name in names}
    pages = {}
    least = work.vault.settings.whole("wiki.topic_claims")

    def gather(wanted: Iterable[str]) -> None:
        for name in sorted(wanted):
            pages[name], entries[name] = gather_page(work.index, context, titles, name)

    gather(changed_names(work, last, names, titles))
    # What changed on one page can change the links on others, but not their claims.
    old, new = backlinks_of(before), backlinks_of(entries)
    gather(name for name, entry in dict(entries).items() if old.get(entry.path) != new.get(entry.path))
    shown, topics = topic_totals(before, least), topic_totals(entries, least)
    moved = shown.keys() ^ topics.keys()
    gather(name for name, entry in dict(entries).items() if name not in pages and moved & entry.topics.keys())
    linked = {name: with_links(page, entries[name], new, topics) for name, page in pages.items()}
    return _Plan(before, entries, topics, linked)


def changed_names(work: BuildScope, last: WikiState | None, names: set[str], titles: Titles) -> set[str]:
    """Return the entities whose claims may differ from the last build; all of them if that cannot be told."""
    head = work.vault.head().commit
    if last is None or head is None:
        return names
    paths = [] if head == last.head else work.vault.changed_paths_or_none(last.head, head)
    if paths is None or any(path in (SETTINGS, CATALOG) for path in paths):
        return names
    changed = {name for path in paths if (name := name_of_path(path)) is not None}
    changed |= names - last.pages.keys()
    facts = _changed_facts(work, last.head, head, paths)
    if facts is None:
        return names
    changed |= entities_beside(work.index, facts)
    changed |= entities_citing(work.index, {path[7:-6] for path in paths if path.startswith("ledger/")})
    if any(path.startswith("review/") for path in paths):
        changed |= entities_disputed(work.index) | {name for name, entry in last.pages.items() if entry.conflicts}
    changed |= _renamed(work, last, titles, names)
    if today(work) != last.day:
        changed |= {name for name, entry in last.pages.items() if entry.due is not None and entry.due <= today(work)}
    edited = {path for path in paths if path.startswith(f"{FOLDER}/")}
    changed |= {name for name, entry in last.pages.items() if entry.path in edited}
    return changed & names


def _changed_facts(work: BuildScope, old: str, new: str, paths: Iterable[str]) -> list[Fact] | None:
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


def _facts_in(data: bytes | None, path: str) -> dict[str, Fact]:
    return {fact.id: fact for fact in parse_items(data, path)} if data else {}


def _renamed(work: BuildScope, last: WikiState, titles: Titles, names: set[str]) -> set[str]:
    """Return the entities that name, or named, one whose title or aliases changed, or that is new or gone."""
    known = {name: (entry.title, *entry.aliases) for name, entry in last.pages.items()}
    now = {name: (entity.title, *entity.aliases) for name, entity in titles.entities.items()}
    moved = {name for name in (*known, *now) if name not in known or (name in now and known[name] != now[name])}
    moved |= known.keys() - names
    if not moved:
        return set()
    places = {last.pages[name].path for name in moved & last.pages.keys()}
    named = {name for name, entry in last.pages.items() if places & entry.links.keys()}
    return named | entities_naming(work.index, {word for name in moved for word in (name, *now.get(name, ()))})


def backlinks_of(entries: Mapping[str, PageEntry]) -> dict[str, tuple[PageLink, ...]]:
    """Return the links to each page, by title."""
    found: dict[str, list[PageLink]] = {}
    for entry in entries.values():
        for path, claims in entry.links.items():
            found.setdefault(path, []).append(PageLink(entry.path, entry.title, claims))
    return {path: tuple(sorted(links, key=_by_title)) for path, links in found.items()}


def topic_totals(entries: Mapping[str, PageEntry], least: int) -> dict[str, int]:
    """Return the number of claims of each topic that has enough for a page."""
    found: dict[str, int] = {}
    for entry in entries.values():
        for topic, claims in entry.topics.items():
            found[topic] = found.get(topic, 0) + claims
    return {topic: claims for topic, claims in found.items() if claims >= least}


def _changed_topics(plan: _Plan, full: bool) -> dict[str, tuple[PageLink, ...]]:
    """Return the entities of each topic whose page may change; of all topics if the build is full."""
    differ = [name for name in plan.pages if full or plan.before.get(name) != plan.entries[name]]
    gone = [entry for name, entry in plan.before.items() if name not in plan.entries]
    touched = {topic for name in differ for topic in plan.entries[name].topics}
    touched |= {topic for name in differ if name in plan.before for topic in plan.before[name].topics}
    touched |= {topic for entry in gone for topic in entry.topics}
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
    shown = (PageLink(topic_page(one), one, count) for one, count in entry.topics.items() if one in topics)
    return page._replace(topics=tuple(sorted(shown, key=_by_title)), backlinks=backlinks.get(page.path, ()))


def _writes(work: WriteScope, plan: _Plan, full: bool) -> dict[str, bytes | None]:
    """Return the pages whose content changes, and those of entities and topics that are gone."""
    generated = {page.path: render_entity(page) for page in plan.pages.values()}
    for topic, links in _changed_topics(plan, full).items():
        generated[topic_page(topic)] = render_topic(TopicPage(topic_page(topic), topic, links))
    totals = [PageLink(topic_page(topic), topic, claims) for topic, claims in plan.topics.items()]
    generated[INDEX] = render_index(plan.entries.values(), sorted(totals, key=_by_title))
    writes: dict[str, bytes | None] = {}
    for path, part in generated.items():
        text = work.text(path)
        refuse_conflict_markers(text, path)
        after = with_generated(text, part)
        if after != text:
            writes[path] = after.encode()
    kept = {entry.path for entry in plan.entries.values()} | {INDEX, *map(topic_page, plan.topics)}
    for path in _old_pages(work, plan, full) - kept:
        text = work.text(path)
        if generated_part(text) is not None:
            writes[path] = with_generated(text, _GONE).encode() if own_text(text) else None
    return {path: data for path, data in writes.items() if data != work.read(path)}


def _old_pages(work: WriteScope, plan: _Plan, full: bool) -> set[str]:
    """Return the pages that an earlier build may have left."""
    head = work.vault.head().commit
    if full and head is not None:
        found = (path for path in work.vault.files_at(head, FOLDER) if path.endswith(".md"))
        return {path for path in found if not path.startswith(f"{REPORTS}/")}
    topics = topic_totals(plan.before, work.vault.settings.whole("wiki.topic_claims"))
    return {entry.path for entry in plan.before.values()} | set(map(topic_page, topics))


def _words(writes: Mapping[str, bytes | None]) -> str:
    removed = sum(1 for data in writes.values() if data is None)
    written = len(writes) - removed
    return f"{written} written" + (f", {removed} removed" if removed else "")
