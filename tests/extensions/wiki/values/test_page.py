"""File names of the wiki: stable, ASCII, and distinct on every file system."""

import re
import unicodedata

from hypothesis import given
from hypothesis import strategies as st

from clawmem.extensions.wiki.values.page import INDEX, entity_page, file_name, relative_link, topic_page


def test_plain_names_stay_and_others_get_a_mark() -> None:
    assert entity_page("areas/people/jane") == "wiki/areas/people/jane.md"
    assert topic_page("food") == "wiki/topics/food.md"
    named = ["Jürgen", "jürgen", "jurgen", "ju.rgen", "JURGEN", "jurgen ", "ju\u0308rgen", "con", "index", "日本"]
    files = [file_name(text) for text in named]
    assert len({file.casefold() for file in files}) == len(named)
    assert files[2] == "jurgen"
    assert all(re.fullmatch(r"[a-z0-9-]+", file) for file in files)


@given(st.lists(st.text(min_size=1, max_size=90), unique=True, max_size=20))
def test_different_texts_have_different_files(texts: list[str]) -> None:
    files = [unicodedata.normalize("NFD", file_name(text)).casefold() for text in texts]
    assert len(set(files)) == len(texts)
    assert all(0 < len(file) <= 80 and file.isascii() for file in files)


def test_links_lead_from_page_to_page() -> None:
    assert relative_link("wiki/areas/people/jane.md", "wiki/projects/boat.md") == "../../projects/boat.md"
    assert relative_link("wiki/areas/people/jane.md", "wiki/areas/people/tom.md") == "tom.md"
    assert relative_link(INDEX, "wiki/topics/food.md") == "topics/food.md"
    assert relative_link("wiki/topics/food.md", INDEX) == "../index.md"
