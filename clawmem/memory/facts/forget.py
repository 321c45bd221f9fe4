"""Forget on request: what is meant is hidden at once from all that is served, and a person decides about it."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from functools import partial
from itertools import chain
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Any, NamedTuple

from clawmem.errors import NotFound
from clawmem.index.search.events import events_by_id
from clawmem.index.search.lookup import (
    PlacedFact,
    all_facts,
    by_ids,
    facts_containing,
    facts_of,
)
from clawmem.memory.conflicts import without_questions
from clawmem.memory.facts.targets import (
    ALL,
    ITSELF,
    JUST_SAID,
    Named,
    asks_more,
    facts_meant,
    facts_named,
    has_names,
    is_meant,
    named_entity,
    nearest_to,
    of_longer_names,
    of_others,
    only_of,
    own_before,
    rest_of,
    said_of_one_named,
    spellings_in,
    successors_named,
    words_meant,
)
from clawmem.memory.pages.summaries import daily_pages_after, daily_pages_without, index_after, pages_after
from clawmem.memory.proposals import proposal_trailers, proposal_writes, read_proposals
from clawmem.memory.scope import WriteScope
from clawmem.memory.writing import writing
from clawmem.model.facts.codec import fact_from_record, fact_to_record
from clawmem.model.facts.fact import (
    ACTIVE,
    FACT_PREFIX,
    FORGOTTEN,
    GUARDRAIL,
    LINK_TYPES,
    RETRACTED,
    REVOKED,
    SUPERSEDED,
    Fact,
    is_never_true,
)
from clawmem.model.facts.fact_words import without_because
from clawmem.model.history.entry import FORGET
from clawmem.model.language.dates import day_of, stamp
from clawmem.model.language.text import counted, near_name, one_line
from clawmem.model.pages.daily import note_lines, with_notes_back
from clawmem.model.proposals.proposal import (
    DECIDE,
    OPEN,
    REJECTED,
    Proposal,
    ProposalTarget,
    new_proposal_id,
    stated_by,
)
from clawmem.model.proposals.quarantine import judged_mark
from clawmem.model.records.caller import Caller
from clawmem.model.records.change import Change, agent_author, subject_line, trailers
from clawmem.model.records.cursor import CURSOR_PATH, parse_cursor, read_up_to, render_cursor
from clawmem.model.records.entity import kind_of, title_of
from clawmem.model.records.event import (
    Event,
    event_to_line,
    is_of_person,
    is_of_user,
    ledger_path,
    parse_events,
    with_withheld,
)
from clawmem.model.records.session import (
    HIDDEN_WORDS,
    JUDGED,
    parse_session,
    render_session,
    session_to_mapping,
)
from clawmem.model.records.strict_json import texts_in
from clawmem.model.search.meant import (
    PERSON,
    SPECIAL,
    Statement,
    as_written,
    is_code,
    is_name,
    means,
    places_of,
    repeats,
    statement_of,
    telling_words,
    tokens_of,
)
from clawmem.vault.strict_yaml import parse_yaml
from clawmem.vault.vault import Vault

if TYPE_CHECKING:
    from clawmem.memory.facts.redact import RedactResult

KIND = FORGET
_HIDDEN, _WITHHELD = "hidden", "withheld"
STAYS = "stays"  # in the details of a proposal: what it names is shown until a person decides
_BESIDE = ("details", "links", "tags", "metadata")
_SESSIONS = "sessions"  # in the details of a proposal: what sessions handed on
_HANDED_ON = ("task", "notes", "checkpoints", "summary", "reflection", "warnings")
_KEPT = "beside"  # in the details of a proposal: what stood beside facts that stay
_SENTENCE = re.compile(r"\S(?:[^\n.!?…]|[.!?…]+(?![\s\"'”’)]))*(?:[.!?…]+[\"'”’)]*|$|(?=\n))|\S", re.MULTILINE)
# A part of a sentence up to a comma that a blank follows.
_CLAUSE = re.compile(r"\S(?:[^\n.!?…,;]|[.!?…,;]+(?![\s\"'”’)]))*(?:[.!?…,;]+[\"'”’)]*|$|(?=\n))|\S", re.MULTILINE)
_PARTS = re.compile(r"[,;]|\b(?:and|und|y|et)\b", re.IGNORECASE)
_LONGEST_SHOWN, _MOST_SHOWN = 120, 10
# A message of which fewer telling words would be left is hidden as a whole.
_FEWEST_LEFT = 2
_MOST_STATED, _LONGEST_STATED = 20, 2000
# A message with a value that was to be forgotten only repeats it: it is a question, or says that the value goes.
_REPEATS = re.compile(
    r"\?|\b(?:delet|forg|remov|eras|dropp|retir|former|no longer|obsolete|unavailable|gelösch|lösch|verg[ae]ss|"
    r"entfern|nicht mehr|ehemalig|olvid|borr|elimin|ya no|oubli|effac|supprim|retir|ne plus)",
    re.IGNORECASE,
)


class Forgetting(NamedTuple):
    """What a request hides: the facts as they are then, the events with the words that go as their text, the proposal
    (None: a person asked for it here), the change, the lines of daily notes, the facts as they were, how many facts and
    messages stay that have the words, as parts of longer names or of what was hidden in part, each text that goes
    from a message, the proposals that say it, the ids of facts that say more than what was named, and what is spelled
    nearly like what was named, or is its name in other letters, and stays. `beside` are the texts that go from beside
    facts that stay: reasons, details and tags. `rests` are new facts: what facts that go say beside what was named."""

    facts: tuple[PlacedFact, ...]
    events: tuple[Event, ...]
    proposal: Proposal | None
    change: Change
    notes: tuple[str, ...] = ()
    before: tuple[PlacedFact, ...] = ()
    stay: int = 0
    texts: tuple[str, ...] = ()
    proposed: tuple[Proposal, ...] = ()
    more: tuple[str, ...] = ()
    near: tuple[str, ...] = ()
    beside: tuple[tuple[str, str], ...] = ()
    rests: tuple[PlacedFact, ...] = ()


def plan_forgetting(
    work: WriteScope, targets: Sequence[Named], request: Event | None = None, certain: bool = False, **rest: Any
) -> Forgetting | None:
    """Return what a request to forget hides, or None if nothing that is known is meant, or it was asked before. A
    `certain` request is hidden also if nothing else is known. What others than the user ask goes at once if they said
    it or are the person concerned; of what else they may see, they only propose it.

    The facts and messages with these `ids` are meant, or else what the targets name; `fresh` are facts that are not
    stored yet. What says the same is hidden, with the request: the sentences of a message, or all of a short one.
    `read` reads a file of the vault. All facts of an `entity` are meant. What was replaced is still served as a former
    state, so it is meant, too; with `everywhere`, also what was hidden before.
    """
    plan = partial(_plan, work, targets, request, **rest)
    if request is not None and not is_of_person(request):
        return plan(certain=certain, stays=True)  # an agent that says so is not the person
    if request is None or is_of_user(request, work.vault.settings.words("user.name")):
        return plan(certain=certain)
    from clawmem.index.tables.rights import messages_of  # few requests are of others

    concerns, sees = messages_of(work.vault, work.index, request.speaker or "", stamp(work.caller.now))
    found = plan(reached=concerns) or plan(reached=lambda event: concerns(event) or sees(event), stays=True)
    return found or (plan(reached=concerns, certain=True) if certain else None)


class _Known(NamedTuple):
    """What a request may mean: the messages of each ledger, those of them that count, the facts that count and all
    facts, the messages of whoever asks before the request, and the lines of notes."""

    ledgers: Mapping[str, Sequence[Event]]
    events: Sequence[Event]
    facts: Sequence[PlacedFact]
    every: Sequence[PlacedFact]
    before: Sequence[Event]
    noted: Sequence[Event]


class _Meant(NamedTuple):
    """What a request means: facts, the words that name something, and the ids of messages and facts. It is `unsure` if
    the words fit several people, or a fact that says it in other words."""

    facts: Sequence[PlacedFact]
    wordings: Sequence[tuple[str, ...]]
    ids: Collection[str]
    unsure: bool = False

    @property
    def all_wordings(self) -> list[tuple[str, ...]]:
        """Return the words of the facts, and those that name something."""
        return [*_wordings_of(self.facts), *self.wordings]


def _plan(
    work: WriteScope,
    targets: Sequence[Named],
    request: Event | None = None,
    ids: Collection[str] = (),
    fresh: Sequence[PlacedFact] = (),
    read: Callable[[str], bytes | None] | None = None,
    taken: Collection[str] = (),
    everywhere: bool = False,
    certain: bool = False,
    entity: str | None = None,
    reached: Callable[[Event], bool] | None = None,
    stays: bool = False,
    decided: Proposal | None = None,
    says: str = "",
    others: Collection[str] = (),
) -> Forgetting | None:
    """Return the same of the messages that are `reached` (None: all). What `stays` until a person decides is only
    proposed, and hidden once the proposal is `decided`. Of a fact that `says` more than a person's words name, the rest
    stays, as a fact; facts of `others` stay as they are."""
    if request and any(
        other_proposal.kind == KIND and other_proposal.source_event == request.id
        for other_proposal in read_proposals(work.vault).proposals
    ):
        return None
    read = read or work.read
    known = _known(work, request, ids, fresh, read, everywhere, reached)
    known = known._replace(facts=[placed for placed in known.facts if placed.fact.id not in others])
    meant = _meant(work, known, targets, request, ids, everywhere, entity)
    identity = new_proposal_id(work.caller.entropy, taken)
    mark = decided.id if decided else identity if request else day_of(stamp(work.caller.now))
    hidden = _hidden(known, request, meant, mark)
    itself = ITSELF in targets
    going = [_going(event, mark) for many in hidden.values() for event in many.values()]
    taught = [event.text for event in going if not request or event.id != request.id or itself]
    stated = _stated((*(placed.fact.fact for placed in meant.facts), *taught, *map(" ".join, meant.wordings)))
    hidden = _hidden(known, request, meant, mark, stated)
    messages = tuple(_going(event, mark) for many in hidden.values() for event in many.values())
    other_told = any(not request or message.id != request.id for message in messages)
    named = any(means(words, note.text) for words in meant.wordings for note in known.noted)
    if not (meant.facts or certain or itself or other_told or named):
        return None
    notes: list[str] = []

    def is_gone(agent: str | None, day: str, text: str) -> bool:
        gone = not reached and (text in taught or bool(_spans(text, meant.all_wordings, (), stated)))
        notes.extend([text] * gone)
        return gone

    rules = any(placed.fact.category == GUARDRAIL for placed in meant.facts)  # no message ends one, whoever wrote it
    stays = stays or rules or meant.unsure
    goes = partial(is_gone, None, "")
    beside, trimmed = ([], []) if stays else _gone_beside(known.every, meant.facts, goes)
    sessions, said = ({}, {}) if stays else _gone_from_sessions(work, goes)
    notes.clear()
    proposal = _proposal(work, identity, request, meant, messages, stays, trimmed, said) if request else None
    gone = _retracted(work, meant.facts, identity if request else None)
    if request and stays:
        gone = ()
        hidden = {path: {request.id: many[request.id]} for path, many in hidden.items() if request.id in many}
    parted = [placed for placed in meant.facts if says and placed.fact.is_current]
    rests = {placed.fact.id: rest for placed in parted if (rest := rest_of(work, says, placed))}
    changed_facts = (*gone, *trimmed, *rests.values())
    writes: dict[str, bytes | None] = {
        **work.items_with(changed_facts),
        **{path: _with_events(path, read, changed) for path, changed in hidden.items()},
        **pages_after(work, changed_facts),
        **index_after(work, changed_facts),
        **sessions,
        **daily_pages_without(work, {placed.fact.id for placed in changed_facts}, is_gone, f"hidden by {mark}"),
        **(proposal_writes([proposal]) if proposal else {}),
    }
    other_text = f"{counted(len(gone), 'fact')} and {counted(sum(map(len, hidden.values())), 'message')}"
    rows = trailers(
        KIND, facts=[each.fact.id for each in changed_facts], entities=sorted({each.entity for each in changed_facts})
    )
    subject = subject_line(KIND, "vault", f"{other_text} hidden{' until a person decides' if proposal else ''}")
    rows = (*rows, *(proposal_trailers([proposal]) if proposal else ()))
    change = Change(subject, writes, rows, author=agent_author(work.caller.agent))
    proposed = _proposed(work, {message.id for message in messages}, meant.all_wordings, everywhere)
    change = without_questions(work, change, {placed.fact.id for placed in gone}, proposed)
    changed = {event_id: event for many in hidden.values() for event_id, event in many.items()}
    texts = dict.fromkeys(text for event in changed.values() for text in _texts(event, mark))
    found = Forgetting(
        gone, messages, proposal, change, tuple(dict.fromkeys(notes)), tuple(meant.facts), 0, tuple(texts), proposed,
        beside=tuple(beside), rests=tuple(rests.values()),
    )  # fmt: skip
    return found if request else _with_what_stays(found, known, meant, changed, rests, entity)


def _known(
    work: WriteScope,
    request: Event | None,
    ids: Collection[str],
    fresh: Sequence[PlacedFact],
    read: Callable[[str], bytes | None],
    everywhere: bool,
    reached: Callable[[Event], bool] | None,
) -> _Known:
    ledgers = _ledgers(work, read, request)
    if everywhere:
        ledgers = {path: tuple(map(_shown_again, many)) for path, many in ledgers.items()}
    every = [*all_facts(work.index), *fresh]
    texts = [event for many in ledgers.values() for event in many]
    group = {event.id for event in texts if reached and reached(event)}
    facts = [placed for placed in every if everywhere or placed.fact.status != RETRACTED]
    facts = [placed for placed in facts if not reached or placed.fact.source_event in group]
    events = [event for event in texts if not event.recalled and (not reached or event.id in group)]
    if request is None:
        return _Known(ledgers, events, facts, every, [], _noted(work, every))
    # A request means what was said before it, also where a whole conversation is read at once.
    later = {event.id for event in events if event.timestamp > request.timestamp} - set(ids)
    events = [event for event in events if event.id not in later]
    facts = [placed for placed in facts if placed.fact.source_event not in later]
    return _Known(ledgers, events, facts, every, own_before(events, request), [])


def _meant(
    work: WriteScope,
    known: _Known,
    targets: Sequence[Named],
    request: Event | None,
    ids: Collection[str],
    everywhere: bool,
    entity: str | None,
) -> _Meant:
    ids = {*ids, *(event.id for event in known.before[-1:] if JUST_SAID in targets)}
    reached = {event.id for event in known.events}
    ids = {each for each in ids if each in reached or not each.startswith("evt_")}
    wordings: list[tuple[str, ...]] = []
    fitting: list[PlacedFact] = []
    unsure = False
    current = [placed for placed in known.facts if everywhere or placed.fact.is_current]
    for target in targets:
        by_name = said_of_one_named(target, known.before) if request and not ALL.search(request.text) else {}
        words = words_meant(target, current, [*known.events, *known.noted], request, by_name)
        words = words or words_meant(target, known.facts, [], request, by_name)
        words = words or (telling_words(target[0]) if ITSELF in targets and target else ())
        unsaid = request and not any(is_meant(words, placed.fact) for placed in known.facts)
        exact, near = of_longer_names(work, target, current) if unsaid else ([], [])
        fitting += [] if exact else near
        unsure = unsure or len(exact) > 1 or bool(fitting)
        wordings += [each for each in (words, *exact) if each]
        ids |= set() if words else {event_id for many in by_name.values() for event_id in many}
    facts = [*by_ids(work.index, ids).values(), *(each for each in known.facts if each.fact.source_event in ids)]
    facts += [placed for placed in known.facts if any(is_meant(words, placed.fact) for words in wordings)]
    facts += [*fitting, *(facts_of(work.index, entity) if entity else ())]
    served = (placed for placed in facts if everywhere or placed.fact.status != RETRACTED)
    meant = {placed.fact.id: placed for placed in _with_corrected(served, known.facts)}
    return _Meant(list(meant.values()), wordings, ids, unsure)


def _gone_beside(
    every: Iterable[PlacedFact], meant: Iterable[PlacedFact], goes: Callable[[str], bool]
) -> tuple[list[tuple[str, str]], list[PlacedFact]]:
    """Return the texts that go from beside facts that stay, each with the id of its fact, and these facts without."""
    whole = {placed.fact.id for placed in meant}
    beside: list[tuple[str, str]] = []
    trimmed: list[PlacedFact] = []
    for placed in every:
        parts = _beside(placed.fact) if placed.fact.id not in whole else {}
        texts_gone = [text for text in dict.fromkeys(texts_in(parts)) if text not in LINK_TYPES and goes(text)]
        if texts_gone:
            beside += [(placed.fact.id, text) for text in texts_gone]
            record = {**fact_to_record(placed.fact), **_pruned(parts, texts_gone.__contains__)}
            trimmed.append(placed._replace(fact=fact_from_record(record)))
    return beside, trimmed


def _gone_from_sessions(
    work: WriteScope, goes: Callable[[str], bool]
) -> tuple[dict[str, bytes | None], dict[str, Mapping[str, Any]]]:
    """Return the records of sessions without the sentences that go, and what each handed on before, by path."""
    before: dict[str, Mapping[str, Any]] = {}
    for path in sorted(work.vault.root.glob("agents/*/sessions/*.json")):
        name = path.relative_to(work.vault.root).as_posix()
        record = session_to_mapping(parse_session(work.read(name) or b"", name, parse_yaml))
        parts = {key: record[key] for key in _HANDED_ON if key in record}
        if _without_sentences(parts, goes) != parts:
            before[name] = parts
    return {name: _session_with(work, name, _without_sentences(parts, goes)) for name, parts in before.items()}, before


def _without_sentences(value: Any, goes: Callable[[str], bool]) -> Any:
    """Return a JSON value with a mark in place of each sentence that goes."""
    if isinstance(value, Mapping):
        return {key: _without_sentences(inner, goes) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [_without_sentences(inner, goes) for inner in value]
    if not isinstance(value, str):
        return value
    return _SENTENCE.sub(lambda found: HIDDEN_WORDS if goes(found[0]) else found[0], value)


def _session_with(work: WriteScope, path: str, parts: Mapping[str, Any]) -> bytes:
    """Return the record of a session with other words in what it hands on."""
    old = parse_session(work.read(path) or b"", path, parse_yaml)
    new = parse_session(json.dumps({**session_to_mapping(old), **parts}).encode(), path, parse_yaml)
    judged = {JUDGED: judged_mark(new)} if old.extra.get(JUDGED) == judged_mark(old) else {}
    return render_session(new._replace(extra={**new.extra, **judged}))


def _retracted(work: WriteScope, facts: Iterable[PlacedFact], waits: str | None) -> tuple[PlacedFact, ...]:
    """Return the facts as they are hidden by a person, or until the proposal that `waits` is decided."""
    by_person, asked = FORGOTTEN
    why = f"{asked}{waits}" if waits else by_person
    remark = {"at": stamp(work.caller.now), "reason": why, REVOKED: True}
    return tuple(
        placed._replace(
            fact=placed.fact._replace(status=RETRACTED, metadata={**(placed.fact.metadata or {}), "retracted": remark})
        )
        for placed in facts
    )


def _with_what_stays(
    found: Forgetting,
    known: _Known,
    meant: _Meant,
    changed: Mapping[str, Event],
    parted: Collection[str],
    entity: str | None,
) -> Forgetting:
    """Return what a person hides with what else has the words and stays, is spelled nearly so, or says more."""
    left = [each.fact.fact for each in known.facts if each not in meant.facts and each.fact.is_current]
    shown = (changed.get(event.id, event) for event in known.events)
    left += [event.text for event in shown if not event.recalled]
    first = [(title_of(entity).split()[0],)] if entity and kind_of(entity) == PERSON else []
    stay = sum(any(has_names(words, text) for words in (*meant.wordings, *first)) for text in left)
    named = sorted({word for words in meant.wordings for word in words})
    special = [word for word in named if SPECIAL.search(word)]
    tokens = {token for text in left for token in tokens_of(text)} if named else set()
    near = [name for word in special if (name := near_name(word, tokens - {word}))]
    near += sorted({token for text in left for word in named if is_name(word) for token in spellings_in(word, text)})
    whole = (placed.fact for placed in meant.facts if placed.fact.id not in parted)
    more = tuple(fact.id for fact in whole if any(_says_more(words, fact.fact) for words in meant.wordings))
    return found._replace(stay=stay, more=more, near=tuple(dict.fromkeys(near)))


def _beside(fact: Fact) -> dict[str, Any]:
    """Return what is served beside the statement of a fact: its details, links, tags and remarks, as in its record."""
    return {key: value for key, value in fact_to_record(fact).items() if key in _BESIDE}


def _pruned(value: Any, goes: Callable[[str], bool]) -> Any:
    """Return a JSON value without the texts that go; None for one that goes itself."""
    if isinstance(value, Mapping):
        return {key: inner for key, other in value.items() if (inner := _pruned(other, goes)) is not None}
    if isinstance(value, list | tuple):
        return [inner for other in value if (inner := _pruned(other, goes)) is not None]
    return None if isinstance(value, str) and goes(value) else value


def _says_more(words: Sequence[str], text: str) -> bool:
    """Return whether a statement lists several things of which words name only some."""
    parts = _PARTS.split(text)
    others = (part for part in parts if not means(words, part))
    return any(means(words, part) for part in parts) and any(len(telling_words(part)) > 1 for part in others)


def _with_corrected(meant: Iterable[PlacedFact], known: Sequence[PlacedFact]) -> Iterator[PlacedFact]:
    """Yield the facts, each with the wordings that it corrected, which say the same in other words."""
    waiting = list(meant)
    while waiting:
        placed = waiting.pop(0)
        yield placed
        waiting += [
            other for other in known if other.fact.superseded_by == placed.fact.id and is_never_true(other.fact)
        ]


def _proposed(
    work: WriteScope, events: Collection[str], wordings: Sequence[Sequence[str]], everywhere: bool
) -> tuple[Proposal, ...]:
    """Return the proposals that say what goes: those of a message that goes, and those with the words. Decided ones
    and requests to forget count only `everywhere`."""
    return tuple(
        proposal
        for proposal in read_proposals(work.vault).proposals
        if (everywhere or (proposal.status == OPEN and proposal.kind != KIND))
        and (
            proposal.source_event in events
            or any(means(words, text) for words in wordings for text in stated_by(proposal))
        )
    )


def _noted(work: WriteScope, facts: Iterable[PlacedFact]) -> list[Event]:
    """Return the lines of the daily notes, which may be no events yet, and what is beside facts."""
    root = work.vault.root
    pages = (
        path.relative_to(root).as_posix() for path in (*root.glob("daily/*.md"), *root.glob("agents/*/daily/*.md"))
    )
    texts = [line.text for page in pages for line in note_lines(work.text(page))]
    texts += (text for placed in facts for text in texts_in(_beside(placed.fact)))
    return [Event("", "", "note", text) for text in texts]


def hide_repeated(work: WriteScope, events: Sequence[Event]) -> Change | None:
    """Return the change that hides new messages which repeat what somebody asked to forget: those that ask for a number
    or a name of a request, or confirm that it goes, and what an assistant repeats of it. None if there are none."""
    requests = {
        each.source_event: each
        for each in read_proposals(work.vault).proposals
        if each.kind == KIND and each.source_event and not {REJECTED, STAYS} & {each.status, *(each.details or {})}
    }
    if not requests:
        return None
    values: list[tuple[tuple[str, ...], str]] = [
        ((token,), requests[event.id].id)
        for event in events_by_id(work.index, requests).values()
        for token in tokens_of(event.text)
        if is_code(token) and not re.fullmatch(r"\d{4}", token)
    ]
    stated: dict[str, list[Statement]] = {}
    for proposal in requests.values():
        named = [telling_words(text) for text in (proposal.details or {}).get("words", ())]
        values += [(words, proposal.id) for words in named if len(words) > 1]
        stated[proposal.id] = _stated_of(work, proposal)
    every = [statement for many in stated.values() for statement in many]
    new = {event.id for event in events if any(means(words, event.text) for words, _ in values)}
    new |= {event.id for event in events if any(means(statement.value, event.text) for statement in every)}
    days = {ledger_path(day_of(event.timestamp)) for event in events if event.id in new.difference(requests)}
    ledgers = {path: parse_events(work.read(path) or b"", path) for path in sorted(days)}
    answered, hidden = _answered(ledgers), dict[str, dict[str, Event]]()
    for path, event in ((path, event) for path, many in ledgers.items() for event in many):
        if event.id not in new or event.id in requests or event.recalled:
            continue
        mark = next((mark for words, mark in values if means(words, event.text)), None)
        if mark is not None and _REPEATS.search(event.text):
            hidden.setdefault(path, {})[event.id] = _without(event, (), mark)
            continue
        for mark, statements in stated.items() if event.role == "assistant" else ():
            spans = _spans(event.text, (), (), statements, answered[event.id])
            if spans:
                hidden.setdefault(path, {})[event.id] = _without(event, spans, mark)
                break
    if not hidden:
        return None
    count = counted(sum(map(len, hidden.values())), "message")
    writes: dict[str, bytes | None] = {path: _with_events(path, work.read, changed) for path, changed in hidden.items()}
    subject = subject_line(KIND, "vault", f"{count} that repeat what is to be forgotten hidden")
    return Change(subject, writes, trailers(KIND, agent=work.caller.agent), author=agent_author(work.caller.agent))


def _stated_of(work: WriteScope, proposal: Proposal) -> list[Statement]:
    """Return what a request has hidden, without what is known anew."""
    details = proposal.details or {}
    events = events_by_id(work.index, details.get("events", ())).values()
    going = [_going(event, proposal.id).text for event in events if event.id != proposal.source_event]
    going += details.get("words", ())
    return [
        statement
        for statement in _stated((*(target.fact or "" for target in proposal.targets), *going))
        if not any(
            placed.fact.is_current and means(statement.value, placed.fact.fact)
            for placed in facts_containing(work.index, statement.value[0])
        )
    ]


def _stated(texts: Iterable[str]) -> list[Statement]:
    """Return what the sentences of some texts state. A document states nothing: what is to be forgotten is short."""
    short = (text for text in texts if len(text) <= _LONGEST_STATED)
    found = (statement_of(match[0]) for text in short for match in _SENTENCE.finditer(text))
    return list(dict.fromkeys(statement for statement in found if statement))[:_MOST_STATED]


def _answered(ledgers: Mapping[str, Sequence[Event]]) -> dict[str, str]:
    """Return which message of a user each message of an assistant answers, by its id."""
    last: dict[str | None, str] = {}
    found = {}
    for event in chain.from_iterable(ledgers.values()):
        if event.role == "user":
            last[event.session] = event.text
        elif event.role == "assistant":
            found[event.id] = last.get(event.session, "")
    return found


def forget(
    vault: Vault, says: str, caller: Caller, dry_run: bool = False, everywhere: bool = False
) -> tuple[Forgetting, str | None]:
    """Hide what a person's words name, in one commit. Return it, and the commit. With `dry_run` nothing is written.

    With `everywhere`, also what is not current or hidden already is named. Raise NotFound if nothing has the words."""
    with writing(vault, caller, KIND, dry_run=dry_run) as work:
        found = _plan_for_person(work, says, caller, everywhere)
        return found, None if dry_run else work.commit([found.change])[-1]


def _plan_for_person(work: WriteScope, says: str, caller: Caller, everywhere: bool) -> Forgetting:
    """Return what a person's words hide: a fact or a message by its id, all of an entity and what names it, what has
    the words, or else the fact that they name in other words. Raise AmbiguousId if several facts fit as well."""
    if says.startswith(("evt_", FACT_PREFIX)) and " " not in says:
        found = plan_forgetting(work, [], ids=[says], everywhere=everywhere)
        return _known_at_least(work, says, found)
    entity = named_entity(work, says, caller)
    names = [entity.title, *entity.aliases] if entity else []
    spoken = [as_written(says)] if not entity or "/" not in says else []
    targets: list[Named] = [(text,) for text in dict.fromkeys([*spoken, *names])]
    others = () if entity else of_others(work, says)
    plan = partial(plan_forgetting, work, everywhere=everywhere, others=others)
    entire = entity.name if entity else None
    ids = {placed.fact.id for placed in successors_named(work, says)}.difference(others)
    found = None if asks_more(work, says) else plan(targets, entity=entire, says="" if entity else says, ids=ids)
    if found or not telling_words(says):
        return _known_at_least(work, says, found)
    every = ALL.search(says) is not None
    fitting = facts_named(work, says, every) if every else facts_meant(work, says)
    if not every and fitting:
        fitting = [only_of(fitting, says)]
    ids = {placed.fact.id for placed in fitting}
    current = {placed.fact.id for placed in fitting if placed.fact.is_current}
    while more := {each.fact.id for each in all_facts(work.index) if each.fact.superseded_by in current} - ids:
        current |= more
        ids |= more
    return _known_at_least(work, says, plan([], ids=ids, says=says) if ids else None)


def _known_at_least(work: WriteScope, says: str, found: Forgetting | None) -> Forgetting:
    """Return what was found. Raise NotFound if there is nothing."""
    if found:
        return found
    words = telling_words(says)
    facts = (placed.fact for placed in all_facts(work.index) if placed.fact.is_current)
    longer = next((fact for fact in facts if words and has_names(words, fact.fact)), None)
    if longer:
        message = f"Only longer names have the words, as in: {one_line(longer.fact)[:_LONGEST_SHOWN]}"
        raise NotFound(message, f"Name it as it is stated, or by its id: `clawmem forget {longer.id}`.")
    message = f"Nothing that is known has the words: {one_line(says)[:_LONGEST_SHOWN]}."
    raise NotFound(message, f"Name it as `clawmem recall` shows it.{nearest_to(work, says)}")


def erase(vault: Vault, says: str, caller: Caller, dry_run: bool = False) -> tuple[Forgetting, RedactResult]:
    """Remove what a person's words name from the whole history, and what it was named by from beside other facts.

    What facts say beside it is stored first. Raise NotFound if nothing has the words, AmbiguousId if several facts fit,
    and as `redact` does."""
    from clawmem.memory.facts.redact import RedactTarget, redact  # rewrites the history, which few requests do

    found, _ = forget(vault, says, caller, dry_run=True, everywhere=True)
    texts = [placed.fact.fact for placed in found.facts]
    texts += [*found.texts, *found.notes, *(text for proposal in found.proposed for text in stated_by(proposal))]
    texts += [without_because(text).rstrip(".") for _, text in found.beside if " " in text]
    tags = tuple(pair for pair in found.beside if " " not in pair[1])
    target = RedactTarget(
        texts=tuple(dict.fromkeys(texts)), stated=tuple(each.fact.id for each in found.facts), tags=tags
    )
    if found.rests and not dry_run:
        with writing(vault, caller, KIND) as work:
            places = sorted({placed.entity for placed in found.rests})
            rows = trailers(KIND, facts=[placed.fact.id for placed in found.rests], entities=places)
            words = subject_line(KIND, "vault", f"{counted(len(found.rests), 'fact')} kept of what goes")
            work.commit([Change(words, dict(work.items_with(found.rests)), rows)])
    return found, redact(vault, target, caller, "forgotten on request", dry_run)


def on_decision(work: WriteScope, proposal: Proposal, facts: Sequence[PlacedFact]) -> Mapping[str, bytes | None]:
    """Return the writes that show again what a rejected request has hidden, or hide what an approved one proposed."""
    details = proposal.details or {}
    if proposal.status != REJECTED and STAYS in details:
        wanted = {*details["events"], *(target.id for target in proposal.targets)}
        words = [(text,) for text in details["words"]]
        found = _plan(work, words, ids=wanted, reached=lambda event: event.id in wanted, decided=proposal)
        return found.change.writes if found else {}
    if proposal.status != REJECTED:
        return {}
    hidden = by_ids(work.index, [target.id for target in proposal.targets]).values()
    back = [placed._replace(fact=_shown(placed.fact)) for placed in hidden if placed.fact.status == RETRACTED]
    kept = details.get(_KEPT, {})
    back += [
        placed._replace(fact=_with_kept(placed.fact, kept[key])) for key, placed in by_ids(work.index, kept).items()
    ]
    events = {
        path: {event.id: shown for event in many if (shown := _brought_back(event, proposal.id)) is not event}
        for path, many in _ledgers(work, work.read).items()
    }
    return {
        **work.items_with(back),
        **{path: _session_with(work, path, parts) for path, parts in details.get(_SESSIONS, {}).items()},
        **{path: _with_events(path, work.read, changed) for path, changed in events.items() if changed},
        **_read_again(work, events),
        **pages_after(work, back),
        **daily_pages_after(work, lambda path, page: with_notes_back(page, f"hidden by {proposal.id}")),
    }


def _with_kept(fact: Fact, kept: Mapping[str, Any]) -> Fact:
    """Return a fact with what a request took from it, and what was added since."""
    record = fact_to_record(fact)
    for name, before in kept.items():
        since = record.get(name)
        if isinstance(before, Mapping):
            record[name] = {**before, **(since or {})}
        else:
            record[name] = [*before, *(value for value in since or () if value not in before)]
    return fact_from_record(record)


def _read_again(work: WriteScope, shown: Mapping[str, Mapping[str, Event]]) -> dict[str, bytes | None]:
    """Return the progress of learning up to the messages that are shown again and that nothing was learned from: they
    may have been passed over while they were hidden."""
    before = cursor = parse_cursor(work.read(CURSOR_PATH))
    learned = {placed.fact.source_event for placed in all_facts(work.index)}
    for path, events in shown.items():
        every = parse_events(work.read(path) or b"", path)
        fresh = (number for number, event in enumerate(every) if event.id in events and event.id not in learned)
        first = next(fresh, None)
        if first is not None:
            cursor = read_up_to(cursor, PurePosixPath(path).stem, every[:first])
    return {CURSOR_PATH: render_cursor(cursor)} if cursor != before else {}


def _shown(fact: Fact) -> Fact:
    kept = {key: value for key, value in (fact.metadata or {}).items() if key != "retracted"}
    return fact._replace(status=SUPERSEDED if fact.superseded_by else ACTIVE, metadata=kept or None)


def _proposal(
    work: WriteScope,
    identity: str,
    request: Event,
    meant: _Meant,
    messages: Sequence[Event],
    stays: bool,
    trimmed: Sequence[PlacedFact],
    sessions: Mapping[str, Mapping[str, Any]],
) -> Proposal:
    text = "; ".join(placed.fact.fact for placed in meant.facts) or counted(len(messages), "message")
    shown = [f'"{one_line(message.text)[:_LONGEST_SHOWN]}" ({message.id})' for message in messages[:_MOST_SHOWN]]
    more = f", and {len(messages) - _MOST_SHOWN} more" if len(messages) > _MOST_SHOWN else ""
    why = "It was asked for, and is hidden until you decide. Approve to forget it, reject to show it again."
    if stays:
        who = f"{request.speaker}, whom it does not concern, asks for it"
        who = "A guardrail is meant" if any(placed.fact.category == GUARDRAIL for placed in meant.facts) else who
        who = who if is_of_person(request) else f"The agent {request.agent} noted that it was asked for"
        if meant.unsure:
            who = "Not exactly this was named: approve to forget all of it, or hide one with `clawmem forget FACT`"
        why = f"{who}. It is shown until you decide."
    why += f" Messages: {', '.join(shown)}{more}."
    details: dict[str, Any] = {
        "events": [message.id for message in messages],
        "words": list(map(" ".join, meant.wordings)),
    }
    before = by_ids(work.index, [placed.fact.id for placed in trimmed])
    details |= {_KEPT: {key: _beside(placed.fact) for key, placed in before.items()}} if before else {}
    details |= {_SESSIONS: sessions} if sessions else {}
    return Proposal(
        identity, KIND, f"Forget: {text}", why, stamp(work.caller.now), DECIDE,
        targets=tuple(ProposalTarget(placed.fact.id, placed.fact.fact) for placed in meant.facts),
        entity=meant.facts[0].entity if meant.facts else None, source_event=request.id, agent=request.agent,
        details={**details, **({STAYS: True} if stays else {})},
    )  # fmt: skip


def _ledgers(
    work: WriteScope, read: Callable[[str], bytes | None], request: Event | None = None
) -> dict[str, tuple[Event, ...]]:
    """Return the messages of all ledgers, also of the one of a request that is to be written yet."""
    names = {f"ledger/{path.name}" for path in (work.vault.root / "ledger").glob("*.jsonl")}
    names |= {ledger_path(day_of(request.timestamp))} if request else set()
    return {name: parse_events(read(name) or b"", name) for name in sorted(names)}


def _hidden(
    known: _Known, request: Event | None, meant: _Meant, mark: str, stated: Sequence[Statement] = ()
) -> dict[str, dict[str, Event]]:
    """Return the messages without what is to be forgotten, by ledger path and id: the request as a whole, those with
    these ids without the words that are named, or as a whole if they have none, and of the others what taught the facts
    and what says the same, or repeats what is `stated`."""
    whole = set(meant.ids) | ({request.id} if request else set())
    taught: dict[str | None, list[Fact]] = {}
    for placed in meant.facts:
        taught.setdefault(placed.fact.source_event, []).append(placed.fact)
    answered = _answered(known.ledgers) if stated else {}
    able = {other_event.id for other_event in known.events}
    found: dict[str, dict[str, Event]] = {}
    for path, many in known.ledgers.items():
        for event in many:
            if event.id not in able:
                continue
            is_request = request is not None and event.id == request.id
            named = meant.wordings if event.id in whole else meant.all_wordings
            again = () if event.id in whole else stated
            spans = _spans(event.text, named, taught.get(event.id, ()), again, answered.get(event.id, ""))
            spans = [] if is_request else spans
            if event.id in whole or event.id in taught or spans:
                found.setdefault(path, {})[event.id] = _without(event, spans, mark)
    return found


def _wordings_of(meant: Iterable[PlacedFact]) -> list[tuple[str, ...]]:
    return [words for words in (telling_words(placed.fact.fact) for placed in meant) if len(words) > 1]


def _spans(
    text: str,
    wordings: Iterable[Sequence[str]],
    facts: Iterable[Fact],
    stated: Iterable[Statement] = (),
    answered: str = "",
) -> list[tuple[int, int]]:
    """Return the sentences of a message that say what is to be forgotten; of a number or an address, the clauses."""
    ranges, exact = [], []
    for words in (words for words in wordings if means(words, text)):
        places = [(place, place + 1) for word in words for place in places_of(word, text, words)]
        if all(map(SPECIAL.search, words)):
            exact += places
        else:
            ranges += places
    for fact in facts:
        start = text.find(fact.source_text) if fact.source_text else -1
        ranges += [(start, start + len(fact.source_text or ""))] if start >= 0 else []
    sentences = [match.span() for match in _SENTENCE.finditer(text)]
    for statement in (each for each in stated if means(each.value, text)):
        for start, end in sentences:
            if repeats(statement, text[start:end], answered):
                value = statement.value
                starts = (start + place for word in value for place in places_of(word, text[start:end], value))
                (exact if statement.exact else ranges).extend((place, place + 1) for place in starts)
    clauses = [match.span() for match in _CLAUSE.finditer(text)]
    found = {*_touched(sentences, ranges), *_touched(clauses, exact)}
    inner = {(a, b) for a, b in found for start, end in found if start <= a and b <= end and (a, b) != (start, end)}
    return sorted(found - inner)


def _touched(pieces: Iterable[tuple[int, int]], ranges: Sequence[tuple[int, int]]) -> Iterator[tuple[int, int]]:
    return (piece for piece in pieces if any(piece[0] < last and first < piece[1] for first, last in ranges))


def _without(event: Event, spans: Sequence[tuple[int, int]], mark: str) -> Event:
    """Return an event without some sentences, which stay in its metadata, or hidden as a whole if little is left."""
    text, metadata = event.text, dict(event.metadata or {})
    for start, end in spans:
        text = f"{text[:start]}{' ' * (end - start)}{text[end:]}"
    if not spans or len(telling_words(text)) < _FEWEST_LEFT:
        return event._replace(recalled=True, metadata={**metadata, _HIDDEN: mark})
    kept = [*metadata.get(_WITHHELD, ()), *([start, event.text[start:end], mark] for start, end in spans)]
    return event._replace(text=text, metadata={**metadata, _WITHHELD: kept})


def _shown_again(event: Event) -> Event:
    """Return an event with all that was ever hidden of it."""
    metadata = event.metadata or {}
    for mark in {metadata.get(_HIDDEN), *(row[2] for row in metadata.get(_WITHHELD, ()))} - {None}:
        event = _brought_back(event, mark)
    return event


def _going(event: Event, mark: str) -> Event:
    """Return an event with the words that a mark has hidden as its text."""
    return event._replace(text=" ".join(_texts(event, mark)))


def _texts(event: Event, mark: str) -> list[str]:
    metadata = event.metadata or {}
    rows = [row[1] for row in metadata.get(_WITHHELD, ()) if row[2] == mark]
    return [event.text] if metadata.get(_HIDDEN) == mark else rows


def _brought_back(event: Event, mark: str) -> Event:
    """Return an event with what a mark has hidden, or the event itself if it has hidden nothing."""
    metadata: dict[str, Any] = dict(event.metadata or {})
    if metadata.get(_HIDDEN) == mark:
        del metadata[_HIDDEN]
        event = event._replace(recalled=False, metadata=metadata or None)
    rows = metadata.pop(_WITHHELD, ())
    back, kept = ([row for row in rows if (row[2] == mark) is ours] for ours in (True, False))
    if not back:
        return event
    text = with_withheld(event.text, back)
    return event._replace(text=text, metadata={**metadata, **({_WITHHELD: kept} if kept else {})} or None)


def _with_events(path: str, read: Callable[[str], bytes | None], changed: Mapping[str, Event]) -> bytes:
    """Return a ledger with some events replaced."""
    data = read(path) or b""
    events = iter(parse_events(data, path))
    lines = []
    for line in data.split(b"\n"):
        event = next(events) if line.strip() else None
        lines.append(event_to_line(changed[event.id]).encode() if event and event.id in changed else line)
    return b"\n".join(lines)
