"""The runners of public sets, on case files of our own in the formats of the sets."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from benchmarks.public_sets import forgeteval, gatemem, meme, precisionmembench
from benchmarks.public_sets.common import Options, hits_pattern
from clawmem.errors import InvalidInput
from tests.loopback import says, serving
from tests.needs import needs_litellm

CASES = Path(__file__).parent / "cases"


def test_forgetting_is_scored_from_python_and_json_files_and_every_case_is_counted(tmp_path: Path) -> None:
    module = tmp_path / "adversarial.py"
    module.write_bytes((CASES / "forgeteval_module.txt").read_bytes())
    cases = forgeteval.read_cases([module, CASES / "forgeteval.json"])
    record = forgeteval.run(cases, Options())
    assert (record["read"], record["scored"]) == (4, 4)
    value = {case["id"]: case for case in record["cases"]}
    assert all(other["passed"] and other["probed"] for other in value.values()), value
    assert not any(other["left"] for other in value.values())
    assert record["table"][-1]["purged text left in the vault"] == "0 of 2"


def test_a_forbidden_text_that_is_still_stored_fails_the_probe_and_is_found_in_the_vault() -> None:
    case = forgeteval.read_cases([CASES / "forgeteval.json"])[1]
    kept = case._replace(mutations=(("purge", "winch serviced"),), forbidden=("NORD-LYS",), question="Who painted?")
    (outcome,) = forgeteval.run([kept], Options())["cases"]
    assert outcome["passed"] and not outcome["probed"]
    assert {"git history", "index"} <= set(outcome["left"])


def test_what_should_stay_and_went_is_over_deletion() -> None:
    case = forgeteval.read_cases([CASES / "forgeteval.json"])[0]
    fact = next(text for text in case.facts if case.needed[0] in text)
    greedy = case._replace(mutations=(("release", fact),), question="winch", forbidden=("harbour",))
    record = forgeteval.run([greedy], Options())
    assert (record["table"][-1]["over-deletion"], record["cases"][0]["deleted"]) == (1, [case.needed[0]])
    assert f"{case.name}: missing: {case.needed[0]}; deleted: {case.needed[0]}" in record["failed"]


def rights(folder: Path) -> Path:
    """A policy in which what only the owner may know is so, as a reader of the turns has marked it."""
    policy = "people: {owner_liv: {name: Liv}, guest_odd: {name: Odd}}\nkinds: {code: Codes.}\n"
    (folder / "own_001.yaml").write_text(policy)
    marks = {"private": {"t003": {"kinds": ["code"], "about": ["owner_liv"]}}, "forget": {"t004": ["t001", "t005"]}}
    (folder / "own_001.json").write_text(json.dumps(marks))
    return folder


def test_a_shared_memory_exposes_and_one_with_a_policy_does_not(tmp_path: Path) -> None:
    cases = CASES / "gatemem_episodes.jsonl", CASES / "gatemem_checkpoints.jsonl"
    record = gatemem.run(gatemem.read_episodes(*cases, rights(tmp_path)), Options())
    assert (record["read"], record["scored"], record["turns refused"]) == (3, 3, 0)
    value = {(case["arm"], case["kind"]): case for case in record["cases"]}
    for arm in ("everything", "bm25", *(f"{arm}, {shape}" for arm in ("shared", "rights") for shape in SHAPES)):
        assert value[arm, "utility"]["served"] == 1, arm
        assert bool(value[arm, "privacy"]["leaked"]) == (not arm.startswith("rights")), arm
    assert value["everything", "safety"]["leaked"] == ["green barrel"]
    assert not any(value[f"rights, {shape}", "safety"]["leaked"] for shape in SHAPES)


SHAPES = ("recall", "1,000 tokens", "4,000 tokens")


@needs_litellm
def test_a_model_that_refuses_leaks_nothing_in_its_answers(tmp_path: Path) -> None:
    episodes = gatemem.read_episodes(CASES / "gatemem_episodes.jsonl", CASES / "gatemem_checkpoints.jsonl")
    refusal = json.dumps({"action": "refuse", "answer": "I cannot say that."})
    with serving(says(refusal)) as server:
        asked = ("llm.model=openai/loopback", f"llm.api_base={server.address}", "llm.max_ms=60000")
        outcomes, _ = gatemem.play(episodes[0], tmp_path, Options(asked, answer=True))
    assert [(each.kind, each.right, each.leaks) for each in outcomes if each.arm == "shared, recall"] == [
        ("utility", False, None),
        ("privacy", None, False),
        ("safety", None, False),
    ]


@pytest.mark.parametrize(
    ("text", "pattern", "hits"),
    [
        ("It costs 1,200  USD today.", "1,200 usd", True),
        ("Room 2180", "room 218", False),
        ("no auto-renewal", "(?:no[- ]auto[- ]renewal|replaced)", True),
        ("a (b", "(b", True),
        ("anything", "", False),
    ],
)
def test_a_pattern_is_a_regular_expression_or_a_text(text: str, pattern: str, hits: bool) -> None:
    assert hits_pattern(text, pattern) == hits


def test_a_changed_premise_marks_what_depends_on_it() -> None:
    record = meme.run(meme.read_episodes(CASES / "meme.json"), Options())
    assert (record["read"], record["scored"]) == (2, 2)
    value = {(case["arm"], case["question"]["kind"]): case for case in record["cases"]}
    assert value["told", "Abs"]["unmarked"]
    for kind in ("Cas", "Abs"):
        assert value["premises", kind]["known"] and value["premises", kind]["marked"]
        assert not value["premises", kind]["unmarked"]
    assert value["premises", "Cas"]["new"]


def test_what_is_not_of_the_set_is_named_with_its_place(tmp_path: Path) -> None:
    wrong = tmp_path / "cases.json"
    wrong.write_text('[{"id": "a", "setup_facts": [], "mutations": [["forget", "x"]]}]')
    with pytest.raises(InvalidInput, match=r"case 1: .*forget"):
        forgeteval.read_cases([wrong])
    lines = tmp_path / "checkpoints.jsonl"
    lines.write_text('{"query_type": "gossip"}\n')
    with pytest.raises(InvalidInput, match=r"record 1: .*gossip"):
        gatemem.read_episodes(CASES / "gatemem_episodes.jsonl", lines)
    wrong.write_text('[{"before_questions": {"questions": []}}]')
    with pytest.raises(InvalidInput, match=r"episode 1: .*after_questions"):
        meme.read_episodes(wrong)


def test_what_is_given_beside_the_expected_beliefs_costs_precision(tmp_path: Path) -> None:
    def belief(name: str, text: str, scope: str = "domain:boats", **more: object) -> dict[str, object]:
        plain = {"type": "preference", "pinned": False, "scope": [scope]}
        return {"_id": name, "canonical_name": name, "content": text, **plain, **more}

    def case(name: str, query: str, *expected: str) -> dict[str, object]:
        about = {"caseId": name, "scope": ["domain:boats"], "query": query}
        return {**about, "expect": {"relevantBeliefs": {"shouldOnlyInclude": list(expected)}}}

    beliefs = [
        belief("winch-old", "The winch is served in April.", superseded_by="winch"),
        belief("winch", "The winch is served in May.", aliases=["capstan"]),
        belief("anchor", "The anchor is galvanised.", "domain:houses"),
        belief("style", "Short answers are preferred.", "user:universal"),
    ]
    cases = [
        case("alias", "What about the capstan?", "winch"),
        case("other scope", "Which anchor is galvanised?"),
        case("missed", "Is the keel painted?", "winch"),
        case("beside", "When is the winch served?"),
        {"caseId": "uncounted", "scope": [], "query": "winch", "expect": {}},
    ]
    files = [tmp_path / "beliefs.json", tmp_path / "cases.json"]
    for path, records in zip(files, (beliefs, cases), strict=True):
        path.write_text(json.dumps(records))
    record = precisionmembench.run(precisionmembench.read_set(*files), Options())
    assert {other_case["id"]: other_case["given"] for other_case in record["cases"]} == {
        "alias": ["winch"],
        "other scope": [],
        "missed": [],
        "beside": ["winch"],
    }
    assert record["table"][-1] == {"cases": "all", "number": 4, "precision %": 50.0, "recall %": 75.0, "passed": 2}


@pytest.mark.parametrize(
    ("pattern", "hit"), [("5518", True), ("551", False), ("side  DOOR", True), ("", False), ("door.", True)]
)
def test_patterns_match_whole_words_without_case(pattern: str, hit: bool) -> None:
    assert hits_pattern("With 5518 at the side door.", pattern) is hit
