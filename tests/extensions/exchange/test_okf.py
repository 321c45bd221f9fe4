"""OKF pages that clawmem writes: conformant, and read back as they were."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from clawmem.extensions.exchange.foreign_memory import ForeignMemory
from clawmem.extensions.exchange.okf import fits, read, render
from clawmem.model.facts.fact import SUPERSEDED, Fact
from clawmem.model.pages.summary import split_front_matter
from clawmem.model.records.entity import Entity
from clawmem.serving.browse import Concept
from clawmem.vault.strict_yaml import parse_yaml

NOW = "2026-11-21T09:30:00Z"
JANE = Entity("areas/people/jane", "Jane: a <b>test</b>", (), "person")
_WORDS = st.text("abc XYZ.,:;'\"[](){}<>*_`#|!^\\/é日~-+0123", min_size=1, max_size=60)


def fact(text: str, **more: object) -> Fact:
    return Fact("fact_00000001", text, "fact", NOW, "user")._replace(**more)  # type: ignore[arg-type]


def test_a_bundle_is_conformant() -> None:
    files = render([Concept(JANE, (fact("Jane lives in Oslo."),))], "2026-11-21")
    assert fits(files, parse_yaml) and "okf_version" in files["index.md"]
    page = files["areas/people/jane.md"]
    front, _ = split_front_matter(page)
    value = parse_yaml(front or "", "page")
    assert value["type"] == "Person" and value["status"] == "stable"
    assert value["sources"][0]["id"] == "s1" and "[^s1]" in page and "[^s1]: user" in page


def test_what_was_superseded_comes_back_with_its_end() -> None:
    old = fact("Jane lives in Bergen.", id="fact_00000002", status=SUPERSEDED, superseded_by="fact_00000001")
    new = fact("Jane lives in Oslo.", valid_from="2025-05-01")
    files = render([Concept(JANE, (old, new))], "2026-11-21")
    found = [memory for memory in read(files, parse_yaml) if isinstance(memory, ForeignMemory)]
    assert [(memory.statement, memory.record.get("valid_from"), memory.record.get("valid_to")) for memory in found] == [
        ("Jane lives in Oslo.", "2025-05-01", None),
        ("Jane lives in Bergen.", None, "2025-05-01"),
    ]


@given(st.lists(_WORDS.filter(lambda text: any(letter.isalnum() for letter in text)), min_size=1, max_size=4))
def test_statements_come_back_as_they_were(texts: list[str]) -> None:
    items = [" ".join(f"Jane {text}".split()) for text in texts]
    files = render([Concept(JANE, tuple(fact(text) for text in items))], "2026-11-21")
    found = [memory.statement for memory in read(files, parse_yaml) if isinstance(memory, ForeignMemory)]
    assert found == items
