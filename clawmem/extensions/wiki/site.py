"""Build a site of the memory: gather what changed since the last build, and write it.

The result is the same as that of a full build. Pages are gathered one after another and kept in a temporary file until
all links are known, so the memory that a build needs does not grow with the text of the pages.
"""

from __future__ import annotations

import hashlib
import pickle
import tempfile
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from pathlib import Path
from typing import IO, NamedTuple

from clawmem import __version__
from clawmem.extensions.wiki.compile import (
    backlinks_of,
    changed_names,
    changed_paths,
    hand_links,
    today,
    topic_links,
    topic_totals,
    with_links,
)
from clawmem.extensions.wiki.gather import WikiState, gather_page, is_on_wiki, titles_of
from clawmem.extensions.wiki.values.links import outside_markers
from clawmem.extensions.wiki.values.page import (
    FOLDER,
    INDEX,
    REPORTS,
    EntityPage,
    HandLinks,
    OwnPage,
    PageEntry,
    PageLink,
    Site,
    SitePage,
    SiteTopic,
    TopicPage,
    entity_page,
    site_paths,
    source_events,
    topic_page,
)
from clawmem.extensions.wiki.write_site import SiteBuild, SiteState, read_site_state, write_site
from clawmem.index.refresh.refresh import run_query
from clawmem.index.search.events import events_by_id
from clawmem.index.search.graph import entities_beside, entities_citing
from clawmem.index.search.lookup import entities, entity_names, facts_of, unreadable_notices
from clawmem.index.tables.store import Index
from clawmem.memory.facts.gates import GateContext
from clawmem.memory.permission import check_may_read
from clawmem.model.kinds import file_kind
from clawmem.model.pages.summary import generated_part, own_text, split_front_matter
from clawmem.model.progress import OnProgress, counting
from clawmem.model.records.caller import Caller
from clawmem.model.records.entity import summary_path
from clawmem.vault.vault import Vault

Earlier = Callable[[str], bytes | None]
Render = Callable[[Site, Earlier], Iterable[tuple[str, bytes | None]]]
Links = Mapping[str, tuple[PageLink, ...]]
_AT_ONCE = 200
_NO_BUILD = SiteState(WikiState("", "", "", {}, {}), "", (), {}, {})
_OWN_KINDS = (
    "undated note", "document in daily", "document in life", "document in tasks", "document in workflows",
)  # fmt: skip


class BuiltSite(NamedTuple):
    """What a build did, the number of pages of entities, topics and people, and what the index says about itself."""

    build: SiteBuild
    pages: int
    full: bool
    notices: tuple[str, ...]


def build_site(
    vault: Vault,
    caller: Caller,
    folder: Path,
    render: Render,
    design: str,
    full: bool = False,
    report: OnProgress | None = None,
) -> BuiltSite:
    """Write the site of what passes the gates to a folder, which must have passed `check_site_folder`.

    `render` makes files of a site, given those of the last build; `design` is a digest of all else on which the files
    depend. With `full`, every page is rendered; so it is if the last build there cannot be continued. `report` gets how
    far it is. Raise NotPermitted for a caller that may not read, StorageFailed if a file cannot be written."""

    def act(index: Index) -> BuiltSite:
        with tempfile.TemporaryFile() as file:
            return _Builder(vault, index, caller, _Spool(file), design, report).build(folder, render, full)

    return run_query(vault, act, one_state=False)


class GatheredPages(NamedTuple):
    """The pages of all entities with their backlinks, without their topics; their entries; and what the index says
    about itself."""

    pages: tuple[EntityPage, ...]
    entries: tuple[PageEntry, ...]
    notices: tuple[str, ...]


def gather_pages(vault: Vault, caller: Caller) -> GatheredPages:
    """Return the pages of all entities. Raise NotPermitted for a caller that may not read."""

    def act(index: Index) -> GatheredPages:
        context, titles = GateContext(vault.catalog, caller), titles_of(entities(index))
        names = {name for name in entity_names(index) if is_on_wiki(name)} | set(titles.entities)
        for name in names:
            check_may_read(caller, name)
        gathered = {name: gather_page(index, context, titles, name) for name in sorted(names)}
        entries = {name: entry for name, (_, entry) in gathered.items()}
        links = backlinks_of(entries)
        pages = tuple(with_links(page, entry, links, {}) for page, entry in gathered.values())
        return GatheredPages(pages, tuple(entries.values()), (*index.notices, *unreadable_notices(index)))

    return run_query(vault, act)


class _Spool:
    """Pages by entity, in a file that only this process reads."""

    def __init__(self, file: IO[bytes]) -> None:
        self._file = file
        self._places: dict[str, int] = {}

    def __contains__(self, name: str) -> bool:
        return name in self._places

    def names(self) -> list[str]:
        return sorted(self._places)

    def put(self, name: str, page: EntityPage) -> None:
        self._places[name] = self._file.seek(0, 2)
        pickle.dump(page, self._file, pickle.HIGHEST_PROTOCOL)

    def get(self, name: str) -> EntityPage:
        self._file.seek(self._places[name])
        page: EntityPage = pickle.load(self._file)
        return page


class _Builder:
    """One build: what it reads, and what it has gathered so far."""

    def __init__(
        self, vault: Vault, index: Index, caller: Caller, spool: _Spool, design: str, report: OnProgress | None
    ) -> None:
        self.vault = vault
        self.index = index
        self.caller = caller
        self._spool = spool
        self._report = report
        # The commit that the index shows: HEAD may have moved since the index was opened.
        self._head = index.head() or ""
        self._ground = hashlib.sha256(f"{__version__}\n{design}".encode()).hexdigest()
        self._titles = titles_of(entities(index))
        self._names = {name for name in entity_names(index) if is_on_wiki(name)} | set(self._titles.entities)
        self._entries: dict[str, PageEntry] = {}
        self._noted: set[str] = set()
        for name in self._names:
            check_may_read(caller, name)

    def build(self, folder: Path, render: Render, full: bool) -> BuiltSite:
        """Gather what changed, render it, and write it."""
        last = None if full else self._usable(read_site_state(folder))
        paths = changed_paths(self, last.wiki if last else None)
        if paths is None:
            last = None  # git does not have the commit of the last build
        before, edited = last or _NO_BUILD, set(paths or ())
        entries = before.wiki.pages
        self._entries = {name: entries[name] for name in sorted(self._names & entries.keys())}
        self._gather(self._changed(last, edited))
        self._gather_beside_renamed(entries)
        totals = topic_totals(self._entries)
        titles = self._titles_of_files(before.files_of_people, edited, totals)
        was, now = self._paths(entries, before.files_of_people), self._paths(self._entries, titles)
        by_hand = self._links_by_hand(edited if last else None, before.wiki.by_hand, totals)
        old = backlinks_of(entries, _shown(before.wiki.by_hand, was))
        links = backlinks_of(self._entries, _shown(by_hand, now))
        self._gather_linked(entries, old, links, totals)
        known, others = _digest(now), _own_titles(titles)
        self._noted = set(before.noted) & {*self._names, *map(topic_page, totals)}
        if before.known != known:
            # A link in what people wrote may lead to a page that is new or gone.
            edited |= others.keys() | self._noted
            self._gather((self._noted & self._names) - set(self._spool.names()))
        self._entries = dict(sorted(self._entries.items()))
        moved = {path for path in old.keys() | links.keys() if old.get(path) != links.get(path)}
        topics = self._topics(entries, totals, links, edited | moved, last is None)
        site = Site(
            self._pages(links, totals),
            topics,
            self._own(others.keys() & edited),
            tuple(self._entries.values()),
            totals,
            others,
            tuple(sorted(set(was.values()) - set(now.values()))),
            self._texts([INDEX])[INDEX],
        )

        def state(files: Mapping[str, int]) -> SiteState:
            wiki = WikiState(self._head, today(self), self._ground, self._entries, by_hand)
            return SiteState(wiki, known, tuple(sorted(self._noted)), titles, files)

        result = write_site(
            folder, lambda earlier: render(site, earlier), last, state, self._report, len(self._spool.names())
        )
        notices = (*self.index.notices, *unreadable_notices(self.index))
        return BuiltSite(result, len(now.keys() - {INDEX}), last is None, notices)

    def _paths(self, entries: Mapping[str, PageEntry], titles: Mapping[str, str | None]) -> dict[str, str]:
        """Return the path in the site of every page, by vault path."""
        return site_paths(entries.values(), map(topic_page, topic_totals(entries)), _own_titles(titles))

    def _usable(self, last: SiteState | None) -> SiteState | None:
        """Return the state of the last build, unless something changed on which every page depends, or the clock went
        back."""
        usable = last is not None and last.wiki.basis == self._ground and last.wiki.day <= today(self)
        return last if usable else None

    def _changed(self, last: SiteState | None, edited: Collection[str]) -> set[str]:
        """Return the entities whose pages may differ from the last build."""
        wiki = last.wiki if last else None
        changed = changed_names(self, wiki, self._names, self._titles, sorted(edited))
        days = {path[7:-6] for path in edited if path.startswith("ledger/")}
        if changed == self._names or not days:
            return changed
        # A page shows who said both sides of a conflict, also the side that is another page's.
        cited = [placed.fact for name in entities_citing(self.index, days) for placed in facts_of(self.index, name)]
        return (changed | entities_beside(self.index, [fact for fact in cited if fact.source_event])) & self._names

    def _gather(self, names: Iterable[str]) -> None:
        context = GateContext(self.vault.catalog, self.caller)
        for name in counting(sorted(names), "site: reading", "entities", self._report):
            page, self._entries[name] = gather_page(self.index, context, self._titles, name)
            self._spool.put(name, page)

    def _gather_beside_renamed(self, before: Mapping[str, PageEntry]) -> None:
        """Gather the pages in conflict with entities that have another title: a page shows the titles of both sides."""
        shown = set(self._spool.names())
        renamed = [key for key in shown & before.keys() if before[key].title != self._entries[key].title]
        facts = [placed.fact for name in renamed for placed in facts_of(self.index, name)]
        self._gather(entities_beside(self.index, facts) & self._names - shown)

    def _links_by_hand(
        self, edited: Collection[str] | None, before: Mapping[str, HandLinks], topics: Collection[str]
    ) -> dict[str, HandLinks]:
        """Return the links on pages of the wiki that people wrote, by page: those of the edited pages (None: of all),
        and earlier ones of the others."""
        paths = edited
        if paths is None:
            paths = self.vault.files_at(self._head, FOLDER) if self._head else ()
        pages = sorted(path for path in paths if path.startswith(f"{FOLDER}/") and path.endswith(".md"))
        written: dict[str, str | None] = dict.fromkeys(pages)
        for start in range(0, len(pages), _AT_ONCE):
            found = self._contents(pages[start : start + _AT_ONCE])
            written |= {path: outside_markers(text) for path, text in found.items()}
        return hand_links(written, before, self._entries, topics)

    def _gather_linked(
        self, before: Mapping[str, PageEntry], old: Links, new: Links, totals: Mapping[str, int]
    ) -> None:
        """Gather the pages whose backlinks or topics changed."""
        differ = [name for name, entry in self._entries.items() if old.get(entry.path) != new.get(entry.path)]
        self._gather(name for name in differ if name not in self._spool)
        moved = topic_totals(before).keys() ^ totals.keys()
        beside = [name for name, entry in self._entries.items() if moved & entry.topics.keys()]
        self._gather(name for name in beside if name not in self._spool)

    def _pages(self, links: Links, totals: Mapping[str, int]) -> Iterator[SitePage]:
        """Yield the gathered pages with their links, events and notes."""
        names = self._spool.names()
        for start in range(0, len(names), _AT_ONCE):
            part = names[start : start + _AT_ONCE]
            texts = self._texts([path for name in part for path in (entity_page(name), summary_path(name))])
            for name in part:
                page = with_links(self._spool.get(name), self._entries[name], links, totals)
                notes = tuple((path, texts[path]) for path in (page.path, summary_path(name)) if texts[path])
                self._noted.discard(name)
                self._noted.update((name,) if notes else ())
                yield SitePage(page, events_by_id(self.index, source_events(page)), notes)

    def _topics(
        self,
        before: Mapping[str, PageEntry],
        totals: Mapping[str, int],
        links: Links,
        changed: Collection[str],
        full: bool,
    ) -> tuple[SiteTopic, ...]:
        """Return the pages of the topics of which some entity has other claims than before or another title, and of
        those whose pages changed otherwise: what people wrote there, or the links to them."""
        names = before.keys() | self._entries.keys()
        differ = [name for name in names if full or before.get(name) != self._entries.get(name)]
        found = (entries[name] for name in differ for entries in (before, self._entries) if name in entries)
        touched = {topic for entry in found for topic in entry.topics if topic in totals}
        touched |= {topic for topic in totals if topic_page(topic) in changed} if changed else set()
        groups = topic_links(self._entries, touched)
        paths = {topic: topic_page(topic) for topic in sorted(groups)}
        pages = [TopicPage(path, topic, groups[topic], links.get(path, ())) for topic, path in paths.items()]
        notes: dict[str, str] = {}
        for start in range(0, len(pages), _AT_ONCE):
            notes |= self._texts([page.path for page in pages[start : start + _AT_ONCE]])
        self._noted -= notes.keys()
        self._noted |= {path for path, text in notes.items() if text}
        return tuple(SiteTopic(page, notes[page.path]) for page in pages)

    def _titles_of_files(
        self, kept: Mapping[str, str | None], edited: Collection[str], topics: Iterable[str]
    ) -> dict[str, str | None]:
        """Return the titles of the Markdown files that people wrote for everyone, by path; None for files that clawmem
        wrote. The text of a file at the path of an entity or a topic is shown on that page."""
        if not self._head:
            return {}
        taken = {INDEX, *map(entity_page, self._names), *map(topic_page, topics)}
        paths = [path for path in self.vault.files_at(self._head) if path not in taken and _may_be_own(path)]
        read = [path for path in paths if path not in kept or path in edited]
        titles = {path: kept[path] for path in paths if path in kept}
        for start in range(0, len(read), _AT_ONCE):
            for path, text in self._contents(read[start : start + _AT_ONCE]).items():
                titles[path] = _title(path, text) if generated_part(text) is None else None
        return dict(sorted(titles.items()))

    def _own(self, paths: Iterable[str]) -> Iterator[OwnPage]:
        for path, text in self._contents(sorted(paths)).items():
            yield OwnPage(path, _title(path, text), split_front_matter(text)[1])

    def _texts(self, paths: list[str]) -> dict[str, str]:
        """Return what people wrote on some pages, as HEAD has them."""
        found = self._contents(paths)
        return {path: own_text(found[path]) if path in found else "" for path in paths}

    def _contents(self, paths: list[str]) -> dict[str, str]:
        found = self.vault.contents_at(self._head, paths) if self._head else {}
        return {path: data.decode("utf-8-sig", errors="replace") for path, data in found.items() if data is not None}


def _may_be_own(path: str) -> bool:
    if not path.endswith(".md"):
        return False
    if path.startswith(f"{FOLDER}/"):
        return not path.startswith(f"{REPORTS}/")
    kind = file_kind(path)
    return kind is not None and kind.name in _OWN_KINDS


def _title(path: str, text: str) -> str:
    """Return the first heading of a page, else its file name."""
    _, body = split_front_matter(text)
    first = next((line[2:].strip() for line in body.splitlines() if line.startswith("# ")), "")
    return first or path.rpartition("/")[2].removesuffix(".md")


def _own_titles(titles: Mapping[str, str | None]) -> dict[str, str]:
    return {path: title for path, title in titles.items() if title is not None}


def _shown(links: Mapping[str, HandLinks], known: Mapping[str, str]) -> dict[str, HandLinks]:
    """Return the links on pages that the site has: it has no reports."""
    return {path: link for path, link in links.items() if path in known}


def _digest(paths: Mapping[str, str]) -> str:
    pairs = (f"{path}\n{place}" for path, place in sorted(paths.items()))
    return hashlib.sha256("\n".join(pairs).encode(errors="replace")).hexdigest()
