"""Mending what is safe to mend: each thing one commit, and never a file that does not parse."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from clawmem.errors import ClawmemError
from clawmem.index.refresh.refresh import rebuild
from clawmem.memory.entities.places import new_entity_files
from clawmem.memory.health.checks.items import is_rewritable
from clawmem.memory.health.checks.merging import ATTRIBUTES, CONFIGURATION, UNFINISHED_MERGE, with_attributes
from clawmem.memory.health.checks.merging import CHECK as MERGING
from clawmem.memory.health.checks.problem import HealthProblem
from clawmem.memory.health.checks.repository import clear_leftovers
from clawmem.memory.health.checks.storage import BRANCH, GIT_INDEX, LINE_ENDS, LOST
from clawmem.memory.health.checks.withdrawn import CHECK as WITHDRAWN
from clawmem.memory.sync.finish_merge import finish_merge
from clawmem.memory.sync.unite import unite
from clawmem.memory.writing import WriteScope, writing
from clawmem.model.facts.codec import parse_items, render_items
from clawmem.model.pages.summary import facts_block, generated_part, with_generated
from clawmem.model.records.caller import Caller
from clawmem.model.records.change import Change, agent_author, subject_line, trailers
from clawmem.model.records.entity import ITEMS, name_of_path
from clawmem.vault.commit.integrity import rebuild_git_index, restore_branch, restore_object
from clawmem.vault.git.driver import install_driver
from clawmem.vault.lock import writer_lock
from clawmem.vault.vault import Vault

_WAIT_SECONDS = 10.0


def mend(vault: Vault, caller: Caller, problems: Sequence[HealthProblem]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Mend the problems that are fixable; returns the commits, oldest first, and notices.

    Beginning the transaction already removes stale locks and finishes an interrupted change. Where the vault
    cannot be changed at all, the notice says why.
    """
    wanted = [one for one in problems if one.fixable]
    finished: tuple[str, ...] = ()
    try:
        if any(one.path == UNFINISHED_MERGE for one in wanted):
            done = finish_merge(vault, caller)
            finished = (done.commit,) if done.commit else ()
            vault = Vault(vault.root, vault.git.environment, vault.disk)
        _mend_git(vault, wanted)
        with writing(vault, caller, "doctor") as work:
            commits = (*_mend_facts(work, wanted), *work.commit(list(_changes(work, wanted))))
            clear_leftovers(vault)
            notices = work.notices
        if any(one.check == "index" for one in wanted):
            rebuild(vault).close()
    except ClawmemError as problem:
        return finished, (f"nothing {'else ' if finished else ''}was mended: {problem.message}",)
    return (*finished, *commits), notices


def _mend_git(vault: Vault, problems: Sequence[HealthProblem]) -> None:
    """What must be right before git can be asked for anything else."""
    for one in problems:
        if one.check in (GIT_INDEX, BRANCH):
            with writer_lock(vault.state / "lock", _WAIT_SECONDS, "doctor"):
                (rebuild_git_index if one.check == GIT_INDEX else restore_branch)(vault)
        elif one.check == LOST and one.path:
            restore_object(vault, one.path)
        elif one.check == LINE_ENDS and one.path == ".git/config":
            vault.git.configure({"core.autocrlf": "false"})
        elif one.check == MERGING and one.path == CONFIGURATION:
            install_driver(vault)


def _mend_facts(work: WriteScope, problems: Sequence[HealthProblem]) -> tuple[str, ...]:
    checks = {one.check for one in problems}
    commits = unite(work) if "id-unique" in checks else ()
    if checks.isdisjoint(("chain", "evidence", WITHDRAWN)):
        return commits
    from clawmem.memory.health import repair_facts as mend_facts  # few vaults need it

    commits += mend_facts.withdraw_again(work) if WITHDRAWN in checks else ()
    commits += mend_facts.close_again(work) if "chain" in checks else ()
    return commits + (mend_facts.bring_events_back(work) if "evidence" in checks else ())


def _changes(work: WriteScope, problems: Iterable[HealthProblem]) -> Iterator[Change]:
    for one in problems:
        path = one.path or ""
        if one.check == "missing-folder":
            keep = f"{path}.gitkeep"
            yield _change(work, path.rstrip("/"), "the folder was missing", keep, b"")
            continue
        if one.check == LINE_ENDS and path != ".git/config":
            yield from _line_ends(work, path)
            continue
        if one.check == MERGING and path == ATTRIBUTES:
            rules = with_attributes(work.read(path))
            yield _change(work, path, "clawmem merges this vault's files", path, rules)
            continue
        name = name_of_path(path)
        if name is None:
            continue
        if one.check == "entity-files" and work.read(path) is None:
            what = f"{path.rsplit('/', 1)[-1]} was missing"
            yield _change(work, name, what, path, _new_file(work, name, path), name)
        elif one.check == "items-form":
            data = work.read(path)
            if data is not None and path not in work.started.unreadable and is_rewritable(data):
                yield _change(work, name, "one fact a line, canonical keys", path, _in_form(path, data), name)
        elif one.check == "marks":
            yield from _marks(work, name, path)


def _new_file(work: WriteScope, name: str, path: str) -> bytes:
    content = new_entity_files(name, work.caller)[path]
    assert content is not None
    if path.endswith(ITEMS):
        return content
    return with_generated(content.decode(), _block(work, name)).encode()


def _line_ends(work: WriteScope, path: str) -> Iterator[Change]:
    data = work.read(path)
    if data is not None and path not in work.started.unreadable:
        yield _change(work, path, "plain ends of lines", path, data.replace(b"\r\n", b"\n"), name_of_path(path))


def _in_form(path: str, data: bytes) -> bytes:
    return render_items(parse_items(data, path))


def _marks(work: WriteScope, name: str, path: str) -> Iterator[Change]:
    text = work.text(path)
    if text and generated_part(text) is None and path not in work.started.unreadable:
        page = with_generated(text, _block(work, name))
        yield _change(work, name, "the marks of the generated part were missing", path, page.encode(), name)


def _block(work: WriteScope, name: str) -> str:
    """The generated part; nothing where the entity's facts cannot be read."""
    try:
        facts = work.facts(name)
    except ClawmemError:
        return ""
    return facts_block(name, facts, work.caller.now, work.vault.settings.whole("summary.max_facts"))


def _change(work: WriteScope, place: str, what: str, path: str, content: bytes, entity: str | None = None) -> Change:
    caller = work.caller
    return Change(
        subject=subject_line("fix", place, what),
        writes={path: content},
        trailers=trailers("fix", entities=[entity] if entity else [], agent=caller.agent, session=caller.session),
        author=agent_author(caller.agent),
    )
