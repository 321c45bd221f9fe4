"""The program that reads one document: its bytes on stdin, its text as JSON on stdout.

    python -I reader.py KIND SECONDS MEGABYTES [SYS_PATH ...]

It imports nothing of clawmem, writes no file and fetches nothing. The text is Markdown: what a page, a slide or a
heading is in the document is a heading in the text. The answer has `text` and `notices`, of mail `mail` as well; or a
`problem` with a `hint`, as the ends of sentences that begin with the name of the file; or what is `missing`.
"""

from __future__ import annotations

import io
import json
import posixpath
import re
import sys
import zlib
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from itertools import groupby, pairwise
from typing import Any, NamedTuple
from urllib.parse import unquote
from zipfile import BadZipFile, ZipFile

if sys.platform != "win32":
    import resource

MOST_CHARACTERS = 2_000_000
_MOST_PAGES, _MOST_UNPACKED = 2_000, 128 << 20
_SPLIT = "Split it, and read the parts one by one."
_DAMAGED = "Open it in the program that made it, and save it again."


class Problem(Exception):
    """Why the document is not read, and what helps."""


class Text(NamedTuple):
    """The blocks of a document as Markdown, what to know about them, and of mail its header."""

    blocks: Iterable[str]
    notices: list[str]
    mail: Mapping[str, object] | None = None


def main() -> None:
    """Read the document on stdin within the limits of the arguments, and write the answer."""
    kind, seconds, megabytes = sys.argv[1], float(sys.argv[2]), int(sys.argv[3])
    # What is installed for the program that asks is installed for this one.
    sys.path[:] = sys.argv[4:]
    if sys.platform != "win32":  # who started this ends it in time there, and nothing limits its memory
        for name, most in {"CPU": int(seconds) + 1, "AS": megabytes << 20, "FSIZE": 0, "CORE": 0}.items():
            with suppress(ValueError, OSError):  # not every system has every limit
                resource.setrlimit(getattr(resource, f"RLIMIT_{name}"), (most, most))
    try:
        answer = read(kind, sys.stdin.buffer.read())
    except Problem as problem:
        answer = {"problem": problem.args[0], "hint": problem.args[1]}
    except ModuleNotFoundError as problem:
        answer = {"missing": problem.name}
    except (MemoryError, RecursionError):
        answer = {"memory": True}
    sys.stdout.buffer.write(json.dumps(answer).encode())


def read(kind: str, data: bytes) -> dict[str, Any]:
    """Return the answer about a document, of a mailbox also `mails`, those about its mails. Raise Problem."""
    if kind == "mbox":
        return _mailbox(data)
    found = _FORMATS[kind](data)
    blocks, length = [], 0
    for block in filter(None, found.blocks):
        blocks.append(block)
        length += len(block) + 2
        if length > MOST_CHARACTERS:
            raise Problem(f"has more than {MOST_CHARACTERS:,} characters of text.", _SPLIT)
    if all(block.startswith("#") for block in blocks):
        raise Problem("has no text.", "If it shows pictures of text, make text of them first: `ocrmypdf` does.")
    return {"text": "\n\n".join(blocks) + "\n", "notices": found.notices, "mail": found.mail}


# Markdown. Words of a document must not become its structure, and what would hide or reorder text is left out.

_STRUCTURE = re.compile(r"#{1,6}[ \t]|```|~~~|[-=]+$|[_*]{3,}$|\||>")
_INVISIBLE = re.compile(
    r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\xad\u200b\u200e\u200f\u202a-\u202e\u2060-\u2064\u2066-\u206f\ufeff\ufffe\uffff"
    "\ud800-\udfff\U000e0000-\U000e007f]"
)
_ITEM = re.compile(r"[•‣▪◦●∙·]\s*(?=\S)")
# Signs of Windows' code page that a document has in place of those of Unicode, and ligatures.
_LETTERS: dict[int, str] = dict(zip(range(0x91, 0x98), "‘’“”•–—", strict=True))
_LETTERS |= dict(zip(range(0xFB00, 0xFB07), "ff fi fl ffi ffl st st".split(), strict=True))
_NOTE_NUMBER = re.compile(r"[\s\d,;–*†‡§¶()\[\]-]+|[a-z](?:,\s?[a-z])*")
# After a unit, a variable or a ten, what is raised is a power.
_BASE = re.compile(r"(?:(?<![^\W\d_])(?:[kcmdµμn]?m|ft|in|yd|mi|[^\W\d_] ?)|(?<![\d.,])10)$")
_RAISED = frozenset("0123456789(*†‡§+-−–")
_POWERS = str.maketrans("0123456789+-−", "⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻⁻")


def _clean(text: str) -> str:
    return " ".join(_INVISIBLE.sub("", text.translate(_LETTERS)).split())


def _raised(before: str, text: str) -> str:
    """Return what stands for raised characters after a text: a power as such, and nothing for the number of a note."""
    if _BASE.search(before[-4:]) and re.fullmatch(r"[+−-]?\d+", text):
        return text.translate(_POWERS)
    return "" if _NOTE_NUMBER.fullmatch(text) else text


def _with_raised(pieces: Iterable[tuple[bool, str]]) -> str:
    """Join pieces of text, of each of which it is said whether it is raised."""
    text = ""
    for raised, group in groupby(pieces, lambda piece: piece[0]):
        piece = "".join(words for _, words in group)
        text += _raised(text, piece) if raised else piece
    return text


def _paragraph(text: str) -> str:
    """Return a text as one block: one line for each of its lines."""
    lines = (_ITEM.sub("- ", line, count=1) if _ITEM.match(line) else line for line in map(_clean, text.split("\n")))
    return "\n".join(f"\\{line}" if _STRUCTURE.match(line) else line for line in lines if line)


def _heading(level: int, text: str) -> str:
    title = _clean(text).strip("¶§ ")  # signs that link to the heading itself
    return f"{'#' * min(level, 6)} {title[:200]}" if title else ""


def _table(rows: Iterable[Iterable[str]]) -> str:
    cells = [[_clean(cell).replace("|", "/") for cell in row] for row in rows]
    wide = max(map(len, cells), default=0)
    lines = [f"| {' | '.join([*row, *[''] * (wide - len(row))])} |" for row in cells if any(row)]
    return "\n".join([*lines[:1], f"|{' --- |' * wide}", *lines[1:]]) if lines else ""


# PDF.

_PAGE_NUMBER = re.compile(r"\W*(?:page|seite|p\.)?\s*(?:\d+|[ivx]{1,5})(?:\s*(?:of|von|/)\s*\d+)?\W*", re.IGNORECASE)
_RUNNING = 3
_SENTENCE_END = re.compile(r"[.!?:;][\"'”’)\]]*$")
# A line that ends so goes on in the next one, also before a capital.
_UNFINISHED = re.compile(
    r"(?:[,(–\xad]|\b(?:an?|and|are|as|at|by|for|from|if|in|is|of|on|or|than|that|the|to|which|with|"
    r"das|der|die|ein|für|im|in|mit|oder|und|von|zu|de|des|du|et|la|le|les|ou|y|el))$",
    re.IGNORECASE,
)
_FIRST_SENTENCE = re.compile(r".*?[.!?](?=\s|$)|.*", re.DOTALL)


@dataclass
class _Line:
    """A line of a page, or a paragraph with the place and the size of its first line."""

    text: str
    x: float
    y: float
    size: float


def _pdf(data: bytes) -> Text:
    import pypdfium2

    try:
        document = pypdfium2.PdfDocument(data)
        number = len(document)
    except pypdfium2.PdfiumError as problem:
        if "assword" in str(problem) or "ecurity" in str(problem):
            raise Problem("is encrypted.", "Save a copy without a password.") from None
        raise Problem("is damaged: it cannot be opened as a PDF.", _DAMAGED) from None
    if number > _MOST_PAGES:
        raise Problem(f"has {number:,} pages; the limit is {_MOST_PAGES:,}.", _SPLIT)
    pages: list[list[_Line]] = [[] for _ in range(number)]
    pictures, broken = [], []
    for place, lines in enumerate(pages):
        try:
            page = document[place]
            lines += _lines_of(page)
            if not lines and next(iter(page.get_objects(max_depth=3)), None) is not None:
                pictures.append(place + 1)
            page.close()
        except pypdfium2.PdfiumError:
            broken.append(place + 1)
    if not any(pages):
        why = "has only pictures of pages, without text." if pictures else "has no text."
        raise Problem(why, "Make text of the pictures first: `ocrmypdf` does.")
    notices = [
        *_notices("page", pictures, "is a picture without text", "are pictures without text"),
        *_notices("page", broken, "could not be read", "could not be read"),
    ]
    return Text(_page_blocks(_without_running_heads(pages)), notices)


def _notices(noun: str, numbers: list[int], singular: str, plural: str) -> Iterator[str]:
    """Yield a notice about some numbers, if there are any: `pages 3-5 and 9 are pictures`."""
    runs = [[number for _, number in run] for _, run in groupby(enumerate(numbers), lambda pair: pair[1] - pair[0])]
    words = [str(run[0]) if len(run) == 1 else f"{run[0]}-{run[-1]}" for run in runs]
    listed = " and ".join(filter(None, (", ".join(words[:-1]), *words[-1:])))
    if numbers:
        yield f"{noun} {listed} {singular}" if len(numbers) == 1 else f"{noun}s {listed} {plural}"


def _lines_of(page: Any) -> Iterator[_Line]:
    from ctypes import byref, c_double

    from pypdfium2 import raw

    text, x, y = page.get_textpage(), c_double(), c_double()

    def placed(at: int) -> _Line:
        index = raw.FPDFText_GetCharIndexFromTextIndex(text.raw, at)
        raw.FPDFText_GetCharOrigin(text.raw, index, byref(x), byref(y))
        return _Line("", x.value, y.value, raw.FPDFText_GetFontSize(text.raw, index))

    # A hyphen that only breaks a word is U+FFFE, or U+0002, and ends a line.
    for found in re.finditer("[^\n\ufffe\x02]*[\ufffe\x02]?", text.get_text_range()):
        line = re.sub("[\ufffe\x02]$", "\xad", found[0].rstrip())
        words = line.strip("\xad").split()
        letters: list[tuple[bool, str]] = []
        if words:
            first, middle = (placed(found.start() + line.index(word)) for word in (words[0], words[len(words) // 2]))
            for at, letter in enumerate(line, found.start()):
                own = placed(at) if letter in _RAISED or (letters and letters[-1][0] and letter != " ") else middle
                letters.append((own.size < 0.9 * middle.size and 0.2 * middle.size < own.y - middle.y, letter))
            yield _Line(_with_raised(letters), first.x, middle.y, middle.size)


def _without_running_heads(pages: list[list[_Line]]) -> list[list[_Line]]:
    """Leave out page numbers, and the lines at the top and the bottom that pages share."""

    def marks(page: int, line: _Line) -> set[str | int]:
        """What a running head has on other pages, too: its words, and how far its number is from that of the page."""
        numbers = re.findall(r"^\d{1,4}\b|\b\d{1,4}$", line.text.strip())
        return {re.sub(r"\d+", "#", _clean(line.text)).lower(), *(int(number) - page for number in numbers)}

    edges = []
    for page in pages:
        heights = sorted({round(line.y) for line in page})
        outer = {*heights[:2], *heights[-2:]} if len(heights) > 2 else set()
        edges.append([line for line in page if round(line.y) in outer])
    shared = Counter(mark for at, edge in enumerate(edges) for mark in set().union(*(marks(at, line) for line in edge)))
    for at, (page, edge) in enumerate(zip(pages, edges, strict=True)):
        for line in edge:
            running = any(
                shared[mark] >= max(_RUNNING, len(pages) // 4 * isinstance(mark, int)) for mark in marks(at, line)
            )
            if running or _PAGE_NUMBER.fullmatch(line.text):
                page.remove(line)
    return pages


def _page_blocks(pages: list[list[_Line]]) -> Iterator[str]:
    """Yield a heading for each page, and its paragraphs. A sentence belongs to the page on which it begins, also where
    a note or a figure stands between its parts."""
    texts = [_paragraphs(page) for page in pages]
    begun: _Line | None = None
    for block in (block for blocks in texts for block in blocks):
        if begun and block.size > 0.9 * begun.size:
            if block.size < 1.1 * begun.size and _goes_on(begun.text, block.text):
                moved = _FIRST_SENTENCE.findall(block.text)[0]
                begun.text, block.text = _joined(begun.text, moved), block.text[len(moved) :].strip()
            begun = None
        if begun is None and not _SENTENCE_END.search(block.text) and not _is_row(block.text):
            begun = block
    for number, blocks in enumerate(texts, 1):
        words = [_paragraph(block.text) for block in blocks]
        yield f"# Page {number}" if any(words) else ""
        yield from words


def _goes_on(text: str, after: str) -> bool:
    return after[:1].islower() or bool(_UNFINISHED.search(text)) or (len(text) > 200 and not _is_row(after[:100]))


def _paragraphs(lines: list[_Line]) -> list[_Line]:
    """Join the lines of each paragraph: what begins lower than a line, with another size, or as an item is another."""
    pairs = list(pairwise(lines))
    gaps = sorted(above.y - line.y for above, line in pairs if above.y - line.y > 1)
    usual = gaps[len(gaps) // 4] if gaps else 0
    short = 0.6 * max((len(line.text) for line in lines), default=0)
    found = [replace(line) for line in lines[:1]]
    for above, line in pairs:
        ended, row = _SENTENCE_END.search(above.text), _is_row(above.text)
        unended = ended or (row and re.search(r"\d", above.text)) or _UNFINISHED.search(above.text)
        lower, item = above.y > line.y, _ITEM.match(found[-1].text.lstrip())
        if (
            above.y - line.y > 1.4 * usual > 0
            or abs(above.size - line.size) > 0.2 * max(above.size, 1)
            or _ITEM.match(line.text.lstrip())
            or (not unended and len(above.text) < short and line.text[:1].isupper())
            or (ended and lower and line.x > above.x + 0.7 * line.size)
            or (item and lower and line.x < found[-1].x - 0.5 * line.size)
        ):
            found.append(replace(line))
        else:
            found[-1].text = _joined(found[-1].text, line.text, "\n" if row else " ")
    return found


def _joined(text: str, after: str, between: str = " ") -> str:
    if text.endswith("\xad") or (re.search(r"[a-zäöüß]-$", text) and after[:1].islower()):
        return text[:-1] + after
    return f"{text}{between}{after}"


def _is_row(line: str) -> bool:
    """Return whether a line is rather a row of a table or a title than a part of a sentence."""
    words = line.split()
    return 3 * sum(word[:1].islower() for word in words) < len(words)


# Zip archives: DOCX, PPTX and EPUB. The libraries resolve no entities and load nothing.

_W = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}"
_A = "{http://schemas.openxmlformats.org/drawingml/2006/main}"
_P = "{http://schemas.openxmlformats.org/presentationml/2006/main}"
_NAMES = {"w": _W[1:-1], "a": _A[1:-1], "mc": "http://schemas.openxmlformats.org/markup-compatibility/2006"}
_UNSEEN = """
    //w:del[not(parent::w:rPr)] | //w:moveFrom | //w:tr[w:trPr/w:del] | //w:tc[w:tcPr/w:cellDel] | //mc:Fallback
    | //w:r[w:rPr/*[self::w:vanish or self::w:strike or self::w:dstrike][not(@w:val = "0" or @w:val = "false")]]
    | //a:r[a:rPr/@strike != "noStrike"]"""
_IS_RAISED = "boolean(w:rPr/w:vertAlign/@w:val = 'superscript' or a:rPr/@baseline > 0)"
_LIST = -1
_NO_MEMORY = 2  # the code of libxml2
_FONTS = ("http://www.idpf.org/2008/embedding", "http://ns.adobe.com/pdf/enc#RC")
_OFFICE = re.compile(r"application/[\w.-]*(?:(word)|presentation|powerpoint)[\w.-]*main\+xml")


def _zipped(data: bytes) -> Text:
    from lxml import etree

    try:
        archive = ZipFile(io.BytesIO(data))
        if sum(file.file_size for file in archive.infolist()) > _MOST_UNPACKED:
            raise Problem(f"is larger than {_MOST_UNPACKED >> 20} MB when it is unpacked.", _SPLIT)
        if "META-INF/container.xml" in archive.namelist():
            return _epub(archive)
        if "[Content_Types].xml" not in archive.namelist():
            raise Problem(
                "is a zip archive, but no DOCX, PPTX or EPUB.",
                "`clawmem import FILE` takes the export of a chat program; else unpack it, and name a file of it.",
            )
        office = _OFFICE.search(archive.read("[Content_Types].xml").decode())
        if not office:
            raise Problem("is a file of Office, but no DOCX or PPTX.", "Save it as one of these, or as PDF or text.")
        return _docx(data, office[0]) if office[1] else _pptx(data)
    except (BadZipFile, EOFError, KeyError, NotImplementedError, OSError, RuntimeError, ValueError, zlib.error,
            etree.XMLSyntaxError) as problem:  # fmt: skip
        if getattr(problem, "code", None) == _NO_MEMORY:
            raise MemoryError from None
        if "encrypted" in str(problem):
            raise Problem("is encrypted.", "Save a copy without a password.") from None
        raise Problem("is damaged: it cannot be unpacked.", _DAMAGED) from None


def _seen(root: Any) -> Any:
    """Take out of a part what is deleted, moved away, hidden or struck out, and what stands in for newer features."""
    from lxml import etree

    for part in etree.XPath(_UNSEEN, namespaces=_NAMES)(root):
        part.getparent().remove(part)
    return root


def _text(element: Any) -> str:
    """Return the text of a part of a document or a slide: a line for each of its paragraphs."""
    from lxml import etree

    is_raised, lines = etree.XPath(_IS_RAISED, namespaces=_NAMES), []
    for paragraph in element.iter(f"{_W}p", f"{_A}p"):
        runs = _own_parts(paragraph, paragraph.tag, f"{_W}r", f"{_A}r", f"{_A}fld", f"{_A}br")
        lines.append(_with_raised((is_raised(run), run.text.replace("\v", "\n")) for run in runs))
    return "\n".join(lines)


def _own_parts(whole: Any, of: str, *tags: str) -> Iterator[Any]:
    """Yield the rows of a table, the cells of a row or the runs of a paragraph, without those of others in it."""
    return (part for part in whole.iter(*tags) if next(part.iterancestors(of)) is whole)


def _docx(data: bytes, content_type: str) -> Text:
    from docx.opc.part import PartFactory
    from docx.oxml import parse_xml
    from docx.package import Package
    from docx.parts.document import DocumentPart

    PartFactory.part_type_for[content_type] = DocumentPart  # a template, or a document with macros, too
    document = Package.open(io.BytesIO(data)).main_document_part.document
    levels = {style.style_id: _level(style) for style in document.styles}
    links = (link for link in document.part.rels.values() if link.reltype.endswith(("/footnotes", "/endnotes")))
    parts = [_seen(parse_xml(link.target_part.blob)) for link in links]
    notes = {f"{note.tag}Reference {note.get(f'{_W}id')}": _clean(_text(note)) for part in parts for note in part}
    return Text(list(_word_blocks(_seen(document.element.body), levels, notes)), [])


def _word_blocks(body: Any, levels: Mapping[str, int], notes: Mapping[str, str]) -> Iterator[str]:
    """Yield headings, paragraphs and tables, each with its footnotes below it."""
    from lxml import etree

    walk = etree.iterwalk(body, events=("start",), tag=(f"{_W}p", f"{_W}tbl"))
    for _, element in walk:
        walk.skip_subtree()
        if element.tag == f"{_W}tbl":
            rows = _own_parts(element, element.tag, f"{_W}tr")
            yield _table((_text(cell) for cell in _own_parts(row, row.tag, f"{_W}tc")) for row in rows)
        elif len(element):
            level, text = _outline(element) or levels.get(element.style, 0), _text(element)
            listed = text.strip() and (level == _LIST or element.find(f"{_W}pPr/{_W}numPr") is not None)
            yield _heading(level, text) if level > 0 else ("- " if listed else "") + _paragraph(text)
        marks = element.iter(f"{_W}footnoteReference", f"{_W}endnoteReference")
        below = [f"- {note}" for mark in marks if (note := notes.get(f"{mark.tag} {mark.get(f'{_W}id')}"))]
        yield "\n".join(("Footnotes:", *below)) if below else ""


def _outline(part: Any) -> int:
    """Return the level of the heading that a paragraph or a style is by its outline, or 0."""
    level = part.xpath("w:pPr/w:outlineLvl/@w:val")
    return int(level[0]) + 1 if level and level[0] in tuple("012345678") else 0


def _level(style: Any, steps: int = 10) -> int:
    """Return the level of a style of headings, by its outline, its name, or the style it is based on; of a style of
    lists, `_LIST`."""
    if style is None or not steps:
        return 0
    named, listed = re.fullmatch(r"heading (\d)|title", (style.name or "").lower()), style.element.xpath(".//w:numPr")
    level = _outline(style.element) or (int(named[1] or 1) if named else _LIST if listed else 0)
    return level or _level(getattr(style, "base_style", None), steps - 1)


def _pptx(data: bytes) -> Text:
    from pptx.package import Package

    slides = list(enumerate(Package.open(io.BytesIO(data)).presentation_part.presentation.slides, 1))
    hidden = [number for number, slide in slides if slide.element.get("show") == "0"]
    notices = _notices("slide", hidden, "is hidden, and not read", "are hidden, and not read")
    shown = (pair for pair in slides if pair[0] not in hidden)
    return Text([block for number, slide in shown for block in _slide(number, slide)], list(notices))


def _slide(number: int, slide: Any) -> Iterator[str]:
    from pptx.enum.shapes import PP_PLACEHOLDER as KIND

    title, blocks = "", []
    for shape in _seen(slide.element).iter(f"{_P}sp", f"{_P}graphicFrame"):
        kind = shape.ph_type if shape.has_ph_elm else None
        if kind in (KIND.TITLE, KIND.CENTER_TITLE):
            title = _text(shape)
        elif shape.tag == f"{_P}graphicFrame":
            blocks.append(_table(map(_text, row.iter(f"{_A}tc")) for row in shape.iter(f"{_A}tr")))
        elif kind not in (KIND.SLIDE_NUMBER, KIND.DATE, KIND.FOOTER):
            blocks += [_paragraph(_text(paragraph)) for paragraph in shape.iter(f"{_A}p")]
    yield _heading(1, f"Slide {number}{': ' if _clean(title) else ''}{title}")
    yield from blocks
    notes = slide.notes_slide.notes_text_frame if slide.has_notes_slide else None
    spoken = "" if notes is None else _paragraph(_text(_seen(notes._txBody)))
    yield from ("Notes:", spoken) if spoken else ()


def _epub(archive: ZipFile) -> Text:
    from lxml import etree

    def xml(name: str) -> Any:
        return etree.fromstring(archive.read(name), etree.XMLParser(resolve_entities=False, no_network=True))

    locks = "META-INF/encryption.xml"
    methods = xml(locks).iter("{*}EncryptionMethod") if locks in archive.namelist() else ()
    if not {method.get("Algorithm") for method in methods}.issubset(_FONTS):
        raise Problem("is encrypted by its seller.", "Only the programs of the seller can read it.")
    path = next((root.get("full-path", "") for root in xml("META-INF/container.xml").iter("{*}rootfile")), "")
    package, folder = xml(path), posixpath.dirname(path)
    pages = {
        item.get("id"): posixpath.normpath(posixpath.join(folder, unquote(item.get("href", ""))))
        for item in package.iter("{*}item")
        if "nav" not in item.get("properties", "").split()
    }
    spine = [pages.get(item.get("idref")) for item in package.iter("{*}itemref") if item.get("linear") != "no"]
    return Text([block for name in spine if name for block in _html_blocks(archive.read(name))], [])


# HTML, as a reader of the page sees it.

_SKIPPED = frozenset(
    "script style noscript template nav aside footer form button select textarea svg math iframe object embed video "
    "audio canvas head dialog menu s strike del".split()
)
_BLOCKS = frozenset(
    "p div section article main header h1 h2 h3 h4 h5 h6 ul ol li table caption tr dl dt dd blockquote pre figure "
    "figcaption address details summary hr body".split()
)
# A table with one of these in it lays out a page.
_LAYOUT = "table p div ul ol h1 h2 h3 h4".split()
_ROLES = frozenset(("navigation", "banner", "contentinfo", "search", "menu", "dialog", "doc-noteref"))
_HIDING = re.compile(
    r"display:none|visibility:(?:hidden|collapse)|opacity:0(?:\.0+)?(?:;|$|!)|font-size:0(?:px|em|pt|%)?(?:;|$|!)"
    r"|text-indent:-\d{3,}|(?:left|top):-\d{4,}|text-decoration(?:-line)?:[^;]*line-through"
)
_WHITE = re.compile(r"(?:^|;)color:(?:white|#fff(?:fff)?|rgba?\(255,255,255(?:,1)?\))(?:;|$|!)")
_RULE = re.compile(r"([^{}]+)\{([^{}]*)\}")
# What another person wrote, and the numbers of notes.
_OF_OTHERS = re.compile(
    r"gmail_(?:quote|attr|signature)|moz-(?:cite|signature)|yahoo_quoted|divRplyFwdMsg|appendonsend"
    r"|footnote-?ref|noteref"
)


def _html_blocks(data: bytes, main: bool = False) -> list[str]:
    from lxml import etree

    encoding = None
    with suppress(UnicodeDecodeError):
        encoding = "utf-8" if data.decode("utf-8") else None
    parser = etree.HTMLParser(encoding=encoding, huge_tree=True, no_network=True, remove_comments=True, remove_pis=True)
    root = etree.fromstring(data, parser) if data.strip() else None
    if any(problem.type_name == "ERR_RESOURCE_LIMIT" for problem in parser.error_log):
        raise Problem("is nested too deeply to be read.", _DAMAGED)
    if root is None:
        return []
    title, hidden = " ".join(root.xpath("//title/text()")), _hidden_names(" ".join(root.xpath("//style/text()")))
    for element in [element for element in root.iter() if not _is_read(element, hidden)]:
        element.clear(keep_tail=True)
        element.tag = "span"
    mains = root.xpath("//main|//*[@role='main']") or root.xpath("//article") if main else []
    found = _HtmlText(mains[0]).blocks if len(mains) == 1 else []
    # A page may put next to nothing into what it calls its main part.
    found = found if sum(map(len, found)) > 200 else _HtmlText(root).blocks
    return [_heading(1, title), *found] if main and not any(block.startswith("# ") for block in found) else found


def _hidden_names(css: str) -> set[str]:
    """Return the tags, classes (`.name`) and ids (`#name`) that a style sheet hides on every screen."""
    everywhere = re.sub(r"@[^{};]*\{(?:[^{}]*\{[^{}]*\})*[^{}]*\}", "", re.sub(r"/\*.*?\*/", "", css, flags=re.DOTALL))
    rules = ((rule[1], _HIDING.search(re.sub(r"\s", "", rule[2].lower()))) for rule in _RULE.finditer(everywhere))
    names = {name.strip() for selectors, hides in rules if hides for name in selectors.split(",")}
    return {name for name in names if re.fullmatch(r"(?!(?:html|body)$)[.#]?[\w-]+", name)}


def _is_read(element: Any, hidden: set[str]) -> bool:
    tag, get = element.tag, element.get
    if tag in _SKIPPED or tag in hidden or not element.attrib:
        return tag not in _SKIPPED and tag not in hidden
    style = re.sub(r"\s", "", get("style", "").lower())
    white = _WHITE.search(f"{style};color:{get('color', '').lower()}") and not any(
        "background" in part.get("style", "") or part.get("bgcolor") for part in (element, *element.iterancestors())
    )
    return not (
        white
        or get("hidden") is not None
        or get("aria-hidden") == "true"
        or get("role") in _ROLES
        or (tag == "blockquote" and get("type") == "cite")
        or _HIDING.search(style)
        or _OF_OTHERS.search(f"{get('class', '')} {get('id', '')}")
        or not hidden.isdisjoint((f"#{get('id')}", *(f".{name}" for name in get("class", "").split())))
    )


class _HtmlText:
    """Walks an element of which all is visible, and collects it as blocks."""

    def __init__(self, root: Any) -> None:
        from lxml import etree

        self.blocks: list[str] = []
        self._words: list[str] = []
        self._marks = [""]
        for event, element in etree.iterwalk(root, events=("start", "end")):
            if event == "start":
                self._begin(element)
            else:
                self._end(element, "" if element is root else element.tail or "")
        self._flush()

    def _begin(self, element: Any) -> None:
        tag = element.tag
        if tag in _BLOCKS:
            self._flush()
            self._marks += {"li": ["- "], "blockquote": ["> "]}.get(tag, [])
        if tag == "pre":
            lines = _INVISIBLE.sub("", "".join(element.itertext())).replace("```", "").strip("\n")
            self.blocks.append(f"```\n{lines}\n```")
        elif tag == "table" and next(element.iterdescendants(*_LAYOUT), None) is None:
            rows = ([" ".join(_HtmlText(cell).blocks) for cell in row.iter("td", "th")] for row in element.iter("tr"))
            self.blocks.append(_table(rows))
        elif tag == "sup":
            self._words.append(_raised("".join(self._words[-8:]), "".join(element.itertext()).strip()))
        else:
            self._words.append("\n" if tag == "br" else re.sub(r"\s+", " ", element.text or ""))
            return
        element.clear(keep_tail=True)

    def _end(self, element: Any, tail: str) -> None:
        tag = element.tag
        if tag in _BLOCKS:
            self._flush(int(tag[1]) if re.fullmatch("h[1-6]", tag) else 0)
            if tag in ("li", "blockquote"):
                self._marks.pop()
        self._words.append((" " if tag in ("td", "th") else "") + re.sub(r"\s+", " ", tail))

    def _flush(self, level: int = 0) -> None:
        text, self._words = "".join(self._words), []
        block = _heading(level, text) if level else _paragraph(text)
        if block:
            mark = "" if level else self._marks[-1]
            self.blocks.append(mark + block.replace("\n", f"\n{'> ' if mark == '> ' else '  ' if mark else ''}"))
            # What follows in the same item belongs to it.
            self._marks[-1] = "  " if mark == "- " else self._marks[-1]


# Mail.

_REPLY = re.compile(
    r"^(?:(?:On|Am|Le|El)\b.{5,200}(?:\n.{0,100})?(?:wrote|schrieb|a écrit|escribió)\b.{0,80}:\s*$"
    r"|-{3,}[ \t]*(?:Original Message|Ursprüngliche Nachricht|Message d'origine|Mensaje original|Forwarded message).*$"
    r"|Begin forwarded message:|_{20,}[ \t]*$"
    r"|(?:From|Von|De): .+\n(?:Sent|Date|Gesendet|Envoyé|Enviado|To|An|À): .+)",
    re.MULTILINE | re.IGNORECASE,
)
# What names the sender and the time of the quoted lines below it, in any language.
_INTRODUCTION = re.compile(r"^(?!>).{0,200}\d.{0,200}(?:\n(?!>).{0,200})?:[ \t]*\n+(?=>)", re.MULTILINE)
_FIRST_YEAR = 1970
_NEXT_MAIL = re.compile(rb"^From \S+ [^\n]*\d:\d\d[^\n]*\n(?=[!-9;-~]+:)", re.MULTILINE)
_ESCAPED = re.compile(rb"^>(>*From )", re.MULTILINE)
_SIGNATURE = re.compile(r"^(?:-- ?|Sent from my .{2,40}|Von meinem .{2,40} gesendet\.?)$", re.MULTILINE)


def _mail(data: bytes) -> Text:
    from email import message_from_bytes, policy
    from email.utils import parsedate_to_datetime

    message = message_from_bytes(data, policy=policy.default)
    try:
        body = message.get_body(("plain", "html"))
        content = "" if body is None else _content(body)
        names = [part.get_filename() or part.get_content_type() for part in message.iter_attachments()]
        sender = _people(message, "from")
        to = [person for key in ("to", "cc", "bcc") for person in _people(message, key)]
        subject, identity = (_clean(str(message.get(key, ""))) for key in ("subject", "message-id"))
        thread = _clean(str(message.get("references") or message.get("in-reply-to") or "")).split()[:1]
    except (LookupError, ValueError, AttributeError, TypeError):
        raise Problem("is damaged: it cannot be read as mail.", _DAMAGED) from None
    if body is not None and body.get_content_subtype() == "html":
        content = "\n\n".join(_html_blocks(content.encode(errors="replace")))
    own = _own_words(content.replace("\r\n", "\n"))
    when = None
    with suppress(ValueError, TypeError):
        moment = parsedate_to_datetime(str(message.get("date")))
        when = moment.isoformat() if moment.year >= _FIRST_YEAR else None
    by, day = (sender or [["an unknown sender"]])[0][0], f" of {when[:10]}" if when else ""
    at = f" to {', '.join(person[0] for person in to[:3])}{' and others' if len(to) > 3 else ''}" if to else ""
    heading = f"Mail{day} from {by}{at}{f': {subject}' if subject else ''}"
    mail: dict[str, object] = {
        "heading": heading,
        "speaker": by if sender else None,
        "timestamp": when,
        "id": identity or None,
    }
    mail |= {"thread": "".join(thread) or None, "to": [name for person in to for name in person]}
    about = [subject] if subject and own.strip() and subject not in own else []  # it is searched as part of the text
    blocks = [_paragraph(block) for block in (*about, *re.split(r"\n\s*\n", own)) if block.strip()]
    attached = [f"Attached, not read: {', '.join(map(_clean, names))}."] if names else []
    left_out = ["what it quotes, and its signature, are left out"] if len(own.split()) < len(content.split()) else []
    return Text([_heading(1, heading), *blocks, *attached], [*attached, *left_out], mail)


def _mailbox(data: bytes) -> dict[str, Any]:
    answers, left_out = list[dict[str, Any]](), list[int]()
    for number, mail in enumerate(filter(bytes.strip, _NEXT_MAIL.split(data)), 1):
        try:
            answers.append(read("mail", _ESCAPED.sub(rb"\1", mail)))
        except Problem:
            left_out.append(number)
    notices = list(_notices("mail", left_out, "has no text, or is damaged", "have no text, or are damaged"))
    return {"text": "", "notices": notices, "mail": None, "mails": answers}


def _content(part: Any) -> str:
    try:
        return str(part.get_content())
    except LookupError:  # an encoding that Python does not know
        return bytes(part.get_payload(decode=True)).decode(errors="replace")


def _people(message: Any, key: str) -> list[list[str]]:
    """Return the people of a header field, each by name and address, or by the address alone."""
    with suppress(AttributeError, ValueError, IndexError):
        return [
            list(dict.fromkeys(filter(None, (_clean(person.display_name), person.addr_spec))))
            for field in message.get_all(key, [])
            for person in field.addresses
            if person.addr_spec or person.display_name
        ]
    return []


def _own_words(text: str) -> str:
    """Return what the sender of a mail wrote: no quoted lines, no mail below, no signature."""
    text = _SIGNATURE.split(text, maxsplit=1)[0]
    quoted = _REPLY.search(text)
    rest = text[quoted.end() :] if quoted else ""
    # Below a line such as `On Monday Ada wrote:` the sender may answer between quoted lines.
    between = "\n>" in rest[:200] or rest.lstrip().startswith(">")
    text = text[: quoted.start()] + (rest if between else "") if quoted else text
    text = _INTRODUCTION.sub("", text)
    return "\n".join(line for line in text.split("\n") if not line.lstrip().startswith(">"))


def _old_office(data: bytes) -> Text:
    raise Problem("is in an old format of Office, or encrypted.", "Save it as DOCX, PPTX or PDF, without a password.")


_FORMATS: Mapping[str, Callable[[bytes], Text]] = {
    "pdf": _pdf, "zip": _zipped, "office": _old_office, "mail": _mail,
    "html": lambda data: Text(_html_blocks(data, main=True), []),
}  # fmt: skip

if __name__ == "__main__":
    main()
