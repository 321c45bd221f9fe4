"""The history of the vault, of an entity under all its former paths, and of a single fact."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice
from typing import NamedTuple

from clawmem.errors import AmbiguousId, ClawmemError, IncompleteAnswer, InvalidInput, NotFound, PossiblyUnreadable
from clawmem.index.refresh import run_query
from clawmem.index.search.lookup import (
    by_ids,
    entities,
    forgotten_entities,
    forgotten_ids,
    refuse_if_unreadable,
    resolve_id,
    unreadable_notices,
)
from clawmem.index.tables.store import Index
from clawmem.memory.entities.places import expand_own, find_entity
from clawmem.memory.permission import check_may_read, may_read
from clawmem.model.facts.codec import parse_items
from clawmem.model.facts.fact import FACT_PREFIX, Fact, check_prefix, is_reference
from clawmem.model.history.comparison import bare, read_single_fact
from clawmem.model.history.entry import ACCESS, FORGET, HOUSEKEEPING, NOTE, HistoryEntry, trailer_pattern
from clawmem.model.language.text import one_line
from clawmem.model.pages.daily import HIDDEN_LINE
from clawmem.model.records.caller import Caller
from clawmem.model.records.change import LONGEST_SUBJECT, subject_line
from clawmem.model.records.entity import ITEMS, check_name, items_path, name_of_path, summary_path
from clawmem.model.records.session import DEFAULT_AGENT, HIDDEN_WORDS, session_path
from clawmem.vault.exchange.create import shallow_commits
from clawmem.vault.history.history import History, HistoryFilter, is_shallow, open_history
from clawmem.vault.vault import Vault

# The line of a hidden note, with and without its time of day.
_HIDDEN = re.compile(rf"{HIDDEN_LINE}.*?: (?:- )?((?:\d\d:\d\d )?(.*)) -->")
_GONE = "what was forgotten on request"
_FOLDS = f"^Clawmem-Op: {ACCESS}$"
_SHALLOW = (
    "the history is incomplete: this is a shallow clone, which lacks the older commits;"
    " `git fetch --unshallow` gets them"
)


class LogBounds(NamedTuple):
    """The part of a history to show: the newest `limit` entries, by time and author, with or without access folds."""

    limit: int
    since: str | None = None
    until: str | None = None
    author: str | None = None
    include_folds: bool = False


class LogResult(NamedTuple):
    """Entries, oldest first, and their subject.

    `kind` is `vault`, `entity` or `fact`. `truncated` says whether older entries were left out."""

    entries: tuple[HistoryEntry, ...]
    kind: str
    name: str | None
    truncated: bool
    notices: tuple[str, ...] = ()


def log(vault: Vault, about: str | None, caller: Caller, bounds: LogBounds) -> LogResult:
    """Return the history of the vault, or of the entity or fact that `about` names.

    Raise NotFound if there is neither, AmbiguousId, or NotPermitted for the entity of another agent."""

    def read(index: Index) -> LogResult:
        found = _log(vault, index, about, caller, bounds)
        return found._replace(entries=without_forgotten(vault, index, found.entries))

    result = run_query(vault, read, one_state=False)
    if caller.agent:
        result = result._replace(entries=_without_earlier_notes(vault, result.entries))
    return result._replace(notices=(*result.notices, *shallow_notices(vault)))


def without_forgotten(vault: Vault, index: Index, entries: Iterable[HistoryEntry]) -> tuple[HistoryEntry, ...]:
    """Return some entries without the words of facts and notes that were to be forgotten, and without the names of the
    entities of which nothing else is known."""
    gone, places = forgotten_ids(index), forgotten_entities(index)

    def shown(entry: HistoryEntry) -> HistoryEntry:
        tells = not gone.isdisjoint((*entry.facts, *entry.supersedes))
        tells = tells or any(f"({name})" in entry.subject for name in places)
        if not tells and not (entry.op == NOTE and _is_hidden(vault, entry)) and not _hides_words(vault, entry):
            return entry._replace(entities=tuple(name for name in entry.entities if name not in places))
        did = entry.subject if entry.op == FORGET else f"{entry.subject.partition('(')[0]}: {_GONE}"
        return entry._replace(subject=did, entities=tuple(name for name in entry.entities if name not in places))

    return tuple(map(shown, entries))


def _hides_words(vault: Vault, entry: HistoryEntry) -> bool:
    """Return whether the session of an entry had words that were to be forgotten: its subject may have them, too."""
    if not (entry.op or "").startswith("session") or entry.session is None:
        return False
    return HIDDEN_WORDS in (vault.read_text(session_path(entry.agent or DEFAULT_AGENT, entry.session)) or "")


def _is_hidden(vault: Vault, entry: HistoryEntry) -> bool:
    """Return whether the note of an entry is hidden on the page of its day."""
    page, _, words = _dashes(entry.subject).removeprefix(f"{NOTE}(").partition("): ")
    cut = words.endswith("…") and len(entry.subject) >= LONGEST_SUBJECT - 1
    lines = map(_HIDDEN.fullmatch, (vault.read_text(f"{page}.md") or "").splitlines())
    hidden = [_dashes(one_line(text)) for line in lines if line for text in (line[1], line[2])]
    return any(text == words or (cut and text.startswith(words.removesuffix("…"))) for text in hidden)


def _dashes(text: str) -> str:
    """Return the text with dashes as they were before a comment, which cannot have two in a row."""
    return text.replace("- -", "--").replace("- -", "--")


def entries_for(vault: Vault, caller: Caller, entries: Sequence[HistoryEntry]) -> tuple[HistoryEntry, ...]:
    """Return some entries without the words of what was to be forgotten, and for an agent of notes that may have been
    meant."""
    shown = run_query(vault, lambda index: without_forgotten(vault, index, entries), one_state=False)
    return _without_earlier_notes(vault, shown) if caller.agent else shown


def _without_earlier_notes(vault: Vault, entries: tuple[HistoryEntry, ...]) -> tuple[HistoryEntry, ...]:
    """Return some entries without the words of notes from before a request to forget: it may have been about them."""
    if not any(entry.op == NOTE for entry in entries):
        return entries
    with open_history(vault) as history:
        asked = next(history.entries(HistoryFilter(grep=[trailer_pattern("Clawmem-Op", FORGET)])), None)
    last = asked.time if asked else ""
    return tuple(
        entry._replace(subject=entry.subject.partition(":")[0]) if entry.op == NOTE and entry.time <= last else entry
        for entry in entries
    )


def seen_by_viewer(index: Index, entries: Iterable[HistoryEntry]) -> Iterator[HistoryEntry]:
    """Yield some entries as the viewer of an index may see them: those that name a fact that they may see, with the
    words that it has now. Who may see everything gets each as it is.

    What else a commit says may be of others: its subject, its session and its messages, and whether it has more."""
    if not index.is_restricted:
        yield from entries
        return
    for entry in entries:
        named = () if entry.op in HOUSEKEEPING else dict.fromkeys((*entry.facts, *entry.supersedes))
        if shown := by_ids(index, named):
            fact, entity = next(iter(shown.values()))
            yield without_words(entry)._replace(
                op=entry.op,
                subject=subject_line(entry.op or "edit", entity, fact.fact),
                facts=tuple(name for name in entry.facts if name in shown),
                entities=tuple(dict.fromkeys(placed.entity for placed in shown.values())),
                agent=entry.agent,
                supersedes=tuple(name for name in entry.supersedes if name in shown),
            )


def without_words(entry: HistoryEntry) -> HistoryEntry:
    """Return an entry that says only which commit it is, of whom and when."""
    return HistoryEntry(entry.commit, entry.time, entry.author, entry.author_email, None, "")


def shallow_notices(vault: Vault) -> list[str]:
    """Return the notice for a shallow clone, which lacks the older history; empty for other clones."""
    return [_SHALLOW] if is_shallow(vault) else []


def _log(vault: Vault, index: Index, about: str | None, caller: Caller, bounds: LogBounds) -> LogResult:
    with open_history(vault) as history:
        if about is None:
            entries = history.entries(_history_filter(bounds))
            readable = (entry for entry in entries if all(may_read(caller, name) for name in entry.entities))
            shown = seen_by_viewer(index, readable)
            return _log_result(shown, "vault", None, bounds, index)
        kind, name = _resolve_subject(index, history, about, caller)
        check_may_read(caller, _entity_of_fact(index, history, name) if kind == "fact" else name)
        if kind == "fact":
            places = {name: paths_of_fact(index, history, name)}
            newest_first = seen_by_viewer(index, reversed(fact_history(history, places, bounds.include_folds)[name]))
            result = _log_result(_within_bounds(newest_first, bounds), kind, name, bounds, index)
            lacks = [] if by_ids(index, [name]) else unreadable_notices(index)
            return result._replace(notices=(*result.notices, *lacks))
        paths = [path for place in former_names(index, name) for path in (items_path(place), summary_path(place))]
        entries = seen_by_viewer(index, history.entries(_history_filter(bounds)._replace(paths=paths)))
        return _log_result(entries, kind, name, bounds, index)


def _entity_of_fact(index: Index, history: History, fact_id: str) -> str:
    known = by_ids(index, [fact_id])
    if known:
        return known[fact_id].entity
    try:
        return find_removed_fact(index, history, fact_id).entity
    except PossiblyUnreadable:
        # Its file cannot be read: the commits that name the fact name its entity.
        return name_of_path(paths_of_fact(index, history, fact_id)[-1]) or ""


def resolve_fact(index: Index, history: History, reference: str) -> str:
    """Return the full id for a unique prefix, also of a fact that an undo removed. Raise NotFound or AmbiguousId."""
    try:
        return resolve_id(index, reference)
    except NotFound:
        if index.is_restricted or not is_reference(reference):
            raise  # the history has what a viewer may not see
        value = reference.strip()
        prefixes = tuple(dict.fromkeys((value, FACT_PREFIX + value.removeprefix(FACT_PREFIX))))
        patterns = [trailer_pattern("Fact", prefix).removesuffix("$") for prefix in prefixes]
        known = {fact for entry in history.entries(HistoryFilter(grep=patterns)) for fact in entry.facts}
        matches = sorted(fact for fact in known if fact.startswith(prefixes))
        if len(matches) > 1 and value not in matches:
            raise AmbiguousId(value, matches) from None
        if not matches:
            raise
        if value in matches:
            return value
        prefix = next(prefix for prefix in prefixes if matches[0].startswith(prefix))
        return check_prefix(value, prefix, matches[0], FACT_PREFIX)


def fact_history(
    history: History, wanted: Mapping[str, Sequence[str]], include_folds: bool = False
) -> dict[str, list[HistoryEntry]]:
    """Return the commits that changed each fact, oldest first. Access folds count only with `include_folds`.

    Commits of clawmem name their facts in trailers. Commits of people do not, so for them the files in `wanted` are
    compared. If both ways find nothing, the text of all commits is searched. The first commit of a shallow clone
    adds every fact, so only its trailers count.
    """
    found: dict[str, dict[str, HistoryEntry]] = {fact_id: {} for fact_id in wanted}
    patterns = [trailer_pattern(key, fact_id) for fact_id in wanted for key in ("Fact", "Supersedes")]
    for entry in history.entries(HistoryFilter(grep=patterns)):
        for fact_id in {*entry.facts, *entry.supersedes} & found.keys():
            if include_folds or entry.op != ACCESS:
                found[fact_id][entry.commit] = entry
    _add_unnamed_commits(history, wanted, found, include_folds)
    for fact_id in wanted:
        if not found[fact_id]:
            mentions = history.commits_changing(f'"{fact_id}"', ITEMS)
            cut = shallow_commits(history.vault)
            found[fact_id] = {name: history.entry(name) for name in mentions if name not in cut}
    return _oldest_first(history, found)


def _add_unnamed_commits(
    history: History,
    wanted: Mapping[str, Sequence[str]],
    found: dict[str, dict[str, HistoryEntry]],
    include_folds: bool,
) -> None:
    paths = list(dict.fromkeys(path for each in wanted.values() for path in each))
    if not paths:
        return
    unnamed = HistoryFilter(grep=["^Fact: ", *([] if include_folds else [_FOLDS])], inverted=True, paths=paths)
    cut = shallow_commits(history.vault)
    for entry in history.entries(unnamed):
        if entry.commit in cut:
            continue
        after = history.vault.contents_at(entry.commit, paths)
        # A merge changed a fact only if the result differs from all parents.
        befores = [history.vault.contents_at(parent, paths) for parent in entry.parents] or [{}]
        for fact_id in wanted:
            stands = _states_in(after, fact_id, include_folds)
            if all(_states_in(before, fact_id, include_folds) != stands for before in befores):
                found[fact_id][entry.commit] = entry


def shallow_starts(history: History, wanted: Mapping[str, Sequence[str]]) -> dict[str, HistoryEntry]:
    """Return the first commit of a shallow clone for each fact that existed there.

    The commit that recorded such a fact is not in this clone. `wanted` gives the possible files of each fact."""
    found: dict[str, HistoryEntry] = {}
    for name in shallow_commits(history.vault):
        record = history.vault.contents_at(name, dict.fromkeys(path for each in wanted.values() for path in each))
        known = [fact_id for fact_id in wanted if _states_in(record, fact_id, True)]
        found.update(dict.fromkeys(known, history.entry(name)) if known else {})
    return found


def _states_in(contents: Mapping[str, bytes | None], fact_id: str, counters: bool) -> dict[str, Fact]:
    """Return the state of a fact by path. The path matters, because a move is part of the history."""
    records = {path: read_single_fact(data, fact_id) for path, data in contents.items() if data}
    return {path: fact if counters else bare(fact) for path, fact in records.items() if fact is not None}


def _oldest_first(history: History, found: Mapping[str, Mapping[str, HistoryEntry]]) -> dict[str, list[HistoryEntry]]:
    if all(len(entries) < 2 for entries in found.values()):
        return {fact_id: list(entries.values()) for fact_id, entries in found.items()}
    places = history.positions()
    return {
        fact_id: sorted(entries.values(), key=lambda entry: -places.get(entry.commit, 0))
        for fact_id, entries in found.items()
    }


def former_names(index: Index, name: str) -> list[str]:
    """Return the name of the entity and all its former paths, which its aliases contain."""
    aliases = next((entity.aliases for entity in entities(index) if entity.name == name), ())
    names = [name]
    for alias in aliases:
        try:
            names.append(check_name(alias))
        except InvalidInput:
            continue  # a title or nickname is not a path
    return list(dict.fromkeys(names))


def paths_of_fact(index: Index, history: History, fact_id: str) -> list[str]:
    """Return the files that contain or contained a fact: of its entity under all names, and of its commits."""
    known = by_ids(index, [fact_id]).get(fact_id)
    names = former_names(index, known.entity) if known else []
    if not known:
        for entry in history.entries(HistoryFilter(grep=[trailer_pattern("Fact", fact_id)])):
            names += entry.entities
    return [items_path(name) for name in dict.fromkeys(names)]


class RemovedFact(NamedTuple):
    """A fact that was removed from the vault, in its last state, and the commit that removed it."""

    fact: Fact
    entity: str
    removed: HistoryEntry


def find_removed_fact(index: Index, history: History, reference: str) -> RemovedFact:
    """Return the removed fact with this id or unique prefix.

    Raise NotFound if the history has no such fact, PossiblyUnreadable if it may be in a file that cannot be read."""
    refuse_if_unreadable(index, f"the id '{reference}'")
    fact_id = resolve_fact(index, history, reference)
    paths = paths_of_fact(index, history, fact_id)
    for entry in reversed(fact_history(history, {fact_id: paths})[fact_id]):
        for parent in entry.parents:
            for path, data in history.vault.contents_at(parent, paths).items():
                fact = read_single_fact(data, fact_id) if data else None
                if fact is not None:
                    return RemovedFact(fact, name_of_path(path) or path, entry)
    raise NotFound(f"No fact has the id '{reference}'.", f"`clawmem log {fact_id}` shows its history.")


def facts_at(vault: Vault, commit: str | None, paths: Iterable[str]) -> tuple[dict[str, tuple[Fact, ...]], list[str]]:
    """Return the facts in files of a commit by path, and a notice for each file that does not parse.

    A commit of None means the state before the first commit: no facts."""
    contents = vault.contents_at(commit, paths) if commit else {}
    facts: dict[str, tuple[Fact, ...]] = {}
    problems: list[str] = []
    for path, data in contents.items():
        try:
            facts[path] = parse_items(data, path) if data is not None else ()
        except ClawmemError as problem:
            problems.append(IncompleteAnswer(f"not compared, at {(commit or '')[:12]}: {problem.message}"))
    return facts, problems


def _resolve_subject(index: Index, history: History, about: str, caller: Caller) -> tuple[str, str]:
    if "/" in about:
        try:
            return "entity", find_entity(index, about, caller)
        except NotFound:
            if index.is_restricted:
                raise  # the history has what a viewer may not see
            gone = check_name(expand_own(about, caller))
            paths = (items_path(gone), summary_path(gone))
            if next(history.entries(HistoryFilter(paths=paths)), None) is None:
                raise
            return "entity", gone
    if not about.startswith(FACT_PREFIX):
        try:
            return "entity", find_entity(index, about, caller)
        except NotFound:
            pass
    try:
        return "fact", resolve_fact(index, history, about)
    except PossiblyUnreadable:
        raise
    except (NotFound, InvalidInput):
        raise NotFound(
            f"There is no entity and no fact '{about}'.", "`clawmem entity list` and `clawmem list` show all of them."
        ) from None


def _history_filter(bounds: LogBounds) -> HistoryFilter:
    return HistoryFilter(
        grep=() if bounds.include_folds else (_FOLDS,),
        inverted=not bounds.include_folds,
        author=bounds.author,
        since=bounds.since,
        until=bounds.until,
    )


def _within_bounds(entries: Iterable[HistoryEntry], bounds: LogBounds) -> Iterator[HistoryEntry]:
    return (
        entry
        for entry in entries
        if (not bounds.since or entry.time >= bounds.since) and (not bounds.until or entry.time <= bounds.until)
    )


def _is_author(entry: HistoryEntry, author: str) -> bool:
    """Return whether an entry is by somebody: a whole name or address, or a word of the name."""
    asked, name = author.casefold(), entry.author.casefold()
    return asked in (name, entry.author_email.casefold(), entry.agent, *name.split())


def _log_result(
    newest_first: Iterable[HistoryEntry], kind: str, name: str | None, bounds: LogBounds, index: Index
) -> LogResult:
    author = bounds.author
    mine = newest_first if author is None else (entry for entry in newest_first if _is_author(entry, author))
    taken = list(islice(mine, bounds.limit + 1))
    cut = len(taken) > bounds.limit
    return LogResult(tuple(reversed(taken[: bounds.limit])), kind, name, cut, index.notices)
