"""Plain text and markdown as notes."""

from __future__ import annotations

from clawmem.model.safety.recalled_text import wrap_context
from clawmem.model.transcripts.formats import FileFormat, read, shape_of
from clawmem.model.transcripts.message import Message, SkippedLine

PAGE = """\
---
title: Garden
date: 2026-03-01
---
# Garden

The hedge is cut.
It took all day.

## Bees

- North hive is strong
  - two queens
- South hive is weak

  It needs feeding.
* 09:30 phoned Ada

1. buy sugar
2. buy frames

```
# no heading

- no bullet
```
Frames
------
After the fence.

---
## 2026-03-04
<!-- a comment -->

Rain.
"""


def taken(text: str, name: str, expected: str, role: str = "note") -> list[tuple[int, str, str | None, str | None]]:
    shape = shape_of(text.encode(), name, role=role)
    assert shape == FileFormat(expected)
    found = [
        message
        for message in read(shape, text.encode().splitlines(keepends=True), name, role)
        if isinstance(message, Message)
    ]
    assert all(message.role == role and message.kind == ("note" if role == "note" else "message") for message in found)
    return [
        (message.line, message.text, message.timestamp, (message.metadata or {}).get("heading")) for message in found
    ]


def test_a_page_of_markdown() -> None:
    day = "2026-03-01T00:00:00Z"
    bees = "Garden > Bees"
    assert taken(PAGE, "garden.md", "markdown") == [
        (7, "The hedge is cut.\nIt took all day.", day, "Garden"),
        (12, "- North hive is strong\n  - two queens", day, bees),
        (14, "- South hive is weak\n\n  It needs feeding.", day, bees),
        (17, "* 09:30 phoned Ada", "2026-03-01T09:30:00Z", bees),
        (19, "1. buy sugar", day, bees),
        (20, "2. buy frames", day, bees),
        (22, "```\n# no heading\n\n- no bullet\n```", day, bees),
        (29, "After the fence.", day, "Garden > Frames"),
        (35, "Rain.", "2026-03-04T00:00:00Z", "Garden > 2026-03-04"),
    ]


def test_an_underlined_heading_has_its_level() -> None:
    page = "Garden\n======\n\nBees\n----\n\nNorth hive is strong.\n\nHouse\n=====\n\nThe roof leaks.\n"
    assert [heading for *_, heading in taken(page, "garden.md", "markdown")] == ["Garden > Bees", "House"]


def test_the_day_may_be_in_the_name() -> None:
    assert taken("- fed the bees\n", "memory/2026-02-03.md", "markdown") == [
        (1, "- fed the bees", "2026-02-03T00:00:00Z", None)
    ]


def test_a_rule_that_never_ends_is_no_front_matter() -> None:
    assert taken("---\nOne.\n\nTwo.\n", "x.md", "markdown") == [(2, "One.", None, None), (4, "Two.", None, None)]


def test_a_page_that_grows_keeps_what_it_said() -> None:
    before, after = (taken(text, "x.md", "markdown") for text in ("- one\n- two\n", "- one\n- two\n- three\n"))
    assert after[:2] == before


def test_plain_text_by_paragraph() -> None:
    assert taken("\n\n One\r\ntwo. \r\n\r\n\r\nThree.", "x.txt", "text") == [
        (3, "One\ntwo.", None, None),
        (7, "Three.", None, None),
    ]


CHAT = """\
[2026-10-01 09:00] Human: I like jam.
Very much.

  - with bread
[2026-10-01 09:01] AI: Noted.
[2026-13-41 09:02] user: The jar is empty.
user:
bot: Buy one.
"""


def test_a_chat_as_text_has_its_speakers_and_times() -> None:
    shape = shape_of(CHAT.encode(), "chat.txt")
    assert shape == FileFormat("dialogue")
    found = [message for message in read(shape, CHAT.encode().splitlines(True), "x") if isinstance(message, Message)]
    assert [(message.line, message.role, message.text, message.timestamp) for message in found] == [
        (1, "user", "I like jam.\nVery much.\n\n  - with bread", "2026-10-01T09:00:00Z"),
        (5, "assistant", "Noted.", "2026-10-01T09:01:00Z"),
        (6, "user", "The jar is empty.", None),
        (8, "assistant", "Buy one.", None),
    ]


def test_a_lone_speaker_is_no_chat() -> None:
    for text in ("user: ada\npassword: none\n", "user: hello\nhuman: hello\n", "Notes.\nuser: a\nassistant: b\n"):
        assert shape_of(text.encode(), "x.txt") == FileFormat("text")
    forced = shape_of(b"Notes.\nuser: a\n", "x.txt", "dialogue")
    skipped, message = read(forced, [b"Notes.\n", b"user: a\n"], "x.txt")
    assert isinstance(skipped, SkippedLine) and isinstance(message, Message) and message.text == "a"


def test_recalled_context_is_one_block() -> None:
    text = f"Mine.\n\n{wrap_context('# Facts' + chr(10) * 2 + '- I live in Rome.')}\n\n- also mine"
    assert [pair[1] for pair in taken(text, "x.md", "markdown")] == [
        "Mine.",
        wrap_context("# Facts\n\n- I live in Rome."),
        "- also mine",
    ]
    assert len(taken(text, "x", "text", role="user")) == 3


def test_links_and_braces_are_prose() -> None:
    assert taken("[see](there) for more", "x", "text") == [(1, "[see](there) for more", None, None)]
    assert taken("{curly} words", "x", "text") == [(1, "{curly} words", None, None)]
