"""No credential enters history by any road of a person or an agent: every verb and field, with the real command."""

from __future__ import annotations

import json
import shutil
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import pytest

from benchmarks.secret_texts import credentials
from clawmem.errors import DONE, PARTIAL, REFUSED
from clawmem.memory.health.doctor import doctor
from clawmem.model.records.caller import Caller
from clawmem.vault.git.acceptance import accept
from clawmem.vault.vault import Vault
from tests.conftest import Command, Result

SECRET = next(
    credential.secret for credential in credentials() if credential.kind == "github token" and credential.secret
)
# An agent's id and the name of an entity are in small letters.
NAME = SECRET.lower()
JANE, OUTSIDE = "areas/people/jane", "web:shop.example"


@pytest.fixture
def ids(clawmem: Command) -> Mapping[str, str]:
    """A vault with facts, a proposal that waits, and an event; each by a short name."""
    first = clawmem("remember", "Jane likes tea", "-e", JANE, "--json").data["facts"][0]["id"]
    second = clawmem("remember", "Jane drinks tea daily", "-e", JANE, "--json").data["facts"][0]["id"]
    clawmem("remember", "The shop sells tea", "-e", "resources/shop", "--source", OUTSIDE)
    value = clawmem("supersede", first, "Jane likes coffee", "--source", OUTSIDE, "--json").data["facts"][0]["id"]
    assert value.startswith("prop_")
    clawmem("ingest", "-", given='{"role": "user", "content": "I live in Oslo.", "id": "m1"}')
    return {"first": first, "second": second, "proposal": value}


class Road:
    """One way in: the words of a command, its stdin, its environment; `{first}` and others stand for ids."""

    def __init__(
        self, *words: str, given: str | None = None, env: Mapping[str, str] | None = None, masked: int = DONE,
        refused: int = REFUSED,
    ) -> None:  # fmt: skip
        self.words = words
        self.given = given
        self.env = env
        self.masked = masked
        self.refused = refused

    def __str__(self) -> str:
        items = [*self.words, *(self.env or ()), *([self.given] if self.given else [])]
        return " ".join(items).replace(SECRET, "SECRET").replace(NAME, "secret")[:90]


def _line(**record: object) -> str:
    return json.dumps(record)


def _roads() -> Iterator[Road]:
    yield Road("remember", f"The token is {SECRET}")
    for option in ("--tag", "--subject", "--predicate", "--object", "--source", "--evidence", "--related"):
        yield Road("remember", "Jane swims", option, SECRET)
    yield Road("remember", "Jane swims", "--entity", f"areas/people/{NAME}", masked=REFUSED)
    yield Road("remember", "Jane swims", "--agent", NAME, masked=REFUSED)
    yield Road("remember", "Jane swims", env={"CLAWMEM_AGENT": NAME}, masked=REFUSED)
    for key in ("workflow", "relation_phrase", "source", "agent", "unknown_key"):
        yield Road("remember", "--jsonl", "-", given=_line(fact="Jane swims", **{key: SECRET}))
    for key in ("metadata", "details"):
        yield Road("remember", "--jsonl", "-", given=_line(fact="Jane swims", **{key: {"deep": [{"er": SECRET}]}}))
        yield Road("remember", "--jsonl", "-", given=_line(fact="Jane swims", **{key: {SECRET: 1}}))
    yield Road("supersede", "{first}", f"Jane has {SECRET}")
    yield Road("supersede", "{first}", "Jane likes milk", "--reason", SECRET)
    yield Road("merge", "{first}", "{second}", "--into", f"Jane has {SECRET}")
    yield Road("merge", "{first}", "{second}", "--into", "Jane likes tea daily", "--reason", SECRET)
    yield Road("link", "{first}", "{second}", "--type", "supports", "--reason", SECRET)
    yield Road("retract", "{first}", "--reason", SECRET)
    yield Road("retract", "{first}", "--reason", f"{'a long story ' * 9}{SECRET}")
    yield Road("revoke", "--source", OUTSIDE, "--reason", SECRET)
    yield Road("review", "approve", "{proposal}", "--reason", SECRET)
    yield Road("review", "reject", "{proposal}", "--reason", SECRET)
    yield Road("note", f"The token is {SECRET}")
    yield Road("entity", "create", f"projects/{NAME}", masked=REFUSED)
    yield Road("entity", "create", "projects/boat", "--title", SECRET)
    yield Road("entity", "create", "projects/boat", "--alias", SECRET)
    yield Road("entity", "rename", JANE, NAME, masked=REFUSED)
    yield Road("entity", "move", JANE, f"projects/{NAME}", masked=REFUSED)
    yield Road("agent", "create", NAME, masked=REFUSED)
    yield Road("config", "set", "vault.name", SECRET)
    yield Road("redact", "--pattern", "drinks tea", "--reason", SECRET, "--yes")
    text = _line(role="user", content="I swim.")
    yield Road("ingest", "-", "--source", SECRET, given=text)
    for option in ("--session", "--speaker"):
        yield Road("ingest", "-", option, SECRET, given=text, refused=PARTIAL)
    yield Road("ingest", "-", given=f"It is {SECRET}", refused=PARTIAL)
    for key in ("content", "id", "session", "speaker"):
        record = {"role": "user", "content": "I swim.", key: SECRET}
        yield Road("ingest", "-", given=_line(**record), refused=PARTIAL)
    call = {"id": SECRET, "function": {"name": "look", "arguments": "{}"}}
    yield Road("ingest", "-", given=_line(role="assistant", content="So.", tool_calls=[call]), refused=PARTIAL)
    yield Road("ingest", "-", "-f", "markdown", given=f"# Of {SECRET}\n\nI swim.\n", refused=PARTIAL)
    yield Road("ingest", "-", given=text, env={"CLAWMEM_SESSION": SECRET})
    for words in (
        ("remember", "Jane swims"), ("note", "swam"), ("retract", "{first}"), ("config", "set", "vault.name", "x"),
        ("supersede", "{first}", "Jane likes milk"), ("link", "{first}", "{second}", "--type", "supports"),
        ("merge", "{first}", "{second}", "--into", "Jane likes tea daily"), ("review", "approve", "{proposal}"),
        ("review", "reject", "{proposal}", "--reason", "no"), ("revoke", "--source", OUTSIDE),
        ("undo", "{second}"), ("redact", "--pattern", "drinks tea", "--yes"),
    ):  # fmt: skip
        yield Road(*words, env={"CLAWMEM_SESSION": SECRET})


ROADS = list(_roads())


def _holds(root: Path) -> bool:
    """Whether all of history holds the credential, or the beginning of it that a subject was cut to."""
    process = subprocess.run(
        ["git", "log", "-p", "--all", "--format=fuller"], cwd=root, capture_output=True, check=True
    )
    kept = process.stdout.decode().lower()
    assert "jane likes tea" in kept
    return any(piece in kept for piece in (NAME, NAME[4:], NAME[:12]))


def _walk(road: Road, clawmem: Command, root: Path, ids: Mapping[str, str]) -> Result:
    words = [ids.get(word[1:-1], word) if word.startswith("{") else word for word in road.words]
    return clawmem(*words, given=road.given, env=road.env, cwd=root)


def test_it_is_refused(clawmem: Command, vault_root: Path, ids: Mapping[str, str]) -> None:
    wrong = []
    for road in ROADS:
        code, out, err = _walk(road, clawmem, vault_root, ids)
        if code != road.refused or "looks like a credential" not in out + err or SECRET in out + err:
            wrong.append((str(road), code, out + err))
    assert not wrong
    assert not _holds(vault_root)
    assert clawmem("status").code == DONE


SAID = (
    Road("remember", "Jane swims", "--valid-from", SECRET),
    Road("remember", "Jane swims", "--valid-to", SECRET),
    Road("remember", "Jane swims", "--trust", SECRET),
    Road("remember", "Jane swims", "--confidence", SECRET),
    Road("remember", "Jane swims", "--agent", SECRET),
    Road("remember", "Jane swims", "--agent", f"{NAME} x"),
    Road("remember", "Jane swims", env={"CLAWMEM_AGENT": SECRET}),
    Road("remember", "Jane swims", "--category", SECRET),
    Road("remember", "--jsonl", "-", given=_line(fact="Jane swims", valid_from=SECRET)),
    Road("remember", "--jsonl", "-", given=f'{{"fact": {SECRET}'),
    Road("revoke", "--session", SECRET),
    Road("revoke", "--source", f"web:{SECRET}"),
    Road("agent", "create", SECRET),
    Road("show", SECRET),
    Road("why", SECRET),
    Road("retract", SECRET),
    Road("supersede", SECRET, "Jane runs"),
    Road("list", "--entity", f"projects/{NAME}"),
    Road("recall", "tea", "--at", SECRET),
    Road("config", "get", SECRET),
    Road("config", "set", SECRET, "x"),
    Road("ingest", f"/nowhere/{SECRET}.jsonl"),
    Road("ingest", "-", "--format", SECRET, given="x"),
    Road("restore", f"/nowhere/{SECRET}.clawmem", "elsewhere"),
    Road(SECRET),
    Road("status", f"--{SECRET}"),
)


@pytest.mark.parametrize("form", ["text", "json"])
def test_an_error_does_not_repeat_it(clawmem: Command, vault_root: Path, ids: Mapping[str, str], form: str) -> None:
    wrong = []
    for road in SAID:
        asked = Road(*road.words, *(["--json"] if form == "json" else []), given=road.given, env=road.env)
        code, out, err = _walk(asked, clawmem, vault_root, ids)
        if code == DONE or SECRET in out + err or NAME in out + err:
            wrong.append((str(road), code, out + err))
    assert not wrong


@pytest.mark.parametrize("roads", [ROADS[::2], pytest.param(ROADS[1::2], marks=pytest.mark.soak)], ids=len)
def test_it_is_masked_where_the_settings_say_so(
    clawmem: Command, vault_root: Path, caller: Caller, ids: Mapping[str, str], environment: dict[str, str],
    tmp_path: Path, roads: Sequence[Road],
) -> None:  # fmt: skip
    clawmem("config", "set", "secrets.action", "redact")
    wrong = []
    for number, road in enumerate(roads):
        root = tmp_path / f"vault{number}"
        shutil.copytree(vault_root, root)
        accept(root / ".git", environment)
        code, out, err = _walk(road, clawmem, root, ids)
        errors = [
            problem for problem in doctor(Vault(root, environment), caller).problems if problem.severity == "error"
        ]
        if code != road.masked or errors or _holds(root):
            wrong.append((str(road), code, out + err, errors))
        shutil.rmtree(root)
    assert not wrong
