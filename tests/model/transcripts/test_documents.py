"""What the first bytes of a file tell of it."""

from __future__ import annotations

import pytest

from clawmem.errors import InvalidInput
from clawmem.model.transcripts.documents import kind_of

HEADER = b"Received: from x\r\n by y\r\nFrom: Jane <jane@example.org>\r\nSubject: Hello\r\n\r\nHello."


@pytest.mark.parametrize(
    ("head", "name", "kind"),
    [
        (b"%PDF-1.7\n", "stdin", "pdf"), (b"junk\n%PDF-1.7\n", "a.PDF", "pdf"), (b"junk\n%PDF-1.7\n", "a.txt", None),
        (b"PK\x03\x04", "stdin", "zip"), (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", "a.doc", "office"),
        (b"\xef\xbb\xbf <!-- a --> <!-- b -->\n<!DOCTYPE HTML>", "stdin", "html"),
        (b"<?xml version='1.0'?><html>", "x", "html"),
        (b"<div>part</div>", "a.html", "html"), (b"<div>part</div>", "a.md", None), (b"just words", "a.html", None),
        (HEADER, "stdin", "mail"), (b"From: Jane\nSubject: Hello\n\nHello.", "a.eml", "mail"),
        (b"From: Jane\nSubject: Hello\n\nA note about mail.", "a.txt", None),
        (b'{"role": "user", "content": "%PDF-1.4 and <html>"}', "a.jsonl", None), (b"", "a.txt", None),
    ],
)  # fmt: skip
def test_the_bytes_tell_the_kind(head: bytes, name: str, kind: str | None) -> None:
    assert kind_of(head, name) == kind


@pytest.mark.parametrize("name", ["a.pdf", "a.docx", "a.pptx", "a.epub", "a.doc"])
def test_a_name_that_the_bytes_belie_is_refused(name: str) -> None:
    with pytest.raises(InvalidInput, match="its bytes are not those of one"):
        kind_of(b"just words", name)


@pytest.mark.parametrize("piece", [b"<!-- -->", b"<!-- --", b"<a", b"a", b"a:\n", b" ", b"\n", b"<?xml ", b"a: b\n \n"])
def test_no_head_is_slow_to_tell(piece: bytes) -> None:
    """Each would take hours if the time grew with the square of its length, or faster."""
    for name in ("a.html", "a.eml", "a.md"):
        assert kind_of(piece * (262_144 // len(piece)) + b"x", name) in ("html", "mail", None)
