"""A site of a real vault: what its pages say, and what a second build writes."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import pytest

from clawmem.errors import InvalidInput
from clawmem.memory.facts.remember import remember
from clawmem.memory.facts.revise import link, supersede
from clawmem.model.facts.draft import draft_from_record
from clawmem.model.records.caller import Caller
from clawmem.vault.vault import Vault
from clawmem.wiki.compile import build_wiki
from clawmem.wiki.site import gather_site
from clawmem.wiki.write_site import RECORD, check_site_folder, write_site

JANE, BOAT = "areas/people/jane", "projects/boat"


def add(vault: Vault, caller: Caller, text: str, entity: str = JANE, **keys: object) -> str:
    draft = draft_from_record({"entity": entity, "fact": text, **keys}, caller.now)
    return remember(vault, [draft], caller).facts[0].fact.id


def test_a_site_has_the_pages_of_the_wiki_and_what_people_wrote(vault: Vault, caller: Caller) -> None:
    length = add(vault, caller, "The boat is 9 m long.", BOAT, tags=["sea"])
    old = add(vault, caller, "Jane lives in Oslo.")
    supersede(vault, old, draft_from_record({"fact": "Jane lives in Bergen."}, caller.now), caller)
    berth = add(vault, caller, "Jane rents a large berth.", related_entities=[BOAT], tags=["sea"])
    link(vault, berth, "depends_on", length, caller, "A long boat needs it.")
    add(vault, caller, "The agent keeps this for itself.", "@helper/projects/own")
    build_wiki(vault, caller)
    page = vault.root / "wiki" / f"{JANE}.md"
    page.write_text("She likes *tea*.\n\n" + page.read_text("utf-8"), "utf-8")
    site = gather_site(vault, caller)
    assert [one.entity.name for one in site.pages] == [JANE, BOAT]
    jane, boat = site.pages
    assert {claim.fact.fact for claim in jane.claims} == {"Jane rents a large berth.", "Jane lives in Bergen."}
    assert [link.title for link in boat.backlinks] == ["Jane"] and [one.topic for one in site.topics] == ["sea"]
    assert site.written == {jane.path: "She likes *tea*."}


def files(*paths: str) -> Iterable[tuple[str, bytes]]:
    return [(path, path.encode()) for path in paths]


def test_a_second_build_writes_what_differs_and_removes_what_is_gone(tmp_path: Path) -> None:
    site = tmp_path / "deep" / "site"
    assert write_site(site, files("index.html", "a/b.html"))[:4] == (2, 18, 2, 0)
    (site / "mine.txt").write_text("not of the site")
    assert write_site(site, files("index.html", "c.html"))[2:] == (1, 1)
    assert sorted(path.name for path in site.rglob("*") if path.is_file()) == [
        "c.html", RECORD, "index.html", "mine.txt",
    ]  # fmt: skip


def test_a_record_cannot_name_files_elsewhere(tmp_path: Path) -> None:
    (tmp_path / "other.txt").write_text("stays")
    site = tmp_path / "site"
    site.mkdir()
    (site / RECORD).write_text('{"files": ["../other.txt"]}')
    assert write_site(site, files("index.html"))[2:] == (1, 0)
    assert (tmp_path / "other.txt").exists()


def test_a_folder_of_others_and_the_vault_are_refused(vault: Vault, tmp_path: Path) -> None:
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "letter.txt").write_text("mine")
    for folder, words in ((tmp_path / "full", "not a site"), (vault.root.resolve() / "site", "inside the vault")):
        with pytest.raises(InvalidInput, match=words):
            check_site_folder(vault, folder)
    check_site_folder(vault, tmp_path / "new")
