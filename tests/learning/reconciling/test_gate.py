"""The gate: what is refused, by which gate, and why."""

from __future__ import annotations

import pytest

from clawmem.learning.reconciling.gate import judge
from clawmem.model.facts.fact import SUPERSEDED, Fact
from clawmem.model.proposals.proposition import Proposition

KNOWN = Fact(
    "fact_00000001", "Dana loves long walks in the old forest.", "preference", "2024-01-01T00:00:00Z", "events",
    subject="Dana", predicate="likes", object="long walks in the old forest",
)  # fmt: skip


def proposed(words: str, **more: object) -> Proposition:
    return Proposition(words, "ev_1", (0, 1), words, subject="Dana")._replace(**more)  # type: ignore[arg-type]


def no_secret(text: str) -> str | None:
    return None


CASES = [
    (proposed("Dana moved to Porto."), ""),
    (proposed("Dana loves long walks in the old forest!"), "duplication"),
    (proposed("DANA  loves long walks in the old forest."), "duplication"),
    (proposed("Dana really loves very long walks in the old forest."), "duplication"),
    (proposed("Dana really loves very long walks in the old forest.", ended=True), ""),
    (proposed("Dana really loves very long walks in the old forest.", former=True), ""),
    (proposed("Dana really loves very long walks in the old forest.", predicate="fears"), ""),
    (proposed("Rob really loves very long walks in the old forest.", subject="Rob"), ""),
    (proposed("Dana no longer loves long walks in the old forest."), ""),
    (proposed("Dana took 3 long walks in the old forest."), ""),
    (proposed("Dana moved."), "utility"),
    (proposed("Dana moved to Porto.", confidence=0.2), "utility"),
    (proposed("Dana is with them."), "utility"),
    (proposed("Dana Lopez is with them.", subject="Dana Lopez"), "utility"),
    (proposed("Dana paints boats."), ""),
    (proposed("Dana is cooking soup right now."), "durability"),
    (proposed("Dana moved to Porto.", trust="external"), "trust"),
]


@pytest.mark.parametrize(("proposition", "gate"), CASES)
def test_the_gate_that_refuses(proposition: Proposition, gate: str) -> None:
    verdict = judge(proposition, (KNOWN,), no_secret)
    assert (verdict.accepted, verdict.gate) == (gate == "", gate)
    assert verdict.reason.endswith(".") or gate == "duplication"
    assert (verdict.duplicate_of == KNOWN.id) == (gate == "duplication")


def test_a_secret_is_refused_first_and_not_repeated() -> None:
    verdict = judge(proposed("Dana's key is hunter2."), (), lambda text: "password" if "hunter2" in text else None)
    assert (verdict.accepted, verdict.gate) == (False, "secrets")
    assert "hunter2" not in verdict.reason
    quoted = proposed("Dana changed her key.", source_text="My key is hunter2 now.")
    assert judge(quoted, (), lambda text: "password" if "hunter2" in text else None).gate == "secrets"


def test_what_no_longer_stands_is_no_duplicate() -> None:
    gone = KNOWN._replace(status=SUPERSEDED)
    assert judge(proposed(KNOWN.fact), (gone,), no_secret).accepted


def test_the_same_words_about_another_subject_are_no_duplicate() -> None:
    other = proposed("Lee loves long walks in the old forest.", subject="Lee")
    assert judge(other, (KNOWN,), no_secret).accepted


def test_the_words_of_a_long_name_do_not_make_two_statements_the_same() -> None:
    """What is compared is what is said about the subject, not the subject."""
    name = "Dana Maria Lopez Garcia Silva"
    bakery = Fact(
        "fact_00000002", f"{name} owns a bakery in Porto.", "fact", "2024-01-01T00:00:00Z", "events", subject=name
    )
    assert judge(proposed(f"{name} owns a garage in Porto.", subject=name), (bakery,), no_secret).accepted


def test_another_number_in_a_long_statement_is_another_statement() -> None:
    words = (
        "Dana pays {} euros each month for the small red wooden summer cottage near the old harbour of northern Porto."
    )
    rent = KNOWN._replace(fact=words.format(300), predicate="pays")
    assert judge(proposed(words.format(300), predicate="pays"), (rent,), no_secret).gate == "duplication"
    assert judge(proposed(words.format(400), predicate="pays"), (rent,), no_secret).accepted
