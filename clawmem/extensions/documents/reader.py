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
import resource
import sys
import zlib
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from itertools import pairwise
from typing import Any, NamedTuple
from urllib.parse import unquote
from zipfile import BadZipFile, ZipFile

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
    mail: Mapping[str, Any] | None = None


def main() -> None:
    """Read the document on stdin within the limits of the arguments, and write the answer."""
    kind, seconds, megabytes = sys.argv[1], float(sys.argv[2]), int(sys.argv[3])
    # What is installed for the program that asks is installed for this one.
    sys.path[:] = sys.argv[4:]
    limits = {"CPU": int(seconds) + 1, "AS": megabytes << 20, "FSIZE": 0, "CORE": 0}
    for name, most in limits.items():
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
    """Return the answer about a document. Raise Problem."""
    found = _FORMATS[kind](data)
    blocks, left = [], MOST_CHARACTERS
    for block in filter(None, found.blocks):
        blocks.append(block)
        left -= len(block) + 2
        if left < 0:
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
# Signs of Windows' code page that a document has in place of those of Unicode.
_OF_WINDOWS = dict(zip(range(0x91, 0x98), "‘’“”•–—", strict=True))
_LIGATURES = dict(zip(map(chr, range(0xFB00, 0xFB07)), "ff fi fl ffi ffl st st".split(), strict=True))


def _clean(text: str) -> str:
    text = text.translate(_OF_WINDOWS)
    return " ".join(_INVISIBLE.sub("", re.sub("[\ufb00-\ufb06]", lambda found: _LIGATURES[found[0]], text)).split())


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

_PAGE_NUMBER = re.compile(r"\W*(?:page|seite|p\.)?\s*(?:#|[ivx]{1,5})(?:\s*(?:of|von|/)\s*#)?\W*", re.IGNORECASE)
_RUNNING = 3
_SENTENCE_END = re.compile(r"[.!?:;][\"'”’)\]]*$")
# A line that ends so goes on in the next one, also before a capital.
_UNFINISHED = re.compile(
    r"(?:[,(–]|\b(?:an?|and|are|as|at|by|for|from|if|in|is|of|on|or|than|that|the|to|which|with|"
    r"das|der|die|ein|für|im|in|mit|oder|und|von|zu|de|des|du|et|la|le|les|ou|y|el))$",
    re.IGNORECASE,
)
_FIRST_SENTENCE = re.compile(r".*?[.!?](?=\s|$)", re.DOTALL)


class _Line(NamedTuple):
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
    pages, pictures, broken = [], [], []
    for place in range(number):
        try:
            page = document[place]
            pages.append(list(_lines_of(page)))
            if not pages[-1] and next(iter(page.get_objects(max_depth=3)), None) is not None:
                pictures.append(place + 1)
            page.close()
        except pypdfium2.PdfiumError:
            pages.append([])
            broken.append(place + 1)
    if not any(pages):
        why = "has only pictures of pages, without text." if pictures else "has no text."
        raise Problem(why, "Make text of the pictures first: `ocrmypdf` does.")
    are = "is a picture" if len(pictures) == 1 else "are pictures"
    notices = [f"{_places('page', pictures)} {are} without text"] if pictures else []
    notices += [f"{_places('page', broken)} could not be read"] if broken else []
    return Text(_page_blocks(_without_running_heads(pages)), notices)


def _places(noun: str, numbers: list[int]) -> str:
    """Return numbers as words: `pages 3-5 and 9`."""
    runs: list[list[int]] = []
    for number in numbers:
        if runs and number == runs[-1][-1] + 1:
            runs[-1].append(number)
        else:
            runs.append([number])
    words = [str(run[0]) if len(run) == 1 else f"{run[0]}-{run[-1]}" for run in runs]
    listed = " and ".join(filter(None, (", ".join(words[:-1]), words[-1])))
    return f"{noun}{'' if len(numbers) == 1 else 's'} {listed}"


def _lines_of(page: Any) -> Iterator[_Line]:
    from ctypes import byref, c_double

    from pypdfium2 import raw

    text, x, y, at = page.get_textpage(), c_double(), c_double(), 0
    for line in text.get_text_range().split("\n"):
        if line.strip():
            index = raw.FPDFText_GetCharIndexFromTextIndex(text.raw, at + len(line) - len(line.lstrip()))
            raw.FPDFText_GetCharOrigin(text.raw, index, byref(x), byref(y))
            middle = raw.FPDFText_GetCharIndexFromTextIndex(text.raw, at + len(line.rstrip()) // 2)
            # A hyphen that only breaks a word is U+FFFE, or U+0002.
            words = re.sub("[\ufffe\x02]\r?$", "\xad", line).rstrip()
            yield _Line(words, x.value, y.value, raw.FPDFText_GetFontSize(text.raw, middle))
        at += len(line) + 1


def _without_running_heads(pages: list[list[_Line]]) -> list[list[_Line]]:
    """Leave out page numbers, and lines at the top and the bottom that pages share. The first stays."""

    def form(line: _Line) -> str:
        return re.sub(r"\d+", "#", _clean(line.text)).lower()

    edges = [{form(line) for line in (*page[:2], *page[-2:])} for page in pages]
    shared = Counter(name for edge in edges for name in edge if re.search(r"[^\W\d_]{3}", name))
    kept: list[list[_Line]] = []
    seen: set[str] = set()
    for page in pages:
        head = {0, 1, len(page) - 1, len(page) - 2} if len(page) > 2 else set()
        drops = {n for n in head if shared[form(page[n])] >= _RUNNING and form(page[n]) in seen}
        drops |= {n for n in head if n in (0, len(page) - 1) and _PAGE_NUMBER.fullmatch(form(page[n]))}
        seen.update(form(page[n]) for n in head)
        kept.append([line for n, line in enumerate(page) if n not in drops])
    return kept


def _page_blocks(pages: list[list[_Line]]) -> Iterator[str]:
    """Yield a heading for each page, and its paragraphs. A sentence belongs to the page on which it begins."""
    texts = [_paragraphs(page) for page in pages]
    for before, after in pairwise(texts):
        if before and after and not _SENTENCE_END.search(before[-1]) and after[0][:1].islower():
            rest = _FIRST_SENTENCE.match(after[0])
            moved = rest[0] if rest else after[0]
            before[-1] += f" {moved}"
            after[0] = after[0][len(moved) :].strip()
    for number, blocks in enumerate(texts, 1):
        if any(blocks):
            yield f"# Page {number}"
            yield from filter(None, map(_paragraph, blocks))


def _paragraphs(lines: list[_Line]) -> list[str]:
    """Join the lines of each paragraph: what begins lower than a line, with another size, or as an item is another."""
    pairs = list(pairwise(lines))
    gaps = sorted(above.y - line.y for above, line in pairs if above.y - line.y > 1)
    usual = gaps[len(gaps) // 4] if gaps else 0
    short = 0.6 * max((len(line.text) for line in lines), default=0)
    found, first = [lines[0].text] if lines else [], lines[0] if lines else None
    for above, line in pairs:
        ended = _SENTENCE_END.search(above.text)
        numbers = _is_row(above.text) and re.search(r"\d", above.text)
        titled = not (ended or numbers or _UNFINISHED.search(above.text)) and len(above.text) < short
        apart = (
            above.y - line.y > 1.4 * usual > 0
            or abs(above.size - line.size) > 0.2 * max(above.size, 1)
            or _ITEM.match(line.text.lstrip())
            or (titled and line.text[:1].isupper())
            or (ended and line.x > above.x + 0.7 * line.size and above.y > line.y)
            or (first and _ITEM.match(first.text.lstrip()) and line.x < first.x - 0.5 * line.size and above.y > line.y)
        )
        if apart:
            first = line
            found.append(line.text)
        elif found[-1].endswith("\xad") or (re.search(r"[a-zäöüß]-$", found[-1]) and line.text[:1].islower()):
            found[-1] = found[-1][:-1] + line.text
        else:
            found[-1] += f"{chr(10) if _is_row(above.text) else ' '}{line.text}"
    return found


def _is_row(line: str) -> bool:
    """Return whether a line is rather a row of a table or a title than a part of a sentence."""
    words = line.split()
    return 3 * sum(word[:1].islower() for word in words) < len(words)


# XML in zip archives. Entities are not resolved, and nothing is loaded.

_W = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}"
_A = "{http://schemas.openxmlformats.org/drawingml/2006/main}"
_P = "{http://schemas.openxmlformats.org/presentationml/2006/main}"
_R = "{http://schemas.openxmlformats.org/officeDocument/2006/relationships}"
_LIST = -1
_NO_MEMORY = 2  # the code of libxml2
_FALLBACK = "{http://schemas.openxmlformats.org/markup-compatibility/2006}Fallback"
_FONTS = ("http://www.idpf.org/2008/embedding", "http://ns.adobe.com/pdf/enc#RC")
_UNPACKING = (BadZipFile, EOFError, NotImplementedError, RuntimeError, ValueError, OSError, zlib.error)


class _Archive:
    """The files of a zip archive, which together must not be too large."""

    def __init__(self, data: bytes) -> None:
        self._zip = ZipFile(io.BytesIO(data))
        self._left = _MOST_UNPACKED

    def bytes(self, name: str) -> bytes:
        """Return the content of a file; empty if there is none."""
        try:
            with self._zip.open(name) as file:
                data = file.read(self._left + 1)
        except KeyError:
            return b""
        self._left -= len(data)
        if self._left < 0:
            raise Problem(f"is larger than {_MOST_UNPACKED >> 20} MB when it is unpacked.", _SPLIT)
        return data

    def xml(self, name: str) -> Any:
        """Return the root element of a file; an empty one if there is no such file."""
        from lxml import etree

        parser = etree.XMLParser(resolve_entities=False, no_network=True, load_dtd=False, recover=False)
        return etree.fromstring(self.bytes(name) or b"<none/>", parser)

    def linked(self, name: str) -> list[tuple[str, str, str]]:
        """Return the relations of a part: id, last word of the type, and the path of the part that is linked."""
        folder, base = posixpath.split(name)
        rows = self.xml(posixpath.join(folder, "_rels", f"{base}.rels"))
        return [
            (row.get("Id", ""), row.get("Type", "").rpartition("/")[2], _joined(folder, row.get("Target", "")))
            for row in rows
            if row.get("TargetMode") != "External"
        ]


def _joined(folder: str, target: str) -> str:
    return posixpath.normpath(posixpath.join("/", folder, target)).lstrip("/")


def _zipped(data: bytes) -> Text:
    try:
        archive = _Archive(data)
        if not (archive.bytes("_rels/.rels") or archive.bytes("META-INF/container.xml")):
            raise Problem("is a zip archive, but no DOCX, PPTX or EPUB.", "Unpack it, and name a file of it.")
    except _UNPACKING as problem:
        raise _not_unpacked(problem) from None
    from lxml import etree

    try:
        if archive.bytes("META-INF/container.xml"):
            return _epub(archive)
        main = next((target for _, kind, target in archive.linked("") if kind == "officeDocument"), "")
        root = archive.xml(main)
        if root.tag == f"{_W}document":
            return Text(list(_docx(archive, main, root)), [])
        if root.tag == f"{_P}presentation":
            return _pptx(archive, main, root)
    except (*_UNPACKING, etree.XMLSyntaxError) as problem:
        raise _not_unpacked(problem) from None
    raise Problem("is a file of Office, but no DOCX or PPTX.", "Save it as one of these, or as PDF or text.")


def _not_unpacked(problem: Exception) -> Exception:
    if getattr(problem, "code", None) == _NO_MEMORY:
        return MemoryError()
    if "encrypted" in str(problem):
        return Problem("is encrypted.", "Save a copy without a password.")
    return Problem("is damaged: it cannot be unpacked.", _DAMAGED)


def _docx(archive: _Archive, main: str, root: Any) -> Iterator[str]:
    from lxml import etree

    parts = {kind: target for _, kind, target in archive.linked(main)}
    levels = _levels(archive.xml(parts["styles"])) if "styles" in parts else {}
    walk = etree.iterwalk(root, events=("start",), tag=(f"{_W}p", f"{_W}tbl"))
    for _, element in walk:
        walk.skip_subtree()
        if not len(element):
            continue
        if element.tag == f"{_W}tbl":
            rows = _own_parts(element, f"{_W}tr", element.tag)
            yield _table((_words(cell) for cell in _own_parts(row, f"{_W}tc", row.tag)) for row in rows)
            continue
        depth = _outline(element) or levels.get(_value(element, f"{_W}pPr/{_W}pStyle"), 0)
        text = _words(element)
        listed = text.strip() and (depth == _LIST or element.find(f"{_W}pPr/{_W}numPr") is not None)
        yield _heading(depth, text) if depth > 0 else ("- " if listed else "") + _paragraph(text)


def _value(part: Any, path: str) -> str:
    found = part.find(path)
    return "" if found is None else str(found.get(f"{_W}val", ""))


def _outline(part: Any) -> int:
    """Return the level of the heading that a paragraph or a style is by its outline, or 0."""
    level = _value(part, f"{_W}pPr/{_W}outlineLvl")
    return int(level) + 1 if level in tuple("012345678") else 0


def _own_parts(whole: Any, tag: str, of: str) -> Iterator[Any]:
    """Yield the rows of a table or the cells of a row, without those of tables in it."""
    return (part for part in whole.iter(tag) if next(part.iterancestors(of)) is whole)


def _levels(styles: Any) -> dict[str, int]:
    """Return the level of each style that is one of headings, by its outline, its name, or the style it is based on; of
    a style of lists, `_LIST`."""
    found, based = {}, {}
    for style in styles.iter(f"{_W}style"):
        key, level = style.get(f"{_W}styleId"), _outline(style)
        named = re.fullmatch(r"heading (\d)|(title)", _value(style, f"{_W}name").lower())
        if level:
            found[key] = level
        elif named:
            found[key] = int(named[1] or 1)
        elif style.find(f".//{_W}numPr") is not None:
            found[key] = _LIST
        based[key] = _value(style, f"{_W}basedOn")
    for key in based:
        above, steps = based[key], 0
        while key not in found and above and steps < 10:
            found |= {key: found[above]} if above in found else {}
            above, steps = based.get(above, ""), steps + 1
    return found


def _words(element: Any) -> str:
    """Return the text of a part of a document, without deleted, moved and hidden words."""
    from lxml import etree

    breaks = {f"{_W}tab": " ", f"{_W}br": "\n", f"{_W}cr": "\n", f"{_W}noBreakHyphen": "-", f"{_A}br": "\n"}
    text: list[str] = []
    walk = etree.iterwalk(element, events=("start", "end"))
    for event, part in walk:
        if event == "end":
            text += ["\n"] if part.tag in (f"{_W}p", f"{_A}p") else []
        elif part.tag in (f"{_W}del", f"{_W}moveFrom", _FALLBACK) or _is_vanished(part):
            walk.skip_subtree()
        else:
            text += [part.text or ""] if part.tag in (f"{_W}t", f"{_A}t") else [breaks.get(part.tag, "")]
    return "".join(text)


def _is_vanished(part: Any) -> bool:
    hidden = part.find(f"{_W}rPr/{_W}vanish") if part.tag == f"{_W}r" else None
    return hidden is not None and hidden.get(f"{_W}val") not in ("0", "false")


def _pptx(archive: _Archive, main: str, root: Any) -> Text:
    targets = {key: target for key, _, target in archive.linked(main)}
    names = [targets.get(slide.get(f"{_R}id"), "") for slide in root.iter(f"{_P}sldId")]
    slides = [(number, name, archive.xml(name)) for number, name in enumerate(names, 1)]
    hidden = [number for number, _, slide in slides if slide.get("show") == "0"]
    are = "is" if len(hidden) == 1 else "are"
    notices = [f"{_places('slide', hidden)} {are} hidden, and not read"] if hidden else []
    shown = (slide for slide in slides if slide[0] not in hidden)
    return Text([block for slide in shown for block in _slide(archive, *slide)], notices)


def _slide(archive: _Archive, number: int, name: str, slide: Any) -> Iterator[str]:
    title, blocks = "", []
    for shape in slide.iter(f"{_P}sp", f"{_P}graphicFrame"):
        kind = _placeholder(shape)
        if next(shape.iterancestors(_FALLBACK), None) is not None:
            continue
        if kind in ("title", "ctrTitle"):
            title = _words(shape)
        elif shape.tag == f"{_P}graphicFrame":
            rows = shape.iter(f"{_A}tr")
            blocks.append(_table((_words(cell) for cell in row.iter(f"{_A}tc")) for row in rows))
        elif kind not in ("sldNum", "dt", "ftr"):
            blocks += [_paragraph(_words(paragraph)) for paragraph in shape.iter(f"{_A}p")]
    notes = (archive.xml(target) for _, kind, target in archive.linked(name) if kind == "notesSlide")
    spoken = [_words(shape) for page in notes for shape in page.iter(f"{_P}sp") if _placeholder(shape) == "body"]
    yield _heading(1, f"Slide {number}{': ' if _clean(title) else ''}{title}")
    yield from filter(None, blocks)
    yield from ("Notes:", *map(_paragraph, spoken)) if any(map(_clean, spoken)) else ()


def _placeholder(shape: Any) -> str | None:
    found = shape.find(f"{_P}nvSpPr/{_P}nvPr/{_P}ph")
    return None if found is None else found.get("type")


def _epub(archive: _Archive) -> Text:
    locked = {method.get("Algorithm") for method in archive.xml("META-INF/encryption.xml").iter("{*}EncryptionMethod")}
    if not locked.issubset(_FONTS):
        raise Problem("is encrypted by its seller.", "Only the programs of the seller can read it.")
    path = next((root.get("full-path", "") for root in archive.xml("META-INF/container.xml").iter("{*}rootfile")), "")
    package = archive.xml(path)
    pages = {
        item.get("id"): _joined(posixpath.dirname(path), unquote(item.get("href", "")))
        for item in package.iter("{*}item")
        if "nav" not in item.get("properties", "").split()
    }
    spine = [pages.get(item.get("idref"), "") for item in package.iter("{*}itemref") if item.get("linear") != "no"]
    return Text([block for name in spine for block in _html_blocks(archive.bytes(name))], [])


# HTML, as a reader of the page sees it.

_SKIPPED = frozenset(
    "script style noscript template nav aside footer form button select textarea svg math iframe object embed video "
    "audio canvas head dialog menu".split()
)
_BLOCKS = frozenset(
    "p div section article main header h1 h2 h3 h4 h5 h6 ul ol li table caption tr dl dt dd blockquote pre figure "
    "figcaption address details summary hr body".split()
)
_ROLES = frozenset(("navigation", "banner", "contentinfo", "search", "menu", "dialog"))
_HIDING = re.compile(
    r"display:none|visibility:(?:hidden|collapse)|opacity:0(?:\.0+)?(?:;|$|!)|font-size:0(?:px|em|pt|%)?(?:;|$|!)"
    r"|text-indent:-\d{3,}|(?:left|top):-\d{4,}"
)
_WHITE = re.compile(r"(?:^|;)color:(?:white|#fff(?:fff)?|rgba?\(255,255,255(?:,1)?\))(?:;|$|!)")
_RULE = re.compile(r"([^{}]+)\{([^{}]*)\}")
_OF_OTHERS = re.compile(
    r"gmail_(?:quote|attr|signature)|moz-(?:cite|signature)|yahoo_quoted|divRplyFwdMsg|appendonsend"
)


def _html(data: bytes) -> Text:
    return Text(_html_blocks(data, main=True), [])


def _html_blocks(data: bytes, main: bool = False) -> list[str]:
    from lxml import etree

    if not data.strip():
        return []
    encoding = None
    with suppress(UnicodeDecodeError):
        encoding = "utf-8" if data.decode("utf-8") else None
    parser = etree.HTMLParser(encoding=encoding, huge_tree=True, no_network=True, remove_comments=True, remove_pis=True)
    root = etree.fromstring(data, parser)
    if any(problem.type_name == "ERR_RESOURCE_LIMIT" for problem in parser.error_log):
        raise Problem("is nested too deeply to be read.", _DAMAGED)
    if root is None:
        return []
    hidden = _hidden_names(" ".join(root.xpath("//style/text()")))
    mains = root.xpath("//main|//*[@role='main']") or root.xpath("//article") if main else []
    found = _HtmlPage(mains[0], hidden).blocks if len(mains) == 1 else []
    # A page may put next to nothing into what it calls its main part.
    found = found if sum(map(len, found)) > 200 else _HtmlPage(root, hidden).blocks
    title = " ".join(root.xpath("//title/text()"))
    return found if not main or any(block.startswith("# ") for block in found) else [_heading(1, title), *found]


def _hidden_names(css: str) -> set[str]:
    """Return the tags, classes (`.name`) and ids (`#name`) that a style sheet hides on every screen."""
    everywhere = re.sub(r"@[^{};]*\{(?:[^{}]*\{[^{}]*\})*[^{}]*\}", "", re.sub(r"/\*.*?\*/", "", css, flags=re.DOTALL))
    rules = ((rule[1], _HIDING.search(re.sub(r"\s", "", rule[2].lower()))) for rule in _RULE.finditer(everywhere))
    names = {name.strip() for selectors, hides in rules if hides for name in selectors.split(",")}
    return {name for name in names if re.fullmatch(r"(?!(?:html|body)$)[.#]?[\w-]+", name)}


class _HtmlPage:
    """Walks an element, and collects what is visible of it as blocks."""

    def __init__(self, root: Any, hidden: set[str]) -> None:
        from lxml import etree

        self.blocks: list[str] = []
        self._hidden = hidden
        self._words: list[str] = []
        self._mark: list[str] = []
        walk = etree.iterwalk(root, events=("start", "end"))
        for event, element in walk:
            tag = element.tag.rpartition("}")[2].lower() if isinstance(element.tag, str) else ""
            if event == "start":
                if not self._is_read(element, tag) or self._taken_whole(element, tag, root):
                    walk.skip_subtree()
                    element.set("data-taken", "")
                else:
                    self._begin(element, tag)
            else:
                self._end(element, tag, element is root)
        self._flush()

    def _is_read(self, element: Any, tag: str) -> bool:
        if not element.attrib:
            return tag not in _SKIPPED and tag not in self._hidden
        style = re.sub(r"\s", "", element.get("style", "").lower())
        named = {tag, f"#{element.get('id')}", *(f".{name}" for name in element.get("class", "").split())}
        whites = _WHITE.search(f"{style};color:{element.get('color', '').lower()}") and not any(
            "background" in part.get("style", "") or part.get("bgcolor") for part in (element, *element.iterancestors())
        )
        return bool(
            tag
            and tag not in _SKIPPED
            and element.get("hidden") is None
            and element.get("aria-hidden") != "true"
            and element.get("role") not in _ROLES
            and not (_HIDING.search(style) or whites or named & self._hidden)
            and not _OF_OTHERS.search(f"{element.get('class', '')} {element.get('id', '')}")
            and not (tag == "blockquote" and element.get("type") == "cite")
        )

    def _taken_whole(self, element: Any, tag: str, root: Any) -> bool:
        """Take a table of data, and text that is laid out by its author. A table that lays out a page is neither."""
        if element is root or tag not in ("table", "pre"):
            return False
        if tag == "pre":
            self._flush()
            for part in list(element.iterdescendants()):
                if not self._is_read(part, part.tag):
                    part.clear(keep_tail=True)
            lines = _INVISIBLE.sub("", "".join(element.itertext())).replace("```", "").strip("\n")
            self.blocks.append(f"```\n{lines}\n```")
            return True
        if next(element.iterdescendants("table", "p", "div", "ul", "ol", "h1", "h2", "h3", "h4"), None) is not None:
            return False
        self._flush()
        rows = ((" ".join(_HtmlPage(cell, self._hidden).blocks) for cell in row.iter("td", "th")) for row in
                element.iter("tr"))  # fmt: skip
        self.blocks.append(_table(rows))
        return True

    def _begin(self, element: Any, tag: str) -> None:
        if tag in _BLOCKS:
            self._flush()
            self._mark += {"li": ["- "], "blockquote": ["> "]}.get(tag, [])
        self._words.append("\n" if tag == "br" else re.sub(r"\s+", " ", element.text or ""))

    def _end(self, element: Any, tag: str, last: bool) -> None:
        if tag in _BLOCKS and element.attrib.pop("data-taken", None) is None:
            self._flush(int(tag[1]) if re.fullmatch("h[1-6]", tag) else 0)
            if tag in ("li", "blockquote") and self._mark:
                self._mark.pop()
        self._words.append(" " if tag in ("td", "th") else "")
        self._words.append("" if last else re.sub(r"\s+", " ", element.tail or ""))

    def _flush(self, level: int = 0) -> None:
        text, self._words = "".join(self._words), []
        block = _heading(level, text) if level else _paragraph(text)
        if block:
            mark = "" if level or not self._mark else self._mark[-1]
            self.blocks.append(mark + block.replace("\n", f"\n{'> ' if mark == '> ' else '  ' if mark else ''}"))
            # What follows in the same item belongs to it.
            self._mark = [*self._mark[:-1], "  "] if mark == "- " else self._mark


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
_SIGNATURE = re.compile(r"^(?:-- ?|Sent from my .{2,40}|Von meinem .{2,40} gesendet\.?)$", re.MULTILINE)


def _mail(data: bytes) -> Text:
    from email import message_from_bytes, policy
    from email.utils import parsedate_to_datetime

    message = message_from_bytes(data, policy=policy.default)
    try:
        body = message.get_body(("plain", "html"))
        content = "" if body is None else _content(body)
        names = [part.get_filename() or part.get_content_type() for part in message.iter_attachments()]
    except (LookupError, ValueError, AttributeError, TypeError):
        raise Problem("is damaged: it cannot be read as mail.", _DAMAGED) from None
    if body is not None and body.get_content_subtype() == "html":
        content = "\n\n".join(_html_blocks(content.encode(errors="replace")))
    own = _own_words(content.replace("\r\n", "\n"))
    sender = _people(message, "from")
    to = [person for key in ("to", "cc", "bcc") for person in _people(message, key)]
    subject, when = _clean(str(message.get("subject", ""))), None
    with suppress(ValueError, TypeError):
        moment = parsedate_to_datetime(str(message.get("date")))
        when = moment.isoformat() if moment.year >= _FIRST_YEAR else None
    by, day = (sender or [["an unknown sender"]])[0][0], f" of {when[:10]}" if when else ""
    at = f" to {', '.join(person[0] for person in to[:3])}{' and others' if len(to) > 3 else ''}" if to else ""
    heading = f"Mail{day} from {by}{at}{f': {subject}' if subject else ''}"
    thread = _clean(str(message.get("references") or message.get("in-reply-to") or "")).split()
    mail = {
        "heading": heading,
        "speaker": by if sender else None,
        "timestamp": when,
        "id": _clean(str(message.get("message-id", ""))) or None,
        "thread": thread[0] if thread else None,
        "to": [name for person in to for name in person],
    }
    blocks = [_paragraph(block) for block in re.split(r"\n\s*\n", own) if block.strip()]
    attached = [f"Attached, not read: {', '.join(map(_clean, names))}."] if names else []
    left_out = ["what it quotes, and its signature, are left out"] if len(own.split()) < len(content.split()) else []
    return Text([_heading(1, heading), *blocks, *attached], [*attached, *left_out], mail)


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
    "pdf": _pdf,
    "zip": _zipped,
    "office": _old_office,
    "html": _html,
    "mail": _mail,
}

if __name__ == "__main__":
    main()
