"""The history of the vault, of an entity under all the paths it had, and of a single fact."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice
from typing import NamedTuple

from clawmem.errors import AmbiguousId, ClawmemError, IncompleteAnswer, InvalidInput, NotFound, PossiblyUnreadable
from clawmem.index.refresh.refresh import answered
from clawmem.index.search.lookup import by_ids, entities, resolve
from clawmem.index.search.unreadable import refuse_unread, unreadable
from clawmem.index.tables.store import Index
from clawmem.memory.entities.places import existing_entity, expanded
from clawmem.memory.permission import check_may_read, may_read
from clawmem.model.facts.codec import parse_items
from clawmem.model.facts.fact import Fact
from clawmem.model.facts.ids import FACT_PREFIX, check_reference
from clawmem.model.history.comparison import bare, read_single_fact
from clawmem.model.history.entry import ACCESS, HistoryEntry, trailer_pattern
from clawmem.model.records.caller import Caller
from clawmem.model.records.entity import ITEMS, check_name, items_path, name_of_path, summary_path
from clawmem.vault.exchange.bundle import cut_at, is_shallow
from clawmem.vault.history.history import History, HistoryFilter, open_history
from clawmem.vault.vault import Vault

_FOLDS = f"^Clawmem-Op: {ACCESS}$"
_CUT_OFF = (
    "the history is cut off: this shallow clone does not have what was before its first commit;"
    " `git fetch --unshallow` brings the rest"
)


class LogBounds(NamedTuple):
    """Which part of a history to show: the newest `limit` entries in a span of time, of one author, folds or not."""

    limit: int
    since: str | None = None
    until: str | None = None
    author: str | None = None
    folds: bool = False


class LogResult(NamedTuple):
    """Entries, oldest first; what they are about: `vault`, `entity` or `fact`, and which; whether older were cut."""

    entries: tuple[HistoryEntry, ...]
    kind: str
    name: str | None
    cut: bool
    notices: tuple[str, ...] = ()


def log(vault: Vault, about: str | None, caller: Caller, bounds: LogBounds) -> LogResult:
    """The history of the vault, or of the entity or fact that `about` names. NotFound where it names neither."""
    told = answered(vault, lambda index: _log(vault, index, about, caller, bounds), one_state=False)
    return told._replace(notices=(*told.notices, *cut_off(vault)))


def cut_off(vault: Vault) -> list[str]:
    """What to say of any history in a shallow clone, which does not have the older part; nothing elsewhere."""
    return [_CUT_OFF] if is_shallow(vault) else []


def _log(vault: Vault, index: Index, about: str | None, caller: Caller, bounds: LogBounds) -> LogResult:
    with open_history(vault) as history:
        if about is None:
            entries = history.entries(_wanted(bounds))
            shown = (one for one in entries if all(may_read(caller, name) for name in one.entities))
            return _logged(shown, "vault", None, bounds, index)
        kind, name = _meant(index, history, about, caller)
        check_may_read(caller, _place(index, history, name) if kind == "fact" else name)
        if kind == "fact":
            places = {name: paths_of_fact(index, history, name)}
            newest_first = reversed(fact_history(history, places, bounds.folds)[name])
            told = _logged(_within(newest_first, bounds), kind, name, bounds, index)
            lacks = [] if by_ids(index, [name]) else unreadable(index)
            return told._replace(notices=(*told.notices, *lacks))
        paths = [path for place in former_names(index, name) for path in (items_path(place), summary_path(place))]
        entries = history.entries(_wanted(bounds)._replace(paths=paths))
        return _logged(entries, kind, name, bounds, index)


def _place(index: Index, history: History, fact_id: str) -> str:
    known = by_ids(index, [fact_id])
    return known[fact_id].entity if known else lost_fact(index, history, fact_id).entity


def fact_named(index: Index, history: History, reference: str) -> str:
    """The full id of a fact by unique prefix, one that an undo removed included; raises NotFound or AmbiguousId."""
    try:
        return resolve(index, reference)
    except NotFound:
        given = check_reference(reference)
        prefixes = tuple(dict.fromkeys((given, FACT_PREFIX + given.removeprefix(FACT_PREFIX))))
        patterns = [trailer_pattern("Fact", prefix).removesuffix("$") for prefix in prefixes]
        known = {fact for entry in history.entries(HistoryFilter(grep=patterns)) for fact in entry.facts}
        matches = sorted(fact for fact in known if fact.startswith(prefixes))
        if len(matches) > 1 and given not in matches:
            raise AmbiguousId(given, matches) from None
        if not matches:
            raise
        return given if given in matches else matches[0]


def fact_history(
    history: History, wanted: Mapping[str, Sequence[str]], folds: bool = False
) -> dict[str, list[HistoryEntry]]:
    """Every commit that touched each fact, oldest first; folded accesses only where `folds` asks for them.

    Commits of clawmem name their facts. What people changed by hand names none, so there the files are compared,
    those that `wanted` gives for each fact; a fact that neither way explains is looked for in all commits' text.
    Where a shallow clone begins everything looks new, so there only what the commit itself says counts.
    """
    found: dict[str, dict[str, HistoryEntry]] = {fact_id: {} for fact_id in wanted}
    patterns = [trailer_pattern(key, fact_id) for fact_id in wanted for key in ("Fact", "Supersedes")]
    for entry in history.entries(HistoryFilter(grep=patterns)):
        for fact_id in {*entry.facts, *entry.supersedes} & found.keys():
            if folds or entry.op != ACCESS:
                found[fact_id][entry.commit] = entry
    _add_unnamed(history, wanted, found, folds)
    for fact_id in wanted:
        if not found[fact_id]:
            mentions = history.mentioning(f'"{fact_id}"', ITEMS)
            cut = cut_at(history.vault)
            found[fact_id] = {name: history.entry(name) for name in mentions if name not in cut}
    return _oldest_first(history, found)


def _add_unnamed(
    history: History, wanted: Mapping[str, Sequence[str]], found: dict[str, dict[str, HistoryEntry]], folds: bool
) -> None:
    paths = list(dict.fromkeys(path for each in wanted.values() for path in each))
    if not paths:
        return
    unnamed = HistoryFilter(grep=["^Fact: ", *([] if folds else [_FOLDS])], inverted=True, paths=paths)
    cut = cut_at(history.vault)
    for entry in history.entries(unnamed):
        if entry.commit in cut:
            continue
        after = history.vault.contents_at(entry.commit, paths)
        # A merge touched a fact only where it agrees with none of its parents.
        befores = [history.vault.contents_at(parent, paths) for parent in entry.parents] or [{}]
        for fact_id in wanted:
            stands = _stands_in(after, fact_id, folds)
            if all(_stands_in(before, fact_id, folds) != stands for before in befores):
                found[fact_id][entry.commit] = entry


def beginnings(history: History, wanted: Mapping[str, Sequence[str]]) -> dict[str, HistoryEntry]:
    """The commit where a shallow clone begins, for each of the facts that stood then: who recorded them is told by what
    is not here. `wanted` gives the files a fact may stand in."""
    found: dict[str, HistoryEntry] = {}
    for name in cut_at(history.vault):
        held = history.vault.contents_at(name, dict.fromkeys(path for each in wanted.values() for path in each))
        known = [fact_id for fact_id in wanted if _stands_in(held, fact_id, True)]
        found.update(dict.fromkeys(known, history.entry(name)) if known else {})
    return found


def _stands_in(contents: Mapping[str, bytes | None], fact_id: str, counters: bool) -> dict[str, Fact]:
    """Where a fact stands and how; the place counts, because a move is part of its history."""
    records = {path: read_single_fact(data, fact_id) for path, data in contents.items() if data}
    return {path: fact if counters else bare(fact) for path, fact in records.items() if fact is not None}


def _oldest_first(history: History, found: Mapping[str, Mapping[str, HistoryEntry]]) -> dict[str, list[HistoryEntry]]:
    if all(len(entries) < 2 for entries in found.values()):
        return {fact_id: list(entries.values()) for fact_id, entries in found.items()}
    places = history.places()
    return {
        fact_id: sorted(entries.values(), key=lambda entry: -places.get(entry.commit, 0))
        for fact_id, entries in found.items()
    }


def former_names(index: Index, name: str) -> list[str]:
    """The entity's name and every path it had before, as its aliases keep them."""
    aliases = next((one.aliases for one in entities(index) if one.name == name), ())
    names = [name]
    for alias in aliases:
        try:
            names.append(check_name(alias))
        except InvalidInput:
            continue  # a title or nickname, which is no path
    return list(dict.fromkeys(names))


def paths_of_fact(index: Index, history: History, fact_id: str) -> list[str]:
    """The files a fact stands or stood in: its entity's, under every name it had, and those its commits name."""
    known = by_ids(index, [fact_id]).get(fact_id)
    names = former_names(index, known.entity) if known else []
    if not known:
        for entry in history.entries(HistoryFilter(grep=[trailer_pattern("Fact", fact_id)])):
            names += entry.entities
    return [items_path(name) for name in dict.fromkeys(names)]


class LostFact(NamedTuple):
    """A fact that is not in the vault any more, as it was last, and the commit that took it out."""

    fact: Fact
    entity: str
    removed: HistoryEntry


def lost_fact(index: Index, history: History, reference: str) -> LostFact:
    """The fact of this id or unique prefix that an undo or an edit took out; NotFound where history knows none, and
    MaybeUnread where it may still stand in a file that cannot be read."""
    refuse_unread(index, f"the id '{reference}'")
    fact_id = fact_named(index, history, reference)
    paths = paths_of_fact(index, history, fact_id)
    for entry in reversed(fact_history(history, {fact_id: paths})[fact_id]):
        for parent in entry.parents:
            for path, data in history.vault.contents_at(parent, paths).items():
                fact = read_single_fact(data, fact_id) if data else None
                if fact is not None:
                    return LostFact(fact, name_of_path(path) or path, entry)
    raise NotFound(f"No fact has the id '{reference}'.", f"`clawmem log {fact_id}` shows what is known of it.")


def facts_at(vault: Vault, commit: str | None, paths: Iterable[str]) -> tuple[dict[str, tuple[Fact, ...]], list[str]]:
    """The facts in files of a commit (None: before the first), by path, and a sentence for each that does not parse."""
    contents = vault.contents_at(commit, paths) if commit else {}
    facts: dict[str, tuple[Fact, ...]] = {}
    problems: list[str] = []
    for path, data in contents.items():
        try:
            facts[path] = parse_items(data, path) if data is not None else ()
        except ClawmemError as problem:
            problems.append(IncompleteAnswer(f"not compared, at {(commit or '')[:12]}: {problem.message}"))
    return facts, problems


def _meant(index: Index, history: History, about: str, caller: Caller) -> tuple[str, str]:
    if "/" in about:
        try:
            return "entity", existing_entity(index, about, caller)
        except NotFound:
            gone = check_name(expanded(about, caller))
            paths = (items_path(gone), summary_path(gone))
            if next(history.entries(HistoryFilter(paths=paths)), None) is None:
                raise
            return "entity", gone
    if not about.startswith(FACT_PREFIX):
        try:
            return "entity", existing_entity(index, about, caller)
        except NotFound:
            pass
    try:
        return "fact", fact_named(index, history, about)
    except PossiblyUnreadable:
        raise
    except (NotFound, InvalidInput):
        raise NotFound(
            f"There is no entity and no fact '{about}'.", "`clawmem entity list` and `clawmem list` show what there is."
        ) from None


def _wanted(bounds: LogBounds) -> HistoryFilter:
    return HistoryFilter(
        grep=() if bounds.folds else (_FOLDS,),
        inverted=not bounds.folds,
        author=bounds.author,
        since=bounds.since,
        until=bounds.until,
    )


def _within(entries: Iterable[HistoryEntry], bounds: LogBounds) -> Iterator[HistoryEntry]:
    return (
        entry
        for entry in entries
        if (not bounds.since or entry.time >= bounds.since) and (not bounds.until or entry.time <= bounds.until)
    )


def _by(entry: HistoryEntry, author: str) -> bool:
    return author.casefold() in (entry.author.casefold(), entry.author_email.casefold(), entry.agent)


def _logged(
    newest_first: Iterable[HistoryEntry], kind: str, name: str | None, bounds: LogBounds, index: Index
) -> LogResult:
    author = bounds.author
    mine = newest_first if author is None else (entry for entry in newest_first if _by(entry, author))
    taken = list(islice(mine, bounds.limit + 1))
    cut = len(taken) > bounds.limit
    return LogResult(tuple(reversed(taken[: bounds.limit])), kind, name, cut, index.notices)
