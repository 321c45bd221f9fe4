"""Build a site of the memory: gather its pages, and write to a folder what is new or differs, and no file of others.

Pages are gathered one after another and kept in a temporary file until all links are known, so the memory that a build
needs does not grow with the text of the pages.
"""

from __future__ import annotations

import json
import pickle
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import IO, NamedTuple, TypeVar

from clawmem.errors import InvalidInput, StorageFailed
from clawmem.extensions.wiki.compile import (
    backlinks_of,
    topic_links,
    topic_totals,
    with_links,
)
from clawmem.extensions.wiki.gather import gather_page, named_in, names_on_wiki, titles_of
from clawmem.extensions.wiki.values.page import (
    FOLDER,
    INDEX,
    REPORTS,
    Conversation,
    EntityPage,
    OwnPage,
    PageEntry,
    PageLink,
    SaidOf,
    Site,
    SitePage,
    SiteTopic,
    TopicPage,
    conversations,
    entity_page,
    own_path,
    source_events,
    topic_page,
)
from clawmem.index.refresh import run_query
from clawmem.index.search.events import events_by_id
from clawmem.index.search.lookup import unreadable_notices
from clawmem.index.tables.rights import for_everybody, left_out
from clawmem.index.tables.store import Index
from clawmem.memory.facts.gates import GateContext
from clawmem.memory.permission import check_may_read
from clawmem.model.kinds import DAILY_NOTE, file_kind
from clawmem.model.language.dates import stamp
from clawmem.model.pages.daily import note_lines
from clawmem.model.pages.summary import generated_part, own_text, split_front_matter
from clawmem.model.progress import OnProgress, Progress, counting
from clawmem.model.records.caller import Caller
from clawmem.model.records.entity import summary_path
from clawmem.model.records.event import MARK, PARTICIPANTS, display_speaker, is_speech, marked_by, parse_events
from clawmem.vault.vault import Vault

Render = Callable[[Site], Iterable[tuple[str, bytes]]]
Links = Mapping[str, tuple[PageLink, ...]]
Said = Mapping[str, tuple[SaidOf, ...]]
Result = TypeVar("Result")
_AT_ONCE = 200
LATELY = 5  # messages and notes on the page of an entity
_OWN_KINDS = (
    "undated note", "document in daily", "document in life", "document in tasks", "document in workflows",
)  # fmt: skip


def build_site(
    vault: Vault,
    caller: Caller,
    folder: Path,
    render: Render,
    report: OnProgress | None = None,
    messages: bool = False,
) -> SiteBuild:
    """Write the site of what passes the gates to a folder, which must have passed `check_site_folder`. With `messages`,
    it has the notes of each day and what was said. What not everybody may see is left out.

    `render` makes the files of a site. `report` gets how far it is. Raise NotPermitted for a caller that may not read,
    StorageFailed if a file cannot be written."""

    def act(index: Index) -> SiteBuild:
        with tempfile.TemporaryFile() as file:
            return _Builder(vault, index, caller, _Spool(file), report).build(folder, render, messages)

    return run_query(for_everybody(vault, stamp(caller.now)), act, one_state=False)


def with_site(vault: Vault, caller: Caller, use: Callable[[Site], Result]) -> Result:
    """Return what is made of a site that no folder gets. Raise NotPermitted for a caller that may not read."""

    def act(index: Index) -> Result:
        with tempfile.TemporaryFile() as file:
            return use(_Builder(vault, index, caller, _Spool(file), None).site())

    return run_query(vault, act, one_state=False)


class _Spool:
    """Pages by entity, in a file that only this process reads."""

    def __init__(self, file: IO[bytes]) -> None:
        self._file = file
        self._places: dict[str, int] = {}

    def put(self, name: str, page: EntityPage) -> None:
        self._places[name] = self._file.seek(0, 2)
        pickle.dump(page, self._file, pickle.HIGHEST_PROTOCOL)

    def get(self, name: str) -> EntityPage:
        self._file.seek(self._places[name])
        page: EntityPage = pickle.load(self._file)
        return page


class _Builder:
    """One build: what it reads, and what it has gathered so far."""

    def __init__(self, vault: Vault, index: Index, caller: Caller, spool: _Spool, report: OnProgress | None) -> None:
        self.vault = vault
        self.index = index
        self.caller = caller
        self._spool = spool
        self._report = report
        # The commit that the index shows: HEAD may have moved since the index was opened.
        self._head = index.head() or ""
        self._titles = titles_of(index)
        self._names = names_on_wiki(index, self._titles)
        self._entries: dict[str, PageEntry] = {}
        for name in self._names:
            check_may_read(caller, name)

    def build(self, folder: Path, render: Render, messages: bool) -> SiteBuild:
        """Gather the pages, render them, and write the files."""
        site = self.site(messages)
        result = write_site(folder, render(site), self._report, len(self._entries))
        notices = (*self.index.notices, *unreadable_notices(self.index), *left_out(self.index))
        pages = len(site.entries) + len(site.totals) + len(site.others)
        return result._replace(pages=pages, notices=notices)

    def site(self, messages: bool = False) -> Site:
        """Gather the pages."""
        self._gather()
        totals = topic_totals(self._entries)
        others = self._own_titles(totals, messages)
        links = backlinks_of(self._entries)
        talks = self._talks() if messages else None
        lately = {} if talks is None else self._said(talks.values(), others)
        return Site(
            self._pages(links, totals, lately),
            self._topics(totals),
            self._own(others),
            tuple(self._entries.values()),
            totals,
            others,
            self._texts([INDEX])[INDEX],
            talks,
        )

    def _gather(self) -> None:
        context = GateContext(self.vault.catalog, self.caller)
        for name in counting(sorted(self._names), "site: reading", "entities", self._report):
            page, self._entries[name] = gather_page(self.index, context, self._titles, name)
            self._spool.put(name, page)

    def _pages(self, links: Links, totals: Mapping[str, int], said: Said) -> Iterator[SitePage]:
        """Yield the gathered pages with their links, events and notes."""
        names = sorted(self._entries)
        for start in range(0, len(names), _AT_ONCE):
            part = names[start : start + _AT_ONCE]
            texts = self._texts([path for name in part for path in (entity_page(name), summary_path(name))])
            for name in part:
                page = with_links(self._spool.get(name), self._entries[name], links, totals)
                notes = tuple((path, texts[path]) for path in (page.path, summary_path(name)) if texts[path])
                yield SitePage(page, events_by_id(self.index, source_events(page)), notes, said.get(name, ()))

    def _topics(self, totals: Mapping[str, int]) -> tuple[SiteTopic, ...]:
        groups = topic_links(self._entries, totals)
        paths = {topic: topic_page(topic) for topic in sorted(groups)}
        pages = [TopicPage(path, topic, groups[topic]) for topic, path in paths.items()]
        notes = self._texts(list(paths.values()))
        return tuple(SiteTopic(page, notes[page.path]) for page in pages)

    def _talks(self) -> dict[str, Conversation]:
        """Return what was said to all, by the path of its page. A message that somebody marked, or whose source names
        who was there, may be for some people only."""
        ledger = self.vault.files_at(self._head, "ledger") if self._head else ()
        days = self._contents([path for path in ledger if path.endswith(".jsonl")])
        events = [event for path, text in days for event in parse_events(text.encode(), path)]
        marked = {target for event in events if (target := marked_by(event))}
        for_some = {MARK, *PARTICIPANTS}
        shown = [
            event
            for event in events
            if not event.recalled
            and is_speech(event)
            and not (event.source or "").startswith("daily/")  # whose page has them
            and event.id not in marked
            and for_some.isdisjoint(event.metadata or {})
        ]
        known = events_by_id(self.index, {event.id for event in shown}) if self.index.is_restricted else None
        talks = conversations(event for event in shown if known is None or event.id in known)
        return {talk.path: talk for talk in talks}

    def _said(self, talks: Iterable[Conversation], pages: Iterable[str]) -> Said:
        """Return what messages, and the notes of days, say of the entities that they name, the newest first."""
        rows = [
            SaidOf(event.timestamp, display_speaker(event), event.text, f"{talk.path}#{event.id}")
            for talk in talks
            for event in talk.events
        ]
        for path, text in self._contents([path for path in pages if path.startswith("daily/")]):
            day = path.rpartition("/")[2].removesuffix(".md")
            rows += [SaidOf(f"{day}T{line.time or ''}", "note", line.text, own_path(path)) for line in note_lines(text)]
        found: dict[str, tuple[SaidOf, ...]] = {}
        for row in sorted(rows):
            for name in {*named_in(row.text, self._titles)}:
                found[name] = (row, *found.get(name, ())[: LATELY - 1])
        return found

    def _own_titles(self, topics: Iterable[str], messages: bool) -> dict[str, str]:
        """Return the titles of the Markdown files that people wrote for everyone, by path. The text of a file at the
        path of an entity or a topic is shown on that page."""
        if not self._head or self.index.is_restricted:
            return {}
        taken = {INDEX, *map(entity_page, self._names), *map(topic_page, topics)}
        paths = [path for path in self.vault.files_at(self._head) if path not in taken and _may_be_own(path, messages)]
        return {
            path: _title(path, text)
            for path, text in self._contents(sorted(paths))
            if generated_part(text) is None or (path.startswith("daily/") and note_lines(text))
        }

    def _own(self, paths: Iterable[str]) -> Iterator[OwnPage]:
        for path, text in self._contents(sorted(paths)):
            notes = [f"- {' '.join(filter(None, line))}" for line in note_lines(text)]
            body = "\n".join(notes) if path.startswith("daily/") else split_front_matter(text)[1]
            yield OwnPage(path, _title(path, text), body)

    def _texts(self, paths: list[str]) -> dict[str, str]:
        """Return what people wrote on some pages, as HEAD has them; nothing for those who may not see everything."""
        found = () if self.index.is_restricted else self._contents(paths)
        return {**dict.fromkeys(paths, ""), **{path: own_text(text) for path, text in found}}

    def _contents(self, paths: list[str]) -> Iterator[tuple[str, str]]:
        """Yield the files that HEAD has, with their texts, some of them in memory at once."""
        for start in range(0, len(paths) if self._head else 0, _AT_ONCE):
            for path, data in self.vault.contents_at(self._head, paths[start : start + _AT_ONCE]).items():
                if data is not None:
                    yield path, data.decode("utf-8-sig", errors="replace")


def _title(path: str, text: str) -> str:
    """Return the first heading of a page, else its file name."""
    _, body = split_front_matter(text)
    first = next((line[2:].strip() for line in body.splitlines() if line.startswith("# ")), "")
    return first or path.rpartition("/")[2].removesuffix(".md")


def _may_be_own(path: str, messages: bool) -> bool:
    if not path.endswith(".md"):
        return False
    if path.startswith(f"{FOLDER}/"):
        return not path.startswith(f"{REPORTS}/")
    kind = file_kind(path)
    return kind is not None and (kind.name in _OWN_KINDS or (messages and kind == DAILY_NOTE))


RECORD = "clawmem-site.json"
"""The file in a site's folder that lists the site's files. Only a folder with it, or an empty one, is written to."""


class SiteBuild(NamedTuple):
    """The number of files of a site and their size in bytes, how many files were written and removed, the number of
    pages of entities, topics and people, and what the index says about itself."""

    files: int
    size: int
    written: int
    removed: int
    pages: int = 0
    notices: tuple[str, ...] = ()


def check_site_folder(vault: Vault, folder: Path) -> None:
    """Raise InvalidInput for a folder in the vault, a file, or a folder that contains anything but a site."""
    if folder.is_relative_to(vault.root.resolve()):
        raise InvalidInput(f"{folder} is inside the vault.", "Name a folder outside it, such as ~/memory-site.")
    try:
        foreign = folder.exists() and not (folder / RECORD).is_file() and (not folder.is_dir() or any(folder.iterdir()))
    except OSError as error:
        raise StorageFailed(f"{folder} cannot be read: {error.strerror}.", "Name another folder.") from None
    if foreign:
        raise InvalidInput(f"{folder} exists and is not a site of clawmem.", "Name a new or an empty folder.")


_Files = Iterable[tuple[str, bytes]]


def write_site(folder: Path, files: _Files, report: OnProgress | None = None, expected: int = 0) -> SiteBuild:
    """Write the files that differ from those in the folder, and remove what an earlier site left there. The folder must
    have passed `check_site_folder`.

    `report` gets the number of files made, of about `expected`. Raise StorageFailed if a file cannot be written."""
    try:
        return _write(folder, files, report, expected)
    except OSError as error:
        place = error.filename or folder
        raise StorageFailed(f"{place} cannot be written: {error.strerror}.", "The site is incomplete.") from None


def _write(folder: Path, files: _Files, report: OnProgress | None, expected: int) -> SiteBuild:
    folder.mkdir(parents=True, exist_ok=True)
    before = _files(folder)
    now: dict[str, int] = {}
    # Until the build is done, the folder is known as a site.
    _record(folder, before)
    written = 0
    for number, (path, content) in enumerate(files):
        if report is not None:
            report(Progress("site: writing", number, max(expected, number), "files"))
        now[path] = len(content)
        written += _written(folder / path, content)
    stale = [path for path in sorted(before - now.keys()) if (folder / path).resolve().is_relative_to(folder)]
    for path in stale:
        (folder / path).unlink(missing_ok=True)
    _record(folder, now)
    return SiteBuild(len(now), sum(now.values()), written, len(stale))


def _written(path: Path, content: bytes) -> bool:
    """Write a file unless it has this content; return whether it was written."""
    if path.is_file() and path.read_bytes() == content:
        return False
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)
    return True


def _files(folder: Path) -> set[str]:
    """Return the files of the last build."""
    try:
        files = json.loads((folder / RECORD).read_text("utf-8"))["files"]
    except (FileNotFoundError, ValueError, TypeError, KeyError):
        return set()
    return {path for path in files if isinstance(path, str)} if isinstance(files, list) else set()


def _record(folder: Path, files: Iterable[str]) -> None:
    (folder / RECORD).write_text(json.dumps({"files": sorted(files)}) + "\n", "utf-8")
