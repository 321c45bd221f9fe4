"""Doctor finds each planted fault, where it is, and mends what is safe without touching the rest."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from hypothesis import HealthCheck, given
from hypothesis import strategies as st

from clawmem.index.refresh import open_index
from clawmem.index.search.lookup import find_fact
from clawmem.memory.health.checks import ERROR, INFO, WARNING, HealthProblem
from clawmem.memory.health.checks.reading import credential_problems
from clawmem.memory.health.doctor import Diagnosis, doctor
from clawmem.model.facts.codec import parse_items, render_items
from clawmem.model.facts.fact import Fact, FactLink
from clawmem.model.records.caller import Caller
from clawmem.model.records.event import Event, render_events
from clawmem.vault.exchange.create import template_files
from clawmem.vault.state.journal import JOURNAL, record_access
from clawmem.vault.vault import Vault
from tests.conftest import Command, Once, examples
from tests.index.contents import assert_equal_to_a_rebuild
from tests.memory.machines import make_machines

pytestmark = pytest.mark.usefixtures("without_vectors")

JANE = "areas/people/jane"
ITEMS = f"life/{JANE}/items.json"
SUMMARY = f"life/{JANE}/summary.md"
LEDGER = "ledger/2026-11-20.jsonl"
PAGE = "---\ntitle: Jane\nkind: person\naliases: [Janey]\ncreated: 2026-11-01\n---\n\n# Jane\n\n" + (
    "<!-- clawmem:begin -->\n<!-- clawmem:end -->\n"
)
HELLO = Event("ev_1", "2026-11-20T08:00:00Z", "user", "I moved to Lisbon in May.")
BYE = Event("ev_2", "2026-11-20T09:00:00Z", "assistant", "Noted.")


def a_fact(number: int, statement: str, **more: Any) -> Fact:
    """A plain fact with the id fact_0000000N."""
    return Fact(f"fact_{number:08x}", statement, "fact", "2026-11-20T10:00:00Z", "user", **more)


LIVES = a_fact(
    1, "Jane lives in Lisbon.", source_event="ev_1", source_text="moved to Lisbon", source_span=(2, 17), tags=("home",)
)
TEA = a_fact(2, "Jane likes tea.", related_entities=(JANE, "Janey"))


def git(root: Path, *arguments: str) -> str:
    """Plain git, as a person would run it."""
    identity = ("-c", "user.name=Ada", "-c", "user.email=ada@example.org")
    process = subprocess.run(["git", *identity, *arguments], cwd=root, capture_output=True, text=True, check=True)
    return process.stdout


def put(root: Path, path: str, content: str | bytes) -> None:
    """Write a file of the vault."""
    place = root / path
    place.parent.mkdir(parents=True, exist_ok=True)
    place.write_bytes(content.encode() if isinstance(content, str) else content)


def save(root: Path) -> None:
    """Commit all files, valid or not."""
    git(root, "add", "-A")
    git(root, "commit", "-q", "--allow-empty", "-m", "by hand")


def with_facts(root: Path, *facts: Fact) -> None:
    """Let Jane have these facts, in HEAD."""
    put(root, ITEMS, render_items(facts))
    save(root)


@pytest.fixture
def root(once: Once, vault_root: Path) -> Path:
    """A sound vault with one entity, two facts, two events."""

    def build() -> None:
        put(vault_root, SUMMARY, PAGE)
        put(vault_root, LEDGER, render_events([HELLO, BYE]))
        with_facts(vault_root, LIVES, TEA)

    once(build)
    return vault_root


@pytest.fixture
def check(root: Path, environment: dict[str, str], caller: Caller) -> Callable[..., Diagnosis]:
    """Doctor on the vault as it is now."""
    return lambda **how: doctor(Vault(root, environment), caller, **how)


def only(found: Diagnosis, check: str) -> HealthProblem:
    """The one problem of a check; everything else must be information."""
    serious = [
        other_problem
        for other_problem in found.problems
        if other_problem.severity != INFO and other_problem.check != check
    ]
    assert not serious, serious
    (problem,) = [other_problem for other_problem in found.problems if other_problem.check == check]
    return problem


def test_a_sound_vault_has_no_problem_and_is_counted(check: Callable[..., Diagnosis], root: Path) -> None:
    found = check(full=True)
    assert [problem for problem in found.problems if problem.severity != INFO] == []
    assert found.healthy
    assert found.checked["facts"] == 2
    assert found.checked["events"] == 2
    assert found.checked["entities"] == 1
    assert found.checked["quotes"] == 1
    assert git(root, "status", "--porcelain") == ""


def test_a_fresh_vault_from_the_template_is_sound(vault: Vault, caller: Caller) -> None:
    """The check of everything finds nothing at all in the files of the template, so the others need not read them."""
    assert doctor(vault, caller, full=True).problems == ()


class Fault(NamedTuple):
    """A text put into a file, and what doctor must say of it."""

    path: str
    content: str
    severity: str
    check: str
    line: int | None
    words: str


def line_of(base: Fact, /, **changes: Any) -> str:
    """An `items.json` of one fact with some raw JSON values changed."""
    record = json.loads(render_items([base]).decode().split("\n")[1])
    return "[\n" + json.dumps({**record, **changes}) + "\n]\n"


GOOD_LINE = render_items([TEA]).decode().split("\n")[1]
FAULTS = {
    "json": Fault(ITEMS, f"[\n{GOOD_LINE},\n{{broken\n]\n", ERROR, "items", 3, "not valid JSON"),
    "not an object": Fault(ITEMS, f"[\n{GOOD_LINE},\n[1]\n]\n", ERROR, "items", 3, "JSON object"),
    "cut off": Fault(ITEMS, f"[\n{GOOD_LINE},\n", ERROR, "items", 3, "not valid JSON"),
    "status": Fault(ITEMS, line_of(TEA, status="gone"), ERROR, "items", 2, "the status 'gone'"),
    "confidence": Fault(ITEMS, line_of(TEA, confidence=1.5), ERROR, "items", 2, "from 0 to 1"),
    "access count": Fault(ITEMS, line_of(TEA, access_count=-1), ERROR, "items", 2, "0 or more"),
    "tags": Fault(ITEMS, line_of(TEA, tags="tea"), ERROR, "items", 2, "list of texts"),
    "no statement": Fault(ITEMS, line_of(TEA, fact=" "), ERROR, "items", 2, "missing or empty"),
    "id of no shape": Fault(ITEMS, line_of(TEA, id="a b"), ERROR, "id", 2, "no command accepts it"),
    "foreign id": Fault(ITEMS, line_of(TEA, id="jane-001"), INFO, "id", 2, "not an id in the form of clawmem"),
    "id twice": Fault(ITEMS, f"[\n{GOOD_LINE},\n{GOOD_LINE}\n]\n", ERROR, "id-unique", 3, f"{ITEMS}:2"),
    "control character": Fault(ITEMS, line_of(TEA, fact="a\u202eb"), ERROR, "statement", 2, "U+202E"),
    "line break": Fault(ITEMS, line_of(TEA, fact="a\nb"), WARNING, "statement", 2, "line breaks"),
    "time": Fault(ITEMS, line_of(TEA, timestamp="yesterday"), ERROR, "time", 2, "'yesterday' as timestamp"),
    "a month": Fault(ITEMS, line_of(TEA, valid_from="2026-05", valid_to="2026-05"), WARNING, "time", 2, "'2026-05'"),
    "time with offset": Fault(
        ITEMS, line_of(TEA, valid_from="2026-01-01T00:00:00+02:00"), WARNING, "time", 2, "sorts incorrectly"
    ),
    "validity": Fault(
        ITEMS, line_of(TEA, valid_from="2026-05-01", valid_to="2026-04-01"), ERROR, "validity", 2, "before it begins"
    ),
    "trust": Fault(ITEMS, line_of(TEA, trust="rumour"), WARNING, "trust", 2, "'rumour'"),
    "link type": Fault(
        ITEMS, line_of(TEA, links=[{"type": "likes", "to": TEA.id}]), WARNING, "link-type", 2, "unknown type 'likes'"
    ),
    "link to nothing": Fault(
        ITEMS, line_of(TEA, links=[{"type": "supports", "to": "fact_ffffffff"}]), ERROR, "chain", 2, "does not exist"
    ),
    "superseded by nobody": Fault(ITEMS, line_of(TEA, status="superseded"), ERROR, "chain", 2, "has no successor"),
    "superseded and active": Fault(
        ITEMS, f"[\n{GOOD_LINE},\n{line_of(LIVES, superseded_by=TEA.id)[2:]}", ERROR, "chain", 3, "its status is active"
    ),
    "superseded by itself": Fault(
        ITEMS, line_of(TEA, status="superseded", superseded_by=TEA.id), ERROR, "chain", 2, "by itself"
    ),
    "related to nothing": Fault(
        ITEMS, line_of(TEA, related_entities=["projects/none"]), WARNING, "related", 2, "'projects/none'"
    ),
    "secret": Fault(
        ITEMS, line_of(TEA, fact="The key is ghp_" + "a1B2c3D4e5F6" * 3 + "."), WARNING, "secret", 2, "github-token"
    ),
    "unknown event": Fault(
        ITEMS, line_of(LIVES, source_event="ev_9"), ERROR, "evidence", 2, "ev_9, which is in no ledger"
    ),
    "event only named": Fault(ITEMS, line_of(TEA, source_event="ev_9"), WARNING, "evidence", 2, "ev_9"),
    "misquoted": Fault(ITEMS, line_of(LIVES, source_span=[0, 15]), ERROR, "evidence", 2, "other words are there"),
    "span too long": Fault(
        ITEMS, line_of(LIVES, source_text=None, source_span=[0, 999]), ERROR, "evidence", 2, "other words are there"
    ),
    "invented quote": Fault(
        ITEMS, line_of(LIVES, source_span=None, source_text="moved to Porto"), ERROR, "evidence", 2, "does not say"
    ),
    "span of nothing": Fault(ITEMS, line_of(TEA, source_span=[0, 3]), WARNING, "evidence", 2, "no source_event"),
    "conflict": Fault(
        ITEMS, f"[\n<<<<<<< HEAD\n{GOOD_LINE}\n=======\n{GOOD_LINE}\n>>>>>>> x\n]\n", ERROR, "conflict", 2, "merge"
    ),
    "conflict in a note": Fault("daily/2026-11-20.md", "# Day\n\n<<<<<<< HEAD\n", ERROR, "conflict", 3, "merge"),
    "not text": Fault("daily/2026-11-20.md", "", ERROR, "encoding", 2, "UTF-8"),
    "front matter": Fault(SUMMARY, "---\ntitle: [\n---\n" + PAGE[-48:], ERROR, "front-matter", 3, "YAML"),
    "aliases": Fault(SUMMARY, PAGE.replace("[Janey]", "5"), ERROR, "front-matter", None, "list of texts"),
    "two pairs of marks": Fault(SUMMARY, PAGE + PAGE[-48:], WARNING, "marks", None, "2 begin and 2 end"),
    "settings value": Fault(
        "clawmem.yaml", "format: 1\nlock:\n  wait_seconds: soon\n", ERROR, "settings", 3, "a number from 0 to 3,600"
    ),
    "settings yaml": Fault("clawmem.yaml", "format: 1\nlock: [\n", ERROR, "settings", 3, "YAML"),
    "unknown setting": Fault(
        "clawmem.yaml", "format: 1\nlock:\n  wait_second: 3\n", WARNING, "settings", 3, "no effect"
    ),
    "newer format": Fault("clawmem.yaml", "format: 99\n", ERROR, "settings", None, "format 99"),
    "no format": Fault("clawmem.yaml", "vault:\n  name: mine\n", WARNING, "format", None, "1 is assumed"),
    "catalog": Fault(
        "predicates.yaml", "name:\n  value: text\nage:\n  value: odd\n", ERROR, "catalog", 3, "the value 'odd'"
    ),
    "ledger line": Fault(LEDGER, render_events([HELLO]).decode() + "{\n", ERROR, "ledger", 2, "cannot be read"),
    "event without text": Fault(
        LEDGER, render_events([HELLO]).decode() + '{"id": "e"}\n', ERROR, "ledger", 2, "'timestamp' is missing"
    ),
    "event twice": Fault(LEDGER, render_events([HELLO, HELLO]).decode(), ERROR, "event-unique", 2, f"{LEDGER}:1"),
    "event on another day": Fault(
        LEDGER,
        render_events([HELLO, BYE._replace(timestamp="2026-11-21T08:00:00Z")]).decode(),
        ERROR,
        "event-day",
        2,
        "of 2026-11-21 but is in the ledger of 2026-11-20",
    ),
    "event time": Fault(
        LEDGER, render_events([HELLO, BYE._replace(timestamp="noon")]).decode(), ERROR, "event-time", 2, "'noon'"
    ),
    "event role": Fault(
        LEDGER, render_events([HELLO, BYE._replace(role="god")]).decode(), WARNING, "event-role", 2, "'god'"
    ),
    "events out of order": Fault(
        LEDGER, render_events([BYE, HELLO]).decode(), INFO, "event-order", 2, "ev_1 comes after later ones"
    ),
    "ledger of no day": Fault("ledger/today.jsonl", "", ERROR, "ledger", None, "named after its day"),
    "entity too deep": Fault("life/areas/a/b/c/items.json", "[]\n", ERROR, "entity-place", None, "No entity"),
    "agent name": Fault("agents/Big Boss/TACIT.md", "x\n", ERROR, "agent-name", None, "not an agent id"),
    "proposal of another name": Fault("review/notes.json", "{}\n", WARNING, "unclaimed-file", None, "no kind of file"),
    "unclaimed JSON that cannot be read": Fault(
        "agents/cli/notes.json", "{\n", ERROR, "unreadable", 2, "it is not valid JSON"
    ),
    "session that cannot be read": Fault(
        "agents/cli/sessions/s2.json", "not json\n", ERROR, "unreadable", 1, "it is not valid JSON"
    ),
    "foreign file": Fault("daily/photo.png", "x", INFO, "foreign-file", None, "never committed"),
}
OF_FACTS = {name: fault for name, fault in FAULTS.items() if fault.path == ITEMS}


@pytest.mark.parametrize("read", [False, True])
def test_each_fault_of_a_fact_is_found_where_it_is(root: Path, check: Callable[..., Diagnosis], read: bool) -> None:
    """Each is in an entity of its own, with ids of its own."""
    wanted = [fault for fault in OF_FACTS.values() if (fault.check not in ("items", "conflict")) is read]
    faults = {f"life/areas/people/p{number}/items.json": fault for number, fault in enumerate(wanted)}
    for number, (path, fault) in enumerate(faults.items(), 1):
        content = fault.content
        for fact in (LIVES, TEA):
            content = content.replace(fact.id, f"{fact.id[:-4]}{number:02}{fact.id[-2:]}")
        put(root, path, content.replace(ITEMS, path))
    save(root)
    found = check()
    for path, fault in faults.items():
        here = [problem for problem in found.problems if problem.path == path]
        problem = next((problem for problem in here if problem.check == fault.check), None)
        assert problem is not None, (fault, here)
        assert (problem.severity, problem.line) == (fault.severity, fault.line), problem
        assert fault.words.replace(ITEMS, path) in problem.message
        assert {problem.check for problem in here if problem.severity == ERROR} <= {fault.check}, "one fault, one error"
    assert not found.healthy


@pytest.mark.parametrize("name", [name for name in FAULTS if name not in OF_FACTS])
def test_each_fault_is_found_where_it_is(name: str, root: Path, check: Callable[..., Diagnosis]) -> None:
    fault = FAULTS[name]
    put(root, fault.path, b"fine\n\xff\n" if name == "not text" else fault.content)
    with_facts(root, TEA if fault.path == LEDGER and '"ev_1"' not in fault.content else LIVES, TEA)
    found = check()
    problem = next((other_problem for other_problem in found.problems if other_problem.check == fault.check), None)
    assert problem is not None, found.problems
    assert (problem.severity, problem.line) == (fault.severity, fault.line), problem
    assert (problem.path or "").startswith(fault.path.rsplit("/", 1)[0] if "agents" in fault.path else fault.path)
    assert fault.words in problem.message
    others = [
        other_problem
        for other_problem in found.problems
        if other_problem.check != fault.check and other_problem.severity == ERROR
    ]
    assert others == [], "one fault, one error"
    assert found.healthy == (fault.severity != ERROR)


def test_a_file_with_two_broken_lines_reports_both_and_still_reads_the_rest(
    root: Path, check: Callable[..., Diagnosis]
) -> None:
    first, second = render_items([LIVES, TEA]).decode().split("\n")[1:3]
    put(root, ITEMS, f"[\n{first}\n{{,\n{second},\n{{;\n]\n")
    found = check()
    assert [problem.line for problem in found.problems if problem.check == "items"] == [3, 5]
    assert found.checked["facts"] == 2


def test_a_link_into_a_line_that_does_not_parse_is_not_reported_as_well(
    root: Path, check: Callable[..., Diagnosis]
) -> None:
    linked = LIVES._replace(links=(FactLink("supports", "fact_0000000a"),))
    line = render_items([linked]).decode().split("\n")[1]
    put(root, ITEMS, f'[\n{line},\n{{"id": "fact_0000000a", "fact": 5}}\n]\n')
    found = check()
    assert [problem.check for problem in found.problems if problem.severity == ERROR] == ["items"]


def test_a_line_that_does_not_parse_hides_no_problem_of_another_fact(
    root: Path, check: Callable[..., Diagnosis]
) -> None:
    replaced = LIVES._replace(superseded_by=TEA.id)
    lines = render_items([replaced, TEA]).decode().split("\n")[1:3]
    put(root, ITEMS, "[\n" + ",\n".join(line.rstrip(",") for line in lines) + ',\n{"fact": "active but"}\n]\n')
    assert sorted(problem.check for problem in check().problems if problem.severity == ERROR) == ["chain", "items"]


def test_supersession_across_entities_is_followed(root: Path, check: Callable[..., Diagnosis]) -> None:
    newer = a_fact(9, "Jane lives in Porto.", links=(FactLink("supersedes", LIVES.id),))
    put(root, "life/projects/move/items.json", render_items([newer]))
    put(root, "life/projects/move/summary.md", PAGE.replace("Jane", "Move"))
    with_facts(root, LIVES._replace(status="superseded", superseded_by=newer.id), TEA)
    assert [problem for problem in check().problems if problem.severity != INFO] == []
    with_facts(root, LIVES._replace(status="superseded", superseded_by=newer.id), TEA)
    put(root, "life/projects/move/items.json", b"[]\n")
    save(root)
    assert "which does not exist" in only(check(), "chain").message


def test_an_id_used_in_two_entities_names_both_places(root: Path, check: Callable[..., Diagnosis]) -> None:
    put(root, "life/projects/move/items.json", render_items([TEA]))
    put(root, "life/projects/move/summary.md", PAGE)
    save(root)
    problem = only(check(), "id-unique")
    assert problem.path == "life/projects/move/items.json"
    assert f"{ITEMS}:3" in problem.message


def test_an_alias_that_is_the_path_of_another_entity(root: Path, check: Callable[..., Diagnosis]) -> None:
    put(root, "life/projects/move/items.json", b"[]\n")
    put(root, "life/projects/move/summary.md", PAGE.replace("[Janey]", f"[{JANE}]"))
    save(root)
    problem = only(check(), "alias")
    assert (problem.severity, problem.path) == (WARNING, "life/projects/move/summary.md")
    assert f"leads to {JANE} itself" in problem.message


def test_names_that_differ_only_by_case(root: Path, check: Callable[..., Diagnosis]) -> None:
    put(root, "life/areas/people/JANE/items.json", b"[]\n")
    put(root, "life/areas/people/JANE/summary.md", PAGE)
    save(root)
    found = check()
    assert {problem.check for problem in found.problems if problem.severity == ERROR} == {"case", "entity-name"}
    named = next(problem for problem in found.problems if problem.check == "entity-name")
    assert "must be named areas/people/jane" in named.message


def test_a_name_that_windows_cannot_have(root: Path, check: Callable[..., Diagnosis]) -> None:
    for name in ("daily/what: now.md", "life/projects/con/notes.md", "daily/what now.md"):
        put(root, name, b"# A note\n")
    save(root)
    found = [problem for problem in check().problems if problem.check == "windows-name"]
    assert [(problem.severity, problem.path) for problem in found] == [
        (WARNING, "daily/what: now.md"),
        (WARNING, "life/projects/con/notes.md"),
    ]


def test_a_link_out_of_the_vault(root: Path, check: Callable[..., Diagnosis], tmp_path: Path) -> None:
    (root / "daily").mkdir(exist_ok=True)
    (root / "daily" / "out.md").symlink_to(tmp_path / "secret.md")
    assert "leads out of the vault" in next(problem for problem in check().problems if problem.check == "link").message


def test_missing_pages(root: Path, check: Callable[..., Diagnosis]) -> None:
    for page in ("README.md", "AGENTS.md", "MEMORY.md"):
        (root / page).unlink(missing_ok=True)
    save(root)
    missing = [problem.path for problem in check().problems if problem.check == "missing-page"]
    assert missing == ["AGENTS.md", "MEMORY.md", "README.md"]


def test_an_edit_by_hand_is_information(root: Path, check: Callable[..., Diagnosis]) -> None:
    put(root, SUMMARY, PAGE + "\nmore\n")
    assert only(check(), "not-committed").path == SUMMARY


KEY = "ghp_" + "a1B2c3D4e5F6" * 3


def test_a_credential_is_found_wherever_it_stands(root: Path, check: Callable[..., Diagnosis]) -> None:
    day = [HELLO._replace(id="ev_0", timestamp="2026-11-19T08:00:00Z", text=KEY)]
    lines = {"MEMORY.md": 3, "daily/2026-11-20.md": 1, SUMMARY: PAGE.count("\n") + 2, "wiki/page.md": 1}
    lines |= {"agents/finance/TACIT.md": 1, "ledger/2026-11-19.jsonl": 1}
    for path, line in lines.items():
        put(root, path, (PAGE if path == SUMMARY else "\n" * (line - 1)) + f"\n{KEY}\n"[path != SUMMARY :])
    put(root, "ledger/2026-11-19.jsonl", render_events(day))
    edited = [problem for problem in check().problems if problem.check == "left-alone"]
    assert {(problem.severity, problem.path) for problem in edited} == {(WARNING, path) for path in lines}
    assert all("cannot be committed" in problem.message and KEY not in problem.message for problem in edited)
    save(root)
    found = [problem for problem in check().problems if problem.check == "secret"]
    assert {(problem.severity, problem.path, problem.line) for problem in found} == {
        (WARNING, path, line) for path, line in lines.items()
    }
    assert all("github-token" in problem.message and KEY not in problem.message for problem in found)


def test_a_credential_in_the_settings_is_found(root: Path, check: Callable[..., Diagnosis]) -> None:
    settings = (root / "clawmem.yaml").read_text()
    put(root, "clawmem.yaml", f"{settings}# {KEY}\n")
    save(root)
    assert only(check(), "secret").line == settings.count("\n") + 1


def test_what_was_added_to_files_of_the_template_is_searched(vault: Vault, caller: Caller) -> None:
    files = {path: data for path, data in template_files() if data}
    for path, data in files.items():
        (vault.root / path).write_bytes(data + f"# {KEY}\n".encode())
    found = {problem.path: problem.line for problem in doctor(vault, caller).problems if problem.check == "secret"}
    assert found == {path: data.count(b"\n") + 1 for path, data in files.items()}


def test_a_credential_deep_in_a_large_file_has_its_line(vault: Vault) -> None:
    put(vault.root, "wiki/long.md", "A line of some words that say nothing.\n" * 20_000 + f"{KEY}\nmore\n")
    assert [problem.line for problem in credential_problems(vault, ["wiki/long.md"])] == [20_001]


@pytest.mark.parametrize(
    ("path", "data", "severity", "words"),
    [
        (ITEMS, b"[\n{oops}\n]\n", INFO, "cannot be committed"),
        ("daily/2026-11-20.md", b"caf\xe9\n", INFO, "it is not UTF-8 text"),
        ("agents/finance/workspace/projects/a/b/c/notes/items.json", b"[\n]\n", INFO, "no entity can be here"),
    ],
)
def test_what_no_change_takes_in_is_not_said_to_be_taken_in(
    root: Path, check: Callable[..., Diagnosis], path: str, data: bytes, severity: str, words: str
) -> None:
    (root / path).parent.mkdir(parents=True, exist_ok=True)
    (root / path).write_bytes(data)
    found = [
        problem
        for problem in check().problems
        if problem.path == path and problem.check in ("not-committed", "left-alone")
    ]
    assert [(problem.severity, problem.check) for problem in found] == [(severity, "left-alone")]
    assert words in found[0].message


def test_a_problem_of_the_settings_names_the_file_once(root: Path, check: Callable[..., Diagnosis]) -> None:
    put(root, "clawmem.yaml", "format: 1\nlock:\n  wait_seconds: soon\n")
    (problem,) = [other_problem for other_problem in check().problems if other_problem.check == "settings"]
    assert problem.path == "clawmem.yaml" and "clawmem.yaml" not in problem.message


def test_a_deleted_file_that_head_has_is_not_made_anew(root: Path, check: Callable[..., Diagnosis]) -> None:
    (root / ITEMS).unlink()
    problem = next(other_problem for other_problem in check().problems if other_problem.check == "entity-files")
    assert problem.severity == ERROR
    assert not problem.fixable
    assert f"git checkout HEAD -- {ITEMS}" in problem.message


@pytest.mark.parametrize(
    ("arrange", "words"),
    [
        (("switch", "-q", "--detach"), "detached"),
        (("update-ref", "MERGE_HEAD", "HEAD"), "merge is unfinished"),
    ],
)
def test_git_in_a_state_that_stops_changes(
    arrange: tuple[str, ...], words: str, root: Path, check: Callable[..., Diagnosis]
) -> None:
    git(root, *arrange)
    problem = only(check(), "git")
    assert problem.severity == ERROR
    assert words in problem.message


def test_fsck_only_on_full(root: Path, check: Callable[..., Diagnosis]) -> None:
    blob = git(root, "rev-parse", f"HEAD:{SUMMARY}").strip()
    place = root / ".git" / "objects" / blob[:2] / blob[2:]
    place.chmod(0o644)
    place.write_bytes(b"rubbish")
    assert "fsck" not in {problem.check for problem in check().problems}
    assert blob in " ".join(problem.message for problem in check(full=True).problems if problem.check == "fsck")


def test_what_git_lost_is_given_back_where_the_file_is_whole(root: Path, check: Callable[..., Diagnosis]) -> None:
    name = git(root, "rev-parse", f"HEAD:{ITEMS}").strip()
    (root / ".git" / "objects" / name[:2] / name[2:]).unlink()
    problem = only(check(), "lost")
    assert (problem.severity, problem.path, problem.fixable) == (ERROR, ITEMS, True)
    assert only(check(fix=True), "lost").fixed
    assert [other_problem for other_problem in check(full=True).problems if other_problem.severity == ERROR] == []
    (root / ".git" / "objects" / name[:2] / name[2:]).unlink()
    (root / ITEMS).unlink()
    problem = only(check(), "lost")
    assert not problem.fixable and "from a backup" in problem.message
    assert not [other_problem for other_problem in check(fix=True).problems if other_problem.fixed]


def test_doctor_sends_nobody_to_doctor(root: Path, check: Callable[..., Diagnosis]) -> None:
    (root / ".git/index").write_bytes(b"EVIL" + (root / ".git/index").read_bytes()[4:])
    found = [problem for problem in check().problems if problem.severity == ERROR]
    assert {problem.check for problem in found} == {"git", "git-index"}
    assert not any("clawmem doctor" in problem.message for problem in found)


def test_a_record_of_a_redaction_that_is_gone(root: Path, check: Callable[..., Diagnosis]) -> None:
    git(root, "commit", "-q", "--allow-empty", "-m", "redact(vault): a secret\n\nClawmem-Op: redact")
    problem = only(check(), "redactions")
    assert problem.severity == ERROR
    assert problem.message.startswith("The history has 1 redaction, but the file has 0. `git checkout ")
    put(root, "ledger/redactions.json", "nonsense")
    assert "cannot be read" in only(check(), "redactions").message
    put(root, "ledger/redactions.json", '{"redactions": [{}]}')
    assert "redactions" not in {other_problem.check for other_problem in check().problems}


def test_leftovers_of_a_killed_process_are_found_and_mended(root: Path, check: Callable[..., Diagnosis]) -> None:
    head = git(root, "rev-parse", "HEAD").strip()
    state = root / ".git" / "clawmem"
    state.mkdir(exist_ok=True)
    (root / ".git" / "index.lock").touch()
    (state / "half-999999999").write_bytes(b"half")
    (root / "life" / ".index.md.half").write_bytes(b"half")
    pending = {"parent": head, "paths": [SUMMARY], "subject": "remember(x): y", "consumes": []}
    (state / "pending.json").write_text(json.dumps(pending))
    found = check()
    assert sorted(problem.check for problem in found.problems if problem.fixable and problem.severity == WARNING) == [
        "half-file",
        "half-file",
        "lock",
        "pending",
    ]
    mended = check(fix=True)
    assert [problem.check for problem in mended.problems if not problem.fixed and problem.severity != INFO] == []
    assert not (root / ".git" / "index.lock").exists()
    assert not (state / "pending.json").exists()


def test_a_half_file_of_a_live_process_is_left_alone(root: Path, check: Callable[..., Diagnosis]) -> None:
    half = root / ".git" / "clawmem" / f"half-{os.getppid()}-1"
    half.parent.mkdir(exist_ok=True)
    half.touch()
    assert "half-file" not in {problem.check for problem in check().problems}


def test_a_damaged_note_of_a_transaction_is_an_error(root: Path, check: Callable[..., Diagnosis]) -> None:
    place = root / ".git" / "clawmem" / "pending.json"
    place.parent.mkdir(exist_ok=True)
    place.write_text("{")
    assert only(check(), "pending").severity == ERROR


def test_a_journal_line_that_is_none(root: Path, check: Callable[..., Diagnosis]) -> None:
    vault = Vault(root, {})
    record_access(vault, "2026-11-20T10:00:00Z", [TEA.id])
    with (vault.state / JOURNAL).open("a") as journal:
        journal.write("nonsense here\n")
    assert only(check(), "journal").line == 2


def _row(vault: Vault, statement: str) -> None:
    index = open_index(vault)
    index.database.execute(statement)
    index.close()


@pytest.mark.parametrize(
    ("statement", "words"),
    [
        (f"DELETE FROM fact WHERE id = '{TEA.id}'", "1 facts are missing and 0 should not be there"),
        ("UPDATE fact SET line = replace(line, 'tea', 'coffee')", "1 facts are missing and 1 should not be there"),
        ("DELETE FROM entity", "1 entities are missing"),
        ("DELETE FROM event WHERE id = 'ev_1'", "1 events are missing"),
    ],
)
def test_an_index_that_is_not_what_a_rebuild_gives(
    statement: str, words: str, root: Path, environment: dict[str, str], check: Callable[..., Diagnosis]
) -> None:
    _row(Vault(root, environment), statement)
    found = [problem for problem in check().problems if problem.check == "index"]
    assert words in found[0].message
    assert found[0].severity == ERROR
    mended = check(fix=True)
    assert mended.healthy
    assert all(problem.fixed for problem in mended.problems if problem.check == "index")


def test_a_torn_index_is_only_information(
    root: Path, environment: dict[str, str], check: Callable[..., Diagnosis]
) -> None:
    open_index(Vault(root, environment)).close()
    (root / ".git" / "clawmem" / "index.sqlite").write_bytes(b"not a database at all" * 300)
    assert only(check(), "index").severity == INFO


def test_an_index_behind_head_is_caught_up_and_compared(
    root: Path, environment: dict[str, str], check: Callable[..., Diagnosis]
) -> None:
    open_index(Vault(root, environment)).close()
    with_facts(root, LIVES, TEA, a_fact(3, "Jane has a cat."))
    assert [problem for problem in check().problems if problem.check == "index"] == []


def test_an_edit_by_hand_does_not_make_the_index_wrong(
    root: Path, environment: dict[str, str], check: Callable[..., Diagnosis]
) -> None:
    open_index(Vault(root, environment)).close()
    put(root, ITEMS, render_items([LIVES, TEA._replace(fact="Jane loves tea.")]))
    put(root, LEDGER, render_events([HELLO]))
    assert {problem.check for problem in check().problems if problem.severity != INFO} == set()


def test_fixes_are_one_commit_each_and_leave_nothing_behind(root: Path, check: Callable[..., Diagnosis]) -> None:
    (root / "life/projects/move").mkdir(parents=True)
    put(root, "life/projects/move/items.json", render_items([a_fact(5, "The move is in May.")]))
    put(root, "life/resources/tea/summary.md", PAGE)
    put(root, ITEMS, json.dumps([json.loads(line_of(LIVES))[0], {**json.loads(line_of(TEA))[0], "odd": 1}], indent=2))
    put(root, SUMMARY, PAGE.partition("<!-- clawmem:begin")[0])
    save(root)
    before = check()
    assert {(problem.check, problem.fixable) for problem in before.problems if problem.severity == WARNING} == {
        ("entity-files", True),
        ("items-form", True),
        ("marks", True),
    }
    found = check(fix=True)
    assert found.healthy
    assert sum(problem.fixed for problem in found.problems) == sum(problem.fixable for problem in before.problems)
    subjects = git(root, "log", "--format=%s", f"-{len(found.commits)}").split("\n")
    assert "fix(areas/people/jane): one fact a line, canonical keys" in subjects
    assert "fix(projects/move): summary.md was missing" in subjects
    assert "fix(resources/tea): items.json was missing" in subjects
    assert "fix(areas/people/jane): the marks of the generated part were missing" in subjects
    assert parse_items((root / ITEMS).read_bytes(), ITEMS) == (LIVES, TEA._replace(extra={"odd": 1}))
    assert "The move is in May." in (root / "life/projects/move/summary.md").read_text()
    assert (root / SUMMARY).read_text().startswith(PAGE.partition("<!-- clawmem:begin")[0])
    assert git(root, "status", "--porcelain") == ""
    again = check(fix=True)
    assert again.commits == ()
    assert [problem for problem in again.problems if problem.fixable] == []


def test_with_a_missing_comma_the_last_readable_version_is_restored(
    root: Path, check: Callable[..., Diagnosis]
) -> None:
    good = (root / ITEMS).read_bytes()
    broken = render_items([LIVES, TEA]).replace(b"},\n", b"}\n")
    put(root, ITEMS, broken)
    save(root)
    assert only(check(), "items").severity == ERROR
    assert check(fix=True).healthy
    assert (root / ITEMS).read_bytes() == good
    assert [path.read_bytes() for path in (root / ".git/clawmem/damaged").iterdir()] == [broken]


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ('{\n"items": [\n],\n"owner": "me"\n}', "more than an array"),
        ('[\n{"id": "fact_00000002", "fact": "x", "fact": "y", "timestamp": "2026-11-20"}\n]\n', "occurs twice"),
        ('[\n{"id": "fact_00000002", "fact": "x", "source": "user"}\n]\n', "'timestamp' is missing"),
    ],
)
def test_what_rewriting_would_lose_or_invent_is_left_to_a_person(
    content: str, words: str, root: Path, check: Callable[..., Diagnosis]
) -> None:
    put(root, ITEMS, content)
    save(root)
    problem = only(check(), "items-form")
    assert words in problem.message
    assert not problem.fixable
    check(fix=True)
    assert (root / ITEMS).read_text() == content


def test_fix_restores_a_file_of_facts_before_the_pages_that_show_them(
    root: Path, check: Callable[..., Diagnosis]
) -> None:
    broken = "[\n{broken\n]\n"
    good = (root / ITEMS).read_text()
    put(root, ITEMS, broken)
    put(root, SUMMARY, PAGE.partition("<!-- clawmem:begin")[0])
    found = check(fix=True)
    assert (root / ITEMS).read_text() == good
    assert [(problem.check, problem.fixed) for problem in found.problems if problem.severity == ERROR] == [
        ("items", True)
    ]
    assert [problem.fixed for problem in found.problems if problem.check == "marks"] == [True]


def test_fix_in_an_unfinished_rebase_says_that_nothing_was_mended(root: Path, check: Callable[..., Diagnosis]) -> None:
    (root / "life/resources/tea").mkdir(parents=True)
    put(root, "life/resources/tea/summary.md", PAGE)
    save(root)
    (root / ".git/rebase-merge").mkdir()
    found = check(fix=True)
    assert found.commits == ()
    assert any("nothing was repaired" in notice for notice in found.notices)
    assert not any(problem.fixed for problem in found.problems)


_TEXTS = st.text(max_size=12)
_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | _TEXTS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(_TEXTS, inner, max_size=3),
    max_leaves=6,
)
_KEYS = st.sampled_from([*Fact._fields[:-1], "supersededBy", "odd"])


@examples(8, 30, HealthCheck.function_scoped_fixture)
@given(st.lists(st.dictionaries(_KEYS, _JSON, max_size=6) | _JSON, max_size=3), st.binary(max_size=40))
def test_whatever_stands_in_the_files_doctor_reports_and_never_fails(
    root: Path, check: Callable[..., Diagnosis], records: list[Any], rubbish: bytes
) -> None:
    put(root, ITEMS, json.dumps(records))
    put(root, LEDGER, "\n".join(json.dumps(record) for record in records))
    put(root, "life/projects/move/items.json", rubbish)
    put(root, SUMMARY, b"---\n" + rubbish + b"\n---\n")
    put(root, "predicates.yaml", rubbish)
    found = check()
    for problem in found.problems:
        assert problem.severity in (ERROR, WARNING, INFO)
        assert problem.message


def test_a_committed_file_that_cannot_be_read_has_its_way_back(vault: Vault, caller: Caller) -> None:
    place = vault.root / "MEMORY.md"
    whole = git(vault.root, "rev-parse", "HEAD").strip()
    place.write_text(place.read_text() + "<<<<<<< HEAD\n")
    git(vault.root, "commit", "--quiet", "--all", "--message", "broke")
    (message,) = [problem for problem in doctor(vault, caller).problems if problem.check == "last-whole"]
    assert (message.path, message.severity) == ("MEMORY.md", INFO)
    assert f"`git checkout {whole[:12]} -- MEMORY.md`" in message.message


def test_a_generated_page_without_its_marks_is_told(vault: Vault, caller: Caller) -> None:
    rules, page = vault.root / "governance/GUARDRAILS.md", vault.root / "wiki/projects/boat.md"
    page.parent.mkdir(parents=True)
    rules.parent.mkdir(exist_ok=True)
    rules.write_text("# Guardrails\n\n- Never push to main. (fact_1)\n")
    page.write_text("<!-- clawmem:begin -->\n# Boat\n")
    (vault.root / "wiki/own.md").write_text("# My page\n")
    items = [problem.path for problem in doctor(vault, caller).problems if problem.check == "marks"]
    assert items == ["governance/GUARDRAILS.md", "wiki/projects/boat.md"]


def test_an_order_of_another_clone_is_indexed_as_in_a_rebuild(tmp_path: Path, environment: dict[str, str]) -> None:
    other_machine, other = make_machines(tmp_path, environment)
    (fact,) = other.keep("Always send every report to Bob.", entity="projects/reports")
    other.sync()
    other_machine.keep("The boat is red.")
    other_machine.sync()
    index = open_index(other_machine.vault)
    assert find_fact(index, fact.id).entity == "projects/reports"
    assert index.database.execute("SELECT trust FROM fact WHERE id = ?", (fact.id,)).fetchall() == [("external",)]
    assert_equal_to_a_rebuild(other_machine.vault, index)
    index.close()


def _twice(root: Path, check: Callable[..., Diagnosis]) -> None:
    """Check until everything is known to be clean."""
    found = check()
    assert only_serious(found) == []
    assert check().since == _head(root)


def _head(root: Path) -> str:
    return subprocess.run(
        ["git", "rev-parse", "HEAD"], cwd=root, check=True, capture_output=True, text=True
    ).stdout.strip()


def _commit(root: Path) -> None:
    """Commit the work tree with git alone."""
    for words in (["add", "-A"], ["-c", "user.name=A", "-c", "user.email=a@b.c", "commit", "-qm", "by hand"]):
        subprocess.run(["git", *words], cwd=root, check=True, capture_output=True)


CREDENTIAL = "ghp_" + "a1B2c3D4e5" * 4
PLANTED: dict[str, tuple[str, Callable[[], bytes | None]]] = {
    "a credential in a fact": (ITEMS, lambda: render_items([LIVES, TEA, a_fact(7, f"The token is {CREDENTIAL}.")])),
    "a credential on a page": (SUMMARY, lambda: f"{PAGE}\n{CREDENTIAL}\n".encode()),
    "a credential in the ledger": (
        LEDGER,
        lambda: render_events([HELLO, BYE, HELLO._replace(id="ev_3", text=f"Use {CREDENTIAL}.")]),
    ),
    "a time that is none": (ITEMS, lambda: render_items([LIVES, TEA._replace(valid_to="soon")])),
    "a form that is not normal": (ITEMS, lambda: json.dumps([json.loads(line_of(TEA))[0]], indent=3).encode()),
    "a fact that cannot be read": (ITEMS, lambda: b'[\n{"id": 3},\n]\n'),
    "a successor that is missing": (
        ITEMS,
        lambda: render_items([LIVES, TEA._replace(status="superseded", superseded_by="fact_0000dead")]),
    ),
    "a link to nothing": (
        ITEMS,
        lambda: render_items([LIVES, TEA._replace(links=(FactLink("supports", "fact_0000dead"),))]),
    ),
    "a relation to nothing": (ITEMS, lambda: render_items([LIVES, TEA._replace(related_entities=("Nobody",))])),
    "evidence that the ledger lacks": (LEDGER, lambda: render_events([BYE])),
    "evidence that says something else": (LEDGER, lambda: render_events([HELLO._replace(text="No."), BYE])),
    "an event of another day": (
        LEDGER,
        lambda: render_events([HELLO, BYE, HELLO._replace(id="ev_3", timestamp="2026-11-19T08:00:00Z")]),
    ),
    "an event twice": (
        "ledger/2026-11-21.jsonl",
        lambda: render_events([HELLO._replace(timestamp="2026-11-21T08:00:00Z")]),
    ),
    "an id twice": ("life/projects/boat/items.json", lambda: render_items([TEA])),
    "front matter that is none": (SUMMARY, lambda: PAGE.replace("aliases: [Janey]", "aliases: {").encode()),
    "marks that are lost": (SUMMARY, lambda: PAGE.partition("<!-- clawmem:begin")[0].encode()),
    "bytes that are no text": (SUMMARY, lambda: PAGE.encode() + b"\xff"),
    "line ends of Windows": (SUMMARY, lambda: PAGE.replace("\n", "\r\n").encode()),
    "a conflict": ("daily/2026-11-20.md", lambda: b"<<<<<<< a\nx\n=======\ny\n>>>>>>> b\n"),
    "a setting that is none": ("clawmem.yaml", lambda: b"format: 1\nno.such: 3\n"),
    "a catalog that is none": ("predicates.yaml", lambda: b"- 3\n"),
    "a file that is gone": (ITEMS, lambda: None),
    "a file in a wrong place": ("life/items.json", lambda: b"[\n]\n"),
}


@pytest.mark.parametrize("committed", [False, True], ids=["by hand", "committed"])
@pytest.mark.parametrize("what", PLANTED)
@pytest.mark.few(10)
def test_what_is_planted_after_a_clean_check_is_found(
    what: str, committed: bool, root: Path, environment: dict[str, str], check: Callable[..., Diagnosis]
) -> None:
    """A check of what changed says what a check of everything says."""
    open_index(Vault(root, environment)).close()
    _twice(root, check)
    path, content = PLANTED[what]
    data = content()
    if data is None:
        (root / path).unlink()
    else:
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_bytes(data)
    if committed:
        _commit(root)
    found = check()
    (root / ".git/clawmem/doctor.json").unlink()
    everything = check()
    assert found.since is not None and everything.since is None
    assert found.problems == everything.problems
    assert only_serious(found)


def test_a_problem_is_said_until_it_is_gone(
    root: Path, environment: dict[str, str], check: Callable[..., Diagnosis]
) -> None:
    open_index(Vault(root, environment)).close()
    _twice(root, check)
    assert check().changed == 0
    with_facts(root, LIVES, TEA._replace(valid_to="soon"))
    for _ in range(3):
        found = check()
        assert (only(found, "time").path, found.changed) == (ITEMS, 1)
    with_facts(root, LIVES, TEA)
    assert only_serious(check()) == []
    assert check().changed == 0


def only_serious(found: Diagnosis) -> list[HealthProblem]:
    """The problems that are no information."""
    return [problem for problem in found.problems if problem.severity != INFO]


@pytest.mark.parametrize(
    "statement",
    [
        f"DELETE FROM fact WHERE id = '{TEA.id}'",
        "INSERT INTO edge VALUES (1, 'supports', 'fact_0000dead')",
        "UPDATE fact SET seal = seal + 1",
    ],
)
def test_damage_of_the_index_after_a_clean_check_is_found(
    statement: str, root: Path, environment: dict[str, str], check: Callable[..., Diagnosis]
) -> None:
    open_index(Vault(root, environment)).close()
    _twice(root, check)
    _row(Vault(root, environment), statement)
    found = check()
    assert found.since is not None
    assert {problem.check for problem in found.problems if problem.severity == ERROR} == {"index"}


def test_a_change_of_the_disk_after_a_clean_check_is_found(
    root: Path, environment: dict[str, str], check: Callable[..., Diagnosis]
) -> None:
    open_index(Vault(root, environment)).close()
    _twice(root, check)
    # git is told to see no change, as if times and size were the same.
    subprocess.run(["git", "update-index", "--assume-unchanged", ITEMS], cwd=root, check=True)
    (root / ITEMS).write_bytes((root / ITEMS).read_bytes().replace(b"tea", b"tee"))
    assert only(check(), "altered").path == ITEMS


def test_another_version_or_a_damaged_record_means_everything(
    root: Path, environment: dict[str, str], check: Callable[..., Diagnosis]
) -> None:
    open_index(Vault(root, environment)).close()
    _twice(root, check)
    for record in ("", "{", "[]", '{"version": "0.0.0", "commit": "x", "left": []}'):
        (root / ".git/clawmem/doctor.json").write_text(record)
        assert check().since is None, record
        assert check().since == _head(root), record
    assert check(full=True).since is None


def test_messages_wait_until_a_heartbeat_has_read_them(clawmem: Command) -> None:
    talk = json.dumps({"role": "user", "content": "I moved to Lisbon in May.", "timestamp": "2026-11-20T08:00:00Z"})
    assert clawmem("ingest", "-", "--format", "jsonl", given=talk).code == 0
    assert "1 event waits for the heartbeat" in clawmem("doctor").out
    assert clawmem("heartbeat").code == 0
    assert "for the heartbeat" not in clawmem("doctor").out


def test_a_value_that_an_edit_of_the_file_left_behind_is_named(clawmem: Command, vault_root: Path) -> None:
    triple = ("--subject", "Ada", "--predicate", "lives_in", "-e", "areas/people/ada")
    clawmem("remember", "Ada lives in Oslo.", *triple, "--object", "Oslo")
    clawmem("remember", "Ada swims in the river Glomma.", *triple, "--object", "Glomma river")
    assert clawmem("doctor").out.count("triple") == 0
    items = vault_root / "life/areas/people/ada/items.json"
    items.write_text(items.read_text().replace("Ada lives in Oslo", "Ada lives in Bergen"))
    shown = clawmem("doctor").out
    assert "has the object 'Oslo', which its words do not have: Ada lives in Bergen." in shown
    edited = clawmem("edit", "Ada lives in", "Ada lives in Bergen now.")
    assert edited.code == 0, edited.err
    assert "which its words" not in clawmem("doctor").out
