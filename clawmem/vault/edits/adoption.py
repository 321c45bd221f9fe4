"""Edits made by hand as commits. Each commit names every fact that it changes, adds or removes."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from clawmem.errors import ClawmemError, InvalidInput
from clawmem.model.facts.codec import parse_items
from clawmem.model.facts.fact import Fact
from clawmem.model.facts.ids import check_reference
from clawmem.model.kinds import ITEMS_FILE, file_kind
from clawmem.model.language.text import check_statement, counted, one_line, visible
from clawmem.model.records.change import Author, Change, subject_line, trailers
from clawmem.model.records.entity import items_path, name_of_path
from clawmem.vault.edits.copies import find_in_head
from clawmem.vault.edits.moved_facts import facts_moved, gathered, place_of
from clawmem.vault.git.identity import personal_identity
from clawmem.vault.vault import Vault

UNNAMED = Author("by hand", "hand@clawmem")
_SHOWN = 3

Files = Mapping[str, bytes | None]


class Adoption(NamedTuple):
    """One commit of edits made by hand.

    `moved` counts the facts that moved from one place to another. `gone` are the facts that are in none of the edited
    files afterwards.
    """

    change: Change
    moved: Mapping[tuple[str, str], int]
    gone: tuple[str, ...]


def plan_adoption(vault: Vault, before: Files, after: Files) -> tuple[Adoption, ...]:
    """Plan one commit for each place that was edited: an entity's folder, or a single file.

    Places between which facts moved share a commit, so that no commit loses a fact that only moved. `before` are the
    files as of HEAD.
    """
    edited: dict[str, list[str]] = defaultdict(list)
    for path in after:
        edited[place_of(path)].append(path)
    old_facts, new_facts = _facts(before), _facts(after)
    went = facts_moved(old_facts, new_facts)
    known = frozenset(key for facts in new_facts.values() for key in facts)
    moved: dict[str, Counter[tuple[str, str]]] = defaultdict(Counter)
    for one in went:
        moved[one.new][one.old, one.new] += 1
    author = user_identity(vault)
    found = []
    for group in gathered(edited, went):
        here = [(old_facts.get(place, {}), new_facts.get(place, {})) for place in group]
        pairs = {pair: number for place in group for pair, number in moved[place].items()}
        change = Change(
            subject=_subject(group, pairs),
            writes={path: after[path] for place in group for path in edited[place]},
            trailers=trailers("edit", facts=_touched(here), entities=filter(_is_entity, group)),
            author=author,
        )
        gone = dict.fromkeys(key for facts, _ in here for key in facts if key not in known)
        found.append(Adoption(change, pairs, tuple(gone)))
    return tuple(found)


def _is_entity(place: str) -> bool:
    return name_of_path(items_path(place)) == place


def _subject(group: Sequence[str], moved: Mapping[tuple[str, str], int]) -> str:
    if len(group) == 1:
        return subject_line("edit", group[0], "by hand")
    facts = counted(sum(moved.values()), "fact")
    if len(moved) == 1:
        (old, new), *_ = moved
        return subject_line("edit", new, f"by hand, {facts} moved from {old}")
    return subject_line("edit", "vault", f"by hand, {facts} moved between {', '.join(group)}")


def _facts(files: Files) -> dict[str, dict[str, Fact]]:
    """Return the facts by place and id. A file of HEAD that does not parse is skipped."""
    found: dict[str, dict[str, Fact]] = {}
    for path, data in files.items():
        if data is None or file_kind(path) is not ITEMS_FILE:
            continue
        try:
            found[place_of(path)] = {fact.id: fact for fact in parse_items(data, path)}
        except ClawmemError:
            continue
    return found


def _touched(states: Iterable[tuple[Mapping[str, Fact], Mapping[str, Fact]]]) -> Iterator[str]:
    """Yield the ids of the facts that differ, once for each place."""
    for before, after in states:
        for key in dict.fromkeys((*before, *after)):
            if before.get(key) != after.get(key):
                yield key


def user_identity(vault: Vault) -> Author:
    """Return the author of edits made by hand: the user that git is configured with, else `by hand`."""
    found = personal_identity(vault.git)
    return Author(found.name, found.email or UNNAMED.email) if found else UNNAMED


def adoption_notices(vault: Vault, adopted: Sequence[Adoption], commits: Sequence[str]) -> Iterator[str]:
    """Yield notices about committed edits: which facts moved, and which were removed.

    Removed facts are named because an editor may have saved an old copy of a file.
    """
    yield f"committed {sum(len(one.change.writes) for one in adopted)} file(s) edited by hand"
    gone = frozenset(key for one in adopted for key in one.gone)
    missing = gone - find_in_head(vault, gone).keys()
    for one, commit in zip(adopted, commits, strict=False):
        for (old, new), number in one.moved.items():
            yield f"moved by hand: {counted(number, 'fact')} from {old} to {new}"
        lost = [key for key in one.gone if key in missing]
        if lost:
            yield _taken_out(one.change, lost, commit)


def flaw_notices(before: Files, after: Files) -> Iterator[str]:
    """Yield a notice for each fact that an edit added or changed and that no command would have stored, although its
    file can be read."""
    stood = _facts(before)
    for path in after:
        place = place_of(path)
        for fact in _facts({path: after[path]}).get(place, {}).values():
            if stood.get(place, {}).get(fact.id) == fact:
                continue
            try:
                check_reference(fact.id)
                check_statement(fact.fact)
            except InvalidInput as problem:
                name = one_line(visible(fact.id))
                yield f"{path} was committed with a wrong fact, {name}: {problem.message} Correct it."


def _taken_out(change: Change, gone: Sequence[str], commit: str) -> str:
    names = ", ".join(gone[:_SHOWN]) + (f" and {len(gone) - _SHOWN} more" if len(gone) > _SHOWN else "")
    edited = [path for path in change.writes if file_kind(path) is ITEMS_FILE]
    what = f"your edit of {edited[0]}" if len(edited) == 1 else f"your edits ({change.subject})"
    # A single fact is restored by its id. A whole file is restored by its commit.
    alone = len(gone) == 1 and all(data is not None for data in change.writes.values())
    back = f"`clawmem undo {gone[0] if alone else commit[:12]}` brings {'it' if len(gone) == 1 else 'them'} back"
    return f"{what} takes out {names}; {back}"
