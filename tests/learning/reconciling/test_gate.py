"""The gate: what is refused, by which gate, and why."""

from __future__ import annotations

import pytest

from clawmem.learning.reconciling.gate import ACCEPTED, GateLimits, content_words, is_vague, judge
from clawmem.model.facts.fact import SUPERSEDED, Fact
from clawmem.model.language.text import LONGEST_FACT
from clawmem.model.proposals.para import Proposition

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
    (proposed("It is much better now."), "utility"),
    (proposed("Dana's name is Dana.", predicate="name", object="Dana"), "utility"),
    (proposed("Dana moved " + "x" * LONGEST_FACT), "utility"),
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


@pytest.mark.parametrize(
    ("proposition", "reason"),
    [
        (proposed("Dana moved."), "It has only 2 words, too few for a statement."),
        (proposed("田中は"), "It has only 2 words, too few for a statement."),
        (proposed("Dana moved far."), ACCEPTED.reason),
        (proposed("ダナは東京"), ACCEPTED.reason),
        (proposed(f"Dana moved {'x' * (LONGEST_FACT - 11)}"), ACCEPTED.reason),
        (proposed(f"Dana moved {'x' * (LONGEST_FACT - 10)}"), "It is longer than 4,000 characters."),
        (proposed("Dana moved to Porto.", confidence=0.5), ACCEPTED.reason),
        (proposed("Dana moved to Porto.", confidence=0.49), "Its confidence 0.49 is below 0.50."),
        (
            proposed("It is much better now."),
            "It cannot be understood alone: it does not say who or what is meant.",
        ),
        (proposed("It is much better now.", ended=True), ACCEPTED.reason),
        (
            proposed("Dana's name is Dana.", predicate="name", object="Dana"),
            "It says of its subject only what the subject is called in it.",
        ),
        (proposed("Dana's name is Dana.", predicate="name", object="Dana", ended=True), ACCEPTED.reason),
        (proposed("Dana's name is Dana Kim.", predicate="name", object="Dana Kim"), ACCEPTED.reason),
        (proposed("Dana's nick is Dana now.", predicate="nick", object="Dana"), ACCEPTED.reason),
        (proposed("Dana is with them."), "It says nothing specific about its subject."),
        (proposed("Dana is cooking soup right now."), "It is only temporary ('right now')."),
        (proposed("Dana is cooking soup right now.", category="decision"), ACCEPTED.reason),
        (proposed("Dana runs.", trust="tool"), "It has only 2 words, too few for a statement."),
        (
            proposed("Dana moved to Porto.", trust="external"),
            "Its source is 'external', which needs the approval of a person.",
        ),
        (
            proposed("Dana moved to Porto.", trust="external", doubt="a web page speaks"),
            "Its source is 'external', which needs the approval of a person. Here a web page speaks.",
        ),
        (proposed(KNOWN.fact), "It is already known as fact_00000001."),
        (
            proposed("Dana really loves very long walks in the old forest."),
            "It says the same as fact_00000001: Dana loves long walks in the old forest.",
        ),
    ],
)
def test_the_reason_and_the_limit_of_each_gate(proposition: Proposition, reason: str) -> None:
    verdict = judge(proposition, (KNOWN,), no_secret)
    assert verdict.reason == reason
    assert verdict.accepted == (reason == ACCEPTED.reason)


METALS = KNOWN._replace(fact="Dana pays gold silver copper iron.", predicate="pays", object=None)
ALIKE = "Dana pays gold silver copper tin."  # four words of six in both


@pytest.mark.parametrize(
    ("proposition", "known", "overlap", "is_known"),
    [
        (proposed(ALIKE, predicate="pays"), METALS, 2 / 3, True),
        (proposed(ALIKE, predicate="pays"), METALS, 0.67, False),
        (proposed(ALIKE, predicate="buys"), METALS, 0.5, False),
        (proposed(ALIKE), METALS, 0.5, True),
        (proposed(ALIKE, predicate="pays"), METALS._replace(predicate=None), 0.5, True),
        (proposed("Dana pays 5 gold silver copper iron.", predicate="pays"), METALS, 0.1, False),
        (proposed("Dana never pays gold silver copper iron.", predicate="pays"), METALS, 0.1, False),
        (proposed("Dana hardly pays gold silver copper iron.", predicate="pays"), METALS, 0.1, False),
        (proposed("Dana pays iron copper silver gold.", predicate="pays"), METALS, 1.0, True),
    ],
)
def test_how_many_words_two_statements_share_that_say_the_same(
    proposition: Proposition, known: Fact, overlap: float, is_known: bool
) -> None:
    limits = GateLimits(overlap=overlap)
    assert (judge(proposition, (known,), no_secret, limits).gate == "duplication") is is_known


def test_the_limits_of_a_vault_count() -> None:
    moved = proposed("Dana moved to Porto.", confidence=0.8, trust="tool")
    for limits, gate in (
        (GateLimits(words=5), "utility"),
        (GateLimits(words=4), ""),
        (GateLimits(confidence=0.9), "utility"),
        (GateLimits(trusted=("user",)), "trust"),
    ):
        assert judge(moved, (), no_secret, limits).gate == gate
    assert all(judge(moved._replace(trust=trust), (), no_secret).accepted for trust in ("user", "agent", "tool"))


@pytest.mark.parametrize(
    ("statement", "vague"),
    [
        ("It is late.", True), ("This works well.", True), ("Everything is fine.", True), ("He has a car.", True),
        ("Dana says it is fine.", True), ("Der Nutzer sagt, es ist gut.", True), ("Esto es bueno.", True),
        ("C'est bon.", True), ("Things seem off.", True), ("This user is tall.", False), ("It rains.", False),
        ("Itself is fine.", False),
    ],
)  # fmt: skip
def test_a_statement_about_nobody_knows_what_is_vague(statement: str, vague: bool) -> None:
    assert is_vague(statement) is vague


def test_what_words_say_is_compared_without_endings_and_small_words() -> None:
    assert content_words("The cat's will is Rob’s DOG, not") == {"cat", "rob", "dog", "not"}
