"""`clawmem access` from a vault that several people share: rules, grants, marks, and each verb for a reader."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from clawmem.faces.mcp.tools import TOOLS
from clawmem.faces.parts.command import Command
from clawmem.faces.verbs.table import VERBS, load
from clawmem.model.harness import HANDED_IN
from clawmem.runtime import Runtime
from tests.conftest import Command as Clawmem
from tests.conftest import Once, Result
from tests.index.tables.test_rights import POLICY

SECRET = "sarcoidosis"
_CHAT: list[dict[str, object]] = [
    {"speaker": "Dr. Alvarez", "content": f"The biopsy of Lucia showed {SECRET}.", "to": ["Lucia Gomez"]},
    {"speaker": "Clara", "content": "Lucia comes on Friday at five.", "channel": "desk"},
]
# How each verb that serves words to a viewer is called where it might show the secret. A new one needs a row, or
# `test_every_command_is_refused_to_a_reader_but_those_that_answer_from_the_index` fails.
_READING = {
    "recall": [["recall", "What did the biopsy of Lucia show?"], ["recall", SECRET, "--all"]],
    "context": [["context", "What did the biopsy of Lucia show?"], ["context"]],
    "list": [["list"], ["list", "--all"], ["list", "--at", "2026-11-21"]],
    "show": [["show", "lucia"], ["show", "FACT"], ["show", "FORGOTTEN"], ["show", "UNDONE"], ["show", "PUBLIC"]],
    "graph": [["graph", "neighbors", SECRET], ["graph", "neighbors", "lucia"], ["graph", "neighbors", "PUBLIC"]],
    "why": [
        *(["why", name] for name in ("FACT", "PUBLIC", "OLD", "FORGOTTEN", "UNDONE", SECRET)),
        ["why", "PUBLIC", "--impact"],
    ],
    "log": [
        *(["log", name] for name in ("lucia", "FACT", "PUBLIC", "OLD", "UNDONE", f"areas/people/{SECRET}")),
        ["log"],
        ["log", "--all"],
        ["log", "today"],
    ],
    "diff": [["diff"], ["diff", "START"], ["diff", "START", "HEAD~4"], ["diff", "today"]],
    "dashboard": [["dashboard"]],
}
# Who may not see it, as options and variables; and who may.
_OTHERS: dict[str, tuple[tuple[str, ...], dict[str, str]]] = {
    "option": (("--viewer", "clara"), {}),
    "variable": ((), {"CLAWMEM_VIEWER": "clara"}),
    "agent": (("--agent", "desk"), {}),
    "stranger": (("--agent", "stranger"), {}),
    "shell": ((), {"CLAUDECODE": "1"}),
    "of an agent that sees all": (("--agent", "boss", "--viewer", "clara"), {}),
}
_READERS = ("lucia", "alvarez")
# Arguments of tools that show what they find.
_ASKED: dict[str, dict[str, str]] = {
    "recall": {"question": "biopsy"}, "context": {"question": "Lucia"}, "why": {"fact": "FACT"},
    "learn_pending": {},
}  # fmt: skip


@pytest.fixture
def shared(once: Once, clawmem: Clawmem, vault_root: Path, tmp_path: Path) -> tuple[str, str]:
    """A vault with a policy, two messages, and two facts of which one is private: the ids of message and fact."""
    return once(lambda: _share(clawmem, vault_root, tmp_path))


def _share(clawmem: Clawmem, vault_root: Path, tmp_path: Path) -> tuple[str, str]:
    policy = vault_root / "governance/access.yaml"
    policy.parent.mkdir(exist_ok=True)
    policy.write_text(POLICY)
    chat = tmp_path / "chat.jsonl"
    rows = ({"role": "user", "timestamp": f"2026-11-20T09:0{at}:00Z", **row} for at, row in enumerate(_CHAT))
    chat.write_text("".join(json.dumps(row) + "\n" for row in rows))
    assert clawmem("ingest", str(chat)).code == 0
    event = clawmem("recall", "biopsy", "--json").data["events"][0]["id"]
    place = ("-e", "areas/people/lucia")
    fact = clawmem("remember", f"Lucia has {SECRET}.", *place, "--json").data["facts"][0]["id"]
    clawmem("remember", "Lucia lives in Graz.", *place)
    assert clawmem("access", "mark", fact, "--kind", "health", "--about", "lucia").code == 0
    return event, fact


def test_a_reader_sees_what_is_his_by_audience_rule_and_grant(clawmem: Clawmem, shared: tuple[str, str]) -> None:
    event, fact = shared
    facts = {
        name: [row["id"] == fact for row in clawmem("list", "--viewer", name, "--json").data["facts"]]
        for name in ("lucia", "Dr. Alvarez", "clara")
    }
    assert {name: any(rows) for name, rows in facts.items()} == {"lucia": True, "Dr. Alvarez": True, "clara": False}
    assert all(len(rows) == 1 + any(rows) for rows in facts.values())
    days = ("--since", "2026-11-20", "--until", "2026-12-01")
    said = clawmem("access", "grant", "clara", "health", "--of", "lucia", *days, "--reason", "on call")
    wanted = "2026-11-21  clara may see health of lucia, from 2026-11-20, until 2026-12-01 (on call)\n"
    assert said.out.partition("  ")[2] == wanted
    assert fact in clawmem("list", "--viewer", "clara").out
    assert fact not in clawmem("list", "--viewer", "clara", env={"CLAWMEM_NOW": "2026-12-02T00:00:01Z"}).out
    assert clawmem("access", "revoke", "reception").code == 0
    assert fact not in clawmem("list", "--viewer", "clara").out
    assert "clara may not see it: health of lucia was withdrawn" in clawmem("access", "why", fact, "--for", "Clara").out
    assert "is for Lucia Gomez" in clawmem("access", "why", event, "--for", "clara").out
    assert "alvarez may see it: alvarez said it" in clawmem("access", "who", event).out
    (marked,) = clawmem("access", "who", fact, "--json").data["marks"]
    assert marked == {"kinds": ["health"], "about": ["lucia"]}
    assert clawmem("access", "mark", event).out == f"{event} is for everybody\n"
    assert SECRET in clawmem("recall", "biopsy", "--viewer", "clara").out
    assert "grant_" in clawmem("access", "show").out
    assert clawmem("doctor").code == 0


@pytest.fixture
def told(once: Once, clawmem: Clawmem, vault_root: Path, tmp_path: Path) -> dict[str, str]:
    """A vault with the secret in every place: the words by name that stand in the table of calls."""
    return once(lambda: tell_everywhere(clawmem, vault_root, tmp_path))


def tell_everywhere(clawmem: Clawmem, vault_root: Path, tmp_path: Path) -> dict[str, str]:
    """Put the secret into facts, former words, messages, pages, notes, tasks, sessions, decisions and proposals."""
    _, fact = _share(clawmem, vault_root, tmp_path)

    def do(*words: str, **more: Any) -> Result:
        result = clawmem(*words, **more)
        assert result.code == 0, (words, result)
        return result

    start = do("log", "--json").data["history"][0]["commit"][:12]

    def learned(text: str, *words: str) -> str:
        added = do("remember", text, "-e", "areas/people/lucia", *words, "--json")
        return str(added.data["facts"][0]["id"])

    old = learned("Lucia has a dog.")
    public = do("supersede", old, "Lucia has a cat.", "--reason", f"of her {SECRET}", "--json").data["facts"][0]["id"]
    do("link", public, fact, "--type", "relates_to", "--reason", f"the {SECRET} began with it")
    # What was written in place and corrected by hand: the words are in the history alone.
    learned(f"Lucia paints, which helps with {SECRET}.")
    items = vault_root / "life/areas/people/lucia/items.json"
    items.write_text(items.read_text().replace(f", which helps with {SECRET}", ""))
    undone = learned(f"Lucia hides {SECRET}.")
    do("undo")
    do("remember", f"Bob was treated for {SECRET}.", "-e", f"areas/people/{SECRET}", "-c", "health")
    gone = learned(f"Lucia told Bob of {SECRET}.")
    do("forget", f"Lucia told Bob of {SECRET}", "--yes")
    do("note", f"Lucia cried about {SECRET}.")
    do("task", "add", f"Read about {SECRET}")
    do("decision", "add", f"Lucia stops work for {SECRET}.", "--why", "She asked.")
    summary = {"summary": f"Spoke of {SECRET}.", "reflection": {"learned": ["Listen."], "watch_for": []}}
    do("session", "start", "--agent", "boss", "--id", "ses_talk", env={"CLAWMEM_PROJECT": "boat"})
    do("session", "end", "--from", "-", "--session", "ses_talk", "--agent", "boss", given=json.dumps(summary))
    (vault_root / "MEMORY.md").write_text(f"# Memory\n\n- Lucia and {SECRET}.\n")
    (vault_root / "life/areas/people/lucia/summary.md").write_text(f"# Lucia\n\nShe has {SECRET}.\n")
    (vault_root / "wiki").mkdir(exist_ok=True)
    (vault_root / f"wiki/{SECRET}.md").write_text(f"# {SECRET}\n\nLucia has a cat ({public}) and {SECRET}.\n")
    decided = next(row["id"] for row in do("list", "--json", "--all").data["facts"] if "stops work" in row["fact"])
    do("access", "mark", decided, "--audience", "alvarez")
    chat = [
        {"role": "user", "speaker": name, "content": text, "session": "two", "timestamp": f"2026-11-20T1{at}:00:00Z"}
        for at, (name, text) in enumerate([("Lucia Gomez", f"Is it {SECRET}?"), ("Dr. Alvarez", f"Yes, {SECRET}.")])
    ]
    do("ingest", "-", given="".join(json.dumps(row) + "\n" for row in chat))
    return {"FACT": fact, "PUBLIC": public, "OLD": old, "FORGOTTEN": gone, "UNDONE": undone, "START": start}


@pytest.mark.parametrize("name", _OTHERS)
def test_what_answers_a_reader_never_has_the_secret(clawmem: Clawmem, told: dict[str, str], name: str) -> None:
    """Each call for a person who is named by an option; the first of each verb for whoever reads otherwise."""
    options, env = _OTHERS[name]
    for line in (line for lines in _READING.values() for line in (lines if name == "option" else lines[:1])):
        words = [told.get(word, word) for word in line]
        for shape in (["--json"], *([[]] if name == "option" and line != ["dashboard"] else [])):
            found = clawmem(*words, *shape, *options, env=env)
            shown = found.out + found.err
            for asked in line:  # what was asked may stand in the answer
                shown = shown.replace(f"'{asked}'", "").replace(f'"{asked}"', "")
            assert SECRET not in shown, (words, shape)
            assert told["FACT"] in words or told["FACT"] not in shown, (words, shape)


@pytest.mark.parametrize("name", _READERS)
def test_who_may_see_it_gets_it_from_each_verb(clawmem: Clawmem, told: dict[str, str], name: str) -> None:
    for verb, lines in _READING.items():
        if verb not in ("graph", "dashboard"):
            words = (tuple(told.get(word, word) for word in line) for line in lines)
            assert any(SECRET in clawmem(*line, "--viewer", name).out for line in words), verb


def test_no_tool_and_no_hook_gives_it_to_others(clawmem: Clawmem, told: dict[str, str]) -> None:
    def said(*options: str, **env: str) -> str:
        calls: list[dict[str, Any]] = []
        for at, (name, tool) in enumerate(TOOLS.items()):
            asked = {key: told.get(value, value) for key, value in _ASKED.get(name, {}).items()}
            assert name in _ASKED or not tool.reads, f"{name} serves words and has no row"
            calls.append({"method": "tools/call", "id": at, "params": {"name": name, "arguments": asked}})
        others: list[dict[str, Any]] = [
            {"method": f"{kind}/list", "id": kind} for kind in ("tools", "resources", "prompts")
        ]
        hello: dict[str, Any] = {"method": "initialize", "id": "x", "params": {"clientInfo": {"name": "stranger"}}}
        given = "".join(json.dumps({"jsonrpc": "2.0", **call}) + "\n" for call in (hello, *calls, *others))
        shown = clawmem("mcp", *options, given=given, env=env).out
        assert shown.count("jsonrpc") == len(TOOLS) + 4
        for event, prompt in (("SessionStart", "{}"), ("UserPromptSubmit", '{"prompt": "What does the biopsy show?"}')):
            hook = ("hook", event, "--harness", "claude-code", *options)
            shown += clawmem(*hook, given=prompt, env={"CLAWMEM_PROJECT": "boat", **env}).out
        return shown

    for options, env in _OTHERS.values():
        assert SECRET not in said(*options, **env), (options, env)
    assert SECRET in said("--agent", "boss", CLAWMEM_VIEWER="lucia")


def test_setup_writes_for_whom_a_harness_reads(clawmem: Clawmem, shared: tuple[str, str], tmp_path: Path) -> None:
    home = tmp_path / "homes"
    env = {"CLAUDE_CONFIG_DIR": str(home / "claude"), "CODEX_HOME": str(home / "codex")}
    wired = clawmem("--viewer", "clara", "setup", "claude-code", env=env)
    assert wired.code == 0 and "answer clara alone, and store what is said there for clara" in wired.err
    settings = json.loads((home / "claude/settings.json").read_text())
    server = json.loads((home / "claude/.claude.json").read_text())["mcpServers"]["clawmem"]
    hooks = [hook["command"] for rows in settings["hooks"].values() for row in rows for hook in row["hooks"]]
    assert server["args"][-2:] == ["--viewer", "clara"] and settings["env"]["CLAWMEM_VIEWER"] == "clara"
    assert all("--viewer clara" in f"{hook}" or hook.endswith("clawmem") for hook in hooks)
    again = clawmem("setup", "claude-code", env=env)
    assert again.code == 0 and "clara" in (home / "claude/settings.json").read_text(), "a renewal opens nothing"
    assert clawmem("--viewer", "eve", "setup", "codex", env=env).code == 1
    assert clawmem("--viewer", "clara", "setup", "shell", env=env).code == 2
    for harness in HANDED_IN:
        refused = clawmem("--viewer", "clara", "setup", harness, env={**env, "HOME": str(home)})
        assert refused.code == 2 and "for everybody and not for clara" in refused.err
    assert not [*home.rglob("*opencode*"), *home.rglob("*openclaw*")]
    assert clawmem("setup", "claude-code", "--agent", "desk", env=env).code == 1
    assert clawmem("setup", "claude-code", "--remove", env=env).code == 0
    left = home / "claude/settings.json"
    assert not left.exists() or "clara" not in left.read_text()


def test_what_replaces_merges_links_or_disputes_a_marked_fact_does_not_tell_it(
    clawmem: Clawmem, shared: tuple[str, str]
) -> None:
    """A successor and a merged fact are for whom the old ones were; links, reasons and open questions are left out."""
    _, fact = shared
    public = clawmem("remember", "Lucia has a cat.", "-e", "areas/people/lucia", "--json").data["facts"][0]["id"]
    clawmem("link", public, "relates_to", fact, "--reason", f"the {SECRET} began with it")
    newer = clawmem("supersede", fact, f"Lucia has {SECRET} and a fever.", "--json").data["facts"][0]["id"]
    other = clawmem("remember", f"Lucia takes pills for {SECRET}.", "-e", "areas/people/lucia", "--json").data
    clawmem("access", "mark", other["facts"][0]["id"], "--audience", "alvarez")
    clawmem("merge", newer, other["facts"][0]["id"], "--into", f"Lucia has {SECRET}, fever and pills.")
    triple = ("--subject", "Lucia", "--predicate", "lives_in", "--object")
    home = clawmem("remember", f"Lucia lives in {SECRET.title()}.", *triple, SECRET.title(), "--json").data["facts"][0]
    clawmem("access", "mark", home["id"], "--kind", "health")
    clawmem("remember", "Lucia lives in Bonn.", *triple, "Bonn", "--trust", "agent")
    for words in (["recall", "Lucia"], ["context"], ["context", "Lucia"], ["list", "--all"], ["show", public]):
        for shape in ((), ("--json",)):
            found = clawmem(*words, *shape, "--viewer", "clara")
            assert SECRET not in (found.out + found.err).casefold(), words
            assert fact not in found.out + found.err, words
    assert SECRET in clawmem("list", "--viewer", "alvarez").out.casefold()


def test_an_agent_that_sees_little_ingests(clawmem: Clawmem, shared: tuple[str, str]) -> None:
    line = json.dumps({"role": "user", "content": "The lamp is new.", "timestamp": "2026-11-20T10:00:00Z"})
    found = clawmem("ingest", "-", "--agent", "desk", given=line + "\n")
    assert (found.code, found.err) == (0, "")


@pytest.mark.parametrize("named", [("--agent", "boss"), ()])
def test_a_name_that_an_agent_takes_in_its_shell_shows_it_no_more(
    clawmem: Clawmem, shared: tuple[str, str], named: tuple[str, ...]
) -> None:
    shell = {"CLAUDECODE": "1", **({} if named else {"CLAWMEM_AGENT": "boss"})}
    assert SECRET in clawmem("list", "--agent", "boss").out
    assert SECRET not in clawmem("list", *named, env=shell).out
    assert "may show or change more than claude-code may see" in clawmem("undo", *named, env=shell).err
    request = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "recall", "arguments": {}}}
    request["params"]["arguments"] = {"question": "biopsy"}  # type: ignore[index]
    hello = {"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": {"clientInfo": {"name": "boss"}}}
    given = "".join(json.dumps(message) + "\n" for message in (hello, request))
    assert SECRET in clawmem("mcp", *named, given=given, env={} if named else {"CLAWMEM_AGENT": "boss"}).out
    answer = clawmem("mcp", *named, given=given, env=shell).out
    assert SECRET not in answer and answer.count("jsonrpc") == 2


def test_completion_offers_a_reader_nothing_that_is_read_from_files(clawmem: Clawmem, shared: tuple[str, str]) -> None:
    (other,) = clawmem("remember", f"Lucia never had {SECRET}.", "--json").data["facts"]
    clawmem("access", "mark", other["id"], "--kind", "health", "--about", "lucia")
    assert clawmem("link", shared[1], other["id"], "--type", "contradicts").code == 0
    clawmem("task", "add", f"Read about {SECRET}")

    def offered(line: str, **variables: str) -> str:
        return clawmem(line, env={"_CLAWMEM_COMPLETE": "line", **variables}).out

    for line in ("clawmem review approve ", "clawmem task show ", "clawmem show "):
        assert SECRET in offered(line)
        for reader in ({"CLAWMEM_VIEWER": "clara"}, {"CLAWMEM_AGENT": "desk"}, {"CLAUDECODE": "1"}):
            assert SECRET not in offered(line, **reader), (line, reader)


def _commands() -> list[str]:
    """Every command of the table of verbs, such as `remember` and `task take`."""
    found = []
    for verb in VERBS:
        loaded = load(verb)
        found += [verb] if isinstance(loaded, Command) else [f"{verb} {word}" for word in loaded]
    return found


def test_every_command_is_refused_to_a_reader_but_those_that_answer_from_the_index(
    vault_root: Path, environment: dict[str, str], shared: tuple[str, str]
) -> None:
    def usable(**values: str | None) -> set[str]:
        allowed = set()
        for command in _commands():
            try:
                Runtime(environment, vault_root, str(vault_root), **values).check_verb(command)  # type: ignore[arg-type]
                allowed.add(command)
            except Exception as problem:  # noqa: BLE001 - each other error fails the test
                assert "may show or change more than" in str(problem)
        return allowed

    harness = {"hook", "mcp serve", "completions", "schema"}
    reading = {command for command in _commands() if command.partition(" ")[0] in _READING}
    assert usable(viewer="clara") == reading | harness | {"setup"}
    writing = {"note", "ingest", *(f"session {word}" for word in ("start", "note", "checkpoint", "end"))}
    writing |= {f"task {word}" for word in ("list", "show", "take", "release", "submit")}
    assert usable(agent="desk") == reading | harness | writing
    assert usable(agent="stranger") == usable(agent="desk")
    assert usable(agent="boss") == usable(viewer="boss") == usable() == set(_commands())


_REFUSED = (
    (["undo", "--viewer", "clara"], 1, "`undo` may show or change more than clara may see."),
    (["show", "FACT", "--viewer", "clara"], 1, "No fact has the id"),
    (["recall", "x", "--viewer", "eve"], 1, "governance/access.yaml has no person 'eve', so nothing is shown."),
    (["recall", "x", "--viewer", ""], 2, "--viewer is empty."),
    (["access", "grant", "eve", "health"], 2, "has no person and no role 'eve'"),
    (["access", "grant", "clara", "money"], 2, "has no kind of content 'money'"),
    (["access", "grant", "clara", "health", "--until", "2026-11-01"], 2, "is not after the beginning"),
    (["access", "mark", "FACT", "--kind", "money"], 2, "has no kind of content 'money'"),
    (["access", "mark", "evt_0000"], 1, "There is no message 'evt_0000'."),
    (["access", "why", "FACT", "--for", "eve"], 2, "has no person 'eve'"),
    (["access", "grant", "clara", "health", "--agent", "desk"], 1, "may show or change more than desk may see"),
    (["access", "mark", "FACT", "--agent", "boss"], 1, "Only a person decides who may see what"),
    (["list", "--at", "2026-11-21", "--viewer", "clara"], 1, "is known only of the memory as it is now"),
    (["remember", "Lucia is ill.", "--agent", "desk"], 1, "`remember` may show or change more than desk may see."),
)


def test_what_cannot_be_done_says_why(clawmem: Clawmem, shared: tuple[str, str]) -> None:
    for words, code, says in _REFUSED:
        found = clawmem(*(shared[1] if word == "FACT" else word for word in words))
        assert (found.code, says in found.err) == (code, True), found.err


def test_what_only_one_of_two_marks_lets_somebody_see_is_not_shown(clawmem: Clawmem, shared: tuple[str, str]) -> None:
    event, _ = shared
    learned = clawmem("remember", "Lucia sleeps badly.", "--event", event, "--json").data["facts"][0]["id"]
    assert clawmem("access", "mark", event, "--kind", "health", "--about", "lucia").code == 0
    assert clawmem("access", "mark", learned, "--audience", "clara").code == 0
    assert "clara may not see it" in clawmem("access", "why", learned, "--for", "clara").out
    assert "sleeps" not in clawmem("list", "--viewer", "clara").out


def test_a_message_that_was_taken_back_is_not_marked(
    clawmem: Clawmem, vault_root: Path, shared: tuple[str, str]
) -> None:
    rows = ("My old line is 415-555-0168.", "Forget my old line 415-555-0168.")
    lines = (json.dumps({"role": "user", "content": text, "timestamp": "2026-11-19T10:00:00Z"}) for text in rows)
    assert clawmem("ingest", "-", given="\n".join(lines)).code == 0
    first = json.loads((vault_root / "ledger/2026-11-19.jsonl").read_text().splitlines()[0])["id"]
    for words in (("mark", first, "--kind", "health"), ("who", first)):
        found = clawmem("access", *words)
        assert (found.code, f"There is no message '{first}'." in found.err) == (1, True), found


def test_a_mark_stands_in_a_line_of_its_own(clawmem: Clawmem, vault_root: Path, shared: tuple[str, str]) -> None:
    ledger = vault_root / "ledger/2026-11-20.jsonl"
    ledger.write_bytes(ledger.read_bytes().rstrip(b"\n"))
    assert clawmem("access", "mark", shared[0], "--audience", "lucia").code == 0
    assert [json.loads(line) for line in ledger.read_text().splitlines()]
    assert SECRET not in clawmem("recall", "biopsy", "--viewer", "clara").out


def test_what_is_in_the_place_of_the_policy_opens_nothing(
    clawmem: Clawmem, vault_root: Path, shared: tuple[str, str]
) -> None:
    policy = vault_root / "governance/access.yaml"
    for put in (policy.mkdir, lambda: policy.symlink_to("nowhere"), lambda: policy.write_text("people: [")):
        (policy.rmdir if policy.is_dir() else policy.unlink)()
        put()
        result = clawmem("list", "--agent", "desk")
        assert SECRET not in result.out + result.err, result
        assert SECRET in clawmem("list").out


def test_without_a_policy_everybody_sees_everything_and_nobody_can_be_named(clawmem: Clawmem) -> None:
    assert clawmem("access", "show").code == 1
    assert "has no governance/access.yaml" in clawmem("list", "--viewer", "clara").err
    assert clawmem("list", "--agent", "desk").code == 0


def test_a_memory_without_a_policy_shows_the_lines_that_make_one(clawmem: Clawmem, vault_root: Path) -> None:
    fact = clawmem("remember", "Lucia has asthma.", "--json").data["facts"][0]["id"]
    words = ("access", "mark", fact, "--kind", "health", "--about", "lucia")
    failed = clawmem(*words)
    assert failed.code == 1 and ".md" not in failed.err
    assert ".md" not in clawmem("recall", "asthma", "--viewer", "lucia").err
    policy, *lines = re.findall("`(.+?)`", failed.err)
    (vault_root / policy).parent.mkdir(exist_ok=True)
    (vault_root / policy).write_text("\n".join(lines) + "\n")
    assert clawmem(*words).code == 0


def test_what_a_mark_or_a_grant_does_not_do_is_refused_or_said(
    clawmem: Clawmem, shared: tuple[str, str], vault_root: Path
) -> None:
    event, fact = shared
    for options, says in (
        (("--about", "lucia"), "decides nothing without a kind"),
        (("--audience", "nobody"), "no person and no role 'nobody'"),
        (("--kind", "health", "--about", "lucas"), "no person 'lucas'"),
    ):
        refused = clawmem("access", "mark", event, *options)
        assert refused.code != 0 and says in refused.err
    assert clawmem("access", "mark", event, "--kind", "health").out == f"{event} is for Lucia Gomez; health\n"
    assert SECRET not in clawmem("recall", "biopsy", "--viewer", "clara").out
    assert clawmem("access", "mark", event, "--kind", "health", "--audience", "all").out.endswith("for all; health\n")
    opened = clawmem("access", "mark", event, fact)
    assert f"{event} was for all; health" in opened.err and f"{fact} was health of lucia" in opened.err
    assert "is not decided by --of" in clawmem("access", "grant", "clara", "all", "--of", "lucia").err
    log = clawmem("log").out
    assert "(clara): granted: all of lucia" in log and f"{event} is for everybody" in log
    assert clawmem("access", "revoke", "clara").code == 0


def test_who_may_see_all_is_named_so_until_it_is_withdrawn(clawmem: Clawmem, shared: tuple[str, str]) -> None:
    event, _ = shared
    assert "the role owner may see all" in clawmem("access", "why", event, "--for", "boss").out
    assert SECRET in clawmem("recall", "biopsy", "--agent", "boss").out
    clawmem("access", "revoke", "boss")
    assert "boss may not see it: all was withdrawn" in clawmem("access", "why", event, "--for", "boss").out
    for words in (("recall", "biopsy"), ("list",), ("log",)):
        found = clawmem(*words, "--agent", "boss")
        assert SECRET not in found.out + found.err


def test_a_source_that_names_nobody_whom_the_policy_knows_is_told(
    clawmem: Clawmem, shared: tuple[str, str], vault_root: Path
) -> None:
    policy = vault_root / "governance/access.yaml"
    policy.write_text(policy.read_text() + "channels: {desk: [reception]}\n")
    rows = [
        {"channel": "desc"},
        {"channel": "desk"},
        {"to": "Dr Alvarez"},
        {"recipients": "Clara <c@example.org>, Eve"},
    ]
    lines = [json.dumps({"role": "user", "content": f"The lamp {at} is new.", **row}) for at, row in enumerate(rows)]
    told = clawmem("ingest", "-", given="\n".join(lines) + "\n")
    assert (told.code, "does not know #desc, so nobody" in told.err) == (0, True)
    seen = {name: clawmem("recall", "lamp", "--viewer", name).out for name in ("clara", "alvarez", "lucia")}
    shown = {name: [at for at in range(4) if f"lamp {at}" in text] for name, text in seen.items()}
    assert shown == {"clara": [1, 3], "alvarez": [2], "lucia": []}


def test_what_is_passed_on_has_only_what_everybody_may_see(
    clawmem: Clawmem, shared: tuple[str, str], vault_root: Path, tmp_path: Path
) -> None:
    """Sites and exports leave out marked facts, those of marked messages and what was said in a channel for some."""
    policy = vault_root / "governance/access.yaml"
    policy.write_text(policy.read_text() + "channels: {desk: [reception], hall: [all]}\n")
    rows = [{"role": "user", "content": f"The {name} lamp is new.", "channel": name} for name in ("desk", "hall")]
    clawmem("ingest", "-", given="".join(json.dumps(row) + "\n" for row in rows))
    added = clawmem("remember", f"Lucia was treated for {SECRET}.", "--json").data
    start = added["commit"]
    clawmem("access", "mark", added["facts"][0]["id"], "--audience", "alvarez")
    site = tmp_path / "site"
    said = clawmem("wiki", "site", str(site), "--with", "messages")
    assert "left out: 2 facts that not everybody may see" in said.err
    assert "left out: 2 facts" in clawmem("export", str(tmp_path / "okf")).err
    files = {name: [path for path in (tmp_path / name).rglob("*") if path.is_file()] for name in ("site", "okf")}
    texts = {name: "".join(path.read_text("utf-8") for path in paths) for name, paths in files.items()}
    texts["lines"] = clawmem("export", "-", "--contract").out
    texts["news"] = clawmem("export", "-", "--contract", "--since", start[:12]).out
    clawmem("undo", start)
    texts["gone"] = clawmem("export", "-", "--contract", "--since", "HEAD~1").out
    assert not [name for name, text in texts.items() if SECRET in text]
    assert all("Graz" in texts[name] for name in ("site", "okf", "lines"))
    assert "hall lamp" in texts["site"] and "desk lamp" not in texts["site"]
    policy.unlink()
    assert SECRET in clawmem("export", "-", "--contract").out


def test_a_fact_is_stated_for_some_by_a_kind_of_content_as_its_category(
    clawmem: Clawmem, shared: tuple[str, str]
) -> None:
    told = clawmem("remember", "Lucia carries insulin pens.", "-c", "Health")
    assert "is health of lucia: not everybody may see it" in told.err
    clawmem("remember", "It is sold in May.", "-c", "health", "-e", "areas/people/lucia")
    clawmem("remember", "Insulin is sold in May.", "-c", "preference")
    for words in ("insulin", "sold in May"):
        seen = {name: clawmem("recall", words, "--viewer", name).out for name in ("clara", "lucia")}
        assert "pens" in seen["lucia"] or "It is sold" in seen["lucia"]
        assert "pens" not in seen["clara"] and "It is sold" not in seen["clara"]
        assert "Insulin is sold" in seen["clara"]


@pytest.mark.parametrize("verb", ["remember", "supersede"])
def test_a_known_fact_is_for_some_once_its_category_is_a_kind_of_content(
    clawmem: Clawmem, shared: tuple[str, str], verb: str
) -> None:
    place = ("-e", "areas/people/lucia")
    known = clawmem("remember", "Lucia carries pens.", *place, "--json").data["facts"][0]["id"]
    if verb == "remember":
        clawmem("remember", "Lucia carries pens.", *place, "-c", "health")
    else:
        clawmem("supersede", known, "Lucia carries two pens.", "--category", "health")
    seen = {name: "pens" in clawmem("list", "--viewer", name).out for name in ("clara", "alvarez")}
    assert seen == {"clara": False, "alvarez": True}


def test_doctor_says_what_the_policy_names_and_does_not_have(
    clawmem: Clawmem, shared: tuple[str, str], vault_root: Path
) -> None:
    assert "[access]" not in clawmem("doctor").out
    policy = vault_root / "governance/access.yaml"
    wrong = POLICY.replace("role: doctor, of: {doctor: lucia}", "role: doctr, of: {doktor: luciaa}")
    policy.write_text(wrong + "channels: {ward: [docter, nobody, doctor, all]}\n")
    found = clawmem("doctor").out
    for fault in (
        "alvarez is doktor of 'luciaa', which `people` lacks.",
        "alvarez has the role 'doctr', which no rule names. Is it 'doctor'?",
        "The channel ward is for 'docter'",
        "The channel ward is for 'nobody'",
        "A rule is for the role 'doctor', which `people` lacks.",
        "A rule is for the relation 'doctor', which `people` lacks.",
    ):
        assert fault in found
    assert found.count("  [access]") == 6


def test_who_gets_a_copy_sees_the_message_and_status_says_what_no_reader_has_marked(
    clawmem: Clawmem, shared: tuple[str, str], vault_root: Path
) -> None:
    row = {"role": "user", "content": "The lamp is new.", "to": "Lucia Gomez", "cc": ["Clara"]}
    clawmem("ingest", "-", given=json.dumps(row) + "\n")
    seen = {name: "lamp is new" in clawmem("recall", "lamp", "--viewer", name).out for name in ("clara", "alvarez")}
    assert seen == {"clara": True, "alvarez": False}
    says = "what is for some people only in 3 messages that no reader has read is not marked yet"
    assert says in clawmem("status").err
    (vault_root / "governance/access.yaml").unlink()
    assert "not marked yet" not in clawmem("status").err


def test_a_mark_keeps_what_it_does_not_name(clawmem: Clawmem, shared: tuple[str, str]) -> None:
    _, fact = shared
    assert clawmem("access", "mark", fact, "--audience", "clara").out == f"{fact} is for clara; health of lucia\n"
    assert fact not in clawmem("list", "--viewer", "clara").out
    assert clawmem("access", "mark", fact, "--kind", "health").out == f"{fact} is for clara; health\n"
    assert clawmem("access", "mark", fact).out == f"{fact} is for everybody\n"


def test_an_export_and_a_viewer_get_the_successor_that_they_may_see(clawmem: Clawmem, shared: tuple[str, str]) -> None:
    _, hidden = shared
    start = clawmem("log", "--json").data["history"][0]["commit"]

    def replaced(text: str) -> list[str]:
        old = clawmem("remember", "Lucia has a dog.", "-e", "areas/people/lucia", "--json").data["facts"][0]["id"]
        return [old, clawmem("supersede", old, text, "--json").data["facts"][0]["id"]]

    old, new = replaced("Lucia has a cat.")
    lines = map(json.loads, clawmem("export", "-", "--contract").out.splitlines())
    assert {line.get("id"): line.get("superseded_by") for line in lines}[old] == new
    assert "2. " in clawmem("why", old, "--viewer", "clara").out
    clawmem("access", "mark", new, "--kind", "health", "--about", "lucia")
    for name, shown in (("clara", False), ("alvarez", True)):
        assert ("has a dog" in clawmem("diff", start, "--viewer", name).out) is shown
    for words in (["export", "-", "--contract"], ["why", old, "--viewer", "clara"], ["show", old, "--viewer", "clara"]):
        found = clawmem(*words).out
        assert "dog" in found and new not in found and hidden not in found
    assert new in clawmem("why", old, "--viewer", "alvarez").out


def _say(clawmem: Clawmem, *rows: tuple[str, str, str], **more: object) -> None:
    lines = (
        {"role": role, "speaker": name, "content": text, "session": "two", "timestamp": "2026-11-20T12:00:00Z", **more}
        for role, name, text in rows
    )
    assert clawmem("ingest", "-", given="".join(json.dumps(line) + "\n" for line in lines)).code == 0


def _who_sees(clawmem: Clawmem, word: str) -> set[str]:
    return {name for name in ("lucia", "alvarez", "clara") if word in clawmem("recall", word, "--viewer", name).out}


def test_what_two_people_say_to_each_other_is_for_them(clawmem: Clawmem, shared: tuple[str, str]) -> None:
    """Also what was said before the other one answered, and what a bot says; no longer once a third one speaks."""
    _say(clawmem, ("user", "Lucia Gomez", "I planted zinnias."))
    assert _who_sees(clawmem, "zinnias") == {"lucia", "alvarez", "clara"}, "a talk of one is none"
    _say(clawmem, ("user", "Dr. Alvarez", "I grow begonias."), ("assistant", "Bot", "Begonias like shade: petunias."))
    assert all(_who_sees(clawmem, word) == {"lucia", "alvarez"} for word in ("zinnias", "begonias", "petunias"))
    _say(clawmem, ("user", "Lucia Gomez", "I planted zinnias."))
    assert "clara" not in _who_sees(clawmem, "zinnias"), "the same message again"
    _say(clawmem, ("assistant", "", "Sun is for dahlias."))
    assert _who_sees(clawmem, "dahlias") == {"lucia", "alvarez"}
    guess = {"role": "user", "speaker": "Clara", "content": "I like tulips.", "session": "two"}
    clawmem("ingest", "-", "--agent", "desk", given=json.dumps(guess) + "\n")
    assert _who_sees(clawmem, "zinnias") == {"lucia", "alvarez"}, "an agent that sees little opens nothing"
    _say(clawmem, ("user", "Lucia Gomez", "And asters."))
    assert _who_sees(clawmem, "asters") == {"lucia", "alvarez"}
    zinnias = clawmem("recall", "zinnias", "--json").data["events"][0]["id"]
    clawmem("access", "mark", zinnias, "--audience", "lucia")
    _say(clawmem, ("user", "Clara", "I like roses."))
    assert all(_who_sees(clawmem, word) == {"lucia", "alvarez", "clara"} for word in ("roses", "begonias", "petunias"))
    assert _who_sees(clawmem, "zinnias") == {"lucia"}, "a person decided it"


@pytest.mark.parametrize("order", [(0, 1, 2), (2, 0, 1), None])
def test_a_talk_of_three_is_for_everybody_in_whatever_order_it_comes(
    clawmem: Clawmem, shared: tuple[str, str], order: tuple[int, ...] | None
) -> None:
    rows = [("user", name, f"{name} grows zinnias.") for name in ("Lucia Gomez", "Dr. Alvarez", "Boss")]
    rows[2] = ("user", "boss", "Boss grows zinnias.")
    for part in [[rows[at]] for at in order] if order else [rows]:
        _say(clawmem, *part)
    found = clawmem("recall", "zinnias", "--in", "events", "--viewer", "clara", "--json").data["events"]
    assert len([row for row in found if "zinnias" in row["text"]]) == 3
    assert clawmem("doctor").code == 0


@pytest.mark.parametrize(
    "rows",
    [
        [("user", "Lucia Gomez", "I planted zinnias."), ("user", "Eve", "I see.")],
        [("user", "Lucia Gomez", "I planted zinnias."), ("assistant", "Bot", "I see.")],
        [("user", name, f"{name} planted zinnias.") for name in ("Lucia Gomez", "Dr. Alvarez", "Clara")],
    ],
    ids=["a stranger", "an assistant", "three"],
)
def test_other_conversations_are_for_everybody(
    clawmem: Clawmem, shared: tuple[str, str], rows: list[tuple[str, str, str]]
) -> None:
    _say(clawmem, *rows)
    assert "clara" in _who_sees(clawmem, "zinnias")


def test_a_source_that_names_an_audience_and_a_memory_without_a_policy_have_no_conversation_of_two(
    clawmem: Clawmem, shared: tuple[str, str], vault_root: Path
) -> None:
    two = [("user", "Lucia Gomez", "I planted zinnias."), ("user", "Dr. Alvarez", "Zinnias are fine.")]
    _say(clawmem, *two, channel="hall")
    assert _who_sees(clawmem, "zinnias") == {"lucia", "alvarez", "clara"}
    (vault_root / "governance/access.yaml").unlink()
    _say(clawmem, *two, session="private")
    ledger = (vault_root / "ledger/2026-11-20.jsonl").read_text()
    assert "participants" not in ledger and '"access_of"' not in ledger


def test_an_agent_that_writes_learns_nothing_of_what_it_may_not_see(
    clawmem: Clawmem, shared: tuple[str, str], tmp_path: Path
) -> None:
    """Neither a request to forget nor a message that was guessed says what is known."""
    row = {"role": "user", "timestamp": "2026-11-20T09:00:00Z", **_CHAT[0]}
    guesses = [json.dumps({**row, "content": f"The biopsy of Lucia showed {word}."}) for word in (SECRET, "measles")]
    said = [clawmem("ingest", "-", "--agent", "desk", "--json", given=guess + "\n") for guess in guesses]
    assert {**said[0].data, "commit": ""} == {**said[1].data, "commit": ""}
    assert said[0].data["days"] == ["2026-11-20"]
    assert all(each.data["commit"] for each in said)
    for word in ("measles", SECRET):
        assert clawmem("note", f"The user asked to forget the {word} of Lucia.", "--agent", "stranger").err == ""
    assert SECRET in clawmem("review", "list").out, "a person is asked all the same"


def test_an_agent_that_sees_little_works_on_a_task_in_a_session(clawmem: Clawmem, shared: tuple[str, str]) -> None:
    clawmem("task", "add", "Paint the gate")
    other = clawmem("session", "start", "--agent", "boss", "--json").data["session"]["id"]
    boss = ("--agent", "boss", "--session", other)
    assert clawmem("session", "note", f"Lucia has {SECRET}.", *boss).code == 0
    assert clawmem("session", "claim", "areas/people/lucia", *boss).code == 0
    assert "Paint the gate" in clawmem("task", "list", "--agent", "desk").out
    begun = clawmem("session", "start", "--agent", "desk", "--task", "paint-the-gate", "--json")
    assert begun.code == 0, begun.err
    assert begun.data["task"]["holder"] == "desk"
    session = ("--session", begun.data["session"]["id"])
    outputs = [
        begun.out,
        *(
            clawmem(*words, *session, "--agent", "desk").out
            for words in (
                ("session", "note", "The gate needs two coats."),
                ("task", "show", "paint-the-gate"),
                ("task", "submit", "paint-the-gate"),
                ("session", "end", "--summary", "Painted."),
            )
        ),
    ]
    assert all(SECRET not in out and "people/lucia" not in out for out in outputs)


def test_the_policy_is_shown_with_its_channels_and_an_export_counts_what_it_is_of(
    clawmem: Clawmem, shared: tuple[str, str], vault_root: Path, tmp_path: Path
) -> None:
    policy = vault_root / "governance/access.yaml"
    policy.write_text(policy.read_text() + "channels:\n  ward: [doctor]\n")
    assert "messages of ward are for doctor" in clawmem("access", "show").out
    clawmem("decision", "add", "Use lime for the walls.", "--why", "It breathes.")
    assert "left out" not in clawmem("decision", "export", str(tmp_path / "madr")).err
    (open_fact,) = clawmem("remember", "Lucia has a gate.", "--json").data["facts"]
    merged = clawmem("merge", shared[1], open_fact["id"], "--into", "Lucia has a gate and more.")
    assert f"not everybody may see the merged fact, and {open_fact['id']} was for everybody" in merged.err
    assert "left out: 2 facts" in clawmem("export", str(tmp_path / "all")).err
