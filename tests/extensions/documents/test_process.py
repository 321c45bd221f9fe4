"""Documents that cannot be read: each gives one sentence, a hint and an exit code, and nothing is written."""

from __future__ import annotations

import io
import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from zipfile import ZipFile

import pytest

from clawmem.extensions.documents import reader
from clawmem.extensions.documents.reader import Problem, read
from clawmem.model.transcripts.documents import kind_of
from clawmem.vault.vault import Vault
from tests.conftest import Command
from tests.extensions.documents.files import (
    MOTOR,
    PAGE,
    PICTURE,
    WORD,
    archive,
    book,
    mail,
    office,
    pdf,
    slides,
    stream,
    word,
)

ENTITY = "<!DOCTYPE x [<!ENTITY e SYSTEM 'file:///etc/hostname'>]>"
LAUGHS = "".join(f"<!ENTITY l{n} '{f'&l{n - 1};' * 10}'>" for n in range(1, 10))
LAUGH = f"<!DOCTYPE x [<!ENTITY l0 'ha'>{LAUGHS}]>" + WORD.format("<w:p><w:r><w:t>&l9;</w:t></w:r></w:p>")
ENCRYPTION = "<encryption><EncryptionMethod Algorithm='http://www.w3.org/2001/04/xmlenc#aes128-cbc'/></encryption>"
OLD = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(600)


def encrypted() -> bytes:
    """A PDF whose trailer names an encryption with a password that is not known."""
    rest = b"/O <%s> /U <%s>" % (b"11" * 32, b"22" * 32)
    encrypt = b"/Encrypt << /Filter /Standard /V 1 /R 2 /P -4 " + rest + b" >> /ID [<00><00>] /Root"
    return pdf(MOTOR).replace(b"/Root", encrypt)


def unpacked(data: bytes) -> dict[str, bytes]:
    """The files of a zip archive."""
    packed = ZipFile(io.BytesIO(data))
    return {name: packed.read(name) for name in packed.namelist()}


def endless() -> bytes:
    """A PDF whose page draws a form ten times, which draws another one ten times, and so on."""
    about = "/Type /XObject /Subtype /Form /BBox [0 0 9 9] /Resources << /XObject << /N {} 0 R >> >>"
    forms = [stream(b"/N Do " * 10, about.format(6 + number)) for number in range(12)]
    last = stream(
        b"BT /F1 9 Tf (x) Tj ET", "/Type /XObject /Subtype /Form /BBox [0 0 9 9] /Resources << /Font << /F1 3 0 R >> >>"
    )
    return pdf(contents=[b"/X5 Do " * 10], extra=[*forms, last])


@pytest.mark.parametrize(
    ("data", "says"),
    [
        (b"%PDF-1.4\nnothing", "is damaged: it cannot be opened as a PDF."),
        (pdf(MOTOR)[:300], "is damaged: it cannot be opened as a PDF."),
        (encrypted(), "is encrypted."),
        (pdf(PICTURE, PICTURE), "has only pictures of pages, without text."),
        (lambda: pdf(*[""] * 2001), "has 2,001 pages; the limit is 2,000."),
        (word()[:2000], "is damaged: it cannot be unpacked."),
        (office("<w:document"), "is damaged: it cannot be unpacked."),
        (office(WORD.format("<w:p/>")), "has no text."),
        (OLD, "is in an old format of Office, or encrypted."),
        (archive({**unpacked(word()), "word/styles.xml": "<w"}), "is damaged: it cannot be unpacked."),
        (office("<x/>", kind="spreadsheetml.sheet"), "is a file of Office, but no DOCX or PPTX."),
        (archive({"a.txt": "words"}), "is a zip archive, but no DOCX, PPTX or EPUB."),
        (lambda: office(WORD.format(" " * (130 << 20))), "is larger than 128 MB when it is unpacked."),
        (book(**{"META-INF__encryption_dot_xml": ENCRYPTION}), "is encrypted by its seller."),
        (b"<html><script>x</script></html>", "has no text."),
        (b"<html>" + (b"<p>" + b"words " * 2000) * 200, "has more than 2,000,000 characters of text."),
        (b"<html>" + b"<div>" * 9000 + b"words", "is nested too deeply to be read."),
        (mail("> only a quote", attach=False), "has no text."),
    ],
)  # fmt: skip
def test_one_sentence_says_why(data: bytes | Callable[[], bytes], says: str) -> None:
    content = data if isinstance(data, bytes) else data()
    with pytest.raises(Problem) as problem:
        read(kind_of(content, "") or "", content)
    why, hint = problem.value.args
    assert (why, hint.endswith((".", "`"))) == (says, True)


@pytest.mark.parametrize(
    ("verb", "name", "data", "says"),
    [
        (("digest", "file"), "a.docx", office(LAUGH), "a.docx "),
        (("ingest",), "a.pdf", pdf(MOTOR)[:300], "a.pdf is damaged: it cannot be opened as a PDF."),
        (("ingest",), "a.pdf", b"just words", "a.pdf is no PDF: its bytes are not those of one."),
    ],
)
def test_what_cannot_be_read_changes_nothing(
    clawmem: Command, vault: Vault, tmp_path: Path, verb: tuple[str, ...], name: str, data: bytes, says: str
) -> None:
    (tmp_path / name).write_bytes(data)
    before = vault.head()
    result = clawmem(*verb, str(tmp_path / name))
    assert (result.code, result.out) == (2, ""), result.err
    assert result.err.startswith(f"error: {says}") and "\nhint: " in result.err and result.err.count("\n") == 2
    assert vault.head() == before


def test_an_entity_of_xml_is_not_loaded() -> None:
    paragraphs = f"<w:p><w:r><w:t>{MOTOR}</w:t></w:r></w:p><w:p><w:r><w:t>&e;</w:t></w:r></w:p>"
    assert read("zip", office(ENTITY + WORD.format(paragraphs)))["text"] == f"{MOTOR}\n"


def test_the_bytes_count_and_not_the_name(clawmem: Command, tmp_path: Path) -> None:
    (tmp_path / "report.pdf").write_bytes(PAGE.encode())
    assert clawmem("digest", "file", str(tmp_path / "report.pdf")).code == 0
    assert "Pump station > Motor" in clawmem("list", "--json").out


def test_a_document_that_takes_too_long_is_given_up(clawmem: Command, tmp_path: Path) -> None:
    (tmp_path / "loop.pdf").write_bytes(endless())
    clawmem("config", "set", "documents.seconds", "1")
    result = clawmem("digest", "file", str(tmp_path / "loop.pdf"))
    assert result.code == 2
    assert result.err.startswith("error: loop.pdf takes more than 1 s to read, and was given up.\nhint: Split it")


def test_a_document_that_needs_too_much_memory_is_given_up(clawmem: Command, tmp_path: Path) -> None:
    (tmp_path / "large.docx").write_bytes(
        office(WORD.format("<w:p/>" * 300_000 + f"<w:p><w:r><w:t>{MOTOR}</w:t></w:r></w:p>"))
    )
    clawmem("config", "set", "documents.megabytes", "50")
    result = clawmem("digest", "file", str(tmp_path / "large.docx"))
    assert result.code == 2
    assert "large.docx is damaged, or needs more than 50 MB of memory to read." in result.err
    clawmem("config", "set", "documents.megabytes", "3000")
    assert clawmem("digest", "file", str(tmp_path / "large.docx")).code == 0


def test_without_the_extra_one_line_says_how_to_install_it(
    environment: dict[str, str], vault: Vault, tmp_path: Path
) -> None:
    """The libraries cannot be imported, as on a machine without them. Mail of plain text needs none."""
    names = ("pypdfium2", "lxml", "docx", "pptx")
    for name in names:
        (tmp_path / f"{name}.py").write_text(f"raise ModuleNotFoundError('absent', name={name!r})\n")

    def run(words: list[str], data: bytes) -> subprocess.CompletedProcess[bytes]:
        env = {**environment, "PYTHONPATH": str(tmp_path)}
        return subprocess.run([sys.executable, *words], input=data, cwd=vault.root, env=env, capture_output=True)

    for kind, data in (("pdf", pdf(MOTOR)), ("html", PAGE.encode()), ("zip", word()), ("zip", slides())):
        answer = run([reader.__file__, kind, "9", "3000", str(tmp_path), *sys.path], data).stdout
        assert json.loads(answer)["missing"] in names
    before = vault.head()
    refused = run(["-m", "clawmem", "digest", "file", "-"], pdf(MOTOR))
    assert (refused.returncode, vault.head()) == (1, before)
    assert refused.stderr.decode() == (
        "error: stdin is read by the extra `documents`, which is not installed.\n"
        "hint: Install it with `pip install 'clawmem-vault[documents]'`.\n"
    )
    mailed = run(["-m", "clawmem", "digest", "file", "-"], mail(MOTOR, attach=False))
    assert (mailed.returncode, b"read by rules only" in mailed.stderr) == (0, True)


def test_text_stays_text_where_it_is_asked_for(clawmem: Command) -> None:
    assert clawmem("ingest", "-", "--format", "document", given="words").code == 2
    assert clawmem("ingest", "-", "--format", "text", "--json", given=PAGE).data["format"] == "text"
