"""What became of facts between two states, in sentences."""

from __future__ import annotations

import random

from clawmem.model.facts.fact import ACTIVE, ARCHIVED, RETRACTED, STATUSES, SUPERSEDED, Fact, FactLink
from clawmem.model.history.comparison import GROUPS, FactsById, change_sentences, differences, summary


def fact(key: str, words: str = "", **fields: object) -> Fact:
    base = Fact(f"fact_{key}", words or f"About {key}.", "fact", "2026-11-20T10:00:00Z", "user")
    return base._replace(**fields)  # type: ignore[arg-type]


def state(*facts: Fact) -> FactsById:
    return {fact.id: (fact, "projects/x") for fact in facts}


def said(before: FactsById, after: FactsById) -> list[str]:
    return [change_sentence.sentence for change_sentence in change_sentences(differences(before, after))]


def replaced(old: Fact, by: str) -> Fact:
    return old._replace(status=SUPERSEDED, superseded_by=by)


def test_learned_corrected_and_forgotten_are_sentences_in_that_order() -> None:
    price, moon, dusty, gone = fact("a", "It costs 5."), fact("b", "The moon is cheese."), fact("c"), fact("d")
    after = state(
        replaced(price, "fact_e"),
        moon._replace(status=RETRACTED, metadata={"retracted": {"reason": "a joke"}}),
        dusty._replace(status=ARCHIVED),
        fact("e", "It costs 6.", links=(FactLink("supersedes", "fact_a", "the menu changed"),)),
        fact("f", "The shop is open."),
    )
    items = change_sentences(differences(state(price, moon, dusty, gone), after))
    assert [change_sentence.sentence for change_sentence in items] == [
        'Learned: "The shop is open."',
        'Corrected: "It costs 5." was replaced by "It costs 6.", because: the menu changed.',
        'Forgotten: "The moon is cheese." was withdrawn, because: a joke.',
        'Forgotten: "About c." was archived because it was not used.',
        'Forgotten: "About d." was removed from the vault.',
    ]
    assert summary(items) == "learned 1 fact, corrected 1 and forgot 3"
    assert summary(items[:1]) == "learned 1 fact"
    assert summary(()) == "learned, corrected and forgot nothing"


def test_a_chain_is_told_once_by_its_ends() -> None:
    a, b, c = fact("a"), fact("b"), fact("c")
    after = state(replaced(a, "fact_b"), replaced(b, "fact_c"), c)
    assert said(state(a), after) == ['Corrected: "About a." was replaced by "About c.", by way of "About b."']
    assert said(state(), after) == ['Learned: "About c.", at first as "About a." and "About b."']
    assert said(state(a, replaced(b, "fact_c"), c), after) == ['Corrected: "About a." was replaced by "About b."']


def test_a_merge_names_all_that_were_joined() -> None:
    a, b = fact("a"), fact("b")
    joined = fact("c", links=(FactLink("merges", "fact_a"), FactLink("merges", "fact_b")))
    after = state(replaced(a, "fact_c"), replaced(b, "fact_c"), joined)
    assert said(state(a, b), after) == ['Corrected: "About a." and "About b." were joined into "About c."']


def test_what_was_learned_and_lost_again_is_said() -> None:
    lost = fact("a", status=RETRACTED, metadata={"retracted": {"reason": "a typo"}})
    assert said(state(), state(lost)) == ['Learned: "About a.", and it was withdrawn again, because: a typo.']


def test_other_changes_name_what_is_different() -> None:
    old = fact("a", "Jane lives in Paris.", importance=0.5)
    assert said(state(old), state(old._replace(fact="Jane lives in Parma.", valid_to="2026-12-01"))) == [
        'Changed: "Jane lives in Parma." changed: its statement was Jane lives in Paris., its end is 2026-12-01.'
    ]
    assert said(state(old), state(old._replace(importance=0.9))) == [
        'Changed: "Jane lives in Paris." changed: its importance was 0.5 and is 0.9.'
    ]
    assert said(state(old), state(old._replace(links=(FactLink("supports", "fact_b"),)))) == [
        'Changed: "Jane lives in Paris." has other links.'
    ]
    promoted = old._replace(metadata={"promoted": {"on": "2026-11-20"}, "place": {"entity": "x"}})
    assert said(state(old), state(promoted)) == ['Changed: "Jane lives in Paris." was promoted and has another place.']
    ended = old._replace(status=ARCHIVED, metadata={"deprecated": {"for": "fact_b", "until": "2026-11-22"}})
    assert said(state(old), state(ended)) == [
        'Forgotten: "Jane lives in Paris." was archived because it was deprecated until 2026-11-22.'
    ]
    asleep = old._replace(status=ARCHIVED)
    assert said(state(asleep), state(old)) == ['Changed: "Jane lives in Paris." is active again; it was archived.']


def test_nothing_that_differs_goes_untold() -> None:
    chance = random.Random(7)
    for _ in range(2000):
        before, after = (_some_state(chance) for _ in range(2))
        items = change_sentences(differences(before, after))
        words = " ".join(change_sentence.sentence for change_sentence in items)
        assert [GROUPS.index(sentence.group) for sentence in items] == sorted(
            GROUPS.index(sentence.group) for sentence in items
        )
        for key, (fact, _) in after.items():
            old = before[key][0] if key in before else None
            if old != fact and not _points_in_a_circle(key, after):
                assert fact.fact in words


def _some_state(chance: random.Random) -> FactsById:
    keys = chance.sample("abcdefg", chance.randrange(8))
    facts = []
    for key in keys:
        status = chance.choice((ACTIVE, ACTIVE, SUPERSEDED, SUPERSEDED, *STATUSES))
        target = chance.choice("abcdefgh") if status == SUPERSEDED else None
        facts.append(fact(key, status=status, superseded_by=f"fact_{target}" if target else None))
    return state(*facts)


def _points_in_a_circle(key: str, facts: FactsById) -> bool:
    """Return whether pointers from here lead into a cycle."""
    seen: set[str] = set()
    current = key
    while current in facts and current not in seen:
        seen.add(current)
        current = facts[current][0].superseded_by or ""
    return current in seen
