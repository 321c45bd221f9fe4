"""Values as HTML: templates that escape everything, data as scripts, and Markdown that people wrote.

Nothing from the vault is markup here. Statements pass through the templates, which escape them; data for scripts is
ASCII JSON without `<`; Markdown is rendered without HTML, images and links that leave the site.
"""

from __future__ import annotations

import json
import posixpath
import re
from collections.abc import Collection
from functools import cache
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined, Template
from markdown_it import MarkdownIt
from markdown_it.token import Token
from markupsafe import Markup

from clawmem.model.language.text import visible
from clawmem.model.wiki.names import relative_link
from clawmem.model.wiki.site import site_path

_HERE = Path(__file__).parent
TEMPLATES = _HERE / "templates"
STATIC = _HERE / "static"
LIBRARIES = _HERE / "vendor"

# No inline script, no inline style, no request to anywhere; text can become no script even where a library tries.
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; base-uri 'none'; form-action 'none';"
    " require-trusted-types-for 'script'"
)
_HEADING = re.compile(r"h([1-6])")


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
    return environment.get_template(name)


def _shown(value: Any) -> Any:
    return visible(value) if isinstance(value, str) and not isinstance(value, Markup) else value


def data_script(name: str, value: Any) -> bytes:
    """Return a script that assigns a JSON value to a global name. A page from `file://` can load scripts, and nothing
    else."""
    written = json.dumps(value, ensure_ascii=True, separators=(",", ":")).replace("<", "\\u003c")
    return f'"use strict";\nwindow.{name} = {written};\n'.encode("ascii")


def written_html(text: str, page: str, known: Collection[str]) -> Markup:
    """Return Markdown of the wiki page `page` as HTML. Links lead to `known` wiki pages only; any other link and every
    image is shown as it was written."""
    parser = MarkdownIt("commonmark", {"html": False, "linkify": False}).enable("table").disable("image")

    def target(url: str) -> str | None:
        path, _, _ = url.partition("#")
        found = posixpath.normpath(posixpath.join(posixpath.dirname(page), path))
        return relative_link(site_path(page), site_path(found)) if found in known else None

    def normalized(url: str) -> str:
        return target(url) or ""

    parser.normalizeLink = normalized  # type: ignore[method-assign]
    parser.validateLink = bool  # type: ignore[method-assign, assignment]
    tokens = parser.parse(visible(text))
    _lower_headings(tokens)
    return Markup(parser.renderer.render(tokens, parser.options, {}))


def _lower_headings(tokens: list[Token]) -> None:
    """Put the headings two levels below, under the heading of their part of the page."""
    for token in tokens:
        match = _HEADING.fullmatch(token.tag)
        if match:
            token.tag = f"h{min(6, int(match[1]) + 2)}"
        elif token.type in ("th_open", "td_open"):
            token.attrs.pop("style", None)
