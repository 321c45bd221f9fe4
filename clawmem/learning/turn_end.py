"""The question at the end of an agent's turn, where no model reads later: what was worth keeping, and is not stored."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator

from clawmem.learning.signs import keeping_score
from clawmem.model.records.caller import Caller
from clawmem.model.safety.recalled_text import wrap_context
from clawmem.vault.vault import Vault

QUESTION = wrap_context(
    "Did the last message of the user, or what you found out for it, hold something that will still matter in a month:"
    " a preference, rule, correction, decision with its reason, change or ending, a fact about a person, a project or a"
    " system? Store what is not stored yet: at most five calls of clawmem's tool `remember`, one plain sentence each,"
    " with names and dates in full. What was supposed, joked, quoted, or matters for this task only is not worth it."
    " Then go on; say nothing of this, and if nothing else is asked, end your turn."
)
# The commits of an agent that store nothing by its own decision.
_BY_ITSELF = frozenset(("", "ingest", "access", "session-start", "session-end"))


def turn_question(vault: Vault, caller: Caller, asked: str, since: str) -> str:
    """Return the question to an agent that has answered the prompt `asked`, or an empty text.

    It is asked where no model reads (`llm.model`), the setting `session.ask` allows it, the prompt looks as if it holds
    something to keep, and the agent has stored nothing `since` the time of the prompt."""
    if not since or vault.settings.words("llm.model") or not vault.settings.flag("session.ask"):
        return ""
    return QUESTION if looks_worth_keeping(asked) and not _has_stored(vault, caller, since) else ""


def _has_stored(vault: Vault, caller: Caller, since: str) -> bool:
    form = "--format=%(trailers:key=Clawmem-Op,valueonly,separator=%x0A)"
    found = vault.git.try_run("log", "-20", f"--since={since}", f"--author=^{caller.agent} <", form) or b""
    return not _BY_ITSELF.issuperset(line.strip() for line in found.decode().splitlines())


_FOREIGN = re.compile(r"```.*?(?:```|\Z)|^\s*>.*$|[\"“„«][^\"”“»\n]{12,}[\"”“»]", re.DOTALL | re.MULTILINE)
_OUTPUT = re.compile(
    r"\s*(?:[\[(]?\d{1,4}[-:/.]\d\d|[\w.\[\]]*(?:[Ee]rror|Exception|fatal|hint|[Ww]arning|WARN|FAILED|ERR!?)\b"
    r"|[\w/.-]+: (?:[Ee]rror|command not|warning)|Traceback|File \"|at [\w$.<>]+[.(:]|#\d+ |-+>|\d+ \||[|$%{}]"
    r"|(?:From|To|Subject|TOP \d|[A-Z]):)"
)
_ENDS = re.compile(r"(?<=[.!?;])\s+|\n+")
_LEAST = -1.66  # a logarithm, as a score


def looks_worth_keeping(prompt: str) -> bool:
    """Return whether a prompt looks as if it holds something to keep, by its words alone."""
    return sum(math.exp(keeping_score(sentence)) for sentence in _own_sentences(prompt)) >= math.exp(_LEAST)


def _own_sentences(text: str) -> Iterator[str]:
    """The sentences of a prompt without code, quotations, and lines that a program wrote."""
    for line in _FOREIGN.sub(" … ", text).split("\n"):
        if not _OUTPUT.match(line):
            yield from (sentence for sentence in _ENDS.split(line) if sentence.strip(" …-*\t"))
