"""MEME's cascade and absence questions: what happens to a value when the thing that it depends on changes?

    python -m benchmarks.public_sets.meme FILE [--cases N] [--answer --set llm.model=NAME] [--json]

FILE is a JSON file of the set (`meme_nofiller.json`, `meme_filler32k.json`): a list of episodes. Two arms:

- `told`: the sessions are ingested in order, the heartbeat learns from them, and the questions are asked after the
  sessions that the set names. This is what the published figures are about.
- `premises`: each entity's value is a fact, with the set's own `dependency_edges_used` as premises and, for cascades,
  the announced value; then the root changes by `supersede`. It shows what the memory does where the dependencies are
  known, which is an upper bound and compares with no published figure.

Reported without a model: of cascades, whether the new value is served, and whether the old one is served as if it
held, which for absences is the whole question. Questions whose old value was not served before the change are left out
of these two, as the set leaves out trivial passes. With `--answer` the model of the settings answers; an answer is
right where it contains the new value and not the old one, or for absences not the old one, and where the answer before
the change was right. The set's own judge is a model.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Mapping, Sequence
from datetime import timedelta
from pathlib import Path
from typing import Any, NamedTuple

from benchmarks.public_sets.common import (
    Memory,
    Options,
    folders,
    key_of,
    line_of,
    main,
    read_json,
    share,
)
from clawmem.errors import InvalidInput
from clawmem.heartbeat.loop import run_heartbeat
from clawmem.learning.ingest import ingest
from clawmem.memory.facts.remember import remember
from clawmem.memory.facts.revise import link, supersede
from clawmem.model.facts.draft import draft_from_record
from clawmem.model.facts.fact_words import change_labels
from clawmem.model.transcripts.message import Message
from clawmem.serving.recall.result import FactHit, RecallHit

TOLD, PREMISES = "told", "premises"
CASCADE, ABSENCE = "Cas", "Abs"
TOP = 10
_TIME = re.compile(r"(\d{4})/(\d\d)/(\d\d) \(\w+\) (\d\d:\d\d)")
_ANSWER = {"type": "object", "required": ["answer"], "properties": {"answer": {"type": "string"}}}
_RULES = (
    "Answer the question from the memory, as of now, in a few words. A change of one thing can change another one, by"
    " what the memory says. Where the memory no longer tells the answer, say that it is unknown."
)


class CascadeQuestion(NamedTuple):
    """A question about an entity, with its value before and after the change (None for absences)."""

    kind: str
    entity: str
    text: str
    before: str
    after: str | None


class MemeEpisode(NamedTuple):
    """One episode: its sessions, after which of them the two rounds of questions come, and what depends on what."""

    name: str
    sessions: tuple[Mapping[str, Any], ...]
    before_at: int
    after_at: int
    questions: tuple[CascadeQuestion, ...]
    root: str
    change: tuple[str, str]
    values: Mapping[str, str]
    edges: tuple[tuple[str, str], ...]


class CascadeOutcome(NamedTuple):
    """What became of a question in one arm: whether the old value was served before the change, and after it whether
    the new one was, and the old one with and without a mark; `right` is of a model's answers."""

    arm: str
    episode: str
    question: CascadeQuestion
    known: bool
    new: bool
    unmarked: bool
    marked: bool
    right: bool | None


def read_episodes(path: Path) -> list[MemeEpisode]:
    """Read a file of the set. Raise InvalidInput for anything else."""
    items = read_json(path)
    if not isinstance(items, list):
        raise InvalidInput(f"{path} is not a list of episodes.")
    return [_episode(other, f"{path}, episode {at}") for at, other in enumerate(items, 1)]


def _episode(record: Mapping[str, Any], where: str) -> MemeEpisode:
    before, after = (key_of(record, f"{name}_questions", dict, where) for name in ("before", "after"))
    earlier = {_entity(other, where): other for other in key_of(before, "questions", list, where) if _kind(other)}
    questions = []
    for other in key_of(after, "questions", list, where):
        if not _kind(other):
            continue
        entity = _entity(other, where)
        if entity not in earlier:
            raise InvalidInput(f"{where}: '{entity}' is asked after the change and not before it.")
        old = key_of(earlier[entity], "expected_answer", str, where)
        new = str(other.get("gold_answer")) if _kind(other) == CASCADE else None
        questions.append(CascadeQuestion(_kind(other), entity, key_of(other, "question", str, where), old, new))
    entities, change = key_of(record, "entities", dict, where), key_of(record, "root_change", dict, where)
    return MemeEpisode(
        str(record.get("episode_id")),
        tuple(key_of(record, "sessions", list, where)),
        key_of(before, "position_after_session", int, where),
        key_of(after, "position_after_session", int, where),
        tuple(questions),
        key_of(record, "root", str, where),
        (str(change.get("before")), str(change.get("after"))),
        {
            name: other_entity["before"]
            for name, other_entity in entities.items()
            if isinstance(other_entity, dict) and _text(other_entity.get("before"))
        },
        tuple((other["source"], other["target"]) for other in key_of(record, "dependency_edges_used", list, where)),
    )


def _text(value: Any) -> bool:
    return isinstance(value, str) and bool(value.strip())


def _kind(question: Mapping[str, Any]) -> str:
    """Cas or Abs, or nothing for the other tasks; the set writes `Cas` also with a remark behind it."""
    word = str(question.get("task_type", "")).split(" (")[0]
    return word if word in (CASCADE, ABSENCE) else ""


def _entity(question: Mapping[str, Any], where: str) -> str:
    named = question.get("entity")
    return str(named[0]) if isinstance(named, list) and named else key_of(question, "entity", str, where)


def play_told(episode: MemeEpisode, folder: Path, options: Options) -> list[CascadeOutcome]:
    """Ingest the sessions and ask."""
    memory = Memory(folder, options)
    _tell(memory, episode, range(episode.before_at + 1))
    before = [_asked(memory, question) for question in episode.questions]
    _tell(memory, episode, range(episode.before_at + 1, episode.after_at + 1))
    return [
        _outcome(memory, TOLD, episode, question, old) for question, old in zip(episode.questions, before, strict=True)
    ]


def _tell(memory: Memory, episode: MemeEpisode, numbers: range) -> None:
    for number in numbers[: max(0, len(episode.sessions) - numbers.start)]:
        session = episode.sessions[number]
        found = _TIME.match(str(session.get("timestamp") or session.get("date") or ""))
        time = "{}-{}-{}T{}:00Z".format(*found.groups()) if found else _day(memory, number)
        turns = enumerate(session["conversation"], 1)
        name = f"session-{number}"
        messages = [
            Message(at, other["role"], other["content"], time, None, name, f"{number}.{at}") for at, other in turns
        ]
        ingest(memory.vault, messages, memory.caller, episode.name)
    run_heartbeat(memory.vault, memory.caller)


def _day(memory: Memory, number: int) -> str:
    """The time of a session without one: its sessions are days, the last of which is before the clock."""
    return (memory.caller.now - timedelta(days=400 - number)).strftime("%Y-%m-%dT%H:%M:%SZ")


def play_premises(episode: MemeEpisode, folder: Path, options: Options) -> list[CascadeOutcome]:
    """Store the values with their premises, ask, change the root, and ask again."""
    memory = Memory(folder, options)
    ids = {name: _remember(memory, _states(name, value)) for name, value in episode.values.items()}
    for source, target in episode.edges:
        if source in ids and target in ids:
            link(memory.vault, ids[target], "depends_on", ids[source], memory.caller)
    for question in episode.questions:
        source = next((source for source, target in episode.edges if target == question.entity), episode.root)
        if question.after:
            announced = _states(question.entity, question.after, "will be")
            _remember(memory, f"If the {_words(source)} changes, {announced}")
    before = [_asked(memory, question) for question in episode.questions]
    memory.later()
    draft = draft_from_record({"fact": _states(episode.root, episode.change[1])}, memory.caller.now)
    supersede(memory.vault, ids[episode.root], draft, memory.caller)
    return [
        _outcome(memory, PREMISES, episode, question, old)
        for question, old in zip(episode.questions, before, strict=True)
    ]


def _words(name: str) -> str:
    return name.replace("_", " ")


def _states(name: str, value: str, verb: str = "is") -> str:
    return f"the {_words(name)} {verb} {value}".strip()


def _remember(memory: Memory, text: str) -> str:
    record = {"fact": f"{text[0].upper()}{text[1:].rstrip('.')}.", "entity": "projects/episode"}
    return remember(memory.vault, [draft_from_record(record, memory.caller.now)], memory.caller).facts[0].fact.id


def _asked(memory: Memory, question: CascadeQuestion) -> tuple[bool, bool | None]:
    """Whether the old value is served before the change, and whether a model answers with it."""
    hits = memory.ask(question.text, TOP)
    answer = _answer(memory, question, hits)
    known = any(_has(line_of(hit), question.before) for hit in hits)
    return known, None if answer is None else _has(answer, question.before)


def _outcome(
    memory: Memory, arm: str, episode: MemeEpisode, question: CascadeQuestion, earlier: tuple[bool, bool | None]
) -> CascadeOutcome:
    hits = memory.ask(question.text, TOP)
    old = [hit for hit in hits if _has(line_of(hit), question.before)]
    marked = [
        recall_hit for recall_hit in old if isinstance(recall_hit.hit, FactHit) and change_labels(recall_hit.hit.fact)
    ]
    new = question.after is not None and any(_has(line_of(hit), question.after) for hit in hits)
    answer = _answer(memory, question, hits)
    right = None
    if answer is not None:
        flag = question.after is None or _has(answer, question.after)
        right = bool(earlier[1]) and flag and not _has(answer, question.before)
    return CascadeOutcome(arm, episode.name, question, earlier[0], new, len(old) > len(marked), bool(marked), right)


def _answer(memory: Memory, question: CascadeQuestion, hits: Sequence[RecallHit]) -> str | None:
    if memory.answering is None:
        return None
    text = "\n".join(line_of(hit) for hit in hits)
    answer = memory.answering.json(_RULES, f"Memory:\n{text}\n\nQuestion: {question.text}", _ANSWER)
    return str(answer["answer"]) if answer else ""


def _has(text: str, value: str) -> bool:
    return value.casefold() in text.casefold()


def run(episodes: Sequence[MemeEpisode], options: Options) -> dict[str, Any]:
    """Play the episodes in both arms and return the table and every outcome."""
    wanted = episodes[: options.cases]
    with folders() as new:
        items = [outcome for each in wanted for outcome in play_told(each, new(), options)]
        items += [play_premise for each in wanted for play_premise in play_premises(each, new(), options)]
    groups = [(arm, kind) for arm in (TOLD, PREMISES) for kind in (CASCADE, ABSENCE)]
    return {
        "set": "MEME",
        "read": sum(len(episode.questions) for episode in wanted),
        "scored": len(items) // 2,
        "table": [
            _row(arm, kind, [outcome for outcome in items if (outcome.arm, outcome.question.kind) == (arm, kind)])
            for arm, kind in groups
        ],
        "cases": [{**outcome._asdict(), "question": outcome.question._asdict()} for outcome in items],
    }


def _row(arm: str, kind: str, items: Sequence[CascadeOutcome]) -> Mapping[str, Any]:
    known = [outcome for outcome in items if outcome.known]
    row: dict[str, Any] = {
        "arm": arm,
        "task": {CASCADE: "cascade", ABSENCE: "absence"}[kind],
        "questions": len(items),
        "old value served before": len(known),
        "new value served %": share(sum(outcome.new for outcome in known), len(known)) if kind == CASCADE else None,
        "old value served unmarked %": share(sum(outcome.unmarked for outcome in known), len(known)),
        "old value served marked %": share(sum(outcome.marked for outcome in known), len(known)),
    }
    if any(outcome.right is not None for outcome in items):
        row["answers right %"] = share(sum(bool(outcome.right) for outcome in items), len(items))
    return row


if __name__ == "__main__":
    sys.exit(main(__doc__, read_episodes, run, ["file"]))
