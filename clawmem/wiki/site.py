"""Collect what a site of the memory shows."""

from __future__ import annotations

from clawmem.index.refresh.refresh import run_query
from clawmem.index.search.lookup import entities, entity_names
from clawmem.index.search.sittings import events_by_id
from clawmem.index.search.unreadable import unreadable_notices
from clawmem.index.tables.store import Index
from clawmem.memory.permission import check_may_read
from clawmem.model.pages.summary import own_text
from clawmem.model.progress import OnProgress, counting
from clawmem.model.records.caller import Caller
from clawmem.model.wiki.names import INDEX, topic_page
from clawmem.model.wiki.page import TopicPage
from clawmem.model.wiki.site import Site, source_events
from clawmem.vault.vault import Vault
from clawmem.wiki.compile import backlinks_of, topic_links, topic_totals, with_links
from clawmem.wiki.gather import gate_context, gather_page, is_on_wiki, titles_of


def gather_site(vault: Vault, caller: Caller, report: OnProgress | None = None) -> Site:
    """Return the pages of all entities and topics, from the facts that pass the gates. `report` gets how far it is.
    Raise NotPermitted for a caller that may not read."""
    return run_query(vault, lambda index: _gather(vault, caller, index, report))


def _gather(vault: Vault, caller: Caller, index: Index, report: OnProgress | None) -> Site:
    context = gate_context(vault.settings, vault.catalog, caller)
    titles = titles_of(entities(index))
    names = {name for name in entity_names(index) if is_on_wiki(name)} | set(titles.entities)
    for name in names:
        check_may_read(caller, name)
    wanted = counting(sorted(names), "site: reading", "entities", report)
    gathered = {name: gather_page(index, context, titles, name) for name in wanted}
    entries = {name: entry for name, (_, entry) in gathered.items()}
    links, totals = backlinks_of(entries), topic_totals(entries, vault.settings.whole("wiki.topic_claims"))
    pages = tuple(with_links(page, entry, links, totals) for page, entry in gathered.values())
    groups = topic_links(entries, totals)
    topics = tuple(TopicPage(topic_page(one), one, groups[one]) for one in sorted(groups))
    events = events_by_id(index, source_events(pages))
    paths = [INDEX, *(page.path for page in pages), *(topic.path for topic in topics)]
    notices = (*index.notices, *unreadable_notices(index))
    return Site(pages, topics, tuple(entries.values()), events, _written(vault, paths), notices)


def _written(vault: Vault, paths: list[str]) -> dict[str, str]:
    """Return what people wrote on the pages of the wiki."""
    found = {path: own_text(vault.read_text(path) or "") for path in paths}
    return {path: text for path, text in found.items() if text}
