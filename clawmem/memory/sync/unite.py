"""Merge duplicate ids: one fact id in several entities. Copies committed with git, merges by git and older versions of
clawmem cause them."""

from __future__ import annotations

from collections.abc import Collection

from clawmem.errors import ClawmemError
from clawmem.index.refresh.refresh import record_duplicates
from clawmem.index.tables.store import duplicate_ids
from clawmem.memory.scope import WriteScope
from clawmem.model.facts.codec import render_items
from clawmem.model.language.text import counted
from clawmem.model.merging.collisions import JoinedId, front_matters, join_duplicate_ids
from clawmem.model.pages.summary import split_front_matter, with_generated
from clawmem.model.records.change import Change, subject_line, trailers
from clawmem.model.records.entity import ITEMS, items_path, name_of_path, summary_path

# The vault itself is the author, whoever runs the command: the permission rules list it as upkeep.
OP = "unite"


def merge_duplicate_ids(work: WriteScope) -> tuple[str, ...]:
    """Keep each duplicate id in one file, and return the commits.

    If a fact ended in one file, it ends. Different statements are kept as separate facts. Unreadable files are
    skipped."""
    doubled = duplicate_ids(work.index)
    names = sorted({name for places in doubled.values() for name in places})
    if not names:
        return ()
    try:
        commits = work.commit([_change(work, names)], OP)
    except ClawmemError as problem:
        work.transaction.notices.append(f"{counted(len(doubled), 'id')} exist twice: {problem.message}")
        return ()
    work.update_index()
    with work.index.writing():
        record_duplicates(work.index)
    return commits


def _change(work: WriteScope, names: Collection[str]) -> Change:
    shelves = {items_path(name): tuple(work.facts(name)) for name in names}
    pages = {summary_path(name): work.read(summary_path(name)) for name in names}
    single, joined = join_duplicate_ids(shelves, front_matters(pages))
    writes: dict[str, bytes | None] = {
        path: render_items(facts) for path, facts in single.items() if facts != shelves[path]
    }
    for path in [path for path in writes if not single[path]]:
        writes.update(_removed_files(path, pages, joined))
    ids = [joined_id.id for joined_id in joined] + [fact_id for other_id in joined for fact_id in other_id.beside]
    rows = trailers(OP, facts=ids, entities=names, agent=work.caller.agent, session=work.caller.session)
    words = f"{counted(len(joined), 'id')} existed in several entities, and now in one each"
    work.transaction.notices.append(f"{words}: {_places(joined)}")
    return Change(
        subject_line(OP, "vault", words), writes, rows, "\n".join(f"- {_describe(other_id)}" for other_id in joined)
    )


def _removed_files(path: str, pages: dict[str, bytes | None], joined: Collection[JoinedId]) -> dict[str, bytes | None]:
    """Return the deletion of an entity that has no facts left and is the former place of another one.

    The entity is kept if its page has text that the other page lacks."""
    name = name_of_path(path) or path
    kept = {name_of_path(other_id.kept) or "" for other_id in joined if path in other_id.left}
    page = summary_path(name)
    own = _lines(pages.get(page))
    for other in kept:
        theirs = pages.get(summary_path(other))
        if f'"{name}"' in (split_front_matter((theirs or b"").decode(errors="replace"))[0] or "") and own <= _lines(
            theirs
        ):
            return {path: None, **({page: None} if pages.get(page) is not None else {})}
    return {}


def _lines(page: bytes | None) -> set[str]:
    """Return the lines that a person wrote on a page, without the title."""
    _, rest = split_front_matter((page or b"").decode(errors="replace"))
    return {
        line.strip() for line in with_generated(rest, "").splitlines() if line.strip() and not line.startswith("# ")
    }


def _places(joined: Collection[JoinedId]) -> str:
    return ", ".join(dict.fromkeys(f"{name_of_path(other_id.kept)} keeps them" for other_id in joined))


def _describe(other_id: JoinedId) -> str:
    beside = f"; other statements with this id are now {', '.join(other_id.beside)}" if other_id.beside else ""
    left = ", ".join(path.removesuffix(f"/{ITEMS}") for path in other_id.left)
    return f"{other_id.id} stays in {other_id.kept.removesuffix(f'/{ITEMS}')} and is removed from {left}{beside}"
