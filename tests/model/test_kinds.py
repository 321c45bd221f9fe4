"""The registry of file kinds: whole rows, and at most one row for a path."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clawmem.errors import ClawmemError
from clawmem.extension import named
from clawmem.index.tables.intake import INTAKES
from clawmem.memory.health.checks.reading import CHECKS
from clawmem.memory.history.undo import UNDO_BY_KIND
from clawmem.model import kinds
from clawmem.model.kinds import FileKind, all_kinds, file_kind, fits, handling
from clawmem.model.merging.files import RULES, merge_file
from clawmem.model.records.entity import name_of_path
from clawmem.model.records.layout import is_owned
from clawmem.vault.edits.hand_edits import check_file
from clawmem.vault.strict_yaml import parse_yaml
from tests.kind_files import FILES, READ

pytestmark = pytest.mark.usefixtures("without_vectors")

NAMES = [kind.name for kind in all_kinds()]
# Objects are merged by what they say, and a list of redactions keeps those that can be read.
OBJECTS = (kinds.REDACTIONS, kinds.RECORD, kinds.CURSOR, kinds.ADAPTATION, kinds.PROPOSAL, kinds.DIGESTION)
# Columns that take one of a few values, and those values.
CHOICES = {
    "check": CHECKS,
    "merge": RULES,
    "indexed_as": (*INTAKES, kinds.NONE),
    "undo": UNDO_BY_KIND,
    "secrets": (kinds.SEARCHED, kinds.AT_INGEST),
    "owner": (kinds.PERSON, kinds.GENERATED, kinds.LOG, kinds.MIXED),
}


@pytest.mark.parametrize("kind", all_kinds(), ids=NAMES)
def test_no_row_lacks_a_column(kind: FileKind) -> None:
    assert kind.name
    assert kind.patterns
    assert all(kind.patterns)
    assert all(getattr(kind, column) in values for column, values in CHOICES.items())
    assert kind.places
    assert set(kind.places) <= {kinds.OWN, kinds.LIFE, kinds.RECORDS, kinds.CONFIGURATION, kinds.EVERYONE}
    assert kind.limit > 0
    assert callable(named(kind.parse))
    assert kind.render == kinds.AS_WRITTEN or callable(named(kind.render))


def test_no_function_is_for_a_value_that_no_kind_has() -> None:
    for column, table in (("indexed_as", INTAKES), ("check", CHECKS), ("merge", RULES), ("undo", UNDO_BY_KIND)):
        assert table.keys() <= {getattr(kind, column) for kind in all_kinds()}, column


def test_names_are_unique_and_each_kind_has_its_files() -> None:
    assert len(set(NAMES)) == len(NAMES)
    assert FILES.keys() == set(NAMES)


@pytest.mark.parametrize("name", NAMES)
def test_a_file_is_recognised_read_and_written_again(name: str) -> None:
    path, good, _ = FILES[name]
    kind = file_kind(path)
    assert kind is not None
    assert kind.name == name
    assert is_owned(path)
    value = kind.parsed(good, path, parse_yaml)
    if kind.render != kinds.AS_WRITTEN:
        assert kind.parsed(kind.rendered(value), path, parse_yaml) == value


@pytest.mark.parametrize("name", READ)
def test_the_parser_refuses_what_cannot_be_read(name: str) -> None:
    path, _, bad = FILES[name]
    with pytest.raises(ClawmemError, match=path.rpartition("/")[2]):
        check_file(path, bad)


@pytest.mark.parametrize("name", READ)
def test_a_file_beyond_the_limit_is_refused(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    path, good, _ = FILES[name]
    kind = handling(path)
    if kind.owner == kinds.LOG:
        return  # bounded line by line, by `parse_events`
    monkeypatch.setattr("clawmem.vault.edits.hand_edits.handling", lambda other: kind._replace(limit=3))
    with pytest.raises(ClawmemError, match="the limit is"):
        check_file(path, good + b"    ")


@pytest.mark.parametrize("name", NAMES)
def test_a_merge_with_an_unreadable_version_loses_neither(name: str) -> None:
    path, good, bad = FILES[name]
    if not bad:
        return
    for ours, theirs in ((good + b"\n", bad), (bad, good + b"\n")):
        try:
            merged = merge_file(path, None, ours, theirs)
        except ClawmemError as problem:
            assert path in problem.message
            continue
        kept = (merged.content or b"") + (merged.beside or b"")
        lost = [line for side in (ours, theirs) for line in side.split(b"\n") if line.strip(b" {}[],\n") not in kept]
        assert not lost or handling(path).merge in OBJECTS
        assert merged.content


def _strict(kind: FileKind, path: str) -> bool:
    return not kind.otherwise and any(fits(pattern, path) for pattern in kind.patterns)


def segments() -> st.SearchStrategy[str]:
    words = {
        part for kind in all_kinds() for pattern in kind.patterns for part in pattern.split("/") if "*" not in part
    }
    names = [*words - {"{root}", "{day}.md", "{undated}.md", "{version}"}, "projects", "areas", "archives", "x", "cli"]
    ends = ["2026-11-20.md", "2026-11-20.jsonl", "b.md", "b.json", "prop_1.json", "c.other-0123abcd.json", ".gitkeep"]
    return st.sampled_from(sorted(names) + ends) | st.text(max_size=5)


@given(st.lists(segments(), min_size=1, max_size=6).map("/".join))
def test_a_path_has_at_most_one_kind(path: str) -> None:
    strict = [kind.name for kind in all_kinds() if _strict(kind, path)]
    loose = [
        kind.name for kind in all_kinds() if kind.otherwise and any(fits(pattern, path) for pattern in kind.patterns)
    ]
    assert len(strict) <= 1, strict
    assert len(loose) <= 1, loose
    found = file_kind(path)
    if found is not None:
        assert [found.name] == (strict or loose)
    elif path.isprintable() and "\\" not in path:
        assert not strict + loose


@given(st.lists(segments(), min_size=3, max_size=6).map("/".join))
def test_what_belongs_to_an_entity_is_its_facts_or_its_summary(path: str) -> None:
    if path.isprintable() and "\\" not in path and "" not in path.split("/"):
        is_entity = file_kind(path) in (kinds.ITEMS_FILE, kinds.SUMMARY_PAGE)
        assert is_entity == (name_of_path(path) is not None)


def _files(root: Path) -> Iterator[str]:
    for path in sorted(root.rglob("*")):
        if path.is_file() and ".git" not in path.relative_to(root).parts:
            yield path.relative_to(root).as_posix()


def test_every_file_of_the_template_has_a_kind() -> None:
    found = list(_files(Path("vault-template")))
    assert len(found) > 15
    assert [path for path in found if file_kind(path) is None] == []


def test_every_file_that_commands_write_has_a_kind(clawmem: Any, vault_root: Path) -> None:
    clawmem("agent", "create", "finance")
    clawmem("remember", "Jane likes tea.", "--entity", "areas/people/jane")
    clawmem("remember", "The budget is 5.", "--entity", "@finance/projects/budget", "--agent", "finance")
    clawmem("note", "Sailed to Bergen.")
    clawmem("ingest", "-", given='{"role": "user", "content": "My sister Ada lives in Oslo."}\n')
    assert clawmem("heartbeat").code == 0
    assert clawmem("redact", "--pattern", "Sailed to Bergen", "--yes").code == 0
    found = list(_files(vault_root))
    assert {"agents/finance/SOUL.md", "ledger/learned.json", "ledger/redactions.json", "daily/2026-11-21.md"} <= set(
        found
    )
    assert [path for path in found if file_kind(path) is None] == []


def test_the_registry_imports_no_reader() -> None:
    code = (
        "import sys, clawmem.model.kinds as kinds; kinds.file_kind('life/projects/a/items.json');"
        "print([name for name in sys.modules if name.startswith('clawmem.') and 'kinds' not in name])"
    )
    process = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    loaded = set(process.stdout.strip("[]\n").replace("'", "").split(", "))
    records = {"clawmem.model.records", "clawmem.model.records.strict_json", "clawmem.model.records.entity"}
    assert loaded == {"clawmem.errors", "clawmem.extension", "clawmem.model", "clawmem.model.named_tuple", *records}
