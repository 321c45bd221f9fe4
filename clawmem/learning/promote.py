"""Promotion: mark the facts of a day that are worth keeping for thirty days, in one commit, each with its reason.

Notes whose entity exists by now are candidates too. Doubtful promotions are proposed for review in the same commit.

The candidates for promotion of a day: its facts, and its notes whose entity exists by now.

Promotions that a person should decide: doubts, earlier decisions, and new proposals.

Tasks to judge which facts of a day are worth keeping for thirty days, in batches, and what an answer says.
"""

from __future__ import annotations

import json
import re
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from datetime import timedelta
from heapq import nlargest
from typing import Any, NamedTuple

from clawmem.errors import NotPermitted
from clawmem.index.search.channels import FactFilter, facts_in_rows, keyword_channel
from clawmem.index.search.lookup import (
    PlacedFact,
    by_ids,
    entities,
    facts_containing,
    facts_of,
    facts_of_days,
    newest_of,
    standing_facts_with,
)
from clawmem.index.tables.fact_marks import counted_fact
from clawmem.learning.adapt import current_adaptation
from clawmem.learning.attribution.quoted import may_be_shown
from clawmem.learning.by_model.telemetry import RULES
from clawmem.learning.reconciling.entities import (
    RELATION_PREDICATES,
    EntityTitles,
    Placement,
    close_people,
    place,
)
from clawmem.learning.reconciling.gate import word_beginnings
from clawmem.llm.choice import prompt
from clawmem.llm.presets import ModelTask, checked_answer
from clawmem.memory.entities.places import FactMove, move_writes
from clawmem.memory.facts.revise import reserved
from clawmem.memory.proposals import proposal_trailers, proposal_writes, read_proposals
from clawmem.memory.scope import WriteScope, fact_change
from clawmem.memory.writing import writing
from clawmem.model.facts.catalog import Catalog
from clawmem.model.facts.fact import PINNED, Fact, is_given_by_person, vital_importance
from clawmem.model.language.dates import day_of, stamp
from clawmem.model.language.question import search_words
from clawmem.model.language.text import counted, normal, one_line
from clawmem.model.lifecycle.chain import succeed
from clawmem.model.proposals.para import (
    EntityHint,
    Proposition,
    entity_name,
    kinds_of_objects,
    predicates_of_things,
    usable_tags,
)
from clawmem.model.proposals.promotion import (
    MARK,
    PromotionScore,
    PromotionTerms,
    PromotionVerdict,
    ScoredFact,
    decide,
    mark_promoted,
    para_class,
    place_of_waiting,
    promotion_doubt,
    promotion_of,
    score_fact,
    without_place,
)
from clawmem.model.proposals.proposal import (
    ADD,
    APPROVED,
    DECIDE,
    OPEN,
    PROMOTE,
    PromotionWorth,
    Proposal,
    ProposalTarget,
    new_proposal_id,
    topic,
)
from clawmem.model.records.caller import Caller
from clawmem.model.records.change import Change, subject_line, trailers
from clawmem.model.records.cursor import CURSOR_PATH as CURSOR
from clawmem.model.records.cursor import parse_cursor
from clawmem.model.records.entity import candidate_place, is_candidate_place, kind_of, owner_of
from clawmem.model.safety.secrets.find import find_secret
from clawmem.vault.state.reading_state import MOST_JUDGED, keep_reading_state, read_reading_state
from clawmem.vault.vault import Vault

MAX_FACTS = 20
MAX_BATCH_CHARACTERS = 8000
MAX_REASON_CHARACTERS = 160
_JUDGEMENT = {"fact": {"type": "string"}, "worth": {"type": "number"}, "reason": {"type": "string"}}
_PLACE = re.compile(r"(?P<kind>person|company|project|area|resource|archive):\s*(?P<title>\S.{0,79})")
SCHEMA: Mapping[str, Any] = {
    "type": "object",
    "additionalProperties": False,
    "required": ["judgements"],
    "properties": {
        "judgements": {
            "type": "array",
            "items": {
                "type": "object",
                "additionalProperties": False,
                "required": list(_JUDGEMENT),
                "properties": {
                    **_JUDGEMENT,
                    "at": {"type": "string"},
                    "over": {"type": "array", "items": {"type": "string"}},
                    "t": {},
                },
            },
        },
        "finished": {"type": "array", "items": {"type": "string"}},
    },
}
Key = tuple[str, str]
_MAY_END = frozenset(("project", "area", "resource"))


class Judgements(NamedTuple):
    """What a reader judged, by `key_of`: the scores, and the places of facts that belong elsewhere. `finished` are the
    entities whose work is over. By the ids of facts, `over` are those of older ones that they replace, and `tags` words
    to ask for them by."""

    judge: str
    scores: Mapping[Key, PromotionScore] = {}
    places: Mapping[Key, EntityHint] = {}
    notices: tuple[str, ...] = ()
    finished: tuple[str, ...] = ()
    over: Mapping[str, tuple[str, ...]] = {}
    tags: Mapping[str, tuple[str, ...]] = {}


def key_of(fact: Fact, entity: str) -> Key:
    """Return the key of a judgement: the entity and the normalised statement."""
    return entity, normal(fact.fact)


def judging_tasks(candidates: Sequence[ScoredFact], on: str) -> dict[str, tuple[ModelTask, list[ScoredFact]]]:
    """Return the tasks to judge the candidates of a day, by their ids, each with what it shows."""
    waiting, found = [candidate for candidate in candidates if may_be_shown(candidate.fact)], {}
    while waiting:
        shown = waiting[: _batch_size(waiting)]
        task = judging_task(shown, on)
        found[task.key] = (task, shown)
        del waiting[: len(shown)]
    return found


def judged_facts(name: str, answer: Mapping[str, Any], shown: Sequence[ScoredFact]) -> Judgements:
    """Return what a reader's answer says of the facts that it was shown."""
    labels = {f"f{number}": fact for number, fact in enumerate(shown, 1)}
    found: dict[Key, PromotionScore] = {}
    places: dict[Key, EntityHint] = {}
    over: dict[str, tuple[str, ...]] = {}
    tags: dict[str, tuple[str, ...]] = {}
    dropped: Counter[str] = Counter()
    for judged in answer["judgements"]:
        other_fact = labels.get(judged["fact"].strip())
        key = key_of(other_fact.fact, other_fact.entity) if other_fact else ("", "")
        if other_fact is None:
            dropped["about no such fact"] += 1
        elif not 0 <= judged["worth"] <= 1:
            dropped["with a worth that is not 0 to 1"] += 1
        elif key in found:
            dropped["given twice"] += 1
        else:
            found[key] = _judgement(name, judged)
            place = _PLACE.fullmatch(one_line(judged.get("at") or ""))
            places |= {key: EntityHint(place["kind"], place["title"], "asked")} if place else {}
            olds = _labelled(judged["fact"].strip(), other_fact.older)
            named = tuple(olds[label].id for label in dict.fromkeys(judged.get("over") or ()) if label in olds)
            over |= {other_fact.fact.id: named} if named else {}
            words = usable_tags(judged.get("t"), other_fact.fact.fact)
            tags |= {other_fact.fact.id: words} if words and not other_fact.fact.tags else {}
    reasons = ", ".join(f"{count} {reason}" for reason, count in dropped.most_common())
    notices = (f"{counted(dropped.total(), 'judgement')} of {name} dropped: {reasons}.",) if dropped else ()
    ended = {other.strip().rpartition(" ")[2] for other in answer.get("finished", ())}  # with or without its class
    finished = {fact.entity for fact in shown if fact.entity in ended and kind_of(fact.entity) in _MAY_END}
    return Judgements(name, found, places, notices, tuple(sorted(finished)), over, tags)


def _labelled(label: str, older: Sequence[Fact]) -> dict[str, Fact]:
    """Return older facts by how the task calls them: f3a, f3b."""
    return {f"{label}{letter}": fact for letter, fact in zip("abc", older, strict=False)}


def _judgement(name: str, judged: Mapping[str, Any]) -> PromotionScore:
    reason = one_line(judged["reason"])[:MAX_REASON_CHARACTERS].rstrip(" .")
    shown = reason if reason.isprintable() and find_secret(reason) is None else ""
    return PromotionScore(round(float(judged["worth"]), 3), (f"{name}: {shown or 'no reason given'}",))


def judging_task(shown: Sequence[ScoredFact], on: str) -> ModelTask:
    """Return the task to judge a batch of candidates."""
    return ModelTask("promote", prompt("promote"), f"The facts of {on}:\n{render_candidates(shown)}", SCHEMA)


def render_candidates(shown: Sequence[ScoredFact]) -> str:
    """Return the candidates as JSON lines labelled f1, f2, ... No text can close the `<facts>` element."""
    lines = []
    for number, scored_fact in enumerate(shown, 1):
        record = {
            "id": f"f{number}",
            "fact": scored_fact.fact.fact,
            "about": f"{para_class(scored_fact.entity)} {scored_fact.entity}",
            "category": scored_fact.fact.category,
            "tags": scored_fact.fact.tags,
            "from": scored_fact.fact.trust or "user",
            "true_from": scored_fact.fact.valid_from,
            "true_until": scored_fact.fact.valid_to,
            "older": {label: old.fact for label, old in _labelled(f"f{number}", scored_fact.older).items()},
        }
        present = {key: value for key, value in record.items() if value}
        lines.append(json.dumps(present, ensure_ascii=False).replace("<", "\\u003c").replace(">", "\\u003e"))
    return "<facts>\n" + "\n".join(lines) + "\n</facts>"


def _batch_size(waiting: Sequence[ScoredFact]) -> int:
    size = 0
    for number, scored_fact in enumerate(waiting[:MAX_FACTS]):
        size += len(scored_fact.fact.fact)
        if number and size > MAX_BATCH_CHARACTERS:
            return number
    return min(len(waiting), MAX_FACTS)


# A reader is asked about the facts of so many days before today.
_DAYS_TO_JUDGE = 7
# So many of the facts that nobody placed are looked through for older days, and with each fact it sees so many older.
_MOST_TYPED, _MOST_OLDER = 60, 3
_NOT_PLAIN = frozenset(("guardrail", "instruction", "decision", "lesson", "correction"))


class PromoteResult(NamedTuple):
    """The result of promoting one day.

    `verdicts` has every candidate, best first. `judge` is the reader who judged, or `rules`. `replaced` are
    pairs of an old fact and one that follows it.
    """

    on: str
    verdicts: tuple[PromotionVerdict, ...]
    commit: str | None = None
    notices: tuple[str, ...] = ()
    proposals: tuple[Proposal, ...] = ()
    judge: str = RULES
    replaced: tuple[tuple[Fact, Fact], ...] = ()

    @property
    def kept(self) -> tuple[PromotionVerdict, ...]:
        """Return the verdicts that promote."""
        return tuple(verdict for verdict in self.verdicts if verdict.promoted)

    @property
    def waiting(self) -> tuple[PromotionVerdict, ...]:
        """Return the verdicts that wait for review."""
        return tuple(verdict for verdict in self.verdicts if verdict.waits)


class _PromotionDay(NamedTuple):
    """The scored candidates of a day, the candidates by fact id, the pending proposals, and the limits."""

    on: str
    candidates: tuple[ScoredFact, ...]
    by_id: dict[str, PromotionCandidate]
    pending: PendingPromotions
    terms: PromotionTerms


def promotion_tasks(
    vault: Vault, caller: Caller, days: Sequence[str] = ()
) -> dict[str, tuple[Sequence[str], ModelTask, list[ScoredFact]]]:
    """Return the tasks to judge the facts of some days, or of the last ones, that no reader has judged: by their ids,
    each with its days and what it shows."""

    today = caller.now.date()
    last = days or [(today - timedelta(days=back)).isoformat() for back in range(1, _DAYS_TO_JUDGE + 1)]
    found: dict[str, tuple[Sequence[str], ModelTask, list[ScoredFact]]] = {}
    for on in last:
        with writing(vault, caller, "promote", dry_run=True) as work:
            ranked = sorted(_day(work, on).candidates, key=lambda candidate: -candidate.judgement.score)
            open_ones = [
                candidate._replace(older=_older_statements(work, candidate.fact))
                for candidate in ranked
                if candidate.judgement.refusal is None and candidate.settled is None
            ]
        found.update({key: ((on,), *task) for key, task in judging_tasks(open_ones, on).items()})
    if not days:
        for key, (task, shown) in judging_tasks(_typed_earlier(vault, caller, last), "earlier days").items():
            found[key] = (sorted({day_of(candidate.fact.timestamp) for candidate in shown}), task, shown)
    return found


def _typed_earlier(vault: Vault, caller: Caller, last: Collection[str]) -> list[ScoredFact]:
    """Return what a person typed before the last days, that nobody placed or judged and that has no tags or may
    replace something: a person may have kept notes for weeks before a reader is asked. The newest comes first."""
    with writing(vault, caller, "promote", dry_run=True) as work:
        default, judged = vault.settings.words("defaults.entity"), read_reading_state(vault).judged
        found = []
        for placed in newest_of(work.index, default, _MOST_TYPED):
            fact, on = placed.fact, day_of(placed.fact.timestamp)
            if on in last or fact.id in judged or not _is_typed(fact):
                continue
            older = _older_statements(work, fact)
            if older or not fact.tags:
                score = score_fact(counted_fact(work.index, fact), placed.entity, on)
                found.append(ScoredFact(fact, placed.entity, score, older=older))
    return [candidate for candidate in found if candidate.judgement.refusal is None]


def _is_typed(fact: Fact) -> bool:
    """Return whether a fact is a plain statement that a person typed: no rule, decision or lesson, and not pinned or so
    important that a person ends it."""
    plain = is_given_by_person(fact) and fact.subject is None and fact.is_current and fact.category not in _NOT_PLAIN
    return plain and fact.importance != PINNED and vital_importance(fact.fact, fact.category) is None


def _older_statements(work: WriteScope, fact: Fact) -> tuple[Fact, ...]:
    """Return what a person typed before a typed fact and it may replace: what has most words in common with it."""
    if not _is_typed(fact):
        return ()
    words, own = search_words(fact.fact), word_beginnings(fact.fact)
    rows = keyword_channel(work.index, words, FactFilter(("",))).scores
    others = (placed.fact for placed in facts_in_rows(work.index, sorted(rows)).values())
    near = (
        (len(own & word_beginnings(other.fact)), other)
        for other in others
        if _is_typed(other) and other.timestamp < fact.timestamp and other.project == fact.project
    )
    best = nlargest(_MOST_OLDER, near, key=lambda pair: (pair[0], pair[1].timestamp))
    return tuple(other for shared, other in best if shared)


def apply_promotion(
    vault: Vault, caller: Caller, key: str, answer: Mapping[str, Any], days: Sequence[str] = (), judge: str = ""
) -> PromoteResult | None:
    """Promote and place facts by an answer of `judge`, or of the agent. Return None if no such task waits."""

    asked = promotion_tasks(vault, caller, days).get(key)
    if asked is None:
        return None
    of_days, task, shown = asked
    judging = judged_facts(judge or caller.agent or "agent", checked_answer(task, answer), shown)
    result = joined_results([promote(vault, caller, on, judging=judging) for on in of_days])
    state = read_reading_state(vault)
    judged = (*state.judged, *(scored_fact.fact.id for scored_fact in shown))[-MOST_JUDGED:]
    keep_reading_state(vault, state._replace(judged=judged))
    return result._replace(replaced=_replace_older(vault, caller, judging)) if judging.over else result


def _replace_older(vault: Vault, caller: Caller, judging: Judgements) -> tuple[tuple[Fact, Fact], ...]:
    """Let typed facts follow the older ones that a reader says they replace, in one commit for each. Return each old
    fact with the one that follows it."""
    pairs: list[tuple[Fact, Fact]] = []
    with writing(vault, caller, "supersede") as work:
        for name, olds in judging.over.items():
            known = [work.latest(placed) for placed in by_ids(work.index, (name, *olds)).values()]
            new = next((placed for placed in known if placed.fact.id == name and placed.fact.is_current), None)
            older = [
                placed
                for placed in known
                if placed.fact.id != name and placed.fact.is_current and reserved(work, [placed]) is None
            ]
            if new is None or not older:
                continue
            at, begins = stamp(caller.now), day_of(new.fact.timestamp)
            succession = succeed(new.fact, (placed.fact for placed in older), "supersedes", None, at, begins)
            places = {placed.fact.id: placed.entity for placed in known}
            writes = work.items_with(
                [PlacedFact(fact, places[fact.id]) for fact in (succession.new, *succession.closed)]
            )
            words = f"{new.fact.fact} (was: {'; '.join(placed.fact.fact for placed in older)})"
            facts = [succession.new, *succession.closed]
            replaced = [fact.id for fact in succession.closed if fact.superseded_by]
            change = fact_change(caller, "supersede", new.entity, words, writes, facts, supersedes=replaced)
            with suppress(NotPermitted):  # an agent without the right leaves them as they are
                work.commit([change._replace(body=f"{judging.judge} read both, as a person typed them.")])
                pairs += [(placed.fact, new.fact) for placed in older if placed.fact.id in replaced]
    return tuple(pairs)


def joined_results(results: Sequence[PromoteResult]) -> PromoteResult:
    """Return several runs of one day as one; of a fact that was decided about twice, the first verdict counts."""
    last = results[-1]
    verdicts = {verdict.candidate.fact.id: verdict for result in reversed(results) for verdict in result.verdicts}
    ranked = sorted(verdicts.values(), key=lambda verdict: (not verdict.promoted, -verdict.candidate.judgement.score))
    return last._replace(
        verdicts=tuple(ranked),
        commit=next((result.commit for result in reversed(results) if result.commit), None),
        notices=tuple(dict.fromkeys(notice for result in results for notice in result.notices)),
        proposals=tuple(proposal for result in results for proposal in result.proposals),
        judge=next((result.judge for result in results if result.judge != RULES), RULES),
        replaced=tuple(pair for result in results for pair in result.replaced),
    )


def promote(
    vault: Vault, caller: Caller, on: str, dry_run: bool = False, judging: Judgements | None = None
) -> PromoteResult:
    """Promote the best facts of the day `on`, up to the daily limit: of those that a reader judged, else by the rules.

    Earlier promotions for that day count towards the limit, so a second run promotes nothing more. Facts that a reader
    judged before are left alone.
    """
    with writing(vault, caller, "promote", dry_run=dry_run) as work:
        day = _day(work, on)
        tags = judging.tags if judging else {}
        candidates = [
            candidate._replace(
                judgement=_score(candidate, judging),
                fact=candidate.fact._replace(tags=tags.get(candidate.fact.id, candidate.fact.tags)),
            )
            for candidate in day.candidates
            if judging is None or (candidate.entity, normal(candidate.fact.fact)) in judging.scores
        ]
        placed = _place_elsewhere(day, judging, work.vault.settings.words("defaults.entity"))
        verdicts = [
            _with_move(verdict, day.by_id[verdict.candidate.fact.id]) for verdict in decide(candidates, day.terms)
        ]
        proposals: list[Proposal] = []
        commit = None
        if not dry_run:
            verdicts, proposals = _with_proposals(day, verdicts)
            proposals += day.pending.archiving(judging.finished, judging.judge) if judging else []
            commit = _commit(work, day, verdicts, proposals, placed, tags)
        return PromoteResult(
            on,
            tuple(verdicts),
            commit,
            (*work.notices, *day.pending.notices, *(judging.notices if judging else ())),
            tuple(proposals),
            judging.judge if judging and judging.scores else RULES,
        )


def _day(work: WriteScope, on: str) -> _PromotionDay:
    settings = work.vault.settings
    values, pending = current_adaptation(work.read, settings), PendingPromotions(work)
    found = {candidate.fact.id: candidate for candidate in promotion_candidates(work, on)}
    terms = PromotionTerms(
        values.score,
        values.max_facts,
        sum(1 for placed in facts_containing(work.index, f'"{MARK}"') if _promoted_alone(placed.fact, on)),
        asked_before=pending.count(on),
    )
    scored = (
        pending.scored(candidate, score_fact(counted_fact(work.index, candidate.fact), candidate.entity, on))
        for candidate in found.values()
    )
    judged = frozenset(read_reading_state(work.vault).judged)
    candidates = (
        scored_fact._replace(settled="a reader judged it before")
        if scored_fact.fact.id in judged and not scored_fact.settled
        else scored_fact
        for scored_fact in scored
    )
    return _PromotionDay(on, tuple(candidates), found, pending, terms)


def _promoted_alone(fact: Fact, on: str) -> bool:
    """Return whether the fact was promoted for that day without review. Only these count towards the daily limit."""
    mark = promotion_of(fact)
    return mark is not None and day_of(mark["on"]) == on and "proposal" not in mark


def _score(fact: ScoredFact, judging: Judgements | None) -> PromotionScore:
    """Return the score of the reader, but keep the refusal of the rules."""
    found = judging.scores.get((fact.entity, normal(fact.fact.fact))) if judging else None
    return found._replace(refusal=fact.judgement.refusal) if found else fact.judgement


def _place_elsewhere(day: _PromotionDay, judging: Judgements | None, default: str) -> frozenset[str]:
    """Let candidates go where the reader says that they belong; what a person placed stays. Return the ids of those
    that go there whatever they are worth."""
    found: set[str] = set()
    for scored_fact in day.candidates if judging and judging.places else ():
        hint = judging.places.get((scored_fact.entity, normal(scored_fact.fact.fact))) if judging else None
        entity = entity_name(hint) if hint else None
        candidate = day.by_id[scored_fact.fact.id]
        free = is_placed_by_learning(scored_fact.fact) or candidate.entity == default
        if hint and entity and entity != candidate.entity and free:
            source = candidate.moves or candidate.entity
            why = f"it is about the {hint.kind} {hint.title}"
            day.by_id[scored_fact.fact.id] = candidate._replace(entity=entity, title=hint.title, moves=source, why=why)
            found |= set() if is_candidate_place(source) else {scored_fact.fact.id}
    return frozenset(found)


def _with_move(verdict: PromotionVerdict, candidate: PromotionCandidate) -> PromotionVerdict:
    """Return the verdict that says where a promoted fact moves from, and why."""
    if not (verdict.promoted and candidate.moves):
        return verdict
    return verdict._replace(reason=f"{verdict.reason}; moved from {candidate.moves}: {candidate.why}")


def _with_proposals(
    day: _PromotionDay, verdicts: Sequence[PromotionVerdict]
) -> tuple[list[PromotionVerdict], list[Proposal]]:
    """Return the verdicts with the ids of their new proposals, and the proposals."""
    proposals, known = [], []
    for verdict in verdicts:
        if verdict.waits:
            proposals.append(day.pending.proposal(day.by_id[verdict.candidate.fact.id], verdict, day.on))
            known.append(verdict._replace(proposal=proposals[-1].id))
        else:
            known.append(verdict)
    return known, proposals


def _commit(
    work: WriteScope,
    day: _PromotionDay,
    verdicts: Sequence[PromotionVerdict],
    proposals: Sequence[Proposal],
    placed: Collection[str],
    tags: Collection[str],
) -> str | None:
    kept = [verdict.candidate for verdict in verdicts if verdict.promoted]
    moved = [
        verdict.candidate
        for verdict in verdicts
        if verdict.candidate.fact.id in placed and not (verdict.promoted or verdict.waits)
    ]
    written = {candidate.fact.id for candidate in (*kept, *moved)}
    tagged = [
        verdict.candidate.fact
        for verdict in verdicts
        if verdict.candidate.fact.id in {*tags} - written and not day.by_id[verdict.candidate.fact.id].moves
    ]
    change = _change(work, day, kept, proposals, moved, tagged)
    return work.commit([change])[-1] if kept or proposals or moved or tagged else None


def _change(
    work: WriteScope,
    day: _PromotionDay,
    kept: Sequence[ScoredFact],
    proposals: Sequence[Proposal],
    moved: Sequence[ScoredFact],
    tagged: Sequence[Fact],
) -> Change:
    moves = [
        _move(day.by_id[scored_fact.fact.id], mark_promoted(scored_fact.fact, day.on, scored_fact.judgement))
        for scored_fact in kept
    ]
    moves += [_move(day.by_id[scored_fact.fact.id], scored_fact.fact) for scored_fact in moved]
    moves += [FactMove(fact, day.by_id[fact.id].entity, day.by_id[fact.id].entity) for fact in tagged]
    writes = move_writes(work, moves)
    facts = [move.fact for move in moves]
    touched = {place for move in moves for place in (move.target, move.source) if place}
    items = trailers("promote", facts=[fact.id for fact in facts], entities=sorted(touched))
    body = [
        *(_body_line(scored_fact, day.by_id[scored_fact.fact.id]) for scored_fact in (*kept, *moved)),
        *(f"- {proposal.id} waits for review: {proposal.says} ({proposal.why})" for proposal in proposals),
    ]
    return Change(
        subject_line("promote", day.on, _words(len(kept), len(proposals), len(moved), len(tagged))),
        {**writes, **proposal_writes(proposals)},
        (*items, *proposal_trailers(proposals)),
        body="\n".join(body),
    )


def _words(facts: int, proposals: int, moved: int, tagged: int) -> str:
    rest = [f"{proposals} for a person to decide"] * bool(proposals) + [f"{moved} placed elsewhere"] * bool(moved)
    rest += [f"{tagged} tagged"] * bool(tagged)
    kept = f"{counted(facts, 'fact') if facts else 'nothing'} worth thirty days"
    return ", ".join([kept, *rest] if facts or not rest else rest)


def _move(candidate: PromotionCandidate, promoted: Fact) -> FactMove:
    return FactMove(without_place(promoted), candidate.moves or candidate.entity, candidate.entity, candidate.title)


def _body_line(fact: ScoredFact, candidate: PromotionCandidate) -> str:
    why = f"{fact.judgement.score:.2f}: {'; '.join(fact.judgement.reasons)}"
    line = f"- {para_class(candidate.entity)} {candidate.entity}: {one_line(fact.fact.fact)} ({why})"
    return f"{line}; moved from {candidate.moves}: {candidate.why}" if candidate.moves else line


KIND, ARCHIVE = "promotion", "archive"


class PendingPromotions:
    """The promotion proposals of the vault, and the contradictions of each fact."""

    def __init__(self, work: WriteScope) -> None:
        filed = read_proposals(work.vault, work.read)
        self._work = work
        self._promotions = [proposal for proposal in filed.proposals if proposal.kind == KIND]
        self._taken = {proposal.id for proposal in filed.proposals}
        self._archived = {
            proposal.entity for proposal in filed.proposals if proposal.kind == ARCHIVE and proposal.status != APPROVED
        }
        self._earlier = {
            key: promotion for promotion in self._promotions if promotion.status != APPROVED for key in _keys(promotion)
        }
        self._contradictions = _contradictions(work, filed.open)
        self.notices = tuple(f"left alone: {problem}" for problem in filed.unreadable)

    def count(self, on: str) -> int:
        """Return how many promotions were proposed for a day, decided ones included."""
        return sum(1 for promotion in self._promotions if promotion.worth and promotion.worth.on == on)

    def scored(self, candidate: PromotionCandidate, judgement: PromotionScore) -> ScoredFact:
        """Return the candidate with its score, its doubt and any earlier decision."""
        earlier = self._earlier.get((candidate.fact.id,))
        doubt = promotion_doubt(candidate.fact, self._contradictions.get(candidate.fact.id, ()))
        settled = _settled(earlier) if earlier else None
        return ScoredFact(candidate.fact, candidate.entity, judgement, doubt, earlier.id if earlier else None, settled)

    def proposal(self, candidate: PromotionCandidate, verdict: PromotionVerdict, on: str) -> Proposal:
        """Return a proposal with a new id for a promotion that waits for review."""
        judgement, fact = verdict.candidate.judgement, candidate.fact
        return Proposal(
            self._new_id(),
            KIND,
            f"Keep for thirty days: {fact.fact}",
            f"{verdict.reason[0].upper()}{verdict.reason[1:]}.",
            stamp(self._work.caller.now),
            PROMOTE,
            targets=(ProposalTarget(fact.id, fact.fact),),
            entity=candidate.entity,
            title=candidate.title,
            worth=PromotionWorth(on, judgement.score, judgement.reasons),
            source_event=fact.source_event,
            agent=fact.agent,
        )

    def archiving(self, entities: Iterable[str], judge: str) -> list[Proposal]:
        """Return a proposal to archive each of these entities, without those that were proposed before."""
        why, now = f"{judge} reads that its work is finished or given up.", stamp(self._work.caller.now)
        return [Proposal(self._new_id(), ARCHIVE, f"Archive {entity}.", why, now, DECIDE, entity=entity)
                for entity in entities if entity not in self._archived]  # fmt: skip

    def _new_id(self) -> str:
        identity = new_proposal_id(self._work.caller.entropy, self._taken)
        self._taken.add(identity)
        return identity


def _keys(proposal: Proposal) -> Iterable[tuple[str, ...]]:
    yield from ((target.id,) for target in proposal.targets)
    if proposal.fact:
        yield topic(ADD, proposal.fact)


def _settled(earlier: Proposal) -> str:
    if earlier.status == OPEN:
        return f"it already waits for review as {earlier.id}"
    because = f": {earlier.decided.reason}" if earlier.decided and earlier.decided.reason else ""
    return f"it was rejected in review as {earlier.id}{because}"


def _contradictions(work: WriteScope, waiting: Sequence[Proposal]) -> dict[str, list[str]]:
    """Return by fact id the facts that contradict it in either direction, and open conflict proposals."""
    contradictions: dict[str, list[str]] = defaultdict(list)
    for proposal in waiting:
        if proposal.kind == "conflict":
            for target in proposal.targets:
                contradictions[target.id].append(proposal.id)
    links = [
        (placed.fact, link.to)
        for placed in facts_containing(work.index, '"contradicts"')
        for link in placed.fact.links
        if link.type == "contradicts" and placed.fact.is_current
    ]
    current = _current(work, (to for _, to in links))
    for fact, to in links:
        if to in current:
            contradictions[fact.id].append(to)
            contradictions[to].append(fact.id)
    return contradictions


def _current(work: WriteScope, ids: Iterable[str]) -> dict[str, Fact]:
    return {key: placed.fact for key, placed in by_ids(work.index, set(ids)).items() if placed.fact.is_current}


class PromotionCandidate(NamedTuple):
    """A fact and the entity that it goes to.

    `title` is the title of its entity if that is new. `moves` is the entity in which the fact stands now, if that is
    another one, and `why` says why it moves.
    """

    fact: Fact
    entity: str
    title: str | None = None
    moves: str | None = None
    why: str = ""


def promotion_candidates(work: WriteScope, on: str) -> list[PromotionCandidate]:
    """Return the candidates of the day `on` that were not promoted before. Unreadable files are skipped."""
    known = _KnownPlaces(work)
    found = {fact.id: (fact, entity) for fact, entity in _facts(work, on)}
    return [
        _placed(fact, entity, known)
        for fact, entity in found.values()
        if promotion_of(fact) is None and work.is_readable(entity)
    ]


class _KnownPlaces:
    """What placing a fact asks of the vault: titles, mentions, people close to the speaker, and kinds of things."""

    def __init__(self, work: WriteScope) -> None:
        self._titles = EntityTitles({entity.name: (entity.title, *entity.aliases) for entity in entities(work.index)})
        self._mentions = parse_cursor(work.read(CURSOR)).mentions
        catalog = work.vault.catalog_or_none() or Catalog({})
        self._close = close_people(placed.fact for placed in standing_facts_with(work.index, RELATION_PREDICATES))
        things = standing_facts_with(work.index, predicates_of_things(catalog))
        self._kinds = kinds_of_objects((placed.fact for placed in things), catalog)

    def place(self, proposition: Proposition) -> Placement:
        """Return where the fact of a proposition goes."""
        return place(proposition, self._titles, self._mentions, lambda: self._close, lambda: self._kinds)


def _facts(work: WriteScope, on: str) -> list[PlacedFact]:
    """Return the facts of the day, and those that were learned on it and wait for promotion."""
    return [*facts_of_days(work.index, [on]), *facts_of(work.index, candidate_place(on))]


def _placed(fact: Fact, entity: str, known: _KnownPlaces) -> PromotionCandidate:
    """Return the candidate with the entity that its fact belongs to.

    A fact that waits goes where learning placed it. One on the page of a person goes to the thing that it is about, if
    learning put it there; what a person placed stays.
    """
    waits = place_of_waiting(fact)
    if waits:
        return PromotionCandidate(fact, waits[0], title=waits[1], moves=entity, why="it waited for promotion")
    if kind_of(entity) != "person" or owner_of(entity) or not is_placed_by_learning(fact):
        return PromotionCandidate(fact, entity)
    found = known.place(_as_proposition(fact))
    if found.entity is None or found.entity == entity or kind_of(found.entity) == "person":
        return PromotionCandidate(fact, entity)
    title = found.title if found.create else None
    return PromotionCandidate(fact, found.entity, title=title, moves=entity, why=found.reason.rstrip("."))


def is_placed_by_learning(fact: Fact) -> bool:
    """Return whether learning chose the place of a fact, not a person."""
    return (fact.workflow or "").startswith(("heartbeat/", "learn"))


def _as_proposition(fact: Fact) -> Proposition:
    return Proposition(fact.fact, "", (0, 0), "", fact.subject, fact.predicate, fact.object, category=fact.category)
