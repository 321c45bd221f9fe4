"""Documents as programs write them, and hostile ones: each as bytes."""

from __future__ import annotations

import io
import zlib
from collections.abc import Iterable, Mapping, Sequence
from email.message import EmailMessage
from zipfile import ZIP_DEFLATED, ZipFile

import docx
import pptx
from pptx.util import Inches

PICTURE = "(picture)"
"""A page of a PDF that has a picture and no text."""
_IMAGE = b"q 300 0 0 300 50 400 cm BI /W 1 /H 1 /BPC 8 /CS /G ID \x80 EI Q"
WORD = "<w:document xmlns:w='http://schemas.openxmlformats.org/wordprocessingml/2006/main'><w:body>{}</w:body></w:document>"
RUN = "<w:r><w:t xml:space='preserve'>{}</w:t></w:r>"
"""The main part of a DOCX, and a run of it."""
MOTOR = "The pump at Bergen has a motor of 45 kW and runs at 1480 rpm."
BEARING = "The motor must be greased every 400 hours because the bearing wears."


def pdf(*pages: str, contents: Sequence[bytes] = (), extra: Sequence[bytes] = ()) -> bytes:
    """A PDF with a page for each text, one line of it below the other. `contents` are more pages, as they are drawn;
    `extra` are objects from the number 5 on, resources of every page as `/X5` and so on."""
    drawn = [*(_IMAGE if page == PICTURE else _lines(page) for page in pages), *contents]
    forms = " ".join(f"/X{number} {number} 0 R" for number in range(5, 5 + len(extra)))
    resources = f"<< /Font << /F1 3 0 R >> /XObject << {forms} >> >>"
    first = 5 + len(extra)
    kids = " ".join(f"{first + 2 * number} 0 R" for number in range(len(drawn)))
    objects = [
        b"<< /Type /Catalog /Pages 2 0 R >>",
        f"<< /Type /Pages /Kids [{kids}] /Count {len(drawn)} /MediaBox [0 0 600 800] >>".encode(),
        b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >>",
        b"<< >>",
        *extra,
    ]
    for number, content in enumerate(drawn):
        page = f"<< /Type /Page /Parent 2 0 R /Resources {resources} /Contents {first + 2 * number + 1} 0 R >>"
        objects += [page.encode(), stream(content)]
    out, places = io.BytesIO(b"%PDF-1.4\n"), []
    out.seek(0, io.SEEK_END)
    for number, body in enumerate(objects, 1):
        places.append(out.tell())
        out.write(b"%d 0 obj\n%s\nendobj\n" % (number, body))
    table = out.tell()
    out.write(b"xref\n0 %d\n0000000000 65535 f \n" % (len(objects) + 1))
    out.write(b"".join(b"%010d 00000 n \n" % place for place in places))
    out.write(b"trailer << /Size %d /Root 1 0 R >>\nstartxref\n%d\n%%%%EOF\n" % (len(objects) + 1, table))
    return out.getvalue()


def stream(content: bytes, about: str = "") -> bytes:
    """An object with compressed content."""
    packed = zlib.compress(content)
    return f"<< /Length {len(packed)} /Filter /FlateDecode {about} >>\nstream\n".encode() + packed + b"\nendstream"


def _lines(text: str) -> bytes:
    shown = (line.replace("\\", "\\\\").replace("(", "\\(").replace(")", "\\)") for line in text.split("\n"))
    rows = "".join(f"({line}) Tj T*\n" for line in shown)
    return f"BT /F1 11 Tf 14 TL 50 750 Td\n{rows}ET".encode("cp1252")


def word() -> bytes:
    """A DOCX with headings, a list, a table, a deletion and hidden words."""
    document = docx.Document()
    document.add_heading("Pump station", 1)
    document.add_heading("Motor", 2)
    document.add_paragraph(MOTOR)
    document.add_paragraph("Spare bearings are in the cellar.", style="List Bullet")
    document.add_paragraph("Words that nobody sees.").runs[0].font.hidden = True
    table = document.add_table(2, 2)
    for cell, text in zip(
        (cell for row in table.rows for cell in row.cells), "Part Price Bearing 40".split(), strict=True
    ):
        cell.text = text
    document.add_heading("People", 2)
    document.add_paragraph("Jane Miller owns the station since 2019.")
    return _saved(document)


def slides() -> bytes:
    """A PPTX: a title with text and notes, a table, and a hidden slide."""
    deck = pptx.Presentation()
    first = deck.slides.add_slide(deck.slide_layouts[1])
    first.shapes.title.text = "Motor"
    first.placeholders[1].text = MOTOR
    first.notes_slide.notes_text_frame.text = BEARING
    second = deck.slides.add_slide(deck.slide_layouts[6])
    table = second.shapes.add_table(1, 2, Inches(1), Inches(1), Inches(4), Inches(1)).table
    table.cell(0, 0).text, table.cell(0, 1).text = "Bearing", "40"
    hidden = deck.slides.add_slide(deck.slide_layouts[1])
    hidden.shapes.title.text = "Not to be shown"
    hidden._element.set("show", "0")
    return _saved(deck)


def slide_of_runs(*runs: tuple[str, Mapping[str, str]]) -> bytes:
    """A PPTX whose only slide has one paragraph of these runs, each with the attributes of its look."""
    deck = pptx.Presentation()
    slide = deck.slides.add_slide(deck.slide_layouts[6])
    paragraph = slide.shapes.add_textbox(Inches(1), Inches(1), Inches(4), Inches(1)).text_frame.paragraphs[0]
    for text, look in runs:
        run = paragraph.add_run()
        run.text = text
        run._r.get_or_add_rPr().attrib.update(look)
    return _saved(deck)


def _saved(document: docx.document.Document | pptx.presentation.Presentation) -> bytes:
    out = io.BytesIO()
    document.save(out)
    return out.getvalue()


def archive(files: Mapping[str, str | bytes]) -> bytes:
    """A zip archive."""
    out = io.BytesIO()
    with ZipFile(out, "w", ZIP_DEFLATED) as packed:
        for name, content in files.items():
            packed.writestr(name, content)
    return out.getvalue()


def office(main: str, others: Mapping[str, str] | None = None, kind: str = "wordprocessingml.document") -> bytes:
    """A DOCX whose main part is this XML. `others` are more parts by their name without suffix, such as `footnotes`;
    `kind` is that of another file of Office."""
    of, parts = "http://schemas.openxmlformats.org", {"officeDocument": main, **(others or {})}
    about = f"{of}/officeDocument/2006/relationships"

    def links(folder: str, names: Iterable[str]) -> str:
        rows = (f'<Relationship Id="{n}" Type="{about}/{n}" Target="{folder}{n}.xml"/>' for n in names)
        return f'<Relationships xmlns="{of}/package/2006/relationships">{"".join(rows)}</Relationships>'

    main_type = f"application/vnd.openxmlformats-officedocument.{kind}.main+xml"
    types = (
        f'<Types xmlns="{of}/package/2006/content-types"><Default Extension="xml" ContentType="application/xml"/>'
        '<Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/>'
        f'<Override PartName="/word/officeDocument.xml" ContentType="{main_type}"/></Types>'
    )
    return archive({
        "[Content_Types].xml": types,
        "_rels/.rels": links("word/", ["officeDocument"]),
        "word/_rels/officeDocument.xml.rels": links("", others or ()),
        **{f"word/{name}.xml": content for name, content in parts.items()},
    })  # fmt: skip


def book(**more: str) -> bytes:
    """An EPUB of two chapters and a table of contents; the spine turns the order of the files around."""
    items = "".join(f'<item id="{name}" href="{name}%20x.xhtml" media-type="x"/>' for name in ("b", "a"))
    nav = '<item id="n" properties="nav" href="nav.xhtml"/>'
    spine = "".join(f'<itemref idref="{name}"/>' for name in ("n", "a", "b"))
    package = f'<package xmlns="http://www.idpf.org/2007/opf"><manifest>{items}{nav}</manifest><spine>{spine}</spine></package>'
    container = '<container><rootfiles><rootfile full-path="O/p.opf"/></rootfiles></container>'
    page = '<?xml version="1.0" encoding="utf-8"?><html xmlns="http://www.w3.org/1999/xhtml"><body><h1>{}</h1><p>{}</p></body></html>'
    return archive({
        "mimetype": "application/epub+zip",
        "META-INF/container.xml": container,
        "O/p.opf": package,
        "O/nav.xhtml": page.format("Contents", "Chapter one"),
        "O/b x.xhtml": page.format("Second", BEARING),
        "O/a x.xhtml": page.format("First", MOTOR),
        **{name.replace("__", "/").replace("_dot_", "."): text for name, text in more.items()},
    })  # fmt: skip


PAGE = f"""<!DOCTYPE html>
<html><head><title>Pumps of Bergen</title>
<style>.gone, #away {{ display: none }} @media print {{ p {{ display: none }} }}</style>
<script>var stolen = "The script says nothing of worth to anybody.";</script></head>
<body><nav>Home About Contact</nav><header><h1>Pump station</h1></header>
<h2>Motor</h2><p>{MOTOR}<!-- a remark --></p>
<p style="display: none">Hidden by its style.</p><p class="gone">Hidden by the sheet.</p><p id="away">Hidden by id.</p>
<p style="color: #ffffff">White on white.</p><p hidden>Hidden by an attribute.</p>
<ul><li>Spare <b>bearings</b> are in the cellar.<ul><li>They cost 40 crowns.</li></ul></li></ul>
<table><tr><th>Part</th><th>Price</th></tr><tr><td>Bearing</td><td>40</td></tr></table>
<pre>code {{<i hidden>never shown</i>
  stays
}}</pre>
<h2>Care<a href="#care">¶</a></h2><p>{BEARING}</p><footer>Imprint</footer></body></html>"""


def mail(text: str, attach: bool = True, **fields: str) -> bytes:
    """A mail of Jane to Ada and Bob, with an attachment or without."""
    message = EmailMessage()
    header = {
        "From": "Jane Miller <jane@example.org>",
        "To": "Ada <ada@example.org>, bob@example.org",
        "Date": "Wed, 04 Mar 2026 10:00:00 +0100",
        "Subject": "The pump",
        "Message-ID": "<m1@example.org>",
        **{name.replace("_", "-"): value for name, value in fields.items()},
    }
    for name, value in header.items():
        message[name] = value
    message.set_content(text)
    if attach:
        message.add_attachment(b"%PDF-1.4", maintype="application", subtype="pdf", filename="plan.pdf")
    return message.as_bytes()
