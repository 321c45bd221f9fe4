"""What the hooks of an agent harness give its agent: context at the start, and a short recall for a prompt."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Sequence
from functools import lru_cache
from itertools import islice
from typing import TYPE_CHECKING

from clawmem.index.refresh import run_query
from clawmem.index.search.channels import FactFilter, names_in
from clawmem.index.search.lookup import entities_called, facts_of, people_beginning, people_by_first_name
from clawmem.index.tables.store import Index, stores_kept_open
from clawmem.model.facts.fact import HEALTH, Fact
from clawmem.model.facts.fact_words import UNREVIEWED
from clawmem.model.facts.reach import Reach, project_name, realm_of
from clawmem.model.language.languages import word_list
from clawmem.model.language.question import (
    COMMON_WORDS,
    STOPWORDS,
    TIME_WORDS,
    asks,
    asks_former,
    is_first_person,
    is_of_health,
    is_private,
    is_technical,
    search_words,
    tasks_asked,
)
from clawmem.model.language.text import counted, normal, shorten
from clawmem.model.named_tuple import NamedTuple
from clawmem.model.pages.tokens import servable, token_bound
from clawmem.model.proposals.quarantine import judged_mark, without_orders
from clawmem.model.records.caller import Caller
from clawmem.model.records.entity import kind_of, title_of, visible_owners
from clawmem.model.records.strict_json import QUESTION_CHARACTERS
from clawmem.model.safety.recalled_text import CLOSING
from clawmem.model.search.event_ranking import is_question
from clawmem.serving.recall.recall import RecallQuery, conflicts_of_facts, recall_in
from clawmem.serving.recall.result import EVENTS, FACTS, NOTES, EventHit, FactHit, RecallHit, RecallResult, brief
from clawmem.vault.vault import Vault

if TYPE_CHECKING:
    from clawmem.model.records.session import SessionRecord

START_TOKENS = 1200
# A hit scores 1 if it has every word of the question that tells something. A prompt is no question: what has less than
# this part of it, or this many average words of it, only shares a word; of a long prompt, a few words are enough.
# docs/decisions/agents.md has the figures.
LEAST_SCORE, _LEAST_SHARED = 0.35, 1.4
_ENOUGH_WORDS, _ENOUGH_SHARED = 2.1, 2.0
# What is given beside the best hit has at least this part of its score, and this score.
_NEAR_SHARE, _NEAR_LEAST = 0.5, 0.15
_MOST_HITS = 60
# Of whom or what a prompt names by its name, so many facts are given beside those that answer.
_MOST_NAMED = 8
_NAMED_KINDS = ("person", "company", "project")
_LEAST_WORDS = 2
_MOST_SINGLED_OUT = 3
# Words of a prompt that say nothing of what it is about.
_COURTESY = frozenset(
    "again bit bitte cool danke fine good great hallo hello hey hi looks nice ok okay perfect please right sorry sure"
    " thank thanks".split()
)
# Words of tasks, and of times, that hardly tell what a task is about.
_OF_TASKS = frozenset(
    "account add answer between build calculate changes check column convert create deal draft draw each email entry "
    "fill file form image letter line minute morning evening order page prepare print question report root row "
    "schedule second send sentence short slot suggest task test text word write two three four five six seven eight "
    "nine ten hundred thousand".split()
)
_ENDINGS, _STEM = ("ing", "er", "ed", "e", "y"), 4  # so many letters are left, at least
_TALKED_OF = 3  # messages with a word, from which on it is a subject
_EARLIER = "## Sessions before this one"
_SUMMARY_CHARACTERS, _JUDGED_CHARACTERS = 300, 4000
_MOST_EARLIER = 3
_BRIEFLY = 3


class HookText(NamedTuple):
    """The text, or an empty one, and the ids of the facts in it."""

    text: str
    facts: tuple[str, ...] = ()


@stores_kept_open()
def start_text(
    vault: Vault, caller: Caller, about: str, reach: Reach, earlier: Sequence[SessionRecord] = (), turns_on: str = ""
) -> HookText:
    """Return context for a session that begins, within 1,200 tokens.

    `about` names its project and its task, `reach` is its scope, and `earlier` are the last sessions in this scope,
    newest first. `turns_on` is the command by which a person lets a program read; a sub-agent gets none, and is not
    told what is unread."""
    # A prompt needs none of these.
    from clawmem.index.search.listing import namesakes
    from clawmem.index.tables.contents import unread_messages
    from clawmem.serving.context.context import context

    namesake, unread = run_query(vault, lambda index: (namesakes(index, reach), unread_messages(vault, index)))
    hints = [f"- {_rename_hint(vault, reach.project, *each)}\n" for each in namesake.items()]
    head = "".join((*hints, _unread_hint(vault, caller, *unread, turns_on), earlier_part(earlier, brief=True)))
    result = context(vault, caller, START_TOKENS - token_bound(head), about[:QUESTION_CHARACTERS] or None, reach=reach)
    text = result.text.replace(CLOSING, f"{head}{CLOSING}")
    return HookText(text if "\n- " in text else "", result.facts)


def _rename_hint(vault: Vault, project: str | None, namesake: str, facts: int) -> str:
    """Say that a project without facts may be one that has them under another name."""
    joined = vault.settings.words("projects.joined")
    pairs = f"{joined}, " * bool(joined) + f"{project} = {namesake}"
    return (
        f"Nothing is known of {project}, but {counted(facts, 'fact')} of {namesake}. If they are one project, a person"
        f" joins them: clawmem config set projects.joined '{pairs}'"
    )


def _unread_hint(vault: Vault, caller: Caller, unread: int, oldest: str, turns_on: str) -> str:
    """Say that nobody has read what was said; nothing where a model reads it within the day."""
    from clawmem.index.tables.rights import is_restricted  # a prompt needs none
    from clawmem.llm.choice import reads_sessions_of

    reads = reads_sessions_of(vault.settings, caller.agent)
    if not turns_on or not unread or is_restricted(vault) or (reads and oldest >= caller.now.strftime("%Y-%m-%d")):
        return ""
    off = "" if reads else f" A person turns reading on: `{turns_on}`."
    return f"- {counted(unread, 'message')} unread: `learn_pending` shows them, `learn_apply` takes the answer.{off}\n"


def last_sessions(sessions: Iterable[SessionRecord], running: str | None) -> list[SessionRecord]:
    """Return the last ended sessions in a scope whose agents left a summary, of sessions from the last one on.

    What was asked last in another session is in its messages, where it is marked if it no longer holds."""
    from clawmem.model.records.session import UNREPORTED  # a prompt needs none

    left = (session for session in sessions if session.summary and not session.summary.startswith(UNREPORTED)
            and session.id != running)  # fmt: skip
    return list(islice(left, _MOST_EARLIER))


def earlier_part(sessions: Iterable[SessionRecord], brief: bool = False) -> str:
    """Return what earlier sessions hand on, as the part of a context before its closing mark; empty without any.
    A brief one has all of the newest session, up to three lines of a kind, and the summaries of the others.

    Each line has the agent and the label of what an agent stores. What reads as an order is left out, also where a
    record was written by hand."""
    from clawmem.model.records.session import DEFAULT_AGENT, JUDGED  # a prompt needs none

    lines = []
    for place, session in enumerate(sessions):
        texts: dict[str, Sequence[str]] = {
            "summary": [session.summary or ""],
            "learned": (session.reflection or {}).get("learned", ()),
            "watch for": (session.reflection or {}).get("watch_for", ()),
            "warning": session.warnings,
        }
        message = f"{(session.ended or '')[:10]}, {session.agent or DEFAULT_AGENT}"
        judged = session.extra.get(JUDGED) == judged_mark(session)
        for field in ("summary",) if brief and place else texts:
            named = message if field == "summary" else f"{message}, {field}"
            lines += [
                f"- {servable(named)}: {_handed_on(text, judged)} ({UNREVIEWED})\n"
                for text in texts[field][: _BRIEFLY if brief else None]
            ]
    return f"{_EARLIER}\n{''.join(lines)}" if lines else ""


def _handed_on(text: str, judged: bool) -> str:
    return shorten(servable(text if judged else without_orders(text[:_JUDGED_CHARACTERS])), _SUMMARY_CHARACTERS)


@stores_kept_open()
def prompt_text(
    vault: Vault, caller: Caller, prompt: str, reach: Reach | None, session: str | None, shown: Collection[str]
) -> HookText:
    """Return what clearly answers a prompt in the scope of a session, as much as bears on it within the setting
    `context.prompt_budget`; nothing for a prompt that asks for nothing.

    Left out are the facts in `shown`, which the session has already, and what was said in the session itself. It is no
    question of anybody, so it does not count as an access."""
    words = _telling(prompt)
    of_self = asks(prompt) and is_first_person(prompt)
    if len(words) < (1 if of_self or is_question(prompt) else _LEAST_WORDS):
        return HookText("")
    wanted = FactFilter(owners=visible_owners(caller.agent, None), reach=reach)
    # Who asks "where do I live?" is asked about; a task in the first person is about something else.
    # The words for what held before are none of the telling ones.
    former = asks(prompt) and asks_former(prompt)
    coming = False
    if not TIME_WORDS.isdisjoint(words):
        from clawmem.model.language.date_words import looks_ahead  # few prompts name a day

        coming = looks_ahead(prompt)
    question = " ".join(["formerly"] * former + ["will"] * coming + ["I"] * of_self + words)[:QUESTION_CHARACTERS]
    question = question if tasks_asked(prompt) is None else prompt
    low = min(_NEAR_LEAST, _ENOUGH_WORDS / len(words))
    asked = RecallQuery(question, caller, wanted, _MOST_HITS, (FACTS, EVENTS, NOTES))
    everything, named, namesakes = run_query(vault, lambda index: _found(vault, index, prompt, asked))
    new = [hit for hit in everything.ranking if _is_new(hit, session, shown) and not _is_of(hit.hit, namesakes.others)]
    score, shared = max((hit.hit.score for hit in new), default=0.0), max((hit.hit.share for hit in new), default=0.0)
    floors = (LEAST_SCORE, _LEAST_SHARED), (_ENOUGH_WORDS / len(words), _ENOUGH_SHARED)
    bears = any(score >= least and shared * len(words) >= most for least, most in floors)
    low = max(low, _NEAR_SHARE * score) if bears else math.inf
    several = _first_names_of_several(new)
    subject, rare = (found - several for found in _subjects(vault, prompt))
    telling = [hit for hit in new if _tells(hit)]
    private = is_technical(prompt)
    near_enough = [hit for hit in telling if hit.hit.score >= low or _is_of_subject(hit, subject, rare, private)]
    talk = [hit for hit in telling if not rare.isdisjoint(_stems(hit.text))]
    if len(words) == 1:
        near_enough, talk = _singled_out(telling, words[0]), []
    result = everything.ranked(near_enough or (talk if len(talk) >= _TALKED_OF else ()))
    known = {*shown, *(hit.fact.id for hit in result.found)}
    vital: list[FactHit] = []
    if is_of_health(prompt):
        from clawmem.serving.context.hits import always_told  # few prompts are about food or medicine

        vital = [hit for hit in always_told(vault, caller, prompt, wanted, HEALTH) if hit.fact.id not in known]
    known |= {hit.fact.id for hit in vital}
    if any(_is_of(hit, namesakes.unclear) for hit in result.found):
        # One of several with the name, alone, would be taken for the one who is meant.
        found = {hit.fact.id for hit in result.found}
        known -= {hit.fact.id for hit in named if hit.entity in namesakes.unclear} - found
    else:
        named = [hit for hit in named if hit.entity not in namesakes.unclear]
    further = [hit for hit in named if hit.fact.id not in known][:_MOST_NAMED]
    first, last = ([RecallHit(FACTS, hit) for hit in hits] for hits in (vital, further))
    result = result.ranked((*first, *result.ranking, *last))._replace(earlier=None)
    if not result.ranking:
        return HookText("")
    ids = [hit.fact.id for hit in result.found]
    result = result._replace(
        conflicts=run_query(vault, lambda index: conflicts_of_facts(vault, index, caller, ids, None))
    )
    budget = vault.settings.whole("context.prompt_budget")
    short = brief(result, budget)
    if short is not None:
        return HookText(short.text, short.facts)
    from clawmem.serving.context.hits import recalled_context  # only where more than plain facts was found

    outcome = recalled_context(vault, caller, question, wanted, result, budget)
    return HookText(outcome.text, outcome.facts)


def _singled_out(hits: Sequence[RecallHit], word: str) -> list[RecallHit]:
    """Return the facts with the only telling word of a question, if these are few."""
    found = [hit for hit in hits if hit.kind == FACTS and _stem(word) in _stems(hit.text)]
    return found if len(found) <= _MOST_SINGLED_OUT else []


class _Namesakes(NamedTuple):
    """Of the people with a first name that several have: whom a prompt means, those of whom it may mean each, and the
    others."""

    meant: frozenset[str] = frozenset()
    unclear: frozenset[str] = frozenset()
    others: frozenset[str] = frozenset()


def _found(
    vault: Vault, index: Index, prompt: str, asked: RecallQuery
) -> tuple[RecallResult, list[FactHit], _Namesakes]:
    """Return what answers a prompt, the facts of whom and what it names, and the namesakes of a first name in it."""
    namesakes = _namesakes(index, names_in(prompt), asked)
    return recall_in(vault, index, asked), _facts_of_named(vault, index, prompt, asked, namesakes), namesakes


def _namesakes(index: Index, names: Sequence[str], asked: RecallQuery) -> _Namesakes:
    """Return whom the first names of several people mean: whose whole name is said, else who is known in the project of
    the query, else it is unclear."""
    several = {word: people for word, people in people_beginning(index, names).items() if len(people) > 1}
    if not several:
        return _Namesakes()
    everybody = frozenset().union(*several.values())
    whole = everybody & entities_called(index, [name for name in names if " " in name]).keys()
    meant, unclear = set[str](), set[str]()
    for people in several.values():
        near = people & whole or {person for person in people if _is_of_project(index, person, asked)}
        meant |= near
        unclear |= set() if near else people
    return _Namesakes(frozenset(meant), frozenset(unclear), everybody - meant - unclear)


def _is_of_project(index: Index, person: str, asked: RecallQuery) -> bool:
    """Return whether a fact of a person belongs to the project of the query, or names it."""
    reach = asked.wanted.reach
    if reach is None or reach.project is None:
        return False
    names = [{*search_words(project_name(name))} for name in reach.called()]

    def is_of_project(fact: Fact) -> bool:
        belongs = bool(fact.project) and reach.sees(realm_of(fact))
        return belongs or any(name <= {*search_words(fact.fact)} for name in names)

    return any(fact.is_current and is_of_project(fact) for fact, _ in facts_of(index, person))


def _is_of(hit: object, people: Collection[str]) -> bool:
    return isinstance(hit, FactHit) and hit.entity in people


def _facts_of_named(
    vault: Vault, index: Index, prompt: str, asked: RecallQuery, namesakes: _Namesakes
) -> list[FactHit]:
    """Return the facts of the people, companies and projects that a prompt names, the ones with more of it first; of
    several people with a first name, those of all who may be meant.

    Who names them works on something of theirs, in whatever words. A task about software gets nobody's family and
    health, and the person who asks is named by every other prompt."""
    names = names_in(prompt)
    called = {**people_by_first_name(index, names), **entities_called(index, names)}
    person = {"user", "the user", normal(vault.settings.words("user.name"))}
    called = {entity: name for entity, name in called.items() if kind_of(entity) in _NAMED_KINDS and name not in person}
    called |= {person: normal(title_of(person)) for person in namesakes.meant | namesakes.unclear}
    if not called:
        return []
    wide = asked._replace(where=(FACTS,), least=0.0, near=0.0, limit=_MOST_NAMED * _MOST_HITS)
    found = recall_in(vault, index, wide._replace(words=f"{asked.words} {' '.join(called.values())}")).found
    private = is_technical(prompt)
    return [
        hit
        for hit in found
        if (hit.entity in called or any(f" {name} " in f" {normal(hit.fact.fact)} " for name in called.values()))
        and hit.entity not in namesakes.others
        and not (private and is_private(hit.fact.fact))
    ]


def _telling(text: str) -> list[str]:
    """Return the words of a text that say what it is about."""
    return [word for word in search_words(text) if word not in STOPWORDS and word not in _COURTESY]


def _subjects(vault: Vault, prompt: str) -> tuple[frozenset[str], frozenset[str]]:
    """Return the stems of the words for what a prompt is about, and of the rare ones, such as names."""
    person = normal(vault.settings.words("user.name")).split()
    words = [
        word
        for word in _telling(prompt)
        if word.isalpha() and word not in COMMON_WORDS and word not in _OF_TASKS | TIME_WORDS and word not in person
    ]
    return frozenset(map(_stem, words)), frozenset(_stem(word) for word in words if word not in word_list("common"))


def _first_names_of_several(hits: Iterable[RecallHit]) -> set[str]:
    """Return the stems of the first names that several people have whom facts are about: who is meant is unclear."""
    people = {hit.hit.entity for hit in hits if isinstance(hit.hit, FactHit) and kind_of(hit.hit.entity) == "person"}
    names = [_stem(entity.rpartition("/")[2].partition("-")[0]) for entity in people]
    return {name for name in names if names.count(name) > 1}


def _is_of_subject(hit: RecallHit, words: Collection[str], rare: Collection[str], private: bool) -> bool:
    """Return whether a hit has a word for what a prompt is about that few texts have, or two others; what was said in
    passing has both. `private` leaves out what is about somebody's family or health."""
    if private and is_private(hit.text):
        return False
    found = _stems(hit.text)
    count, flag = len(found.intersection(words)), not found.isdisjoint(rare)
    return (flag and count > 1) if hit.kind == EVENTS else (flag or (count > 1 and bool(rare)))


def _stems(text: str) -> set[str]:
    return {_stem(word) for word in search_words(text)}


@lru_cache(maxsize=10_000)
def _stem(word: str) -> str:
    word = word.removesuffix("s") if len(word) >= _STEM else word
    ending = next((end for end in _ENDINGS if word.endswith(end) and len(word) - len(end) >= _STEM), "")
    return _stem(word.removesuffix(ending)) if ending else word


def _tells(hit: RecallHit) -> bool:
    """Whether a hit states something: calls and results of tools do not, nor "Noted." or a question asked before."""
    if not isinstance(hit.hit, EventHit):
        return True
    event = hit.hit.event
    flag = event.kind == "message" and event.role in ("user", "assistant") and not event.text.rstrip().endswith("?")
    return flag and len(_telling(event.text)) >= _LEAST_WORDS


def _is_new(hit: RecallHit, session: str | None, shown: Collection[str]) -> bool:
    """Whether a session has not had a hit: neither given to it nor said in it."""
    if isinstance(hit.hit, EventHit):
        return not session or hit.hit.event.session != session
    return not isinstance(hit.hit, FactHit) or hit.hit.fact.id not in shown
