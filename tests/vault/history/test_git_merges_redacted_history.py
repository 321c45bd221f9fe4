"""Which histories count as one another before and after a redaction."""

from __future__ import annotations

import pytest

from clawmem.model.facts.fact import REDACTED
from clawmem.vault.history.git_merges import is_rewritten_copy
from clawmem.vault.vault import Vault
from tests.faults.checks import git


@pytest.mark.parametrize(
    ("subject", "is_copy"),
    [("note: 1-secret-2", True), ("note: 1-", False), ("note: 1-2", False), ("note: 3-secret-2", False)],
)
def test_a_redacted_subject_is_another_one_with_text_in_place_of_the_mark(
    vault: Vault, environment: dict[str, str], subject: str, is_copy: bool
) -> None:
    moment = "2026-11-20T10:00:00Z"
    pinned = {**environment, "GIT_AUTHOR_DATE": moment, "GIT_COMMITTER_DATE": moment}
    head, tip = (
        git(vault.root, pinned, "commit-tree", "HEAD^{tree}", "-p", "HEAD", "-m", words).strip()
        for words in (f"note: 1-{REDACTED}-2", subject)
    )
    assert is_rewritten_copy(vault, head, tip) is is_copy
