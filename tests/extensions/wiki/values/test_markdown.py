"""Facts as Markdown: the reader of Markdown gives back the text, and never markup."""

import html
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from clawmem.extensions.wiki.values.markdown import markdown_text
from clawmem.model.language.text import one_line, visible

READER = MarkdownIt("gfm-like", {"linkify": False, "html": True})


def shown(text: str) -> str:
    """Return the text of one list item with this content; fail if it holds markup."""
    page = READER.render(f"- {markdown_text(text)}")
    inner = re.fullmatch(r"<ul>\n<li>(.*)</li>\n</ul>\n", page, re.DOTALL)
    assert inner and "<" not in inner[1], page
    return html.unescape(inner[1])


@pytest.mark.parametrize(
    "text",
    [
        "![a](http://example.org/x.png)",
        "<img src=x onerror=alert(1)>",
        "[[premise]] and [a][b]",
        "# no heading",
        "1. no list",
        "- no list",
        "a | b",
        "*bold* _soft_ `code` ~~gone~~ ==marked== $x$ %%note%%",
        "&lt;script&gt; &amp;",
        "snake_case stays",
    ],
)
def test_markup_is_shown_as_text(text: str) -> None:
    assert shown(text) == text


@given(st.text(min_size=1).filter(lambda text: one_line(text).strip()))
def test_every_text_is_shown_as_it_is(text: str) -> None:
    assert shown(text).strip() == visible(one_line(text)).strip()


def test_plain_words_are_not_changed() -> None:
    assert markdown_text("Jane's snake_case flat (no. 3), 50 m: fine.") == "Jane's snake_case flat (no. 3), 50 m: fine."
