"""`log`, `why`, `diff` and `undo` as processes: their JSON, their words, their exit codes."""

from __future__ import annotations

import json
import re
import shlex
import subprocess
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import Command

pytestmark = pytest.mark.usefixtures("without_vectors")

ENTRY = {
    "commit",
    "time",
    "author",
    "author_email",
    "op",
    "subject",
    "facts",
    "entities",
    "agent",
    "session",
    "source",
    "supersedes",
}


def corrected(clawmem: Command) -> tuple[str, str]:
    """A fact and the one that superseded it."""
    kept = clawmem("remember", "Jane lives in Paris", "-e", "areas/people/jane", "--json").data["facts"][0]["id"]
    env = {"CLAWMEM_SEED": "2", "CLAWMEM_AGENT": "finance", "CLAWMEM_SESSION": "s7"}
    result = clawmem("supersede", kept, "Jane lives in Rome", "--json", env=env).data
    return kept, result["facts"][0]["id"]


def test_log_gives_its_history_oldest_first(clawmem: Command) -> None:
    old, new = corrected(clawmem)
    data = clawmem("log", "--json").data
    assert [entry["op"] for entry in data["history"]] == ["init", "remember", "supersede"]
    last = data["history"][-1]
    assert last.keys() >= ENTRY
    assert (last["time"], last["author"], last["agent"], last["session"]) == (
        "2026-11-21T09:30:00Z",
        "finance",
        "finance",
        "s7",
    )
    assert set(last["facts"]) == {old, new}
    assert last["supersedes"] == [old]
    assert last["entities"] == ["areas/people/jane"]


def test_an_undo_says_which_files_it_removed(clawmem: Command) -> None:
    made = clawmem("entity", "create", "projects/zed", "--json").data
    result = clawmem("undo", made["commit"])
    assert "removed: life/projects/zed/items.json\n" in result.out
    assert "restored: " not in result.out
    back = clawmem("undo", "HEAD")
    assert "restored: life/projects/zed/items.json\n" in back.out
    assert clawmem("undo", "HEAD", "--dry-run", "--json").data["removed"] == [
        "life/projects/zed/items.json",
        "life/projects/zed/summary.md",
    ]


def test_log_in_words_is_a_line_a_commit(clawmem: Command) -> None:
    corrected(clawmem)
    lines = clawmem("log", "areas/people/jane").out.splitlines()
    assert [line[12:] for line in lines] == [
        "  2026-11-21 09:30 UTC  finance  supersede(areas/people/jane): Jane lives in Rome (was: Jane lives in Paris)",
        "  2026-11-21 09:30 UTC  Ada Person  remember(areas/people/jane): Jane lives in Paris",
    ]
    assert clawmem("log", "areas/people/jane", "--oldest-first").out.splitlines() == lines[::-1]


def test_log_options_narrow_it(clawmem: Command) -> None:
    old, new = corrected(clawmem)
    assert len(clawmem("log", new, "--json").data["history"]) == 1
    assert len(clawmem("log", old[5:10], "--json").data["history"]) == 2
    assert [other["op"] for other in clawmem("log", "--by", "finance", "--json").data["history"]] == ["supersede"]
    assert [other["op"] for other in clawmem("log", "--author", "finance", "--json").data["history"]] == ["supersede"]
    assert clawmem("log", "--until", "yesterday", "--json").data["history"] == []
    assert len(clawmem("log", "--since", "today", "--json").data["history"]) == 3
    short = clawmem("log", "-n", "1")
    assert len(short.out.splitlines()) == 1
    assert "older entries" in short.err
    assert clawmem("log", "--since", "someday").code == 2
    assert clawmem("log", "nobody").code == 1


def test_why_explains_from_the_evidence_to_the_chain(clawmem: Command, vault_root: Path) -> None:
    event = {"id": "evt_1", "timestamp": "2026-11-20T08:00:00Z", "role": "user", "text": "So I moved to Rome. Bye!"}
    (vault_root / "ledger").mkdir(exist_ok=True)
    (vault_root / "ledger/2026-11-20.jsonl").write_text(json.dumps(event) + "\n")
    fact = {
        "fact": "Jane lives in Rome",
        "entity": "areas/people/jane",
        "source_event": "evt_1",
        "source_text": "I moved to Rome",
        "source_span": [3, 18],
    }
    kept = clawmem("remember", "--jsonl", "-", "--json", given=json.dumps(fact)).data["facts"][0]["id"]
    newer = clawmem("supersede", kept, "Jane lives in Oslo", "--json", env={"CLAWMEM_SEED": "3"}).data["facts"][0]["id"]
    data = clawmem("why", kept[:10], "--json").data
    assert data["fact"]["id"] == kept
    assert data["fact"]["entity"] == "areas/people/jane"
    assert data["event"]["text"] == event["text"]
    assert data["fact"]["source_text"] == "I moved to Rome"
    assert [link["id"] for link in data["chain"]] == [newer]
    assert [entry["op"] for entry in data["history"]] == ["remember", "supersede"]
    commits = [entry["commit"] for entry in data["history"]]
    assert [data["recorded"], data["chain"][0]["recorded"]] == commits
    words = clawmem("why", kept).out
    assert "So >>I moved to Rome<<. Bye!" in words
    assert f"1. {kept}" in words
    assert "chain, newest first" in words and words.index("  2. ") < words.index("  1. ")
    clawmem("link", newer, kept, "--type", "depends_on", "--reason", "He told both.")
    assert f"  rests on  {kept} (depends_on): He told both." in clawmem("why", newer).out


def test_why_says_where_the_history_of_a_shallow_clone_begins(clawmem: Command, vault_root: Path) -> None:
    kept = clawmem("remember", "Jane likes tea", "--json").data["facts"][0]["id"]
    clawmem("remember", "Jane has a boat", env={"CLAWMEM_SEED": "3"})
    where = ["git", "clone", "-q", "--depth=1", f"file://{vault_root}", "shallow"]
    subprocess.run(where, cwd=vault_root.parent, check=True, capture_output=True)
    clone = str(vault_root.parent / "shallow")
    data = clawmem("why", kept, "--json", "--vault", clone).data
    assert "recorded" not in data and data["history"] == []
    begins = data["history_begins"]["commit"][:12]
    result = clawmem("why", kept, "--vault", clone)
    assert f"; the history before {begins} is not here\n" in result.out and "history  none of it is here" in result.out
    assert "git fetch --unshallow" in result.err
    assert "history_begins" not in clawmem("why", kept, "--json").data


def test_why_says_what_is_not_there(clawmem: Command) -> None:
    kept = clawmem("remember", "Jane likes tea", "--json").data["facts"][0]["id"]
    words = clawmem("why", kept).out
    assert "evidence  none was given" in words
    assert "chain" not in words
    unknown = clawmem("why", "fact_ffffffff", "--json")
    assert (unknown.code, unknown.json["error"]["code"]) == (1, "not_found")


def test_diff_tells_changes_in_words_and_as_json(clawmem: Command) -> None:
    old, new = corrected(clawmem)
    data = clawmem("diff", "HEAD~1", "--json").data
    (change,) = data["changes"]
    assert (change["kind"], change["fact"]["id"], change["fact"]["entity"]) == ("corrected", new, "areas/people/jane")
    assert change["before"]["id"] == old
    sentence = 'Corrected: "Jane lives in Paris" was replaced by "Jane lives in Rome".'
    assert data["sentences"] == [{"group": "corrected", "sentence": sentence, "fact": new}]
    assert data["summary"].endswith("the vault corrected 1 fact.")
    first, *rest = clawmem("diff", "--from", "HEAD~1", "--to", "HEAD").out.splitlines()
    assert first == data["summary"]
    assert rest == [f"{sentence}  (areas/people/jane, {new}, agent, unreviewed)"]
    assert "Learned: " in clawmem("diff", "today").out == clawmem("diff", "--from", "yesterday").out
    assert clawmem("diff", "HEAD~1", "--to", "HEAD").out.splitlines() == [first, *rest]
    same = clawmem("diff", "HEAD", "HEAD")
    assert same.out.splitlines()[0].endswith("learned, corrected and forgot nothing.")
    assert "both points are the same commit" in same.err
    assert clawmem("diff", "nowhere").code == 1
    assert clawmem("diff", "HEAD", "--from", "HEAD~1").code == 2
    early = clawmem("diff", "--to", "2020-01-01")
    assert (early.code, "The vault was still empty at 2020-01-01" in early.err) == (1, True)


def test_diff_names_what_of_a_fact_changed(clawmem: Command, vault_root: Path) -> None:
    clawmem("remember", "Jane lives in Paris", "-e", "areas/people/jane")
    items = vault_root / "life/areas/people/jane/items.json"
    items.write_text(items.read_text().replace("Paris", "Parma"))
    clawmem("note", "Something else.")
    words = clawmem("diff", "HEAD~2").out
    assert 'Changed: "Jane lives in Parma" changed: its statement was Jane lives in Paris.' in words
    assert "Also: 1 line added to daily notes." in words


def test_undo_restores_and_says_what(clawmem: Command) -> None:
    old, new = corrected(clawmem)
    target = clawmem("log", "--json").data["history"][-1]["commit"]
    planned = clawmem("undo", old, "--dry-run", "--json").data
    assert (planned["undone"], planned["commit"]) == (target, None)
    result = clawmem("undo", target[:8], "--json").data
    assert result["undone"] == target
    assert {fact["id"]: what for fact, what in zip(result["facts"], result["outcome"], strict=True)} == {
        old: "restored",
        new: "removed",
    }
    history = clawmem("log", old, "--json").data["history"]
    assert (history[-1]["commit"], history[-1]["op"], history[-1]["undoes"]) == (result["commit"], "undo", target)
    again = clawmem("undo", old, "--json")
    assert (again.code, again.json["error"]["code"]) == (1, "refused")
    assert "is an undo already" in again.json["error"]["message"]
    words = clawmem("undo", result["commit"]).out
    assert words.startswith("undone: ")
    assert clawmem("show", old, "--json").data["fact"]["superseded_by"] == new


def test_variables_of_git_do_not_reach_the_history(clawmem: Command, tmp_path: Path) -> None:
    old, _ = corrected(clawmem)
    env = {"GIT_DIR": str(tmp_path / "none"), "GIT_TRACE": "2", "GIT_CONFIG_PARAMETERS": "'grep.patternType=fixed'"}
    result = clawmem("why", old, "--json", env=env)
    assert len(result.data["history"]) == 2
    assert result.err == ""
    assert clawmem("undo", old, env=env).code == 0


def test_a_fact_that_was_undone_or_edited_out_is_still_explained(clawmem: Command, vault_root: Path) -> None:
    undone = clawmem("remember", "Jane likes tea.", "--json").data["facts"][0]["id"]
    commit = clawmem("undo", undone, "--json").data["commit"]
    edited = clawmem("remember", "Jane likes rain.", "--json", env={"CLAWMEM_SEED": "2"}).data["facts"][0]["id"]
    items = vault_root / "life/areas/general/items.json"
    items.write_text("[\n]\n")
    clawmem("remember", "Next.", env={"CLAWMEM_SEED": "3"})
    for gone, words in ((undone, "Jane likes tea."), (edited, "Jane likes rain.")):
        result = clawmem("why", gone[:10], "--json").data
        assert (result["fact"]["id"], result["fact"]["fact"]) == (gone, words)
        assert result["removed"] == result["history"][-1]["commit"]
        assert [entry["op"] for entry in result["history"]] == ["remember", "undo" if gone == undone else "edit"]
        assert f"`clawmem undo {result['removed'][:12]}` restores it" in clawmem("why", gone).out
        shown = clawmem("show", gone, "--json")
        assert (shown.code, shown.json["error"]["code"]) == (1, "not_found")
        assert "is not in the vault any more" in shown.json["error"]["message"]
        assert f"clawmem why {gone}" in shown.json["error"]["hint"]
    assert clawmem("why", undone, "--json").data["removed"] == commit
    assert clawmem("undo", commit).code == 0
    assert clawmem("show", undone).code == 0
    assert "removed" not in clawmem("why", undone, "--json").data
    assert "No fact has the id" in clawmem("show", "fact_00ff00ff").err


def test_a_weekday_is_that_day_alone_and_since_it_is_since(clawmem: Command) -> None:
    for day in (22, 23, 25):  # 23 November 2026 is a Monday
        clawmem("remember", f"Said on {day}.", env={"CLAWMEM_NOW": f"2026-11-{day}T12:00:00Z"})
    wednesday, monday = ({"CLAWMEM_NOW": f"2026-11-{day}T20:00:00Z"} for day in (25, 23))
    first, *rest = clawmem("diff", "monday", env=wednesday).out.splitlines()
    assert first == "On 2026-11-23; `clawmem diff --since 2026-11-23` shows all since."
    assert "Said on 23." in (shown := "\n".join(rest)) and "25." not in shown and "22." not in shown
    for words in (("since monday",), ("since", "monday"), ("Since Monday",), ("--since", "monday")):
        shown = clawmem("diff", *words, env=wednesday).out
        assert "Said on 23." in shown and "Said on 25." in shown and "22." not in shown, words
    logged = clawmem("log", "since monday", env=wednesday).out
    assert "Said on 23." in logged and "Said on 25." in logged and "22." not in logged
    for day_name in ("monday", "Monday", "on monday"):
        assert clawmem("diff", day_name, env=monday).out.startswith("On 2026-11-23.\n"), day_name
        that_day = clawmem("log", day_name, env=monday)
        assert "note: changes of 2026-11-23\n" in that_day.err and "Said on 23." in that_day.out


def test_days_of_two_words_need_no_quotes_in_diff(clawmem: Command) -> None:
    clawmem("remember", "Jane rows.", env={"CLAWMEM_NOW": "2026-11-18T09:30:00Z"})
    clawmem("remember", "Jane runs.", env={"CLAWMEM_NOW": "2026-11-26T09:30:00Z"})
    env = {"CLAWMEM_NOW": "2026-11-27T09:30:00Z"}
    assert clawmem("diff", "this", "week", env=env).out == clawmem("diff", "this week", env=env).out != ""


def test_days_since_are_the_same_in_log_and_diff(clawmem: Command) -> None:
    for day in (10, 17, 20):
        clawmem("remember", f"Fact of the {day}th.", env={"CLAWMEM_NOW": f"2026-11-{day}T12:00:00Z"})
    env = {"CLAWMEM_NOW": "2026-11-21T12:00:00Z"}
    for words, days in (("week", "17 20"), ("2 weeks", "10 17 20"), ("yesterday", "20"), ("3 days", "20")):
        changed = clawmem("diff", "--since", words, "--json", env=env).data["changes"]
        assert [each["fact"]["fact"][12:14] for each in changed] == days.split(), words
    assert [entry["subject"][-5:] for entry in clawmem("log", "week", "--json", env=env).data["history"]] == [
        "17th.",
        "20th.",
    ]
    assert "20th" in clawmem("log", "yesterday", env=env).out
    assert clawmem("diff", "--since", "2026-11-17", "--until", "2026-11-18", env=env).out.count("Learned") == 1


def test_the_option_agent_is_said_to_be_who_asks(clawmem: Command) -> None:
    clawmem("remember", "Jane prefers tea.")
    assert "--agent is who asks; `clawmem log --by NAME`" in clawmem("log", "--agent", "finance").err
    assert "--agent is who asks" in clawmem("diff", "--agent", "finance").err
    assert clawmem("log", "--agent", "finance", "--by", "finance").err == "note: No commit matches.\n"
    assert "who asks" not in clawmem("log", env={"CLAWMEM_AGENT": "finance"}).err


def test_new_words_of_edit_replace_the_fact(clawmem: Command) -> None:
    clawmem("remember", "Jane prefers tea.")
    assert clawmem("edit", "Jane prefers tea", "Jane  prefers coffee.").code == 0
    assert "Jane prefers coffee." in clawmem("list").out and "tea" not in clawmem("list").out
    refused = clawmem("edit", "Jane prefers coffee", "Jane likes it.", "--pin")
    assert (refused.code, "either new words or options" in refused.err) == (2, True)


def test_new_words_of_edit_keep_where_the_fact_comes_from_and_since_when_it_holds(clawmem: Command) -> None:
    origin = ("--source", "web:acme.example", "--evidence", "Jnae moved to Oslo.", "--confidence", "0.7")
    of_jane = ("--subject", "Jane", "--predicate", "lives_in", "--object", "Oslo", "--tag", "home")
    since = ("--valid-from", "2024-03-01", "--reason", "She found work.")
    wrong = clawmem("remember", "Jnae lives in Oslo.", *origin, *of_jane, *since, "--json").data["facts"][0]
    clawmem("remember", "Ann sings.")
    for wrong_words, words in (("Jnae lives", "Jane lives in Oslo."), ("Ann sings", "Ann signs.")):
        assert clawmem("edit", wrong_words, words).code == 0
    right = next(fact for fact in clawmem("list", "--json").data["facts"] if fact["fact"] == "Jane lives in Oslo.")
    new = {"id", "fact", "links", "tier"}
    assert {key: value for key, value in right.items() if key not in new} == {
        key: value for key, value in wrong.items() if key not in new
    }
    for day in ("2024-06-01", "2025-01-01", "today"):
        then = clawmem("list", "--as-of", day).out
        assert "Jane lives in Oslo." in then and "Ann signs." in then
        assert "Jnae" not in then and "sings" not in then
    assert "Jane" not in clawmem("list", "--as-of", "2024-02-01").out


def test_the_reason_has_one_name(clawmem: Command) -> None:
    for option in ("--why", "--reason"):
        assert clawmem("decision", "add", f"Use {option}.", option, "It is short.").code == 0
        clawmem("remember", f"Jane likes {option}.")
        assert clawmem("supersede", f"Jane likes {option}", f"Jane has {option}.", option, "She took it.").code == 0
    for option in ("--because", "--reason"):
        assert clawmem("lesson", "add", f"Test {option}.", option, "It broke.").code == 0


def test_a_reason_is_taken_everywhere_and_says_because_once(clawmem: Command) -> None:
    assert clawmem("guardrail", "add", "Never deploy on Friday.", "--reason", "The weekend was lost.").code == 0
    clawmem("remember", "--jsonl", "-", given='{"fact": "Ann rows.", "reason": "because she likes water"}\n')
    assert "(areas/general, because she likes water)" in clawmem("list").out
    changed = clawmem("supersede", "Ann rows.", "Ann runs.", "--reason", "because May is full").out
    assert "because May is full" in changed and "because because" not in changed
    assert "(because: because" not in clawmem("log").out
    assert "--from FILE" in clawmem("task", "add", "x", "--reason", "y").err


def test_a_reason_of_a_line_is_kept_beside_its_details(clawmem: Command) -> None:
    rows: list[tuple[dict[str, Any], dict[str, str] | None]] = [
        ({"reason": " the\ntide "}, {"because": "the tide"}), ({"reason": " "}, None), ({"reason": None}, None),
        ({"reason": "the tide", "details": {"unit": "m"}}, {"unit": "m", "because": "the tide"}),
        ({"reason": " ", "details": {"unit": "m"}}, {"unit": "m"}),
        ({"reason": "the tide", "details": {"because": "the tide"}}, {"because": "the tide"}),
    ]  # fmt: skip
    lines = [json.dumps({"fact": f"Boat {number} is red.", **more}) for number, (more, _) in enumerate(rows)]
    assert clawmem("remember", "--jsonl", "-", given="\n".join(lines)).code == 0
    facts = {fact["fact"]: fact for fact in clawmem("list", "--json").data["facts"]}
    for number, (_, details) in enumerate(rows):
        fact = facts[f"Boat {number} is red."]
        assert fact.get("details") == details and "reason" not in fact


def test_a_line_with_two_reasons_or_none_that_is_text_is_refused(clawmem: Command) -> None:
    for reason in (5, "the tide"):
        line = json.dumps({"fact": "Ann rows.", "reason": reason, "details": {"because": "the moon"}})
        assert "Line 1: The" in (refused := clawmem("remember", "--jsonl", "-", given=line)).err and refused.code == 2
    assert clawmem("remember", "Ann rows.", "--reason", " ").code == 0
    assert "details" not in clawmem("list", "--json").data["facts"][0]


def test_undo_last_is_undo_and_what_forget_prints_can_be_run(clawmem: Command) -> None:
    clawmem("remember", "The boat is green.")
    assert "undone" in clawmem("undo", "last").out
    clawmem("remember", "Ann's boat is at quay 'B'.")
    line = re.search(r"`clawmem (forget .* --yes)`", clawmem("forget", "Ann's boat").err)
    assert line and clawmem(*shlex.split(line[1])).code == 0
    assert "quay" not in clawmem("recall", "boat").out


def test_forget_hides_a_former_wording_and_undo_shows_it_again_as_former(clawmem: Command) -> None:
    clawmem("remember", "My gross salary is 5,900 euro.")
    (fact,) = clawmem("list", "--json").data["facts"]
    clawmem("edit", fact["id"], "My gross salary is 6,100 euro.")
    assert len(clawmem("forget", "6,100 euro", "--yes", "--json").data["facts"]) == 2
    clawmem("heartbeat")
    for words in (
        ("recall", "what is my salary"), ("context", "what was my salary before"), ("list", "--include-superseded"),
        ("recall", "my salary", "--include-superseded"), ("list", "--status", "retracted"), ("diff", "today"),
    ):  # fmt: skip
        result = clawmem(*words)
        assert "euro" not in result.out + result.err
    page = clawmem("show", "daily").out
    assert "euro" not in page
    assert clawmem("forget", "salary").code == 1
    clawmem("undo")
    assert "5,900" in clawmem("list", "--status", "superseded").out and "6,100" in clawmem("list").out


def test_nobody_reads_what_was_forgotten_by_its_id_and_no_agent_in_the_history(clawmem: Command) -> None:
    clawmem("remember", "Jane lives at 4 Linden Row.", "-e", "areas/people/jane")
    (fact,) = clawmem("list", "--json").data["facts"]
    clawmem("supersede", fact["id"], "Jane lives at 9 Elm Lane.")
    (moved,) = clawmem("list", "--json").data["facts"]
    clawmem("note", "Wrote to 4 Linden Row.")
    head = clawmem("log", "--json").data["history"][-1]["commit"]
    clawmem("forget", "4 Linden Row", "--yes")
    for words in (
        ("show", fact["id"]), ("why", fact["id"]), ("why", fact["id"], "--impact"), ("graph", "neighbors", fact["id"]),
        ("log", fact["id"]), ("log",), ("log", "areas/people/jane"), ("why", moved["id"]),
        ("why", moved["id"], "--json"),
        ("graph", "neighbors", moved["id"]), ("recall", "--at", head, "linden"), ("context", "--at", head, "linden"),
        ("list", "--at", head, "--include-superseded"), ("show", "areas/people/jane"),
        ("diff", head), ("diff", head, "--json"), ("diff", f"{head}~1", "--json"), ("diff", f"{head}~3", "--json"),
        ("diff", head, head), ("retract", fact["id"]), ("supersede", fact["id"], "She moved."),
        ("wiki", "gate", fact["id"]), ("list", "--at", head),
    ):  # fmt: skip
        result = clawmem("--agent", "bot", *words)
        assert "Linden" not in result.out + result.err, words
        assert result.code == 0 or "forgotten on request" in result.err, words
    assert "Elm Lane" in clawmem("--agent", "bot", "why", moved["id"]).out
    for words in (("show", fact["id"]), ("why", fact["id"]), ("why", moved["id"]), ("log", fact["id"])):
        assert "Linden" not in clawmem(*words).out, words
    assert "Linden" in clawmem("list", "--at", head, "--include-superseded").out


def test_the_log_takes_only_the_whole_note_for_forgotten(clawmem: Command) -> None:
    gone = ("My phone number is 555-0199-22.", "10:00 -- my phone number is 555-0199-22 " + "and so on -- " * 20)
    for words in ("e", "a", *gone):
        clawmem("note", words)
    assert clawmem("forget", "my phone number 555-0199-22", "--yes").code == 0
    shown = [row["subject"] for row in clawmem("log", "--json").data["history"] if row["op"] == "note"]
    assert [row.partition(": ")[2] for row in shown] == ["e", "a", *["what was forgotten on request"] * 2]


def test_forget_says_where_only_longer_names_have_the_words(clawmem: Command) -> None:
    clawmem("remember", "Tomasz Zielinski leaves the company in May.")
    result = clawmem("forget", "Tomasz company")
    assert (result.code, "Only longer names have the words, as in: Tomasz Zielinski leaves" in result.err) == (1, True)
    assert "Nothing that is known has the words: yacht." in clawmem("forget", "yacht").err


def test_nothing_names_somebody_of_whom_all_was_forgotten(clawmem: Command, vault_root: Path) -> None:
    place = ("-e", "areas/people/berta-krumm")
    fact = clawmem("remember", "Berta Krumm has gout.", *place, "--json").data["facts"][0]["id"]
    clawmem("remember", "Jane met Tom.", "-e", "areas/people/jane")
    assert clawmem("heartbeat").code == 0 and "berta" in str([*vault_root.glob("wiki/**/*.md")])
    assert clawmem("forget", "Berta Krumm", "--yes").code == 0 and clawmem("heartbeat").code == 0
    for words in (
        ["diff"], ["diff", "--json"], ["log"], ["log", "--json"], ["list", "--all"], ["entity", "list"],
        ["show", "areas/people/berta-krumm"], ["graph", "neighbors", "areas/people/berta-krumm"],
    ):  # fmt: skip
        found = clawmem(*words)
        shown = (found.out + found.err).replace(f"'{words[-1]}'", "")
        assert "berta" not in shown.casefold() and "gout" not in shown, words
    assert fact in clawmem("diff").out
    pages = [path for path in vault_root.rglob("*.md") if ".git" not in path.parts and "berta-krumm" not in str(path)]
    assert not [path for path in pages if "berta" in path.read_text().casefold()]
