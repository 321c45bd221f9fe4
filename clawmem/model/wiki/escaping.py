"""Text of facts as Markdown: shown as it is, and never read as markup."""

import re

from clawmem.model.language.text import one_line, visible

# Characters that CommonMark, GitHub or Obsidian read as markup: emphasis, code, links, HTML, tables, headings and tags,
# mathematics, highlights and comments.
_MARKUP = re.compile(r"[\\`*\[\]<>|~$#^=%{}!&]|(?<!\w)_|_(?!\w)")
# Most titles, which need no work.
_PLAIN = re.compile(r"[A-Za-z]+(?: [A-Za-z0-9]+)*")
# A number with a dot, or a dash, makes a list at the beginning of a line.
_LIST = re.compile(r"\A(\d+)([.)])|\A([-+])(?=\s)")


def markdown_text(text: str) -> str:
    """Return a text as one line of Markdown that shows exactly this text."""
    if _PLAIN.fullmatch(text):
        return text
    escaped = _MARKUP.sub(lambda found: "\\" + found[0], visible(one_line(text)))
    return _LIST.sub(lambda found: f"{found[1]}\\{found[2]}" if found[1] else f"\\{found[3]}", escaped)
