"""Values as HTML: templates that escape everything, and data as scripts.

Nothing from the vault is markup here. Statements pass through the templates, which escape them; data for scripts is
ASCII JSON without `<`.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from datetime import date
from functools import cache
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined, Template
from markupsafe import Markup, escape

from clawmem.model.language.text import visible

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
    return environment.get_template(name)


def weekday(time: str) -> str:
    """Return a day (ISO 8601, of a time or alone) for people, such as "Fri 27 Nov"; other text stays."""
    try:
        day = date.fromisoformat(time[:10])
    except ValueError:
        return time
    return f"{day:%a} {day.day} {day:%b}"


def _shown(value: Any) -> Any:
    return visible(value) if isinstance(value, str) and not isinstance(value, Markup) else value


@cache
def icon(name: str) -> Markup:
    """Return an icon of Lucide as part of a page: the policy allows no picture, and `file://` no sprite."""
    drawing = (LIBRARIES / f"{name}.svg").read_text("utf-8").partition("<svg")[2].partition(">")[2]
    attributes = 'class="icon" viewBox="0 0 24 24" aria-hidden="true" focusable="false"'
    return Markup(f"<svg {attributes}>{' '.join(drawing.split())}")


def prose(text: str, links: Iterable[tuple[str, str]] = ()) -> Markup:
    """Return a statement as HTML: what is between backquotes as code, and links, each an address and a title, on the
    first place of each title."""
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


def data_script(name: str, value: Any) -> bytes:
    """Return a script that assigns a JSON value to a global name. A page from `file://` can load scripts, and nothing
    else."""
    return _script(f"window.{name} = ", value)


def keyed_script(name: str, key: str, value: Any) -> bytes:
    """Return a script that assigns a JSON value to a key of a global object. The key must be letters and digits."""
    return _script(f'(window.{name} ||= {{}})["{key}"] = ', value)


def _script(start: str, value: Any) -> bytes:
    written = json.dumps(value, ensure_ascii=True, separators=(",", ":")).replace("<", "\\u003c")
    return f'"use strict";\n{start}{written};\n'.encode("ascii")
