"""The heartbeat: conducts the acts that keep a memory alive, each its own commit, for cron and for people."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple, TypeVar

from clawmem import __version__
from clawmem.errors import ClawmemError, Locked, ModelFailed
from clawmem.index.embed import Embedding, awaits_embedding, embed_missing
from clawmem.learning.adapt import Adapted, adapt
from clawmem.learning.ingest import Ingested, ingest_notes
from clawmem.learning.learn import Learned, days_to_read, learn
from clawmem.learning.promote import Promoted, promote
from clawmem.learning.relate import Related, relate
from clawmem.learning.synthesize import Synthesized, synthesize
from clawmem.learning.tacit import Proposed, propose_tacit
from clawmem.llm.choice import Model
from clawmem.memory.access import Folded, fold_accesses
from clawmem.memory.announced import Settled, settle_announced
from clawmem.memory.curated import Curated, refresh_memory
from clawmem.memory.decay import Decayed, archive_decayed
from clawmem.memory.permission import check_may_write_at_all
from clawmem.memory.summaries import Refreshed, refresh_summaries
from clawmem.memory.token_counts import count_tokens
from clawmem.model.caller import Caller
from clawmem.model.dates import stamp
from clawmem.model.week import days_after, night_of, week_began
from clawmem.vault.beats import Beat, keep_beat, last_beat, made_between, rotate_log, turn
from clawmem.vault.journal import unfolded
from clawmem.vault.scan import HandEdits, remember_untracked
from clawmem.vault.transaction import transaction
from clawmem.vault.upkeep import Upkeep, keep_small
from clawmem.vault.vault import Vault

# Nights that a machine which was off makes up for.
MOST_NIGHTS = 7
_Result = TypeVar("_Result")


class Heartbeat(NamedTuple):
    """What each act did (None where it failed or was not due), the failures by act, every sentence for the person,
    and the commits made, oldest first."""

    noted: Ingested | None = None
    learned: Learned | None = None
    folded: Folded | None = None
    decayed: Decayed | None = None
    synthesized: Synthesized | None = None
    adapted: Adapted | None = None
    promoted: tuple[Promoted, ...] = ()
    proposed: Proposed | None = None
    refreshed: Refreshed | None = None
    curated: Curated | None = None
    upkeep: Upkeep | None = None
    failed: tuple[tuple[str, ClawmemError], ...] = ()
    notices: tuple[str, ...] = ()
    commits: tuple[str, ...] = ()
    embedding: Embedding | None = None
    settled: Settled | None = None
    related: Related | None = None


class _Attempts:
    """Runs acts and remembers what failed; once another writer holds the vault, the rest is not waited for."""

    def __init__(self, told: Callable[[str], None] | None) -> None:
        self._told = told
        self.failed: list[tuple[str, ClawmemError]] = []
        self.commits: list[str] = []
        self.notices: dict[str, None] = {}

    def run(self, name: str, act: Callable[[], _Result]) -> _Result | None:
        """What the act gives, or None where it fails."""
        locked = next((problem for _, problem in self.failed if isinstance(problem, Locked)), None)
        if locked is not None:
            self.failed.append((name, locked))
            return None
        if self._told:
            self._told(f"heartbeat: {name}")
        try:
            done = act()
        except ClawmemError as problem:
            self.failed.append((name, problem))
            return None
        if isinstance(done, Folded):
            self.commits += done.commits
        else:
            commit = getattr(done, "commit", None)
            self.commits += [commit] if commit else []
        self.notices.update(dict.fromkeys(getattr(done, "notices", ())))
        self.failed += ((name, problem) for problem in getattr(done, "problems", ()))
        return done


def beat(
    vault: Vault,
    caller: Caller,
    dry_run: bool = False,
    model: Model | None = None,
    told: Callable[[str], None] | None = None,
) -> Heartbeat:
    """Run every act once, each named to `told`. One that fails does not stop the others; nothing to do makes no commit.
    Where a model did not read everything, what it left is among the failures, and waits.

    Raises Locked where another heartbeat or writer holds the vault longer than `lock.wait_seconds`.
    """
    check_may_write_at_all(vault, caller)
    if dry_run:
        return _acts(vault, caller, last_beat(vault), model, told, dry_run=True)
    with turn(vault, vault.settings.number("lock.wait_seconds")):
        rotate_log(vault)
        with transaction(vault, caller.now, "heartbeat") as started:
            edits = started.adopt()
            notices = tuple(started.notices)
        last = last_beat(vault)
        if _is_done(vault, caller, last):
            count_tokens(vault)  # a new index of the same commit has none
            return _with_edits(Heartbeat(notices=notices), edits)
        start = vault.head().commit
        done = _acts(vault, caller, last, model, told)
        keep_beat(vault, _kept(vault, caller, last, done, start))
        return _with_edits(done._replace(notices=tuple(dict.fromkeys((*notices, *done.notices)))), edits)


def _with_edits(done: Heartbeat, edits: HandEdits) -> Heartbeat:
    """The beat with the edits made by hand that it could not take in among its failures, and in no aside."""
    left = {f"left alone: {problem}" for _, problem in edits.bad}
    failed = tuple(("edits", problem) for _, problem in edits.bad)
    notices = tuple(one for one in done.notices if one not in left)
    return done._replace(failed=(*failed, *done.failed), notices=notices)


def _acts(
    vault: Vault,
    caller: Caller,
    last: Beat,
    model: Model | None,
    told: Callable[[str], None] | None,
    dry_run: bool = False,
) -> Heartbeat:
    acts = _Attempts(told)
    noted = None if dry_run else acts.run("notes", lambda: ingest_notes(vault, caller))
    # What people gave has its triple before the news is read that may take its place.
    related = acts.run("relate", lambda: relate(vault, caller, _read_until(last), dry_run))
    learned = acts.run("learn", lambda: _learn(vault, caller, last, model, dry_run))
    if learned and learned.extraction.problem:
        acts.failed.append(("model", learned.extraction.problem))
    settled = acts.run("settle", lambda: settle_announced(vault, caller, dry_run))
    folded = acts.run("fold", lambda: fold_accesses(vault, caller, dry_run))
    decayed = acts.run("decay", lambda: archive_decayed(vault, caller, dry_run))
    synthesized = acts.run("synthesize", lambda: synthesize(vault, caller, None, last.head, dry_run))
    nights = _nights(vault, caller, last)
    adapted = acts.run("adapt", lambda: adapt(vault, caller, nights[-1], dry_run)) if nights else None
    promoted = _promote(acts, vault, caller, nights, _rest(model, learned), dry_run)
    filled = [one.on for one in promoted if one.noted and one.commit]
    if filled:
        # What was only mentioned is a fact now, and the notes say so.
        acts.run("synthesize", lambda: synthesize(vault, caller, filled))
    proposed = acts.run("tacit", lambda: propose_tacit(vault, caller, dry_run))
    refreshed = acts.run("summaries", lambda: refresh_summaries(vault, caller, dry_run))
    curated = acts.run("memory", lambda: refresh_memory(vault, caller, dry_run))
    upkeep = None if dry_run else acts.run("upkeep", lambda: _upkeep(vault, caller))
    embedding = None if dry_run else acts.run("embed", lambda: embed_missing(vault, day=stamp(caller.now)[:10]))
    if embedding and embedding.problem:
        acts.failed.append(("embed", embedding.problem))
    if not dry_run:
        acts.run("tokens", lambda: count_tokens(vault))
    return Heartbeat(
        noted,
        learned,
        folded,
        decayed,
        synthesized,
        adapted,
        tuple(promoted),
        proposed,
        refreshed,
        curated,
        upkeep,
        tuple(acts.failed),
        tuple(acts.notices),
        tuple(acts.commits),
        embedding,
        settled,
        related,
    )


def _read_until(last: Beat) -> str | None:
    """The commit whose facts were all read, by these very rules."""
    return last.head if last.made == __version__ else None


def _learn(vault: Vault, caller: Caller, last: Beat, model: Model | None, dry_run: bool) -> Learned:
    """Learn from what changed since a beat that read everything: parsing every ledger would be most of the work."""
    days = days_to_read(vault, last.head)
    return Learned(0, (), (), None) if days == frozenset() else learn(vault, caller, dry_run, model, days)


def _promote(
    acts: _Attempts, vault: Vault, caller: Caller, nights: Sequence[str], model: Model | None, dry_run: bool
) -> list[Promoted]:
    """Promote each night's day. A model that failed is not asked again; what it cost counts for the next night."""
    promoted: list[Promoted] = []
    for day in nights:
        done = acts.run("promote", lambda day=day, model=model: promote(vault, caller, day, dry_run, model))  # type: ignore[misc]
        if done is None:
            continue
        promoted.append(done)
        model = _less(model, done.run, "cents", "milliseconds")
        if done.problem:
            acts.failed.append(("model", done.problem))
            model = None
    return promoted


def _rest(model: Model | None, learned: Learned | None) -> Model | None:
    """The model with the money that learning left of this beat's; None where it could not be used at all."""
    if model is None or learned is None:
        return None
    read = learned.extraction
    failed = isinstance(read.problem, ModelFailed) or (read.model is not None and read.by_rules)
    return None if failed else _less(model, read.run, "cents")


def _less(model: Model | None, run: Mapping[str, Any] | None, *spent: str) -> Model | None:
    """The model with its limits, less what a run has spent of them."""
    if model is None or run is None:
        return model
    left = {key: max(0, getattr(model.limits, key) - run.get(key, 0)) for key in spent}
    return model._replace(limits=model.limits._replace(**left))


def _nights(vault: Vault, caller: Caller, last: Beat) -> Sequence[str]:
    """The days whose night has come and that no beat promoted yet."""
    return days_after(last.promoted, night_of(caller.now, vault.settings.whole("promotion.hour")), MOST_NIGHTS)


def _week(vault: Vault, caller: Caller) -> str:
    settings = vault.settings
    return stamp(week_began(caller.now, settings.words("summary.weekly_day"), settings.whole("summary.weekly_hour")))


def _is_done(vault: Vault, caller: Caller, last: Beat) -> bool:
    """Whether nothing changed since the last complete beat: no commit, no use, no new day, week or night."""
    return (
        last.head is not None
        and last.head == vault.head().commit
        and last.made == __version__
        and last.day == stamp(caller.now)[:10]
        and last.week == _week(vault, caller)
        and not _nights(vault, caller, last)
        and not unfolded(vault)
        and not awaits_embedding(vault)
    )


def _kept(vault: Vault, caller: Caller, last: Beat, done: Heartbeat, start: str | None) -> Beat:
    """What to remember of this beat. It counts as complete where nothing failed and nobody else wrote meanwhile."""
    failed = {name for name, _ in done.failed}
    promoted = last.promoted if failed & {"adapt", "promote"} else _last_night(done, last)
    head = vault.head().commit
    between = made_between(vault, start, head) if start and head and start != head else frozenset()
    if failed or between is None or not between <= set(done.commits):
        return last._replace(promoted=promoted)
    return Beat(head, __version__, stamp(caller.now)[:10], _week(vault, caller), promoted)


def _last_night(done: Heartbeat, last: Beat) -> str | None:
    return done.promoted[-1].on if done.promoted else last.promoted


def _upkeep(vault: Vault, caller: Caller) -> Upkeep:
    with transaction(vault, caller.now, "upkeep"):
        remember_untracked(vault)
    # Without the lock: writers need not wait until a large repository is packed.
    return keep_small(vault, vault.settings.whole("upkeep.loose_objects"))
