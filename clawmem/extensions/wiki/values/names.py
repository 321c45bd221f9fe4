"""Names of wiki files: stable, ASCII, and distinct on every file system."""

from __future__ import annotations

import hashlib
import re
import unicodedata

from clawmem.model.records.layout import WIKI

FOLDER = WIKI
INDEX = f"{FOLDER}/index.md"
TOPICS = f"{FOLDER}/topics"
REPORTS = f"{FOLDER}/reports"
_PLAIN = re.compile(r"[a-z0-9]+(?:-[a-z0-9]+)*")
_HEADING = re.compile(r"^#[ \t]+(\S[^\n]*)", re.MULTILINE)
_LONGEST = 60
# Names that Windows keeps for devices, and those of our own pages.
_TAKEN = frozenset(
    ("index", "con", "prn", "aux", "nul", *(f"{port}{number}" for port in ("com", "lpt") for number in range(10)))
)


def entity_page(name: str) -> str:
    """Return the vault path of an entity's page, such as `wiki/areas/people/jane.md`."""
    return f"{FOLDER}/{'/'.join(map(file_name, name.split('/')))}.md"


def topic_page(topic: str) -> str:
    """Return the vault path of a topic's page, such as `wiki/topics/food.md`."""
    return f"{TOPICS}/{file_name(topic)}.md"


def file_name(text: str) -> str:
    """Return a file name without an extension.

    Plain text (a-z, 0-9, single hyphens) names itself. Any other text gets a hash of itself after what is left of it,
    so texts that differ only by case, accents or punctuation have different names, whatever other pages exist.
    """
    if _PLAIN.fullmatch(text) and len(text) <= _LONGEST and text not in _TAKEN:
        return text
    folded = unicodedata.normalize("NFKD", text).encode("ascii", "ignore").decode().lower()
    plain = re.sub(r"[^a-z0-9]+", "-", folded).strip("-")[:_LONGEST].strip("-")
    mark = hashlib.sha256(text.encode(errors="surrogatepass")).hexdigest()[:8]
    return f"{plain}-{mark}" if plain else mark


def title_of_text(text: str, path: str) -> str:
    """Return the title of a page that a person wrote: its first heading, else its file name."""
    heading = _HEADING.search(text)
    return heading[1] if heading else path.rpartition("/")[2].removesuffix(".md")


def relative_link(source: str, target: str) -> str:
    """Return the link from one page to another, both vault paths."""
    here, there = source.split("/")[:-1], target.split("/")
    shared = 0
    while shared < min(len(here), len(there) - 1) and here[shared] == there[shared]:
        shared += 1
    return "/".join([".."] * (len(here) - shared) + there[shared:])
