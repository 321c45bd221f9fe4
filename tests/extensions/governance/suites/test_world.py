"""The world of the suite `memory`: the same for the same seed, and with answers that follow from what happened."""

from __future__ import annotations

import json
from collections import Counter

from clawmem.extensions.governance.suites.run import PlainFiles
from clawmem.extensions.governance.suites.suite import Step, SuiteTest
from clawmem.extensions.governance.suites.world import CATEGORIES, World, memory_world


def values(test: SuiteTest, kind: str) -> list[str]:
    return [assertion.value for assertion in test.assertions if assertion.type == kind]


def test_a_seed_makes_the_same_world_and_another_seed_another() -> None:
    assert memory_world(1, 6) == memory_world(1, 6)
    assert memory_world(1, 6).tests != memory_world(2, 6).tests


def test_each_category_has_as_many_tests_as_asked_for() -> None:
    made = memory_world(3, 40)
    assert Counter(test.labels["category"] for test in made.tests) == dict.fromkeys(CATEGORIES, 40)
    assert len({test.description for test in made.tests}) == 160
    assert all(values(test, "icontains") for test in made.tests)


def test_right_and_wrong_values_are_told_and_never_the_same() -> None:
    made = memory_world(3, 12)
    text = " ".join(f"{step.run} {step.stdin}" for step in made.steps)
    for test in made.tests:
        right, wrong = values(test, "icontains"), values(test, "not-icontains")
        assert all(value in text for value in (*right, *wrong))
        assert not set(right) & set(wrong)
        assert not [value for value in wrong if value.lower() in str(test.variables["question"]).lower()]
    changed = [other_test for other_test in made.tests if other_test.labels["category"] in ("evolution", "governance")]
    assert sum(bool(values(other_test, "not-icontains")) for other_test in changed) >= 16


def test_a_name_occurs_once() -> None:
    world = World(1, 1)
    assert len({world.word() for _ in range(2_000)}) == 2_000


def test_nothing_that_comes_from_outside_or_is_revoked_is_right() -> None:
    made = memory_world(3, 12)
    from_others = [step for step in made.steps if any(text in step.run for text in ("external", "import:", "intern-"))]
    told = " ".join(f"{step.run} {step.stdin}" for step in from_others)
    wanted = [test for test in made.tests if test.labels["category"] == "governance"]
    assert len(from_others) > 6 and [value for test in wanted for value in values(test, "not-icontains")]
    assert not [value for test in wanted for value in values(test, "icontains") if value in told]


def test_what_is_true_is_the_last_trusted_value() -> None:
    world = World(1, 1)
    for value in ("a", "b", "c"):
        world.say("thing", value)
    world.say("thing", "d", trusted=False)
    assert (world.truth("thing"), world.untrue("thing")) == ("c", ["a", "b", "d"])


def test_steps_are_in_the_order_of_their_times() -> None:
    times = [step.now or "" for step in memory_world(3, 12).steps]
    assert times == sorted(times)


def files(*steps: Step) -> PlainFiles:
    return PlainFiles(steps, lambda text: len(text.split()))


def test_plain_files_are_edited_as_a_careful_person_edits_them() -> None:
    step = Step("remember 'Ivo lives in Bergen.' --entity=people/ivo", "2026-01-01T09:00:00Z")
    moved = Step("supersede {{old}} 'Ivo lives in Oslo.' --source=web:x", None, "", {"old": "Ivo lives in Bergen."})
    assert "Bergen" in files(step).answer("Where does Ivo live?", 50)
    after = files(step, moved).answer("Where does Ivo live?", 50)
    assert "Oslo" in after and "Bergen" not in after
    back = files(step, moved, Step("revoke --source=web:x")).answer("Where does Ivo live?", 50)
    assert "Bergen" in back and "Oslo" not in back
    said = Step(
        "ingest -", "2026-01-02T09:00:00Z", '{"role": "user", "content": "Ivo hums.", "timestamp": "2026-01-01"}'
    )
    assert files(said).answer("Who hums?", 50) == "chats/2026-01-01.md: user: Ivo hums. (2026-01-01)\n"
    assert not files(step, Step("retract {{x}}", None, "", {"x": "Ivo lives in Bergen."})).answer("Ivo", 50)


def test_plain_files_keep_to_the_budget_and_rank_as_bm25() -> None:
    from rank_bm25 import BM25Okapi

    texts = [f"Person{n} likes boats{' red' * (n % 3)}." for n in range(30)]
    lines = "".join(json.dumps({"fact": text, "entity": "people/x"}) + "\n" for text in texts)
    made = files(Step("remember --jsonl -", "2026-01-01T09:00:00Z", lines))
    assert len(made.answer("boats", 20).split()) <= 20
    first = made.answer("Person7 red", 8).splitlines()[0]
    okapi = BM25Okapi([text.lower().replace(".", "").split() for text in texts])
    scores = okapi.get_scores(["person7", "red"])
    assert texts[max(range(30), key=lambda n: scores[n])] in first
