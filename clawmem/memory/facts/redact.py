"""Redact: remove a secret from the whole history. A tombstone and a record of the redaction stay."""

from __future__ import annotations

import base64
import html
import json
import re
import unicodedata
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import lru_cache, partial
from typing import Any, NamedTuple

from clawmem.errors import InvalidInput, NotFound, Refused, Unreadable
from clawmem.index.refresh import run_query
from clawmem.index.search.lookup import PlacedFact, all_facts, event_day, facts_from_event, find_fact
from clawmem.index.tables.store import Index
from clawmem.memory.history.why import find_event
from clawmem.memory.proposals import read_proposals
from clawmem.model.facts.codec import fact_from_record, fact_to_line, parse_items, render_items
from clawmem.model.facts.fact import RETRACTED
from clawmem.model.facts.pulled import origin_of
from clawmem.model.history.redaction import (
    RECORD,
    SHORTEST_REDACTION,
    RedactionRecord,
    adjust_fact,
    hard_to_guess,
    redacted,
    secrets_in,
    with_record,
)
from clawmem.model.language.dates import day_of, stamp
from clawmem.model.language.text import counted
from clawmem.model.proposals.proposal import (
    OPEN,
    REJECTED,
    ReviewDecision,
    parse_proposal,
    proposal_path,
    render_proposal,
    stated_by,
)
from clawmem.model.records.access import mark_from
from clawmem.model.records.caller import Caller
from clawmem.model.records.change import Change, subject_line, trailers
from clawmem.model.records.entity import items_path
from clawmem.model.records.event import MARK, Event, event_to_line, ledger_path, line_of, marked_by, parse_events
from clawmem.model.safety.written_forms import Needle, compile_needles, contains
from clawmem.vault.commit.fast_import import import_stream
from clawmem.vault.commit.pending import PendingCommit
from clawmem.vault.commit.secret_gate import allowed
from clawmem.vault.commit.transaction import Transaction, transaction
from clawmem.vault.git.git import personal_identity
from clawmem.vault.history import redaction
from clawmem.vault.history.redaction import REWRITTEN_REFS, RewriteResult, preview_rewrite, rewrite
from clawmem.vault.state.own_commits import record_commits, rename_commits
from clawmem.vault.vault import Vault

_A_PERSON = "a person"


class RedactResult(NamedTuple):
    """The effect of a redaction, or of its dry run.

    `commits` contained the text; `renamed` is the number of commits with a new hash. `facts` and `events` contained
    the text. `remains` are places that still contain it. `remotes` still have the old history."""

    commits: tuple[str, ...]
    renamed: int
    facts: tuple[PlacedFact, ...]
    events: tuple[str, ...]
    old_head: str
    new_head: str | None
    remains: tuple[str, ...]
    remotes: tuple[str, ...]
    notices: tuple[str, ...] = ()


class RedactTarget(NamedTuple):
    """What to redact: for a fact or an event the credentials in it, or all of its text if it has none; `texts` as they
    are, with the facts that state them."""

    fact: str | None = None
    event: str | None = None
    pattern: str | None = None
    texts: tuple[str, ...] = ()
    stated: tuple[str, ...] = ()
    """The ids of the facts that are removed as a whole."""
    tags: tuple[tuple[str, str], ...] = ()
    """Tags that facts lose: the id of each, and the tag."""


class _AffectedRecords(NamedTuple):
    """The parts of the current vault that contain the text: facts, events with their days, and facts that cite them."""

    facts: tuple[PlacedFact, ...]
    events: Mapping[str, str]
    citing: tuple[PlacedFact, ...]


def redact(
    vault: Vault, what: RedactTarget, caller: Caller, reason: str | None = None, dry_run: bool = False
) -> RedactResult:
    """Remove a secret from the history and from all files beside it, then search for it everywhere.

    Raise NotFound if nothing contains the text, Refused for a pulled fact that is not
    retracted, and Refused or NeedsDecision if the history cannot be rewritten completely.
    """
    reason = allowed(vault.settings, reason, "The reason") if reason else None
    if caller.session:
        caller = caller._replace(session=allowed(vault.settings, caller.session, "The session", is_name=True))
    with transaction(vault, caller.now, "redact") as txn:
        txn.adopt()
        redaction.check_can_redact(vault)
        texts, records = _find_affected(vault, what)
        wanted = compile_needles(tuple(texts))
        without = partial(redacted, wanted=wanted, quoting=_quoting(records, texts), stated=what.stated, tags=what.tags)
        refs = redaction.list_refs(vault)
        would = preview_rewrite(vault, _rewritten_refs(refs), without)
        heads = (vault.head().commit or "", None)
        if dry_run or not would.held:
            left = redaction.find_remains(vault, partial(contains_text, texts=texts)) if not would.held else []
            if not would.held and not left:
                raise NotFound("No commit and no file contains that text.", "Give it exactly as it was written.")
            if dry_run or not any(text.startswith(".git") for text in left):
                return _result(vault, would, records, wanted, heads, left, txn)
        return _rewrite_history(txn, texts, records, refs, caller, reason, without)


def _find_affected(vault: Vault, what: RedactTarget) -> tuple[tuple[str, ...], _AffectedRecords]:

    def looked_up(index: Index) -> tuple[tuple[str, ...], _AffectedRecords]:
        texts = _texts_to_redact(vault, index, what)
        return texts, _affected_records(vault, index, compile_needles(tuple(texts)))

    return run_query(vault, looked_up)


def _texts_to_redact(vault: Vault, index: Index, what: RedactTarget) -> tuple[str, ...]:
    if what.texts or what.tags:
        found = what.texts
    elif what.pattern is not None:
        found = (what.pattern.strip("\n"),)
    elif what.event is not None:
        event = find_event(vault, index, what.event)
        if event is None:
            raise NotFound(f"There is no event '{what.event}'.", "`clawmem show ID` shows the event of a fact.")
        day = ledger_path(day_of(event.timestamp))
        others = parse_events(vault.read(day) or b"", day)
        lines = [each.text for each in others if line_of(each) == event.id]
        marks = [mark_from((other.metadata or {}).get(MARK)) for other in others if marked_by(other) == event.id]
        proposals = (each for each in read_proposals(vault).proposals if each.source_event == event.id)
        lines += [text for proposal in proposals for text in stated_by(proposal)]
        found = secrets_in([event.text, *lines, *(part.words for mark in marks for part in mark.parts)])
    elif what.fact is not None:
        fact = find_fact(index, what.fact).fact
        if fact.status != RETRACTED and (origin := origin_of(fact)) is not None:
            raise Refused(
                f"{fact.id} is a fact of the organisation {origin.org}, which is read-only here.",
                "Ask the people of its vault to redact it; the next `clawmem org pull` follows. Or retract the copies"
                " with `clawmem org disconnect --retract` and redact this one then.",
            )
        found = secrets_in([fact.fact, fact.object, fact.subject, fact.source_text])
    else:
        raise InvalidInput(
            "There is nothing to redact.", "Name a fact, or --event ID, or --pattern TEXT (or - for stdin)."
        )
    short = next((text for text in found if len(" ".join(text.split())) < SHORTEST_REDACTION), None)
    if short is not None:
        raise InvalidInput(
            f"The text has only {len(short)} characters and would be removed from every word that contains it.",
            f"Give at least {SHORTEST_REDACTION}.",
        )
    return found


def _affected_records(vault: Vault, index: Index, wanted: Sequence[Needle]) -> _AffectedRecords:
    facts = tuple(placed for placed in all_facts(index) if contains(fact_to_line(placed.fact).encode(), wanted))
    events: dict[str, str] = {}
    for path in sorted((vault.root / "ledger").glob("*.jsonl")):
        name = f"ledger/{path.name}"
        data = vault.read(name) or b""
        for event in parse_events(data, name) if contains(data, wanted) else ():
            if contains(event_to_line(event).encode(errors="surrogatepass"), wanted):
                events[event.id] = event_day(index, event.id) or path.stem
    known = {placed.fact.id for placed in facts}
    citing = (placed for event in events for placed in facts_from_event(index, event) if placed.fact.id not in known)
    return _AffectedRecords(facts, events, tuple(citing))


def _quoting(records: _AffectedRecords, texts: Sequence[str]) -> frozenset[str]:
    """Return the ids of facts that quote a part of a text."""
    quotes = {placed.fact.id: placed.fact.source_text for placed in records.citing}
    return frozenset(key for key, quote in quotes.items() if quote and any(quote in text for text in texts))


def _rewritten_refs(refs: Sequence[redaction.RepositoryRef]) -> list[str]:
    """Return the refs whose history is rewritten. Annotated tags are rewritten later."""
    return [ref.name for ref in refs if ref.kind == "commit" and not ref.name.startswith("refs/remotes/")]


def _rewrite_history(
    txn: Transaction,
    texts: Sequence[str],
    records: _AffectedRecords,
    refs: Sequence[redaction.RepositoryRef],
    caller: Caller,
    reason: str | None,
    without: Callable[[bytes], bytes],
) -> RedactResult:
    vault = txn.vault
    head = vault.head()
    wanted = compile_needles(tuple(texts))
    assert head.branch and head.commit
    txn.notices += redaction.begin_redaction(vault)
    new = rewrite(vault, _rewritten_refs(refs), without)
    base = new.names[head.commit]
    change = _tombstone_change(vault, texts, records, new, base, caller, reason) if new.held else None
    tip = _commit_tombstone(vault, change, head.branch, base, caller) if change else base
    # Git handles files whose names clawmem cannot use. The search afterwards reports what remains in them.
    paths = [path for path in vault.changed_paths(head.commit, tip) if "\\" not in path]
    pending = PendingCommit(head.commit, tuple(paths), change.subject if change else "", ())
    moves = _ref_updates(vault, refs, new, wanted)
    moves[head.branch] = (head.commit, tip)
    redaction.switch_refs(vault, moves, pending)
    rename_commits(vault, new.names)
    record_commits(vault, [tip], None)
    left = tuple(redaction.find_remains(vault, partial(contains_text, texts=tuple(texts))))
    return _result(vault, new, records, wanted, (head.commit, tip), left, txn)


def _commit_tombstone(vault: Vault, change: Change, branch: str, base: str, caller: Caller) -> str:
    """Commit the tombstone on the new history under a temporary ref. All refs are moved together later."""
    aside = REWRITTEN_REFS + branch.removeprefix("refs/")
    data = import_stream([change], aside, base, int(caller.now.timestamp()))
    return vault.git.run("fast-import", "--quiet", "--done", stdin=data).decode().split()[-1]


def _ref_updates(
    vault: Vault, refs: Sequence[redaction.RepositoryRef], new: RewriteResult, wanted: Sequence[Needle]
) -> dict[str, tuple[str, str | None]]:
    """Return the old and new target of each ref. Remote-tracking refs are deleted."""
    moves: dict[str, tuple[str, str | None]] = {}
    for ref in refs:
        if ref.name.startswith("refs/remotes/"):
            moves[ref.name] = (ref.target, None)
        elif ref.kind == "tag":
            moves[ref.name] = (ref.target, _rewritten_tag(vault, ref, new, wanted))
        elif ref.target in new.names:
            moves[ref.name] = (ref.target, new.names[ref.target])
    return moves


def _rewritten_tag(
    vault: Vault, ref: redaction.RepositoryRef, new: RewriteResult, wanted: Sequence[Needle]
) -> str | None:
    """Return the new tag object, or None if its commit is not on a branch: then the tag is deleted."""
    if ref.commit not in new.names:
        return None
    text = vault.git.run("cat-file", "tag", ref.target).replace(ref.commit.encode(), new.names[ref.commit].encode())
    return vault.git.run("hash-object", "-t", "tag", "-w", "--stdin", stdin=redacted(text, wanted)).decode().strip()


def _tombstone_change(
    vault: Vault,
    texts: Sequence[str],
    records: _AffectedRecords,
    new: RewriteResult,
    base: str,
    caller: Caller,
    reason: str | None,
) -> Change:
    """Return the commit that documents the redaction: the record, the marked facts and the adjusted quote spans."""
    at, person, needles = stamp(caller.now), personal_identity(vault.git), compile_needles(tuple(texts))
    by = person.name if person and not contains(person.name.encode(), needles) else _A_PERSON
    head = vault.head().commit
    record = RedactionRecord(
        at, by, reason, tuple(placed.fact.id for placed in records.facts), tuple(records.events), len(new.held),
        head if hard_to_guess(texts) else None, base,
    )  # fmt: skip
    try:
        kept = with_record(vault.contents_at(base, [RECORD])[RECORD], record)
    except ValueError as problem:
        raise Unreadable(RECORD, None, str(problem)) from None
    writes: dict[str, bytes | None] = {RECORD: kept}
    writes.update(_items_writes(vault, records, base, {"at": at, **({"reason": reason} if reason else {})}))
    writes.update(_proposals_after(vault, base, needles, ReviewDecision(by, at, "redacted")))
    words = f"a secret, out of {counted(len(new.held), 'commit')}" + (f" (because: {reason})" if reason else "")
    items = trailers(
        "redact",
        facts=[placed.fact.id for placed in records.facts],
        entities=list(dict.fromkeys(placed.entity for placed in records.facts)),
        session=caller.session,
        events=records.events,
    )
    return Change(subject_line("redact", "vault", words), writes, items)


def _proposals_after(
    vault: Vault, base: str, wanted: Sequence[Needle], decided: ReviewDecision
) -> Iterator[tuple[str, bytes]]:
    """Yield the open proposals that lost words to the redaction, as rejected: approved, they would store its marks."""
    paths = [
        proposal_path(proposal.id)
        for proposal in read_proposals(vault).proposals
        if proposal.status == OPEN and any(contains(text.encode(), wanted) for text in stated_by(proposal))
    ]
    for path, data in vault.contents_at(base, paths).items():
        if data is not None:
            proposal = parse_proposal(data, path)._replace(status=REJECTED, decided=decided)
            yield path, render_proposal(proposal)


def _items_writes(
    vault: Vault, records: _AffectedRecords, base: str, remark: Mapping[str, str]
) -> Iterator[tuple[str, bytes]]:
    events = _events_after(vault, records, base)
    marked = {placed.fact.id for placed in records.facts}
    by_entity: dict[str, set[str]] = defaultdict(set)
    for placed in (*records.facts, *records.citing):
        by_entity[items_path(placed.entity)].add(placed.fact.id)
    for path, data in vault.contents_at(base, by_entity).items():
        if data is not None:
            facts = [
                adjust_fact(fact, events.get(fact.source_event or ""), remark, fact.id in marked)
                if fact.id in by_entity[path]
                else fact
                for fact in parse_items(data, path)
            ]
            yield path, render_items(facts)


def _events_after(vault: Vault, records: _AffectedRecords, base: str) -> dict[str, Event]:
    """Return the affected events after the rewrite."""
    ledgers = vault.contents_at(base, {ledger_path(day) for day in records.events.values()})
    found = (event for path, data in ledgers.items() if data for event in parse_events(data, path))
    return {event.id: event for event in found if event.id in records.events}


def _result(
    vault: Vault,
    result: RewriteResult,
    records: _AffectedRecords,
    wanted: Sequence[Needle],
    heads: tuple[str, str | None],
    left: Sequence[str],
    txn: Transaction,
) -> RedactResult:
    facts = tuple(
        PlacedFact(fact_from_record(json.loads(redacted(fact_to_line(placed.fact).encode(), wanted))), placed.entity)
        for placed in records.facts
    )
    remotes = tuple(vault.git.run("remote").decode().split())
    return RedactResult(
        result.held, result.renamed, facts, tuple(records.events), *heads, tuple(left), remotes, tuple(txn.notices)
    )


_DEEPEST = 24
_SHORTEST_CUT = 6
_CUT = "…"
# Match a run of backslashes from its start only; else this takes quadratic time.
_CODE = re.compile(r"(?<!\\)\\++(?:u([0-9a-fA-F]{4})|x([0-9a-fA-F]{2})|U([0-9a-fA-F]{8}))")
_PERCENT = re.compile(rb"%([0-9a-fA-F]{2})")
_OCTAL = re.compile(rb"\\([0-3][0-7]{2})")
_CONTROL = re.compile(r"(?<!\\)\\++[nrtbf]")
_SKIPPED = re.compile(r"[\\\s\u00a0]+")
_RUN = r"[A-Za-z0-9+/_-]"
_LONGEST_BASE64 = 1 << 20


def contains_text(data: bytes, texts: tuple[str, ...]) -> bool:
    """Return whether one of the texts can be read from the data."""
    wanted = tuple(dict.fromkeys(bare for text in texts for bare in (_bare(text), _bare(text.casefold())) if bare))
    return any(_says(text, wanted) for text in _readings(data)) or _is_encoded(data, wanted)


@lru_cache(maxsize=16)
def _bare(text: str) -> str:
    """Return the text without the characters that vary between spellings."""
    return _SKIPPED.sub("", unicodedata.normalize("NFC", text)).replace("''", "'")


def _says(text: str, wanted: Iterable[str]) -> bool:
    bare = _bare(text)
    return any(name in bare for name in wanted) or (_CUT in bare and any(_is_cut(bare, name) for name in wanted))


def _is_cut(bare: str, text: str) -> bool:
    """Return whether the data has a beginning of the text, followed by the sign for cut text."""
    for piece in bare.split(_CUT)[:-1]:
        tail = piece[-len(text) :]
        start = tail.rfind(text[:_SHORTEST_CUT])
        while start >= 0:
            if text.startswith(tail[start:]) and len(text) > _SHORTEST_CUT:
                return True
            start = tail.rfind(text[:_SHORTEST_CUT], 0, start + _SHORTEST_CUT - 1)
    return False


def _readings(data: bytes) -> Iterator[str]:
    """Yield what the data says: as text, as JSON strings, and with escapes decoded."""
    text = data.decode(errors="surrogateescape")
    yield text
    if not data.isascii():
        yield data.decode("latin-1")
    yield from _strings_of(text)
    if "\\" in text:
        plain = _CODE.sub(_character, text)
        joined = plain.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
        yield joined
        yield _CONTROL.sub(" ", joined)
        yield _OCTAL.sub(lambda match: bytes([int(match[1], 8)]), data).decode(errors="replace")
    if "&" in text:
        yield html.unescape(text)
    for _ in range(3):
        if "%" not in text:
            return
        data = _PERCENT.sub(lambda match: bytes([int(match[1], 16)]), text.encode(errors="surrogateescape"))
        text = data.decode(errors="surrogateescape")
        yield text


def _character(match: re.Match[str]) -> str:
    number = int(match[1] or match[2] or match[3], 16)
    return chr(number) if number < 0x110000 else match[0]


def _strings_of(text: str) -> Iterator[str]:
    """Yield every string in JSON or JSON lines, including strings inside JSON strings."""
    waiting: list[tuple[Any, int]] = [(value, 0) for value in _parsed(text)]
    while waiting:
        value, depth = waiting.pop()
        if isinstance(value, dict):
            waiting += [(key, depth) for key in (*value.keys(), *value.values())]
        elif isinstance(value, list):
            waiting += [(other, depth) for other in value]
        elif isinstance(value, str):
            yield value
            if depth < _DEEPEST and value.lstrip()[:1] in ("{", "[", '"'):
                waiting += [(other, depth + 1) for other in _parsed(value)]


def _parsed(text: str) -> Iterator[Any]:
    if text.lstrip()[:1] not in ("{", "[", '"'):
        return
    try:
        yield json.loads(text)
        return
    except (ValueError, RecursionError):
        pass
    for line in text.splitlines():
        try:
            yield json.loads(line.strip().rstrip(","))
        except (ValueError, RecursionError):
            continue


def _is_encoded(data: bytes, wanted: Iterable[str]) -> bool:
    """Return whether a run of base64 or hexadecimal digits encodes one of the texts."""
    shortest = min((len(text.encode(errors="surrogatepass")) for text in wanted), default=6)
    # A base64 run shorter than the encoded text cannot contain it.
    for match in re.finditer(f"{_RUN}{{{shortest * 4 // 3},}}", data.decode("latin-1")):
        run = match[0][:_LONGEST_BASE64]
        for plain in _decoded(run):
            if _says(plain.decode(errors="replace"), wanted):
                return True
    return False


def _decoded(run: str) -> Iterator[bytes]:
    letters = run[:-1] if len(run) % 4 == 1 else run
    padded = letters + "=" * (-len(letters) % 4)
    with suppress(ValueError):
        yield base64.b64decode(padded.replace("-", "+").replace("_", "/"), validate=True)
    with suppress(ValueError):
        yield bytes.fromhex(run[: len(run) // 2 * 2])
