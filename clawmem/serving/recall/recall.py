"""Recall: find and rank facts, events, notes and summaries for a question. Searching itself never commits."""

import re
from collections.abc import Callable, Collection, Mapping, Sequence
from datetime import datetime

from clawmem.errors import InvalidInput
from clawmem.index.refresh import run_query
from clawmem.index.search.channels import (
    BEGUN,
    ChannelHits,
    FactFilter,
    all_passing,
    fact_token_counts,
    facts_in_rows,
    keyword_channel,
    names_in,
    number_of_facts,
    predicate_channel,
    sketches,
    statements_in_rows,
    time_channel,
    weigh_words,
    words_had,
)
from clawmem.index.search.conflicts import asked_forms
from clawmem.index.search.events import events_with_ids, has_passages
from clawmem.index.search.lookup import PlacedFact, entities_called, unreadable_notices
from clawmem.index.search.rival_values import rows_of_ids
from clawmem.index.tables.store import Index
from clawmem.index.vectors import facts_by_meaning, has_vectors
from clawmem.model.facts.catalog import Catalog
from clawmem.model.facts.fact import SUPERSEDED, Fact, importance_of, is_revoked
from clawmem.model.facts.fact_words import because
from clawmem.model.facts.validity import PENDING_SUCCESSION, is_over
from clawmem.model.language.dates import begin_instant, end_of, sortable, stamp
from clawmem.model.language.question import (
    AT_FIRST,
    BEFORE,
    DaySpan,
    asks,
    asks_for_all,
    asks_for_home,
    asks_for_notes,
    asks_former,
    asks_past,
    asks_why,
    days_listed,
    is_put_into_use,
    kind_of_answer,
    names_subject,
    proper_names,
    search_words,
    speaker_asked,
    tasks_asked,
    tells_past,
    time_asked,
    topics,
)
from clawmem.model.language.text import forms_of, normal
from clawmem.model.lifecycle.tiers import RECENCY_POLICY, tier_of
from clawmem.model.named_tuple import NamedTuple
from clawmem.model.records.caller import Caller
from clawmem.model.records.entity import kind_of, owner_of
from clawmem.model.records.event import is_speech, is_visible_to
from clawmem.model.records.layout import CATALOG, TASKS
from clawmem.model.records.strict_json import QUESTION_CHARACTERS, beyond_limit
from clawmem.model.search.meant import PERSON, belongs_to, name_words, owners_asked, says_hardly
from clawmem.model.search.ranking import (
    NAME_ONLY,
    AskedOf,
    AskedWord,
    AskedWords,
    RankedFact,
    RankingFeatures,
    behind_present,
    chance_closeness,
    meaning_share,
    rank,
    share_of,
    with_meaning,
)
from clawmem.serving.recall.result import (
    EVENTS,
    FACTS,
    NOTES,
    SUMMARIES,
    ChannelReport,
    EventHit,
    FactHit,
    NoteHit,
    RecallHit,
    RecallResult,
    facts_asked_of,
)
from clawmem.vault.state.journal import AccessCount, add_accesses, count_accesses, record_access, unfolded_accesses
from clawmem.vault.vault import Vault

# A lower score says that a hit has hardly more than a name or a common word of the question. Chosen on conversations:
# docs/decisions/recall.md has the figures.
LEAST_SCORE = 0.15
# Where the number of hits is not given, those with less than this part of the best score are left out: 051.
NEAR_SHARE = 0.4
_SAID_NEAR, _BESIDE_NEAR = 0.9, 1.25  # parts of that for what was said or noted, and what only stands beside the words
# With no hit of this score, nothing says what is asked, and what was found is only near. Of a long question, some words
# are enough.
ANSWER_SCORE = 0.22
_ENOUGH_WORDS = 2.0
_MOST_UNKNOWN = 3  # with more, a question is about something else, or in another language
# A question needs more of it, and still more, the more of its subject no text has a word of.
_QUESTION_SCORE, _ENOUGH_ASKED = 0.24, 3.0
_UNHEARD_SCORE, _UNHEARD_MEANT = 0.2, 0.35  # by words only, and with vectors, to which every text is a little close
_NEAREST = 3
# Where a question names nobody known and vectors are searched, an answer has this part of its words, or is closer than
# a text is by chance; where it names somebody unknown, more.
_ENOUGH_SHARE, _STRANGE_SHARE, _STRANGE_MEANT = 0.35, 0.55, 0.05
# A text is close to a question with a name just by the name. One that is so much closer to it than to the name answers,
# whatever words no text has.
_FAR_BEYOND = 0.3
# Where no text has any word of the subject, an answer is as close as this, or has a word near in meaning to one.
_FOREIGN_MEANT = 0.25
# As close as this in meaning, a fact may answer though it has only the names of the question.
_FACT_CLEARLY = 0.45
_TELLING_PART = 0.7  # what does not answer such a question itself is shown from this part of the best score on
# What is known of a person may answer in other words: where it is little, so many of these facts are always shown.
_FEW_KNOWN, _KNOWN_SHOWN = 5, 2
# A fact is judged by its own few words, an event also by those around it: for facts, this part of the limit counts.
FACT_PART = NAME_ONLY / LEAST_SCORE


class RecallQuery(NamedTuple):
    """A question with its caller, the facts to use, the number of hits in all, and where to look.

    Each pass after the first one adds facts that are linked to the best ones. Without `by_meaning`, vectors are not
    searched. Hits with a score below `least` are left out, and facts with one below `FACT_PART` of it; so are hits with
    less than the part `near` of the best score. `policy` is that of `tiers.policy`.
    Words that no text has are read as known ones that differ in a letter, once: then `typed` is the question as it was,
    whose meaning is searched.
    """

    words: str
    caller: Caller
    wanted: FactFilter
    limit: int
    where: Collection[str] = (FACTS,)
    passes: int = 1
    by_meaning: bool = True
    least: float = 0.0
    near: float = 0.0
    policy: str = RECENCY_POLICY
    typed: str = ""


WORDS_ONLY = ChannelHits({}, False, "only words are searched")


class QuestionWords(NamedTuple):
    """The words of a question: each with how telling it is, those that only name somebody or something, the entities
    that are named, each with that name, the BM25 scores of the pieces of events and notes with each word, and the names
    of whom or what it asks about.

    `of_owner` means that it asks for something of somebody known ("Jane's blood group"): a text that has only the name
    is close to it in meaning just by the person. `named` are the names of a question that names somebody or something
    known and has another subject, and `unheard` is the part of the words for that subject that no text has, from 0 to
    1; None for any other question. `by_meaning` means that vectors are searched, and `kind` is the pattern of what an
    answer has. `enough` is the part of the words, and the closeness of a message and of a fact, either of which an
    answer has, where vectors are searched and the question names nobody known: some text is always a little close.
    `foreign` are the words for the subject of such a question if no text has any of them, and `strange` means that a
    question names somebody or something unheard of, too."""

    asked: AskedWords
    names: frozenset[str]
    called: Mapping[str, str]
    said: Mapping[str, Mapping[int, float]] = {}
    whose: frozenset[str] = frozenset()
    of_owner: bool = False
    unheard: float | None = None
    by_meaning: bool = False
    named: frozenset[str] = frozenset()
    kind: "re.Pattern[str] | None" = None
    enough: tuple[float, float, float] | None = None
    foreign: Sequence[str] = ()
    strange: bool = False

    def is_met(self, share: float, closeness: float, text: str, fact: bool = False) -> bool:
        """Return whether a text has enough of the words or of the meaning, where that is asked for. Where it can have
        no word of the subject, it is clearly close, or has a word near in meaning to one."""
        if self.enough is None:
            return True
        close = closeness >= self.enough[1 + fact]
        if not self.foreign:
            return close or share >= self.enough[0]
        return close and (closeness >= _FOREIGN_MEANT or is_near(self.foreign, text))

    @property
    def answer_score(self) -> float:
        """The score that says that a hit may answer the question."""
        count = max(len(self.asked), 1)
        if self.enough:
            return LEAST_SCORE
        if self.unheard is None:
            return min(ANSWER_SCORE, _ENOUGH_WORDS / count)
        more = _UNHEARD_MEANT if self.by_meaning else _UNHEARD_SCORE
        return min(_QUESTION_SCORE + more * self.unheard, _ENOUGH_ASKED / count)

    @property
    def fact_score(self) -> float:
        """The score that says that a fact may answer the question."""
        return self.answer_score * (FACT_PART if self.unheard is None else 1.0)

    def has_kind(self, text: str) -> bool:
        """Return whether a text has a number, a colour or what else the question asks for, where it says so."""
        return self.kind is None or self.kind.search(text) is not None

    def of_another(self, text: str, place: str = "", near: str = "") -> bool:
        """Return whether a text says something of somebody whom neither the question nor the text `near` names, and
        does not name whom the question asks about."""
        if not self.whose:
            return False
        whose = belongs_to(text, place)
        if not whose or not self.whose.isdisjoint((*whose.split(), *search_words(text))):
            return False
        return all(whose != word.word for word in self.asked) and whose not in near


def question_words(
    index: Index, question: str, with_talk: bool, meant: Vault | None = None, catalog: Catalog | None = None
) -> QuestionWords:
    """Return the words of a question; with talk, counted in events and notes. `meant` is the vault whose vectors are
    searched, if they are."""
    forms, common = asked_forms(index, question, catalog)
    words, texts = tuple(forms), 0
    record: Mapping[str, Mapping[int, float]] = {}
    people: list[str] = []
    if with_talk:
        from clawmem.index.search.events import passage_count, speakers_with, word_scores  # not needed for facts

        record, texts = word_scores(index, forms), passage_count(index)
        people = speakers_with(index, record)
    called = entities_called(index, names_in(question))
    people += [name for entity, name in called.items() if kind_of(entity) == PERSON]
    counts = {word: len(scores) for word, scores in record.items()}
    asked = weigh_words(index, forms, counts, texts, " ".join(people), common)
    owners = owners_asked(question)
    names = name_words(words, people)
    proper = proper_names(question)
    bare = frozenset(word.word for word in asked if word.known) & proper | names
    enough, foreign = None, list[str]()
    if meant and not bare:
        subject = [word for word in asked if names_subject(word.word)]
        foreign = [] if any(word.known for word in subject) else [word.word for word in subject]
        share, more = (_STRANGE_SHARE, _STRANGE_MEANT) if proper else (_ENOUGH_SHARE, 0.0)
        talk, facts = chance_closeness(texts), chance_closeness(number_of_facts(index))
        enough = min(share, _ENOUGH_ASKED / max(len(asked), 1)), talk + more, facts + more
    judged = enough is None and bool(bare | proper) and asks(question) and not asks_former(question)
    unheard, kind = _unheard(asked, bare) if judged else None, kind_of_answer(question)
    of_owner, whose = not owners.isdisjoint(names), names | owners
    if meant and unheard:
        from clawmem.index.vectors.store import beyond_names  # few questions have a name and a word of no text

        beyond = beyond_names(meant, question, " ".join(sorted(bare)))
        if beyond is not None and beyond >= _FAR_BEYOND:
            unheard, of_owner = None, False
    strange = any(not word.known and word.word in proper for word in asked)
    return QuestionWords(
        asked, names, called, record, whose, of_owner, unheard, meant is not None, bare, kind, enough, foreign, strange
    )


def _unheard(asked: AskedWords, names: Collection[str]) -> float | None:
    """Return which part of the words for the subject of a question no text has, by how telling they are; None where the
    names are what is asked about."""
    subject = tuple(word for word in asked if word.word not in names and names_subject(word.word))
    return share_of(subject, (word for word in subject if not word.known)) if subject else None


def slips_mended(index: Index, question: str, words: QuestionWords) -> tuple[str, str] | None:
    """Return the question with other words for those that no text has but that differ from a known one in a letter, and
    a notice that says so. Return None if there are none."""
    unknown = [word.word for word in words.asked if not word.known]
    if not 0 < len(unknown) <= _MOST_UNKNOWN:
        return None
    from clawmem.index.search.conflicts import with_slips_mended

    mended, meant = with_slips_mended(index, question, unknown)
    # A word with another ending, such as `february` beside `Februar`, is no slip of the person.
    slips = {word: near for word, near in meant.items() if not word.startswith(near)}
    text = ", ".join(f"no text has '{word}', read as '{near}'" for word, near in slips.items())
    return (mended, text) if meant else None


class _ChannelAnswers(NamedTuple):
    hits: Mapping[str, ChannelHits]
    best: Sequence[tuple[int, str, RankedFact]]
    had: Mapping[int, Sequence[AskedWord]]
    earlier: str | None

    def judged(self, n: int, fact: RankedFact, words: QuestionWords, text: str = "") -> tuple[bool, bool]:
        """Return what `_judged` returns; what is hardly closer than others, and has few of the words, is no answer."""
        had, close = self.had.get(n, ()), self.hits["vector"].scores.get(n, 0.0)
        only_named, tells = _judged(fact, had, words, text, close >= _FACT_CLEARLY and not words.strange)
        exact = not fact.channels.keys().isdisjoint(("predicate", "links"))
        return only_named, tells and (exact or words.is_met(share_of(words.asked, had), close, text, True))


def check_question(question: str) -> None:
    """Raise InvalidInput if a question is too long."""
    if len(question) > QUESTION_CHARACTERS:
        message = beyond_limit("The question", len(question), QUESTION_CHARACTERS, "characters")
        raise InvalidInput(f"{message}.", "Ask a shorter question.")


def recall(
    vault: Vault,
    question: str,
    caller: Caller,
    wanted: FactFilter,
    limit: int,
    where: Collection[str] = (FACTS,),
    passes: int = 1,
    least: float = 0.0,
    near: float = 0.0,
) -> RecallResult:
    """Return the facts, events, notes and summaries that answer a question best, at most `limit` in all.

    Hits with a score below `least`, or below the part `near` of the best score, are left out. The shown facts are
    recorded in the access journal, except with `as_of`.
    """
    check_question(question)
    asked = RecallQuery(question, caller, wanted, limit, where, passes, least=least, near=near)

    def answered(index: Index) -> RecallResult:
        found = recall_in(vault, index, asked)
        ids = [hit.fact.id for hit in found.found]
        return found._replace(conflicts=conflicts_of_facts(vault, index, caller, ids, wanted.as_of))

    result = run_query(vault, answered)
    if result.earlier:
        from clawmem.serving.context.pages import replaced_remark

        result = result._replace(notices=(*result.notices, replaced_remark(wanted, question, result.earlier)))
    if not result.found or wanted.as_of:
        return result
    problem = record_access(vault, stamp(caller.now), (hit.fact.id for hit in result.found))
    return result._replace(notices=(*result.notices, problem)) if problem else result


def said_of(
    vault: Vault, name: str, caller: Caller, wanted: FactFilter, limit: int, where: Collection[str]
) -> tuple[RecallResult, list[RecallHit]]:
    """Return what `recall` finds of a name, and the hits that have a word of it themselves, not only near them."""
    result = recall(vault, name, caller, wanted, limit, where, 1, LEAST_SCORE)
    return result, [hit for hit in result.ranking if "keyword" in hit.hit.channels and hit.hit.share]


def recall_in(vault: Vault, index: Index, asked: RecallQuery) -> RecallResult:
    """Return what `recall` returns, from an open index, without conflicts, and without recording an access."""
    where, wanted = asked.where, asked.wanted
    span = _days_listed(asked)
    if span is not None:
        return _of_days(vault, index, asked, span)
    messages = _told_by_speaker(index, asked) if EVENTS in where and not wanted.as_of else None
    if messages is not None:
        return messages
    group = {EVENTS, NOTES, SUMMARIES} & set(where)
    # What is said twice appears once, so more is looked for than is shown.
    wide = asked._replace(limit=2 * asked.limit) if group else asked
    unread = unreadable_notices(index, wanted.entity, wanted.owners, facts=not group)
    result = RecallResult((), {}, (*index.notices, *unread, *vault.catalog_notice()))
    with_talk = bool(group) and has_passages(index)
    meant = vault if asked.by_meaning and has_vectors(vault) else None
    words = question_words(index, asked.words, with_talk, meant, vault.catalog_or_none())
    if not asked.typed and (slips := slips_mended(index, asked.words, words)) is not None:
        mended = recall_in(vault, index, asked._replace(words=slips[0], typed=asked.words))
        return mended._replace(notices=(*mended.notices, *filter(None, slips[1:])))
    if FACTS in where:
        unkept = count_accesses(unfolded_accesses(vault))
        answers = _facts(vault, index, wide, words, unkept)
        found, channels = _whole(index, answers, words, unkept), _account([answers.hits])
        result = result._replace(found=found, channels=channels, earlier=answers.earlier)
    sources: tuple[EventHit, ...] = ()
    if with_talk:
        from clawmem.serving.recall.events import find_said, with_verdicts  # not needed for facts

        answered = find_said(vault, index, wide, words)
        accounts = [result.channels] if FACTS in where else []
        moment, ids = stamp(asked.caller.now), [hit.fact.id for hit in result.found]
        result = result._replace(heard=with_verdicts(index, answered.heard, moment, ids), noted=answered.noted)
        result = result._replace(channels=_account([*answered.hits], *accounts))
        sources = _sources(index, result, wanted.owners, moment)
    shown = _with_tasks(index, _one_ranking(result, asked, words, sources), asked)
    if FACTS in where and not (wanted.as_of or wanted.superseded):
        if asks_former(asked.words):
            shown = _with_former(vault, index, shown, asked)
        elif shown.found and asks_past(asked.words) and time_asked(asked.words, asked.caller.now) is None:
            shown = _with_predecessors(index, shown, asked)
        elif not any(recall_hit.hit.share for recall_hit in shown.ranking):
            shown = shown._replace(gone=gone_facts(vault, index, asked))
    then = successors_of(index, [hit.fact for hit in shown.found], last=False)
    return shown._replace(successors=then | successors_of(index, shown.gone))


def _days_listed(asked: RecallQuery) -> DaySpan | None:
    """Return the days of which everything is asked for: by the question, or by the filter without a question."""
    wanted = asked.wanted
    if wanted.as_of:
        return None
    if asked.words and not ((wanted.since or wanted.until) and asks_for_all(asked.words)):
        return days_listed(asked.words, asked.caller.now)
    return DaySpan(wanted.since or "0001-01-01", wanted.until or "9999-12-31")


def _told_by_speaker(index: Index, asked: RecallQuery) -> RecallResult | None:
    """Return the last messages of somebody, by time, where a question asks for nothing else and there are any."""
    name, wanted = speaker_asked(asked.words, asked.caller.now), asked.wanted
    if name is None:
        return None
    from clawmem.index.search.events import said_by  # few questions ask for what somebody said
    from clawmem.serving.recall.events import with_verdicts

    every = DaySpan(wanted.since or "0001-01-01", wanted.until or "9999-12-31")
    span = time_asked(asked.words, asked.caller.now) or every
    events = [
        event
        for event in said_by(index, name, span, 2 * asked.limit)
        if is_speech(event) and is_visible_to(event, wanted.owners, wanted.reach)
    ]
    heard = [EventHit(event, 1.0, {"time": 1.0}, share=1.0) for event in reversed(events[: asked.limit])]
    hits = (RecallHit(EVENTS, hit) for hit in with_verdicts(index, heard, stamp(asked.caller.now)))
    ranking = [hit for hit in hits if not _is_kept_back(hit, asked.caller.agent)]
    found = RecallResult((), {"time": ChannelReport(True, len(ranking))}, index.notices)
    return found.ranked(ranking) if ranking else None


def _of_days(vault: Vault, index: Index, asked: RecallQuery, span: DaySpan) -> RecallResult:
    """Return what was recorded, noted and said on some days, by time. Above the limit, messages that say little go
    first, then other messages."""
    from clawmem.memory.facts.note_facts import note_of  # few questions name days
    from clawmem.serving.recall.events import said_on, says_little

    noted = asks_for_notes(asked.words) and NOTES in asked.where
    where = (NOTES,) if noted else asked.where
    dated: list[tuple[str, RecallHit]] = []
    policy = vault.settings.words("tiers.policy")
    if FACTS in asked.where:
        counted = count_accesses(unfolded_accesses(vault))
        rows = time_channel(index, span, asked.wanted).scores if asked.words else {}
        first, last = max(asked.wanted.since or "", span.first), min(asked.wanted.until or "9999", span.last)
        stated = all_passing(index, asked.wanted._replace(since=first, until=last))
        found = {placed.fact.id: placed for placed in (*facts_in_rows(index, sorted(rows)).values(), *stated)}
        # What was written down elsewhere is a fact here, of the day of its note.
        kept = [
            placed for placed in found.values() if _is_of(placed.fact, span) and (not noted or note_of(placed.fact))
        ]
        for other_placed in sorted(kept, key=lambda placed: placed.fact.id):  # rows differ from clone to clone
            fact = add_accesses(other_placed.fact, counted)
            tier = tier_of(fact, asked.caller.now, policy=policy)
            hit = FactHit(fact, other_placed.entity, 1.0, tier, {"time": 1.0}, share=1.0)
            dated.append((str((fact.metadata or {}).get("said_at", fact.timestamp)), RecallHit(FACTS, hit)))
    dated += said_on(index, asked, span, where)
    if FACTS in asked.where:
        dated = [pair for pair in dated if not _is_kept_back(pair[1], asked.caller.agent)]
    chosen = sorted(dated, key=lambda pair: (pair[1].kind == EVENTS, says_little(pair[1], span), pair[0]))[
        : asked.limit
    ]
    ranking = [hit for _, hit in sorted(chosen, key=lambda pair: pair[0])]
    more = len(dated) - len(chosen)
    notices = (*index.notices, *([f"{more:,} more of these days; use a higher --limit to show them"] if more else []))
    return RecallResult((), {"time": ChannelReport(True, len(dated))}, notices).ranked(ranking)


def _is_of(fact: Fact, span: DaySpan) -> bool:
    """Return whether a fact that was recorded, or held, in some days was also said in them, where it says when."""
    day = str((fact.metadata or {}).get("said_at") or span.first)[:10]
    return span.first <= day <= span.last or fact.valid_from is not None or fact.valid_to is not None


def _sources(index: Index, result: RecallResult, owners: Collection[str], moment: str) -> tuple[EventHit, ...]:
    """Return the events that found facts come from, as far as the question did not find them and they may be shown."""
    heard = {hit.event.id for hit in result.heard}
    ids = {hit.fact.source_event for hit in result.found if hit.fact.source_event} - heard
    if not ids:
        return ()
    from clawmem.serving.recall.events import with_verdicts

    events = events_with_ids(index, sorted(ids)).values()
    return with_verdicts(index, [EventHit(event, 0.0, {}) for event in events if is_visible_to(event, owners)], moment)


def _one_ranking(
    result: RecallResult, asked: RecallQuery, words: QuestionWords, sources: Sequence[EventHit]
) -> RecallResult:
    """Return the result with its hits in one order, without repetitions, weak hits, and hits beyond the limit."""
    from clawmem.serving.recall.one_ranking import in_one_order, with_falling_scores

    now, why = stamp(asked.caller.now), asks_why(asked.words)
    dated = asks_former(asked.words) or asks_past(asked.words) or time_asked(asked.words, asked.caller.now) is not None
    present = None if dated else asked.wanted.as_of or now
    every = in_one_order(result, asked.caller.agent, now, sources, why, present)
    if asks_for_home(asked.words):
        every = [hit for hit in every if not is_put_into_use(hit.text)]
    orders = [each for each in every if _is_kept_back(each, asked.caller.agent)] if FACTS in asked.where else []
    if orders:
        found = sum(each in orders and each.hit.tells for each in _strong(every, asked, words)[: asked.limit])
        every = [each for each in every if each not in orders]
        result = _with_orders_counted(result, asked, found)
    strong = _strong(every, asked, words)
    if strong and len(strong) < len(every):
        strong += _of_topics(every, strong, asked.words)
    known = [hit for hit in every if _is_known_of(hit, words.names)]
    known = known[:_KNOWN_SHOWN] if asked.least and len(known) <= _FEW_KNOWN else []
    if not strong and words.named:
        strong = _in_other_words(every, words)
    if strong and known:
        strong = [hit for hit in strong if hit not in known]
        strong[max(asked.limit - len(known), 1) :] = known
    best = with_falling_scores(strong[: asked.limit])
    near = () if strong else tuple([*known, *(hit for hit in every if _is_close(hit) and hit not in known)][:_NEAREST])
    return result.ranked(best)._replace(nearest=near, weak=len(every) - len(strong))


def _with_tasks(index: Index, result: RecallResult, asked: RecallQuery) -> RecallResult:
    """Return the result with the open tasks in front, where the question asks for them."""
    if NOTES not in asked.where or asked.wanted.as_of or asked.wanted.entity or tasks_asked(asked.words) is None:
        return result
    from clawmem.serving.context.pages import tasks_for  # few questions ask for tasks

    rows = tasks_for(index, asked.words, asked.caller.agent)
    hits = [RecallHit(NOTES, NoteHit(row.path, 1, row.day, row.text, 1.0, {"keyword": 1.0}, 1.0)) for row in rows]
    others = [hit for hit in result.ranking if not getattr(hit.hit, "path", "").startswith(f"{TASKS}/")]
    return result.ranked([*hits, *others][: asked.limit])._replace(nearest=() if hits else result.nearest)


def _is_close(hit: RecallHit) -> bool:
    """Return whether a hit that does not answer may be shown as near: it has a word of the question, or says something
    and is about as close as an answer."""
    return hit.hit.share > 0 or (hit.hit.score >= LEAST_SCORE and not (hit.kind != FACTS and says_hardly(hit.text)))


def _is_kept_back(hit: RecallHit, agent: str | None) -> bool:
    """Return whether a hit reads as an order and is not shown: to no agent, and to a person neither the output of a
    tool nor what speaks to a machine. The rest, such as a mail that bids its reader, a person sees with a label."""
    if not isinstance(hit.hit, EventHit) or not hit.hit.is_order:
        return False
    from clawmem.model.proposals.quarantine import order_handed_on  # few hits read as an order

    event = hit.hit.event
    return agent is not None or event.role == "tool" or order_handed_on(event.text) is not None


def _with_orders_counted(result: RecallResult, asked: RecallQuery, left_out: int) -> RecallResult:
    """Return the result with a notice of messages that were left out since they read as orders."""
    from clawmem.serving.context.pages import follow_up_commands, orders_remark

    remark = orders_remark(left_out, follow_up_commands(asked.wanted, asked.words).recall)
    return result._replace(notices=(*result.notices, remark)) if remark else result


def _in_other_words(every: Sequence[RecallHit], words: QuestionWords) -> list[RecallHit]:
    """Return those of a few facts about whom a question names that have a word near in meaning to one of its subject
    that no text has: "Jane prefers tea." for "What does Jane drink?"."""
    unheard = [word.word for word in words.asked if not word.known and names_subject(word.word)]
    known = [hit for hit in every if hit.kind == FACTS and not words.named.isdisjoint(search_words(hit.text))]
    if not unheard or len(known) > _FEW_KNOWN:
        return []
    return [hit for hit in known if is_near(unheard, hit.text) and words.has_kind(hit.text)]


def is_near(words: Sequence[str], text: str) -> bool:
    """Return whether a text has a word near in meaning to one of some words."""
    from clawmem.index.vectors.local_model import has_near_word  # few questions have no word of any text

    return has_near_word(words, search_words(text))


def _with_former(vault: Vault, index: Index, shown: RecallResult, asked: RecallQuery) -> RecallResult:
    """Return the hits with what held before each fact in front of it, and other replaced facts that answer."""
    from clawmem.index.search.replaced import predecessors  # few questions ask for it
    from clawmem.serving.recall.one_ranking import NEAR_TIE, with_falling_scores

    known = {hit.fact.id for hit in shown.found}
    ranking: list[RecallHit] = []
    for recall_hit in shown.ranking:
        if isinstance(recall_hit.hit, FactHit):
            old = [each for each in predecessors(index, recall_hit.hit.fact, asked.wanted) if each.fact.id not in known]
            known |= {each.fact.id for each in old}
            ranking += [RecallHit(FACTS, recall_hit.hit._replace(fact=each.fact, entity=each.entity)) for each in old]
        ranking.append(recall_hit)
    others = [hit for hit in _replaced_too(vault, index, asked) if hit.fact.id not in known]
    ranking += [RecallHit(FACTS, other) for other in others if other.fact.status == SUPERSEDED]
    ranking.sort(key=lambda hit: -hit.hit.score)
    # What held is asked for: it comes first where a message has only more of the other words.
    near = NEAR_TIE * max((recall_hit.hit.score for recall_hit in ranking), default=0.0)
    facts = [(hit, hit.hit.fact) for hit in ranking if isinstance(hit.hit, FactHit)]
    former = [pair for pair in facts if pair[1].status == SUPERSEDED and pair[0].hit.score >= near]
    if re.search(AT_FIRST, asked.words):
        former.reverse()
        former.sort(key=lambda pair: pair[1].valid_to or "")
    bound = {*search_words(found[1])} if (found := re.search(BEFORE, asked.words)) else set[str]()
    after = {fact.id for _, fact in facts if bound and bound <= {*search_words(fact.fact)}}
    first = [hit for hit, _ in sorted(former, key=lambda pair: pair[1].superseded_by not in after)]
    ranking = [*first, *(hit for hit in ranking if hit not in first)]
    return shown.ranked(with_falling_scores(ranking[: asked.limit]))._replace(nearest=())


def _with_predecessors(index: Index, shown: RecallResult, asked: RecallQuery) -> RecallResult:
    """Return the hits with what held before the best fact behind it, unless that fact itself tells what was."""
    from clawmem.index.search.replaced import predecessors  # few questions ask for it

    at, best = next((at, hit.hit) for at, hit in enumerate(shown.ranking) if isinstance(hit.hit, FactHit))
    known = {hit.fact.id for hit in shown.found}
    former = () if tells_past(best.fact.fact) else predecessors(index, best.fact, asked.wanted)
    hits = [
        RecallHit(FACTS, best._replace(fact=placed.fact, entity=placed.entity))
        for placed in former
        if placed.fact.id not in known
    ]
    ranking = [*shown.ranking[: at + 1], *hits, *shown.ranking[at + 1 :]]
    return shown.ranked(ranking[: asked.limit])


def gone_facts(vault: Vault, index: Index, asked: RecallQuery) -> tuple[Fact, ...]:
    """Return the replaced and withdrawn facts that answer, without those whose origin was revoked."""
    found = (hit.fact for hit in _replaced_too(vault, index, asked) if hit.share)
    return tuple(fact for fact in found if not fact.is_current and not is_revoked(fact))


def _replaced_too(vault: Vault, index: Index, asked: RecallQuery) -> tuple[FactHit, ...]:
    wanted = asked.wanted._replace(superseded=True)
    return recall_in(vault, index, asked._replace(wanted=wanted, where=(FACTS,), least=LEAST_SCORE)).found


def gone_words(gone: Sequence[Fact], successors: Mapping[str, str]) -> str:
    """Return what a replaced or withdrawn fact said of a question, in one line, with why and what holds instead."""
    first, now = gone[0], successors.get(gone[0].id)
    became = ", ".join([f"replaced by: {now}" if now else first.status, *because(first)])
    more = f" and {len(gone) - 1} more" if len(gone) > 1 else ""
    return f"{first.id}  {first.fact} ({became}){more}"


def successors_of(index: Index, facts: Sequence[Fact], last: bool = True) -> dict[str, str]:
    """Return what holds now in place of the replaced ones among some facts, by id; or what replaced them at first."""
    replaced = [fact for fact in facts if fact.superseded_by]
    if not replaced:
        return {}
    from clawmem.index.search.replaced import successor  # few questions find replaced facts

    return {fact.id: now.fact for fact in replaced if (now := successor(index, fact, last)) is not None}


def _strong(every: Sequence[RecallHit], asked: RecallQuery, words: QuestionWords) -> list[RecallHit]:
    """Return the hits that are no weak ones; none if no hit answers the question.

    A hit that has as many of the question's words as the best one is not weak, however the two compare otherwise.
    """
    telling = [recall_hit for recall_hit in every if recall_hit.hit.tells or not asked.least]
    best = max(telling, key=lambda hit: hit.hit.score, default=None)
    if best is None or (
        asked.least
        and all(
            recall_hit.hit.score < (words.fact_score if recall_hit.kind == FACTS else words.answer_score)
            for recall_hit in telling
        )
    ):
        return []
    if words.enough and asked.least:
        every = [hit for hit in every if hit.hit.tells or hit.hit.score >= _TELLING_PART * best.hit.score]
    return [
        recall_hit
        for recall_hit in every
        if recall_hit.hit.score
        >= max(
            asked.least * (FACT_PART if recall_hit.kind == FACTS else 1.0),
            asked.near * best.hit.score * _near_part(recall_hit),
        )
        or (recall_hit.hit.share >= best.hit.share and not recall_hit.hit.only_named)
    ]


def _of_topics(every: Sequence[RecallHit], strong: Sequence[RecallHit], question: str) -> list[RecallHit]:
    """Return for each part of a question the best hit with most of its words, unless a strong one has them."""
    found: list[RecallHit] = []
    for words in topics(question):
        forms = [form for word in words for form in forms_of(word)]
        having = [
            (recall_hit, len(set(forms) & set(search_words(recall_hit.text))))
            for recall_hit in every
            if recall_hit.hit.tells
        ]
        most = max((count for _, count in having), default=0)
        best = [hit for hit, count in having if most and count == most]
        found += best[:1] if not any(hit in strong or hit in found for hit in best) else []
    return found


def _is_known_of(other_hit: RecallHit, names: Collection[str]) -> bool:
    """Return whether a hit is a fact about a person whom the question names, whatever else the question asks."""
    hit = other_hit.hit
    return isinstance(hit, FactHit) and hit.only_named and not set(search_words(hit.fact.fact)).isdisjoint(names)


def _near_part(hit: RecallHit) -> float:
    if hit.kind != FACTS:
        return _SAID_NEAR if hit.hit.share else _BESIDE_NEAR
    return FACT_PART if hit.hit.only_named else 1.0  # what is known of that person may answer in other words


def conflicts_of_facts(
    vault: Vault, index: Index, caller: Caller, ids: Sequence[str], as_of: str | None
) -> dict[str, tuple[str, ...]]:
    """Return the ids of the facts that some facts are in conflict with, by id, now or at `as_of`."""
    from clawmem.index.search.conflicts import conflicting_ids

    rows = rows_of_ids(index, ids)
    owners = ["", *([caller.agent] if caller.agent else [])]
    catalog = vault.catalog_or_none() or Catalog({})
    return conflicting_ids(index, owners, catalog, as_of or stamp(caller.now), rows) if rows else {}


def best_rows(
    vault: Vault, index: Index, asked: RecallQuery, words: QuestionWords, counted: Mapping[str, AccessCount]
) -> tuple[list[tuple[int, float]], bool, str | None]:
    """Return the rows and scores of the facts that `recall` finds, best first, without weak ones, whether one of them
    answers the question, and `RecallResult.earlier`.

    `counted` are the accesses that are not committed yet.
    """
    answers = _facts(vault, index, asked, words, counted)
    strong = [(n, fact) for n, _, fact in answers.best if fact.score >= LEAST_SCORE * FACT_PART]
    if words.whose:
        others = _of_others(statements_in_rows(index, [n for n, _ in strong]), words)
        strong = [(n, fact) for n, fact in strong if n not in others]
    enough = words.fact_score
    answered = any(fact.score >= enough and answers.judged(n, fact, words)[1] for n, fact in strong)
    return [(n, fact.score) for n, fact in strong], answered, answers.earlier


def _facts(
    vault: Vault, index: Index, asked: RecallQuery, words: QuestionWords, counted: Mapping[str, AccessCount]
) -> _ChannelAnswers:
    asked = asked._replace(policy=vault.settings.words("tiers.policy"))
    question, wanted, now = asked.words, asked.wanted, stamp(asked.caller.now)
    forms = [form for word in words.asked for form in word.forms]
    read = vault.catalog_or_none()
    catalog = read or Catalog({})
    unread = ChannelHits({}, False, f"{CATALOG} cannot be read", unable=True)
    user = vault.settings.words("user.name")
    sketched: dict[int, PlacedFact] = {}
    hits = {
        "predicate": predicate_channel(index, question, catalog, wanted, user) if read else unread,
        "keyword": keyword_channel(index, forms, wanted, sketched=sketched),
        "vector": facts_by_meaning(vault, index, asked.typed or question, wanted) if asked.by_meaning else WORDS_ONLY,
    }
    near = {n for hit in hits.values() for n in hit.scores}
    span = time_asked(question, asked.caller.now)
    hits["time"] = time_channel(index, span, wanted, near)
    asked_of = wanted.as_of or (min(span.first, now) if span else now)
    had = words_had(index, words.asked, hits["keyword"].scores.keys())
    shares = {
        "keyword": {n: share_of(words.asked, each) for n, each in had.items()},
        "vector": {n: meaning_share(score) for n, score in hits["vector"].scores.items()},
        "time": {n: score / BEGUN for n, score in hits["time"].scores.items()},
    }
    best = _ranked(index, hits, sketched, counted, asked, asked_of, shares, words, had)
    for _ in range(asked.passes - 1):
        from clawmem.index.search.graph import links_channel  # most questions need one pass

        # What an earlier pass found is kept, also where it is now among the facts that this one starts from.
        known = hits["links"].scores if "links" in hits else {}
        links = links_channel(index, question, catalog, [n for n, _, _ in best], wanted)
        scores = {n: max(known.get(n, 0.0), links.scores.get(n, 0.0)) for n in {**known, **links.scores}}
        hits["links"] = links._replace(scores=scores)
        again = _ranked(index, hits, sketched, counted, asked, asked_of, shares, words, had)
        first = {n: fact for n, _, fact in best}  # one channel more is no reason for a lower score
        again = [(n, tier, max(fact, first.get(n, fact), key=lambda each: each.score)) for n, tier, fact in again]
        again.sort(key=lambda each: -each[2].score)
        if [n for n, _, _ in again] == [n for n, _, _ in best]:
            break
        best = again
    earlier = None
    if span and span.first < now and not wanted.as_of and not wanted.superseded:
        from clawmem.index.search.replaced import replaced_since  # few questions are about the past

        past = DaySpan(span.first, min(span.last, now[:10]))
        earlier = replaced_since(index, question, forms, catalog, past, wanted, hits["keyword"])
    return _ChannelAnswers(hits, best, had, earlier)


def _ranked(
    index: Index,
    hits: Mapping[str, ChannelHits],
    known: dict[int, PlacedFact],
    counted: Mapping[str, AccessCount],
    asked: RecallQuery,
    asked_of: str,
    shares: Mapping[str, Mapping[int, float]],
    words: QuestionWords,
    had: Mapping[int, Sequence[AskedWord]],
) -> list[tuple[int, str, RankedFact]]:
    # Sorting needs only a part of each fact; only the best ones are read completely.
    found = {n for hit in hits.values() for n in hit.scores}
    if unknown := found - known.keys():
        known.update(sketches(index, sorted(unknown)))
    sketched = {n: known[n] for n in sorted(found) if n in known}
    if counted:
        sketched = {
            n: PlacedFact(add_accesses(placed.fact, counted), placed.entity) if placed.fact.id in counted else placed
            for n, placed in sketched.items()
        }
    about = facts_asked_of(index, asked.words, words.called, sketched)
    return _best(
        index, hits, sketched, asked, asked_of, shares, about, lambda n, fact: _judged(fact, had.get(n, ()), words)[0]
    )


def _account(
    kinds: Sequence[Mapping[str, ChannelHits]], *accounts: Mapping[str, ChannelReport]
) -> dict[str, ChannelReport]:
    """Return a report on the channels for all kinds together; a channel ran if it ran for any kind."""
    report: dict[str, ChannelReport] = {}
    each = [
        {name: ChannelReport(hit.ran, len(hit.scores), hit.why_not, hit.unable) for name, hit in hits.items()}
        for hits in kinds
    ]
    for account in (*accounts, *each):
        for name, other_report in account.items():
            before = report.get(name, ChannelReport(False, 0, other_report.why_not))
            ran, unable = before.ran or other_report.ran, before.unable or other_report.unable
            report[name] = ChannelReport(
                ran, before.hits + other_report.hits, "" if ran and not unable else before.why_not, unable
            )
    return report


def features_of(
    fact: Fact,
    entity: str,
    now: datetime,
    agent: str | None,
    as_of: str | None = None,
    asked_of: str | None = None,
    policy: str = RECENCY_POLICY,
    base: float | None = None,
) -> RankingFeatures:
    """Return what ranking needs to know of a fact.

    With `as_of`, its tier is the one of that time. `asked_of` is the moment at which the fact may be over; the default
    is `as_of`, else now. `policy` and `base` are those of `tier_of`.
    """
    return RankingFeatures(
        fact.id,
        tier_of(fact, now, as_of, policy, base),
        fact.access_count,
        importance_of(fact),
        fact.timestamp,
        fact.trust,
        own=agent is not None and owner_of(entity) == agent,
        over=is_over(fact, asked_of or as_of or stamp(now)),
    )


def _best(
    index: Index,
    hits: Mapping[str, ChannelHits],
    shown: Mapping[int, PlacedFact],
    asked: RecallQuery,
    asked_of: str,
    shares: Mapping[str, Mapping[int, float]],
    about: AskedOf,
    only_named: Callable[[int, RankedFact], bool],
) -> list[tuple[int, str, RankedFact]]:
    """Return the row, tier and rank of the best hits, best first.

    `asked_of` is the moment at which facts must be valid: `as_of`, else the first day in the question, else now.
    """
    caller, moment = asked.caller, asked.wanted.as_of or stamp(asked.caller.now)
    id_of = {n: placed.fact.id for n, placed in shown.items()}
    row_of = {fact_id: n for n, fact_id in id_of.items()}
    features = {
        id_of[n]: features_of(placed.fact, placed.entity, caller.now, caller.agent, moment, asked_of, asked.policy)
        for n, placed in shown.items()
    }

    def by_id(values: Mapping[int, float]) -> dict[str, float]:
        return {id_of[n]: value for n, value in values.items() if n in id_of}

    scores = {name: by_id(hit.scores) for name, hit in hits.items()}
    parts = {name: by_id(share) for name, share in shares.items()}
    # What has only a name comes after what has a word of the question.
    ranked = rank(scores, features, shares=parts, asked=about)
    if close := scores["vector"]:
        # A fact without a vector yet is judged by its words.
        known = {fact.id for fact in ranked}.intersection(hits["vector"].embedded or features)
        covered = max(parts["keyword"].values(), default=0.0)
        ranked = [
            _with_meaning(fact, close.get(fact.id, 0.0), covered) if fact.id in known else fact for fact in ranked
        ]
        ranked.sort(key=lambda fact: -fact.score)
    ranked = behind_present(ranked, {} if hits["time"].ran else _announced(index, shown, asked_of))
    best, bare = list[RankedFact](), list[RankedFact]()
    for fact in ranked:
        (bare if only_named(row_of[fact.id], fact) else best).append(fact)
        if len(best) == asked.limit:
            break
    best = [*best, *bare][: asked.limit]
    # An agent's own facts come first among the best ones.
    best.sort(key=lambda fact: not features[fact.id].own or features[fact.id].over)
    return [(row_of[fact.id], features[fact.id].tier, fact) for fact in best]


def _announced(index: Index, shown: Mapping[int, PlacedFact], moment: str) -> dict[str, str]:
    """Return the facts that begin after a moment, each with the one that it will replace, by their ids."""
    if all(begin_instant(sortable(fact.valid_from) or "") <= end_of(moment) for fact, _ in shown.values()):
        return {}
    ending = facts_in_rows(index, [n for n, (fact, _) in shown.items() if fact.valid_to]).values()
    marks = {fact.id: (fact.metadata or {}).get(PENDING_SUCCESSION) for fact, _ in ending}
    return {mark["to"]: name for name, mark in marks.items() if isinstance(mark, Mapping) and "to" in mark}


def _with_meaning(fact: RankedFact, closeness: float, covered: float) -> RankedFact:
    score, parts = with_meaning(fact.score - fact.prior, fact.channels, closeness, covered)
    more = score * fact.prior / (fact.score - fact.prior) if fact.score > fact.prior else 0.0
    return RankedFact(fact.id, score + more, parts, more)


def _whole(
    index: Index, answers: _ChannelAnswers, words: QuestionWords, counted: Mapping[str, AccessCount]
) -> tuple[FactHit, ...]:
    numbers = [n for n, _, _ in answers.best]
    placed, tokens = facts_in_rows(index, numbers), fact_token_counts(index, numbers)
    others = _of_others(statements_in_rows(index, numbers), words) if words.whose else ()
    return tuple(
        FactHit(
            add_accesses(placed[n].fact, counted),
            placed[n].entity,
            round(fact.score, 4),
            tier,
            fact.channels,
            *tokens[n],
            fact.prior,
            share_of(words.asked, answers.had.get(n, ())),
            *((True, False) if n in others else answers.judged(n, fact, words, placed[n].fact.fact)),
        )
        for n, tier, fact in answers.best
    )


def _of_others(statements: Mapping[int, tuple[str, str, str]], words: QuestionWords) -> set[int]:
    """Return which facts say something of others than the question asks about, and whom no fact names."""
    texts = (text for text, _, _ in statements.values() if not words.whose.isdisjoint(search_words(text)))
    near = " ".join(map(normal, texts))
    return {n for n, (text, entity, _) in statements.items() if words.of_another(text, entity, near)}


def _judged(
    fact: RankedFact, had: Sequence[AskedWord], words: QuestionWords, text: str = "", clearly: bool = False
) -> tuple[bool, bool]:
    """Return whether a fact has nothing of a question but a name, in any channel; and whether it may answer, judged by
    its text, too, if given. What is `clearly` close in meaning may answer with only the names."""
    bare = bool(words.names) and all(word.word in words.names for word in had)
    more = any(fact.channels.get(channel, 0.0) > 0 for channel in ("predicate", "time", "links"))
    only_named = bare and not more and not fact.channels.get("vector", 0.0) > 0
    found = {word.word for word in had}
    # A fact that has two names of the question, and all of them, says something of what it asks about.
    names_only = words.unheard is not None and found <= words.named and (len(found) < 2 or found < words.named)
    tells = not only_named and (more or not ((names_only and not clearly) or (bare and words.of_owner)))
    return only_named, tells and (not text or words.has_kind(text))
