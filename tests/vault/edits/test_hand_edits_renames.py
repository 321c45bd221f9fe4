"""An entity's folder that a person renamed is found by its old path, where it is certain that it is the same."""

from __future__ import annotations

import shutil

import pytest
import yaml

from clawmem.memory.entities.places import find_readable_entity
from clawmem.model.pages.summary import split_front_matter
from clawmem.model.records.caller import Caller
from clawmem.vault.edits.hand_edits import with_alias
from clawmem.vault.vault import Vault
from tests.faults.checks import assert_whole, git
from tests.faults.scenarios import keep

OLD, NEW = "areas/people/jane", "areas/people/joan"


@pytest.fixture
def furnished(vault: Vault) -> Vault:
    """A vault with an entity of two facts."""
    keep(vault, "Jane plays the cello.", "Jane likes rain.", entity=OLD)
    return vault


def aliases(vault: Vault, name: str) -> list[str]:
    front, _ = split_front_matter(vault.read_text(f"life/{name}/summary.md") or "")
    found: list[str] = yaml.safe_load(front or "")["aliases"]
    return found


def test_the_old_path_stays_an_alias(furnished: Vault, environment: dict[str, str], caller: Caller) -> None:
    (furnished.root / "life" / OLD).rename(furnished.root / "life" / NEW)
    git(furnished.root, environment, "add", "--all")
    keep(furnished, "Tea is hot.", entity="projects/tea")
    assert aliases(furnished, NEW) == [OLD]
    assert find_readable_entity(furnished, OLD, caller) == find_readable_entity(furnished, NEW, caller) == NEW
    subjects = git(furnished.root, environment, "log", "-2", "--format=%s").splitlines()
    assert subjects[1] == f"edit({NEW}): by hand, 2 facts moved from {OLD}"
    assert git(furnished.root, environment, "status", "--porcelain") == ""
    assert_whole(furnished.root, environment)


def test_facts_that_went_to_another_entity_make_it_no_other_name(furnished: Vault) -> None:
    keep(furnished, "Joan is here already.", entity=NEW)
    items, target = (furnished.path(f"life/{name}/items.json") for name in (OLD, NEW))
    lines = items.read_text().splitlines()[1:-1]
    target.write_text("\n".join(["[", f"{target.read_text().splitlines()[1]},", *lines, "]", ""]))
    shutil.rmtree(items.parent)
    keep(furnished, "Tea is hot.", entity="projects/tea")
    assert aliases(furnished, NEW) == []


@pytest.mark.parametrize(
    ("front", "after"),
    [
        ('title: "J"\naliases: []\n', 'title: "J"\naliases: ["x/y"]\n'),
        ('aliases: ["JD"]\nkind: "person"\n', 'aliases: ["JD", "x/y"]\nkind: "person"\n'),
        ("aliases:\n  - JD\n  - Jo\n", 'aliases:\n  - "x/y"\n  - JD\n  - Jo\n'),
        ("title: J\n", 'title: J\naliases: ["x/y"]\n'),
        ("aliases: [x/y]\n", None),
        ("aliases: 3\n", None),
        ("- no mapping\n", None),
    ],
)
def test_an_alias_is_added_and_nothing_else_changed(front: str, after: str | None) -> None:
    page = f"---\n{front}---\n\n# J\n\nAbout aliases: []\n"
    assert with_alias(page, "x/y", "summary.md") == (page.replace(front, after, 1) if after else None)
    assert with_alias("# J\n", "x/y", "summary.md") is None
