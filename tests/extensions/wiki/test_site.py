"""A site of a real vault: what its pages say, also after a change."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Iterable
from pathlib import Path

import pytest

from clawmem.errors import InvalidInput
from clawmem.extensions.wiki.compile import build_wiki
from clawmem.extensions.wiki.site import RECORD, SiteBuild, build_site, check_site_folder, write_site
from clawmem.extensions.wiki.web.render_site import render_site
from clawmem.memory.entities.entities import rename_entity
from clawmem.memory.facts.revise import link, retract, supersede
from clawmem.model.facts.draft import draft_from_record
from clawmem.model.records.caller import Caller
from clawmem.model.records.change import Change
from clawmem.vault.commit.transaction import transaction
from clawmem.vault.git.refs import Head
from clawmem.vault.vault import Vault
from tests.extensions.wiki.test_compile import BOAT, JANE, add


def built(vault: Vault, caller: Caller, folder: Path) -> SiteBuild:
    return build_site(vault, caller, folder, render_site)


def commit(vault: Vault, caller: Caller, path: str, text: str | None) -> None:
    with transaction(vault, caller.now, "edit") as txn:
        txn.adopt()
        if text is not None or txn.read(path) is not None:
            txn.commit([Change("edit", {path: None if text is None else text.encode()})])


def content(folder: Path) -> dict[str, bytes]:
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_a_site_has_the_pages_of_the_wiki_and_what_people_wrote(vault: Vault, caller: Caller, tmp_path: Path) -> None:
    length = add(vault, caller, "The boat is 9 m long.", BOAT, tags=["sea"])
    old = add(vault, caller, "Jane lives in Oslo.")
    supersede(vault, old, draft_from_record({"fact": "Jane lives in Bergen."}, caller.now), caller)
    berth = add(vault, caller, "Jane rents a large berth.", related_entities=[BOAT], tags=["sea"])
    link(vault, berth, "depends_on", length, caller, "A long boat needs it.")
    add(vault, caller, "The agent keeps this for itself.", "@helper/projects/own")
    build_wiki(vault, caller)
    page = f"wiki/{JANE}.md"
    commit(vault, caller, page, f"She likes *tea*.\n\n{vault.read_text(page)}")
    commit(vault, caller, "wiki/Sailing trip.md", "With [[Jane]] and [[Tom]].")
    commit(vault, caller, "daily/letter.md", "# A letter\n\nNo links.")
    summary = f"life/{JANE}/summary.md"
    commit(vault, caller, summary, (vault.read_text(summary) or "").replace("# Jane\n", "# Jane\n\nA sailor.\n"))
    site = built(vault, caller, tmp_path / "site")
    shown = {path: data.decode() for path, data in content(tmp_path / "site").items() if path.endswith(".html")}
    assert site.pages == 5
    jane, boat = shown[f"{JANE}.html"], shown[f"{BOAT}.html"]
    assert "Jane rents a large berth." in jane and "Jane lives in Bergen." in jane and "<em>tea</em>" in jane
    assert "<p>A sailor.</p>" in jane and "Jane" in boat and "topics/sea.html" in shown
    own = next(text for path, text in shown.items() if path.startswith("own/wiki/sailing-trip"))
    assert f'<a href="../../{JANE}.html">Jane</a>' in own and 'class="dead"' in own
    assert "A letter" in shown["own/daily/letter.html"]
    assert not any("keeps this for itself" in text for text in shown.values())


def test_a_statement_that_names_an_entity_in_words_joins_both_pages(
    vault: Vault, caller: Caller, tmp_path: Path
) -> None:
    add(vault, caller, "The boat is 9 m long.", BOAT)
    add(vault, caller, "Jane paints the Boat; a Boathouse is no part of it.")
    built(vault, caller, tmp_path / "site")
    jane, boat = ((tmp_path / "site" / f"{name}.html").read_text("utf-8") for name in (JANE, BOAT))
    assert 'paints the <a href="../../projects/boat.html">Boat</a>; a Boathouse' in jane
    assert f'<li><a href="../{JANE}.html" dir="auto">' in boat


def test_long_lists_of_a_page_are_folded_and_nothing_is_left_out(vault: Vault, caller: Caller, tmp_path: Path) -> None:
    tags = [f"topic{number}" for number in range(11)]
    for number in range(14):
        add(vault, caller, f"Jane has the boat number {number}.", tags=tags)
    built(vault, caller, tmp_path / "site")
    jane = (tmp_path / "site" / f"{JANE}.html").read_text("utf-8")
    assert jane.count('<details class="rest"><summary>2 more</summary>') == 2
    assert all(f"boat number {number}." in jane for number in range(14)) and all(tag in jane for tag in tags)
    assert "<summary>2 more</summary>" in (tmp_path / "site" / "index.html").read_text("utf-8")


def test_only_a_site_with_messages_has_what_was_said_and_no_site_what_is_for_some(
    vault: Vault, caller: Caller, tmp_path: Path
) -> None:
    def said(number: int, text: str, **more: object) -> str:
        event = {"id": f"evt_{number:016x}", "timestamp": f"2026-11-20T09:0{number}:00Z", "role": "user", "text": text}
        return json.dumps({**event, "session": "dock", "speaker": "Ada", **more})

    add(vault, caller, "Jane lives in Oslo.")
    lines = [
        said(1, "The dredger comes on Monday."), said(2, "The hidden word.", recalled=True),
        said(3, "The secret berth.", metadata={"participants": ["Ada"]}), said(4, "A marked plan."),
        said(5, "", role="system", kind="mark", recalled=True, metadata={"access_of": f"evt_{4:016x}"}),
    ]  # fmt: skip
    commit(vault, caller, "ledger/2026-11-20.jsonl", "\n".join(lines) + "\n")
    hidden = "<!-- hidden by prop_1: - 09:00 The old code -->"
    commit(vault, caller, "daily/2026-11-20.md", f"# 2026-11-20\n\n- 10:00 Bought an anchor.\n{hidden}\n")
    built(vault, caller, tmp_path / "plain")
    build_site(vault, caller, tmp_path / "full", render_site, messages=True)
    plain, full = (b"".join(content(tmp_path / name).values()).decode() for name in ("plain", "full"))
    for text in ("dredger", "Bought an anchor"):
        assert text not in plain and text in full
    for text in ("hidden word", "secret berth", "marked plan", "old code"):
        assert text not in plain + full
    assert (tmp_path / "full/talk/2026-11-20-dock.html").is_file()


def test_one_change_writes_the_pages_that_show_it(vault: Vault, caller: Caller, tmp_path: Path) -> None:
    for name in ("tom", "ann", "eva"):
        add(vault, caller, f"{name.capitalize()} has a kayak.", f"areas/people/{name}", tags=["sea"])
    site = tmp_path / "site"
    built(vault, caller, site)
    before = content(site)
    add(vault, caller, "Tom has a canoe.", "areas/people/tom", tags=["sea"])
    built(vault, caller, site)
    differ = {path for path, data in content(site).items() if before.get(path) != data and path.endswith(".html")}
    assert differ == {"areas/people/tom.html", "topics/sea.html", "index.html"}
    assert built(vault, caller, site).written == 0


def test_a_file_that_is_missing_is_written_anew(vault: Vault, caller: Caller, tmp_path: Path) -> None:
    add(vault, caller, "Jane prefers tea.")
    site = tmp_path / "site"
    built(vault, caller, site)
    before = content(site)
    (site / f"{JANE}.html").unlink()
    assert built(vault, caller, site).written == 1 and content(site) == before


def differing(site: Path, full: Path) -> set[str]:
    mine, whole = content(site), content(full)
    return {path for path in mine.keys() | whole.keys() if mine.get(path) != whole.get(path)}


def test_what_is_taken_back_leaves_every_page(vault: Vault, caller: Caller, tmp_path: Path) -> None:
    """Backlinks, topics, lists, words and pages go with the fact, the entity or the file that they came from."""
    site, full = tmp_path / "site", tmp_path / "full"
    add(vault, caller, "The boat is 9 m long.", BOAT, tags=["hull"])
    old = add(vault, caller, "Jane sails.", related_entities=[BOAT], tags=["sea"], category="decision")
    add(vault, caller, "Tom stays ashore.", "areas/people/tom", tags=["sea"])
    add(vault, caller, "Tom swims in June.", "areas/people/tom", tags=["sea"])
    commit(vault, caller, "wiki/trip.md", "With [[Jane]] and [[later]].")
    built(vault, caller, site)
    acts = (
        lambda: retract(vault, old, caller),
        lambda: commit(vault, caller, "wiki/later.md", "Soon."),
        lambda: rename_entity(vault, BOAT, "ship", caller),
        lambda: commit(vault, caller, "wiki/trip.md", "Without anybody."),
    )
    for act in acts:
        act()
        built(vault, caller, site)
        shutil.rmtree(full, ignore_errors=True)
        built(vault, caller, full)
        assert differing(site, full) == set()
    assert not any(b"Jane sails" in data for data in content(site).values())


def test_a_text_moves_to_the_page_of_an_entity_or_a_topic_and_back(
    vault: Vault, caller: Caller, tmp_path: Path
) -> None:
    """A file is either a page of its own or the notes of a generated page."""
    site, full = tmp_path / "site", tmp_path / "full"
    commit(vault, caller, "wiki/areas/people/tom.md", "Tom wears a hat.")
    commit(vault, caller, "wiki/topics/sea.md", "The sea is blue.")
    commit(vault, caller, "wiki/trip.md", "With [[tom]] on the [[sea]].")
    built(vault, caller, site)
    assert {"own/wiki/areas/people/tom.html", "own/wiki/topics/sea.html"} <= content(site).keys()
    facts: list[str] = []

    def said(text: str, name: str) -> None:
        facts.append(add(vault, caller, text, name, tags=["sea"]))

    def is_compiled() -> None:
        shown = content(site)
        assert b"Tom wears a hat." in shown["areas/people/tom.html"] and b"is blue" in shown["topics/sea.html"]
        assert not any(path.startswith("own/wiki/") and "trip" not in path for path in shown)

    def is_own() -> None:
        shown = content(site)
        assert "topics/sea.html" not in shown and b"is blue" in shown["own/wiki/topics/sea.html"]

    acts = (
        lambda: said("Tom sails.", "areas/people/tom"),
        lambda: said("The boat sails.", BOAT),
        is_compiled,
        lambda: retract(vault, facts[1], caller),
        is_own,
    )
    for act in acts:
        act()
        built(vault, caller, site)
        shutil.rmtree(full, ignore_errors=True)
        built(vault, caller, full)
        assert differing(site, full) == set()


class _Moving(Vault):
    """A vault in which git moves the branch to another commit after HEAD was read once."""

    to: str | None = None

    def head(self) -> Head:
        found = super().head()
        if self.to is not None:
            self.git.run("update-ref", "HEAD", self.to)
            self.to = None
        return found


def test_a_commit_made_while_the_index_is_opened_is_shown_by_the_next_build(
    vault: Vault, caller: Caller, tmp_path: Path
) -> None:
    site = tmp_path / "site"
    add(vault, caller, "Jane prefers tea.")
    before = vault.head().commit
    add(vault, caller, "Jane sails.")
    after = vault.head().commit
    vault.git.run("reset", "--quiet", "--hard", str(before))
    built(vault, caller, site)
    moving = _Moving(vault.root, vault.environment)
    moving.to = after
    built(moving, caller, site)
    assert vault.head().commit == after
    built(vault, caller, site)
    assert b"Jane sails." in content(site)[f"{JANE}.html"]


def test_a_conflict_and_its_end_are_found_by_a_build_after_a_change(
    vault: Vault, caller: Caller, tmp_path: Path
) -> None:
    site, full = tmp_path / "site", tmp_path / "full"
    red = add(vault, caller, "The boat is red.", BOAT)
    blue = add(vault, caller, "The boat is blue.", BOAT)
    built(vault, caller, site)
    green = draft_from_record({"fact": "The boat is green."}, caller.now)
    acts: tuple[Callable[[], object], ...] = (
        lambda: link(vault, red, "contradicts", blue, caller),
        lambda: supersede(vault, red, green, caller),
    )
    for act in acts:
        act()
        built(vault, caller, site)
        shutil.rmtree(full, ignore_errors=True)
        built(vault, caller, full)
        assert differing(site, full) == set()
        words = b"".join(path.read_bytes() for path in (site / "data/words").iterdir())
        assert f"~{red}".encode() in words
        assert f' id="{red}"' in (site / f"{BOAT}.html").read_text("utf-8")


def files(*paths: str) -> Iterable[tuple[str, bytes]]:
    return [(path, path.encode()) for path in paths]


def test_a_second_build_writes_what_differs_and_removes_what_is_gone(tmp_path: Path) -> None:
    site = tmp_path / "deep" / "site"
    assert write_site(site, files("index.html", "a/b.html"))[:4] == (2, 18, 2, 0)
    (site / "mine.txt").write_text("not of the site")
    assert write_site(site, files("index.html", "c.html"))[2:4] == (1, 1)
    assert sorted(path.name for path in site.rglob("*") if path.is_file()) == [
        "c.html", RECORD, "index.html", "mine.txt",
    ]  # fmt: skip


def test_a_record_cannot_name_files_elsewhere(tmp_path: Path) -> None:
    (tmp_path / "other.txt").write_text("stays")
    site = tmp_path / "site"
    site.mkdir()
    (site / RECORD).write_text('{"files": ["../other.txt"]}')
    assert write_site(site, files("index.html"))[2:4] == (1, 0)
    assert (tmp_path / "other.txt").exists()


def test_a_folder_of_others_and_the_vault_are_refused(vault: Vault, tmp_path: Path) -> None:
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "letter.txt").write_text("mine")
    for folder, words in ((tmp_path / "full", "not a site"), (vault.root.resolve() / "site", "inside the vault")):
        with pytest.raises(InvalidInput, match=words):
            check_site_folder(vault, folder)
    check_site_folder(vault, tmp_path / "new")
