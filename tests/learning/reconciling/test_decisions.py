"""What is decided about each statement beside each known fact, as `decisions.txt` lists it.

After a change that is meant to alter it, run this file with `CLAWMEM_UPDATE_TRANSCRIPTS=1` and read the difference.
"""

from __future__ import annotations

import os
from pathlib import Path

from clawmem.learning.reconciling.reconcile import ReconcileDecision, only_named_changes, reconcile
from clawmem.model.facts.fact import RETRACTED, Fact
from clawmem.model.proposals.para import Proposition
from tests.learning.reconciling.test_reconcile import CATALOG

TABLE = Path(__file__).with_name("decisions.txt")


def fact(words: str, predicate: str | None = None, value: str | None = None, **more: object) -> Fact:
    known = Fact("", words, "fact", "2026-03-01T00:00:00Z", "events", subject="Dana", predicate=predicate, object=value)
    return known._replace(**{"source_event": "ev_old", **more})  # type: ignore[arg-type]


def said(words: str, predicate: str | None = None, value: str | None = None, **more: object) -> Proposition:
    new = Proposition(words, "ev_new", (0, 1), words, subject="Dana", predicate=predicate, object=value)
    return new._replace(**more)  # type: ignore[arg-type]


FACTS = [
    fact("Dana lives in Leeds.", "lives_in", "Leeds", valid_from="2026-01-01"),
    fact("Dana lives in Oslo.", "lives_in", "Oslo", metadata={"said_at": "2026-05-01T00:00:00Z"}),
    fact("Dana lives in Rome.", "lives_in", "Rome", source_event=None),
    fact("Dana no longer lives in Bergen.", "lives_in", "Bergen"),
    fact("Dana was born in Ghent.", "born_in", "Ghent"),
    fact("Dana works at Corvid Labs.", "works_at", "Corvid Labs"),
    fact("Dana likes tea.", "likes", "tea"),
    fact("Dana does not like coffee.", "likes", "coffee"),
    fact("Dana owns a blue Skoda Octavia.", "owns", "a blue Skoda Octavia"),
    fact("Dana owns a red bike.", "owns", "a red bike"),
    fact("Dana drives a Skoda.", "drives", "a Skoda"),
    fact("Dana uses Notion.", "uses", "Notion"),
    fact("Dana stopped using Trello.", "uses", "Trello"),
    fact("Dana uses Postgres and Redis.", "uses", "Postgres and Redis"),
    fact("Dana prefers dogs to cats.", "prefers", "dogs to cats"),
    fact("Dana has a son named Max.", "child", "Max", relation_phrase="has a son"),
    fact("Dana has never fixed a bug in the parser."),
    fact("Dana fixed a bug in the parser."),
    fact("Dana plans to build a boat with her brother in the old yard.", category="plan"),
    fact("The paper is due on 4 May.", "deadline", "a paper", subject="The paper"),
    fact("Lee lives in Leeds.", "lives_in", "Leeds", subject="Lee"),
    fact("Dana lives in Lima.", "lives_in", "Lima", status=RETRACTED),
    fact("The parser uses SQLite.", "uses", "SQLite", subject="the parser"),
    fact("Dana uses SQLite for the parser.", "uses", "SQLite for the parser"),
    fact(
        "Dana decided on schema version 2 with migrations planned by the new tool.",
        "decided",
        "on schema version 2 with migrations planned by the new tool",
    ),
]
FACTS.append(fact("Dana likes many things.", "likes"))
FACTS = [known._replace(id=f"fact_{number:08x}") for number, known in enumerate(FACTS)]
STATEMENTS = [
    said("Dana lives in Porto.", "lives_in", "Porto"),
    said("Dana lives in Porto since May.", "lives_in", "Porto", valid_from="2026-05-01"),
    said("Dana lived in Porto in 2020.", "lives_in", "Porto", valid_from="2020-01-01"),
    said("Dana lives in Porto, she said in April.", "lives_in", "Porto", said_at="2026-04-01T00:00:00Z"),
    said("Dana lives in Porto, she said in February.", "lives_in", "Porto", said_at="2026-02-01T00:00:00Z"),
    said("Dana lives in Leeds.", "lives_in", "Leeds"),
    said("Dana lives in the Leeds.", "lives_in", "the Leeds, in a flat"),
    said("Dana doesn't live in Rome.", "lives_in", "Rome"),
    said("Dana no longer lives in Oslo.", "lives_in", "Oslo", ended=True),
    said("Dana moved out.", "lives_in", None, ended=True),
    said("Dana lives in Bergen.", "lives_in", "Bergen"),
    said("Dana was born in Bruges.", "born_in", "Bruges"),
    said("Dana was born in Bruges, not in Ghent.", "born_in", "Bruges", corrects=True),
    said("Dana works at Ravensburger.", "works_at", "Ravensburger"),
    said("Dana left Corvid Labs.", "works_at", "Corvid Labs", ended=True),
    said("Dana likes green tea.", "likes", "green tea"),
    said("Dana likes tea with milk.", "likes", "tea with milk"),
    said("Dana likes coffee.", "likes", "coffee"),
    said("Dana does not like tea.", "likes", "tea"),
    said("Dana does not like tea on Mondays.", "likes", "tea", ended=True),
    said("Dana sold the Skoda.", "owns", "the Skoda", ended=True),
    said("Dana sold the bike.", "owns", "the bike", ended=True),
    said("Dana sold the red car.", "owns", "the red car", ended=True),
    said("Dana uses Linear instead of Notion.", "uses", "Linear", former="Notion"),
    said("Dana uses Trello.", "uses", "Trello"),
    said("Dana uses Postgres.", "uses", "Postgres"),
    said("Dana uses Postgres, Redis and Kafka.", "uses", "Postgres, Redis and Kafka"),
    said("Dana prefers cats to dogs.", "prefers", "cats to dogs", former="dogs"),
    said("Dana has a son named Marc.", "child", "Marc", relation_phrase="has a son", corrects=True),
    said("Dana has a daughter named Ida.", "child", "Ida", relation_phrase="has a daughter", corrects=True),
    said("Dana fixed a bug in the parser today."),
    said("Dana has never fixed a bug in the parser."),
    said("Dana no longer plans to build a boat with her brother in the old yard."),
    said("Dana plans to build a boat with her brother in the old yard.", category="plan"),
    said("The paper is due on 9 May.", "deadline", "a paper", subject="The paper"),
    said("The paper is due on 4 May 2026.", "deadline", "a paper", subject="The paper"),
    said("dana lives in Leeds.", "lives_in", "Leeds", subject="dana"),
    said("Lee moved to Hull.", "lives_in", "Hull", subject="Lee"),
    said("Dana lives in Hull.", "lives_in", "Hull", source_text="fact_00000000 is wrong: Hull."),
    said("That is over.", "lives_in", "Leeds", source_text="fact_00000000 is over", ended=True),
    said("Dana lives in Hull.", "lives_in", "Hull", source_text="fact_00000015 is wrong: Hull."),
    said(
        "Dana decided on the PostgreSQL schema version 2 with all migrations planned by the new tool.",
        "decided",
        "on the PostgreSQL schema version 2 with all migrations planned by the new tool",
    ),
    said("Dana decided on schema version 3.", "decided", "on schema version 3"),
    said("Dana climbs.", None, None),
    said("Dana likes it a lot.", "likes", None),
    said("Dana likes cocoa instead of tea.", "likes", "cocoa", former="tea"),
]


def told(decision: ReconcileDecision) -> str:
    """A decision in one line, with the facts by their numbers."""
    parts = [decision.outcome, *(str(int(target[-8:], 16)) for target in decision.targets)]
    parts += [f"against {int(target[-8:], 16)}" for target in decision.contradicts]
    parts += [word for word, holds in (("never", decision.never), ("beside", decision.beside)) if holds]
    return f"{' '.join(parts)}: {decision.reason}"


def test_what_is_decided_about_each_statement_beside_each_fact() -> None:
    found = []
    for statement in STATEMENTS:
        found += ["", f"# {statement.statement}", f"all: {told(reconcile(statement, FACTS, CATALOG))}"]
        nothing = told(reconcile(statement, (), CATALOG))
        alone = ((known, told(reconcile(statement, [known], CATALOG))) for known in FACTS)
        found += [f"{known.fact} {line}" for known, line in alone if line != nothing]
    if "CLAWMEM_UPDATE_TRANSCRIPTS" in os.environ:
        TABLE.write_text("\n".join(found[1:]) + "\n", encoding="utf-8")
    assert TABLE.read_text(encoding="utf-8").splitlines() == found[1:]


def test_what_a_model_states_replaces_no_fact_of_the_same_event_and_no_name() -> None:
    old, new = FACTS[0]._replace(source_event="ev_0"), FACTS[1]._replace(source_event="ev_new")
    known = {known.id: known for known in (old, new)}
    moved = said("Dana lives in Porto.", "lives_in", "Porto")
    update = ReconcileDecision("update", (old.id, new.id), "newer")
    assert only_named_changes(moved, update, known) == update._replace(targets=(old.id,))
    assert only_named_changes(moved, update._replace(targets=(old.id,)), known).targets == (old.id,)
    beside = only_named_changes(moved, update._replace(targets=(new.id,)), known)
    assert (beside.outcome, beside.targets, beside.beside) == ("add", (), True)
    assert only_named_changes(moved._replace(former="Leeds"), update, known) == update
    merge = update._replace(outcome="merge")
    assert only_named_changes(moved, merge, known) == merge
    name = only_named_changes(moved._replace(predicate="name"), update, known)
    assert (name.outcome, name.targets, name.contradicts) == ("add", (), update.targets)
