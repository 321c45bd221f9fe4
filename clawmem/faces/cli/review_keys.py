"""`clawmem review decide`: proposals at a terminal one after the other, with one key for each decision.

Each decision is a call of the verb that decides it (`review approve`, `review reject`, `undo`), with a vault that is
opened anew: it is one commit, and other processes may decide meanwhile. What a proposal says is printed with its
control characters escaped, and is never read as markup.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterable, Iterator
from textwrap import wrap
from typing import Any, NamedTuple

from clawmem.errors import DONE, INTERRUPTED, ClawmemError, Refused
from clawmem.faces.cli.display import terminal_columns
from clawmem.faces.cli.keys import END, TerminalClosed, closing, read_key, undivided
from clawmem.faces.parts.command import Answer, Call, Command
from clawmem.faces.verbs.review import action_pairs
from clawmem.faces.verbs.table import load
from clawmem.faces.verbs.why import marked_quote
from clawmem.model.facts.fact_words import fact_line
from clawmem.model.language.dates import minute
from clawmem.model.language.text import counted, one_line, visible
from clawmem.model.proposals.proposal import (
    ADD,
    APPROVED,
    NOT_KEPT,
    OPEN,
    REJECTED,
    SUPERSEDE,
    Proposal,
    is_candidate,
)
from clawmem.review.review import CitedEvent, ProposalDetails, evidence, list_proposals, present
from clawmem.runtime import Runtime

_BOLD, _RED, _CYAN = "1", "31", "36"
# Columns of the labels of a proposal, and the narrowest terminal on which lines are wrapped.
_LABEL, _NARROWEST = 9, 20
_LABELLED = re.compile(r"\w+ {2,}|[-+] | {2,}\S {2}| +")


class Key(NamedTuple):
    """A key: its name on the screen, what it does, the act, and whether it applies to a proposal."""

    name: str
    about: str
    act: Callable[[Walk], bool | None]
    applies: Callable[[Proposal], bool] = lambda other: True


class Made(NamedTuple):
    """A decision of this walk: the place of the proposal in the queue, what was decided, and its commit."""

    place: int
    status: str
    commit: str


def decide(runtime: Runtime, kind: str | None, machine_form: str | None = None) -> Answer:
    """Ask a person about each open proposal that they may decide, and return what was decided.

    `machine_form` is the option that leaves no room for questions, if one was given. Raise NotPermitted for an agent,
    InvalidInput for an unknown kind, and Refused if nobody can be asked."""
    found = list_proposals(runtime.vault(), False, kind, runtime.caller())
    if machine_form or not (sys.stdin.isatty() and sys.stdout.isatty()):
        none = f"{machine_form} leaves no room for questions" if machine_form else "there is none"
        raise Refused(
            f"`clawmem review decide` asks at a terminal, and {none}.",
            "`clawmem review list` shows what waits; `clawmem review approve` and `reject` decide it.",
        )
    walk = Walk(runtime, tuple(proposal.id for proposal in found.proposals))
    for notice in found.notices:
        walk.say(f"note: {notice}")
    others = sum(proposal.status == OPEN and kind in (None, proposal.kind) for proposal in found.all_filed) - len(
        walk.ids
    )
    if walk.ids:
        with closing():
            walk.run()
    return walk.answer(others)


class Walk:
    """One walk through a queue of proposals."""

    def __init__(self, runtime: Runtime, ids: tuple[str, ...]) -> None:
        self.ids = ids
        self.place = 0
        self.made: list[Made] = []
        self.shown: ProposalDetails | None = None
        self.interrupted = False
        self._runtime = runtime
        self._gone: set[int] = set()
        dumb = runtime.environment.get("TERM") == "dumb"
        self._plain = dumb or bool(runtime.environment.get("NO_COLOR"))
        self._erase = "\r\n" if dumb else "\r\x1b[K"

    def run(self) -> None:
        """Ask until the person quits, or the terminal is gone."""
        try:
            while self._ask():
                pass
        except TerminalClosed:
            pass
        except KeyboardInterrupt:
            self.interrupted = True
            self.say("")

    def answer(self, others: int) -> Answer:
        """Return what was decided, and how much is left. `others` is the number of proposals for other people."""
        decided: dict[str, list[str]] = {APPROVED: [], REJECTED: []}
        for made in self.made:
            decided[made.status].append(self.ids[made.place])
        left = len(self.ids) - len({made.place for made in self.made} | self._gone)
        words = [f"{len(ids):,} {status}" for status, ids in decided.items()]
        talk = [] if self.ids else ["There is nothing for you to decide."]
        talk += [f"{counted(others, 'proposal')} for other reviewers (`review.routes`)."] if others else []
        lines = [", ".join([*words, f"{left:,} left"])]
        return Answer({**decided, "left": left}, lines, (), INTERRUPTED if self.interrupted else DONE, talk)

    def say(self, text: str, style: str = "") -> None:
        """Print a line. Whatever the text is, it only shows as text."""
        for line in _wrapped(visible(text), terminal_columns(1)):
            self._draw(f"{line}\n" if self._plain or not style else f"\x1b[{style}m{line}\x1b[0m\n")

    def _ask(self) -> bool:
        """Ask about the proposal at the place. Return False when the person quits."""
        if self.place >= len(self.ids):
            return bool(self.made) and self._press([UNDO, QUIT], "That was the last one.")
        if not self._look():
            self.place += 1
            return True
        assert self.shown is not None
        self.say("")
        self.say(f"{self._where()}  {self.ids[self.place]}", _CYAN)
        for number, line in enumerate(_card(self.shown)):
            self.say(line, "" if number else _BOLD)
        place = self.place
        keys = [key for key in KEYS if key.applies(self.shown.proposal)]
        while self.place == place and self.shown is not None:
            if not self._press(keys, self._where()):
                return False
        return True

    def _look(self) -> bool:
        """Read the proposal at the place again. Return whether it still waits; if it does not, say why."""
        proposal_id = self.ids[self.place]
        try:
            self.shown = present(self._fresh().vault(), proposal_id)
        except ClawmemError as problem:
            self._fail(problem)
            self._gone.add(self.place)
            return False
        proposal = self.shown.proposal
        if proposal.status == OPEN:
            self._gone.discard(self.place)
            return True
        if all(self.place != made.place for made in self.made):
            by = f" by {proposal.decided.by} at {minute(proposal.decided.at)}" if proposal.decided else ""
            self.say(f"{proposal_id} is {proposal.status} meanwhile{by}: {one_line(proposal.says)}", _CYAN)
            self._gone.add(self.place)
        return False

    def _press(self, keys: list[Key], words: str) -> bool:
        """Read one key and do what it says. Return False if that is to quit."""
        prompt = f"{words}  [{' '.join(other_key.name for other_key in keys)}] "
        key = read_key(sys.stdin.fileno(), lambda: self._draw(f"{self._erase}{prompt}"))
        name = {" ": "s", "n": "s", "h": "?", END: "q"}.get(key, key)
        self._draw(f"{name if name.isprintable() else ''}\n")
        found = next((other_key for other_key in keys if other_key.name == name), None)
        if found is None:
            self.say(
                "Press one key: " + ", ".join(f"{each.name} {each.about}" for each in keys if each.name in "arsu?q")
            )
            return True
        try:
            return found.act(self) is not False
        except ClawmemError as problem:
            self._fail(problem)
            self.shown = None  # it may have been decided meanwhile: look again
            return True

    def verb(self, words: str, **record: Any) -> Answer:
        """Call a verb and print its answer."""
        name, _, second = words.partition(" ")
        verb = load(name)
        command = verb if isinstance(verb, Command) else verb[second]
        values = {parameter.name: parameter.default for parameter in command.parameters}
        answer: Answer = command.function(Call(self._fresh()), **{**values, **record})
        self.lines(f"note: {notice}" for notice in answer.notices)
        self.lines(map(str, answer.lines))  # type: ignore[arg-type]
        return answer

    def lines(self, lines: Iterable[str]) -> None:
        """Print lines."""
        for line in lines:
            self.say(line)

    def line(self, question: str) -> str | None:
        """Return a line of text, which may be empty, or None if the person took the question back."""
        try:
            self._draw(question)
            value = sys.stdin.readline()
        except KeyboardInterrupt:
            value = ""
        except OSError:
            raise TerminalClosed from None
        if not value:
            self.say("")
        return one_line(value) if value else None

    def decide(self, words: str, **value: Any) -> None:
        """Decide with a verb, complete before a signal ends the program, and go on to the next proposal.

        A decision that somebody else made before is not counted."""
        with undivided():
            record = self.verb(words, proposal=self.ids[self.place], **value).made()
            if record["commit"]:
                self.made.append(Made(self.place, record["proposal"]["status"], record["commit"]))
                self.place += 1
            self.shown = None

    def take_back(self) -> None:
        """Undo the last decision, and go back to its proposal."""
        if not self.made:
            self.say("Nothing was decided yet.")
            return
        with undivided():
            self.verb("undo", target=self.made[-1].commit)
            self.place = self.made.pop().place
            self.shown = None

    def vault_act(self, act: Callable[..., Any]) -> Any:
        """Return what an act that only reads says about the proposal at the place."""
        return act(self._fresh().vault(), self.ids[self.place])

    def _fresh(self) -> Runtime:
        """Return the runtime with nothing opened: settings may have changed, and others write meanwhile."""
        return self._runtime.at(self._runtime.working_folder)

    def _where(self) -> str:
        return f"{self.place + 1:,} of {len(self.ids):,}"

    def _fail(self, problem: ClawmemError) -> None:
        self.say(problem.message, _RED)
        if problem.hint:
            self.say(problem.hint)

    def _draw(self, text: str) -> None:
        try:
            sys.stdout.write(text)
            sys.stdout.flush()
        except OSError:
            raise TerminalClosed from None


def _wrapped(text: str, columns: int) -> list[str]:
    """Return a line as lines of at most so many columns, the later ones below what is behind the label of the first.

    A word that is too long stays whole, so that it can be copied."""
    if columns < _NARROWEST or len(text) <= columns:
        return [text]
    label = _LABELLED.match(text)
    indent = " " * (min(label.end(), columns // 2) if label else 0)
    lines = wrap(text, columns, subsequent_indent=indent, break_long_words=False, break_on_hyphens=False)
    return lines or [text]


def _edit(walk: Walk) -> None:
    text = walk.line("the fact in your words (empty: not now): ")
    if text:
        walk.decide("review approve", text=text)


def _keep(walk: Walk) -> None:
    assert walk.shown is not None
    sides = {str(number): placed for number, placed in enumerate(walk.shown.targets, 1)}
    for number, placed in sides.items():
        walk.say(f"  {number}  {fact_line(placed.fact, placed.entity)}")
    chosen = walk.line("number of the fact to keep (empty: none): ")
    if chosen in sides:
        walk.decide("review approve", keep=sides[chosen].fact.id)
    else:
        walk.say("Nothing was decided.")


def _reject(walk: Walk) -> None:
    reason = walk.line("(not true? not wanted? bad wording?) reason for rejecting: ")
    if reason:
        walk.decide("review reject", reason=reason)
    else:
        walk.say("Not rejected: a rejection needs a reason.")


def _skip(walk: Walk) -> None:
    walk.place += 1


def _evidence(walk: Walk) -> None:
    found = walk.vault_act(evidence)
    for other in found:
        walk.lines(_cited(other))
    if not found:
        walk.say("There is no evidence.")


def _help(walk: Walk) -> None:
    assert walk.shown is not None
    for key in KEYS:
        if key.applies(walk.shown.proposal):
            walk.say(f"  {key.name}  {key.about}")
    walk.say("Each decision is one commit. What is decided stays decided when you quit.")


def _contradicts(proposal: Proposal) -> bool:
    return proposal.kind == "conflict" and proposal.does in (ADD, SUPERSEDE)


def _has_sides(proposal: Proposal) -> bool:
    return proposal.kind == "conflict" and proposal.does == SUPERSEDE and len(proposal.targets) > 1


UNDO = Key("u", "undo the last decision", Walk.take_back)
QUIT = Key("q", "quit", lambda walk: False)
KEYS = (
    Key("a", "approve", lambda walk: walk.decide("review approve")),
    Key(
        "b",
        "approve, and keep the facts that it contradicts as well",
        lambda walk: walk.decide("review approve", beside=True),
        _contradicts,
    ),
    Key("k", "decide the conflict for one of its facts", _keep, _has_sides),
    Key("t", "approve in other words", _edit, lambda other: other.does == ADD and other.fact is not None),
    Key("r", "reject and say why", _reject),
    Key(
        "x",
        "drop the candidate",
        lambda walk: walk.decide("review reject", reason=NOT_KEPT),
        is_candidate,
    ),
    Key("s", "skip (also space or n)", _skip),
    Key("e", "show the evidence", _evidence),
    UNDO,
    Key("?", "show the keys", _help),
    QUIT,
)


def _card(shown: ProposalDetails) -> Iterator[str]:
    """Yield what a person has to know to decide; the first line is what is proposed."""
    proposal = shown.proposal
    yield one_line(proposal.says)
    place = f" about {proposal.entity}" if proposal.entity else ""
    yield f"{proposal.kind}{place}, {minute(proposal.created)}" + (f", for {proposal.agent}" if proposal.agent else "")
    now = (("now", fact_line(target.fact, target.entity)) for target in shown.targets)
    pairs = [("why", proposal.why), *action_pairs(proposal), *now]
    width = max(_LABEL, *(len(label) for label, _ in pairs))
    for label, value in pairs:
        yield f"{label:<{width}} {one_line(value)}"


def _cited(event: CitedEvent) -> Iterator[str]:
    yield f"  {event.fact.fact}"
    quote = event.fact.source_text or ""
    if event.event is None:
        yield f"    quoted, without an event: >>{one_line(quote)}<<"
        return
    who = event.event.speaker or event.event.role
    yield f"    {who}, {minute(event.event.timestamp)}, event {event.event.id}, trust {event.fact.trust or 'user'}"
    yield f"    {_quoted(event.event.text, quote)}"


def _quoted(text: str, quote: str) -> str:
    """Return the quote between >> and << with the text around it."""
    start = text.find(quote) if quote else -1
    return marked_quote(text, (start, start + len(quote)) if start >= 0 else None, quote, 200)
