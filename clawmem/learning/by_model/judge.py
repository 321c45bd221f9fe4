"""Tasks to judge which facts of a day are worth keeping for thirty days, in batches, and what an answer says."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from clawmem.learning.attribution.quoted import may_be_shown
from clawmem.llm.choice import prompt
from clawmem.llm.presets import ModelTask
from clawmem.model.facts.fact import Fact
from clawmem.model.language.text import counted, normal, one_line
from clawmem.model.proposals.para import EntityHint, usable_tags
from clawmem.model.proposals.promotion import PromotionScore, ScoredFact, para_class
from clawmem.model.records.entity import kind_of
from clawmem.model.safety.secrets.find import find_secret

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
