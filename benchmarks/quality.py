"""How good learning by rules is, on the labelled set in tests/learning/labelled: `python -m benchmarks.quality`.

Extraction. A proposition matches a labelled fact where (a) the evidence overlaps: the shared stretch of text is at
least half of the shorter of the two, (b) the statement or its subject holds the word for whom the fact is about, and
(c) each key word of the label begins a word of the statement (`a/b` asks for either). Each proposition matches at most
one label and each label at most one proposition, so a fact told twice in other words counts against precision.
Precision is matches over propositions, recall is matches over labels.

Supersession. The known facts of a case stand in memory (as triples, or as turns that were learned before); the new turn
goes through extract, judge, reconcile and place in the order in which `clawmem.learning.learn` calls them. A retirement
is right where the label asks for it and what replaced the fact holds one of the `news` words, if any are labelled.
Precision is right retirements over all, recall is right retirements over those asked for, and a bystander killed is a
fact that had to stand and does not. `outcomes` is the share of cases whose kind of decision is the labelled one.

`tune` is the half that rule changes were made on, `held` the half that they were not; `fresh` was written by somebody
else, who had not seen the rules.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Callable, Iterator, Sequence
from datetime import date, timedelta
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from clawmem.learning.reconciling.entities import EntityTitles, place
from clawmem.learning.reconciling.gate import judge
from clawmem.learning.reconciling.reconcile import (
    ADD,
    MERGE,
    NOOP,
    RETRACT,
    UPDATE,
    as_additional,
    drop_unfit_predicate,
    mark_change,
    reconcile,
)
from clawmem.learning.reconciling.review import resolve_correction
from clawmem.learning.rules.clauses import CORRECTION, RETRACTION
from clawmem.learning.rules.rules import candidate_in, extract, statements
from clawmem.learning.turn_end import looks_worth_keeping
from clawmem.model.facts.catalog import Catalog, catalog_from_mapping
from clawmem.model.facts.fact import SUPERSEDED, Fact
from clawmem.model.language.text import normal
from clawmem.model.proposals.para import Proposition
from clawmem.model.records.event import Event
from clawmem.model.safety.secrets.find import find_secret

ROOT = Path(__file__).resolve().parent.parent
LABELLED = ROOT / "tests" / "learning" / "labelled"
PARTS = ("tune", "held", "fresh")
_WHO = {"user": "user", "note": "user", "assistant": "assistant", "tool": "tool"}


class Extraction(NamedTuple):
    """What extraction made of the turns: counts, and each miss and each false fact in words."""

    proposed: int
    labelled: int
    matched: int
    quiet_turns: int
    quiet_kept: int
    false: tuple[str, ...]
    missed: tuple[str, ...]

    @property
    def precision(self) -> float:
        """Matches over propositions."""
        return self.matched / self.proposed if self.proposed else 1.0

    @property
    def recall(self) -> float:
        """Matches over labels."""
        return self.matched / self.labelled if self.labelled else 1.0


class Supersession(NamedTuple):
    """What the change cases came to: counts, and each fault in words."""

    cases: int
    retired: int
    wanted: int
    right: int
    bystanders: int
    killed: int
    outcomes: int
    faults: tuple[str, ...]

    @property
    def precision(self) -> float:
        """Right retirements over all retirements."""
        return self.right / self.retired if self.retired else 1.0

    @property
    def recall(self) -> float:
        """Right retirements over those that were asked for."""
        return self.right / self.wanted if self.wanted else 1.0


def read_labels(name: str, part: str) -> list[dict[str, Any]]:
    """The labelled records of one part."""
    lines = (LABELLED / f"{name}.jsonl").read_text(encoding="utf-8").splitlines()
    return [record for record in map(json.loads, lines) if record["half"] == part]


@cache
def shipped_catalog() -> Catalog:
    """The predicate catalog that a new vault starts with."""
    import yaml  # only the benchmark reads it without a vault

    return catalog_from_mapping(yaml.safe_load((ROOT / "vault-template" / "predicates.yaml").read_text("utf-8")))


def extraction(turns: Sequence[dict[str, Any]], catalog: Catalog) -> Extraction:
    """Run the extractor on each turn and compare."""
    proposed = labelled = matched = quiet = kept = 0
    false: list[str] = []
    missed: list[str] = []
    for turn in turns:
        propositions = list(extract(_event(turn, turn["text"]), catalog, tuple(turn["speakers"])))
        proposed += len(propositions)
        labelled += len(turn["facts"])
        quiet += not turn["facts"]
        kept += not turn["facts"] and not propositions
        for label in turn["facts"]:
            match = next((proposition for proposition in propositions if matches(proposition, label, turn)), None)
            if match is None:
                missed.append(f"{turn['id']}: {label['evidence']}  [{' '.join(label['words'])}]")
            else:
                propositions.remove(match)
                matched += 1
        false += [f"{turn['id']}: {proposition.statement}  <- {turn['text'][:90]}" for proposition in propositions]
    return Extraction(proposed, labelled, matched, quiet, kept, tuple(false), tuple(missed))


def matches(proposition: Proposition, label: dict[str, Any], turn: dict[str, Any]) -> bool:
    """Whether a proposition says what the label asks for, from the evidence that the label names."""
    start = turn["text"].index(label["evidence"])
    end = start + len(label["evidence"])
    shared = min(end, proposition.span[1]) - max(start, proposition.span[0])
    if shared * 2 < min(end - start, proposition.span[1] - proposition.span[0]):
        return False
    words = f"{proposition.subject or ''} {proposition.statement}"
    return all(_holds(words, word) for word in (label["who"], *label["words"]))


def _holds(text: str, word: str) -> bool:
    lowered = normal(text)
    return any(re.search(rf"(?<![^\W\d_]){re.escape(normal(way))}", lowered) for way in word.split("/"))


def supersession(cases: Sequence[dict[str, Any]], catalog: Catalog) -> Supersession:
    """Run each change case from its known facts through the new turn, and compare."""
    retired = wanted = right = bystanders = killed = outcomes = 0
    faults: list[str] = []
    for case in cases:
        memory = _Memory(catalog, case)
        goals = [memory.know(known) for known in case["known"]]
        outcome = memory.hear(case["turn"], case["said_at"])
        retired += len(memory.retired())
        for known, facts in zip(case["known"], goals, strict=True):
            gone = [fact for fact in facts if not memory.facts[fact.id].is_current]
            if known["retire"]:
                wanted += 1
                good = bool(gone) and all(memory.told(fact, case["news"]) for fact in gone)
                right += len(gone) if good else 0
                wanted += max(0, len(gone) - 1)
                faults += [] if good else [f"{case['id']} not retired ({case['kind']}): {case['turn']}"]
            else:
                bystanders += 1
                killed += bool(gone)
                faults += [f"{case['id']} BYSTANDER killed ({case['kind']}): {case['turn']}"] if gone else []
        agreed = case["expected"] == outcome or (case["expected"] == "untouched" and outcome in ("add", "nothing"))
        outcomes += agreed
        faults += [] if agreed else [f"{case['id']} wanted {case['expected']}, was {outcome}: {case['turn']}"]
    return Supersession(len(cases), retired, wanted, right, bystanders, killed, outcomes, tuple(faults))


def signalled(turns: Sequence[dict[str, Any]], catalog: Catalog, of_agents: bool = False) -> tuple[int, int, int, int]:
    """Of the turns that people said: how many with a labelled fact hold a sentence for review, or a question to the
    agent, of how many, and the same of those without. The daily limit is not applied."""
    items = [turn for turn in turns if turn["role"] == "user"]
    found = [
        (bool(turn["facts"]), looks_worth_keeping(turn["text"]) if of_agents else _is_candidate(turn, catalog))
        for turn in items
    ]
    facts = [strong for labelled, strong in found if labelled]
    others = [strong for labelled, strong in found if not labelled]
    return sum(facts), len(facts), sum(others), len(others)


def _is_candidate(turn: dict[str, Any], catalog: Catalog) -> bool:
    return candidate_in(_event(turn, turn["text"]), catalog, tuple(turn["speakers"])) is not None


class _Memory:
    """The facts of one case, as `learn` holds them while a round goes on."""

    def __init__(self, catalog: Catalog, case: dict[str, Any]) -> None:
        self.catalog = catalog
        self.case = case
        self.facts: dict[str, Fact] = {}
        subjects = {known.get("subject") or "" for known in case["known"]} | {"User", *case["speakers"]}
        self.titles = EntityTitles({f"areas/people/{name.lower()}": (name,) for name in subjects if name})

    def know(self, known: dict[str, Any]) -> list[Fact]:
        """Put a known fact in, or learn the turn it was told in a month before; the facts it became."""
        if "turn" not in known:
            return [self._add(known["statement"], known["subject"], known["predicate"], known["object"])]
        before = set(self.facts)
        earlier = date.fromisoformat(self.case["said_at"][:10]) - timedelta(days=30)
        self.hear(known["turn"], f"{earlier}T10:00:00Z", statements)
        items = [fact for name, fact in self.facts.items() if name not in before]
        return [fact for fact in items if all(_holds(fact.fact, word) for word in known["words"])]

    def hear(self, text: str, said_at: str, read_by: Callable[..., Sequence[Proposition]] = extract) -> str:
        """Learn from one turn, as the rules do or as whoever reads it plainly; the decision that weighed most."""
        event = _event({**self.case, "role": "user", "said_at": said_at}, text)
        read = read_by(event, self.catalog, tuple(self.case["speakers"]))
        adds = read_by is not extract
        outcomes = [
            self._decide(drop_unfit_predicate(mark_change(proposition, event.text)), adds) for proposition in read
        ]
        return next((name for name in (RETRACT, UPDATE, MERGE, "proposed", NOOP, "add") if name in outcomes), "nothing")

    def retired(self) -> list[Fact]:
        """The facts that no longer stand."""
        return [fact for fact in self.facts.values() if not fact.is_current]

    def told(self, fact: Fact, news: Sequence[str]) -> bool:
        """Whether what replaced a fact holds one of the words of the news."""
        after = self.facts[self.facts[fact.id].superseded_by or fact.id]
        return all(_holds(after.fact, word) for word in news)

    def _decide(self, proposition: Proposition, adds: bool) -> str:
        if proposition.category == CORRECTION:
            found = resolve_correction(proposition, self.facts.values())
            if found is None:
                return "refused"
            proposition, decision = found
            known = list(self.facts.values())
        elif proposition.category == RETRACTION:
            return "refused"  # it hides a fact, and a person decides
        else:
            about = normal(proposition.subject or "")
            known = [fact for fact in self.facts.values() if normal(fact.subject or "") == about]
            decision = reconcile(proposition, known, self.catalog)
        if decision.outcome == NOOP and decision.targets:
            return NOOP
        if decision.outcome == ADD and not (adds or proposition.asked or decision.contradicts):
            return "refused"  # a correction of nothing that is known
        verdict = judge(proposition, known, lambda text: "secret" if find_secret(text) else None)
        if not verdict.accepted:
            return NOOP if verdict.duplicate_of else "refused"
        if place(proposition, self.titles).entity is None:
            return "noted"
        if decision.outcome == ADD and decision.contradicts:
            return "proposed"
        proposition = as_additional(proposition) if decision.beside else proposition
        fact = self._add(
            proposition.statement,
            proposition.subject,
            proposition.predicate,
            proposition.object,
            valid_from=proposition.valid_from,
            metadata={"said_at": proposition.said_at},
        )
        if decision.outcome in (UPDATE, MERGE, RETRACT) and decision.targets:
            for target in decision.targets:
                old = self.facts[target]
                self.facts[target] = old._replace(status=SUPERSEDED, superseded_by=fact.id)
            return decision.outcome
        return "add"

    def _add(self, statement: str, subject: str | None, predicate: str | None, value: str | None, **more: Any) -> Fact:
        name = f"fact_{len(self.facts):08x}"
        fact = Fact(name, statement, "fact", "2026-01-01T00:00:00Z", "test")
        self.facts[name] = fact._replace(subject=subject, predicate=predicate, object=value, **more)
        return self.facts[name]


def _event(record: dict[str, Any], text: str) -> Event:
    return Event("evt_1", record["said_at"], record["role"], text, speaker=record["speaker"])


def report() -> Iterator[str]:
    """The figures of all parts as a Markdown table."""
    catalog = shipped_catalog()
    yield "| what | goal | tune | held | fresh |\n|---|---|---|---|---|"
    found = [extraction(read_labels("turns", part), catalog) for part in PARTS]
    changed = [supersession(read_labels("changes", part), catalog) for part in PARTS]
    signals, asked = (
        [signalled(read_labels("turns", part), catalog, of_agents) for part in PARTS] for of_agents in (False, True)
    )

    def row(what: str, goal: str, tell: Callable[[int], str]) -> str:
        return f"| {what} | {goal} | {tell(0)} | {tell(1)} | {tell(2)} |"

    yield row(
        "extraction precision",
        "0.95",
        lambda n: f"{found[n].precision:.3f} ({found[n].matched} of {found[n].proposed})",
    )
    yield row("extraction recall", "", lambda n: f"{found[n].recall:.3f} ({found[n].matched} of {found[n].labelled})")
    yield row("turns rightly left alone", "", lambda n: f"{found[n].quiet_kept} of {found[n].quiet_turns}")
    yield row("turns with a fact that are candidates", "", lambda n: f"{signals[n][0]} of {signals[n][1]}")
    yield row("turns without one that are candidates", "", lambda n: f"{signals[n][2]} of {signals[n][3]}")
    yield row("asked about, with a fact", "0.95", lambda n: f"{asked[n][0]} of {asked[n][1]}")
    yield row("asked about, without one", "0.25", lambda n: f"{asked[n][2]} of {asked[n][3]}")
    yield row(
        "supersession precision",
        "1.00",
        lambda n: f"{changed[n].precision:.3f} ({changed[n].right} of {changed[n].retired})",
    )
    yield row(
        "supersession recall", "", lambda n: f"{changed[n].recall:.3f} ({changed[n].right} of {changed[n].wanted})"
    )
    yield row("bystanders killed", "0", lambda n: f"{changed[n].killed} of {changed[n].bystanders}")
    yield row("outcome as labelled", "", lambda n: f"{changed[n].outcomes} of {changed[n].cases}")


def faults(part: str) -> Iterator[str]:
    """Every miss and every false fact of one part, one a line."""
    catalog = shipped_catalog()
    found = extraction(read_labels("turns", part), catalog)
    yield from (f"false  {text}" for text in found.false)
    yield from (f"missed {text}" for text in found.missed)
    yield from supersession(read_labels("changes", part), catalog).faults


if __name__ == "__main__":
    for shown in faults(sys.argv[2]) if sys.argv[1:2] == ["faults"] else report():
        print(shown)
