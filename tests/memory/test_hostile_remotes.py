"""What somebody else pushes: sync and every verb after it name it, leave it alone, and go on with everything else."""

from __future__ import annotations

import json
import os
import resource
import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from clawmem.faces.cli.app import run
from clawmem.vault.git.acceptance import accept
from tests.command_server import _prepare
from tests.conftest import PINNED_NOW
from tests.faults.checks import git
from tests.trees import Tree

Files = Mapping[Any, bytes]
MEGABYTE = 1 << 20
_MEMORY_KB = 300 * 1024
_BOMB = b"a: &a [x, x, x, x, x, x, x, x, x]\n" + b"".join(
    b"%c: &%c [%s]\n" % (98 + n, 98 + n, b", ".join([b"*%c" % (97 + n)] * 9)) for n in range(9)
)
_DEEP = b"[" * 50_000


def _fact(**more: Any) -> bytes:
    return json.dumps({"id": "fact_11111111", "fact": "It is planted.", **more}).encode()


def _event(**more: Any) -> bytes:
    record = {"id": "evt_1", "timestamp": "2026-11-20T08:00:00Z", "role": "user", "text": "I live in Rome.", **more}
    return json.dumps(record).encode() + b"\n"


def _in_metadata(value: bytes) -> bytes:
    return b'[{"id": "fact_1", "fact": "x", "metadata": {"a": ' + value + b"}}]"


# Files of facts that nobody can read: doctor must name each.
ITEMS: dict[str, bytes] = {
    "deep lists": _DEEP,
    "deep and closed": b"[" * 900 + b"]" * 900,
    "deep metadata": _in_metadata(b'{"a":' * 900 + b"1" + b"}" * 900),
    "half of a character": _fact(tags=["\ud83d"]).join((b"[", b"]")),
    "half in a key": _in_metadata(b'{"\\udc00": 1}'),
    "half as bytes": b'[{"id": "fact_1", "fact": "\xed\xa0\xbd"}]',
    "number without end": _in_metadata(b"1e999"),
    "NaN": _in_metadata(b"NaN"),
    "5,000 digits": _in_metadata(b"9" * 5000),
    "counter too large": b"[" + _fact(access_count=10**30) + b"]",
    "links a number": b"[" + _fact(links=5) + b"]",
    "link with an odd reason": b"[" + _fact(links=[{"type": "supports", "to": "x", "reason": {}}]) + b"]",
    "tags of objects": b"[" + _fact(tags=[{}]) + b"]",
    "metadata a list": b"[" + _fact(metadata=[1]) + b"]",
    "trust a list": b"[" + _fact(trust=[]) + b"]",
    "confidence true": b"[" + _fact(confidence=True) + b"]",
    "span of objects": b"[" + _fact(source_span=[{}, {}]) + b"]",
    "no UTF-8": "[é]".encode("latin-1"),
    "UTF-16": "[]".encode("utf-16"),
    "a number": b"5",
    "null": b"null",
    "lists": b"[[], [[]]]",
    "nothing": b"",
}
# Ledgers that nobody can read, by day.
LEDGERS: dict[str, bytes] = {
    "2026-01-01": _DEEP,
    "2026-01-02": _event(text="\ud83d"),
    "2026-01-03": b"\xff\xfe" + _event(),
    "2026-01-04": _event(speaker={}),
    "2026-01-05": _event(session=[1]),
    "2026-01-06": _event(metadata=[1]),
    "2026-01-07": _event(text=5),
    "2026-01-08": b'{"id": "evt_2", "n": 1e999}\n',
    "2026-01-09": _event(kind={}),
    "2026-01-10": b"[]\n",
    "2026-01-11": _event(metadata={"a": "b"}).replace(b'"b"', b'{"a":' * 500 + b"1" + b"}" * 500),
}
# What is readable, and odd.
ODD: Files = {
    "life/projects/nul/items.json": b"[" + _fact(id="fact_a0", fact="NUL \0 in it", object="\0") + b"]",
    "life/projects/broken-id/items.json": b"[" + _fact(id="../../x\ny", timestamp="never", valid_from="9" * 50) + b"]",
    "life/projects/circle/items.json": b"[" + _fact(id="fact_a1", status="superseded", superseded_by="fact_a1") + b"]",
    "life/projects/span/items.json": b"[" + _fact(id="fact_a2", source_event="e", source_span=[0, 2**70]) + b"]",
    "life/projects/many/items.json": b"["
    + b",\n".join(_fact(id=f"fact_b{n}", fact="\"'" * 900) for n in range(20))
    + b"]",
    "ledger/2026-11-20.jsonl": _event(text='"' * 40_000, recalled="yes") + _event(id="evt_2", text="\0" * 1000),
    "ledger/2026-11-19.jsonl": _event(id="evt_3", timestamp="9999-99-99T99", text="#* " * 20_000),
    "daily/2026-11-18.md": b"- " + b'"I like ' * 20_000,
    "MEMORY.md": b"\xff\xfe" * 1000,
}
STATE: Files = {
    "review/prop_deep.json": _DEEP,
    "review/prop_half.json": b'{"id": "prop_half", "says": "\\ud800"}',
    "review/prop_types.json": b'{"id": [], "kind": {}, "targets": 5}',
    "review/prop_null.json": b"null",
    "ledger/adaptation.json": _DEEP,
    "life/projects/front/summary.md": b"---\n" + _BOMB + b"---\nText.\n",
    "life/projects/front2/summary.md": b"---\na: " + _DEEP + b"\n---\nText.\n",
    "life/projects/front3/summary.md": b"---\n? 2020-01-01\n: 5\n---\nText.\n",
}
NAMES: Files = {
    b"caf\xe9.jpg": b"a picture",
    b"life/projects/caf\xe9/items.json": b"[]\n",
    b"life/projects/site/caf\xe9.md": b"a note",
    b"ledger/caf\xe9.jsonl": b"{}",
    b"review/prop_\xff.json": b"{}",
    b"life/projects/site/line\nbreak.md": b"a note",
    b"life/projects/site/tab\tand \x07.md": b"a note",
    b'life/projects/site/"quoted" \\ name.md': b"a note",
    b"life/projects/site/:(glob)*.md": b"a note",
    b"life/projects/site/-x.md": b"a note",
    b"daily/" + b"x" * 250 + b".md": b"a note",
    b"one\nline": b"x",
}
SETTINGS: dict[str, Files] = {
    "settings: bomb": {"clawmem.yaml": _BOMB},
    "settings: deep": {"clawmem.yaml": b"a: " + _DEEP},
    "settings: deep by lines": {"clawmem.yaml": b"".join(b" " * n + b"a:\n" for n in range(1000))},
    "settings: itself": {"clawmem.yaml": b"a: &a [*a]\n"},
    "settings: a list": {"clawmem.yaml": b"- 1\n"},
    "settings: no UTF-8": {"clawmem.yaml": b"vault:\n  name: \xff\n"},
    "settings: date as a key": {"clawmem.yaml": b"? 2020-01-01\n: 1\n"},
    "settings: no day": {"clawmem.yaml": b"vault:\n  name: 2020-13-45\n"},
    "settings: without end": {"clawmem.yaml": b"heartbeat:\n  candidates: .inf\n"},
    "settings: 5,000 digits": {"clawmem.yaml": b"version: " + b"9" * 5000},
    "settings: base sixty": {"clawmem.yaml": b"version: 1" + b":1" * 100_000},
    "settings: two megabytes": {"clawmem.yaml": b"# " + b"x" * (2 * MEGABYTE)},
    "catalog: bomb": {"predicates.yaml": _BOMB},
    "catalog: deep": {"predicates.yaml": b"a: " + _DEEP},
    "catalog: odd types": {"predicates.yaml": b"likes: [1]\n2: {phrases: {}}\n"},
}
_REDOS = "[redacted]" * 12 + "!\n\nClawmem-Op: redact\n"
COMMITS: dict[str, bytes] = {
    "a subject of a megabyte": b"x" * MEGABYTE,
    "a subject of many trailers": b"x\n\n" + b"Fact: fact_1\n" * 50_000,
    "a message that is no UTF-8": b"caf\xe9\n\nFact: \xff\n",
    "a redaction that fits slowly": _REDOS.encode(),
}


class Ran(NamedTuple):
    """How a verb ended, what it said, and what it took."""

    code: int
    said: str
    memory: int


def _run(root: Path, environment: Mapping[str, str], *arguments: str) -> Ran:
    """Run a verb in a separate process that has already imported clawmem."""
    path = root.parent / "said"
    child = os.fork()
    if child == 0:
        try:
            os.chdir(root)
            os.environ.clear()
            os.environ.update(environment)
            resource.setrlimit(resource.RLIMIT_CPU, (40, 40))
            out = os.open(path, os.O_CREAT | os.O_TRUNC | os.O_WRONLY, 0o600)
            for stream in (1, 2):
                os.dup2(out, stream)
            os.dup2(os.open("/dev/null", os.O_RDONLY), 0)
            import sys

            # As __main__ sets them.
            sys.stdout = os.fdopen(1, "w", errors="backslashreplace")
            sys.stderr = os.fdopen(2, "w", errors="backslashreplace")
            code = run(arguments)
            sys.stdout.flush()
            sys.stderr.flush()
            os._exit(code)
        except BaseException:  # noqa: BLE001 - nothing may get back into the test
            import traceback

            traceback.print_exc()
            os._exit(99)
    _, status, used = os.wait4(child, 0)
    return Ran(
        os.waitstatus_to_exitcode(status),
        path.read_text(errors="replace"),
        used.ru_maxrss,
    )


class Meeting(NamedTuple):
    """A vault that knows some facts, another clone of it, and what both run in."""

    mine: Path
    theirs: Path
    environment: Mapping[str, str]

    def push(self, files: Files, message: bytes = b"planted") -> None:
        """Commit and push what the other clone has now, with plain git."""
        for name, data in files.items():
            place = os.path.join(os.fsencode(self.theirs), os.fsencode(name))  # noqa: PTH118 - names of any bytes
            os.makedirs(os.path.dirname(place), exist_ok=True)  # noqa: PTH103, PTH120
            with open(place, "wb") as file:  # noqa: PTH123
                file.write(data)
        path = self.theirs.parent / "message"
        path.write_bytes(message)
        git(self.theirs, self.environment, "add", "--all")
        git(self.theirs, self.environment, "commit", "-q", "--allow-empty", "--cleanup=verbatim", "-F", str(path))
        git(self.theirs, self.environment, "push", "-q", "origin", "HEAD:main")

    def meets(self, *arguments: str) -> Ran:
        """Run a verb and check that it does not end in a bug or by a signal, and does not waste memory."""
        ran = _run(self.mine, self.environment, *arguments)
        assert ran.code in (0, 1, 2, 4, 12), (arguments, ran.code, ran.said[-2000:])
        before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        assert ran.memory < before + _MEMORY_KB, (arguments, ran.memory, before)
        return ran

    def live_on(self, writes: bool = True) -> str:
        """Sync and use the memory; returns what doctor says."""
        self.meets("sync")
        kept = self.meets("remember", "Jane plays chess.", "--entity", "areas/people/jane")
        assert kept.code == (0 if writes else 2), kept.said
        found = self.meets("recall", "Jane Oslo chess")
        assert "Jane lives in Oslo." in found.said
        assert ("Jane plays chess." in found.said) is writes
        assert "Jane lives in Oslo." in self.meets("list", "--limit", "1000").said
        assert "Jane lives in Oslo." in self.meets("context", "Where does Jane live?").said
        self.meets("heartbeat")
        self.meets("sync")
        return self.meets("doctor").said


@pytest.fixture(scope="module")
def prepared(newborn: Tree, tmp_path_factory: pytest.TempPathFactory) -> Meeting:
    """Two synced clones, created once and copied for each test."""
    _prepare()
    folder = tmp_path_factory.mktemp("meeting")
    home = folder / "home"
    home.mkdir()
    (home / ".gitconfig").write_text("[user]\n\tname = Ada Person\n\temail = ada@example.org\n")
    environment = {
        "PATH": os.environ["PATH"],
        "HOME": str(home),
        "LANG": "C.UTF-8",
        "CLAWMEM_NOW": PINNED_NOW,
    }
    mine, theirs, hub = (folder / name for name in ("mine", "theirs", "hub.git"))
    newborn.write(mine)
    settings = mine / "clawmem.yaml"
    settings.write_text(settings.read_text().replace("\n  model: local\n", "\n  model: none\n"))
    git(folder, environment, "init", "-q", "--bare", "-b", "main", str(hub))
    # Relative, so that copies meet at their own.
    git(mine, environment, "remote", "add", "origin", "../hub.git")
    accept(mine / ".git", environment)
    made = Meeting(mine, theirs, environment)
    made.meets("remember", "Jane lives in Oslo.", "--entity", "areas/people/jane")
    made.meets("remember", "The site is green.", "--entity", "projects/site")
    assert made.meets("sync").code == 0
    git(folder, environment, "clone", "-q", "hub.git", "theirs")
    git(theirs, environment, "remote", "set-url", "origin", "../hub.git")
    return made


@pytest.fixture
def meeting(prepared: Meeting, tmp_path: Path) -> Meeting:
    """Copy the two clones and their remote."""
    folder = tmp_path / "meeting"
    subprocess.run(["cp", "-a", str(prepared.mine.parent), str(folder)], check=True)
    accept(folder / "mine/.git", prepared.environment)
    return Meeting(folder / "mine", folder / "theirs", prepared.environment)


@pytest.mark.soak
def test_a_file_of_many_values(meeting: Meeting) -> None:
    """Each verb that reads it takes a second or more."""
    meeting.push({"life/projects/many/items.json": b"[" + b"[]," * 1_010_000 + b"[]]"})
    assert "life/projects/many/items.json" in meeting.live_on()


@pytest.mark.parametrize("cursor", [_DEEP, b'{"days": {"2026-11-20": 5}, "mentions": []}', b'{"days": []}'])
@pytest.mark.few(1)
def test_what_nobody_can_read(cursor: bytes, meeting: Meeting) -> None:
    """Facts, events, proposals and pages; with them, a file that says how far learning has come."""
    items = {f"life/projects/p{number}/items.json": data for number, data in enumerate(ITEMS.values())}
    paths = {f"ledger/{day}.jsonl": data for day, data in LEDGERS.items()}
    meeting.push({**items, **paths, **STATE, "ledger/learned.json": cursor})
    text = meeting.live_on()
    assert [case for case, path in zip(ITEMS, items, strict=True) if path not in text] == []
    assert [path for path in paths if f"{path}:1" not in text] == []
    assert [path for path in STATE if str(path) not in text] == []


def test_what_is_readable_and_odd_and_messages_of_commits(meeting: Meeting) -> None:
    meeting.push(ODD)
    for number, message in enumerate(COMMITS.values()):
        meeting.push({f"notes{number}.txt": b"x"}, message)
    meeting.live_on()
    meeting.meets("log", "--limit", "9")


def test_names_of_any_bytes(meeting: Meeting) -> None:
    meeting.push(NAMES)
    text = meeting.live_on()
    assert text.count("caf\\udce9.jpg") == 1
    assert sorted(os.listdir(os.fsencode(meeting.mine / "life/projects/site"))) == sorted(  # noqa: PTH208
        os.listdir(os.fsencode(meeting.theirs / "life/projects/site"))  # noqa: PTH208
    )
    for path in (b"caf\xe9.jpg", b"life/projects/site/caf\xe9.md"):
        os.remove(os.path.join(os.fsencode(meeting.theirs), path))  # noqa: PTH107, PTH118
    git(meeting.theirs, meeting.environment, "commit", "-q", "--all", "-m", "taken out")
    git(meeting.theirs, meeting.environment, "pull", "-q", "--no-rebase", "--no-edit")
    meeting.push({})
    meeting.meets("sync")
    assert b"caf\xe9.jpg" not in os.listdir(os.fsencode(meeting.mine))  # noqa: PTH208


@pytest.mark.few(3)
@pytest.mark.parametrize("case", SETTINGS)
def test_settings_that_nobody_can_read(case: str, meeting: Meeting) -> None:
    meeting.push(SETTINGS[case])
    path = next(iter(SETTINGS[case]))
    harmless = case in ("settings: date as a key", "settings: a list", "settings: without end", "settings: no day")
    meeting.meets("sync")
    kept = meeting.meets("remember", "Jane plays chess.", "--entity", "areas/people/jane")
    if not harmless:
        assert kept.code == (0 if path == "predicates.yaml" else 2)
    for verb in (("recall", "Jane Oslo"), ("list",), ("context", "Jane"), ("status",)):
        ran = meeting.meets(*verb)
        assert verb[0] == "status" or "Jane lives in Oslo." in ran.said
    meeting.meets("heartbeat")
    assert str(path) in meeting.meets("doctor").said


def test_edits_on_both_sides_of_what_nobody_can_read(meeting: Meeting) -> None:
    """A merge that has to read it stops with a sentence, and the vault is as it was."""
    meeting.push({"life/projects/site/items.json": _DEEP, b"caf\xe9.jpg": b"theirs"})
    meeting.meets("remember", "The site is blue.", "--entity", "projects/site")
    place = os.path.join(os.fsencode(meeting.mine), b"caf\xe9.jpg")  # noqa: PTH118
    with open(place, "wb") as file:  # noqa: PTH123
        file.write(b"mine")
    git(meeting.mine, meeting.environment, "add", "--all")
    git(meeting.mine, meeting.environment, "commit", "-q", "-m", "a picture")
    assert "life/projects/site/items.json" in meeting.meets("sync").said
    assert "The site is blue." in meeting.meets("list").said
    meeting.meets("heartbeat")
    meeting.meets("doctor")


@pytest.mark.soak
@pytest.mark.parametrize(
    ("path", "content"),
    [
        ("life/projects/big/items.json", b"[" + _fact(fact="FILLING") + b"]"),
        ("ledger/2026-11-20.jsonl", _event(text="FILLING")),
        ("clawmem.yaml", b"a: FILLING"),
        ("life/projects/front/summary.md", b"---\na: FILLING\n---\n"),
    ],
)
def test_files_of_sixty_megabytes(path: str, content: bytes, meeting: Meeting) -> None:
    meeting.push({path: content.replace(b"FILLING", b"A b" * (20 * MEGABYTE))})
    for verb in (("sync",), ("remember", "Jane plays chess."), ("heartbeat",), ("doctor",), ("status",)):
        assert _run(meeting.mine, meeting.environment, *verb).code in (0, 1, 2, 4, 12)
    assert "Jane lives in Oslo." in meeting.meets("list").said


LARGE_FILES = {"life/projects/large/items.json": 34 * MEGABYTE}
# Beyond the limit of a ledger, and of each other kind.
MORE_LARGE_FILES = {
    "life/projects/large/items.json": 300 * MEGABYTE,
    "MEMORY.md": 33 * MEGABYTE,
    "ledger/2026-11-19.jsonl": 300 * MEGABYTE,
    "life/areas/people/jane/summary.md": 40 * MEGABYTE,
    "daily/2026-11-19.md": 40 * MEGABYTE,
    "review/prop_large.json": 40 * MEGABYTE,
}
_BOUNDED_KB = 32 * 1024


@pytest.mark.parametrize("files", [LARGE_FILES, pytest.param(MORE_LARGE_FILES, marks=pytest.mark.soak)], ids=len)
def test_files_far_beyond_their_limit_are_never_read(files: Mapping[str, int], meeting: Meeting) -> None:
    """Peak memory is that of each verb and of the git processes that it starts."""

    def meets_within(*arguments: str) -> str:
        before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        ran = _run(meeting.mine, meeting.environment, *arguments)
        assert ran.code in (0, 1, 4), ran
        assert ran.memory < before + _BOUNDED_KB, (arguments, ran.memory, before)
        return ran.said

    git(meeting.mine.parent / "hub.git", meeting.environment, "config", "core.bigFileThreshold", "32m")
    for path, size in files.items():
        place = meeting.theirs / path
        place.parent.mkdir(parents=True, exist_ok=True)
        with place.open("ab") as file:
            file.truncate(size)
    meeting.push({})
    meets_within("sync")
    sizes = {path: (meeting.mine / path).stat().st_size for path in files}
    assert sizes == files
    # git takes a file as old as its index for changed: every command would read the file once more.
    git(meeting.mine, meeting.environment, "update-index", "-q", "--refresh")
    assert "Jane lives in Oslo." in meets_within("recall", "Jane Oslo")
    meets_within("remember", "Jane plays chess.", "--entity", "areas/people/jane")
    meets_within("heartbeat")
    text = meets_within("doctor")
    assert [path for path in files if path not in text] == []
    # Both sides changed something, and a large file changes again.
    git(meeting.theirs, meeting.environment, "pull", "-q", "--no-rebase", "--no-edit")
    if "MEMORY.md" in files:
        with (meeting.theirs / "MEMORY.md").open("ab") as file:
            file.truncate(34 * MEGABYTE)
    meeting.push({"life/projects/large/items.json": b"[]\n"})
    meets_within("sync")
    assert (meeting.mine / "life/projects/large/items.json").read_bytes() == b"[]\n"
    assert ((meeting.mine / "MEMORY.md").stat().st_size == 34 * MEGABYTE) is ("MEMORY.md" in files)
    assert git(meeting.mine, meeting.environment, "status", "--porcelain") == ""
