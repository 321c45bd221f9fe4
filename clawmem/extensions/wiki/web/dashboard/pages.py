"""The pages: what the templates show, from the acts of the verbs.

Marks the words of a question in a text.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any, NamedTuple
from urllib.parse import urlencode

from markupsafe import Markup, escape

from clawmem.errors import InvalidInput, NotFound
from clawmem.extensions.wiki.gather import gather_page, named_in, titles_of
from clawmem.extensions.wiki.site import LATELY, with_site
from clawmem.extensions.wiki.values.page import (
    PageLink,
    SaidOf,
    SitePage,
    conversations,
    entity_page,
    facts_on,
    site_path,
    source_events,
)
from clawmem.extensions.wiki.web.dashboard.actions import metrics_data
from clawmem.extensions.wiki.web.dashboard.app import View
from clawmem.extensions.wiki.web.notes import NoteRenderer, days
from clawmem.extensions.wiki.web.render_site import NEWS, EntityView, card_words, fact_values, lead_of, said_values
from clawmem.extensions.wiki.web.site_data import ASKS, CHANGED, ENDED, NEW, WITHDRAWN, NewsRow, graph_files, reason_of
from clawmem.faces.parts.command import Answer, Call, Command
from clawmem.faces.parts.filters import filter_of
from clawmem.faces.parts.words import entry_data
from clawmem.faces.verbs.history import OLDER
from clawmem.faces.verbs.table import load
from clawmem.index.refresh import run_query
from clawmem.index.search.events import events_by_id
from clawmem.index.search.graph import entities_naming
from clawmem.index.search.lookup import (
    by_ids,
    entity_names,
    event_day,
    fact_counts,
    facts_containing,
    known_entities,
)
from clawmem.index.tables.rights import is_restricted
from clawmem.index.tables.store import Index
from clawmem.memory.entities.places import check_not_forgotten, find_readable_entity
from clawmem.memory.facts.gates import GateContext
from clawmem.memory.health.status import status
from clawmem.memory.history.compare import fact_changes
from clawmem.memory.history.why import why
from clawmem.memory.leases import claims_in_force
from clawmem.memory.proposals import read_proposals
from clawmem.memory.sync.merge_plan import state_at
from clawmem.model.facts.fact import ACTIVE, RETRACTED, Fact, is_revoked
from clawmem.model.facts.fact_words import reasons_of
from clawmem.model.facts.reach import EVERY_SCOPE
from clawmem.model.facts.validity import is_over
from clawmem.model.history.comparison import CORRECTED, told_changes
from clawmem.model.history.entry import HOUSEKEEPING, OF_PAGES, REDACT
from clawmem.model.kinds import PAGE, file_kind
from clawmem.model.language.dates import stamp
from clawmem.model.language.question import search_words
from clawmem.model.language.text import counted, forms_of, visible
from clawmem.model.lifecycle.premises import PREMISES
from clawmem.model.pages.summary import own_text, split_front_matter
from clawmem.model.pages.tokens import said_on
from clawmem.model.proposals.proposal import SUPERSEDE as REPLACE
from clawmem.model.proposals.proposal import Proposal, action_words
from clawmem.model.proposals.quarantine import quarantine_rule
from clawmem.model.records.entity import kind_of, summary_path, title_of
from clawmem.model.records.event import Event, display_speaker, is_silent, ledger_path, parse_events
from clawmem.model.records.session import OPEN, SessionRecord
from clawmem.model.records.task import CLOSED, STATES, Task
from clawmem.model.search.passage import excerpt
from clawmem.review.review import ProposalDetails, show_open
from clawmem.runtime import Runtime
from clawmem.serving.browse import list_facts, show_fact
from clawmem.serving.recall.recall import said_of
from clawmem.serving.recall.result import EVENTS, FACTS, NOTES, RECALL_KINDS, SUMMARIES, EventHit, FactHit, NoteHit
from clawmem.vault.edits.adoption import user_identity
from clawmem.work.sessions.records import list_sessions
from clawmem.work.tasks import list_tasks

MENU = (
    ("", "Home", "house"),
    ("approvals", "Waiting", "inbox"),
    ("search", "Search", "search"),
    ("graph", "Graph", "waypoints"),
    ("timeline", "Changes", "history"),
    ("tasks", "Tasks", "list-checks"),
    ("sessions", "Sessions", "bot"),
)
ON_PAGE = 25
# What the home page has: the days that are searched for enough news, proposals, projects; and the messages before and
# after one.
_SPANS, _WAITING, _PROJECTS, _AROUND = (7, 31, 366), 3, 6, 30
CONFLICT, PROMOTION = "conflict", "promotion"
# The most facts of a change that are named.
_NAMED = 8
# The most characters of a hit, and of an event.
_LONGEST, _SHOWN, _MOST_HITS = 600, 2000, 200
_SESSIONS, _CLOSED_TASKS, _FACTS, _LAST_NOTES = 50, 20, 200, 5


class Page(NamedTuple):
    """A page: its template, its title, and the values that the template shows."""

    template: str
    title: str
    values: Mapping[str, Any]


def home(view: View) -> Page:
    """Show what is new, changed and ended, what waits, the projects and the people, and the numbers."""
    data, notices = metrics_data(view.runtime, view.known)
    tallest = max((week[key] for week in data["weeks"] for key in ("learned", "corrected", "forgotten")), default=0)
    vault = view.runtime.vault()
    waiting = show_open(vault, 0, ON_PAGE)
    # First what only a person knows, last what clawmem could settle by itself.
    asked = sorted(waiting.details, key=lambda each: (each.proposal.kind != CONFLICT, each.proposal.kind == PROMOTION))
    named, numbers = run_query(vault, lambda index: (known_entities(index), fact_counts(index)))
    counts = {other.name: numbers.get(other.name, {}).get(ACTIVE, 0) for other in named}
    known = sorted(named, key=lambda other: (-counts[other.name], other.title.casefold()))
    kinds = {each.name: each.kind or kind_of(each.name) for each in known}
    projects = [each for each in known if kinds[each.name] == "project"][:_PROJECTS]
    starts = [f"{each.title} is " for each in projects]
    found = run_query(vault, lambda index: facts_containing(index, *starts)) if starts else []
    about = [each for each in found if each.fact.status == ACTIVE and not quarantine_rule(each.fact)]
    leads = [lead_of(each.title, True, [fact for fact, name in about if name == each.name]) for each in projects]
    cards = [(entity_address(each.name), each.title, card_words(counts[each.name], None)) for each in projects]
    return _page(
        "overview",
        vault.settings.words("vault.name"),
        (*notices, *waiting.notices),
        m=data,
        tallest=tallest or 1,
        news=_news(view.runtime),
        proposals=[_proposal(detail) for detail in asked[:_WAITING]],
        total=waiting.total,
        reading=status(vault, data["at"][:10]).learning.reading,
        projects=[(*card, lead.fact if lead else "") for card, lead in zip(cards, leads, strict=True)],
        people=[(entity_address(each.name), each.title) for each in known if kinds[each.name] == "person"],
    )


def _news(runtime: Runtime) -> list[NewsRow]:
    """Return what was said last and holds, and what ended or was withdrawn, the newest first."""
    vault, caller = runtime.vault(), runtime.caller()
    starts = [stamp(caller.now - timedelta(days=days)) for days in _SPANS]
    changes = fact_changes(vault, state_at(vault, starts[0]), "HEAD")
    before = {change.fact.id: change.before.fact for change in changes if change.kind == CORRECTED and change.before}
    found = {each.fact.id: (each.fact, each.entity) for each in told_changes(changes) if each.fact.status == RETRACTED}
    for since in (*(start[:10] for start in starts), None):
        wanted = filter_of(vault, caller, superseded=True, since=since)
        listed = list_facts(vault, caller, wanted, _FACTS, newest=True)
        if listed.total >= NEWS:
            break
    found |= {each.fact.id: (each.fact, each.entity) for each, _ in listed.facts}
    rows = {
        fact.id: _news_row(fact, entity_name, caller.now, fact.id in listed.conflicts)
        for fact, entity_name in found.values()
        if fact.status in (ACTIVE, RETRACTED) and not (is_revoked(fact) or quarantine_rule(fact))
    }
    shown = sorted(rows, key=lambda fact_id: (rows[fact_id].at, fact_id), reverse=True)[:NEWS]
    links = {link.to: fact_id for fact_id in shown for link in found[fact_id][0].links if link.type == "supersedes"}
    old = run_query(vault, lambda index: by_ids(index, links))
    before |= {links[fact_id]: each.fact.fact for fact_id, each in old.items()}
    for fact_id in before.keys() & rows.keys():
        if rows[fact_id].kind == NEW:
            rows[fact_id] = rows[fact_id]._replace(kind=CHANGED, was=before[fact_id])
    return [rows[fact_id] for fact_id in shown]


def _news_row(fact: Fact, entity_name: str, now: datetime, is_disputed: bool) -> NewsRow:
    """Return a fact as news of the day on which it was said, or on which it ended."""
    at, kind, end = said_on(fact) or fact.timestamp, ASKS if is_disputed else NEW, fact.valid_to
    if fact.status == RETRACTED:
        at, kind = str(((fact.metadata or {}).get("retracted") or {}).get("at") or at), WITHDRAWN
    elif end and is_over(fact, stamp(now)):
        at, kind = end, ENDED
    place = (entity_address(entity_name), title_of(entity_name))
    return NewsRow(at, kind, fact.fact, f"fact/{fact.id}", "", reason_of(fact), place)


def tasks(view: View) -> Page:
    """Show the tasks by state."""
    listed = list_tasks(view.runtime.vault())
    groups = []
    for state in STATES:
        found = [task for task in listed.tasks if task.state == state]
        shown = found
        if state in CLOSED:
            shown = sorted(found, key=lambda task: task.decided or "", reverse=True)[:_CLOSED_TASKS]
        groups.append((state, [_task(task) for task in shown], len(found)))
    return _page("tasks", "Tasks", listed.notices, groups=groups)


def _task(task: Task) -> dict[str, Any]:
    checked = sum(item.checked for item in task.acceptance)
    return {**task._asdict(), "checked": checked, "criteria": len(task.acceptance)}


def sessions(view: View) -> Page:
    """Show the sessions, open ones first; a script keeps the page up to date."""
    rows, notices = session_rows(view.runtime)
    return _page("sessions", "Sessions", notices, sessions=rows)


def session_rows(runtime: Runtime) -> tuple[list[dict[str, Any]], tuple[str, ...]]:
    """Return what the page shows of each session: open ones first, then the newest."""
    vault, caller = runtime.vault(), runtime.caller()
    listed = list_sessions(vault, caller.now)
    record: dict[str, list[str]] = {}
    for live_claim in claims_in_force(vault, caller).claims:
        record.setdefault(live_claim.session, []).append(live_claim.claim.words)
    ordered = sorted(listed.sessions, key=lambda session: session.state != OPEN)
    return [_session(each, record.get(each.id, ())) for each in ordered[:_SESSIONS]], listed.notices


def _session(record: SessionRecord, claims: Sequence[str]) -> dict[str, Any]:
    about = [word for word in (record.workflow, (record.task or "").replace("-", " "), record.stage) if word]
    served = [counted(len(record.served), "fact") + " shown"] if record.served else []
    details = [days(_minute(record.last_seen or record.started)) + " UTC", record.id, *served]
    return {
        "id": record.id,
        "agent": record.agent,
        "state": record.state,
        "about": ", ".join(about),
        "lines": [record.summary] if record.summary else [note.text for note in record.notes[-_LAST_NOTES:]],
        "details": ", ".join([*details, *(f"has {words}" for words in claims)]),
    }


def approvals(view: View) -> Page:
    """Show the open proposals with their evidence, what they would change, and forms to decide them."""
    first = _number(view.query.get("from", "0"))
    vault = view.runtime.vault()
    found = show_open(vault, first, ON_PAGE)
    return _page(
        "approvals",
        "Waiting",
        found.notices,
        proposals=[_proposal(detail) for detail in found.details],
        total=found.total,
        first=first,
        after=first + ON_PAGE if first + ON_PAGE < found.total else None,
        before=max(0, first - ON_PAGE) if first else None,
        who=user_identity(vault).name,
    )


def _number(text: str) -> int:
    if not (text.isascii() and text.isdigit() and len(text) < 10):
        raise InvalidInput(f"'{text[:20]}' is not a number.", "Use the links of the page.")
    return int(text)


def _proposal(shown: ProposalDetails) -> dict[str, Any]:
    proposal = shown.proposal
    return {
        "id": proposal.id,
        "kind": proposal.kind,
        "says": proposal.says,
        "why": proposal.why,
        "is_order": proposal.fact and quarantine_rule(proposal.fact),
        "created": _minute(proposal.created),
        "agent": proposal.agent,
        "version": shown.version,
        "reviewers": list(shown.reviewers),
        "now": [_fact(place.fact, place.entity) for place in shown.targets],
        "then": _changes(proposal),
        "evidence": _evidence(proposal),
        "beside": bool(proposal.targets) and proposal.fact is not None and proposal.does == REPLACE,
        "keep": proposal.kind == CONFLICT and proposal.does == REPLACE and len(shown.targets) > 1,
    }


def _changes(fact: Proposal) -> list[str]:
    """Return what an approval does, as sentences."""
    if fact.worth:
        return [f"promotes it for {fact.worth.on}, score {fact.worth.score:.2f}: {'; '.join(fact.worth.reasons)}"]
    if fact.fact:
        return [action_words(fact)]
    if fact.line:
        return [f"writes in {fact.line.page}: {fact.line.text}"]
    about = fact.details or {}
    lines = [f"{key}: {about[key]}" for key in ("task", "evaluation", "work") if about.get(key)]
    return [action_words(fact), *lines]


def _evidence(proposal: Proposal) -> list[tuple[str, str]]:
    """Return the quotes that a proposal rests on, each with where it is from."""
    fact = proposal.fact
    if fact is None:
        return []
    found = [(str(each), "") for each in (fact.details or {}).get("evidence") or ()]
    if fact.source_text:
        found.append((fact.source_text, fact.source_event or ""))
    return [*found, (f"stated by {fact.source}, trust {fact.trust or 'user'}", "")]


def timeline(view: View) -> Page:
    """Show the changes, newest first, each with a form that undoes it."""
    first, author = _number(view.query.get("from", "0")), view.query.get("author", "").strip()
    # A second can have more commits than a page, so the pages are counted, and not bounded by a time.
    answer = _answer(view.runtime, "log", limit=first + ON_PAGE, author=author or None)
    data = answer.made()
    entries = [_entry(other) for other in reversed(data["history"])][first:]
    older = urlencode({"from": first + ON_PAGE, "author": author}) if data["cut"] else None
    notices = [notice for notice in answer.notices if not notice.startswith(OLDER)]
    return _page("timeline", "Changes", notices, entries=entries, older=older, author=author, newer=first > 0)


_SUBJECT = re.compile(
    r"(?P<did>[\w ]+)\((?P<place>[^()]*)\): (?P<text>.*?)"
    r"(?: \(was: (?P<was>.*?)\))?(?: \(because: (?P<because>.*?)\))?"
)
_UPKEEP = {"config", *OF_PAGES, *HOUSEKEEPING}
_NO_PARTS = dict.fromkeys(_SUBJECT.groupindex, "")


def _entry(record: Mapping[str, Any]) -> dict[str, Any]:
    facts, found = record.get("facts", ()), _SUBJECT.fullmatch(record["subject"])
    parts = found.groupdict("") if found else {**_NO_PARTS, "text": record["subject"]}
    entity_name, op = next(iter(record.get("entities", ())), ""), record.get("op")
    text = parts["place"] if parts["text"] == "by hand" else parts["text"]
    if op == "config" and " -> " in text:
        before, _, text = text.partition(" -> ")
        text, parts["was"] = f"{parts['place']}: {text}", before
    return {
        **parts,
        "text": text,
        "entity": entity_name,
        "place": title_of(entity_name) if entity_name else "",
        "commit": record["commit"],
        "time": _minute(record["time"]),
        "author": record["author"],
        "agent": record.get("agent"),
        "subject": record["subject"],
        "facts": facts[:_NAMED],
        "more": max(0, len(facts) - _NAMED),
        "is_upkeep": (record["author"] == "clawmem" and not facts) or op in _UPKEEP,
        "can_undo": len(record.get("parents", ())) == 1 and op not in (REDACT, *OF_PAGES),
    }


def search(view: View) -> Page:
    """Show what `recall` finds, with the words of the question marked, and the entities that are called so."""
    asked = view.query.get("q", "").strip()
    if not asked:
        return _page("search", "Search", (), asked="", hits=[], named=[])
    more = {"limit": _MOST_HITS, "every": True} if "all" in view.query else {}
    answer = _answer(view.runtime, "recall", question=asked, scope=EVERY_SCOPE, **more)
    data = answer.made()
    words = tuple(form.removesuffix("s") for word in search_words(asked) for form in forms_of(word))
    ranked = sorted(((kind, other) for kind in RECALL_KINDS for other in data[kind]), key=lambda pair: pair[1]["rank"])
    hits = [_hit(kind, other, words) for kind, other in ranked]
    named = [
        (entity_address(each.name), each.title)
        for each in run_query(view.runtime.vault(), known_entities)
        if any(asked.casefold() in name.casefold() for name in (each.title, *each.aliases))
    ]
    return _page("search", "Search", answer.notices, asked=asked, hits=hits, recall=data, named=named[:24])


_LINKS = {FACTS: "fact/{0}", EVENTS: "talk/{0}#{0}"}
_SINGULAR = {FACTS: "fact", EVENTS: "message", NOTES: "note", SUMMARIES: "summary"}


def _hit(kind: str, record: Mapping[str, Any], words: Sequence[str]) -> dict[str, Any]:
    of_path = str(record.get("path", "")).removesuffix(".md").rpartition("/")[2]
    place = title_of(record["entity"]) if record.get("entity") else of_path or str(record.get("who") or "")
    about = map(record.get, ("date", "status", "in_doubt"))
    remarks = [days(str(each)) for each in about if each and each not in (ACTIVE, place)]
    if record.get("trust") not in (None, "user"):
        remarks.append(f"trust {record['trust']}")
    remarks += ["quarantined"] if record.get("quarantined") else []
    remarks += ["in conflict, not settled"] if record.get("conflicts_with") else []
    return {
        "kind": _SINGULAR[kind],
        "link": _LINKS[kind].format(record.get("id"))
        if kind in _LINKS
        else f"note?{urlencode({'path': record['path']})}",
        "text": marked(excerpt(record["fact" if kind == FACTS else "text"], words, _LONGEST), words),
        "place": place,
        "talk": record.get("source_event") if kind == FACTS else None,
        "remarks": remarks,
    }


def talk(view: View) -> Page:
    """Show what was said around an event, in its session and on its day."""
    vault, wanted = view.runtime.vault(), view.query["id"]

    def read(index: Index) -> Iterable[Event]:
        day = event_day(index, wanted)
        path = ledger_path(day or "")
        events = parse_events(vault.read(path) or b"", path) if day else ()
        # Of some messages a viewer may see parts, and of others nothing.
        return events_by_id(index, [event.id for event in events]).values() if index.is_restricted else events

    events = run_query(vault, read)
    shown = (event for event in events if not event.recalled and (event.id == wanted or not is_silent(event)))
    found = next((each for each in conversations(shown) if wanted in {event.id for event in each.events}), None)
    if found is None:
        raise NotFound(f"There is no message '{wanted}'.", "The search leads to what was said.")
    at = [event.id for event in found.events].index(wanted)
    messages = [said_values(event) for event in found.events[max(0, at - _AROUND) : at + _AROUND]]
    return Page("talk.html", found.title, {"said": messages, "about": days(found.about), "asked": wanted})


def note(view: View) -> Page:
    """Show a page of the vault that recall finds lines of."""
    path = view.query.get("path", "")
    kind = file_kind(path) if path.endswith(".md") else None
    data = view.runtime.vault().read(path) if kind is not None and kind.indexed_as == PAGE else None
    if data is None:
        raise NotFound(f"There is no page '{path}'.", "The search leads to what was written.")
    body = _COMMENT.sub("", split_front_matter(data.decode("utf-8-sig", errors="replace"))[1])
    first, _, rest = body.lstrip().partition("\n")
    title, body = (first[2:].strip(), rest) if first.startswith("# ") else (path, body)
    values = {"written": NoteRenderer({}).html(body, path, path, 1), "source": path}
    return Page("own.html", days(title), values)


def fact_page(view: View) -> Page:
    """Show the origin and the history of a fact."""
    vault, caller = view.runtime.vault(), view.runtime.caller()
    found = why(vault, view.query["id"], caller)
    fact, event = found.fact, found.event
    values = {
        "fact": _fact(fact, found.entity),
        "reasons": list(reasons_of(fact)),
        "quote": fact.source_text,
        "premises": [(link.to, link.type, link.reason) for link in fact.links if link.type in PREMISES],
        "event": None if event is None else said_values(event._replace(text=event.text[:_SHOWN])),
        "chain": [_fact(link.fact, link.entity) for link in found.chain] if len(found.chain) > 1 else [],
        "history": [_entry(entry_data(entry)) for entry in reversed(found.history)],
        "removed": found.removed is not None,
        "against": () if found.removed else show_fact(vault, fact.id, caller, None).against,
    }
    return _page("fact", fact.fact, found.notices, **values)


def entity(view: View) -> Page:
    """Show all that is known of an entity, as a site does, and with it what a site has not: what passes no gate, the
    tasks that name it, and what was said of it last."""
    if not view.query.get("name"):
        raise InvalidInput("No entity is named.", "Use the links of the pages.")
    vault, caller = view.runtime.vault(), view.runtime.caller()
    name = find_readable_entity(vault, view.query["name"], caller)
    run_query(vault, lambda index: check_not_forgotten(index, name))

    def gathered(index: Index) -> SitePage:
        titles = titles_of(index)
        page, _ = gather_page(index, GateContext(vault.catalog, caller), titles, name)
        words = {name, page.entity.title, *page.entity.aliases}
        naming = entities_naming(index, words)
        active = (each for each in facts_containing(index, *words) if each.fact.status == ACTIVE)
        naming |= {each.entity for each in active if name in named_in(each.fact.fact, titles)}
        others = sorted((naming & titles.entities.keys()) - {name})
        links = tuple(PageLink(entity_page(other), titles.entities[other].title, 1) for other in others)
        return SitePage(page._replace(backlinks=links), events_by_id(index, source_events(page)))

    value = run_query(vault, gathered)
    title = value.page.entity.title
    restricted = is_restricted(vault)
    written = [
        NoteRenderer({}).html(text, path, path)
        for path in (() if restricted else (value.page.path, summary_path(name)))
        if (text := own_text((vault.read(path) or b"").decode("utf-8-sig", errors="replace")))
    ]
    hits = said_of(vault, title, caller, filter_of(vault, caller), 2 * LATELY, (EVENTS, NOTES))[1]
    rows = (_said(hit.hit) for hit in hits if not isinstance(hit.hit, FactHit))
    value = value._replace(said=tuple(sorted((row for row in rows if row.at), reverse=True)[:LATELY]))
    known = EntityView(value, view.root, {}, lambda event: f"talk/{event.id}#{event.id}")
    listed = list_facts(vault, caller, filter_of(vault, caller, name, superseded=True), _FACTS)
    shown = {fact.id for fact in facts_on(value.page)}
    rest = [
        {**_fact(placed.fact, placed.entity), "against": listed.conflicts.get(placed.fact.id, ())}
        for placed, _ in listed.facts
        if placed.fact.id not in shown
    ]
    listed_tasks = () if restricted else list_tasks(vault).tasks
    tasks = [task for task in listed_tasks if task.state not in CLOSED and title in task.title]
    proposals = () if restricted else read_proposals(vault).open
    found = [each for each in proposals if each.entity == name][:_FACTS]
    decide = {target.id: each.id for each in found if each.kind == CONFLICT for target in each.targets}
    waiting = [(each, each.fact and quarantine_rule(each.fact)) for each in found if each.id not in decide.values()]
    more = {"rest": rest, "tasks": tasks, "waiting": waiting, "decide": decide}
    return _page("entity", title, listed.notices, **known.values(written), **more)


def _said(hit: EventHit | NoteHit) -> SaidOf:
    if isinstance(hit, NoteHit):
        return SaidOf(hit.day or "", "note", hit.text, f"note?{urlencode({'path': hit.path})}")
    place = _LINKS[EVENTS].format(hit.event.id)
    return SaidOf(hit.event.timestamp, display_speaker(hit.event), hit.event.text, place)


def graph(view: View) -> Page:
    """Show the graph of the site; its data come with a script."""
    del view
    return Page("dashboard/graph.html", "Graph", {"notices": ()})


def graph_data(view: View) -> Mapping[str, bytes]:
    """Return the data of the graph as a site has them, kept for as long as HEAD and the day stay the same."""
    caller, vault = view.runtime.caller(), view.runtime.vault()
    key = f"{vault.head().commit} {caller.now.date()}"
    if key not in view.graph or is_restricted(vault):  # what was granted ends within a day, too
        made = with_site(vault, caller, lambda site: dict(graph_files(site)))
        view.graph.clear()
        view.graph[key] = made
    return view.graph[key]


def entity_at(view: View, path: str) -> str | None:
    """Return the entity that has a page at a path of a site, or None."""
    names = run_query(view.runtime.vault(), entity_names)
    return next((name for name in names if site_path(entity_page(name)) == path), None)


def entity_address(name: str) -> str:
    """Return the address of an entity's page, relative to the dashboard's."""
    return f"entity?{urlencode({'name': name})}"


def _fact(fact: Fact, entity_name: str) -> dict[str, Any]:
    return {**fact_values(fact), "entity": entity_name, "place": title_of(entity_name), "status": fact.status}


def _answer(runtime: Runtime, verb: str, **record: Any) -> Answer:
    """Return the answer of a verb to these values of its parameters."""
    command = load(verb)
    assert isinstance(command, Command)
    values = {parameter.name: record.get(parameter.name, parameter.default) for parameter in command.parameters}
    answer: Answer = command.function(Call(runtime), **values)
    return answer.finished(runtime)


def _page(name: str, title: str, notices: Iterable[str], **values: Any) -> Page:
    return Page(f"dashboard/{name}.html", title, {"notices": tuple(notices), **values})


def _minute(time: str | None) -> str:
    return f"{time[:10]} {time[11:16]}" if time else ""


PAGES: Mapping[str, Callable[[View], Page]] = {
    "/": home,
    "/tasks": tasks,
    "/sessions": sessions,
    "/approvals": approvals,
    "/timeline": timeline,
    "/search": search,
    "/entity": entity,
    "/note": note,
    "/graph": graph,
}
FOR_VIEWERS = frozenset((search, entity, graph, timeline, talk, fact_page))
"""The pages that have only what a viewer may see: all of them from the index, for each viewer. A viewer gets the search
in the place of others."""


_WORD, _COMMENT = re.compile(r"\w+"), re.compile(r"<!--.*?(?:-->|\Z)", re.DOTALL)
_LONG = 3


def marked(text: str, words: Collection[str]) -> Markup:
    """Return the text as HTML, with words that are, or begin with, one of `words` (lower case) marked."""
    begins, parts, number = tuple(other_word for other_word in words if len(other_word) >= _LONG), [], 0
    for match in _WORD.finditer(text):
        word = match[0].lower()
        if word in words or word.startswith(begins):
            parts += [_escaped(text[number : match.start()]), Markup("<mark>"), _escaped(match[0]), Markup("</mark>")]
            number = match.end()
    return Markup("").join([*parts, _escaped(text[number:])])


def _escaped(text: str) -> Markup:
    return escape(visible(text))
