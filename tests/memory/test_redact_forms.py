"""Redaction of every form of a text in files and git objects, whatever way it came in."""

from __future__ import annotations

import base64
import json
import subprocess
import unicodedata
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import quote

import pytest

from clawmem.memory.facts.redact import RedactResult, RedactTarget, contains_text, redact
from clawmem.memory.health.doctor import doctor
from clawmem.model.records.caller import Caller
from clawmem.model.records.event import parse_events
from clawmem.model.safety.written_forms import compile_needles, contains, replace_needles
from clawmem.vault.vault import Vault
from tests.conftest import Command

FORMS = {
    "plain": "marigold-heron-70",
    "double quotes": 'corn"flower"-71',
    "single quotes": "blue'bell'-72",
    "backslash": "prim\\rose-73",
    "backslash at both ends": "\\lavender-74\\",
    "letters that escapes use": "tuxrneedle\\nfir",
    "tab": "snow\tdrop-75",
    "slash": "fox/glove/76",
    "umlaut": "märigöld-70",
    "umlaut in two parts": unicodedata.normalize("NFD", "märigöld-70"),
    "emoji": "dais🌼flower77",
    "emoji joined": "lilac👩‍🔬bush",
    "other script": "золото-70-бархат",
    "two lines": "holly hock\nseventy",
    "percent sign": "peo%41nies%",
    "braces and brackets": '{"aster":["star78"]}',
    "capitals": "SunFlower-Egret",
    "control character": "jas\x7fmine-79",
}


def git(root: Path, *arguments: str, given: bytes | None = None) -> bytes:
    person = ("-c", "user.name=Ada", "-c", "user.email=ada@example.org", "-c", "commit.gpgsign=false")
    return subprocess.run(["git", *person, *arguments], cwd=root, check=True, capture_output=True, input=given).stdout


def everything(root: Path) -> bytes:
    """Every object git still has, every file but packed ones, and every file's name."""
    objects = git(root, "cat-file", "--batch-all-objects", "--batch")
    paths = [path for path in root.rglob("*") if ".git/objects" not in path.as_posix()]
    names = "\n".join(str(path.relative_to(root)) for path in paths).encode(errors="surrogateescape")
    return objects + names + b"\n".join(path.read_bytes() for path in paths if path.is_file())


def escaped(text: str, ascii_only: bool) -> str:
    return json.dumps(text, ensure_ascii=ascii_only)[1:-1]


def encodings(text: str) -> Iterator[tuple[str, bytes]]:
    """The text as others would write it: by name."""
    for normal in ("NFC", "NFD"):
        form = unicodedata.normalize(normal, text)
        yield f"plain {normal}", form.encode()
        for ascii_only in (True, False):
            once = escaped(form, ascii_only)
            for times in range(1, 5):
                yield f"JSON {times} {normal} {ascii_only}", once.encode()
                yield f"JSON {times} in capitals", _capital_codes(once).encode()
                once = escaped(once, ascii_only)
        yield f"slashes {normal}", escaped(form, False).replace("/", "\\/").encode()
        yield f"codes {normal}", "".join(f"\\u{unit:04x}" for unit in _units(form)).encode()
        yield f"percent {normal}", quote(form, safe="").encode()
        yield f"percent twice {normal}", quote(quote(form, safe=""), safe="").encode()
        yield f"base64 {normal}", base64.b64encode(form.encode())
        yield f"hexadecimal {normal}", form.encode().hex().encode()
        yield f"octal {normal}", "".join(f"\\{byte:03o}" for byte in form.encode()).encode()
        yield f"YAML {normal}", form.replace("'", "''").encode()
    yield "folded", " ".join(text.split()).encode()
    yield "small letters", text.casefold().encode()


def _units(text: str) -> list[int]:
    data = text.encode("utf-16-be")
    return [int.from_bytes(data[n : n + 2]) for n in range(0, len(data), 2)]


def _capital_codes(text: str) -> str:
    pieces = text.split("\\u")
    return "\\u".join([pieces[0], *(piece[:4].upper() + piece[4:] for piece in pieces[1:])])


@pytest.mark.parametrize("form", FORMS)
def test_each_form_is_found_and_taken_out_in_each_encoding(form: str) -> None:
    text = FORMS[form]
    wanted = compile_needles((text,))
    kept = [f"before {data!r} after" for _, data in encodings("something else-99")]
    for name, data in encodings(text):
        for around in (b"%s", b'{"a": "%s"}', b"x %s y\n"):
            value = around.replace(b"%s", data)
            assert contains(value, wanted), name
            assert contains_text(value, (text,)), name
            left = replace_needles(value, wanted, b"[redacted]")
            assert not contains(left, wanted) and not contains_text(left, (text,)), (name, left)
    for other in kept:
        assert not contains(other.encode(), wanted) and not contains_text(other.encode(), (text,))


@pytest.mark.parametrize("form", FORMS)
def test_a_text_of_json_stays_one(form: str) -> None:
    text = FORMS[form]
    for name in (text, f"a\\{text}b", f"t{text}n", f'say "{text}", or \\{text}\\', json.dumps({"k": [text]})):
        for depth in range(4):
            line = json.dumps({"text": name, "n": depth}).encode()
            left = replace_needles(line, compile_needles((text,)), b"[redacted]")
            assert json.loads(left)["n"] == depth
            assert text not in json.loads(left)["text"]
            name = json.dumps({"inner": name})


def _nested(text: str, depth: int) -> object:
    value: object = {"arguments": {"opening": text, text: [text]}}
    for _ in range(depth):
        value = {"result": json.dumps(value)}
    return value


def _line(number: int, text: str) -> str:
    """What goes in by words: on one line, without what no fact may have."""
    return f"The gate {number} shows {' '.join(text.split())}."


def _messages(number: int, text: str) -> list[dict[str, object]]:
    calls = [{"id": f"c{number}", "function": {"name": "open", "arguments": json.dumps(_nested(text, 3))}}]
    return [
        {"role": "user", "content": f"It was {text}, they said.", "session": "s", "id": f"a{number}"},
        {"role": "assistant", "content": "Opening.", "tool_calls": calls, "session": "s", "id": f"b{number}"},
        {"role": "tool", "content": json.dumps(_nested(text, 2)), "session": "s", "id": f"c{number}"},
    ]


FEW = ("double quotes", "umlaut", "umlaut in two parts", "two lines")


@pytest.fixture(params=[FEW, pytest.param(tuple(FORMS), marks=pytest.mark.soak)], ids=len)
def forms(request: pytest.FixtureRequest) -> dict[str, str]:
    """The forms that a vault has; under soak all."""
    return {name: FORMS[name] for name in request.param}


@pytest.fixture
def leaked(clawmem: Command, vault_root: Path, forms: dict[str, str]) -> Path:
    """A vault that has each form by every road: fact, note, event, tool call, review file, page, subject, trailer, tag,
    author, file name."""
    items = [(number, text) for number, text in enumerate(forms.values()) if " ".join(text.split()).isprintable()]
    lines = [json.dumps({"fact": _line(number, text), "entity": "areas/house"}) for number, text in items]
    assert clawmem("remember", "--jsonl", "-", given="\n".join(lines)).code == 0
    assert clawmem("note", f"gate: {FORMS['double quotes']} and {FORMS['umlaut']}").code == 0
    messages = [record for number, text in enumerate(forms.values()) for record in _messages(number, text)]
    assert clawmem("ingest", "-", "--source", "chat", given="\n".join(map(json.dumps, messages))).code == 0
    (vault_root / "review").mkdir(exist_ok=True)
    for number, text in enumerate(forms.values()):
        page = vault_root / "review" / f"mine{number}.md"
        page.write_text(f"# Look at\n\n{text}\n\n```json\n{json.dumps({'a': text})}\n```\n{quote(text)}\n")
        quoted = text.replace("'", "''")
        (vault_root / "daily" / f"page{number}.md").write_text(f"---\ntitle: '{quoted}'\n---\n")
        if not set(text) & set("/\n\\"):
            (vault_root / "daily" / f"{text}.md").write_text("named\n")
        git(vault_root, "add", "-f", "review", "daily")
        # git takes some signs off the ends of a name.
        author = "Ada" if set(text) & set("<>\x7f\n") or text.startswith("\\") else text
        message = f"note: {text}\n\nSession: {' '.join(text.split())}\n"
        git(vault_root, "-c", f"user.name={author}", "commit", "-q", "-F", "-", given=message.encode())
        git(vault_root, "tag", "-a", f"kept{number}", "-F", "-", given=f"tag: {text}\n".encode())
    return vault_root


def test_nothing_is_left_whatever_the_road(
    leaked: Path, forms: dict[str, str], environment: dict[str, str], caller: Caller
) -> None:
    for form, text in forms.items():
        before = everything(leaked)
        if form == "umlaut in two parts":  # gone with the other
            assert [name for name, data in encodings(text) if data in before] == []
            continue
        assert len([name for name, data in encodings(text) if data in before]) >= 3
        result: RedactResult = redact(Vault(leaked, environment), RedactTarget(pattern=text), caller)
        assert result.remains == (), (form, result.remains)
        after = everything(leaked)
        assert [name for name, data in encodings(text) if data in after] == [], form
    (ledger,) = (leaked / "ledger").glob("*.jsonl")
    assert len(parse_events(ledger.read_bytes(), ledger.name)) >= 3 * len(forms)
    git(leaked, "fsck", "--strict")
    assert git(leaked, "status", "--porcelain") == b""
    assert [
        problem for problem in doctor(Vault(leaked, environment), caller).problems if problem.severity == "error"
    ] == []


def test_what_the_search_misses_the_check_names(
    clawmem: Command, vault_root: Path, environment: dict[str, str], caller: Caller
) -> None:
    clawmem("remember", "The gate opens with marigold-heron-70.", "-e", "areas/house")
    (vault_root / "mine.txt").write_text("m&#97;rigold-heron-70")
    (vault_root / "marigold-heron-70.txt").write_text("empty")
    result = redact(Vault(vault_root, environment), RedactTarget(pattern="marigold-heron-70"), caller)
    assert result.remains == ("[redacted] (in its name)", "mine.txt")
