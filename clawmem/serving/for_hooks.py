"""What the hooks of an agent harness give its agent: context at the start, and a short recall for a prompt."""

from __future__ import annotations

from collections.abc import Collection
from typing import NamedTuple

from clawmem.index.refresh.refresh import run_query
from clawmem.index.search.channels import FactFilter
from clawmem.model.language.question import STOPWORDS, search_words
from clawmem.model.records.bounds import QUESTION_CHARACTERS
from clawmem.model.records.caller import Caller
from clawmem.model.records.entity import visible_owners
from clawmem.model.records.event import Event
from clawmem.serving.recall.brief import brief
from clawmem.serving.recall.recall import EVENTS, FACTS, NOTES, RecallQuery, RecallResult, recall_in
from clawmem.vault.vault import Vault

START_TOKENS = 1200
PROMPT_TOKENS = 400
# A hit scores 1 if it has every word of the question that tells something. A prompt is no question: what has less than
# this part of it only shares a word. docs/decisions/083 has the figures.
LEAST_SCORE = 0.4
_MOST_HITS = 5
_LEAST_WORDS = 2


class HookText(NamedTuple):
    """The text, or an empty one, and the ids of the facts in it."""

    text: str
    facts: tuple[str, ...] = ()


def start_text(vault: Vault, caller: Caller, about: str) -> HookText:
    """Return context for a session that begins, within 1,200 tokens; `about` names its project and its task."""
    from clawmem.serving.context.context import context  # a prompt needs none of it

    done = context(vault, caller, START_TOKENS, about[:QUESTION_CHARACTERS] or None)
    return HookText(done.text if "\n- " in done.text else "", done.facts)


def prompt_text(vault: Vault, caller: Caller, prompt: str, session: str | None, shown: Collection[str]) -> HookText:
    """Return what clearly answers a prompt, within 400 tokens; nothing for a prompt that asks for nothing.

    Left out are the facts in `shown`, which the session has already, and what was said in the session itself. It is no
    question of anybody, so it does not count as an access."""
    words = [one for one in search_words(prompt) if one not in STOPWORDS]
    if len(words) < _LEAST_WORDS:
        return HookText("")
    wanted = FactFilter(owners=visible_owners(caller.agent, None))
    question = " ".join(words)[:QUESTION_CHARACTERS]
    asked = RecallQuery(question, caller, wanted, _MOST_HITS, (FACTS, EVENTS, NOTES), least=LEAST_SCORE)
    result = _fresh(run_query(vault, lambda index: recall_in(vault, index, asked)), session, shown)
    if not result.ranking:
        return HookText("")
    short = brief(result, PROMPT_TOKENS)
    if short is not None:
        return HookText(short.text, short.facts)
    from clawmem.serving.recall.budgeted import recalled_context  # only where more than plain facts was found

    done = recalled_context(vault, caller, question, wanted, result, PROMPT_TOKENS)
    return HookText(done.text, done.facts)


def _tells(event: Event) -> bool:
    """Whether an event states something: calls and results of tools do not, nor does a question asked before."""
    return event.kind == "message" and event.role in ("user", "assistant") and not event.text.rstrip().endswith("?")


def _fresh(result: RecallResult, session: str | None, shown: Collection[str]) -> RecallResult:
    heard = tuple(one for one in result.heard if _tells(one.event) and (not session or one.event.session != session))
    # A fact that only carries its one word over the limit of all is no answer to a prompt.
    found = tuple(one for one in result.found if one.fact.id not in shown and one.score >= LEAST_SCORE)
    kept = {id(one) for one in (*heard, *found, *result.noted)}
    return result._replace(
        heard=heard, found=found, earlier=(), ranking=tuple(one for one in result.ranking if id(one.hit) in kept)
    )
