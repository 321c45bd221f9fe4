"""Documents that are no plain text: how their bytes tell them, and what becomes of the text that is read from them."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from clawmem.errors import InvalidInput
from clawmem.model.facts.fact import EXTERNAL
from clawmem.model.transcripts.message import Message, time_of
from clawmem.model.transcripts.notes import NumberedLine, read_markdown

ANSWER = "document"
"""Under this name an extension reads documents: from bytes, kind, name and settings to a DocumentText."""

_MAGIC = {b"PK\x03\x04": "zip", b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1": "office"}
_BINARY = ("pdf", "docx", "pptx", "epub", "doc", "ppt")
_HTML = re.compile(rb"\s*(?:<\?xml[^>]*>\s*)?(?>(?><!--.*?-->)\s*)*+<(?:!doctype html|html|head|body)\b", re.I | re.S)
_TAG = re.compile(rb"<[a-z][^<>]*>", re.I)
_FIELD = re.compile(rb"([!-9;-~]+):[^\n]*\n(?:[ \t][^\n]*\n)*")
_OF_MAIL = frozenset((b"message-id", b"mime-version", b"received"))
MAILBOX = "mbox"
_NEXT_MAIL = re.compile(rb"^From \S+ [^\n]*\d:\d\d[^\n]*\n(?=[!-9;-~]+:)", re.MULTILINE)


class DocumentText(NamedTuple):
    """What is read from a document: its text as Markdown, in which pages and slides are headings, what a person should
    know about it, and the header of a mail: `heading`, `speaker`, `timestamp`, `id`, `thread` and `to`. `mails` are
    those of a mailbox."""

    text: str
    notices: tuple[str, ...] = ()
    mail: Mapping[str, Any] | None = None
    mails: tuple[DocumentText, ...] = ()

    @property
    def audience(self) -> dict[str, Any]:
        """The metadata that says for whom a mail is."""
        return {"to": self.mail["to"]} if self.mail and self.mail["to"] else {}


def kind_of(head: bytes, name: str) -> str | None:
    """Return what the first bytes of a file are: `pdf`, `zip`, `office` (the old formats), `html`, `mail` or `mbox`;
    None for text. Raise InvalidInput if they are not what the name says."""
    suffix = name.lower().rpartition(".")[2] if "." in name else ""
    if head.lstrip().startswith(b"%PDF-") or (suffix == "pdf" and b"%PDF-" in head[:1024]):
        return "pdf"
    for magic, kind in _MAGIC.items():
        if head.startswith(magic):
            return kind
    bare = head.removeprefix(b"\xef\xbb\xbf")
    if _HTML.match(bare) or (suffix in ("html", "htm", "xhtml") and _TAG.search(bare)):
        return "html"
    if _NEXT_MAIL.match(bare):
        return MAILBOX
    if _is_mail(bare) or (suffix == "eml" and _FIELD.match(bare)):
        return "mail"
    if suffix in _BINARY:
        what = "is empty" if not head else f"is no {suffix.upper()}: its bytes are not those of one"
        raise InvalidInput(f"{name} {what}.", "Name the file itself; text is read if its name ends in .txt or .md.")
    return None


def _is_mail(head: bytes) -> bool:
    """Return whether a text begins with header fields as only a program writes them."""
    names, at, head = set(), 0, head.replace(b"\r\n", b"\n")
    while field := _FIELD.match(head, at):
        names.add(field[1].lower())
        at = field.end()
    return b"from" in names and not names.isdisjoint(_OF_MAIL)


def read_document_text(document: DocumentText, role: str, name: str) -> Iterator[Message]:
    """Yield a mail as one message of its sender, and another document as Markdown. Nothing of it is the user's word."""
    for mail in document.mails:
        yield from read_document_text(mail, role, name)
    if document.mail is None:
        lines = (NumberedLine(number, line) for number, line in enumerate(document.text.splitlines(), 1))
        yield from (message._replace(trust=EXTERNAL) for message in read_markdown(lines, role, name))
        return
    header = document.mail
    thread = header["thread"] or header["id"]
    session = f"mail-{hashlib.sha256(thread.encode()).hexdigest()[:12]}" if thread else None
    about = {"heading": header["heading"], **document.audience}
    body = document.text.partition("\n")[2].strip()
    message = Message(1, "user", body, time_of(header["timestamp"]), header["speaker"], session, header["id"])
    yield message._replace(metadata=about, trust=EXTERNAL)
