"""The five phases of digestion. Each sees only its named input, and gives the source back with what it found.

reduce   the text of the source                      -> claims that quote it
reflect  the claims, the facts in their scope        -> links
reweave  the claims and the facts they are linked to -> which fact a claim revises, and why
verify   the claims with links and revisions         -> facts, revised facts, and proposals for what fails
archive  what became of the claims                   -> counts; the claims leave the queue
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from clawmem.errors import ClawmemError
from clawmem.extensions.digest.claims import ChosenSentence, choose_claims, claims_of, statements_in
from clawmem.index.refresh import run_query
from clawmem.index.search.channels import FactFilter, facts_in_rows, keyword_channel
from clawmem.index.search.lookup import PlacedFact, by_ids, entities
from clawmem.index.tables.store import Index
from clawmem.llm.choice import prompt
from clawmem.llm.presets import ModelTask
from clawmem.memory.facts.remember import FactPlanner, without_secrets
from clawmem.memory.history.why import find_event
from clawmem.memory.quarantine import ProposalWriter, QuarantineReason
from clawmem.memory.scope import WriteScope, fact_change
from clawmem.model.facts.draft import Draft, draft_from_record
from clawmem.model.facts.fact import SUPERSEDED, UNSET_ID, Fact, FactLink, is_low_trust
from clawmem.model.facts.reach import Reach
from clawmem.model.language.dates import stamp
from clawmem.model.language.question import search_words
from clawmem.model.language.text import LONGEST_FACT, forms_of, normal, one_line
from clawmem.model.lifecycle.reinforce import raised_confidence
from clawmem.model.proposals.para import EntityHint, entity_name, thing_in_front
from clawmem.model.proposals.proposal import ADD, SUPERSEDE
from clawmem.model.records.change import Change
from clawmem.model.records.digestion import Claim, DigestionItem
from clawmem.model.records.event import PLACE, Event, trust_limit
from clawmem.model.records.session import REVOKED, UNREPORTED
from clawmem.model.safety.recalled_text import without_closing_marks
from clawmem.model.safety.secrets.find import find_secret
from clawmem.model.transcripts.notes import headings_in
from clawmem.vault.vault import Vault
from clawmem.work.session_end_records import WorkScope
from clawmem.work.sessions.records import find_session

ABOVE = "above"
"""The key of an event's metadata with the headings, as Markdown, that are above its text in the document."""
_NEAR = 20
_MOST_LINKS = 3
# A question finds a claim if fewer facts than this have all of its words.
_FOUND_AMONG = 10
_QUESTION_WORDS = 5
_FEWEST_WORDS = 2
# The claims of one text that a reader may give: as many as it has statements, within limits. Of rules, what the best
# are of.
_FEWEST_CLAIMS, _MOST_CLAIMS = 3, 40
_MOST_OF_TEXT = 50
_FIGURE = re.compile(r"\d+(?:[.,:]\d+)*")
STORED, KNOWN, PROPOSED = "stored", "known", "proposed"


class PhaseResult(NamedTuple):
    """The source after a phase, and the changes of the vault beside the queue."""

    item: DigestionItem
    changes: tuple[Change, ...] = ()


class SourceText(NamedTuple):
    """A text of a source: the words, the event that holds them (None: a note of a session), and as Markdown
    the headings above it."""

    text: str
    event: str | None
    above: str = ""


# What a phase does under the lock.
Phase = Callable[[WriteScope, DigestionItem], PhaseResult]
_ANY_TEXT: dict[str, Any] = {"type": "string"}
_TEXT: dict[str, Any] = {"type": "string", "minLength": 1}
_SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {
        "claims": {
            "type": "array",
            "items": {
                "type": "object",
                "properties": {"claim": _TEXT, "quote": _TEXT, "category": _ANY_TEXT, "at": _ANY_TEXT},
                "required": ["claim", "quote"],
                "additionalProperties": False,
            },
        }
    },
    "required": ["claims"],
    "additionalProperties": False,
}


def texts_of(vault: Vault, item: DigestionItem) -> list[SourceText]:
    """Return the texts of a source: its events, or what an agent noted in a session and said at its end, with the
    summary."""
    if item.session is not None:
        record = find_session(vault, item.session)
        learned = [str(other) for key in ("learned", "watch_for") for other in (record.reflection or {}).get(key) or ()]
        summary = [record.summary] if record.summary and not record.summary.startswith(UNREPORTED) else []
        items = [*summary, *(note.text for note in record.notes), *learned] if record.state != REVOKED else []
        return [SourceText("\n".join(items), None)] if items else []
    return run_query(
        vault,
        lambda index: [
            SourceText(event.text, event.id, _above(event))
            for other_event in item.events
            if (event := find_event(vault, index, other_event)) is not None and not event.recalled
        ],
    )


def _above(event: Event) -> str:
    return str((event.metadata or {}).get(ABOVE, ""))


def claims_by_rules(vault: Vault, item: DigestionItem) -> list[Claim]:
    """Return the claims of a source that rules choose."""
    every = [
        (choose_claim, text)
        for text in texts_of(vault, item)
        for choose_claim in choose_claims(text.text, _MOST_OF_TEXT)
    ]
    words = sum(len(text.text.split()) for text in texts_of(vault, item))
    best = sorted(every, key=lambda pair: -pair[0].score)[: claims_of(words, [sentence.score for sentence, _ in every])]
    return _placed(vault, [pair for pair in every if pair in best])


def tasks_of(vault: Vault, item: DigestionItem) -> dict[str, tuple[ModelTask, SourceText]]:
    """Return the tasks of a source that no reader has answered, one for each of its texts, by their ids."""
    found = {}
    for text in texts_of(vault, item):
        most = min(_MOST_CLAIMS, max(_FEWEST_CLAIMS, statements_in(text.text)))
        whole = f"{text.above}\n\n{text.text}" if text.above else text.text
        data = f"<text>\n{without_closing_marks(whole)}\n</text>"
        held_with = item.agent or "" if item.session else ""
        task = ModelTask("digest", prompt("digest").replace("{most}", str(most)), data, _SCHEMA, held_with)
        if task.key not in item.read and find_secret(text.text) is None:
            found[task.key] = (task, text)
    return found


def claims_of_answer(vault: Vault, text: SourceText, answer: Mapping[str, Any]) -> list[Claim]:
    """Return the claims of an answer about a text; one whose quote is not in the text is dropped."""
    found = []
    for claim in answer["claims"]:
        quoted = _quoted(claim["quote"], text.text)
        if quoted and one_line(claim["claim"]):
            category = "lesson" if claim.get("category") == "lesson" else None
            place = claim.get("at", "")
            found.append((ChosenSentence(one_line(claim["claim"]), *quoted.span(), 0.0), text, category, place))
    names = run_query(vault, _names)
    return [
        claim._replace(category=category, entity=_named_place(place, names) or claim.entity)
        for claim, (*_, category, place) in zip(_placed(vault, [row[:2] for row in found]), found, strict=True)
    ]


def _named_place(place: str, names: Mapping[str, str]) -> str | None:
    """Return the entity of a place such as "company:NAME", or None if it is none."""
    kind, _, title = one_line(place).partition(":")
    return names.get(normal(title)) or entity_name(EntityHint(kind, title.strip(), "asked"))


def _quoted(quote: str, text: str) -> re.Match[str] | None:
    """Find a quote in a text, whose lines may be broken where the quote has a space."""
    words = [re.escape(word) for word in quote.split()]
    return re.search(r"\s+".join(words), text) if words else None


def _placed(vault: Vault, chosen: Sequence[tuple[ChosenSentence, SourceText]]) -> list[Claim]:
    names = run_query(vault, _names)
    return [
        Claim(
            sentence.text[:LONGEST_FACT],
            text.event,
            (sentence.start, sentence.end) if text.event else None,
            _entity(sentence.text, names),
        )
        for sentence, text in chosen
    ]


def reflect(work: WriteScope, item: DigestionItem) -> PhaseResult:
    """Link each claim to at most three facts in its scope that it has most in common with."""
    return PhaseResult(item._replace(claims=tuple(_linked(work, item, claim) for claim in item.claims)))


def reweave(work: WriteScope, item: DigestionItem) -> PhaseResult:
    """Ask of each linked fact: written today, what would differ? A repeated fact is strengthened at once; one with
    another value is to be superseded by the claim, if that is verified."""
    planner, changes, woven = FactPlanner(work), [], []
    for claim in item.claims:
        linked = by_ids(work.index, [link["to"] for link in claim.links])
        revises = None
        for placed in linked.values():
            relation = relation_of(claim.text, placed.fact.fact)
            if relation is None or not placed.fact.is_current:
                continue
            if relation.kind == UPDATES and revises is None:
                revises = {"id": placed.fact.id, "does": SUPERSEDE, "reason": relation.reason}
            elif relation.kind in (SUPPORTS, SAME) and _is_other_source(placed.fact, item):
                raised = raised_confidence(placed.fact.confidence)
                if raised is not None and raised != placed.fact.confidence:
                    changes.append(_strengthened(work, planner, placed, raised))
        woven.append(claim._replace(revises=revises))
    return PhaseResult(item._replace(claims=tuple(woven)), tuple(changes))


def verify(work: WriteScope, item: DigestionItem) -> PhaseResult:
    """Check each claim: its form, its entity, whether it is known, whether a fitting question finds it, and whether it
    may revise what it revises. What passes becomes a fact; what fails becomes a proposal."""
    checker = _Verifier(work, item)
    items = [checker.check(claim) for claim in item.claims]
    return PhaseResult(item._replace(claims=tuple(items)), tuple(checker.changes))


def archive(work: WriteScope, item: DigestionItem) -> PhaseResult:
    """Count what became of the claims, and drop them from the queue: the facts and proposals hold them."""
    counts = Counter(claim.became or PROPOSED for claim in item.claims)
    links = sum(len(claim.links) for claim in item.claims)
    revised = sum(claim.revises is not None and claim.became == STORED for claim in item.claims)
    found = {"claims": len(item.claims), "links": links, "revised": revised, **counts}
    return PhaseResult(item._replace(claims=(), counts=dict(sorted(found.items()))))


class _Verifier:
    def __init__(self, work: WriteScope, item: DigestionItem) -> None:
        self._work = work
        self._item = item
        self._planner = FactPlanner(work)
        self._writer: ProposalWriter | None = None
        self._seen: set[str] = set()
        self.changes: list[Change] = []

    def check(self, claim: Claim) -> Claim:
        if normal(claim.text) in self._seen or self._is_known(claim):
            return claim._replace(became=KNOWN)
        self._seen.add(normal(claim.text))
        try:
            draft = without_secrets(self._work.vault, self._draft(claim))
        except ClawmemError:
            # A claim with a credential or of a wrong form is not even proposed: a proposal would hold it.
            return claim._replace(became="refused")
        why = self._why_not(claim, draft)
        if why is not None:
            return self._proposed(claim, draft, why)
        return self._stored(claim, draft)

    def _is_known(self, claim: Claim) -> bool:
        linked = by_ids(self._work.index, [link["to"] for link in claim.links])
        return any(
            normal(placed.fact.fact) == normal(claim.text) and placed.fact.is_current for placed in linked.values()
        )

    def _draft(self, claim: Claim) -> Draft:
        item, event = self._item, None
        if claim.event is not None:
            event = find_event(self._work.vault, self._work.index, claim.event)
        record: dict[str, object] = {
            "fact": claim.text,
            "entity": claim.entity or item.entity,
            "source": f"session:{item.session}" if item.session else f"document:{item.title}",
            "links": [dict(link) for link in claim.links],
            "category": claim.category,
            "trust": trust_limit(event) if event else "agent",
            "agent": item.agent,
            "details": {"document": item.title},
        }
        if event is not None and claim.span is not None:
            record |= {"source_event": event.id, "source_text": event.text[slice(*claim.span)]}
            # The mark of a list item alone would be the underline of a heading.
            before = event.text[: claim.span[0]].rpartition("\n")[0]
            titles = [title for _, title in headings_in(f"{_above(event)}\n{before}") if title]
            record |= {"details": {"document": item.title, PLACE: " > ".join(titles)}} if titles else {}
        record |= WorkScope(item.workflow, item.project).values(item.scope)
        return draft_from_record({key: value for key, value in record.items() if value}, self._work.caller.now)

    def _why_not(self, claim: Claim, draft: Draft) -> str | None:
        if draft.fact.source_text and (
            invented := _figures(claim.text) - _figures(draft.fact.source_text, self._item.title)
        ):
            return f"Its quote does not have the figure {min(invented)}."
        words = question_words(claim.text)
        if len(words) < _FEWEST_WORDS:
            return "It has too few telling words: no question would find it."
        if _facts_with_all(self._work.index, words) >= _FOUND_AMONG:
            return f"A question with its words ({' '.join(words)}) finds {_FOUND_AMONG} other facts."
        if claim.entity is None and self._item.entity is None:
            return "It names no known entity, and the source has none."
        return None

    def _stored(self, claim: Claim, draft: Draft) -> Claim:
        revised = self._revised(claim, draft)
        if isinstance(revised, str):
            return self._proposed(claim, draft, revised)
        fact, change = self._planner.plan(draft)
        self.changes += [change] if change else []
        if fact.outcome == "proposed":
            return claim._replace(became=PROPOSED)
        if revised is not None and fact.outcome == "added":
            reason = (claim.revises or {}).get("reason", "")
            self.changes.append(self._superseded(revised, PlacedFact(fact.fact, fact.entity), reason))
        return claim._replace(became=KNOWN if fact.outcome == "noop" else STORED)

    def _revised(self, claim: Claim, draft: Draft) -> PlacedFact | str | None:
        """Return the fact that the claim revises, None if it revises none, or why it may not."""
        if claim.revises is None:
            return None
        placed = by_ids(self._work.index, [claim.revises["id"]]).get(claim.revises["id"])
        if placed is None or not placed.fact.is_current:
            return None
        if is_low_trust(draft.fact.trust) and not is_low_trust(placed.fact.trust):
            return f"It would change {placed.fact.id}, of higher trust: {claim.revises['reason']}"
        return placed

    def _superseded(self, placed: PlacedFact, by: PlacedFact, reason: str) -> Change:
        now, old = stamp(self._work.caller.now), placed.fact
        link = FactLink("supersedes", old.id, reason, now)
        ended = self._planner.amend(placed, status=SUPERSEDED, superseded_by=by.fact.id, valid_to=old.valid_to or now)
        begun = self._planner.amend(by, links=(*by.fact.links, link))
        words, caller = f"{by.fact.fact} (was: {old.fact})", self._work.caller
        facts = [by.fact, old]
        return fact_change(caller, "supersede", placed.entity, words, {**ended, **begun}, facts, supersedes=[old.id])

    def _proposed(self, claim: Claim, draft: Draft, why: str) -> Claim:
        self._writer = self._writer or ProposalWriter(self._work)
        entity = claim.entity or self._item.entity or self._work.vault.settings.words("defaults.entity")
        filed = self._writer.file(draft.fact._replace(id=UNSET_ID), entity, QuarantineReason("fact", why), ADD)
        self.changes += [filed.change] if filed.change else []
        return claim._replace(became=PROPOSED)


def question_words(claim: str) -> list[str]:
    """Return the words of a question that fits a claim: its first telling words."""
    return list(dict.fromkeys(search_words(claim)))[:_QUESTION_WORDS]


def _figures(*texts: str) -> set[str]:
    """Return the numbers in texts, as they are written."""
    return {figure for text in texts for figure in _FIGURE.findall(text)}


def _facts_with_all(index: Index, words: Sequence[str]) -> int:
    rows: set[int] | None = None
    for word in words:
        found = {match.n for match in index.engine.search(forms_of(word), 1000)}
        rows = found if rows is None else rows & found
    return len(rows or ())


def _linked(work: WriteScope, item: DigestionItem, claim: Claim) -> Claim:
    reach = Reach(item.workflow, item.project) if item.workflow or item.project else None
    forms = [form for word in search_words(claim.text) for form in forms_of(word)]
    rows = keyword_channel(work.index, forms, FactFilter(reach=reach), _NEAR).scores
    placed = facts_in_rows(work.index, sorted(rows, key=lambda n: -rows[n]))
    links = []
    for n in sorted(rows, key=lambda n: -rows[n]):
        relation = relation_of(claim.text, placed[n].fact.fact)
        if relation is not None:
            kind = SUPPORTS if relation.kind in (SUPPORTS, SAME) else "relates_to"
            links.append({"type": kind, "to": placed[n].fact.id, "reason": relation.reason})
    return claim._replace(links=tuple(links[:_MOST_LINKS]))


def _strengthened(work: WriteScope, planner: FactPlanner, placed: PlacedFact, confidence: float) -> Change:
    writes = planner.amend(placed, confidence=confidence)
    return fact_change(work.caller, "strengthen", placed.entity, placed.fact.fact, writes, [placed.fact])


def _is_other_source(fact: Fact, item: DigestionItem) -> bool:
    return fact.source_event not in item.events and (fact.details or {}).get("document") != item.title


def _names(index: Index) -> dict[str, str]:
    """Return entities by title and alias, in normal form, without those that are too short to be found in a text."""
    found = {}
    for entity in entities(index):
        for name in (entity.title, *entity.aliases):
            if len(normal(name)) > 3 and not entity.name.startswith("@"):
                found[normal(name)] = entity.name
    return found


def _entity(sentence: str, names: dict[str, str]) -> str | None:
    text = f" {normal(sentence)} "
    known = [name for name in names if f" {name} " in text]
    named = None if known else thing_in_front(sentence)
    return names[max(known, key=len)] if known else named and entity_name(named)


SAME, UPDATES, SUPPORTS, RELATES = "same", "updates", "supports", "relates_to"
# The part of the words that two statements share if they are about one thing, and if one repeats the other.
RELATED_FROM, REPEATED_FROM = 0.4, 0.75
_NUMBER = re.compile(r"(?<![\w.])\d+(?:[.,:]\d+)*")


class ClaimRelation(NamedTuple):
    """What a claim is to a fact, with the reason in words."""

    kind: str
    reason: str


def relation_of(claim: str, fact: str) -> ClaimRelation | None:
    """Return what a claim is to a fact: `same`, `updates` (the same words with another number), `supports` (nearly the
    same words), `relates_to`, or None if they have little in common."""
    if normal(claim) == normal(fact):
        return ClaimRelation(SAME, "it says the same")
    mine, its = _words(claim), _words(fact)
    shared = sum(not forms.isdisjoint(set().union(*its) if its else ()) for forms in mine)
    if not mine or not its:
        return None
    part = shared / max(len(mine), len(its))
    new, old = _NUMBER.findall(claim), _NUMBER.findall(fact)
    if part >= REPEATED_FROM and new and old and len(new) == len(old) and new != old:
        changes = ", ".join(
            f"{before} became {after}" for before, after in zip(old, new, strict=True) if before != after
        )
        return ClaimRelation(UPDATES, f"the same statement with another value: {changes}")
    if part >= REPEATED_FROM and new == old:
        return ClaimRelation(SUPPORTS, "it says nearly the same in other words")
    if part >= RELATED_FROM or shared >= 3:
        return ClaimRelation(RELATES, "both are about the same thing")
    return None


def _words(text: str) -> list[set[str]]:
    return [set(forms_of(word)) for word in search_words(text) if not word[0].isdigit()]
