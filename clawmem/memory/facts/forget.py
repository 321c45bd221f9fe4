"""Forget on request: what is meant is hidden at once from all that is served, and a person decides about it."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from clawmem.index.search.lookup import PlacedFact, all_facts, by_ids
from clawmem.memory.pages.touched import daily_pages_without, pages_after
from clawmem.memory.review.proposals import proposal_trailers, proposal_writes, read_proposals
from clawmem.memory.scope import WriteScope, items_write, with_fact
from clawmem.memory.writing import writing
from clawmem.model.facts.fact import ACTIVE, RETRACTED, REVOKED, Fact
from clawmem.model.language.dates import day_of, stamp
from clawmem.model.language.question import STOPWORDS
from clawmem.model.language.text import counted, one_line
from clawmem.model.proposals.proposal import DECIDE, REJECTED, Proposal, ProposalTarget, new_proposal_id
from clawmem.model.records.caller import Caller
from clawmem.model.records.change import Change, agent_author, subject_line, trailers
from clawmem.model.records.event import Event, event_to_line, parse_events
from clawmem.vault.vault import Vault

KIND = "forget"
_HIDDEN = "hidden"
_TOKEN = re.compile(r"[^\W_](?:[\w.@+/-]*\w)?")
_SPECIAL = re.compile(r"[\d@./_+-]")
_ENDING = re.compile(r"(?:ing|ed|en|es|[estnoayi])$")
_LONGEST_SHOWN, _MOST_SHOWN = 120, 10
# Words that say nothing of what is meant, in the languages in which a request is understood.
_PLAIN = STOPWORDS | frozenset(
    "user users forget delete remove erase drop everything anything all old again please memory shared anymore longer "
    "ich mein meine meinen meiner mich mir der die das den dem ein eine dass ist bin sind war im am zu von alles "
    "nutzer nutzerin yo mi mis el la los las una que de en es soy y todo usuario usuaria je mon ma mes le les des du "
    "un une qu j est suis et tout utilisateur utilisatrice".split()
)


class Forgetting(NamedTuple):
    """What a request hides: the facts as they are then, the events, the proposal (None: a person asked for it here),
    and the change."""

    facts: tuple[PlacedFact, ...]
    events: tuple[Event, ...]
    proposal: Proposal | None
    change: Change


def telling_words(text: str) -> tuple[str, ...]:
    """Return the words of a request that say what is meant, each once."""
    found = (word.removesuffix("'s") for word in _tokens(text.replace("’", "'")))
    return tuple(dict.fromkeys(word for word in found if word.casefold() not in _PLAIN and len(word) > 1))


def _tokens(text: str) -> list[str]:
    return _TOKEN.findall(text)


def means(words: Sequence[str], text: str) -> bool:
    """Return whether a text has all words, in any form. A longer name is not meant by a shorter one."""
    found = [(one[0], one.start(), one.end()) for one in _TOKEN.finditer(text)]
    asked = {one.casefold() for one in words}
    return bool(words) and all(
        any(_same(word, one[0]) and not _in_longer_name(found, place, text, asked) for place, one in enumerate(found))
        for word in words
    )


def _same(word: str, other: str) -> bool:
    one, two = word.casefold(), other.casefold()
    if one == two or _SPECIAL.search(one + two):
        return one == two
    return min(len(one), len(two)) > 3 and _ENDING.sub("", one) == _ENDING.sub("", two)


def _in_longer_name(found: Sequence[tuple[str, int, int]], place: int, text: str, asked: Collection[str]) -> bool:
    """Return whether a name stands beside another word of the same name that was not asked for."""
    word, start, end = found[place]
    beside = [found[place - 1]] if place and text[found[place - 1][2] : start] == " " else []
    beside += [found[place + 1]] if place + 1 < len(found) and text[end : found[place + 1][1]] == " " else []
    names = (one[0] for one in beside if one[0][0].isupper() and one[0].casefold() not in _PLAIN)
    return word[0].isupper() and any(one.casefold() not in asked for one in names)


def plan_forgetting(
    work: WriteScope,
    says: str,
    request: Event | None = None,
    ids: Collection[str] = (),
    fresh: Iterable[PlacedFact] = (),
    read: Callable[[str], bytes | None] | None = None,
    taken: Collection[str] = (),
    one_word: bool = True,
) -> Forgetting | None:
    """Return what a request to forget hides, or None if nothing that is known is meant, or it was asked before.

    The facts and messages with these `ids` are meant, or else those whose words the request names; `fresh` are facts
    that are not stored yet. Messages that say the same are hidden, with the request. `read` reads a file of the vault.
    Unless `one_word` is true, one common word alone names nothing.
    """
    if request and any(
        one.kind == KIND and one.source_event == request.id for one in read_proposals(work.vault).proposals
    ):
        return None
    words = telling_words(says)
    if not one_word and len(words) < 2 and not any(one[0].isupper() or _SPECIAL.search(one) for one in words):
        words = ()
    known = (one for one in (*all_facts(work.index), *fresh) if one.fact.is_current)
    if ids:
        meant = (*by_ids(work.index, ids).values(), *(one for one in known if one.fact.source_event in ids))
    else:
        meant = tuple(one for one in known if _is_meant(words, one.fact))
    meant = tuple({one.fact.id: one for one in meant if one.fact.is_current}.values())
    events = _events(work, read or work.read, request, meant, words if not ids else (), ids)
    if not meant and not [one for many in events.values() for one in many if not request or one.id != request.id]:
        return None
    identity = new_proposal_id(work.caller.entropy, taken)
    why = f"asked to forget; {identity} waits for a person" if request else "forgotten by a person"
    remark = {"at": stamp(work.caller.now), "reason": why, REVOKED: True}
    gone = tuple(
        one._replace(
            fact=one.fact._replace(status=RETRACTED, metadata={**(one.fact.metadata or {}), "retracted": remark})
        )
        for one in meant
    )
    messages = tuple(one for many in events.values() for one in many)
    proposal = _proposal(work, identity, request, meant, messages) if request else None
    mark = identity if request else day_of(stamp(work.caller.now))
    writes: dict[str, bytes | None] = {
        **_items(work, gone),
        **{path: _marked(path, read or work.read, many, mark) for path, many in events.items()},
        **pages_after(work, gone),
        **daily_pages_without(work, {one.fact.id for one in gone}, lambda agent, day, text: False),
        **(proposal_writes([proposal]) if proposal else {}),
    }
    told = f"{counted(len(gone), 'fact')} and {counted(len(messages), 'message')}"
    rows = trailers(KIND, facts=[one.fact.id for one in gone], entities=sorted({one.entity for one in gone}))
    subject = subject_line(KIND, "vault", f"{told} hidden{' until a person decides' if proposal else ''}")
    rows = (*rows, *(proposal_trailers([proposal]) if proposal else ()))
    return Forgetting(gone, messages, proposal, Change(subject, writes, rows, author=agent_author(work.caller.agent)))


def forget(vault: Vault, says: str, caller: Caller, dry_run: bool = False) -> tuple[Forgetting | None, str | None]:
    """Hide what a person's words name, in one commit. Return it, and the commit. With `dry_run` nothing is written."""
    with writing(vault, caller, KIND, dry_run=dry_run) as work:
        found = plan_forgetting(work, says)
        commit = work.commit([found.change])[-1] if found and not dry_run else None
        return found, commit


def on_decision(work: WriteScope, proposal: Proposal, facts: Sequence[PlacedFact]) -> Mapping[str, bytes | None]:
    """Return the writes that show again what a rejected request has hidden."""
    if proposal.status != REJECTED:
        return {}
    hidden = by_ids(work.index, [one.id for one in proposal.targets]).values()
    back = [one._replace(fact=_shown(one.fact)) for one in hidden if one.fact.status == RETRACTED]
    wanted = set((proposal.details or {}).get("events", ()))
    events = _events_where(work, work.read, lambda one: one.id in wanted and one.recalled)
    return {
        **_items(work, back),
        **{path: _marked(path, work.read, many, None) for path, many in events.items()},
        **pages_after(work, back),
    }


def _shown(fact: Fact) -> Fact:
    kept = {key: value for key, value in (fact.metadata or {}).items() if key != "retracted"}
    return fact._replace(status=ACTIVE, metadata=kept or None)


def _is_meant(words: Sequence[str], fact: Fact) -> bool:
    """Return whether words name a fact as it is stated, or as it was said: "esse" is no form of "isst"."""
    return means(words, f"{fact.fact} {fact.object or ''}") or means(words, fact.source_text or "")


def _proposal(
    work: WriteScope, identity: str, request: Event, meant: Sequence[PlacedFact], messages: Sequence[Event]
) -> Proposal:
    told = "; ".join(one.fact.fact for one in meant) or counted(len(messages), "message")
    shown = [f'"{one_line(one.text)[:_LONGEST_SHOWN]}" ({one.id})' for one in messages[:_MOST_SHOWN]]
    more = f", and {len(messages) - _MOST_SHOWN} more" if len(messages) > _MOST_SHOWN else ""
    why = "It was asked for, and is hidden until you decide. Approve to forget it, reject to show it again."
    why += f" Messages: {', '.join(shown)}{more}."
    return Proposal(
        identity, KIND, f"Forget: {told}", why, stamp(work.caller.now), DECIDE,
        targets=tuple(ProposalTarget(one.fact.id, one.fact.fact) for one in meant),
        entity=meant[0].entity if meant else None, source_event=request.id, agent=request.agent,
        details={"events": [one.id for one in messages]},
    )  # fmt: skip


def _events(
    work: WriteScope,
    read: Callable[[str], bytes | None],
    request: Event | None,
    meant: Sequence[PlacedFact],
    words: Sequence[str],
    ids: Collection[str],
) -> dict[str, list[Event]]:
    """Return the messages to hide, by ledger path: the request, those with these ids, what taught the facts, and what
    says the same."""
    sources = {one.fact.source_event for one in meant} | ({request.id} if request else set()) | set(ids)
    said = [one for one in (telling_words(one.fact.fact) for one in meant) if len(one) > 1]
    said += [tuple(words)] if words else []

    def gone(event: Event) -> bool:
        return not event.recalled and (event.id in sources or any(means(one, event.text) for one in said))

    return _events_where(work, read, gone)


def _events_where(
    work: WriteScope, read: Callable[[str], bytes | None], wanted: Callable[[Event], bool]
) -> dict[str, list[Event]]:
    found: dict[str, list[Event]] = {}
    for path in sorted((work.vault.root / "ledger").glob("*.jsonl")):
        name = f"ledger/{path.name}"
        chosen = [one for one in parse_events(read(name) or b"", name) if wanted(one)]
        found |= {name: chosen} if chosen else {}
    return found


def _marked(path: str, read: Callable[[str], bytes | None], chosen: Sequence[Event], mark: str | None) -> bytes:
    """Return a ledger with some events hidden, or shown again where there is no mark."""
    data = read(path) or b""
    ids, events = {one.id for one in chosen}, iter(parse_events(data, path))
    lines = []
    for line in data.split(b"\n"):
        event = next(events) if line.strip() else None
        lines.append(event_to_line(_with_mark(event, mark)).encode() if event and event.id in ids else line)
    return b"\n".join(lines)


def _with_mark(event: Event, mark: str | None) -> Event:
    kept: dict[str, Any] = {key: value for key, value in (event.metadata or {}).items() if key != _HIDDEN}
    return event._replace(recalled=mark is not None, metadata={**kept, **({_HIDDEN: mark} if mark else {})} or None)


def _items(work: WriteScope, changed: Iterable[PlacedFact]) -> dict[str, bytes | None]:
    shelves: dict[str, tuple[Fact, ...]] = {}
    for one in changed:
        facts = shelves.get(one.entity) or tuple(work.facts(one.entity))
        shelves[one.entity] = tuple(with_fact(facts, one.fact))
    return {path: data for entity, facts in shelves.items() for path, data in items_write(entity, list(facts)).items()}
