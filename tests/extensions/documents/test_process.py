"""Documents that cannot be read: each gives one sentence, a hint and an exit code, and nothing is written."""

from __future__ import annotations

import io
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from zipfile import ZipFile

import pytest

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
    ("name", "data", "says"),
    [
        ("a.pdf", b"%PDF-1.4\nnothing", "a.pdf is damaged: it cannot be opened as a PDF."),
        ("a.pdf", pdf(MOTOR)[:300], "a.pdf is damaged: it cannot be opened as a PDF."),
        ("a.pdf", encrypted(), "a.pdf is encrypted."),
        ("a.pdf", pdf(PICTURE, PICTURE), "a.pdf has only pictures of pages, without text."),
        ("a.pdf", lambda: pdf(*[""] * 5000), "a.pdf has 5,000 pages; the limit is 2,000."),
        ("a.pdf", b"just words", "a.pdf is no PDF: its bytes are not those of one."),
        ("a.pdf", b"", "a.pdf is empty."),
        ("a.docx", word()[:2000], "a.docx is damaged: it cannot be unpacked."),
        ("a.docx", office("<w:document"), "a.docx is damaged: it cannot be unpacked."),
        ("a.docx", office(WORD.format("<w:p/>")), "a.docx has no text."),
        ("a.docx", office(LAUGH), "a.docx "),
        ("a.docx", OLD, "a.docx is in an old format of Office, or encrypted."),
        ("a.docx", archive({**unpacked(word()), "word/styles.xml": "<w"}), "a.docx is damaged: it cannot be unpacked."),
        ("a.docx", office("<x/>", kind="spreadsheetml.sheet"), "a.docx is a file of Office, but no DOCX or PPTX."),
        ("a.zip", archive({"a.txt": "words"}), "a.zip is a zip archive, but no DOCX, PPTX or EPUB."),
        ("a.docx", lambda: office(WORD.format(" " * (130 << 20))), "a.docx is larger than 128 MB when it is unpacked."),
        ("a.epub", book(**{"META-INF__encryption_dot_xml": ENCRYPTION}), "a.epub is encrypted by its seller."),
        ("a.html", b"<html><script>x</script></html>", "a.html has no text."),
        ("a.html", b"<html>" + (b"<p>" + b"words " * 2000) * 200, "a.html has more than 2,000,000 characters of text."),
        ("a.html", b"<html>" + b"<div>" * 9000 + b"words", "a.html is nested too deeply to be read."),
        ("a.eml", mail("> only a quote", attach=False), "a.eml has no text."),
    ],
)  # fmt: skip
def test_one_sentence_says_why(
    clawmem: Command, vault: Vault, tmp_path: Path, name: str, data: bytes | Callable[[], bytes], says: str
) -> None:
    (tmp_path / name).write_bytes(data if isinstance(data, bytes) else data())
    before = vault.head()
    # Both verbs read by the same process: each has its share of the files.
    verb = ("digest", "file") if name == "a.docx" else ("ingest",)
    result = clawmem(*verb, str(tmp_path / name))
    assert (result.code, result.out) == (2, ""), result.err
    assert result.err.startswith(f"error: {says}") and "\nhint: " in result.err and result.err.count("\n") == 2
    assert vault.head() == before


def test_an_entity_of_xml_is_not_loaded(clawmem: Command) -> None:
    paragraphs = f"<w:p><w:r><w:t>{MOTOR}</w:t></w:r></w:p><w:p><w:r><w:t>&e;</w:t></w:r></w:p>"
    clawmem("digest", "file", "-", given=office(ENTITY + WORD.format(paragraphs)))
    (fact,) = clawmem("list", "--json").data["facts"]
    assert clawmem("why", fact["id"], "--json").data["event"]["text"] == f"{MOTOR}\n"


def test_the_bytes_count_and_not_the_name(clawmem: Command, tmp_path: Path) -> None:
    (tmp_path / "report.pdf").write_bytes(PAGE.encode())
    (tmp_path / "report.html").write_bytes(pdf(MOTOR))
    for name, place in (("report.pdf", "Pump station > Motor"), ("report.html", "Page 1")):
        assert clawmem("digest", "file", str(tmp_path / name)).code == 0
        assert place in clawmem("list", "--json").out or place == "Page 1"


def test_a_document_that_takes_too_long_is_given_up(clawmem: Command, tmp_path: Path) -> None:
    (tmp_path / "loop.pdf").write_bytes(endless())
    clawmem("config", "set", "documents.seconds", "1")
    result = clawmem("digest", "file", str(tmp_path / "loop.pdf"))
    assert result.code == 2
    assert result.err.startswith("error: loop.pdf takes more than 1 s to read, and was given up.\nhint: Split it")


def test_a_document_that_needs_too_much_memory_is_given_up(clawmem: Command, tmp_path: Path) -> None:
    (tmp_path / "large.docx").write_bytes(
        office(WORD.format("<w:p/>" * 900_000 + f"<w:p><w:r><w:t>{MOTOR}</w:t></w:r></w:p>"))
    )
    clawmem("config", "set", "documents.megabytes", "150")
    result = clawmem("digest", "file", str(tmp_path / "large.docx"))
    assert result.code == 2
    assert "large.docx is damaged, or needs more than 150 MB of memory to read." in result.err
    clawmem("config", "set", "documents.megabytes", "3000")
    assert clawmem("digest", "file", str(tmp_path / "large.docx")).code == 0


def test_without_the_extra_one_line_says_how_to_install_it(
    clawmem: Command, environment: dict[str, str], vault_root: Path, tmp_path: Path
) -> None:
    """The libraries cannot be imported, as on a machine without them. Mail of plain text needs none."""
    for name in ("pypdfium2", "lxml", "docx", "pptx"):
        (tmp_path / f"{name}.py").write_text(f"raise ModuleNotFoundError('absent', name={name!r})\n")

    def run(name: str, data: bytes) -> tuple[int, str]:
        (tmp_path / name).write_bytes(data)
        process = subprocess.run(
            [sys.executable, "-m", "clawmem", "digest", "file", str(tmp_path / name)],
            cwd=vault_root, env={**environment, "PYTHONPATH": str(tmp_path)}, capture_output=True, text=True,
            check=False,
        )  # fmt: skip
        return process.returncode, process.stderr

    before = clawmem("log", "--json").data
    for name, data in (("x.pdf", pdf(MOTOR)), ("x.html", PAGE.encode()), ("x.docx", word()), ("x.pptx", slides())):
        says = f"error: {name} is read by the extra `documents`, which is not installed.\n"
        assert run(name, data) == (1, f"{says}hint: Install it with `pip install 'clawmem-vault[documents]'`.\n")
    assert clawmem("log", "--json").data == before
    code, says = run("x.eml", mail(MOTOR, attach=False))
    assert (code, "read by rules only" in says) == (0, True)


def test_text_stays_text_where_it_is_asked_for(clawmem: Command) -> None:
    assert clawmem("ingest", "-", "--format", "document", given="words").code == 2
    assert clawmem("ingest", "-", "--format", "text", "--json", given=PAGE).data["format"] == "text"
