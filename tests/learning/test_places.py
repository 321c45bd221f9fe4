"""Where the facts of a conversation land, by PARA class, with the recorded answers of a model about it.

The conversation and the answers are written for this test. Each row has what was said, what a model made of it
(subject, predicate, object, and the thing that it is about), and the entity where a person would look for it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection

from clawmem.index.refresh import open_index
from clawmem.index.search.lookup import PlacedFact, all_facts
from clawmem.learning.learn import _change
from clawmem.learning.reconciling.round import Extractor, LearningRound, RoundLimits
from clawmem.learning.reconciling.round_state import KEPT, RoundState
from clawmem.memory.health.doctor import doctor
from clawmem.memory.writing import writing
from clawmem.model.facts.catalog import Catalog
from clawmem.model.proposals.para import EntityHint, Proposition
from clawmem.model.proposals.promotion import para_class
from clawmem.model.records.caller import Caller
from clawmem.model.records.cursor import LearningCursor
from clawmem.model.records.event import Event
from clawmem.vault.vault import Vault

ME = "areas/people/user"
SPEAKER = EntityHint("person", "User", "speaker")
Row = tuple[str, str, str, str, tuple[str, str] | None, str | None]
TALK: tuple[Row, ...] = (
    ("I work at Fernwick Labs as a designer.", "The user", "works_at", "Fernwick Labs", None, ME),
    ("I am building an app called Larder.", "The user", "works_on", "an app called Larder", None, "projects/larder"),
    ("Larder uses SQLite.", "Larder", "uses", "SQLite", None, "projects/larder"),
    (
        "The Larder launch is on 4 March 2027.",
        "the Larder launch",
        "scheduled_for",
        "2027-03-04",
        None,
        "projects/larder",
    ),
    ("Larder's budget is 4,000 euros.", "Larder's budget", "budget", "4,000 euros", None, "projects/larder"),
    (
        "Fernwick Labs has an office in Bergen.",
        "Fernwick Labs",
        "owns",
        "an office in Bergen",
        None,
        "areas/companies/fernwick-labs",
    ),
    (
        "Fernwick Labs pays on the 25th.",
        "Fernwick Labs",
        "requires",
        "pay on the 25th",
        None,
        "areas/companies/fernwick-labs",
    ),
    (
        "Brandt GmbH delivers the paper.",
        "Brandt GmbH",
        "owns",
        "the paper delivery",
        None,
        "areas/companies/brandt-gmbh",
    ),
    ("Please track Heron, the new kiosk.", "Heron", "", "the new kiosk", ("project", "Heron"), "projects/heron"),
    (
        "Heron runs on a Raspberry Pi.",
        "Heron",
        "uses",
        "a Raspberry Pi",
        ("project", "projects/heron"),
        "projects/heron",
    ),
    ("Redis drops keys above 2 GB here.", "Redis", "limit", "2 GB", ("tool", "Redis"), "resources/redis"),
    (
        "Redis needs a password on staging.",
        "Redis",
        "requires",
        "a password on staging",
        ("tool", "Redis"),
        "resources/redis",
    ),
    (
        "Tromsø has no ferry in January.",
        "Tromsø",
        "limit",
        "no ferry in January",
        ("place", "Tromsø"),
        "resources/tromsø",
    ),
    (
        "Sourdough needs 80 percent water for me.",
        "sourdough",
        "requires",
        "80 percent water",
        ("topic", "Sourdough"),
        "resources/sourdough",
    ),
    ("My sister Mirjam lives in Ghent.", "Mirjam", "lives_in", "Ghent", ("person", "Mirjam"), "areas/people/mirjam"),
    ("Mirjam is allergic to nuts.", "Mirjam", "allergic_to", "nuts", None, "areas/people/mirjam"),
    ("I live in Antwerp.", "The user", "lives_in", "Antwerp", None, ME),
    ("I like Larder's colours.", "The user", "likes", "the colours of Larder", None, ME),
    ("I never drink coffee after noon.", "The user", "habit", "no coffee after noon", None, ME),
    (
        "The repo's default branch is develop.",
        "the default branch",
        "set_to",
        "develop",
        ("project", "Larder"),
        "projects/larder",
    ),
    # Somebody who was mentioned once has no page.
    ("A man called Otto called twice.", "Otto", "hobby", "calling twice", ("person", "Otto"), None),
)


def _event(number: int, row: Row) -> Event:
    return Event(f"evt_{number:016x}", f"2026-11-20T08:{number:02}:00Z", "user", row[0])


def _proposition(event: Event, row: Row) -> Proposition:
    text, subject, predicate, value, about, _ = row
    role = "relation" if about == ("person", "Mirjam") else "about"
    hints = (EntityHint(*about, role), SPEAKER) if about else (SPEAKER,)
    if subject == "Mirjam" and not about:
        hints = (EntityHint("person", "Mirjam", "mention"), SPEAKER)
    if about and about[1] == "Otto":
        hints = (EntityHint("person", "Otto", "about"),)
    return Proposition(
        text, event.id, (0, len(text)), text, subject, predicate or None, value, confidence=0.9, entity_hints=hints
    )


def _learned(vault: Vault, caller: Caller) -> list[PlacedFact]:
    """Learn the recorded answers in one round, commit it, and return the facts of the vault."""
    rows = {_event(number, row).id: row for number, row in enumerate(TALK)}

    def recorded(event: Event, catalog: Catalog, speakers: Collection[str]) -> list[Proposition]:
        return [_proposition(event, rows[event.id])]

    with writing(vault, caller, "learn") as work:
        state = RoundState(work, LearningCursor({}, {}))
        extractor = Extractor("recorded", recorded, by_model=rows)
        learning = LearningRound(state, vault.catalog, RoundLimits(8, 0.9), extractor)
        for number, row in enumerate(TALK):
            learning.consider(_event(number, row), ("User",))
        assert sum(candidate.outcome in KEPT for candidate in learning.candidates) == len(TALK) - 1, learning.candidates
        work.commit([_change(work, state, learning.candidates, len(TALK), LearningCursor({}, {}))])
    index = open_index(vault)
    try:
        return list(all_facts(index))
    finally:
        index.close()


def test_each_fact_lands_where_a_person_looks_for_it(vault: Vault, caller: Caller) -> None:
    placed = {other_placed.fact.fact: other_placed for other_placed in _learned(vault, caller)}
    wrong = {row[0]: placed[row[0]].entity for row in TALK if row[-1] and placed[row[0]].entity != row[-1]}
    assert wrong == {}
    assert "A man called Otto called twice." not in placed
    assert "Otto" in (vault.read_text("daily/2026-11-20.md") or "")
    classes = Counter(para_class(other_placed.entity) for other_placed in placed.values())
    assert classes == {"project": 7, "area": 9, "resource": 4}
    likes = placed["I like Larder's colours."].fact
    assert likes.related_entities == ("projects/larder",)
    assert ME in placed["Larder uses SQLite."].fact.related_entities
    assert '\ntitle: "Larder"\n' in (vault.read_text("life/projects/larder/summary.md") or "")
    ledger = {problem.check for problem in doctor(vault, caller).problems if problem.severity == "error"}
    assert ledger <= {"evidence"}, "the events of this test are in no ledger"
