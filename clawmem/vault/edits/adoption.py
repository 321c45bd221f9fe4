"""Edits made by hand as commits. Each commit names every fact that it changes, adds or removes."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from clawmem.errors import ChangedMeanwhile, ClawmemError, InvalidInput
from clawmem.model.facts.codec import parse_items, render_items
from clawmem.model.facts.fact import (
    FACT_PREFIX,
    GUARDRAIL,
    UNSET_ID,
    Fact,
    check_reference,
    least_trust,
    statement_trust,
    trust_rank,
)
from clawmem.model.kinds import ITEMS_FILE, LEDGER_DAY, PROPOSAL_FILE, SUMMARY_PAGE, file_kind
from clawmem.model.language.dates import stamp
from clawmem.model.language.text import LIST_MARK, check_statement, counted, one_line, some_of, visible
from clawmem.model.pages.summary import BEGIN, generated_part
from clawmem.model.proposals.proposal import ADD, Proposal, new_proposal_id, proposal_path, render_proposal
from clawmem.model.proposals.quarantine import is_approved, orders_in_text, without_approval
from clawmem.model.records.caller import Caller
from clawmem.model.records.change import Author, Change, agent_author, subject_line, trailers
from clawmem.model.records.entity import items_path, name_of_path
from clawmem.model.records.event import parse_events, render_events
from clawmem.vault.edits.hand_edits import facts_moved, find_in_head, gathered, place_of
from clawmem.vault.git.git import personal_identity
from clawmem.vault.vault import Vault

UNNAMED = Author("by hand", "hand@clawmem")
# What a fact says. Other fields may change without making it another's statement.
_WORDS = ("fact", "category", "subject", "predicate", "object", "source_text", "tags")
_SHOWN = 3

_BULLET = re.compile(rf"\A\s*{LIST_MARK}\s+")
_MEMORY = "MEMORY.md"
_FACT_ID = re.compile(rf"\b{FACT_PREFIX}\w+")

Files = Mapping[str, bytes | None]


class Adoption(NamedTuple):
    """One commit of edits made by hand.

    `moved` counts the facts that moved from one place to another. `gone` are the facts that are in none of the edited
    files afterwards.
    """

    change: Change
    moved: Mapping[tuple[str, str], int]
    gone: tuple[str, ...]


def plan_adoption(vault: Vault, before: Files, after: Files, agent: str | None = None) -> tuple[Adoption, ...]:
    """Plan one commit for each place that was edited: an entity's folder, or a single file.

    Places between which facts moved share a commit, so that no commit loses a fact that only moved. `before` are the
    files as of HEAD. The author is the agent whose command found the edits, else the user of git.
    """
    edited: dict[str, list[str]] = defaultdict(list)
    for path in after:
        edited[place_of(path)].append(path)
    old_facts, new_facts = _facts(before), _facts(after)
    went = facts_moved(old_facts, new_facts)
    known = frozenset(key for facts in new_facts.values() for key in facts)
    moved: dict[str, Counter[tuple[str, str]]] = defaultdict(Counter)
    for fact in went:
        moved[fact.new][fact.old, fact.new] += 1
    author = agent_author(agent) or user_identity(vault)
    found = []
    for group in gathered(edited, went):
        here = [(old_facts.get(place, {}), new_facts.get(place, {})) for place in group]
        pairs = {pair: number for place in group for pair, number in moved[place].items()}
        change = Change(
            subject=_subject(group, pairs),
            writes={path: after[path] for place in group for path in edited[place]},
            trailers=trailers("edit", facts=_touched(here), entities=filter(_is_entity, group), agent=agent),
            author=author,
        )
        gone = dict.fromkeys(key for facts, _ in here for key in facts if key not in known)
        found.append(Adoption(change, pairs, tuple(gone)))
    return tuple(found)


def with_reworded_lines(vault: Vault, before: Files, after: Files) -> tuple[dict[str, bytes], list[str]]:
    """Reword the facts whose lines in the generated part of a summary or of MEMORY.md were edited, in the work tree
    too. Return the changed files, and a notice for each page with another edit there, which will not last.

    If this is killed, what it wrote is one more edit by hand. Raise ChangedMeanwhile if a file was edited again.
    """
    pages = [path for path in after if file_kind(path) is SUMMARY_PAGE or path == _MEMORY]
    parts = {
        path: (old, new)
        for path in pages
        if (old := _generated(before.get(path))) is not None
        and (new := _generated(after[path])) is not None
        and old != new
    }
    named = {key for old, new in parts.values() for line in _lines_gone(old, new) for key in _FACT_ID.findall(line)}
    files = {path for paths in find_in_head(vault, named).values() for path in paths}
    facts = _facts({path: after.get(path) or vault.read(path) for path in files})
    known = {key: (place, fact) for place, each in facts.items() for key, fact in each.items() if key in named}
    reworded: dict[str, dict[str, Fact]] = defaultdict(dict)
    notices = []
    for path, (old, new) in parts.items():
        for line in _lines_gone(old, new):
            for key in _FACT_ID.findall(line):
                place, fact = known.get(key, ("", None))
                if fact and (found := _reworded(line, new, fact)):
                    reworded[place][key] = fact._replace(fact=found[1])
                    old = old.replace(line, found[0], 1)
        if old != new:
            notices.append(f"{path}: this edit between the marks will not last. Edit words of a line, or write above.")
    written = {
        items_path(place): render_items([changed.get(key, fact) for key, fact in facts[place].items()])
        for place, changed in reworded.items()
    }
    _write(vault, written, after)
    return written, notices


def _write(vault: Vault, written: Mapping[str, bytes], after: Files) -> None:
    for path, data in written.items():
        if path in after and vault.read(path) != after[path]:
            raise ChangedMeanwhile(f"{path} was edited while this ran.", "Run the command again.")
        vault.disk.replace(vault.path(path), data, vault.state)


def _generated(data: bytes | None) -> str | None:
    return generated_part(data.decode(errors="replace")) if data is not None and BEGIN.encode() in data else None


def _lines_gone(old: str, new: str) -> list[str]:
    kept = frozenset(new.splitlines())
    return [line for line in old.splitlines() if line not in kept]


def _reworded(line: str, page: str, fact: Fact) -> tuple[str, str] | None:
    """Return the line of a page with the remarks of a line that stated a fact, and its other words, or None."""
    before = one_line(fact.fact)
    remarks = line.removeprefix(f"- {before}")
    for other in page.splitlines() if remarks != line else ():
        text = one_line(_BULLET.sub("", other.removesuffix(remarks)))
        if other.endswith(remarks) and text not in ("", before):
            return other, text
    return None


def as_edits_of_agent(vault: Vault, before: Files, after: Files, caller: Caller) -> dict[str, bytes]:
    """Rewrite the facts of edits that an agent's command found, in the work tree too, and return the changed files.

    Nobody knows who edited the files. So a new or reworded fact is the agent's, and what reads as an order, or is a
    guardrail, becomes a proposal. A fact with the same words keeps its trust and its approval. A new or changed event
    tells at most what an agent says, whoever it says has spoken. If this is killed, what it wrote is one more edit by
    hand. Raise ChangedMeanwhile if a file was edited again.
    """
    assert caller.agent
    stood = {fact.id: fact for facts in _facts(before).values() for fact in facts.values()}
    taken: set[str] = set()
    written: dict[str, bytes] = {}
    for place, facts in _facts(after).items():
        kept: list[Fact] = []
        for fact in facts.values():
            old = stood.get(fact.id)
            message = _as_agents(fact, old, caller.agent)
            reason = _waits_for_person(message) if message != old and not _same_words(message, old) else None
            if reason is None:
                kept.append(message)
                continue
            kept += [old] if old else []
            proposal = _proposal(message, place, reason, caller, taken)
            taken.add(proposal.id)
            written[proposal_path(proposal.id)] = render_proposal(proposal)
        if kept != [*facts.values()]:
            written[items_path(place)] = render_items(kept)
    for path, data in after.items():
        if file_kind(path) is LEDGER_DAY and (events := _events_of_agent(before.get(path) or b"", data or b"")) != data:
            written[path] = events
    _write(vault, written, after)
    return written


def _events_of_agent(before: bytes, data: bytes) -> bytes:
    stood, lines = set(before.splitlines()), data.splitlines(keepends=True)
    for number, line in enumerate(lines):
        if line.strip() and line.rstrip(b"\r\n") not in stood:
            (event,) = parse_events(line, "ledger")
            lines[number] = render_events([event._replace(trust=least_trust(event.trust, "agent"))])
    return b"".join(lines)


def _as_agents(fact: Fact, old: Fact | None, agent: str) -> Fact:
    if not _same_words(fact, old):
        trust = statement_trust(fact.trust, fact.source, agent)
        return without_approval(fact)._replace(trust=trust, agent=fact.agent or agent)
    assert old
    raised = trust_rank(fact.trust) > trust_rank(old.trust)
    value = fact if is_approved(old) else without_approval(fact)
    return value._replace(trust=old.trust, agent=old.agent) if raised else value


def _same_words(fact: Fact, old: Fact | None) -> bool:
    return old is not None and all(getattr(fact, name) == getattr(old, name) for name in _WORDS)


def _waits_for_person(fact: Fact) -> str | None:
    """Return why a person must decide about an agent's new fact, or None."""
    if fact.category == GUARDRAIL:
        return "it is a guardrail"
    texts = (fact.fact, fact.subject, fact.object, fact.source_text, *fact.tags)
    found = next(filter(None, (orders_in_text(text, outside=True) for text in texts if text)), None)
    return f"it reads like an instruction to the reader ({found[0]}): {found[1]}" if found else None


def _proposal(fact: Fact, entity: str, reason: str, caller: Caller, taken: set[str]) -> Proposal:
    return Proposal(
        new_proposal_id(caller.entropy, taken),
        "fact",
        fact.fact,
        f"It was written into a file by hand, a command of the agent {caller.agent} found it there, and {reason}",
        stamp(caller.now),
        ADD,
        fact=fact._replace(id=UNSET_ID),
        entity=entity,
        source_event=fact.source_event,
        agent=caller.agent,
    )


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


def adoption_notices(
    vault: Vault, adopted: Sequence[Adoption], commits: Sequence[str], agent: str | None = None
) -> Iterator[str]:
    """Yield notices about committed edits: which facts moved, and which were removed.

    Removed facts are named because an editor may have saved an old copy of a file.
    """
    whose = f", as an edit of the agent {agent}, whose command found it" if agent else ""
    yield f"committed {sum(len(adoption.change.writes) for adoption in adopted)} file(s) edited by hand{whose}"
    waiting = [path for adoption in adopted for path in adoption.change.writes if file_kind(path) is PROPOSAL_FILE]
    if agent and waiting:
        yield f"waits for review: {counted(len(waiting), 'fact')} that was edited by hand and reads as an order"
    gone = frozenset(key for adoption in adopted for key in adoption.gone)
    missing = gone - find_in_head(vault, gone).keys()
    for adoption, commit in zip(adopted, commits, strict=False):
        for (old, new), number in adoption.moved.items():
            yield f"moved by hand: {counted(number, 'fact')} from {old} to {new}"
        lost = [key for key in adoption.gone if key in missing]
        if lost:
            yield _taken_out(adoption.change, lost, commit)


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
    edited = [path for path in change.writes if file_kind(path) is ITEMS_FILE]
    what = f"your edit of {edited[0]}" if len(edited) == 1 else f"your edits ({change.subject})"
    # A single fact is restored by its id. A whole file is restored by its commit.
    alone = len(gone) == 1 and all(data is not None for data in change.writes.values())
    back = f"`clawmem undo {gone[0] if alone else commit[:12]}` brings {'it' if len(gone) == 1 else 'them'} back"
    return f"{what} takes out {some_of(gone, _SHOWN)}; {back}"
