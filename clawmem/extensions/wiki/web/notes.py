"""Markdown that people wrote, as HTML, and values as HTML: templates that escape everything, and data as ASCII JSON
without `<`.

It is rendered without HTML. Links and `[[links]]` lead to pages of the site, or by http(s) out of it when somebody
follows them; any other link is marked as dead. An image becomes a link to it, so that a page loads nothing.
"""

from __future__ import annotations

import json
import posixpath
import re
from collections.abc import Iterable, Iterator, Mapping
from datetime import date
from functools import cache
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined, Template
from markdown_it import MarkdownIt
from markdown_it.rules_inline import StateInline
from markdown_it.token import Token
from markupsafe import Markup, escape

from clawmem.extensions.wiki.values.links import decoded
from clawmem.extensions.wiki.values.page import FOLDER, relative_link
from clawmem.model.language.text import visible

_HEADING = re.compile(r"h([1-6])")
_OUTSIDE = re.compile(r"https?://[^\s<>\"]+", re.IGNORECASE)
_DAY = re.compile(r"\b\d{4}-\d\d-\d\d\b")
_WIKI_LINK = re.compile(r"!?\[\[([^\[\]|#^\n]*)(?:[#^][^\[\]|\n]*)?(?:\|([^\[\]\n]*))?\]\]")


class NoteRenderer:
    """Renders Markdown with links to the pages of a site. `paths` are their paths in the site by vault path."""

    def __init__(self, paths: Mapping[str, str]) -> None:
        self._paths = paths
        self._names: dict[str, str] = {}
        for path in sorted(paths):
            bare = path.removesuffix(".md").casefold()
            self._names.setdefault(posixpath.basename(bare), path)
        for path in sorted(paths):
            bare = path.removesuffix(".md").casefold()
            self._names[bare] = self._names[bare.removeprefix(f"{FOLDER}/")] = path
        self._parser = MarkdownIt("commonmark", {"html": False, "linkify": False}).enable("table")
        self._parser.inline.ruler.before("link", "wiki_link", _wiki_link)
        # What an address may be is decided below, where its page is known.
        self._parser.normalizeLink = str  # type: ignore[method-assign, assignment]
        self._parser.validateLink = bool  # type: ignore[method-assign, assignment]

    def html(self, text: str, path: str, page: str, level: int = 2) -> Markup:
        """Return Markdown of a vault file as HTML of a page of the site; headings are put some levels below."""
        tokens = self._parser.parse(visible(text))
        for token in tokens:
            heading = _HEADING.fullmatch(token.tag)
            if heading:
                token.tag = f"h{min(6, int(heading[1]) + level)}"
            elif token.type in ("th_open", "td_open"):
                token.attrs.pop("style", None)
            elif token.children:
                token.children = list(self._inline(token.children, path, page))
        return Markup(self._parser.renderer.render(tokens, self._parser.options, {}))

    def _inline(self, tokens: list[Token], path: str, page: str) -> Iterator[Token]:
        closing: list[str] = []
        for token in tokens:
            if token.type == "image":
                address = str(token.attrs.get("src", ""))
                opening = _open(self._address(address, path, page))
                yield from (
                    opening,
                    Token("text", "", 0, content=token.content or address),
                    Token("link_close", opening.tag, -1),
                )
                continue
            if token.type == "link_open":
                address = str(token.attrs.get("href", ""))
                wiki = token.info == "wiki"
                token = _open(self._named(address, page) if wiki else self._address(address, path, page))
                closing.append(token.tag)
            elif token.type == "link_close":
                token.tag = closing.pop()
            yield token

    def _named(self, name: str, page: str) -> str | None:
        """Return the address of a `[[link]]`, which names a page by its path or file name, as Obsidian resolves it."""
        found = self._names.get(name.strip().casefold().removesuffix(".md"))
        return relative_link(page, self._paths[found]) if found is not None else None

    def _address(self, address: str, path: str, page: str) -> str | None:
        """Return the address of a Markdown link, or None if it leads to no page of the site and not out of it."""
        if _OUTSIDE.fullmatch(address):
            return address
        target = decoded(address.partition("#")[0])
        found = posixpath.normpath(posixpath.join(posixpath.dirname(path), target))
        site = self._paths.get(found) or self._paths.get(f"{found}.md")
        return relative_link(page, site) if target and site is not None else None


def _wiki_link(state: StateInline, silent: bool) -> bool:
    found = _WIKI_LINK.match(state.src, state.pos, state.posMax)
    if found is None or not found[1].strip():
        return False
    if not silent:
        opening = state.push("link_open", "a", 1)
        opening.attrs = {"href": found[1]}
        opening.info = "wiki"
        state.push("text", "", 0).content = (found[2] or found[1]).strip()
        state.push("link_close", "a", -1)
    state.pos = found.end()
    return True


def _open(address: str | None) -> Token:
    if address is None:
        return Token("link_open", "span", 1, {"class": "dead", "title": "There is no such page."})
    outside = {"class": "outside", "rel": "noreferrer noopener"} if _OUTSIDE.fullmatch(address) else {}
    return Token("link_open", "a", 1, {"href": address, **outside})


_HERE = Path(__file__).parent
TEMPLATES = _HERE / "templates"
STATIC = _HERE / "static"
LIBRARIES = _HERE / "vendor"

# No inline script, no inline style, no request to anywhere. Text can become no script even where a library tries; the
# one policy of trusted types is for the addresses of our own data files.
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; base-uri 'none'; form-action 'none';"
    " require-trusted-types-for 'script'; trusted-types clawmem"
)


@cache
def template(name: str) -> Template:
    """Return a template. It escapes every value, and shows control and bidirectional characters as their codes."""
    environment = Environment(
        loader=FileSystemLoader(TEMPLATES),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        finalize=_shown,
    )
    environment.globals["icon"] = icon
    environment.filters["prose"] = prose
    environment.filters["weekday"] = weekday
    environment.filters["days"] = days
    return environment.get_template(name)


def days(text: str) -> str:
    """Return a text with each day in it (ISO 8601) for people, such as "27 Nov 2026"; what is no day stays."""
    return _DAY.sub(lambda found: weekday(found[0], f" {found[0][:4]}").partition(" ")[2] or found[0], text)


def weekday(time: str, year: str = "") -> str:
    """Return a day (ISO 8601, of a time or alone) for people, such as "Fri 27 Nov"; other text stays."""
    try:
        day = date.fromisoformat(time[:10])
    except ValueError:
        return time
    return f"{day:%a} {day.day} {day:%b}{year}"


def _shown(value: Any) -> Any:
    return visible(value) if isinstance(value, str) and not isinstance(value, Markup) else value


@cache
def icon(name: str) -> Markup:
    """Return an icon of Lucide as part of a page: the policy allows no picture, and `file://` no sprite."""
    drawing = (LIBRARIES / f"{name}.svg").read_text("utf-8").partition("<svg")[2].partition(">")[2]
    attributes = 'class="icon" viewBox="0 0 24 24" aria-hidden="true" focusable="false"'
    return Markup(f"<svg {attributes}>{' '.join(drawing.split())}")


def prose(text: str, links: Iterable[tuple[str, str]] = ()) -> Markup:
    """Return a statement as HTML: backquotes as code, and links (address, title) on the first place of each title."""
    targets = {title: address for address, title in links if title}
    titles = (rf"(?<!\w){re.escape(title)}(?!\w)" for title in sorted(targets, key=len, reverse=True))
    shown, parts, at = visible(text), [], 0
    for found in re.finditer("|".join([r"`[^`]+`", *titles]), shown):
        parts.append(escape(shown[at : found.start()]))
        target, at = targets.pop(found[0], None), found.end()
        if found[0][0] == "`":
            parts.append(Markup("<code>{}</code>").format(found[0][1:-1]))
        else:
            parts.append(Markup('<a href="{}">{}</a>').format(target, found[0]) if target else escape(found[0]))
    return Markup("").join([*parts, escape(shown[at:])])


def data_script(name: str, value: Any, key: str | None = None) -> bytes:
    """Return a script that assigns JSON to a global name, or to a key of a global object. The key must be letters and
    digits. A page from `file://` can load scripts only."""
    start = f"window.{name}" if key is None else f'(window.{name} ||= {{}})["{key}"]'
    written = json.dumps(value, ensure_ascii=True, separators=(",", ":")).replace("<", "\\u003c")
    return f'"use strict";\n{start} = {written};\n'.encode("ascii")
