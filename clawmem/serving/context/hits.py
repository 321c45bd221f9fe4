"""The hits of a question in a context: chosen by relevance, by words first, and by meaning where room is left.

Recall results as text for a prompt, within a token budget.
"""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from typing import TYPE_CHECKING

from clawmem.index.refresh import run_query
from clawmem.index.search.by_tier import ALWAYS, PAST, FactCandidate, ReaderScope
from clawmem.index.search.channels import FactFilter, agent_rows_with, facts_in_rows, statements_in_rows
from clawmem.index.search.events import has_passages
from clawmem.index.search.lookup import rows_from_events
from clawmem.index.search.replaced import outdated_remarks
from clawmem.index.tables.store import Index
from clawmem.index.vectors import has_vectors
from clawmem.model.facts.catalog import Catalog
from clawmem.model.facts.fact import SUPERSEDED
from clawmem.model.facts.fact_words import UNREVIEWED
from clawmem.model.language.dates import stamp
from clawmem.model.language.question import asks_former, is_private, is_technical, search_words, topics
from clawmem.model.language.text import forms_of, normal, shorten
from clawmem.model.lifecycle.tiers import ALWAYS_TOLD, HOT
from clawmem.model.named_tuple import NamedTuple
from clawmem.model.pages import context_frame as frame
from clawmem.model.pages.packing import Section, Shown, Unit, pack
from clawmem.model.pages.tokens import context_line, note_line, servable, token_bound
from clawmem.model.proposals.quarantine import ADDRESS_SIGNS, may_be_told, may_lead, order_handed_on
from clawmem.model.records.caller import Caller
from clawmem.model.records.event import ENTRY, Event, is_document, is_speech
from clawmem.model.records.layout import agent_of
from clawmem.model.search.ranking import close_to_best
from clawmem.serving.context.pages import follow_up_commands, orders_remark, replaced_remark, said_units
from clawmem.serving.context.units import (
    ContextResult,
    TierCounts,
    UnitStyle,
    candidates_of,
    context_result,
    fact_units,
    first_of_tier,
    tiers_at,
    tiers_of,
)
from clawmem.serving.recall.recall import (
    LEAST_SCORE,
    NEAR_SHARE,
    QuestionWords,
    RecallQuery,
    best_rows,
    gone_facts,
    gone_words,
    question_words,
    recall_in,
    slips_mended,
    successors_of,
)
from clawmem.serving.recall.result import EVENTS, NOTES, SUMMARIES, FactHit, NoteHit, RecallResult
from clawmem.vault.state.journal import AccessCount
from clawmem.vault.vault import Vault

if TYPE_CHECKING:
    from clawmem.serving.context.connected import ConnectedFact

# One hit of each kind for this many tokens, within limits: the lines of both kinds together are longer.
_TOKENS_PER_ANSWER = 30
_FEWEST_ANSWERS, _MOST_ANSWERS = 40, 240
# A hit is shown if its score is at least this part of the best one's.
_FACTS_FROM = 0.5
_EVENTS_FROM = 0.2
# Where vectors are searched, every text has some score: this part of the best one's, facts included.
_MEANT_FROM = 0.4
# What is a little further off, beyond so many tokens; its score then has to be at least the second number.
_WIDE, _WIDE_LEAST, _WIDE_FROM = 2_000, 0.06, 0.15
_MOST_FORMER, _MOST_WRITTEN = 5, 3
# The facts that the best messages taught are shown, in whatever words: so many messages.
_TEACHING = 3
# What is nearest to a question that nothing answers: facts, and events in a usual and in a wide context.
_NEAREST_FACTS, _NEAREST_SAID, _NEAREST_WIDE = 2, 1, 12
# A context is for a task, not for one answer: it ends below this part of the score that answers a question.
_NEAR_PART = 0.9
# An event with less only shares an everyday word with the question: 053.
_LEAST_SCORE = 0.085
# Where vectors are searched, every text has some score: 053.
_LEAST_MEANT = 0.11
# A row of a table or a card is shown if it has so much of the question: many rows share a word.
_ENTRY_SHARE = 0.5
# The share of the free budget for facts about the question, and up to twice that for the tokens of two facts. What was
# said about it gets the rest.
ASKED_SHARE = 0.1
_TWO_FACTS = 50
# The most of the free budget for facts that answer the question together, and for facts connected with what was found:
# a part of it, and a number of tokens.
_CHAIN_SHARE = 0.5
_UNFRAMED = 0.4  # of a small budget, what the frame and remarks leave at least
_CONNECTED_SHARE, _CONNECTED_TOKENS = 0.5, 150
# Whether one of so many facts has all words of the question decides whether a further pass looks for the others.
_ANSWERING = 5
# The tokens from which on a search by meaning may add lines.
_WORTH_A_SEARCH = 30


class ContextRequest(NamedTuple):
    """A request for context: the caller, the budget in tokens, the question, the facts to use, whether to quote
    evidence, whether it is about software whatever its words are, the entities that are the user, and
    the one of facts about nothing with a page."""

    caller: Caller
    budget: int
    question: str | None = None
    wanted: FactFilter = FactFilter()
    evidence: bool = False
    technical: bool = False
    of_user: frozenset[str] = frozenset()
    general: str = ""

    @property
    def at_work(self) -> bool:
        """Return whether the context is for a project or a workflow; one for work may be outside of both."""
        reach = self.wanted.reach
        return self.wanted.of_work and reach is not None and (reach.project or reach.workflow) is not None


class QuestionHits(NamedTuple):
    """The results for a question: facts and events, best first, and the events that may be shown, as units.

    `technical` means that the task is about software. `chain` are the facts of further passes that answer the question
    together with the first one. `further` gets all facts of further passes that are offered, by row.
    `answered` means that one fact has all words of the question. `former` is what held before, where it is asked for.
    `written` are the lines of people's pages that answer, each with path and text. `near` means that nothing answers,
    and the facts and events are only the nearest.
    """

    facts: Sequence[FactCandidate]
    heard: Sequence[Event]
    said: Sequence[Unit]
    technical: bool = False
    chain: "Sequence[ConnectedFact]" = ()
    further: "dict[int, ConnectedFact] | None" = None
    answered: bool = False
    former: Sequence[Unit] = ()
    written: Sequence[tuple[str, str]] = ()
    near: bool = False


def find_hits(
    vault: Vault,
    index: Index,
    on: TierCounts,
    wish: ContextRequest,
    counted: Mapping[str, AccessCount],
    typed: str = "",
) -> tuple[QuestionHits, list[str]]:
    """Return the hits of the question by its words and its meaning, and remarks on others. Slips in its words are
    mended once: then `typed` is the question as it was, as in `RecallQuery`."""
    question, wanted = wish.question or "", wish.wanted
    # With `as_of`, only facts are searched: an event has only the time at which it happened.
    with_talk = not (wanted.as_of or wanted.entity) and has_passages(index)
    words = question_words(index, question, with_talk, vault if has_vectors(vault) else None, vault.catalog_or_none())
    if not typed and (slips := slips_mended(index, question, words)) is not None:
        hits, asides = find_hits(vault, index, on, wish._replace(question=slips[0]), counted, question)
        return hits, [*filter(None, slips[1:]), *asides]
    hits, earlier = _search(vault, index, on, wish, counted, words, with_talk, typed)
    hits = _with_chain(vault, on, wish, hits._replace(further={}))
    if asks_former(question) and not wanted.as_of:
        hits = hits._replace(former=_former(vault, index, wish))
    asides = [replaced_remark(wanted, question, earlier)] if earlier else []
    if not (hits.facts or hits.heard or hits.written):
        asides.append(f"nothing was found for this task; `{follow_up_commands(wanted, None).list}` shows all facts")
        if not wanted.as_of:
            gone = gone_facts(vault, index, RecallQuery(question, wish.caller, wanted, _MOST_FORMER))
            asides += [f"no longer: {gone_words(gone, successors_of(index, gone))}"] if gone else []
    orders = orders_remark(len(hits.heard) - len(hits.said), follow_up_commands(wanted, question).recall)
    return hits, [*asides, *([orders] if orders else [])]


def _former(vault: Vault, index: Index, wish: ContextRequest) -> list[Unit]:
    """Return the replaced facts that `recall` gives for the question, each with what holds now."""
    query = RecallQuery(wish.question or "", wish.caller, wish.wanted, _MOST_FORMER, least=LEAST_SCORE, near=NEAR_SHARE)
    return former_units(recall_in(vault, index, query))


def former_units(found: RecallResult) -> list[Unit]:
    """Return the replaced facts among results as units, each with what holds now."""
    units = []
    for hit in found.found:
        if hit.fact.status == SUPERSEDED:
            now = found.successors.get(hit.fact.id)
            text = context_line(hit.fact).removesuffix(")\n") + (f"; then: {servable(now)})\n" if now else ")\n")
            units.append(Unit(hit.fact.id, token_bound(text), False, text))
    return units


def _with_chain(vault: Vault, on: TierCounts, wish: ContextRequest, hits: QuestionHits) -> QuestionHits:
    """Return the hits with the facts first that answer the question together, if no fact has all of its words."""
    rows = [fact.n for fact in hits.facts[:_ANSWERING]]
    answering = set(rows)
    for word in search_words(wish.question or ""):
        answering = on.source.engine.having(answering, forms_of(word))
    if answering:
        return hits._replace(answered=True)
    if not rows or wish.wanted.of_work:  # a context for work has passes of its own
        return hits
    from clawmem.serving.context.connected import answering_chain  # most questions need one pass

    chain = answering_chain(vault, on, wish, hits.facts)
    first = dict.fromkeys(n for fact in chain for n in (fact.via, fact.n))
    placed = tiers_of(on, first)
    facts = public_facts(on, [placed[n] for n in first if n in placed], hits.technical)
    rest = [fact for fact in hits.facts if fact.n not in first]
    return hits._replace(facts=[*facts, *rest], chain=chain, further={fact.n: fact for fact in chain})


def _search(
    vault: Vault,
    index: Index,
    on: TierCounts,
    wish: ContextRequest,
    counted: Mapping[str, AccessCount],
    words: QuestionWords,
    with_talk: bool,
    typed: str,
) -> tuple[QuestionHits, str | None]:
    """Return the hits that are close to the best one of their kind, and `RecallResult.earlier`."""
    question = wish.question or ""
    most = _answers_wanted(wish.budget)
    query = RecallQuery(question, wish.caller, wish.wanted, most, by_meaning=has_vectors(vault), typed=typed)
    ranked, answered, earlier = best_rows(vault, index, query, words, counted)
    numbers = close_to_best(ranked, _FACTS_FROM)
    numbers += _of_topics(index, question, [n for n, _ in ranked], numbers) if len(numbers) < len(ranked) else []
    technical = wish.technical or (is_technical(question) and not is_private(question))
    answering = ranked if answered else ()
    events, lines, flag = (
        _heard(vault, index, query, words, answering, wish.budget > _WIDE) if with_talk else ([], [], False)
    )
    numbers += rows_from_events(index, (event.id for event in events[:_TEACHING]))
    placed = tiers_of(on, numbers)
    facts = public_facts(on, [placed[n] for n in dict.fromkeys(numbers) if n in placed], technical)
    facts.sort(key=lambda fact: not fact.owner or fact.shelf == PAST)  # an agent's own facts come first
    near = (words.unheard is not None or words.enough is not None) and not (answered or flag or lines)
    if near:
        most = _NEAREST_WIDE if wish.budget > _WIDE else _NEAREST_SAID
        facts, events = facts[:_NEAREST_FACTS], events[:most]
    heard = [event for event in events if not (technical and is_private(event.text))]
    written = [line for line in lines if not (wish.wanted.domain or (technical and is_private(line[1])))]
    forms = [form for word in words.asked for form in word.forms]
    outdated = outdated_remarks(index, heard, stamp(wish.caller.now), [fact.id for fact in facts])
    items = said_units(index, heard, outdated, forms)
    return QuestionHits(facts, heard, items, technical, written=written, near=near), earlier


def _of_topics(index: Index, question: str, ranked: Sequence[int], chosen: Sequence[int]) -> list[int]:
    """Return for each part of a question the best fact with most of its words that is not chosen already."""
    found: list[int] = []
    for words in topics(question):
        having = Counter(n for word in words for n in index.engine.having(ranked, forms_of(word)))
        most = max(having.values(), default=0)
        best = [n for n in ranked if most and having[n] == most]
        found += best[:1] if not set(best) & {*chosen, *found} else []
    return found


def _heard(
    vault: Vault,
    index: Index,
    query: RecallQuery,
    words: QuestionWords,
    answering: Sequence[tuple[int, float]],
    wide: bool,
) -> tuple[list[Event], list[tuple[str, str]], bool]:
    """Return the events that bear on the question, the path and text of lines that people wrote into pages and that
    answer it, and whether an event answers. Without facts that are `answering`, only events that answer count."""
    from clawmem.serving.recall.events import find_said

    results = find_said(vault, index, query._replace(where=(EVENTS,)), words)
    noted = find_said(vault, index, query._replace(where=(NOTES, SUMMARIES), limit=_MOST_WRITTEN), words).noted
    found = [hit for hit in noted if hit.score >= words.answer_score and hit.tells and agent_of(hit.path) is None]
    known = [normal(hit.event.text) for hit in results.heard if hit.event.role == "note"]
    lines = [(hit.path, hit.text) for hit in found if not any(text in normal(hit.text) for text in known)]
    spoken = [hit for hit in results.heard if (is_document(hit.event) or is_speech(hit.event)) and not hit.only_named]
    heard = [hit for hit in spoken if hit.share >= _ENTRY_SHARE or ENTRY not in (hit.event.metadata or {})]
    enough = words.answer_score * (_NEAR_PART if words.unheard is None else 1.0)
    flag = any(hit.score >= enough and hit.tells for hit in heard)
    if words.unheard is None and not (answering or flag):
        return [], lines, False
    scored = [(hit.event, hit.score) for hit in heard]
    wide = wide and not query.by_meaning
    least = _LEAST_MEANT if query.by_meaning else _WIDE_LEAST if wide else _LEAST_SCORE
    if query.by_meaning:
        least = max(least, _MEANT_FROM * max((score for _, score in (*answering, *scored)), default=0.0))
    strong = [(event, score) for event, score in scored if score >= least]
    return close_to_best(strong, _WIDE_FROM if wide else _EVENTS_FROM), lines, flag


def public_facts(on: TierCounts, candidates: Sequence[FactCandidate], technical: bool) -> list[FactCandidate]:
    """Return the candidates, for a technical task without those about somebody's family or health."""
    if not technical or not candidates:
        return list(candidates)
    statements = statements_in_rows(on.source, [candidate.n for candidate in candidates])
    return [each for each in candidates if each.n not in statements or not is_private(statements[each.n][0])]


def leading_facts(on: TierCounts, candidates: Sequence[FactCandidate], reader: str | None) -> list[FactCandidate]:
    """Return the candidates that may lead what an agent, or a person (None), reads."""
    stated = agent_rows_with(on.source, ("",), [candidate.n for candidate in candidates])
    facts = facts_in_rows(on.source, sorted(stated)) if stated else {}
    return [each for each in candidates if each.n not in facts or may_lead(facts[each.n].fact, reader)]


def unasked_facts(on: TierCounts, candidates: Sequence[FactCandidate], reader: str | None) -> list[FactCandidate]:
    """Return the candidates that an agent, or a person (None), may be told without a question."""
    suspects = agent_rows_with(on.source, ADDRESS_SIGNS, [candidate.n for candidate in candidates])
    facts = facts_in_rows(on.source, sorted(suspects)) if suspects else {}
    return [each for each in candidates if each.n not in facts or may_be_told(facts[each.n].fact, reader)]


def answers(vault: Vault, on: TierCounts, way: UnitStyle, wish: ContextRequest, asked: QuestionHits) -> list[Section]:
    """Return the sections with the facts and the events that answer the question."""
    more = f"{follow_up_commands(wish.wanted, wish.question).recall} --limit {_answers_wanted(wish.budget)}"
    share = min(2 * ASKED_SHARE, max(ASKED_SHARE, _TWO_FACTS / wish.budget))
    title = frame.NEAREST if asked.near else frame.ASKED
    units_of_facts = cache(lambda: fact_units(on, asked.facts, way))
    if asked.chain:
        linked = {n for fact in asked.chain for n in (fact.via, fact.n)}
        needed = sum(fact.tokens for fact in asked.facts if fact.n in linked) + frame.title(frame.ASKED).tokens
        share = max(share, min(_CHAIN_SHARE, needed / (_UNFRAMED * wish.budget)))
    sections = [
        Section(title, lambda tokens, shown: units_of_facts(), more, share=share, turn=2, assured=True),
        Section(frame.SAID, given(asked.said), f"{more} --in events", turn=4, assured=not asked.facts, in_time=True),
    ]
    found = [section for section, units in zip(sections, (asked.facts, asked.said), strict=True) if units]
    if asked.former:
        found.insert(0, Section(frame.FORMER, given(asked.former), more, share=2 * ASKED_SHARE, turn=2, assured=True))
    if asked.facts and not (asked.near or wish.wanted.as_of or wish.wanted.of_work):
        found.append(_connected_section(vault, on, way, wish, asked, more))
    return found


def _connected_section(
    vault: Vault, on: TierCounts, way: UnitStyle, wish: ContextRequest, asked: QuestionHits, more: str
) -> Section:
    """Return the section of facts about the things that the found facts name, each after the fact that names it."""

    @cache
    def pairs() -> list[tuple[Unit, Unit]]:
        from clawmem.serving.context.connected import connected_facts  # only where room is left

        known = {fact.n for fact in asked.facts}
        found = connected_facts(vault, on, wish, asked.facts, known)
        placed = tiers_of(on, {n for fact in found for n in (fact.via, fact.n)})
        allowed = {public_fact.n for public_fact in public_facts(on, list(placed.values()), asked.technical)}
        chosen = [fact for fact in found if fact.via in allowed and fact.n in allowed]
        if asked.further is not None:
            asked.further.update((fact.n, fact) for fact in chosen)
        rows = list(dict.fromkeys(n for fact in chosen for n in (fact.via, fact.n)))
        unit_of = dict(zip(rows, fact_units(on, [placed[n] for n in rows], way), strict=True))
        return [(unit_of[fact.via], unit_of[fact.n]) for fact in chosen]

    def units(tokens: int, shown: Shown) -> Sequence[Unit]:
        most = min(tokens, _CONNECTED_TOKENS)
        left, offered = most - frame.title(frame.CONNECTED).tokens, dict[int | str, Unit]()
        if left < _WORTH_A_SEARCH:
            return ()
        for pair in pairs():
            needed = [unit for unit in pair if unit.key not in shown and unit.key not in offered]
            if (cost := sum(unit.tokens for unit in needed)) <= left:
                left -= cost
                offered |= {unit.key: unit for unit in needed}
        return list(offered.values())

    if asked.answered:  # only what all other sections leave
        return Section(frame.CONNECTED, units, more, extra=True)
    return Section(frame.CONNECTED, units, more, share=min(_CONNECTED_SHARE, _CONNECTED_TOKENS / wish.budget), turn=5)


def given(units: Sequence[Unit]) -> Callable[[int, Shown], Sequence[Unit]]:
    """Return the function of a section whose units are known."""
    return lambda tokens, shown: units


def _answers_wanted(budget: int) -> int:
    return max(_FEWEST_ANSWERS, min(_MOST_ANSWERS, budget // _TOKENS_PER_ANSWER))


_LONGEST_NOTE = 600
_MOST_HOT = 400  # tokens


def recalled_context(
    vault: Vault,
    caller: Caller,
    question: str,
    wanted: FactFilter,
    result: RecallResult,
    budget: int,
    evidence: bool = False,
    hot: bool = False,
) -> ContextResult:
    """Return the results of `recall`, best first, in a context frame and within the budget; with `hot`, after the facts
    of `always_told`.

    Superseded facts are there only where what held before is asked for, with what holds now; retracted ones never are.
    Raise InvalidInput if the budget is too small for the frame.
    """

    def packed(index: Index) -> ContextResult:
        return _packed(vault, index, caller, question, wanted, result, budget, evidence, hot)

    return run_query(vault, packed)


def always_told(
    vault: Vault, caller: Caller, question: str, wanted: FactFilter, least: float = ALWAYS_TOLD
) -> list[FactHit]:
    """Return the facts that are told beside every question, the most important first, from the importance `least`."""

    def read(index: Index) -> list[FactHit]:
        on = TierCounts(index, ReaderScope(wanted.owners, caller.now, wanted.entity, wanted.reach), {}, {})
        candidates = _hot(on, question, caller.agent)
        placed = facts_in_rows(index, [candidate.n for candidate in candidates])
        return [
            FactHit(*placed[candidate.n], 0.0, HOT, {}, candidate.tokens, bool(candidate.exact))
            for candidate in candidates
            if candidate.n in placed and candidate.weight >= least
        ]

    return run_query(vault, read)


def _hot(on: TierCounts, question: str, reader: str | None) -> list[FactCandidate]:
    found = [candidate for candidate in first_of_tier(on, ALWAYS, _MOST_HOT) if candidate.weight >= ALWAYS_TOLD]
    public = public_facts(on, found, is_technical(question) and not is_private(question))
    return leading_facts(on, public, reader)


def _packed(
    vault: Vault,
    index: Index,
    caller: Caller,
    question: str,
    wanted: FactFilter,
    result: RecallResult,
    budget: int,
    evidence: bool,
    hot: bool,
) -> ContextResult:
    reader = ReaderScope(wanted.owners, caller.now, wanted.entity, wanted.reach)
    on = tiers_at(index, reader, {}, wanted) if wanted.as_of else TierCounts(index, reader, {}, {})
    way = UnitStyle(vault.catalog_or_none() or Catalog({}), wanted.as_of or stamp(caller.now), evidence)
    events = [hit.event for hit in result.heard if is_speech(hit.event) and hit.event.role != "tool"]
    items = said_units(index, events, {hit.event.id: hit.outdated for hit in result.heard})
    notes = [hit for hit in result.noted if not (hit.path.startswith("agents/") and order_handed_on(hit.text))]
    former = [] if wanted.as_of or wanted.superseded else former_units(result)
    parts = (
        (frame.FORMER, "", former),
        (frame.ASKED, "", fact_units(on, candidates_of(on, [hit.fact.id for hit in result.found]), way)),
        (frame.SAID, " --in events", items),
        (frame.NOTED, " --in notes", [_note_unit(note) for note in notes]),
    )
    most = max(len(result.found), len(result.heard), len(result.noted))
    limit = f" --limit {most}" if most > vault.settings.whole("defaults.limit") else ""
    more = follow_up_commands(wanted, question)
    always = fact_units(on, _hot(on, question, caller.agent), way) if hot else []
    sections = [_section(frame.ALWAYS, always, "clawmem list --tier hot", -1)] if always else []
    sections += [
        _section(title, units, f"{more.recall}{limit}{where}", turn)
        for turn, (title, where, units) in enumerate(parts)
        if units
    ]
    heading = frame.heading(stamp(caller.now)[:10], wanted.as_of)
    asides = [replaced_remark(wanted, question, result.earlier)] if result.earlier else []
    orders = orders_remark(len(events) - len(items), follow_up_commands(wanted, question).recall)
    asides += [orders] if orders else []
    aside = frame.aside("; ".join(asides)) if asides else None
    shows = more.others if events or result.noted else more.recall
    packed = pack(heading, sections, budget, shows, aside)
    return context_result(on, packed, ())[0]


def _section(title: str, units: Sequence[Unit], more: str, turn: int) -> Section:
    return Section(title, lambda tokens, shown: units, more, turn=turn, in_time=title == frame.SAID)


def _note_unit(note: NoteHit) -> Unit:
    agent = note.path.split("/")[1] if note.path.startswith("agents/") else ""
    text = note_line(shorten(note.text, _LONGEST_NOTE) + (f" ({agent}, {UNREVIEWED})" if agent else ""))
    return Unit(f"{note.path} {note.place}", token_bound(text), False, text)
